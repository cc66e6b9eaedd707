//! Requests from columns: arrays of numpy, or whatever else Python has of numbers.

use crate::buffer;
use crate::errors::WorkloadError;
use crate::values;
use lab::ARRIVAL_NS_MAX;
use pyo3::exceptions::{PyException, PyMemoryError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyList, PyString};
use ssd::OpCode;
use workload::Request;

/// What a request may have, and what it must.
const COLUMNS: [&str; 5] = ["arrival_ns", "op", "lba", "sectors", "fua"];

/// What stands in most of them.
const WHOLE: &str = "whole numbers from 0, of any size and byte order";

/// Whether a dict holds columns of requests, and not settings of a workload.
pub fn are_columns(of: &Bound<'_, PyDict>) -> PyResult<bool> {
    match of.get_item("lba")? {
        Some(lba) => Ok(!lba.is_instance_of::<PyString>()),
        None => Ok(false),
    }
}

/// The requests of columns of equal length. Whether arrival times are among them, too.
pub fn requests(of: &Bound<'_, PyDict>) -> PyResult<(Vec<Request>, bool)> {
    for key in of.keys() {
        let key: String = key.extract()?;
        if !COLUMNS.contains(&key.as_str()) {
            let allowed = COLUMNS.join(", ");
            return Err(WorkloadError::new_err(format!(
                "requests\n    found:   column {key:?}\n    allowed: {allowed}"
            )));
        }
    }
    let column = |name: &str| of.get_item(name)?.map(|values| numbers(name, &values, WHOLE)).transpose();
    let need = |name: &'static str| {
        let missing = || wrong(name, "no such column", "arrival_ns (or none), op, lba, sectors");
        column(name)?.ok_or_else(missing)
    };
    let (lba, sectors) = (need("lba")?, need("sectors")?);
    let op = of.get_item("op")?.ok_or_else(|| wrong("op", "no such column", OPS))?;
    let (op, arrival, fua) = (ops(&op)?, column("arrival_ns")?, column("fua")?);
    let lengths = [
        Some(lba.len()),
        Some(sectors.len()),
        Some(op.len()),
        arrival.as_ref().map(Vec::len),
        fua.as_ref().map(Vec::len),
    ];
    if lengths.iter().flatten().any(|length| *length != lba.len()) {
        let found = format!("columns of {:?} rows", lengths.iter().flatten().collect::<Vec<_>>());
        return Err(wrong("requests", found, "columns of equal length"));
    }
    let mut all = Vec::with_capacity(lba.len());
    let mut before = 0;
    for row in 0..lba.len() {
        let arrival_ns = arrival.as_ref().map_or(0, |times| times[row]);
        let at = |name: &str| format!("{name}[{row}]");
        if arrival_ns < before {
            return Err(wrong(&at("arrival_ns"), arrival_ns, "times that do not go backwards"));
        }
        check_arrival(&at("arrival_ns"), arrival_ns)?;
        before = arrival_ns;
        let sectors = length(sectors[row], op[row]).map_err(|found| wrong(&at("sectors"), found, LENGTHS))?;
        let fua = fua.as_ref().is_some_and(|flags| flags[row] != 0);
        all.push(Request { arrival_ns, op: op[row], fua, lba: lba[row], sectors, ..Request::default() });
    }
    Ok((all, arrival.is_some()))
}

/// Refuses times that sums of them cannot hold.
fn check_arrival(key: &str, ns: u64) -> PyResult<()> {
    if ns > ARRIVAL_NS_MAX {
        return Err(wrong(key, ns, &format!("up to {ARRIVAL_NS_MAX} ns, 146 years")));
    }
    Ok(())
}

/// Sectors that a request may have.
const LENGTHS: &str = "1 to 4294967295, and 0 for a flush";

/// The sectors of a request, or what was found that it cannot have.
fn length(sectors: u64, op: OpCode) -> Result<u32, u64> {
    let fits = u32::try_from(sectors).ok().filter(|sectors| (*sectors > 0) != (op == OpCode::Flush));
    fits.ok_or(sectors)
}

/// One request, from plain values.
pub fn request(
    op: &Bound<'_, PyAny>,
    (lba, sectors): (u64, u64),
    arrival_ns: u64,
    fua: bool,
) -> PyResult<Request> {
    let known = match op.cast::<PyInt>() {
        Ok(number) => number.extract().ok().and_then(|number: usize| KNOWN.get(number).copied()),
        Err(_) => op.cast::<PyString>()?.to_str().ok().and_then(by_name),
    };
    let op = known.ok_or_else(|| wrong("op", op, OPS))?;
    let sectors = length(sectors, op).map_err(|found| wrong("sectors", found, LENGTHS))?;
    check_arrival("arrival_ns", arrival_ns)?;
    Ok(Request { arrival_ns, op, fua, lba, sectors, ..Request::default() })
}

/// What is wrong with a column, or a value in it.
pub fn wrong(key: &str, found: impl std::fmt::Display, allowed: &str) -> PyErr {
    WorkloadError::new_err(format!("{key}\n    found:   {found}\n    allowed: {allowed}"))
}

/// Kinds of requests, by their numbers.
const KNOWN: [OpCode; 4] = [OpCode::Read, OpCode::Write, OpCode::Trim, OpCode::Flush];
/// How they may be called.
const OPS: &str = "0 to 3, or read, write, trim, flush";

/// The kind of that name, or of that letter.
fn by_name(name: &str) -> Option<OpCode> {
    let is_it = |op: &&OpCode| {
        op.name().eq_ignore_ascii_case(name) || (name.len() == 1 && op.name()[..1].eq_ignore_ascii_case(name))
    };
    KNOWN.iter().find(is_it).copied()
}

/// Kinds of requests, by number or by name.
fn ops(of: &Bound<'_, PyAny>) -> PyResult<Vec<OpCode>> {
    let unknown = |row: usize, found: String| wrong(&format!("op[{row}]"), found, OPS);
    let named =
        |(row, name): (usize, String)| by_name(&name).ok_or_else(|| unknown(row, format!("{name:?}")));
    // What numpy keeps texts in is no list of them.
    let listed = of.call_method0("tolist").unwrap_or_else(|_| of.clone());
    if let Ok(names) = listed.extract::<Vec<String>>() {
        return names.into_iter().enumerate().map(named).collect();
    }
    let by_number = |(row, number): (usize, u64)| {
        KNOWN.get(number as usize).copied().ok_or_else(|| unknown(row, number.to_string()))
    };
    numbers("op", of, OPS)?.into_iter().enumerate().map(by_number).collect()
}

/// Whole numbers, from an array of any kind of them.
fn numbers(name: &str, of: &Bound<'_, PyAny>, allowed: &str) -> PyResult<Vec<u64>> {
    // What is masked is there all the same, and means nothing: in a list it is None.
    let is_masked =
        of.get_type().module().is_ok_and(|module| module.to_string_lossy().starts_with("numpy.ma"));
    if is_masked {
        return listed(name, &of.call_method0("tolist")?, allowed);
    }
    match buffer::numbers(name, of, allowed)? {
        Some(numbers) => Ok(numbers),
        None => listed(name, of, allowed),
    }
}

/// Whole numbers of a list, or of what is like one.
fn listed(name: &str, of: &Bound<'_, PyAny>, allowed: &str) -> PyResult<Vec<u64>> {
    of.extract::<Vec<u64>>().map_err(|error| {
        if is_not_of_values(of.py(), &error) {
            return error;
        }
        match first_other(of) {
            Some((row, found)) => wrong(&format!("{name}[{row}]"), shown(&found), allowed),
            None => wrong(name, shown(of), allowed),
        }
    })
}

/// The first of a list that is no whole number, with its row.
fn first_other<'py>(of: &Bound<'py, PyAny>) -> Option<(usize, Bound<'py, PyAny>)> {
    let items = of.cast::<PyList>().ok()?.iter();
    items.enumerate().find(|(_, item)| item.extract::<u64>().is_err())
}

/// A value for a message, cut where it is long.
fn shown(value: &Bound<'_, PyAny>) -> String {
    let text = values::toml(value).unwrap_or_else(|_| buffer::kind_of(value));
    text.chars().take(60).collect()
}

/// Whether an exception is about something else than the values that were looked at: Ctrl-C, say.
pub fn is_not_of_values(py: Python<'_>, error: &PyErr) -> bool {
    !error.is_instance_of::<PyException>(py) || error.is_instance_of::<PyMemoryError>(py)
}
