//! Rows for the parts of a run's requests: its jobs, its phases, several workloads together.

use crate::base::number::{bytes, count, digits, duration, si};
use crate::report::cells::{cells, or_none};
use crate::result::metrics::{POINTS, Point};
use crate::result::{Distribution, JobResult, RunResult, Share};
use crate::run::drives::DrivesResult;

/// A kind of requests: its name, and the latencies of a part's requests of that kind.
type Kind = (&'static str, fn(&Share) -> &Distribution);

/// All kinds, by their names in the table of the whole run.
const KINDS: [Kind; 4] = [
    ("read", |share| &share.latency_ns.read),
    ("write", |share| &share.latency_ns.write),
    ("trim", |share| &share.latency_ns.trim),
    ("flush", |share| &share.latency_ns.flush),
];

/// Numbers of requests that few workloads have: the head of their column, and the number.
type Rare = (&'static str, fn(&Share) -> u64);

const RARE: [Rare; 2] = [("trims", |share| share.trims), ("flushes", |share| share.flushes)];

/// The columns that parts get beside those that all have.
struct Columns {
    rare: Vec<Rare>,
    /// Kinds told apart: where no part mixes them, the latency of all of a part's requests says the same.
    kinds: Vec<Kind>,
}

impl Columns {
    fn of<'a>(shares: impl Iterator<Item = &'a Share> + Clone) -> Self {
        let is_there = |of: &Rare| shares.clone().any(|share| of.1(share) > 0);
        let has = |share: &Share, of: &Kind| of.1(share).count > 0;
        let mixes = |share: &Share| KINDS.iter().filter(|kind| has(share, kind)).count() > 1;
        let is_mixed = shares.clone().any(mixes);
        let is_told = |kind: &Kind| is_mixed && shares.clone().any(|share| has(share, kind));
        Columns {
            rare: RARE.into_iter().filter(is_there).collect(),
            kinds: KINDS.into_iter().filter(is_told).collect(),
        }
    }

    /// The head of all columns but those of kinds.
    fn head(&self, what: &str) -> Vec<String> {
        let mut head = cells([what, "from", "requests", "reads"]);
        head.extend(self.rare.iter().map(|(name, _)| (*name).to_owned()));
        head.extend(cells(["written", "IOPS", "bandwidth", "mean"]));
        head.extend(points().map(|(name, _)| (*name).to_owned()));
        head
    }

    /// The cells below [`Self::head`]; `latency` is that of all requests.
    fn row(&self, name: &str, from_ns: Option<u64>, share: &Share, latency: &Distribution) -> Vec<String> {
        let mut row = vec![name.to_owned(), ns_or_none(from_ns), count(share.requests), count(share.reads)];
        row.extend(self.rare.iter().map(|(_, number)| count(number(share))));
        row.extend([
            bytes(share.bytes_written as f64),
            or_none(share.iops.all, |rate| si(rate, "")),
            or_none(share.bandwidth_mb_s.all, |rate| si(rate * 1e6, "B/s")),
            or_none(latency.mean, duration),
        ]);
        row.extend(points().map(|(_, point)| ns_or_none(point(latency))));
        row
    }

    /// The head over the columns of kinds.
    fn kinds_head(&self) -> impl Iterator<Item = String> {
        self.kinds.iter().map(|(name, _)| format!("{name} p99"))
    }

    fn kinds_row(&self, share: &Share) -> impl Iterator<Item = String> {
        self.kinds.iter().map(|(_, of)| ns_or_none(of(share).p99))
    }
}

/// A row for each job; nothing if there are none.
pub(crate) fn job_rows(jobs: &[JobResult]) -> Vec<Vec<String>> {
    if jobs.is_empty() {
        return Vec::new();
    }
    let columns = Columns::of(jobs.iter().map(|job| &job.share));
    let has_due = jobs.iter().any(|job| job.latency_from_due_ns.is_some());
    let mut rows = vec![columns.head("job")];
    if has_due {
        rows[0].extend(["from sent: mean", "p99"].map(str::to_owned));
    }
    // Kinds come last: their latencies, too, are from when a request was sent.
    rows[0].extend(columns.kinds_head());
    for job in jobs {
        let sent = &job.share.latency_ns.all;
        // As in the table of all: from when a request was due.
        let latency = job.latency_from_due_ns.as_ref().unwrap_or(sent);
        let mut row = columns.row(&job.name, job.measured_ns, &job.share, latency);
        if has_due {
            row.extend([or_none(sent.mean, duration), ns_or_none(sent.p99)]);
        }
        row.extend(columns.kinds_row(&job.share));
        rows.push(row);
    }
    rows
}

/// A row for each of several drives, and one for their sum.
pub(crate) fn drive_rows(of: &DrivesResult) -> Vec<Vec<String>> {
    let shares: Vec<Share> = of.drives.iter().map(Share::of_run).collect();
    let sum = [&of.sum.share];
    let columns = Columns::of(shares.iter().chain(sum));
    let mut rows = vec![columns.head("drive")];
    rows[0].extend(columns.kinds_head());
    rows[0].push("write amplification".to_owned());
    let names = of.drives.iter().map(|result| (result.name.as_str(), result.write_amplification));
    let all = if of.stripe_kib.is_some() { "volume" } else { "all" };
    let names = names.chain([(all, of.sum.write_amplification)]);
    for ((name, amplification), share) in names.zip(shares.iter().chain(sum)) {
        let mut row = columns.row(name, Some(0), share, &share.latency_ns.all);
        row.extend(columns.kinds_row(share));
        row.push(or_none(amplification, digits));
        rows.push(row);
    }
    // All begin with the measurement.
    rows.iter_mut().for_each(|row| drop(row.remove(1)));
    rows
}

/// A row for each phase, or each of workloads together; nothing if the workload is of one piece.
pub(crate) fn member_rows(result: &RunResult) -> Vec<Vec<String>> {
    if result.members.is_empty() {
        return Vec::new();
    }
    let columns = Columns::of(result.members.iter().map(|member| &member.share));
    // Workloads together share the drive's work.
    let in_turn = result.members.iter().any(|member| !member.counters.is_empty());
    let mut rows = vec![columns.head(if in_turn { "phase" } else { "workload" })];
    rows[0].extend(columns.kinds_head());
    if in_turn {
        rows[0].push("write amplification".to_owned());
    }
    for member in &result.members {
        let share = &member.share;
        let mut row = columns.row(&member.name, member.start_ns, share, &share.latency_ns.all);
        row.extend(columns.kinds_row(share));
        if in_turn {
            row.push(or_none(member.write_amplification, digits));
        }
        rows.push(row);
    }
    rows
}

fn ns_or_none(value: Option<u64>) -> String {
    or_none(value, |ns| duration(ns as f64))
}

/// The points of the latency of all requests that the rows show.
fn points() -> impl Iterator<Item = &'static (&'static str, Point)> {
    POINTS.iter().filter(|(name, _)| ["p50", "p99", "p99.9", "max"].contains(name))
}
