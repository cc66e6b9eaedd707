//! One rule for all outputs: what a command of the same kind has written is replaced with `--force`, anything else
//! never; and whatever happens to a command, the next one finds nothing of it in its way.

use crate::interrupts::wait_for;
use crate::program::{
    Done, SMALL, children_of, file, finish, folder, kill, shell, signals, start, wordline_in,
};
use std::fs::Permissions;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// A short run of the small drive.
const RUN: [&str; 9] = [
    "run",
    "--config",
    "small.toml",
    "--synthetic",
    "uniform",
    "--requests",
    "300",
    "--precondition",
    "none",
];

/// A folder with a drive, a trace, a saved drive and a result.
fn place(name: &str) -> PathBuf {
    let folder = folder(name);
    file(&folder, "small.toml", SMALL);
    let trace =
        "#wordline 1 time_ns,op,lba,sectors,device,stream,file\n1,R,0,8\n2,W,8,8,0,0,1\n3,W,16,8,0,0,2\n";
    file(&folder, "t.wl", trace);
    let flags = ["--save-snapshot", "s", "--keep-versions", "k.csv", "--out", "done", "-q"];
    wordline_in(&folder, &[&RUN[..], &flags].concat()).ok();
    folder
}

/// Commands that write a file, without its name, which comes last.
const FILES: [&[&str]; 13] = [
    &["run", "--request-log"],
    &["run", "--versions"],
    &["run", "--save-snapshot", "other", "--keep-versions"],
    &["run", "--fio-json"],
    &["run", "--timeline"],
    &["run", "--save-snapshot"],
    &["report", "done", "-o"],
    &["compare", "done", "--csv"],
    &["trace", "convert", "t.wl", "--to", "wordline", "--out"],
    &["trace", "convert", "t.wl", "--to", "mqsim", "--out"],
    &["trace", "convert", "t.wl", "--to", "fio_iolog", "--out"],
    &["trace", "convert", "t.wl", "--to", "csv", "--out"],
    &["forensics", "s", "--versions", "k.csv", "--out"],
];

/// Runs one of them.
fn write(folder: &Path, command: &[&str], name: &str, force: bool) -> Done {
    let mut args = command.to_vec();
    if command[0] == "run" {
        args = vec!["run", "t.wl", "--config", "small.toml", "--precondition", "none", "-q"];
        args.extend(&command[1..]);
    }
    args.push(name);
    args.extend(force.then_some("--force"));
    let other = folder.join("other");
    // Its companion is no matter here.
    [other.clone(), other.with_extension("toml")].iter().for_each(|path| _ = std::fs::remove_file(path));
    wordline_in(folder, &args)
}

#[test]
fn files_are_replaced_by_their_kind_alone() {
    let folder = place("outputs-files");
    let read = |name: &str| std::fs::read(folder.join(name)).unwrap();
    for (number, command) in FILES.iter().enumerate() {
        for ending in [".csv", ".csv.zst", ".parquet"] {
            // Tables come in three kinds of file, which their names tell.
            let is_table = ["--request-log", "--versions", "--keep-versions", "--out"]
                .contains(&command[command.len() - 1])
                && command[0] != "trace";
            if ending != ".csv" && !is_table {
                continue;
            }
            let (name, mine) = (format!("new{number}{ending}"), format!("mine{number}{ending}"));
            write(&folder, command, &name, false).ok();
            let written = read(&name);
            assert!(!written.is_empty(), "{command:?}");
            write(&folder, command, &name, false).fails(2, &[&name, "found:   a", "--force"]);
            assert_eq!(read(&name), written);
            write(&folder, command, &name, true).ok();
            for text in ["mine", "a,b\n1,2\n", "run,speed\nfirst,5\n", "{\n  \"fio version\": \"fio-3.33\"\n"]
            {
                file(&folder, &mine, text);
                for force in [false, true] {
                    write(&folder, command, &mine, force).fails(2, &[&mine, "a file that is not a"]);
                    assert_eq!(read(&mine), text.as_bytes());
                }
            }
            // What another kind of command has written is as much the user's.
            std::fs::copy(folder.join("done/result.json"), folder.join(&mine)).unwrap();
            write(&folder, command, &mine, true).fails(2, &[&mine, "a file that is not a"]);
            file(&folder, &mine, "");
            write(&folder, command, &mine, false).ok();
        }
    }
    let hidden = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = hidden.filter(|name| name.to_string_lossy().starts_with('.')).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn folders_are_replaced_by_their_kind_alone() {
    let folder = place("outputs-folders");
    let locks = ["lab", "locks", "--flags", "10", "--out"];
    let commands: [(&[&str], &str); 5] = [
        (&[&RUN[..], &["-q", "--out"]].concat(), "latency.svg"),
        (&["compare", "done", "--out"], "comparison.txt"),
        (&["trace", "info", "t.wl", "--plots"], "popularity.svg"),
        (&locks, "page_locks.csv"),
        (&["lab", "fit-markers", "--part", "slc", "--chips", "2", "--blocks", "4", "--out"], "slc.toml"),
    ];
    for (number, (command, name)) in commands.iter().enumerate() {
        let out = format!("out{number}");
        let run = |more: &[&str]| wordline_in(&folder, &[command, &[out.as_str()][..], more].concat());
        run(&[]).ok();
        run(&[]).fails(2, &[&out, "--force"]);
        file(&folder.join(&out), "mine.txt", "mine");
        run(&["--force"]).ok();
        std::fs::remove_dir_all(folder.join(&out)).unwrap();
        std::fs::create_dir(folder.join(&out)).unwrap();
        file(&folder.join(&out), name, "mine");
        for more in [&[][..], &["--force"]] {
            run(more).fails(2, &[&out, name, "would be replaced"]);
            assert_eq!(std::fs::read(folder.join(&out).join(name)).unwrap(), b"mine");
        }
    }
}

/// A sweep of so many runs.
fn sweep_of(runs: usize, requests: u64) -> String {
    let seeds: Vec<String> = (0..runs).map(|seed| seed.to_string()).collect();
    format!(
        "{SMALL}[run]\nfill_percent = 50\noverwrite = \"none\"\n[workload]\npattern = \"uniform\"\ncount = {requests}\n\
         [grid]\nworkload.seed = [{}]\n",
        seeds.join(", ")
    )
}

#[test]
fn parts_of_a_sweep_begin_at_once() {
    let folder = folder("outputs-shards");
    file(&folder, "sw.toml", sweep_of(16, 300));
    for round in 0..5 {
        let out = format!("out{round}");
        let shards: Vec<String> = (1..=8).map(|part| format!("{part}/8")).collect();
        let args =
            |shard| ["sweep", "sw.toml", "-o", out.as_str(), "-j", "1", "--no-cache", "--shard", shard];
        let parts: Vec<_> = shards.iter().map(|shard| start(&folder, &args(shard))).collect();
        parts.into_iter().zip(&shards).for_each(|(part, shard)| _ = finish(part, &args(shard)).ok());
        let rows = std::fs::read_to_string(folder.join(&out).join("runs.csv")).unwrap();
        assert_eq!(rows.lines().count(), 17, "{rows}");
        assert!(!folder.join(&out).join(".wordline.lock").exists());
    }
}

#[test]
fn a_sweep_goes_on_in_its_own_folder_alone() {
    let folder = folder("outputs-sweep");
    file(&folder, "sw.toml", sweep_of(2, 300));
    let sweep = |file: &str, out: &str, more: &[&str]| {
        wordline_in(&folder, &[&["sweep", file, "-o", out, "--no-cache"], more].concat())
    };
    for name in ["sweep.toml", "tables.txt", "runs.csv"] {
        let out = folder.join(format!("mine-{name}"));
        std::fs::create_dir(&out).unwrap();
        file(&out, name, "mine");
        for more in [&[][..], &["--force"]] {
            sweep("sw.toml", &out.display().to_string(), more).fails(2, &["not a sweep"]);
        }
        assert_eq!(std::fs::read(out.join(name)).unwrap(), b"mine");
    }
    // What dies before its first file leaves a folder that the next one takes.
    std::fs::create_dir_all(folder.join("died/runs")).unwrap();
    file(&folder.join("died"), ".wordline.lock", "process 1 on here");
    sweep("sw.toml", "died", &[]).ok();
    // One that has grown goes on; one that has nothing in common with it is another.
    file(&folder, "more.toml", sweep_of(4, 300));
    sweep("more.toml", "died", &[]).ok();
    file(&folder, "other.toml", sweep_of(2, 200));
    let before = std::fs::read(folder.join("died/runs.csv")).unwrap();
    sweep("other.toml", "died", &[]).fails(2, &["another sweep", "--force"]);
    assert_eq!(std::fs::read(folder.join("died/runs.csv")).unwrap(), before);
    sweep("other.toml", "died", &["--force"]).ok();
    // Files of the user's whose names a sweep's tables might take.
    file(&folder.join("died"), "space_amplification.svg", "mine");
    file(&folder.join("died"), "IOPS.txt", "mine");
    std::fs::remove_file(folder.join("died/.wordline.files")).unwrap();
    file(&folder.join("died"), ".wordline.files", "sweep\tsweep.toml\nsweep\truns.csv\n");
    sweep("other.toml", "died", &[]).fails(2, &["which would be replaced"]);
}

#[test]
fn two_runs_do_not_save_to_one_snapshot() {
    let folder = place("outputs-pair");
    let long =
        [&RUN[..5], &["--requests", "2000000000", "--precondition", "none", "--save-snapshot", "pair"]]
            .concat();
    let mut first = start(&folder, &long);
    wait_for("the lock", || folder.join(".wordline-pair.lock").exists());
    let second = wordline_in(&folder, &[&RUN[..], &["--save-snapshot", "pair"]].concat());
    second.fails(1, &["pair: cannot lock: another run is writing this file (process "]);
    first.kill().unwrap();
    finish(first, &long);
    wordline_in(&folder, &[&RUN[..], &["--save-snapshot", "pair"]].concat()).ok();
    assert!(!folder.join(".wordline-pair.lock").exists());
}

/// Hidden files of ours that are no list.
fn left(folder: &Path) -> Vec<String> {
    let list =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    list.filter(|name| name.starts_with(".wordline") && name != ".wordline.files").collect()
}

#[test]
fn the_next_command_removes_what_a_killed_one_left() {
    let folder = place("outputs-killed");
    let long =
        [&RUN[..5], &["--requests", "2000000000", "--precondition", "none", "--request-log", "log.csv"]];
    let long = long.concat();
    for _ in 0..3 {
        let mut child = start(&folder, &long);
        let is_part = |name: &String| name.ends_with(".part");
        wait_for("a part", || left(&folder).iter().any(is_part));
        child.kill().unwrap();
        finish(child, &long);
        assert!(left(&folder).iter().any(is_part));
    }
    assert_eq!(left(&folder).iter().filter(|name| name.ends_with(".part")).count(), 1, "{:?}", left(&folder));
    wordline_in(&folder, &["report", "done", "-o", "page.html"]).ok();
    assert_eq!(left(&folder), [""; 0]);
}

/// A terminal that is gone asks a run to end, unless whoever started it wants it to go on.
#[test]
fn a_terminal_that_is_gone_costs_no_run() {
    let folder = place("outputs-hang-up");
    let run = "$WORDLINE run --config small.toml --synthetic uniform --precondition none --request-log";
    let hang_up = "& pid=$!; sleep 1; kill -HUP $pid; wait $pid; echo $?";
    let line = format!("env --default-signal=HUP {run} a.csv --requests 2000000000 {hang_up}");
    let done = shell(&folder, &line).ok();
    assert!(done.out.ends_with("129\n") && done.err.contains("interrupted after"), "{done:?}");
    assert!(std::fs::metadata(folder.join("a.csv")).unwrap().len() > 1000);
    let line = format!("nohup {run} b.csv --requests 1000000 -q {hang_up}");
    assert!(shell(&folder, &line).ok().out.ends_with("0\n"));
    assert_eq!(left(&folder), [""; 0]);
}

#[test]
fn workers_end_with_their_sweep() {
    let folder = folder("outputs-orphans");
    file(&folder, "sw.toml", sweep_of(4, 2_000_000_000));
    let args = ["sweep", "sw.toml", "-o", "out", "-j", "2", "--no-cache"];
    let child = start(&folder, &args);
    wait_for("workers", || children_of(child.id()).len() == 2);
    let workers = children_of(child.id());
    std::thread::sleep(Duration::from_millis(500));
    kill("-9", child.id());
    finish(child, &args);
    let is_alive = |pid: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.contains("wordline") && !stat.contains(") Z ")
    };
    let since = Instant::now();
    wait_for("the workers' end", || !workers.iter().any(is_alive));
    assert!(since.elapsed() < Duration::from_secs(10), "{:?}", since.elapsed());
}

/// What a user puts at an output's place while the command runs is the user's.
#[test]
fn what_is_put_there_meanwhile_is_kept() {
    let folder = place("outputs-meanwhile");
    let begin = [&RUN[..5], &["--requests", "2000000000", "--precondition", "none", "-q"]].concat();
    let flags = ["--fio-json", "--request-log", "--save-snapshot", "--timeline"];
    for (number, flag) in flags.into_iter().enumerate() {
        let name = format!("late{number}");
        let args = [&begin[..], &[flag, &name]].concat();
        let child = start(&folder, &args);
        wait_for("the lock", || folder.join(format!(".wordline-{name}.lock")).exists());
        std::thread::sleep(Duration::from_millis(300));
        if number % 2 == 0 {
            file(&folder, &name, "mine");
        } else {
            std::os::unix::fs::symlink("t.wl", folder.join(&name)).unwrap();
        }
        let before = std::fs::read(folder.join(&name)).unwrap();
        kill("-INT", child.id());
        let done = finish(child, &args);
        let done = done.fails(130, &["interrupted after"]);
        assert!(done.err.contains("something else has been put there"), "{flag}: {}", done.err);
        assert_eq!(std::fs::read(folder.join(&name)).unwrap(), before);
        assert!(std::fs::metadata(folder.join(format!("{name}.1"))).unwrap().len() > 100);
    }
    let args = [&begin[..], &["--out", "late"]].concat();
    let child = start(&folder, &args);
    wait_for("the lock", || folder.join("late/.wordline.lock").exists());
    std::thread::sleep(Duration::from_millis(300));
    file(&folder.join("late"), "latency.svg", "mine");
    kill("-INT", child.id());
    let done = finish(child, &args);
    assert!(
        done.err.contains("latency.svg: something else has been put there") && done.out.contains("IOPS"),
        "{done:?}"
    );
    assert_eq!(std::fs::read(folder.join("late/latency.svg")).unwrap(), b"mine");
    assert!(std::fs::metadata(folder.join("late/result.json.1")).unwrap().len() > 100, "nothing is lost");
}

/// Tables without runs would be no sweep: none are made where its folder was.
#[test]
fn a_sweep_whose_folder_is_moved_says_so() {
    let folder = folder("outputs-moved");
    file(&folder, "sw.toml", sweep_of(400, 3000));
    let args = ["sweep", "sw.toml", "-o", "out", "--no-cache", "-q", "-j", "1"];
    let child = start(&folder, &args);
    wait_for("a run", || {
        std::fs::read_dir(folder.join("out/runs")).is_ok_and(|mut list| list.next().is_some())
    });
    std::fs::rename(folder.join("out"), folder.join("moved")).unwrap();
    let done = finish(child, &args);
    done.fails(1, &["out: cannot write: it was moved or removed since the sweep began"]);
    assert!(!folder.join("out").exists());
    let again = ["sweep", "sw.toml", "-o", "moved", "--no-cache", "-q", "--dry-run"];
    wordline_in(&folder, &again).ok();
}

/// Links and pipes in a sweep's folder lead nowhere.
#[test]
fn what_a_sweep_writes_are_files_of_its_own() {
    let folder = folder("outputs-links");
    file(&folder, "sw.toml", sweep_of(2, 300));
    let precious = file(&folder, "precious", "mine");
    let sweep = |out: &str| wordline_in(&folder, &["sweep", "sw.toml", "-o", out, "--no-cache", "-q"]);
    sweep("out").ok();
    let run = std::fs::read_dir(folder.join("out/runs")).unwrap().next().unwrap().unwrap().path();
    for link in [true, false] {
        std::fs::remove_file(&run).unwrap();
        if link {
            std::os::unix::fs::symlink(&precious, &run).unwrap();
        } else {
            shell(&folder, &format!("mkfifo {}", run.display())).ok();
        }
        sweep("out").fails(1, &["it is not a regular file", "1 of 2 runs are there"]);
        assert_eq!(std::fs::read(&precious).unwrap(), b"mine");
    }
    std::fs::create_dir(folder.join("elsewhere")).unwrap();
    std::fs::create_dir(folder.join("other")).unwrap();
    std::os::unix::fs::symlink("../elsewhere", folder.join("other/runs")).unwrap();
    sweep("other").fails(2, &[]);
    assert_eq!(std::fs::read_dir(folder.join("elsewhere")).unwrap().count(), 0);
}

#[test]
fn a_trace_that_is_given_up_leaves_nothing() {
    let folder = place("outputs-convert");
    let convert = ["trace", "convert", "--synthetic", "uniform", "--requests", "2000000000", "-o", "big.wl"];
    for (signal, code) in signals() {
        let child = start(&folder, &convert);
        wait_for("a part", || left(&folder).iter().any(|name| name.ends_with(".part")));
        std::thread::sleep(Duration::from_millis(300));
        kill(signal, child.id());
        finish(child, &convert).fails(code, &["interrupted: no trace is written"]);
        assert_eq!(left(&folder), [""; 0]);
        assert!(!folder.join("big.wl").exists());
    }
}

/// A drive of many pages, so that a look at them takes its time.
#[test]
fn finds_that_are_given_up_leave_nothing() {
    let folder = place("outputs-finds");
    let drive = ["run", "--drive", "evanesco", "--precondition", "none", "--synthetic", "uniform"];
    let wears =
        ["--set", "nand.geometry.blocks_per_plane=1000", "--requests", "300000", "--read-percent", "0"];
    let saves = ["--set", "run.executor=functional", "--save-snapshot", "s.snap"];
    wordline_in(&folder, &[&drive[..], &wears, &saves].concat()).ok();
    let before = left(&folder);
    for (signal, code) in signals() {
        let look = ["forensics", "s.snap", "--out", "finds.csv"];
        let child = start(&folder, &look);
        wait_for("the lock", || left(&folder).len() > before.len());
        kill(signal, child.id());
        finish(child, &look).fails(code, &["interrupted: no finds are written"]);
        assert_eq!(left(&folder), before);
        assert!(!folder.join("finds.csv").exists());
    }
}

/// In a folder such as `/tmp` only its owner may replace a file: that is known before hours of work, and not after.
#[test]
fn what_is_another_users_in_a_folder_for_all_is_refused_before_the_work() {
    const NOBODY: u32 = 65_534;
    let place = place("outputs-sticky");
    let all = Permissions::from_mode(0o1777);
    std::fs::set_permissions(&place, all).unwrap();
    wordline_in(&place, &[&RUN[..], &["--request-log", "log.csv", "-q"]].concat()).ok();
    // Others may write it, but not put another in its place.
    std::fs::set_permissions(place.join("log.csv"), Permissions::from_mode(0o666)).unwrap();
    let before = std::fs::read(place.join("log.csv")).unwrap();
    let line = [&RUN[..], &["--request-log", "log.csv", "--force"]].concat();
    let mut command = Command::new(env!("CARGO_BIN_EXE_wordline"));
    command.args(&line).current_dir(&place).env("WORDLINE_CACHE", "").uid(NOBODY).gid(NOBODY);
    let output = match command.output() {
        Ok(output) => output,
        // Only the superuser may act as somebody else, and not everybody may look into every checkout.
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            eprintln!("skipped: nobody else can run the program here: {error}");
            return;
        }
        Err(error) => panic!("{error}"),
    };
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("log.csv") && told.contains("it belongs to another user (number 0)"), "{told}");
    assert_eq!(std::fs::read(place.join("log.csv")).unwrap(), before);
    let left: Vec<_> = std::fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().contains(".part")), "{left:?}");
}
