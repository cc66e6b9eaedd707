//! What stands behind `=`: numbers with fio's suffixes, times, switches, lists by direction.

use super::parse::Wrong;

/// Directions, in the order of fio's lists.
pub(crate) const READ: usize = 0;
pub(crate) const WRITE: usize = 1;
pub(crate) const TRIM: usize = 2;
/// Directions that an option can tell apart, in the order of its list.
pub(crate) const DIRECTIONS: usize = 3;

/// Powers that `k`, `m`, `g` stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kilo {
    /// `k` is 1024 and `ki` is 1000: the default, as in fio.
    Binary,
    /// `k` is 1000 and `ki` is 1024.
    Decimal,
}

/// A size, or a share of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Amount {
    Bytes(u64),
    Percent(u64),
}

/// The text of a value and how its suffixes are to be read.
#[derive(Clone, Copy)]
pub(crate) struct Value<'a> {
    pub text: Option<&'a str>,
    pub kilo: Kilo,
}

const NUMBER: &str = "a whole number, optionally followed by k, m, g, t or p (2560k, not 2.5m)";
const TIME: &str = "a time such as 30s, 500ms, 10us, 5m, 1h or 1d";

impl<'a> Value<'a> {
    /// The text, which must be there.
    pub fn word(&self) -> Result<&'a str, Wrong> {
        self.text.filter(|text| !text.is_empty()).ok_or_else(|| Wrong::new("found nothing", "a value"))
    }

    fn of(&self, text: &'a str) -> Value<'a> {
        Value { text: Some(text), kilo: self.kilo }
    }

    /// A whole number from `least` on, with a suffix where it has one.
    pub fn number(&self, least: u64) -> Result<u64, Wrong> {
        let text = self.word()?;
        let number = scaled(text, self.kilo).ok_or_else(|| Wrong::new(format!("found {text:?}"), NUMBER))?;
        if number < least {
            return Err(Wrong::new(format!("found {text:?}"), format!("at least {least}")));
        }
        Ok(number)
    }

    /// A share from 0 to 100.
    pub fn percent(&self) -> Result<u64, Wrong> {
        let text = self.word()?;
        let number = text.trim_end_matches('%').parse().ok().filter(|number| *number <= 100);
        number.ok_or_else(|| Wrong::new(format!("found {text:?}"), "a whole number from 0 to 100"))
    }

    /// A size, or a share with a % behind it.
    pub fn amount(&self) -> Result<Amount, Wrong> {
        let text = self.word()?;
        match text.strip_suffix('%') {
            // fio looks for the first of these marks.
            Some(share) => {
                let share = share.trim_end_matches('%').parse().ok();
                share.filter(|share| *share <= 100).map(Amount::Percent)
            }
            None => scaled(text, self.kilo).map(Amount::Bytes),
        }
        .ok_or_else(|| Wrong::new(format!("found {text:?}"), format!("{NUMBER}, or 0% to 100%")))
    }

    /// A size, or a share; none if it is 0, which stands for all there is.
    pub fn amount_or_all(&self) -> Result<Option<Amount>, Wrong> {
        Ok(Some(self.amount()?).filter(|amount| !matches!(amount, Amount::Bytes(0) | Amount::Percent(0))))
    }

    /// A time in nanoseconds; a number without a unit is in units of `unit_ns`.
    pub fn time(&self, unit_ns: u64) -> Result<u64, Wrong> {
        let text = self.word()?;
        time(text, unit_ns).ok_or_else(|| Wrong::new(format!("found {text:?}"), TIME))
    }

    /// One time, or two with `-` or `:` between them.
    pub fn times(&self, unit_ns: u64) -> Result<(u64, u64), Wrong> {
        match self.word()?.split_once(['-', ':']) {
            Some((low, high)) => {
                let (low, high) = (self.of(low).time(unit_ns)?, self.of(high).time(unit_ns)?);
                Ok((low.min(high), low.max(high)))
            }
            None => self.time(unit_ns).map(|time| (time, time)),
        }
    }

    /// Two sizes with `-` or `:` between them, or one.
    pub fn range(&self) -> Result<(u64, u64), Wrong> {
        match self.word()?.split_once(['-', ':']) {
            Some((low, high)) => {
                let (low, high) = (self.of(low).number(1)?, self.of(high).number(1)?);
                Ok((low.min(high), low.max(high)))
            }
            None => self.number(1).map(|size| (size, size)),
        }
    }

    /// A switch: on where nothing stands behind it.
    pub fn switch(&self) -> Result<bool, Wrong> {
        match self.text {
            None | Some("1") => Ok(true),
            Some("0") => Ok(false),
            Some(text) => Err(Wrong::new(format!("found {text:?}"), "0 or 1")),
        }
    }

    /// One of some words.
    pub fn choice<T: Copy>(&self, words: &[(&'static str, T)]) -> Result<T, Wrong> {
        let text = self.word()?;
        words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value).ok_or_else(|| {
            let all: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            Wrong::new(format!("found {text:?}"), all.join(", ")).like(text, all.iter().copied())
        })
    }

    /// Values for reads, writes and trims, separated by commas: one for all; of two, the second is for trims as well;
    /// an empty one leaves what `into` has.
    pub fn by_direction<T: Clone>(
        &self,
        into: &mut [T; DIRECTIONS],
        mut read: impl FnMut(Value<'a>) -> Result<T, Wrong>,
    ) -> Result<(), Wrong> {
        let items: Vec<&str> = self.word()?.split(',').collect();
        if items.len() > DIRECTIONS {
            let found = format!("found {} values", items.len());
            return Err(Wrong::new(found, "up to three: for reads, writes, trims"));
        }
        let mut last = None;
        for (place, into) in into.iter_mut().enumerate() {
            match items.get(place) {
                Some(&"") => last = None,
                Some(text) => {
                    let value = read(self.of(text))?;
                    *into = value.clone();
                    last = Some(value);
                }
                None => {
                    if let Some(last) = &last {
                        *into = last.clone();
                    }
                }
            }
        }
        Ok(())
    }

    /// Items with a share each: `4k/70:64k/30`. Shares left out get what the others leave, evenly.
    pub fn shares(&self) -> Result<Vec<(Value<'a>, f64)>, Wrong> {
        let mut items = Vec::new();
        for item in self.word()?.split(':') {
            let (what, share) = item.split_once('/').unwrap_or((item, ""));
            let share = match share {
                "" => None,
                text => Some(self.of(text).percent()? as f64),
            };
            items.push((self.of(what), share));
        }
        let given: f64 = items.iter().filter_map(|(_, share)| *share).sum();
        let open = items.iter().filter(|(_, share)| share.is_none()).count();
        if given > 100.0 || (open == 0 && given != 100.0) {
            return Err(Wrong::new(format!("shares that add up to {given} %"), "100 %"));
        }
        let rest = (100.0 - given) / open.max(1) as f64;
        Ok(items.into_iter().map(|(what, share)| (what, share.unwrap_or(rest))).collect())
    }
}

/// A number with a suffix for its size.
fn scaled(text: &str, kilo: Kilo) -> Option<u64> {
    let hex = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let is_digit = |c: char| if hex.is_some() { c.is_ascii_hexdigit() } else { c.is_ascii_digit() };
    let body = hex.unwrap_or(text);
    let digits = body.find(|c| !is_digit(c)).unwrap_or(body.len());
    let number = u64::from_str_radix(&body[..digits], if hex.is_some() { 16 } else { 10 }).ok()?;
    let suffix = body[digits..].to_ascii_lowercase();
    let suffix = suffix.strip_suffix('b').unwrap_or(&suffix);
    let (letter, has_i) = match suffix.strip_suffix('i') {
        Some(letter) => (letter, true),
        None => (suffix, false),
    };
    let power = match letter {
        "" if !has_i => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        "p" => 5,
        _ => return None,
    };
    let base: u64 = if (kilo == Kilo::Binary) != has_i { 1024 } else { 1000 };
    number.checked_mul(base.pow(power))
}

/// A time in nanoseconds.
fn time(text: &str, unit_ns: u64) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..digits].parse().ok()?;
    let unit = match text[digits..].to_ascii_lowercase().as_str() {
        "" => unit_ns,
        "us" | "usec" => 1_000,
        "ms" | "msec" => 1_000_000,
        "s" | "sec" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return None,
    };
    // As far as simulated time goes: 146 years.
    number.checked_mul(unit).filter(|ns| *ns <= 1 << 62)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_are_fios() {
        let binary = |text| scaled(text, Kilo::Binary);
        for (text, bytes) in [
            ("4096", 4096),
            ("4k", 4096),
            ("4K", 4096),
            ("4kb", 4096),
            ("4kB", 4096),
            ("4ki", 4000),
            ("4KiB", 4000),
            ("1gib", 1_000_000_000),
            ("1m", 1 << 20),
            ("1t", 1 << 40),
            ("1p", 1 << 50),
            ("512b", 512),
            ("0x1000", 4096),
            ("0x10k", 16384),
        ] {
            assert_eq!(binary(text), Some(bytes), "{text}");
        }
        assert_eq!((scaled("4k", Kilo::Decimal), scaled("4ki", Kilo::Decimal)), (Some(4000), Some(4096)));
        for text in ["", "k", "2.5m", "4x", "-1", "4 k", "4kk", "20000p", "99999999999999999999", "4i"] {
            assert_eq!(binary(text), None, "{text}");
        }
    }

    #[test]
    fn times_have_units() {
        let seconds = |text| time(text, 1_000_000_000);
        for (text, ns) in [
            ("5", 5_000_000_000),
            ("500ms", 500_000_000),
            ("10us", 10_000),
            ("10usec", 10_000),
            ("2m", 120_000_000_000),
            ("1h", 3_600_000_000_000),
            ("1d", 86_400_000_000_000),
        ] {
            assert_eq!(seconds(text), Some(ns), "{text}");
        }
        assert_eq!(time("5", 1_000), Some(5_000));
        for text in ["", "s", "1.5s", "5ns", "99999999999d", "-1"] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }

    #[test]
    fn lists_by_direction_follow_the_manual() {
        let read = |text, old: [u64; 3]| {
            let mut sizes = old;
            let value = Value { text: Some(text), kilo: Kilo::Binary };
            value.by_direction(&mut sizes, |value| value.number(1)).map(|()| sizes)
        };
        let old = [1, 2, 3];
        assert_eq!(read("8k", old), Ok([8192; 3]));
        assert_eq!(read("8k,32k", old), Ok([8192, 32768, 32768]));
        assert_eq!(read("8k,32k,", old), Ok([8192, 32768, 3]));
        assert_eq!(read(",8k", old), Ok([1, 8192, 8192]));
        assert_eq!(read(",8k,", old), Ok([1, 8192, 3]));
        assert_eq!(read("4k,8k,16k", old), Ok([4096, 8192, 16384]));
        assert!(read("4k,8k,16k,1k", old).is_err());
        assert!(read("4k-16k", old).is_err());
    }

    #[test]
    fn shares_fill_up() {
        let shares = |text| {
            let value = Value { text: Some(text), kilo: Kilo::Binary };
            value.shares().map(|items| {
                items.iter().map(|(what, share)| (what.text.unwrap().to_owned(), *share)).collect::<Vec<_>>()
            })
        };
        let own = |items: &[(&str, f64)]| {
            Ok(items.iter().map(|(what, share)| ((*what).to_owned(), *share)).collect::<Vec<_>>())
        };
        assert_eq!(shares("4k/70:64k/30"), own(&[("4k", 70.0), ("64k", 30.0)]));
        assert_eq!(shares("4k/50:1k/:32k/"), own(&[("4k", 50.0), ("1k", 25.0), ("32k", 25.0)]));
        assert_eq!(shares("4k:8k"), own(&[("4k", 50.0), ("8k", 50.0)]));
        assert!(shares("4k/50:8k/40").is_err());
        assert!(shares("4k/50:8k/60").is_err());
    }
}
