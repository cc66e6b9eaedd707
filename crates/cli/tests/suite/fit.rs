//! `wordline fit`: what it reads, writes and refuses.

use crate::program::{file, folder, wordline_in};

const SHEET: &str =
    "name = \"one\"\ncapacity = \"960 GB\"\nsource = \"a test\"\nsequential_write = \"1455 MB/s\"\n";

#[test]
fn a_sheet_becomes_a_drive() {
    let folder = folder("fit");
    file(&folder, "sheet.toml", SHEET);
    let done = wordline_in(&folder, &["fit", "sheet.toml", "-o", "drive.toml"]).ok();
    for told in
        ["fixed by data", "dies x 4 planes x 16 KiB in", "assumed", "would fix it", "predicted", "fitted"]
    {
        assert!(done.out.contains(told), "{told}: {}", done.out);
    }
    let text = std::fs::read_to_string(folder.join("drive.toml")).unwrap();
    assert!(text.starts_with("# one: fitted to its public figures"), "{text}");
    assert!(text.contains("# [F] sequential_write 1,455 MB/s"), "{text}");
    let explained = wordline_in(&folder, &["explain", "drive.toml", "--only", "drive.logical_gib"]).ok();
    assert!(explained.out.contains("894.07"), "{}", explained.out);
    // What is there is replaced only if it was fitted, and only when told so.
    wordline_in(&folder, &["fit", "sheet.toml", "-q", "-o", "drive.toml"])
        .fails(2, &["it exists", "--force"]);
    file(&folder, "mine.toml", "preset = \"tlc\"\n");
    wordline_in(&folder, &["fit", "sheet.toml", "-q", "--force", "-o", "mine.toml"])
        .fails(2, &["a file that is not a configuration of a fitted drive"]);
    wordline_in(&folder, &["fit", "sheet.toml", "-q", "--force", "-o", "sheet.toml"])
        .fails(2, &["sheet.toml"]);
}

#[test]
fn what_is_wrong_with_a_sheet_is_told_before_the_work() {
    let folder = folder("fit-wrong");
    wordline_in(&folder, &["fit"]).fails(2, &["<SHEET>"]);
    wordline_in(&folder, &["fit", "none.toml"]).fails(2, &["none.toml"]);
    file(&folder, "sheet.toml", "name = \"one\"\n");
    wordline_in(&folder, &["fit", "sheet.toml"]).fails(2, &["sheet.toml:1: capacity", "960 GB"]);
    file(&folder, "sheet.toml", format!("{SHEET}random_write = \"386 MB/s\"\n"));
    wordline_in(&folder, &["fit", "sheet.toml"])
        .fails(2, &["sheet.toml:5: random_write", "type \"94.24 kIOPS\""]);
}
