//! Drives whose exposure has a bound (`ftl.sanitize.max_exposed_ms`): no page is exposed for longer, whatever goes on.

use super::oracle::Verdict;
use super::setup::{make_room, pick, random_locks};
use super::traffic::Run;
use ssd::DriveConfig;
use ssd::config::{Table, Value};
use ssd::flash::preemption;
use ssd::ftl::page_class;
use ssd::rng::Rng;
use ssd::sections::{Reliability, SchedulingOrder};

/// The maximum of a drive, in milliseconds: about the least that it can have, or more.
fn bound(cfg: &mut DriveConfig, rng: &mut Rng) -> bool {
    let mut least = 1.0;
    while least < 10_000.0 {
        cfg.sanitize.set("max_exposed_ms", &Value::Float(least)).unwrap();
        if cfg.validate().is_ok() || make_room(cfg) {
            let more = Value::Float(least * pick(rng, &[1.0, 1.0, 2.0, 8.0]));
            cfg.sanitize.set("max_exposed_ms", &more).unwrap();
            return true;
        }
        least *= 1.2;
    }
    false
}

/// Locks are set again when they are old. Draws of its own. Months so short that a run lasts many, and long enough for
/// all pages of a die.
pub fn renew(cfg: &mut DriveConfig) {
    let rng = &mut Rng::named(cfg.drive.seed, "model/relocks");
    let pages = cfg.geometry.planes_per_die * cfg.geometry.blocks_per_plane * cfg.geometry.pages_per_block();
    let round_months = f64::from(pages) * 400e-6 / (730.0 * 3_600.0);
    let months = round_months * pick(rng, &[0.0, 0.0, 2.1, 5.0]);
    cfg.sanitize.set("relock_months", &Value::Float(months)).unwrap();
}

/// Some of the drives that can have it have a bound of exposure, which failures may break. Draws of its own.
pub fn bound_exposure(cfg: &mut DriveConfig) {
    let rng = &mut Rng::named(cfg.drive.seed, "model/bounds");
    let most = pick(rng, &[0.0, 100.0, 1_000.0]);
    cfg.sanitize.set("max_exposed_ms", &Value::Float(most)).unwrap();
    if cfg.validate().is_err() && !make_room(cfg) {
        cfg.sanitize.set("max_exposed_ms", &Value::Float(0.0)).unwrap();
    }
}

/// A drive that locks, within a bound: no block fails, and no lock. Its dies may stop their work for reads.
pub fn random_bounded(rng: &mut Rng) -> DriveConfig {
    drawn(rng, true)
}

/// The same where none does.
pub fn random_bounded_unstopped(rng: &mut Rng) -> DriveConfig {
    drawn(rng, false)
}

fn drawn(rng: &mut Rng, stops: bool) -> DriveConfig {
    loop {
        let mut cfg = random_locks(rng);
        if cfg.page_class.name() != page_class::FAMILY.default || cfg.slc_blocks_per_lane() > 0 {
            continue;
        }
        let name = pick(rng, &["page_lock", "page_and_block_lock"]);
        if cfg.sanitize.name() != name {
            cfg.sanitize.select(name).unwrap();
            cfg.timing.t_block_lock_us = 300.0;
        }
        cfg.reliability = Reliability::default();
        cfg.cleaning.lazy_erase = false;
        cfg.timing.independent_reads = false;
        match cfg.preemption.name() {
            preemption::priority_aware::NAME if stops => cfg.preemption.select("safe_point").unwrap(),
            _ if stops => {}
            _ => cfg.preemption.select("none").unwrap(),
        }
        cfg.scheduling.order = SchedulingOrder::ReadFirst;
        cfg.read_reclaim.select("never").unwrap();
        if bound(&mut cfg, rng) {
            return cfg;
        }
    }
}

/// Runs, and no page was exposed for longer, nor is one.
pub fn run_within(run: &mut Run, commands: u64) -> Verdict {
    run.run(commands)?;
    let (longest_ns, most_ns) = run.longest_exposure();
    if longest_ns > most_ns {
        return Err(format!("a page was exposed for {longest_ns} ns, {most_ns} at most are allowed"));
    }
    Ok(())
}
