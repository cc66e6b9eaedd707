//! Checks of locks against the chips that are to have them.

use super::DriveConfig;
use super::conflicts::Conflicts;
use crate::flash::preemption;
use crate::ftl::work::bound::Terms;
use crate::ftl::work::{COMING_AT_MOST, COMING_BY_READS};
use crate::ftl::{page_class, read_reclaim, sanitize};
use crate::host::buffer::{self, Flush};
use crate::nand::Sanitizing;
use crate::nand::cell::lock::BLOCK_LOCK_US;
use crate::sections::{ProgramOrder, SchedulingOrder};

/// The other way out of a conflict.
const OR: &str = "or another ftl.sanitize.policy";

impl DriveConfig {
    /// Can pages be kept from being read, if they are to be?
    pub(super) fn check_sanitize(&self, conflicts: &mut Conflicts) {
        let policy = sanitize::Policy::build(&self.sanitize);
        if policy.acts() {
            self.check_beside_capacitors(conflicts);
        }
        if policy.means() == Some(Sanitizing::Locks) {
            self.check_flags(conflicts);
            self.check_pulses(conflicts, policy.locks_blocks());
            self.check_relocks(conflicts, policy.rules().relock_ns);
            self.check_bound(conflicts, policy.rules().max_exposed_ns);
        } else if policy.acts() {
            match policy.means() {
                Some(Sanitizing::Scrubs) => {
                    let key = "nand.timing.t_scrub_us";
                    self.check_wordlines(conflicts);
                    self.check_pulse(conflicts, (key, self.timing.t_scrub_us), "scrubs");
                }
                Some(Sanitizing::Reprograms) => {
                    let key = "nand.timing.t_reprogram_us";
                    self.check_wordlines(conflicts);
                    self.check_reprogram(conflicts);
                    self.check_pulse(conflicts, (key, self.timing.t_reprogram_us), "reprograms");
                }
                _ => {}
            }
        }
    }

    /// What a flush promises is that what was replaced cannot be read, and it can until the new data is in flash.
    fn check_beside_capacitors(&self, conflicts: &mut Conflicts) {
        let rules = buffer::Policy::build(&self.buffer).rules(self.unit_bytes());
        if rules.flush == Flush::Capacitors {
            let found = format!("\"{}\", with flushes that wait for no flash", self.sanitize.name());
            let keys = ["ftl.sanitize.policy", "host.buffer.flush"];
            conflicts.add(&keys, found, &format!("host.buffer.flush = \"program\", {OR}"));
        }
    }

    /// Where pages wait until their wordline is full, does somebody fill it?
    fn check_wordlines(&self, conflicts: &mut Conflicts) {
        let name = self.sanitize.name();
        if self.cell.program_order != ProgramOrder::WordlineMajor {
            let found = format!("\"{name}\", with wordlines that are finished after others have begun");
            let keys = ["ftl.sanitize.policy", "nand.cell.program_order"];
            conflicts.add(&keys, found, &format!("nand.cell.program_order = \"wordline_major\", {OR}"));
        }
    }

    /// Is it known what reprogramming a page does to others?
    fn check_reprogram(&self, conflicts: &mut Conflicts) {
        let name = self.sanitize.name();
        if self.geometry.bits_per_cell == 1 {
            let found = format!("\"{name}\", with one bit per cell: a wordline is a page");
            let keys = ["ftl.sanitize.policy", "nand.geometry.bits_per_cell"];
            conflicts.add(&keys, found, &format!("nand.geometry.bits_per_cell of 2 to 4, {OR}"));
        }
    }

    /// Does the pulse that hides a page take time?
    fn check_pulse(&self, conflicts: &mut Conflicts, (key, us): (&'static str, f64), what: &str) {
        if us <= 0.0 {
            let found = format!("\"{}\", with {what} that take 0 us", self.sanitize.name());
            let allowed = "more than 0 us: a pulse of no length programs nothing";
            conflicts.add(&[key, "ftl.sanitize.policy"], found, allowed);
        }
    }

    fn check_flags(&self, conflicts: &mut Conflicts) {
        let (cells, spare) = (self.lock.cells, self.geometry.spare_bytes.saturating_mul(8));
        if cells.is_multiple_of(2) {
            let found = format!("{cells} flag cells of a page, which may have no majority");
            conflicts.add(&["nand.lock.cells"], found, "an odd number, such as 9");
        }
        let of_wordline = cells * self.geometry.bits_per_cell;
        if of_wordline > spare {
            let found = format!("{of_wordline} flag cells on a wordline, whose spare area has {spare}");
            let allowed = "as many as the spare bytes of a page hold, a bit in each, or a larger spare area";
            conflicts.add(&["nand.lock.cells", "nand.geometry.spare_bytes"], found, allowed);
        }
    }

    /// Is there time to lock every page again before the next are due?
    fn check_relocks(&self, conflicts: &mut Conflicts, relock_ns: u64) {
        let g = &self.geometry;
        let blocks = f64::from(g.planes_per_die) * f64::from(self.used_blocks_per_plane());
        let round_ms = blocks * f64::from(g.pages_per_block()) * self.timing.t_page_lock_us / 1e3;
        let relock_ms = relock_ns as f64 / 1e6;
        if relock_ns > 0 && relock_ms < 2.0 * round_ms {
            let found = format!(
                "locks refreshed after {relock_ms:.1} ms, although locking all pages of a die takes \
                 {round_ms:.1} ms"
            );
            let allowed = "0, or at least twice as long as that";
            conflicts.add(&["ftl.sanitize.relock_months", "nand.timing.t_page_lock_us"], found, allowed);
        }
    }

    /// Can what is killed be locked within the bound of exposure, and is all counted that comes between?
    fn check_bound(&self, conflicts: &mut Conflicts, limit_ns: u64) {
        const KEY: &str = "ftl.sanitize.max_exposed_ms";
        if limit_ns == 0 {
            return;
        }
        let limit_ms = limit_ns as f64 / 1e6;
        let preemption = preemption::Policy::build(&self.preemption);
        let terms = Terms::new(self, limit_ns, preemption.acts());
        let least_ns = terms.least_ns(self, COMING_AT_MOST + COMING_BY_READS);
        if limit_ns < least_ns {
            let found =
                format!("{limit_ms} ms, less than a die may need to lock what one program invalidates");
            let allowed =
                format!("0, or at least {} ms with these times", least_ns.div_ceil(10_000) as f64 / 100.0);
            conflicts.add(&[KEY, "nand.timing.t_erase_us"], found, &allowed);
        }
        let reclaim = read_reclaim::Policy::build(&self.read_reclaim);
        let spreads = reclaim.spreads() || reclaim.orders_leaving() || reclaim.replica_pages_per_block() > 0;
        let classes = page_class::Policy::build(&self.page_class).sorts();
        for (is_so, key, other) in [
            (self.cleaning.lazy_erase, "ftl.cleaning.lazy_erase", "false"),
            (self.slc_blocks_per_lane() > 0, "ftl.slc_cache.policy", "\"none\""),
            (classes, "ftl.page_class.policy", "\"sequential\""),
            (spreads, "ftl.read_reclaim.policy", "\"never\""),
            (self.scheduling.order != SchedulingOrder::ReadFirst, "flash.scheduling.order", "\"read_first\""),
            (preemption.is_priority_aware(), "flash.preemption.policy", "\"safe_point\""),
            (self.timing.independent_reads, "nand.timing.independent_reads", "false"),
        ] {
            if is_so {
                let found = format!("{limit_ms} ms, beside work whose time and room are not claimed ({key})");
                conflicts.add(&[KEY, key], found, &format!("{KEY} = 0, or {key} = {other}"));
            }
        }
    }

    fn check_pulses(&self, conflicts: &mut Conflicts, of_blocks: bool) {
        let name = self.sanitize.name();
        let key = "nand.timing.t_page_lock_us";
        self.check_pulse(conflicts, (key, self.timing.t_page_lock_us), "locks of pages");
        let us = self.timing.t_block_lock_us;
        if of_blocks && !BLOCK_LOCK_US.contains(&us) {
            let found = format!("\"{name}\", with locks of blocks that take {us} us");
            let keys = ["nand.timing.t_block_lock_us", "ftl.sanitize.policy"];
            let allowed = "200, 300 or 400 us: the effect of other pulses on the select line is not known";
            conflicts.add(&keys, found, allowed);
        }
    }
}
