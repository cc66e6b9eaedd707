//! Places that follow from more than a pattern: backwards, in zones, after other jobs, in files of others.

use super::*;

const KIB: u64 = 1024;

/// Where each request begins, in KiB.
fn at(job: &str) -> Vec<u64> {
    let file = load(&format!("[a]\nbs=4k\n{job}\n")).unwrap_or_else(|error| panic!("{job}: {error}"));
    let mut played = Played::new(file.open(1 << 20, 1).unwrap(), 1_000);
    std::iter::from_fn(|| played.next_of_lane().unwrap())
        .map(|(_, request)| request.lba * 512 / KIB)
        .collect()
}

/// As fio 3.33 logs them (`write_iolog`); `tests/suite/fio` compares longer jobs.
#[test]
fn requests_go_backwards() {
    assert_eq!(at("size=32k\nrw=read:-8k"), [0, 24, 20, 16, 12, 8, 4, 0]);
    assert_eq!(at("size=32k\nrw=read:-12k"), [0, 20, 12, 4, 20, 12, 4, 20]);
    // Behind an offset the first request lies where the last one of so long a file would end.
    assert_eq!(at("size=32k\noffset=12k\nrw=write:-8k"), [24, 20, 16, 12, 36, 32, 28, 24]);
    assert_eq!(at("size=8k\nrw=read:-16k"), [0], "no room for a step: the pass is over");
}

#[test]
fn zones_come_one_after_the_other() {
    let zones = |line: &str| at(&format!("size=64k\nzonemode=strided\n{line}"));
    // A zone of 8 KiB in each 24, from the beginning again when there is none left, until the job has its 64 KiB.
    let in_turn = [0, 4, 24, 28, 48, 52, 0, 4, 24, 28, 48, 52, 0, 4, 24, 28];
    assert_eq!(zones("zonesize=8k\nzoneskip=16k"), in_turn);
    // 16 KiB in two rounds through zones of 8.
    assert_eq!(zones("zonesize=16k\nzonerange=8k\nzoneskip=24k")[..10], [0, 4, 0, 4, 32, 36, 32, 36, 0, 4]);
    // 4 KiB of each zone of 8.
    assert_eq!(zones("zonesize=4k\nzonerange=8k")[..9], [0, 8, 16, 24, 32, 40, 48, 56, 0]);
    // A map is of a zone: each of its places comes once in each round.
    let random = zones("rw=randread\nzonesize=32k\nzonerange=16k\nzoneskip=16k");
    for (round, places) in random.chunks(4).enumerate() {
        let mut places = places.to_vec();
        places.sort_unstable();
        let start = round as u64 / 2 % 2 * 32;
        assert_eq!(places, [0, 4, 8, 12].map(|at| start + at), "round {round}");
    }
}

#[test]
fn a_job_waits_for_another() {
    let text = "[global]\nfilesize=16k\nfilename=f\n[w]\nrw=write\nnumjobs=2\n[r]\nwait_for=w\nrw=read\n[x]\n\
                rw=randread\n[last]\nwait_for=r\nrw=write\n";
    let mut played = Played::new(load(text).unwrap().open(1 << 20, 1).unwrap(), 100_000);
    let mut times: Vec<(u64, u64)> = vec![(u64::MAX, 0); 5];
    while let Some((lane, _)) = played.next_of_lane().unwrap() {
        let (first, last) = &mut times[lane as usize];
        (*first, *last) = ((*first).min(played.now_ns()), played.now_ns());
    }
    // Four requests of 100 us each: two writers and `x` from the beginning, the reader behind both, then the last.
    let us = |first: u64, last: u64| (first * 1_000, last * 1_000);
    assert_eq!(times, [us(0, 300), us(0, 300), us(400, 700), us(0, 300), us(800, 1_100)]);
}

#[test]
fn a_file_without_a_size_has_that_of_others_or_of_the_drive() {
    let spans = |text: &str, sectors: u64| {
        let workers = load(text).unwrap().workers(sectors).unwrap();
        workers.iter().map(|worker| (worker.spans[0].lba, worker.spans[0].sectors)).collect::<Vec<_>>()
    };
    let two = "[global]\nfilename=f\n[r]\nrw=read\n[w]\nrw=write\nsize=64k\n";
    assert_eq!(spans(two, 1 << 20), [(0, 128), (0, 128)]);
    assert_eq!(load(two).unwrap().space_sectors().unwrap(), Some(128));
    let full = "[global]\nfilename=f\n[w]\nrw=write\nfill_device=1\n[r]\nstonewall\nrw=read\n";
    assert_eq!(spans(full, 1 << 12), [(0, 1 << 12); 2]);
    assert_eq!(load(full).unwrap().space_sectors().unwrap(), None);
    assert_eq!(spans("[w]\nfilename=f\nfill_fs=1\nsize=8k\n", 1 << 12), [(0, 16)]);
    let error = load("[w]\nfilename=g\n[x]\nfilename=f\nsize=8k\n").unwrap().space_sectors().unwrap_err();
    assert!(error.to_string().contains("a.fio:1: size: found no size"), "{error}");
}

#[test]
fn commands_that_verify_read_the_medium() {
    let ops = |mode: &str| {
        let file = load(&format!("[a]\nsize=8k\nrw=write\nioengine=sg\nsg_write_mode={mode}\n")).unwrap();
        let mut played = Played::new(file.open(1 << 20, 1).unwrap(), 0);
        let ops = std::iter::from_fn(|| played.next_of_lane().unwrap()).map(|(_, request)| request.op);
        (
            ops.collect::<Vec<_>>(),
            file.remarks().iter().any(|remark| remark.text.contains("verify the medium")),
        )
    };
    for mode in ["write", "write_same", "write_same_ndob"] {
        assert_eq!(ops(mode), (vec![OpCode::Write; 2], false), "{mode}");
    }
    for mode in ["verify_bytchk_00", "verify_bytchk_01", "verify_bytchk_11"] {
        assert_eq!(ops(mode), (vec![OpCode::Read; 2], true), "{mode}");
    }
}

#[test]
fn engines_that_ask_others_are_told() {
    let told = |engine: &str| {
        let file = load(&format!("[a]\nsize=1m\ndirect=1\nioengine={engine}\n")).unwrap();
        file.remarks().iter().map(|remark| remark.text.clone()).collect::<Vec<_>>().join("; ")
    };
    assert!(
        told("rbd").contains("asks a server for its data") && told("ime_psync").contains("asks a server")
    );
    assert!(told("libpmem").contains("mapped memory") && told("mmap").contains("mapped memory"));
    assert!(!told("libaio").contains("engine that") && !told("cpp_null").contains("engine that"));
    assert!(!told("external:/usr/lib/spdk_nvme.so").contains("engine that"));
}
