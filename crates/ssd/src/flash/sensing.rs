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

use super::die::{Die, IN_A_ROW, Precedence};
use super::op::{OTHERS, Op, OpPool, Turn};
use crate::units::OpId;

/// A read in its line.
pub(super) struct Found {
    line: usize,
    /// The one it stands behind, if any.
    before: OpId,
    id: OpId,
}

impl Die {
    /// The read that goes first of those that may begin.
    pub fn first_that(&self, pool: &OpPool, may_begin: impl Fn(&Op) -> bool) -> Option<Found> {
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
    pub fn take_found(&mut self, pool: &mut OpPool, found: &Found) -> OpId {
        let passes_lower = self.lines[..found.line].iter().any(|line| line.head.is_some());
        if !passes_lower && self.above_lower >= IN_A_ROW {
            pool.get_mut(found.id).turn = Turn::Due;
        }
        self.above_lower = if passes_lower { self.above_lower + 1 } else { 0 };
        self.take_out(pool, found.line, found.before, found.id);
        found.id
    }

    /// Takes the operation to do next ([`Die::take_next`]) of those for which there are planes.
    pub fn take_next_of_planes(&mut self, pool: &mut OpPool, by: &Precedence) -> OpId {
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
