//! One part of a mix at work.

use super::part::{Part, Places};
use super::spec::MixSpec;
use crate::base::draw::{TWO_TO_64, below};
use crate::base::request::SECTOR_BYTES;
use crate::generate::synthetic::Lengths;
use crate::generate::synthetic::scatter::Scatter;
use crate::generate::synthetic::zipf::Zipf;
use ssd::rng::Rng;
use ssd::signals::OpCode;
use std::sync::Arc;

/// The places of a stretch: numbered by popularity, in chunks that are scattered.
#[derive(Clone)]
struct Grid {
    /// Sectors between two places.
    stride: u64,
    count: u64,
    /// Places of a chunk.
    per_chunk: u64,
    /// The logarithm of that, where it is whole.
    chunk_shift: Option<u32>,
    scatter: Option<Scatter>,
}

impl Grid {
    /// Places `stride` apart on so many sectors; with chunks of so many sectors, where they are wanted and fit.
    fn new(sectors: u64, stride: u64, chunk_sectors: u64, seed: u64) -> Self {
        let chunk = chunk_sectors.next_multiple_of(stride);
        if chunk_sectors == 0 || sectors < 2 * chunk {
            let count = (sectors / stride).max(1);
            return Grid { stride, count, per_chunk: count, chunk_shift: None, scatter: None };
        }
        let (chunks, per_chunk) = (sectors / chunk, chunk / stride);
        Grid {
            stride,
            count: chunks * per_chunk,
            per_chunk,
            chunk_shift: per_chunk.is_power_of_two().then(|| per_chunk.ilog2()),
            scatter: Some(Scatter::new(chunks, seed)),
        }
    }

    /// First sector of the place of a rank.
    #[inline]
    fn sector(&self, rank: u64) -> u64 {
        let Some(scatter) = &self.scatter else { return rank * self.stride };
        let place = match self.chunk_shift {
            Some(shift) => (scatter.place(rank >> shift) << shift) | (rank & (self.per_chunk - 1)),
            None => scatter.place(rank / self.per_chunk) * self.per_chunk + rank % self.per_chunk,
        };
        place * self.stride
    }

    /// Places that make up a share of the space: whole chunks, where there are any; at least one, and not all.
    fn share(&self, part: f64) -> u64 {
        let step = if self.scatter.is_some() { self.per_chunk } else { 1 };
        let steps = self.count / step;
        let taken = libm::round(steps as f64 * part) as u64;
        taken.clamp(1, (steps - 1).max(1)) * step
    }
}

/// How the rank of a place is chosen.
#[derive(Clone)]
enum Chooser {
    Uniform,
    HotCold { hot: u64, access: u64 },
    Zipf(Arc<Zipf>),
    Scan { next: u64 },
}

/// A run in progress.
#[derive(Clone, Copy)]
struct Run {
    op: OpCode,
    next: u64,
    left: u32,
}

/// A part of a mix at work.
#[derive(Clone)]
pub(super) struct Flow {
    base: u64,
    sectors: u64,
    grid: Grid,
    chooser: Chooser,
    /// Reads as a 64-bit fraction; `None` for all.
    reads: Option<u64>,
    sizes: Lengths,
    /// `None` if each request is for itself.
    runs: Option<Lengths>,
    streams: Vec<Run>,
    ops: Rng,
    lengths: Rng,
    addresses: Rng,
}

impl Flow {
    /// The part number `index` of a mix, on the stretch it has on the drive.
    pub(super) fn new(spec: &MixSpec, index: usize, part: &Part, stretch: (u64, u64)) -> Self {
        let stream =
            |what: &str| Rng::named(spec.seed, &format!("workload/mix/{}/{index}/{what}", spec.preset));
        let sectors = stretch.1 - stretch.0;
        let smallest = if part.has_runs() { part.run_bytes.smallest() } else { 0 };
        let stride = smallest.max(part.size_bytes.smallest()) / SECTOR_BYTES;
        let is_skewed = matches!(part.places, Places::HotCold | Places::Zipf);
        let chunk_sectors = if is_skewed { spec.chunk_kib * 2 } else { 0 };
        let grid = Grid::new(sectors, stride, chunk_sectors, spec.scattered_by());
        let chooser = match part.places {
            Places::Uniform => Chooser::Uniform,
            Places::HotCold if grid.count < 2 => Chooser::Uniform,
            Places::HotCold => {
                let access = (part.hot_access_percent / 100.0 * TWO_TO_64) as u64;
                Chooser::HotCold { hot: grid.share(part.hot_space_percent / 100.0), access }
            }
            Places::Zipf => Chooser::Zipf(Zipf::shared(grid.count, part.theta)),
            Places::Scan => Chooser::Scan { next: 0 },
        };
        Flow {
            base: stretch.0,
            sectors,
            grid,
            chooser,
            reads: (part.read_percent < 100.0).then(|| (part.read_percent / 100.0 * TWO_TO_64) as u64),
            sizes: Lengths::new(&part.size_bytes),
            runs: part.has_runs().then(|| Lengths::new(&part.run_bytes)),
            streams: vec![Run { op: OpCode::Read, next: 0, left: 0 }; part.streams as usize],
            ops: stream("operation"),
            lengths: stream("size"),
            addresses: stream("address"),
        }
    }

    /// The next request: operation, first sector, sectors.
    #[inline]
    pub(super) fn next(&mut self) -> (OpCode, u64, u32) {
        let streams = self.streams.len() as u64;
        let stream = if streams > 1 { below(&mut self.addresses, streams) as usize } else { 0 };
        let size = self.sizes.draw(&mut self.lengths);
        if self.streams[stream].left == 0 {
            self.streams[stream] = self.start(size);
        }
        let run = &mut self.streams[stream];
        let (lba, sectors) = (self.base + run.next, size.min(run.left));
        run.next += u64::from(sectors);
        run.left -= sectors;
        (run.op, lba, sectors)
    }

    /// A new run, or a request of its own.
    #[inline]
    fn start(&mut self, size: u32) -> Run {
        let is_read = self.reads.is_none_or(|share| self.ops.next_u64() < share);
        let op = if is_read { OpCode::Read } else { OpCode::Write };
        let left = self.runs.as_ref().map_or(size, |runs| runs.draw(&mut self.lengths).max(size));
        let length = u64::from(left);
        let rank = match &mut self.chooser {
            Chooser::Scan { next } => {
                let from = if *next + length > self.sectors { 0 } else { *next };
                *next = from + length;
                return Run { op, next: from, left };
            }
            Chooser::Uniform => below(&mut self.addresses, self.grid.count),
            Chooser::HotCold { hot, access } => {
                if self.addresses.next_u64() < *access {
                    below(&mut self.addresses, *hot)
                } else {
                    *hot + below(&mut self.addresses, self.grid.count - *hot)
                }
            }
            Chooser::Zipf(zipf) => zipf.sample(&mut self.addresses),
        };
        let mut from = self.grid.sector(rank);
        let chunk =
            if self.grid.scatter.is_some() { self.grid.per_chunk * self.grid.stride } else { u64::MAX };
        if length.is_power_of_two() && length <= chunk {
            // At a multiple of its own length, so that it does not leave its chunk.
            from &= !(length - 1);
        }
        if from + length > self.sectors {
            from = (self.sectors - length) / self.grid.stride * self.grid.stride;
        }
        Run { op, next: from, left }
    }
}
