//! Policies that are given to a drive: the same answers make the same drive, and wrong ones are found out, told and
//! survived.

use crate::support;

use ssd::external::{ExternalPolicies, LaneCall, PolicyFault, Unit, UnitCall};
use ssd::ftl::tables::blocks::BlockState;
use ssd::{Drive, DriveConfig, Executor, ReconfigureError};
use support::outside::{asking, by_parity, greedy, stream, victim, with};
use support::{Load, small, with_policy};

fn loaded(mut drive: Drive, executor: Executor) -> Drive {
    drive.set_executor(executor);
    Load::new(3).run(&mut drive, 12_000);
    drive.drain();
    drive.check().unwrap();
    drive
}

/// A drive of policies from outside and one of built-in policies, after the same load: the same to the event.
fn assert_alike(cfg: &DriveConfig, policies: &ExternalPolicies) {
    for executor in [Executor::Timed, Executor::Functional] {
        let outside = loaded(with(cfg, policies.clone()), executor);
        let inside = loaded(Drive::new(cfg).unwrap(), executor);
        assert_eq!(outside.external().fault(), None);
        assert_eq!((outside.event_hash(), outside.stats()), (inside.event_hash(), inside.stats()));
        let [(_, who, calls)] = &outside.external().asked()[..] else { panic!("one was given") };
        assert!(*calls > 100, "{} was asked {calls} times", who.name);
        assert!(inside.external().asked().is_empty() && !inside.external().decides());
    }
}

#[test]
fn the_same_answers_make_the_same_drive() {
    assert_alike(&small(), &victim(greedy));
}

#[test]
fn a_separator_puts_data_apart_and_goes_the_same_way_twice() {
    let run = || loaded(with(&small(), stream(by_parity)), Executor::Timed);
    let (one, two) = (run(), run());
    assert_eq!(one.external().fault(), None);
    assert_eq!((one.event_hash(), one.stats()), (two.event_hash(), two.stats()));
    assert_ne!(one.event_hash(), loaded(Drive::new(&small()).unwrap(), Executor::Timed).event_hash());
    // All in the first of two streams is as many blocks open as the other leaves: not the drive of one stream.
    let joined = loaded(with(&small(), stream(|_| Ok(0))), Executor::Timed);
    assert_eq!(joined.external().fault(), None);
    assert_eq!(joined.external().asked()[0].0, "ftl.stream");
}

/// Greedy until call 50, then something else.
macro_rules! from_call_50 {
    ($wrong:expr) => {
        victim(|call| {
            let wrong: fn(&LaneCall<'_>) -> Result<Option<u32>, String> = $wrong;
            if call.call == 50 { wrong(call) } else { greedy(call) }
        })
    };
}

/// A drive after a wrong answer of a victim policy: greedy has decided since, and it is told.
fn victim_fault(policies: ExternalPolicies) -> PolicyFault {
    let drive = loaded(with(&small(), policies), Executor::Functional);
    let plain = loaded(Drive::new(&small()).unwrap(), Executor::Functional);
    assert_eq!((drive.event_hash(), drive.stats()), (plain.event_hash(), plain.stats()), "greedy goes on");
    let fault = drive.external().fault().expect("it was found out").clone();
    assert_eq!((fault.family, fault.policy.as_str(), fault.call), ("ftl.gc_victim", "by_function", 50));
    assert_eq!(drive.external().asked()[0].2, 50, "it is not asked again");
    let text = fault.to_string();
    assert!(text.starts_with("ftl.gc_victim: policy by_function, call 50\n    found:   "), "{text}");
    fault
}

#[test]
fn a_wrong_victim_is_told_and_greedy_decides_from_then_on() {
    let fault = victim_fault(from_call_50!(|_| Err("status 7".to_owned())));
    assert_eq!(fault.found, "status 7");
    let fault = victim_fault(from_call_50!(|call| Ok(Some(call.lane.len()))));
    assert_eq!(fault.found, "block 24 of 24");
    let fault = victim_fault(from_call_50!(|_| Ok(Some(u32::MAX))));
    assert_eq!(fault.found, "block 4294967295 of 24");
    let fault = victim_fault(from_call_50!(|_| Ok(None)));
    assert_eq!(fault.found, "no block, although one may be chosen");
    assert!(fault.allowed.contains("of lane "), "{}", fault.allowed);
    let fault = victim_fault(from_call_50!(|call| {
        let is_open = |&block: &u32| call.lane.state(block) == BlockState::Open;
        Ok((0..call.lane.len()).find(is_open))
    }));
    assert!(fault.found.ends_with("which is open"), "{}", fault.found);
}

#[test]
fn what_was_allowed_are_the_blocks_that_can_be_cleaned() {
    let told = victim_fault(from_call_50!(|call| {
        let all = (0..call.lane.len()).filter(|&block| call.lane.eligible(block).is_some());
        Err(all.map(|block| block.to_string()).collect::<Vec<_>>().join(", "))
    }));
    let first: Vec<&str> = told.found.split(", ").take(8).collect();
    assert!(!first.is_empty() && told.allowed.contains(&first.join(", ")), "{told}");
}

#[test]
fn a_stream_out_of_range_is_told_and_the_first_takes_all_from_then_on() {
    fn late(call: &UnitCall) -> Result<u32, String> {
        if call.call < 5_000 { Ok(0) } else { Ok(u32::from(call.streams)) }
    }
    let drive = loaded(with(&small(), stream(late)), Executor::Timed);
    let first = loaded(with(&small(), stream(|_| Ok(0))), Executor::Timed);
    assert_eq!((drive.event_hash(), drive.stats()), (first.event_hash(), first.stats()));
    let fault = drive.external().fault().unwrap();
    assert_eq!((fault.family, fault.call, fault.found.as_str()), ("ftl.stream", 5_000, "stream 2"));
    assert_eq!(fault.allowed, "a stream from 0 to 1 (ftl.stream.streams)");
    let moves = stream(|call| match call.unit {
        Unit::Written(_) => Ok(0),
        _ => Err("Traceback".to_owned()),
    });
    let drive = loaded(with(&small(), moves), Executor::Timed);
    assert_eq!(drive.external().fault().unwrap().found, "Traceback");
}

#[test]
fn a_policy_must_be_given_where_one_is_asked_for_and_nowhere_else() {
    for (family, _) in small().asks_for_policies() {
        let (section, mut cfg) = (family.section(), small());
        cfg.section_mut(&section).unwrap().select("external").unwrap();
        let error = Drive::new(&cfg).unwrap_err().to_string();
        let flag = format!("--policy {}=FILE", &section[4..]);
        assert!(error.contains(&section) && error.contains(&flag), "{error}");
    }
    let error = Drive::with_policies(&small(), victim(greedy)).unwrap_err().to_string();
    assert!(error.contains("\"greedy\", but an external policy is given"), "{error}");
}

#[test]
fn such_a_drive_is_copied_and_not_saved() {
    for policies in [victim(greedy), stream(by_parity)] {
        let section = policies.identities()[0].0.clone();
        let mut drive = with(&small(), policies);
        let mut load = Load::new(3);
        load.run(&mut drive, 3_000);
        let mut saved = Vec::new();
        let error = drive.save(&mut saved).unwrap_err().to_string();
        assert!(saved.is_empty() && error.contains(&section), "{error}");
        let mut copy = drive.clone();
        let mut again = load.clone();
        load.run(&mut drive, 3_000);
        again.run(&mut copy, 3_000);
        assert_eq!((drive.event_hash(), drive.stats()), (copy.event_hash(), copy.stats()), "{section}");
    }
}

#[test]
fn an_aged_drive_goes_on_under_a_policy_from_outside() {
    let base = with_policy("gc_victim", "fifo");
    let policies = victim(greedy);
    let cfg = asking(&base, &policies);
    let aged = || {
        let mut drive = Drive::new(&base).unwrap();
        drive.set_executor(Executor::Functional);
        Load::new(3).run(&mut drive, 6_000);
        drive.drain();
        while drive.pop_completion().is_some() {}
        drive
    };
    let (mut outside, mut inside) = (aged(), aged());
    outside.reconfigure(&base, &cfg, policies).unwrap();
    inside.reconfigure(&base, &with_policy("gc_victim", "greedy"), ExternalPolicies::default()).unwrap();
    Load::new(4).run(&mut outside, 6_000);
    Load::new(4).run(&mut inside, 6_000);
    assert_eq!((outside.event_hash(), outside.stats()), (inside.event_hash(), inside.stats()));
    assert!(outside.external().asked()[0].2 > 50);
    outside.drain();
    while outside.pop_completion().is_some() {}
    // It does not go back: what it has learnt would be gone.
    let error = outside.reconfigure(&cfg, &base, ExternalPolicies::default()).unwrap_err();
    assert!(matches!(&error, ReconfigureError::Unfit(why) if why.contains("ftl.gc_victim")), "{error}");
}
