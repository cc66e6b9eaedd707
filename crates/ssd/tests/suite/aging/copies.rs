//! Data that is copied inside the chips: errors add up from copy to copy (RealWear section 3.4.5).

use crate::aging::support::{YEAR, chip, config, fill, minutes, model, near};
use ssd::DriveConfig;
use ssd::nand::aging::Sequence;
use ssd::nand::cell::{CellState, Group};
use ssd::nand::{Chip, Outcome};
use ssd::sections::DisturbLaw;

/// The first entry of the retry table: the voltages of fresh data.
const FIRST: Sequence = Sequence::entry(0);
/// What a byte of carried errors counts where 64 bits are corrected: halves, of which 255 are more than that.
const UNIT_Q8: u32 = 128;

fn copy(chip: &mut Chip, from: (u32, u32), to: u32) -> u32 {
    let page = chip.programmed_pages(to);
    assert_eq!(chip.copy(from, (to, page), chip.mode(to), &FIRST), Outcome::Pass);
    page
}

/// Chips of that wear, whose pages carry errors.
fn worn(cfg: &DriveConfig, cycles: u32) -> Chip {
    let mut chip = chip(cfg).with_copies();
    (0..chip.blocks()).for_each(|block| chip.set_erase_count(block, cycles));
    chip
}

/// Errors of a fresh page of a group with the voltages of fresh data, as the exact model has them.
fn fresh_bits(cfg: &DriveConfig, cycles: u32, group: u8, page_type: u8) -> f64 {
    let cells = model(cfg);
    let kcycles = f64::from(cycles) / 1e3;
    let height = cells.height_of(Group::ALL[usize::from(group)]);
    let state = CellState { wear_kcycles: kcycles, height, ..CellState::default() };
    let volts = cells.retry_references(kcycles, 0, 0);
    cells.sector_bits(cells.page_rber(&cells.distribution(&state), usize::from(page_type), &volts))
}

/// n copies of fresh data carry n times its errors: without noise to the rounding of each copy; with noise even up to 2
/// bits to that of each copy, and in the mean of all pages without.
#[test]
fn errors_grow_with_every_copy() {
    for (noise, law) in [(0.0, DisturbLaw::Linear), (2.0, DisturbLaw::Linear), (2.0, DisturbLaw::Voltage)] {
        for cycles in [500, 2_000, 6_000, 10_000] {
            let mut cfg = config();
            (cfg.cells.effects.rtn_bits, cfg.errors.disturb_law) = (noise, law);
            let mut chip = worn(&cfg, cycles);
            fill(&mut chip, 0);
            let pages = chip.pages_per_block();
            for copies in 1..=6 {
                let mut sum = 0.0;
                for page in 0..pages {
                    // All pages of a block in turn, so that each is copied to a page like itself.
                    assert_eq!(copy(&mut chip, (copies - 1, page), copies), page);
                    let at = chip.page_age(0, page);
                    let expected = f64::from(copies) * fresh_bits(&cfg, cycles, at.group, at.page_type);
                    let found = f64::from(chip.carried_q8(copies, page)) / 256.0;
                    // A quarter of a bit is the rounding, a tenth what the tables are off.
                    near(found, expected, f64::from(copies) * (0.4 + noise));
                    sum += found - expected;
                }
                // Noise spreads what is rounded.
                if noise > 0.0 {
                    near(sum / f64::from(pages), 0.0, f64::from(copies) * 0.15);
                }
            }
        }
    }
}

/// What a page carries adds to every read of it, whatever the voltages: the best ones, too; an erase and the controller
/// end it.
#[test]
fn carried_errors_add_to_reads_until_the_controller_writes_the_data() {
    let cfg = config();
    let mut chip = worn(&cfg, 4_000);
    fill(&mut chip, 0);
    for block in 1..4 {
        (0..chip.pages_per_block()).for_each(|page| _ = copy(&mut chip, (block - 1, page), block));
    }
    fill(&mut chip, 4);
    chip.advance_clock(minutes(YEAR));
    let margins = |page| [4, 3].map(|block| chip.margin(block, page).expect("cells that age"));
    let margins: Vec<_> = (0..chip.pages_per_block()).map(margins).collect();
    let mut failed = 0;
    for (page, [own, copied]) in (0..).zip(margins) {
        assert_eq!(copied.bits_q8, own.bits_q8 + chip.carried_q8(3, page));
        assert_eq!(chip.carried_q8(4, page), 0);
        assert!(chip.sense(4, page, 0).readable);
        let sensed = chip.sense(3, page, 0);
        assert_eq!(sensed.readable, copied.bits_q8 <= copied.limit_q8, "{page}: {copied:?}");
        failed += u32::from(!sensed.readable);
    }
    assert!(failed < chip.pages_per_block(), "all lost: nothing to see");
    chip.erase(3);
    fill(&mut chip, 3);
    assert!((0..chip.pages_per_block()).all(|page| chip.carried_q8(3, page) == 0));
}

/// What a copy carries depends on the voltages that its source is read with, and on all that has become of that: time
/// and reads.
#[test]
fn a_copy_takes_the_errors_that_its_voltages_leave() {
    let cfg = config();
    let mut chip = worn(&cfg, 4_000);
    fill(&mut chip, 0);
    let carried = |chip: &mut Chip, entry: u8| {
        let to = chip.programmed_pages(1);
        assert_eq!(chip.copy((0, 72), (1, to), 0, &Sequence::entry(entry)), Outcome::Pass);
        chip.carried_q8(1, to)
    };
    let fresh = carried(&mut chip, 0);
    let before = chip.effective_reads(0, 10);
    carried(&mut chip, 0);
    assert!(chip.effective_reads(0, 10) > before, "a copy reads its source");
    chip.advance_clock(minutes(7 * 1_440));
    let by_entry: Vec<u32> = (0..16).map(|entry| carried(&mut chip, entry)).collect();
    // A week at the voltages of fresh data: more than three times the errors; the best entry has far fewer.
    assert!(by_entry[0] > 3 * fresh && by_entry.iter().min() < Some(&(by_entry[0] / 2)), "{by_entry:?}");
    while chip.disturb_q12(0, 72) < Some(2_048) {
        chip.sense(0, 75, 0);
    }
    let best = (0..16).min_by_key(|&entry| by_entry[usize::from(entry)]).expect("16 entries");
    assert!(carried(&mut chip, best) > by_entry[usize::from(best)] + 20 * 256, "half of what reads may add");
}

/// What is lost stays lost: the count of a page ends above what is ever corrected.
#[test]
fn no_number_of_copies_makes_data_whole() {
    let cfg = config();
    let mut chip = worn(&cfg, 4_000);
    chip.program(0, 0);
    (1..chip.pages_per_block()).for_each(|page| assert_eq!(copy(&mut chip, (0, page - 1), 0), page));
    let last = chip.pages_per_block() - 1;
    assert_eq!(chip.carried_q8(0, last), 255 * UNIT_Q8);
    let readable: Vec<bool> = (0..=last).map(|page| chip.sense(0, page, 0).readable).collect();
    let first_lost = readable.iter().position(|readable| !readable).expect("lost in the end");
    assert!((4..9).contains(&first_lost) && readable[first_lost + 3..].iter().all(|readable| !readable));
}
