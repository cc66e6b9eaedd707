//! What every layer needs to judge the content of a snapshot: a checksum that fits says nothing of who made it.
//!
//! A restored drive takes all that follows from its configuration from a fresh one (layout, times, limits, the room of
//! its lists), and only what has happened to it from the snapshot, once every number in it points to something.

use std::collections::VecDeque;

/// Whether a part of a snapshot can be what it says; the error says what cannot.
pub(crate) type Verdict = Result<(), String>;

/// No time, count of reads or of anything else is as large as this: of times, nine years.
pub(crate) const MOST: u64 = 1 << 58;

/// The condition holds.
pub(crate) fn ensure(holds: bool, what: &str) -> Verdict {
    if holds { Ok(()) } else { Err(what.to_owned()) }
}

/// A table has as many entries as a fresh drive's.
pub(crate) fn alike<T, U>(what: &str, found: &[T], fresh: &[U]) -> Verdict {
    if found.len() == fresh.len() {
        return Ok(());
    }
    Err(format!("{what}: {} entries, a drive of this configuration has {}", found.len(), fresh.len()))
}

/// All numbers are below `end`.
pub(crate) fn within(what: &str, numbers: impl IntoIterator<Item = u32>, end: usize) -> Verdict {
    match numbers.into_iter().find(|&number| number as usize >= end) {
        Some(number) => Err(format!("{what}: {number}, there are {end}")),
        None => Ok(()),
    }
}

/// All numbers are below `end`, or none.
pub(crate) fn within_or_none(what: &str, numbers: impl IntoIterator<Item = u32>, end: usize) -> Verdict {
    within(what, numbers.into_iter().filter(|&number| number != crate::units::NONE), end)
}

/// All numbers are below `end` and differ; says which there are.
pub(crate) fn distinct(
    what: &str,
    numbers: impl IntoIterator<Item = u32>,
    end: usize,
) -> Result<Vec<bool>, String> {
    let mut found = vec![false; end];
    for number in numbers {
        match found.get_mut(number as usize) {
            Some(is_there) if !*is_there => *is_there = true,
            Some(_) => return Err(format!("{what}: {number} twice")),
            None => return Err(format!("{what}: {number}, there are {end}")),
        }
    }
    Ok(found)
}

/// A list has the room that it was built with, so that nothing allocates later.
pub(crate) fn keep_room<T>(list: &mut Vec<T>, fresh: &Vec<T>) {
    list.reserve_exact(fresh.capacity().saturating_sub(list.len()));
}

/// A line has the room that it was built with.
pub(crate) fn keep_line<T>(line: &mut VecDeque<T>, fresh: &VecDeque<T>) {
    line.reserve_exact(fresh.capacity().saturating_sub(line.len()));
}
