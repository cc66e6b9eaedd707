//! A column as Python's buffer: whoever asks looks into the vector itself, which lives as long as that.

use crate::data::Data;
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::{CStr, c_int, c_void};
use std::ptr;
use std::sync::Arc;

/// A column of a table. Numbers are a buffer: `memoryview(column)` and `numpy.asarray(column)` copy nothing. For
/// names the buffer holds their codes, indexes into `names`.
#[pyclass(module = "wordline", frozen)]
pub struct Column {
    /// Its name.
    #[pyo3(get)]
    pub name: String,
    data: Arc<Data>,
    shape: [isize; 1],
    steps: [isize; 1],
}

impl Column {
    /// Of a name and values.
    pub fn new(name: &str, data: &Arc<Data>) -> Self {
        let size = match **data {
            Data::Names { .. } => size_of::<u8>(),
            _ => size_of::<u64>(),
        };
        let (shape, steps) = ([data.rows() as isize], [size as isize]);
        Column { name: name.to_owned(), data: Arc::clone(data), shape, steps }
    }
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
        unsafe { fill(slf, view, flags) }
    }

    /// Nothing was made for a view.
    ///
    /// # Safety
    /// It looks at nothing.
    unsafe fn __releasebuffer__(&self, _view: *mut ffi::Py_buffer) {}

    /// The names that the codes stand for; None if there are no codes.
    #[getter]
    fn names(&self) -> Option<Vec<String>> {
        match &*self.data {
            Data::Names { names, .. } => Some(names.iter().map(ToString::to_string).collect()),
            _ => None,
        }
    }

    /// As a numpy array: numbers without a copy, read-only; names and texts as an array of `str`.
    pub fn to_numpy<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let numpy = slf.py().import("numpy")?;
        match &*slf.get().data {
            Data::Words(words) => numpy.call_method1("array", (words.clone(), "object")),
            Data::Names { names, .. } => {
                let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
                let names = numpy.call_method1("array", (names, "object"))?;
                names.get_item(numpy.call_method1("asarray", (slf,))?)
            }
            Data::Counts(_) | Data::Numbers(_) => numpy.call_method1("asarray", (slf,)),
        }
    }

    fn __repr__(&self) -> String {
        format!("<wordline.Column {:?}, {} rows>", self.name, self.data.rows())
    }
}

/// Where the values lie, how large each is, and what `struct` calls its type.
fn parts(data: &Data) -> Option<(*const c_void, usize, &'static CStr)> {
    Some(match data {
        Data::Counts(values) => (values.as_ptr().cast(), size_of::<u64>(), c"Q"),
        Data::Numbers(values) => (values.as_ptr().cast(), size_of::<f64>(), c"d"),
        Data::Names { codes, .. } => (codes.as_ptr().cast(), size_of::<u8>(), c"B"),
        Data::Words(_) => return None,
    })
}

/// Fills in a view of a column with what is asked for.
///
/// # Safety
/// The view is one to be filled in, as Python's C interface has it, or null.
pub unsafe fn fill(of: Bound<'_, Column>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
    if view.is_null() {
        return Err(PyBufferError::new_err("no view"));
    }
    if flags & ffi::PyBUF_WRITABLE == ffi::PyBUF_WRITABLE {
        return Err(PyBufferError::new_err("measurements are read-only; copy them first"));
    }
    let column = of.get();
    let Some((values, size, format)) = parts(&column.data) else {
        return Err(PyBufferError::new_err(format!("{} contains text, not numbers", column.name)));
    };
    let length = column.shape[0] * size as isize;
    let wants = |flag: c_int| flags & flag == flag;
    let shape = column.shape.as_ptr().cast_mut();
    let steps = column.steps.as_ptr().cast_mut();
    // SAFETY: the caller gives a view to be filled in. The pointers are into the column, which is frozen and boxed
    // by Python, and which the view's reference keeps until it is released.
    unsafe {
        (*view).buf = values.cast_mut();
        (*view).len = length;
        (*view).readonly = 1;
        (*view).itemsize = size as isize;
        (*view).format = if wants(ffi::PyBUF_FORMAT) { format.as_ptr().cast_mut() } else { ptr::null_mut() };
        (*view).ndim = 1;
        (*view).shape = if wants(ffi::PyBUF_ND) { shape } else { ptr::null_mut() };
        (*view).strides = if wants(ffi::PyBUF_STRIDES) { steps } else { ptr::null_mut() };
        (*view).suboffsets = ptr::null_mut();
        (*view).internal = ptr::null_mut();
        (*view).obj = of.into_any().into_ptr();
    }
    Ok(())
}
