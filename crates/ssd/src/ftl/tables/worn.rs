//! What the firmware knows of a physical block's wear, whoever tells it.

/// A whole life, on the scale of ages.
pub const LIFE: u32 = 1 << 12;

/// What is known of a block's wear.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Worn {
    /// Program/erase cycles.
    pub cycles: u32,
    /// Share of its life that it has behind it, in 1/4096; 0 where nothing tells it.
    pub age_q12: u32,
    /// Errors that its data can have beyond those of 12 months (N_ECC less N12), in 1/256 bit; 0 where nothing tells
    /// them.
    pub left_q8: u32,
}
