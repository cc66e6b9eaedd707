//! Reading ahead (`host.read_ahead`): what a sequential stream will ask for next is brought to the buffer before.
//!
//! Reads that adjoin are a stream. From `after` of them on the controller reads the pages that follow, up to a window
//! ahead of the last unit asked for; the next part begins when half of the window is left. These reads go behind those
//! for commands at their dies, as moves' do. What they bring lies in clean slots of the buffer, as data read there by
//! other policies does: a write or a trim of the unit ends it, and nothing is kept that flash no longer holds. A
//! command that asks for a unit under way waits for it instead of reading it once more.

use super::Below;
use super::commands::Commands;
use super::slots::Slots;
use crate::flash::op::UNITS_AT_MOST;
use crate::ftl::{Found, LastRead};
use crate::restore::{MOST, Verdict, ensure, keep_room};
use crate::sections::Sections;
use crate::units::{CommandId, Lpn, NONE, OpId};
use serde::{Deserialize, Serialize};

/// Streams that are told apart (assumed).
const STREAMS: usize = 8;

/// Reads that adjoin.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Stream {
    /// The sector behind the last of them.
    next: u64,
    /// How many there were; 0 if it is none.
    reads: u32,
    /// Units below are read, or on their way.
    until: u32,
    /// When the last of them came, counted.
    used: u64,
}

/// A read of units that follow one another, under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct UnderWay {
    pub op: OpId,
    pub first: u32,
    pub count: u32,
}

/// What is read ahead.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Ahead {
    /// Units that it is ahead at most.
    #[serde(skip)]
    window: u32,
    /// Reads that must adjoin before.
    #[serde(skip)]
    after: u32,
    streams: [Stream; STREAMS],
    uses: u64,
    pub under_way: Vec<UnderWay>,
}

impl Ahead {
    /// As a configuration asks for; none if it does not.
    pub fn of(cfg: &Sections) -> Option<Box<Self>> {
        let window = (cfg.read_ahead.size_kib << 10).div_ceil(cfg.unit_bytes());
        let streams = [Stream::default(); STREAMS];
        let mut ahead =
            Ahead { window, after: cfg.read_ahead.after, streams, uses: 0, under_way: Vec::new() };
        ahead.under_way.reserve_exact(ahead.reads_at_most());
        (cfg.read_ahead.size_kib > 0).then(|| Box::new(ahead))
    }

    /// Reads that are under way at most, a unit each.
    fn reads_at_most(&self) -> usize {
        STREAMS * (self.window as usize + UNITS_AT_MOST)
    }

    /// The stream that a read of these sectors goes on with, or begins.
    fn stream_of(&mut self, lba: u64, sectors: u32) -> &mut Stream {
        self.uses += 1;
        let known = self.streams.iter().position(|stream| stream.reads > 0 && stream.next == lba);
        let place = known.unwrap_or_else(|| {
            let oldest = (0..STREAMS).min_by_key(|&place| self.streams[place].used).unwrap_or(0);
            self.streams[oldest] = Stream::default();
            oldest
        });
        let stream = &mut self.streams[place];
        stream.next = lba.saturating_add(u64::from(sectors));
        (stream.reads, stream.used) = (stream.reads.saturating_add(1), self.uses);
        stream
    }

    /// A read has asked for its units: what follows them is read, if they follow others.
    pub fn go_on(&mut self, id: CommandId, slots: &Slots, commands: &mut Commands, b: &mut Below<'_>) {
        if !b.timed {
            return;
        }
        let entry = commands.table.get(id);
        let (lba, sectors, end) = (entry.command.lba.0, entry.command.sectors, entry.end);
        let (window, after) = (self.window, self.after);
        let stream = self.stream_of(lba, sectors);
        let begin = stream.until.max(end);
        if stream.reads < after || begin - end > window / 2 {
            return;
        }
        let logical = b.ftl.moves.media.tables.map.logical();
        let goal = end.saturating_add(window).min(logical);
        let until = self.read((begin, goal), slots, commands, b);
        let now = self.uses;
        if let Some(stream) = self.streams.iter_mut().find(|stream| stream.used == now) {
            stream.until = until;
        }
    }

    /// Reads units, and those that lie in a page with the last of them; where it has stopped.
    fn read(
        &mut self,
        (begin, goal): (u32, u32),
        slots: &Slots,
        commands: &mut Commands,
        b: &mut Below<'_>,
    ) -> u32 {
        let logical = b.ftl.moves.media.tables.map.logical();
        let (mask, mut last, mut at) = (slots.shape.full, LastRead::NONE, begin);
        while at < logical {
            // Commands go first where operations are short.
            let has_room = b.flash.host_room() > b.flash.of_host().capacity() / 4
                && self.under_way.len() < self.reads_at_most();
            if at < goal && !has_room {
                break;
            }
            let lpn = Lpn(at);
            if slots.staging.find(lpn).is_some() {
                if at >= goal {
                    break;
                }
                last = LastRead::NONE;
            } else {
                match b.ftl.read_ahead(b.flash, (lpn, slots.shape.bytes(mask)), &mut last, at >= goal) {
                    Some((op, Found::Joined)) => {
                        commands.counts.read_ahead += 1;
                        if let Some(read) = self.under_way.last_mut().filter(|read| read.op == op) {
                            read.count += 1;
                        }
                    }
                    Some((op, _)) => {
                        commands.counts.read_ahead += 1;
                        self.under_way.push(UnderWay { op, first: at, count: 1 });
                    }
                    None if at >= goal => break,
                    None => last = LastRead::NONE,
                }
            }
            at += 1;
        }
        at
    }

    /// Has a command wait for a unit that is under way; false if it is not, or another command waits for its page.
    pub fn join(
        &self,
        id: CommandId,
        (lpn, mask): (Lpn, u64),
        slots: &Slots,
        commands: &mut Commands,
        b: &mut Below<'_>,
    ) -> bool {
        let read = self.under_way.iter().find(|read| lpn.0.wrapping_sub(read.first) < read.count);
        let Some(read) = read.filter(|_| !slots.staging.find(lpn).is_some()) else { return false };
        let tag = b.flash.of_host().tag(read.op);
        if tag != NONE && tag != id.0 || !b.ftl.join_read_ahead(b.flash, read.op, (lpn, mask), id.0) {
            return false;
        }
        commands.table.get_mut(id).outstanding += u32::from(tag == NONE);
        commands.counts.buffer_misses += 1;
        commands.counts.read_ahead_awaited += 1;
        true
    }

    /// A read is over.
    pub fn end(&mut self, id: OpId) {
        if let Some(place) = self.under_way.iter().position(|read| read.op == id) {
            self.under_way.swap_remove(place);
        }
    }

    /// Takes what follows from the configuration from a fresh one, and checks the rest: there are so many units.
    pub fn restored(&mut self, fresh: &Ahead, units: u64) -> Verdict {
        (self.window, self.after) = (fresh.window, fresh.after);
        let streams = self.streams.iter();
        ensure(
            streams.clone().all(|stream| stream.next < MOST && stream.used <= self.uses),
            "streams of reads",
        )?;
        ensure(
            self.uses < MOST && streams.clone().all(|stream| u64::from(stream.until) <= units),
            "streams of reads",
        )?;
        ensure(self.under_way.len() <= self.reads_at_most(), "reads ahead under way")?;
        keep_room(&mut self.under_way, &fresh.under_way);
        Ok(())
    }
}
