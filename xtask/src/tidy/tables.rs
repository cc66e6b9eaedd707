//! Tables of numbers in documents, written by `make tables` from the files that hold the numbers, and held by the
//! rule `table`. A table stands between `<!-- table NAME ... -->` and `<!-- end of table -->`.

use super::{Report, Tree};
use std::collections::BTreeMap;
use std::fmt::Write as _;

const PAPERS: &str = "papers/README.md";
const REAL: &str = "docs/real-drives.md";
/// Where what was fitted to real drives is kept.
const FITS: (&str, &str) = ("benches/real/fits/", ".json");
const SPEED: &str = "benches/speed.json";
const INSTRUCTIONS: &str = "benches/instructions.txt";
const END: &str = "<!-- end of table -->";
const ADVICE: &str = "`make tables` writes it";

/// What yields the text of a table, or why there is none.
type Render = fn(&Tree) -> Result<String, String>;

/// All tables: file, name, and what yields the text.
const TABLES: &[(&str, &str, Render)] = &[
    ("README.md", "speed", speed),
    ("README.md", "instructions", instructions),
    (PAPERS, "claims", claims),
    (REAL, "drives", drives),
];

/// Rows of the file of speed: the name there, and what it is.
const SPEED_ROWS: &[(&str, &str)] = &[
    ("m64_random_read", "random 4-KiB reads on a full drive, depth 32"),
    ("m64_random_write", "random 4-KiB writes to a fresh drive"),
    ("m64_random_70_30_filled", "70 % reads, 30 % writes on a full drive, garbage collection included"),
    ("m64_random_70_30_fresh", "the same on a fresh drive, where 91 % of the reads find no data"),
    ("m64_steady_cleaning", "writes with constant garbage collection"),
    ("functional_1tib_programs", "1 TiB, untimed: page programs by host and garbage collection"),
    ("straw_2tib_ready", "time to build a drive of 2 TiB and 139 M pages"),
    ("straw_2tib_memory", "its memory"),
    ("straw_2tib_filled", "time to fill it"),
    ("memory_growth_1e8_requests", "memory growth over 10^8 requests"),
];

/// Rows of the file of instructions, likewise.
const INSTRUCTION_ROWS: &[(&str, &str)] = &[
    ("random_read", "random 4-KiB read on a full drive"),
    ("random_70_30", "70 % reads, 30 % writes on a full drive"),
    ("fresh_write", "random 4-KiB write to a fresh drive"),
    ("steady_cleaning", "8-KiB write with constant garbage collection"),
    ("counted_read_straw", "untimed page read, counted by `straw`"),
    ("page_overwrite", "page overwritten on a full drive"),
    ("page_overwrite_locked", "the same with page and block locks"),
    ("slc_cache", "untimed page write through an SLC cache"),
    ("replicas", "page read where hot pages get replicas"),
    ("deals", "page read where disturbed blocks are spread over others"),
    ("copyback", "page overwritten, garbage-collected by copyback"),
    ("ages", "page overwritten, block ages measured"),
    ("sorting", "page read or overwritten, data sorted by read heat"),
    ("swaps", "page overwritten in a small part of a worn drive, wear levelling active"),
];

/// Columns of the file of instructions.
const COUNTED: [&str; 6] =
    ["instructions", "data accesses", "mispredicted branches", "I1 misses", "D1 misses", "flash operations"];

/// The documents with their tables as they should be, or why one cannot be made: (file, table, text or why not).
fn documents(tree: &Tree) -> Vec<(&'static str, &'static str, Result<String, String>)> {
    let present = TABLES.iter().filter(|(path, ..)| tree.get(path).is_some());
    let made = present.map(|(path, name, render)| {
        let text = tree.get(path).map_or("", |source| source.text.as_str());
        (*path, *name, render(tree).and_then(|table| replaced(text, name, &table)))
    });
    made.collect()
}

/// A document with the text of one of its tables replaced.
fn replaced(text: &str, name: &str, table: &str) -> Result<String, String> {
    let begin = format!("<!-- table {name}");
    let place = text.find(&begin).and_then(|at| {
        let from = at + text[at..].find("-->\n")? + 4;
        Some((from, from + text[from..].find(END)?))
    });
    let (from, to) = place.ok_or_else(|| format!("there is no `{begin} ... -->` with `{END}`"))?;
    Ok(format!("{}\n{table}\n{}", &text[..from], &text[to..]))
}

/// What is to be written: each document with all its tables made anew.
pub fn written(tree: &Tree) -> Result<Vec<(&'static str, String)>, String> {
    let mut done: BTreeMap<&'static str, String> = BTreeMap::new();
    for (path, name, render) in TABLES {
        let source = tree.get(path).ok_or_else(|| format!("there is no {path}"))?;
        let text = done.get(path).unwrap_or(&source.text);
        let wrong = |why| format!("{path}, table {name}: {why}");
        let text = render(tree).and_then(|table| replaced(text, name, &table)).map_err(wrong)?;
        done.insert(path, text);
    }
    Ok(done.into_iter().collect())
}

pub fn table(tree: &Tree, report: &mut Report) {
    for (path, name, text) in documents(tree) {
        let there = tree.get(path).map_or("", |source| source.text.as_str());
        match text {
            Ok(text) if text == there => {}
            Ok(_) => report.whole(path, 1, format!("the table {name} is stale"), ADVICE),
            Err(why) => report.whole(path, 1, format!("the table {name} cannot be made: {why}"), ADVICE),
        }
    }
}

fn file<'t>(tree: &'t Tree, path: &str) -> Result<&'t str, String> {
    tree.get(path).map(|source| source.text.as_str()).ok_or_else(|| format!("there is no {path}"))
}

/// The text between quotes, or before a comma, behind `"key": `.
fn json_value<'t>(line: &'t str, key: &str) -> Option<&'t str> {
    let rest = line.split_once(&format!("\"{key}\": "))?.1;
    match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next(),
        None => rest.split([',', '}']).next(),
    }
}

fn number(text: &str) -> Result<f64, String> {
    text.trim().parse().map_err(|_| format!("{text:?} is no number"))
}

fn readable(value: f64) -> String {
    match value {
        _ if value >= 1e5 => format!("{:.2} M", value / 1e6),
        _ if value >= 100.0 => format!("{value:.0}"),
        _ if value >= 0.01 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}

/// The goal of a row, and whether it was reached.
fn goal(text: &str, value: f64) -> Result<String, String> {
    let Some((sign, bound)) = text.split_once(' ') else { return Ok("-".to_owned()) };
    let bound = number(bound)?;
    let (word, is_reached) =
        if sign == ">=" { ("at least", value >= bound) } else { ("at most", value <= bound) };
    let missed = if is_reached { "" } else { ": missed" };
    Ok(format!("{word} {}{missed}", readable(bound)))
}

fn speed(tree: &Tree) -> Result<String, String> {
    let text = file(tree, SPEED)?;
    let fact = |key: &str| text.lines().find_map(|line| json_value(line, key));
    let fact = |key: &str| fact(key).ok_or_else(|| format!("{SPEED} has no {key}"));
    let (commit, date, machine, load) =
        (fact("commit")?, fact("date")?, fact("machine")?, fact("load_before")?);
    if commit.len() != 12 || !commit.chars().all(|c| c.is_ascii_hexdigit()) {
        return Err(format!("{SPEED} is of {commit:?}: measure a commit without changes"));
    }
    let mut table = format!(
        "Commit `{commit}` of {date}, on {machine}, load average {load} before:\n\n\
         | load | measured | goal |\n|---|---|---|\n"
    );
    let mut rows: BTreeMap<&str, &str> =
        text.lines().filter_map(|line| Some((json_value(line, "name")?, line))).collect();
    for (name, what) in SPEED_ROWS {
        let line = rows.remove(name).ok_or_else(|| format!("{SPEED} has no row {name}"))?;
        let value = number(json_value(line, "value").unwrap_or_default())?;
        let unit = json_value(line, "unit").unwrap_or_default();
        let goal = goal(json_value(line, "goal").unwrap_or_default(), value)?;
        let _ = writeln!(table, "| {what} | {} {unit} | {goal} |", readable(value));
    }
    if let Some(name) = rows.keys().next() {
        return Err(format!("nothing is said of row {name} of {SPEED}"));
    }
    Ok(table)
}

fn instructions(tree: &Tree) -> Result<String, String> {
    let text = file(tree, INSTRUCTIONS)?;
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let mut counts: BTreeMap<&str, &str> = lines.filter_map(|line| line.split_once(": ")).collect();
    let compiler = counts.remove("compiler").ok_or("no compiler")?;
    let compiler = compiler.split(" (").next().unwrap_or(compiler);
    let mut table =
        format!("| by {compiler} | {} |\n|---|{}\n", COUNTED.join(" | "), "---|".repeat(COUNTED.len()));
    for (name, what) in INSTRUCTION_ROWS {
        let row = counts.remove(name).ok_or_else(|| format!("{INSTRUCTIONS} has no row {name}"))?;
        let row: Vec<&str> = row.split_whitespace().collect();
        if row.len() != COUNTED.len() {
            return Err(format!("{INSTRUCTIONS}: {name} has {} numbers, not {}", row.len(), COUNTED.len()));
        }
        row.iter().try_for_each(|word| number(word).map(drop))?;
        let _ = writeln!(table, "| {what} | {} |", row.join(" | "));
    }
    match counts.keys().next() {
        Some(name) => Err(format!("nothing is said of row {name} of {INSTRUCTIONS}")),
        None => Ok(table),
    }
}

/// What each fitted drive was given and what is predicted.
fn drives(tree: &Tree) -> Result<String, String> {
    let fits = tree.sources.iter().filter(|it| it.path.starts_with(FITS.0) && it.path.ends_with(FITS.1));
    let mut table = "| drive | figure | given | predicted | off | |\n|---|---|---|---|---|---|\n".to_owned();
    for fit in fits {
        let name = fit.text.lines().find_map(|line| json_value(line, "name"));
        let mut name = name.ok_or_else(|| format!("{} has no name", fit.path))?;
        // A figure is an object of its own, its keys in the order of the alphabet.
        for row in fit.text.split("\n    {").filter(|row| row.contains("\"figure\": ")) {
            let of = |key: &str| row.lines().find_map(|line| json_value(line, key));
            let of = |key: &str| of(key).ok_or_else(|| format!("{}: a figure without {key}", fit.path));
            let off = 100.0 * number(of("off")?)?;
            let fitted = if of("fitted")? == "true" { "fitted" } else { "" };
            let (given, predicted) = (of("given_text")?, of("predicted_text")?);
            let _ = writeln!(
                table,
                "| {name} | {} | {given} | {predicted} | {off:+.1} % | {fitted} |",
                of("figure")?.replace('_', " ")
            );
            name = "";
        }
    }
    Ok(table)
}

/// Claims of a basis: judged and met.
#[derive(Clone, Copy, Default)]
struct Count {
    met: usize,
    judged: usize,
}

impl Count {
    fn add(&mut self, other: Count) {
        self.met += other.met;
        self.judged += other.judged;
    }

    fn show(self) -> String {
        if self.judged == 0 { "-".to_owned() } else { format!("{} of {}", self.met, self.judged) }
    }
}

const BASES: [&str; 3] = ["evidence", "fitted", "tautology"];

/// The tables of a list in a TOML file, `[[head]]`.
fn tables<'t>(text: &'t str, head: &'t str) -> impl Iterator<Item = &'t str> {
    let blocks = text.split("\n[[").skip(1);
    blocks.filter_map(move |block| block.strip_prefix(head)?.strip_prefix("]]"))
}

/// A text of a table, or of the head of a file.
fn toml_value<'t>(table: &'t str, key: &str) -> Option<&'t str> {
    let mut values = table.lines().filter_map(|line| line.strip_prefix(key)?.strip_prefix(" = \""));
    values.next()?.split('"').next()
}

/// How many of a paper's claims are met, by basis; and how many there are.
fn count(tree: &Tree, name: &str, results: &str) -> Result<([Count; 3], usize), String> {
    let path = format!("papers/{name}/claims.toml");
    let ids = |text, head| tables(text, head).filter_map(|it| toml_value(it, "id")).collect::<Vec<_>>();
    let claimed = file(tree, &path).map(|text| format!("\n{text}"))?;
    let claimed = ids(&claimed, "claim").len();
    let measured = ids(results, "claim").len();
    if claimed != measured {
        return Err(format!("{path} has {claimed} claims, results.toml {measured}: measure it anew"));
    }
    let mut counts = [Count::default(); 3];
    for claim in tables(results, "claim") {
        let basis = toml_value(claim, "basis").and_then(|basis| BASES.iter().position(|it| *it == basis));
        let basis = basis.ok_or_else(|| format!("a claim of {name} has no basis"))?;
        let verdict = toml_value(claim, "verdict").unwrap_or_default();
        let (met, judged) =
            (usize::from(verdict == "met"), usize::from(["met", "missed"].contains(&verdict)));
        counts[basis].add(Count { met, judged });
    }
    Ok((counts, claimed))
}

/// Folders of papers, with what was measured.
fn papers(tree: &Tree) -> Vec<(&str, &str)> {
    let folder = |path: &'_ str| path.strip_prefix("papers/")?.strip_suffix("/results.toml").map(str::len);
    let of = |source: &'_ super::Source| folder(&source.path);
    let found = tree.sources.iter().filter_map(|source| {
        let length = of(source)?;
        Some((&source.path["papers/".len()..][..length], source.text.as_str()))
    });
    found.filter(|(name, _)| !name.contains('/')).collect()
}

fn claims(tree: &Tree) -> Result<String, String> {
    let readme = file(tree, PAPERS)?;
    let (mut sums, mut all, mut folders) = ([Count::default(); 3], 0, 0);
    let mut table =
        "| folder | claims | evidence | fitted | tautology | commit |\n|---|---|---|---|---|---|\n"
            .to_owned();
    let mut chips = String::new();
    for (name, results) in papers(tree) {
        folders += 1;
        if !readme.contains(&format!("| [{name}]({name}/README.md) |")) {
            return Err(format!("papers/{name} is not in the list above"));
        }
        let commit = toml_value(results, "commit").unwrap_or("-");
        if tables(results, "finding").next().is_some() {
            let verdicts = tables(results, "finding").filter_map(|it| toml_value(it, "verdict"));
            let verdicts: Vec<&str> = verdicts.collect();
            let of = |verdict: &str| verdicts.iter().filter(|it| **it == verdict).count();
            let (met, judged) = (of("met"), verdicts.len() - of("not judged"));
            chips = format!(
                "Of {} numbers about chips in {name} {judged} are judged, and {met} met (commit `{commit}`).\n",
                verdicts.len()
            );
            continue;
        }
        let (counts, claims) = count(tree, name, results)?;
        all += claims;
        counts.iter().zip(&mut sums).for_each(|(count, sum)| sum.add(*count));
        let [evidence, fitted, tautology] = counts.map(Count::show);
        let _ = writeln!(table, "| {name} | {claims} | {evidence} | {fitted} | {tautology} | `{commit}` |");
    }
    let met: usize = sums.iter().map(|sum| sum.met).sum();
    let judged: usize = sums.iter().map(|sum| sum.judged).sum();
    let [evidence, fitted, tautology] = sums.map(Count::show);
    let _ = writeln!(table, "| all | {all} | {evidence} | {fitted} | {tautology} | |");
    Ok(format!(
        "{folders} folders, {all} claims about drives: {judged} are judged, {met} met, and of these {} are \
         evidence.\n{chips}\n{table}",
        sums[0].met
    ))
}
