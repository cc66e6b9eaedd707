//! A bare die of two planes of TLC that programs one-shot, given operations together: which of them are done together.

use crate::drive_config::DriveConfig;
use crate::events::EventQueue;
use crate::flash::op::{Cause, Op, OpKind};
use crate::flash::{Flash, Room};
use crate::nand::{Chip, PageAddress};
use crate::units::{OpId, Ppn, SimTime};

/// A page: its plane, its block there, and which page of that.
type Place = (u32, u32, u32);

/// The pages of a wordline.
fn wordline(plane: u32, block: u32, number: u32) -> Vec<Place> {
    (0..3).map(|page| (plane, block, 3 * number + page)).collect()
}

fn flash(multi_plane: bool) -> (Flash, u32) {
    let mut cfg = DriveConfig::default();
    let g = &mut cfg.geometry;
    (g.channels, g.chips_per_channel, g.planes_per_die, g.bits_per_cell) = (1, 1, 2, 3);
    (cfg.cell.one_shot, cfg.scheduling.multi_plane) = (true, multi_plane);
    let g = &cfg.geometry;
    let mut chip = Chip::new(g.planes(), g.blocks_per_plane, g.pages_per_block(), &cfg.reliability, 1);
    // Blocks from 8 on hold data.
    for block in [8, 9].into_iter().flat_map(|block| [block, g.blocks_per_plane + block]) {
        (0..g.pages_per_block()).for_each(|page| _ = chip.program(block, page));
    }
    let policies = (crate::flash::read_voltage::Policy::build(&cfg.read_voltage), &cfg.preemption);
    (Flash::new(&cfg, policies, chip, Room { host: 16, moves: 4 }), g.blocks_per_plane)
}

/// The places that were done together, one after the other, and how many groups of several planes were counted.
fn together(multi_plane: bool, kind: OpKind, places: &[Place]) -> (Vec<Vec<Place>>, u64) {
    let (mut flash, blocks_per_plane) = flash(multi_plane);
    let mut events = EventQueue::with_capacity(16);
    let ids: Vec<OpId> = places
        .iter()
        .map(|&(plane, block, page)| {
            let at = PageAddress { die: 0, plane, block: plane * blocks_per_plane + block, page };
            flash.pool.add(Op::new(kind, Cause::Host, Ppn(0), at, (page % 3) as u8), &[])
        })
        .collect();
    flash.give(&ids, SimTime::ZERO, &mut events);
    let mut groups: Vec<(u64, Vec<Place>)> = Vec::new();
    while let Some((now, event, id)) = events.pop() {
        flash.now = now;
        flash.on_event(event, id, now, &mut events);
        for done in std::mem::take(&mut flash.done) {
            let place = places[ids.iter().position(|&id| id == done).unwrap()];
            // Who is in the array together has been there as long.
            let began = now.0 - flash.pool.spent(done).times.array - flash.pool.spent(done).times.transfer;
            let began = if kind.reads() { flash.pool.spent(done).times.die_wait } else { began };
            match groups.last_mut().filter(|(at, _)| *at == began) {
                Some((_, group)) => group.push(place),
                None => groups.push((began, vec![place])),
            }
        }
    }
    (groups.into_iter().map(|(_, group)| group).collect(), flash.record.counts.groups)
}

#[test]
fn pages_of_a_wordline_are_one_program_with_those_of_other_planes() {
    let row = [wordline(0, 0, 0), wordline(1, 5, 0)].concat();
    assert_eq!(together(true, OpKind::Program, &row), (vec![row.clone()], 1));
    // A plane programs one wordline of one block; another block's goes with what comes next.
    let three = [wordline(0, 0, 0), wordline(0, 1, 0), wordline(1, 5, 0)].concat();
    let apart = vec![three[..3].to_vec(), three[3..].to_vec()];
    assert_eq!(together(true, OpKind::Program, &three), (apart, 1));
    // Wordlines of other numbers do not join.
    let two = [wordline(0, 0, 0), wordline(0, 0, 1)].concat();
    let apart = vec![two[..3].to_vec(), two[3..].to_vec()];
    assert_eq!(together(true, OpKind::Program, &two), (apart, 0));
    let other = [wordline(1, 5, 0), wordline(0, 0, 0), wordline(1, 5, 1)].concat();
    let apart = vec![other[..6].to_vec(), other[6..].to_vec()];
    assert_eq!(together(true, OpKind::Program, &other), (apart, 1));
    // Planes that never work together program a wordline each.
    let apart = vec![row[..3].to_vec(), row[3..].to_vec()];
    assert_eq!(together(false, OpKind::Program, &row), (apart, 0));
}

#[test]
fn reads_of_one_page_number_pass_those_of_its_wordline() {
    let row = [wordline(0, 8, 4), wordline(1, 9, 4)].concat();
    let by_type: Vec<_> = (0..3).map(|page| vec![row[page], row[3 + page]]).collect();
    assert_eq!(together(true, OpKind::Read, &row), (by_type, 3));
    // They pass nothing else.
    let behind = [vec![(0, 8, 12), (0, 8, 0)], vec![(1, 9, 12)]].concat();
    let (groups, count) = together(true, OpKind::Read, &behind);
    assert_eq!((groups.len(), count), (3, 0));
    let (groups, count) = together(false, OpKind::Read, &row);
    assert_eq!((groups.len(), count), (6, 0));
}
