//! What an observer is told of the chips: the flash says which operations begin and end, the units that they carry are
//! known here.

use crate::flash::Flash;
use crate::flash::op::{Cause, Op, OpKind, UnitRef};
use crate::flash::rows::Outcomes;
use crate::ftl::tables::layout::Layout;
use crate::nand::Outcome;
use crate::observe::{ChipEffect, Effect, Effects, Source};
use crate::units::{Lpn, NONE, Pun, SlotId};

impl Effects {
    /// Tells what chips have begun and ended since this was last asked, if anybody listens.
    #[inline(always)]
    pub(crate) fn tell_steps(&mut self, layout: &Layout, flash: &mut Flash) {
        if flash.steps.on {
            self.tell_them(layout, flash);
        }
    }

    #[cold]
    fn tell_them(&mut self, layout: &Layout, flash: &mut Flash) {
        for (id, begins) in std::mem::take(&mut flash.steps.list) {
            let op = *flash.pool.get(id);
            if begins {
                self.tell_begin(layout, op, flash.pool.units(id));
            } else {
                self.tell_end(layout, op);
            }
        }
    }

    /// Tells of an operation of which the flash has no number: it was done at once.
    #[inline(always)]
    pub(in crate::ftl) fn tell_at_once(&mut self, layout: &Layout, op: &Op, units: &[UnitRef]) {
        if self.has_chips() {
            self.tell_parts(layout, *op, units);
        }
    }

    /// Where a page has several parts, all are done: what is programmed there is known of with the last.
    #[cold]
    #[inline(never)]
    fn tell_parts(&mut self, layout: &Layout, op: Op, units: &[UnitRef]) {
        if layout.width == 1 || op.kind.erases() {
            self.tell_begin(layout, op, units);
            return self.tell_end(layout, op);
        }
        for (part, at) in (1..).zip(layout.parts(op.ppn)) {
            self.tell_begin(layout, Op { at, ..op }, if part == layout.width { units } else { &[] });
        }
        layout.parts(op.ppn).for_each(|at| self.tell_end(layout, Op { at, ..op }));
    }

    fn tell_chip(&mut self, effect: ChipEffect) {
        self.push(Effect::Chip(effect));
    }

    #[cold]
    fn tell_begin(&mut self, layout: &Layout, op: Op, units: &[UnitRef]) {
        let (block, page) = (op.at.block, op.at.page);
        match op.kind.row().effect {
            Outcomes::Reads => {}
            Outcomes::Erases => self.tell_chip(ChipEffect::EraseBegins { block }),
            Outcomes::HidesPage => self.tell_chip(ChipEffect::PulseBegins { block, page: Some(page) }),
            Outcomes::HidesBlock => self.tell_chip(ChipEffect::PulseBegins { block, page: None }),
            Outcomes::Programs => {
                let units_of_page = op.ppn.0 * layout.units_per_page;
                let first = Pun(units_of_page + page % layout.deep * layout.units_per_read);
                let one_bit = layout.is_one_bit(&op);
                self.tell_chip(ChipEffect::ProgramBegins { block, page, first, one_bit });
                for (to, unit) in (units_of_page..).map(Pun).zip(units).filter(|(_, unit)| unit.lpn != NONE) {
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
    fn tell_end(&mut self, layout: &Layout, op: Op) {
        let (block, page) = (op.at.block, op.at.page);
        let failed = op.outcome == Outcome::Fail;
        match op.kind.row().effect {
            Outcomes::Reads => {}
            Outcomes::Erases => self.tell_chip(ChipEffect::EraseEnds { block }),
            Outcomes::Programs => self.tell_chip(ChipEffect::ProgramEnds { block, page, failed }),
            Outcomes::HidesBlock => self.tell_chip(ChipEffect::LockBlock { block, failed }),
            Outcomes::HidesPage => self.tell_chip(match op.kind {
                OpKind::Scrub => {
                    let one_bit = layout.is_one_bit(&op);
                    ChipEffect::Scrub { block, page, one_bit, failed }
                }
                OpKind::Reprogram => ChipEffect::Reprogram { block, page, failed },
                _ => ChipEffect::LockPage { block, page, failed },
            }),
        }
    }
}
