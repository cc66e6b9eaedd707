//! Random drives that program over what dies (`ftl.sanitize.policy = "reprogram"`).

use super::setup::{make_room, random_config, random_policy};
use super::techniques;
use ssd::DriveConfig;
use ssd::ftl::sanitize;
use ssd::nand::cell::CellPart;
use ssd::rng::Rng;
use ssd::sections::{ErrorModel, ProgramOrder, Reliability};

/// Whether pages of a drive can be programmed over, and what that does to others be known; it is, then.
pub fn can_reprogram(cfg: &mut DriveConfig) -> bool {
    let bits = cfg.geometry.bits_per_cell;
    let has_others = techniques::replicates(cfg) || techniques::deals(cfg);
    if bits == 1 || has_others {
        return false;
    }
    cfg.cell.program_order = ProgramOrder::WordlineMajor;
    if cfg.errors.model == ErrorModel::None {
        cfg.cells = CellPart::preset(["mlc", "tlc_48l", "qlc"][bits as usize - 2]).unwrap();
    }
    cfg.timing.t_reprogram_us = cfg.timing.t_page_lock_us.max(10.0);
    true
}

/// A drive without errors of its own that programs over what dies.
pub fn random_reprograms(rng: &mut Rng) -> DriveConfig {
    loop {
        let mut cfg = random_config(rng);
        cfg.reliability = Reliability::default();
        cfg.redundancy.parity_percent = 0.0;
        if can_reprogram(&mut cfg) {
            random_policy(&mut cfg, "ftl.sanitize", sanitize::reprogram::NAME, |_| None);
            if make_room(&mut cfg) {
                return cfg;
            }
        }
    }
}
