//! Writing below the buffer: whole units one after another, without operations or time.

use crate::executor::Pace;
use crate::flash::Flash;
use crate::flash::op::{Cause, Op, OpKind, UNITS_AT_MOST, UnitRef};
use crate::ftl::Ftl;
use crate::ftl::stream::Said;
use crate::nand::Outcome;
use crate::observe::Effect;
use crate::signals::Facts;
use crate::units::{Lpn, NONE, Pun};

impl Ftl {
    /// Writes whole units one after another without operations or time: the quick way to a full drive. Cleaning is
    /// done as needed. Returns how many units were written before there was something to carry out or a program
    /// failed, as an error if before no page was left. Units that are `moved` stand for what cleaning has moved: the
    /// host has not written them, and blocks grow no older by them.
    pub fn write_directly(&mut self, flash: &mut Flash, lpns: &[u32], moved: bool) -> Result<usize, usize> {
        let units_per_page = self.layout.units_per_page;
        for (n, page_units) in lpns.chunks(units_per_page as usize).enumerate() {
            self.prefetch_ahead(lpns, n * units_per_page as usize, page_units.len());
            let lpn = Lpn(page_units[0]);
            let stream = self.stream_of_write(lpn, Said::default());
            let Some(found) = self.host_page(lpn, stream) else {
                return Err(n * units_per_page as usize);
            };
            let mut op = self.op(OpKind::Program, Cause::Host, found.page);
            flash.do_at_once(&mut op);
            let facts = Facts::NONE.with_stream(u64::from(stream.0));
            if self.effects.has_chips() {
                self.tell_page(op, page_units, facts);
            }
            let outcome = op.outcome;
            let (block, _) = self.layout.block_of_page(found.page);
            self.blocks.program_issued(block);
            let count = page_units.len() as u64;
            if outcome == Outcome::Pass {
                for (i, &lpn) in (0..).zip(page_units) {
                    let (lpn, to) = (Lpn(lpn), Pun(found.page.0 * units_per_page + i));
                    self.replicas.forget(lpn);
                    self.commit(lpn, to, facts.with_sequence(self.sequence + u64::from(i) + 1));
                    self.effects.push(Effect::Place { lpn, to });
                }
                if moved {
                    self.counts.moved_units[Cause::Cleaning as usize] += count;
                } else {
                    self.clock += count;
                    self.counts.host_units += count;
                }
            }
            self.sequence += count;
            self.after_program(flash, block, outcome == Outcome::Fail);
            if found.opened && self.mover.pace == Pace::Relaxed {
                self.check_lane(flash, found.lane);
            }
            if !self.outbox.is_empty() || outcome == Outcome::Fail {
                let done = n + usize::from(outcome == Outcome::Pass);
                return Ok((done * units_per_page as usize).min(lpns.len()));
            }
        }
        Ok(lpns.len())
    }

    /// Tells of the program of a page of whole units, which is over.
    #[cold]
    fn tell_page(&mut self, op: Op, lpns: &[u32], facts: Facts) {
        let mut units = [UnitRef::PADDING; UNITS_AT_MOST];
        for ((sequence, unit), &lpn) in (self.sequence + 1..).zip(&mut units).zip(lpns) {
            *unit = UnitRef::new(lpn, NONE).with_facts(facts.with_sequence(sequence));
        }
        self.tell_at_once(&op, &units[..lpns.len()]);
    }

    /// Starts loading what the units after `at` will need: first where they are, then what is known of that place.
    #[inline]
    fn prefetch_ahead(&self, lpns: &[u32], at: usize, count: usize) {
        const FAR: usize = 32;
        const NEAR: usize = 16;
        for i in at..at + count {
            if let Some(&lpn) = lpns.get(i + FAR) {
                self.map.prefetch(lpn);
            }
            if let Some(&lpn) = lpns.get(i + NEAR) {
                let old = self.map.lookup(Lpn(lpn));
                if old.is_some() {
                    self.map.prefetch_live(old);
                    self.blocks.prefetch(self.layout.block_of_unit(old));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::drive_config::DriveConfig;
    use crate::executor::Pace;
    use crate::flash::op::Cause;
    use crate::{Drive, sections::MappingUnit};

    /// What stands for moved data is not written by the host: no block grows older by it.
    #[test]
    fn what_is_placed_as_moved_ages_no_block() {
        let mut cfg = DriveConfig::default();
        let g = &mut cfg.geometry;
        (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (1, 1, 1, 1);
        (g.blocks_per_plane, g.wordlines_per_block, g.bits_per_cell) = (16, 4, 1);
        (cfg.mapping.unit, cfg.drive.over_provisioning_percent) = (MappingUnit::Page, 100.0);
        let mut drive = Drive::new(&cfg).unwrap();
        drive.fill(0, 16).unwrap();
        let age = |drive: &Drive| drive.full_blocks()[0].0;
        let counts = |drive: &Drive| {
            let stats = drive.stats().ftl;
            (stats.host_units, stats.moved_units[Cause::Cleaning as usize])
        };
        let before = age(&drive);
        drive.place(Pace::Relaxed, &[4, 5, 8, 9, 12]).unwrap();
        assert_eq!((age(&drive), counts(&drive)), (before, (16, 5)));
        drive.overwrite(&[4, 5, 8]).unwrap();
        assert_eq!((age(&drive), counts(&drive)), (before + 3, (19, 5)));
    }
}
