//! How fast requests are generated: nanoseconds of processor time for one.
//!
//! `cargo bench -p wordline-workload --bench generators [-- PART_OF_A_NAME ...]`. Best of five runs.

use ssd::rng::Rng;
use std::fs;
use std::time::Instant;
use workload::Spec;
use workload::synthetic::zipf::{Zipf, solve};

const REQUESTS: u64 = 10_000_000;
/// Of applications on files, which are slower.
const FILES_REQUESTS: u64 = 1_000_000;
const RUNS: usize = 5;

/// Processor seconds of the calling thread so far.
fn cpu_seconds() -> f64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split_whitespace().next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
}

fn best(mut run: impl FnMut() -> u64) -> f64 {
    let mut seconds = f64::MAX;
    for _ in 0..RUNS {
        let start = cpu_seconds();
        std::hint::black_box(run());
        seconds = seconds.min(cpu_seconds() - start);
    }
    seconds
}

/// Whether it was asked for: by a part of its name, or with everything.
fn is_asked(name: &str) -> bool {
    let mut asked = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).peekable();
    asked.peek().is_none() || asked.any(|part| name.contains(&part))
}

fn main() {
    println!("{:<44} {:>10} {:>12}", "", "ns each", "M per s");
    let show = |name: &str, seconds: f64, count: u64| {
        println!("{name:<44} {:>10.1} {:>12.1}", seconds * 1e9 / count as f64, count as f64 / seconds / 1e6);
    };
    for n in [1u64 << 20, 1 << 26, 1_000_000_000].into_iter().filter(|_| is_asked("rank")) {
        let theta = solve(n, 0.8, 0.2);
        let start = Instant::now();
        let zipf = Zipf::new(n, solve(n, 0.8, 0.2));
        let setup = start.elapsed().as_secs_f64();
        let mut rng = Rng::named(1, "bench");
        let seconds = best(|| (0..REQUESTS).fold(0u64, |sum, _| sum.wrapping_add(zipf.sample(&mut rng))));
        show(&format!("zipf rank, n = {n}, theta = {theta:.4}"), seconds, REQUESTS);
        println!("{:<44} {:>10.1} ms", "  solved and set up in", setup * 1e3);
    }
    let workloads = [
        ("uniform", "pattern = 'uniform'"),
        ("uniform, all reads", "pattern = 'uniform'\nread_percent = 100"),
        ("uniform, three sizes", "pattern = 'uniform'\nsize_bytes = [[4096, 70], [16384, 20], [65536, 10]]"),
        ("uniform, fixed rate", "pattern = 'uniform'\narrival = 'fixed'"),
        ("uniform, Poisson", "pattern = 'uniform'\narrival = 'poisson'"),
        ("sequential", "pattern = 'sequential'"),
        ("zipf 80/20, in order", "pattern = 'zipf'\nscatter = false"),
        ("zipf 80/20, scattered", "pattern = 'zipf'"),
        ("ads", "preset = 'ads'"),
        ("ads, closed loop", "preset = 'ads'\narrival = 'closed'"),
        ("mds", "preset = 'mds'"),
        ("websearch", "preset = 'websearch'"),
        ("websearch, closed loop", "preset = 'websearch'\narrival = 'closed'"),
        ("websearch, 10 passes", "preset = 'websearch'\narrival = 'closed'\nrepeat = 10"),
        ("websearch, 100 copies", "preset = 'websearch'\ncopies = 100"),
        ("tpc-h", "preset = 'tpc-h'"),
        ("tatp", "preset = 'tatp'"),
        ("multi", "preset = 'multi'"),
        ("ali124", "preset = 'ali124'"),
        ("zipf, page cache of 1 GiB", "pattern = 'zipf'\nfootprint_gib = 8\npage_cache_mib = 1024"),
        ("varmail", "preset = 'varmail'\nfootprint_gib = 8"),
        ("fileserver", "preset = 'fileserver'\nfootprint_gib = 8"),
        ("webserver", "preset = 'webserver'\nfootprint_gib = 8"),
        ("proxyserver", "preset = 'proxyserver'\nfootprint_gib = 8"),
        ("mobile", "preset = 'mobile'\nfootprint_gib = 8"),
        ("oltp", "preset = 'oltp'\nfootprint_gib = 8"),
        ("ntrx", "preset = 'ntrx'\nfootprint_gib = 8"),
        ("syn1, closed loop", "preset = 'syn1'\narrival = 'closed'"),
    ];
    for (name, table) in workloads.into_iter().filter(|(name, _)| is_asked(name)) {
        let spec = Spec::parse(table).expect("a workload");
        let requests = if matches!(spec, Spec::Files(_)) { FILES_REQUESTS } else { REQUESTS };
        let run = || {
            let mut spec = spec.clone();
            // All passes and copies together make that many.
            let value = |key: &str| {
                let entries = spec.entries();
                let text = entries.iter().find(|(name, _)| *name == key).map(|(_, value)| value.clone());
                text.and_then(|text| text.parse::<u64>().ok()).unwrap_or(1)
            };
            let count = requests / (value("repeat") * value("copies"));
            spec.set("count", &count.to_string()).ok()?;
            let mut source = spec.open(1 << 31).ok()?;
            let mut sum = 0u64;
            while let Ok(Some(request)) = source.next() {
                sum = sum.wrapping_add(request.lba ^ request.arrival_ns);
            }
            Some(sum)
        };
        show(&format!("request: {name}"), best(|| run().unwrap_or(0)), requests);
    }
    jobs(&show);
}

/// Jobs of fio, played without a drive: each request completes at once, or after 100 us.
fn jobs(show: &dyn Fn(&str, f64, u64)) {
    let path = std::env::temp_dir().join(format!("wordline-bench-{}.fio", std::process::id()));
    let jobs = [
        ("sequential", 0, "rw=write\niodepth=32\nio_size=40g"),
        ("a map of 1 GiB", 0, "rw=randwrite\niodepth=32\nio_size=40g"),
        ("a map of 64 GiB", 0, "rw=randrw\nsize=64g\niodepth=32\nio_size=40g"),
        ("no map, sizes", 0, "rw=randrw\nnorandommap=1\nbssplit=4k/70:16k/30\nio_size=60g"),
        ("Zipf", 0, "rw=randread\nrandom_distribution=zipf:1.2\nio_size=20g"),
        ("16 clones at depth 32, 100 us each", 100, "rw=randread\nnumjobs=16\niodepth=32\nio_size=2g"),
        ("16 clones with a rate", 100, "rw=randrw\nnumjobs=16\niodepth=32\nrate_iops=10k\nio_size=1g"),
    ];
    for (name, service_us, options) in jobs.into_iter().filter(|_| is_asked("fio")) {
        if fs::write(&path, format!("[global]\nsize=1g\n[job]\n{options}\n")).is_err() {
            continue;
        }
        let mut spec = Spec::fio(path.display().to_string());
        let mut requests = 0;
        let mut run = || {
            spec.set("service_us", &service_us.to_string()).ok()?;
            let mut source = spec.open(1 << 31).ok()?;
            let mut sum = 0u64;
            requests = 0;
            while let Ok(Some(request)) = source.next() {
                sum = sum.wrapping_add(request.lba ^ request.arrival_ns);
                requests += 1;
            }
            Some(sum)
        };
        let seconds = best(|| run().unwrap_or(0));
        show(&format!("fio: {name}"), seconds, requests);
    }
    let _ = fs::remove_file(&path);
}
