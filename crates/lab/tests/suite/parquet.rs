//! Request logs and tables as Parquet: with the feature they hold what the CSV holds, without it the error says how to
//! get it.

use crate::common;

use common::{closed, fresh_path, generator, small_drive};
use lab::RunSpec;

const MIX: &str = "read_percent = 60\nsize_bytes = [[4096, 3], [16384, 1]]";

#[test]
#[cfg(not(feature = "parquet"))]
fn without_the_feature_the_error_says_how_to_build_with_it() {
    let spec = RunSpec { request_log: Some(fresh_path("log.parquet")), ..closed(4) };
    let error = common::try_run(&small_drive(), &generator(10, MIX), &spec).unwrap_err().to_string();
    for part in ["log.parquet", "--features parquet", ".csv"] {
        assert!(error.contains(part), "{part} is not in: {error}");
    }
}

#[test]
#[cfg(feature = "parquet")]
fn a_parquet_log_holds_what_the_csv_holds() {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;
    // More than one group of rows.
    let workload = generator(70_000, MIX);
    let (_, csv) = common::Log::of_run("beside.csv", &small_drive(), &workload, &closed(16));
    let path = fresh_path("log.parquet");
    common::run(&small_drive(), &workload, &RunSpec { request_log: Some(path.clone()), ..closed(16) });
    let reader = SerializedFileReader::new(std::fs::File::open(&path).unwrap()).unwrap();
    assert_eq!(reader.num_row_groups(), 2);
    let mut rows = 0;
    for (row, wanted) in reader.get_row_iter(None).unwrap().zip(&csv.rows) {
        for (((name, field), column), wanted) in row.unwrap().get_column_iter().zip(&csv.columns).zip(wanted)
        {
            assert_eq!(name, column);
            match field {
                Field::ULong(number) => assert_eq!(number.to_string(), *wanted),
                Field::Str(text) => assert_eq!(text, wanted),
                other => panic!("{name}: {other:?}"),
            }
        }
        rows += 1;
    }
    assert_eq!((rows, csv.rows.len()), (70_000, 70_000));
}

/// A table's Parquet holds its values and what is told of it.
#[cfg(feature = "parquet")]
pub fn holds_the_table(table: &lab::columns::Table, told: &[(&'static str, String)]) {
    use lab::columns::Values;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;
    let path = fresh_path(table.name);
    std::fs::write(&path, table.parquet(told).expect("built with Parquet")).unwrap();
    let reader = SerializedFileReader::new(std::fs::File::open(&path).unwrap()).unwrap();
    let kept = reader.metadata().file_metadata().key_value_metadata().expect("metadata").clone();
    for (key, value) in told {
        assert!(kept.iter().any(|own| own.key == *key && own.value.as_ref() == Some(value)), "{key}");
    }
    let mut rows = 0;
    for row in reader.get_row_iter(None).unwrap() {
        for ((name, field), column) in row.unwrap().get_column_iter().zip(table.columns()) {
            assert_eq!(*name, column.name);
            match (field, &column.values) {
                (Field::Double(found), Values::Numbers(values)) => assert_eq!(*found, values[rows]),
                (Field::ULong(found), Values::Counts(values)) => assert_eq!(*found, values[rows]),
                (Field::Str(found), values) => {
                    assert_eq!(values.names().map(|names| names[rows]), Some(found.as_str()))
                }
                (Field::Double(found), Values::NumbersOrNone(values)) => {
                    assert_eq!(Some(*found), values[rows]);
                }
                (Field::ULong(found), Values::CountsOrNone(values)) => assert_eq!(Some(*found), values[rows]),
                (Field::Null, Values::NumbersOrNone(_) | Values::CountsOrNone(_)) => {
                    assert_eq!(column.values.text(rows), "", "{name}");
                }
                other => panic!("{name}: {other:?}"),
            }
        }
        rows += 1;
    }
    assert_eq!(rows, table.rows());
}

#[test]
#[cfg(feature = "parquet")]
fn series_and_blocks_as_parquet_hold_what_the_csv_holds() {
    let config = small_drive();
    let mut drive = ssd::Drive::new(&config).unwrap();
    let workload = generator(3_000, MIX);
    let spec = RunSpec { samples: 100, ..closed(8) };
    let result = lab::run_prepared(&mut drive, &config, &workload, &spec, &mut |_| {}).unwrap();
    let series = result.series.expect("time passes");
    // Columns are of the same kinds where nothing is written.
    let reads = common::run(&config, &generator(3_000, "read_percent = 100"), &spec).series.unwrap();
    let kinds = |series: &lab::TimeSeries| {
        let of_run = &series.tables()[0];
        of_run.columns().iter().map(|column| std::mem::discriminant(&column.values)).collect::<Vec<_>>()
    };
    assert_eq!(kinds(&series), kinds(&reads));
    let blocks = lab::BlockTable::of(&drive).table();
    for table in series.tables().iter().chain([&blocks]) {
        assert!(table.rows() > 10, "{}", table.name);
        holds_the_table(table, &[("version", result.version.clone())]);
    }
}
