//! pSR: who may stop what depends on how urgent the read is.
//!
//! A high read stops an erase, or a read of a lower priority, at once; other reads stop an erase at its next safe
//! point, or at once while their share of the suspends lasts that an erase stands without harm. Programs are stopped
//! at the end of a loop, by any read. What moves and cannot wait is stopped at the ends of its steps only.

use super::{Answer, Member, Running, View};
use crate::signals::{PRIORITIES, Priority};
use crate::units::SimDuration;
use serde::{Deserialize, Serialize};

/// Name in configurations.
pub const NAME: &str = "priority_aware";
/// What it does.
pub const SUMMARY: &str =
    "high-priority reads suspend erases and lower reads at once, others at safe points or in a budget";
/// Where it comes from.
pub const SOURCE: &str = "RealWear section 4.2, pSR and paFTL";
/// What it costs.
pub const MEMORY: &str = "one byte for each block where cells age, nine words a die";

section! {
    /// Parameters of `priority_aware`.
    pub struct Params {
        /// Immediate suspends that an erase endures without harm. Medium and low reads share them in proportion to
        /// their numbers since the die's previous erase, equally if there were none (RealWear sections 4.1 and
        /// 4.2.1). All immediate suspends count; once they are used up, only high-priority
        /// reads suspend at once.
        at_once_per_erase: u32 = 30, unit "suspends", range 0..=1_000;
        /// Minimum time that a suspended operation runs after it is resumed, before it is suspended again (assumed).
        min_run_us: f64 = 20.0, unit "us", range 1.0..=1_000_000.0;
    }
}

/// The policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    at_once_per_erase: u32,
    min_run_ns: u64,
}

impl Policy {
    /// Builds it.
    pub fn new(params: &Params) -> Self {
        let min_run_ns = SimDuration::from_us(params.min_run_us).0;
        Policy { at_once_per_erase: params.at_once_per_erase, min_run_ns }
    }

    /// How many of an erase's suspends at once are those of medium and of low reads.
    fn share(&self, by: Priority, reads: [u64; PRIORITIES]) -> u32 {
        let all = u64::from(self.at_once_per_erase);
        let [low, medium, _] = reads;
        let of_medium = match low + medium {
            0 => all / 2,
            both => (all * medium + both / 2) / both,
        };
        (if by == Priority::Medium { of_medium } else { all - of_medium }) as u32
    }

    fn of_erase(&self, view: &View) -> Answer {
        if view.is_critical {
            return Answer::Boundary;
        }
        let lasts = view.at_once.iter().sum::<u32>() < self.at_once_per_erase
            && view.at_once[view.by as usize] < self.share(view.by, view.reads);
        if view.by == Priority::High || lasts { Answer::AtOnce } else { Answer::Boundary }
    }
}

impl Member for Policy {
    fn answer(&self, view: &View) -> Answer {
        match view.running {
            Running::Erase => self.of_erase(view),
            Running::Program => Answer::Boundary,
            // Any read may go between the attempts of a lower one: it is then the first in line.
            Running::Read(running) if view.by == Priority::High && running < Priority::High => Answer::AtOnce,
            Running::Read(_) => Answer::Wait,
        }
    }

    fn min_run_ns(&self) -> u64 {
        self.min_run_ns
    }

    fn is_priority_aware(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Priority::{High, Low, Medium};

    const ERASE: View =
        View { running: Running::Erase, by: Medium, is_critical: false, at_once: [0; 3], reads: [0; 3] };

    fn answer(view: View) -> Answer {
        Policy::new(&Params::default()).answer(&view)
    }

    #[test]
    fn high_reads_stop_erases_at_once_unless_they_are_critical() {
        let high = View { by: High, at_once: [15, 15, 40], ..ERASE };
        assert_eq!(answer(high), Answer::AtOnce);
        assert_eq!(answer(View { is_critical: true, ..high }), Answer::Boundary);
        assert_eq!(answer(View { is_critical: true, ..ERASE }), Answer::Boundary);
    }

    #[test]
    fn medium_and_low_share_thirty_by_their_reads() {
        let left = |by, at_once, reads| answer(View { by, at_once, reads, ..ERASE }) == Answer::AtOnce;
        // Nobody has read: fifteen each.
        assert!(left(Medium, [0, 14, 0], [0; 3]) && !left(Medium, [0, 15, 0], [0; 3]));
        assert!(left(Low, [14, 15, 0], [0; 3]) && !left(Low, [15, 0, 0], [0; 3]));
        // Two medium reads for each low one: 20 and 10; high reads do not count for it.
        assert!(left(Medium, [0, 19, 0], [5, 10, 99]) && !left(Medium, [0, 20, 0], [5, 10, 99]));
        assert!(left(Low, [9, 20, 0], [5, 10, 99]) && !left(Low, [10, 0, 0], [5, 10, 99]));
        // All suspends count: with thirty nobody but high stops at once.
        assert!(left(Medium, [0, 0, 29], [0; 3]) && !left(Medium, [0, 0, 30], [0; 3]));
    }

    #[test]
    fn programs_and_reads_are_stopped_as_the_paper_says() {
        for by in Priority::ALL {
            assert_eq!(answer(View { running: Running::Program, by, ..ERASE }), Answer::Boundary);
            for running in Priority::ALL {
                let expected = if by == High && running != High { Answer::AtOnce } else { Answer::Wait };
                assert_eq!(answer(View { running: Running::Read(running), by, ..ERASE }), expected);
            }
        }
    }
}
