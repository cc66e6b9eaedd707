//! `wordline compare`: the results of several runs side by side.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use lab::files::{FileLock, FolderLock, replace};
use lab::job::files;
use lab::report::{Comparison, NotCompared};
use lab::result::FILE_NAME;
use lab::{RunResult, report};

use crate::failure::Failure;
use crate::requiring::{RequireArgs, met};
use lab::places::{Force, Kind, Places, claim_file};

/// Examples for the help text.
pub const EXAMPLES: &str = "\
Examples:
  wordline compare out/demo/greedy out/demo/fifo       a table, with ratios to the first
  wordline compare out/demo/* --out out/demo-compared  and plots
  wordline compare out/sweep/* --baseline op7-greedy   many runs as rows, grouped by the settings that differ
  wordline compare out/sweep/* --keys write_amplification,read_latency_p99,ftl.gc_victim.policy --markdown
      only these, for a document
  wordline compare out/sweep/* --csv sweep.csv         everything, for other programs";

/// Flags of `compare`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Compare {
    /// Folders written by `wordline run --out`, or result.json files
    #[arg(value_name = "DIR", required = true)]
    results: Vec<PathBuf>,

    /// Compare with this run: its name in the table, or its folder [default: the first]
    #[arg(long, value_name = "NAME|DIR")]
    baseline: Option<String>,

    /// Show only these metrics (such as write_amplification), configuration keys or sections
    #[arg(long, value_name = "KEYS", value_delimiter = ',')]
    keys: Vec<String>,

    /// Write a row for each run to this file, as CSV with exact numbers; - prints it
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    csv: Option<PathBuf>,

    /// Print the table as Markdown
    #[arg(long, conflicts_with = "json")]
    markdown: bool,

    /// Write comparison.txt and plots (SVG, PDF, with their data as CSV) to this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Replace an earlier comparison there
    #[arg(long)]
    force: bool,

    /// Print the results as a JSON array
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    require: RequireArgs,
}

/// Compares results.
pub fn run(args: &Compare, out: &mut dyn Write) -> Result<(), Failure> {
    let _claims = args.claim()?;
    let load = |path: &PathBuf| {
        let file = result_file(path);
        files::check(&file, "read")?;
        let allowed = "    allowed: folders that `wordline run --out` has written, or their result.json";
        let result = RunResult::load(path).map_err(|error| Failure::usage(format!("{error}\n{allowed}")))?;
        Ok((path.clone(), result))
    };
    let required = args.require.requirements()?;
    let results: Vec<(PathBuf, RunResult)> = args.results.iter().map(load).collect::<Result<_, Failure>>()?;
    if args.json {
        let list: Vec<String> =
            results.iter().map(|(_, result)| result.to_json().trim_end().to_owned()).collect();
        writeln!(out, "[{}]", list.join(",\n"))?;
    }
    let unmet = met(&required, results.iter().map(|(_, result)| result));
    let comparison = args.comparison(results)?;
    let prints_csv = args.csv.as_deref() == Some(Path::new("-"));
    let text = match (prints_csv, args.markdown) {
        _ if args.json => String::new(),
        (true, _) => comparison.csv(),
        (false, true) => comparison.markdown(),
        (false, false) => comparison.text(),
    };
    out.write_all(text.as_bytes())?;
    out.flush()?;
    if let Some(path) = args.csv.as_ref().filter(|_| !prints_csv) {
        replace(path, comparison.csv().as_bytes())?;
    }
    if let Some(folder) = &args.out {
        report::write_comparison(folder, &comparison)?;
    }
    unmet
}

/// The file of a result that is named by it or by its folder.
fn result_file(path: &Path) -> PathBuf {
    if path.is_dir() { path.join(FILE_NAME) } else { path.to_owned() }
}

/// A name that nothing has, with what there is: all of it, or as much as can be read.
fn not_compared(flag: &str, wrong: &NotCompared, shown: usize) -> Failure {
    let NotCompared { found, allowed, near } = wrong;
    let names = allowed.iter().take(shown).cloned().collect::<Vec<_>>().join(", ");
    let more = if allowed.len() > shown { ", ... (keys of the configuration: wordline explain)" } else { "" };
    let near = near.as_ref().map_or(String::new(), |near| format!("\n    did you mean {near:?}?"));
    Failure::usage(format!("{flag}: no such name\n    found:   {found:?}\n    allowed: {names}{more}{near}"))
}

impl Compare {
    fn comparison(&self, results: Vec<(PathBuf, RunResult)>) -> Result<Comparison, Failure> {
        // A folder says which result is meant, whatever that is called.
        let named = self.baseline.as_ref().map(|name| {
            let at = results.iter().position(|(path, _)| result_file(path) == result_file(Path::new(name)));
            (name, at)
        });
        let mut comparison = Comparison::new(results);
        match named {
            Some((_, Some(at))) => comparison = comparison.with_given_baseline(at),
            Some((name, None)) => {
                let wrong = |wrong| not_compared("--baseline", &wrong, usize::MAX);
                comparison = comparison.with_baseline(name).map_err(wrong)?;
            }
            None => {}
        }
        if self.keys.is_empty() {
            return Ok(comparison);
        }
        let keys: Vec<&str> = self.keys.iter().map(|key| key.trim()).collect();
        comparison
            .with_keys(&keys)
            .map_err(|wrong| not_compared("--keys", &wrong, report::metric_keys().len()))
    }

    /// The folder of `--out` and the file of `--csv` for this comparison alone, if nothing is lost by it.
    fn claim(&self) -> Result<(Option<FolderLock>, Option<FileLock>), Failure> {
        let mut places = Places::default();
        for path in &self.results {
            places.reads("the result", &result_file(path));
        }
        places.prints(std::io::stdout());
        let csv = self.csv.as_ref().filter(|path| *path != Path::new("-"));
        if let Some(path) = csv {
            places.writes("--csv", path);
        }
        if let Some(folder) = &self.out {
            for name in report::comparison_files() {
                places.writes("a file of --out,", &folder.join(name));
            }
        }
        places.check()?;
        let force = Force::flag(self.force);
        let file = csv.map(|path| claim_file(path, Kind::Comparison, "write the comparison", force));
        let claim = |folder: &PathBuf| {
            report::claim_comparison(folder, &format!("--out {}", folder.display()), force)
        };
        Ok((self.out.as_ref().map(claim).transpose()?, file.transpose()?.flatten()))
    }
}
