//! The file of counts: what is held, and how far a count may be above it.

use super::callgrind::Counts;
use super::loads::Case;
use crate::report::Goal;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

pub const FILE: &str = "benches/instructions.txt";
const HEAD: &str = "\
# What a request takes, counted by callgrind with 32-KiB caches. `make instructions UPDATE=1` writes this file, `make
# instructions` holds it: instructions, data accesses and mispredicted branches within 2 %, cache misses within 20 % or
# one a request. Another compiler makes another program, so its counts are not held. Columns: instructions, data
# accesses, mispredicted branches, misses of the instruction cache, misses of the data cache, flash operations.
";
/// What built this, from the build script.
const COMPILER: &str = env!("WORDLINE_COMPILER");
/// How far counts may be above what the file says.
const SLACK: f64 = 1.02;
/// How far misses may, which depend on where things lie; or by one a request.
const SLACK_OF_MISSES: f64 = 1.2;
/// Columns that are held within 2 %: instructions, accesses, mispredicted branches.
const CLOSE: usize = 3;
/// Columns that are held at all: all but the flash operations.
const HELD: usize = 5;

/// What the file says: the compiler, and counts by case.
pub struct Committed {
    compiler: String,
    counts: BTreeMap<String, Counts>,
}

/// The most that a count of that column may be, of which the file says so much.
fn bound(column: usize, said: f64) -> f64 {
    match column < CLOSE {
        true => said * SLACK,
        false => (said * SLACK_OF_MISSES).max(said + 1.0),
    }
}

impl Committed {
    /// Reads the file; says aloud if it is of another compiler, and so holds nothing.
    pub fn read() -> Result<Committed, String> {
        let text = std::fs::read_to_string(path()).map_err(|error| format!("{FILE}: {error}"))?;
        let mut committed = Committed { compiler: String::new(), counts: BTreeMap::new() };
        for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.starts_with('#')) {
            let wrong = || {
                let count = Counts::NAMES.len();
                format!("{FILE}:{number}: found {line:?}, allowed: NAME: {count} numbers, or compiler: NAME")
            };
            match line.split_once(": ").ok_or_else(wrong)? {
                ("compiler", name) => committed.compiler = name.to_owned(),
                (name, counts) => {
                    let numbers = counts.split_whitespace().map(|word| word.parse::<f64>());
                    let numbers: Vec<f64> = numbers.collect::<Result<_, _>>().map_err(|_| wrong())?;
                    let counts = Counts::of(numbers.try_into().map_err(|_| wrong())?);
                    committed.counts.insert(name.to_owned(), counts);
                }
            }
        }
        if !committed.is_held() {
            eprintln!("NOT HELD: this is built by {COMPILER}, {FILE} is of {}", committed.compiler);
        }
        Ok(committed)
    }

    pub fn write(rows: &[(&Case, Counts)]) -> Result<(), String> {
        let lines: String = rows.iter().map(|row| line(row) + "\n").collect();
        let text = format!("{HEAD}compiler: {COMPILER}\n{lines}");
        std::fs::write(path(), text).map_err(|error| format!("{FILE}: {error}"))
    }

    /// Whether counts of this program can be held.
    fn is_held(&self) -> bool {
        self.compiler == COMPILER
    }

    /// What the instructions of a case are held to; 0 for a case that the file has not.
    pub fn goal(&self, name: &str) -> Goal {
        match self.is_held() {
            true => Goal::AtMost(self.counts.get(name).map_or(0.0, |counts| bound(0, counts.instructions))),
            false => Goal::None,
        }
    }

    /// Each count that is above its bound, and each case that the file has not.
    pub fn missed(&self, rows: &[(&Case, Counts)]) -> Vec<String> {
        if !self.is_held() {
            return Vec::new();
        }
        let of = |(case, counts): &(&Case, Counts)| {
            let Some(said) = self.counts.get(case.name) else {
                return vec![format!("{}: {FILE} does not have it", case.name)];
            };
            let pairs = counts.values().into_iter().zip(said.values()).zip(Counts::NAMES).take(HELD);
            let above = pairs.enumerate().filter(|(at, ((now, said), _))| *now > bound(*at, *said));
            let told = |(at, ((now, said), what)): (usize, ((f64, f64), &str))| {
                format!("{}: {now:.1} {what} a request, at most {:.1} ({said})", case.name, bound(at, said))
            };
            above.map(told).collect()
        };
        rows.iter().flat_map(of).collect()
    }
}

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(FILE)
}

/// A case as the file has it: as few digits as say something.
fn line((case, counts): &(&Case, Counts)) -> String {
    let [instructions, accesses, mispredicted, i1, d1, operations] = counts.values();
    let name = format!("{}:", case.name);
    format!(
        "{name:<22} {instructions:>12.0} {accesses:>12.0} {mispredicted:>12.1} {i1:>12.1} {d1:>12.1} \
         {operations:>12.2}"
    )
}

/// The table for people: the lines of the file, instructions of a flash operation beside them.
pub fn table(rows: &[(&Case, Counts)]) -> String {
    let mut text = format!("{:<22}", "a request");
    for name in Counts::NAMES {
        let _ = write!(text, " {name:>12}");
    }
    text.push_str("  instructions/op\n");
    for row in rows {
        let _ = writeln!(text, "{}  {:>15.0}", line(row), row.1.instructions / row.1.operations);
    }
    text
}
