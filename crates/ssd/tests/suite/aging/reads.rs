//! Read disturb: who is counted how, and when a page is lost.

use crate::aging::support::{chip, config, fill, minutes, model, near, page_of};
use ssd::DriveConfig;
use ssd::nand::Chip;
use ssd::nand::aging::Sensed;
use ssd::nand::cell::disturb::{effective_reads, effective_reads_uniform};
use ssd::nand::cell::{Block, CellState, Damage, Group};
use ssd::sections::{DisturbCounters, DisturbLaw};

/// CSB pages count 1.
fn read(chip: &mut Chip, block: u32, wordline: u32, times: u32) {
    for _ in 0..times {
        chip.sense(block, page_of(wordline, 1), 0);
    }
}

fn at_2k(cfg: &DriveConfig) -> Chip {
    let mut chip = chip(cfg);
    chip.set_erase_count(0, 2_000);
    fill(&mut chip, 0);
    chip
}

/// By hand, at 2K cycles: alpha is 8.70, 9.00, 9.30 and 9.56. Of 48 wordlines 19 are Best, 15 Good, 9 Bad, 5 Worst.
#[test]
fn effective_reads_by_hand() {
    let mut chip = at_2k(&config());
    read(&mut chip, 0, 0, 100);
    read(&mut chip, 0, 1, 50);
    read(&mut chip, 0, 47, 30);
    let effective = |wordline| chip.effective_reads(0, wordline);
    assert_eq!(effective(0), 30 + 478); // Worst: 30 others, 9.56 x 50
    assert_eq!(effective(1), 30 + 956); // Worst: 9.56 x 100
    assert_eq!(effective(2), 130 + 465); // Bad: 9.30 x 50
    assert_eq!(effective(46), 150 + 287); // Worst: 9.56 x 30 = 286.8
    assert_eq!(effective(47), 150); // its own do not count, and it has one neighbour only
    assert_eq!(effective(24), 180); // no neighbour was read
    let groups: Vec<u8> = (0..48).map(|wordline| chip.page_age(0, page_of(wordline, 0)).group).collect();
    let count = |group| groups.iter().filter(|&&found| found == group).count();
    assert_eq!([count(0), count(1), count(2), count(3)], [19, 15, 9, 5]);
    assert_eq!([groups[24], groups[0], groups[47], groups[2]], [0, 3, 3, 2]);
    // Reading wordline 24 harms its Best neighbours 8.70 times.
    let mut chip = at_2k(&config());
    read(&mut chip, 0, 24, 100);
    assert_eq!((chip.effective_reads(0, 23), chip.effective_reads(0, 22)), (870, 100));
    assert_eq!(chip.effective_reads(1, 23), 0, "another block");
}

#[test]
fn page_types_and_read_resistant_modes_weigh_less() {
    for (mode, endurance) in [(0, 1.0), (1, 2.0), (2, 5.0)] {
        for (page_type, weight) in [(0, 0.78), (1, 1.0), (2, 0.79)] {
            let mut chip = chip(&config());
            chip.set_erase_count(0, 2_000);
            chip.program_in(0, 0, mode);
            fill(&mut chip, 0);
            for _ in 0..10_000 {
                chip.sense(0, page_of(10, page_type), 0);
            }
            near(chip.effective_reads(0, 30) as f64, 10_000.0 * weight / endurance, 1.0);
        }
    }
    // A block's own mode counts.
    let mut chip = chip(&config());
    chip.program_in(5, 0, 2);
    fill(&mut chip, 5);
    read(&mut chip, 5, 10, 1_000);
    assert_eq!((chip.mode(5), chip.effective_reads(5, 30)), (2, 200));
}

#[test]
fn an_erase_forgets_reads() {
    let mut chip = at_2k(&config());
    for wordline in 0..48 {
        read(&mut chip, 0, wordline, 20);
    }
    assert!((0..48).all(|wordline| chip.effective_reads(0, wordline) > 900));
    chip.erase(0);
    assert!((0..48).all(|wordline| chip.effective_reads(0, wordline) == 0));
    fill(&mut chip, 0);
    read(&mut chip, 0, 5, 7);
    assert_eq!(chip.effective_reads(0, 20), 7, "counters of the block begin at 0, too");
}

#[test]
fn counters_by_block_take_reads_as_even() {
    let mut cfg = config();
    cfg.errors.disturb_counters = DisturbCounters::Block;
    let (mut chip, model) = (at_2k(&cfg), model(&cfg));
    read(&mut chip, 0, 7, 100_000);
    for (wordline, group) in [(0, Group::Worst), (24, Group::Best)] {
        let each = effective_reads_uniform(48.0, model.adjacent(group, 2.0));
        near(chip.effective_reads(0, wordline) as f64, 100_000.0 * each, 2.0);
    }
    assert!(chip.aging_bytes().0 < at_2k(&config()).aging_bytes().0);
}

/// The read with which a wordline's effective reads pass ERC_MAX, when one neighbour takes them all: ERC = alpha R.
#[test]
fn the_linear_law_loses_a_page_at_the_predicted_read() {
    let cfg = config();
    let model = model(&cfg);
    for (victim, neighbour, group) in [(0, 1, Group::Worst), (2, 3, Group::Bad), (24, 25, Group::Best)] {
        let mut chip = at_2k(&cfg);
        let erc = |reads: f64| effective_reads(reads, reads, 0.0, model.adjacent(group, 2.0));
        let mut predicted = (model.erc_max(group, 2.0) / model.adjacent(group, 2.0)) as u32 - 1;
        while erc(f64::from(predicted)) <= model.erc_max(group, 2.0) {
            predicted += 1;
        }
        // All reads but two: the page is there, and no noise takes it away. Own reads do not count.
        read(&mut chip, 0, neighbour, predicted - 2);
        for page_type in 0..3 {
            assert!((0..2_000).all(|_| chip.sense(0, page_of(victim, page_type), 0).readable));
        }
        // Rounding of alpha and ERC_MAX to integers: a read more or less.
        read(&mut chip, 0, neighbour, 4);
        for page_type in 0..3 {
            let lost = Sensed { failed: 17, readable: false };
            assert!((0..2_000).all(|_| chip.sense(0, page_of(victim, page_type), 0) == lost));
        }
        assert!(chip.margin(0, page_of(victim, 0)).is_some_and(|margin| margin.erc_q12 > 4_096));
    }
}

/// The law of voltage: the read at which the exact model's errors, with the best voltages, pass the limit.
#[test]
fn the_law_of_voltage_loses_a_page_at_the_predicted_read() {
    let mut cfg = config();
    cfg.errors.disturb_law = DisturbLaw::Voltage;
    let model = model(&cfg);
    let average = Block { quality: 0.65, erase_offset: 0.0, fresh_offset: 0.0, program_offset: 0.0 };
    let (alpha, endured) = (model.adjacent(Group::Worst, 2.0), model.erc_max(Group::Worst, 2.0));
    let bits = |reads: u32| {
        let state = CellState {
            retention_hours: 730.0,
            erc_fraction: alpha * f64::from(reads) / endured,
            ..model.worn_state(&average, &Damage { lasting: 2.0, done: 2.0 })
        };
        let cells = model.distribution(&state);
        model.sector_bits(model.page_rber(&cells, 0, &model.optimal_references(&cells)))
    };
    let predicted = (0..120_000).find(|&reads| bits(reads) > 64.0).expect("a page that is lost");
    let mut chip = at_2k(&cfg);
    chip.advance_clock(minutes(43_800));
    let mut found = 0u32;
    while chip.could_be_read(0, page_of(0, 0)) {
        // A month old, pages need a retry: each attempt counts.
        for _ in 0..20 {
            found += u32::from(chip.sense(0, page_of(1, 1), 0).failed) + 1;
        }
        assert!(found < 120_000, "never lost");
    }
    near(f64::from(found) / f64::from(predicted), 1.0, 0.01);
    // Thresholds that reads do not move stay readable: the MSB page does not sense the first one.
    assert!(chip.sense(0, page_of(0, 2), 0).readable);
}

/// Whether a page reads, without counting the read.
trait Readable {
    fn could_be_read(&self, block: u32, page: u32) -> bool;
}

impl Readable for Chip {
    fn could_be_read(&self, block: u32, page: u32) -> bool {
        self.margin(block, page).is_some_and(|margin| margin.bits_q8 <= margin.limit_q8)
    }
}

/// Every attempt disturbs: 17 of them, with 8 readings for tracking, are 24 reads.
#[test]
fn failed_attempts_disturb_too() {
    let mut chip = at_2k(&config());
    read(&mut chip, 0, 1, 60_000);
    let before = chip.effective_reads(0, 30);
    let lost = chip.sense(0, page_of(0, 1), 0);
    assert_eq!(lost, Sensed { failed: 17, readable: false });
    assert_eq!(chip.effective_reads(0, 30) - before, 16 + 8);
}
