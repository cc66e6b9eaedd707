//! Programs of what the host wrote: dirty slots are made whole, gathered in pages, and programmed.

use super::Below;
use super::commands::Commands;
use super::slots::Slots;
use super::staging::SlotState;
use super::writes::Writes;
use crate::ftl::Paged;
use crate::ftl::write::waits::Lack;
use crate::ftl::{End, Found, Programmed};
use crate::nand::Outcome;
use crate::observe::Effect;
use crate::restore::{MOST, Verdict, ensure};
use crate::sections::Sections;
use crate::signals::Status;
use crate::timers::Timer;
use crate::units::{CommandId, OpId, SimTime, SlotId};
use serde::{Deserialize, Serialize};

/// How far programs are.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Programs {
    flushing: bool,
    /// Everything dirty is to be written, whether somebody waits or not.
    pub hurrying: bool,
    pub under_way: u32,
    at_most: u32,
    /// Something is looked at before programs start.
    #[serde(skip)]
    looks_first: bool,
    /// Until when the page now gathering may wait; zero if none does.
    gather_until: SimTime,
}

impl Programs {
    /// None yet; with a buffer of one list or of two.
    // tidy: allow(float): called when a drive is built
    pub fn new(cfg: &Sections, one_list: bool) -> Self {
        Programs {
            looks_first: one_list || cfg.host.write_cap_mb_s > 0.0,
            flushing: false,
            hurrying: false,
            under_way: 0,
            at_most: cfg.host_programs_at_most(),
            gather_until: SimTime::ZERO,
        }
    }

    /// Whether another may begin.
    #[inline]
    pub fn have_room(&self) -> bool {
        self.under_way < self.at_most
    }

    /// Starts programs for as much dirty data as should be on its way and fits.
    #[inline(always)]
    pub fn start(&mut self, writes: &Writes, slots: &mut Slots, commands: &mut Commands, b: &mut Below<'_>) {
        if self.looks_first {
            look_first(writes, slots, commands, b);
        }
        while self.have_room() {
            while !b.ftl.gather.has_full_row()
                && slots.staging.oldest_dirty().is_some()
                && self.wants_flush(writes, slots, commands, b)
            {
                if !b.may_issue() {
                    b.ftl.moves.media.waits.lack(Lack::Operation);
                    return;
                }
                slots.flush_to_leave(
                    slots.staging.oldest_dirty(),
                    !writes.stalled.is_empty(),
                    &mut commands.counts,
                    b,
                );
                prepare(slots.staging.oldest_dirty(), slots, commands, b);
                look_ahead(slots, b);
            }
            if !b.ftl.gather.has_full_row()
                && (b.ftl.gather.waiting() == 0 || !self.may_pad(writes, slots, b))
            {
                return;
            }
            if !b.may_issue() {
                b.ftl.moves.media.waits.lack(Lack::Operation);
                return;
            }
            match b.ftl.program_page(b.flash) {
                Paged::Programs(op) => self.on_page(op, slots, b),
                Paged::Parked => {}
                Paged::NoRoom => return,
            }
        }
    }

    /// Whether dirty data should be on its way.
    fn wants_flush(
        &mut self,
        writes: &Writes,
        slots: &mut Slots,
        commands: &mut Commands,
        b: &mut Below<'_>,
    ) -> bool {
        if slots.rules.one_list {
            slots.evict_clean(!writes.stalled.is_empty(), &mut commands.counts, b);
            return slots.staging.wants_room() || self.must_hurry(writes, slots);
        }
        let dirty = slots.staging.dirty_beside_queues();
        self.flushing = dirty > if self.flushing { slots.rules.flush_stop } else { slots.rules.flush_start };
        self.flushing || self.must_hurry(writes, slots)
    }

    /// Whether somebody waits for what only programs can give.
    pub fn must_hurry(&self, writes: &Writes, slots: &Slots) -> bool {
        slots.urgent > 0 || self.hurrying || !writes.flushes.is_empty() || !writes.stalled.is_empty()
    }

    /// Whether less may be programmed than a row, or a page, can hold: somebody waits and nothing will join.
    fn may_pad(&mut self, writes: &Writes, slots: &Slots, b: &mut Below<'_>) -> bool {
        let alone = slots.staging.merging() == 0 && !slots.staging.oldest_dirty().is_some();
        if !alone || !self.must_hurry(writes, slots) {
            return false;
        }
        let waits_for_all = slots.urgent > 0 || self.hurrying || !writes.flushes.is_empty();
        if !waits_for_all && self.under_way > 0 && b.ftl.gather.would_pad_a_row() {
            // Writes wait for slots, and some will come.
            return false;
        }
        if slots.rules.gather_ns == 0 || !writes.flushes.is_empty() || !b.timed {
            return true;
        }
        if self.gather_until == SimTime::ZERO {
            self.gather_until = SimTime(b.now.0 + slots.rules.gather_ns);
        }
        if b.now < self.gather_until {
            b.events.set(Timer::Gather, self.gather_until);
        }
        b.now >= self.gather_until
    }

    /// Some slots are being programmed together.
    fn on_page(&mut self, op: OpId, slots: &mut Slots, b: &Below<'_>) {
        for (place, id) in (0..).zip(b.flash.of_host().slots_of(op)) {
            slots.staging.set_state(id, SlotState::Programming, false);
            let slot = slots.staging.get_mut(id);
            (slot.op, slot.place) = (op, place);
            slots.urgent -= u32::from(slot.is_awaited());
        }
        self.under_way += 1;
        self.gather_until = SimTime::ZERO;
    }

    /// A program of host data is done; `units` of its slots are told one by one with [`on_programmed`].
    pub fn on_program_done(&mut self) {
        self.under_way -= 1;
    }

    /// Takes what follows from the configuration from fresh ones, and checks the rest.
    pub fn restored(&mut self, fresh: &Programs) -> Verdict {
        (self.at_most, self.looks_first) = (fresh.at_most, fresh.looks_first);
        ensure(self.gather_until.0 < MOST, "until when data gathers")
    }
}

/// What is looked at before programs start, on drives where there is something.
#[inline(never)]
fn look_first(writes: &Writes, slots: &mut Slots, commands: &mut Commands, b: &mut Below<'_>) {
    if commands.link.may_hold_back() {
        commands.link.hold_back(b.ftl.moves.media.work.moves_data());
    }
    if slots.rules.one_list && b.ftl.moves.separation.policy.needs().promotes {
        // Not only when something is dirty: what is clean may become so.
        slots.evict_clean(!writes.stalled.is_empty(), &mut commands.counts, b);
    }
}

/// Starts loading the mapping entry of a slot that will be flushed soon.
#[inline]
fn look_ahead(slots: &Slots, b: &Below<'_>) {
    let soon = slots.staging.dirty_ahead(4);
    if soon.is_some() {
        b.ftl.moves.media.tables.map.prefetch(slots.staging.get(soon).lpn.0);
    }
}

/// Makes a dirty slot ready: at once if it is whole or nothing is stored, else after reading the rest.
fn prepare(slot: SlotId, slots: &mut Slots, commands: &mut Commands, b: &mut Below<'_>) {
    let (lpn, mask) = (slots.staging.get(slot).lpn, slots.staging.get(slot).mask);
    let missing = slots.shape.full & !mask;
    if missing == 0 {
        return slots.gather(slot, false, b);
    }
    match b.ftl.read_rest(b.flash, slot.0, (lpn, missing, slots.shape.bytes(missing))) {
        Found::Nowhere => slots.gather(slot, false, b),
        Found::Lost => give_up(slot, slots, commands, b),
        Found::Issued(reads) => {
            slots.staging.get_mut(slot).rest = reads;
            slots.staging.set_state(slot, SlotState::Merging, false);
        }
        Found::Joined => unreachable!("the rest of a unit is read with nothing else"),
    }
}

/// The rest of a partly written unit is read; whether its slot was given up, for which somebody may wait.
pub(super) fn on_merged(
    op: OpId,
    tag: u32,
    slots: &mut Slots,
    commands: &mut Commands,
    b: &mut Below<'_>,
) -> bool {
    let slot = SlotId(tag);
    let dead = slots.staging.get(slot).dead;
    let (end, wanted) = b.ftl.end_rest(b.flash, op, dead);
    if let End::Read { from, current: true } = end {
        let mask = wanted & !slots.staging.get(slot).mask;
        b.ftl.moves.media.effects.push(Effect::Fill { slot, from, mask });
        slots.fill_class_from_flash(slot, from, b);
        slots.staging.get_mut(slot).mask |= mask;
    }
    slots.staging.get_mut(slot).rest -= 1;
    let found = slots.staging.get(slot);
    if found.rest > 0 {
        return false;
    }
    if found.dead {
        slots.release(slot, b);
        return true;
    }
    if found.mask == slots.shape.full {
        let hurry = found.waiter.is_some();
        slots.gather(slot, hurry, b);
    } else if b.may_issue() {
        // Reads again, if the rest is elsewhere, or ends with a loss.
        prepare(slot, slots, commands, b);
    } else {
        let hurry = found.is_awaited();
        slots.staging.set_state(slot, SlotState::Dirty, hurry);
        b.ftl.moves.media.waits.lack(Lack::Operation);
    }
    false
}

/// The rest of a partly written unit is lost: so is the unit, for a unit is readable as a whole or not at all. Who
/// waits for it is told; whoever reads it later will be.
fn give_up(slot: SlotId, slots: &mut Slots, commands: &mut Commands, b: &mut Below<'_>) {
    let found = *slots.staging.get(slot);
    slots.urgent -= u32::from(found.is_urgent());
    if found.waiter.is_some() {
        slots.staging.get_mut(slot).waiter = CommandId::NONE;
        commands.table.get_mut(found.waiter).status = Status::Uncorrectable;
        let done = Programmed { slot, outcome: Outcome::Fail, queued: b.now, times: Default::default() };
        commands.slot_is_safe(found.waiter, &done, slots, b);
    }
    b.ftl.moves.media.waits.come(Lack::Slot);
    b.ftl.moves.media.effects.push(Effect::Lose { lpn: found.lpn });
    if found.newer.is_some() {
        slots.follow_up(slot, found.newer, b);
    } else {
        slots.release(slot, b);
    }
}

/// A slot's data is in flash, or its program failed.
pub(super) fn on_programmed(
    done: &Programmed,
    slots: &mut Slots,
    commands: &mut Commands,
    b: &mut Below<'_>,
) {
    let slot = done.slot;
    let found = *slots.staging.get(slot);
    if found.dead {
        slots.release(slot, b);
        return;
    }
    if done.outcome == Outcome::Fail {
        // It is gathered again already, before all others.
        slots.urgent += u32::from(found.is_awaited());
        slots.staging.set_state(slot, SlotState::Gathered, false);
        return;
    }
    if found.waiter.is_some() {
        slots.staging.get_mut(slot).waiter = CommandId::NONE;
        commands.slot_is_safe(found.waiter, done, slots, b);
    }
    if found.newer.is_some() {
        slots.follow_up(slot, found.newer, b);
    } else if slots.rules.write_back && !found.leaving {
        slots.staging.get_mut(slot).promoted = false;
        slots.staging.set_state(slot, SlotState::Clean, false);
    } else {
        slots.release(slot, b);
    }
}
