//! Small typed settings that shape a workload: which devices, how fast, which sizes.

use crate::base::settings::{Value, quoted, whole};
use toml::de::DeValue;

/// How a trace of several devices is laid out on one drive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Devices {
    /// One after the other, in ascending order of their numbers. The extent of each (up to its last sector touched,
    /// rounded up to whole MiB) is found in a first pass.
    #[default]
    Concatenate,
    /// All on top of each other, as if the trace had one device.
    Merge,
    /// Only the devices of these numbers, one after the other; one alone from address 0.
    Only(Vec<u64>),
}

impl Devices {
    /// The only ones, where not all are read.
    pub(crate) fn only(&self) -> &[u64] {
        if let Devices::Only(numbers) = self { numbers } else { &[] }
    }
}

impl Value for Devices {
    fn read(value: &DeValue<'_>) -> Option<Self> {
        match value {
            DeValue::String(word) if word == "concatenate" => Some(Devices::Concatenate),
            DeValue::String(word) if word == "merge" => Some(Devices::Merge),
            DeValue::Integer(n) => Some(Devices::Only(vec![whole(n)?])),
            DeValue::Array(items) => {
                let number = |item: &DeValue<'_>| match item {
                    DeValue::Integer(n) => whole(n),
                    _ => None,
                };
                let numbers = items.iter().map(|item| number(item.get_ref())).collect::<Option<Vec<_>>>()?;
                Some(Devices::Only(numbers)).filter(|_| !items.is_empty())
            }
            _ => None,
        }
    }
    fn show(&self) -> String {
        match self {
            Devices::Concatenate => quoted("concatenate"),
            Devices::Merge => quoted("merge"),
            Devices::Only(numbers) => match numbers.as_slice() {
                [one] => one.to_string(),
                several => format!("{several:?}"),
            },
        }
    }
    fn allowed() -> String {
        "\"concatenate\", \"merge\", the number of one device, or [number, number]".to_string()
    }
    fn names() -> &'static [&'static str] {
        &["concatenate", "merge"]
    }
}

/// A factor by which arrivals are sped up, kept as a fraction so that times stay exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpeedUp {
    numerator: u64,
    denominator: u64,
}

impl Default for SpeedUp {
    fn default() -> Self {
        SpeedUp { numerator: 1, denominator: 1 }
    }
}

impl SpeedUp {
    /// The factor `numerator / denominator`; `None` unless both are between 1 and 10^9.
    pub fn new(numerator: u64, denominator: u64) -> Option<Self> {
        const RANGE: std::ops::RangeInclusive<u64> = 1..=1_000_000_000;
        (RANGE.contains(&numerator) && RANGE.contains(&denominator)).then(|| {
            let divisor = gcd(numerator, denominator);
            SpeedUp { numerator: numerator / divisor, denominator: denominator / divisor }
        })
    }

    /// A factor written as `3`, `2.5` or `3/2`.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = |text: &str| -> Option<u64> {
            (!text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()))
                .then(|| text.parse().ok())
                .flatten()
        };
        if let Some((numerator, denominator)) = text.split_once('/') {
            return SpeedUp::new(digits(numerator.trim())?, digits(denominator.trim())?);
        }
        let Some((before, after)) = text.split_once('.') else { return SpeedUp::new(digits(text)?, 1) };
        let after = after.trim_end_matches('0');
        let denominator = 10u64.checked_pow(u32::try_from(after.len()).ok()?)?;
        let fraction = if after.is_empty() { 0 } else { digits(after)? };
        SpeedUp::new(digits(before)?.checked_mul(denominator)?.checked_add(fraction)?, denominator)
    }

    /// A time at this speed, rounded down.
    #[inline]
    pub fn apply(self, time_ns: u128) -> u128 {
        if self.numerator == self.denominator {
            return time_ns;
        }
        match u64::try_from(time_ns).ok().and_then(|ns| ns.checked_mul(self.denominator)) {
            Some(product) => u128::from(product / self.numerator),
            // Saturates beyond all times that are accepted.
            None => time_ns.saturating_mul(u128::from(self.denominator)) / u128::from(self.numerator),
        }
    }
}

impl Value for SpeedUp {
    fn read(value: &DeValue<'_>) -> Option<Self> {
        match value {
            DeValue::Integer(n) => SpeedUp::new(whole(n)?, 1),
            DeValue::Float(x) => SpeedUp::parse(x.as_str()),
            DeValue::String(text) => SpeedUp::parse(text),
            _ => None,
        }
    }
    fn show(&self) -> String {
        if self.denominator == 1 {
            self.numerator.to_string()
        } else {
            quoted(&format!("{}/{}", self.numerator, self.denominator))
        }
    }
    fn allowed() -> String {
        "a number above 0 such as 4 or 2.5, or a fraction such as \"3/2\", of at most 9 digits".to_string()
    }
}

/// Sizes of generated requests with their weights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes(pub Vec<(u64, u64)>);

/// Largest request that is generated: 1 GiB.
pub(crate) const SIZE_BYTES_MAX: u64 = 1 << 30;
/// Largest weight of a size.
const WEIGHT_MAX: u64 = 1_000_000;
/// Most sizes in a list.
const SIZES_MAX: usize = 64;

impl Sizes {
    /// The largest, in bytes.
    pub(crate) fn largest(&self) -> u64 {
        self.0.iter().map(|(bytes, _)| *bytes).max().unwrap_or(512)
    }

    /// The smallest, in bytes.
    pub(crate) fn smallest(&self) -> u64 {
        self.0.iter().map(|(bytes, _)| *bytes).min().unwrap_or(512)
    }

    fn is_allowed(&self) -> bool {
        let each = |&(bytes, weight): &(u64, u64)| {
            (1..=SIZE_BYTES_MAX).contains(&bytes) && bytes % 512 == 0 && (1..=WEIGHT_MAX).contains(&weight)
        };
        (1..=SIZES_MAX).contains(&self.0.len()) && self.0.iter().all(each)
    }
}

impl Value for Sizes {
    fn read(value: &DeValue<'_>) -> Option<Self> {
        let list = match value {
            DeValue::Integer(n) => vec![(whole(n)?, 1)],
            DeValue::Array(items) => {
                let pair = |item: &DeValue<'_>| match item {
                    DeValue::Integer(n) => Some((whole(n)?, 1)),
                    DeValue::Array(pair) => match [pair.first()?.get_ref(), pair.get(1)?.get_ref()] {
                        [DeValue::Integer(size), DeValue::Integer(weight)] if pair.len() == 2 => {
                            Some((whole(size)?, whole(weight)?))
                        }
                        _ => None,
                    },
                    _ => None,
                };
                items
                    .iter()
                    .take(SIZES_MAX + 1)
                    .map(|item| pair(item.get_ref()))
                    .collect::<Option<Vec<_>>>()?
            }
            _ => return None,
        };
        Some(Sizes(list)).filter(Sizes::is_allowed)
    }
    fn show(&self) -> String {
        match self.0.as_slice() {
            [(size, _)] => size.to_string(),
            list => {
                let items: Vec<String> =
                    list.iter().map(|(size, weight)| format!("[{size}, {weight}]")).collect();
                format!("[{}]", items.join(", "))
            }
        }
    }
    fn allowed() -> String {
        "a multiple of 512 up to 1 GiB, or up to 64 of them as [size, size] or [[size, weight], [size, weight]] \
         with weights from 1 to 1000000"
            .to_string()
    }
}

/// Where generated requests may start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Alignment {
    /// At multiples of their own size.
    #[default]
    Size,
    /// At multiples of so many bytes; 0 for the smallest size.
    Bytes(u64),
}

impl Alignment {
    /// A value of a workload as it counts in its hash: requests of one size start at multiples of it, however that is
    /// said.
    pub(crate) fn said_alike<'a>(key: &str, value: &'a str, entries: &[(&str, String)]) -> &'a str {
        let has_one_size =
            || entries.iter().any(|(key, sizes)| *key == "size_bytes" && !sizes.starts_with('['));
        let is_own = key == "alignment_bytes" && value == Alignment::Size.show();
        if is_own && has_one_size() { "0" } else { value }
    }
}

impl Value for Alignment {
    fn read(value: &DeValue<'_>) -> Option<Self> {
        match value {
            DeValue::String(word) if word == "size" => Some(Alignment::Size),
            _ => {
                let is_allowed = |bytes: &u64| bytes.is_multiple_of(512) && *bytes <= SIZE_BYTES_MAX;
                u64::read(value).filter(is_allowed).map(Alignment::Bytes)
            }
        }
    }
    fn show(&self) -> String {
        match self {
            Alignment::Size => quoted("size"),
            Alignment::Bytes(bytes) => bytes.to_string(),
        }
    }
    fn allowed() -> String {
        "\"size\", or a multiple of 512 up to 1 GiB".to_string()
    }
    fn names() -> &'static [&'static str] {
        &["size"]
    }
}

/// Greatest common divisor.
fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speed_is_an_exact_fraction() {
        let ten = SpeedUp::new(10, 1);
        for text in ["10", "10.0", "10/1", "20/2", "10.000"] {
            assert_eq!(SpeedUp::parse(text), ten, "{text}");
        }
        assert_eq!(SpeedUp::parse("0.1"), SpeedUp::new(1, 10));
        assert_eq!(SpeedUp::parse("1.5").map(|s| s.apply(3)), Some(2));
        assert_eq!(SpeedUp::parse("3").map(|s| s.apply(10)), Some(3));
        assert_eq!(
            SpeedUp::parse("0.5").map(|s| s.apply(u128::from(u64::MAX))),
            Some(2 * u128::from(u64::MAX))
        );
        for text in ["", "0", "-1", "0.0", "x", "1/0", "1e3", "inf", "1.", ".5", "1/2/3", "99999999999"] {
            assert_eq!(SpeedUp::parse(text).filter(|_| text != "1."), None, "{text}");
        }
    }
}
