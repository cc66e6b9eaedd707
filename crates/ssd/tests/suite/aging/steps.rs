//! The grammar of ageing, and what its steps do to a drive.

use crate::aging::support::{YEAR, config, fill, minutes, model, near};
use crate::support::every::has;
use ssd::age::{GRAMMAR, Span, TimeUnit};
use ssd::sections::{DisturbCounters, ErrorModel};
use ssd::{AgeError, AgeStep, Drive, DriveConfig};

/// 16 blocks of 48 wordlines, half of their pages written.
fn drive(cfg: &DriveConfig) -> Drive {
    let mut cfg = cfg.clone();
    cfg.drive.over_provisioning_percent = 100.0;
    let mut drive = Drive::new(&cfg).expect("a drive");
    drive.fill(0, drive.logical_units()).expect("room");
    drive
}

fn step(text: &str) -> AgeStep {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn refused(text: &str) -> String {
    text.parse::<AgeStep>().expect_err("not a step").to_string()
}

fn age(drive: &mut Drive, text: &str) {
    drive.age(&step(text)).unwrap_or_else(|error| panic!("{error}"));
}

/// Blocks that hold data.
fn full(drive: &Drive) -> Vec<u32> {
    let chips = drive.chips();
    (0..chips.blocks()).filter(|&block| chips.programmed_pages(block) == chips.pages_per_block()).collect()
}

#[test]
fn what_is_shown_is_what_was_read() {
    for text in GRAMMAR.iter().copied().chain([
        "retain 0.5 hours",
        "retain 1 year at -40.25 C",
        "cycle to 0 with 1 day dwell",
        "disturb 0 reads of wordline 0",
        "retain 3 weeks at 85 C",
        "retain 1 day of 12.5%-100%",
        "retain 1 day of 0.5MiB-1TiB",
    ]) {
        let read = step(text);
        assert_eq!(read.to_string(), text);
        assert_eq!(step(&read.to_string()), read);
    }
    assert_eq!(step("  CYCLE  To 3_000 "), AgeStep::Cycle { to: 3_000, dwell: None, celsius: None });
    let month = Span { amount: 1.0, unit: TimeUnit::Months };
    assert_eq!(step("retain 1 months"), AgeStep::Retain { time: month, celsius: None, of: None });
    assert_eq!(step("retain 1 month").to_string(), "retain 1 month");
    assert_eq!(step("retain 1 month of 0-50 %"), step("retain 1 month of 0% - 50%"));
    assert_eq!(step("retain 1 month of 0KiB-4gib").to_string(), "retain 1 month of 0-4GiB");
    assert_eq!(month.minutes(), 43_800.0);
}

#[test]
fn errors_say_what_was_found_and_what_is_allowed() {
    for (text, parts) in [
        ("", vec!["found the end", "\"cycle to 3000\"", "\"disturb 50000 reads of wordline 7\""]),
        ("cylce to 3000", vec!["\"cylce\"", "did you mean \"cycle\"?"]),
        ("cycle 3000", vec!["found \"3000\", allowed: \"to\""]),
        ("cycle to 3.5", vec!["found \"3.5\"", "a number of cycles"]),
        ("cycle to 3000 with 5 minutes", vec!["found the end, allowed: \"dwell\""]),
        ("cycle to 3000 at 40 C", vec!["found \"at\", allowed: \"with\" or the end"]),
        ("retain 12 monhts", vec!["\"monhts\"", "minutes, hours, days, weeks, months, years", "\"months\"?"]),
        ("retain twelve months", vec!["\"twelve\"", "a number such as 12"]),
        ("retain inf months", vec!["\"inf\""]),
        ("retain 12 months at 55", vec!["found the end, allowed: \"C\""]),
        ("retain 12 months at 55 K", vec!["found \"K\", allowed: \"C\""]),
        ("retain 12 months at 55 C please", vec!["found \"please\", allowed: \"of\" or the end"]),
        ("retain 12 months of", vec!["found of \"\"", "0%-50% or 4GiB-8GiB"]),
        ("retain 12 months of 50%", vec!["found of \"50%\""]),
        ("retain 12 months of 0%-50", vec!["found of \"50\", without % or a unit of size"]),
        ("retain 12 months of 1-50%", vec!["found of \"1\", without % or a unit of size"]),
        ("retain 12 months of 50%-0%", vec!["of 50%-0%: it ends before it begins"]),
        ("retain 12 months of 50%-50%", vec!["of 50%-50%: nothing"]),
        ("retain 12 months of 50%-101%", vec!["\"101%\", beyond the drive's end at 100%"]),
        ("retain 12 months of 10%-4GiB", vec!["of 10%-4GiB: a share and a size"]),
        ("retain 12 months of 1GiB-4GB", vec!["found of \"4GB\"", "4GiB-8GiB"]),
        ("retain 12 months of -1GiB-4GiB", vec!["found of \"1GiB-4GiB\""]),
        ("retain -1 months", vec!["a time of -1 months", "0 or more"]),
        ("retain 1 month at -300 C", vec!["-300 C", "absolute zero"]),
        ("retain 1 month at 301 C", vec!["301 C", "at most 300 C"]),
        ("disturb 50000", vec!["found the end, allowed: \"reads\""]),
        ("disturb 50000 reads of worldine 7", vec!["\"worldine\"", "did you mean \"wordline\"?"]),
        ("disturb -1 reads", vec!["\"-1\""]),
    ] {
        let found = refused(text);
        for part in parts {
            assert!(found.contains(part), "{text:?}: {found:?} does not say {part:?}");
        }
    }
}

#[test]
fn a_drive_without_cells_only_cycles() {
    let mut cfg = config();
    cfg.errors.model = ErrorModel::None;
    let mut drive = drive(&cfg);
    age(&mut drive, "cycle to 3000");
    assert_eq!(drive.health().wear.min, 3_000);
    for text in ["retain 1 month", "disturb 10 reads", "cycle to 4000 with 5 minutes dwell"] {
        let error = drive.age(&step(text)).expect_err("no cells").to_string();
        assert!(error.contains(text) && error.contains("nand.errors.model = \"cells\""), "{error}");
    }
    assert_eq!(drive.health().wear.max, 3_000, "nothing changed");
}

#[test]
fn cycling_wears_chips_and_firmware_alike() {
    let mut drive = drive(&config());
    age(&mut drive, "retain 1 year");
    age(&mut drive, "disturb 1000 reads");
    age(&mut drive, "cycle to 1000");
    age(&mut drive, "cycle to 3000 with 5 minutes dwell");
    let model = model(&config());
    let lasting = 1_000.0 + 2_000.0 * model.dwell_factor(5.0, 30.0);
    for block in 0..drive.chips().blocks() {
        let wear = drive.chips().true_wear(block).expect("cells that age");
        near(wear.lasting_q20 as f64 / f64::from(1 << 20), lasting, 0.1);
        assert_eq!((wear.done_q20, drive.chips().erase_count(block)), (3_000 << 20, 3_000));
    }
    let full = full(&drive);
    assert!(full.len() >= 4);
    for &block in &full {
        // Programmed again after the last cycle.
        assert_eq!(
            (drive.chips().page_age(block, 0).minutes, drive.chips().effective_reads(block, 9)),
            (0, 0)
        );
    }
    assert!(drive.blocks().erase_counts().iter().all(|&count| count == 3_000));
    let error = drive.age(&step("cycle to 2999")).expect_err("younger");
    assert!(matches!(error, AgeError::CyclesGoDown { seen: 3_000, to: 2_999, .. }), "{error}");
    assert!(error.to_string().contains("cycle to 2999"));
    age(&mut drive, "cycle to 3000");
    // A warmer rest recovers more: 5 minutes at 40 degrees are 19 at 30.
    age(&mut drive, "cycle to 4000 with 5 minutes dwell at 40 C");
    let more = 1_000.0 * model.dwell_factor(5.0, 40.0);
    let wear = drive.chips().true_wear(0).expect("cells that age");
    near(wear.lasting_q20 as f64 / f64::from(1 << 20), lasting + more, 0.2);
    let beyond = drive.age(&step("cycle to 200000")).expect_err("beyond the tables").to_string();
    assert!(beyond.contains("cycle to 200000") && beyond.contains("131072"), "{beyond}");
    assert_eq!(drive.health().wear.max, 4_000);
}

/// A policy that knows what blocks stand up to some age is not let beyond it; one without a table is.
#[test]
fn blocks_grow_no_older_than_the_policys_table() {
    let with = |policy: &str| {
        let mut cfg = config();
        cfg.geometry.blocks_per_plane = 16;
        cfg.read_reclaim = ssd::ftl::read_reclaim::Config::named(policy).expect("a policy");
        drive(&cfg)
    };
    let all = ["block", "page_type", "redftl", "redftl_plus", "straw"];
    for policy in all.into_iter().filter(|policy| has(&format!("ftl.read_reclaim.{policy}"))) {
        let mut drive = with(policy);
        let told = drive.age(&step("cycle to 32769")).expect_err(policy).to_string();
        assert!(told.contains("cycle to 32769") && told.contains("at most 32768 cycles"), "{told}");
        drive.age(&step("cycle to 32768")).expect(policy);
    }
    for policy in ["never", "lazy_exact"] {
        with(policy).age(&step("cycle to 32769")).expect(policy);
    }
}

/// 12 months at 30 and at 55 degrees: minutes in the ratio of the Arrhenius factor.
#[test]
fn retention_jumps_by_the_arrhenius_factor() {
    let aged = |cfg: &DriveConfig, text: &str| {
        let mut drive = drive(cfg);
        age(&mut drive, text);
        let block = full(&drive)[0];
        u64::from(drive.chips().page_age(block, 0).minutes)
    };
    let mut warm = config();
    warm.errors.temperature_c = 55.0;
    let factor = model(&config()).arrhenius(30.0, 55.0);
    assert_eq!(aged(&config(), "retain 12 months"), YEAR);
    assert_eq!(aged(&config(), "retain 12 months at 55 C"), (YEAR as f64 * factor) as u64);
    assert_eq!(aged(&warm, "retain 12 months"), (YEAR as f64 * factor) as u64, "at the drive's temperature");
    assert_eq!(aged(&warm, "retain 12 months at 30 C"), YEAR);
    assert_eq!(aged(&config(), "retain 90 minutes"), 90);
    // 13 hours at 85 degrees: 11.4 months (calibration section 1.3).
    near(aged(&config(), "retain 13 hours at 85 C") as f64 / 43_800.0, 11.43, 0.01);
}

#[test]
fn retention_ends_where_the_tables_do() {
    let mut drive = drive(&config());
    age(&mut drive, "retain 200 years");
    let error = drive.age(&step("retain 100 years")).expect_err("too long").to_string();
    assert!(error.contains("100.0 years at 30 C") && error.contains("55.4 years at 30 C"), "{error}");
    age(&mut drive, "retain 55 years");
    let block = full(&drive)[0];
    assert_eq!(u64::from(drive.chips().page_age(block, 0).minutes), 255 * YEAR);
}

/// An erased block rests through the jump: the next cycle is a gentle one.
#[test]
fn blocks_recover_in_a_jump() {
    let mut chips = crate::aging::support::chip(&config());
    fill(&mut chips, 3);
    chips.advance_clock(minutes(180));
    chips.erase(3);
    let rested = chips.true_wear(3).expect("cells that age").lasting_q20 as f64 / f64::from(1 << 20);
    near(rested, model(&config()).dwell_factor(180.0, 30.0), 1e-4);
}

#[test]
fn reads_in_bulk_disturb_like_reads_one_by_one() {
    let cfg = config();
    let mut drive = drive(&cfg);
    age(&mut drive, "disturb 48000 reads");
    let (d, alpha) = (&cfg.cells.disturb, 9.56 - 2.0 * 1.48);
    let weight = d.page_weights.iter().sum::<f64>() / 3.0;
    let block = full(&drive)[0];
    // Each of 48 wordlines took 1000: 46 others and alpha times one neighbour at the edge, 45 and two within.
    let effective = |drive: &Drive, wordline| drive.chips().effective_reads(block, wordline) as f64;
    near(effective(&drive, 0), weight * 1_000.0 * (46.0 + alpha), 2.0);
    near(effective(&drive, 24), weight * 1_000.0 * (45.0 + 2.0 * (8.7 - 2.96)), 2.0);
    let (before, at) = (effective(&drive, 24), effective(&drive, 23));
    age(&mut drive, "disturb 1000 reads of wordline 23");
    near(effective(&drive, 24) - before, weight * 1_000.0 * (8.7 - 2.96), 2.0);
    assert_eq!(effective(&drive, 23), at, "its own reads do not count");
    let empty = (0..drive.chips().blocks()).find(|&block| drive.chips().programmed_pages(block) == 0);
    assert_eq!(drive.chips().effective_reads(empty.expect("an empty block"), 5), 0);
}

#[test]
fn reads_that_cannot_be_counted_are_refused() {
    let mut cfg = config();
    let mut exact = drive(&cfg);
    let error = exact.age(&step("disturb 5 reads of wordline 48")).expect_err("no such wordline").to_string();
    assert!(error.contains("wordline 48") && error.contains("0 to 47"), "{error}");
    let error = exact.age(&step("disturb 9000000 reads of wordline 4")).expect_err("too many").to_string();
    assert!(error.contains("disturb 9000000 reads of wordline 4") && error.contains("fewer"), "{error}");
    assert_eq!(exact.chips().effective_reads(full(&exact)[0], 5), 0, "nothing changed");
    cfg.errors.disturb_counters = DisturbCounters::Block;
    let mut coarse = drive(&cfg);
    let error = coarse.age(&step("disturb 5 reads of wordline 4")).expect_err("by block").to_string();
    assert!(error.contains("disturb_counters"), "{error}");
    age(&mut coarse, "disturb 9000000 reads");
    assert!(coarse.chips().effective_reads(full(&coarse)[0], 5) > 7_000_000);
}
