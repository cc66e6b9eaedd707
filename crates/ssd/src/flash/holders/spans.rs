//! What dies, their planes and channels did, from when to when, each with the operation that it did it for.
//!
//! The clocks ([`super::clock`]) know what holds a die or a channel, up to the nanosecond; here each stretch of theirs
//! becomes a span, and stretches of one operation that follow each other become one.

use super::held::Holder;
use crate::flash::op::{Cause, Op, OpKind, OpPool};
use crate::units::{OpId, SimTime};
use std::collections::VecDeque;

/// Where a span lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// A channel carries command or data.
    Channel(u32),
    /// A die has something to do: its array works, is being stopped or resumed, or its channel serves it or is waited
    /// for. Dies are counted over the drive, channel by channel.
    Die(u32),
    /// The array works for a plane of a die.
    Plane(u32, u32),
}

/// A flash operation, as far as a span tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Its number, in the order in which operations are given to the flash.
    pub number: u64,
    /// What it does.
    pub kind: OpKind,
    /// Why.
    pub cause: Cause,
    /// Plane in its die.
    pub plane: u32,
    /// Physical block, counted over the drive.
    pub block: u32,
    /// Page in its block; none of an erase.
    pub page: Option<u32>,
    /// Attempts of a read so far, the one under way not counted; 0 of anything else.
    pub attempts: u8,
    /// Of a page that the host reads: the command's place in the drive's table ([`super::Told::command`]).
    pub command: Option<u32>,
}

/// A stretch of time in which one operation held one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// What was held.
    pub place: Place,
    /// From when on.
    pub from: SimTime,
    /// Until when.
    pub to: SimTime,
    /// How.
    pub holder: Holder,
    /// By which; of operations in several planes at once the first, where the place is a die or a channel.
    pub operation: Operation,
}

/// Spans as they come about.
#[derive(Clone, Debug)]
pub(crate) struct Spans {
    told: VecDeque<Span>,
    /// By die: the operations that hold it, the leader first, and since when at the earliest each is at work.
    groups: Vec<Vec<(Operation, SimTime)>>,
    /// By channel: the operation that it carries something of last.
    carried: Vec<Option<Operation>>,
    /// By channel, by die and by plane: the span that may become longer.
    open: Vec<Option<Span>>,
    planes: u32,
}

impl Spans {
    /// Of so many dies and channels, and planes of each die.
    pub fn new(dies: usize, channels: usize, planes: u32) -> Self {
        Spans {
            told: VecDeque::new(),
            groups: vec![Vec::with_capacity(planes as usize); dies],
            carried: vec![None; channels],
            open: vec![None; channels + dies * (1 + planes as usize)],
            planes,
        }
    }

    fn index(&self, place: Place) -> usize {
        let (channels, dies) = (self.carried.len(), self.groups.len());
        match place {
            Place::Channel(channel) => channel as usize,
            Place::Die(die) => channels + die as usize,
            Place::Plane(die, plane) => channels + dies + (die * self.planes + plane) as usize,
        }
    }

    /// A stretch of a place: it makes the span before it longer, or begins one.
    fn add(&mut self, span: Span) {
        let index = self.index(span.place);
        match &mut self.open[index] {
            Some(open)
                if open.to == span.from
                    && (open.holder, open.operation.number) == (span.holder, span.operation.number) =>
            {
                open.to = span.to;
            }
            open => self.told.extend(open.replace(span)),
        }
    }

    /// A die was held so.
    pub fn hold_die(&mut self, die: u32, (from, to): (SimTime, SimTime), holder: Holder) {
        if holder == Holder::NOBODY || holder == Holder::RETURNING {
            return;
        }
        let works = holder.is_array();
        for at in 0..self.groups[die as usize].len() {
            let (operation, since) = self.groups[die as usize][at];
            if at == 0 {
                self.add(Span { place: Place::Die(die), from, to, holder, operation });
            }
            let from = from.max(since);
            if works && from < to {
                self.add(Span { place: Place::Plane(die, operation.plane), from, to, holder, operation });
            }
        }
    }

    /// A channel carried something.
    pub fn hold_channel(&mut self, channel: u32, (from, to): (SimTime, SimTime), holder: Holder) {
        if let Some(operation) = self.carried[channel as usize].filter(|_| holder != Holder::NOBODY) {
            self.add(Span { place: Place::Channel(channel), from, to, holder, operation });
        }
    }

    /// From now on a die is held by these: an operation and those that go with it, or all reads of planes that sense on
    /// their own.
    pub fn stand(&mut self, die: u32, leader: OpId, sensing: impl Iterator<Item = OpId>, pool: &OpPool) {
        let group = &mut self.groups[die as usize];
        group.clear();
        let mut id = leader;
        while id.is_some() {
            let op = pool.get(id);
            // Of a wordline that is programmed at once the first page stands for all.
            if group.last().is_none_or(|(before, _)| before.plane != op.at.plane) {
                group.push((told(op), SimTime::ZERO));
            }
            id = op.follower;
        }
        for id in sensing {
            let since = pool.spent(id).mark;
            match id == leader {
                true => group[0].1 = since,
                false => group.push((told(pool.get(id)), since)),
            }
        }
    }

    /// From now on a channel carries something of it.
    pub fn carry(&mut self, channel: u32, id: OpId, pool: &OpPool) {
        self.carried[channel as usize] = Some(told(pool.get(id)));
    }

    /// No span becomes longer.
    pub fn close(&mut self) {
        self.told.extend(self.open.iter_mut().filter_map(Option::take));
    }

    /// Takes the oldest.
    pub fn take(&mut self) -> Option<Span> {
        self.told.pop_front()
    }
}

/// What is told of an operation.
fn told(op: &Op) -> Operation {
    Operation {
        number: op.sequence,
        kind: op.kind,
        cause: op.cause,
        plane: op.at.plane,
        block: op.at.block,
        page: (!op.kind.erases()).then_some(op.at.page),
        attempts: op.attempts,
        command: (op.kind.reads() && op.cause == Cause::Host).then_some(op.tag),
    }
}
