//! Small histograms of latencies: 32 steps for each doubling, so that what a step holds lies within 1/32 of it. They
//! merge exactly, step by step.

/// Steps for each doubling, as a power of two.
const STEPS_LOG2: u32 = 5;
/// Latencies from here on, 18 minutes, are one step, the last.
const LONGEST_LOG2: u32 = 40;
/// Steps of a histogram.
pub(crate) const STEPS: usize = (((LONGEST_LOG2 - STEPS_LOG2 + 1) << STEPS_LOG2) + 1) as usize;

/// The step of a latency, of two to the `LOG2` for each doubling; up to the first doubling each ns is a step.
#[inline(always)]
pub(crate) fn step<const LOG2: u32>(ns: u64) -> usize {
    let shift = (ns | 1 << LOG2).ilog2() - LOG2;
    (shift << LOG2) as usize + (ns >> shift) as usize
}

/// The shortest latency of such a step; ns.
pub(crate) fn shortest_of<const LOG2: u32>(step: usize) -> u64 {
    let shift = (step >> LOG2).saturating_sub(1);
    ((step - (shift << LOG2)) as u64) << shift
}

/// The step of a latency; ns.
#[inline]
pub(crate) fn step_of(ns: u64) -> usize {
    if ns >> LONGEST_LOG2 == 0 { step::<STEPS_LOG2>(ns) } else { STEPS - 1 }
}

/// The longest latency of a step; ns.
fn longest(step: usize) -> u64 {
    if step == STEPS - 1 { u64::MAX } else { shortest(step + 1) - 1 }
}

/// The shortest latency of a step; ns.
pub(crate) fn shortest(step: usize) -> u64 {
    shortest_of::<STEPS_LOG2>(step)
}

/// The step up to which so many of a million lie; none of nothing.
pub(crate) fn step_at(counts: impl Iterator<Item = u64> + Clone, of_million: u64) -> Option<usize> {
    let count: u128 = counts.clone().map(u128::from).sum();
    let rank = (count * u128::from(of_million)).div_ceil(1_000_000).max(1);
    let mut so_far = 0;
    counts.into_iter().position(|count| {
        so_far += u128::from(count);
        so_far >= rank
    })
}

/// The latency that so many of a million are at most as long as: at most 1/32 too long, and no longer than the longest.
/// All of them lie in these steps, of which the first has that number.
pub(crate) fn quantile(first: usize, steps: &[u32], of_million: u64, longest_ns: u64) -> Option<u64> {
    let found = step_at(steps.iter().map(|&count| u64::from(count)), of_million)?;
    Some(longest(first + found).min(longest_ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_in_order_and_none_is_wider_than_a_thirty_second() {
        let mut last = 0;
        for ns in (0..4_096).chain((12..62).flat_map(|log2| {
            let base = 1u64 << log2;
            (0..64).flat_map(move |part| [base + part * (base >> 6), base + part * (base >> 6) + 1])
        })) {
            let step = step_of(ns);
            assert!(step >= last && step < STEPS, "{ns}: step {step} after {last}");
            last = step;
            if ns < 1 << LONGEST_LOG2 {
                let end = longest(step);
                assert!(end >= ns && end - ns <= ns / 32, "{ns} in a step to {end}");
                assert!(step_of(end) == step && step_of(end + 1) == step + 1, "{ns}");
            }
        }
        assert_eq!(last, STEPS - 1);
    }

    #[test]
    fn quantiles_are_those_of_the_sorted_list_to_a_thirty_second() {
        let mut rng = ssd::rng::Rng::named(1, "steps");
        let mut steps = vec![0; STEPS];
        let mut all: Vec<u64> = (0..5_000).map(|_| u64::from(rng.below(1_000)) << rng.below(20)).collect();
        all.iter().for_each(|&ns| steps[step_of(ns)] += 1);
        all.sort_unstable();
        let most = all[all.len() - 1];
        for of_million in [1, 500_000, 990_000, 999_000, 1_000_000] {
            let exact = all[(all.len() * of_million / 1_000_000).max(1) - 1];
            let found = quantile(0, &steps, of_million as u64, most).unwrap();
            let (first, last) = (step_of(all[0]), step_of(most));
            assert_eq!(quantile(first, &steps[first..=last], of_million as u64, most), Some(found));
            assert!(found >= exact && found - exact <= exact / 32, "{of_million}: {found} for {exact}");
        }
        assert_eq!(quantile(0, &[0; STEPS], 500_000, 0), None);
        assert_eq!(quantile(7, &[], 500_000, 0), None);
    }
}
