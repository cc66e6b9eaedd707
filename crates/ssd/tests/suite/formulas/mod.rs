//! Closed formulas against the drive: what theory says of write amplification, bandwidth and waiting.
//!
//! Equations with their sources, and how each is measured: `docs/models/write_amplification.md` and
//! `docs/models/timing.md`.

mod amplification;
mod bandwidth;
mod laws;
mod parity;
mod placement;
mod rows;
mod units;
mod waiting;

use ssd::ftl::{gc_trigger, gc_victim};
use ssd::host::buffer;
use ssd::rng::Rng;
use ssd::sections::{MappingUnit, Superblock};
use ssd::{Command, Drive, DriveConfig, Lba, OpCode, SimTime, Status};

/// One lane (one plane of one die) of `blocks` blocks of `pages` SLC pages of 4 KiB, mapped page by page,
/// write-through, with `percent` over-provisioning. Cleaning begins when two blocks are free: the least there is.
fn one_lane(blocks: u32, pages: u32, percent: f64) -> DriveConfig {
    let mut cfg = DriveConfig::default();
    cfg.drive.over_provisioning_percent = percent;
    let g = &mut cfg.geometry;
    (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (1, 1, 1, 1);
    (g.blocks_per_plane, g.wordlines_per_block, g.bits_per_cell, g.page_bytes) = (blocks, pages, 1, 4_096);
    cfg.mapping.unit = MappingUnit::Page;
    cfg.allocation.superblock = Superblock::None;
    cfg.cleaning.reserve_blocks = 1;
    cfg.gc_trigger = gc_trigger::Config::Watermark(gc_trigger::watermark::Params {
        start_free_percent: 0.0,
        stop_free_percent: 0.0,
    });
    cfg.buffer = buffer::Config::None(buffer::none::Params::default());
    cfg
}

/// A drive with round numbers: 16-KiB pages, a channel where a byte takes 1 ns, tR 50 us, tPROG 600 us, tBERS 3 ms, a
/// host that takes next to no time, write-through; `chips` dies of `planes` planes on each of `channels` channels.
fn round_numbers(channels: u32, chips: u32, planes: u32) -> DriveConfig {
    let mut cfg = one_lane(64, 64, 100.0);
    let g = &mut cfg.geometry;
    (g.channels, g.chips_per_channel, g.planes_per_die, g.page_bytes) = (channels, chips, planes, 16_384);
    let t = &mut cfg.timing;
    (t.t_read_us, t.t_program_us, t.t_erase_us) = (vec![50.0], vec![600.0], 3_000.0);
    let c = &mut cfg.channel;
    c.bandwidth_mb_s = 1_000.0;
    (c.t_read_command_ns, c.t_data_out_command_ns) = (300, 40);
    (c.t_program_command_ns, c.t_erase_command_ns) = (400, 350);
    (cfg.link.bandwidth_mb_s, cfg.link.latency_us) = (1_000_000.0, 0.0);
    cfg.firmware.t_command_us = 0.0;
    cfg.queues.depth = 4_096;
    cfg
}

/// A command on the first `sectors` sectors of 16-KiB page `page`.
fn on_page(op: OpCode, page: u32, sectors: u32) -> Command {
    Command { op, lba: Lba(u64::from(page) * 32), sectors, ..Command::default() }
}

/// A write of 4-KiB unit `unit`.
fn write_unit(unit: u32) -> Command {
    Command { op: OpCode::Write, lba: Lba(u64::from(unit) * 8), sectors: 8, ..Command::default() }
}

/// What passed through a drive.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    count: u64,
    ns: u64,
    latency_ns: u64,
}

impl Flow {
    /// Completions per second.
    fn rate(&self) -> f64 {
        self.count as f64 * 1e9 / self.ns as f64
    }
}

/// Keeps `depth` commands in flight until `count` have completed, and tells of the second half of them. `next` makes
/// each command, told the number (below `depth`) of the place in flight that is free. All is drained at the end.
fn closed_loop(drive: &mut Drive, depth: u64, count: u64, mut next: impl FnMut(u64) -> Command) -> Flow {
    let mut submit = |drive: &mut Drive, place: u64| {
        let command = Command { tag: place, arrival: drive.now(), ..next(place) };
        drive.submit(0, &command, drive.now()).unwrap();
    };
    (0..depth).for_each(|place| submit(drive, place));
    let (mut flow, mut start) = (Flow::default(), SimTime::ZERO);
    for n in 0..count {
        assert!(drive.advance_to_completion(), "a closed loop never runs dry");
        let done = drive.pop_completion().unwrap();
        assert_eq!(done.status, Status::Ok);
        if n < count / 2 {
            start = done.completed;
        } else {
            flow.count += 1;
            flow.ns = done.completed.since(start);
            flow.latency_ns += done.completed.since(done.arrival);
        }
        submit(drive, done.tag);
    }
    drive.drain();
    while drive.pop_completion().is_some() {}
    flow
}

/// Asserts that `measured` is within `percent` of `expected`, and says by how much it is off.
#[track_caller]
fn close(what: &str, measured: f64, expected: f64, percent: f64) {
    let off = (measured / expected - 1.0) * 100.0;
    eprintln!(
        "{what}: measured {measured:.5}, formula {expected:.5}, off by {off:+.3} % (allowed {percent} %)"
    );
    assert!(off.abs() <= percent, "{what}: measured {measured}, formula {expected}, off by {off:.3} %");
}
