//! What is kept of requests, whichever loop they come from.

use crate::base::columns::Table;
use crate::base::error::Failure;
use crate::measure::fio_tally::{DIGITS_OF_RUN, FioTally};
use crate::measure::meter::{Meter, Served};
use crate::measure::request_log::{Origin, RequestLog};
use crate::measure::series::Series;
use crate::measure::steps::step_of;
use crate::measure::tail::Tail;
use crate::measure::timeline::Timeline;
use crate::plan::spec::RunSpec;
use ssd::units::SECTOR_BYTES;
use ssd::{Completion, Drive, DriveConfig, Executor, SimDuration, SimTime};

/// Completions between two calls of the progress function; a power of two.
pub(crate) const PROGRESS_EVERY: u64 = 1 << 15;

/// What is kept of requests where it is asked for: one look for all of it.
pub(crate) struct More {
    log: Option<RequestLog>,
    /// Whom the slowest waited for, where time passes.
    pub tail: Option<Tail>,
    /// What is shown of a window, likewise.
    pub timeline: Option<Box<Timeline>>,
    /// What fio would say of them.
    pub fio: Option<FioTally>,
}

impl More {
    /// Whether it takes whom commands wait for.
    pub fn tells_holders(&self) -> bool {
        self.tail.is_some() || self.timeline.is_some()
    }
}

/// What is kept of requests.
pub(crate) struct Books {
    pub meter: Meter,
    /// Time series, if they are asked for and time passes.
    pub series: Option<Box<Series>>,
    /// What few ask for.
    pub more: Option<Box<More>>,
    pub served: Served,
    /// Requests to complete before the measurement.
    pub warm_up: u64,
    /// Why a request could not be logged.
    pub failure: Option<Failure>,
}

impl Books {
    /// Opens the request log.
    pub fn open(start: SimTime, config: &DriveConfig, spec: &RunSpec) -> Result<Self, Failure> {
        let is_timed = spec.executor == Executor::Timed;
        let link_ns = if is_timed { SimDuration::from_us(config.link.latency_us).0 } else { 0 };
        let origin = Origin { start, link_ns };
        let tail = (is_timed && spec.explain_tail > 0.0).then(|| Tail::new(spec.explain_tail, start));
        let timeline = match &spec.timeline {
            Some(_) if !is_timed => return Err(Failure::no_time("the timeline")),
            of => of.clone().map(|of| Box::new(Timeline::new(of, &config.geometry, start))),
        };
        let (path, keeps) = (spec.request_log.as_deref(), spec.keeps_requests);
        let create = || RequestLog::create(path, keeps, (origin, tail.is_some()));
        let log = (path.is_some() || keeps).then(create).transpose()?;
        let fio = spec.tells_fio.then(|| FioTally::new(DIGITS_OF_RUN));
        let is_asked = log.is_some() || fio.is_some() || tail.is_some() || timeline.is_some();
        let more = is_asked.then(|| Box::new(More { log, tail, timeline, fio }));
        let unit_sectors = u64::from(config.unit_bytes()) / SECTOR_BYTES;
        let (meter, served) = (Meter::new(start, unit_sectors), Served::default());
        Ok(Books { meter, series: None, more, served, warm_up: spec.warm_up, failure: None })
    }

    /// Closes the log and gives back what was counted, and the requests that were kept.
    pub fn finish(self, failure: &mut Option<Failure>) -> (Served, Meter, Option<Table>) {
        let Books { meter, more, served, warm_up, .. } = self;
        let log = more.and_then(|more| more.log).map(RequestLog::finish);
        let (kept, written) = log.unwrap_or((None, Ok(())));
        if let Err(error) = written {
            Failure::unwritten(failure, error);
        }
        (Served { warm_up: warm_up.min(served.completed), ..served }, meter, kept)
    }

    /// A request completed. Returns whether something comes of it: the measurement begins, the log has failed, or it is
    /// to be told whom the request has waited for.
    #[inline(always)]
    pub fn enter(&mut self, completion: &Completion) -> bool {
        let mut matters = false;
        self.served.completed += 1;
        if self.served.completed > self.warm_up {
            let latency = completion.completed.since(completion.arrival);
            let step = step_of(latency);
            self.meter.record(completion, latency, step);
            if let Some(series) = &mut self.series {
                series.record(completion, latency, step);
            }
        } else {
            self.meter.record_before(completion);
            if self.is_warm() {
                self.meter.restart(completion.completed);
                matters = true;
            }
        }
        if self.more.is_some() {
            matters |= self.enter_more(completion);
        }
        matters
    }

    #[cold]
    #[inline(never)]
    fn enter_more(&mut self, completion: &Completion) -> bool {
        let Some(more) = &mut self.more else { return false };
        if let Some(fio) = &mut more.fio
            && self.served.completed > self.warm_up
        {
            fio.record(completion, completion.arrival);
        }
        if let Some(timeline) = &mut more.timeline {
            timeline.keep(completion);
        }
        if let Some(tail) = &mut more.tail {
            // Its row is written when it is told whom it has waited for.
            tail.keep(completion);
            return true;
        }
        if let Some(log) = &mut more.log
            && let Err(failure) = log.add(completion)
        {
            self.failure.get_or_insert(failure);
        }
        self.failure.is_some() || more.timeline.is_some()
    }

    /// Whom the request has waited for that was entered last, where that is asked for; without a completion passed the
    /// time that it ended.
    pub fn enter_told(&mut self, drive: &mut Drive, stood: (SimTime, SimTime)) {
        let counts = self.served.completed > self.warm_up;
        let Some(more) = self.more.as_deref_mut().filter(|more| more.tells_holders()) else { return };
        let told = drive.tracing().take_told();
        match &mut more.timeline {
            Some(timeline) if counts => timeline.record(drive, &told, stood),
            Some(_) => Timeline::forget(drive),
            None => {}
        }
        let More { log, tail: Some(tail), .. } = more else { return };
        if counts {
            tail.record(&told);
        }
        if let Some(log) = log
            && let Err(failure) = log.add_told(tail.last(), &told)
        {
            self.failure.get_or_insert(failure);
        }
    }

    /// Whether the request that completed last was the last before the measurement.
    #[inline]
    pub fn is_warm(&self) -> bool {
        self.served.completed == self.warm_up
    }
}
