//! Bit errors of one sector, drawn so that the same place gives the same errors on every machine.
//!
//! The number of errors is binomial: each of a sector's bits is wrong with the page's raw bit error rate. It is drawn
//! by inversion: the place (block, cycle, page, sector) fixes a quantile, and the number of errors is the binomial's
//! quantile at the rate of the moment. So errors of a sector only grow while its rate grows, as the same weak cells
//! stay weak, and another read of the same data differs by random telegraph noise alone.

use super::CellModel;
use crate::rng::{Rng, SPREAD, mix};

/// Which sector, and which read of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectorRead {
    /// Block, counted over the drive.
    pub block: u32,
    /// Erases of the block: new data, new errors.
    pub cycle: u32,
    /// Page of the block.
    pub page: u32,
    /// Sector of the page.
    pub sector: u32,
    /// Reads of the page before.
    pub read: u64,
}

/// The stream `name` of `seed` at a place: streams of different places are independent.
pub fn place_stream(seed: u64, name: &str, place: &[u64]) -> Rng {
    let key = place.iter().fold(mix(seed), |key, part| mix(key ^ part.wrapping_mul(SPREAD)));
    Rng::named(key, name)
}

/// An even variable of (0, 1) with 53 bits.
pub fn uniform(rng: &mut Rng) -> f64 {
    ((rng.next_u64() >> 11) as f64 + 0.5) / 9_007_199_254_740_992.0
}

/// Logarithm of the probability that `k` of `n` trials of probability `p` hit; 0 < p < 1.
fn log_mass(n: u32, p: f64, k: u32) -> f64 {
    let (n, k) = (f64::from(n), f64::from(k));
    let ways = libm::lgamma(n + 1.0) - libm::lgamma(k + 1.0) - libm::lgamma(n - k + 1.0);
    ways + k * libm::log(p) + (n - k) * libm::log1p(-p)
}

/// Sum of the masses of `k`, `k-1`, ... 0, given that of `k`, for `k` at most the mode.
fn mass_down(n: u32, odds: f64, k: u32, mass: f64) -> f64 {
    let (mut sum, mut term) = (0.0, mass);
    for i in (0..=k).rev() {
        sum += term;
        term *= f64::from(i) / (f64::from(n - i) + 1.0) / odds;
        if term < sum * 1e-17 {
            break;
        }
    }
    sum
}

/// Sum of the masses of `k`, `k+1`, ... `n`, given that of `k`, for `k` at least the mode.
fn mass_up(n: u32, odds: f64, k: u32, mass: f64) -> f64 {
    let (mut sum, mut term) = (0.0, mass);
    for i in k..=n {
        sum += term;
        term *= f64::from(n - i) / (f64::from(i) + 1.0) * odds;
        if term < sum * 1e-17 {
            break;
        }
    }
    sum
}

/// The distribution around its mode, from which sums start: exact to rounding, as masses are divided by their sum.
struct Binomial {
    n: u32,
    odds: f64,
    mode: u32,
    at_mode: f64,
    /// Probability of the mode or less.
    to_mode: f64,
}

impl Binomial {
    /// For 0 < p < 1.
    fn new(n: u32, p: f64) -> Self {
        let odds = p / (1.0 - p);
        let mode = (libm::floor((f64::from(n) + 1.0) * p) as u32).min(n);
        let at_mode = libm::exp(log_mass(n, p, mode));
        let below = mass_down(n, odds, mode, at_mode);
        let total = below + mass_up(n, odds, mode, at_mode) - at_mode;
        Binomial { n, odds, mode, at_mode: at_mode / total, to_mode: below / total }
    }

    /// Mass of `k - 1` from that of `k`.
    fn down(&self, k: u32, mass: f64) -> f64 {
        mass * f64::from(k) / (f64::from(self.n - k) + 1.0) / self.odds
    }

    /// Mass of `k + 1` from that of `k`.
    fn up(&self, k: u32, mass: f64) -> f64 {
        mass * f64::from(self.n - k) / (f64::from(k) + 1.0) * self.odds
    }
}

/// Probability that at most `k` of `n` trials of probability `p` hit.
pub fn binomial_at_most(n: u32, p: f64, k: u32) -> f64 {
    if p <= 0.0 || k >= n {
        return 1.0;
    }
    if p >= 1.0 {
        return 0.0;
    }
    let trials = Binomial::new(n, p);
    let mut mass = trials.at_mode;
    if k <= trials.mode {
        mass = (k + 1..=trials.mode).rev().fold(mass, |mass, at| trials.down(at, mass));
        return mass_down(n, trials.odds, k, mass).min(1.0);
    }
    mass = (trials.mode..=k).fold(mass, |mass, at| trials.up(at, mass));
    (1.0 - mass_up(n, trials.odds, k + 1, mass)).max(0.0)
}

/// The smallest `k` such that at most `k` of `n` trials of probability `p` hit with probability `u` or more.
///
/// Exact inversion: from the mode outwards by the recursion of neighbouring masses.
pub fn binomial_quantile(n: u32, p: f64, u: f64) -> u32 {
    if p <= 0.0 {
        return 0;
    }
    if p >= 1.0 {
        return n;
    }
    let trials = Binomial::new(n, p);
    let (mut k, mut mass, mut at_most) = (trials.mode, trials.at_mode, trials.to_mode);
    if u <= at_most {
        while k > 0 && u <= at_most - mass {
            at_most -= mass;
            mass = trials.down(k, mass);
            k -= 1;
        }
    } else {
        while k < n && u > at_most && mass > 0.0 {
            mass = trials.up(k, mass);
            k += 1;
            at_most += mass;
        }
    }
    k
}

impl CellModel {
    /// Errors that a read of a sector finds at the page's raw bit error rate.
    ///
    /// Stream `nand.cell.errors` gives the sector its quantile, stream `nand.cell.rtn` each read of the page its noise
    /// (even over plus and minus `effects.rtn_bits`, at most the mean errors, the same for all sectors of the read).
    pub fn sector_errors(&self, seed: u64, at: &SectorRead, rber: f64) -> u32 {
        let n = self.bits_in_sector();
        let data = [u64::from(at.block), u64::from(at.cycle), u64::from(at.page)];
        let place = [data[0], data[1], data[2], u64::from(at.sector)];
        let u = uniform(&mut place_stream(seed, "nand.cell.errors", &place));
        let errors = f64::from(binomial_quantile(n, rber, u));
        let read = [data[0], data[1], data[2], at.read];
        let swing = self.part.effects.rtn_bits.min(self.sector_bits(rber));
        let noise = uniform(&mut place_stream(seed, "nand.cell.rtn", &read)) - 0.5;
        libm::round(errors + 2.0 * noise * swing).clamp(0.0, f64::from(n)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nand::cell::CellModel;

    #[test]
    fn quantile_inverts_the_sum_of_masses() {
        for (n, p) in [(8192, 1e-5), (8192, 2e-3), (8192, 0.011), (8192, 0.3), (16, 0.5), (1, 0.9)] {
            let mean = f64::from(n) * p;
            let low = (mean * 0.5) as u32;
            for k in (low..(low + 60).min(n)).step_by(7) {
                let at_most = binomial_at_most(n, p, k);
                if at_most > 1e-6 && at_most < 1.0 - 1e-6 {
                    assert_eq!(binomial_quantile(n, p, at_most * (1.0 - 1e-8)), k, "{n} {p} {k}");
                    assert_eq!(binomial_quantile(n, p, at_most * (1.0 + 1e-8)), k + 1, "{n} {p} {k}");
                }
            }
        }
        // Binomial(4, 1/2): 1, 5, 11, 15, 16 of 16.
        for (k, cases) in [1.0, 5.0, 11.0, 15.0, 16.0].into_iter().enumerate() {
            assert!((binomial_at_most(4, 0.5, k as u32) - cases / 16.0).abs() < 1e-12);
        }
        assert_eq!((binomial_quantile(9, 0.0, 0.5), binomial_quantile(9, 1.0, 0.5)), (0, 9));
    }

    #[test]
    fn draws_have_the_mean_and_variance_of_the_binomial() {
        for rber in [1e-4, 2.6e-3, 0.02] {
            let mut rng = Rng::named(5, "draws");
            let draws = 20_000;
            let (mut sum, mut squares) = (0.0, 0.0);
            for _ in 0..draws {
                let k = f64::from(binomial_quantile(8192, rber, uniform(&mut rng)));
                sum += k;
                squares += k * k;
            }
            let mean = sum / f64::from(draws);
            let variance = squares / f64::from(draws) - mean * mean;
            let expected = 8192.0 * rber;
            assert!(
                (mean - expected).abs() < 4.0 * (expected / f64::from(draws)).sqrt(),
                "{mean} {expected}"
            );
            assert!((variance / (expected * (1.0 - rber)) - 1.0).abs() < 0.05, "{variance} {expected}");
        }
    }

    #[test]
    fn the_same_sector_has_the_same_errors_and_more_of_them_later() {
        let tlc = CellModel::preset("tlc_48l").expect("a shipped part");
        let at = SectorRead { block: 7, cycle: 3, page: 11, sector: 2, read: 0 };
        assert_eq!(tlc.sector_errors(1, &at, 0.003), tlc.sector_errors(1, &at, 0.003));
        let mut before = 0;
        for step in 1..100 {
            let errors = tlc.sector_errors(1, &at, f64::from(step) * 1e-4);
            assert!(errors >= before);
            before = errors;
        }
        let reads: Vec<u32> =
            (0..200).map(|read| tlc.sector_errors(1, &SectorRead { read, ..at }, 0.003)).collect();
        let (low, high) = (reads.iter().min().copied(), reads.iter().max().copied());
        assert_eq!(
            high.zip(low).map(|(high, low)| high - low),
            Some(4),
            "RealWear: up to 4 bits between reads"
        );
        let others: Vec<u32> =
            (0..50).map(|sector| tlc.sector_errors(1, &SectorRead { sector, ..at }, 0.003)).collect();
        assert!(others.iter().any(|errors| *errors != others[0]));
    }
}
