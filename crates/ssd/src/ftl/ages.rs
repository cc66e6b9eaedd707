//! The block age manager: what the firmware keeps of each physical block so that a marker can tell its age.
//!
//! At each erase the time since the erase before and the time that the erase took are noted, and once the first page
//! is programmed again its errors, by a read of their own (RealWear section 3.2; `age_check`). 14 bytes for each
//! physical block; the ages that follow take 2 for each of the firmware's (`Blocks::wear_q12`).

use crate::flash::Flash;
use crate::ftl::age_marker::{self, LIFE, Policy, Seen};
use crate::ftl::migration::Worn;
use crate::ftl::tables::Tables;
use crate::ftl::tables::blocks::Blocks;
use crate::ftl::work::Work;
use crate::nand::Chip;
use crate::nand::aging::Telemetry;
use crate::restore::{Verdict, alike};
use crate::snapshot::raw;
use crate::units::BlockId;
use serde::{Deserialize, Serialize};

/// Parts of an octave in the table of logarithms, as a power of two.
const PARTS_SHIFT: u32 = 6;
/// Logarithms are in 1/256.
const LN_SHIFT: u32 = 8;

/// The logarithm of dwells.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Logarithm {
    /// ln(1 + i/64), in 1/65536.
    parts: Vec<u32>,
    /// Ticks of full recovery.
    full: u32,
    /// ln 2 and the logarithm of the ticks of a minute, in 1/65536.
    octave: u32,
    minute: u32,
}

impl Logarithm {
    // tidy: allow(float): called when a drive is built
    fn new(ticks_per_minute: u32, full_minutes: f64) -> Self {
        let fixed = |x: f64| libm::round(x * 65_536.0) as u32;
        let part = |i: u32| fixed(libm::log(1.0 + f64::from(i) / f64::from(1_u32 << PARTS_SHIFT)));
        Logarithm {
            parts: (0..=1 << PARTS_SHIFT).map(part).collect(),
            full: libm::round(full_minutes * f64::from(ticks_per_minute)) as u32,
            octave: fixed(core::f64::consts::LN_2),
            minute: fixed(libm::log(f64::from(ticks_per_minute))),
        }
    }

    /// The logarithm of the minutes of a dwell of so many ticks, of 1 minute at least and full recovery at most.
    fn of_ticks(&self, ticks: u32) -> u32 {
        let ticks = ticks.min(self.full).max(1);
        let octave = ticks.ilog2();
        let scaled = u64::from(ticks) << 16 >> octave;
        let (at, rest) = ((scaled >> 10) as usize & ((1 << PARTS_SHIFT) - 1), scaled & 1023);
        let (low, high) = (u64::from(self.parts[at]), u64::from(self.parts[at + 1]));
        let ln_q16 = u64::from(octave * self.octave) + low + (((high - low) * rest) >> 10);
        (ln_q16.saturating_sub(u64::from(self.minute)) >> (16 - LN_SHIFT)) as u32
    }
}

/// All blocks' ages, by physical block; empty tables where nothing tells them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Ages {
    policy: Policy,
    logarithm: Logarithm,
    /// Errors of a sector that are corrected.
    limit_bits: u32,
    /// Sum of the logarithms of a block's dwells.
    rested: Vec<u32>,
    /// Tick of its last erase.
    #[serde(with = "raw")]
    erased_at: Vec<u32>,
    /// Time of that erase, in fine steps.
    erase_steps: Vec<u16>,
    /// Errors of its first page, in 1/256 bit.
    fresh_q8: Vec<u16>,
    /// Program time, in 1/16 us.
    program: Vec<u16>,
}

impl Default for Ages {
    /// None.
    fn default() -> Self {
        Ages {
            policy: Policy::build(&age_marker::Config::default()),
            logarithm: Logarithm::default(),
            limit_bits: 0,
            rested: Vec::new(),
            erased_at: Vec::new(),
            erase_steps: Vec::new(),
            fresh_q8: Vec::new(),
            program: Vec::new(),
        }
    }
}

impl Ages {
    /// Of fresh blocks, whose times were measured when they were made.
    pub fn new(config: &age_marker::Config, chip: &mut Chip) -> Self {
        let mut policy = Policy::build(config);
        let (mut logarithm, mut limit_bits) = (Logarithm::default(), 0);
        if let Some(cells) = chip.cells() {
            policy.learn(cells);
            limit_bits = cells.hard_limit_bits();
            let full = cells.part().population.dwell_full_minutes;
            logarithm = Logarithm::new(crate::nand::aging::tables::TICKS_PER_MINUTE, full);
        }
        let blocks = if policy.acts() { chip.blocks() as usize } else { 0 };
        let mut ages = Ages {
            policy,
            logarithm,
            limit_bits,
            rested: vec![0; blocks],
            erased_at: vec![0; blocks],
            erase_steps: vec![0; blocks],
            fresh_q8: vec![0; blocks],
            program: vec![0; blocks],
        };
        for block in 0..blocks as u32 {
            if let Some(seen) = chip.telemetry(block) {
                ages.note_times(block, &seen);
            }
        }
        ages
    }

    /// Takes what follows from the configuration from fresh ages, and checks the rest.
    pub fn restored(&mut self, fresh: Ages) -> Verdict {
        alike("dwells of blocks", &self.rested, &fresh.rested)?;
        alike("last erases of blocks", &self.erased_at, &fresh.erased_at)?;
        alike("erase times of blocks", &self.erase_steps, &fresh.erase_steps)?;
        alike("fresh errors of blocks", &self.fresh_q8, &fresh.fresh_q8)?;
        alike("program times of blocks", &self.program, &fresh.program)?;
        (self.logarithm, self.limit_bits) = (fresh.logarithm, fresh.limit_bits);
        self.policy.restored(fresh.policy)
    }

    /// What the marker is off, see [`Policy::off_bits`].
    // tidy: allow(float): called when a drive is built
    pub fn off_bits(&self, chip: &Chip) -> Option<[f64; 2]> {
        chip.cells().and_then(|cells| self.policy.off_bits(cells))
    }

    /// Bytes of the tables.
    pub fn bytes(&self) -> usize {
        self.rested.len() * 14
    }

    /// Whether blocks have ages.
    #[inline]
    pub fn act(&self) -> bool {
        !self.rested.is_empty()
    }

    /// Age of a physical block of so many cycles, in 1/4096 of its life; 0 where nothing tells it.
    pub(crate) fn age_q12(&self, block: u32, cycles: u32) -> u32 {
        if self.act() { self.policy.age_q12(&self.seen(block, cycles)).min(u32::from(u16::MAX)) } else { 0 }
    }

    /// What the firmware knows of the wear of a block of so many cycles.
    pub(in crate::ftl) fn worn(&self, block: u32, cycles: u32) -> Worn {
        let left_q12 = LIFE.saturating_sub(self.age_q12(block, cycles));
        Worn { cycles, left_q8: (self.limit_bits * left_q12) >> 4 }
    }

    /// Whether the first page of a block is read for its errors.
    #[inline]
    pub(in crate::ftl) fn read_first_pages(&self) -> bool {
        self.act() && self.policy.reads_first_page()
    }

    /// What is seen of a block.
    fn seen(&self, block: u32, cycles: u32) -> Seen {
        let at = block as usize;
        Seen {
            cycles,
            erase_steps: u32::from(self.erase_steps[at]),
            fresh_q8: u32::from(self.fresh_q8[at]),
            program_ns: u32::from(self.program[at]) * 125 / 2,
            dwell_ln_q8: self.rested[at] / cycles.max(1),
        }
    }

    /// Errors of the first page.
    fn note_errors(&mut self, block: u32, seen: &Telemetry) {
        self.fresh_q8[block as usize] = seen.fresh_bits_q8.min(u32::from(u16::MAX)) as u16;
    }

    /// Times that every erase and program show.
    fn note_times(&mut self, block: u32, seen: &Telemetry) {
        self.erase_steps[block as usize] = seen.erase_steps.min(u32::from(u16::MAX)) as u16;
        self.program[block as usize] = (seen.program_ns * 2 / 125).min(u32::from(u16::MAX)) as u16;
    }

    /// A block was erased. Where no time passes its first page is not read: what that would show is noted now.
    fn on_erase(&mut self, chip: &mut Chip, block: u32, is_instant: bool) {
        let now = chip.ticks();
        let before = core::mem::replace(&mut self.erased_at[block as usize], now);
        if let Some(seen) = chip.telemetry(block) {
            let rested = &mut self.rested[block as usize];
            *rested = rested.saturating_add(self.logarithm.of_ticks(now.saturating_sub(before)));
            self.note_times(block, &seen);
            if is_instant {
                self.note_errors(block, &seen);
            }
        }
    }

    /// A block's first page was read.
    pub(in crate::ftl) fn on_first_page(&mut self, chip: &mut Chip, block: u32) {
        if let Some(seen) = chip.telemetry(block) {
            self.note_errors(block, &seen);
        }
    }

    /// A block went through cycles in bulk, each with a dwell of so many ticks (at the reference, 1 minute); `before`
    /// them it had seen so many.
    pub(crate) fn on_cycles(&mut self, chip: &mut Chip, block: u32, before: u32, ticks: Option<u32>) {
        let cycles = chip.erase_count(block);
        let each = ticks.map_or(0, |ticks| self.logarithm.of_ticks(ticks));
        let rested = &mut self.rested[block as usize];
        *rested = if cycles < before { 0 } else { rested.saturating_add(each * (cycles - before)) };
        self.erased_at[block as usize] = chip.ticks();
        if let Some(seen) = chip.telemetry(block) {
            self.note_times(block, &seen);
            self.note_errors(block, &seen);
        }
    }

    /// The age of a block is that of its oldest member; the flash is told that of each.
    pub(in crate::ftl) fn update_age(
        &mut self,
        tables: &mut Tables,
        work: &mut Work,
        flash: &mut Flash,
        block: BlockId,
    ) {
        if !self.act() {
            return;
        }
        let mut age = 0;
        for k in 0..tables.layout.span {
            let physical = tables.layout.member(block, k).block;
            let own = self.age_q12(physical, flash.chip.erase_count(physical));
            flash.note_age(physical, own);
            age = age.max(own);
        }
        tables.blocks.set_wear_q12(block, age as u16);
        work.counts.age_q12_max = work.counts.age_q12_max.max(age);
    }

    /// The flash is told the ages of all blocks.
    pub(crate) fn tell_ages(&self, flash: &mut Flash) {
        for physical in 0..flash.chip.blocks() {
            flash.note_age(physical, self.age_now_q12(&flash.chip, physical));
        }
    }

    /// A member of a block was erased.
    pub(in crate::ftl) fn note_erase(
        &mut self,
        tables: &mut Tables,
        work: &mut Work,
        flash: &mut Flash,
        block: BlockId,
        physical: u32,
    ) {
        if self.act() {
            let is_instant = flash.is_instant();
            self.on_erase(&mut flash.chip, physical, is_instant);
            self.update_age(tables, work, flash, block);
        }
    }

    /// Operations that ask for the errors of first pages, all in flight at once at most.
    pub(in crate::ftl) fn age_checks_at_most(&self) -> usize {
        if self.read_first_pages() { self.rested.len() } else { 0 }
    }

    /// A physical block went through cycles in bulk, each with a dwell of so many ticks; before them it had seen so
    /// many.
    pub(crate) fn note_cycles(&mut self, chip: &mut Chip, (block, before): (u32, u32), ticks: Option<u32>) {
        if self.act() {
            self.on_cycles(chip, block, before, ticks);
        }
    }

    /// Age of a physical block, in 1/4096 of its life, as `ftl.age_marker` tells it; 0 where it does not.
    pub(crate) fn age_now_q12(&self, chip: &Chip, physical: u32) -> u32 {
        self.age_q12(physical, chip.erase_count(physical))
    }
}

impl Ages {
    /// Whether a block has its life behind it.
    pub(in crate::ftl) fn is_dead(&self, blocks: &Blocks, block: BlockId) -> bool {
        u32::from(blocks.wear_q12(block)) >= LIFE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_of_dwells() {
        let ln = Logarithm::new(16, 180.0);
        for (minutes, wanted) in
            [(0.0, 0.0), (1.0, 0.0), (5.0, 1.609), (30.0, 3.401), (180.0, 5.193), (1e6, 5.193)]
        {
            let found = f64::from(ln.of_ticks((minutes * 16.0) as u32)) / 256.0;
            assert!((found - wanted).abs() < 0.006, "{minutes} {found}");
        }
    }
}
