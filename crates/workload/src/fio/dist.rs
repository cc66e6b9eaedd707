//! Random places that are not all alike: by rank (Zipf, Pareto, normal) and by zone.

use super::settings::Distribution;
use crate::base::draw::below;
use crate::generate::synthetic::zipf::{Alias, harmonic};
use ssd::rng::Rng;

/// fio's multiplier for the hash that spreads ranks, found in the order of its most frequent blocks.
const SPREAD: u64 = 0x61C8_8646_80B5_83EB;

/// Chooses one of `blocks` blocks.
#[derive(Clone, Debug)]
pub(crate) enum Chooser {
    Uniform { blocks: u64 },
    Ranked { blocks: u64, curve: Curve, base: u64 },
    Zoned { zones: Vec<(u64, u64)>, shares: Alias },
}

/// How often ranks come.
#[derive(Clone, Debug)]
pub(crate) enum Curve {
    /// Gray et al., "Quickly generating billion-record synthetic databases" (SIGMOD 1994), figure 8.
    Zipf { zeta: f64, second: f64, eta: f64, alpha: f64 },
    /// n U^(ln h / ln(1 - h)).
    Pareto { power: f64 },
    /// The mean of twelve uniform numbers and one of that width.
    Normal { width: f64 },
}

/// The block of a rank.
fn spread(rank: u64, base: u64, blocks: u64) -> u64 {
    rank.wrapping_mul(SPREAD).wrapping_add(base) % blocks
}

/// A uniform number in [0, 1).
fn unit(rng: &mut Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
}

impl Chooser {
    /// For so many blocks (at least one), each of `block` sectors. `random` places the first rank, where the job does
    /// not. `Err` says which zones do not fit.
    pub fn new(distribution: &Distribution, blocks: u64, block: u64, random: u64) -> Result<Self, String> {
        let at = |centre: Option<f64>| match centre {
            Some(centre) => (centre * blocks as f64) as u64 % blocks,
            None => random % blocks,
        };
        Ok(match distribution {
            Distribution::Random => Chooser::Uniform { blocks },
            Distribution::Zipf(theta, centre) => {
                let zeta = harmonic(blocks, *theta);
                let two = 1.0 + libm::pow(0.5, *theta);
                let eta = (1.0 - libm::pow(2.0 / blocks as f64, 1.0 - theta)) / (1.0 - two / zeta);
                let curve = Curve::Zipf { zeta, second: two, eta, alpha: 1.0 / (1.0 - theta) };
                Chooser::Ranked { blocks, curve, base: at(*centre) }
            }
            Distribution::Pareto(h, centre) => {
                let curve = Curve::Pareto { power: libm::log(*h) / libm::log(1.0 - h) };
                Chooser::Ranked { blocks, curve, base: at(*centre) }
            }
            Distribution::Normal(deviation, centre) => {
                // Ranks lie around the middle; another centre shifts the blocks.
                let shift = (centre.unwrap_or(0.5) - 0.5) * blocks as f64;
                let base = libm::floor(shift).rem_euclid(blocks as f64) as u64 % blocks;
                Chooser::Ranked { blocks, curve: Curve::Normal { width: deviation / 100.0 }, base }
            }
            Distribution::Zoned(zones) => {
                let mut end = 0.0;
                let edges = zones.iter().map(|(share, space)| {
                    end += space;
                    (*share, (end / 100.0 * blocks as f64) as u64)
                });
                Chooser::zoned(edges.collect(), blocks)?
            }
            Distribution::ZonedAbs(zones) => {
                let mut end = 0u64;
                let edges = zones.iter().map(|(share, bytes)| {
                    end = end.saturating_add(*bytes);
                    (*share, end / crate::base::request::SECTOR_BYTES / block)
                });
                Chooser::zoned(edges.collect(), blocks)?
            }
        })
    }

    /// Zones with their shares of the requests and their ends.
    fn zoned(edges: Vec<(f64, u64)>, blocks: u64) -> Result<Self, String> {
        let (mut zones, mut shares, mut start) = (Vec::new(), Vec::new(), 0);
        for (number, (share, end)) in edges.into_iter().enumerate() {
            if share > 0.0 && (end <= start || end > blocks) {
                return Err(format!(
                    "zone {} ends at block {end} of {blocks}, and begins at {start}",
                    number + 1
                ));
            }
            if share > 0.0 {
                zones.push((start, end - start));
                shares.push(share);
            }
            start = end;
        }
        Ok(Chooser::Zoned { zones, shares: Alias::new(&shares) })
    }

    /// A block.
    #[inline]
    pub fn choose(&self, rng: &mut Rng) -> u64 {
        match self {
            Chooser::Uniform { blocks } => below(rng, *blocks),
            Chooser::Ranked { blocks, curve, base } => spread(curve.rank(rng, *blocks), *base, *blocks),
            Chooser::Zoned { zones, shares } => {
                let (start, length) = zones[shares.sample(rng)];
                start + below(rng, length)
            }
        }
    }
}

impl Curve {
    /// A rank from 0.
    #[inline]
    fn rank(&self, rng: &mut Rng, blocks: u64) -> u64 {
        let n = blocks as f64;
        match *self {
            Curve::Zipf { zeta, second, eta, alpha } => {
                let u = unit(rng);
                let rank = match u * zeta {
                    scaled if scaled < 1.0 => 0,
                    scaled if scaled < second => 1,
                    _ => (n * libm::pow(eta * u - eta + 1.0, alpha)) as u64,
                };
                rank.min(blocks - 1)
            }
            Curve::Pareto { power } => ((n - 1.0) * libm::pow(unit(rng), power)) as u64,
            Curve::Normal { width } => {
                let sum: f64 = (0..12).map(|_| unit(rng)).sum();
                let rank = n * (sum / 12.0 + width * (unit(rng) - 0.5));
                libm::floor(rank).rem_euclid(n) as u64 % blocks
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The figure of the remark on ranks: of 20,000 places 33.57 % are reached, of a power of two all.
    #[test]
    fn ranks_reach_all_places_of_a_power_of_two_only() {
        for (blocks, reached) in [(20_000, 6714), (1 << 14, 1 << 14)] {
            let places = (0..blocks).map(|rank| spread(rank, 7, blocks));
            assert_eq!(places.collect::<std::collections::BTreeSet<u64>>().len(), reached);
        }
    }
}
