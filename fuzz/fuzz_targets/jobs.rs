//! Any text as a job file of fio: an error with its place, or jobs that send requests within their drive.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::path::PathBuf;
use std::sync::LazyLock;
use workload::{JobFile, Played};

/// Sectors of the drive.
const SECTORS: u64 = 1 << 20;

static PATH: LazyLock<PathBuf> =
    LazyLock::new(|| std::env::temp_dir().join(format!("wordline-fuzz-{}.fio", std::process::id())));

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    // What it includes is not its text.
    if text.contains("include") || std::fs::write(&*PATH, text).is_err() {
        return;
    }
    let Ok(file) = JobFile::load(&PATH.display().to_string()) else { return };
    let (Ok(_), Ok(driven)) = (file.space_sectors(), file.open(SECTORS, 1)) else { return };
    let mut played = Played::new(driven, 1000);
    for _ in 0..1000 {
        let Ok(Some((_, request))) = played.next_of_lane() else { return };
        assert!(request.end() <= SECTORS, "{request:?}");
    }
});
