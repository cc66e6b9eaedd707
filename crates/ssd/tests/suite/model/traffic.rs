//! One random run: commands, waits, and everything else that may be done to a drive, judged by the oracle.

use super::chips::Chips;
use super::hints::Sayings;
use super::hotness::choose_modes;
use super::oracle::{Oracle, Verdict};
use super::setup::{flushes_program, pick, place_pages, random_aging, random_config, random_stream, weaken};
use super::style::Style;
use super::tally::Tally;
use super::techniques;
use super::thief::Thief;
use cuts::Cutter;
use spans::Spans;
use ssd::config::{Table, Value};
use ssd::flash::op::{Cause, OpKind};
use ssd::ftl::sanitize;
use ssd::host::buffer;
use ssd::observe::{ChipEffect, Effect};
use ssd::rng::Rng;
use ssd::{Command, Drive, DriveConfig, Executor, Lba, OpCode, Reason, SimTime};
use std::collections::VecDeque;

#[path = "cuts.rs"]
pub mod cuts;
#[path = "judged.rs"]
mod judged;
#[path = "phases.rs"]
mod phases;
#[path = "rest.rs"]
mod rest;
#[path = "spans.rs"]
mod spans;

/// The power is cut after one effect in so many.
const CUT_EVERY: u32 = 1_000;

/// Commands that are drawn at once where the drive is told of them beforehand.
const AHEAD: usize = 500;

/// Records what happens, on the chips as well or not.
fn record(drive: &mut Drive, chips: bool) {
    if chips { drive.record_chip_effects(true) } else { drive.record_effects(true) }
}

/// Tells a drive that looks ahead which commands come.
fn tell(drive: &mut Drive, commands: &VecDeque<Command>) {
    if !drive.ahead().is_wanted() {
        return;
    }
    let mut foreseeing = drive.ahead().begin();
    commands.iter().try_for_each(|command| foreseeing.take(command)).unwrap();
    drive.foresee(foreseeing.finish()).unwrap();
}

/// Where a run stands.
pub struct Run {
    cfg: DriveConfig,
    rng: Rng,
    drive: Drive,
    oracle: Oracle,
    /// What is on the chips, in one run of four, and when the power is cut.
    chips: Option<Chips>,
    cuts: Rng,
    /// Who looks for what should be gone, where it should.
    thief: Option<Thief>,
    /// What the host says of its commands.
    hints: Sayings,
    /// Commands drawn and not yet submitted, where the drive was told of them.
    ahead: VecDeque<Command>,
    ahead_rng: Rng,
    style: Style,
    next_tag: u64,
    arrival: SimTime,
    /// The drive has refused writes once.
    refusing: bool,
    /// Who has the power cut in the middle of what chips do.
    cutter: Option<Cutter>,
    /// Steps of ageing that it has taken.
    aged: u64,
    /// Spans, where the drive tells them and whom commands wait for.
    spans: Option<Spans>,
}

impl Run {
    /// The run of a seed, which draws the drive too.
    pub fn new(seed: u64) -> Run {
        let mut rng = Rng::named(seed, "model");
        let cfg = random_config(&mut rng);
        Run::of(cfg, rng)
    }

    /// The run of a seed whose drive has cells that age.
    pub fn aging(seed: u64) -> Run {
        let mut rng = Rng::named(seed, "model/aging");
        let mut cfg = random_config(&mut rng);
        random_aging(&mut cfg, &mut rng);
        Run::of(cfg, rng)
    }

    /// The run of a seed whose drive has cells that age, and makes replicas of what is read often.
    pub fn replicating(seed: u64) -> Run {
        let mut rng = Rng::named(seed, "model/replicas");
        let mut cfg = random_config(&mut rng);
        random_aging(&mut cfg, &mut rng);
        techniques::random_redftl(&mut cfg, &mut rng);
        if rng.below(2) == 0 {
            weaken(&mut cfg);
        }
        Run::of(cfg, rng)
    }

    /// The run of a seed whose drive has a plane for each page; half of them write mostly to one plane.
    pub fn placed(seed: u64) -> Run {
        let mut rng = Rng::named(seed, "model/placement");
        let mut cfg = random_config(&mut rng);
        while !place_pages(&mut cfg) {
            cfg = random_config(&mut rng);
        }
        if rng.below(8) == 0 {
            random_aging(&mut cfg, &mut rng);
        }
        let replicas = Value::Integer(0);
        if cfg.replica_pages_per_block() > 0 {
            cfg.read_reclaim.set("replica_limit", &replicas).unwrap();
        }
        let lanes = cfg.lanes();
        let mut run = Run::of(cfg, rng);
        if run.rng.below(2) == 0 {
            let pages = run.style.footprint.div_ceil(lanes);
            let hot_first = run.rng.below(lanes.min(run.style.footprint));
            run.style =
                Style { hot_percent: 95, hot_first, hot_units: pages, hot_stride: lanes, ..run.style };
        }
        run
    }

    /// The run of a seed whose drive separates data, by any policy.
    pub fn separated(seed: u64) -> Run {
        let mut rng = Rng::named(seed, "model/streams");
        let mut cfg = random_config(&mut rng);
        while !random_stream(&mut cfg, &mut rng) {
            cfg = random_config(&mut rng);
        }
        if rng.below(8) == 0 {
            random_aging(&mut cfg, &mut rng);
            choose_modes(&mut cfg);
        }
        Run::of(cfg, rng)
    }

    /// The run of a seed whose drive is drawn so.
    pub fn drawn(seed: u64, by: &str, draw: fn(&mut Rng) -> DriveConfig) -> Run {
        let mut rng = Rng::named(seed, by);
        Run::of(draw(&mut rng), rng)
    }

    /// The run of a seed whose drive is drawn so, and is watched by a thief.
    pub fn watched(seed: u64, by: &str, draw: fn(&mut Rng) -> DriveConfig) -> Run {
        Run::drawn(seed, by, draw).watch(seed)
    }

    fn watch(self, seed: u64) -> Run {
        let mut run = self;
        (run.chips, run.oracle.dead) = (Some(Chips::of(&run.cfg)), Some(Vec::new()));
        // A thief is promised nothing gone where commands do not wait for locks; without locks he must find.
        let rules = sanitize::Policy::build(&run.cfg.sanitize).rules();
        let finds = run.cfg.sanitize.name() == sanitize::FAMILY.default;
        run.thief = (rules.after_lock || finds)
            .then(|| Thief::new(rules.is_secure_by_default || finds).of_every_write(rules.every_write));
        run.hints = Sayings::new(seed).with_classes(seed);
        if sanitize::Policy::build(&run.cfg.sanitize).locks_blocks() {
            run.style.trims_ranges(&mut Rng::named(seed, "model/trims"), run.drive.unit_bytes() / 512);
        }
        record(&mut run.drive, true);
        run
    }

    fn of(cfg: DriveConfig, mut rng: Rng) -> Run {
        let mut drive = Drive::new(&cfg).unwrap();
        // A sequence of its own, which disturbs no other.
        let mut cuts = Rng::named(rng.clone().next_u64(), "cuts");
        let hints = Sayings::new(rng.clone().next_u64());
        let chips = (cuts.below(4) == 0).then(|| Chips::of(&cfg));
        record(&mut drive, chips.is_some());
        let physical = drive.blocks().pages() as usize * cfg.units_per_page() as usize;
        let every_write = sanitize::Policy::build(&cfg.sanitize).rules().every_write;
        let write_through = matches!(cfg.buffer, buffer::Config::None(_)) || every_write;
        let (unit_bytes, units) = (drive.unit_bytes(), drive.logical_units());
        let loses = drive.chips().ages() || cfg.sanitize.name() == sanitize::reprogram::NAME;
        let oracle =
            Oracle::new((unit_bytes, units, physical), (write_through, flushes_program(&cfg)), loses);
        let style = Style::random(&mut rng, drive.logical_units(), drive.unit_bytes() / 512);
        let tells = Rng::named(cfg.drive.seed, "model/holders").below(2) == 0;
        let spans = tells.then(|| Spans::begin(&mut drive));
        let (ahead, ahead_rng) = (VecDeque::new(), Rng::named(cfg.drive.seed, "model/ahead"));
        Run {
            cfg,
            rng,
            drive,
            oracle,
            chips,
            cuts,
            thief: None,
            hints,
            ahead,
            ahead_rng,
            style,
            next_tag: 1,
            arrival: SimTime(0),
            refusing: false,
            cutter: None,
            aged: 0,
            spans,
        }
    }

    /// What a failure report should say of the run.
    pub fn describe(&self) -> String {
        let now = self.drive.now().0;
        let changed: Vec<String> = self
            .cfg
            .sections()
            .flat_map(|(path, table)| {
                let usual = DriveConfig::default();
                table
                    .fields()
                    .iter()
                    .filter_map(|field| {
                        let value = table.show(field.key)?;
                        let is_usual = usual.section(path)?.show(field.key).as_ref() == Some(&value);
                        (!is_usual).then(|| format!("  {path}.{} = {value}", field.key))
                    })
                    .chain(table.policy().map(|policy| format!("  {path}.policy = {policy}")))
                    .collect::<Vec<_>>()
            })
            .collect();
        format!("at {now} ns, command {}, {} done\n{}", self.next_tag, self.oracle.done, changed.join("\n"))
    }

    /// Runs until `commands` are done.
    pub fn run(&mut self, commands: u64) -> Verdict {
        let share = pick(&mut self.rng, &[0, 0, 30, 100]);
        let units = (u64::from(self.style.footprint) * share / 100) as u32;
        if units > 0 {
            self.write_below(None, units)?;
        }
        self.serve(commands)?;
        self.finish()
    }

    /// Goes on until `commands` are done.
    fn serve(&mut self, commands: u64) -> Verdict {
        let mut idle = 0;
        while self.oracle.done < commands {
            let before = self.oracle.done;
            self.act()?;
            idle = if self.oracle.done > before { 0 } else { idle + 1 };
            if idle > 10_000 {
                return Err("nothing completes any more".to_owned());
            }
        }
        Ok(())
    }

    fn act(&mut self) -> Verdict {
        if self.rng.below(self.style.upheaval_every) == 0 {
            return self.upheaval();
        }
        if self.style.open_loop { self.act_open() } else { self.act_closed() }
    }

    /// Keeps so many commands under way, with a think time now and then.
    fn act_closed(&mut self) -> Verdict {
        if self.oracle.outstanding() < self.style.depth {
            let command = self.command();
            let queue = self.rng.below(self.drive.queues() as u32) as usize;
            if self.drive.queue_has_room(queue) {
                let think = if self.rng.below(4) == 0 { self.gap() } else { 0 };
                return self.submit(queue, command, SimTime(self.drive.now().0 + think));
            }
            if self.drive.ahead().is_wanted() {
                self.ahead.push_front(command);
            }
        }
        if !self.advance()? {
            return self.stuck();
        }
        self.collect()
    }

    /// Submits at arrival times whatever is under way; a full queue delays.
    fn act_open(&mut self) -> Verdict {
        let gap = self.gap();
        self.arrival = SimTime(self.arrival.0 + gap);
        let command = Command { arrival: self.arrival, ..self.command() };
        let queue = self.rng.below(self.drive.queues() as u32) as usize;
        if self.rng.below(2) == 0 && self.arrival > self.drive.now() {
            self.drive.advance_to(self.arrival);
            self.collect()?;
        }
        while !self.drive.queue_has_room(queue) {
            if !self.advance()? {
                return self.stuck();
            }
            self.collect()?;
        }
        self.submit(queue, command, self.arrival.max(self.drive.now()))?;
        self.collect()
    }

    /// Nothing is left to happen, and commands are.
    fn stuck(&self) -> Verdict {
        Err(format!("stuck with {}", self.oracle.under_way()))
    }

    fn gap(&mut self) -> u64 {
        u64::from(self.rng.below(2 * self.style.mean_gap_ns))
    }

    /// The next command; from those that the drive was told of, if it looks ahead.
    fn command(&mut self) -> Command {
        let drawn = if self.drive.ahead().is_wanted() {
            if self.ahead.is_empty() {
                let mut rng = self.ahead_rng.clone();
                self.ahead = (0..AHEAD).map(|_| self.draw(&mut rng)).collect();
                self.ahead_rng = rng;
                tell(&mut self.drive, &self.ahead);
            }
            self.ahead.pop_front().expect("some were drawn")
        } else {
            let mut rng = self.rng.clone();
            let command = self.draw(&mut rng);
            self.rng = rng;
            command
        };
        self.next_tag += 1;
        let (tag, arrival) = (self.next_tag - 1, self.drive.now());
        Command { tag, arrival, hints: self.hints.next(self.drive.ahead().is_wanted()), ..drawn }
    }

    fn draw(&self, rng: &mut Rng) -> Command {
        let style = &self.style;
        let unit_sectors = u64::from(self.drive.unit_bytes()) / 512;
        let hot = rng.below(100) < style.hot_percent;
        let unit = match hot {
            true => style.hot_first + rng.below(style.hot_units) * style.hot_stride,
            false => rng.below(style.footprint),
        };
        let offset = if rng.below(2) == 0 { 0 } else { u64::from(rng.below(unit_sectors as u32)) };
        let lba = (u64::from(unit) * unit_sectors + offset).min(self.drive.logical_sectors() - 1);
        let room = self.drive.logical_sectors() - lba;
        let sectors = u64::from(match rng.below(3) {
            0 => 1 + rng.below(style.sectors_at_most),
            1 => (1 + rng.below(8)) * unit_sectors as u32,
            _ => unit_sectors as u32,
        });
        let mut command = Command { lba: Lba(lba), sectors: sectors.min(room) as u32, ..Command::default() };
        let kind = rng.below(100);
        let (reads, trims) = (style.read_percent, style.read_percent + style.trim_percent);
        command.op = match () {
            () if kind < reads => OpCode::Read,
            () if kind < trims => OpCode::Trim,
            () if kind < trims + style.flush_percent => OpCode::Flush,
            () => OpCode::Write,
        };
        command.fua = command.op == OpCode::Write && rng.below(100) < style.fua_percent;
        if rng.below(100) == 0 {
            match rng.below(3) {
                0 => command.sectors = 0,
                1 => command.lba = Lba(self.drive.logical_sectors() - rng.below(2) as u64),
                _ => command.lba = Lba(u64::MAX - u64::from(rng.below(9))),
            }
        }
        command
    }

    fn submit(&mut self, queue: usize, command: Command, at: SimTime) -> Verdict {
        if self.rng.below(2) == 0 {
            self.drive.advance_to(at);
        }
        self.effects()?;
        self.oracle.submit(&command, at);
        self.drive.submit(queue, &command, at).map_err(|command| format!("no room for {command:?}"))?;
        self.effects()
    }

    fn effects(&mut self) -> Verdict {
        while let Some(effect) = self.drive.pop_effect() {
            let what = |what| format!("{effect:?}: {what}");
            if let (Some(thief), Some(chips), Effect::Complete { tag, .. }) =
                (&mut self.thief, &self.chips, effect)
            {
                let refuses = self.refusing || self.drive.health().read_only.is_some();
                thief.complete(tag, &self.oracle, chips, refuses).map_err(what)?;
            }
            self.oracle.apply(effect).map_err(what)?;
            if let Some(thief) = &mut self.thief {
                match effect {
                    Effect::Accept { tag, .. } => {
                        let (class, clock) = self.oracle.class_of(tag);
                        thief.note_version(clock, class);
                    }
                    Effect::Place { .. } => thief.note_version(self.oracle.class_of(0).1, 0),
                    _ => {}
                }
                thief.note_dead(self.oracle.dead.as_mut().map(std::mem::take).unwrap_or_default());
            }
            let Some(chips) = &mut self.chips else { continue };
            match effect {
                Effect::Chip(effect) => {
                    chips.apply(effect, &self.oracle).map_err(what)?;
                    if let (Some(thief), ChipEffect::ProgramEnds { block, page, .. }) = (&self.thief, effect)
                    {
                        let granules = self.oracle.shape().granules;
                        thief.appears(granules, chips.on_page(block, page)).map_err(what)?;
                    }
                }
                Effect::Unreadable { first, units } if !self.drive.chips().ages() => {
                    chips.is_spoiled(first.0..first.0 + units).map_err(what)?;
                }
                Effect::Place { to, .. } => {
                    chips.place(to.0, self.oracle.stored(to.0).unwrap_or_default()).map_err(what)?;
                }
                _ => {}
            }
            if self.cuts.below(CUT_EVERY) == 0 {
                chips.cut(&self.oracle).map_err(|what| format!("power cut after {effect:?}: {what}"))?;
            }
        }
        Ok(())
    }

    /// Takes what has completed.
    fn collect(&mut self) -> Verdict {
        self.effects()?;
        let health = self.drive.health();
        self.refusing |= health.read_only.is_some();
        if let Some(reason) = health.read_only {
            self.may_refuse(reason)?;
        }
        self.spans.as_mut().map_or(Ok(()), |spans| spans.take(&mut self.drive))?;
        while let Some(done) = self.drive.pop_completion() {
            self.oracle.complete(&done, self.refusing)?;
            if self.spans.is_some() {
                self.check_held(&done)?;
            }
            if done.completed > self.drive.now() {
                return Err(format!("{done:?} lies in the future"));
            }
        }
        Ok(())
    }

    /// Something else than commands and waits.
    fn upheaval(&mut self) -> Verdict {
        match self.rng.below(12) {
            0 | 8..=20 => self.check()?,
            1 => self.drive.set_executor(pick(&mut self.rng, &[Executor::Timed, Executor::Functional])),
            2 => self.snapshot()?,
            3 => self.drive.flush_buffer(),
            4 => self.rest()?,
            5 => {
                let count = 1 + self.rng.below(self.style.footprint.min(300));
                let from = self.rng.below(self.style.footprint - count + 1);
                self.would_rest()?;
                self.write_below(Some(from).filter(|_| count.is_multiple_of(2)), count)?;
            }
            6 => {
                let long = u64::from(self.rng.below(20_000_000));
                self.drive.advance_to(SimTime(self.drive.now().0 + long));
            }
            _ => {
                self.effects()?;
                self.oracle.power_cut().map_err(|what| format!("power cut: {what}"))?;
            }
        }
        self.collect()
    }

    fn check(&mut self) -> Verdict {
        self.effects()?;
        if let Some(chips) = self.chips.as_mut().filter(|_| self.thief.is_some()) {
            chips.check_answers(&self.drive, self.cfg.geometry.pages_per_block())?;
        }
        self.drive.check().map_err(|what| format!("check: {what}"))
    }

    /// Fills from a unit, or overwrites units at random, below the buffer.
    fn write_below(&mut self, from: Option<u32>, count: u32) -> Verdict {
        let result = match from {
            Some(from) => self.drive.fill(from, count),
            None => {
                let units: Vec<u32> = (0..count).map(|_| self.rng.below(self.style.footprint)).collect();
                self.drive.overwrite(&units)
            }
        };
        if result.is_err() {
            self.may_refuse(self.drive.health().read_only.unwrap_or(Reason::WornOut))?;
        }
        self.collect()
    }

    /// Lets everything end, and reads the whole drive.
    fn finish(&mut self) -> Verdict {
        let until = self.oracle.done + self.oracle.outstanding() as u64;
        while self.oracle.done < until {
            if !self.advance()? {
                return self.stuck();
            }
            self.collect()?;
        }
        let sectors = 97 * self.drive.unit_bytes() / 512;
        for lba in (0..self.drive.logical_sectors()).step_by(sectors as usize) {
            let sectors = u64::from(sectors).min(self.drive.logical_sectors() - lba) as u32;
            let command = Command { lba: Lba(lba), sectors, tag: self.next_tag, ..Command::default() };
            self.next_tag += 1;
            self.submit(0, Command { arrival: self.drive.now(), ..command }, self.drive.now())?;
            while self.oracle.outstanding() > 0 {
                if !self.advance()? {
                    return self.stuck();
                }
                self.collect()?;
            }
        }
        self.rest()?;
        self.check()?;
        if let Some(spans) = &mut self.spans {
            spans.check(&mut self.drive)?;
        }
        self.oracle.power_cut().map_err(|what| format!("power cut: {what}"))
    }

    /// For how long a page was exposed at most, or is, and may be; ns.
    pub fn longest_exposure(&self) -> (u64, u64) {
        let open = self.drive.reports().sanitize().open.times.ns_max;
        let most = sanitize::Policy::build(&self.cfg.sanitize).rules().max_exposed_ns;
        (self.drive.stats().ftl.exposed_ns_max.max(open), most)
    }

    /// What was done.
    pub fn tally(&self) -> Tally {
        let health = self.drive.health();
        Tally {
            runs: 1,
            aged: self.aged,
            commands: self.oracle.done,
            refused: self.oracle.refused,
            uncorrectable: self.oracle.uncorrectable,
            units_lost: self.oracle.units_lost,
            reclaimed: self.drive.stats().flash.ops[OpKind::Program as usize][Cause::ReadReclaim as usize],
            replica_reads: self.drive.stats().ftl.replica_reads,
            replicas: self.oracle.replicated,
            adopted: self.oracle.adopted,
            cuts: self.chips.as_ref().map_or(0, |chips| chips.cuts),
            cuts_in_programs: self.chips.as_ref().map_or(0, |chips| chips.cuts_in_programs),
            failed_replicas: self.drive.stats().ftl.replicas_failed,
            mixed: self.drive.stats().ftl.mixed_units,
            matched: self.drive.stats().ftl.class_matched,
            neighbour: self.drive.stats().ftl.class_neighbour,
            destaged: self.drive.stats().ftl.slc_destaged,
            page_locks: self.drive.stats().ops(OpKind::PageLock),
            block_locks: self.drive.stats().ops(OpKind::BlockLock),
            failed_locks: self.drive.stats().flash.lock_fails,
            scrubs: self.drive.stats().ops(OpKind::Scrub),
            one_bit_hidden: self.chips.as_ref().map_or(0, |chips| chips.one_bit_hidden),
            copies: self.drive.stats().ftl.copies,
            copies_refused: self.drive.stats().ftl.copies_refused_by_reprogram,
            reprograms: self.drive.stats().ops(OpKind::Reprogram),
            spoiled: if self.drive.chips().ages() { 0 } else { self.oracle.units_lost },
            relocks: self.drive.stats().ftl.sanitize_relocks,
            lock_copies: self.drive.stats().ftl.sanitize_copies,
            stops: self.drive.stats().flash.suspends.iter().flatten().sum(),
            exposed_percent: {
                let (longest_ns, most_ns) = self.longest_exposure();
                (100 * longest_ns).checked_div(most_ns).unwrap_or(0)
            },
            looked: self.thief.as_ref().map_or(0, |thief| thief.looked),
            read_by_age: match self.cfg.read_voltage.name() {
                "table_by_age" => self.drive.stats().flash.retries.iter().sum(),
                _ => 0,
            },
            worn_out: u64::from(health.read_only.is_some()),
            erases: health.wear.total,
            retired: u64::from(health.wear.retired),
        }
    }
}
