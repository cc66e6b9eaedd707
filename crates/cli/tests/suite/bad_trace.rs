//! Damaged traces: an error with its place, or a skip that is counted; never a panic.

use crate::program::{SMALL, file, folder, root, wordline};
use serde_json::json;
use std::path::Path;

/// The first lines of the shipped trace as text.
fn lines(count: usize) -> String {
    let compressed = std::fs::read(root().join("data/rocksdb-ycsb-a-run1.csv.zst")).unwrap();
    let mut text = Vec::new();
    let mut decoder = zstd::stream::read::Decoder::new(&compressed[..]).unwrap();
    std::io::Read::read_to_end(&mut std::io::Read::take(&mut decoder, 1 << 20), &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    text.lines().take(count).map(|line| format!("{line}\n")).collect()
}

fn run(folder: &Path, content: impl AsRef<[u8]>, extra: &[&str]) -> crate::program::Done {
    let small = file(folder, "small.toml", SMALL);
    let trace = file(folder, "t.csv", content);
    let args = ["run", "--config", &small, &trace, "--precondition", "none", "--json"];
    wordline(&[&args[..], extra].concat())
}

#[test]
fn cut_in_mid_line() {
    let folder = folder("cut");
    let whole = lines(20);
    let cut = &whole[..whole.len() - 60];
    run(&folder, cut, &[]).fails(1, &["t.csv:20"]);
    let result = run(&folder, cut, &["--skip-bad-lines"]).ok().json();
    assert_eq!(result["requests_served"], json!(18));
    assert!(result["remarks"].to_string().contains("1 damaged lines skipped"), "{}", result["remarks"]);
}

#[test]
fn a_letter_in_a_number() {
    let folder = folder("letter");
    let damaged = lines(20).replacen("1652552", "16x2552", 1);
    run(&folder, &damaged, &[]).fails(1, &["t.csv:3", "lba", "16x2552", "allowed"]);
    let result = run(&folder, &damaged, &["--skip-bad-lines"]).ok().json();
    assert_eq!(result["requests_served"], json!(18));
    let path = folder.join("t.csv").display().to_string();
    wordline(&["trace", &path]).fails(1, &["t.csv:3"]);
    let trace = wordline(&["trace", &path, "--skip-bad-lines", "--json"]).ok().json();
    assert_eq!(trace["lines_skipped"], json!({ "not_a_number": 1 }));
    let text = wordline(&["trace", &path, "--skip-bad-lines"]).ok().out;
    assert!(text.contains("skipped       1") && text.contains("line 3"), "{text}");
}

#[test]
fn time_going_backwards() {
    let folder = folder("time");
    let text = lines(20);
    let mut rows: Vec<&str> = text.lines().collect();
    rows.swap(5, 12);
    let swapped = rows.join("\n") + "\n";
    let result = run(&folder, &swapped, &[]).ok().json();
    assert_eq!(result["requests_served"], json!(19));
    assert!(result["remarks"].to_string().contains("arrived before the one above"), "{}", result["remarks"]);
    run(&folder, &swapped, &["--set", "workload.on_time_step_back=error"])
        .fails(1, &["t.csv:", "time goes backwards"]);
}

#[test]
fn empty_noise_and_nonsense() {
    let folder = folder("noise");
    let noise: Vec<u8> = (0..50_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    for (what, content) in [
        ("empty", Vec::new()),
        ("blank lines", b"\n\n\n".to_vec()),
        ("binary noise", noise.clone()),
        ("prose", b"Once upon a time there was a drive.\n".to_vec()),
        ("zstd that is not", [&[0x28, 0xb5, 0x2f, 0xfd][..], &noise].concat()),
        ("gzip that is not", [&[0x1f, 0x8b, 0x08][..], &noise].concat()),
    ] {
        let done = run(&folder, &content, &[]);
        println!("{what}: {:?} {}", done.code, done.err);
        assert!(matches!(done.code, Some(1 | 2)), "{what}: {done:?}");
        assert!(done.err.contains("t.csv") && !done.err.contains("panicked"), "{what}: {done:?}");
        assert!(done.out.is_empty(), "{what}: {done:?}");
    }
    // A compressed trace that is cut.
    let compressed = std::fs::read(root().join("data/rocksdb-ycsb-a-run1.csv.zst")).unwrap();
    run(&folder, &compressed[..compressed.len() / 2], &[]).fails(1, &["t.csv"]);
    // Only a header.
    run(&folder, lines(1), &[]).fails(1, &["t.csv", "no request"]);
}
