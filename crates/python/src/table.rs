//! Tables: columns of equal length, as vectors of Rust that numpy and Arrow look into.

use crate::arrow;
use crate::column::Column;
use crate::data::Data;
use lab::columns;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};
use std::sync::Arc;

/// A table of measurements: `table["latency_ns"]` is a numpy array. polars, pyarrow and anything else that accepts
/// Arrow streams reads it directly: `polars.DataFrame(table)`.
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
            let known = self.columns().join(", ");
            PyKeyError::new_err(format!("found {name:?}, allowed: {known}"))
        })?;
        Ok(Column::new(name, data))
    }

    /// A column as a numpy array.
    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        Column::to_numpy(&Bound::new(py, self.column(name)?)?)
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

    fn __repr__(&self) -> String {
        format!("<wordline.Table {:?}, {} rows of {}>", self.name, self.rows(), self.columns().join(", "))
    }
}
