//! Figures of a drive from what fio measured of it (`--output-format=json`).

use super::quantity::Dimension;
use super::sheet::{Figure, Measure, Sheet};
use crate::base::number::digits;
use crate::plan::job::JobError;
use serde_json::{Map, Value};
use std::path::Path;
use workload::fio::is_synchronous;

/// A result is no larger.
const LONGEST: u64 = 256 << 20;
/// Requests in flight from which a job measures throughput.
const DEEP: f64 = 16.0;

/// Adds the figures of a result of fio.
pub fn add(path: &Path, sheet: &mut Sheet) -> Result<(), JobError> {
    let failed = |action: &str, error: &dyn std::fmt::Display| JobError::file(path, action, error);
    let length = path.metadata().map_err(|error| failed("read", &error))?.len();
    if length > LONGEST {
        return Err(failed("read", &format!("{length} bytes are no result of fio's")));
    }
    let text = std::fs::read_to_string(path).map_err(|error| failed("read", &error))?;
    // With some options, fio prints lines before its JSON.
    let begin = text.find('{').unwrap_or(0);
    let whole: Value = serde_json::from_str(&text[begin..]).map_err(|error| {
        failed("read", &format!("{error}\n    allowed: what fio prints with --output-format=json"))
    })?;
    let Some(jobs) = whole.get("jobs").and_then(Value::as_array) else {
        return Err(failed("use", &"it has no jobs\n    allowed: what fio prints with --output-format=json"));
    };
    let empty = Map::new();
    let global = whole.get("global options").and_then(Value::as_object).unwrap_or(&empty);
    let version = whole.get("fio version").and_then(Value::as_str).unwrap_or("fio");
    let before = sheet.figures.len();
    let (mut found, mut others) = (Vec::<Found<'_>>::new(), Vec::new());
    for job in jobs {
        let name = job.get("jobname").and_then(Value::as_str).unwrap_or("without a name");
        let job = Measured { job, global };
        let (measure, value) = match job.figure() {
            Ok(figure) => figure,
            Err(what) => {
                others.push(format!("job {name}: {what}"));
                continue;
            }
        };
        let written = job.number("write", "io_bytes").unwrap_or(0.0);
        // Clones of a job that are not reported together each have their own.
        match found.iter_mut().find(|other| (other.name, other.measure) == (name, measure)) {
            Some(other) => {
                (other.value, other.written) = (other.value + value, other.written + written);
                other.clones += 1;
            }
            None => found.push(Found { name, measure, value, written, clones: 1 }),
        }
    }
    for job in found {
        let source = format!("{version}, {}, job {}", path.display(), job.name);
        sheet.figures.insert(job.measure, Figure { value: job.of_all(), source });
        let short =
            job.short(sheet.capacity).map(|text| format!("{}, job {}: {text}", path.display(), job.name));
        sheet.remarks.extend(short);
    }
    if sheet.figures.len() == before && !others.is_empty() {
        return Err(failed(
            "use",
            &format!(
                "no job of it measures what is fitted: {}\n    allowed: rw=read or write with bs of 64k or more; \
                 rw=randread, randwrite, or randrw with rwmixread=70, with bs=4k; or randread, randwrite at iodepth=1",
                others.join("; ")
            ),
        ));
    }
    sheet.remarks.extend(others.into_iter().map(|what| format!("{}: {what}: not used", path.display())));
    Ok(())
}

/// What the clones of a job measure, together.
struct Found<'a> {
    name: &'a str,
    measure: Measure,
    value: f64,
    written: f64,
    clones: u32,
}

impl Found<'_> {
    /// Throughputs add up; a latency is that of a request of any of them.
    fn of_all(&self) -> f64 {
        if self.measure.dimension() == Dimension::Time {
            self.value / f64::from(self.clones)
        } else {
            self.value
        }
    }

    /// Why its writes may not be those of a full drive.
    fn short(&self, capacity: f64) -> Option<String> {
        let is_written = matches!(self.measure, Measure::RandomWrite | Measure::Mixed);
        (is_written && self.written < capacity).then(|| {
            format!(
                "it wrote {}, less than the drive holds: unless the drive was full of random writes before, this is \
                 not its steady state",
                Dimension::Bytes.told(self.written)
            )
        })
    }
}

/// A job's result.
struct Measured<'a> {
    job: &'a Value,
    global: &'a Map<String, Value>,
}

impl Measured<'_> {
    fn option(&self, name: &str) -> Option<&str> {
        let own = self.job.get("job options").and_then(|options| options.get(name));
        own.or_else(|| self.global.get(name)).and_then(Value::as_str)
    }

    fn number(&self, kind: &str, name: &str) -> Option<f64> {
        self.job.get(kind)?.get(name)?.as_f64()
    }

    /// What it measures, and the value; or why that is not used.
    fn figure(&self) -> Result<(Measure, f64), String> {
        let rw = self.option("rw").or_else(|| self.option("readwrite")).unwrap_or("read");
        let size = self.option("bs").or_else(|| self.option("blocksize")).unwrap_or("4k");
        let bytes = size_of(size).ok_or_else(|| format!("bs={size}"))?;
        let number = |name: &str| self.option(name).and_then(|text| text.parse::<f64>().ok()).unwrap_or(1.0);
        // fio's own default, where the job names none.
        let engine = self.option("ioengine").unwrap_or("psync");
        let of_one = if is_synchronous(engine) { 1.0 } else { number("iodepth") };
        let depth = of_one * number("numjobs").max(1.0);
        let bandwidth = |kind: &str| self.number(kind, "bw_bytes").map(|bytes| bytes / 1e6);
        let rate = |kind: &str| self.number(kind, "iops");
        let latency = |kind: &str| {
            let of = |name: &str| self.job.get(kind)?.get(name)?.get("mean")?.as_f64();
            of("clat_ns").map(|ns| ns / 1e3).or_else(|| of("clat").or_else(|| of("lat")))
        };
        let is_small = (bytes - 4096.0).abs() < 1.0;
        let found = match rw {
            "write" if bytes >= 65_536.0 => bandwidth("write").map(|value| (Measure::SequentialWrite, value)),
            "read" if bytes >= 65_536.0 => bandwidth("read").map(|value| (Measure::SequentialRead, value)),
            "randread" if is_small && depth <= 1.0 => {
                latency("read").map(|value| (Measure::ReadLatency, value))
            }
            "randwrite" if is_small && depth <= 1.0 => {
                latency("write").map(|value| (Measure::WriteLatency, value))
            }
            "randread" if is_small && depth >= DEEP => rate("read").map(|value| (Measure::RandomRead, value)),
            "randwrite" if is_small && depth >= DEEP => {
                rate("write").map(|value| (Measure::RandomWrite, value))
            }
            "randrw" if is_small && depth >= DEEP && self.option("rwmixread") == Some("70") => {
                rate("read").zip(rate("write")).map(|(reads, writes)| (Measure::Mixed, reads + writes))
            }
            _ => return Err(format!("rw={rw}, bs={size}, {} in flight", digits(depth))),
        };
        found.filter(|(_, value)| *value > 0.0).ok_or_else(|| format!("rw={rw}: nothing was measured"))
    }
}

/// Bytes of a size of fio's: `4k`, `128KiB`, `1m`.
fn size_of(text: &str) -> Option<f64> {
    let text = text.split([',', '/']).next()?.trim().to_ascii_lowercase();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: f64 = text[..end].parse().ok()?;
    let scale = match &text[end..] {
        "" | "b" => 1.0,
        "k" | "kb" | "ki" | "kib" => 1_024.0,
        "m" | "mb" | "mi" | "mib" => 1_048_576.0,
        _ => return None,
    };
    Some(number * scale)
}
