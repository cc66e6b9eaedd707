//! Numbers from whatever lets others look into its memory: arrays of numpy, of `array`, of ctypes, views of them.
//!
//! What lies there is said by a text in the language of `struct` (PEP 3118): a letter for the kind, and before it the
//! order of the bytes. Both are looked at; what is not whole numbers is refused by name.

use crate::message::{is_not_of_values, kind_of, wrong};
use pyo3::exceptions::PyBufferError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView};

/// How the bytes of a number follow each other.
#[derive(Clone, Copy)]
enum Order {
    LowFirst,
    HighFirst,
}

/// Whole numbers of one kind.
#[derive(Clone, Copy)]
struct Whole {
    size: usize,
    is_signed: bool,
    order: Order,
}

impl Whole {
    /// What a text says of the kind, if it is one of whole numbers. Sizes are the machine's, or, where the order of
    /// bytes is named, those that `struct` calls standard.
    fn of(format: &str) -> Option<Self> {
        let native = if cfg!(target_endian = "little") { Order::LowFirst } else { Order::HighFirst };
        let (order, is_standard, kind) = match format.strip_prefix(['@', '^', '=', '<', '>', '!']) {
            None => (native, false, format),
            Some(kind) => match format.as_bytes()[0] {
                b'<' => (Order::LowFirst, true, kind),
                b'>' | b'!' => (Order::HighFirst, true, kind),
                first => (native, first == b'=', kind),
            },
        };
        let long = if is_standard { 4 } else { size_of::<std::ffi::c_long>() };
        let size = match kind {
            // Flags are 0 or 1.
            "b" | "B" | "?" => 1,
            "h" | "H" => 2,
            "i" | "I" => 4,
            "l" | "L" => long,
            "q" | "Q" => 8,
            "n" | "N" if !is_standard => size_of::<usize>(),
            _ => return None,
        };
        Some(Whole { size, is_signed: kind.starts_with(|letter: char| letter.is_ascii_lowercase()), order })
    }

    /// The number that the bytes are; what it is if it is below 0.
    fn read(self, bytes: &[u8]) -> Result<u64, i64> {
        let mut wide = [0; 8];
        // Lowest byte first.
        for (to, from) in wide.iter_mut().zip(0..self.size) {
            *to = match self.order {
                Order::LowFirst => bytes[from],
                Order::HighFirst => bytes[self.size - 1 - from],
            };
        }
        let number = u64::from_le_bytes(wide);
        let unused = 64 - 8 * self.size as u32;
        let signed = (number << unused) as i64 >> unused;
        if self.is_signed && signed < 0 { Err(signed) } else { Ok(number) }
    }
}

/// The whole numbers that something has in its memory; nothing if it lets nobody look there, or has references to
/// objects there: then it may still be a list of them.
pub fn numbers(name: &str, of: &Bound<'_, PyAny>, allowed: &str) -> PyResult<Option<Vec<u64>>> {
    let py = of.py();
    let view = match PyMemoryView::from(of) {
        Ok(view) => view,
        // Not in memory that can be looked into. What that would be is not Wordline's to say, but Ctrl-C stays Ctrl-C.
        Err(error) if is_not_of_values(py, &error) => return Err(error),
        Err(error) if error.is_instance_of::<PyBufferError>(py) => {
            return Err(no_whole(name, of, "", allowed));
        }
        Err(_) => return Ok(None),
    };
    let format: String = view.getattr("format")?.extract()?;
    if format == "O" {
        return Ok(None);
    }
    let Some(whole) = Whole::of(&format) else { return Err(no_whole(name, of, &format, allowed)) };
    let dimensions: usize = view.getattr("ndim")?.extract()?;
    if dimensions != 1 {
        let found = format!("{} in {dimensions} dimensions", kind_of(of));
        return Err(wrong(name, found, "one dimension: a value for each request"));
    }
    let size: usize = view.getattr("itemsize")?.extract()?;
    if size != whole.size {
        let found = format!("{}, which is said to be {format:?}, of {size} bytes each", kind_of(of));
        return Err(wrong(name, found, allowed));
    }
    // Row by row, wherever in memory each lies.
    let bytes = view.call_method0("tobytes")?.cast_into::<PyBytes>()?;
    let read = |(row, bytes): (usize, &[u8])| {
        whole.read(bytes).map_err(|found| wrong(&format!("{name}[{row}]"), found, allowed))
    };
    bytes.as_bytes().chunks_exact(size).enumerate().map(read).collect::<PyResult<_>>().map(Some)
}

/// An array of something else than whole numbers: the first of them that could not be one, and what makes the others.
pub fn no_whole(name: &str, of: &Bound<'_, PyAny>, format: &str, allowed: &str) -> PyErr {
    let kind = kind_of(of);
    if format.ends_with(['e', 'f', 'd', 'g']) {
        let is_whole = |value: &f64| value.fract() == 0.0 && *value >= 0.0;
        let values =
            of.call_method0("tolist").and_then(|list| list.extract::<Vec<f64>>()).unwrap_or_default();
        if let Some((row, value)) = values.iter().enumerate().find(|(_, value)| !is_whole(value)) {
            let seconds =
                if name == "arrival_ns" { "; of seconds, (seconds * 1e9).astype(\"uint64\")" } else { "" };
            return wrong(
                &format!("{name}[{row}]"),
                format!("{value}, in {kind}"),
                &format!("{allowed}{seconds}"),
            );
        }
        return wrong(name, kind, &format!("{allowed}: {name}.astype(\"uint64\")"));
    }
    let makes = match format.chars().last() {
        Some('s') => "text: numpy.char.decode(op) makes it of bytes",
        // As numpy writes its types of time.
        _ if kind.contains("datetime64") => "(t - t[0]).astype(\"timedelta64[ns]\").astype(\"int64\")",
        _ if kind.contains("timedelta64") => "t.astype(\"timedelta64[ns]\").astype(\"int64\")",
        _ => return wrong(name, kind, allowed),
    };
    wrong(name, kind, &format!("{allowed}; {makes}"))
}
