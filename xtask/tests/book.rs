//! The pages of the book, each a test: `cargo test -p xtask --test book -- sweeps` runs those of this name.

#[path = "../src/book/mod.rs"]
mod book;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a crate lies in the checkout");
    // This program lies in target/debug/deps.
    let own = std::env::current_exe().expect("it runs");
    let target = own.ancestors().nth(3).expect("cargo built it");
    book::book(root, target, &std::env::args().skip(1).collect::<Vec<_>>())
}
