//! How worn is a block?
//!
//! An age is the share of its life that a block has behind it: 1 where its data would no longer be corrected after 12
//! months. Markers estimate the errors after 12 months (N12) from what the firmware sees of a block, and set them
//! against the errors that are corrected (RealWear section 3.2).
//!
//! The block age manager keeps what is seen: at each erase the time since the erase before and the time that the erase
//! took, and once the first page is programmed again its errors, by a read of their own (`age_check`). 14 bytes for
//! each physical block; the ages that follow take 2 for each of the firmware's (`Blocks::wear_q12`). A block whose life
//! is behind it is retired by the erase that shows it.
//!
//! A cycle of one bit a cell (`ftl.slc_cache`) counts as `nand.slc.wear` cycles, with as much of its dwell. What else
//! its erase and its first page show is of other cells than the markers were fitted on, and not looked at (assumed): a
//! block keeps what it showed when it was last used with all bits.

use super::{Measured, Shown, Technique, Tells, TellsAges};
use crate::config::member::Misfit;
use crate::ftl::tables::Tables;
use crate::ftl::tables::layout::Layout;
pub use crate::ftl::tables::worn::LIFE;
use crate::ftl::tables::worn::Worn;
use crate::nand::Chip;
use crate::nand::aging::Telemetry;
use crate::nand::aging::tables::TICKS_PER_MINUTE;
use crate::nand::cell::CellModel;
use crate::restore::{Verdict, alike};
use crate::sections::{ErrorModel, Sections};
use crate::snapshot::raw;
use crate::units::BlockId;
use serde::{Deserialize, Serialize};

family! {
    /// How worn is a block?
    path "ftl/techniques/age_marker", default none;
    members {
        none: None,
        pe_cycles: PeCycles,
        pe_tprog: PeTprog,
        pe_tprog_ber: PeTprogBer,
        real_wear: RealWear,
    }
    methods {
        /// Told of the cells once, when the drive is built.
        fn learn(&mut self, cells: &CellModel) {}
        /// Whether blocks have ages.
        fn acts(&self) -> bool {
            true
        }
        /// Whether it goes by coefficients, which are fitted on cells.
        fn is_fitted(&self) -> bool {
            true
        }
        /// Whether the first page of a block is read once it is programmed, for its errors.
        fn reads_first_page(&self) -> bool {
            false
        }
        /// The least and the most that a block's N12 is less what its age says, in bits: what the fit was off, for all
        /// but one block in a thousand, and what is added to be on the safe side. `None` where that is not known.
        // tidy: allow(float): called when a drive is built
        fn off_bits(&self, cells: &CellModel) -> Option<[f64; 2]> {
            None
        }
        /// Age of a block, in 1/4096 of its life.
        fn age_q12(&self, seen: &Seen) -> u32;
    }
}

/// What the firmware has seen of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Program/erase cycles.
    pub cycles: u32,
    /// Time of its last erase, in fine steps.
    pub erase_steps: u32,
    /// Errors of its first page when that was read last, in 1/256 bit.
    pub fresh_q8: u32,
    /// Program time of a page, in ns.
    pub program_ns: u32,
    /// Mean logarithm of its dwells, each of 1 minute at least and full recovery at most, in 1/256.
    pub dwell_ln_q8: u32,
}

/// An estimate of N12 over what is corrected: a constant and factors, in 1/2^32 of 1/4096 of a life.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Estimate {
    constant: i64,
    factors: [i64; 4],
}

impl Estimate {
    /// From bits, and bits for each of what is seen.
    // tidy: allow(float): called when a drive is built
    fn new(cells: &CellModel, constant: f64, factors: &[f64]) -> Self {
        let life = f64::from(LIFE) / f64::from(cells.hard_limit_bits()) * f64::from(1_u32 << 16) * 65_536.0;
        let fixed = |bits: f64| libm::round(bits * life) as i64;
        let factor = |at: usize| factors.get(at).map_or(0, |bits| fixed(*bits));
        Estimate { constant: fixed(constant), factors: core::array::from_fn(factor) }
    }

    /// The age of a block of which so much is seen.
    fn age_q12(&self, seen: [u32; 4]) -> u32 {
        let each = self.factors.iter().zip(seen).map(|(&factor, seen)| i128::from(factor) * i128::from(seen));
        let sum = i128::from(self.constant) + each.sum::<i128>();
        ((sum + (1 << 31)) >> 32).clamp(0, i128::from(u16::MAX)) as u32
    }
}

/// The ends of a list of what an estimate is off, less what is added to the estimate to be on the safe side.
// tidy: allow(float): called when a drive is built
fn ends(off: &[f64], safety: f64) -> Option<[f64; 2]> {
    Some([off.first()? - safety, off.last()? - safety])
}

/// What a marker goes by and a drive has not.
fn wrong_cells(config: &Config, cfg: &Sections) -> Option<Misfit> {
    if !Policy::build(config).is_fitted() {
        return None;
    }
    let (name, cells) = (config.name(), &cfg.cells);
    if cfg.errors.model == ErrorModel::None {
        return Some(Misfit {
            keys: &["ftl.age_marker.policy", "nand.errors.model"],
            found: format!("ages by \"{name}\" for cells that do not age"),
            allowed: "nand.errors.model = \"cells\", or ftl.age_marker.policy = \"none\" or \"pe_cycles\""
                .to_owned(),
        });
    }
    let m = &cells.markers;
    let lists = [&m.real_wear, &m.uncalibrated, &m.pe_tprog, &m.pe_tprog_ber];
    let (own, of) = (cells.fingerprint(), m.fitted_on);
    let whole = lists.iter().all(|list| !list.is_empty());
    (own != of || !whole).then(|| Misfit {
        keys: &["ftl.age_marker.policy", "cell.markers.fitted_on"],
        found: match whole {
            true => format!("\"{name}\" with coefficients fitted to the cells {of}, for the cells {own}"),
            false => format!("\"{name}\" without the coefficients of [cell.markers]"),
        },
        allowed: format!(
            "the markers of these cells (`wordline lab fit-markers`), with cell.markers.fitted_on = {own}; or \
             ftl.age_marker.policy = \"none\" or \"pe_cycles\""
        ),
    })
}

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

counters! {
    /// What is counted of blocks' ages.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct Counts of "ftl" {
        /// Retired blocks whose life was over by `ftl.age_marker`.
        age_retired: u64, "blocks", in "ftl.age.retired";
        /// First pages read for their errors, once they were programmed (`ftl.age_marker`).
        age_checks: u64, "reads", in "ftl.age.checks";
    }
}

/// All blocks' ages, by physical block; empty tables where nothing tells them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Ages {
    policy: Policy,
    logarithm: Logarithm,
    /// Errors of a sector that are corrected.
    limit_bits: u32,
    /// How much a cycle of one bit a cell wears, in 1/65536 of another.
    #[serde(skip)]
    one_bit_wear_q16: u32,
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

impl Ages {
    /// Age of a physical block of so many cycles, in 1/4096 of its life.
    fn age_q12(&self, block: u32, cycles: u32) -> u32 {
        self.policy.age_q12(&self.seen(block, cycles)).min(u32::from(u16::MAX))
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
    fn on_erase(&mut self, block: u32, (at_once, one_bit): (bool, bool), measured: &Measured<'_>) {
        let now = measured.chip.ticks();
        let before = core::mem::replace(&mut self.erased_at[block as usize], now);
        let Some(seen) = measured.seen else { return };
        let dwell = u64::from(self.logarithm.of_ticks(now.saturating_sub(before)));
        let share_q16 = if one_bit { self.one_bit_wear_q16 } else { 1 << 16 };
        let rested = &mut self.rested[block as usize];
        *rested = rested.saturating_add(((dwell * u64::from(share_q16)) >> 16) as u32);
        if !one_bit {
            self.note_times(block, &seen);
            if at_once {
                self.note_errors(block, &seen);
            }
        }
    }

    /// A block went through cycles in bulk, each with a dwell of so many ticks (at the reference, 1 minute); `before`
    /// them it had seen so many.
    fn on_cycles(&mut self, block: u32, (before, ticks): (u32, Option<u32>), measured: &Measured<'_>) {
        let cycles = measured.chip.erase_count(block);
        let each = ticks.map_or(0, |ticks| self.logarithm.of_ticks(ticks));
        let rested = &mut self.rested[block as usize];
        *rested = if cycles < before { 0 } else { rested.saturating_add(each * (cycles - before)) };
        self.erased_at[block as usize] = measured.chip.ticks();
        if let Some(seen) = measured.seen {
            self.note_times(block, &seen);
            self.note_errors(block, &seen);
        }
    }
}

impl Technique for Ages {
    type Config = Config;
    type Counts = Counts;

    fn acts(config: &Config) -> bool {
        Policy::build(config).acts()
    }

    // tidy: allow(float): called when a drive is built
    fn new(config: &Config, cfg: &Sections, _: &Layout) -> Self {
        Ages {
            policy: Policy::build(config),
            logarithm: Logarithm::default(),
            limit_bits: 0,
            one_bit_wear_q16: libm::round(cfg.slc.wear * 65_536.0) as u32,
            rested: Vec::new(),
            erased_at: Vec::new(),
            erase_steps: Vec::new(),
            fresh_q8: Vec::new(),
            program: Vec::new(),
        }
    }

    fn misfit(config: &Config, cfg: &Sections) -> Option<Misfit> {
        let looks = Policy::build(config).reads_first_page();
        let (is_wide, is_one_shot) = (cfg.pages_per_unit() > 1, cfg.pages_of_program() > 1);
        let one_shot = || Misfit {
            keys: &["ftl.age_marker.policy", "nand.cell.one_shot"],
            found: format!(
                "\"{}\", which reads the first page of each block once it is programmed, with wordlines of {} pages \
                 programmed at once",
                config.name(),
                cfg.pages_of_program()
            ),
            allowed: "ftl.age_marker.policy = \"pe_cycles\", or nand.cell.one_shot = false".to_owned(),
        };
        let wide = || Misfit {
            keys: &["ftl.age_marker.policy", "ftl.mapping.unit"],
            found: format!(
                "\"{}\", which reads the first page of each block, with units of {} pages",
                config.name(),
                cfg.pages_per_unit()
            ),
            allowed: "ftl.age_marker.policy = \"pe_cycles\", or ftl.mapping.unit = \"page\"".to_owned(),
        };
        let wrong = wrong_cells(config, cfg).or_else(|| (looks && is_wide).then(wide));
        wrong.or_else(|| (looks && is_one_shot).then(one_shot))
    }

    fn memory_bytes(config: &Config, cfg: &Sections) -> u64 {
        if Policy::build(config).acts() { cfg.geometry.blocks().saturating_mul(16) } else { 0 }
    }

    fn is_on(&self) -> bool {
        self.policy.acts()
    }

    /// Tables for all blocks, which are fresh.
    fn learn(&mut self, chip: &Chip) {
        if let Some(cells) = chip.cells() {
            self.policy.learn(cells);
            self.limit_bits = cells.hard_limit_bits();
            let full = cells.part().population.dwell_full_minutes;
            self.logarithm = Logarithm::new(TICKS_PER_MINUTE, full);
        }
        let blocks = if self.policy.acts() { chip.blocks() as usize } else { 0 };
        self.rested = vec![0; blocks];
        self.erased_at = vec![0; blocks];
        self.erase_steps = vec![0; blocks];
        self.fresh_q8 = vec![0; blocks];
        self.program = vec![0; blocks];
    }

    fn restored(&mut self, fresh: Self, _: &super::Seen<'_>) -> Verdict {
        alike("dwells of blocks", &self.rested, &fresh.rested)?;
        alike("last erases of blocks", &self.erased_at, &fresh.erased_at)?;
        alike("erase times of blocks", &self.erase_steps, &fresh.erase_steps)?;
        alike("fresh errors of blocks", &self.fresh_q8, &fresh.fresh_q8)?;
        alike("program times of blocks", &self.program, &fresh.program)?;
        (self.logarithm, self.limit_bits) = (fresh.logarithm, fresh.limit_bits);
        self.one_bit_wear_q16 = fresh.one_bit_wear_q16;
        self.policy.restored(fresh.policy)
    }

    fn bytes(&self) -> usize {
        self.rested.len() * 14
    }
}

impl TellsAges for Ages {
    fn tells_ages(config: &Config) -> Tells {
        let policy = Policy::build(config);
        Tells {
            ages: policy.acts(),
            errors: policy.acts() && policy.is_fitted(),
            key: "ftl.age_marker.policy",
            name: config.name(),
            better: "ftl.age_marker.policy = \"real_wear\"",
        }
    }

    fn shown(&mut self, block: u32, measured: &Measured<'_>, counts: &mut Counts) {
        match (measured.what, measured.seen) {
            (Shown::Erased { at_once, one_bit }, _) => self.on_erase(block, (at_once, one_bit), measured),
            (Shown::Cycled { before, ticks }, _) => self.on_cycles(block, (before, ticks), measured),
            (Shown::Made, Some(seen)) => self.note_times(block, &seen),
            (Shown::FirstPage, seen) => {
                counts.age_checks += 1;
                if let Some(seen) = seen {
                    self.note_errors(block, &seen);
                }
            }
            (Shown::Made, None) => {}
        }
    }

    fn worn(&self, block: u32, cycles: u32) -> Worn {
        let age_q12 = self.age_q12(block, cycles);
        Worn { cycles, age_q12, left_q8: (self.limit_bits * LIFE.saturating_sub(age_q12)) >> 4 }
    }

    /// A block that has its life behind it is retired.
    fn is_spent(&self, block: BlockId, tables: &Tables, counts: &mut Counts) -> bool {
        let is_dead = u32::from(tables.blocks.wear_q12(block)) >= LIFE;
        counts.age_retired += u64::from(is_dead);
        is_dead
    }

    fn reads_first_pages(&self) -> bool {
        self.policy.reads_first_page()
    }

    fn operations_at_most(&self) -> usize {
        if self.is_on() && self.policy.reads_first_page() { self.rested.len() } else { 0 }
    }

    // tidy: allow(float): called when a drive is built
    fn off_bits(&self, chip: &Chip) -> Option<[f64; 2]> {
        chip.cells().and_then(|cells| self.policy.off_bits(cells))
    }
}

#[cfg(test)]
pub(crate) mod tests;
