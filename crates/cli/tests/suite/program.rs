//! Runs the program and looks at what it did.

use serde_json::Value;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

/// Longer than any test should take, on a busy machine too.
const TIMEOUT: Duration = Duration::from_secs(120);

/// The trace that ships with the product.
pub fn trace() -> String {
    root().join("data/rocksdb-ycsb-a-run1.csv.zst").display().to_string()
}

/// The root of the checkout.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What the program did.
#[derive(Debug)]
pub struct Done {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Done {
    /// It must have succeeded.
    pub fn ok(self) -> Self {
        assert_eq!(self.code, Some(0), "stdout: {}\nstderr: {}", self.out, self.err);
        self
    }

    /// It must have failed with this exit code, saying all of this and nothing about itself.
    pub fn fails(self, code: i32, says: &[&str]) -> Self {
        assert_eq!(self.code, Some(code), "stdout: {}\nstderr: {}", self.out, self.err);
        assert!(!self.err.contains("panicked"), "{}", self.err);
        for text in says {
            assert!(self.err.contains(text), "expected {text:?} in:\n{}", self.err);
        }
        self
    }

    /// Standard output must be one JSON value.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out)
            .unwrap_or_else(|e| panic!("{e} in:\n{}\nstderr: {}", self.out, self.err))
    }
}

/// Runs the program to its end.
pub fn wordline(args: &[&str]) -> Done {
    wordline_in(&root(), args)
}

/// The same in another working directory.
pub fn wordline_in(directory: &Path, args: &[&str]) -> Done {
    finish(start(directory, args), args)
}

/// The same with something on standard input.
pub fn wordline_reading(args: &[&str], input: &[u8]) -> Done {
    let mut child = Command::new(env!("CARGO_BIN_EXE_wordline"))
        .args(args)
        .env("WORDLINE_CACHE", "")
        .current_dir(root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut pipe = child.stdin.take().unwrap();
    let input = input.to_vec();
    // A program that does not want to know closes the pipe: that is its own business.
    let writer = spawn(move || _ = pipe.write_all(&input));
    let done = finish(child, args);
    writer.join().unwrap();
    done
}

/// Starts the program and leaves it running.
pub fn start(directory: &Path, args: &[&str]) -> Child {
    spawn_in(directory, Command::new(env!("CARGO_BIN_EXE_wordline")).args(args))
}

/// What a shell makes of a line in which `$WORDLINE` is the program.
pub fn shell(directory: &Path, line: &str) -> Done {
    let mut command = Command::new("sh");
    command.args(["-c", line]).env("WORDLINE", env!("CARGO_BIN_EXE_wordline"));
    finish(spawn_in(directory, &mut command), &[line])
}

fn spawn_in(directory: &Path, command: &mut Command) -> Child {
    if command.get_envs().all(|(name, _)| name != "WORDLINE_CACHE") {
        command.env("WORDLINE_CACHE", "");
    }
    command.current_dir(directory).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the program starts")
}

/// Waits for its end.
pub fn finish(mut child: Child, args: &[&str]) -> Done {
    let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let reader = spawn(move || {
        let mut text = Vec::new();
        out.read_to_end(&mut text).unwrap();
        text
    });
    let errors = spawn(move || {
        let mut text = Vec::new();
        err.read_to_end(&mut text).unwrap();
        text
    });
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if start.elapsed() > TIMEOUT {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("wordline {args:?} took longer than {TIMEOUT:?}");
        }
        sleep(Duration::from_millis(5));
    };
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the output is UTF-8");
    Done { code: status.code(), out: text(reader.join().unwrap()), err: text(errors.join().unwrap()) }
}

/// An empty folder of its own for a test.
pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli").join(name);
    if folder.exists() {
        std::fs::remove_dir_all(&folder).unwrap();
    }
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// A file in such a folder.
pub fn file(folder: &Path, name: &str, content: impl AsRef<[u8]>) -> String {
    let path = folder.join(name);
    std::fs::write(&path, content).unwrap();
    path.display().to_string()
}

/// A drive small enough for a test to be quick, as a configuration.
pub const SMALL: &str = "\
[nand.geometry]
channels = 2
chips_per_channel = 2
blocks_per_plane = 64
wordlines_per_block = 16
[drive]
over_provisioning_percent = 20
[host.buffer]
policy = \"lru_write\"
size_mib = 1
";

/// Processes that a process has started.
pub fn children_of(parent: u32) -> Vec<u32> {
    let list = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap_or_default();
    let threads = std::fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten();
    let of = |thread: std::fs::DirEntry| std::fs::read_to_string(thread.path().join("children")).ok();
    let all = threads.filter_map(of).collect::<String>() + &list;
    all.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

/// Signals that end a run, and the exit code of each. A hang-up is none of them under `nohup`, here as in the program.
pub fn signals() -> Vec<(&'static str, i32)> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap_or("0");
    let is_hang_up_ignored = u64::from_str_radix(mask.trim(), 16).is_ok_and(|mask| mask & 1 == 1);
    let mut signals = vec![("-INT", 130), ("-TERM", 143), ("-HUP", 129)];
    signals.truncate(if is_hang_up_ignored { 2 } else { 3 });
    signals
}

/// Sends a process a signal.
pub fn kill(signal: &str, pid: u32) {
    let _ = Command::new("kill").args([signal, &pid.to_string()]).output();
}
