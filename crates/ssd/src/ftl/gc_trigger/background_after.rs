//! Cleans from a point of the workload on, though there is room: a block for each that the host fills.

use super::{Limits, Member};
use serde::{Deserialize, Serialize};

/// Name in configurations.
pub const NAME: &str = "background_after";
/// What it does.
pub const SUMMARY: &str = "once the host has written enough, one block for each block that the host fills";
/// Where it comes from.
pub const SOURCE: &str = "IDS section 6.3 (when it begins; its pace is assumed)";
/// What it costs.
pub const MEMORY: &str = "16 bytes per lane";

section! {
    /// Parameters of `background_after`. A lane that is about to be full is cleaned in any case.
    pub struct Params {
        /// Mapping units that the host writes to flash before garbage collection begins; IDS uses 30 % of the
        /// workload's.
        after_units: u32 = 0, unit "units", range 0..=2_000_000_000;
    }
}

/// The policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    after: u64,
}

impl Policy {
    /// Builds it.
    pub fn new(params: &Params) -> Self {
        Policy { after: u64::from(params.after_units) }
    }
}

impl Member for Policy {
    fn starts(&self, free: u32, limits: &Limits) -> bool {
        let due = limits.written >= self.after && limits.since >= u64::from(limits.units_per_block);
        due || free <= limits.reserve + 1
    }

    fn goes_on(&self, free: u32, limits: &Limits) -> bool {
        limits.cleaned == 0 && limits.written >= self.after || free <= limits.reserve + 1
    }

    fn ends_without_victims(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_cleaned_for_each_that_is_filled() {
        let policy = Policy::new(&Params { after_units: 1_000 });
        let limits = |written, since, cleaned| Limits {
            written,
            since,
            cleaned,
            units_per_block: 128,
            reserve: 1,
            ..Limits::default()
        };
        assert!(!policy.starts(9, &limits(999, 999, 0)) && policy.starts(9, &limits(1_000, 999, 0)));
        assert!(!policy.starts(9, &limits(2_000, 127, 0)) && policy.starts(9, &limits(2_000, 128, 0)));
        assert!(policy.goes_on(9, &limits(2_000, 1, 0)) && !policy.goes_on(9, &limits(2_000, 1, 1)));
        assert!(policy.starts(2, &limits(0, 0, 0)) && policy.goes_on(2, &limits(0, 0, 9)));
    }
}
