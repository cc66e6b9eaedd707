//! Tells the program which commit it is built from.

include!("commit.rs");

fn main() {
    tell_commit("cli");
}
