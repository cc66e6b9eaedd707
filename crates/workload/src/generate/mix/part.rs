//! One part of a mix: its share of the requests, where they go, how large they are.

use crate::base::error::WorkloadError;
use crate::base::request::SECTOR_BYTES;
use crate::base::settings::{Value, choice, found, settings};
use crate::base::shape::Sizes;
use toml::de::DeValue;

choice! {
    /// How a part of a mix chooses places.
    pub enum Places {
        /// All equally often.
        Uniform = "uniform",
        /// Two tiers: some of the accesses go, evenly, to a fixed part of the space, the rest, evenly, to the rest.
        HotCold = "hot_cold",
        /// The place of rank k in proportion to k^-theta.
        Zipf = "zipf",
        /// One after the other, from the start again at the end.
        Scan = "scan",
    }
}

settings! {
    /// A part of a mix: requests of one kind on one stretch of the space. Parts may lie on the same stretch; where
    /// their chunks are equally many, they have the same hot ones.
    pub struct Part {
        /// What it is.
        name: String = String::new(), unit "", allowed "", if |_| true;
        /// Its share of the requests of the mix.
        share_percent: f64 = 100.0, unit "%", allowed "above 0, up to 100", if |x| *x > 0.0 && *x <= 100.0;
        /// Share of reads in it; the others are writes. A run is read or written as a whole.
        read_percent: f64 = 100.0, unit "%", allowed "0 to 100", if |x| (0.0..=100.0).contains(x);
        /// Where its stretch begins.
        at_mib: f64 = 0.0, unit "MiB", allowed "0 to 1e9", if |x| (0.0..=1e9).contains(x);
        /// How long its stretch is.
        space_mib: f64 = 0.0, unit "MiB", allowed "above 0, up to 1e9", if |x| *x > 0.0 && *x <= 1e9;
        /// How places are chosen.
        places: Places = Places::Uniform, unit "", allowed "", if |_| true;
        /// Size of each request, or a list of sizes, or of [size, weight] pairs.
        size_bytes: Sizes = Sizes(vec![(8192, 1)]), unit "bytes", allowed "", if |_| true;
        /// Length of a run of requests that follow each other, or a list as above; what is no longer than a request
        /// is a run of one.
        run_bytes: Sizes = Sizes(vec![(512, 1)]), unit "bytes", allowed "", if |_| true;
        /// Runs in progress at a time; each request belongs to one of them, drawn evenly.
        streams: u64 = 1, unit "", allowed "1 to 65536", if |n| (1..=65_536).contains(n);
        /// `hot_cold`: the hot tier is so much of the space …
        hot_space_percent: f64 = 20.0, unit "%", allowed "above 0, below 100", if |x| *x > 0.0 && *x < 100.0;
        /// `hot_cold`: … and gets so much of the accesses.
        hot_access_percent: f64 = 80.0, unit "%", allowed "0 to 100", if |x| (0.0..=100.0).contains(x);
        /// `zipf`: the exponent.
        theta: f64 = 0.8, unit "", allowed "0 to 16", if |x| (0.0..=16.0).contains(x);
    }
}

/// Sectors of a size in MiB, in whole pages of 4 KiB.
pub(crate) fn mib_sectors(mib: f64) -> u64 {
    (mib * 256.0) as u64 * 8
}

impl Part {
    /// First sector of its stretch and one past its last.
    pub(crate) fn stretch(&self) -> (u64, u64) {
        let start = mib_sectors(self.at_mib);
        (start, start + mib_sectors(self.space_mib))
    }

    /// Sectors of its longest request or run.
    pub(crate) fn longest(&self) -> u64 {
        self.size_bytes.largest().max(self.run_bytes.largest()) / SECTOR_BYTES
    }

    /// Whether any of its runs is longer than a request.
    pub(crate) fn has_runs(&self) -> bool {
        self.run_bytes.largest() > self.size_bytes.smallest()
    }

    /// Checks what no single key can tell.
    fn check(&self) -> Result<(), WorkloadError> {
        let (start, end) = self.stretch();
        if end - start >= self.longest() {
            return Ok(());
        }
        let found = format!("found {:?} MiB, less than its longest request or run", self.space_mib);
        let least = self.longest() as f64 / 2048.0;
        Err(WorkloadError::setting("space_mib", found, format!("{least:?} MiB or more")))
    }
}

/// The parts of a mix.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parts(pub Vec<Part>);

/// Most parts of a mix.
const PARTS_MAX: usize = 64;

impl Parts {
    fn parse(key: &str, value: &DeValue<'_>) -> Result<Self, WorkloadError> {
        let wrong = |key: &str, value: &DeValue<'_>| {
            WorkloadError::setting(key, format!("found {}", found(value)), Self::allowed())
        };
        let DeValue::Array(items) = value else { return Err(wrong(key, value)) };
        if items.len() > PARTS_MAX {
            let found = format!("found {} parts", items.len());
            return Err(WorkloadError::setting(key, found, format!("at most {PARTS_MAX}")));
        }
        let mut parts = Vec::new();
        for (i, item) in items.iter().enumerate() {
            let here = format!("{key}[{i}]");
            let DeValue::Table(table) = item.get_ref() else { return Err(wrong(&here, item.get_ref())) };
            let mut part = Part::default();
            for (name, value) in table.iter() {
                let span =
                    if Part::NAMES.contains(&name.get_ref().as_ref()) { value.span() } else { name.span() };
                let set = part.set_value(name.get_ref(), value.get_ref());
                set.map_err(|error| error.within(&here).at(span))?;
            }
            part.check().map_err(|error| error.within(&here).at(item.span()))?;
            parts.push(part);
        }
        Ok(Parts(parts))
    }
}

impl Value for Parts {
    fn read(value: &DeValue<'_>) -> Option<Self> {
        Self::parse("", value).ok()
    }
    fn explain(key: &str, value: &DeValue<'_>) -> Option<WorkloadError> {
        Self::parse(key, value).err()
    }
    fn show(&self) -> String {
        let part = |part: &Part| {
            let keys: Vec<String> =
                part.entries().into_iter().map(|(key, value)| format!("{key} = {value}")).collect();
            format!("{{ {} }}", keys.join(", "))
        };
        format!("[{}]", self.0.iter().map(part).collect::<Vec<_>>().join(", "))
    }
    fn allowed() -> String {
        "a list of tables, [[workload.parts]]".to_string()
    }
}
