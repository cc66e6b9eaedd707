//! Captures as workloads, by hand and at random.

use super::{CaptureSpec, Course, Looked};
use crate::base::request::Request;
use crate::files::capture::{Capture, CapturedFile, Event, Manner, Module, Op, Process, Stack, fold};
use crate::files::out::{FIRST, JOURNAL};
use crate::stack::kind::Ready;
use ssd::rng::Rng;
use ssd::signals::OpCode;
use std::collections::HashSet;

/// A capture of calls on files of some sizes, from three stacks and two processes.
fn capture(sizes: &[u64], calls: &[(Op, u32, u64, u64)]) -> Capture {
    let event = |(at, &(op, file, offset, size)): (usize, &(Op, u32, u64, u64))| Event {
        time_ns: at as u64 * 1000,
        op,
        manner: Manner::Cached,
        process: at as u32 % 2,
        file,
        offset,
        size,
        stack: at as u32 % 3,
    };
    let stack = |address| Stack { frames: vec![(0, address)], is_whole: true };
    Capture {
        processes: vec![Process::default(); 2],
        files: sizes.iter().map(|&size| CapturedFile { size, name: String::new() }).collect(),
        modules: vec![Module { hash: 1000, name: String::new() }],
        stacks: vec![stack(1), stack(2), stack(3)],
        events: calls.iter().enumerate().map(event).collect(),
        ..Capture::default()
    }
}

fn looked(capture: Capture) -> Looked {
    Looked::new(CaptureSpec { journal_mib: 1, ..CaptureSpec::default() }, capture)
}

fn requests(capture: Capture) -> Vec<Request> {
    let looked = looked(capture);
    let mut source = looked.open(looked.space_sectors().unwrap()).unwrap();
    std::iter::from_fn(|| source.next().unwrap()).collect()
}

#[test]
fn calls_become_requests_by_hand() {
    let calls = [
        (Op::Write, 0, 0, 8192),
        (Op::Write, 0, 8192, 100),
        (Op::Fsync, 0, 0, 0),
        (Op::Write, 0, 4096, 4096),
        (Op::Fdatasync, 0, 0, 0),
        (Op::Unlink, 0, 0, 0),
    ];
    let all = requests(capture(&[0], &calls));
    let data: Vec<&Request> = all.iter().filter(|r| r.op == OpCode::Write && r.hints.file >= FIRST).collect();
    // Three pages in one request, then the one that was written again in its place.
    assert_eq!(data.iter().map(|r| r.sectors).collect::<Vec<_>>(), [24, 8]);
    assert_eq!(data[1].lba, data[0].lba + 8);
    // The first page's writer stands for the run; the other write was the fourth call, from the first stack again.
    assert_eq!((data[0].hints.process, data[0].hints.context), (FIRST, fold(1001)));
    assert_eq!((data[1].hints.process, data[1].hints.context), (FIRST + 1, fold(1001)));
    assert_eq!((data[0].arrival_ns, data[1].arrival_ns), (2000, 4000));
    // What it had is told to be free when that has committed.
    let trims: Vec<_> = all.iter().filter(|r| r.op == OpCode::Trim).map(|r| (r.lba, r.sectors)).collect();
    assert_eq!(trims, [(data[0].lba, 24)]);
    assert!(all.iter().any(|r| r.op == OpCode::Write && r.hints.file == JOURNAL));
    assert!(all.iter().any(|r| r.op == OpCode::Flush));
}

#[test]
fn what_was_deleted_in_time_is_never_written() {
    let calls =
        [(Op::Write, 0, 0, 40_000), (Op::Unlink, 0, 0, 0), (Op::Write, 1, 0, 4096), (Op::Sync, 0, 0, 0)];
    let all = requests(capture(&[0, 0], &calls));
    let data = all.iter().filter(|r| r.op == OpCode::Write && r.hints.file >= FIRST);
    assert_eq!(data.map(|r| r.sectors).collect::<Vec<_>>(), [8]);
}

#[test]
fn a_file_without_a_name_stays_until_its_last_write() {
    let calls =
        [(Op::Write, 0, 0, 4096), (Op::Unlink, 0, 0, 0), (Op::Write, 0, 4096, 4096), (Op::Fsync, 0, 0, 0)];
    let all = requests(capture(&[0], &calls));
    let data = all.iter().filter(|r| r.op == OpCode::Write && r.hints.file >= FIRST);
    assert_eq!(data.map(|r| r.sectors).sum::<u32>(), 16);
    assert_eq!(all.iter().filter(|r| r.op == OpCode::Trim).map(|r| r.sectors).sum::<u32>(), 16);
}

#[test]
fn files_of_the_start_are_there_and_are_not_written() {
    let calls = [(Op::Write, 0, 20_000, 5000), (Op::Sync, 0, 0, 0)];
    let all = requests(capture(&[1 << 20, 5000], &calls));
    let of = |op: OpCode| all.iter().filter(move |r| r.op == op && r.hints.file >= FIRST);
    // Of three pages the first and the last are written in part: the rest of them is read before.
    assert_eq!(of(OpCode::Write).map(|r| r.sectors).sum::<u32>(), 24);
    assert_eq!(of(OpCode::Read).map(|r| r.sectors).sum::<u32>(), 16);
    assert_eq!(of(OpCode::Write).next().unwrap().lba, of(OpCode::Read).next().unwrap().lba);
}

#[test]
fn the_space_is_what_files_need_at_a_time() {
    // Ten files one after the other need the room of one.
    let calls: Vec<_> = (0..10).flat_map(|f| [(Op::Write, f, 0, 1 << 20), (Op::Unlink, f, 0, 0)]).collect();
    let course = Course::of(&capture(&[0; 10], &calls));
    assert_eq!((course.pages, course.files), (256, 1));
    let calls = [(Op::Truncate, 0, 0, 10_000), (Op::Allocate, 1, 4096, 4096), (Op::Truncate, 0, 0, 0)];
    let course = Course::of(&capture(&[1, 0], &calls));
    assert_eq!((course.pages, course.files), (3 + 2, 2));
    let far = capture(&[0], &[(Op::Write, 0, 1 << 60, 1)]);
    let error = looked(far).open(1 << 40).err().unwrap().to_string();
    assert!(error.contains("far behind its end"), "{error}");
    let small = looked(capture(&[1 << 20], &[(Op::Write, 0, 0, 1)]));
    let error = small.open(1000).err().unwrap().to_string();
    assert!(error.contains("file system of the capture"), "{error}");
}

/// Random calls beside a plain account of which page of which file was written last when, and which are on the drive.
#[test]
fn nothing_is_lost_and_no_block_has_two_files() {
    for seed in 0..6 {
        let mut rng = Rng::named(seed, "captured");
        let mut all = capture(&[0, 300_000, 0, 4096, 1 << 20, 0, 77, 0], &[]);
        let mut unlinked = HashSet::new();
        for at in 0..6000u64 {
            let file = rng.below(8);
            let op = match rng.below(100) {
                0..60 => Op::Write,
                60..68 => Op::Fsync,
                68..72 => Op::WriteBack,
                72..80 => Op::Truncate,
                80..85 => Op::Allocate,
                85..88 => Op::Punch,
                88..90 => Op::Rename,
                90..91 => Op::Sync,
                91..92 if at > 3000 && unlinked.insert(file) => Op::Unlink,
                _ => Op::Fdatasync,
            };
            let offset = u64::from(rng.below(1 << 20));
            let size = if op == Op::Truncate {
                u64::from(rng.below(1 << 20))
            } else {
                1 + u64::from(rng.below(60_000))
            };
            let manner = Manner::ALL[rng.below(10).saturating_sub(7) as usize];
            let (process, stack) = (0, rng.below(3));
            all.events.push(Event {
                time_ns: at * 1_000_000,
                op,
                manner,
                process,
                file,
                offset,
                size,
                stack,
            });
        }
        let spec = CaptureSpec {
            journal_mib: 1,
            cache_mib: 1.0,
            plain_lru: seed % 2 == 0,
            ..CaptureSpec::default()
        };
        let looked = Looked::new(spec, all.clone());
        let mut replay = looked.replay(looked.space_sectors().unwrap()).unwrap();
        // Pages that wait, by file and page, as far as is known; blocks that were written, since when.
        let mut dirty: HashSet<(u32, u64)> = HashSet::new();
        for (at, event) in all.events.iter().enumerate() {
            assert!(replay.step());
            let of = |offset: u64, size: u64| offset / 4096..(offset + size).div_ceil(4096);
            match event.op {
                Op::Write => of(event.offset, event.size).for_each(|page| {
                    dirty.insert((event.file, page));
                }),
                Op::Truncate => {
                    dirty.retain(|&(file, page)| file != event.file || page < event.size.div_ceil(4096))
                }
                Op::Punch => {
                    let whole = event.offset.div_ceil(4096)..(event.offset + event.size).div_ceil(4096);
                    dirty.retain(|&(file, page)| file != event.file || !whole.contains(&page));
                }
                _ => {}
            }
            // What goes out are blocks of the files that there are now, or the file system's own.
            let mut owners = vec![None; (looked.space_sectors().unwrap() / 8) as usize];
            let looks = at % 16 == 0 || !replay.system.out.queue.is_empty();
            let slots = (0u32..).zip(&replay.slots).filter(|_| looks);
            for (file, slot) in slots.filter_map(|(file, slot)| Some((file, (*slot)?))) {
                let file_now = &replay.system.files[slot as usize];
                for (page, block) in (0u64..).zip(replay.system.blocks_of(file_now)) {
                    let owner = owners[block as usize].replace((file, page));
                    assert_eq!(owner, None, "seed {seed}: two files have a block");
                }
            }
            for request in replay.system.out.queue.drain(..) {
                if request.op == OpCode::Write && request.hints.file >= FIRST {
                    for block in request.lba / 8..request.end() / 8 {
                        if let Some(owner) = owners[block as usize] {
                            dirty.remove(&owner);
                        }
                    }
                }
            }
            if event.op == Op::Fsync || event.op == Op::Sync {
                let waits =
                    dirty.iter().filter(|(file, _)| event.op == Op::Sync || *file == event.file).count();
                assert_eq!(waits, 0, "seed {seed}, event {at}");
            }
            for (file, slot) in (0u32..).zip(&replay.slots) {
                if slot.is_none() {
                    dirty.retain(|&(other, _)| other != file);
                }
            }
        }
        assert_eq!(replay.system.refused, 0);
    }
}

/// Slots are counted by one look at the calls and taken by another: both must see the same files, whatever the calls
/// say, or a slot is missing. Numbers as no kernel gives them, as a capture that was made by hand may have them.
#[test]
fn any_calls_end_in_requests_or_in_an_error() {
    let mut served = 0;
    for seed in 0..400 {
        let mut rng = Rng::named(seed, "any-capture");
        let edge = |rng: &mut Rng| match rng.below(12) {
            0 => u64::MAX - u64::from(rng.below(4)) * 4096,
            1 => 1 << rng.below(64),
            2 => 0,
            _ => u64::from(rng.below(20_000)),
        };
        // Wild offsets and sizes where nothing is laid out by them, and now and then where it is.
        let is_wild = seed % 4 == 0;
        let files = 1 + rng.below(6);
        let sizes: Vec<u64> = (0..files)
            .map(|_| if is_wild { edge(&mut rng) } else { u64::from(rng.below(3)) * 5000 })
            .collect();
        let mut all = capture(&sizes, &[]);
        let mut time_ns = 0u64;
        for _ in 0..300 {
            let op = Op::ALL[rng.below(Op::ALL.len() as u32) as usize];
            let grows = matches!(op, Op::Write | Op::Truncate | Op::Allocate) && !is_wild;
            let number = |rng: &mut Rng| if grows { u64::from(rng.below(20_000)) } else { edge(rng) };
            let (offset, size) = (number(&mut rng), number(&mut rng));
            // Times go back, too.
            time_ns = if rng.below(8) == 0 { 0 } else { time_ns + u64::from(rng.below(1_000_000_000)) };
            let manner = Manner::ALL[rng.below(3) as usize];
            let (process, file, stack) = (rng.below(2), rng.below(files), rng.below(3));
            all.events.push(Event { time_ns, op, manner, process, file, offset, size, stack });
        }
        let looked = looked(all);
        let Ok(mut replay) = looked.replay(1 << 22) else { continue };
        let (mut most, mut last_ns) = (0, 0);
        while replay.step() {
            most = most.max(replay.slots.iter().flatten().count());
            for request in replay.system.out.queue.drain(..) {
                assert!(
                    request.end() <= 1 << 22 && request.arrival_ns >= last_ns,
                    "seed {seed}: {request:?}"
                );
                last_ns = request.arrival_ns;
            }
        }
        // None too few, and none too many.
        assert!(most <= looked.course.files as usize, "seed {seed}: {most} of {}", looked.course.files);
        served += 1;
    }
    assert!(served > 250, "{served}");
    let many = capture(&[u64::MAX; 5000], &[(Op::Write, 0, 0, 1), (Op::Truncate, 1, 0, 0)]);
    let error = looked(many).open(1 << 40).err().unwrap().to_string();
    assert!(error.contains("far behind its end"), "{error}");
}
