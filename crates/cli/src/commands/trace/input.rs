//! The workload that is looked into or written, request by request.

use std::path::PathBuf;

use clap::Args;
use lab::job::{GENERATOR_SPACE_BYTES, with_path};
use workload::{Recorded, SECTOR_BYTES, Spec};

use crate::failure::Failure;
use crate::progress::Progress;
use crate::workload_args::{SyntheticArgs, TraceArgs};

/// The workload that is looked into or written: a trace or a generator.
#[derive(Args, Debug)]
pub(super) struct Input {
    /// The trace: any known format, plain or compressed; - is standard input
    pub file: Option<PathBuf>,

    #[command(flatten)]
    pub trace: TraceArgs,

    #[command(flatten)]
    synthetic: SyntheticArgs,
}

impl Input {
    /// The trace named, or the generator described.
    pub fn spec(&self) -> Result<Spec, Failure> {
        let mut spec = match (&self.file, self.synthetic.any()) {
            (Some(file), false) => with_path(None, file).into(),
            (None, true) => self.synthetic.start(None)?,
            (Some(file), true) => return Err(self.synthetic.refused_beside(file, false)),
            (None, false) => {
                let message = "no workload: name a trace, or --workload NAME, or --synthetic PATTERN";
                return Err(Failure::usage(message));
            }
        };
        self.trace.apply(&mut spec)?;
        self.synthetic.apply(&mut spec)?;
        spec.spec.check()?;
        Ok(spec.spec)
    }

    /// What to call it.
    pub fn title(&self, spec: &Spec) -> String {
        self.file.as_ref().map_or_else(|| spec.title(), |file| file.display().to_string())
    }
}

/// Requests between two looks at how far it is.
const PROGRESS_REQUESTS: u64 = 1 << 16;

/// Hands each request of a workload to `each`, showing how far it is; returns the stream at its end.
pub(super) fn for_each(
    spec: &Spec,
    what: &str,
    mut each: impl FnMut(&workload::Record) -> Result<(), Failure>,
) -> Result<Recorded, Failure> {
    let progress = Progress::new(false);
    progress.keep_standard_input(spec)?;
    let mut recorded = Recorded::open(spec, GENERATOR_SPACE_BYTES / SECTOR_BYTES)?;
    let total = recorded.progress().total;
    progress.begin(what, total);
    let mut requests = 0u64;
    while let Some(record) = recorded.next_record()? {
        each(&record)?;
        requests += 1;
        if requests.is_multiple_of(PROGRESS_REQUESTS) {
            // What is generated has no end that is known; its requests are told instead.
            progress.at(if total > 0 { recorded.progress().done } else { requests });
        }
    }
    progress.finish();
    Ok(recorded)
}
