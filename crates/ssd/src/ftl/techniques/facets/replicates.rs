//! What has replicas made.

use super::Technique;
use crate::flash::op::UnitRef;
use crate::ftl::tables::Tables;
use crate::units::Ppn;

/// Its operations make replicas of units (`tables::replicas`), as `ftl.read_reclaim` wants them.
#[allow(unused_variables, dead_code)] // no technique of the list may be so
pub(in crate::ftl) trait Replicates: Technique {
    /// Units of a page that get replicas, of those that live there, if it makes replicas: they are read for that. How
    /// many there are.
    fn replicated(&self, page: Ppn, tables: &Tables, units: &mut [UnitRef]) -> usize;

    /// Whether a physical block takes a replica that has been read for it.
    fn takes_replica(&self, physical: u32, tables: &Tables) -> bool;
}
