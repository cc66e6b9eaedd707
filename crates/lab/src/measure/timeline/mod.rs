//! A window of a run, on the nanosecond: what each die, plane and channel did, which requests were in the drive, and
//! how full it was. Written as a trace of Perfetto, which its viewer and its trace processor read.
//!
//! The window is given, or it is where the run stood still: what lies around the longest time in which requests waited
//! and nothing completed. Where that is will be known only at the end, so what happened since shortly before the last
//! completion is kept, and with each longer such time the window moves there.

mod slices;
mod trace;
mod wire;

use crate::base::error::{Failure, ReportError};
use crate::base::files::Replacement;
use slices::{Events, Level, Served, Slices, Window};
use ssd::sections::Geometry;
use ssd::{Completion, Drive, Reading, SimTime, Told};
use std::path::PathBuf;

/// What is shown before and behind the longest time without a completion; ns. Assumed: about as long as the longest
/// erase takes twice, so that what led to it and what came of it is seen.
const AROUND_NS: u64 = 10_000_000;
/// Time between two looks at how full the drive is; ns. Assumed.
const COUNT_NS: u64 = 100_000;

/// What timeline is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineSpec {
    /// The file.
    pub path: PathBuf,
    /// From when to when, in the measurement; ns. Around where it stood still longest, if neither is given.
    pub from_ns: Option<u64>,
    /// Likewise; to the end, if only the other is given.
    pub to_ns: Option<u64>,
}

/// Whether a trace of Perfetto that begins so is one of ours: the tracks that only ours have come first.
pub(crate) fn begins(head: &[u8]) -> bool {
    wire::first_packets(head).is_some_and(|packets| {
        let name = trace::TRACK_OF_OURS.as_bytes();
        packets.windows(name.len()).any(|window| window == name)
    })
}

/// What keeps it while the run goes on.
pub(crate) struct Timeline {
    spec: TimelineSpec,
    /// When the measurement began.
    since: SimTime,
    events: Events,
    reading: Reading,
    /// When the drive is looked at next.
    look_at: SimTime,
    /// The completion that is to be told of.
    kept: Option<Completion>,
    geometry: Geometry,
    /// All that is asked for has been seen.
    is_over: bool,
    /// The longest time without a completion so far, and what is shown of it.
    longest_ns: u64,
    window: Option<Window>,
    /// What happened there, once it is over.
    best: Option<(Window, Slices)>,
}

impl Timeline {
    pub fn new(spec: TimelineSpec, geometry: &Geometry, since: SimTime) -> Self {
        Timeline {
            spec,
            since,
            events: Events::default(),
            reading: Reading::default(),
            look_at: since,
            kept: None,
            geometry: geometry.clone(),
            is_over: false,
            longest_ns: 0,
            window: None,
            best: None,
        }
    }

    /// The measurement begins now.
    pub fn restart(&mut self, now: SimTime) {
        *self = Timeline::new(self.spec.clone(), &self.geometry, now);
    }

    /// A request completed.
    pub fn keep(&mut self, completion: &Completion) {
        self.kept = Some(*completion);
    }

    /// What the drive has done before the measurement is not shown.
    pub fn forget(drive: &mut Drive) {
        while drive.tracing().take_span().is_some() {}
    }

    /// Whom it has waited for, what the drive has done since the one before, and from when to when nothing completed
    /// before it.
    pub fn record(&mut self, drive: &mut Drive, told: &Told, stood: Window) {
        let Some(completion) = self.kept.take() else { return };
        let served = Served::new(&completion, told);
        // What was in the drive at the end of a window completes behind it.
        if let Some((window, slices)) = &mut self.best
            && served.arrival < window.1
            && served.completed > window.1
        {
            slices.served.push(served);
        }
        if self.is_over {
            let is_shown = served.arrival < self.asked().1;
            self.events.served.extend(is_shown.then_some(served));
            return;
        }
        self.events.served.push_back(served);
        self.take(drive);
        if self.is_asked() {
            let (from, to) = self.asked();
            self.events.forget_before(from);
            if drive.now() > to {
                drive.tracing().close_spans();
                self.take(drive);
                drive.tracing().tell_spans(false);
                self.is_over = true;
            }
            return;
        }
        let ns = stood.1.since(stood.0);
        if ns > self.longest_ns {
            self.longest_ns = ns;
            let from = SimTime(stood.0.0.saturating_sub(AROUND_NS).max(self.since.0));
            self.window = Some((from, SimTime(stood.1.0 + AROUND_NS)));
        }
        if self.window.is_some_and(|window| drive.now() > window.1) {
            self.end_window(drive);
        }
        // The drive may be further than this request, if several have completed.
        let from = SimTime(completion.completed.0.saturating_sub(AROUND_NS));
        self.events.forget_before(self.window.map_or(from, |window| window.0.min(from)));
    }

    /// Whether a window is asked for.
    fn is_asked(&self) -> bool {
        self.spec.from_ns.is_some() || self.spec.to_ns.is_some()
    }

    /// Which.
    fn asked(&self) -> Window {
        let at = |ns: u64| SimTime(self.since.0.saturating_add(ns));
        (at(self.spec.from_ns.unwrap_or(0)), self.spec.to_ns.map_or(SimTime(u64::MAX), at))
    }

    /// What has happened until now.
    fn take(&mut self, drive: &mut Drive) {
        while let Some(span) = drive.tracing().take_span() {
            self.events.spans.push_back(span);
        }
        if drive.now() >= self.look_at {
            self.look(drive);
        }
    }

    fn look(&mut self, drive: &Drive) {
        self.reading.take(drive);
        let Reading { free_blocks, dirty_units, commands, programmed_pages, .. } = self.reading;
        self.events.levels.push_back(Level {
            at: drive.now(),
            free_blocks,
            dirty_units: dirty_units.into(),
            commands: commands.into(),
            programmed_pages: programmed_pages.iter().sum(),
            written_bytes: self.reading.total("host.written_bytes"),
        });
        self.look_at = SimTime(drive.now().0 + COUNT_NS);
    }

    /// All that happened in the window is known.
    fn end_window(&mut self, drive: &mut Drive) {
        let Some(window) = self.window.take() else { return };
        drive.tracing().close_spans();
        self.take(drive);
        self.best = Some((window, self.events.within(window)));
    }

    /// The run is over: writes the file. What the window shows is told.
    pub fn finish(mut self, drive: &mut Drive) -> Result<(), Failure> {
        drive.tracing().close_spans();
        self.take(drive);
        self.look(drive);
        let (window, mut slices) = if self.is_asked() {
            let window = self.asked();
            (window, self.events.within(window))
        } else {
            self.end_window(drive);
            let nothing = ((self.since, self.since), Slices::default());
            self.best.take().unwrap_or(nothing)
        };
        slices.served.sort_by_key(|served| (served.arrival, served.completed));
        let path = &self.spec.path;
        let failed = |error: std::io::Error| ReportError::new(path, "write", error);
        let mut file = Replacement::create(path).map_err(failed)?;
        trace::write(&mut file, &slices, (self.since, window), &self.geometry).map_err(failed)?;
        file.commit().map_err(failed)?;
        Ok(())
    }
}
