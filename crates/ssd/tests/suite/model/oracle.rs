//! The model: a plain map of last-written versions, and what the effects say lies where.
//!
//! Data is its version: the number of the step at which the drive accepted it. The oracle applies effects in order,
//! as whoever holds the bytes would, and judges every one:
//!
//! - a read returns, for each granule, a version that was current at some time since the read was submitted;
//! - a write is accepted once for each unit, whole, between its submission and its completion;
//! - what a completed FLUSH or FUA write promised is found in flash whenever the power is cut: among the units of
//!   flash that hold a logical unit, the one programmed last by a host write (copies keep their number) is it;
//! - data is lost only after a read of that very unit of flash that no attempt could correct, which only cells that
//!   age have, and then its reads end as uncorrectable until it is written again;
//! - what is trimmed stays trimmed: nothing older is mapped again. (Only a power cut may bring it back: the drive keeps
//!   no trace of a TRIM in flash.)
//! - every command completes once, with a legal status, and its time adds up.

use super::shape::{Shape, bits};
use ssd::observe::{Effect, Source};
use ssd::{Command, Completion, OpCode, SimTime, Status};
use std::collections::BTreeMap;

/// A command on its way.
struct Pending {
    command: Command,
    submitted: SimTime,
    /// The model's clock at submission.
    clock: u64,
    /// Units accepted (write) or granules returned (read), with the clock.
    parts: Vec<(u32, u64, u64)>,
    /// Writes completed before a flush was submitted.
    completed_before: usize,
    told: bool,
}

struct Slot {
    lpn: u32,
    mask: u64,
    data: Vec<u64>,
}

/// A unit of flash that holds something.
struct Stored {
    lpn: u32,
    sequence: u64,
    data: Vec<u64>,
}

/// A command, the model's clock when it was submitted, and the units accepted from it.
type UnderWay<'a> = (&'a Command, u64, &'a [(u32, u64, u64)]);

/// A version of a granule that has died.
pub struct Dead {
    pub granule: usize,
    pub version: u64,
    pub clock: u64,
}

/// What went wrong, in words.
pub type Verdict = Result<(), String>;

macro_rules! ensure {
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            return Err(format!($($message)+));
        }
    };
}

#[path = "promises.rs"]
mod promises;

/// The model of a drive.
pub struct Oracle {
    shape: Shape,
    clock: u64,
    logical_sectors: u64,
    /// Every completed write is durable: there is no buffer.
    write_through: bool,
    /// FLUSH and FUA promise that data is in flash.
    flushes_program: bool,
    /// Current version of each granule.
    now: Vec<u64>,
    /// Versions that reads under way may still return: when overwritten, and the version.
    past: Vec<Vec<(u64, u64)>>,
    /// Version of each granule that must survive, and when each unit was last trimmed.
    durable: Vec<u64>,
    trimmed: Vec<u64>,
    /// When each unit was last lost to errors, and when it was next written or trimmed.
    lost: Vec<(u64, u64)>,
    /// Cells make errors at all; and units of flash whose page could not be corrected since it was programmed.
    loses: bool,
    unreadable: Vec<bool>,
    /// Completed writes in order of completion, and how many of them are durable by a flush.
    completed: Vec<Vec<(u32, u64, u64)>>,
    flushed: usize,
    slots: BTreeMap<u32, Slot>,
    flash: Vec<Option<Stored>>,
    copies: Vec<Vec<u32>>,
    /// Where the mapping points, as the effects tell.
    mapped: Vec<Option<u32>>,
    pending: BTreeMap<u64, Pending>,
    reads: usize,
    /// What has died since somebody asked, if anybody does.
    pub dead: Option<Vec<Dead>>,
    trims: BTreeMap<u32, Vec<u64>>,
    /// Commands completed.
    pub done: u64,
    /// Commands that ended in `ReadOnly`.
    pub refused: u64,
    /// Commands that ended in `Uncorrectable`, and units lost.
    pub uncorrectable: u64,
    pub units_lost: u64,
    /// Replicas made, and of those, how many became pages.
    pub replicated: u64,
    pub adopted: u64,
}

impl Oracle {
    pub fn new(
        (unit_bytes, units, physical): (u32, u32, usize),
        (write_through, flushes_program): (bool, bool),
        loses: bool,
    ) -> Self {
        let shape = Shape::new(unit_bytes);
        let granules = units as usize * shape.granules;
        Oracle {
            shape,
            clock: 1,
            logical_sectors: u64::from(units) * shape.unit_sectors,
            write_through,
            flushes_program,
            now: vec![0; granules],
            past: vec![Vec::new(); granules],
            durable: vec![0; granules],
            trimmed: vec![0; units as usize],
            lost: vec![(0, 0); units as usize],
            loses,
            unreadable: vec![false; physical],
            completed: Vec::new(),
            flushed: 0,
            slots: BTreeMap::new(),
            flash: (0..physical).map(|_| None).collect(),
            copies: vec![Vec::new(); units as usize],
            mapped: vec![None; units as usize],
            pending: BTreeMap::new(),
            reads: 0,
            dead: None,
            trims: BTreeMap::new(),
            done: 0,
            refused: 0,
            uncorrectable: 0,
            units_lost: 0,
            replicated: 0,
            adopted: 0,
        }
    }

    /// Commands submitted and not completed.
    pub fn outstanding(&self) -> usize {
        self.pending.len()
    }

    /// The first of those commands, in words.
    pub fn under_way(&self) -> String {
        let first: Vec<_> = self.pending.values().take(4).map(|p| &p.command).collect();
        format!("{} commands under way: {first:?}...", self.pending.len())
    }

    /// The shape of units.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// A command under way, the clock when it was submitted, and the units accepted from it.
    pub fn under_way_of(&self, tag: u64) -> Option<UnderWay<'_>> {
        self.pending.get(&tag).map(|pending| (&pending.command, pending.clock, &pending.parts[..]))
    }

    /// The class that a command under way says its data is of, and the model's clock.
    pub fn class_of(&self, tag: u64) -> (u8, u64) {
        (self.pending.get(&tag).map_or(0, |pending| pending.command.hints.class), self.clock)
    }

    /// The model's clock when a unit was first trimmed after a time, where deaths are taken down.
    pub fn trimmed_after(&self, lpn: u32, since: u64) -> u64 {
        let trims = self.trims.get(&lpn).map_or(&[][..], Vec::as_slice);
        trims.get(trims.partition_point(|&at| at <= since)).copied().unwrap_or(0)
    }

    /// Whether the drive must take a command.
    pub fn is_valid(&self, command: &Command) -> bool {
        let end = command.lba.0.saturating_add(u64::from(command.sectors));
        command.hints.are_valid() && command.sectors > 0 && end <= self.logical_sectors
    }

    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    /// A command is about to be submitted.
    pub fn submit(&mut self, command: &Command, submitted: SimTime) {
        let clock = self.tick();
        self.reads += usize::from(command.op == OpCode::Read);
        let completed_before = self.completed.len();
        let pending =
            Pending { command: *command, submitted, clock, parts: Vec::new(), completed_before, told: false };
        assert!(self.pending.insert(command.tag, pending).is_none(), "the test used a tag twice");
    }

    /// A granule changes its version.
    fn overwrite(&mut self, granule: usize, version: u64, clock: u64) {
        let old = std::mem::replace(&mut self.now[granule], version);
        if let Some(dead) = &mut self.dead
            && old > 0
        {
            dead.push(Dead { granule, version: old, clock });
        }
        if self.reads == 0 {
            self.past[granule].clear();
            return;
        }
        if self.past[granule].len() >= 16 {
            let reads = self.pending.values().filter(|p| p.command.op == OpCode::Read);
            let oldest = reads.map(|p| p.clock).min().unwrap_or(clock);
            self.past[granule].retain(|&(until, _)| until > oldest);
        }
        self.past[granule].push((clock, old));
    }

    /// Something happened.
    pub fn apply(&mut self, effect: Effect) -> Verdict {
        self.tick();
        match effect {
            Effect::Accept { tag, lpn, slot, mask, fresh } => self.accept(tag, lpn.0, slot.0, mask, fresh),
            Effect::Fill { slot, from, mask } => self.fill(slot.0, from, mask),
            Effect::Program { lpn, slot, to } => self.program(lpn.0, slot.0, to.0),
            Effect::Copy { lpn, from, to } => {
                self.is_mapped(lpn.0, from.0)?;
                self.mapped[lpn.index()] = Some(to.0);
                self.copy(lpn.0, from.0, to.0)
            }
            Effect::Dead { lpn, from, to } => self.copy(lpn.0, from.0, to.0),
            Effect::Replicate { lpn, from, to } => {
                self.is_mapped(lpn.0, from.0)?;
                self.replicated += 1;
                self.copy(lpn.0, from.0, to.0)
            }
            Effect::Adopt { lpn, from, to } => self.adopt(lpn.0, from.0, to.0),
            Effect::Place { lpn, to } => self.place(lpn.0, to.0),
            Effect::Erase { first, units } => self.erase(first.0, units),
            Effect::Trim { lpn } => self.trim(lpn.0),
            Effect::Lose { lpn } => self.lose(lpn.0),
            Effect::Unreadable { first, units } => {
                ensure!(self.loses, "a page cannot be corrected, and cells make no errors");
                self.unreadable[first.index()..][..units as usize].fill(true);
                Ok(())
            }
            Effect::Read { tag, lpn, from, mask } => self.read(tag, lpn.0, from, mask),
            Effect::Chip(_) => Ok(()),
            Effect::Release { slot } => match self.slots.remove(&slot.0) {
                Some(_) => Ok(()),
                None => Err(format!("slot {} released, it holds nothing", slot.0)),
            },
            Effect::Complete { tag, .. } => {
                let Some(pending) = self.pending.get_mut(&tag) else {
                    return Err(format!("command {tag} completes, it is not under way"));
                };
                ensure!(!pending.told, "command {tag} completes twice");
                pending.told = true;
                Ok(())
            }
        }
    }

    fn accept(&mut self, tag: u64, lpn: u32, slot: u32, mask: u64, fresh: bool) -> Verdict {
        let clock = self.clock;
        let Some(pending) = self.pending.get_mut(&tag) else {
            return Err(format!("data of command {tag} accepted, which is not under way"));
        };
        let expected = self.shape.mask(&pending.command, lpn);
        ensure!(pending.command.op == OpCode::Write && !pending.told, "command {tag} has no data to accept");
        ensure!(mask == expected, "command {tag}, unit {lpn}: accepted {mask:x}, written {expected:x}");
        ensure!(pending.parts.iter().all(|p| p.0 != lpn), "command {tag}, unit {lpn}: accepted twice");
        pending.parts.push((lpn, mask, clock));
        if fresh {
            ensure!(!self.slots.contains_key(&slot), "slot {slot} is taken and was not released");
            self.slots.insert(slot, Slot { lpn, mask: 0, data: vec![0; self.shape.granules] });
        }
        let Some(found) = self.slots.get_mut(&slot) else { return Err(format!("slot {slot} is not in use")) };
        ensure!(found.lpn == lpn, "unit {lpn} put in slot {slot}, which is of unit {}", found.lpn);
        found.mask |= mask;
        for g in bits(mask) {
            found.data[g] = clock;
        }
        for g in bits(mask) {
            self.overwrite(lpn as usize * self.shape.granules + g, clock, clock);
        }
        Ok(())
    }

    /// What a source holds for a unit.
    fn content(&self, lpn: Option<u32>, from: Source, mask: u64) -> Result<Vec<u64>, String> {
        let right = |found: u32| lpn.is_none_or(|lpn| lpn == found);
        match from {
            Source::Zero => Ok(vec![0; self.shape.granules]),
            Source::Slot(slot) => match self.slots.get(&slot.0) {
                Some(found) if right(found.lpn) && mask & !found.mask == 0 => Ok(found.data.clone()),
                Some(found) => Err(format!(
                    "slot {} holds granules {:x} of unit {}, asked are {mask:x} of {lpn:?}",
                    slot.0, found.mask, found.lpn
                )),
                None => Err(format!("slot {} holds nothing", slot.0)),
            },
            Source::Flash(unit) => match &self.flash[unit.index()] {
                Some(found) if right(found.lpn) => Ok(found.data.clone()),
                Some(found) => Err(format!("flash unit {} holds unit {}, not {lpn:?}", unit.0, found.lpn)),
                None => Err(format!("flash unit {} holds nothing", unit.0)),
            },
        }
    }

    fn fill(&mut self, slot: u32, from: Source, mask: u64) -> Verdict {
        let source_lpn = match from {
            Source::Zero => return Err("a fill from nowhere".to_owned()),
            Source::Slot(slot) => self.slots.get(&slot.0).map(|slot| slot.lpn),
            Source::Flash(unit) => self.flash[unit.index()].as_ref().map(|stored| stored.lpn),
        };
        let data = self.content(None, from, mask)?;
        let lpn = source_lpn.ok_or("a fill from an empty place")?;
        let fresh = || Slot { lpn, mask: 0, data: vec![0; self.shape.granules] };
        let found = self.slots.entry(slot).or_insert_with(fresh);
        ensure!(found.lpn == lpn, "slot {slot} of unit {} filled with data of unit {lpn}", found.lpn);
        ensure!(found.mask & mask == 0, "slot {slot} filled over data it holds");
        found.mask |= mask;
        for g in bits(mask) {
            found.data[g] = data[g];
        }
        Ok(())
    }

    fn store(&mut self, lpn: u32, to: u32, sequence: u64, data: Vec<u64>) -> Verdict {
        let place = &mut self.flash[to as usize];
        ensure!(place.is_none(), "flash unit {to} programmed twice without an erase");
        *place = Some(Stored { lpn, sequence, data });
        if sequence > self.lost[lpn as usize].0 {
            self.found_again(lpn);
        }
        self.copies[lpn as usize].push(to);
        Ok(())
    }

    /// A lost unit has data again.
    fn found_again(&mut self, lpn: u32) {
        let (lost, found) = &mut self.lost[lpn as usize];
        if *found < *lost {
            *found = self.clock;
        }
    }

    /// A unit is lost, as only a read of what it was mapped to can tell; or what was written over part of it meanwhile
    /// is given up, too.
    fn lose(&mut self, lpn: u32) -> Verdict {
        let mapped = self.mapped[lpn as usize].take();
        let (lost, found) = &mut self.lost[lpn as usize];
        let is_known = mapped.map_or(found < lost, |unit| self.unreadable[unit as usize]);
        ensure!(is_known, "unit {lpn}, mapped to {mapped:?}, is lost without a read of it that failed");
        *lost = self.clock;
        self.units_lost += 1;
        Ok(())
    }

    /// Whether a command may end as uncorrectable: a unit it needs was lost while it was under way, or before and not
    /// written again before it was submitted.
    fn may_be_lost(&self, pending: &Pending) -> bool {
        self.shape.units(&pending.command).any(|lpn| {
            let (lost, found) = self.lost[lpn as usize];
            lost > 0 && (lost > pending.clock || found < lost || found > pending.clock)
        })
    }

    fn program(&mut self, lpn: u32, slot: u32, to: u32) -> Verdict {
        let Some(found) = self.slots.get(&slot) else {
            return Err(format!("slot {slot} programmed, is empty"));
        };
        ensure!(found.lpn == lpn, "slot {slot} of unit {} programmed as unit {lpn}", found.lpn);
        let data = found.data.clone();
        let trimmed = self.trimmed[lpn as usize];
        let is_back = |&&version: &&u64| version > 0 && version <= trimmed;
        let back = data.iter().find(is_back);
        ensure!(back.is_none(), "unit {lpn} has version {back:?} again, and was trimmed at {trimmed}");
        self.mapped[lpn as usize] = Some(to);
        self.store(lpn, to, self.clock, data)
    }

    /// What is done to a mapped unit is done to the one that the mapping points to.
    fn is_mapped(&self, lpn: u32, from: u32) -> Verdict {
        let mapped = self.mapped[lpn as usize];
        ensure!(mapped == Some(from), "unit {lpn} taken from flash unit {from}, it is mapped to {mapped:?}");
        Ok(())
    }

    /// The mapping points to a replica: it must hold what the original does.
    fn adopt(&mut self, lpn: u32, from: u32, to: u32) -> Verdict {
        self.is_mapped(lpn, from)?;
        let held = |unit: u32| self.flash[unit as usize].as_ref().filter(|stored| stored.lpn == lpn);
        let (Some(old), Some(new)) = (held(from), held(to)) else {
            return Err(format!("unit {lpn} adopted from flash unit {from} to {to}, not both hold it"));
        };
        ensure!(
            (old.sequence, &old.data) == (new.sequence, &new.data),
            "unit {lpn} adopted from flash unit {from} to {to}, which hold different versions"
        );
        self.mapped[lpn as usize] = Some(to);
        self.adopted += 1;
        Ok(())
    }

    fn copy(&mut self, lpn: u32, from: u32, to: u32) -> Verdict {
        let Some(found) = &self.flash[from as usize] else {
            return Err(format!("unit {lpn} copied from flash unit {from}, which holds nothing"));
        };
        ensure!(found.lpn == lpn, "unit {lpn} copied from flash unit {from}, which holds unit {}", found.lpn);
        let (sequence, data) = (found.sequence, found.data.clone());
        self.store(lpn, to, sequence, data)
    }

    /// A whole unit was written below the buffer: it is durable at once.
    fn place(&mut self, lpn: u32, to: u32) -> Verdict {
        let clock = self.clock;
        self.mapped[lpn as usize] = Some(to);
        self.store(lpn, to, clock, vec![clock; self.shape.granules])?;
        for g in 0..self.shape.granules {
            let granule = lpn as usize * self.shape.granules + g;
            self.overwrite(granule, clock, clock);
            self.durable[granule] = clock;
        }
        Ok(())
    }

    fn erase(&mut self, first: u32, units: u32) -> Verdict {
        let mut touched = Vec::new();
        self.unreadable[first as usize..][..units as usize].fill(false);
        for unit in first..first + units {
            if let Some(stored) = self.flash[unit as usize].take() {
                self.copies[stored.lpn as usize].retain(|&copy| copy != unit);
                touched.push(stored.lpn);
            }
        }
        touched.into_iter().try_for_each(|lpn| {
            self.survives(lpn).map_err(|what| format!("erase of flash units from {first}: {what}"))
        })
    }

    fn trim(&mut self, lpn: u32) -> Verdict {
        let clock = self.clock;
        let covers = |p: &Pending| {
            let command = &p.command;
            let valid = command.lba.0.saturating_add(u64::from(command.sectors)) <= self.logical_sectors;
            valid && command.op == OpCode::Trim && self.shape.whole_units(command).contains(&lpn)
        };
        ensure!(self.pending.values().any(covers), "unit {lpn} trimmed, nobody asked for it");
        self.trimmed[lpn as usize] = clock;
        if self.dead.is_some() {
            self.trims.entry(lpn).or_default().push(clock);
        }
        self.mapped[lpn as usize] = None;
        self.found_again(lpn);
        for g in 0..self.shape.granules {
            self.overwrite(lpn as usize * self.shape.granules + g, 0, clock);
        }
        Ok(())
    }

    fn read(&mut self, tag: u64, lpn: u32, from: Source, mask: u64) -> Verdict {
        let data = self.content(Some(lpn), from, mask)?;
        let clock = self.clock;
        let Some(pending) = self.pending.get_mut(&tag) else {
            return Err(format!("data for command {tag}, which is not under way"));
        };
        let asked =
            if pending.command.op == OpCode::Read { self.shape.mask(&pending.command, lpn) } else { 0 };
        ensure!(mask & !asked == 0, "command {tag}, unit {lpn}: {mask:x} returned, {asked:x} asked");
        let again = pending.parts.iter().any(|part| part.0 == lpn && part.1 & mask != 0);
        ensure!(!again && !pending.told, "command {tag}, unit {lpn}: data returned twice");
        pending.parts.push((lpn, mask, clock));
        let since = pending.clock;
        for g in bits(mask) {
            let granule = lpn as usize * self.shape.granules + g;
            let was_current = |&(until, version): &(u64, u64)| until > since && version == data[g];
            ensure!(
                data[g] == self.now[granule] || self.past[granule].iter().any(was_current),
                "read {tag}, submitted at step {since}: unit {lpn} granule {g} has version {} from {from:?}, current \
                 is {}, since then were {:?}",
                data[g],
                self.now[granule],
                self.past[granule]
            );
        }
        Ok(())
    }

    /// A command's completion was taken from the drive.
    pub fn complete(&mut self, done: &Completion, may_refuse: bool) -> Verdict {
        let Some(pending) = self.pending.remove(&done.tag) else {
            return Err(format!("command {} completed, it was not under way", done.tag));
        };
        self.done += 1;
        self.reads -= usize::from(pending.command.op == OpCode::Read);
        self.check_answer(done, &pending, may_refuse)?;
        let command = &pending.command;
        let whole = |part: fn(&(u32, u64, u64)) -> (u32, u64)| {
            self.shape.units(command).all(|lpn| {
                let of_unit = pending.parts.iter().map(part).filter(|p| p.0 == lpn);
                of_unit.fold(0, |sum, p| sum | p.1) == self.shape.mask(command, lpn)
            })
        };
        let tag = done.tag;
        match (command.op, done.status) {
            (OpCode::Read, Status::Ok) => ensure!(whole(|p| (p.0, p.1)), "read {tag} left data out"),
            (OpCode::Write, Status::Ok) => {
                ensure!(whole(|p| (p.0, p.1)), "write {tag} left data out");
                if command.fua && self.flushes_program || self.write_through {
                    self.promise(&pending.parts)?;
                }
                self.completed.push(pending.parts);
            }
            (OpCode::Trim, Status::Ok) => {
                let mut units = self.shape.whole_units(command);
                ensure!(
                    units.all(|lpn| self.trimmed[lpn as usize] > pending.clock),
                    "trim {tag} left units out"
                );
            }
            (OpCode::Flush, Status::Ok) if self.flushes_program => {
                for i in self.flushed..pending.completed_before {
                    let parts = std::mem::take(&mut self.completed[i]);
                    self.promise(&parts).map_err(|what| format!("flush {tag}: {what}"))?;
                }
                self.flushed = self.flushed.max(pending.completed_before);
            }
            _ => {
                self.refused += u64::from(done.status == Status::ReadOnly);
                self.uncorrectable += u64::from(done.status == Status::Uncorrectable);
            }
        }
        Ok(())
    }

    fn check_answer(&self, done: &Completion, pending: &Pending, may_refuse: bool) -> Verdict {
        let command = &pending.command;
        ensure!(pending.told, "command {} completed without its effect", done.tag);
        ensure!(
            (done.op, done.lba, done.sectors) == (command.op, command.lba, command.sectors),
            "{done:?} answers {command:?}"
        );
        ensure!(
            done.submitted == pending.submitted
                && done.arrival == command.arrival
                && done.completed >= done.submitted,
            "{done:?} answers {command:?}, submitted at {:?}",
            pending.submitted
        );
        let (total, latency) = (done.breakdown.total(), (done.completed - done.arrival).0);
        ensure!(total == latency, "{done:?}: the parts add up to {total} ns, the latency is {latency} ns");
        let is_flush = command.op == OpCode::Flush;
        let beyond =
            !is_flush && command.lba.0.saturating_add(u64::from(command.sectors)) > self.logical_sectors;
        let expected = match () {
            () if !is_flush && command.sectors == 0 || !command.hints.are_valid() => Status::InvalidField,
            () if beyond => Status::LbaOutOfRange,
            () => Status::Ok,
        };
        // A trim is refused where what it kills cannot be locked any more.
        let writes = command.op != OpCode::Read;
        let refused = expected == Status::Ok && writes && done.status == Status::ReadOnly && may_refuse;
        let lost = expected == Status::Ok
            && matches!(command.op, OpCode::Read | OpCode::Write)
            && done.status == Status::Uncorrectable
            && self.may_be_lost(pending);
        ensure!(
            done.status == expected || refused || lost,
            "{done:?} ended in another status than {expected:?}"
        );
        Ok(())
    }
}
