//! Rows as Parquet: numbers as 64-bit integers, words as text, in groups of rows.

use super::{Cell, Of};
use crate::base::error::ReportError;
use crate::base::files::Replacement;
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

/// A column of the group being gathered.
enum Column {
    Numbers(Vec<i64>),
    /// Those that are there, and for each row whether one is.
    NumbersOrNone(Vec<i64>, Vec<i16>),
    Words(Vec<ByteArray>),
}

/// A Parquet file being written.
pub(super) struct ParquetRows {
    path: PathBuf,
    writer: SerializedFileWriter<Replacement>,
    columns: Vec<Column>,
    rows: usize,
}

impl ParquetRows {
    pub fn create(path: &Path, what: &str, columns: &[super::Column]) -> Result<Self, ReportError> {
        let fail = |error: ParquetError| ReportError::new(path, "create", error);
        let file = Replacement::create(path).map_err(|error| ReportError::new(path, "create", error))?;
        let field = |column: &super::Column| {
            let [repetition, kind, logical] = match column.of {
                Of::Numbers => ["REQUIRED", "INT64", "UINT_64"],
                Of::NumbersOrNone => ["OPTIONAL", "INT64", "UINT_64"],
                Of::Words => ["REQUIRED", "BINARY", "UTF8"],
            };
            format!("{repetition} {kind} {} ({logical});", column.name)
        };
        let schema = format!("message {what} {{ {} }}", columns.iter().map(field).collect::<String>());
        let schema = Arc::new(parse_message_type(&schema).map_err(fail)?);
        let compression = Compression::ZSTD(ZstdLevel::default());
        let properties = Arc::new(WriterProperties::builder().set_compression(compression).build());
        let writer = SerializedFileWriter::new(file, schema, properties).map_err(fail)?;
        let column = |column: &super::Column| match column.of {
            Of::Numbers => Column::Numbers(Vec::with_capacity(GROUP_ROWS)),
            Of::NumbersOrNone => {
                Column::NumbersOrNone(Vec::with_capacity(GROUP_ROWS), Vec::with_capacity(GROUP_ROWS))
            }
            Of::Words => Column::Words(Vec::with_capacity(GROUP_ROWS)),
        };
        let columns = columns.iter().map(column).collect();
        Ok(ParquetRows { path: path.to_owned(), writer, columns, rows: 0 })
    }

    pub fn add(&mut self, cells: &[Cell]) -> Result<(), ReportError> {
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            match (column, *cell) {
                // All of them lie below 2^63: times end at 2^62 ns, addresses at 2^50 sectors.
                (Column::Numbers(values), Cell::Number(number)) => values.push(number as i64),
                (Column::NumbersOrNone(values, there), Cell::Number(number)) => {
                    values.push(number as i64);
                    there.push(1);
                }
                (Column::NumbersOrNone(_, there), Cell::Nothing) => there.push(0),
                (Column::Words(values), Cell::Word(word)) => values.push(ByteArray::from(word)),
                (_, cell) => unreachable!("{cell:?} in a column of another kind"),
            }
        }
        self.rows += 1;
        if self.rows == GROUP_ROWS { self.write_group() } else { Ok(()) }
    }

    pub fn finish(mut self: Box<Self>) -> Result<(), ReportError> {
        self.write_group()?;
        let ParquetRows { path, writer, .. } = *self;
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
            Column::NumbersOrNone(values, there) => {
                writer.typed::<Int64Type>().write_batch(values, Some(there.as_slice()), None)?;
                values.clear();
                there.clear();
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
