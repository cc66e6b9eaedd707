//! Runs the blocks of a page, in a folder of its own, as a reader would who types what it says.

use super::expect;
use super::page::{Fence, Page};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Languages that are run.
const RUN: &[&str] = &["sh", "toml", "rust", "c", "python"];
/// What may stand behind a language.
const OPTIONS: &[&str] = &["skip", "soak", "exit", "file"];

/// Where and with what a page is run.
pub struct Place {
    /// The checkout.
    pub root: PathBuf,
    /// The program.
    pub program: PathBuf,
    /// Where cargo put the libraries that Rust blocks use.
    pub libraries: PathBuf,
    /// Folder under which each page gets one.
    pub scratch: PathBuf,
    /// Are blocks run that take long?
    pub soak: bool,
}

/// What came of the blocks of a page.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// So many were run.
    pub run: usize,
    /// So many were left out, with the reason.
    pub skipped: usize,
    /// So many are left to `make soak`.
    pub soak: usize,
    /// So many outputs were held against the page.
    pub compared: usize,
}

/// A block that is under way.
struct Step<'a> {
    place: &'a Place,
    folder: &'a Path,
    fence: &'a Fence,
    number: usize,
}

/// Is a block in a language that is run?
pub fn is_run(fence: &Fence) -> bool {
    RUN.contains(&fence.language.as_str())
}

/// Runs all blocks of a page; an error says which one, and what was wrong.
pub fn run(place: &Place, page: &Page) -> Result<Tally, String> {
    let folder = prepare(place, page)?;
    let mut tally = Tally::default();
    for (number, fence) in page.fences.iter().enumerate() {
        let at = |error: String| format!("{}:{}: {error}", page.path, fence.line);
        checked(fence).map_err(at)?;
        if let Some(name) = fence.option("file") {
            fs::write(folder.join(name), &fence.text).map_err(|error| at(format!("{name}: {error}")))?;
        }
        if !is_run(fence) {
            continue;
        }
        if fence.option("skip").is_some() {
            tally.skipped += 1;
            continue;
        }
        if fence.option("soak").is_some() && !place.soak {
            tally.soak += 1;
            continue;
        }
        let printed = Step { place, folder: &folder, fence, number }.run().map_err(at)?;
        tally.run += 1;
        if let Some(shown) = page.fences.get(number + 1).filter(|next| next.language == "text") {
            expect::compare(&shown.text, &printed).map_err(|error| {
                format!(
                    "{}:{}: this is not what it prints:\n{error}\nall of it:\n{printed}",
                    page.path, shown.line
                )
            })?;
            tally.compared += 1;
        }
    }
    Ok(tally)
}

/// Options that there are not, and skips without a reason, are refused.
fn checked(fence: &Fence) -> Result<(), String> {
    if let Some((option, _)) = fence.options.iter().find(|(key, _)| !OPTIONS.contains(&key.as_str())) {
        return Err(format!("`{option}` behind the marks of a block; allowed are {}", OPTIONS.join(", ")));
    }
    if fence.option("skip").is_some_and(|reason| reason.trim().is_empty()) {
        return Err("a skip needs its reason: skip=\"needs root\"".to_owned());
    }
    Ok(())
}

/// Makes the folder of a page anew: in it all of the checkout under its own names, and the program where `make demo`
/// puts it.
fn prepare(place: &Place, page: &Page) -> Result<PathBuf, String> {
    let folder = place.scratch.join(page.path.trim_end_matches(".md").replace('/', "-"));
    let done = || -> std::io::Result<()> {
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(folder.join("target/debug"))?;
        link(&place.program, &folder.join("target/debug/wordline"))?;
        for entry in fs::read_dir(&place.root)? {
            let name = entry?.file_name();
            let is_theirs = name.to_string_lossy().starts_with('.') || name == "target" || name == "out";
            if !is_theirs {
                link(&place.root.join(&name), &folder.join(&name))?;
            }
        }
        Ok(())
    };
    done().map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(folder)
}

#[cfg(unix)]
fn link(from: &Path, to: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(from, to)
}

impl Step<'_> {
    /// Runs it; what it printed, if it ended as it should.
    fn run(&self) -> Result<String, String> {
        let text = &self.fence.text;
        match self.fence.language.as_str() {
            "sh" => self.shell(&format!("set -euo pipefail\n{text}"), self.exit()?),
            "python" => {
                let file = self.file("py", text)?;
                self.shell(&format!("python3 {file}"), self.exit()?)
            }
            "toml" => {
                let file = self.file("toml", text)?;
                let is_sweep = ["[grid]", "[zip]", "[sample]"].iter().any(|table| text.contains(table));
                let sweep = format!("wordline sweep {file} -o out/block{} --dry-run", self.number);
                let command = if is_sweep { sweep } else { format!("wordline explain {file}") };
                self.shell(&command, self.exit()?)
            }
            "c" => {
                let file = self.file("c", text)?;
                let compile = "cc -std=c11 -Wall -Werror -fPIC";
                let whole = format!("{compile} {file} -o block && ./block");
                let part = format!("{compile} -c {file} -o block.o");
                self.shell(if text.contains(" main(") { &whole } else { &part }, self.exit()?)
            }
            _ => self.rust(),
        }
    }

    /// Compiles a Rust program against the drive's library, as cargo built it last, and runs it.
    fn rust(&self) -> Result<String, String> {
        let text = &self.fence.text;
        let whole =
            if text.contains("fn main()") { text.clone() } else { format!("fn main() {{\n{text}}}\n") };
        let file = self.file("rs", &whole)?;
        let library = newest(&self.place.libraries, "libssd-")?;
        let (library, others) = (library.display(), self.place.libraries.display());
        let command = format!(
            "rustc --edition 2024 -O --extern ssd='{library}' -L dependency='{others}' {file} -o block && ./block"
        );
        self.shell(&command, self.exit()?)
    }

    /// The exit code that the page says it has.
    fn exit(&self) -> Result<i32, String> {
        let code = self.fence.option("exit").unwrap_or("0");
        code.parse().map_err(|_| format!("exit={code}: a number"))
    }

    /// Writes the block to a file, under the name that it has or one of its own.
    fn file(&self, ending: &str, text: &str) -> Result<String, String> {
        let own = format!("block{}.{ending}", self.number);
        let name = self.fence.option("file").map_or(own, str::to_owned);
        fs::write(self.folder.join(&name), text).map_err(|error| format!("{name}: {error}"))?;
        Ok(name)
    }

    /// What a shell prints, to both of its outputs, in the page's folder.
    fn shell(&self, script: &str, code: i32) -> Result<String, String> {
        let programs = self.folder.join("target/debug");
        let path = std::env::var("PATH").unwrap_or_default();
        let output = Command::new("bash")
            .args(["-c", &format!("exec 2>&1\n{script}")])
            .current_dir(self.folder)
            // A drive that an earlier run has kept would be told of in the output.
            .env("WORDLINE_CACHE", "")
            .env("PATH", format!("{}:{path}", programs.display()))
            .stdin(std::process::Stdio::null())
            .output()
            .map_err(|error| format!("bash does not start: {error}"))?;
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.code() == Some(code) {
            return Ok(printed);
        }
        let line = self.fence.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        Err(format!("`{line}` ended with {}, not {code}:\n{printed}", output.status))
    }
}

/// The library of a name that was built last.
fn newest(folder: &Path, name: &str) -> Result<PathBuf, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let is_it = |path: &PathBuf| {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        file.starts_with(name) && file.ends_with(".rlib")
    };
    let found = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_it);
    let built = |path: &PathBuf| fs::metadata(path).and_then(|file| file.modified()).ok();
    found.max_by_key(built).ok_or_else(|| format!("no {name}*.rlib in {}", folder.display()))
}
