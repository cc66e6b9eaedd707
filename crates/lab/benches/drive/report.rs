//! What the benches found: rows, a table for people, a file for comparisons between commits.

use lab::process::cpu_time;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// One bench: a name and what yields its rows.
pub struct Bench {
    pub name: &'static str,
    pub run: fn() -> Vec<Row>,
}

/// One measured value.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub name: String,
    pub value: f64,
    pub unit: String,
    pub goal: Goal,
}

/// What the value should be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    None,
    AtLeast(f64),
    AtMost(f64),
}

impl Goal {
    pub fn is_reached(self, value: f64) -> bool {
        match self {
            Goal::None => true,
            Goal::AtLeast(bound) => value >= bound,
            Goal::AtMost(bound) => value <= bound,
        }
    }

    /// Sign and bound, as `>=` and `2500000`.
    fn parts(self) -> (&'static str, Option<f64>) {
        match self {
            Goal::None => ("", None),
            Goal::AtLeast(bound) => (">=", Some(bound)),
            Goal::AtMost(bound) => ("<=", Some(bound)),
        }
    }
}

impl Row {
    pub fn new(name: &str, value: f64, unit: &str, goal: Goal) -> Row {
        Row { name: name.to_owned(), value, unit: unit.to_owned(), goal }
    }

    /// How a child process hands the row to its parent.
    pub fn to_line(&self) -> String {
        let (sign, bound) = self.goal.parts();
        format!("{}\t{}\t{}\t{sign}\t{}", self.name, self.value, self.unit, bound.unwrap_or(0.0))
    }

    pub fn from_line(line: &str) -> Option<Row> {
        let mut columns = line.split('\t');
        let (name, value, unit) = (columns.next()?, columns.next()?.parse().ok()?, columns.next()?);
        let (sign, bound) = (columns.next()?, columns.next()?.parse().ok()?);
        let goal = match sign {
            ">=" => Goal::AtLeast(bound),
            "<=" => Goal::AtMost(bound),
            _ => Goal::None,
        };
        Some(Row::new(name, value, unit, goal))
    }
}

/// The best processor time of `runs` runs, in seconds; each run gets a fresh `make()`, which is not timed.
pub fn best_seconds<T>(runs: u32, mut make: impl FnMut() -> T, mut run: impl FnMut(&mut T)) -> f64 {
    let one = |_| {
        let mut subject = make();
        let start = cpu_time();
        run(&mut subject);
        (cpu_time() - start).as_secs_f64()
    };
    (0..runs).map(one).fold(f64::INFINITY, f64::min)
}

/// A number as people read it: 12,345,678, 9.87.
fn readable(value: f64) -> String {
    if value.abs() < 1000.0 {
        return format!("{value:.3}");
    }
    let digits = format!("{value:.0}");
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// The table for people.
pub fn table(rows: &[Row]) -> String {
    let mut text = format!("{:<44} {:>16} {:<18} {:>16}\n", "name", "value", "unit", "goal");
    for row in rows {
        let (sign, bound) = row.goal.parts();
        let goal = bound.map_or(String::new(), |bound| format!("{sign} {}", readable(bound)));
        let missed = if row.goal.is_reached(row.value) { "" } else { "  MISSED" };
        let value = readable(row.value);
        let _ = writeln!(text, "{:<44} {value:>16} {:<18} {goal:>16}{missed}", row.name, row.unit);
    }
    text
}

/// Writes a file below `benches`; `load` is what else the machine did.
pub fn write(file: &str, rows: &[Row], load: &str) -> std::io::Result<()> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches").join(file);
    path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    std::fs::write(path, json(rows, load))
}

fn json(rows: &[Row], load: &str) -> String {
    let facts =
        [("commit", commit()), ("date", date()), ("machine", machine()), ("load_before", load.to_owned())];
    let mut text = "{\n".to_owned();
    for (key, value) in facts {
        let _ = writeln!(text, "  \"{key}\": \"{value}\",");
    }
    text += "  \"rows\": [\n";
    for (index, row) in rows.iter().enumerate() {
        let (sign, bound) = row.goal.parts();
        let goal = bound.map_or("null".to_owned(), |bound| format!("\"{sign} {bound}\""));
        let comma = if index + 1 < rows.len() { "," } else { "" };
        let _ = writeln!(
            text,
            "    {{\"name\": \"{}\", \"value\": {}, \"unit\": \"{}\", \"goal\": {goal}}}{comma}",
            row.name, row.value, row.unit
        );
    }
    text + "  ]\n}\n"
}

fn git(arguments: &[&str]) -> Option<String> {
    let output =
        Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The commit that was measured; changes that are not committed are marked.
pub fn commit() -> String {
    let Some(hash) = git(&["rev-parse", "--short=12", "HEAD"]) else { return "no-commit".to_owned() };
    // Results of earlier commits may lie about; they do not change what is measured.
    let changes = git(&[
        "status",
        "--porcelain",
        "--",
        ":(top)",
        ":(top,exclude)benches/results",
        ":(top,exclude)benches/speed.json",
    ]);
    if changes.is_some_and(|changes| changes.is_empty()) { hash } else { format!("{hash}-changed") }
}

/// The date of that commit.
fn date() -> String {
    git(&["show", "--no-patch", "--format=%cs", "HEAD"]).unwrap_or_default()
}

/// Processes that wanted a core in the last minute, in the mean, as Linux tells: what else the machine does.
pub fn load() -> String {
    let about = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    about.split(' ').next().unwrap_or_default().to_owned()
}

/// Processor model and count, as Linux tells.
fn machine() -> String {
    let about = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = about.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or("");
    let model: String =
        model.trim_start_matches(['\t', ' ', ':']).chars().filter(|c| !"\"\\".contains(*c)).collect();
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    format!("{} {}, {cores} cores", std::env::consts::ARCH, if model.is_empty() { "unknown" } else { &model })
}
