//! What a touch of a large table costs: the floor under every random request, and what huge pages save.

use crate::report::{Goal, Row, best_seconds};
use crate::speed::preset;
use lab::process::{cpu_time, peak_rss_bytes, rss_bytes};
use lab::{LoopMode, RunSpec, run};
use ssd::Drive;
use std::hint::black_box;
use workload::Spec;

/// 512 MiB: the map of a 512-GiB drive in 4-KiB units.
const ENTRIES: usize = 128 << 20;
/// 2 MiB: small enough that [`lab::memory::HugePages`] leaves it on ordinary pages.
const CHUNK: usize = 512 << 10;
const TOUCHES: u32 = 4_000_000;

/// Dependent random reads, one after the other, of a table on huge pages and of one on 4-KiB pages.
pub fn table_access() -> Vec<Row> {
    let huge = best_seconds(3, || vec![1u32; ENTRIES], |table| walk(|index| table[index]));
    let chunks = || (0..ENTRIES / CHUNK).map(|_| vec![1u32; CHUNK]).collect::<Vec<_>>();
    let small = best_seconds(3, chunks, |table| walk(|index| table[index / CHUNK][index % CHUNK]));
    let each = |seconds: f64| seconds * 1e9 / f64::from(TOUCHES);
    vec![
        Row::new("table_access_huge_pages", each(huge), "ns", Goal::None),
        Row::new("table_access_small_pages", each(small), "ns", Goal::None),
    ]
}

/// Each index depends on what the last one held.
fn walk(read: impl Fn(usize) -> u32) {
    let mut state = 1u64;
    for _ in 0..TOUCHES {
        // A step of Knuth's 64-bit linear congruential generator (MMIX).
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(u64::from(read(index_of(state))) | 1);
    }
    black_box(state);
}

fn index_of(state: u64) -> usize {
    ((state >> 32) as usize) % ENTRIES
}

/// The 2-TiB drive of Straw: ready, then written full, with every table touched.
pub fn straw() -> Vec<Row> {
    let cfg = preset("straw");
    let start = cpu_time();
    let mut drive = Drive::new(&cfg).expect("a sound preset");
    let ready = (cpu_time() - start).as_secs_f64();
    drive.fill(0, drive.logical_units()).expect("room for the logical space");
    let pages = drive.blocks().pages() as f64;
    let bytes = peak_rss_bytes().unwrap_or(0) as f64;
    vec![
        Row::new("straw_2tib_ready", ready, "s", Goal::AtMost(2.0)),
        Row::new("straw_2tib_memory", bytes / pages, "bytes/page", Goal::AtMost(12.0)),
        Row::new("straw_2tib_filled", (cpu_time() - start).as_secs_f64(), "s", Goal::None),
    ]
}

/// Memory over 10^8 requests: what the process grew by after the first two million. A second run finds the memory of
/// the first in pieces, and takes some 3 MiB more, whatever its length.
pub fn flat() -> Vec<Row> {
    let mut cfg = preset("m64");
    cfg.geometry.blocks_per_plane /= 4;
    let mut drive = Drive::new(&cfg).expect("a sound preset");
    let units = drive.logical_units();
    drive.fill(0, units).expect("room for the logical space");
    let mut serve = |count: u64| {
        let load = format!("pattern = 'uniform'\ncount = {count}\nread_percent = 90");
        let prepared = Spec::parse(&load).and_then(|spec| spec.prepare()).expect("a sound workload");
        let mut source = prepared.open(drive.logical_sectors()).expect("a generator");
        let spec = RunSpec { loop_mode: LoopMode::Closed { depth: 32 }, ..RunSpec::default() };
        run(&mut drive, &cfg, &mut *source, &spec, &mut |_| {}).expect("a complete run");
        rss_bytes().unwrap_or(0) as f64
    };
    serve(1_000_000);
    let early = serve(1_000_000);
    let late = serve(100_000_000);
    vec![Row::new("memory_growth_1e8_requests", (late - early) / 1024.0, "KiB", Goal::AtMost(1024.0))]
}
