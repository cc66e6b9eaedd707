//! The loads whose instructions are counted: each drive in the state in which its load finds it.

use crate::speed::{filled, preset, preset_with};
use crate::techniques::locking;
use ssd::flash::op::Cause;
use ssd::rng::Rng;
use ssd::{AgeStep, Drive, DriveConfig, Executor, Pace, Stats};

/// A load whose instructions are counted.
pub struct Case {
    pub name: &'static str,
    /// The drive, in the state in which the load finds it.
    pub prepare: fn() -> (DriveConfig, Drive),
    pub depth: u32,
    pub load: &'static str,
    /// Requests served before those that are counted, until the buffer is as full as it stays.
    pub before: u64,
    /// Whether as many again are served until the flash operations of a request stay as they are: where garbage
    /// collection is what counts.
    pub until_steady: bool,
    pub requests: u64,
    /// How often the technique acted that the load is for: it must.
    pub acts: fn(&Stats) -> u64,
}

pub const CASES: &[Case] = &[
    Case {
        name: "random_read",
        prepare: full,
        depth: 32,
        load: READS,
        before: 1_000,
        until_steady: false,
        requests: 30_000,
        acts: always,
    },
    Case {
        name: "random_70_30",
        prepare: full,
        depth: 32,
        load: MIX,
        before: 60_000,
        until_steady: false,
        requests: 30_000,
        acts: always,
    },
    Case {
        name: "fresh_write",
        prepare: fresh,
        depth: 32,
        load: WRITES,
        before: 30_000,
        until_steady: false,
        requests: 30_000,
        acts: always,
    },
    Case {
        name: "steady_cleaning",
        prepare: cleaned,
        depth: 16,
        load: LARGE_WRITES,
        before: 15_000,
        until_steady: true,
        requests: 15_000,
        acts: always,
    },
    Case {
        name: "counted_read_straw",
        prepare: counting,
        depth: 1,
        load: PAGE_READS,
        before: 1_000,
        until_steady: false,
        requests: 300_000,
        acts: always,
    },
    Case {
        name: "page_overwrite",
        prepare: || overwritten("none"),
        depth: 16,
        load: PAGE_WRITES,
        before: 5_000,
        until_steady: true,
        requests: 15_000,
        acts: always,
    },
    Case {
        name: "page_overwrite_locked",
        prepare: || overwritten("page_and_block_lock"),
        depth: 16,
        load: PAGE_WRITES,
        before: 5_000,
        until_steady: true,
        requests: 15_000,
        acts: |stats| stats.ftl.exposed_pages,
    },
    Case {
        name: "slc_cache",
        prepare: cached,
        depth: 1,
        load: PAGE_WRITES,
        before: 10_000,
        until_steady: true,
        requests: 10_000,
        acts: |stats| stats.ftl.slc_destaged,
    },
    Case {
        name: "replicas",
        prepare: || disturbed("redftl"),
        depth: 4,
        load: HOT_READS,
        before: 10_000,
        until_steady: false,
        requests: 20_000,
        acts: |stats| moved(stats, Cause::Replication),
    },
    Case {
        name: "deals",
        prepare: || disturbed("redftl_plus"),
        depth: 4,
        load: HOT_READS,
        before: 10_000,
        until_steady: false,
        requests: 20_000,
        acts: |stats| stats.ftl.dealt_pages.iter().sum(),
    },
    Case {
        name: "copyback",
        prepare: || moving(&["ftl.migration.policy=copyback_by_cycles"]),
        depth: 16,
        load: PAGE_WRITES,
        before: 10_000,
        until_steady: true,
        requests: 10_000,
        acts: |stats| stats.ftl.copies,
    },
    Case {
        name: "ages",
        prepare: || moving(&["ftl.age_marker.policy=real_wear"]),
        depth: 16,
        load: PAGE_WRITES,
        before: 10_000,
        until_steady: true,
        requests: 10_000,
        acts: |stats| stats.techniques.age_marker.age_checks,
    },
    Case {
        name: "sorting",
        prepare: sorting,
        depth: 16,
        load: PAGE_MIX,
        before: 10_000,
        until_steady: false,
        requests: 10_000,
        acts: |stats| stats.ftl.class_matched,
    },
    Case {
        name: "swaps",
        prepare: || {
            // Where the host takes all that is free there is seldom room for a whole block.
            moving(&[
                "ftl.wear_leveling.policy=static_swap",
                "ftl.wear_leveling.max_difference=1",
                "drive.over_provisioning_percent=100",
            ])
        },
        depth: 16,
        load: COLD_REST,
        before: 20_000,
        until_steady: false,
        requests: 20_000,
        acts: |stats| moved(stats, Cause::WearLeveling),
    },
];

/// For loads that are for no technique.
fn always(_: &Stats) -> u64 {
    1
}

fn moved(stats: &Stats, cause: Cause) -> u64 {
    stats.ftl.moved_units[cause as usize]
}

const READS: &str = "read_percent = 100\nsize_bytes = 4096";
const MIX: &str = "read_percent = 70\nsize_bytes = 4096";
const WRITES: &str = "read_percent = 0\nsize_bytes = 4096";
const LARGE_WRITES: &str = "read_percent = 0\nsize_bytes = 8192";
const PAGE_READS: &str = "read_percent = 100\nsize_bytes = 16384";
const PAGE_WRITES: &str = "read_percent = 0\nsize_bytes = 16384";

const PAGE_MIX: &str = "read_percent = 50\nsize_bytes = 16384";
/// Some pages are read over and over.
const HOT_READS: &str = "read_percent = 95\nsize_bytes = 16384\nfootprint_percent = 1";
/// Most of the data stays as it is.
const COLD_REST: &str = "read_percent = 0\nsize_bytes = 16384\nfootprint_percent = 5";

/// A quarter of m64, 16 GiB: filling the whole takes most of the time under valgrind, and counts differ little.
fn quarter() -> DriveConfig {
    let mut cfg = preset("m64");
    cfg.geometry.blocks_per_plane /= 4;
    cfg
}

fn fresh() -> (DriveConfig, Drive) {
    let cfg = quarter();
    let drive = Drive::new(&cfg).expect("a sound preset");
    (cfg, drive)
}

fn full() -> (DriveConfig, Drive) {
    let cfg = quarter();
    let drive = filled(&cfg, 100);
    (cfg, drive)
}

/// Three quarters written, and overwritten until every lane is cleaned.
fn cleaned() -> (DriveConfig, Drive) {
    used(quarter(), 75)
}

/// So many percent written, and half as many units as there are overwritten.
fn used(cfg: DriveConfig, percent: u64) -> (DriveConfig, Drive) {
    let mut drive = filled(&cfg, percent);
    let mut rng = Rng::named(cfg.drive.seed, "bench/instructions");
    let units = drive.logical_units();
    let lpns: Vec<u32> = (0..units / 2).map(|_| rng.below(units)).collect();
    drive.overwrite(&lpns).expect("room");
    (cfg, drive)
}

/// A quarter of one chip of Straw's drive, with more spare room, full and cycled 2,000 times, that only counts.
fn counting() -> (DriveConfig, Drive) {
    let settings = [
        "nand.errors.model=cells",
        "nand.errors.disturb_counters=wordline",
        "ftl.read_reclaim.policy=straw",
        "ftl.read_reclaim.counters=space_saving",
    ];
    let mut cfg = preset_with("straw", &settings);
    (cfg.geometry.channels, cfg.geometry.chips_per_channel) = (1, 1);
    cfg.geometry.blocks_per_plane /= 4;
    cfg.drive.over_provisioning_percent = 20.0;
    let mut drive = filled(&cfg, 100);
    let step: AgeStep = "cycle to 2000".parse().expect("a sound step");
    drive.age(&step).expect("a drive whose cells age");
    drive.set_executor(Executor::Functional);
    (cfg, drive)
}

/// The drive of the bench `locks`, full and written over once more, with a policy of `ftl.sanitize`; nothing of that is
/// left to be locked.
fn overwritten(policy: &str) -> (DriveConfig, Drive) {
    let (cfg, mut drive) = used(locking(policy), 100);
    while drive.past().catch_up(Pace::Relaxed) {}
    (cfg, drive)
}

/// Two dies of TLC, mapped by page.
fn tlc(settings: &[&str]) -> DriveConfig {
    let small = [
        "nand.geometry.channels=1",
        "nand.geometry.chips_per_channel=1",
        "nand.geometry.blocks_per_plane=128",
        "nand.geometry.wordlines_per_block=32",
        "ftl.mapping.unit=page",
        "host.buffer.size_mib=1",
        "drive.over_provisioning_percent=25",
    ];
    preset_with("tlc", &[&small[..], settings].concat())
}

/// That drive with cells that age, in the middle of their lives, full and cleaned.
fn moving(settings: &[&str]) -> (DriveConfig, Drive) {
    let (cfg, mut drive) = used(tlc(&[&["nand.errors.model=cells"], settings].concat()), 100);
    drive.age(&"cycle to 1000".parse().expect("a sound step")).expect("a drive whose cells age");
    (cfg, drive)
}

/// That drive with a cache of one bit a cell. A host that writes all the time would pass it by, so no time passes.
fn cached() -> (DriveConfig, Drive) {
    let (cfg, mut drive) = used(tlc(&["ftl.slc_cache.policy=fixed"]), 75);
    drive.set_executor(Executor::Functional);
    (cfg, drive)
}

/// That drive whose blocks stand few reads.
fn disturbed(policy: &str) -> (DriveConfig, Drive) {
    let policy = format!("ftl.read_reclaim.policy={policy}");
    moving(&[&policy, "ftl.read_reclaim.max_reads=100", "nand.errors.disturb_counters=wordline"])
}

/// That drive with pages chosen by how often data is read.
fn sorting() -> (DriveConfig, Drive) {
    let settings = [
        "ftl.page_class.policy=read_heat",
        "ftl.allocation.moves=joined",
        "ftl.cleaning.reserve_blocks=24",
        "ftl.gc_trigger.policy=watermark",
        "ftl.gc_trigger.start_free_percent=0",
        "ftl.gc_trigger.stop_free_percent=1",
        "drive.over_provisioning_percent=60",
    ];
    used(tlc(&settings), 100)
}
