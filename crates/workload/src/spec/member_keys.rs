//! What a workload that is a part of another says beyond itself.

use crate::base::settings::settings;
use ssd::signals::Hints;

settings! {
    /// What a phase, or a workload together with others, says beyond itself. It ends at the first limit that is
    /// reached; until then it begins again whenever it is through. Without a limit it runs through once.
    pub struct MemberKeys {
        /// What to call it.
        name: String = String::new(), unit "", allowed "", if |_| true;
        /// It ends after so many requests; 0 for no such limit.
        until_requests: u64 = 0, unit "requests", allowed "", if |_| true;
        /// It ends when so much is read and written; 0 for no such limit.
        until_gib: f64 = 0.0, unit "GiB", allowed "0 to 1e9", if |x| (0.0..=1e9).contains(x);
        /// It ends so long after its beginning; 0 for no such limit.
        until_s: f64 = 0.0, unit "s", allowed "0 to 1e9", if |x| (0.0..=1e9).contains(x);
        /// It ends when the drive is written so many times over; 0 for no such limit.
        until_drive_writes: f64 = 0.0, unit "drives", allowed "0 to 1e6", if |x| (0.0..=1e6).contains(x);
        /// It ends when the drive is read so many times over; 0 for no such limit.
        until_drive_reads: f64 = 0.0, unit "drives", allowed "0 to 1e6", if |x| (0.0..=1e6).contains(x);
        /// Where on the drive it begins.
        at_gib: f64 = 0.0, unit "GiB", allowed "0 to 1e6", if |x| (0.0..=1e6).contains(x);
        /// How much of the drive it sees from there; 0 for the rest.
        space_gib: f64 = 0.0, unit "GiB", allowed "0 to 1e6", if |x| (0.0..=1e6).contains(x);
        /// The stream hint of its requests; 0 leaves them as they are.
        stream: u64 = 0, unit "", allowed "0 to 65535", if |n| *n <= 65_535;
        /// The priority of its requests: 1 low, 2 medium, 3 high; 0 leaves it as it is.
        priority: u64 = 0, unit "", allowed "0 to 3", if |n| *n <= 3;
        /// The security class of its requests: 1 insecure, 2 secure; 0 leaves it as it is.
        class: u64 = 0, unit "", allowed "0 to 2", if |n| *n <= 2;
        /// Its reads are read this once and say nothing of how data is used: a scrub, a backup.
        one_time: bool = false, unit "", allowed "", if |_| true;
        /// Its requests in flight, of a phase without times where another phase is jobs of fio; 0 for 32.
        depth: u64 = 0, unit "requests", allowed "0 to 65536", if |n| *n <= 65_536;
    }
}

impl MemberKeys {
    pub(crate) fn has_limit(&self) -> bool {
        self.until_s > 0.0 || self.ends_by_amount()
    }

    /// Whether nothing but time ends it.
    pub(crate) fn ends_by_time_only(&self) -> bool {
        self.until_s > 0.0 && !self.ends_by_amount()
    }

    /// Whether so many requests or bytes end it.
    fn ends_by_amount(&self) -> bool {
        let bytes = [self.until_gib, self.until_drive_writes, self.until_drive_reads];
        self.until_requests > 0 || bytes.into_iter().any(|limit| limit > 0.0)
    }

    /// The time after which it ends; the end of time for none. ns.
    pub(crate) fn stop_ns(&self) -> u64 {
        if self.until_s > 0.0 { (self.until_s * 1e9) as u64 } else { u64::MAX }
    }

    /// Sets the hints that it names.
    pub(crate) fn set_hints(&self, hints: &mut Hints) {
        // The ranges of the keys are those of the fields.
        if self.stream > 0 {
            hints.stream = self.stream as u16;
        }
        if self.priority > 0 {
            hints.priority = self.priority as u8;
        }
        if self.class > 0 {
            hints.class = self.class as u8;
        }
        hints.one_time |= self.one_time;
    }
}
