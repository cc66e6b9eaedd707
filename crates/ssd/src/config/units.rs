//! Values that carry their unit: `60us`, `3 ms`, `512MiB`, for keys whose unit is another of the same kind.

use super::value::Value;

/// Units that are multiples of each other, with what each is in the smallest of them.
const SCALES: &[&[(&str, f64)]] = &[
    &[("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)],
    &[
        ("bytes", 1.0),
        ("B", 1.0),
        ("KiB", 1_024.0),
        ("MiB", 1_048_576.0),
        ("GiB", 1_073_741_824.0),
        ("TiB", 1_099_511_627_776.0),
    ],
    &[("MB/s", 1.0), ("GB/s", 1e3)],
    &[("GB", 1.0), ("TB", 1e3), ("PB", 1e6)],
];
/// Bytes of the longest of them.
const LONGEST: usize = 5;

/// A number with its unit as a value in `unit`; `None` if it is no such text, or the units have nothing to do with each
/// other. A whole number stays one where that is exact.
pub fn in_unit(text: &str, unit: &str) -> Option<Value> {
    let text = text.trim();
    // The unit begins at the first letter that is not the exponent of a number, and is no longer than one: a long word
    // is not looked through from each of its letters on.
    let near_end = text.char_indices().skip_while(|(at, _)| text.len() - at > LONGEST.max(unit.len()));
    let starts = near_end.filter(|(_, c)| c.is_alphabetic() || *c == '%').map(|(at, _)| at);
    let (number, found) = starts
        .map(|at| (text[..at].trim(), text[at..].trim()))
        .filter(|(_, unit)| !unit.contains(|c: char| c.is_ascii_digit()))
        .find(|(number, _)| number.replace('_', "").parse::<f64>().is_ok())?;
    let number: f64 = number.replace('_', "").parse().ok()?;
    let same = |a: &str, b: &str| a.eq_ignore_ascii_case(b);
    let scaled = if !unit.is_empty() && same(found, unit) {
        number
    } else {
        let of = |scale: &&&[(&str, f64)], name: &str| {
            scale.iter().find(|(own, _)| same(own, name)).map(|(_, factor)| *factor)
        };
        let scale = SCALES.iter().find(|scale| of(scale, unit).is_some())?;
        number * of(&scale, found)? / of(&scale, unit)?
    };
    let is_whole = scaled.fract() == 0.0 && scaled.abs() < 9e15;
    let value = if is_whole { Value::Integer(scaled as i128) } else { Value::Float(scaled) };
    scaled.is_finite().then_some(value)
}

/// A number with an exponent and no decimal point, such as `1e6`, if it is whole.
pub fn whole_with_exponent(text: &str) -> Option<i128> {
    let number: f64 = text.replace('_', "").parse().ok()?;
    let is_it = text.contains(['e', 'E']) && !text.contains('.');
    (is_it && number.fract() == 0.0 && number.abs() < 9e15).then_some(number as i128)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_one_kind_are_converted() {
        for (text, unit, value) in [
            ("60us", "us", Value::Integer(60)),
            ("3 ms", "us", Value::Integer(3_000)),
            ("1.5 us", "us", Value::Float(1.5)),
            ("500ns", "us", Value::Float(0.5)),
            ("1e3us", "ms", Value::Integer(1)),
            ("512MiB", "GiB", Value::Float(0.5)),
            ("7%", "%", Value::Integer(7)),
            ("8gb/s", "MB/s", Value::Integer(8_000)),
            ("2.5 PB", "TB", Value::Integer(2_500)),
            ("100 requests", "requests", Value::Integer(100)),
        ] {
            assert_eq!(in_unit(text, unit), Some(value), "{text} in {unit}");
        }
        assert_eq!(SCALES.concat().iter().map(|(name, _)| name.len()).max(), Some(LONGEST));
        for (text, unit) in [("60us", "MiB"), ("60", "us"), ("us", "us"), ("60 furlongs", "us"), ("60us", "")]
        {
            assert_eq!(in_unit(text, unit), None, "{text} in {unit}");
        }
    }

    #[test]
    fn exponents_of_whole_numbers_are_whole() {
        assert_eq!(whole_with_exponent("1e6"), Some(1_000_000));
        assert_eq!(whole_with_exponent("5E0"), Some(5));
        for text in ["1.0", "1.5e1", "1e-1", "1e300", "inf", "7"] {
            assert_eq!(whole_with_exponent(text), None, "{text}");
        }
    }
}
