//! How long an operation takes: the only place that turns one into a duration.
//!
//! Sources: the part's tables (`nand.timing`), the channel's interface (`flash.channel`), sensing and decoding of cells
//! that age (`cell.ecc`, `cell.modes`). All arithmetic on floats happens here when a drive is built; the event loop
//! reads integers.

use crate::flash::op::{KINDS, NOMINAL, Op, OpKind};
use crate::flash::rows::{Data, Stops, Work};
use crate::nand::aging::Attempt;
use crate::nand::cell::CellPart;
use crate::sections::cell::{CodeKind, Sensing};
use crate::sections::{Channel, ErrorModel, Sections};
use crate::units::SimDuration;
use serde::{Deserialize, Serialize};

/// Equal steps that an array operation is made of: ISPP loops of a program, pulses of an erase. A suspend can take
/// effect at the end of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Steps {
    /// Number of steps.
    pub count: u32,
    /// What comes before them and cannot be suspended: the read of a copyback.
    pub lead_ns: u64,
    /// Nanoseconds of the whole operation.
    pub total_ns: u64,
}

impl Steps {
    /// Nanoseconds after the start at which the step in progress at `elapsed_ns` ends.
    pub fn boundary_after(&self, elapsed_ns: u64) -> u64 {
        match elapsed_ns < self.total_ns {
            true => self.boundary(self.step_at(elapsed_ns) + 1),
            false => self.total_ns,
        }
    }

    /// Nanoseconds after the start at which the step in progress at `elapsed_ns` began.
    pub fn boundary_before(&self, elapsed_ns: u64) -> u64 {
        self.boundary(self.step_at(elapsed_ns)).min(elapsed_ns)
    }

    /// The steps that have ended at `elapsed_ns`.
    fn step_at(&self, elapsed_ns: u64) -> u128 {
        let (count, total) = (u128::from(self.count.max(1)), u128::from(self.total_ns - self.lead_ns));
        let ended = u128::from(elapsed_ns.saturating_sub(self.lead_ns)) * count / total.max(1);
        // Ends are rounded down: that of the next step may be past already.
        ended + u128::from(self.boundary(ended + 1) <= elapsed_ns)
    }

    /// When so many steps have ended.
    fn boundary(&self, steps: u128) -> u64 {
        let total = u128::from(self.total_ns - self.lead_ns);
        self.lead_ns + (total * steps / u128::from(self.count.max(1))) as u64
    }

    /// The longest that they run from the end of a step on until one ends, but no shorter than that.
    pub fn longest_run_ns(&self, least_ns: u64) -> u64 {
        let (all_ns, count) = (self.total_ns - self.lead_ns, u64::from(self.count.max(1)));
        let (shortest_ns, longest_ns) = (all_ns / count, all_ns.div_ceil(count));
        longest_ns * least_ns.div_ceil(shortest_ns.max(1)).max(1)
    }
}

/// What one attempt to read a page takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct AttemptTimes {
    array_ns: u64,
    /// Transfer over that of the page's bytes, in 1/4096: soft attempts send several bits for each.
    transfer_q12: u32,
    decode_ns: u64,
}

/// Kinds of attempts before those with soft sensing: an entry of the retry table, and tracking.
const HARD_KINDS: usize = 2;

/// Durations of a drive's flash operations, in nanoseconds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Timing {
    /// By program mode, kind of attempt and page type.
    reads: Vec<AttemptTimes>,
    kinds: usize,
    /// Those of the cells, and after them that of blocks of one bit a cell.
    page_types: usize,
    /// By program mode and page type.
    program_ns: Vec<u64>,
    erase_ns: u64,
    erase_one_bit_ns: u64,
    program_steps: u32,
    erase_steps: u32,
    /// Of locks of pages and blocks, scrubs, and reprograms.
    pulse_ns: [u64; 4],
    suspend_ns: u64,
    resume_ns: u64,
    /// By kind of operation.
    command_ns: [u64; KINDS],
    data_out_command_ns: u64,
    femtoseconds_per_byte: u64,
    /// Femtoseconds per byte of a read, which may send several bits for each.
    femtoseconds_per_byte_read: u64,
    cache_operations: bool,
}

/// How long operations keep a die at most, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Longest {
    /// An attempt to read a page.
    pub read_ns: u64,
    /// The program of a page.
    pub program_ns: u64,
    /// The erase of a block.
    pub erase_ns: u64,
    /// The lock of a page.
    pub lock_ns: u64,
    /// A page's data on the channel, which is part of a read and of a program.
    pub data_ns: u64,
}

fn nanoseconds(us: &[f64]) -> Vec<u64> {
    us.iter().map(|&us| SimDuration::from_us(us).0).collect()
}

/// Time of some bytes, rounded to the nearest ns.
#[inline]
fn nanoseconds_of(bytes: u32, femtoseconds_per_byte: u64) -> u64 {
    (u64::from(bytes) * femtoseconds_per_byte + 500_000) / 1_000_000
}

/// A time of worn cells.
#[inline]
fn scaled(nominal: u64, slower_q12: u16) -> u64 {
    if slower_q12 == NOMINAL { nominal } else { (nominal * u64::from(slower_q12)) >> 12 }
}

/// The command and address of an operation.
fn command_ns(channel: &Channel, kind: OpKind) -> u64 {
    let (read, program) = (channel.t_read_command_ns, channel.t_program_command_ns);
    u64::from(match kind.row().work {
        Work::Sense => read,
        Work::Program => program,
        Work::Erase | Work::Pulse => channel.t_erase_command_ns,
        Work::SenseAndProgram => read + program,
    })
}

/// Reads of cells that make no errors: one attempt, nothing to decode.
fn ideal_reads(cfg: &Sections) -> Vec<AttemptTimes> {
    let row = nanoseconds(&cfg.t_read_us()).into_iter();
    let row: Vec<_> =
        row.map(|array_ns| AttemptTimes { array_ns, transfer_q12: 4_096, decode_ns: 0 }).collect();
    row.repeat(HARD_KINDS)
}

/// Rows of so many page types, and after those the one of blocks with one bit a cell, which is the same in all rows.
fn with_one_bit<T: Copy>(rows: &[T], page_types: usize, one_bit: T) -> Vec<T> {
    rows.chunks(page_types).flat_map(|row| row.iter().copied().chain([one_bit])).collect()
}

/// Reads of a block of one bit a cell that ages, by kind of attempt: sent as they are, and decoded as the drive's own
/// hard reads (assumed).
fn one_bit_reads(cfg: &Sections, kinds: usize) -> impl Iterator<Item = AttemptTimes> {
    let ecc = &cfg.cells.ecc;
    let decode_us = match ecc.code {
        CodeKind::Bch => ecc.page_decode_us,
        CodeKind::Ldpc => ecc.decode_us[0],
    };
    let tracking = f64::from(cfg.errors.tracking_reads.max(1));
    (0..kinds).map(move |kind| AttemptTimes {
        array_ns: SimDuration::from_us(cfg.slc.t_read_us * if kind == 0 { 1.0 } else { tracking }).0,
        transfer_q12: 4_096,
        decode_ns: SimDuration::from_us(decode_us).0,
    })
}

/// Bits that say between which of so many levels a cell lies: ceil(log2(levels + 1)).
fn bits_of(levels: u32) -> f64 {
    f64::from(u32::BITS - levels.leading_zeros())
}

/// Array time of a read at some levels for each threshold, over that with the levels of the normal mode, by page type.
fn sensing_us(cfg: &Sections, levels: f64) -> Vec<f64> {
    let CellPart { ecc, modes, states, .. } = &cfg.cells;
    let boundaries = f64::from((1 << states.bits_per_cell) - 1);
    let more = levels - modes.levels[0];
    let of_type = |row: &Vec<u32>| match ecc.sensing {
        Sensing::Cell => ecc.sense_us * more * boundaries,
        Sensing::Page => cfg.timing.t_sense_us * more / modes.levels[0] * row.len() as f64,
    };
    cfg.gray_code().iter().map(of_type).collect()
}

/// Reads of cells that age (calibration section 3). The part's own tR and channel are those of the normal mode with
/// as many levels as that mode is read with. Other modes add or save sensing, by `cell.ecc.sensing`, and transfer in
/// proportion to the bits that tell the levels apart: those of the whole cell (HIRE table 1), or with sensing by page
/// those of one threshold (assumed: a hard bit, and soft bits for it). Tracking reads a page several times in the chip
/// and transfers it once (assumed). A soft attempt senses each threshold of the page at more
/// levels, and sends the bits that tell them apart (assumed, by the same law).
fn cell_reads(cfg: &Sections) -> Vec<AttemptTimes> {
    let CellPart { ecc, modes, states, .. } = &cfg.cells;
    let boundaries = (1 << states.bits_per_cell) - 1;
    let told_apart = if ecc.sensing == Sensing::Cell { boundaries } else { 1 };
    let bits_of_mode = |mode: usize| bits_of(modes.levels[mode] as u32 * told_apart);
    let thresholds: Vec<f64> = cfg.gray_code().iter().map(|page| page.len() as f64).collect();
    let level_us = match ecc.sensing {
        Sensing::Cell => ecc.sense_us,
        Sensing::Page => cfg.timing.t_sense_us / modes.levels[0],
    };
    let decode_us = |step: usize| match ecc.code {
        CodeKind::Bch => ecc.page_decode_us,
        CodeKind::Ldpc => ecc.decode_us[step.min(ecc.decode_us.len() - 1)],
    };
    let times = |array_us: f64, transfer: f64, decode_us: f64| AttemptTimes {
        array_ns: SimDuration::from_us(array_us).0,
        transfer_q12: libm::round(transfer * 4_096.0) as u32,
        decode_ns: SimDuration::from_us(decode_us).0,
    };
    let mut rows = Vec::new();
    for mode in 0..modes.levels.len() {
        let levels = modes.levels[mode];
        let sent = bits_of_mode(mode) / bits_of_mode(0);
        let own_step = ecc.level_steps.partition_point(|&step| step < levels);
        let reads =
            cfg.t_read_us().into_iter().zip(sensing_us(cfg, levels)).map(|(us, more)| (us + more).max(0.0));
        rows.extend(reads.clone().map(|us| times(us, sent, decode_us(own_step))));
        let tracking = f64::from(cfg.errors.tracking_reads.max(1));
        rows.extend(reads.clone().map(|us| times(us * tracking, sent, decode_us(own_step))));
        for (step, &soft) in ecc.level_steps.iter().enumerate() {
            let more_us = level_us * (soft - levels).max(0.0);
            let bits = sent * (bits_of(soft as u32) / bits_of(levels as u32)).max(1.0);
            let soft_reads = reads.clone().zip(&thresholds);
            rows.extend(soft_reads.map(|(us, count)| times(us + more_us * count, bits, decode_us(step))));
        }
    }
    rows
}

impl Timing {
    /// The durations of a checked configuration.
    pub fn new(cfg: &Sections) -> Self {
        let (timing, channel) = (&cfg.timing, &cfg.channel);
        let (kinds, reads, program_us) = match cfg.errors.model {
            ErrorModel::None => (HARD_KINDS, ideal_reads(cfg), cfg.t_program_us()),
            ErrorModel::Cells => {
                // tPROG as given is that of the normal mode, too.
                let factors = &cfg.cells.modes.program_time;
                let own = factors[0];
                let times = cfg.t_program_us();
                let in_mode =
                    |factor: &f64| times.iter().map(move |us| us * factor / own).collect::<Vec<_>>();
                let program_us = factors.iter().flat_map(in_mode).collect();
                (HARD_KINDS + cfg.cells.ecc.level_steps.len(), cell_reads(cfg), program_us)
            }
        };
        let page_types = cfg.geometry.bits_per_cell as usize;
        let one_bit = AttemptTimes {
            array_ns: SimDuration::from_us(cfg.slc.t_read_us).0,
            transfer_q12: 4_096,
            decode_ns: 0,
        };
        let program_ns = nanoseconds(&program_us);
        let one_bit_program_ns = SimDuration::from_us(cfg.slc.t_program_us).0;
        let mut reads = with_one_bit(&reads, page_types, one_bit);
        let mut program_ns = with_one_bit(&program_ns, page_types, one_bit_program_ns);
        // Where cells age, blocks of one bit a cell have a mode of their own.
        if cfg.errors.model == ErrorModel::Cells {
            reads.extend(one_bit_reads(cfg, kinds).flat_map(|times| vec![times; page_types + 1]));
            program_ns.extend(vec![one_bit_program_ns; page_types + 1]);
        }
        Timing {
            reads,
            kinds,
            page_types: page_types + 1,
            program_ns,
            erase_ns: SimDuration::from_us(timing.t_erase_us).0,
            erase_one_bit_ns: SimDuration::from_us(cfg.slc.t_erase_us).0,
            program_steps: timing.program_steps,
            erase_steps: timing.erase_steps,
            pulse_ns: [
                timing.t_page_lock_us,
                timing.t_block_lock_us,
                timing.t_scrub_us,
                timing.t_reprogram_us,
            ]
            .map(|us| SimDuration::from_us(us).0),
            suspend_ns: SimDuration::from_us(timing.t_suspend_us).0,
            resume_ns: SimDuration::from_us(timing.t_resume_us).0,
            command_ns: OpKind::ALL.map(|kind| command_ns(channel, kind)),
            data_out_command_ns: u64::from(channel.t_data_out_command_ns),
            femtoseconds_per_byte: libm::round(1e9 / channel.bandwidth_mb_s) as u64,
            femtoseconds_per_byte_read: libm::round(
                1e9 * f64::from(channel.read_bits) / channel.bandwidth_mb_s,
            ) as u64,
            cache_operations: timing.cache_operations,
        }
    }

    /// Page types told apart.
    pub(super) fn page_types(&self) -> usize {
        self.page_types
    }

    /// Whether an operation's mode and attempt are among those that have times.
    pub(super) fn knows(&self, op: &Op) -> bool {
        let row = usize::from(op.mode) * self.kinds + usize::from(op.attempt_kind);
        let is_attempt = usize::from(op.attempt_kind) < self.kinds;
        is_attempt
            && (row + 1) * self.page_types <= self.reads.len()
            && (usize::from(op.mode) + 1) * self.page_types <= self.program_ns.len()
    }

    /// Whether the next operation may be sent to a die whose array is busy.
    pub fn cache_operations(&self) -> bool {
        self.cache_operations
    }

    /// Data on the channel, one bit for each.
    #[inline]
    fn data_ns(&self, bytes: u32) -> u64 {
        nanoseconds_of(bytes, self.femtoseconds_per_byte)
    }

    /// Command, address and data towards the die.
    #[inline]
    pub fn in_ns(&self, op: &Op) -> u64 {
        let command_ns = self.command_ns[op.kind as usize];
        if op.kind.row().data == Data::In { command_ns + self.data_ns(op.bytes) } else { command_ns }
    }

    #[inline(always)]
    fn attempt(&self, op: &Op) -> &AttemptTimes {
        let row = usize::from(op.mode) * self.kinds + usize::from(op.attempt_kind);
        &self.reads[row * self.page_types + usize::from(op.page_type)]
    }

    #[inline]
    fn program_ns(&self, op: &Op) -> u64 {
        self.program_ns[usize::from(op.mode) * self.page_types + usize::from(op.page_type)]
    }

    /// A pulse that keeps data from being read.
    #[cold]
    #[inline(never)]
    pub fn pulse_ns(&self, kind: OpKind) -> u64 {
        self.pulse_ns[(kind as usize).saturating_sub(OpKind::PageLock as usize) % self.pulse_ns.len()]
    }

    /// The array at work. A copyback reads its source page and programs its destination (of one type, as chips ask).
    #[inline(always)]
    pub fn array_ns(&self, op: &Op) -> u64 {
        let nominal = match op.kind.row().work {
            Work::Sense => return self.attempt(op).array_ns,
            Work::Program => self.program_ns(op),
            Work::Erase if usize::from(op.page_type) + 1 == self.page_types => self.erase_one_bit_ns,
            Work::Erase => self.erase_ns,
            // What is slower is the program.
            Work::SenseAndProgram => {
                return self.attempt(op).array_ns + scaled(self.program_ns(op), op.slower_q12);
            }
            Work::Pulse => self.pulse_ns(op.kind),
        };
        scaled(nominal, op.slower_q12)
    }

    /// Data from the die; only reads have it.
    #[inline(always)]
    pub fn out_ns(&self, op: &Op) -> u64 {
        let data = nanoseconds_of(op.bytes, self.femtoseconds_per_byte_read);
        self.data_out_command_ns + ((data * u64::from(self.attempt(op).transfer_q12)) >> 12)
    }

    /// Decoding of what a read attempt brought.
    #[inline]
    pub fn decode_ns(&self, op: &Op) -> u64 {
        self.attempt(op).decode_ns
    }

    /// Place of an attempt among the kinds that take their own times.
    #[inline]
    pub fn kind_of(attempt: Attempt) -> u8 {
        match attempt {
            Attempt::Entry => 0,
            Attempt::Tracking => 1,
            Attempt::Soft(step) => HARD_KINDS as u8 + step,
        }
    }

    /// The steps of a program or erase; a read is one step.
    pub fn steps(&self, op: &Op) -> Steps {
        let count = match op.kind.row().stops {
            Stops::Never => 1,
            Stops::ProgramSteps => self.program_steps,
            Stops::EraseSteps => self.erase_steps,
        };
        let lead_ns = match op.kind.row().work {
            Work::SenseAndProgram => self.attempt(op).array_ns,
            Work::Sense | Work::Program | Work::Erase | Work::Pulse => 0,
        };
        Steps { count, lead_ns, total_ns: self.array_ns(op) }
    }

    /// The longest operation of an unworn block.
    pub fn longest_ns(&self) -> u64 {
        let programs = self.program_ns.iter().copied().max().unwrap_or_default();
        self.pulse_ns.into_iter().fold(self.erase_ns.max(programs), u64::max)
    }

    /// How long a die of unworn blocks is kept at most by operations on pages of so many bytes, the channel's time
    /// included.
    pub fn longest(&self, bytes: u32) -> Longest {
        let reads = self.reads.iter().map(|times| {
            let data = nanoseconds_of(bytes, self.femtoseconds_per_byte_read);
            times.array_ns + ((data * u64::from(times.transfer_q12)) >> 12) + times.decode_ns
        });
        let command = |kind: OpKind| self.command_ns[kind as usize];
        Longest {
            read_ns: reads.max().unwrap_or_default() + command(OpKind::Read) + self.data_out_command_ns,
            program_ns: self.program_ns.iter().copied().max().unwrap_or_default()
                + command(OpKind::Program)
                + self.data_ns(bytes),
            erase_ns: self.erase_ns.max(self.erase_one_bit_ns) + command(OpKind::Erase),
            lock_ns: self.pulse_ns[0] + command(OpKind::PageLock),
            data_ns: self.data_ns(bytes),
        }
    }

    /// The longest attempt of a read in the array.
    pub fn longest_sense_ns(&self) -> u64 {
        self.reads.iter().map(|times| times.array_ns).max().unwrap_or_default()
    }

    /// From stopping an array until it may do something else.
    #[inline]
    pub fn suspend_ns(&self) -> u64 {
        self.suspend_ns
    }

    /// From the command to go on until an array works again.
    #[inline]
    pub fn resume_ns(&self) -> u64 {
        self.resume_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive_config::DriveConfig;

    #[test]
    fn steps_end_where_the_operation_is_divided() {
        let steps = Steps { count: 5, lead_ns: 0, total_ns: 3_500_000 };
        assert_eq!(steps.boundary_after(0), 700_000);
        assert_eq!(steps.boundary_after(699_999), 700_000);
        assert_eq!(steps.boundary_after(700_000), 1_400_000);
        assert_eq!(steps.boundary_after(3_499_999), 3_500_000);
        assert_eq!(steps.boundary_after(9_999_999), 3_500_000);
        // 100 ns in 3 steps ends at 33, 66 and 100.
        let odd = Steps { count: 3, lead_ns: 0, total_ns: 100 };
        assert_eq!([odd.boundary_after(0), odd.boundary_after(33), odd.boundary_after(66)], [33, 66, 100]);
        let ends: Vec<u64> = (0..=100).map(|at| odd.boundary_before(at)).collect();
        assert_eq!(
            [ends[0], ends[32], ends[33], ends[65], ends[66], ends[99], ends[100]],
            [0, 0, 33, 33, 66, 66, 100]
        );
        // Before its steps come 1 000 ns that are none.
        let copyback = Steps { count: 3, lead_ns: 1_000, total_ns: 1_100 };
        assert_eq!(
            [0, 999, 1_000, 1_033, 1_066].map(|at| copyback.boundary_after(at)),
            [1_033, 1_033, 1_033, 1_066, 1_100]
        );
        assert_eq!(
            [999, 1_000, 1_032, 1_033].map(|at| copyback.boundary_before(at)),
            [999, 1_000, 1_000, 1_033]
        );
        assert_eq!((odd.longest_run_ns(0), copyback.longest_run_ns(33)), (34, 34));
        assert_eq!(
            (odd.longest_run_ns(34), odd.longest_run_ns(66)),
            (68, 68),
            "a step of 33 may be the first"
        );
    }

    fn read_ns(cfg: &DriveConfig) -> Vec<u64> {
        Timing::new(cfg).reads[..3].iter().map(|times| times.array_ns).collect()
    }

    #[test]
    fn read_time_follows_from_the_gray_code_or_is_given() {
        let mut cfg = DriveConfig::default();
        cfg.timing.t_read_us = vec![];
        (cfg.timing.t_read_base_us, cfg.timing.t_sense_us) = (0.0, 39.0);
        assert_eq!(read_ns(&cfg), [78_000, 117_000, 78_000]);
        cfg.timing.t_read_us = vec![40.0];
        assert_eq!(read_ns(&cfg), [40_000; 3]);
        cfg.timing.t_read_us = vec![50.0, 60.0, 70.0];
        assert_eq!(read_ns(&cfg), [50_000, 60_000, 70_000]);
    }

    /// 4 KiB on a channel of 1000 MB/s, where a byte takes a nanosecond.
    #[test]
    fn a_soft_attempt_sends_more_bits_for_each_byte() {
        let mut cfg = DriveConfig::default();
        cfg.errors.model = ErrorModel::Cells;
        cfg.channel.bandwidth_mb_s = 1_000.0;
        cfg.channel.t_data_out_command_ns = 40;
        // One level at each threshold says 1 bit; 3 levels divide cells in four, 7 in eight.
        (cfg.cells.modes.levels, cfg.cells.ecc.level_steps) = (vec![1.0; 3], vec![1.0, 3.0, 7.0]);
        let timing = Timing::new(&cfg);
        let at = crate::nand::PageAddress { die: 0, plane: 0, block: 0, page: 0 };
        let read = Op::new(OpKind::Read, crate::flash::op::Cause::Host, crate::units::Ppn(0), at, 0);
        let out_ns =
            |attempt| timing.out_ns(&Op { bytes: 4_096, attempt_kind: Timing::kind_of(attempt), ..read });
        assert_eq!([Attempt::Entry, Attempt::Tracking].map(out_ns), [40 + 4_096; 2]);
        assert_eq!([0, 1, 2].map(Attempt::Soft).map(out_ns), [40 + 4_096, 40 + 8_192, 40 + 12_288]);
    }

    /// Array, channel outwards and channel inwards of a read and a program of 8 KiB in each mode of HIRE's drive
    /// (table 1).
    #[test]
    fn hires_modes_take_the_times_of_its_table() {
        let layer = crate::config::Layer::file("test.toml", "preset = \"hire\"\n");
        let cfg = crate::drive_config::resolve(&[layer], &[]).unwrap().config;
        let timing = Timing::new(&cfg);
        let at = crate::nand::PageAddress { die: 0, plane: 0, block: 0, page: 0 };
        let op = |kind, mode| {
            let op = Op::new(kind, crate::flash::op::Cause::Host, crate::units::Ppn(0), at, 0);
            Op { bytes: 8_192, mode, ..op }
        };
        let read = |mode| {
            let op = op(OpKind::Read, mode);
            (timing.in_ns(&op) + timing.array_ns(&op), timing.out_ns(&op) + timing.decode_ns(&op))
        };
        let program = |mode| {
            let op = op(OpKind::Program, mode);
            (timing.in_ns(&op), timing.array_ns(&op))
        };
        assert_eq!([0, 1, 2].map(read), [(90_000, 80_000), (30_000, 40_000), (210_000, 100_000)]);
        assert_eq!([0, 1, 2].map(program), [(20_000, 600_000); 3]);
    }

    /// By hand: 1.15 us + 1 us a threshold, three levels in the normal mode; one level senses a third as often, 7
    /// levels seven thirds.
    #[test]
    fn sensing_by_page_goes_by_the_thresholds_of_its_type() {
        let mut cfg = DriveConfig::default();
        cfg.errors.model = ErrorModel::Cells;
        cfg.timing.t_read_us = vec![];
        (cfg.timing.t_read_base_us, cfg.timing.t_sense_us) = (1.15, 1.0);
        cfg.cell.gray_code = vec![vec![4], vec![2, 6], vec![1, 3, 5, 7]];
        (cfg.cells.ecc.sensing, cfg.cells.modes.levels) = (Sensing::Page, vec![3.0, 1.0, 7.0]);
        let timing = Timing::new(&cfg);
        let of_mode = |mode: usize| {
            let first = mode * timing.kinds * timing.page_types;
            timing.reads[first..first + 3].iter().map(|times| times.array_ns).collect::<Vec<_>>()
        };
        assert_eq!(of_mode(0), [2_150, 3_150, 5_150]);
        assert_eq!(of_mode(1), [1_483, 1_817, 2_483]);
        assert_eq!(of_mode(2), [3_483, 5_817, 10_483]);
        // Two bits for each of the page in the normal mode, one with one level, three with seven.
        let sent = |mode: usize| timing.reads[mode * timing.kinds * timing.page_types].transfer_q12;
        assert_eq!([0, 1, 2].map(sent), [4_096, 2_048, 6_144]);
    }
}
