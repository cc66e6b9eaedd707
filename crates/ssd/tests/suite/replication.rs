//! redFTL on a drive small enough to count by hand: one plane of 16 blocks of 8 pages, of which data fills 6 and two
//! are kept for replicas. Blocks stand 100 reads; replicas are made above 70, adopted above 90, reclaim is at 95.

use ssd::config::{Table, Value};
use ssd::flash::op::{Cause, OpKind};
use ssd::nand::cell::CellPart;
use ssd::observe::{Effect, Source};
use ssd::rng::Rng;
use ssd::sections::{ErrorModel, MappingUnit};
use ssd::{AgeStep, Command, Drive, DriveConfig, Executor, Lba, OpCode, SimDuration, Status};

const PAGES: u32 = 8;
const DATA: u32 = 6;

fn config(values: &[(&str, Value)]) -> DriveConfig {
    let mut cfg = DriveConfig::default();
    let g = &mut cfg.geometry;
    (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (1, 1, 1, 1);
    (g.blocks_per_plane, g.wordlines_per_block, g.bits_per_cell, g.page_bytes) = (16, PAGES, 1, 4096);
    cfg.mapping.unit = MappingUnit::Page;
    cfg.drive.over_provisioning_percent = 150.0;
    cfg.buffer.select("none").unwrap();
    cfg.read_reclaim.select("redftl").unwrap();
    let usual = [("max_reads", Value::Integer(100)), ("replica_limit", Value::Integer(2))];
    for (key, value) in usual.iter().chain(values) {
        cfg.read_reclaim.set(key, value).unwrap_or_else(|problem| panic!("{key}: {problem:?}"));
    }
    cfg
}

/// A drive, and what it told.
struct Bench {
    drive: Drive,
    effects: Vec<Effect>,
    tag: u64,
    /// Of every command.
    sectors: u32,
}

impl Bench {
    /// A drive whose first `units` units are written, in order: unit `n` is page `n % 6` of block `n / 6`.
    fn new(cfg: &DriveConfig, executor: Executor, units: u32) -> Bench {
        let mut drive = Drive::new(cfg).unwrap();
        drive.record_effects(true);
        drive.set_executor(executor);
        drive.fill(0, units).unwrap();
        let mut bench = Bench { drive, effects: Vec::new(), tag: 0, sectors: 8 };
        bench.listen();
        bench.effects.clear();
        bench
    }

    fn listen(&mut self) {
        while let Some(effect) = self.drive.pop_effect() {
            self.effects.push(effect);
        }
    }

    fn command(&mut self, op: OpCode, unit: u32) -> Status {
        self.tag += 1;
        let (lba, now) = (Lba(u64::from(unit) * 8), self.drive.now());
        let (sectors, tag) = (self.sectors, self.tag);
        let command = Command { op, lba, sectors, tag, arrival: now, ..Command::default() };
        self.drive.submit(0, &command, now).unwrap();
        assert!(self.drive.advance_to_completion(), "stuck");
        let status = self.drive.pop_completion().unwrap().status;
        self.drive.drain();
        self.drive.check().unwrap();
        self.listen();
        status
    }

    /// Reads a unit so often.
    fn read(&mut self, unit: u32, times: u32) {
        for _ in 0..times {
            assert_eq!(self.command(OpCode::Read, unit), Status::Ok);
        }
    }

    /// Where the last read came from.
    fn read_from(&mut self, unit: u32) -> u32 {
        self.read(unit, 1);
        let place = self.effects.iter().rev().find_map(|effect| match *effect {
            Effect::Read { from: Source::Flash(at), .. } => Some(at.0),
            _ => None,
        });
        place.unwrap()
    }

    /// Replicas made so far: unit, original, replica.
    fn replicas(&self) -> Vec<(u32, u32, u32)> {
        let made = self.effects.iter().filter_map(|effect| match *effect {
            Effect::Replicate { lpn, from, to } => Some((lpn.0, from.0, to.0)),
            _ => None,
        });
        made.collect()
    }

    fn adopted(&self) -> Vec<u32> {
        let adopted = self.effects.iter().filter_map(|effect| match *effect {
            Effect::Adopt { lpn, .. } => Some(lpn.0),
            _ => None,
        });
        adopted.collect()
    }

    fn operations(&self, kind: OpKind, cause: Cause) -> u64 {
        self.drive.stats().flash.ops[kind as usize][cause as usize]
    }
}

/// In both executors.
fn both(test: impl Fn(Executor)) {
    test(Executor::Functional);
    test(Executor::Timed);
}

#[test]
fn a_page_read_often_gets_a_replica_at_the_threshold_and_not_before() {
    both(|executor| {
        let mut bench = Bench::new(&config(&[]), executor, 24);
        bench.read(2, 70);
        assert_eq!(bench.replicas(), []);
        bench.read(2, 1);
        // Page 2 of block 0, to the first page kept for replicas of the first of the other blocks, none of them read.
        assert_eq!(bench.replicas(), [(2, 2, PAGES + DATA)], "{executor:?}");
        assert_eq!(bench.operations(OpKind::Read, Cause::Replication), 1);
        assert_eq!(bench.operations(OpKind::Program, Cause::Replication), 1);
        bench.drive.drain();
        let rounds = u64::from(executor == Executor::Timed);
        assert_eq!(bench.drive.stats().ftl.services.count, rounds, "a round of one replica");
        // From now on it is read there; the others of the block where they were.
        assert_eq!(bench.read_from(2), PAGES + DATA);
        assert_eq!(bench.read_from(3), 3);
        assert_eq!(bench.drive.stats().ftl.replica_reads, 1);
    });
}

/// redFTL figure 9: the four pages of Block 0 are read 1,400 times in each period, A and B more than the others, and
/// blocks are reclaimed at 1,400. The baseline moves all of them together, so that the next block is reclaimed a period
/// later; with A and B read elsewhere no block is. (The figure's numbers for the pages are not in the text; here they
/// are 700, 500, 120 and 80. When replicas are made, Block 0 has seen 1,031 reads; of the 1,769 to come a seventh are
/// its.)
#[test]
fn the_second_reclaim_of_figure_9_is_avoided() {
    both(|executor| {
        let run = |policy: &str| {
            let values = [("max_reads", Value::Integer(1_473)), ("alpha", Value::Float(1.2))];
            let mut cfg = config(&values);
            cfg.geometry.wordlines_per_block = 4 + 2;
            if policy == "block" {
                cfg.geometry.wordlines_per_block = 4;
                cfg.read_reclaim.select("block").unwrap();
                cfg.read_reclaim.set("max_reads", &Value::Integer(1_473)).unwrap();
            }
            let mut bench = Bench::new(&cfg, executor, 24);
            let reclaims = [1, 2].map(|_| {
                for _ in 0..20 {
                    for (unit, times) in [(0, 35), (1, 25), (2, 6), (3, 4)] {
                        bench.read(unit, times);
                    }
                }
                bench.drive.stats().ftl.reclaims
            });
            (reclaims, bench.replicas().iter().map(|made| made.0).collect::<Vec<_>>())
        };
        assert_eq!(run("block"), ([1, 2], vec![]), "{executor:?}");
        assert_eq!(run("redftl"), ([0, 0], vec![0, 1]), "{executor:?}");
    });
}

#[test]
fn the_rate_decides_and_not_the_count() {
    both(|executor| {
        let run = |rate: &str| {
            let values = [("block_rate", Value::Text(rate.to_owned()))];
            let mut bench = Bench::new(&config(&values), executor, 24);
            for _ in 0..12 {
                bench.read(0, 1);
                bench.read(1, 1);
                // Reads of other blocks pass the time, too.
                bench.read(18, 1);
            }
            bench.read(2, 35);
            bench.read(3, 10);
            bench.read(4, 1);
            assert_eq!(bench.replicas(), [], "70 reads of the block");
            bench.read(4, 1);
            bench.replicas().iter().map(|made| made.0).collect::<Vec<_>>()
        };
        // 71 reads of the block over 82 of the drive: .87 of them, and .14 for the mean of 6 pages. Pages 0 and 1: 12
        // over 33, .36. Page 2: 35 over 34, 3: 10 over 9, 4: 2 over 1.
        assert_eq!(run("mean"), [0, 1, 2, 3, 4]);
        // Against all reads of the block, .87, only what is twice as fast: the burst of page 4.
        assert_eq!(run("sum"), [4]);
    });
    // At 2.7 times the mean .144, .39, pages 0 and 1 are no longer read often.
    let mut bench = Bench::new(&config(&[("alpha", Value::Float(2.7))]), Executor::Timed, 24);
    for _ in 0..12 {
        for unit in [0, 1, 18] {
            bench.read(unit, 1);
        }
    }
    for (unit, times) in [(2, 35), (3, 10), (4, 2)] {
        bench.read(unit, times);
    }
    assert_eq!(bench.replicas().iter().map(|made| made.0).collect::<Vec<_>>(), [2, 3, 4]);
}

/// Reads the six pages of block 0 in turn until it has been read so often.
fn read_evenly(bench: &mut Bench, times: u32) {
    for turn in 0..times {
        bench.read(turn % DATA, 1);
    }
}

#[test]
fn pages_read_alike_are_halved_by_lot() {
    both(|executor| {
        let run = |seed: u64, variation: f64| {
            let mut cfg = config(&[("even_variation", Value::Float(variation))]);
            cfg.drive.seed = seed;
            let mut bench = Bench::new(&cfg, executor, 48);
            read_evenly(&mut bench, 71);
            bench.replicas().iter().map(|made| made.0).collect::<Vec<_>>()
        };
        let halves: Vec<_> = (0..20).map(|seed| run(seed, 0.25)).collect();
        assert!(halves.iter().all(|half| half.len() == 3), "{halves:?}");
        let mut different = halves.clone();
        different.sort();
        different.dedup();
        assert!(different.len() > 8, "20 lots fell on {} of 20 halves: {different:?}", different.len());
        assert_eq!(run(3, 0.25), halves[3], "the same seed, the same half");
        // Where nothing counts as even, pages are compared with the block, and none is faster.
        assert_eq!(run(3, 0.0), []);
    });
}

#[test]
fn replicas_go_to_the_least_read_blocks_one_by_one_in_turn() {
    both(|executor| {
        // 16 blocks, a fifth: a pool of 4.
        let values = [("good_blocks_percent", Value::Float(20.0))];
        let mut bench = Bench::new(&config(&values), executor, 48);
        // Blocks 1, 2 and 3 are read 5, 1 and 3 times, blocks 4 to 7 are not: they are the pool, then 2 and the others.
        for (unit, times) in [(6, 5), (12, 1), (18, 3)] {
            bench.read(unit, times);
        }
        read_evenly(&mut bench, 71);
        let blocks = |bench: &Bench| bench.replicas().iter().map(|made| made.2 / PAGES).collect::<Vec<_>>();
        assert_eq!(blocks(&bench), [4, 5, 6]);
        let chosen: Vec<u32> = bench.replicas().iter().map(|made| made.0).collect();
        // Block 8 holds nothing. Page 0 of block 3 is read until it is due: block 7, the last of the pool.
        bench.read(18, 68);
        assert_eq!(blocks(&bench), [4, 5, 6, 7]);
        // The pool is filled again. Blocks that hold a replica are not good, however little they were read; of the
        // others block 2, with one read, is the best.
        assert_eq!(bench.read_from(chosen[0]) / PAGES, 4);
        bench.read(6, 66);
        assert_eq!(blocks(&bench)[4..], [2]);
        let places: Vec<u32> = bench.replicas().iter().map(|made| made.2 % PAGES).collect();
        assert_eq!(places, [DATA; 5]);
    });
}

#[test]
fn no_block_takes_more_replicas_than_its_limit() {
    both(|executor| {
        // Blocks 0 and 1 hold data: two pages of block 1 is all there is, then nothing.
        let values = [("even_variation", Value::Float(0.0)), ("alpha", Value::Float(0.5))];
        let mut bench = Bench::new(&config(&values), executor, 12);
        read_evenly(&mut bench, 94);
        let places: Vec<u32> = bench.replicas().iter().map(|made| made.2).collect();
        assert_eq!(places, [PAGES + DATA, PAGES + DATA + 1]);
        // With no page kept there are none at all, and blocks hold two pages more.
        let mut bench = Bench::new(&config(&[("replica_limit", Value::Integer(0))]), executor, 24);
        bench.read(0, 94);
        assert_eq!(bench.replicas(), []);
        assert_eq!(bench.read_from(8), PAGES);
    });
}

#[test]
fn a_replica_dies_with_its_data() {
    both(|executor| {
        for op in [OpCode::Write, OpCode::Trim] {
            let mut bench = Bench::new(&config(&[]), executor, 24);
            bench.read(2, 72);
            let replica = bench.replicas()[0].2;
            assert_eq!(bench.read_from(2), replica);
            assert_eq!(bench.command(op, 2), Status::Ok);
            bench.effects.clear();
            bench.read(2, 1);
            let from = bench.effects.iter().find_map(|effect| match *effect {
                Effect::Read { from, .. } => Some(from),
                _ => None,
            });
            match (op, from) {
                (OpCode::Write, Some(Source::Flash(at))) => assert!(at.0 >= 4 * PAGES, "a new block"),
                (OpCode::Trim, Some(Source::Zero)) => {}
                _ => panic!("{op:?}: read from {from:?}"),
            }
        }
    });
}

#[test]
fn a_replica_dies_when_its_block_is_emptied_and_outlives_moves_of_the_original() {
    both(|executor| {
        // Pages read often are looked for just once.
        let values = [("check_percent", Value::Float(100.0))];
        let mut bench = Bench::new(&config(&values), executor, 24);
        bench.read(2, 71);
        let replica = bench.replicas()[0].2;
        assert_eq!(replica / PAGES, 1);
        // The original is moved because of reads of its block: the replica stays.
        bench.read(0, 24);
        assert_eq!(bench.operations(OpKind::Erase, Cause::ReadReclaim), 1);
        assert_eq!(bench.read_from(2), replica);
        // Block 1 loses all its data and is cleaned: the replica goes, and what is read is the original, moved.
        let copied = bench.effects.iter().find_map(|effect| match *effect {
            Effect::Copy { lpn, to, .. } if lpn.0 == 2 => Some(to.0),
            _ => None,
        });
        for turn in 0..200 {
            assert_eq!(bench.command(OpCode::Write, 6 + turn % DATA), Status::Ok);
        }
        let erased = |effect: &Effect| matches!(effect, Effect::Erase { first, .. } if first.0 == PAGES);
        assert!(bench.effects.iter().any(erased), "block 1 was never cleaned");
        assert_eq!(Some(bench.read_from(2)), copied);
    });
}

#[test]
fn replicas_that_are_read_often_become_the_pages() {
    both(|executor| {
        let mut bench = Bench::new(&config(&[]), executor, 24);
        bench.read(2, 71);
        let replica = bench.replicas()[0].2;
        // Block 1 is read through the replica; above 90 reads it is adopted.
        bench.read(2, 90);
        assert_eq!(bench.adopted(), []);
        assert_eq!(bench.replicas().len(), 1, "a replica is no page of its block, and gets none itself");
        bench.read(2, 1);
        assert_eq!(bench.adopted(), [2]);
        assert_eq!(bench.read_from(2), replica);
        assert_eq!(bench.drive.stats().ftl.replicas_adopted, 1);
        // It is a page like others now: at 95 reads it moves with its block, and is read from there.
        bench.read(2, 3);
        assert_eq!(bench.operations(OpKind::Erase, Cause::ReadReclaim), 1);
        let place = bench.read_from(2);
        assert!(place / PAGES > 3, "read from {place}, its block was erased");
    });
}

#[test]
fn a_block_is_reclaimed_at_its_limit_as_by_policy_block() {
    both(|executor| {
        let mut bench = Bench::new(&config(&[("replica_percent", Value::Float(90.0))]), executor, 24);
        bench.read(0, 90);
        assert_eq!(bench.replicas(), []);
        // 91: a replica, whose making reads the block once more.
        bench.read(0, 1);
        assert_eq!(bench.replicas().len(), 1);
        bench.read(1, 2);
        assert_eq!(bench.operations(OpKind::Erase, Cause::ReadReclaim), 0, "94 reads");
        bench.read(1, 1);
        assert_eq!(bench.operations(OpKind::Erase, Cause::ReadReclaim), 1, "95 reads");
        assert_eq!(bench.operations(OpKind::Program, Cause::ReadReclaim), 6);
    });
}

/// A drive of cells that stand so many reads of another wordline, whatever the policy believes, and a replica of unit 2
/// in block 1.
fn aging(executor: Executor, reads: f64) -> Bench {
    // One look for pages read often.
    let mut cfg = config(&[("max_reads", Value::Integer(5_000)), ("check_percent", Value::Float(100.0))]);
    cfg.cells = CellPart::preset("slc").unwrap();
    cfg.cells.disturb.erc_max = vec![reads; 4];
    cfg.cells.disturb.top_erc = 2.5 * reads;
    cfg.geometry.spare_bytes = 65_536;
    cfg.errors.model = ErrorModel::Cells;
    cfg.errors.variation = false;
    cfg.gc_victim.select("fifo").unwrap();
    let mut bench = Bench::new(&cfg, executor, 24);
    bench.read(2, 3_501);
    assert_eq!(bench.replicas(), [(2, 2, PAGES + DATA)]);
    bench
}

#[test]
fn a_replica_that_cannot_be_corrected_is_read_from_the_original() {
    both(|executor| {
        for op in [OpCode::Read, OpCode::Write] {
            let mut bench = aging(executor, 90.0);
            // All wordlines but the one that is read are lost, the replica's among them. The blocks are not due yet.
            bench.drive.age(&"disturb 900 reads of wordline 2".parse::<AgeStep>().unwrap()).unwrap();
            let counts =
                |bench: &Bench| (bench.drive.stats().ftl.replicas_failed, bench.drive.stats().ftl.lost_units);
            if op == OpCode::Read {
                assert_eq!(bench.read_from(2), 2);
                assert_eq!(
                    bench.operations(OpKind::Read, Cause::Host),
                    3_503,
                    "{executor:?}: one more than commands"
                );
            } else {
                // A write of one sector reads the rest.
                bench.sectors = 1;
                assert_eq!(bench.command(op, 2), Status::Ok);
                bench.sectors = 8;
                assert_eq!(bench.operations(OpKind::Read, Cause::Merge), 2);
            }
            assert_eq!(counts(&bench), (1, 0));
            bench.read(2, 1);
            assert_eq!(counts(&bench), (1, 0), "the replica is given up");
            assert_eq!(
                bench.command(OpCode::Read, 3),
                Status::Uncorrectable,
                "one without a replica is lost"
            );
        }
    });
}

#[test]
fn an_original_that_cannot_be_corrected_is_replaced_by_its_replica() {
    both(|executor| {
        let mut bench = aging(executor, 12.0);
        // The others of block 0 are lost, and reading them again and again is too much for page 2.
        for unit in [0, 1, 3, 4, 5] {
            assert_eq!(bench.command(OpCode::Read, unit), Status::Uncorrectable);
        }
        assert_eq!(bench.read_from(2), PAGES + DATA);
        let lost = bench.drive.stats().ftl.lost_units;
        // Block 0 is cleaned: its only page is found to be lost.
        for turn in 0..400 {
            if bench.adopted().is_empty() {
                assert_eq!(bench.command(OpCode::Write, [0, 1, 3, 4, 5][turn % 5]), Status::Ok);
            }
        }
        assert_eq!(bench.adopted(), [2]);
        assert_eq!(bench.read_from(2), PAGES + DATA);
        assert_eq!(bench.drive.stats().ftl.lost_units, lost);
        assert_eq!(bench.drive.stats().flash.uncorrectable[Cause::Cleaning as usize], 1);
    });
}

#[test]
fn a_snapshot_holds_replicas_on_their_way() {
    let cfg = config(&[]);
    let mut bench = Bench::new(&cfg, Executor::Timed, 24);
    read_evenly(&mut bench, 70);
    let now = bench.drive.now();
    let read = Command { op: OpCode::Read, sectors: 8, tag: 999, arrival: now, ..Command::default() };
    bench.drive.submit(0, &read, now).unwrap();
    let mut under_way = 0;
    for _ in 0..400 {
        bench.drive.advance_to(bench.drive.now() + SimDuration(20_000));
        let mut bytes = Vec::new();
        bench.drive.save(&mut bytes).unwrap();
        let mut restored = Drive::restore(&cfg, &bytes).unwrap();
        let mut old = bench.drive.clone();
        let before = old.stats().flash.ops[OpKind::Program as usize][Cause::Replication as usize];
        restored.drain();
        old.drain();
        assert_eq!((restored.event_hash(), restored.stats()), (old.event_hash(), old.stats()));
        restored.check().unwrap();
        under_way +=
            u32::from(old.stats().flash.ops[OpKind::Program as usize][Cause::Replication as usize] > before);
    }
    bench.listen();
    assert_eq!(bench.replicas().len(), 3);
    assert!(under_way > 10, "replicas were under way in {under_way} snapshots");
}

#[test]
fn replicas_survive_programs_that_fail() {
    let mut made = 0;
    for seed in 0..40 {
        let mut cfg = config(&[("check_percent", Value::Float(1.0))]);
        cfg.drive.seed = seed;
        cfg.reliability.program_fail_ppm = 40_000.0;
        let mut bench = Bench::new(&cfg, Executor::Timed, 24);
        for turn in 0..1_500 {
            assert_eq!(bench.command(OpCode::Read, turn * 7 % 24 * u32::from(turn % 3 == 0)), Status::Ok);
        }
        made += bench.replicas().len();
    }
    assert!(made > 100, "{made} replicas");
}

#[test]
fn parameters_that_contradict_each_other_are_named() {
    let refused = |values: &[(&str, Value)]| Drive::new(&config(values)).map(|_| ()).unwrap_err().to_string();
    let text = refused(&[("replica_percent", Value::Float(92.0))]);
    assert!(
        text.contains("ftl.read_reclaim.replica_percent")
            && text.contains("replica_percent at most migration_percent"),
        "{text}"
    );
    let text = refused(&[("migration_percent", Value::Float(96.0))]);
    assert!(
        text.contains("ftl.read_reclaim.migration_percent") && text.contains("threshold_percent"),
        "{text}"
    );
    let text = refused(&[("replica_limit", Value::Integer(8))]);
    assert!(
        text.contains("8 of 8 pages of each block reserved for replicas") && text.contains("at most 7"),
        "{text}"
    );
    // Pages kept for replicas are no room for data.
    let text = refused(&[("replica_limit", Value::Integer(5))]);
    assert!(text.contains("over_provisioning_percent"), "{text}");
}

#[test]
fn memory_is_that_of_the_tables() {
    let bytes = |policy: &str| {
        let mut cfg = config(&[]);
        cfg.read_reclaim.select(policy).unwrap();
        if policy == "redftl" {
            cfg = config(&[]);
        }
        Drive::new(&cfg).unwrap().reports().table_bytes().all
    };
    let (blocks, pages) = (16, 16 * PAGES as usize);
    // Counters, times and marks (a word of 64 bits) of pages; of blocks; the pool of two; tables of limits by cycles;
    // the mapping table: 32 units, twice as many places.
    let expected = 12 * pages + 8 * blocks + 20 * blocks + 4 * 2 + 4 * 4 * 512 + 8 * blocks + 64 * 8;
    assert_eq!(bytes("redftl") - bytes("never"), expected);
}

/// Which units are read often.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Hot {
    /// Every fifth unit of a tenth of the drive: one block in ten is read much.
    Together,
    /// One unit in fifty, all over the drive: all blocks are read much.
    Spread,
}

/// What a policy moves: blocks reclaimed, pages copied for that, replicas made, and pages copied by cleaning.
fn reclaims(policy: &str, hot: Hot) -> [u64; 4] {
    let mut cfg = DriveConfig::default();
    let g = &mut cfg.geometry;
    (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (2, 1, 1, 2);
    (g.blocks_per_plane, g.wordlines_per_block, g.bits_per_cell, g.page_bytes) = (64, 16, 3, 4096);
    cfg.drive.over_provisioning_percent = 35.0;
    cfg.buffer.select("none").unwrap();
    cfg.read_reclaim.select(policy).unwrap();
    cfg.read_reclaim.set("max_reads", &Value::Integer(400)).unwrap();
    if policy == "redftl" {
        cfg.read_reclaim.set("replica_limit", &Value::Integer(4)).unwrap();
    }
    let mut drive = Drive::new(&cfg).unwrap();
    drive.set_executor(Executor::Functional);
    let units = drive.logical_units();
    drive.fill(0, units).unwrap();
    drive.reset_stats();
    let mut rng = Rng::named(1, "hot");
    for tag in 0..60_000 {
        let anywhere = rng.below(units);
        let op = if rng.below(100) == 0 { OpCode::Write } else { OpCode::Read };
        let unit = match hot {
            _ if op == OpCode::Write || rng.below(10) == 0 => anywhere,
            Hot::Together => anywhere / 50 * 5,
            Hot::Spread => anywhere / 50 * 50,
        };
        let (lba, arrival) = (Lba(u64::from(unit) * 8), drive.now());
        let command = Command { op, lba, sectors: 8, tag, arrival, ..Command::default() };
        drive.submit(0, &command, arrival).unwrap();
        assert!(drive.advance_to_completion());
        assert_eq!(drive.pop_completion().unwrap().status, Status::Ok);
    }
    drive.check().unwrap();
    let stats = drive.stats();
    let of = |kind: OpKind, cause: Cause| stats.flash.ops[kind as usize][cause as usize];
    let [erases, copies] = [OpKind::Erase, OpKind::Program].map(|kind| of(kind, Cause::ReadReclaim));
    let (replicas, cleaned) = (of(OpKind::Program, Cause::Replication), of(OpKind::Program, Cause::Cleaning));
    println!(
        "{policy}, {hot:?}: {erases} blocks reclaimed, {copies} pages copied, {replicas} replicas of which {} were \
              adopted and {} reads served, {cleaned} pages cleaned",
        stats.ftl.replicas_adopted, stats.ftl.replica_reads
    );
    [erases, copies, replicas, cleaned]
}

#[test]
fn fewer_blocks_are_reclaimed_than_by_policy_block() {
    let (block, redftl) = (reclaims("block", Hot::Together), reclaims("redftl", Hot::Together));
    assert!(redftl[0] * 2 < block[0] && redftl[1] * 2 < block[1], "{block:?} {redftl:?}");
    // All blocks are read alike, if not all pages of them: there is less to gain.
    let (block, redftl) = (reclaims("block", Hot::Spread), reclaims("redftl", Hot::Spread));
    assert!(redftl[0] < block[0] && redftl[1] + redftl[2] < block[1], "{block:?} {redftl:?}");
}
