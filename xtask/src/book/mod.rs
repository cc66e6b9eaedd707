//! The book (`docs/`) is true by test: its links lead somewhere, and what its blocks do is what it says they do.
//!
//! Behind the marks of a block stands its language, and what to make of it:
//!
//! - `sh`, `toml`, `rust`, `c`, `python` are run, page by page, in a folder in which all of the checkout has its own
//!   name and the program is on PATH. TOML is put to `wordline explain`, a sweep to `wordline sweep --dry-run`.
//! - `text` right behind one of them is what it prints; [`expect`] says how parts are left out.
//! - `file=NAME`: the block is a file of that name, for the blocks behind it, whatever its language.
//! - `exit=2`: it ends with this code. `soak`: it takes over 10 s, and is run by `make soak`.
//! - `skip="reason"`: it is not run.
//!
//! `cargo test` sees each page as a test (`tests/book.rs`).

mod blocks;
mod expect;
mod links;
mod page;
#[cfg(test)]
#[allow(dead_code, unused_imports, reason = "in tests/book.rs, which is no harness, nobody calls them")]
mod tests;

use self::blocks::Place;
use self::page::Page;
use std::path::Path;
use std::process::{Command, ExitCode};

/// How the check of links is called beside the pages.
const LINKS: &str = "links";
/// Beside the pages of `docs/`, the ones at the root whose blocks are run.
const RUN_AT_ROOT: &str = "README.md";

/// What `cargo test` may say to a test binary and means nothing here.
const IGNORED: &[&str] =
    &["--nocapture", "--no-capture", "--show-output", "-q", "--quiet", "--include-ignored"];

/// What is asked for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Choice {
    list: bool,
    exact: bool,
    names: Vec<String>,
}

impl Choice {
    fn of(arguments: &[String]) -> Result<Self, String> {
        let mut choice = Choice::default();
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--list" => choice.list = true,
                "--exact" => choice.exact = true,
                "--format" | "--test-threads" | "--color" => _ = arguments.next(),
                flag if IGNORED.contains(&flag) || flag.starts_with("--test-threads=") => {}
                flag if flag.starts_with('-') => {
                    return Err(format!("`{flag}`: allowed are --list, --exact, NAME"));
                }
                name => choice.names.push(name.to_owned()),
            }
        }
        Ok(choice)
    }

    fn holds(&self, test: &str) -> bool {
        let is_meant = |name: &String| if self.exact { test == name } else { test.contains(name.as_str()) };
        self.names.is_empty() || self.names.iter().any(is_meant)
    }
}

/// Checks links and runs the blocks of the pages whose names are given, or of all.
pub fn book(root: &Path, target: &Path, arguments: &[String]) -> ExitCode {
    let asked = Choice::of(arguments).and_then(|choice| Ok((choice, links::pages(root)?)));
    let (choice, pages) = match asked {
        Ok(asked) => asked,
        Err(error) => {
            eprintln!("xtask: {error}");
            return ExitCode::from(2);
        }
    };
    let is_run = |page: &&Page| {
        let is_of_book = page.path.starts_with("docs/") || page.path == RUN_AT_ROOT;
        is_of_book && page.fences.iter().any(blocks::is_run)
    };
    let names = std::iter::once(LINKS).chain(pages.iter().filter(is_run).map(|page| page.path.as_str()));
    let names: Vec<&str> = names.filter(|name| choice.holds(name)).collect();
    if choice.list {
        names.iter().for_each(|name| println!("{name}: test"));
        return ExitCode::SUCCESS;
    }
    let place = Place {
        root: root.to_owned(),
        program: std::env::var_os("WORDLINE").map_or_else(|| target.join("debug/wordline"), Into::into),
        libraries: target.join("debug/deps"),
        scratch: target.join("book"),
        soak: std::env::var_os("WORDLINE_SOAK").is_some(),
    };
    if !place.program.exists() {
        eprintln!("xtask: {} is missing: cargo build -p wordline", place.program.display());
        return ExitCode::from(2);
    }
    let red = names.iter().filter(|name| !is_green(&place, &pages, name)).count();
    // As libtest ends, for who runs tests.
    let word = if red == 0 { "ok" } else { "FAILED" };
    println!("test result: {word}. {} passed; {red} failed; 0 ignored;", names.len() - red);
    if red == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs one test and says what came of it.
fn is_green(place: &Place, pages: &[Page], name: &str) -> bool {
    let done = if name == LINKS {
        all_links(place, pages)
    } else {
        let page = pages.iter().find(|page| page.path == name).expect("it is one of them");
        blocks::run(place, page).map(|tally| {
            let blocks::Tally { run, compared, skipped, soak } = tally;
            format!("{run} blocks run, {compared} outputs compared, {skipped} skipped, {soak} for make soak")
        })
    };
    match &done {
        Ok(said) => println!("{name}: {said}"),
        Err(error) => eprintln!("{error}"),
    }
    done.is_ok()
}

fn all_links(place: &Place, pages: &[Page]) -> Result<String, String> {
    let keys = keys(&place.program)?;
    let wrong = links::check(&place.root, pages, &keys);
    let count: usize = pages.iter().map(|page| page.links.len()).sum();
    if wrong.is_empty() { Ok(format!("{count} links, all alive")) } else { Err(wrong.join("\n")) }
}

/// All keys of a configuration, and those of the policies that are not chosen, as the program tells them.
fn keys(program: &Path) -> Result<Vec<String>, String> {
    let ask = |arguments: &[&str]| {
        let output = Command::new(program).args(arguments).output();
        let output = output.map_err(|error| format!("{} does not start: {error}", program.display()))?;
        if !output.status.success() {
            return Err(format!("{} {}: {}", program.display(), arguments.join(" "), output.status));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let mut keys: Vec<String> = values(&ask(&["explain", "--all", "--json"])?).map(|(_, key)| key).collect();
    let mut section = String::new();
    for (name, value) in values(&ask(&["policies", "--json"])?) {
        match name {
            "family" => section = value.replace('/', "."),
            _ => keys.push(format!("{section}.{value}")),
        }
    }
    Ok(keys)
}

/// The values of `family` and `key` in a JSON text, one a line.
fn values(json: &str) -> impl Iterator<Item = (&'static str, String)> {
    json.lines().filter_map(|line| {
        let (name, value) = line.trim().split_once(": ")?;
        let name = ["family", "key"].into_iter().find(|known| name.trim_matches('"') == *known)?;
        Some((name, value.trim_matches([',', '"']).to_owned()))
    })
}
