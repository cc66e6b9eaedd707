//! Bugs that random runs found, each as its smallest story.

use crate::support;

use ssd::events::EventQueue;
use ssd::flash::Flash;
use ssd::flash::op::{Cause, Op, OpKind};
use ssd::nand::{Chip, PageAddress};
use ssd::observe::{Effect, Source};
use ssd::rng::Rng;
use ssd::units::Ppn;
use ssd::{Command, Completion, Drive, DriveConfig, Lba, OpCode, SimTime, Status};
use support::{Load, every, small, with_policy};

fn command(op: OpCode, lba: u64, sectors: u32, tag: u64) -> Command {
    Command { op, lba: Lba(lba), sectors, tag, ..Command::default() }
}

fn submit(drive: &mut Drive, command: Command) {
    let now = drive.now();
    drive.submit(0, &Command { arrival: now, ..command }, now).unwrap();
}

fn completion(drive: &mut Drive) -> Completion {
    assert!(drive.advance_to_completion(), "stuck with {} commands under way", drive.outstanding());
    drive.pop_completion().unwrap()
}

/// FLUSH waited for a partly written unit whose rest was being read. The unit was trimmed; when the read ended its
/// slot was given up, and nobody looked whether that was the last that FLUSH waited for.
#[test]
fn a_flush_ends_when_what_it_waits_for_is_trimmed() {
    let mut drive = Drive::new(&with_policy("buffer", "lru_write")).unwrap();
    drive.fill(0, 8).unwrap();
    submit(&mut drive, command(OpCode::Write, 3, 1, 1));
    assert_eq!(completion(&mut drive).tag, 1);
    submit(&mut drive, command(OpCode::Flush, 0, 0, 2));
    submit(&mut drive, command(OpCode::Trim, 0, 8, 3));
    let mut tags = [completion(&mut drive).tag, completion(&mut drive).tag];
    tags.sort_unstable();
    assert_eq!(tags, [2, 3]);
    assert_eq!(drive.stats().ftl.host_units, 8, "the trimmed unit was not programmed");
}

/// Units were written below the buffer while it held older data of them, clean: reads went on returning that.
#[test]
fn writes_below_the_buffer_are_read() {
    let mut drive = Drive::new(&with_policy("buffer", "lru_read_write")).unwrap();
    submit(&mut drive, command(OpCode::Write, 0, 16, 1));
    completion(&mut drive);
    submit(&mut drive, command(OpCode::Flush, 0, 0, 2));
    completion(&mut drive);
    drive.record_effects(true);
    drive.overwrite(&[1, 0]).unwrap();
    submit(&mut drive, command(OpCode::Read, 0, 16, 3));
    assert_eq!(completion(&mut drive).status, Status::Ok);
    let mut placed = Vec::new();
    let mut read = Vec::new();
    while let Some(effect) = drive.pop_effect() {
        match effect {
            Effect::Place { lpn, to } => placed.push((lpn, Source::Flash(to))),
            Effect::Read { lpn, from, .. } => read.push((lpn, from)),
            _ => {}
        }
    }
    placed.sort_unstable_by_key(|(lpn, _)| *lpn);
    read.sort_unstable_by_key(|(lpn, _)| *lpn);
    assert_eq!(read, placed);
}

/// The erase of a block in plane 1 joined an erase in plane 0 that was older than a host read of the block in plane 1,
/// and so passed the read: the page was gone when its turn came. The chip asserts that it is not.
#[test]
fn an_erase_in_a_group_waits_for_older_reads() {
    let mut cfg = small();
    cfg.scheduling.read_bypass_limit = 0;
    let g = &cfg.geometry;
    let mut chip = Chip::new(g.planes(), g.blocks_per_plane, g.pages_per_block(), &cfg.reliability, 1);
    let at = |plane: u32| PageAddress { die: 0, plane, block: plane * g.blocks_per_plane, page: 0 };
    chip.program(at(1).block, 0);
    let mut flash = Flash::new(
        &cfg,
        (ssd::flash::read_voltage::Policy::build(&cfg.read_voltage), &cfg.preemption),
        chip,
        ssd::flash::Room { host: 8, moves: 8 },
    );
    let mut events = EventQueue::with_capacity(16);
    let operations = [
        (OpKind::Erase, Cause::Cleaning, at(0)),
        (OpKind::Read, Cause::Host, at(1)),
        (OpKind::Erase, Cause::Cleaning, at(1)),
    ];
    let ids = operations.map(|(kind, cause, at)| flash.pool.add(Op::new(kind, cause, Ppn(0), at, 0), &[]));
    // A program keeps the die busy, so that all three are queued when it takes the next.
    let other = PageAddress { plane: 0, block: 1, ..at(0) };
    let program = flash.pool.add(Op::new(OpKind::Program, Cause::Cleaning, Ppn(0), other, 0), &[]);
    flash.give(&[program], SimTime(0), &mut events);
    ids.iter().for_each(|&id| flash.give(&[id], SimTime(1), &mut events));
    while let Some((now, kind, id)) = events.pop() {
        flash.now = now;
        flash.on_event(kind, id, now, &mut events);
    }
    let order: Vec<_> = flash.done.iter().map(|id| ids.iter().position(|of| of == id)).collect();
    assert_eq!(order, [None, Some(0), Some(1), Some(2)]);
}

/// Every block lives through so few erases that writes end; the last one found no page, and with nothing in flight
/// no event came that would have looked for room again: it waited for ever.
#[test]
fn a_worn_out_drive_answers_every_command() {
    for policy in ["none", "lru_write"] {
        let mut cfg: DriveConfig = with_policy("buffer", policy);
        cfg.reliability.endurance_cycles = 2;
        let mut drive = Drive::new(&cfg).unwrap();
        let (sectors, pages) = (drive.logical_sectors(), drive.blocks().pages());
        let mut written = 0;
        let refused = (0..200_000u64).find(|&tag| {
            let lba = tag * 7_919 * 8 % (sectors - 8);
            submit(&mut drive, Command { fua: tag % 3 == 0, ..command(OpCode::Write, lba, 8, tag) });
            let done = completion(&mut drive);
            written += u64::from(done.status == Status::Ok);
            done.status == Status::ReadOnly
        });
        assert!(
            refused.is_some() && written > pages,
            "{policy}: {written} units written, {refused:?} refused"
        );
        assert!(drive.health().read_only.is_some() && drive.health().wear.retired > 0);
        Load::new(1).run(&mut drive, 1_000);
        drive.drain();
        while drive.pop_completion().is_some() {}
        for (op, expected) in [
            (OpCode::Write, Status::ReadOnly),
            (OpCode::Read, Status::Ok),
            (OpCode::Trim, Status::Ok),
            (OpCode::Write, Status::ReadOnly),
        ] {
            submit(&mut drive, command(op, 0, 8, 1));
            assert_eq!(completion(&mut drive).status, expected, "{policy} {op:?}");
        }
        assert!(drive.overwrite(&[0]).is_err(), "{policy}: written below the buffer of a worn-out drive");
    }
}

/// A program failed before anything else was written, so there was nothing to clean and nothing had been written: the
/// drive was called full.
#[test]
fn writes_below_the_buffer_go_on_after_failed_programs() {
    let mut cfg = small();
    cfg.reliability.program_fail_ppm = 300_000.0;
    for seed in 0..50 {
        cfg.drive.seed = seed;
        let mut drive = Drive::new(&cfg).unwrap();
        assert_eq!(drive.fill(0, 40), Ok(()), "seed {seed}, {:?}", drive.health());
    }
}

/// Units that had waited for others of their stream were still there when no page was left: the drive could be saved,
/// but not restored, and they were counted as written.
#[test]
fn what_finds_no_room_below_the_buffer_does_not_wait_for_ever() {
    let mut cfg = with_policy("stream", "hash");
    cfg.reliability.endurance_cycles = 2;
    for seed in 0..20 {
        cfg.drive.seed = seed;
        let mut drive = Drive::new(&cfg).unwrap();
        let mut rng = Rng::named(seed, "worn out");
        let units: Vec<u32> = (0..60_000).map(|_| rng.below(drive.logical_units())).collect();
        let short = drive.overwrite(&units).unwrap_err();
        assert_eq!(short.written, drive.stats().ftl.host_units, "seed {seed}");
        let mut bytes = Vec::new();
        drive.save(&mut bytes).unwrap();
        assert_eq!(Drive::restore(&cfg, &bytes).unwrap().event_hash(), drive.event_hash(), "seed {seed}");
    }
}

/// Trims and flushes waited for pages to be locked. What else lived there had been read, and waited for more data of
/// its class until the cache would be emptied again: for ever, if the host did nothing but read, or nothing at all.
#[test]
fn who_waits_for_locks_does_not_wait_for_pages_to_fill() {
    let policies = [("ftl.slc_cache", "fixed"), ("ftl.page_class", "read_heat"), ("host.buffer", "none")];
    for (locks, reads) in [("page_lock", false), ("page_lock", true), ("page_and_block_lock", true)] {
        let mut cfg = with_policy("sanitize", locks);
        policies.into_iter().for_each(|(section, policy)| every::choose(&mut cfg, section, policy));
        let mut drive = Drive::new(&every::fitted(cfg).unwrap()).unwrap();
        let units = drive.logical_units();
        drive.fill(0, units / 2).unwrap();
        let mut rng = Rng::named(7, "regressions/locks");
        for tag in 1..300 {
            let lba = u64::from(rng.below(units - 32)) * 8;
            let sent = match rng.below(3) {
                0 => command(OpCode::Write, lba, 8, tag),
                1 => command(OpCode::Trim, lba, 8 * (1 + rng.below(32)), tag),
                _ => command(OpCode::Flush, 0, 0, tag),
            };
            submit(&mut drive, sent);
            let latest = drive.now().0 + 1_000_000_000;
            while drive.pop_completion().is_none_or(|done| done.tag != tag) {
                while reads && drive.outstanding() < 8 {
                    submit(&mut drive, command(OpCode::Read, 0, 8, 0));
                }
                let at = drive.next_event_at().filter(|at| at.0 < latest);
                drive.advance_to(at.unwrap_or_else(|| panic!("{sent:?} waits, reads go on: {reads}")));
            }
        }
    }
}
