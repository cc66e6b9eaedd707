use super::*;
use crate::drive_config::DriveConfig;
use crate::flash::Room;
use crate::flash::op::{OpKind, OpTimes};
use crate::nand::{Chip, PageAddress};
use crate::units::Ppn;

const AT: PageAddress = PageAddress { die: 0, plane: 0, block: 0, page: 0 };

/// A bare flash, the time of a program on the channel and in the array, and that of a read until its data is there.
fn flash() -> (Flash, EventQueue, [u64; 3]) {
    let cfg = DriveConfig::default();
    let g = &cfg.geometry;
    let chip = Chip::new(g.planes(), g.blocks_per_plane, g.pages_per_block(), &cfg.reliability, 1);
    let policies = (crate::flash::read_voltage::Policy::build(&cfg.read_voltage), &cfg.preemption);
    let flash = Flash::new(&cfg, policies, chip, Room { host: 4, moves: 4 });
    let timing = &flash.dies.rules.timing;
    let op = |kind| Op::new(kind, Cause::Host, Ppn(0), AT, 0);
    let read = op(OpKind::Read);
    let read_ns = timing.in_ns(&read) + timing.array_ns(&read) + timing.out_ns(&read);
    let times = [timing.in_ns(&op(OpKind::Program)), timing.array_ns(&op(OpKind::Program)), read_ns];
    (flash, EventQueue::with_capacity(8), times)
}

fn give(flash: &mut Flash, events: &mut EventQueue, now: u64, kind: OpKind, page: u32) -> OpId {
    let op = Op::new(kind, Cause::Host, Ppn(0), PageAddress { page, ..AT }, 0);
    let id = flash.pool.add(op, &[]);
    flash.give(&[id], SimTime(now), events);
    id
}

/// All that happens: when each event was, and which operations were done then.
fn run(flash: &mut Flash, events: &mut EventQueue) -> Vec<(u64, Vec<OpId>)> {
    let mut all = Vec::new();
    while let Some((now, kind, id)) = events.pop() {
        flash.now = now;
        flash.on_event(kind, id, now, events);
        all.push((now.0, std::mem::take(&mut flash.done)));
    }
    all
}

#[test]
fn the_end_of_what_was_stopped_is_void() {
    let (mut flash, mut events, [sent_ns, array_ns, _]) = flash();
    let program = give(&mut flash, &mut events, 0, OpKind::Program, 0);
    let stopped = sent_ns + array_ns / 3;
    assert_eq!(flash.stop_array(0, SimTime(stopped), &mut events), 1);
    let (void, end) = (sent_ns + array_ns, stopped + sent_ns + array_ns);
    assert_eq!(run(&mut flash, &mut events), [(void, vec![]), (end, vec![program])]);
    let array = array_ns + array_ns / 3;
    let expected = OpTimes { transfer: 2 * sent_ns, array, ..OpTimes::default() };
    assert_eq!(flash.pool.spent(program).times, expected);
    assert_eq!(flash.counts_until(SimTime(end)).die_busy_ns[0], end);
    assert_eq!(flash.stop_array(0, SimTime(end), &mut events), 0, "nothing is left to stop");
}

#[test]
fn what_waits_may_go_before_what_was_stopped() {
    let (mut flash, mut events, [sent_ns, array_ns, read_ns]) = flash();
    let first = give(&mut flash, &mut events, 0, OpKind::Program, 0);
    assert_eq!(run(&mut flash, &mut events), [(sent_ns + array_ns, vec![first])]);
    let start = sent_ns + array_ns;
    let program = give(&mut flash, &mut events, start, OpKind::Program, 1);
    let stopped = start + sent_ns + array_ns / 2;
    let read = give(&mut flash, &mut events, stopped, OpKind::Read, 0);
    flash.stop_array(0, SimTime(stopped), &mut events);
    let done = run(&mut flash, &mut events);
    let done: Vec<_> = done.into_iter().filter(|(_, ids)| !ids.is_empty()).collect();
    let ends = [stopped + read_ns, stopped + read_ns + sent_ns + array_ns];
    assert_eq!(done, [(ends[0], vec![read]), (ends[1], vec![program])]);
    let times = flash.pool.spent(program).times;
    assert_eq!((times.die_wait, times.array), (read_ns, array_ns / 2 + array_ns));
}
