//! The recorder: waits for what becomes of the command's threads, and notes what they do.

mod calls;
mod filter;
mod looking;
mod maps;
mod modules;
mod programs;
#[allow(unsafe_code, reason = "std has neither ptrace nor seccomp")]
mod sys;
mod unwind;

use std::collections::HashMap;
use std::ffi::{CString, OsString};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::rc::Rc;
use std::time::Instant;

use workload::capture::{CapturedFile, Event, Op, Process, Stack, Totals, Writer};

use crate::{End, Error, Recorded};
use calls::Call;
use looking::{Look, Pending, Target};
use sys::{Change, FileId, Go, Registers, Step, Tid};
use unwind::{Space, Walker};

/// A traced process.
struct Traced {
    handle: Option<OwnedFd>,
    /// Its place among those recorded, once it changed a file.
    place: Option<u32>,
    /// Where it has its code; `None` if that must be looked up.
    space: Option<Rc<Space>>,
}

/// A thread of one.
struct Thread {
    process: Tid,
    /// The call it is in.
    pending: Option<(Registers, Pending)>,
}

struct Recorder<W: Write> {
    writer: Writer<W>,
    keeps_names: bool,
    start: Instant,
    threads: HashMap<Tid, Thread>,
    processes: HashMap<Tid, Traced>,
    walker: Walker,
    files: HashMap<FileId, u32>,
    /// Places of stacks by their sum.
    stacks: HashMap<u64, Vec<(Stack, u32)>>,
    modules: Vec<workload::capture::Module>,
    recorded: Recorded,
    failure: Option<io::Error>,
}

/// Runs a command and records it.
pub fn record<W: Write>(command: &[OsString], keeps_names: bool, out: W) -> Result<(W, Recorded), Error> {
    let Some(name) = command.first() else { return Err(Error::NotFound { command: OsString::new() }) };
    let program = programs::find(name).ok_or_else(|| Error::NotFound { command: name.clone() })?;
    let is_text = |error: std::ffi::NulError| Error::NotRun { command: name.clone(), error: error.into() };
    let text = |text: &OsString| CString::new(text.as_bytes()).map_err(is_text);
    let arguments = command.iter().map(text).collect::<Result<Vec<_>, _>>()?;
    let program = CString::new(program.as_os_str().as_bytes()).map_err(is_text)?;
    let unwritten = |error| Error::Unwritten { end: End::Code(0), error };
    let writer = Writer::new(out).map_err(unwritten)?;
    let failed = |(step, error)| match step {
        Step::Trace => Error::Forbidden { what: "tracing programs (ptrace)", error },
        Step::Filter => Error::Forbidden { what: "filtering system calls (seccomp)", error },
        Step::Run => Error::NotRun { command: name.clone(), error },
    };
    let mut started = sys::start(&program, &arguments, &filter::program()).map_err(failed)?;
    sys::pass_signals_to(started.pid);
    let mut recorder = Recorder::new(writer, keeps_names);
    let end = recorder.follow(started.pid);
    sys::pass_signals_no_more();
    sys::reset_signals();
    let end = end.map_err(|error| failed((Step::Trace, error)))?;
    let mut told = Vec::new();
    let _ = started.failure.read_to_end(&mut told);
    match sys::failed_step(&told) {
        Some(step) => Err(failed(step)),
        None => recorder.finish(end),
    }
}

impl<W: Write> Recorder<W> {
    fn new(writer: Writer<W>, keeps_names: bool) -> Self {
        Recorder {
            writer,
            keeps_names,
            start: Instant::now(),
            threads: HashMap::new(),
            processes: HashMap::new(),
            walker: Walker::new(),
            files: HashMap::new(),
            stacks: HashMap::new(),
            modules: Vec::new(),
            recorded: Recorded {
                end: End::Code(0),
                calls: 0,
                files: 0,
                processes: 0,
                stacks: 0,
                ambiguous: 0,
                totals: Totals::default(),
            },
            failure: None,
        }
    }

    /// Follows the command and all that it starts until there is nothing left; how the command itself ended.
    fn follow(&mut self, command: Tid) -> io::Result<End> {
        let mut end = End::Code(0);
        while let Some((tid, change)) = sys::wait()? {
            let ended = match change {
                Change::Exited(code) => Some(End::Code(code)),
                Change::Killed(signal) => Some(End::Signal(signal)),
                _ => None,
            };
            if let Some(ended) = ended {
                if tid == command {
                    end = ended;
                    sys::pass_signals_no_more();
                }
                self.threads.remove(&tid);
                self.processes.remove(&tid);
                continue;
            }
            let (go, signal) = self.on(tid, change);
            sys::resume(tid, go, signal);
        }
        Ok(end)
    }

    /// Notes what became of a thread, and says how it goes on.
    fn on(&mut self, tid: Tid, change: Change) -> (Go, i32) {
        match change {
            Change::Halted => return (Go::Stay, 0),
            Change::Signal(signal) => return (Go::On, signal),
            Change::Call if self.call(tid) => return (Go::ToReturn, 0),
            Change::Return => self.returned(tid),
            Change::Forked => {
                if let Some(new) = sys::message(tid) {
                    self.join(new, Some(tid));
                }
            }
            Change::Executed => self.executed(tid),
            _ => {}
        }
        (Go::On, 0)
    }

    /// A thread is known from now on; a process has its code where the one has it that started it.
    fn join(&mut self, tid: Tid, parent: Option<Tid>) {
        if self.threads.contains_key(&tid) {
            return;
        }
        let process = programs::process_of(tid).unwrap_or(tid);
        let parent = parent.and_then(|parent| self.threads.get(&parent)).map(|thread| thread.process);
        let space =
            parent.and_then(|parent| self.processes.get(&parent)).and_then(|found| found.space.clone());
        self.threads.insert(tid, Thread { process, pending: None });
        let new = || Traced { handle: sys::open_process(process).ok(), place: None, space };
        self.processes.entry(process).or_insert_with(new);
    }

    /// A process is another program.
    fn executed(&mut self, process: Tid) {
        // Whichever thread did it has the process's number now.
        if let Some(former) = sys::message(process).filter(|&former| former != process) {
            self.threads.remove(&former);
        }
        self.threads.remove(&process);
        self.processes.remove(&process);
        self.join(process, None);
        let (is_setuid, is_foreign) = programs::kind_of(process);
        self.recorded.totals.setuid_programs += u64::from(is_setuid);
        self.recorded.totals.foreign_programs += u64::from(is_foreign);
    }

    /// A thread is about to make a call; whether its return is of interest.
    fn call(&mut self, tid: Tid) -> bool {
        self.recorded.totals.stops += 1;
        self.join(tid, None);
        let Some(registers) = sys::registers(tid) else { return false };
        let call = calls::call(tid, &registers);
        let totals = &mut self.recorded.totals;
        let Some(thread) = self.threads.get_mut(&tid) else { return false };
        let Some(process) = self.processes.get_mut(&thread.process) else { return false };
        match call {
            Call::Load => process.space = None,
            Call::ShareFile => totals.shared_maps += 1,
            Call::Ring => totals.io_urings += 1,
            Call::SubmitAio => totals.aio_calls += 1,
            _ => {}
        }
        let Some(handle) = &process.handle else { return false };
        let look = Look { tid, process: handle, keeps_names: self.keeps_names };
        match look.at(call) {
            Some(pending) if pending.waits => {
                thread.pending = Some((registers, pending));
                true
            }
            Some(pending) => {
                self.record(tid, &registers, pending, 0);
                false
            }
            None => false,
        }
    }

    /// A thread came back from the call it was in.
    fn returned(&mut self, tid: Tid) {
        let pending = self.threads.get_mut(&tid).and_then(|thread| thread.pending.take());
        let Some((registers, pending)) = pending else { return };
        let Some(result) = sys::registers(tid).map(|registers| registers.result) else { return };
        match u64::try_from(result) {
            Ok(result) if pending.size.unwrap_or(result) > 0 || pending.op != Op::Write => {
                self.record(tid, &registers, pending, result);
            }
            _ => self.recorded.totals.failed += 1,
        }
    }

    /// Records what a call of a stopped thread does.
    fn record(&mut self, tid: Tid, registers: &Registers, pending: Pending, result: u64) {
        let stack = self.stack(tid, registers);
        let size = pending.size.unwrap_or(result);
        let process = self.process(tid);
        let file = pending.target.map_or(0, |target| self.file(target));
        let time_ns = self.start.elapsed().as_nanos() as u64;
        let Pending { op, manner, offset, .. } = pending;
        let event = Event { time_ns, op, manner, process, file, offset, size, stack };
        if let Some(replaced) = pending.replaced {
            let file = self.file(replaced);
            self.note(&Event { op: Op::Unlink, file, ..event });
        }
        // What belongs to no file needs one all the same.
        if op == Op::Sync && self.recorded.files == 0 {
            return;
        }
        self.note(&event);
    }

    fn note(&mut self, event: &Event) {
        self.recorded.calls += 1;
        if self.failure.is_none() {
            self.failure = self.writer.event(event).err();
        }
    }

    /// The place of a thread's process among those recorded.
    fn process(&mut self, tid: Tid) -> u32 {
        let pid = self.threads[&tid].process;
        let process = self.processes.get_mut(&pid).expect("a thread's process is known while it is");
        *process.place.get_or_insert_with(|| {
            self.writer.process(Process { name: programs::name_of(pid) });
            self.recorded.processes += 1;
            (self.recorded.processes - 1) as u32
        })
    }

    /// The place of a file among those recorded.
    fn file(&mut self, target: Target) -> u32 {
        let Target { facts, name } = target;
        *self.files.entry(facts.id).or_insert_with(|| {
            self.writer.file(CapturedFile { size: facts.bytes, name });
            self.recorded.files += 1;
            (self.recorded.files - 1) as u32
        })
    }

    /// The place of a thread's call stack among those recorded.
    fn stack(&mut self, tid: Tid, registers: &Registers) -> u32 {
        let pid = self.threads[&tid].process;
        let process = self.processes.get_mut(&pid).expect("a thread's process is known while it is");
        let space = process.space.get_or_insert_with(|| {
            self.walker.space(pid, &mut |module| {
                self.writer.module(module.clone());
                self.modules.push(module);
            })
        });
        let stack = self.walker.stack(tid, registers, space);
        self.recorded.totals.cut += u64::from(!stack.is_whole);
        let same = self.stacks.entry(stack.sum(&self.modules)).or_default();
        if let Some((_, place)) = same.iter().find(|(known, _)| *known == stack) {
            return *place;
        }
        self.recorded.ambiguous += u64::from(same.iter().any(|(known, _)| known.frames != stack.frames));
        let place = self.recorded.stacks as u32;
        self.recorded.stacks += 1;
        self.writer.stack(stack.clone());
        same.push((stack, place));
        place
    }

    fn finish(mut self, end: End) -> Result<(W, Recorded), Error> {
        self.recorded.end = end;
        self.recorded.totals.duration_ns = self.start.elapsed().as_nanos() as u64;
        let written = match self.failure {
            Some(error) => Err(error),
            None => self.writer.finish(self.recorded.totals),
        };
        let out = written.map_err(|error| Error::Unwritten { end, error })?;
        Ok((out, self.recorded))
    }
}
