//! A restored translation layer: every number points to something, and counts are those of what is there.

use crate::flash::Flash;
use crate::flash::op::{Op, OpKind, UnitRef};
use crate::ftl::Media;
use crate::ftl::tables::blocks::BlockState;
use crate::ftl::techniques::is_replica;
use crate::ftl::work::job::Job;
use crate::ftl::work::lane::{LaneWork, RECLAIM};
use crate::restore::{MOST, Verdict, alike, distinct, ensure, within, within_or_none};
use crate::units::{BlockId, LaneId, OpId, Pun};

/// Units that an operation carries, its lane or block, and its mode.
pub(super) fn check_op(media: &Media, flash: &Flash, id: OpId, op: &Op) -> Verdict {
    let is_of_host = op.cause.is_for_host();
    let units = flash.pool.units(id);
    within_or_none(
        "unit of an operation",
        units.iter().map(|unit| unit.lpn),
        media.tables.map.logical() as usize,
    )?;
    if !is_of_host || op.kind == OpKind::Read {
        let sources = units.iter().map(|unit| unit.source);
        within_or_none("source of an operation", sources, media.tables.map.physical() as usize)?;
    }
    let block = media.tables.layout.block_of_page(op.ppn).0;
    match op.kind {
        OpKind::Erase => ensure(op.tag == block.0, "an erase of another block"),
        kind if kind.hides() => {
            ensure(media.locks.are_on() && op.units == 1, "a lock, where nothing is locked")?;
            return ensure(op.tag == media.tables.layout.lane_of(block).0, "a lock of another lane");
        }
        _ if is_of_host => Ok(()),
        OpKind::Read if op.is_look() => {
            let is_asked = media.techniques.reads_first_pages() == Some(op.cause);
            return ensure(is_asked && op.at.page == 0, "a read for nothing");
        }
        OpKind::Read if is_replica(op.cause) => {
            within("block that takes a replica", [op.tag], flash.chip.blocks() as usize)
        }
        _ => within("lane of a move", [op.tag], media.tables.layout.lanes as usize),
    }?;
    let is_move = !is_of_host && op.kind != OpKind::Erase;
    let is_whole =
        |unit: &UnitRef| unit.lpn < media.tables.map.logical() && unit.source < media.tables.map.physical();
    // Of a page that was dealt, all may have died before it was programmed.
    let may_be_empty = !is_move || op.kind == OpKind::Program;
    ensure(may_be_empty || op.units > 0, "a move without units")?;
    ensure(!is_move || units.iter().all(is_whole), "a move of units that are not there")
}

/// A block is promised the pages for which replicas are being read. There may be more than it has left: lanes choose a
/// block before the first of them reads for it.
pub(super) fn check_promised(media: &Media, flash: &Flash) -> Verdict {
    let mut reads = vec![0u16; media.tables.replicas.promised.len()];
    for (_, op) in flash.pool.iter().filter(|(_, op)| op.kind == OpKind::Read && is_replica(op.cause)) {
        let promised = reads.get_mut(op.tag as usize).ok_or("a replica where none is made")?;
        *promised += 1;
    }
    ensure(media.tables.replicas.promised == reads, "pages of replicas on their way")
}

/// Blocks of the lane that are being erased, if all that is known of it can be.
pub(super) fn check_lane_work(media: &Media, lane: LaneId, fresh: &LaneWork) -> Result<u32, String> {
    let work = &media.work.lanes[lane.index()];
    let first = media.tables.layout.first_block(lane).0;
    let is_own = |block: BlockId| (first..first + media.tables.layout.blocks_per_lane).contains(&block.0);
    ensure(work.retire.iter().all(|&block| is_own(block)), "a block to be retired")?;
    ensure(work.erases < MOST && work.coming <= media.tables.layout.blocks_per_lane, "erases of a lane")?;
    let states = (first..first + media.tables.layout.blocks_per_lane)
        .map(|block| media.tables.blocks.state(BlockId(block)));
    let erasing = states.filter(|&state| state == BlockState::Erasing).count();
    ensure(work.destaging <= media.space.ring.owned(lane), "blocks that leave a ring")?;
    ensure(work.coming_free() as usize >= erasing, "blocks of a lane that come free")?;
    alike("streams", &work.gathered, &fresh.gathered)?;
    let own_stream = |(at, unit): (usize, &UnitRef)| unit.facts().stream() as usize == at;
    ensure(work.all_gathered().all(own_stream), "the stream of a unit on its way")?;
    let units = || work.all_gathered().map(|(_, unit)| unit);
    within("units on their way", units().map(|unit| unit.lpn), media.tables.map.logical() as usize)?;
    within("units on their way", units().map(|unit| unit.source), media.tables.map.physical() as usize)?;
    for (which, job) in work.jobs.iter().enumerate() {
        let Some(job) = job else { continue };
        ensure(is_own(job.block()), "a job in another lane")?;
        ensure(which == RECLAIM || matches!(job, Job::Empty { .. }), "a job in another's place")?;
        media.work.check_job(&media.tables, job)?;
    }
    let leaves = |&block: &BlockId| is_own(block) && media.tables.blocks.is_one_bit(block);
    ensure(work.leaving_cache.iter().all(leaves), "a block that leaves the cache because of reads")?;
    let leaving = work.leaving_cache.iter().map(|block| block.0 - first);
    distinct("blocks that leave the cache", leaving, media.tables.layout.blocks_per_lane as usize)?;
    work.candidates.restored(&fresh.candidates, |candidate| {
        is_own(candidate.block) && candidate.member < media.tables.layout.span
    })?;
    Ok(erasing as u32)
}

/// Chips hold what the firmware has programmed: live data can be read, and open blocks go on where they stand.
pub(super) fn check_pages(media: &Media, flash: &Flash) -> Verdict {
    let mut under_way = vec![0u32; flash.chip.blocks() as usize];
    for (_, op) in flash.pool.iter().filter(|(_, op)| matches!(op.kind, OpKind::Program | OpKind::Copyback)) {
        under_way[op.at.block as usize] += 1;
    }
    for block in (0..media.tables.layout.blocks()).map(BlockId) {
        let lane = media.tables.layout.lane_of(block);
        let own = media.techniques.filled(lane, block);
        let open = media.space.allocator.filled(lane, block).or(own).or(media.space.ring.filled(lane, block));
        for member in 0..media.tables.layout.span {
            let physical = media.tables.layout.member(block, member).block;
            let issued = flash.chip.programmed_pages(physical) + under_way[physical as usize];
            let expected = match (media.tables.blocks.state(block), open) {
                _ if media.tables.blocks.is_stale(block) || media.tables.blocks.is_erasing(block) => None,
                (BlockState::Free, _) => Some(0),
                (BlockState::Open, Some(next)) => {
                    let (abreast, place) = (media.tables.layout.abreast, member / media.tables.layout.wide);
                    Some((next + abreast - 1 - place) / abreast * media.tables.layout.deep)
                }
                (BlockState::Closed, _) if media.tables.blocks.is_failing(block) => None,
                (BlockState::Closed, _) if media.tables.blocks.is_one_bit(block) => {
                    let full = media.tables.layout.one_bit_pages_per_block / media.tables.layout.abreast;
                    // One whose locks fail, or that must leave because of reads, may have been closed before it was.
                    let leaves = media.work.lanes[lane.index()].leaving_cache.contains(&block);
                    let is_whole = !leaves
                        && (!media.locks.are_on()
                            || !media.locks.exposed.is_unlockable(&media.tables.layout, block));
                    Some(if is_whole { full } else { issued.min(full) })
                }
                (BlockState::Closed, _) => media.tables.replicas.filled(physical),
                _ => None,
            };
            ensure(expected.is_none_or(|pages| pages == issued), "pages programmed in a block")?;
        }
    }
    let (mut at, end) =
        (media.tables.map.next_live(0, media.tables.map.physical()), media.tables.map.physical());
    while let Some(unit) = at {
        let page = media.tables.layout.page_of_unit(Pun(unit)).0;
        let mut places = media.tables.layout.parts(page);
        let is_there = places.all(|place| place.page < flash.chip.programmed_pages(place.block));
        ensure(is_there, "valid data on an erased page")?;
        at = media.tables.map.next_live((page.0 + 1) * media.tables.layout.units_per_page, end);
    }
    Ok(())
}
