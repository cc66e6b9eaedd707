//! What is known of a drive: its data sheet, and what others or the user have measured of it.

use super::quantity::Dimension;
use crate::endurance::YEARS;
use std::collections::BTreeMap;

/// Declares what can be given of a drive.
macro_rules! measures {
    ($($(#[doc = $doc:literal])+ $name:ident = $key:literal, $dimension:ident;)+) => {
        /// A figure that a sheet may give.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Measure { $($(#[doc = $doc])+ $name,)+ }

        impl Measure {
            /// All, in the order of tables.
            pub const ALL: &[Measure] = &[$(Measure::$name),+];

            /// Its key in a sheet.
            pub fn key(self) -> &'static str {
                match self { $(Measure::$name => $key),+ }
            }

            /// What it is a measure of.
            pub fn dimension(self) -> Dimension {
                match self { $(Measure::$name => Dimension::$dimension),+ }
            }
        }
    };
}

measures! {
    /// 128-KiB sequential writes, steady.
    SequentialWrite = "sequential_write", Bandwidth;
    /// 128-KiB sequential reads.
    SequentialRead = "sequential_read", Bandwidth;
    /// 4-KiB writes over the whole drive, steady, many in flight.
    RandomWrite = "random_write", Rate;
    /// 4-KiB reads over the whole drive, many in flight.
    RandomRead = "random_read", Rate;
    /// 4-KiB requests, 70 % reads, steady, many in flight.
    Mixed = "mixed_70_30", Rate;
    /// A 4-KiB read, one at a time, on an idle drive.
    ReadLatency = "read_latency", Time;
    /// A 4-KiB write, one at a time, on an idle drive.
    WriteLatency = "write_latency", Time;
    /// Bytes programmed for each byte written in 4 KiB over the whole drive.
    RandomAmplification = "random_write_amplification", Amplification;
    /// Bytes programmed for each byte written in sequence.
    SequentialAmplification = "sequential_write_amplification", Amplification;
    /// The same with 90 % of the writes to 10 % of the space.
    SkewedAmplification = "skewed_write_amplification", Amplification;
    /// Data that may be written at random in the drive's life.
    RandomEndurance = "random_endurance", Endurance;
    /// Data that may be written in sequence in the drive's life.
    SequentialEndurance = "sequential_endurance", Endurance;
}

/// A figure with where it is from.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// In the unit of its dimension; endurance in bytes.
    pub value: f64,
    /// Who says so.
    pub source: String,
}

/// Reads at depth 1 beside writes at a rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Beside {
    /// 4-KiB writes a second.
    pub writes: f64,
    /// Percentiles of the reads' latencies with their values in us.
    pub reads: Vec<(f64, f64)>,
}

/// The same drive with part of its space in use: the rest was never written, or trimmed.
#[derive(Clone, Debug, PartialEq)]
pub struct PartlyUsed {
    /// Bytes in use.
    pub capacity: f64,
    /// Figures of random writes within them: rate and write amplification, as far as they are given.
    pub figures: Vec<(Measure, f64)>,
}

impl PartlyUsed {
    /// The figures that may be given.
    pub const MEASURES: [Measure; 2] = [Measure::RandomWrite, Measure::RandomAmplification];
}

/// What a drive's own counters say (SMART).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Smart {
    /// Bytes that the host has written.
    pub host_written: Option<f64>,
    /// Bytes that were programmed.
    pub nand_written: Option<f64>,
    /// Share of its life that it counts as used; %.
    pub wear_used: Option<f64>,
}

/// What is known of a drive.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    /// What it is called.
    pub name: String,
    /// Bytes that the host sees.
    pub capacity: f64,
    /// Bytes of flash, if they are known.
    pub raw: Option<f64>,
    /// Dies, if they are known.
    pub dies: Option<u32>,
    /// Planes of a die, if they are known.
    pub planes: Option<u32>,
    /// Bits of a cell.
    pub bits: u32,
    /// KiB of an entry of its map.
    pub unit_kib: u32,
    /// Whether FLUSH is answered from DRAM.
    pub capacitors: Option<bool>,
    /// Years of the warranty.
    pub years: f64,
    /// The figures.
    pub figures: BTreeMap<Measure, Figure>,
    /// Reads beside writes.
    pub beside: Vec<Beside>,
    /// The drive with part of it in use.
    pub partly_used: Vec<PartlyUsed>,
    /// What its counters say.
    pub smart: Smart,
    /// What is odd about it, a line each.
    pub remarks: Vec<String>,
}

impl Sheet {
    /// A drive of which only the capacity is known.
    pub fn of_capacity(name: &str, capacity: f64) -> Self {
        Sheet {
            name: name.to_owned(),
            capacity,
            raw: None,
            dies: None,
            planes: None,
            bits: 3,
            unit_kib: 4,
            capacitors: None,
            years: YEARS,
            figures: BTreeMap::new(),
            beside: Vec::new(),
            partly_used: Vec::new(),
            smart: Smart::default(),
            remarks: Vec::new(),
        }
    }

    /// The value of a figure, if it is given.
    pub fn get(&self, measure: Measure) -> Option<f64> {
        self.figures.get(&measure).map(|figure| figure.value)
    }

    /// Who gives a figure.
    pub fn source(&self, measure: Measure) -> &str {
        self.figures.get(&measure).map_or("", |figure| &figure.source)
    }
}
