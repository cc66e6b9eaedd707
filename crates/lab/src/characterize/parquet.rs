//! A table as Parquet: numbers as 64-bit floats, counts as 64-bit integers, names as text, in one group of rows.

use super::sheet::{Column, Sheet, Values};
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::sync::Arc;

fn field(column: &Column) -> String {
    let name = column.name;
    match column.values {
        Values::Words(_) => format!("REQUIRED BINARY {name} (UTF8);"),
        Values::Numbers(_) => format!("REQUIRED DOUBLE {name};"),
        Values::Counts(_) => format!("REQUIRED INT64 {name} (UINT_64);"),
    }
}

/// The file's bytes.
fn write(sheet: &Sheet, provenance: &[(&'static str, String)]) -> Result<Vec<u8>, ParquetError> {
    let fields: String = sheet.columns().iter().map(field).collect();
    let schema = Arc::new(parse_message_type(&format!("message {} {{ {fields} }}", sheet.name))?);
    let told = provenance.iter().map(|(key, value)| KeyValue::new((*key).to_owned(), value.clone()));
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_key_value_metadata(Some(told.collect()))
        .build();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    for column in sheet.columns() {
        let Some(mut writer) = group.next_column()? else { break };
        match &column.values {
            Values::Words(words) => {
                let words: Vec<ByteArray> = words.iter().map(|word| ByteArray::from(word.as_str())).collect();
                writer.typed::<ByteArrayType>().write_batch(&words, None, None)?;
            }
            Values::Numbers(numbers) => {
                writer.typed::<DoubleType>().write_batch(numbers, None, None)?;
            }
            Values::Counts(counts) => {
                let counts: Vec<i64> = counts.iter().map(|count| *count as i64).collect();
                writer.typed::<Int64Type>().write_batch(&counts, None, None)?;
            }
        }
        writer.close()?;
    }
    group.close()?;
    writer.into_inner()
}

impl Sheet {
    /// The table as Parquet, with the provenance as the file's metadata; `None` in a program built without.
    pub fn parquet(&self, provenance: &[(&'static str, String)]) -> Option<Vec<u8>> {
        Some(write(self, provenance).expect("nothing to fail in memory"))
    }
}
