//! Conservation: what the host interface counts as it goes, counted again.

use super::Host;
use super::staging::{Slot, SlotState};
use crate::ftl::write::gather::Gather;
use crate::signals::OpCode;
use crate::units::{CommandId, SlotId};

impl Host {
    /// Checks that counts and lists agree with slots and commands (slow); the error names the first that does not.
    pub fn check(&self, gather: &Gather) -> Result<(), String> {
        let agree = |what: &str, said: u32, counted: u32| {
            if said == counted { Ok(()) } else { Err(format!("{what}: {counted}, the count says {said}")) }
        };
        let slots = || (0..self.slots.staging.len()).map(|slot| self.slots.staging.get(SlotId(slot)));
        let count = |is: fn(&Slot) -> bool| slots().filter(|slot| is(slot)).count() as u32;
        let unclean = |slot: &Slot| !matches!(slot.state, SlotState::Free | SlotState::Clean);
        agree("slots not in flash", self.slots.staging.unclean(), count(unclean))?;
        agree(
            "slots being merged",
            self.slots.staging.merging(),
            count(|slot| slot.state == SlotState::Merging),
        )?;
        agree(
            "slots gathered",
            self.slots.staging.gathered(),
            count(|slot| slot.state == SlotState::Gathered),
        )?;
        agree(
            "units that wait for a page",
            gather.waiting() + gather.parked(),
            self.slots.staging.gathered(),
        )?;
        agree("slots that leave", self.slots.staging.leaving(), count(|slot| slot.leaving))?;
        let waiting =
            |slot: &Slot| matches!(slot.state, SlotState::Dirty | SlotState::Gathered) && !slot.dead;
        let dirty =
            |slot: &Slot| matches!(slot.state, SlotState::Dirty | SlotState::Gathered | SlotState::Merging);
        agree("slots to be flushed", self.slots.staging.dirty(), count(dirty))?;
        agree("urgent slots", self.slots.urgent, count(|slot| slot.is_urgent() && !slot.dead))?;
        for id in (0..self.slots.staging.len()).map(SlotId) {
            let slot = self.slots.staging.get(id);
            let gathered = (slot.state == SlotState::Gathered).then_some(slot.lpn);
            if gather.waits(id) != gathered {
                return Err(format!(
                    "slot {} is {:?} and waits for a page as {gathered:?}",
                    id.0, slot.state
                ));
            }
            if (waiting(slot) || slot.state == SlotState::Clean)
                && self.newest_of(id) != self.slots.staging.find(slot.lpn)
            {
                return Err(format!("slot {} of unit {} is not found there", id.0, slot.lpn.0));
            }
        }
        self.check_commands()
    }

    fn newest_of(&self, mut id: SlotId) -> SlotId {
        while self.slots.staging.get(id).newer.is_some() {
            id = self.slots.staging.get(id).newer;
        }
        id
    }

    /// A write awaits exactly the slots that name it.
    fn check_commands(&self) -> Result<(), String> {
        let mut waited_for = vec![0; self.commands.table.capacity()];
        for slot in (0..self.slots.staging.len()).map(|slot| self.slots.staging.get(SlotId(slot))) {
            if slot.state != SlotState::Free && slot.waiter.is_some() {
                waited_for[slot.waiter.index()] += 1;
            }
        }
        for (id, waits) in (0..).map(CommandId).zip(waited_for) {
            let entry = self.commands.table.get(id);
            if entry.command.op == OpCode::Write && entry.outstanding != waits {
                return Err(format!("write {} awaits {} slots, {waits} name it", id.0, entry.outstanding));
            }
        }
        Ok(())
    }
}
