//! Sessions: what is fed piece by piece is what is run as a whole.

use crate::common;

use common::{closed, generator, open, run, small_drive, tiny_drive, with_every_policy};
use lab::{Failure, LoopMode, RunResult, RunSpec, Session};
use ssd::DriveConfig;
use workload::{Prepared, Request};

/// All requests of a workload.
fn requests(config: &DriveConfig, workload: &Prepared) -> Vec<Request> {
    let mut source = workload.open(config.logical_bytes() / workload::SECTOR_BYTES).unwrap();
    std::iter::from_fn(|| source.next().unwrap()).collect()
}

/// All of a result but what it cost.
fn told(mut result: RunResult) -> RunResult {
    (result.cpu_seconds, result.wall_seconds, result.preconditioning.cpu_seconds) = (0.0, 0.0, 0.0);
    (result.requests_per_cpu_second, result.peak_rss_bytes) = (None, None);
    result
}

/// The result of a session that is fed so many requests at a time; its completions are those of all.
fn fed(config: &DriveConfig, workload: &Prepared, spec: &RunSpec, batch: usize) -> RunResult {
    let all = requests(config, workload);
    let spec = RunSpec { workload_hash: workload.workload_hash(), ..spec.clone() };
    let mut session = Session::new(config, Some(workload), &spec).unwrap();
    let (mut completed, mut were_in_flight) = (0, false);
    for part in all.chunks(batch) {
        session.feed(part).unwrap();
        completed += session.completions().count();
        were_in_flight |= session.in_flight() > 0;
    }
    assert!(completed <= all.len() && (were_in_flight || completed == all.len()));
    session.finish().unwrap()
}

#[test]
fn in_batches_of_any_size_a_session_is_the_run() {
    let mut config = small_drive();
    let mixed =
        "read_percent = 40\nsize_bytes = [[4096, 3], [65536, 1]]\narrival = \"poisson\"\nrate_iops = 40000";
    let workload = generator(6_000, mixed);
    for queues in [1, 3] {
        config.queues.count = queues;
        let counted = RunSpec { executor: ssd::Executor::Functional, ..closed(1) };
        let warm = RunSpec { warm_up: 500, ..closed(5) };
        for spec in [closed(1), closed(7), closed(0), open(), counted, warm] {
            let whole = told(run(&config, &workload, &spec));
            for batch in [1, 7, 4_096] {
                let pieces = told(fed(&config, &workload, &spec, batch));
                assert_eq!(pieces, whole, "{queues} queues, {:?}, batches of {batch}", spec.loop_mode);
            }
        }
    }
}

#[test]
fn under_every_policy_a_session_is_the_run() {
    let workload = generator(1_500, "read_percent = 40\nsize_bytes = 16384");
    for (name, config) in with_every_policy(&tiny_drive()) {
        // Nobody has told it what will come.
        if ssd::Drive::new(&config).unwrap().ahead().is_wanted() {
            let refused = Session::new(&config, Some(&workload), &closed(8)).err();
            assert!(matches!(refused, Some(Failure::Setting { .. })), "{name}: {refused:?}");
            continue;
        }
        let whole = run(&config, &workload, &closed(8));
        assert_eq!(fed(&config, &workload, &closed(8), 7).event_hash, whole.event_hash, "{name}");
    }
}

/// By hand: what is sent when the last answer is there is a closed loop of one.
#[test]
fn who_waits_for_each_answer_is_a_closed_loop_of_one() {
    let (config, workload) = (small_drive(), generator(500, "read_percent = 60"));
    let whole = run(&config, &workload, &closed(1));
    let mut session = Session::new(&config, Some(&workload), &closed(4)).unwrap();
    for request in requests(&config, &workload) {
        session.feed(&[request]).unwrap();
        let mut until = session.now_ns();
        while session.in_flight() > 0 {
            until += 1_000;
            session.advance_to(until).unwrap();
        }
        assert_eq!(session.completions().len(), 1);
        assert_eq!(session.now_ns(), until);
    }
    let waited = session.finish().unwrap();
    // Looking every microsecond costs up to one a request.
    let longer = waited.simulated_ns - whole.simulated_ns;
    assert!((1..=500_000).contains(&longer), "{longer}");
    assert_eq!(waited.requests_served, 500);
}

#[test]
fn what_a_session_cannot_do_is_refused() {
    let config = small_drive();
    let jobs = RunSpec { loop_mode: LoopMode::Jobs, ..RunSpec::default() };
    assert!(matches!(Session::new(&config, None, &jobs), Err(Failure::Setting { .. })));
    let deep = RunSpec { loop_mode: LoopMode::Closed { depth: 1 << 20 }, ..RunSpec::default() };
    assert!(Session::new(&config, None, &deep).is_err());
    // Requests beyond the run's own limit are not taken.
    let short = RunSpec { requests: Some(3), ..closed(2) };
    let mut session = Session::new(&config, None, &short).unwrap();
    let write = Request { op: ssd::OpCode::Write, sectors: 8, ..Request::default() };
    session.feed(&[write; 5]).unwrap();
    assert_eq!(session.finish().unwrap().requests_served, 3);
}

#[test]
fn nothing_arrives_in_time_that_has_passed() {
    let config = small_drive();
    let mut session = Session::new(&config, None, &open()).unwrap();
    let at = |arrival_ns| Request { arrival_ns, op: ssd::OpCode::Write, sectors: 8, ..Request::default() };
    session.feed(&[at(0), at(5_000)]).unwrap();
    session.advance_to(1_000_000_000).unwrap();
    // Of what comes too early nothing is taken: neither by the clock, nor by what stands before it.
    for (wrong, why) in [
        (&[at(5)][..], "ns or later"),
        (&[at(2_000_000_000), at(1_999_999_999)], "ns or later"),
        (&[at(u64::MAX)], "146 years"),
    ] {
        let refused = session.feed(wrong);
        let Err(Failure::Setting { key, found, allowed }) = refused else { panic!("{refused:?}") };
        assert_eq!(key, "arrival_ns");
        assert!(found.ends_with(" ns") && allowed.contains(why), "{found}, {allowed}");
    }
    assert_eq!(session.earliest_ns(), 1_000_000_000);
    session.feed(&[at(1_000_000_000)]).unwrap();
    // Time does not go back, nor does what was passed.
    session.advance_to(5).unwrap();
    assert!(session.feed(&[at(999_999_999)]).is_err());
    assert_eq!(session.finish().unwrap().requests_served, 3);
}
