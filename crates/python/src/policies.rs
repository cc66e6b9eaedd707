//! Policies of the user's own: functions of Python, C addresses, libraries.

use crate::callables::Callables;
use crate::errors::ConfigError;
use crate::feed::is_not_of_values;
use abi::Family;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt};
use ssd::config::{Problem, quote};
use ssd::external::{ExternalPolicies, Identity, LaneCall, LanePolicy, NOT_ELIGIBLE, StreamPolicy, UnitCall};
use std::fmt;
use std::path::{Path, PathBuf};

/// The blocks of a lane, counted from 0, as seen by a policy for `gc_victim` or `wear_leveling`. Its arrays are
/// read-only, and filled anew for each call: copy what is to be kept.
#[pyclass(module = "wordline")]
pub struct Lane {
    /// Its arrays to write into, in the order of [`ARRAYS`]; what is shown are views of these that are read-only.
    arrays: [Py<PyAny>; 6],
    /// Live units of each block.
    #[pyo3(get)]
    live: Py<PyAny>,
    /// Whether cleaning may choose it.
    #[pyo3(get)]
    eligible: Py<PyAny>,
    /// 0 free, 1 open, 2 closed, 3 moving, 4 draining, 5 migrating, 6 erasing, 7 bad.
    #[pyo3(get)]
    state: Py<PyAny>,
    /// Erases.
    #[pyo3(get)]
    erases: Py<PyAny>,
    /// `now` when it was filled last.
    #[pyo3(get)]
    closed_at: Py<PyAny>,
    /// Share of its life used up, in 1/4096; 0 where nothing estimates it.
    #[pyo3(get)]
    wear_q12: Py<PyAny>,
    /// Number of the lane.
    #[pyo3(get)]
    lane: u32,
    /// Units of data that a block holds.
    #[pyo3(get)]
    units_per_block: u32,
    /// Host units written to flash so far: the clock of ages.
    #[pyo3(get)]
    now: u64,
    /// Of `wear_leveling`: erases of the lane so far.
    #[pyo3(get)]
    lane_erases: u64,
    /// Of `gc_victim`: random bits, fresh with each call, the same in each run.
    #[pyo3(get)]
    random: u32,
    /// Number of the call, from 1.
    #[pyo3(get)]
    call: u64,
}

/// What the arrays of a lane are of, and what they are shown as: flags are written as bytes.
const ARRAYS: [(&str, &str); 6] = [
    ("uint32", "uint32"),
    ("uint8", "bool"),
    ("uint8", "uint8"),
    ("uint32", "uint32"),
    ("uint64", "uint64"),
    ("uint16", "uint16"),
];

/// A unit of data that is about to be programmed, as seen by a policy for `stream`. Unknown values are 0.
#[pyclass(module = "wordline", frozen)]
pub struct Unit {
    /// 1: the host has written it, 2: it is moved, 3: it may be moved or stay; do not record it.
    #[pyo3(get)]
    kind: u32,
    /// Streams there are (`ftl.stream.streams`): the answer must be less.
    #[pyo3(get)]
    streams: u32,
    /// Host units written to flash so far.
    #[pyo3(get)]
    clock: u64,
    /// Number of the call, from 1.
    #[pyo3(get)]
    call: u64,
    /// Number of the unit.
    #[pyo3(get)]
    lpn: u32,
    /// Written: sectors of the whole command.
    #[pyo3(get)]
    sectors: u32,
    /// Moved: the stream it lies in.
    #[pyo3(get)]
    lies_in: u32,
    /// Moved: why; 2 cleaning.
    #[pyo3(get)]
    cause: u32,
    /// Written: 1 if it was written again before it was programmed.
    #[pyo3(get)]
    again: u32,
    /// Written: placement id.
    #[pyo3(get)]
    placement: u32,
    /// Written: process.
    #[pyo3(get)]
    process: u32,
}

/// A function of Python, which copies of its drive share.
struct Function {
    of: Callables,
    at: usize,
    identity: Identity,
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Function({})", self.identity.name)
    }
}

impl Function {
    fn new(callables: &Callables, of: &Bound<'_, PyAny>) -> Self {
        let name = of.getattr("__qualname__").or_else(|_| of.get_type().getattr("__qualname__"));
        let name = name.and_then(|name| name.extract()).unwrap_or_else(|_| "policy".to_owned());
        // Of what was typed into an interpreter there may be no source.
        let hash = source_hash(of).unwrap_or_default();
        let at = callables.add(of.clone().unbind());
        Function { of: callables.clone(), at, identity: Identity { name, kind: "python", hash } }
    }

    fn copied(&self) -> Self {
        Function { of: self.of.clone(), at: self.at, identity: self.identity.clone() }
    }

    /// What it answers; an exception as Python prints it.
    fn call<'py>(&self, py: Python<'py>, with: Py<PyAny>) -> Result<Option<u32>, String> {
        let function = self.of.get(py, self.at).ok_or_else(|| "a function that is gone".to_owned())?;
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

/// The hash of a function's source, or of its class's.
fn source_hash(of: &Bound<'_, PyAny>) -> PyResult<String> {
    let py = of.py();
    let inspect = py.import("inspect")?;
    let source = inspect.call_method1("getsource", (of,));
    let source = source.or_else(|_| inspect.call_method1("getsource", (of.get_type(),)))?;
    let bytes = source.call_method1("encode", ("utf-8",))?;
    let hash = py.import("hashlib")?.call_method1("sha256", (bytes,))?;
    let digits: String = hash.call_method0("hexdigest")?.extract()?;
    Ok(digits[..16].to_owned())
}

/// A function that chooses blocks.
#[derive(Debug)]
struct LaneFunction {
    function: Function,
    /// What it is shown, made with the first call.
    lane: Option<Py<Lane>>,
}

impl LaneFunction {
    /// What a function is shown of a lane.
    fn show(&mut self, py: Python<'_>, call: &LaneCall<'_>) -> PyResult<Py<Lane>> {
        let rows = call.lane.len() as usize;
        let fits = |lane: &Py<Lane>| lane.borrow(py).live.bind(py).len().is_ok_and(|len| len == rows);
        let lane = match self.lane.take().filter(fits) {
            Some(lane) => lane,
            None => Py::new(py, Lane::of_rows(py, rows)?)?,
        };
        let lane = self.lane.insert(lane);
        lane.borrow_mut(py).fill(py, call)?;
        Ok(lane.clone_ref(py))
    }
}

impl Lane {
    fn of_rows(py: Python<'_>, rows: usize) -> PyResult<Self> {
        let numpy = py.import("numpy")?;
        let empty = |kind: &str| numpy.call_method1("zeros", (rows, kind));
        let mut arrays = Vec::with_capacity(ARRAYS.len());
        let mut views = Vec::with_capacity(ARRAYS.len());
        for (kind, shown) in ARRAYS {
            let array = empty(kind)?;
            let view = array.call_method1("view", (shown,))?;
            view.getattr("flags")?.setattr("writeable", false)?;
            arrays.push(array.unbind());
            views.push(view.unbind());
        }
        let sized = |all: Vec<Py<PyAny>>| all.try_into().unwrap_or_else(|_| unreachable!("one for each"));
        let [live, eligible, state, erases, closed_at, wear_q12] = sized(views);
        Ok(Lane {
            arrays: sized(arrays),
            live,
            eligible,
            state,
            erases,
            closed_at,
            wear_q12,
            lane: 0,
            units_per_block: 0,
            now: 0,
            lane_erases: 0,
            random: 0,
            call: 0,
        })
    }

    fn fill(&mut self, py: Python<'_>, call: &LaneCall<'_>) -> PyResult<()> {
        let columns = call.lane.columns();
        let live: Vec<u32> = columns.live.iter().map(|live| live & !NOT_ELIGIBLE).collect();
        let eligible: Vec<u8> = columns.live.iter().map(|live| u8::from(live & NOT_ELIGIBLE == 0)).collect();
        let states: Vec<u8> = columns.state.iter().map(|state| *state as u8).collect();
        let [to_live, to_eligible, to_state, to_erases, to_closed_at, to_wear] =
            self.arrays.each_ref().map(|array| array.bind(py));
        PyBuffer::get(to_live)?.copy_from_slice(py, &live)?;
        PyBuffer::get(to_eligible)?.copy_from_slice(py, &eligible)?;
        PyBuffer::get(to_state)?.copy_from_slice(py, &states)?;
        PyBuffer::get(to_erases)?.copy_from_slice(py, columns.erase_count)?;
        PyBuffer::get(to_closed_at)?.copy_from_slice(py, columns.closed_at)?;
        PyBuffer::get(to_wear)?.copy_from_slice(py, columns.wear_q12)?;
        (self.lane, self.units_per_block, self.now) =
            (call.lane.lane, call.lane.units_per_block, call.lane.now);
        (self.lane_erases, self.random, self.call) = (call.erases, call.random, call.call);
        Ok(())
    }
}

impl LanePolicy for LaneFunction {
    fn identity(&self) -> Identity {
        self.function.identity.clone()
    }

    fn choose(&mut self, call: &LaneCall<'_>) -> Result<Option<u32>, String> {
        Python::attach(|py| {
            let lane = self.show(py, call).map_err(|error| self.function.of.failed(py, error))?;
            self.function.call(py, lane.into_any())
        })
    }

    fn copied(&self) -> Box<dyn LanePolicy> {
        Box::new(LaneFunction { function: self.function.copied(), lane: None })
    }
}

/// A function that separates data.
#[derive(Debug)]
struct StreamFunction(Function);

impl StreamPolicy for StreamFunction {
    fn identity(&self) -> Identity {
        self.0.identity.clone()
    }

    fn choose(&mut self, call: &UnitCall) -> Result<u32, String> {
        let told = abi::record(call);
        let unit = Unit {
            kind: told.kind,
            streams: told.streams,
            clock: told.clock,
            call: told.call,
            lpn: told.lpn,
            sectors: told.sectors,
            lies_in: told.lies_in,
            cause: told.cause,
            again: told.again,
            placement: told.placement,
            process: told.process,
        };
        Python::attach(|py| {
            let unit = Py::new(py, unit).map_err(|error| self.0.of.failed(py, error))?;
            self.0.call(py, unit.into_any())?.ok_or_else(|| "None".to_owned())
        })
    }

    fn copied(&self) -> Box<dyn StreamPolicy> {
        Box::new(StreamFunction(self.0.copied()))
    }
}

/// What was given as policies.
#[derive(Default)]
pub struct Given {
    /// Those that are no libraries.
    pub policies: ExternalPolicies,
    /// Settings that make the drive ask for all of them.
    pub settings: Vec<String>,
    /// The functions among them.
    pub callables: Callables,
}

/// What policies may be given as.
pub const POLICIES: &str = "a dict of families (gc_victim, wear_leveling, stream), each with a function, a C address \
                            (an int), or the path of a library";

/// Policies by their families. Each is a function, a C address, or the path of a library.
pub fn policies(of: Option<&Bound<'_, PyDict>>) -> PyResult<Given> {
    let Given { policies: mut given, mut settings, callables } = Given::default();
    for (name, policy) in of.into_iter().flat_map(|of| of.iter()) {
        let name: String = name.extract()?;
        let Some(family) = Family::named(name.trim_start_matches("ftl.")) else {
            return Err(no_family(&name));
        };
        settings.push(format!("ftl.{}.policy=external", family.name()));
        if let Ok(path) = policy.extract::<PathBuf>() {
            refuse_source(family, &path)?;
            settings.push(format!("policy.{}={}", family.name(), quote(&path.display().to_string())));
            continue;
        }
        match family {
            Family::GcVictim => given.gc_victim = Some(of_lane(family, &policy, &callables)?),
            Family::WearLeveling => given.wear_leveling = Some(of_lane(family, &policy, &callables)?),
            Family::Stream => given.stream = Some(of_stream(&policy, &callables)?),
        }
    }
    Ok(Given { policies: given, settings, callables })
}

fn no_family(name: &str) -> PyErr {
    let names = Family::ALL.map(Family::name);
    let near = match Problem::no_such_name("policy", name, names) {
        Problem::NoSuchName { near: Some(near), .. } => format!("\n    did you mean {near:?}?"),
        _ => String::new(),
    };
    let allowed = names.join(", ");
    ConfigError::new_err(format!("policies\n    found:   {name:?}\n    allowed: {allowed}{near}"))
}

/// Refuses a source file in place of the library that a compiler makes of it.
fn refuse_source(family: Family, path: &Path) -> PyResult<()> {
    let make = match path.extension().and_then(|ending| ending.to_str()) {
        Some("c") => "cc -O2 -shared -fPIC",
        Some("cc" | "cpp" | "cxx") => "c++ -O2 -shared -fPIC",
        Some("rs") => "rustc -O --crate-type cdylib",
        _ => return Ok(()),
    };
    let (source, library) = (path.display(), path.with_extension("so"));
    Err(ConfigError::new_err(format!(
        "policies: {}\n    found:   {source}, which is a source file\n    allowed: the library that `{make} -o {} \
         {source}` makes",
        family.name(),
        library.display()
    )))
}

fn wrong(family: Family, policy: &Bound<'_, PyAny>) -> PyErr {
    let found = policy.get_type().to_string();
    let allowed = "a function, a C address (an int), the path of a library";
    PyTypeError::new_err(format!("policies: {}\n    found:   {found}\n    allowed: {allowed}", family.name()))
}

#[allow(unsafe_code, reason = "whoever gives an address says what is there")]
fn of_lane(family: Family, policy: &Bound<'_, PyAny>, all: &Callables) -> PyResult<Box<dyn LanePolicy>> {
    if policy.is_instance_of::<PyInt>() {
        let address = policy.extract()?;
        // SAFETY: the documentation says what must be at an address, and for how long.
        let policy = unsafe { abi::lane_from_address(family, "address", address) };
        return policy.map_err(|error| ConfigError::new_err(error.to_string()));
    }
    if !policy.is_callable() {
        return Err(wrong(family, policy));
    }
    Ok(Box::new(LaneFunction { function: Function::new(all, policy), lane: None }))
}

#[allow(unsafe_code, reason = "as above")]
fn of_stream(policy: &Bound<'_, PyAny>, all: &Callables) -> PyResult<Box<dyn StreamPolicy>> {
    if policy.is_instance_of::<PyInt>() {
        // SAFETY: as above.
        let policy = unsafe { abi::stream_from_address("address", policy.extract()?) };
        return policy.map_err(|error| ConfigError::new_err(error.to_string()));
    }
    if !policy.is_callable() {
        return Err(wrong(Family::Stream, policy));
    }
    Ok(Box::new(StreamFunction(Function::new(all, policy))))
}
