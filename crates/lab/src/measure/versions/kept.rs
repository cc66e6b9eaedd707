//! What units of flash held when a drive was saved, as a run has written it, read back.

use crate::base::error::ReportError;
use ssd::Drive;
use ssd::config::shown;
use ssd::units::Pun;
use std::path::Path;
use workload::{Problem, TextLines, WorkloadError};

/// Name of the table of what units of flash hold, and its columns.
pub(crate) const KEPT_NAME: &str = "units";
pub(crate) const KEPT: [&str; 7] = ["place", "unit", "version", "file", "class", "written_ns", "was_dead"];

/// What one unit of flash held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The unit of flash.
    pub place: u32,
    /// The logical unit.
    pub unit: u32,
    /// The logical unit was written so often by the host until then; 0 for what lay there before the run.
    pub version: u32,
    /// The file; 0 for none.
    pub file: u32,
    /// Security class, as the write said it.
    pub class: u8,
    /// When it was written; ns.
    pub written_ns: u64,
    /// It had died before the run began: what preconditioning has left.
    pub was_dead: bool,
}

/// Reads what `wordline run --keep-versions` has written, and holds it against the drive: each unit of flash that was
/// programmed, in their order, and nothing else.
pub fn read_kept(path: &Path, drive: &Drive) -> Result<Vec<Kept>, ReportError> {
    let is = |ending: &str| path.extension().is_some_and(|found| found.eq_ignore_ascii_case(ending));
    let most = drive.contents().units() as usize;
    let rows = if is("parquet") { from_parquet(path, most)? } else { from_csv(path, most)? };
    check(&rows, drive).map_err(|wrong| ReportError::new(path, "use", wrong))?;
    Ok(rows)
}

/// There are more rows than the drive has units.
fn too_many(path: &Path, most: usize) -> ReportError {
    let message = format!(
        "it is from another snapshot\n    found:   more than {most} rows\n    allowed: up to {most}, one for each \
         unit of this drive"
    );
    ReportError::new(path, "use", message)
}

/// Whether rows are of what is on this drive.
fn check(rows: &[Kept], drive: &Drive) -> Result<(), String> {
    let programmed = |place: &u32| {
        let (block, page) = drive.contents().place_of(Pun(*place));
        page < drive.chips().programmed_pages(block)
    };
    let on_drive = (0..drive.contents().units()).filter(programmed);
    let mut on_drive =
        on_drive.filter_map(|place| Some((place, drive.contents().spare_of(Pun(place))?.lpn.0)));
    for (number, row) in (2..).zip(rows) {
        let found = on_drive.next();
        if found != Some((row.place, row.unit)) {
            let there = found
                .map_or("nothing more".to_owned(), |(place, unit)| format!("unit {unit} at place {place}"));
            return Err(format!(
                "it is from another snapshot\n    found:   unit {} at place {} in row {number}\n    \
                 allowed: {there}, as \
                 on this drive",
                row.unit, row.place
            ));
        }
    }
    match on_drive.next() {
        None => Ok(()),
        Some((place, unit)) => Err(format!(
            "it is from another snapshot, or incomplete\n    found:   {} rows\n    allowed: one more for \
             unit {unit} at \
             place {place}, as on this drive",
            rows.len()
        )),
    }
}

/// A row of numbers.
fn kept(numbers: &[u64]) -> Option<Kept> {
    let [place, unit, version, file, class, written_ns, was_dead] = *numbers else { return None };
    let small = |number: u64| u32::try_from(number).ok();
    Some(Kept {
        place: small(place)?,
        unit: small(unit)?,
        version: small(version)?,
        file: small(file)?,
        class: u8::try_from(class).ok().filter(|class| *class <= 2)?,
        written_ns,
        was_dead: was_dead != 0,
    })
}

/// A line that is not as it should be.
fn wrong(path: &Path, number: u64, found: &[u8], allowed: &str) -> ReportError {
    let found = format!("{:?}", String::from_utf8_lossy(found));
    let what = format!("line {number}\n    found:   {}\n    allowed: {allowed}", shown(&found));
    ReportError::new(path, "understand", what)
}

/// Lines that cannot be read.
fn unread(path: &Path, error: &WorkloadError) -> ReportError {
    match error.problem() {
        Problem::File { action, message, .. } => ReportError::new(path, action, message),
        Problem::BadLine { line, found, allowed, .. } => {
            let what = format!("line {line}\n    found:   {found}\n    allowed: {allowed}");
            ReportError::new(path, "understand", what)
        }
        _ => ReportError::new(path, "read", error),
    }
}

/// Rows of a text, plain or packed, at most so many.
fn from_csv(path: &Path, most: usize) -> Result<Vec<Kept>, ReportError> {
    let fail = |error: WorkloadError| unread(path, &error);
    let mut lines = TextLines::open(path).map_err(fail)?;
    let head = KEPT.join(",");
    let mut rows = Vec::new();
    match lines.next().map_err(fail)? {
        Some(line) if line == head.as_bytes() => {}
        line => return Err(wrong(path, 1, line.unwrap_or_default(), &head)),
    }
    for number in 2.. {
        let Some(line) = lines.next().map_err(fail)? else { break };
        let number_of = |digits: &[u8]| std::str::from_utf8(digits).ok()?.parse().ok();
        let numbers: Option<Vec<u64>> = line.split(|byte| *byte == b',').map(number_of).collect();
        let Some(row) = numbers.as_deref().and_then(kept) else {
            let allowed = "seven whole numbers, as written by wordline run --keep-versions";
            return Err(wrong(path, number, line, allowed));
        };
        if rows.len() == most {
            return Err(too_many(path, most));
        }
        rows.push(row);
    }
    Ok(rows)
}

#[cfg(feature = "parquet")]
fn from_parquet(path: &Path, most: usize) -> Result<Vec<Kept>, ReportError> {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;
    let fail = |error: &dyn std::fmt::Display| ReportError::new(path, "read", error.to_string());
    let file = workload::whole::open(path).map_err(|error| fail(&error))?;
    let reader = SerializedFileReader::new(file).map_err(|error| fail(&error))?;
    let wrong = || {
        let what = format!("it has other columns\n    allowed: {}, whole numbers", KEPT.join(", "));
        ReportError::new(path, "understand", what)
    };
    let mut rows = Vec::new();
    for row in reader.get_row_iter(None).map_err(|error| fail(&error))? {
        if rows.len() == most {
            return Err(too_many(path, most));
        }
        let row = row.map_err(|error| fail(&error))?;
        let mut numbers = Vec::with_capacity(KEPT.len());
        for ((name, field), expected) in row.get_column_iter().zip(KEPT) {
            let Field::ULong(number) = field else { return Err(wrong()) };
            if name != expected {
                return Err(wrong());
            }
            numbers.push(*number);
        }
        rows.push(kept(&numbers).ok_or_else(wrong)?);
    }
    Ok(rows)
}

#[cfg(not(feature = "parquet"))]
fn from_parquet(path: &Path, _: usize) -> Result<Vec<Kept>, ReportError> {
    let message = "this program was built without Parquet, allowed: .csv or .csv.zst";
    Err(ReportError::new(path, "read", message))
}
