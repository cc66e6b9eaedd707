//! `wordline run`: a workload on a drive.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use lab::{AgeSteps, RunResult, RunSpec, report};
use ssd::config::{ConfigError, ConfigErrors, KeyAt, Layer, Origin, Parameter};
use ssd::{Drive, Status};
use workload::{Prepared, Spec};

use crate::failure::Failure;
use crate::inputs::{DriveArgs, Inputs, is_config};
use crate::plan::Plan;
use crate::progress::Progress;
use crate::workload_args::{ReplayArgs, SyntheticArgs, TraceArgs, set, with_path};

/// Examples for the help text.
pub const EXAMPLES: &str = "\
Examples:
  wordline run data/rocksdb-ycsb-a-run1.csv.zst --out out/my
      a trace on a TLC drive sized to it and aged first; tables here, files in out/my
  wordline run trace.csv.gz --drive qlc --set ftl.gc_victim.policy=cost_benefit --speed-up 2
  wordline run --workload websearch --footprint 2GiB --requests 1000000 --copies 4
      a stand-in for a paper's trace, shrunk to 2 GiB, with four users
  wordline run --synthetic zipf --zipf 80/20 --read-percent 70 --depth 32 --requests 500000
  wordline run my.toml --json
      my.toml: a drive, with the tables [workload] and [run]
  wordline run --requests 100000 --set nand.errors.model=cells --age \"cycle to 3000\" --age \"retain 3 months\"
      a drive whose cells have aged: how often reads are retried, what is lost

Without --drive and without a drive in the configuration, the default drive (tlc) is made as small as the workload's
footprint allows: it takes at most 80 % of the logical space. First there are fewer blocks in each plane (at least 64),
then shorter blocks, then fewer chips. The footprint is written, and overwritten at random until the write amplification
is steady. A drive that is named is taken as it is, filled and overwritten likewise (--precondition none: not at all).

Steps of --age, taken in order on every block of a drive with nand.errors.model = \"cells\":
  cycle to N [with N UNIT dwell at N C]     it has seen so many program/erase cycles
  retain N UNIT [at N C]                    its data lies for so long
  disturb N reads [of wordline N]           it is read so often
UNIT is minutes, hours, days, weeks, months (730 hours) or years.";

/// Flags of `run`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, allow_negative_numbers = true)]
pub struct Run {
    /// A trace (any known format, plain, gzip or zstd), or a configuration (a file that ends in .toml)
    #[arg(value_name = "TRACE_OR_CONFIG")]
    input: Option<PathBuf>,

    #[command(flatten)]
    drive: DriveArgs,

    #[command(flatten)]
    trace: TraceArgs,

    #[command(flatten)]
    replay: ReplayArgs,

    #[command(flatten)]
    synthetic: SyntheticArgs,

    #[command(flatten)]
    measurement: MeasurementArgs,

    #[command(flatten)]
    output: OutputArgs,
}

/// How the workload is run.
#[derive(Args, Debug)]
#[command(next_help_heading = "Measurement")]
struct MeasurementArgs {
    /// Keep N requests in flight, whatever their arrival times [default for generators: 32]
    #[arg(long, value_name = "N", visible_aliases = ["depth", "queue-depth"])]
    closed: Option<String>,

    /// Let requests arrive at their times [default for traces]
    #[arg(long, conflicts_with = "closed")]
    open: bool,

    /// Fill and overwrite the drive first: none, fill=PERCENT, steady, times=X, or several such as fill=75,times=2
    #[arg(long, value_name = "HOW")]
    precondition: Option<String>,

    /// Age its cells after that, such as "cycle to 3000" or "retain 12 months at 55 C"; may be repeated
    #[arg(long, value_name = "STEP")]
    age: Vec<String>,

    /// Measure only after N requests
    #[arg(long, value_name = "N")]
    warm_up: Option<String>,

    /// Seed of the drive's random streams, and of a generator's
    #[arg(long, value_name = "N")]
    seed: Option<String>,

    /// Start from a saved drive instead of ageing one; the configuration must be the same
    #[arg(long, value_name = "FILE", conflicts_with = "precondition")]
    snapshot: Option<PathBuf>,

    /// Save the drive at the end; its configuration goes beside it, to FILE.toml
    #[arg(long, value_name = "FILE")]
    save_snapshot: Option<PathBuf>,

    /// Stop when the drive is aged; a workload is only used to size it
    #[arg(long, requires = "save_snapshot", conflicts_with = "snapshot")]
    precondition_only: bool,
}

/// Where results go.
#[derive(Args, Debug)]
#[command(next_help_heading = "Results")]
struct OutputArgs {
    /// Write result.json, plots (SVG) and config.toml, which repeats the run, to this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Write one row per request to this file: CSV, compressed if it ends in .zst
    #[arg(long, value_name = "FILE")]
    request_log: Option<PathBuf>,

    /// What tables call this run [default: the last part of --out, or the name of the workload]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Print the result as JSON instead of tables
    #[arg(long)]
    json: bool,

    /// Print nothing but errors
    #[arg(short, long, conflicts_with = "json")]
    quiet: bool,
}

/// Runs a workload.
pub fn run(args: &Run, out: &mut dyn Write) -> Result<(), Failure> {
    let config = args.input.as_deref().filter(|path| is_config(path));
    let inputs = Inputs::read(&args.drive, config, args.measurement.layers()?)?;
    args.check_places()?;
    let progress = Progress::new(args.output.quiet);
    let Some(spec) = args.workload(&inputs)? else {
        return args.without_workload(&inputs, &progress);
    };
    let prepared = progress.survey(&spec)?;
    let plan = Plan::new(&inputs, Some((&spec, &prepared)))?;
    args.tell(&progress, &plan.notes);
    let mut drive = args.drive(&plan)?;
    if args.measurement.precondition_only {
        return args.age(&plan, &mut drive, &progress);
    }
    let measured = args.measure(&plan, &spec, &prepared, &mut drive, &progress);
    progress.finish();
    let (result, failure) = match measured {
        Ok(result) => (Some(Box::new(result)), None),
        Err(error) => {
            let failure = Failure::from(&error);
            (error.result, Some(failure))
        }
    };
    if let Some(result) = &result {
        args.write(&plan, &spec, result, out)?;
        args.tell(&progress, &lost(result));
    }
    if let Some(path) = &args.measurement.save_snapshot {
        save(&drive, &plan, path)?;
    }
    let failed = result.and_then(|result| unserved(&result));
    failure.or(failed).map_or(Ok(()), Err)
}

/// A complaint if requests were not served, or not in success. Reads that could not be corrected are what the cells
/// gave, and part of the result.
fn unserved(result: &RunResult) -> Option<Failure> {
    if result.requests_served != result.requests_generated {
        let (served, generated) = (result.requests_served, result.requests_generated);
        return Some(Failure::work(format!("{served} of {generated} requests were served")));
    }
    let uncorrectable = Status::Uncorrectable.name();
    let others = result.failed_by_status.iter().filter(|(status, _)| *status != uncorrectable);
    let by_status: Vec<String> = others.map(|(status, count)| format!("{count} {status}")).collect();
    if by_status.is_empty() {
        return None;
    }
    let failed = result.requests_failed - result.requests_uncorrectable;
    Some(Failure::work(format!("{failed} requests failed: {}", by_status.join(", "))))
}

/// What to say of data that could not be read.
fn lost(result: &RunResult) -> Vec<String> {
    if result.requests_uncorrectable + result.ftl.lost_units == 0 {
        return Vec::new();
    }
    let (requests, units) = (result.requests_uncorrectable, result.ftl.lost_units);
    vec![format!("data loss: {requests} requests ended uncorrectable, {units} units lost")]
}

impl MeasurementArgs {
    /// The flags as settings of the configuration, so that they are checked like those.
    fn layers(&self) -> Result<Vec<Layer>, Failure> {
        let mut layers = Vec::new();
        let mut add = |flag: String, key: &str, value: &str| -> Result<(), Failure> {
            let mut layer = Layer::set(&format!("{key}={value}")).map_err(|_| {
                Failure::usage(format!("{flag}: found {value:?}, allowed: a value for {key}"))
            })?;
            layer.source = flag;
            layers.push(layer);
            Ok(())
        };
        if let Some(depth) = &self.closed {
            if depth.trim_start_matches('0').is_empty() {
                return Err(Failure::usage(format!(
                    "--closed {depth}: run.depth\n    found:   {depth} requests in flight\n    allowed: 1 to 65536"
                )));
            }
            add(format!("--closed {depth}"), "run.loop_mode", "closed")?;
            add(format!("--closed {depth}"), "run.depth", depth)?;
        }
        if self.open {
            add("--open".to_owned(), "run.loop_mode", "open")?;
        }
        if let Some(count) = &self.warm_up {
            add(format!("--warm-up {count}"), "run.warm_up_requests", count)?;
        }
        if let Some(seed) = &self.seed {
            add(format!("--seed {seed}"), "drive.seed", seed)?;
        }
        if !self.age.is_empty() {
            let steps = self.age_steps()?;
            add(format!("--age {}", steps.texts().join(" --age ")), "run.age", &steps.show())?;
        }
        if let Some(how) = &self.precondition {
            for (key, value) in preconditioning(how)? {
                add(format!("--precondition {how}"), key, &value)?;
            }
        }
        Ok(layers)
    }
}

impl MeasurementArgs {
    /// The steps of `--age`.
    fn age_steps(&self) -> Result<AgeSteps, Failure> {
        let mut steps = AgeSteps::default();
        for text in &self.age {
            let step = AgeSteps::parse(&[text]).map_err(|problem| {
                let origin = Some(Origin { source: format!("--age {text:?}"), line: None });
                let keys = vec![KeyAt { key: "run.age".to_owned(), origin: origin.clone() }];
                ConfigErrors::from(ConfigError { keys, origin, problem })
            })?;
            steps.0.extend(step.0);
        }
        Ok(steps)
    }
}

/// `none`, `fill=P`, `steady`, `times=X`, joined by commas, as keys of the `[run]` table.
fn preconditioning(how: &str) -> Result<Vec<(&'static str, String)>, Failure> {
    let mut settings = Vec::new();
    let mut overwrite = ("run.overwrite", "none".to_owned());
    for part in how.split(',').map(str::trim) {
        match part.split_once('=').map_or((part, ""), |(name, value)| (name.trim(), value.trim())) {
            ("none", "") => settings.push(("run.fill_percent", "0".to_owned())),
            ("fill", percent) if !percent.is_empty() => {
                settings.push(("run.fill_percent", percent.trim_end_matches('%').to_owned()));
            }
            ("steady", "") => overwrite.1 = "steady_state".to_owned(),
            ("times", times) if !times.is_empty() => {
                overwrite.1 = "times".to_owned();
                settings.push(("run.overwrite_times", times.to_owned()));
            }
            _ => {
                return Err(Failure::usage(format!(
                    "--precondition: found {part:?}, allowed: none, fill=PERCENT, steady, times=X, or several of them \
                     with commas"
                )));
            }
        }
    }
    settings.push(overwrite);
    Ok(settings)
}

impl Run {
    /// The workload: the trace named, the generator described, or the table of the configuration.
    fn workload(&self, inputs: &Inputs) -> Result<Option<Spec>, Failure> {
        let configured = inputs.workload()?;
        let trace = self.input.as_deref().filter(|path| !is_config(path));
        let mut spec = match (trace, self.synthetic.any()) {
            (Some(path), true) => {
                let both = format!("both a trace ({}) and a generated workload", path.display());
                return Err(Failure::usage(format!("{both}; allowed: one of the two")));
            }
            (Some(path), false) => with_path(configured, path),
            (None, true) => self.synthetic.start(configured)?,
            (None, false) => match configured {
                Some(spec) => spec,
                None => return Ok(None),
            },
        };
        self.trace.apply(&mut spec)?;
        self.replay.apply(&mut spec)?;
        self.synthetic.apply(&mut spec)?;
        set(&mut spec, "--seed", "seed", self.measurement.seed.as_deref())?;
        inputs.set_workload(&mut spec)?;
        spec.check()?;
        if let Spec::Trace(trace) = &mut spec
            && self.replay.address.is_none()
            && inputs.workload_origin("address").is_none()
        {
            trace.address = inputs.address_policy();
        }
        Ok(Some(spec))
    }

    /// Can results be written where they are wanted? Asked before the work, not after.
    fn check_places(&self) -> Result<(), Failure> {
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

    /// With nothing to run, a drive can still be aged and saved.
    fn without_workload(&self, inputs: &Inputs, progress: &Progress) -> Result<(), Failure> {
        if !self.measurement.precondition_only {
            let message = "nothing to run: name a trace, a configuration with the table [workload], or --synthetic \
                           PATTERN (see wordline run --help)";
            return Err(Failure::usage(message));
        }
        let plan = Plan::new(inputs, None)?;
        self.tell(progress, &plan.notes);
        let mut drive = self.drive(&plan)?;
        self.age(&plan, &mut drive, progress)
    }

    /// Remarks on what will be done, for people; results go elsewhere.
    fn tell(&self, progress: &Progress, notes: &[String]) {
        if !self.output.quiet {
            for note in notes {
                progress.print(note);
            }
        }
    }

    /// The drive: a new one, or the one that was saved.
    fn drive(&self, plan: &Plan) -> Result<Drive, Failure> {
        let config = &plan.resolved.config;
        let Some(path) = &self.measurement.snapshot else { return Ok(Drive::new(config)?) };
        let bytes = std::fs::read(path).map_err(|e| Failure::file(path, "read the snapshot", &e))?;
        Drive::restore(config, &bytes).map_err(|error| {
            let hint = match error {
                ssd::snapshot::SnapshotError::OtherConfig { .. } => {
                    format!("\n    the drive it was saved with: --config {}", beside(path).display())
                }
                _ => String::new(),
            };
            Failure::usage(format!("{}: {error}{hint}", path.display()))
        })
    }

    /// Ages the drive and saves it.
    fn age(&self, plan: &Plan, drive: &mut Drive, progress: &Progress) -> Result<(), Failure> {
        let config = &plan.resolved.config;
        let wanted = plan.run.preconditioning();
        let aged = lab::prepare(drive, config, &wanted, &plan.run.age, &mut |at| progress.phase(at));
        progress.finish();
        let aged = aged.map_err(|failure| Failure::from(&lab::RunError::from(failure)))?;
        let amplification =
            aged.write_amplification.map_or(String::new(), |x| format!(", write amplification {x:.3}"));
        let steps: String = aged.age_steps.iter().map(|step| format!(", {step}")).collect();
        let note = format!(
            "aged: {} units filled, {} overwritten{amplification}{steps}",
            aged.units_filled, aged.units_overwritten
        );
        self.tell(progress, &[note]);
        self.measurement.save_snapshot.as_deref().map_or(Ok(()), |path| save(drive, plan, path))
    }

    fn measure(
        &self,
        plan: &Plan,
        spec: &Spec,
        prepared: &Prepared,
        drive: &mut Drive,
        progress: &Progress,
    ) -> Result<RunResult, lab::RunError> {
        let mut run = RunSpec {
            name: self.name(spec),
            request_log: self.output.request_log.clone(),
            workload_hash: prepared.workload_hash(),
            ..plan.run.spec(spec)
        };
        if self.measurement.snapshot.is_some() {
            run.preconditioning = lab::Preconditioning::default();
            // Those of the file were taken before the drive was saved; the flags ask for more.
            if self.measurement.age.is_empty() {
                run.age = AgeSteps::default();
            }
        }
        let mut source = prepared.open(drive.logical_sectors()).map_err(lab::Failure::Workload)?;
        lab::run(drive, &plan.resolved.config, &mut *source, &run, &mut |at| progress.phase(at))
    }

    /// What tables call the run.
    fn name(&self, spec: &Spec) -> String {
        let last = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
        let from_folder = || self.output.out.as_deref().and_then(last);
        self.output.name.clone().or_else(from_folder).unwrap_or_else(|| spec.title())
    }

    /// Everything the user wants to have of the result.
    fn write(
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
fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".toml");
    PathBuf::from(name)
}

/// Writes the drive, and its configuration beside it.
fn save(drive: &Drive, plan: &Plan, path: &Path) -> Result<(), Failure> {
    let write = || -> io::Result<()> {
        let mut file = BufWriter::new(File::create(path)?);
        drive.save(&mut file)?;
        file.flush()
    };
    write().map_err(|e| Failure::file(path, "write the snapshot", &e))?;
    let config = beside(path);
    std::fs::write(&config, plan.resolved.to_toml()).map_err(|e| Failure::file(&config, "write", &e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preconditioning_in_words() {
        let keys = |how| preconditioning(how).unwrap();
        assert_eq!(keys("none"), [("run.fill_percent", "0".into()), ("run.overwrite", "none".into())]);
        assert_eq!(keys("fill=75%"), [("run.fill_percent", "75".into()), ("run.overwrite", "none".into())]);
        assert_eq!(keys("steady"), [("run.overwrite", "steady_state".into())]);
        let both = [
            ("run.fill_percent", "50".into()),
            ("run.overwrite_times", "2".into()),
            ("run.overwrite", "times".into()),
        ];
        assert_eq!(keys("fill=50, times=2"), both);
        for how in ["", "fill", "full", "steady=3", "fill=75,"] {
            assert!(preconditioning(how).unwrap_err().message().unwrap().contains("allowed"), "{how}");
        }
    }
}
