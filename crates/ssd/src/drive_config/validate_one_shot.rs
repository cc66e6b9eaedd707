//! Checks of what wordlines that are programmed at once (`nand.cell.one_shot`) are combined with.

use super::DriveConfig;
use super::conflicts::Conflicts;
use crate::flash::op::UNITS_AT_MOST;
use crate::ftl::{page_class, read_reclaim, sanitize, slc_cache};
use crate::sections::{Placement, ProgramOrder};

const KEY: &str = "nand.cell.one_shot";
const UNIT: &str = "ftl.mapping.unit";
const OR: &str = "or nand.cell.one_shot = false";

impl DriveConfig {
    /// Can wordlines be programmed at once, if they are to be, and do policies that know single pages stay away?
    pub(super) fn check_one_shot(&self, conflicts: &mut Conflicts) {
        let pages = self.pages_of_program();
        if pages == 1 {
            return;
        }
        if self.cell.program_order == ProgramOrder::Shadow {
            let order = self.cell.program_order.name();
            let found = format!(
                "a wordline's {pages} pages in one program, in an order (\"{order}\") with others between them"
            );
            let allowed = format!("nand.cell.program_order = \"wordline_major\", {OR}");
            conflicts.add(&[KEY, "nand.cell.program_order"], found, &allowed);
        }
        if self.pages_per_unit() > 1 {
            let (unit, wide) = (self.mapping.unit.name(), self.pages_per_unit());
            let found = format!(
                "a wordline's {pages} pages in one program, with units of {wide} pages (\"{unit}\") in planes side by \
                 side"
            );
            conflicts.add(&[KEY, UNIT], found, &format!("units of at most a page, such as \"page\", {OR}"));
        }
        self.check_units_of_program(conflicts);
        if self.allocation.placement == Placement::Static {
            let found = format!(
                "a fixed plane for each logical page, with {pages} pages that are programmed at once"
            );
            let allowed = format!("ftl.allocation.placement = \"dynamic\", {OR}");
            conflicts.add(&[KEY, "ftl.allocation.placement"], found, &allowed);
        }
        self.check_policies_of_pages(conflicts);
    }

    /// Does a program carry no more units than it can?
    fn check_units_of_program(&self, conflicts: &mut Conflicts) {
        let (pages, units) = (self.pages_of_program(), self.units_per_program() as usize);
        if units <= UNITS_AT_MOST {
            return;
        }
        let bytes = self.geometry.page_bytes;
        let most = bytes / self.units_per_page() * (UNITS_AT_MOST as u32 / pages);
        let found = format!("programs of {pages} pages of {bytes} bytes, {units} mapping units in all");
        let allowed = format!(
            "at most {UNITS_AT_MOST} units in a program: pages of at most {most} bytes, larger units, {OR}"
        );
        conflicts.add(
            &[KEY, UNIT, "nand.geometry.page_bytes", "nand.geometry.bits_per_cell"],
            found,
            &allowed,
        );
    }

    /// Do policies stay away that go by single pages, or that use blocks whose wordlines are one page?
    fn check_policies_of_pages(&self, conflicts: &mut Conflicts) {
        let pages = self.pages_of_program();
        let asks = [
            (
                read_reclaim::Policy::build(&self.read_reclaim).acts(),
                ("ftl.read_reclaim.policy", self.read_reclaim.name(), "never"),
            ),
            (
                sanitize::Policy::build(&self.sanitize).acts(),
                ("ftl.sanitize.policy", self.sanitize.name(), "none"),
            ),
            (
                page_class::Policy::build(&self.page_class).sorts(),
                ("ftl.page_class.policy", self.page_class.name(), "sequential"),
            ),
            (
                slc_cache::Policy::build(&self.slc_cache).is_used(),
                ("ftl.slc_cache.policy", self.slc_cache.name(), "none"),
            ),
        ];
        for (_, (key, policy, none)) in asks.into_iter().filter(|(acts, _)| *acts) {
            let found = format!(
                "\"{policy}\", which programs single pages, with {pages} that are programmed at once"
            );
            conflicts.add(&[KEY, key], found, &format!("{key} = \"{none}\", {OR}"));
        }
    }
}
