//! Finer sensing, and what retries, copies without correction and modes of HIRE come to (calibration sections 3 to 5).

use super::Fitted::{No, Partly, Yes};
use super::finding::{Findings, Rule};
use crate::characterize::population::{Population, extremes, mean, quantile};
use ssd::config::ConfigErrors;
use ssd::nand::cell::{Block, CellModel, CellPart, CellState, Damage};

/// Random noise of a read among the errors of a copy, in bits (calibration section 5, fitted).
const COPY_NOISE_BITS: f64 = 1.5;
/// Most copies in a row (calibration section 5).
const MOST_COPIES: f64 = 5.0;

pub(super) fn tlc(
    model: &CellModel,
    population: &Population<'_>,
    to: &mut Findings,
) -> Result<(), ConfigErrors> {
    let mut part: CellPart = model.part().clone();
    part.retry.bits_per_step = 4.0;
    let retries = f64::from(CellModel::new(part)?.retries_by_index(40.0, 20.0));
    to.add(
        "retries, 20 bits off at 4 bits a step",
        "RealWear section 6.2.2",
        (5.0, retries),
        Rule::Exact,
        No,
    );
    let by_cycles = |kcycles: f64| {
        let bits =
            population.n12(kcycles).into_iter().filter(|n12| *n12 < f64::from(model.hard_limit_bits()));
        bits.map(|n12| f64::from(1 + model.retries_by_cycles(n12, kcycles))).collect::<Vec<f64>>()
    };
    let most = (1..=12).map(|kcycles| extremes(&by_cycles(f64::from(kcycles))).1).fold(0.0, f64::max);
    let source = "RealWear Fig. 22";
    to.add("longest read over one attempt, table by cycles", source, (9.0, most), Rule::Exact, Partly);
    let rule = Rule::None("the blocks' age is not told");
    to.add("mean read over one attempt, table by cycles, 7K", source, (7.0, mean(&by_cycles(7.0))), rule, No);
    let by_age = f64::from(1 + model.retries_by_index(45.0, 38.0));
    to.add("longest read over one attempt, table by age", source, (3.0, by_age), Rule::AtMost, No);
    copies(model, population, to);
    Ok(())
}

/// Copies within the chip, one after the other, before errors pass what the code corrects.
fn copies_in_a_row(model: &CellModel, n12: f64, fresh: f64) -> f64 {
    let limit = f64::from(model.hard_limit_bits());
    libm::floor((limit - n12) / (fresh + COPY_NOISE_BITS)).clamp(0.0, MOST_COPIES)
}

fn copies(model: &CellModel, population: &Population<'_>, to: &mut Findings) {
    let limit = f64::from(model.hard_limit_bits());
    // Copies of every block that can be of that age: N12 over what is corrected.
    let of_age = |age: f64| -> Vec<f64> {
        let lasting =
            |block: &Block| (age * limit - model.n12_unworn(block.quality)) / model.n12_growth(block.quality);
        let aged = population.blocks().iter().filter(|block| lasting(block) >= 0.0);
        aged.map(|block| {
            let damage = Damage { lasting: lasting(block), done: lasting(block) };
            copies_in_a_row(model, age * limit, model.fresh_bits(block, &damage))
        })
        .collect()
    };
    let source = "RealWear Fig. 24";
    let most = (2..=9).map(|tenth| extremes(&of_age(0.1 * f64::from(tenth))).1).fold(0.0, f64::max);
    to.add("copies in a row by age, most", source, (5.0, most), Rule::Exact, Partly);
    // In the figure's boxes: from the first to the third quartile.
    let is_mixed = |tenth: &u32| {
        let copies = of_age(0.1 * f64::from(*tenth));
        quantile(&copies, 0.25) < quantile(&copies, 0.75)
    };
    let mixed: Vec<f64> = (2..=9).filter(is_mixed).map(|tenth| 0.1 * f64::from(tenth)).collect();
    let (first, last) = extremes(&mixed);
    let quantity = "youngest age of blocks that differ in copies, of 0.2 to 0.9";
    to.add(quantity, source, (0.4, first), Rule::Exact, No);
    let quantity = "oldest age of blocks that differ in copies, of 0.2 to 0.9";
    to.add(quantity, source, (0.5, last), Rule::Exact, No);
    // By cycles, the worst block decides.
    let by_cycles = |kcycles: f64| {
        let of_block = population.after(kcycles, |model, block, damage| {
            copies_in_a_row(model, model.n12(block.quality, damage.lasting), model.fresh_bits(block, damage))
        });
        extremes(&of_block).0
    };
    let most = (1..=8).map(|kcycles| by_cycles(f64::from(kcycles))).fold(0.0, f64::max);
    to.add("copies in a row by cycles, most, 1K to 8K", source, (3.0, most), Rule::AtMost, No);
    let old = by_cycles(7.0);
    to.add("copies in a row by cycles, old blocks, 7K", "RealWear Fig. 25", (0.0, old), Rule::Exact, No);
}

/// A program mode of HIRE as its table I states it.
struct Mode {
    name: &'static str,
    means: [f64; 4],
    step: f64,
    sense: f64,
    transfer: f64,
    wear: f64,
}

/// HIRE table I, in the order of the part's modes.
const MODES: [Mode; 3] = [
    Mode {
        name: "base",
        means: [1.17, 2.37, 2.96, 3.54],
        step: 0.25,
        sense: 90.0,
        transfer: 80.0,
        wear: 1.0,
    },
    Mode {
        name: "boosted",
        means: [1.40, 2.85, 3.55, 4.25],
        step: 0.30,
        sense: 30.0,
        transfer: 40.0,
        wear: 1.2,
    },
    Mode {
        name: "reduced",
        means: [0.93, 1.90, 2.37, 2.83],
        step: 0.20,
        sense: 210.0,
        transfer: 100.0,
        wear: 0.8,
    },
];

pub(super) fn hire(model: &CellModel, to: &mut Findings) {
    let source = "HIRE Table I";
    let block = Block { quality: 0.5, erase_offset: 0.0, fresh_offset: 0.0, program_offset: 0.0 };
    let (mut reads, mut wears) = ([0.0; 3], [0.0; 3]);
    for (mode, Mode { name, means, step, sense, transfer, wear }) in MODES.into_iter().enumerate() {
        // What a controller does: sense more finely until the page can be corrected.
        let cells = model.distribution(&CellState { mode, ..CellState::default() });
        let references = model.default_references(mode);
        let pages = (0..model.page_types()).map(|page| model.page_rber(&cells, page, references));
        let rber = mean(&pages.collect::<Vec<_>>());
        let levels = model.levels_needed(rber).map_or(0, |levels| levels * (model.states() as u32 - 1));
        let (sensing, moving) = (model.sense_us(levels), model.transfer_us(levels));
        reads[mode] = sensing + moving;
        let quantity = format!("read of a page programmed in the {name} mode (us)");
        to.add(&quantity, source, (sense + transfer, reads[mode]), Rule::Exact, Partly);
        to.add(&format!("its sensing, {name} (us)"), source, (sense, sensing), Rule::Exact, Partly);
        to.add(&format!("its transfer, {name} (us)"), source, (transfer, moving), Rule::Exact, Partly);
        let used = if mode == 0 { Yes } else { No };
        for (state, claimed) in means.into_iter().enumerate() {
            let quantity = format!("mean voltage of state {state}, {name} mode (V)");
            to.add(&quantity, source, (claimed, cells.mean[state]), Rule::Printed, used);
        }
        let modes = &model.part().modes;
        let steps = model.part().states.program_step_v * modes.voltage_scale[mode];
        to.add(&format!("program step, {name} mode (V)"), source, (step, steps), Rule::Rounded, used);
        if mode > 0 {
            let program = |mode: usize| model.program_us(&block, &Damage::default(), mode);
            let quantity = format!("program time of the {name} mode over the base mode");
            to.add(&quantity, "HIRE Fig. 5", (1.0, program(mode) / program(0)), Rule::Exact, Partly);
        }
        let mut damage = Damage::default();
        damage.cycle(model, 1.0, 1.0, 30.0, mode);
        wears[mode] = damage.lasting;
        let quantity = format!("wear of a cycle in the {name} mode");
        to.add(&quantity, "HIRE section IV", (wear, damage.lasting), Rule::Rounded, Yes);
    }
    let less = |of: [f64; 3], mode: usize| 100.0 * (1.0 - of[mode] / of[0]);
    let quantity = "read time saved where all pages are boosted: above the best trace's (%)";
    to.add(quantity, "HIRE Fig. 3", (58.59, less(reads, 1)), Rule::AtLeast, No);
    let quantity = "wear saved where all programs are reduced: above the best trace's (%)";
    to.add(quantity, "HIRE Fig. 4", (19.99, less(wears, 2)), Rule::AtLeast, No);
}
