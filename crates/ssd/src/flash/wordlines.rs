//! Groups where chips program one-shot (`nand.cell.one_shot`): all pages of a wordline go to the array in one program,
//! and with them those of the same wordline in other planes.
//!
//! Who issues the pages of a wordline issues all of them together, in their order; so they stand behind each other in
//! line. They are read one by one. Reads of one wordline number may pass each other, so that pages of one number in
//! several planes are sensed together though a wordline's pages were asked for one after the other.

use super::FlashCounts;
use super::die::Die;
use super::dies::Rules;
use super::op::{Op, OpKind, OpPool};
use crate::units::OpId;

/// Whether operations of several planes are in a group; none has no leader.
pub(super) fn spans_planes(pool: &OpPool, leader: OpId) -> bool {
    let plane = |id: OpId| pool.get(id).at.plane;
    let mut id = leader;
    while id.is_some() {
        if plane(id) != plane(leader) {
            return true;
        }
        id = pool.get(id).follower;
    }
    false
}

/// What a group is gathered from, and counted in.
pub(super) struct Wordlines<'a> {
    pub die: &'a mut Die,
    pub pool: &'a mut OpPool,
    pub counts: &'a mut FlashCounts,
    pub rules: &'a Rules,
}

impl Wordlines<'_> {
    /// Lets operations of the leader's queue join it; false if it is none that is gathered by wordlines.
    pub fn gather(&mut self, leader: OpId) -> bool {
        let op = *self.pool.get(leader);
        // Blocks of one bit a cell have a page type of their own, behind the others.
        let is_of_wordline = u32::from(op.page_type) < self.rules.pages_of_program;
        match op.kind {
            OpKind::Program if is_of_wordline => self.gather_programs(leader, &op),
            OpKind::Read if is_of_wordline && self.rules.groups => self.gather_reads(leader, &op),
            _ => return false,
        }
        true
    }

    /// Whether an operation is of the same kind and wordline number.
    fn is_beside(&self, op: &Op, leader: &Op) -> bool {
        let pages = self.rules.pages_of_program;
        let is_of_wordline = u32::from(op.page_type) < pages;
        op.kind == leader.kind && is_of_wordline && op.at.page / pages == leader.at.page / pages
    }

    /// Programs at the head of the line join: the rest of the wordline, then that of each other plane.
    fn gather_programs(&mut self, leader: OpId, first: &Op) {
        let (line, mut last, mut planes) = (first.line(), leader, 1u64 << first.at.plane);
        loop {
            let id = self.die.lines[line].head;
            if !id.is_some() {
                break;
            }
            let (op, before) = (self.pool.get(id), self.pool.get(last));
            let is_next = match op.at.plane == before.at.plane {
                true => op.at.block == before.at.block && op.at.page == before.at.page + 1,
                false => self.rules.groups && planes >> op.at.plane & 1 == 0,
            };
            if !is_next || !self.is_beside(op, first) {
                break;
            }
            planes |= 1 << op.at.plane;
            self.counts.note_joined(op);
            self.die.pop(self.pool, line);
            self.pool.get_mut(last).follower = id;
            last = id;
        }
        self.counts.groups += u64::from(planes.count_ones() > 1);
    }

    /// Reads of the same page number in other planes join, also from behind others of the wordline.
    fn gather_reads(&mut self, leader: OpId, first: &Op) {
        let (line, mut last, mut planes) = (first.line(), leader, 1u64 << first.at.plane);
        let (mut before, mut id) = (OpId::NONE, self.die.lines[line].head);
        while id.is_some() && self.is_beside(self.pool.get(id), first) {
            let &Op { at, next, .. } = self.pool.get(id);
            if at.page == first.at.page && planes >> at.plane & 1 == 0 {
                planes |= 1 << at.plane;
                self.counts.note_joined(self.pool.get(id));
                self.die.take_out(self.pool, line, before, id);
                self.pool.get_mut(last).follower = id;
                last = id;
            } else {
                before = id;
            }
            id = next;
        }
        self.counts.groups += u64::from(last != leader);
    }
}

#[cfg(test)]
mod tests;
