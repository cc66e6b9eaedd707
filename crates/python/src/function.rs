//! A function or class of Python that a drive asks: who it is, and how it is called.

use crate::callables::Callables;
use crate::message::is_not_of_values;
use lab::own::{Parameters, Unmade};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use ssd::external::Identity;
use std::fmt;

/// The module that knows what functions are made of.
const POLICIES: &str = "wordline._policies";

/// What is called.
enum Held {
    /// A function: copies of its drive share it.
    Shared(usize),
    /// An object that was made of a class for this drive: copies of its drive have copies.
    Own(Py<PyAny>),
}

/// A function of Python, or an object of a class.
pub struct Function {
    of: Callables,
    held: Held,
    identity: Identity,
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Function({})", self.identity.name)
    }
}

/// What it is called in messages unless it has a name from elsewhere.
pub fn name_of(of: &Bound<'_, PyAny>) -> String {
    let name = of.getattr("__qualname__").or_else(|_| of.get_type().getattr("__qualname__"));
    name.and_then(|name| name.extract()).unwrap_or_else(|_| "policy".to_owned())
}

/// A hash of all that a function can depend on; empty where nobody can tell.
pub fn hash_of(of: &Bound<'_, PyAny>) -> PyResult<String> {
    let found = of.py().import(POLICIES)?.call_method1("fingerprint", (of,))?;
    Ok(found.extract::<Option<String>>()?.unwrap_or_default())
}

impl Function {
    /// Of what was given, called by that name, with parameters; `at` is its place among all.
    pub fn new(
        of: &Bound<'_, PyAny>,
        (all, at): (&Callables, usize),
        identity: Identity,
        parameters: &Parameters,
    ) -> Result<Self, Unmade> {
        let is_class = of.is_instance_of::<PyType>();
        let bound = bound(of, parameters)?;
        let held = if parameters.is_empty() && !is_class { Held::Shared(at) } else { Held::Own(bound) };
        Ok(Function { of: all.clone(), held, identity })
    }

    /// Who it is.
    pub fn identity(&self) -> Identity {
        self.identity.clone()
    }

    /// One for a copy of its drive.
    pub fn copied(&self) -> Self {
        let held = match &self.held {
            Held::Shared(at) => Held::Shared(*at),
            Held::Own(object) => Held::Own(Python::attach(|py| {
                let copy = py.import("copy").and_then(|copy| copy.call_method1("deepcopy", (object,)));
                // What cannot be copied is shared.
                copy.map_or_else(|_| object.clone_ref(py), Bound::unbind)
            })),
        };
        Function { of: self.of.clone(), held, identity: self.identity.clone() }
    }

    /// What is said of an exception.
    pub fn failed(&self, py: Python<'_>, error: PyErr) -> String {
        self.of.failed(py, error)
    }

    /// What it answers; an exception as Python prints it.
    pub fn call<'py>(&self, py: Python<'py>, with: Py<PyAny>) -> Result<Option<u32>, String> {
        let function = match &self.held {
            Held::Own(object) => object.clone_ref(py),
            Held::Shared(at) => self.of.get(py, *at).ok_or_else(|| "a function that is gone".to_owned())?,
        };
        let answer = function.call1(py, (with,)).map_err(|error| self.of.failed(py, error))?;
        if answer.is_none(py) {
            return Ok(None);
        }
        answer.extract(py).map(Some).map_err(|error: PyErr| {
            if is_not_of_values(py, &error) {
                return self.of.failed(py, error);
            }
            let shown =
                answer.bind(py).repr().map_or_else(|_| "something else".to_owned(), |text| text.to_string());
            format!("{shown}, which is not a whole number from 0 (int() makes one)")
        })
    }
}

/// A function with parameters, or an object of a class that was made with them.
fn bound(of: &Bound<'_, PyAny>, parameters: &Parameters) -> Result<Py<PyAny>, Unmade> {
    let py = of.py();
    let unmade = |error: PyErr| {
        let told = error.value(py).getattr("args").and_then(|args| args.extract());
        let (parameter, found, allowed) =
            told.unwrap_or_else(|_| (None, error.to_string(), "a function, or a class".to_owned()));
        Unmade { parameter, found, allowed }
    };
    let texts = PyDict::new(py);
    for (key, value) in parameters {
        texts.set_item(key, value).map_err(unmade)?;
    }
    let module = py.import(POLICIES).map_err(unmade)?;
    module.call_method1("bound", (of, texts)).map(Bound::unbind).map_err(unmade)
}
