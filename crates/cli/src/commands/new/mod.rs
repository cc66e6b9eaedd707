//! `wordline new`: the source of something of the user's own, to start from.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use abi::Family;
use clap::{Args, Subcommand};

use crate::failure::Failure;

/// Examples for the help text.
pub const EXAMPLES: &str = "\
Examples:
  wordline new policy gc_victim mine
      a Rust crate in mine/: which block is reclaimed
  wordline new policy stream mine --c
      mine.c and its header, wordline_policy.h: which data shares a block";

/// Examples of `new policy`.
const POLICY_EXAMPLES: &str = "\
Examples:
  wordline new policy gc_victim mine
  cargo build --release --manifest-path mine/Cargo.toml
  wordline run trace.csv --policy gc_victim=mine/target/release/libmine.so

  wordline new policy wear_leveling mine --c
  cc -O3 -march=native -shared -fPIC -o mine.so mine.c
  wordline run trace.csv --policy wear_leveling=./mine.so

The templates work as they are: gc_victim decides like `greedy`, wear_leveling like `static_swap`, and stream separates
small writes. docs/own-policy.md describes what a policy sees, and what it may answer.";

/// Flags of `new`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct New {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    /// A policy: a shared library for --policy
    Policy(NewPolicy),
}

/// Flags of `new policy`.
#[derive(Args, Debug)]
#[command(after_help = POLICY_EXAMPLES)]
struct NewPolicy {
    /// What it decides
    #[arg(value_name = "FAMILY", value_parser = Family::ALL.map(Family::name))]
    family: String,

    /// Its name: letters, digits and _
    #[arg(value_name = "NAME", value_parser = parse_name)]
    name: String,

    /// Write a C file instead of a Rust crate
    #[arg(long)]
    c: bool,

    /// Folder to write it to [default: this one]
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// A name that a crate and a C identifier can have.
fn parse_name(text: &str) -> Result<String, String> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic());
    if begins && text.chars().all(is_word) {
        return Ok(text.to_owned());
    }
    Err("allowed: a letter, then letters, digits and _".to_owned())
}

/// The manifest of a crate.
const MANIFEST: &str = "\
[package]
name = \"NAME\"
version = \"0.1.0\"
edition = \"2024\"

[lib]
crate-type = [\"cdylib\"]

# A separate crate, wherever it is.
[workspace]
";

/// Writes what is asked for.
pub fn run(args: &New, out: &mut dyn Write) -> Result<(), Failure> {
    let What::Policy(policy) = &args.what;
    let family = Family::named(&policy.family).ok_or_else(|| Failure::usage("no such family"))?;
    let name = &policy.name;
    let folder = policy.out.clone().unwrap_or_default();
    let fill = |text: &str| text.replace("NAME", name).replace("SYMBOL", &family.symbol());
    let (files, build, library) = if policy.c {
        let source = match family {
            Family::GcVictim => include_str!("gc_victim.c.txt"),
            Family::WearLeveling => include_str!("wear_leveling.c.txt"),
            Family::Stream => include_str!("stream.c.txt"),
        };
        let source_file = folder.join(format!("{name}.c"));
        let library = folder.join(format!("{name}.so"));
        let build =
            format!("cc -O3 -march=native -shared -fPIC -o {} {}", library.display(), source_file.display());
        let header = (folder.join("wordline_policy.h"), abi::HEADER.to_owned());
        (vec![(source_file, fill(source)), header], build, library)
    } else {
        let source = match family {
            Family::GcVictim => include_str!("gc_victim.rs.txt"),
            Family::WearLeveling => include_str!("wear_leveling.rs.txt"),
            Family::Stream => include_str!("stream.rs.txt"),
        };
        let crate_folder = folder.join(name);
        let manifest = crate_folder.join("Cargo.toml");
        let build = format!("cargo build --release --manifest-path {}", manifest.display());
        let library = crate_folder.join(format!("target/release/lib{name}.so"));
        let files = vec![
            (manifest, fill(MANIFEST)),
            (crate_folder.join("src/lib.rs"), fill(source)),
            (crate_folder.join("src/abi.rs"), abi::LAYOUT.to_owned()),
        ];
        (files, build, library)
    };
    write(&files)?;
    for (path, _) in &files {
        writeln!(out, "written: {}", path.display())?;
    }
    let library = if library.components().count() == 1 { Path::new(".").join(library) } else { library };
    writeln!(out, "build:   {build}")?;
    Ok(writeln!(out, "run:     wordline run TRACE --policy {}={}", family.name(), library.display())?)
}

/// Writes new files; none, if one of them is there. A header that is there already and the same may stay.
fn write(files: &[(PathBuf, String)]) -> Result<(), Failure> {
    let is_same = |path: &Path, text: &str| fs::read_to_string(path).is_ok_and(|found| found == text);
    for (path, text) in files {
        let is_header = path.extension().is_some_and(|ending| ending == "h");
        if path.exists() && !(is_header && is_same(path, text)) {
            return Err(Failure::usage(format!(
                "{}\n    found:   a file that already exists\n    allowed: another name, or another folder \
                 (--out)",
                path.display()
            )));
        }
    }
    for (path, text) in files {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder {
            fs::create_dir_all(folder).map_err(|error| Failure::file(folder, "create", &error))?;
        }
        fs::write(path, text).map_err(|error| Failure::file(path, "write", &error))?;
    }
    Ok(())
}
