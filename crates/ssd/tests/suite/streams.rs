//! A separator of the caller's own: what is told apart lies apart, and pays.

mod members;
use crate::support;

use ssd::config::{Table, Value};
use ssd::flash::op::Cause;
use ssd::ftl::stream::{Member, Moved, Needs, StreamId, Streams, Written};
use ssd::observe::Effect;
use ssd::rng::Rng;
use ssd::sections::MovesOfFirst;
use ssd::{Command, Drive, DriveConfig, Executor, ExternalPolicies, Hints, Lba, OpCode};
use std::collections::{BTreeMap, BTreeSet};

/// Host data by what the host says of it, in streams 0 and 1; what moves stays with its kind, in streams 2 and 3.
#[derive(Clone, Copy, Debug)]
struct BySaying;

impl Member for BySaying {
    fn streams(&self) -> Streams {
        Streams::of(4, 0b11, 0b1100)
    }

    fn needs(&self) -> Needs {
        Needs { hints: true, facts: true, ..Needs::default() }
    }

    fn of_write(&mut self, write: Written) -> StreamId {
        assert_eq!(write.said.sectors, 8, "the size of the command is told");
        StreamId(write.said.hints.stream as u8)
    }

    fn of_move(&mut self, moved: Moved) -> StreamId {
        assert!(moved.facts.sequence() > 0, "a copy keeps the number of the write that it is of");
        StreamId((moved.facts.stream() as u8 & 1) + 2)
    }
}

fn small() -> DriveConfig {
    let mut cfg = DriveConfig::default();
    let g = &mut cfg.geometry;
    (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (2, 1, 1, 1);
    (g.blocks_per_plane, g.wordlines_per_block, g.bits_per_cell, g.page_bytes) = (64, 16, 1, 16_384);
    cfg.drive.over_provisioning_percent = 30.0;
    cfg.cleaning.reserve_blocks = 2;
    cfg.buffer = ssd::host::buffer::Config::named("none").unwrap();
    cfg
}

/// Nine of ten writes go to the first tenth of the drive, which is said to be stream 1.
fn write(drive: &mut Drive, rng: &mut Rng, tag: u64) {
    let units = drive.logical_units();
    let hot = rng.below(10) > 0;
    let unit = if hot { rng.below(units / 10) } else { units / 10 + rng.below(units - units / 10) };
    let hints = Hints { stream: u16::from(hot), ..Hints::default() };
    let lba = Lba(u64::from(unit) * 8);
    let command = Command { op: OpCode::Write, lba, sectors: 8, tag, hints, ..Command::default() };
    while drive.submit(0, &command, drive.now()).is_err() {
        assert!(drive.advance_to_completion());
        drive.pop_completion();
    }
}

fn run(mut drive: Drive, executor: Executor, writes: u64) -> Drive {
    drive.set_executor(executor);
    let mut rng = Rng::named(3, "streams");
    for tag in 0..writes {
        write(&mut drive, &mut rng, tag);
        if tag == writes / 2 {
            drive.reset_stats();
        }
    }
    drive.drain();
    while drive.pop_completion().is_some() {}
    drive.check().unwrap();
    drive
}

/// Units that a block holds, by what they are; blocks that fill up in vain are told by their erase.
#[test]
fn what_is_told_apart_shares_no_block() {
    for executor in [Executor::Functional, Executor::Timed] {
        let mut drive = Drive::with_policies(&small(), ExternalPolicies::trusted_stream(BySaying)).unwrap();
        drive.set_executor(executor);
        drive.record_effects(true);
        let (mut rng, hot_end) = (Rng::named(5, "streams"), drive.logical_units() / 10);
        let per_block = drive.blocks().lanes().units;
        let (mut kinds, mut mixed): (BTreeMap<u32, BTreeSet<(bool, bool)>>, _) = (BTreeMap::new(), 0);
        let mut erased = 0;
        for tag in 0..40_000 {
            write(&mut drive, &mut rng, tag);
            while let Some(effect) = drive.pop_effect() {
                let (lpn, to, moved) = match effect {
                    Effect::Program { lpn, to, .. } => (lpn, to, false),
                    Effect::Copy { lpn, to, .. } => (lpn, to, true),
                    Effect::Erase { first, units } => {
                        assert_eq!(units, per_block);
                        mixed += u32::from(
                            kinds.remove(&(first.0 / per_block)).is_some_and(|kinds| kinds.len() > 1),
                        );
                        erased += 1;
                        continue;
                    }
                    _ => continue,
                };
                kinds.entry(to.0 / per_block).or_default().insert((lpn.0 < hot_end, moved));
            }
        }
        // Streams of moves share a block only where one of them would have to wait for the other.
        assert!(erased > 500 && mixed * 50 < erased, "{executor:?}: {mixed} of {erased} blocks were mixed");
    }
}

/// Blocks of hot data empty by themselves: separation must pay, by much where the drive is told all.
#[test]
fn separation_pays() {
    let amplification = |drive: &Drive| {
        let stats = drive.stats();
        let moved: u64 = stats.ftl.moved_units.iter().sum();
        1.0 + moved as f64 / stats.ftl.host_units as f64
    };
    let mixed = run(Drive::new(&small()).unwrap(), Executor::Functional, 200_000);
    let told = Drive::with_policies(&small(), ExternalPolicies::trusted_stream(BySaying)).unwrap();
    let apart = run(told, Executor::Functional, 200_000);
    let (mixed, apart) = (amplification(&mixed), amplification(&apart));
    assert!(apart < mixed * 0.85, "write amplification {apart:.2} apart, {mixed:.2} mixed");
}

/// Replicas that become pages, and move again, are as well known as what the host has written: `of_move` asserts it.
#[test]
fn a_replica_has_the_facts_of_its_original() {
    let Some(cause) = support::every::cause("replication") else { return };
    for executor in [Executor::Functional, Executor::Timed] {
        let mut cfg = small();
        cfg.drive.over_provisioning_percent = 150.0;
        cfg.read_reclaim.select("redftl").unwrap();
        for (key, value) in [("max_reads", 100), ("replica_limit", 2)] {
            cfg.read_reclaim.set(key, &Value::Integer(value)).unwrap();
        }
        let mut drive = Drive::with_policies(&cfg, ExternalPolicies::trusted_stream(BySaying)).unwrap();
        drive.set_executor(executor);
        let (mut rng, units) = (Rng::named(9, "replicas"), drive.logical_units());
        for tag in 0..30_000 {
            write(&mut drive, &mut rng, tag);
            let lba = Lba(u64::from(units / 2 + rng.below(8) * 97) * 8);
            let command =
                Command { op: OpCode::Read, lba, sectors: 8, arrival: drive.now(), ..Command::default() };
            while drive.submit(0, &command, drive.now()).is_err() {
                assert!(drive.advance_to_completion());
                drive.pop_completion();
            }
        }
        drive.drain();
        drive.check().unwrap();
        let stats = drive.stats().ftl;
        let made = stats.moved_units[cause as usize];
        assert!(stats.replicas_adopted > 20, "{executor:?}: {made} made, {} adopted", stats.replicas_adopted);
    }
}

/// Data spread over three streams of the host's and three of moves, whatever it is.
#[derive(Clone, Copy, Debug)]
struct Spread;

impl Member for Spread {
    fn streams(&self) -> Streams {
        Streams::of(6, 0b111, 0b11_1000)
    }

    fn of_write(&mut self, write: Written) -> StreamId {
        StreamId((write.lpn.0 % 3) as u8)
    }

    fn of_move(&mut self, moved: Moved) -> StreamId {
        StreamId((moved.lpn.0 / 3 % 3) as u8 + 3)
    }
}

/// Data spread over so many streams of both, whatever it is.
#[derive(Clone, Copy, Debug)]
struct Shared(u8);

impl Member for Shared {
    fn streams(&self) -> Streams {
        Streams::shared(self.0)
    }

    fn of_write(&mut self, write: Written) -> StreamId {
        StreamId((write.lpn.0 % u32::from(self.0)) as u8)
    }

    fn of_move(&mut self, moved: Moved) -> StreamId {
        StreamId((moved.lpn.0 / 3 % u32::from(self.0)) as u8)
    }
}

/// The fullest drive that a separator can have goes on taking writes, and is as full as the streams leave it.
fn on_the_fullest_drive(
    moves: MovesOfFirst,
    separator: impl Member + Copy + std::fmt::Debug + Send + Sync + 'static,
) {
    let mut cfg = small();
    cfg.allocation.moves = moves;
    loop {
        let mut fuller = cfg.clone();
        fuller.drive.over_provisioning_percent -= 0.5;
        if Drive::with_policies(&fuller, ExternalPolicies::trusted_stream(separator)).is_err() {
            break;
        }
        cfg = fuller;
    }
    for executor in [Executor::Functional, Executor::Timed] {
        let mut drive = Drive::with_policies(&cfg, ExternalPolicies::trusted_stream(separator)).unwrap();
        drive.fill(0, drive.logical_units()).unwrap();
        let drive = run(drive, executor, 30_000);
        assert_eq!(drive.health().read_only, None, "{separator:?} {executor:?}");
        assert!(drive.stats().ftl.host_units >= 15_000, "{separator:?} {executor:?}");
    }
}

#[test]
fn streams_leave_cleaning_room_on_the_fullest_drive() {
    on_the_fullest_drive(MovesOfFirst::Apart, Spread);
    for moves in [MovesOfFirst::Apart, MovesOfFirst::Joined] {
        for streams in [1, 2, 6] {
            on_the_fullest_drive(moves, Shared(streams));
        }
    }
}

/// Moves that share the host's blocks mix with it: with one stream of both, all data lies in its blocks.
#[test]
fn moves_of_the_first_stream_have_blocks_of_their_own_or_not() {
    for (moves, expected) in [(MovesOfFirst::Apart, 2), (MovesOfFirst::Joined, 1)] {
        for executor in [Executor::Functional, Executor::Timed] {
            let mut cfg = small();
            cfg.allocation.moves = moves;
            let mut drive = Drive::new(&cfg).unwrap();
            drive.fill(0, drive.logical_units()).unwrap();
            let stats = run(drive, executor, 30_000).stats().ftl;
            let filled = stats.stream_units.iter().filter(|units| **units > 0).count();
            assert_eq!(filled, expected, "{moves:?} {executor:?}");
            let moved = stats.moved_units[Cause::Cleaning as usize];
            let own = stats.stream_units[expected - 1];
            assert_eq!(own, moved + if expected == 1 { stats.host_units } else { 0 });
        }
    }
}

#[test]
fn a_separator_of_the_program_is_not_saved() {
    let drive = Drive::with_policies(&small(), ExternalPolicies::trusted_stream(BySaying)).unwrap();
    let error = drive.save(&mut Vec::new()).unwrap_err().to_string();
    assert!(error.contains("ftl.stream"), "{error}");
    let copy = run(drive.clone(), Executor::Timed, 5_000);
    assert_eq!(copy.event_hash(), run(drive, Executor::Timed, 5_000).event_hash());
}

#[test]
#[should_panic(expected = "host data goes to streams")]
fn a_separator_must_take_host_data() {
    #[derive(Clone, Debug)]
    struct Nothing;
    impl Member for Nothing {
        fn streams(&self) -> Streams {
            Streams::of(2, 0, 0b10)
        }
        fn of_write(&mut self, _: Written) -> StreamId {
            StreamId(0)
        }
        fn of_move(&mut self, _: Moved) -> StreamId {
            StreamId(1)
        }
    }
    let _ = Drive::with_policies(&small(), ExternalPolicies::trusted_stream(Nothing));
}

#[test]
#[should_panic(expected = "put host data in stream 1, which takes none")]
fn a_separator_keeps_to_the_streams_it_has_named() {
    #[derive(Clone, Debug)]
    struct Strays;
    impl Member for Strays {
        fn streams(&self) -> Streams {
            Streams::of(2, 0b01, 0b10)
        }
        fn of_write(&mut self, _: Written) -> StreamId {
            StreamId(1)
        }
        fn of_move(&mut self, _: Moved) -> StreamId {
            StreamId(1)
        }
    }
    Drive::with_policies(&small(), ExternalPolicies::trusted_stream(Strays)).unwrap().fill(0, 8).unwrap();
}

#[test]
fn streams_need_blocks() {
    let mut cfg = small();
    cfg.geometry.blocks_per_plane = 8;
    cfg.drive.over_provisioning_percent = 200.0;
    assert!(Drive::new(&cfg).is_ok());
    let error =
        Drive::with_policies(&cfg, ExternalPolicies::trusted_stream(Many(20))).unwrap_err().to_string();
    assert!(error.contains("good blocks"), "{error}");
    let fit = error.split("at most ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
    let fit: u8 = fit.parse().unwrap();
    let with = |streams| Drive::with_policies(&cfg, ExternalPolicies::trusted_stream(Many(streams)));
    assert!(with(fit).is_ok() && with(fit + 1).is_err(), "{error}");

    #[derive(Clone, Debug)]
    struct Many(u8);
    impl Member for Many {
        fn streams(&self) -> Streams {
            Streams::of(self.0, 1, 1 << (self.0 - 1))
        }
        fn of_write(&mut self, _: Written) -> StreamId {
            StreamId(0)
        }
        fn of_move(&mut self, _: Moved) -> StreamId {
            StreamId(self.0 - 1)
        }
    }
}
