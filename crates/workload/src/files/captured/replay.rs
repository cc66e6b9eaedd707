//! Calls one after the other, and the requests that come of them.

use super::course::Course;
use crate::base::error::{Problem, WorkloadError};
use crate::base::report::SourceReport;
use crate::base::request::{FilesAtStart, PAGE_BYTES, PAGE_SECTORS, Request, Source};
use crate::files::capture::{Capture, Event, Manner, Op};
use crate::files::layout::Layout;
use crate::files::out::FIRST;
use crate::files::spec::FilesSpec;
use crate::files::system::{System, Who};
use crate::stack::page_cache::PageCache;
use std::sync::Arc;

/// Requests of a capture.
#[derive(Clone)]
pub(super) struct Replay {
    capture: Arc<Capture>,
    course: Arc<Course>,
    pub(super) system: System,
    /// The file system's slot of each file that there is.
    pub(super) slots: Vec<Option<u32>>,
    free: Vec<u32>,
    /// Files that have lost their name.
    doomed: Vec<bool>,
    /// The next event.
    at: usize,
    is_synced: bool,
}

impl Replay {
    /// With the files that there are at the start.
    pub(super) fn new(
        spec: &FilesSpec,
        layout: Layout,
        cache: PageCache,
        (capture, course): (&Arc<Capture>, &Arc<Course>),
    ) -> Result<Self, WorkloadError> {
        let (data, blocks) = (u64::from(layout.data), u64::from(layout.blocks));
        let mut system = System::new(spec, layout, cache);
        system.make_slots(course.files.max(1));
        let mut replay = Replay {
            slots: vec![None; capture.files.len()],
            free: (0..course.files.max(1)).rev().collect(),
            doomed: vec![false; capture.files.len()],
            capture: Arc::clone(capture),
            course: Arc::clone(course),
            system,
            at: 0,
            is_synced: false,
        };
        let sizes = capture.files.iter().map(|file| file.size);
        for (file, size) in sizes.enumerate().filter(|(_, size)| *size > 0) {
            let slot = replay.take_slot();
            if !replay.system.format_file(slot, size) {
                let all: u64 = capture.files.iter().map(|file| file.size.div_ceil(PAGE_BYTES)).sum();
                return Err(Problem::DoesNotFit {
                    what: "the files of the capture".into(),
                    needed_sectors: (data + all) * PAGE_SECTORS,
                    drive_sectors: blocks * PAGE_SECTORS,
                    advice: "take a larger footprint_gib, or 0 for what they need".into(),
                }
                .into());
            }
            replay.slots[file] = Some(slot);
        }
        replay.system.mount(spec);
        Ok(replay)
    }

    /// A slot that no file has. [`Course`] has counted them from the same calls by the same rules: a file takes one
    /// when it is first used, and gives it back with its last call, if it has lost its name by then.
    fn take_slot(&mut self) -> u32 {
        self.free.pop().expect("as many slots as there are files at a time")
    }

    /// The file's slot; it is created if it is not there.
    fn slot(&mut self, file: u32) -> u32 {
        if let Some(slot) = self.slots[file as usize] {
            return slot;
        }
        let slot = self.take_slot();
        self.system.create(slot);
        self.slots[file as usize] = Some(slot);
        slot
    }

    /// Does the next call; whether there was one.
    pub(super) fn step(&mut self) -> bool {
        let Some(event) = self.capture.events.get(self.at).copied() else { return false };
        self.call(&event);
        self.at += 1;
        true
    }

    fn call(&mut self, event: &Event) {
        // Times are those of one clock; a capture that says otherwise is moved up, as traces are.
        self.system.catch_up(event.time_ns.max(self.system.out.now_ns));
        if event.op == Op::Sync {
            self.system.sync();
            return;
        }
        let slot = self.slot(event.file);
        match event.op {
            Op::Write => self.write(slot, event),
            Op::Fsync | Op::Fdatasync => {
                self.system.fsync(slot);
            }
            Op::WriteBack => {
                let size = if event.size == 0 { u64::MAX } else { event.size };
                self.system.write_range(slot, event.offset, size);
            }
            Op::Truncate => self.system.set_length(slot, event.size),
            Op::Allocate => {
                self.system.extend(slot, event.offset.saturating_add(event.size));
            }
            Op::Punch => self.system.punch(slot, event.offset, event.size),
            Op::Rename => self.system.rename(slot),
            Op::Unlink | Op::Sync => {}
        }
        let file = event.file as usize;
        self.doomed[file] |= event.op == Op::Unlink;
        if self.doomed[file] && self.course.last[file] == self.at {
            self.system.delete(slot);
            self.slots[file] = None;
            self.free.push(slot);
        }
        self.system.settle();
    }

    fn write(&mut self, slot: u32, event: &Event) {
        let context = self.course.contexts[event.stack as usize];
        let who = Who { process: FIRST + event.process, context };
        self.system.write_at(slot, event.offset, event.size, who);
        match event.manner {
            Manner::Cached => {}
            Manner::Durable => {
                self.system.fsync(slot);
            }
            Manner::Direct => self.system.write_range(slot, event.offset, event.size),
        }
    }
}

impl Source for Replay {
    fn next(&mut self) -> Result<Option<Request>, WorkloadError> {
        loop {
            if let Some(request) = self.system.out.queue.pop_front() {
                return Ok(Some(request));
            }
            if self.step() {
                continue;
            }
            // What still waits at the end is written then.
            if self.is_synced {
                return Ok(None);
            }
            self.is_synced = true;
            self.system.sync();
        }
    }

    fn len_hint(&self) -> Option<u64> {
        None
    }

    fn report(&self) -> SourceReport {
        SourceReport { refused_operations: self.system.refused, ..SourceReport::default() }
    }

    fn files_at_start(&self) -> FilesAtStart {
        self.system.files_now()
    }
}
