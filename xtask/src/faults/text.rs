//! The files that name faults: what is wrong, where, what the text was and what it is.
//!
//! ```text
//! fault locks-first-copy: the first copy under way is not looked at
//! in crates/ssd/src/ftl/locks/copying.rs
//! nearest locks::copying, timelines::locks
//! - copies.iter()
//! + copies.iter().skip(1)
//! ```
//!
//! What stands behind `-` must occur once in the file. It is an expression, or whole statements; what stands behind `+`
//! is the same, or nothing in place of statements. White space at both ends does not count.

use std::fs;
use std::path::Path;

/// One fault.
pub struct Fault {
    /// Its name.
    pub slug: String,
    /// What is wrong.
    pub what: String,
    /// The file, from the root.
    pub path: String,
    /// Parts of the names of the nearest tests, the nearest first.
    pub nearest: Vec<String>,
    /// The text as it is.
    pub old: String,
    /// The text in its place.
    pub new: String,
}

/// All faults of a folder's files, in order of their names.
pub fn read(folder: &Path) -> Result<Vec<Fault>, String> {
    let said = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut files: Vec<_> = fs::read_dir(folder)
        .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect::<Result<_, _>>())
        .map_err(said)?;
    files.sort();
    let mut all: Vec<Fault> = Vec::new();
    for file in files {
        for fault in parse(&fs::read_to_string(&file).map_err(said)?)
            .map_err(|(line, what)| format!("{}:{line}: {what}", file.display()))?
        {
            if all.iter().any(|other| other.slug == fault.slug) {
                return Err(format!("{}: two faults are called {}", file.display(), fault.slug));
            }
            all.push(fault);
        }
    }
    Ok(all)
}

/// The faults of one file; an error has its line, from 1.
fn parse(text: &str) -> Result<Vec<Fault>, (usize, String)> {
    let mut all: Vec<Fault> = Vec::new();
    for (line, words) in (1..).zip(text.lines()) {
        if words.trim().is_empty() || words.starts_with('#') {
            continue;
        }
        if let Some(named) = words.strip_prefix("fault ") {
            let Some((slug, what)) = named.split_once(": ") else {
                return Err((line, "a fault is `fault <slug>: <what is wrong>`".to_owned()));
            };
            all.push(Fault {
                slug: slug.to_owned(),
                what: what.to_owned(),
                path: String::new(),
                nearest: Vec::new(),
                old: String::new(),
                new: String::new(),
            });
            continue;
        }
        let Some(fault) = all.last_mut() else {
            return Err((line, "no fault begins before this line".to_owned()));
        };
        if let Some(path) = words.strip_prefix("in ") {
            fault.path = path.trim().to_owned();
        } else if let Some(filters) = words.strip_prefix("nearest ") {
            fault.nearest = filters.split(',').map(|filter| filter.trim().to_owned()).collect();
        } else if words == "-" || words.starts_with("- ") {
            fault.old += words.get(2..).unwrap_or("");
            fault.old.push('\n');
        } else if words == "+" || words.starts_with("+ ") {
            fault.new += words.get(2..).unwrap_or("");
            fault.new.push('\n');
        } else {
            return Err((line, format!("`{words}`: lines begin with fault, in, nearest, - or +")));
        }
    }
    for fault in &mut all {
        fault.old = fault.old.trim().to_owned();
        fault.new = fault.new.trim().to_owned();
    }
    Ok(all)
}

impl Fault {
    /// What stands in place of the old text: both, and a question between them.
    fn switched(&self, number: u32) -> String {
        let ssd = if self.path.starts_with("crates/ssd/src/") { "crate" } else { "ssd" };
        let both = format!("if {ssd}::faults::on({number}) {{ {} }} else {{ {} }}", self.new, self.old);
        if self.old.ends_with([';', '}']) { both } else { format!("({both})") }
    }

    /// A file with this fault in it, switched off.
    pub fn put_into(&self, text: &str, number: u32) -> Result<String, String> {
        if !is_whole(&self.old) || !is_whole(&self.new) {
            return Err(format!(
                "{}: a bracket opens or closes in its text and not in it as well",
                self.slug
            ));
        }
        let binds = self.old.starts_with("let ") && self.old.matches(';').count() == 1;
        let is_half = is_half(&self.old) || is_half(&self.new);
        if binds || is_half || self.old.ends_with(',') || is_arm(&self.old) {
            return Err(format!("{}: its text is neither an expression nor whole statements", self.slug));
        }
        match text.matches(&self.old).count() {
            1 => Ok(text.replacen(&self.old, &self.switched(number), 1)),
            found => Err(format!("{}: its text occurs {found} times in {}", self.slug, self.path)),
        }
    }
}

/// Whether each bracket that opens in a text closes in it.
fn is_whole(text: &str) -> bool {
    [['(', ')'], ['[', ']'], ['{', '}']].iter().all(|pair| {
        let count = |bracket| text.matches(bracket).count();
        count(pair[0]) == count(pair[1])
    })
}

/// Whether a text begins or ends with an operator that has something on either side.
fn is_half(text: &str) -> bool {
    text.starts_with(['+', '/', '%', '^', '=', '>', '.', '?'])
        || text.ends_with(['+', '-', '*', '/', '%', '^', '=', '<', '&', '|'])
}

/// Whether a text is an arm of a match, or several: an arrow stands outside of all brackets.
fn is_arm(text: &str) -> bool {
    let mut depth = 0;
    text.char_indices().any(|(at, letter)| {
        match letter {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        depth == 0 && text[at..].starts_with("=>")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_statement_is_refused() {
        let text = "fault a: b\nin c\nnearest d\n- if x {\n+ if !x {\n";
        let fault = parse(text).unwrap().remove(0);
        assert!(fault.put_into("if x { y }", 0).unwrap_err().contains("a: a bracket opens"));
        for old in ["let x = 1;", "X => 1,", "X => 1", "X | Y => { 1 }", "+ x", "x ==", ".y()"] {
            let fault = Fault { old: old.to_owned(), new: "2".to_owned(), ..parse(text).unwrap().remove(0) };
            assert!(fault.put_into(old, 0).unwrap_err().contains("a: its text is neither"));
        }
    }

    const TWO: &str = "# both\nfault one: less\nin crates/ssd/src/a.rs\nnearest a::b, c\n-     x + 1\n+     x\n\n\
        fault two: nothing\nin crates/lab/src/b.rs\nnearest d\n- go();\n- stop();\n";

    #[test]
    fn faults_are_read_and_switched() {
        let all = parse(TWO).unwrap();
        assert_eq!(all[0].nearest, ["a::b", "c"]);
        let text = all[0].put_into("let y = x + 1;", 7).unwrap();
        assert_eq!(text, "let y = (if crate::faults::on(7) { x } else { x + 1 });");
        let text = all[1].put_into("{ go();\nstop(); }", 8).unwrap();
        assert_eq!(text, "{ if ssd::faults::on(8) {  } else { go();\nstop(); } }");
        assert!(all[0].put_into("x + 1 + x + 1", 7).unwrap_err().contains("2 times"));
    }

    /// Code moves, and what is not found any more is no fault: then nobody would hear of it for months.
    #[test]
    fn every_fault_has_its_place() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let wrong = |fault: &Fault| match fs::read_to_string(root.join(&fault.path)) {
            Ok(text) => fault.put_into(&text, 1).err(),
            Err(error) => Some(format!("{}: {}: {error}", fault.slug, fault.path)),
        };
        let wrong: Vec<String> = read(&root.join("xtask/faults")).unwrap().iter().filter_map(wrong).collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    /// Lines such as `ftl::work::walk::tests::name`, of every function below a folder of sources.
    fn functions(folder: &Path, module: &str, found: &mut String) {
        let Ok(entries) = fs::read_dir(folder) else { return };
        for entry in entries.flatten() {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            let within = |name: &str| match name {
                "mod" | "main" | "lib" | "src" | "tests" if module.is_empty() || name != "tests" => {
                    module.to_owned()
                }
                name => format!("{module}{name}::"),
            };
            if path.is_dir() {
                functions(&path, &within(&name), found);
            } else if let Some(stem) = name.strip_suffix(".rs") {
                let text = fs::read_to_string(&path).unwrap_or_default();
                let named =
                    |line: &str| Some(line.trim().strip_prefix("fn ")?.split(['(', '<']).next()?.to_owned());
                for name in text.lines().filter_map(named) {
                    found.push_str(&format!("{0}{name}\n{0}tests::{name}\n", within(stem)));
                }
            }
        }
    }

    /// Whoever moves a test has no fault look for it in vain.
    #[test]
    fn the_nearest_tests_are_there() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut found = String::new();
        for member in fs::read_dir(root.join("crates")).unwrap().flatten() {
            functions(&member.path(), "", &mut found);
        }
        functions(&root.join("xtask/src"), "xtask::", &mut found);
        let faults = read(&root.join("xtask/faults")).unwrap();
        let names = faults.iter().flat_map(|fault| fault.nearest.iter().map(move |name| (&fault.slug, name)));
        let lost: Vec<String> = names
            .filter(|(_, name)| !found.contains(name.as_str()))
            .map(|(slug, name)| format!("{slug}: no test is called like {name}"))
            .collect();
        assert!(lost.is_empty(), "{}", lost.join("\n"));
    }

    #[test]
    fn what_is_no_fault_is_named_by_its_line() {
        assert_eq!(parse("fault x\n").err().unwrap().0, 1);
        assert_eq!(parse(&TWO.replace("nearest d", "near d")).err().unwrap().0, 10);
    }
}
