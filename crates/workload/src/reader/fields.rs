//! The columns of one line, taken from left to right: a byte splitter without allocation or floating point.

use crate::base::findings::BadReason;
use crate::base::request::{SECTOR_BYTES, SECTORS_MAX};
use crate::base::units::{AddressUnit, TimeUnit};
use ssd::signals::OpCode;

/// What is wrong with a line, and where in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bad {
    pub reason: BadReason,
    pub column: &'static str,
    pub allowed: &'static str,
    /// Where the offending column begins, in bytes from the start of the line.
    pub at: usize,
}

const WHOLE: &str = "a whole number from 0";

/// How the time column is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimeScale {
    /// Nanoseconds of one unit.
    pub unit_ns: u64,
    /// Whether digits after a point may follow.
    pub decimal: bool,
}

impl TimeScale {
    /// Whole numbers of a unit of so many nanoseconds.
    pub(crate) const fn whole(unit_ns: u64) -> Self {
        TimeScale { unit_ns, decimal: false }
    }

    /// Seconds with decimals.
    pub(crate) const SECONDS: TimeScale = TimeScale { unit_ns: 1_000_000_000, decimal: true };

    /// The unit that the user names, which may have decimals, or else this.
    pub(crate) fn or_named(self, named: TimeUnit) -> Self {
        TimeScale { unit_ns: named.ns_or(self.unit_ns), decimal: self.decimal || named != TimeUnit::Auto }
    }
}

/// A cursor over the columns of a line.
pub(crate) struct Fields<'a> {
    line: &'a [u8],
    at: usize,
    separator: u8,
}

#[inline]
fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

impl<'a> Fields<'a> {
    /// The columns of `line`. With a blank as separator, any run of blanks and tabs separates.
    #[inline]
    pub(crate) fn new(line: &'a [u8], separator: u8) -> Self {
        let mut fields = Fields { line, at: 0, separator };
        if separator == b' ' {
            fields.skip_blanks();
        }
        fields
    }

    /// The same from the column on that begins at `at`.
    #[inline]
    pub(crate) fn from(line: &'a [u8], separator: u8, at: usize) -> Self {
        Fields { line, at, separator }
    }

    #[inline]
    fn skip_blanks(&mut self) {
        while self.line.get(self.at).copied().is_some_and(is_blank) {
            self.at += 1;
        }
    }

    /// Whether all columns have been taken.
    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        self.at >= self.line.len()
    }

    fn bad(&self, reason: BadReason, column: &'static str, allowed: &'static str, at: usize) -> Bad {
        let missing = at >= self.line.len() && reason != BadReason::TooLarge;
        Bad { reason: if missing { BadReason::MissingColumn } else { reason }, column, allowed, at }
    }

    /// Moves over the separator behind a column that ends at `end`; false if something else stands there.
    #[inline]
    fn pass(&mut self, end: usize) -> bool {
        self.at = end;
        match self.line.get(end) {
            None => true,
            Some(&b) if b == self.separator => {
                self.at += 1;
                if self.separator == b' ' {
                    self.skip_blanks();
                }
                true
            }
            Some(&b) if is_blank(b) => {
                self.skip_blanks();
                // Blanks before a comma, or a tab where blanks separate.
                match self.line.get(self.at) {
                    Some(&b) if b == self.separator => {
                        self.at += 1;
                        true
                    }
                    None => true,
                    Some(_) => self.separator == b' ',
                }
            }
            Some(_) => false,
        }
    }

    /// Digits from the cursor on: value and where they end.
    #[inline]
    fn digits(&mut self, column: &'static str) -> Result<(u64, usize), Bad> {
        let start = self.at;
        let mut value = 0u64;
        let mut at = start;
        while let Some(&byte) = self.line.get(at) {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
            at += 1;
        }
        // 19 digits cannot overflow; anything else is looked at again.
        if (1..=19).contains(&(at - start)) { Ok((value, at)) } else { self.digits_slow(column) }
    }

    /// Digits where there are none or very many.
    #[cold]
    fn digits_slow(&mut self, column: &'static str) -> Result<(u64, usize), Bad> {
        let first = self.at;
        self.skip_blanks();
        let start = self.at;
        match self.line.get(start) {
            Some(b'0'..=b'9') => {}
            Some(b'-') if self.line.get(start + 1).is_some_and(u8::is_ascii_digit) => {
                return Err(self.bad(BadReason::Negative, column, WHOLE, start));
            }
            Some(&b) if b == self.separator => {
                return Err(self.bad(BadReason::MissingColumn, column, WHOLE, start));
            }
            _ => return Err(self.bad(BadReason::NotANumber, column, WHOLE, first.max(start))),
        }
        let digits = self.line[start..].iter().take_while(|b| b.is_ascii_digit());
        let mut value = 0u64;
        let mut end = start;
        for digit in digits {
            let next = value.checked_mul(10).and_then(|v| v.checked_add(u64::from(digit - b'0')));
            value = next.ok_or_else(|| self.bad(BadReason::TooLarge, column, "at most 2^64 - 1", start))?;
            end += 1;
        }
        Ok((value, end))
    }

    /// A whole number.
    #[inline]
    pub(crate) fn number(&mut self, column: &'static str) -> Result<u64, Bad> {
        let start = self.at;
        let (value, end) = self.digits(column)?;
        if self.pass(end) { Ok(value) } else { Err(self.bad(BadReason::NotANumber, column, WHOLE, start)) }
    }

    /// A whole number with its place.
    #[inline]
    pub(crate) fn placed(&mut self, column: &'static str) -> Result<Number, Bad> {
        let at = self.at;
        Ok(Number { value: self.number(column)?, column, at })
    }

    /// A whole number with its place, which may be hexadecimal, such as 0x1f.
    #[inline]
    pub(crate) fn placed_or_hex(&mut self, column: &'static str) -> Result<Number, Bad> {
        match self.line.get(self.at..) {
            Some([b'0', b'x' | b'X', ..]) => self.placed_hex(column),
            _ => self.placed(column),
        }
    }

    #[cold]
    fn placed_hex(&mut self, column: &'static str) -> Result<Number, Bad> {
        const ALLOWED: &str = "a whole number, or hexadecimal digits behind 0x";
        let at = self.at;
        let digits = self.line[at + 2..].iter().map_while(|b| char::from(*b).to_digit(16).map(u64::from));
        let (mut value, mut end) = (0u64, at + 2);
        for digit in digits {
            let next = value.checked_mul(16).map(|value| value + digit);
            value = next.ok_or_else(|| self.bad(BadReason::TooLarge, column, "at most 2^64 - 1", at))?;
            end += 1;
        }
        if end > at + 2 && self.pass(end) {
            return Ok(Number { value, column, at });
        }
        Err(self.bad(BadReason::NotANumber, column, ALLOWED, at))
    }

    /// Passes over a column that must be there.
    #[inline]
    pub(crate) fn skip(&mut self, column: &'static str) -> Result<(), Bad> {
        if self.word(column, "a column")?.is_empty() && self.separator == b' ' {
            return Err(self.bad(BadReason::MissingColumn, column, "a column", self.at));
        }
        Ok(())
    }

    /// A whole number, or 0 where the column is empty.
    #[inline]
    pub(crate) fn number_or_empty(&mut self, column: &'static str) -> Result<u64, Bad> {
        match self.line.get(self.at) {
            Some(&b) if b == self.separator => {
                self.at += 1;
                Ok(0)
            }
            _ => self.number(column),
        }
    }

    /// A whole number up to `max`.
    #[inline]
    pub(crate) fn number_up_to(
        &mut self,
        column: &'static str,
        max: u64,
        allowed: &'static str,
    ) -> Result<u64, Bad> {
        let start = self.at;
        let value = self.number(column)?;
        if value <= max { Ok(value) } else { Err(self.bad(BadReason::TooLarge, column, allowed, start)) }
    }

    /// A time in nanoseconds. Decimals are read as integers; what lies below a nanosecond is cut off.
    #[inline]
    pub(crate) fn time(&mut self, column: &'static str, scale: TimeScale) -> Result<u64, Bad> {
        let start = self.at;
        let (whole, mut end) = self.digits(column)?;
        let mut fraction_ns = 0;
        // A comma is the decimal mark where spreadsheets have it, and therefore separate by semicolons.
        let is_mark = |mark: &u8| *mark == b'.' || *mark == b',' && self.separator == b';';
        if self.line.get(end).is_some_and(is_mark) {
            if !scale.decimal {
                let allowed = "a whole number (name `time_unit` to allow decimals)";
                return Err(self.bad(BadReason::NotANumber, column, allowed, start));
            }
            (fraction_ns, end) = self.fraction_ns(end + 1, scale.unit_ns);
        }
        let time = whole.checked_mul(scale.unit_ns).and_then(|ns| ns.checked_add(fraction_ns));
        if !self.pass(end) {
            return Err(self.bad(BadReason::NotANumber, column, "a number such as 12 or 12.5", start));
        }
        time.ok_or_else(|| self.bad(BadReason::TooLarge, column, "a time below 2^64 ns (584 years)", start))
    }

    /// Digits after a decimal point as nanoseconds, and where they end. Nine digits are used, the rest passed over.
    fn fraction_ns(&self, start: usize, unit_ns: u64) -> (u64, usize) {
        const SCALE: u64 = 1_000_000_000;
        let digits = self.line[start..].iter().take_while(|b| b.is_ascii_digit()).count();
        let mut value = 0;
        let mut weight = SCALE;
        for digit in self.line[start..].iter().take(digits.min(9)) {
            weight /= 10;
            value += u64::from(digit - b'0') * weight;
        }
        // At most 10^9 * 10^9, which fits.
        (value * unit_ns / SCALE, start + digits)
    }

    /// A word. One that begins with a quotation mark runs to the next one; doubled marks belong to it, and stay doubled
    /// (RFC 4180).
    #[inline]
    pub(crate) fn word(&mut self, column: &'static str, allowed: &'static str) -> Result<&'a [u8], Bad> {
        let start = self.at;
        let line: &'a [u8] = self.line;
        if self.is_done() {
            return self
                .last_word()
                .ok_or_else(|| self.bad(BadReason::MissingColumn, column, allowed, start));
        }
        if line[start] == b'"' {
            let inner = &line[start + 1..];
            let length = quoted(inner).unwrap_or(inner.len());
            self.pass((start + length + 2).min(line.len()));
            return Ok(&inner[..length]);
        }
        // Where blanks separate, tabs do too.
        let twin = if self.separator == b' ' { b'\t' } else { self.separator };
        let mut end = start;
        while end < line.len() && line[end] != self.separator && line[end] != twin {
            end += 1;
        }
        self.pass(end);
        Ok(&line[start..end])
    }

    /// Behind a separator that ends the line stands one more column, which is empty; it is taken once.
    #[cold]
    fn last_word(&mut self) -> Option<&'a [u8]> {
        let is_behind = self.at == self.line.len() && self.line.last() == Some(&self.separator);
        let word = (is_behind && self.separator != b' ').then_some(&[][..]);
        self.at += usize::from(word.is_some());
        word
    }

    /// R for a read or W for a write, in either case.
    #[inline]
    pub(crate) fn read_or_write(
        &mut self,
        column: &'static str,
        allowed: &'static str,
    ) -> Result<OpCode, Bad> {
        let at = self.position();
        match self.word(column, allowed)?.trim_ascii() {
            b"R" | b"r" => Ok(OpCode::Read),
            b"W" | b"w" => Ok(OpCode::Write),
            _ => Err(self.refuse(BadReason::UnknownOperation, column, allowed, at)),
        }
    }

    /// Columns that follow, not looking into them (a comma between quotation marks counts as one).
    #[inline]
    pub(crate) fn remaining(&self) -> usize {
        let rest = self.line.get(self.at..).unwrap_or_default();
        if rest.is_empty() { 0 } else { memchr::memchr_iter(self.separator, rest).count() + 1 }
    }

    /// An error about the column that was just taken and began at `at`.
    #[cold]
    pub(crate) fn refuse(
        &self,
        reason: BadReason,
        column: &'static str,
        allowed: &'static str,
        at: usize,
    ) -> Bad {
        Bad { reason, column, allowed, at }
    }

    /// Where the next column begins.
    #[inline]
    pub(crate) fn position(&self) -> usize {
        self.at
    }
}

/// What stands in the column of `line` that begins at `at`.
pub(crate) fn column_at(line: &[u8], at: usize, separator: u8) -> &[u8] {
    let rest = line.get(at..).unwrap_or_default();
    let rest = &rest[..rest.iter().position(|&b| b == separator).unwrap_or(rest.len())];
    rest.trim_ascii()
}

/// A number of a column, with its place for an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Number {
    pub value: u64,
    pub column: &'static str,
    pub at: usize,
}

impl Number {
    /// It as the number of a device or a stream.
    #[inline]
    pub(crate) fn up_to_u16(self) -> Result<u16, Bad> {
        u16::try_from(self.value).map_err(|_| too_large(self, "0 to 65535"))
    }
}

/// Bytes of one unit of the address column, and of the size column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Units {
    pub address: u64,
    pub size: u64,
}

/// A range of sectors, and whether it had to be rounded out to whole ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Range {
    pub lba: u64,
    pub sectors: u32,
    pub rounded: bool,
}

impl Units {
    pub(crate) const BYTES: Units = Units { address: 1, size: 1 };
    pub(crate) const SECTORS: Units = Units { address: SECTOR_BYTES, size: SECTOR_BYTES };

    /// The unit that the user names, or else these.
    pub(crate) fn or_named(self, named: AddressUnit) -> Self {
        Units { address: named.bytes_or(self.address), size: named.bytes_or(self.size) }
    }

    /// The sectors of a request; the limits hold for every format.
    #[inline]
    pub(crate) fn range(self, address: Number, size: Number) -> Result<Range, Bad> {
        let bytes = size.value.checked_mul(self.size);
        let Some(bytes) = bytes.filter(|&bytes| bytes <= SIZE_BYTES_MAX) else {
            return Err(too_large(size, SIZE_ALLOWED));
        };
        let start = address.value.checked_mul(self.address);
        let Some(start) =
            start.filter(|&start| start < ADDRESS_BYTES_MAX && start + bytes <= ADDRESS_BYTES_MAX)
        else {
            return Err(too_large(address, "an address below 2^50 sectors (512 PiB)"));
        };
        let lba = start / SECTOR_BYTES;
        if bytes == 0 {
            return Ok(Range { lba, sectors: 0, rounded: false });
        }
        let end = start + bytes;
        let sectors =
            u32::try_from(end.div_ceil(SECTOR_BYTES) - lba).map_err(|_| too_large(size, SIZE_ALLOWED))?;
        Ok(Range { lba, sectors, rounded: !(start | end).is_multiple_of(SECTOR_BYTES) })
    }
}

const SIZE_BYTES_MAX: u64 = (u32::MAX as u64) * SECTOR_BYTES;
const SIZE_ALLOWED: &str = "less than 2^32 sectors (2 TiB)";
const ADDRESS_BYTES_MAX: u64 = SECTORS_MAX * SECTOR_BYTES;

#[cold]
fn too_large(number: Number, allowed: &'static str) -> Bad {
    Bad { reason: BadReason::TooLarge, column: number.column, allowed, at: number.at }
}

/// Bytes up to the mark that closes a quoted field, which begins behind its first mark; `None` if there is none.
#[inline]
fn quoted(inner: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + memchr::memchr(b'"', &inner[from..])?;
        if inner.get(at + 1) != Some(&b'"') {
            return Some(at);
        }
        from = at + 2;
    }
}

/// Whether a line ends within a quoted field.
#[inline]
pub(crate) fn ends_quoted(line: &[u8], separator: u8) -> bool {
    memchr::memchr(b'"', line).is_some() && ends_quoted_slow(line, separator)
}

#[cold]
fn ends_quoted_slow(line: &[u8], separator: u8) -> bool {
    let mut fields = Fields::new(line, separator);
    while !fields.is_done() {
        if fields.line[fields.at] == b'"' && quoted(&fields.line[fields.at + 1..]).is_none() {
            return true;
        }
        if fields.word("", "").is_err() {
            return false;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECONDS: TimeScale = TimeScale::SECONDS;
    const MILLISECONDS: TimeScale = TimeScale { unit_ns: 1_000_000, decimal: true };
    const FILETIME: TimeScale = TimeScale::whole(100);

    #[test]
    fn whole_numbers() {
        let number = |text: &str| Fields::new(text.as_bytes(), b',').number("x");
        assert_eq!(number("0"), Ok(0));
        assert_eq!(number("18446744073709551615"), Ok(u64::MAX));
        assert_eq!(number("000000000000000000000000000042,"), Ok(42));
        assert_eq!(number(" 7 ,8"), Ok(7));
        let reason = |text: &str| number(text).map_err(|b| b.reason);
        assert_eq!(reason("18446744073709551616"), Err(BadReason::TooLarge));
        assert_eq!(reason("-1"), Err(BadReason::Negative));
        assert_eq!(reason("-"), Err(BadReason::NotANumber));
        assert_eq!(reason("1x"), Err(BadReason::NotANumber));
        assert_eq!(reason("1 2"), Err(BadReason::NotANumber));
        assert_eq!(reason("0x10"), Err(BadReason::NotANumber));
        let hex = |text: &str| {
            let number = Fields::new(text.as_bytes(), b',').placed_or_hex("x");
            number.map(|number| number.value).map_err(|bad| bad.reason)
        };
        assert_eq!((hex("0x1f"), hex("0XfF ,1"), hex("12")), (Ok(31), Ok(255), Ok(12)));
        assert_eq!(hex("0xffffffffffffffff"), Ok(u64::MAX));
        assert_eq!(hex("0x10000000000000000"), Err(BadReason::TooLarge));
        assert_eq!(
            (hex("0x"), hex("0x1g"), hex("0x,1")),
            (Err(BadReason::NotANumber), Err(BadReason::NotANumber), Err(BadReason::NotANumber))
        );
        assert_eq!(reason(""), Err(BadReason::MissingColumn));
        assert_eq!(reason(",1"), Err(BadReason::MissingColumn));
    }

    #[test]
    fn times_are_exact() {
        let time =
            |text: &str, scale| Fields::new(text.as_bytes(), b',').time("t", scale).map_err(|b| b.reason);
        assert_eq!(time("0.026214", SECONDS), Ok(26_214_000));
        assert_eq!(time("1456095145.133076000", SECONDS), Ok(1_456_095_145_133_076_000));
        assert_eq!(time("1362509.099609", MILLISECONDS), Ok(1_362_509_099_609));
        assert_eq!(time("0.0000019", MILLISECONDS), Ok(1));
        assert_eq!(time("3.", SECONDS), Ok(3_000_000_000));
        assert_eq!(time("0.12345678901234567890", SECONDS), Ok(123_456_789));
        assert_eq!(time("128166391024154329", FILETIME), Ok(12_816_639_102_415_432_900));
        assert_eq!(time("1.5", FILETIME), Err(BadReason::NotANumber));
        assert_eq!(time("1e5", SECONDS), Err(BadReason::NotANumber));
        assert_eq!(time("1.2.3", SECONDS), Err(BadReason::NotANumber));
        assert_eq!(time("99999999999999999999", SECONDS), Err(BadReason::TooLarge));
        assert_eq!(time("99999999999999999", SECONDS), Err(BadReason::TooLarge));
        assert_eq!(time("-0.5", SECONDS), Err(BadReason::Negative));
        assert_eq!(Fields::new(b"12,5;1", b';').time("t", SECONDS), Ok(12_500_000_000));
    }

    #[test]
    fn blanks_separate_in_any_number() {
        let mut fields = Fields::new(b"  1 2\t 3   4 ", b' ');
        for expected in 1..=4 {
            assert_eq!(fields.number("n"), Ok(expected));
        }
        assert!(fields.is_done());
        assert_eq!(fields.number("n").map_err(|b| b.reason), Err(BadReason::MissingColumn));
    }

    #[test]
    fn quoted_words_keep_their_commas() {
        let mut fields = Fields::new(b"\"a,b\",c,\"open", b',');
        assert_eq!(fields.word("w", ""), Ok(&b"a,b"[..]));
        assert_eq!(fields.word("w", ""), Ok(&b"c"[..]));
        assert_eq!(fields.word("w", ""), Ok(&b"open"[..]));
        assert!(fields.word("w", "").is_err());
    }

    #[test]
    fn ranges_round_out_to_sectors() {
        let range = |units: Units, address, size| {
            let number = |value| Number { value, column: "x", at: 0 };
            units
                .range(number(address), number(size))
                .map(|r| (r.lba, r.sectors, r.rounded))
                .map_err(|b| b.allowed)
        };
        assert_eq!(range(Units::BYTES, 1024, 512), Ok((2, 1, false)));
        assert_eq!(range(Units::BYTES, 1000, 30), Ok((1, 2, true)));
        assert_eq!(range(Units::BYTES, 513, 1), Ok((1, 1, true)));
        assert_eq!(range(Units::BYTES, 700, 0), Ok((1, 0, false)));
        assert_eq!(range(Units::SECTORS, 5, 3), Ok((5, 3, false)));
        assert_eq!(range(Units { address: 512, size: 1 }, 5, 513), Ok((5, 2, true)));
        assert_eq!(range(Units { address: 4096, size: 4096 }, 5, 2), Ok((40, 16, false)));
        let (too_far, too_long) =
            (Err("an address below 2^50 sectors (512 PiB)"), Err("less than 2^32 sectors (2 TiB)"));
        assert_eq!(range(Units::BYTES, u64::MAX, 1), too_far);
        assert_eq!(range(Units::SECTORS, u64::MAX, 1), too_far);
        assert_eq!(range(Units::SECTORS, (1 << 50) - 1, 2), too_far);
        assert_eq!(range(Units::SECTORS, (1 << 50) - 1, 1), Ok(((1 << 50) - 1, 1, false)));
        assert_eq!(range(Units::SECTORS, 0, u64::MAX), too_long);
        assert_eq!(range(Units::SECTORS, 0, u64::from(u32::MAX)), Ok((0, u32::MAX, false)));
        assert_eq!(range(Units::BYTES, 511, u64::from(u32::MAX) * 512), too_long);
    }
}
