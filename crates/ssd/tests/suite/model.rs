//! Random whole-drive runs beside a plain map of last-written versions.
//!
//! Every run is named by its seed, which also draws its configuration. A failure prints both;
//! `WORDLINE_MODEL_SEED=n cargo test -p wordline-ssd --test suite model` repeats just that run, and
//! `WORDLINE_MODEL_OPS=n` changes how many commands all runs together make (500,000 by default, twenty times as many
//! with `WORDLINE_SOAK=1`), and `WORDLINE_MODEL_FROM=n` with which seed they begin: a long search goes on where the
//! last one ended.

mod bounded;
mod chips;
mod ends;
mod hotness;
mod oracle;
mod parity;
mod reprogram;
mod setup;
mod shape;
mod style;
mod tally;
mod techniques;
mod thief;
mod traffic;
mod units;
mod wordlines;

use self::bounded::{random_bounded, random_bounded_unstopped, run_within};
use self::chips::Chips;
use self::oracle::{Oracle, Verdict};
use self::reprogram::random_reprograms;
use self::setup::{random_caching, random_locked_replicas, random_locks, random_sorting};
use self::tally::Tally;
use self::traffic::Run;
use self::traffic::cuts::{CutTally, Lapse};
use self::units::{random_one_shot, random_units};
use self::wordlines::random_wordlines;
use crate::support::every::has;
use crate::support::{hints, soaked, variable};
use ssd::ftl::sanitize;
use ssd::observe::{ChipEffect, Effect, Source};
use ssd::rng::Rng;
use ssd::sections::Reliability;
use ssd::signals::Facts;
use ssd::units::{Lpn, Pun};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Commands of one run.
const COMMANDS_PER_RUN: u64 = 4_000;
/// Commands of all runs.
const COMMANDS: u64 = 500_000;
/// Commands of all runs with cells that age: making their tables, at every snapshot again, is most of the time.
const AGING_COMMANDS: u64 = 40_000;
/// Commands of all runs with a plane for each page.
const PLACED_COMMANDS: u64 = 160_000;
/// Commands of all runs with data in streams.
const SEPARATED_COMMANDS: u64 = 200_000;
/// Commands of all runs with data sorted by the class of pages.
const SORTED_COMMANDS: u64 = 160_000;
/// Commands of all runs with a cache of one bit a cell.
const CACHED_COMMANDS: u64 = 100_000;
/// Commands of all runs with larger mapping units.
const UNITS_COMMANDS: u64 = 120_000;
/// Commands of all runs with wordlines that are programmed at once.
const ONE_SHOT_COMMANDS: u64 = 120_000;
/// Commands of all runs with replicas.
const REPLICA_COMMANDS: u64 = 40_000;
/// Commands of all runs with locks and replicas.
const LOCKED_REPLICA_COMMANDS: u64 = 24_000;
/// Commands of all runs with locks.
const LOCKED_COMMANDS: u64 = 80_000;
/// Commands of all runs with wordlines that go as a whole, beside what fills some in another way.
const WORDLINE_COMMANDS: u64 = 80_000;
/// Commands of all runs with a bound of exposure.
const BOUNDED_COMMANDS: u64 = 80_000;
/// The same of drives at their ends, whose runs are shorter.
const ENDS_COMMANDS: u64 = 60_000;
/// Seeds of longer searches that found something: they are always run. In the last a read was stopped for another, and
/// then what had been suspended for it went on.
const FINDS: [u64; 8] = [1_484, 1_826, 5_011, 8_985, 107_232, 114_325, 20_042_511, 60_002_689];
/// The same with locks: a drive that closed the block that its moves filled, and had no other; and drives that lock
/// many blocks, as few do; one that cleaned and locked a page at once, for ever; and one that took the rest of a unit
/// for no secret, for it had moved and been locked where it was read. One refuses what is written below the buffer for
/// a lock that fails; of two the flags of a page fail by chance, in one those of a page to which a thief copies; and
/// the last, which is worn out and owes locks for which it has no room, looked at them every millisecond for ever.
const LOCKED_FINDS: [u64; 10] =
    [407, 42, 78, 113, 20_000_453, 20_001_575, 20_004_901, 20_005_385, 60_001_454, 156];
/// The same at the ends: drives whose locks fail, in blocks that wait for their erase or without room to leave them;
/// one whose last erases were done at once, and nobody was told; and one that spent its reserve on a block that failed.
const ENDS_FINDS: [u64; 12] =
    [200, 211, 275, 347, 511, 841, 1_100, 2_100, 2_184, 20_000_536, 40_000_020, 40_000_494];
/// Drives on which something happens that is rare: pages read by age; replicas that are adopted, and that fail.
const AGING_RARE: [u64; 1] = [85];
const REPLICAS_RARE: [u64; 2] = [29, 66];
/// Drives whose cells endure few reads: some read each block for its age, moved it because of that, and read the next
/// one, for ever; of others voltages by age were promised beyond the reads that they are made for; and where data is
/// sorted the host was given the block that what waited for its class counted on, or that was closed for its reads. Two
/// judged waits by the first page of a group, and not by the slowest; and one was saved when several lanes had chosen a
/// block for their replicas.
const AGING_FINDS: [u64; 4] = [20_000_131, 20_000_479, 20_000_663, 20_000_862];
const SORTED_FINDS: [u64; 6] = [20_001_451, 20_001_470, 20_001_341, 20_002_149, 20_003_286, 30_002_756];
/// A drive that copied inside its planes what moved because of reads, again and again.
const PLACED_FINDS: [u64; 1] = [70_002_140];
/// A drive that is worn out, and learned that of the blocks that it had opened for what moves.
const SEPARATED_FINDS: [u64; 1] = [70_000_512];
/// A drive that was saved while a die sent the second of two pages, and something was suspended there.
const CACHED_FINDS: [u64; 1] = [20_004_033];
/// Drives whose last block on its way to being free lacked a page for the rest of it, beside blocks without live data;
/// one had them in its cache.
const WORDLINE_FINDS: [u64; 2] = [194, 88_000_012];
/// Drives within a bound of exposure: one trimmed pages for which many reads waited, one had read ahead what stood
/// before its locks.
const BOUNDED_FINDS: [u64; 2] = [30_392, 88_000_122];
const REPLICAS_FINDS: [u64; 1] = [20_000_575];
const LOCKED_REPLICA_FINDS: [u64; 4] = [20_000_216, 20_000_475, 20_001_037, 20_001_965];
/// So many failures are reported.
const FAILURES: usize = 5;

/// How the drive of a seed is drawn.
type Draw = fn(u64) -> Run;
/// What becomes of it.
type Life = fn(&mut Run) -> Verdict;

/// Runs one seed; the error is a whole report.
fn run(seed: u64, draw: Draw, live: Life) -> Result<Tally, String> {
    let named = |what: &str| format!("WORDLINE_MODEL_SEED={seed}: {what}");
    let mut run =
        unwound(|| draw(seed)).map_err(|panic| named(&format!("the drive is not drawn: {panic}")))?;
    match unwound(|| live(&mut run)).and_then(|verdict| verdict) {
        Ok(()) => Ok(run.tally()),
        Err(what) => Err(format!("{}\n{}", named(&what), run.describe())),
    }
}

/// What that comes to; or the panic that it ends in, in words.
fn unwound<T>(does: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(does)).map_err(|panic| {
        match (panic.downcast_ref::<String>(), panic.downcast_ref::<&str>()) {
            (Some(text), _) => format!("panic: {text}"),
            (_, Some(text)) => format!("panic: {text}"),
            _ => "panic".to_owned(),
        }
    })
}

/// Runs seeds on all processors.
fn run_all(seeds: &[u64], draw: Draw, live: Life) -> (Tally, Vec<String>) {
    let total = Mutex::new((Tally::default(), Vec::new()));
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let Some(&seed) = seeds.get(next.fetch_add(1, Ordering::Relaxed)) else { return };
            let result = run(seed, draw, live);
            let mut total = total.lock().unwrap();
            match result {
                Ok(tally) => total.0.add(&tally),
                Err(report) => total.1.push(report),
            }
            if total.1.len() >= FAILURES {
                return;
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    total.into_inner().unwrap()
}

/// The seeds of so many commands: from 0 on with the finds, or from where the environment says.
fn seeds(from: Option<u64>, commands: u64, finds: &[u64]) -> Vec<u64> {
    let first = from.unwrap_or(0);
    let finds = finds.iter().copied().filter(|_| from.is_none());
    (first..first + commands.div_ceil(COMMANDS_PER_RUN)).chain(finds).collect()
}

/// Whether the environment chooses the seeds: what is known of the usual ones is then not asserted.
fn is_search() -> bool {
    ["WORDLINE_MODEL_SEED", "WORDLINE_MODEL_FROM"].into_iter().any(|name| variable(name).is_some())
}

#[test]
fn a_search_begins_where_it_is_told() {
    assert_eq!(seeds(None, 3 * COMMANDS_PER_RUN - 1, &[9]), [0, 1, 2, 9]);
    assert_eq!(seeds(Some(70), 2 * COMMANDS_PER_RUN, &[9]), [70, 71]);
}

/// How many commands the environment wants, or else these.
fn wanted(commands: u64) -> u64 {
    variable("WORDLINE_MODEL_OPS").unwrap_or(soaked(commands))
}

/// Runs so many commands, or one seed, as the environment says.
fn check(commands: u64, finds: &[u64], draw: Draw) -> Tally {
    let tally = check_lives(commands, finds, draw, |run| run.run(COMMANDS_PER_RUN));
    let all = variable("WORDLINE_MODEL_SEED").map_or(wanted(commands), |_| COMMANDS_PER_RUN);
    assert!(tally.commands >= all, "{} commands of {all}", tally.commands);
    tally
}

/// The same of drives that live so, as many as that many commands are runs.
fn check_lives(commands: u64, finds: &[u64], draw: Draw, live: Life) -> Tally {
    if let Some(seed) = variable("WORDLINE_MODEL_SEED") {
        return run(seed, draw, live).unwrap_or_else(|report| panic!("{report}"));
    }
    let seeds = seeds(variable("WORDLINE_MODEL_FROM"), wanted(commands), finds);
    let (tally, failures) = run_all(&seeds, draw, live);
    println!(
        "seeds from {}: {} commands in {} runs, {} erases, {} blocks retired; {} drives worn out, {} commands refused by them",
        seeds[0], tally.commands, tally.runs, tally.erases, tally.retired, tally.worn_out, tally.refused
    );
    assert!(failures.is_empty(), "\n{}", failures.join("\n\n"));
    tally
}

#[test]
fn a_drive_agrees_with_a_map_of_versions() {
    let tally = check(COMMANDS, &FINDS, Run::new);
    println!(
        "power cut {} times, {} of them while pages were programmed",
        tally.cuts, tally.cuts_in_programs
    );
    if !is_search() && variable("WORDLINE_MODEL_OPS").is_none() {
        assert!(tally.cuts_in_programs > soaked(600) && tally.cuts > tally.cuts_in_programs, "{tally:?}");
    }
}

/// The observer of chips finds what was promised in whole pages, and nowhere else.
#[test]
fn a_scan_finds_whole_pages_only() {
    let mut oracle = Oracle::new((4_096, 4, 16), (false, true), false);
    let mut chips = Chips::default();
    let (lpn, to) = (Lpn(0), Pun(0));
    let begins = ChipEffect::ProgramBegins { block: 0, page: 0, first: to, one_bit: false };
    let spare = ChipEffect::Spare { to, lpn, from: Source::Zero, facts: Facts::NONE };
    let ends = |failed| ChipEffect::ProgramEnds { block: 0, page: 0, failed };
    for effect in [begins, spare] {
        chips.apply(effect, &oracle).unwrap();
    }
    oracle.apply(Effect::Place { lpn, to }).unwrap();
    chips.place(to.0, oracle.stored(to.0).unwrap()).unwrap();
    assert!(chips.cut(&oracle).is_err(), "the program has not ended");
    chips.apply(ends(true), &oracle).unwrap();
    assert!(chips.cut(&oracle).is_err(), "the program has failed");
    chips.apply(ends(false), &oracle).unwrap();
    chips.cut(&oracle).unwrap();
    assert!(chips.apply(begins, &oracle).is_err(), "the page holds data");
    chips.apply(ChipEffect::EraseBegins { block: 0 }, &oracle).unwrap();
    assert!(chips.cut(&oracle).is_err(), "the block is being erased");
    assert_eq!((chips.cuts, chips.cuts_in_programs), (4, 2));
}

#[test]
fn a_drive_with_a_plane_for_each_page_agrees_too() {
    check(PLACED_COMMANDS, &PLACED_FINDS, Run::placed);
}

#[test]
fn a_drive_that_separates_data_agrees_too() {
    let tally = check(SEPARATED_COMMANDS, &SEPARATED_FINDS, Run::separated);
    println!("{} units filled pages of streams that are not theirs", tally.mixed);
    if !is_search() && variable("WORDLINE_MODEL_OPS").is_none() {
        assert!(tally.mixed > soaked(60), "{tally:?}");
    }
}

#[test]
fn a_drive_that_sorts_data_by_page_types_agrees_too() {
    let tally =
        check(SORTED_COMMANDS, &SORTED_FINDS, |seed| Run::drawn(seed, "model/page classes", random_sorting));
    println!("{} units programmed to pages of their class, {} to others", tally.matched, tally.neighbour);
    if !is_search() && variable("WORDLINE_MODEL_OPS").is_none() {
        assert!(tally.matched > soaked(20_000) && tally.neighbour > soaked(20_000), "{tally:?}");
    }
}

#[test]
fn a_drive_with_a_cache_of_one_bit_a_cell_agrees_too() {
    let tally =
        check(CACHED_COMMANDS, &CACHED_FINDS, |seed| Run::drawn(seed, "model/slc cache", random_caching));
    println!("{} blocks destaged", tally.destaged);
    if !is_search() && variable("WORDLINE_MODEL_OPS").is_none() {
        assert!(tally.destaged > soaked(2_500), "{tally:?}");
    }
}

#[test]
fn a_drive_of_larger_units_agrees_too() {
    check(UNITS_COMMANDS, &[], |seed| Run::drawn(seed, "model/units", random_units));
}

#[test]
fn a_drive_that_programs_wordlines_at_once_agrees_too() {
    check(ONE_SHOT_COMMANDS, &[], |seed| Run::drawn(seed, "model/one shot", random_one_shot));
}

/// Every version is unique bytes: a thief finds none that the drive has said is gone, at any step.
#[test]
fn a_thief_finds_nothing_that_was_said_to_be_gone() {
    let tally = check(LOCKED_COMMANDS, &LOCKED_FINDS, |seed| Run::watched(seed, "model/locks", random_locks));
    println!(
        "{} locks of pages and {} of blocks, {} of them once more, {} failed, {} units moved for them; {} versions looked for",
        tally.page_locks,
        tally.block_locks,
        tally.relocks,
        tally.failed_locks,
        tally.lock_copies,
        tally.looked
    );
    if !is_search() && variable("WORDLINE_MODEL_OPS").is_none() {
        assert!(
            tally.page_locks > soaked(6_667)
                && tally.block_locks > soaked(1_334)
                && tally.failed_locks > soaked(67),
            "{tally:?}"
        );
        assert!(tally.relocks > soaked(667), "{tally:?}");
        assert!(tally.lock_copies > soaked(667) && tally.looked > soaked(6_667), "{tally:?}");
    }
}

/// No page is exposed for longer than the drive's bound; and what was said to be gone is, too.
#[test]
fn a_page_is_exposed_no_longer_than_the_bound() {
    // What was found was found on drives that stop nothing.
    let draw = |seed| {
        let is_found = BOUNDED_FINDS.contains(&seed);
        Run::watched(seed, "model/bounded", if is_found { random_bounded_unstopped } else { random_bounded })
    };
    let tally = check_lives(BOUNDED_COMMANDS, &BOUNDED_FINDS, draw, |run| run_within(run, COMMANDS_PER_RUN));
    println!(
        "{} locks of pages and {} of blocks, {} units moved for them, {} stops; the longest took {} % of the bound",
        tally.page_locks, tally.block_locks, tally.lock_copies, tally.stops, tally.exposed_percent
    );
    if !is_search() && variable("WORDLINE_MODEL_OPS").is_none() {
        assert!(tally.worn_out == 0 && tally.lock_copies > soaked(667), "{tally:?}");
        assert!(tally.stops > soaked(100), "nothing is stopped for reads: {tally:?}");
        assert!(tally.exposed_percent > 40, "the bound is never near: {tally:?}");
    }
}

/// What is reprogrammed is gone, too, and some of what lives goes with it; by no other means data is lost.
#[test]
fn reprogramming_loses_data_and_nothing_else_does() {
    let of = |policy: &'static str| {
        let mut total = Tally::default();
        for seed in 1..=soaked(6) {
            let mut run = Run::watched(seed, "model/reprogrammed", random_reprograms);
            if policy != sanitize::reprogram::NAME {
                run = Run::watched(seed, "model/reprogrammed", |rng| {
                    let mut cfg = random_reprograms(rng);
                    cfg.sanitize = sanitize::Config::named("page_lock").unwrap();
                    cfg
                });
            }
            let verdict = run.run(COMMANDS_PER_RUN);
            verdict.unwrap_or_else(|what| panic!("seed {seed}: {what}\n{}", run.describe()));
            total.add(&run.tally());
        }
        total
    };
    let (locked, lossy) = (of("page_lock"), of(sanitize::reprogram::NAME));
    println!("{} pages reprogrammed, {} units lost with them", lossy.reprograms, lossy.spoiled);
    assert!(lossy.reprograms > soaked(3_000) && lossy.spoiled > soaked(300), "{lossy:?}");
    assert!(locked.page_locks > soaked(3_000) && locked.units_lost == 0, "{locked:?}");
}

/// The same of drives with replicas.
#[test]
fn a_thief_finds_no_replica_of_what_was_said_to_be_gone() {
    let draw = |seed| Run::watched(seed, "model/locked replicas", random_locked_replicas);
    let tally = check(LOCKED_REPLICA_COMMANDS, &LOCKED_REPLICA_FINDS, draw);
    println!(
        "{} units replicated, {} replicas adopted, {} locks",
        tally.replicas, tally.adopted, tally.page_locks
    );
}

/// The same of drives that scrub and reprogram wordlines, beside what fills some in another way.
#[test]
fn a_thief_finds_nothing_on_wordlines_of_any_kind() {
    let tally = check(WORDLINE_COMMANDS, &WORDLINE_FINDS, |seed| {
        Run::watched(seed, "model/wordlines", random_wordlines)
    });
    println!(
        "{} wordlines scrubbed, {} pages reprogrammed; {} of one bit a cell; {} copies, {} refused; {} units lost",
        tally.scrubs,
        tally.reprograms,
        tally.one_bit_hidden,
        tally.copies,
        tally.copies_refused,
        tally.units_lost
    );
    if !is_search() && variable("WORDLINE_MODEL_OPS").is_none() {
        assert!(
            tally.scrubs > 1_000 && tally.reprograms > 1_000 && tally.one_bit_hidden > 1_000,
            "{tally:?}"
        );
        assert!((tally.copies > 200 && tally.copies_refused > 200) || !has("ftl.migration"), "{tally:?}");
    }
}

/// The same where nothing is locked: then he finds, in every run.
#[test]
fn a_thief_finds_what_is_not_locked() {
    let unlocked = |rng: &mut Rng| {
        let mut cfg = random_locks(rng);
        cfg.sanitize = sanitize::Config::named("none").unwrap();
        cfg
    };
    for seed in 1..=10 {
        let mut run = Run::watched(seed, "model/locks", unlocked);
        let found = run.run(COMMANDS_PER_RUN).expect_err("a thief finds something");
        assert!(found.contains("a thief reads version"), "{seed}: {found}");
    }
}

/// The same where copies inside the chips carry what is locked: he has them make one.
#[test]
fn a_thief_goes_through_the_hole_of_copies() {
    let holed = |rng: &mut Rng| {
        let mut cfg = random_locks(rng);
        cfg.lock.copyback_hole = true;
        // Drives that soon take no more writes may have no block to copy to.
        cfg.reliability = Reliability::default();
        cfg.sanitize = sanitize::Config::named("page_lock").unwrap();
        cfg
    };
    for seed in 1..=10 {
        let mut run = Run::watched(seed, "model/locks", holed);
        let found = run.run(COMMANDS_PER_RUN).expect_err("a thief finds something");
        assert!(found.contains("a thief copies page"), "{seed}: {found}");
    }
}

/// Seeds of longer searches that found something: a drive that was stuck with an erase that was done and not told; a
/// host that was refused pages though no move was under way any more; and seeds that cut scrubs and locks of blocks
/// short, as few do.
const CUT_FINDS: [u64; 7] = [1_057, 2_874, 48, 66, 73, 78, 96];
/// Cuts of one run, and commands after which it ends.
const CUTS_PER_RUN: u64 = 20;
const COMMANDS_PER_CUTS: u64 = 2_000;

/// The power is lost about so often, in runs of seeds from 0 on, on all processors; the first failures are told.
fn cut_all(cuts: u64, lapse: Lapse) -> (CutTally, Vec<String>) {
    let (total, next) = (Mutex::new((CutTally::default(), Vec::new())), AtomicUsize::new(0));
    let first = variable("WORDLINE_MODEL_SEED");
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            // As many runs on every machine, so that they find the same; many end before all of their cuts.
            if at as u64 > 2 * cuts / CUTS_PER_RUN || !total.lock().unwrap().1.is_empty() {
                return;
            }
            let seed = match (first, CUT_FINDS.get(at)) {
                (None, Some(&seed)) => seed,
                _ => first.unwrap_or_default() + at as u64,
            };
            let mut run = Run::cut(seed, CUTS_PER_RUN, lapse);
            let result = catch_unwind(AssertUnwindSafe(|| run.run_cuts(COMMANDS_PER_CUTS)));
            let mut total = total.lock().unwrap();
            match result {
                Ok(Ok(tally)) => total.0.add(&tally),
                Ok(Err(what)) => total.1.push(format!("seed {seed}: {what}\n{}", run.describe())),
                Err(_) => total.1.push(format!("seed {seed}: panic\n{}", run.describe())),
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    total.into_inner().unwrap()
}

/// Cuts of the power before, in ten parts of, and after programs, erases, locks and scrubs; for a night
/// `WORDLINE_MODEL_CUTS=100000`.
#[test]
fn a_thief_finds_nothing_after_power_cuts() {
    let cuts = variable("WORDLINE_MODEL_CUTS").unwrap_or(soaked(240));
    let (tally, failures) = cut_all(cuts, Lapse::Nothing);
    println!("{tally:?}");
    assert!(failures.is_empty(), "\n{}", failures.join("\n\n"));
    // Every kind in few cuts, every kind at every moment in many.
    assert!(tally.by.iter().all(|of| of.iter().sum::<u64>() >= cuts / 80), "{tally:?}");
    assert!(tally.by.iter().flatten().all(|&count| count >= cuts / 500), "{tally:?}");
    assert!(tally.again > cuts / 50, "{tally:?}");
    // Locks cut short answer as often as their cells say.
    let off = (tally.answered as f64 - tally.expected).abs();
    assert!(tally.torn > cuts / 8 && off < 4.0 * tally.variance.sqrt() + 1.0, "{tally:?}");
    let most = tally.expected_after_year + 4.0 * tally.expected_after_year.sqrt();
    // Without replicas other drives are drawn, which lock less.
    assert!(tally.locked > 20 * cuts || !has("ftl.read_reclaim.redftl"), "{tally:?}");
    assert!(tally.after_year as f64 <= most, "{tally:?}");
}

/// The same where recoveries leave something out: he finds it.
#[test]
fn a_thief_finds_what_recoveries_leave_out() {
    let lapses = [
        (Lapse::Everything, "the drive serves"),
        (Lapse::Old, "an old version"),
        (Lapse::Torn, "cannot be trusted"),
        (Lapse::Background, "43200 minutes later"),
    ];
    for (lapse, how) in lapses {
        let (_, failures) = cut_all(4_000, lapse);
        assert!(failures.first().is_some_and(|found| found.contains(how)), "{lapse:?}: {failures:?}");
    }
}

/// Drives of any kind at the ends of what can be, that grow older between phases of their lives.
#[test]
fn a_drive_at_its_ends_agrees_too() {
    let tally = check_lives(ENDS_COMMANDS, &ENDS_FINDS, Run::at_ends, Run::run_phases);
    println!(
        "{} steps of ageing; {} locks failed, {} units lost",
        tally.aged, tally.failed_locks, tally.units_lost
    );
    if !is_search() && variable("WORDLINE_MODEL_OPS").is_none() {
        assert!(
            tally.aged > soaked(20) && tally.failed_locks > soaked(200) && tally.worn_out > 2,
            "{tally:?}"
        );
    }
}

#[test]
fn a_drive_that_loses_data_says_so() {
    let tally = check(AGING_COMMANDS, &[&AGING_RARE[..], &AGING_FINDS].concat(), Run::aging);
    println!(
        "{} commands ended uncorrectable, {} units were lost, {} pages moved because of reads; {} read by age",
        tally.uncorrectable, tally.units_lost, tally.reclaimed, tally.read_by_age
    );
    if !is_search() {
        assert!(
            (tally.uncorrectable > soaked(20) || !has("ftl.read_reclaim.redftl_plus"))
                && tally.units_lost > soaked(10)
                && tally.reclaimed > soaked(1_000),
            "{tally:?}"
        );
        assert!(tally.read_by_age > 10_000 || !has("ftl.age_marker"), "{tally:?}");
    }
}

#[test]
fn a_drive_with_replicas_never_reads_an_old_one() {
    let tally = check(REPLICA_COMMANDS, &[&REPLICAS_RARE[..], &REPLICAS_FINDS].concat(), Run::replicating);
    println!(
        "{} units replicated, {} replicas adopted, {} failed; {} units read from replicas",
        tally.replicas, tally.adopted, tally.failed_replicas, tally.replica_reads
    );
    if !is_search() && has("ftl.read_reclaim.redftl") {
        assert!(
            tally.replicas > soaked(67)
                && tally.adopted > soaked(2)
                && tally.failed_replicas > 5
                && tally.replica_reads > soaked(67),
            "{tally:?}"
        );
    }
}
