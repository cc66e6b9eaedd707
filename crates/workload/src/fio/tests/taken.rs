//! What fio 3.33 takes, and jobs that end or wait for each other.

use super::*;
use crate::base::request::Request;

/// The requests of all jobs, with the lane of each, without a drive.
fn requests(text: &str) -> Vec<(u32, Request)> {
    let driven = load(text).and_then(|file| file.open(1 << 20, 1)).unwrap();
    let mut played = Played::new(driven, 1_000);
    std::iter::from_fn(|| played.next_of_lane().unwrap()).collect()
}

/// Each was put to fio 3.33 with --parse-only, which takes it.
#[test]
fn what_fio_takes_is_taken() {
    for line in [
        "offset=0%",
        "filename=/dev/nvme0n1\nsize=0",
        "size=100%%\nfilename=/dev/nvme0n1",
        "rw=randread\nrandom_distribution=zoned:60/10:40/",
        "rw=randread\nrandom_distribution=zoned:60:40/20",
        "threads=1",
        "name= x",
        "number_ios= 3",
        "exitall",
        "flow=2",
        "io_submit_mode=offload",
        "ioengine=sg\nsg_write_mode=write",
        "bs=2300",
    ] {
        assert!(with(line).is_ok(), "{line}: {:?}", with(line).err());
    }
    let zones = |text: &str| with(&format!("rw=randread\nrandom_distribution={text}")).unwrap().distribution;
    assert_eq!(zones("zoned:60/10:40/"), Distribution::Zoned(vec![(60.0, 10.0), (40.0, 90.0)]));
    assert_eq!(
        zones("zoned:60:20/:20/20"),
        Distribution::Zoned(vec![(60.0, 40.0), (20.0, 40.0), (20.0, 20.0)])
    );
    assert!(with("rw=randread\nrandom_distribution=zoned:60/100:40/").is_err(), "no room is left");
    assert_eq!(zones("normal"), Distribution::Normal(0.0, None));
    assert_eq!(with("offset=0%").unwrap().offset, Amount::Percent(0));
    assert_eq!(with("name= x").unwrap().name, "x");
    // A blank would change the number: fio reads 4.
    assert!(refusal("[a]\nsize=1m\nbs= 4k").contains("fio reads ` 4k` as 4"));
}

/// As `fio --parse-only --showcmd` prints it: one job, with the options of the first section.
#[test]
fn a_section_whose_name_begins_with_global_is_global() {
    let jobs = load("[global_write]\nrw=randwrite\nsize=1m\n[b]\nrw=read\nsize=2m\n").unwrap().jobs;
    assert_eq!((jobs.len(), jobs[0].name.as_str(), jobs[0].work), (1, "b", Work::Read));
}

/// Legal, and beyond any drive.
#[test]
fn what_is_too_large_is_told() {
    let trims = "[a]\nfilename=/dev/nvme0n1\nrw=randtrim\nbs=4k,4k,1m\nbs_is_seq_rand=1\nsize=64k\n";
    assert!(requests(trims).iter().all(|(_, request)| request.bytes() == 4_096));
    let large = load("[a]\nrw=write\nsize=500p\nnumjobs=64\n");
    assert!(large.is_err() || large.unwrap().open(1 << 20, 1).is_err());
    let fast = "[a]\nrw=write\nbs=1m\nsize=16m\nrate=16000p\nthinktime=1s\nrate_ignore_thinktime=1\n";
    assert_eq!(requests(fast).len(), 16);
}

#[test]
fn what_is_refused_names_the_way_out() {
    assert!(refusal("[a]\nread_iolog=x.log").contains("wordline run x.log"));
    let said = refusal("[a]\nsize=${NO_SUCH}\n");
    assert!(said.contains("there is no variable NO_SUCH: NO_SUCH=... wordline run ..."), "{said}");
    let said = refusal("[a]\nsize=1m\nbs=2300\ndirect=1\n");
    assert!(
        said.contains("a.fio:3: bs: found 2300 bytes, allowed: multiples of 512 bytes, or direct=0"),
        "{said}"
    );
}

#[test]
fn odd_sizes_are_whole_pages_behind_a_page_cache() {
    let file = load("[a]\nsize=1m\nrw=write\nbs=2300,512\n").unwrap();
    assert_eq!(file.jobs[0].sizes, [4_096, 512, 512].map(Size::Fixed));
    let remarks: Vec<&str> = file.remarks().iter().map(|remark| remark.text.as_str()).collect();
    assert!(remarks.iter().any(|text| text.contains("rounded up to pages of 4 KiB")), "{remarks:?}");
}

/// As fio 3.33 does, of whose requests all have the last size.
#[test]
fn a_range_where_one_size_belongs_is_its_last_number() {
    for (text, bytes) in [("4k-16k", 16_384), ("16k-4k", 4_096), ("4k:8k", 8_192)] {
        let file = load(&format!("[a]\nsize=1m\nbs={text}\n")).unwrap();
        assert_eq!(file.jobs[0].sizes, [const { Size::Fixed(0) }; 3].map(|_| Size::Fixed(bytes)), "{text}");
        let told =
            file.remarks().iter().find(|remark| remark.text.starts_with("a range behind bs is one size"));
        assert!(told.is_some_and(|remark| remark.matters), "{text}");
    }
}

/// fio asks the machine, and reckons with bc; here the environment is asked.
#[test]
fn what_fio_asks_the_machine_for_is_a_variable() {
    let load = |size: &str| {
        let text = format!("[a]\nsize={size}\n");
        JobFile::load_from(
            Path::new("a.fio"),
            &[],
            &Made(&[("a.fio", &text), ("$mb_memory", "64"), ("$pagesize", "4096")]),
        )
    };
    let size = |text: &str| load(text).unwrap().jobs[0].size;
    assert_eq!(size("16*$pagesize"), Some(Amount::Bytes(16 * 4096)));
    assert_eq!(size("3*1048576*$mb_memory/8"), Some(Amount::Bytes(24 << 20)));
    assert_eq!(size("$pagesize"), Some(Amount::Bytes(4096)));
    for (text, said) in [
        ("2*$ncpus", "$ncpus, which differs from machine to machine"),
        ("$pagesize/0", "found \"$pagesize/0\", allowed: whole numbers with * and /"),
        ("$pagesize*x", "found \"$pagesize*x\""),
        ("$mb_memory*99999999999999999999", "whole numbers"),
    ] {
        let error = load(text).unwrap_err().to_string();
        assert!(error.contains("a.fio:2: size: ") && error.contains(said), "{text}: {error}");
    }
}

/// One drive serves them all: nobody is to take the result for one of several.
#[test]
fn devices_that_share_a_drive_are_told() {
    let told = |jobs: &str| {
        let file = load(&format!("[global]\nsize=8k\n{jobs}")).unwrap();
        let found = file.remarks().iter().find(|remark| remark.text.contains("are one drive"));
        found.map(|remark| (remark.matters, remark.text.clone()))
    };
    let text = "devices are one drive here, whose addresses they share: /dev/nvme0n1, /dev/sdb".to_owned();
    let two =
        told("[log]\nfilename=/dev/nvme0n1\n[data]\nfilename=/dev/sdb\n[more]\nfilename=/dev/nvme0n1\n");
    assert_eq!(two, Some((true, text.clone())));
    assert_eq!(told("[a]\nfilename=/dev/nvme0n1:/dev/sdb\n"), Some((true, text)));
    assert_eq!(told("[a]\nfilename=/dev/sdb\n[b]\nfilename=/dev/sdb\n"), None);
    assert_eq!(told("[a]\nfilename=x\n[b]\nfilename=y\n"), None);
}

/// Options from a command line hold where the file says nothing, as with fio: `fio --bs=8k job.fio`.
#[test]
fn options_from_elsewhere_stand_below_the_file() {
    let load = |text: &str, options: &[&str]| {
        let options: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
        JobFile::load_from(Path::new("a.fio"), &options, &Made(&[("a.fio", text)]))
    };
    let job = |text, options| load(text, options).unwrap().jobs[0].clone();
    let silent = job("[a]\nrw=read\n", &["--size=1m", "bs=8k"]);
    assert_eq!((silent.size, &silent.sizes[0]), (Some(Amount::Bytes(1 << 20)), &Size::Fixed(8_192)));
    assert_eq!(job("[a]\nsize=1m\nbs=4k\n", &["bs=8k"]).sizes[0], Size::Fixed(4_096));
    let said = |options| load("[a]\nsize=1m\n", options).map(drop).unwrap_err().to_string();
    assert!(said(&["iodept=4"]).contains("workload.options:1: iodept"), "{}", said(&["iodept=4"]));
    assert!(said(&["bs=4k", "bs=x"]).contains("workload.options:2: bs: found \"x\""));
    assert!(said(&["[b]"]).contains("an option, such as size=10g"));
}

/// Two jobs of one flow send 8 : 1, until one of them ends; a third has nothing to do with it.
#[test]
fn jobs_of_a_flow_keep_to_their_shares() {
    let sent = requests(
        "[global]\nsize=900k\nrw=randread\n[a]\nflow=8\n[b]\nflow=1\n[c]\nflow=1\nflow_id=7\n[d]\nsize=40k\n",
    );
    let of = |lane: u32, upto: usize| sent[..upto].iter().filter(|(of, _)| *of == lane).count() as f64;
    let last_of_a = sent.iter().rposition(|(lane, _)| *lane == 0).unwrap();
    assert_eq!(of(0, sent.len()), 225.0);
    assert!((of(1, last_of_a) - 225.0 / 8.0).abs() <= 1.5, "{}", of(1, last_of_a));
    // Then the other is alone, and goes on to its end, as the one of another flow does.
    assert_eq!([1, 2, 3].map(|lane| of(lane, sent.len())), [225.0, 225.0, 10.0]);
    let sleeping =
        requests("[global]\nsize=90k\nrw=read\n[a]\nflow=2\nflow_sleep=50\n[b]\nflow=1\nflow_sleep=50\n");
    assert_eq!(sleeping.len(), 2 * 22);
}

#[test]
fn a_job_that_ends_may_end_the_others() {
    let count = |text: &str| {
        let sent = requests(text);
        [0, 1, 2].map(|lane| sent.iter().filter(|(of, _)| *of == lane).count())
    };
    // Both take turns, so the longer one has had as many; what comes behind the stonewall runs or does not.
    let jobs = "[a]\nsize=40k\nexitall\n[b]\nsize=800k\n[c]\nstonewall\nsize=80k\n";
    let [a, b, c] = count(jobs);
    assert!(a == 10 && (9..=11).contains(&b) && c == 20, "{a} {b} {c}");
    let [a, b, c] = count(&jobs.replace("exitall\n", "exitall\nexit_what=all\n"));
    assert!(a == 10 && (9..=11).contains(&b) && c == 0, "{a} {b} {c}");
    assert_eq!(count(&jobs.replace("exitall\n", "")), [10, 200, 20]);
}

#[test]
fn requests_say_placement_ids_and_priorities() {
    let hints = |options: &str| {
        let sent = requests(&format!("[a]\nsize=4m\nrw=randrw\n{options}\n"));
        sent.into_iter().map(|(_, request)| (request.op, request.hints)).collect::<Vec<_>>()
    };
    let streams = |options: &str| {
        let all = hints(options);
        let of = |op| all.iter().filter(move |(of, _)| *of == op).map(|(_, hints)| hints.stream);
        assert!(of(OpCode::Read).all(|stream| stream == 0), "{options}");
        of(OpCode::Write).collect::<Vec<u16>>()
    };
    let in_turn = streams("fdp=1\nfdp_pli=3,1,5\nfdp_pli_select=roundrobin");
    assert_eq!(in_turn[..7], [3, 1, 5, 3, 1, 5, 3]);
    let drawn = streams("dataplacement=streams\nplids=2,4");
    let twos = drawn.iter().filter(|&&id| id == 2).count() as f64 / drawn.len() as f64;
    assert!((twos - 0.5).abs() < 0.1 && drawn.iter().all(|id| [2, 4].contains(id)), "{twos}");
    assert_eq!(streams("fdp=1").into_iter().collect::<BTreeSet<u16>>(), (0..8).collect());
    assert!(streams("fdp=0\nfdp_pli=3").iter().all(|&id| id == 0));
    let urgent = |options: &str, op: OpCode, class: u8| {
        let all = hints(options);
        let of: Vec<u8> = all.iter().filter(|(of, _)| *of == op).map(|(_, hints)| hints.priority).collect();
        of.iter().filter(|&&priority| priority == class).count() as f64 / of.len() as f64
    };
    assert!((urgent("cmdprio_percentage=20", OpCode::Read, 3) - 0.2).abs() < 0.06);
    assert_eq!(urgent("cmdprio_percentage=100,0\ncmdprio_class=3", OpCode::Read, 1), 1.0);
    assert_eq!(urgent("cmdprio_percentage=100,0", OpCode::Write, 0), 1.0);
}
