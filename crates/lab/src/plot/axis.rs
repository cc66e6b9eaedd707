//! Where values lie on an axis, and which of them are marked.

/// Round steps of a linear axis from 0 to at least `most`: the marks, the last of them the end of the axis.
pub(crate) fn linear(most: f64) -> Vec<f64> {
    const MARKS: f64 = 6.0;
    if most <= 0.0 || !most.is_finite() {
        return vec![0.0, 1.0];
    }
    let rough = most / MARKS;
    let scale = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0].map(|step| step * scale).into_iter().find(|step| *step >= rough);
    let step = step.unwrap_or(10.0 * scale);
    (0..=(most / step).ceil() as u32).map(|i| f64::from(i) * step).collect()
}

/// Round steps of a linear axis that holds 0 and all values, from the least mark to the greatest.
pub(crate) fn around_zero(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let (mut least, mut most) = (0.0_f64, 0.0_f64);
    for value in values.filter(|value| value.is_finite()) {
        (least, most) = (least.min(value), most.max(value));
    }
    let marks = linear(most.max(-least));
    if least == 0.0 {
        return marks;
    }
    let step = marks[1] - marks[0];
    let [first, last] = [(least / step).floor() as i32, (most / step).ceil() as i32];
    (first..=last.max(first + 1)).map(|i| f64::from(i) * step).collect()
}

/// The powers of ten around a range of positive values, as exponents.
pub(crate) fn decades(least: f64, most: f64) -> (i32, i32) {
    let low = least.max(1.0).log10().floor() as i32;
    let high = most.max(1.0).log10().ceil() as i32;
    (low, high.max(low + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round_and_cover_the_range() {
        assert_eq!(linear(6.0), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(linear(0.0), [0.0, 1.0]);
        for most in [1e-9, 0.37, 1.0, 99.0, 123_456.0, 9.9e12] {
            let marks = linear(most);
            assert!(marks.last().is_some_and(|last| *last >= most) && marks.len() <= 8, "{marks:?}");
        }
        assert_eq!(around_zero([3.0, 6.0].into_iter()), linear(6.0));
        assert_eq!(
            around_zero([-1.5, 5.5, f64::NAN].into_iter()),
            [-2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
        );
        assert_eq!(around_zero([-3.0].into_iter()).first(), Some(&-3.0));
        assert_eq!(decades(87_000.0, 1_200_000.0), (4, 7));
        assert_eq!(decades(0.0, 0.0), (0, 1));
    }
}
