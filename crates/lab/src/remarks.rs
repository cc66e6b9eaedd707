//! What a reader of a result must know and its numbers alone do not say, as sentences: `remarks` in `result.json`, and
//! lines below the title of its table. What happened to the workload's requests is told by the workload itself
//! ([`workload::SourceReport::remarks`]) and stands before these.
//!
//! To add one, write a function below and name it in [`ALL`].

use crate::collect::Facts;
use crate::number::{count, digits};
use crate::result::RunResult;

/// A remark on a finished run, where there is reason for one.
type Remark = fn(&Facts<'_>, &RunResult) -> Option<String>;

/// All of them, in the order in which they are told.
const ALL: &[Remark] = &[unwritten_reads, too_short];

/// Share of the blocks that a steady drive must have erased for its write amplification to mean something; %.
const ERASED_PERCENT_MIN: u64 = 5;

/// The remarks on a run, from the bare facts and the result made of them.
pub(crate) fn of(facts: &Facts<'_>, result: &RunResult) -> Vec<String> {
    ALL.iter().filter_map(|remark| remark(facts, result)).collect()
}

/// Reads of what was never written cost no flash work, so that they make a drive look fast.
fn unwritten_reads(_: &Facts<'_>, result: &RunResult) -> Option<String> {
    let share = result.buffer.unmapped_read_share.filter(|share| *share > 0.0)?;
    let (unmapped, all) = (result.buffer.unmapped_reads, result.buffer.units_read());
    let which = if result.ftl.trimmed_units > 0 { "never written, or trimmed" } else { "never written" };
    let (unmapped, all, share) = (count(unmapped), count(all), digits(100.0 * share));
    Some(format!("{unmapped} of {all} units read ({share} %) were {which}: no flash is read for them"))
}

/// Write amplification is a ratio of two streams that meet only when cleaning has gone round: a run that wrote less
/// than the drive says little, unless the drive was in that state before and cleaning has begun to show it.
fn too_short(facts: &Facts<'_>, result: &RunResult) -> Option<String> {
    result.write_amplification?;
    let logical = result.drive.logical_bytes;
    let erased = result.flash.erases.sum();
    let blocks = facts.config.geometry.blocks();
    let was_steady = result.preconditioning.steady == Some(true);
    let is_enough = was_steady && 100 * erased >= ERASED_PERCENT_MIN * blocks;
    if result.bytes_written >= logical || is_enough {
        return None;
    }
    let share = digits(100.0 * result.bytes_written as f64 / logical as f64);
    let (erased, blocks) = (count(erased), count(blocks));
    Some(format!(
        "wrote {share} % of the drive, erased {erased} of {blocks} blocks: too little for a write amplification"
    ))
}
