//! CSVs as the user describes them.

use super::*;

fn with(columns: &str) -> ReadOptions {
    ReadOptions { columns: Columns::from_text(columns).unwrap(), ..ReadOptions::default() }
}

#[test]
fn columns_by_number_or_by_name_with_units_and_words() {
    let text = "start,kind,lba,length\n10,rd,8,16\n20,wr,24,8\n";
    let expected = [(0, Read, 8, 16, 0), (10_000_000, Write, 24, 8, 0)];
    for columns in [
        "time=1:ms,op=2,offset=3:sectors,size=4",
        "time=start:ms,op=kind:{rd=read,wr=write},offset=lba:sectors,size=length:sectors",
        "size=length,offset=3:sectors,op=kind,time=1:ms",
    ] {
        let (rows, report, error) = run(text, "auto", with(columns));
        assert_eq!((rows.as_slice(), error), (&expected[..], None), "{columns}");
        assert_eq!((report.detected, report.assumed), (None, None));
    }
    let text = "10;a;\"x;y\";0;4;7;3;2;1;5;1\n10;a;z;1;4;7;3;2;1;5;0\n";
    let mut options = with(
        "time=1:s,op=4:{0=write,1=trim},offset=5:4kib,size=6,file=3,process=2,stream=7,priority=8,class=9,context=10,one_time=11",
    );
    options.separator = Separator(b';');
    let input = Input::from_reader(std::io::Cursor::new(text.to_string()), "test");
    let mut records = open_input(input, "csv", &options).unwrap();
    let record = records.next().unwrap().unwrap();
    let hints = Hints { stream: 3, file: 1, process: 1, context: 5, priority: 2, class: 1, one_time: true };
    assert_eq!(
        (record.request.op, record.request.lba, record.request.sectors, record.request.hints),
        (Write, 32, 56, hints)
    );
    let second = records.next().unwrap().unwrap().request;
    assert_eq!(
        (second.op, second.hints.file, second.hints.one_time, second.arrival_ns),
        (Trim, 2, false, 500_000_000),
        "whole seconds are spread"
    );
    let report = records.report();
    assert_eq!(
        (report.files, report.processes),
        (vec!["x;y".to_string(), "z".to_string()], vec!["a".to_string()])
    );
}

/// A name that is empty is one, wherever its column stands; a number is not.
#[test]
fn the_last_column_may_be_empty() {
    let columns = || with("time=1:us,op=2,offset=3:bytes,size=4,process=5");
    let text = "10,read,4096,8192,dd\n20,read,8192,8192,\n30,write,0,512,\n";
    let (rows, _, error) = run(text, "csv", columns());
    assert_eq!((rows.len(), error), (3, None));
    let error = run(&text.replace("0,512,", "0,"), "csv", columns()).2.unwrap().to_string();
    assert!(error.starts_with("test:3: column size: missing"), "{error}");
    let error = run(&text.replace("8192,\n", "8192\n"), "csv", columns()).2.unwrap().to_string();
    assert!(error.starts_with("test:2: column process: missing"), "{error}");
}

/// What the project writes itself names its columns, and may look like something else behind that.
#[test]
fn what_says_what_it_is_is_that() {
    let text = "#wordline 1 time_ns,op,lba,sectors,device\n0,W,8,16,1\n1000,R,24,8,2\n";
    let (rows, report) = read(text);
    assert_eq!((rows.len(), report.detected.map(|found| found.format)), (2, Some("wordline")));
}

#[test]
fn dates_hexadecimal_numbers_decimal_commas_and_one_operation_are_read() {
    let columns = || with("time=at,op=write!,offset=lba:sectors,size=n");
    let text = "at,lba,n\n2024-05-01T10:32:01.25Z,0x1f0,0x8\n\"2024-05-01 12:32:02,5+02:00\",16,8\n";
    let (rows, report, error) = run(text, "auto", columns());
    assert_eq!((rows, error), (vec![(0, Write, 0x1f0, 8, 0), (1_250_000_000, Write, 16, 8, 0)], None));
    assert_eq!((report.assumed, report.spread_over_seconds), (None, false));
    let whole = "at,lba,n\n2024-05-01T10:32:01Z,0,8\n2024-05-01T10:32:01Z,8,8\n2024-05-01T10:32:03Z,16,8\n";
    let (rows, report, _) = run(whole, "auto", columns());
    assert_eq!(rows.iter().map(|row| row.0).collect::<Vec<_>>(), [0, 500_000_000, 2_000_000_000]);
    assert!(report.spread_over_seconds);
    let error = run(&whole.replace("-05-01T10:32:03", "-15-01T10:32:03"), "auto", columns()).2.unwrap();
    let text = error.to_string();
    assert!(
        text.contains("test:4: column time") && text.contains("such as 2026-05-01T10:32:01.5Z"),
        "{text}"
    );
    let comma = ReadOptions { separator: Separator(b';'), ..with("time=1:s,op=trim!,offset=2:bytes,size=3") };
    let (rows, ..) = run("1714559521,5;0;512\n1714559521,75;512;512\n", "auto", &comma);
    assert_eq!(rows, [(0, Trim, 0, 1, 0), (250_000_000, Trim, 1, 1, 0)]);
    // Without a unit they are seconds, since these are dates.
    let open = ReadOptions { separator: Separator(b';'), ..with("time=1,op=trim!,offset=2:bytes,size=3") };
    assert_eq!(run("1714559521,5;0;512\n1714559521,75;512;512\n", "auto", &open).0, rows);
    for (wrong, told) in [
        ("op=wirte!,offset=2,size=3", "found `wirte!` for `op`"),
        ("op=read!,op=1,offset=2,size=3", "`op` is there twice"),
        ("op=1,op=read!,offset=2,size=3", "`op` is there twice"),
        ("op=1,offset=2,size=8!", "found `8!` for `size`"),
    ] {
        let error = Columns::from_text(wrong).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
}

#[test]
fn devices_are_numbers_or_names_and_quotation_marks_keep_separators() {
    let (rows, report, error) =
        run("\"sd,a\",read,0,512\nsdb,read,0,512\n", "auto", with("device=1,op=2,offset=3:bytes,size=4"));
    assert_eq!((rows.iter().map(|row| row.4).collect::<Vec<_>>(), error), (vec![0, 1], None));
    assert!(report.has_no_times && report.device_names == ["sd,a", "sdb"], "{report:?}");
    let (rows, ..) = run("12,read,0,512\n", "auto", with("device=1,op=2,offset=3:bytes,size=4"));
    assert_eq!(rows[0].4, 12);
}

#[test]
fn lines_may_end_between_quotation_marks() {
    let columns = || with("process=1,op=2,offset=3:sectors,size=4");
    let text = "who,op,at,n\n\"a \"\"b\"\",\nc\n\",read,0,8\nplain 5\",write,8,8\n\"d\r\ne\",read,16,8\n";
    let (rows, report, error) = run(text, "auto", columns());
    assert_eq!((rows.len(), error), (3, None));
    assert_eq!(report.processes, ["a \"\"b\"\",\nc", "plain 5\"", "d\r\ne"]);
    assert_eq!(report.lines, 7);
    // One that nothing closes is a line for itself, and the rest is read.
    let text = "x,read,0,8\n\"y,read,8,8\nz,read,16,8\n";
    let (rows, report, _) = run(text, "auto", ReadOptions { on_bad_line: OnBadLine::Skip, ..columns() });
    assert_eq!((rows.len(), report.skipped_total(), report.skipped[0].first_lines.clone()), (2, 1, vec![2]));
}

#[test]
fn units_that_are_not_given_are_told_by_evidence() {
    let text: String =
        (0..100).map(|i| format!("{},W,{},{}\n", 7 + i * 300_000, i * 8192, 4096 + i % 2 * 512)).collect();
    let (rows, report, _) = run(&text, "auto", with("time=1,op=2,offset=3,size=4"));
    let assumed = report.assumed.map(|assumed| (assumed.time, assumed.space));
    assert_eq!(assumed, Some((TimeUnit::Nanoseconds, AddressUnit::Bytes)));
    assert_eq!(rows[1], (300_000, Write, 16, 9, 0));
    // A unit for one of addresses and sizes is that of both; a flag counts more than the column's.
    let (rows, report, _) = run(&text, "auto", with("time=1:us,op=2,offset=3,size=4:sectors"));
    assert_eq!((rows[1], report.assumed), ((300_000_000, Write, 8192, 4608, 0), None));
    let options =
        ReadOptions { time_unit: TimeUnit::Milliseconds, ..with("time=1:us,op=2,offset=3,size=4:sectors") };
    assert_eq!(run(&text, "auto", options).0[1].0, 300_000_000_000);
    let (rows, report, _) =
        run("0.5,r,0,512\n1.75,r,512,1024\n", "auto", with("time=1,op=2,offset=3:bytes,size=4"));
    assert_eq!((rows[1].0, report.assumed.map(|a| a.time)), (1_250_000, Some(TimeUnit::Milliseconds)));
}

#[test]
fn headers_are_taken_as_said() {
    let columns = || with("time=1:us,op=2,offset=3:bytes,size=4");
    let text = "1,read,0,512\n2,read,0,512\n";
    for (header, rows) in [(Header::Auto, 2), (Header::Yes, 1), (Header::No, 2)] {
        assert_eq!(run(text, "auto", ReadOptions { header, ..columns() }).0.len(), rows, "{header:?}");
    }
    let error = run("a,b,c,d\n1,read,0,512\n", "auto", ReadOptions { header: Header::No, ..columns() }).2;
    assert!(error.is_some_and(|e| e.to_string().starts_with("test:1: column time: not a number")));
}

#[test]
fn a_first_row_that_is_no_row_of_names_is_a_request_and_may_be_damaged() {
    let columns = || with("time=1:us,op=2,offset=3:sectors,size=4:sectors");
    for (row, says) in [
        ("0,R,-8,8", "column offset: negative: found '-8'"),
        ("-1,R,8,8", "column time: negative: found '-1'"),
        ("0,R,x,8", "column offset: not a number: found 'x'"),
        ("x,R,y,z", "column time: not a number: found 'x'"),
        ("x,y,8,z", "column time: not a number: found 'x'"),
        ("0,R,8,", "column size"),
        (".5,y,+8,8", "column time"),
        ("+1,R,8,8", "column time"),
    ] {
        let text = format!("{row}\n1,R,16,8\n2,R,24,8\n");
        let error = run(&text, "auto", columns()).2.map(|error| error.to_string()).unwrap_or_default();
        assert!(error.starts_with("test:1: ") && error.contains(says), "{row}: {error}");
        let (rows, report, error) =
            run(&text, "auto", ReadOptions { on_bad_line: OnBadLine::Skip, ..columns() });
        assert_eq!((rows.len(), report.skipped_total(), error), (2, 1, None), "{row}");
    }
    for names in ["time,op,offset,size", "# time,rw,lba,n", "us,kind,\"at\",bytes (512)"] {
        let (rows, report, error) = run(&format!("{names}\n1,R,16,8\n2,R,24,8\n"), "auto", columns());
        assert_eq!((rows.len(), report.skipped_total(), error), (2, 0, None), "{names}");
    }
}

#[test]
fn what_is_wrong_with_columns_is_told_with_its_place() {
    let refused = |text: &str, format: &str, options: ReadOptions| {
        let input = Input::from_reader(std::io::Cursor::new(text.to_string()), "test");
        let error = match open_input(input, format, &options) {
            Ok(mut records) => records.next().unwrap_err(),
            Err(error) => error,
        };
        error.to_string()
    };
    let text = "start,kind,lba,lba\n10,read,8,16\n";
    for (columns, says) in [
        (
            "time=begin:ms,op=kind,offset=3:sectors,size=4",
            "test:1: column time: column missing in the header: found 'start,kind",
        ),
        ("time=start:ms,op=kind,offset=lba:sectors,size=4", "a header with that name once"),
        (
            "time=start:ms,op=1,offset=3:sectors,size=4",
            "another column than those that --columns gives by number",
        ),
        (
            "time=1:ms,op=2,offset=3:sectors,size=9",
            "test:2: missing: found '10,read,8,16', allowed: as many columns as",
        ),
    ] {
        let error = refused(text, "auto", with(columns));
        assert!(error.contains(says), "{columns}: {error}");
    }
    let error = refused(text, "csv", ReadOptions::default());
    assert!(error.contains("columns: missing") && error.contains("--columns"), "{error}");
    let error = refused(text, "msr", with("op=1,offset=2,size=3"));
    assert!(error.contains("the format is msr, which knows its columns"), "{error}");
}
