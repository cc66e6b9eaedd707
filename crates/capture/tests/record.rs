//! Commands under the recorder: what they do to files is what is recorded, and they notice nothing of it.
//!
//! Where a process may not trace its children these tests say so and are skipped.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, IoSlice, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;

use capture::{End, Error, Recorded, record, refusal};
use workload::capture::{Capture, Event, Op};

/// Says that a test is skipped, and why, where programs cannot be traced.
fn is_forbidden() -> bool {
    let refused = refusal();
    if let Some(error) = &refused {
        eprintln!("skipped: {error}");
    }
    refused.is_some()
}

/// Records a command with names.
fn captured(command: &[&str]) -> (Capture, Recorded) {
    let command: Vec<OsString> = command.iter().map(OsString::from).collect();
    let (bytes, recorded) = record(&command, true, Vec::new()).unwrap_or_else(|error| panic!("{error}"));
    let capture = Capture::read(&bytes[..]).unwrap();
    assert_eq!(capture.events.len() as u64, recorded.calls);
    assert_eq!(capture.stacks.len() as u64, recorded.stacks);
    assert_eq!(capture.totals, recorded.totals);
    (capture, recorded)
}

/// The same for this program's test of a name, which does something in a folder.
fn captured_self(test: &str, folder: &Path) -> (Capture, Recorded) {
    let folder = format!("CAPTURED_FOLDER={}", folder.display());
    let me = std::env::current_exe().unwrap();
    let me = me.display().to_string();
    // What it prints may go to a file, and that is none of its own.
    let quietly = "exec env \"$@\" > /dev/null 2>&1";
    captured(&["sh", "-c", quietly, "sh", &folder, &me, "--exact", test, "--test-threads=1"])
}

/// The folder to do something in; `None` where the test itself is not under the recorder.
fn folder_of_child() -> Option<std::path::PathBuf> {
    std::env::var_os("CAPTURED_FOLDER").map(Into::into)
}

/// Operation, the file's name without its folder, first byte, bytes.
fn told(capture: &Capture, event: &Event) -> (Op, String, u64, u64) {
    let name = Path::new(&capture.files[event.file as usize].name).file_name().unwrap();
    (event.op, name.to_string_lossy().into_owned(), event.offset, event.size)
}

/// Done under the recorder.
#[test]
fn child_writes_in_all_ways() {
    let Some(folder) = folder_of_child() else { return };
    let path = |name: &str| folder.join(name);
    let mut a = File::create(path("a")).unwrap();
    a.write_all(&[1; 100]).unwrap();
    a.write_all_at(&[2; 5000], 4096).unwrap();
    assert_eq!(a.write_vectored(&[IoSlice::new(&[3; 10]), IoSlice::new(&[4; 20])]).unwrap(), 30);
    a.seek(SeekFrom::Start(8)).unwrap();
    a.write_all(&[5; 4]).unwrap();
    a.sync_data().unwrap();
    a.sync_all().unwrap();
    a.set_len(1000).unwrap();
    OpenOptions::new().append(true).open(path("a")).unwrap().write_all(&[6; 7]).unwrap();
    // What only reads, and what fails, is no event.
    File::open(path("a")).unwrap().read_exact(&mut [0; 4]).unwrap();
    assert!(File::open(path("a")).unwrap().write(&[1]).is_err());
    assert!(fs::remove_file(path("none")).is_err());
    assert!(fs::rename(path("none"), path("a")).is_err());
    fs::copy(path("a"), path("b")).unwrap();
    fs::rename(path("a"), path("b")).unwrap();
    drop(File::create(path("b")).unwrap());
    // A second name: the file stays when the first goes.
    fs::hard_link(path("b"), path("c")).unwrap();
    fs::remove_file(path("b")).unwrap();
    fs::remove_file(path("c")).unwrap();
}

#[test]
fn every_way_to_write_is_recorded_with_place_and_size() {
    if is_forbidden() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (capture, recorded) = captured_self("child_writes_in_all_ways", folder.path());
    assert_eq!(recorded.end, End::Code(0));
    let found: Vec<_> = capture.events.iter().map(|event| told(&capture, event)).collect();
    let expected = [
        (Op::Write, "a", 0, 100),
        (Op::Write, "a", 4096, 5000),
        (Op::Write, "a", 100, 30),
        (Op::Write, "a", 8, 4),
        (Op::Fdatasync, "a", 0, 0),
        (Op::Fsync, "a", 0, 0),
        (Op::Truncate, "a", 0, 1000),
        (Op::Write, "a", 1000, 7),
        (Op::Write, "b", 0, 1007),
        // The copy loses its name to the original, which is empty from then on.
        (Op::Unlink, "b", 0, 0),
        (Op::Rename, "a", 0, 0),
        (Op::Truncate, "a", 0, 0),
        (Op::Unlink, "a", 0, 0),
    ];
    let expected: Vec<_> = expected.map(|(op, name, at, size)| (op, name.to_owned(), at, size)).into();
    assert_eq!(found, expected);
    let changed = capture.events.iter().map(|event| event.stack).collect::<Vec<_>>();
    assert!(changed.iter().all(|&stack| capture.stacks[stack as usize].is_whole), "{:?}", recorded.totals);
    // Each line of that function is a way of its own: no two calls have one context.
    let mut contexts: Vec<u32> = changed.iter().map(|&stack| capture.contexts()[stack as usize]).collect();
    contexts.sort_unstable();
    // The unlink by a rename has its context.
    contexts.dedup();
    assert_eq!(contexts.len(), expected.len() - 1);
    assert!(capture.events.windows(2).all(|two| two[0].time_ns <= two[1].time_ns));
}

/// Done under the recorder: deep in a recursion, so that the stack is longer than what is copied at first.
#[test]
fn child_writes_deep_down() {
    fn down(levels: u32, file: &File) {
        let room = std::hint::black_box([levels as u8; 500]);
        if levels == 0 {
            file.write_at(&[1], 0).unwrap();
        } else {
            down(levels - 1, file);
        }
        std::hint::black_box(room);
    }
    let Some(folder) = folder_of_child() else { return };
    let file = File::create(folder.join("deep")).unwrap();
    for levels in [1, 50, 150] {
        down(levels, &file);
    }
}

#[test]
fn deep_stacks_are_whole() {
    if is_forbidden() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (capture, recorded) = captured_self("child_writes_deep_down", folder.path());
    let depths: Vec<usize> =
        capture.events.iter().map(|event| capture.stacks[event.stack as usize].frames.len()).collect();
    assert_eq!((depths.len(), recorded.totals.cut), (3, 0));
    assert_eq!((depths[1] - depths[0], depths[2] - depths[0]), (49, 149));
}

/// Done under the recorder: threads, each with a file and a way of its own.
#[test]
fn child_writes_from_threads() {
    fn even(file: &File, at: u64) {
        file.write_at(&[0; 512], std::hint::black_box(at) * 512).unwrap();
    }
    fn odd(file: &File, at: u64) {
        file.write_at(&[1; 256], std::hint::black_box(at) * 256).unwrap();
    }
    let Some(folder) = folder_of_child() else { return };
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let file = File::create(folder.join(format!("t{thread}"))).unwrap();
            scope.spawn(move || {
                (0..200).for_each(|at| if thread % 2 == 0 { even(&file, at) } else { odd(&file, at) });
            });
        }
    });
}

#[test]
fn threads_are_followed_and_contexts_stay_in_a_second_run() {
    if is_forbidden() {
        return;
    }
    let runs: Vec<Vec<(String, u64, u64, u32)>> = (0..2)
        .map(|_| {
            let folder = tempfile::tempdir().unwrap();
            let (capture, recorded) = captured_self("child_writes_from_threads", folder.path());
            assert_eq!((recorded.calls, recorded.processes, recorded.totals.cut), (800, 1, 0));
            assert_eq!(capture.ambiguous(), 0);
            let contexts = capture.contexts();
            let told = |event: &Event| {
                let (_, name, offset, size) = told(&capture, event);
                (name, offset, size, contexts[event.stack as usize])
            };
            let mut all: Vec<_> = capture.events.iter().map(told).collect();
            all.sort();
            all
        })
        .collect();
    // Code is loaded elsewhere each time (ASLR); what calls where from is the same.
    assert_eq!(runs[0], runs[1]);
    let of = |thread: usize| runs[0][thread * 200].3;
    assert_eq!((of(0), of(1)), (of(2), of(3)));
    assert_ne!(of(0), of(1));
}

#[test]
fn what_a_command_starts_is_followed() {
    if is_forbidden() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display();
    let script = format!(
        "cd {path}; echo one > a; (echo two > b; sh -c 'echo three > c'); echo four | tee d > /dev/null & wait; mv a e"
    );
    let (capture, recorded) = captured(&["sh", "-c", &script]);
    assert_eq!(recorded.end, End::Code(0));
    let mut found: Vec<_> = capture
        .events
        .iter()
        .map(|event| {
            let (op, name, offset, size) = told(&capture, event);
            (name, op, offset, size, capture.processes[event.process as usize].name.clone())
        })
        .collect();
    found.sort_by(|a, b| (&a.0, a.1 as u8).cmp(&(&b.0, b.1 as u8)));
    let of = |name: &str, op, size, by: &str| (name.to_owned(), op, 0, size, by.to_owned());
    let shell = found[0].4.clone();
    let expected = [
        of("a", Op::Write, 4, &shell),
        of("a", Op::Rename, 0, "mv"),
        of("b", Op::Write, 4, &shell),
        of("c", Op::Write, 6, &shell),
        of("d", Op::Write, 5, "tee"),
    ];
    assert_eq!(found, expected);
    assert_eq!(recorded.totals.setuid_programs, 0);
}

/// Where a program begins, as its file says (ELF, `e_entry`): its `_start` calls all else, and returns nowhere.
fn entry_of(program: &str) -> Option<u64> {
    let folders = std::env::var_os("PATH")?;
    let path =
        std::env::split_paths(&folders).map(|folder| folder.join(program)).find(|path| path.is_file())?;
    let bytes = fs::read(path).ok()?;
    Some(u64::from_le_bytes(bytes.get(24..32)?.try_into().ok()?))
}

#[test]
fn stacks_go_down_to_where_programs_begin() {
    if is_forbidden() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let script = "cd $0; dd if=/dev/zero of=a bs=5000 count=3 2>/dev/null; cp a b; mv b c; sort a > d; tar cf e a; \
                  echo x | tee f >/dev/null; sed -i s/x/y/ f; truncate -s 9 e; rm f";
    let (capture, recorded) = captured(&["sh", "-c", script, folder.path().to_str().unwrap()]);
    assert_eq!(recorded.totals.cut, 0);
    let mut checked = 0;
    for stack in &capture.stacks {
        let &(module, address) = stack.frames.last().unwrap();
        // Programs without a build of their own (one file with many names) are found by their file's name.
        if let Some(entry) = entry_of(&capture.modules[module as usize].name) {
            assert!((entry..entry + 64).contains(&address), "{:?}: {entry:#x}", stack.frames);
            checked += 1;
        }
    }
    assert!(checked >= 6, "{checked} of {}", capture.stacks.len());
}

#[test]
fn exit_codes_and_signals_pass() {
    if is_forbidden() {
        return;
    }
    let end = |script: &str| captured(&["sh", "-c", script]).1.end;
    assert_eq!(end("exit 0"), End::Code(0));
    assert_eq!(end("exit 77"), End::Code(77));
    assert_eq!(end("kill -KILL $$"), End::Signal(9));
    assert_eq!(end("kill -TERM $$"), End::Signal(15));
    assert_eq!(end("trap 'exit 5' USR1; kill -USR1 $$; exit 6"), End::Code(5));
    // A process that is stopped stays so until it is told to go on.
    assert_eq!(end("sh -c 'kill -STOP $$; exit 3' & sleep 0.2; kill -CONT $!; wait $!"), End::Code(3));
}

#[test]
fn output_and_input_are_the_commands_own() {
    if is_forbidden() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let script = format!("echo text | sed s/x/s/ > {}", out.display());
    captured(&["sh", "-c", &script]);
    assert_eq!(fs::read_to_string(out).unwrap(), "test\n");
}

#[test]
fn what_cannot_be_run_is_named() {
    let error = |command: &str| {
        record(&[command.into()], false, io::sink()).map(|(_, recorded)| recorded).unwrap_err()
    };
    if cfg!(target_os = "linux") {
        assert!(matches!(error("no-such-program-anywhere"), Error::NotFound { .. }));
        assert!(error("./no/such/file").to_string().contains("found:   \"./no/such/file\""));
    }
    if is_forbidden() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text");
    fs::write(&text, "nothing").unwrap();
    let error = error(text.to_str().unwrap());
    assert!(matches!(error, Error::NotRun { .. }), "{error}");
    assert!(error.to_string().contains("Permission denied"), "{error}");
}

/// `strace`, where it is there, is another program that follows the same calls: it must count as many.
#[test]
fn strace_counts_the_same() {
    let has_strace = Command::new("strace").arg("-V").output().is_ok_and(|output| output.status.success());
    if is_forbidden() || !has_strace {
        eprintln!("skipped: no strace, or none that may trace");
        return;
    }
    let script = "cd $0; for i in 1 2 3 4 5 6 7 8 9; do \
                  dd if=/dev/zero of=f$i bs=$((i * 700)) count=$i conv=fsync 2>/dev/null; done; \
                  cat f1 f2 > g; cp g h; mv g f3; rm f4 f5; truncate -s 10 h; sort f6 > k; tar cf l f7 f8";
    let counts = |capture: &Capture| {
        let mut counts = [0u64; Op::ALL.len()];
        capture.events.iter().for_each(|event| counts[event.op as usize] += 1);
        counts
    };
    let [one, other, logs] = [(), (), ()].map(|()| tempfile::tempdir().unwrap());
    let (capture, _) = captured(&["sh", "-c", script, one.path().to_str().unwrap()]);
    let traced = Command::new("strace")
        // A file for each process: in one for all, calls are cut where another process comes between.
        .args(["-ff", "-y", "-o"])
        .arg(logs.path().join("log"))
        .args(["sh", "-c", script])
        .arg(other.path())
        .status()
        .unwrap();
    assert!(traced.success());
    let files =
        fs::read_dir(logs.path()).unwrap().map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
    let log: String = files.collect();
    let folder = other.path().display().to_string();
    // Such as `write(1</tmp/x/g>, "..."..., 700) = 700`.
    let calls = |names: &[&str]| {
        let is_it = |line: &&str| {
            let name = line.split('(').next().unwrap_or_default();
            names.contains(&name)
                && line.contains(&format!("<{folder}"))
                && !line.contains(" = 0")
                && !line.contains(" = -1")
        };
        log.lines().filter(is_it).count() as u64
    };
    let found = counts(&capture);
    assert_eq!(
        found[Op::Write as usize],
        calls(&["write", "pwrite64", "writev", "copy_file_range", "sendfile"])
    );
    let zero = |names: &[&str]| {
        let lines = log
            .lines()
            .filter(|line| line.ends_with("= 0") && names.iter().any(|name| line.starts_with(name)));
        lines.count() as u64
    };
    assert_eq!(found[Op::Fsync as usize], zero(&["fsync("]));
    assert_eq!(found[Op::Rename as usize], zero(&["rename(", "renameat(", "renameat2("]));
    // `mv` also takes `f3` away.
    assert_eq!(found[Op::Unlink as usize], zero(&["unlink(", "unlinkat("]) + 1);
    assert!(found[Op::Write as usize] > 45 && found[Op::Fsync as usize] == 9, "{found:?}");
}
