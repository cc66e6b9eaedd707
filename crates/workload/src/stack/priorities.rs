//! Priorities of requests of which nobody says one: drawn, so much of each.

use crate::base::draw::TWO_TO_64;
use crate::base::error::WorkloadError;
use crate::base::report::SourceReport;
use crate::base::request::{FilesAtStart, Request, Source};
use crate::base::settings::{Value, found};
use ssd::rng::Rng;
use toml::de::DeValue;

/// Shares of low, medium and high priority among requests that say none; or nothing, and they go on saying none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PriorityShares(Option<[f64; 3]>);

/// How far the sum of three shares may be from one: they are written in decimals.
const ROUNDING: f64 = 1e-9;

impl PriorityShares {
    /// Whether nothing is said.
    pub(crate) fn is_empty(self) -> bool {
        self.0.is_none()
    }

    /// The numbers, whether they make sense or not.
    fn numbers(value: &DeValue<'_>) -> Option<Vec<f64>> {
        let DeValue::Array(items) = value else { return None };
        items.iter().map(|item| f64::read(item.get_ref())).collect()
    }
}

impl Value for PriorityShares {
    fn read(value: &DeValue<'_>) -> Option<Self> {
        match Self::numbers(value)?[..] {
            [] => Some(PriorityShares(None)),
            [low, medium, high]
                if low.min(medium).min(high) >= 0.0 && (low + medium + high - 1.0).abs() <= ROUNDING =>
            {
                Some(PriorityShares(Some([low, medium, high])))
            }
            _ => None,
        }
    }
    fn show(&self) -> String {
        self.0.map_or("[]".to_string(), |shares| format!("{shares:?}"))
    }
    fn allowed() -> String {
        "the shares of low, medium and high priority, such as [0.4, 0.4, 0.2], that sum to 1; or []"
            .to_string()
    }
    fn explain(key: &str, value: &DeValue<'_>) -> Option<WorkloadError> {
        let found = match Self::numbers(value) {
            Some(shares) => format!("found {shares:?}, which sum to {:?}", shares.iter().sum::<f64>()),
            None => format!("found {}", found(value)),
        };
        Some(WorkloadError::setting(key, found, Self::allowed()))
    }
}

/// A workload whose requests have priorities by shares, where they say none.
pub(crate) struct Prioritised {
    source: Box<dyn Source>,
    /// As 64-bit fractions: what is drawn below the first is low, from the second on high.
    below: [u64; 2],
    rng: Rng,
}

impl Prioritised {
    /// The workload itself if there are no shares.
    pub(crate) fn above(source: Box<dyn Source>, shares: PriorityShares, seed: u64) -> Box<dyn Source> {
        let Some([low, medium, _]) = shares.0 else { return source };
        let below = [low, low + medium].map(|share| (share * TWO_TO_64) as u64);
        Box::new(Prioritised { source, below, rng: Rng::named(seed, "workload/priority") })
    }
}

impl Source for Prioritised {
    fn next(&mut self) -> Result<Option<Request>, WorkloadError> {
        let mut next = self.source.next()?;
        if let Some(request) = &mut next {
            // Drawn for each, so that what some say changes nothing for the others.
            let drawn = self.rng.next_u64();
            if request.hints.priority == 0 {
                request.hints.priority = 1 + self.below.iter().filter(|&&below| drawn >= below).count() as u8;
            }
        }
        Ok(next)
    }

    fn len_hint(&self) -> Option<u64> {
        self.source.len_hint()
    }

    fn report(&self) -> SourceReport {
        self.source.report()
    }

    fn files_at_start(&self) -> FilesAtStart {
        self.source.files_at_start()
    }
}

#[cfg(test)]
mod tests {
    use crate::spec::kinds::Spec;

    fn spec(shares: &str) -> Result<Spec, String> {
        let text = format!("pattern = 'uniform'\ncount = 100000\npriority_shares = {shares}\n");
        Spec::parse(&text).map_err(|error| error.to_string())
    }

    fn counts(shares: &str) -> [u32; 4] {
        let mut source = spec(shares).unwrap().open(1 << 21).unwrap();
        let mut counts = [0; 4];
        while let Some(request) = source.next().unwrap() {
            counts[usize::from(request.hints.priority)] += 1;
        }
        counts
    }

    #[test]
    fn priorities_come_in_their_shares() {
        assert_eq!(counts("[]"), [100_000, 0, 0, 0]);
        assert_eq!(counts("[0, 1, 0]"), [0, 0, 100_000, 0]);
        assert_eq!(counts("[0.0, 0.0, 1.0]"), [0, 0, 0, 100_000]);
        let [none, low, medium, high] = counts("[0.4, 0.4, 0.2]");
        // Four standard deviations of a binomial count are 620 and 506.
        assert!(none == 0 && low.abs_diff(40_000) < 620 && medium.abs_diff(40_000) < 620, "{low} {medium}");
        assert!(high.abs_diff(20_000) < 506, "{high}");
    }

    #[test]
    fn shares_that_are_none_are_refused_by_name() {
        for (shares, says) in [
            ("[0.4, 0.4, 0.1]", "priority_shares: found [0.4, 0.4, 0.1], which sum to 0.9"),
            ("[0.5, 0.5]", "priority_shares: found [0.5, 0.5], which sum to 1.0"),
            ("[-0.5, 0.5, 1.0]", "priority_shares: found [-0.5, 0.5, 1.0]"),
            ("0.5", "priority_shares: found 0.5"),
        ] {
            let error = spec(shares).unwrap_err();
            assert!(error.contains(says) && error.contains("[0.4, 0.4, 0.2]"), "{shares}: {error}");
        }
    }
}
