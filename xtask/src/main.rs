//! Jobs of the project that are not part of the product. Run with `cargo run -p xtask -- <job>`.

mod book;
mod faults;
mod remove;
mod soak;
mod suite;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const HELP: &str = "usage: cargo run -p xtask -- <job>

jobs:
  tidy [DIR]   hold the project's own rules over the checkout (or over DIR)
  tables       write the tables of numbers in README.md and papers/README.md, from the files that hold the numbers
  rules        list the rules that tidy holds
  test [NAME...] [--but NAME...]
                    build all tests and run those whose names hold one of these (all without names), but not those
  faults [NAME...]  put the faults of xtask/faults into a copy of the code, one at a time: does a test turn red?
  book [PAGE...]    does all that the book says come true? links and anchors, and what its blocks print
  remove NAME       takes a technique out of a copy of the code: does the rest build and pass its tests?
  soak [NAME...]    the long runs that are left for this commit; says what they take";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some("tidy") => tidy(arguments.next().map_or_else(checkout, PathBuf::from)),
        Some("tables") => tables(&checkout()),
        Some("rules") => {
            for rule in tidy::RULES {
                println!("{:10} {}", rule.name, rule.holds);
            }
            ExitCode::SUCCESS
        }
        Some("test") => suite::test(&checkout(), &target(), &arguments.collect::<Vec<_>>()),
        Some("faults") => faults::faults(&checkout(), &target(), &arguments.collect::<Vec<_>>()),
        Some("book") => book::book(&checkout(), &target(), &arguments.collect::<Vec<_>>()),
        Some("remove") => remove::remove(&checkout(), &target(), arguments.next().as_deref()),
        Some("soak") => soak::soak(&checkout(), &target(), &arguments.collect::<Vec<_>>()),
        Some("help" | "--help" | "-h") => {
            println!("{HELP}");
            ExitCode::SUCCESS
        }
        other => {
            let found = other.map_or("no job given".to_owned(), |job| format!("unknown job `{job}`"));
            eprintln!("xtask: {found}\n{HELP}");
            ExitCode::from(2)
        }
    }
}

/// The checkout this program was built in.
fn checkout() -> PathBuf {
    let mut directory = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    directory.pop();
    directory
}

/// Where cargo builds.
fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| checkout().join("target"), PathBuf::from)
}

/// Writes the tables that tidy holds.
fn tables(root: &Path) -> ExitCode {
    let tree = tidy::Tree::read(root).map_err(|error| error.to_string());
    let write = |(path, text): (&str, String)| {
        println!("{path}");
        std::fs::write(root.join(path), text).map_err(|error| format!("{path}: {error}"))
    };
    let done = tree.and_then(|tree| tidy::written(&tree)?.into_iter().try_for_each(write));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

fn tidy(root: PathBuf) -> ExitCode {
    let tree = match tidy::Tree::read(&root) {
        Ok(tree) => tree,
        Err(error) => {
            eprintln!("xtask: cannot read {}: {error}", root.display());
            return ExitCode::from(2);
        }
    };
    let violations = tidy::check(&tree);
    for violation in &violations {
        eprintln!("{violation}");
    }
    if violations.is_empty() {
        println!("tidy: {} files, {} rules, all held", tree.len(), tidy::RULES.len());
        return ExitCode::SUCCESS;
    }
    eprintln!(
        "tidy: {} violations; the lists behind the rules are in xtask/src/tidy/lists.rs",
        violations.len()
    );
    ExitCode::FAILURE
}
