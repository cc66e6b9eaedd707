//! Checks of values against each other.

use super::DriveConfig;
use super::conflicts::{Conflicts, show_gib, show_gib_up};
use crate::config::member::Misfit;
use crate::config::value::show_f64;
use crate::config::{ConfigError, ConfigErrors, KeyAt, Table};
use crate::flash::op::UNITS_AT_MOST;
use crate::flash::preemption;
use crate::ftl::{read_reclaim, sanitize, slc_cache, stream};
use crate::nand::gray;
use crate::sections::{
    ErrorModel, Issue, MAX_UNITS, MovesOfFirst, Placement, PriorityOrder, SchedulingOrder, Superblock,
};
use crate::units::SECTOR_BYTES;

/// Most commands that all queues together may hold.
pub const COMMANDS_MAX: u64 = 65_536;
/// Most dies of a drive: events carry a die's number in 20 bits, and real drives have some hundreds.
const MAX_DIES: u64 = 65_536;

impl DriveConfig {
    /// Is every value in range, and is the whole possible? All errors are reported, not just the first.
    pub fn validate(&self) -> Result<(), ConfigErrors> {
        let mut errors = Vec::new();
        for (path, section) in self.sections() {
            for (key, problem) in section.check() {
                errors.push(ConfigError {
                    keys: vec![KeyAt { key: format!("{path}.{key}"), origin: None }],
                    origin: None,
                    problem,
                });
            }
        }
        if errors.is_empty() {
            let mut conflicts = Conflicts(errors);
            self.check_pages(&mut conflicts);
            self.check_placement(&mut conflicts);
            self.check_rows(&mut conflicts);
            self.check_planes(&mut conflicts);
            self.check_one_shot(&mut conflicts);
            self.check_streams(&mut conflicts);
            self.check_times(&mut conflicts);
            self.check_gray_code(&mut conflicts);
            self.check_queues(&mut conflicts);
            self.check_orders(&mut conflicts);
            self.check_read_reclaim(&mut conflicts);
            self.check_cells(&mut conflicts);
            self.check_hotness(&mut conflicts);
            self.check_page_class(&mut conflicts);
            self.check_slc_cache(&mut conflicts);
            self.check_parity(&mut conflicts);
            self.check_preemption(&mut conflicts);
            self.check_sanitize(&mut conflicts);
            if self.check_capacity(&mut conflicts) {
                self.check_lazy_erase(&mut conflicts);
                self.check_spare(&mut conflicts);
            }
            errors = conflicts.0;
        }
        if errors.is_empty() { Ok(()) } else { Err(ConfigErrors(errors)) }
    }

    fn check_pages(&self, conflicts: &mut Conflicts) {
        let g = &self.geometry;
        let dies = u64::from(g.channels) * u64::from(g.chips_per_channel) * u64::from(g.dies_per_chip);
        if dies > MAX_DIES {
            let keys =
                ["nand.geometry.channels", "nand.geometry.chips_per_channel", "nand.geometry.dies_per_chip"];
            conflicts.add(&keys, format!("{dies} dies"), &format!("at most {MAX_DIES} dies in all"));
        }
        let page = self.geometry.page_bytes;
        let keys = ["nand.geometry.page_bytes", "ftl.mapping.unit"];
        let Some(unit) = self.mapping.unit.bytes() else {
            if !page.is_multiple_of(SECTOR_BYTES as u32) {
                conflicts.add(&keys[..1], format!("{page} bytes"), "a multiple of 512 bytes (a sector)");
            }
            return;
        };
        let most = unit * UNITS_AT_MOST as u32;
        let allowed = match page {
            page if page < unit && unit.is_multiple_of(page) => return self.check_wide_units(conflicts),
            page if page < unit => format!("{unit} bytes or a divisor of it"),
            page if !page.is_multiple_of(unit) => format!("a multiple of {unit} bytes"),
            page if page > most => format!("at most {most} bytes"),
            _ => return,
        };
        let found = format!("pages of {page} bytes, mapped in units of {} KiB", unit / 1024);
        conflicts.add(&keys, found, &format!("{allowed}, or ftl.mapping.unit = \"page\""));
    }

    /// Do mapping units larger than a page make up rows, and do policies that know single pages stay away?
    fn check_wide_units(&self, conflicts: &mut Conflicts) {
        const UNIT: &str = "ftl.mapping.unit";
        let (name, pages) = (self.mapping.unit.name(), self.pages_per_unit());
        if !self.planes_per_row().is_multiple_of(pages) {
            self.tell_row(conflicts, UNIT);
        }
        let reclaims = read_reclaim::Policy::build(&self.read_reclaim).acts();
        let sanitizes = sanitize::Policy::build(&self.sanitize).acts();
        let asks = [
            (reclaims, "ftl.read_reclaim.policy", self.read_reclaim.name(), "never"),
            (sanitizes, "ftl.sanitize.policy", self.sanitize.name(), "none"),
        ];
        for (_, key, policy, none) in asks.into_iter().filter(|(acts, ..)| *acts) {
            let found =
                format!("\"{policy}\", which goes by single pages, with units of {pages} (\"{name}\")");
            let allowed = format!("{key} = \"{none}\", or ftl.mapping.unit = \"page\"");
            conflicts.add(&[key, UNIT], found, &allowed);
        }
        if self.read_ahead.size_kib > 0 {
            let found = format!("units of {pages} pages, of which none is read ahead");
            let key = "host.read_ahead.size_kib";
            conflicts.add(&[key, UNIT], found, &format!("{key} = 0, or ftl.mapping.unit = \"page\""));
        }
    }

    /// Tells that units do not make up a row, and what decides how large that is.
    fn tell_row(&self, conflicts: &mut Conflicts, unit: &str) {
        let (pages, planes, bytes) = (self.pages_per_unit(), self.planes_per_row(), self.geometry.page_bytes);
        let (key, other) = match (self.allocation.issue, self.allocation.superblock) {
            (Issue::Page, _) => ("ftl.allocation.issue", "ftl.allocation.issue = \"row\"".to_owned()),
            (Issue::Row, Superblock::None) => {
                ("ftl.allocation.superblock", "ftl.allocation.superblock = \"planes\"".to_owned())
            }
            (Issue::Row, _) => ("nand.geometry.planes_per_die", format!("a multiple of {pages} planes")),
        };
        let row = if planes == 1 { "a page".to_owned() } else { format!("{planes} pages") };
        let found = format!(
            "units of {pages} pages (\"{}\" on pages of {bytes} bytes), in rows of {row}",
            self.mapping.unit.name()
        );
        let allowed = format!("units of which a row holds one or several, such as \"page\"; or {other}");
        conflicts.add(&[unit, key, "nand.geometry.page_bytes"], found, &allowed);
    }

    /// Are there no more streams than there can be, with the one of what moves?
    fn check_streams(&self, conflicts: &mut Conflicts) {
        let (policy, moves) = (stream::Policy::build(&self.stream), self.allocation.moves);
        let beside = self.tells_hotness_beside();
        let own = policy.laid_out(MovesOfFirst::Joined, false).count;
        let (of_class, all) = (policy.laid_out(moves, false).count, policy.laid_out(moves, beside).count);
        let most = stream::STREAMS_AT_MOST - 1;
        if usize::from(all) <= most {
            return;
        }
        let (name, mode) = (self.stream.name(), self.program_mode.name());
        let mut found = format!("{own} streams of \"{name}\"");
        let mut allowed = format!("at most {most} streams in all");
        let mut keys = vec!["ftl.stream.policy"];
        if of_class > own {
            found.push_str(", and one more for data moved out of the first");
        }
        if beside {
            found.push_str(&format!(", each for mixed, read-hot and write-hot data (\"{mode}\")"));
            allowed.push_str(", or another program mode");
            keys.push("ftl.program_mode.policy");
        }
        if of_class > own {
            allowed.push_str(", or ftl.allocation.moves = \"joined\"");
            keys.push("ftl.allocation.moves");
        }
        conflicts.add(&keys, found, &allowed);
    }

    /// Are there planes that work together, if pages are to go to them together?
    fn check_rows(&self, conflicts: &mut Conflicts) {
        let planes = self.planes_per_row();
        if planes > 1 && !self.scheduling.multi_plane {
            let keys = ["ftl.allocation.issue", "flash.scheduling.multi_plane"];
            let found = format!("rows of {planes} planes that never work at the same time");
            conflicts.add(
                &keys,
                found,
                "flash.scheduling.multi_plane = true, or ftl.allocation.issue = \"page\"",
            );
        }
    }

    /// Are there planes that can read on their own, if they are to?
    fn check_planes(&self, conflicts: &mut Conflicts) {
        const KEY: &str = "nand.timing.independent_reads";
        if !self.timing.independent_reads {
            return;
        }
        if self.geometry.planes_per_die == 1 {
            let found = "planes that read on their own, in dies of one plane".to_owned();
            let allowed = "at least 2 planes, or nand.timing.independent_reads = false";
            conflicts.add(&[KEY, "nand.geometry.planes_per_die"], found, allowed);
        }
        if self.timing.cache_operations {
            let found =
                "planes that read on their own, with the next page sensed while one leaves".to_owned();
            conflicts.add(&[KEY, "nand.timing.cache_operations"], found, "one of the two");
        }
    }

    /// Does each logical page have one plane, if it is to have one, and does it stay there?
    fn check_placement(&self, conflicts: &mut Conflicts) {
        const STATIC: &str = "ftl.allocation.placement";
        const OR: &str = "or ftl.allocation.placement = \"dynamic\"";
        if self.allocation.placement != Placement::Static {
            return;
        }
        let superblock = self.allocation.superblock.name();
        if self.lane_span() > 1 {
            let planes = self.lane_span();
            let found = format!(
                "a fixed plane for each logical page, in superblocks (\"{superblock}\") of {planes} planes"
            );
            let allowed = format!("ftl.allocation.superblock = \"none\", {OR}");
            conflicts.add(&[STATIC, "ftl.allocation.superblock"], found, &allowed);
        }
        if self.units_per_page() > 1 {
            let units = self.units_per_page();
            let found =
                format!("a fixed plane for each logical page, with pages of {units} separately mapped units");
            let allowed = format!("ftl.mapping.unit = \"page\", {OR}");
            conflicts.add(&[STATIC, "ftl.mapping.unit", "nand.geometry.page_bytes"], found, &allowed);
        }
        if self.cleaning.paces_host {
            let found = "a fixed plane for each logical page, with writes that go elsewhere while the host outruns GC";
            let allowed = format!("ftl.cleaning.paces_host = false, {OR}");
            conflicts.add(&[STATIC, "ftl.cleaning.paces_host"], found.to_owned(), &allowed);
        }
    }

    fn check_times(&self, conflicts: &mut Conflicts) {
        let types = self.geometry.bits_per_cell as usize;
        let read = &self.timing.t_read_us;
        let program = &self.timing.t_program_us;
        let allowed = format!("one number, or {types}, one for each page type of {types} bits per cell");
        if read.len() > 1 && read.len() != types {
            let found = format!("a list of {}", read.len());
            let allowed = format!("{allowed}; or [] to take t_read_base_us and t_sense_us");
            conflicts.add(&["nand.timing.t_read_us", "nand.geometry.bits_per_cell"], found, &allowed);
        }
        if program.len() != 1 && program.len() != types {
            let found = format!("a list of {}", program.len());
            conflicts.add(&["nand.timing.t_program_us", "nand.geometry.bits_per_cell"], found, &allowed);
        }
    }

    fn check_gray_code(&self, conflicts: &mut Conflicts) {
        let bits = self.geometry.bits_per_cell;
        let code = &self.cell.gray_code;
        if !code.is_empty()
            && let Err(what) = gray::check(code, bits)
        {
            let allowed = format!(
                "{bits} rows, one for each page type, with each threshold of 1 to {} exactly once, so that all states \
                 hold different bits; or [] for the usual code",
                (1u32 << bits) - 1
            );
            conflicts.add(
                &["nand.cell.gray_code", "nand.geometry.bits_per_cell"],
                format!("a code that {what}"),
                &allowed,
            );
        }
    }

    fn check_queues(&self, conflicts: &mut Conflicts) {
        let (count, depth) = (u64::from(self.queues.count), u64::from(self.queues.depth));
        if count * depth > COMMANDS_MAX {
            let allowed = format!("at most {COMMANDS_MAX} commands in all queues together");
            conflicts.add(
                &["host.queues.depth", "host.queues.count"],
                format!("{count} x {depth} commands"),
                &allowed,
            );
        }
    }

    /// Does what data moves by because of reads fit the chips?
    fn check_read_reclaim(&self, conflicts: &mut Conflicts) {
        let policy = read_reclaim::Policy::build(&self.read_reclaim);
        if let Some(Misfit { keys, found, allowed }) = policy.misfit(&self.geometry) {
            conflicts.add(keys, found, &allowed);
        }
        let (endurance, told_apart) = (self.reliability.endurance_cycles, policy.cycles_told_apart());
        if endurance > told_apart && self.errors.model == ErrorModel::Cells {
            let keys = ["nand.reliability.endurance_cycles", "ftl.read_reclaim.policy"];
            let found = format!("{endurance} cycles, with a table of block endurance up to {told_apart}");
            conflicts.add(&keys, found, &format!("at most {told_apart} cycles, or policy \"never\""));
        }
    }

    /// Can data be sorted by the class of pages, if it is to be?
    fn check_page_class(&self, conflicts: &mut Conflicts) {
        if let Some(Misfit { keys, found, allowed }) = self.page_class_misfit() {
            conflicts.add(keys, found, &allowed);
        }
    }

    /// Can blocks be used with one bit a cell, if they are to be?
    fn check_slc_cache(&self, conflicts: &mut Conflicts) {
        if let Some(Misfit { keys, found, allowed }) = slc_cache::misfit(&self.slc_cache, self) {
            conflicts.add(keys, found, &allowed);
        }
    }

    /// Can work of dies be stopped, if it is to be?
    fn check_preemption(&self, conflicts: &mut Conflicts) {
        const POLICY: &str = "flash.preemption.policy";
        let (policy, name) = (preemption::Policy::build(&self.preemption), self.preemption.name());
        if policy.acts() && self.timing.cache_operations {
            let found = format!("\"{name}\", with the next operation sent to a busy die");
            let allowed = "nand.timing.cache_operations = false, or flash.preemption.policy = \"none\"";
            conflicts.add(&[POLICY, "nand.timing.cache_operations"], found, allowed);
        }
        if policy.acts() && self.scheduling.order == SchedulingOrder::Fifo {
            let found = format!("\"{name}\", for reads that queue with everything else");
            let allowed = "flash.scheduling.order = \"read_first\", or flash.preemption.policy = \"none\"";
            conflicts.add(&[POLICY, "flash.scheduling.order"], found, allowed);
        }
        if policy.is_priority_aware() && self.scheduling.priorities == PriorityOrder::Ignored {
            let found = format!("\"{name}\", with priorities ignored");
            let allowed = "flash.scheduling.priorities = \"by_class\", or another policy";
            conflicts.add(&[POLICY, "flash.scheduling.priorities"], found, allowed);
        }
    }

    /// Parameters of which one must not exceed another.
    fn check_orders(&self, conflicts: &mut Conflicts) {
        for (path, section) in self.sections() {
            for (low, high) in section.in_order() {
                Self::check_order(conflicts, path, section, low, high);
            }
        }
    }

    fn check_order(conflicts: &mut Conflicts, path: &str, section: &dyn Table, low: &str, high: &str) {
        let number = |key| section.show(key).and_then(|text| text.parse::<f64>().ok());
        if let (Some(low_value), Some(high_value)) = (number(low), number(high))
            && low_value > high_value
        {
            let keys = [format!("{path}.{low}"), format!("{path}.{high}")];
            let found = format!("{} above {}", show_f64(low_value), show_f64(high_value));
            let allowed = format!("{low} at most {high}");
            conflicts.add(&[keys[0].as_str(), keys[1].as_str()], found, &allowed);
        }
    }

    /// Can blocks wait for their erase until they are opened, if they are to?
    fn check_lazy_erase(&self, conflicts: &mut Conflicts) {
        const LAZY: &str = "ftl.cleaning.lazy_erase";
        if !self.cleaning.lazy_erase {
            return;
        }
        let lanes = u64::from(self.lanes());
        let blocks = u64::from(self.used_blocks_per_plane());
        let spare = blocks.saturating_sub(self.data_blocks_per_lane()) * lanes;
        if spare < lanes {
            let found = format!("true, with {spare} blocks beyond the data in {lanes} lanes");
            let allowed = format!(
                "at least {lanes} blocks beyond the data, one waiting in each lane; or {LAZY} = false"
            );
            conflicts.add(&[LAZY, "drive.over_provisioning_percent", "drive.logical_gib"], found, &allowed);
        }
    }

    /// Has each lane enough blocks beside its data for cleaning to go on?
    fn check_spare(&self, conflicts: &mut Conflicts) {
        let blocks = u64::from(self.used_blocks_per_plane());
        let (data, needed) = (self.data_blocks_per_lane(), self.spare_blocks_needed_per_lane());
        if data + needed <= blocks {
            return;
        }
        let what = if self.lane_span() == 1 { "blocks" } else { "superblocks" };
        let cached = u64::from(self.slc_blocks_per_lane());
        if data + needed - cached <= blocks {
            let most = blocks - (data + needed - cached);
            let found = format!(
                "a cache of {cached} {what} in each lane of {blocks}, of which data and garbage collection leave {most}"
            );
            let fewer = if most >= 2 { format!("at most {most} {what}; or ") } else { String::new() };
            let allowed = format!(
                "{fewer}ftl.slc_cache.policy = \"none\"; or {}",
                self.remedies(blocks, needed).join(", or ")
            );
            let keys = ["ftl.slc_cache.policy", self.flash_key()];
            conflicts.add(&keys, found, &allowed);
            return;
        }
        let found = format!(
            "{} lanes (superblock = \"{}\") of {blocks} {what} hold {data} {what} of data; {} are left",
            self.lanes(),
            self.allocation.superblock.name(),
            blocks.saturating_sub(data)
        );
        let mut allowed = format!(
            "at least {needed} {what} beyond the data in each lane ({} open, {} in reserve, 1 for garbage collection",
            self.open_blocks_per_lane(),
            self.cleaning.reserve_blocks
        );
        let stray = self.stray_blocks_per_lane(self.used_blocks_per_plane());
        if stray > 0 {
            allowed.push_str(&format!(", {stray} for partly invalid pages"));
        }
        let bad = needed - self.spare_blocks_to_work_per_lane(self.used_blocks_per_plane());
        allowed.push_str(&if bad > 0 { format!(", {bad} bad from the factory)") } else { ")".to_owned() });
        allowed.push_str(&format!("; {}", self.remedies(blocks, needed).join(", or ")));
        let space = if self.drive.logical_gib > 0.0 {
            "drive.logical_gib"
        } else {
            "drive.over_provisioning_percent"
        };
        let keys = [
            space,
            "ftl.stream.policy",
            self.flash_key(),
            "ftl.allocation.superblock",
            "ftl.cleaning.reserve_blocks",
        ];
        conflicts.add(&keys, found, &allowed);
    }

    /// The smallest number of blocks in each plane that is enough for the data and for cleaning, if there is one.
    fn blocks_enough(&self) -> Option<u32> {
        let enough = |blocks: u32| {
            let larger = self.with_used_blocks(blocks);
            larger.physical_units() <= MAX_UNITS
                && larger.data_blocks_per_lane() + larger.spare_blocks_needed_per_lane() <= u64::from(blocks)
        };
        let is_limited = self.drive.raw_gib > 0.0;
        let most = if is_limited { self.geometry.blocks_per_plane } else { 1 << 22 };
        // Enough blocks stay enough when there are more: the smallest number by doubling, then halving.
        let mut high = self.used_blocks_per_plane();
        while high < most && !enough(high) {
            high = if is_limited { (high * 2).min(most) } else { high * 2 };
        }
        if !enough(high) {
            return None;
        }
        let mut low = self.used_blocks_per_plane();
        while low + 1 < high {
            let middle = low + (high - low) / 2;
            if enough(middle) { high = middle } else { low = middle }
        }
        Some(high)
    }

    /// Changes of one key that give each lane the spare blocks it needs.
    fn remedies(&self, blocks: u64, needed: u64) -> Vec<String> {
        let mut remedies = Vec::new();
        // Each stream has a block open.
        let streams = u64::from(self.streams().count);
        let fit = (streams + blocks).saturating_sub(self.data_blocks_per_lane() + needed);
        if streams > 2 && fit > 0 {
            remedies.push(format!("ftl.stream with at most {fit} streams, not {streams}"));
        }
        if blocks > needed {
            // The largest logical space whose data leaves the spare blocks.
            let most = self.data_units() / blocks * (blocks - needed);
            if self.drive.logical_gib > 0.0 {
                remedies
                    .push(format!("logical_gib at most {}", show_gib(most * u64::from(self.unit_bytes()))));
            } else {
                let percent = (self.physical_units() as f64 / most as f64 - 1.0) * 1000.0;
                remedies.push(format!(
                    "over_provisioning_percent at least {}",
                    show_f64((percent.ceil() + 1.0) / 10.0)
                ));
            }
        }
        if let Some(blocks) = self.blocks_enough() {
            let bytes = self.with_used_blocks(blocks).used_bytes();
            remedies.push(match (self.drive.raw_gib > 0.0, blocks == self.geometry.blocks_per_plane) {
                (true, true) => "raw_gib = 0 for all the flash".to_owned(),
                (true, false) => format!("raw_gib at least {}", show_gib_up(bytes)),
                (false, _) => format!("blocks_per_plane at least {blocks}"),
            });
        }
        if remedies.is_empty() {
            remedies.push("more over-provisioning".to_owned());
        }
        remedies
    }
}
