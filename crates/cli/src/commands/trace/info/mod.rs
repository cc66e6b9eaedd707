//! `wordline trace info`: what is in a trace or another workload.

mod found;
mod json;
mod table;

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use lab::Plot;
use lab::files::write_set;
use lab::job::files;
use lab::report::{WORKLOAD_PLOTS, workload_plots};
use workload::analysis::{Analyzer, Options};
use workload::{ReadBuffer, SECTOR_BYTES, Spec};

use self::found::Found;
use super::input::{Input, for_each};
use crate::failure::Failure;
use crate::workload_args::size;
use lab::places::{Force, Places, Set, claim_folder};

/// Examples for the help text.
const EXAMPLES: &str = "\
Examples:
  wordline trace info data/rocksdb-ycsb-a-run1.csv.zst
  wordline trace info --first 100000 --json src1_0.csv.gz
  wordline trace info --plots out/src1_0 src1_0.csv.gz
  wordline trace info --workload ads --buffer 64MiB,128MiB,256MiB
  wordline trace info --format spc --skip-bad-lines Financial1.spc";

/// Pages of a read buffer, unless the user says otherwise.
const BUFFER_PAGE: &str = "8KiB";

/// What the plots are called in the list of their folder.
const PLOTS: &str = "trace info";

/// Flags of `trace info`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Info {
    #[command(flatten)]
    input: Input,

    /// Follow every page for the miss-ratio curve, instead of 16,384 of them: slower, and needs more memory
    #[arg(long)]
    exact: bool,

    /// Maximum memory; beyond that, pages are sampled, and the output says so
    #[arg(long, value_name = "MIB", default_value_t = 1024)]
    memory_mib: u64,

    /// Write plots (SVG, PDF, CSV) to this folder: miss ratio, rate, popularity, rewrites, updates
    #[arg(long, value_name = "DIR")]
    plots: Option<PathBuf>,

    /// Replace earlier plots there
    #[arg(long, requires = "plots")]
    force: bool,

    /// Report the hit ratio of an LRU read buffer of one size, or several such as 64MiB,256MiB
    #[arg(long, value_name = "SIZES", value_delimiter = ',')]
    buffer: Vec<String>,

    /// Page size of that buffer
    #[arg(long, value_name = "SIZE", default_value = BUFFER_PAGE, requires = "buffer")]
    buffer_page: String,

    /// Do not count hits in the first N requests, while the buffer fills
    #[arg(long, value_name = "N", default_value_t = 0, requires = "buffer")]
    buffer_warm_up: u64,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Looks through the workload and says what it found.
pub fn run(args: &Info, out: &mut dyn Write) -> Result<(), Failure> {
    let spec = args.input.spec()?;
    if let (true, Spec::Trace(trace)) = (args.json, &spec) {
        files::text(&trace.path, "name it in JSON")?;
    }
    let mut analyzer = Analyzer::new(args.options()?);
    let mut buffers = args.buffers()?;
    let names: Vec<String> = WORKLOAD_PLOTS.iter().flat_map(|stem| Plot::names(stem)).collect();
    let lock = args.plots.as_deref().map(|folder| {
        let mut places = Places::default();
        places.prints(std::io::stdout());
        places.writes("--plots", folder);
        places.check()?;
        let set = Set { kind: PLOTS, what: "plots of a workload".to_owned(), names: &names, is_known: false };
        let place = format!("--plots {}", folder.display());
        Ok::<_, Failure>(claim_folder(folder, &place, &set, Force::flag(args.force))?)
    });
    let _lock = lock.transpose()?;
    let mut seen = 0;
    let recorded = for_each(&spec, "reading trace", |record| {
        analyzer.add(record);
        for (_, buffer) in &mut buffers {
            if seen == args.buffer_warm_up {
                buffer.start_counting();
            }
            buffer.add_on(&record.request, record.device);
        }
        seen += 1;
        Ok(())
    })?;
    let title = args.input.title(&spec);
    let found = Found { title, spec, analysis: analyzer.finish(), report: recorded.report(), buffers };
    if args.json {
        writeln!(out, "{:#}", json::of(&found))?;
    } else {
        table::write(out, &found)?;
    }
    let Some(folder) = &args.plots else { return Ok(()) };
    let plots = workload_plots(&found.analysis);
    let files: Vec<_> = plots.iter().flat_map(|(stem, plot)| plot.files(stem)).collect();
    write_set(folder, PLOTS, &files, &names).map(drop).map_err(Failure::from)
}

impl Info {
    fn options(&self) -> Result<Options, Failure> {
        let least = Options::MEMORY_BYTES_MIN >> 20;
        let memory_bytes = self.memory_mib.checked_mul(1 << 20).filter(|_| self.memory_mib >= least);
        let Some(memory_bytes) = memory_bytes else {
            let found = self.memory_mib;
            return Err(Failure::usage(format!("--memory-mib: found {found}, allowed: from {least}")));
        };
        Ok(Options { memory_bytes, exact: self.exact })
    }

    fn buffers(&self) -> Result<Vec<(String, ReadBuffer)>, Failure> {
        let page = size(&self.buffer_page).map_err(|e| e.about("--buffer-page"))?;
        if page < SECTOR_BYTES || page % SECTOR_BYTES != 0 {
            let found = &self.buffer_page;
            return Err(Failure::usage(format!(
                "--buffer-page: found {found:?}, allowed: a multiple of 512 bytes"
            )));
        }
        let buffer = |text: &String| {
            let bytes = size(text).map_err(|e| e.about("--buffer"))?;
            if bytes < page {
                return Err(Failure::usage(format!("--buffer: found {text:?}, allowed: a page or more")));
            }
            Ok((text.trim().to_owned(), ReadBuffer::new(bytes, page)))
        };
        self.buffer.iter().map(buffer).collect()
    }
}
