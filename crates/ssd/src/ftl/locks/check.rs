//! The lock manager's tables against all others.

use super::Locks;
use super::exposed::{EXPOSED, ISSUED, ODD, is_leaving, is_owed};
use super::exposure::IN_PROGRAM;
use crate::flash::Flash;
use crate::flash::op::{Op, OpKind, UnitRef};
use crate::ftl::tables::Tables;
use crate::ftl::tables::blocks::BlockState;
use crate::ftl::work::Work;
use crate::restore::{Verdict, ensure};
use crate::units::{BlockId, Ppn, Pun, SimTime};

impl Locks {
    /// Takes what follows from the configuration from fresh ones, and checks what is not checked with the rest.
    pub(in crate::ftl) fn restored(
        &mut self,
        fresh: Locks,
        (blocks_per_lane, logical): (u32, u32),
        now: SimTime,
    ) -> Verdict {
        self.manner.restored(fresh.manner)?;
        self.on = fresh.on;
        self.exposed.restored(&fresh.exposed)?;
        self.generations.restored()?;
        self.clocks.restored(&fresh.clocks, now)?;
        self.late.restored(&fresh.late, now)?;
        self.lists.restored(&fresh.lists, blocks_per_lane, now)?;
        self.renewals.restored(&fresh.renewals, blocks_per_lane, now)?;
        self.copying.restored(&fresh.copying);
        self.writes.restored(&fresh.writes, logical)?;
        self.bound.restored(fresh.bound, now)?;
        Ok(())
    }

    /// Checks what is exposed against what lives and what is on its way (slow).
    pub(in crate::ftl) fn check_locks(
        &self,
        tables: &Tables,
        flash: &Flash,
        work: &Work,
    ) -> Result<(), String> {
        if !self.on {
            return Ok(());
        }
        let (mut waiting, mut issued, mut leaving) = ([0u64; 2], 0u64, 0u32);
        for block in (0..tables.layout.blocks()).map(BlockId) {
            let (mut exposed, first) = (0, block.0 * tables.layout.pages_per_block);
            for page in (first..first + tables.layout.pages_per_block).map(Ppn) {
                let state = self.exposed.state(page);
                let is_exposed = state & EXPOSED != 0;
                waiting[usize::from(state & ODD > 0)] += u64::from(is_exposed);
                exposed += u32::from(is_exposed);
                issued += u64::from(state & ISSUED != 0);
                leaving += u32::from(is_leaving(&self.manner, state));
                let is_in_program = is_exposed && self.clocks.since(page) == IN_PROGRAM;
                let is_late = is_in_program && tables.blocks.programming(block) == 0;
                ensure(!is_late, "a page was programmed, and is not known to be exposed since")?;
                if !is_exposed && !tables.blocks.is_erasing(block) {
                    self.check_hidden(tables, page)?;
                }
            }
            self.renewals.check(&self.exposed, tables, block)?;
            if let Some(&ending) = self.late.blocks.get(block.index()) {
                let is_over = ending != [0; 2] && !tables.blocks.is_erasing(block);
                ensure(!is_over, "pages wait for an erase that is over")?;
                waiting = [0, 1].map(|at| waiting[at] + u64::from(ending[at]));
            }
            let (listed, counted) = (self.lists.blocks[block.index()], self.exposed.blocks[block.index()]);
            if exposed != counted {
                return Err(format!("{exposed} pages of block {} are exposed, it says {}", block.0, counted));
            }
            let lane = &self.lists.lanes[tables.layout.lane_of(block).index()];
            if lane.ready.contains(&block) != listed.listed
                || self.lists.deferred.iter().any(|waiting| waiting.0 == block) != listed.deferred
            {
                return Err(format!("block {} is on other lists of locks than it says", block.0));
            }
        }
        if waiting != self.generations.waiting {
            return Err(format!(
                "{waiting:?} pages are exposed, the counts say {:?}",
                self.generations.waiting
            ));
        }
        if leaving != self.exposed.leaving {
            return Err(format!("{leaving} pages are being left, the count says {}", self.exposed.leaving));
        }
        self.check_bound(tables, flash, work)?;
        self.check_locks_under_way(tables, flash, issued)
    }

    /// Checks what is owed to the bound of exposure.
    fn check_bound(&self, tables: &Tables, flash: &Flash, work: &Work) -> Result<(), String> {
        let is_of_host = |op: &Op| op.kind == OpKind::Program && op.cause.is_for_host();
        let programs = flash.pool.iter().filter(|(_, op)| is_of_host(op));
        let mut slots: Vec<_> =
            programs.flat_map(|(id, _)| flash.pool.units(id)).map(|unit| unit.source as usize).collect();
        slots.sort_unstable();
        let units = tables.layout.units_per_page;
        self.bound.check(
            &tables.layout,
            work.lanes.iter().map(|lane| lane.owed),
            (
                |page| is_owed(self.exposed.state(page)),
                |page: Ppn| tables.map.live_of(page.0 * units, units) != 0,
            ),
            flash
                .pool
                .iter()
                .map(|(_, op)| (tables.layout.lane_of(tables.layout.block_of_page(op.ppn).0), op)),
            |slot| slots.binary_search(&slot).is_ok(),
        )
    }

    /// Of secured data nothing that is dead lies in a page that is not exposed.
    pub(in crate::ftl) fn check_hidden(&self, tables: &Tables, page: Ppn) -> Result<(), String> {
        let first = page.0 * tables.layout.units_per_page;
        let counts = |unit: Pun| {
            let lpn = tables.map.stored(unit);
            tables.map.is_live(unit) || lpn.is_some() && tables.replicas.get(lpn) == unit
        };
        let mut units = (first..first + tables.layout.units_per_page).map(Pun);
        let is_free = tables.blocks.state(tables.layout.block_of_page(page).0) == BlockState::Free;
        match units.find(|&unit| tables.facts.is_secured(unit) && (is_free || !counts(unit))) {
            Some(unit) => Err(format!("unit {} of flash is secured and dead, and nobody locks it", unit.0)),
            None => Ok(()),
        }
    }

    pub(in crate::ftl) fn check_locks_under_way(
        &self,
        tables: &Tables,
        flash: &Flash,
        issued: u64,
    ) -> Result<(), String> {
        let mut in_flight = vec![0; tables.layout.lanes as usize];
        let mut copying = Vec::new();
        let mut pages = 0;
        for (id, op) in flash.pool.iter() {
            if op.kind.hides() {
                in_flight[tables.layout.lane_of(tables.layout.block_of_page(op.ppn).0).index()] += 1;
                let is_issued = |page: &u32| self.exposed.pages[*page as usize] & ISSUED != 0;
                pages += match op.kind {
                    OpKind::BlockLock => {
                        let first = op.ppn.0..op.ppn.0 + tables.layout.pages_per_block;
                        let here = |page: &u32| tables.layout.locate(Ppn(*page)).block == op.at.block;
                        first.filter(|page| here(page) && is_issued(page)).count() as u64
                    }
                    OpKind::Scrub => {
                        let wordline = self.manner.pages_of_op(&tables.layout, op).map(|page| page.0);
                        wordline.filter(is_issued).count() as u64
                    }
                    _ => u64::from(is_issued(&op.ppn.0)),
                };
            } else if matches!(op.kind, OpKind::Program | OpKind::Copyback) && !op.cause.is_for_host() {
                let units = flash.pool.units(id).iter();
                let spoils =
                    |unit: &UnitRef| self.spoils(tables, tables.layout.page_of_unit(Pun(unit.source)).0);
                let is_spoiled = op.kind == OpKind::Copyback && units.clone().any(spoils);
                ensure(!is_spoiled, "a page is copied off a wordline that is reprogrammed")?;
                copying.extend(units.map(|unit| (op.ppn.0, unit.source)));
            }
        }
        let said = self.lists.lanes.iter().map(|lane| lane.in_flight);
        ensure(said.eq(in_flight), "locks under way in a lane")?;
        // A page may be locked by itself and with its block.
        ensure(pages >= issued, "a lock is said to be under way, and is not")?;
        let mut found: Vec<_> = self.copying.iter().collect();
        found.sort_unstable();
        copying.sort_unstable();
        ensure(found == copying, "copies under way")
    }
}
