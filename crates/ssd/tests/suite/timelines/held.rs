//! Whom commands wait for: what holds the die, the channel, the buffer, by hand.

use super::locks::{evanesco, trim};
use super::*;
use ssd::config::Table;
use ssd::{Holder, LastOperation, Told};

/// Of each command of a script, in its order, what held it, by name; ns.
fn held(drive: &mut Drive, script: &[(u64, Command)]) -> Vec<Vec<(String, u64)>> {
    let named = |told: Told| {
        let named = Holder::all().map(|holder| (holder.name(), told.held.ns[holder.index()]));
        named.filter(|(_, ns)| *ns > 0).collect()
    };
    told(drive, script).into_iter().map(named).collect()
}

/// What is told of each command of a script.
fn told(drive: &mut Drive, script: &[(u64, Command)]) -> Vec<Told> {
    drive.tracing().tell_holders(true);
    let from = drive.now().0;
    for (tag, (at, command)) in (0..).zip(script) {
        let at = SimTime(from + at);
        drive.submit(0, &Command { tag, arrival: at, ..*command }, at).unwrap();
    }
    drive.drain();
    let mut told = vec![Told::NOTHING; script.len()];
    while let Some(done) = drive.pop_completion() {
        assert_eq!(done.status, Status::Ok);
        told[done.tag as usize] = drive.tracing().take_told();
    }
    drive.check().unwrap();
    told
}

#[track_caller]
fn expect_held(found: &[(String, u64)], expected: &[(&str, u64)]) {
    let found: Vec<_> = found.iter().map(|(name, ns)| (name.as_str(), *ns)).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_read_waits_for_the_program_before_it() {
    // link     0 -- 4 096
    // channel       4 096 ---- 20 880
    // array                    20 880 --- tPROG --- 620 880
    // read              10 000 ............................ 620 880
    let mut drive = filled(&one_die(), 8);
    let told = held(&mut drive, &[(0, write(20)), (10_000, read(0))]);
    expect_held(&told[0], &[]);
    expect_held(&told[1], &[("array.program.host", T_PROG), ("transfer.in.host", 10_880)]);
}

#[test]
fn a_read_waits_for_the_read_before_it() {
    let mut drive = filled(&one_die(), 8);
    let told = held(&mut drive, &[(0, read(0)), (0, read(5))]);
    expect_held(&told[1], &[("array.read.host", T_R), ("transfer.out.host", READ_16K - T_R)]);
}

#[test]
fn two_dies_wait_for_their_channel() {
    // first   0 command 300 ------ tR ------ 50 300 out 66 724
    // second      300 command 600 ------ tR ------ 50 600 ..... 66 724 out
    let mut drive = filled(&many_dies(1, 2), 8);
    let told = held(&mut drive, &[(0, read(0)), (0, read(1))]);
    expect_held(&told[0], &[]);
    expect_held(&told[1], &[("transfer.out.host", READ_COMMAND + 66_724 - 50_600)]);
}

#[test]
fn a_read_waits_for_a_lock_and_a_trim_for_it_to_be_there() {
    // die   0 command 290 ---- lock ---- 100 290
    // read     100 ..................... 100 290
    let mut drive = filled(&evanesco(1, "page_and_block_lock"), 700);
    let told = held(&mut drive, &[(0, trim(0, 1)), (100, read(650))]);
    expect_held(&told[0], &[("locks", 100_290)]);
    expect_held(&told[1], &[("array.lock.sanitize", 100_000), ("transfer.in.sanitize", 190)]);
}

#[test]
fn a_read_waits_for_an_erase() {
    let mut cfg = evanesco(1, "erase");
    cfg.timing.t_erase_us = 3_000.0;
    let mut drive = filled(&cfg, 700);
    let told = held(&mut drive, &[(0, trim(0, 576)), (100, read(650))]);
    expect_held(&told[0], &[("locks", 3_000_290)]);
    expect_held(&told[1], &[("array.erase.sanitize", 3_000_000), ("transfer.in.sanitize", 190)]);
}

/// Of four pages that fill a row, each waits for the last; one that nothing joins waits until it may be padded, and one
/// that is written in part until the rest is read.
#[test]
fn a_write_without_a_buffer_waits_for_its_row() {
    let mut cfg = four_planes();
    cfg.buffer = buffer::Config::None(buffer::none::Params { gather_timeout_us: 20.0, t_access_ns: 200 });
    // link  0 - 4 096 - 8 192 - 12 288 - 16 384: the row goes with the last of them.
    let told = held(&mut filled(&cfg, 8), &[20, 21, 22, 23].map(|page| (0, write(page))));
    for (told, waits) in told.iter().zip([3, 2, 1]) {
        expect_held(told, &[("row", waits * LINK_16K)]);
    }
    expect_held(&told[3], &[]);
    let told = held(&mut filled(&cfg, 8), &[(0, write(20))]);
    expect_held(&told[0], &[("row", 20_000)]);
    let part = command(OpCode::Write, 0, S4K);
    let told = held(&mut filled(&cfg, 8), &[(0, part)]);
    expect_held(&told[0], &[("row", 20_000)]);
}

#[test]
fn a_program_stands_still_for_a_read() {
    // array   20 880 program 100 000 .. 120 000 (read) 186 724 .. 196 724 program 717 604
    let mut cfg = one_die();
    cfg.preemption.select("immediate").unwrap();
    (cfg.timing.t_suspend_us, cfg.timing.t_resume_us) = (20.0, 10.0);
    let mut drive = filled(&cfg, 8);
    let told = held(&mut drive, &[(0, write(20)), (100_000, read(0))]);
    expect_held(
        &told[0],
        &[("array.read.host", T_R), ("transfer.out.host", READ_16K - T_R), ("switching", 30_000)],
    );
    expect_held(&told[1], &[("switching", 20_000)]);
}

/// What a command waits for last: its place, and how often that was stopped. Of three reads in a row the first stops
/// the program, and so does the one that comes when it has gone on.
#[test]
fn the_operation_that_ended_last_is_told() {
    let mut cfg = many_dies(2, 1);
    cfg.preemption.select("immediate").unwrap();
    (cfg.timing.t_suspend_us, cfg.timing.t_resume_us) = (20.0, 10.0);
    let of =
        |number, die, suspends| LastOperation { number, die, plane: 0, page_type: 0, attempts: 0, suspends };
    let mut drive = filled(&cfg, 8);
    let script =
        [(0, write(20)), (100_000, read(0)), (101_000, read(2)), (400_000, read(0)), (400_000, read(1))];
    let told = told(&mut drive, &script).into_iter().map(|told| told.last.unwrap());
    let told: Vec<LastOperation> = told.collect();
    // In the order of completion; they are numbered as they are given to the flash, after nothing else.
    assert_eq!(told, [of(1, 0, 2), of(2, 0, 0), of(3, 0, 0), of(4, 0, 0), of(5, 1, 0)]);
}

#[test]
fn a_write_waits_for_room_in_the_buffer() {
    // Sixteen pages have room. The first leaves at once; another comes at 69 632 and takes its place at 620 880.
    let mut cfg = one_die();
    cfg.buffer = buffer::Config::LruWrite(buffer::lru_write::Params {
        size_mib: 0.25,
        flush_start_percent: 0.0,
        flush_stop_percent: 0.0,
        t_access_ns: 0,
        ..Default::default()
    });
    let mut drive = filled(&cfg, 8);
    let script: Vec<_> = (20..37).map(|page| (0, write(page))).collect();
    let told = held(&mut drive, &script);
    assert!(told[..16].iter().all(Vec::is_empty));
    expect_held(&told[16], &[("array.program.host", 620_880 - 17 * LINK_16K)]);
}

#[test]
fn a_flush_waits_for_the_program_that_it_asks_for() {
    let mut cfg = one_die();
    cfg.buffer = write_back();
    let mut drive = filled(&cfg, 8);
    let flush = Command { op: OpCode::Flush, ..Command::default() };
    let told = held(&mut drive, &[(0, write(20)), (100_000, flush)]);
    expect_held(
        &told[1],
        &[("array.program.host", T_PROG), ("transfer.in.host", PROGRAM_COMMAND + DATA_16K)],
    );
}
