//! Captures as files: what is written is read, and nothing else is taken for one.

use super::{Capture, CapturedFile, Event, MAGIC, Manner, Module, Op, Process, Stack, Totals, Writer, fold};
use ssd::rng::Rng;

/// A capture of random calls, made as a recorder makes one: tables grow while calls come.
fn random(seed: u64, calls: u32) -> (Vec<u8>, Capture) {
    let mut rng = Rng::named(seed, "capture");
    let mut made = Capture::default();
    let mut writer = Writer::new(Vec::new()).unwrap();
    let mut time_ns = 0;
    for _ in 0..calls {
        let grow = rng.below(8);
        if made.events.is_empty() || grow == 0 {
            let process = Process { name: format!("p{}", made.processes.len()) };
            writer.process(process.clone());
            made.processes.push(process);
        }
        if made.events.is_empty() || grow == 1 {
            let file = CapturedFile { size: u64::from(rng.below(1 << 20)), name: String::new() };
            writer.file(file.clone());
            made.files.push(file);
        }
        if made.events.is_empty() || grow == 2 {
            let module = Module { hash: rng.next_u64(), name: "m".into() };
            writer.module(module.clone());
            made.modules.push(module);
            let frame = |rng: &mut Rng| (rng.below(made.modules.len() as u32), u64::from(rng.below(1 << 24)));
            let frames = (0..1 + rng.below(20)).map(|_| frame(&mut rng)).collect();
            let stack = Stack { frames, is_whole: rng.below(9) > 0 };
            writer.stack(stack.clone());
            made.stacks.push(stack);
        }
        time_ns += u64::from(rng.below(1 << 20));
        let event = Event {
            time_ns,
            op: Op::ALL[rng.below(10) as usize],
            manner: Manner::ALL[rng.below(3) as usize],
            process: rng.below(made.processes.len() as u32),
            file: rng.below(made.files.len() as u32),
            // Also such as no program asks for.
            offset: if rng.below(50) == 0 { rng.next_u64() } else { rng.below(1 << 30).into() },
            size: if rng.below(50) == 0 { rng.next_u64() } else { rng.below(1 << 20).into() },
            stack: rng.below(made.stacks.len() as u32),
        };
        writer.event(&event).unwrap();
        made.events.push(event);
    }
    made.totals = Totals { duration_ns: time_ns, stops: u64::from(calls), cut: 3, ..Totals::default() };
    (writer.finish(made.totals).unwrap(), made)
}

fn message(bytes: &[u8]) -> String {
    Capture::read(bytes).unwrap_err().to_string()
}

#[test]
fn what_is_written_is_read() {
    // The last one in several blocks.
    for (seed, calls) in [(1, 0), (2, 1), (3, 1000), (4, 100_000)] {
        let (bytes, made) = random(seed, calls);
        let read = Capture::read(&bytes[..]).unwrap();
        assert_eq!(Capture { hash: 0, ..read.clone() }, made);
        assert_eq!(Capture::read(&random(seed, calls).0[..]).unwrap().hash, read.hash);
        assert_ne!(read.hash, Capture::read(&random(seed + 10, calls + 1).0[..]).unwrap().hash);
    }
}

#[test]
fn a_cut_capture_is_known_as_such() {
    let (bytes, _) = random(5, 300);
    for end in 1..bytes.len() {
        let message = message(&bytes[..end]);
        assert!(message.contains("it is truncated"), "{end} of {}: {message}", bytes.len());
    }
    assert!(Capture::read(&bytes[..]).is_ok());
}

/// Calls that are all alike are packed to nothing: how many there are is what counts.
#[test]
fn a_capture_takes_no_more_memory_than_it_may() {
    let alike = |calls: u32, names: u32, frames: usize| {
        let mut writer = Writer::new(Vec::new()).unwrap();
        (0..=names).for_each(|_| writer.process(Process::default()));
        writer.file(CapturedFile::default());
        writer.module(Module::default());
        writer.stack(Stack { frames: vec![(0, 0); frames], is_whole: true });
        let event = Event {
            time_ns: 0,
            op: Op::Fsync,
            manner: Manner::Cached,
            process: 0,
            file: 0,
            offset: 0,
            size: 0,
            stack: 0,
        };
        (0..calls).for_each(|_| writer.event(&event).unwrap());
        writer.finish(Totals::default()).unwrap()
    };
    for (calls, names, frames) in [(500_000, 0, 0), (0, 500_000, 0), (1, 0, 1_000_000)] {
        let bytes = alike(calls, names, frames);
        assert!(bytes.len() < 100_000, "{} bytes of {calls}, {names}, {frames}", bytes.len());
        let told = Capture::read_within(&bytes[..], 8_000_000).unwrap_err().to_string();
        assert!(
            told.contains("more than 8000000 bytes") && told.contains("allowed: up to 8000000"),
            "{told}"
        );
        assert!(Capture::read_within(&bytes[..], 100_000_000).is_ok(), "{calls}, {names}, {frames}");
    }
}

/// Long stacks make more blocks, not longer ones.
#[test]
fn a_block_is_short_whatever_its_stacks() {
    let mut writer = Writer::new(Vec::new()).unwrap();
    writer.process(Process::default());
    writer.file(CapturedFile::default());
    writer.module(Module::default());
    let frames = |number: u64| (0..30_000).map(|frame| (0, number << 40 | frame)).collect();
    for number in 0..200 {
        writer.stack(Stack { frames: frames(number), is_whole: true });
        let event = Event {
            time_ns: number,
            op: Op::Write,
            manner: Manner::Cached,
            process: 0,
            file: 0,
            offset: 0,
            size: 1,
            stack: number as u32,
        };
        writer.event(&event).unwrap();
    }
    let bytes = writer.finish(Totals::default()).unwrap();
    let read = Capture::read(&bytes[..]).unwrap();
    assert_eq!((read.events.len(), read.stacks[199].frames.clone()), (200, frames(199)));
}

#[test]
fn a_damaged_capture_is_an_error() {
    let (bytes, made) = random(6, 300);
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x41;
        // Some bits say how the packing was done, and not what was packed.
        if let Ok(read) = Capture::read(&damaged[..]) {
            assert!(Capture { hash: 0, ..read } == made, "byte {at}");
        }
    }
    let mut more = bytes;
    more.extend(random(6, 2).0);
    assert!(!message(&more).is_empty());
}

#[test]
fn foreign_files_and_other_versions_are_named() {
    let message = |bytes: &[u8]| message(bytes);
    let foreign = message(b"timestamp,op,offset,size\n");
    assert_eq!(
        foreign,
        "it is not a capture: it begins with \"timestam\"; allowed: \"wlcaptur\", as `wordline capture` writes"
    );
    assert!(message(b"").starts_with("it is not a capture"));
    assert!(
        message(b"\x28\xb5\x2f\xfd\0")
            .starts_with("it is not a capture: it begins with \"(\\xb5/\\xfd\\x00\"")
    );
    let (mut bytes, _) = random(7, 10);
    bytes[MAGIC.len()] = 9;
    assert_eq!(message(&bytes), "found version 9; allowed: 1; record it again");
}

/// Frames that a capture does not have would be looked up later, and are refused now.
#[test]
fn what_names_nothing_is_damage() {
    let stack = Stack { frames: vec![(1, 16)], is_whole: true };
    let event = Event {
        time_ns: 0,
        op: Op::Write,
        manner: Manner::Cached,
        process: 0,
        file: 0,
        offset: 0,
        size: 1,
        stack: 0,
    };
    let mut writer = Writer::new(Vec::new()).unwrap();
    writer.module(Module::default());
    writer.stack(stack);
    assert!(message(&writer.finish(Totals::default()).unwrap()).contains("damaged"));
    let mut writer = Writer::new(Vec::new()).unwrap();
    writer.process(Process::default());
    writer.event(&event).unwrap();
    assert!(message(&writer.finish(Totals::default()).unwrap()).contains("damaged"));
}

#[test]
fn contexts_by_hand() {
    let module = |hash| Module { hash, name: String::new() };
    let modules = [module(0xffff_ffff_0000_0000), module(2)];
    let stack = |frames: &[(u32, u64)]| Stack { frames: frames.to_vec(), is_whole: true };
    let sum = |frames: &[(u32, u64)]| stack(frames).sum(&modules);
    assert_eq!(sum(&[(0, 0x10), (1, 0x20)]), 0xffff_ffff_0000_0032);
    // It wraps.
    assert_eq!(sum(&[(0, 0), (0, 0)]), 0xffff_fffe_0000_0000);
    assert_eq!((fold(0xffff_ffff_0000_0032), fold(0), fold(0x1_0000_0001)), (0xffff_ffcd, 1, 1));
    let capture = Capture {
        modules: modules.to_vec(),
        // The first two have the same frames in another order: the same sum.
        stacks: vec![stack(&[(0, 1), (1, 2)]), stack(&[(1, 2), (0, 1)]), stack(&[(1, 7)])],
        ..Capture::default()
    };
    assert_eq!(capture.ambiguous(), 1);
}
