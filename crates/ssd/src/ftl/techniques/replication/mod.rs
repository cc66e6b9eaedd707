//! Replication (redFTL): pages that are read often get second copies in blocks that are read seldom, so that reads
//! spread.
//!
//! The policy (`ftl.read_reclaim`, `redftl`) counts reads, finds such pages and chooses a block for each; here is which
//! of their units go there. Where replicas are, and what room blocks have left for them, stands in `tables::replicas`,
//! which all who read, write, lock and erase see; `ftl/media` reads and programs.

pub use super::NoCounts as Counts;
use super::{Beside, Replicates, Seen, Technique};
use crate::config::member::Misfit;
use crate::flash::op::UnitRef;
use crate::ftl::read_reclaim::Config;
use crate::ftl::tables::Tables;
use crate::ftl::tables::layout::Layout;
use crate::restore::Verdict;
use crate::sections::{Placement, Sections};
use crate::units::{Ppn, Pun};
use serde::{Deserialize, Serialize};

/// The technique: it keeps nothing of its own.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Replication {
    #[serde(skip)]
    is_on: bool,
}

impl Technique for Replication {
    type Config = Config;
    type Counts = Counts;

    fn acts(config: &Config) -> bool {
        matches!(config, Config::Redftl(params) if params.replica_limit > 0)
    }

    fn new(config: &Config, _: &Sections, _: &Layout) -> Self {
        Replication { is_on: Replication::acts(config) }
    }

    fn misfit(config: &Config, cfg: &Sections) -> Option<Misfit> {
        let is_fixed = cfg.allocation.placement == Placement::Static;
        (is_fixed && Replication::acts(config)).then(|| Misfit {
            keys: &["ftl.allocation.placement", "ftl.read_reclaim.replica_limit", "ftl.read_reclaim.policy"],
            found: "a fixed plane for each logical page, with replicas in other planes that take its place"
                .to_owned(),
            allowed: "ftl.read_reclaim.replica_limit = 0, another policy, or ftl.allocation.placement = \
                      \"dynamic\""
                .to_owned(),
        })
    }

    fn clash(config: &Config, beside: &Beside<'_>) -> Option<Misfit> {
        let name = beside.fills_wordlines.filter(|_| Replication::acts(config))?;
        Some(Misfit {
            keys: &["ftl.sanitize.policy", "ftl.read_reclaim.replica_limit"],
            found: format!(
                "\"{name}\", with replicas of frequently read data on wordlines that other data has begun"
            ),
            allowed: "ftl.read_reclaim.replica_limit = 0, or another ftl.sanitize.policy".to_owned(),
        })
    }

    fn is_on(&self) -> bool {
        self.is_on
    }

    fn restored(&mut self, fresh: Self, _: &Seen<'_>) -> Verdict {
        *self = fresh;
        Ok(())
    }
}

impl Replicates for Replication {
    /// Those that have none.
    fn replicated(&self, page: Ppn, tables: &Tables, units: &mut [UnitRef]) -> usize {
        let lacks =
            |&unit: &Pun| tables.map.is_live(unit) && !tables.replicas.get(tables.map.stored(unit)).is_some();
        let mut count = 0;
        for unit in tables.layout.units_of_page(page).filter(lacks) {
            units[count] = tables.unit_at(unit.0);
            count += 1;
        }
        count
    }

    /// Unless others have taken its room, or it is about to go.
    fn takes_replica(&self, physical: u32, tables: &Tables) -> bool {
        tables.replicas.may_hold(&tables.blocks, &tables.layout, physical)
    }
}

#[cfg(test)]
mod tests;
