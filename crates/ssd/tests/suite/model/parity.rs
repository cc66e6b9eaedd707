//! Drives that write parity.

use super::setup::pick;
use ssd::DriveConfig;
use ssd::config::ConfigErrors;
use ssd::rng::Rng;

/// One drive in four writes parity. Draws of its own.
pub fn random_parity(cfg: &mut DriveConfig) {
    let rng = &mut Rng::named(cfg.drive.seed, "model/parity");
    if rng.below(4) == 0 {
        cfg.redundancy.parity_percent = pick(rng, &[2.5, 10.0, 35.0, 100.0]);
        without_parity_if_it_must(cfg);
    }
}

/// Blocks of one bit a cell have no parity, nor have pages that a policy places by itself, nor what is hidden.
pub fn without_parity_if_it_must(cfg: &mut DriveConfig) {
    let parity = cfg.redundancy.parity_percent;
    let told = |error: &ConfigErrors| error.to_string().contains("ftl.parity_percent");
    if parity > 0.0 && cfg.validate().is_err_and(|error| told(&error)) {
        cfg.redundancy.parity_percent = 0.0;
    }
}
