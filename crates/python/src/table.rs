//! Tables: columns of equal length, as vectors of Rust that numpy and Arrow look into.

use crate::arrow;
use crate::column::Column;
use crate::data::Data;
use crate::errors::WordlineError;
use lab::columns;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyList, PyType};
use ssd::config::{Problem, shown};
use std::borrow::Cow;
use std::sync::Arc;

/// A table of measurements: `table["latency_ns"]` is a numpy array; it is read as a dict of columns is. pandas, polars,
/// pyarrow and anything else that accepts dicts or Arrow streams reads it directly: `polars.DataFrame(table)`.
#[pyclass(module = "wordline", frozen)]
pub struct Table {
    name: String,
    pub(crate) columns: Vec<(String, Arc<Data>)>,
}

impl Table {
    /// Of a table of the laboratory's.
    pub fn of(table: columns::Table) -> Self {
        let name = table.name.to_owned();
        let columns = table.into_columns().into_iter();
        let columns = columns.map(|column| (column.name.into_owned(), Arc::new(Data::of(column.values))));
        Table { name, columns: columns.collect() }
    }

    /// Of columns.
    pub fn new(name: &str, columns: Vec<(&str, Data)>) -> Self {
        let columns = columns.into_iter().map(|(name, data)| (name.to_owned(), Arc::new(data)));
        Table { name: name.to_owned(), columns: columns.collect() }
    }

    pub(crate) fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, data)| data.rows())
    }
}

/// Rows that a notebook shows of a table.
const ROWS_SHOWN: usize = 20;

/// A text in HTML.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A key that is not there: where it was looked for, what is, and what was probably meant.
pub fn no_key<'a>(of: &str, key: &str, names: impl Iterator<Item = &'a str>) -> PyErr {
    let Problem::NoSuchName { allowed, near, .. } = Problem::no_such_name("key", key, names) else {
        return PyKeyError::new_err(key.to_owned());
    };
    let of = if of.is_empty() { String::new() } else { format!(" in {of}") };
    let near = near.map_or(String::new(), |near| format!("did you mean {near:?}? "));
    PyKeyError::new_err(format!("found {:?}{of}, {near}allowed: {}", shown(key), allowed.join(", ")))
}

/// What makes a table of a pickle: a function, and a name and columns for it.
type Pickled<'py> = (Bound<'py, PyAny>, (String, Bound<'py, PyList>));

/// A column as a pickle holds it: numbers, lowest byte first, or codes; and texts, or the names that codes stand for.
struct Packed<'a> {
    kind: &'a str,
    bytes: Vec<u8>,
    words: Vec<String>,
}

impl<'a> Packed<'a> {
    fn of(data: &Data) -> Self {
        let (kind, bytes, words) = match data {
            Data::Counts(values) => {
                ("counts", values.iter().flat_map(|v| v.to_le_bytes()).collect(), Vec::new())
            }
            Data::Numbers(values) => {
                ("numbers", values.iter().flat_map(|v| v.to_le_bytes()).collect(), Vec::new())
            }
            Data::Names { codes, names } => {
                ("names", codes.clone(), names.iter().map(ToString::to_string).collect())
            }
            Data::Words(words) => ("words", Vec::new(), words.clone()),
        };
        Packed { kind, bytes, words }
    }

    /// The column, if that is one.
    fn data(self) -> Option<Data> {
        let Packed { kind, bytes, words } = self;
        let (eights, rest) = bytes.as_chunks::<8>();
        match kind {
            "counts" if rest.is_empty() => {
                Some(Data::Counts(eights.iter().map(|eight| u64::from_le_bytes(*eight)).collect()))
            }
            "numbers" if rest.is_empty() => {
                Some(Data::Numbers(eights.iter().map(|eight| f64::from_le_bytes(*eight)).collect()))
            }
            "names" if bytes.iter().all(|code| usize::from(*code) < words.len()) => {
                Some(Data::Names { codes: bytes, names: words.into_iter().map(Cow::Owned).collect() })
            }
            "words" => Some(Data::Words(words)),
            _ => None,
        }
    }
}

#[pymethods]
impl Table {
    /// Names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.columns.iter().map(|(name, _)| name.clone()).collect()
    }

    /// Names of the columns, as for a dict.
    fn keys(&self) -> Vec<String> {
        self.columns()
    }

    /// How many rows there are.
    fn __len__(&self) -> usize {
        self.rows()
    }

    fn __contains__(&self, name: &str) -> bool {
        self.columns.iter().any(|(known, _)| known == name)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        PyList::new(py, self.columns())?.call_method0("__iter__")
    }

    /// A column by its name.
    fn column(&self, name: &str) -> PyResult<Column> {
        let found = self.columns.iter().find(|(known, _)| known == name);
        let (name, data) = found.ok_or_else(|| {
            let names = self.columns.iter().map(|(name, _)| name.as_str());
            no_key("", name, names)
        })?;
        Ok(Column::new(name, data))
    }

    /// A column as a numpy array.
    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        Column::to_numpy(&Bound::new(py, self.column(name)?)?)
    }

    /// The columns as numpy arrays, as for a dict.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.to_numpy(py)?.call_method0("values")
    }

    /// Names of the columns with the columns as numpy arrays, as for a dict.
    fn items<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.to_numpy(py)?.call_method0("items")
    }

    /// A column as a numpy array, or a default.
    #[pyo3(signature = (name, default=None))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        if self.__contains__(name) { self.__getitem__(py, name).map(Some) } else { Ok(default) }
    }

    /// All columns as numpy arrays, by name.
    fn to_numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for (name, _) in &self.columns {
            all.set_item(name, self.__getitem__(py, name)?)?;
        }
        Ok(all)
    }

    /// As a pandas DataFrame, made from numpy arrays: pyarrow is not needed.
    fn to_pandas<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("pandas")?.call_method1("DataFrame", (self.to_numpy(py)?,))
    }

    /// The table as a stream of Arrow's C interface; numbers are not copied.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // It has one schema, and who asks for another converts, as the interface lets it.
        let _ = requested_schema;
        arrow::stream(py, &self.columns)
    }

    /// What pandas looks at, which makes frames of dicts only: `pandas.DataFrame(table)` has its columns.
    #[getter]
    fn __class__<'py>(&self, py: Python<'py>) -> Bound<'py, PyType> {
        py.get_type::<PyDict>()
    }

    /// For pickle.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Pickled<'py>> {
        let (py, this) = (slf.py(), slf.get());
        let packed = this.columns.iter().map(|(name, data)| (name.as_str(), Packed::of(data)));
        let columns =
            packed.map(|(name, Packed { kind, bytes, words })| (name, kind, PyBytes::new(py, &bytes), words));
        let columns = PyList::new(py, columns.collect::<Vec<_>>())?;
        Ok((py.get_type::<Table>().getattr("_unpickled")?, (this.name.clone(), columns)))
    }

    /// A table from what a pickle holds of it.
    #[staticmethod]
    fn _unpickled(name: String, columns: Vec<(String, String, Vec<u8>, Vec<String>)>) -> PyResult<Self> {
        let damaged = || WordlineError::new_err("the pickle of a table is damaged");
        let unpacked = columns.into_iter().map(|(name, kind, bytes, words)| {
            let data = Packed { kind: &kind, bytes, words }.data().ok_or_else(damaged)?;
            Ok((name, Arc::new(data)))
        });
        let table = Table { name, columns: unpacked.collect::<PyResult<_>>()? };
        if table.columns.iter().any(|(_, data)| data.rows() != table.rows()) {
            return Err(damaged());
        }
        Ok(table)
    }

    /// Its first and last rows, in a notebook.
    fn _repr_html_(&self) -> String {
        let cells = |tag: &str, texts: &mut dyn Iterator<Item = String>| -> String {
            texts.map(|text| format!("<{tag}>{}</{tag}>", escaped(&text))).collect()
        };
        let names = &mut self.columns.iter().map(|(name, _)| name.clone());
        let mut html = format!("<table><thead><tr>{}</tr></thead><tbody>", cells("th", names));
        let rows = self.rows();
        let is_shown =
            |row: &usize| rows <= ROWS_SHOWN || *row < ROWS_SHOWN / 2 || *row >= rows - ROWS_SHOWN / 2;
        for row in (0..rows).filter(is_shown) {
            if rows > ROWS_SHOWN && row == rows - ROWS_SHOWN / 2 {
                html += &format!("<tr>{}</tr>", "<td>...</td>".repeat(self.columns.len()));
            }
            let values = &mut self.columns.iter().map(|(_, data)| data.text(row));
            html += &format!("<tr>{}</tr>", cells("td", values));
        }
        html + &format!(
            "</tbody></table><p>{}: {rows} rows of {} columns</p>",
            escaped(&self.name),
            self.columns.len()
        )
    }

    fn __repr__(&self) -> String {
        format!("<wordline.Table {:?}, {} rows of {}>", self.name, self.rows(), self.columns().join(", "))
    }
}
