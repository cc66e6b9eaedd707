use super::*;
use OpCode::{Flush, Read, Trim, Write};

type Rows = Vec<(u64, OpCode, u64, u32, u16)>;

fn run(text: &str, format: &str, options: ReadOptions) -> (Rows, SourceReport, Option<WorkloadError>) {
    let mut rows = Rows::new();
    let mut records =
        match open_input(Input::from_reader(std::io::Cursor::new(text.to_string()), "test"), format, options)
        {
            Ok(records) => records,
            Err(error) => return (rows, SourceReport::default(), Some(error)),
        };
    loop {
        match records.next() {
            Ok(Some(Record { request: r, device })) => {
                rows.push((r.arrival_ns, r.op, r.lba, r.sectors, device))
            }
            Ok(None) => return (rows, records.report().clone(), None),
            Err(error) => return (rows, records.report().clone(), Some(error)),
        }
    }
}

fn read(text: &str) -> (Rows, SourceReport) {
    let (rows, report, error) = run(text, "auto", ReadOptions::default());
    assert_eq!(error, None, "{text}");
    (rows, report)
}

/// The sample of a format.
fn sample(format: &str) -> &'static str {
    formats().find(|info| info.name == format).expect("a format").sample
}

#[test]
fn msr_in_units_of_the_trace() {
    let (rows, report) = read(sample("msr"));
    assert_eq!(rows, [(0, Read, 749_016, 64, 0), (1_332_052_600, Write, 5_512_000, 8, 1)]);
    assert_eq!((report.lines, report.requests, report.rounded_to_sectors), (2, 2, 0));
}

#[test]
fn msr_rounds_bytes_out_to_sectors() {
    let (rows, report) =
        read("10,a,0,Read,1000,30,1\n10,a,0,write,512,512,1\n10,a,0,READ,512,1,1\n10,a,0,Read,5,0,1\n");
    assert_eq!(rows, [(0, Read, 1, 2, 0), (0, Write, 1, 1, 0), (0, Read, 1, 1, 0)]);
    assert_eq!((report.rounded_to_sectors, report.zero_length), (2, 1));
}

#[test]
fn msr_hosts_become_devices() {
    let (rows, _) =
        read("1,hm,0,Read,0,512,1\n1,prxy,1,Read,0,512,1\n1,hm,3,Read,0,512,1\n1,prxy,0,Read,0,512,1\n");
    assert_eq!(rows.iter().map(|r| r.4).collect::<Vec<_>>(), [0, 257, 3, 256]);
}

#[test]
fn spc_with_carriage_returns_and_blank_lines() {
    let (rows, report) =
        read("\n0,20941264,8192,W,0.551706\r\n\r\n12,1,1,r,0.551706001,extra\r\n  \n3,9,512,R,2\n");
    assert_eq!(rows, [(0, Write, 20_941_264, 16, 0), (1, Read, 1, 1, 12), (1_448_294_000, Read, 9, 1, 3)]);
    assert_eq!((report.lines, report.blank_lines, report.rounded_to_sectors), (6, 3, 1));
}

#[test]
fn mqsim_in_nanoseconds_or_decimal_milliseconds() {
    let (rows, _) = read("938513000 4 264719034 16 0\n938828000 3 197570570 32 1\n");
    assert_eq!(rows, [(0, Write, 264_719_034, 16, 4), (315_000, Read, 197_570_570, 32, 3)]);
    let (rows, _) = read("15849 0 6198696 8 0\n15850.59734\t0  6198704 2048 1\n");
    assert_eq!(rows, [(0, Write, 6_198_696, 8, 0), (1_597_340, Read, 6_198_704, 2048, 0)]);
    let options = ReadOptions { time_unit: TimeUnit::Microseconds, ..ReadOptions::default() };
    let (rows, _, error) = run("1 0 6198696 8 0\n3.5 0 8 8 0\n", "mqsim", options);
    assert_eq!((rows[1].0, error), (2500, None));
}

/// So many writes of so many sectors, so many units of time apart.
fn paced(count: u64, sectors: u64, gap: u64) -> String {
    (0..count).map(|i| format!("{} 0 {} {sectors} 0\n", 7 + i * gap, i * sectors)).collect()
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
        let assumed = report.assumed_unit.expect("nothing says the unit");
        assert_eq!((assumed.unit, rows[999].0), (unit, ns), "{sectors} sectors, {gap} apart: {assumed:?}");
        assert!(report.remarks()[0].starts_with(&format!("times are taken for {}: ", unit.name())));
        let options = ReadOptions { time_unit: unit, ..ReadOptions::default() };
        let (same, named, _) = run(&paced(1_000, sectors, gap), "mqsim", options);
        assert_eq!((same, named.assumed_unit), (rows, None), "named, and nothing assumed");
    }
    let (_, report) = read(&paced(2, 8, 0));
    assert_eq!(report.assumed_unit, None, "all at once, in any unit");
}

#[test]
fn a_unit_that_cannot_be_told_is_an_error_with_figures() {
    let refused = |text: &str| {
        let (rows, _, error) = run(text, "mqsim", ReadOptions::default());
        assert!(rows.is_empty());
        error.expect("an error").to_string()
    };
    // 2 us apart: half a million requests a second, or 500.
    let error = refused(&paced(1_000, 8, 2_000));
    for text in [
        "there is no unit that fits alone",
        "in ns  the first 1000 requests ask for 500000 requests/s and 2048.000 MB/s",
        "in us  the first 1000 requests ask for 500 requests/s and 2.048 MB/s",
        "--time-unit us",
        "allowed: s, ms, us, ns, 100ns",
    ] {
        assert!(error.contains(text), "{text} in {error}");
    }
    assert!(!error.contains("in ms"), "half a request a second: {error}");
    let few = read(&paced(19, 8, 2_000)).1.assumed_unit.map(|assumed| assumed.unit);
    assert_eq!(few, Some(TimeUnit::Nanoseconds), "so few say nothing of what is ordinary");
    // A GiB in every unit is too fast even in ms.
    let error = refused(&paced(3, 2_097_152, 1));
    assert!(error.contains("slow enough for a drive") && error.contains("in ms"), "{error}");
}

#[test]
fn mqsim_refuses_decimals_after_a_head_without() {
    let text = "1 0 1 8 0\n".repeat(30) + "2.5 0 1 8 0\n";
    let (rows, _, error) = run(&text, "auto", ReadOptions::default());
    assert_eq!(rows.len(), 30);
    let text = error.map(|e| e.to_string()).unwrap_or_default();
    assert!(
        text.contains("test:31: column Time: not a number: found '2.5'") && text.contains("time_unit"),
        "{text}"
    );
}

#[test]
fn byte_addresses_in_five_columns_are_not_taken_for_sectors() {
    let text = "0.000 0 200626176 4096 0\n223.412 0 3159347200 36864 0\n";
    let error = run(text, "auto", ReadOptions::default()).2.map(|e| e.to_string()).unwrap_or_default();
    assert!(
        error.contains("not a trace of a known format") && error.contains("0.000 0 200626176"),
        "{error}"
    );
    assert_eq!(run(text, "mqsim", ReadOptions::default()).0.len(), 2);
}

/// The header of the format that has one.
fn header() -> &'static str {
    sample("rocksdb").split_inclusive('\n').next().expect("a line")
}

#[test]
fn rocksdb_flags_and_hints() {
    let text = format!(
        "{}100,1,15,Write,8,16,19,1,1,0,0,0,3,4294967376,1,0,9,\"a,b.sst\",5,0\n\
         150,2,4,Discard,384,8,0,0,0,0,0,0,0,,,,,,5,0\n\
         160,2,4,Write,0,0,0,1,0,0,0,0,0,,,,,,5,0\n\
         170,2,4,Read,0,0,0,0,0,0,0,0,0,,,,,,5,0\n\
         180,2,4,Flush,7,7,0,0,0,0,0,0,0,,,,,,5,0\n",
        header()
    );
    let (rows, report) = read(&text);
    assert_eq!(
        rows,
        [
            (0, Flush, 0, 0, 0),
            (0, Write, 8, 16, 0),
            (50, Trim, 384, 8, 0),
            (60, Flush, 0, 0, 0),
            (80, Flush, 0, 0, 0)
        ]
    );
    assert_eq!((report.lines, report.requests, report.zero_length), (6, 5, 1));
    let mut records =
        open_input(Input::from_reader(std::io::Cursor::new(text), "test"), "auto", ReadOptions::default())
            .unwrap();
    let _flush = records.next();
    let write = records.next().unwrap().unwrap().request;
    assert!(write.fua);
    assert_eq!(write.hints, Hints { stream: 3, file: 80 ^ 1, ..Hints::default() });
}

#[test]
fn rocksdb_finds_columns_by_name() {
    let (rows, _) = read("len,other,lba,operation,timestamp_ns\n8,x,16,Write,5\n9,,1,Read,6\n");
    assert_eq!(rows, [(0, Write, 16, 8, 0), (1, Read, 1, 9, 0)]);
    for (header, missing) in [("timestamp_ns,operation,len\n", "lba"), ("1,2,3\n", "timestamp_ns")] {
        let error =
            run(header, "rocksdb", ReadOptions { on_bad_line: OnBadLine::Skip, ..ReadOptions::default() }).2;
        let text = error.map(|e| e.to_string()).unwrap_or_default();
        assert!(text.contains(&format!("test:1: column {missing}: column missing in the header")), "{text}");
    }
}

/// One damaged line after a good one: format, line, and what the error says.
const DAMAGED: &[(&str, &str, BadReason, &str)] = &[
    ("msr", "1,h,0,Read,12x4,512,1", BadReason::NotANumber, "column Offset: not a number: found '12x4'"),
    ("msr", "abc,h,0,Read,1,512,1", BadReason::NotANumber, "column Timestamp: not a number: found 'abc'"),
    (
        "msr",
        "1,h,0,Read,-5,512,1",
        BadReason::Negative,
        "column Offset: negative: found '-5', allowed: a whole",
    ),
    ("msr", "1,h,0,Read,1", BadReason::MissingColumn, "column Size: missing: found nothing"),
    ("msr", "1,h,0,Read,1,512", BadReason::MissingColumn, "column ResponseTime: missing"),
    ("msr", "1,h", BadReason::MissingColumn, "column DiskNumber: missing"),
    ("msr", "1,h,0,Raed,1,512,1", BadReason::UnknownOperation, "found 'Raed', allowed: Read or Write"),
    ("msr", "1,h,0,,1,512,1", BadReason::UnknownOperation, "column Type"),
    ("msr", "1,h,256,Read,1,512,1", BadReason::TooLarge, "column DiskNumber: too large: found '256'"),
    ("msr", "1,h,0,Read,99999999999999999999,512,1", BadReason::TooLarge, "column Offset: too large"),
    ("msr", "1,h,0,Read,18446744073709551615,512,1", BadReason::TooLarge, "2^50 sectors"),
    (
        "msr",
        "1,h,0,Read,0,9999999999999,1",
        BadReason::TooLarge,
        "column Size: too large: found '9999999999999'",
    ),
    ("msr", "184467440737095517,h,0,Read,0,512,1", BadReason::TooLarge, "column Timestamp: too large"),
    ("msr", "184467440737095516,h,0,Read,0,512,1", BadReason::TooLarge, "146 years"),
    ("msr", "1 2,h,0,Read,0,512,1", BadReason::NotANumber, "found '1 2'"),
    ("msr", "\u{1}\u{2}\u{ff}garbage", BadReason::NotANumber, "found '\\x01\\x02\\xc3\\xbfgarbage'"),
    ("spc", "0,5,512,x,1.0", BadReason::UnknownOperation, "column Opcode"),
    ("spc", "0,5,512,r,1.0.0", BadReason::NotANumber, "column Timestamp"),
    ("spc", "0,5,512,r,1e9", BadReason::NotANumber, "column Timestamp"),
    ("spc", "0,5,512,r,", BadReason::MissingColumn, "column Timestamp: missing"),
    ("spc", "65536,5,512,r,1", BadReason::TooLarge, "allowed: 0 to 65535"),
    ("mqsim", "5 0 5 8 2", BadReason::UnknownOperation, "column Type: unknown operation: found '2'"),
    ("mqsim", "5 0 5 8", BadReason::MissingColumn, "column Type: missing"),
    ("mqsim", "5 0 5 4294967296 1", BadReason::TooLarge, "2 TiB"),
    ("rocksdb", "9,1,1,Write,8", BadReason::MissingColumn, "column len: missing"),
    ("rocksdb", "9,1,1,Write,8,8,0,0,0,0,0,0,0,7", BadReason::MissingColumn, "as many columns"),
    ("rocksdb", "9,1,1,Wirte,8,8,0,0,0,0,0,0,0,7,,,,,,", BadReason::UnknownOperation, "found 'Wirte'"),
    ("rocksdb", "9,1,1,Write,8,8,0,0,0,0,0,0,65536,7,,,,,,", BadReason::TooLarge, "column writeHint"),
];

#[test]
fn damaged_lines_are_errors_or_counted() {
    for (format, line, reason, says) in DAMAGED {
        assert_damaged(format, line, Some(*reason), says);
    }
}

/// Asserts that a line is refused with its place after a format's sample, for that reason, and skipped and counted if
/// that is asked for.
fn assert_damaged(format: &str, line: &str, reason: Option<BadReason>, says: &str) {
    let start = sample(format);
    let whole = read(start).0.len();
    let number = start.lines().count() as u64 + 1;
    let again = start.lines().last().unwrap_or_default();
    let text = format!("{start}{line}\n{again}\n");
    let (rows, _, error) = run(&text, format, ReadOptions::default());
    let message = error.as_ref().map(|e| e.to_string()).unwrap_or_default();
    assert_eq!(rows.len(), whole, "{line}");
    assert!(message.starts_with(&format!("test:{number}: ")) && message.contains(says), "{line}: {message}");
    let Some(Problem::BadLine { reason: found, .. }) = error.as_ref().map(WorkloadError::problem) else {
        panic!("{line}: {message}");
    };
    let (found, reason) = (*found, reason.unwrap_or(*found));
    assert_eq!(found, reason, "{line}: {message}");
    let skip = ReadOptions { on_bad_line: OnBadLine::Skip, ..ReadOptions::default() };
    let (rows, report, error) = run(&text, format, skip);
    assert_eq!((rows.len(), error), (whole + 1, None), "{line}");
    assert_eq!(report.skipped.len(), 1, "{line}");
    assert_eq!((report.skipped[0].reason, report.skipped[0].count), (reason, 1), "{line}");
    assert_eq!(report.skipped[0].first_lines, [number]);
    // The same line, cut at the end of the file.
    let (_, report, _) = run(&format!("{start}{line}"), format, skip);
    assert_eq!(report.skipped[0].reason, BadReason::CutAtEnd, "{line}");
    assert!(report.last_line_unterminated);
    let message = run(&format!("{start}{line}"), format, ReadOptions::default()).2.map(|e| e.to_string());
    assert!(message.is_some_and(|m| m.contains("the file ends in the middle of this line")), "{line}");
}

#[test]
fn every_format_reads_its_own_sample() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/reader");
    for info in formats() {
        assert!(folder.join(format!("{}.rs", info.name)).is_file(), "{}", info.file);
        assert!(!info.summary.contains("  ") && !info.source.is_empty() && !info.columns.is_empty());
        let lines: Vec<&[u8]> = info.sample.lines().map(str::as_bytes).collect();
        let takers: Vec<_> = FORMATS.iter().filter(|entry| (entry.recognises)(&lines)).collect();
        assert_eq!(takers.iter().map(|entry| entry.info.name).collect::<Vec<_>>(), [info.name]);
        let (rows, report) = read(info.sample);
        assert!(rows.len() >= 2 && report.requests == rows.len() as u64, "{}: {rows:?}", info.name);
        assert_eq!((report.skipped_total(), report.zero_length, report.time_steps_back), (0, 0, 0));
        assert_eq!(run(info.sample, info.name, ReadOptions::default()).0, rows, "{}", info.name);
    }
}

#[test]
fn every_format_is_proof_against_damage() {
    for info in formats() {
        let line = info.sample.lines().last().unwrap();
        assert_damaged(info.name, "noise", None, "found");
        assert_damaged(info.name, "\u{1}\u{2}\u{ff}", None, "found");
        // Wherever a line is cut or has another letter in it: it is a request, or an error with its place.
        let cut = (1..line.len()).filter(|&at| line.is_char_boundary(at)).map(|at| line[..at].to_owned());
        let other = (0..line.len()).flat_map(|at| {
            ["x", "-", " ", "\u{0}"].map(|letter| format!("{}{letter}{}", &line[..at], &line[at + 1..]))
        });
        let mut refused = 0;
        for damaged in cut.chain(other) {
            let text = format!("{}{damaged}\n", info.sample);
            if let Some(error) = run(&text, info.name, ReadOptions::default()).2 {
                let place = format!("test:{}: ", info.sample.lines().count() + 1);
                assert!(error.to_string().starts_with(&place), "{damaged:?}: {error}");
                let skip = ReadOptions { on_bad_line: OnBadLine::Skip, ..ReadOptions::default() };
                let (_, report, error) = run(&text, info.name, skip);
                assert_eq!((report.skipped_total(), error), (1, None), "{damaged:?}");
                refused += 1;
            }
        }
        assert!(refused > line.len() / 2, "{}: {refused} damaged lines were refused", info.name);
    }
}

#[test]
fn a_last_line_without_end_is_used_and_remarked() {
    let (rows, report) = read(sample("msr").trim_end());
    assert_eq!(rows.len(), 2);
    assert!(report.last_line_unterminated && report.remarks()[0].contains("no line end"));
}

#[test]
fn files_without_requests_are_errors() {
    let skip = ReadOptions { on_bad_line: OnBadLine::Skip, ..ReadOptions::default() };
    for (text, format) in [
        ("", "auto"),
        ("", "msr"),
        ("\n\n", "auto"),
        ("\n \n", "spc"),
        (header(), "auto"),
        ("x\ny\n", "mqsim"),
    ] {
        let error = run(text, format, skip).2;
        assert!(
            matches!(error.as_ref().map(WorkloadError::problem), Some(Problem::NoRequests { .. })),
            "{text:?}: {error:?}"
        );
    }
    let names = formats().map(|info| info.name).collect::<Vec<_>>().join(", ");
    let error = run("\u{0}\u{1}\u{2}noise\u{3}\n", "auto", skip).2.map(|e| e.to_string()).unwrap_or_default();
    assert!(error.contains("begins with '\\x00\\x01\\x02noise\\x03'") && error.contains(&names), "{error}");
}

#[test]
fn time_going_backwards_is_clamped_or_refused() {
    let text = "0,1,512,r,5.0\n0,1,512,r,7.0\n0,1,512,r,6.5\n0,1,512,r,4.0\n0,1,512,r,8.0\n";
    let (rows, report) = read(text);
    assert_eq!(rows.iter().map(|r| r.0 / 1_000_000).collect::<Vec<_>>(), [0, 2000, 2000, 2000, 3000]);
    assert_eq!((report.time_steps_back, report.time_step_back_ns_max), (2, 3_000_000_000));
    let options = ReadOptions { on_time_step_back: OnTimeStepBack::Error, ..ReadOptions::default() };
    let (rows, _, error) = run(text, "auto", options);
    assert_eq!(rows.len(), 2);
    let message = error.map(|e| e.to_string()).unwrap_or_default();
    assert!(message.starts_with("test:3: time goes backwards: found '0,1,512,r,6.5'"), "{message}");
    let (rows, report, error) = run(text, "auto", ReadOptions { on_bad_line: OnBadLine::Skip, ..options });
    assert_eq!((rows.len(), error), (3, None));
    assert_eq!((report.skipped[0].reason, report.skipped[0].count), (BadReason::TimeStepBack, 2));
}

#[test]
fn a_line_without_end_is_passed_over_in_constant_memory() {
    let long = "7".repeat(1_000_000);
    let msr = sample("msr");
    let text = format!("{msr}{long}\n{msr}{long}");
    let message = run(&text, "msr", ReadOptions::default()).2.map(|e| e.to_string()).unwrap_or_default();
    assert!(
        message.contains("test:3: line too long: found '7777") && message.contains("65536 bytes"),
        "{message}"
    );
    let skip = ReadOptions { on_bad_line: OnBadLine::Skip, ..ReadOptions::default() };
    let (rows, report, error) = run(&text, "msr", skip);
    assert_eq!((rows.len(), error), (4, None));
    assert_eq!((report.skipped[0].reason, report.skipped[0].count), (BadReason::LineTooLong, 2));
}

#[test]
fn names_of_formats_are_checked() {
    let error = check_name("mqsin").unwrap_err().to_string();
    assert!(
        error.contains("unknown trace format `mqsin` (did you mean `mqsim`?)") && error.contains("auto"),
        "{error}"
    );
}

#[test]
fn a_damaged_first_line_does_not_hide_the_format() {
    let skip = ReadOptions { on_bad_line: OnBadLine::Skip, ..ReadOptions::default() };
    let (rows, report, error) = run(&format!("1,x\n{}", sample("msr")), "auto", skip);
    assert_eq!((rows.len(), report.skipped_total(), error), (2, 1, None));
}
