//! Dates and times of day as ISO 8601 writes them.

/// What a date may look like.
pub(crate) const DATE_ALLOWED: &str = "a date and time such as 2026-05-01T10:32:01.5Z, or with +02:00";
const SECOND_NS: u64 = 1_000_000_000;

/// Whether a word begins as a date does: with a year and a hyphen.
#[inline]
pub(crate) fn looks_dated(word: &[u8]) -> bool {
    word.len() > 4 && word[4] == b'-' && word[..4].iter().all(u8::is_ascii_digit)
}

/// `2026-05-01T10:32:01.5+02:00` as nanoseconds since 1970. Without an offset it is taken for UTC; a blank may stand
/// for the T. Leap seconds are counted with the second behind them.
pub(crate) fn date_ns(word: &[u8]) -> Option<u64> {
    let word = word.trim_ascii();
    let (date, rest) = (word.get(..10)?, word.get(10..)?);
    let (clock, rest) = match rest {
        [b'T' | b't' | b' ', rest @ ..] => (rest.get(..8)?, rest.get(8..)?),
        _ => return None,
    };
    let (year, month, day) = (number(&date[..4])?, number(&date[5..7])?, number(&date[8..])?);
    let (hour, minute, second) = (number(&clock[..2])?, number(&clock[3..5])?, number(&clock[6..])?);
    let marks = [date[4], date[7], clock[2], clock[5]];
    let is_date = (1970..=2262).contains(&year)
        && (1..=12).contains(&month)
        && (1..=days_of(year, month)).contains(&day);
    if marks != *b"--::" || !is_date || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let (fraction_ns, zone) = match rest {
        [b'.' | b',', digits @ ..] => {
            let count = digits.iter().take_while(|b| b.is_ascii_digit()).count();
            let kept = count.min(9);
            (number(&digits[..kept])? * 10u64.pow(9 - kept as u32), &digits[count..])
        }
        none => (0, none),
    };
    let local_s = days_before(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
    let seconds = match zone {
        [] | [b'Z' | b'z'] => local_s,
        [sign @ (b'+' | b'-'), hours @ ..] => {
            let minutes = hours.get(2..)?;
            let minutes = minutes.strip_prefix(b":").unwrap_or(minutes);
            let ahead_s =
                number(hours.get(..2)?)? * 3600 + if minutes.is_empty() { 0 } else { number(minutes)? * 60 };
            if *sign == b'+' { local_s.checked_sub(ahead_s)? } else { local_s + ahead_s }
        }
        _ => return None,
    };
    seconds.checked_mul(SECOND_NS)?.checked_add(fraction_ns)
}

/// A number of at most nine digits.
fn number(digits: &[u8]) -> Option<u64> {
    let is_number = (1..=9).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
    is_number.then(|| digits.iter().fold(0, |number, digit| number * 10 + u64::from(digit - b'0')))
}

/// Days of a month.
fn days_of(year: u64, month: u64) -> u64 {
    let next = if month == 12 { days_before(year + 1, 1, 1) } else { days_before(year, month + 1, 1) };
    next - days_before(year, month, 1)
}

/// Days from 1970-01-01 to a day of the Gregorian calendar. A year that begins in March has its leap day at the end.
fn days_before(year: u64, month: u64, day: u64) -> u64 {
    let (year, from_march) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    // Months from March on have 31, 30, 31, 30, 31 days, twice and again.
    let in_year = (153 * from_march + 2) / 5 + day - 1;
    let leap_days = year / 4 - year / 100 + year / 400;
    // 0000-03-01 lies so many days before 1970.
    365 * year + leap_days + in_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_nanoseconds_since_1970() {
        // `date -u -d DATE +%s%N` of GNU coreutils.
        for (date, ns) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29T12:00:00", 951_825_600_000_000_000),
            ("2024-03-01T00:00:00.5Z", 1_709_251_200_500_000_000),
            ("2024-05-01T10:32:01.123456789123Z", 1_714_559_521_123_456_789),
            ("2024-05-01 12:32:01,25+02:00", 1_714_559_521_250_000_000),
            ("2024-05-01T05:02:01-0530", 1_714_559_521_000_000_000),
            ("2100-12-31t23:59:60z", 4_133_980_800_000_000_000),
        ] {
            assert_eq!(date_ns(date.as_bytes()), Some(ns), "{date}");
            assert!(looks_dated(date.as_bytes()));
        }
        for wrong in [
            "2024-05-01",
            "2024-13-01T00:00:00",
            "2023-02-29T00:00:00",
            "2024-05-01T24:00:00",
            "2024-05-01T00:00:00x",
            "1969-12-31T23:00:00Z",
            "2024-05-01T00:00:00.Z",
            "2024/05/01T00:00:00",
        ] {
            assert_eq!(date_ns(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
