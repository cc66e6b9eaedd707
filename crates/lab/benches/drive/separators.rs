//! What a separator's answer costs: asked once for each unit that goes to flash, and for each that moves.

use crate::report::{Goal, Row, best_seconds};
use crate::speed::preset;
use ssd::flash::op::Cause;
use ssd::ftl::stream::{Config, FAMILY, Foresight, Moved, Policy, Said, Size, Written};
use ssd::rng::Rng;
use ssd::signals::Facts;
use ssd::{Hints, Lpn};
use std::hint::black_box;
use std::sync::Arc;

const RUNS: u32 = 5;
const UNITS: u32 = 4_000_000;

/// The drive `m64`.
fn size() -> Size {
    let cfg = preset("m64");
    let per_block = u64::from(cfg.geometry.pages_per_block()) * u64::from(cfg.units_per_page());
    let size = |blocks: u64| u32::try_from(blocks).expect("a preset of usual size");
    Size {
        logical_units: cfg.logical_units(),
        physical_units: cfg.physical_units(),
        lanes: cfg.lanes(),
        blocks_per_lane: size(cfg.geometry.blocks() / u64::from(cfg.lanes())),
        units_per_block: size(per_block),
    }
}

/// Half of all writes go to a thousand units, the others anywhere; twelve processes write.
fn writes(units: u32) -> Vec<Written> {
    let mut rng = Rng::named(1, "bench/separators");
    let mut one = |clock| {
        let among = if rng.below(2) == 0 { 1_000 } else { units };
        let lpn = Lpn(rng.below(among));
        let process = rng.below(12);
        let (context, stream, file) = (4 * process, process as u16, rng.below(50));
        let hints = Hints { process, context, stream, file, ..Hints::default() };
        let said = Said { hints, sectors: 8 << rng.below(6) };
        Written { lpn, said, clock, again: false }
    };
    (0..u64::from(UNITS)).map(&mut one).collect()
}

/// Nanoseconds a decision of every member: at most 30, and 60 where it looks into a table over all units.
pub fn rows() -> Vec<Row> {
    let size = size();
    let units = size.logical_units as u32;
    let writes = writes(units);
    let to_come = Foresight::of_writes(units, writes.iter().map(|write| write.lpn));
    let to_come = Arc::new(to_come.expect("few enough to be foreseen"));
    let mut rows = Vec::new();
    for member in FAMILY.members {
        let config = Config::named(member.name).expect("a member of its family");
        let fresh = || {
            let mut policy = Policy::build(&config);
            policy.learn(&size);
            policy.foresee(&to_come);
            policy
        };
        let facts = if fresh().needs().facts { 8 * size.physical_units } else { 0 };
        let own = fresh().memory_bytes(&size).saturating_sub(facts);
        // What looks ahead is also told of each command: that is a part of its cost.
        let looks_ahead = fresh().needs().foresight;
        let goal = Goal::AtMost(if own >= size.logical_units / 8 { 60.0 } else { 30.0 });
        let wrote = best_seconds(RUNS, fresh, |policy| {
            for &write in &writes {
                if looks_ahead {
                    black_box(policy.on_accept(write.lpn.0..write.lpn.0 + 1, false));
                }
                black_box(policy.of_write(write));
            }
        });
        let moved = best_seconds(RUNS, fresh, |policy| {
            for (at, write) in (0..).zip(&writes) {
                let facts = Facts::NONE.with_stream(at % u64::from(policy.streams().count));
                let (lpn, cause, clock) = (write.lpn, Cause::Cleaning, write.clock);
                black_box(policy.of_move(Moved { lpn, cause, facts, clock }));
            }
        });
        for (what, seconds) in [("write", wrote), ("move", moved)] {
            let name = format!("decision_{}_{what}", member.name);
            rows.push(Row::new(&name, seconds * 1e9 / f64::from(UNITS), "ns", goal));
        }
    }
    rows
}
