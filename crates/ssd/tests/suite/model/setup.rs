//! Random drives: small enough to be cleaned many times in a run, and every switch turned at some time.

use super::bounded::{bound_exposure, renew};
use super::hotness::tell_hotness;
use super::parity::{random_parity, without_parity_if_it_must};
use super::reprogram::can_reprogram;
use super::techniques;
use crate::support::every::{chosen, is_possible, select};
use ssd::config::{Kind, Table, Value};
use ssd::flash::{preemption, read_voltage};
use ssd::ftl::{gc_trigger, gc_victim, page_class, sanitize, slc_cache, stream};
use ssd::host::buffer;
use ssd::nand::cell::CellPart;
use ssd::policy::{FamilyInfo, family};
use ssd::rng::Rng;
use ssd::sections::{
    AllocationOrder, Arbitration, ArrayTimes, ChannelOrder, DisturbCounters, DisturbLaw, ErrorModel, Issue,
    MappingUnit, MovesOfFirst, Placement, PriorityOrder, ProgramOrder, ReclaimOrder, SchedulingOrder,
    SectorErrors, Superblock,
};
use ssd::{Drive, DriveConfig};

/// One of the values, all equally likely.
pub fn pick<T: Copy>(rng: &mut Rng, values: &[T]) -> T {
    values[rng.below(values.len() as u32) as usize]
}

/// Mapping units a drive has at most: larger ones are not cleaned in a short run.
pub const UNITS_AT_MOST: u64 = 12_000;

/// Turns every switch of the configuration at random.
pub fn random_config(rng: &mut Rng) -> DriveConfig {
    loop {
        let mut cfg = DriveConfig::default();
        cfg.drive.seed = rng.next_u64() >> 1;
        random_geometry(&mut cfg, rng);
        random_firmware(&mut cfg, rng);
        random_times(&mut cfg, rng);
        random_faults(&mut cfg, rng);
        random_dealing(&mut cfg);
        random_stops(&mut cfg);
        random_unused(&mut cfg);
        random_parity(&mut cfg);
        cfg.cleaning.lazy_erase = Rng::named(cfg.drive.seed, "model/lazy_erase").below(3) == 0;
        cfg.cleaning.paces_host = cfg.allocation.placement == Placement::Dynamic
            && Rng::named(cfg.drive.seed, "model/paces_host").below(3) == 0;
        // Tiny drives need a larger share of spare blocks than usual; some need more than they have.
        let usual = pick(rng, &[7.0, 12.0, 28.0, 60.0]);
        for step in 0..12 {
            cfg.drive.over_provisioning_percent = f64::round(usual * f64::powi(1.3, step));
            if Drive::new(&cfg).is_ok() {
                return cfg;
            }
        }
    }
}

fn random_geometry(cfg: &mut DriveConfig, rng: &mut Rng) {
    cfg.mapping.unit = pick(rng, &[MappingUnit::Page, MappingUnit::FourKib]);
    let four_kib = cfg.mapping.unit == MappingUnit::FourKib;
    let small = if four_kib { 4096 } else { 2048 };
    loop {
        let g = &mut cfg.geometry;
        g.channels = pick(rng, &[1, 1, 2, 3]);
        g.chips_per_channel = pick(rng, &[1, 1, 2]);
        g.dies_per_chip = pick(rng, &[1, 1, 2]);
        g.planes_per_die = pick(rng, &[1, 2, 2, 3, 4]);
        g.blocks_per_plane = 8 + rng.below(32);
        g.wordlines_per_block = pick(rng, &[1, 2, 4, 7, 16]);
        g.bits_per_cell = pick(rng, &[1, 2, 3, 4]);
        g.page_bytes = pick(rng, &[small, 4096, 8192, 16_384]);
        if !four_kib && rng.below(12) == 0 {
            g.page_bytes = 65_536;
        }
        if cfg.physical_units() <= UNITS_AT_MOST {
            break;
        }
    }
    cfg.cell.program_order = pick(rng, &[ProgramOrder::WordlineMajor, ProgramOrder::Shadow]);
    cfg.allocation.superblock = pick(rng, &[Superblock::None, Superblock::Planes, Superblock::All]);
    let orders: Vec<_> =
        ["cwdp", "pdwc", "pcwd", "dpcw", "wdpc", "cpwd"].map(AllocationOrder::from_name).to_vec();
    cfg.allocation.order = pick(rng, &orders).unwrap();
}

/// One drive in four has blocks that its firmware does not use. Draws of its own.
fn random_unused(cfg: &mut DriveConfig) {
    let rng = &mut Rng::named(cfg.drive.seed, "model/unused");
    if rng.below(4) == 0 {
        cfg.drive.raw_gib = cfg.used_bytes() as f64 / f64::from(1 << 30);
        cfg.geometry.blocks_per_plane += 1 + rng.below(5);
    }
}

/// A policy of a family and its parameters: values for keys that the model knows, drawn where a policy has them; what
/// it does not know is drawn if it is a choice or a switch, from a stream of the family's own.
pub fn random_policy(
    cfg: &mut DriveConfig,
    section: &str,
    policy: &str,
    mut value: impl FnMut(&str) -> Option<Value>,
) {
    let own = &mut Rng::named(cfg.drive.seed, &format!("model/{section}"));
    let table = cfg.section_mut(section).unwrap();
    table.select(policy).unwrap();
    for field in table.fields() {
        let drawn = match (value(field.key), field.kind) {
            (Some(value), _) => value,
            (None, Kind::Choice(names)) => Value::Text(pick(own, names).to_owned()),
            (None, Kind::Switch) => Value::Bool(own.below(2) == 0),
            _ => continue,
        };
        table.set(field.key, &drawn).unwrap_or_else(|problem| panic!("{policy}.{}: {problem:?}", field.key));
    }
}

/// Names of a family's policies that a drive can have.
pub fn names(family: &FamilyInfo) -> Vec<&'static str> {
    let names = family.members.iter().map(|member| member.name);
    names.filter(|name| is_possible(&family.section(), name)).collect()
}

fn random_firmware(cfg: &mut DriveConfig, rng: &mut Rng) {
    random_policy(cfg, "ftl.gc_victim", pick(rng, &names(&gc_victim::FAMILY)), |_| None);
    let start = pick(rng, &[1.0, 4.0, 15.0]);
    // The default counts twice.
    let triggers = names(&gc_trigger::FAMILY).into_iter().rev().chain([gc_trigger::FAMILY.default]);
    let trigger = pick(rng, &triggers.collect::<Vec<_>>());
    random_policy(cfg, "ftl.gc_trigger", trigger, |key| {
        Some(Value::Float(match key {
            "start_free_percent" => start,
            "stop_free_percent" => start + pick(rng, &[0.0, 5.0]),
            "idle_free_percent" => start + 10.0,
            "idle_after_us" => pick(rng, &[5.0, 500.0]),
            _ => return None,
        }))
    });
    techniques::random_leveling(cfg, rng);
    if chosen(cfg, "ftl.wear_leveling") == "age_aware" {
        select(cfg, "ftl.age_marker", "pe_cycles");
    }
    let (size, access) = (pick(rng, &[0.25, 0.5, 1.5, 4.0]), pick(rng, &[0, 200]));
    let (start, stop) = pick(rng, &[(0.0, 0.0), (50.0, 25.0), (90.0, 10.0), (100.0, 100.0)]);
    random_policy(cfg, "host.buffer", pick(rng, &names(&buffer::FAMILY)), |key| {
        Some(match key {
            "size_mib" => Value::Float(size),
            "flush_start_percent" => Value::Float(start),
            "flush_stop_percent" => Value::Float(stop),
            "t_access_ns" => Value::Integer(access),
            "gather_timeout_us" => Value::Float(pick(rng, &[0.0, 50.0])),
            _ => return None,
        })
    });
    cfg.cleaning.copies_in_flight = pick(rng, &[1, 2, 4, 9]);
    cfg.cleaning.reserve_blocks = pick(rng, &[1, 1, 2]);
    if rng.below(2) == 0 && cfg.units_per_page() == 1 {
        random_migration(cfg);
    }
}

fn random_times(cfg: &mut DriveConfig, rng: &mut Rng) {
    cfg.timing.cache_operations = rng.below(2) == 0;
    cfg.timing.t_program_us = vec![pick(rng, &[50.0, 700.0])];
    cfg.timing.t_read_us = vec![pick(rng, &[3.0, 75.0])];
    cfg.timing.t_erase_us = pick(rng, &[100.0, 3500.0]);
    cfg.channel.bandwidth_mb_s = pick(rng, &[100.0, 1200.0]);
    cfg.scheduling.order = pick(rng, &[SchedulingOrder::ReadFirst, SchedulingOrder::Fifo]);
    cfg.scheduling.read_bypass_limit = pick(rng, &[0, 1, 16]);
    cfg.scheduling.multi_plane = rng.below(3) > 0;
    random_issue(cfg);
    random_planes(cfg);
    cfg.queues.count = pick(rng, &[1, 1, 2, 4]);
    cfg.queues.depth = pick(rng, &[1, 2, 8, 32, 128]);
    cfg.link.latency_us = pick(rng, &[0.0, 1.0]);
    cfg.link.bandwidth_mb_s = pick(rng, &[500.0, 7000.0]);
    cfg.firmware.t_command_us = pick(rng, &[0.0, 0.5]);
    random_trims(cfg);
    random_ahead(cfg);
}

/// Reads ahead, in one of three drives. Draws of its own.
fn random_ahead(cfg: &mut DriveConfig) {
    let rng = &mut Rng::named(cfg.drive.seed, "model/ahead");
    if rng.below(3) == 0 {
        cfg.read_ahead.size_kib = pick(rng, &[1, 16, 64, 300]);
        cfg.read_ahead.after = pick(rng, &[1, 1, 2]);
    }
}

/// Trims that take time, in one of three drives. Draws of its own.
fn random_trims(cfg: &mut DriveConfig) {
    let rng = &mut Rng::named(cfg.drive.seed, "model/trims");
    if rng.below(3) == 0 {
        cfg.firmware.t_trim_us = pick(rng, &[0.0, 5.0, 70.0]);
        cfg.firmware.t_trim_unit_ns = pick(rng, &[0, 20, 3_000]);
    }
}

/// Rows, or pages: three to one where planes work together. Draws of its own.
fn random_issue(cfg: &mut DriveConfig) {
    let rng = &mut Rng::named(cfg.drive.seed, "model/issue");
    let by_row = cfg.scheduling.multi_plane && rng.below(4) > 0;
    cfg.allocation.issue = if by_row { Issue::Row } else { Issue::Page };
}

/// Planes that read on their own, in one of three drives that have several. Draws of its own.
fn random_planes(cfg: &mut DriveConfig) {
    let rng = &mut Rng::named(cfg.drive.seed, "model/planes");
    cfg.timing.independent_reads = cfg.geometry.planes_per_die > 1 && rng.below(3) == 0;
    cfg.timing.cache_operations &= !cfg.timing.independent_reads;
}

/// Three drives in four are sound; the others lose blocks from the start, now and then, often, or all of them in time.
fn random_faults(cfg: &mut DriveConfig, rng: &mut Rng) {
    let faults = &mut cfg.reliability;
    faults.factory_bad_ppm = pick(rng, &[0.0, 0.0, 0.0, 40_000.0]);
    match rng.below(8) {
        0 => faults.program_fail_ppm = pick(rng, &[100.0, 2_000.0, 30_000.0]),
        1 => faults.erase_fail_ppm = pick(rng, &[1_000.0, 30_000.0]),
        2 => faults.endurance_cycles = 2 + rng.below(20),
        3 => {
            faults.program_fail_ppm = pick(rng, &[200.0, 20_000.0]);
            faults.erase_fail_ppm = pick(rng, &[1_000.0, 20_000.0]);
        }
        _ => {}
    }
}

/// Lets the cells of a drive age, and so fast that a run can lose data; and lets data move because of reads.
pub fn random_aging(cfg: &mut DriveConfig, rng: &mut Rng) {
    let part = ["slc", "mlc", "tlc_48l", "qlc"][cfg.geometry.bits_per_cell as usize - 1];
    cfg.cells = CellPart::preset(part).unwrap();
    cfg.cells.retry.entries = pick(rng, &[0, 2, 4]);
    let weakest = pick(rng, &[60.0, 300.0, 2_000.0]);
    let disturb = &mut cfg.cells.disturb;
    disturb.erc_max = [2.0, 1.6, 1.3, 1.0].map(|factor| factor * weakest).to_vec();
    disturb.top_erc = 2.5 * weakest;
    cfg.geometry.spare_bytes = 65_536;
    let errors = &mut cfg.errors;
    errors.model = ErrorModel::Cells;
    errors.sectors = pick(rng, &[SectorErrors::Worst, SectorErrors::Drawn]);
    errors.variation = rng.below(2) == 0;
    errors.disturb_counters = pick(rng, &[DisturbCounters::Wordline, DisturbCounters::Block]);
    errors.disturb_law = pick(rng, &[DisturbLaw::Linear, DisturbLaw::Voltage]);
    errors.tracking_reads = pick(rng, &[0, 1, 8]);
    errors.array_times = pick(rng, &[ArrayTimes::Fixed, ArrayTimes::Worn]);
    random_policy(cfg, "flash.read_voltage", pick(rng, &names(&read_voltage::FAMILY)), |_| None);
    random_ages(cfg, part);
    if cfg.read_voltage.name() == "table_by_age" && part == "tlc_48l" {
        // Voltages by age lie on the whole line of the retry table.
        cfg.cells.retry.entries = 15;
        (cfg.errors.sectors, cfg.errors.variation) = (SectorErrors::Worst, true);
    }
    // The model takes other constants of the same part.
    cfg.cells.markers.fitted_on = cfg.cells.fingerprint();
    if cfg.units_per_page() == 1 {
        random_migration(cfg);
    }
    // Voltages by age need a marker, a law of disturb and a retry table that suit them.
    if cfg.read_voltage.name() == "table_by_age" && Drive::new(cfg).is_err() {
        random_policy(cfg, "flash.read_voltage", read_voltage::FAMILY.default, |_| None);
    }
    techniques::random_read_reclaim(cfg, rng);
    random_dealing(cfg);
    without_parity_if_it_must(cfg);
}

/// Blocks whose ages are told by any policy, if by one. Draws of its own.
fn random_ages(cfg: &mut DriveConfig, part: &str) {
    let Some(family) = family("ftl.age_marker") else { return };
    let marker = pick(&mut Rng::named(cfg.drive.seed, "model/age"), &names(family));
    // Blocks of other parts are old, or dead, when they are born: as the parts' limits and populations have it.
    let marker = if part == "tlc_48l" { marker } else { "pe_cycles" };
    let is_asked = chosen(cfg, "ftl.wear_leveling") == "age_aware" && marker == "none";
    random_policy(cfg, "ftl.age_marker", if is_asked { "real_wear" } else { marker }, |_| None);
}

/// Moves that go past the controller, by any policy that the drive can have. Draws of its own.
fn random_migration(cfg: &mut DriveConfig) {
    let Some(family) = family("ftl.migration") else { return };
    let rng = &mut Rng::named(cfg.drive.seed, "model/migration");
    let hours = pick(rng, &[0.0, 0.001, 1.0, 1_000.0]);
    let (cycles, most) = (pick(rng, &[1, 3, 1_000]), pick(rng, &[1, 5, 7]));
    random_policy(cfg, "ftl.migration", pick(rng, &names(family)), |key| {
        Some(match key {
            "max_source_hours" => Value::Float(hours),
            "cycles_per_limit" => Value::Integer(cycles),
            "max_in_a_row" => Value::Integer(most),
            _ => return None,
        })
    });
    if cfg.validate().is_err() {
        select(cfg, "ftl.migration", "copyback_always");
    }
}

/// Gives the drive the spare room that its policies need; false, and the drive as it was, if room makes none of it.
pub fn make_room(cfg: &mut DriveConfig) -> bool {
    let usual = cfg.drive.over_provisioning_percent;
    for step in 0..16 {
        cfg.drive.over_provisioning_percent = f64::round(usual * f64::powi(1.2, step));
        if Drive::new(cfg).is_ok() {
            return true;
        }
    }
    cfg.drive.over_provisioning_percent = usual;
    false
}

/// Separates data by any policy, with tables so small that they are often full; false if the drive has no room for it.
pub fn random_stream(cfg: &mut DriveConfig, rng: &mut Rng) -> bool {
    random_policy(cfg, "ftl.stream", pick(rng, &names(&stream::FAMILY)), |key| {
        Some(Value::Integer(match key {
            "streams" => pick(rng, &[3, 4, 8, 12]),
            "handles" => pick(rng, &[1, 3, 8, 12]),
            "hot" | "candidates" => pick(rng, &[1, 5, 60, 512]),
            "counters" | "bits" => pick(rng, &[1, 16, 300, 4_096]),
            "halve_after" | "turn" => pick(rng, &[1, 30, 500]),
            "hot_kib" => pick(rng, &[4, 16]),
            "window" => pick(rng, &[2, 4]),
            _ => return None,
        }))
    });
    cfg.allocation.moves = pick(rng, &[MovesOfFirst::Apart, MovesOfFirst::Joined]);
    if cfg.stream.name() == stream::hotness::NAME {
        tell_hotness(cfg);
    }
    make_room(cfg)
}

/// A drive that sorts data by the class of pages; some put it in streams, too, and some age.
pub fn random_sorting(rng: &mut Rng) -> DriveConfig {
    loop {
        let mut cfg = random_config(rng);
        if rng.below(4) == 0 {
            random_aging(&mut cfg, rng);
        }
        let fits = rng.below(3) > 0 || random_stream(&mut cfg, rng);
        if fits && random_page_class(&mut cfg, rng) {
            return cfg;
        }
    }
}

/// A cache that silence empties soon, late or never, as far as it says. Draws of its own.
fn random_idle(cfg: &mut DriveConfig) {
    let rng = &mut Rng::named(cfg.drive.seed, "model/idle");
    cfg.slc_cache.set("idle_after_us", &Value::Float(pick(rng, &[0.0, 50.0, 5_000.0, 1e6]))).unwrap();
    cfg.slc_cache.set("idle_keep_percent", &Value::Float(pick(rng, &[0.0, 50.0, 100.0]))).unwrap();
}

/// A drive with a cache of one bit a cell; some put data in streams, sort it, or both.
pub fn random_caching(rng: &mut Rng) -> DriveConfig {
    loop {
        let mut cfg = random_config(rng);
        if cfg.geometry.bits_per_cell == 1 {
            continue;
        }
        if rng.below(3) == 0 {
            random_aging(&mut cfg, rng);
        }
        let reads = &mut Rng::named(cfg.drive.seed, "model/cached reads");
        if reads.below(2) == 0 {
            cfg.read_reclaim.select("never").unwrap();
        }
        cfg.slc.read_endurance = pick(reads, &[0.0001, 0.001, 1.0]);
        cfg.cleaning.lazy_erase &= reads.below(2) == 0;
        cfg.redundancy.parity_percent = 0.0;
        let policies =
            names(&slc_cache::FAMILY).into_iter().filter(|&name| name != slc_cache::FAMILY.default);
        random_policy(&mut cfg, "ftl.slc_cache", pick(rng, &policies.collect::<Vec<_>>()), |key| {
            Some(match key {
                "blocks_per_lane" => Value::Integer(pick(rng, &[2, 3, 5])),
                "spare_percent" => Value::Float(pick(rng, &[0.0, 7.0, 30.0])),
                _ => return None,
            })
        });
        random_idle(&mut cfg);
        let sorts = rng.below(3) == 0;
        let fits = (rng.below(3) > 0 || random_stream(&mut cfg, rng)) && make_room(&mut cfg);
        if fits && (!sorts || random_page_class(&mut cfg, rng)) {
            return cfg;
        }
    }
}

/// A drive that locks what dies; some age, separate data, make replicas, sort or cache it.
pub fn random_locks(rng: &mut Rng) -> DriveConfig {
    loop {
        let mut cfg = match rng.below(8) {
            0 => random_sorting(rng),
            1 => random_caching(rng),
            _ => random_config(rng),
        };
        let is_plain = cfg.page_class.name() == page_class::FAMILY.default && cfg.slc_blocks_per_lane() == 0;
        let fits = match rng.below(10) {
            0 if is_plain => {
                random_aging(&mut cfg, rng);
                true
            }
            1..=3 if is_plain => random_stream(&mut cfg, rng),
            _ => true,
        };
        if random_sanitize(&mut cfg, rng) && fits && make_room(&mut cfg) {
            return cfg;
        }
    }
}

/// The same, with cells that age and replicas of what is read often.
pub fn random_locked_replicas(rng: &mut Rng) -> DriveConfig {
    loop {
        let mut cfg = random_config(rng);
        random_aging(&mut cfg, rng);
        techniques::random_redftl(&mut cfg, rng);
        if rng.below(2) == 0 {
            weaken(&mut cfg);
        }
        let fits = techniques::replicates(&cfg) && random_sanitize(&mut cfg, rng);
        if fits && make_room(&mut cfg) {
            return cfg;
        }
    }
}

/// Whether what was flushed is in flash.
pub fn flushes_program(cfg: &DriveConfig) -> bool {
    buffer::Policy::build(&cfg.buffer).rules(cfg.unit_bytes()).flush == buffer::Flush::Program
}

/// Locks what dies by any policy; false if it does not suit the drive.
fn random_sanitize(cfg: &mut DriveConfig, rng: &mut Rng) -> bool {
    let left_out = [sanitize::FAMILY.default, sanitize::reprogram::NAME];
    let names = names(&sanitize::FAMILY).into_iter().filter(|name| !left_out.contains(name));
    let policy = pick(rng, &names.collect::<Vec<_>>());
    // Draws of its own: the others stay what they were.
    let reprograms = Rng::named(cfg.drive.seed, "model/reprogram").below(6) == 0;
    let policy = if reprograms && can_reprogram(cfg) { sanitize::reprogram::NAME } else { policy };
    if policy == "scrub" && (techniques::replicates(cfg) || techniques::deals(cfg)) {
        return false;
    }
    sanitize_by(cfg, rng, policy);
    true
}

/// Locks what dies by a policy that suits the drive.
pub fn sanitize_by(cfg: &mut DriveConfig, rng: &mut Rng, policy: &str) {
    cfg.redundancy.parity_percent = 0.0;
    if !flushes_program(cfg) {
        cfg.buffer.set("flush", &Value::Text("program".to_owned())).unwrap();
    }
    if policy == "scrub" {
        cfg.cell.program_order = ProgramOrder::WordlineMajor;
    }
    random_policy(cfg, "ftl.sanitize", policy, |key| {
        (key == "batch_ms").then(|| Value::Float(pick(rng, &[0.0, 0.3, 50.0])))
    });
    cfg.reliability.lock_fail_ppm = pick(rng, &[0.0, 0.0, 1_000.0, 100_000.0]);
    cfg.timing.t_page_lock_us = pick(rng, &[10.0, 100.0, 200.0]);
    if sanitize::Policy::build(&cfg.sanitize).locks_blocks() {
        // Draws of its own. Most of these lock a block for two pages or even one, whatever was killed last there.
        let rng = &mut Rng::named(cfg.drive.seed, "model/block locks");
        cfg.timing.t_page_lock_us = pick(rng, &[100.0, 200.0, 400.0, 400.0]);
        cfg.timing.t_block_lock_us = pick(rng, &[200.0, 300.0, 400.0]);
    }
    if policy.contains("lock") {
        renew(cfg);
        bound_exposure(cfg);
    }
}

/// The same, small, whose cells make no errors, with the pulses of the paper: what becomes of those that are cut short
/// is known. A third of them lock blocks, half of these for a single page.
pub fn random_cuts(rng: &mut Rng) -> DriveConfig {
    let of_blocks = rng.below(3) == 0;
    loop {
        let mut cfg = random_locks(rng);
        let locks_blocks = sanitize::Policy::build(&cfg.sanitize).locks_blocks();
        let is_small = cfg.errors.model == ErrorModel::None && cfg.physical_units() <= UNITS_AT_MOST / 4;
        if is_small && (locks_blocks || !of_blocks) {
            let page_us = if locks_blocks && rng.below(2) == 0 { 400.0 } else { 100.0 };
            (cfg.timing.t_page_lock_us, cfg.timing.t_block_lock_us) = (page_us, 300.0);
            return cfg;
        }
    }
}

/// Sorts data by the class of pages, in queues of any length; false if the drive has no room for it.
fn random_page_class(cfg: &mut DriveConfig, rng: &mut Rng) -> bool {
    let bits = pick(rng, &[1, 2, 2, 3, 8]);
    let policies = names(&page_class::FAMILY).into_iter().filter(|&name| name != page_class::FAMILY.default);
    random_policy(cfg, "ftl.page_class", pick(rng, &policies.collect::<Vec<_>>()), |key| {
        Some(match key {
            "bits" => Value::Integer(bits),
            "p" => {
                Value::List((0..(1 << bits) - 1).map(|_| Value::Float(pick(rng, &[0.0, 0.3, 1.0]))).collect())
            }
            "queue_blocks" => Value::Float(pick(rng, &[0.3, 1.0, 2.0, 5.0])),
            _ => return None,
        })
    });
    if cfg.validate().is_err() {
        // Blocks of few pages.
        cfg.page_class.set("queue_blocks", &Value::Float(4.0)).unwrap();
    }
    make_room(cfg)
}

/// A quarter of the drives deal data over blocks because of reads, whether their cells age or not. Draws of its own:
/// those above stay what they were.
fn random_dealing(cfg: &mut DriveConfig) {
    let rng = &mut Rng::named(cfg.drive.seed, "model/dealing");
    techniques::random_deals(cfg, rng);
    cfg.scheduling.reclaim = pick(rng, &[ReclaimOrder::Urgent, ReclaimOrder::Background]);
    cfg.scheduling.due_bypass_limit = pick(rng, &[1, 2, 100]);
    let (commands, data) = (ChannelOrder::CommandsFirst, ChannelOrder::DataFirst);
    cfg.scheduling.channel = pick(rng, &[commands, commands, commands, data]);
}

/// Lets work of dies be stopped for reads, and commands be fetched by priority. Draws of its own.
fn random_stops(cfg: &mut DriveConfig) {
    let rng = &mut Rng::named(cfg.drive.seed, "model/preemption");
    cfg.queues.arbitration = pick(rng, &[Arbitration::RoundRobin, Arbitration::Priority]);
    cfg.scheduling.priorities =
        pick(rng, &[PriorityOrder::ByClass, PriorityOrder::ByClass, PriorityOrder::Ignored]);
    if cfg.timing.cache_operations || cfg.scheduling.order == SchedulingOrder::Fifo || rng.below(4) == 0 {
        return;
    }
    (cfg.timing.program_steps, cfg.timing.erase_steps) = (pick(rng, &[1, 3, 16]), pick(rng, &[1, 5, 30]));
    let (stop, resume) = pick(rng, &[(20.0, 20.0), (0.0, 0.0), (3.0, 50.0)]);
    (cfg.timing.t_suspend_us, cfg.timing.t_resume_us) = (stop, resume);
    random_policy(cfg, "flash.preemption", pick(rng, &names(&preemption::FAMILY)), |key| {
        Some(match key {
            "at_once_per_erase" => Value::Integer(pick(rng, &[0, 2, 30])),
            "min_run_us" => Value::Float(pick(rng, &[1.0, 20.0, 70.0])),
            _ => return None,
        })
    });
    if cfg.preemption.name() == preemption::priority_aware::NAME {
        cfg.scheduling.priorities = PriorityOrder::ByClass;
    }
}

/// Gives each logical page a plane of its own; false if the drive's planes are too small for that.
pub fn place_pages(cfg: &mut DriveConfig) -> bool {
    (cfg.mapping.unit, cfg.allocation.superblock) = (MappingUnit::Page, Superblock::None);
    cfg.allocation.placement = Placement::Static;
    let usual = cfg.drive.over_provisioning_percent;
    for step in 0..8 {
        cfg.drive.over_provisioning_percent = f64::round(usual * f64::powi(1.3, step));
        if Drive::new(cfg).is_ok() {
            return true;
        }
    }
    false
}

/// Cells that reads harm ten times as fast, so that replicas are lost, too.
pub fn weaken(cfg: &mut DriveConfig) {
    let disturb = &mut cfg.cells.disturb;
    disturb.erc_max.iter_mut().for_each(|erc| *erc /= 10.0);
    disturb.top_erc /= 10.0;
}

/// Whether the drive may run out of good blocks.
pub fn may_wear_out(cfg: &DriveConfig) -> bool {
    let (faults, ages) = (&cfg.reliability, chosen(cfg, "ftl.age_marker") != "none");
    faults.program_fail_ppm > 0.0 || faults.erase_fail_ppm > 0.0 || faults.endurance_cycles > 0 || ages
}
