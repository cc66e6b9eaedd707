//! Workloads made of workloads: one after the other (`phases`), or at the same time (`together`).
//!
//! Each member is a `[workload]` table of its own, with some keys more: how long it lasts, where on the drive it lies.

mod driven;
mod member;
mod members;

use crate::base::driven::Driven;
use crate::base::error::WorkloadError;
use crate::base::input::bytes::Progress;
use crate::base::report::SourceReport;
use crate::base::request::{FilesAtStart, MemberNames, Request, Source};
use crate::spec::kinds::{Member, Members, PhasesSpec, TogetherSpec};
use crate::stack::kind::{Kind, Ready};
use driven::DrivenInTurn;
use member::{Running, Seen, names, told};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::path::Path;
use std::sync::Arc;

/// The members, looked through.
struct Composed {
    members: Vec<Arc<Seen>>,
    in_turn: bool,
}

impl Composed {
    fn prepare(
        members: &Members,
        in_turn: bool,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Box<dyn Ready>, WorkloadError> {
        let key = if in_turn { "phases" } else { "together" };
        let see = |(i, member): (usize, &Member)| {
            let here = format!("{key}[{i}]");
            Seen::new(member, &here, progress).map(Arc::new).map_err(|error| error.within(&here))
        };
        let members = members.0.iter().enumerate().map(see).collect::<Result<Vec<_>, _>>()?;
        Ok(Box::new(Composed { members, in_turn }))
    }
}

impl Ready for Composed {
    fn space_sectors(&self) -> Option<u64> {
        // A member that takes a share of any drive takes it of what the others need.
        self.members.iter().filter_map(|member| member.space_sectors()).max()
    }

    fn once(&self, drive_sectors: u64) -> Result<Box<dyn Source>, WorkloadError> {
        self.open(drive_sectors)
    }

    fn report(&self) -> SourceReport {
        told(self.members.iter().map(|member| member.told(&member.report())))
    }

    fn content(&self) -> Option<(u64, &'static [&'static str])> {
        let hash = self.members.iter().fold(u64::from(self.in_turn), |hash, member| member.hash(hash));
        Some((hash, &["phases", "together"]))
    }

    fn open(&self, drive_sectors: u64) -> Result<Box<dyn Source>, WorkloadError> {
        if !self.in_turn {
            return Ok(Box::new(Together::new(&self.members, drive_sectors)?));
        }
        let running = Running::open(&self.members[0], drive_sectors, 0)?;
        // Later ones are opened, too, so that one that does not fit is told before the first request.
        let mut later = self.members[1..].iter().map(|member| Running::open(member, drive_sectors, 0));
        later.try_for_each(|member| member.map(drop))?;
        Ok(Box::new(InTurn { members: self.members.clone(), at: 0, running, drive_sectors }))
    }

    fn driven(&self, drive_sectors: u64) -> Option<Result<Box<dyn Driven>, WorkloadError>> {
        if !self.members.iter().any(|member| member.is_driven()) {
            return None;
        }
        let opened = DrivenInTurn::open(&self.members, drive_sectors);
        Some(opened.map(|phases| -> Box<dyn Driven> { Box::new(phases) }))
    }

    fn depth(&self) -> u64 {
        let is_driven = self.members.iter().any(|member| member.is_driven());
        if is_driven { self.members.iter().map(|member| member.depth()).max().unwrap_or(0) } else { 0 }
    }

    fn timed_job(&self) -> Option<&str> {
        self.members.iter().find_map(|member| member.timed_job())
    }
}

/// Phases at work.
struct InTurn {
    members: Vec<Arc<Seen>>,
    at: usize,
    running: Running,
    drive_sectors: u64,
}

impl Source for InTurn {
    fn next(&mut self) -> Result<Option<Request>, WorkloadError> {
        loop {
            if let Some(request) = self.running.next()? {
                return Ok(Some(request));
            }
            let Some(next) = self.members.get(self.at + 1) else { return Ok(None) };
            self.at += 1;
            self.running = Running::open(next, self.drive_sectors, self.running.end_ns())?;
        }
    }

    fn len_hint(&self) -> Option<u64> {
        let later = self.members[self.at + 1..].iter().map(|member| member.len_hint());
        later.sum::<Option<u64>>()?.checked_add(self.running.len_hint()?)
    }

    fn report(&self) -> SourceReport {
        told(self.members.iter().map(|member| member.told(&member.report())).chain([self.running.told()]))
    }

    fn members(&self) -> MemberNames {
        MemberNames { names: names(&self.members), in_turn: true }
    }

    fn member(&self) -> u16 {
        self.at as u16
    }

    fn files_at_start(&self) -> FilesAtStart {
        // Later phases find what those before have left.
        self.running.files_at_start()
    }
}

/// Members at the same time. At equal times the one that has sent fewer comes first, then the one named first.
struct Together {
    members: Vec<(Running, Request)>,
    names: Vec<String>,
    /// The member that the last request came from.
    last: u16,
    /// (time, requests sent before, member) of each member's next request.
    queue: BinaryHeap<Reverse<(u64, u64, u32)>>,
}

impl Together {
    fn new(seen: &[Arc<Seen>], drive_sectors: u64) -> Result<Self, WorkloadError> {
        let (mut members, mut queue) = (Vec::new(), BinaryHeap::new());
        for (number, member) in seen.iter().enumerate() {
            let mut running = Running::open(member, drive_sectors, 0)?;
            let first = running.next()?;
            if let Some(request) = first {
                queue.push(Reverse((request.arrival_ns, 0, number as u32)));
            }
            members.push((running, first.unwrap_or_default()));
        }
        Ok(Together { members, names: names(seen), last: 0, queue })
    }
}

impl Source for Together {
    fn next(&mut self) -> Result<Option<Request>, WorkloadError> {
        let Some(mut top) = self.queue.peek_mut() else { return Ok(None) };
        let Reverse((_, sent, number)) = *top;
        self.last = number as u16;
        let (running, pending) = &mut self.members[number as usize];
        let request = *pending;
        match running.next()? {
            Some(next) => {
                *pending = next;
                *top = Reverse((next.arrival_ns, sent + 1, number));
            }
            None => {
                PeekMut::pop(top);
            }
        }
        Ok(Some(request))
    }

    fn len_hint(&self) -> Option<u64> {
        let later = self.members.iter().map(|(running, _)| running.len_hint()).sum::<Option<u64>>()?;
        later.checked_add(self.queue.len() as u64)
    }

    fn report(&self) -> SourceReport {
        told(self.members.iter().map(|(running, _)| running.told()))
    }

    fn members(&self) -> MemberNames {
        MemberNames { names: self.names.clone(), in_turn: false }
    }

    fn member(&self) -> u16 {
        self.last
    }
}

macro_rules! composed {
    ($($spec:ident, $key:ident, $in_turn:literal;)+) => {
        $(impl Kind for $spec {
            fn check(&self) -> Result<(), WorkloadError> {
                self.$key.check(stringify!($key), $in_turn)
            }

            fn is_driven(&self) -> bool {
                $in_turn && self.$key.is_driven()
            }

            fn has_times(&self) -> bool {
                self.$key.0.iter().any(|member| member.spec.has_times())
            }

            fn title(&self) -> String {
                let titles: Vec<String> = self.$key.0.iter().map(Member::title).collect();
                titles.join(if $in_turn { ", then " } else { " + " })
            }

            fn resolve_path(&mut self, directory: &Path) {
                self.$key.0.iter_mut().for_each(|member| member.spec.resolve_path(directory));
            }

            fn reads(&self) -> Vec<std::ffi::OsString> {
                self.$key.0.iter().flat_map(|member| member.spec.reads()).collect()
            }

            fn prepare(&self, progress: &mut dyn FnMut(Progress)) -> Result<Box<dyn Ready>, WorkloadError> {
                Composed::prepare(&self.$key, $in_turn, progress)
            }
        })+
    };
}

composed! {
    PhasesSpec, phases, true;
    TogetherSpec, together, false;
}
