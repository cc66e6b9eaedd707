//! Binary traces that libCacheSim reads.

use super::*;

/// Fields of a record: each a number and its bytes.
fn record(fields: &[(u64, usize)]) -> Vec<u8> {
    fields.iter().flat_map(|(number, size)| number.to_le_bytes()[..*size].to_vec()).collect()
}

/// oracleGeneral: time, object, size, next request for it.
fn object(time: u64, object: u64, size: u64, next: u64) -> Vec<u8> {
    record(&[(time, 4), (object, 8), (size, 4), (next, 8)])
}

/// vscsi: opcode, sector, bytes, time in us.
fn first_version((command, sector, bytes, us): (u64, u64, u64, u64)) -> Vec<u8> {
    // A serial number that looks like the other version.
    record(&[(0x200_0000, 4), (bytes, 4), (1, 4), (command, 2), (0x100, 2), (sector, 8), (us, 8)])
}

fn second_version((command, sector, bytes, us): (u64, u64, u64, u64)) -> Vec<u8> {
    record(&[(command, 2), (0x200, 2), (9, 4), (bytes, 4), (1, 4), (sector, 8), (us, 8), (55, 8)])
}

const COMMANDS: [(u64, u64, u64, u64); 5] = [
    (0x28, 4096, 8192, 5_000),
    (0x12, 0, 36, 5_100),
    (0x2a, 64, 4096, 6_000),
    (0x35, 0, 0, 6_500),
    (0x42, 128, 1 << 20, 7_000),
];

#[test]
fn both_versions_of_vscsi_are_told_apart() {
    let rows = [
        (0, Read, 4096, 16, 0),
        (1_000_000, Write, 64, 8, 0),
        (1_500_000, Flush, 0, 0, 0),
        (2_000_000, Trim, 128, 2048, 0),
    ];
    for make in [first_version, second_version] {
        let file: Vec<u8> = COMMANDS.into_iter().flat_map(make).collect();
        let (found, report, error) = run(&file, "auto", ReadOptions::default());
        assert_eq!((found.as_slice(), error), (&rows[..], None));
        assert_eq!((report.detected.map(|found| found.format), report.lines), (Some("vscsi"), 5));
        assert_eq!(report.passed_over[0].1, 1, "an inquiry");
        // The last one is cut; one in the middle is damaged.
        let size = file.len() / COMMANDS.len();
        let error = run(&file[..file.len() - 3], "auto", ReadOptions::default()).2.unwrap().to_string();
        assert!(error.starts_with(&format!("test: record at byte {}: ", 4 * size)), "{error}");
        assert!(error.contains("the file ends in the middle of it"), "{error}");
        let noise = [&file[..2 * size], &vec![0xff; size][..], &file[2 * size..]].concat();
        let error = run(&noise, "vscsi", ReadOptions::default()).2.unwrap().to_string();
        assert!(error.contains(&format!("record at byte {}: field ver: no record", 2 * size)), "{error}");
        let skip = ReadOptions { on_bad_line: OnBadLine::Skip, ..ReadOptions::default() };
        let (found, report, error) = run(&noise, "vscsi", skip);
        assert_eq!((found.as_slice(), error, report.skipped_total()), (&rows[..], None, 1));
    }
}

#[test]
fn objects_of_oracle_general_lie_where_their_numbers_say() {
    let last = u64::MAX;
    let file = [
        object(100, 2_097_152, 4096, 3),
        object(100, 64, 65_536, i64::MAX as u64),
        object(100, (7 << 49) + 8, 513, last),
        object(102, 2_097_152, 4096, last),
    ]
    .concat();
    let (rows, report, error) = run(&file, "auto", ReadOptions::default());
    let third = 1_000_000_000 / 3;
    assert_eq!(
        rows,
        [
            (0, Read, 2_097_152, 8, 0),
            (third, Read, 64, 128, 0),
            (2 * third, Read, 8, 2, 0),
            (2_000_000_000, Read, 2_097_152, 8, 0)
        ]
    );
    assert_eq!((error, report.rounded_to_sectors, report.spread_over_seconds), (None, 1, true));
    let told =
        report.told().into_iter().find(|remark| remark.text.contains("neither operations nor addresses"));
    assert!(told.is_some_and(|remark| remark.matters), "{:?}", report.remarks());
    let pages = ReadOptions { address_unit: AddressUnit::Pages, ..ReadOptions::default() };
    assert_eq!(run(&file, "auto", pages).0[1], (third, Read, 512, 128, 0), "sizes stay bytes");
    let error = run(&file[..90], "auto", ReadOptions::default()).2.unwrap().to_string();
    assert!(error.contains("record at byte 72: the file ends in the middle of it"), "{error}");
    // Records whose end names no request are of no such trace, nor are such that go back in time.
    for other in [object(103, 1, 512, 0), object(99, 1, 512, 5), object(103, 1, 512, 1 << 60)] {
        let mixed = [file.clone(), other].concat();
        let error = run(&mixed, "auto", ReadOptions::default()).2.unwrap().to_string();
        assert!(error.contains("not a trace of a known format"), "{error}");
    }
    let wrong = [file, object(103, 1, 512, 1 << 60)].concat();
    let error = run(&wrong, "oracle_general", ReadOptions::default()).2.unwrap().to_string();
    assert!(error.contains("record at byte 96: no record begins here"), "{error}");
}
