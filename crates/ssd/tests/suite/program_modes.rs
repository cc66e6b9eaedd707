//! In which program mode blocks are programmed, and what comes of it.

use crate::support;

use ssd::config::{Layer, Table, Value};
use ssd::drive_config::{DriveConfig, resolve};
use ssd::flash::op::{Cause, OpKind};
use ssd::sections::{ErrorModel, MovesOfFirst};
use ssd::{Command, Completion, Drive, Executor, Lba, OpCode, Part};
use support::Load;

/// A shipped drive of HIRE's, cut down to 48 blocks, with cells that age.
fn hire(preset: &str) -> DriveConfig {
    let layer = Layer::file("test.toml", format!("preset = \"{preset}\"\n"));
    let mut cfg = resolve(&[layer], &[]).unwrap_or_else(|errors| panic!("{errors}")).config;
    let g = &mut cfg.geometry;
    (g.channels, g.chips_per_channel, g.blocks_per_plane, g.wordlines_per_block) = (1, 2, 12, 8);
    cfg.drive.over_provisioning_percent = 60.0;
    cfg.errors.model = ErrorModel::Cells;
    cfg
}

/// A drive that is filled, and written over by the load.
fn worked(cfg: &DriveConfig, executor: Executor) -> Drive {
    let mut drive = Drive::new(cfg).unwrap_or_else(|errors| panic!("{errors}"));
    drive.fill(0, drive.logical_units()).unwrap();
    drive.set_executor(executor);
    Load::new(7).run(&mut drive, 6_000);
    drive.drain();
    drive.check().unwrap();
    drive
}

/// All blocks in one mode of a part, and a part whose normal mode is that: the same drive.
#[test]
fn high_and_low_are_the_parts_of_these_voltages() {
    for (policy, preset, mode) in [("high", "hire_boost", 1), ("low", "hire_reduced", 2)] {
        let mut cfg = hire("hire_base");
        cfg.program_mode.select(policy).unwrap();
        for executor in [Executor::Functional, Executor::Timed] {
            let [chosen, made] = [&cfg, &hire(preset)].map(|cfg| worked(cfg, executor));
            assert_eq!(chosen.event_hash(), made.event_hash(), "{policy}, {executor:?}");
            let counts = |drive: &Drive| {
                let mut stats = drive.stats();
                // These tell modes apart by the number that the part has for them.
                stats.ftl.erased_by_mode.sort_unstable();
                stats.flash.host_reads_by_mode.sort_unstable();
                stats
            };
            assert_eq!(counts(&chosen), counts(&made), "{policy}, {executor:?}");
            let erased = chosen.blocks().erase_counts().iter().filter(|&&count| count > 0).count();
            assert!(erased > 20, "{erased} superblocks were erased");
            for block in 0..chosen.chips().blocks() {
                let [ours, theirs] = [&chosen, &made].map(|drive| drive.chips().true_wear(block));
                assert_eq!(ours, theirs, "{policy}: wear of block {block}");
                if chosen.chips().programmed_pages(block) > 0 {
                    assert_eq!(
                        (chosen.chips().mode(block), made.chips().mode(block)),
                        (mode, 0),
                        "block {block}"
                    );
                }
            }
        }
    }
}

/// Blocks that nobody chooses a mode for are programmed in the normal one, and wear by it.
#[test]
fn nominal_is_the_first_mode_of_a_part() {
    let drive = worked(&hire("hire_base"), Executor::Timed);
    let chips = drive.chips();
    for block in 0..chips.blocks() {
        let cycles = u64::from(chips.erase_count(block));
        let wear = chips.true_wear(block).unwrap().done_q20;
        assert_eq!(chips.mode(block), 0);
        // A cycle counts from the first program after its erase.
        assert!(wear == cycles << 20 || wear + (1 << 20) == cycles << 20, "{wear} of {cycles} cycles");
    }
}

/// HIRE table 1 on the drive: a read of one page of an idle drive, from the command to the data.
#[test]
fn a_read_takes_what_hires_table_says() {
    for (policy, ns) in [("nominal", 170_000), ("high", 70_000), ("low", 310_000)] {
        let mut cfg = hire("hire");
        cfg.program_mode.select(policy).unwrap();
        let mut drive = Drive::new(&cfg).unwrap();
        drive.fill(0, drive.logical_units()).unwrap();
        let sectors = drive.unit_bytes() / 512;
        let command = Command { op: OpCode::Read, lba: Lba(0), sectors, ..Command::default() };
        drive.submit(0, &command, drive.now()).unwrap();
        assert!(drive.advance_to_completion());
        let times = drive.pop_completion().unwrap().breakdown.ns;
        let of_flash = [Part::Array, Part::Transfer, Part::Decode, Part::DieWait, Part::ChannelWait];
        assert_eq!(of_flash.map(|part| times[part as usize]).iter().sum::<u64>(), ns, "{policy}");
    }
}

/// HIRE's drive with its policies, and a buffer of 32 pages from which all leaves in one order.
fn with_policies(place: &str) -> DriveConfig {
    let text = format!(
        "preset = \"hire\"\n[ftl.program_mode]\npolicy = \"hire\"\n[ftl.stream]\npolicy = \"hotness\"\n\
         place = \"{place}\"\n[host.hotness]\npolicy = \"hit_counts\"\n[host.buffer]\n\
         evict = \"lru\"\nsize_mib = 0.25\n"
    );
    let mut cfg =
        resolve(&[Layer::file("test.toml", text)], &[]).unwrap_or_else(|errors| panic!("{errors}")).config;
    let g = &mut cfg.geometry;
    (g.channels, g.chips_per_channel, g.planes_per_die, g.blocks_per_plane, g.wordlines_per_block) =
        (1, 1, 1, 24, 8);
    cfg.drive.over_provisioning_percent = 100.0;
    cfg
}

fn on_unit(drive: &mut Drive, op: OpCode, unit: u32) -> Completion {
    let sectors = drive.unit_bytes() / 512;
    let lba = Lba(u64::from(unit) * u64::from(sectors));
    let sectors = if op == OpCode::Flush { 0 } else { sectors };
    let command = Command { op, lba, sectors, arrival: drive.now(), ..Command::default() };
    drive.submit(0, &command, drive.now()).unwrap();
    assert!(drive.advance_to_completion());
    drive.pop_completion().unwrap()
}

/// Units written to blocks of mixed, read-hot and write-hot data since counters were last set back.
fn placed(drive: &Drive) -> [u64; 3] {
    std::array::from_fn(|stream| drive.stats().ftl.stream_units[stream])
}

/// What was said of the units that left: read-hot, write-hot, mixed.
fn said(drive: &Drive) -> [u64; 3] {
    std::array::from_fn(|at| drive.stats().host.hotness[at + 1])
}

fn blocks_in(drive: &Drive, mode: u8) -> usize {
    let chips = drive.chips();
    (0..chips.blocks())
        .filter(|&block| chips.programmed_pages(block) > 0 && chips.mode(block) == mode)
        .count()
}

/// A page that is only read leaves the buffer as read-hot, clean, and is not rewritten for it: its class counts when
/// it is written next (HIRE section 3.2).
#[test]
fn a_clean_read_hot_page_stays_where_it_is_until_it_is_written() {
    let mut drive = Drive::new(&with_policies("on_rewrite")).unwrap();
    drive.fill(0, drive.logical_units()).unwrap();
    drive.reset_stats();
    for unit in 0..64 {
        on_unit(&mut drive, OpCode::Read, unit);
    }
    drive.drain();
    let left = said(&drive);
    assert!(left[0] >= 32 && left[1..] == [0, 0], "{left:?}");
    assert_eq!((placed(&drive), blocks_in(&drive, 1)), ([0, 0, 0], 0));
    // Unit 0 is known as read-hot; unit 100 is not known.
    for unit in [0, 100] {
        on_unit(&mut drive, OpCode::Write, unit);
        on_unit(&mut drive, OpCode::Flush, 0);
    }
    assert_eq!((placed(&drive), blocks_in(&drive, 1)), ([1, 1, 0], 1));
    drive.check().unwrap();
}

/// What is read-hot and clean, and lies among other data, is written once more before it leaves: here for 40 % of
/// what the host writes, and no more than 64 in a row. No host wrote it: results tell it apart.
#[test]
fn a_clean_read_hot_page_is_promoted_as_writes_allow() {
    let mut cfg = with_policies("promote");
    cfg.stream.set("promote_percent", &Value::Integer(40)).unwrap();
    let mut drive = Drive::new(&cfg).unwrap();
    drive.fill(0, drive.logical_units()).unwrap();
    on_unit(&mut drive, OpCode::Flush, 0);
    drive.reset_stats();
    for round in 0..3 {
        for unit in 0..96 {
            on_unit(&mut drive, OpCode::Read, unit);
        }
        drive.drain();
        // Filling has allowed 64 of them; what was promoted lies where it is to lie, and stays there.
        let promoted = drive.stats().ftl.moved_units[Cause::Promote as usize];
        assert!((round == 0 && promoted < 64) || promoted == 64, "{promoted} after round {round}");
    }
    let stats = drive.stats();
    assert_eq!(stats.ftl.host_units, 0);
    assert_eq!(
        (placed(&drive), stats.flash.ops[OpKind::Program as usize][Cause::Host as usize]),
        ([0, 64, 0], 0)
    );
    let boosted = stats.flash.host_reads_by_mode[1];
    assert!(boosted > 64, "{boosted} reads of boosted blocks");
    for unit in 100..140 {
        on_unit(&mut drive, OpCode::Write, unit);
    }
    on_unit(&mut drive, OpCode::Flush, 0);
    for unit in (0..3).flat_map(|_| 0..96) {
        on_unit(&mut drive, OpCode::Read, unit);
    }
    drive.drain();
    assert_eq!(drive.stats().ftl.moved_units[Cause::Promote as usize], 64 + 40 * 40 / 100);
    drive.check().unwrap();
}

/// Units that are only written leave as write-hot, and go to reduced blocks by it at once: they are dirty.
#[test]
fn dirty_pages_leave_in_order_and_go_where_their_class_goes() {
    let mut drive = Drive::new(&with_policies("on_rewrite")).unwrap();
    drive.fill(0, drive.logical_units()).unwrap();
    drive.reset_stats();
    for unit in 0..28 {
        on_unit(&mut drive, OpCode::Write, unit);
    }
    drive.drain();
    assert_eq!((placed(&drive), said(&drive)), ([0, 0, 0], [0, 0, 0]), "nothing is flushed ahead");
    // 0 is read 20 times, 1 is read 19 times, both written once: above and at the watermark.
    for (unit, times) in [(0, 20), (1, 19)] {
        (0..times).for_each(|_| _ = on_unit(&mut drive, OpCode::Read, unit));
    }
    for unit in 100..164 {
        on_unit(&mut drive, OpCode::Write, unit);
    }
    drive.drain();
    let [mixed, read_hot, write_hot] = placed(&drive);
    assert_eq!((mixed, read_hot), (1, 1));
    assert!(write_hot >= 26 + 32, "{write_hot}");
    assert_eq!(said(&drive), [1, write_hot, 1]);
    assert!(blocks_in(&drive, 1) == 1 && blocks_in(&drive, 2) > 1);
    drive.check().unwrap();
}

/// With the classes of all that is to come, read-hot data lies in boosted blocks before the first read.
#[test]
fn preclassified_data_is_filled_into_blocks_of_its_class() {
    let mut drive = Drive::new(&with_policies("preclassified")).unwrap();
    let mut foreseeing = drive.ahead().begin();
    let sectors = drive.unit_bytes() / 512;
    for (op, units) in [(OpCode::Read, 0..50_u64), (OpCode::Write, 50..80)] {
        for unit in units {
            let lba = Lba(unit * u64::from(sectors));
            foreseeing.take(&Command { op, lba, sectors, ..Command::default() }).unwrap();
        }
    }
    drive.foresee(foreseeing.finish()).unwrap();
    drive.fill(0, drive.logical_units()).unwrap();
    let rest = u64::from(drive.logical_units()) - 80;
    assert_eq!(placed(&drive), [rest, 50, 30]);
    drive.reset_stats();
    for unit in 0..50 {
        let read = on_unit(&mut drive, OpCode::Read, unit);
        let array = read.breakdown.ns[Part::Array as usize];
        // What the streams' last pages could not fill went with others.
        assert!(array == 30_000 || unit >= 48, "unit {unit}: {array}");
    }
}

/// Each read takes the time of its block's mode, and nothing else: the mean follows from the shares of modes.
#[test]
fn the_time_of_reads_follows_from_their_modes() {
    let cfg = with_policies("on_rewrite");
    let mut drive = Drive::new(&cfg).unwrap();
    let units = drive.logical_units();
    drive.fill(0, units).unwrap();
    let third = units / 3;
    let mut rng = ssd::rng::Rng::named(5, "populations");
    let mut spent = [0; 2];
    for step in 0..12_000 {
        // Rewrites now and then let read-hot data move to boosted blocks.
        let (op, unit) = match rng.below(100) {
            0..40 => (OpCode::Read, rng.below(third)),
            40..41 => (OpCode::Write, rng.below(third)),
            41..75 => (OpCode::Write, third + rng.below(third)),
            75..76 => (OpCode::Read, third + rng.below(third)),
            76..88 => (OpCode::Read, 2 * third + rng.below(third)),
            _ => (OpCode::Write, 2 * third + rng.below(third)),
        };
        if step == 6_000 {
            drive.drain();
            drive.reset_stats();
            spent = [0; 2];
        }
        let done = on_unit(&mut drive, op, unit);
        if op == OpCode::Read {
            let of = |parts: &[Part]| parts.iter().map(|&part| done.breakdown.ns[part as usize]).sum::<u64>();
            spent[0] += of(&[Part::Array, Part::Transfer, Part::Decode]);
            spent[1] += 1;
        }
    }
    let stats = drive.stats();
    let [normal, high, low, _] = stats.flash.host_reads_by_mode;
    assert!(normal > 100 && high > 300 && low > 10, "{:?}", stats.flash.host_reads_by_mode);
    assert_eq!(spent[0], 170_000 * normal + 70_000 * high + 310_000 * low);
    let erased = stats.ftl.erased_by_mode;
    assert!(erased[2] > 10 && erased.iter().sum::<u64>() == stats.ftl.reclaimed_blocks, "{erased:?}");
}

/// Data that a policy separates by something else has blocks for each class of hotness beside: `request_size` puts
/// small writes in its second stream, and of either the first units are read, the next written, the last left alone.
#[test]
fn hotness_is_told_apart_beside_what_separates_data() {
    let mut cfg = with_policies("on_rewrite");
    cfg.stream.select("request_size").unwrap();
    cfg.stream.set("hot_kib", &Value::Integer(8)).unwrap();
    cfg.allocation.moves = MovesOfFirst::Joined;
    let mut drive = Drive::new(&cfg).unwrap();
    let sectors = drive.unit_bytes() / 512;
    drive.fill(0, drive.logical_units()).unwrap();
    let write = |drive: &mut Drive, unit: u32, units: u32| {
        let lba = Lba(u64::from(unit) * u64::from(sectors));
        let command = Command {
            op: OpCode::Write,
            lba,
            sectors: units * sectors,
            arrival: drive.now(),
            ..Command::default()
        };
        drive.submit(0, &command, drive.now()).unwrap();
        assert!(drive.advance_to_completion() && drive.pop_completion().is_some());
    };
    // The buffer holds 32 units: what was read leaves as read-hot, what was written as write-hot, for others that are
    // read.
    (0..8).for_each(|unit| _ = on_unit(&mut drive, OpCode::Read, unit));
    (8..16).for_each(|unit| write(&mut drive, unit, 1));
    (100..140).for_each(|unit| _ = on_unit(&mut drive, OpCode::Read, unit));
    on_unit(&mut drive, OpCode::Flush, 0);
    drive.reset_stats();
    // Of each class two units one by one, and two at once: of the streams 0 and 1 of the policy for mixed (0, 1),
    // read-hot (2, 3) and write-hot data (4, 5).
    for first in [150, 0, 8] {
        write(&mut drive, first, 1);
        write(&mut drive, first + 1, 1);
        write(&mut drive, first + 2, 2);
        write(&mut drive, first + 4, 2);
    }
    on_unit(&mut drive, OpCode::Flush, 0);
    let placed: [u64; 6] = std::array::from_fn(|stream| drive.stats().ftl.stream_units[stream]);
    assert_eq!(placed, [4, 2, 4, 2, 4, 2]);
    assert_eq!((blocks_in(&drive, 1), blocks_in(&drive, 2)), (2, 2), "a block for each stream of a class");
    Load::new(3).run(&mut drive, 4_000);
    drive.drain();
    drive.check().unwrap();
    let stats = drive.stats();
    assert!(stats.ftl.moved_units[Cause::Cleaning as usize] > 100, "{:?}", stats.ftl.moved_units);
}

#[test]
fn policies_that_nobody_tells_anything_are_refused() {
    let refused = |text: &str| {
        let layer = Layer::file("my.toml", format!("preset = \"hire\"\n{text}"));
        resolve(&[layer], &[]).expect_err("wrong").to_string()
    };
    for (text, parts) in [
        (
            "[ftl.program_mode]\npolicy = \"hire\"",
            ["ftl.program_mode.policy", "host.hotness.policy = \"hit_counts\""],
        ),
        // Eleven streams, and one of what moves out of the first: thrice.
        (
            "[ftl.program_mode]\npolicy = \"hire\"\n[ftl.stream]\npolicy = \"placement_id\"\nhandles = 10\n\
             [host.hotness]\npolicy = \"hit_counts\"\n[ftl.allocation]\nmoves = \"apart\"",
            ["11 streams of \"placement_id\", and one more for data moved", "(\"hire\")"],
        ),
        ("[ftl.stream]\npolicy = \"hotness\"", ["ftl.stream.policy", "host.hotness.policy = \"hit_counts\""]),
        (
            "[host.hotness]\npolicy = \"hit_counts\"\n[host.buffer]\npolicy = \"none\"",
            ["host.hotness.policy", "a host.buffer that keeps data"],
        ),
        (
            "[ftl.stream]\npolicy = \"hotness\"\nplace = \"promote\"\n[host.hotness]\npolicy = \"hit_counts\"\n\
             [host.buffer]\nevict = \"clean_first\"",
            ["ftl.stream.place", "host.buffer.evict = \"lru\""],
        ),
        (
            "[host.hotness]\npolicy = \"hit_counts\"\nwatermark_percent = 50",
            ["my.toml:4: host.hotness.watermark_percent: out of range", "51 to 99"],
        ),
    ] {
        let message = refused(text);
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    }
}
