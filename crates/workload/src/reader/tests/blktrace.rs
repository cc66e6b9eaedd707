//! Binary files of blktrace, made field by field as `linux/blktrace_api.h` has them.

use super::*;
use std::fs;
use std::process::Command;

/// Kinds of events, events and notes by their names in `linux/blktrace_api.h`.
const READ: u32 = 1 << 16;
const WRITE: u32 = 2 << 16;
const FLUSH: u32 = 4 << 16;
const SYNC: u32 = 8 << 16;
const META: u32 = 0x1000 << 16;
const DISCARD: u32 = 0x2000 << 16;
const FUA: u32 = 0x8000 << 16;
const QUEUE: u32 = 0x10 << 16 | 1;
const GETRQ: u32 = 0x10 << 16 | 4;
const ISSUE: u32 = 0x40 << 16 | 7;
const COMPLETE: u32 = 0x80 << 16 | 8;
const PROCESS: u32 = 0x400 << 16;
const MESSAGE: u32 = 0x400 << 16 | 2;
const CGROUP: u32 = 1 << 8;
const SDB: u32 = 8 << 20 | 16;
const NVME: u32 = 259 << 20 | 2;

/// A record: time, sector, bytes, action, pid, device, and what follows.
type Event<'a> = (u64, u64, u32, u32, u32, u32, &'a [u8]);

/// The bytes of the record that a processor wrote as its so many-th.
fn bytes_of(event: &Event<'_>, processor: u64, sequence: u64, is_big: bool) -> Vec<u8> {
    let &(time, sector, bytes, action, pid, device, follows) = event;
    let number = |n: u64, size: usize| {
        let little = n.to_le_bytes()[..size].to_vec();
        if is_big { little.into_iter().rev().collect() } else { little }
    };
    let sizes = [
        (0x6561_7407, 4),
        (sequence, 4),
        (time, 8),
        (sector, 8),
        (bytes.into(), 4),
        (action.into(), 4),
        (pid.into(), 4),
        (device.into(), 4),
        (processor, 4),
        (0, 2),
        (follows.len() as u64, 2),
    ];
    let mut record: Vec<u8> = sizes.into_iter().flat_map(|(n, size)| number(n, size)).collect();
    record.extend(follows);
    record
}

fn file_of(processor: u64, events: &[Event<'_>]) -> Vec<u8> {
    events.iter().zip(1..).flat_map(|(event, number)| bytes_of(event, processor, number, false)).collect()
}

/// What two processors recorded.
const FIRST: &[Event<'_>] = &[
    (1_000, 0, 0, PROCESS, 18046, 0, b"DataXceiver for\0"),
    (2_000, 488_386_593, 512, QUEUE | READ | META, 18046, SDB, b""),
    (3_000, 488_386_593, 512, GETRQ | READ | META, 18046, SDB, b""),
    (9_000, 488_386_593, 512, ISSUE | READ | META, 18046, SDB, b""),
    (2_000_000, 1024, 8192, QUEUE | WRITE | FLUSH | FUA | SYNC | META, 77, SDB, b""),
    (2_500_000, 0, 0, QUEUE | WRITE | FLUSH | SYNC, 77, SDB, b""),
];
const SECOND: &[Event<'_>] = &[
    (1_500, 0, 0, MESSAGE | CGROUP, 0, SDB, b"\x01\0\0\0\0\0\0\0hello"),
    (4_000, 0, 0, PROCESS, 77, 0, b"xfsaild/sdb\0\0\0\0\0"),
    (5_000, 4096, 1 << 20, QUEUE | WRITE | DISCARD, 77, NVME, b""),
    (8_000, 64, 4096, QUEUE | READ, 5, NVME, b""),
    (2_400_000, 488_386_593, 512, COMPLETE | READ, 0, SDB, b""),
];

fn all(mut records: Box<dyn Records>) -> (Vec<Record>, SourceReport) {
    let mut out = Vec::new();
    while let Some(record) = records.next().unwrap() {
        out.push(record);
    }
    (out, records.report())
}

#[test]
fn the_sample_is_two_requests_of_one_process() {
    let sample = formats().find(|info| info.name == "blktrace").unwrap().sample;
    let (rows, report, error) = run(sample, "auto", ReadOptions::default());
    assert_eq!(rows, [(0, Read, 2_097_152, 32, 0), (8_000, Write, 9_437_184, 16, 0)]);
    assert_eq!((error, report.processes.as_slice()), (None, &["java".to_owned()][..]));
    assert_eq!(
        (report.device_names, report.passed_over),
        (vec!["8,16".into()], vec![("names of processes", 1)])
    );
}

#[test]
fn both_orders_of_bytes_are_read() {
    let events = [FIRST, SECOND].concat();
    let little = run(&file_of(0, &events), "auto", ReadOptions::default());
    let big: Vec<u8> = events.iter().flat_map(|event| bytes_of(event, 0, 1, true)).collect();
    assert_eq!(run(&big, "auto", ReadOptions::default()), little);
    assert_eq!((little.0.len(), little.2), (6, None));
}

#[test]
fn the_number_of_a_control_group_is_no_part_of_what_follows() {
    let name = (1, 0, 0, PROCESS | CGROUP, 7, 0, &b"\x02\0\0\0\0\0\0\0java\0"[..]);
    let read = (2, 64, 4096, QUEUE | CGROUP | READ, 7, NVME, &b"\x02\0\0\0\0\0\0\0"[..]);
    let (rows, report, _) = run(&file_of(0, &[name, read]), "auto", ReadOptions::default());
    assert_eq!((rows, report.processes), (vec![(0, Read, 64, 8, 0)], vec!["java".to_owned()]));
}

#[test]
fn events_are_chosen_by_letter_or_by_name() {
    let of = |event: &str| {
        let mut spec = crate::Spec::trace("x");
        spec.set("event", &format!("\"{event}\"")).unwrap();
        let crate::Spec::Trace(spec) = spec else { panic!("a trace") };
        run(&file_of(0, FIRST), "blktrace", spec.read_options()).0
    };
    assert_eq!(of("issue"), [(0, Read, 488_386_593, 1, 0)]);
    assert_eq!((of("D"), of("queue")), (of("issue"), of("Q")));
    assert_eq!(
        run(&file_of(0, &FIRST[2..4]), "auto", ReadOptions::default()).0,
        of("issue"),
        "without any Q"
    );
}

#[test]
fn a_folder_is_merged_by_time_as_blkparse_prints_it() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("trace.blktrace.0"), file_of(0, FIRST)).unwrap();
    fs::write(at("trace.blktrace.1"), file_of(1, SECOND)).unwrap();
    fs::write(at("trace.blktrace.2"), "").unwrap();
    fs::write(at("notes.txt"), "no trace").unwrap();
    let open = |path: &Path| all(open_trace(path, "auto", &ReadOptions::default()).unwrap());
    let (merged, report) = open(folder.path());
    let rows: Vec<_> = merged
        .iter()
        .map(|Record { request: r, device }| {
            (r.arrival_ns, r.op, r.lba, r.sectors, *device, r.fua, r.hints.process)
        })
        .collect();
    let (sdb, nvme) = (0, 1);
    assert_eq!(
        rows,
        [
            (0, Read, 488_386_593, 1, sdb, false, 1),
            (3_000, Trim, 4096, 2048, nvme, false, 2),
            (6_000, Read, 64, 8, nvme, false, 0),
            (1_998_000, Flush, 0, 0, sdb, false, 2),
            (1_998_000, Write, 1024, 16, sdb, true, 2),
            (2_498_000, Flush, 0, 0, sdb, false, 2),
        ]
    );
    assert_eq!((report.sorted, report.lines), (0, 11));
    // One of them alone lacks the others, and says so.
    let remarks = open(&at("trace.blktrace.0")).1.remarks();
    assert!(remarks.iter().any(|remark| remark.contains("those of 2 more")), "{remarks:?}");
    // Packed files are read as the plain ones are.
    let packed = zstd::encode_all(&file_of(1, SECOND)[..], 1).unwrap();
    fs::write(at("trace.blktrace.1.zst"), packed).unwrap();
    fs::remove_file(at("trace.blktrace.1")).unwrap();
    assert_eq!(open(folder.path()).0, merged);
    fs::write(at("trace.blktrace.1"), file_of(1, SECOND)).unwrap();
    let printed = Command::new("blkparse").args(["-i", "trace"]).current_dir(folder.path()).output();
    let Ok(printed) = printed else { return eprintln!("blkparse is not installed: not compared") };
    let text = Input::from_reader(std::io::Cursor::new(printed.stdout), "blkparse");
    let (printed, told) = all(open_input(text, "auto", &ReadOptions::default()).unwrap());
    assert_eq!(told.detected.map(|found| found.format), Some("blkparse"));
    assert_eq!((printed, told.processes, told.device_names), (merged, report.processes, report.device_names));
}

#[test]
fn damage_is_told_with_file_and_byte_or_skipped() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (file_of(0, FIRST), file_of(1, SECOND));
    let skip = ReadOptions { on_bad_line: OnBadLine::Skip, ..ReadOptions::default() };
    // The second record: its magic number, its version; the last one is cut.
    let with = |at: usize, byte: u8| {
        let mut damaged = first.clone();
        damaged[at] = byte;
        damaged
    };
    let cut = first[..first.len() - 5].to_vec();
    let middle = [&first[..64], &[0; 70], &first[64..]].concat();
    for (damaged, reason, told) in [
        (
            with(64, 6),
            BadReason::NotARecord,
            "record at byte 64: field magic: no record begins here: found '\\x06tae",
        ),
        (with(66, 0), BadReason::NotARecord, "record at byte 64: field magic: no record begins here"),
        (cut, BadReason::CutAtEnd, "record at byte 256: field magic: the file ends in the middle of it"),
        (
            middle,
            BadReason::NotARecord,
            "record at byte 64: field magic: no record begins here: found '\\x00",
        ),
    ] {
        let (rows, report, error) = run(&damaged, "auto", ReadOptions::default());
        let error = error.unwrap().to_string();
        assert!(error.starts_with(&format!("test: {told}")), "{error}");
        let (skipped, counted, error) = run(&damaged, "auto", &skip);
        let lost = if damaged.len() > first.len() { 0 } else { 1 };
        // A write and the flush before it, or one flush.
        assert_eq!((skipped.len(), error), (4 - lost, None), "{told}");
        assert_eq!((counted.skipped[0].reason, counted.skipped_total()), (reason, 1), "{told}");
        assert!(rows.len() <= skipped.len() && report.is_binary);
        // In a folder, the file is named.
        fs::write(folder.path().join("x.blktrace.0"), &second).unwrap();
        fs::write(folder.path().join("x.blktrace.1"), &damaged).unwrap();
        let mut records = open_trace(folder.path(), "auto", &ReadOptions::default()).unwrap();
        let error = loop {
            match records.next() {
                Ok(record) => assert!(record.is_some(), "{told}"),
                Err(error) => break error.to_string(),
            }
        };
        assert!(error.contains(&format!("x.blktrace.1: {told}")), "{error}");
        let (merged, _) = all(open_trace(folder.path(), "auto", &skip).unwrap());
        assert_eq!(merged.len(), skipped.len() + 2, "{told}");
    }
    // Zeros to the end of a file, which was cut, are passed over, also where others go on.
    for zeros in [1, 48, 1000, 1_000_000] {
        let filled = [first.clone(), vec![0; zeros]].concat();
        let (rows, report, error) = run(&filled, "auto", ReadOptions::default());
        assert_eq!((rows.len(), error, report.skipped_total()), (4, None, 1), "{zeros}");
        fs::write(folder.path().join("x.blktrace.1"), [file_of(0, &FIRST[..4]), vec![0; zeros]].concat())
            .unwrap();
        let (merged, _) = all(open_trace(folder.path(), "auto", &ReadOptions::default()).unwrap());
        assert_eq!(merged.len(), 3, "{zeros}");
    }
}

#[test]
fn a_folder_of_anything_else_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let told = || {
        let opened = open_trace(folder.path(), "auto", &ReadOptions::default());
        opened.err().map_or_else(String::new, |error| error.to_string())
    };
    assert!(told().contains("a directory without files of blktrace"), "{}", told());
    for number in 0..2 {
        fs::write(folder.path().join(format!("x.blktrace.{number}")), sample("msr")).unwrap();
    }
    assert!(told().contains("only binary ones are merged"), "{}", told());
}
