//! When generated requests arrive.

use crate::base::draw::unit_above_0;
use crate::base::error::WorkloadError;
use crate::base::settings::choice;
use ssd::rng::Rng;

choice! {
    /// When generated requests arrive.
    pub enum Arrival {
        /// All at time 0: whoever runs the workload keeps so many in flight.
        Closed = "closed",
        /// At equal distances.
        Fixed = "fixed",
        /// As a Poisson process: exponential distances.
        Poisson = "poisson",
        /// In bursts: so many as a Poisson process of a higher rate, then none until the mean rate is met.
        Bursts = "bursts",
    }
}

/// A time in nanoseconds with 32 bits behind the point, so that rounding does not add up.
#[derive(Clone, Copy, Debug, Default)]
struct FineTime {
    ns: u64,
    fraction: u32,
}

const TWO_TO_32: f64 = 4_294_967_296.0;

impl FineTime {
    /// A positive time; what lies below 2^-32 ns is cut off.
    #[inline]
    fn from_ns(ns: f64) -> Self {
        let whole = ns as u64;
        FineTime { ns: whole, fraction: ((ns - whole as f64) * TWO_TO_32) as u32 }
    }

    #[inline]
    fn add(&mut self, other: FineTime) {
        let (fraction, carry) = self.fraction.overflowing_add(other.fraction);
        self.fraction = fraction;
        self.ns = self.ns.saturating_add(other.ns).saturating_add(u64::from(carry));
    }
}

/// What a burst is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bursts {
    /// Requests of one.
    pub requests: u64,
    /// Arrivals per second in it.
    pub rate_iops: f64,
}

impl Bursts {
    /// Refuses bursts that are slower than all requests together.
    pub(crate) fn check(self, arrival: Arrival, rate_iops: f64) -> Result<(), WorkloadError> {
        if arrival != Arrival::Bursts || self.rate_iops >= rate_iops {
            return Ok(());
        }
        let found = format!("found {:?}", self.rate_iops);
        Err(WorkloadError::setting("burst_rate_iops", found, format!("at least rate_iops = {rate_iops:?}")))
    }
}

/// Longest duration in seconds: 146 years.
const SECONDS_MAX: f64 = 4.6e9;

/// Refuses so many requests as last too long.
pub(crate) fn check_span(count: u64, repeat: u64, rate_iops: f64) -> Result<(), WorkloadError> {
    if count as f64 * repeat as f64 / rate_iops <= SECONDS_MAX {
        return Ok(());
    }
    let found =
        format!("{count} requests, {repeat} times, at {rate_iops} per second last longer than 146 years");
    Err(WorkloadError::setting("count", found, "count * repeat / rate_iops up to 4.6e9 s"))
}

/// Declares the settings of a generator: its own, and behind them those that all have.
macro_rules! generator {
    ($(#[$doc:meta])* pub struct $name:ident { $($own:tt)* }) => {
        $crate::base::settings::settings! {
            $(#[$doc])*
            pub struct $name {
                $($own)*
                /// When requests arrive.
                arrival: $crate::generate::synthetic::arrival::Arrival =
                    $crate::generate::synthetic::arrival::Arrival::Closed, unit "", allowed "", if |_| true;
                /// Arrivals per second on average, unless `closed`.
                rate_iops: f64 = 10_000.0, unit "1/s", allowed "0.01 to 1e9", if |x| (0.01..=1e9).contains(x);
                /// `bursts`: requests per burst.
                burst_requests: u64 = 1_000, unit "requests", allowed "a whole number from 1", if |n| *n >= 1;
                /// `bursts`: arrivals per second in a burst.
                burst_rate_iops: f64 = 100_000.0, unit "1/s", allowed "0.01 to 1e9",
                    if |x| (0.01..=1e9).contains(x);
                /// Number of passes over the same requests; each starts one mean gap after the previous one.
                repeat: u64 = 1, unit "", allowed "a whole number from 1", if |n| *n >= 1;
                /// Users who all send these requests, each with its own gaps: the original's times U(0,2); 1 for the
                /// original gaps.
                copies: u64 = 1, unit "", allowed "1 to 1000", if |n| (1..=1000).contains(n);
                /// Page cache above the drive, like an operating system's; 0 for none.
                page_cache_mib: f64 = 0.0, unit "MiB", allowed "0 to 1e6", if |x| (0.0..=1e6).contains(x);
                /// A plain LRU page cache: no read-ahead, no flusher, dirty pages are written when they are evicted.
                plain_lru: bool = false, unit "", allowed "", if |_| true;
                /// Shares of low, medium and high priority, drawn for each request; empty: no priorities.
                priority_shares: $crate::stack::priorities::PriorityShares =
                    $crate::stack::priorities::PriorityShares::default(), unit "", allowed "", if |_| true;
                /// Seed of the random sequences.
                seed: u64 = 1, unit "", allowed "", if |_| true;
            }
        }

        impl $name {
            fn bursts(&self) -> $crate::generate::synthetic::arrival::Bursts {
                let (requests, rate_iops) = (self.burst_requests, self.burst_rate_iops);
                $crate::generate::synthetic::arrival::Bursts { requests, rate_iops }
            }

            /// Its clock.
            pub(crate) fn clock(&self) -> $crate::generate::synthetic::arrival::Clock {
                $crate::generate::synthetic::arrival::Clock::new(self.arrival, self.rate_iops, self.bursts(), self.seed)
            }

            /// The page cache above the drive.
            pub(crate) fn cache(&self) -> Option<(f64, bool)> {
                (self.page_cache_mib > 0.0).then_some((self.page_cache_mib, self.plain_lru))
            }

            /// Priorities that are drawn, and with which seed.
            pub(crate) fn priorities(&self) -> ($crate::stack::priorities::PriorityShares, u64) {
                (self.priority_shares, self.seed)
            }

            /// Checks the times of so many requests in one pass.
            pub(crate) fn check_times(&self, count: u64) -> Result<(), $crate::base::error::WorkloadError> {
                if self.arrival != $crate::generate::synthetic::arrival::Arrival::Closed {
                    $crate::generate::synthetic::arrival::check_span(count, self.repeat, self.rate_iops)?;
                }
                self.bursts().check(self.arrival, self.rate_iops)
            }
        }
    };
}
pub(crate) use generator;

/// Hands out arrival times; the first is 0.
#[derive(Clone)]
pub(crate) struct Clock {
    next: FineTime,
    process: Process,
}

#[derive(Clone)]
enum Process {
    Closed,
    Fixed(FineTime),
    Poisson {
        mean_ns: f64,
        rng: Rng,
    },
    /// A burst begins each `period`, or when the one before has ended, if that is later.
    Bursts {
        mean_ns: f64,
        rng: Rng,
        requests: u64,
        left: u64,
        period: FineTime,
        start: FineTime,
    },
}

/// A distance of a Poisson process.
#[inline]
fn exponential(mean_ns: f64, rng: &mut Rng) -> FineTime {
    FineTime::from_ns(-libm::log(unit_above_0(rng)) * mean_ns)
}

impl Clock {
    /// A clock of so many arrivals a second on average.
    pub(crate) fn new(arrival: Arrival, rate_iops: f64, bursts: Bursts, seed: u64) -> Self {
        let mean_ns = 1e9 / rate_iops;
        let process = match arrival {
            Arrival::Closed => Process::Closed,
            Arrival::Fixed => Process::Fixed(FineTime::from_ns(mean_ns)),
            Arrival::Poisson => Process::Poisson { mean_ns, rng: Rng::named(seed, "workload/arrival") },
            Arrival::Bursts => Process::Bursts {
                mean_ns: 1e9 / bursts.rate_iops,
                rng: Rng::named(seed, "workload/arrival"),
                requests: bursts.requests,
                left: bursts.requests,
                period: FineTime::from_ns(bursts.requests as f64 * mean_ns),
                start: FineTime::default(),
            },
        };
        Clock { next: FineTime::default(), process }
    }

    /// The time of the next request.
    #[inline]
    pub(crate) fn tick(&mut self) -> u64 {
        let now = self.next.ns;
        match &mut self.process {
            Process::Closed => {}
            Process::Fixed(gap) => self.next.add(*gap),
            Process::Poisson { mean_ns, rng } => self.next.add(exponential(*mean_ns, rng)),
            Process::Bursts { mean_ns, rng, requests, left, period, start } => {
                *left -= 1;
                self.next.add(exponential(*mean_ns, rng));
                if *left == 0 {
                    *left = *requests;
                    start.add(*period);
                    if start.ns > self.next.ns {
                        self.next = *start;
                    }
                }
            }
        }
        now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BURSTS: Bursts = Bursts { requests: 100, rate_iops: 50_000.0 };

    /// 100 requests at 50,000 a second take 2 ms; at 1,000 a second on average they begin each 100 ms.
    #[test]
    fn bursts_keep_both_rates() {
        let mut clock = Clock::new(Arrival::Bursts, 1_000.0, BURSTS, 1);
        let times: Vec<u64> = (0..100_000).map(|_| clock.tick()).collect();
        for (number, burst) in times.chunks(100).enumerate() {
            assert_eq!(burst[0], number as u64 * 100_000_000);
        }
        let lengths: u64 = times.chunks(100).map(|burst| burst[99] - burst[0]).sum();
        // 99 distances of 20 us in each of 1000 bursts; five standard errors are 1.6 %.
        let mean_ms = lengths as f64 / 1000.0 / 1e6;
        assert!((mean_ms - 1.98).abs() < 0.032, "{mean_ms} ms");
    }

    #[test]
    fn fixed_rate_does_not_drift() {
        let mut clock = Clock::new(Arrival::Fixed, 3.0, BURSTS, 1);
        let last = (0..3_000_001).map(|_| clock.tick()).last();
        assert!(last.is_some_and(|ns| ns.abs_diff(1_000_000_000_000_000) <= 1), "{last:?}");
    }

    #[test]
    fn poisson_has_mean_and_variance_of_an_exponential() {
        let mut clock = Clock::new(Arrival::Poisson, 50_000.0, BURSTS, 1);
        let times: Vec<u64> = (0..1_000_001).map(|_| clock.tick()).collect();
        assert_eq!(times[0], 0);
        let gaps: Vec<f64> = times.windows(2).map(|w| (w[1] - w[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|g| (g - mean) * (g - mean)).sum::<f64>() / gaps.len() as f64;
        // Standard error of the mean is 0.1 %, of the variance about 0.3 %.
        assert!((mean / 20_000.0 - 1.0).abs() < 0.005, "{mean}");
        assert!((variance / 4e8 - 1.0).abs() < 0.015, "{variance}");
    }
}
