//! What techniques cost beside a drive without them: processor time over its own, of runs that take turns.

use crate::report::{Goal, Row};
use crate::speed::{filled, preset_with};
use lab::process::cpu_time;
use lab::{LoopMode, RunSpec, run};
use ssd::rng::Rng;
use ssd::{Drive, DriveConfig, Executor};
use workload::Spec;

/// Turns of each.
const TURNS: u32 = 7;

/// The fastest turn with over the fastest without.
fn ratio(without: &Drive, with: &Drive, turn: &mut dyn FnMut(&mut Drive)) -> f64 {
    let mut seconds = |drive: &Drive| {
        let mut drive = drive.clone();
        let start = cpu_time();
        turn(&mut drive);
        (cpu_time() - start).as_secs_f64()
    };
    let (mut least, mut least_with) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..TURNS {
        least = least.min(seconds(without));
        least_with = least_with.min(seconds(with));
    }
    least_with / least
}

/// Reads and cleaned writes where reads heat units and data is sorted by that, without time; and what heat takes of
/// memory on the whole drive: two bits a unit.
pub fn read_heat() -> Vec<Row> {
    let config = |policy: &str| {
        let policy = format!("ftl.page_class.policy={policy}");
        let small = [
            "nand.geometry.channels=1",
            "nand.geometry.chips_per_channel=1",
            "nand.geometry.planes_per_die=1",
            "nand.geometry.blocks_per_plane=11264",
            "nand.geometry.wordlines_per_block=24",
            "host.buffer.size_mib=1",
            "ftl.allocation.moves=joined",
            "ftl.cleaning.reserve_blocks=24",
            "ftl.gc_trigger.policy=watermark",
            "ftl.gc_trigger.start_free_percent=0",
            "ftl.gc_trigger.stop_free_percent=1",
            policy.as_str(),
        ];
        preset_with("rhs", &small)
    };
    let drive = |cfg: &DriveConfig| {
        let mut drive = filled(cfg, 100);
        drive.set_executor(Executor::Functional);
        drive
    };
    let (plain, sorted) = (config("sequential"), config("read_heat"));
    let (without, mut with) = (drive(&plain), drive(&sorted));
    let (mut cleaned, units) = (without.clone(), without.logical_units());
    let mut rng = Rng::named(1, "bench/read_heat");
    let all: Vec<u32> = (0..units).map(|_| rng.below(units)).collect();
    cleaned.overwrite(&all).expect("room");
    let text = "pattern = 'uniform'\ncount = 1_000_000\nread_percent = 100\nsize_bytes = 16384";
    let load = Spec::parse(text).and_then(|spec| spec.prepare()).expect("a sound workload");
    let spec = RunSpec {
        loop_mode: LoopMode::Closed { depth: 1 },
        executor: Executor::Functional,
        ..RunSpec::default()
    };
    let mut read = |drive: &mut Drive| {
        let mut source = load.open(drive.logical_sectors()).expect("a generator");
        run(drive, &plain, &mut *source, &spec, &mut |_| {}).expect("a complete run");
    };
    let reads = ratio(&without, &with, &mut read);
    read(&mut with);
    with.overwrite(&all).expect("room");
    let writes = ratio(&cleaned, &with, &mut |drive| drive.overwrite(&all[..500_000]).expect("room"));
    let tables = |policy: &str| {
        let whole = preset_with("rhs", &[policy]);
        Drive::new(&whole).expect("a sound configuration").reports().table_bytes().all
    };
    let bytes = tables("ftl.page_class.policy=read_heat") - tables("ftl.page_class.policy=sequential");
    vec![
        Row::new("read_heat_reads", reads, "x", Goal::AtMost(1.3)),
        Row::new("read_heat_writes", writes, "x", Goal::AtMost(1.25)),
        Row::new("read_heat_table", bytes as f64 / 1e6, "MB", Goal::AtMost(15.4)),
    ]
}

/// Dies that suspend by priority, blocks whose age is known and voltages by it, on cells of half their life, at 70 %
/// reads and 30 % writes of all priorities. It takes less than 1 where reads that find their voltages at once save more
/// attempts than the rest costs.
pub fn ages_and_suspends() -> Vec<Row> {
    let base = ["nand.errors.model=cells", "nand.geometry.chips_per_channel=1", "drive.logical_gib=7"];
    let more = [
        "flash.preemption.policy=priority_aware",
        "host.queues.arbitration=priority",
        "ftl.age_marker.policy=real_wear",
        "flash.read_voltage.policy=table_by_age",
    ];
    let all: Vec<&str> = base.into_iter().chain(more).collect();
    let (without, with) = (preset_with("psr", &base), preset_with("psr", &all));
    let drive = |cfg: &DriveConfig| {
        let mut drive = filled(cfg, 100);
        for step in ["cycle to 4000", "retain 3 months"] {
            drive.age(&step.parse().expect("a step")).expect("room in the tables");
        }
        drive
    };
    let text = "pattern = 'uniform'\ncount = 300_000\nread_percent = 70\nsize_bytes = 16384\n\
                priority_shares = [0.4, 0.4, 0.2]";
    let load = Spec::parse(text).and_then(|spec| spec.prepare()).expect("a sound workload");
    let spec = RunSpec { loop_mode: LoopMode::Closed { depth: 16 }, ..RunSpec::default() };
    let mut mix = |drive: &mut Drive| {
        let mut source = load.open(drive.logical_sectors()).expect("a generator");
        run(drive, &without, &mut *source, &spec, &mut |_| {}).expect("a complete run");
    };
    let value = ratio(&drive(&without), &drive(&with), &mut mix);
    vec![Row::new("ages_and_suspends_70_30", value, "x", Goal::AtMost(1.3))]
}

/// An eighth of Evanesco's drive, with a policy of `ftl.sanitize`.
pub fn locking(policy: &str) -> DriveConfig {
    let policy = format!("ftl.sanitize.policy={policy}");
    preset_with("evanesco", &["drive.logical_gib=3.5", "nand.geometry.blocks_per_plane=54", &policy])
}

/// Locks of all that dies, pages and blocks, on a filled drive that is written over, 16 KiB at a time; and what the
/// flags of chips take: a bit a page and four bytes a block.
pub fn locks() -> Vec<Row> {
    let (without, with) = (locking("none"), locking("page_and_block_lock"));
    let text = "pattern = 'uniform'\ncount = 200_000\nread_percent = 0\nsize_bytes = 16384";
    let load = Spec::parse(text).and_then(|spec| spec.prepare()).expect("a sound workload");
    let spec = RunSpec { loop_mode: LoopMode::Closed { depth: 16 }, ..RunSpec::default() };
    let mut overwrite = |drive: &mut Drive| {
        let mut source = load.open(drive.logical_sectors()).expect("a generator");
        run(drive, &without, &mut *source, &spec, &mut |_| {}).expect("a complete run");
    };
    let value = ratio(&filled(&without, 100), &filled(&with, 100), &mut overwrite);
    let chips = |cfg: &DriveConfig| Drive::new(cfg).expect("a sound configuration").chips().lock_bytes();
    let g = &with.geometry;
    let blocks = g.planes() * g.blocks_per_plane;
    let said = (blocks * g.pages_per_block()).div_ceil(8) + 4 * blocks;
    vec![
        Row::new("locks_overwrite", value, "x", Goal::AtMost(1.2)),
        Row::new("locks_flags", chips(&with) as f64 / f64::from(said), "x as said", Goal::AtMost(1.0)),
        Row::new("locks_flags_without", chips(&without) as f64, "bytes", Goal::AtMost(0.0)),
    ]
}
