//! Policies of the user's own: functions of Python, C addresses, libraries.

use crate::callables::Callables;
use crate::errors::{self, ConfigError};
use crate::function::{Function, hash_of, name_of};
use crate::values::wrong_type;
use abi::Family;
use lab::Job;
use lab::own::{Made, Maker, Named, Names, Parameters, Unmade};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt};
use ssd::config::{Origin, Problem, quote};
use ssd::external::{ExternalPolicies, Identity, LaneCall, LanePolicy, NOT_ELIGIBLE, StreamPolicy, UnitCall};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The blocks of a lane, counted from 0, as seen by a policy for `gc_victim` or `wear_leveling`. Its arrays are
/// read-only, and filled anew for each call: copy what is to be kept.
#[pyclass(module = "wordline")]
pub struct Lane {
    /// Its arrays to write into, in the order of [`ARRAYS`]; what is shown are views of these that are read-only.
    arrays: [Py<PyAny>; 6],
    /// Valid units of each block.
    #[pyo3(get)]
    live: Py<PyAny>,
    /// Whether garbage collection may choose it.
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
    /// Moved: why; 2 garbage collection.
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
        self.function.identity()
    }

    fn choose(&mut self, call: &LaneCall<'_>) -> Result<Option<u32>, String> {
        Python::attach(|py| {
            let lane = self.show(py, call).map_err(|error| self.function.failed(py, error))?;
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
        self.0.identity()
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
            let unit = Py::new(py, unit).map_err(|error| self.0.failed(py, error))?;
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
    /// Those for families that are no libraries.
    pub policies: ExternalPolicies,
    /// Settings that make the drive ask for all policies of families.
    pub settings: Vec<String>,
    /// Those that have names.
    pub names: Names,
    /// The functions among all.
    pub callables: Callables,
}

impl Given {
    /// A job with all of it; it must ask for each policy that has a name.
    pub fn to_job(&self, job: Job) -> PyResult<Job> {
        let job = job.giving(self.policies.clone()).naming(self.names.clone()).map_err(errors::of_job)?;
        self.all_asked(&job.asks_for()).map(|()| job)
    }

    /// Refuses policies whose names nobody asks for, and which are probably misspelt.
    pub fn all_asked(&self, asked: &[String]) -> PyResult<()> {
        let unasked = self.names.keys().find(|name| !asked.contains(name));
        unasked.map_or(Ok(()), |name| Err(no_family(name)))
    }
}

/// What policies may be given as.
pub const POLICIES: &str = "a dict: names of families (gc_victim, wear_leveling, stream) or names of your own, each \
                            with a function, a class, a C address (an int), or the path of a library";

/// Policies by their families, or by names of their own.
pub fn policies(of: Option<&Bound<'_, PyDict>>) -> PyResult<Given> {
    let mut all = Given::default();
    for (name, policy) in of.into_iter().flat_map(|of| of.iter()) {
        let name = name.extract::<String>().map_err(|_| wrong_type("policies: a name", &name, "text"))?;
        let family = Family::named(name.trim_start_matches("ftl."));
        let path = policy.extract::<PathBuf>().ok();
        if let Some(path) = &path {
            refuse_source(&name, path)?;
        }
        let Some(family) = family else {
            let named = match path {
                Some(path) => {
                    let source = format!("policies={{{name:?}: ...}}");
                    Named::Library(path, Origin { source, line: None })
                }
                None => Named::Given(Arc::new(Own::new(&name, &policy, &all.callables)?)),
            };
            all.names.insert(name, named);
            continue;
        };
        all.settings.push(format!("ftl.{}.policy=external", family.name()));
        if let Some(path) = path {
            all.settings.push(format!("policy.{}={}", family.name(), quote(&path.display().to_string())));
            continue;
        }
        let own = Own::new(family.name(), &policy, &all.callables)?;
        let called = if own.is_address { "address".to_owned() } else { name_of(&policy) };
        let made =
            own.make(family, &called, &Parameters::new()).map_err(|wrong| unmade(family.name(), &wrong))?;
        match (family, made) {
            (Family::GcVictim, Made::Lane(policy)) => all.policies.gc_victim = Some(policy),
            (Family::WearLeveling, Made::Lane(policy)) => all.policies.wear_leveling = Some(policy),
            (_, Made::Stream(policy)) => all.policies.stream = Some(policy),
            (Family::Stream, Made::Lane(_)) => unreachable!("it was made to separate data"),
        }
    }
    Ok(all)
}

/// A policy that cannot be made.
fn unmade(name: &str, Unmade { found, allowed, .. }: &Unmade) -> PyErr {
    ConfigError::new_err(format!("policies: {name}\n    found:   {found}\n    allowed: {allowed}"))
}

/// A policy that is no library: an address, a function, a class of which each run has an object.
#[derive(Debug)]
struct Own {
    callables: Callables,
    at: usize,
    hash: String,
    is_address: bool,
}

impl Own {
    fn new(name: &str, policy: &Bound<'_, PyAny>, all: &Callables) -> PyResult<Self> {
        let is_address = policy.is_instance_of::<PyInt>() || is_compiled(policy);
        if !is_address && !policy.is_callable() {
            return Err(wrong(name, policy));
        }
        let hash = if is_address { String::new() } else { hash_of(policy)? };
        Ok(Own { callables: all.clone(), at: all.add(policy.clone().unbind()), hash, is_address })
    }
}

/// Whether numba has made a C function of it.
fn is_compiled(policy: &Bound<'_, PyAny>) -> bool {
    policy.getattr("address").is_ok_and(|address| address.is_instance_of::<PyInt>())
        && policy.getattr("native_name").is_ok()
}

impl Maker for Own {
    fn make(&self, family: Family, name: &str, parameters: &Parameters) -> Result<Made, Unmade> {
        Python::attach(|py| {
            let gone = || unmade_as("a function that is gone");
            let policy = self.callables.get(py, self.at).ok_or_else(gone)?.into_bound(py);
            if self.is_address {
                if let Some(parameter) = parameters.keys().next().cloned() {
                    let allowed = "functions and classes of Python have parameters".to_owned();
                    let found = format!("a parameter of {name}, which is a C address");
                    return Err(Unmade { parameter: Some(parameter), found, allowed });
                }
                return at_address(family, name, &policy);
            }
            let identity = Identity { name: name.to_owned(), kind: "python", hash: self.hash.clone() };
            let function = Function::new(&policy, (&self.callables, self.at), identity, parameters)?;
            Ok(match family {
                Family::Stream => Made::Stream(Box::new(StreamFunction(function))),
                _ => Made::Lane(Box::new(LaneFunction { function, lane: None })),
            })
        })
    }
}

fn unmade_as(found: &str) -> Unmade {
    let allowed = "a function, a class, a C address (an int), the path of a library".to_owned();
    Unmade { parameter: None, found: found.to_owned(), allowed }
}

/// The policy at a C address.
#[allow(unsafe_code, reason = "whoever gives an address says what is there")]
fn at_address(family: Family, name: &str, policy: &Bound<'_, PyAny>) -> Result<Made, Unmade> {
    let address = policy.extract().or_else(|_| policy.getattr("address")?.extract());
    let address = address.map_err(|_| unmade_as("a number that is no address"))?;
    // SAFETY: the documentation says what must be at an address, and for how long.
    let made = unsafe {
        match family {
            Family::Stream => abi::stream_from_address(name, address).map(Made::Stream),
            _ => abi::lane_from_address(family, name, address).map(Made::Lane),
        }
    };
    made.map_err(|error| Unmade {
        parameter: None,
        found: address.to_string(),
        allowed: format!("the address of {}", error.allowed()),
    })
}

/// A name that is no family's, and that nothing asks for.
fn no_family(name: &str) -> PyErr {
    let names = Family::ALL.map(Family::name);
    let near = match Problem::no_such_name("policy", name, names) {
        Problem::NoSuchName { near: Some(near), .. } => format!("\n    did you mean {near:?}?"),
        _ => String::new(),
    };
    let allowed = names.join(", ");
    ConfigError::new_err(format!(
        "policies\n    found:   {name:?}, which no policy asks for\n    allowed: {allowed}; or a name that is the \
         value of ftl.gc_victim.policy, ftl.wear_leveling.policy or ftl.stream.policy{near}"
    ))
}

/// Refuses a source file in place of the library that a compiler makes of it.
fn refuse_source(name: &str, path: &Path) -> PyResult<()> {
    let make = match path.extension().and_then(|ending| ending.to_str()) {
        Some("c") => "cc -O2 -shared -fPIC",
        Some("cc" | "cpp" | "cxx") => "c++ -O2 -shared -fPIC",
        Some("rs") => "rustc -O --crate-type cdylib",
        _ => return Ok(()),
    };
    let (source, library) = (path.display(), path.with_extension("so"));
    Err(ConfigError::new_err(format!(
        "policies: {name}\n    found:   {source}, which is a source file\n    allowed: the library that `{make} -o {} \
         {source}` makes",
        library.display()
    )))
}

fn wrong(name: &str, policy: &Bound<'_, PyAny>) -> PyErr {
    let allowed =
        "a function, a C address (an int), the path of a library, a class whose objects can be called";
    wrong_type(&format!("policies: {name}"), policy, allowed)
}
