//! Jobs whose requests in flight decide what comes next: batches, overlaps, limits, targets, reads among writes.

use super::*;
use crate::base::driven::{Driven, Poll};
use crate::base::request::Request;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const MS: u64 = 1_000_000;

/// A request, when it was sent, and how many others were in flight.
struct Sent {
    request: Request,
    at: u64,
    others: usize,
}

/// Plays jobs with requests that take as long as `service` says, by number, request and how many are in flight.
fn play(text: &str, service: impl Fn(usize, &Request, usize) -> u64) -> (Vec<Sent>, Box<dyn Driven>) {
    let mut driven =
        load(text).and_then(|file| file.open(1 << 20, 1)).unwrap_or_else(|error| panic!("{text}: {error}"));
    let (mut sent, mut flight, mut now) = (Vec::new(), BinaryHeap::new(), 0);
    loop {
        let until = match driven.poll(now).unwrap() {
            Poll::Request { lane: mark, request } => {
                assert!(u64::from(mark) < driven.marks());
                let ends = now + service(sent.len(), &request, flight.len());
                sent.push(Sent { request, at: now, others: flight.len() });
                flight.push(Reverse((ends, sent.len(), mark)));
                continue;
            }
            Poll::Until(time) => time,
            Poll::Waiting => u64::MAX,
            Poll::End => return (sent, driven),
        };
        match flight.peek() {
            Some(&Reverse((time, _, mark))) if time <= until => {
                flight.pop();
                now = time;
                driven.completed(mark, now);
            }
            _ => now = until,
        }
    }
}

fn remarks(driven: &dyn Driven) -> String {
    driven.report().remarks().join("; ")
}

/// Times at which requests are sent, in ms, each taking 1 ms and all that are in flight one after the other.
fn times_in_turn(options: &str) -> Vec<u64> {
    let busy = std::cell::Cell::new(0);
    let (sent, _) = play(&format!("[a]\nsize=64k\nioengine=libaio\n{options}"), |_, _, in_flight| {
        // One after the other: each ends a millisecond after the one before it.
        busy.set(in_flight as u64);
        (in_flight as u64 + 1) * MS
    });
    sent.iter().map(|sent| sent.at / MS).collect()
}

#[test]
fn a_full_queue_is_filled_again_when_enough_has_completed() {
    // Sixteen requests, of which four are in flight.
    assert_eq!(times_in_turn("iodepth=4"), [0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    assert_eq!(times_in_turn("iodepth=4\niodepth_batch_complete=1"), times_in_turn("iodepth=4"));
    assert_eq!(times_in_turn("iodepth=4\niodepth_batch_complete_min=0"), times_in_turn("iodepth=4"));
    // Two at a time.
    let in_twos = [0, 0, 0, 0, 2, 2, 4, 4, 6, 6, 8, 8, 10, 10, 12, 12];
    assert_eq!(times_in_turn("iodepth=4\niodepth_batch_complete_min=2"), in_twos);
    assert_eq!(times_in_turn("iodepth=4\niodepth_low=2"), in_twos);
    // Three, and more than there are: all.
    assert_eq!(
        times_in_turn("iodepth=4\niodepth_batch_complete=3"),
        [0, 0, 0, 0, 3, 3, 3, 6, 6, 6, 9, 9, 9, 12, 12, 12]
    );
    let all = [0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12];
    assert_eq!(times_in_turn("iodepth=4\niodepth_batch_complete=9"), all);
    // Down to one in portions of two is down to none.
    assert_eq!(times_in_turn("iodepth=4\niodepth_low=1\niodepth_batch_complete=2"), all);
    assert_eq!(times_in_turn("iodepth=4\niodepth_batch=3"), times_in_turn("iodepth=4"));
}

#[test]
fn requests_that_overlap_wait_for_each_other() {
    let job = "[a]\nsize=64k\nrw=randwrite\nnorandommap\nbsrange=4k-16k\niodepth=8\nnumber_ios=400\nio_size=64m\n\
               blockalign=4k\nioengine=libaio\n";
    // What meets: pairs of requests that were in flight together and overlap.
    let meets = |options: &str| {
        let (sent, _) = play(&format!("{job}{options}"), |number, _, _| (1 + number as u64 % 5) * MS);
        let ends = |number: usize| sent[number].at + (1 + number as u64 % 5) * MS;
        let mut pairs = 0;
        for (number, one) in sent.iter().enumerate() {
            for (other, two) in sent[..number].iter().enumerate() {
                let together = ends(other) > one.at;
                let (one, two) = (&one.request, &two.request);
                pairs += usize::from(together && one.lba < two.end() && two.lba < one.end());
            }
        }
        (
            sent.len(),
            pairs,
            sent.iter().map(|sent| (sent.request.lba, sent.request.sectors)).collect::<Vec<_>>(),
        )
    };
    let (count, pairs, order) = meets("");
    assert!(count == 400 && pairs > 100, "{count} {pairs}");
    let (count, pairs, serial) = meets("serialize_overlap=1");
    assert_eq!((count, pairs), (400, 0));
    assert_eq!(order, serial, "the same requests in the same order");
}

#[test]
fn a_latency_above_the_limit_ends_a_job() {
    let slow = |options: &str| {
        let text = format!("[a]\nsize=1m\nrw=rw\nrwmixread=50\n{options}\n[b]\nsize=400k\nrw=read\n");
        let (sent, driven) = play(&text, |number, request, _| match request.op {
            OpCode::Write if number > 40 => 6 * MS,
            _ => MS,
        });
        let of_b = sent.iter().filter(|sent| sent.request.lba >= 2048).count();
        (sent.len() - of_b, of_b, remarks(&*driven))
    };
    let (all, b, told) = slow("");
    assert!(all == 256 && b == 100 && !told.contains("ended at"), "{all} {b} {told}");
    // In flight is one at a time: the first write behind the fortieth request is the last of the job.
    let (ended, b, told) = slow("max_latency=5ms");
    assert!(ended < 40 && b == 100, "{ended} {b}");
    assert!(
        told.contains("job a ended at") && told.contains("a write took 6000 us, max_latency is 5000 us"),
        "{told}"
    );
    assert_eq!(slow("max_latency=5ms,7ms").0, 256, "writes may take so long");
    let (_, b, _) = slow("max_latency=5ms\nexitall_on_error");
    assert!(b < 40, "{b}");
}

#[test]
fn a_rate_below_the_least_ends_a_job() {
    // 250 requests a second, from the fifth second on 100.
    let ends = |options: &str| {
        let text = format!("[a]\nsize=64m\nnumber_ios=3000\nrw=read\n{options}\n");
        let (sent, driven) = play(&text, |number, _, _| if number < 1250 { 4 * MS } else { 10 * MS });
        (sent.last().unwrap().at / MS, remarks(&*driven))
    };
    assert_eq!(ends("").0, 1250 * 4 + 1749 * 10);
    // The first look is at 2 s; each full second counts. The one from 5 s on has 100 requests.
    let (ms, told) = ends("rate_iops_min=200");
    assert!((5_990..=6_020).contains(&ms), "{ms}");
    assert!(
        told.contains("100 IOPS of reads, 200 is the least") || told.contains("99 IOPS of reads"),
        "{told}"
    );
    assert_eq!(ends("rate_iops_min=90").0, ends("").0);
    let (ms, told) = ends("rate_min=700k");
    assert!(
        (5_990..=6_020).contains(&ms) && told.contains("bytes/s of reads, 716800 is the least"),
        "{ms} {told}"
    );
    // A cycle of two seconds: from 4 to 6 s it is 350 requests, and from 6 to 8 s 200.
    let (ms, _) = ends("rate_iops_min=150\nrate_cycle=2000");
    assert!((7_990..=8_040).contains(&ms), "{ms}");
    // In the warm-up nothing is looked at.
    let (ms, _) = ends("rate_iops_min=200\nramp_time=8");
    assert!((8_990..=9_030).contains(&ms), "{ms}");
}

#[test]
fn the_depth_is_searched_that_keeps_a_latency() {
    // A request takes as many milliseconds as there are in flight with it.
    let search = |options: &str| {
        let text = format!(
            "[a]\nsize=1m\nrw=randread\nnorandommap\ntime_based\nruntime=600\niodepth=64\nioengine=libaio\n\
             latency_target=10500\nlatency_window=500ms\n{options}\n"
        );
        let (sent, driven) = play(&text, |_, _, others| (others as u64 + 1) * MS);
        let last = sent.iter().rev().take(50).map(|sent| sent.others + 1).max().unwrap();
        (sent.last().unwrap().at / (1_000 * MS), last, remarks(&*driven))
    };
    // 1, 2, 4, 8; 16 is too many; then between 8 and 16. Ten of them take 10 ms at most.
    let (seconds, depth, told) = search("");
    assert_eq!(depth, 10, "{told}");
    assert!(
        seconds < 30 && told.contains("10 requests in flight keep latency_target, 10500 us"),
        "{seconds} {told}"
    );
    let (seconds, ..) = search("latency_run=1");
    assert!(seconds >= 599, "{seconds}");
    let (_, _, told) = search("latency_target=500");
    assert!(told.contains("one request at a time took longer than latency_target, 500 us"), "{told}");
    // Where only some have to keep it, more may be in flight.
    let (.., told) = search("latency_percentile=50");
    let found: u64 =
        told.split(" requests in flight keep").next().unwrap().rsplit(' ').next().unwrap().parse().unwrap();
    assert!(found >= 10, "{told}");
}

#[test]
fn a_rate_that_is_steady_ends_its_jobs() {
    // The first two seconds are slower.
    let play = |options: &str| {
        let text = format!(
            "[global]\nsize=1m\nrw=read\ntime_based\nruntime=100\nss=iops:5%\nss_dur=4\n{options}\n[a]\n[b]\nnumjobs=2\n"
        );
        let (sent, driven) = play(&text, |number, _, _| if number < 600 { 10 * MS } else { 5 * MS });
        (sent.last().unwrap().at / MS, remarks(&*driven))
    };
    // 100 a second for each of three jobs until 2 s, then 200: four seconds from the third on, that is at 6 s.
    let (ms, told) = play("");
    assert!((5_990..=6_010).contains(&ms) && told.contains("job a ended at 6.0"), "{ms} {told}");
    let (ms, told) = play("group_reporting");
    assert!((5_990..=6_010).contains(&ms), "{ms} {told}");
    let (ms, _) = play("ss_ramp=3");
    assert!((6_990..=8_010).contains(&ms), "{ms}");
    let (ms, _) = play("ss_dur=0");
    assert!(ms >= 99_900, "nothing is looked for: {ms}");
}

#[test]
fn what_was_written_is_read_back_among_the_writes() {
    let order = |options: &str| {
        let (sent, _) =
            play(&format!("[a]\nbs=4k\nverify=md5\n{options}\n"), |_, _, others| MS + others as u64);
        let name = |sent: &Sent| match sent.request.op {
            OpCode::Write => format!("w{}", sent.request.lba / 8),
            OpCode::Read => format!("r{}", sent.request.lba / 8),
            _ => "f".to_owned(),
        };
        sent.iter().map(name).collect::<Vec<_>>().join(" ")
    };
    // As fio 3.33 logs it, but for the flush before the reads at the end, which its log leaves out.
    assert_eq!(
        order("rw=write\nsize=32k\nverify_backlog=3"),
        "w0 w1 w2 r0 r1 r2 w3 w4 w5 r3 r4 r5 w6 w7 f r6 r7"
    );
    assert_eq!(
        order("rw=write\nsize=48k\nverify_backlog=4\nverify_backlog_batch=2"),
        "w0 w1 w2 w3 r0 r1 w4 w5 r2 r3 w6 w7 r4 r5 w8 w9 r6 r7 w10 w11 f r8 r9 r10 r11"
    );
    assert_eq!(
        order("rw=write\nsize=48k\nverify_backlog=2\nverify_backlog_batch=3"),
        "w0 w1 r0 r1 w2 r2 w3 w4 r3 r4 w5 r5 w6 w7 r6 r7 w8 r8 w9 w10 r9 r10 w11 f r11"
    );
    assert_eq!(
        order("rw=write\nsize=32k\nfsync=2\nverify_backlog=2"),
        "w0 w1 r0 r1 f w2 w3 r2 r3 f w4 w5 r4 r5 f w6 w7 f r6 r7"
    );
    // io_size counts what is read back, and so do number_ios; loops multiply them.
    assert_eq!(order("rw=write\nsize=32k\nio_size=16k"), "w0 w1 w2 w3 f r0 r1 r2 r3");
    let pass = "w0 w1 w2 w3 w4 w5 w6 w7 f r0 r1 r2 r3 r4 r5 r6 r7";
    for options in ["io_size=64k", "io_size=48k", "io_size=16k\nloops=2", "loops=2\nnumber_ios=5"] {
        assert_eq!(order(&format!("rw=write\nsize=32k\n{options}")), pass, "{options}");
    }
    // A write in flight is not read: with four in flight the first is, when it has completed.
    let deep = order("rw=write\nsize=64k\nverify_backlog=2\niodepth=4\nioengine=libaio");
    let place = |what: &str| deep.split(' ').position(|name| name == what).unwrap();
    assert!((0..16).all(|block| place(&format!("w{block}")) < place(&format!("r{block}"))), "{deep}");
    // What is read as fast as it is written takes no memory for all of it.
    load("[a]\nsize=64t\nbs=64k\nrw=write\nverify=md5\nverify_backlog=64\n")
        .unwrap()
        .open(1 << 40, 1)
        .unwrap();
    let text = "[a]\nsize=64t\nbs=64k\nrw=write\nverify=md5\nverify_backlog=64\nverify_backlog_batch=8\n";
    let error = load(text).unwrap().open(1 << 40, 1).err().unwrap().to_string();
    assert!(error.contains("verify: more than 1024 MiB for what is read back"), "{error}");
    // A job that ends by time reads among its writes as well.
    let timed = order("rw=write\nsize=32k\nverify_backlog=2\ntime_based\nruntime=20ms");
    assert!(timed.starts_with("w0 w1 r0 r1 w2 w3") && timed.split(' ').count() > 15, "{timed}");
}

#[test]
fn pauses_come_by_time_and_are_caught_up_on_or_not() {
    let times = |options: &str| {
        let (sent, _) = play(&format!("[a]\nsize=4m\nnumber_ios=60\n{options}\n"), |_, _, _| MS);
        sent.iter().map(|sent| sent.at / MS).collect::<Vec<_>>()
    };
    // 10 ms of requests and 5 of pause; the first time 15 ms, as in fio.
    let by_time = times("thinktime=5ms\nthinktime_iotime=10ms");
    let gaps: Vec<(u64, u64)> =
        by_time.windows(2).filter(|pair| pair[1] - pair[0] > 1).map(|pair| (pair[0], pair[1])).collect();
    assert_eq!(gaps[..3], [(15, 21), (30, 36), (45, 51)]);
    let both = times("thinktime=5ms\nthinktime_iotime=10ms\nthinktime_blocks=4");
    assert_eq!(both[..6], [0, 1, 2, 3, 9, 10], "requests count if their number is said");
    // 4 KiB each 2 ms, a pause of 20 ms after five: caught up on at once, or not at all.
    let rated = "rate=2048000\nthinktime=20ms\nthinktime_blocks=5\nthinktime_blocks_type=issue";
    let caught_up = times(rated);
    assert_eq!(caught_up[..8], [0, 2, 4, 6, 8, 29, 30, 31]);
    let forgiven = times(&format!("{rated}\nrate_ignore_thinktime=1"));
    assert_eq!(forgiven[..8], [0, 2, 4, 6, 8, 29, 30, 32]);
}

#[test]
fn sizes_go_by_order_or_by_sectors() {
    let sizes = |options: &str| {
        let (sent, _) = play(&format!("[a]\nsize=16m\nnumber_ios=2000\n{options}\n"), |_, _, _| MS);
        sent.iter().map(|sent| u64::from(sent.request.sectors) * 512).collect::<Vec<_>>()
    };
    let by_order =
        |rw: &str| sizes(&format!("rw={rw}\nnorandommap\nblockalign=16k\nbs=4k,16k\nbs_is_seq_rand=1"));
    assert!(by_order("write").iter().all(|size| *size == 4096));
    assert!(by_order("randread").iter().all(|size| *size == 16384));
    let mixed = by_order("randread\npercentage_random=50");
    let random = mixed.iter().filter(|size| **size == 16384).count() as f64 / mixed.len() as f64;
    assert!((random - 0.5).abs() < 0.05, "{random}");
    let any = sizes("rw=randread\nnorandommap\nbsrange=4k-8k\nbs_unaligned=1");
    assert!(any.iter().all(|size| (4096..=8192).contains(size)));
    // Half of what is drawn is beyond the largest.
    let largest = any.iter().filter(|size| **size == 8192).count() as f64 / any.len() as f64;
    assert!((largest - 0.5).abs() < 0.05 && any.iter().collect::<BTreeSet<_>>().len() == 9, "{largest}");
}

#[test]
fn priorities_go_by_sizes() {
    let text = "[a]\nsize=64m\nrw=randread\nnorandommap\nioengine=libaio\nbssplit=4k/50:64k/50\ncmdprio_class=2\n\
                cmdprio_bssplit=64k/20:4k/25/1/1:4k/50/3/2\n";
    let (sent, _) = play(text, |_, _, _| MS);
    let share = |sectors: u32, class: u8| {
        let of: Vec<u8> =
            sent.iter().filter(|s| s.request.sectors == sectors).map(|s| s.request.hints.priority).collect();
        of.iter().filter(|priority| **priority == class).count() as f64 / of.len() as f64
    };
    for (sectors, class, expected) in [(128, 2, 0.2), (128, 0, 0.8), (8, 3, 0.25), (8, 1, 0.5), (8, 0, 0.25)]
    {
        let found = share(sectors, class);
        assert!((found - expected).abs() < 0.06, "{sectors} sectors, class {class}: {found}");
    }
}
