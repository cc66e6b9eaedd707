//! What holds for a workload of workloads as it is described: their names, seeds and checks.

use crate::base::error::WorkloadError;
use crate::generate::synthetic::SyntheticSpec;
use crate::spec::kinds::{Member, Members, Spec};

/// By so much seeds of workloads in others move on with the next seed of all.
const SEED_STEP: u64 = 1000;

impl Spec {
    /// Gives it another seed, if anything of it is random. The seeds of phases, and of workloads together, move on
    /// alike from what they are for seed 1, so that those that differ do so still.
    pub fn set_seed(&mut self, seed: u64) -> Result<(), WorkloadError> {
        match self {
            Spec::Phases(spec) => spec.phases.move_seeds(seed),
            Spec::Together(spec) => spec.together.move_seeds(seed),
            _ if self.has_key("seed") => self.set("seed", &seed.to_string()),
            _ => Ok(()),
        }
    }

    /// The same from what somebody has written, in any way in which a generator's `seed` can be.
    pub fn set_seed_as_written(&mut self, text: &str) -> Result<(), WorkloadError> {
        let mut written = Spec::Synthetic(SyntheticSpec::default());
        written.set("seed", text)?;
        let Spec::Synthetic(written) = written else { unreachable!("a seed does not change this workload") };
        self.set_seed(written.seed)
    }

    /// What its phases are called; `None` if it has none.
    pub fn phase_names(&self) -> Option<Vec<String>> {
        match self {
            Spec::Phases(spec) => Some(spec.phases.names()),
            _ => None,
        }
    }
}

impl Members {
    /// What each is called.
    pub(super) fn names(&self) -> Vec<String> {
        self.0.iter().map(Member::title).collect()
    }

    /// Moves their seeds on from those for seed 1 to those for another.
    pub(super) fn move_seeds(&mut self, seed: u64) -> Result<(), WorkloadError> {
        self.0.iter_mut().try_for_each(|member| member.move_seeds(seed))
    }

    /// Whether one drives itself; where the others are phases, each is driven by itself then.
    pub(super) fn is_driven(&self) -> bool {
        self.0.iter().any(|member| member.spec.is_driven())
    }

    /// Checks what no single key can tell.
    pub(super) fn check(&self, key: &str, in_turn: bool) -> Result<(), WorkloadError> {
        let Some(first) = self.0.first() else {
            return Err(WorkloadError::setting(
                key,
                "found none",
                format!("at least one [[workload.{key}]]"),
            ));
        };
        let by_themselves = in_turn && self.is_driven();
        for (i, member) in self.0.iter().enumerate() {
            let here = format!("{key}[{i}]");
            member.spec.check().map_err(|error| error.within(&here))?;
            if member.spec.is_driven() && !in_turn {
                let found =
                    "found fio jobs, which wait for their own requests and have no times to be merged by";
                let allowed = "any other workload; or the jobs of one file, which run together";
                return Err(WorkloadError::setting(&here, found, allowed));
            }
            if member.spec.kind().stripe().is_some() {
                let key = format!("{here}.drives");
                return Err(WorkloadError::setting(
                    &key,
                    "found \"striped\"",
                    "\"together\": all have one drive",
                ));
            }
            member.check_times(&here, (&format!("{key}[0]"), first), by_themselves)?;
        }
        Ok(())
    }
}

impl Member {
    pub(super) fn title(&self) -> String {
        if self.keys.name.is_empty() { self.spec.title() } else { self.keys.name.clone() }
    }

    fn move_seeds(&mut self, seed: u64) -> Result<(), WorkloadError> {
        if let Spec::Phases(_) | Spec::Together(_) = &self.spec {
            return self.spec.set_seed(seed);
        }
        let seeds = self.spec.entries().into_iter().filter(|(key, _)| key.ends_with("seed"));
        for (key, own) in seeds.collect::<Vec<_>>() {
            // 0 stands for another key's.
            if let Some(own) = own.parse::<u64>().ok().filter(|own| *own > 0) {
                let moved = own.wrapping_add(SEED_STEP.wrapping_mul(seed.wrapping_sub(1)));
                self.spec.set(key, &moved.to_string())?;
            }
        }
        Ok(())
    }

    /// Checks what depends on whether requests have times.
    fn check_times(
        &self,
        here: &str,
        (first_key, first): (&str, &Member),
        by_themselves: bool,
    ) -> Result<(), WorkloadError> {
        let has_times = self.spec.has_times();
        if has_times != first.spec.has_times() && !by_themselves {
            let told = |has: bool| if has { "its requests have times" } else { "its requests have none" };
            let found = format!("{}, those of {first_key} differ", told(has_times));
            let allowed = "all with times, or none (set `arrival`)";
            return Err(WorkloadError::setting(here, found, allowed));
        }
        if self.keys.until_s > 0.0 && !has_times && !self.spec.is_driven() {
            let found = "found a time limit, and requests without times: it would never end";
            let allowed = "another limit, or `arrival` other than closed";
            return Err(WorkloadError::setting(&format!("{here}.until_s"), found, allowed));
        }
        if self.keys.depth > 0 && (!by_themselves || has_times || self.spec.is_driven()) {
            let found = "found a depth where none is needed";
            let allowed = "0; it applies to phases without times beside fio jobs (run.depth applies to all \
                           others, iodepth to jobs)";
            return Err(WorkloadError::setting(&format!("{here}.depth"), found, allowed));
        }
        Ok(())
    }
}
