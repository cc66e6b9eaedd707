//! Tells the package which commit it is built from.

include!("../cli/commit.rs");

fn main() {
    tell_commit("python");
}
