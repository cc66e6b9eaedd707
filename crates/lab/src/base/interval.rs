//! Means of repeated runs, and how sure they are.

/// Half-widths of 95 % of Student's t distribution, for 1 to 30 degrees of freedom.
const T_95: [f64; 30] = [
    12.70620, 4.30265, 3.18245, 2.77645, 2.57058, 2.44691, 2.36462, 2.30600, 2.26216, 2.22814, 2.20099,
    2.17881, 2.16037, 2.14479, 2.13145, 2.11991, 2.10982, 2.10092, 2.09302, 2.08596, 2.07961, 2.07387,
    2.06866, 2.06390, 2.05954, 2.05553, 2.05183, 2.04841, 2.04523, 2.04227,
];

/// The 97.5 % quantile of Student's t distribution (Student 1908), with a relative error below 1e-5.
///
/// Beyond 30 degrees of freedom it is the expansion of Abramowitz and Stegun (1964), 26.7.5.
pub fn t_95(degrees_of_freedom: usize) -> f64 {
    let tabled = degrees_of_freedom.checked_sub(1).and_then(|at| T_95.get(at));
    tabled.copied().unwrap_or_else(|| {
        let v = degrees_of_freedom as f64;
        1.959_963_985 + (2.372_271_230 + (2.822_498_616 + 2.555_849_680 / v) / v) / v
    })
}

/// A mean of independent samples with its two-sided 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Number of samples.
    pub n: usize,
    /// Arithmetic mean, in the samples' unit.
    pub mean: f64,
    /// Half the width of the interval, in the samples' unit; a single sample has none.
    pub half_width: Option<f64>,
}

impl Interval {
    /// By Student's t (Student 1908), in one pass over the samples (Welford 1962); `None` of no samples.
    pub fn of(samples: &[f64]) -> Option<Self> {
        let (mut n, mut mean, mut squares) = (0, 0.0, 0.0);
        for sample in samples {
            n += 1;
            let off = sample - mean;
            mean += off / n as f64;
            squares += off * (sample - mean);
        }
        let half_width = (n > 1).then(|| t_95(n - 1) * (squares / (n - 1) as f64 / n as f64).sqrt());
        (n > 0).then_some(Interval { n, mean, half_width })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_published_tables() {
        let of_samples = [
            (2, 12.706),
            (3, 4.303),
            (5, 2.776),
            (10, 2.262),
            (31, 2.042),
            (41, 2.021),
            (61, 2.000),
            (101, 1.984),
            (1001, 1.962),
            (usize::MAX, 1.960),
        ];
        for (n, t) in of_samples {
            assert!((t_95(n - 1) - t).abs() < 0.000_51, "{n} samples: {}", t_95(n - 1));
        }
        assert!((1..200).all(|v| t_95(v) > t_95(v + 1)), "falls with the degrees of freedom");
    }

    #[test]
    fn an_interval_is_t_times_the_standard_error() {
        // 2, 4, 4, 4, 5, 5, 7, 9: squares of 32 around 5; 2.36462 x sqrt(32 / 7 / 8).
        let it = Interval::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).expect("samples");
        assert_eq!((it.n, it.mean), (8, 5.0));
        assert!((it.half_width.expect("several") - 1.78748).abs() < 1e-5, "{it:?}");
        assert_eq!(Interval::of(&[3.0]), Some(Interval { n: 1, mean: 3.0, half_width: None }));
        assert_eq!(Interval::of(&[]), None);
    }

    #[test]
    fn a_large_mean_does_not_hide_a_small_spread() {
        // The sum of squares less the square of the sum would be 0 or negative here.
        let it = Interval::of(&[1e9 + 4.0, 1e9 + 7.0, 1e9 + 13.0, 1e9 + 16.0]).expect("samples");
        assert_eq!(it.mean, 1e9 + 10.0);
        // A variance of 30.
        assert!((it.half_width.expect("several") - 3.182_45 * (30.0f64 / 4.0).sqrt()).abs() < 1e-6, "{it:?}");
    }
}
