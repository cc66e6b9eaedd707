//! Requests from columns: arrays of numpy, or whatever else Python has of numbers.

use crate::buffer;
use crate::message::{SHOWN_MAX, is_not_of_values, kind_of, shown, shown_with_kind, wrong};
use lab::ARRIVAL_NS_MAX;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyList, PyString};
use ssd::OpCode;
use ssd::config::Problem;
use workload::Request;

/// What a request may have, and what it must.
const COLUMNS: [&str; 5] = ["arrival_ns", "op", "lba", "sectors", "fua"];
const NEEDED: &str = "arrival_ns (or none), op, lba, sectors";

/// Bytes of a sector.
const SECTOR: u64 = 512;

/// What a column must hold, with its unit.
fn allowed(name: &str) -> &'static str {
    match name {
        "arrival_ns" => "whole numbers of ns from 0, of any size and byte order",
        "op" => OPS,
        "fua" => "True and False, or 1 and 0",
        _ => "whole numbers of sectors of 512 bytes from 0, of any size and byte order",
    }
}

/// Requests as columns, if that is what something is: a dict of them, a data frame, a table, a structured array.
pub fn columns<'py>(of: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyDict>>> {
    if let Ok(dict) = of.cast::<PyDict>() {
        let mut keys = dict.keys().into_iter().filter_map(|key| key.extract::<String>().ok());
        return Ok(keys.any(|key| COLUMNS.contains(&key.as_str())).then(|| dict.clone()));
    }
    let Some(names) = names(of) else { return Ok(None) };
    let dict = PyDict::new(of.py());
    for name in names.try_iter()? {
        let name = name?;
        dict.set_item(&name, of.get_item(&name)?)?;
    }
    Ok(Some(dict))
}

/// What the columns of something like a table are called.
fn names<'py>(of: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let of_dtype = || of.getattr("dtype").and_then(|dtype| dtype.getattr("names"));
    // pyarrow calls the columns themselves `columns`, numpy has a dtype without names.
    let found = of.getattr("column_names").or_else(|_| of.getattr("columns")).or_else(|_| of_dtype());
    let found = found.ok().filter(|names| !names.is_none());
    found.or_else(|| {
        of.hasattr("__getitem__").ok().filter(|has| *has).and_then(|_| of.call_method0("keys").ok())
    })
}

/// Where a drive ends.
#[derive(Clone, Copy)]
pub struct End {
    /// Sectors that it has.
    sectors: u64,
}

impl End {
    /// That of a drive of so many bytes.
    pub fn of_bytes(bytes: u64) -> Self {
        End { sectors: bytes / SECTOR }
    }

    /// Refuses a request that goes beyond; `row` is that of a column, if there is one.
    fn check(self, row: Option<usize>, request: &Request) -> PyResult<()> {
        let (lba, sectors) = (request.lba, u64::from(request.sectors));
        if request.op == OpCode::Flush || lba.checked_add(sectors).is_some_and(|end| end <= self.sectors) {
            return Ok(());
        }
        let at = row.map_or_else(|| "lba".to_owned(), |row| format!("lba[{row}]"));
        let found = format!("{lba}, for {sectors} sectors of {SECTOR} bytes");
        let bytes = self.sectors * SECTOR;
        let is_of_bytes = lba % SECTOR == 0 && sectors % SECTOR == 0 && lba / SECTOR < self.sectors;
        let hint =
            if is_of_bytes { "; of bytes, bytes // 512 makes sectors, of lba and of sectors" } else { "" };
        let allowed = format!(
            "requests that end at sector {} or before, the drive's {bytes} bytes{hint}",
            self.sectors
        );
        Err(wrong(&at, found, &allowed))
    }
}

/// A column: a value for each row, or one for all.
enum Cells<T> {
    One(T),
    All(Vec<T>),
}

impl<T: Copy> Cells<T> {
    fn rows(&self) -> Option<usize> {
        match self {
            Cells::One(_) => None,
            Cells::All(values) => Some(values.len()),
        }
    }

    fn at(&self, row: usize) -> T {
        match self {
            Cells::One(value) => *value,
            Cells::All(values) => values[row],
        }
    }
}

/// Columns as they were given.
struct Given {
    lba: Cells<u64>,
    sectors: Cells<u64>,
    op: Cells<OpCode>,
    arrival: Option<Cells<u64>>,
    fua: Option<Cells<u64>>,
}

impl Given {
    fn of(of: &Bound<'_, PyDict>) -> PyResult<Self> {
        for key in of.keys() {
            let Some(key) = key.extract::<String>().ok().filter(|key| COLUMNS.contains(&key.as_str())) else {
                return Err(unknown(&key));
            };
            drop(key);
        }
        let column = |name: &str| of.get_item(name)?.map(|values| cells(name, &values)).transpose();
        let need = |name: &'static str| column(name)?.ok_or_else(|| wrong(name, "no such column", NEEDED));
        let (lba, sectors) = (need("lba")?, need("sectors")?);
        let op = of.get_item("op")?.ok_or_else(|| wrong("op", "no such column", OPS))?;
        Ok(Given { lba, sectors, op: ops(&op)?, arrival: column("arrival_ns")?, fua: column("fua")? })
    }

    /// How many rows there are: as many as in every column that has more than a value for all.
    fn rows(&self) -> PyResult<usize> {
        let all = [
            ("lba", self.lba.rows()),
            ("sectors", self.sectors.rows()),
            ("op", self.op.rows()),
            ("arrival_ns", self.arrival.as_ref().and_then(Cells::rows)),
            ("fua", self.fua.as_ref().and_then(Cells::rows)),
        ];
        let long: Vec<(&str, usize)> =
            all.into_iter().filter_map(|(name, rows)| Some((name, rows?))).collect();
        let Some((_, rows)) = long.first().copied() else { return Ok(1) };
        if long.iter().all(|(_, length)| *length == rows) {
            return Ok(rows);
        }
        let found: Vec<String> = long.iter().map(|(name, rows)| format!("{rows} of {name}")).collect();
        let allowed = "columns of equal length, or one value for all rows (sectors=8)";
        Err(wrong("requests", format!("{} rows", found.join(", ")), allowed))
    }
}

/// A column that requests do not have.
fn unknown(key: &Bound<'_, PyAny>) -> PyErr {
    let Ok(name) = key.extract::<String>() else {
        let found = format!("a column named {} ({})", shown(key), kind_of(key));
        return wrong("requests", found, &COLUMNS.join(", "));
    };
    let near = match Problem::no_such_name("column", &name, COLUMNS) {
        Problem::NoSuchName { near: Some(near), .. } => format!("\n    did you mean {near:?}?"),
        _ => "; leave the others out".to_owned(),
    };
    let name: String = name.chars().take(SHOWN_MAX).collect();
    wrong("requests", format!("column {name:?}"), &(COLUMNS.join(", ") + &near))
}

/// The requests of columns, none of which goes beyond the drive's end. Whether arrival times are among them, too.
pub fn requests(of: &Bound<'_, PyDict>, end: End) -> PyResult<(Vec<Request>, bool)> {
    let given = Given::of(of)?;
    let rows = given.rows()?;
    let mut all = Vec::with_capacity(rows);
    let mut before = 0;
    for row in 0..rows {
        let arrival_ns = given.arrival.as_ref().map_or(0, |times| times.at(row));
        let at = |name: &str| format!("{name}[{row}]");
        if arrival_ns < before {
            let allowed =
                format!("{before} ns or later: times that do not go backwards; sort the rows by them");
            return Err(wrong(&at("arrival_ns"), arrival_ns, &allowed));
        }
        check_arrival(&at("arrival_ns"), arrival_ns)?;
        before = arrival_ns;
        let op = given.op.at(row);
        let sectors =
            length(given.sectors.at(row), op).map_err(|found| wrong(&at("sectors"), found, LENGTHS))?;
        let fua = given.fua.as_ref().is_some_and(|flags| flags.at(row) != 0);
        let request = Request { arrival_ns, op, fua, lba: given.lba.at(row), sectors, ..Request::default() };
        end.check(Some(row), &request)?;
        all.push(request);
    }
    Ok((all, given.arrival.is_some()))
}

/// Refuses times that sums of them cannot hold.
fn check_arrival(key: &str, ns: u64) -> PyResult<()> {
    if ns > ARRIVAL_NS_MAX {
        return Err(wrong(key, ns, &format!("up to {ARRIVAL_NS_MAX} ns, 146 years")));
    }
    Ok(())
}

/// Sectors that a request may have.
const LENGTHS: &str = "1 to 4294967295 sectors of 512 bytes, and 0 for a flush";

/// The sectors of a request, or what was found that it cannot have.
fn length(sectors: u64, op: OpCode) -> Result<u32, u64> {
    let fits = u32::try_from(sectors).ok().filter(|sectors| (*sectors > 0) != (op == OpCode::Flush));
    fits.ok_or(sectors)
}

/// One request, from plain values.
pub fn request(
    op: &Bound<'_, PyAny>,
    (lba, sectors): (&Bound<'_, PyAny>, &Bound<'_, PyAny>),
    arrival_ns: Option<&Bound<'_, PyAny>>,
    fua: bool,
    end: End,
) -> PyResult<Request> {
    let plain = |name: &str, value: &Bound<'_, PyAny>| {
        value.extract::<u64>().map_err(|_| wrong(name, shown_with_kind(value), allowed(name)))
    };
    let op = op_of(op)?.ok_or_else(|| wrong("op", shown_with_kind(op), OPS))?;
    let sectors = plain("sectors", sectors)?;
    let sectors = length(sectors, op).map_err(|found| wrong("sectors", found, LENGTHS))?;
    let arrival_ns = arrival_ns.map_or(Ok(0), |ns| plain("arrival_ns", ns))?;
    check_arrival("arrival_ns", arrival_ns)?;
    let request = Request { arrival_ns, op, fua, lba: plain("lba", lba)?, sectors, ..Request::default() };
    end.check(None, &request)?;
    Ok(request)
}

/// The kind of requests that a plain value names, if it does.
fn op_of(value: &Bound<'_, PyAny>) -> PyResult<Option<OpCode>> {
    if let Ok(name) = value.cast::<PyString>() {
        return Ok(by_name(name.to_str()?));
    }
    Ok(value.extract().ok().and_then(|number: usize| KNOWN.get(number).copied()))
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
fn ops(of: &Bound<'_, PyAny>) -> PyResult<Cells<OpCode>> {
    let unknown = |row: usize, found: String| wrong(&format!("op[{row}]"), found, OPS);
    if of.is_instance_of::<PyString>() || is_scalar(of)? {
        return Ok(Cells::One(op_of(of)?.ok_or_else(|| wrong("op", shown(of), OPS))?));
    }
    let named =
        |(row, name): (usize, String)| by_name(&name).ok_or_else(|| unknown(row, format!("{name:?}")));
    // What numpy, polars or Arrow keep texts in is no list of them.
    let methods = ["tolist", "to_list", "to_pylist"];
    let listed = methods.into_iter().find_map(|method| of.call_method0(method).ok());
    let listed = listed.unwrap_or_else(|| of.clone());
    if let Ok(names) = listed.extract::<Vec<String>>() {
        return names.into_iter().enumerate().map(named).collect::<PyResult<_>>().map(Cells::All);
    }
    let by_number = |(row, number): (usize, u64)| {
        KNOWN.get(number as usize).copied().ok_or_else(|| unknown(row, number.to_string()))
    };
    numbers("op", of)?.into_iter().enumerate().map(by_number).collect::<PyResult<_>>().map(Cells::All)
}

/// Whether something is one number, and no array of them.
fn is_scalar(of: &Bound<'_, PyAny>) -> PyResult<bool> {
    // Numbers of numpy have an `item`; not all of them are indexes.
    let is_number = of.is_instance_of::<PyInt>() || of.hasattr("__index__")? || of.hasattr("item")?;
    Ok(is_number && !of.hasattr("__len__")?)
}

/// Whole numbers: one for all rows, or an array of any kind of them.
fn cells(name: &str, of: &Bound<'_, PyAny>) -> PyResult<Cells<u64>> {
    if is_scalar(of)? {
        let plain = of.call_method0("item").unwrap_or_else(|_| of.clone());
        let one = plain.extract().map_err(|_| wrong(name, shown_with_kind(of), allowed(name)))?;
        return Ok(Cells::One(one));
    }
    numbers(name, of).map(Cells::All)
}

/// Whole numbers, from an array of any kind of them.
fn numbers(name: &str, of: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
    // What is masked is there all the same, and means nothing: in a list it is None.
    let is_masked =
        of.get_type().module().is_ok_and(|module| module.to_string_lossy().starts_with("numpy.ma"));
    if is_masked {
        return listed(name, &of.call_method0("tolist")?);
    }
    match buffer::numbers(name, of, allowed(name))? {
        Some(numbers) => Ok(numbers),
        None => match of.call_method0("to_numpy") {
            // Series of pandas and polars, columns of Arrow: of objects, where some are missing.
            Ok(array) => match buffer::numbers(name, &array, allowed(name))? {
                Some(numbers) => Ok(numbers),
                None => listed(name, &array.call_method0("tolist")?),
            },
            Err(_) => listed(name, of),
        },
    }
}

/// Whole numbers of a list, or of what is like one.
fn listed(name: &str, of: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
    of.extract::<Vec<u64>>().map_err(|error| {
        if is_not_of_values(of.py(), &error) {
            return error;
        }
        match first_other(of) {
            Some((row, found)) => wrong(&format!("{name}[{row}]"), shown(&found), allowed(name)),
            None if of.hasattr("dtype").unwrap_or(false) => buffer::no_whole(name, of, "", allowed(name)),
            None => wrong(name, shown_with_kind(of), allowed(name)),
        }
    })
}

/// The first of a list that is no whole number, with its row.
fn first_other<'py>(of: &Bound<'py, PyAny>) -> Option<(usize, Bound<'py, PyAny>)> {
    let items = of.cast::<PyList>().ok()?.iter();
    items.enumerate().find(|(_, item)| item.extract::<u64>().is_err())
}
