//! One die of the preset `psr`, by hand: a read takes 115 us, a program 656 us in 15 loops, an erase 3 500 us in 30
//! steps, and what is suspended stops and goes on in 20 us each. Times are in ns from the beginning of the array's
//! work.

mod brute;
mod harm;
mod queues;

use crate::config::Layer;
use crate::drive_config::{DriveConfig, resolve};
use crate::events::EventQueue;
use crate::flash::op::{Cause, Op, OpKind};
use crate::flash::preemption::{Config, Loses, immediate};
use crate::flash::{Flash, Room};
use crate::nand::{Chip, PageAddress};
use crate::signals::Priority::{self, High, Low, Medium};
use crate::units::{OpId, Ppn, SimTime};

/// The drive, with one die of so many planes.
fn psr(policy: &str, planes: u32) -> DriveConfig {
    let layer = Layer::file("test.toml", "preset = \"psr\"\n");
    let mut cfg = resolve(&[layer], &[]).unwrap().config;
    (cfg.geometry.channels, cfg.geometry.chips_per_channel, cfg.geometry.planes_per_die) = (1, 1, planes);
    cfg.geometry.blocks_per_plane = 8;
    cfg.preemption = Config::named(policy).unwrap();
    cfg
}

/// Something given to the die at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Given {
    at: u64,
    kind: OpKind,
    cause: Cause,
    priority: Priority,
    /// Of the drive: planes one after the other.
    block: u32,
    page: u32,
    critical: bool,
    due: bool,
}

/// Block 0 is erased, block 1 holds data, block 2 is being programmed.
const ERASE: Given = Given {
    at: 0,
    kind: OpKind::Erase,
    cause: Cause::Cleaning,
    priority: Medium,
    block: 0,
    page: 0,
    critical: false,
    due: false,
};
const PROGRAM: Given = Given { kind: OpKind::Program, cause: Cause::Host, block: 2, ..ERASE };

fn read(at: u64, priority: Priority) -> Given {
    Given { at, kind: OpKind::Read, cause: Cause::Host, priority, block: 1, ..ERASE }
}

/// When each was done; what comes at the same time is given together.
fn run(cfg: &DriveConfig, script: &[Given]) -> (Vec<u64>, Flash) {
    run_by(cfg, script, true, u64::MAX)
}

/// The same, one by one.
fn run_one_by_one(cfg: &DriveConfig, script: &[Given]) -> (Vec<u64>, Flash) {
    run_by(cfg, script, false, u64::MAX)
}

/// From some time on the die owes locks and does nothing else.
fn run_by(cfg: &DriveConfig, script: &[Given], together: bool, pressed_at: u64) -> (Vec<u64>, Flash) {
    let g = &cfg.geometry;
    let chip = Chip::new(g.planes(), g.blocks_per_plane, g.pages_per_block(), &cfg.reliability, 1);
    let mut chip = chip.with_cells(cfg).expect("a part that fits");
    for plane in 0..g.planes() {
        let first = plane * g.blocks_per_plane;
        (0..g.pages_per_block()).for_each(|page| _ = chip.program_in(first + 1, page, 0));
        // The first two pages of a wordline of three.
        (0..2).for_each(|page| _ = chip.program_in(first + 3, page, 0));
    }
    let room = Room { host: script.len(), moves: script.len() };
    let mut flash = Flash::new(
        cfg,
        (crate::flash::read_voltage::Policy::build(&cfg.read_voltage), &cfg.preemption),
        chip,
        room,
    );
    let (mut events, mut ids): (_, Vec<OpId>) = (EventQueue::with_capacity(64), Vec::new());
    let mut ends = vec![0; script.len()];
    let mut next = 0;
    while next < script.len() || events.next_at().is_some() {
        let due = script.get(next).map_or(u64::MAX, |given| given.at);
        if events.next_at().is_none_or(|at| at.0 >= due) {
            let (now, mut given) = (SimTime(due), Vec::new());
            flash.now = now;
            flash.press(0, due >= pressed_at);
            while let Some(next_one) = script.get(next).filter(|next| next.at == due) {
                given.push(flash.pool.add(op(cfg, next_one), &[]));
                next += 1;
                if !together {
                    break;
                }
            }
            ids.extend(&given);
            flash.give(&given, now, &mut events);
        } else if let Some((now, kind, id)) = events.pop() {
            flash.now = now;
            flash.press(0, now.0 >= pressed_at);
            flash.on_event(kind, id, now, &mut events);
        }
        for done in std::mem::take(&mut flash.done) {
            let place = ids.iter().position(|&id| id == done).unwrap();
            ends[place] = flash.now.0;
            let (times, queued) = (flash.pool.spent(done).times, flash.pool.spent(done).queued);
            let parts = [times.die_wait, times.channel_wait, times.array, times.transfer, times.decode];
            let parts = parts.iter().sum::<u64>() + times.suspended;
            assert_eq!(parts, flash.now.since(queued), "parts of {:?}", script[place]);
        }
    }
    assert_eq!(flash.record.counts.inversions, 0, "of {} operations", script.len());
    (ends, flash)
}

fn op(cfg: &DriveConfig, given: &Given) -> Op {
    let &Given { kind, cause, priority, block, page, critical, due, .. } = given;
    let at = PageAddress { die: 0, plane: block / cfg.geometry.blocks_per_plane, block, page };
    let bytes = if kind == OpKind::Erase { 0 } else { cfg.geometry.page_bytes };
    Op { bytes, priority, critical, due, ..Op::new(kind, cause, Ppn(0), at, 0) }
}

/// Channel time of an erase command, of a program with its data, and of the two commands of a copyback.
const ERASE_IN: u64 = 290;
const PROGRAM_IN: u64 = 361 + 16_384;
const COPYBACK_IN: u64 = 290 + 361;

/// Asserts when each is done, in ns from the beginning of the array's work on the first, and returns what was counted.
#[track_caller]
fn expect(policy: &str, in_ns: u64, script: &[Given], ends: &[u64]) -> Flash {
    expect_of(&psr(policy, 1), in_ns, script, ends)
}

/// The same of a drive.
#[track_caller]
fn expect_of(cfg: &DriveConfig, in_ns: u64, script: &[Given], ends: &[u64]) -> Flash {
    let later = |given: &Given| Given { at: if given.at == 0 { 0 } else { given.at + in_ns }, ..*given };
    let script: Vec<_> = script.iter().map(later).collect();
    let (found, flash) = run(cfg, &script);
    let found: Vec<u64> = found.iter().map(|end| end - in_ns).collect();
    assert_eq!(found, ends, "{}", cfg.preemption.name());
    flash
}

const US: u64 = 1_000;

/// An erase, and a read at a time.
fn erased(at: u64, priority: Priority) -> [Given; 2] {
    [ERASE, read(at, priority)]
}

#[test]
fn a_read_behind_an_erase() {
    // none        erase 0 ------------------------------------ 3 500 read 3 615
    // safe_point  erase 0 -- 1 050 stops 1 070 read 1 185 resumes 1 205 ---- 3 655
    // at once     erase 0 -- 1 000 stops 1 020 read 1 135 resumes 1 155 ---- 3 655
    expect("none", ERASE_IN, &erased(1_000 * US, High), &[3_500 * US, 3_615 * US]);
    for priority in Priority::ALL {
        expect("safe_point", ERASE_IN, &erased(1_000 * US, priority), &[3_655 * US, 1_185 * US]);
        expect("immediate", ERASE_IN, &erased(1_000 * US, priority), &[3_655 * US, 1_135 * US]);
    }
    let flash = expect("priority_aware", ERASE_IN, &erased(1_000 * US, High), &[3_655 * US, 1_135 * US]);
    assert_eq!(flash.record.counts.suspends, [[0, 0, 1], [0; 3], [0; 3], [0; 3], [0; 3], [0; 3]]);
    assert_eq!(flash.record.counts.suspends_per_erase[..2], [0, 1]);
}

#[test]
fn a_read_near_the_end_of_an_erase() {
    // The step in progress at 3 450 is the last: its end is that of the erase. A high read stops it all the same.
    expect("safe_point", ERASE_IN, &erased(3_450 * US, Medium), &[3_500 * US, 3_615 * US]);
    expect("priority_aware", ERASE_IN, &erased(3_450 * US, High), &[3_655 * US, 3_585 * US]);
    // To stop takes as long as what is left: it is not stopped.
    expect("priority_aware", ERASE_IN, &erased(3_480 * US, High), &[3_500 * US, 3_615 * US]);
    expect("immediate", ERASE_IN, &erased(3_490 * US, Low), &[3_500 * US, 3_615 * US]);
}

#[test]
fn a_read_behind_a_program() {
    // Loops of 43 733 1/3 ns: the third ends at 131 200.
    // program 0 -- 131.2 stops 151.2 read 266.2 resumes 286.2 -- 811.0
    let script = [PROGRAM, read(100 * US, Medium)];
    for policy in ["safe_point", "priority_aware"] {
        for priority in Priority::ALL {
            let script = [PROGRAM, read(100 * US, priority)];
            let flash = expect(policy, PROGRAM_IN, &script, &[811_000, 266_200]);
            assert_eq!(flash.record.counts.suspends[3].iter().sum::<u64>(), 1);
        }
    }
    // program 0 -- 100 stops 120 read 235 resumes 255 -- 811
    expect("immediate", PROGRAM_IN, &script, &[811_000, 235_000]);
    expect("none", PROGRAM_IN, &script, &[656_000, 771_000]);
}

/// What a die owes goes before reads: nothing stops for them any more, and what is stopped goes on.
#[test]
fn a_die_that_owes_locks_stops_nothing() {
    let script = [PROGRAM, read(100 * US + PROGRAM_IN, Medium), read(120 * US + PROGRAM_IN, High)];
    let cfg = psr("immediate", 1);
    for (pressed_at, ends) in [
        // program 0 -- 100 stops 120 high 235 medium 350 resumes 370 -- 926
        (u64::MAX, [926 * US, 350 * US, 235 * US]),
        // program 0 -- 656 high 771 medium 886
        (0, [656 * US, 886 * US, 771 * US]),
        // program 0 -- 100 stops 120 resumes 140 -- 696 high 811 medium 926
        (110 * US, [696 * US, 926 * US, 811 * US]),
        // program 0 -- 100 stops 120 high 235 resumes 255 -- 811 medium 926
        (200 * US, [811 * US, 926 * US, 235 * US]),
    ] {
        let (found, _) = run_by(&cfg, &script, true, pressed_at.saturating_add(PROGRAM_IN));
        let found: Vec<u64> = found.iter().map(|end| end - PROGRAM_IN).collect();
        assert_eq!(found, ends, "from {pressed_at}");
    }
}

#[test]
fn a_step_that_ends_as_the_read_comes_has_ended() {
    // 1 050 is the end of the ninth step, and 131.2 that of the third loop.
    expect("safe_point", ERASE_IN, &erased(1_050 * US, Low), &[3_655 * US, 1_185 * US]);
    expect("priority_aware", PROGRAM_IN, &[PROGRAM, read(131_200, High)], &[811_000, 266_200]);
    // A nanosecond later it is the end of the next: 174 933 and two thirds of a ns are not counted.
    expect("priority_aware", PROGRAM_IN, &[PROGRAM, read(131_201, High)], &[811_000, 309_933]);
}

#[test]
fn a_read_while_it_stops_goes_too() {
    // The second comes while the erase is being stopped for the first: both go by, one suspend.
    // erase 0 -- 1 000 stops 1 020 read 1 135 read 1 250 resumes 1 270 -- 3 770
    let script = [ERASE, read(1_000 * US, High), read(1_010 * US, High)];
    let flash = expect("priority_aware", ERASE_IN, &script, &[3_770 * US, 1_135 * US, 1_250 * US]);
    assert_eq!(flash.record.counts.suspends[0], [0, 0, 1]);
    // One that comes at the very moment at which the other has gone finds it going on.
    let script = [ERASE, read(1_000 * US, Low), read(1_100 * US, Medium), read(1_130 * US, High)];
    let ends = [3_885 * US, 1_135 * US, 1_365 * US, 1_250 * US];
    expect("immediate", ERASE_IN, &script, &ends);
}

#[test]
fn what_was_resumed_runs_a_while() {
    // erase 0 -- 1 000 stops 1 020 read 1 135 resumes 1 155 runs 1 175 stops 1 195 read 1 310 resumes 1 330 -- 3 810
    for at in [1_136, 1_150, 1_174] {
        let script = [ERASE, read(1_000 * US, High), read(at * US, High)];
        let ends = [3_810 * US, 1_135 * US, 1_310 * US];
        let flash = expect("priority_aware", ERASE_IN, &script, &ends);
        assert_eq!(flash.record.counts.suspends[0], [0, 0, 2]);
        assert_eq!(flash.record.counts.suspends_per_erase[2], 1);
    }
}

#[test]
fn an_urgent_read_does_not_wait_for_the_safe_point_of_another() {
    // The medium read waits for 1 050; the high one, which comes at 1 020, stops the erase at once.
    // 1 020 stops 1 040 high 1 155 medium 1 270 resumes 1 290 -- 3 770
    let script = [ERASE, read(1_000 * US, Medium), read(1_020 * US, High)];
    let mut cfg = psr("priority_aware", 1);
    cfg.preemption = Config::PriorityAware(crate::flash::preemption::priority_aware::Params {
        at_once_per_erase: 0,
        ..Default::default()
    });
    let later = |given: &Given| Given { at: if given.at == 0 { 0 } else { given.at + ERASE_IN }, ..*given };
    let (ends, flash) = run(&cfg, &script.map(|given| later(&given)));
    assert_eq!(
        ends.iter().map(|end| end - ERASE_IN).collect::<Vec<_>>(),
        [3_770 * US, 1_270 * US, 1_155 * US]
    );
    assert_eq!(flash.record.counts.suspends[..2], [[0, 0, 1], [0, 0, 0]]);
    // Without the high one a medium read whose share is used up waits for the safe point.
    let (ends, flash) = run(&cfg, &script[..2].iter().map(later).collect::<Vec<_>>());
    assert_eq!(ends.iter().map(|end| end - ERASE_IN).collect::<Vec<_>>(), [3_655 * US, 1_185 * US]);
    assert_eq!(flash.record.counts.suspends[..2], [[0, 0, 0], [0, 1, 0]]);
}

#[test]
fn a_read_of_a_move_that_was_stopped_counts_as_one_of_the_host() {
    // The second read goes by in its turn; the high one stops it at 1 210. By then a move is due, which one read may
    // pass: the erase goes on at once, and is stopped when it has run its 20 us.
    // erase 0 -- 1 000 stops 1 020 medium 1 135 move 1 210 stops 1 230 resumes 1 250 runs 1 270 stops 1 290 high 1 405
    // resumes 1 425 runs 1 445 stops 1 465 move 1 580 resumes 1 600 -- 4 060
    let move_read = Given { cause: Cause::Cleaning, ..read(1_005 * US + ERASE_IN, Low) };
    let due = Given { at: 1_200 * US + ERASE_IN, cause: Cause::Cleaning, due: true, ..PROGRAM };
    let host = |at: u64, priority| read(at * US + ERASE_IN, priority);
    let mut cfg = psr("priority_aware", 1);
    cfg.scheduling.due_bypass_limit = 1;
    let (ends, flash) = run(&cfg, &[ERASE, host(1_000, Medium), move_read, due, host(1_210, High)]);
    let ends = [0, 1, 2, 4].map(|place: usize| (ends[place] - ERASE_IN) / US);
    assert_eq!(ends, [4_060, 1_135, 1_580, 1_405]);
    assert_eq!(flash.record.counts.suspends[4], [0, 0, 1], "of reads");
}

#[test]
fn critical_erases_stop_at_their_safe_points_only() {
    let critical = [Given { critical: true, ..ERASE }, read(1_000 * US, High)];
    let flash = expect("priority_aware", ERASE_IN, &critical, &[3_655 * US, 1_185 * US]);
    assert_eq!(flash.record.counts.suspends[..2], [[0; 3], [0, 0, 1]]);
    // irFTL knows no difference.
    expect("immediate", ERASE_IN, &critical, &[3_655 * US, 1_135 * US]);
}

#[test]
fn a_used_up_share_waits_for_safe_points() {
    // Nobody has read before: 15 suspends at once for each of medium and low. A medium read every 200 us stops the
    // erase at once at 100, 300 ... ; the erase has 45 us of each 200 then (20 + 115 + 20 are the read's), so that at
    // the sixteenth, at 3 100, it has had 100 + 15 x 45 = 775 us: the next safe point is at 816 2/3.
    let reads = (0..16).map(|n| read((100 + 200 * n) * US, Medium));
    let script: Vec<_> = [ERASE].into_iter().chain(reads).collect();
    let (_, flash) = run(&psr("priority_aware", 1), &script);
    assert_eq!(flash.record.counts.suspends[..2], [[0, 15, 0], [0, 1, 0]]);
    let later: Vec<_> =
        script.iter().map(|given| Given { at: given.at.saturating_add(ERASE_IN), ..*given }).collect();
    let later: Vec<_> = [ERASE].into_iter().chain(later[1..].iter().copied()).collect();
    let (ends, _) = run(&psr("priority_aware", 1), &later);
    let ends: Vec<_> = ends.iter().map(|end| end - ERASE_IN).collect();
    assert_eq!(ends[1], 235 * US, "100 + 20 + 115");
    assert_eq!(ends[15], 3_035 * US, "2 900 + 20 + 115");
    assert_eq!(ends[16], 3_100 * US + 41_666 + 135 * US, "to the safe point, and then as the others");
    assert_eq!(ends[0], 3_500 * US + 16 * 155 * US);
}

#[test]
fn a_group_of_planes_stops_together() {
    // Two planes erased by one command each: 580 in; both members of the group wait, and both are done together.
    let cfg = psr("immediate", 2);
    let other = Given { block: 8, ..ERASE };
    let (ends, flash) = run(&cfg, &[ERASE, other, Given { at: 1_000 * US + 580, ..read(0, Low) }]);
    assert_eq!(ends.iter().map(|end| end - 580).collect::<Vec<_>>(), [3_655 * US, 3_655 * US, 1_135 * US]);
    assert_eq!((flash.record.counts.groups, flash.record.counts.suspends[0]), (1, [1, 0, 0]));
    assert_eq!(flash.record.counts.suspends_per_erase[1], 2, "each of the blocks");
}

#[test]
fn a_copyback_stops_in_its_program_part() {
    // It reads until 98 296, and programs in loops of 43 733 1/3.
    let copyback = Given { kind: OpKind::Copyback, cause: Cause::Cleaning, ..PROGRAM };
    // At once at 50: when it has read. 98.296 stops 118.296 read 233.296 resumes 253.296 program 909.296
    expect("immediate", COPYBACK_IN, &[copyback, read(50 * US, Low)], &[909_296, 233_296]);
    // At the first end of a loop, 142 029: stops 162 029 read 277 029.
    expect("safe_point", COPYBACK_IN, &[copyback, read(50 * US, Low)], &[909_296, 277_029]);
}

/// The drive, whose stops within a step lose something.
fn losing(loses: Loses) -> DriveConfig {
    DriveConfig {
        preemption: immediate::Params { loses, ..immediate::Params::default() }.into(),
        ..psr("immediate", 1)
    }
}

#[test]
fn a_stop_may_lose_the_step_or_all_of_them() {
    // erase 0 -- 1 000 stops 1 020 read 1 135 resumes 1 155; the ninth step began at 933 333.
    // Another read comes at 1 136: it stops the erase when that has come farther than 1 000, by 20.
    // from 933 333: 1 241 667 stops, read 1 376 667 resumes 1 396 667; from 0: 2 175 stops, read 2 310 resumes 2 330
    for (loses, once, twice) in [
        (Loses::Nothing, [3_655_000, 1_135_000], [3_810_000, 1_135_000, 1_310_000]),
        (Loses::Step, [3_721_667, 1_135_000], [3_963_334, 1_135_000, 1_376_667]),
        (Loses::Operation, [4_655_000, 1_135_000], [5_830_000, 1_135_000, 2_310_000]),
    ] {
        let cfg = losing(loses);
        let erased = erased(1_000 * US, Low);
        expect_of(&cfg, ERASE_IN, &erased, &once);
        expect_of(&cfg, ERASE_IN, &[erased[0], erased[1], read(1_136 * US, Low)], &twice);
    }
    // program 0 -- 100 stops 120 read 235 resumes 255; the third loop began at 87 466.
    let script = [PROGRAM, read(100 * US, Medium)];
    expect_of(&losing(Loses::Step), PROGRAM_IN, &script, &[823_534, 235_000]);
    expect_of(&losing(Loses::Operation), PROGRAM_IN, &script, &[911_000, 235_000]);
    // What a copyback has read until 98 296 it does not read again.
    // copyback 0 -- 200 stops 220 read 335 resumes 355; its third loop began at 98 296 + 87 466.
    let copyback = Given { kind: OpKind::Copyback, cause: Cause::Cleaning, ..PROGRAM };
    for (loses, [early, late]) in
        [(Loses::Step, [909_296, 923_534]), (Loses::Operation, [909_296, 1_011_000])]
    {
        let cfg = losing(loses);
        expect_of(&cfg, COPYBACK_IN, &[copyback, read(50 * US, Low)], &[early, 233_296]);
        expect_of(&cfg, COPYBACK_IN, &[copyback, read(200 * US, Low)], &[late, 335_000]);
    }
}

#[test]
fn a_transfer_is_not_stopped() {
    // The program's data goes in until 16 745; the read, which comes before that, stops it when its array begins.
    let (ends, flash) = run(&psr("immediate", 1), &[PROGRAM, read(5 * US, High)]);
    let stopped = PROGRAM_IN + 20 * US;
    assert_eq!(ends, [stopped + 115 * US + 20 * US + 656 * US, stopped + 115 * US]);
    assert_eq!(flash.record.counts.suspends[2], [0, 0, 1]);
}

#[test]
fn the_wordline_in_work_is_not_read() {
    // Pages 0 and 1 of block 3 are read while page 2, of the same wordline, is programmed: that waits. A read of
    // another block, which comes later, goes first.
    let program = Given { block: 3, page: 2, ..PROGRAM };
    let same = Given { block: 3, ..read(100 * US, Medium) };
    expect("immediate", PROGRAM_IN, &[program, same], &[656_000, 771_000]);
    // program 0 -- 200 stops 220 other 335 resumes 355 -- 811 held 926
    let script = [program, Given { priority: Low, ..same }, read(200 * US, Medium)];
    expect("immediate", PROGRAM_IN, &script, &[811_000, 926_000, 335_000]);
    // Nor does one that could not go by stop the read that does.
    // program 0 -- 131.2 stops 151.2 low 266.2 resumes 286.2 -- 811 held 926
    let script = [program, read(100 * US, Low), Given { at: 200 * US, priority: High, ..same }];
    expect("priority_aware", PROGRAM_IN, &script, &[811_000, 266_200, 926_000]);
}

#[test]
fn reads_that_pass_are_limited() {
    // Sixteen of twenty go by at a time; then it goes on and runs 20 us.
    let cfg = psr("immediate", 1);
    let reads = (0..20).map(|_| Given { at: 1_000 * US + ERASE_IN, ..read(0, Medium) });
    let script: Vec<_> = [ERASE].into_iter().chain(reads).collect();
    let (ends, flash) = run(&cfg, &script);
    let ends: Vec<_> = ends.iter().map(|end| end - ERASE_IN).collect();
    let sixteenth = 1_020 * US + 16 * 115 * US;
    assert_eq!(ends[16], sixteenth);
    assert_eq!(ends[17], sixteenth + (20 + 20 + 20 + 115) * US);
    assert_eq!(flash.record.counts.suspends[0], [0, 2, 0]);
}

#[test]
fn an_erase_ends_under_reads_without_end() {
    // A queue that never runs dry: after 175 times 20 us the erase is done (RealWear section 4.1: more than 100
    // suspends of a single erase are seen).
    let cfg = psr("immediate", 1);
    let reads = (0..2_900).map(|_| Given { at: 1, ..read(0, High) });
    let script: Vec<_> = [ERASE].into_iter().chain(reads).collect();
    let (ends, flash) = run(&cfg, &script);
    let suspends = flash.record.counts.suspends[0].iter().sum::<u64>();
    assert!(suspends <= 175, "{suspends}");
    assert!(suspends >= 174, "{suspends}");
    assert!(ends[0] < ends[2_900], "before the last read");
}

#[test]
fn a_share_is_split_by_who_read_before() {
    // Six medium reads and two low ones since the erase before: 30 x 6 / 8 = 22.5, rounded 23, and 7.
    let before = (0..8).map(|n| read(4_000 * US + n * 200 * US, if n < 6 { Medium } else { Low }));
    let second = Given { at: 8_000 * US, block: 4, ..ERASE };
    let reads = (0..10).map(|n| read(8_100 * US + 300 * US * n, Low));
    let script: Vec<_> = [ERASE].into_iter().chain(before).chain([second]).chain(reads).collect();
    let (_, flash) = run(&psr("priority_aware", 1), &script);
    assert_eq!(flash.record.counts.suspends[..2], [[7, 0, 0], [3, 0, 0]]);
}
