//! Checks of cells that age: are their constants possible, and do they go with the rest of the drive?

use super::DriveConfig;
use super::conflicts::Conflicts;
use crate::config::member::Misfit;
use crate::config::{ConfigErrors, presets};
use crate::flash::{PROGRAM_MODES, read_voltage};
use crate::ftl::techniques::{Beside, Needs};
use crate::ftl::{program_mode, read_reclaim, sanitize, stream};
use crate::host::{buffer, hotness};
use crate::nand::aging::Uses;
use crate::nand::{Chip, Sanitizing, gray};
use crate::sections::cell::Sensing;
use crate::sections::{DisturbLaw, ErrorModel};

impl DriveConfig {
    /// Nothing is checked while cells make no errors, no data moves because of reads and no page is reprogrammed: their
    /// constants are not used then.
    pub(super) fn check_cells(&self, conflicts: &mut Conflicts) {
        if let Some(Misfit { keys, found, allowed }) = program_mode::misfit(&self.program_mode, self) {
            conflicts.add(keys, found, &allowed);
        }
        let clashes = self.techniques().clashes(&self.beside());
        for Misfit { keys, found, allowed } in self.techniques().misfits(self).into_iter().chain(clashes) {
            conflicts.add(keys, found, &allowed);
        }
        self.check_ages(conflicts);
        self.check_voltages(conflicts);
        let reclaims = read_reclaim::Policy::build(&self.read_reclaim).acts();
        if self.errors.model == ErrorModel::None {
            if self.errors.open_interval {
                let keys = ["nand.errors.open_interval", "nand.errors.model"];
                let found = "true, for cells that do not age".to_owned();
                let allowed = "nand.errors.model = \"cells\", or nand.errors.open_interval = false";
                conflicts.add(&keys, found, allowed);
            }
            let reprograms = sanitize::Policy::build(&self.sanitize).means() == Some(Sanitizing::Reprograms);
            if reclaims || reprograms {
                conflicts.0.extend(self.cells.validate().err().map_or_else(Vec::new, |errors| errors.0));
            }
            // Cells of fewer bits would say nothing of some page types.
            let says_nothing = reclaims && self.cells.states.bits_per_cell < self.geometry.bits_per_cell;
            if says_nothing || reprograms && self.geometry.bits_per_cell > 1 {
                self.check_bits_and_code(conflicts);
            }
            return;
        }
        if let Err(errors) = self.cells.validate() {
            conflicts.0.extend(errors.0);
        }
        self.check_modes(conflicts);
        self.check_bits_and_code(conflicts);
        self.check_sectors(conflicts);
        if self.cells.ecc.sensing == Sensing::Page && !self.timing.t_read_us.is_empty() {
            let keys = ["cell.ecc.sensing", "nand.timing.t_read_us"];
            let allowed = "t_read_us = [], which takes t_read_base_us and t_sense_us; or sensing = \"cell\"";
            conflicts.add(
                &keys,
                "sensing by page, with a tR that does not give the time per threshold".to_owned(),
                allowed,
            );
        }
        let span = self.cells.population.retention_span;
        if span != 0.0 && self.errors.variation {
            let keys = ["cell.population.retention_span", "nand.errors.variation"];
            let allowed =
                "0 in a drive, whose tables have one retention law for all blocks; or variation = false";
            conflicts.add(&keys, format!("blocks whose retention differs by {span}"), allowed);
        }
    }

    /// What techniques are told of other policies.
    fn beside(&self) -> Beside<'_> {
        let means = sanitize::Policy::build(&self.sanitize).means();
        let (own, names) = (self.program_mode.name(), &self.cells.modes.names);
        let resists = |name: &String| name.ends_with("resistant");
        let is_other = own != program_mode::nominal::NAME || !names.iter().skip(1).all(resists);
        let is_known = is_other && self.errors.model != ErrorModel::None;
        Beside {
            fills_wordlines: matches!(means, Some(Sanitizing::Scrubs | Sanitizing::Reprograms))
                .then(|| self.sanitize.name()),
            modes: is_known.then_some((own, names)),
        }
    }

    /// Is told of the ages of blocks what policies go by?
    fn check_ages(&self, conflicts: &mut Conflicts) {
        let reads = self.reads_by_age().then(|| Needs {
            errors: true,
            key: "flash.read_voltage.policy",
            by: format!("voltages by \"{}\"", self.read_voltage.name()),
            or: None,
        });
        let tells = self.techniques().tells();
        for Needs { errors, key, by, or } in self.techniques().needs().into_iter().chain(reads) {
            let or = or.map(|or| format!("; {or}")).unwrap_or_default();
            let Some(tells) = &tells else {
                conflicts.add(
                    &[key],
                    format!("{by}, with blocks whose ages nothing tells"),
                    "another policy",
                );
                continue;
            };
            if (errors && tells.errors) || (!errors && tells.ages) {
                continue;
            }
            let (lacks, another) = match errors {
                true => ("estimates no errors", "another fitted marker"),
                false => ("has none", "another marker with ages"),
            };
            let found = format!("{by}, with ages by \"{}\", which {lacks}", tells.name);
            conflicts.add(&[key, tells.key], found, &format!("{}, or {another}{or}", tells.better));
        }
    }

    /// Do voltages by age have cells that age?
    fn check_voltages(&self, conflicts: &mut Conflicts) {
        if !self.reads_by_age() {
            return;
        }
        let (by, policy) = (self.read_voltage.name(), "flash.read_voltage.policy");
        if self.errors.model == ErrorModel::None {
            let found = format!("voltages by \"{by}\" for cells that do not age");
            let allowed =
                "nand.errors.model = \"cells\", or flash.read_voltage.policy = \"default_sequence\"";
            conflicts.add(&[policy, "nand.errors.model"], found, allowed);
        }
    }

    /// Whether voltages are chosen by the ages of blocks.
    pub(crate) fn reads_by_age(&self) -> bool {
        read_voltage::Policy::build(&self.read_voltage).goes_by_age()
    }

    /// What cells that age are used for.
    pub(crate) fn uses_of_cells(&self) -> Uses {
        Uses { between: self.reads_by_age(), one_bit: self.slc_blocks_per_lane() > 0 }
    }

    /// The policy of voltages, told of the cells and of what the marker of age is off, in bits.
    ///
    /// # Errors
    /// If it has no voltages that read the cells as it promises.
    pub(crate) fn voltages(
        &self,
        chip: &Chip,
        off: Option<[f64; 2]>,
    ) -> Result<read_voltage::Policy, ConfigErrors> {
        let mut policy = read_voltage::Policy::build(&self.read_voltage);
        let Some(cells) = chip.cells() else { return Ok(policy) };
        let reads_move = self.errors.disturb_law == DisturbLaw::Voltage;
        policy.learn(cells, off, reads_move).map_err(|why| {
            let mut conflicts = Conflicts(Vec::new());
            let found = format!("voltages by \"{}\": {why}", self.read_voltage.name());
            let allowed = "another flash.read_voltage.policy, or a more accurate age marker";
            let keys = ["flash.read_voltage.policy"]
                .into_iter()
                .chain(self.techniques().tells().map(|tells| tells.key));
            conflicts.add(&keys.collect::<Vec<_>>(), found, allowed);
            ConfigErrors(conflicts.0)
        })?;
        Ok(policy)
    }

    /// Is there somebody who tells what policies ask of the hotness of data?
    pub(super) fn check_hotness(&self, conflicts: &mut Conflicts) {
        let stream = stream::Policy::build(&self.stream);
        let counts = hotness::Policy::build(&self.hotness).counts();
        let (mode, by, none) = (self.program_mode.name(), self.stream.name(), self.hotness.name());
        let asks = if self.tells_hotness_beside() {
            let who = format!("\"{mode}\", which depends on the hotness of data");
            Some(("ftl.program_mode.policy", who, ", or another program mode"))
        } else if stream.needs().hotness {
            Some(("ftl.stream.policy", format!("streams by \"{by}\""), ""))
        } else {
            None
        };
        if let Some((key, who, or)) = asks.filter(|_| !counts) {
            let found = format!("{who}, with host.hotness \"{none}\", which does not classify data");
            let allowed = format!("host.hotness.policy = \"hit_counts\"{or}");
            conflicts.add(&[key, "host.hotness.policy"], found, &allowed);
        }
        let rules = buffer::Policy::build(&self.buffer).rules(self.unit_bytes());
        if stream.needs().promotes && !rules.one_list {
            let found =
                "clean data that leaves DRAM is written again, but is dropped when its space is needed";
            conflicts.add(
                &["ftl.stream.place", "host.buffer.evict"],
                found.to_owned(),
                "host.buffer.evict = \"lru\", or another ftl.stream.place",
            );
        }
        if counts && rules.slots == 0 {
            let (by, buffer) = (self.hotness.name(), self.buffer.name());
            let found = format!(
                "accesses counted by \"{by}\" in a DRAM where host.buffer \"{buffer}\" keeps no data"
            );
            let keys = ["host.hotness.policy", "host.buffer.policy"];
            conflicts.add(&keys, found, "a host.buffer that keeps data, or host.hotness.policy = \"none\"");
        }
    }

    /// Are program modes few enough to be counted apart?
    fn check_modes(&self, conflicts: &mut Conflicts) {
        let names = &self.cells.modes.names;
        let most = PROGRAM_MODES - usize::from(self.slc_blocks_per_lane() > 0);
        if names.len() > most {
            let found = format!("{} modes", names.len());
            let beside = if most < PROGRAM_MODES { " besides SLC blocks" } else { "" };
            let allowed = format!("at most {most}{beside}, or results could not distinguish them");
            conflicts.add(&["cell.modes.names"], found, &allowed);
        }
    }

    /// Are the cells those that the geometry and `nand.cell` speak of?
    fn check_bits_and_code(&self, conflicts: &mut Conflicts) {
        let (bits, states) = (self.geometry.bits_per_cell, &self.cells.states);
        if states.bits_per_cell != bits {
            let keys = ["cell.states.bits_per_cell", "nand.geometry.bits_per_cell"];
            let found = format!("cells of {} bits in a geometry of {bits} bits", states.bits_per_cell);
            let part = presets::default_cell(bits).name;
            conflicts.add(&keys, found, &format!("the same number; [cell] part = \"{part}\" has {bits}"));
            return;
        }
        let usual = gray::default_code(bits);
        let cells = if states.gray_code.is_empty() { &usual } else { &states.gray_code };
        let drive = &self.cell.gray_code;
        // The order of the thresholds in a row says nothing.
        let differ = || gray::codewords(cells, bits) != gray::codewords(drive, bits);
        if !drive.is_empty()
            && gray::check(drive, bits).is_ok()
            && gray::check(cells, bits).is_ok()
            && differ()
        {
            let found = format!("{drive:?} for the drive, {cells:?} for its cells");
            let allowed = "the same code for both, or nand.cell.gray_code = [] to use that of the cells";
            conflicts.add(&["nand.cell.gray_code", "cell.states.gray_code"], found, allowed);
        }
    }

    /// Is a page made of whole sectors, and is there room for their parity?
    fn check_sectors(&self, conflicts: &mut Conflicts) {
        let (geometry, ecc) = (&self.geometry, &self.cells.ecc);
        let (page, sector) = (geometry.page_bytes, ecc.sector_bytes);
        if !page.is_multiple_of(sector) {
            let keys = ["nand.geometry.page_bytes", "cell.ecc.sector_bytes"];
            let found = format!("pages of {page} bytes, corrected in sectors of {sector} bytes");
            conflicts.add(&keys, found, "a page of whole sectors");
            return;
        }
        let sectors = page / sector;
        let needed = u64::from(sectors) * u64::from(ecc.parity_bytes);
        if needed > u64::from(geometry.spare_bytes) {
            let keys = ["nand.geometry.spare_bytes", "cell.ecc.parity_bytes"];
            let found = format!(
                "{sectors} sectors with {} bytes of parity each, in {} spare bytes",
                ecc.parity_bytes, geometry.spare_bytes
            );
            let least = geometry.spare_bytes / sectors;
            let mut allowed = format!("spare_bytes at least {needed}");
            if least > 0 {
                allowed.push_str(&format!(", or parity_bytes at most {least}"));
            }
            conflicts.add(&keys, found, &allowed);
        }
    }
}
