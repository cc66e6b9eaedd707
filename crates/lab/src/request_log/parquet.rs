//! Request logs as Parquet: numbers as 64-bit integers, operation and status as text, in groups of rows.

use super::{Row, request_log_columns};
use crate::error::ReportError;
use crate::files::Replacement;
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rows of a group: what is held in memory.
const GROUP_ROWS: usize = 1 << 16;
/// Columns that hold text.
const WORDS: [&str; 2] = ["op", "status"];

/// A column of the group being gathered.
enum Column {
    Numbers(Vec<i64>),
    Words(Vec<ByteArray>),
}

/// A Parquet file being written.
pub(super) struct ParquetLog {
    path: PathBuf,
    writer: SerializedFileWriter<Replacement>,
    columns: Vec<Column>,
    rows: usize,
}

impl ParquetLog {
    pub fn create(path: &Path) -> Result<Self, ReportError> {
        let fail = |error: ParquetError| ReportError::new(path, "create", error);
        let file = Replacement::create(path).map_err(|error| ReportError::new(path, "create", error))?;
        let names = request_log_columns();
        let is_word = |name: &String| WORDS.contains(&name.as_str());
        let field = |name: &String| {
            let kind = if is_word(name) { ("BINARY", "UTF8") } else { ("INT64", "UINT_64") };
            format!("REQUIRED {} {name} ({});", kind.0, kind.1)
        };
        let schema = format!("message requests {{ {} }}", names.iter().map(field).collect::<String>());
        let schema = Arc::new(parse_message_type(&schema).map_err(fail)?);
        let compression = Compression::ZSTD(ZstdLevel::default());
        let properties = Arc::new(WriterProperties::builder().set_compression(compression).build());
        let writer = SerializedFileWriter::new(file, schema, properties).map_err(fail)?;
        let column = |name: &String| match is_word(name) {
            true => Column::Words(Vec::with_capacity(GROUP_ROWS)),
            false => Column::Numbers(Vec::with_capacity(GROUP_ROWS)),
        };
        Ok(ParquetLog { path: path.to_owned(), writer, columns: names.iter().map(column).collect(), rows: 0 })
    }

    pub fn add(&mut self, row: &Row) -> Result<(), ReportError> {
        let numbers =
            [row.times[0], row.times[1], row.times[2], row.times[3], row.lba, row.sectors, row.latency];
        let mut numbers = numbers.into_iter().chain(row.parts);
        let mut words = [row.op, row.status].into_iter();
        for column in &mut self.columns {
            match column {
                // All of them lie below 2^63: times end at 2^62 ns, addresses at 2^50 sectors.
                Column::Numbers(values) => values.extend(numbers.next().map(|number| number as i64)),
                Column::Words(values) => values.extend(words.next().map(ByteArray::from)),
            }
        }
        self.rows += 1;
        if self.rows == GROUP_ROWS { self.write_group() } else { Ok(()) }
    }

    pub fn finish(mut self: Box<Self>) -> Result<(), ReportError> {
        self.write_group()?;
        let ParquetLog { path, writer, .. } = *self;
        let file = writer.into_inner().map_err(|error| ReportError::new(&path, "write", error))?;
        file.commit().map_err(|error| ReportError::new(&path, "write", error))
    }

    fn write_group(&mut self) -> Result<(), ReportError> {
        if self.rows == 0 {
            return Ok(());
        }
        self.rows = 0;
        let group = self.writer.next_row_group();
        let written = group.and_then(|group| write_columns(group, &mut self.columns));
        written.map_err(|error| ReportError::new(&self.path, "write", error))
    }
}

/// Writes the columns and empties them.
fn write_columns(
    mut group: SerializedRowGroupWriter<'_, Replacement>,
    columns: &mut [Column],
) -> Result<(), ParquetError> {
    for column in columns {
        let Some(mut writer) = group.next_column()? else { break };
        match column {
            Column::Numbers(values) => {
                writer.typed::<Int64Type>().write_batch(values, None, None)?;
                values.clear();
            }
            Column::Words(values) => {
                writer.typed::<ByteArrayType>().write_batch(values, None, None)?;
                values.clear();
            }
        }
        writer.close()?;
    }
    group.close().map(drop)
}
