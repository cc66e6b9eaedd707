//! The `[workload]` table: a trace or a generator, with every setting, and how it becomes a stream of requests.

use crate::address::AddressPolicy;
use crate::error::WorkloadError;
use crate::footprint::{Footprint, footprint};
use crate::input::Progress;
use crate::mix::{Mix, MixSpec};
use crate::near::near;
use crate::reader::{OnBadLine, OnTimeStepBack, ReadOptions, TimeUnit, check_name};
use crate::record::Source;
use crate::replay::{Copies, Repeat};
use crate::report::SourceReport;
use crate::settings::{Key, found, settings};
use crate::shape::{Devices, SpeedUp};
use crate::spool::STANDARD_INPUT;
use crate::standin;
use crate::synthetic::{Arrival, Generator, SyntheticSpec};
use crate::trace::{Survey, TraceSource};
use ssd::rng::mix;
use std::path::Path;
use std::sync::Arc;
use toml::de::{DeTable, DeValue};

settings! {
    /// A recorded trace and what is to be done with it. Order: choose devices, take the first requests, repeat,
    /// speed up, place addresses, copy.
    pub struct TraceSpec {
        /// The trace file: text, gzip or zstd, recognised by content; `-` is standard input.
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
        /// Users who all send these requests, each with idle gaps of its own: the trace's times U(0,2); 1 for the
        /// trace's own gaps. Each reads the trace for itself.
        copies: u64 = 1, unit "", allowed "1 to 1000", if |n| (1..=1000).contains(n);
        /// Seed of the copies' gaps.
        seed: u64 = 1, unit "", allowed "", if |_| true;
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

/// A workload: a trace (the table has `path`), a generator (it has `pattern`) or a mix (`preset` or `parts`).
#[derive(Clone, Debug, PartialEq)]
pub enum Spec {
    /// A recorded trace.
    Trace(TraceSpec),
    /// A generator.
    Synthetic(SyntheticSpec),
    /// A mix of several kinds of requests, such as the stand-ins for traces of papers.
    Mix(MixSpec),
}

/// The key that makes a table a trace.
const TRACE_KEY: &str = "path";
/// The key that makes it a generator.
const SYNTHETIC_KEY: &str = "pattern";
/// The key that starts from a shipped mix.
const PRESET_KEY: &str = "preset";
/// The key that makes it a mix.
const MIX_KEY: &str = "parts";

/// The kinds of workloads: their keys, what to call them, and one of them.
const KINDS: [(&[&str], &str, &str); 3] = [
    (TraceSpec::NAMES, "traces (`path`)", "a trace (`path`)"),
    (SyntheticSpec::NAMES, "generators (`pattern`)", "a generator (`pattern`)"),
    (MixSpec::NAMES, "mixes (`preset` or `parts`)", "a mix (`preset` or `parts`)"),
];

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
        let mut spec = start(table)?;
        for (key, value) in table.iter().filter(|(key, _)| key.get_ref() != PRESET_KEY) {
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

    /// Sets one key from text: TOML, or a bare word for text (`zipf`). Setting `path` makes any workload a trace,
    /// `pattern` a generator, `preset` that stand-in and `parts` a mix, with defaults for all else. Call
    /// [`Spec::check`] when all are set.
    pub fn set(&mut self, key: &str, text: &str) -> Result<(), WorkloadError> {
        match (&self, key) {
            (Spec::Trace(_), TRACE_KEY) | (Spec::Synthetic(_), SYNTHETIC_KEY) | (Spec::Mix(_), MIX_KEY) => {}
            (_, TRACE_KEY) => *self = Spec::Trace(TraceSpec::default()),
            (_, SYNTHETIC_KEY) => *self = Spec::Synthetic(SyntheticSpec::default()),
            (_, MIX_KEY) => *self = Spec::Mix(MixSpec::default()),
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
        if key == PRESET_KEY {
            *self = Spec::Mix(standin::named(value)?);
            return Ok(());
        }
        let (own, _, what) = self.kind();
        if !own.contains(&key)
            && let Some((_, others, _)) = KINDS.iter().find(|(names, ..)| names.contains(&key))
        {
            let found = format!("belongs to {others}; this is {what}");
            return Err(WorkloadError::setting(key, found, own.join(", ")));
        }
        match self {
            Spec::Trace(spec) => spec.set_value(key, value)?,
            Spec::Synthetic(spec) => spec.set_value(key, value)?,
            Spec::Mix(spec) => spec.set_value(key, value)?,
        }
        if let (Spec::Trace(spec), "format") = (&*self, key) {
            check_name(&spec.format)?;
        }
        Ok(())
    }

    /// Its keys, what to call its like, and itself.
    fn kind(&self) -> (&'static [&'static str], &'static str, &'static str) {
        KINDS[match self {
            Spec::Trace(_) => 0,
            Spec::Synthetic(_) => 1,
            Spec::Mix(_) => 2,
        }]
    }

    /// Names of all its keys.
    fn names(&self) -> &'static [&'static str] {
        self.kind().0
    }

    /// Checks what no single key can tell.
    pub fn check(&self) -> Result<(), WorkloadError> {
        match self {
            Spec::Trace(spec) if spec.path.is_empty() => {
                Err(WorkloadError::setting(TRACE_KEY, "found nothing", "the path of a trace"))
            }
            Spec::Trace(spec) => check_name(&spec.format),
            Spec::Synthetic(spec) => spec.check(),
            Spec::Mix(spec) => spec.check(),
        }
    }

    /// All keys of traces, of generators and of mixes, for help.
    pub fn keys() -> (Vec<Key>, Vec<Key>, Vec<Key>) {
        (TraceSpec::keys(), SyntheticSpec::keys(), MixSpec::keys())
    }

    /// All keys of this kind of workload, in the order of [`Spec::entries`].
    pub fn own_keys(&self) -> Vec<Key> {
        match self {
            Spec::Trace(_) => TraceSpec::keys(),
            Spec::Synthetic(_) => SyntheticSpec::keys(),
            Spec::Mix(_) => MixSpec::keys(),
        }
    }

    /// All keys of this workload with their values as TOML text, in declared order.
    pub fn entries(&self) -> Vec<(&'static str, String)> {
        match self {
            Spec::Trace(spec) => spec.entries(),
            Spec::Synthetic(spec) => spec.entries(),
            Spec::Mix(spec) => spec.entries(),
        }
    }

    /// Whether requests have times of their own; otherwise whoever runs the workload keeps so many in flight.
    pub fn has_times(&self) -> bool {
        match self {
            Spec::Trace(_) => true,
            Spec::Synthetic(spec) => spec.arrival != Arrival::Closed,
            Spec::Mix(spec) => spec.arrival != Arrival::Closed,
        }
    }

    /// What to call it where nobody has named it: the trace's file, the generator's pattern, the mix's preset.
    pub fn title(&self) -> String {
        match self {
            Spec::Trace(spec) if spec.path == STANDARD_INPUT => "stdin".to_string(),
            Spec::Trace(spec) => {
                let name = Path::new(&spec.path).file_name();
                name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
            }
            Spec::Synthetic(spec) => spec.pattern.name().to_string(),
            Spec::Mix(spec) if spec.preset.is_empty() => "mix".to_string(),
            Spec::Mix(spec) => spec.preset.clone(),
        }
    }

    /// Makes a relative trace path count from `directory` (that of the config file it stands in).
    pub fn resolve_path(&mut self, directory: &Path) {
        if let Spec::Trace(spec) = self {
            let path = Path::new(&spec.path);
            if path.is_relative() && spec.path != STANDARD_INPUT {
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
        let kind = match self {
            Spec::Trace(spec) => {
                let survey = Arc::new(Survey::run(spec, progress)?);
                Kind::Trace { spec: spec.clone(), survey }
            }
            Spec::Synthetic(spec) => Kind::Synthetic(spec.clone()),
            Spec::Mix(spec) => Kind::Mix(spec.clone()),
        };
        Ok(Prepared { entries: self.entries(), kind })
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
    Mix(MixSpec),
}

impl Prepared {
    /// The smallest drive, in sectors, on which it runs unchanged: the compacted footprint or the last address of a
    /// trace, the size given for a generator or mix. `None` for one that fills a share of whatever drive there is.
    pub fn space_sectors(&self) -> Option<u64> {
        match &self.kind {
            Kind::Trace { spec, survey } => Some(survey.space_sectors(spec)),
            Kind::Synthetic(spec) => spec.space_sectors(),
            Kind::Mix(spec) => spec.space_sectors(),
        }
    }

    /// Totals of one pass before repeating, copying and speeding up: of a trace at once (addresses as recorded), of a
    /// generator by running it through for a drive of so many sectors.
    pub fn footprint(&self, drive_sectors: u64) -> Result<Footprint, WorkloadError> {
        match &self.kind {
            Kind::Trace { survey, .. } => Ok(survey.footprint),
            Kind::Synthetic(spec) => footprint(&mut Generator::new(spec, drive_sectors)?),
            Kind::Mix(spec) => footprint(&mut Mix::new(spec, drive_sectors)?),
        }
    }

    /// What the first pass over a trace met, before addresses are placed; empty for a generator.
    pub fn report(&self) -> SourceReport {
        match &self.kind {
            Kind::Trace { survey, .. } => survey.report.clone(),
            Kind::Synthetic(_) | Kind::Mix(_) => SourceReport::default(),
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
            Kind::Synthetic(_) | Kind::Mix(_) => (mix(0), &[]),
        };
        let is_single = |(key, value): &&(&str, String)| *key == "copies" && value == "1";
        let has_copies = !self.entries.iter().any(|entry| is_single(&entry));
        let counts = |entry: &&(&str, String)| match entry.0 {
            "copies" => has_copies,
            // Of a trace, only the copies' gaps depend on it.
            "seed" => has_copies || !matches!(self.kind, Kind::Trace { .. }),
            "repeat" => entry.1 != "1" || matches!(self.kind, Kind::Trace { .. }),
            key => !done.contains(&key),
        };
        for (key, value) in self.entries.iter().filter(counts) {
            for byte in key.bytes().chain(*b"=").chain(value.bytes()).chain(*b"\n") {
                hash = mix(hash ^ u64::from(byte));
            }
        }
        hash
    }

    /// The stream of requests for a drive of so many 512-byte sectors.
    pub fn open(&self, drive_sectors: u64) -> Result<Box<dyn Source>, WorkloadError> {
        match &self.kind {
            Kind::Trace { spec, survey } => copies(spec.copies, spec.seed, || {
                Ok(Box::new(TraceSource::open(spec, survey, drive_sectors)?))
            }),
            Kind::Synthetic(spec) => {
                let one = Generator::new(spec, drive_sectors)?;
                copies(spec.copies, spec.seed, || Ok(passes(one.clone(), spec.repeat)))
            }
            Kind::Mix(spec) => {
                let one = Mix::new(spec, drive_sectors)?;
                copies(spec.copies, spec.seed, || Ok(passes(one.clone(), spec.repeat)))
            }
        }
    }
}

/// So many passes over what a generator gives.
fn passes<G: Source + Clone + 'static>(one: G, repeat: u64) -> Box<dyn Source> {
    if repeat == 1 { Box::new(one) } else { Box::new(Repeat::new(one, repeat)) }
}

/// So many users of what `open` opens.
fn copies(
    copies: u64,
    seed: u64,
    mut open: impl FnMut() -> Result<Box<dyn Source>, WorkloadError>,
) -> Result<Box<dyn Source>, WorkloadError> {
    if copies == 1 { open() } else { Ok(Box::new(Copies::new(copies, seed, open)?)) }
}

/// What a table describes, with all settings at their defaults: a trace, a generator, a mix, or the stand-in it names.
fn start(table: &DeTable<'_>) -> Result<Spec, WorkloadError> {
    let has = |key: &str| table.iter().any(|(name, _)| name.get_ref() == key);
    match (has(TRACE_KEY), has(SYNTHETIC_KEY), has(PRESET_KEY) || has(MIX_KEY)) {
        (true, false, false) => Ok(Spec::Trace(TraceSpec::default())),
        (false, true, false) => Ok(Spec::Synthetic(SyntheticSpec::default())),
        (false, false, true) => match table.get(PRESET_KEY) {
            Some(name) => {
                standin::named(name.get_ref()).map(Spec::Mix).map_err(|error| error.at(name.span()))
            }
            None => Ok(Spec::Mix(MixSpec::default())),
        },
        (false, false, false) => {
            let kinds = KINDS.map(|(_, _, what)| what).join(", ");
            let names = || table.iter().map(|(name, _)| name.get_ref().as_ref());
            let known = [TRACE_KEY, SYNTHETIC_KEY, PRESET_KEY, MIX_KEY];
            let close = known.into_iter().find(|key| near(key, names()).is_some());
            let error = WorkloadError::setting("", format!("found none of {kinds}"), "one of them");
            Err(error.with_near(close.map(str::to_string)))
        }
        (trace, synthetic, mix) => {
            let there = [trace, synthetic, mix].into_iter().zip(KINDS).filter(|(is_there, _)| *is_there);
            let kinds: Vec<&str> = there.map(|(_, (_, _, what))| what).collect();
            let found = format!("found both {}", kinds.join(" and "));
            Err(WorkloadError::setting("", found, "one of the two"))
        }
    }
}
