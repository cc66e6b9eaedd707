//! Cells that age, as the chips keep them: the integers of the event loop against the exact model and against numbers
//! worked out by hand.

#[path = "aging/support.rs"]
mod support;

use ssd::nand::aging::Sensed;
use support::{chip, config, fill};

const AT_ONCE: Sensed = Sensed { failed: 0, readable: true };

#[test]
fn a_fresh_block_is_read_at_the_first_attempt() {
    let cfg = config();
    let mut chip = chip(&cfg);
    fill(&mut chip, 3);
    for page in 0..cfg.geometry.pages_per_block() {
        assert_eq!(chip.sense(3, page, 0), AT_ONCE);
    }
}
