//! Planes that read on their own (`nand.timing.independent_reads`): each senses a page while others do, or while pages
//! of others wait for the interface, which all planes of a die share.
//!
//! A read holds its plane from its command until its data is out. Everything else takes the die: it begins once no
//! plane is held, and no read begins beside it. Reads never form a group; the pages of a row are read one by one, each
//! as soon as its plane is free (Pekny et al., "A 1-Tb Density 4b/Cell 3D-NAND Flash on 176-Tier Technology with
//! 4-Independent Planes for Read", ISSCC 2022). The read that goes first is that of a die whose planes work together
//! ([`Die::take_next`]), of those whose plane is free. While a program or an erase is suspended several reads may go by
//! at a time, and it goes on when all of them are out; a read that has a plane is not stopped, for it holds up no other
//! (assumed).

use super::Flash;
use super::at::At;
use super::die::{Die, IN_A_ROW, Interface, Precedence};
use super::op::{OTHERS, Op, OpPool, Turn};
use super::rows::Outcomes;
use crate::events::{EventKind, EventQueue};
use crate::units::{OpId, SimTime};

/// A read in its line.
struct Found {
    line: usize,
    /// The one it stands behind, if any.
    before: OpId,
    id: OpId,
}

impl Die {
    /// The read that goes first of those that may begin.
    fn first_that(&self, pool: &OpPool, may_begin: impl Fn(&Op) -> bool) -> Option<Found> {
        if self.planes.are_all_held() {
            return None;
        }
        let lowest = (0..OTHERS).find(|&line| self.lines[line].head.is_some())?;
        let of_turn = (self.above_lower >= IN_A_ROW).then_some(lowest);
        for line in of_turn.into_iter().chain((0..OTHERS).rev()) {
            let (mut before, mut id) = (OpId::NONE, self.lines[line].head);
            while id.is_some() {
                let op = pool.get(id);
                if !self.planes.is_held(op) && may_begin(op) {
                    return Some(Found { line, before, id });
                }
                (before, id) = (id, op.next);
            }
        }
        None
    }

    /// Takes a read out of its line.
    fn take_found(&mut self, pool: &mut OpPool, found: &Found) -> OpId {
        let passes_lower = self.lines[..found.line].iter().any(|line| line.head.is_some());
        if !passes_lower && self.above_lower >= IN_A_ROW {
            pool.get_mut(found.id).turn = Turn::Due;
        }
        self.above_lower = if passes_lower { self.above_lower + 1 } else { 0 };
        self.take_out(pool, found.line, found.before, found.id);
        found.id
    }

    /// Takes the operation to do next ([`Die::take_next`]) of those for which there are planes.
    fn take_next_of_planes(&mut self, pool: &mut OpPool, by: &Precedence) -> OpId {
        if self.waiting == 0 {
            return OpId::NONE;
        }
        let (found, other) = (self.first_that(pool, |_| true), self.first_other(pool));
        match found {
            Some(found) if !other.is_some() || self.goes_first(pool, by, (found.id, other)) => {
                self.note_passing(pool, (found.id, other));
                self.take_found(pool, &found)
            }
            _ if other.is_some() && self.planes.have_room_for(pool.get(other)) => self.pop_other(pool),
            _ => OpId::NONE,
        }
    }
}

impl At<'_> {
    /// Begins with all for which there are planes, or lets a page out; the array does nothing else.
    #[cold]
    #[inline(never)]
    pub(super) fn start_planes(&mut self) {
        while self.die.interface == Interface::Idle && !self.die.array.is_some() {
            let leader = if self.die.stops.suspended.is_some() {
                self.take_past()
            } else {
                self.die.take_next_of_planes(self.pool, &self.rules.precedence)
            };
            if leader.is_some() {
                self.begin(leader);
            } else if self.die.planes.ready.head.is_some() {
                self.send_ready();
            } else {
                return self.resume_when_free();
            }
        }
    }

    fn begin(&mut self, leader: OpId) {
        if !self.die.is_busy() {
            self.die.busy_since = self.now;
        }
        if self.pool.get(leader).kind.reads() {
            (self.die.io, self.die.interface) = (leader, Interface::WaitIn);
            self.note_taken(leader);
            self.book_die_wait(leader, self.now);
        } else {
            self.take_in(leader);
        }
        self.ask_in();
    }

    /// Takes a read that goes by what is suspended.
    fn take_past(&mut self) -> OpId {
        let leader = self.die.stops.suspended;
        let programs = self.pool.get(leader).kind.row().effect == Outcomes::Programs;
        if self.die.stops.passed >= self.may_pass(leader) {
            return OpId::NONE;
        }
        let found = self.die.first_that(self.pool, |op| !programs || !self.is_held(op, leader));
        let Some(found) = found else { return OpId::NONE };
        self.die.stops.passed += 1;
        self.die.take_found(self.pool, &found)
    }

    /// What is suspended goes on, unless a plane is held, or a read that may go by comes back at once.
    fn resume_when_free(&mut self) {
        let leader = self.die.stops.suspended;
        if !leader.is_some() || self.die.planes.held != 0 {
            return;
        }
        if self.die.returning == 0 || self.die.stops.passed >= self.may_pass(leader) {
            self.resume();
        }
    }

    /// The read on the interface senses from `start` on.
    #[cold]
    #[inline(never)]
    pub(super) fn start_sensing(&mut self, start: SimTime) {
        let id = std::mem::replace(&mut self.die.io, OpId::NONE);
        self.die.interface = Interface::Idle;
        let op = self.pool.get(id);
        let planes = &mut self.die.planes;
        if planes.sensing == 0 {
            self.die.array_since = start;
        }
        planes.reads[op.at.plane as usize] = id;
        planes.held |= 1 << op.at.plane;
        planes.sensing |= 1 << op.at.plane;
        self.steps.add(id, true);
        let end = SimTime(start.0 + self.rules.timing.array_ns(op));
        self.events.push(end, EventKind::Sensed, id.0);
        if self.rules.preempts {
            self.die.stops.gate = start;
        }
    }

    /// A plane has its page ready.
    fn end_sensing(&mut self, id: OpId) {
        self.book_array(id);
        self.die.planes.sensing &= !(1 << self.pool.get(id).at.plane);
        // What has its command on the way does not work yet.
        let next = self.die.planes.first(self.pool).map(|(_, since)| since);
        if next.is_none_or(|since| since > self.now) {
            self.end_work();
            self.die.array_since = next.unwrap_or(self.now);
        }
        self.die.planes.ready.push(self.pool, id);
    }

    /// The page that was ready first wants to leave.
    fn send_ready(&mut self) {
        let id = self.die.planes.ready.pop(self.pool);
        self.book_die_wait(id, self.now);
        (self.die.io, self.die.sending, self.die.interface) = (id, id, Interface::WaitOut);
        self.ask_out();
    }

    /// The page of a read has left its plane.
    #[cold]
    pub(super) fn release_plane(&mut self, id: OpId) {
        let plane = self.pool.get(id).at.plane;
        self.die.planes.reads[plane as usize] = OpId::NONE;
        self.die.planes.held &= !(1 << plane);
    }
}

impl Flash {
    /// A plane has sensed the page of a read.
    pub(super) fn on_sensed(&mut self, id: OpId, now: SimTime, events: &mut EventQueue) {
        let mut at = self.at(self.pool.get(id).at.die, now, events);
        at.end_sensing(id);
        at.start_planes();
    }

    /// Ends of sensing that lie ahead beside the first of each die.
    pub(crate) fn more_senses_at_most(&self) -> usize {
        self.dies.all.iter().map(|die| die.planes.reads.len().saturating_sub(1)).sum()
    }
}
