//! The file system beside what can be seen from outside: who owns which block, and in which order requests come.

use super::load::Load;
use super::out::{FIRST, JOURNAL, METADATA};
use crate::base::request::{PAGE_BYTES, Request};
use crate::spec::kinds::Spec;
use ssd::signals::OpCode;
use std::collections::BTreeSet;

const MAIL: &str = "steps = ['delete', 'create append fsync', 'pick read append fsync', 'pick read']";
const SERVER: &str = "steps = ['create write', 'pick append rename', 'pick read', 'delete', 'pick truncate']\n\
                      mean_kib = 96\ndirectory_files = 20";

/// On 48 MiB, with a small journal.
fn load(text: &str) -> Load {
    let text = format!("{text}\njournal_mib = 1\nfootprint_gib = 0.046875\nprocesses = 3");
    let Spec::Files(spec) = Spec::parse(&text).unwrap() else { panic!("no files: {text}") };
    Load::new(&spec, 1 << 20).unwrap()
}

/// The requests of the next operation that has any.
fn step(load: &mut Load) -> Vec<Request> {
    let mut out = Vec::new();
    load.operate();
    while let Some(request) = load.system.out.queue.pop_front() {
        out.push(request);
    }
    out
}

fn blocks(request: &Request) -> std::ops::Range<u64> {
    assert!(request.lba.is_multiple_of(8) && request.sectors.is_multiple_of(8), "{request:?}");
    request.lba / 8..request.end() / 8
}

/// For each block the file it is in, and as which of its pages; (0, 0) for none. No block is in two files.
fn owners(load: &Load) -> Vec<(u32, u32)> {
    let mut owners = vec![(0, 0); 1 << 14];
    for file in &load.system.files {
        for (page, block) in (0..).zip(load.system.blocks_of(file)) {
            let before = std::mem::replace(&mut owners[block as usize], (file.id, page));
            assert_eq!(before.0, 0, "block {block} is in two files, one of them {}", file.id);
        }
    }
    owners
}

/// What is seen from outside of a file system whose frees are told at once.
struct Watch {
    owners: Vec<(u32, u32)>,
    /// Blocks that have left a file since the last commit.
    left: BTreeSet<usize>,
    commits: u64,
    trimmed: u64,
    read: u64,
}

impl Watch {
    fn see(&mut self, load: &Load, requests: &[Request]) {
        let now = owners(load);
        let mut was_commit = false;
        for request in requests {
            let file = request.hints.file;
            let is_trim = request.op == OpCode::Trim;
            assert!(!is_trim || was_commit, "a trim that does not follow a commit");
            was_commit = is_trim || file == JOURNAL && request.fua;
            if file == JOURNAL && request.fua {
                self.commits += 1;
                self.left.clear();
            }
            if request.op == OpCode::Read {
                assert!(file >= FIRST);
                self.read += u64::from(request.sectors / 8);
            }
            for block in blocks(request).map(|block| block as usize) {
                let is_of = |owners: &[(u32, u32)]| owners[block].0 == file;
                if is_trim {
                    let is_kept = now[block].0 != 0 && now[block] == self.owners[block];
                    assert!(!is_kept, "block {block} is in a file and trimmed");
                    self.trimmed += 1;
                } else if file >= FIRST {
                    assert!(is_of(&now) || is_of(&self.owners), "block {block} is not the file's");
                    let is_again = request.op == OpCode::Write && self.left.contains(&block);
                    assert!(!is_again, "block {block} is used again before a commit");
                } else {
                    assert!((now[block].0, self.owners[block].0) == (0, 0), "block {block} is a file's");
                    assert!([JOURNAL, METADATA].contains(&file));
                }
            }
        }
        // What this operation took from a file; if it has committed, the commit may have been before that.
        if requests.iter().all(|request| !request.fua) {
            let gone = |block: &usize| self.owners[*block].0 != 0 && now[*block] != self.owners[*block];
            self.left.extend((0..now.len()).filter(gone));
        }
        let reused = self.left.iter().find(|&&block| now[block].0 != 0);
        assert_eq!(reused, None, "a block is in a file again before a commit");
        self.owners = now;
    }
}

/// Before the first operation the drive is told of all blocks that are free, and of no others.
fn check_start(load: &mut Load, owners: &[(u32, u32)]) {
    let mut is_trimmed = vec![false; load.system.all_blocks() as usize];
    for request in std::mem::take(&mut load.system.out.queue) {
        assert_eq!((request.op, request.arrival_ns), (OpCode::Trim, 0));
        blocks(&request).for_each(|block| assert!(!std::mem::replace(&mut is_trimmed[block as usize], true)));
    }
    let first = owners.iter().position(|owner| owner.0 != 0).unwrap();
    for (block, is_trimmed) in is_trimmed.into_iter().enumerate() {
        assert_eq!(is_trimmed, block >= first && owners[block].0 == 0, "block {block}");
    }
}

#[test]
fn no_block_is_in_two_files_or_used_again_before_a_commit() {
    let cases = [
        (MAIL, "fill_percent = 30\ncommit_s = 0.05"),
        (MAIL, "fill_percent = 90\nfiles_at_start_percent = 95"),
        (SERVER, "fill_percent = 50\ncache_mib = 1\nops_per_s = 50"),
        (SERVER, "fill_percent = 93\nops_per_s = 100"),
        (SERVER, "fill_percent = 60\nalign_kib = 16\nplain_lru = true\ncache_mib = 4\nops_per_s = 40"),
    ];
    for (steps, keys) in cases {
        let mut load = load(&format!("{steps}\n{keys}"));
        let owners = owners(&load);
        check_start(&mut load, &owners);
        let mut watch = Watch { owners, left: BTreeSet::new(), commits: 0, trimmed: 0, read: 0 };
        for _ in 0..4_000 {
            let requests = step(&mut load);
            watch.see(&load, &requests);
        }
        let Watch { commits, trimmed, read, .. } = watch;
        assert!(commits > 10 && trimmed > 500 && read > 500, "{keys}: {commits}, {trimmed}, {read}");
    }
}

#[test]
fn a_commit_is_metadata_then_a_flush_then_a_block_with_fua() {
    let mut load = load(&format!("{MAIL}\ncommit_s = 0.05"));
    let ring = load.system.journal_blocks();
    let mut requests: Vec<Request> = Vec::new();
    (0..5_000).for_each(|_| requests.extend(step(&mut load)));
    let journal = |request: &Request| request.hints.file == JOURNAL && request.op == OpCode::Write;
    let (mut head, mut rounds) = (ring.start + 1, 0);
    for (i, request) in requests.iter().enumerate().filter(|(_, request)| journal(request)) {
        let blocks = blocks(request);
        if blocks.start == u64::from(ring.start) {
            // Its superblock, when all metadata has gone home and is durable.
            assert!(request.fua && requests[i - 1].op == OpCode::Flush);
            continue;
        }
        assert_eq!(blocks.start, u64::from(head), "the journal is written in a ring");
        head = blocks.end as u32;
        assert!(head <= ring.end());
        if head == ring.end() {
            (head, rounds) = (ring.start + 1, rounds + 1);
        }
        if request.fua {
            assert_eq!((blocks.count(), requests[i - 1].op), (1, OpCode::Flush));
            assert!(journal(&requests[i - 2]) && !requests[i - 2].fua);
        }
    }
    assert!(rounds > 2, "{rounds} rounds of the ring");
    // Metadata goes home only from the ring: not more of it than was in there.
    let bytes = |wanted: &dyn Fn(&Request) -> bool| {
        requests.iter().filter(|r| wanted(r)).map(Request::bytes).sum::<u64>()
    };
    let (in_journal, at_home) = (bytes(&|r| journal(r)), bytes(&|r| r.hints.file == METADATA));
    assert!(at_home > 0 && at_home < in_journal, "{at_home} of {in_journal} bytes");
}

#[test]
fn what_is_synced_is_on_the_drive_and_what_dies_dirty_never_is() {
    let mut load =
        load("steps = ['create append fsync']\nfill_percent = 5\nops_per_s = 10\nfiles_at_start_percent = 5");
    for _ in 0..600 {
        let requests = step(&mut load);
        if requests.iter().any(|r| r.fua && r.hints.file == JOURNAL) {
            let synced: BTreeSet<u32> =
                requests.iter().map(|r| r.hints.file).filter(|&f| f >= FIRST).collect();
            for file in load.system.files.iter().filter(|file| synced.contains(&file.id)) {
                assert_eq!(load.system.blocks_of(file).len() as u64, file.bytes.div_ceil(PAGE_BYTES));
            }
        }
    }
    // Files that live for less than their data may stay dirty are never written.
    let mut load = self::load(
        "steps = ['create append delete']\nfill_percent = 1\nfiles_at_start_percent = 100\nops_per_s = 1000\ncache_mib = 64",
    );
    load.live.clear();
    load.empty = (0..30).collect();
    let requests: Vec<Request> = (0..20_000).flat_map(|_| step(&mut load)).collect();
    assert!(requests.iter().any(|r| r.hints.file == JOURNAL));
    assert!(requests.iter().all(|r| r.hints.file < FIRST), "data of a file that is no more");
}

#[test]
fn a_database_writes_twice_and_redo_before_data() {
    let text = "steps = ['point * 4', 'update * 2', 'delete_row insert_row commit']\nfiles = 2\nfill_percent = 50\n\
                redo_mib = 4\ncache_percent = 20";
    let mut load = load(text);
    let mut requests: Vec<Request> = Vec::new();
    (0..60_000).for_each(|_| requests.extend(step(&mut load)));
    let (tables, double) = ([FIRST, FIRST + 1], super::out::DOUBLEWRITE);
    let is_table = |r: &&Request| tables.contains(&r.hints.file);
    let bytes =
        |wanted: &dyn Fn(&&Request) -> bool| requests.iter().filter(wanted).map(Request::bytes).sum::<u64>();
    let in_place = bytes(&|r| is_table(r) && r.op == OpCode::Write);
    assert!(in_place > 1 << 20);
    assert_eq!(in_place, bytes(&|r| r.hints.file == double), "each page once to each place");
    // A batch: redo, flush, doublewrite, flush, pages in place, flush.
    for (i, request) in requests.iter().enumerate().filter(|(_, r)| r.hints.file == double) {
        if requests[i - 1].hints.file != double {
            assert_eq!(requests[i - 1].op, OpCode::Flush, "redo is durable before data");
        }
        let next = requests[i..].iter().find(|r| r.hints.file != double);
        assert!(
            next.is_none_or(|r| r.op == OpCode::Flush),
            "the copy is durable before the page: {request:?}"
        );
    }
}

#[test]
fn same_seed_same_requests() {
    for steps in [MAIL, SERVER] {
        let run = |seed: u64| {
            let text = format!(
                "{steps}\nseed = {seed}\nfootprint_gib = 0.25\njournal_mib = 4\ncount = 20000\nsecure_percent = 30"
            );
            let mut source = Spec::parse(&text).unwrap().open(1 << 20).unwrap();
            let mut all = Vec::new();
            while let Some(request) = source.next().unwrap() {
                all.push(request);
            }
            all
        };
        let one = run(1);
        assert_eq!(one.len(), 20_000);
        assert!(one == run(1) && one != run(2));
        assert!(one.windows(2).all(|pair| pair[0].arrival_ns <= pair[1].arrival_ns));
        let data: Vec<&Request> = one.iter().filter(|r| r.hints.file >= FIRST).collect();
        let secure = data.iter().filter(|r| r.hints.class == 2).count() as f64 / data.len() as f64;
        assert!((secure - 0.3).abs() < 0.1, "{secure} of the requests are to secure files");
        assert!(data.iter().all(|r| r.hints.process >= FIRST && r.hints.context >= FIRST));
    }
}

#[test]
fn files_over_the_drive_and_loops_without_requests_are_errors() {
    let wrong = |text: &str, drive_sectors: u64| {
        let mut source = Spec::parse(text).and_then(|spec| spec.open(drive_sectors));
        loop {
            match source.as_mut().map(|source| source.next()) {
                Err(error) => return error.to_string(),
                Ok(Err(error)) => return error.to_string(),
                Ok(Ok(Some(_))) => {}
                Ok(Ok(None)) => return String::new(),
            }
        }
    };
    let small = "footprint_gib = 0.25\njournal_mib = 4";
    let cases = [
        (format!("{SERVER}\n{small}\nfill_percent = 98"), "the workload's files needs"),
        (MAIL.to_string() + "\nfootprint_gib = 8", "the file system's footprint_gib needs"),
        (MAIL.to_string() + "\nfootprint_gib = 0.1", "a smaller journal_mib"),
        (format!("{MAIL}\n{small}\nmean_kib = 1"), "workload.bytes_per_inode: found 16384, for"),
        (format!("steps = ['pick read']\n{small}\ncache_mib = 1000"), "send nothing to the drive"),
        (format!("steps = ['pick * 2', 'pick']\n{small}"), "workload.steps: found only `pick`"),
        (
            format!("steps = ['create']\n{small}\nops_per_s = 0.001\ncommit_s = 1e6\nflusher_s = 1e9"),
            "146 years",
        ),
        (
            "steps = ['pick append']\nappend_max_kib = 31\nappend_min_kib = 20\nsize_step_kib = 16"
                .to_string(),
            "workload.append_max_kib: found 31",
        ),
        ("steps = ['pick raed']".to_string(), "steps[0]: found raed (did you mean `read`?)"),
        ("steps = ['pick * 0']".to_string(), "workload.steps[0]: found \"pick * 0\""),
        ("steps = ['point']".to_string(), "workload.files: found 0"),
        (format!("{MAIL}\nplace_theta = 1"), "workload.place_theta: found 1.0"),
        (format!("{MAIL}\nappend_min_kib = 99"), "workload.append_min_kib: found 99, allowed: at most"),
        (format!("{MAIL}\nbackground_percent = 50"), "at most limit_percent = 20.0"),
        (format!("{MAIL}\nalign_kib = 12"), "a power of two"),
    ];
    for (text, says) in cases {
        let text = &text;
        let found = wrong(text, 1 << 20);
        assert!(found.contains(says), "{text}\n  says: {found}\n  not:  {says}");
    }
}

/// What a drive is told lies on it at the start is what the file system knows, with the hints of a write to it.
#[test]
fn the_files_of_the_start_are_told() {
    let mut load = load(&format!("{SERVER}\nalign_kib = 16\nsecure_percent = 50"));
    let told = crate::base::request::Source::files_at_start(&load);
    let mut owners_told = vec![0; 1 << 14];
    for held in &told.held {
        assert!(held.hints.file >= told.first && held.sectors > 0, "{held:?}");
        let (first, end) = (held.lba / 8, (held.lba + held.sectors) / 8);
        owners_told[first as usize..end as usize].fill(held.hints.file);
    }
    let known: Vec<u32> = owners(&load).iter().map(|(file, _)| *file).collect();
    assert_eq!(owners_told, known);
    assert!(known.iter().filter(|file| **file > 0).count() > 1 << 12);
    let class =
        |file: u32| told.held.iter().find(|held| held.hints.file == file).map(|held| held.hints.class);
    let mut seen = BTreeSet::new();
    for _ in 0..20_000 {
        for request in step(&mut load).iter().filter(|request| request.hints.file >= FIRST) {
            if let Some(class) = class(request.hints.file) {
                assert_eq!(request.hints.class, class);
                seen.insert(class);
            }
        }
    }
    assert_eq!(seen, BTreeSet::from([1, 2]));
}

/// Half of 48 MiB beside the files that are used: 24 of 1 MiB, of which no request is.
#[test]
fn untouched_files_lie_there_and_are_left_alone() {
    let mut load = load(&format!("{MAIL}\nfill_percent = 30\nuntouched_percent = 50\nuntouched_mib = 1"));
    let held = crate::base::request::Source::files_at_start(&load).held;
    let mut sizes = std::collections::BTreeMap::new();
    held.iter().for_each(|held| *sizes.entry(held.hints.file).or_insert(0) += held.sectors);
    let untouched: Vec<u32> =
        sizes.iter().filter(|(_, sectors)| **sectors == 2048).map(|(id, _)| *id).collect();
    assert_eq!(untouched.len(), 24);
    let mut requests = 0;
    for _ in 0..5_000 {
        for request in step(&mut load) {
            assert!(!untouched.contains(&request.hints.file), "{request:?}");
            requests += 1;
        }
    }
    assert!(requests > 5_000, "{requests}");
}

/// Blocks that are written again for the same file, of those written: appends by bytes begin in the unit that the file
/// ended in, those of whole units do not.
#[test]
fn appends_of_whole_units_rewrite_nothing() {
    let rewritten = |more: &str| {
        let mut load = load(&format!(
            "{MAIL}\nmean_kib = 48\nappend_min_kib = 16\nappend_max_kib = 32\nalign_kib = 16{more}"
        ));
        let (mut seen, mut again, mut all) = (BTreeSet::new(), 0, 0);
        for _ in 0..5_000 {
            for request in step(&mut load) {
                if request.op == OpCode::Write && request.hints.file >= FIRST {
                    all += request.sectors / 8;
                    again +=
                        blocks(&request).filter(|block| !seen.insert((request.hints.file, *block))).count();
                }
            }
        }
        (again, all)
    };
    let (again, all) = rewritten("");
    assert!(again as u32 > all / 10, "{again} of {all}");
    let (again, all) = rewritten("\nsize_step_kib = 16");
    assert!(again == 0 && all > 5_000, "{again} of {all}");
}
