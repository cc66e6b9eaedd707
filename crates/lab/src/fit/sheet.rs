//! What is known of a drive: its data sheet, and what others or the user have measured of it.

use super::quantity::Dimension;
use super::{check, fio};
use crate::job::JobError;
use crate::reproduce::PaperError;
use crate::reproduce::document::{File, Walk};
use std::collections::BTreeMap;
use std::path::Path;

/// Bits of a cell by name.
const CELLS: [(&str, u32); 4] = [("slc", 1), ("mlc", 2), ("tlc", 3), ("qlc", 4)];
/// Years of the warranty over which drive writes a day count, unless the sheet says otherwise.
const WARRANTY_YEARS: f64 = 5.0;

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

            /// What it is, in a line.
            pub fn about(self) -> &'static str {
                match self { $(Measure::$name => concat!($($doc),+)),+ }.trim()
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
    pub capacitors: bool,
    /// Years of the warranty.
    pub years: f64,
    /// The figures.
    pub figures: BTreeMap<Measure, Figure>,
    /// Reads beside writes.
    pub beside: Vec<Beside>,
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
            capacitors: false,
            years: WARRANTY_YEARS,
            figures: BTreeMap::new(),
            beside: Vec::new(),
            smart: Smart::default(),
            remarks: Vec::new(),
        }
    }

    /// Reads a sheet, a TOML file, and results of fio (JSON), whose figures count where both have one.
    pub fn read(path: Option<&Path>, results: &[&Path], capacity: Option<&str>) -> Result<Self, JobError> {
        let given = capacity.map(|text| {
            let wrong =
                |(found, allowed)| JobError::new(format!("--capacity\n    {found}\n    allowed: {allowed}"));
            Dimension::Bytes.read(text).map_err(wrong)
        });
        let given = given.transpose()?;
        let mut sheet = match (path, given) {
            (Some(path), _) => {
                let read = File::read(path).and_then(|file| file.with_table(walk));
                read.map_err(|error| JobError::new(error.to_string()))?
            }
            (None, Some(capacity)) => Sheet::of_capacity("drive", capacity),
            (None, None) => {
                return Err(JobError::new(
                    "found:   no capacity\n    allowed: a sheet (TOML), or --capacity with results of fio (--fio)",
                ));
            }
        };
        sheet.capacity = given.unwrap_or(sheet.capacity);
        for path in results {
            fio::add(path, &mut sheet)?;
        }
        check::check(&mut sheet)?;
        Ok(sheet)
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

/// A quantity of a table.
fn quantity(walk: &Walk<'_>, key: &'static str, dimension: Dimension) -> Result<Option<f64>, PaperError> {
    let text = match dimension {
        Dimension::Amplification => walk.number(key)?.map(|number| number.to_string()),
        // A bare number has no unit, and the message says so.
        _ if walk.is_number(key) => walk.number(key)?.map(|number| number.to_string()),
        _ => walk.text(key)?,
    };
    let Some(text) = text else { return Ok(None) };
    let read = dimension.read(&text).map_err(|(found, allowed)| walk.wrong(key, found, allowed))?;
    if read == 0.0 {
        return Err(walk.wrong(key, format!("found {text:?}"), "more than 0"));
    }
    Ok(Some(read))
}

fn walk(walk: &Walk<'_>) -> Result<Sheet, PaperError> {
    let name = walk.need_text("name")?;
    let capacity = quantity(walk, "capacity", Dimension::Bytes)?;
    let capacity = capacity.ok_or_else(|| walk.wrong("capacity", "found nothing", "such as \"960 GB\""))?;
    let mut sheet = Sheet::of_capacity(&name, capacity);
    sheet.raw = quantity(walk, "raw", Dimension::Bytes)?;
    sheet.dies = small(walk, "dies", 1..=1024)?;
    sheet.planes = small(walk, "planes", 1..=8)?;
    sheet.unit_kib = small(walk, "unit_kib", 4..=64)?.unwrap_or(4);
    if !matches!(sheet.unit_kib, 4 | 8 | 16 | 32 | 64) {
        return Err(walk.wrong("unit_kib", format!("found {}", sheet.unit_kib), "4, 8, 16, 32 or 64"));
    }
    if let Some(cell) = walk.text("cell")? {
        let names = CELLS.map(|(name, _)| name);
        let found = CELLS.iter().find(|(name, _)| *name == cell.to_ascii_lowercase());
        sheet.bits = found.ok_or_else(|| walk.no_such("cell", "cell", &cell, &names))?.1;
    }
    if let Some(flush) = walk.text("flush")? {
        sheet.capacitors = match flush.as_str() {
            "capacitors" => true,
            "program" => false,
            _ => return Err(walk.no_such("flush", "flush", &flush, &["capacitors", "program"]).into()),
        };
    }
    if let Some(years) = walk.number("warranty_years")? {
        sheet.years = years;
        if !(0.5..=20.0).contains(&years) {
            return Err(walk.wrong("warranty_years", format!("found {years}"), ".5 to 20"));
        }
    }
    let source = walk.text("source")?.unwrap_or_else(|| "the sheet, without a source".to_owned());
    let sources = walk.table("sources", |table| {
        let of = |measure: &Measure| Ok((*measure, table.text(measure.key())?));
        Measure::ALL.iter().map(of).collect::<Result<BTreeMap<_, _>, _>>()
    })?;
    let source_of =
        |measure| sources.as_ref().and_then(|of| of.get(&measure)?.clone()).unwrap_or_else(|| source.clone());
    for &measure in Measure::ALL {
        let Some(value) = quantity(walk, measure.key(), measure.dimension())? else { continue };
        // Drive writes a day for as long as the warranty.
        let value = if value < 0.0 { -value * capacity * 365.0 * sheet.years } else { value };
        if measure.dimension() == Dimension::Amplification && value < 1.0 {
            let allowed = "1 or more: bytes programmed for each byte written";
            return Err(walk.wrong(measure.key(), format!("found {value}"), allowed));
        }
        sheet.figures.insert(measure, Figure { value, source: source_of(measure) });
    }
    sheet.beside = walk.tables("reads_beside_writes", beside)?;
    sheet.smart = walk.table("smart", smart)?.unwrap_or_default();
    Ok(sheet)
}

fn small(
    walk: &Walk<'_>,
    key: &'static str,
    range: std::ops::RangeInclusive<u64>,
) -> Result<Option<u32>, PaperError> {
    let Some(found) = walk.whole(key)? else { return Ok(None) };
    let allowed = || format!("a whole number from {} to {}", range.start(), range.end());
    if !range.contains(&found) {
        return Err(walk.wrong(key, format!("found {found}"), allowed()));
    }
    Ok(u32::try_from(found).ok())
}

fn beside(walk: &Walk<'_>) -> Result<Beside, PaperError> {
    let need = |key, dimension| {
        let value = quantity(walk, key, dimension)?;
        value.ok_or_else(|| walk.wrong(key, "found nothing", "a number and its unit"))
    };
    let writes = need("writes", Dimension::Rate)?;
    let mut reads = Vec::new();
    for (key, percent) in [("p50", 50.0), ("p99", 99.0), ("p99_9", 99.9)] {
        if let Some(value) = quantity(walk, key, Dimension::Time)? {
            reads.push((percent, value));
        }
    }
    Ok(Beside { writes, reads })
}

fn smart(walk: &Walk<'_>) -> Result<Smart, PaperError> {
    let of = |key, dimension| quantity(walk, key, dimension);
    Ok(Smart {
        host_written: of("host_written", Dimension::Bytes)?,
        nand_written: of("nand_written", Dimension::Bytes)?,
        wear_used: of("wear_used", Dimension::Percent)?,
    })
}
