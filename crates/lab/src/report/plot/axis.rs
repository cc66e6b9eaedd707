//! Where values lie on an axis, and which of them are marked.

use super::frame::{Mark, Scale};
use crate::result::Distribution;

/// Bars further apart than this power of ten have a logarithmic axis.
const SPAN: f64 = 1.5;
/// Numbers from here on, and steps below, are written with their power of ten.
const LONG: f64 = 1e6;
const SHORT: f64 = 1e-4;

/// Round steps of a linear axis from 0 to at least `most`: the marks, the last of them the end of the axis.
fn linear(most: f64) -> Vec<f64> {
    const MARKS: f64 = 6.0;
    if most <= 0.0 || !most.is_finite() {
        return vec![0.0, 1.0];
    }
    let rough = most / MARKS;
    let scale = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0].map(|step| step * scale).into_iter().find(|step| *step >= rough);
    let step = step.unwrap_or(10.0 * scale);
    (0..=steps(most, step)).map(|i| f64::from(i) * step).collect()
}

/// How many steps hold a value; shares of a whole add up to a little more or less than that.
fn steps(value: f64, step: f64) -> i32 {
    (value / step - 1e-9).ceil() as i32
}

/// Round steps of a linear axis that holds 0 and all values, from the least mark to the greatest.
fn around_zero(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let (mut least, mut most) = (0.0_f64, 0.0_f64);
    for value in values.filter(|value| value.is_finite()) {
        (least, most) = (least.min(value), most.max(value));
    }
    let marks = linear(most.max(-least));
    if least == 0.0 {
        return marks;
    }
    let step = marks[1] - marks[0];
    let [first, last] = [-steps(-least, step), steps(most, step)];
    (first..=last.max(first + 1)).map(|i| f64::from(i) * step).collect()
}

/// The powers of ten around a range of positive values, as exponents.
fn decades(least: f64, most: f64) -> (i32, i32) {
    let low = least.max(1.0).log10().floor() as i32;
    let high = most.max(1.0).log10().ceil() as i32;
    (low, high.max(low + 1))
}

/// A fraction without zeros at its end.
fn trimmed(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// What a mark says on an axis with such steps.
fn label(value: f64, step: f64) -> String {
    if value.abs() < step * 1e-6 {
        return "0".to_owned();
    }
    if value.abs() >= LONG || step < SHORT {
        let text = format!("{value:.2e}");
        let (number, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{exponent}", trimmed(number));
    }
    trimmed(&format!("{value:.5}")).to_owned()
}

/// An axis of numbers. It holds 0, or is logarithmic.
pub(crate) struct Numbers {
    marks: Vec<f64>,
    low: f64,
    high: f64,
    is_log: bool,
}

impl Numbers {
    /// Linear, with round steps around 0 and all values.
    pub fn linear(values: impl Iterator<Item = f64>) -> Self {
        let marks = around_zero(values);
        let (low, high) = (marks[0], marks[marks.len() - 1]);
        Numbers { marks, low, high, is_log: false }
    }

    /// Of bars: logarithmic from a tenth of the least on, if they lie a decade and a half apart and none below 0.
    pub fn of_bars(values: impl Iterator<Item = f64> + Clone) -> Self {
        let positive = values.clone().filter(|value| *value > 0.0 && value.is_finite());
        let (least, most) = positive
            .fold((f64::INFINITY, 0.0), |(least, most): (f64, f64), it| (least.min(it), most.max(it)));
        if most <= least * 10f64.powf(SPAN) || values.clone().any(|value| value < 0.0) {
            return Self::linear(values);
        }
        let (low, last) = (least / 10.0, steps(most.log10(), 1.0));
        let marks = (steps(low.log10(), 1.0)..=last).map(|decade| 10f64.powi(decade)).collect();
        Numbers { marks, low, high: 10f64.powi(last), is_log: true }
    }

    /// The share of the axis that a value is at.
    pub fn share(&self, value: f64) -> f64 {
        if self.is_log {
            (value.max(self.low) / self.low).log10() / (self.high / self.low).log10()
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }

    /// The axis with its marks.
    pub fn scale(&self, title: impl Into<String>) -> Scale {
        let step = |value: f64| if self.is_log { value } else { self.marks[1] - self.marks[0] };
        let mark = |value: &f64| Mark::new(self.share(*value), label(*value, step(*value)));
        Scale { title: title.into(), marks: self.marks.iter().map(mark).collect() }
    }
}

/// Units of times, with the power of ten of their nanoseconds: that in which the least of an axis is a whole number,
/// but none below microseconds.
fn unit(low: i32) -> (&'static str, i32) {
    match low {
        9.. => ("s", 9),
        6.. => ("ms", 6),
        _ => ("us", 3),
    }
}

/// The unit for times from `least_ns` on, and its nanoseconds.
pub(crate) fn unit_of(least_ns: f64) -> (&'static str, f64) {
    let (name, power) = unit(decades(least_ns, least_ns).0);
    (name, 10f64.powi(power))
}

/// Times on a logarithmic axis, in one unit.
pub(crate) struct Times {
    low: i32,
    high: i32,
}

impl Times {
    /// The decades around two times.
    pub fn new(least_ns: f64, most_ns: f64) -> Self {
        let (low, high) = decades(least_ns, most_ns);
        Times { low, high }
    }

    /// The decades around all of some distributions.
    pub fn around<'a>(spreads: impl Iterator<Item = &'a Distribution> + Clone) -> Self {
        let least = spreads.clone().filter_map(|spread| spread.min).min().unwrap_or(1);
        let most = spreads.filter_map(|spread| spread.max).max().unwrap_or(1);
        Self::new(least as f64, most as f64)
    }

    /// The share of the axis that a time is at.
    pub fn share(&self, ns: f64) -> f64 {
        (ns.max(1.0).log10() - f64::from(self.low)) / f64::from(self.high - self.low)
    }

    /// Marks with their numbers, and the name of the unit that both are in.
    pub fn marks(&self) -> (Vec<(f64, String)>, &'static str) {
        let (name, power) = unit(self.low);
        let values = (self.low - power..=self.high - power).map(|decade| 10f64.powi(decade));
        (values.map(|value| (value, label(value, value))).collect(), name)
    }

    /// A time in that unit.
    pub fn in_unit(&self, ns: f64) -> f64 {
        ns / 10f64.powi(unit(self.low).1)
    }

    /// The axis with its marks.
    pub fn scale(&self, what: &str) -> Scale {
        let (marks, name) = self.marks();
        let count = (marks.len() - 1) as f64;
        let marks = marks.into_iter().enumerate();
        let marks = marks.map(|(at, (_, label))| Mark::new(at as f64 / count, label)).collect();
        Scale { title: format!("{what} ({name})"), marks }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: &Scale) -> Vec<&str> {
        scale.marks.iter().map(|mark| mark.label.as_str()).collect()
    }

    #[test]
    fn marks_are_round_and_cover_the_range() {
        assert_eq!(linear(6.0), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(linear(0.0), [0.0, 1.0]);
        assert_eq!(linear(1.0 + 1e-12).last(), Some(&1.0));
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

    #[test]
    fn marks_tell_their_numbers() {
        for (most, told) in [
            (0.00005, ["0", "1e-5", "2e-5"]),
            (0.0014, ["0", "0.00025", "0.0005"]),
            (0.3, ["0", "0.05", "0.1"]),
            (12_000.0, ["0", "2000", "4000"]),
            (1.4e8, ["0", "2.5e7", "5e7"]),
        ] {
            let scale = Numbers::linear([most].into_iter()).scale("x");
            assert_eq!(labels(&scale)[..3], told, "{most}");
        }
    }

    /// The floor is a decade below the least bar, so that each is seen.
    #[test]
    fn bars_far_apart_have_a_logarithmic_axis() {
        let near = Numbers::of_bars([10.0, 300.0].into_iter());
        assert_eq!((near.is_log, near.share(0.0)), (false, 0.0));
        let far = Numbers::of_bars([0.0, 80.0, 90_000.0].into_iter());
        assert_eq!((far.is_log, far.low, far.high), (true, 8.0, 1e5));
        assert_eq!(labels(&far.scale("x")), ["10", "100", "1000", "10000", "100000"]);
        assert_eq!((far.share(0.0), far.share(8.0), far.share(1e5)), (0.0, 0.0, 1.0));
        let decade = far.share(80.0);
        assert!((decade - 1.0 / 12_500f64.log10()).abs() < 1e-9, "{decade}");
        let whole = Numbers::of_bars([1.0, 1000.0].into_iter());
        assert_eq!(labels(&whole.scale("x")), ["0.1", "1", "10", "100", "1000"]);
        assert!(!Numbers::of_bars([-1.0, 1.0, 1000.0].into_iter()).is_log);
        assert!(!Numbers::of_bars([0.0].into_iter()).is_log);
    }

    #[test]
    fn times_have_one_unit() {
        let of = |least, most| {
            let scale = Times::new(least, most).scale("Latency");
            (scale.title.clone(), labels(&scale).join(" "))
        };
        assert_eq!(of(300.0, 2.5e7), ("Latency (us)".into(), "0.1 1 10 100 1000 10000 100000".into()));
        assert_eq!(of(2e6, 2.5e7), ("Latency (ms)".into(), "1 10 100".into()));
        assert_eq!(of(2e9, 2.5e12), ("Latency (s)".into(), "1 10 100 1000 10000".into()));
        assert_eq!(unit_of(2.5e6), ("ms", 1e6));
        assert!((Times::new(300.0, 2.5e7).share(1e6) - 4.0 / 6.0).abs() < 1e-9);
    }
}
