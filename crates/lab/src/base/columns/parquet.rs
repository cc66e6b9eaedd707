//! A table as Parquet: numbers as 64-bit floats, counts as 64-bit integers, names as text, in one group of rows.

use super::{Column, Table, Values};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Kind, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;
use std::sync::Arc;

/// Names may have dots in them, which the text of a schema cannot.
fn field(column: &Column) -> Result<Arc<Type>, ParquetError> {
    let count = LogicalType::integer(64, false);
    let (kind, logical, repetition) = match column.values {
        Values::Words(_) | Values::Names(_) => {
            (Kind::BYTE_ARRAY, Some(LogicalType::String), Repetition::REQUIRED)
        }
        Values::Numbers(_) => (Kind::DOUBLE, None, Repetition::REQUIRED),
        Values::Counts(_) => (Kind::INT64, Some(count), Repetition::REQUIRED),
        Values::NumbersOrNone(_) => (Kind::DOUBLE, None, Repetition::OPTIONAL),
        Values::CountsOrNone(_) => (Kind::INT64, Some(count), Repetition::OPTIONAL),
    };
    let builder = Type::primitive_type_builder(&column.name, kind);
    Ok(Arc::new(builder.with_logical_type(logical).with_repetition(repetition).build()?))
}

/// Values of which some are none.
fn write_or_none<T: Copy, D: DataType>(
    writer: &mut SerializedColumnWriter<'_>,
    values: &[Option<T>],
    value: impl Fn(T) -> D::T,
) -> Result<usize, ParquetError> {
    let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let there: Vec<D::T> = values.iter().copied().flatten().map(value).collect();
    writer.typed::<D>().write_batch(&there, Some(&levels), None)
}

/// The file's bytes.
fn write(table: &Table, provenance: &[(&'static str, String)]) -> Result<Vec<u8>, ParquetError> {
    let fields = table.columns().iter().map(field).collect::<Result<Vec<_>, _>>()?;
    let schema = Arc::new(Type::group_type_builder(table.name).with_fields(fields).build()?);
    let told = provenance.iter().map(|(key, value)| KeyValue::new((*key).to_owned(), value.clone()));
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_key_value_metadata(Some(told.collect()))
        .build();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    for column in table.columns() {
        let Some(mut writer) = group.next_column()? else { break };
        match &column.values {
            Values::Words(words) => {
                let words: Vec<ByteArray> = words.iter().map(|word| ByteArray::from(word.as_str())).collect();
                writer.typed::<ByteArrayType>().write_batch(&words, None, None)?
            }
            Values::Names(names) => {
                let names: Vec<ByteArray> = names.iter().map(|name| ByteArray::from(*name)).collect();
                writer.typed::<ByteArrayType>().write_batch(&names, None, None)?
            }
            Values::Numbers(numbers) => writer.typed::<DoubleType>().write_batch(numbers, None, None)?,
            Values::Counts(counts) => {
                let counts: Vec<i64> = counts.iter().map(|count| *count as i64).collect();
                writer.typed::<Int64Type>().write_batch(&counts, None, None)?
            }
            Values::NumbersOrNone(numbers) => {
                write_or_none::<_, DoubleType>(&mut writer, numbers, |number| number)?
            }
            Values::CountsOrNone(counts) => {
                write_or_none::<_, Int64Type>(&mut writer, counts, |count| count as i64)?
            }
        };
        writer.close()?;
    }
    group.close()?;
    writer.into_inner()
}

impl Table {
    /// As Parquet, with what is told of it as the file's metadata; `None` in a program built without.
    pub fn parquet(&self, provenance: &[(&'static str, String)]) -> Option<Vec<u8>> {
        Some(write(self, provenance).expect("nothing to fail in memory"))
    }
}
