//! Writes and the DRAM buffer: write-through and write-back, merging, gathering, FLUSH, FUA, reads of fresh data.

use super::*;
use ssd::config::{Table, Value};
use ssd::flash::op::{Cause, OpKind};

#[test]
fn one_write_back() {
    // link 0 -- 4 096, DRAM 4 296; the program comes later, if ever.
    let mut cfg = one_die();
    cfg.buffer = write_back();
    let mut drive = Drive::new(&cfg).unwrap();
    let done = run(&mut drive, &[(0, write(0))]);
    expect(&done[0], 4_296, &[(Part::Link, LINK_16K), (Part::Buffer, DRAM)]);
    assert_eq!(drive.stats().all_ops(), 0);
}

#[test]
fn a_read_of_a_page_in_the_buffer() {
    // 100 000 DRAM 100 200, link 104 296; a quarter of it 100 200 + 1 024.
    let mut cfg = one_die();
    cfg.buffer = write_back();
    let script = [(0, write(0)), (100_000, read(0)), (200_000, command(OpCode::Read, 8, S4K))];
    let done = run(&mut Drive::new(&cfg).unwrap(), &script);
    expect(&done[1], 104_296, &[(Part::Buffer, DRAM), (Part::Link, LINK_16K)]);
    expect(&done[2], 201_224, &[(Part::Buffer, DRAM), (Part::Link, LINK_4K)]);
}

#[test]
fn a_read_of_a_page_being_programmed() {
    // The data stays in the controller until the program has passed, so nobody waits for the die; afterwards, without
    // a buffer, it must come from flash.
    // program 4 096 -- 620 880; read 100 000 DRAM 100 200 link 104 296; read 700 000 -- 766 724 link 770 820
    let script = [(0, write(0)), (100_000, read(0)), (700_000, read(0))];
    let done = run(&mut Drive::new(&one_die()).unwrap(), &script);
    assert_eq!(done[0].completed.0, 620_880);
    expect(&done[1], 104_296, &[(Part::Buffer, DRAM), (Part::Link, LINK_16K)]);
    assert_eq!(done[2].completed.0, 770_820);
}

#[test]
fn a_part_of_a_page_is_merged_with_the_rest() {
    // 4 KiB onto a stored 16-KiB page: the other 12 KiB are read, then the whole page is programmed.
    // link  0 -- 1 024
    // die        1 024 cmd 300 + tR 50 000 + 40 + 12 288 = 62 628 -- 63 652
    //            63 652 400 + 16 384 + tPROG -- 680 436
    let mut drive = filled(&one_die(), 4);
    let done = run(&mut drive, &[(0, command(OpCode::Write, 3 * 32 + 8, S4K))]);
    let parts = [
        (Part::Link, LINK_4K),
        (Part::Dispatch, READ_COMMAND + T_R + OUT_COMMAND + 3 * DATA_4K),
        (Part::Transfer, PROGRAM_COMMAND + DATA_16K),
        (Part::Array, T_PROG),
    ];
    expect(&done[0], 680_436, &parts);
    assert_eq!(drive.stats().flash.ops[OpKind::Read as usize][Cause::Merge as usize], 1);
}

#[test]
fn a_part_of_a_new_page_is_programmed_alone() {
    // Nothing is stored, so nothing is merged, and only 4 KiB go over the channel.
    // link 0 -- 1 024, die 1 024 + 400 + 4 096 + 600 000 = 605 520
    let done = run(&mut Drive::new(&one_die()).unwrap(), &[(0, command(OpCode::Write, 0, S4K))]);
    let parts = [(Part::Link, LINK_4K), (Part::Transfer, PROGRAM_COMMAND + DATA_4K), (Part::Array, T_PROG)];
    expect(&done[0], 605_520, &parts);
}

#[test]
fn flush_writes_what_is_dirty() {
    // write 0 -- 4 296 in DRAM; FLUSH 10 000 program 626 784; a second FLUSH has nothing to do.
    let mut cfg = one_die();
    cfg.buffer = write_back();
    let flush = command(OpCode::Flush, 0, 0);
    let done = run(&mut Drive::new(&cfg).unwrap(), &[(0, write(0)), (10_000, flush), (700_000, flush)]);
    assert_eq!(done[0].completed.0, 4_296);
    expect(&done[1], 10_000 + PROGRAM_16K, &[(Part::BufferWait, PROGRAM_16K)]);
    expect(&done[2], 700_000, &[]);
}

#[test]
fn a_flush_waits_only_for_what_was_written_before_it() {
    // write 0 in DRAM 4 296; FLUSH 10 000 -- 626 784; write 1 comes at 20 000, after it, and is not waited for.
    let mut cfg = one_die();
    cfg.buffer = write_back();
    let script = [(0, write(0)), (10_000, command(OpCode::Flush, 0, 0)), (20_000, write(1))];
    let done = run(&mut Drive::new(&cfg).unwrap(), &script);
    assert_eq!(done[1].completed.0, 626_784);
    assert_eq!(done[2].completed.0, 24_296);
}

#[test]
fn a_fua_write_is_in_flash_when_it_completes() {
    // As without a buffer: link 4 096, program 616 784.
    let mut cfg = one_die();
    cfg.buffer = write_back();
    let done = run(&mut Drive::new(&cfg).unwrap(), &[(0, Command { fua: true, ..write(0) })]);
    let parts = [(Part::Link, LINK_16K), (Part::Transfer, PROGRAM_COMMAND + DATA_16K), (Part::Array, T_PROG)];
    expect(&done[0], 620_880, &parts);
}

#[test]
fn where_capacitors_save_the_buffer_a_flush_and_fua_wait_for_nothing() {
    // write 0 -- 4 296 in DRAM, with FUA or without; FLUSH 10 000 is answered at once.
    let mut cfg = one_die();
    cfg.buffer = write_back();
    cfg.buffer.set("flush", &Value::Text("capacitors".to_owned())).unwrap();
    let script = [
        (0, write(0)),
        (10_000, command(OpCode::Flush, 0, 0)),
        (20_000, Command { fua: true, ..write(1) }),
        (30_000, command(OpCode::Flush, 0, 0)),
    ];
    let mut drive = Drive::new(&cfg).unwrap();
    let done = run(&mut drive, &script);
    expect(&done[0], 4_296, &[(Part::Link, LINK_16K), (Part::Buffer, DRAM)]);
    expect(&done[1], 10_000, &[]);
    expect(&done[2], 24_296, &[(Part::Link, LINK_16K), (Part::Buffer, DRAM)]);
    expect(&done[3], 30_000, &[]);
    assert_eq!(drive.stats().all_ops(), 0);
    // What was replaced could be read after such a flush.
    cfg.sanitize.select("erase").unwrap();
    let error = Drive::new(&cfg).map(drop).unwrap_err().to_string();
    assert!(
        error.contains("ftl.sanitize.policy") && error.contains("host.buffer.flush = \"program\""),
        "{error}"
    );
}

/// 4-KiB units gathered for 20 us before a page is programmed with gaps.
fn gathering() -> DriveConfig {
    let mut cfg = one_die();
    cfg.mapping.unit = MappingUnit::FourKib;
    cfg.buffer = buffer::Config::None(buffer::none::Params { gather_timeout_us: 20.0, t_access_ns: 200 });
    cfg
}

#[test]
fn writes_wait_a_while_for_company() {
    // link   0 -- 1 024                10 000 -- 11 024
    // gather      1 024 -------------------------------- 21 024
    // die                                                21 024 400 + 8 192 + 600 000 = 629 616
    let script = [(0, command(OpCode::Write, 0, S4K)), (10_000, command(OpCode::Write, 64, S4K))];
    let mut drive = Drive::new(&gathering()).unwrap();
    let done = run(&mut drive, &script);
    let (transfer, array) = ((Part::Transfer, PROGRAM_COMMAND + 2 * DATA_4K), (Part::Array, T_PROG));
    expect(&done[0], 629_616, &[(Part::Link, LINK_4K), (Part::Dispatch, 20_000), transfer, array]);
    expect(&done[1], 629_616, &[(Part::Link, LINK_4K), (Part::Dispatch, 10_000), transfer, array]);
    assert_eq!(drive.stats().ftl.padded_units.iter().sum::<u64>(), 2);
}

#[test]
fn a_full_page_waits_for_nothing() {
    // Four writes of 4 KiB: the link has the last at 4 096, and the page goes.
    // die  4 096 400 + 16 384 + 600 000 = 620 880
    let script: Vec<_> = (0..4).map(|i| (0, command(OpCode::Write, i * 64, S4K))).collect();
    let done = run(&mut Drive::new(&gathering()).unwrap(), &script);
    let (transfer, array) = ((Part::Transfer, PROGRAM_COMMAND + DATA_16K), (Part::Array, T_PROG));
    for (i, completion) in (0..).zip(&done) {
        let link = [(Part::LinkWait, i * LINK_4K), (Part::Link, LINK_4K)];
        let dispatch = (Part::Dispatch, (3 - i) * LINK_4K);
        expect(completion, 620_880, &[link[0], link[1], dispatch, transfer, array]);
    }
}

#[test]
fn each_page_gathers_for_its_own_time() {
    // A full page goes at 4 096; a write at 10 000 (data at 11 024) begins a new page and waits until 31 024, not
    // until the 21 024 that the first page's data would have waited for. The die is busy until 620 880.
    // die  620 880 400 + 4 096 + 600 000 = 1 225 376
    // The next such write meets an idle die: 2 000 000, data 2 001 024, page 2 021 024, done 2 625 520.
    let mut script: Vec<_> = (0..4).map(|i| (0, command(OpCode::Write, i * 64, S4K))).collect();
    script.push((10_000, command(OpCode::Write, 320, S4K)));
    script.push((2_000_000, command(OpCode::Write, 384, S4K)));
    let done = run(&mut Drive::new(&gathering()).unwrap(), &script);
    let (transfer, array) = ((Part::Transfer, PROGRAM_COMMAND + DATA_4K), (Part::Array, T_PROG));
    let wait = [(Part::Dispatch, 20_000), (Part::DieWait, 620_880 - 31_024)];
    expect(&done[4], 1_225_376, &[(Part::Link, LINK_4K), wait[0], wait[1], transfer, array]);
    expect(&done[5], 2_625_520, &[(Part::Link, LINK_4K), wait[0], transfer, array]);
}

#[test]
fn a_flush_ends_the_gathering() {
    // FLUSH asks for durability now: a page with gaps goes at once.
    // link 0 -- 1 024; FLUSH 5 000; die 5 000 400 + 4 096 + 600 000 = 609 496
    let script = [(0, command(OpCode::Write, 0, S4K)), (5_000, command(OpCode::Flush, 0, 0))];
    let done = run(&mut Drive::new(&gathering()).unwrap(), &script);
    assert_eq!((done[0].completed.0, done[1].completed.0), (609_496, 609_496));
}
