//! Units are types: time, addresses and names of places, so that one cannot be taken for another.
//!
//! Time is counted in nanoseconds of simulated time. Logical addresses come in sectors of 512 bytes (what a host
//! says) and in mapping units (what the mapping table holds); physical addresses in pages and in units of a page.
use core::ops::{Add, AddAssign, Sub};
use serde::{Deserialize, Serialize};

/// Bytes of one logical block address, the unit hosts count in.
pub const SECTOR_BYTES: u64 = 512;

/// The raw value that means "no address" in 32-bit address types.
pub const NONE: u32 = u32::MAX;

/// A point in simulated time, in nanoseconds since the drive was built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SimTime(pub u64);

/// A length of simulated time, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SimDuration(pub u64);

impl SimTime {
    /// The time a drive is built at.
    pub const ZERO: SimTime = SimTime(0);

    /// Nanoseconds from `earlier` to this time; 0 if `earlier` is later.
    #[inline]
    pub fn since(self, earlier: SimTime) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl SimDuration {
    /// A duration given in microseconds, rounded to the nearest nanosecond (0 if negative).
    pub fn from_us(us: f64) -> Self {
        SimDuration(libm::round(us * 1000.0).max(0.0) as u64)
    }

    /// A duration given in milliseconds, rounded to the nearest nanosecond (0 if negative).
    pub fn from_ms(ms: f64) -> Self {
        SimDuration::from_us(ms * 1000.0)
    }
}

impl Add<SimDuration> for SimTime {
    type Output = SimTime;
    #[inline]
    fn add(self, d: SimDuration) -> SimTime {
        SimTime(self.0 + d.0)
    }
}

impl AddAssign<SimDuration> for SimTime {
    #[inline]
    fn add_assign(&mut self, d: SimDuration) {
        self.0 += d.0;
    }
}

impl Add for SimDuration {
    type Output = SimDuration;
    #[inline]
    fn add(self, d: SimDuration) -> SimDuration {
        SimDuration(self.0 + d.0)
    }
}

impl Sub for SimTime {
    type Output = SimDuration;
    #[inline]
    fn sub(self, earlier: SimTime) -> SimDuration {
        SimDuration(self.0 - earlier.0)
    }
}

macro_rules! address {
    ($(#[$doc:meta] $name:ident;)*) => {$(
        #[$doc]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(pub u32);
        impl $name {
            /// The value that names nothing.
            pub const NONE: $name = $name(NONE);
            /// Whether this names something.
            #[inline]
            pub fn is_some(self) -> bool {
                self.0 != NONE
            }
            /// The value as a table index.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

address! {
    /// Logical page number: the index of a mapping unit in the logical space (a whole page or 4 KiB, by config).
    Lpn;
    /// Physical page number: block number times pages per block plus page.
    Ppn;
    /// Physical unit number: page number times units per page plus the unit's place in the page.
    Pun;
    /// A block as the firmware sees it: one physical block, or a superblock of one block in each of a lane's planes.
    BlockId;
    /// A lane: the group of planes from which blocks are allocated together.
    LaneId;
    /// A die, counted over the whole drive, channel by channel.
    DieId;
    /// A flash operation in the pool of operations.
    OpId;
    /// A slot of DRAM that holds one mapping unit of write or read data.
    SlotId;
    /// A command in the command table.
    CommandId;
}

/// Logical block address: the index of a 512-byte sector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Lba(pub u64);

/// A division by a number fixed when the drive is built: one multiplication instead of a divide instruction.
///
/// Exact for all 32-bit numerators (Lemire, Kaser, Kurz: "Faster remainder by direct computation", 2019).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Divisor {
    by: u32,
    reciprocal: u64,
}

impl Divisor {
    /// A divisor; `by` must not be 0.
    pub fn new(by: u32) -> Self {
        assert!(by > 0, "division by zero asked for");
        Divisor { by, reciprocal: (u64::MAX / by as u64).wrapping_add(1) }
    }

    /// The number divided by.
    #[inline]
    pub fn get(self) -> u32 {
        self.by
    }

    /// Quotient.
    #[inline]
    pub fn quotient(self, n: u32) -> u32 {
        if self.by == 1 {
            return n;
        }
        ((self.reciprocal as u128 * n as u128) >> 64) as u32
    }

    /// Quotient and remainder.
    #[inline]
    pub fn split(self, n: u32) -> (u32, u32) {
        let q = self.quotient(n);
        (q, n - q * self.by)
    }
}

/// A stream of data that shares blocks, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct StreamId(pub u8);

impl StreamId {
    /// No stream: what deals fill.
    pub const NONE: StreamId = StreamId(u8::MAX);

    /// As an index.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divisor_agrees_with_the_instruction() {
        for by in [1u32, 2, 3, 4, 7, 48, 141, 192, 576, 7704, 30816, 65_535, 65_536, u32::MAX - 1, u32::MAX] {
            let d = Divisor::new(by);
            for n in [0, 1, 2, by - 1, by, by.wrapping_add(1), 123_456_789, u32::MAX - 1, u32::MAX] {
                assert_eq!(d.split(n), (n / by, n % by), "{n} / {by}");
            }
        }
    }

    #[test]
    fn microseconds_round_to_nanoseconds() {
        assert_eq!(SimDuration::from_us(87.608).0, 87_608);
        assert_eq!(SimDuration::from_us(0.29).0, 290);
    }
}
