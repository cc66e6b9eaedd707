//! The host link: full duplex, each direction one transfer at a time, first come first served.

use crate::restore::{MOST, Verdict, ensure};
use crate::sections;
use crate::units::{SimDuration, SimTime};
use serde::{Deserialize, Serialize};

/// The link's state.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Link {
    /// One way.
    pub latency_ns: u64,
    femtoseconds_per_byte: u64,
    /// The same towards the drive, as it is now.
    #[serde(skip)]
    inward_femtoseconds_per_byte: u64,
    /// And as long as the data of writes is held back; 0 if it never is.
    #[serde(skip)]
    held_femtoseconds_per_byte: u64,
    is_held: bool,
    /// When each direction has carried what it was given.
    pub inward_free_at: SimTime,
    pub outward_free_at: SimTime,
}

impl Link {
    // tidy: allow(float): called when a drive is built
    pub fn new(cfg: &sections::Link, write_cap_mb_s: f64) -> Self {
        let per_byte = |mb_s: f64| libm::round(1e9 / mb_s) as u64;
        Link {
            latency_ns: SimDuration::from_us(cfg.latency_us).0,
            femtoseconds_per_byte: per_byte(cfg.bandwidth_mb_s),
            inward_femtoseconds_per_byte: per_byte(cfg.bandwidth_mb_s),
            held_femtoseconds_per_byte: match write_cap_mb_s > 0.0 {
                true => per_byte(write_cap_mb_s.min(cfg.bandwidth_mb_s)),
                false => 0,
            },
            is_held: false,
            inward_free_at: SimTime::ZERO,
            outward_free_at: SimTime::ZERO,
        }
    }

    /// Takes what follows from the configuration from a fresh link, and checks the rest.
    pub fn restored(&mut self, fresh: &Link) -> Verdict {
        (self.latency_ns, self.femtoseconds_per_byte) = (fresh.latency_ns, fresh.femtoseconds_per_byte);
        self.held_femtoseconds_per_byte = fresh.held_femtoseconds_per_byte;
        ensure(!self.is_held || self.may_hold_back(), "writes that nothing holds back")?;
        self.hold_back(self.is_held);
        let until = self.inward_free_at.max(self.outward_free_at);
        ensure(until.0 < MOST, "until when the link is taken")
    }

    /// Whether the data of writes may be held back.
    #[inline]
    pub fn may_hold_back(&self) -> bool {
        self.held_femtoseconds_per_byte > 0
    }

    /// Holds back the data of writes from now on, or no longer.
    pub fn hold_back(&mut self, is_held: bool) {
        self.is_held = is_held;
        self.inward_femtoseconds_per_byte =
            if is_held { self.held_femtoseconds_per_byte } else { self.femtoseconds_per_byte };
    }

    /// Time of that many bytes.
    #[inline]
    fn data_ns(bytes: u64, femtoseconds_per_byte: u64) -> u64 {
        let femtoseconds = bytes.checked_mul(femtoseconds_per_byte);
        match femtoseconds.and_then(|femtoseconds| femtoseconds.checked_add(500_000)) {
            Some(femtoseconds) => femtoseconds / 1_000_000,
            None => Self::long_data_ns(bytes, femtoseconds_per_byte),
        }
    }

    /// The largest commands on the slowest links need more than 64 bits.
    #[cold]
    fn long_data_ns(bytes: u64, femtoseconds_per_byte: u64) -> u64 {
        ((u128::from(bytes) * u128::from(femtoseconds_per_byte) + 500_000) / 1_000_000) as u64
    }

    fn transfer(free_at: &mut SimTime, ns: u64, from: SimTime) -> SimTime {
        let end = SimTime(from.max(*free_at).0 + ns);
        *free_at = end;
        end
    }

    /// When that many bytes, asked for now, are in the drive. The data follows the fetch of its command.
    #[inline]
    pub fn inward(&mut self, bytes: u64, now: SimTime, timed: bool) -> SimTime {
        if !timed {
            return now;
        }
        let ns = Self::data_ns(bytes, self.inward_femtoseconds_per_byte);
        Self::transfer(&mut self.inward_free_at, ns, now)
    }

    /// When the host has a completion with that many bytes that is ready at `ready`.
    #[inline]
    pub fn outward(&mut self, bytes: u64, ready: SimTime, timed: bool) -> SimTime {
        if !timed {
            return ready;
        }
        if bytes == 0 {
            return SimTime(ready.0 + self.latency_ns);
        }
        let ns = Self::data_ns(bytes, self.femtoseconds_per_byte);
        SimTime(Self::transfer(&mut self.outward_free_at, ns, ready).0 + self.latency_ns)
    }
}
