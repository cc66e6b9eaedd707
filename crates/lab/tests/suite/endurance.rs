//! How long a drive lasts: against formulas, against drives that wear out, and against a published layout.

use std::path::Path;

use lab::endurance::{Answer, EnduranceError, Wanted, table};
use lab::{EraseCounts, Job, Overwrite, Preconditioning, RunSpec, Stop};
use ssd::DriveConfig;
use workload::Spec;

use crate::common::{closed, generator, run, small_drive, try_run};

const DAYS: f64 = 365.0;

/// One lane of many blocks, whose write amplification theory knows.
const ONE_LANE: &str = "[drive]\nover_provisioning_percent = 25.0\n[nand.geometry]\nchannels = 1\n\
                        chips_per_channel = 1\ndies_per_chip = 1\nplanes_per_die = 1\nblocks_per_plane = 1200\n\
                        wordlines_per_block = 64\nbits_per_cell = 1\n";

fn wanted(of: &[(&str, &str)]) -> Wanted {
    let mut wanted = Wanted { is_short: true, dashes: "--", ..Wanted::default() };
    for (name, value) in of {
        let text = Some((*value).to_owned());
        match *name {
            "capacity" => wanted.capacity = text,
            "tbw" => wanted.tbw = text,
            "rated" => wanted.rated = text,
            "writes" => wanted.writes = text,
            "reads" => wanted.reads = text,
            "pattern" => wanted.pattern = text,
            "pe" => wanted.pe = Some(value.parse().unwrap()),
            "what_if" => wanted.is_short = false,
            _ => panic!("{name}"),
        }
    }
    wanted
}

fn ask(job: &Job, of: &[(&str, &str)]) -> Result<Answer, EnduranceError> {
    wanted(of).question(job, None)?.answer(&Stop::default(), &|_, _| {})
}

fn of_text(text: &str) -> Job {
    Job::of_text(Path::new("drive.toml"), text.to_owned())
}

fn job(drive: Option<&str>, sets: &[&str]) -> Job {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    Job::read(None, drive, &sets).unwrap()
}

fn close(what: &str, found: f64, expected: f64, percent: f64) {
    assert!((found / expected - 1.0).abs() < percent / 100.0, "{what}: found {found}, expected {expected}");
}

/// Uniform writes with FIFO cleaning: A = 1 / (1 - x), x = exp(-T/U (1 - x)) with T/U blocks in use over blocks of data
/// (Desnoyers, 2014, section 3); the free blocks that cleaning keeps are not in use.
#[test]
fn years_under_uniform_writes_are_those_of_the_formula() {
    let job = of_text(&format!("{ONE_LANE}[ftl.gc_victim]\npolicy = \"fifo\"\n"));
    let answer =
        ask(&job, &[("pe", "1000"), ("tbw", "0.4"), ("writes", "1GB/day"), ("pattern", "random")]).unwrap();
    assert!((answer.scale - 1.0).abs() < 0.01, "{}", answer.scale);
    let in_use = f64::from(1_200 - 12) / 960.0;
    let share = (0..500).fold(0.5f64, |x, _| (-in_use * (1.0 - x)).exp());
    let amplification = 1.0 / (1.0 - share);
    close("write amplification", answer.write_amplification[0], amplification, 2.0);
    // The cycles of all flash, over what is programmed a day.
    let config = job.resolve(None).unwrap().config.clone();
    let by_cycles = 1_000.0 * config.used_bytes() as f64 / (1e9 * amplification) / DAYS;
    close("budgets", answer.budgets[1].bytes / (1e9 * amplification) / DAYS, by_cycles, 2.0);
    // 0.4 TB are the smaller budget; what is written is what they are for.
    assert!(answer.budget_bytes < answer.budgets[1].bytes);
    close("years", answer.years.unwrap(), 0.4e12 / 1e9 / DAYS, 2.0);
    let told = table(&answer);
    assert!(told.contains("years to the rating") && told.contains("share of DWPD used"), "{told}");
    // A rating that the cycles do not last for is not what is used up.
    let by_cycles =
        ask(&job, &[("pe", "10"), ("tbw", "0.4"), ("writes", "1GB/day"), ("pattern", "random")]).unwrap();
    assert!(by_cycles.budget_bytes < by_cycles.budgets[0].bytes);
    let told = table(&by_cycles);
    assert!(told.contains("years to the cycles") && told.contains("share used"), "{told}");
    let by_cycles = ask(&job, &[("pe", "1000"), ("writes", "1GB/day"), ("pattern", "random")]).unwrap();
    close(
        "years by cycles",
        by_cycles.years.unwrap(),
        1_000.0 * config.used_bytes() as f64 / (1e9 * amplification) / DAYS,
        2.0,
    );
}

/// A drive that is written at random until it is worn out takes what was predicted.
#[test]
fn a_drive_that_wears_out_took_what_was_predicted() {
    let job = of_text(ONE_LANE);
    let answer = ask(&job, &[("pe", "50"), ("writes", "1GB/day"), ("pattern", "random")]).unwrap();
    let mut config: DriveConfig = job.resolve(None).unwrap().config.clone();
    // One of them is spent before: what is measured begins when cleaning is steady.
    config.reliability.endurance_cycles = 51;
    let overwrite = Overwrite::SteadyState { change_percent: 2.0, times_at_most: 20.0 };
    let erase_counts = EraseCounts::Equal(1);
    let preconditioning =
        Preconditioning { fill_percent: 100.0, overwrite, erase_counts, ..Preconditioning::default() };
    let spec = RunSpec { preconditioning, executor: ssd::Executor::Functional, ..closed(32) };
    let writes = generator(100_000_000, "read_percent = 0\nsize_bytes = 4096");
    let result = try_run(&config, &writes, &spec).unwrap_err().result.unwrap();
    let predicted = answer.years.unwrap() * DAYS * 1e9;
    close("bytes until worn out", result.bytes_written as f64, predicted, 3.0);
}

/// CacheLib's layout: half of the bytes on 4 % of the space at random, the rest a log (Allison et al., EuroSys 2025,
/// measure 3.22 on a drive of 1.88 TB, and 1.03 with placement ids). Its flash is taken for 2 TiB.
#[test]
fn a_cache_on_flash_amplifies_as_published_and_hardly_with_placement_ids() {
    let job = job(None, &["drive.over_provisioning_percent=17"]);
    let asked = [("capacity", "1.88TB"), ("tbw", "3000"), ("writes", "2TB/day"), ("pattern", "mixed")];
    let answer = ask(&job, &[&asked[..], &[("what_if", "")]].concat()).unwrap();
    close("write amplification", answer.write_amplification[0], 3.22, 10.0);
    let ids = answer.what_if.iter().find(|other| other.name == "placement ids").unwrap();
    assert!(ids.write_amplification < 1.06, "{ids:?}");
    let better = answer.what_if.iter().find(|other| other.name == "OP +28 %").unwrap();
    assert!(better.years > answer.years.unwrap(), "{better:?}");
}

/// What is told is the same question's answer: the same twice, and years that follow from what is told beside them.
#[test]
fn numbers_follow_from_each_other_and_are_the_same_again() {
    let asked = [
        ("capacity", "960GB"),
        ("tbw", "1.4PB"),
        ("pe", "3000"),
        ("writes", "500GB/day"),
        ("pattern", "jesd219"),
    ];
    let job = job(None, &[]);
    let answer = ask(&job, &asked).unwrap();
    assert_eq!(answer, ask(&job, &asked).unwrap());
    let by_hand = answer.budget_bytes / (500e9 * answer.write_amplification[0]) / DAYS;
    close("years", answer.years.unwrap(), by_hand, 1e-6);
    close("DWPD", answer.dwpd.unwrap()[1], 1.4e15 / 960e9 / (5.0 * DAYS), 1e-6);
    close("share", answer.share_used.unwrap(), 5.0 / by_hand, 1e-6);
    // Sectors that are smaller than a unit are written as whole units.
    assert!(answer.write_amplification[0] > 1.5, "{:?}", answer.write_amplification);
    let [low, high] = answer.years_range.unwrap();
    assert!(low < by_hand && by_hand < high && high / low < 1.15, "{low} {by_hand} {high}");
}

#[test]
fn an_unknown_workload_has_a_range_and_nothing_written_lasts() {
    let job = job(None, &[]);
    let rated = [("capacity", "1TB"), ("tbw", "500")];
    let answer = ask(&job, &[&rated[..], &[("writes", "864GB/day")]].concat()).unwrap();
    let [low, high] = answer.years_range.unwrap();
    // At worst it writes as the rating does, at best nothing is copied.
    close("at worst", low, 500e12 / 864e9 / DAYS, 3.0);
    assert!(answer.is_range && high / low > 5.0, "{low} {high}");
    assert!(lab::endurance::table(&answer).starts_with("unknown workload"));
    let none = ask(&job, &[&rated[..], &[("writes", "0/day")]].concat()).unwrap();
    assert_eq!((none.years, none.days), (None, None));
    assert!(none.remarks.iter().any(|remark| remark.contains("nothing is written")), "{:?}", none.remarks);
    let reads = [("pe", "1000"), ("reads", "2GiB/s")];
    let read = ask(&self::job(Some("qlc"), &[]), &reads).unwrap();
    let told = read.reads.unwrap();
    close("moved", told.programmed_a_day, told.bytes_a_day * 768.0 / told.reads_a_block, 1e-6);
    assert!(read.years.unwrap() < 2.0, "{:?}", read.years);
}

/// Of a recording a scaled drive gets a share of the places: its amplification is that of the whole.
#[test]
fn a_recording_amplifies_alike_on_a_smaller_drive() {
    let amplification = |times: u32, scale: f64| {
        let text = format!(
            "[[phases]]\npattern = \"zipf\"\nzipf_theta = 0.9\nread_percent = 0\nsize_bytes = 4096\n\
             count = {}\nfootprint_gib = {:?}\narrival = \"poisson\"\nrate_iops = 1000\n",
            1_000_000 * times,
            0.9 * f64::from(times),
        );
        let spec = Spec::parse(&text).unwrap();
        let prepared = spec.prepare().unwrap();
        let drive = ONE_LANE.replace("1200", &(1_200 * times).to_string());
        let job = of_text(&format!("{drive}[nand.reliability]\nendurance_cycles = 1000\n"));
        let answer = wanted(&[]).question(&job, Some((&spec, &prepared))).unwrap();
        let answer = answer.answer(&Stop::default(), &|_, _| {}).unwrap();
        close("scale", answer.scale, scale, 5.0);
        close("writes", answer.host_bytes_a_day, 4_096.0 * 1_000.0 * 86_400.0, 1.0);
        assert!(answer.remarks.iter().any(|remark| remark.contains("writes a day follow")), "{answer:?}");
        answer.write_amplification[0]
    };
    let (whole, part) = (amplification(1, 1.0), amplification(16, 4.1));
    assert!(whole > 1.1, "{whole}");
    close("of a share", part, whole, 4.0);
}

/// Read reclaim programs what the formula says: blocks of `p` pages, moved after `n` reads, `p / n` of what is read.
#[test]
fn what_reads_make_a_drive_move_is_what_is_told() {
    let mut config = small_drive();
    config.buffer = ssd::host::buffer::Config::named("none").unwrap();
    config.read_reclaim = ssd::ftl::read_reclaim::Config::named("block").unwrap();
    let section = config.section_mut("ftl.read_reclaim").unwrap();
    section.set("max_reads", &ssd::config::Value::Integer(200)).unwrap();
    section.set("threshold_percent", &ssd::config::Value::Integer(100)).unwrap();
    config.errors.model = ssd::sections::ErrorModel::Cells;
    let preconditioning = Preconditioning { fill_percent: 100.0, ..Preconditioning::default() };
    let spec = RunSpec { preconditioning, executor: ssd::Executor::Functional, ..closed(32) };
    let reads = generator(1_000_000, "read_percent = 100\nsize_bytes = 16384");
    let result = try_run(&config, &reads, &spec).unwrap();
    let moved = result.flash.bytes_programmed[ssd::flash::op::Cause::ReadReclaim] as f64;
    let set = ["ftl.read_reclaim.policy=block", "ftl.read_reclaim.max_reads=200"];
    let more = ["ftl.read_reclaim.threshold_percent=100", "nand.errors.model=cells"];
    let asked = wanted(&[("pe", "1000"), ("reads", "1GB/day")]);
    let answer = asked.question(&self::job(Some("tlc"), &[set, more].concat()), None).unwrap();
    let told = answer.answer(&Stop::default(), &|_, _| {}).unwrap().reads.unwrap();
    assert!((told.reads_a_block - 200.0).abs() < 1e-9 && told.basis.contains("ftl.read_reclaim"), "{told:?}");
    // The same of this drive's blocks.
    let pages = f64::from(config.geometry.pages_per_block());
    close("moved", moved / result.bytes_read as f64, pages / 200.0, 10.0);
}

/// Small writes that must be durable one by one fill pages of their own, unless capacitors answer for them.
#[test]
fn flushes_without_capacitors_cost_pages() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wal.fio");
    let text = "[wal]\nrw=write\nbs=2k\nfdatasync=1\nrate_iops=50\nsize=64m\nfilename=/dev/nvme0n1\n";
    std::fs::write(&path, text).unwrap();
    let spec = Spec::fio(&path);
    let prepared = spec.prepare().unwrap();
    let asked = wanted(&[("capacity", "480GB"), ("tbw", "300"), ("what_if", "")]);
    let answer = asked.question(&self::job(None, &[]), Some((&spec, &prepared))).unwrap();
    let answer = answer.answer(&Stop::default(), &|_, _| {}).unwrap();
    close("writes", answer.host_bytes_a_day, 50.0 * 2_048.0 * 86_400.0, 2.0);
    // A page of 16 KiB for each 2 KiB.
    assert!(answer.write_amplification[0] > 7.5, "{answer:?}");
    let capacitors = answer.what_if.iter().find(|other| other.name == "capacitors").unwrap();
    assert!(capacitors.write_amplification < 1.5, "{capacitors:?}");
    assert!(
        answer.flush.contains("wait for flash") && !answer.flush.contains("has none"),
        "{}",
        answer.flush
    );
}

/// Jobs that go on as soon as the drive answers have no rate of their own.
#[test]
fn what_has_no_times_needs_a_rate() {
    let spec = Spec::parse("pattern = \"zipf\"\nread_percent = 50\ncount = 1000\n").unwrap();
    let prepared = spec.prepare().unwrap();
    let job = job(None, &[]);
    let ask = |of: &[(&str, &str)]| {
        let rated = [("capacity", "480GB"), ("tbw", "300")];
        let asked = wanted(&[&rated[..], of].concat());
        asked.question(&job, Some((&spec, &prepared)))?.answer(&Stop::default(), &|_, _| {})
    };
    let error = ask(&[]).unwrap_err().to_string();
    assert!(error.contains("nothing says how much is written a day"), "{error}");
    let answer = ask(&[("writes", "100GB/day")]).unwrap();
    let skewed = answer.write_amplification[0];
    assert!(1.2 < skewed && skewed < answer.rated_write_amplification.unwrap(), "{answer:?}");
}

/// Waiting for flushes is no rate, and what several drives do says nothing of one.
#[test]
fn jobs_without_a_rate_or_for_several_drives_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jobs.fio");
    let told = |text: &str| {
        std::fs::write(&path, format!("[global]\nrw=randwrite\nbs=4k\nsize=64m\n{text}")).unwrap();
        let spec = Spec::fio(&path);
        let prepared = spec.prepare().unwrap();
        let asked = wanted(&[("capacity", "480GB"), ("tbw", "300")]);
        let answer = || -> Result<Answer, EnduranceError> {
            asked.question(&job(None, &[]), Some((&spec, &prepared)))?.answer(&Stop::default(), &|_, _| {})
        };
        answer().unwrap_err().to_string()
    };
    for job in ["fsync=1", "sync=1", "iodepth=32\nioengine=libaio"] {
        let told = told(&format!("[a]\nfilename=/dev/nvme0n1\n{job}\n"));
        assert!(told.contains("nothing says how much is written a day"), "{job}: {told}");
    }
    // Nor does what only reads say where writes go.
    let spec = Spec::fio(&path);
    std::fs::write(&path, "[a]\nrw=randread\nbs=4k\nsize=64m\nrate_iops=50\nfilename=/dev/nvme0n1\n")
        .unwrap();
    let prepared = spec.prepare().unwrap();
    let asked = wanted(&[("capacity", "480GB"), ("tbw", "300"), ("writes", "1GB/day")]);
    let drive = job(None, &[]);
    let question = asked.question(&drive, Some((&spec, &prepared))).unwrap();
    let error = question.answer(&Stop::default(), &|_, _| {}).unwrap_err().to_string();
    assert!(error.contains("a workload that writes nothing"), "{error}");
    let told = told("rate_iops=50\n[a]\nfilename=/dev/nvme0n1\n[b]\nfilename=/dev/nvme1n1\n");
    assert!(told.contains("several drives") && told.contains("nvme0n1, nvme1n1"), "{told}");
}

/// Ten users who write the same places write ten times as much as one, at times of their own.
#[test]
fn users_of_a_generator_add_up() {
    let ask = |copies: u32, rate: u32, more: &str| {
        let text = "pattern = \"uniform\"\nread_percent = 0\nfootprint_gib = 1.0\narrival = \"fixed\"\n";
        let text = format!("{text}rate_iops = {rate}\ncopies = {copies}\ncount = 20000\n{more}");
        let spec = Spec::parse(&text).unwrap();
        let prepared = spec.prepare().unwrap();
        let asked = wanted(&[("capacity", "480GB"), ("tbw", "300")]);
        let question = asked.question(&job(None, &[]), Some((&spec, &prepared))).unwrap();
        question.answer(&Stop::default(), &|_, _| {}).unwrap()
    };
    let (ten, one) = (ask(10, 100, ""), ask(1, 1_000, ""));
    close("writes a day", ten.host_bytes_a_day, one.host_bytes_a_day, 1.0);
    close("write amplification", ten.write_amplification[0], one.write_amplification[0], 0.1);
    // A cache that holds all of it lets through what its flusher writes.
    let cached = ask(1, 1_000, "page_cache_mib = 2000\n");
    assert!(cached.host_bytes_a_day < one.host_bytes_a_day, "{cached:?}");
}

/// A rated drive says how long it lasts if it goes on like the run: the budget over what it programs a day.
#[test]
fn a_rated_drive_tells_how_long_it_would_last() {
    let mut config = small_drive();
    let writes = generator(20_000, "read_percent = 0\nsize_bytes = 4096");
    let none = run(&config, &writes, &closed(32)).lifetime;
    assert_eq!((none.days, none.budget_bytes, none.budget_basis.as_str()), (None, None, ""));
    config.rating.tbw = 1.0;
    config.rating.workload = ssd::sections::RatedWorkload::Sequential;
    let result = run(&config, &writes, &closed(32));
    assert_eq!(result.lifetime.budget_bytes, Some(1e12));
    let a_day = result.flash.bytes_programmed.sum() as f64 / result.simulated_ns as f64 * 86_400e9;
    let days = result.lifetime.days.unwrap();
    assert!((days / (1e12 / a_day) - 1.0).abs() < 1e-9, "{days}");
    assert!(lab::report::table(&result).contains("years if it goes on like this"));
    assert_eq!(result.event_hash, run(&small_drive(), &writes, &closed(32)).event_hash);
    // Made as small as its workload, it has the rating of another.
    let origins = [("nand.geometry.blocks_per_plane".to_owned(), "sized to the workload".to_owned())];
    let sized = run(&config, &writes, &RunSpec { origins: origins.into(), ..closed(32) }).lifetime;
    assert_eq!((sized.days, sized.budget_bytes), (None, None));
    assert!(sized.budget_basis.contains("as small as its workload"), "{}", sized.budget_basis);
    // By the cycles of all blocks, if these are fewer; and no days where no time passes.
    config.reliability.endurance_cycles = 1_000;
    let spec = RunSpec { executor: ssd::Executor::Functional, ..closed(32) };
    let counted = run(&config, &writes, &spec).lifetime;
    assert_eq!(counted.budget_bytes, Some(1_000.0 * config.used_bytes() as f64));
    assert!(counted.budget_basis.starts_with("1000 cycles") && counted.days.is_none(), "{counted:?}");
}
