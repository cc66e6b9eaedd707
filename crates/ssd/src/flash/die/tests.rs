use super::*;
use crate::flash::op::{Cause, OpKind};
use crate::nand::PageAddress;
use crate::units::Ppn;

/// The order in which a die takes operations: of the host if they are not due.
fn order(reclaim: ReclaimOrder, due_bypass_limit: u32, queued: &[(OpKind, bool)]) -> Vec<u32> {
    let queued: Vec<_> = queued.iter().map(|&(kind, due)| (kind, due, Priority::Medium)).collect();
    order_by(true, reclaim, due_bypass_limit, &queued)
}

/// The same of reads of several priorities.
fn order_by(
    by_priority: bool,
    reclaim: ReclaimOrder,
    due_bypass_limit: u32,
    queued: &[(OpKind, bool, Priority)],
) -> Vec<u32> {
    let priorities = if by_priority { PriorityOrder::ByClass } else { PriorityOrder::Ignored };
    let scheduling = Scheduling {
        order: SchedulingOrder::ReadFirst,
        read_bypass_limit: 2,
        reclaim,
        due_bypass_limit,
        priorities,
        ..Scheduling::default()
    };
    let by = Precedence::new(&scheduling, false);
    let mut pool = OpPool::new(32, 16, 1);
    let mut die = Die::new(0, 0);
    for (tag, &(kind, due, priority)) in (0..).zip(queued) {
        let at = PageAddress { die: 0, plane: 0, block: 0, page: 0 };
        let cause = if due { Cause::ReadReclaim } else { Cause::Host };
        let id = pool.add(Op { tag, due, priority, ..Op::new(kind, cause, Ppn(0), at, 0) }, &[]);
        let op = pool.get_mut(id);
        (op.sequence, op.line) = (u64::from(tag), by.line_of(op));
        die.queue(&mut pool, id, false);
    }
    let taken = std::iter::from_fn(|| {
        let id = die.take_next(&mut pool, &by);
        id.is_some().then(|| pool.get(id).tag)
    });
    taken.collect()
}

const READ: (OpKind, bool) = (OpKind::Read, false);
const PROGRAM: (OpKind, bool) = (OpKind::Program, false);
const ERASE: (OpKind, bool) = (OpKind::Erase, false);
const DUE_READ: (OpKind, bool) = (OpKind::Read, true);
const DUE_PROGRAM: (OpKind, bool) = (OpKind::Program, true);

#[test]
fn reads_pass_a_bounded_number_of_times() {
    // The first read is older than the program; two more pass it; then it is its turn.
    for reclaim in [ReclaimOrder::Urgent, ReclaimOrder::Background] {
        let found = order(reclaim, 1, &[READ, PROGRAM, READ, READ, READ, READ]);
        assert_eq!(found, [0, 2, 3, 1, 4, 5], "{reclaim:?}");
    }
}

#[test]
fn what_is_due_goes_between_reads() {
    let queued = [READ, READ, READ, PROGRAM, DUE_READ, DUE_PROGRAM, READ, READ];
    assert_eq!(order(ReclaimOrder::Background, 1, &queued), [0, 1, 2, 6, 7, 3, 4, 5]);
    assert_eq!(order(ReclaimOrder::Urgent, 3, &queued), [0, 1, 2, 3, 4, 5, 6, 7]);
    // The program, first in line, does not keep what is due waiting; nothing that is due waits for younger reads.
    assert_eq!(order(ReclaimOrder::Urgent, 2, &queued), [0, 1, 3, 2, 4, 5, 6, 7]);
    assert_eq!(order(ReclaimOrder::Urgent, 1, &queued), [0, 3, 1, 4, 2, 5, 6, 7]);
    // An erase still waits for older reads, which may be of its block.
    let queued = [READ, READ, ERASE, DUE_READ, READ];
    assert_eq!(order(ReclaimOrder::Urgent, 1, &queued), [0, 1, 2, 3, 4]);
}

fn reads(priorities: &[Priority]) -> Vec<(OpKind, bool, Priority)> {
    priorities.iter().map(|&priority| (OpKind::Read, false, priority)).collect()
}

#[test]
fn reads_go_by_priority_and_none_waits_for_ever() {
    use Priority::{High, Low, Medium};
    let queued = reads(&[Low, Medium, High, Medium, High, Low]);
    assert_eq!(order_by(true, ReclaimOrder::Urgent, 1, &queued), [2, 4, 1, 3, 0, 5]);
    assert_eq!(order_by(false, ReclaimOrder::Urgent, 1, &queued), [0, 1, 2, 3, 4, 5]);
    // Sixteen high ones in a row, then a low one, then the rest of the high ones, then the medium one.
    let queued = [reads(&[Low, Medium]), reads(&[High; 20])].concat();
    let expected: Vec<u32> = (2..18).chain([0]).chain(18..22).chain([1]).collect();
    assert_eq!(order_by(true, ReclaimOrder::Urgent, 1, &queued), expected);
}

#[test]
fn an_erase_waits_for_older_reads_of_every_priority() {
    use Priority::{High, Low, Medium};
    let others = |kind| (kind, false, Medium);
    // The low read may be of the block; the high one, which is younger, passes both.
    let queued = [reads(&[Low]), vec![others(OpKind::Erase)], reads(&[High])].concat();
    assert_eq!(order_by(true, ReclaimOrder::Urgent, 1, &queued), [2, 0, 1]);
}

/// Stopped after 300 of 1,000 ns with 250 of them kept, it goes on at 2,000: it has been at 300 again at 2,050.
#[test]
fn cells_show_the_farthest_that_an_operation_has_come() {
    let mut work = Progress::begun(SimTime(100), 1_000);
    assert_eq!((work.elapsed(SimTime(400)), work.shown()), (300, (0, SimTime(100))));
    work.suspend(300, 250);
    work.resume(SimTime(2_000), 20);
    assert_eq!((work.elapsed(SimTime(2_010)), work.floor_ns), (260, 320));
    assert_eq!((work.shown(), work.at(1_000)), ((300, SimTime(2_050)), SimTime(2_750)));
}

/// What a pressed die owes passes reads of the host's and what is read ahead, but for reads of the page that is to be
/// locked; and then an erase waits for what was read ahead of its block.
#[test]
fn a_pressed_die_reads_nothing_ahead() {
    let by = Precedence::new(&Scheduling { read_bypass_limit: 2, ..Scheduling::default() }, false);
    let (mut pool, mut die) = (OpPool::new(32, 16, 1), Die::new(0, 0));
    let queued = [
        (OpKind::Read, Cause::ReadAhead, (0, 0)),
        (OpKind::Read, Cause::ReadAhead, (0, 1)),
        (OpKind::Read, Cause::Host, (0, 2)),
        (OpKind::PageLock, Cause::Sanitize, (0, 1)),
        (OpKind::Read, Cause::ReadAhead, (0, 3)),
        (OpKind::Program, Cause::Cleaning, (2, 0)),
        (OpKind::Erase, Cause::Cleaning, (0, 0)),
    ];
    for (tag, (kind, cause, (block, page))) in (0..).zip(queued) {
        let at = PageAddress { die: 0, plane: 0, block, page };
        let id = pool.add(Op { tag, ..Op::new(kind, cause, Ppn(0), at, 0) }, &[]);
        let op = pool.get_mut(id);
        (op.sequence, op.line) = (u64::from(tag), by.line_of(op));
        die.queue(&mut pool, id, false);
    }
    die.pressed = true;
    let mut take = |die: &mut Die| {
        let id = die.take_next(&mut pool, &by);
        id.is_some().then(|| pool.get(id).tag)
    };
    assert_eq!([0; 3].map(|_| take(&mut die)), [Some(1), Some(3), Some(5)]);
    die.pressed = false;
    let rest: Vec<_> = std::iter::from_fn(|| take(&mut die)).collect();
    assert_eq!((rest.last(), rest.len()), (Some(&6), 4), "{rest:?}");
}
