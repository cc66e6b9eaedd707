mod blktrace;
mod blocks;
mod caches;
mod calls;
mod damage;
mod described;
mod units;

use super::*;
use crate::base::findings::BadReason;
use crate::base::request::Record;
use crate::base::units::{AddressUnit, TimeUnit};
use OpCode::{Flush, Read, Trim, Write};
use ssd::signals::{Hints, OpCode};
use std::borrow::Borrow;

type Rows = Vec<(u64, OpCode, u64, u32, u16)>;

fn run(
    text: &(impl AsRef<[u8]> + ?Sized),
    format: &str,
    options: impl Borrow<ReadOptions>,
) -> (Rows, SourceReport, Option<WorkloadError>) {
    let mut rows = Rows::new();
    let mut options: ReadOptions = options.borrow().clone();
    if options.columns.is_empty() {
        options.columns = columns_of(format);
    }
    let mut records = match open_input(
        Input::from_reader(std::io::Cursor::new(text.as_ref().to_vec()), "test"),
        format,
        &options,
    ) {
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

/// What `columns` must be for the sample of a format.
fn columns_of(format: &str) -> Columns {
    let text = formats().find(|info| info.name == format).map_or("", |info| info.sample_columns);
    if text.is_empty() { Columns::default() } else { Columns::from_text(text).unwrap() }
}

fn read(text: &str) -> (Rows, SourceReport) {
    let (rows, report, error) = run(text, "auto", ReadOptions::default());
    assert_eq!(error, None, "{text}");
    (rows, report)
}

/// The sample of a format of text.
fn sample(format: &str) -> &'static str {
    let info = formats().find(|info| info.name == format).expect("a format");
    std::str::from_utf8(info.sample).expect("text")
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
        open_input(Input::from_reader(std::io::Cursor::new(text), "test"), "auto", &ReadOptions::default())
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

#[test]
fn every_format_reads_its_own_sample() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/reader");
    for info in formats() {
        assert!(folder.join(format!("{}.rs", info.name)).is_file(), "{}", info.file);
        assert!(!info.summary.contains("  ") && !info.source.is_empty() && !info.columns.is_empty());
        let options = ReadOptions::default();
        let files = Files::one(Input::from_reader(info.sample, "test")).unwrap();
        let takers = FORMATS.iter().filter(|entry| (entry.fits)(&files.head(entry.cut), &options).is_some());
        let takers: Vec<&str> = takers.map(|entry| entry.info.name).collect();
        let says_itself = info.sample_columns.is_empty();
        assert_eq!(takers, if says_itself { vec![info.name] } else { vec![] }, "{}", info.name);
        let options = ReadOptions { columns: columns_of(info.name), ..options };
        let (rows, report, error) = run(info.sample, "auto", options);
        assert_eq!(error, None, "{}", info.name);
        assert!(rows.len() >= 2 && report.requests == rows.len() as u64, "{}: {rows:?}", info.name);
        assert_eq!((report.skipped_total(), report.zero_length, report.time_steps_back), (0, 0, 0));
        assert_eq!(run(info.sample, info.name, ReadOptions::default()).0, rows, "{}", info.name);
    }
}

#[test]
fn a_last_line_without_end_is_used_and_remarked() {
    let (rows, report) = read(sample("msr").trim_end());
    assert_eq!(rows.len(), 2);
    assert!(report.last_line_unterminated && report.remarks().iter().any(|r| r.contains("no line end")));
    // It changes how numbers are read; how a trace was understood does not.
    let cut = report.told().into_iter().find(|remark| remark.text.contains("no line end")).unwrap();
    assert!(cut.matters && report.told().iter().any(|remark| !remark.matters), "{:?}", report.told());
}

#[test]
fn zeros_at_the_end_are_passed_over_counted_and_told() {
    let whole = read(sample("msr")).0;
    for zeros in [1, 1000, 300_000] {
        let zeros = "\0".repeat(zeros);
        let (rows, report) = read(&format!("{}{zeros}", sample("msr")));
        assert_eq!((rows, report.blank_lines, report.skipped_total()), (whole.clone(), 0, 1));
        let told = "1 damaged lines skipped: nothing but zero bytes, as where a file was cut (line 3)";
        assert!(report.remarks().iter().any(|remark| remark == told), "{:?}", report.remarks());
        let (rows, report) = read(&format!("{}{zeros}", sample("msr").trim_end()));
        assert_eq!((rows, report.last_line_unterminated), (whole.clone(), true));
    }
}

#[test]
fn rows_of_zeros_are_damaged_lines_wherever_they_are() {
    let skip = ReadOptions { on_bad_line: OnBadLine::Skip, ..ReadOptions::default() };
    let zeros = format!("{}\n\n{}\r\n", "\0".repeat(40), "\0 \0");
    for format in ["msr", "alibaba", "tencent", "systor17"] {
        let whole = run(sample(format), format, ReadOptions::default()).0;
        // More of them than of requests: the format is told by these alone.
        let text = sample(format).to_owned() + &zeros.repeat(500);
        let (rows, report, error) = run(&text, "auto", ReadOptions::default());
        assert_eq!((rows, error), (whole.clone(), None), "{format}");
        assert_eq!((report.blank_lines, report.skipped_total()), (500, 1000), "{format}");
        assert_eq!(report.skipped[0].reason, BadReason::ZeroBytes);
        // In the middle something is missing.
        let (first, rest) = text.split_at(sample(format).find('\n').unwrap() + 1);
        let text = format!("{first}{zeros}{rest}");
        let error = run(&text, format, ReadOptions::default()).2.unwrap().to_string();
        assert!(error.starts_with("test:5: nothing but zero bytes"), "{format}: {error}");
        let (rows, report, error) = run(&text, format, &skip);
        assert_eq!((rows, report.skipped_total(), error), (whole, 1002, None), "{format}");
    }
}

#[test]
fn devices_may_have_numbers_of_more_than_16_bits() {
    let text =
        "5,W,0,4096,1\n70000,W,4096,4096,2\n5,W,8192,4096,3\n4294967296,R,0,4096,4\n65535,R,0,4096,5\n";
    let (rows, report, error) = run(text, "alibaba", ReadOptions::default());
    assert_eq!(error, None);
    let devices: Vec<u16> = rows.iter().map(|row| row.4).collect();
    assert_eq!(devices, [5, 65_535, 5, 65_534, 65_533]);
    let told = "are told apart by others: 65535 by 65533, 70000 by 65535, 4294967296 by 65534";
    assert!(report.remarks().iter().any(|remark| remark.ends_with(told)), "{:?}", report.remarks());
    // Each format with such a column.
    for (format, text) in [
        ("tencent", "1538323199,8,128,0,70000\n1538323199,8,128,1,5\n"),
        ("spc", "70000,5,512,r,1\n5,5,512,w,2\n"),
        ("mqsim", "5 70000 5 8 1\n6 5 5 8 0\n"),
        ("systor17", "1,1,R,70000,0,512\n2,1,W,5,0,512\n"),
        ("diskmon", "0\t0.1\t0.1\t70000\tRead\t8\t8\n1\t0.2\t0.1\t5\tWrite\t8\t8\n"),
    ] {
        let (rows, _, error) =
            run(text, format, ReadOptions { time_unit: TimeUnit::Seconds, ..Default::default() });
        let devices: Vec<u16> = rows.iter().map(|row| row.4).collect();
        assert_eq!((devices, error), (vec![65_535, 5], None), "{format}");
    }
    // More devices than there are numbers, some of which are asked for.
    let many: String = (0..70_000).map(|i| format!("{},W,0,4096,{i}\n", 100_000 + i)).collect();
    let error = run(&many, "alibaba", ReadOptions::default()).2.unwrap().to_string();
    assert!(error.starts_with("test:65537: column device_id: too large: found '165536'"), "{error}");
    assert!(error.contains("--device"), "{error}");
    let asked = ReadOptions { devices: vec![169_999, 100_000], ..ReadOptions::default() };
    let (rows, _, error) = run(&many, "alibaba", asked);
    assert_eq!((rows.len(), error), (70_000, None));
    let of = |number| rows.iter().filter(|row| row.4 == number).count();
    assert_eq!((of(65_535), of(65_534), of(65_533)), (1, 1, 69_998));
    let some = ReadOptions { devices: vec![5], ..ReadOptions::default() };
    let report = run("5,W,0,4096,1\n6,W,0,4096,2\n", "alibaba", some).1;
    assert!(report.renumbered.is_empty(), "{:?}", report.renumbered);
}

/// Events that nobody asked for, calls that failed: a recording may have much and no request.
#[test]
fn recordings_without_requests_tell_what_they_have() {
    let completed =
        "# tracer: nop\n <idle>-0 [002] d.h1. 12.000610: block_rq_complete: 8,0 R () 2101248 + 8 [0]\n"
            .to_owned()
            + &" <idle>-0 [002] d.h1. 12.000710: block_rq_complete: 8,0 R () 2101256 + 8 [0]\n".repeat(1200);
    let queued = ReadOptions { event: Event::Queued, ..ReadOptions::default() };
    let said = |text: &str, format: &str, options: &ReadOptions| match run(text, format, options).2 {
        Some(error) => error.to_string(),
        None => panic!("was read: {text}"),
    };
    assert_eq!(
        said(&completed, "ftrace", &queued),
        "test: no request in this trace (1202 lines, 0 skipped as damaged): 1 comments, 1,201 events C (completed); \
         --event complete takes events C for requests"
    );
    let calls = "12 0.000100 openat(AT_FDCWD, \"f\", O_RDONLY) = 3\n12 0.000200 pread64(3, \"\", 4096, 0) = -1 EIO (Input/output error)\n\
                 12 0.000300 +++ exited with 0 +++\n";
    let told = said(calls, "strace", &ReadOptions::default());
    assert!(
        told.contains("3 lines, 0 skipped as damaged): ") && told.contains("1 calls that failed"),
        "{told}"
    );
    assert!(!told.contains("--event"), "{told}");
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
        let error = run(text, format, &skip).2;
        assert!(
            matches!(error.as_ref().map(WorkloadError::problem), Some(Problem::NoRequests { .. })),
            "{text:?}: {error:?}"
        );
    }
    let names = formats().map(|info| info.name).collect::<Vec<_>>().join(", ");
    let error =
        run("\u{0}\u{1}\u{2}noise\u{3}\n", "auto", &skip).2.map(|e| e.to_string()).unwrap_or_default();
    assert!(error.contains("begins with '\\x00\\x01\\x02noise\\x03'") && error.contains(&names), "{error}");
}

#[test]
fn time_going_backwards_is_clamped_or_refused() {
    let text = "0,1,512,r,5.0\n0,1,512,r,7.0\n0,1,512,r,6.5\n0,1,512,r,4.0\n0,1,512,r,8.0\n";
    let (rows, report) = read(text);
    assert_eq!(rows.iter().map(|r| r.0 / 1_000_000).collect::<Vec<_>>(), [0, 2000, 2000, 2000, 3000]);
    assert_eq!((report.time_steps_back, report.time_step_back_ns_max), (2, 3_000_000_000));
    let options = ReadOptions { on_time_step_back: OnTimeStepBack::Error, ..ReadOptions::default() };
    let (rows, _, error) = run(text, "auto", &options);
    assert_eq!(rows.len(), 2);
    let message = error.map(|e| e.to_string()).unwrap_or_default();
    assert!(message.starts_with("test:3: time goes backwards: found '0,1,512,r,6.5'"), "{message}");
    let (rows, report, error) =
        run(text, "auto", ReadOptions { on_bad_line: OnBadLine::Skip, ..options.clone() });
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
    let (rows, report, error) = run(&text, "msr", &skip);
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
    let (rows, report, error) = run(&format!("1,x\n{}", sample("msr")), "auto", &skip);
    assert_eq!((rows.len(), report.skipped_total(), error), (2, 1, None));
}
