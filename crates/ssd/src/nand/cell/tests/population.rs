//! Calibration section 4.2: the population of RealWear, and what can be seen of wear.

use super::{near, part};
use crate::nand::cell::{Block, CellModel, CellPart, Damage, VirtualChips};
use crate::rng::Rng;
use crate::sections::cell::{DwellLaw, Population};

fn blocks(model: &CellModel) -> Vec<Block> {
    let chips = VirtualChips::new(model, 3);
    (0..160)
        .flat_map(|chip| (0..120).map(move |block| (chip, block)))
        .map(|(c, b)| chips.block(c, b))
        .collect()
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (count, sum) = values.fold((0.0, 0.0), |(count, sum), x| (count + 1.0, sum + x));
    sum / count
}

fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[((values.len() - 1) as f64 * share) as usize]
}

#[test]
fn best_and_worst_block_keep_the_pinned_lines() {
    let tlc = part("tlc_48l");
    near(tlc.n12(0.0, 3.0), 37.0, 1e-9);
    near(tlc.n12(1.0, 8.0), 37.0, 1e-9);
    near(tlc.n12(0.0, 4.0) - tlc.n12(1.0, 4.0), 19.0, 1e-9);
    near(tlc.n12(0.0, 7.0) - tlc.n12(1.0, 7.0), 25.0, 1e-9);
    near(tlc.life_kcycles(0.0, 1.0, 64.0), 8.0, 1e-9);
    near(tlc.life_kcycles(1.0, 1.0, 64.0), 15.94, 0.01); // RealWear: still usable after 16K
    assert!(tlc.is_alive(0.0, 7.99) && !tlc.is_alive(0.0, 8.0));
    near(tlc.wear_of_n12(tlc.n12(0.62, 5.0)), 5.0, 0.1);
}

/// The papers' population of 160 chips x 120 blocks.
#[test]
fn the_population_lives_as_long_as_in_the_papers() {
    let tlc = part("tlc_48l");
    let blocks = blocks(&tlc);
    let lives = |factor: f64| -> Vec<f64> {
        blocks.iter().map(|block| tlc.life_kcycles(block.quality, factor, 64.0)).collect()
    };
    let mut fast = lives(tlc.dwell_factor(1.0, 30.0));
    // Claims: 12.3K at 1 minute, 13.9K at 5. The fit of calibration section 4.2 gives 12.47K and 14.09K, 1.4 % above
    // both.
    near(mean(fast.iter().copied()), 12.47, 0.2);
    near(mean(lives(tlc.dwell_factor(5.0, 30.0)).into_iter()), 14.09, 0.22);
    near(quantile(&mut fast, 0.001), 8.04, 0.1);
    near(quantile(&mut fast, 0.999), 16.43, 0.1);
    near(fast.iter().filter(|life| **life > 16.0).count() as f64 / 19_200.0, 0.0366, 0.015);
    // Spread over the middle 99.8 %: 19 bits at 4K and 25 at 7K are pinned for best and worst.
    for (kcycles, spread) in [(4.0, 19.9), (7.0, 26.2)] {
        let mut n12: Vec<f64> = blocks.iter().map(|block| tlc.n12(block.quality, kcycles)).collect();
        near(quantile(&mut n12, 0.999) - quantile(&mut n12, 0.001), spread, 0.4);
    }
}

#[test]
fn chips_hold_their_share_of_the_variance() {
    let tlc = part("tlc_48l");
    let blocks = blocks(&tlc);
    let average = mean(blocks.iter().map(|block| block.quality));
    near(average, 0.642, 0.02);
    let square = |x: f64| x * x;
    let variance = mean(blocks.iter().map(|block| square(block.quality - average)));
    let chips = blocks.chunks(120).map(|chip| mean(chip.iter().map(|block| block.quality)));
    // 30 % of the variance, and a 120th of the rest by chance.
    near(mean(chips.map(|chip| square(chip - average))) / variance, 0.30, 0.05);
    assert_eq!(VirtualChips::new(&tlc, 3).block(5, 7), blocks[5 * 120 + 7]);
    assert_ne!(VirtualChips::new(&tlc, 4).block(5, 7), blocks[5 * 120 + 7]);
}

#[test]
fn rest_recovers_wear() {
    let tlc = part("tlc_48l");
    for (minutes, factor) in
        [(0.1, 1.0), (1.0, 1.0), (5.0, 0.885), (10.0, 0.835), (30.0, 0.757), (180.0, 0.629), (1e4, 0.629)]
    {
        near(tlc.dwell_factor(minutes, 30.0), factor, 0.0006);
    }
    near(12.3 / tlc.dwell_factor(5.0, 30.0), 13.90, 0.01);
    // N12 at the end of life falls by 29.0 % (RealWear: up to 30 %).
    let (born, end) = (tlc.n12_unworn(0.62), 64.0);
    near(1.0 - (born + (end - born) * tlc.dwell_factor(180.0, 30.0)) / end, 0.290, 0.001);
    // 30 to 40 degrees C at 10 minutes: +13.0 %, where RealWear says +20 %; the logistic curve gives +19.8 %.
    let gain = |model: &CellModel| model.dwell_factor(10.0, 30.0) / model.dwell_factor(10.0, 40.0) - 1.0;
    near(gain(&tlc), 0.130, 0.001);
    let population = Population { dwell: DwellLaw::Logistic, ..Population::default() };
    let curve = CellModel::new(CellPart { population, ..CellPart::default() }).expect("a valid part");
    near(gain(&curve), 0.198, 0.002);
    for (minutes, factor) in [(1.0, 1.0), (5.0, 0.886), (180.0, 0.626), (1000.0, 0.623)] {
        near(curve.dwell_factor(minutes, 30.0), factor, 0.001);
    }
}

fn cycled(model: &CellModel, kcycles: f64, minutes: f64) -> Damage {
    let mut damage = Damage::default();
    damage.cycle(model, kcycles, minutes, 30.0, 0);
    damage
}

#[test]
fn erase_time_fresh_errors_and_program_time_tell_of_wear() {
    let tlc = part("tlc_48l");
    let blocks = blocks(&tlc);
    let share = |kcycles: f64, pulses: u32| {
        let damage = cycled(&tlc, kcycles, 1.0);
        blocks.iter().filter(|block| tlc.erase_pulses(block, &damage) == pulses).count() as f64 / 19_200.0
    };
    // Calibration section 4.2: 5, 10 and 15 ms at 4K cycles, as RealWear saw.
    near(share(4.0, 1), 0.185, 0.04);
    near(share(4.0, 2), 0.795, 0.04);
    near(share(4.0, 3), 0.020, 0.015);
    let alive = |block: &&Block, damage: &Damage| tlc.is_alive(block.quality, damage.lasting);
    for (kcycles, fresh) in [(1.0, 5.3), (4.0, 9.2), (6.0, 11.9), (8.0, 14.5)] {
        let damage = cycled(&tlc, kcycles, 1.0);
        let living = || blocks.iter().filter(|block| alive(block, &damage));
        near(mean(living().map(|block| tlc.fresh_bits(block, &damage))), fresh, 0.25);
        assert!(living().all(|block| tlc.erase_pulses(block, &damage) <= 5), "RealWear: 5 or fewer");
        let fine =
            living().all(|block| tlc.erase_fine_ms(block, &damage) <= tlc.erase_marker_ms(block, &damage));
        assert!(fine);
    }
    for (kcycles, us) in [(0.0, 721.1), (3.0, 672.0), (6.0, 643.4), (9.0, 623.4), (12.0, 607.0)] {
        let damage = cycled(&tlc, kcycles, 1.0);
        near(mean(blocks.iter().map(|block| tlc.program_us(block, &damage, 0))), us, 1.2);
    }
    let mut at_610: Vec<f64> = (1..18)
        .flat_map(|half| blocks.iter().map(move |block| (block, f64::from(half) / 2.0)))
        .filter(|(block, kcycles)| {
            (tlc.program_us(block, &cycled(&tlc, *kcycles, 1.0), 0) - 610.0).abs() < 1.0
        })
        .map(|(block, kcycles)| tlc.n12(block.quality, kcycles))
        .collect();
    // RealWear: 30 to 58.
    near(quantile(&mut at_610, 0.02), 33.0, 1.5);
    near(quantile(&mut at_610, 0.98), 62.0, 1.5);
}

#[test]
fn what_recovers_shows_less_and_measuring_adds_noise() {
    let tlc = part("tlc_48l");
    let block = VirtualChips::new(&tlc, 1).block(0, 0);
    let (hasty, rested) = (cycled(&tlc, 5.0, 1.0), cycled(&tlc, 5.0, 180.0));
    let true_gain = tlc.n12(block.quality, hasty.lasting) - tlc.n12(block.quality, rested.lasting);
    let seen = tlc.n12_visible(block.quality, &hasty) - tlc.n12_visible(block.quality, &rested);
    near(seen / true_gain, 0.7, 1e-9);
    let mut rng = Rng::named(1, "measure");
    let fresh = tlc.fresh_bits(&block, &hasty);
    let off: Vec<f64> = (0..500).map(|_| tlc.fresh_bits_measured(&block, &hasty, &mut rng) - fresh).collect();
    assert!(off.iter().all(|off| off.abs() <= 2.0) && off.iter().any(|off| *off > 1.8));
    near(tlc.program_us(&block, &hasty, 1) / tlc.program_us(&block, &hasty, 0), 1.08, 1e-9);
    near(tlc.program_us(&block, &hasty, 2) / tlc.program_us(&block, &hasty, 0), 1.19, 1e-9);
    let hire = part("mlc_hire");
    let wear = |mode: usize| {
        let mut damage = Damage::default();
        damage.cycle(&hire, 1.0, 1.0, 30.0, mode);
        damage.lasting
    };
    assert_eq!([wear(0), wear(1), wear(2)], [1.0, 1.2, 0.8]);
}

/// The table of ranks that drives are built with gives the same blocks to a part in 10^5.
#[test]
fn tabulated_chips_are_the_same_chips() {
    let tlc = part("tlc_48l");
    let (exact, fast) = (VirtualChips::new(&tlc, 9), VirtualChips::new(&tlc, 9).tabulated());
    let mut most = 0.0f64;
    for (chip, block) in (0..20).flat_map(|chip| (0..200).map(move |block| (chip, block))) {
        let (a, b) = (exact.block(chip, block), fast.block(chip, block));
        most = most.max((a.quality - b.quality).abs());
        assert_eq!(Block { quality: 0.0, ..a }, Block { quality: 0.0, ..b });
    }
    assert!(most > 0.0 && most < 1e-5, "{most}");
}
