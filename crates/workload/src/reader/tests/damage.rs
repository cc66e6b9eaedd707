//! Damaged lines of every format: an error with its place, or skipped and counted.

use super::*;

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
    ("mqsim", "5 0 5 8 65536", BadReason::TooLarge, "found '65536', allowed: flags up to 65535: odd read"),
    ("mqsim", "5 0 5 8", BadReason::MissingColumn, "column Type: missing"),
    ("mqsim", "5 0 5 4294967296 1", BadReason::TooLarge, "2 TiB"),
    ("rocksdb", "9,1,1,Write,8", BadReason::MissingColumn, "column len: missing"),
    ("rocksdb", "9,1,1,Write,8,8,0,0,0,0,0,0,0,7", BadReason::MissingColumn, "as many columns"),
    ("rocksdb", "9,1,1,Wirte,8,8,0,0,0,0,0,0,0,7,,,,,,", BadReason::UnknownOperation, "found 'Wirte'"),
    ("rocksdb", "9,1,1,Write,8,8,0,0,0,0,0,0,65536,7,,,,,,", BadReason::TooLarge, "column writeHint"),
    ("alibaba", "419,X,8,16384,1577808144360767", BadReason::UnknownOperation, "column opcode"),
    (
        "alibaba",
        "99999999999999999999,W,8,16384,1577808144360767",
        BadReason::TooLarge,
        "column device_id: too large: found '99999999999999999999'",
    ),
    ("alibaba", "419,W,8,16384", BadReason::MissingColumn, "column timestamp: missing"),
    (
        "tencent",
        "1538323199,8,128,2,1",
        BadReason::UnknownOperation,
        "column type: unknown operation: found '2'",
    ),
    ("tencent", "1538323199,8,128,1,-1", BadReason::Negative, "column volume"),
    ("tencent", "9838323199,8,128,1,5", BadReason::TooLarge, "146 years"),
    (
        "biosnoop",
        "0.1 java 5 sda X 8 4096 0.2",
        BadReason::UnknownOperation,
        "column T: unknown operation: found 'X'",
    ),
    (
        "biosnoop",
        "0.1 java five sda R 8 4096 0.2",
        BadReason::NotANumber,
        "column PID: not a number: found 'five'",
    ),
    (
        "ftrace",
        "x-1 [0] 1.5: block_rq_issue: 8,0 X 0 () 8 + 8 [x]",
        BadReason::UnknownOperation,
        "column RWBS",
    ),
    ("ftrace", "x-1 [0] 1.5: block_rq_issue: 8-0 R 0 () 8 + 8 [x]", BadReason::NotANumber, "found '8-0'"),
    ("ftrace", "x-1 [0] 1.5: block_rq_issue: 8,0 R 0 () 8", BadReason::MissingColumn, "column +: missing"),
    (
        "ftrace",
        "x-1 [0] block_rq_issue: 8,0 R 0 () 8 + 8 [x]",
        BadReason::MissingColumn,
        "column time: missing",
    ),
    ("biosnoop", "0.1 5 sda R 8 4096 0.2", BadReason::MissingColumn, "column COMM: missing"),
    (
        "blkparse",
        "  8,16 5 1 0.5 77 Y RM 8 + 8 [x]",
        BadReason::UnknownOperation,
        "column action: unknown operation",
    ),
    (
        "blkparse",
        "  8,16 5 1 0.5 77 Q XM 8 + 8 [x]",
        BadReason::UnknownOperation,
        "column RWBS: unknown operation",
    ),
    (
        "blkparse",
        "  8-16 5 1 0.5 77 Q R 8 + 8 [x]",
        BadReason::NotANumber,
        "found '8-16', allowed: major,minor",
    ),
    (
        "blkparse",
        "  8,16 5 1 0,5 77 Q R 8 + 8 [x]",
        BadReason::NotANumber,
        "column time: not a number: found '0,5'",
    ),
    ("blkparse", "  8,16 5 1 0.5 77 Q R 8 - 8 [x]", BadReason::NotANumber, "column +: not a number"),
    ("blkparse", "  8,16 5 1 0.5 77 Q R 8", BadReason::MissingColumn, "column +: missing"),
    ("blkparse", "  8,16 5 1 0.5 77 Q", BadReason::MissingColumn, "column RWBS: missing"),
    ("fiu", "467652 25 kjournald 8 8 X 6 0 98b9", BadReason::UnknownOperation, "column operation"),
    ("fiu", "467652 25 kjournald 8 8 R 6", BadReason::MissingColumn, "column minor: missing"),
    (
        "fiu",
        "467652 kjournald 8 8 8 R 6 0 98b9",
        BadReason::NotANumber,
        "column pid: not a number: found 'kjournald'",
    ),
    (
        "fio_iolog",
        "8561 f1 raed 0 4096",
        BadReason::UnknownOperation,
        "column action: unknown operation: found 'raed'",
    ),
    ("fio_iolog", "8561 f1 read 0", BadReason::MissingColumn, "column length: missing"),
    ("fio_iolog", "f1 read 0 4096", BadReason::NotANumber, "column time: not a number: found 'f1'"),
    ("cloudphysics", "1,5633898368802,2x,512,42932745", BadReason::UnknownOperation, "two hex digits"),
    ("cloudphysics", "12,5633898368802,2a,512,42932745", BadReason::TooLarge, "column version"),
    ("cloudphysics", "1,5633898368802,2a,512", BadReason::MissingColumn, "column lbn: missing"),
    ("systor17", "1456095145.1,0.1,X,0,512,512", BadReason::UnknownOperation, "R, W or nothing"),
    (
        "systor17",
        "1456095145.1,0.1,R,99999999999999999999,512,512",
        BadReason::TooLarge,
        "column LUN: too large: found '99999999999999999999'",
    ),
    ("systor17", "1456095145.1,0.1,R,0,512", BadReason::MissingColumn, "column Size: missing"),
    (
        "diskmon",
        "2\t0.5\t0.0\t0\tRaed\t8\t8",
        BadReason::UnknownOperation,
        "column Request: unknown operation",
    ),
    (
        "csv",
        "1260,reed,0,512",
        BadReason::UnknownOperation,
        "column op: unknown operation: found 'reed', allowed: read",
    ),
    ("csv", "1260,read,0", BadReason::MissingColumn, "column size: missing"),
    ("csv", "1260,read,0x1g,512", BadReason::NotANumber, "column offset: not a number: found '0x1g'"),
    ("diskmon", "2\t0.5\t0.0\t0\tRead\t8", BadReason::MissingColumn, "column Length: missing"),
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
    let whole = run(start, format, ReadOptions::default()).0.len();
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
    let (rows, report, error) = run(&text, format, &skip);
    assert_eq!((rows.len(), error), (whole + 1, None), "{line}");
    assert_eq!(report.skipped.len(), 1, "{line}");
    assert_eq!((report.skipped[0].reason, report.skipped[0].count), (reason, 1), "{line}");
    assert_eq!(report.skipped[0].first_lines, [number]);
    // The same line, cut at the end of the file.
    let (_, report, _) = run(&format!("{start}{line}"), format, &skip);
    assert_eq!(report.skipped[0].reason, BadReason::CutAtEnd, "{line}");
    assert!(report.last_line_unterminated);
    let message = run(&format!("{start}{line}"), format, ReadOptions::default()).2.map(|e| e.to_string());
    assert!(message.is_some_and(|m| m.contains("the file ends in the middle of it")), "{line}");
}

#[test]
fn every_format_is_proof_against_damage() {
    for info in formats().filter(|info| !info.is_binary) {
        let sample = sample(info.name);
        let line = sample.lines().last().unwrap();
        assert_damaged(info.name, "noise", None, "found");
        assert_damaged(info.name, "\u{1}\u{2}\u{ff}", None, "found");
        // Wherever a line is cut or has another letter in it: it is a request, or an error with its place.
        let cut = (1..line.len()).filter(|&at| line.is_char_boundary(at)).map(|at| line[..at].to_owned());
        let other = (0..line.len()).flat_map(|at| {
            ["x", "-", " ", "\u{0}"].map(|letter| format!("{}{letter}{}", &line[..at], &line[at + 1..]))
        });
        let mut refused = 0;
        for damaged in cut.chain(other) {
            let text = format!("{sample}{damaged}\n");
            if let Some(error) = run(&text, info.name, ReadOptions::default()).2 {
                let place = format!("test:{}: ", sample.lines().count() + 1);
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
