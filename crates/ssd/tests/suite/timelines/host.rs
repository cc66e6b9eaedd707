//! The host interface: queues, firmware time, the link, and what waits where.

use super::*;
use ssd::Hints;
use ssd::sections::Arbitration;

#[test]
fn a_full_queue_refuses_and_the_wait_is_counted() {
    // Depth 2: the third read, there since 0, is refused until the first completion is taken at 70 820.
    // die  0 -- read 0 -- 66 724 -- read 1 -- 133 448 -- read 2 -- 200 172, link 204 268
    let mut cfg = one_die();
    cfg.queues.depth = 2;
    let mut drive = filled(&cfg, 3);
    for page in 0..2 {
        assert!(drive.queue_has_room(0));
        drive.submit(0, &read(page), SimTime(0)).unwrap();
    }
    let third = Command { tag: 2, ..read(2) };
    assert!(!drive.queue_has_room(0));
    assert_eq!(drive.submit(0, &third, SimTime(0)), Err(third));
    assert!(drive.advance_to_completion());
    assert_eq!(drive.now(), SimTime(70_820));
    // The slot is free when the completion is taken, not before.
    assert_eq!(drive.submit(0, &third, drive.now()), Err(third));
    assert_eq!(drive.pop_completion().unwrap().completed, SimTime(70_820));
    drive.submit(0, &third, drive.now()).unwrap();
    drive.drain();
    drive.pop_completion().unwrap();
    let parts = [
        (Part::HostQueue, 70_820),
        (Part::DieWait, 133_448 - 70_820),
        (Part::Transfer, READ_COMMAND + OUT_COMMAND + DATA_16K),
        (Part::Array, T_R),
        (Part::Link, LINK_16K),
    ];
    let done = drive.pop_completion().unwrap();
    expect(&done, 204_268, &parts);
    assert_eq!(done.submitted, SimTime(70_820));
}

#[test]
fn latency_and_firmware_time_come_on_top() {
    // Each way 1 000, firmware 500.
    // read   0 link 1 000 firmware 1 500 die 68 224 link 72 320 link 73 320
    // write  100 000 link 101 000 firmware 101 500 link 105 596 DRAM 105 796 link 106 796
    let mut cfg = one_die();
    (cfg.link.latency_us, cfg.firmware.t_command_us, cfg.buffer) = (1.0, 0.5, write_back());
    let done = run(&mut filled(&cfg, 1), &[(0, read(0)), (100_000, write(1))]);
    let parts = [
        (Part::Link, 1_000 + LINK_16K + 1_000),
        (Part::Firmware, 500),
        (Part::Transfer, READ_COMMAND + OUT_COMMAND + DATA_16K),
        (Part::Array, T_R),
    ];
    expect(&done[0], 73_320, &parts);
    let parts = [(Part::Link, 1_000 + LINK_16K + 1_000), (Part::Firmware, 500), (Part::Buffer, DRAM)];
    expect(&done[1], 106_796, &parts);
}

#[test]
fn the_link_carries_one_transfer_each_way() {
    // Reads of pages in the buffer are ready together at 100 200; the link takes them one after the other. The write
    // goes the other way at the same time.
    // outward  100 200 -- 104 296 -- 108 392 -- 112 488
    // inward   100 000 -- 104 096, DRAM 104 296
    let mut cfg = one_die();
    cfg.buffer = write_back();
    let mut script = vec![(0, write(0)), (100_000, read(0)), (100_000, read(0)), (100_000, read(0))];
    script.push((100_000, write(1)));
    let done = run(&mut Drive::new(&cfg).unwrap(), &script);
    for (i, completion) in (1..).zip(&done[1..4]) {
        let link = [(Part::LinkWait, (i - 1) * LINK_16K), (Part::Link, LINK_16K)];
        expect(completion, 100_200 + i * LINK_16K, &[(Part::Buffer, DRAM), link[0], link[1]]);
    }
    expect(&done[4], 104_296, &[(Part::Link, LINK_16K), (Part::Buffer, DRAM)]);
}

#[test]
fn writes_follow_each_other_over_the_link() {
    // inward  0 -- 4 096 -- 8 192 -- 12 288, each then 200 in DRAM
    let mut cfg = one_die();
    cfg.buffer = write_back();
    let done = run(&mut Drive::new(&cfg).unwrap(), &[(0, write(0)), (0, write(1)), (0, write(2))]);
    for (i, completion) in (1..).zip(&done) {
        let link = [(Part::LinkWait, (i - 1) * LINK_16K), (Part::Link, LINK_16K)];
        expect(completion, i * LINK_16K + DRAM, &[link[0], link[1], (Part::Buffer, DRAM)]);
    }
}

#[test]
fn queues_take_turns_at_the_firmware() {
    // Three commands in queue 0, then two in queue 1, all at 0; 500 each. Trims, which need nothing else.
    // firmware  0:a 500  1:a 1 000  0:b 1 500  1:b 2 000  0:c 2 500
    let mut cfg = one_die();
    (cfg.queues.count, cfg.firmware.t_command_us) = (2, 0.5);
    let mut drive = filled(&cfg, 5);
    for (tag, queue) in [(0, 0), (1, 0), (2, 0), (3, 1), (4, 1)] {
        drive.submit(queue, &Command { tag, ..command(OpCode::Trim, tag * 32, S16K) }, SimTime(0)).unwrap();
    }
    drive.drain();
    let done: Vec<_> = std::iter::from_fn(|| drive.pop_completion()).collect();
    assert_eq!(done.iter().map(|c| c.tag).collect::<Vec<_>>(), [0, 3, 1, 4, 2]);
    for (i, completion) in (0..).zip(&done) {
        let submission = if i == 0 { vec![] } else { vec![(Part::Submission, i * 500)] };
        let parts: Vec<_> = submission.into_iter().chain([(Part::Firmware, 500)]).collect();
        expect(completion, (i + 1) * 500, &parts);
    }
}

/// 500 for each command, 10 000 more for a trim, 100 more for each 16-KiB page that it covers.
fn with_slow_trims() -> DriveConfig {
    let mut cfg = one_die();
    (cfg.firmware.t_command_us, cfg.firmware.t_trim_us, cfg.firmware.t_trim_unit_ns) = (0.5, 10.0, 100);
    cfg
}

/// A trim of so many sectors from that one on.
fn trim(first: u64, sectors: u32) -> Command {
    command(OpCode::Trim, first, sectors)
}

#[test]
fn a_trim_takes_time_by_the_units_it_covers() {
    // Three pages 500 + 10 000 + 3 x 100; two whole ones and most of a third 10 700; a part of one 10 500.
    for (command, end) in
        [(trim(0, 3 * S16K), 10_800), (trim(8, 3 * S16K - 8), 10_700), (trim(8, S4K), 10_500)]
    {
        let done = run(&mut filled(&with_slow_trims(), 3), &[(0, command)]);
        expect(&done[0], end, &[(Part::Firmware, end)]);
    }
}

#[test]
fn a_trim_that_is_refused_takes_no_longer_than_any_command() {
    for (command, status) in
        [(trim(128 * 32, S16K), Status::LbaOutOfRange), (trim(0, 0), Status::InvalidField)]
    {
        let done = run(&mut filled(&with_slow_trims(), 3), &[(0, command)]);
        assert_eq!((done[0].status, done[0].completed), (status, SimTime(500)));
    }
}

#[test]
fn a_read_waits_for_the_trim_before_it() {
    // firmware  0 -- trim 10 600 -- read 11 100; die from there on
    let done = run(&mut filled(&with_slow_trims(), 2), &[(0, trim(0, S16K)), (100, read(1))]);
    expect(&done[0], 10_600, &[(Part::Firmware, 10_600)]);
    let parts = [
        (Part::Submission, 10_500),
        (Part::Firmware, 500),
        (Part::Transfer, READ_COMMAND + OUT_COMMAND + DATA_16K),
        (Part::Array, T_R),
        (Part::Link, LINK_16K),
    ];
    expect(&done[1], 11_100 + READ_16K + LINK_16K, &parts);
}

#[test]
fn trims_at_depth_go_one_after_the_other() {
    // firmware  0 -- 10 600 -- 21 200 -- 31 800; only then is the page gone that the last one names
    let mut drive = filled(&with_slow_trims(), 3);
    for page in 0..3 {
        drive.submit(0, &trim(page * 32, S16K), SimTime(0)).unwrap();
    }
    drive.advance_to(SimTime(31_799));
    assert_eq!(drive.stats().ftl.trimmed_units, 2);
    drive.drain();
    let times: Vec<u64> = std::iter::from_fn(|| drive.pop_completion()).map(|c| c.completed.0).collect();
    assert_eq!(times, [10_600, 21_200, 31_800]);
}

#[test]
fn an_empty_queue_is_passed_over() {
    // Only queue 2 of four has commands: its turn comes every time.
    let mut cfg = one_die();
    (cfg.queues.count, cfg.firmware.t_command_us) = (4, 0.5);
    let mut drive = filled(&cfg, 2);
    for tag in 0..2 {
        drive.submit(2, &Command { tag, ..command(OpCode::Trim, tag * 32, S16K) }, SimTime(0)).unwrap();
    }
    drive.drain();
    let times: Vec<u64> = std::iter::from_fn(|| drive.pop_completion()).map(|c| c.completed.0).collect();
    assert_eq!(times, [500, 1_000]);
}

/// A read of a page that was never written, of a priority: zeros from the controller.
fn zeros(page: u64, priority: u8) -> Command {
    Command { hints: Hints { priority, ..Hints::default() }, ..read(page) }
}

#[test]
fn commands_are_fetched_by_priority() {
    // Firmware 500 each. The first low read is fetched at 0, alone. Then high, medium (not said), low.
    // firmware  0 low 500 high 1 000 medium 1 500 low 2 000
    // link      700 low 4 796 high 8 892 medium 12 988 low 17 084
    let mut cfg = one_die();
    (cfg.queues.arbitration, cfg.firmware.t_command_us) = (Arbitration::Priority, 0.5);
    let script = [(0, zeros(0, 1)), (0, zeros(1, 1)), (0, zeros(2, 0)), (0, zeros(3, 3))];
    let ends = |cfg: &DriveConfig| {
        run(&mut Drive::new(cfg).unwrap(), &script).iter().map(|c| c.completed.0).collect::<Vec<_>>()
    };
    assert_eq!(ends(&cfg), [4_796, 17_084, 12_988, 8_892]);
    cfg.queues.arbitration = Arbitration::RoundRobin;
    assert_eq!(ends(&cfg), [4_796, 8_892, 12_988, 17_084]);
}

#[test]
fn sixteen_in_a_row_go_before_a_lower_priority() {
    // A high read is fetched alone; of those that come at the same time sixteen go before the low one, in two queues.
    let mut cfg = one_die();
    (cfg.queues.arbitration, cfg.firmware.t_command_us) = (Arbitration::Priority, 0.5);
    cfg.queues.count = 2;
    let mut drive = Drive::new(&cfg).unwrap();
    for tag in 0..30 {
        let command = Command { tag, ..zeros(tag, if tag == 2 { 1 } else { 3 }) };
        drive.submit(tag as usize % 2, &command, SimTime(0)).unwrap();
    }
    drive.drain();
    let order: Vec<u64> = std::iter::from_fn(|| drive.pop_completion()).map(|c| c.tag).collect();
    assert_eq!(order.iter().position(|&tag| tag == 2), Some(17), "{order:?}");
}

#[test]
fn a_priority_that_is_none_is_refused() {
    let done = run(&mut filled(&one_die(), 1), &[(0, zeros(0, 9)), (0, zeros(0, 3))]);
    assert_eq!(done.iter().map(|c| c.status).collect::<Vec<_>>(), [Status::InvalidField, Status::Ok]);
    assert_eq!(done[0].completed.0, 0, "nothing was done for it");
}

#[test]
fn nothing_takes_time_in_the_functional_executor() {
    let mut drive = filled(&with_slow_trims(), 1);
    drive.set_executor(ssd::Executor::Functional);
    let script =
        [(5_000, read(0)), (5_000, write(1)), (6_000, command(OpCode::Flush, 0, 0)), (7_000, trim(0, S16K))];
    let done = run(&mut drive, &script);
    for (completion, at) in done.iter().zip([5_000, 5_000, 6_000, 7_000]) {
        expect(completion, at, &[]);
    }
}
