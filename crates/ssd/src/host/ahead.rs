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
use crate::ftl::{Found, LastRead, Reader};
use crate::restore::{MOST, Verdict, ensure, keep_room};
use crate::sections::Sections;
use crate::units::{CommandId, Lpn, OpId};
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

/// A read of units that follow one another, in one page, under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct UnderWay {
    pub op: OpId,
    pub first: u32,
    pub count: u32,
    /// The command that waits for some of them, if one does.
    pub waits: CommandId,
    /// Which of them: a bit for each.
    asked: u32,
}

impl UnderWay {
    /// Of a read that nobody waits for.
    pub fn of(op: OpId, first: u32, count: u32) -> Self {
        UnderWay { op, first, count, waits: CommandId::NONE, asked: 0 }
    }

    /// Whether a command waits for that unit of it.
    pub fn is_asked(&self, lpn: Lpn) -> bool {
        self.asked >> (lpn.0 - self.first) & 1 == 1
    }

    /// Whether both read the same, whoever waits for it.
    pub fn is_like(&self, other: &UnderWay) -> bool {
        (self.op, self.first, self.count) == (other.op, other.first, other.count)
    }

    /// Whether what it says of who waits can be.
    fn is_possible(&self) -> bool {
        let units = 1_u64.checked_shl(self.count).map_or(0, |end| end - 1);
        (self.asked != 0) == self.waits.is_some() && u64::from(self.asked) & !units == 0
    }
}

/// What is read ahead.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Ahead {
    /// Units that it is ahead at most.
    #[serde(skip)]
    window: u32,
    /// Units of the drive.
    #[serde(skip)]
    units: u32,
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
        let units = u32::try_from(cfg.logical_units()).unwrap_or(u32::MAX);
        let (after, streams) = (cfg.read_ahead.after, [Stream::default(); STREAMS]);
        let mut ahead = Ahead { window, units, after, streams, uses: 0, under_way: Vec::new() };
        ahead.under_way.reserve_exact(ahead.reads_at_most());
        (cfg.read_ahead.size_kib > 0).then(|| Box::new(ahead))
    }

    /// Reads that are under way at most, a unit each.
    fn reads_at_most(&self) -> usize {
        STREAMS * (self.window as usize + UNITS_AT_MOST)
    }

    /// The place of the stream that a read of these sectors goes on with, or begins.
    fn stream_of(&mut self, lba: u64, sectors: u32) -> usize {
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
        place
    }

    /// A read has asked for its units: what follows them is read, if they follow others.
    pub fn go_on(&mut self, id: CommandId, slots: &Slots, commands: &mut Commands, b: &mut Below<'_>) {
        if !b.timed {
            return;
        }
        let entry = commands.table.get(id);
        let (lba, sectors, end) = (entry.command.lba.0, entry.command.sectors, entry.end);
        let place = self.stream_of(lba, sectors);
        let Stream { reads, until, .. } = self.streams[place];
        let begin = until.max(end);
        if reads >= self.after && begin - end <= self.window / 2 {
            let goal = end.saturating_add(self.window).min(self.units);
            self.streams[place].until = self.read((begin, goal), slots, commands, b);
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
        let (bytes, mut last, mut at) = (slots.shape.bytes(slots.shape.full), LastRead::NONE, begin);
        while at < self.units {
            let must_join = at >= goal;
            // Commands go first where operations are short.
            let has_room = b.flash.host_room() > b.flash.of_host().capacity() / 4
                && self.under_way.len() < self.reads_at_most();
            if !must_join && !has_room {
                break;
            }
            let reader = Reader::Ahead { must_join };
            let found = match slots.staging.find(Lpn(at)).is_some() {
                true => Found::Nowhere,
                false => b.ftl.read_unit(b.flash, reader, (Lpn(at), 0, bytes), &mut last),
            };
            match found {
                Found::Issued(_) => self.under_way.push(UnderWay::of(last.op, at, 1)),
                Found::Joined => {
                    if let Some(read) = self.under_way.last_mut() {
                        read.count += 1;
                    }
                }
                Found::Nowhere | Found::Lost if must_join => break,
                // What a page carries follows one another.
                Found::Nowhere | Found::Lost => last = LastRead::NONE,
            }
            commands.counts.read_ahead += u64::from(matches!(found, Found::Issued(_) | Found::Joined));
            at += 1;
        }
        at
    }

    /// Has a command wait for a unit that is under way; false if it is not, or another command waits for its page.
    pub fn join(&mut self, id: CommandId, lpn: Lpn, slots: &Slots, commands: &mut Commands) -> bool {
        let mut reads = self.under_way.iter_mut();
        let Some(read) = reads.find(|read| lpn.0.wrapping_sub(read.first) < read.count) else { return false };
        let is_first = !read.waits.is_some();
        if slots.staging.find(lpn).is_some() || !is_first && read.waits != id {
            return false;
        }
        read.waits = id;
        read.asked |= 1 << (lpn.0 - read.first);
        commands.table.get_mut(id).outstanding += u32::from(is_first);
        commands.counts.buffer_misses += 1;
        commands.counts.read_ahead_awaited += 1;
        true
    }

    /// A read is over; what it was, if it was one of these.
    pub fn end(&mut self, id: OpId) -> Option<UnderWay> {
        let place = self.under_way.iter().position(|read| read.op == id)?;
        Some(self.under_way.swap_remove(place))
    }

    /// Takes what follows from the configuration from a fresh one, and checks the rest.
    pub fn restored(&mut self, fresh: &Ahead) -> Verdict {
        (self.window, self.units, self.after) = (fresh.window, fresh.units, fresh.after);
        let streams = self.streams.iter();
        ensure(
            streams.clone().all(|stream| stream.next < MOST && stream.used <= self.uses),
            "streams of reads",
        )?;
        ensure(
            self.uses < MOST && streams.clone().all(|stream| stream.until <= self.units),
            "streams of reads",
        )?;
        ensure(self.under_way.len() <= self.reads_at_most(), "reads ahead under way")?;
        ensure(self.under_way.iter().all(UnderWay::is_possible), "commands that wait for a read ahead")?;
        keep_room(&mut self.under_way, &fresh.under_way);
        Ok(())
    }
}
