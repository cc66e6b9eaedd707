//! Event hashes of every policy and every switch on small drives, in both executors: `hashes.txt`.
//!
//! Lines and policies are held against each other, so a new policy fails here until it has its line:
//! `WORDLINE_GOLDENS=write cargo test -p wordline-ssd --test suite goldens` writes the file anew. If a line changes
//! that was there before, numbers that users see change too: say which, and why, under "Results change" in
//! CHANGELOG.md.

mod keys;
mod pairs;
use crate::support;

use ssd::config::Value;
use ssd::flash::op::Cause;
use ssd::nand::cell::CellModel;
use ssd::policy::FAMILIES;
use ssd::rng::Rng;
use ssd::sections::ErrorModel;
use ssd::{Command, Drive, DriveConfig, Executor, Lba, OpCode, SimDuration, Stats};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use support::every::{cause, choices, choose, fitted, is_idle, is_possible, variants};
use support::habits::with_habits;
use support::{Load, small, tell};

/// Set to `write`, the file is written instead of compared.
const VARIABLE: &str = "WORDLINE_GOLDENS";
const FILE: &str = "tests/suite/goldens/hashes.txt";
const HEAD: &str = "\
# Event hashes: what is set, on which drive, timed executor, functional executor. Do not edit by hand:
# WORDLINE_GOLDENS=write cargo test -p wordline-ssd --test suite goldens
";

/// What the drives are on which everything is tried.
const DRIVES: [&str; 4] = ["used", "worn", "placed", "urgent"];

/// A drive: in use and cleaned; with worn cells, read often, its data moving for that; with a plane for each page; in
/// use by a host that says how urgent commands are.
fn drive(name: &str) -> DriveConfig {
    match name {
        "used" | "urgent" => used(),
        "worn" => worn(),
        "placed" => with_habits(used()),
        _ => unreachable!("{name}"),
    }
}

/// Its channels are as slow as its dies, so that orders matter there too.
fn used() -> DriveConfig {
    let mut cfg = small();
    cfg.channel.bandwidth_mb_s = 200.0;
    cfg
}

/// Four planes of 20 blocks of 8 TLC wordlines, which stand some hundred reads of their neighbours.
fn worn() -> DriveConfig {
    let mut cfg = DriveConfig::default();
    let g = &mut cfg.geometry;
    (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (2, 1, 1, 2);
    (g.blocks_per_plane, g.wordlines_per_block, g.bits_per_cell) = (20, 8, 3);
    cfg.drive.over_provisioning_percent = 90.0;
    choose(&mut cfg, "host.buffer", "none");
    choose(&mut cfg, "ftl.read_reclaim", "block");
    cfg.errors.model = ErrorModel::Cells;
    let scale = 800.0 / CellModel::new(cfg.cells.clone()).unwrap().block_reads_max(0.064);
    cfg.cells.disturb.erc_max.iter_mut().for_each(|reads| *reads *= scale);
    cfg.cells.disturb.top_erc *= scale;
    cfg
}

/// Reads, most of them of a few units, and some writes; twelve commands are under way.
fn read_mostly(drive: &mut Drive, commands: u64) {
    let mut rng = Rng::named(3, "read mostly");
    let (units, sectors) = (drive.logical_units(), drive.unit_bytes() / 512);
    let command = |tag| {
        let any = rng.below(units);
        let (op, unit) = match rng.below(20) {
            0 => (OpCode::Write, any),
            1..5 => (OpCode::Read, any),
            _ => (OpCode::Read, any % 7 * (units / 7)),
        };
        let lba = Lba(u64::from(unit) * u64::from(sectors));
        Command { op, lba, sectors, tag, ..Command::default() }
    };
    let commands: Vec<_> = (0..commands).map(command).collect();
    tell(drive, commands.iter().copied());
    for command in commands {
        while drive.outstanding() >= 12 {
            assert!(drive.advance_to_completion(), "stuck");
            while drive.pop_completion().is_some() {}
        }
        let command = Command { arrival: drive.now(), ..command };
        drive.submit((command.tag % drive.queues() as u64) as usize, &command, drive.now()).unwrap();
    }
}

/// Long enough for every policy that waits for idleness.
const PAUSE_NS: u64 = 20_000_000;

/// The drive before its load.
fn prepared(name: &str, cfg: &DriveConfig) -> Drive {
    let mut drive = Drive::new(cfg).unwrap();
    if name == "worn" {
        drive.fill(0, drive.logical_units()).unwrap();
        // Some policies go with cells that do not age.
        let steps = if drive.chips().ages() { &["cycle to 3000", "retain 3 months"][..] } else { &[] };
        for step in steps {
            drive.age(&step.parse().unwrap()).unwrap();
        }
    }
    drive
}

/// The event hash of a drive under its load, and what it counted.
fn run(name: &str, mut drive: Drive, executor: Executor) -> (u64, Stats) {
    drive.set_executor(executor);
    let (mut load, mut urgent) = (Load::new(1), Load::new(1).with_priorities(1));
    for _ in 0..4 {
        match name {
            "worn" => read_mostly(&mut drive, 2_500),
            "urgent" => urgent.run(&mut drive, 3_000),
            _ => load.run(&mut drive, 3_000),
        }
        drive.drain();
        while drive.pop_completion().is_some() {}
        drive.advance_to(drive.now() + SimDuration(PAUSE_NS));
    }
    drive.drain();
    drive.check().unwrap();
    (drive.event_hash(), drive.stats())
}

/// What is set on a drive: a policy, or a value by its key.
struct Case {
    /// Such as `ftl.gc_victim.greedy`, `ftl.read_reclaim.straw.counters=exact`, `flash.scheduling.order=fifo`.
    name: String,
    section: &'static str,
    policy: Option<&'static str>,
    value: Option<(&'static str, Value)>,
}

impl Case {
    fn new(
        section: &'static str,
        policy: Option<&'static str>,
        value: Option<(&'static str, Value)>,
    ) -> Self {
        let mut name = section.to_owned();
        name.extend(policy.map(|policy| format!(".{policy}")));
        name.extend(value.as_ref().map(|(key, value)| format!(".{key}={value}").replace('"', "")));
        Case { name, section, policy, value }
    }

    /// The drives on which it is tried: where a host says how urgent commands are, what has to do with that.
    fn drives(&self) -> impl Iterator<Item = &'static str> + use<> {
        const URGENT: [&str; 4] = [BARE, "flash.scheduling", "flash.preemption", "host.queues"];
        let is_urgent = URGENT.contains(&self.section);
        DRIVES.into_iter().filter(move |&drive| is_urgent || drive != "urgent")
    }

    /// The drive with it, if there can be one.
    fn on(&self, mut cfg: DriveConfig) -> Result<DriveConfig, String> {
        if let Some(policy) = self.policy {
            choose(&mut cfg, self.section, policy);
        }
        if let Some((key, value)) = &self.value {
            cfg.section_mut(self.section).unwrap().set(key, value).unwrap();
        }
        fitted(cfg)
    }
}

/// The drive with nothing set.
const BARE: &str = "drive";

/// Every policy, every choice and switch of its parameters, and of all other sections.
fn cases() -> Vec<Case> {
    let mut cases = vec![Case::new(BARE, None, None)];
    let base = DriveConfig::default();
    for section in DriveConfig::section_paths() {
        let table = base.section(section).unwrap();
        let Some(family) = table.family() else {
            cases.extend(choices(table).into_iter().map(|value| Case::new(section, None, Some(value))));
            continue;
        };
        for (policy, value) in variants(family) {
            cases.push(Case::new(section, Some(policy), value));
        }
    }
    cases
}

/// What came of a case on a drive in both executors.
struct Came {
    hashes: [u64; 2],
    timed: Stats,
}

/// Runs everything on all processors: by name and drive. Nothing where the configuration's check refuses.
fn run_all(cases: &[Case]) -> BTreeMap<(String, &'static str), Option<Came>> {
    let work: Vec<_> = cases.iter().flat_map(|case| case.drives().map(move |name| (case, name))).collect();
    let (next, all) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let worker = || {
        while let Some(&(case, name)) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
            let came = case.on(drive(name)).ok().map(|cfg| {
                let drive = prepared(name, &cfg);
                let (functional, _) = run(name, drive.clone(), Executor::Functional);
                let (hash, timed) = run(name, drive, Executor::Timed);
                Came { hashes: [hash, functional], timed }
            });
            all.lock().unwrap().insert((case.name.clone(), name), came);
        }
    };
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..processors).for_each(|_| _ = scope.spawn(worker)));
    all.into_inner().unwrap()
}

/// How often a policy of a family did what it is for; nothing of a family that is not counted so.
fn acts(section: &str, stats: &Stats) -> Option<u64> {
    let moved = |cause: Cause| stats.ftl.moved_units[cause as usize];
    Some(match section {
        "ftl.gc_victim" | "ftl.gc_trigger" => stats.ftl.reclaimed_blocks,
        "ftl.read_reclaim" => moved(Cause::ReadReclaim) + cause("replication").map_or(0, moved),
        "ftl.age_marker" => stats.total("ftl.age_retired"),
        "ftl.wear_leveling" => moved(cause("wear_leveling")?),
        // Reads whose voltages it chose: the best policy of them has no retries.
        "flash.read_voltage" => stats.flash.retries.iter().sum(),
        _ => return None,
    })
}

/// Asserts that a policy does what it is for, and comes to something else than all others of its family.
fn assert_policies_act(came: &BTreeMap<(String, &'static str), Option<Came>>) {
    for family in FAMILIES {
        let section = family.section();
        let mut seen = BTreeMap::new();
        for member in family.members.iter().filter(|member| is_possible(&section, member.name)) {
            let name = format!("{section}.{}", member.name);
            let each = || DRIVES.iter().filter_map(|&drive| came.get(&(name.clone(), drive))?.as_ref());
            let hashes: Vec<_> = each().map(|came| came.hashes).collect();
            if let Some(other) = seen.insert(hashes, member.name) {
                panic!("{section}: {other} and {} do the same on every drive", member.name);
            }
            let acts: Vec<u64> = each().filter_map(|came| acts(&section, &came.timed)).collect();
            if !acts.is_empty() {
                assert_eq!(
                    acts.iter().sum::<u64>() == 0,
                    is_idle(member.name),
                    "{name}: acts {acts:?} times"
                );
            }
        }
    }
}

/// Asserts that what is set beside a policy, or in a section, makes a difference to what is without it.
fn assert_differ(cases: &[Case], came: &BTreeMap<(String, &'static str), Option<Came>>) {
    let on = |name: &str, drive| came.get(&(name.to_owned(), drive))?.as_ref();
    let hashes = |name: &str| DRIVES.map(|drive| on(name, drive).map(|c| c.hashes));
    let policy_parameters = |case: &&Case| case.policy.is_some() && case.value.is_some();
    for case in cases.iter().filter(policy_parameters) {
        let plain = Case::new(case.section, case.policy, None).name;
        assert_ne!(hashes(&case.name), hashes(&plain), "{} changes nothing", case.name);
    }
    for case in cases.iter().filter(|case| case.section == "flash.scheduling") {
        assert_ne!(hashes(&case.name), hashes(BARE), "{} changes nothing", case.name);
    }
    let queues = cases.iter().filter(|case| case.section == "host.queues");
    queues.for_each(|case| assert_ne!(hashes(&case.name), hashes(BARE), "{} changes nothing", case.name));
}

/// The lines of the file: hashes by what is set and on which drive.
fn read_file(text: &str) -> BTreeMap<&str, &str> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let at = line.match_indices(' ').nth(1).unwrap_or_else(|| panic!("{FILE}: {line:?}")).0;
            (&line[..at], line[at..].trim_start())
        })
        .collect()
}

/// Whether a line of the file is of a policy that cannot do without a family that drives have not.
fn is_impossible(what: &str) -> bool {
    let policies =
        FAMILIES.iter().flat_map(|family| family.members.iter().map(move |member| (family, member)));
    let mut gone = policies.filter(|(family, member)| !is_possible(&family.section(), member.name));
    gone.any(|(family, member)| {
        let rest = what.strip_prefix(&format!("{}.{}", family.section(), member.name));
        rest.is_some_and(|rest| rest.starts_with([' ', '.']))
    })
}

#[test]
fn the_golden_hashes_hold() {
    let cases = cases();
    let came = run_all(&cases);
    assert_policies_act(&came);
    assert_differ(&cases, &came);
    let found: BTreeMap<String, String> = came
        .iter()
        .map(|((name, drive), came)| {
            let hashes = match came {
                Some(Came { hashes: [timed, functional], .. }) => format!("{timed:016x} {functional:016x}"),
                None => "refused".to_owned(),
            };
            (format!("{name} {drive}"), hashes)
        })
        .collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE);
    if std::env::var_os(VARIABLE).is_some_and(|value| value == "write") {
        let text: String = found.iter().map(|(what, hashes)| format!("{what} {hashes}\n")).collect();
        std::fs::write(&path, format!("{HEAD}{text}")).unwrap();
        return;
    }
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut expected = read_file(&text);
    expected.retain(|what, _| !is_impossible(what));
    let mut wrong = Vec::new();
    for (what, hashes) in &found {
        match expected.get(what.as_str()) {
            Some(line) if line == hashes => {}
            Some(line) => wrong.push(format!("{what}: found {hashes}, the file has {line}")),
            None => wrong.push(format!("{what}: no line")),
        }
    }
    let gone = expected.keys().filter(|what| !found.contains_key(**what));
    wrong.extend(gone.map(|what| format!("{what}: a line for what there is not")));
    assert!(
        wrong.is_empty(),
        "{FILE}, {} lines do not hold. {VARIABLE}=write writes it anew:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
