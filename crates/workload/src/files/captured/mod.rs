//! A capture as a workload: what a program did to files (`wordline capture`), laid out by the file system and filtered
//! by the page cache of [`crate::files`]. Requests carry file, process and program context; journal and metadata have
//! their own. Each call has its recorded time; all requests that it leads to arrive at that time.

mod course;
mod replay;

#[cfg(test)]
mod tests;

use self::course::Course;
use self::replay::Replay;
use super::layout::Layout;
use super::spec::{CACHE_PAGES_MIN, FilesSpec};
use super::trim::Discard;
use crate::base::error::{Problem, WorkloadError};
use crate::base::input::bytes::Progress;
use crate::base::request::{PAGE_BYTES, PAGE_SECTORS, Source};
use crate::base::settings::settings;
use crate::files::capture::Capture;
use crate::stack::kind::{Kind, Ready, name_of, path_in};
use crate::stack::map_hints::MapHints;
use crate::stack::page_cache::PageCache;
use crate::stack::replay::passes;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

settings! {
    /// What a program did to files. Sources: the file system's numbers are ext4's defaults, all else assumed.
    pub struct CaptureSpec {
        /// The capture, as written by `wordline capture`.
        capture: PathBuf = PathBuf::new(), unit "", allowed "a path",
            if |path| !path.as_os_str().is_empty();
        /// Number of passes, each starting from the same files.
        repeat: u64 = 1, unit "", allowed "a whole number from 1", if |n| *n >= 1;
        /// Size of the file system, from the start of the drive; 0 to fit the files, which then take at most
        /// `fill_percent`.
        footprint_gib: f64 = 0.0, unit "GiB", allowed "0 to 16384", if |x| (0.0..=16_384.0).contains(x);
        /// Maximum share of the file system that files take, if `footprint_gib` is 0.
        fill_percent: f64 = 80.0, unit "%", allowed "above 0, up to 99", if |x| *x > 0.0 && *x <= 99.0;
        /// Size of the page cache.
        cache_mib: f64 = 64.0, unit "MiB", allowed "0.25 to 1e6", if |x| (0.25..=1e6).contains(x);
        /// A plain LRU cache (no flusher; dirty pages are written when they are evicted or synced), or an operating
        /// system's, which writes pages that have been dirty for 30 s, or when there are too many.
        plain_lru: bool = true, unit "", allowed "", if |_| true;
        /// Size of the journal.
        journal_mib: u64 = 16, unit "MiB", allowed "1 to 4096", if |n| (1..=4096).contains(n);
        /// When free blocks are trimmed.
        discard: Discard = Discard::Online, unit "", allowed "", if |_| true;
        /// Hints derived from others, which tell the drive which files, processes or program contexts belong
        /// together: `process 16 -> stream 2; context -> stream % 8`. Numbers only; processes and files begin at 16.
        map_hints: MapHints = MapHints::default(), unit "", allowed "", if |_| true;
    }
}

/// Inodes of a group lie so densely at most (bytes of file system each).
const BYTES_PER_INODE_MIN: u64 = 1024;

impl Kind for CaptureSpec {
    fn check(&self) -> Result<(), WorkloadError> {
        match self.capture.as_os_str().is_empty() {
            true => Err(WorkloadError::setting("capture", "found nothing", "the path of a capture")),
            false => Ok(()),
        }
    }

    fn has_times(&self) -> bool {
        true
    }

    fn title(&self) -> String {
        name_of(&self.capture)
    }

    fn resolve_path(&mut self, directory: &Path) {
        self.capture = path_in(directory, &self.capture);
    }

    fn reads(&self) -> Vec<OsString> {
        vec![self.capture.clone().into()]
    }

    fn map_hints(&self) -> MapHints {
        self.map_hints.clone()
    }

    fn prepare(&self, _: &mut dyn FnMut(Progress)) -> Result<Box<dyn Ready>, WorkloadError> {
        let capture = Capture::open(&self.capture)?;
        if capture.events.is_empty() {
            let (file, passed_over) = (self.capture.display().to_string(), Vec::new());
            return Err(Problem::NoRequests { file, lines: 0, skipped: 0, passed_over }.into());
        }
        Ok(Box::new(Looked::new(self.clone(), capture)))
    }
}

/// A capture with what must be known of it before the first call.
struct Looked {
    spec: CaptureSpec,
    capture: Arc<Capture>,
    course: Arc<Course>,
}

impl Looked {
    fn new(spec: CaptureSpec, capture: Capture) -> Self {
        let course = Arc::new(Course::of(&capture));
        Looked { spec, capture: Arc::new(capture), course }
    }

    /// The settings of the file system for a density of inodes.
    fn files_spec(&self, bytes_per_inode: u64) -> FilesSpec {
        let CaptureSpec { cache_mib, plain_lru, journal_mib, discard, .. } = self.spec;
        FilesSpec {
            cache_mib,
            plain_lru,
            journal_mib,
            discard,
            bytes_per_inode,
            // An fsync that waits for others would order what is recorded as ordered anew.
            batch_ms: 0.0,
            // The file system was there before the recording began.
            trim_at_start: false,
            ..FilesSpec::default()
        }
    }

    /// The layout, in so many blocks or as few as it needs.
    fn layout(&self) -> Result<(FilesSpec, Layout), WorkloadError> {
        let fixed = (self.spec.footprint_gib * (1u64 << 30) as f64) as u64 / PAGE_BYTES;
        let wanted = (self.course.pages as f64 / (self.spec.fill_percent / 100.0)) as u64;
        let wanted = wanted.saturating_add(1);
        let too_large = |needed: u64| {
            WorkloadError::from(Problem::DoesNotFit {
                what: "the file system of the capture".into(),
                needed_sectors: needed.saturating_mul(PAGE_SECTORS),
                drive_sectors: u64::from(u32::MAX) * PAGE_SECTORS,
                advice: "it has a file with bytes far behind its end: such a capture cannot be laid out"
                    .into(),
            })
        };
        let files = self.course.files.max(1);
        let mut blocks = if fixed > 0 { fixed } else { wanted };
        loop {
            let count = u32::try_from(blocks).map_err(|_| too_large(blocks))?;
            let dense = blocks * PAGE_BYTES / u64::from(files) / 2;
            let dense = if dense == 0 { 1 } else { 1 << dense.ilog2() };
            let spec = self.files_spec(dense.clamp(BYTES_PER_INODE_MIN, 16_384));
            match Layout::new(&spec, files, count) {
                Ok(layout) if fixed > 0 || u64::from(layout.data) + wanted <= blocks => {
                    return Ok((spec, layout));
                }
                Ok(layout) => blocks = u64::from(layout.data) + wanted,
                Err(error) if fixed > 0 => return Err(error),
                Err(_) => blocks += blocks / 4 + 256,
            }
        }
    }
}

impl Ready for Looked {
    fn space_sectors(&self) -> Option<u64> {
        self.layout().ok().map(|(_, layout)| u64::from(layout.blocks) * PAGE_SECTORS)
    }

    fn once(&self, drive_sectors: u64) -> Result<Box<dyn Source>, WorkloadError> {
        Ok(Box::new(self.replay(drive_sectors)?))
    }

    fn content(&self) -> Option<(u64, &'static [&'static str])> {
        Some((self.capture.hash, &["capture"]))
    }

    fn open(&self, drive_sectors: u64) -> Result<Box<dyn Source>, WorkloadError> {
        Ok(passes(self.replay(drive_sectors)?, self.spec.repeat))
    }
}

impl Looked {
    fn replay(&self, drive_sectors: u64) -> Result<Replay, WorkloadError> {
        let (spec, layout) = self.layout()?;
        let needed_sectors = u64::from(layout.blocks) * PAGE_SECTORS;
        if needed_sectors > drive_sectors {
            return Err(Problem::DoesNotFit {
                what: "the file system of the capture".into(),
                needed_sectors,
                drive_sectors,
                advice: "take a larger drive, a smaller journal_mib or a larger fill_percent".into(),
            }
            .into());
        }
        let pages = spec.cache_pages(0, PAGE_BYTES).max(CACHE_PAGES_MIN);
        let cache = PageCache::new(spec.rules(pages));
        Replay::new(&spec, layout, cache, (&self.capture, &self.course))
    }
}
