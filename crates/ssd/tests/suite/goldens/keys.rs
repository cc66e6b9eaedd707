//! Keys that do nothing: every number, switch and choice of the configuration is set to another value on several
//! drives, and must change what comes of one of them. What changes nothing is listed with its reason, and nothing else.

use super::{read_mostly, used, worn};
use ssd::config::{Field, Kind, Table, Value};
use ssd::ftl::page_class;
use ssd::nand::aging::Telemetry;
use ssd::sections::cell::{CodeKind, DwellLaw};
use ssd::sections::{ArrayTimes, DisturbLaw, SectorErrors};
use ssd::{Drive, DriveConfig, Executor, SimDuration, Stats};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::support::every::{choose, fitted, is_idle, is_possible, select};
use super::support::habits::with_habits;
use super::support::{Load, is_soak};

/// Keys that change no drive, and why.
const INERT: &[(&str, &str)] = &[
    ("drive.rating.tbw", "is what the maker promises: who asks how long the drive lasts is told"),
    ("drive.rating.workload", "the same"),
    ("nand.geometry.spare_bytes", "says what parity fits in it"),
    ("nand.slc.part", "has one value: only one part of one bit a cell ships"),
    ("ftl.cleaning.paces_host", "acts where the host outruns cleaning: not in runs so short, but in `pace`"),
    ("host.read_ahead.after", "acts beside `size_kib`, which is 0 here: in timelines"),
    ("nand.lock.block_voltage", "says when a lock is lost: who reads behind the firmware's back is told"),
    ("nand.lock.cells", "the same"),
    ("nand.lock.copyback_hole", "the same"),
    ("nand.lock.page_voltage", "the same"),
    ("nand.timing.t_block_lock_us", "where blocks are locked it is one of three: in timelines"),
    ("nand.timing.erase_steps", "acts where a read meets an erase: not in runs so short, but in timelines"),
];

/// Commands of a run of each kind.
const COMMANDS: u64 = 500;
/// Values tried of a key, on each drive.
const VALUES: usize = 3;

/// What a drive came to, and what it is.
#[derive(PartialEq)]
struct Outcome {
    hashes: [u64; 2],
    stats: Stats,
    size: [u64; 3],
    telemetry: Option<Telemetry>,
}

/// What comes of a drive; nothing if there can be none.
fn outcome(cfg: &DriveConfig, commands: u64) -> Option<Outcome> {
    let mut drive = Drive::new(cfg).ok()?;
    let size =
        [u64::from(drive.logical_units()), drive.reports().table_bytes().all as u64, drive.blocks().pages()];
    let ages = drive.chips().ages();
    if ages {
        drive.fill(0, drive.logical_units()).unwrap();
        for step in ["cycle to 5000", "retain 3 months"] {
            drive.age(&step.parse().unwrap()).unwrap();
        }
    }
    let mut runs = Vec::new();
    for executor in [Executor::Functional, Executor::Timed] {
        let mut drive = drive.clone();
        drive.set_executor(executor);
        for part in 0..2 {
            if ages {
                read_mostly(&mut drive, commands);
            }
            Load::new(part).with_priorities(part).run(&mut drive, commands);
            drive.drain();
            while drive.pop_completion().is_some() {}
            // Cells recover in minutes, policies wait for milliseconds.
            let pause_ns = if ages { 600_000_000_000 } else { 20_000_000 };
            drive.advance_to(drive.now() + SimDuration(pause_ns));
        }
        drive.drain();
        runs.push((drive.event_hash(), drive.stats(), drive.telemetry(0)));
    }
    let hashes = [runs[0].0, runs[1].0];
    let (_, stats, telemetry) = runs.pop().expect("two runs");
    Some(Outcome { hashes, stats, size, telemetry })
}

/// Other values of a parameter, those first that differ most in kind from what it is.
fn others(field: &Field, shown: &str) -> Vec<Value> {
    let numbers: Vec<f64> =
        shown.trim_matches(['[', ']']).split(',').filter_map(|text| text.trim().parse().ok()).collect();
    let first = numbers.first().copied().unwrap_or(0.0);
    let allowed = |x: &f64| field.limits.is_none_or(|limits| (limits.min..=limits.max).contains(x));
    let scaled = |factor: f64| numbers.iter().map(|x| x * factor).filter(allowed).collect::<Vec<f64>>();
    let other = |x: &f64| *x != first && allowed(x);
    match field.kind {
        Kind::Switch => vec![Value::Bool(shown != "true")],
        Kind::Choice(names) | Kind::GrayCode(names) => {
            // The last are least like the first.
            names.iter().rev().map(|name| Value::Text((*name).to_owned())).collect()
        }
        Kind::Integer => {
            let least = field.limits.map_or(1.0, |limits| limits.min);
            let most = field.limits.map_or(first, |limits| limits.max);
            let values =
                [least, 2.0 * first, (first / 2.0).floor(), first + 1.0, first - 1.0, 20_000.0, most];
            values.into_iter().filter(other).map(|x| Value::Integer(x as i128)).collect()
        }
        Kind::Number => {
            let most = field.limits.map_or(first, |limits| limits.max);
            let values = [first + 10.0, most, 0.6 * first, 20_000.0, 1.4 * first, first + 0.3, first + 0.01];
            values.into_iter().filter(other).map(Value::Float).collect()
        }
        Kind::Numbers => {
            let lists = [scaled(1.2), scaled(0.8), vec![40.0], scaled(0.0)];
            let fits = |list: &Vec<f64>| list.len() == numbers.len().max(1) && list.iter().all(allowed);
            let lists = lists.into_iter().filter(|list| fits(list) && *list != numbers);
            lists.map(|list| Value::List(list.into_iter().map(Value::Float).collect())).collect()
        }
        Kind::Steps(_) | Kind::Names | Kind::Path => Vec::new(),
    }
}

/// The drives, each with something that others have not.
fn drives() -> Vec<DriveConfig> {
    let mut sensed = used();
    sensed.timing.t_read_us = Vec::new();
    (sensed.reliability.program_fail_ppm, sensed.reliability.factory_bad_ppm) = (3_000.0, 30_000.0);
    sensed.drive.over_provisioning_percent = 150.0;
    sensed.buffer.select("none").unwrap();
    let mut placed = with_habits(used());
    select(&mut placed, "ftl.migration", "copyback_always");
    placed.reliability.erase_fail_ppm = 60_000.0;
    let mut soft = worn();
    soft.cells.ecc.code = CodeKind::Ldpc;
    soft.cells.retry.entries = 2;
    soft.cells.population.dwell = DwellLaw::Logistic;
    (soft.errors.sectors, soft.errors.temperature_c) = (SectorErrors::Drawn, 45.0);
    (soft.errors.array_times, soft.errors.tracking_reads) = (ArrayTimes::Worn, 2);
    let mut weak = worn();
    weak.errors.disturb_law = DisturbLaw::Voltage;
    let mut cached = used();
    choose(&mut cached, "ftl.slc_cache", "fixed");
    let cached = fitted(cached).expect("a drive with a cache");
    let mut worn_cache = worn();
    choose(&mut worn_cache, "ftl.slc_cache", "fixed");
    let worn_cache = fitted(worn_cache).expect("a drive with a cache");
    let mut stopped = used();
    stopped.preemption.select("safe_point").unwrap();
    let mut locked = used();
    choose(&mut locked, "ftl.sanitize", "page_and_block_lock");
    locked.reliability.lock_fail_ppm = 10_000.0;
    let mut scrubbed = used();
    choose(&mut scrubbed, "ftl.sanitize", "scrub");
    let mut reprogrammed = used();
    choose(&mut reprogrammed, "ftl.sanitize", "reprogram");
    let sanitized = [locked, scrubbed, reprogrammed];
    let others = [used(), placed, sensed, worn(), soft, weak, cached, worn_cache, stopped];
    others.into_iter().chain(sanitized).collect()
}

/// A key, and the policy whose it is if it is one's.
struct Key {
    section: &'static str,
    policy: Option<&'static str>,
    field: &'static Field,
}

impl Key {
    fn name(&self) -> String {
        let policy = self.policy.map(|policy| format!(".{policy}")).unwrap_or_default();
        format!("{}{policy}.{}", self.section, self.field.key)
    }

    fn on(&self, mut cfg: DriveConfig) -> Option<DriveConfig> {
        if let Some(policy) = self.policy {
            choose(&mut cfg, self.section, policy);
        }
        let table = cfg.section_mut(self.section)?;
        if self.field.key == "promote_percent" {
            table.set("place", &Value::Text("promote".to_owned())).ok()?;
        }
        let mut rises = self.field.key;
        for &(low, high) in table.in_order() {
            if low == rises {
                // There must be room to rise.
                let field = table.fields().iter().find(|field| field.key == high)?;
                let most = field.limits?.max;
                let is_whole = matches!(field.kind, Kind::Integer);
                let most = if is_whole { Value::Integer(most as i128) } else { Value::Float(most) };
                table.set(high, &most).ok()?;
                rises = high;
            }
        }
        fitted(cfg).ok()
    }
}

fn keys() -> Vec<Key> {
    let mut cfg = DriveConfig::default();
    let mut keys = Vec::new();
    for section in DriveConfig::section_paths() {
        let table = cfg.section_mut(section).unwrap();
        let Some(family) = table.family() else {
            // What the constants of cells do takes other drives: `docs/nand-model.md` says which no drive asks for.
            let own = table.fields().iter().filter(|_| !section.starts_with("cell."));
            keys.extend(own.map(|field| Key { section, policy: None, field }));
            continue;
        };
        for member in family.members.iter().filter(|member| is_possible(section, member.name)) {
            table.select(member.name).unwrap();
            let of_policy = |field| Key { section, policy: Some(member.name), field };
            keys.extend(table.fields().iter().map(of_policy));
        }
    }
    keys
}

/// Heats of so many bits have as many probabilities.
fn fit_chances(cfg: &mut DriveConfig) {
    if let page_class::Config::ReadHeat(params) = &mut cfg.page_class {
        params.p.resize((1 << params.bits) - 1, 0.5);
    }
}

/// Whether another value of a key changes what comes of a drive; nothing if no drive can have another.
fn acts(key: &Key, drives: &[(DriveConfig, Outcome)]) -> Option<bool> {
    let mut tried = None;
    let is_inert = INERT.iter().any(|(name, _)| *name == key.name());
    for (cfg, plain) in drives {
        let Some(fitted) = key.on(cfg.clone()) else { continue };
        let commands = match key.policy {
            // Its plan is judged when blocks that came after it are victims.
            Some("midas") => 20 * COMMANDS,
            Some(_) => 3 * COMMANDS,
            None => COMMANDS,
        };
        let is_plain = fitted == *cfg && commands == COMMANDS;
        let (cfg, own) = if is_plain { (fitted, None) } else { (fitted.clone(), outcome(&fitted, commands)) };
        let before = own.as_ref().unwrap_or(plain);
        let shown = cfg.section(key.section).unwrap().show(key.field.key).unwrap();
        let mut left = if is_inert { 1 } else { VALUES };
        for value in others(key.field, &shown) {
            let mut cfg = cfg.clone();
            let set = cfg.section_mut(key.section).unwrap().set(key.field.key, &value);
            if set.is_err() || left == 0 {
                continue;
            }
            fit_chances(&mut cfg);
            let Some(after) = outcome(&cfg, commands) else { continue };
            if after != *before {
                return Some(true);
            }
            tried = Some(false);
            left -= 1;
        }
    }
    tried
}

#[test]
fn every_key_does_something() {
    let of = |cfg: DriveConfig| outcome(&cfg, COMMANDS).map(|outcome| (cfg, outcome));
    let drives: Vec<_> = drives().into_iter().map(|cfg| of(cfg).expect("a drive")).collect();
    let mut keys = keys();
    keys.retain(|key| !key.policy.is_some_and(is_idle));
    if !is_soak() {
        // Half of them: the others in `make soak`.
        keys = keys.into_iter().step_by(2).collect();
    }
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let worker = || {
        while let Some(key) = keys.get(next.fetch_add(1, Ordering::Relaxed)) {
            let acts =
                acts(key, &drives).unwrap_or_else(|| panic!("{}: no drive has another value", key.name()));
            if !acts {
                found.lock().unwrap().push(key.name());
            }
        }
    };
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..processors).for_each(|_| _ = scope.spawn(worker)));
    let mut found = found.into_inner().unwrap();
    found.sort();
    let is_tried = |name: &&str| keys.iter().any(|key| key.name() == *name);
    let mut inert: Vec<&str> = INERT.iter().map(|(name, _)| *name).filter(is_tried).collect();
    inert.sort_unstable();
    assert_eq!(found, inert, "of {} keys these change nothing, and these are known to", keys.len());
}
