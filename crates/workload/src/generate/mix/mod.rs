//! Mixes: several kinds of requests in given shares, each on its own stretch of the space. The stand-ins for traces
//! that papers used and nobody can have ([`mod@crate::standin`]) are mixes.
//!
//! **Skew.** Places of `hot_cold` and `zipf` are numbered by popularity and lie in *chunks* (`chunk_kib`), which a
//! fixed random permutation scatters over the stretch: the hottest chunk is somewhere, and its neighbours are of any
//! heat.
//!
//! **Scale.** `footprint_gib` and `footprint_percent` stretch or shrink all parts alike; shares, sizes, runs and skew
//! stay. What was on the same stretch stays so, and what was apart stays apart.
//!
//! Each part draws operation, size and address from random sequences of its own, so that a change of one part, or of
//! the read share, leaves the others' addresses as they were.

mod flow;
mod part;
mod spec;

use crate::base::error::WorkloadError;
use crate::base::input::bytes::Progress;
use crate::base::report::SourceReport;
use crate::base::request::{Request, Source};
use crate::generate::synthetic::arrival::Clock;
use crate::generate::synthetic::{Arrival, zipf::Alias};
use crate::stack::kind::{Kind, Ready};
use crate::stack::priorities::PriorityShares;
use crate::stack::replay::{copies, passes};
use flow::Flow;
use ssd::rng::Rng;
use ssd::signals::Hints;
use std::sync::Arc;

pub use part::{Part, Parts, Places};
pub use spec::MixSpec;

impl Kind for MixSpec {
    fn check(&self) -> Result<(), WorkloadError> {
        self.check()
    }

    fn has_times(&self) -> bool {
        self.arrival != Arrival::Closed
    }

    fn page_cache(&self) -> Option<(f64, bool)> {
        self.cache()
    }

    fn priorities(&self) -> (PriorityShares, u64) {
        self.priorities()
    }

    fn title(&self) -> String {
        if self.preset.is_empty() { "mix".to_string() } else { self.preset.clone() }
    }

    fn prepare(&self, _: &mut dyn FnMut(Progress)) -> Result<Box<dyn Ready>, WorkloadError> {
        Ok(Box::new(self.clone()))
    }
}

impl Ready for MixSpec {
    fn space_sectors(&self) -> Option<u64> {
        self.space_sectors()
    }

    fn once(&self, drive_sectors: u64) -> Result<Box<dyn Source>, WorkloadError> {
        Ok(Box::new(Mix::new(self, drive_sectors)?))
    }

    fn open(&self, drive_sectors: u64) -> Result<Box<dyn Source>, WorkloadError> {
        let one = Mix::new(self, drive_sectors)?;
        copies(self.copies, self.seed, || Ok(passes(one.clone(), self.repeat)))
    }
}

/// A generator of mixed requests.
#[derive(Clone)]
pub struct Mix {
    flows: Vec<Flow>,
    /// Draws the part; `None` if there is one only.
    pick: Option<Arc<Alias>>,
    picks: Rng,
    clock: Clock,
    left: u64,
}

impl Mix {
    /// One pass of a mix, on a drive of so many 512-byte sectors.
    pub fn new(spec: &MixSpec, drive_sectors: u64) -> Result<Self, WorkloadError> {
        spec.check()?;
        let stretches = spec.stretches(drive_sectors)?;
        let parts = &spec.parts.0;
        let flow = |(i, part): (usize, &Part)| Flow::new(spec, i, part, stretches[i]);
        let shares: Vec<f64> = parts.iter().map(|part| part.share_percent).collect();
        Ok(Mix {
            flows: parts.iter().enumerate().map(flow).collect(),
            pick: (parts.len() > 1).then(|| Arc::new(Alias::new(&shares))),
            picks: Rng::named(spec.seed, &format!("workload/mix/{}", spec.preset)),
            clock: spec.clock(),
            left: spec.count,
        })
    }

    /// The next request; `None` at the end of the pass.
    #[inline]
    pub fn generate(&mut self) -> Option<Request> {
        self.left = self.left.checked_sub(1)?;
        let part = self.pick.as_ref().map_or(0, |pick| pick.sample(&mut self.picks));
        let (op, lba, sectors) = self.flows[part].next();
        let arrival_ns = self.clock.tick();
        Some(Request { arrival_ns, op, fua: false, lba, sectors, hints: Hints::default() })
    }
}

impl Source for Mix {
    fn next(&mut self) -> Result<Option<Request>, WorkloadError> {
        Ok(self.generate())
    }

    fn len_hint(&self) -> Option<u64> {
        Some(self.left)
    }

    fn report(&self) -> SourceReport {
        SourceReport::default()
    }
}
