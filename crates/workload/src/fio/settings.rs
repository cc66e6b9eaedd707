//! What a job says, once its options are understood.

use super::parse::Place;
use super::value::{Amount, DIRECTIONS};
use crate::base::request::SECTOR_BYTES;

/// What a job does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Requests of one kind.
    Read,
    /// See [`Work::Read`].
    Write,
    /// See [`Work::Read`].
    Trim,
    /// Reads and writes.
    Mixed,
    /// A trim of each place, then a write of it.
    TrimWrite,
}

/// What a number behind the pattern asks for (`randread:8`, `write:4k`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// None there.
    None,
    /// A random place for every so many requests; those between follow on.
    Follow(u64),
    /// So many requests to each place.
    Repeat(u64),
    /// Sequential, with so many bytes left out behind each request.
    Skip(u64),
    /// Backwards: each request begins so many bytes before the end of the one before it.
    Back(u64),
}

/// Zones that a job works in one after the other (`zonemode=strided`); bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Zones {
    pub is_on: bool,
    /// Bytes of a zone.
    pub range: u64,
    /// Bytes that are transferred before the next zone comes.
    pub size: u64,
    /// Bytes between zones.
    pub skip: u64,
}

/// What a job's requests reach the drive through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// The system calls for files and devices.
    Calls,
    /// A server: another machine's storage.
    Server,
    /// Memory that is mapped to a file.
    Mapping,
}

/// Sizes of requests of one direction; bytes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Size {
    /// All the same.
    Fixed(u64),
    /// From the first to the second, in multiples of the first.
    Range(u64, u64),
    /// Each with its share; percent.
    Split(Vec<(u64, f64)>),
}

impl Size {
    /// The smallest.
    pub fn min(&self) -> u64 {
        match self {
            Size::Fixed(size) | Size::Range(size, _) => *size,
            Size::Split(sizes) => sizes.iter().map(|(size, _)| *size).min().unwrap_or(0),
        }
    }

    /// All of it, to be changed.
    fn all_mut(&mut self) -> Vec<&mut u64> {
        match self {
            Size::Fixed(size) => vec![size],
            Size::Range(low, high) => vec![low, high],
            Size::Split(sizes) => sizes.iter_mut().map(|(size, _)| size).collect(),
        }
    }

    /// One that is no multiple of a sector, if there is one.
    pub fn odd(&self) -> Option<u64> {
        let mut sizes = self.clone();
        sizes.all_mut().into_iter().map(|size| *size).find(|size| !size.is_multiple_of(SECTOR_BYTES))
    }

    /// Rounds those up that are no multiples of a sector.
    pub fn round_up_to(&mut self, bytes: u64) {
        let odd = |size: &&mut u64| !size.is_multiple_of(SECTOR_BYTES);
        self.all_mut().into_iter().filter(odd).for_each(|size| *size = size.next_multiple_of(bytes));
    }

    /// The largest.
    pub fn max(&self) -> u64 {
        match self {
            Size::Fixed(size) | Size::Range(_, size) => *size,
            Size::Split(sizes) => sizes.iter().map(|(size, _)| *size).max().unwrap_or(0),
        }
    }
}

/// Where random requests go.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Distribution {
    /// All places equally often.
    Random,
    /// By rank, with that exponent; the place of the first rank as a part of the space, if it is given.
    Zipf(f64, Option<f64>),
    /// By rank: 80/20 and its like; see [`Distribution::Zipf`].
    Pareto(f64, Option<f64>),
    /// Around a place, with that deviation in percent.
    Normal(f64, Option<f64>),
    /// So many percent of the requests go to so many percent of the space, zone by zone.
    Zoned(Vec<(f64, f64)>),
    /// The same with bytes of space.
    ZonedAbs(Vec<(f64, u64)>),
}

/// Which file comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileOrder {
    /// In turn, so many requests each.
    RoundRobin(u64),
    /// At random, so many requests each.
    Random(u64),
    /// One to its end, then the next.
    Sequential,
}

/// How requests with a rate follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RateProcess {
    /// At equal distances.
    Linear,
    /// At exponential distances.
    Poisson,
}

/// What a job has to do with the others.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Others {
    /// When it ends, so does its group, or the run.
    pub exits: bool,
    pub exits_run: bool,
    /// Its share of the requests of all jobs of that flow; 0 for none.
    pub flow: u64,
    pub flow_id: u64,
    pub flow_sleep_ns: u64,
    /// When it fails, so does what `exits` says.
    pub exits_on_error: bool,
    /// It is reported together with others: with those up to the next new group.
    pub reports_group: bool,
    pub new_group: bool,
    /// Name of the job whose clones all end before it begins.
    pub wait_for: Option<String>,
}

/// What ends a job because of how its requests fare; 0 where nothing does.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Limits {
    /// The longest that a request may take, by direction.
    pub latency_ns: [u64; DIRECTIONS],
    /// The least rate, in bytes or requests.
    pub bytes_per_s: [u64; DIRECTIONS],
    pub requests_per_s: [u64; DIRECTIONS],
    /// Rates are looked at so often.
    pub cycle_ms: u64,
    /// A search for a depth, if there is one.
    pub target: LatencyTarget,
}

/// A latency that is kept by the number of requests in flight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LatencyTarget {
    /// 0 for none.
    pub latency_ns: u64,
    pub window_ns: u64,
    /// Of the requests so many have to keep it.
    pub percent: f64,
    /// The job goes on when it has found the depth.
    pub goes_on: bool,
}

impl Default for LatencyTarget {
    fn default() -> Self {
        LatencyTarget { latency_ns: 0, window_ns: 0, percent: 100.0, goes_on: false }
    }
}

/// When a job's rate counts as steady, which ends it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct SteadyState {
    pub is_bandwidth: bool,
    pub is_slope: bool,
    pub is_percent: bool,
    pub limit: f64,
    /// Of the window; 0 if nothing is looked for.
    pub seconds: u64,
    pub ramp_ns: u64,
}

/// How a queue is filled.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Queue {
    /// Completions that are taken together; 0 counts as 1.
    pub least: u64,
    /// Requests in flight from which on it is filled; 0 for one less than it holds.
    pub low: u64,
    /// Requests that overlap are not in flight together.
    pub is_serial: bool,
}

/// What sizes of requests follow from.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct SizeRules {
    /// Sizes for reads are those of sequential requests, sizes for writes those of random ones.
    pub by_order: bool,
    /// Sizes of a range are any number of sectors.
    pub is_any: bool,
    /// A range stands where fio reads one size.
    pub is_misread: bool,
}

/// Priorities of requests.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Priorities {
    /// Percent of the requests that have one, and which: 1 low, 2 medium, 3 high.
    pub percent: [u64; DIRECTIONS],
    pub class: u8,
    /// The same by sizes.
    pub by_size: [Vec<SizePriorities>; DIRECTIONS],
}

impl Default for Priorities {
    fn default() -> Self {
        Priorities { percent: [0; DIRECTIONS], class: 3, by_size: Default::default() }
    }
}

/// Reads of what was written that come among the writes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Checks {
    /// After so many writes; 0 for behind the pass only.
    pub every: u64,
    /// So many of them; 0 for all.
    pub batch: u64,
}

/// Pauses, beside their length and requests.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Pauses {
    /// Requests are sent for so long; 0 if only their number counts.
    pub iotime_ns: u64,
    /// Their number is said.
    pub has_blocks: bool,
    /// Rates do not catch up on them.
    pub is_forgiven: bool,
}

/// Priorities of requests of one size: shares in percent, each with its class if it says one.
pub(crate) type SizePriorities = (u64, Vec<(u64, Option<u8>)>);

/// A job as its section describes it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Job {
    pub place: Place,
    pub name: String,
    pub filename: Option<String>,
    pub directory: Option<String>,
    pub filename_format: Option<String>,
    pub nrfiles: u64,
    pub filesize: Option<u64>,
    pub file_order: FileOrder,
    pub work: Work,
    pub is_random: bool,
    pub step: Step,
    /// What `step` came from, until the pattern and `rw_sequencer` are both known.
    pub identical: bool,
    pub read_percent: u64,
    pub sizes: [Size; DIRECTIONS],
    /// Bytes that random places are multiples of; 0 for the smallest size.
    pub align: [u64; DIRECTIONS],
    pub size: Option<Amount>,
    pub io_size: Option<Amount>,
    pub offset: Amount,
    pub offset_increment: Amount,
    pub offset_align: u64,
    pub number_ios: u64,
    pub loops: u64,
    pub numjobs: u64,
    pub has_map: bool,
    pub is_lfsr: bool,
    pub randrepeat: bool,
    pub randseed: u64,
    pub percentage_random: [u64; DIRECTIONS],
    pub distribution: Distribution,
    pub fsync: u64,
    pub fdatasync: u64,
    pub end_fsync: bool,
    pub fsync_on_close: bool,
    pub sync: bool,
    /// What a pass wrote is read again behind it.
    pub reads_back: bool,
    pub iodepth: u64,
    pub stonewall: bool,
    pub startdelay_ns: (u64, u64),
    pub runtime_ns: u64,
    pub time_based: bool,
    pub ramp_ns: u64,
    pub thinktime_ns: u64,
    pub thinktime_blocks: u64,
    pub thinktime_at_issue: bool,
    /// Bytes a second; 0 for as fast as it goes.
    pub rate: [u64; DIRECTIONS],
    /// Requests a second; 0 for as fast as it goes.
    pub rate_iops: [u64; DIRECTIONS],
    pub rate_process: RateProcess,
    /// Hint of writes (`write_hint`): 0 for none, 2 short to 5 extreme.
    pub stream: u16,
    /// Writes say a placement id, one of these in turn or at random.
    pub places_data: bool,
    pub placements: Vec<u16>,
    pub places_in_turn: bool,
    pub priorities: Priorities,
    pub others: Others,
    pub direct: bool,
    /// Sizes were rounded up to pages of a page cache.
    pub is_rounded: bool,
    pub has_sync_engine: bool,
    pub way: Way,
    /// Writes are commands that have the drive read its medium (`sg_write_mode=verify_bytchk_...`).
    pub writes_verify: bool,
    /// As they are said; 0 where nothing is.
    pub zones: Zones,
    /// A file without a size takes the whole drive.
    pub fills: bool,
    pub limits: Limits,
    pub steady: SteadyState,
    pub queue: Queue,
    pub checks: Checks,
    pub pauses: Pauses,
    pub size_rules: SizeRules,
}

impl Job {
    /// A job of which nothing is said: fio's defaults.
    pub fn new(place: Place, name: String) -> Self {
        Job {
            place,
            name,
            filename: None,
            directory: None,
            filename_format: None,
            nrfiles: 1,
            filesize: None,
            file_order: FileOrder::RoundRobin(1),
            work: Work::Read,
            is_random: false,
            step: Step::None,
            identical: false,
            read_percent: 50,
            sizes: [const { Size::Fixed(4096) }; DIRECTIONS],
            align: [0; DIRECTIONS],
            size: None,
            io_size: None,
            offset: Amount::Bytes(0),
            offset_increment: Amount::Bytes(0),
            offset_align: 0,
            number_ios: 0,
            loops: 1,
            numjobs: 1,
            has_map: true,
            is_lfsr: false,
            randrepeat: true,
            randseed: 0,
            percentage_random: [100; DIRECTIONS],
            distribution: Distribution::Random,
            fsync: 0,
            fdatasync: 0,
            end_fsync: false,
            fsync_on_close: false,
            sync: false,
            reads_back: false,
            iodepth: 1,
            stonewall: false,
            startdelay_ns: (0, 0),
            runtime_ns: 0,
            time_based: false,
            ramp_ns: 0,
            thinktime_ns: 0,
            thinktime_blocks: 1,
            thinktime_at_issue: false,
            rate: [0; DIRECTIONS],
            rate_iops: [0; DIRECTIONS],
            rate_process: RateProcess::Linear,
            stream: 0,
            places_data: false,
            placements: (0..8).collect(),
            places_in_turn: false,
            priorities: Priorities::default(),
            others: Others::default(),
            direct: false,
            is_rounded: false,
            has_sync_engine: true,
            way: Way::Calls,
            writes_verify: false,
            zones: Zones::default(),
            fills: false,
            limits: Limits { cycle_ms: 1000, ..Limits::default() },
            steady: SteadyState::default(),
            queue: Queue::default(),
            checks: Checks::default(),
            pauses: Pauses::default(),
            size_rules: SizeRules::default(),
        }
    }
}

/// What directions are called.
pub(super) const DIRECTION_NAMES: [&str; DIRECTIONS] = ["read", "write", "trim"];

impl Job {
    /// Sizes of the directions that it has requests of.
    pub fn used_sizes(&self) -> impl Iterator<Item = &Size> {
        let used: &[bool; DIRECTIONS] = match self.work {
            _ if self.size_rules.by_order => &[true, true, false],
            Work::Read => &[true, false, false],
            Work::Write | Work::TrimWrite => &[false, true, false],
            Work::Trim => &[false, false, true],
            Work::Mixed => &[true, true, false],
        };
        self.sizes.iter().zip(used).filter(|(_, is_used)| **is_used).map(|(size, _)| size)
    }

    /// Bytes of the smallest of these.
    pub fn least_size(&self) -> u64 {
        self.used_sizes().map(Size::min).min().unwrap_or(SECTOR_BYTES)
    }

    /// Requests in flight from which on a queue that was full is filled again: what was in flight completes in portions
    /// of `least`, until no more than `low` are left (`wait_for_completions` of fio 3.33).
    pub fn refill_at(&self) -> u64 {
        let depth = self.iodepth;
        let low = if self.queue.low == 0 { depth } else { self.queue.low.min(depth) };
        let least = self.queue.least.clamp(1, depth);
        depth.saturating_sub((depth - low).div_ceil(least).max(1) * least)
    }

    /// The zones that it works in, if it does.
    pub fn strided(&self) -> Option<Zones> {
        let Zones { is_on, range, size, .. } = self.zones;
        is_on.then_some(Zones { range: if range > 0 { range } else { size }, ..self.zones })
    }

    /// Whether random places are visited once a pass.
    pub fn uses_map(&self) -> bool {
        self.is_random && (self.has_map || self.is_lfsr)
    }
}
