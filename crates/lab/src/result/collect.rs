//! From counters and measurements to a result.

use crate::base::by::{Axis, By};
use crate::base::process::peak_rss_bytes;
use crate::measure::latency_counts::LatencyCounts;
use crate::measure::meter::{KINDS, Kind, Meter, ratio};
use crate::plan::policies::ExternalPolicy;
use crate::plan::settings::{self, Settings};
use crate::plan::spec::LoopMode;
use crate::result::block_age::AgeWork;
use crate::result::caution::Caution;
use crate::result::facts::Facts;
use crate::result::judge;
use crate::result::lifetime::Lifetime;
use crate::result::migration::MigrationWork;
use crate::result::modes::{HostWork, ProgramModeWork, WearingWeight};
use crate::result::page_class::{HeatWork, PageClassWork};
use crate::result::problems;
use crate::result::regimes;
use crate::result::remarks;
use crate::result::retries::Retries;
use crate::result::sanitize::SanitizeWork;
use crate::result::separation::StreamWork;
use crate::result::slc::SlcWork;
use crate::result::suspends::DieWork;
use crate::result::time_spent::TimeSpent;
use crate::result::{
    BufferWork, Busy, Distribution, DriveSize, EraseCount, FORMAT, FlashWork, FtlWork, JobResult, Latencies,
    Rates, ReadReclaimWork, RunResult, Together, Utilisation, Victims, version,
};
use hdrhistogram::Histogram;
use ssd::flash::op::{Cause, OpKind};
use ssd::ftl::ServiceTimes;
use ssd::{DriveConfig, Executor, OpCode, Part, Stats, Status};
use std::collections::BTreeMap;
use workload::Remark;

/// Steps of a distribution for each halving of the distance to 100 %.
const STEPS_PER_HALVING: u32 = 4;

impl Distribution {
    /// Of latencies with their exact sum, least and greatest.
    pub(crate) fn of(latencies: &Histogram<u64>, sum: u128, min: u64, max: u64) -> Self {
        let count = latencies.len();
        if count == 0 {
            return Self::default();
        }
        // The histogram knows the upper end of a step; nothing is shorter or longer than what came.
        let within = |value: u64| value.clamp(min, max);
        let percentile = |percent: f64| Some(within(latencies.value_at_percentile(percent)));
        let steps = latencies.iter_quantiles(STEPS_PER_HALVING);
        Distribution {
            count,
            mean: ratio(sum as f64, count as f64),
            min: Some(min),
            p50: percentile(50.0),
            p99: percentile(99.0),
            p99_9: percentile(99.9),
            p99_99: percentile(99.99),
            max: Some(max),
            percentiles: steps.map(|at| (at.quantile() * 100.0, within(at.value_iterated_to()))).collect(),
        }
    }

    /// From the steps in which the drive counts.
    fn of_services(times: &ServiceTimes) -> Self {
        if times.count == 0 {
            return Self::default();
        }
        let mut so_far = 0;
        let steps = times.steps().map(|(longest, count)| {
            so_far += count;
            (100.0 * so_far as f64 / times.count as f64, longest.clamp(times.min_ns, times.max_ns))
        });
        let percentiles: Vec<(f64, u64)> = steps.collect();
        let percentile = |percent: f64| {
            let found = percentiles.iter().find(|(reached, _)| *reached >= percent);
            found.map(|(_, longest)| *longest)
        };
        Distribution {
            count: times.count,
            mean: ratio(times.sum_ns as f64, times.count as f64),
            min: Some(times.min_ns),
            p50: percentile(50.0),
            p99: percentile(99.0),
            p99_9: percentile(99.9),
            p99_99: percentile(99.99),
            max: Some(times.max_ns),
            percentiles,
        }
    }

    /// The same of latencies as they are counted; where there is none the greatest is below the least.
    pub(crate) fn of_counts(latencies: &LatencyCounts, sum: u128, min: u64, max: u64) -> Self {
        if min > max {
            return Self::default();
        }
        Self::of(&latencies.histogram(), sum, min, max)
    }

    fn of_kind(kind: &Kind) -> Self {
        Self::of_counts(&kind.latencies, kind.latency_sum(), kind.min, kind.max)
    }
}

impl Latencies {
    fn of(meter: &Meter) -> Self {
        let mut latencies = LatencyCounts::new();
        let (mut sum, mut min, mut max) = (0, u64::MAX, 0);
        for kind in KINDS.map(|op| meter.kind(op)) {
            latencies.add(&kind.latencies);
            (sum, min, max) = (sum + kind.latency_sum(), min.min(kind.min), max.max(kind.max));
        }
        Latencies {
            all: Distribution::of_counts(&latencies, sum, min, max),
            read: Distribution::of_kind(meter.kind(OpCode::Read)),
            read_by_priority: By::new(|priority| {
                let (latencies, sum, min, max) = meter.class(priority);
                Distribution::of_counts(latencies, sum, min, max)
            }),
            write: Distribution::of_kind(meter.kind(OpCode::Write)),
            trim: Distribution::of_kind(meter.kind(OpCode::Trim)),
            flush: Distribution::of_kind(meter.kind(OpCode::Flush)),
        }
    }
}

impl FlashWork {
    fn of(stats: &Stats) -> Self {
        let ops = |kind: OpKind| By::new(|cause: Cause| stats.flash.ops[kind as usize][cause.index()]);
        let bytes = stats.programmed_bytes();
        FlashWork {
            reads: ops(OpKind::Read),
            programs: ops(OpKind::Program),
            erases: ops(OpKind::Erase),
            copybacks: ops(OpKind::Copyback),
            multi_plane_groups: stats.flash.groups,
            pages_per_program: Together::of(stats, OpKind::Program),
            pages_per_read: Together::of(stats, OpKind::Read),
            program_fails: stats.flash.program_fails,
            erase_fails: stats.flash.erase_fails,
            bytes_programmed: By::new(|cause: Cause| bytes[cause.index()]),
            retries: Retries::of(&stats.flash.retries, [stats.flash.beyond_bound, stats.flash.bound_broken]),
            uncorrectable: By::new(|cause: Cause| stats.flash.uncorrectable[cause.index()]),
            dies: DieWork::of(&stats.flash),
        }
    }
}

impl Together {
    fn of(stats: &Stats, kind: OpKind) -> Self {
        let together = |of: fn(Cause) -> bool| stats.flash.together(kind, of);
        Together {
            host: together(Cause::is_for_host),
            moves: together(|cause| !cause.is_for_host() && cause != Cause::Parity),
        }
    }
}

impl FtlWork {
    fn of(stats: &Stats, drive: &ssd::Drive, config: &DriveConfig) -> Self {
        let counts = &stats.ftl;
        let read_reclaim = ReadReclaimWork {
            policy: config.read_reclaim.name().to_owned(),
            pages: counts.reclaimed_pages,
            premature_pages: counts.premature_pages,
            most_disturbed: (counts.reclaimed_pages > 0)
                .then(|| f64::from(counts.disturbed_q12_max) / 4096.0),
            table_bytes: drive.reports().table_bytes().read_reclaim as u64,
            service_ns: Distribution::of_services(&counts.services),
            replica_reads: counts.replica_reads,
            replicas_adopted: counts.replicas_adopted,
            replicas_failed: counts.replicas_failed,
        };
        FtlWork {
            read_reclaim,
            host_units: counts.host_units,
            moved_units: By::new(|cause: Cause| counts.moved_units[cause.index()]),
            padded_units: counts.padded_units.iter().sum(),
            parity_units: counts.parity_units,
            padded_units_by_cause: By::new(|cause: Cause| counts.padded_units[cause.index()]),
            trimmed_units: counts.trimmed_units,
            lost_units: counts.lost_units,
            reclaimed_blocks: counts.reclaimed_blocks,
            retired_blocks: counts.retired_blocks,
            stream: StreamWork::of(stats, drive, config),
            page_class: PageClassWork::of(stats, config),
            heat: HeatWork::of(stats, drive),
            slc: SlcWork::of(stats, drive, config),
            age: AgeWork::of(stats, drive, config),
            migration: MigrationWork::of(stats, config),
            sanitize: SanitizeWork::of(stats, drive, config),
            victims: Victims::of(stats),
            program_mode: ProgramModeWork::of(stats, config),
            gc_time_ns: gc_time_ns(stats, config),
        }
    }
}

impl Victims {
    fn of(stats: &Stats) -> Self {
        let counts = &stats.ftl;
        let classes = counts.victims.iter().rposition(|&count| count > 0).map_or(0, |last| last + 1);
        let copied = counts.victim_units.iter().zip(&counts.victims);
        Victims {
            count: counts.victims[..classes].to_vec(),
            dead: counts.dead_victims[..classes].to_vec(),
            copied_mean: copied.take(classes).map(|(units, all)| ratio(*units as f64, *all as f64)).collect(),
            histogram: if classes > 0 { counts.victims_by_live.to_vec() } else { Vec::new() },
        }
    }
}

/// Time of flash operations for cleaning, one after the other.
fn gc_time_ns(stats: &Stats, config: &DriveConfig) -> u64 {
    let mean_ns = |us: &[f64]| us.iter().sum::<f64>() / us.len().max(1) as f64 * 1e3;
    let timing = &config.timing;
    let (read, program) =
        (mean_ns(&config.t_read_us()), config.program_us_per_page(&config.t_program_us()) * 1e3);
    let ops = |kind: OpKind| stats.flash.ops[kind as usize][Cause::Cleaning.index()] as f64;
    let copies = ops(OpKind::Copyback) * (read + program);
    let moved = ops(OpKind::Read) * read + ops(OpKind::Program) * program;
    (copies + moved + ops(OpKind::Erase) * timing.t_erase_us * 1e3) as u64
}

impl BufferWork {
    fn of(stats: &Stats) -> Self {
        let counts = &stats.host;
        let mut work = BufferWork {
            hits: counts.buffer_hits,
            misses: counts.buffer_misses,
            unmapped_reads: counts.unmapped_reads,
            unmapped_read_share: None,
            stalls: counts.buffer_stalls,
            overwrites: counts.buffer_overwrites,
            read_ahead_units: counts.read_ahead,
            read_ahead_awaited: counts.read_ahead_awaited,
            read_ahead_hits: counts.read_ahead_hits,
        };
        work.unmapped_read_share = ratio(work.unmapped_reads as f64, work.units_read() as f64);
        work
    }
}

impl EraseCount {
    fn of(facts: &Facts<'_>, erases: u64) -> Self {
        let wear = facts.drive.health().wear;
        let mean = ratio(wear.total as f64, f64::from(wear.blocks)).unwrap_or(0.0);
        let (min, max, total) = (wear.min, wear.max, wear.total);
        // What was there before is in all other counts.
        let of_run = ratio(erases as f64, facts.config.used_blocks() as f64).unwrap_or(0.0);
        EraseCount { min, mean, of_run, max, total, blocks: wear.blocks, retired: wear.retired }
    }
}

impl Busy {
    fn of(busy_ns: &[u64], time_ns: u64) -> Self {
        let time = time_ns as f64;
        let all: u64 = busy_ns.iter().sum();
        let most = busy_ns.iter().copied().max().unwrap_or(0);
        Busy { mean: ratio(all as f64, time * busy_ns.len() as f64), max: ratio(most as f64, time) }
    }
}

/// Rates of a count, in `scale` per nanosecond: of kinds together, of reads, of writes.
fn rates(meter: &Meter, together: &[OpCode], scale: f64, count: impl Fn(&Kind) -> u64) -> Rates {
    let time = meter.simulated_ns() as f64;
    let rate = |ops: &[OpCode]| {
        let total: u64 = ops.iter().map(|&op| count(meter.kind(op))).sum();
        ratio(total as f64 * scale, time)
    };
    Rates { all: rate(together), read: rate(&[OpCode::Read]), write: rate(&[OpCode::Write]) }
}

/// Requests in the drive on average over time, by Little's law: the time they spent there over the time that passed.
fn in_flight_mean(meter: &Meter) -> Option<f64> {
    let inside = |kind: &Kind| kind.latency_sum() - kind.part_sum(Part::HostQueue.index());
    let sum: u128 = KINDS.iter().map(|&op| inside(meter.kind(op))).sum();
    ratio(sum as f64, meter.simulated_ns() as f64)
}

impl Facts<'_> {
    /// What the drive has counted, which must agree with itself, as must what was measured of requests; and of it, what
    /// its flash has done.
    fn checked_work(&self) -> (Stats, FlashWork) {
        KINDS.iter().for_each(|&op| self.meter.kind(op).check());
        let stats = self.drive.stats();
        stats.check().unwrap_or_else(|wrong| panic!("the drive's counts do not agree: {wrong}"));
        let flash = FlashWork::of(&stats);
        (stats, flash)
    }

    /// The keys of the drive, the run and the workload.
    fn settings(&self) -> Settings {
        let mut settings = settings::of_drive(self.config);
        settings.extend(self.spec.settings.clone());
        settings
    }
}

impl DriveSize {
    fn of(facts: &Facts<'_>) -> Self {
        DriveSize {
            logical_bytes: facts.config.logical_bytes(),
            physical_bytes: facts.config.used_bytes(),
            channels: facts.config.geometry.channels,
            dies: facts.config.geometry.dies(),
            table_bytes: facts.drive.reports().table_bytes().all as u64,
        }
    }
}

impl Utilisation {
    fn of(stats: &Stats) -> Self {
        let counted_ns = stats.until.since(stats.since);
        let of_dies = stats.flash.die_busy_ns.iter().zip(&stats.flash.die_array_ns);
        let waiting_ns: Vec<u64> = of_dies.map(|(busy, array)| busy - array).collect();
        Utilisation {
            die: Busy::of(&stats.flash.die_busy_ns, counted_ns),
            array: Busy::of(&stats.flash.die_array_ns, counted_ns),
            waiting: Busy::of(&waiting_ns, counted_ns),
            channel: Busy::of(&stats.flash.channel_busy_ns, counted_ns),
        }
    }
}

/// Requests in flight on each queue, if so many are kept.
fn depth(loop_mode: LoopMode, config: &DriveConfig) -> Option<u32> {
    match loop_mode {
        LoopMode::Closed { depth: 0 } => Some(config.queues.depth),
        LoopMode::Closed { depth } => Some(depth),
        LoopMode::Jobs | LoopMode::Open => None,
    }
}

/// Requests that failed, by status.
fn failed_by_status(meter: &Meter) -> BTreeMap<String, u64> {
    meter.failed.iter().map(|(status, count)| ((*status).to_owned(), *count)).collect()
}

/// A hash as results show it: all 16 hexadecimal digits, which no reader of JSON rounds.
fn hex(hash: u64) -> String {
    format!("{hash:016x}")
}

/// Bytes over those that host writes wrote; none without such, and where nothing was programmed.
fn amplification(meter: &Meter, flash: &FlashWork, bytes: u64) -> Option<f64> {
    // All that was written may still be in the buffer.
    let is_known = flash.bytes_programmed.sum() > 0;
    ratio(bytes as f64, meter.kind(OpCode::Write).bytes as f64).filter(|_| is_known)
}

/// Requests of the whole workload, if they are known: a run that ended early has not taken them all.
fn requests_total(facts: &Facts<'_>) -> Option<u64> {
    if facts.failure.is_none() { Some(facts.served.generated) } else { facts.total }
}

/// The share of each cause in it.
fn by_cause(meter: &Meter, flash: &FlashWork) -> By<Cause, Option<f64>> {
    By::new(|cause| amplification(meter, flash, flash.bytes_programmed[cause]))
}

impl RunResult {
    /// The result of a run; `of_workload` are the workload's remarks, those on the run come behind;
    /// `jobs` is what each job got.
    pub(crate) fn collect(facts: &Facts<'_>, of_workload: Vec<Remark>, jobs: Vec<JobResult>) -> Self {
        RunResult { jobs, ..RunResult::counted(facts, facts.checked_work()) }.remarked(facts, of_workload)
    }

    /// The same without what must be known to read it.
    fn counted(facts: &Facts<'_>, (stats, flash): (Stats, FlashWork)) -> Self {
        let Facts { drive, config, spec, served, meter, cost, .. } = facts;
        RunResult {
            format: FORMAT,
            name: spec.name.clone(),
            version: version(),
            ended: facts.failure.map_or("complete".to_owned(), |why| format!("{}: {why}", why.name())),
            seed: config.drive.seed,
            config_hash: hex(config.hash()),
            workload_hash: hex(spec.workload_hash),
            event_hash: hex(drive.event_hash()),
            executor: if spec.executor == Executor::Timed { "timed" } else { "functional" }.to_owned(),
            error_model: config.errors.model.name().to_owned(),
            loop_mode: spec.loop_mode.name().to_owned(),
            depth: depth(spec.loop_mode, config),
            requests_total: requests_total(facts),
            requests_generated: served.generated,
            requests_served: served.completed,
            requests_warm_up: served.warm_up,
            requests_measured: served.completed - served.warm_up,
            requests_failed: meter.requests_failed(),
            failed_by_status: failed_by_status(meter),
            requests_uncorrectable: meter.failed.get(Status::Uncorrectable.name()).copied().unwrap_or(0),
            reads: meter.requests(OpCode::Read),
            writes: meter.requests(OpCode::Write),
            trims: meter.requests(OpCode::Trim),
            flushes: meter.requests(OpCode::Flush),
            bytes_read: meter.kind(OpCode::Read).bytes,
            bytes_written: meter.kind(OpCode::Write).bytes,
            simulated_ns: meter.simulated_ns(),
            iops: rates(meter, &KINDS, 1e9, |kind| kind.count),
            bandwidth_mb_s: rates(meter, &[OpCode::Read, OpCode::Write], 1e3, |kind| kind.bytes),
            in_flight_mean: in_flight_mean(meter),
            latency_ns: Latencies::of(meter),
            breakdown_ns: TimeSpent::of(meter),
            write_amplification: amplification(meter, &flash, flash.bytes_programmed.sum()),
            write_amplification_by_cause: by_cause(meter, &flash),
            erase_count: EraseCount::of(facts, flash.erases.sum()),
            lifetime: Lifetime::of(facts, flash.bytes_programmed.sum(), meter.simulated_ns()),
            flash,
            ftl: FtlWork::of(&stats, drive, config),
            buffer: BufferWork::of(&stats),
            host: HostWork::of(&stats, config),
            wearing_weight: WearingWeight::of(&stats, config),
            counters: stats.counters().map(|(counter, count)| (counter.key.to_owned(), count)).collect(),
            utilisation: Utilisation::of(&stats),
            drive: DriveSize::of(facts),
            versions: facts.versions.cloned(),
            preconditioning: facts.aged.clone(),
            external_policies: ExternalPolicy::of(drive),
            config: facts.settings(),
            config_origins: facts.spec.origins.clone(),
            workload_origins: facts.spec.workload_origins.clone(),
            cpu_seconds: cost.cpu.as_secs_f64(),
            wall_seconds: cost.wall.as_secs_f64(),
            requests_per_cpu_second: ratio(served.completed as f64, cost.cpu.as_secs_f64()),
            peak_rss_bytes: peak_rss_bytes(),
            ..RunResult::default()
        }
    }

    /// The same with what must be known to read it.
    fn remarked(mut self, facts: &Facts<'_>, mut remarks: Vec<Remark>) -> Self {
        self.verdict = judge::of(facts, &self);
        if self.takes_time() {
            let is_the_drives = self.verdict.is_throughput_the_drives();
            self.changes = regimes::of(facts.series, facts.meter.windows(), is_the_drives);
        }
        self.problems = problems::problems(&self);
        remarks.extend(remarks::of(facts, &self));
        self.remarks = remarks.iter().map(Remark::to_string).collect();
        self.cautions = Some(remarks.iter().filter_map(Caution::of).collect());
        self
    }
}
