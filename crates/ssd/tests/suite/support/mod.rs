//! A small drive that is soon full, and a load that makes it clean.
#![allow(dead_code, unused_imports, reason = "each test binary uses some of it")]

pub mod every;
pub mod habits;
pub mod hints;
pub mod outside;
pub mod reclaiming;
pub mod sizes;

use hints::{random_hints, random_priority};
pub use sizes::{is_soak, soaked, variable};
use ssd::config::Value;
use ssd::rng::Rng;
use ssd::{Command, Drive, DriveConfig, Lba, OpCode};

/// 4 dies of 2 planes, 18 MiB, cleaned after a few thousand writes.
pub fn small() -> DriveConfig {
    let mut cfg = DriveConfig::default();
    let g = &mut cfg.geometry;
    (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (2, 2, 1, 2);
    (g.blocks_per_plane, g.wordlines_per_block, g.bits_per_cell) = (24, 2, 3);
    cfg.drive.over_provisioning_percent = 35.0;
    cfg.queues.count = 2;
    cfg.queues.depth = 16;
    cfg
}

/// The same with a policy of a family, such as `gc_victim`, `greedy`.
pub fn with_policy(family: &str, policy: &str) -> DriveConfig {
    let section = ssd::policy::FAMILIES.iter().map(|f| f.section()).find(|s| s.ends_with(family)).unwrap();
    let mut cfg = small();
    every::choose(&mut cfg, &section, policy);
    every::fitted(cfg).unwrap_or_else(|wrong| panic!("{section} {policy}: {wrong}"))
}

/// A drive that locks what dies, and locks it again after 60 ms: as soon as it may.
pub fn relocking() -> DriveConfig {
    let mut cfg = with_policy("sanitize", "page_and_block_lock");
    let table = cfg.section_mut("ftl.sanitize").unwrap();
    table.set("relock_months", &Value::Float(0.06 / (730.0 * 3_600.0))).unwrap();
    cfg
}

/// A drive that locks what dies, and leaves no page exposed for longer than a while.
pub fn bounded() -> DriveConfig {
    let mut cfg = with_policy("sanitize", "page_lock");
    cfg.mapping.unit = ssd::sections::MappingUnit::FourKib;
    cfg.drive.over_provisioning_percent = 60.0;
    cfg.section_mut("ftl.sanitize").unwrap().set("max_exposed_ms", &Value::Float(60.0)).unwrap();
    cfg
}

/// The same drive with every policy of every family.
pub fn with_every_policy() -> impl Iterator<Item = (String, DriveConfig)> {
    every::policies().map(|(family, member)| {
        let name = format!("{}.{}", family.section(), member.name);
        (name, with_policy(&family.section(), member.name))
    })
}

/// Tells a drive that looks ahead which commands come; what does not is not asked for them.
pub fn tell(drive: &mut Drive, commands: impl IntoIterator<Item = Command>) {
    if drive.ahead().is_wanted() {
        let mut foreseeing = drive.ahead().begin();
        commands.into_iter().try_for_each(|command| foreseeing.take(&command)).unwrap();
        drive.foresee(foreseeing.finish()).unwrap();
    }
}

/// Commands that a load tells of at once: more than any test asks of it.
const AHEAD: usize = 60_000;

/// A host with 24 commands under way: reads, writes small and large, some trims and flushes.
#[derive(Clone)]
pub struct Load {
    rng: Rng,
    /// What it says of them, if anything: without it they are the same.
    hints: Option<Rng>,
    /// How urgent it says that they are, if anything.
    priorities: Option<Rng>,
    tag: u64,
}

impl Load {
    pub fn new(seed: u64) -> Self {
        let hints = Some(Rng::named(seed, "load/hints"));
        Load { rng: Rng::named(seed, "load"), hints, priorities: None, tag: 0 }
    }

    /// The same commands, of which the host says nothing.
    pub fn silent(seed: u64) -> Self {
        Load { hints: None, ..Load::new(seed) }
    }

    /// The same commands, some of them more urgent than others.
    pub fn with_priorities(self, seed: u64) -> Self {
        Load { priorities: Some(Rng::named(seed, "load/priorities")), ..self }
    }

    fn command(&mut self, drive: &Drive) -> Command {
        let unit = u64::from(drive.unit_bytes()) / 512;
        let sectors = match self.rng.below(4) {
            0 => 1 + self.rng.below(8),
            1 => 8 * unit as u32,
            _ => unit as u32,
        };
        let last = drive.logical_sectors() - u64::from(sectors);
        let lba = u64::from(self.rng.below(last as u32)) / unit * unit;
        let op = match self.rng.below(100) {
            0..30 => OpCode::Read,
            30..33 => OpCode::Trim,
            33..34 => OpCode::Flush,
            _ => OpCode::Write,
        };
        self.tag += 1;
        let fua = op == OpCode::Write && self.rng.below(10) == 0;
        let mut hints = self.hints.as_mut().map(random_hints).unwrap_or_default();
        hints.priority = self.priorities.as_mut().map(random_priority).unwrap_or_default();
        let (lba, tag, arrival) = (Lba(lba), self.tag, drive.now());
        Command { op, fua, lba, sectors, tag, arrival, hints }
    }

    /// Tells a drive that looks ahead what this load will submit to it.
    pub fn tell(&self, drive: &mut Drive) {
        if drive.ahead().is_lacking() {
            let mut ahead = self.clone();
            let commands: Vec<_> = (0..AHEAD).map(|_| ahead.command(drive)).collect();
            tell(drive, commands);
        }
    }

    /// Submits commands until `commands` more have completed, and leaves the others under way.
    pub fn run(&mut self, drive: &mut Drive, commands: u64) {
        self.tell(drive);
        let mut done = 0;
        while done < commands {
            let command = self.command(drive);
            let queue = self.tag as usize % drive.queues();
            while drive.outstanding() >= 24 || !drive.queue_has_room(queue) {
                assert!(drive.advance_to_completion(), "stuck");
                while drive.pop_completion().is_some() {
                    done += 1;
                }
            }
            drive.submit(queue, &command, drive.now()).unwrap();
        }
    }
}
