//! A drive as it is being fitted: its numbers, and the configurations that they make, whole and small.

use super::check::binary;
use crate::base::number::digits;

/// GiB in bytes.
pub const GIB: f64 = 1_073_741_824.0;
/// Flash of the drives that are run; bytes.
const SMALL: f64 = 16.0 * GIB;
/// Bytes of a page, and wordlines of a block of today's flash (assumed: `nand/client_tlc`).
pub const PAGE_BYTES: u32 = 16_384;
const WORDLINES: u32 = 704;
/// Wordlines of a small drive's block at least: shorter ones would open and close all the time.
const WORDLINES_MIN: u32 = 8;
/// tBERS of a whole block, us (assumed: `nand/client_tlc`, `nand/qlc`).
const ERASE_US: [f64; 4] = [3_500.0, 3_500.0, 3_500.0, 5_000.0];
/// Flash of a die by bits of a cell, GiB (assumed: dies of 128 Gb, 512 Gb and 1 Tb, the usual ones).
const DIE_GIB: [f64; 4] = [16.0, 16.0, 64.0, 128.0];
/// Dies of the largest and the smallest drive.
const DIES: std::ops::RangeInclusive<u32> = 4..=256;

/// How programs and erases give way to reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suspension {
    /// The policy's name.
    pub policy: &'static str,
    /// Steps of a program and of an erase.
    pub steps: (u32, u32),
}

impl Suspension {
    /// Those that are tried: none, ever shorter steps, at once.
    pub const ALL: [Suspension; 5] = [
        Suspension { policy: "none", steps: (4, 8) },
        Suspension { policy: "safe_point", steps: (2, 4) },
        Suspension { policy: "safe_point", steps: (4, 8) },
        Suspension { policy: "safe_point", steps: (8, 16) },
        Suspension { policy: "immediate", steps: (4, 8) },
    ];
    /// That of the default drive.
    pub const DEFAULT: Suspension = Suspension::ALL[2];

    /// What it is called.
    pub fn told(self) -> String {
        match self.policy {
            "safe_point" => {
                format!("safe_point, programs in {} and erases in {} steps", self.steps.0, self.steps.1)
            }
            policy => policy.to_owned(),
        }
    }
}

/// A drive's numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Bits of a cell.
    pub bits: u32,
    /// Dies.
    pub dies: u32,
    /// Channels.
    pub channels: u32,
    /// Planes of a die.
    pub planes: u32,
    /// Flash that is used, and what the host sees; bytes.
    pub raw: f64,
    /// The same of what the host sees.
    pub capacity: f64,
    /// KiB of an entry of the map.
    pub unit_kib: u32,
    /// Parity for 100 bytes of anything else.
    pub parity_percent: f64,
    /// tPROG of a page; us.
    pub program_us: f64,
    /// tR of a page; us.
    pub read_us: f64,
    /// tBERS of a whole block; us.
    pub erase_us: f64,
    /// Whether planes of a die read on their own.
    pub independent: bool,
    /// Data rate of a channel; MB/s.
    pub channel_mb_s: f64,
    /// Data rate of the link; MB/s.
    pub link_mb_s: f64,
    /// Delay of the link, each way; us.
    pub link_us: f64,
    /// Processor time of a command; us.
    pub command_us: f64,
    /// How programs and erases give way to reads.
    pub suspension: Suspension,
    /// Which block is cleaned.
    pub victim: &'static str,
    /// Whether FLUSH is answered from DRAM.
    pub capacitors: bool,
    /// Host writes while data is moved at most; MB/s; 0 for no limit.
    pub write_cap_mb_s: f64,
    /// Flash of the drive that stands for it in runs, as a multiple of 16 GiB.
    pub scale: f64,
    /// Erases that a block takes, if the drive's counters say; 0 if not.
    pub cycles: u32,
    /// Bytes that the host may write in the drive's life, and the workload that they are for, if anybody says.
    pub rating: Option<(f64, &'static str)>,
}

/// A key of a configuration with its value, as TOML has it.
pub type Set = (&'static str, String);

impl Model {
    /// A drive of so many bytes of flash and so much for the host, all else as the default drive is (assumed).
    pub fn new(bits: u32, raw: f64, capacity: f64) -> Self {
        let of_cell = bits as usize - 1;
        // What is beyond a power of two are blocks that dies have to spare.
        let wanted = (binary(capacity) / GIB / DIE_GIB[of_cell]).round() as u32;
        let dies = wanted.clamp(*DIES.start(), *DIES.end());
        Model {
            bits,
            dies,
            channels: dies.min(8),
            planes: 4,
            raw,
            capacity,
            unit_kib: 4,
            parity_percent: 0.0,
            program_us: [200.0, 300.0, 390.0, 2_000.0][of_cell],
            read_us: [25.0, 40.0, 50.0, 80.0][of_cell],
            erase_us: ERASE_US[of_cell],
            independent: false,
            channel_mb_s: 1_600.0,
            link_mb_s: 7_000.0,
            link_us: 1.0,
            command_us: 0.5,
            suspension: Suspension::DEFAULT,
            victim: "greedy",
            capacitors: false,
            write_cap_mb_s: 0.0,
            scale: 1.0,
            cycles: 0,
            rating: None,
        }
    }

    /// With another number of dies, on as many channels as they need.
    pub fn with_dies(self, dies: u32) -> Self {
        let channels =
            (1..=16.min(dies)).rev().find(|channels| dies.is_multiple_of(*channels) && *channels <= 8);
        Model { dies, channels: channels.unwrap_or(1), ..self }
    }

    /// Bytes programmed at once by all dies.
    pub fn stripe_bytes(&self) -> f64 {
        f64::from(self.dies * self.planes * PAGE_BYTES)
    }

    /// What the flash programs at most; MB/s.
    pub fn program_mb_s(&self) -> f64 {
        self.stripe_bytes() / self.program_us
    }

    /// Bytes of a block of each plane of all dies.
    fn row_bytes(&self, wordlines: u32) -> f64 {
        self.stripe_bytes() * f64::from(self.bits * wordlines)
    }

    /// Blocks of a plane that are used, and wordlines of each, of the whole drive.
    fn blocks(&self) -> (u32, u32) {
        let mut wordlines = WORDLINES;
        // A small drive of many dies still has blocks enough to choose from.
        while self.raw / self.row_bytes(wordlines) < 256.0 && wordlines > 4 * WORDLINES_MIN {
            wordlines /= 2;
        }
        ((self.raw / self.row_bytes(wordlines)).round().max(16.0) as u32, wordlines)
    }

    /// The same of a drive of 16 GiB that behaves alike: as many blocks, shorter ones; where they would be too short,
    /// fewer blocks.
    fn small_blocks(&self) -> (u32, u32) {
        let (blocks, wordlines) = self.blocks();
        let size = SMALL * self.scale;
        if self.raw <= size {
            return (blocks, wordlines);
        }
        let short = (size / self.row_bytes(1) / f64::from(blocks)).round() as u32;
        if short >= WORDLINES_MIN {
            return (blocks, short.min(wordlines));
        }
        let few = (size / self.row_bytes(WORDLINES_MIN)).round() as u32;
        (few.max(32), WORDLINES_MIN)
    }

    /// The keys of the whole drive.
    pub fn whole(&self) -> Vec<Set> {
        let (blocks, wordlines) = self.blocks();
        let mut sets = self.sets(blocks, wordlines, self.erase_us);
        sets.push(("drive.raw_gib", exact(self.raw_gib(blocks, wordlines))));
        sets.push(("drive.logical_gib", exact(self.capacity / GIB)));
        sets.push(("nand.timing.erase_steps", self.suspension.steps.1.to_string()));
        if self.cycles > 0 {
            sets.push(("nand.reliability.endurance_cycles", self.cycles.to_string()));
        }
        if let Some((bytes, workload)) = self.rating {
            sets.push(("drive.rating.tbw", exact(bytes / 1e12)));
            sets.push(("drive.rating.workload", format!("\"{workload}\"")));
        }
        sets
    }

    /// The keys of the drive that stands for it in runs: dies, planes, spare, and the time to erase a byte are the
    /// same.
    pub fn small(&self) -> Vec<Set> {
        let ((_, whole), (blocks, wordlines)) = (self.blocks(), self.small_blocks());
        let share = f64::from(wordlines) / f64::from(whole);
        let mut sets = self.sets(blocks, wordlines, self.erase_us * share);
        let raw = self.raw_gib(blocks, wordlines);
        sets.push(("drive.raw_gib", exact(raw)));
        sets.push(("drive.logical_gib", exact(raw * self.capacity / self.raw)));
        // A whole block's erase is as long as a step of a long one or shorter.
        let steps = f64::from(self.suspension.steps.1) * share;
        sets.push(("nand.timing.erase_steps", (steps.ceil() as u32).max(1).to_string()));
        sets
    }

    fn raw_gib(&self, blocks: u32, wordlines: u32) -> f64 {
        self.row_bytes(wordlines) * f64::from(blocks) / GIB
    }

    /// The part whose cells it is made of.
    pub fn part(&self) -> &'static str {
        if self.bits == 4 { "qlc" } else { "client_tlc" }
    }

    fn sets(&self, blocks: u32, wordlines: u32, erase_us: f64) -> Vec<Set> {
        let text = |value: &str| format!("\"{value}\"");
        // Two dies in a package where that goes, as the default drive has.
        let on_channel = self.dies / self.channels;
        let packed = if on_channel.is_multiple_of(2) { 2 } else { 1 };
        let mut sets = vec![
            ("nand.part", text(self.part())),
            ("nand.geometry.channels", self.channels.to_string()),
            ("nand.geometry.chips_per_channel", (on_channel / packed).to_string()),
            ("nand.geometry.dies_per_chip", packed.to_string()),
            ("nand.geometry.planes_per_die", self.planes.to_string()),
            // More than the firmware uses.
            ("nand.geometry.blocks_per_plane", (blocks + blocks / 20 + 1).to_string()),
            ("nand.geometry.wordlines_per_block", wordlines.to_string()),
            ("nand.timing.t_program_us", format!("[{}]", exact(self.program_us))),
            ("nand.timing.t_read_us", format!("[{}]", exact(self.read_us))),
            ("nand.timing.t_erase_us", exact(erase_us)),
            ("nand.timing.program_steps", self.suspension.steps.0.to_string()),
            ("nand.timing.independent_reads", self.independent.to_string()),
            ("flash.channel.bandwidth_mb_s", exact(self.channel_mb_s)),
            ("flash.preemption.policy", text(self.suspension.policy)),
            ("ftl.gc_victim.policy", text(self.victim)),
            ("ftl.cleaning.paces_host", "true".to_owned()),
            ("ftl.mapping.unit", text(&format!("{}kib", self.unit_kib))),
            ("ftl.parity_percent", exact(self.parity_percent)),
            ("host.link.bandwidth_mb_s", exact(self.link_mb_s)),
            ("host.link.latency_us", exact(self.link_us)),
            ("host.firmware.t_command_us", exact(self.command_us)),
            ("host.firmware.t_trim_us", "68.5".to_owned()),
            ("host.firmware.t_trim_unit_ns", "19".to_owned()),
            ("host.buffer.policy", text("lru_write")),
            ("host.buffer.size_mib", "16.0".to_owned()),
            ("host.buffer.flush", text(if self.capacitors { "capacitors" } else { "program" })),
        ];
        match self.bits {
            1 => sets.extend(cells(1, "[[1]]", "slc")),
            2 => sets.extend(cells(2, "[[2], [1, 3]]", "mlc")),
            _ => {}
        }
        if self.write_cap_mb_s > 0.0 {
            sets.push(("host.write_cap_mb_s", exact(self.write_cap_mb_s)));
        }
        sets
    }
}

/// Cells that no shipped part of today has.
fn cells(bits: u32, gray_code: &str, part: &str) -> [Set; 3] {
    [
        ("nand.geometry.bits_per_cell", bits.to_string()),
        ("nand.cell.gray_code", gray_code.to_owned()),
        ("cell.part", format!("\"{part}\"")),
    ]
}

/// A number with a decimal point, to six significant digits.
fn exact(value: f64) -> String {
    let digits = (5 - value.abs().max(1e-9).log10().floor() as i32).clamp(1, 9) as usize;
    let text = format!("{value:.digits$}");
    let text = text.trim_end_matches('0');
    if text.ends_with('.') { format!("{text}0") } else { text.to_owned() }
}

/// What dies, planes and pages program at once, as messages tell it.
pub fn program_told(model: &Model) -> String {
    format!("{} dies x {} planes x 16 KiB in {} us", model.dies, model.planes, digits(model.program_us))
}
