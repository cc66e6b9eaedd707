//! Amounts as people write them: bytes (`1.92TB`, `894GiB`) and bytes in a time (`864GB/day`, `2GiB/s`).

use ssd::config::Problem;

/// Units of bytes.
pub(crate) const UNITS: &[(&str, f64)] = &[
    ("B", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("PB", 1e15),
    ("KiB", 1_024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("TiB", 1_099_511_627_776.0),
    ("PiB", 1_125_899_906_842_624.0),
];
/// Times, in days.
const TIMES: &[(&str, f64)] = &[
    ("s", 1.0 / 86_400.0),
    ("min", 1.0 / 1_440.0),
    ("h", 1.0 / 24.0),
    ("hour", 1.0 / 24.0),
    ("d", 1.0),
    ("day", 1.0),
    ("week", 7.0),
    ("month", 365.0 / 12.0),
    ("year", 365.0),
];

/// What is wrong with an amount: what was found, and what is allowed.
fn wrong(found: &str, allowed: &str, hint: &str) -> String {
    let hint = if hint.is_empty() { String::new() } else { format!("\n    {hint}") };
    format!("found {found:?}, allowed: {allowed}{hint}")
}

/// Bytes, such as `1.92TB` or `894GiB`; a number alone counts in `default`, if there is one. At least one byte.
pub fn bytes(text: &str, default: Option<f64>) -> Result<f64, String> {
    bytes_like(text, default, "a number of bytes above 0, such as 960GB, 1.92TB or 894GiB")
}

fn bytes_like(text: &str, default: Option<f64>, allowed: &str) -> Result<f64, String> {
    let text = text.trim();
    let is_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | '_' | ',' | '+' | '-');
    let at = text.find(|c| !is_number(c)).unwrap_or(text.len());
    let (number, unit) = (text[..at].trim(), text[at..].trim());
    let fail = |hint: String| wrong(text, allowed, &hint);
    if number.contains(',') {
        return Err(fail(format!("write {:?} without a comma, 1.5 for one and a half", number)));
    }
    let value: f64 = number.replace('_', "").parse().map_err(|_| fail(String::new()))?;
    let factor = match (unit, default) {
        ("", Some(factor)) => factor,
        ("", None) => return Err(fail(format!("{number} of what? {number}GB or {number}TB?"))),
        _ => unit_of(unit).map_err(fail)?,
    };
    let found = value * factor;
    if !found.is_finite() || found < 1.0 { Err(fail(String::new())) } else { Ok(found) }
}

/// Bytes of a unit, whatever its case; what to say where there is none.
fn unit_of(unit: &str) -> Result<f64, String> {
    // `Gb` are bits, which nobody counts writes in.
    if unit.len() > 1 && unit.ends_with('b') && unit.starts_with(|c: char| c.is_ascii_uppercase()) {
        return Err(format!("{unit} are bits: {}B?", &unit[..unit.len() - 1]));
    }
    if let Some((_, factor)) = UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit)) {
        return Ok(*factor);
    }
    match Problem::no_such_name("unit", unit, UNITS.iter().map(|(name, _)| *name)) {
        Problem::NoSuchName { near: Some(near), .. } => Err(format!("did you mean {near:?}?")),
        _ => Err(String::new()),
    }
}

/// Bytes a day, of an amount in a time such as `864GB/day`, `104TB/41days` or `2GiB/s`; 0 where `0/day` is said.
pub fn bytes_a_day(text: &str) -> Result<f64, String> {
    const ALLOWED: &str = "bytes in a time, such as 864GB/day, 10MB/s, 2GiB/s or 104TB/41days";
    let text = text.trim();
    let Some((amount, time)) = text.split_once('/') else {
        return Err(wrong(text, ALLOWED, &format!("in which time? {text}/day?")));
    };
    let time = time.trim();
    let at = time.find(|c: char| c.is_alphabetic()).unwrap_or(time.len());
    let (count, name) = (time[..at].trim(), time[at..].trim());
    let count: f64 =
        if count.is_empty() { Ok(1.0) } else { count.parse() }.map_err(|_| wrong(text, ALLOWED, ""))?;
    let singular = name.strip_suffix('s').filter(|rest| !rest.is_empty()).unwrap_or(name);
    let known = TIMES.iter().find(|(own, _)| own.eq_ignore_ascii_case(name) || *own == singular);
    let Some((_, days)) = known else {
        let near = match Problem::no_such_name("time", name, TIMES.iter().map(|(name, _)| *name)) {
            Problem::NoSuchName { near: Some(near), .. } => format!("did you mean {amount}/{near}?"),
            _ => String::new(),
        };
        return Err(wrong(text, ALLOWED, &near));
    };
    if count.is_nan() || count <= 0.0 {
        return Err(wrong(text, ALLOWED, ""));
    }
    if amount.trim().parse::<f64>().is_ok_and(|none| none == 0.0) {
        return Ok(0.0);
    }
    Ok(bytes_like(amount, None, ALLOWED)? / (count * days))
}

/// Bytes with the decimal unit that suits them: `864 GB`, `1.92 TB`.
pub fn shown(bytes: f64) -> String {
    let (name, factor) =
        UNITS[..6].iter().rev().find(|(_, factor)| bytes >= *factor).copied().unwrap_or(("B", 1.0));
    let value = bytes / factor;
    let digits = if value >= 99.95 {
        0
    } else if value >= 9.995 {
        1
    } else {
        2
    };
    let number = format!("{value:.digits$}");
    let number =
        if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { &number };
    format!("{number} {name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_decimal_and_binary_units() {
        for (text, expected) in [
            ("1TB", 1e12),
            ("1.92 TB", 1.92e12),
            ("960gb", 960e9),
            ("2GiB", 2_147_483_648.0),
            ("1_000 kB", 1e6),
        ] {
            assert_eq!(bytes(text, None), Ok(expected), "{text}");
        }
        assert_eq!(bytes("500", Some(1e12)), Ok(500e12));
        assert_eq!(bytes("2.5PB", Some(1e12)), Ok(2.5e15));
        for (text, expected) in [
            ("864GB/day", 864e9),
            ("10MB/s", 864e9),
            ("2 GiB/s", 2_147_483_648.0 * 86_400.0),
            ("365TB/year", 1e12),
            ("7TB/week", 1e12),
            ("104TB/41days", 104e12 / 41.0),
            ("0/day", 0.0),
        ] {
            let found = bytes_a_day(text).unwrap();
            assert!((found - expected).abs() <= 1e-9 * expected, "{text}: {found}");
        }
    }

    #[test]
    fn wrong_amounts_say_what_is_allowed_and_what_was_meant() {
        for (text, hint) in [
            ("864Gb/day", "Gb are bits: GB?"),
            ("864GB", "in which time? 864GB/day?"),
            ("864/day", "864 of what? 864GB or 864TB?"),
            ("864GB/dya", "did you mean 864GB/day?"),
            ("864GBs/day", "did you mean \"GB\"?"),
            ("1,5TB/day", "without a comma"),
            ("-3GB/day", "allowed: bytes in a time"),
            ("GB/day", "allowed: bytes in a time"),
            ("1GB/0days", "allowed: bytes in a time"),
            ("", "in which time?"),
        ] {
            let told = bytes_a_day(text).unwrap_err();
            assert!(told.contains(hint) && told.contains("allowed:"), "{text}: {told}");
        }
        assert!(bytes("0TB", None).unwrap_err().contains("above 0"));
        assert!(bytes("1e400TB", None).is_err());
    }

    #[test]
    fn amounts_are_shown_as_they_are_written() {
        for (bytes, text) in [
            (864e9, "864 GB"),
            (1.92e12, "1.92 TB"),
            (500e12, "500 TB"),
            (2.05e15, "2.05 PB"),
            (12.34e9, "12.3 GB"),
        ] {
            assert_eq!(shown(bytes), text);
        }
    }
}
