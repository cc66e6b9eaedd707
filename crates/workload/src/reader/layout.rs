//! Columns that are found by name: a header says where they are, or they stand in the usual order.

use super::fields::{Bad, Fields, Number, TimeScale};
use super::format::Format;
use crate::base::findings::BadReason;

/// What a column is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    Time,
    Operation,
    Address,
    Size,
    /// A number of a device, the first one of two.
    Device,
    /// The second one.
    Minor,
    /// Which event of a block trace it is.
    Event,
    /// A name in brackets or without.
    Process,
    /// An inode.
    Inode,
    Stream,
    Flush,
    Fua,
    /// Must be a number but is not used.
    Version,
    Nothing,
}

/// A column that is used: its name, what for, and whether there must be one.
pub(crate) type Used = (&'static str, Use, bool);

/// Where the columns are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    /// Up to the last one that is used.
    columns: Vec<(Use, &'static str)>,
    /// Columns after those, which must be there nevertheless.
    after: usize,
    /// Whether lines can be read in this order: then the first one is no header, but perhaps damaged.
    pub has_rows: bool,
}

/// A word of a column, with its place for an error.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Word<'a> {
    pub text: &'a [u8],
    pub column: &'static str,
    pub at: usize,
}

impl Word<'_> {
    /// An error about it.
    #[cold]
    pub(crate) fn refuse(&self, reason: BadReason, allowed: &'static str) -> Bad {
        Bad { reason, column: self.column, allowed, at: self.at }
    }
}

/// What stands in the columns of a line; nothing, or 0, where there is no such column.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cells<'a> {
    pub time_ns: u64,
    pub op: Word<'a>,
    pub event: Word<'a>,
    pub address: Number,
    pub size: Number,
    pub device: Number,
    pub minor: Number,
    pub process: &'a [u8],
    pub inode: u64,
    pub stream: Number,
    pub flush: bool,
    pub fua: bool,
}

impl Layout {
    /// The columns in the order of a header. An error names the first one that is missing or there twice.
    pub(crate) fn of(
        header: &[u8],
        separator: u8,
        used: &'static [Used],
        allowed: &'static str,
    ) -> Result<Self, Bad> {
        let names: Vec<&[u8]> = header.split(|&b| b == separator).map(<[u8]>::trim_ascii).collect();
        let count = |name: &str| names.iter().filter(|found| **found == name.as_bytes()).count();
        for &(column, _, required) in used {
            if required && count(column) == 0 {
                return Err(Bad { reason: BadReason::BadHeader, column, allowed, at: 0 });
            }
            if count(column) > 1 {
                let allowed = "a header with this column once";
                return Err(Bad { reason: BadReason::BadHeader, column, allowed, at: 0 });
            }
        }
        let use_of = |name: &&[u8]| {
            let known = used.iter().find(|(known, ..)| known.as_bytes() == *name);
            known.map_or((Use::Nothing, ""), |&(known, what, _)| (what, known))
        };
        let mut columns: Vec<(Use, &'static str)> = names.iter().map(use_of).collect();
        let last = columns.iter().rposition(|&(what, _)| what != Use::Nothing).map_or(0, |last| last + 1);
        let after = columns.len() - last;
        columns.truncate(last);
        Ok(Layout { columns, after, has_rows: false })
    }

    /// The usual order: that of the sample's header.
    pub(crate) fn of_sample<F: Format>(used: &'static [Used]) -> Self {
        let header = F::SAMPLE.split(|&b| b == b'\n').next().unwrap_or_default();
        Layout::of(header, F::SEPARATOR, used, "").unwrap_or_default()
    }

    /// Takes the order of the first line, if that is a header; true if so.
    pub(crate) fn take_header(
        &mut self,
        line: &[u8],
        separator: u8,
        used: &'static [Used],
        allowed: &'static str,
    ) -> Result<bool, Bad> {
        match Layout::of(line, separator, used, allowed) {
            Ok(found) => {
                *self = found;
                Ok(true)
            }
            Err(_) if self.has_rows => Ok(false),
            Err(bad) => Err(bad),
        }
    }

    /// The columns of a line.
    #[inline]
    pub(crate) fn read<'a>(&self, line: &'a [u8], separator: u8, scale: TimeScale) -> Result<Cells<'a>, Bad> {
        let mut fields = Fields::new(line, separator);
        let mut cells = Cells::default();
        for &(what, column) in &self.columns {
            let at = fields.position();
            match what {
                Use::Nothing => {
                    fields.word("", "a column as in the header")?;
                }
                Use::Time => cells.time_ns = fields.time(column, scale)?,
                Use::Operation => {
                    cells.op = Word { text: fields.word(column, "an operation")?, column, at };
                }
                Use::Address => cells.address = fields.placed(column)?,
                Use::Size => cells.size = fields.placed(column)?,
                Use::Device => cells.device = fields.placed(column)?,
                Use::Minor => cells.minor = fields.placed(column)?,
                Use::Event => cells.event = Word { text: fields.word(column, "an event")?, column, at },
                Use::Process => cells.process = fields.word(column, "a name")?,
                Use::Inode => cells.inode = fields.number_or_empty(column)?,
                Use::Stream => {
                    cells.stream = Number { value: fields.number_or_empty(column)?, column, at };
                }
                Use::Flush => cells.flush = fields.number_or_empty(column)? != 0,
                Use::Fua => cells.fua = fields.number_or_empty(column)? != 0,
                Use::Version => {
                    fields.number_up_to(column, 9, "a version from 0 to 9")?;
                }
            }
        }
        if fields.remaining() < self.after {
            let allowed = "as many columns as the header has";
            return Err(fields.refuse(BadReason::MissingColumn, "", allowed, line.len()));
        }
        Ok(cells)
    }
}
