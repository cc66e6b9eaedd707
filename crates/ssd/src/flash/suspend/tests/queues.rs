//! Mean waits of reads at one die under Poisson arrivals, against queueing theory. Transfers and commands take next to
//! nothing, and so does stopping, so that formulas hold as they stand.

use super::*;
use crate::flash::preemption::{immediate, none, priority_aware};
use crate::rng::Rng;
use crate::units::SimDuration;

/// A read's array time, in us, and an erase's.
const S: f64 = 100.0;
const E: f64 = 2_000.0;

fn config(preemption: Config) -> DriveConfig {
    let mut cfg = psr("none", 1);
    let t = &mut cfg.timing;
    (t.t_read_us, t.t_erase_us, t.t_suspend_us, t.t_resume_us) = (vec![S], E, 0.0, 0.0);
    let c = &mut cfg.channel;
    c.bandwidth_mb_s = 1_000_000.0;
    (c.t_read_command_ns, c.t_data_out_command_ns, c.t_erase_command_ns) = (0, 0, 0);
    cfg.geometry.page_bytes = 512;
    cfg.scheduling.read_bypass_limit = 1_000_000;
    cfg.preemption = preemption;
    cfg
}

/// Mean wait for their die of so many reads of each priority, in us, with reads (by priority) and erases arriving at
/// these rates per us.
fn mean_waits(cfg: &DriveConfig, reads: [f64; 3], erases: f64, count: u32) -> [f64; 3] {
    let g = &cfg.geometry;
    let mut chip = Chip::new(1, g.blocks_per_plane, g.pages_per_block(), &cfg.reliability, 1);
    (0..g.pages_per_block()).for_each(|page| _ = chip.program_in(1, page, 0));
    let room = Room { host: 4_096, moves: 4_096 };
    let mut flash = Flash::new(
        cfg,
        (crate::flash::read_voltage::Policy::build(&cfg.read_voltage), &cfg.preemption),
        chip,
        room,
    );
    let mut events = EventQueue::with_capacity(1_024);
    let mut rng = Rng::named(5, "queues");
    let mut gap = |rate: f64| {
        // Uniform in (0, 1], so that the logarithm is finite.
        let uniform = ((rng.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64;
        SimDuration::from_us(-uniform.ln() / rate).0
    };
    let rates = [reads[0], reads[1], reads[2], erases];
    let mut due = rates.map(|rate| if rate > 0.0 { gap(rate) } else { u64::MAX });
    let (mut sums, mut counts) = ([0u64; 3], [0u32; 3]);
    while counts.iter().sum::<u32>() < count {
        let next = (0..4).min_by_key(|&kind| due[kind]).unwrap();
        let at = due[next];
        if events.next_at().is_none_or(|event| event.0 >= at) {
            due[next] = at + gap(rates[next]);
            let given = if next < 3 { read(at, Priority::ALL[next]) } else { Given { at, ..ERASE } };
            let id = flash.pool.add(op(cfg, &given), &[]);
            flash.now = SimTime(at);
            flash.give(&[id], SimTime(at), &mut events);
        } else if let Some((now, kind, id)) = events.pop() {
            flash.now = now;
            flash.on_event(kind, id, now, &mut events);
        }
        for id in std::mem::take(&mut flash.done) {
            let op = flash.pool.get(id);
            if op.kind == OpKind::Read {
                sums[op.priority as usize] += flash.pool.spent(id).times.die_wait;
                counts[op.priority as usize] += 1;
            }
            flash.pool.remove(id);
        }
    }
    core::array::from_fn(|class| sums[class] as f64 / 1e3 / f64::from(counts[class].max(1)))
}

#[track_caller]
fn close(what: &str, measured: f64, formula: f64, percent: f64) {
    let off = 100.0 * (measured / formula - 1.0);
    assert!(off.abs() <= percent, "{what}: measured {measured}, formula {formula}, off by {off:.2} %");
}

/// Mean wait in M/D/1 at a load, in us.
fn md1(rho: f64) -> f64 {
    rho * S / (2.0 * (1.0 - rho))
}

#[test]
fn high_reads_wait_as_if_there_were_no_others() {
    // M/D/1 with preemptive priority: those of the highest class see each other only.
    let cfg = config(priority_aware::Params::default().into());
    for (high, low, count) in [(0.3, 0.2, 300_000), (0.5, 0.15, 450_000)] {
        let [.., waited] = mean_waits(&cfg, [low / S, 0.0, high / S], 0.0, count);
        close("M/D/1 of the highest class", waited, md1(high), 2.0);
    }
}

#[test]
fn reads_wait_for_the_rest_of_an_erase_or_do_not() {
    // Reads go before erases that wait. Not stopped, an erase under way is finished: by Cobham (1954) the mean wait is
    // (l S^2 + e E^2) / 2 over 1 - l S, with l reads and e erases a us. Stopped at once it takes nothing.
    let (rho, erases) = (0.3, 0.2);
    let (l, e) = (rho / S, erases / E);
    let [_, waited, _] = mean_waits(&config(none::Params::default().into()), [0.0, l, 0.0], e, 1_000_000);
    close("behind erases", waited, (l * S * S + e * E * E) / 2.0 / (1.0 - rho), 2.0);
    let at_once = config(immediate::Params { min_run_us: 1.0, ..immediate::Params::default() }.into());
    let [_, waited, _] = mean_waits(&at_once, [0.0, l, 0.0], e, 500_000);
    close("past erases", waited, md1(rho), 2.0);
}
