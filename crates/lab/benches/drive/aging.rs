//! What cells that age cost: time of reads, and memory of what the chips remember of each block or wordline.

use crate::report::{Goal, Row};
use crate::speed::{filled, preset_with};
use lab::process::{cpu_time, rss_bytes};
use lab::result::RunResult;
use lab::{LoopMode, RunSpec, run};
use ssd::{AgeStep, Drive, DriveConfig, Executor};
use workload::{Prepared, Spec};

/// Runs of each drive, in turns.
const RUNS: usize = 7;

fn age(drive: &mut Drive, step: &str) {
    let step: AgeStep = step.parse().expect("a sound step");
    drive.age(&step).expect("a drive whose cells age");
}

fn serve(cfg: &DriveConfig, drive: &Drive, load: &Prepared) -> RunResult {
    let mut drive = drive.clone();
    let mut source = load.open(drive.logical_sectors()).expect("a generator");
    let spec = RunSpec { loop_mode: LoopMode::Closed { depth: 32 }, ..RunSpec::default() };
    run(&mut drive, cfg, &mut *source, &spec, &mut |_| {}).expect("a complete run")
}

/// Random 4-KiB reads of a full drive at depth 32, without errors and with cells that age: fresh ones, ones of 3000
/// cycles and three months, which these cells of two bits stand without retries, and ones of 10 000 cycles and a year,
/// which they do not. The drives take turns, so that what else the machine does is the same for all.
pub fn reads() -> Vec<Row> {
    let load = "pattern = 'uniform'\ncount = 2_000_000\nread_percent = 100\nsize_bytes = 4096";
    let load = Spec::parse(load).and_then(|spec| spec.prepare()).expect("a sound workload");
    let (plain, aging) = (preset_with("m64", &[]), preset_with("m64", &["nand.errors.model=cells"]));
    let (none, fresh) = (filled(&plain, 100), filled(&aging, 100));
    let mut old = fresh.clone();
    age(&mut old, "cycle to 3000");
    age(&mut old, "retain 3 months");
    let mut worn = fresh.clone();
    age(&mut worn, "cycle to 10000");
    age(&mut worn, "retain 12 months");
    let drives = [(&plain, &none), (&aging, &fresh), (&aging, &old), (&aging, &worn)];
    let mut best = [f64::INFINITY; 4];
    let mut retries = [None; 4];
    for _ in 0..RUNS {
        for (number, (cfg, drive)) in drives.into_iter().enumerate() {
            let result = serve(cfg, drive, &load);
            best[number] = best[number].min(result.cpu_seconds / result.requests_served as f64);
            retries[number] = result.flash.retries.mean;
        }
    }
    vec![
        Row::new("m64_read_cost_of_cells", best[1] / best[0], "times", Goal::AtMost(1.5)),
        Row::new("m64_read_cost_of_aged_cells", best[2] / best[0], "times", Goal::None),
        Row::new("m64_read_cost_of_worn_cells", best[3] / best[0], "times", Goal::None),
        Row::new("m64_random_read_cells", 1.0 / best[1], "requests/s", Goal::None),
        Row::new("m64_random_read_aged_cells", 1.0 / best[2], "requests/s", Goal::None),
        Row::new("m64_random_read_worn_cells", 1.0 / best[3], "requests/s", Goal::None),
        Row::new("m64_retries_of_aged_cells", retries[2].unwrap_or(0.0), "retries/page read", Goal::None),
        Row::new("m64_retries_of_worn_cells", retries[3].unwrap_or(0.0), "retries/page read", Goal::None),
    ]
}

/// Page reads all over Straw's 2-TiB drive, full and cycled 2,000 times, where no time passes: counting what each
/// policy against read disturb does. 500 million in two minutes are 4.17 million a second.
pub fn counted_reads() -> Vec<Row> {
    let load = "pattern = 'uniform'\ncount = 20_000_000\nread_percent = 100\nsize_bytes = 16384";
    let load = Spec::parse(load).and_then(|spec| spec.prepare()).expect("a sound workload");
    let members = [
        ("never", "never", "space_saving"),
        ("block", "block", "space_saving"),
        ("page_type", "page_type", "space_saving"),
        ("straw_ss", "straw", "space_saving"),
        ("straw_wl", "straw", "exact"),
    ];
    let count = |&(name, policy, counters): &(&str, &str, &str)| {
        let policy_key = format!("ftl.read_reclaim.policy={policy}");
        let counters_key = format!("ftl.read_reclaim.counters={counters}");
        let mut settings =
            vec!["nand.errors.model=cells", "nand.errors.disturb_counters=wordline", &policy_key];
        settings.extend((policy == "straw").then_some(counters_key.as_str()));
        let cfg = preset_with("straw", &settings);
        let mut drive = filled(&cfg, 100);
        age(&mut drive, "cycle to 2000");
        let mut source = load.open(drive.logical_sectors()).expect("a generator");
        let (loop_mode, executor) = (LoopMode::Closed { depth: 1 }, Executor::Functional);
        let spec = RunSpec { loop_mode, executor, ..RunSpec::default() };
        let result = run(&mut drive, &cfg, &mut *source, &spec, &mut |_| {}).expect("a complete run");
        let rate = result.requests_served as f64 / result.cpu_seconds;
        let goal = if policy == "straw" { Goal::AtLeast(500e6 / 120.0) } else { Goal::None };
        Row::new(&format!("straw_2tib_counted_reads_{name}"), rate, "requests/s", goal)
    };
    members.iter().map(count).collect()
}

/// The 2-TiB drive of Straw, full and with every counter touched: what the chips' memory of age adds to each page, with
/// a counter of reads for each block and for each wordline.
pub fn memory() -> Vec<Row> {
    let measure = |settings: &[&str], ages: bool| {
        let before = rss_bytes().unwrap_or(0) as f64;
        let mut drive = filled(&preset_with("straw", settings), 100);
        let start = cpu_time();
        if ages {
            age(&mut drive, "disturb 1 reads");
        }
        let seconds = (cpu_time() - start).as_secs_f64();
        let after = rss_bytes().unwrap_or(0) as f64;
        ((after - before) / drive.blocks().pages() as f64, seconds)
    };
    let (none, _) = measure(&[], false);
    let cells = "nand.errors.model=cells";
    let (block, _) = measure(&[cells, "nand.errors.disturb_counters=block"], true);
    let (wordline, seconds) = measure(&[cells, "nand.errors.disturb_counters=wordline"], true);
    vec![
        Row::new("straw_2tib_aging_by_block", block - none, "bytes/page", Goal::None),
        Row::new("straw_2tib_aging_by_wordline", wordline - none, "bytes/page", Goal::None),
        Row::new("straw_2tib_memory_by_wordline", wordline, "bytes/page", Goal::None),
        Row::new("straw_2tib_age_step", seconds, "s", Goal::None),
    ]
}
