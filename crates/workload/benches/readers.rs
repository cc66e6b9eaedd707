//! How fast traces are read: lines per second of one core, beside a plain `split(',')` and `parse` reader.
//!
//! `cargo bench -p wordline-workload --bench readers`. Times are processor time of this process (all its threads),
//! so a decompressing thread is counted and a busy machine does little harm. Each figure is the mean of five runs.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::time::Instant;
use workload::reader::read_from;
use workload::{ReadOptions, Source, Spec};

const LINES: u64 = 2_000_000;
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
    let mut spec = Spec::trace(plain.display().to_string());
    let _ = spec.set("address", "compact");
    if let Ok(prepared) = spec.prepare() {
        let (seconds, _) = mean(|| prepared.open(1 << 40).map_or(0, |mut source| drain(&mut *source)));
        show("second pass, text, compact", seconds);
    }
    if let Err(error) = fs::remove_dir_all(&directory) {
        eprintln!("cannot remove {}: {error}", directory.display());
    }
}
