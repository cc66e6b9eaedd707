//! Saturated throughput: whatever is the bottleneck is busy all the time.
//!
//! Times are those of [`round_numbers`]: a read of B bytes takes 300 + 40 + B ns on its channel and 50 000 ns in the
//! array, and holds its die for all of that; a program takes 400 + B on the channel and 600 000 ns in the array.

use super::*;
use ssd::sections::{AllocationOrder, Issue, Superblock};

/// Channel time of a read of 16 KiB (ns) and the time it holds its die.
const READ_CHANNEL: f64 = 300.0 + 40.0 + 16_384.0;
const READ_DIE: f64 = READ_CHANNEL + 50_000.0;
/// Channel time of a program of 16 KiB (ns).
const PROGRAM_CHANNEL: f64 = 400.0 + 16_384.0;

/// Reads a second of so many sectors, four in flight at each die.
fn saturated_reads(cfg: &DriveConfig, sectors: u32) -> f64 {
    saturated(cfg, sectors).0.rate()
}

/// The same, with what the drive has counted.
fn saturated(cfg: &DriveConfig, sectors: u32) -> (Flow, ssd::Stats) {
    let dies = cfg.geometry.dies();
    let mut drive = Drive::new(cfg).unwrap();
    // Page k lies on die k mod `dies`: one plane each, dealt in turn.
    drive.fill(0, dies * 256).unwrap();
    let mut rng = Rng::named(3, "pages");
    let mut next = |place: u64| on_page(OpCode::Read, rng.below(256) * dies + place as u32 % dies, sectors);
    drive.reset_stats();
    let flow = closed_loop(&mut drive, u64::from(dies) * 4, 20_000, &mut next);
    (flow, drive.stats())
}

#[test]
fn arrays_rest_while_dies_wait_for_their_channel() {
    // Each of n dies senses once while the channel carries n pages, and holds one in its register otherwise.
    for chips in [4, 8, 16] {
        let (_, stats) = saturated(&round_numbers(2, chips, 1), 32);
        let time = stats.until.since(stats.since) as f64;
        let shares = |busy: &[u64]| -> Vec<f64> { busy.iter().map(|&ns| ns as f64 / time).collect() };
        let arrays = shares(&stats.flash.die_array_ns);
        let expected = 50_000.0 / (f64::from(chips) * READ_CHANNEL);
        for array in arrays {
            close(&format!("arrays at work, {chips} dies a channel"), array, expected, 1.0);
        }
        let busy = [&stats.flash.die_busy_ns[..], &stats.flash.channel_busy_ns].concat();
        assert!(shares(&busy).into_iter().all(|share| share > 0.99), "{busy:?} of {time}");
    }
}

#[test]
fn reads_are_bound_by_their_dies() {
    // Dies hold one read at a time. The channel is busy for n x 16 724 in each 66 724 ns.
    for (channels, chips) in [(1, 1), (1, 2), (1, 3), (4, 2)] {
        let cfg = round_numbers(channels, chips, 1);
        let bound = f64::from(channels * chips) * 1e9 / READ_DIE;
        close(&format!("reads, {channels} channels of {chips} dies"), saturated_reads(&cfg, 32), bound, 1.0);
    }
    // Quarter pages: the channel time of 4 436 lets more dies work beside each other.
    let bound = 8.0 * 1e9 / (300.0 + 50_000.0 + 40.0 + 4_096.0);
    close("4-KiB reads, one channel of 8 dies", saturated_reads(&round_numbers(1, 8, 1), 8), bound, 1.0);
}

#[test]
fn reads_are_bound_by_their_channel() {
    // Five dies could read a page every 13 345 ns; the channel passes one every 16 724.
    for (channels, chips) in [(1, 5), (1, 8), (2, 8), (4, 16)] {
        let cfg = round_numbers(channels, chips, 1);
        let bound = f64::from(channels) * 1e9 / READ_CHANNEL;
        close(&format!("reads, {channels} channels of {chips} dies"), saturated_reads(&cfg, 32), bound, 1.0);
    }
    let bound = 1e9 / (300.0 + 40.0 + 4_096.0);
    close("4-KiB reads, one channel of 24 dies", saturated_reads(&round_numbers(1, 24, 1), 8), bound, 1.0);
}

#[test]
fn cache_reads_are_bound_by_array_or_register() {
    // The next page is sensed during the output of the last: the longer of the two counts, and the command between.
    let mut cfg = round_numbers(1, 1, 1);
    cfg.timing.cache_operations = true;
    close("cache reads, array-bound", saturated_reads(&cfg, 32), 1e9 / (300.0 + 50_000.0), 1.0);
    cfg.timing.t_read_us = vec![10.0];
    close("cache reads, output-bound", saturated_reads(&cfg, 32), 1e9 / READ_CHANNEL, 1.0);
}

/// Pages a second of a sequential write of `pages` pages in commands of one page, many in flight.
fn sequential_writes(cfg: &DriveConfig, pages: u32) -> f64 {
    let mut drive = Drive::new(cfg).unwrap();
    let mut page = 0;
    let mut next = |_: u64| {
        page += 1;
        on_page(OpCode::Write, page - 1, 32)
    };
    closed_loop(&mut drive, 1_024, u64::from(pages) - 1_024, &mut next).rate()
}

fn superblocks(channels: u32, chips: u32, order: AllocationOrder) -> DriveConfig {
    let mut cfg = round_numbers(channels, chips, 4);
    (cfg.allocation.superblock, cfg.allocation.order) = (Superblock::Planes, order);
    cfg
}

#[test]
fn multi_plane_programs_are_bound_by_their_dies() {
    // Four planes: 4 x 16 784 ns of data, then one tPROG, four pages.
    for order in [AllocationOrder::Pcwd, AllocationOrder::Cwdp] {
        for (channels, chips) in [(1, 1), (1, 4), (2, 4)] {
            let cfg = superblocks(channels, chips, order);
            let bound = f64::from(channels * chips) * 4.0 * 1e9 / (4.0 * PROGRAM_CHANNEL + 600_000.0);
            let what = format!("programs {}, {channels} channels of {chips} dies", order.name());
            close(&what, sequential_writes(&cfg, 8_000), bound, 1.0);
        }
    }
    let mut cfg = superblocks(1, 4, AllocationOrder::Cwdp);
    (cfg.scheduling.multi_plane, cfg.allocation.issue) = (false, Issue::Page);
    let bound = 4.0 * 1e9 / (PROGRAM_CHANNEL + 600_000.0);
    close("programs plane by plane, 4 dies", sequential_writes(&cfg, 8_000), bound, 1.0);
}

#[test]
fn multi_plane_programs_are_bound_by_their_channel() {
    // Sixteen dies could take a page every 10 424 ns.
    for order in [AllocationOrder::Pcwd, AllocationOrder::Cwdp] {
        let cfg = superblocks(1, 16, order);
        let what = format!("programs {}, one channel of 16 dies", order.name());
        close(&what, sequential_writes(&cfg, 20_000), 1e9 / PROGRAM_CHANNEL, 1.0);
    }
}

#[test]
fn cache_programs_hide_their_data() {
    // Data of the next page comes in while the array works on the last: only tPROG counts.
    let mut cfg = round_numbers(1, 2, 1);
    cfg.timing.cache_operations = true;
    close("cache programs, two dies", sequential_writes(&cfg, 4_000), 2.0 * 1e9 / 600_000.0, 1.0);
}

#[test]
fn the_link_bounds_each_direction() {
    // 128 KiB at 2 000 MB/s is 65 536 ns. Reads of what was never written need no die.
    let mut cfg = round_numbers(1, 1, 1);
    cfg.link.bandwidth_mb_s = 2_000.0;
    let mut drive = Drive::new(&cfg).unwrap();
    let reads = closed_loop(&mut drive, 16, 2_000, |_| on_page(OpCode::Read, 0, 256)).rate();
    close("link, reads", reads, 1e9 / 65_536.0, 1.0);
    // Writes of the same 128 KiB again and again stay in a buffer of 1 MiB.
    let params = buffer::lru_write::Params { size_mib: 1.0, ..Default::default() };
    cfg.buffer = buffer::Config::LruWrite(params);
    let mut drive = Drive::new(&cfg).unwrap();
    let writes = closed_loop(&mut drive, 16, 2_000, |_| on_page(OpCode::Write, 0, 256)).rate();
    close("link, writes", writes, 1e9 / 65_536.0, 1.0);
    // Both at once: the link is full duplex.
    let mut drive = Drive::new(&cfg).unwrap();
    let next =
        |place| on_page(if place < 16 { OpCode::Read } else { OpCode::Write }, place as u32 / 16 * 64, 256);
    let both = closed_loop(&mut drive, 32, 4_000, next).rate();
    close("link, both ways", both, 2.0 * 1e9 / 65_536.0, 1.0);
}

#[test]
fn reading_ahead_leaves_one_read_at_a_time_to_the_link() {
    // Sixteen dies sense a page every 4 170 ns, and the link carries it in 8 192, after 200 ns of DRAM.
    let mut cfg = round_numbers(8, 2, 1);
    cfg.link.bandwidth_mb_s = 2_000.0;
    let params = buffer::lru_write::Params { size_mib: 4.0, t_access_ns: 200, ..Default::default() };
    cfg.buffer = buffer::Config::LruWrite(params);
    let mut rate = |size_kib: u32| {
        cfg.read_ahead.size_kib = size_kib;
        let mut drive = Drive::new(&cfg).unwrap();
        let pages = 2_000;
        drive.fill(0, pages).unwrap();
        let mut page = 0;
        let next = |_| {
            page += 1;
            on_page(OpCode::Read, page % pages, 32)
        };
        closed_loop(&mut drive, 1, 1_900, next).rate()
    };
    close("one read at a time", rate(0), 1e9 / (READ_DIE + 8_192.0), 1.0);
    close("read ahead", rate(512), 1e9 / (200.0 + 8_192.0), 1.0);
}

#[test]
fn the_firmware_bounds_small_commands() {
    let mut cfg = round_numbers(1, 1, 1);
    cfg.firmware.t_command_us = 0.8;
    let mut drive = Drive::new(&cfg).unwrap();
    let rate = closed_loop(&mut drive, 64, 20_000, |_| on_page(OpCode::Read, 0, 1)).rate();
    close("firmware", rate, 1e9 / 800.0, 1.0);
}

#[test]
fn a_limit_on_writes_holds_while_data_is_moved() {
    // 64 blocks of 64 pages on each of two dies, with as much spare as data: writes over all of it are cleaned after,
    // and held back to 4 MB/s, 244 pages a second. What is written in sequence leaves nothing to be moved.
    let mut cfg = round_numbers(1, 2, 1);
    cfg.drive.over_provisioning_percent = 25.0;
    let pages = (cfg.logical_bytes() / 16_384) as u32;
    let mut rate = |cap: f64, in_sequence: bool| {
        cfg.host.write_cap_mb_s = cap;
        let mut drive = Drive::new(&cfg).unwrap();
        drive.fill(0, pages).unwrap();
        let (mut rng, mut at) = (Rng::named(5, "pages"), 0);
        let mut next = |_| {
            at = (at + 1) % pages;
            on_page(OpCode::Write, if in_sequence { at } else { rng.below(pages) }, 32)
        };
        closed_loop(&mut drive, 16, u64::from(pages) * 4, &mut next).rate()
    };
    close("writes that are held back", rate(4.0, false), 4e6 / 16_384.0, 2.0);
    let free = rate(0.0, true);
    close("writes in sequence beside a limit", rate(4.0, true), free, 2.0);
    assert!(rate(0.0, false) > 2.0 * 4e6 / 16_384.0);
}
