//! Counts of values over many orders of magnitude, in little memory.

/// Buckets of each power of two, as a power of two: values are told apart to 1/64.
const STEPS_SHIFT: u32 = 6;
const STEPS: u64 = 1 << STEPS_SHIFT;

/// How often values occurred: exact below 64, to 1/64 of the value above. At most 3,776 buckets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Histogram {
    weights: Vec<f64>,
}

/// The bucket of a value.
fn bucket(value: u64) -> usize {
    if value < STEPS {
        return value as usize;
    }
    let shift = value.ilog2() - STEPS_SHIFT;
    // The first bucket of a power of two follows the last of the one before.
    ((u64::from(shift) << STEPS_SHIFT) + (value >> shift)) as usize
}

/// The least value of a bucket.
fn least(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < STEPS {
        return bucket;
    }
    let shift = (bucket >> STEPS_SHIFT) - 1;
    // The one behind the last bucket begins at 2^64.
    let value = u128::from(bucket - (shift << STEPS_SHIFT)) << shift;
    u64::try_from(value).unwrap_or(u64::MAX)
}

impl Histogram {
    /// Counts a value with a weight.
    #[inline]
    pub(crate) fn add(&mut self, value: u64, weight: f64) {
        let bucket = bucket(value);
        if self.weights.len() <= bucket {
            self.weights.resize(bucket + 1, 0.0);
        }
        self.weights[bucket] += weight;
    }

    /// All weights together.
    pub(crate) fn total(&self) -> f64 {
        // An empty sum would be -0.
        self.weights.iter().fold(0.0, |sum, weight| sum + weight)
    }

    /// The least values of the buckets used, in ascending order, with their weights.
    pub(crate) fn steps(&self) -> impl Iterator<Item = (u64, f64)> {
        self.weights.iter().enumerate().filter(|(_, weight)| **weight != 0.0).map(|(i, w)| (least(i), *w))
    }

    /// The value that so many percent of the weight do not exceed (to 1/64); `None` if nothing was counted.
    pub(crate) fn percentile(&self, percent: f64) -> Option<u64> {
        let wanted = self.total() * percent / 100.0;
        let mut sum = 0.0;
        let mut last = None;
        for (value, weight) in self.steps() {
            sum += weight;
            last = Some(value);
            if sum >= wanted {
                break;
            }
        }
        last
    }

    /// The weight of all values below `limit`; exact where a bucket begins there, otherwise the bucket's part counts.
    pub(crate) fn below(&self, limit: u64) -> f64 {
        let last = bucket(limit);
        let whole: f64 = self.weights.iter().take(last).sum();
        let (from, to) = (least(last), least(last + 1));
        let part = (limit - from) as f64 / (to - from) as f64;
        whole + self.weights.get(last).map_or(0.0, |weight| weight * part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_cover_everything_in_order() {
        for (value, expected) in [
            (0, 0),
            (63, 63),
            (64, 64),
            (127, 127),
            (128, 128),
            (129, 128),
            (130, 129),
            (255, 191),
            (256, 192),
        ] {
            assert_eq!(bucket(value), expected, "{value}");
        }
        for at in 0..bucket(u64::MAX) {
            assert!(least(at) < least(at + 1), "{at}");
            assert_eq!((bucket(least(at)), bucket(least(at + 1) - 1)), (at, at));
        }
        assert_eq!(bucket(u64::MAX), 3_775);
        assert!(least(bucket(u64::MAX)) > u64::MAX - (u64::MAX >> 6));
        assert_eq!(least(bucket(u64::MAX) + 1), u64::MAX);
    }

    #[test]
    fn percentiles_and_sums() {
        let mut histogram = Histogram::default();
        assert_eq!((histogram.percentile(50.0), histogram.below(9)), (None, 0.0));
        (1..=50).for_each(|value| histogram.add(value, 2.0));
        assert_eq!([2.0, 50.0, 90.0, 100.0].map(|p| histogram.percentile(p)), [1, 25, 45, 50].map(Some));
        assert_eq!((histogram.below(1), histogram.below(26), histogram.below(u64::MAX)), (0.0, 50.0, 100.0));
        let mut halves = Histogram::default();
        halves.add(128, 4.0);
        assert_eq!((halves.below(128), halves.below(129), halves.below(130)), (0.0, 2.0, 4.0));
    }
}
