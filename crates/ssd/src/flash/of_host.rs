//! The operations under way for the host, as the host knows them: when a drive is restored, its commands and slots must
//! agree with them.

use super::op::{Cause, Op, OpKind, OpPool, Spent, UnitRef};
use crate::nand::Outcome;
use crate::units::{NONE, OpId, SlotId};

/// What an operation does for the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HostWork {
    /// Programs slots.
    Program,
    /// Reads the rest of the unit in a slot.
    Rest,
    /// Reads for a command.
    Read,
    /// Reads before a command asks; then for one.
    ReadAhead,
    /// Nothing that the host asks for.
    Other,
}

/// An operation for the host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostOp<'a> {
    pub id: OpId,
    pub work: HostWork,
    /// Command or slot that it is for.
    pub tag: u32,
    units: &'a [UnitRef],
}

impl<'a> HostOp<'a> {
    /// The slots that it programs.
    pub fn slots(&self) -> impl Iterator<Item = SlotId> + use<'a> {
        slots_of(self.units)
    }

    /// The host's numbers of the units that it is of.
    pub fn units(&self) -> impl Iterator<Item = u32> + use<'a> {
        self.units.iter().map(|unit| unit.lpn)
    }
}

fn slots_of(units: &[UnitRef]) -> impl Iterator<Item = SlotId> {
    units.iter().map(|unit| SlotId(unit.source))
}

/// Operations as the host may see them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OfHost<'a> {
    pub(super) pool: &'a OpPool,
}

impl<'a> OfHost<'a> {
    /// The slots whose data a program carries.
    pub fn slots_of(self, id: OpId) -> impl Iterator<Item = SlotId> + use<'a> {
        slots_of(self.pool.units(id))
    }

    /// The command or slot that an operation is for.
    #[inline]
    pub fn tag(self, id: OpId) -> u32 {
        self.pool.get(id).tag
    }

    /// Whether a read has brought all that it was to bring: what waits behind it, it has not.
    #[inline]
    pub fn is_whole(self, id: OpId) -> bool {
        let passed = self.pool.get(id).outcome == Outcome::Pass;
        passed && self.pool.units(id).last().is_none_or(|unit| unit.source != NONE)
    }

    /// Where the time of an operation went; also of the one that ended last.
    #[inline]
    pub fn spent(self, id: OpId) -> &'a Spent {
        self.pool.spent(id)
    }

    /// Operations that there is room for.
    pub fn capacity(self) -> usize {
        self.pool.capacity()
    }

    /// Those under way (slow).
    pub fn under_way(self) -> impl Iterator<Item = HostOp<'a>> {
        // What a program of a page is known by carries units; its other parts are none of the host's.
        let is_known = |op: &Op| op.cause.is_for_host() && (op.kind != OpKind::Program || op.units > 0);
        let ops = self.pool.iter().filter(move |(_, op)| is_known(op));
        ops.map(move |(id, op)| {
            let work = match (op.kind, op.cause) {
                (OpKind::Program, Cause::Host | Cause::Promote) => HostWork::Program,
                (OpKind::Read, Cause::Merge) => HostWork::Rest,
                (OpKind::Read, Cause::Host) => HostWork::Read,
                (OpKind::Read, Cause::ReadAhead) => HostWork::ReadAhead,
                _ => HostWork::Other,
            };
            HostOp { id, work, tag: op.tag, units: self.pool.units(id) }
        })
    }
}
