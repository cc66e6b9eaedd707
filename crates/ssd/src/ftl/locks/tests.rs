//! The lists of locks against brute force: after each event all pages are looked at, and each that is exposed is found
//! where somebody will come to it. And what the lists decide by a threshold, at the threshold.

use super::exposed::{DEFERRED, EXPOSED, HELD, ISSUED, LEAVING, ODD, UNLOCKABLE};
use crate::config::{Table, Value};
use crate::drive::engine::State;
use crate::drive_config::DriveConfig;
use crate::flash::op::OpKind;
use crate::ftl::Media;
use crate::ftl::tables::blocks::BlockState;
use crate::host::buffer;
use crate::rng::Rng;
use crate::sections::MappingUnit;
use crate::units::{BlockId, LaneId, Lpn, Ppn, Pun};
use crate::{Command, Drive, Lba, OpCode};

/// One lane of 24 blocks of 12 pages, whose data is secured, without a buffer.
fn config(policy: &str, unit: MappingUnit) -> DriveConfig {
    let mut cfg = DriveConfig::default();
    let g = &mut cfg.geometry;
    (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (1, 1, 1, 1);
    (g.blocks_per_plane, g.wordlines_per_block, g.bits_per_cell) = (24, 4, 3);
    cfg.drive.over_provisioning_percent = 100.0;
    cfg.mapping.unit = unit;
    cfg.sanitize.select(policy).unwrap();
    cfg.buffer = buffer::Config::None(buffer::none::Params::default());
    cfg
}

/// Holds the lists against the pages. A page that waits stands on a list that will be looked at, or something is on
/// its way whose end looks at it: a lock, its program, what leaves it, the job or the erase of its block.
fn hold_lists_to_pages(drive: &Drive) {
    let (media, chip) = (&drive.state.ftl.moves.media, &drive.state.flash.chip);
    let per_block = media.tables.layout.pages_per_block;
    for block in (0..media.tables.layout.blocks()).map(BlockId) {
        let (of_block, lane) = (&media.locks.lists.blocks[block.index()], media.tables.layout.lane_of(block));
        let lane = &media.locks.lists.lanes[lane.index()];
        let leaves = matches!(media.tables.blocks.state(block), BlockState::Moving | BlockState::Draining);
        for at in 0..per_block {
            let page = Ppn(block.0 * per_block + at);
            let (state, place) = (media.locks.exposed.pages[page.index()], media.tables.layout.locate(page));
            if state & EXPOSED == 0 || state & (ISSUED | UNLOCKABLE) != 0 {
                continue;
            }
            let units = media.tables.layout.units_of_page(page);
            let lives = units.into_iter().any(|unit| media.tables.map.is_live(unit));
            let comes = of_block.listed && (of_block.first..of_block.end).contains(&at)
                || of_block.deferred && state & (DEFERRED | HELD) != 0
                || lane.occupied.contains(&block)
                || place.page >= chip.programmed_pages(place.block)
                || lives && (leaves || state & LEAVING != 0)
                || media.tables.blocks.is_erasing(block)
                // Where wordlines are filled first.
                || media.locks.manner.finishes() && media.tables.blocks.programming(block) > 0;
            assert!(
                comes,
                "page {at} of block {} is forgotten: {state:#b}, {:?}",
                block.0,
                media.tables.blocks.state(block)
            );
            let waits = of_block.deferred && state & DEFERRED != 0 && !of_block.listed;
            assert!(
                !waits || media.tables.blocks.leaves(block) || media.tables.blocks.is_erasing(block),
                "block {} waits for no job",
                block.0
            );
        }
        let is_waiting = media.tables.blocks.state(block) == BlockState::Closed
            && media.locks.exposed.is_unlockable(&media.tables.layout, block);
        assert!(!is_waiting || lane.unlockable.contains(&block), "nobody empties block {}", block.0);
    }
}

/// A write or trim of so many units.
fn command(drive: &Drive, op: OpCode, unit: u32, count: u32, tag: u64) -> Command {
    let sectors = drive.unit_bytes() / 512;
    let lba = Lba(u64::from(sectors) * u64::from(unit));
    Command { op, lba, sectors: sectors * count, tag, arrival: drive.now(), ..Command::default() }
}

/// A full drive that takes writes and trims of one to four units, eight at a time.
fn run(cfg: &DriveConfig, seed: u64) -> Drive {
    let mut drive = Drive::new(cfg).unwrap();
    let (units, mut rng) = (drive.logical_units(), Rng::named(seed, "load"));
    drive.fill(0, units).unwrap();
    for tag in 0..300 {
        let count = 1 + rng.below(4);
        let op = if rng.below(8) == 0 { OpCode::Trim } else { OpCode::Write };
        let asked = command(&drive, op, rng.below(units - count), count, tag);
        drive.submit(0, &asked, drive.now()).unwrap();
        while drive.outstanding() > 7 || tag == 299 && drive.outstanding() > 0 {
            assert!(drive.state.step_here(), "stuck");
            hold_lists_to_pages(&drive);
            while drive.pop_completion().is_some() {}
        }
    }
    drive.check().unwrap();
    drive
}

#[test]
fn every_page_that_waits_is_on_a_list() {
    for policy in ["page_lock", "page_and_block_lock", "reprogram"] {
        for unit in [MappingUnit::Page, MappingUnit::FourKib] {
            for (seed, lock_fail_ppm) in [(1, 0.0), (2, 0.0), (3, 300_000.0)] {
                let mut cfg = config(policy, unit);
                cfg.reliability.lock_fail_ppm = lock_fail_ppm;
                cfg.cleaning.lazy_erase = seed == 2;
                let drive = run(&cfg, seed);
                assert!(drive.stats().ftl.exposed_pages > 100, "{policy}");
            }
        }
    }
}

/// A block of one bit a cell whose locks fail leaves the cache as any other is emptied, one that is being filled, too:
/// somebody may wait for it.
#[test]
fn a_block_of_the_cache_is_destaged_because_its_locks_fail() {
    for acknowledge in ["at_once", "after_lock", "every_write"] {
        let mut cfg = config("page_lock", MappingUnit::Page);
        cfg.geometry.blocks_per_plane = 48;
        cfg.reliability.lock_fail_ppm = 1_000_000.0;
        cfg.sanitize.set("acknowledge", &Value::Text(acknowledge.to_owned())).unwrap();
        cfg.slc_cache.select("fixed").unwrap();
        cfg.slc_cache.set("blocks_per_lane", &Value::Integer(6)).unwrap();
        let mut drive = run(&cfg, 4);
        drive.drain();
        assert!(drive.stats().flash.lock_fails > 0);
        assert_eq!(
            (drive.state.host.read_only(), drive.state.ftl.moves.media.locks.generations.exposed()),
            (None, 0),
            "{acknowledge}"
        );
    }
}

/// A lock that fails is tried once more.
#[test]
fn a_block_is_given_up_when_a_lock_has_failed_twice() {
    let mut cfg = config("page_lock", MappingUnit::Page);
    cfg.reliability.lock_fail_ppm = 1_000_000.0;
    cfg.sanitize.set("acknowledge", &Value::Text("at_once".to_owned())).unwrap();
    let mut drive = Drive::new(&cfg).unwrap();
    drive.fill(0, 12).unwrap();
    let trim = command(&drive, OpCode::Trim, 3, 1, 0);
    drive.submit(0, &trim, drive.now()).unwrap();
    drive.drain();
    assert_eq!((drive.stats().ops(OpKind::PageLock), drive.stats().ops(OpKind::Erase)), (2, 1));
    assert_eq!(drive.state.ftl.moves.media.locks.generations.exposed(), 0);
}

/// So many pages are locked together that a lock of the block is quicker, and not when it takes as long.
#[test]
fn writes_are_taken_together_when_that_is_quicker() {
    let mut cfg = config("page_and_block_lock", MappingUnit::Page);
    (cfg.timing.t_page_lock_us, cfg.timing.t_block_lock_us) = (100.0, 300.0);
    let mut drive = Drive::new(&cfg).unwrap();
    for (units, count) in [(2, 0), (3, 0), (4, 1)] {
        let locks = &mut drive.state.ftl.moves.media.locks;
        locks.writes.begin(&locks.manner, 0..units);
        assert_eq!(drive.state.ftl.moves.media.locks.writes.len(), count, "{units} units");
    }
}

/// Pages wait for the end of a write that kills all of their block, unless somebody waits for them: for all that were
/// exposed until then, and for none that comes later.
#[test]
fn what_is_waited_for_is_not_held_for_a_write() {
    let mut cfg = config("page_and_block_lock", MappingUnit::Page);
    (cfg.timing.t_page_lock_us, cfg.timing.t_block_lock_us) = (100.0, 300.0);
    let mut drive = Drive::new(&cfg).unwrap();
    drive.fill(0, 24).unwrap();
    let media = &mut drive.state.ftl.moves.media;
    let is_held = |media: &Media, state| {
        media.locks.writes.hold_back(&media.locks.generations, &media.tables, state, (BlockId(0), 0))
    };
    media.locks.writes.begin(&media.locks.manner, 0..11);
    assert!(!is_held(media, HELD), "unit 11 stays");
    media.locks.writes.begin(&media.locks.manner, 11..20);
    assert!(is_held(media, HELD) && !is_held(media, EXPOSED), "what the write has killed, and nothing else");
    // Somebody comes, and the next generation grows.
    media.locks.generations.wanted = 1;
    assert!(!is_held(media, HELD));
    media.locks.generations.turn();
    assert_eq!((media.locks.generations.generation, media.locks.generations.growing()), (1, ODD));
    assert!(!is_held(media, HELD) && is_held(media, HELD | ODD));
    media.locks.end_write(&media.tables, &mut media.work, 11..20);
    assert!(!is_held(media, HELD | ODD));
}

/// The host goes on when nothing moves in a lane whose block was kept for what must leave pages.
#[test]
fn a_claim_is_given_up_when_nothing_moves() {
    let mut drive = Drive::new(&config("page_lock", MappingUnit::FourKib)).unwrap();
    let State { ftl, flash, .. } = &mut drive.state;
    ftl.moves.media.space.allocator.claim(LaneId(0), false);
    ftl.moves.media.work.lane_mut(LaneId(0)).reads = 1;
    ftl.give_up_claims(flash);
    assert!(ftl.moves.media.space.allocator.has_claims(), "something moves");
    ftl.moves.media.work.lane_mut(LaneId(0)).reads = 0;
    ftl.give_up_claims(flash);
    assert!(!ftl.moves.media.space.allocator.has_claims());
}

/// A drive on which the replica of a unit stands where another was, and that place, if drives make replicas.
fn replicated(lpn: Lpn, other: Lpn) -> Option<(Drive, Pun)> {
    let mut cfg = config("page_lock", MappingUnit::Page);
    cfg.read_reclaim.select("redftl").ok()?;
    cfg.read_reclaim.set("replica_limit", &Value::Integer(2)).unwrap();
    let mut drive = Drive::new(&cfg).unwrap();
    drive.fill(0, 20).unwrap();
    let media = &mut drive.state.ftl.moves.media;
    let at = media.tables.map.lookup(other);
    drive.state.ftl.trim(other);
    let media = &mut drive.state.ftl.moves.media;
    media.tables.map.note_stray(lpn, at);
    media.tables.replicas.set(lpn, at);
    Some((drive, at))
}

/// A page is not locked under a replica that reads are sent to.
#[test]
fn a_page_that_is_locked_takes_its_replicas_along() {
    let Some((mut drive, at)) = replicated(Lpn(2), Lpn(5)) else { return };
    let media = &mut drive.state.ftl.moves.media;
    assert_eq!(media.tables.replicas.get(Lpn(2)), at);
    drive.state.ftl.moves.lock_lane(&mut drive.state.flash, LaneId(0));
    let media = &drive.state.ftl.moves.media;
    assert_eq!(media.tables.replicas.get(Lpn(2)), Pun::NONE);
}

/// What has moved waits for the end of a job only where there is one.
#[test]
fn a_page_that_has_moved_waits_for_no_job_where_none_is() {
    let Some((mut drive, _)) = replicated(Lpn(2), Lpn(15)) else { return };
    let media = &mut drive.state.ftl.moves.media;
    let from = media.tables.map.lookup(Lpn(2));
    // The replica takes the place of the unit.
    assert!(media.adopt(Lpn(2)));
    let page = media.tables.layout.page_of_unit(from).0;
    assert_eq!(media.locks.exposed.pages[page.index()] & (EXPOSED | DEFERRED), EXPOSED | DEFERRED);
    drive.state.ftl.moves.lock_lane(&mut drive.state.flash, LaneId(0));
    let media = &drive.state.ftl.moves.media;
    assert!(media.locks.lists.deferred.is_empty());
    assert_eq!(media.locks.exposed.pages[page.index()] & ISSUED, ISSUED, "its lock is on its way");
}
