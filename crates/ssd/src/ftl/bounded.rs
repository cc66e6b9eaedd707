//! What must wait until the locks that it will owe fit in (`ftl.sanitize.max_exposed_ms`): programs of the host's and
//! trims; and what dies do beside locks.

use crate::flash::{Flash, Waiting};
use crate::ftl::stream::StreamId;
use crate::ftl::tables::Tables;
use crate::ftl::work::Work;
use crate::ftl::work::bound::{Bound, Kill};
use crate::ftl::write::owing::Kills;
use crate::ftl::write::waits::Lack;
use crate::ftl::{Ftl, Media};
use crate::units::{LaneId, Lpn, OpId};

impl Ftl {
    /// Whether the units of a stream that go next may be programmed. Which these are is not known where data is sorted,
    /// or others fill their page up: then there must be room and time for a page of them wherever they lie.
    pub(in crate::ftl) fn may_program(&mut self, flash: &Flash, stream: StreamId) -> bool {
        let Media { space, locks, tables, work, .. } = &mut self.moves.media;
        let (per_page, lanes) = (tables.layout.units_per_page, tables.layout.lanes);
        let mut kills = Kills::NONE;
        let mut next = (0..per_page as usize).map(|nth| self.gather.nth(stream, nth));
        let are_known =
            next.all(|lpn| lpn.map(|lpn| kills.add_copy(tables, (&locks.bound, flash), lpn)).is_some());
        let mut may_owe =
            |kills: &[Kill]| space.may_owe(&locks.bound, (tables, work), flash.passing(), kills);
        if are_known {
            return may_owe(kills.all());
        }
        let copies = per_page.min(self.gather.waiting());
        let mut may = true;
        // All of them are asked: each that lacks room is cleaned.
        (0..lanes).map(LaneId).for_each(|lane| may &= may_owe(&[Kill { lane, copies, reads: 0 }]));
        may
    }

    /// The host's next program waits: for locks, and not only for a page, if a lane has one for it.
    #[cold]
    pub(in crate::ftl) fn hold(&mut self, flash: &Flash, stream: StreamId) {
        let Media { space, locks, tables, work, waits, .. } = &mut self.moves.media;
        let mut lanes = (0..tables.layout.lanes).map(LaneId);
        match lanes.any(|lane| space.allocator.has_host_page(lane, stream)) {
            true => locks.bound.hold(flash.now),
            false => locks.bound.let_go(work, flash.now),
        }
        waits.lack(Lack::Page);
    }

    /// Whether a logical unit may be trimmed that this program carries, if any does. If not, somebody waits for a page,
    /// and for time.
    #[cold]
    pub fn may_trim(&mut self, flash: &Flash, lpn: Lpn, program: OpId) -> bool {
        let Media { space, locks, tables, work, waits, .. } = &mut self.moves.media;
        let mut kills = Kills::NONE;
        kills.add_copy(tables, (&locks.bound, flash), lpn);
        if program.is_some() {
            let page = flash.pool.get(program).ppn;
            kills.add(tables.layout.lane_of(tables.layout.block_of_page(page).0), 0);
        }
        let may = space.may_owe(&locks.bound, (tables, work), flash.passing(), kills.all());
        match may {
            true => {
                locks.bound.add_reads(kills.all());
                locks.bound.let_go(work, flash.now);
            }
            false => {
                locks.bound.hold(flash.now);
                waits.lack(Lack::Page);
            }
        }
        may
    }

    /// What a drive owes is looked at, now that nothing is left to carry: a group of dies does nothing any more but
    /// what it owes, or all else again. Returns whether there is something to carry.
    pub(crate) fn tend_bound(&mut self, flash: &mut Flash) -> bool {
        let Media { locks, tables, work, .. } = &mut self.moves.media;
        for group in 0..locks.bound.groups() {
            look_at_reads(&mut locks.bound, (tables, work), flash, group);
            let Some(is_pressed) = locks.bound.press(work, group, flash.now) else { continue };
            for lane in locks.bound.lanes_of(group).map(LaneId) {
                for member in 0..tables.layout.span {
                    let at = tables.layout.member(tables.layout.first_block(lane), member);
                    flash.press(at.die, is_pressed);
                }
                work.looks.soon(lane);
            }
        }
        if locks.bound.presses() {
            locks.hurry_deferred(tables, work);
        }
        work.has_new_candidates() || self.moves.media.is_carrying(flash)
    }
}

/// Reads for the host are counted that wait at the dies of a group for pages that owe locks.
fn look_at_reads(bound: &mut Bound, (tables, work): (&Tables, &Work), flash: &Flash, group: usize) {
    let first = tables.layout.first_block(LaneId(bound.lanes_of(group).start));
    let dies = (0..tables.layout.span).map(|member| tables.layout.member(first, member).die);
    let lines = dies.map(|die| Waiting::at(flash, die));
    let waiting = lines.clone().map(|line| line.count()).max().unwrap_or_default();
    let of_owed =
        |bound: &Bound| lines.map(|line| line.reads(|page| bound.is_owed(page))).max().unwrap_or_default();
    bound.note_reads(work, (group, waiting), of_owed, flash.now);
}
