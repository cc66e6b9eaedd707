//! Flags that describe a workload: a trace and what is to be done with it, or a generator.

use clap::Args;
use lab::job::{Given, with_path};
use ssd::config::{Layer, Value};
use std::path::Path;
use workload::{SECTOR_BYTES, Spec, SyntheticSpec, TraceSpec};

use crate::failure::Failure;

/// A workload, and what flags have set of it.
pub struct Flagged {
    pub spec: Spec,
    pub given: Given,
}

impl From<Spec> for Flagged {
    fn from(spec: Spec) -> Self {
        Flagged { spec, given: Given::default() }
    }
}

/// What is to be done with a trace.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Trace")]
pub struct TraceArgs {
    /// Format of the trace, if it cannot be recognised (see `wordline formats`)
    #[arg(long, value_name = "NAME")]
    pub format: Option<String>,

    /// Unit of the trace's times: ns, us, ms or s [default: the format's, or inferred from the trace's rate]
    #[arg(long, value_name = "UNIT")]
    pub time_unit: Option<String>,

    /// Unit of its addresses and sizes: bytes, sectors, kib or 4kib [default: the format's, or inferred from the
    /// values]
    #[arg(long, value_name = "UNIT")]
    pub address_unit: Option<String>,

    /// Events of a block trace that are requests: queue (Q), issue (D: what the drive got) or complete (C) [default:
    /// queue; issue without any]
    #[arg(long, value_name = "EVENT")]
    pub event: Option<String>,

    /// Columns of a CSV, by number from 1 or by name: time=1:us,op=3,offset=4:bytes,size=5 (see `wordline formats csv`)
    #[arg(long, value_name = "COLUMNS")]
    pub columns: Option<String>,

    /// What separates these columns: comma, tab, blank, or a mark such as ; [default: comma]
    #[arg(long, value_name = "MARK")]
    pub separator: Option<String>,

    /// Whether its first line names the columns: yes, no or auto [default: auto]
    #[arg(long, value_name = "YES|NO", num_args = 0..=1, default_missing_value = "yes", require_equals = true)]
    pub header: Option<String>,

    /// Keep only these devices (what some traces call volumes), by number: 3, or 3,5
    #[arg(long, value_name = "NUMBERS", visible_alias = "volume")]
    pub device: Option<String>,

    /// Keep only requests of the process with this name
    #[arg(long, value_name = "NAME")]
    pub process: Option<String>,

    /// Keep only some of read, write, trim, flush, such as read,trim
    #[arg(long, value_name = "NAMES")]
    pub operations: Option<String>,

    /// Keep only requests that begin at addresses of their device from A up to B, such as 0..64GiB, or 64GiB..
    #[arg(long, value_name = "A..B")]
    pub addresses: Option<String>,

    /// Keep only requests that arrive from A up to B seconds after the first, such as 3600..7200, or 60..
    #[arg(long, value_name = "A..B")]
    pub seconds: Option<String>,

    /// Skip the first N requests that pass the filters above
    #[arg(long, value_name = "N")]
    pub skip: Option<String>,

    /// Keep only the first N of the requests that are left
    #[arg(long, value_name = "N")]
    pub first: Option<String>,

    /// Option of fio for a job file that says nothing of it, as on fio's command line: --fio-set size=10g
    #[arg(long, value_name = "KEY=VALUE")]
    pub fio_set: Vec<String>,

    /// Skip damaged lines, count them and say so, instead of stopping at the first one
    #[arg(long)]
    pub skip_bad_lines: bool,
}

/// How a workload is replayed.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Replay")]
pub struct ReplayArgs {
    /// Repeat the workload N times
    #[arg(long, value_name = "N")]
    pub repeat: Option<String>,

    /// Replay the workload for N users at once, each gap being the original one times a random factor, U(0,2)
    #[arg(long, value_name = "N")]
    pub copies: Option<String>,

    /// Divide all arrival times by X (a number, or a fraction such as 3/2)
    #[arg(long, value_name = "X")]
    pub speed_up: Option<String>,

    /// Whether the devices of a trace or a fio job file are one drive, together, or each is a drive with a result of
    /// its own; striped: all is for a RAID 0 of two drives, or workload.stripe_drives [default: each for jobs on
    /// several /dev/..., together for traces]
    #[arg(long, value_name = "HOW")]
    pub drives: Option<String>,

    /// How addresses map to the drive: compact, wrap or as_is [default: wrap; compact on a drive sized for the
    /// trace]
    #[arg(long, value_name = "POLICY")]
    pub address: Option<String>,
}

/// A generated workload.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Generated workload")]
pub struct SyntheticArgs {
    /// A shipped stand-in for a paper's trace, such as ads, or a profile of an application on files, such as varmail
    /// (see `wordline presets`)
    #[arg(long, value_name = "NAME", conflicts_with = "synthetic")]
    pub workload: Option<String>,

    /// Generate requests instead of reading a trace: uniform, sequential or zipf
    #[arg(long, value_name = "PATTERN")]
    pub synthetic: Option<String>,

    /// Number of requests [default: 1000000]
    #[arg(long, value_name = "N")]
    pub requests: Option<String>,

    /// Share of reads; the others are writes [default: 70]
    #[arg(long, value_name = "PERCENT")]
    pub read_percent: Option<String>,

    /// Size of a request, or several with weights: 4KiB, or 4KiB:9,64KiB:1, each at multiples of itself [default:
    /// 4KiB]; or footprint, for any workload: make the drive as small as the space touched (both: --size 4KiB --size
    /// footprint)
    #[arg(long, value_name = "SIZE")]
    pub size: Vec<String>,

    /// Zipf skew: A % of the accesses go to S % of the space, such as 80/20; or the exponent, such as 1.2
    #[arg(long, value_name = "A/S")]
    pub zipf: Option<String>,

    /// Zipf: the exponent, instead of --zipf
    #[arg(long, value_name = "THETA", conflicts_with = "zipf")]
    pub zipf_theta: Option<String>,

    /// Address space to use: a size such as 8GiB, or a share of the drive such as 50% [default: 100%, or the stand-in's
    /// own]
    #[arg(long, value_name = "SPACE")]
    pub footprint: Option<String>,

    /// Requests per second, arriving at random (Poisson); without it the queue is kept full
    #[arg(long, value_name = "IOPS")]
    pub rate: Option<String>,
}

impl TraceArgs {
    /// Whether a flag leaves requests out.
    pub fn selects(&self) -> bool {
        let filters = [
            &self.device,
            &self.process,
            &self.operations,
            &self.addresses,
            &self.seconds,
            &self.skip,
            &self.first,
        ];
        filters.into_iter().any(Option::is_some)
    }

    /// Applies the flags.
    pub fn apply(&self, spec: &mut Flagged) -> Result<(), Failure> {
        set(spec, "--format", "format", self.format.as_deref())?;
        set(spec, "--time-unit", "time_unit", self.time_unit.as_deref())?;
        set(spec, "--address-unit", "address_unit", self.address_unit.as_deref())?;
        set(spec, "--event", "event", self.event.as_deref())?;
        set(spec, "--columns", "columns", quoted(&self.columns).as_deref())?;
        set(spec, "--separator", "separator", quoted(&self.separator).as_deref())?;
        set(spec, "--header", "header", self.header.as_deref())?;
        self.filter(spec)?;
        let options = self.fio_set.iter().map(|option| Value::Text(option.clone()).to_string());
        let options =
            (!self.fio_set.is_empty()).then(|| format!("[{}]", options.collect::<Vec<_>>().join(", ")));
        set(spec, "--fio-set", "options", options.as_deref())?;
        set(spec, "--first", "first", self.first.as_deref())?;
        if let (Some(found), Spec::Trace(TraceSpec { first: 0, .. })) = (&self.first, &spec.spec) {
            let allowed = "a whole number from 1 (without --first the whole trace is taken)";
            return Err(Failure::usage(format!("--first: found {found}, allowed: {allowed}")));
        }
        set(spec, "--skip-bad-lines", "on_bad_line", self.skip_bad_lines.then_some("skip"))
    }

    /// Applies the flags that leave requests out.
    fn filter(&self, spec: &mut Flagged) -> Result<(), Failure> {
        let devices = self.device.as_ref().map(|numbers| match numbers.contains(',') {
            true => format!("[{numbers}]"),
            false => numbers.clone(),
        });
        set(spec, "--device", "devices", devices.as_deref())?;
        set(spec, "--process", "process", quoted(&self.process).as_deref())?;
        set(spec, "--operations", "operations", self.operations.as_deref())?;
        if let Some(text) = &self.addresses {
            let fail = |failure: Failure| failure.about("--addresses");
            let (from, to) = range(text).map_err(fail)?;
            for (key, place) in [("from_sector", from), ("end_sector", to)] {
                let Some(place) = place else { continue };
                let bytes = size(place).map_err(fail)?;
                if !bytes.is_multiple_of(SECTOR_BYTES) {
                    return Err(fail(Failure::usage(format!(
                        "found {place}, allowed: a multiple of 512 bytes"
                    ))));
                }
                set(spec, "--addresses", key, Some(&(bytes / SECTOR_BYTES).to_string()))?;
            }
        }
        if let Some(text) = &self.seconds {
            let (from, to) = range(text).map_err(|failure| failure.about("--seconds"))?;
            set(spec, "--seconds", "from_s", from)?;
            set(spec, "--seconds", "to_s", to)?;
        }
        set(spec, "--skip", "skip", self.skip.as_deref())
    }
}

impl ReplayArgs {
    /// Applies the flags.
    pub fn apply(&self, spec: &mut Flagged) -> Result<(), Failure> {
        set(spec, "--repeat", "repeat", self.repeat.as_deref())?;
        set(spec, "--copies", "copies", self.copies.as_deref())?;
        // As text, so that 3/2 is a fraction and 2.5 stays exact.
        set(spec, "--speed-up", "speed_up", quoted(&self.speed_up).as_deref())?;
        set(spec, "--drives", "drives", self.drives.as_deref())?;
        set(spec, "--address", "address", self.address.as_deref())
    }
}

impl SyntheticArgs {
    /// The flags that were given.
    fn given(&self) -> Vec<&'static str> {
        let flags = [
            ("--synthetic", self.synthetic.is_some()),
            ("--workload", self.workload.is_some()),
            ("--requests", self.requests.is_some()),
            ("--read-percent", self.read_percent.is_some()),
            ("--size", self.request_size().is_some()),
            ("--zipf", self.zipf.is_some()),
            ("--zipf-theta", self.zipf_theta.is_some()),
            ("--footprint", self.footprint.is_some()),
            ("--rate", self.rate.is_some()),
        ];
        flags.into_iter().filter(|(_, is_given)| *is_given).map(|(flag, _)| flag).collect()
    }

    /// Whether any of the flags was given.
    pub fn any(&self) -> bool {
        !self.given().is_empty()
    }

    /// What to say of the flags beside a file that is a workload: which they are, and what does the same to a file.
    /// `is_run` tells whether it is run, or only looked at.
    pub fn refused_beside(&self, file: &Path, is_run: bool) -> Failure {
        let spec = with_path(None, file);
        let is_trace = matches!(spec, Spec::Trace(_));
        let what = match spec {
            Spec::Fio(_) => "a job file",
            Spec::Capture(_) => "a capture",
            _ => "a trace",
        };
        let given = self.given();
        let mut ways = Vec::new();
        if given.contains(&"--requests") {
            ways.extend(is_trace.then_some("--first N keeps its first N requests"));
            ways.extend(is_run.then_some("--set run.requests=N ends the run after N"));
        }
        if given.contains(&"--rate") && is_trace && is_run {
            ways.push("--speed-up X divides its times");
        }
        let ways: String = ways.into_iter().map(|way| format!("; {way}")).collect();
        let (file, flags) = (file.display(), given.join(", "));
        Failure::usage(format!(
            "both {what} ({file}) and a generated workload ({flags}); allowed: one of the two{ways}"
        ))
    }

    /// What `--size` says of requests.
    fn request_size(&self) -> Option<&String> {
        self.size.iter().find(|size| *size != FOOTPRINT)
    }

    /// `--size footprint` as a setting; `--size` says either thing once.
    pub fn layers(&self) -> Result<Vec<Layer>, Failure> {
        let (of_drive, of_requests): (Vec<&String>, Vec<&String>) =
            self.size.iter().partition(|size| *size == FOOTPRINT);
        if of_drive.len() > 1 || of_requests.len() > 1 {
            let found = self.size.join(" --size ");
            let allowed = "the size of requests once (several: 4KiB:9,64KiB:1), and footprint once";
            return Err(Failure::usage(format!(
                "--size {found}\n    found:   {} sizes\n    allowed: {allowed}",
                self.size.len()
            )));
        }
        if of_drive.is_empty() {
            return Ok(Vec::new());
        }
        let mut layer = Layer::set("run.size=footprint")?;
        layer.source = format!("--size {FOOTPRINT}");
        Ok(vec![layer])
    }

    /// What the flags are applied to: the stand-in named, what the configuration has, or a generator with all defaults.
    pub fn start(&self, configured: Option<Spec>) -> Result<Flagged, Failure> {
        let spec = configured.unwrap_or_else(|| Spec::Synthetic(SyntheticSpec::default()));
        let is_whole = self.workload.is_some();
        let mut spec = Flagged { spec, given: Given { is_whole, ..Given::default() } };
        set(&mut spec, "--workload", "preset", quoted(&self.workload).as_deref())?;
        Ok(spec)
    }

    /// Applies the flags.
    pub fn apply(&self, spec: &mut Flagged) -> Result<(), Failure> {
        let is_zipf = self.zipf.is_some() || self.zipf_theta.is_some();
        if let Some(other) = self.synthetic.as_deref().filter(|pattern| is_zipf && *pattern != "zipf") {
            return Err(Failure::usage(format!(
                "--zipf with --synthetic {other}; allowed: --synthetic zipf"
            )));
        }
        let pattern = self.synthetic.as_deref().or((is_zipf && self.workload.is_none()).then_some("zipf"));
        set(spec, "--synthetic", "pattern", pattern)?;
        set(spec, "--requests", "count", self.requests.as_deref())?;
        set(spec, "--read-percent", "read_percent", self.read_percent.as_deref())?;
        if let Some(text) = self.request_size() {
            set(spec, "--size", "size_bytes", Some(&sizes(text).map_err(|e| e.about("--size"))?))?;
        }
        if let Some(text) = &self.zipf {
            match text.split_once('/') {
                Some((accesses, space)) => {
                    set(spec, "--zipf", "zipf_access_percent", Some(accesses.trim()))?;
                    set(spec, "--zipf", "zipf_space_percent", Some(space.trim()))?;
                }
                // Nobody means 1.2 % of the accesses.
                None if text.trim().parse().is_ok_and(|theta: f64| theta > 0.0 && theta <= THETA_MAX) => {
                    set(spec, "--zipf", "zipf_theta", Some(text.trim()))?;
                }
                None => {
                    return Err(Failure::usage(format!(
                        "--zipf: found {text:?}, allowed: % of accesses / % of space, such as 80/20, or an exponent up \
                         to {THETA_MAX}, such as 1.2 (--zipf-theta takes larger ones)"
                    )));
                }
            }
        }
        set(spec, "--zipf-theta", "zipf_theta", self.zipf_theta.as_deref())?;
        if let Some(text) = &self.footprint {
            let (key, value) = footprint(text).map_err(|e| e.about("--footprint"))?;
            set(spec, "--footprint", key, Some(&value))?;
        }
        if self.rate.is_some() {
            set(spec, "--rate", "arrival", Some("poisson"))?;
            set(spec, "--rate", "rate_iops", self.rate.as_deref())?;
        }
        Ok(())
    }
}

/// What `--size` calls a drive as small as its workload.
const FOOTPRINT: &str = "footprint";

/// Exponents that `--zipf` takes for one; above, a share without its other half is more likely.
const THETA_MAX: f64 = 4.0;

/// What a flag was given as text of a configuration, whatever it looks like.
fn quoted(text: &Option<String>) -> Option<String> {
    text.as_ref().map(|text| Value::Text(text.clone()).to_string())
}

/// Sets a key that a flag stands for, if the flag was given.
pub fn set(to: &mut Flagged, flag: &str, key: &str, value: Option<&str>) -> Result<(), Failure> {
    let Some(value) = value else { return Ok(()) };
    to.given.keys.insert(key.to_owned(), flag.to_owned());
    to.spec.set(key, value).map_err(|e| Failure::from(e).about(flag))
}

/// The two ends of `A..B`; either may be left out.
fn range(text: &str) -> Result<(Option<&str>, Option<&str>), Failure> {
    let ends = text.split_once("..").map(|(from, to)| (from.trim(), to.trim()));
    match ends {
        Some((from, to)) if from != to => {
            Ok((Some(from).filter(|from| !from.is_empty()), Some(to).filter(|to| !to.is_empty())))
        }
        _ => Err(Failure::usage(format!("found {text:?}, allowed: A..B, A.. or ..B"))),
    }
}

/// Bytes of a size such as `4096`, `4KiB`, `4k` or `1GiB`.
pub fn size(text: &str) -> Result<u64, Failure> {
    let allowed = || {
        Failure::usage(format!(
            "found {text:?}, allowed: bytes, or a number with KiB, MiB or GiB, such as 4KiB"
        ))
    };
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let shift = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kib" => 10,
        "m" | "mib" => 20,
        "g" | "gib" => 30,
        "t" | "tib" => 40,
        _ => return Err(allowed()),
    };
    let number: u64 = number.parse().map_err(|_| allowed())?;
    number.checked_mul(1 << shift).ok_or_else(allowed)
}

/// Sizes with weights as the value of `size_bytes`.
fn sizes(text: &str) -> Result<String, Failure> {
    if !text.contains([',', ':']) {
        return size(text.trim()).map(|bytes| bytes.to_string());
    }
    let mut list = Vec::new();
    for item in text.split(',') {
        let (bytes, weight) = item.split_once(':').unwrap_or((item, "1"));
        let weight: u64 = weight.trim().parse().map_err(|_| {
            Failure::usage(format!("found weight {weight:?}, allowed: a whole number from 1, such as 4KiB:9"))
        })?;
        list.push(format!("[{}, {weight}]", size(bytes.trim())?));
    }
    Ok(format!("[{}]", list.join(", ")))
}

/// A space as key and value: a share of the drive or a size.
fn footprint(text: &str) -> Result<(&'static str, String), Failure> {
    if let Some(percent) = text.strip_suffix('%') {
        return Ok(("footprint_percent", percent.trim().to_owned()));
    }
    let bytes = size(text)?;
    // In the configuration 0 stands for a share of the drive; here it can only be a mistake.
    if bytes == 0 {
        let allowed = "a size above 0 such as 8GiB, or a share of the drive such as 50%";
        return Err(Failure::usage(format!("found {text:?}, allowed: {allowed}")));
    }
    let gib = bytes as f64 / (1u64 << 30) as f64;
    Ok(("footprint_gib", format!("{gib:?}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab::job::with_path;
    use std::path::Path;

    #[test]
    fn sizes_have_binary_units() {
        for (text, bytes) in
            [("512", 512), ("4k", 4_096), ("4KiB", 4_096), ("2 MiB", 2 << 20), ("1G", 1 << 30)]
        {
            assert_eq!(size(text).unwrap(), bytes, "{text}");
        }
        for text in ["", "KiB", "4KB", "-1", "1.5MiB", "99999999999999999999", "99999999999TiB"] {
            let error = size(text).unwrap_err();
            assert!(error.message().unwrap().contains("allowed"), "{text}");
        }
        assert_eq!(sizes("4KiB:9, 64KiB").unwrap(), "[[4096, 9], [65536, 1]]");
        assert_eq!(footprint("50%").unwrap(), ("footprint_percent", "50".to_owned()));
        assert_eq!(footprint("512MiB").unwrap(), ("footprint_gib", "0.5".to_owned()));
    }

    #[test]
    fn flags_become_settings() {
        let args = SyntheticArgs {
            zipf: Some("90/10".into()),
            requests: Some("5".into()),
            rate: Some("1000".into()),
            ..SyntheticArgs::default()
        };
        let mut spec = args.start(None).unwrap();
        args.apply(&mut spec).unwrap();
        let entries = spec.spec.entries();
        for expected in [
            ("pattern", "\"zipf\""),
            ("count", "5"),
            ("zipf_space_percent", "10.0"),
            ("arrival", "\"poisson\""),
        ] {
            assert!(entries.iter().any(|(k, v)| (*k, v.as_str()) == expected), "{expected:?} in {entries:?}");
        }
        for process in ["java", "12", "Tom's caf\u{e9}", "tab\t and \"quote\""] {
            let args = TraceArgs { process: Some(process.into()), ..TraceArgs::default() };
            let mut trace = Flagged::from(with_path(None, Path::new("t.csv")));
            args.apply(&mut trace).unwrap();
            let Spec::Trace(trace) = trace.spec else { panic!("not a trace") };
            assert_eq!(trace.process, process);
        }
        let replay = ReplayArgs { speed_up: Some("3/2".into()), ..ReplayArgs::default() };
        let mut trace = Flagged::from(with_path(None, Path::new("5")));
        replay.apply(&mut trace).unwrap();
        let trace = trace.spec;
        assert!(trace.entries().contains(&("speed_up", "\"3/2\"".to_owned())));
        assert!(trace.entries().contains(&("path", "\"5\"".to_owned())));
    }
}
