//! Request logs as Parquet: with the feature they hold what the CSV holds, without it the error says how to get it.

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
