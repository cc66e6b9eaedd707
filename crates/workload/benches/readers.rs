//! How fast traces are read: lines per second of one core, beside a plain `split(',')` and `parse` reader.
//!
//! `cargo bench -p wordline-workload --bench readers`. Times are processor time of this process (all its threads),
//! so a decompressing thread is counted and a busy machine does little harm. Each figure is the mean of five runs.

use std::fs;
use std::io::{BufRead, BufReader, Cursor, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use workload::analysis::{Analyzer, Options};
use workload::reader::read_from;
use workload::{Columns, ReadOptions, Recorded, Source, Spec};

const LINES: u64 = 2_000_000;
const LINES_OTHERS: u64 = 1_000_000;
const RUNS: usize = 5;

/// Processor seconds of this process so far, with threads that have ended: fields 14 and 15 of proc(5) stat, which
/// tick at 100 Hz. Good enough for the seconds that a measurement here takes.
fn cpu_seconds() -> f64 {
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The second field is a name in parentheses that may hold blanks.
    let after_name = text.rsplit(')').next().unwrap_or_default();
    after_name.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>()
        / 100.0
}

/// What one run took on average.
#[derive(Clone, Copy)]
struct Cost {
    cpu_seconds: f64,
    wall_seconds: f64,
}

/// Mean cost of a few runs, and what the last one returned.
fn mean(mut run: impl FnMut() -> u64) -> (Cost, u64) {
    let mut result = 0;
    let (cpu, wall) = (cpu_seconds(), Instant::now());
    for _ in 0..RUNS {
        result = run();
    }
    let each = |seconds: f64| seconds / RUNS as f64;
    let cost =
        Cost { cpu_seconds: each(cpu_seconds() - cpu), wall_seconds: each(wall.elapsed().as_secs_f64()) };
    (cost, result)
}

/// Runs through a source; the sum keeps the compiler from leaving anything out.
fn drain(source: &mut dyn Source) -> u64 {
    let mut sum = 0u64;
    while let Ok(Some(r)) = source.next() {
        sum = sum.wrapping_add(r.lba ^ u64::from(r.sectors) ^ r.arrival_ns ^ r.op as u64);
    }
    sum
}

/// The same by the standard library's means, without checks.
fn naive(path: &Path) -> u64 {
    let Ok(file) = fs::File::open(path) else { return 0 };
    let mut sum = 0u64;
    let mut first = None;
    for line in BufReader::with_capacity(256 << 10, file).lines().map_while(Result::ok) {
        let columns: Vec<&str> = line.split(',').collect();
        let number = |i: usize| columns.get(i).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
        let time = number(0) * 100;
        let arrival = time - *first.get_or_insert(time);
        let end = (number(4) + number(5)).div_ceil(512);
        let op = u64::from(columns.get(3) == Some(&"Write"));
        sum = sum.wrapping_add((number(4) / 512) ^ (end - number(4) / 512) ^ arrival ^ op);
    }
    sum
}

/// What `wordline trace info` does with it.
fn look_into(path: &Path, exact: bool) -> u64 {
    let Ok(mut recorded) = Recorded::open(&Spec::trace(path.display().to_string()), 0) else { return 0 };
    let mut analyzer = Analyzer::new(Options { exact, ..Options::default() });
    while let Ok(Some(record)) = recorded.next_record() {
        analyzer.add(&record);
    }
    analyzer.finish().footprint.pages
}

fn msr_text() -> Vec<u8> {
    let mut text = Vec::new();
    let mut x = 1u64;
    for i in 0..LINES {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (op, at, size) =
            (if x >> 62 == 0 { "Read" } else { "Write" }, (x >> 30) % 17_000_000 * 512, (x >> 20) % 16 + 1);
        let time = 128_166_372_003_061_629 + i * 4567;
        let _ = writeln!(text, "{time},prxy,0,{op},{at},{},{}", size * 4096, (x >> 40) % 100_000);
    }
    text
}

/// Lines of one format: what it is, what `columns` are, the header, and a line by its number and a random one.
type Lines = (&'static str, &'static str, &'static str, fn(u64, u64) -> String);

/// Lines as recorded traces have them, of every format but MSR's.
const OTHERS: &[Lines] = &[
    ("spc", "", "", |i, x| {
        format!(
            "{},{},{},{},{}.{:06}",
            x % 3,
            x % (1 << 30),
            4096 << (x % 3),
            if x % 5 == 0 { "w" } else { "R" },
            i / 500,
            i % 500 * 2000
        )
    }),
    ("mqsim", "", "", |i, x| {
        format!("{} {} {} {} {}", i * 19_000, x % 6, x % (1 << 30), 8 << (x % 3), x % 2)
    }),
    (
        "rocksdb",
        "",
        "timestamp_ns,sid,cpu,operation,lba,len,ioClass,flush,fua,metadata,direct,readahead,writeHint,fileId,fileCreation_ns,fileOffset,fileSize,fileName,completion_ns,error\n",
        |i, x| {
            format!(
                "{},{i},15,Write,{},256,19,0,0,0,0,0,0,76,1593672775712990641,{},241960,000014.sst,{},0",
                14_196_894_550_578 + i * 9000,
                x % (1 << 30),
                i % 900 * 256,
                14_196_894_634_375 + i * 9000
            )
        },
    ),
    ("alibaba", "", "", |i, x| {
        format!(
            "{},{},{},{},{}",
            x % 900,
            if x % 3 == 0 { "R" } else { "W" },
            x % (1 << 30) * 4096,
            4096 << (x % 4),
            1_577_808_144_360_767 + i * 40
        )
    }),
    ("tencent", "", "", |i, x| {
        format!(
            "{},{},{},{},{}",
            1_538_323_200 + (i + x % 200) / 20_000,
            x % (1 << 30),
            8 << (x % 4),
            x % 2,
            1000 + x % 2000
        )
    }),
    ("blkparse", "", "", |i, x| {
        let event = ["Q", "G", "I", "D", "C", "M", "P"][i as usize % 7];
        format!(
            "  8,16  {:>2} {i:>8}   {:>3}.{:09} 18046  {event}  RA {} + {} [DataXceiver for]",
            x % 40,
            i / 4000,
            i % 4000 * 250_000,
            x % (1 << 30),
            8 << (x % 7)
        )
    }),
    ("fiu", "", "", |i, x| {
        format!(
            "{} {} {} {} 8 {} 6 0 {:032x}",
            89_966_527_950_584 + i * 40_000,
            x % 9000,
            ["nfsd", "imapd", "pdflush"][x as usize % 3],
            x % (1 << 29),
            if x % 9 == 0 { "R" } else { "W" },
            u128::from(x) << 60
        )
    }),
    ("fio_iolog", "", "fio version 3 iolog\n", |i, x| {
        format!(
            "{} job.{}.0 {} {} 4096",
            i * 17,
            x % 4,
            if x % 3 == 0 { "read" } else { "write" },
            x % (1 << 20) * 4096
        )
    }),
    ("cloudphysics", "", "version,time,op,size,lbn\n", |i, x| {
        format!(
            "1,{},{},{},{}",
            5_633_898_368_802 + i * 63,
            if x % 3 == 0 { "28" } else { "2a" },
            512 << (x % 6),
            x % (1 << 30)
        )
    }),
    ("systor17", "", "Timestamp,Response,IOType,LUN,Offset,Size\n", |i, x| {
        let at = i * 2_400 + x % 90_000;
        format!(
            "{}.{:09},0.000{:03}000,{},0,{},{}",
            1_456_095_145 + at / 1_000_000,
            at % 1_000_000 * 1000,
            x % 1000,
            if x % 5 == 0 { "W" } else { "R" },
            x % (1 << 32) * 512,
            512 << (x % 8)
        )
    }),
    ("diskmon", "", "", |i, x| {
        let at = i * 2_400 + x % 9_000;
        format!(
            "{i}\t{}.{:06}\t0.00019073\t0\t{}\t{}\t8\t\r",
            at / 1_000_000,
            at % 1_000_000,
            if x % 2 == 0 { "Read" } else { "Write" },
            x % (1 << 24)
        )
    }),
    ("csv", "time=1:us,op=3,offset=4:bytes,size=5,process=6", "us,n,op,offset,size,who\n", |i, x| {
        format!(
            "{},{i},{},{},{},{}",
            i * 40,
            if x % 3 == 0 { "read" } else { "write" },
            x % (1 << 30) * 512,
            4096 << (x % 3),
            ["java", "sh"][x as usize % 2]
        )
    }),
    ("wordline", "", "#wordline 1 time_ns,op,lba,sectors,device\n", |i, x| {
        format!(
            "{},{},{},{},{}",
            i * 40_000,
            if x % 3 == 0 { "R" } else { "WF" },
            x % (1 << 30),
            8 << (x % 3),
            x % 3
        )
    }),
];

/// Lines a second of every other format, from memory.
fn others() {
    println!("\n{LINES_OTHERS} lines of each format, from memory");
    println!("{:<34} {:>14} {:>8}", "", "M lines/cpu-s", "MB/cpu-s");
    for (name, columns, header, line) in OTHERS {
        let mut text = header.to_string();
        let mut x = 1u64;
        for i in 0..LINES_OTHERS {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            text.push_str(&line(i, x >> 20));
            text.push('\n');
        }
        let mut options = ReadOptions::default();
        if !columns.is_empty() {
            match Columns::from_text(columns) {
                Ok(columns) => options.columns = columns,
                Err(error) => return eprintln!("{name}: {error}"),
            }
        }
        let text: Arc<[u8]> = text.into_bytes().into();
        let (cost, sum) = mean(|| match read_from(Cursor::new(Arc::clone(&text)), "bench", name, &options) {
            Ok(mut source) => drain(&mut *source),
            Err(error) => {
                eprintln!("{name}: {error}");
                0
            }
        });
        assert!(sum != 0, "{name} was read");
        let (lines, megabytes) = (LINES_OTHERS as f64 / 1e6, text.len() as f64 / 1e6);
        println!("{name:<34} {:>14.2} {:>8.0}", lines / cost.cpu_seconds, megabytes / cost.cpu_seconds);
    }
}

fn main() {
    let directory = std::env::temp_dir().join(format!("wordline-readers-{}", std::process::id()));
    if let Err(error) = fs::create_dir_all(&directory) {
        eprintln!("cannot make {}: {error}", directory.display());
        return;
    }
    let text = msr_text();
    let plain = directory.join("msr.csv");
    let zstd = directory.join("msr.zst");
    let gzip = directory.join("msr.gz");
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    let _ = encoder.write_all(&text);
    let written = [
        fs::write(&plain, &text),
        zstd::encode_all(&text[..], 3).and_then(|bytes| fs::write(&zstd, bytes)),
        encoder.finish().and_then(|bytes| fs::write(&gzip, bytes)),
    ];
    if let Some(error) = written.into_iter().find_map(Result::err) {
        eprintln!("cannot write {}: {error}", directory.display());
        return;
    }
    let megabytes = text.len() as f64 / 1e6;
    println!("{LINES} lines of MSR CSV, {megabytes:.0} MB");
    let (base, base_sum) = mean(|| naive(&plain));
    println!("{:<34} {:>14} {:>8} {:>8} {:>14}", "", "M lines/cpu-s", "MB/cpu-s", "x naive", "M lines/s");
    let show = |name: &str, cost: Cost| {
        println!(
            "{name:<34} {:>14.2} {:>8.0} {:>8.2} {:>14.2}",
            LINES as f64 / cost.cpu_seconds / 1e6,
            megabytes / cost.cpu_seconds,
            base.cpu_seconds / cost.cpu_seconds,
            LINES as f64 / cost.wall_seconds / 1e6
        );
    };
    show("naive: lines, split, parse", base);
    let reading = |path: &Path| {
        let file = fs::File::open(path);
        let source = file.ok().and_then(|file| read_from(file, "bench", "msr", &ReadOptions::default()).ok());
        source.map_or(0, |mut source| drain(&mut *source))
    };
    let (seconds, sum) = mean(|| reading(&plain));
    assert_eq!(sum, base_sum, "both readers must read the same");
    show("msr, text", seconds);
    for (name, path) in [("text", &plain), ("zstd, with unpacking", &zstd), ("gzip, with unpacking", &gzip)] {
        let mut spec = Spec::trace(path.display().to_string());
        let _ = spec.set("address", "wrap");
        let (survey, _) = mean(|| spec.prepare().map_or(0, |p| p.workload_hash()));
        show(&format!("first pass, {name}"), survey);
        let Ok(prepared) = spec.prepare() else { continue };
        let (seconds, _) = mean(|| prepared.open(1 << 24).map_or(0, |mut source| drain(&mut *source)));
        show(&format!("second pass, {name}"), seconds);
    }
    for (name, exact) in [("trace info, text", false), ("trace info --exact, text", true)] {
        let (seconds, _) = mean(|| look_into(&plain, exact));
        show(name, seconds);
    }
    let mut spec = Spec::trace(plain.display().to_string());
    let _ = spec.set("address", "compact");
    if let Ok(prepared) = spec.prepare() {
        let (seconds, _) = mean(|| prepared.open(1 << 40).map_or(0, |mut source| drain(&mut *source)));
        show("second pass, text, compact", seconds);
    }
    others();
    if let Err(error) = fs::remove_dir_all(&directory) {
        eprintln!("cannot remove {}: {error}", directory.display());
    }
}
