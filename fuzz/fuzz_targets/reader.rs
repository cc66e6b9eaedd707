//! Any bytes as a trace of the format that WORDLINE_FORMAT names (`auto` without it): reading ends, in requests in
//! order or in an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::io::Cursor;
use std::sync::LazyLock;
use workload::reader::read_from;
use workload::{Columns, OnBadLine, ReadOptions};

static FORMAT: LazyLock<String> =
    LazyLock::new(|| std::env::var("WORDLINE_FORMAT").unwrap_or_else(|_| "auto".to_owned()));

fuzz_target!(|data: &[u8]| {
    // The first byte says what becomes of damaged lines, and which columns a CSV has.
    let Some((&first, text)) = data.split_first() else { return };
    let mut options = ReadOptions::default();
    if first & 1 == 1 {
        options.on_bad_line = OnBadLine::Skip;
    }
    if *FORMAT == "csv" {
        let columns = ["time=1:us,op=2,offset=3:bytes,size=4", "op=kind,offset=at,size=bytes,file=1"];
        options.columns =
            Columns::from_text(columns[usize::from(first >> 1 & 1)]).expect("columns are right");
    }
    let Ok(mut source) = read_from(Cursor::new(text.to_vec()), "fuzz", &FORMAT, &options) else { return };
    let mut last_ns = 0;
    while let Ok(Some(request)) = source.next() {
        assert!(request.arrival_ns >= last_ns && request.end() <= 1 << 50, "{request:?}");
        last_ns = request.arrival_ns;
    }
    source.report().remarks();
});
