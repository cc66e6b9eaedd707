//! Sheets and results of fio, read from files.

use super::quantity::Dimension;
use super::sheet::{Beside, Figure, Measure, PartlyUsed, Sheet, Smart};
use super::{check, fio};
use crate::base::document::{File, PaperError, Walk};
use crate::endurance::DAYS;
use crate::plan::job::JobError;
use std::collections::BTreeMap;
use std::path::Path;

/// The least part of a drive of which figures are taken (assumed); a share of its capacity.
const PART_LEAST: f64 = 0.1;

/// Bits of a cell by name.
const CELLS: [(&str, u32); 4] = [("slc", 1), ("mlc", 2), ("tlc", 3), ("qlc", 4)];

impl Sheet {
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
                let read = File::read(path).and_then(|file| file.with_table(|table| walk(table, given)));
                read.map_err(|error| JobError::new(error.to_string()))?
            }
            (None, Some(capacity)) => Sheet::of_capacity("drive", capacity),
            (None, None) => {
                return Err(JobError::new(
                    "found:   no capacity\n    allowed: a sheet (TOML), or --capacity with results of fio (--fio)",
                ));
            }
        };
        for path in results {
            fio::add(path, &mut sheet)?;
        }
        check::check(&mut sheet)?;
        Ok(sheet)
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

/// A figure of a table.
fn figure(walk: &Walk<'_>, measure: Measure) -> Result<Option<f64>, PaperError> {
    let value = quantity(walk, measure.key(), measure.dimension())?;
    if measure.dimension() == Dimension::Amplification
        && let Some(value) = value.filter(|value| (0.0..1.0).contains(value))
    {
        let allowed = "1 or more: bytes programmed for each byte written";
        return Err(walk.wrong(measure.key(), format!("found {value}"), allowed));
    }
    Ok(value)
}

/// A sheet, of a drive of another capacity if one is given.
fn walk(walk: &Walk<'_>, given: Option<f64>) -> Result<Sheet, PaperError> {
    let name = walk.need_text("name")?;
    let capacity = quantity(walk, "capacity", Dimension::Bytes)?;
    let capacity = given.or(capacity);
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
            "capacitors" => Some(true),
            "program" => Some(false),
            _ => return Err(walk.no_such("flush", "flush", &flush, &["capacitors", "program"])),
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
        let Some(value) = figure(walk, measure)? else { continue };
        // Drive writes a day for as long as the warranty.
        let value = if value < 0.0 { -value * capacity * DAYS * sheet.years } else { value };
        sheet.figures.insert(measure, Figure { value, source: source_of(measure) });
    }
    sheet.beside = walk.tables("reads_beside_writes", beside)?;
    sheet.partly_used = walk.tables("partly_used", |walk| partly_used(walk, capacity))?;
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
        let Some(value) = quantity(walk, key, Dimension::Time)? else { continue };
        if let Some((_, least)) = reads.last().filter(|(_, least)| *least > value) {
            let [found, least] = [value, *least].map(|us| Dimension::Time.told(us));
            return Err(walk.wrong(
                key,
                format!("found {found}"),
                format!("at least the one below it, {least}"),
            ));
        }
        reads.push((percent, value));
    }
    Ok(Beside { writes, reads })
}

fn partly_used(walk: &Walk<'_>, whole: f64) -> Result<PartlyUsed, PaperError> {
    let allowed = || {
        let [least, most] = [PART_LEAST * whole, whole].map(|bytes| Dimension::Bytes.told(bytes));
        format!("at least {least}, and less than the drive's {most}")
    };
    let capacity = quantity(walk, "capacity", Dimension::Bytes)?;
    let capacity = capacity.ok_or_else(|| walk.wrong("capacity", "found nothing", allowed()))?;
    if !(PART_LEAST * whole..whole).contains(&capacity) {
        let found = format!("found {}", Dimension::Bytes.told(capacity));
        return Err(walk.wrong("capacity", found, allowed()));
    }
    let mut figures = Vec::new();
    for measure in PartlyUsed::MEASURES {
        figures.extend(figure(walk, measure)?.map(|value| (measure, value)));
    }
    Ok(PartlyUsed { capacity, figures })
}

fn smart(walk: &Walk<'_>) -> Result<Smart, PaperError> {
    let of = |key, dimension| quantity(walk, key, dimension);
    Ok(Smart {
        host_written: of("host_written", Dimension::Bytes)?,
        nand_written: of("nand_written", Dimension::Bytes)?,
        wear_used: of("wear_used", Dimension::Percent)?,
    })
}
