//! Tables: columns of equal length, as vectors of Rust that numpy and Arrow look into.

use crate::arrow;
use crate::buffer;
use lab::columns::{self, Values};
use pyo3::exceptions::PyKeyError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};
use std::collections::BTreeMap;
use std::ffi::c_int;
use std::sync::Arc;

/// The values of a column.
#[derive(Debug)]
pub enum Data {
    /// Counts, and times in ns.
    Counts(Vec<u64>),
    /// Measured numbers, and counts of which some are not there: NaN.
    Numbers(Vec<f64>),
    /// A few names, by their place in a list.
    Names {
        /// One for each row.
        codes: Vec<u8>,
        /// What they stand for.
        names: Vec<&'static str>,
    },
    /// Texts.
    Words(Vec<String>),
}

impl Data {
    /// How many rows there are.
    pub fn rows(&self) -> usize {
        match self {
            Data::Counts(values) => values.len(),
            Data::Numbers(values) => values.len(),
            Data::Names { codes, .. } => codes.len(),
            Data::Words(words) => words.len(),
        }
    }

    fn of(values: Values) -> Self {
        let number = |value: Option<f64>| value.unwrap_or(f64::NAN);
        match values {
            Values::Counts(values) => Data::Counts(values),
            Values::Numbers(values) => Data::Numbers(values),
            Values::NumbersOrNone(values) => Data::Numbers(values.into_iter().map(number).collect()),
            Values::CountsOrNone(values) => Data::Numbers(
                values.into_iter().map(|value| number(value.map(|count| count as f64))).collect(),
            ),
            Values::Words(words) => Data::Words(words),
            Values::Names(names) => Data::of_names(names),
        }
    }

    /// Names as codes, unless there are too many for that.
    pub fn of_names(all: Vec<&'static str>) -> Self {
        let mut known: BTreeMap<&'static str, u8> = BTreeMap::new();
        let mut names = Vec::new();
        let mut codes = Vec::with_capacity(all.len());
        for name in &all {
            let code = match known.get(name) {
                Some(code) => *code,
                None if names.len() > usize::from(u8::MAX) => {
                    return Data::Words(all.into_iter().map(str::to_owned).collect());
                }
                None => {
                    let code = names.len() as u8;
                    known.insert(name, code);
                    names.push(*name);
                    code
                }
            };
            codes.push(code);
        }
        Data::Names { codes, names }
    }
}

/// A column of a table. Numbers are a buffer: `memoryview(column)` and `numpy.asarray(column)` copy nothing. Of names
/// the buffer is their codes, places in `names`.
#[pyclass(module = "wordline", frozen)]
pub struct Column {
    /// Its name.
    #[pyo3(get)]
    pub name: String,
    pub(crate) data: Arc<Data>,
    pub(crate) shape: [isize; 1],
    pub(crate) steps: [isize; 1],
}

#[pymethods]
impl Column {
    /// How many rows there are.
    fn __len__(&self) -> usize {
        self.data.rows()
    }

    /// As a buffer, without a copy.
    ///
    /// # Safety
    /// Python's interpreter calls it with a view to be filled in.
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        // SAFETY: as of this function.
        unsafe { buffer::fill(slf, view, flags) }
    }

    /// Nothing was made for a view.
    ///
    /// # Safety
    /// It looks at nothing.
    unsafe fn __releasebuffer__(&self, _view: *mut ffi::Py_buffer) {}

    /// The names that codes stand for; None where there are no codes.
    #[getter]
    fn names(&self) -> Option<Vec<&'static str>> {
        match &*self.data {
            Data::Names { names, .. } => Some(names.clone()),
            _ => None,
        }
    }

    /// As an array of numpy: numbers without a copy, read-only; names and texts as an array of `str`.
    fn to_numpy<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let numpy = slf.py().import("numpy")?;
        match &*slf.get().data {
            Data::Words(words) => numpy.call_method1("array", (words.clone(), "object")),
            Data::Names { names, .. } => {
                let names = numpy.call_method1("array", (names.clone(), "object"))?;
                names.get_item(numpy.call_method1("asarray", (slf,))?)
            }
            Data::Counts(_) | Data::Numbers(_) => numpy.call_method1("asarray", (slf,)),
        }
    }

    fn __repr__(&self) -> String {
        format!("<wordline.Column {:?}, {} rows>", self.name, self.data.rows())
    }
}

/// A table of what was measured: `table["latency_ns"]` is an array of numpy. polars, pyarrow and whatever else takes
/// Arrow's streams read it as it is: `polars.DataFrame(table)`.
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

#[pymethods]
impl Table {
    /// Names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.columns.iter().map(|(name, _)| name.clone()).collect()
    }

    /// Names of the columns, as of a dict.
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
            let known = self.columns().join(", ");
            PyKeyError::new_err(format!("found {name:?}, allowed: {known}"))
        })?;
        let size = match &**data {
            Data::Names { .. } => size_of::<u8>(),
            _ => size_of::<u64>(),
        };
        let (shape, steps) = ([data.rows() as isize], [size as isize]);
        Ok(Column { name: name.clone(), data: Arc::clone(data), shape, steps })
    }

    /// A column as an array of numpy.
    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        Column::to_numpy(&Bound::new(py, self.column(name)?)?)
    }

    /// All columns as arrays of numpy, by name.
    fn to_numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for (name, _) in &self.columns {
            all.set_item(name, self.__getitem__(py, name)?)?;
        }
        Ok(all)
    }

    /// As a DataFrame of pandas, from arrays of numpy: without pyarrow.
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

    fn __repr__(&self) -> String {
        format!("<wordline.Table {:?}, {} rows of {}>", self.name, self.rows(), self.columns().join(", "))
    }
}
