//! Cells that age, as the event loop sees them: integers only.
//!
//! For each block the chips remember how often and how gently it was cycled, when its data was programmed and how
//! often it was read; from that, and the tables made of the cell model when the drive is built, follows how many
//! attempts a read takes, and whether any succeeds.
//!
//! - **Memory.** 37 bytes for each block, one more where erases are suspended at once, one for each page where pages
//!   are copied inside chips, four for each page where some of a block were aged apart, and, with exact counters
//!   (`disturb_counters = "wordline"`), 4 for each wordline. On Straw's drive of 2 TiB that is 185 MB, 1.33 bytes for
//!   each page; `"block"` saves it. The tables take 3.5 MB there.
//! - **Time.** 35 ns to sense a page that is read at once, when it is in the cache (`examples/aging.rs`).
//! - **Range.** Wear of 131,072 cycles, 255 years at the reference temperature; there the clock stands and the last
//!   point of the tables holds. Steps of ageing that lead beyond are refused.

pub(crate) mod build;
mod bulk;
mod carried;
mod renewed;
mod sense;
pub(crate) mod sequence;
pub(crate) mod tables;
mod telemetry;

use super::cell::CellModel;
use crate::restore::{MOST, Verdict, alike, ensure};
use crate::rng::Rng;
use crate::snapshot::raw;
use crate::units::SimTime;
pub use build::Uses;
pub use sequence::{MOST_SETS, PARTS, Sequence};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tables::{CYCLE, Dwell, MOST_MINUTES, Mode, Place, TICKS_PER_MINUTE, Tables};

/// How a page is read, attempt by attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// With an entry of the retry table, each threshold sensed as often as the program mode asks.
    Entry,
    /// With the best voltages, found by reading the page several times.
    Tracking,
    /// With the best voltages and so many sensing levels at each threshold: index into `cell.ecc.level_steps`.
    Soft(u8),
}

/// What came of reading a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sensed {
    /// Attempts that failed.
    pub failed: u8,
    /// Whether the attempt after them succeeded; otherwise none was left to make.
    pub readable: bool,
}

/// What the firmware knows of a page when it chooses the voltages to read it with first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageAge {
    /// Program/erase cycles of the block.
    pub cycles: u32,
    /// Minutes at the reference temperature since its data was programmed.
    pub minutes: u32,
    /// Range of the block's age, as the policy of `flash/read_voltage` tells ages apart; 0 as long as nobody says.
    pub age_range: u8,
    /// Group of its wordline, as [`super::cell::Group`].
    pub group: u8,
    /// Page type.
    pub page_type: u8,
    /// Effective reads over what the wordline endures, in 1/4096, as its counters say; 0 under the linear law, by which
    /// reads tell no voltages apart.
    pub reads_q12: u32,
}

/// What a block shows of its wear (calibration section 4.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Telemetry {
    /// Program/erase cycles.
    pub cycles: u32,
    /// Erase pulses (ISPE loops) of the last erase.
    pub erase_pulses: u32,
    /// The same at the fine resolution, in steps of a pulse.
    pub erase_steps: u32,
    /// Errors of the first page's worst sector right after programming (N0), with telegraph noise, in 1/256 bit.
    pub fresh_bits_q8: u32,
    /// Program time of a page, in ns.
    pub program_ns: u32,
}

/// The truth about a page's reading, whatever the firmware believes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Margin {
    /// Effective reads over what the wordline endures, in 1/4096; the page is lost when this is above 4096 and the law
    /// of read disturb is linear.
    pub erc_q12: u32,
    /// Mean errors of a sector with the best voltages, reads included, in 1/256 bit.
    pub bits_q8: u32,
    /// Errors that are corrected with as many levels as the block's mode is read with, in 1/256 bit.
    pub limit_q8: u32,
}

/// The truth about a block's wear, whatever the firmware believes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrueWear {
    /// What its cycles did that lasts after recovery, in 1/2^20 cycle of the reference dwell in the normal mode.
    pub lasting_q20: u64,
    /// All that they did.
    pub done_q20: u64,
    /// Cycles of the average block that make as many errors.
    pub equivalent_cycles: u32,
}

/// A factor on errors, in 1/4096, that does nothing.
const UNHARMED: u32 = 4_096;

/// Time as the cells feel it: in ticks of 1/16 minute at the reference temperature.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Clock {
    ticks: u32,
    /// Ticks of all jumps.
    jumped: u64,
    /// When the next tick is due.
    next: SimTime,
}

/// The state of all blocks' cells. Blocks are numbered as in [`super::Chip`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Aging {
    /// Not in snapshots: made again from the configuration.
    #[serde(skip)]
    tables: Option<Arc<Tables>>,
    clock: Clock,
    /// Equivalent cycles of the average block: the tables' axis of wear.
    #[serde(with = "raw")]
    worn: Vec<u32>,
    /// Minute of the clock at which a block's first page was programmed.
    #[serde(with = "raw")]
    programmed_at: Vec<u32>,
    /// Tick of a block's last erase, which the drive begins with.
    #[serde(with = "raw")]
    erased_at: Vec<u32>,
    /// Damage that lasts, and all damage done, in [`CYCLE`].
    #[serde(with = "raw")]
    lasting: Vec<u64>,
    #[serde(with = "raw")]
    done: Vec<u64>,
    /// Weighted reads of each block since its erase, in [`Tables::unit`].
    #[serde(with = "raw")]
    reads: Vec<u64>,
    /// The same of each wordline; empty where they are not told apart.
    #[serde(with = "raw")]
    wordline_reads: Vec<u32>,
    #[serde(with = "raw")]
    modes: Vec<u8>,
    /// Suspends at once of each block's last erase; empty where nothing is suspended at once.
    #[serde(with = "raw")]
    suspends: Vec<u8>,
    /// Step of the time from each block's erase to its first program; empty where that does nothing.
    #[serde(with = "raw")]
    opened: Vec<u8>,
    /// Errors that each page's data came with, copy after copy inside the chips; empty where nothing is copied there.
    #[serde(with = "raw")]
    carried: Vec<u8>,
    /// Minute at which each page counts as programmed where that is after its block's first, else 0; empty where no
    /// block was aged in part.
    #[serde(with = "raw")]
    renewed: Vec<u32>,
    /// Whether it may be told without all errors of a page that its first attempt succeeds: neither are sectors drawn
    /// nor do pages carry errors, or ages of their own.
    #[serde(skip)]
    plain: bool,
    read_rng: Rng,
    telemetry_rng: Rng,
}

impl Aging {
    /// Fresh cells. Streams: `nand/read_noise` for reads, `nand/telemetry` for measurements.
    pub(crate) fn new(tables: Arc<Tables>, blocks: u32, seed: u64) -> Self {
        let blocks = blocks as usize;
        let counters = if tables.by_wordline { blocks * tables.wordlines as usize } else { 0 };
        let mut aging = Aging {
            plain: !tables.drawn,
            tables: Some(tables),
            clock: Clock::default(),
            worn: vec![0; blocks],
            programmed_at: vec![0; blocks],
            erased_at: vec![0; blocks],
            lasting: vec![0; blocks],
            done: vec![0; blocks],
            reads: vec![0; blocks],
            wordline_reads: vec![0; counters],
            modes: vec![0; blocks],
            suspends: Vec::new(),
            opened: Vec::new(),
            carried: Vec::new(),
            renewed: Vec::new(),
            read_rng: Rng::named(seed, "nand/read_noise"),
            telemetry_rng: Rng::named(seed, "nand/telemetry"),
        };
        if !aging.tables().open.until.is_empty() {
            // What suspends do is known beside it.
            aging.remember_suspends();
            aging.opened = vec![0; blocks];
        }
        for block in 0..blocks as u32 {
            aging.wear_out(block);
        }
        aging
    }

    /// Keeps what other policies of suspends and of reading ask for, from nothing on where nobody has asked before.
    pub(crate) fn keep_as(&mut self, other: &Aging) {
        if self.suspends.len() != other.suspends.len() {
            self.suspends = other.suspends.clone();
        }
    }

    /// Gives state that comes from a snapshot the tables of fresh cells, and checks it.
    pub(crate) fn restored(&mut self, fresh: Aging) -> Verdict {
        alike("worn blocks", &self.worn, &fresh.worn)?;
        alike("programmed blocks", &self.programmed_at, &fresh.programmed_at)?;
        alike("erased blocks", &self.erased_at, &fresh.erased_at)?;
        alike("lasting damage", &self.lasting, &fresh.lasting)?;
        alike("damage", &self.done, &fresh.done)?;
        alike("reads of blocks", &self.reads, &fresh.reads)?;
        alike("reads of wordlines", &self.wordline_reads, &fresh.wordline_reads)?;
        alike("modes of blocks", &self.modes, &fresh.modes)?;
        alike("suspends of blocks", &self.suspends, &fresh.suspends)?;
        alike("how long blocks were open", &self.opened, &fresh.opened)?;
        alike("errors that pages carry", &self.carried, &fresh.carried)?;
        (self.tables, self.plain) = (fresh.tables, fresh.plain && self.renewed.is_empty());
        let modes = self.tables().modes.len();
        ensure(
            self.modes.iter().all(|&mode| usize::from(mode) < modes),
            "a program mode the part does not have",
        )?;
        let ticks = u64::from(MOST_MINUTES) * u64::from(TICKS_PER_MINUTE);
        let Clock { ticks: now, jumped, .. } = self.clock;
        ensure(u64::from(now) <= ticks && jumped <= ticks, "the clock of the cells")?;
        let minute = now / TICKS_PER_MINUTE;
        ensure(self.programmed_at.iter().all(|&at| at <= minute), "when a block was programmed")?;
        let pages = self.worn.len() * self.tables().pages as usize;
        ensure(self.renewed.is_empty() || self.renewed.len() == pages, "ages of pages")?;
        ensure(self.renewed.iter().all(|&at| at <= minute), "when a page was programmed")?;
        ensure(self.erased_at.iter().all(|&at| at <= now), "when a block was erased")?;
        let mut all = self.lasting.iter().chain(&self.done).chain(&self.reads);
        ensure(all.all(|&done| done < MOST), "damage or reads of a block")?;
        (0..self.worn.len() as u32).for_each(|block| self.wear_out(block));
        Ok(())
    }

    /// The cells' constants.
    pub(crate) fn cells(&self) -> &CellModel {
        &self.tables().model
    }

    #[inline]
    fn tables(&self) -> &Tables {
        match &self.tables {
            Some(tables) => tables,
            None => unreachable!("the tables are attached before the first use"),
        }
    }

    /// Program mode of a block; that of blocks of one bit a cell is the one after the part's own.
    #[inline]
    pub(crate) fn mode(&self, block: u32) -> u8 {
        self.modes[block as usize]
    }

    /// Program modes of blocks, that of one bit a cell included.
    pub(crate) fn modes(&self) -> usize {
        self.tables().modes.len()
    }

    /// The mode of blocks of one bit a cell, if there are such.
    #[inline]
    pub(crate) fn one_bit_mode(&self) -> Option<u8> {
        self.tables().one_bit
    }

    /// A block's mode, and where a page of it lies.
    #[inline]
    fn at(&self, block: u32, page: u32) -> (&Mode, Place) {
        let tables = self.tables();
        let mode = &tables.modes[usize::from(self.modes[block as usize])];
        (mode, tables.places[(mode.places + page) as usize])
    }

    /// Whole cycles in the normal mode that did as much to a block as all that it has seen.
    pub(crate) fn cycles_done(&self, block: u32) -> u32 {
        (self.done[block as usize] / CYCLE).min(u64::from(u32::MAX)) as u32
    }

    /// Lets time pass; returns whether the clock has ticked.
    #[inline]
    pub(crate) fn advance(&mut self, now: SimTime) -> bool {
        let ticks = now >= self.clock.next;
        if ticks {
            self.tick(now);
        }
        ticks
    }

    #[inline(never)]
    fn tick(&mut self, now: SimTime) {
        let rate = u128::from(self.tables().ticks_q64.max(1));
        let passed = (u128::from(now.0) * rate) >> 64;
        let ticks = passed + u128::from(self.clock.jumped);
        self.clock.ticks = ticks.min(u128::from(MOST_MINUTES) * u128::from(TICKS_PER_MINUTE)) as u32;
        // The first ns at which the product passes the next whole tick.
        let next = ((passed + 1) << 64).div_ceil(rate);
        self.clock.next = SimTime(next.min(u128::from(u64::MAX)) as u64);
    }

    /// Ticks of the clock: 16 a minute at the reference temperature.
    #[inline]
    pub(crate) fn ticks(&self) -> u32 {
        self.clock.ticks
    }

    /// Minutes at the reference temperature, of simulated time and jumps.
    #[inline]
    pub(crate) fn minutes(&self) -> u32 {
        self.clock.ticks / TICKS_PER_MINUTE
    }

    /// Minutes at the reference temperature since a block's oldest page was programmed.
    #[inline]
    pub(crate) fn data_minutes(&self, block: u32) -> u32 {
        self.minutes() - self.programmed_at[block as usize]
    }

    #[inline]
    pub(crate) fn page_age(&self, block: u32, page: u32, cycles: u32) -> PageAge {
        let (mode, place) = self.at(block, page);
        PageAge {
            cycles,
            minutes: self.page_minutes(block, page),
            age_range: 0,
            group: place.group() as u8,
            page_type: place.page_type() as u8,
            reads_q12: self.moved_q12(block, place, mode, cycles),
        }
    }

    /// A block is erased: its reads are forgotten. If it was programmed since its last erase (`used`), a cycle is over,
    /// and how much of its wear lasts depends on the time in between, whether it held data then or none.
    #[inline]
    pub(crate) fn erase(&mut self, block: u32, used: bool) {
        let now = self.clock.ticks;
        let before = core::mem::replace(&mut self.erased_at[block as usize], now);
        if used {
            let dwell = self.tables().dwell(now - before);
            self.damage(block, 1, self.mode(block), dwell);
        }
        self.forget_reads(block);
        self.modes[block as usize] = 0;
        if let Some(suspends) = self.suspends.get_mut(block as usize) {
            *suspends = 0;
        }
        self.forget_carried(block);
        self.forget_renewed(block);
    }

    /// How often erases are suspended at once is remembered from now on.
    pub(crate) fn remember_suspends(&mut self) {
        self.suspends = vec![0; self.worn.len()];
    }

    /// The erase that a block has just had was suspended at once so often (calibration section 1.2): its data has more
    /// errors until the next one, and if `cell.effects.suspend_wear` says so it has done more harm.
    pub(crate) fn note_suspends(&mut self, block: u32, count: u32) {
        let count = count.min(u32::from(u8::MAX)) as u8;
        let Some(suspends) = self.suspends.get_mut(block as usize) else { return };
        *suspends = count;
        let more = self.tables().suspend_wear[usize::from(count)];
        if more > 0 {
            self.done[block as usize] += more;
            self.lasting[block as usize] += more;
            self.wear_out(block);
        }
    }

    /// What suspends of its erase make of a block's errors, in 1/4096.
    #[inline]
    fn harm_q12(&self, block: u32) -> u32 {
        match self.suspends.get(block as usize) {
            Some(&count) if count > 0 || !self.opened.is_empty() => self.harmed_q12(block, count),
            _ => UNHARMED,
        }
    }

    /// Whether a page's errors are those of its block's wear, its age and reads in the normal mode, worst sector.
    pub(crate) fn is_plain(&self, block: u32, page: u32) -> bool {
        let is_normal = self.mode(block) == 0 && self.harm_q12(block) == UNHARMED;
        is_normal && !self.tables().drawn && self.carried_q8(block, page) == 0
    }

    /// What so many suspends of its erase, and the time from that to its first program, make of a block's errors.
    fn harmed_q12(&self, block: u32, suspends: u8) -> u32 {
        let tables = self.tables();
        let suspended_q12 = tables.suspended_q12[usize::from(suspends)];
        match self.opened.get(block as usize) {
            Some(&step) => (suspended_q12 * tables.open.factor_q12[usize::from(step)]) >> 12,
            None => suspended_q12,
        }
    }

    fn forget_reads(&mut self, block: u32) {
        if core::mem::take(&mut self.reads[block as usize]) != 0 && !self.wordline_reads.is_empty() {
            let wordlines = self.tables().wordlines as usize;
            self.wordline_reads[block as usize * wordlines..][..wordlines].fill(0);
        }
    }

    /// The first page of a block is programmed, in a mode: from now on its data ages.
    #[inline]
    pub(crate) fn open(&mut self, block: u32, mode: u8) {
        assert!(usize::from(mode) < self.modes(), "program mode {mode}, the part has {}", self.modes());
        self.modes[block as usize] = mode;
        self.programmed_at[block as usize] = self.minutes();
        if !self.opened.is_empty() {
            let ticks = self.clock.ticks - self.erased_at[block as usize];
            self.opened[block as usize] = self.tables().open.step(ticks);
        }
    }

    /// All that is done to a block, and what of it lasts, after so many cycles more in a mode.
    fn after(&self, block: u32, cycles: u32, mode: u8, dwell: Dwell) -> (u64, u64) {
        let tables = self.tables();
        let harm = tables.modes[usize::from(mode)].wear * u64::from(cycles);
        let lasts = ((u128::from(harm) * u128::from(dwell.lasting_q16)) >> 16) as u64;
        let (done, lasting) = (self.done[block as usize] + harm, self.lasting[block as usize] + lasts);
        (done, tables.rested(done, lasting, dwell, cycles))
    }

    /// So many cycles in a mode, with a dwell after each.
    fn damage(&mut self, block: u32, cycles: u32, mode: u8, dwell: Dwell) {
        let (done, lasting) = self.after(block, cycles, mode, dwell);
        self.done[block as usize] = done;
        self.lasting[block as usize] = lasting;
        self.wear_out(block);
    }

    fn wear_out(&mut self, block: u32) {
        self.worn[block as usize] = self.equivalent(block, self.lasting[block as usize]);
    }

    /// Cycles of the average block that wear as much: the tables' axis.
    fn equivalent(&self, block: u32, lasting: u64) -> u32 {
        let traits = self.tables().traits(block);
        let grown = u128::from(lasting) * u128::from(traits.growth_q16);
        let grown_q4 = (grown / u128::from(CYCLE >> 4)) >> 16;
        let cycles = (grown_q4 as i64 + i64::from(traits.born_q4)).max(0) >> 4;
        cycles.min(i64::from(u32::MAX)) as u32
    }

    pub(crate) fn true_wear(&self, block: u32) -> TrueWear {
        let block = block as usize;
        TrueWear {
            lasting_q20: self.lasting[block],
            done_q20: self.done[block],
            equivalent_cycles: self.worn[block],
        }
    }

    /// Wordlines of a block.
    pub(crate) fn wordlines(&self) -> u32 {
        self.tables().wordlines
    }

    /// Whether reads are counted for each wordline.
    pub(crate) fn counts_wordlines(&self) -> bool {
        self.tables().by_wordline
    }

    /// Ticks of the clock for each ns of simulated time, in 1/2^64.
    pub(crate) fn ticks_q64(&self) -> u64 {
        self.tables().ticks_q64
    }

    /// Bytes of the tables that grow with the drive, and of those made of the cell model.
    pub(crate) fn bytes(&self) -> (usize, usize) {
        let words = self.worn.len() + self.programmed_at.len() + self.erased_at.len() + self.renewed.len();
        let long = self.lasting.len() + self.done.len() + self.reads.len();
        (
            (words + self.wordline_reads.len()) * 4
                + long * 8
                + self.modes.len()
                + self.suspends.len()
                + self.opened.len()
                + self.carried.len(),
            self.tables().bytes(),
        )
    }
}
