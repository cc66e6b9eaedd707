//! Arrow's C stream interface, as its specification has it (Apache Arrow, "The Arrow C data interface" and "The Arrow C
//! stream interface"): a schema, and all rows as one batch.

use crate::data::Data;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr;
use std::sync::Arc;

#[repr(C)]
struct ArrowSchema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut ArrowSchema,
    dictionary: *mut ArrowSchema,
    release: Option<unsafe extern "C" fn(*mut ArrowSchema)>,
    private_data: *mut c_void,
}

#[repr(C)]
struct ArrowArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut ArrowArray,
    dictionary: *mut ArrowArray,
    release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    private_data: *mut c_void,
}

#[repr(C)]
struct ArrowArrayStream {
    get_schema: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowSchema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowArray) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut ArrowArrayStream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut ArrowArrayStream)>,
    private_data: *mut c_void,
}

// SAFETY: what `private_data` points to is a `Stream`, which may be sent; nothing else is not.
unsafe impl Send for ArrowArrayStream {}

impl Drop for ArrowArrayStream {
    /// Whoever takes the stream out of its capsule leaves it released.
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: it is this module's own, and it was not released.
            unsafe { release(self) }
        }
    }
}

/// What a stream has: its columns, until they are given.
struct Stream {
    columns: Vec<(CString, Arc<Data>)>,
    is_given: bool,
}

/// What a schema points into.
struct SchemaParts {
    _name: Option<CString>,
    children: Vec<*mut ArrowSchema>,
}

/// What an array points into.
struct ArrayParts {
    _data: Option<Arc<Data>>,
    _offsets: Vec<i64>,
    _letters: Vec<u8>,
    buffers: Vec<*const c_void>,
    children: Vec<*mut ArrowArray>,
}

/// A stream of the columns, in the capsule that the interface asks for.
pub fn stream<'py>(py: Python<'py>, columns: &[(String, Arc<Data>)]) -> PyResult<Bound<'py, PyCapsule>> {
    let named = columns.iter().map(|(name, data)| Ok((CString::new(name.as_str())?, Arc::clone(data))));
    let columns = named.collect::<Result<_, std::ffi::NulError>>()?;
    let stream = Box::new(Stream { columns, is_given: false });
    let stream = ArrowArrayStream {
        get_schema: Some(get_schema),
        get_next: Some(get_next),
        get_last_error: Some(get_last_error),
        release: Some(release_stream),
        private_data: Box::into_raw(stream).cast(),
    };
    PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
}

unsafe extern "C" fn get_schema(stream: *mut ArrowArrayStream, out: *mut ArrowSchema) -> c_int {
    // SAFETY: both are the caller's, and the stream was made by `stream` and not released.
    unsafe {
        let stream = &*(*stream).private_data.cast::<Stream>();
        let field = |(name, data): &(CString, Arc<Data>)| {
            let format = match **data {
                Data::Counts(_) => c"L",
                Data::Numbers(_) => c"g",
                Data::Names { .. } | Data::Words(_) => c"U",
            };
            Box::into_raw(Box::new(schema(format, Some(name.clone()), Vec::new())))
        };
        out.write(schema(c"+s", None, stream.columns.iter().map(field).collect()));
    }
    0
}

fn schema(
    format: &'static std::ffi::CStr,
    name: Option<CString>,
    children: Vec<*mut ArrowSchema>,
) -> ArrowSchema {
    let mut parts = Box::new(SchemaParts { _name: name, children });
    ArrowSchema {
        format: format.as_ptr(),
        name: parts._name.as_ref().map_or(c"".as_ptr(), |name| name.as_ptr()),
        metadata: ptr::null(),
        flags: 0,
        n_children: parts.children.len() as i64,
        children: parts.children.as_mut_ptr(),
        dictionary: ptr::null_mut(),
        release: Some(release_schema),
        private_data: Box::into_raw(parts).cast(),
    }
}

unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    // SAFETY: it was made by `schema`, and is released once. A child that was moved away is released already.
    unsafe {
        let parts = Box::from_raw((*schema).private_data.cast::<SchemaParts>());
        for child in &parts.children {
            if let Some(release) = (**child).release {
                release(*child);
            }
            drop(Box::from_raw(*child));
        }
        (*schema).release = None;
    }
}

unsafe extern "C" fn get_next(stream: *mut ArrowArrayStream, out: *mut ArrowArray) -> c_int {
    // SAFETY: as in `get_schema`.
    unsafe {
        let stream = &mut *(*stream).private_data.cast::<Stream>();
        let rows = stream.columns.first().map_or(0, |(_, data)| data.rows());
        let mut batch = if stream.is_given {
            array(0, ArrayParts::of(Vec::new(), Vec::new()))
        } else {
            let column =
                |(_, data): &(CString, Arc<Data>)| Box::into_raw(Box::new(array(data.rows(), values(data))));
            array(rows, ArrayParts::of(vec![ptr::null()], stream.columns.iter().map(column).collect()))
        };
        if stream.is_given {
            // The end of a stream is an array that is released.
            if let Some(release) = batch.release {
                release(&mut batch);
            }
        }
        stream.is_given = true;
        out.write(batch);
    }
    0
}

impl ArrayParts {
    fn of(buffers: Vec<*const c_void>, children: Vec<*mut ArrowArray>) -> Self {
        ArrayParts { _data: None, _offsets: Vec::new(), _letters: Vec::new(), buffers, children }
    }
}

/// The buffers of a column: none says which values are there, for all are.
fn values(data: &Arc<Data>) -> ArrayParts {
    let texts = |words: &mut dyn Iterator<Item = &str>| {
        let (mut offsets, mut letters) = (vec![0], Vec::new());
        for word in words {
            letters.extend_from_slice(word.as_bytes());
            offsets.push(letters.len() as i64);
        }
        let buffers = vec![ptr::null(), offsets.as_ptr().cast(), letters.as_ptr().cast()];
        ArrayParts { _data: None, _offsets: offsets, _letters: letters, buffers, children: Vec::new() }
    };
    let numbers = |values: *const c_void| ArrayParts {
        _data: Some(Arc::clone(data)),
        ..ArrayParts::of(vec![ptr::null(), values], Vec::new())
    };
    match &**data {
        Data::Counts(values) => numbers(values.as_ptr().cast()),
        Data::Numbers(values) => numbers(values.as_ptr().cast()),
        Data::Names { codes, names } => {
            texts(&mut codes.iter().map(|code| names[usize::from(*code)].as_ref()))
        }
        Data::Words(words) => texts(&mut words.iter().map(String::as_str)),
    }
}

fn array(rows: usize, parts: ArrayParts) -> ArrowArray {
    let mut parts = Box::new(parts);
    ArrowArray {
        length: rows as i64,
        null_count: 0,
        offset: 0,
        n_buffers: parts.buffers.len() as i64,
        n_children: parts.children.len() as i64,
        buffers: parts.buffers.as_mut_ptr(),
        children: parts.children.as_mut_ptr(),
        dictionary: ptr::null_mut(),
        release: Some(release_array),
        private_data: Box::into_raw(parts).cast(),
    }
}

unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: as in `release_schema`.
    unsafe {
        let parts = Box::from_raw((*array).private_data.cast::<ArrayParts>());
        for child in &parts.children {
            if let Some(release) = (**child).release {
                release(*child);
            }
            drop(Box::from_raw(*child));
        }
        (*array).release = None;
    }
}

unsafe extern "C" fn get_last_error(_: *mut ArrowArrayStream) -> *const c_char {
    // Nothing fails.
    ptr::null()
}

unsafe extern "C" fn release_stream(stream: *mut ArrowArrayStream) {
    // SAFETY: it was made by `stream`, and is released once.
    unsafe {
        drop(Box::from_raw((*stream).private_data.cast::<Stream>()));
        (*stream).release = None;
    }
}
