//! Workloads one after the other and at the same time, beside what one works out by hand.

use ssd::signals::OpCode;
use workload::{Played, Request, Source, Spec};

fn all(text: &str, drive_sectors: u64) -> Result<Vec<Request>, String> {
    let spec = Spec::parse(text).map_err(|error| error.to_string())?;
    let mut source = spec.open(drive_sectors).map_err(|error| error.to_string())?;
    let hint = source.len_hint();
    let mut out = Vec::new();
    while let Some(request) = source.next().map_err(|error| error.to_string())? {
        out.push(request);
    }
    assert!(hint.is_none_or(|hint| hint == out.len() as u64), "{hint:?} of {}: {text}", out.len());
    Ok(out)
}

const STEADY: &str = "pattern = 'sequential'\narrival = 'fixed'\nrate_iops = 1000\n";

#[test]
fn phases_follow_each_other_in_time_and_begin_again_until_their_limit() {
    let text = format!(
        "[[phases]]\n{STEADY}count = 3\nread_percent = 0\n\
         [[phases]]\n{STEADY}count = 2\nuntil_requests = 5\nread_percent = 100\nstream = 7\n\
         [[phases]]\n{STEADY}count = 2\nuntil_s = 0.0035\nread_percent = 0\n\
         [[phases]]\n{STEADY}count = 1\nread_percent = 100"
    );
    let requests = all(&text, 1 << 20).unwrap();
    let found: Vec<(u64, OpCode, u64, u16)> =
        requests.iter().map(|r| (r.arrival_ns / 1000, r.op, r.lba / 8, r.hints.stream)).collect();
    let (r, w) = (OpCode::Read, OpCode::Write);
    assert_eq!(
        found,
        [
            // Once through, then from its last request on: passes of two, a mean gap apart.
            (0, w, 0, 0),
            (1000, w, 1, 0),
            (2000, w, 2, 0),
            (2000, r, 0, 7),
            (3000, r, 1, 7),
            (4000, r, 0, 7),
            (5000, r, 1, 7),
            (6000, r, 0, 7),
            // 3.5 ms from 6 ms on; what follows begins at 9.5 ms.
            (6000, w, 0, 0),
            (7000, w, 1, 0),
            (8000, w, 0, 0),
            (9000, w, 1, 0),
            (9500, r, 0, 0),
        ]
    );
}

#[test]
fn limits_are_requests_bytes_seconds_and_drives_written_and_read() {
    let drive_sectors = 1 << 15;
    let count = |limit: &str, keys: &str| {
        all(&format!("[[phases]]\npattern = 'uniform'\ncount = 100\n{limit}\n{keys}"), drive_sectors)
            .unwrap()
            .len()
    };
    assert_eq!(count("until_requests = 777", ""), 777);
    // 16 MiB: 4096 requests of 4 KiB; half of it is 2048; a quarter of a drive of 16 MiB is 1024 writes.
    assert_eq!(count("until_gib = 0.0078125", "read_percent = 100"), 2048);
    assert_eq!(count("until_drive_writes = 0.25", "read_percent = 0"), 1024);
    assert_eq!(count("until_drive_writes = 0.25\nuntil_requests = 100", "read_percent = 0"), 100);
    assert_eq!(count("until_drive_reads = 0.25", "read_percent = 100"), 1024);
    let mixed = count("until_drive_reads = 0.25\nuntil_drive_writes = 0.25", "read_percent = 50");
    // One of the two is reached after 2048 on average; five standard deviations.
    assert!((1800..2048).contains(&mixed), "{mixed}");
    assert_eq!(count("until_s = 0.5", "arrival = 'fixed'\nrate_iops = 1000"), 500);
}

/// A generator within a limit goes on; one that says how many requests it makes begins again with the same.
#[test]
fn a_generator_within_a_limit_does_not_begin_again() {
    let drive_sectors = 1 << 31;
    let lbas = |keys: &str| -> Vec<u64> {
        let text = format!(
            "[[phases]]\npattern = 'uniform'\nread_percent = 100\nuntil_requests = 2_000_100\n{keys}"
        );
        all(&text, drive_sectors).unwrap().into_iter().map(|request| request.lba).collect()
    };
    let (own, again) = (lbas(""), lbas("count = 1_000_000"));
    assert_eq!((own.len(), again.len()), (2_000_100, 2_000_100));
    assert_eq!(own[..1_000_000], again[..1_000_000]);
    assert_eq!(again[..100], again[1_000_000..1_000_100]);
    assert_ne!(own[..100], own[1_000_000..1_000_100]);
}

#[test]
fn members_run_together_each_in_its_own_place() {
    let text = format!(
        "[[together]]\n{STEADY}count = 4\nspace_gib = 0.25\n\
         [[together]]\npattern = 'sequential'\narrival = 'fixed'\nrate_iops = 500\ncount = 2\nat_gib = 0.25\nstream = 2"
    );
    let requests = all(&text, 1 << 20).unwrap();
    let found: Vec<(u64, u64, u16)> =
        requests.iter().map(|r| (r.arrival_ns / 1000, r.lba / 8, r.hints.stream)).collect();
    let base = (1 << 19) / 8;
    assert_eq!(
        found,
        [(0, 0, 0), (0, base, 2), (1000, 1, 0), (2000, base + 1, 2), (2000, 2, 0), (3000, 3, 0)],
    );
    // Without times they take turns.
    let closed = "[[together]]\npattern = 'uniform'\ncount = 3\nstream = 1\n\
                  [[together]]\npattern = 'uniform'\ncount = 2\nstream = 2";
    let streams: Vec<u16> = all(closed, 1 << 20).unwrap().iter().map(|r| r.hints.stream).collect();
    assert_eq!(streams, [1, 2, 1, 2, 1]);
    // All kinds, and within each other.
    let nested = "[[phases]]\npreset = 'varmail'\nuntil_requests = 500\n\
                  [[phases]]\nuntil_requests = 300\ntogether = [{ preset = 'ads', until_requests = 200, at_gib = 1, \
                  footprint_percent = 50 }, { preset = 'webserver', space_gib = 1, count = 200 }]";
    let spec = Spec::parse(nested).unwrap();
    assert_eq!(spec.title(), "varmail, then ads + webserver");
    let text: String = spec.entries().iter().map(|(key, value)| format!("{key} = {value}\n")).collect();
    assert_eq!(Spec::parse(&text).unwrap(), spec);
    assert_eq!(all(nested, 1 << 22).unwrap().len(), 800);
}

/// The hottest pages of phases whose draws differ lie where they lie for all, and another seed moves both.
#[test]
fn seeds_of_phases_move_together_and_places_have_their_own() {
    let phase = |more: &str| {
        format!("[[phases]]\npattern = 'zipf'\nzipf_theta = 1.5\ncount = 4000\nread_percent = 100\n{more}\n")
    };
    let text =
        phase("seed = 1\nscatter_seed = 5") + &phase("seed = 2\nscatter_seed = 5") + &phase("seed = 2");
    let spec = Spec::parse(&text).unwrap();
    let hottest = |spec: &Spec| -> Vec<u64> {
        let mut source = spec.open(1 << 20).unwrap();
        let lbas: Vec<u64> = std::iter::from_fn(|| source.next().unwrap()).map(|r| r.lba).collect();
        assert_ne!(lbas[..4000], lbas[4000..8000]);
        let most = |lbas: &[u64]| {
            let times = |lba: u64| lbas.iter().filter(|&&other| other == lba).count();
            lbas.iter().copied().max_by_key(|&lba| (times(lba), lba)).unwrap()
        };
        lbas.chunks(4000).map(most).collect()
    };
    let one = hottest(&spec);
    assert!(one[0] == one[1] && one[1] != one[2], "{one:?}");
    let moved = |seed| {
        let mut spec = spec.clone();
        spec.set_seed(seed).unwrap();
        spec
    };
    assert_eq!(moved(1), spec);
    let two = hottest(&moved(2));
    assert!(two[0] == two[1] && two[0] != one[0], "{one:?} {two:?}");
    assert_ne!(moved(2).prepare().unwrap().workload_hash(), spec.prepare().unwrap().workload_hash());
    assert_eq!(spec.phase_names(), Some(vec!["zipf".to_string(); 3]));
    assert_eq!(Spec::parse("pattern = 'zipf'").unwrap().phase_names(), None);
}

#[test]
fn a_scrub_says_that_it_reads_once() {
    let text = "[[together]]\npattern = 'zipf'\ncount = 3\nread_percent = 100\n\
                [[together]]\npattern = 'sequential'\ncount = 3\nread_percent = 100\none_time = true";
    let found: Vec<bool> = all(text, 1 << 20).unwrap().iter().map(|r| r.hints.one_time).collect();
    assert_eq!(found, [false, true, false, true, false, true]);
    let hash = |text: &str| Spec::parse(text).unwrap().prepare().unwrap().workload_hash();
    assert_ne!(hash(text), hash(&text.replace("one_time = true", "")));
    assert_eq!(hash(&text.replace("true", "false")), hash(&text.replace("one_time = true", "")));
    assert!(all(&text.replace("true", "2"), 1 << 20).unwrap_err().contains("together[1].one_time"));
}

#[test]
fn endless_phases_and_members_over_the_drive_are_errors() {
    let cases = [
        ("phases = []", "workload.phases: found none, allowed: at least one"),
        ("phases = 3", "workload.phases: found 3, allowed: a list of tables"),
        ("[[phases]]\nname = 'x'", "workload.phases[0]: found none of a trace"),
        (
            "[[phases]]\npattern = 'zipf'\nuntil = 3",
            "workload.phases[0].until: unknown key, allowed: name, until_requests",
        ),
        ("[[phases]]\npattern = 'zipf'\nuntil_requets = 3", "(did you mean `until_requests`?)"),
        ("[[phases]]\npattern = 'zipf'\nuntil_s = -1", "workload.phases[0].until_s: found -1"),
        ("[[phases]]\npattern = 'zipf'\nuntil_s = 5", "workload.phases[0].until_s: found a time limit"),
        (
            "[[phases]]\npattern = 'zipf'\nread_percent = 100\nuntil_drive_writes = 1",
            "workload.phases[0]: found limits that a whole pass",
        ),
        (
            "[[together]]\npattern = 'zipf'\n[[together]]\npreset = 'ads'",
            "workload.together[1]: its requests have times, those of together[0] differ",
        ),
        (
            "[[together]]\npattern = 'zipf'\nspace_gib = 1",
            "workload.together[0].space_gib: found 1.0 GiB after",
        ),
        (
            "[[phases]]\npattern = 'zipf'\n[[phases]]\npreset = 'ads'\narrival = 'closed'",
            "needs 54525952 sectors",
        ),
        (
            "[[together]]\npattern = 'zipf'\n[[together]]\nphases = [{ jobs = 'x.fio' }]",
            "workload.together[1]: found fio jobs, which wait for their own requests",
        ),
        ("[[phases]]\npattern = 'zipf'\ndepth = 4", "workload.phases[0].depth: found a depth where none"),
        (
            "[[phases]]\njobs = 'x.fio'\ndepth = 4",
            "workload.phases[0].depth: found a depth where none is needed",
        ),
    ];
    for (text, says) in cases {
        let found = all(text, 1 << 20).err().unwrap_or_default();
        assert!(found.contains(says), "{text}\n  says: {found}\n  not:  {says}");
    }
}

#[test]
fn the_hash_knows_members_and_limits() {
    let hash = |text: &str| Spec::parse(text).unwrap().prepare().unwrap().workload_hash();
    let one = "[[phases]]\npattern = 'uniform'\nuntil_requests = 5\n";
    let mut hashes = [
        hash(one),
        hash(&one.replace("= 5", "= 6")),
        hash(&one.replace("uniform", "zipf")),
        hash(&format!("{one}{one}")),
        hash(&format!("{one}seed = 3")),
        hash(&one.replace("phases", "together")),
    ];
    assert_eq!(hash(one), hash(&format!("{one}name = 'first'")));
    hashes.sort_unstable();
    assert!(hashes.windows(2).all(|pair| pair[0] != pair[1]));
}

/// Phases of jobs without a drive, where each request takes 10 us.
#[test]
fn jobs_of_phases_stay_in_their_place_and_carry_its_hints() {
    let path = std::env::temp_dir().join(format!("wordline-phases-{}.fio", std::process::id()));
    let job = "[a]\nfilename=g\nsize=100m\nrw=randwrite\nnumber_ios=40\n[b]\nfilename=f\nsize=1m\nrw=read\n";
    std::fs::write(&path, job).unwrap();
    let text = format!(
        "[[phases]]\npattern = 'sequential'\ncount = 30\nspace_gib = 0.25\n\
         [[phases]]\njobs = {:?}\nat_gib = 0.25\nspace_gib = 0.125\nstream = 7\nuntil_requests = 400\n\
         [[phases]]\npattern = 'sequential'\narrival = 'fixed'\nrate_iops = 1000\ncount = 3\nuntil_s = 0.0025\n",
        path.display().to_string()
    );
    let spec = Spec::parse(&text).unwrap();
    assert!(spec.is_driven());
    let prepared = spec.prepare().unwrap();
    let mut played = Played::new(prepared.driven(1 << 20).unwrap().unwrap(), 10_000);
    let mut requests = Vec::new();
    while let Some((lane, request)) = played.next_of_lane().unwrap() {
        requests.push((played.now_ns(), lane, request));
    }
    let lanes: Vec<u32> = requests.iter().map(|(_, lane, _)| *lane).collect();
    assert_eq!((lanes.len(), &lanes[..30], &lanes[430..]), (433, &[0; 30][..], &[3; 3][..]));
    // 30 at once. Each pass has 40 writes and 256 reads of 4 KiB.
    assert!(requests[..30].iter().all(|(now, ..)| *now == 0), "{requests:?}");
    assert_eq!((requests[30].0, lanes[30..430].iter().filter(|lane| **lane == 1).count()), (10_000, 80));
    let (from, to) = (1 << 19, (1 << 19) + (1 << 18));
    for (_, _, request) in &requests[30..430] {
        assert!(request.lba >= from && request.end() <= to && request.hints.stream == 7, "{request:?}");
    }
    let far = requests[30..430].iter().map(|(_, _, request)| request.lba).max();
    assert!(far > Some(from + (1 << 17)), "{far:?}");
    // The last begins when the last request of the jobs has completed, and then keeps its times.
    let begin = requests[430].0;
    assert!(begin > requests[429].0 && begin <= requests[429].0 + 10_000, "{begin}");
    let times: Vec<u64> = requests[430..].iter().map(|(now, ..)| now - begin).collect();
    assert_eq!(times, [0, 1_000_000, 2_000_000]);
    // Each phase of requests lasts as long as it says.
    assert_eq!(played.now_ns() - begin, 2_500_000);
    // What is to be said of the jobs (here: direct=0 without a page cache) is said of their phase.
    let remarks = played.report().remarks();
    assert!(matches!(&remarks[..], [one] if one.starts_with("phases[1]: ")), "{remarks:?}");
    // As a stream of requests, too.
    let played = all(&text, 1 << 20).unwrap();
    let sent = |requests: &[Request]| -> Vec<u64> { requests.iter().map(|request| request.lba).collect() };
    let driven: Vec<Request> = requests.iter().map(|(_, _, request)| *request).collect();
    assert_eq!((sent(&played[..30]), played.len()), (sent(&driven[..30]), 433));
    std::fs::remove_file(&path).unwrap();
}

/// What ended a job of an earlier phase is told with its phase.
#[test]
fn jobs_that_a_limit_ends_are_told_with_their_phase() {
    let path = std::env::temp_dir().join(format!("wordline-phases-limit-{}.fio", std::process::id()));
    std::fs::write(&path, "[a]\ndirect=1\nsize=1m\nrw=read\nmax_latency=5us\n").unwrap();
    let text = format!(
        "[[phases]]\njobs = {:?}\n[[phases]]\npattern = 'sequential'\ncount = 3\n",
        path.display().to_string()
    );
    let prepared = Spec::parse(&text).unwrap().prepare().unwrap();
    let mut played = Played::new(prepared.driven(1 << 20).unwrap().unwrap(), 10_000);
    let count = std::iter::from_fn(|| played.next_of_lane().unwrap()).count();
    assert_eq!(count, 1 + 3, "the first request of the job takes 10 us");
    let told = played.report().remarks().join("; ");
    assert!(
        told.contains("phases[0]: job a ended at 0.000 s: a read took 10 us, max_latency is 5 us"),
        "{told}"
    );
    std::fs::remove_file(&path).unwrap();
}
