//! Papers, reproduced: files with mistakes, verdicts by rule, runs that go on where they stopped.

mod bounds;
mod files;
mod laboratory;
mod order;
mod phases;
mod runs;
mod sensitivity;
mod sentences;
mod stored;
mod verdicts;

use lab::reproduce::{Paper, papers};
use std::path::{Path, PathBuf};

/// The project's folder.
pub fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The project's papers.
pub fn all() -> Vec<Paper> {
    let folder = top().join("papers");
    let load = |name: String| Paper::load(&folder.join(name)).unwrap_or_else(|error| panic!("{error}"));
    papers(&folder).unwrap().into_iter().map(load).collect()
}

/// A folder of this test's own; nothing is in it yet.
pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("reproduce").join(name);
    match std::fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => panic!("{}: {error}", folder.display()),
        _ => {}
    }
    std::fs::create_dir_all(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    folder
}

/// A drive whose blocks stand few reads, so that a run takes milliseconds.
pub const DRIVE: &str = r#"
[drive]
over_provisioning_percent = 100.0
[nand.geometry]
channels = 1
chips_per_channel = 1
planes_per_die = 1
blocks_per_plane = 12
wordlines_per_block = 16
[nand.errors]
model = "cells"
[ftl.mapping]
unit = "page"
[ftl.cleaning]
reserve_blocks = 3
[run]
fill_percent = 100.0
overwrite = "none"
executor = "functional"
loop_mode = "closed"
depth = 1
requests = 6000
"#;

/// Two techniques, one workload that is there and one whose trace is not, two ages.
pub const EXPERIMENT: &str = r#"
title = "a test"
[[technique]]
name = "early"
set = ["ftl.read_reclaim.policy=block", "ftl.read_reclaim.max_reads=100"]
[[technique]]
name = "late"
set = ["ftl.read_reclaim.policy=block", "ftl.read_reclaim.max_reads=400"]
[[age]]
name = "young"
steps = ["cycle to 500"]
[[age]]
name = "old"
steps = ["cycle to 2000"]
[[workload]]
name = "even"
[workload.spec]
pattern = "uniform"
read_percent = 100.0
size_bytes = 16384
count = 1000
[[workload]]
name = "absent"
trace = "no-such-trace.csv.zst"
[[study]]
name = "copies"
config = ["drive.toml"]
quick_ages = ["young"]
[[figure]]
name = "copies"
title = "copies"
study = "copies"
kind = "bars"
metrics = ["pages_copied"]
against = "early"
[check]
default_percent = 0
"#;

/// Three claims.
pub const CLAIMS: &str = r#"
[[claim]]
id = "fewer"
where = "figure 1"
text = "late copies less"
study = "copies"
metric = "pages_copied"
technique = "late"
against = "early"
as = "reduction"
claimed = 75.0
unit = "%"
kind = "number"
basis = "evidence"
[[claim]]
id = "order"
where = "figure 1"
text = "late copies less"
study = "copies"
metric = "pages_copied"
kind = "order"
basis = "tautology"
order = ["late", "early"]
[[claim]]
id = "elsewhere"
where = "figure 2"
text = "cannot be run"
claimed = 1
kind = "number"
basis = "fitted"
not_judged = "it needs a crystal ball"
"#;

/// Writes a paper's folder.
pub fn paper(name: &str, experiment: &str, claims: &str) -> PathBuf {
    let folder = folder(name).join("paper");
    std::fs::create_dir_all(&folder).expect("a folder");
    for (file, text) in [("experiment.toml", experiment), ("claims.toml", claims), ("drive.toml", DRIVE)] {
        std::fs::write(folder.join(file), text).expect("a file");
    }
    folder
}
