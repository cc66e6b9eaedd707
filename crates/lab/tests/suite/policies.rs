//! Runs under policies from outside: what they decide, what they are known by, and what becomes of a run when one
//! fails.

use crate::common;

use common::{closed, fresh_path, generator, open, run, small_drive};
use lab::{
    DriveCache, Experiment, Failure, Preconditioning, RunError, RunResult, RunSpec, Session, SteadyWay,
};
use ssd::external::{ExternalPolicies, Identity, LaneCall, LanePolicy};
use ssd::ftl::gc_victim;
use ssd::{DriveConfig, Executor};
use std::sync::Arc;
use std::time::Duration;
use workload::{Prepared, Request};

/// Greedy, until a call that fails.
#[derive(Clone, Copy, Debug)]
struct Greedy {
    fails_at: u64,
}

impl LanePolicy for Greedy {
    fn identity(&self) -> Identity {
        Identity { name: "mine".to_owned(), kind: "test", hash: "0123".to_owned() }
    }

    fn choose(&mut self, call: &LaneCall<'_>) -> Result<Option<u32>, String> {
        if call.call == self.fails_at { Err("ValueError: no".to_owned()) } else { Ok(call.lane.least_live()) }
    }

    fn copied(&self) -> Box<dyn LanePolicy> {
        Box::new(*self)
    }
}

fn given(fails_at: u64) -> ExternalPolicies {
    ExternalPolicies { gc_victim: Some(Box::new(Greedy { fails_at })), ..Default::default() }
}

fn asking() -> DriveConfig {
    DriveConfig { gc_victim: gc_victim::Config::named("external").unwrap(), ..small_drive() }
}

fn writes() -> Prepared {
    generator(20_000, "read_percent = 20\nsize_bytes = 16384\narrival = \"poisson\"\nrate_iops = 20000")
}

/// A run that nothing was done to its drive before.
fn bare(spec: RunSpec) -> RunSpec {
    RunSpec { preconditioning: Preconditioning { fill_percent: 100.0, ..Default::default() }, ..spec }
}

fn outside(spec: &RunSpec, fails_at: u64) -> Result<RunResult, RunError> {
    let spec = RunSpec { policies: given(fails_at), ..spec.clone() };
    Experiment { config: asking(), workload: &writes(), spec }.run(&mut |_| {})
}

#[test]
fn a_run_is_that_of_the_built_in_policy() {
    let counted = RunSpec { executor: Executor::Functional, ..closed(1) };
    for spec in [closed(8), open(), counted] {
        let inside = run(&small_drive(), &writes(), &spec);
        let result = outside(&spec, 0).unwrap();
        assert_eq!(result.event_hash, inside.event_hash);
        let [told] = &result.external_policies[..] else { panic!("{:?}", result.external_policies) };
        let known = [&told.family, &told.name, &told.kind, &told.hash];
        assert_eq!(known, ["ftl.gc_victim", "mine", "test", "0123"]);
        assert!(told.calls > 100 && inside.external_policies.is_empty(), "{}", told.calls);
    }
}

#[test]
fn a_policy_that_fails_ends_any_run_soon_and_keeps_what_was_measured() {
    let counted = RunSpec { executor: Executor::Functional, ..closed(1) };
    for spec in [bare(closed(8)), bare(open()), bare(counted)] {
        let RunError { failure, result } = outside(&spec, 40).unwrap_err();
        let Failure::Policy(fault) = &failure else { panic!("{failure}") };
        assert_eq!((fault.policy.as_str(), fault.call, fault.found.as_str()), ("mine", 40, "ValueError: no"));
        let result = result.expect("it was measured until then");
        let mode = (spec.loop_mode, spec.executor);
        assert!(result.requests_served > 100 && result.requests_served < 19_000, "{mode:?}: it ended soon");
        assert!(result.ended.starts_with("policy: ftl.gc_victim: policy mine, call 40"), "{}", result.ended);
        assert_eq!(result.external_policies[0].calls, 40);
    }
    // While the drive is aged there is nothing to be kept.
    let RunError { failure, result } = outside(&closed(8), 40).unwrap_err();
    assert!(matches!(failure, Failure::Policy(_)) && result.is_none(), "{failure}");
}

#[test]
fn a_session_tells_a_failure_and_then_what_was_measured() {
    let (config, workload) = (asking(), writes());
    let mut source = workload.open(config.logical_bytes() / workload::SECTOR_BYTES).unwrap();
    let all: Vec<Request> = std::iter::from_fn(|| source.next().unwrap()).collect();
    let feed = |fails_at: u64| {
        let spec = RunSpec { policies: given(fails_at), ..bare(closed(8)) };
        let mut session = Session::new(&config, None, &spec).unwrap();
        let failure = all.chunks(7).find_map(|part| session.feed(part).err());
        (failure, session.finish())
    };
    let (failure, result) = feed(0);
    let whole = outside(&bare(closed(8)), 0).unwrap();
    assert_eq!((failure, result.unwrap().event_hash), (None, whole.event_hash));
    let (failure, result) = feed(40);
    assert!(matches!(failure, Some(Failure::Policy(_))), "{failure:?}");
    assert!(result.unwrap_err().result.unwrap().requests_served < 19_000);
}

#[test]
fn an_aged_drive_is_not_kept_and_one_die_is_overwritten_by_the_same_policy() {
    let folder = fresh_path("cache-outside");
    let cache = Arc::new(DriveCache::new(&folder).with_limits(Duration::ZERO, 1 << 30));
    let kept = RunSpec { cache: Some(cache.clone()), ..closed(8) };
    let result = outside(&kept, 0).unwrap();
    assert!(!result.preconditioning.kept && cache.entries().unwrap().is_empty());
    assert_eq!(cache.take_remarks(), [""; 0], "that it cannot be kept is no trouble");
    let steady = lab::Overwrite::SteadyState { change_percent: 20.0, times_at_most: 10.0 };
    let like_a_die =
        Preconditioning { steady_way: SteadyWay::OneDie, overwrite: steady, ..closed(8).preconditioning };
    let spec = RunSpec { preconditioning: like_a_die, ..closed(8) };
    let (inside, result) = (run(&small_drive(), &writes(), &spec), outside(&spec, 0).unwrap());
    assert_eq!(inside.preconditioning.steady_way.as_deref(), Some("one_die"));
    assert_eq!(result.event_hash, inside.event_hash);
}

#[test]
fn an_aged_drive_goes_on_under_a_policy_from_outside() {
    let base = Arc::new(small_drive());
    let spec = RunSpec { aged_as: Some(base), ..closed(8) };
    let (inside, result) = (run(&small_drive(), &writes(), &spec), outside(&spec, 0).unwrap());
    assert_eq!(result.event_hash, inside.event_hash);
    assert_eq!(result.preconditioning.aged_as, ["ftl.gc_victim.policy = greedy"]);
    assert!(result.external_policies[0].calls > 10);
}
