//! The part of a trace that is asked for: filters by device, process, operation, address and time, and then from
//! which request on and how many.

use crate::base::error::{Problem, WorkloadError};
use crate::base::findings::LeftOut;
use crate::base::input::bytes::Progress;
use crate::base::report::SourceReport;
use crate::base::request::Record;
use crate::base::settings::Value;
use crate::base::shape::Devices;
use crate::reader::{Records, open_trace};
use crate::trace::operations::Operations;
use crate::trace::spec::TraceSpec;

/// Devices or processes that an error names.
const SHOWN: usize = 16;

/// The records of a trace that are asked for.
pub(crate) struct Selected {
    records: Box<dyn Records>,
    /// Of the spec, only what leaves requests out.
    filter: Filter,
    merge: bool,
    left: u64,
    /// Time that becomes 0, once it is known.
    origin_ns: Option<u64>,
    left_out: [u64; LeftOut::ALL.len()],
    /// Devices and processes that were not asked for: the first few, for an error.
    others: Vec<u32>,
}

struct Filter {
    is_open: bool,
    devices: Option<Vec<u16>>,
    process: Vec<u8>,
    process_number: Option<u32>,
    /// The process of the request before, and whether it is the one.
    process_before: Option<(u32, bool)>,
    operations: Operations,
    sectors: std::ops::Range<u64>,
    from_ns: u64,
    to_ns: u64,
    skip: u64,
}

/// Seconds as nanoseconds; 0, which stands for no end, as the largest number if it is one.
fn ns_of(seconds: f64, none: u64) -> u64 {
    if seconds == 0.0 { none } else { (seconds * 1e9).round() as u64 }
}

impl Filter {
    fn new(spec: &TraceSpec, records: &dyn Records) -> Self {
        let number = |device: &u64| records.device(*device);
        let devices = match &spec.devices {
            Devices::Only(devices) => Some(devices.iter().filter_map(number).collect()),
            _ => None,
        };
        let end = if spec.end_sector == 0 { u64::MAX } else { spec.end_sector };
        let mut filter = Filter {
            is_open: false,
            devices,
            process: spec.process.as_bytes().to_vec(),
            process_number: spec.process.parse().ok(),
            process_before: None,
            operations: spec.operations,
            sectors: spec.from_sector..end,
            from_ns: ns_of(spec.from_s, 0),
            to_ns: ns_of(spec.to_s, u64::MAX),
            skip: spec.skip,
        };
        filter.is_open = filter.devices.is_none()
            && filter.process.is_empty()
            && filter.operations == Operations::default()
            && filter.sectors == (0..u64::MAX)
            && (filter.from_ns, filter.to_ns, filter.skip) == (0, u64::MAX, 0);
        filter
    }

    /// What leaves a request out; `None` if nothing does.
    fn leaves_out(&mut self, record: &Record, records: &dyn Records) -> Option<LeftOut> {
        let Record { request, device } = record;
        let is_addressed = request.sectors > 0;
        if self.devices.as_ref().is_some_and(|devices| !devices.contains(device)) {
            Some(LeftOut::Device)
        } else if !self.process.is_empty() && !self.is_process(request.hints.process, records) {
            Some(LeftOut::Process)
        } else if !self.operations.has(request.op) {
            Some(LeftOut::Operation)
        } else if is_addressed && !self.sectors.contains(&request.lba) {
            Some(LeftOut::Address)
        } else if !(self.from_ns..self.to_ns).contains(&request.arrival_ns) {
            Some(LeftOut::Time)
        } else if self.skip > 0 {
            self.skip -= 1;
            Some(LeftOut::Skipped)
        } else {
            None
        }
    }

    fn is_process(&mut self, id: u32, records: &dyn Records) -> bool {
        if let Some((before, is_it)) = self.process_before
            && before == id
        {
            return is_it;
        }
        let is_it = match records.process(id) {
            Some(name) => name == self.process,
            None => self.process_number == Some(id),
        };
        self.process_before = Some((id, is_it));
        is_it
    }
}

impl Selected {
    pub(crate) fn open(spec: &TraceSpec) -> Result<Self, WorkloadError> {
        let records = open_trace(&spec.path, &spec.format, &spec.read_options())?;
        let starts_later = spec.skip > 0 || spec.from_s > 0.0;
        let filter = Filter::new(spec, &*records);
        Ok(Selected {
            records,
            filter,
            merge: spec.devices == Devices::Merge,
            left: if spec.first == 0 { u64::MAX } else { spec.first },
            origin_ns: (!starts_later).then_some(0),
            left_out: [0; LeftOut::ALL.len()],
            others: Vec::new(),
        })
    }

    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<Record>, WorkloadError> {
        while self.left > 0 {
            let Some(mut record) = self.records.next()? else { break };
            if !self.filter.is_open
                && let Some(why) = self.filter.leaves_out(&record, &*self.records)
            {
                self.leave_out(&record, why);
                continue;
            }
            self.left -= 1;
            if self.merge {
                record.device = 0;
            }
            let origin = *self.origin_ns.get_or_insert(record.request.arrival_ns);
            record.request.arrival_ns -= origin;
            return Ok(Some(record));
        }
        Ok(None)
    }

    fn leave_out(&mut self, record: &Record, why: LeftOut) {
        self.left_out[why as usize] += 1;
        let other = match why {
            LeftOut::Device => u32::from(record.device),
            LeftOut::Process => record.request.hints.process,
            // Later ones arrive later still.
            LeftOut::Time if record.request.arrival_ns >= self.filter.to_ns => {
                self.left = 0;
                return;
            }
            _ => return,
        };
        if self.others.len() < SHOWN && !self.others.contains(&other) {
            self.others.push(other);
        }
    }

    pub(crate) fn report(&self) -> SourceReport {
        let counts = LeftOut::ALL.into_iter().zip(self.left_out).filter(|(_, count)| *count > 0);
        SourceReport { left_out: counts.collect(), ..self.records.report() }
    }

    pub(crate) fn progress(&self) -> Progress {
        self.records.progress()
    }

    /// The error of a trace of which nothing was asked for.
    pub(crate) fn nothing(&self, spec: &TraceSpec) -> WorkloadError {
        let report = self.report();
        let left_out = report.left_out;
        if left_out.is_empty() {
            return Problem::NoRequests {
                file: spec.path.display().to_string(),
                lines: report.lines,
                skipped: 0,
                passed_over: report.passed_over,
            }
            .into();
        }
        let name = |id: &u32| match self.records.process(*id) {
            Some(name) => String::from_utf8_lossy(name).into_owned(),
            None => id.to_string(),
        };
        let renumbered = self.report().renumbered;
        let device = |id: &u32| match renumbered.iter().find(|(number, _)| u32::from(*number) == *id) {
            Some((_, name)) => name.clone(),
            None => id.to_string(),
        };
        let numbers = || self.others.iter().map(device).collect();
        let (asked, others) = match left_out[0].0 {
            LeftOut::Device => (format!("devices = {}", spec.devices.show()), numbers()),
            LeftOut::Process => {
                (format!("process = {}", spec.process.show()), self.others.iter().map(name).collect())
            }
            LeftOut::Operation => (format!("operations = {}", spec.operations.show()), Vec::new()),
            LeftOut::Address => {
                (format!("sectors from {} to {}", spec.from_sector, spec.end_sector), Vec::new())
            }
            LeftOut::Time => (format!("seconds from {:?} to {:?}", spec.from_s, spec.to_s), Vec::new()),
            LeftOut::Skipped => (format!("skip = {}", spec.skip), Vec::new()),
        };
        let file = spec.path.display().to_string();
        Problem::NothingSelected { file, asked, left_out, others }.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Recorded;
    use crate::spec::kinds::Spec;

    const TRACE: &str = "\
        1000 1 java 800 8 R 8 0\n2000 1 java 808 8 W 8 0\n1000002000 2 gzip 100 8 R 8 0\n\
        1500002000 2 gzip 5000 16 W 9 1\n2000001000 1 java 120 8 R 9 1\n3000001000 3 nfsd 800 8 W 8 0\n";

    fn run(settings: &[(&str, &str)]) -> Result<(Vec<(u64, u64)>, SourceReport), String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), TRACE).unwrap();
        let mut spec = Spec::trace(file.path().display().to_string());
        for (key, value) in settings {
            spec.set(key, value).map_err(|e| e.to_string())?;
        }
        let both = spec.prepare().map(|prepared| prepared.footprint(0).map(|f| f.requests));
        let mut records = Recorded::open(&spec, 0).map_err(|e| e.to_string())?;
        let mut out = Vec::new();
        while let Some(record) = records.next_record().map_err(|e| e.to_string())? {
            out.push((record.request.arrival_ns / 1_000_000, record.request.lba));
        }
        assert_eq!(both, Ok(Ok(out.len() as u64)), "the survey sees the same");
        Ok((out, records.report()))
    }

    #[test]
    fn filters_go_in_their_order() {
        let lbas = |settings: &[(&str, &str)]| -> Vec<u64> {
            run(settings).unwrap().0.iter().map(|(_, lba)| *lba).collect()
        };
        assert_eq!(lbas(&[]), [800, 808, 100, 5000, 120, 800]);
        assert_eq!(lbas(&[("devices", "1")]), [5000, 120]);
        assert_eq!(lbas(&[("devices", "[0, 1]")]).len(), 6);
        assert_eq!(lbas(&[("process", "java")]), [800, 808, 120]);
        assert_eq!(lbas(&[("operations", "write")]), [808, 5000, 800]);
        assert_eq!(lbas(&[("operations", "read,trim"), ("process", "java")]), [800, 120]);
        assert_eq!(lbas(&[("from_sector", "100"), ("end_sector", "800")]), [100, 120]);
        assert_eq!(lbas(&[("skip", "2"), ("first", "3")]), [100, 5000, 120]);
        // Skipped and counted are those that the filters before leave.
        assert_eq!(lbas(&[("process", "java"), ("skip", "1"), ("first", "1")]), [808]);
    }

    #[test]
    fn what_starts_later_starts_at_zero() {
        let (rows, report) = run(&[("from_s", "1"), ("to_s", "2.5")]).unwrap();
        assert_eq!(rows, [(0, 100), (500, 5000), (999, 120)]);
        assert_eq!(report.left_out, [(LeftOut::Time, 3)]);
        assert!(
            report.remarks().iter().any(|r| r == "3 requests at other times left out"),
            "{:?}",
            report.remarks()
        );
        assert_eq!(run(&[("skip", "3")]).unwrap().0, [(0, 5000), (499, 120), (1499, 800)]);
        assert_eq!(run(&[("process", "nfsd")]).unwrap().0, [(3000, 800)], "the others only leave gaps");
    }

    #[test]
    fn filters_that_leave_nothing_are_errors_that_say_what_there_is() {
        for (settings, says) in [
            (&[("devices", "7")][..], "no request passes devices = 7: 6 of other devices; it has 0, 1"),
            (
                &[("devices", "[70000, 7]")],
                "no request passes devices = [70000, 7]: 6 of other devices; it has 0, 1",
            ),
            (
                &[("process", "jav")],
                "no request passes process = \"jav\": 6 of other processes; it has java, gzip, nfsd",
            ),
            (&[("operations", "trim")], "no request passes operations = \"trim\": 6 of other operations"),
            (&[("from_sector", "9000")], "no request passes sectors from 9000 to 0: 6 at other addresses"),
            (&[("from_s", "60")], "no request passes seconds from 60.0 to 0.0: 6 at other times"),
            (&[("skip", "6")], "no request passes skip = 6: 6 skipped from the start"),
            (&[("process", "nfsd"), ("operations", "read")], "5 of other processes, 1 of other operations"),
            (&[("from_s", "2"), ("to_s", "1")], "to_s: found 1.0, allowed: after from_s"),
            (&[("from_sector", "8"), ("end_sector", "8")], "end_sector: found 8, allowed: above from_sector"),
            (&[("operations", "reed")], "allowed: all, or some of read, write, trim, flush"),
        ] {
            let error = run(settings).unwrap_err();
            assert!(error.contains(says), "{settings:?}: {error}");
        }
    }
}
