//! What a workload of files can be told.

use super::steps::{Step, Steps};
use super::trim::Discard;
use crate::base::error::{Problem, WorkloadError};
use crate::base::request::{PAGE_BYTES, PAGE_SECTORS};
use crate::base::settings::{choice, settings};
use crate::generate::synthetic::arrival::{Arrival, Bursts};
use crate::stack::map_hints::MapHints;
use crate::stack::page_cache::Rules;

choice! {
    /// Distribution of file sizes.
    pub enum SizeLaw {
        /// A gamma distribution (filebench's).
        Gamma = "gamma",
        /// Evenly between two sizes.
        Uniform = "uniform",
    }
}

settings! {
    /// Applications on files. Sources: the loops and mean sizes of the profiles are filebench's and sysbench's, the
    /// file system's numbers ext4's and Linux's defaults, all else assumed.
    pub struct FilesSpec {
        /// Shipped profile to start from (see `wordline presets`); the other keys change it.
        preset: String = String::new(), unit "", allowed "", if |_| true;
        /// What each process does, in a loop.
        steps: Steps = Steps::default(), unit "", allowed "", if |_| true;
        /// Requests to generate.
        count: u64 = 1_000_000, unit "requests", allowed "a whole number from 1, such as 10000 or 1e4", if |n| *n >= 1;
        /// Operations (steps) per second of all processes together, at random (Poisson).
        ops_per_s: f64 = 1_000.0, unit "1/s", allowed "0.001 to 1e9", if |x| (0.001..=1e9).contains(x);
        /// Operations per burst, at the same average rate; 0 for no bursts.
        burst_ops: u64 = 0, unit "", allowed "", if |_| true;
        /// Operations per second in a burst.
        burst_ops_per_s: f64 = 100_000.0, unit "1/s", allowed "0.001 to 1e9", if |x| (0.001..=1e9).contains(x);
        /// Number of processes, each at its own place in the loop.
        processes: u64 = 16, unit "", allowed "1 to 65536", if |n| (1..=65_536).contains(n);
        /// Size of the file system, from the start of the drive; 0 for a share of the drive.
        footprint_gib: f64 = 0.0, unit "GiB", allowed "0 to 16384", if |x| (0.0..=16_384.0).contains(x);
        /// The same as a share of the drive, if `footprint_gib` is 0.
        footprint_percent: f64 = 100.0, unit "%", allowed "above 0, up to 100", if |x| *x > 0.0 && *x <= 100.0;
        /// Share of the file system that files take at the start; their number follows from their size.
        fill_percent: f64 = 60.0, unit "%", allowed "above 0, up to 99", if |x| *x > 0.0 && *x <= 99.0;
        /// Share of the possible files that exist at the start.
        files_at_start_percent: f64 = 80.0, unit "%", allowed "1 to 100", if |x| (1.0..=100.0).contains(x);
        /// Number of files of equal size, for a database; 0 to derive it from their size.
        files: u64 = 0, unit "", allowed "0 to 65536", if |n| *n <= 65_536;
        /// Distribution of file sizes.
        sizes: SizeLaw = SizeLaw::Gamma, unit "", allowed "", if |_| true;
        /// `gamma`: mean size of a file.
        mean_kib: f64 = 16.0, unit "KiB", allowed "1 to 1048576", if |x| (1.0..=1_048_576.0).contains(x);
        /// `gamma`: the shape (filebench: 1.5).
        size_shape: f64 = 1.5, unit "", allowed "0.1 to 1000", if |x| (0.1..=1000.0).contains(x);
        /// `uniform`: the smallest file.
        size_min_kib: u64 = 4, unit "KiB", allowed "1 to 1048576", if |n| (1..=1 << 20).contains(n);
        /// `uniform`: the largest file.
        size_max_kib: u64 = 64, unit "KiB", allowed "1 to 1048576", if |n| (1..=1 << 20).contains(n);
        /// Minimum to append, uniform up to the maximum; 0 for one byte.
        append_min_kib: u64 = 0, unit "KiB", allowed "0 to 1048576", if |n| *n <= 1 << 20;
        /// Maximum to append.
        append_max_kib: u64 = 16, unit "KiB", allowed "1 to 1048576", if |n| (1..=1 << 20).contains(n);
        /// Sizes of new files and appends are multiples of this, so that no append starts in the middle of a written
        /// page of that size; 0 for any number of bytes.
        size_step_kib: u64 = 0, unit "KiB", allowed "0 to 1024", if |n| *n <= 1024;
        /// Minimum to overwrite in a file, or to read from it, in whole pages of 4 KiB.
        part_min_kib: u64 = 4, unit "KiB", allowed "4 to 1048576", if |n| (4..=1 << 20).contains(n);
        /// Maximum of that.
        part_max_kib: u64 = 64, unit "KiB", allowed "4 to 1048576", if |n| (4..=1 << 20).contains(n);
        /// Popularity of files when one is chosen: the Zipf exponent; 0 for all alike.
        file_theta: f64 = 0.0, unit "", allowed "0 to 16", if |x| (0.0..=16.0).contains(x);
        /// Popularity of places in `files` files: the Zipf exponent, scattered; 0 for all alike.
        place_theta: f64 = 0.0, unit "", allowed "0 to 16", if |x| (0.0..=16.0).contains(x);
        /// Files per directory.
        directory_files: u64 = 1_000_000, unit "", allowed "a whole number from 1", if |n| *n >= 1;
        /// Share of the files that are secure (class 2); the others are not (class 1).
        secure_percent: f64 = 0.0, unit "%", allowed "0 to 100", if |x| (0.0..=100.0).contains(x);
        /// Share of the files that are never deleted, only appended to.
        kept_percent: f64 = 0.0, unit "%", allowed "0 to 90", if |x| (0.0..=90.0).contains(x);
        /// Share of the file system that holds other files, which are never touched.
        untouched_percent: f64 = 0.0, unit "%", allowed "0 to 95", if |x| (0.0..=95.0).contains(x);
        /// Size of each of them.
        untouched_mib: u64 = 64, unit "MiB", allowed "1 to 65536", if |n| (1..=65_536).contains(n);
        /// Size at which the log wraps.
        log_mib: u64 = 64, unit "MiB", allowed "1 to 65536", if |n| (1..=65_536).contains(n);
        /// Files are allocated and written in whole units of this size.
        align_kib: u64 = 4, unit "KiB", allowed "a power of two from 4 to 1024",
            if |n| n.is_power_of_two() && (4..=1024).contains(n);
        /// Bytes of the file system per inode.
        bytes_per_inode: u64 = 16_384, unit "bytes", allowed "1024 to 67108864",
            if |n| (1024..=1 << 26).contains(n);
        /// Size of the journal.
        journal_mib: u64 = 128, unit "MiB", allowed "1 to 4096", if |n| (1..=4096).contains(n);
        /// Age at which a transaction commits.
        commit_s: f64 = 5.0, unit "s", allowed "0.001 to 1e6", if |x| (0.001..=1e6).contains(x);
        /// Time that an fsync waits for others, which then share a commit (ext4's mount option `max_batch_time`).
        batch_ms: f64 = 15.0, unit "ms", allowed "0 to 1e6", if |x| (0.0..=1e6).contains(x);
        /// Metadata is written home this long after it was first committed …
        journal_home_s: f64 = 30.0, unit "s", allowed "0.001 to 1e6", if |x| (0.001..=1e6).contains(x);
        /// … or when the journal is this full.
        journal_full_percent: f64 = 25.0, unit "%", allowed "1 to 90", if |x| (1.0..=90.0).contains(x);
        /// When free blocks are trimmed.
        discard: Discard = Discard::Online, unit "", allowed "", if |_| true;
        /// As mkfs does, the first requests trim all space that no file uses.
        trim_at_start: bool = true, unit "", allowed "", if |_| true;
        /// `batched`: how often.
        discard_every_s: f64 = 3600.0, unit "s", allowed "0.001 to 1e9", if |x| (0.001..=1e9).contains(x);
        /// Size of the page cache (for a database, of its buffer pool); 0 for a share of the files.
        cache_mib: f64 = 0.0, unit "MiB", allowed "0 to 1e6", if |x| (0.0..=1e6).contains(x);
        /// The same as a share of the files' space at the start, if `cache_mib` is 0.
        cache_percent: f64 = 10.0, unit "%", allowed "above 0, up to 100", if |x| *x > 0.0 && *x <= 100.0;
        /// A page is written when it has been dirty for this long.
        dirty_expire_s: f64 = 30.0, unit "s", allowed "0.001 to 1e9", if |x| (0.001..=1e9).contains(x);
        /// Interval at which the flusher runs.
        flusher_s: f64 = 5.0, unit "s", allowed "0.001 to 1e9", if |x| (0.001..=1e9).contains(x);
        /// The flusher also writes when this share of the cache is dirty.
        background_percent: f64 = 10.0, unit "%", allowed "0 to 100", if |x| (0.0..=100.0).contains(x);
        /// An operation writes dirty pages itself, before it continues, when this share of the cache is dirty.
        limit_percent: f64 = 20.0, unit "%", allowed "0 to 100", if |x| (0.0..=100.0).contains(x);
        /// First read-ahead of a file that is read sequentially; it doubles.
        read_ahead_min_kib: u64 = 16, unit "KiB", allowed "0 to 65536", if |n| *n <= 65_536;
        /// Largest read-ahead.
        read_ahead_max_kib: u64 = 128, unit "KiB", allowed "0 to 65536", if |n| *n <= 65_536;
        /// Largest request.
        run_kib: u64 = 512, unit "KiB", allowed "4 to 65536", if |n| (4..=65_536).contains(n);
        /// A plain LRU cache: no read-ahead, no flusher, dirty pages are written when they are evicted.
        plain_lru: bool = false, unit "", allowed "", if |_| true;
        /// Database: size of a page.
        page_kib: u64 = 16, unit "KiB", allowed "a power of two from 4 to 64",
            if |n| n.is_power_of_two() && (4..=64).contains(n);
        /// Database: size of the redo log, a ring.
        redo_mib: u64 = 96, unit "MiB", allowed "1 to 65536", if |n| (1..=65_536).contains(n);
        /// Database: redo per changed row.
        redo_bytes: u64 = 512, unit "bytes", allowed "1 to 1048576", if |n| (1..=1 << 20).contains(n);
        /// Database: pages are written twice, first sequentially to a separate area.
        doublewrite: bool = true, unit "", allowed "", if |_| true;
        /// Hints derived from others, which tell the drive which files, processes or program contexts belong
        /// together: `process 16 -> stream 2; context -> stream % 8`. Numbers only; processes and files begin at 16.
        map_hints: MapHints = MapHints::default(), unit "", allowed "", if |_| true;
        /// Seed of the random sequences.
        seed: u64 = 1, unit "", allowed "", if |_| true;
    }
}

/// Smallest page cache in pages: more than the largest read-ahead.
pub(super) const CACHE_PAGES_MIN: usize = 64;

impl FilesSpec {
    pub(super) fn arrival(&self) -> Arrival {
        if self.burst_ops > 0 { Arrival::Bursts } else { Arrival::Poisson }
    }

    pub(super) fn bursts(&self) -> Bursts {
        Bursts { requests: self.burst_ops, rate_iops: self.burst_ops_per_s }
    }

    /// Blocks of a unit.
    pub(super) fn unit_blocks(&self) -> u32 {
        (self.align_kib / 4) as u32
    }

    /// Blocks of the file system on a drive of so many sectors: whole units.
    pub(super) fn blocks(&self, drive_sectors: u64) -> Result<u32, WorkloadError> {
        let share = (drive_sectors as f64 * (self.footprint_percent / 100.0)) as u64;
        let sectors = self.space_sectors().unwrap_or(share.min(drive_sectors));
        if sectors > drive_sectors {
            return Err(Problem::DoesNotFit {
                what: "the file system's footprint_gib".into(),
                needed_sectors: sectors,
                drive_sectors,
                advice: "take a larger drive, or a smaller footprint_gib".into(),
            }
            .into());
        }
        let blocks = u32::try_from(sectors / PAGE_SECTORS).unwrap_or(u32::MAX);
        Ok(blocks / self.unit_blocks() * self.unit_blocks())
    }

    pub(super) fn space_sectors(&self) -> Option<u64> {
        (self.footprint_gib > 0.0).then_some((self.footprint_gib * (1u64 << 21) as f64) as u64)
    }

    /// Pages of the page cache or buffer pool, of a size of their own, for files of so many bytes.
    pub(super) fn cache_pages(&self, files_bytes: u64, page_bytes: u64) -> usize {
        let bytes = match self.cache_mib {
            0.0 => files_bytes as f64 * (self.cache_percent / 100.0),
            mib => mib * (1u64 << 20) as f64,
        };
        ((bytes / page_bytes as f64) as usize).max(CACHE_PAGES_MIN)
    }

    pub(super) fn rules(&self, pages: usize) -> Rules {
        if self.plain_lru {
            return Rules { run_pages: self.run_kib / 4, ..Rules::plain(pages) };
        }
        let share = |percent: f64| (pages as f64 * (percent / 100.0)) as usize;
        let ns = |seconds: f64| (seconds * 1e9) as u64;
        Rules {
            pages,
            background: share(self.background_percent),
            limit: share(self.limit_percent),
            expire_ns: ns(self.dirty_expire_s),
            flusher_ns: ns(self.flusher_s),
            run_pages: self.run_kib / 4,
            ahead: (self.read_ahead_min_kib / 4, self.read_ahead_max_kib / 4),
        }
    }

    /// A range of sizes that holds no multiple of the step: the key of its end, and that.
    fn too_small_for_steps(&self) -> Option<(&'static str, u64)> {
        let has_appends = self.steps.has(|step| matches!(step, Step::Append | Step::Log));
        let ranges = [
            ("append_max_kib", has_appends, self.append_min_kib, self.append_max_kib),
            ("size_max_kib", self.sizes == SizeLaw::Uniform, self.size_min_kib, self.size_max_kib),
        ];
        let holds_none = |least: u64, most: u64| {
            most.checked_div(self.size_step_kib)
                .is_some_and(|steps| steps < least.div_ceil(self.size_step_kib).max(1))
        };
        let wrong =
            ranges.into_iter().find(|(_, is_used, least, most)| *is_used && holds_none(*least, *most));
        wrong.map(|(key, _, _, most)| (key, most))
    }

    pub(super) fn check(&self) -> Result<(), WorkloadError> {
        let wrong = |key: &str, found: String, allowed: String| {
            Err(WorkloadError::setting(key, format!("found {found}"), allowed))
        };
        if self.steps == Steps::default() {
            return wrong("steps", "nothing".into(), "a list of steps, or preset = \"varmail\"".into());
        }
        if !self.steps.has(|step| step != Step::Pick) {
            return wrong(
                "steps",
                "only `pick`, which takes no time".into(),
                "another step beside it".into(),
            );
        }
        if self.files == 0 && self.steps.has(Step::is_of_database) {
            let allowed = "files = 1 or more: a database's steps need tables of a fixed size";
            return wrong("files", "0".into(), allowed.into());
        }
        if self.files == 0 && self.place_theta > 0.0 {
            let allowed = "0, or files = 1 or more: places are those of files of a fixed size";
            return wrong("place_theta", format!("{:?}", self.place_theta), allowed.into());
        }
        let ranges = [
            ("size_min_kib", self.size_min_kib, self.size_max_kib),
            ("append_min_kib", self.append_min_kib, self.append_max_kib),
            ("part_min_kib", self.part_min_kib, self.part_max_kib),
            ("read_ahead_min_kib", self.read_ahead_min_kib, self.read_ahead_max_kib),
        ];
        if let Some((key, low, high)) = ranges.into_iter().find(|(_, low, high)| low > high) {
            let allowed = format!("at most {} = {high}", key.replace("_min_", "_max_"));
            return wrong(key, low.to_string(), allowed);
        }
        if let Some((key, most)) = self.too_small_for_steps() {
            let allowed =
                format!("at least size_step_kib = {}, and a multiple of it in the range", self.size_step_kib);
            return wrong(key, most.to_string(), allowed);
        }
        if self.burst_ops > 0 && self.burst_ops_per_s < self.ops_per_s {
            let allowed = format!("at least ops_per_s = {:?}", self.ops_per_s);
            return wrong("burst_ops_per_s", format!("{:?}", self.burst_ops_per_s), allowed);
        }
        if self.background_percent > self.limit_percent {
            let allowed = format!("at most limit_percent = {:?}", self.limit_percent);
            return wrong("background_percent", format!("{:?}", self.background_percent), allowed);
        }
        Ok(())
    }
}

/// Pages of so many KiB.
pub(super) fn pages_of(kib: u64) -> u64 {
    (kib << 10).div_ceil(PAGE_BYTES)
}
