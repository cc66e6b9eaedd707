//! What every policy of a family keeps to: its name, and what it may answer.

use crate::support;

use ssd::config::Layer;
use ssd::drive_config::{DriveConfig, resolve};
use ssd::flash::op::Cause;
use ssd::ftl::gc_trigger::{self, Limits};
use ssd::ftl::tables::blocks::{BlockState, Blocks, LaneView};
use ssd::ftl::tables::layout::Layout;
use ssd::ftl::{gc_victim, read_reclaim};
use ssd::host::buffer;
use ssd::nand::Chip;
use ssd::policy::FAMILIES;
use ssd::rng::Rng;
use ssd::units::{BlockId, LaneId};
use ssd::{Command, Drive, Executor, ExternalPolicies, Lba, OpCode};
use std::collections::BTreeSet;
use std::path::Path;
use support::reclaiming;

/// Blocks of one lane of 64 blocks in random states, with a clock.
struct Lane {
    layout: Layout,
    blocks: Blocks,
    now: u64,
}

impl Lane {
    fn random(rng: &mut Rng, closed_percent: u32) -> Lane {
        let mut cfg = DriveConfig::default();
        let g = &mut cfg.geometry;
        (g.channels, g.chips_per_channel, g.planes_per_die) = (1, 1, 1);
        (g.blocks_per_plane, g.wordlines_per_block) = (64, 4);
        let chip = Chip::new(1, 64, g.pages_per_block(), &cfg.reliability, 1);
        let layout = Layout::new(&cfg, &chip);
        let mut blocks = Blocks::new(&layout, (0..64).map(|_| rng.below(30)));
        let now = 1_000_000;
        for block in (0..64).map(BlockId) {
            blocks.set_state(block, BlockState::Open);
            (0..rng.below(layout.units_per_block() + 1)).for_each(|_| blocks.gain(block));
            if rng.below(100) < closed_percent {
                blocks.close(block, now - u64::from(rng.below(1_000_000)));
            }
            match rng.below(12) {
                0 => blocks.start_moving(block, Cause::Cleaning),
                1 => blocks.program_issued(block),
                2 => blocks.set_failing(block),
                3 => blocks.set_state(block, BlockState::Bad),
                _ => {}
            }
        }
        Lane { layout, blocks, now }
    }

    fn view(&self) -> LaneView<'_> {
        self.blocks.lane_view(&self.layout, LaneId(0), self.now)
    }

    /// What cleaning may choose, found from the blocks' states.
    fn eligible(&self) -> Vec<u32> {
        let most = self.layout.units_per_block() - self.layout.units_per_page;
        let may = |&block: &u32| {
            let block = BlockId(block);
            self.blocks.state(block) == BlockState::Closed
                && self.blocks.programming(block) == 0
                && !self.blocks.is_failing(block)
                && self.blocks.live(block) <= most
        };
        (0..64).filter(may).collect()
    }
}

#[test]
fn names_are_the_stems_of_existing_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for family in FAMILIES {
        let (mut names, mut elsewhere) = (BTreeSet::new(), BTreeSet::new());
        for member in family.nameable() {
            let path = root.join(member.file);
            assert_eq!(path.file_stem().unwrap().to_str(), Some(member.name), "{}", member.file);
            assert!(path.is_file(), "{} does not exist", member.file);
            // What a technique carries out lies in its folder.
            if !member.file.contains(family.path) {
                elsewhere.insert(member.name);
            }
            assert!(names.insert(member.name), "{} twice in {}", member.name, family.path);
            let told = [member.summary, member.source, member.memory];
            assert!(told.iter().all(|text| !text.is_empty()), "{} says too little", member.name);
        }
        assert!(names.contains(family.default) && family.question.ends_with('?'), "{}", family.path);
        let folder = root.join("crates/ssd/src").join(family.path);
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let stems: BTreeSet<_> =
            files.map(|path| path.file_stem().unwrap().to_owned().into_string().unwrap()).collect();
        let expected: BTreeSet<_> =
            names.difference(&elsewhere).copied().chain(["mod"]).map(str::to_owned).collect();
        let stems: BTreeSet<_> = stems.into_iter().filter(|stem| stem != "tests").collect();
        assert_eq!(stems, expected, "{}", family.path);
    }
}

#[test]
fn configurations_are_found_by_name_and_keep_it() {
    for family in FAMILIES {
        let mut cfg = DriveConfig::default();
        let table = cfg.section_mut(&family.section()).expect("a family's section");
        assert_eq!(table.policy(), Some(family.default));
        for member in family.nameable() {
            table.select(member.name).unwrap_or_else(|problem| panic!("{}: {problem:?}", member.name));
            assert_eq!(table.policy(), Some(member.name));
        }
        assert!(table.select("best").is_err() && table.policy().is_some());
    }
}

#[test]
fn gc_victim_chooses_an_eligible_block_whenever_there_is_one() {
    for member in gc_victim::FAMILY.members {
        let config = gc_victim::Config::named(member.name).unwrap();
        let mut rng = Rng::named(11, member.name);
        let mut chosen = BTreeSet::new();
        for round in 0..3_000 {
            let lane = Lane::random(&mut rng, [0, 3, 50, 100][round % 4]);
            let eligible = lane.eligible();
            let mut draws = Rng::named(round as u64, "draws");
            let (mut policy, mut twin) =
                (gc_victim::Policy::build(&config), gc_victim::Policy::build(&config));
            let block = policy.choose(&lane.view(), &mut draws.clone());
            assert_eq!(block.is_none(), eligible.is_empty(), "{} in round {round}", member.name);
            assert!(block.is_none_or(|block| eligible.contains(&block)), "{} chose {block:?}", member.name);
            assert_eq!(twin.choose(&lane.view(), &mut draws), block, "{} is not repeatable", member.name);
            chosen.extend(block);
        }
        assert!(chosen.len() > 32, "{} chose only {chosen:?}", member.name);
    }
}

#[test]
fn gc_victim_greedy_and_fifo_take_the_extreme() {
    let mut rng = Rng::named(12, "extremes");
    for _ in 0..1_000 {
        let lane = Lane::random(&mut rng, 60);
        let (view, eligible) = (lane.view(), lane.eligible());
        let choose = |name: &str| {
            let mut policy = gc_victim::Policy::build(&gc_victim::Config::named(name).unwrap());
            policy.choose(&lane.view(), &mut Rng::named(1, "none"))
        };
        let live = |block: u32| lane.blocks.live(BlockId(block));
        let least = eligible.iter().map(|&block| live(block)).min();
        assert_eq!(choose("greedy").map(live), least);
        let oldest = eligible.iter().map(|&block| view.age(block)).max();
        assert_eq!(choose("fifo").map(|block| view.age(block)), oldest);
    }
}

/// A policy of a program: `fifo` once more, that remembers how often it was asked; or one that answers anything.
#[derive(Clone, Debug)]
struct Own {
    asked: u32,
    only: Option<u32>,
}

impl gc_victim::Member for Own {
    fn choose(&mut self, view: &LaneView<'_>, _: &mut Rng) -> Option<u32> {
        self.asked += 1;
        self.only.or_else(|| view.best_by(|block, _| view.age(block)))
    }
}

/// A small drive, overwritten until it cleans.
fn cleaning(victim: &str, own: Option<Own>) -> Drive {
    let mut cfg = DriveConfig::default();
    let g = &mut cfg.geometry;
    (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (1, 1, 1, 2);
    (g.blocks_per_plane, g.wordlines_per_block) = (16, 8);
    cfg.drive.over_provisioning_percent = 60.0;
    cfg.buffer = buffer::none::Params::default().into();
    cfg.gc_victim = gc_victim::Config::named(victim).unwrap();
    let policies = own.map(ExternalPolicies::trusted_gc_victim).unwrap_or_default();
    let mut drive = Drive::with_policies(&cfg, policies).unwrap();
    let units = drive.logical_units();
    drive.fill(0, units).unwrap();
    let sectors = u64::from(drive.unit_bytes() / 512);
    let mut rng = Rng::named(5, "overwrites");
    for _ in 0..4 * units {
        let lba = Lba(u64::from(rng.below(units)) * sectors);
        let write = Command { op: OpCode::Write, lba, sectors: sectors as u32, ..Command::default() };
        drive.submit(0, &write, drive.now()).unwrap();
        assert!(drive.advance_to_completion());
        drive.pop_completion().unwrap();
    }
    drive
}

#[test]
fn gc_victim_can_be_a_policy_of_the_program() {
    let own = cleaning("greedy", Some(Own { asked: 0, only: None }));
    assert_eq!(own.event_hash(), cleaning("fifo", None).event_hash());
    assert_ne!(own.event_hash(), cleaning("greedy", None).event_hash());
    // A copy goes on by itself, as it stands.
    assert_eq!(own.clone().event_hash(), own.event_hash());
    let mut saved = Vec::new();
    let error = own.save(&mut saved).unwrap_err();
    assert!(saved.is_empty() && error.kind() == std::io::ErrorKind::Unsupported, "{error}");
    assert!(error.to_string().contains("ftl.gc_victim is a policy from the program"), "{error}");
    // A configuration names one that is given; which, it does not say.
    let layer = |policy: &str| Layer::set(&format!("ftl.gc_victim.policy={policy}")).unwrap();
    assert_eq!(resolve(&[layer("external")], &[]).unwrap().config.gc_victim.name(), "external");
    let error = resolve(&[layer("extrnal")], &[]).unwrap_err().to_string();
    assert!(error.contains("external") && error.contains("cost_benefit"), "{error}");
}

#[test]
#[should_panic(expected = "ftl.gc_victim chose block 15, which cannot be collected")]
fn gc_victim_that_names_a_block_that_cannot_be_cleaned_is_found_out() {
    cleaning("greedy", Some(Own { asked: 0, only: Some(15) }));
}

#[test]
fn chips_are_seen_by_the_one_policy_that_says_so() {
    let sees =
        |name: &str| read_reclaim::Policy::build(&read_reclaim::Config::named(name).unwrap()).sees_chips();
    let names = read_reclaim::FAMILY.members.iter().map(|member| member.name);
    assert_eq!(names.filter(|name| sees(name)).collect::<Vec<_>>(), ["lazy_exact"]);
}

#[test]
fn gc_trigger_starts_when_nothing_is_free_and_stops_at_what_can_be_free() {
    for member in gc_trigger::FAMILY.members {
        let policy = gc_trigger::Policy::build(&gc_trigger::Config::named(member.name).unwrap());
        for (blocks, spare, reserve, idle) in
            [(64, 10, 1, false), (64, 10, 1, true), (8, 3, 1, false), (1000, 70, 4, true)]
        {
            // What goes by rounds has had its round.
            let limits = Limits {
                blocks,
                spare,
                reserve,
                idle,
                cleaned: blocks,
                units_per_block: 64,
                ..Limits::default()
            };
            assert!((0..=reserve).all(|free| policy.starts(free, &limits) && policy.goes_on(free, &limits)));
            assert!(!policy.starts(blocks, &limits) && !policy.goes_on(blocks, &limits), "{}", member.name);
            let stop = (0..=blocks).find(|&free| !policy.goes_on(free, &limits)).unwrap();
            assert!(stop <= (spare / 2).max(reserve + 1) + 1, "{} goes on to {stop} of {spare}", member.name);
            // What starts goes on, so that it does not stop at once.
            let limits = Limits { cleaned: 0, ..limits };
            assert!((0..=blocks).all(|free| !policy.starts(free, &limits) || policy.goes_on(free, &limits)));
        }
    }
}

/// What cells lose that nobody moves, policies save, and go the same way twice.
#[test]
fn read_reclaim_moves_data_before_it_is_lost() {
    let run = |cfg: &DriveConfig, executor: Executor| {
        let mut drive = Drive::new(cfg).unwrap();
        let units = drive.logical_units();
        drive.fill(0, units).unwrap();
        drive.set_executor(executor);
        let failed = reclaiming::Reads::new(2).run(&mut drive, 60_000);
        drive.drain();
        drive.check().unwrap();
        (failed, reclaiming::moved(&drive), drive)
    };
    let mut names = BTreeSet::from([read_reclaim::never::NAME]);
    for (policy, name, cfg) in reclaiming::drives() {
        names.insert(policy);
        for executor in [Executor::Timed, Executor::Functional] {
            let ((failed, moved, one), (_, _, two)) = (run(&cfg, executor), run(&cfg, executor));
            assert_eq!(
                (one.event_hash(), one.stats()),
                (two.event_hash(), two.stats()),
                "{name}, {executor:?}"
            );
            println!("{name}, {executor:?}: {moved} moved, {failed} failed");
            assert_eq!((failed, one.stats().ftl.lost_units), (0, 0), "{name}, {executor:?}");
            assert!(moved > 100, "{name}, {executor:?}: {moved} units were moved");
        }
    }
    let (_, _, mut cfg) = reclaiming::drives().swap_remove(0);
    cfg.read_reclaim = read_reclaim::Config::named(read_reclaim::never::NAME).unwrap();
    let (failed, moved, _) = run(&cfg, Executor::Functional);
    assert!(failed > 0 && moved == 0, "{failed} reads failed, {moved} units were moved");
    let members: BTreeSet<_> = read_reclaim::FAMILY.members.iter().map(|member| member.name).collect();
    assert_eq!(names, members);
}

#[test]
fn buffers_have_marks_that_can_be_reached() {
    for member in buffer::FAMILY.members {
        let policy = buffer::Policy::build(&buffer::Config::named(member.name).unwrap());
        for unit_bytes in [512, 4096, 16_384, 262_144] {
            let rules = policy.rules(unit_bytes);
            assert!(
                rules.flush_stop <= rules.flush_start && rules.flush_start <= rules.slots,
                "{}",
                member.name
            );
            assert_eq!(rules.slots > 0, rules.write_back || rules.keep_reads, "{}", member.name);
        }
    }
}
