//! Where results go: the places, what is written there, and snapshots.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use lab::{RunResult, report};
use ssd::Drive;
use workload::Spec;

use super::Run;
use crate::failure::Failure;
use crate::plan::Plan;

/// Where results go.
#[derive(Args, Debug)]
#[command(next_help_heading = "Results")]
pub struct OutputArgs {
    /// Write result.json, plots (SVG, PDF, CSV) and config.toml, which repeats the run, to this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Write one row per request to this file: .csv, .csv.zst (compressed) or .parquet
    #[arg(long, value_name = "FILE")]
    pub request_log: Option<PathBuf>,

    /// What tables call this run [default: the last part of --out, or the name of the workload]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,

    /// Print the result as JSON instead of tables
    #[arg(long)]
    pub json: bool,

    /// Print nothing but errors
    #[arg(short, long, conflicts_with = "json")]
    pub quiet: bool,
}

impl OutputArgs {
    /// Refuses names that say nothing, or something else than what would be written.
    fn check_names(&self) -> Result<(), Failure> {
        if self.name.as_ref().is_some_and(|name| name.trim().is_empty()) {
            return Err(Failure::usage("--name: found nothing, allowed: what tables shall call this run"));
        }
        let Some(path) = &self.request_log else { return Ok(()) };
        let Some(ending) = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase())
        else {
            return Ok(());
        };
        if ["csv", "zst", "parquet"].contains(&ending.as_str()) {
            return Ok(());
        }
        Err(Failure::usage(format!(
            "--request-log {}: found a file that ends in .{ending}, allowed: .csv, .csv.zst (compressed) or .parquet",
            path.display()
        )))
    }
}

impl Run {
    /// Can results be written where they are wanted? Asked before the work, not after.
    pub(super) fn check_places(&self) -> Result<(), Failure> {
        self.output.check_names()?;
        if let Some(folder) = &self.output.out {
            std::fs::create_dir_all(folder).map_err(|e| Failure::file(folder, "create the folder", &e))?;
        }
        let files = [
            (&self.output.request_log, "write the request log"),
            (&self.measurement.save_snapshot, "write the snapshot"),
        ];
        for (path, action) in files {
            let Some(path) = path else { continue };
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            if folder.is_some_and(|folder| !folder.is_dir()) {
                return Err(Failure::file(path, action, &"its folder does not exist"));
            }
            if path.is_dir() {
                return Err(Failure::file(path, action, &"it is a folder"));
            }
        }
        Ok(())
    }

    /// What tables call the run.
    pub(super) fn name(&self, spec: &Spec) -> String {
        let last = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
        let from_folder = || self.output.out.as_deref().and_then(last);
        self.output.name.clone().or_else(from_folder).unwrap_or_else(|| spec.title())
    }

    /// Everything the user wants to have of the result.
    pub(super) fn write(
        &self,
        plan: &Plan,
        spec: &Spec,
        result: &RunResult,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        if let Some(folder) = &self.output.out {
            report::write(folder, result, &plan.to_toml(spec)).map_err(Failure::from)?;
        }
        if self.output.json {
            out.write_all(result.to_json().as_bytes())?;
        } else if !self.output.quiet {
            out.write_all(report::table(result).as_bytes())?;
        }
        Ok(())
    }
}

/// Where a snapshot's configuration lies.
pub fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".toml");
    PathBuf::from(name)
}

/// Writes the drive, and its configuration beside it.
pub fn save(drive: &Drive, plan: &Plan, path: &Path) -> Result<(), Failure> {
    let write = || -> io::Result<()> {
        let mut file = BufWriter::new(File::create(path)?);
        drive.save(&mut file)?;
        file.flush()
    };
    write().map_err(|e| Failure::file(path, "write the snapshot", &e))?;
    let config = beside(path);
    std::fs::write(&config, plan.resolved.to_toml()).map_err(|e| Failure::file(&config, "write", &e))
}
