//! The preset `m64` against the interface formula it was given: read = 0.29 us + tR + 0.03 us + 3 ns a byte, program =
//! 3 ns a byte + 0.361 us + tPROG, with tR = 75 us and tPROG = 750 us. The host link adds 0.25 ns a byte.

use super::*;
use ssd::config::Layer;
use ssd::drive_config::resolve;

fn m64_without_buffer() -> DriveConfig {
    let mut cfg = resolve(&[Layer::file("m64", "preset = \"m64\"")], &[]).unwrap().config;
    cfg.buffer = buffer::Config::None(buffer::none::Params::default());
    cfg.geometry.blocks_per_plane = 16;
    cfg.drive.over_provisioning_percent = 100.0;
    cfg
}

#[test]
fn depth_one_latencies_follow_the_formula() {
    // 4-KiB read    290 + 75 000 + 30 + 12 288 =  87 608, link 1 024
    // 16-KiB read   290 + 75 000 + 30 + 49 152 = 124 472, link 4 096
    // 4-KiB write   12 288 + 361 + 750 000     = 762 649, link 1 024
    // 16-KiB write  49 152 + 361 + 750 000     = 799 513, link 4 096
    let script = [
        (0, command(OpCode::Read, 64, S4K)),
        (1_000_000, command(OpCode::Read, 96, S16K)),
        (2_000_000, command(OpCode::Write, 6_400, S4K)),
        (3_000_000, command(OpCode::Write, 9_600, S16K)),
    ];
    let done = run(&mut filled(&m64_without_buffer(), 100), &script);
    let latency = |i: usize| done[i].completed.0 - script[i].0;
    assert_eq!(latency(0), 87_608 + 1_024);
    assert_eq!(latency(1), 124_472 + 4_096);
    assert_eq!(latency(2), 762_649 + 1_024);
    assert_eq!(latency(3), 799_513 + 4_096);
    let flash: u64 = [Part::Array, Part::Transfer].iter().map(|&p| done[1].breakdown.ns[p as usize]).sum();
    assert_eq!(flash, 124_472);
}

#[test]
fn a_depth_one_stream_of_reads_keeps_the_latency() {
    // Whatever the address, a lone read finds its die and channel idle.
    let mut drive = filled(&m64_without_buffer(), 10_000);
    let script: Vec<_> =
        (0..1_000).map(|i| (i * 200_000, command(OpCode::Read, i * 7_919 % 40_000 * 8, S4K))).collect();
    for completion in run_at_depth_one(&mut drive, &script) {
        assert_eq!(completion.completed.0 - completion.arrival.0, 88_632);
    }
}

fn run_at_depth_one(drive: &mut Drive, script: &[(u64, Command)]) -> Vec<Completion> {
    script
        .iter()
        .map(|&(at, command)| {
            drive.submit(0, &Command { arrival: SimTime(at), ..command }, SimTime(at)).unwrap();
            assert!(drive.advance_to_completion());
            drive.pop_completion().unwrap()
        })
        .collect()
}
