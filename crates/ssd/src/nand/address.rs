//! Where a page is on the chips.

use serde::{Deserialize, Serialize};

/// A page on the chips.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageAddress {
    /// Die, counted over the drive, channel by channel.
    pub die: u32,
    /// Plane in the die.
    pub plane: u32,
    /// Physical block, counted over the drive.
    pub block: u32,
    /// Page in the block, in program order.
    pub page: u32,
}
