//! Any CSV: the user says what its columns are.
//!
//! Fields are taken where they stand, with quotation marks as in RFC 4180, between which lines may end: so an error
//! names the place, and nothing is copied. That is why no library reads it.

use super::columns::{CsvUse, Place};
use super::dates::{DATE_ALLOWED, date_ns, looks_dated};
use super::fields::{Bad, Fields, Number, TimeScale, Units, ends_quoted};
use super::format::{Column, Format, Known, OpenUnits, Order, Raw, Row};
use super::names::Names;
use super::options::{Header, ReadOptions};
use super::pace::guess_of_decimals;
use super::volumes::Volumes;
use crate::base::findings::BadReason;
use crate::base::units::{AddressUnit, TimeUnit};
use ssd::signals::{Hints, OpCode};

/// Words of operations that need not be told, in lower case.
const WORDS: [(&str, OpCode); 20] = [
    ("read", OpCode::Read),
    ("write", OpCode::Write),
    ("r", OpCode::Read),
    ("w", OpCode::Write),
    ("rd", OpCode::Read),
    ("wr", OpCode::Write),
    ("rs", OpCode::Read),
    ("ws", OpCode::Write),
    ("ra", OpCode::Read),
    ("get", OpCode::Read),
    ("put", OpCode::Write),
    ("trim", OpCode::Trim),
    ("discard", OpCode::Trim),
    ("unmap", OpCode::Trim),
    ("t", OpCode::Trim),
    ("d", OpCode::Trim),
    ("flush", OpCode::Flush),
    ("sync", OpCode::Flush),
    ("fsync", OpCode::Flush),
    ("f", OpCode::Flush),
];
const WORD_ALLOWED: &str =
    "read, write, trim, flush, their first letters, or words defined in --columns: op=3:{1=read,0=write}";
const DEVICE_ALLOWED: &str = "a number, or one of at most 65536 names";

/// Reads lines by what `columns` says of them.
pub(crate) struct Csv {
    separator: u8,
    header: Header,
    scale: TimeScale,
    units: Units,
    /// Whether nothing says the unit of times, and of addresses and sizes.
    open: (bool, bool),
    guessed_time: TimeUnit,
    order: Order,
    has_times: bool,
    /// The operation of all requests, where no column says it.
    op: OpCode,
    /// What each column up to the last one that is used is for.
    uses: Vec<Option<CsvUse>>,
    /// Columns that are told by name, until the header is read.
    named: Vec<(CsvUse, String)>,
    words: Vec<(Vec<u8>, OpCode)>,
    processes: Names,
    files: Names,
    devices: Names,
    volumes: Volumes,
}

impl Format for Csv {
    const SUMMARY: &'static str = "Any text with columns; `columns` (--columns) describes them, by number \
         from 1 or by the name in the header: time=1:us,op=3,offset=4:bytes,size=5, and, if present, device, \
         file, process, context, stream, priority, class, one_time, fua. op may define its words: \
         op=3:{1=read,0=write}, or be one for all: op=write!. Times may be dates (2026-05-01T10:32:01.5Z), \
         addresses and sizes hexadecimal (0x1f). Units are s, ms, us, ns, 100ns, and bytes, sectors, kib, \
         4kib; without them they are inferred from the first 1,000 lines, as for mqsim. Without a time, \
         requests follow each other as the drive completes them. See also `separator` and `header`. \
         Recognised only if `columns` is given; the sample is read with time=1:us,op=2,offset=3:bytes,size=4.";
    const SOURCE: &'static str = "Shafranovich: Common Format and MIME Type for CSV Files (RFC 4180)";
    const COLUMNS: &'static [Column] = &[
        Column { name: "time", unit: "as given", used_for: "arrival" },
        Column { name: "op", unit: "a word", used_for: "operation" },
        Column { name: "offset", unit: "as given", used_for: "address" },
        Column { name: "size", unit: "as given", used_for: "length" },
        Column { name: "device", unit: "a number or a name", used_for: "device, stream hint" },
        Column { name: "file, process", unit: "0 to 2^32 - 1, or a name", used_for: "their hints" },
        Column { name: "context", unit: "0 to 2^32 - 1", used_for: "program context hint" },
        Column { name: "stream", unit: "0 to 65535", used_for: "stream hint" },
        Column { name: "priority", unit: "0 to 3", used_for: "its hint" },
        Column { name: "class", unit: "0 to 255", used_for: "its hint" },
        Column { name: "one_time", unit: "0 or 1", used_for: "hint that the data is read only once" },
        Column { name: "fua", unit: "0 or 1", used_for: "force unit access" },
    ];
    const SAMPLE: &'static [u8] = b"us,kind,at,bytes\n10,read,4096,8192\n1250,write,0,512\n";
    const SAMPLE_COLUMNS: &'static str = "time=1:us,op=2,offset=3:bytes,size=4";
    const SEPARATOR: u8 = b',';
    const RECOGNISED_COLUMNS: (usize, usize) = (3, 0);

    fn new(options: &ReadOptions, head: &[&[u8]]) -> Self {
        let columns = &options.columns;
        let time_unit = if options.time_unit == TimeUnit::Auto { columns.time } else { options.time_unit };
        let units = |own| if options.address_unit == AddressUnit::Auto { own } else { options.address_unit };
        let (offset, size) = (units(columns.offset), units(columns.size));
        let mut format = Csv {
            separator: options.separator.0,
            header: options.header,
            scale: TimeScale { unit_ns: time_unit.ns_or(1), decimal: true },
            units: Units { address: offset.bytes_or(512), size: size.bytes_or(512) },
            open: (columns.has_times() && time_unit == TimeUnit::Auto, offset == AddressUnit::Auto),
            guessed_time: TimeUnit::Auto,
            order: Order::Recorded,
            has_times: columns.has_times(),
            op: columns.constant_op.unwrap_or(OpCode::Read),
            uses: Vec::new(),
            named: Vec::new(),
            words: columns.words.iter().map(|(word, op)| (word.clone().into_bytes(), *op)).collect(),
            processes: Names::default(),
            files: Names::default(),
            devices: Names::default(),
            volumes: Volumes::new(options),
        };
        for column in &columns.list {
            match &column.place {
                Place::Number(number) => format.set_use(*number - 1, column.what),
                Place::Name(name) => format.named.push((column.what, name.clone())),
            }
        }
        format.look_at_times(head, time_unit);
        format
    }

    fn header(&mut self, line: &[u8]) -> Result<bool, Bad> {
        let named = std::mem::take(&mut self.named);
        if !named.is_empty() {
            let names = self.split(line);
            for (what, name) in named {
                let bad = |allowed| Bad { reason: BadReason::BadHeader, column: what.name(), allowed, at: 0 };
                let mut places = names.iter().zip(0..).filter(|(found, _)| **found == name.as_bytes());
                let missing = || bad("a header with the name that --columns gives it");
                let (_, at) = places.next().ok_or_else(missing)?;
                if places.next().is_some() {
                    return Err(bad("a header with that name once"));
                }
                if self.uses.get(at).copied().flatten().is_some() {
                    return Err(bad("another column than those that --columns gives by number"));
                }
                self.set_use(at, what);
            }
            return Ok(true);
        }
        Ok(match self.header {
            Header::Yes => true,
            Header::No => false,
            Header::Auto => self.has_names(line),
        })
    }

    #[inline]
    fn parse(&mut self, line: &[u8]) -> Result<Row, Bad> {
        let mut fields = Fields::new(line, self.separator);
        let (mut time_ns, mut op, mut device, mut fua) = (0, self.op, None, false);
        let (mut offset, mut size) = (Number::default(), Number::default());
        let mut hints = Hints::default();
        for what in &self.uses {
            let Some(what) = *what else {
                fields.word("", "as many columns as --columns names")?;
                continue;
            };
            let at = fields.position();
            let name = what.name();
            match what {
                CsvUse::Time => time_ns = time(&mut fields, line, self.scale)?,
                CsvUse::Op => {
                    let word = fields.word(name, WORD_ALLOWED)?;
                    let found = operation(&self.words, word);
                    op = found
                        .ok_or_else(|| fields.refuse(BadReason::UnknownOperation, name, WORD_ALLOWED, at))?;
                }
                CsvUse::Offset => offset = fields.placed_or_hex(name)?,
                CsvUse::Size if op == OpCode::Flush => size.value = fields.number_or_empty(name)?,
                CsvUse::Size => size = fields.placed_or_hex(name)?,
                CsvUse::Device => {
                    let column = Number { value: 0, column: name, at };
                    let word = fields.word(name, DEVICE_ALLOWED)?;
                    device = Some(number_of_device(word, column, &mut self.volumes, &mut self.devices)?);
                }
                CsvUse::File | CsvUse::Process => {
                    let word = fields.word(name, "a number or a name")?;
                    let names = if what == CsvUse::File { &mut self.files } else { &mut self.processes };
                    let allowed = "a number up to 2^32 - 1, or a name";
                    let id = number_or_name(word, names, 0);
                    let id = id.ok_or_else(|| fields.refuse(BadReason::TooLarge, name, allowed, at))?;
                    if what == CsvUse::File { hints.file = id } else { hints.process = id }
                }
                CsvUse::Context => {
                    let most = u64::from(u32::MAX);
                    hints.context = fields.number_up_to(name, most, "up to 2^32 - 1")? as u32;
                }
                CsvUse::Stream => hints.stream = fields.placed(name)?.up_to_u16()?,
                CsvUse::Priority => hints.priority = fields.number_up_to(name, 3, "0 to 3")? as u8,
                CsvUse::Fua => fua = fields.number_up_to(name, 1, "0 or 1")? == 1,
                CsvUse::Class => hints.class = fields.number_up_to(name, 255, "0 to 255")? as u8,
                CsvUse::OneTime => hints.one_time = fields.number_up_to(name, 1, "0 or 1")? == 1,
            }
        }
        if op == OpCode::Flush {
            size.value = 0;
        }
        let range = self.units.range(offset, size)?;
        let raw = Raw::new(time_ns, op, device.unwrap_or(0), range);
        if !self.uses.contains(&Some(CsvUse::Stream)) {
            hints.stream = raw.device;
        }
        Ok(Row::Request(Raw { hints, fua, ..raw }))
    }

    fn separator(&self) -> u8 {
        self.separator
    }

    fn line_goes_on(&self, line: &[u8]) -> bool {
        ends_quoted(line, self.separator)
    }

    fn open_units(&mut self) -> OpenUnits<'_> {
        OpenUnits {
            time: self.open.0.then_some(&mut self.scale),
            space: self.open.1.then_some(&mut self.units),
        }
    }

    fn guessed_time(&self) -> TimeUnit {
        self.guessed_time
    }

    fn order(&self) -> Order {
        self.order
    }

    fn has_times(&self) -> bool {
        self.has_times
    }

    fn processes(&self) -> Option<&Names> {
        Some(&self.processes)
    }

    fn volumes(&self) -> Option<&Volumes> {
        Some(&self.volumes)
    }

    fn known(&self) -> Known<'_> {
        Known { files: Some(&self.files), devices: self.devices.first(crate::base::report::NAMES_SHOWN) }
    }
}

impl Csv {
    fn set_use(&mut self, at: usize, what: CsvUse) {
        if self.uses.len() <= at {
            self.uses.resize(at + 1, None);
        }
        self.uses[at] = Some(what);
    }

    fn split<'a>(&self, line: &'a [u8]) -> Vec<&'a [u8]> {
        let mut fields = Fields::new(line, self.separator);
        let mut words = Vec::new();
        while !fields.is_done() {
            words.push(fields.word("", "").unwrap_or_default().trim_ascii());
        }
        words
    }

    /// Whether a name stands in each column that has something else in requests. A row of which only some are no
    /// numbers is a damaged request.
    fn has_names(&self, line: &[u8]) -> bool {
        let words = self.split(line);
        let is_name = |(what, word): (&Option<CsvUse>, &&[u8])| {
            let may_begin_a_number = |byte: u8| byte.is_ascii_digit() || b"+-.".contains(&byte);
            match what {
                None | Some(CsvUse::Device | CsvUse::File | CsvUse::Process) => true,
                Some(CsvUse::Op) => !word.is_empty() && operation(&self.words, word).is_none(),
                Some(_) => word.first().is_some_and(|first| !may_begin_a_number(*first)),
            }
        };
        !self.uses.is_empty() && self.uses.iter().zip(&words).all(is_name)
    }

    /// What the beginning shows of times: decimals are told like those of mqsim if nothing says their unit, and whole
    /// seconds are spread.
    fn look_at_times(&mut self, head: &[&[u8]], unit: TimeUnit) {
        let by_number = self.uses.iter().position(|what| *what == Some(CsvUse::Time));
        let by_name = || {
            let (_, name) = self.named.iter().find(|(what, _)| *what == CsvUse::Time)?;
            self.split(head.first()?).iter().position(|found| *found == name.as_bytes())
        };
        let Some(at) = by_number.or_else(by_name) else { return };
        let words: Vec<&[u8]> = head.iter().filter_map(|line| self.split(line).get(at).copied()).collect();
        let is_mark = |byte: &u8| *byte == b'.' || *byte == b',' && self.separator == b';';
        let is_decimal =
            |word: &&[u8]| word.first().is_some_and(u8::is_ascii_digit) && word.iter().any(is_mark);
        let has_decimals = words.iter().any(is_decimal);
        if words.iter().any(|word| looks_dated(word)) {
            self.open.0 = false;
            self.order = if has_decimals { Order::Recorded } else { Order::Spread };
            return;
        }
        match (unit, has_decimals) {
            (TimeUnit::Auto, true) => {
                self.guessed_time = guess_of_decimals(words.into_iter());
                self.scale.unit_ns = self.guessed_time.ns_or(1);
                self.open.0 = false;
            }
            (TimeUnit::Auto, false) => self.scale.decimal = false,
            (TimeUnit::Seconds, false) => self.order = Order::Spread,
            _ => {}
        }
    }
}

/// A number of the time column's unit, or a date.
#[inline]
fn time(fields: &mut Fields<'_>, line: &[u8], scale: TimeScale) -> Result<u64, Bad> {
    let at = fields.position();
    let rest = line.get(at..).unwrap_or_default();
    if !looks_dated(rest.strip_prefix(b"\"").unwrap_or(rest)) {
        return fields.time("time", scale);
    }
    let date = date_ns(fields.word("time", DATE_ALLOWED)?);
    date.ok_or_else(|| fields.refuse(BadReason::NotANumber, "time", DATE_ALLOWED, at))
}

/// What stands for the device that a word names or numbers.
#[inline]
fn number_of_device(
    word: &[u8],
    column: Number,
    volumes: &mut Volumes,
    names: &mut Names,
) -> Result<u16, Bad> {
    let too_many =
        || Bad { reason: BadReason::TooLarge, column: column.column, allowed: DEVICE_ALLOWED, at: column.at };
    match whole(word.trim_ascii()) {
        Some(value) => volumes.number(Number { value, ..column }),
        None => {
            let number = number_or_name(word, names, 1);
            number.and_then(|number| u16::try_from(number).ok()).ok_or_else(too_many)
        }
    }
}

/// The operation that a word stands for.
#[inline]
fn operation(words: &[(Vec<u8>, OpCode)], word: &[u8]) -> Option<OpCode> {
    let word = word.trim_ascii();
    if !words.is_empty() {
        return words.iter().find(|(known, _)| known == word).map(|(_, op)| *op);
    }
    WORDS.iter().find(|(known, _)| word.eq_ignore_ascii_case(known.as_bytes())).map(|(_, op)| *op)
}

/// A whole number of at most 19 digits.
#[inline]
fn whole(word: &[u8]) -> Option<u64> {
    let is_number = (1..=19).contains(&word.len()) && word.iter().all(u8::is_ascii_digit);
    is_number.then(|| word.iter().fold(0, |number, digit| number * 10 + u64::from(digit - b'0')))
}

/// A number, or the number of a name less `from_one`; `None` if it is too large.
#[inline]
fn number_or_name(word: &[u8], names: &mut Names, from_one: u32) -> Option<u32> {
    let word = word.trim_ascii();
    if word.is_empty() {
        return Some(0);
    }
    if let Some(number) = whole(word) {
        return u32::try_from(number).ok();
    }
    names.id(word).checked_sub(from_one)
}
