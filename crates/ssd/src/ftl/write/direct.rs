//! Writing below the buffer: whole units one after another, without operations or time.

use crate::executor::Pace;
use crate::flash::Flash;
use crate::flash::op::{Cause, Op, OpKind, UNITS_AT_MOST, UnitRef};
use crate::ftl::Ftl;
use crate::ftl::stream::{Said, StreamId, Streams};
use crate::ftl::tables::facts::Death;
use crate::nand::Outcome;
use crate::observe::Effect;
use crate::signals::Facts;
use crate::units::{Lpn, NONE, Pun};
use serde::{Deserialize, Serialize};

/// Units of several streams that are written without operations and wait until they make a page.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Direct {
    /// By stream; nothing where the host writes to but one.
    waiting: Vec<Vec<u32>>,
}

impl Direct {
    /// Nothing waits.
    pub fn new(streams: Streams, units_per_page: u32) -> Self {
        let count = if streams.of_host.is_power_of_two() { 0 } else { usize::from(streams.count) };
        let line = || Vec::with_capacity(units_per_page as usize);
        Direct { waiting: (0..count).map(|_| line()).collect() }
    }

    /// Whether it is as between two calls from outside: nothing waits.
    pub fn is_idle(&self) -> bool {
        self.waiting.iter().all(Vec::is_empty)
    }

    /// Gives up the units that wait, for which there is no room: how many there were.
    pub fn drop_rest(&mut self) -> usize {
        self.waiting.iter_mut().map(|units| units.drain(..).count()).sum()
    }
}

/// What came of a page that was written without operations.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Written {
    /// It is written.
    Done,
    /// It is, and there is something to carry out.
    Stop,
    /// Its program failed.
    Failed,
    /// There is no page for it.
    NoRoom,
}

impl Ftl {
    /// Writes whole units one after another without operations or time: the quick way to a full drive. Cleaning is
    /// done as needed. Returns how many units were written before there was something to carry out or a program
    /// failed, as an error if before no page was left. Units that are `moved` stand for what cleaning has moved: the
    /// host has not written them, and blocks grow no older by them.
    ///
    /// Where data is separated some of them may wait, and be written by the next call: `direct` is not idle then.
    pub fn write_directly(&mut self, flash: &mut Flash, lpns: &[u32], moved: bool) -> Result<usize, usize> {
        if !self.direct.waiting.is_empty() {
            return self.sort_directly(flash, lpns, moved);
        }
        let stream = StreamId(self.moves.media.space.allocator.streams().of_host.trailing_zeros() as u8);
        let units_per_page = self.moves.media.tables.layout.units_per_page as usize;
        for (n, page_units) in lpns.chunks(units_per_page).enumerate() {
            self.moves.media.tables.prefetch_ahead(lpns, n * units_per_page, page_units.len());
            for &lpn in page_units {
                self.moves.separation.of_write(
                    self.moves.media.space.allocator.streams(),
                    self.moves.media.tables.clock,
                    (Lpn(lpn), Said::default(), false),
                );
            }
            match self.write_page(flash, stream, page_units, moved) {
                Written::Done => {}
                Written::Stop => return Ok(((n + 1) * units_per_page).min(lpns.len())),
                Written::Failed => return Ok(n * units_per_page),
                Written::NoRoom => return Err(n * units_per_page),
            }
        }
        Ok(lpns.len())
    }

    /// The same where the host's data goes to several streams: units wait until those of their stream make a page. When
    /// all have been asked about, what is left goes to pages together.
    fn sort_directly(&mut self, flash: &mut Flash, lpns: &[u32], moved: bool) -> Result<usize, usize> {
        let units_per_page = self.moves.media.tables.layout.units_per_page as usize;
        for at in 0..self.direct.waiting.len() {
            if self.direct.waiting[at].len() == units_per_page {
                match self.write_waiting(flash, at, moved) {
                    Written::Done => {}
                    Written::NoRoom => return Err(0),
                    _ => return Ok(0),
                }
            }
        }
        for (n, &lpn) in lpns.iter().enumerate() {
            self.moves.media.tables.prefetch_ahead(lpns, n, 1);
            let at = self
                .moves
                .separation
                .of_write(
                    self.moves.media.space.allocator.streams(),
                    self.moves.media.tables.clock,
                    (Lpn(lpn), Said::default(), false),
                )
                .index();
            self.direct.waiting[at].push(lpn);
            if self.direct.waiting[at].len() == units_per_page {
                match self.write_waiting(flash, at, moved) {
                    Written::Done => {}
                    Written::NoRoom => return Err(n + 1),
                    _ => return Ok(n + 1),
                }
            }
        }
        while let Some(at) = self.direct.waiting.iter().position(|units| !units.is_empty()) {
            self.fill_up_directly(at);
            match self.write_waiting(flash, at, moved) {
                Written::Done => {}
                Written::NoRoom => return Err(lpns.len()),
                _ => break,
            }
        }
        Ok(lpns.len())
    }

    /// Units of other streams take the places that those of a stream would leave empty in a page.
    fn fill_up_directly(&mut self, at: usize) {
        let units_per_page = self.moves.media.tables.layout.units_per_page as usize;
        let (before, rest) = self.direct.waiting.split_at_mut(at);
        let Some((units, after)) = rest.split_first_mut() else { return };
        for other in before.iter_mut().chain(after) {
            let some = other.len().min(units_per_page - units.len());
            units.extend(other.drain(..some));
            self.moves.media.work.counts.mixed_units += some as u64;
        }
    }

    /// Writes the units of a stream that wait, a page of them; they wait on if that fails.
    fn write_waiting(&mut self, flash: &mut Flash, at: usize, moved: bool) -> Written {
        let mut units = core::mem::take(&mut self.direct.waiting[at]);
        let written = self.write_page(flash, StreamId(at as u8), &units, moved);
        if matches!(written, Written::Done | Written::Stop) {
            units.clear();
        }
        self.direct.waiting[at] = units;
        written
    }

    /// Writes a page of units of a stream without operations or time.
    #[inline]
    fn write_page(
        &mut self,
        flash: &mut Flash,
        stream: StreamId,
        page_units: &[u32],
        moved: bool,
    ) -> Written {
        let units_per_page = self.moves.media.tables.layout.units_per_page;
        let lpn = Lpn(page_units[0]);
        let found = match moved {
            true => self.moves.media.space.full_page(
                &mut self.moves.media.tables,
                &self.moves.media.work,
                lpn,
                stream,
                false,
            ),
            false => self.moves.media.space.host_page(
                &mut self.moves.media.tables,
                &self.moves.media.work,
                lpn,
                stream,
                false,
            ),
        };
        let Some(found) = found else { return Written::NoRoom };
        let (block, _) = self.moves.media.tables.layout.block_of_page(found.page);
        let mut op = self.moves.media.tables.bound_for(
            block,
            self.moves.media.space.ring.op(
                &self.moves.media.tables,
                OpKind::Program,
                Cause::Host,
                found.page,
            ),
        );
        self.moves.media.erase_if_opened(flash, found);
        flash.do_at_once(&mut op);
        let class =
            if self.moves.media.locks.are_on() { self.moves.media.locks.manner.class_of(0) } else { 0 };
        let facts = Facts::NONE.with_stream(u64::from(stream.0)).with_class(class.into());
        if self.moves.media.effects.has_chips() {
            self.tell_page(op, page_units, facts);
        }
        let outcome = op.outcome;
        let count = page_units.len() as u64;
        if outcome == Outcome::Pass {
            for (i, &lpn) in (0..).zip(page_units) {
                let (lpn, to) = (Lpn(lpn), Pun(found.page.0 * units_per_page + i));
                self.moves.media.locks.forget_replica(
                    &mut self.moves.media.tables,
                    &mut self.moves.media.work,
                    lpn,
                );
                let facts = facts.with_sequence(self.gather.sequence + u64::from(i) + 1);
                self.moves.media.commit(lpn, to, facts, Death::Ended);
                self.moves.media.effects.push(Effect::Place { lpn, to });
            }
            if moved {
                self.moves.media.work.counts.moved_units[Cause::Cleaning as usize] += count;
            } else {
                self.moves.media.tables.clock += count;
                self.moves.media.work.counts.host_units += count;
                self.moves.media.space.ring.note_bypass(
                    &self.moves.media.tables,
                    &mut self.moves.media.work,
                    found.page,
                    page_units.len(),
                );
            }
        }
        if outcome == Outcome::Fail {
            for (to, &lpn) in (found.page.0 * units_per_page..).zip(page_units) {
                self.moves.media.tables.map.note_stray(Lpn(lpn), Pun(to));
                if self.moves.media.locks.are_on() {
                    self.moves.media.locks.note_stillborn(
                        &mut self.moves.media.tables,
                        &mut self.moves.media.work,
                        Pun(to),
                        facts,
                    );
                }
            }
        }
        self.gather.sequence += count;
        self.moves.media.after_program(block, outcome == Outcome::Fail);
        if found.opened && self.moves.media.work.pace == Pace::Relaxed {
            self.moves.check_lane(flash, found.lane);
        }
        match outcome {
            Outcome::Fail => Written::Failed,
            _ if !self.moves.media.outbox.is_empty() => Written::Stop,
            _ => Written::Done,
        }
    }

    /// Tells of the program of a page of whole units, which is over.
    #[cold]
    fn tell_page(&mut self, op: Op, lpns: &[u32], facts: Facts) {
        let mut units = [UnitRef::PADDING; UNITS_AT_MOST];
        for ((sequence, unit), &lpn) in (self.gather.sequence + 1..).zip(&mut units).zip(lpns) {
            *unit = UnitRef::new(lpn, NONE).with_facts(facts.with_sequence(sequence));
        }
        self.moves.media.effects.tell_at_once(&self.moves.media.tables.layout, &op, &units[..lpns.len()]);
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
        let age = |drive: &Drive| drive.blocks().full()[0].0;
        let counts = |drive: &Drive| {
            let stats = drive.stats().ftl;
            (stats.host_units, stats.moved_units[Cause::Cleaning as usize])
        };
        let before = age(&drive);
        drive.past().place(Pace::Relaxed, &[4, 5, 8, 9, 12]).unwrap();
        assert_eq!((age(&drive), counts(&drive)), (before, (16, 5)));
        drive.overwrite(&[4, 5, 8]).unwrap();
        assert_eq!((age(&drive), counts(&drive)), (before + 3, (19, 5)));
    }
}
