//! The `[workload]` table: a trace, a generator or another of the kinds in the list `kinds!`, with every setting, and
//! how it becomes a stream of requests.

use crate::base::error::WorkloadError;
use crate::base::input::bytes::Progress;
use crate::base::input::spool::STANDARD_INPUT;
use crate::base::near::near;
use crate::base::request::Source;
use crate::base::settings::{Key, found, settings};
use crate::base::shape::{DRIVES_MAX, Devices, Drives, SpeedUp};
use crate::base::units::{AddressUnit, TimeUnit};
use crate::files::{CaptureSpec, FilesSpec};
use crate::fio::FioSpec;
use crate::generate::histogram::HistogramSpec;
use crate::generate::mix::MixSpec;
use crate::generate::synthetic::SyntheticSpec;
use crate::reader::{
    Columns, Event, Header, OnBadLine, OnTimeStepBack, ReadOptions, Separator, check_name, format_to_read,
};
use crate::spec::compose::{PhasesSpec, TogetherSpec};
use crate::spec::prepared::Prepared;
use crate::spec::standin;
use crate::stack::kind::{Kind, Ready, name_of, path_in};
use crate::stack::map_hints::MapHints;
use crate::stack::priorities::PriorityShares;
use crate::stack::stripe::Stripe;
use crate::trace::address::AddressPolicy;
use crate::trace::select::Operations;
use crate::trace::survey::Survey;
use crate::trace::surveyed::Surveyed;
use std::borrow::{Borrow, BorrowMut};
use std::ffi::OsString;
use std::mem::discriminant;
use std::path::{Path, PathBuf};
use std::ptr;
use toml::de::{DeTable, DeValue};

settings! {
    /// A recorded trace and what is to be done with it. Order: choose devices, processes, operations, addresses and
    /// times, skip, take the first requests, repeat, speed up, place addresses, copy.
    pub struct TraceSpec {
        /// The trace file, plain or compressed (`wordline formats`), or a folder of blktrace's; `-`: standard input.
        path: PathBuf = PathBuf::new(), unit "", allowed "a path",
            if |path| !path.as_os_str().is_empty();
        /// Name of the trace's format, or `auto` to recognise it by content.
        format: String = "auto".to_string(), unit "", allowed "", if |_| true;
        /// Unit of the time column, to override the format's.
        time_unit: TimeUnit = TimeUnit::Auto, unit "", allowed "", if |_| true;
        /// Unit of addresses and sizes, to override the format's.
        address_unit: AddressUnit = AddressUnit::Auto, unit "", allowed "", if |_| true;
        /// Which events of a block trace are requests: Q (or queue), D (or issue: what the drive got) or C (complete).
        event: Event = Event::Auto, unit "", allowed "", if |_| true;
        /// What the columns of a `csv` are, by number from 1 or by name in its header; empty for all other formats.
        columns: Columns = Columns::default(), unit "", allowed "", if |_| true;
        /// What separates the columns of a `csv`.
        separator: Separator = Separator::default(), unit "", allowed "", if |_| true;
        /// Whether a `csv` begins with a line that names its columns.
        header: Header = Header::Auto, unit "", allowed "", if |_| true;
        /// What to do with a line that cannot be parsed.
        on_bad_line: OnBadLine = OnBadLine::Error, unit "", allowed "", if |_| true;
        /// What to do with a request that arrives before the one above it.
        on_time_step_back: OnTimeStepBack = OnTimeStepBack::Clamp, unit "", allowed "", if |_| true;
        /// How several devices are laid out: one after the other, on top of each other, or only one or some of them.
        devices: Devices = Devices::Concatenate, unit "", allowed "", if |_| true;
        /// Whether several devices are one drive, laid out as `devices` says, or each is a drive of its own; or all is
        /// for a volume of drives in a stripe (RAID 0).
        drives: Drives = Drives::Together, unit "", allowed "", if |_| true;
        /// With drives = "striped": how many make the volume.
        stripe_drives: u64 = 2, unit "", allowed "2 to 64", if |n| (2..=DRIVES_MAX as u64).contains(n);
        /// With drives = "striped": what lies on a drive before the next one comes; 512 is the default of Linux's
        /// mdadm.
        stripe_kib: u64 = 512, unit "KiB", allowed "a power of two from 4 to 65536",
            if |kib| kib.is_power_of_two() && (4..=65_536).contains(kib);
        /// How addresses are placed on the drive: densely packed, modulo its size, or unchanged.
        address: AddressPolicy = AddressPolicy::Compact, unit "", allowed "", if |_| true;
        /// Granularity at which `compact` and `wrap` move addresses.
        granularity_kib: u64 = 4, unit "KiB", allowed "a power of two from 4 to 1024",
            if |kib| kib.is_power_of_two() && (4..=1024).contains(kib);
        /// Use only requests of this process (its name, or its number if the trace has no names); empty for all.
        process: String = String::new(), unit "", allowed "", if |_| true;
        /// Use only these operations.
        operations: Operations = Operations::default(), unit "", allowed "", if |_| true;
        /// Use only requests that begin at or after this sector of their device.
        from_sector: u64 = 0, unit "sectors", allowed "", if |_| true;
        /// Use only requests that begin before this sector of their device; 0 for all.
        end_sector: u64 = 0, unit "sectors", allowed "", if |_| true;
        /// Use only requests from this time of the trace on; the first of them then arrives at 0.
        from_s: f64 = 0.0, unit "s", allowed "from 0 to 4e9", if |s| (0.0..=4e9).contains(s);
        /// Use only requests before this time of the trace; 0 for all.
        to_s: f64 = 0.0, unit "s", allowed "from 0 to 4e9", if |s| (0.0..=4e9).contains(s);
        /// Skip this many of the remaining requests from the start; the next one arrives at 0.
        skip: u64 = 0, unit "requests", allowed "", if |_| true;
        /// Use only this many of the remaining requests from the start; 0 for all.
        first: u64 = 0, unit "requests", allowed "", if |_| true;
        /// Number of passes over the trace; each starts one mean gap after the previous one.
        repeat: u64 = 1, unit "", allowed "a whole number from 1", if |n| *n >= 1;
        /// Divide arrival times by this.
        speed_up: SpeedUp = SpeedUp::default(), unit "", allowed "", if |_| true;
        /// Users who all send these requests, each with its own gaps: the trace's times U(0,2); 1 for the trace's
        /// own gaps. Each reads the trace separately.
        copies: u64 = 1, unit "", allowed "1 to 1000", if |n| (1..=1000).contains(n);
        /// Page cache above the drive, like an operating system's; 0 for none.
        page_cache_mib: f64 = 0.0, unit "MiB", allowed "0 to 1e6", if |x| (0.0..=1e6).contains(x);
        /// A plain LRU page cache: no read-ahead, no flusher, dirty pages are written when they are evicted.
        plain_lru: bool = false, unit "", allowed "", if |_| true;
        /// Hints derived from others, which tell the drive which files, processes or program contexts belong
        /// together: `process 3 -> stream 2; context -> stream % 8`.
        map_hints: MapHints = MapHints::default(), unit "", allowed "", if |_| true;
        /// Shares of low, medium and high priority, drawn for requests that have none (after `map_hints`).
        priority_shares: PriorityShares = PriorityShares::default(), unit "", allowed "", if |_| true;
        /// Seed of the copies' gaps and of drawn priorities.
        seed: u64 = 1, unit "", allowed "", if |_| true;
    }
}

impl TraceSpec {
    pub(crate) fn read_options(&self) -> ReadOptions {
        ReadOptions {
            time_unit: self.time_unit,
            address_unit: self.address_unit,
            event: self.event,
            columns: self.columns.clone(),
            separator: self.separator,
            header: self.header,
            on_bad_line: self.on_bad_line,
            on_time_step_back: self.on_time_step_back,
            devices: self.devices.only().to_vec(),
        }
    }
}

impl Kind for TraceSpec {
    fn check(&self) -> Result<(), WorkloadError> {
        if self.path.as_os_str().is_empty() {
            return Err(WorkloadError::setting("path", "found nothing", "the path of a trace"));
        }
        if self.to_s > 0.0 && self.to_s <= self.from_s {
            let allowed = format!("after from_s, which is {:?}, or 0 for the end", self.from_s);
            return Err(WorkloadError::setting("to_s", format!("found {:?}", self.to_s), allowed));
        }
        if self.end_sector > 0 && self.end_sector <= self.from_sector {
            let allowed = format!("above from_sector, which is {}, or 0 for the end", self.from_sector);
            return Err(WorkloadError::setting("end_sector", format!("found {}", self.end_sector), allowed));
        }
        if self.drives == Drives::Each && self.devices == Devices::Merge {
            let found = "\"each\" beside devices = \"merge\", which makes one device of all";
            return Err(WorkloadError::setting("drives", found, "\"together\", or other devices"));
        }
        format_to_read(&self.format, &self.read_options()).map(|_| ())
    }

    fn has_times(&self) -> bool {
        self.columns.is_empty() || self.columns.has_times()
    }

    fn reads(&self) -> Vec<OsString> {
        vec![self.path.clone().into()]
    }

    fn page_cache(&self) -> Option<(f64, bool)> {
        (self.page_cache_mib > 0.0).then_some((self.page_cache_mib, self.plain_lru))
    }

    fn stripe(&self) -> Option<Stripe> {
        self.drives.stripe(self.stripe_drives, self.stripe_kib)
    }

    fn map_hints(&self) -> MapHints {
        self.map_hints.clone()
    }

    fn priorities(&self) -> (PriorityShares, u64) {
        (self.priority_shares, self.seed)
    }

    fn title(&self) -> String {
        if self.path.as_os_str() == STANDARD_INPUT { "stdin".to_string() } else { name_of(&self.path) }
    }

    fn resolve_path(&mut self, directory: &Path) {
        if self.path.as_os_str() != STANDARD_INPUT {
            self.path = path_in(directory, &self.path);
        }
    }

    fn prepare(&self, progress: &mut dyn FnMut(Progress)) -> Result<Box<dyn Ready>, WorkloadError> {
        let survey = Survey::run(self, progress)?;
        let drives = if self.drives == Drives::Each { survey.devices.len() } else { 1 };
        if drives > DRIVES_MAX {
            let found = format!("\"each\", and requests of {drives} devices");
            let allowed =
                format!("\"each\" of up to {DRIVES_MAX} devices (--device chooses), or \"together\"");
            return Err(WorkloadError::setting("drives", found, allowed));
        }
        Ok(Box::new(Surveyed::new(self.clone(), survey)))
    }
}

/// Declares all kinds of workloads. A line is `/// text` and `Variant(Held) as Settings = "one", "several", &["key",
/// …];` where what is held is the settings or a box of them. A table that has one of the keys is of this kind; what the
/// kind does is its `impl Kind`.
macro_rules! kinds {
    ($(
        $(#[doc = $doc:literal])+
        $variant:ident($held:ty) as $spec:ident = $one:literal, $many:literal, $marks:expr;
    )+) => {
        /// A workload: one of the kinds.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Spec { $($(#[doc = $doc])+ $variant($held),)+ }

        /// All kinds.
        const KINDS: &[About] = &[$(About {
            names: $spec::NAMES,
            one: $one,
            many: $many,
            marks: $marks,
            start: || Spec::$variant(<$held>::default()),
        }),+];

        impl Spec {
            pub(crate) fn kind(&self) -> &dyn Kind {
                match self { $(Spec::$variant(spec) => Borrow::<$spec>::borrow(spec),)+ }
            }

            fn kind_mut(&mut self) -> &mut dyn Kind {
                match self { $(Spec::$variant(spec) => BorrowMut::<$spec>::borrow_mut(spec),)+ }
            }
        }
    };
}

kinds! {
    /// A recorded trace.
    Trace(TraceSpec) as TraceSpec = "a trace", "traces", &["path"];
    /// A generator.
    Synthetic(SyntheticSpec) as SyntheticSpec = "a generator", "generators", &["pattern"];
    /// A mix of several kinds of requests, such as the stand-ins for traces of papers.
    Mix(MixSpec) as MixSpec = "a mix", "mixes", &[PRESET_KEY, "parts"];
    /// The jobs of a fio job file.
    Fio(FioSpec) as FioSpec = "a fio job file", "fio job files", &["jobs"];
    /// What a program did to files, below a page cache and a file system.
    Capture(CaptureSpec) as CaptureSpec = "a capture", "captures", &["capture"];
    /// Workloads one after the other.
    Phases(PhasesSpec) as PhasesSpec = "phases", "phases", &["phases"];
    /// Workloads at the same time.
    Together(TogetherSpec) as TogetherSpec = "workloads together", "workloads together", &["together"];
    /// A generator from a file of addresses and how often each was accessed.
    Histogram(HistogramSpec) as HistogramSpec = "a histogram", "histograms", &["histogram"];
    /// Applications on files, below a page cache and a file system.
    Files(Box<FilesSpec>) as FilesSpec = "files", "files", &["steps"];
}

/// The key that starts from a shipped workload, of whatever kind it is.
const PRESET_KEY: &str = "preset";

/// What is known of a kind before there is one.
struct About {
    names: &'static [&'static str],
    one: &'static str,
    many: &'static str,
    /// The keys that make a table one of this kind.
    marks: &'static [&'static str],
    /// One with all settings at their defaults.
    start: fn() -> Spec,
}

impl About {
    /// The marks behind what it is called.
    fn told(&self, what: &str) -> String {
        let marks: Vec<String> = self.marks.iter().map(|mark| format!("`{mark}`")).collect();
        format!("{what} ({})", marks.join(" or "))
    }
}

/// Whether any kind of workload has a key of this name.
pub(crate) fn is_key(name: &str) -> bool {
    KINDS.iter().any(|kind| kind.names.contains(&name))
}

impl Spec {
    /// The trace at `path`, with all settings at their defaults.
    pub fn trace(path: impl Into<PathBuf>) -> Self {
        Spec::Trace(TraceSpec { path: path.into(), ..TraceSpec::default() })
    }

    /// The job file of fio at `path`.
    pub fn fio(path: impl Into<PathBuf>) -> Self {
        Spec::Fio(FioSpec { jobs: path.into(), ..FioSpec::default() })
    }

    /// The capture at `path`.
    pub fn capture(path: impl Into<PathBuf>) -> Self {
        Spec::Capture(CaptureSpec { capture: path.into(), ..CaptureSpec::default() })
    }

    /// Reads the `[workload]` table of a parsed TOML document. Errors carry the key and its span in the text.
    pub fn from_table(table: &DeTable<'_>) -> Result<Self, WorkloadError> {
        let mut spec = start(table)?;
        for (key, value) in table.iter().filter(|(key, _)| key.get_ref() != PRESET_KEY) {
            let place =
                if spec.kind().names().contains(&key.get_ref().as_ref()) { value.span() } else { key.span() };
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

    /// Sets one key from text: TOML, or a bare word for text (`zipf`). Setting a key that makes a table another kind
    /// (`path` a trace, `pattern` a generator, …) makes any workload one, with defaults for all else; `preset` makes
    /// it that shipped one. Call [`Spec::check`] when all are set.
    pub fn set(&mut self, key: &str, text: &str) -> Result<(), WorkloadError> {
        if key != PRESET_KEY
            && let Some(kind) = KINDS.iter().find(|kind| kind.marks.contains(&key))
            && !self.about().marks.contains(&key)
        {
            *self = (kind.start)();
        }
        match DeValue::parse(text) {
            // A path may look like a number.
            Ok(value) if !["path", "jobs", "capture"].contains(&key) || value.get_ref().is_str() => {
                self.set_value(key, value.get_ref())
            }
            _ => self.set_value(key, &DeValue::String(text.into())),
        }
    }

    fn set_value(&mut self, key: &str, value: &DeValue<'_>) -> Result<(), WorkloadError> {
        if matches!(value, DeValue::Table(_)) {
            return Err(WorkloadError::setting(key, format!("found {}", found(value)), "a value"));
        }
        if key == PRESET_KEY {
            *self = standin::named(value)?;
            return Ok(());
        }
        let about = self.about();
        if !about.names.contains(&key)
            && let Some(other) = KINDS.iter().find(|kind| kind.names.contains(&key))
        {
            let (others, what) = (other.told(other.many), about.told(about.one));
            let found = format!("belongs to {others}; this is {what}");
            return Err(WorkloadError::setting(key, found, about.names.join(", ")));
        }
        self.kind_mut().set_value(key, value)?;
        if let (Spec::Trace(spec), "format") = (&*self, key) {
            check_name(&spec.format)?;
        }
        Ok(())
    }

    /// Whether this kind of workload has a key of that name.
    pub(crate) fn has_key(&self, key: &str) -> bool {
        self.about().names.contains(&key)
    }

    fn about(&self) -> &'static About {
        let of_it = |about: &&About| discriminant(&(about.start)()) == discriminant(self);
        KINDS.iter().find(of_it).unwrap_or(&KINDS[0])
    }

    /// Checks what no single key can tell.
    pub fn check(&self) -> Result<(), WorkloadError> {
        self.kind().check()
    }

    /// All keys of each kind of workload, for help.
    pub fn keys() -> Vec<(String, Vec<Key>)> {
        let of = |about: &About| (about.told(about.many), (about.start)().own_keys());
        KINDS.iter().map(of).collect()
    }

    /// All keys of this kind of workload, in the order of [`Spec::entries`].
    pub fn own_keys(&self) -> Vec<Key> {
        self.kind().keys()
    }

    /// All keys of this workload with their values as TOML text, in declared order.
    pub fn entries(&self) -> Vec<(&'static str, String)> {
        self.kind().entries()
    }

    /// Whether requests have times of their own; otherwise whoever runs the workload keeps so many in flight.
    pub fn has_times(&self) -> bool {
        self.kind().has_times()
    }

    /// Whether its requests depend on when earlier ones complete ([`Prepared::driven`]).
    pub fn is_driven(&self) -> bool {
        self.kind().is_driven()
    }

    /// What to call it where nobody has named it: the trace's file, the generator's pattern, the mix's preset.
    pub fn title(&self) -> String {
        self.kind().title()
    }

    /// Paths of files that it reads.
    pub fn reads(&self) -> Vec<OsString> {
        self.kind().reads()
    }

    /// Makes relative paths count from `directory` (that of the config file it stands in).
    pub fn resolve_path(&mut self, directory: &Path) {
        self.kind_mut().resolve_path(directory);
    }

    /// Reads a trace through once; a generator needs nothing. See [`Prepared`].
    pub fn prepare(&self) -> Result<Prepared, WorkloadError> {
        self.prepare_with(&mut |_| {})
    }

    /// The same, telling now and then how far it is.
    pub fn prepare_with(&self, progress: &mut dyn FnMut(Progress)) -> Result<Prepared, WorkloadError> {
        self.check()?;
        Prepared::of(self, self.kind().prepare(progress)?)
    }

    /// The same on one drive, whatever devices it names.
    pub fn on_one_drive(&self) -> Self {
        let mut spec = self.clone();
        match &mut spec {
            Spec::Trace(trace) => trace.drives = Drives::Together,
            Spec::Fio(jobs) => jobs.drives = Drives::Together,
            _ => {}
        }
        spec
    }

    /// Prepares and opens in one go, for a drive of so many 512-byte sectors.
    pub fn open(&self, drive_sectors: u64) -> Result<Box<dyn Source>, WorkloadError> {
        self.prepare()?.open(drive_sectors)
    }
}

/// What a table describes, with all settings at their defaults: one of the kinds, or the shipped workload it names.
fn start(table: &DeTable<'_>) -> Result<Spec, WorkloadError> {
    let has = |key: &str| table.iter().any(|(name, _)| name.get_ref() == key);
    let is_marked = |kind: &&About| kind.marks.iter().any(|key| *key != PRESET_KEY && has(key));
    let mut kinds: Vec<&About> = KINDS.iter().filter(is_marked).collect();
    // One that was made by hand says so by an empty name.
    let named = table.get(PRESET_KEY).filter(|name| kinds.is_empty() || name.get_ref().as_str() != Some(""));
    let mut shipped = None;
    if let Some(name) = named {
        let spec = standin::named(name.get_ref()).map_err(|error| error.at(name.span()))?;
        kinds.retain(|kind| !ptr::eq(*kind, spec.about()));
        kinds.push(spec.about());
        shipped = Some(spec);
    }
    match kinds.as_slice() {
        [kind] => Ok(shipped.unwrap_or_else(|| (kind.start)())),
        [] => {
            let all: Vec<String> = KINDS.iter().map(|kind| kind.told(kind.one)).collect();
            let names = || table.iter().map(|(name, _)| name.get_ref().as_ref());
            let mut known = KINDS.iter().flat_map(|kind| kind.marks).copied();
            let close = known.find(|key| near(key, names()).is_some());
            let error =
                WorkloadError::setting("", format!("found none of {}", all.join(", ")), "one of them");
            Err(error.with_near(close.map(str::to_string)))
        }
        several => {
            let told: Vec<String> = several.iter().map(|kind| kind.told(kind.one)).collect();
            let found = format!("found both {}", told.join(" and "));
            Err(WorkloadError::setting("", found, "one of the two"))
        }
    }
}
