//! Generated requests: uniform, sequential or Zipf addresses; any mix of reads and writes and of sizes; closed loop,
//! fixed rate or Poisson arrivals.
//!
//! The generator draws operation, size, address and arrival from four random sequences of their own, so that a change
//! of the read share leaves the addresses as they were. Everything is computed with integers and `libm`: the same
//! seed gives the same requests on every machine.

pub(crate) mod arrival;
pub(crate) mod scatter;
pub mod zipf;

use crate::base::draw::{TWO_TO_64, below};
use crate::base::error::{Problem, WorkloadError};
use crate::base::input::bytes::Progress;
use crate::base::report::SourceReport;
use crate::base::request::{Request, SECTOR_BYTES, Source};
use crate::base::settings::choice;
use crate::base::shape::{Alignment, Sizes};
use crate::stack::kind::{Kind, Ready};
use crate::stack::priorities::PriorityShares;
use crate::stack::replay::{copies, passes};
use arrival::{Clock, generator};
use scatter::Scatter;
use ssd::rng::Rng;
use ssd::signals::{Hints, OpCode};
use std::sync::Arc;
use zipf::{Alias, Zipf};

pub use arrival::Arrival;

choice! {
    /// How a generator chooses addresses.
    pub enum Pattern {
        /// All places equally often.
        Uniform = "uniform",
        /// One after the other, from the start again at the end.
        Sequential = "sequential",
        /// The place of rank k in proportion to k^-theta.
        Zipf = "zipf",
    }
}

generator! {
    /// A generator. An address is a place: a multiple of the alignment from which the request still fits.
    pub struct SyntheticSpec {
        /// How addresses are chosen.
        pattern: Pattern = Pattern::Uniform, unit "", allowed "", if |_| true;
        /// Requests to generate.
        count: u64 = 1_000_000, unit "requests", allowed "a whole number from 1, such as 10000 or 1e4", if |n| *n >= 1;
        /// Share of reads; the others are writes.
        read_percent: f64 = 70.0, unit "%", allowed "0 to 100", if |x| (0.0..=100.0).contains(x);
        /// Share of trims, in place of writes: the host says of the same places that it needs them no more.
        trim_percent: f64 = 0.0, unit "%", allowed "0 to 100", if |x| (0.0..=100.0).contains(x);
        /// Size of each request, or a list of sizes, or of [size, weight] pairs.
        size_bytes: Sizes = Sizes(vec![(4096, 1)]), unit "bytes", allowed "", if |_| true;
        /// Requests start at multiples of this: of their own size, so that none covers parts of two places as large as
        /// itself; of so many bytes; or, with 0, of the smallest size.
        alignment_bytes: Alignment = Alignment::Size, unit "bytes", allowed "", if |_| true;
        /// Space addressed, from the start of the drive; 0 for a share of the drive.
        footprint_gib: f64 = 0.0, unit "GiB", allowed "0 to 1048576", if |x| (0.0..=1_048_576.0).contains(x);
        /// Space addressed as a share of the drive, if `footprint_gib` is 0.
        footprint_percent: f64 = 100.0, unit "%", allowed "above 0, up to 100", if |x| *x > 0.0 && *x <= 100.0;
        /// Zipf: the exponent; 0 to find it from the next two.
        zipf_theta: f64 = 0.0, unit "", allowed "0 to 16", if |x| (0.0..=16.0).contains(x);
        /// Zipf: the exponent of writes, if it differs from that of reads; 0 for the same.
        write_zipf_theta: f64 = 0.0, unit "", allowed "0 to 16", if |x| (0.0..=16.0).contains(x);
        /// Zipf: this share of the accesses …
        zipf_access_percent: f64 = 80.0, unit "%", allowed "above 0, below 100", if |x| *x > 0.0 && *x < 100.0;
        /// Zipf: … goes to this share of the places.
        zipf_space_percent: f64 = 20.0, unit "%", allowed "above 0, below 100", if |x| *x > 0.0 && *x < 100.0;
        /// Zipf: spread the ranks over the space by a fixed random permutation; false puts them in ascending order.
        scatter: bool = true, unit "", allowed "", if |_| true;
        /// Zipf: seed of that permutation, so that phases with other seeds have the same hot places; 0 for `seed`.
        scatter_seed: u64 = 0, unit "", allowed "", if |_| true;
        /// Zipf: ranks of writes are shifted relative to those of reads by this share of the places.
        write_shift_percent: f64 = 0.0, unit "%", allowed "0 to 100", if |x| (0.0..=100.0).contains(x);
        /// Zipf: the hot places change after this many requests; 0 for never.
        hot_shift_requests: u64 = 0, unit "requests", allowed "", if |_| true;
        /// Zipf: they change by shifting the ranks by this share of the places.
        hot_shift_percent: f64 = 10.0, unit "%", allowed "0 to 100", if |x| (0.0..=100.0).contains(x);
    }
}

/// Sectors of a size in bytes, which is a multiple of a sector.
fn sectors(bytes: u64) -> u64 {
    bytes / SECTOR_BYTES
}

impl SyntheticSpec {
    /// Seed of where hot places lie.
    pub(crate) fn scattered_by(&self) -> u64 {
        if self.scatter_seed > 0 { self.scatter_seed } else { self.seed }
    }

    pub(crate) fn sizes(&self) -> impl Iterator<Item = u64> {
        self.size_bytes.0.iter().map(|(bytes, _)| *bytes)
    }

    /// The space asked for in sectors; `None` for a share of the drive.
    pub(crate) fn space_sectors(&self) -> Option<u64> {
        (self.footprint_gib > 0.0).then_some((self.footprint_gib * (1u64 << 21) as f64) as u64)
    }

    pub(crate) fn check(&self) -> Result<(), WorkloadError> {
        let is_solved = self.pattern == Pattern::Zipf && self.zipf_theta == 0.0;
        if is_solved && self.zipf_access_percent < self.zipf_space_percent {
            let found = format!(
                "{} % of the accesses to {} % of the places is not a skew towards them",
                self.zipf_access_percent, self.zipf_space_percent
            );
            return Err(WorkloadError::setting("zipf_access_percent", found, "at least zipf_space_percent"));
        }
        if self.read_percent + self.trim_percent > 100.0 {
            let found = format!("{} % trims beside {} % reads", self.trim_percent, self.read_percent);
            return Err(WorkloadError::setting("trim_percent", found, "at most 100 % with read_percent"));
        }
        self.check_times(self.count)
    }

    /// Share of trims among what is no read.
    pub(crate) fn trimmed(&self) -> f64 {
        if self.trim_percent > 0.0 { (self.trim_percent / (100.0 - self.read_percent)).min(1.0) } else { 0.0 }
    }
}

impl Kind for SyntheticSpec {
    fn check(&self) -> Result<(), WorkloadError> {
        self.check()
    }

    fn has_times(&self) -> bool {
        self.arrival != Arrival::Closed
    }

    fn page_cache(&self) -> Option<(f64, bool)> {
        self.cache()
    }

    fn priorities(&self) -> (PriorityShares, u64) {
        self.priorities()
    }

    fn title(&self) -> String {
        self.pattern.name().to_string()
    }

    fn prepare(&self, _: &mut dyn FnMut(Progress)) -> Result<Box<dyn Ready>, WorkloadError> {
        Ok(Box::new(self.clone()))
    }
}

impl Ready for SyntheticSpec {
    fn space_sectors(&self) -> Option<u64> {
        self.space_sectors()
    }

    fn once(&self, drive_sectors: u64) -> Result<Box<dyn Source>, WorkloadError> {
        Ok(Box::new(Generator::new(self, drive_sectors)?))
    }

    fn open(&self, drive_sectors: u64) -> Result<Box<dyn Source>, WorkloadError> {
        let one = Generator::new(self, drive_sectors)?;
        copies(self.copies, self.seed, || Ok(passes(one.clone(), self.repeat)))
    }
}

/// The space and the places in it.
#[derive(Clone)]
struct Places {
    /// Sectors between two places.
    stride: u64,
    count: u64,
    /// Sectors of the whole space.
    sectors: u64,
    /// Requests of several sizes start at multiples of their own.
    by_size: bool,
}

impl Places {
    /// The first sector of a request of so many sectors at a place that was chosen: of itself, or of the place of its
    /// size that holds it.
    #[inline]
    fn sector(&self, place: u64, sectors: u64) -> u64 {
        let sector = place * self.stride;
        if !self.by_size {
            return sector;
        }
        // What is left at the end is too short for it.
        (sector / sectors).min(self.sectors / sectors - 1) * sectors
    }

    /// Places to start from, all alike, for a request of so many sectors, and how far apart they are.
    #[inline]
    fn evenly(&self, sectors: u64) -> (u64, u64) {
        if self.by_size { (self.sectors / sectors, sectors) } else { (self.count, self.stride) }
    }

    fn new(spec: &SyntheticSpec, drive_sectors: u64) -> Result<Self, WorkloadError> {
        let wanted = spec.space_sectors();
        let share = (drive_sectors as f64 * (spec.footprint_percent / 100.0)) as u64;
        let space = wanted.unwrap_or(share.min(drive_sectors));
        let largest = sectors(spec.sizes().max().unwrap_or(SECTOR_BYTES));
        let smallest = sectors(spec.size_bytes.smallest());
        let (stride, reach) = match spec.alignment_bytes {
            // The last places hold smaller ones only.
            Alignment::Size => (smallest, smallest),
            Alignment::Bytes(0) => (smallest, largest),
            Alignment::Bytes(bytes) => (sectors(bytes), largest),
        };
        let (what, needed_sectors) = if space > drive_sectors {
            ("the generator's footprint_gib", space)
        } else if space < largest {
            ("the largest of size_bytes", largest)
        } else {
            let by_size = spec.alignment_bytes == Alignment::Size && spec.size_bytes.0.len() > 1;
            return Ok(Places { stride, count: (space - reach) / stride + 1, sectors: space, by_size });
        };
        let advice = "take a larger drive, or change the footprint or the sizes".into();
        let drive_sectors = drive_sectors.min(space);
        Err(Problem::DoesNotFit { what: what.into(), needed_sectors, drive_sectors, advice }.into())
    }
}

/// How a place is chosen.
#[derive(Clone)]
enum Chooser {
    Uniform,
    Sequential { next: u64 },
    Zipf(Box<Hot>),
}

/// Zipf ranks and where they lie.
#[derive(Clone)]
struct Hot {
    zipf: Arc<Zipf>,
    /// Of writes, if it is another.
    writes: Option<Arc<Zipf>>,
    scatter: Option<Scatter>,
    /// Ranks are moved by this much, modulo the number of places.
    shift: u64,
    write_shift: u64,
    step: u64,
    every: u64,
    left: u64,
}

impl Hot {
    fn new(spec: &SyntheticSpec, places: u64) -> Self {
        let theta = if spec.zipf_theta > 0.0 {
            spec.zipf_theta
        } else {
            zipf::solve(places, spec.zipf_access_percent / 100.0, spec.zipf_space_percent / 100.0)
        };
        let share = |percent: f64| ((places as f64 * (percent / 100.0)) as u64) % places;
        Hot {
            zipf: Zipf::shared(places, theta),
            writes: (spec.write_zipf_theta > 0.0).then(|| Zipf::shared(places, spec.write_zipf_theta)),
            scatter: spec.scatter.then(|| Scatter::new(places, spec.scattered_by())),
            shift: 0,
            write_shift: share(spec.write_shift_percent),
            step: share(spec.hot_shift_percent),
            every: spec.hot_shift_requests,
            left: spec.hot_shift_requests,
        }
    }

    #[inline]
    fn choose(&mut self, rng: &mut Rng, op: OpCode, places: u64) -> u64 {
        // Trims forget what writes have written.
        let writes = self.writes.as_ref().filter(|_| op != OpCode::Read);
        let mut place = writes.unwrap_or(&self.zipf).sample(rng) + self.shift;
        if op != OpCode::Read {
            place += self.write_shift;
        }
        while place >= places {
            place -= places;
        }
        if self.every > 0 {
            self.left -= 1;
            if self.left == 0 {
                self.left = self.every;
                self.shift = (self.shift + self.step) % places;
            }
        }
        self.scatter.as_ref().map_or(place, |scatter| scatter.place(place))
    }
}

/// A generator of requests.
#[derive(Clone)]
pub struct Generator {
    places: Places,
    chooser: Chooser,
    draws: Draws,
}

impl Generator {
    /// A generator for a drive of so many 512-byte sectors.
    pub fn new(spec: &SyntheticSpec, drive_sectors: u64) -> Result<Self, WorkloadError> {
        spec.check()?;
        let places = Places::new(spec, drive_sectors)?;
        let chooser = match spec.pattern {
            Pattern::Uniform => Chooser::Uniform,
            Pattern::Sequential => Chooser::Sequential { next: 0 },
            Pattern::Zipf => Chooser::Zipf(Box::new(Hot::new(spec, places.count))),
        };
        let draws = Draws::new(spec.read_percent, &spec.size_bytes, spec.count, spec.clock(), spec.seed);
        let draws = draws.trimming(spec.trimmed(), spec.seed);
        Ok(Generator { places, chooser, draws })
    }

    /// The next request; `None` when as many as asked for were generated.
    #[inline]
    pub fn generate(&mut self) -> Option<Request> {
        let (places, chooser) = (&self.places, &mut self.chooser);
        self.draws.next(|op, sectors, rng| {
            let sectors = u64::from(sectors);
            match chooser {
                Chooser::Uniform => {
                    let (count, stride) = places.evenly(sectors);
                    below(rng, count) * stride
                }
                Chooser::Sequential { next } => {
                    let (_, stride) = places.evenly(sectors);
                    let from = next.next_multiple_of(stride);
                    let lba = if from + sectors > places.sectors { 0 } else { from };
                    *next = lba + sectors;
                    lba
                }
                Chooser::Zipf(hot) => places.sector(hot.choose(rng, op, places.count), sectors),
            }
        })
    }
}

/// Lengths in sectors with their weights.
#[derive(Clone)]
pub(crate) struct Lengths {
    list: Vec<u32>,
    mix: Option<Arc<Alias>>,
}

impl Lengths {
    pub(crate) fn new(sizes: &Sizes) -> Self {
        let weights: Vec<f64> = sizes.0.iter().map(|(_, weight)| *weight as f64).collect();
        Lengths {
            // At most 2^21 sectors each.
            list: sizes.0.iter().map(|(bytes, _)| sectors(*bytes) as u32).collect(),
            mix: (weights.len() > 1).then(|| Arc::new(Alias::new(&weights))),
        }
    }

    #[inline]
    pub(crate) fn draw(&self, rng: &mut Rng) -> u32 {
        self.list[self.mix.as_ref().map_or(0, |mix| mix.sample(rng))]
    }
}

/// What a generator draws, each from a random sequence of its own.
#[derive(Clone)]
pub(crate) struct Draws {
    /// Reads as a 64-bit fraction; `None` for all.
    reads: Option<u64>,
    sizes: Lengths,
    clock: Clock,
    /// Requests to come.
    pub left: u64,
    ops: Rng,
    lengths: Rng,
    addresses: Rng,
    /// Trims among what is no read, as a 64-bit fraction, and what draws them; `None` for none.
    trims: Option<(u64, Rng)>,
}

impl Draws {
    pub(crate) fn new(read_percent: f64, sizes: &Sizes, count: u64, clock: Clock, seed: u64) -> Self {
        Draws {
            reads: (read_percent < 100.0).then(|| (read_percent / 100.0 * TWO_TO_64) as u64),
            sizes: Lengths::new(sizes),
            clock,
            left: count,
            ops: Rng::named(seed, "workload/operation"),
            lengths: Rng::named(seed, "workload/size"),
            addresses: Rng::named(seed, "workload/address"),
            trims: None,
        }
    }

    /// The same with a share of trims in place of writes: all else stays as it is without.
    fn trimming(self, share: f64, seed: u64) -> Self {
        // All of them: the largest fraction that there is.
        let drawn = || ((share * TWO_TO_64) as u64, Rng::named(seed, "workload/trim"));
        Draws { trims: (share > 0.0).then(drawn), ..self }
    }

    /// The next request, at the first sector that `place` finds for an operation of so many sectors; `None` when as
    /// many as asked for were drawn.
    #[inline]
    pub(crate) fn next(&mut self, place: impl FnOnce(OpCode, u32, &mut Rng) -> u64) -> Option<Request> {
        self.left = self.left.checked_sub(1)?;
        let is_read = self.reads.is_none_or(|share| self.ops.next_u64() < share);
        let is_trim = !is_read && self.trims.as_mut().is_some_and(|(share, rng)| rng.next_u64() <= *share);
        let op = match (is_read, is_trim) {
            (true, _) => OpCode::Read,
            (false, true) => OpCode::Trim,
            (false, false) => OpCode::Write,
        };
        let sectors = self.sizes.draw(&mut self.lengths);
        let lba = place(op, sectors, &mut self.addresses);
        let arrival_ns = self.clock.tick();
        Some(Request { arrival_ns, op, fua: false, lba, sectors, hints: Hints::default() })
    }
}

impl Source for Generator {
    fn next(&mut self) -> Result<Option<Request>, WorkloadError> {
        Ok(self.generate())
    }

    fn len_hint(&self) -> Option<u64> {
        Some(self.draws.left)
    }

    fn report(&self) -> SourceReport {
        SourceReport::default()
    }
}
