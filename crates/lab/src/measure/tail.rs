//! Why the slowest requests are slow: whom they waited for, summed by steps of latency while they come, because which
//! of them are the slowest is known only at the end.

use crate::measure::meter::KINDS;
use crate::measure::steps::{STEPS, shortest, step_at, step_of};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssd::{Completion, HOLDERS, Held, Holder, PARTS, Part, SimTime, Status, Told};

/// Things that time goes to: parts of a request's way, and holders of what it waits for.
const REASONS: usize = PARTS + HOLDERS;
/// Parts that are told by who held them.
const WAITS: [Part; 6] =
    [Part::DieWait, Part::ChannelWait, Part::Suspended, Part::BufferWait, Part::LockWait, Part::Dispatch];
/// Parts in which it does not wait.
const OWN: [Part; 6] = [Part::Firmware, Part::Link, Part::Buffer, Part::Array, Part::Transfer, Part::Decode];

/// The slowest requests, and what they waited for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TailTold {
    /// The percentile of latencies above which requests are explained, for each kind.
    pub percent: f64,
    /// The slowest reads; absent if there were none.
    pub read: Option<Slowest>,
    /// The slowest writes.
    pub write: Option<Slowest>,
    /// The slowest trims.
    #[serde(default)]
    pub trim: Option<Slowest>,
    /// The slowest flushes.
    #[serde(default)]
    pub flush: Option<Slowest>,
}

impl TailTold {
    /// The slowest of each kind that there was, by its name.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = (&'static str, &Slowest)> {
        let all =
            [("reads", &self.read), ("writes", &self.write), ("trims", &self.trim), ("flushes", &self.flush)];
        all.into_iter().filter_map(|(kind, told)| Some((kind, told.as_ref()?)))
    }
}

/// The slowest requests of a kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Slowest {
    /// Number of requests.
    pub requests: u64,
    /// Their lowest latency, in ns: the percentile, and requests up to 1/32 below it.
    pub from_ns: u64,
    /// Sum of their latencies, in ns.
    pub sum_ns: u64,
    /// Where that time went, largest first; together they are the sum.
    pub reasons: Vec<Reason>,
}

/// What the slowest requests spent time on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reason {
    /// What held them up (`array.program.cleaning`: the array of their die, programming for garbage collection), or a
    /// part of their own processing (`own.array`).
    pub what: String,
    /// How much of their time, in ns.
    pub ns: u64,
    /// The same as a share, 0 to 1.
    pub share: f64,
    /// Requests that it held up longest, or that waited for nothing and spent most of their time on it.
    pub requests: u64,
    /// The longest of these.
    pub longest: Option<Example>,
    /// For `page`: what making room spent the time on, largest first, that is, what the die did or waited for whose
    /// erase freed the page; `page` again is time in which nobody made room. Together they are its time; empty for
    /// everything else.
    pub went_to: Vec<WentTo>,
}

/// What making room spent time on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WentTo {
    /// As in `reasons`.
    pub what: String,
    /// How much of the time without a free page, in ns.
    pub ns: u64,
}

/// One request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Example {
    /// When it arrived, from the start of the measurement, in ns.
    pub arrival_ns: u64,
    /// How long it took, in ns.
    pub latency_ns: u64,
    /// How much of this time that cause took, in ns.
    pub lost_ns: u64,
    /// First sector.
    pub lba: u64,
    /// Number of sectors.
    pub sectors: u32,
}

/// Requests whose latencies lie within 1/32 of each other.
#[derive(Clone)]
struct Alike {
    requests: u64,
    ns: [u64; REASONS],
    /// Requests by what they waited for most.
    most: [u32; REASONS],
    /// What making room went to while they lacked a page; ns.
    page: [u64; HOLDERS],
}

impl Alike {
    const NOTHING: Alike = Alike { requests: 0, ns: [0; REASONS], most: [0; REASONS], page: [0; HOLDERS] };
}

struct Kind {
    steps: Box<[Alike]>,
    longest: [Option<Example>; REASONS],
}

impl Kind {
    fn new() -> Self {
        Kind { steps: vec![Alike::NOTHING; STEPS].into(), longest: [None; REASONS] }
    }

    fn clear(&mut self) {
        self.steps.fill(Alike::NOTHING);
        self.longest = [None; REASONS];
    }

    fn record(&mut self, completion: &Completion, told: &Told, since: SimTime) {
        let reasons = &reasons_of(completion, &told.held);
        let latency_ns = completion.completed.since(completion.arrival);
        let alike = &mut self.steps[step_of(latency_ns)];
        alike.requests += 1;
        alike.ns.iter_mut().zip(reasons).for_each(|(sum, ns)| *sum += ns);
        if told.page.total() > 0 {
            alike.page.iter_mut().zip(told.page.ns).for_each(|(sum, ns)| *sum += ns);
        }
        let most = most_of(reasons);
        alike.most[most] += 1;
        if self.longest[most].is_none_or(|longest| longest.latency_ns < latency_ns) {
            self.longest[most] = Some(Example {
                arrival_ns: completion.arrival.since(since),
                latency_ns,
                lost_ns: reasons[most],
                lba: completion.lba.0,
                sectors: completion.sectors,
            });
        }
    }

    fn told(&self, of_million: u64) -> Option<Slowest> {
        let at = step_at(self.steps.iter().map(|alike| alike.requests), of_million)?;
        let slowest = &self.steps[at..];
        let sum = |of: &dyn Fn(&Alike) -> u64| slowest.iter().map(of).sum::<u64>();
        let sum_ns = sum(&|alike| alike.ns.iter().sum());
        let reason = |index: usize| Reason {
            what: name(index),
            ns: sum(&|alike| alike.ns[index]),
            share: sum(&|alike| alike.ns[index]) as f64 / sum_ns.max(1) as f64,
            requests: sum(&|alike| u64::from(alike.most[index])),
            longest: self.longest[index].filter(|longest| step_of(longest.latency_ns) >= at),
            went_to: if index == PARTS + Holder::PAGE.index() { went_to(slowest) } else { Vec::new() },
        };
        let mut reasons: Vec<_> = (0..REASONS).map(reason).filter(|reason| reason.ns > 0).collect();
        reasons.sort_by_key(|reason| std::cmp::Reverse(reason.ns));
        let requests = sum(&|alike| alike.requests);
        Some(Slowest { requests, from_ns: shortest(at), sum_ns, reasons })
    }
}

/// What is kept of whom requests waited for.
pub(crate) struct Tail {
    percent: f64,
    since: SimTime,
    /// The request that has completed last.
    last: Completion,
    kinds: [Kind; KINDS.len()],
}

impl Tail {
    /// Of those from this percentile of latencies on.
    pub fn new(percent: f64, since: SimTime) -> Self {
        Tail { percent, since, last: Completion::default(), kinds: KINDS.map(|_| Kind::new()) }
    }

    /// The measurement begins.
    pub fn restart(&mut self, since: SimTime) {
        self.since = since;
        self.kinds.iter_mut().for_each(Kind::clear);
    }

    /// A request has completed.
    pub fn keep(&mut self, completion: &Completion) {
        self.last = *completion;
    }

    /// The request that has completed last.
    pub fn last(&self) -> &Completion {
        &self.last
    }

    /// That is whom it has waited for.
    pub fn record(&mut self, told: &Told) {
        let completion = &self.last;
        if completion.status == Status::Ok {
            self.kinds[completion.op as usize].record(completion, told, self.since);
        }
    }

    pub fn finish(&self) -> TailTold {
        let of_million = (self.percent * 10_000.0).round() as u64;
        let [read, write, trim, flush] = self.kinds.each_ref().map(|kind| kind.told(of_million));
        TailTold { percent: self.percent, read, write, trim, flush }
    }
}

/// What making room went to while these lacked a page, most first.
fn went_to(alike: &[Alike]) -> Vec<WentTo> {
    let of = |holder: Holder| WentTo {
        what: holder.name(),
        ns: alike.iter().map(|alike| alike.page[holder.index()]).sum(),
    };
    let mut all: Vec<_> = Holder::all().map(of).filter(|part| part.ns > 0).collect();
    all.sort_by_key(|part| std::cmp::Reverse(part.ns));
    all
}

/// What a request lost most to: what it waited for, if it waited at all.
fn most_of(reasons: &[u64; REASONS]) -> usize {
    let is_wait = |at: usize| !OWN.iter().any(|&part| part as usize == at);
    (0..REASONS)
        .max_by_key(|&at| (is_wait(at) && reasons[at] > 0, reasons[at], REASONS - at))
        .unwrap_or_default()
}

/// Where the time of a request went: what it waited is told by who held that, in place of the parts.
fn reasons_of(completion: &Completion, held: &Held) -> [u64; REASONS] {
    let mut reasons = [0; REASONS];
    let (parts, holders) = reasons.split_at_mut(PARTS);
    parts.copy_from_slice(&completion.breakdown.ns);
    holders.copy_from_slice(&held.ns);
    let mut told = held.total();
    for part in WAITS {
        let ns = &mut parts[part as usize];
        let by_holders = told.min(*ns);
        (*ns, told) = (*ns - by_holders, told - by_holders);
    }
    debug_assert_eq!(told, 0, "{completion:?} has waited for somebody longer than at all");
    reasons
}

fn name(index: usize) -> String {
    match Part::ALL.get(index) {
        Some(part) => format!("own.{}", part.name()),
        None => Holder::all().nth(index - PARTS).map(Holder::name).unwrap_or_default(),
    }
}
