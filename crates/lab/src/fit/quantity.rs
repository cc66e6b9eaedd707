//! Figures as data sheets write them: a number and its unit, `1455 MB/s`, `94.3 kIOPS`, `65 us`, `1 DWPD`.

use crate::base::number::digits;
use crate::endurance::amounts;

/// What a figure is a measure of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// Bytes a second; in MB/s (1 MB = 10^6 bytes).
    Bandwidth,
    /// Requests a second; in IOPS.
    Rate,
    /// A latency; in us.
    Time,
    /// An amount of data; in bytes.
    Bytes,
    /// Data that may be written in a drive's life; in bytes, or in drive writes a day, which are negative.
    Endurance,
    /// Bytes programmed for each that the host writes; a number without a unit.
    Amplification,
    /// A share; in %.
    Percent,
}

/// Units with what each is in that of its dimension.
type Units = &'static [(&'static str, f64)];

const BANDWIDTH: Units = &[
    ("MB/s", 1.0),
    ("GB/s", 1e3),
    ("MiB/s", 1.048_576),
    ("GiB/s", 1_073.741_824),
    ("kB/s", 1e-3),
    ("KiB/s", 1.024e-3),
];
const RATE: Units = &[("kIOPS", 1e3), ("IOPS", 1.0), ("MIOPS", 1e6)];
const TIME: Units = &[("us", 1.0), ("µs", 1.0), ("ms", 1e3), ("ns", 1e-3), ("s", 1e6)];
const ENDURANCE: Units = &[("TB", 1e12), ("TBW", 1e12), ("PB", 1e15), ("PBW", 1e15), ("DWPD", -1.0)];
const PERCENT: Units = &[("%", 1.0)];

impl Dimension {
    const ALL: [Dimension; 7] = [
        Dimension::Bandwidth,
        Dimension::Rate,
        Dimension::Time,
        Dimension::Bytes,
        Dimension::Endurance,
        Dimension::Amplification,
        Dimension::Percent,
    ];

    fn units(self) -> Units {
        match self {
            Dimension::Bandwidth => BANDWIDTH,
            Dimension::Rate => RATE,
            Dimension::Time => TIME,
            Dimension::Bytes => amounts::UNITS,
            Dimension::Endurance => ENDURANCE,
            Dimension::Amplification => &[],
            Dimension::Percent => PERCENT,
        }
    }

    /// Its units, as messages list them.
    fn names(self) -> String {
        let names: Vec<&str> =
            self.units().iter().map(|(name, _)| *name).filter(|name| *name != "µs").collect();
        names.join(", ")
    }

    /// The unit of its values.
    pub fn unit(self) -> &'static str {
        match self {
            Dimension::Bandwidth => "MB/s",
            Dimension::Rate => "1/s",
            Dimension::Time => "us",
            Dimension::Bytes | Dimension::Endurance => "bytes",
            Dimension::Amplification => "1",
            Dimension::Percent => "%",
        }
    }

    /// What figures of it look like.
    fn example(self) -> &'static str {
        match self {
            Dimension::Bandwidth => "1455 MB/s",
            Dimension::Rate => "94.3 kIOPS",
            Dimension::Time => "65 us",
            Dimension::Bytes => "960 GB",
            Dimension::Endurance => "1 DWPD",
            Dimension::Amplification => "1.89",
            Dimension::Percent => "12 %",
        }
    }

    /// A figure to read.
    pub fn told(self, value: f64) -> String {
        match self {
            Dimension::Bandwidth => format!("{} MB/s", digits(value)),
            Dimension::Rate if value < 999.5 => format!("{} IOPS", digits(value)),
            Dimension::Rate => format!("{} kIOPS", digits(value / 1e3)),
            Dimension::Time => format!("{} us", digits(value)),
            Dimension::Bytes => amounts::shown(value),
            Dimension::Endurance if value < 0.0 => format!("{} DWPD", digits(-value)),
            Dimension::Endurance => format!("{} TB", digits(value / 1e12)),
            Dimension::Amplification => digits(value),
            Dimension::Percent => format!("{} %", digits(value)),
        }
    }

    /// A figure to type, so without commas between thousands.
    pub fn typed(self, value: f64) -> String {
        self.told(value).replace(',', "")
    }

    /// A figure read from text: in the unit of its dimension, or what is wrong with it (found, allowed).
    pub fn read(self, text: &str) -> Result<f64, (String, String)> {
        let allowed = || format!("a number and its unit ({}), such as \"{}\"", self.names(), self.example());
        let Some((number, unit)) = split(text) else {
            return Err((format!("found {text:?}"), allowed()));
        };
        if self == Dimension::Amplification {
            return match unit {
                "" => Ok(number),
                _ => Err((format!("found {text:?}"), "a number without a unit, such as \"1.89\"".to_owned())),
            };
        }
        if unit.is_empty() {
            return Err((format!("found {text:?}, without its unit"), allowed()));
        }
        if let Some(scale) = scale_of(self.units(), unit) {
            return Ok(number * scale);
        }
        let others = Dimension::ALL.into_iter().filter(|other| *other != self);
        let hint = others
            .filter_map(|other| Some((other, number * scale_of(other.units(), unit)?)))
            .find_map(|(other, value)| self.meant_by(other, value));
        Err((format!("found {text:?}"), hint.map_or_else(allowed, |hint| format!("{}: {hint}", allowed()))))
    }

    /// What to type where a figure of another dimension was given for one of this, by 4-KiB requests.
    fn meant_by(self, other: Dimension, value: f64) -> Option<String> {
        let (told, meant) = match (self, other) {
            (Dimension::Rate, Dimension::Bandwidth) => (value * 1e6 / 4096.0, "4-KiB requests"),
            (Dimension::Bandwidth, Dimension::Rate) => (value * 4096.0 / 1e6, "4-KiB requests"),
            (Dimension::Time, Dimension::Rate) if value > 0.0 => (1e6 / value, "one request at a time"),
            (Dimension::Bandwidth, Dimension::Bytes) => (value / 1e6, "it is a rate"),
            _ => return None,
        };
        Some(format!("type \"{}\" ({meant})", self.typed(told)))
    }
}

/// Scale of a unit by its name. Letter case matters only where it tells units apart.
fn scale_of(units: Units, name: &str) -> Option<f64> {
    let exact = units.iter().find(|(unit, _)| *unit == name);
    let same = || units.iter().find(|(unit, _)| unit.eq_ignore_ascii_case(name));
    exact.or_else(same).map(|(_, scale)| *scale)
}

/// A number from 0, and the rest.
fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end =
        text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '_' | ','))).unwrap_or(text.len());
    let number: f64 = plain(&text[..end])?.parse().ok()?;
    (number.is_finite() && number >= 0.0).then_some((number, text[end..].trim()))
}

/// Digits without what stands between thousands; none if a comma stands elsewhere, as for decimals.
fn plain(text: &str) -> Option<String> {
    let whole = text.split('.').next().unwrap_or(text);
    let mut groups = whole.split(',');
    let first = groups.next().unwrap_or_default();
    let are_thousands =
        whole == first || (1..=3).contains(&first.len()) && groups.all(|group| group.len() == 3);
    (are_thousands && !text[whole.len()..].contains(',')).then(|| text.replace(['_', ','], ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_in_any_unit_of_their_kind() {
        for (dimension, text, value) in [
            (Dimension::Bandwidth, "1455 MB/s", 1455.0),
            (Dimension::Bandwidth, "6.8GB/s", 6800.0),
            (Dimension::Rate, "94.3 kIOPS", 94_300.0),
            (Dimension::Rate, "540,000 iops", 540_000.0),
            (Dimension::Rate, "1,540,000.5 iops", 1_540_000.5),
            (Dimension::Time, "0.065 ms", 65.0),
            (Dimension::Bytes, "960GB", 960e9),
            (Dimension::Bytes, "1105 GiB", 1105.0 * 1_073_741_824.0),
            (Dimension::Endurance, "3 DWPD", -3.0),
            (Dimension::Endurance, "36.5 PB", 36.5e15),
            (Dimension::Amplification, "1.89", 1.89),
            (Dimension::Percent, "12 %", 12.0),
        ] {
            let found = dimension.read(text).unwrap();
            assert!((found / value - 1.0).abs() < 1e-12, "{text}: {found}");
        }
    }

    #[test]
    fn what_is_wrong_says_what_to_type() {
        for (dimension, text, told) in [
            (Dimension::Rate, "94.3", "without its unit"),
            (Dimension::Rate, "94.3", "\"94.3 kIOPS\""),
            (Dimension::Rate, "386 MB/s", "type \"94.24 kIOPS\""),
            (Dimension::Bandwidth, "85 kIOPS", "type \"348.2 MB/s\""),
            (Dimension::Time, "12.5 kIOPS", "type \"80 us\""),
            (Dimension::Bandwidth, "1455 MB", "type \"1455 MB/s\""),
            (Dimension::Bytes, "960 furlongs", "GB, TB, PB"),
            (Dimension::Amplification, "1.89 GB", "without a unit"),
            (Dimension::Time, "-3 us", "a number and its unit"),
        ] {
            let (found, allowed) = dimension.read(text).unwrap_err();
            assert!(format!("{found} {allowed}").contains(told), "{text}: {found}; {allowed}");
        }
    }

    #[test]
    fn typed_and_read_again() {
        for (dimension, value) in [
            (Dimension::Bandwidth, 14_000.0),
            (Dimension::Rate, 94_300.0),
            (Dimension::Rate, 950.0),
            (Dimension::Time, 4.25),
            (Dimension::Bytes, 960e9),
            (Dimension::Bytes, 3.84e12),
            (Dimension::Endurance, -0.2),
            (Dimension::Endurance, 17_520e12),
        ] {
            let typed = dimension.typed(value);
            assert_eq!(dimension.read(&typed).unwrap(), value, "{typed}");
        }
        for dimension in Dimension::ALL {
            // Ratings are told in TB.
            let least = if dimension == Dimension::Endurance { 12 } else { 0 };
            for value in (least..18).map(|power| 1.25 * 10f64.powi(power)) {
                let typed = dimension.typed(value);
                let again = dimension.read(&typed).unwrap();
                assert!((again / value - 1.0).abs() < 0.01, "{typed} for {value}");
            }
        }
    }
}
