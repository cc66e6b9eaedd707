//! Processes that go through their steps: operations in time, and the requests that come of them.

use super::database::Database;
use super::layout::Layout;
use super::out::FIRST;
use super::sizes;
use super::spec::{CACHE_PAGES_MIN, FilesSpec, pages_of};
use super::steps::Step;
use super::system::{File, System, Who};
use crate::base::draw::below;
use crate::base::error::{Problem, WorkloadError};
use crate::base::report::SourceReport;
use crate::base::request::{FilesAtStart, PAGE_BYTES, PAGE_SECTORS, Request, Source};
use crate::generate::synthetic::arrival::Clock;
use crate::generate::synthetic::scatter::Scatter;
use crate::generate::synthetic::zipf::Zipf;
use crate::stack::page_cache::PageCache;
use ssd::rng::{Rng, chance};
use std::sync::Arc;

/// So many operations in a row that ask nothing of the drive are an error.
const QUIET_MAX: u64 = 10_000_000;
/// Longest time of an operation: 146 years.
const NS_MAX: u64 = 1 << 62;
/// Files or places drawn at most to fill a cache that may hold nearly all, for each that there is.
const WARM_DRAWS: u64 = 8;
/// Files looked at before there is none to delete.
const TRIES: u32 = 32;

/// A process.
#[derive(Clone, Default)]
struct Lane {
    step: usize,
    /// The chosen file and its number: another may come to have its slot.
    chosen: Option<(u32, u32)>,
    /// The transaction that must commit before it goes on.
    waits_for: Option<u64>,
}

/// Places of equal size in files of equal size.
#[derive(Clone)]
struct Places {
    files: u64,
    in_file: u64,
    /// 4-KiB pages of a place.
    pages: u64,
    skew: Option<(Arc<Zipf>, Scatter)>,
}

impl Places {
    fn draw(&self, rng: &mut Rng) -> (u32, u64) {
        let place = match &self.skew {
            Some((zipf, scatter)) => scatter.place(zipf.sample(rng)),
            None => below(rng, self.files * self.in_file),
        };
        ((place / self.in_file) as u32, place % self.in_file)
    }
}

/// Requests of applications on files.
#[derive(Clone)]
pub(super) struct Load {
    spec: FilesSpec,
    program: Vec<(Step, u32)>,
    pub(super) system: System,
    database: Option<Database>,
    lanes: Vec<Lane>,
    /// Files there are that can be chosen, and slots of those that are not.
    pub(super) live: Vec<u32>,
    pub(super) empty: Vec<u32>,
    log: Option<u32>,
    popularity: Option<Arc<Zipf>>,
    places: Option<Places>,
    clock: Clock,
    left: u64,
    turns: Rng,
    choices: Rng,
    lengths: Rng,
    classes: Rng,
}

/// The files there are at the start.
struct Population {
    sizes: Vec<u64>,
    /// Slots of files that may be created.
    slots: u32,
}

impl Population {
    fn new(spec: &FilesSpec, blocks: u32, lengths: &mut Rng) -> Self {
        let unit = u64::from(spec.unit_blocks());
        let room = (f64::from(blocks) * (spec.fill_percent / 100.0)) as u64 / unit;
        let page = unit * PAGE_BYTES;
        if let Some(share) = (room * page).checked_div(spec.files) {
            let step = (spec.page_kib << 10).max(page);
            let size = (share / step).max(1) * step;
            return Population { sizes: vec![size; spec.files as usize], slots: spec.files as u32 };
        }
        let (mut sizes, mut used) = (Vec::new(), 0);
        while used < room {
            let size = sizes::draw(spec, lengths);
            used += size.div_ceil(page);
            sizes.push(size);
        }
        let slots = (sizes.len() as f64 / (spec.files_at_start_percent / 100.0)) as u32;
        Population { slots: slots.max(sizes.len() as u32), sizes }
    }

    /// Bytes of all files.
    fn bytes(&self) -> u64 {
        self.sizes.iter().sum()
    }
}

impl Load {
    pub(super) fn new(spec: &FilesSpec, drive_sectors: u64) -> Result<Self, WorkloadError> {
        spec.check()?;
        let named = |what: &str| Rng::named(spec.seed, &format!("workload/files/{what}"));
        let mut lengths = named("size");
        let blocks = spec.blocks(drive_sectors)?;
        let population = Population::new(spec, blocks, &mut lengths);
        let has_log = spec.steps.has(|step| matches!(step, Step::Log | Step::SyncLog));
        let has_tables = spec.steps.has(Step::is_of_database);
        let untouched = (f64::from(blocks) * PAGE_BYTES as f64 * (spec.untouched_percent / 100.0)) as u64;
        // The log, the redo, the doublewrite area.
        let slots = population.slots + 3 + (untouched / (spec.untouched_mib << 20)) as u32;
        let layout = Layout::new(spec, slots, blocks)?;
        let data = layout.data;
        let pages = match has_tables {
            // The buffer pool is where the memory is.
            true => CACHE_PAGES_MIN,
            false => spec.cache_pages(population.bytes(), PAGE_BYTES),
        };
        let system = System::new(spec, layout, PageCache::new(spec.rules(pages)));
        let mut load = Load {
            program: spec.steps.program(),
            database: None,
            lanes: vec![Lane::default(); spec.processes as usize],
            live: Vec::new(),
            empty: (population.sizes.len() as u32..population.slots).rev().collect(),
            log: has_log.then_some(population.slots),
            popularity: (spec.file_theta > 0.0)
                .then(|| Zipf::shared(u64::from(population.slots), spec.file_theta)),
            places: places(spec, &population),
            clock: Clock::new(spec.arrival(), spec.ops_per_s, spec.bursts(), spec.seed),
            left: spec.count,
            turns: named("turn"),
            choices: named("choice"),
            lengths,
            classes: named("class"),
            system,
            spec: spec.clone(),
        };
        load.format(&population, slots, has_tables).map_err(|needed: u64| {
            let over = needed * PAGE_SECTORS * u64::from(spec.unit_blocks());
            WorkloadError::from(Problem::DoesNotFit {
                what: "the workload's files".into(),
                needed_sectors: u64::from(data) * PAGE_SECTORS + over,
                drive_sectors: u64::from(blocks) * PAGE_SECTORS,
                advice: "take a smaller fill_percent, or a larger drive or footprint_gib".into(),
            })
        })?;
        Ok(load)
    }

    /// Puts the files of the start in their places; an error is the units that all of them need.
    fn format(&mut self, population: &Population, slots: u32, has_tables: bool) -> Result<(), u64> {
        self.system.files = vec![File::default(); slots as usize];
        let first = population.slots;
        let unit = self.system.unit_bytes();
        let mut special = Vec::new();
        if let Some(log) = self.log {
            special.push((log, 0));
        }
        if has_tables {
            special.push((first + 1, self.spec.redo_mib << 20));
            if self.spec.doublewrite {
                special.push((first + 2, Database::double_bytes(&self.spec)));
            }
        }
        special.extend((first + 3..slots).map(|slot| (slot, self.spec.untouched_mib << 20)));
        let all = || special.iter().map(|(_, bytes)| *bytes).chain(population.sizes.iter().copied());
        let needed = all().map(|bytes| bytes.div_ceil(unit)).sum();
        for (slot, bytes) in (0..).zip(population.sizes.iter().copied()).chain(special.iter().copied()) {
            if !self.system.format_file(slot, bytes) {
                return Err(needed);
            }
            if slot < first {
                self.join_live(slot);
                // New ones are not: or else in the end all files would be.
                let kept = chance(self.spec.kept_percent * 1e4);
                self.system.files[slot as usize].is_kept = self.classes.hits(kept);
            }
        }
        if has_tables {
            let double = self.spec.doublewrite.then_some(first + 2);
            self.database = Some(Database::new(&self.spec, population.bytes(), first + 1, double));
        }
        self.system.mount(&self.spec);
        self.warm();
        // Processes begin at different steps, as after a while.
        let steps = self.program.len() as u64;
        self.lanes.iter_mut().for_each(|lane| lane.step = below(&mut self.turns, steps) as usize);
        Ok(())
    }

    /// Fills the page cache, and the pool, with what would have been chosen before.
    fn warm(&mut self) {
        if let (Some(database), Some(places)) = (&mut self.database, &self.places) {
            for _ in 0..WARM_DRAWS * places.files * places.in_file {
                let (slot, page) = places.draw(&mut self.choices);
                if !database.warm(slot, page) {
                    break;
                }
            }
            return;
        }
        for _ in 0..WARM_DRAWS * self.live.len() as u64 {
            let is_room = self.pick().is_none_or(|(slot, _)| self.system.warm(slot));
            if !is_room {
                break;
            }
        }
    }

    /// A file is there and can be chosen.
    fn join_live(&mut self, slot: u32) {
        let secure = chance(self.spec.secure_percent * 1e4);
        self.system.files[slot as usize].is_secure = self.classes.hits(secure);
        self.live.push(slot);
    }

    /// The next step of some process.
    pub(super) fn operate(&mut self) {
        let now_ns = self.clock.tick();
        self.system.catch_up(now_ns);
        let lane = self.turn();
        let (step, place) = loop {
            let at = self.lanes[lane].step;
            self.lanes[lane].step = (at + 1) % self.program.len();
            match self.program[at] {
                (Step::Pick, _) => self.lanes[lane].chosen = self.pick(),
                step => break step,
            }
        };
        let who = Who { process: FIRST + lane as u32, context: FIRST + place };
        self.step(step, lane, who);
        self.system.settle();
        if let Some(database) = &mut self.database {
            database.settle(&mut self.system);
        }
    }

    /// A process that does not wait for a commit. If all do, it need wait for no others.
    fn turn(&mut self) -> usize {
        let first = self.turns.below(self.lanes.len() as u32) as usize;
        let running = Some(self.system.running());
        let mut all = (first..self.lanes.len()).chain(0..first);
        all.find(|&lane| self.lanes[lane].waits_for != running).unwrap_or_else(|| {
            self.system.commit();
            first
        })
    }

    fn step(&mut self, step: Step, lane: usize, who: Who) {
        match step {
            Step::Create => self.lanes[lane].chosen = self.create(),
            Step::Delete => self.delete(),
            Step::Log => self.log(who),
            Step::SyncLog => {
                self.lanes[lane].waits_for = self.log.and_then(|log| self.system.fsync(log));
            }
            Step::Overwrite | Step::ReadPart => self.part(step == Step::Overwrite, lane, who),
            _ if step.is_of_database() => self.row(step, who),
            _ => {
                let Some(slot) = self.chosen(lane) else { return };
                match step {
                    Step::Write => {
                        let bytes = sizes::draw(&self.spec, &mut self.lengths);
                        if self.system.files[slot as usize].bytes > 0 {
                            self.system.truncate(slot);
                        }
                        self.system.write(slot, 0, bytes, who);
                    }
                    Step::Append => self.append(slot, who),
                    Step::Truncate => self.system.truncate(slot),
                    Step::Rename => self.system.rename(slot),
                    Step::Fsync => self.lanes[lane].waits_for = self.system.fsync(slot),
                    _ => self.system.read(slot, 0, u64::from(u32::MAX), who),
                }
            }
        }
    }

    fn append(&mut self, slot: u32, who: Who) {
        let (least, most) = ((self.spec.append_min_kib << 10).max(1), self.spec.append_max_kib << 10);
        let bytes = sizes::even(&self.spec, least, most, &mut self.lengths);
        let end = self.system.files[slot as usize].bytes;
        self.system.write(slot, end, bytes, who);
    }

    fn pick(&mut self) -> Option<(u32, u32)> {
        let live = self.live.len() as u64;
        if live == 0 {
            return None;
        }
        let at = match &self.popularity {
            // More may exist than there are.
            Some(zipf) => loop {
                let rank = zipf.sample(&mut self.choices);
                if rank < live {
                    break rank;
                }
            },
            None => below(&mut self.choices, live),
        };
        let slot = self.live[at as usize];
        Some((slot, self.system.files[slot as usize].id))
    }

    /// The process's chosen file; another one if that is no more.
    fn chosen(&mut self, lane: usize) -> Option<u32> {
        let is_it = |(slot, id): &(u32, u32)| self.system.files[*slot as usize].is(*id);
        let chosen = self.lanes[lane].chosen.filter(is_it).or_else(|| self.pick());
        self.lanes[lane].chosen = chosen;
        chosen.map(|(slot, _)| slot)
    }

    fn create(&mut self) -> Option<(u32, u32)> {
        let Some(slot) = self.empty.pop() else {
            self.system.refused += 1;
            return None;
        };
        self.system.create(slot);
        self.join_live(slot);
        Some((slot, self.system.files[slot as usize].id))
    }

    fn delete(&mut self) {
        let live = self.live.len() as u32;
        for _ in 0..TRIES.min(live) {
            let at = self.choices.below(live) as usize;
            let slot = self.live[at];
            if !self.system.files[slot as usize].is_kept {
                self.live.swap_remove(at);
                self.system.delete(slot);
                self.empty.push(slot);
                return;
            }
        }
    }

    fn log(&mut self, who: Who) {
        let Some(slot) = self.log else { return };
        if self.system.files[slot as usize].bytes >= self.spec.log_mib << 20 {
            self.system.truncate(slot);
        }
        self.append(slot, who);
    }

    /// Overwrites or reads a part of a file.
    fn part(&mut self, is_write: bool, lane: usize, who: Who) {
        let (least, most) = (pages_of(self.spec.part_min_kib), pages_of(self.spec.part_max_kib));
        let pages = least + below(&mut self.lengths, most - least + 1);
        let (slot, first) = match &self.places {
            Some(places) => {
                let (slot, place) = places.draw(&mut self.choices);
                (slot, place * places.pages)
            }
            None => {
                let Some(slot) = self.chosen(lane) else { return };
                let all = self.system.files[slot as usize].bytes.div_ceil(PAGE_BYTES);
                (slot, below(&mut self.choices, all.max(1)))
            }
        };
        let bytes = self.system.files[slot as usize].bytes;
        if !is_write {
            self.system.read(slot, first, pages, who);
        } else if first * PAGE_BYTES < bytes {
            let len = (pages * PAGE_BYTES).min(bytes - first * PAGE_BYTES);
            self.system.write(slot, first * PAGE_BYTES, len, who);
        }
    }

    fn row(&mut self, step: Step, who: Who) {
        let (Some(database), Some(places)) = (&mut self.database, &self.places) else { return };
        let system = &mut self.system;
        if step == Step::Commit {
            return database.commit(system, who);
        }
        let (slot, page) = places.draw(&mut self.choices);
        match step {
            Step::Point | Step::Range => {
                let count = if step == Step::Point { 1 } else { 2 };
                for page in page..(page + count).min(places.in_file) {
                    database.read(system, slot, page, who);
                }
            }
            Step::Update => database.update(system, slot, page, who),
            _ => database.replace(system, (slot, page), step == Step::InsertRow, who),
        }
    }
}

/// Places in files of equal size.
fn places(spec: &FilesSpec, population: &Population) -> Option<Places> {
    let size = *population.sizes.first().filter(|_| spec.files > 0)?;
    let in_file = (size / (spec.page_kib << 10)).max(1);
    let all = in_file * spec.files;
    let skew =
        (spec.place_theta > 0.0).then(|| (Zipf::shared(all, spec.place_theta), Scatter::new(all, spec.seed)));
    Some(Places { files: spec.files, in_file, pages: spec.page_kib / 4, skew })
}

impl Source for Load {
    fn next(&mut self) -> Result<Option<Request>, WorkloadError> {
        if self.left == 0 {
            return Ok(None);
        }
        let mut quiet = 0;
        loop {
            if let Some(request) = self.system.out.queue.pop_front() {
                self.left -= 1;
                return Ok(Some(request));
            }
            if quiet == QUIET_MAX {
                let found = format!("found {QUIET_MAX} operations in a row that send nothing to the drive");
                let allowed = "steps that write, a smaller cache_mib or cache_percent, or room for files";
                return Err(WorkloadError::setting("steps", found, allowed));
            }
            self.operate();
            quiet += 1;
            if self.system.out.now_ns > NS_MAX {
                let found = "found operations that last longer than 146 years";
                return Err(WorkloadError::setting("ops_per_s", found, "more of them, or a smaller count"));
            }
        }
    }

    fn len_hint(&self) -> Option<u64> {
        Some(self.left)
    }

    fn report(&self) -> SourceReport {
        SourceReport { refused_operations: self.system.refused, ..SourceReport::default() }
    }

    fn files_at_start(&self) -> FilesAtStart {
        self.system.files_now()
    }
}
