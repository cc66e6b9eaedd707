//! Units that a trace does not name, told by its beginning.

use super::*;

/// So many writes of so many sectors, so many units of time apart.
fn paced(count: u64, sectors: u64, gap: u64) -> String {
    (0..count).map(|i| format!("{} 0 {} {sectors} 0\n", 7 + i * gap, i * sectors)).collect()
}

/// What the times were taken for.
fn time_of(report: &SourceReport) -> Option<TimeUnit> {
    report.assumed.map(|assumed| assumed.time)
}

fn refused(text: &str) -> String {
    let (rows, _, error) = run(text, "mqsim", ReadOptions::default());
    assert!(rows.is_empty());
    error.expect("an error").to_string()
}

#[test]
fn whole_numbers_have_the_finest_unit_in_which_a_drive_could_follow() {
    // Sectors, gap in units, unit, and the last of a thousand arrivals.
    for (sectors, gap, unit, ns) in [
        // 5,000 requests/s; in us 5, which is no ordinary trace.
        (8, 200_000, TimeUnit::Nanoseconds, 199_800_000),
        // 333,333 requests/s and 44 GB/s in ns, 333 requests/s in us.
        (256, 3_000, TimeUnit::Microseconds, 2_997_000_000),
        // 10,000 requests/s in ns, 10 in us.
        (8, 100_000, TimeUnit::Nanoseconds, 99_900_000),
        // 91 million requests/s in ns, 90,909 in us, 91 in ms.
        (8, 11, TimeUnit::Microseconds, 10_989_000),
        // 2 TB/s in us.
        (32_776, 8, TimeUnit::Milliseconds, 7_992_000_000),
    ] {
        let (rows, report) = read(&paced(1_000, sectors, gap));
        assert_eq!(
            (time_of(&report), rows[999].0),
            (Some(unit), ns),
            "{sectors} sectors, {gap} apart: {report:?}"
        );
        let remarks = report.remarks().join("\n");
        let says = format!("times are read as {}, addresses as sectors: the first 1000 ", unit.name());
        assert!(remarks.contains(&says), "{remarks}");
        let options =
            ReadOptions { time_unit: unit, address_unit: AddressUnit::Sectors, ..ReadOptions::default() };
        let (same, named, _) = run(&paced(1_000, sectors, gap), "mqsim", options);
        assert_eq!((same, named.assumed), (rows, None), "named, and nothing assumed");
    }
    let (_, report) = read(&paced(2, 8, 0));
    assert_eq!(time_of(&report), Some(TimeUnit::Auto), "all at once, in any unit");
}

#[test]
fn a_unit_that_cannot_be_told_is_an_error_with_figures() {
    // 2 us apart: half a million requests a second, or 500.
    let error = refused(&paced(1_000, 8, 2_000));
    for text in [
        "do not name their unit, and there is none that fits alone",
        "times in ns, addresses in sectors: the first 1000 requests ask for 500000 requests/s and 2048.000 MB/s, and touch \
         4.096 MB",
        "times in us, addresses in sectors: the first 1000 requests ask for 500 requests/s and 2.048 MB/s",
        "--time-unit us",
        "allowed: s, ms, us, ns, 100ns",
    ] {
        assert!(error.contains(text), "{text} in {error}");
    }
    assert!(!error.contains("in ms"), "half a request a second: {error}");
    assert_eq!(
        time_of(&read(&paced(19, 8, 2_000)).1),
        Some(TimeUnit::Nanoseconds),
        "so few say nothing of what is ordinary"
    );
    // A GiB and more in every unit is too fast even in ms.
    let error = refused(&paced(3, 2_097_153, 1));
    assert!(error.contains("slow enough for a drive") && error.contains("times in ms"), "{error}");
}

#[test]
fn multiples_of_a_thousand_are_microseconds_kept_as_ns() {
    let text: String = (0..1_000).map(|i| format!("{} 0 {} 8 0\n", 4_000 + i * 2_000, i * 8)).collect();
    assert_eq!(time_of(&read(&text).1), Some(TimeUnit::Nanoseconds));
    // Not where no drive could follow.
    let text: String = (0..1_000).map(|i| format!("{} 0 {} 256 0\n", 4_000 + i * 2_000, i * 256)).collect();
    assert_eq!(time_of(&read(&text).1), Some(TimeUnit::Microseconds));
}

#[test]
fn dates_tell_their_unit() {
    for (start, unit, ns) in [
        (1_577_808_144_u64, TimeUnit::Seconds, 1_000_000_000),
        (1_577_808_144_360, TimeUnit::Milliseconds, 1_000_000),
        (1_577_808_144_360_767, TimeUnit::Microseconds, 1_000),
        (1_577_808_144_360_767_001, TimeUnit::Nanoseconds, 1),
        (128_166_372_003_061_629, TimeUnit::Filetime, 100),
    ] {
        // Two requests a second.
        let text: String =
            (0..100).map(|i| format!("{} 0 {} 8 0\n", start + i * 1_000_000_000 / ns / 2, i * 9)).collect();
        let (rows, report) = read(&text);
        let seconds = rows[99].0 as f64 / 1e9;
        assert!(time_of(&report) == Some(unit) && (49.0..50.0).contains(&seconds), "{unit:?}: {report:?}");
    }
    // The ns since a machine was started look like the ms of a year, but nothing would happen for hours.
    let text: String =
        (0..100).map(|i| format!("{} 0 {} 8 0\n", 1_700_000_000_000_u64 + i * 100_001, i * 9)).collect();
    assert_eq!(time_of(&read(&text).1), Some(TimeUnit::Nanoseconds));
    // With decimals they are seconds.
    let (rows, _) = read("1577808144.5 0 1 8 0\n1577808146.25 0 9 8 0\n");
    assert_eq!(rows[1].0, 1_750_000_000);
}

#[test]
fn addresses_are_bytes_by_evidence() {
    let text = "0.000 0 200626176 4096 0\n223.412 0 3159347200 36864 1\n";
    let (rows, report) = read(text);
    assert_eq!(rows, [(0, Write, 391_848, 8, 0), (223_412_000, Read, 6_170_600, 72, 0)]);
    assert!(
        report.remarks()[1].starts_with("times are read as ms, addresses as bytes: the first 2 requests"),
        "{:?}",
        report.remarks()
    );
    // One size, all multiples: sectors would be 2 MiB every 10 ms, bytes 4 KiB.
    let alike =
        |ms: u64| -> String { (0..100).map(|i| format!("{}.0 0 {} 4096 1\n", i * ms, i * 8192)).collect() };
    let error = refused(&alike(10));
    for text in [
        "addresses in sectors: the first 100",
        "209.715 MB/s",
        "addresses in bytes: ",
        "--address-unit bytes",
    ] {
        assert!(error.contains(text), "{text} in {error}");
    }
    // Ten of them a ms would be more than any link carries.
    let fast: String = (0..100).map(|i| format!("{}.{} 0 {} 4096 1\n", i / 10, i % 10, i * 8192)).collect();
    assert_eq!(read(&fast).0[1], (100_000, Read, 16, 8, 0));
    let options = ReadOptions { address_unit: AddressUnit::Pages, ..ReadOptions::default() };
    assert_eq!(run(&alike(10), "mqsim", options).0[1], (10_000_000, Read, 65_536, 32_768, 0));
}

#[test]
fn a_pace_beyond_all_drives_is_remarked_of_known_units() {
    let text: String =
        (0..100).map(|i| format!("7,R,{},4096,{}\n", i * 4096, 1_577_808_144_000_000_u64 + i / 9)).collect();
    let (_, report) = read(&text);
    let remarks = report.remarks().join("\n");
    assert!(remarks.contains("9000000 requests/s") && remarks.contains("are the units right?"), "{remarks}");
    let options = ReadOptions { time_unit: TimeUnit::Milliseconds, ..ReadOptions::default() };
    assert_eq!(run(&text, "alibaba", options).1.too_fast, None);
}

#[test]
fn every_format_takes_other_units() {
    for info in formats() {
        let options = ReadOptions {
            time_unit: TimeUnit::Seconds,
            address_unit: AddressUnit::Pages,
            ..ReadOptions::default()
        };
        let (rows, report, error) = run(info.sample, info.name, options);
        // What is large in the sample's own unit may be too large in this one.
        let is_out_of_range = error.as_ref().is_some_and(|error| error.to_string().contains("too large"));
        assert!(is_out_of_range || (error.is_none() && report.assumed.is_none()), "{}: {error:?}", info.name);
        assert!(rows.iter().all(|row| row.2 % 8 == 0 && row.3 % 8 == 0), "{}: {rows:?}", info.name);
    }
}

#[test]
fn mqsim_refuses_decimals_after_a_head_without() {
    let text = "1 0 1 8 0\n".repeat(1001) + "2.5 0 1 8 0\n";
    let (rows, _, error) = run(&text, "auto", ReadOptions::default());
    assert_eq!(rows.len(), 1001);
    let text = error.map(|e| e.to_string()).unwrap_or_default();
    assert!(
        text.contains("test:1002: column Time: not a number: found '2.5'") && text.contains("time_unit"),
        "{text}"
    );
}
