//! What is measured of a run, by name.

use crate::result::RunResult;
use ssd::flash::op::{Cause, OpKind};
use ssd::signals::Priority;
use ssd::{DriveConfig, Part, Stats};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

/// What metrics are made of.
pub struct Facts<'a> {
    /// The run.
    pub result: &'a RunResult,
    /// The drive's counters.
    pub stats: &'a Stats,
    /// The drive.
    pub config: &'a DriveConfig,
}

/// A number of a run.
#[derive(Clone, Copy)]
pub struct Metric {
    /// Its name.
    pub name: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// What it is.
    pub text: &'static str,
    of: How,
}

/// How a metric is found.
#[derive(Clone, Copy)]
enum How {
    /// From the run; `None` where it has no meaning.
    Made(fn(&Facts<'_>) -> Option<f64>),
    /// A counter of the drive, all of it together.
    Counted,
}

/// What axes call metrics whose texts are sentences.
const QUANTITIES: &[(&str, &str)] = &[
    ("pages_copied_beyond", "pages copied because of reads"),
    ("copied_share", "pages copied"),
    ("write_amplification", "write amplification"),
    ("reclaim_ms", "array time because of reads"),
    ("overhead_ms", "array time of all that moves data"),
    ("cleaning_ms", "array time of cleaning"),
    ("copied_per_victim", "live data of a victim"),
    ("copied_per_archive_victim", "live data of a victim of the hot archive"),
    ("copied_per_other_victim", "live data of another victim"),
    ("freed_unit_us", "array time of cleaning for a unit freed"),
    ("read_mean_us", "mean read latency"),
    ("read_p99_us", "p99 read latency"),
    ("read_p99_9_us", "p99.9 read latency"),
    ("read_p99_99_us", "p99.99 read latency"),
    ("read_high_p99_99_us", "p99.99 latency of high-priority reads"),
    ("read_medium_p99_99_us", "p99.99 latency of medium reads"),
    ("read_low_p99_99_us", "p99.99 latency of low reads"),
    ("read_max_us", "longest read latency"),
    ("tb_written", "host writes over life"),
    ("attempts_max", "longest page read over one without a retry"),
    ("sense_mean_us", "mean sensing time of a page read"),
    ("achieved", "saving achieved of what is possible"),
    ("flash_read_mean_us", "mean time of a page read"),
    ("iops", "throughput"),
    ("write_mean_us", "mean write latency"),
    ("wearing_weight", "wear of an erase"),
    ("wearing_weight_write", "wear for each block of host writes"),
];

impl Metric {
    /// What it is, as an axis says it, without the unit.
    pub fn quantity(&self) -> String {
        let short =
            QUANTITIES.iter().find(|(name, _)| *name == self.name).map_or(self.text, |(_, short)| short);
        // But names such as p99 stay small.
        let is_word = short.chars().nth(1).is_some_and(char::is_alphabetic);
        let first = short.chars().next().filter(|_| is_word);
        first.map_or_else(|| short.to_owned(), |c| format!("{}{}", c.to_uppercase(), &short[c.len_utf8()..]))
    }
}

macro_rules! metrics {
    ($($name:literal, $unit:literal, $text:literal, $of:expr;)+) => {
        const MADE: &[Metric] = &[$(Metric { name: $name, unit: $unit, text: $text, of: How::Made($of) }),+];
    };
}

metrics! {
    "pages_copied", "pages", "pages programmed because of reads", |f| Some(sum(f, programs, is_due_to_reads));
    "pages_copied_all", "pages", "pages programmed to move data, for whatever reason", |f| {
        Some(sum(f, programs, is_overhead))
    };
    "pages_copied_beyond", "pages", "the same, minus those of the study's technique `beyond`", |_| None;
    "copies_bound", "pages", "what every policy must program to move data, whatever it does", |_| None;
    "copied_share", "%", "pages copied, relative to the study's technique `over`", |_| None;
    "write_amplification", "", "bytes programmed for each byte that the host wrote", |f| f.result.write_amplification;
    "extra_ops", "operations", "reads, programs and erases of all that moves data", |f| {
        let reads = sum(f, |f, cause| ops(f, OpKind::Read, cause), is_overhead);
        let erases = sum(f, |f, cause| ops(f, OpKind::Erase, cause), is_overhead);
        Some(reads + sum(f, programs, is_overhead) + erases)
    };
    "erases", "blocks", "blocks erased, for whatever reason", |f| {
        Some(f.stats.ops(OpKind::Erase) as f64)
    };
    "erases_by_reads", "blocks", "blocks erased because of reads", |f| {
        Some(erases_by_reads(f))
    };
    "reclaim_ms", "ms", "array time of reads, programs and erases that are due to reads", |f| {
        Some(array_ms(f, is_due_to_reads))
    };
    "service_p50_ms", "ms", "median time of a reclaim, until its last page has arrived", |f| {
        service_ms(f, f.result.ftl.read_reclaim.service_ns.p50)
    };
    "service_p99_ms", "ms", "99 % of them", |f| service_ms(f, f.result.ftl.read_reclaim.service_ns.p99);
    "service_max_ms", "ms", "the longest of them", |f| service_ms(f, f.result.ftl.read_reclaim.service_ns.max);
    "migration_ms", "ms", "array time of reads, programs and erases of whole blocks that move because of reads", |f| {
        Some(array_ms(f, |cause| cause == Cause::ReadReclaim))
    };
    "replica_share", "%", "share of replicas in the array time that is due to reads", |f| {
        let all = array_ms(f, is_due_to_reads);
        (all > 0.0).then(|| 100.0 - 100.0 * array_ms(f, |cause| cause == Cause::ReadReclaim) / all)
    };
    "overhead_ms", "ms", "array time of all that moves data", |f| Some(array_ms(f, is_overhead));
    "cleaning_ms", "ms", "array time of reads, programs and erases of cleaning", |f| {
        Some(array_ms(f, |cause| cause == Cause::Cleaning))
    };
    "copied_per_victim", "units", "live mapping units in a block when cleaning began to empty it", |f| {
        copied_per_victim(f, 0..f.stats.ftl.victims.len())
    };
    "freed_unit_us", "us", "array time of cleaning for each mapping unit that it freed", |f| {
        let (victims, units): (u64, u64) = (f.stats.ftl.victims.iter().sum(), f.stats.ftl.victim_units.iter().sum());
        let freed = (victims * f.config.data_units_per_block()).saturating_sub(units);
        (freed > 0).then(|| 1e3 * array_ms(f, |cause| cause == Cause::Cleaning) / freed as f64)
    };
    "copied_per_archive_victim", "units", "live mapping units in a block of the hot archive of `ids` when cleaning \
        began to empty it", |f| copied_per_victim(f, ARCHIVE..ARCHIVE + 1);
    "copied_per_other_victim", "units", "the same of all other blocks", |f| copied_per_victim(f, 0..ARCHIVE);
    "second_stream", "%", "share of the second stream (the hot archive of `ids`) in the units programmed", |f| {
        let units = &f.stats.ftl.stream_units;
        let all: u64 = units.iter().sum();
        (all > 0).then(|| 100.0 * units[1] as f64 / all as f64)
    };
    "reclaim_share", "%", "share of reads in the array time of all that moves data", |f| {
        let all = array_ms(f, is_overhead);
        (all > 0.0).then(|| 100.0 * array_ms(f, is_due_to_reads) / all)
    };
    "pages_per_erase", "pages", "pages moved because of reads for each block erased because of reads", |f| {
        let erases = erases_by_reads(f);
        (erases > 0.0).then(|| sum(f, programs, is_due_to_reads) / erases)
    };
    "read_mean_us", "us", "mean latency of reads", |f| timed(f, f.result.latency_ns.read.mean.map(|ns| ns / 1e3));
    "read_p99_us", "us", "99 % of reads take no longer", |f| percentile(f, f.result.latency_ns.read.p99);
    "read_p99_9_us", "us", "99.9 % of reads take no longer", |f| {
        percentile(f, f.result.latency_ns.read.p99_9)
    };
    "read_p99_99_us", "us", "99.99 % of reads take no longer", |f| {
        percentile(f, f.result.latency_ns.read.p99_99)
    };
    "read_high_mean_us", "us", "mean latency of high-priority reads", |f| {
        timed(f, f.result.latency_ns.read_by_priority[Priority::High].mean.map(|ns| ns / 1e3))
    };
    "read_high_p99_99_us", "us", "99.99 % of high-priority reads take no longer", |f| {
        percentile(f, f.result.latency_ns.read_by_priority[Priority::High].p99_99)
    };
    "read_medium_p99_99_us", "us", "99.99 % of medium reads take no longer", |f| {
        percentile(f, f.result.latency_ns.read_by_priority[Priority::Medium].p99_99)
    };
    "read_low_p99_99_us", "us", "99.99 % of low reads take no longer", |f| {
        percentile(f, f.result.latency_ns.read_by_priority[Priority::Low].p99_99)
    };
    "high_delayed", "%", "share of high-priority page reads that waited while their die worked for a lower one", |f| {
        let high = f.result.latency_ns.read_by_priority[Priority::High].count as f64;
        let delayed = f.result.flash.dies.priority.delayed_by_lower[Priority::High] as f64;
        (high > 0.0).then(|| 100.0 * delayed / high)
    };
    "high_wait", "x", "wait of high-priority reads at the 99.9th percentile, relative to the shortest", |f| {
        let high = &f.result.latency_ns.read_by_priority[Priority::High];
        let (least, long) = (high.min? as f64, high.p99_9? as f64);
        timed(f, (least > 0.0).then(|| long / least - 1.0))
    };
    "suspends_per_erase", "", "suspends of an erase, on average", |f| f.result.flash.dies.suspends.per_erase.mean;
    "at_once_per_erase", "", "those at once", |f| f.result.flash.dies.suspends.per_erase.at_once_mean;
    "read_peak", "x", "the longest read over the mean read", |f| {
        let read = &f.result.latency_ns.read;
        timed(f, read.mean.filter(|mean| *mean > 0.0).and_then(|mean| Some(read.max? as f64 / mean)))
    };
    "tb_written", "TB", "terabytes that the host had written when the drive was worn out", |f| f.result.lifetime.tbw;
    "attempts_max", "x", "the most attempts of a page read, for whatever reason: its time without waiting over the \
        shortest (RealWear equation 2.2)", |f| f.result.flash.retries.max.map(|most| f64::from(most) + 1.0);
    "retries_mean", "retries", "failed attempts of a page read, on average", |f| f.result.flash.retries.mean;
    "retries_max", "retries", "the most of a page read", |f| f.result.flash.retries.max.map(f64::from);
    "retries_min", "retries", "the least of a page read", |f| {
        let least = f.result.flash.retries.histogram.iter().position(|&reads| reads > 0)?;
        Some(least as f64)
    };
    "retries_over_two", "reads", "page reads with three retries or more", |f| {
        f.result.flash.retries.max.map(|_| f.result.flash.retries.histogram.iter().skip(3).sum::<u64>() as f64)
    };
    "read_max_us", "us", "the longest read", |f| percentile(f, f.result.latency_ns.read.max);
    "uncorrectable", "reads", "page reads that no attempt could correct", |f| {
        Some(f.stats.flash.uncorrectable.iter().sum::<u64>() as f64)
    };
    "lost_units", "units", "mapping units whose data was lost", |f| Some(f.stats.ftl.lost_units as f64);
    "premature_share", "%", "share of pages moved because of reads that had seen less than half of what \
                             they endure",
        |f| {
            let work = &f.result.ftl.read_reclaim;
            (work.pages > 0).then(|| 100.0 * work.premature_pages as f64 / work.pages as f64)
        };
    "disturbed_max", "%", "the most reads that a page had seen when it was moved because of them, relative \
                           to what it endures", |f| {
        f.result.ftl.read_reclaim.most_disturbed.map(|share| 100.0 * share)
    };
    "memory_mib", "MiB", "tables that the technique needs", |f| {
        Some(f.result.ftl.read_reclaim.table_bytes as f64 / 1_048_576.0)
    };
    "separation_mib", "MiB", "memory for separating data by streams, with what it knew in advance", |f| {
        Some(f.result.ftl.stream.memory_bytes as f64 / 1_048_576.0)
    };
    "heat_mib", "MiB", "memory for counting reads for the choice of page types", |f| {
        Some(f.result.ftl.heat.table_bytes as f64 / 1_048_576.0)
    };
    "lsb_reads", "%", "share of LSB pages (the lowest) in the pages read for the host", |f| page_type_share(f, 0);
    "csb_reads", "%", "share of the second page type", |f| page_type_share(f, 1);
    "msb_reads", "%", "share of the third page type", |f| page_type_share(f, 2);
    "pa_reads", "%", "share of P_a pages (the lowest type of QLC) in the pages read for the host", |f| {
        page_type_share(f, 0)
    };
    "pb_reads", "%", "share of P_b pages", |f| page_type_share(f, 1);
    "pc_reads", "%", "share of P_c pages", |f| page_type_share(f, 2);
    "pd_reads", "%", "share of P_d pages (the highest type)", |f| page_type_share(f, 3);
    "thresholds_mean", "", "thresholds of a page read for the host, on average", |f| {
        let (code, reads) = (f.config.gray_code(), &f.stats.ftl.host_reads_by_type);
        let all: u64 = reads.iter().sum();
        let sensed = code.iter().zip(reads).map(|(row, &reads)| row.len() as f64 * reads as f64);
        (all > 0).then(|| sensed.sum::<f64>() / all as f64)
    };
    "sense_mean_us", "us", "sensing of a page read for the host, on average, by the part's times", |f| {
        sense_us(f, &f.stats.ftl.host_reads_by_type)
    };
    "read_saved", "%", "how much less that is than for reads spread evenly over the page types", |f| {
        let even = sense_us(f, &[1; 4])?;
        Some(100.0 - 100.0 * sense_us(f, &f.stats.ftl.host_reads_by_type)? / even)
    };
    "achieved", "%", "what was saved compared with reads spread evenly over page types, as a share of what \
                      the best placement saves", |_| {
        None
    };
    "maximum_at", "", "where in a series of phases `achieved` first comes within a point of its \
                       maximum", |_| None;
    "levels_mean", "levels", "first sensing levels at each threshold of pages read for the host, on average", |f| {
        let (levels, reads) = (&f.config.cells.modes.levels, &f.stats.flash.host_reads_by_mode);
        let all: u64 = reads.iter().take(levels.len()).sum();
        let sensed = levels.iter().zip(reads).map(|(levels, &reads)| levels * reads as f64);
        (all > 0).then(|| sensed.sum::<f64>() / all as f64)
    };
    "flash_read_mean_us", "us", "sensing, transfer and decoding of a page read for the host, on average", |f| {
        flash_read_us(f, &[Part::Array, Part::Transfer, Part::Decode])
    };
    "flash_wait_mean_us", "us", "average wait of such a read for its die and channel", |f| {
        flash_read_us(f, &[Part::DieWait, Part::ChannelWait])
    };
    "iops", "requests/s", "requests served a second", |f| timed(f, f.result.iops.all);
    "copies_inside", "%", "share of pages copied inside the chips in the pages that moved", |f| {
        let work = &f.result.ftl.migration;
        let all = work.copybacks + work.off_chip;
        (all > 0).then(|| 100.0 * work.copybacks as f64 / all as f64)
    };
    "page_locks", "pages", "pages locked by their flags", |f| {
        Some(f.result.ftl.sanitize.page_locks as f64)
    };
    "block_locks", "blocks", "physical blocks locked as a whole", |f| {
        Some(f.result.ftl.sanitize.block_locks as f64)
    };
    "write_mean_us", "us", "mean latency of writes", |f| timed(f, f.result.latency_ns.write.mean.map(|ns| ns / 1e3));
    "wearing_weight", "", "wear of an erase on average, by the program mode of the block", |f| {
        f.result.wearing_weight.per_erase
    };
    "wearing_weight_write", "", "the same of all erases, for each block's worth of data that the host wrote", |f| {
        f.result.wearing_weight.per_write
    };
    "high_reads", "%", "share of boosted blocks in the pages read for the host", |f| {
        f.result.ftl.program_mode.share_of_reads("high").map(|share| 100.0 * share)
    };
    "low_reads", "%", "share of blocks with reduced voltages in the pages read for the host", |f| {
        f.result.ftl.program_mode.share_of_reads("low").map(|share| 100.0 * share)
    };
    "high_erases", "%", "share of boosted blocks in the blocks erased", |f| {
        f.result.ftl.program_mode.share_of_blocks("high").map(|share| 100.0 * share)
    };
    "low_erases", "%", "share of blocks with reduced voltages in the blocks erased", |f| {
        f.result.ftl.program_mode.share_of_blocks("low").map(|share| 100.0 * share)
    };
    "uv_files", "files", "files that were never overwritten nor deleted, with data in flash", |f| {
        f.result.versions.as_ref().map(|versions| versions.uv.files as f64)
    };
    "mv_files", "files", "files that were overwritten or deleted", |f| {
        f.result.versions.as_ref().map(|versions| versions.mv.files as f64)
    };
    "uv_vaf_mean", "", "most invalid over most valid units of a file of one version, on average", |f| {
        f.result.versions.as_ref()?.uv.vaf.mean
    };
    "uv_vaf_max", "", "the same at most", |f| f.result.versions.as_ref()?.uv.vaf.max;
    "uv_t_insecure_mean", "fills", "drive writes while a file of one version had invalid units, on average", |f| {
        f.result.versions.as_ref()?.uv.t_insecure.mean
    };
    "uv_t_insecure_max", "fills", "the same at most", |f| f.result.versions.as_ref()?.uv.t_insecure.max;
    "uv_vaf_by_moves_mean", "", "the same of copies alone that moves have left, on average", |f| {
        f.result.versions.as_ref()?.uv.by_moves.vaf.mean
    };
    "uv_t_insecure_by_moves_mean", "fills", "drive writes while such a file had those copies, on average", |f| {
        f.result.versions.as_ref()?.uv.by_moves.t_insecure.mean
    };
    "uv_vaf_of_run_mean", "", "the same of files alone that were created in the run, on average", |f| {
        f.result.versions.as_ref()?.uv.of_run.vaf.mean
    };
    "uv_t_insecure_of_run_mean", "fills", "drive writes while such a file had invalid units, on average", |f| {
        f.result.versions.as_ref()?.uv.of_run.t_insecure.mean
    };
    "mv_vaf_mean", "", "most invalid over most valid units of a file of several versions, on average", |f| {
        f.result.versions.as_ref()?.mv.vaf.mean
    };
    "mv_vaf_max", "", "the same at most", |f| f.result.versions.as_ref()?.mv.vaf.max;
    "mv_t_insecure_mean", "fills", "drive writes while a file of several versions had invalid units, on average", |f| {
        f.result.versions.as_ref()?.mv.t_insecure.mean
    };
    "mv_t_insecure_max", "fills", "the same at most", |f| f.result.versions.as_ref()?.mv.t_insecure.max;
    "buffer_hits", "%", "share of mapping units read from DRAM", |f| {
        let all = f.result.buffer.hits + f.result.buffer.misses;
        (all > 0).then(|| 100.0 * f.result.buffer.hits as f64 / all as f64)
    };
}

/// All metrics: those above, and every counter of the drive by its key, but for histograms: the sum of one is how many
/// things were counted, not how often what it is called after has happened.
pub static METRICS: LazyLock<Vec<Metric>> = LazyLock::new(|| {
    let is_histogram = |key: &str| key.ends_with(".histogram");
    let all = Stats::all_counters().filter(move |counter| !counter.told_in.is_some_and(is_histogram));
    let counted = all.map(|counter| Metric {
        name: counter.key,
        unit: counter.unit,
        text: counter.doc,
        of: How::Counted,
    });
    MADE.iter().copied().chain(counted).collect()
});

/// Names of all metrics.
pub fn names() -> Vec<&'static str> {
    METRICS.iter().map(|metric| metric.name).collect()
}

/// The metric of that name.
pub fn metric(name: &str) -> Option<&'static Metric> {
    METRICS.iter().find(|metric| metric.name == name)
}

/// All metrics that have a meaning, by name.
pub(super) fn measure(facts: &Facts<'_>) -> BTreeMap<String, f64> {
    let counters: BTreeMap<_, _> =
        facts.stats.counters().map(|(counter, count)| (counter.key, count.sum() as f64)).collect();
    let value = |metric: &Metric| match metric.of {
        How::Made(of) => of(facts),
        How::Counted => counters.get(metric.name).copied(),
    };
    let values = METRICS.iter().map(|metric| (metric.name.to_owned(), value(metric)));
    values.filter_map(|(name, value)| Some((name, value.filter(|value| value.is_finite())?))).collect()
}

/// The class of the hot archive of `ids`.
const ARCHIVE: usize = 2;

/// Live units of a victim of some classes, on average.
fn copied_per_victim(facts: &Facts<'_>, classes: Range<usize>) -> Option<f64> {
    let ftl = &facts.stats.ftl;
    let victims: u64 = ftl.victims[classes.clone()].iter().sum();
    (victims > 0).then(|| ftl.victim_units[classes].iter().sum::<u64>() as f64 / victims as f64)
}

fn ops(facts: &Facts<'_>, kind: OpKind, cause: Cause) -> u64 {
    facts.stats.flash.ops[kind as usize][cause as usize]
}

/// Pages programmed for a cause, by whatever means.
fn programs(facts: &Facts<'_>, cause: Cause) -> u64 {
    facts.stats.pages_programmed(cause)
}

/// Whether work is due to reads.
fn is_due_to_reads(cause: Cause) -> bool {
    matches!(cause, Cause::ReadReclaim | Cause::Replication)
}

/// Whether work moves data, for whatever reason.
fn is_overhead(cause: Cause) -> bool {
    cause != Cause::Host
}

/// A count over some causes.
fn sum(facts: &Facts<'_>, count: impl Fn(&Facts<'_>, Cause) -> u64, of: impl Fn(Cause) -> bool) -> f64 {
    Cause::ALL.iter().filter(|cause| of(**cause)).map(|cause| count(facts, *cause)).sum::<u64>() as f64
}

fn erases_by_reads(facts: &Facts<'_>) -> f64 {
    sum(facts, |facts, cause| ops(facts, OpKind::Erase, cause), is_due_to_reads)
}

fn page_type_share(facts: &Facts<'_>, page_type: usize) -> Option<f64> {
    let reads = &facts.stats.ftl.host_reads_by_type;
    let all: u64 = reads.iter().sum();
    (all > 0).then(|| 100.0 * reads[page_type] as f64 / all as f64)
}

/// Time of the array for a page read on average, where so many of each page type are read.
fn sense_us(facts: &Facts<'_>, reads: &[u64]) -> Option<f64> {
    let (code, timing) = (facts.config.gray_code(), &facts.config.timing);
    let time = |(at, row): (usize, &Vec<u32>)| match timing.t_read_us.as_slice() {
        [] => timing.t_read_base_us + timing.t_sense_us * row.len() as f64,
        [all] => *all,
        each => each[at.min(each.len() - 1)],
    };
    let reads = &reads[..code.len().min(reads.len())];
    let all: u64 = reads.iter().sum();
    let spent = code.iter().enumerate().map(time).zip(reads).map(|(time, &reads)| time * reads as f64);
    (all > 0).then(|| spent.sum::<f64>() / all as f64)
}

/// Time of the array for some causes, by the mean times of the part: what the papers call execution time.
fn array_ms(facts: &Facts<'_>, of: impl Fn(Cause) -> bool) -> f64 {
    let mean = |times: &[f64]| times.iter().sum::<f64>() / times.len().max(1) as f64;
    let timing = &facts.config.timing;
    let program = facts.config.program_us_per_page(&timing.t_program_us);
    let read = mean(&timing.t_read_us);
    let of_cause = |cause: Cause| {
        ops(facts, OpKind::Read, cause) as f64 * read
            + (programs(facts, cause) as f64 + more_of_modes(facts, cause)) * program
            + ops(facts, OpKind::Erase, cause) as f64 * timing.t_erase_us
    };
    Cause::ALL.iter().filter(|cause| of(**cause)).map(|cause| of_cause(*cause)).sum::<f64>() / 1e3
}

/// Program times that pages in read-resistant modes take on top of those of the normal mode.
fn more_of_modes(facts: &Facts<'_>, cause: Cause) -> f64 {
    // Only moves because of reads choose a mode.
    if cause != Cause::ReadReclaim {
        return 0.0;
    }
    let factors = &facts.config.cells.modes.program_time;
    let Some(own) = factors.first() else { return 0.0 };
    let more = |(pages, factor): (&u64, &f64)| *pages as f64 * (factor / own - 1.0);
    facts.stats.ftl.dealt_pages.iter().zip(factors).map(more).sum()
}

/// Times of reclaims, where there are any.
fn service_ms(facts: &Facts<'_>, ns: Option<u64>) -> Option<f64> {
    timed(facts, ns.map(|ns| ns as f64 / 1e6))
}

/// A time, where time passes.
fn timed(facts: &Facts<'_>, us: Option<f64>) -> Option<f64> {
    us.filter(|_| facts.result.executor == "timed")
}

/// Time in some parts of reads, for each page read for the host; where each read is of one page.
fn flash_read_us(facts: &Facts<'_>, parts: &[Part]) -> Option<f64> {
    let pages = ops(facts, OpKind::Read, Cause::Host);
    let spent: u64 = parts.iter().map(|&part| facts.result.breakdown_ns.read[part].sum).sum();
    timed(facts, (pages > 0).then(|| spent as f64 / pages as f64 / 1e3))
}

fn percentile(facts: &Facts<'_>, ns: Option<u64>) -> Option<f64> {
    timed(facts, ns.map(|ns| ns as f64 / 1e3))
}
