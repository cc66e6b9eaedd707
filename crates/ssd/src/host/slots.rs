//! The DRAM buffer: slots with what is known of the data in them.

use super::Below;
use super::buffer::{self, Rules};
use super::command::CommandTable;
use super::hotness::{self, Hits};
use super::space::UnitShape;
use super::staging::{OneList, SlotState, Staging};
use crate::ftl::stream::{Needs, Said, Streams};
use crate::ftl::write::waits::Lack;
use crate::observe::{Effect, Source};
use crate::restore::{Verdict, alike, ensure};
use crate::sections::Sections;
use crate::units::SlotId;
use serde::{Deserialize, Serialize};

/// One slot of so many is kept free or leaving where clean and dirty data leave in one order (assumed).
const SLOTS_FOR_ONE_FREE: u32 = 64;

/// How data leaves a buffer of so many slots, if clean and dirty data do in one order. Those that nothing can be in are
/// always free.
fn one_list(rules: &Rules, slots: u32, cfg: &Sections) -> Option<OneList> {
    let all = slots.max(rules.slots);
    let kept_free = (all / SLOTS_FOR_ONE_FREE).max(2 * cfg.units_per_program()).min(all / 2).max(1);
    rules.one_list.then_some(OneList { kept_free: kept_free.saturating_sub(all - slots) })
}

/// Slots, and what is kept of the data in each.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Slots {
    pub shape: UnitShape,
    pub rules: Rules,
    pub staging: Staging,
    /// By slot: what the host said with its last write; empty if nobody asks.
    pub said: Vec<Said>,
    /// Accesses to each slot's data, and what they amount to; empty if nobody counts.
    pub hits: Vec<Hits>,
    pub hotness: hotness::Policy,
    /// Uses of slots are followed: they are counted, or decide what leaves.
    pub follows: bool,
    /// Slots that commands or newer slots wait for to be in flash, and that can be worked on.
    pub urgent: u32,
}

impl Slots {
    /// Empty ones, for so many commands.
    pub fn new(
        cfg: &Sections,
        (buffer, hotness): (&buffer::Config, &hotness::Config),
        needs: Needs,
        (streams, queued): (Streams, u32),
    ) -> Self {
        let rules = buffer::Policy::build(buffer).rules(cfg.unit_bytes());
        let hotness = hotness::Policy::build(hotness);
        let slots = rules.staging_slots(cfg, streams, queued);
        let aside = slots - rules.staging_slots(cfg, Streams::shared(1), queued);
        let one_list = one_list(&rules, slots - aside - queued, cfg);
        let flushes = cfg.queues.count * cfg.queues.depth;
        Slots {
            shape: UnitShape::new(cfg.unit_bytes()),
            rules,
            staging: Staging::new((slots, aside), flushes, one_list).with_queues(queued > 0),
            said: vec![Said::default(); if needs.hints { slots as usize } else { 0 }],
            hits: vec![Hits::default(); if hotness.counts() { slots as usize } else { 0 }],
            follows: hotness.counts() || rules.one_list,
            hotness,
            urgent: 0,
        }
    }

    /// Slots for data in several streams are used once there is such.
    #[inline]
    pub fn use_aside(&mut self, b: &mut Below<'_>) {
        if self.staging.has_aside() && b.ftl.moves.separation.tells_apart() {
            self.staging.give_aside();
            b.ftl.moves.media.waits.come(Lack::Slot);
        }
    }

    /// A slot is whole: it may be programmed.
    pub fn gather(&mut self, id: SlotId, first: bool, b: &mut Below<'_>) {
        let slot = self.staging.get(id);
        let bytes = self.shape.bytes(slot.mask);
        // Where much is gathered, what somebody waits for goes first.
        let first = first || self.staging.has_queues() && slot.is_awaited();
        if slot.promoted {
            b.ftl.offer_promoted(id, slot.lpn, bytes);
        } else {
            b.ftl.offer(id, slot.lpn, bytes, self.said_of(id), first);
        }
        self.staging.set_state(id, SlotState::Gathered, false);
        if let Some(holders) = &mut b.flash.holders {
            holders.programs.note_gathered(id.index(), b.now);
        }
        self.use_aside(b);
    }

    /// The older version of a unit is in flash: the newer takes what it lacks from it and may go.
    pub fn follow_up(&mut self, old: SlotId, new: SlotId, b: &mut Below<'_>) {
        let fill = self.staging.get(old).mask & !self.staging.get(new).mask;
        if fill != 0 {
            b.ftl.moves.media.effects.push(Effect::Fill { slot: new, from: Source::Slot(old), mask: fill });
            self.fill_class_from_slot(new, old, b);
            self.staging.get_mut(new).mask |= fill;
        }
        self.release(old, b);
        let hurry = self.staging.get(new).is_awaited();
        self.urgent += u32::from(hurry);
        self.staging.set_state(new, SlotState::Dirty, hurry);
    }

    /// Gives a slot up.
    #[inline]
    pub fn release(&mut self, slot: SlotId, b: &mut Below<'_>) {
        self.staging.release(slot);
        b.ftl.moves.media.effects.push(Effect::Release { slot });
    }

    /// Gives up all clean slots: for a change of executor or a direct write below the buffer.
    pub fn drop_clean(&mut self, b: &mut Below<'_>) {
        while let Some(slot) = self.staging.oldest_clean() {
            self.release(slot, b);
        }
    }

    /// What the host said with the last write to a slot, if anybody asks.
    #[inline]
    pub fn said_of(&self, slot: SlotId) -> Said {
        self.said.get(slot.index()).copied().unwrap_or_default()
    }

    /// Takes what follows from the configuration from fresh ones, and checks the rest, as far as slots alone say; there
    /// are so many units, commands and operations.
    pub fn restored(&mut self, fresh: Slots, units: u64, table: &CommandTable, operations: usize) -> Verdict {
        (self.shape, self.rules) = (fresh.shape, fresh.rules);
        (self.hotness, self.follows) = (fresh.hotness, fresh.follows);
        alike("accesses to slots", &self.hits, &fresh.hits)?;
        // At 255 both are halved.
        ensure(self.hits.iter().all(|hits| hits.reads.max(hits.writes) < u8::MAX), "accesses to slots")?;
        self.staging.restored(&fresh.staging, table.capacity(), operations)?;
        let slots = (0..self.staging.len()).map(|slot| self.staging.get(SlotId(slot)));
        let used = slots.filter(|slot| slot.state != SlotState::Free);
        ensure(used.clone().all(|slot| u64::from(slot.lpn.0) < units), "a slot of a unit that is not there")?;
        ensure(used.clone().all(|slot| slot.mask & !self.shape.full == 0), "granules of a slot")
    }
}
