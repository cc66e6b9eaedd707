//! What readers find in a trace that is not as expected, for errors and reports alike: damage, requests that were not
//! asked for, what its beginning asks of a drive, and units taken for granted.

use crate::base::units::{AddressUnit, TimeUnit};

macro_rules! bad_reasons {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $text:literal;)*) => {
        /// Why a line of a trace cannot be used.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum BadReason { $($(#[$doc])* $variant,)* }

        impl BadReason {
            /// All reasons.
            pub const ALL: &'static [BadReason] = &[$(BadReason::$variant),*];

            /// Name in result files.
            pub fn name(self) -> &'static str {
                match self { $(BadReason::$variant => $name),* }
            }

            /// What to tell a person.
            pub fn text(self) -> &'static str {
                match self { $(BadReason::$variant => $text),* }
            }
        }
    };
}

bad_reasons! {
    /// The line has too few columns.
    MissingColumn = "missing_column", "missing";
    /// A number is expected and something else is there.
    NotANumber = "not_a_number", "not a number";
    /// A number is below zero.
    Negative = "negative", "negative";
    /// A number is larger than can be.
    TooLarge = "too_large", "too large";
    /// The operation is none that the format has.
    UnknownOperation = "unknown_operation", "unknown operation";
    /// The line is longer than [`LINE_BYTES_MAX`](crate::LINE_BYTES_MAX).
    LineTooLong = "line_too_long", "line too long";
    /// The last line has no line end and cannot be understood: the file was cut.
    CutAtEnd = "cut_at_end", "the file ends in the middle of it";
    /// A time lies before the one of the line above, and `on_time_step_back` is `error`.
    TimeStepBack = "time_step_back", "time goes backwards";
    /// There is nothing but zeros where lines should be: what was written there is lost.
    ZeroBytes = "zero_bytes", "nothing but zero bytes, as where a file was cut";
    /// Where a record of a binary trace should begin there is something else.
    NotARecord = "not_a_record", "no record begins here";
    /// The line that names the columns is missing or lacks one.
    BadHeader = "bad_header", "column missing in the header";
}

/// What leaves requests out, in the order in which it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOut {
    /// For another device.
    Device,
    /// Of another process.
    Process,
    /// Another operation.
    Operation,
    /// Begins outside of the addresses.
    Address,
    /// Arrives outside of the time.
    Time,
    /// One of the first that are passed over.
    Skipped,
}

impl LeftOut {
    /// All of them.
    pub const ALL: [LeftOut; 6] = [
        LeftOut::Device,
        LeftOut::Process,
        LeftOut::Operation,
        LeftOut::Address,
        LeftOut::Time,
        LeftOut::Skipped,
    ];

    /// What a person calls requests left out by it.
    pub(crate) fn text(self) -> &'static str {
        match self {
            LeftOut::Device => "of other devices",
            LeftOut::Process => "of other processes",
            LeftOut::Operation => "of other operations",
            LeftOut::Address => "at other addresses",
            LeftOut::Time => "at other times",
            LeftOut::Skipped => "skipped from the start",
        }
    }
}

/// How much the beginning of a trace asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Requests looked at.
    pub head_requests: u64,
    /// Requests per second that they come to, rounded up.
    pub requests_per_s: u64,
    /// Bytes per second, rounded up.
    pub bytes_per_s: u64,
    /// Bytes of the 4 KiB pages they touch.
    pub footprint_bytes: u64,
}

impl Pace {
    /// What the head asks for, for a person.
    pub(crate) fn figures(&self) -> String {
        let megabytes = |bytes: u64| bytes as f64 / 1e6;
        format!(
            "the first {} requests ask for {} requests/s and {:.3} MB/s, and touch {:.3} MB",
            self.head_requests,
            self.requests_per_s,
            megabytes(self.bytes_per_s),
            megabytes(self.footprint_bytes)
        )
    }
}

/// Units that numbers are taken for where nothing says them, and what the beginning of the trace asks for in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assumed {
    /// The unit of times; `auto` where it is known.
    pub time: TimeUnit,
    /// The unit of addresses and sizes; `auto` where it is known.
    pub space: AddressUnit,
    /// What the head comes to.
    pub pace: Pace,
}

impl Assumed {
    /// The units, such as "times in us, addresses in bytes".
    pub(crate) fn units(&self, times: &str, addresses: &str) -> String {
        let time = (self.time != TimeUnit::Auto).then(|| format!("{times} {}", self.time.name()));
        let space = (self.space != AddressUnit::Auto).then(|| format!("{addresses} {}", self.space.name()));
        let parts: Vec<String> = time.into_iter().chain(space).collect();
        parts.join(", ")
    }
}

/// A count in full, in groups of three: `1,234,567`.
pub(crate) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let first = digits.len() % 3;
    let groups =
        digits.as_bytes()[first..].chunks(3).map(|group| String::from_utf8_lossy(group).into_owned());
    let all = std::iter::once(digits[..first].to_owned()).chain(groups).filter(|group| !group.is_empty());
    all.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_stand_in_groups_of_three() {
        assert_eq!(
            [0, 7, 999, 1_000, 10_004, 1_234_567].map(grouped),
            ["0", "7", "999", "1,000", "10,004", "1,234,567"]
        );
    }
}
