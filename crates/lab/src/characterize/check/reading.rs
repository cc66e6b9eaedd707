//! Reads that disturb, and reading through errors (calibration 2 and 3): each limit found by a search over reads.

use super::Fitted::{No, Partly, Yes};
use super::voltage::best_bits;
use super::{Findings, Rule};
use crate::characterize::population::{Population, mean};
use ssd::nand::cell::disturb::{effective_reads, effective_reads_uniform};
use ssd::nand::cell::{CellModel, CellState, Damage, Group};

/// Wordlines of a block of 002.
const WORDLINES: f64 = 2_568.0;
/// Hours of the month after which 002 reads its blocks.
const MONTH_HOURS: f64 = 730.0;

/// The number of reads at which a page is lost: by search.
fn reads_until(is_lost: impl Fn(f64) -> bool) -> f64 {
    let (mut fine, mut lost) = (0u64, 1u64 << 40);
    while lost - fine > 1 {
        let middle = fine + (lost - fine) / 2;
        if is_lost(middle as f64) { lost = middle } else { fine = middle }
    }
    lost as f64
}

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
    let read = model.read_us(80.0, 0);
    to.add(
        "page read of 80 us with transfer and decoding (us)",
        "003 Eq. 2.2",
        (115.0, read),
        Rule::Printed,
        No,
    );
}

fn patterns(model: &CellModel, to: &mut Findings) {
    let source = "002 Fig. 2";
    let (near, _) = hammered(model, Group::Worst, 2.0);
    to.add("reads endured, one neighbour hammered, 2K cycles", source, (54_560.0, near), Rule::Printed, Yes);
    let uniform = |group: Group, endured: f64, kcycles: f64| {
        let each = effective_reads_uniform(WORDLINES, model.adjacent(group, kcycles));
        reads_until(|reads| is_lost(model, endured, kcycles, reads * each))
    };
    let even = uniform(Group::Worst, model.erc_max(Group::Worst, 2.0), 2.0);
    to.add("reads endured, round all wordlines, 2K cycles", source, (518_420.0, even), Rule::Printed, Yes);
    let by_voltage = reads_until(|reads| {
        let erc_fraction = effective_reads(reads, reads, 0.0, model.adjacent(Group::Worst, 2.0))
            / model.erc_max(Group::Worst, 2.0);
        let state = CellState {
            wear_kcycles: 2.0,
            retention_hours: MONTH_HOURS,
            erc_fraction,
            ..CellState::default()
        };
        best_bits(model, &state, 0) > f64::from(model.hard_limit_bits())
    });
    to.add(
        "the same hammered, by the erased state's voltage",
        source,
        (54_560.0, by_voltage),
        Rule::Rounded,
        Yes,
    );
    let source = "002 Fig. 1(b)";
    let worst = uniform(Group::Worst, model.erc_max(Group::Worst, 3.0), 3.0) / 1e3;
    to.add("K reads endured by the worst wordline, 3K cycles", source, (403.0, worst), Rule::Printed, Yes);
    let best = uniform(Group::Best, model.erc_max_at(1.0, 3.0), 3.0) / 1e3;
    to.add("K reads endured by the best wordline, 3K cycles", source, (962.0, best), Rule::Printed, Yes);
    for (kcycles, claimed) in [(1.0, 10.5), (2.0, 15.4)] {
        let ideal = model.erc_max_at(0.5, kcycles);
        let median = reads_until(|reads| is_lost(model, ideal, kcycles, reads));
        let quantity = format!("median wordline over block limit, {kcycles}K cycles");
        let ratio = median / hammered(model, Group::Worst, kcycles).0;
        to.add(&quantity, "002 Fig. 3", (claimed, ratio), Rule::Printed, Yes);
    }
}

fn neighbours(model: &CellModel, to: &mut Findings) {
    let mut alphas = Vec::new();
    for kcycles in [0.0, 1.0, 2.0, 3.0] {
        for group in Group::ALL {
            let (near, far) = hammered(model, group, kcycles);
            alphas.push(far / near);
        }
    }
    let source = "002 Fig. 4";
    to.add(
        "harm of a neighbour's read over another's, mean",
        source,
        (8.4, mean(&alphas)),
        Rule::Rounded,
        Yes,
    );
    let law = model.adjacent_by_law();
    to.add("the same by 0.4 V more on the neighbours", source, (8.4, law), Rule::Rounded, No);
    let source = "002 Fig. 5";
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
    to.add("reads endured by TLC", "000 section 2", (40_000.0, endured(0)), Rule::Exact, Yes);
    for (mode, ratio, claimed) in [(1, 0.98, 2.0), (2, 0.96, 5.0)] {
        let percent = digits_of_ratio(ratio);
        let source = "000 Table 4";
        let quantity = format!("reads endured at {percent} % of the pass voltage, by mode");
        to.add(&quantity, source, (claimed, endured(mode) / endured(0)), Rule::Rounded, Yes);
        let quantity = format!("reads endured at {percent} % of the pass voltage, by Fowler-Nordheim");
        to.add(&quantity, source, (claimed, model.endurance_by_law(ratio)), Rule::Rounded, Yes);
    }
    to.add(
        "harm of an LSB read in mode 2",
        "000 section 4.2.3",
        (0.16, model.read_weight(0, 2)),
        Rule::Rounded,
        No,
    );
    for (mode, claimed) in [(1, 8.0), (2, 19.0)] {
        let more = 100.0 * (model.part().modes.program_time[mode] - 1.0);
        let quantity = format!("program time more in read-resistant mode {mode} (%)");
        to.add(&quantity, "000 Table 4", (claimed, more), Rule::Rounded, Yes);
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
        to.add(&quantity, "000 Fig. 17", (claimed, more), Rule::Rounded, Yes);
    }
}

fn program_times(model: &CellModel, population: &Population<'_>, to: &mut Findings) {
    let fresh = Damage::default();
    let times: Vec<f64> =
        population.blocks().iter().map(|block| model.program_us(block, &fresh, 0)).collect();
    let rule = Rule::None("a preset's number, not a chip's");
    to.add("mean program time, unworn (us)", "003 section 3", (700.0, mean(&times)), rule, Partly);
}

pub(super) fn mlc(model: &CellModel, to: &mut Findings) {
    page_types(model, ["LSB", "MSB"], &[(0, 61.0)], to);
    let source = "003 section 5.1.2";
    let lost = 100.0 * model.sanitised_over_limit(false, false);
    to.add("pages lost when the LSB page is over-programmed (%)", source, (7.4, lost), Rule::Rounded, Yes);
    let later = 100.0 * model.sanitised_over_limit(false, true);
    to.add("the same after a year: most (%)", source, (50.0, later), Rule::AtLeast, No);
    let limit = f64::from(model.hard_limit_bits());
    to.add("errors corrected (bits)", "000 section 4.2.1", (40.0, limit), Rule::Exact, Yes);
}

pub(super) fn hire(model: &CellModel, to: &mut Findings) {
    let modes = [(0, "base", 170.0, 1.0), (1, "boosted", 70.0, 1.2), (2, "reduced", 310.0, 0.8)];
    for (mode, name, us, wear) in modes {
        // What a controller does: sense more finely until the page can be corrected.
        let cells = model.distribution(&CellState { mode, ..CellState::default() });
        let references = model.default_references(mode);
        let pages = (0..model.page_types()).map(|page| model.page_rber(&cells, page, references));
        let rber = mean(&pages.collect::<Vec<_>>());
        let levels = model.levels_needed(rber).map_or(0, |levels| levels * (model.states() as u32 - 1));
        let measured = model.sense_us(levels) + model.transfer_us(levels);
        let quantity = format!("read of a page programmed in the {name} mode (us)");
        to.add(&quantity, "001 Table I", (us, measured), Rule::Exact, Partly);
        let mut damage = Damage::default();
        damage.cycle(model, 1.0, 1.0, 30.0, mode);
        let quantity = format!("wear of a cycle in the {name} mode");
        to.add(&quantity, "001 section IV", (wear, damage.lasting), Rule::Rounded, Yes);
    }
}
