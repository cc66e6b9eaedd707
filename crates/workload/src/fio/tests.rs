//! The parser and the options: what they take, what they refuse, and where they say it.

mod pace;
mod places;
mod taken;

use super::jobs::JobFile;
use super::parse::{World, sections};
use super::settings::{Distribution, FileOrder, RateProcess, Size, Step, Work};
use super::value::Amount;
use super::{Class, options};
use crate::base::driven::Played;
use crate::base::error::{Problem, WorkloadError};
use ssd::rng::Rng;
use ssd::signals::OpCode;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::Path;

/// Files and variables of a test.
struct Made<'a>(&'a [(&'a str, &'a str)]);

impl World for Made<'_> {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let name = path.to_str().unwrap();
        let file = self.0.iter().find(|(file, _)| *file == name);
        file.map(|(_, text)| text.as_bytes().to_vec()).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    fn variable(&self, name: &str) -> Option<OsString> {
        self.0.iter().find_map(|(file, text)| (file.strip_prefix('$') == Some(name)).then(|| (*text).into()))
    }
}

fn load(text: &str) -> Result<JobFile, WorkloadError> {
    JobFile::load_from(Path::new("a.fio"), &[], &Made(&[("a.fio", text)]))
}

/// What is said of a job file that is refused.
fn refusal(text: &str) -> String {
    match load(text) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("was taken: {text}"),
    }
}

/// A job with one more line.
fn with(line: &str) -> Result<super::settings::Job, WorkloadError> {
    load(&format!("[a]\nsize=1m\n{line}\n")).map(|file| file.jobs[0].clone())
}

#[test]
fn sections_inherit_the_global_ones_above_them() {
    let text = "; one\n[global]\nbs=8k\n  # two\n[a]\nsize=1m ; three\n[global]\nrw=write\n\n[b] # four\nsize=2m\r\n";
    let found = sections(Path::new("a.fio"), &[], &Made(&[("a.fio", text)])).unwrap();
    let flat: Vec<_> = found
        .iter()
        .map(|section| {
            let lines = section.lines.iter().map(|line| {
                format!("{}:{}={}", line.place.line, line.key, line.value.as_deref().unwrap_or("-"))
            });
            (section.name.as_str(), lines.collect::<Vec<_>>())
        })
        .collect();
    let own = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        flat,
        [("a", own(&["3:bs=8k", "6:size=1m"])), ("b", own(&["3:bs=8k", "8:rw=write", "11:size=2m"]))]
    );
}

#[test]
fn files_are_included_where_they_are_named() {
    let files = [
        ("jobs/a.fio", "[global]\ninclude more/g.fio\n[x]\nsize=${SIZE}m\nname=${NONE}y${SIZE}\n"),
        ("jobs/more/g.fio", "bs=16k\ninclude h.fio\n"),
        ("jobs/more/h.fio", "norandommap\n"),
        ("$SIZE", "3"),
    ];
    let file = JobFile::load_from(Path::new("jobs/a.fio"), &[], &Made(&files)).unwrap();
    let job = &file.jobs[0];
    assert_eq!((job.size, job.name.as_str()), (Some(Amount::Bytes(3 << 20)), "y3"));
    assert_eq!((&job.sizes[0], job.has_map), (&Size::Fixed(16384), false));

    let circle = [("a.fio", "[a]\ninclude b.fio\n"), ("b.fio", "bs=4k\ninclude a.fio\n")];
    let error = JobFile::load_from(Path::new("a.fio"), &[], &Made(&circle)).unwrap_err().to_string();
    assert!(error.starts_with("b.fio:2: include: ") && error.contains("a.fio -> b.fio -> a.fio"), "{error}");

    let missing = JobFile::load_from(Path::new("a.fio"), &[], &Made(&[("a.fio", "[a]\ninclude b.fio\n")]))
        .unwrap_err()
        .to_string();
    assert!(missing.starts_with("a.fio:2: include: b.fio: "), "{missing}");

    let section = [("a.fio", "[a]\ninclude b.fio\n"), ("b.fio", "\n[b]\n")];
    let error = JobFile::load_from(Path::new("a.fio"), &[], &Made(&section)).unwrap_err().to_string();
    assert!(error.starts_with("b.fio:2: a section in an included file"), "{error}");
}

#[test]
fn what_is_no_option_of_an_included_file_is_not_quoted() {
    for (line, said) in [
        ("root:x:0:0:SECRET", "b.fio:1: a line that is no option"),
        ("SECRET = 5", "b.fio:1: a line that is no option"),
        ("token=${SECRET", "b.fio:1: a line that is no option"),
        ("token= SECRET", "b.fio:1: a line that is no option"),
        ("[SECRET", "b.fio:1: a section in an included file"),
        ("[SECRET]", "b.fio:1: a section in an included file"),
        ("iodephtSECRET", "b.fio:1: a line that is no option"),
    ] {
        for including in ["[a]\ninclude b.fio\n", "[global]\ninclude b.fio\n[a]\n", "include b.fio\n[a]\n"] {
            let files = [("a.fio", including), ("b.fio", line)];
            let error = JobFile::load_from(Path::new("a.fio"), &[], &Made(&files)).unwrap_err().to_string();
            assert!(error.starts_with(said) && !error.contains("SECRET"), "{line}: {error}");
        }
    }
    // The value of an option is: the file is one of options.
    let files = [("a.fio", "[a]\ninclude b.fio\n"), ("b.fio", "rw=randraed\n")];
    let error = JobFile::load_from(Path::new("a.fio"), &[], &Made(&files)).unwrap_err().to_string();
    assert!(error.starts_with("b.fio:1: rw: found \"randraed\""), "{error}");
}

#[test]
fn errors_name_place_finding_and_neighbour() {
    for (text, said) in [
        ("[a]\nsize=1m\nrw=randraed\n", "a.fio:3: rw: found \"randraed\" (did you mean `randread`?)"),
        ("[a]\nsize=1m\niodepht=4\n", "a.fio:3: iodepht: unknown option (did you mean `iodepth`?)"),
        ("bs=4k\n[a]\n", "a.fio:1: \"bs=4k\" above the first section"),
        ("[a\nsize=1m\n", "a.fio:1: [a, allowed: a name between [ and ]"),
        ("[]\n", "a.fio:1: []"),
        ("", "a.fio:1: no job in this file"),
        ("[global]\nbs=4k\n", "a.fio:1: no job in this file"),
        ("[a]\nsize=2.5m\n", "a.fio:2: size: found \"2.5m\""),
        (
            "[a]\nsize=1m\nbs=4k/50:16k/50\n",
            "a.fio:3: bs: found \"4k/50:16k/50\": fio would take the last size",
        ),
        ("[a]\nsize=1m\nbs= 4k\n", "a.fio:3: bs: a space before the value"),
        (
            "[a]\nsize=1m\nbs=1000\ndirect=1\n",
            "a.fio:3: bs: found 1000 bytes, allowed: multiples of 512 bytes",
        ),
        ("[a]\nsize=1m\nbs=\n", "a.fio:3: bs: found nothing"),
        (
            "[a]\nsize=1m\nrandom_distribution=zipf:1.0\n",
            "a.fio:3: random_distribution: found \"1.0\" after zipf",
        ),
        (
            "[a]\nsize=1m\nrandom_distribution=zoned:60/10:30/90\n",
            "zones that get 90 % of the requests, allowed: 100",
        ),
        ("[a]\nsize=1m\nrandom_distribution=zoned:60/60:40/60\n", "zones of 120 % of the space"),
        ("[a]\nsize=1m\nbssplit=4k/50:8k/40\n", "shares that add up to 90 %"),
        (
            "[a]\nsize=1m\nrw=randwrite\nverify=crc32c\nexperimental_verify=1\n",
            "a.fio:4: verify: found experimental_verify beside it; the reading back would then not be simulated, \
             allowed: do_verify=0",
        ),
        (
            "[a]\nsize=1m\nrw=randwrite\nverify=md5\ntrim_percentage=5\n",
            "a.fio:4: verify: found trim_percentage",
        ),
        ("[a]\nsize=1m\nverify=md55\n", "a.fio:3: verify: found \"md55\" (did you mean `md5`?)"),
        ("[a]\nsize=1m\nss=iops\n", "a.fio:3: ss: found \"iops\", allowed: iops, iops_slope, bw or bw_slope"),
        ("[a]\nsize=1m\nss=iosp:5%\n", "a.fio:3: ss: found \"iosp\" (did you mean `iops`?)"),
        ("[a]\nsize=1m\nsync_file_range=wirte:8\n", "a.fio:3: sync_file_range: found \"wirte:8\""),
        ("[a]\nsize=1m\nlatency_percentile=101\n", "a.fio:3: latency_percentile: found \"101\""),
        ("[a]\nsize=1m\ncmdprio_bssplit=4k\n", "a.fio:3: cmdprio_bssplit: found \"4k\""),
        ("[a]\nsize=1m\ncmdprio_bssplit=4k/60:4k/50\n", "found 110 % of the requests of 4096 bytes"),
        ("[a]\nsize=1m\nmax_latency=1y\n", "a.fio:3: max_latency: found \"1y\""),
        (
            "[a]\nsize=1m\nnumjobs=2\niodepth=40000\nmax_latency=1s\n",
            "a.fio:1: iodepth: 2 clones with 40000 requests in flight, to be told apart, allowed: up to 65536",
        ),
        ("[a]\nsize=1m\nrw=trimwrite\nverify=md5\n", "a.fio:4: verify: found a job that trims"),
        ("[a]\nsize=1m\nverify_only\n", "a.fio:3: verify_only: "),
        ("[a]\nsize=1m\nioengine=cpuio\n", "a.fio:3: ioengine: found \"cpuio\": it keeps processors busy"),
        ("[a]\nsize=1m\nioengine=net\n", "a.fio:3: ioengine: found \"net\": it sends over a network"),
        ("[a]\nsize=1m\nioengine=libaoi\n", "a.fio:3: ioengine: found \"libaoi\" (did you mean `libaio`?)"),
        ("[a]\nsize=1m\nzonemode=zbd\n", "a.fio:3: zonemode: found \"zbd\": zones that are written in order"),
        ("[a]\nsize=1m\nzonemode=strided\n", "a.fio:1: zonemode: found no zonesize beside it"),
        ("[a]\nsize=1m\nzonesize=64k\n", "a.fio:1: zonesize: found zonesize without zones"),
        ("[a]\nsize=1m\nzonemode=strided\nzonesize=2k\n", "a.fio:1: zonerange: zones of 2048 bytes"),
        (
            "[a]\nsize=1m\nrw=read:-8k\nzonemode=strided\nzonesize=16k\n",
            "zonemode: found steps backwards in zones",
        ),
        ("[a]\nsize=1m\nwait_for=a\n", "a.fio:1: wait_for: found \"a\", which is no job above this one"),
        ("[writer]\nsize=1m\n[b]\nsize=1m\nwait_for=writers\n", "a.fio:3: wait_for: found \"writers\""),
        (
            "[a]\nsize=1m\n[b]\nname=a\nsize=1m\n[c]\nsize=1m\nwait_for=a\n",
            "wait_for: found \"a\", a name of several",
        ),
        (
            "[a]\nsize=1m\nsg_write_mode=write_and_verify\n",
            "a.fio:3: sg_write_mode: found \"write_and_verify\": a command",
        ),
        ("[a]\nsize=1m\nnumjobs=0\n", "a.fio:3: numjobs: found \"0\", allowed: at least 1"),
        (
            "[a]\nsize=1m\nsize=8*$pagesize\n",
            "$pagesize, which differs from machine to machine, allowed: a number, or a variable that says it: pagesize=...",
        ),
        ("[a]\nsize=1m\nname=${X\n", "a.fio:3: name: ${X, allowed: a name between ${ and }"),
        ("[a]\nrw=read\n", "a.fio:1: size: found no size"),
        ("[a]\nsize=1k\n", "a.fio:1: size: 1024 bytes of a.0.0 for requests of 4096 bytes"),
        ("[a]\nsize=1m\noffset=1000\n", "a.fio:1: offset: found 1000 bytes"),
        ("[a]\nsize=1m\nrate=1m\nrate_iops=10\n", "a.fio:1: rate: both rate and rate_iops"),
        ("[a]\nsize=1m\nnumjobs=9999\n", "a.fio:1: numjobs: 9999 clones"),
        ("[a]\nsize=1m\n[b]\nfilename=/dev/sda\n", "a.fio:1: filename: files beside a device"),
        (
            "[a]\nsize=1m\nrandom_distribution=zoned_abs:50/1m:50/1m\nrw=randread\n",
            "zone 2 ends at block 512 of 256",
        ),
    ] {
        let error =
            match load(text).and_then(|file| file.workers(1 << 30).and_then(|_| file.open(1 << 30, 1))) {
                Err(error) => error.to_string(),
                Ok(_) => panic!("was taken: {text}"),
            };
        assert!(error.contains(said), "{text}: {error}");
    }
    assert!(refusal("[a]\nfoo=1").contains("docs/fio.md"));
}

#[test]
fn options_mean_what_they_mean_in_fio() {
    let job =
        with("rw=randrw:8\nrwmixwrite=20\nbs=4k,8k\niodepth=32\nloops=3\nfsync=16\nend_fsync=1").unwrap();
    assert_eq!(
        (job.work, job.is_random, job.step, job.read_percent),
        (Work::Mixed, true, Step::Follow(8), 80)
    );
    assert_eq!(job.sizes, [Size::Fixed(4096), Size::Fixed(8192), Size::Fixed(8192)]);
    assert_eq!((job.iodepth, job.loops, job.fsync, job.end_fsync), (32, 3, 16, true));
    assert_eq!(with("rw=randwrite:4\nrw_sequencer=identical").unwrap().step, Step::Repeat(4));
    assert_eq!(with("rw=write:16k").unwrap().step, Step::Skip(16384));
    assert_eq!(with("bsrange=4k-16k").unwrap().sizes[1], Size::Range(4096, 16384));
    assert_eq!(
        with("bssplit=4k/70:64k/30").unwrap().sizes[1],
        Size::Split(vec![(4096, 70.0), (65536, 30.0)])
    );
    let job = with("runtime=2m\nramp_time=500ms\nstartdelay=1-3\nthinktime=100\nthinktime_blocks=4").unwrap();
    assert_eq!((job.runtime_ns, job.ramp_ns), (120_000_000_000, 500_000_000));
    assert_eq!(job.startdelay_ns, (1_000_000_000, 3_000_000_000));
    assert_eq!((job.thinktime_ns, job.thinktime_blocks), (100_000, 4));
    let job = with("rate=1m,500k\nrate_process=poisson\nfile_service_type=random:4\nsync=dsync").unwrap();
    assert_eq!((job.rate, job.rate_process), ([1 << 20, 512_000, 512_000], RateProcess::Poisson));
    assert_eq!((job.file_order, job.sync), (FileOrder::Random(4), true));
    assert_eq!(with("kb_base=1000\nsize=4ki").unwrap().size, Some(Amount::Bytes(4096)));
    let job = with("random_distribution=zipf:1.2:0.25").unwrap();
    assert_eq!((job.distribution, job.has_map), (Distribution::Zipf(1.2, Some(0.25)), false));
    assert!(!with("blockalign=8k").unwrap().has_map);
    // Checks of contents that bring no requests are taken.
    for lines in ["rw=randread\nverify=md5", "rw=write\nverify=crc32c\ndo_verify=0", "rw=randrw\nverify=null"]
    {
        with(lines).unwrap_or_else(|error| panic!("{lines}: {error}"));
    }
    // What would change results may be switched off.
    for line in ["verify=0", "zonemode=none", "serialize_overlap=0", "iodepth_batch=1", "file_append=0"] {
        with(line).unwrap_or_else(|error| panic!("{line}: {error}"));
    }
}

#[test]
fn what_has_no_effect_is_told_once() {
    let text =
        "[global]\nioengine=libaio\ngroup_reporting\ndirect=1\n[a]\nsize=1m\nthread\n[b]\nsize=1m\nthread\n";
    let file = load(text).unwrap();
    assert_eq!(
        file.remarks(),
        [crate::Remark::note("ignored fio options: ioengine, group_reporting, thread")]
    );
    let file = load("[a]\nsize=1m\niodepth=8\n").unwrap();
    assert!(file.remarks()[0].text.contains("page_cache"), "{:?}", file.remarks());
    assert!(file.remarks()[1].text.starts_with("iodepth is used as given"), "{:?}", file.remarks());
}

/// First sector and sectors of each clone's parts.
fn places(text: &str, drive_sectors: u64) -> Vec<Vec<(u64, u64)>> {
    let workers = load(text).unwrap().workers(drive_sectors).unwrap();
    workers.iter().map(|worker| worker.spans.iter().map(|span| (span.lba, span.sectors)).collect()).collect()
}

#[test]
fn files_lie_one_after_the_other() {
    let own = "[a]\nsize=10k\nnumjobs=2\n[b]\nsize=16k\nnrfiles=2\n";
    assert_eq!(places(own, 1 << 20), [vec![(0, 20)], vec![(24, 20)], vec![(48, 16), (64, 16)]]);
    assert_eq!(load(own).unwrap().space_sectors().unwrap(), Some(80));
    let shared =
        "[global]\nfilename=f\n[a]\nsize=16k\nnumjobs=2\noffset_increment=8k\n[b]\nsize=64k\noffset=25%\n";
    assert_eq!(places(shared, 1 << 20), [vec![(0, 32)], vec![(16, 32)], vec![(32, 128)]]);
    assert_eq!(load(shared).unwrap().space_sectors().unwrap(), Some(160));
    let drive = "[global]\nfilename=/dev/nvme0n1\n[a]\n[b]\nsize=25%\noffset=50%\n";
    assert_eq!(places(drive, 1024), [vec![(0, 1024)], vec![(512, 256)]]);
    assert_eq!(load(drive).unwrap().space_sectors().unwrap(), None);
    assert_eq!(load("[a]\nfilename=/dev/sda\nsize=1m\n").unwrap().space_sectors().unwrap(), Some(2048));
    let error = load("[a]\nsize=1m\n").unwrap().workers(1024).unwrap_err();
    assert!(matches!(error.problem(), Problem::DoesNotFit { needed_sectors: 2048, .. }), "{error}");
    let error = load("[a]\nfilename=/dev/sda\nsize=1m\n").unwrap().workers(1024).unwrap_err();
    assert!(matches!(error.problem(), Problem::DoesNotFit { .. }), "{error}");
}

#[test]
fn no_option_stands_twice_in_the_table() {
    let mut names = BTreeSet::new();
    for name in options().iter().flat_map(|option| option.names) {
        assert!(names.insert(*name), "{name}");
    }
    assert!(names.len() > 200, "{}", names.len());
    let refused = options().iter().filter(|option| option.class == Class::Refused);
    for option in refused.filter(|option| option.names[0] != "io_submit_mode") {
        let line = format!("{}=surely_not", option.names[0]);
        assert!(with(&line).is_err(), "{line}");
    }
}

/// `WORDLINE_DOCS=write` writes the rows anew.
#[test]
fn the_table_is_in_the_docs() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/fio.md");
    let docs = std::fs::read_to_string(&path).unwrap();
    let rows: String = options()
        .iter()
        .map(|option| {
            let names: Vec<_> = option.names.iter().map(|name| format!("`{name}`")).collect();
            format!("| {} | {} | {} |\n", names.join(" "), option.class.name(), option.about)
        })
        .collect();
    let is_row = |line: &&str| line.starts_with("| `");
    let there: String = docs.split_inclusive('\n').filter(is_row).collect();
    if std::env::var_os("WORDLINE_DOCS").is_some_and(|value| value == "write") {
        let head = "| option | here | what it does, or why not |\n|---|---|---|\n";
        let rest: String = docs.split_inclusive('\n').filter(|line| !is_row(line)).collect();
        std::fs::write(&path, rest.replacen(head, &format!("{head}{rows}"), 1)).unwrap();
        return;
    }
    assert_eq!(there, rows, "docs/fio.md is stale: WORDLINE_DOCS=write writes the rows anew");
}

/// Bounds of all that jobs may send, flushes included: equal, but for a flush that would stand behind the last request.
#[test]
fn no_job_sends_more_than_it_says() {
    for (options, most, sent) in [
        ("rw=randread", 256, 256),
        ("rw=write\nloops=2\nnumber_ios=200", 400, 400),
        ("rw=randtrimwrite", 512, 512),
        ("rw=write\nfsync=4", 256 + 64, 256 + 63),
        (
            "rw=write\nfsync=4\nfdatasync=8\nend_fsync=1\nnrfiles=2\nloops=3",
            3 * (256 + 64 + 32 + 2),
            768 + 191 + 6,
        ),
        ("rw=randrw\nrwmixwrite=100\nfsync=1\nfsync_on_close=1", 513, 512),
    ] {
        let driven =
            load(&format!("[a]\nsize=1m\n{options}\n")).and_then(|file| file.open(1 << 20, 1)).unwrap();
        assert_eq!(driven.requests_at_most(), Some(most), "{options}");
        let mut played = Played::new(driven, 0);
        let count = std::iter::from_fn(|| played.next_of_lane().unwrap()).count();
        assert_eq!(count, sent, "{options}");
    }
    for options in ["time_based\nruntime=1", "rw=write\nio_size=4m\nend_fsync=1"] {
        let driven =
            load(&format!("[a]\nsize=1m\n{options}\n")).and_then(|file| file.open(1 << 20, 1)).unwrap();
        assert_eq!(driven.requests_at_most(), None, "{options}");
    }
}

/// Any text is a job file or an error with a place.
#[test]
fn damaged_job_files_never_panic() {
    let whole = "[global]\nioengine=libaio\nbssplit=4k/60:64k/40,8k\nrandom_distribution=zoned:50/10:50/90\n[a]\nsize=1m\n\
                 rw=randrw:8\noffset=25%\nrate=1m,,2m\nstartdelay=1-2\nfilename=x:y\\:z\ninclude a.fio\n[b]\nsize=${A}%\n";
    let mut rng = Rng::named(1, "damage");
    let letters: Vec<char> = "[]=;#:/%-,.0159kmgib\\${} \nx\u{e9}".chars().collect();
    let (mut taken, mut refused) = (0, 0);
    for round in 0..20_000 {
        let mut text: Vec<char> = if round % 2 == 0 {
            whole.chars().collect()
        } else {
            whole.replace("include a.fio\n", "").replace("[b]\nsize=${A}%\n", "").chars().collect()
        };
        for _ in 0..rng.below(4) {
            let at = rng.below(text.len() as u32) as usize;
            let letter = letters[rng.below(letters.len() as u32) as usize];
            match rng.below(3) {
                0 => text[at] = letter,
                1 => text.insert(at, letter),
                _ => text.truncate(at.max(1)),
            }
        }
        let text: String = text.into_iter().collect();
        match load(&text).and_then(|file| file.space_sectors().map(|_| file)) {
            Ok(file) => {
                taken += 1;
                if let Ok(driven) = file.open(1 << 20, 1) {
                    let mut played = Played::new(driven, 1000);
                    (0..50).for_each(|_| _ = played.next_of_lane());
                }
            }
            Err(error) => {
                refused += 1;
                assert!(error.to_string().contains("a.fio:"), "{error}");
            }
        }
    }
    assert!(taken > 1000 && refused > 1000, "{taken} taken, {refused} refused");
}

/// What a job asks for, as pairs of operation and first block of 4 KiB, each request taking 100 us.
fn played(job: &str) -> (Vec<(OpCode, u64, u64)>, u64) {
    let file = load(&format!("[a]\n{job}\n")).unwrap_or_else(|error| panic!("{job}: {error}"));
    let driven = file.open(1 << 20, 1).unwrap();
    let most = driven.requests_at_most().unwrap_or(u64::MAX);
    let mut all = Played::new(driven, 100_000);
    let mut found = Vec::new();
    while let Some((_, request)) = all.next_of_lane().unwrap() {
        found.push((request.op, request.lba / 8, u64::from(request.sectors / 8)));
    }
    assert!(found.len() as u64 <= most, "{job}: {} of {most}", found.len());
    (found, all.now_ns())
}

/// With a map in the order of writing, behind a flush and before the next pass (`get_next_verify` of fio 3.33).
#[test]
fn what_a_pass_wrote_is_read_again_behind_it() {
    for depth in [1, 8] {
        let (found, _) = played(&format!(
            "size=64k\nrw=randwrite\nverify=crc32c\nloops=2\niodepth={depth}\nioengine=libaio\nend_fsync=1"
        ));
        assert_eq!(found.len(), 2 * (16 + 2 + 16), "depth {depth}");
        let (one, two) = found.split_at(34);
        assert_eq!(one, two, "each pass has the same order");
        let (writes, rest) = one.split_at(16);
        assert!(writes.iter().all(|(op, ..)| *op == OpCode::Write));
        assert!(rest[..2].iter().all(|(op, ..)| *op == OpCode::Flush));
        let again: Vec<_> = rest[2..].iter().map(|&(op, at, size)| (op == OpCode::Read, at, size)).collect();
        let written: Vec<_> = writes.iter().map(|&(_, at, size)| (true, at, size)).collect();
        assert_eq!(again, written);
        assert!(!written.is_sorted(), "a random order");
    }
}

/// Without a map by place, and of two that overlap the later one, whole (`log_io_piece`).
#[test]
fn what_was_written_twice_is_read_once() {
    let (found, _) = played("size=1m\nrw=randwrite\nbsrange=4k-16k\nnorandommap\nverify=md5\nblockalign=4k");
    let writes: Vec<_> = found.iter().filter(|(op, ..)| *op == OpCode::Write).collect();
    let reads: Vec<_> = found.iter().filter(|(op, ..)| *op == OpCode::Read).collect();
    // The plain way: the latest first, those that meet none of what is kept.
    let mut kept: Vec<(u64, u64)> = Vec::new();
    let mut dropped: Vec<(u64, u64)> = Vec::new();
    for &&(_, at, size) in writes.iter().rev() {
        // Who was dropped by a later one still drops who came before it.
        let meets = |other: &(u64, u64)| at < other.0 + other.1 && other.0 < at + size;
        if kept.iter().chain(&dropped).any(meets) { dropped.push((at, size)) } else { kept.push((at, size)) }
    }
    kept.sort_unstable();
    assert_eq!(reads.iter().map(|&&(_, at, size)| (at, size)).collect::<Vec<_>>(), kept);
    assert!(kept.len() < writes.len() && found.iter().filter(|(op, ..)| *op == OpCode::Flush).count() == 1);
    // Files one after the other, however they were written.
    let (found, _) = played("size=64k\nnrfiles=2\nrw=write\nverify=md5");
    let blocks =
        |op| found.iter().filter(move |found| found.0 == op).map(|found| found.1).collect::<Vec<_>>();
    assert!(!blocks(OpCode::Write).is_sorted() && blocks(OpCode::Read) == (0..16).collect::<Vec<_>>());
    assert_eq!(blocks(OpCode::Flush).len(), 2);
}

#[test]
fn nothing_is_read_again_that_time_has_ended() {
    let reads = |job: &str| played(job).0.iter().filter(|(op, ..)| *op == OpCode::Read).count();
    // 256 writes of 100 us each, and as many reads; 30 ms end among the reads, 20 among the writes.
    let job = "size=1m\nrw=write\nverify=md5";
    assert_eq!(reads(job), 256);
    assert!((1..100).contains(&reads(&format!("{job}\nruntime=30ms"))));
    assert_eq!(reads(&format!("{job}\nruntime=20ms")), 0);
    assert_eq!(reads(&format!("{job}\nruntime=40ms\ntime_based")), 0);
    // Reads of the job itself are none of those; neither rate nor pause holds reads back.
    let (found, ns) = played("size=1m\nrw=randrw\nverify=md5\nthinktime=10us\nrate=,100m");
    let count = |op| found.iter().filter(|found| found.0 == op).count();
    // Its own, and one for each write.
    assert!(count(OpCode::Write) > 100 && count(OpCode::Read) == 256);
    assert!(ns < 256 * 110_000 + 256 * 100_000 + 5_000_000, "{ns}");
    let file = load("[a]\nsize=4096g\nrw=write\nverify=md5\n").unwrap();
    let error = file.open(1 << 43, 1).err().unwrap().to_string();
    assert!(error.contains("a.fio:1: verify: more than 1024 MiB for what is read back"), "{error}");
}
