//! What a call of a policy from outside costs over the built-in greedy, on a lane of 456 blocks: `cargo bench -p
//! wordline-abi`. Libraries of C need its compiler; one that the template of Rust has made, say, is named by
//! `WORDLINE_BENCH_LIBRARY`.
#![allow(unsafe_code, reason = "functions of C are what is measured")]

use abi::layout::{Lane, NONE, NOT_ELIGIBLE};
use abi::{Family, Library, hash, lane_from_address};
use ssd::external::{ExternalPolicies, LanePolicy};
use ssd::ftl::gc_victim;
use ssd::ftl::tables::blocks::Blocks;
use ssd::ftl::tables::layout::Layout;
use ssd::nand::Chip;
use ssd::rng::Rng;
use ssd::units::{BlockId, LaneId};
use ssd::{Drive, DriveConfig};
use std::ffi::c_void;
use std::hint::black_box;
use std::process::Command;
use std::slice;
use std::time::Instant;

const BLOCKS: u32 = 456;
const CALLS: u32 = 2_000_000;
const ROUNDS: usize = 9;

const GREEDY: &str = r#"
#include "wordline_policy.h"
static int32_t choose(void *state, const wordline_lane *lane, uint32_t *answer) {
    (void)state;
    const uint32_t *live = lane->live;
    uint32_t least = WORDLINE_NOT_ELIGIBLE, block = 0;
    for (uint32_t at = 0; at < lane->blocks; at++) least = live[at] < least ? live[at] : least;
    while (block < lane->blocks && live[block] != least) block++;
    *answer = least < WORDLINE_NOT_ELIGIBLE ? block : WORDLINE_NONE;
    return 0;
}
WORDLINE_BLOCK_POLICY(wordline_gc_victim, "greedy_c", choose)
"#;

/// Answers without looking: what is left is the call.
const BLIND: &str = r#"
#include "wordline_policy.h"
static int32_t choose(void *state, const wordline_lane *lane, uint32_t *answer) {
    (void)state;
    *answer = lane->blocks / 2;
    return 0;
}
WORDLINE_BLOCK_POLICY(wordline_gc_victim, "blind_c", choose)
"#;

unsafe extern "C" fn greedy(_: *mut c_void, lane: *const Lane, answer: *mut u32) -> i32 {
    let lane = unsafe { &*lane };
    let live = unsafe { slice::from_raw_parts(lane.live, lane.blocks as usize) };
    let least = live.iter().copied().min().unwrap_or(NOT_ELIGIBLE);
    let block = live.iter().position(|&units| units == least).unwrap_or(0) as u32;
    unsafe { *answer = if least < NOT_ELIGIBLE { block } else { NONE } };
    0
}

/// Nanoseconds a call, the least of some rounds.
fn measure(policy: &mut gc_victim::Policy, blocks: &Blocks, layout: &Layout) -> f64 {
    let mut rng = Rng::named(1, "bench");
    let mut round = || {
        let began = Instant::now();
        for _ in 0..CALLS {
            let view = blocks.lane_view(layout, LaneId(0), 1_000_000);
            black_box(policy.choose(black_box(&view), &mut rng));
        }
        began.elapsed().as_secs_f64() * 1e9 / f64::from(CALLS)
    };
    (0..ROUNDS).map(|_| round()).fold(f64::MAX, f64::min)
}

/// A library that the C compiler makes with these flags.
fn compiled(code: &str, flags: &[&str]) -> Option<Box<dyn LanePolicy>> {
    // A library that is loaded stays: each has a file of its own.
    let name =
        format!("wordline-abi-bench-{}-{}", std::process::id(), hash(format!("{code}{flags:?}").as_bytes()));
    let folder = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&folder).ok()?;
    std::fs::write(folder.join("wordline_policy.h"), abi::HEADER).ok()?;
    let (source, path) = (folder.join("greedy.c"), folder.join("greedy.so"));
    std::fs::write(&source, code).ok()?;
    let done = Command::new("cc")
        .args(flags)
        .args(["-shared", "-fPIC", "-o"])
        .arg(&path)
        .arg(&source)
        .status()
        .ok()?;
    let library = done.success().then(|| Library::open(Family::GcVictim, &path))?.ok();
    let _ = std::fs::remove_dir_all(&folder);
    library?.lane_policy()
}

fn main() {
    let mut cfg = DriveConfig::default();
    let g = &mut cfg.geometry;
    (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (1, 1, 1, 1);
    g.blocks_per_plane = BLOCKS;
    let (wordlines, units) = (g.wordlines_per_block, g.pages_per_block());
    let layout = Layout::new(&cfg, &Chip::new(1, BLOCKS, wordlines, &cfg.reliability, 1));
    let mut blocks = Blocks::new(&layout, (0..BLOCKS).map(|block| block % 7));
    let mut rng = Rng::named(3, "blocks");
    for block in 0..BLOCKS {
        for _ in 0..rng.below(units) {
            blocks.gain(BlockId(block));
        }
        blocks.close(BlockId(block), u64::from(block));
    }
    let mut built_in = gc_victim::Policy::build(&gc_victim::Config::default());
    let plain = measure(&mut built_in, &blocks, &layout);
    println!("built-in greedy, {BLOCKS} blocks: {plain:.1} ns a call");
    // Safety: it is a function of that type.
    let address = unsafe { lane_from_address(Family::GcVictim, "greedy", greedy as *const () as usize) };
    let template = std::env::var_os("WORDLINE_BENCH_LIBRARY");
    let template =
        template.and_then(|path| Library::open(Family::GcVictim, path.as_ref()).ok()?.lane_policy());
    let all = [
        ("C address of the same code", address.ok()),
        ("library that WORDLINE_BENCH_LIBRARY names", template),
        ("library of C, -O2", compiled(GREEDY, &["-O2"])),
        ("library of C, -O3 -march=native", compiled(GREEDY, &["-O3", "-march=native"])),
        ("library of C that does not look", compiled(BLIND, &["-O2"])),
    ];
    for (what, policy) in all {
        let Some(policy) = policy else {
            println!("{what}: skipped, there is none");
            continue;
        };
        let mut asking = cfg.clone();
        asking.gc_victim = gc_victim::Config::named("external").expect("a policy that is given");
        let given = ExternalPolicies { gc_victim: Some(policy), ..ExternalPolicies::default() };
        let drive = Drive::with_policies(&asking, given).expect("a drive");
        let mut policy = drive.external().gc_victim().clone();
        let cost = measure(&mut policy, &blocks, &layout);
        println!("{what}: {cost:.1} ns a call, {:.1} over the built-in policy", cost - plain);
    }
}
