//! How large files are.

use super::spec::{FilesSpec, SizeLaw};
use crate::base::draw::{below, unit_above_0};
use ssd::rng::Rng;

/// A number of the standard normal distribution (Box and Muller, 1958).
fn normal(rng: &mut Rng) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(unit_above_0(rng)));
    radius * libm::cos(2.0 * core::f64::consts::PI * unit_above_0(rng))
}

/// A number of the gamma distribution of mean `shape` (Marsaglia and Tsang, ACM TOMS 26(3), 2000).
pub(super) fn gamma(shape: f64, rng: &mut Rng) -> f64 {
    if shape < 1.0 {
        return gamma(shape + 1.0, rng) * libm::pow(unit_above_0(rng), 1.0 / shape);
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / libm::sqrt(9.0 * d);
    loop {
        let x = normal(rng);
        let v = 1.0 + c * x;
        if v > 0.0 {
            let cube = v * v * v;
            if libm::log(unit_above_0(rng)) < x * x / 2.0 + d - d * cube + d * libm::log(cube) {
                return d * cube;
            }
        }
    }
}

/// The size of a new file in bytes, at least one, in whole steps.
pub(super) fn draw(spec: &FilesSpec, rng: &mut Rng) -> u64 {
    match spec.sizes {
        SizeLaw::Gamma => {
            let mean = spec.mean_kib * 1024.0;
            let bytes = ((gamma(spec.size_shape, rng) * (mean / spec.size_shape)) as u64).max(1);
            match spec.size_step_kib << 10 {
                0 => bytes,
                // The nearest: so the mean stays what it is, but for the smallest.
                step => ((bytes + step / 2) / step).max(1) * step,
            }
        }
        SizeLaw::Uniform => even(spec, spec.size_min_kib << 10, spec.size_max_kib << 10, rng),
    }
}

/// A number of bytes from `least` up to `most`, each as likely; in whole steps.
pub(super) fn even(spec: &FilesSpec, least: u64, most: u64, rng: &mut Rng) -> u64 {
    match spec.size_step_kib << 10 {
        0 => least + below(rng, most - least + 1),
        step => {
            let (least, most) = (least.div_ceil(step).max(1), most / step);
            (least + below(rng, most - least + 1)) * step
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All multiples in a range come, nothing else does, and both laws keep their means.
    #[test]
    fn sizes_in_whole_steps() {
        let mut spec = FilesSpec { size_step_kib: 16, mean_kib: 96.0, ..FilesSpec::default() };
        let mut rng = Rng::named(5, "steps");
        let mut seen = [0u32; 6];
        for _ in 0..6_000 {
            let bytes = even(&spec, 5 << 10, 100 << 10, &mut rng);
            assert_eq!(bytes % (16 << 10), 0);
            seen[(bytes >> 14) as usize - 1] += 1;
        }
        assert!(seen.iter().all(|&count| count.abs_diff(1_000) < 160), "{seen:?}");
        let n = 100_000;
        let mean = |spec: &FilesSpec, rng: &mut Rng| {
            (0..n).map(|_| draw(spec, rng)).sum::<u64>() as f64 / f64::from(n) / 1024.0
        };
        let gamma = mean(&spec, &mut rng);
        assert!((gamma / 96.0 - 1.0).abs() < 0.02, "{gamma}");
        (spec.sizes, spec.size_min_kib, spec.size_max_kib) = (SizeLaw::Uniform, 512, 8192);
        let uniform = mean(&spec, &mut rng);
        assert!((uniform / 4352.0 - 1.0).abs() < 0.02, "{uniform}");
    }

    /// Mean and variance of a gamma distribution are both its shape; a third of the draws lies below its quantile.
    #[test]
    fn gamma_has_its_moments() {
        for shape in [0.5, 1.0, 1.5, 7.0] {
            let mut rng = Rng::named(3, "gamma");
            let n = 400_000;
            let draws: Vec<f64> = (0..n).map(|_| gamma(shape, &mut rng)).collect();
            let mean = draws.iter().sum::<f64>() / f64::from(n);
            let variance = draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / f64::from(n);
            // Five standard errors of the mean; the variance's is larger by its kurtosis.
            assert!((mean - shape).abs() < 5.0 * libm::sqrt(shape / f64::from(n)), "{shape}: {mean}");
            assert!((variance / shape - 1.0).abs() < 0.03, "{shape}: {variance}");
        }
        // An exponential distribution: the median is ln 2.
        let mut rng = Rng::named(4, "gamma");
        let below = (0..100_000).filter(|_| gamma(1.0, &mut rng) < core::f64::consts::LN_2).count();
        assert!(below.abs_diff(50_000) < 800, "{below}");
    }
}
