//! Random drives whose wordlines go as a whole, or are programmed over, beside what fills wordlines in another way or
//! counts on them: a cache whose pages are wordlines, and copies inside planes.

use super::reprogram::can_reprogram;
use super::setup::{make_room, pick, random_caching, random_config, sanitize_by};
use crate::support::every::{choose, has};
use ssd::DriveConfig;
use ssd::ftl::sanitize;
use ssd::rng::Rng;

/// Such a drive.
pub fn random_wordlines(rng: &mut Rng) -> DriveConfig {
    loop {
        let copies = rng.below(3) == 0;
        let mut cfg = if copies { random_config(rng) } else { random_caching(rng) };
        if copies && has("ftl.migration") {
            choose(&mut cfg, "ftl.migration", pick(rng, &["copyback_always", "copyback_by_cycles"]));
        }
        let policy = if copies { "reprogram" } else { pick(rng, &["scrub", "reprogram"]) };
        if policy == sanitize::reprogram::NAME && !can_reprogram(&mut cfg) {
            continue;
        }
        sanitize_by(&mut cfg, rng, policy);
        if make_room(&mut cfg) {
            return cfg;
        }
    }
}
