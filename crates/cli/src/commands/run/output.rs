//! Where results go: the places, what is written there, and snapshots.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use lab::files::{FileLock, FolderLock, Replacement, replace, stage_drive};
use lab::{RunResult, report};
use ssd::Drive;
use workload::Spec;

use super::args::Run;
use lab::Plan;
use lab::job::files;
use lab::job::is_config;

use crate::failure::Failure;
use lab::places::{Force, Kind, Places, claim_file};

/// What a failure says of a snapshot that cannot be saved.
const SAVING: &str = "write the snapshot";

/// What a run writes, which is its own meanwhile.
pub(super) struct Claims {
    _folder: Option<FolderLock>,
    _files: Vec<FileLock>,
}

impl Run {
    /// Can results be written where they are wanted, and is nothing lost by it? Asked before the work, not after. They
    /// are this run's as long as what is returned lives.
    pub(super) fn claim_places(&self, spec: Option<&Spec>) -> Result<Claims, Failure> {
        self.places(spec).check()?;
        self.output.check_names()?;
        let force = Force::flag(self.output.force);
        let claim =
            |folder: &PathBuf| report::claim_run(folder, &format!("--out {}", folder.display()), force);
        let folder = self.output.out.as_ref().map(claim).transpose()?;
        let output = &self.output;
        let files = [
            (&output.request_log, Kind::RequestLog, "write the request log"),
            (&output.fio_json, Kind::FioJson, "write the result in fio's layout"),
            (&output.timeline, Kind::Timeline, "write the timeline"),
            (&output.versions, Kind::Versions, "write the versions of files"),
            (&output.keep_versions, Kind::KeptVersions, "write the contents of flash units"),
            (&self.measurement.save_snapshot, Kind::Snapshot, SAVING),
        ];
        let mut locks = Vec::new();
        for (path, kind, action) in files {
            let Some(path) = path else { continue };
            // Nobody has named that file.
            let config = files::beside(path);
            if action == SAVING && config.exists() && !path.exists() {
                let message = "it exists, but the snapshot that it belongs to does not";
                return Err(Failure::file(&config, "write the snapshot's configuration", &message));
            }
            let mut lock = claim_file(path, kind, action, force)?;
            if let Some(lock) = lock.as_mut().filter(|_| action == SAVING) {
                lock.claim(&config);
            }
            locks.extend(lock);
        }
        Ok(Claims { _folder: folder, _files: locks })
    }

    /// The same of the folders of several drives, in that of the run.
    pub(super) fn claim_folders_of(&self, names: &[&str]) -> Result<Vec<FolderLock>, Failure> {
        let Some(folder) = &self.output.out else { return Ok(Vec::new()) };
        let claim = |name: &&str| {
            let folder = folder.join(name);
            report::claim_run(&folder, &format!("--out {}", folder.display()), Force::flag(self.output.force))
        };
        Ok(names.iter().map(claim).collect::<Result<_, _>>()?)
    }

    /// Everything that the run reads and writes.
    fn places(&self, spec: Option<&Spec>) -> Places {
        let mut places = Places::default();
        let config = self.input.as_deref().filter(|path| is_config(path));
        if let Some(path) = config.or(self.drive.config.as_deref()) {
            places.reads("the configuration", path);
        }
        if let Some(spec) = spec {
            places.reads_workload(spec);
        }
        if let Some(path) = &self.measurement.snapshot {
            places.reads("--snapshot", path);
        }
        places.prints(std::io::stdout());
        if let Some(folder) = &self.output.out {
            places.writes("--out", folder);
            for name in report::run_files() {
                places.writes("a file of --out,", &folder.join(name));
            }
        }
        for (flag, path) in self.output.tables() {
            places.writes(flag, path);
        }
        if let Some(path) = &self.output.fio_json {
            places.writes("--fio-json", path);
        }
        if let Some(path) = &self.output.timeline {
            places.writes("--timeline", path);
        }
        if let Some(path) = &self.measurement.save_snapshot {
            places.writes("--save-snapshot", path);
            places.writes("the configuration beside --save-snapshot,", &files::beside(path));
        }
        places
    }

    /// What tables call the run.
    pub(super) fn name(&self, spec: &Spec) -> String {
        let last = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
        let from_folder = || self.output.out.as_deref().and_then(last);
        self.output.name.clone().or_else(from_folder).unwrap_or_else(|| spec.title())
    }

    /// Everything the user wants to have of the result: printed first, then written. Returns what could not be written.
    pub(super) fn deliver(
        &self,
        plan: &Plan,
        spec: &Spec,
        result: &RunResult,
        out: &mut dyn Write,
    ) -> Result<Option<String>, Failure> {
        let print = |out: &mut dyn Write| -> Result<(), Failure> {
            let text = match (self.output.json, self.output.brief) {
                (true, _) => result.to_json(),
                (_, true) => report::brief(result),
                _ if self.output.counters => report::table(result) + "\n" + &report::counters(result),
                _ => report::table(result),
            };
            out.write_all(text.as_bytes())?;
            Ok(out.flush()?)
        };
        if !self.output.quiet {
            print(out)?;
        }
        let mut missing = Vec::new();
        if let Some(folder) = &self.output.out
            && let Err(error) = report::write(folder, result, &plan.to_toml(spec))
        {
            if self.output.quiet {
                // Otherwise it would be nowhere.
                print(out)?;
            }
            missing.push(error.to_string());
        }
        if let Some((path, text)) = self.output.fio_json.as_ref().zip(report::fio_json(result))
            && let Err(error) = replace(path, text.as_bytes())
        {
            missing.push(error.to_string());
        }
        Ok((!missing.is_empty()).then(|| missing.join("\n")))
    }
}

/// Writes the drive once it was read back, and its configuration beside it, with a remark if there is one.
pub fn save(drive: &Drive, plan: &Plan, path: &Path, remark: Option<&str>) -> Result<(), Failure> {
    let fail = |path: &Path, action: &str, error: io::Error| {
        Failure::work(format!("{}: cannot {action}: {error}; not saved", path.display()))
    };
    let staged = stage_drive(path, drive, &plan.resolved.config);
    let snapshot = staged.map_err(|error| fail(path, "write the snapshot", error))?;
    if snapshot.is_direct() {
        // Nothing lies beside a device or a pipe.
        return snapshot.commit().map_err(|error| fail(path, "write the snapshot", error));
    }
    let config = files::beside(path);
    let remark = remark.map_or(String::new(), |remark| format!("# {remark}\n"));
    let mut text = Replacement::create(&config).map_err(|error| fail(&config, "write", error))?;
    let written = text.write_all((remark + &plan.resolved.to_toml()).as_bytes());
    written.and_then(|()| text.sync()).map_err(|error| fail(&config, "write", error))?;
    // The smaller one first: what it replaces can be put back if the other does not come to its place.
    let before = std::fs::read(&config).ok();
    text.commit().map_err(|error| fail(&config, "write", error))?;
    snapshot.commit().map_err(|error| {
        let back = before.map_or_else(
            || std::fs::remove_file(&config).map_err(|error| error.to_string()),
            |text| replace(&config, &text).map_err(|error| error.to_string()),
        );
        let told =
            back.err().map_or(String::new(), |why| format!("; nor is its configuration as before: {why}"));
        fail(path, "write the snapshot", io::Error::other(format!("{error}{told}")))
    })
}
