//! The `[workload]` table: a trace or a generator, with every setting, and how it becomes a stream of requests.

use crate::address::AddressPolicy;
use crate::error::WorkloadError;
use crate::footprint::{Footprint, footprint};
use crate::input::Progress;
use crate::near::near;
use crate::reader::{OnBadLine, OnTimeStepBack, ReadOptions, TimeUnit, check_name};
use crate::record::Source;
use crate::report::SourceReport;
use crate::settings::{Key, found, settings};
use crate::shape::{Devices, SpeedUp};
use crate::synthetic::{Generator, SyntheticSpec};
use crate::trace::{Survey, TraceSource};
use ssd::rng::mix;
use std::path::Path;
use std::sync::Arc;
use toml::de::{DeTable, DeValue};

settings! {
    /// A recorded trace and what is to be done with it. Order: choose devices, take the first requests, repeat,
    /// speed up, place addresses.
    pub struct TraceSpec {
        /// The trace file: text, gzip or zstd, recognised by content.
        path: String = String::new(), unit "", allowed "a path", if |path| !path.is_empty();
        /// Name of the trace's format, or `auto` to recognise it by content.
        format: String = "auto".to_string(), unit "", allowed "", if |_| true;
        /// Unit of the time column, where it is not the format's own.
        time_unit: TimeUnit = TimeUnit::Auto, unit "", allowed "", if |_| true;
        /// What to do about a line that cannot be understood.
        on_bad_line: OnBadLine = OnBadLine::Error, unit "", allowed "", if |_| true;
        /// What to do about a request that arrives before the one above it.
        on_time_step_back: OnTimeStepBack = OnTimeStepBack::Clamp, unit "", allowed "", if |_| true;
        /// How several devices are laid out on the drive: one after the other, on top of each other, or only one.
        devices: Devices = Devices::Concatenate, unit "", allowed "", if |_| true;
        /// How addresses are placed on the drive: densely packed, modulo its size, or unchanged.
        address: AddressPolicy = AddressPolicy::Compact, unit "", allowed "", if |_| true;
        /// Granule that `compact` and `wrap` move addresses by.
        granularity_kib: u64 = 4, unit "KiB", allowed "a power of two from 4 to 1024",
            if |kib| kib.is_power_of_two() && (4..=1024).contains(kib);
        /// Use only so many requests from the start; 0 for all.
        first: u64 = 0, unit "requests", allowed "", if |_| true;
        /// Run so often through the trace; time goes on by its duration and one mean gap.
        repeat: u64 = 1, unit "", allowed "a whole number from 1", if |n| *n >= 1;
        /// Divide arrival times by this.
        speed_up: SpeedUp = SpeedUp::default(), unit "", allowed "", if |_| true;
    }
}

impl TraceSpec {
    pub(crate) fn read_options(&self) -> ReadOptions {
        ReadOptions {
            time_unit: self.time_unit,
            on_bad_line: self.on_bad_line,
            on_time_step_back: self.on_time_step_back,
        }
    }
}

/// A workload: a trace (the table has `path`) or a generator (it has `pattern`).
#[derive(Clone, Debug, PartialEq)]
pub enum Spec {
    /// A recorded trace.
    Trace(TraceSpec),
    /// A generator.
    Synthetic(SyntheticSpec),
}

/// The key that makes a table a trace.
const TRACE_KEY: &str = "path";
/// The key that makes it a generator.
const SYNTHETIC_KEY: &str = "pattern";

/// The error for a key that does not exist.
pub(crate) fn unknown_key(key: &str, known: &[&'static str]) -> WorkloadError {
    WorkloadError::setting(key, "unknown key", known.join(", ")).with_near(near(key, known.iter().copied()))
}

impl Spec {
    /// The trace at `path`, with all settings at their defaults.
    pub fn trace(path: impl Into<String>) -> Self {
        Spec::Trace(TraceSpec { path: path.into(), ..TraceSpec::default() })
    }

    /// Reads the `[workload]` table of a parsed TOML document. Errors carry the key and its span in the text.
    pub fn from_table(table: &DeTable<'_>) -> Result<Self, WorkloadError> {
        let has = |key: &str| table.iter().any(|(name, _)| name.get_ref() == key);
        let mut spec = match (has(TRACE_KEY), has(SYNTHETIC_KEY)) {
            (true, false) => Spec::Trace(TraceSpec::default()),
            (false, true) => Spec::Synthetic(SyntheticSpec::default()),
            (both, _) => {
                let keys = "both `path` (a trace) and `pattern` (a generator)";
                let found = if both { format!("found {keys}") } else { format!("found neither of {keys}") };
                let error = WorkloadError::setting("", found, "one of the two");
                let names = || table.iter().map(|(name, _)| name.get_ref().as_ref());
                let close = [TRACE_KEY, SYNTHETIC_KEY].into_iter().find(|key| near(key, names()).is_some());
                return Err(error.with_near(close.filter(|_| !both).map(str::to_string)));
            }
        };
        for (key, value) in table.iter() {
            let place =
                if spec.names().contains(&key.get_ref().as_ref()) { value.span() } else { key.span() };
            spec.set_value(key.get_ref(), value.get_ref()).map_err(|error| error.at(place))?;
        }
        spec.check()?;
        Ok(spec)
    }

    /// Reads a text that is such a table (without its header).
    pub fn parse(text: &str) -> Result<Self, WorkloadError> {
        let table = DeTable::parse(text).map_err(|e| {
            let error = WorkloadError::setting("", e.message(), "TOML");
            e.span().map_or(error.clone(), |span| error.at(span))
        })?;
        Spec::from_table(table.get_ref())
    }

    /// Sets one key from text: TOML, or a bare word for text (`zipf`). Setting `path` turns a generator into a trace
    /// and setting `pattern` the other way round, with defaults for all else. Call [`Spec::check`] when all are set.
    pub fn set(&mut self, key: &str, text: &str) -> Result<(), WorkloadError> {
        match (&self, key) {
            (Spec::Synthetic(_), TRACE_KEY) => *self = Spec::Trace(TraceSpec::default()),
            (Spec::Trace(_), SYNTHETIC_KEY) => *self = Spec::Synthetic(SyntheticSpec::default()),
            _ => {}
        }
        match DeValue::parse(text) {
            // A path may look like a number.
            Ok(value) if key != TRACE_KEY || value.get_ref().is_str() => self.set_value(key, value.get_ref()),
            _ => self.set_value(key, &DeValue::String(text.into())),
        }
    }

    fn set_value(&mut self, key: &str, value: &DeValue<'_>) -> Result<(), WorkloadError> {
        if matches!(value, DeValue::Table(_)) {
            return Err(WorkloadError::setting(key, format!("found {}", found(value)), "a value"));
        }
        let (own, other, what) = match self {
            Spec::Trace(_) => {
                (TraceSpec::NAMES, SyntheticSpec::NAMES, "generators (`pattern`); this is a trace (`path`)")
            }
            Spec::Synthetic(_) => {
                (SyntheticSpec::NAMES, TraceSpec::NAMES, "traces (`path`); this is a generator (`pattern`)")
            }
        };
        if other.contains(&key) && !own.contains(&key) {
            return Err(WorkloadError::setting(key, format!("belongs to {what}"), own.join(", ")));
        }
        match self {
            Spec::Trace(spec) => spec.set_value(key, value)?,
            Spec::Synthetic(spec) => spec.set_value(key, value)?,
        }
        if let (Spec::Trace(spec), "format") = (&*self, key) {
            check_name(&spec.format)?;
        }
        Ok(())
    }

    fn names(&self) -> &'static [&'static str] {
        match self {
            Spec::Trace(_) => TraceSpec::NAMES,
            Spec::Synthetic(_) => SyntheticSpec::NAMES,
        }
    }

    /// Checks what no single key can tell.
    pub fn check(&self) -> Result<(), WorkloadError> {
        match self {
            Spec::Trace(spec) if spec.path.is_empty() => {
                Err(WorkloadError::setting(TRACE_KEY, "found nothing", "the path of a trace"))
            }
            Spec::Trace(spec) => check_name(&spec.format),
            Spec::Synthetic(spec) => spec.check(),
        }
    }

    /// All keys of traces, then of generators, for help.
    pub fn keys() -> (Vec<Key>, Vec<Key>) {
        (TraceSpec::keys(), SyntheticSpec::keys())
    }

    /// All keys of this workload with their values as TOML text, in declared order.
    pub fn entries(&self) -> Vec<(&'static str, String)> {
        match self {
            Spec::Trace(spec) => spec.entries(),
            Spec::Synthetic(spec) => spec.entries(),
        }
    }

    /// Makes a relative trace path count from `directory` (that of the config file it stands in).
    pub fn resolve_path(&mut self, directory: &Path) {
        if let Spec::Trace(spec) = self {
            let path = Path::new(&spec.path);
            if path.is_relative() {
                spec.path = directory.join(path).display().to_string();
            }
        }
    }

    /// Reads a trace through once; a generator needs nothing. See [`Prepared`].
    pub fn prepare(&self) -> Result<Prepared, WorkloadError> {
        self.prepare_with(&mut |_| {})
    }

    /// The same, telling now and then how far it is.
    pub fn prepare_with(&self, progress: &mut dyn FnMut(Progress)) -> Result<Prepared, WorkloadError> {
        self.check()?;
        Ok(match self {
            Spec::Trace(spec) => {
                let survey = Arc::new(Survey::run(spec, progress)?);
                Prepared { entries: self.entries(), kind: Kind::Trace { spec: spec.clone(), survey } }
            }
            Spec::Synthetic(spec) => {
                Prepared { entries: self.entries(), kind: Kind::Synthetic(spec.clone()) }
            }
        })
    }

    /// Prepares and opens in one go, for a drive of so many 512-byte sectors.
    pub fn open(&self, drive_sectors: u64) -> Result<Box<dyn Source>, WorkloadError> {
        self.prepare()?.open(drive_sectors)
    }
}

/// A workload that was looked through: its footprint is known and it can be opened any number of times.
pub struct Prepared {
    entries: Vec<(&'static str, String)>,
    kind: Kind,
}

enum Kind {
    Trace { spec: TraceSpec, survey: Arc<Survey> },
    Synthetic(SyntheticSpec),
}

impl Prepared {
    /// The smallest drive, in sectors, on which it runs unchanged: the compacted footprint or the last address of a
    /// trace, the size given for a generator. `None` for a generator that fills a share of whatever drive there is.
    pub fn space_sectors(&self) -> Option<u64> {
        match &self.kind {
            Kind::Trace { spec, survey } => Some(survey.space_sectors(spec)),
            Kind::Synthetic(spec) => spec.space_sectors(),
        }
    }

    /// Totals of one pass before repeating and speeding up: of a trace at once (addresses as recorded), of a
    /// generator by running it through for a drive of so many sectors.
    pub fn footprint(&self, drive_sectors: u64) -> Result<Footprint, WorkloadError> {
        match &self.kind {
            Kind::Trace { survey, .. } => Ok(survey.footprint),
            Kind::Synthetic(_) => footprint(&mut *self.open(drive_sectors)?),
        }
    }

    /// What the first pass over a trace met, before addresses are placed; empty for a generator.
    pub fn report(&self) -> SourceReport {
        match &self.kind {
            Kind::Trace { survey, .. } => survey.report.clone(),
            Kind::Synthetic(_) => SourceReport::default(),
        }
    }

    /// Identifies the workload: the requests themselves (not the file's name, compression or unused columns) and
    /// every setting that changes what a drive gets. Equal numbers mean equal requests on equal drives.
    pub fn workload_hash(&self) -> u64 {
        // These have had their effect on the requests already.
        const IN_REQUESTS: &[&str] =
            &["path", "format", "time_unit", "on_bad_line", "on_time_step_back", "first"];
        let (mut hash, done): (u64, &[&str]) = match &self.kind {
            Kind::Trace { survey, .. } => (mix(survey.hash), IN_REQUESTS),
            Kind::Synthetic(_) => (mix(0), &[]),
        };
        for (key, value) in self.entries.iter().filter(|(key, _)| !done.contains(key)) {
            for byte in key.bytes().chain(*b"=").chain(value.bytes()).chain(*b"\n") {
                hash = mix(hash ^ u64::from(byte));
            }
        }
        hash
    }

    /// The stream of requests for a drive of so many 512-byte sectors.
    pub fn open(&self, drive_sectors: u64) -> Result<Box<dyn Source>, WorkloadError> {
        Ok(match &self.kind {
            Kind::Trace { spec, survey } => Box::new(TraceSource::open(spec, survey, drive_sectors)?),
            Kind::Synthetic(spec) => Box::new(Generator::new(spec, drive_sectors)?),
        })
    }
}
