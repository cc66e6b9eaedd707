//! Nothing is lost and nothing hangs: drives from 64 MiB to 2 TiB, mapping units, superblocks, all policies, buffers,
//! fill levels, workloads and loops. Every run ends with each request served once and all tables in agreement; a drive
//! that cannot go on ends with a reason.

use crate::common::{is_soak, soaked};
use lab::{LoopMode, Overwrite, Preconditioning, RunSpec};
use ssd::policy::FAMILIES;
use ssd::rng::Rng;
use ssd::sections::{ChannelOrder, Issue, MappingUnit, Placement, Superblock};
use ssd::{Drive, DriveConfig, Executor, Hints, OpCode};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::{scope, spawn};
use std::time::Duration;
use workload::{Request, Source, SourceReport, WorkloadError};

/// Far longer than any case takes: a case that is still running then hangs.
const TIMEOUT: Duration = Duration::from_secs(120);

/// What a host does.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Load {
    RandomWrite,
    Mixed,
    Sequential,
    TrimMix,
}

const LOADS: [Load; 4] = [Load::RandomWrite, Load::Mixed, Load::Sequential, Load::TrimMix];

/// A generator with trims, flushes, FUA and sizes that fit no mapping unit.
struct Host {
    load: Load,
    rng: Rng,
    sectors: u64,
    next: u64,
    left: u64,
    time_ns: u64,
}

impl Host {
    fn new(load: Load, sectors: u64, count: u64, seed: u64) -> Self {
        Host { load, rng: Rng::named(seed, "matrix"), sectors, next: 0, left: count, time_ns: 0 }
    }

    fn anywhere(&mut self, sectors: u32) -> u64 {
        let places = self.sectors - u64::from(sectors) + 1;
        ((u128::from(self.rng.next_u64()) * u128::from(places)) >> 64) as u64
    }

    fn request(&mut self) -> Request {
        let chance = self.rng.below(100);
        let odd = 1 + self.rng.below(64);
        let aligned = 8 << self.rng.below(4);
        let (op, sectors) = match (self.load, chance) {
            (Load::RandomWrite, _) => (OpCode::Write, aligned),
            (Load::Mixed, 0..70) => (OpCode::Read, odd),
            (Load::Mixed, _) => (OpCode::Write, odd),
            (Load::Sequential, 0..80) => (OpCode::Write, 256),
            (Load::Sequential, _) => (OpCode::Read, 256),
            (Load::TrimMix, 0..40) => (OpCode::Write, odd),
            (Load::TrimMix, 40..70) => (OpCode::Read, aligned),
            (Load::TrimMix, 70..95) => (OpCode::Trim, aligned * (1 + self.rng.below(32))),
            (Load::TrimMix, _) => (OpCode::Flush, 0),
        };
        // The tiniest drives are smaller than the longest request.
        let sectors = sectors.min(u32::try_from(self.sectors).unwrap_or(u32::MAX));
        let lba = match (self.load, op) {
            (_, OpCode::Flush) => 0,
            (Load::Sequential, OpCode::Write) => {
                let lba = if self.next + u64::from(sectors) > self.sectors { 0 } else { self.next };
                self.next = lba + u64::from(sectors);
                lba
            }
            (Load::RandomWrite, _) => self.anywhere(sectors) / 8 * 8,
            _ => self.anywhere(sectors),
        };
        self.time_ns += u64::from(self.rng.below(40_000));
        let fua = op == OpCode::Write && self.load == Load::TrimMix && chance.is_multiple_of(8);
        Request { arrival_ns: self.time_ns, op, fua, lba, sectors, hints: Hints::default() }
    }
}

impl Source for Host {
    fn next(&mut self) -> Result<Option<Request>, WorkloadError> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        Ok(Some(self.request()))
    }

    fn len_hint(&self) -> Option<u64> {
        Some(self.left)
    }

    fn report(&self) -> SourceReport {
        SourceReport::default()
    }
}

/// One cell of the matrix.
#[derive(Clone, Debug)]
struct Case {
    name: String,
    config: DriveConfig,
    fill_percent: f64,
    overwrite_times: f64,
    load: Load,
    loop_mode: LoopMode,
    executor: Executor,
    requests: u64,
    /// Whether the drive may become read-only: it wears out, or its programs fail.
    may_fail: bool,
}

impl Case {
    fn new(name: &str, config: &DriveConfig, load: Load) -> Self {
        Case {
            name: format!("{name}/{load:?}"),
            config: config.clone(),
            fill_percent: 0.0,
            overwrite_times: 0.0,
            load,
            loop_mode: LoopMode::Closed { depth: 32 },
            executor: Executor::Timed,
            requests: 1_500,
            may_fail: false,
        }
    }

    fn filled(mut self, percent: f64) -> Self {
        self.name.push_str(&format!("/{percent} % full"));
        self.fill_percent = percent;
        self.overwrite_times = if percent > 0.0 { 0.5 } else { 0.0 };
        self
    }

    /// Turns loops and executors round, so that each meets everything.
    fn varied(mut self, number: usize) -> Self {
        if number % 3 == 1 {
            self.loop_mode = LoopMode::Open;
            self.name.push_str("/open");
        }
        if number % 7 == 5 {
            self.executor = Executor::Functional;
            self.name.push_str("/functional");
        }
        self
    }

    /// Runs it; an error says what was not as it must be.
    fn run(&self) -> Result<Ended, String> {
        let config = &self.config;
        let mut drive = Drive::new(config).map_err(|errors| errors.to_string())?;
        let overwrite =
            if self.overwrite_times > 0.0 { Overwrite::Times(self.overwrite_times) } else { Overwrite::None };
        let preconditioning =
            Preconditioning { fill_percent: self.fill_percent, overwrite, ..Preconditioning::default() };
        let spec = RunSpec {
            preconditioning,
            loop_mode: self.loop_mode,
            executor: self.executor,
            ..RunSpec::default()
        };
        let sectors = drive.logical_sectors();
        let host = || Host::new(self.load, sectors, self.requests, config.drive.seed);
        lab::foresee(&mut drive, &mut host(), &spec, &mut |_| {}).map_err(|error| error.to_string())?;
        let mut host = host();
        let outcome = lab::run(&mut drive, config, &mut host, &spec, &mut |_| {});
        let (result, ended) = match outcome {
            Ok(result) if result.flash.erases.sum() > 0 => (result, Ended::Cleaned),
            Ok(result) => (result, Ended::Served),
            Err(error) if self.may_fail && error.failure.name() == "read_only" => {
                (*error.result.ok_or("a failed run without what was measured")?, Ended::ReadOnly)
            }
            Err(error) if self.may_fail && error.failure.name() == "preconditioning" => {
                return Ok(Ended::ReadOnly);
            }
            Err(error) => return Err(error.to_string()),
        };
        if result.requests_served != result.requests_generated {
            return Err(format!("{} of {} served", result.requests_served, result.requests_generated));
        }
        // Reprogrammed pages take others of their wordline with them: reads of these fail, and nothing else does.
        let lost = match config.sanitize.name() {
            "reprogram" => result.failed_by_status.get("uncorrectable").copied().unwrap_or_default(),
            _ => 0,
        };
        let has_failed = result.requests_failed > lost;
        if !self.may_fail && (result.requests_served != self.requests || has_failed) {
            let (served, failed) = (result.requests_served, &result.failed_by_status);
            return Err(format!("{served} of {} served, failed: {failed:?}", self.requests));
        }
        drive.drain();
        if drive.outstanding() > 0 {
            return Err(format!("{} commands are still outstanding", drive.outstanding()));
        }
        // Slow on large drives.
        if config.geometry.physical_bytes() < 1 << 30 {
            drive.check()?;
        }
        Ok(ended)
    }
}

/// How a case ended that did as it must.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Ended {
    /// All served, without an erase.
    Served,
    /// All served, and blocks were erased meanwhile.
    Cleaned,
    /// The drive took no more writes, and said why.
    ReadOnly,
}

/// Runs all cases on all cores, each with a time limit, and reports every one that failed. Returns how many served
/// everything without an erase, how many with, and how many ended read-only.
fn run_all(cases: Vec<Case>) -> [usize; 3] {
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    let counts: [AtomicUsize; 3] = Default::default();
    let work = || {
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (tell, told) = channel();
            let running = case.clone();
            spawn(move || tell.send(running.run()).is_ok());
            let outcome = match told.recv_timeout(TIMEOUT) {
                Ok(outcome) => outcome,
                Err(RecvTimeoutError::Disconnected) => Err("it panicked, see above".to_owned()),
                Err(RecvTimeoutError::Timeout) => Err(format!("it still runs after {TIMEOUT:?}")),
            };
            match outcome {
                Ok(ended) => _ = counts[ended as usize].fetch_add(1, Ordering::Relaxed),
                Err(what) => failures.lock().unwrap().push(format!("{}: {what}", case.name)),
            }
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    scope(|scope| (0..cores).for_each(|_| _ = scope.spawn(work)));
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{} of {} cases:\n{}", failures.len(), cases.len(), failures.join("\n"));
    let counts = counts.map(AtomicUsize::into_inner);
    println!("{} cases: {counts:?} served, served with erases, read-only", cases.len());
    counts
}

/// 42 MiB of flash: 2 channels, 4 planes.
fn small() -> DriveConfig {
    let mut config = DriveConfig::default();
    let g = &mut config.geometry;
    (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (2, 1, 1, 2);
    (g.blocks_per_plane, g.wordlines_per_block, g.bits_per_cell) = (32, 7, 3);
    config.drive.over_provisioning_percent = 28.0;
    select(&mut config, "host.buffer", "lru_write");
    config.section_mut("host.buffer").unwrap().set("size_mib", &ssd::config::Value::Float(1.0)).unwrap();
    config
}

fn preset(name: &str) -> DriveConfig {
    let layer = ssd::config::Layer::file(name, format!("preset = \"{name}\""));
    ssd::drive_config::resolve(&[layer], &[]).unwrap().config
}

fn select(config: &mut DriveConfig, section: &str, policy: &str) {
    config.section_mut(section).expect("a family").select(policy).expect("a policy");
}

/// The policies of a family.
fn members(section: &str) -> Vec<&'static str> {
    let family = FAMILIES.iter().find(|family| family.section() == section).expect("a family");
    family.members.iter().map(|member| member.name).collect()
}

const UNITS: [MappingUnit; 2] = [MappingUnit::Page, MappingUnit::FourKib];
const SUPERBLOCKS: [Superblock; 3] = [Superblock::None, Superblock::Planes, Superblock::All];
const FILLS: [f64; 3] = [0.0, 50.0, 100.0];

/// A small drive of every shape.
fn shapes() -> Vec<(String, DriveConfig)> {
    let mut shapes = Vec::new();
    for unit in UNITS {
        for superblock in SUPERBLOCKS {
            let mut config = small();
            config.mapping.unit = unit;
            config.allocation.superblock = superblock;
            shapes.push((format!("{}/superblock {}", unit.name(), superblock.name()), config));
        }
    }
    let mut wide = small();
    wide.mapping.unit = MappingUnit::ThirtyTwoKib;
    shapes.push(("32kib/two pages of a row".to_owned(), wide));
    let mut one_shot = small();
    one_shot.cell.one_shot = true;
    shapes.push(("wordlines programmed at once".to_owned(), one_shot));
    let mut habits = small();
    (habits.mapping.unit, habits.allocation.superblock) = (MappingUnit::Page, Superblock::None);
    habits.allocation.placement = Placement::Static;
    habits.scheduling.channel = ChannelOrder::DataFirst;
    shapes.push(("page/a plane each, data first".to_owned(), habits));
    shapes
}

#[test]
fn every_shape_buffer_fill_and_workload() {
    let mut cases = Vec::new();
    for (shape, config) in shapes() {
        for buffer in members("host.buffer") {
            let mut config = config.clone();
            select(&mut config, "host.buffer", buffer);
            for fill in FILLS {
                for load in LOADS {
                    let case = Case::new(&format!("{shape}/{buffer}"), &config, load).filled(fill);
                    cases.push(case.varied(cases.len()));
                }
            }
        }
    }
    let [_, cleaned, _] = run_all(cases);
    assert!(cleaned >= 50, "cleaning was at work in {cleaned} cases");
}

#[test]
fn every_policy_with_every_other() {
    let mut cases = Vec::new();
    for (v, victim) in members("ftl.gc_victim").into_iter().enumerate() {
        for (t, trigger) in members("ftl.gc_trigger").into_iter().enumerate() {
            for (w, wear) in members("ftl.wear_leveling").into_iter().enumerate() {
                // On every second shape, and on the others where one of the three is the next: any two of them meet on
                // all.
                // All of them in `make soak`.
                let every = if is_soak() { 1 } else { 2 };
                let on = shapes().into_iter().enumerate().skip((v + t + w) % every).step_by(every);
                for (number, (shape, mut config)) in on {
                    select(&mut config, "ftl.gc_victim", victim);
                    select(&mut config, "ftl.gc_trigger", trigger);
                    select(&mut config, "ftl.wear_leveling", wear);
                    if wear == "age_aware" {
                        select(&mut config, "ftl.age_marker", "pe_cycles");
                    }
                    let load = LOADS[(cases.len() + number) % LOADS.len()];
                    let name = format!("{shape}/{victim}/{trigger}/{wear}");
                    cases.push(Case::new(&name, &config, load).filled(100.0).varied(cases.len()));
                }
            }
        }
    }
    let count = cases.len();
    let [_, cleaned, _] = run_all(cases);
    assert!(cleaned > count / 2, "cleaning was at work in {cleaned} of {count} cases");
}

#[test]
fn drives_that_wear_out_or_fail_end_with_a_reason() {
    let mut cases = Vec::new();
    for (shape, config) in shapes() {
        for (what, endurance, fail_ppm, bad_ppm) in
            [("endurance 3", 3, 0.0, 0.0), ("failing", 0, 20_000.0, 0.0), ("bad blocks", 0, 200.0, 20_000.0)]
        {
            let mut config = config.clone();
            config.reliability.endurance_cycles = endurance;
            config.reliability.program_fail_ppm = fail_ppm;
            config.reliability.erase_fail_ppm = fail_ppm;
            config.reliability.factory_bad_ppm = bad_ppm;
            config.drive.over_provisioning_percent = 60.0;
            for load in LOADS {
                let mut case = Case::new(&format!("{shape}/{what}"), &config, load).filled(100.0);
                (case.requests, case.may_fail) = (10_000, true);
                cases.push(case.varied(cases.len()));
            }
        }
    }
    let [_, cleaned, read_only] = run_all(cases);
    assert!(cleaned >= 10 && read_only >= 10, "{cleaned} cases survived, {read_only} did not");
}

#[test]
fn sizes_from_64_mib_to_2_tib() {
    let mut cases = Vec::new();
    // Deep queues, one request at a time, several queues.
    for (number, (queues, depth, in_flight)) in
        [(1, 1, 1), (1, 4096, 4096), (4, 16, 16), (16, 2, 0)].into_iter().enumerate()
    {
        let mut config = small();
        (config.queues.count, config.queues.depth) = (queues, depth);
        let mut case =
            Case::new(&format!("{queues} queues of {depth}"), &config, LOADS[number]).filled(100.0);
        (case.loop_mode, case.requests) = (LoopMode::Closed { depth: in_flight }, 5_000);
        cases.push(case);
    }
    let mut one_gib = small();
    (one_gib.geometry.blocks_per_plane, one_gib.geometry.wordlines_per_block) = (64, 86);
    let mut ten_gib = preset("tlc");
    (ten_gib.geometry.blocks_per_plane, ten_gib.geometry.wordlines_per_block) = (64, 55);
    let drives = [
        ("1 GiB", one_gib),
        ("10 GiB", ten_gib),
        ("m64", preset("m64")),
        ("mqsim", preset("mqsim")),
        ("qlc", preset("qlc")),
    ];
    for (number, (name, config)) in drives.iter().enumerate() {
        for (turn, load) in LOADS.into_iter().enumerate() {
            // Each load with one fill of each drive, another with the next. A quarter of a TiB in 4-KiB units takes
            // seconds to fill.
            let turn = (number + turn) % FILLS.len();
            let fills = match *name {
                "qlc" => &FILLS[..1],
                _ if is_soak() => &FILLS[..],
                _ => &FILLS[turn..=turn],
            };
            for &fill in fills {
                let mut case = Case::new(name, config, load).filled(fill);
                case.overwrite_times = 0.0;
                cases.push(case.varied(cases.len()));
            }
        }
    }
    for load in LOADS {
        cases.push(Case::new("straw, 2 TiB", &preset("straw"), load).varied(cases.len()));
    }
    cases.push(Case::new("straw, 2 TiB", &preset("straw"), Load::Mixed).filled(10.0));
    run_all(cases);
}

/// A configuration of which every number was drawn at random, tiny ones and odd ones among them.
fn random_config(rng: &mut Rng) -> DriveConfig {
    let mut config = DriveConfig::default();
    let mut draw = |choices: &[u32]| choices[rng.below(choices.len() as u32) as usize];
    let g = &mut config.geometry;
    (g.channels, g.chips_per_channel) = (draw(&[1, 2, 3, 8]), draw(&[1, 1, 2, 5]));
    (g.dies_per_chip, g.planes_per_die) = (draw(&[1, 1, 2]), draw(&[1, 2, 4, 3]));
    (g.blocks_per_plane, g.wordlines_per_block) = (draw(&[8, 13, 40, 100]), draw(&[1, 2, 7, 16]));
    (g.bits_per_cell, g.page_bytes) = (draw(&[1, 2, 3, 4]), draw(&[4_096, 8_192, 16_384, 65_536]));
    config.drive.seed = u64::from(draw(&[1, 2, 3, 4, 5]));
    config.drive.over_provisioning_percent = f64::from(draw(&[7, 28, 60, 150]));
    config.mapping.unit = UNITS[draw(&[0, 1]) as usize];
    config.allocation.superblock = SUPERBLOCKS[draw(&[0, 1, 2]) as usize];
    (config.cleaning.copies_in_flight, config.cleaning.reserve_blocks) = (draw(&[1, 4, 64]), draw(&[1, 2]));
    config.scheduling.read_bypass_limit = draw(&[0, 1, 16, 1_000]);
    config.scheduling.multi_plane = draw(&[0, 1]) == 1;
    config.allocation.issue = if config.scheduling.multi_plane { Issue::Row } else { Issue::Page };
    config.timing.cache_operations = draw(&[0, 1]) == 1;
    (config.queues.count, config.queues.depth) = (draw(&[1, 2, 9]), draw(&[1, 2, 32, 1_000]));
    config.reliability.factory_bad_ppm = f64::from(draw(&[0, 0, 20_000]));
    config.reliability.program_fail_ppm = f64::from(draw(&[0, 0, 300]));
    config.reliability.endurance_cycles = draw(&[0, 0, 0, 20]);
    for family in FAMILIES {
        let numbers: Vec<u32> = (0..family.members.len() as u32).collect();
        let member = family.members[draw(&numbers) as usize];
        select(&mut config, &family.section(), member.name);
    }
    if config.buffer.name() != "none" {
        let size = ssd::config::Value::Float(f64::from(draw(&[1, 2, 16])) / 2.0);
        config.section_mut("host.buffer").unwrap().set("size_mib", &size).unwrap();
    }
    if draw(&[0, 1]) == 1 {
        config.scheduling.channel = ChannelOrder::DataFirst;
    }
    // Few drives that are drawn can have it: where one can, it does.
    let sorts = config.page_class.name() != "sequential";
    let one_each = config.units_per_page() == 1 && config.lane_span() == 1 && !sorts;
    if one_each && config.replica_pages_per_block() == 0 {
        config.allocation.placement = Placement::Static;
    }
    config
}

#[test]
fn random_drives_of_every_kind() {
    let mut rng = Rng::named(7, "matrix/random_drives");
    let mut cases = Vec::new();
    // 1,200 in `make soak`.
    while (cases.len() as u64) < if is_soak() { soaked(60) } else { 40 } {
        let config = random_config(&mut rng);
        if config.validate().is_err() || Drive::new(&config).is_err() {
            continue;
        }
        let number = cases.len();
        let mut case = Case::new(&format!("random drive {number}"), &config, LOADS[number % 4]);
        case = case.filled(FILLS[number / 4 % 3]).varied(number / 2);
        let chips = &config.reliability;
        let is_healthy =
            chips.program_fail_ppm + chips.factory_bad_ppm + f64::from(chips.endurance_cycles) == 0.0;
        (case.requests, case.may_fail) = (800, !is_healthy);
        case.loop_mode = match case.loop_mode {
            LoopMode::Closed { .. } => LoopMode::Closed { depth: 0 },
            open => open,
        };
        cases.push(case);
    }
    run_all(cases);
}
