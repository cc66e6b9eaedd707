//! What a reader of a result must know and its numbers alone do not say, as sentences: `remarks` in `result.json`, and
//! lines below the title of its table. What happened to the workload's requests is told by the workload itself
//! ([`workload::SourceReport::remarks`]) and stands before these.
//!
//! To add one, write a function below and name it in [`ALL`].

use crate::base::number::{bytes, count, digits, duration, of_things, percent, si};
use crate::past::precondition::Past;
use crate::plan::spec::LoopMode;
use crate::result::RunResult;
use crate::result::cliff::Cliff;
use crate::result::facts::Facts;
use ssd::flash::op::Cause;
use ssd::{Executor, OpCode};
use workload::Remark;

/// A remark on a finished run, where there is reason for one.
type Find = fn(&Facts<'_>, &RunResult) -> Option<Remark>;

/// All of them, in the order in which they are told.
const ALL: &[Find] = &[
    unwritten_reads,
    parts_of_units,
    padded_by_flushes,
    no_spare,
    looked_ahead,
    trained,
    too_short,
    nothing_to_clean,
    too_fast,
    too_close,
    times_for_nothing,
    no_reclaim_yet,
    cliff,
    no_files,
    lost_with_others,
    exposed_for_long,
    held_by_locks,
    busy_with_locks,
    given_up,
];

/// Share of the blocks that a steady drive must have erased for its write amplification to mean something; %.
const ERASED_PERCENT_MIN: u64 = 5;

/// From this share of all pages programmed on, moves for locks are told of; %.
const MOVED_FOR_LOCKS_PERCENT: u64 = 5; // [A]

/// From this share of the time on in which writes waited for locks, that is told; %.
const HELD_BY_LOCKS_PERCENT: u64 = 5; // [A]

/// Where at least one in so many writes covers units in part, that is told.
const PART_WRITES_MIN: u64 = 10; // [A]

/// Where flushes leave at least one in so many unit slots of the host's programs empty, that is told.
const PADDED_SLOTS_MIN: u64 = 10; // [A]

/// Below this share of the data, spare room that is left is as good as none.
const NET_SPARE_MIN: f64 = 0.01; // [A]

/// The remarks on a run, from the bare facts and the result made of them.
pub(crate) fn of(facts: &Facts<'_>, result: &RunResult) -> Vec<Remark> {
    ALL.iter().filter_map(|find| find(facts, result)).collect()
}

/// Reads of what was never written cost no flash work, so that they make a drive look fast.
fn unwritten_reads(_: &Facts<'_>, result: &RunResult) -> Option<Remark> {
    let share = result.buffer.unmapped_read_share.filter(|share| *share > 0.0)?;
    let (unmapped, all) = (result.buffer.unmapped_reads, result.buffer.units_read());
    let which = if result.ftl.trimmed_units > 0 { "never written, or trimmed" } else { "never written" };
    let were = if unmapped == 1 { "was" } else { "were" };
    let (unmapped, all, share) = (count(unmapped), of_things(all, "unit"), digits(100.0 * share));
    let text = format!("{unmapped} of {all} read ({share} %) {were} {which}: no flash was read for them");
    Some(Remark::caution(text))
}

/// What covers a unit in part is completed with what was there before, which is read for it.
fn parts_of_units(facts: &Facts<'_>, result: &RunResult) -> Option<Remark> {
    let (in_part, writes) = (facts.meter.writes_in_part, facts.meter.kind(OpCode::Write).count);
    let read = result.flash.reads[Cause::Merge];
    if read == 0 || PART_WRITES_MIN * in_part < writes {
        return None;
    }
    let which = match in_part == writes {
        true => "all writes".to_owned(),
        false => format!("{} of {}", count(in_part), of_things(writes, "write")),
    };
    let (unit, read) = (bytes(f64::from(facts.config.unit_bytes())), of_things(read, "page"));
    let text = format!("{which} cover parts of {unit} units: {read} were read for the rest of them");
    Some(Remark::caution(text).advising("align offsets and sizes to the unit (ftl.mapping.unit)"))
}

/// Each flush programs what there is, and what its pages lack stays empty: drives that lose no buffer need not.
fn padded_by_flushes(facts: &Facts<'_>, result: &RunResult) -> Option<Remark> {
    let slots = result.flash.programs[Cause::Host] * u64::from(facts.config.units_per_page());
    let empty = result.ftl.padded_units_by_cause[Cause::Host];
    if result.flushes == 0 || empty == 0 || PADDED_SLOTS_MIN * empty < slots {
        return None;
    }
    let (empty, slots) = (count(empty), of_things(slots, "unit slot"));
    let text =
        format!("{empty} of {slots} that the host's programs took are empty: a flush programs what there is");
    let to_do =
        "host.buffer.flush = \"capacitors\" is a drive for data centres, which answers flushes from DRAM";
    Some(Remark::caution(text).advising(to_do))
}

/// Where nearly all spare room is taken by what the drive needs to work, policies have nothing to choose from.
fn no_spare(_: &Facts<'_>, result: &RunResult) -> Option<Remark> {
    let spare = &result.preconditioning.spare;
    let net = spare.net.filter(|net| *net < NET_SPARE_MIN && result.bytes_written > 0)?;
    let text = format!(
        "effective over-provisioning is {}: open blocks, the reserve and blocks kept for garbage collection take the \
         rest of {}, and write amplification is that of a drive without",
        percent(net),
        percent(spare.gross?)
    );
    Some(Remark::caution(text).advising(
        "try more blocks (nand.geometry.blocks_per_plane), fewer streams or more over-provisioning",
    ))
}

/// Data that nobody has deleted goes with what is reprogrammed.
fn lost_with_others(_: &Facts<'_>, result: &RunResult) -> Option<Remark> {
    let (work, found) = (&result.ftl.sanitize, result.ftl.lost_units);
    if work.reprograms == 0 || work.lost_pages + found == 0 {
        return None;
    }
    Some(Remark::caution(format!(
        "reprogramming {} destroyed valid data in other pages of their wordlines: known to be lost: {}; not \
         noticed yet: {}",
        of_things(work.reprograms, "page"),
        of_things(found, "unit"),
        of_things(work.lost_pages, "page")
    )))
}

/// A drive that keeps dead copies from being read does so late: for how long they could be, how many and why.
fn exposed_for_long(_: &Facts<'_>, result: &RunResult) -> Option<Remark> {
    let (policy, long) = (&result.ftl.sanitize.policy, &result.ftl.sanitize.exposed.over_100ms);
    if long.pages == 0 {
        return None;
    }
    let causes = [
        (long.no_room, "valid data there found no room elsewhere"),
        (long.no_time, "no time"),
        (long.failed_lock, "a lock failed"),
        (long.erase, "only erases hide them"),
    ];
    let why: Vec<_> = causes.iter().filter(|(pages, _)| *pages > 0).collect();
    let why =
        why.iter().map(|(pages, cause)| format!("{}: {cause}", count(*pages))).collect::<Vec<_>>().join("; ");
    let open = &result.ftl.sanitize.exposed.open;
    let (pages, longest, left) = (count(long.pages), duration(long.longest_ns as f64), count(open.pages));
    let text = format!(
        "{policy} left {pages} pages with deleted data readable for more than 100 ms, up to {longest} \
         ({why}); {left} pages still are at the end"
    );
    let to_do = "try fewer requests per second, ftl.cleaning.paces_host = true, ftl.mapping.unit = \"page\", or more \
                 over-provisioning";
    Some(Remark::caution(text).advising(to_do))
}

/// Writes have waited for locks, so that no page is exposed for longer than the drive allows.
fn held_by_locks(_: &Facts<'_>, result: &RunResult) -> Option<Remark> {
    let (work, all_ns) = (&result.ftl.sanitize, result.simulated_ns);
    if work.held_ns == 0 || all_ns == 0 || 100 * work.held_ns < HELD_BY_LOCKS_PERCENT * all_ns {
        return None;
    }
    let text = format!(
        "writes waited for locks, or for the room these need, in {} of the time \
         (ftl.sanitize.max_exposed_ms); the longest that a page with deleted data was readable: {}",
        percent(work.held_ns as f64 / all_ns as f64),
        duration(work.exposed.ns_max as f64),
    );
    Some(Remark::caution(text))
}

/// What lives beside the dead moves before that can be locked: the drive is slower for it.
fn busy_with_locks(_: &Facts<'_>, result: &RunResult) -> Option<Remark> {
    let (programs, work) = (&result.flash.programs, &result.ftl.sanitize);
    let (own, all) = (programs[Cause::Sanitize], programs.sum());
    if own == 0 || 100 * own < MOVED_FOR_LOCKS_PERCENT * all {
        return None;
    }
    let moved = match work.copies {
        0 => "valid units out of blocks to erase them".to_owned(),
        copies => format!("{} valid units because something beside them had become invalid", count(copies)),
    };
    Some(Remark::caution(format!(
        "{} moved {moved}: {} of {} pages programmed ({} %), which policy none would not have moved",
        work.policy,
        count(own),
        count(all),
        digits(100.0 * own as f64 / all as f64),
    )))
}

/// Not all that has died can be kept from being read.
fn given_up(_: &Facts<'_>, result: &RunResult) -> Option<Remark> {
    let pages = result.ftl.sanitize.given_up;
    (pages > 0).then(|| {
        Remark::caution(format!(
            "{} pages with deleted data stay readable: their locks fail, and their blocks are retired",
            count(pages)
        ))
    })
}

/// A run that fills an SLC cache is two: its means are those of neither. Jobs have pauses and rates of their own.
fn cliff(facts: &Facts<'_>, result: &RunResult) -> Option<Remark> {
    let is_cached = facts.config.slc_blocks_per_lane() > 0;
    let is_the_drives = result.verdict.is_throughput_the_drives() && result.jobs.is_empty();
    let series = facts.series.filter(|_| is_cached && is_the_drives && result.takes_time())?;
    let cliff = Cliff::find(series)?;
    Some(Remark::caution(format!(
        "the SLC cache was full after {}: writes at {} up to there, at {} from there on",
        bytes(cliff.bytes as f64),
        si(cliff.before, "B/s"),
        si(cliff.after, "B/s")
    )))
}

/// Versions are those of files, which only some workloads know.
fn no_files(_: &Facts<'_>, result: &RunResult) -> Option<Remark> {
    let is_empty = result.versions.as_ref().is_some_and(|versions| versions.files() == 0);
    is_empty.then(|| {
        Remark::caution("no write named its file, so there are no versions of files to report")
            .advising("use a workload on files, or a trace with a file column")
    })
}

/// What knows the future is no drive.
fn looked_ahead(facts: &Facts<'_>, _: &RunResult) -> Option<Remark> {
    let told = facts.drive.ahead().told()?;
    let (deaths, mib) =
        (of_things(u64::from(told.deaths()), "unit"), digits(told.bytes() as f64 / (1 << 20) as f64));
    let who = facts.drive.ahead().key()?.trim_end_matches(".policy");
    Some(Remark::caution(format!(
        "{who} knew in advance when {deaths} would be overwritten or trimmed ({mib} MiB): no real \
         drive does; the result shows what that knowledge is worth"
    )))
}

/// A separator that has seen the run's own writes over and over knows more than it would of a new workload.
fn trained(facts: &Facts<'_>, result: &RunResult) -> Option<Remark> {
    let before = &result.preconditioning;
    let has_learnt =
        facts.drive.reports().streams().0.learns && before.past == Past::Own.name() && before.passes > 0;
    has_learnt.then(|| {
        Remark::caution("ftl.stream was trained on this workload, whose own writes preconditioned the drive")
            .advising("--precondition uniform avoids that")
    })
}

/// Write amplification is a ratio of two streams that meet only when cleaning has gone round: a run that wrote less
/// than the drive says little, unless the drive was in that state before and cleaning has begun to show it.
fn too_short(facts: &Facts<'_>, result: &RunResult) -> Option<Remark> {
    (result.bytes_written > 0).then_some(())?;
    let logical = result.drive.logical_bytes;
    let erased = result.flash.erases.sum();
    let blocks = facts.config.used_blocks();
    let before = &result.preconditioning;
    // One that was aged until steady and moves still has gone round all the same.
    let has_gone_round = before.steady.is_some_and(|steady| steady || before.turned_over);
    let is_enough = has_gone_round && 100 * erased >= ERASED_PERCENT_MIN * blocks;
    if result.bytes_written >= logical || is_enough {
        return None;
    }
    let share = digits(100.0 * result.bytes_written as f64 / logical as f64);
    let (erased, blocks) = (count(erased), count(blocks));
    Some(Remark::caution(format!(
        "wrote {share} % of the drive, with {erased} erases of {blocks} blocks: too little to judge write amplification"
    )))
}

/// What is written goes where there is room: nobody has to choose what to clean.
fn nothing_to_clean(facts: &Facts<'_>, result: &RunResult) -> Option<Remark> {
    let net = result.preconditioning.spare.net?;
    let data = facts.drive.blocks().lanes().live_units as f64 * f64::from(facts.drive.unit_bytes());
    let (spare, written) = (net * data, result.bytes_written as f64);
    let is_cleaned = result.ftl.victims.all() > 0;
    let copied = result.flash.reads[Cause::Cleaning] + result.flash.programs[Cause::Cleaning];
    if written == 0.0 || (is_cleaned && written >= spare) {
        return None;
    }
    let (written, spare) = (bytes(written), bytes(spare));
    let less = format!("this run writes {written}, less than the effective over-provisioning of {spare}");
    let none = "over-provisioning, victim selection and separation have no visible effect";
    let text = match (is_cleaned, copied > 0) {
        (false, false) => format!("nothing was collected while {written} were written: {none}"),
        (true, false) => format!("{less}, and no collected block held valid data: {none}"),
        // What is copied shows in the write amplification, and it is the drive's past that shows there.
        (_, true) => format!(
            "{less}: most of what was copied had been written before it began, so that victim selection and separation \
             show little of what they do in the long run"
        ),
    };
    Some(Remark::caution(text).advising("try --size footprint, or a longer run"))
}

/// Shortest time over which arrivals are spread in a trace worth replaying; ns.
const ARRIVALS_NS_MIN: u64 = 1_000_000_000;

/// From the first arrival to the last, where requests come at their times.
fn arrivals_ns(facts: &Facts<'_>) -> Option<u64> {
    let is_open = facts.spec.loop_mode == LoopMode::Open && facts.spec.executor == Executor::Timed;
    facts.meter.arrivals_ns().filter(|_| is_open)
}

/// More data a second than the link carries: requests pile up, and their latency tells how long the run is. With traces
/// it is mostly a wrong unit of time.
fn too_fast(facts: &Facts<'_>, result: &RunResult) -> Option<Remark> {
    let seconds = arrivals_ns(facts)? as f64 / 1e9;
    let link = facts.config.link.bandwidth_mb_s;
    let kinds = [("reads", result.bytes_read), ("writes", result.bytes_written)];
    let asked = kinds.map(|(name, bytes)| (name, bytes as f64 / 1e6 / seconds));
    let (name, asked) = asked.into_iter().find(|(_, asked)| *asked > link && asked.is_finite())?;
    let (asked, link) = (digits(asked / 1e3), digits(link / 1e3));
    let text = format!(
        "{name} arrive at {asked} GB/s and the host link carries {link} GB/s: latencies are those of a growing queue"
    );
    let to_do = "for a generator, lower --rate; for a trace, lower --speed-up, or check --time-unit";
    Some(Remark::caution(text).advising(to_do))
}

/// Little is learnt from so short a time, and mostly it is a wrong unit.
fn too_close(facts: &Facts<'_>, _: &RunResult) -> Option<Remark> {
    let span = arrivals_ns(facts).filter(|span| *span < ARRIVALS_NS_MIN)?;
    let span = duration(span as f64);
    let to_do = "for a generator, raise --requests; for a trace, check --time-unit";
    Some(Remark::caution(format!("all requests arrive within {span}")).advising(to_do))
}

/// Who asks for a pace and for a closed loop gets the loop alone.
fn times_for_nothing(facts: &Facts<'_>, _: &RunResult) -> Option<Remark> {
    let is_closed = matches!(facts.spec.loop_mode, LoopMode::Closed { .. });
    if !is_closed || facts.spec.executor == Executor::Functional {
        return None;
    }
    let of = |key: &str| facts.spec.settings.get(key);
    let is_sped = of("workload.speed_up").is_some_and(|value| value.as_f64() != Some(1.0));
    let has_rate = of("workload.arrival").is_some_and(|value| value.as_str() != Some("closed"));
    let what = match (is_sped, has_rate) {
        (true, _) => "speed_up",
        (_, true) => "the rate at which requests arrive",
        _ => return None,
    };
    let text =
        format!("{what} does nothing here: in a closed loop the next request follows when one is done");
    Some(Remark::caution(text).advising("try --open, or without it"))
}

/// A policy against read disturb that has not moved anything is no different from any other: how far is it?
fn no_reclaim_yet(facts: &Facts<'_>, result: &RunResult) -> Option<Remark> {
    let work = &result.ftl.read_reclaim;
    let moved =
        work.pages + result.flash.programs[Cause::ReadReclaim] + result.flash.programs[Cause::Replication];
    let reads = result.flash.reads[Cause::Host];
    let worst = facts.drive.blocks().worst_disturb_q12().map(|q12| f64::from(q12) / 4096.0)?;
    if work.policy == "never" || moved > 0 || reads == 0 || !(0.0..1.0).contains(&worst) {
        return None;
    }
    let nearest = format!(
        "the page closest to its limit has seen {} % of the reads it tolerates",
        digits(100.0 * worst)
    );
    if worst == 0.0 {
        return Some(Remark::note(format!("no data moved because of reads: {nearest}")));
    }
    let missing = (reads as f64 * (1.0 / worst - 1.0)).round() as u64;
    Some(Remark::note(format!(
        "no data moved because of reads: {nearest}; at this load it would take up to {} more page reads \
         until the first does",
        count(missing)
    )))
}
