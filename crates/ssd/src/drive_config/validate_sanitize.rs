//! Checks of locks against the chips that are to have them.

use super::DriveConfig;
use super::validate::Conflicts;
use crate::ftl::{read_reclaim, sanitize};
use crate::nand::Sanitizing;
use crate::nand::cell::lock::BLOCK_LOCK_US;
use crate::sections::ProgramOrder;

impl DriveConfig {
    /// Can pages be kept from being read, if they are to be?
    pub(super) fn check_sanitize(&self, conflicts: &mut Conflicts) {
        let policy = sanitize::Policy::build(&self.sanitize);
        if policy.means() == Some(Sanitizing::Locks) {
            self.check_flags(conflicts);
            self.check_pulses(conflicts, policy.locks_blocks());
        } else if policy.acts() {
            self.check_wholes(conflicts, policy.means() == Some(Sanitizing::Scrubs));
        }
    }

    /// Where wordlines or blocks go as a whole, do they hold what they seem to?
    fn check_wholes(&self, conflicts: &mut Conflicts, scrubs: bool) {
        let name = self.sanitize.name();
        const OR: &str = "or another ftl.sanitize.policy";
        if self.slc_blocks_per_lane() > 0 {
            let cache = self.slc_cache.name();
            let found = format!("\"{name}\", with a cache (\"{cache}\") of blocks of one bit a cell");
            let keys = ["ftl.sanitize.policy", "ftl.slc_cache.policy"];
            conflicts.add(&keys, found, &format!("ftl.slc_cache.policy = \"none\", {OR}"));
        }
        if scrubs && self.cell.program_order != ProgramOrder::WordlineMajor {
            let found = format!("\"{name}\", with wordlines that are finished when others have begun");
            let keys = ["ftl.sanitize.policy", "nand.cell.program_order"];
            conflicts.add(&keys, found, &format!("nand.cell.program_order = \"wordline_major\", {OR}"));
        }
        if scrubs && read_reclaim::Policy::build(&self.read_reclaim).deals() {
            let by = self.read_reclaim.name();
            let found =
                format!("\"{name}\", with blocks that \"{by}\" deals to, whose wordlines nobody finishes");
            let keys = ["ftl.sanitize.policy", "ftl.read_reclaim.policy"];
            conflicts.add(&keys, found, &format!("another ftl.read_reclaim.policy, {OR}"));
        }
        if scrubs && self.replica_pages_per_block() > 0 {
            let found =
                format!("\"{name}\", with replicas of what is read often on wordlines that data has begun");
            let keys = ["ftl.sanitize.policy", "ftl.read_reclaim.replica_limit"];
            conflicts.add(&keys, found, &format!("ftl.read_reclaim.replica_limit = 0, {OR}"));
        }
        if scrubs && self.timing.t_scrub_us <= 0.0 {
            let found = format!("\"{name}\", with scrubs that take 0 us");
            let keys = ["nand.timing.t_scrub_us", "ftl.sanitize.policy"];
            conflicts.add(&keys, found, "more than 0 us: a pulse without length programs nothing");
        }
    }

    fn check_flags(&self, conflicts: &mut Conflicts) {
        let (cells, spare) = (self.lock.cells, self.geometry.spare_bytes.saturating_mul(8));
        if cells.is_multiple_of(2) {
            let found = format!("{cells} flag cells of a page, of which no majority is sure");
            conflicts.add(&["nand.lock.cells"], found, "an odd number, such as 9");
        }
        let of_wordline = cells * self.geometry.bits_per_cell;
        if of_wordline > spare {
            let found = format!("{of_wordline} flag cells on a wordline, whose spare area has {spare}");
            let allowed = "as many as the spare bytes of a page hold, a bit in each, or a larger spare area";
            conflicts.add(&["nand.lock.cells", "nand.geometry.spare_bytes"], found, allowed);
        }
    }

    fn check_pulses(&self, conflicts: &mut Conflicts, of_blocks: bool) {
        let name = self.sanitize.name();
        if self.timing.t_page_lock_us <= 0.0 {
            let found = format!("\"{name}\", with locks of pages that take 0 us");
            let keys = ["nand.timing.t_page_lock_us", "ftl.sanitize.policy"];
            conflicts.add(&keys, found, "more than 0 us: a pulse without length programs nothing");
        }
        let us = self.timing.t_block_lock_us;
        if of_blocks && !BLOCK_LOCK_US.contains(&us) {
            let found = format!("\"{name}\", with locks of blocks that take {us} us");
            let keys = ["nand.timing.t_block_lock_us", "ftl.sanitize.policy"];
            let allowed = "200, 300 or 400 us: where others leave the select line is not known";
            conflicts.add(&keys, found, allowed);
        }
    }
}
