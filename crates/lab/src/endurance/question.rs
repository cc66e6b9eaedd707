//! The question, and how it is answered.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

use ssd::DriveConfig;
use workload::{MixSpec, Prepared, SECTOR_BYTES, Spec, SyntheticSpec};

use super::amounts::shown;
use super::answer::{Answer, DAYS, YEARS};
use super::budget::{Budget, Rated, of_cycles, rating_counts};
use super::load::{Load, Pattern};
use super::reads::Reads;
use super::recorded::{Recorded, Totals};
use super::scale::{Scaled, Whole, scaled};
use super::steady::{Steady, steady};
use super::what_if::{Other, others};
use crate::base::error::Failure;
use crate::base::stop::Stop;
use crate::base::threads::on_all_cores;
use crate::plan::job::{JobError, can_saturate};

/// Drive writes a day over five years from which a rating is taken for a slip of the unit.
const DWPD_MAX: f64 = 200.0;
/// Days of a recording that says what a day is like; of a shorter one it is a guess.
const DAY_KNOWN: f64 = 0.5;
/// What is taken for granted of data when a drive is worn out (JEDEC JESD218).
const RETENTION: &str = "data without power is kept for 1 year at 30 C (client drives) or 3 months at 40 C (drives for \
                         data centres), as JESD218 asks of a rating; assumed";

/// How long a drive lasts: what must be known.
pub struct Question<'a> {
    /// What the drive is called.
    pub name: String,
    /// Its configuration.
    pub drive: DriveConfig,
    /// Its capacity, where it is another than the configuration's; bytes.
    pub capacity: Option<f64>,
    /// What its maker rates it for.
    pub rated: Option<Rated>,
    /// Program/erase cycles of its blocks.
    pub cycles: Option<u32>,
    /// Years that it is to last.
    pub years: f64,
    /// The workload, if there is one.
    pub workload: Option<(&'a Spec, &'a Prepared)>,
    /// Where is written, if no workload says.
    pub pattern: Option<Pattern>,
    /// Bytes that are written a day; if not, the workload says in its own time.
    pub writes: Option<f64>,
    /// Bytes that are read a day.
    pub reads: Option<f64>,
    /// Reads after which a block is moved.
    pub reads_a_block: Option<f64>,
    /// Whether to tell what else could be.
    pub tells_what_if: bool,
}

/// Why there is no answer.
#[derive(Debug)]
pub enum EnduranceError {
    /// What was asked for cannot be.
    Asked(JobError),
    /// A measurement failed.
    Failed(Failure),
}

impl fmt::Display for EnduranceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Asked(error) => write!(f, "{error}"),
            Self::Failed(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for EnduranceError {}

impl From<JobError> for EnduranceError {
    fn from(error: JobError) -> Self {
        EnduranceError::Asked(error)
    }
}

impl From<Failure> for EnduranceError {
    fn from(error: Failure) -> Self {
        match error {
            Failure::Workload(error) => EnduranceError::Asked(error.into()),
            Failure::Config(errors) => EnduranceError::Asked(errors.into()),
            other => EnduranceError::Failed(other),
        }
    }
}

/// What the host does.
struct Host {
    loads: Vec<Load>,
    told: String,
    writes: f64,
    reads: Option<f64>,
    remarks: Vec<String>,
}

/// A measurement: on which drive, of which load.
struct Task<'a> {
    config: &'a DriveConfig,
    load: &'a Load,
}

fn asked(message: String) -> EnduranceError {
    EnduranceError::Asked(JobError::new(message))
}

impl Question<'_> {
    /// The answer. `progress` is told how many of how many measurements are done.
    pub fn answer(
        &self,
        stop: &Stop,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<Answer, EnduranceError> {
        let whole = self.whole()?;
        let small = scaled(&whole)?;
        let host = self.host(&whole, &small, stop)?;
        let rated = self.rated.map(|rated| Load::of(rated.pattern())).transpose()?;
        let others = self.others(&small, &host);
        let mut tasks: Vec<Task<'_>> =
            host.loads.iter().map(|load| Task { config: &small.config, load }).collect();
        tasks.extend(rated.iter().map(|load| Task { config: &small.config, load }));
        if let Some(load) = host.loads.first() {
            tasks.extend(others.iter().map(|other| Task { config: &other.config, load }));
        }
        let found = measure(&tasks, stop, progress)?;
        let (own, rest) = found.split_at(host.loads.len());
        let (rating, of_others) = rest.split_at(rated.iter().len());
        Ok(self.told(&whole, &small, &host, (own, rating.first()), (&others, of_others)))
    }

    /// The whole drive, if what is said of it makes sense.
    fn whole(&self) -> Result<Whole, EnduranceError> {
        let own = self.drive.logical_bytes() as f64;
        let whole = Whole { config: self.drive.clone(), capacity: self.capacity.unwrap_or(own) };
        if self.rated.is_none() && self.cycles.is_none() {
            return Err(asked(format!(
                "nobody says what {} may take\n    found:   no rating (drive.rating.tbw) and no cycles \
                 (nand.reliability.endurance_cycles)\n    allowed: --tbw 600, --pe 1500, or both",
                self.name
            )));
        }
        if let Some(rated) = self.rated {
            let dwpd = rated.bytes / whole.capacity / (YEARS * DAYS);
            if dwpd > DWPD_MAX {
                return Err(asked(format!(
                    "a rating of {} for a drive of {}\n    found:   {dwpd:.0} drive writes a day for 5 years\n    \
                     allowed: up to {DWPD_MAX:.0}; --tbw counts in TB: --tbw 600, or with a unit: --tbw 600TB",
                    shown(rated.bytes),
                    shown(whole.capacity)
                )));
            }
        }
        Ok(whole)
    }

    fn host(&self, whole: &Whole, small: &Scaled, stop: &Stop) -> Result<Host, EnduranceError> {
        match self.workload {
            Some((spec, prepared)) => self.of_workload(whole, small, (spec, prepared), stop),
            None => self.of_pattern(),
        }
    }

    /// A host of which is only known how much it writes, and perhaps where.
    fn of_pattern(&self) -> Result<Host, EnduranceError> {
        let Some(writes) = self.writes.or(self.reads.map(|_| 0.0)) else {
            return Err(asked(
                "nothing says what is written\n    found:   no workload, and no --writes\n    allowed: a trace, a job \
                 file or a configuration with [workload], or --writes 864GB/day"
                    .to_owned(),
            ));
        };
        let patterns = match self.pattern {
            Some(pattern) => vec![pattern],
            None => vec![Pattern::Log, Pattern::Random],
        };
        let loads = if writes > 0.0 {
            patterns.iter().map(|pattern| Load::of(*pattern)).collect::<Result<_, _>>()?
        } else {
            Vec::new()
        };
        let told =
            self.pattern.filter(|_| writes > 0.0).map_or(String::new(), |pattern| pattern.told().to_owned());
        Ok(Host { loads, told, writes, reads: self.reads, remarks: Vec::new() })
    }

    fn of_workload(
        &self,
        whole: &Whole,
        small: &Scaled,
        (spec, prepared): (&Spec, &Prepared),
        stop: &Stop,
    ) -> Result<Host, EnduranceError> {
        let sectors = whole.sectors();
        if let Some(space) = prepared.space_sectors().filter(|space| *space > sectors) {
            let [found, allowed] = [space, sectors].map(|sectors| shown((sectors * SECTOR_BYTES) as f64));
            return Err(asked(format!(
                "{}: the drive is too small\n    found:   it touches {found}\n    allowed: up to {allowed}, the \
                 drive's capacity (a larger one: --capacity)",
                spec.title()
            )));
        }
        one_drive(spec, prepared)?;
        let mut remarks = Vec::new();
        let (load, totals) = match unending(spec, prepared, small.times)? {
            Some(scaled) => {
                let totals = if self.writes.is_some() && self.reads.is_some() {
                    Totals::default()
                } else {
                    generated(spec, prepared, sectors)?
                };
                (Load::Generated(scaled.prepare().map_err(Failure::Workload)?), totals)
            }
            None => {
                let small_sectors = small.config.logical_bytes() / SECTOR_BYTES;
                let found = Recorded::read(prepared, sectors, (small.times, small_sectors), stop)?;
                if !found.is_written() && self.writes.is_some_and(|writes| writes > 0.0) {
                    return Err(asked(format!(
                        "{}: where --writes go is not known\n    found:   a workload that writes nothing\n    \
                         allowed: one that writes, or --writes with --pattern and no workload",
                        spec.title()
                    )));
                }
                remarks.extend(self.of_recording(whole, &found));
                let totals = found.totals;
                (Load::Recorded(found), totals)
            }
        };
        let writes = self.rate(whole, spec, prepared, totals)?;
        let timed = |bytes: f64| (totals.days > 0.0).then(|| bytes / totals.days);
        let reads = self
            .reads
            .or_else(|| timed(totals.read).filter(|_| self.writes.is_none() && reclaims(&whole.config)));
        let loads = if writes > 0.0 { vec![load] } else { Vec::new() };
        if self.writes.is_none() && totals.days > 0.0 {
            let short = if totals.days < DAY_KNOWN { ", as if it went on like that all day" } else { "" };
            remarks.push(format!(
                "writes a day follow from {} in {}{short}",
                shown(totals.written),
                crate::base::number::duration(totals.days * 86_400e9)
            ));
        }
        Ok(Host { loads, told: spec.title(), writes, reads, remarks })
    }

    /// What must be known of a recording that is played over and over.
    fn of_recording(&self, whole: &Whole, found: &Recorded) -> Vec<String> {
        let mut remarks = Vec::new();
        let capacity = whole.capacity;
        if found.is_written() && found.totals.written < capacity {
            remarks.push(format!(
                "it writes {}, {} of the drive: played over and over, in pieces of another order, until write \
                 amplification was steady",
                shown(found.totals.written),
                crate::base::number::percent(found.totals.written / capacity)
            ));
        }
        if found.totals.touched < 0.5 * capacity {
            remarks.push(format!(
                "it touches {}: the rest of the drive is taken for data that nobody changes",
                shown(found.totals.touched)
            ));
        }
        if found.is_cut {
            remarks.push("it is longer than is kept: its first part was measured".to_owned());
        }
        remarks
    }

    /// Bytes written a day.
    fn rate(
        &self,
        whole: &Whole,
        spec: &Spec,
        prepared: &Prepared,
        totals: Totals,
    ) -> Result<f64, EnduranceError> {
        if let Some(writes) = self.writes {
            return Ok(writes);
        }
        if totals.written <= 0.0 && totals.days > 0.0 {
            return Ok(0.0);
        }
        // Jobs that go on as soon as the drive answers have no rate of their own, wherever they wait for it.
        let is_paced = match prepared.demands() {
            Some(demands) => {
                let have_rates = demands.iter().flatten().all(|demand| demand.bytes_per_s.is_some());
                have_rates && !can_saturate(&demands, &whole.config)
            }
            None => !spec.is_driven() && spec.has_times(),
        };
        if is_paced && totals.days > 0.0 {
            return Ok(totals.written / totals.days);
        }
        Err(asked(format!(
            "{}: nothing says how much is written a day\n    found:   requests without times of their own\n    \
             allowed: --writes, such as --writes 864GB/day",
            spec.title()
        )))
    }

    fn others(&self, small: &Scaled, host: &Host) -> Vec<Other> {
        match (self.tells_what_if, &host.loads[..]) {
            (true, [load]) => others(&small.config, load),
            _ => Vec::new(),
        }
    }

    fn told(
        &self,
        whole: &Whole,
        small: &Scaled,
        host: &Host,
        (own, rating): (&[Steady], Option<&Steady>),
        (others, of_others): (&[Other], &[Steady]),
    ) -> Answer {
        let budgets = self.budgets(whole, rating);
        let least = budgets.iter().min_by(|a, b| a.bytes.total_cmp(&b.bytes)).cloned();
        let least = least.unwrap_or_else(|| Budget { bytes: 0.0, basis: String::new() });
        let reads =
            host.reads.and_then(|reads| Reads::of(&whole.config, reads, self.reads_a_block, self.cycles));
        let for_reads = reads.as_ref().map_or(0.0, |reads| reads.programmed_a_day);
        let years = |amplification: f64| least.bytes / (host.writes * amplification + for_reads) / DAYS;
        let amplifications =
            |of: fn(f64, f64) -> f64| own.iter().map(|steady| steady.amplification).reduce(of).unwrap_or(0.0);
        let [low, high] = [amplifications(f64::min), amplifications(f64::max)];
        let is_worn = host.writes * high + for_reads > 0.0;
        let spread = own.iter().map(|steady| steady.spread).fold(0.0, f64::max);
        // The rating's own only counts where its budget does.
        let by_rating = rating_counts(&budgets, rating.is_some());
        let slack = spread + rating.filter(|_| by_rating).map_or(0.0, |steady| steady.spread);
        let at = years(high);
        Answer {
            workload: host.told.clone(),
            is_range: own.len() > 1,
            host_bytes_a_day: host.writes,
            drive_writes_a_day: host.writes / whole.capacity,
            write_amplification: [low, high],
            write_amplification_spread: spread,
            rated_write_amplification: rating.map(|steady| steady.amplification),
            budget_bytes: least.bytes,
            budget_basis: least.basis.clone(),
            days: is_worn.then_some(at * DAYS),
            years: is_worn.then_some(at),
            years_range: is_worn.then(|| [at / (1.0 + slack), years(low) * (1.0 + slack)]),
            years_if_rated_sequential: self.if_sequential(rating, by_rating && is_worn, at),
            share_used: is_worn.then(|| self.years / at),
            headroom: is_worn.then(|| at / self.years - 1.0),
            what_if: others
                .iter()
                .zip(of_others)
                .map(|(other, steady)| other.told(steady.amplification, years(steady.amplification)))
                .collect(),
            remarks: self.remarks(host, own, rating, &reads, by_rating),
            budgets,
            reads,
            ..self.of_drive(whole, small, host)
        }
    }

    /// Whether anybody says where is written.
    fn is_known(&self) -> bool {
        self.workload.is_some() || self.pattern.is_some()
    }

    /// What does not depend on what was measured.
    fn of_drive(&self, whole: &Whole, small: &Scaled, host: &Host) -> Answer {
        let tbw = self.rated.map(|rated| rated.bytes);
        Answer {
            drive: self.name.clone(),
            capacity_bytes: whole.capacity,
            spare: crate::plan::sizing::with_spare(&whole.config) - 1.0,
            unit_bytes: whole.config.unit_bytes(),
            scale: small.times,
            rated_workload: self.rated.map(|rated| rated.pattern().told().to_owned()),
            tbw_bytes: tbw,
            years_by_host_bytes: tbw.filter(|_| host.writes > 0.0).map(|tbw| tbw / host.writes / DAYS),
            dwpd: tbw.map(|tbw| [3.0, 5.0].map(|years| tbw / whole.capacity / (years * DAYS))),
            wanted_years: self.years,
            flush: flush(&whole.config, &host.loads),
            retention: RETENTION.to_owned(),
            ..Answer::default()
        }
    }

    /// What may be programmed: by the rating, and by the cycles.
    fn budgets(&self, whole: &Whole, rating: Option<&Steady>) -> Vec<Budget> {
        let rating = self.rated.zip(rating).map(|(rated, steady)| rated.budget(steady.amplification));
        rating.into_iter().chain(self.cycles.map(|cycles| of_cycles(whole, cycles))).collect()
    }

    /// Years if the rating is for sequential writes, where nobody says what it is for.
    fn if_sequential(&self, rating: Option<&Steady>, counts: bool, years: f64) -> Option<f64> {
        let rated = self.rated.filter(|rated| !rated.is_said && counts)?;
        (rated.pattern() != Pattern::Log && self.is_known()).then_some(years / rating?.amplification)
    }

    fn remarks(
        &self,
        host: &Host,
        own: &[Steady],
        rating: Option<&Steady>,
        reads: &Option<Reads>,
        by_rating: bool,
    ) -> Vec<String> {
        let mut remarks = host.remarks.clone();
        for (steady, what) in
            own.iter().map(|own| (own, "the load")).chain(rating.map(|own| (own, "the rating")))
        {
            if !steady.is_steady {
                remarks.push(format!(
                    "write amplification of {what} was still moving by {} after {:.0} drive writes",
                    crate::base::number::percent(steady.spread),
                    steady.drive_writes
                ));
            }
        }
        if let Some(rated) = self.rated.filter(|rated| !rated.is_said && by_rating) {
            remarks.push(format!(
                "nobody says what the rating is for: taken as {} (--rated sequential, --rated jesd219)",
                rated.pattern().told()
            ));
        }
        if let Some(reads) = reads {
            remarks.push(format!("reads of a block: {}", reads.basis));
        }
        if host.writes <= 0.0 {
            remarks.push(match reads {
                Some(_) => {
                    "nothing is written: what wears the drive is that it moves what is read often".to_owned()
                }
                None => "nothing is written; what reads make the drive move is told with --reads 2GiB/s"
                    .to_owned(),
            });
        }
        remarks
    }
}

/// Whether the drive moves what is read often.
fn reclaims(whole: &DriveConfig) -> bool {
    whole.read_reclaim.name() != ssd::ftl::read_reclaim::never::NAME
}

/// How FLUSH and FUA are answered.
fn flush(whole: &DriveConfig, loads: &[Load]) -> String {
    let way = whole.section("host.buffer").and_then(|section| section.show("flush"));
    let way = way.map_or_else(|| "program".to_owned(), |way| way.trim_matches('"').to_owned());
    let told = if way == "capacitors" { "answered from DRAM" } else { "wait for flash" };
    let none = if loads.iter().any(Load::has_flushes) { "" } else { "; this load has none" };
    format!("{told} (host.buffer.flush = \"{way}\"){none}")
}

/// Measures all of it, on all cores; what is measured twice is measured once.
fn measure(
    tasks: &[Task<'_>],
    stop: &Stop,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Vec<Steady>, EnduranceError> {
    let same = |a: &Task<'_>, b: &Task<'_>| {
        let patterns = (a.load, b.load);
        let are_alike = matches!(patterns, (Load::Pattern(a, _), Load::Pattern(b, _)) if a == b);
        a.config == b.config && are_alike
    };
    let first: Vec<usize> = (0..tasks.len())
        .map(|at| (0..at).find(|other| same(&tasks[*other], &tasks[at])).unwrap_or(at))
        .collect();
    let own: Vec<usize> = (0..tasks.len()).filter(|at| first[*at] == *at).collect();
    let done = AtomicUsize::new(0);
    progress(0, own.len());
    let found = on_all_cores(own.len(), |at| {
        let Task { config, load } = &tasks[own[at]];
        let found = steady(config, load, stop);
        progress(done.fetch_add(1, Ordering::Relaxed) + 1, own.len());
        found
    });
    let found = found.into_iter().collect::<Result<Vec<_>, _>>()?;
    let place = |at: usize| own.iter().position(|own| *own == first[at]);
    Ok((0..tasks.len()).filter_map(|at| found.get(place(at)?).copied()).collect())
}

/// Refuses what works on several drives: how long one of them lasts is not known from all that they do.
fn one_drive(spec: &Spec, prepared: &Prepared) -> Result<(), EnduranceError> {
    let drives = prepared.split().names();
    if drives.len() < 2 {
        return Ok(());
    }
    Err(asked(format!(
        "{}: it works on several drives\n    found:   {}\n    allowed: the jobs or the devices of one drive at a time \
         (workload.devices), or all on one (workload.drives = \"together\")",
        spec.title(),
        drives.join(", ")
    )))
}

/// A generator that never ends and is so many times smaller; none for what has an end of its own.
fn unending(spec: &Spec, prepared: &Prepared, times: f64) -> Result<Option<Spec>, EnduranceError> {
    let gib = match spec {
        // What a page cache lets through depends on the times of what comes.
        Spec::Synthetic(SyntheticSpec { page_cache_mib, .. }) | Spec::Mix(MixSpec { page_cache_mib, .. })
            if *page_cache_mib > 0.0 =>
        {
            return Ok(None);
        }
        Spec::Synthetic(SyntheticSpec { footprint_gib, .. }) => *footprint_gib,
        Spec::Mix(MixSpec { footprint_percent, footprint_gib, .. }) => match *footprint_gib {
            gib if gib > 0.0 => gib,
            _ if *footprint_percent > 0.0 => 0.0,
            _ => prepared.space_sectors().map_or(0.0, |sectors| sectors as f64 / (1u64 << 21) as f64),
        },
        _ => return Ok(None),
    };
    let mut scaled = spec.clone();
    let mut set = |key: &str, value: String| scaled.set(key, &value).map_err(Failure::Workload);
    set("arrival", "\"closed\"".to_owned())?;
    set("count", "1000000000000".to_owned())?;
    // Users who all send the same at once would write it once.
    set("copies", "1".to_owned())?;
    if gib > 0.0 && times > 1.0 {
        set("footprint_gib", format!("{:?}", gib / times))?;
    }
    Ok(Some(scaled))
}

/// How many users send what a generator makes.
fn copies(spec: &Spec) -> f64 {
    match spec {
        Spec::Synthetic(SyntheticSpec { copies, .. }) | Spec::Mix(MixSpec { copies, .. }) => *copies as f64,
        _ => 1.0,
    }
}

/// What a generator does in its whole length.
fn generated(spec: &Spec, prepared: &Prepared, sectors: u64) -> Result<Totals, EnduranceError> {
    let found = prepared.footprint(sectors).map_err(Failure::Workload)?;
    let days = if spec.has_times() { found.duration_ns as f64 / 86_400e9 } else { 0.0 };
    Ok(Totals {
        written: copies(spec) * found.bytes_written as f64,
        read: copies(spec) * found.bytes_read as f64,
        days,
        touched: found.bytes() as f64,
    })
}
