//! Wear levelling: cold data moves where that keeps blocks from staying young, and nothing else does, by whichever
//! policy.

use super::{Config, Policy};
use crate::config::{Layer, Table, Value};
use crate::drive_config::resolve;
use crate::external::{Identity, LaneCall, LanePolicy};
use crate::flash::op::{Cause, OpKind};
use crate::ftl::gc_trigger;
use crate::ftl::tables::blocks::{BlockState, Blocks};
use crate::ftl::tables::layout::Layout;
use crate::nand::Chip;
use crate::rng::Rng;
use crate::sections::{MappingUnit, Superblock};
use crate::units::{BlockId, LaneId};
use crate::{Drive, DriveConfig, Executor, ExternalPolicies};

/// One lane of `blocks` blocks of 16 pages of 4 KiB, mapped page by page. Cleaning begins when two blocks are free: the
/// least there is.
fn one_lane(blocks: u32) -> DriveConfig {
    let mut cfg = DriveConfig::default();
    cfg.drive.over_provisioning_percent = 28.0;
    let g = &mut cfg.geometry;
    (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (1, 1, 1, 1);
    (g.blocks_per_plane, g.wordlines_per_block, g.bits_per_cell, g.page_bytes) = (blocks, 16, 1, 4_096);
    (cfg.mapping.unit, cfg.allocation.superblock) = (MappingUnit::Page, Superblock::None);
    cfg.cleaning.reserve_blocks = 1;
    let none = gc_trigger::watermark::Params { start_free_percent: 0.0, stop_free_percent: 0.0 };
    cfg.gc_trigger = gc_trigger::Config::Watermark(none);
    cfg.buffer.select("none").expect("a policy");
    cfg
}

/// The same, where `static_swap` looks after so many erases at such a difference.
fn swapping(blocks: u32, max_difference: u32, check_interval: u32) -> DriveConfig {
    let mut cfg = one_lane(blocks);
    cfg.wear_leveling.select("static_swap").expect("a policy");
    for (key, value) in [("max_difference", max_difference), ("check_interval", check_interval)] {
        cfg.wear_leveling.set(key, &Value::Integer(value.into())).expect("a parameter");
    }
    cfg
}

/// Fills a drive, and writes so many times what its first tenth holds there.
fn hot_and_cold(mut drive: Drive, times: u32) -> Drive {
    drive.set_executor(Executor::Functional);
    let units = drive.logical_units();
    drive.fill(0, units).expect("room");
    let hot = units / 10;
    let mut rng = Rng::named(41, "hot");
    for _ in 0..times.div_ceil(10) {
        let lpns: Vec<u32> = (0..hot * 10).map(|_| rng.below(hot)).collect();
        drive.overwrite(&lpns).expect("room");
    }
    drive.check().expect("tables agree");
    drive
}

/// Least and most erases of its blocks, and the write amplification.
fn wear(drive: &Drive) -> (u32, u32, f64) {
    let (wear, stats) = (drive.health().wear, drive.stats());
    (wear.min, wear.max, stats.ops(OpKind::Program) as f64 / stats.ftl.host_units as f64)
}

#[test]
fn without_it_cold_blocks_stay_young() {
    let (min, max, _) = wear(&hot_and_cold(Drive::new(&one_lane(256)).expect("a drive"), 400));
    assert!(min <= 2 && max > 100, "{min} to {max}");
}

#[test]
fn static_swap_bounds_the_spread() {
    for (difference, interval) in [(10, 4), (40, 16)] {
        let drive = Drive::new(&swapping(256, difference, interval)).expect("a drive");
        let (min, max, amplification) = wear(&hot_and_cold(drive, 400));
        // Beyond the difference at which it acts, the spread can grow while a swap is awaited, and as one block is
        // swapped at a time: allow for half as much again.
        assert!(max - min <= difference + difference / 2, "erases {min} to {max}");
        // Moving cold data costs little beside what the host writes.
        assert!(amplification < 1.5, "{amplification}");
    }
}

#[test]
fn policies_choose_closed_blocks_only() {
    let layout = Layout::new(&one_lane(64), &Chip::new(1, 64, 16, &one_lane(64).reliability, 1));
    for member in super::FAMILY.members {
        let config = Config::named(member.name).expect("a member");
        let mut rng = Rng::named(13, member.name);
        let mut chosen = 0;
        for round in 0..2_000u64 {
            let mut blocks = Blocks::new(&layout, (0..64).map(|_| rng.below(30)));
            for block in (0..64).map(BlockId) {
                match rng.below(8) {
                    0..4 => blocks.close(block, 0),
                    4 => blocks.set_state(block, BlockState::Open),
                    5 => blocks.set_state(block, BlockState::Bad),
                    _ => {}
                }
            }
            blocks.set_erase_count(BlockId(rng.below(64)), 100);
            blocks.set_wear_q12(BlockId(rng.below(64)), 400);
            let view = blocks.lane_view(&layout, LaneId(0), 0);
            let block = Policy::build(&config).choose(&view, round);
            assert!(block.is_none_or(|block| view.state(block) == BlockState::Closed));
            assert_eq!(
                Policy::build(&config).choose(&view, round),
                block,
                "{} goes the same way twice",
                member.name
            );
            chosen += u32::from(block.is_some());
        }
        assert_eq!(chosen > 0, Policy::build(&config).acts(), "{}", member.name);
    }
}

/// Chooses blocks by a function.
#[derive(Clone, Copy, Debug)]
struct ByFunction(fn(&LaneCall<'_>) -> Result<Option<u32>, String>);

impl LanePolicy for ByFunction {
    fn identity(&self) -> Identity {
        Identity { name: "by_function".to_owned(), kind: "test", hash: "feed".to_owned() }
    }

    fn choose(&mut self, call: &LaneCall<'_>) -> Result<Option<u32>, String> {
        (self.0)(call)
    }

    fn copied(&self) -> Box<dyn LanePolicy> {
        Box::new(*self)
    }
}

/// A drive that is worn by a function from outside.
fn given(function: fn(&LaneCall<'_>) -> Result<Option<u32>, String>) -> Drive {
    let mut cfg = one_lane(64);
    cfg.wear_leveling.select("external").expect("a policy");
    let policies = ExternalPolicies {
        wear_leveling: Some(Box::new(ByFunction(function))),
        ..ExternalPolicies::default()
    };
    hot_and_cold(Drive::with_policies(&cfg, policies).expect("a drive"), 100)
}

/// As `static_swap` with a difference of 2, looking after each fourth erase.
fn swap(call: &LaneCall<'_>) -> Result<Option<u32>, String> {
    let columns = call.lane.columns();
    let used = (0..columns.state.len()).filter(|&block| columns.state[block] != BlockState::Bad);
    let most = used.map(|block| columns.erase_count[block]).max().unwrap_or(0);
    let closed = (0..columns.state.len()).filter(|&block| columns.state[block] == BlockState::Closed);
    let coldest = closed.min_by_key(|&block| columns.erase_count[block]);
    let lags = |&block: &usize| call.erases.is_multiple_of(4) && most - columns.erase_count[block] > 2;
    Ok(coldest.filter(lags).map(|block| block as u32))
}

#[test]
fn a_policy_from_outside_makes_the_drive_that_its_answers_make() {
    let (outside, inside) =
        (given(swap), hot_and_cold(Drive::new(&swapping(64, 2, 4)).expect("a drive"), 100));
    assert_eq!(outside.external().fault(), None);
    assert_eq!((outside.event_hash(), outside.stats()), (inside.event_hash(), inside.stats()));
    assert!(inside.stats().ftl.moved_units[Cause::WearLeveling as usize] > 0, "wear was leveled");
    let mut saved = Vec::new();
    let error = outside.clone().save(&mut saved).unwrap_err().to_string();
    assert!(saved.is_empty() && error.contains("ftl.wear_leveling"), "{error}");
}

#[test]
fn wear_that_is_leveled_wrongly_is_leveled_no_more() {
    let wrong = given(|call| if call.call == 20 { Ok(Some(999)) } else { Ok(None) });
    let never = given(|_| Ok(None));
    assert_eq!(never.external().fault(), None, "wear may always be left as it is");
    assert_eq!((wrong.event_hash(), wrong.stats()), (never.event_hash(), never.stats()));
    let fault = wrong.external().fault().expect("a fault");
    assert_eq!((fault.family, fault.call), ("ftl.wear_leveling", 20));
    assert_eq!(fault.found, "block 999 of 64");
    let free =
        given(|call| Ok((0..call.lane.len()).find(|&block| call.lane.state(block) == BlockState::Free)));
    assert!(free.external().fault().expect("a fault").found.ends_with("which is free"));
}

#[test]
fn its_open_block_is_counted_among_the_spare_ones() {
    // 40 blocks a lane of which 36 hold data: 4 spare are enough, but not with a cold stream.
    let text = "preset = \"m64\"\n[drive]\nlogical_gib = 9.0\n[nand.geometry]\nblocks_per_plane = 40\n";
    let resolved = |text: &str| resolve(&[Layer::file("drive.toml", text)], &[]);
    resolved(text).expect("a drive");
    let message =
        resolved(&format!("{text}[ftl.wear_leveling]\npolicy = \"static_swap\"")).unwrap_err().to_string();
    assert!(
        message.contains("at least 5 superblocks beyond the data") && message.contains("3 open"),
        "{message}"
    );
}

#[test]
fn its_policy_may_change_while_a_drive_is_aged() {
    let (from, to) = (one_lane(64), swapping(64, 2, 4));
    let mut drive = hot_and_cold(Drive::new(&from).expect("a drive"), 50);
    drive.reconfigure(&from, &to, ExternalPolicies::default()).expect("a change that is allowed");
    let drive = hot_and_cold(drive, 50);
    assert!(drive.stats().ftl.moved_units[Cause::WearLeveling as usize] > 0, "wear was leveled");
}
