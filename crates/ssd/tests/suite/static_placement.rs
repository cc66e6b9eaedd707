//! Pages with planes of their own: a plane without room keeps its own writes waiting, in their order, and nobody
//! else's; and however full the drive is and wherever the writes go, cleaning makes room.

use ssd::config::{Table, Value};
use ssd::host::buffer;
use ssd::rng::Rng;
use ssd::sections::{MappingUnit, Placement, Superblock};
use ssd::{Command, Completion, Drive, DriveConfig, Executor, Lba, OpCode, Reason, SimTime, Status};

/// Two channels of a die of one plane with so many blocks of 16 pages: two lanes, no buffer, round times.
fn two_planes(blocks: u32) -> DriveConfig {
    let mut cfg = DriveConfig::default();
    let g = &mut cfg.geometry;
    (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (2, 1, 1, 1);
    (g.blocks_per_plane, g.wordlines_per_block, g.bits_per_cell) = (blocks, 16, 1);
    (cfg.timing.t_read_us, cfg.timing.t_program_us) = (vec![50.0], vec![600.0]);
    (cfg.channel.bandwidth_mb_s, cfg.channel.t_program_command_ns) = (1_000.0, 400);
    (cfg.link.bandwidth_mb_s, cfg.link.latency_us, cfg.firmware.t_command_us) = (4_000.0, 0.0, 0.0);
    cfg.drive.over_provisioning_percent = 60.0;
    (cfg.mapping.unit, cfg.allocation.superblock) = (MappingUnit::Page, Superblock::None);
    cfg.allocation.placement = Placement::Static;
    cfg.buffer = buffer::Config::None(buffer::none::Params::default());
    cfg
}

/// The least over-provisioning that the drive is allowed to have.
fn as_full_as_can_be(mut cfg: DriveConfig) -> DriveConfig {
    while cfg.drive.over_provisioning_percent > 1.0 {
        let mut fuller = cfg.clone();
        fuller.drive.over_provisioning_percent -= 1.0;
        if fuller.validate().is_err() {
            break;
        }
        cfg = fuller;
    }
    cfg
}

fn write(page: u32) -> Command {
    Command { op: OpCode::Write, lba: Lba(u64::from(page) * 32), sectors: 32, ..Command::default() }
}

fn completions(drive: &mut Drive) -> Vec<Completion> {
    drive.drain();
    let mut done: Vec<_> = std::iter::from_fn(|| drive.pop_completion()).collect();
    done.sort_by_key(|done| done.tag);
    done
}

/// Even pages, those of plane 0, written often enough that plane 0 must be cleaned for every block.
fn with_one_plane_full(cfg: &DriveConfig) -> Drive {
    let mut drive = Drive::new(cfg).unwrap();
    let mut rng = Rng::named(5, "even");
    let pages = drive.logical_units();
    drive.overwrite(&(0..pages).step_by(2).collect::<Vec<_>>()).unwrap();
    drive.overwrite(&(0..4 * pages).map(|_| rng.below(pages / 2) * 2).collect::<Vec<_>>()).unwrap();
    assert!(drive.stats().ftl.reclaimed_blocks > 50);
    drive.reset_stats();
    drive
}

#[test]
fn a_full_plane_keeps_no_other_waiting() {
    let mut drive = with_one_plane_full(&as_full_as_can_be(two_planes(24)));
    let mut rng = Rng::named(6, "even");
    let pages = drive.logical_units();
    for tag in 0..120 {
        let command = Command { tag, ..write(rng.below(pages / 2) * 2) };
        drive.submit(0, &command, SimTime(0)).unwrap();
    }
    // A write to the idle plane: 4 096 on the link, 400 + 16 384 on the channel, 600 000 in the array.
    for tag in 0..3 {
        let at = SimTime(5_000_000 + tag * 5_000_000);
        let command = Command { tag: 1_000 + tag, arrival: at, ..write(1 + 2 * tag as u32) };
        drive.submit(0, &command, at).unwrap();
    }
    let done = completions(&mut drive);
    assert!(done.iter().all(|done| done.status == Status::Ok) && done.len() == 123);
    for late in &done[120..] {
        assert_eq!(late.completed.0 - late.arrival.0, 4_096 + 400 + 16_384 + 600_000, "{late:?}");
    }
    let stats = drive.stats();
    assert!(stats.ftl.reclaimed_blocks > 5 && done[119].completed.0 > 120 * 616_784, "plane 0 was cleaned");
    drive.check().unwrap();
}

#[test]
fn writes_of_one_plane_keep_their_order_and_a_flush_waits_for_those_before_it() {
    let mut drive = with_one_plane_full(&as_full_as_can_be(two_planes(24)));
    let mut rng = Rng::named(7, "even");
    let pages = drive.logical_units();
    // No page twice, so that no write waits for an older one of its page.
    let mut even: Vec<u32> = (0..pages).step_by(2).collect();
    for i in 0..100 {
        let other = i + rng.below(even.len() as u32 - i as u32) as usize;
        even.swap(i, other);
    }
    for tag in 0..101 {
        let flush = Command { op: OpCode::Flush, tag, ..Command::default() };
        let command = if tag == 60 { flush } else { Command { tag, ..write(even[tag as usize]) } };
        // The data of 60 writes is in the drive after 60 x 4 096 = 245 760 ns.
        let at = SimTime([0, 250_000, 300_000][usize::from(tag >= 60) + usize::from(tag > 60)]);
        drive.submit(0, &Command { arrival: at, ..command }, at).unwrap();
    }
    let done = completions(&mut drive);
    assert!(done.iter().all(|done| done.status == Status::Ok) && done.len() == 101);
    let writes: Vec<_> = done.iter().filter(|done| done.op == OpCode::Write).map(|d| d.completed).collect();
    assert!(writes.is_sorted(), "writes of one plane are programmed in the order in which they came");
    assert_eq!(done[60].completed, done[59].completed, "the flush ends with the last write before it");
    assert!(drive.stats().ftl.reclaimed_blocks > 3);
}

/// Keeps `depth` commands under way: mostly writes, most of them to where `page` says.
fn load(drive: &mut Drive, depth: usize, commands: u64, mut page: impl FnMut(&mut Rng) -> u32) {
    let mut rng = Rng::named(9, "skewed");
    let (mut submitted, mut done) = (0, 0);
    while done < commands {
        while submitted < commands && drive.outstanding() < depth {
            let mut command = Command { tag: submitted, arrival: drive.now(), ..write(page(&mut rng)) };
            match rng.below(20) {
                0..4 => command.op = OpCode::Read,
                4 => (command.op, command.lba, command.sectors) = (OpCode::Flush, Lba(0), 0),
                5 => command.sectors = 8,
                6 => command.fua = true,
                _ => {}
            }
            drive.submit(0, &command, drive.now()).unwrap();
            submitted += 1;
        }
        assert!(drive.advance_to_completion(), "stuck with {} under way", drive.outstanding());
        while let Some(completion) = drive.pop_completion() {
            assert_eq!(completion.status, Status::Ok, "{completion:?}");
            done += 1;
        }
    }
}

#[test]
fn full_drives_go_on_wherever_the_writes_go() {
    let mut shapes = Vec::new();
    for (planes, blocks, buffer, wear) in
        [(1, 12, "none", "none"), (2, 16, "lru_write", "none"), (3, 20, "lru_read_write", "static_swap")]
    {
        let mut cfg = two_planes(blocks);
        (cfg.geometry.planes_per_die, cfg.geometry.wordlines_per_block) = (planes, 4);
        if let Some(levels) = cfg.section_mut("ftl.wear_leveling") {
            levels.select(wear).unwrap();
        }
        cfg.buffer.select(buffer).unwrap();
        if buffer != "none" {
            cfg.buffer.set("size_mib", &Value::Float(0.5)).unwrap();
        }
        shapes.push(as_full_as_can_be(cfg));
    }
    for cfg in shapes {
        let lanes = cfg.lanes();
        for executor in [Executor::Timed, Executor::Functional] {
            for pattern in 0..4 {
                let mut drive = Drive::new(&cfg).unwrap();
                let pages = drive.logical_units();
                drive.fill(0, pages).unwrap();
                drive.set_executor(executor);
                load(&mut drive, 48, 8_000, |rng| match pattern {
                    0 => rng.below(pages),
                    1 => rng.below(pages / lanes) * lanes,
                    2 if rng.below(10) > 0 => rng.below(3) * lanes,
                    3 if rng.below(10) > 0 => rng.below(pages / lanes) * lanes + lanes - 1,
                    _ => rng.below(pages),
                });
                drive.drain();
                drive.check().unwrap();
                let stats = drive.stats();
                assert!(stats.ftl.reclaimed_blocks > 200, "{} blocks", stats.ftl.reclaimed_blocks);
                assert_eq!(drive.health().read_only, None);
            }
        }
    }
}

#[test]
fn a_plane_that_is_worn_out_ends_its_writes_with_a_status() {
    let mut cfg = two_planes(16);
    cfg.reliability.endurance_cycles = 4;
    let mut drive = Drive::new(&cfg).unwrap();
    let pages = drive.logical_units();
    drive.fill(0, pages).unwrap();
    let mut refused = 0;
    for tag in 0..4_000 {
        let command = Command { tag, arrival: drive.now(), ..write(tag as u32 * 2 % pages) };
        while drive.submit(0, &command, drive.now()).is_err() {
            assert!(drive.advance_to_completion(), "stuck with {} under way", drive.outstanding());
            while let Some(done) = drive.pop_completion() {
                refused += u32::from(done.status == Status::ReadOnly);
            }
        }
    }
    drive.drain();
    assert!(refused > 1_000 && drive.health().read_only == Some(Reason::WornOut));
    drive.check().unwrap();
}
