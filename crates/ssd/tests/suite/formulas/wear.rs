//! Wear levelling bounds the spread of erase counts where cold data would keep blocks young.

use super::*;
use ssd::ftl::wear_leveling::{self, static_swap};

/// Writes the first tenth of the drive 400 times over, and returns least and most erases of its blocks and the write
/// amplification.
fn hot_and_cold(leveling: wear_leveling::Config) -> (u32, u32, f64) {
    let mut cfg = one_lane(256, 16, 28.0);
    cfg.wear_leveling = leveling;
    let mut drive = Drive::new(&cfg).unwrap();
    let units = drive.logical_units();
    drive.fill(0, units).unwrap();
    let hot = units / 10;
    let mut rng = Rng::named(41, "hot");
    for _ in 0..40 {
        let lpns: Vec<u32> = (0..hot * 10).map(|_| rng.below(hot)).collect();
        drive.overwrite(&lpns).unwrap();
    }
    drive.check().unwrap();
    let (wear, stats) = (drive.health().wear, drive.stats());
    let programs = stats.ops(ssd::flash::op::OpKind::Program) as f64;
    (wear.min, wear.max, programs / stats.ftl.host_units as f64)
}

#[test]
fn without_leveling_cold_blocks_stay_young() {
    // Blocks full of cold data are never erased, the others carry all the wear.
    let (min, max, amplification) = hot_and_cold(wear_leveling::Config::None(Default::default()));
    eprintln!("none: erases {min} to {max}, amplification {amplification:.3}");
    assert!(min <= 2 && max > 100, "{min} to {max}");
}

#[test]
fn static_swap_bounds_the_spread() {
    for (max_difference, check_interval) in [(10, 4), (40, 16)] {
        let params = static_swap::Params { max_difference, check_interval };
        let (min, max, amplification) = hot_and_cold(wear_leveling::Config::StaticSwap(params));
        eprintln!(
            "static_swap {max_difference}/{check_interval}: erases {min} to {max}, amplification {amplification:.3}"
        );
        // Beyond the difference at which it acts, the spread can grow while a swap is awaited, and as one block is
        // swapped at a time: allow for half as much again.
        assert!(max - min <= max_difference + max_difference / 2, "erases {min} to {max}");
        // Moving cold data costs little beside what the host writes.
        assert!(amplification < 1.5, "{amplification}");
    }
}
