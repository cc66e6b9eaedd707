//! A workload that was looked through: what it needs of a drive, and its requests, any number of times.

use crate::base::driven::Demand;
use crate::base::driven::Driven;
use crate::base::error::WorkloadError;
use crate::base::footprint::{Footprint, footprint};
use crate::base::input::bytes::Progress;
use crate::base::report::SourceReport;
use crate::base::request::Source;
use crate::base::shape::Alignment;
use crate::generate::mix::MixSpec;
use crate::generate::synthetic::{Arrival, Pattern, SyntheticSpec};
use crate::spec::kinds::Spec;
use crate::spec::split::Split;
use crate::stack::cached::{Cached, Filter};
use crate::stack::cached_jobs::CachedJobs;
use crate::stack::drives::Apart;
use crate::stack::kind::Ready;
use crate::stack::map_hints::{Mapped, Mapping};
use crate::stack::priorities::{Prioritised, PriorityShares};
use crate::stack::stream::Stream;
use crate::stack::stripe::{OnMember, Stripe};
use ssd::rng::mix;
use std::sync::Arc;

/// A workload that was looked through and can be opened any number of times.
pub struct Prepared {
    spec: Spec,
    ready: Arc<dyn Ready>,
    cache: Option<(f64, bool)>,
    mapping: Arc<Mapping>,
    priorities: (PriorityShares, u64),
    place: Place,
}

/// What of it a drive gets.
#[derive(Clone, Copy)]
enum Place {
    /// All.
    Whole,
    /// A piece of what a volume of several gets.
    Volume(Stripe),
    /// The pieces of one of them.
    Member(Stripe, u16),
}

impl Prepared {
    /// Of a workload that was looked through.
    pub(crate) fn of(spec: &Spec, ready: Box<dyn Ready>) -> Result<Self, WorkloadError> {
        let kind = spec.kind();
        let mapping = Arc::new(Mapping::new(&kind.map_hints().with_names(&ready.report())?));
        let place = kind.stripe().map_or(Place::Whole, Place::Volume);
        let (cache, priorities) = (kind.page_cache(), kind.priorities());
        Ok(Prepared { spec: spec.clone(), ready: Arc::from(ready), cache, mapping, priorities, place })
    }

    /// What one drive of a stripe gets, as a workload of its own: requests by their times or order, whatever the others
    /// do.
    pub fn on_member(&self, stripe: Stripe, drive: u16) -> Self {
        Prepared {
            spec: self.spec.clone(),
            ready: Arc::clone(&self.ready),
            mapping: Arc::clone(&self.mapping),
            place: Place::Member(stripe, drive),
            ..*self
        }
    }

    /// Sectors of what it sees, on drives of so many.
    fn space_of(&self, drive_sectors: u64) -> u64 {
        match self.place {
            Place::Whole => drive_sectors,
            Place::Volume(stripe) | Place::Member(stripe, _) => stripe.volume_sectors(drive_sectors),
        }
    }

    /// The smallest drive, in sectors, on which it runs unchanged: the compacted footprint or the last address of a
    /// trace, the size given for a generator or mix. `None` for one that fills a share of any drive. Of a stripe, what
    /// each of its drives must have.
    pub fn space_sectors(&self) -> Option<u64> {
        let all = self.ready.space_sectors()?;
        Some(match self.place {
            Place::Whole => all,
            Place::Volume(stripe) | Place::Member(stripe, _) => stripe.drive_sectors(all),
        })
    }

    /// Totals of one pass before repeating, copying and speeding up: of a trace at once (addresses as recorded), of a
    /// generator by running it through for a drive of so many sectors.
    pub fn footprint(&self, drive_sectors: u64) -> Result<Footprint, WorkloadError> {
        let space = self.space_of(drive_sectors);
        match (self.cache, self.place) {
            (None, Place::Whole | Place::Volume(_)) => self.ready.footprint(space),
            _ => footprint(&mut *self.placed(self.below_cache(self.ready.once(space)?, space))),
        }
    }

    /// What the first pass over a trace met, before addresses are placed; empty for a generator.
    pub fn report(&self) -> SourceReport {
        let mut report = self.ready.report();
        self.mapping.tell(&mut report);
        report
    }

    /// Identifies the workload: the requests themselves (not the file's name, compression or unused columns) and
    /// every setting that changes what a drive gets. Equal numbers mean equal requests on equal drives.
    pub fn workload_hash(&self) -> u64 {
        let (content, entries) = (self.ready.content(), self.spec.entries());
        let (content_hash, done) = content.unwrap_or((0, &[]));
        let mut hash = mix(content_hash);
        let is_single = |(key, value): &&(&str, String)| *key == "copies" && value == "1";
        let has_copies = !entries.iter().any(|entry| is_single(&entry));
        // What came to be a key later and is not used leaves the number as it was.
        let has_bursts = entries.contains(&("arrival", "\"bursts\"".to_string()));
        let has_untouched = !entries.contains(&("untouched_percent", "0.0".to_string()));
        let counts = |entry: &&(&str, String)| match entry.0 {
            "copies" => has_copies,
            // Of a trace, only the copies' gaps and drawn priorities depend on it.
            "seed" => has_copies || content.is_none() || !self.priorities.0.is_empty(),
            "drives" => entry.1 != if self.spec.is_driven() { "\"each\"" } else { "\"together\"" },
            "stripe_drives" | "stripe_kib" => self.stripe().is_some(),
            "priority_shares" => !self.priorities.0.is_empty(),
            "repeat" => entry.1 != "1" || content.is_some(),
            "burst_requests" | "burst_rate_iops" => has_bursts,
            "write_zipf_theta" | "trim_percent" => entry.1 != "0.0",
            "scatter_seed" => entry.1 != "0",
            "page_cache_mib" | "page_cache_us" => self.cache.is_some(),
            "map_hints" => !self.mapping.is_empty(),
            "untouched_percent" | "untouched_mib" => has_untouched,
            "plain_lru" => self.cache.is_some() || entry.1 != "false",
            key => !done.contains(&key),
        };
        for (key, value) in entries.iter().filter(counts) {
            let value = Alignment::said_alike(key, value, &entries);
            for byte in key.bytes().chain(*b"=").chain(value.bytes()).chain(*b"\n") {
                hash = mix(hash ^ u64::from(byte));
            }
        }
        match self.place {
            Place::Member(_, drive) => mix(hash ^ u64::from(drive)),
            Place::Whole | Place::Volume(_) => hash,
        }
    }

    /// The stream of requests for a drive of so many 512-byte sectors.
    pub fn open(&self, drive_sectors: u64) -> Result<Box<dyn Source>, WorkloadError> {
        let space = self.space_of(drive_sectors);
        let source = self.below_cache(self.ready.open(space)?, space);
        let (shares, seed) = self.priorities;
        Ok(self.placed(Prioritised::above(Mapped::above(source, &self.mapping), shares, seed)))
    }

    /// What of a stream reaches the drive.
    fn placed(&self, source: Box<dyn Source>) -> Box<dyn Source> {
        match self.place {
            Place::Member(stripe, drive) => Box::new(OnMember { source, stripe, drive }),
            Place::Whole | Place::Volume(_) => source,
        }
    }

    /// What a page cache leaves of it.
    fn below_cache(&self, source: Box<dyn Source>, drive_sectors: u64) -> Box<dyn Source> {
        match self.cache {
            None => source,
            Some((mib, is_plain)) => Box::new(Cached::new(source, Filter::new(mib, is_plain, drive_sectors))),
        }
    }

    /// The same for a workload whose requests depend on when earlier ones complete; `None` for all others.
    pub fn driven(&self, drive_sectors: u64) -> Option<Result<Box<dyn Driven>, WorkloadError>> {
        let space = self.space_of(drive_sectors);
        let driven = self.ready.driven(space)?;
        let Some((mib, is_plain)) = self.cache else { return Some(driven) };
        let filter = Filter::new(mib, is_plain, space);
        let below = |driven| CachedJobs::new(driven, filter, self.ready.hit_ns());
        Some(driven.and_then(below).map(|jobs| -> Box<dyn Driven> { Box::new(jobs) }))
    }

    /// The requests for a volume of drives of so many sectors; those that do not depend on when earlier ones complete
    /// come at their own times, or so many at a time.
    pub fn on_volume(
        &self,
        drive_sectors: u64,
        depth: Option<u64>,
    ) -> Result<Box<dyn Driven>, WorkloadError> {
        match self.driven(drive_sectors) {
            Some(driven) => driven,
            None => Ok(Box::new(Stream::new(self.open(drive_sectors)?, depth))),
        }
    }

    /// Whether it is for one drive or for several.
    pub fn split(&self) -> Split {
        match self.place {
            Place::Whole => match self.ready.apart() {
                Apart::No => Split::Whole,
                Apart::Jobs(names) => Split::Jobs(names),
                Apart::Devices(devices) => {
                    let part = |(name, number)| (name, self.spec.of_device(number));
                    Split::Parts(devices.into_iter().map(part).collect())
                }
            },
            Place::Volume(stripe) => Split::Striped(stripe),
            Place::Member(..) => Split::Whole,
        }
    }

    /// The stripe that its drives make.
    fn stripe(&self) -> Option<Stripe> {
        match self.place {
            Place::Whole => None,
            Place::Volume(stripe) | Place::Member(stripe, _) => Some(stripe),
        }
    }

    /// A job that ends by time only: where no time passes it would go on for ever.
    pub fn timed_job(&self) -> Option<&str> {
        self.ready.timed_job()
    }

    /// Of a generator whose requests are drawn one by one: the same draws with another seed, at the same hot places.
    /// If these write less than `least` times, that many writes instead, unless it matters which requests come
    /// between. `None` for all else.
    pub fn redrawn(&self, seed: u64, least: u64) -> Option<Result<Prepared, WorkloadError>> {
        let Spec::Synthetic(spec) = &self.spec else { return None };
        let mut drawn = SyntheticSpec { seed, scatter_seed: spec.scattered_by(), ..spec.clone() };
        let writes = spec.count as f64 * (1.0 - (spec.read_percent + spec.trim_percent) / 100.0);
        let is_free = spec.pattern != Pattern::Sequential && spec.hot_shift_requests == 0;
        if is_free && 0.0 < writes && writes < least as f64 {
            // Nobody looks at when they arrive.
            (drawn.read_percent, drawn.arrival) = (0.0, Arrival::Closed);
            drawn.trim_percent = 100.0 * spec.trimmed();
            drawn.count = (least as f64 / (1.0 - spec.trimmed())).ceil() as u64;
        }
        Some(Spec::Synthetic(drawn).prepare())
    }

    /// Of a mix: its writes without end, drawn with another seed, at the same hot places. Nobody looks at when they
    /// arrive. `None` for all else, also where it matters what else happens: behind a page cache, or in copies.
    pub fn endless_writes(&self, seed: u64) -> Option<Result<Prepared, WorkloadError>> {
        let Spec::Mix(spec) = &self.spec else { return None };
        if spec.cache().is_some() || spec.copies > 1 {
            return None;
        }
        let parts = spec.parts_that_write()?;
        let (scatter_seed, arrival) = (spec.scattered_by(), Arrival::Closed);
        let drawn =
            MixSpec { seed, scatter_seed, parts, arrival, repeat: 1, count: u64::MAX, ..spec.clone() };
        Some(Spec::Mix(drawn).prepare())
    }

    /// Whether its requests depend on when earlier ones complete ([`Prepared::driven`]).
    pub fn is_driven(&self) -> bool {
        self.spec.is_driven()
    }

    /// Whether it is a generator that writes each unit of a drive with the same probability, one at a time.
    pub fn writes_evenly(&self, unit_bytes: u64) -> bool {
        let Spec::Synthetic(spec) = &self.spec else { return false };
        let is_whole = spec.space_sectors().is_none() && spec.footprint_percent == 100.0;
        let is_aligned = match spec.alignment_bytes {
            Alignment::Size | Alignment::Bytes(0) => true,
            Alignment::Bytes(bytes) => bytes == unit_bytes,
        };
        let is_plain = spec.cache().is_none() && spec.copies == 1 && spec.read_percent < 100.0;
        let is_plain = is_plain && spec.trim_percent == 0.0;
        let writes_units = is_aligned && spec.sizes().all(|bytes| bytes == unit_bytes);
        spec.pattern == Pattern::Uniform && is_whole && is_plain && writes_units
    }

    /// How fast its jobs can write, those that run at the same time together; `None` where nothing says so.
    pub fn demands(&self) -> Option<Vec<Vec<Demand>>> {
        self.ready.demands()
    }

    /// Requests that its jobs keep in flight at most, those that run at the same time together; 0 for a workload
    /// without jobs.
    pub fn depth(&self) -> u64 {
        self.ready.depth()
    }
}

impl Spec {
    /// Reads a trace through once; a generator needs nothing. See [`Prepared`].
    pub fn prepare(&self) -> Result<Prepared, WorkloadError> {
        self.prepare_with(&mut |_| {})
    }

    /// The same, telling now and then how far it is.
    pub fn prepare_with(&self, progress: &mut dyn FnMut(Progress)) -> Result<Prepared, WorkloadError> {
        self.check()?;
        Prepared::of(self, self.kind().prepare(progress)?)
    }

    /// Prepares and opens in one go, for a drive of so many 512-byte sectors.
    pub fn open(&self, drive_sectors: u64) -> Result<Box<dyn Source>, WorkloadError> {
        self.prepare()?.open(drive_sectors)
    }
}
