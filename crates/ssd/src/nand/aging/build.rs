//! From a drive's configuration to the integer tables that its chips age by: `nand::aging::tables`.

use super::tables::{
    CYCLE, Dwell, ERC_SHIFT, Endurance, Errors, Limit, MOST_CYCLES, MOST_DWELL_TICKS, MOST_MINUTES, Mode,
    OpenInterval, Place, Rest, Seen, Soft, TICKS_PER_MINUTE, Tables, Traits,
};
use crate::config::ConfigErrors;
use crate::memo::Memo;
use crate::nand::cell::still::StillTable;
use crate::nand::cell::table::{CellTable, ReadOdds, ReferenceSet, TablePlan};
use crate::nand::cell::wear::{Block, LONGEST_REST_MINUTES, MEAN_QUALITY};
use crate::nand::cell::{CellModel, CellPart, Group, VirtualChips};
use crate::nand::order::PageOrder;
use crate::sections::cell::{CodeKind, DwellLaw, Markers};
use crate::sections::{ArrayTimes, DisturbCounters, DisturbLaw, ErrorModel, Sections, SectorErrors};
use std::sync::Arc;

/// Parts of a step of the retry table.
const PARTS: u32 = super::PARTS as u32;

/// Nanoseconds of a minute.
const MINUTE_NS: f64 = 60e9;

/// Rounds to the nearest multiple of 2^-bits and counts in those; what does not fit is cut off.
fn fixed(value: f64, bits: i32) -> f64 {
    libm::round(libm::scalbn(value, bits))
}

/// What chips are used for, beside reads with the entries of the retry table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// Reads with voltages between those entries ([`super::Sequence`]).
    pub between: bool,
    /// Blocks of one bit a cell (`nand.slc`).
    pub one_bit: bool,
}

/// What a drive's chips age by, for a configuration that is checked. `None` where cells make no errors.
pub(crate) fn tables(cfg: &Sections, uses: Uses) -> Result<Option<Tables>, ConfigErrors> {
    if cfg.errors.model == ErrorModel::None {
        return Ok(None);
    }
    let model = CellModel::new(cfg.cells.clone())?;
    let (errors, part) = (&cfg.errors, model.part());
    let unit = counter_unit(&model);
    let cells = Cells { model: &model, cycles: 1.0, between: uses.between };
    let one_bit = if uses.one_bit { Some((one_bit_model(cfg)?, 1.0 / cfg.slc.wear)) } else { None };
    let (mut errors_of, of_mode) = made(&cells, errors.disturb_law);
    let drawn = errors.sectors == SectorErrors::Drawn;
    let most = Arc::new(endurance(&cells, unit));
    let modes = of_mode.iter().enumerate();
    let mut modes: Vec<Mode> =
        modes.map(|(mode, &table)| self::mode(cfg, &model, (unit, &most), mode, table)).collect();
    let mut places = places(cfg, &model);
    let pages = places.len() as u32;
    let one_bit_mode = uses.one_bit.then_some(modes.len() as u8);
    if let Some((own, cycles)) = &one_bit {
        let cells = Cells { model: own, cycles: *cycles, between: false };
        let most = Arc::new(endurance(&cells, unit));
        let mode = self::mode(cfg, own, (unit, &most), 0, errors_of.len());
        errors_of.extend(made(&cells, errors.disturb_law).0);
        modes.push(Mode { places: pages, wear: libm::round(cfg.slc.wear * CYCLE as f64) as u64, ..mode });
        places.extend(one_bit_places(cfg, &model));
    }
    let rate = model.arrhenius(part.retention.reference_c, errors.temperature_c)
        * f64::from(TICKS_PER_MINUTE)
        / MINUTE_NS;
    Ok(Some(Tables {
        places,
        pages,
        wordlines: cfg.geometry.wordlines_per_block,
        errors: errors_of,
        carried_unit_q8: carried_unit_q8(&modes),
        modes,
        entries: part.retry.entries as u8 + 1,
        parts: uses.between,
        tracking: errors.tracking_reads,
        drawn,
        by_wordline: errors.disturb_counters == DisturbCounters::Wordline,
        worn_times: errors.array_times == ArrayTimes::Worn,
        unit,
        one_bit: one_bit_mode,
        dwell_q16: dwell(&model),
        rest: rest(&model),
        ticks_q64: fixed(rate, 64) as u64,
        suspended_q12: suspends(&model).map(|factor| fixed(factor, 12) as u32).collect(),
        suspend_wear: suspends(&model)
            .map(|factor| fixed(model.part().effects.suspend_wear * (factor - 1.0), 20) as u64)
            .collect(),
        open: if errors.open_interval { open_interval(&model) } else { OpenInterval::default() },
        seen: seen(&model),
        traits: traits(cfg, &model),
        model,
    }))
}

/// Units that a read of the worst page type in the normal mode counts, so that the weights of all page types and modes
/// are whole numbers of them, or as nearly as possible; and so few that 32 bits hold four times the highest ERC_MAX.
fn counter_unit(model: &CellModel) -> u32 {
    let modes = model.part().modes.wear.len();
    let pages = model.page_types();
    let weights: Vec<f64> =
        (0..modes * pages).map(|at| model.read_weight(at % pages, at / pages)).filter(|w| *w > 0.0).collect();
    let highest = model.erc_max(Group::Best, 0.0);
    let most = (libm::floor(f64::from(1 << 30) / highest) as u32).clamp(1, 4_096);
    let off = |unit: u32| {
        let off = |w: &f64| (libm::round(w * f64::from(unit)) / (w * f64::from(unit)) - 1.0).abs();
        weights.iter().map(off).fold(0.0, f64::max)
    };
    // Of units that are as good (to rounding) the coarsest.
    let quantised = |unit: u32| libm::round(off(unit) * 1e9) as u64;
    (1..=most).min_by_key(|&unit| quantised(unit)).unwrap_or(1)
}

/// Cells whose errors become tables.
struct Cells<'a> {
    model: &'a CellModel,
    /// Cycles of them that do as much to a block as one of the drive's own part.
    cycles: f64,
    /// Whether they are read with voltages between the entries of the retry table.
    between: bool,
}

/// The cells of a block of one bit a cell: those of its part, read with as many entries of the retry table as others.
pub(crate) fn one_bit_model(cfg: &Sections) -> Result<CellModel, ConfigErrors> {
    let mut part = CellPart::preset(cfg.slc.part.name())?;
    part.retry.entries = cfg.cells.retry.entries;
    let endurance = part.disturb.erc_max.iter_mut().chain([&mut part.disturb.top_erc]);
    endurance.for_each(|reads| *reads *= cfg.slc.read_endurance);
    CellModel::new(part)
}

/// All that tables of errors are made of.
#[derive(Clone, PartialEq)]
struct Ground {
    /// With the limits and markers of none in particular: how much wordlines endure, and what the firmware sees, says
    /// how far along the tables a block is.
    part: CellPart,
    law: DisturbLaw,
    between: bool,
    cycles: f64,
}

impl Ground {
    fn of(cells: &Cells, law: DisturbLaw) -> Self {
        let mut part = cells.model.part().clone();
        part.markers = Markers::default();
        part.disturb.erc_max.fill(1.0);
        (part.disturb.top_erc, part.disturb.max_reads) = (1.0, 1);
        Ground { part, law, between: cells.between, cycles: cells.cycles }
    }

    fn made(&self) -> Made {
        let model = CellModel::new(self.part.clone()).expect("a part that was checked with other limits");
        error_tables(&Cells { model: &model, cycles: self.cycles, between: self.between }, self.law)
    }
}

/// Tables of errors, and which of them each program mode uses: modes of the same voltages share one.
type Made = (Vec<Arc<Errors>>, Vec<usize>);

/// Those that were used last: 64 MB of them. One takes 1 to 20 MB, and up to seconds to make.
static MADE: Memo<Ground, Made> =
    Memo::new(64_000_000, |(tables, _)| tables.iter().map(|of| of.bytes()).sum());

/// The tables of errors of a part.
fn made(cells: &Cells, law: DisturbLaw) -> Made {
    MADE.get(Ground::of(cells, law), Ground::made)
}

fn error_tables(cells: &Cells, law: DisturbLaw) -> Made {
    let &Cells { model, cycles, between } = cells;
    let scales = &model.part().modes.voltage_scale;
    let (mut tables, mut of_mode) = (Vec::new(), Vec::new());
    for (mode, scale) in scales.iter().enumerate() {
        if let Some(same) = scales[..mode].iter().position(|earlier| earlier == scale) {
            of_mode.push(of_mode[same]);
            continue;
        }
        let entries = (0..=model.part().retry.entries).map(ReferenceSet::Entry);
        let places = (0..model.part().retry.entries * PARTS).filter(|at| between && at % PARTS != 0);
        let plan = TablePlan {
            heights: Group::ALL.map(|group| model.height_of(group)).to_vec(),
            sets: entries.chain([ReferenceSet::Optimal]).chain(places.map(ReferenceSet::Quarters)).collect(),
            most_cycles: MOST_CYCLES,
            most_minutes: MOST_MINUTES,
            cycles,
            mode,
            warmer_c: 0.0,
            apart: between && law == DisturbLaw::Voltage,
        };
        of_mode.push(tables.len());
        tables.push(Arc::new(match law {
            DisturbLaw::Linear => Errors::Still(StillTable::new(model, &plan)),
            DisturbLaw::Voltage => Errors::Moved(CellTable::new(model, &plan)),
        }));
    }
    (tables, of_mode)
}

/// The finest power of two of which a byte counts more than is corrected in any mode, with however many levels.
fn carried_unit_q8(modes: &[Mode]) -> u32 {
    let limits = modes.iter().flat_map(|mode| mode.soft.iter().map(|soft| &soft.limit).chain([&mode.own]));
    let most_q8 = limits.map(|limit| limit.bits_q8).max().unwrap_or(0);
    (most_q8 / u32::from(u8::MAX) + 1).next_power_of_two()
}

/// Errors corrected in a sector with so many levels at each threshold.
fn limit(cfg: &Sections, model: &CellModel, levels: u32) -> Limit {
    let bits = model.limit_bits(levels);
    let sectors = (cfg.geometry.page_bytes / model.part().ecc.sector_bytes).max(1);
    let odds = match cfg.errors.sectors {
        SectorErrors::Drawn => ReadOdds::new(bits, model.bits_in_sector(), sectors),
        SectorErrors::Worst => ReadOdds::default(),
    };
    Limit { bits_q8: bits << 8, odds }
}

fn mode(
    cfg: &Sections,
    model: &CellModel,
    (unit, endurance): (u32, &Arc<Endurance>),
    mode: usize,
    errors: usize,
) -> Mode {
    let (ecc, modes) = (&model.part().ecc, &model.part().modes);
    let own = modes.levels[mode];
    let soft_code = ecc.code == CodeKind::Ldpc && cfg.errors.tracking_reads > 0;
    let steps = ecc.level_steps.iter().enumerate().filter(|(_, levels)| soft_code && **levels > own);
    let steps: Vec<(usize, f64)> = steps.map(|(step, &levels)| (step, levels)).collect();
    let entries = model.part().retry.entries + 1;
    let mut readings: Vec<u32> = (0..=entries).collect();
    let mut more = |count: u32| readings.push(readings[readings.len() - 1] + count);
    if cfg.errors.tracking_reads > 0 {
        more(cfg.errors.tracking_reads);
    }
    for (_, levels) in &steps {
        more(libm::ceil(levels / own) as u32);
    }
    let weights = read_weights(model, unit, mode);
    let even: u32 = weights[..model.page_types()].iter().sum();
    Mode {
        places: 0,
        endurance: Arc::clone(endurance),
        noise_q8: fixed(model.part().effects.rtn_bits, 8) as i32,
        errors,
        own: limit(cfg, model, own as u32),
        soft: steps
            .iter()
            .map(|(step, levels)| Soft { step: *step as u8, limit: limit(cfg, model, *levels as u32) })
            .collect(),
        weights,
        even_weight_q16: fixed(f64::from(even) / model.page_types() as f64, 16) as u64,
        readings,
        wear: libm::round(modes.wear[mode] * CYCLE as f64) as u64,
        program_q16: fixed(modes.program_time[mode], 16) as u32,
    }
}

/// Group of each wordline: they are sorted by distance from the middle of the block, and the groups take their shares
/// from the best (middle) to the worst (edges).
pub(crate) fn groups(model: &CellModel, wordlines: u32) -> Vec<u8> {
    let mut order: Vec<u32> = (0..wordlines).collect();
    order.sort_by_key(|&wordline| ((2 * wordline).abs_diff(wordlines - 1), wordline));
    let mut groups = vec![Group::Worst as u8; wordlines as usize];
    let (mut share, mut begin) = (0.0, 0);
    for group in Group::ALL {
        share += model.group_share(group);
        let end = (libm::round(share * f64::from(wordlines)) as usize).min(wordlines as usize);
        for &wordline in &order[begin..end.max(begin)] {
            groups[wordline as usize] = group as u8;
        }
        begin = end.max(begin);
    }
    groups
}

fn places(cfg: &Sections, model: &CellModel) -> Vec<Place> {
    let groups = groups(model, cfg.geometry.wordlines_per_block);
    let order = PageOrder::of(cfg);
    let pages = (0..order.pages()).map(|page| order.place(page));
    pages.map(|at| Place::new(at.wordline, at.page_type, groups[at.wordline as usize])).collect()
}

/// The places of a block of one bit a cell: a page on each wordline.
fn one_bit_places(cfg: &Sections, model: &CellModel) -> impl Iterator<Item = Place> {
    let groups = groups(model, cfg.geometry.wordlines_per_block);
    (0..).zip(groups).map(|(wordline, group)| Place::new(wordline, 0, group))
}

fn endurance(cells: &Cells, unit: u32) -> Endurance {
    let &Cells { model, cycles, .. } = cells;
    let d = &model.part().disturb;
    let unworn = |group: usize| d.adjacent[group] - d.adjacent_per_kcycle * d.reference_kcycles;
    let points = 0..=(MOST_CYCLES >> ERC_SHIFT);
    let most = points.map(|point| {
        let kcycles = f64::from(point << ERC_SHIFT) * cycles / 1000.0;
        Group::ALL.map(|group| libm::round(model.erc_max(group, kcycles) * f64::from(unit)).max(1.0) as u64)
    });
    Endurance {
        adjacent_q16: core::array::from_fn(|group| fixed(unworn(group), 16) as i64),
        gain_q32: fixed(d.adjacent_per_kcycle * cycles / 1000.0, 32) as i64,
        most: most.collect(),
    }
}

/// What the chips go by when reads disturb: units of their counters, harm of a read in them by mode and page type, and
/// what wordlines endure.
pub(crate) fn disturb_truth(model: &CellModel) -> (u32, Vec<[u32; 4]>, Endurance) {
    let unit = counter_unit(model);
    let modes = 0..model.part().modes.wear.len();
    let cells = Cells { model, cycles: 1.0, between: false };
    (unit, modes.map(|mode| read_weights(model, unit, mode)).collect(), endurance(&cells, unit))
}

/// Harm of a reading of each page type in a mode, in units of the read counters.
fn read_weights(model: &CellModel, unit: u32, mode: usize) -> [u32; 4] {
    let mut weights = [0; 4];
    for (page, weight) in weights.iter_mut().enumerate().take(model.page_types()) {
        *weight = libm::round(model.read_weight(page, mode) * f64::from(unit)) as u32;
    }
    weights
}

/// Share of a cycle's wear that lasts, by ticks of the clock: minutes at the reference temperature.
fn dwell(model: &CellModel) -> Vec<u32> {
    let (p, reference_c) = (&model.part().population, model.part().retention.reference_c);
    let most = match p.dwell {
        DwellLaw::Log => libm::ceil(p.dwell_full_minutes * f64::from(TICKS_PER_MINUTE)) as u32,
        DwellLaw::Logistic => MOST_DWELL_TICKS,
    };
    let minutes = |ticks: u32| f64::from(ticks) / f64::from(TICKS_PER_MINUTE);
    (0..=most).map(|ticks| fixed(model.dwell_factor(minutes(ticks), reference_c), 16) as u32).collect()
}

/// What a dwell of so many minutes at the reference temperature leaves, without a table.
pub(crate) fn dwell_of(model: &CellModel, minutes: f64) -> Dwell {
    let reference_c = model.part().retention.reference_c;
    Dwell {
        lasting_q16: fixed(model.dwell_factor(minutes, reference_c), 16) as u32,
        rest_q16: fixed(model.rest_share(minutes, reference_c), 16) as u32,
    }
}

/// What long dwells take away of wear that had lasted, up to where they take no more.
fn rest(model: &CellModel) -> Rest {
    let (p, reference_c) = (&model.part().population, model.part().retention.reference_c);
    let floor_q16 = fixed(model.fully_rested(), 16) as u32;
    let minutes = |step: u32| Rest::ticks_of(step) as f64 / f64::from(TICKS_PER_MINUTE);
    let most = |step: &u32| minutes(*step) <= p.dwell_full_minutes.max(LONGEST_REST_MINUTES) * 1.05;
    let steps = (0..).take_while(most).filter(|_| p.rest_recovery > 0.0);
    let shares_q16 = steps.map(|step| fixed(model.rest_share(minutes(step), reference_c), 16) as u32);
    Rest { floor_q16, shares_q16: shares_q16.collect() }
}

fn seen(model: &CellModel) -> Seen {
    let (o, p) = (&model.part().observables, &model.part().population);
    let average = Block { quality: MEAN_QUALITY, erase_offset: 0.0, fresh_offset: 0.0, program_offset: 0.0 };
    let unworn = Default::default();
    let falling = (0..=24 * 256).map(|i| fixed(libm::exp(-f64::from(i) / 256.0), 24) as u32);
    Seen {
        done_share_q16: fixed(p.unrecovered, 16) as u32,
        erase_base_q16: fixed(o.erase_base, 16) as i64,
        erase_per_bit_q24: fixed(o.erase_per_bit, 24) as i64,
        erase_fine: i64::from(o.erase_fine),
        fresh_base_q16: fixed(o.fresh_base - o.fresh_per_bit * p.mean_n12, 16) as i64,
        fresh_per_bit_q24: fixed(o.fresh_per_bit, 24) as i64,
        program_ns: libm::round(o.program_us * 1e3) as i64,
        early_ns: libm::round(o.program_early_us * 1e3) as i64,
        early_per_bit_q32: fixed(1.0 / o.program_early_bits, 32) as u64,
        late_ns_per_bit_q16: fixed(o.program_late_us * 1e3 / o.program_late_bits, 16) as i64,
        program_share_q16: fixed(o.program_share, 16) as i64,
        program_n12_q16: fixed(model.n12_unworn(o.program_quality), 16) as i64,
        falling_exp: falling.collect(),
        nominal_program_ns: libm::round(model.program_us(&average, &unworn, 0) * 1e3) as u32,
        nominal_pulses: model.erase_pulses(&average, &unworn),
    }
}

/// Factor on errors by suspends at once of an erase.
fn suspends(model: &CellModel) -> impl Iterator<Item = f64> {
    (0..=u32::from(u8::MAX)).map(|count| model.suspend_factor(count))
}

/// The factor in 256 steps, from 1 to its most, each where it is nearest.
fn open_interval(model: &CellModel) -> OpenInterval {
    let e = &model.part().effects;
    let full = libm::log1p(e.open_full_minutes / e.open_onset_minutes);
    let last = f64::from(u8::MAX);
    let minutes = |share: f64| e.open_onset_minutes * libm::expm1(share * full);
    let ticks = |share: f64| libm::floor(minutes(share) * f64::from(TICKS_PER_MINUTE)) as u32;
    let steps = || (0..=u8::MAX).map(f64::from);
    OpenInterval {
        until: steps().map(|step| ticks((step + 0.5) / last)).collect(),
        factor_q12: steps().map(|step| fixed(1.0 + e.open_share * step / last, 12) as u32).collect(),
    }
}

fn traits(cfg: &Sections, model: &CellModel) -> Vec<Traits> {
    let p = &model.part().population;
    let o = &model.part().observables;
    let of_block = |block: &Block| {
        let (n12, growth) = (model.n12_unworn(block.quality), model.n12_growth(block.quality));
        let early = o.program_share * (n12 - model.n12_unworn(o.program_quality)) / o.program_early_bits;
        Traits {
            born_q4: fixed((n12 - p.mean_n12) / p.mean_growth * 1e3, 4) as i32,
            growth_q16: fixed(growth / p.mean_growth, 16) as u32,
            n12_q16: fixed(n12, 16) as i32,
            n12_growth_q32: fixed(growth / 1e3, 32) as u32,
            erase_q16: fixed(block.erase_offset, 16) as i32,
            fresh_q16: fixed(block.fresh_offset, 16) as i32,
            program_ns: libm::round(block.program_offset * 1e3) as i32,
            early_q24: fixed(libm::exp(-early), 24) as u32,
        }
    };
    if !cfg.errors.variation {
        let average =
            Block { quality: MEAN_QUALITY, erase_offset: 0.0, fresh_offset: 0.0, program_offset: 0.0 };
        return vec![of_block(&average)];
    }
    let g = &cfg.geometry;
    let chips = VirtualChips::new(model, cfg.drive.seed).tabulated();
    let of_chip = g.planes_per_die * g.dies_per_chip * g.blocks_per_plane;
    let blocks = g.planes() * g.blocks_per_plane;
    (0..blocks).map(|block| of_block(&chips.block(block / of_chip, block % of_chip))).collect()
}
