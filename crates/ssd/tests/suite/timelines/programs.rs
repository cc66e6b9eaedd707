//! Programs, and reads that meet them.

use super::*;
use ssd::sections::SchedulingOrder;

/// Link, then command and data, then the array: an undisturbed write-through page write.
const WRITE_PARTS: [(Part, u64); 3] =
    [(Part::Link, LINK_16K), (Part::Transfer, PROGRAM_COMMAND + DATA_16K), (Part::Array, T_PROG)];

#[test]
fn one_write_through() {
    // link     0 -- 4 096
    // channel       4 096 cmd + data 20 880
    // array                          20 880 ---- tPROG ---- 620 880 (the completion carries no data)
    let done = run(&mut Drive::new(&one_die()).unwrap(), &[(0, write(0))]);
    expect(&done[0], 620_880, &WRITE_PARTS);
}

#[test]
fn a_read_waits_for_a_program_under_way() {
    // Without suspend, what has begun is finished.
    // die  4 096 ---- program ---- 620 880 ---- read ---- 687 604
    let done = run(&mut filled(&one_die(), 1), &[(0, write(1)), (10_000, read(0))]);
    expect(&done[0], 620_880, &WRITE_PARTS);
    let parts = [
        (Part::DieWait, 620_880 - 10_000),
        (Part::Transfer, READ_COMMAND + OUT_COMMAND + DATA_16K),
        (Part::Array, T_R),
        (Part::Link, LINK_16K),
    ];
    expect(&done[1], 687_604 + 4_096, &parts);
}

/// Two programs and a read: the second program is issued at 8 192 (its data follows the first's on the link), the
/// read at 10 000, both while the first program occupies the die until 620 880.
const TWO_WRITES_ONE_READ: fn() -> [(u64, Command); 3] = || [(0, write(1)), (0, write(2)), (10_000, read(0))];

#[test]
fn a_read_passes_a_waiting_program() {
    // die  4 096 -- program 1 -- 620 880 -- read -- 687 604 -- program 2 -- 1 304 388
    let done = run(&mut filled(&one_die(), 1), &TWO_WRITES_ONE_READ());
    expect(&done[0], 620_880, &WRITE_PARTS);
    assert_eq!(done[1].completed.0, 687_604 + PROGRAM_16K);
    assert_eq!(done[1].completed.0, 1_304_388);
    assert_eq!(done[1].breakdown.ns[Part::DieWait as usize], 687_604 - 8_192);
    let link = [Part::LinkWait, Part::Link].map(|part| done[1].breakdown.ns[part as usize]);
    assert_eq!(link, [4_096, 4_096]);
    assert_eq!(done[2].completed.0, 687_604 + LINK_16K);
}

#[test]
fn in_order_of_arrival_a_read_passes_nothing() {
    let mut cfg = one_die();
    cfg.scheduling.order = SchedulingOrder::Fifo;
    // die  4 096 -- program 1 -- 620 880 -- program 2 -- 1 237 664 -- read -- 1 304 388
    let done = run(&mut filled(&cfg, 1), &TWO_WRITES_ONE_READ());
    assert_eq!(done[1].completed.0, 1_237_664);
    assert_eq!(done[1].breakdown.ns[Part::DieWait as usize], 620_880 - 8_192);
    assert_eq!(done[2].completed.0, 1_304_388 + LINK_16K);
    assert_eq!(done[2].breakdown.ns[Part::DieWait as usize], 1_237_664 - 10_000);
}

#[test]
fn only_so_many_reads_pass() {
    let mut cfg = one_die();
    cfg.scheduling.read_bypass_limit = 2;
    // die  4 096 -- program 1 -- 620 880 -- read 0 -- 687 604 -- read 3 -- 754 328 -- program 2 -- 1 371 112
    //      -- read 4 -- 1 437 836
    let mut script = TWO_WRITES_ONE_READ().to_vec();
    script.extend([(10_000, read(3)), (10_000, read(4))]);
    let mut drive = Drive::new(&cfg).unwrap();
    drive.overwrite(&[0, 3, 4]).unwrap();
    let done = run(&mut drive, &script);
    assert_eq!(done[2].completed.0, 687_604 + LINK_16K);
    assert_eq!(done[3].completed.0, 754_328 + LINK_16K);
    assert_eq!(done[1].completed.0, 1_371_112);
    assert_eq!(done[4].completed.0, 1_437_836 + LINK_16K);
    // With a limit of 0 no read passes: the order of arrival.
    cfg.scheduling.read_bypass_limit = 0;
    let done = run(&mut filled(&cfg, 1), &TWO_WRITES_ONE_READ());
    assert_eq!((done[1].completed.0, done[2].completed.0), (1_237_664, 1_304_388 + LINK_16K));
}

#[test]
fn four_planes_are_programmed_at_once() {
    // A 64-KiB write makes the four pages of a stripe: all data in, then one tPROG.
    // link  0 -- 16 384
    // channel    16 384 4 x (400 + 16 384) 83 520
    // arrays                               83 520 ---- tPROG ---- 683 520
    let mut drive = Drive::new(&four_planes()).unwrap();
    let done = run(&mut drive, &[(0, command(OpCode::Write, 0, 128))]);
    let parts = [
        (Part::Link, 4 * LINK_16K),
        (Part::Transfer, 4 * (PROGRAM_COMMAND + DATA_16K)),
        (Part::Array, T_PROG),
    ];
    expect(&done[0], 683_520, &parts);
    assert_eq!(drive.stats().flash.groups, 1);
}

#[test]
fn unaligned_writes_make_two_groups() {
    // Page 0 was written alone, so the next stripe is planes 1, 2, 3 of page 0, then plane 0 of page 1.
    // link  0 -- 16 384
    // die   16 384 -- 3 x 16 784 + 600 000 -- 666 736 + ... : 16 384 + 50 352 + 600 000 = 666 736
    //       666 736 -- 16 784 + 600 000 -- 1 283 520
    let mut drive = filled(&four_planes(), 1);
    let done = run(&mut drive, &[(0, command(OpCode::Write, 128, 128))]);
    let parts = [
        (Part::Link, 4 * LINK_16K),
        (Part::DieWait, 666_736 - 16_384),
        (Part::Transfer, PROGRAM_COMMAND + DATA_16K),
        (Part::Array, T_PROG),
    ];
    expect(&done[0], 1_283_520, &parts);
    assert_eq!(drive.stats().flash.groups, 1);
}

#[test]
fn programs_on_two_dies_share_the_channel() {
    // channel  8 192 data 0 24 976 data 1 41 760   (both pages come with one 32-KiB command)
    // die 0                 24 976 -- tPROG -- 624 976
    // die 1                               41 760 -- tPROG -- 641 760
    let done = run(&mut Drive::new(&many_dies(1, 2)).unwrap(), &[(0, command(OpCode::Write, 0, 64))]);
    let transfer = PROGRAM_COMMAND + DATA_16K;
    let parts = [
        (Part::Link, 2 * LINK_16K),
        (Part::ChannelWait, transfer),
        (Part::Transfer, transfer),
        (Part::Array, T_PROG),
    ];
    expect(&done[0], 641_760, &parts);
}

#[test]
fn page_types_are_programmed_in_their_own_time() {
    let mut cfg = one_die();
    cfg.geometry.bits_per_cell = 3;
    cfg.timing.t_program_us = vec![400.0, 600.0, 900.0];
    let script: Vec<_> = (0..6).map(|i| (i * 2_000_000, write(i))).collect();
    let done = run(&mut Drive::new(&cfg).unwrap(), &script);
    for (completion, t_prog) in done.iter().zip([400_000, 600_000, 900_000, 400_000, 600_000, 900_000]) {
        let mut parts = WRITE_PARTS;
        parts[2].1 = t_prog;
        expect(completion, completion.arrival.0 + 4_096 + 16_784 + t_prog, &parts);
    }
}
