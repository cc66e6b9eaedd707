//! Separators by program context, on drives: where the examples of their papers put data, that they are nothing where
//! no context is told, and that they pay where data of a context dies together.

use crate::support::{self, soaked};

use ssd::config::{Table, Value};
use ssd::observe::Effect;
use ssd::rng::Rng;
use ssd::sections::{MappingUnit, MovesOfFirst};
use ssd::{Command, Drive, DriveConfig, Executor, Hints, Lba, OpCode};
use support::Load;

/// A drive of blocks of four pages, a unit each, in one lane: nothing is held in DRAM, nothing is cleaned so soon.
fn four_pages(policy: &str) -> Drive {
    let mut cfg = DriveConfig::default();
    let g = &mut cfg.geometry;
    (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (1, 1, 1, 1);
    (g.blocks_per_plane, g.wordlines_per_block, g.bits_per_cell) = (40, 4, 1);
    (cfg.mapping.unit, cfg.drive.over_provisioning_percent) = (MappingUnit::Page, 100.0);
    cfg.buffer.select("none").unwrap();
    cfg.stream.select(policy).unwrap();
    let mut drive = Drive::new(&cfg).unwrap();
    drive.set_executor(Executor::Functional);
    drive.record_effects(true);
    drive
}

fn command(drive: &Drive, unit: u32, context: u32) -> Command {
    let sectors = drive.unit_bytes() / 512;
    let lba = Lba(u64::from(unit) * u64::from(sectors));
    let hints = Hints { context, ..Hints::default() };
    Command { op: OpCode::Write, lba, sectors, hints, ..Command::default() }
}

/// Writes of contexts to units, one after the other; where each came to lie: its block.
fn written(drive: &mut Drive, writes: &[(u32, u32)]) -> Vec<u32> {
    let per_block = drive.blocks().lanes().units;
    let mut blocks = Vec::new();
    for &(context, unit) in writes {
        drive.submit(0, &command(drive, unit, context), drive.now()).unwrap();
        drive.drain();
        while drive.pop_completion().is_some() {}
        while let Some(effect) = drive.pop_effect() {
            if let Effect::Program { to, .. } = effect {
                blocks.push(to.0 / per_block);
            }
        }
    }
    assert_eq!(blocks.len(), writes.len());
    blocks
}

/// Figures 24 and 25: eight writes, the times at which they are written again (52, 89 and 90 are printed). In one
/// stream two of the first block live on at time 55, when cleaning begins.
#[test]
fn figure_25_one_stream_leaves_two_pages_in_its_block() {
    let mut drive = four_pages("none");
    let times = [50, 51, 89, 90, 52, 49, 91, 88];
    let mut blocks = written(&mut drive, &[1, 2, 3, 4, 5, 6, 7, 8].map(|unit| (0, unit)));
    assert_eq!(blocks, [0, 0, 0, 0, 1, 1, 1, 1]);
    let mut updates: Vec<(u32, u32)> = times.into_iter().zip(1..).filter(|&(time, _)| time <= 55).collect();
    updates.sort_unstable();
    for (_, unit) in updates {
        blocks[unit as usize - 1] = written(&mut drive, &[(0, unit)])[0];
    }
    let live: Vec<u32> = (0..8).filter(|&at| blocks[at] == 0).map(|at| times[at]).collect();
    assert_eq!(live, [89, 90]);
}

/// Figure 29: the first seven of eight writes are there; the eighth, of context 5, goes to the update block of its
/// group, number 4; the fifth, of the unknown context 3, went to the write-once block, number 6.
#[test]
fn figure_29_on_real_blocks() {
    let mut drive = four_pages("pds");
    // Contexts 5 and 7 reach the threshold, each by four updates of data that lies in blocks 0 to 3: first the data,
    // then its updates, by contexts of which nothing is known.
    let old: Vec<(u32, u32)> =
        [5, 5, 5, 5, 7, 7, 7, 7].into_iter().zip([20, 22, 24, 26, 28, 30, 32, 34]).collect();
    assert_eq!(written(&mut drive, &old), [0, 0, 0, 0, 1, 1, 1, 1]);
    let units = old.iter().map(|&(_, unit)| (100 + unit, unit)).collect::<Vec<_>>();
    assert_eq!(written(&mut drive, &units), [2, 2, 2, 2, 3, 3, 3, 3]);
    // Requests 1 to 8 of the figure, those updated around time 50 by one group, those around 90 by the other.
    let contexts = [5, 5, 7, 7, 3, 5, 7, 5];
    let found = written(&mut drive, &contexts.into_iter().zip(1..).collect::<Vec<_>>());
    assert_eq!(found, [4, 4, 5, 5, 6, 4, 5, 4]);
}

fn small() -> DriveConfig {
    let mut cfg = support::small();
    cfg.geometry.blocks_per_plane = 64;
    cfg.drive.over_provisioning_percent = 45.0;
    cfg
}

/// Drives with room for the streams of all policies, that differ in what they do with moves and time.
fn roomy() -> Vec<DriveConfig> {
    let mut joined = small();
    joined.allocation.moves = MovesOfFirst::Joined;
    let mut direct = small();
    direct.buffer.select("none").unwrap();
    let mut aged = small();
    aged.gc_victim.select("cost_age_time").unwrap();
    let mut buffered = small();
    buffered.buffer.select("lru_write").unwrap();
    buffered.buffer.set("size_mib", &Value::Float(4.0)).unwrap();
    // Fewer slots than pages in all streams take.
    let mut tight = buffered.clone();
    tight.buffer.set("size_mib", &Value::Float(0.25)).unwrap();
    let mut reserve = small();
    reserve.cleaning.reserve_blocks = 3;
    vec![small(), joined, direct, aged, buffered, tight, reserve]
}

/// Without contexts nothing is told apart, and victims are chosen as ever: to the last event.
#[test]
fn without_contexts_they_are_as_if_they_were_not() {
    for (number, cfg) in roomy().into_iter().enumerate() {
        for executor in [Executor::Timed, Executor::Functional] {
            let hash = |policy: &str, contexts: bool| {
                let mut cfg = cfg.clone();
                cfg.stream.select(policy).unwrap();
                let mut drive = Drive::new(&cfg).unwrap();
                drive.set_executor(executor);
                let mut load = if contexts { Load::new(7) } else { Load::silent(7) };
                load.run(&mut drive, soaked(15_000));
                drive.drain();
                let stats = drive.stats().ftl;
                assert!(stats.reclaimed_blocks > 50, "drive {number}: {}", stats.reclaimed_blocks);
                drive.event_hash()
            };
            let none = [false, true].map(|contexts| hash("none", contexts));
            for policy in ["pds", "ids"] {
                let [silent, told] = [false, true].map(|contexts| hash(policy, contexts));
                assert_eq!(silent, none[0], "drive {number}, {policy}, {executor:?}");
                assert_eq!(told, hash(policy, true), "drive {number}, {policy}, {executor:?}");
                assert_ne!(told, none[1], "drive {number}, {policy}, {executor:?}");
            }
        }
    }
}

/// A program of six contexts: each fills a file of its own in bursts, deletes it when it is full, and begins anew;
/// after each burst it rewrites the pages of its index. Files differ in size and in how often their turn comes. Between
/// the bursts single units of the rest of the drive are written, nobody says by whom.
struct Program {
    rng: Rng,
    filled: [u32; FILES as usize],
}

const FILES: u32 = 6;
const INDEX: u32 = 8;

impl Program {
    fn run(&mut self, drive: &mut Drive, bursts: u32) {
        let part = drive.logical_units() / 80;
        for _ in 0..bursts {
            let file = self.rng.below(FILES).min(self.rng.below(FILES));
            let (first, size) = (part * file * (file + 1) / 2, part * (1 + file));
            for _ in 0..12 {
                let filled = &mut self.filled[file as usize];
                if *filled == size {
                    let whole = command(drive, first, 0);
                    submit(drive, Command { op: OpCode::Trim, sectors: whole.sectors * size, ..whole });
                    *filled = 0;
                }
                let next = command(drive, first + *filled, 100 + file);
                *filled += 1;
                submit(drive, next);
            }
            let indices = part * FILES * (FILES + 1) / 2;
            for at in 0..INDEX {
                submit(drive, command(drive, indices + file * INDEX + at, 100 + file));
            }
            let rest = indices + FILES * INDEX;
            let any = rest + self.rng.below(drive.logical_units() - rest);
            submit(drive, command(drive, any, 0));
        }
    }
}

fn submit(drive: &mut Drive, command: Command) {
    while drive.submit(0, &command, drive.now()).is_err() {
        assert!(drive.advance_to_completion());
        drive.pop_completion();
    }
}

/// Units moved per unit written by that program on a full drive, once it has gone round.
fn moved_per_write(policy: &str, own: &[(&str, i128)]) -> f64 {
    let mut cfg = small();
    cfg.geometry.blocks_per_plane = 200;
    cfg.drive.over_provisioning_percent = 28.0;
    cfg.mapping.unit = MappingUnit::Page;
    cfg.allocation.moves = MovesOfFirst::Joined;
    cfg.buffer.select("none").unwrap();
    cfg.stream.select(policy).unwrap();
    for &(key, value) in own {
        cfg.stream.set(key, &Value::Integer(value)).unwrap();
    }
    let mut drive = Drive::new(&cfg).unwrap();
    drive.set_executor(Executor::Functional);
    drive.fill(0, drive.logical_units()).unwrap();
    let mut program = Program { rng: Rng::named(5, "program"), filled: [0; FILES as usize] };
    program.run(&mut drive, 15_000);
    drive.reset_stats();
    program.run(&mut drive, 20_000);
    drive.drain();
    drive.check().unwrap();
    let stats = drive.stats();
    stats.ftl.moved_units.iter().sum::<u64>() as f64 / stats.ftl.host_units as f64
}

#[test]
fn data_that_dies_together_pays() {
    let none = moved_per_write("none", &[]);
    let pds = moved_per_write("pds", &[]);
    let ids = moved_per_write("ids", &[]);
    println!("moves per write: none {none:.3}, pds {pds:.3}, ids {ids:.3}");
    println!("two streams: pds {:.3}", moved_per_write("pds", &[("streams", 2)]));
    assert!(
        pds < 0.7 * none && ids < 0.8 * none,
        "moves per write: none {none:.3}, pds {pds:.3}, ids {ids:.3}"
    );
}
