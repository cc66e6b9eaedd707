//! What an observer is told of the chips: the flash says which operations begin and end, the units that they carry are
//! known here.

use super::Ftl;
use crate::flash::Flash;
use crate::flash::op::{Cause, Op, OpKind, UnitRef};
use crate::flash::rows::Outcomes;
use crate::nand::Outcome;
use crate::observe::{ChipEffect, Effect, Source};
use crate::signals::Spare;
use crate::units::{Lpn, NONE, Pun, SlotId};

impl Ftl {
    /// Tells what chips have begun and ended since this was last asked, if anybody listens.
    #[inline(always)]
    pub fn tell_steps(&mut self, flash: &mut Flash) {
        if flash.steps.on {
            self.tell_them(flash);
        }
    }

    #[cold]
    fn tell_them(&mut self, flash: &mut Flash) {
        for (id, begins) in std::mem::take(&mut flash.steps.list) {
            let op = *flash.pool.get(id);
            if begins {
                self.tell_begin(op, flash.pool.units(id));
            } else {
                self.tell_end(op);
            }
        }
    }

    /// What the spare area of a unit of flash says; nothing where none was programmed since the last erase. Of the
    /// facts those that somebody asked for; of the class only what is not locked yet, and where it is locked at all.
    pub fn spare_of(&self, unit: Pun) -> Option<Spare> {
        let lpn = self.tables.map.stored(unit);
        lpn.is_some().then(|| Spare { lpn, facts: self.tables.facts.get(unit) })
    }

    /// Tells of an operation of which the flash has no number: it was done at once.
    #[inline(always)]
    pub(super) fn tell_at_once(&mut self, op: &Op, units: &[UnitRef]) {
        if self.effects.has_chips() {
            self.tell_begin(*op, units);
            self.tell_end(*op);
        }
    }

    fn tell_chip(&mut self, effect: ChipEffect) {
        self.effects.push(Effect::Chip(effect));
    }

    #[cold]
    fn tell_begin(&mut self, op: Op, units: &[UnitRef]) {
        let (block, page) = (op.at.block, op.at.page);
        match op.kind.row().effect {
            Outcomes::Reads => {}
            Outcomes::Erases => self.tell_chip(ChipEffect::EraseBegins { block }),
            Outcomes::HidesPage => self.tell_chip(ChipEffect::PulseBegins { block, page: Some(page) }),
            Outcomes::HidesBlock => self.tell_chip(ChipEffect::PulseBegins { block, page: None }),
            Outcomes::Programs => {
                let first = Pun(op.ppn.0 * self.tables.layout.units_per_page);
                self.tell_chip(ChipEffect::ProgramBegins { block, page, first });
                for (to, unit) in (first.0..).map(Pun).zip(units).filter(|(_, unit)| unit.lpn != NONE) {
                    let from = match op.cause {
                        _ if unit.source == NONE => Source::Zero,
                        Cause::Host | Cause::Promote => Source::Slot(SlotId(unit.source)),
                        _ => Source::Flash(Pun(unit.source)),
                    };
                    self.tell_chip(ChipEffect::Spare { to, lpn: Lpn(unit.lpn), from, facts: unit.facts() });
                }
            }
        }
    }

    #[cold]
    fn tell_end(&mut self, op: Op) {
        let (block, page) = (op.at.block, op.at.page);
        let failed = op.outcome == Outcome::Fail;
        match op.kind.row().effect {
            Outcomes::Reads => {}
            Outcomes::Erases => self.tell_chip(ChipEffect::EraseEnds { block }),
            Outcomes::Programs => self.tell_chip(ChipEffect::ProgramEnds { block, page, failed }),
            Outcomes::HidesBlock => self.tell_chip(ChipEffect::LockBlock { block, failed }),
            Outcomes::HidesPage => self.tell_chip(match op.kind {
                OpKind::Scrub => ChipEffect::Scrub { block, page, failed },
                OpKind::Reprogram => ChipEffect::Reprogram { block, page, failed },
                _ => ChipEffect::LockPage { block, page, failed },
            }),
        }
    }
}
