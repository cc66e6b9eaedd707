//! What figures cannot be, and what was probably meant.

use super::quantity::Dimension;
use super::sheet::{Measure, PartlyUsed, Sheet};
use crate::base::number::digits;
use crate::endurance::expected;
use crate::plan::job::JobError;

/// Capacities that drives are sold with; GB.
const SOLD_GB: [f64; 29] = [
    120.0, 128.0, 200.0, 240.0, 250.0, 256.0, 400.0, 480.0, 500.0, 512.0, 800.0, 960.0, 1000.0, 1024.0,
    1600.0, 1920.0, 2000.0, 3200.0, 3840.0, 4000.0, 6400.0, 7680.0, 8000.0, 12_800.0, 15_360.0, 25_600.0,
    30_720.0, 61_440.0, 122_880.0,
];
/// Capacities that a drive of this program may have; bytes.
const CAPACITY: std::ops::RangeInclusive<f64> = 1e9..=1e15;
const GIB: f64 = 1_073_741_824.0;

/// Refuses a sheet whose figures cannot be what their keys say, and remarks on what is odd.
pub fn check(sheet: &mut Sheet) -> Result<(), JobError> {
    let wrong = |measure: &str, found: String, allowed: String| {
        Err(JobError::new(format!("{}: {measure}\n    found:   {found}\n    allowed: {allowed}", sheet.name)))
    };
    if !CAPACITY.contains(&sheet.capacity) {
        let found = Dimension::Bytes.told(sheet.capacity);
        return wrong("capacity", found, "1 GB to 1 PB".to_owned());
    }
    if let Some(raw) = sheet.raw.filter(|raw| *raw <= sheet.capacity) {
        let (raw, capacity) = (digits(raw / GIB), digits(sheet.capacity / GIB));
        let found = format!("{raw} GiB of flash for {capacity} GiB that the host sees");
        return wrong("raw", found, "more than the capacity".to_owned());
    }
    // A thousand too few, or too many.
    let sequential = sheet.get(Measure::SequentialWrite);
    if let (Some(rate), Some(sequential)) = (sheet.get(Measure::RandomWrite), sequential) {
        if rate * 4096.0 * 500.0 < sequential * 1e6 {
            let found = format!(
                "{}, of a drive that writes {} in sequence",
                Dimension::Rate.told(rate),
                Dimension::Bandwidth.told(sequential)
            );
            let meant = Dimension::Rate.typed(rate * 1e3);
            return wrong(
                "random_write",
                found,
                format!("type random_write = \"{meant}\" if it is in thousands"),
            );
        }
        burst(sheet, rate, sequential)?;
    }
    for measure in [Measure::ReadLatency, Measure::WriteLatency] {
        let Some(latency) = sheet.get(measure).filter(|us| *us >= 10_000.0) else { continue };
        let found = format!("{} ms for a request at a time", digits(latency / 1e3));
        let meant = Dimension::Time.typed(latency / 1e3);
        return wrong(measure.key(), found, format!("type {} = \"{meant}\" if it is in us", measure.key()));
    }
    if let (Some(host), Some(nand)) = (sheet.smart.host_written, sheet.smart.nand_written)
        && nand < host
    {
        let [found, least] = [nand, host].map(|bytes| Dimension::Bytes.told(bytes));
        return wrong("smart.nand_written", found, format!("at least what the host wrote, {least}"));
    }
    if let Some(part) = sheet.partly_used.iter().find(|part| part.figures.is_empty()) {
        let found = format!("no figure with {} in use", Dimension::Bytes.told(part.capacity));
        return wrong("partly_used", found, PartlyUsed::MEASURES.map(Measure::key).join(", "));
    }
    let remark = capacity_remark(sheet.capacity);
    sheet.remarks.extend(remark);
    Ok(())
}

/// Whether GB were written for GiB, or the other way round.
fn capacity_remark(capacity: f64) -> Option<String> {
    let is_sold = |gb: f64| SOLD_GB.iter().any(|sold| (gb / sold - 1.0).abs() < 0.003);
    let (gb, gib) = (capacity / 1e9, capacity / GIB);
    if is_sold(gb) {
        return None;
    }
    // 894 GB was meant to be 894 GiB; 960 GiB to be 960 GB.
    if is_sold(gb * GIB / 1e9) {
        let meant = digits((gb * GIB / 1e9).round());
        return Some(format!(
            "no drive is sold with {} GB, but {} GiB are {meant} GB: type capacity = \"{meant} GB\"",
            digits(gb),
            digits(gb)
        ));
    }
    is_sold(gib).then(|| {
        let (gb, gib) = (digits(gb), digits(gib));
        format!("drives are sold by GB, and {gib} GiB are {gb} GB: type capacity = \"{gib} GB\"")
    })
}

/// Refuses random writes that no full drive holds: its cleaning would have to program more than it can.
fn burst(sheet: &Sheet, rate: f64, sequential: f64) -> Result<(), JobError> {
    let spare = sheet.raw.unwrap_or_else(|| binary(sheet.capacity)) / sheet.capacity;
    let share = rate * 4096.0 / (sequential * 1e6);
    // Without any measured amplification the spare is not certain: what twice of it would allow.
    let spare = if sheet.raw.is_some() { spare } else { 1.0 + 2.0 * (spare - 1.0) };
    let most = 1.0 / greedy(spare);
    let is_counted = sheet.get(Measure::RandomAmplification).is_some();
    if is_counted || share <= 1.25 * most {
        return Ok(());
    }
    Err(JobError::new(format!(
        "{}: random_write\n    found:   {}, {} of the {} that it writes in sequence; a full drive with {} % of \
         over-provisioning holds {} at most, for garbage collection programs, too\n    allowed: the figure of a full \
         drive, steady. What sheets of client drives give is that of an empty one, into its SLC cache: measure it \
         (fio: rw=randwrite, bs=4k, after writing the drive twice), or leave random_write out",
        sheet.name,
        Dimension::Rate.told(rate),
        digits(share),
        Dimension::Bandwidth.told(sequential),
        digits(100.0 * (spare - 1.0)),
        digits(most),
    )))
}

/// Bytes of flash that a capacity is made of where nobody says: the next power of two of GiB.
pub fn binary(capacity: f64) -> f64 {
    let mut gib = 1.0;
    while gib * GIB < capacity {
        gib *= 2.0;
    }
    gib * GIB
}

/// Write amplification of uniform writes with greedy cleaning of large blocks, at so much flash for each byte of
/// capacity.
pub fn greedy(spare: f64) -> f64 {
    expected::greedy(1.0 / spare, expected::UNITS_MAX as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flash_behind_a_capacity_is_the_next_power_of_two() {
        for (gb, gib) in
            [(960.0, 1024.0), (800.0, 1024.0), (1920.0, 2048.0), (7680.0, 8192.0), (256.0, 256.0)]
        {
            assert_eq!(binary(gb * 1e9) / GIB, gib, "{gb} GB");
        }
    }

    #[test]
    fn more_spare_means_less_cleaning() {
        // The larger its blocks, the closer greedy comes to fifo, from below: 2.497 and 4.923 by fifo's own formula
        // (docs/models/write_amplification.md).
        for (spare, fifo) in [(1.28, 2.497), (1.12, 4.923)] {
            assert!((0.98..1.0).contains(&(greedy(spare) / fifo)), "{spare}: {}", greedy(spare));
        }
        assert!(greedy(1.07) > greedy(1.14) && greedy(1.14) > greedy(1.28) && greedy(3.0) < 1.1);
    }

    #[test]
    fn gigabytes_and_gibibytes_are_told_apart() {
        assert_eq!(capacity_remark(960e9), None);
        assert_eq!(capacity_remark(3.84e12), None);
        assert!(capacity_remark(894e9).unwrap().contains("type capacity = \"960 GB\""));
        assert!(capacity_remark(960.0 * GIB).unwrap().contains("type capacity = \"960 GB\""));
        assert_eq!(capacity_remark(700e9), None);
    }
}
