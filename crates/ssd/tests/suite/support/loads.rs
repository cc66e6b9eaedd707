//! Loads of whole drives, for the suite and for unit tests: whoever includes them has the drive's names.

use super::{Drive, Executor, Rng};

/// The eighth and ninth writing of a drive's whole space: copies per write.
pub fn copies(drive: &mut Drive, load: &str) -> f64 {
    let (units, mut rng) = (drive.logical_units(), Rng::named(1, load));
    let mut sum = 0.0;
    let zipf: Vec<f64> = (1..=units).map(|rank| (sum += 1.0 / f64::from(rank), sum).1).collect();
    let mut one = || match load {
        "80/20" if rng.below(10) < 8 => rng.below(units / 5),
        "90/10" if rng.below(10) < 9 => rng.below(units / 10),
        "Zipf" => {
            let drawn = f64::from(rng.below(1 << 30)) / f64::from(1 << 30) * sum;
            zipf.partition_point(|&up_to| up_to < drawn) as u32 * 7_919 % units
        }
        _ => rng.below(units),
    };
    drive.set_executor(Executor::Functional);
    drive.fill(0, units).unwrap();
    let mut write = |drive: &mut Drive, times: u32| {
        drive.overwrite(&(0..times * units).map(|_| one()).collect::<Vec<_>>()).unwrap()
    };
    write(drive, 7);
    drive.reset_stats();
    write(drive, 2);
    drive.check().unwrap();
    let stats = drive.stats().ftl;
    stats.moved_units.iter().sum::<u64>() as f64 / stats.host_units as f64
}
