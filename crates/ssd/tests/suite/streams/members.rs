//! The separators of the drive: what they gain where data can be told apart, and what they cost where it cannot.

use super::small;
use super::support::{Load, every, soaked, tell, with_every_policy};
use ssd::ftl::stream::{self, FAMILY};
use ssd::rng::Rng;
use ssd::sections::MovesOfFirst;
use ssd::{Command, Drive, DriveConfig, Executor, Hints, Lba, OpCode};

/// A drive with room for all streams, one unit a page: none has to wait for others of its kind.
fn roomy() -> DriveConfig {
    let mut cfg = small();
    let g = &mut cfg.geometry;
    (g.blocks_per_plane, g.wordlines_per_block, g.page_bytes) = (512, 16, 4_096);
    cfg.cleaning.reserve_blocks = 1;
    cfg
}

/// The drive with a separator.
fn with(member: &str, mut cfg: DriveConfig) -> DriveConfig {
    every::choose(&mut cfg, "ftl.stream", member);
    cfg
}

/// Two programs: one writes single units, four of five of all that are written, again and again to a few; the other
/// writes whole files, any of them.
#[derive(Clone)]
struct TwoPrograms(Rng);

/// Units of a file.
const FILE: u32 = 16;

impl TwoPrograms {
    fn command(&mut self, units: u32, tag: u64) -> Command {
        let hot_units = units / 64;
        let is_hot = self.0.below(1 + 4 * FILE) > 0;
        let (unit, count) = match is_hot {
            true => (self.0.below(hot_units), 1),
            false => (hot_units + self.0.below((units - hot_units) / FILE) * FILE, FILE),
        };
        let who = 1 + u32::from(is_hot);
        let hints = Hints { process: who, context: who, stream: who as u16, file: who, ..Hints::default() };
        let (op, lba, sectors) = (OpCode::Write, Lba(u64::from(unit) * 8), 8 * count);
        Command { op, lba, sectors, tag, hints, ..Command::default() }
    }

    fn write(&mut self, drive: &mut Drive, commands: u64) {
        let (mut ahead, units) = (self.clone(), drive.logical_units());
        tell(drive, (0..commands).map(|tag| ahead.command(units, tag)));
        for tag in 0..commands {
            let command = self.command(units, tag);
            while drive.submit(0, &command, drive.now()).is_err() {
                assert!(drive.advance_to_completion());
                while drive.pop_completion().is_some() {}
            }
        }
    }
}

/// Copies per unit that the host has written, and one: after as many writes again as it took to settle.
fn amplification(cfg: &DriveConfig) -> (f64, u64) {
    let mut drive = Drive::new(cfg).unwrap();
    drive.set_executor(Executor::Functional);
    let mut load = TwoPrograms(Rng::named(7, "two programs"));
    load.write(&mut drive, soaked(80_000));
    drive.reset_stats();
    load.write(&mut drive, soaked(40_000));
    drive.drain();
    while drive.pop_completion().is_some() {}
    drive.check().unwrap();
    let stats = drive.stats().ftl;
    let moved: u64 = stats.moved_units.iter().sum();
    (1.0 + moved as f64 / stats.host_units as f64, drive.event_hash())
}

/// Those that have tests of their own: by program contexts, by reads beside writes, and with a workload that is known
/// ahead.
const ELSEWHERE: [&str; 4] = ["hotness", "ids", "oracle", "pds"];

/// Held against SepBIT's SepGC, which is `none` where moves are apart, as they are by default: it separates, too, and
/// copies less than NoSep, where they are joined.
#[test]
fn what_is_told_apart_is_copied_less() {
    let mut joined = roomy();
    joined.allocation.moves = MovesOfFirst::Joined;
    let ((mixed, _), (no_sep, _)) = (amplification(&roomy()), amplification(&joined));
    println!("NoSep: {no_sep:.3}, SepGC: {mixed:.3}");
    assert!(mixed < no_sep, "SepGC {mixed:.3}, NoSep {no_sep:.3}");
    let separates = |name: &str| name != stream::none::NAME && !ELSEWHERE.contains(&name);
    for member in FAMILY.members.iter().filter(|member| separates(member.name)) {
        let cfg = with(member.name, roomy());
        let (apart, hash) = amplification(&cfg);
        println!("{}: {apart:.3}", member.name);
        assert!(apart < 0.9 * mixed, "{}: {apart:.3}, {mixed:.3} mixed", member.name);
        assert_eq!(amplification(&cfg), (apart, hash), "{} is not repeatable", member.name);
    }
}

/// While the host says nothing, all goes to the first stream, and the drive does what it does without separation.
#[test]
fn without_hints_those_who_need_them_do_nothing() {
    let mut compared = 0;
    for (name, cfg) in with_every_policy().filter(|(name, _)| !name.starts_with("ftl.stream")) {
        if ["ftl.program_mode.hire", "ftl.slc_cache.adaptive"].contains(&name.as_str()) {
            // One needs streams of its own, the other is larger where fewer streams keep blocks open.
            continue;
        }
        for member in ["process", "placement_id"] {
            let cfg = every::fitted(with(member, cfg.clone())).unwrap();
            let none = with(stream::none::NAME, cfg.clone());
            // A small buffer has more slots where pages of more streams gather; they are not used yet.
            compared += u32::from(cfg.staging_slots() != none.staging_slots());
            for executor in [Executor::Timed, Executor::Functional] {
                let hash = |cfg: &DriveConfig| {
                    let mut drive = Drive::new(cfg).unwrap();
                    drive.set_executor(executor);
                    Load::silent(1).run(&mut drive, 6_000);
                    assert!(drive.stats().ftl.reclaimed_blocks > 20, "{name}");
                    drive.event_hash()
                };
                assert_eq!(hash(&cfg), hash(&none), "{name}, {member}, {executor:?}");
            }
        }
    }
    assert!(compared > 3, "{compared} drives with small buffers");
}
