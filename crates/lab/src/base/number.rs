//! Numbers as people read them: three or four digits and a prefix.

/// A number with an SI prefix: 1234567 is `1.235 M`. The unit, if any, comes right behind.
pub(crate) fn si(value: f64, unit: &str) -> String {
    const PREFIXES: [(f64, &str); 5] = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")];
    let (scale, prefix) =
        PREFIXES.into_iter().find(|(scale, _)| value.abs() >= *scale * 0.9995).unwrap_or((1.0, ""));
    let tail = format!("{prefix}{unit}");
    let number = digits(value / scale);
    if tail.is_empty() { number } else { format!("{number} {tail}") }
}

/// A time: 87608 is `87.61 us`.
pub(crate) fn duration(ns: f64) -> String {
    const UNITS: [(f64, &str); 4] = [(1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns")];
    let (scale, unit) = UNITS.into_iter().find(|(scale, _)| ns >= *scale * 0.9995).unwrap_or((1.0, "ns"));
    format!("{} {unit}", digits(ns / scale))
}

/// A size: 17179869184 is `16 GiB`.
pub(crate) fn bytes(value: f64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let step =
        (0..UNITS.len() - 1).take_while(|&step| value >= 1024f64.powi(step as i32 + 1) * 0.9995).count();
    format!("{} {}", digits(value / 1024f64.powi(step as i32)), UNITS[step])
}

/// A count in full: 1234567 is `1,234,567`.
pub(crate) fn count(value: u64) -> String {
    grouped(&value.to_string())
}

/// So many of something: `1 run`, `1,234 runs`.
pub(crate) fn of_things(number: u64, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {what}{plural}", count(number))
}

/// Digits in groups of three.
fn grouped(digits: &str) -> String {
    let mut grouped = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A share: 0.1234 is `12.3 %`, and less than one of a hundred has no zero before its point, `.1 %`, as where the
/// slowest are told.
pub(crate) fn percent(share: f64) -> String {
    let text = format!("{:.1}", share * 100.0);
    let short = text.strip_prefix('0').filter(|rest| *rest != ".0");
    format!("{} %", short.unwrap_or(&text))
}

/// Four significant digits, without zeros at the end.
pub(crate) fn digits(value: f64) -> String {
    let size = value.abs();
    let decimals = if size >= 999.5 {
        0
    } else if size >= 99.95 {
        1
    } else if size >= 9.995 {
        2
    } else {
        3
    };
    let text = format!("{value:.decimals$}");
    if decimals == 0 && size < 1e15 {
        let (sign, digits) = text.strip_prefix('-').map_or(("", text.as_str()), |digits| ("-", digits));
        return format!("{sign}{}", grouped(digits));
    }
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(si(1_234_567.0, "IOPS"), "1.235 MIOPS");
        assert_eq!(si(999_999.0, ""), "1 M");
        assert_eq!(si(0.5, ""), "0.5");
        assert_eq!(duration(87_608.0), "87.61 us");
        assert_eq!(duration(999.9), "1 us");
        assert_eq!(duration(0.0), "0 ns");
        assert_eq!(duration(3.6e12), "3,600 s");
        assert_eq!(bytes(17_179_869_184.0), "16 GiB");
        assert_eq!(bytes(1023.0), "1,023 B");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!([0.1234, 0.0123, 0.001, 0.0].map(percent), ["12.3 %", "1.2 %", ".1 %", "0.0 %"]);
        assert_eq!([10_004.3, -1_234.0, 999.4].map(digits), ["10,004", "-1,234", "999.4"]);
    }
}
