//! Requests to files, as programs that watch system calls print them.

use super::*;

/// As strace 6.1 prints it with -f -ttt -y, of a program of two threads: one line of each kind.
const STRACE: &str = "\
strace: Process 1801 attached
1523  1795910857.233874 openat(AT_FDCWD</tmp>, \"/tmp/st.dat\", O_RDWR|O_CREAT|O_CLOEXEC, 0777) = 3</tmp/st.dat>
1523  1795910857.233900 pwrite64(3</tmp/st.dat>, \"a\\\"),(4096, 1) = a\\\"),\"..., 4096, 8192) = 4096
1523  1795910857.234110 pread64(3</tmp/st.dat>,  <unfinished ...>
1801  1795910857.234120 pwrite64(4</tmp/a b>, \"x\", 1, 5 <unfinished ...>
1523  1795910857.234128 <... pread64 resumed>\"aaaaaaaa\"..., 512, 1024) = 512
1523  1795910857.234144 write(3</tmp/st.dat>, \"bbbb\"..., 1024) = 1024
1801  1795910857.234150 <... pwrite64 resumed>) = 1 <0.000030>
1523  1795910857.234170 fsync(3</tmp/st.dat>)   = 0
1523  1795910857.234180 preadv2(3</tmp/st.dat>, [{iov_base=\"x\\0\\0\"..., iov_len=100}], 1, 0, 0) = 100
1523  1795910857.234190 pwritev2(3</tmp/st.dat>, [{iov_base=\"xyz\", iov_len=3}, {iov_base=\"abc\", iov_len=3}], 2, 512, 0) = 6
1523  1795910857.234200 pread64(3</tmp/st.dat>, \"\", 512, 1099511627776) = 0
1523  1795910857.234210 fallocate(3</tmp/st.dat>, FALLOC_FL_KEEP_SIZE|FALLOC_FL_PUNCH_HOLE, 4096, 65536) = 0
1523  1795910857.234220 pread64(5<pipe:[69865]>, 0x7ffe, 512, 0) = -1 ESPIPE (Illegal seek)
1523  1795910857.234230 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=1801} ---
1801  1795910857.234240 +++ exited with 0 +++
";

#[test]
fn strace_tells_calls_with_their_places() {
    let (rows, report) = read(STRACE);
    assert_eq!(
        rows,
        [
            (0, Write, 16, 8, 0),
            (210_000, Read, 2, 1, 0),
            (220_000, Write, 0, 1, 1),
            (270_000, Flush, 0, 0, 0),
            (280_000, Read, 0, 1, 0),
            (290_000, Write, 1, 1, 0),
            (310_000, Trim, 8, 128, 0),
        ]
    );
    assert_eq!(
        (report.files, report.processes),
        (vec!["/tmp/st.dat".into(), "/tmp/a b".into()], vec!["1523".into(), "1801".into()])
    );
    let count = |what: &str| report.passed_over.iter().find(|(w, _)| w.contains(what)).map_or(0, |(_, n)| *n);
    assert_eq!(
        ["messages", "do not say where", "halves", "failed", "signals", "other calls"].map(count),
        [1, 1, 2, 1, 2, 1]
    );
    assert_eq!((report.zero_length, report.rounded_to_sectors), (1, 3));
    // As it comes on a terminal, and of one process.
    let terminal = STRACE.replace("1523  ", "").replace("1801  ", "[pid  1801] ");
    assert_eq!(read(&terminal).0, rows);
    let of_day = "1523  10:32:01.233906 pwrite64(3</a>, \"a\", 4096, 8192) = 4096\n";
    let error = run(of_day, "strace", ReadOptions::default()).2.unwrap().to_string();
    assert!(error.contains("test:1: column time: not a number: found '10:32:01.233906'"), "{error}");
    let nameless = "1523  1795910857.2 pwrite64(3, \"a\", 4096, 8192) = 4096\n";
    let error = run(nameless, "strace", ReadOptions::default()).2.unwrap().to_string();
    assert!(error.contains("column file: missing") && error.contains("strace -y"), "{error}");
}

#[test]
fn process_monitor_tells_places_in_words() {
    let header = "\"Time of Day\",\"Process Name\",\"PID\",\"Operation\",\"Path\",\"Result\",\"Detail\"\r\n";
    let rows = "\
\"11:59:59.5000000 PM\",\"sqlservr.exe\",\"4120\",\"WriteFile\",\"D:\\db.mdf\",\"SUCCESS\",\"Offset: 1,048,576, Length: 65,536, I/O Flags: Non-cached, Write Through, Priority: Normal\"\r
\"11:59:59.7500000 PM\",\"sqlservr.exe\",\"4120\",\"RegOpenKey\",\"HKLM\",\"SUCCESS\",\"Desired Access: Read\"\r
\"12:00:00.2500000 AM\",\"a, b.exe\",\"12\",\"ReadFile\",\"D:\\x.txt\",\"SUCCESS\",\"Offset: 4.096, Length: 512\"\r
\"12:00:00.3000000 AM\",\"a, b.exe\",\"12\",\"ReadFile\",\"D:\\x.txt\",\"END OF FILE\",\"Offset: 8,192, Length: 512\"\r
\"12:00:01.0000000 AM\",\"sqlservr.exe\",\"4120\",\"FlushBuffersFile\",\"D:\\db.mdf\",\"SUCCESS\",\"\"\r
";
    let (found, report) = read(&format!("\u{feff}{header}{rows}"));
    assert_eq!(
        found,
        [(0, Write, 2048, 128, 0), (750_000_000, Read, 8, 1, 1), (1_500_000_000, Flush, 0, 0, 0)]
    );
    assert_eq!(report.processes, ["sqlservr.exe", "a, b.exe"]);
    assert_eq!((report.files.len(), report.passed_over.len()), (2, 2));
    // The first line, late: it is of the day before still, and there is one midnight.
    let (first, rest) = rows.split_once('\n').unwrap();
    let (second, others) = rest.split_once("RegOpenKey").unwrap();
    let late = format!("{second}RegOpenKey{others}").replace("12:00:00.30", "11:59:59.90");
    let late = late.replacen("\"12:00:00.25", &format!("{first}\n\"12:00:00.25"), 1);
    let late = late.replace("11:59:59.9000000 AM", "11:59:59.9000000 PM").replace("END OF FILE", "SUCCESS");
    let times: Vec<u64> = read(&format!("{header}{late}")).0.iter().map(|row| row.0).collect();
    assert_eq!(times, [0, 400_000_000, 750_000_000, 1_500_000_000]);
    for (line, told) in [
        (rows.replace("Offset: 1,048,576, ", ""), "column Offset: missing"),
        (rows.replace("65,536", "many"), "column Length: not a number"),
        (rows.replace("11:59:59.5", "11:77:59.5"), "column Time of Day: not a number"),
    ] {
        let error = run(&format!("{header}{line}"), "auto", ReadOptions::default()).2.unwrap().to_string();
        assert!(error.starts_with("test:2: ") && error.contains(told), "{error}");
    }
    let error =
        run(&format!("{}{rows}", header.replace("Detail", "Details")), "procmon", ReadOptions::default()).2;
    assert!(error.unwrap().to_string().contains("column Detail: column missing in the header"));
}
