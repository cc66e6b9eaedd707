//! The laboratory: the same table every time, whatever is measured.

use lab::characterize::check::{self, Finding, Plan, Verdict};
use lab::characterize::monte_carlo;
use lab::characterize::population::{Population, extremes, mean, quantile};
use ssd::nand::cell::CellModel;

/// What the model does not reach, in the order of the table.
const MISSED: &[&str] = &[
    "life at 40 over 30 degrees C, dwell 10 min (%)",
    "lowest N12 at a program time of 610 us (bits)",
    "most retries in the population, table by cycles, 7K",
    "median wordline over block limit, 1K cycles",
    "reads endured at 96 % of the pass voltage, by Fowler-Nordheim",
    "reads endured, LSB in mode 2: about (times)",
    "fewer reads endured at 105 % of the pass voltage (%)",
    "reads endured at 105 % voltage and 160 % time, over MLC (%)",
    "youngest age of blocks that differ in copies, of 0.2 to 0.9",
    "oldest age of blocks that differ in copies, of 0.2 to 0.9",
    "life used by a limit of 1K cycles (%)",
    "blocks dead before RealWear says so (%)",
    "blocks that outlive RealWear by 12 % of life (%)",
    "RealWear uncalibrated: dead before it says so (%)",
    "RealWear uncalibrated: alive after it said so (%)",
    "N12 spread at one cycles and program time (bits)",
    "N12 spread at those and fresh errors (bits)",
    "N12 of blocks of one age by RealWear, spread at 7K (bits)",
    "drops of a block's age by two rests of 3 months at 40 degrees C",
];

fn quick() -> check::Check {
    check::run(&Plan { cells: 200_000, ..Plan::QUICK }).expect("shipped parts")
}

#[test]
fn the_table_is_the_same_twice_and_its_misses_are_known() {
    let (one, two) = (quick(), quick());
    assert!(one == two, "another table for the same plan");
    assert_eq!(one.toml(Some("today")), two.toml(Some("today")));
    assert!(one.toml(Some("today")).contains("date = \"today\"") && !one.toml(None).contains("date ="));
    let named = |wanted: Verdict| -> Vec<&str> {
        let found = one.findings.iter().filter(|finding| finding.verdict() == wanted);
        found.map(|finding: &Finding| finding.quantity.as_str()).collect()
    };
    assert_eq!(named(Verdict::Missed), MISSED);
    assert_eq!(named(Verdict::NotJudged).len(), 7 + 57);
    assert_eq!(one.counts().iter().sum::<usize>(), one.findings.len());
    assert_eq!(one.markdown().lines().filter(|line| line.starts_with('|')).count(), one.findings.len() + 2);
}

#[test]
fn one_part_alone_has_its_lines_of_the_whole() {
    let plan = Plan { part: Some("mlc_hire"), cells: 1_000, ..Plan::QUICK };
    let only = check::run(&plan).expect("a shipped part").findings;
    assert!(only.iter().all(|finding| finding.part == "mlc_hire"));
    assert_eq!(only.len(), 3 * 9 + 2 + 2 + monte_carlo::AGES.len());
}

#[test]
fn single_cells_agree_with_the_integrals_for_every_part_and_age() {
    for part in check::PARTS {
        let model = CellModel::preset(part).expect("a shipped part");
        let counts = monte_carlo::count(&model, 5, 200_000);
        assert_eq!(counts.len(), 2 * monte_carlo::AGES.len() * model.page_types());
        for count in &counts {
            assert!(count.deviation() < 4.0, "{part}: {count:?}");
        }
        assert_eq!(counts, monte_carlo::count(&model, 5, 200_000));
        assert_ne!(counts, monte_carlo::count(&model, 6, 200_000));
    }
}

#[test]
fn blocks_live_by_their_quality_and_rest() {
    let model = CellModel::preset("tlc_48l").expect("a shipped part");
    let population = Population::new(&model, 2, 8, 10);
    let (fast, slow) = (population.lives(&model, 1.0, 30.0), population.lives(&model, 60.0, 30.0));
    assert!(fast.iter().zip(&slow).all(|(fast, slow)| fast < slow));
    for (block, life) in population.blocks().iter().zip(&fast) {
        assert!((model.life_kcycles(block.quality, 1.0, 64.0) - life).abs() <= 0.051);
    }
    assert_eq!(
        (mean(&[]), quantile(&[], 0.5), mean(&[1.0, 3.0]), extremes(&[2.0, 1.0])),
        (0.0, 0.0, 2.0, (1.0, 2.0))
    );
}
