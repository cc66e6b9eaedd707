//! What every kind of workload has in common: a table of settings, and how it becomes requests. The list of all kinds
//! is in [`crate::spec::kinds`].

use crate::base::driven::{Demand, Driven};
use crate::base::error::WorkloadError;
use crate::base::footprint::{Footprint, footprint};
use crate::base::input::bytes::Progress;
use crate::base::report::SourceReport;
use crate::base::request::Source;
use crate::base::settings::Settings;
use crate::stack::drives::Apart;
use crate::stack::map_hints::MapHints;
use crate::stack::priorities::PriorityShares;
use crate::stack::stripe::Stripe;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A kind of workload: what its table says.
pub(crate) trait Kind: Settings {
    /// Checks what no single key can tell.
    fn check(&self) -> Result<(), WorkloadError>;

    /// Whether requests have times of their own.
    fn has_times(&self) -> bool;

    /// Whether its requests depend on when earlier ones complete ([`Ready::driven`]).
    fn is_driven(&self) -> bool {
        false
    }

    /// What to call it where nobody has named it.
    fn title(&self) -> String;

    /// Makes relative paths count from `directory` (that of the config file it stands in).
    fn resolve_path(&mut self, _directory: &Path) {}

    /// Paths of files that it reads.
    fn reads(&self) -> Vec<OsString> {
        Vec::new()
    }

    /// The page cache above the drive: its MiB, and whether it is plain. `None` for none.
    fn page_cache(&self) -> Option<(f64, bool)> {
        None
    }

    /// The drives that make a volume, if they do.
    fn stripe(&self) -> Option<Stripe> {
        None
    }

    /// Hints that are made of others.
    fn map_hints(&self) -> MapHints {
        MapHints::default()
    }

    /// Shares of priorities that are drawn where requests say none, and the seed.
    fn priorities(&self) -> (PriorityShares, u64) {
        (PriorityShares::default(), 0)
    }

    /// Looks through it once, if that needs doing, telling now and then how far it is.
    fn prepare(&self, progress: &mut dyn FnMut(Progress)) -> Result<Box<dyn Ready>, WorkloadError>;
}

/// A path that counts from `directory`, unless it is absolute.
pub(crate) fn path_in(directory: &Path, path: &Path) -> PathBuf {
    directory.join(path).components().collect()
}

/// The name of a file, for a person.
pub(crate) fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// A workload that was looked through and can be opened any number of times.
pub(crate) trait Ready: Send + Sync {
    /// The smallest drive, in sectors, on which it runs unchanged; `None` for one that fills a share of any drive.
    fn space_sectors(&self) -> Option<u64>;

    /// One pass, without repeating, copying and speeding up, on a drive of so many sectors.
    fn once(&self, drive_sectors: u64) -> Result<Box<dyn Source>, WorkloadError>;

    /// Totals of one pass.
    fn footprint(&self, drive_sectors: u64) -> Result<Footprint, WorkloadError> {
        footprint(&mut *self.once(drive_sectors)?)
    }

    /// What looking through it met.
    fn report(&self) -> SourceReport {
        SourceReport::default()
    }

    /// Of one that comes from a file: a number that stands for its requests, and the keys that have had their effect
    /// on them already.
    fn content(&self) -> Option<(u64, &'static [&'static str])> {
        None
    }

    /// All its requests, on a drive of so many sectors.
    fn open(&self, drive_sectors: u64) -> Result<Box<dyn Source>, WorkloadError>;

    /// The same where requests depend on when earlier ones complete.
    fn driven(&self, _drive_sectors: u64) -> Option<Result<Box<dyn Driven>, WorkloadError>> {
        None
    }

    /// Whether it is for one drive or for several.
    fn apart(&self) -> Apart {
        Apart::No
    }

    /// How fast it can write where requests depend on when earlier ones complete: see [`Prepared::demands`].
    ///
    /// [`Prepared::demands`]: crate::Prepared::demands
    fn demands(&self) -> Option<Vec<Vec<Demand>>> {
        None
    }

    /// Requests that it keeps in flight at most by itself, where requests depend on when earlier ones complete; 0 where
    /// they do not.
    fn depth(&self) -> u64 {
        0
    }

    /// How long a request takes that a page cache answers, where requests wait for each other; ns.
    fn hit_ns(&self) -> u64 {
        0
    }

    /// What of it ends by time only, and so never where no time passes.
    fn timed_job(&self) -> Option<&str> {
        None
    }
}
