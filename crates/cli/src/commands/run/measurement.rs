//! How the workload is run: the flags, as settings of the configuration.

use std::path::PathBuf;

use clap::Args;
use ssd::config::{Layer, Parameter};

use super::ages::AgeArgs;
use crate::caching::CacheArgs;
use crate::failure::Failure;

/// How the workload is run.
#[derive(Args, Debug)]
#[command(next_help_heading = "Measurement")]
pub struct MeasurementArgs {
    /// Keep N requests in flight, whatever their arrival times; queues that are not as deep become so, unless
    /// host.queues.depth is set [default for generators: 32]
    #[arg(long, value_name = "N", visible_aliases = ["depth", "queue-depth"])]
    pub closed: Option<String>,

    /// Issue requests at their arrival times [default for traces]
    #[arg(long, conflicts_with = "closed")]
    pub open: bool,

    /// Fill and overwrite the drive first: none, fill=PERCENT, steady, times=X, or several such as fill=75,times=2;
    /// with the workload's own writes (own) or at random (uniform) [default: own on a drive made for the workload]
    #[arg(long, value_name = "HOW")]
    pub precondition: Option<String>,

    #[command(flatten)]
    pub age: AgeArgs,

    /// Measure only after N requests
    #[arg(long, value_name = "N")]
    pub warm_up: Option<String>,

    /// Report what the slowest requests waited for: those at or above this latency percentile, such as 99.9
    #[arg(long, value_name = "PERCENT")]
    pub explain_tail: Option<String>,

    /// Seed of the drive's random numbers, and of a generator's
    #[arg(long, value_name = "N")]
    pub seed: Option<String>,

    /// Start from a saved drive instead of ageing one; it must have the same configuration
    #[arg(long, value_name = "FILE", conflicts_with = "precondition")]
    pub snapshot: Option<PathBuf>,

    /// Save the drive at the end, and its configuration to FILE.toml
    #[arg(long, value_name = "FILE")]
    pub save_snapshot: Option<PathBuf>,

    #[command(flatten)]
    pub cache: CacheArgs,

    /// Do not use the cache of aged drives (see `wordline cache`)
    #[arg(long, conflicts_with = "snapshots")]
    pub no_cache: bool,

    /// Stop once the drive is aged; a workload is used only to size and age it
    #[arg(long, requires = "save_snapshot", conflicts_with = "snapshot")]
    pub precondition_only: bool,
}

impl MeasurementArgs {
    /// The flags as settings of the configuration, so that they are checked like those.
    pub fn layers(&self) -> Result<Vec<Layer>, Failure> {
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
            if is_zero(depth) {
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
        if let Some(percent) = &self.explain_tail {
            add(format!("--explain-tail {percent}"), "run.explain_tail", percent.trim_end_matches('%'))?;
        }
        if let Some(seed) = &self.seed {
            add(format!("--seed {seed}"), "drive.seed", seed)?;
        }
        let steps = self.age.steps()?;
        if !self.age.is_empty() {
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

/// Whether a text is the number 0 in any of its spellings, which would stand for the default.
fn is_zero(text: &str) -> bool {
    let text = text.trim();
    text.is_empty() || text.replace('_', "").parse().is_ok_and(|number: f64| number == 0.0)
}

/// `none`, `fill=P`, `steady`, `times=X`, `own` or `uniform`, joined by commas, as keys of the `[run]` table.
fn preconditioning(how: &str) -> Result<Vec<(&'static str, String)>, Failure> {
    check_contradictions(how)?;
    let mut settings = Vec::new();
    let (mut overwrite, mut names_a_past) = (None, false);
    for part in how.split(',').map(str::trim) {
        match part.split_once('=').map_or((part, ""), |(name, value)| (name.trim(), value.trim())) {
            ("none", "") => settings.push(("run.fill_percent", "0".to_owned())),
            ("fill", percent) if !percent.is_empty() => {
                settings.push(("run.fill_percent", percent.trim_end_matches('%').to_owned()));
            }
            ("steady", "") => overwrite = Some("steady_state"),
            ("times", times) if !times.is_empty() => {
                overwrite = Some("times");
                settings.push(("run.overwrite_times", times.to_owned()));
            }
            (past @ ("own" | "uniform"), "") => {
                names_a_past = true;
                settings.push(("run.past", past.to_owned()));
            }
            _ => {
                let percent = part.trim_end_matches('%').parse::<f64>().is_ok();
                let meant = if percent { format!("\n    did you mean fill={part}?") } else { String::new() };
                return Err(Failure::usage(format!(
                    "--precondition: found {part:?}, allowed: none, fill=PERCENT, steady, times=X, own, uniform, or \
                     several of them with commas{meant}"
                )));
            }
        }
    }
    let how = overwrite.unwrap_or(if names_a_past { "steady_state" } else { "none" });
    settings.push(("run.overwrite", how.to_owned()));
    Ok(settings)
}

/// Refuses parts that say the same thing twice, or another thing.
fn check_contradictions(how: &str) -> Result<(), Failure> {
    let parts: Vec<&str> = how.split(',').map(str::trim).collect();
    let name = |part: &str| part.split_once('=').map_or(part, |(name, _)| name.trim()).to_owned();
    // Both say how the drive is overwritten.
    let about = |part: &str| match name(part).as_str() {
        "times" => "steady".to_owned(),
        "uniform" => "own".to_owned(),
        other => other.to_owned(),
    };
    for (place, part) in parts.iter().enumerate() {
        let other = parts[..place].iter().find(|other| {
            about(other) == about(part) || [name(other), name(part)].contains(&"none".to_owned())
        });
        if let Some(other) = other {
            return Err(Failure::usage(format!(
                "--precondition {how}: found both {other:?} and {part:?}, allowed: none alone, or fill=PERCENT once, \
                 with steady or times=X, and own or uniform"
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preconditioning_in_words() {
        let keys = |how| preconditioning(how).unwrap();
        assert_eq!(keys("own"), [("run.past", "own".into()), ("run.overwrite", "steady_state".into())]);
        let uniform = [("run.overwrite_times", "3".into()), ("run.past", "uniform".into())];
        assert_eq!(keys("times=3,uniform")[..2], uniform);
        assert_eq!(keys("none"), [("run.fill_percent", "0".into()), ("run.overwrite", "none".into())]);
        assert_eq!(keys("fill=75%"), [("run.fill_percent", "75".into()), ("run.overwrite", "none".into())]);
        assert_eq!(keys("steady"), [("run.overwrite", "steady_state".into())]);
        let both = [
            ("run.fill_percent", "50".into()),
            ("run.overwrite_times", "2".into()),
            ("run.overwrite", "times".into()),
        ];
        assert_eq!(keys("fill=50, times=2"), both);
        for how in [
            "",
            "fill",
            "full",
            "steady=3",
            "fill=75,",
            "none,steady",
            "fill=50%,fill=60",
            "steady,times=2",
            "none,none",
            "own,uniform",
            "none,own",
        ] {
            assert!(preconditioning(how).unwrap_err().message().unwrap().contains("allowed"), "{how}");
        }
    }
}
