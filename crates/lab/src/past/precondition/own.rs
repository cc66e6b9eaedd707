//! A past of the workload's own writes: what it writes and trims, over and over, in no time, until the drive has turned
//! over and cleans as much as before.
//!
//! Each pass is cut in [`PIECES`] pieces, which come in a new order: within a piece requests keep theirs. Passes that
//! are all alike would kill pages in the order in which they were written, and cleaning would come for free. A plain
//! generator needs no pieces: it draws each pass with another seed, at the same hot places; a mix draws on and on.

use super::done::Preconditioned;
use super::overwriting::Windows;
use super::turnover::Turnover;
use super::wanted::Preconditioning;
use super::work::{Work, units_programmed};
use crate::base::error::Failure;
use crate::base::phase::Phase;
use ssd::rng::Rng;
use ssd::signals::Hints;
use ssd::units::SECTOR_BYTES;
use ssd::{Command, Executor, Lba, OpCode, Pace, Status};
use workload::{Prepared, Request, Source};

/// Pieces that a pass is cut in (assumed; `docs/default-drive.md` has others beside it).
pub const PIECES: u32 = 512;
/// Requests from which on a workload is too long to be kept for its past.
pub const REQUESTS_MAX: u64 = 50_000_000;
/// Units gathered before they are written.
const BATCH: usize = 1024;
/// Units or requests between two looks at whether to stop.
const LOOK_EVERY: u64 = 1 << 14;
/// A generator's pass writes at least as many times as this part of the filled space has units: of a short run on a
/// large drive there would be millions.
const DRAWN: u64 = 64;
/// Passes without a write after which a workload is taken to write nothing.
const BARREN: u32 = 8;
/// A drive that does not become steady is left when so many times its spare room was written, and one pass: for each of
/// the times that it is overwritten at most, 10 unless somebody asks for more.
const SPARES_PER_TIME: f64 = 2.0;

/// A workload whose writes make the past, and how many of its requests count.
#[derive(Clone, Copy)]
pub(crate) struct Own<'a> {
    pub workload: &'a Prepared,
    pub requests: Option<u64>,
}

/// A write or a trim.
#[derive(Clone, Copy)]
pub(super) struct Change {
    lba: u64,
    sectors: u32,
    /// Its number among the hints that differ, and whether it is a trim.
    hints: u32,
    is_trim: bool,
}

/// Why a drive was overwritten at random though the workload's own writes were asked for.
pub(super) mod reason {
    /// Jobs wait for the drive, requests come one by one, or none were named.
    pub const UNKNOWN: &str = "what will be written is not known beforehand";
    pub const TOO_MANY: &str = "the workload has more than 50,000,000 requests";
    pub const ONE_DIE: &str = "run.steady_way asks for one die";
    pub const EVEN: &str = "the workload itself writes every unit equally often";
    /// All of them.
    pub const ALL: [&str; 4] = [UNKNOWN, TOO_MANY, ONE_DIE, EVEN];
}

/// The passes.
pub(super) enum Passes {
    /// Kept, to be taken in pieces, with the hints that differ.
    Kept { changes: Vec<Change>, hints: Vec<Hints> },
    /// Drawn anew for each, or on and on.
    Drawn,
}

impl Own<'_> {
    /// Reads the workload's writes and trims; or the reason why they cannot be known: requests wait for each other, or
    /// there are too many.
    pub(super) fn read(&self, work: &mut Work<'_>) -> Result<Result<Passes, &'static str>, Failure> {
        let sectors = work.drive.logical_sectors();
        if self.workload.driven(sectors).is_some() {
            return Ok(Err(reason::UNKNOWN));
        }
        let limit = self.requests.unwrap_or(u64::MAX);
        if self.workload.redrawn(1, 0).is_some() || self.workload.endless_writes(1).is_some() {
            return Ok(Ok(Passes::Drawn));
        }
        let mut source = self.workload.open(sectors).map_err(Failure::Workload)?;
        if source.len_hint().unwrap_or(0).min(limit) > REQUESTS_MAX {
            return Ok(Err(reason::TOO_MANY));
        }
        let (mut changes, mut hints) = (Vec::new(), Vec::new());
        let mut read = 0;
        while read < limit
            && let Some(request) = source.next().map_err(Failure::Workload)?
        {
            read += 1;
            if read > REQUESTS_MAX {
                return Ok(Err(reason::TOO_MANY));
            }
            if read.is_multiple_of(LOOK_EVERY) {
                work.tell(Phase::LookingAhead, read, limit.min(REQUESTS_MAX))?;
            }
            changes.extend(change(&request, &mut hints));
        }
        Ok(Ok(Passes::Kept { changes, hints }))
    }
}

/// What a request changes, if anything; its hints join those that differ.
fn change(request: &Request, hints: &mut Vec<Hints>) -> Option<Change> {
    let is_trim = request.op == OpCode::Trim;
    if !is_trim && request.op != OpCode::Write || request.sectors == 0 {
        return None;
    }
    // Neighbours mostly say the same.
    if hints.last() != Some(&request.hints) {
        hints.push(request.hints);
    }
    let number = hints.len() as u32 - 1;
    Some(Change { lba: request.lba, sectors: request.sectors, hints: number, is_trim })
}

/// A drive being overwritten by a workload's own writes.
pub(super) struct Ageing<'a, 'b> {
    pub work: &'a mut Work<'b>,
    pub own: Own<'a>,
    pub passes: Passes,
    pub pace: Pace,
    /// Pieces of a pass.
    pub pieces: u32,
    pub seed: u64,
    /// Units that hold data.
    pub filled: u32,
    pub done: &'a mut Preconditioned,
    /// Whether requests are given to the drive as they are, with what they say; otherwise whole units are written.
    says_something: bool,
    /// What draws on and on, once it has begun.
    endless: Option<Box<dyn Source>>,
    batch: Vec<u32>,
    written: u64,
    looked_at: u64,
}

impl<'a, 'b> Ageing<'a, 'b> {
    pub fn new(
        work: &'a mut Work<'b>,
        (own, passes): (Own<'a>, Passes),
        wanted: &Preconditioning,
        (seed, filled): (u64, u32),
        done: &'a mut Preconditioned,
    ) -> Self {
        let says_something = match &passes {
            Passes::Kept { hints, .. } => hints.iter().any(|hints| *hints != Hints::default()),
            Passes::Drawn => false,
        };
        // What a policy was told of the future counts from the run's first command.
        let says_something = says_something && !work.drive.ahead().is_wanted();
        let batch = Vec::with_capacity(BATCH);
        let pieces = if wanted.past_pieces > 0 { wanted.past_pieces } else { PIECES };
        Ageing {
            work,
            own,
            passes,
            pace: wanted.pace,
            pieces,
            seed,
            filled,
            done,
            says_something,
            endless: None,
            batch,
            written: 0,
            looked_at: 0,
        }
    }

    /// So many times the filled space, and the pass that is then under way.
    pub fn times(&mut self, times: f64) -> Result<(), Failure> {
        let wanted = (f64::from(self.filled) * times) as u64;
        let mut pass = 0;
        while self.written < wanted {
            let before = (self.written, self.programmed());
            self.pass(pass, wanted)?;
            pass += 1;
            if self.written == before.0 {
                break;
            }
            self.done.write_amplification = self.since(before);
        }
        self.end(pass)
    }

    /// Until each lane has turned over its spare blocks and windows agree: two of a pass each. A generator never writes
    /// the same twice: its pass has no end of its own, and windows are those of random overwrites
    /// ([`super::Overwrite::SteadyState`]).
    pub fn until_steady(&mut self, change_percent: f64, times_at_most: f64) -> Result<(), Failure> {
        let mut turnover = Turnover::begin(self.work.drive);
        let is_drawn = matches!(self.passes, Passes::Drawn);
        // Writes of what was filled leave the spare as it is, and passes may be short and many.
        let changes_spare = match &self.passes {
            Passes::Kept { changes, .. } => changes.iter().any(|change| change.is_trim),
            Passes::Drawn => true,
        };
        // What is trimmed is spare from then on.
        let limits = |turnover: &Turnover, filled: u32| match is_drawn {
            true => {
                let larger = turnover.spare_units.max(filled.into());
                (u64::from(filled), (larger as f64 * times_at_most) as u64)
            }
            false => {
                let at_most = SPARES_PER_TIME * times_at_most * turnover.spare_units as f64;
                (turnover.spare_units, at_most as u64)
            }
        };
        let (mut pass, mut before, mut past) = (0, (0, self.programmed()), Windows::default());
        self.done.steady = Some(false);
        let mut barren = 0;
        loop {
            let pass_began = self.written;
            self.pass(pass, limits(&turnover, self.filled).1)?;
            pass += 1;
            if self.written == pass_began {
                barren += 1;
                // What is drawn anew may write the next time.
                if is_drawn && barren < BARREN {
                    continue;
                }
                break;
            }
            barren = 0;
            if changes_spare || pass == 1 {
                turnover.look(self.work.drive);
            }
            let (window, at_most) = limits(&turnover, self.filled);
            let is_window = self.written - before.0 >= window.div_ceil(4);
            if is_window && let Some(amplification) = self.since(before) {
                past.add(amplification);
                self.done.write_amplification_by_window.push(amplification);
                self.done.write_amplification = if is_drawn { past.last_pass() } else { Some(amplification) };
                before = (self.written, self.programmed());
            }
            let moved = self.done.change_percent();
            let agrees = match is_drawn {
                true => past.is_steady(change_percent / 100.0),
                false => moved.is_some_and(|moved| moved <= change_percent),
            };
            if is_window && agrees && turnover.is_complete(self.work.drive) {
                self.done.steady = Some(true);
                break;
            }
            if self.written >= at_most && moved.is_some() {
                break;
            }
        }
        self.done.turned_over = turnover.is_complete(self.work.drive);
        self.end(pass)
    }

    fn end(&mut self, passes: u64) -> Result<(), Failure> {
        self.write_batch()?;
        self.work.drive.drain();
        self.work.drive.flush_buffer();
        self.work.drive.drain();
        self.done.passes = passes;
        self.done.units_overwritten = self.written;
        if self.written == 0 {
            self.done.steady = None;
        }
        Ok(())
    }

    /// Write amplification since then.
    fn since(&self, (written, programmed): (u64, u64)) -> Option<f64> {
        let written = self.written - written;
        (written > 0).then(|| (self.programmed() - programmed) as f64 / written as f64)
    }

    fn programmed(&self) -> u64 {
        units_programmed(self.work.drive)
    }

    fn pass(&mut self, number: u64, total: u64) -> Result<(), Failure> {
        let result = match std::mem::replace(&mut self.passes, Passes::Drawn) {
            Passes::Drawn => self.drawn(number, total),
            Passes::Kept { changes, hints } => {
                let result = self.in_pieces(&changes, &hints, number, total);
                self.passes = Passes::Kept { changes, hints };
                result
            }
        };
        result.and_then(|()| self.write_batch())
    }

    fn in_pieces(
        &mut self,
        changes: &[Change],
        hints: &[Hints],
        number: u64,
        total: u64,
    ) -> Result<(), Failure> {
        let length = changes.len().div_ceil(self.pieces as usize).max(1);
        let mut pieces: Vec<&[Change]> = changes.chunks(length).collect();
        let mut rng = Rng::named(self.seed, &format!("lab/precondition/own/{number}"));
        for last in (1..pieces.len()).rev() {
            pieces.swap(last, rng.below(last as u32 + 1) as usize);
        }
        for change in pieces.into_iter().flatten() {
            self.apply(change, &hints[change.hints as usize], total)?;
        }
        Ok(())
    }

    /// A pass of a generator, with a seed that no run has: of its own and not the run's.
    fn drawn(&mut self, number: u64, total: u64) -> Result<(), Failure> {
        let seed = Rng::named(self.seed, &format!("lab/precondition/own/{number}")).next_u64() | 1 << 62;
        let least = u64::from(self.filled) / DRAWN;
        let Some(drawn) = self.own.workload.redrawn(seed, least) else {
            return self.go_on(seed, least.max(1), total);
        };
        let drawn = drawn.map_err(Failure::Workload)?;
        let mut source = drawn.open(self.work.drive.logical_sectors()).map_err(Failure::Workload)?;
        let mut hints = Vec::new();
        let limit = self.own.requests.unwrap_or(u64::MAX).max(least).min(REQUESTS_MAX);
        for _ in 0..limit {
            let Some(request) = source.next().map_err(Failure::Workload)? else { break };
            if let Some(change) = change(&request, &mut hints) {
                self.apply(&change, &Hints::default(), total)?;
            }
            hints.clear();
        }
        Ok(())
    }

    /// A pass of what has no end: so many of its writes.
    fn go_on(&mut self, seed: u64, writes: u64, total: u64) -> Result<(), Failure> {
        let mut source = match self.endless.take() {
            Some(source) => source,
            None => {
                let Some(drawn) = self.own.workload.endless_writes(seed) else { return Ok(()) };
                let drawn = drawn.map_err(Failure::Workload)?;
                drawn.open(self.work.drive.logical_sectors()).map_err(Failure::Workload)?
            }
        };
        let mut hints = Vec::new();
        for _ in 0..writes {
            let Some(request) = source.next().map_err(Failure::Workload)? else { break };
            if let Some(change) = change(&request, &mut hints) {
                self.apply(&change, &Hints::default(), total)?;
            }
            hints.clear();
        }
        self.endless = Some(source);
        Ok(())
    }

    fn apply(&mut self, change: &Change, hints: &Hints, total: u64) -> Result<(), Failure> {
        let unit_sectors = u64::from(self.work.drive.unit_bytes()) / SECTOR_BYTES;
        let first = change.lba / unit_sectors;
        let end = (change.lba + u64::from(change.sectors)).div_ceil(unit_sectors);
        if change.is_trim || self.says_something {
            self.write_batch()?;
            let op = if change.is_trim { OpCode::Trim } else { OpCode::Write };
            let (lba, sectors) = (Lba(change.lba), change.sectors);
            self.command(&Command { op, lba, sectors, hints: *hints, ..Command::default() }, total)?;
        } else {
            for unit in first..end {
                self.batch.push(unit as u32);
                self.work.drive.prefetch(Lba(unit * unit_sectors));
                if self.batch.len() == BATCH {
                    self.write_batch()?;
                }
            }
        }
        if !change.is_trim {
            self.written += end - first;
        }
        if self.written >= self.looked_at + LOOK_EVERY {
            self.looked_at = self.written;
            self.work.tell(Phase::Overwriting, self.written, total.max(self.written))?;
        }
        Ok(())
    }

    fn write_batch(&mut self) -> Result<(), Failure> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let result = self.work.drive.past().overwrite(self.pace, &self.batch);
        self.batch.clear();
        result.map_err(|short| {
            self.work.no_room(Phase::Overwriting, self.written + short.written, self.written)
        })?;
        self.work.look(Phase::Overwriting)
    }

    /// A command in no time.
    fn command(&mut self, command: &Command, total: u64) -> Result<(), Failure> {
        self.work.look(Phase::Overwriting)?;
        let drive = &mut *self.work.drive;
        if let Some(key) = drive.ahead().key() {
            return Err(unforeseen(key));
        }
        let executor = drive.executor();
        drive.set_executor(Executor::Functional);
        let now = drive.now();
        let mut is_done = drive.submit(0, command, now).is_err();
        while !is_done && drive.advance_to_completion() {
            is_done = drive.pop_completion().is_some_and(|completion| completion.status == Status::Ok);
            if !is_done {
                break;
            }
        }
        drive.set_executor(executor);
        if is_done { Ok(()) } else { Err(self.work.no_room(Phase::Overwriting, self.written, total)) }
    }
}

/// The error of a drive whose policy, which this key names, looks ahead: it was told of no command of a past.
fn unforeseen(key: &str) -> Failure {
    let found = format!("a past of the workload's own trims, on a drive whose policy looks ahead ({key})");
    let allowed = "--precondition uniform or fill=100, or another policy".to_owned();
    Failure::Setting { key: "run.past", found, allowed }
}
