//! Program contexts as separators see them: who wrote each unit, which contexts belong together, and where their
//! groups write.

pub(in crate::ftl) mod groups;
pub(in crate::ftl) mod linkage;
pub(in crate::ftl) mod writers;

use core::num::NonZeroU16;

/// Contexts that are told apart at most (assumed; the programs of PDS section 5.3 have 48 to 89 that update).
pub(in crate::ftl) const ROWS: usize = 4_096;

/// The row of a context in a policy's tables: in the order in which contexts first wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::ftl) struct Row(pub u16);

impl Row {
    /// Where it stands.
    #[inline]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// An update group: contexts whose data is expected to be updated at similar times. At most [`ROWS`] of them.
pub(in crate::ftl) type Group = NonZeroU16;
