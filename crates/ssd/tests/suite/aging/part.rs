//! Old data beside new: steps limited to a part of the logical space.

use crate::aging::support;
use ssd::config::Table;
use ssd::rng::Rng;
use ssd::{AgeError, AgeStep, Command, Drive, DriveConfig, Lba, OpCode};

/// 16 blocks in each of two planes, half of them for data.
fn config() -> DriveConfig {
    let mut cfg = support::config();
    cfg.geometry.blocks_per_plane = 16;
    cfg.drive.over_provisioning_percent = 100.0;
    cfg.buffer.select("none").expect("a policy");
    cfg
}

/// 3,000 cycles old and full, so that a year of retention takes retries and some data is lost.
fn drive(cfg: &DriveConfig) -> Drive {
    let mut drive = Drive::new(cfg).expect("a drive");
    age(&mut drive, &["cycle to 3000"]);
    drive.fill(0, drive.logical_units()).expect("room");
    drive
}

fn age(drive: &mut Drive, steps: &[&str]) {
    steps.iter().for_each(|text| {
        drive.age(&text.parse::<AgeStep>().expect("a step")).unwrap_or_else(|error| panic!("{error}"));
    });
}

/// Units and what reading each of them took, one after the other: ns, and whether it was read.
fn reads(drive: &mut Drive) -> Vec<(u32, u64, String)> {
    let mut rng = Rng::named(5, "reads");
    let sectors = drive.unit_bytes() / 512;
    let read = |_| {
        let unit = rng.below(drive.logical_units());
        let (lba, arrival) = (Lba(u64::from(unit * sectors)), drive.now());
        let command = Command { op: OpCode::Read, lba, sectors, arrival, ..Command::default() };
        drive.submit(0, &command, arrival).expect("room in the queue");
        assert!(drive.advance_to_completion());
        let done = drive.pop_completion().expect("a read");
        (unit, (done.completed - done.arrival).0, format!("{:?}", done.status))
    };
    (0..2_000).map(read).collect()
}

fn saved(drive: &Drive) -> Vec<u8> {
    let mut bytes = Vec::new();
    drive.save(&mut bytes).expect("room");
    bytes
}

/// Small drives: units as large as a quarter of a page, and as large as two pages, with and without variation.
fn configs() -> Vec<DriveConfig> {
    let mut wide = config();
    wide.mapping.unit = ssd::sections::MappingUnit::ThirtyTwoKib;
    let mut varied = config();
    varied.errors.variation = true;
    vec![config(), wide, varied]
}

/// Read by read: one of old data takes what it takes on a drive that is old as a whole, one of new data what it takes
/// on a new one. Pages are old or new as a whole: the edges are where pages end.
#[test]
fn old_reads_are_those_of_an_old_drive_and_new_ones_of_a_new_one() {
    for cfg in configs() {
        let (mut new, mut old, mut part) = (drive(&cfg), drive(&cfg), drive(&cfg));
        let unit_kib = new.unit_bytes() / 1024;
        let units = new.logical_units() / 16 * 16;
        let (from, to) = (units / 16 * 5, units / 16 * 11);
        age(&mut old, &["retain 12 months"]);
        age(&mut part, &[&format!("retain 12 months of {}KiB-{}KiB", from * unit_kib, to * unit_kib)]);
        let (new, old) = (reads(&mut new), reads(&mut old));
        let mut restored = Drive::restore(&cfg, &saved(&part)).expect("a drive");
        assert!(saved(&restored) == saved(&part));
        let found = reads(&mut part);
        assert_eq!(reads(&mut restored), found, "a restored drive keeps the ages");
        let mut differ = [0, 0];
        for ((new, old), found) in new.iter().zip(&old).zip(&found) {
            let is_old = (from / 4 * 4..to.div_ceil(4) * 4).contains(&found.0);
            assert_eq!(found, if is_old { old } else { new }, "unit {}", found.0);
            differ[usize::from(is_old)] += u32::from(new != old);
        }
        assert!(differ.iter().all(|&reads| reads > 200), "{differ:?}");
    }
}

#[test]
fn all_of_a_drive_is_the_drive() {
    let cfg = config();
    let (mut whole, mut part, mut halves) = (drive(&cfg), drive(&cfg), drive(&cfg));
    age(&mut whole, &["retain 12 months"]);
    age(&mut part, &["retain 12 months of 0%-100%"]);
    assert!(saved(&whole) == saved(&part));
    // One half after the other; the whole then is as old. Only the clock, which both steps move, is another.
    age(&mut halves, &["retain 12 months of 0%-50%", "retain 12 months of 50%-100%"]);
    assert_eq!(reads(&mut halves), reads(&mut whole));
    assert_eq!(part.event_hash(), Drive::restore(&cfg, &saved(&part)).expect("a drive").event_hash());
}

/// Months add up, in any order, and what is written is new.
#[test]
fn ages_are_kept_until_the_data_is_written_again() {
    let minutes = |drive: &Drive| {
        let chips = drive.chips();
        let mut ages: Vec<u32> = (0..chips.blocks())
            .flat_map(|block| (0..chips.programmed_pages(block)).map(move |page| (block, page)))
            .map(|(block, page)| chips.page_age(block, page).minutes)
            .collect();
        ages.sort_unstable();
        ages.dedup();
        ages
    };
    let mut drive = drive(&config());
    // At the cells' own temperature a month is 43,800 minutes.
    let reference = |text: &str| format!("retain 1 months at 30 C of {text}");
    age(&mut drive, &[&reference("0%-50%"), &reference("25%-75%"), &reference("25%-75%")]);
    let month = minutes(&drive)[1];
    assert_eq!(minutes(&drive), [0, 1, 2, 3].map(|months| months * month));
    for _ in 0..3 {
        drive.fill(0, drive.logical_units()).expect("room");
    }
    let again = minutes(&drive);
    assert_eq!(again[0], 0);
    // Blocks of nothing but dead data may be left.
    assert!(again.len() < 4, "{again:?}");
}

#[test]
fn what_belongs_to_no_address_is_refused() {
    let mut drive = drive(&config());
    let mib = (u64::from(drive.logical_units()) * u64::from(drive.unit_bytes())) >> 20;
    let before = saved(&drive);
    for (text, parts) in [
        (
            "retain 1 day of 0-1TiB".to_owned(),
            ["of 0-1TiB: it goes beyond the drive", "MiB, in whole mapping"],
        ),
        (format!("retain 1 day of {mib}MiB-{}MiB", mib + 1), ["goes beyond the drive", "mapping units"]),
        (
            "retain 1 day of 1KiB-2KiB".to_owned(),
            ["of 1KiB-2KiB: no unit of the drive begins there", "4096 bytes"],
        ),
    ] {
        let error = drive.age(&text.parse().expect("a step")).expect_err(&text).to_string();
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    }
    assert!(saved(&drive) == before);
    let limited = |text: &str, part: &str| {
        let step: AgeStep = text.parse().expect("a step");
        part.parse().and_then(|part| step.limited_to(part))
    };
    assert_eq!(limited("retain 1 day", "0%-5%").expect("a step").to_string(), "retain 1 day of 0%-5%");
    for (text, why) in [
        ("cycle to 5", "cycles wear blocks"),
        ("disturb 5 reads", "reads disturb whole blocks"),
        ("retain 1 day of 0%-1%", "it is of 0%-1% already"),
    ] {
        let error = limited(text, "0%-5%").expect_err(text);
        assert!(matches!(&error, AgeError::OutOfRange { found, .. } if found.contains(why)), "{error}");
    }
}
