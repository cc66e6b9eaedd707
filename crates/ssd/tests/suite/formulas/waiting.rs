//! Mean waits of reads that arrive at random times, against queueing theory.
//!
//! One die serves one read at a time, in order of arrival, in a fixed time: M/D/1. With Poisson arrivals at rate
//! lambda, service time S and utilisation rho = lambda S < 1 the mean wait is rho S / (2 (1 - rho)) (Pollaczek and
//! Khinchine); for service times that vary, lambda E[S^2] / (2 (1 - rho)).

use super::*;
use ssd::Part;

/// A 4-KiB read on a drive of [`round_numbers`]: 300 + 50 000 + 40 + 4 096 ns, all of which holds the die.
const SERVICE: f64 = 54_436.0;

/// Waits of a run, in nanoseconds.
struct Waits {
    mean: f64,
    none: f64,
    /// Share of reads that waited at most half a service time, and one and a half.
    half: f64,
    one_and_a_half: f64,
    /// Share of time the die was busy.
    utilisation: f64,
}

/// Submits `count` 4-KiB reads of random pages below `pages` at `rate` reads per nanosecond.
fn poisson_reads(cfg: &DriveConfig, pages: u32, rate: f64, count: u32) -> Waits {
    let mut drive = Drive::new(cfg).unwrap();
    drive.fill(0, pages).unwrap();
    let mut rng = Rng::named(21, "arrivals");
    let (mut at, mut seen, mut total) = (0.0, 0u32, 0u64);
    let mut at_most = [0u32; 3];
    let mut take = |drive: &mut Drive| {
        while let Some(done) = drive.pop_completion() {
            let wait = done.breakdown.ns[Part::DieWait as usize];
            assert_eq!(
                done.breakdown.ns[Part::ChannelWait as usize],
                0,
                "each die has its channel to itself"
            );
            seen += 1;
            total += wait;
            for (count, limit) in at_most.iter_mut().zip([0.0, 0.5 * SERVICE, 1.5 * SERVICE]) {
                *count += u32::from(wait as f64 <= limit);
            }
        }
    };
    for _ in 0..count {
        // Uniform in (0, 1], so that the logarithm is finite.
        let uniform = ((rng.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64;
        at += -uniform.ln() / rate;
        let now = SimTime(at as u64);
        let command = Command { arrival: now, ..on_page(OpCode::Read, rng.below(pages), 8) };
        drive.submit(0, &command, now).unwrap();
        take(&mut drive);
    }
    drive.drain();
    take(&mut drive);
    assert_eq!(seen, count);
    let share = |n: u32| f64::from(n) / f64::from(count);
    let [none, half, one_and_a_half] = at_most.map(share);
    let stats = drive.stats();
    let busy = stats.flash.die_busy_ns.iter().sum::<u64>() as f64 / f64::from(cfg.geometry.dies());
    let utilisation = busy / stats.until.since(stats.since) as f64;
    Waits { mean: total as f64 / f64::from(count), none, half, one_and_a_half, utilisation }
}

fn md1(rho: f64) -> f64 {
    rho * SERVICE / (2.0 * (1.0 - rho))
}

#[test]
fn one_die_is_an_m_d_1_queue() {
    // Samples grow with the load, since waits in a row resemble each other more.
    for (rho, count) in [(0.2, 1_000_000), (0.5, 1_000_000), (0.8, 3_000_000)] {
        let waits = poisson_reads(&round_numbers(1, 1, 1), 1_024, rho / SERVICE, count);
        close(&format!("M/D/1 mean wait at {rho}"), waits.mean, md1(rho), 2.0);
        close(&format!("utilisation law at {rho}"), waits.utilisation, rho, 0.5);
        // Who finds the die idle does not wait: a share of 1 - rho.
        close(&format!("M/D/1 share that does not wait at {rho}"), waits.none, 1.0 - rho, 1.0);
        // Erlang's distribution (1909): for t below S, P(W <= t) = (1 - rho) e^(lambda t); below 2 S a second term.
        let lambda = rho / SERVICE;
        let term = |t: f64| (lambda * t).exp();
        let half = (1.0 - rho) * term(0.5 * SERVICE);
        close(&format!("M/D/1 share up to S / 2 at {rho}"), waits.half, half, 1.0);
        let (t, rest) = (1.5 * SERVICE, 0.5 * SERVICE);
        let one_and_a_half = (1.0 - rho) * (term(t) - lambda * rest * term(rest));
        close(&format!("M/D/1 share up to 3 S / 2 at {rho}"), waits.one_and_a_half, one_and_a_half, 1.0);
    }
}

#[test]
fn dies_with_channels_of_their_own_are_queues_of_their_own() {
    // Random pages split the arrivals into four independent Poisson streams.
    let waits = poisson_reads(&round_numbers(4, 1, 1), 4_096, 4.0 * 0.6 / SERVICE, 2_000_000);
    close("four M/D/1 queues at 0.6", waits.mean, md1(0.6), 2.0);
}

#[test]
fn page_types_make_it_an_m_g_1_queue() {
    // TLC, tR = 10 + 20 us for each of 2, 3, 2 thresholds: 50, 70, 50 us, one page of each type on every wordline.
    let mut cfg = round_numbers(1, 1, 1);
    (cfg.geometry.bits_per_cell, cfg.timing.t_read_us) = (3, vec![]);
    (cfg.timing.t_read_base_us, cfg.timing.t_sense_us) = (10.0, 20.0);
    let times = [54_436.0, 74_436.0, 54_436.0];
    let mean = times.iter().sum::<f64>() / 3.0;
    let square = times.iter().map(|t| t * t).sum::<f64>() / 3.0;
    let rho = 0.6;
    let waits = poisson_reads(&cfg, 3_000, rho / mean, 2_000_000);
    close("M/G/1 mean wait at 0.6", waits.mean, rho / mean * square / (2.0 * (1.0 - rho)), 2.0);
}
