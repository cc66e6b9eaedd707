//! Reads that disturb, and reading through errors (calibration sections 2 and 3): each limit found by a search over
//! reads.

use super::Fitted::{No, Partly, Yes};
use super::finding::{Findings, Rule};
use super::voltage::best_bits;
use crate::characterize::population::{Population, mean};
use crate::characterize::reads::{
    BlockOfWordlines, Law, MONTH_HOURS, Pattern, Spread, Victim, WORDLINES, reads_until,
};
use ssd::nand::cell::disturb::{effective_reads, page_weights};
use ssd::nand::cell::{CellModel, CellState, Damage, Group};

/// Has a wordline of a group passed the code's limit after so many effective reads? By the linear law.
fn is_lost(model: &CellModel, endured: f64, kcycles: f64, effective: f64) -> bool {
    let state = CellState { wear_kcycles: kcycles, retention_hours: MONTH_HOURS, ..CellState::default() };
    let bits = model.disturbed_bits(best_bits(model, &state, 0), effective / endured);
    bits >= f64::from(model.hard_limit_bits()) - 1e-9
}

/// Reads of the neighbours of a group's wordline, and of all others, that it endures.
fn hammered(model: &CellModel, group: Group, kcycles: f64) -> (f64, f64) {
    let endured = model.erc_max(group, kcycles);
    let alpha = model.adjacent(group, kcycles);
    let lost = |effective: f64| is_lost(model, endured, kcycles, effective);
    (
        reads_until(|reads| lost(effective_reads(reads, reads, 0.0, alpha))),
        reads_until(|reads| lost(effective_reads(reads, 0.0, 0.0, alpha))),
    )
}

pub(super) fn tlc(model: &CellModel, population: &Population<'_>, to: &mut Findings) {
    patterns(model, to);
    neighbours(model, to);
    pass_voltage(model, to);
    page_types(model, ["LSB", "CSB", "MSB"], &[(0, 28.0), (2, 26.0)], to);
    program_times(model, population, to);
    let senses = |page: usize| model.code()[page].len() as f64;
    let longer = senses(1) / senses(0);
    to.add(
        "read of a CSB page over an LSB page, by thresholds",
        "redFTL Fig. 17",
        (1.5, longer),
        Rule::Exact,
        No,
    );
    let read = model.read_us(80.0, 0);
    to.add(
        "page read of 80 us with transfer and decoding (us)",
        "RealWear Eq. 2.2",
        (115.0, read),
        Rule::Printed,
        No,
    );
}

/// Reads in a pattern until a page is lost, by a counter for each wordline.
fn counted(block: &BlockOfWordlines, pattern: Pattern, victim: Victim) -> f64 {
    block.reads_until_lost(pattern, victim, 1.0).map_or(f64::NAN, |reads| reads as f64)
}

fn patterns(model: &CellModel, to: &mut Findings) {
    let block =
        |kcycles: f64, spread: Spread| BlockOfWordlines::new(model, WORDLINES, kcycles, Law::Linear, spread);
    let source = "Straw Fig. 2";
    let at_2k = block(2.0, Spread::Groups);
    let one = Pattern::One(at_2k.neighbour_of_worst(Group::Worst));
    let near = counted(&at_2k, one, Victim::First);
    to.add("reads endured, one neighbour hammered, 2K cycles", source, (54_560.0, near), Rule::Printed, Yes);
    let even = counted(&at_2k, Pattern::Round, Victim::First);
    to.add("reads endured, round all wordlines, 2K cycles", source, (518_420.0, even), Rule::Printed, Yes);
    let counters = at_2k.counters(one, near as u64);
    let Pattern::One(read) = one else { return };
    let far = at_2k.lost(&counters, 1.0).map(|lost| lost.abs_diff(read)).max();
    let far = far.map_or(f64::NAN, |far| far as f64);
    to.add("wordlines lost first lie this far from the hammered one", source, (1.0, far), Rule::Exact, No);
    let by_voltage = reads_until(|reads| {
        let erc_fraction = effective_reads(reads, reads, 0.0, model.adjacent(Group::Worst, 2.0))
            / model.erc_max(Group::Worst, 2.0);
        let aged = CellState { wear_kcycles: 2.0, retention_hours: MONTH_HOURS, ..CellState::default() };
        best_bits(model, &CellState { erc_fraction, ..aged }, 0) > f64::from(model.hard_limit_bits())
    });
    let quantity = "the same hammered, by the erased state's voltage";
    to.add(quantity, source, (54_560.0, by_voltage), Rule::Rounded, Yes);
    let source = "Straw Fig. 1(b)";
    let at_3k = block(3.0, Spread::Wordlines);
    let worst = counted(&at_3k, Pattern::Round, Victim::First) / 1e3;
    to.add("K reads endured by the worst wordline, 3K cycles", source, (403.0, worst), Rule::Printed, Yes);
    let best = counted(&at_3k, Pattern::Round, Victim::Last) / 1e3;
    to.add("K reads endured by the best wordline, 3K cycles", source, (962.0, best), Rule::Printed, Yes);
    for (kcycles, claimed) in [(1.0, 10.5), (2.0, 15.4)] {
        let ideal = model.erc_max_at(0.5, kcycles);
        let median = reads_until(|reads| is_lost(model, ideal, kcycles, reads));
        let quantity = format!("median wordline over block limit, {kcycles}K cycles");
        let ratio = median / hammered(model, Group::Worst, kcycles).0;
        to.add(&quantity, "Straw Fig. 3", (claimed, ratio), Rule::Printed, Yes);
    }
    // A wordline is copied when it is near its end, or all of the block when its worst one could be.
    let copies =
        |group: Group| near * model.group_share(group) / counted(&at_2k, Pattern::Round, Victim::Of(group));
    let less = 100.0 * (1.0 - Group::ALL.map(copies).iter().sum::<f64>());
    let quantity = "read-reclaim copies saved by a counter for each wordline, even reads, 2K (%)";
    to.add(quantity, "Straw Fig. 8", (91.5, less), Rule::Rounded, No);
}

fn neighbours(model: &CellModel, to: &mut Findings) {
    let mut alphas = Vec::new();
    for kcycles in [0.0, 1.0, 2.0, 3.0] {
        for group in Group::ALL {
            let (near, far) = hammered(model, group, kcycles);
            alphas.push(far / near);
        }
    }
    let source = "Straw Fig. 4";
    to.add(
        "harm of a neighbour's read over another's, mean",
        source,
        (8.4, mean(&alphas)),
        Rule::Rounded,
        Yes,
    );
    let law = model.adjacent_by_law();
    to.add("the same by 0.4 V more on the neighbours", source, (8.4, law), Rule::Rounded, No);
    let source = "Straw Fig. 5";
    for (group, name, claimed) in [(Group::Best, "Best", 8.7), (Group::Good, "Good", 9.0)] {
        let (near, far) = hammered(model, group, 2.0);
        let quantity = format!("harm of a neighbour's read, group {name}, 2K cycles");
        to.add(&quantity, source, (claimed, far / near), Rule::Rounded, Yes);
        if group == Group::Good {
            to.add(
                "K effective reads of group Good, 2K cycles",
                source,
                (767.0, far / 1e3),
                Rule::Printed,
                Yes,
            );
        }
    }
}

fn pass_voltage(model: &CellModel, to: &mut Findings) {
    let limit = f64::from(model.part().disturb.max_reads);
    let endured = |mode: usize| reads_until(|reads| reads * model.read_weight(1, mode) >= limit);
    to.add("reads endured by TLC", "redFTL section 2", (40_000.0, endured(0)), Rule::Exact, Yes);
    for (mode, ratio, claimed) in [(1, 0.98, 2.0), (2, 0.96, 5.0)] {
        let percent = digits_of_ratio(ratio);
        let source = "redFTL Table 4";
        let quantity = format!("reads endured at {percent} % of the pass voltage, by mode");
        to.add(&quantity, source, (claimed, endured(mode) / endured(0)), Rule::Rounded, Yes);
        let quantity = format!("reads endured at {percent} % of the pass voltage, by Fowler-Nordheim");
        to.add(&quantity, source, (claimed, model.endurance_by_law(ratio)), Rule::Rounded, Yes);
    }
    let source = "redFTL section 4.2.3";
    to.add("harm of an LSB read in mode 2", source, (0.16, model.read_weight(0, 2)), Rule::Rounded, No);
    let more = endured(2) / endured(0) / model.part().disturb.page_weights[0];
    to.add("reads endured, LSB in mode 2: about (times)", source, (6.0, more), Rule::Rounded, No);
    let base = page_weights(&[vec![4], vec![2, 6], vec![1, 3, 5, 7]], 0.0);
    for (page, name, claimed) in [(0, "LSB", 0.25), (1, "CSB", 0.5)] {
        let quantity = format!("harm of {name} reads over MSB reads by thresholds, code 1-2-4");
        to.add(&quantity, source, (claimed, base[page]), Rule::Exact, Partly);
    }
    let passes = |thousandth: &u32| model.endurance_as_measured(f64::from(*thousandth) / 1e3).is_some();
    let lowest = (800..=1_000).find(passes).map_or(f64::NAN, |lowest| f64::from(lowest) / 10.0);
    to.add("lowest pass voltage that passes (%)", "redFTL section 4.2", (96.0, lowest), Rule::Exact, Yes);
    let high = model.endurance_by_law(1.05);
    let source = "redFTL Fig. 6";
    let less = 100.0 * (1.0 - high);
    to.add("fewer reads endured at 105 % of the pass voltage (%)", source, (49.0, less), Rule::Rounded, No);
    let share = 100.0 * high / 1.6;
    let quantity = "reads endured at 105 % voltage and 160 % time, over MLC (%)";
    to.add(quantity, source, (28.0, share), Rule::Rounded, No);
    for (mode, claimed) in [(1, 8.0), (2, 19.0)] {
        let more = 100.0 * (model.part().modes.program_time[mode] - 1.0);
        let quantity = format!("longer programs in read-resistant mode {mode} (%)");
        to.add(&quantity, "redFTL Table 4", (claimed, more), Rule::Rounded, Yes);
    }
}

fn digits_of_ratio(ratio: f64) -> String {
    format!("{:.0}", 100.0 * ratio)
}

fn page_types<const N: usize>(
    model: &CellModel,
    names: [&str; N],
    claims: &[(usize, f64)],
    to: &mut Findings,
) {
    let limit = f64::from(model.part().disturb.max_reads);
    let endured = |page: usize| reads_until(|reads| reads * model.read_weight(page, 0) >= limit);
    let least = (0..N).map(endured).fold(f64::INFINITY, f64::min);
    for &(page, claimed) in claims {
        let more = 100.0 * (endured(page) / least - 1.0);
        let quantity = format!("reads more where only {} pages are read (%)", names[page]);
        to.add(&quantity, "redFTL Fig. 17", (claimed, more), Rule::Rounded, Yes);
    }
}

fn program_times(model: &CellModel, population: &Population<'_>, to: &mut Findings) {
    let fresh = Damage::default();
    let times: Vec<f64> =
        population.blocks().iter().map(|block| model.program_us(block, &fresh, 0)).collect();
    let rule = Rule::None("a preset's number, not a chip's");
    to.add("mean program time, unworn (us)", "RealWear section 3", (700.0, mean(&times)), rule, Partly);
}

pub(super) fn mlc(model: &CellModel, to: &mut Findings) {
    page_types(model, ["LSB", "MSB"], &[(0, 61.0)], to);
    let limit = f64::from(model.part().disturb.max_reads);
    let endured = reads_until(|reads| reads * model.read_weight(1, 0) >= limit);
    to.add("reads endured by MLC of 2009", "redFTL section 2", (600_000.0, endured), Rule::Exact, Yes);
    let source = "RealWear section 5.1.2";
    let lost = 100.0 * model.sanitised_over_limit(false, false);
    to.add("pages lost when the LSB page is over-programmed (%)", source, (7.4, lost), Rule::Rounded, Yes);
    let later = 100.0 * model.sanitised_over_limit(false, true);
    to.add("the same after a year: most (%)", source, (50.0, later), Rule::AtLeast, No);
    let effects = &model.part().effects;
    let worst = effects.osr_one_median * effects.osr_year_factor * libm::exp(2.326 * effects.osr_sigma);
    to.add("errors over the limit after a year, 1 % of pages", source, (1.5, worst), Rule::AtLeast, Partly);
    let limit = f64::from(model.hard_limit_bits());
    to.add("errors corrected (bits)", "redFTL section 4.2.1", (40.0, limit), Rule::Exact, Yes);
}
