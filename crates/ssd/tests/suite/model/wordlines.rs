//! Random drives whose wordlines go as a whole, or are programmed over, beside what fills wordlines in another way: a
//! cache whose pages are wordlines.

use super::reprogram::can_reprogram;
use super::setup::{make_room, random_caching, sanitize_by};
use ssd::DriveConfig;
use ssd::ftl::sanitize;
use ssd::rng::Rng;

/// Such a drive.
pub fn random_wordlines(rng: &mut Rng) -> DriveConfig {
    loop {
        let mut cfg = random_caching(rng);
        let policy = [sanitize::scrub::NAME, sanitize::reprogram::NAME][rng.below(2) as usize];
        if policy == sanitize::reprogram::NAME && !can_reprogram(&mut cfg) {
            continue;
        }
        sanitize_by(&mut cfg, rng, policy);
        if make_room(&mut cfg) {
            return cfg;
        }
    }
}
