//! The tables: which page holds what, and what is known of each block. State alone: nothing here decides, and nothing
//! here knows of techniques.

pub mod blocks;
pub(in crate::ftl) mod facts;
pub mod layout;
pub mod map;
pub(in crate::ftl) mod replicas;

use crate::flash::op::UnitRef;
use crate::nand::order::PageOrder;
use crate::sections::Sections;
use crate::units::{BlockId, Pun};
use blocks::Blocks;
use facts::FactsTable;
use layout::Layout;
use map::Map;
use replicas::Replicas;
use serde::{Deserialize, Serialize};

/// Which page holds what, and what is known of each block.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Tables {
    /// The mapping table.
    pub map: Map,
    /// The block table.
    pub blocks: Blocks,
    /// Where everything is.
    pub layout: Layout,
    /// In which order the pages of a block are programmed.
    pub(in crate::ftl) order: PageOrder,
    /// What data carries with it.
    pub(in crate::ftl) facts: FactsTable,
    /// Second copies of units that are read often.
    pub(crate) replicas: Replicas,
    /// Host units written: the clock of block ages.
    pub(in crate::ftl) clock: u64,
}

impl Tables {
    /// Nothing is written, on a drive of a checked configuration. What `loses` data keeps a bit a unit for that.
    pub(in crate::ftl) fn new(
        cfg: &Sections,
        (layout, order): (Layout, PageOrder),
        erase_count: impl Fn(u32) -> u32,
        (facts, loses): (FactsTable, bool),
    ) -> Self {
        let physical = (layout.blocks() * layout.units_per_block()) as usize;
        let counts = (0..layout.blocks()).map(|b| erase_count(layout.member(BlockId(b), 0).block));
        Tables {
            map: Map::new(cfg.logical_units() as usize, physical, loses),
            blocks: Blocks::new(&layout, counts),
            order,
            facts,
            replicas: Replicas::new(cfg, &layout),
            clock: 0,
            layout,
        }
    }

    /// A unit of flash that is to move.
    #[inline]
    pub(in crate::ftl) fn unit_at(&self, at: u32) -> UnitRef {
        UnitRef::new(self.map.stored(Pun(at)).0, at).with_facts(self.facts.get(Pun(at)))
    }
}
