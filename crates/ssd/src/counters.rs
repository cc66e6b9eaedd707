//! Counters, each declared in one place: name, unit and sentence. `counters!` makes the struct and its table; key in
//! `result.json`, row in `docs/results.md`, line of a comparison and metric of `wordline reproduce` follow from the
//! table, so that nothing that is counted reaches no result.

use serde::{Deserialize, Serialize};

/// A counter, for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// Layer and name: `ftl.padded_units`.
    pub key: &'static str,
    /// Of what it counts.
    pub unit: &'static str,
    /// What it counts.
    pub doc: &'static str,
    /// Where else in a result it is told, by itself or as part of something.
    pub told_in: Option<&'static str>,
    /// Whether it says one number for each part of the drive: each die, each channel.
    pub by_part: bool,
    /// What it says: 0 is one number, 1 a list of them, 2 a list of lists.
    pub dimensions: u8,
}

impl Counter {
    /// Whether it grows by what happens, so that its differences mean something. One that keeps a maximum says so by
    /// its name.
    pub fn adds_up(&self) -> bool {
        !self.key.ends_with("_max")
    }
}

/// What a counter says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Count {
    /// One number.
    One(u64),
    /// One for each of what it tells apart.
    Each(Vec<u64>),
    /// The same in two directions.
    Table(Vec<Vec<u64>>),
}

impl Count {
    /// All of it together.
    pub fn sum(&self) -> u64 {
        match self {
            Count::One(count) => *count,
            Count::Each(counts) => counts.iter().sum(),
            Count::Table(rows) => rows.iter().flatten().sum(),
        }
    }

    /// Whether all of it together is a number to which something can still come: those of a snapshot may be any.
    pub(crate) fn has_room(&self) -> bool {
        let sum = match self {
            Count::One(count) => Some(*count),
            Count::Each(counts) => counts.iter().try_fold(0u64, |sum, &count| sum.checked_add(count)),
            Count::Table(rows) => rows.iter().flatten().try_fold(0u64, |sum, &count| sum.checked_add(count)),
        };
        sum.is_some_and(|sum| sum < 1 << 62)
    }

    /// What has come to it since it said `before`; one that was not there before counts from zero.
    pub fn since(&self, before: &Count) -> Count {
        let row = |now: &[u64], was: &[u64]| -> Vec<u64> {
            let was = was.iter().copied().chain(std::iter::repeat(0));
            now.iter().zip(was).map(|(now, was)| now.saturating_sub(was)).collect()
        };
        match (self, before) {
            (Count::One(now), Count::One(was)) => Count::One(now.saturating_sub(*was)),
            (Count::Each(now), Count::Each(was)) => Count::Each(row(now, was)),
            (Count::Table(now), Count::Table(was)) => {
                let was = was.iter().map(Vec::as_slice).chain(std::iter::repeat(&[][..]));
                Count::Table(now.iter().zip(was).map(|(now, was)| row(now, was)).collect())
            }
            _ => self.clone(),
        }
    }
}

/// What can be a counter.
pub trait Counted {
    /// Whether it says one number for each part of the drive.
    const BY_PART: bool = false;
    /// What it says: 0 is one number, 1 a list of them, 2 a list of lists.
    const DIMENSIONS: u8;

    /// What it says.
    fn count(&self) -> Count;

    /// All of it together, without a look at anything else.
    fn total(&self) -> u64;
}

impl Counted for u64 {
    const DIMENSIONS: u8 = 0;

    fn count(&self) -> Count {
        Count::One(*self)
    }

    fn total(&self) -> u64 {
        *self
    }
}

impl Counted for u32 {
    const DIMENSIONS: u8 = 0;

    fn count(&self) -> Count {
        Count::One(u64::from(*self))
    }

    fn total(&self) -> u64 {
        u64::from(*self)
    }
}

impl Counted for Vec<u64> {
    const BY_PART: bool = true;
    const DIMENSIONS: u8 = 1;

    fn count(&self) -> Count {
        Count::Each(self.clone())
    }

    fn total(&self) -> u64 {
        self.iter().sum()
    }
}

impl<const N: usize> Counted for [u64; N] {
    const DIMENSIONS: u8 = 1;

    fn count(&self) -> Count {
        Count::Each(self.to_vec())
    }

    fn total(&self) -> u64 {
        self.iter().sum()
    }
}

impl<const N: usize, const M: usize> Counted for [[u64; N]; M] {
    const DIMENSIONS: u8 = 2;

    fn count(&self) -> Count {
        Count::Table(self.iter().map(|row| row.to_vec()).collect())
    }

    fn total(&self) -> u64 {
        self.iter().flatten().sum()
    }
}

/// Declares the counters of a layer, or of a part of one: a struct, the table of what they are, and what they say in
/// the same order.
macro_rules! counters {
    (@told_in) => { None };
    (@told_in $key:literal) => { Some($key) };
    (
        $(#[$meta:meta])* pub struct $name:ident of $layer:literal {
            $($(#[doc = $doc:literal])+ $field:ident : $ty:ty, $unit:literal $(, in $told_in:literal)?;)*
        }
    ) => {
        $(#[$meta])*
        pub struct $name {
            $($(#[doc = $doc])+ #[doc = concat!("\n\nUnit: ", $unit, ".")] pub $field: $ty,)*
        }

        impl $name {
            /// What they are, in the order of declaration.
            pub const COUNTERS: &'static [$crate::counters::Counter] = &[$($crate::counters::Counter {
                key: concat!($layer, ".", stringify!($field)),
                unit: $unit,
                doc: concat!($($doc),+).trim_ascii(),
                told_in: counters!(@told_in $($told_in)?),
                by_part: <$ty as $crate::counters::Counted>::BY_PART,
                dimensions: <$ty as $crate::counters::Counted>::DIMENSIONS,
            }),*];

            /// What they say, in the same order.
            pub fn counts(&self) -> Vec<$crate::counters::Count> {
                vec![$($crate::counters::Counted::count(&self.$field)),*]
            }

            /// What each of them says, all of it together, in the same order; those by part are left out.
            #[allow(unused_variables)] // there may be none
            pub fn each_total(&self, tell: &mut impl FnMut(u64)) {
                $(if !<$ty as $crate::counters::Counted>::BY_PART {
                    tell($crate::counters::Counted::total(&self.$field));
                })*
            }
        }
    };
}
