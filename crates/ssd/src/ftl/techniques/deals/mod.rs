//! Deals (redFTL+): data that reads disturb is dealt over fresh blocks in program modes that resist reads, the hottest
//! units on the page types that are read with least harm.
//!
//! The policy (`ftl.read_reclaim`, `redftl_plus`) counts reads and says when a block is to leave; here is which block
//! goes with it, how many targets there are, and, lane by lane, the job (`deal`). With too few free blocks a deal waits
//! for cleaning, one that cannot wait not for long; then the disturbed block moves alone into one target, and if there
//! is none, to where cleaning's data goes, in the normal mode.

mod deal;

pub use super::NoCounts as Counts;
use super::{Beside, Ended, OwnStep, Reach, Seen, Spread, TakenUp, Technique, Wish, Works};
use crate::config::member::Misfit;
use crate::flash::op::UnitRef;
use crate::ftl::read_reclaim::redftl_plus::Policy;
use crate::ftl::read_reclaim::{self, Config};
use crate::ftl::tables::Tables;
use crate::ftl::tables::layout::Layout;
use crate::ftl::work::COMING_BY_READS;
use crate::ftl::work::lane::ROUTINE;
use crate::ftl::work::walk::PageUnits;
use crate::restore::{Verdict, alike};
use crate::sections::Sections;
use crate::units::{BlockId, LaneId, Pun};
use deal::{Deal, Way};
use serde::{Deserialize, Serialize};

/// Blocks that were to come free while a deal waited for room, after which it makes do with less.
const PATIENCE: u64 = 4;

/// The technique.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Deals {
    /// The deal of each lane.
    lanes: Vec<Deal>,
}

/// Its policy.
fn own(policy: &mut read_reclaim::Policy) -> &mut Policy {
    match policy {
        read_reclaim::Policy::RedftlPlus(policy) => policy,
        _ => unreachable!("deals by another policy"),
    }
}

/// The program mode that a partner's data asks for: what has been read out of a read-resistant block once goes to no
/// weaker one with others (section 4.3.2 has one source).
fn mode_for(policy: &Policy, tables: &Tables, partner: BlockId) -> u8 {
    if !partner.is_some() {
        return 0;
    }
    let members = (0..tables.layout.span).map(|k| tables.layout.member(partner, k).block);
    members.map(|physical| policy.mode_after(physical)).max().unwrap_or(0)
}

/// Targets that the data of some blocks fills: one, if it fits.
fn targets_for(tables: &Tables, sources: [BlockId; 2]) -> u32 {
    let some = sources.iter().filter(|block| block.is_some());
    let live: u32 = some.map(|&block| tables.blocks.live(block)).sum();
    1 + u32::from(live > tables.layout.units_per_block())
}

/// The physical blocks of a block are programmed in a mode from now on.
fn open(policy: &mut Policy, tables: &Tables, block: BlockId, mode: u8) {
    for k in 0..tables.layout.span {
        policy.on_open(tables.layout.member(block, k).block, mode);
    }
}

impl Technique for Deals {
    type Config = Config;
    type Counts = Counts;

    fn acts(config: &Config) -> bool {
        matches!(config, Config::RedftlPlus(_))
    }

    fn new(config: &Config, cfg: &Sections, layout: &Layout) -> Self {
        let lanes = if Deals::acts(config) { layout.lanes } else { 0 };
        Deals { lanes: (0..lanes).map(|_| Deal::new(layout, cfg.cleaning.copies_in_flight)).collect() }
    }

    fn clash(config: &Config, beside: &Beside<'_>) -> Option<Misfit> {
        let by = config.name();
        let scrubs = |name: &str| Misfit {
            keys: &["ftl.sanitize.policy", "ftl.read_reclaim.policy"],
            found: format!(
                "\"{name}\", with blocks that \"{by}\" deals to, whose wordlines are never finished"
            ),
            allowed: "another ftl.read_reclaim.policy, or another ftl.sanitize.policy".to_owned(),
        };
        let modes = |(own, names): (&str, &[String])| Misfit {
            keys: &["ftl.read_reclaim.policy", "cell.modes.names", "ftl.program_mode.policy"],
            found: format!(
                "\"{by}\", which deals data to read-resistant modes, with modes {} by \"{own}\"",
                names.join(", ")
            ),
            allowed: "ftl.program_mode.policy = \"nominal\" and cells with modes called resistant, such as \
                      [cell] part = \"mlc\""
                .to_owned(),
        };
        let found = beside.modes.map(modes).or_else(|| beside.fills_wordlines.map(scrubs));
        found.filter(|_| Deals::acts(config))
    }

    fn is_on(&self) -> bool {
        !self.lanes.is_empty()
    }

    fn restored(&mut self, fresh: Self, seen: &Seen<'_>) -> Verdict {
        alike("lanes of deals", &self.lanes, &fresh.lanes)?;
        for ((deal, fresh), lane) in self.lanes.iter_mut().zip(&fresh.lanes).zip((0..).map(LaneId)) {
            deal.restored(fresh, &seen.tables.layout, |block| seen.lane(lane).any(|own| own == block))?;
        }
        Ok(())
    }

    fn bytes(&self) -> usize {
        self.lanes.iter().map(Deal::bytes).sum()
    }
}

impl Works for Deals {
    /// A deal begins if there is room. With less room than it needs it waits for cleaning, the forced one not for long,
    /// and then makes do with one target and no partner.
    fn take_up(&mut self, lane: LaneId, wish: &Wish, to_spare: u32, reach: Reach<'_>) -> TakenUp {
        let &Wish { candidate, mode, paired, forced } = wish;
        let (tables, policy) = (reach.tables, own(reach.policy));
        let block = candidate.block;
        // Two blocks out of one: cleaning makes up for it.
        let spreads = paired && to_spare >= 2 && policy.has_empty_partner();
        let partner = if paired && !spreads { policy.partner_of(tables, lane, block) } else { None };
        let partner = partner.unwrap_or(BlockId::NONE);
        let mode = mode_for(policy, tables, partner).max(mode);
        let needed = 1 + u32::from(partner.is_some());
        if reach.work.lane_mut(lane).coming + needed > reach.work.coming_at_most + COMING_BY_READS {
            return TakenUp::Later;
        }
        let sources = [block, partner];
        let blocks = if spreads { 2 } else { targets_for(tables, sources) };
        let deal = &mut self.lanes[lane.index()];
        if to_spare >= blocks {
            let spread = Spread { sources, blocks, mode };
            deal.begin(tables, policy, spread, paired);
            return TakenUp::Now(spread);
        }
        let work = reach.work.lane_mut(lane);
        let comes = work.coming > 0 || work.jobs[ROUTINE].is_some();
        if !work.candidates.lacks_room {
            (work.candidates.lacks_room, deal.lacked_at) = (true, work.erases);
            return TakenUp::Later;
        }
        let is_patient = !forced || work.erases - deal.lacked_at < PATIENCE;
        if comes && is_patient {
            return TakenUp::Later;
        }
        if to_spare >= 1 {
            let spread = Spread { sources: [block, BlockId::NONE], blocks: 1, mode };
            deal.begin(tables, policy, spread, paired);
            return TakenUp::Now(spread);
        }
        if forced { TakenUp::NoBlocks } else { TakenUp::Later }
    }

    fn works_in(&self, lane: LaneId) -> bool {
        self.lanes[lane.index()].is_active
    }

    fn opened(&mut self, lane: LaneId, block: BlockId, reach: Reach<'_>) {
        let deal = &mut self.lanes[lane.index()];
        deal.opened(block);
        if block.is_some() {
            open(own(reach.policy), reach.tables, block, deal.mode);
        }
    }

    fn step(
        &mut self,
        lane: LaneId,
        tables: &Tables,
        (may_read, pages): (bool, u32),
        units: &mut PageUnits,
    ) -> OwnStep {
        self.lanes[lane.index()].step(tables, may_read, pages, units)
    }

    fn reads(&self, lane: LaneId, block: BlockId) -> bool {
        let deal = &self.lanes[lane.index()];
        deal.is_active && deal.sources.contains(&block)
    }

    fn arrived(&mut self, lane: LaneId, unit: &UnitRef, lives: bool) {
        let way = if lives { Way::InController } else { Way::Dead };
        self.lanes[lane.index()].arrive(unit, way);
    }

    fn gives_up(&mut self, lane: LaneId, block: BlockId) -> bool {
        self.lanes[lane.index()].drop_target(block)
    }

    fn end(&mut self, lane: LaneId, reach: Reach<'_>) -> Ended {
        let ended = self.lanes[lane.index()].end();
        for (block, _) in ended.opened.into_iter().filter(|&(block, is_empty)| block.is_some() && is_empty) {
            open(own(reach.policy), reach.tables, block, 0);
        }
        ended
    }

    fn filled(&self, lane: LaneId, block: BlockId) -> Option<u32> {
        self.lanes[lane.index()].filled(block)
    }

    fn in_controller(&self) -> Vec<Pun> {
        self.lanes.iter().flat_map(|deal| deal.in_controller()).collect()
    }
}
