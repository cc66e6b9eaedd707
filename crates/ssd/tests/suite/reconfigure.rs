//! Drives that go on under another configuration.

use crate::support;

use ssd::reconfigure::{differing, is_changeable};
use ssd::{Drive, DriveConfig, Executor, ExternalPolicies, ReconfigureError};
use support::every::{self, know_age};
use support::{Load, is_soak, small};

fn saved(drive: &Drive) -> Vec<u8> {
    let mut bytes = Vec::new();
    drive.save(&mut bytes).unwrap();
    bytes
}

/// Everything under way comes to its end.
fn settle(drive: &mut Drive) {
    while let Some(at) = drive.next_event_at() {
        drive.advance_to(at);
        while drive.pop_completion().is_some() {}
    }
    while drive.pop_completion().is_some() {}
    assert_eq!(drive.outstanding(), 0);
}

/// The base, and the base with everything that may change: each policy of each such family, and other times.
fn variants(base: &DriveConfig) -> Vec<(String, DriveConfig)> {
    let of_policy = |(family, member): (&ssd::config::FamilyInfo, &ssd::config::PolicyInfo)| {
        let section = family.section();
        let mut cfg = base.clone();
        if !is_changeable(&section) {
            return None;
        }
        cfg.section_mut(&section)?.select(member.name).ok()?;
        cfg.validate().is_ok().then(|| (format!("{section} {}", member.name), cfg))
    };
    let mut all: Vec<_> = every::policies().filter_map(of_policy).collect();
    let mut quick = base.clone();
    quick.timing.t_erase_us /= 2.0;
    quick.channel.bandwidth_mb_s *= 2.0;
    (quick.link.bandwidth_mb_s, quick.link.latency_us) = (quick.link.bandwidth_mb_s / 2.0, 3.0);
    all.push(("times".to_owned(), quick));
    all.push(("base".to_owned(), base.clone()));
    all
}

/// A drive that has seen a load, with nothing under way.
fn used(cfg: &DriveConfig, load: &mut Load) -> Drive {
    let mut drive = Drive::new(cfg).unwrap();
    drive.set_executor(Executor::Functional);
    drive.fill(0, drive.logical_units()).unwrap();
    drive.set_executor(Executor::Timed);
    load.run(&mut drive, 400);
    settle(&mut drive);
    drive
}

#[test]
fn from_each_configuration_to_each_other_and_back() {
    let mut cells = small();
    know_age(&mut cells);
    let mut tried = 0;
    for base in [small(), cells] {
        let all = variants(&base);
        for (at, (from, a)) in all.iter().enumerate() {
            let mut load = Load::new(1);
            let drive = used(a, &mut load);
            let bytes = saved(&drive);
            // The way back is the way from the other: of two that differ one is where it begins, both in turn.
            let begins = |other: usize| is_soak() || other == at || (other > at) == ((at + other) % 2 == 1);
            for (other, (to, b)) in all.iter().enumerate().filter(|(other, _)| begins(*other)) {
                let name = format!("{from} -> {to}");
                // Snapshots take most of the time: each configuration is saved, and restored, before and after a third
                // of its changes.
                let is_saved = is_soak() || (at + other) % 3 == 0;
                let mut changed = drive.clone();
                changed
                    .reconfigure(a, b, ExternalPolicies::default())
                    .unwrap_or_else(|error| panic!("{name}: {error}"));
                // What is saved in between makes no difference.
                if is_saved {
                    let mut restored = Drive::restore(a, &bytes).unwrap();
                    restored.reconfigure(a, b, ExternalPolicies::default()).unwrap();
                    assert!(saved(&changed) == saved(&restored), "{name}");
                }
                let mut load = load.clone();
                load.run(&mut changed, 150);
                settle(&mut changed);
                changed.check().unwrap_or_else(|error| panic!("{name}: {error}"));
                // It is a drive of the new configuration, and goes back.
                assert!(!is_saved || Drive::restore(b, &saved(&changed)).is_ok(), "{name}");
                changed
                    .reconfigure(b, a, ExternalPolicies::default())
                    .unwrap_or_else(|error| panic!("{name} and back: {error}"));
                load.run(&mut changed, 150);
                settle(&mut changed);
                changed.check().unwrap_or_else(|error| panic!("{name} and back: {error}"));
                tried += 1;
            }
        }
    }
    assert!(tried > 200, "{tried}");
}

/// To the same configuration and back nothing changes at all.
#[test]
fn to_its_own_configuration_a_drive_stays_as_it_is() {
    let cfg = small();
    let mut load = Load::new(3);
    let mut drive = used(&cfg, &mut load);
    let mut twin = drive.clone();
    drive.reconfigure(&cfg, &cfg, ExternalPolicies::default()).unwrap();
    assert!(saved(&drive) == saved(&twin));
    for drive in [&mut drive, &mut twin] {
        load.clone().run(drive, 500);
    }
    assert_eq!((drive.event_hash(), drive.stats()), (twin.event_hash(), twin.stats()));
}

#[test]
fn what_has_left_marks_on_flash_is_refused_by_name() {
    let cfg = small();
    let mut drive = used(&cfg, &mut Load::new(2));
    let before = saved(&drive);
    let mut other = cfg.clone();
    other.section_mut("ftl.stream").unwrap().select("midas").unwrap();
    other.drive.over_provisioning_percent += 1.0;
    other.timing.t_erase_us += 1.0;
    let error = drive.reconfigure(&cfg, &other, ExternalPolicies::default()).unwrap_err();
    let fixed = ["drive.over_provisioning_percent", "ftl.stream.policy"].map(str::to_owned);
    assert_eq!(error, ReconfigureError::Fixed(fixed.to_vec()));
    assert!(
        error.to_string().contains("cannot change on an aged drive\n    allowed: keys of drive.rating"),
        "{error}"
    );
    assert_eq!(differing(&cfg, &other).len(), 3);
    // A drive of another configuration, one that is no drive, and one that is busy.
    assert_eq!(drive.reconfigure(&other, &cfg, ExternalPolicies::default()), Err(ReconfigureError::Other));
    let mut none = cfg.clone();
    none.timing.t_erase_us = -1.0;
    assert!(matches!(
        drive.reconfigure(&cfg, &none, ExternalPolicies::default()),
        Err(ReconfigureError::Config(_))
    ));
    assert!(saved(&drive) == before);
    Load::new(4).run(&mut drive, 50);
    assert_eq!(drive.reconfigure(&cfg, &cfg, ExternalPolicies::default()), Err(ReconfigureError::Busy));
}
