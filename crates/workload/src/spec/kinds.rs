//! All kinds of workloads, in the list `kinds!`: a trace, a generator or another, with every setting; some hold others.

use crate::base::error::WorkloadError;
use crate::base::settings::{Key, settings};
use crate::base::shape::Devices;
use crate::files::{CaptureSpec, FilesSpec};
use crate::fio::FioSpec;
use crate::generate::histogram::HistogramSpec;
use crate::generate::mix::MixSpec;
use crate::generate::synthetic::SyntheticSpec;
use crate::spec::member_keys::MemberKeys;
use crate::stack::drives::Drives;
use crate::stack::kind::Kind;
use crate::trace::spec::TraceSpec;
use std::borrow::{Borrow, BorrowMut};
use std::ffi::OsString;
use std::mem::discriminant;
use std::path::{Path, PathBuf};

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
        pub(super) const KINDS: &[About] = &[$(About {
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

            pub(super) fn kind_mut(&mut self) -> &mut dyn Kind {
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

/// One of the workloads.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// What it says beyond itself.
    pub keys: MemberKeys,
    /// The workload.
    pub spec: Spec,
}

/// Some workloads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Members(pub Vec<Member>);

settings! {
    /// Workloads one after the other.
    pub struct PhasesSpec {
        /// The phases, in order: each is a workload, and when it ends.
        phases: Members = Members::default(), unit "", allowed "", if |_| true;
    }
}

settings! {
    /// Workloads at the same time, merged by their times; those without times in turn.
    pub struct TogetherSpec {
        /// The workloads.
        together: Members = Members::default(), unit "", allowed "", if |_| true;
    }
}

/// The key that starts from a shipped workload, of whatever kind it is.
pub(super) const PRESET_KEY: &str = "preset";

/// What is known of a kind before there is one.
pub(super) struct About {
    pub(super) names: &'static [&'static str],
    pub(super) one: &'static str,
    pub(super) many: &'static str,
    /// The keys that make a table one of this kind.
    pub(super) marks: &'static [&'static str],
    /// One with all settings at their defaults.
    pub(super) start: fn() -> Spec,
}

impl About {
    /// The marks behind what it is called.
    pub(super) fn told(&self, what: &str) -> String {
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

    /// Whether this kind of workload has a key of that name.
    pub(crate) fn has_key(&self, key: &str) -> bool {
        self.about().names.contains(&key)
    }

    pub(super) fn about(&self) -> &'static About {
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

    /// Whether its requests depend on when earlier ones complete ([`Prepared::driven`](crate::Prepared::driven)).
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

    /// The same for one device of a trace, which is a drive.
    pub(super) fn of_device(&self, number: u64) -> Self {
        let mut spec = self.clone();
        if let Spec::Trace(trace) = &mut spec {
            (trace.devices, trace.drives) = (Devices::Only(vec![number]), Drives::Together);
        }
        spec
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
}
