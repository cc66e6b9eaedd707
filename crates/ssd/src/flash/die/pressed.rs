//! A die that owes locks and has time for nothing else (`ftl.sanitize.max_exposed_ms`): what passes what.

use super::{Die, Precedence};
use crate::flash::Flash;
use crate::flash::op::{Cause, OTHERS, OpPool};
use crate::flash::rows::Outcomes;
use crate::units::{OpId, Ppn};

impl Die {
    /// Takes the operation to do next: what is owed, after older reads of what it ends; reads of the host's if there is
    /// nothing else.
    #[cold]
    #[inline(never)]
    pub(super) fn choose_pressed(&mut self, pool: &mut OpPool, by: &Precedence) -> OpId {
        self.pass_reads_ahead(pool, by);
        let other = self.first_other(pool);
        if !other.is_some() {
            return if self.first_read().is_some() { self.pop_read_in_a_row(pool) } else { OpId::NONE };
        }
        let older = self.take_older_read_of(pool, other);
        if older.is_some() { older } else { self.pop_other(pool) }
    }

    /// What is read ahead at the head of the line of everything else makes way: it goes on as a read of the host's, for
    /// which what it may be of waits where it must.
    fn pass_reads_ahead(&mut self, pool: &mut OpPool, by: &Precedence) {
        loop {
            let head = self.lines[OTHERS].head;
            if !head.is_some() || pool.get(head).cause != Cause::ReadAhead {
                return;
            }
            let id = self.pop(pool, OTHERS);
            pool.get_mut(id).line = by.line_of_passed(pool.get(id));
            self.queue(pool, id, false);
        }
    }

    /// Takes a read in line of the page that an operation ends, or of its block, if there is one that is older.
    fn take_older_read_of(&mut self, pool: &mut OpPool, by: OpId) -> OpId {
        let by = *pool.get(by);
        if !by.kind.ends_data() {
            return OpId::NONE;
        }
        let is_of_page = by.kind.row().effect == Outcomes::HidesPage;
        for line in 0..OTHERS {
            let (mut before, mut id) = (OpId::NONE, self.lines[line].head);
            while id.is_some() {
                let op = pool.get(id);
                let is_there = op.at.block == by.at.block && (!is_of_page || op.at.page == by.at.page);
                if is_there && op.sequence < by.sequence {
                    self.take_out(pool, line, before, id);
                    return id;
                }
                (before, id) = (id, op.next);
            }
        }
        OpId::NONE
    }
}

/// What waits in line at a die.
pub(crate) struct Waiting<'a> {
    die: &'a Die,
    pool: &'a OpPool,
}

impl<'a> Waiting<'a> {
    /// At that one.
    pub fn at(flash: &'a Flash, die: u32) -> Self {
        Waiting { die: &flash.dies.all[die as usize], pool: &flash.pool }
    }

    /// So many operations.
    pub fn count(&self) -> u32 {
        self.die.waiting
    }

    /// How many of them are reads for the host, of pages of which that is so (slow).
    pub fn reads(&self, is_so: impl Fn(Ppn) -> bool) -> u32 {
        let mut count = 0;
        for line in &self.die.lines {
            let mut id = line.head;
            while id.is_some() {
                let op = self.pool.get(id);
                count += u32::from(op.kind.reads() && op.cause.is_for_host() && is_so(op.ppn));
                id = op.next;
            }
        }
        count
    }
}
