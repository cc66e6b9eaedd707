//! The laboratory's tables: each beside a computation of its own.

use lab::characterize::curves::{self, Plan};
use lab::characterize::reads::{BlockOfWordlines, Law, Pattern, Spread, Victim, WORDLINES, is_lost};
use lab::characterize::sheet::Sheet;
use ssd::nand::cell::{CellModel, CellState, Group};
use std::sync::OnceLock;

const SMALL: Plan = Plan { part: "tlc_48l", seed: 3, chips: 6, blocks: 10, cells: 200_000 };

fn tlc() -> CellModel {
    CellModel::preset("tlc_48l").expect("a shipped part")
}

fn sheets(plan: &Plan) -> Vec<Sheet> {
    curves::measure(plan).expect("a shipped part")
}

/// The small plan's sheets, measured once for all tests.
fn small() -> &'static [Sheet] {
    static SHEETS: OnceLock<Vec<Sheet>> = OnceLock::new();
    SHEETS.get_or_init(|| sheets(&SMALL))
}

/// All that is asked of the small plan: its sheets take seconds to measure, and each test has a process of its own.
#[test]
fn the_small_plan_holds() {
    the_same_seed_gives_the_same_bytes();
    #[cfg(feature = "parquet")]
    parquet_holds_what_the_csv_holds_and_where_it_is_from();
    the_table_of_reads_has_straws_law_its_modes_and_its_page_types();
    best_references_are_those_found_by_trying_all();
    errors_grow_to_the_edge_and_with_time();
    cells_counted_one_by_one_have_the_voltages_told();
    blocks_die_and_retry_as_the_table_of_blocks_has_it();
}

/// Rows of a sheet that have these values, each with the number in the last named column.
fn numbers(sheet: &Sheet, wanted: &[(&str, &str)], column: &str) -> Vec<f64> {
    let text = |name: &str, row: usize| sheet.values(name).expect("a column").text(row);
    let rows = (0..sheet.rows()).filter(|&row| wanted.iter().all(|(name, value)| text(name, row) == *value));
    rows.map(|row| text(column, row).parse().expect("a number")).collect()
}

fn sheet<'a>(sheets: &'a [Sheet], name: &str) -> &'a Sheet {
    sheets.iter().find(|sheet| sheet.name == name).expect("a sheet")
}

fn the_same_seed_gives_the_same_bytes() {
    let (one, two) = (small(), sheets(&SMALL));
    let told = SMALL.provenance(Some("today")).unwrap();
    for (one, two) in one.iter().zip(&two) {
        assert_eq!(one.csv(), two.csv());
        assert_eq!(one.parquet(&told), two.parquet(&told));
        assert!(one.plots().eq(two.plots()));
        assert!(one.rows() > 0 && !one.csv().contains("NaN") && !one.csv().contains("inf"), "{}", one.name);
    }
    let other = sheets(&Plan { seed: 4, ..SMALL });
    for name in ["blocks", "n12", "single_cells", "threshold_voltages", "max_reads"] {
        assert_ne!(sheet(one, name).csv(), sheet(&other, name).csv(), "{name}");
    }
    // What is not drawn does not change with the seed.
    for name in ["rber_by_wordline", "reference_shifts", "max_reads_of_block"] {
        assert_eq!(sheet(one, name).csv(), sheet(&other, name).csv(), "{name}");
    }
}

#[test]
fn every_part_can_be_characterized() {
    for part in lab::characterize::check::PARTS {
        let plan = Plan { part, chips: 1, blocks: 2, cells: 1_000, ..SMALL };
        for sheet in sheets(&plan) {
            let csv = sheet.csv();
            assert!(
                sheet.rows() > 0 && !csv.contains("NaN") && !csv.contains("inf"),
                "{part}: {}",
                sheet.name
            );
        }
    }
}

#[test]
fn provenance_tells_what_the_tables_are_made_from() {
    let told = SMALL.json(Some("1 May")).unwrap();
    let value: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!((value["seed"].as_u64(), value["chips"].as_u64()), (Some(3), Some(6)));
    assert_eq!((value["part"].as_str(), value["date"].as_str()), (Some("tlc_48l"), Some("1 May")));
    assert!(!SMALL.json(None).unwrap().contains("date"));
    let hash = |part| curves::Plan { part, ..SMALL }.provenance(None).unwrap()[1].clone();
    assert_eq!(hash("tlc_48l"), hash("tlc_48l"));
    assert_ne!(hash("tlc_48l"), hash("mlc"));
    assert_eq!((hash("mlc").0, hash("mlc").1.len()), ("part_hash", 16));
}

#[cfg(feature = "parquet")]
fn parquet_holds_what_the_csv_holds_and_where_it_is_from() {
    let told = SMALL.provenance(Some("today")).unwrap();
    small().iter().for_each(|sheet| crate::parquet::holds_the_table(sheet, &told));
}

/// Reads one wordline after the other and sums up what every read does to every wordline, as it happens.
fn played(
    model: &CellModel,
    groups: &[Group],
    kcycles: f64,
    read: impl Fn(u64) -> usize,
    is_victim: impl Fn(usize) -> bool,
) -> u64 {
    let mut harm = vec![0.0; groups.len()];
    for reads in 0.. {
        let at = read(reads);
        for (wordline, harm) in harm.iter_mut().enumerate() {
            *harm += match wordline.abs_diff(at) {
                0 => 0.0,
                1 => model.adjacent(groups[wordline], kcycles),
                _ => 1.0,
            };
            // The searched sums are products: they may differ by rounding.
            if is_victim(wordline) && *harm >= model.erc_max(groups[wordline], kcycles) * (1.0 - 1e-12) {
                return reads + 1;
            }
        }
    }
    unreachable!("a page is lost some time")
}

#[test]
fn reads_endured_are_those_of_reading_one_by_one() {
    let model = tlc();
    for kcycles in [0.5, 3.0] {
        let block = BlockOfWordlines::new(&model, 48, kcycles, Law::Linear, Spread::Groups);
        let groups = block.groups().to_vec();
        for (group, count) in Group::ALL.into_iter().zip([19, 15, 9, 5]) {
            let own = groups.iter().filter(|own| **own == group).count();
            assert!(own.abs_diff(count) <= 1, "{group:?}: {own} of 48");
        }
        assert_eq!((groups[0], groups[24], groups[47]), (Group::Worst, Group::Best, Group::Worst));
        let read = block.neighbour_of_worst(Group::Worst);
        let one = block.reads_until_lost(Pattern::One(read), Victim::First, 1.0).unwrap();
        assert_eq!(one, played(&model, &groups, kcycles, |_| read, |_| true));
        let round = |victim: Group| block.reads_until_lost(Pattern::Round, Victim::Of(victim), 1.0).unwrap();
        for group in [Group::Worst, Group::Best] {
            let slow =
                played(&model, &groups, kcycles, |reads| (reads % 48) as usize, |at| groups[at] == group);
            assert!(round(group).abs_diff(slow) <= 1, "{group:?}: {} {slow}", round(group));
        }
    }
}

fn the_table_of_reads_has_straws_law_its_modes_and_its_page_types() {
    let (model, sheets) = (tlc(), small());
    let table = sheet(sheets, "max_reads");
    let reads = |pattern: &str, lost: &str, law: &str, at: &str, mode: &str, page: &str| {
        let wanted = [("pattern", pattern), ("lost", lost), ("law", law), ("kcycles", at), ("mode", mode)];
        let found = numbers(table, &[&wanted[..], &[("page_read", page)]].concat(), "reads");
        assert_eq!(found.len(), 1, "{pattern} {lost} {law} {at} {mode} {page}");
        found[0]
    };
    // Calibration section 2.3: limits of the block at each age.
    let limits = [130.5e3, 103.5e3, 83.0e3, 67.0e3, 54.6e3, 44.7e3, 36.8e3];
    for (at, limit) in ["0", "0.5", "1", "1.5", "2", "2.5", "3"].into_iter().zip(limits) {
        let one = reads("one wordline", "Worst", "linear", at, "0", "any");
        assert!((one - limit).abs() <= 60.0, "{at}K: {one}");
        let (round, random) = (
            reads("round", "Worst", "linear", at, "0", "any"),
            reads("random", "first wordline", "linear", at, "0", "any"),
        );
        // Chance gathers some reads beside a wordline: a little earlier than in turn.
        assert!(random < 1.002 * round && random > 0.995 * round, "{at}K: {random} {round}");
        for mode in 1..3 {
            let (alpha, mode) = ([1.0, 2.0, 5.0][mode], mode.to_string());
            for (page, beta) in [("0", 0.78), ("1", 1.0), ("2", 0.79)] {
                let found = reads("one wordline", "Worst", "linear", at, &mode, page);
                assert!((found - one * alpha / beta).abs() <= alpha / beta, "{at} {mode} {page}: {found}");
            }
        }
    }
    assert_eq!(reads("one wordline", "Worst", "linear", "2", "0", "any"), 54_572.0);
    // By voltage: the model itself says where a page is lost.
    for group in Group::ALL {
        let found = reads("one wordline", &format!("{group:?}"), "voltage", "2", "0", "any");
        let share = |reads: f64| reads * model.adjacent(group, 2.0) / model.erc_max(group, 2.0);
        assert!(is_lost(&model, Law::Voltage, group, 2.0, share(found)), "{group:?}");
        assert!(!is_lost(&model, Law::Voltage, group, 2.0, share(found - 1.0)), "{group:?}");
    }
    assert_eq!(WORDLINES, 2_568);
    let of_block = sheet(sheets, "max_reads_of_block");
    assert_eq!(numbers(of_block, &[("mode", "2"), ("page_type", "1")], "reads"), [200_000.0]);
}

fn best_references_are_those_found_by_trying_all() {
    let (model, sheets) = (tlc(), small());
    let table = sheet(sheets, "reference_shifts");
    let factory = *model.default_references(0);
    let at_1k = |reference| {
        numbers(table, &[("by", "cycles"), ("reference", reference), ("kcycles", "1")], "shift_mv")[0]
    };
    // RealWear figure 18.
    assert!((at_1k("R1") - 300.0).abs() < 5.0 && (at_1k("R2") - 100.0).abs() < 5.0);
    for (reference, kcycles, months) in [(1usize, 3.0, 12.0), (4, 1.0, 3.0), (7, 8.0, 12.0)] {
        let state =
            CellState { wear_kcycles: kcycles, retention_hours: 730.0 * months, ..CellState::default() };
        let cells = model.distribution(&state);
        let volts = (-4_000..7_000).map(|mv| f64::from(mv) / 1e3);
        let near = volts.filter(|volts| (cells.mean[reference - 1]..cells.mean[reference]).contains(volts));
        let best = near.min_by(|a, b| cells.overlap(reference, *a).total_cmp(&cells.overlap(reference, *b)));
        let wanted = [
            ("by", "months".to_owned()),
            ("reference", format!("R{reference}")),
            ("kcycles", kcycles.to_string()),
            ("months", months.to_string()),
        ];
        let wanted: Vec<(&str, &str)> = wanted.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let found = numbers(table, &wanted, "shift_mv")[0];
        let tried = 1e3 * (best.unwrap() - factory[reference]);
        assert!((found - tried).abs() <= 1.0, "R{reference}: {found} {tried}");
    }
}

fn errors_grow_to_the_edge_and_with_time() {
    let (model, sheets) = (tlc(), small());
    let table = sheet(sheets, "rber_by_wordline");
    assert_eq!(table.rows(), 192 * 3 * 4);
    for page in ["0", "1", "2"] {
        // Without time, wordlines differ by their factor alone: h(y) = 0.6 + 0.4 y^2.
        let fresh = numbers(table, &[("page_type", page), ("kcycles", "0")], "rber_best");
        let places = numbers(table, &[("page_type", page), ("kcycles", "0")], "height");
        for (rber, y) in fresh.iter().zip(&places) {
            assert!((rber / fresh[0] - (0.6 + 0.4 * y * y)).abs() < 1e-9);
        }
        let [best, factory] = ["rber_best", "rber_factory"]
            .map(|column| numbers(table, &[("page_type", page), ("kcycles", "3"), ("months", "12")], column));
        assert!(best.iter().zip(&factory).all(|(best, factory)| best < factory));
        assert!(best[0] > best[96] && (best[0] - best[191]).abs() < 1e-15);
    }
    // N(t) of a block at 12 months is what its quality says, but for the fit of the voltages.
    let over_time = sheet(sheets, "errors_over_time");
    for (block, quality) in [("worst block", 0), ("best block", 1)] {
        let bits = numbers(over_time, &[("block", block), ("kcycles", "3")], "bits");
        assert!(bits.windows(2).all(|pair| pair[0] < pair[1]));
        let n12 = numbers(sheet(sheets, "n12"), &[("block", block), ("kcycles", "3")], "n12_bits")[0];
        let last = bits[bits.len() - 1];
        assert!((last / n12 - 1.0).abs() < 0.08, "{block}, {quality}: {last} {n12}");
    }
    assert!(model.hard_limit_bits() == 64);
}

fn cells_counted_one_by_one_have_the_voltages_told() {
    let sheets = small();
    let table = sheet(sheets, "threshold_voltages");
    for age in ["fresh", "3K cycles", "3K cycles, 12 months", "3K cycles, all reads endured"] {
        let [told, counted] =
            ["percent_of_cells", "counted_percent"].map(|column| numbers(table, &[("age", age)], column));
        assert!((told.iter().sum::<f64>() - 100.0).abs() < 1e-3, "{age}");
        for (told, counted) in told.iter().zip(&counted) {
            let (told, counted) = (2_000.0 * told, 2_000.0 * counted);
            assert!((counted - told).abs() < 5.0 * told.max(1.0).sqrt() + 3.0, "{age}: {counted} {told}");
        }
    }
    let deviations = numbers(sheet(sheets, "single_cells"), &[], "deviation_sigma");
    assert!(deviations.len() == 4 * 3 * 2 && deviations.iter().all(|sigma| *sigma < 4.0));
}

fn blocks_die_and_retry_as_the_table_of_blocks_has_it() {
    let (model, sheets) = (tlc(), small());
    let blocks = sheet(sheets, "blocks");
    let [lives, qualities] = ["life_kcycles", "quality"].map(|column| numbers(blocks, &[], column));
    assert_eq!(lives.len(), 60);
    for (life, quality) in lives.iter().zip(&qualities) {
        // 64 = 20.8 - 11 q + (5.4 - 2 q) life, to half a step of cycling.
        assert!((life - (43.2 + 11.0 * quality) / (5.4 - 2.0 * quality)).abs() < 0.051);
    }
    for kcycles in [9.0, 12.0, 15.5] {
        let wanted = [("dwell", "dwell 1 min"), ("kcycles", &kcycles.to_string() as &str)];
        let told = numbers(sheet(sheets, "dead_blocks"), &wanted, "dead_percent")[0];
        let dead = lives.iter().filter(|life| **life <= kcycles).count() as f64;
        assert!((told - 100.0 * dead / 60.0).abs() < 1e-9);
    }
    // The part's own table, tried entry by entry.
    let retries = sheet(sheets, "retries_by_retention");
    for (kcycles, at) in [(4.0, "4"), (10.0, "10")] {
        let needed: Vec<Option<u32>> = qualities
            .iter()
            .map(|quality| {
                let n12 = 20.8 - 11.0 * quality + (5.4 - 2.0 * quality) * kcycles;
                let wear = ((n12 - 13.9) / 4.14).max(0.0);
                let state =
                    CellState { wear_kcycles: wear, retention_hours: 8_760.0, ..CellState::default() };
                let cells = model.distribution(&state);
                (0..16).find(|&entry| {
                    let references = model.retry_references(wear, 0, entry);
                    (0..3).all(|page| 8_192.0 * model.page_rber(&cells, page, &references) <= 64.0)
                })
            })
            .collect();
        let read: Vec<f64> = needed.iter().flatten().map(|retries| f64::from(*retries)).collect();
        let of = |column| numbers(retries, &[("kcycles", at), ("months", "12")], column)[0];
        assert!((of("mean") - read.iter().sum::<f64>() / read.len() as f64).abs() < 1e-9);
        assert!((of("unreadable_percent") - 100.0 * (1.0 - read.len() as f64 / 60.0)).abs() < 1e-9);
        assert_eq!(of("most"), read.iter().copied().fold(0.0, f64::max));
    }
}
