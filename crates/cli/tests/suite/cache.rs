//! `wordline cache`, and runs that find a drive there.

use crate::program::{finish, folder, root, shell, start, wordline};

/// A drive that takes some seconds to age, which is what is kept.
const RUN: [&str; 10] = [
    "run",
    "--drive",
    "tlc",
    "--set",
    "nand.geometry.blocks_per_plane=64",
    "--synthetic",
    "uniform",
    "--requests",
    "100",
    "--snapshots",
];

#[test]
fn of_two_runs_at_once_one_ages_the_drive_and_later_ones_find_it() {
    let place = folder("cache");
    let place = place.to_str().unwrap();
    let args: Vec<&str> = RUN.into_iter().chain([place]).collect();
    let both = [start(&root(), &args), start(&root(), &args)].map(|child| finish(child, &args).ok().out);
    let kept = |text: &str| text.contains("kept by an earlier run");
    assert_eq!(both.iter().filter(|text| kept(text)).count(), 1, "{both:?}");
    let hashes = |text: &str| text.lines().find(|line| line.contains("events")).map(str::to_owned);
    assert!(hashes(&both[0]).is_some() && hashes(&both[0]) == hashes(&both[1]));
    let third = wordline(&args).ok().out;
    assert!(kept(&third) && hashes(&third) == hashes(&both[0]));
    let list = wordline(&["cache", "list", "--snapshots", place]).ok().out;
    assert!(list.contains("1 aged drives") && list.contains("overwritten at random"), "{list}");
    let cleared = wordline(&["cache", "clear", "--snapshots", place]).ok().out;
    assert!(cleared.contains("1 drives removed"), "{cleared}");
    let list = wordline(&["cache", "list", "--snapshots", place]).ok().out;
    assert!(list.contains("0 aged drives"), "{list}");
}

/// What cannot be kept is told, and the run is as good as any.
#[test]
fn a_disk_that_is_full_costs_no_run() {
    let place = folder("cache-full");
    let args: Vec<&str> = RUN.into_iter().chain([place.to_str().unwrap()]).collect();
    // No file may take more than a megabyte.
    let line = format!("ulimit -f 2048; exec \"$WORDLINE\" {}", args.join(" "));
    let done = shell(&root(), &line).ok();
    assert!(
        done.err.contains("the aged drive was not cached") && done.out.contains("events"),
        "{}",
        done.err
    );
    let left: Vec<_> = std::fs::read_dir(&place).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_cache_is_one_folder_or_none() {
    let both = ["run", "--synthetic", "uniform", "--no-cache", "--snapshots", "somewhere"];
    wordline(&both).fails(2, &["--no-cache", "--snapshots"]);
    let none = wordline(&["cache", "list"]).ok();
    assert!(none.out.contains("the cache is off"), "{}", none.out);
    wordline(&["cache", "lst"]).fails(2, &["list"]);
}
