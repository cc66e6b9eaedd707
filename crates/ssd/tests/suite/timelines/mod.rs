//! Bare-device timelines: small cases whose every nanosecond is computed by hand.
//!
//! Each test draws its timeline and adds up the numbers below; none of them calls the drive's own timing code. The
//! model behind the arithmetic, and where it follows ONFI and where it simplifies, is in `docs/models/timing.md`.

mod ahead;
mod busy;
mod cache;
mod cleaning;
mod cuts;
mod held;
mod host;
mod locks;
mod m64;
mod mqsim;
mod one_shot;
mod planes;
mod preemption;
mod programs;
mod reads;
mod reclaim;
mod relocks;
mod rows;
mod slc;
mod units;
mod writes;

use ssd::ftl::gc_trigger;
use ssd::host::buffer;
use ssd::sections::{MappingUnit, Superblock};
use ssd::{Command, Completion, Drive, DriveConfig, Lba, OpCode, Part, SimTime, Status};

/// Channel time of a read command (ns).
const READ_COMMAND: u64 = 300;
/// Channel time before data goes out (ns).
const OUT_COMMAND: u64 = 40;
/// Channel time of a program command (ns).
const PROGRAM_COMMAND: u64 = 400;
/// Channel time of an erase command (ns).
const ERASE_COMMAND: u64 = 350;
/// 4 KiB on a channel of 1000 MB/s (ns): one byte takes one nanosecond.
const DATA_4K: u64 = 4_096;
/// 16 KiB on the channel (ns).
const DATA_16K: u64 = 16_384;
/// Array times (ns).
const T_R: u64 = 50_000;
const T_PROG: u64 = 600_000;
const T_BERS: u64 = 3_000_000;
/// 4 KiB on a host link of 4000 MB/s (ns): four bytes take one nanosecond.
const LINK_4K: u64 = 1_024;
/// 16 KiB on the host link (ns).
const LINK_16K: u64 = 4_096;
/// One access to the DRAM buffer (ns).
const DRAM: u64 = 200;

/// A whole-page read on an idle die and channel: 300 + 50 000 + 40 + 16 384 = 66 724 ns.
const READ_16K: u64 = READ_COMMAND + T_R + OUT_COMMAND + DATA_16K;
/// A whole-page program: 400 + 16 384 + 600 000 = 616 784 ns.
const PROGRAM_16K: u64 = PROGRAM_COMMAND + DATA_16K + T_PROG;
/// An erase: 350 + 3 000 000 = 3 000 350 ns.
const ERASE: u64 = ERASE_COMMAND + T_BERS;

/// Sectors of a 4-KiB piece and of a 16-KiB page.
const S4K: u32 = 8;
const S16K: u32 = 32;

/// One SLC die of one plane on one channel: 16 blocks of 16 pages of 16 KiB, of which the host sees 128; whole-page
/// mapping, no buffer, no link latency, no firmware time.
fn one_die() -> DriveConfig {
    let mut cfg = DriveConfig::default();
    cfg.drive.over_provisioning_percent = 100.0;
    let g = &mut cfg.geometry;
    (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (1, 1, 1, 1);
    (g.blocks_per_plane, g.wordlines_per_block, g.bits_per_cell, g.page_bytes) = (16, 16, 1, 16_384);
    let t = &mut cfg.timing;
    (t.t_read_us, t.t_program_us, t.t_erase_us) = (vec![50.0], vec![600.0], 3_000.0);
    let c = &mut cfg.channel;
    c.bandwidth_mb_s = 1_000.0;
    (c.t_read_command_ns, c.t_data_out_command_ns) = (300, 40);
    (c.t_program_command_ns, c.t_erase_command_ns) = (400, 350);
    cfg.mapping.unit = MappingUnit::Page;
    cfg.allocation.superblock = Superblock::None;
    (cfg.link.bandwidth_mb_s, cfg.link.latency_us) = (4_000.0, 0.0);
    cfg.firmware.t_command_us = 0.0;
    cfg.buffer = buffer::Config::None(buffer::none::Params { gather_timeout_us: 0.0, t_access_ns: 200 });
    cfg.gc_trigger = gc_trigger::Config::Watermark(gc_trigger::watermark::Params {
        start_free_percent: 0.0,
        stop_free_percent: 0.0,
    });
    cfg
}

/// The same with `chips` chips on each of `channels` channels.
fn many_dies(channels: u32, chips: u32) -> DriveConfig {
    let mut cfg = one_die();
    (cfg.geometry.channels, cfg.geometry.chips_per_channel) = (channels, chips);
    cfg
}

/// One die of four planes whose blocks form superblocks: pages 0 to 3 of a stripe lie in planes 0 to 3.
fn four_planes() -> DriveConfig {
    let mut cfg = one_die();
    cfg.geometry.planes_per_die = 4;
    cfg.allocation.superblock = Superblock::Planes;
    cfg
}

/// A write-back buffer of 256 KiB (16 pages), flushed from 8 dirty pages on.
fn write_back() -> buffer::Config {
    buffer::Config::LruWrite(buffer::lru_write::Params {
        size_mib: 0.25,
        flush_start_percent: 50.0,
        flush_stop_percent: 25.0,
        t_access_ns: 200,
        ..Default::default()
    })
}

/// A drive whose first `units` mapping units are written.
fn filled(cfg: &DriveConfig, units: u32) -> Drive {
    let mut drive = Drive::new(cfg).unwrap();
    drive.fill(0, units).unwrap();
    drive
}

fn command(op: OpCode, lba: u64, sectors: u32) -> Command {
    Command { op, lba: Lba(lba), sectors, ..Command::default() }
}

/// A read of the whole 16-KiB page `page`.
fn read(page: u64) -> Command {
    command(OpCode::Read, page * 32, S16K)
}

/// A write of the whole 16-KiB page `page`.
fn write(page: u64) -> Command {
    command(OpCode::Write, page * 32, S16K)
}

/// Submits each command at its time, lets all end, and returns the completions in the order of the script.
fn run(drive: &mut Drive, script: &[(u64, Command)]) -> Vec<Completion> {
    for (tag, (at, command)) in (0..).zip(script) {
        let command = Command { tag, arrival: SimTime(*at), ..*command };
        drive.submit(0, &command, SimTime(*at)).unwrap();
    }
    drive.drain();
    let mut done: Vec<Completion> = std::iter::from_fn(|| drive.pop_completion()).collect();
    done.sort_by_key(|c| c.tag);
    assert_eq!(done.len(), script.len(), "every command completes once");
    drive.check().unwrap();
    done
}

/// Asserts when a command completed and where its time went; parts not listed must be zero.
#[track_caller]
fn expect(done: &Completion, at: u64, parts: &[(Part, u64)]) {
    assert_eq!(done.status, Status::Ok);
    let listed = |part: Part| parts.iter().filter(|p| p.0 == part).map(|p| p.1).sum::<u64>();
    let found = |part: Part| done.breakdown.ns[part as usize];
    let wrong: Vec<String> = Part::ALL
        .into_iter()
        .filter(|&part| found(part) != listed(part))
        .map(|part| format!("{} is {}, by hand {}", part.name(), found(part), listed(part)))
        .collect();
    let tag = done.tag;
    assert!(
        done.completed.0 == at,
        "command {tag} at {} ns, by hand {at}; {}",
        done.completed.0,
        wrong.join("; ")
    );
    assert!(wrong.is_empty(), "command {tag}: {}", wrong.join("; "));
    assert_eq!(done.breakdown.total(), at - done.arrival.0);
}
