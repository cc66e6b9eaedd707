//! Whom operations wait for: each nanosecond that one waits for its die or its channel, or stands suspended, is booked
//! to what holds that.
//!
//! Each die and channel has a clock for each [`Holder`]; of these one runs at a time. A wait is the difference of what
//! the clocks show at its end and at its beginning, so that many who wait at once each have all of it, and nothing is
//! counted twice. Nobody looks at the flash for it where it is not asked for: events come here first where it is, and
//! what they have changed is seen by the operations that stood at the die before or stand there after.

mod clock;
mod held;
mod page;
pub(crate) mod room;
mod spans;

use super::Flash;
use super::die::Die;
use super::op::{Op, OpPool, OpTimes};
use crate::events::{EventKind, EventQueue};
use crate::units::{OpId, SimTime};
use clock::{Clock, carried, leader_of, plan_of};
pub use held::{HOLDERS, Held, Holder};
use room::Programs;
use spans::Spans;
pub use spans::{Operation, Place, Span};

/// The flash operation of a command that ended last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastOperation {
    /// Its number ([`Operation::number`]).
    pub number: u64,
    /// Die, counted over the drive, channel by channel.
    pub die: u32,
    /// Plane in the die.
    pub plane: u32,
    /// Page type: index into the part's Gray code; the one after its last in a block of one bit a cell.
    pub page_type: u8,
    /// Attempts that a read took; 0 of a program.
    pub attempts: u8,
    /// How often it was stopped for reads.
    pub suspends: u8,
}

/// Whom a command has waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    /// How long, by whom; ns.
    pub held: Held,
    /// Of that, what [`Holder::PAGE`] held: whom those waited for, and what they did, who made room. What nobody did
    /// anything in is [`Holder::PAGE`]'s again.
    pub page: Held,
    /// What it waited for last in flash; none if it had no need to.
    pub last: Option<LastOperation>,
    /// Its place in the drive's table of commands, which is another's now.
    pub command: u32,
}

impl Told {
    /// For nobody.
    pub const NOTHING: Told =
        Told { held: Held::NOTHING, page: Held::NOTHING, last: None, command: u32::MAX };

    /// It had no page as long as that.
    pub(crate) fn add_page(&mut self, lacked: &Held) {
        self.held.add(Holder::PAGE, lacked.total());
        self.page.add_all(lacked);
    }
}

/// What is known of an operation that waits.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    /// Its times when it was looked at last, and its mark.
    times: OpTimes,
    mark: SimTime,
    /// What the clocks of its die and its channel showed then.
    die: Held,
    channel: Held,
    /// For whom the host had lacked a page when it was issued; of programs of its data.
    lacked: Held,
    /// How often it was stopped, and whether it is.
    suspends: u8,
    is_suspended: bool,
}

/// Who holds what, and whom operations have waited for.
#[derive(Clone, Debug)]
pub struct Holders {
    /// Whom those wait for who wait for programs.
    pub(crate) programs: Programs,
    dies: Vec<Clock>,
    channels: Vec<Clock>,
    /// The dies of each channel.
    dies_of: Vec<Vec<u32>>,
    /// By operation.
    waiting: Vec<Waiting>,
    held: Vec<Held>,
    /// Operations that stand at a die, before an event and after it.
    standing: Vec<OpId>,
    /// Since when it is told.
    began: SimTime,
    /// Who did what from when to when, if that is asked for.
    spans: Option<Box<Spans>>,
}

/// The operations that stand at a die: on its interface, in its array, or suspended.
fn standing(die: &Die, pool: &OpPool, mut see: impl FnMut(OpId)) {
    let of_planes = die.planes.reads.iter().copied();
    for mut id in [die.io, die.array, die.sending, die.stops.suspended].into_iter().chain(of_planes) {
        while id.is_some() {
            see(id);
            id = pool.get(id).follower;
        }
    }
}

impl Holders {
    /// From now on. What operations in flight have waited before is nobody's.
    pub(crate) fn new(flash: &Flash, now: SimTime) -> Self {
        let dies_of = |channel| {
            let of = (0..).zip(&flash.dies.all).filter(move |(_, die)| die.channel == channel);
            of.map(|(number, _)| number).collect()
        };
        let nothing = Waiting {
            times: OpTimes::default(),
            mark: SimTime::ZERO,
            die: Held::NOTHING,
            channel: Held::NOTHING,
            lacked: Held::NOTHING,
            suspends: 0,
            is_suspended: false,
        };
        let operations = flash.pool.capacity();
        let mut holders = Holders {
            programs: Programs::new(flash.dies.all.len(), now),
            dies: vec![Clock::IDLE; flash.dies.all.len()],
            channels: vec![Clock::IDLE; flash.dies.channels.len()],
            dies_of: (0..flash.dies.channels.len() as u32).map(dies_of).collect(),
            waiting: vec![nothing; operations],
            held: vec![Held::NOTHING; operations],
            // What sends its data stands on the interface, too.
            standing: Vec::with_capacity(5 * operations + 1),
            began: now,
            spans: None,
        };
        for (id, op) in flash.pool.iter() {
            let (spent, die) = (flash.pool.spent(id), op.at.die as usize);
            holders.waiting[id.index()].times = spent.times;
            holders.begin(id, spent.mark, (die, flash.dies.all[die].channel as usize));
        }
        (0..flash.dies.all.len() as u32).for_each(|number| holders.look(flash, number, now));
        holders.standing.clear();
        holders
    }

    /// What was issued goes to the dies ([`Flash::give`]); who holds it up from then on is noted.
    pub(crate) fn give(&mut self, flash: &mut Flash, ids: &[OpId], now: SimTime, events: &mut EventQueue) {
        for &id in ids {
            self.standing.push(id);
            self.see_standing(&flash.dies.all[flash.pool.get(id).at.die as usize], &flash.pool);
        }
        flash.give(ids, now, events);
        for &id in ids {
            let number = flash.pool.get(id).at.die as usize;
            let channel = flash.dies.all[number].channel as usize;
            self.turn_channel(channel, now);
            self.turn_die(number, now);
            self.held[id.index()] = Held::NOTHING;
            let waiting = &mut self.waiting[id.index()];
            (waiting.times, waiting.suspends, waiting.is_suspended) = (OpTimes::default(), 0, false);
            if flash.pool.get(id).cause.is_for_host() {
                waiting.lacked = *self.programs.lack.held();
            }
            self.begin(id, flash.pool.spent(id).mark.min(now), (number, channel));
        }
        for &id in ids {
            self.look(flash, flash.pool.get(id).at.die, now);
        }
        self.standing.clear();
    }

    /// An event of the flash ([`Flash::on_event`]); who holds up what waits from then on is noted.
    pub(crate) fn on_event(
        &mut self,
        flash: &mut Flash,
        (kind, id): (EventKind, u32),
        now: SimTime,
        events: &mut EventQueue,
    ) {
        let number = match kind {
            EventKind::ArrayDone => Die::of_event(id).0,
            EventKind::Decoded | EventKind::Sensed => {
                self.standing.push(OpId(id));
                flash.pool.get(OpId(id)).at.die
            }
            _ => id,
        };
        // Whose turn it is at a channel is not known before.
        let dies = match kind {
            EventKind::ChannelFree => std::mem::take(&mut self.dies_of[number as usize]),
            _ => Vec::new(),
        };
        let touched = if dies.is_empty() { std::slice::from_ref(&number) } else { &dies[..] };
        for &die in touched {
            self.see_standing(&flash.dies.all[die as usize], &flash.pool);
        }
        flash.on_event(kind, id, now, events);
        for &die in touched {
            self.look(flash, die, now);
        }
        if kind == EventKind::ChannelFree {
            self.dies_of[number as usize] = dies;
        }
        self.standing.clear();
    }

    /// Whom an operation has waited for that has just ended.
    pub(crate) fn of(&self, id: OpId) -> &Held {
        &self.held[id.index()]
    }

    /// What it is, of an operation that has just ended.
    pub(crate) fn last(&self, flash: &Flash, id: OpId) -> LastOperation {
        self.last_in(&flash.pool, id)
    }

    fn last_in(&self, pool: &OpPool, id: OpId) -> LastOperation {
        let Op { at, page_type, attempts, sequence: number, .. } = *pool.get(id);
        let suspends = self.waiting[id.index()].suspends;
        LastOperation { number, die: at.die, plane: at.plane, page_type, attempts, suspends }
    }

    fn see_standing(&mut self, die: &Die, pool: &OpPool) {
        standing(die, pool, |id| self.standing.push(id));
    }

    /// Something has happened at a die.
    fn look(&mut self, flash: &Flash, number: u32, now: SimTime) {
        let die = &flash.dies.all[number as usize];
        let (at, channel) = (number as usize, die.channel as usize);
        self.turn_die(at, now);
        self.dies[at].go_by(plan_of(die, &flash.pool, now));
        self.turn_channel(channel, now);
        if let Some(spans) = &mut self.spans {
            spans.stand(number, leader_of(die, &flash.pool), die.planes.sensing(), &flash.pool);
        }
        self.see_standing(die, &flash.pool);
        for index in 0..self.standing.len() {
            if flash.pool.get(self.standing[index]).at.die == number {
                self.book_wait(flash, self.standing[index], (at, channel), now);
                self.see_stopped(self.standing[index], die, &flash.pool);
            }
        }
        let end = flash.dies.channels[channel].free_at;
        if let Some(id) = carried(die, &flash.pool, end, now) {
            let op = flash.pool.get(id);
            let holder = Holder::transfer(op.kind, op.cause);
            self.channels[channel].go_by([(now, holder), (end, Holder::NOBODY), (end, Holder::NOBODY)]);
            if let Some(spans) = &mut self.spans {
                spans.carry(channel as u32, id, &flash.pool);
            }
        }
    }

    fn turn_die(&mut self, at: usize, now: SimTime) {
        let spans = &mut self.spans;
        self.dies[at].turn_to(now, |time, holder| {
            if let Some(spans) = spans {
                spans.hold_die(at as u32, time, holder);
            }
        });
    }

    fn turn_channel(&mut self, at: usize, now: SimTime) {
        let spans = &mut self.spans;
        self.channels[at].turn_to(now, |time, holder| {
            if let Some(spans) = spans {
                spans.hold_channel(at as u32, time, holder);
            }
        });
    }

    /// Tells spans from now on, or no more, of dies of so many planes.
    pub(crate) fn tell_spans(&mut self, flash: &Flash, on: bool, planes: u32, now: SimTime) {
        self.close_spans(now);
        let new = || Box::new(Spans::new(flash.dies.all.len(), flash.dies.channels.len(), planes));
        self.spans = on.then(new);
        (0..flash.dies.all.len() as u32).for_each(|number| self.look(flash, number, now));
        self.standing.clear();
    }

    /// All that has been going on until now is told.
    pub(crate) fn close_spans(&mut self, now: SimTime) {
        (0..self.dies.len()).for_each(|at| self.turn_die(at, now));
        (0..self.channels.len()).for_each(|at| self.turn_channel(at, now));
        if let Some(spans) = &mut self.spans {
            spans.close();
        }
    }

    /// Takes the span that was told first.
    pub(crate) fn take_span(&mut self) -> Option<Span> {
        self.spans.as_mut().and_then(|spans| spans.take())
    }

    /// Counts a stop of an operation, when it is seen first.
    fn see_stopped(&mut self, id: OpId, die: &Die, pool: &OpPool) {
        let waiting = &mut self.waiting[id.index()];
        let was = waiting.is_suspended;
        let mut stopped = die.stops.suspended;
        while stopped.is_some() && stopped != id {
            stopped = pool.get(stopped).follower;
        }
        waiting.is_suspended = stopped.is_some();
        waiting.suspends = waiting.suspends.saturating_add(u8::from(waiting.is_suspended && !was));
    }

    /// Books what an operation has waited since it was looked at last.
    fn book_wait(&mut self, flash: &Flash, id: OpId, (die, channel): (usize, usize), now: SimTime) {
        let (spent, seen) = (flash.pool.spent(id), self.waiting[id.index()]);
        let (at_die, at_channel) = (&self.dies[die].shown, &self.channels[channel].shown);
        let held = &mut self.held[id.index()];
        let waits = [
            (spent.times.die_wait - seen.times.die_wait, at_die, &seen.die),
            (spent.times.channel_wait - seen.times.channel_wait, at_channel, &seen.channel),
        ];
        for (ns, shown, from) in waits.into_iter().filter(|wait| wait.0 > 0) {
            let sum = held.add_since(shown, from);
            let is_known = sum == ns || seen.mark < self.began;
            debug_assert!(is_known, "{sum} of {ns} ns are known of {:?}", flash.pool.get(id));
            held.add(Holder::NOBODY, ns.saturating_sub(sum));
        }
        let suspended = spent.times.suspended - seen.times.suspended;
        if suspended > 0 {
            let waited = at_die.total() - seen.die.total();
            if waited <= suspended {
                held.add_since(at_die, &seen.die);
            }
            // What was in the array when it was looked at last has waited for nobody before it was stopped.
            held.add(Holder::SWITCHING, if waited <= suspended { suspended - waited } else { suspended });
        }
        self.waiting[id.index()].times = spent.times;
        if spent.mark != seen.mark && spent.mark <= now {
            self.begin(id, spent.mark, (die, channel));
        }
    }

    /// An operation waits from now on.
    fn begin(&mut self, id: OpId, mark: SimTime, (die, channel): (usize, usize)) {
        let waiting = &mut self.waiting[id.index()];
        (waiting.mark, waiting.die, waiting.channel) =
            (mark, self.dies[die].shown, self.channels[channel].shown);
    }
}
