//! What the policy does with units and blocks, and what a drive with it copies.

use super::*;
use crate::drive_config::DriveConfig;
use crate::ftl::stream::tests::{SIZE, moved, written};
use crate::rng::Rng;
use crate::sections::MappingUnit;
use crate::units::{BlockId, LaneId};
use crate::{Drive, Executor};
use loads::copies;

/// The suite has the same loads.
#[path = "../../../../tests/suite/support/loads.rs"]
mod loads;

/// A policy whose chain has so many groups but the last.
fn policy(groups: u8) -> Policy {
    let mut policy = Policy::new(&Params::default());
    policy.learn(&SIZE);
    policy.chain.end = FIRST + groups;
    policy
}

/// A tick is four units. What is written again within three is hot after three times, and stays hot while it is; what
/// is not, or leaves a group, is less so.
#[test]
fn two_bits_tell_what_is_hot() {
    let mut policy = policy(2);
    (policy.soon, policy.chain.blocks[usize::from(HOT)]) = (3, 1);
    let write =
        |policy: &mut Policy, ticks: u64| policy.of_write(Written { clock: 4 * ticks, ..written(5) }).0;
    let counter = |policy: &Policy| policy.units[5] & COUNTER;
    assert_eq!([0, 3, 6, 9].map(|ticks| write(&mut policy, ticks)), [FIRST, FIRST, FIRST, HOT]);
    assert_eq!(policy.of_write(Written { again: true, ..written(5) }), StreamId(HOT));
    // Late or soon: it is judged when it leaves.
    assert_eq!([30, 31].map(|ticks| write(&mut policy, ticks)), [HOT, HOT]);
    // It returns to the first group, by a stream that the host does not write to, and needs two to be hot again.
    assert_eq!((policy.of_move(moved(5, 0)), counter(&policy)), (policy.back(), 1));
    assert_eq!([32, 33, 34].map(|ticks| write(&mut policy, ticks)), [FIRST, HOT, HOT]);
    policy.on_trim(Lpn(5));
    assert_eq!([40, 41, 45, 46, 47].map(|ticks| write(&mut policy, ticks)), [FIRST; 5]);
    assert_eq!(counter(&policy), 2, "one was late");
    // Without a group of their own, hot data goes where all else does.
    policy.chain.blocks[usize::from(HOT)] = 0;
    assert_eq!((write(&mut policy, 48), counter(&policy)), (FIRST, 3));
    // Where all is planned to be one group nobody becomes hot.
    (policy.chain.end, policy.chain.copies) = (FIRST, 0);
    assert_eq!([49, 50, 51, 52].map(|_| policy.of_write(written(6)).0), [FIRST; 4]);
    assert_eq!((policy.units[6] & COUNTER, policy.used), (0, 2));
}

#[test]
fn copies_go_to_the_next_group_and_the_last_keeps_them() {
    let mut policy = policy(3);
    _ = policy.of_write(written(7));
    assert_eq!([(); 5].map(|()| policy.of_move(moved(7, 0)).0), [FIRST + 1, FIRST + 2, LAST, LAST, LAST]);
    _ = policy.of_write(written(7));
    (policy.chain.end, policy.chain.copies) = (FIRST, 0);
    assert_eq!(policy.of_move(moved(7, 0)).0, LAST);
}

/// Data that is older than what is counted by ticks does not look young again when ticks come round.
#[test]
fn old_data_stays_old() {
    let mut policy = policy(2);
    (policy.soon, policy.chain.blocks[usize::from(HOT)]) = (3, 1);
    let write = |policy: &mut Policy, lpn, ticks: u64| {
        policy.of_write(Written { clock: 4 * ticks, ..written(lpn) }).0
    };
    assert_eq!([0, 1].map(|ticks| write(&mut policy, 5, ticks)), [FIRST; 2]);
    // A round of the hand is 64 writes: four units of 1,024 in each are the tick.
    (0..1_024 - 4).for_each(|at| _ = write(&mut policy, 512 + at % 256, 2 + u64::from(at) / 4));
    // 256 ticks after its last write its age would be nothing.
    assert_eq!((write(&mut policy, 5, 257), policy.units[5] & COUNTER), (FIRST, 0));
}

/// A copyback that finds no page in its plane has moved nothing, nor has what was trimmed on its way.
#[test]
fn what_does_not_move_stays_in_its_group() {
    let mut policy = policy(3);
    _ = policy.of_write(written(7));
    assert_eq!([(); 3].map(|()| policy.peek_move(moved(7, 0)).0), [FIRST + 1; 3]);
    assert_eq!(policy.of_move(moved(7, 0)).0, FIRST + 1);
    policy.on_trim(Lpn(7));
    _ = policy.of_move(moved(7, 0));
    assert_eq!((policy.units[7], policy.used), (0, 0));
}

/// Sixteen victims tell: 60 % live as planned and ten points, 61 % are too many.
#[test]
fn a_group_worse_than_planned_becomes_the_last() {
    let mut policy = policy(4);
    policy.chain.valid[usize::from(FIRST + 1)] = ONE as u32 / 2;
    let mut victims = |live: u32, count: u32| {
        let stream = StreamId(FIRST + 1);
        let victim = Victim { stream, lane: LaneId(0), filled: 9, opened: 9, clock: 9, live, units: 100 };
        (0..count).for_each(|_| policy.on_victim(victim));
        policy.chain.end
    };
    assert_eq!(
        (victims(60, VICTIMS), victims(61, VICTIMS - 1), victims(61, 1)),
        (FIRST + 4, FIRST + 4, FIRST + 1)
    );
}

/// What was opened before the plan is no witness against it.
#[test]
fn a_plan_is_judged_by_what_came_after_it() {
    let mut policy = policy(4);
    policy.writes = 7;
    let victim = Victim {
        stream: StreamId(FIRST),
        lane: LaneId(0),
        filled: 99,
        opened: 92,
        clock: 100,
        live: 99,
        units: 100,
    };
    (0..2 * VICTIMS).for_each(|_| policy.on_victim(victim));
    assert_eq!(policy.chain.end, FIRST + 4);
    (0..VICTIMS).for_each(|_| policy.on_victim(Victim { opened: 93, ..victim }));
    assert!(policy.chain.is_unplanned());
}

/// What became a group only now belongs to the last where it was, and so do copies of it.
#[test]
fn what_is_there_when_groups_are_planned_is_the_last() {
    let mut policy = policy(1);
    policy.chain.copies = 0;
    _ = policy.of_write(written(1));
    _ = policy.of_write(written(2));
    _ = policy.of_move(moved(2, 0));
    policy.adopt(Chain { end: FIRST + 2, ..policy.chain }, 100);
    let group =
        |policy: &Policy, stream, at| policy.group(Filled { lane: LaneId(3), stream: StreamId(stream), at });
    assert_eq!([FIRST, FIRST + 1].map(|stream| group(&policy, stream, 100)), [FIRST, LAST]);
    assert_eq!([FIRST, FIRST + 1].map(|stream| group(&policy, stream, 101)), [FIRST, FIRST + 1]);
    assert_eq!(
        [HOT, FIRST + 2, policy.back().0].map(|stream| group(&policy, stream, 101)),
        [LAST, LAST, FIRST]
    );
    assert_eq!([1, 2].map(|lpn| policy.of_move(moved(lpn, 0)).0), [FIRST + 1, LAST]);
}

/// A plan is for what comes after it: whatever the chain was before and is then, a unit goes on from a group that was
/// there before, and from any other as from the last, though that has become a group.
#[test]
fn units_of_groups_that_were_not_there_are_the_last_groups() {
    let chains = (0..=4).flat_map(|groups| [0, 1].map(|hot| (FIRST + groups, hot)));
    let chain_of = |policy: &Policy, (end, hot)| {
        let mut chain = Chain { end, copies: 0, ..policy.chain };
        chain.blocks[usize::from(HOT)] = hot;
        chain
    };
    let mut kept = 0;
    for (before, after) in chains.clone().flat_map(|before| chains.clone().map(move |after| (before, after)))
    {
        let mut policy = policy(0);
        (policy.chain, policy.used) = (chain_of(&policy, before), 6);
        let (old, new) = (policy.chain, chain_of(&policy, after));
        let groups = LAST..FIRST + 4;
        groups.clone().for_each(|group| policy.units[usize::from(group)] = in_group(0, group));
        policy.adopt(new, 100);
        for group in groups {
            let from = if old.has(group) && new.has(group) { group } else { LAST };
            let to = match from {
                LAST => LAST,
                HOT => FIRST,
                group if group + 1 < new.end => group + 1,
                _ => LAST,
            };
            kept += u32::from(to != LAST);
            let found = policy.of_move(moved(u32::from(group), 0));
            assert_eq!(found, policy.stream_of_copy(to), "group {group}, {before:?} before, {after:?} after");
        }
    }
    assert!(kept > 50, "{kept}");
}

fn drive_of(blocks: u32, pages: u32, over_provisioning: f64) -> DriveConfig {
    let mut cfg = DriveConfig::default();
    let g = &mut cfg.geometry;
    (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (1, 1, 1, 1);
    (g.blocks_per_plane, g.wordlines_per_block, g.bits_per_cell, g.page_bytes) = (blocks, pages, 1, 4_096);
    (cfg.mapping.unit, cfg.drive.over_provisioning_percent) = (MappingUnit::Page, over_provisioning);
    cfg.stream = crate::ftl::stream::Config::named(NAME).unwrap();
    cfg
}

fn policy_of(drive: &mut Drive) -> &mut Policy {
    let crate::ftl::stream::Policy::Midas(policy) = &mut drive.state.ftl.moves.separation.policy else {
        unreachable!()
    };
    policy
}

/// Eighteen blocks of four units in the first group; of the second block one unit is dead, of the third two, of the
/// fourth three.
#[test]
fn a_group_above_its_size_is_first_in_first_out() {
    let mut drive = Drive::new(&drive_of(40, 4, 100.0)).unwrap();
    drive.fill(0, 72).unwrap();
    for lpn in [4, 8, 9, 12, 13, 14] {
        drive.state.ftl.trim(Lpn(lpn));
    }
    let victim = |drive: &mut Drive, size: u32| {
        let policy = policy_of(drive);
        (policy.chain.end, policy.chain.blocks[usize::from(FIRST)]) = (FIRST + 1, size);
        let crate::ftl::Moves { media, separation, .. } = &mut drive.state.ftl.moves;
        let crate::ftl::Media { cleaning, tables, space, work, .. } = media;
        cleaning.choose(separation, (tables, space, work), LaneId(0))
    };
    // Where it is not above it, the last has nothing, and `ftl.gc_victim` chooses among all.
    assert_eq!(victim(&mut drive, 18), Some(BlockId(3)));
    // The first block is due, but nothing is gained: it is the last group's, and the second is not due.
    assert_eq!(victim(&mut drive, 17), Some(BlockId(3)));
    assert_eq!(victim(&mut drive, 16), Some(BlockId(1)));
    // Once a unit of it dies it may be chosen for the last group; what is dead goes before all.
    drive.state.ftl.trim(Lpn(0));
    assert_eq!((victim(&mut drive, 17), victim(&mut drive, 16)), (Some(BlockId(0)), Some(BlockId(1))));
    drive.state.ftl.trim(Lpn(15));
    assert_eq!(victim(&mut drive, 16), Some(BlockId(3)));
    drive.check().unwrap();
}

/// Skewed loads: about as many copies as planned. Uniform ones stay in one group. (That they are fewer than without a
/// plan is for whole drives of `tests/suite/midas.rs` to say.)
#[test]
fn the_drive_copies_as_planned() {
    let cfg = drive_of(300, 64, 18.0);
    for load in ["uniform", "80/20", "90/10", "Zipf"] {
        let mut drive = Drive::new(&cfg).unwrap();
        let found = copies(&mut drive, load);
        let chain = policy_of(&mut drive).chain;
        let planned = chain.copies as f64 / ONE as f64;
        let sizes = &chain.blocks[usize::from(HOT)..usize::from(chain.end)];
        println!(
            "{load}: {found:.3} copies per write, {planned:.3} planned; blocks of hot data and groups: {sizes:?}"
        );
        assert!((planned - found).abs() < 0.1 * (1.0 + found), "{load}: {found:.3}, {planned:.3} planned");
        assert_eq!(chain.end == FIRST, load == "uniform", "{load}: {chain:?}");
    }
}

/// What is done to a policy, and what its restore says.
type Harm = (fn(&mut Policy), &'static str);

#[test]
fn a_snapshot_that_cannot_be_is_refused() {
    let refused = |harm: fn(&mut Policy)| {
        let mut found = policy(2);
        _ = found.of_write(written(3));
        harm(&mut found);
        found.restored(policy(2)).err()
    };
    assert_eq!(refused(|_| ()), None);
    let harms: [Harm; 8] = [
        (|policy| _ = policy.units.pop(), "what is known of units: 1023 entries"),
        (|policy| policy.units[3] |= 31 << GROUP, "groups of units"),
        (|policy| policy.used = 2, "units that hold data"),
        (|policy| policy.written[0] = u32::MAX, "when units were written"),
        (|policy| policy.chain.end = 11, "groups"),
        (|policy| policy.chain.valid[0] = 1 << 20, "live shares of groups"),
        (|policy| policy.since[0] = u64::MAX, "when blocks became the last group's"),
        (|policy| policy.found[0].victims = VICTIMS, "victims of groups"),
    ];
    for (harm, expected) in harms {
        let error = refused(harm).unwrap_or_default();
        assert!(error.starts_with(expected), "{error}, not {expected}");
    }
}
