//! `wordline cache`, and runs that find a drive there.

use crate::program::{SMALL, file, finish, folder, root, shell, start, wordline};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A drive that takes some seconds to age, which is what is kept.
const RUN: [&str; 12] = [
    "run",
    "--drive",
    "tlc",
    "--set",
    "nand.geometry.blocks_per_plane=64",
    "--synthetic",
    "uniform",
    "--requests",
    "100",
    "--precondition",
    "uniform",
    "--snapshots",
];

/// A drive that is aged at once.
const QUICK: [&str; 11] = [
    "run",
    "--drive",
    "m64",
    "--set",
    "nand.geometry.channels=1",
    "--set",
    "nand.geometry.blocks_per_plane=64",
    "--synthetic",
    "uniform",
    "--requests",
    "100",
];

/// And what is wrong with the drive that is kept is told once, by quiet runs and by workers: otherwise nobody would
/// know why every run ages its drive anew. Who runs, and in which process, makes no difference.
#[test]
fn of_two_runs_at_once_one_ages_the_drive_and_later_ones_say_what_they_find() {
    let (cache, sweeps) = (folder("cache"), folder("cache-sweep"));
    let place = cache.to_str().unwrap();
    let args: Vec<&str> = RUN.into_iter().chain([place]).collect();
    let both = [start(&root(), &args), start(&root(), &args)].map(|child| finish(child, &args).ok().out);
    let kept = |text: &str| text.contains("reused from the cache");
    assert_eq!(both.iter().filter(|text| kept(text)).count(), 1, "{both:?}");
    let hashes = |text: &str| text.lines().find(|line| line.contains("events")).map(str::to_owned);
    assert!(hashes(&both[0]).is_some() && hashes(&both[0]) == hashes(&both[1]));
    let third = wordline(&args).ok().out;
    assert!(kept(&third) && hashes(&third) == hashes(&both[0]));
    let list = wordline(&["cache", "list", "--snapshots", place]).ok().out;
    assert!(list.contains("1 aged drives") && list.contains("overwritten at random"), "{list}");

    // The same drive in a sweep, whose first run finds it damaged.
    std::fs::write(only_drive(&cache), "damaged").unwrap();
    let text = "preset = \"tlc\"\n[nand.geometry]\nblocks_per_plane = 64\n[workload]\npattern = \"uniform\"\ncount = 100\n[run]\npast = \"uniform\"\n";
    let sweep = file(&sweeps, "sweep.toml", format!("{text}[grid]\nrun.depth = [1, 2, 3]\n"));
    let out = sweeps.join("out").display().to_string();
    let swept = ["sweep", &sweep, "--quiet", "-j", "1", "-o", &out, "--snapshots", place];
    let told = wordline(&swept).ok().err;
    assert!(told.lines().count() == 1 && told.contains("damaged, rebuilt"), "{told}");
    std::fs::set_permissions(&cache, Permissions::from_mode(0o777)).unwrap();
    for flag in ["--quiet", "--json"] {
        let told = wordline(&[&QUICK[..], &[flag, "--snapshots", place]].concat()).ok().err;
        assert!(told.lines().count() == 1 && told.contains("the cache is not used"), "{told}");
    }
    std::fs::set_permissions(&cache, Permissions::from_mode(0o755)).unwrap();

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

/// Where others may write, nothing can be believed. Every command says so, once, and a run goes on.
#[test]
fn a_cache_that_is_anybodys_is_not_used_which_is_said_once() {
    let place = folder("cache-anybodys");
    std::fs::set_permissions(&place, Permissions::from_mode(0o777)).unwrap();
    let path = place.to_str().unwrap();
    let says = "the cache is not used: others may write to it (chmod go-w)";
    let told = wordline(&[&QUICK[..], &["--snapshots", path]].concat()).ok().err;
    assert_eq!(told.matches(says).count(), 1, "{told}");
    let out = folder("cache-anybodys-sweep");
    let text =
        format!("{SMALL}[workload]\npattern = \"uniform\"\ncount = 100\n[grid]\ndrive.seed = [1, 2, 3]\n");
    let sweep = out.join("sweep.toml");
    std::fs::write(&sweep, text).unwrap();
    let (sweep, out) = (sweep.to_str().unwrap(), out.join("out"));
    let told = wordline(&["sweep", sweep, "-o", out.to_str().unwrap(), "--snapshots", path]).ok().err;
    assert_eq!(told.matches(says).count(), 1, "{told}");
    for what in ["list", "clear"] {
        wordline(&["cache", what, "--snapshots", path]).fails(1, &[path, "others may write to it"]);
    }
    assert_eq!(std::fs::read_dir(&place).unwrap().count(), 0);
}

/// The only aged drive of a cache.
fn only_drive(cache: &Path) -> PathBuf {
    let folders = std::fs::read_dir(cache).unwrap().map(|entry| entry.unwrap().path());
    let drives: Vec<PathBuf> =
        folders.map(|folder| folder.join("aged.drive")).filter(|drive| drive.exists()).collect();
    assert_eq!(drives.len(), 1, "{drives:?}");
    drives[0].clone()
}

/// A link to a drive elsewhere, a pipe or a folder in place of one: both commands say what they left, and end.
#[test]
fn what_is_no_drive_is_listed_as_such() {
    let (place, mine) = (folder("cache-strange"), folder("cache-strange-mine"));
    std::fs::write(mine.join("aged.drive"), "precious").unwrap();
    std::os::unix::fs::symlink(&mine, place.join("0123456789abcdef")).unwrap();
    std::fs::create_dir(place.join("fedcba9876543210")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(place.join("fedcba9876543210/aged.drive")).status();
    assert!(made.unwrap().success());
    std::fs::create_dir_all(place.join("00000000ffffffff/aged.drive/kept")).unwrap();
    let path = place.to_str().unwrap();
    let list = wordline(&["cache", "list", "--snapshots", path]).ok().out;
    let of_folder = "00000000ffffffff/aged.drive: not used: it is a folder, not a file";
    assert!(list.contains(of_folder), "{list}");
    assert!(list.contains("1 aged drives") && list.contains("it is a named pipe, not a file"), "{list}");
    assert!(list.contains("0123456789abcdef: not used: it is a symbolic link, not a folder"), "{list}");
    let cleared = wordline(&["cache", "clear", "--snapshots", path]).ok().out;
    assert!(cleared.contains("1 drives removed, 0 bytes") && cleared.contains("symbolic link"), "{cleared}");
    assert!(
        cleared.contains(of_folder) && place.join("00000000ffffffff/aged.drive/kept").is_dir(),
        "{cleared}"
    );
    assert_eq!(std::fs::read(mine.join("aged.drive")).unwrap(), b"precious");
    assert_eq!(std::fs::read_dir(&place).unwrap().count(), 2);
}
