//! Refresh: is data written anew before it grows too old to be corrected?
//!
//! Charge leaks, so that data which nobody touches collects errors until no attempt corrects it. Firmware therefore
//! rewrites old blocks in the background. A drive without power cannot, and catches up when it is back.
//!
//! Old blocks are looked for when the cells' clock ticks (every 3.75 s at their reference temperature, more often in
//! the heat) and after `--age "retain ..."`; a lane is scanned only once its oldest data can be due. Blocks that are
//! due are emptied one by one in each lane, oldest first, when nothing there is more urgent. Simulated time without any
//! event ends in one tick: after a gap in a trace the drive catches up with the next command.
//!
//! What is old in the SLC cache (`ftl.slc_cache`) leaves it. Not refreshed: blocks that are about to be retired.

pub use super::NoCounts as Counts;
use super::{Offer, Offers, Seen, Technique};
use crate::config::member::Misfit;
use crate::ftl::tables::blocks::BlockState;
use crate::ftl::tables::layout::Layout;
use crate::ftl::work::looks::Looks;
use crate::restore::{Verdict, alike, ensure};
use crate::sections::{ErrorModel, Sections};
use crate::units::{BlockId, LaneId};
use serde::{Deserialize, Serialize};

family! {
    /// Is data rewritten before it is too old to be corrected?
    path "ftl/techniques/refresh", default never;
    members {
        never: Never,
        by_age: ByAge,
    }
    methods {
        /// The age at which data is written anew; minutes at the reference temperature of the cells.
        fn due_minutes(&self) -> Option<u32> {
            None
        }
    }
}

/// The technique.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Refresh {
    policy: Policy,
    /// The age at which data is written anew; minutes. The end of time if none is.
    #[serde(skip)]
    due: u32,
    /// The block of each lane that is to be emptied next.
    next: Vec<BlockId>,
    /// Before this minute of the cells' clock nothing in a lane is due.
    not_before: Vec<u32>,
}

impl Refresh {
    /// Whether there is something in a block that is worth it.
    fn is_eligible(seen: &Seen<'_>, block: BlockId) -> bool {
        let at_rest = matches!(seen.tables.blocks.state(block), BlockState::Open | BlockState::Closed);
        at_rest && seen.tables.blocks.live(block) > 0 && !seen.tables.blocks.is_failing(block)
    }

    /// Finds the oldest block of a lane, and whether that is due.
    fn scan(&mut self, lane: LaneId, seen: &Seen<'_>) {
        let eligible = seen.lane(lane).filter(|&block| Refresh::is_eligible(seen, block));
        let aged = eligible.filter_map(|block| Some((seen.data_minutes(block)?, block)));
        // Of blocks of one age the first.
        let oldest = aged.max_by_key(|&(age, block)| (age, core::cmp::Reverse(block)));
        let (age, block) = oldest.unwrap_or((0, BlockId::NONE));
        self.not_before[lane.index()] = seen.minutes().saturating_add(self.due.saturating_sub(age));
        self.next[lane.index()] = if age >= self.due { block } else { BlockId::NONE };
    }
}

impl Technique for Refresh {
    type Config = Config;
    type Counts = Counts;

    fn acts(config: &Config) -> bool {
        Policy::build(config).due_minutes().is_some()
    }

    fn new(config: &Config, _: &Sections, layout: &Layout) -> Self {
        let policy = Policy::build(config);
        let due = policy.due_minutes();
        let lanes = if due.is_some() { layout.lanes as usize } else { 0 };
        Refresh {
            due: due.unwrap_or(u32::MAX),
            policy,
            next: vec![BlockId::NONE; lanes],
            not_before: vec![0; lanes],
        }
    }

    fn misfit(config: &Config, cfg: &Sections) -> Option<Misfit> {
        (Refresh::acts(config) && cfg.errors.model == ErrorModel::None).then(|| Misfit {
            keys: &["ftl.refresh.policy", "nand.errors.model"],
            found: format!("\"{}\", of cells that do not age", config.name()),
            allowed: "nand.errors.model = \"cells\", or ftl.refresh.policy = \"never\"".to_owned(),
        })
    }

    fn is_on(&self) -> bool {
        !self.next.is_empty()
    }

    fn restored(&mut self, fresh: Self, seen: &Seen<'_>) -> Verdict {
        self.policy.restored(fresh.policy)?;
        self.due = fresh.due;
        alike("lanes whose data grows old", &self.next, &fresh.next)?;
        alike("lanes whose data grows old", &self.not_before, &fresh.not_before)?;
        let is_own = |(lane, block): (u32, &BlockId)| seen.lane(LaneId(lane)).any(|own| own == *block);
        let known = (0..).zip(&self.next).filter(|(_, block)| block.is_some()).all(is_own);
        ensure(known, "a block of another lane to be written anew")
    }

    fn bytes(&self) -> usize {
        self.next.len() * 2 * size_of::<u32>()
    }
}

impl Offers for Refresh {
    fn tick(&mut self, seen: &Seen<'_>, looks: &mut Looks) {
        let now = seen.minutes();
        for lane in (0..seen.tables.layout.lanes).map(LaneId) {
            if now >= self.not_before[lane.index()] {
                self.scan(lane, seen);
                if self.next[lane.index()].is_some() {
                    looks.soon(lane);
                }
            }
        }
    }

    fn offer(&self, lane: LaneId, seen: &Seen<'_>) -> Option<Offer> {
        let block = Some(self.next[lane.index()]).filter(|block| block.is_some())?;
        // It may have been cleaned since, and filled again.
        let is_due = seen.data_minutes(block).is_some_and(|age| age >= self.due);
        let offer = Offer { block, closes: true, waits: true };
        (is_due && Refresh::is_eligible(seen, block)).then_some(offer)
    }

    fn taken(&mut self, lane: LaneId, _: BlockId, seen: &Seen<'_>) {
        self.scan(lane, seen);
    }
}

#[cfg(test)]
mod tests;
