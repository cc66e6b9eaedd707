//! Stand-ins: mixes that take the place of the traces that papers used and that nobody can have. Data under
//! `presets/workload/`, compiled in.
//!
//! Each file has two tables: `[pinned]`, what the paper says of the trace, to which tests hold the stand-in, and
//! `[workload]`, a [`MixSpec`](crate::MixSpec) that matches it. All else about the trace is unknown; what was put in
//! its place is tagged there as assumed.

use crate::base::error::WorkloadError;
use crate::base::settings::{Value, settings};
use ssd::config::presets::Preset;
use toml::de::{DeTable, DeValue};

macro_rules! shipped {
    ($($name:literal),+ $(,)?) => {
        &[$(Preset {
            name: $name,
            file: concat!("presets/workload/", $name, ".toml"),
            text: include_str!(concat!("../../presets/workload/", $name, ".toml")),
        }),+]
    };
}

pub(super) const STANDINS: &[Preset] = shipped!(
    "ads",
    "mds",
    "websearch",
    "tpc-h",
    "tpc-e",
    "tatp",
    "multi",
    "ali121",
    "ali124",
    "ali188",
    "ali206",
    "syn1",
    "syn2",
    "varmail",
    "fileserver",
    "webserver",
    "proxyserver",
    "oltp",
    "ntrx",
    "mailserver",
    "fileserver_e",
    "dbserver",
    "mobile",
);

/// Numbers in percent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Percents(pub Vec<f64>);

impl Value for Percents {
    fn read(value: &DeValue<'_>) -> Option<Self> {
        let DeValue::Array(items) = value else { return None };
        items.iter().map(|item| f64::read(item.get_ref())).collect::<Option<Vec<f64>>>().map(Percents)
    }
    fn show(&self) -> String {
        format!("{:?}", self.0)
    }
    fn allowed() -> String {
        "a list of numbers".to_string()
    }
}

settings! {
    /// What is known of a trace. 0, or nothing, where the paper does not say.
    pub struct Pinned {
        /// Share of reads.
        read_percent: f64 = 0.0, unit "%", allowed "0 to 100", if |x| (0.0..=100.0).contains(x);
        /// Share of reads by bytes, at the drive.
        read_bytes_percent: f64 = 0.0, unit "%", allowed "0 to 100", if |x| (0.0..=100.0).contains(x);
        /// Write amplification of the paper's drive.
        write_amplification: f64 = 0.0, unit "", allowed "from 0", if |x| *x >= 0.0;
        /// How long it was recorded.
        interval_s: u64 = 0, unit "s", allowed "", if |_| true;
        /// How often the paper repeats it (redFTL chapter 3).
        repeat: u64 = 0, unit "", allowed "", if |_| true;
        /// How many users replay it at a time: the read amplification factor (redFTL chapter 4).
        copies: u64 = 0, unit "", allowed "", if |_| true;
        /// Size of its working set.
        working_set_gib: f64 = 0.0, unit "GiB", allowed "from 0", if |x| *x >= 0.0;
        /// Share of reads that an LRU buffer of 64, 128 and 256 MiB answers.
        hit_percent: Percents = Percents::default(), unit "%", allowed "none, or three numbers",
            if |list| matches!(list.0.len(), 0 | 3);
    }
}

/// Sizes of the buffers that [`Pinned::hit_percent`] is about.
pub const BUFFER_MIB: [u64; 3] = [64, 128, 256];

/// All stand-ins, as files.
pub fn standins() -> &'static [Preset] {
    STANDINS
}

/// The stand-in of that name, whatever the case of its letters.
pub fn standin(name: &str) -> Option<&'static Preset> {
    STANDINS.iter().find(|preset| preset.name.eq_ignore_ascii_case(name))
}

/// What is known of the trace that a stand-in stands for.
pub fn pinned(standin: &Preset) -> Result<Pinned, WorkloadError> {
    let mut pinned = Pinned::default();
    let table = tables_of(standin)?;
    if let Some(DeValue::Table(table)) = table.get_ref().get("pinned").map(|value| value.get_ref()) {
        for (key, value) in table.iter() {
            pinned.set_value(key.get_ref(), value.get_ref()).map_err(|error| error.at(value.span()))?;
        }
    }
    Ok(pinned)
}

/// All names, for a message.
pub(super) fn names() -> String {
    STANDINS.iter().map(|preset| preset.name).collect::<Vec<_>>().join(", ")
}

/// The tables of a stand-in.
pub(super) fn tables_of(standin: &Preset) -> Result<toml::Spanned<DeTable<'static>>, WorkloadError> {
    DeTable::parse(standin.text)
        .map_err(|e| WorkloadError::setting("", format!("{}: {}", standin.file, e.message()), "TOML"))
}
