//! What blocks show of their wear, against the exact functions on a population.

use crate::aging::support::{chip, config, model, near};
use ssd::nand::cell::{Damage, VirtualChips};

/// 4 chips x 400 blocks at their own ages, with the quality and offsets that the population of the seed gives them.
#[test]
fn telemetry_is_what_the_exact_functions_say() {
    let mut cfg = config();
    let g = &mut cfg.geometry;
    (g.channels, g.chips_per_channel, g.planes_per_die, g.blocks_per_plane) = (2, 2, 2, 200);
    g.wordlines_per_block = 4;
    cfg.errors.variation = true;
    cfg.drive.seed = 77;
    let (mut chip, model) = (chip(&cfg), model(&cfg));
    let population = VirtualChips::new(&model, 77);
    let (mut pulses, mut differ, mut noise) = ([0; 8], 0, Vec::new());
    for number in 0..1_600 {
        let block = population.block(number / 400, number % 400);
        let cycles = (number * 37) % 14_000;
        chip.set_erase_count(number, cycles);
        let kcycles = f64::from(cycles) / 1e3;
        let damage = Damage { lasting: kcycles, done: kcycles };
        let seen = chip.telemetry(number).expect("cells that age");
        assert_eq!(seen.cycles, cycles);
        // Rounding up may differ where the need is a whole number to a part in 10^4.
        let need = model.erase_need(&block, &damage);
        let whole = (need - need.round()).abs() < 1e-4;
        assert!(seen.erase_pulses == model.erase_pulses(&block, &damage) || whole, "{seen:?} {need}");
        let steps = (need * 10.0).ceil().max(1.0) as u32;
        let close = (need * 10.0 - (need * 10.0).round()).abs() < 1e-3;
        assert!(seen.erase_steps == steps || close, "{seen:?} {need}");
        near(f64::from(seen.program_ns), model.program_us(&block, &damage, 0) * 1e3, 20.0);
        let fresh = model.fresh_bits(&block, &damage);
        let off = f64::from(seen.fresh_bits_q8) / 256.0 - fresh;
        differ += u32::from(off.abs() > 2.01);
        if fresh >= 2.0 {
            noise.push(off);
        }
        pulses[seen.erase_pulses.min(7) as usize] += 1;
        // Errors go by the block's own wear.
        let worn = chip.true_wear(number).expect("cells that age").equivalent_cycles;
        near(f64::from(worn), 1e3 * model.worn_state(&block, &damage).wear_kcycles, 1.5);
    }
    // Rounding to whole bits may differ at a half.
    assert!(differ <= 2, "{differ}");
    assert!(pulses[1] > 50 && pulses[2] > 50 && pulses[3] > 50, "{pulses:?}");
    let mean = noise.iter().sum::<f64>() / noise.len() as f64;
    let square = noise.iter().map(|off| off * off).sum::<f64>() / noise.len() as f64;
    near(mean, 0.0, 0.12);
    near(square, 4.0 / 3.0, 0.12); // even over +-2
}

/// Damage that recovered shows by three tenths.
#[test]
fn recovered_damage_still_shows_in_part() {
    let cfg = config();
    let model = model(&cfg);
    let mut chip = chip(&cfg);
    let block =
        ssd::nand::cell::Block { quality: 0.65, erase_offset: 0.0, fresh_offset: 0.0, program_offset: 0.0 };
    for number in 0..2_000u64 {
        chip.program(0, 0);
        chip.advance_clock(crate::aging::support::minutes(5 * (number + 1)));
        chip.erase(0);
    }
    let factor = model.dwell_factor(5.0, 30.0);
    let damage = Damage { lasting: 2.0 * factor, done: 2.0 };
    let seen = chip.telemetry(0).expect("cells that age");
    assert_eq!(seen.erase_steps, (model.erase_need(&block, &damage) * 10.0).ceil() as u32);
    near(f64::from(seen.program_ns), model.program_us(&block, &damage, 0) * 1e3, 20.0);
    let all_lasting = Damage { lasting: 2.0, done: 2.0 };
    assert!(model.erase_need(&block, &all_lasting) > model.erase_need(&block, &damage) + 0.04);
}
