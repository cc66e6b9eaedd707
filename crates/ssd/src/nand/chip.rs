//! The chips' ground truth: which pages are programmed, how often each block was erased, what fails.
//!
//! Chip rules are asserted, in release builds too: a page is programmed once after an erase and in order, a page is
//! read only after it was programmed, a block marked bad is left alone. Breaking one is a bug of the firmware.

mod one_bit;
mod past;
mod raw;

use self::one_bit::OneBitErases;
use super::aging::build;
use super::aging::{Aging, Attempt, Margin, PageAge, Sensed, Sequence, Telemetry, TrueWear, Uses};
use super::cell::CellModel;
use super::cell::voltages::Voltages;
use super::locks::{Locks, Sanitizing};
use crate::config::ConfigErrors;
use crate::prefetch::prefetch;
use crate::restore::{Verdict, alike, ensure, within};
use crate::rng::{Rng, chance};
use crate::sections::{Reliability, Sections};
use crate::units::SimTime;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What a chip says of a program or erase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// Status pass.
    Pass,
    /// Status fail: the block must not be trusted with data again.
    Fail,
}

/// All chips of a drive, block by block. Blocks are numbered plane by plane: `plane * blocks_per_plane + block`, with
/// planes counted over the whole drive.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Chip {
    pages_per_block: u32,
    /// Next page to program; `pages_per_block` when the block is full.
    next_page: Vec<u32>,
    erase_counts: Vec<u32>,
    factory_bad: Vec<bool>,
    endurance_cycles: u32,
    program_fails: u64,
    erase_fails: u64,
    program_rng: Rng,
    erase_rng: Rng,
    /// Where cells age, their state.
    aging: Option<Box<Aging>>,
    /// Where pages are kept from being read, what is.
    locks: Option<Box<Locks>>,
    /// Erases of one bit a cell, which wear less.
    one_bit: OneBitErases,
}

impl Chip {
    /// Fresh chips: all blocks erased, the factory's bad blocks drawn.
    pub fn new(
        planes: u32,
        blocks_per_plane: u32,
        pages_per_block: u32,
        faults: &Reliability,
        seed: u64,
    ) -> Self {
        let blocks = (planes * blocks_per_plane) as usize;
        let mut rng = Rng::named(seed, "nand/factory_bad");
        let bad = chance(faults.factory_bad_ppm);
        Chip {
            pages_per_block,
            next_page: vec![0; blocks],
            erase_counts: vec![0; blocks],
            factory_bad: (0..blocks).map(|_| rng.hits(bad)).collect(),
            endurance_cycles: faults.endurance_cycles,
            program_fails: chance(faults.program_fail_ppm),
            erase_fails: chance(faults.erase_fail_ppm),
            program_rng: Rng::named(seed, "nand/program_fail"),
            erase_rng: Rng::named(seed, "nand/erase_fail"),
            aging: None,
            locks: None,
            one_bit: OneBitErases::default(),
        }
    }

    /// The same, some of whose blocks may be used with one bit a cell: an erase of such wears so much of what another
    /// does. Cells that age know it themselves.
    // tidy: allow(float): called when a drive is built
    pub fn with_one_bit(mut self, wear: Option<f64>) -> Self {
        let wear = wear.filter(|_| self.aging.is_none());
        self.one_bit = wear.map_or_else(OneBitErases::default, |wear| OneBitErases::new(self.blocks(), wear));
        self
    }

    /// The same, whose pages can be kept from being read in some way.
    pub fn with_locks(mut self, cfg: &Sections, what: Option<Sanitizing>) -> Self {
        self.locks = what.map(|what| Box::new(Locks::new(cfg, what, self.blocks())));
        self
    }

    /// The same, if some of their locks may be set again when they are old: then the second date counts.
    pub fn with_renewals(mut self, renews: bool) -> Self {
        if renews && let Some(locks) = self.locks.take() {
            self.locks = Some(Box::new(locks.renewing()));
        }
        self
    }

    /// Whether the factory marked this block bad.
    pub fn is_factory_bad(&self, block: u32) -> bool {
        self.factory_bad[block as usize]
    }

    /// Erases this block has seen.
    #[inline]
    pub fn erase_count(&self, block: u32) -> u32 {
        self.erase_counts[block as usize]
    }

    /// Ages a block to `cycles` erases; where cells age, their wear is that of so many cycles of the reference dwell
    /// more (or, if it had seen more, in all).
    pub fn set_erase_count(&mut self, block: u32, cycles: u32) {
        let before = core::mem::replace(&mut self.erase_counts[block as usize], cycles);
        self.one_bit.recount(block, cycles);
        if let Some(aging) = &mut self.aging {
            aging.recount(block, before, cycles);
        }
    }

    /// Gives the chips cells that age as `cfg` says, which must be checked (`DriveConfig::validate`); nothing happens
    /// where it says that cells make no errors. Errors are those of the cells' constants. Takes 0.1 to 0.3 s, twice as
    /// long with the law of voltage: the cell model becomes tables.
    pub fn with_cells(self, cfg: &Sections) -> Result<Self, ConfigErrors> {
        self.with_cells_for(cfg, Uses::default())
    }

    /// The same for other uses, too. With voltages between the entries of the retry table ([`Sequence`]) the tables
    /// grow to 3.6 times their size; blocks of one bit a cell have tables of their own.
    pub fn with_cells_for(mut self, cfg: &Sections, uses: Uses) -> Result<Self, ConfigErrors> {
        self.aging = build::tables(cfg, uses)?
            .map(|tables| Box::new(Aging::new(Arc::new(tables), self.blocks(), cfg.drive.seed)));
        Ok(self)
    }

    /// Blocks remember how often their last erase was suspended at once, where cells age.
    pub(crate) fn remember_suspends(&mut self) {
        if let Some(aging) = &mut self.aging {
            aging.remember_suspends();
        }
    }

    /// Pages remember the errors that their data came with, where cells age: see [`Chip::copy`].
    #[must_use]
    pub fn with_copies(mut self) -> Self {
        if let Some(aging) = &mut self.aging {
            aging.remember_carried();
        }
        self
    }

    /// Whether pages remember the errors that their data came with.
    #[inline]
    pub(crate) fn carries(&self) -> bool {
        self.aging.as_ref().is_some_and(|aging| aging.carries())
    }

    /// Errors that the data of a page came with since it was last corrected, in 1/256 bit.
    pub fn carried_q8(&self, block: u32, page: u32) -> u32 {
        self.aging.as_ref().map_or(0, |aging| aging.carried_q8(block, page))
    }

    /// Copies a page to the next page of a block, past the controller, in a program mode as [`Chip::program_in`]: the
    /// target's data carries the errors that its source has with the first set of the sequence, those that it carries
    /// itself included, until the controller programs it anew (RealWear section 3.4.5).
    pub fn copy(&mut self, from: (u32, u32), to: (u32, u32), mode: u8, sequence: &Sequence) -> Outcome {
        self.read(from.0, from.1);
        let cycles = self.erase_count(from.0);
        if let Some(aging) = self.aging.as_mut().filter(|aging| aging.carries()) {
            aging.copy(from, to, sequence, cycles);
        }
        self.program_in(to.0, to.1, mode)
    }

    /// A reading of a page that was broken off disturbs the others as one more read.
    pub(crate) fn break_off(&mut self, block: u32, page: u32) {
        if let Some(aging) = &mut self.aging {
            aging.break_off(block, page);
        }
    }

    /// The erase that a block has just had was suspended at once so often.
    pub(crate) fn note_suspends(&mut self, block: u32, count: u32) {
        if let Some(aging) = &mut self.aging {
            aging.note_suspends(block, count);
        }
    }

    /// Takes what follows from the configuration from fresh chips, the tables that a snapshot does not hold too, and
    /// checks the rest.
    pub(crate) fn restored(&mut self, fresh: Chip) -> Verdict {
        alike("blocks of chips", &self.next_page, &fresh.next_page)?;
        alike("erase counts of chips", &self.erase_counts, &fresh.erase_counts)?;
        self.one_bit.restored(fresh.one_bit, &self.erase_counts)?;
        (self.pages_per_block, self.factory_bad) = (fresh.pages_per_block, fresh.factory_bad);
        self.endurance_cycles = fresh.endurance_cycles;
        (self.program_fails, self.erase_fails) = (fresh.program_fails, fresh.erase_fails);
        within("pages programmed", self.next_page.iter().copied(), self.pages_per_block as usize + 1)?;
        ensure(self.erase_counts.iter().all(|&count| count >> 30 == 0), "erases of a block")?;
        match (&mut self.locks, fresh.locks) {
            (None, None) => {}
            (Some(locks), Some(fresh)) => locks.restored(*fresh, &self.next_page)?,
            _ => {
                return Err(
                    "the configuration and the snapshot differ in whether pages are locked".to_owned()
                );
            }
        }
        match (&mut self.aging, fresh.aging) {
            (None, None) => Ok(()),
            (Some(aging), Some(fresh)) => aging.restored(*fresh),
            _ => Err("the configuration and the snapshot differ in whether cells age".to_owned()),
        }
    }

    /// Physical blocks of the drive.
    pub fn blocks(&self) -> u32 {
        self.erase_counts.len() as u32
    }

    /// Pages of a block.
    pub fn pages_per_block(&self) -> u32 {
        self.pages_per_block
    }

    /// Pages of a block that are programmed.
    #[inline]
    pub fn programmed_pages(&self, block: u32) -> u32 {
        self.next_page[block as usize]
    }

    /// Whether cells age; otherwise every read succeeds at once.
    #[inline]
    pub fn ages(&self) -> bool {
        self.aging.is_some()
    }

    /// The cells, where they age.
    pub(crate) fn aging(&self) -> Option<&Aging> {
        self.aging.as_deref()
    }

    /// The cells, where they age.
    pub(crate) fn aging_mut(&mut self) -> Option<&mut Aging> {
        self.aging.as_deref_mut()
    }

    /// The cells' constants, where they age.
    pub(crate) fn cells(&self) -> Option<&CellModel> {
        self.aging.as_ref().map(|aging| aging.cells())
    }

    /// Lets time pass for the cells: charge is lost, and blocks recover. Cheap: most calls compare two numbers. Returns
    /// whether their clock has ticked.
    #[inline]
    pub fn advance_clock(&mut self, now: SimTime) -> bool {
        self.aging.as_mut().is_some_and(|aging| aging.advance(now))
    }

    /// Ticks of the cells' clock, 16 a minute at the reference temperature: what a firmware with a thermometer counts;
    /// 0 where cells do not age.
    #[inline]
    pub fn ticks(&self) -> u32 {
        self.aging.as_ref().map_or(0, |aging| aging.ticks())
    }

    /// Program mode of a block, an index into the lists of `cell.modes`: that of its first program since its last
    /// erase, until then the normal one.
    #[inline]
    pub fn mode(&self, block: u32) -> u8 {
        self.aging.as_ref().map_or(0, |aging| aging.mode(block))
    }

    /// Whether a block is used with one bit a cell, where cells age: from its first program to its next erase.
    #[inline]
    pub fn is_one_bit(&self, block: u32) -> bool {
        self.aging.as_ref().is_some_and(|aging| aging.one_bit_mode() == Some(aging.mode(block)))
    }

    /// Cycles of a block: erases, or where some are of one bit a cell those in the normal mode that did as much. A
    /// firmware knows it, which counts both.
    #[inline]
    pub fn cycles(&self, block: u32) -> u32 {
        match &self.aging {
            Some(aging) if aging.one_bit_mode().is_some() => aging.cycles_done(block),
            Some(_) => self.erase_count(block),
            None => self.erase_count(block) - self.one_bit.spared(block),
        }
    }

    /// What the firmware knows of a page's age.
    #[inline]
    pub fn page_age(&self, block: u32, page: u32) -> PageAge {
        let cycles = self.cycles(block);
        match &self.aging {
            Some(aging) => aging.page_age(block, page, cycles),
            None => PageAge { cycles, minutes: 0, age_range: 0, group: 0, page_type: 0, reads_q12: 0 },
        }
    }

    /// Reads a page, beginning with an entry of the retry table: as [`Chip::sense_with`] of that alone.
    #[inline]
    pub fn sense(&mut self, block: u32, page: u32, first: u8) -> Sensed {
        self.sense_with(block, page, &Sequence::entry(first))
    }

    /// Reads a page, beginning with a sequence of voltages: how many attempts fail, and whether one succeeds.
    /// After the sequence attempts go from the entry of the retry table that is nearest to its first set up to the
    /// last, then from the one before it down to 0, then (`tracking_reads` above 0) with the best voltages, then (LDPC)
    /// with the best voltages and more and more levels. Each set of the sequence stands for the entry nearest to it,
    /// which is not tried again: all attempts are as many as with the retry table alone.
    ///
    /// Every attempt disturbs the other wordlines of the block: one with an entry as one read, tracking as
    /// `tracking_reads`, a soft one as often as it has levels over those that the mode is read with.
    #[inline]
    pub fn sense_with(&mut self, block: u32, page: u32, sequence: &Sequence) -> Sensed {
        let cycles = self.cycles(block);
        match &mut self.aging {
            Some(aging) => aging.sense(block, page, sequence, cycles),
            None => Sensed { failed: 0, readable: true },
        }
    }

    /// The attempt that comes after so many failed ones, in a program mode.
    #[inline]
    pub fn attempt(&self, mode: u8, failed: u8) -> Attempt {
        self.aging.as_ref().map_or(Attempt::Entry, |aging| aging.attempt(mode, failed))
    }

    /// Array time of programs (`erase` false) and erases of a block over the nominal, in 1/4096: that of its worn
    /// cells over that of an unworn average block in the same program mode (`array_times = "worn"`), or 4096.
    #[inline]
    pub fn time_scale_q12(&self, block: u32, erase: bool) -> u32 {
        self.aging.as_ref().map_or(4096, |aging| aging.time_scale_q12(block, erase))
    }

    /// Starts loading what [`Chip::sense`] of that page will need.
    #[inline]
    pub fn prefetch_sense(&self, block: u32, page: u32) {
        if let Some(aging) = &self.aging {
            aging.prefetch(block, page);
        }
    }

    /// Starts loading how far a block is programmed, which each operation there will ask.
    #[inline]
    pub fn prefetch_block(&self, block: u32) {
        prefetch(&self.next_page, block as usize);
    }

    /// What a block shows of its wear; `None` where cells do not age. Each call is a new measurement: N0 has other
    /// noise.
    pub fn telemetry(&mut self, block: u32) -> Option<Telemetry> {
        let cycles = self.cycles(block);
        self.aging.as_mut().map(|aging| aging.telemetry(block, cycles))
    }

    /// The truth about a page, which no firmware knows; `None` where cells do not age.
    pub fn margin(&self, block: u32, page: u32) -> Option<Margin> {
        self.aging.as_ref().map(|aging| aging.margin(block, page, self.cycles(block)))
    }

    /// The margin of a page and the cycles of the average block that have worn as its block; `None` of a page that
    /// something else than wear, time and reads has changed, or that is not read by its worst sector.
    pub(crate) fn plain_margin(&self, block: u32, page: u32) -> Option<(Margin, u32)> {
        let aging = self.aging.as_ref().filter(|aging| aging.is_plain(block, page))?;
        let cycles = aging.true_wear(block).equivalent_cycles;
        Some((aging.margin(block, page, self.cycles(block)), cycles))
    }

    /// Effective reads of a page's wordline over what it endures, in 1/4096, as in [`Margin`]; `None` where cells do
    /// not age.
    #[inline]
    pub fn disturb_q12(&self, block: u32, page: u32) -> Option<u32> {
        self.aging.as_ref().map(|aging| aging.disturb_q12(block, page, self.cycles(block)))
    }

    /// Effective reads, in units of the counters, up to which an attempt with such voltages
    /// surely reads a page; all where cells do not age.
    pub(crate) fn plain_until(&self, block: u32, page: u32, first: Voltages) -> u64 {
        let aging = self.aging.as_ref();
        aging.map_or(u64::MAX, |aging| aging.plain_until(block, page, first, self.cycles(block)))
    }

    /// How often so many attempts to read a page of a block sense it; 1 each where cells do not age.
    #[inline]
    pub fn readings(&self, block: u32, attempts: u8) -> u32 {
        self.aging.as_ref().map_or(u32::from(attempts), |aging| aging.readings(block, attempts))
    }

    /// The truth about a block's wear, which no firmware knows; `None` where cells do not age. A cycle, with what its
    /// dwell leaves of it, counts from the erase that ends it.
    pub fn true_wear(&self, block: u32) -> Option<TrueWear> {
        self.aging.as_ref().map(|aging| aging.true_wear(block))
    }

    /// The truth about a wordline's disturb: effective reads (ERC, calibration section 2.3) in reads of the worst page
    /// type in the normal mode; 0 where cells do not age.
    pub fn effective_reads(&self, block: u32, wordline: u32) -> u64 {
        self.aging.as_ref().map_or(0, |aging| aging.effective_reads(block, wordline, self.cycles(block)))
    }

    /// Bytes of the cells' state, which grows with the drive, and of the tables made of the cell model.
    pub fn aging_bytes(&self) -> (usize, usize) {
        self.aging.as_ref().map_or((0, 0), |aging| aging.bytes())
    }

    /// Reads a page.
    #[inline]
    pub fn read(&self, block: u32, page: u32) {
        assert!(
            page < self.next_page[block as usize],
            "read of page {page} of block {block}, which is not programmed"
        );
    }

    /// Senses a page that the firmware has asked for, never one that is locked: whether it is lost, because others of
    /// its wordline were reprogrammed.
    #[inline(always)]
    pub(crate) fn is_lost(&self, block: u32, page: u32, now: SimTime) -> bool {
        match &self.locks {
            Some(locks) => locks.is_lost(block, page, self.erase_count(block), now),
            None => false,
        }
    }

    /// Reads a page that is lost: all attempts are made, as many as [`Chip::sense_with`] makes of a page that none
    /// corrects, and disturb the others.
    #[cold]
    pub(crate) fn sense_lost(&mut self, block: u32, page: u32) -> u8 {
        self.aging.as_mut().map_or(0, |aging| aging.sense_lost(block, page))
    }

    /// The flags, where pages can be kept from being read.
    pub(super) fn flags(&self) -> Option<&Locks> {
        self.locks.as_deref()
    }

    fn locks(&mut self) -> &mut Locks {
        self.locks.as_mut().expect("chips whose pages can be kept from being read")
    }

    /// Locks or reprograms a page, or scrubs its wordline. A page that is not programmed has nothing to hide; of a
    /// wordline that is scrubbed all pages are. In a block of one bit a cell a page is its wordline.
    pub fn sanitize_page(&mut self, block: u32, page: u32, one_bit: bool, now: SimTime) -> Outcome {
        let programmed = self.programmed_pages(block);
        assert!(page < programmed, "page {page} of block {block} is sanitized, {programmed} are programmed");
        let is_taken = self.locks().take_page(block, page, (programmed, one_bit), now);
        if is_taken { Outcome::Pass } else { Outcome::Fail }
    }

    /// Locks a whole block.
    pub fn lock_block(&mut self, block: u32, now: SimTime) -> Outcome {
        if self.locks().take_block(block, now) { Outcome::Pass } else { Outcome::Fail }
    }

    /// Bytes of the flags of locks.
    pub fn lock_bytes(&self) -> usize {
        self.locks.as_ref().map_or(0, |locks| locks.bytes())
    }

    /// Programs a page: in order, and only after an erase. A new block is programmed in the normal mode.
    pub fn program(&mut self, block: u32, page: u32) -> Outcome {
        self.program_in(block, page, self.mode(block))
    }

    /// The same in a program mode. Where cells age, the first page chooses the mode of its block, until its erase.
    #[inline]
    pub fn program_in(&mut self, block: u32, page: u32, mode: u8) -> Outcome {
        let next = &mut self.next_page[block as usize];
        assert!(
            page == *next && page < self.pages_per_block,
            "program of page {page} of block {block}, next is {next}"
        );
        *next += 1;
        if page == 0
            && let Some(aging) = &mut self.aging
        {
            aging.open(block, mode);
        }
        if self.program_rng_hits() { Outcome::Fail } else { Outcome::Pass }
    }

    #[inline]
    fn program_rng_hits(&mut self) -> bool {
        self.program_fails != 0 && self.program_rng.hits(self.program_fails)
    }

    /// Erases a block. Fails by chance, or for good once the endurance is used up.
    #[inline]
    pub fn erase(&mut self, block: u32) -> Outcome {
        self.erase_as(block, false)
    }

    /// The same of a block that is used with one bit a cell, or is not.
    pub fn erase_as(&mut self, block: u32, one_bit: bool) -> Outcome {
        if one_bit {
            self.one_bit.note(block);
        }
        let used = core::mem::take(&mut self.next_page[block as usize]) > 0;
        if let Some(locks) = &mut self.locks {
            locks.erased(block);
        }
        if let Some(aging) = &mut self.aging {
            aging.erase(block, used);
        }
        let count = &mut self.erase_counts[block as usize];
        *count += 1;
        let worn = self.endurance_cycles != 0 && *count > self.endurance_cycles;
        if worn || self.erase_rng.hits(self.erase_fails) { Outcome::Fail } else { Outcome::Pass }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chip(faults: &Reliability) -> Chip {
        Chip::new(2, 4, 3, faults, 1)
    }

    #[test]
    #[should_panic(expected = "next is 0")]
    fn pages_are_programmed_in_order() {
        chip(&Reliability::default()).program(0, 1);
    }

    #[test]
    #[should_panic(expected = "next is 3")]
    fn a_full_block_takes_no_program() {
        let mut chip = chip(&Reliability::default());
        for page in 0..4 {
            chip.program(0, page);
        }
    }

    #[test]
    #[should_panic(expected = "not programmed")]
    fn an_erased_page_is_not_read() {
        let mut chip = chip(&Reliability::default());
        chip.program(5, 0);
        chip.read(5, 0);
        chip.erase(5);
        chip.read(5, 0);
    }

    #[test]
    fn endurance_ends_in_failed_erases() {
        let mut chip = chip(&Reliability { endurance_cycles: 2, ..Reliability::default() });
        assert_eq!(
            [chip.erase(1), chip.erase(1), chip.erase(1)],
            [Outcome::Pass, Outcome::Pass, Outcome::Fail]
        );
    }
}
