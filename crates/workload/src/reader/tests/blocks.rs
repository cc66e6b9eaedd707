//! A handful of lines of each of the formats that have something of their own.

use super::*;

/// Requests with all that is known of them.
fn records(text: &str, options: ReadOptions) -> (Vec<Record>, SourceReport) {
    let input = Input::from_reader(std::io::Cursor::new(text.to_string()), "test");
    let mut records = open_input(input, "auto", &options).unwrap();
    let mut out = Vec::new();
    while let Some(record) = records.next().unwrap() {
        out.push(record);
    }
    (out, records.report())
}

#[test]
fn alibaba_and_tencent_in_their_units() {
    let (rows, report) =
        read("419,W,8792731648,16384,1577808144360767\n725,R,59110326272,360448,1577808144360813\n");
    assert_eq!(rows, [(0, Write, 17_173_304, 32, 419), (46_000, Read, 115_449_856, 704, 725)]);
    assert_eq!(report.detected.map(|d| (d.format, d.lines, d.fitting)), Some(("alibaba", 2, 2)));
    let (rows, report) =
        read("1538323200,4247200,128,1,1058\n1538323199,13896880,128,0,1063\n1538323199,8,16,0,1\n");
    assert_eq!(
        rows,
        [
            (0, Read, 13_896_880, 128, 1063),
            (500_000_000, Read, 8, 16, 1),
            (1_000_000_000, Write, 4_247_200, 128, 1058)
        ]
    );
    assert!(report.spread_over_seconds && report.sorted == 2 && report.time_steps_back == 0, "{report:?}");
    assert!(report.remarks().iter().any(|remark| remark.contains("spread evenly")));
    let (rows, report) = read("1538323200.25,4247200,128,1,1058\n1538323199,13896880,128,0,1063\n");
    assert_eq!((rows[1].0, report.spread_over_seconds), (1_250_000_000, false), "it has decimals");
}

const BLKPARSE: &str = "\
  8,16   5        1     0.000000000 18046  Q  RM 488386593 + 1 [DataXceiver for]
  8,16   5        2     0.000005724 18046  G  RM 488386593 + 1 [DataXceiver for]
  8,16   5        3     0.000006395 18046  P   N [DataXceiver for]
  8,16   5        5     0.000009818 18046  U   N [DataXceiver for] 1
259,2    5        6     1.000011560   504  D   R 488386592 + 8 [java]
  8,16   5        7     2.000000000    77  Q FWFSM 1024 + 16 [xfsaild/sdb]
  8,16   5        8     2.500000000    77  Q FWS [xfsaild/sdb]
259,2    5        9     3.000000000    77  Q   D 4096 + 2048 [java]
  8,16  28       77    13.675060946 18554  X  RA 692024656 / 692026368 [(null)]
  8,16  28       78    13.675060950 18554  Q  RA 692024656 + 8 [(null)]
  8,16   5       10    14.000000000     0  C  RM 488386593 + 1 [0]
  8,16   5       11    14.000000001     0  m   N cfq workload slice:300
CPU5 (sdb):
 Reads Queued:        4235,     1221MiB\t Writes Queued:           11,      488KiB

Total (sdb):
Throughput (R/W): 127914KiB/s / 184KiB/s
Events (sdb): 704444 entries
Skips: 0 forward (0 -   0.0%)
";

#[test]
fn blkparse_takes_one_event_and_counts_the_others() {
    let (records_q, report) = records(BLKPARSE, ReadOptions::default());
    let rows: Vec<_> = records_q
        .iter()
        .map(|r| (r.request.arrival_ns / 1_000_000, r.request.op, r.request.lba, r.request.sectors, r.device))
        .collect();
    let (sdb, nvme) = (0, 1);
    assert_eq!(
        rows,
        [
            (0, Read, 488_386_593, 1, sdb),
            (2000, Flush, 0, 0, sdb),
            (2000, Write, 1024, 16, sdb),
            (2500, Flush, 0, 0, sdb),
            (3000, Trim, 4096, 2048, nvme),
            (13_675, Read, 692_024_656, 8, sdb),
        ]
    );
    assert_eq!(
        records_q.iter().map(|r| r.request.fua).collect::<Vec<_>>(),
        [false, false, true, false, false, false]
    );
    // DataXceiver, xfsaild (three times), java; no name is none.
    assert_eq!(records_q.iter().map(|r| r.request.hints.process).collect::<Vec<_>>(), [1, 2, 2, 2, 3, 0]);
    assert_eq!(report.processes, ["DataXceiver for", "xfsaild/sdb", "java"]);
    assert_eq!(report.device_names, ["8,16", "259,2"]);
    let count = |what: &str| report.passed_over.iter().find(|(w, _)| w.contains(what)).map_or(0, |(_, n)| *n);
    assert_eq!(
        ["D (", "G (", "P (", "X (", "C (", "messages", "the summary"].map(count),
        [1, 1, 1, 1, 1, 1, 6],
        "{:?}",
        report.passed_over
    );
    let of = |event| records(BLKPARSE, ReadOptions { event, ..ReadOptions::default() }).0;
    let (d, c) = (of(Event::Dispatched), of(Event::Completed));
    assert_eq!((d.len(), d[0].request.lba, d[0].device, d[0].request.hints.process), (1, 488_386_592, 0, 1));
    assert_eq!((c.len(), c[0].request.hints.process), (1, 0), "who was interrupted is not who asked");
    // Without Q the events D are taken.
    let without: String = BLKPARSE.lines().filter(|l| !l.contains(" Q ")).map(|l| format!("{l}\n")).collect();
    assert_eq!(records(&without, ReadOptions::default()).0, d);
}

#[test]
fn blkparse_as_csv_has_decimal_seconds_and_names_in_brackets() {
    let header = "Device_Major_Number,Device_Minor_Number,CPU_Core_ID,Record_ID,Timestamp_nanoseconds,ProcessID,\
                  Trace_Action,OperationType,SectorNumber,IO_Size,ProcessName\n";
    let rows = "259,2,0,5,0.000005462,4020,D,RS,282624,8,[java]\n259,2,0,11,0.013363110,4020,D,WFS,286720,128,[rocksdb:bg16]\n";
    let (with_header, report) = records(&format!("{header}{rows}"), ReadOptions::default());
    assert_eq!(report.processes, ["java", "rocksdb:bg16"]);
    let second = with_header[1].request;
    assert_eq!(
        (second.arrival_ns, second.op, second.fua, second.lba, second.sectors),
        (13_357_648, Write, true, 286_720, 128)
    );
    assert_eq!(records(rows, ReadOptions::default()).0, with_header, "the usual order needs no header");
    let error = run(
        &format!("{}{rows}", header.replace("SectorNumber", "Sector")),
        "blkparse",
        ReadOptions::default(),
    )
    .2;
    assert!(error.is_some_and(|e| e.to_string().starts_with("test:1: ")), "a header that lacks a column");
}

#[test]
fn fiu_processes_and_devices_get_numbers() {
    let text = "467651 2522 kjournald 644661632 8 W 6 0 98b9\n520943 31 pdflush 688749776 8 R 9 1 c0ac\n\
                562920 2522 kjournald 688838192 8 W 6 0 d757\n";
    let (rows, report) = records(text, ReadOptions::default());
    let found: Vec<_> =
        rows.iter().map(|r| (r.request.arrival_ns, r.request.hints.process, r.device)).collect();
    assert_eq!(found, [(0, 1, 0), (53_292, 2, 1), (95_269, 1, 0)]);
    assert_eq!(
        (report.processes, report.device_names),
        (vec!["kjournald".into(), "pdflush".into()], vec!["6,0".into(), "9,1".into()])
    );
}

#[test]
fn iologs_of_both_versions() {
    let v3 = "fio version 3 iolog\n2 f1 add\n81 f1 open\n87 f1 read 28672 4096\n3868 f2 write 385024 4096\n\
              8559 f2 sync 446464 0\n9000 f1 trim 0 65536\n28531 f1 close\n";
    let (rows, report) = records(v3, ReadOptions::default());
    let found: Vec<_> = rows
        .iter()
        .map(|r| {
            (
                r.request.arrival_ns,
                r.request.op,
                r.request.lba,
                r.request.sectors,
                r.device,
                r.request.hints.file,
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            (0, Read, 56, 8, 0, 1),
            (3_781_000, Write, 752, 8, 1, 2),
            (8_472_000, Flush, 0, 0, 1, 2),
            (8_913_000, Trim, 0, 128, 0, 1)
        ]
    );
    assert_eq!((report.passed_over.len(), report.passed_over[0].1, report.has_no_times), (1, 3, false));
    let v2 = "fio version 2 iolog\nf1 add\nf1 open\nf1 read 28672 4096\nf1 wait 100 0\nf2 write 385024 4096\n\
              f2 wait 150 0\nf2 datasync 0 0\nf1 close\n";
    let (rows, _) = records(v2, ReadOptions::default());
    assert_eq!(rows.iter().map(|r| r.request.arrival_ns).collect::<Vec<_>>(), [0, 100_000, 250_000]);
    let (_, report) = records(
        &v2.replace("wait 100 0", "read 0 4096").replace("wait 150 0", "read 0 512"),
        ReadOptions::default(),
    );
    assert!(report.has_no_times && report.requests == 5);
    // Without the header the looks decide.
    let cut = |text: &str| records(text.split_once('\n').unwrap().1, ReadOptions::default()).0.len();
    assert_eq!((cut(v3), cut(v2)), (4, 3));
    let error =
        run("fio version 1 iolog\n0 0 4096\n", "fio_iolog", ReadOptions::default()).2.unwrap().to_string();
    assert!(error.contains("test:1: column version") && error.contains("version 3"), "{error}");
}

#[test]
fn cloudphysics_systor_and_diskmon_in_their_units() {
    let text = "version,time,op,size,lbn\n1,5633898368802,2a,512,42932745\n1,5633898368902,12,36,0\n\
                1,5633898369802,42,8192,16\n1,5633898369902,35,0,0\n1,5633898369903,88,1024,7\n";
    let (rows, report) = read(text);
    assert_eq!(
        rows,
        [
            (0, Write, 42_932_745, 1, 0),
            (1_000_000, Trim, 16, 16, 0),
            (1_100_000, Flush, 0, 0, 0),
            (1_101_000, Read, 7, 2, 0)
        ]
    );
    assert_eq!(report.passed_over.len(), 1);
    assert_eq!(read(text.split_once('\n').unwrap().1).0, rows, "the usual order needs no header");

    let text = "Timestamp,Response,IOType,LUN,Offset,Size\n1456095145.133076000,0.0008,R,0,899056122368,131072\n\
                1456095145.126285000,0.008,W,3,4256049987072,122880\n1456095145.14,0.1,,0,0,0\n";
    let (rows, report) = read(text);
    assert_eq!(rows, [(0, Write, 8_312_597_631, 240, 3), (6_791_000, Read, 1_755_968_989, 256, 0)]);
    assert_eq!((report.sorted, report.passed_over[0].1), (1, 1));

    let text = "#\tTime\tDuration (s)\tDisk\tRequest\tSector\tLength\r\n\
                0\t0.047339\t0.00019073\t0\tRead\t1320146\t8\t\r\n1\t0.531680\t0.1\t2\tWrite\t1080376\t8\r\n2\t0.5\t0\t0\tRead\t8\t8\t\r\n";
    let (rows, report) = read(text);
    assert_eq!(
        rows,
        [(0, Read, 1_320_146, 8, 0), (452_661_000, Read, 8, 8, 0), (484_341_000, Write, 1_080_376, 8, 2)]
    );
    assert_eq!(report.sorted, 1);
}

#[test]
fn counts_of_writes_are_no_trace() {
    let error =
        run("LBA,Frequency\r\n3154132992,116567\r\n", "auto", ReadOptions::default()).2.unwrap().to_string();
    assert!(error.contains("test: not a trace: ") && error.contains("`histogram`"), "{error}");
}

/// Formats whose columns others have, too, are called what they are.
#[test]
fn a_trace_is_called_what_it_is() {
    let decimal = "0.000 5 174224064 16 1\n0.221 5 162947904 16 0\n0.594 5 174933616 16 1\n";
    let whole = "938513000 4 264719034 16 0\n938828000 3 197570570 32 1\n";
    let csv = "Device_Major_Number,Device_Minor_Number,CPU_Core_ID,Record_ID,Timestamp_nanoseconds,ProcessID,Trace_Action,\
               OperationType,SectorNumber,IO_Size,ProcessName\n\
               259,2,0,5,0.000005462,4020,D,RS,282624,8,[java]\n259,2,0,11,0.013363110,4020,D,RS,286720,128,[java]\n";
    for (text, says) in [
        (decimal, "format: DiskSim's ASCII text (--format mqsim; "),
        (whole, "format: MQSim's text (--format mqsim; "),
        (csv, "format: a block trace's events as CSV, such as SNIA's of RocksDB (--format blkparse; "),
        (BLKPARSE, "format: blkparse's text (--format blkparse; "),
    ] {
        let remarks = records(text, ReadOptions::default()).1.remarks();
        assert!(remarks.iter().any(|remark| remark.starts_with(says)), "{says}: {remarks:?}");
    }
}

#[test]
fn biosnoop_arrives_when_the_drive_got_it() {
    let text = "\
TIME(s)     COMM           PID    DISK    T SECTOR     BYTES  LAT(ms)
0.000000    jbd2/sda1-8    412    sda     W 9437192    8192      0.41
0.000391    java           9021   sda     R 2097152    16384     0.22
0.004000    Web Content    8812   sdb     R 2101248    4096      3.80
0.010412    java           9021   sda     R 2097184    16384     0.25
";
    let (out, report) = records(text, ReadOptions::default());
    let rows: Vec<_> = out
        .iter()
        .map(|r| (r.request.arrival_ns, r.request.lba, r.request.sectors, r.device, r.request.hints.process))
        .collect();
    // The first completed at 0 and began 0.41 ms before; 391 - 220 + 410 us, and so on.
    assert_eq!(
        rows,
        [
            (0, 9_437_192, 16, 0, 1),
            (581_000, 2_097_152, 32, 0, 2),
            (610_000, 2_101_248, 8, 1, 3),
            (10_572_000, 2_097_184, 32, 0, 2)
        ]
    );
    assert_eq!(report.processes, ["jbd2/sda1-8", "java", "Web Content"]);
    assert_eq!(report.device_names, ["sda", "sdb"]);
    // With queued time and other letters, as the tool of libbpf prints them; and the same without a header.
    let header = "TIME(s)     COMM           PID     DISK    T    SECTOR     BYTES   QUE(ms) LAT(ms)\n";
    let rows = "0.1 dd 5 nvme0n1 FWFS 8 4096 0.010 1.0\n0.2 a b 6 nvme0n1 D 64 1048576 -1.000 1.000\n\
                0.3 kworker/0:1H 7 nvme0n1 FF 0 0 0.000 1.000\n0.4 x 7 nvme0n1 N 0 0 0.000 1.000\n";
    let (queued, report) = records(&format!("{header}{rows}"), ReadOptions::default());
    let found: Vec<_> = queued.iter().map(|r| (r.request.op, r.request.arrival_ns, r.request.fua)).collect();
    assert_eq!(
        found,
        [(Flush, 0, false), (Write, 0, true), (Trim, 100_000_000, false), (Flush, 200_000_000, false)]
    );
    assert_eq!((report.processes.len(), report.passed_over.len()), (3, 1));
    assert_eq!(records(rows, ReadOptions::default()).0, queued);
    // The address of a flush is none, which is printed with a sign or without.
    for none in ["-1", "18446744073709551615"] {
        let rows = rows.replace("FF 0 0", &format!("FF {none} 0"));
        assert_eq!(records(&format!("{header}{rows}"), ReadOptions::default()).0, queued, "{none}");
    }
    let bpftrace = "Attaching 4 probes...\nTIME(ms)     DISK    COMM             PID    LAT(ms)\n611 nvme0n1 bash 4179 5.97\n";
    let told = run(bpftrace, "auto", ReadOptions::default()).2.map(|error| error.to_string()).unwrap();
    assert!(told.contains("neither addresses nor sizes") && told.contains("blktrace"), "{told}");
}

/// A read and a write of two processes, with what else tools print around them.
const FTRACE: &str = "\
# tracer: nop
#
# entries-in-buffer/entries-written: 140080/250280   #P:4
     Web Content-8812  [002] d..1.    12.000100: block_bio_queue: 8,0 RA 2101248 + 32 [Web Content]
     Web Content-8812  [002] d..1.    12.000110: block_getrq: 8,0 RA 2101248 + 32 [Web Content]
     Web Content-8812  [002] d..1.    12.000120: block_plug: [Web Content]
     Web Content-8812  [002] d..1.    12.000125: block_rq_issue: 8,0 RA 16384 () 2101248 + 32 [Web Content]
          <idle>-0     [002] d.h1.    12.000610: block_rq_complete: 8,0 RA () 2101248 + 32 [0]
CPU:1 [LOST 17 EVENTS]
     jbd2/sda1-8-412   [001] .....    12.004130: block_rq_issue: 8,0 FF 0 () 18446744073709551615 + 0 [jbd2/sda1-8]
     jbd2/sda1-8-412   [001] .....    12.004140: block_rq_issue: 259,3 WFS 8192 () 9437184 + 16 be,0,4 [jbd2/sda1-8]
          fstrim-77    [001] .....    12.004150: block_rq_issue: 259,3 D 1048576 () 64 + 2048 none,0,0 [fstrim]
          fstrim-77    [001] .....    12.004160: sched_switch: prev_comm=fstrim prev_pid=77
";

#[test]
fn ftrace_and_perf_tell_what_was_issued() {
    let of = |text: &str, event| {
        let (out, report) = records(text, ReadOptions { event, ..ReadOptions::default() });
        let rows: Vec<_> = out
            .iter()
            .map(|Record { request: r, device }| {
                (r.arrival_ns, r.op, r.lba, r.sectors, *device, r.fua, r.hints.process)
            })
            .collect();
        (rows, report)
    };
    let (issued, report) = of(FTRACE, Event::Dispatched);
    assert_eq!(
        issued,
        [
            (0, Read, 2_101_248, 32, 0, false, 1),
            (4_005_000, Flush, 0, 0, 0, false, 2),
            (4_015_000, Write, 9_437_184, 16, 1, true, 2),
            (4_025_000, Trim, 64, 2048, 1, false, 3),
        ]
    );
    assert_eq!(report.processes, ["Web Content", "jbd2/sda1-8", "fstrim"]);
    assert_eq!(report.device_names, ["8,0", "259,3"]);
    let count = |what: &str| report.passed_over.iter().find(|(w, _)| w.contains(what)).map_or(0, |(_, n)| *n);
    assert_eq!(["comments", "lost", "Q (", "C (", "P (", "other"].map(count), [3, 1, 1, 1, 1, 1]);
    assert_eq!(
        of(FTRACE, Event::Auto).0,
        [(0, Read, 2_101_248, 32, 0, false, 1)],
        "those of block_bio_queue"
    );
    assert_eq!(of(FTRACE, Event::Completed).0, [(0, Read, 2_101_248, 32, 0, false, 0)]);
    // perf names the system, and may count; trace-cmd says how many processors there are.
    let issues = || FTRACE.lines().filter(|line| line.contains("block_rq_issue"));
    let perf: String = issues().map(|line| line.replace("block_rq", "block:block_rq") + "\n").collect();
    let counted = perf.replace(": block:", ":          1 block:");
    let trace_cmd: String = issues().map(|line| format!("{line}\n")).collect();
    for text in [perf, counted, format!("version = 6\ncpus=4\nCPU 3 is empty\n{trace_cmd}")] {
        let (rows, report) = of(&text, Event::Auto);
        assert_eq!(rows, issued, "{text}");
        assert_eq!(report.detected.map(|found| found.format), Some("ftrace"));
    }
}

#[test]
fn a_log_of_fio_that_may_be_in_nanoseconds_is_told() {
    let log = |unit: u64| {
        let line = |i: u64| format!("{} f1 read {} 4096\n", i * unit, i * 4096);
        "fio version 3 iolog\n".to_owned() + &(0..40).map(line).collect::<String>()
    };
    let told = |text: &str, options: ReadOptions| {
        let (rows, report, error) = run(text, "auto", options);
        assert_eq!((rows.len(), error), (40, None));
        (rows[39].0, report.remarks().iter().any(|remark| remark.contains("multiples of 1,000")))
    };
    let nanoseconds = ReadOptions { time_unit: TimeUnit::Nanoseconds, ..ReadOptions::default() };
    assert_eq!(told(&log(87_000), ReadOptions::default()), (39 * 87_000_000, true));
    assert_eq!(told(&log(87_000), nanoseconds), (39 * 87_000, false));
    assert_eq!(told(&log(87), ReadOptions::default()), (39 * 87_000, false));
}
