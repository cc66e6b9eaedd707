//! What is written, without end: a pattern, a generator, or a recording that is played over and over.

use ssd::rng::Rng;
use workload::{Prepared, Request, SECTOR_BYTES, Source, Spec};

use super::recorded::Recorded;
use crate::base::error::Failure;

ssd::choice! {
    /// Writes that are drawn, over the whole drive.
    pub enum Pattern {
        /// In order, from the start again at the end: a log, or segments that are never changed.
        Log = "log",
        /// 4 KiB at places drawn evenly.
        Random = "random",
        /// A cache for objects in the manner of CacheLib: half of the bytes are 4 KiB at random on 4 % of the space,
        /// the others a log on the rest of it, each with a placement id of its own.
        Mixed = "mixed",
        /// A stand-in for JESD219's workload for enterprise drives, from the published mix of sizes and places.
        Jesd219 = "jesd219",
    }
}

/// Share of the space that `mixed` writes at random; %.
const RANDOM_PERCENT: u64 = 4;
/// Bytes of a write to the log of `mixed` (assumed: regions are written in large pieces).
const LOG_BYTES: u64 = 131_072;
/// Requests of a generator before it begins again: more than are ever taken.
const COUNT: u64 = 1_000_000_000_000;
/// Sizes of writes of JESD219's enterprise workload, in sectors, and their shares in %.
const SIZES: [(u64, f64); 12] = [
    (1, 4.0),
    (2, 1.0),
    (3, 1.0),
    (4, 1.0),
    (5, 1.0),
    (6, 1.0),
    (7, 1.0),
    (8, 67.0),
    (16, 10.0),
    (32, 7.0),
    (64, 3.0),
    (128, 3.0),
];
/// Its regions: where each begins and how long it is, in % of the space, and its share of the accesses in %.
const REGIONS: [(u64, u64, f64); 3] = [(0, 5, 50.0), (5, 15, 30.0), (20, 80, 20.0)];

impl Pattern {
    /// What it is called in sentences.
    pub fn told(self) -> &'static str {
        match self {
            Pattern::Log => "a log",
            Pattern::Random => "random 4 KiB",
            Pattern::Mixed => {
                "a cache's layout: 4 % of the space random, the rest a log, half of the bytes each"
            }
            Pattern::Jesd219 => "a stand-in for JESD219's enterprise mix",
        }
    }

    /// The workload, as a table `[workload]` has it.
    pub fn spec(self) -> Spec {
        let text = match self {
            Pattern::Log => {
                format!("pattern = \"sequential\"\nread_percent = 0\nsize_bytes = 131072\ncount = {COUNT}\n")
            }
            Pattern::Random => {
                format!("pattern = \"uniform\"\nread_percent = 0\nsize_bytes = 4096\ncount = {COUNT}\n")
            }
            Pattern::Mixed => mixed(),
            Pattern::Jesd219 => jesd219(),
        };
        Spec::parse(&text).unwrap_or_else(|error| unreachable!("a pattern is a workload: {error}"))
    }

    /// Whether its requests have placement ids.
    fn has_ids(self) -> bool {
        self == Pattern::Mixed
    }
}

/// A mix of parts over the whole drive.
fn mix(parts: &[String]) -> String {
    format!("count = {COUNT}\nfootprint_percent = 100.0\nchunk_kib = 0\nparts = [{}]\n", parts.join(", "))
}

fn mixed() -> String {
    let share = 100.0 * LOG_BYTES as f64 / (LOG_BYTES + 4_096) as f64;
    let rest = 100 - RANDOM_PERCENT;
    mix(&[
        format!(
            "{{ name = \"random\", share_percent = {share:?}, read_percent = 0.0, space_mib = {RANDOM_PERCENT}.0, \
             size_bytes = 4096 }}"
        ),
        format!(
            "{{ name = \"log\", share_percent = {:?}, read_percent = 0.0, at_mib = {RANDOM_PERCENT}.0, \
             space_mib = {rest}.0, places = \"scan\", size_bytes = {LOG_BYTES} }}",
            100.0 - share
        ),
    ])
}

fn jesd219() -> String {
    // A part each, so that each size lies at multiples of its own, and small ones within a page.
    let parts = REGIONS.iter().flat_map(|(at, space, accesses)| {
        SIZES.iter().map(move |(sectors, share)| {
            format!(
                "{{ name = \"{} at {at} %\", share_percent = {:?}, read_percent = 0.0, at_mib = {at}.0, \
                 space_mib = {space}.0, size_bytes = {} }}",
                sectors * SECTOR_BYTES,
                accesses * share / 100.0,
                sectors * SECTOR_BYTES
            )
        })
    });
    mix(&parts.collect::<Vec<_>>())
}

/// What is written.
pub enum Load {
    /// A pattern over the whole drive.
    Pattern(Pattern, Prepared),
    /// A generator that never ends.
    Generated(Prepared),
    /// What was recorded, or comes to an end.
    Recorded(Recorded),
}

/// Requests without end.
pub type Requests<'a> = Box<dyn FnMut() -> Result<Request, Failure> + 'a>;

impl Load {
    /// Of a pattern.
    pub fn of(pattern: Pattern) -> Result<Self, Failure> {
        Ok(Load::Pattern(pattern, pattern.spec().prepare().map_err(Failure::Workload)?))
    }

    /// Whether requests say what belongs together.
    pub fn has_ids(&self) -> bool {
        match self {
            Load::Pattern(pattern, _) => pattern.has_ids(),
            Load::Generated(_) => false,
            Load::Recorded(recorded) => recorded.has_ids(),
        }
    }

    /// Whether it has flushes or writes that must be durable at once.
    pub fn has_flushes(&self) -> bool {
        if let Load::Recorded(recorded) = self { recorded.has_flushes() } else { false }
    }

    /// Sectors that it needs at least; 0 for a share of any drive.
    pub fn sectors(&self) -> u64 {
        match self {
            Load::Pattern(..) => 0,
            Load::Generated(prepared) => prepared.space_sectors().unwrap_or(0),
            Load::Recorded(recorded) => recorded.sectors(),
        }
    }

    /// Its requests on a drive of so many sectors.
    pub fn open(&self, sectors: u64, seed: u64) -> Result<Requests<'_>, Failure> {
        match self {
            Load::Recorded(recorded) => {
                let mut passes = recorded.passes(Rng::named(seed, "lab/endurance/recorded"));
                Ok(Box::new(move || Ok(passes.next())))
            }
            Load::Generated(prepared) => Ok(endless(prepared, sectors)?),
            Load::Pattern(pattern, prepared) => {
                let mut requests = endless(prepared, sectors)?;
                if !pattern.has_ids() {
                    return Ok(requests);
                }
                // Where the log begins; its first place may be rounded down.
                let log = (sectors as f64 * RANDOM_PERCENT as f64 / 100.0) as u64 / 32 * 32;
                Ok(Box::new(move || {
                    let mut request = requests()?;
                    request.hints.stream = if request.lba < log { 1 } else { 2 };
                    Ok(request)
                }))
            }
        }
    }
}

/// A generator's requests, which begin anew when it ends.
fn endless(prepared: &Prepared, sectors: u64) -> Result<Requests<'_>, Failure> {
    let mut source: Box<dyn Source> = prepared.open(sectors).map_err(Failure::Workload)?;
    Ok(Box::new(move || {
        loop {
            if let Some(request) = source.next().map_err(Failure::Workload)? {
                return Ok(request);
            }
            source = prepared.open(sectors).map_err(Failure::Workload)?;
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(pattern: Pattern, requests: usize) -> Vec<Request> {
        let load = Load::of(pattern).unwrap();
        let mut next = load.open(1 << 21, 1).unwrap();
        (0..requests).map(|_| next().unwrap()).collect()
    }

    #[test]
    fn a_cache_writes_half_of_its_bytes_at_random_and_half_to_a_log() {
        let requests = bytes(Pattern::Mixed, 100_000);
        let edge = (1u64 << 21) * RANDOM_PERCENT / 100;
        let sum = |stream: u16| -> u64 {
            requests.iter().filter(|request| request.hints.stream == stream).map(Request::bytes).sum()
        };
        let share = sum(1) as f64 / (sum(1) + sum(2)) as f64;
        assert!((share - 0.5).abs() < 0.01, "{share}");
        assert!(requests.iter().all(|request| (request.hints.stream == 1) == (request.lba < edge / 32 * 32)));
        let log: Vec<u64> = requests.iter().filter(|r| r.hints.stream == 2).map(|r| r.lba).collect();
        let steps = log.windows(2).filter(|pair| pair[1] == pair[0] + LOG_BYTES / SECTOR_BYTES).count();
        assert!(steps >= log.len() - 3, "{steps} of {}", log.len());
    }

    #[test]
    fn the_mix_of_jesd219_has_its_sizes_and_places() {
        let requests = bytes(Pattern::Jesd219, 200_000);
        let share = |is: &dyn Fn(&Request) -> bool| {
            requests.iter().filter(|request| is(request)).count() as f64 / requests.len() as f64
        };
        assert!((share(&|request| request.sectors == 8) - 0.67).abs() < 0.01);
        assert!((share(&|request| request.sectors < 8) - 0.10).abs() < 0.01);
        assert!((share(&|request| request.lba < (1 << 21) / 20) - 0.50).abs() < 0.01);
        assert!((share(&|request| request.lba < (1 << 21) / 5) - 0.80).abs() < 0.01);
        // Nothing of at most a page lies on two of them.
        let small = requests.iter().filter(|request| request.sectors <= 8);
        let within = |request: &Request| request.lba / 8 == (request.end() - 1) / 8;
        assert!(small.clone().filter(|request| request.sectors.is_power_of_two()).all(within));
    }
}
