//! What the columns of a CSV are, as the user says: `time=1:us,op=3,offset=4:bytes,size=5`.

use crate::base::error::WorkloadError;
use crate::base::near::near;
use crate::base::request::operation_named;
use crate::base::settings::{Value, found, quoted};
use crate::base::units::{AddressUnit, TimeUnit};
use ssd::signals::OpCode;
use toml::de::DeValue;

ssd::choice! {
    /// What a column of a CSV may be used for.
    pub enum CsvUse {
        /// Arrival.
        Time = "time",
        /// Operation.
        Op = "op",
        /// Address.
        Offset = "offset",
        /// Length.
        Size = "size",
        /// Device, a number or a name.
        Device = "device",
        /// File, a number or a name.
        File = "file",
        /// Process, a number or a name.
        Process = "process",
        /// Program context.
        Context = "context",
        /// Stream.
        Stream = "stream",
        /// Priority.
        Priority = "priority",
        /// Security class.
        Class = "class",
        /// Read once only.
        OneTime = "one_time",
        /// Force unit access.
        Fua = "fua",
    }
}

impl CsvUse {
    const REQUIRED: [CsvUse; 3] = [CsvUse::Op, CsvUse::Offset, CsvUse::Size];
}

/// Where a column is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Its number, from 1.
    Number(usize),
    /// Its name in the header.
    Name(String),
}

/// One column that is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsvColumn {
    /// What for.
    pub what: CsvUse,
    /// Where it is.
    pub place: Place,
}

/// The columns of a CSV; none where it is not a CSV.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// As it was written.
    text: String,
    /// In the order written.
    pub list: Vec<CsvColumn>,
    /// Unit of times.
    pub time: TimeUnit,
    /// Unit of addresses.
    pub offset: AddressUnit,
    /// Unit of sizes.
    pub size: AddressUnit,
    /// Words of the operations, if they are not the usual ones.
    pub words: Vec<(String, OpCode)>,
    /// The operation of all requests, where no column says it.
    pub constant_op: Option<OpCode>,
}

const EXAMPLE: &str =
    "such as time=1:us,op=3,offset=4:bytes,size=5, where a column is its number from 1 or its name";

impl Columns {
    /// Whether nothing is said, and so it is no CSV.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether requests have times.
    pub(crate) fn has_times(&self) -> bool {
        self.list.iter().any(|column| column.what == CsvUse::Time)
    }

    /// Reads a description such as `time=1:us,op=3,offset=4:bytes,size=5`.
    pub fn from_text(text: &str) -> Result<Self, WorkloadError> {
        Self::parse(text).map_err(|(found, allowed)| WorkloadError::setting("columns", found, allowed))
    }

    /// Reads the text; the error says what is wrong and what is allowed.
    fn parse(text: &str) -> Result<Self, (String, String)> {
        let mut columns = Columns { text: text.to_string(), ..Columns::default() };
        for part in split(text) {
            let Some((key, value)) = part.split_once('=') else {
                return Err((format!("found {:?}", part.trim()), format!("key=column, {EXAMPLE}")));
            };
            columns.add(key.trim(), value.trim())?;
        }
        for required in CsvUse::REQUIRED {
            let is_constant = required == CsvUse::Op && columns.constant_op.is_some();
            if !is_constant && !columns.list.iter().any(|column| column.what == required) {
                return Err((
                    format!("`{}` is missing", required.name()),
                    format!("op, offset and size, {EXAMPLE}"),
                ));
            }
        }
        // A size that has no unit has that of the addresses, and the other way round.
        match (columns.offset, columns.size) {
            (AddressUnit::Auto, unit) => columns.offset = unit,
            (unit, AddressUnit::Auto) => columns.size = unit,
            _ => {}
        }
        Ok(columns)
    }

    fn add(&mut self, key: &str, value: &str) -> Result<(), (String, String)> {
        let Some(what) = CsvUse::from_name(key) else {
            let near = near(key, CsvUse::NAMES.iter().copied());
            let near = near.map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default();
            return Err((format!("found `{key}`{near}"), CsvUse::NAMES.join(", ")));
        };
        if let Some(constant) = value.strip_suffix('!') {
            return self.constant(what, key, constant.trim());
        }
        let (place, rest) =
            value.split_once(':').map_or((value, None), |(place, rest)| (place.trim(), Some(rest.trim())));
        let place = match place.parse::<usize>() {
            Ok(number) if (1..=COLUMNS_MAX).contains(&number) => Place::Number(number),
            Ok(_) => {
                return Err((format!("found column {place} for `{key}`"), format!("1 to {COLUMNS_MAX}")));
            }
            Err(_) if place.is_empty() => {
                return Err((
                    format!("`{key}` names no column"),
                    format!("its number from 1 or its name, {EXAMPLE}"),
                ));
            }
            Err(_) => Place::Name(place.to_string()),
        };
        if what == CsvUse::Op && self.constant_op.is_some() {
            return Err((format!("`{key}` is there twice"), "each once".to_string()));
        }
        for known in &self.list {
            if known.what == what {
                return Err((format!("`{key}` is there twice"), "each once".to_string()));
            }
            if known.place == place {
                let found = format!("`{}` and `{key}` are the same column", known.what.name());
                return Err((found, "another column for each".to_string()));
            }
        }
        if let Some(rest) = rest {
            self.unit(what, key, rest)?;
        }
        self.list.push(CsvColumn { what, place });
        Ok(())
    }

    /// What is the same for all requests.
    fn constant(&mut self, what: CsvUse, key: &str, value: &str) -> Result<(), (String, String)> {
        let allowed = "a constant operation, such as op=write!, and columns for the rest";
        let op = operation_named(value).filter(|_| what == CsvUse::Op);
        let op = op.ok_or_else(|| (format!("found `{value}!` for `{key}`"), allowed.to_string()))?;
        let is_there = self.constant_op.is_some() || self.list.iter().any(|column| column.what == what);
        if is_there {
            return Err((format!("`{key}` is there twice"), "each once".to_string()));
        }
        self.constant_op = Some(op);
        Ok(())
    }

    /// What stands behind the colon: a unit, or words for operations.
    fn unit(&mut self, what: CsvUse, key: &str, text: &str) -> Result<(), (String, String)> {
        let wrong = |allowed: String| Err((format!("found `{text}` for `{key}`"), allowed));
        match what {
            CsvUse::Time => match TimeUnit::from_name(text) {
                Some(unit) => self.time = unit,
                None => return wrong(TimeUnit::NAMES[1..].join(", ")),
            },
            CsvUse::Offset | CsvUse::Size => match AddressUnit::from_name(text) {
                Some(unit) if what == CsvUse::Offset => self.offset = unit,
                Some(unit) => self.size = unit,
                None => return wrong(AddressUnit::NAMES[1..].join(", ")),
            },
            CsvUse::Op => {
                let allowed =
                    || "words in braces, such as {rd=read,wr=write}, of read, write, trim, flush".to_string();
                let Some(inner) = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')) else {
                    return wrong(allowed());
                };
                for pair in inner.split(',') {
                    let pair = pair.split_once('=').map(|(word, op)| (word.trim(), op.trim()));
                    let pair = pair.and_then(|(word, op)| Some((word, operation_named(op)?)));
                    let Some((word, op)) = pair else { return wrong(allowed()) };
                    if self.words.iter().any(|(known, _)| known == word) {
                        return Err((
                            format!("`{word}` is there twice for `{key}`"),
                            "each word once".to_string(),
                        ));
                    }
                    self.words.push((word.to_string(), op));
                }
            }
            _ => return wrong("no unit: it is a number or a name".to_string()),
        }
        Ok(())
    }
}

/// Most columns of a line.
const COLUMNS_MAX: usize = 1024;

/// Splits at commas that are not in braces.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0u32;
    text.split(move |c| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
}

impl Value for Columns {
    fn read(value: &DeValue<'_>) -> Option<Self> {
        let text = value.as_str()?;
        if text.is_empty() { Some(Self::default()) } else { Self::parse(text).ok() }
    }
    fn show(&self) -> String {
        quoted(&self.text)
    }
    fn allowed() -> String {
        EXAMPLE.to_string()
    }
    fn explain(key: &str, value: &DeValue<'_>) -> Option<WorkloadError> {
        let wrong = match value.as_str() {
            Some(text) => Self::parse(text).err(),
            None => Some((format!("found {}", found(value)), EXAMPLE.to_string())),
        };
        wrong.map(|(found, allowed)| WorkloadError::setting(key, found, allowed))
    }
}

/// What separates the columns of a CSV.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Separator(pub u8);

impl Default for Separator {
    fn default() -> Self {
        Separator(b',')
    }
}

impl Separator {
    const WORDS: [(&'static str, u8); 3] = [("comma", b','), ("tab", b'\t'), ("blank", b' ')];
}

impl Value for Separator {
    fn read(value: &DeValue<'_>) -> Option<Self> {
        let text = value.as_str()?;
        if let Some((_, byte)) = Self::WORDS.iter().find(|(word, _)| *word == text) {
            return Some(Separator(*byte));
        }
        match text.as_bytes() {
            // Parts of numbers and quotation marks separate nothing.
            [byte] if byte.is_ascii_punctuation() && !b".\"-+".contains(byte) || b" \t".contains(byte) => {
                Some(Separator(*byte))
            }
            _ => None,
        }
    }
    fn show(&self) -> String {
        match Self::WORDS.iter().find(|(_, byte)| *byte == self.0) {
            Some((word, _)) => quoted(word),
            None => quoted(&char::from(self.0).to_string()),
        }
    }
    fn allowed() -> String {
        "comma, tab, blank (any number of them), or one punctuation mark such as ;".to_string()
    }
    fn names() -> &'static [&'static str] {
        &["comma", "tab", "blank"]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_numbers_or_names_with_units() {
        let columns =
            Columns::parse("time=1:us, op=kind:{rd=read,wr=write}, offset=4:bytes,size=5,process=name")
                .unwrap();
        let places: Vec<_> = columns.list.iter().map(|column| (column.what, column.place.clone())).collect();
        assert_eq!(
            places,
            [
                (CsvUse::Time, Place::Number(1)),
                (CsvUse::Op, Place::Name("kind".into())),
                (CsvUse::Offset, Place::Number(4)),
                (CsvUse::Size, Place::Number(5)),
                (CsvUse::Process, Place::Name("name".into()))
            ]
        );
        assert_eq!(
            (columns.time, columns.offset, columns.size),
            (TimeUnit::Microseconds, AddressUnit::Bytes, AddressUnit::Bytes)
        );
        assert_eq!(columns.words, [("rd".to_string(), OpCode::Read), ("wr".to_string(), OpCode::Write)]);
        assert!(columns.has_times());
        let columns = Columns::parse("op=1,offset=2,size=3:sectors").unwrap();
        assert_eq!(
            (columns.offset, columns.size, columns.time),
            (AddressUnit::Sectors, AddressUnit::Sectors, TimeUnit::Auto)
        );
        assert!(!columns.has_times());
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, says, allows) in [
            ("op=1,offset=2", "`size` is missing", "op, offset and size"),
            ("op=1,offset=2,size=3,op=4", "`op` is there twice", "each once"),
            ("op=1,offset=2,size=2", "`offset` and `size` are the same column", "another column"),
            ("op=1,offset=2,size=3,tiem=4", "found `tiem` (did you mean `time`?)", "time, op, offset"),
            ("op=1,offset=2,size=3,time=4:hours", "found `hours` for `time`", "s, ms, us, ns"),
            ("op=1,offset=2:pages,size=3", "found `pages` for `offset`", "bytes, sectors"),
            ("op=1:{r=reed},offset=2,size=3", "found `{r=reed}` for `op`", "read, write, trim, flush"),
            ("op=1:{r=read,r=write},offset=2,size=3", "`r` is there twice", "each word once"),
            ("op=0,offset=2,size=3", "found column 0 for `op`", "1 to 1024"),
            ("op=,offset=2,size=3", "`op` names no column", "its number"),
            ("op", "found \"op\"", "key=column"),
            ("op=1,offset=2,size=3,file=4:bytes", "found `bytes` for `file`", "no unit"),
        ] {
            let (found, allowed) = Columns::parse(text).unwrap_err();
            assert!(found.contains(says) && allowed.contains(allows), "{text}: {found}, allowed: {allowed}");
        }
    }
}
