//! A thief with every command of the chips: what has died, and was said to be gone, must not come back.
//!
//! Data is its version, as the oracle counts: no two are the same bytes. A TRIM promises that what it forgot is gone, a
//! write to the medium (FUA) that what it replaced is, a FLUSH that all is that had died before it came. What is
//! promised must not be readable then, on any page, nor after any step that the chips take later.

use super::chips::Chips;
use super::oracle::{Dead, Oracle, Verdict};
use super::shape::bits;
use ssd::{Hints, OpCode};
use std::collections::VecDeque;

/// What the thief was told is gone.
#[derive(Default)]
pub struct Thief {
    secure_by_default: bool,
    every_write: bool,
    /// Versions that were written as secured.
    secured: Versions,
    /// What has died, by granule; and in the order in which it did.
    dead: Vec<Vec<(u64, u64)>>,
    line: VecDeque<(u64, usize, u64)>,
    /// What was said to be gone, by granule.
    gone: Vec<Versions>,
    /// Versions looked for, and pages tried.
    pub looked: u64,
}

/// A set of versions, most of which come in order.
#[derive(Clone, Default)]
struct Versions(Vec<u64>);

impl Versions {
    fn insert(&mut self, version: u64) {
        if let Err(place) = self.0.binary_search(&version) {
            self.0.insert(place, version);
        }
    }

    fn contains(&self, version: u64) -> bool {
        self.0.binary_search(&version).is_ok()
    }
}

/// What is kept of a granule, in a list that grows up to there.
fn of<T: Clone + Default>(list: &mut Vec<T>, granule: usize) -> &mut T {
    list.resize(list.len().max(granule + 1), T::default());
    &mut list[granule]
}

impl Thief {
    /// A thief of a drive that takes data for secret of which nothing is said, or not.
    pub fn new(secure_by_default: bool) -> Self {
        Thief { secure_by_default, ..Thief::default() }
    }

    /// All writes promise what those to the medium do.
    pub fn of_every_write(self, every_write: bool) -> Self {
        Thief { every_write, ..self }
    }

    /// A version was written in a command that said so of its class.
    pub fn note_version(&mut self, version: u64, class: u8) {
        if class == Hints::SECURE || class == 0 && self.secure_by_default {
            self.secured.insert(version);
        }
    }

    /// Takes down what has died.
    pub fn note_dead(&mut self, died: Vec<Dead>) {
        for Dead { granule, version, clock } in died {
            if self.secured.contains(version) {
                of(&mut self.dead, granule).push((version, clock));
                self.line.push_back((clock, granule, version));
            }
        }
    }

    /// A command completes: what it promises is gone now.
    pub fn complete(&mut self, tag: u64, oracle: &Oracle, chips: &Chips, refuses: bool) -> Verdict {
        let Some((command, since, parts)) = oracle.under_way_of(tag) else { return Ok(()) };
        let shape = oracle.shape();
        let mut gone = Vec::new();
        match command.op {
            OpCode::Trim if !refuses && oracle.is_valid(command) => {
                for lpn in shape.whole_units(command) {
                    let granules = lpn as usize * shape.granules..(lpn as usize + 1) * shape.granules;
                    let until = oracle.trimmed_after(lpn, since);
                    granules.for_each(|granule| self.take(granule, until, &mut gone));
                }
            }
            OpCode::Write if (command.fua || self.every_write) && !refuses && oracle.is_valid(command) => {
                for &(lpn, mask, clock) in parts {
                    let granules = bits(mask).map(|g| lpn as usize * shape.granules + g);
                    granules.for_each(|granule| self.take(granule, clock, &mut gone));
                }
            }
            OpCode::Flush if !refuses && command.hints.are_valid() => {
                while self.line.front().is_some_and(|&(clock, ..)| clock < since) {
                    let Some((_, granule, version)) = self.line.pop_front() else { break };
                    gone.push((granule, version));
                }
            }
            _ => {}
        }
        for (granule, version) in gone {
            self.looked += 1;
            of(&mut self.gone, granule).insert(version);
            let (lpn, g) = ((granule / shape.granules) as u32, granule % shape.granules);
            if let Some(place) = chips.find(lpn, g, version) {
                return Err(format!(
                    "a thief reads version {version} of unit {lpn} on page {place:?}, which {command:?} said is gone"
                ));
            }
        }
        Ok(())
    }

    fn take(&mut self, granule: usize, until: u64, gone: &mut Vec<(usize, u64)>) {
        let Some(dead) = self.dead.get_mut(granule) else { return };
        dead.retain(|&(version, clock)| {
            let is_gone = clock <= until;
            if is_gone {
                gone.push((granule, version));
            }
            !is_gone
        });
    }

    /// Whether a version of a granule was said to be gone.
    pub fn is_gone(&self, granule: usize, version: u64) -> bool {
        self.gone.get(granule).is_some_and(|versions| versions.contains(version))
    }

    /// A page can be read from now on: nothing on it was said to be gone.
    pub fn appears<'a>(&self, granules: usize, units: impl Iterator<Item = (u32, &'a [u64])>) -> Verdict {
        for (lpn, data) in units {
            for (g, &version) in data.iter().enumerate() {
                if self.is_gone(lpn as usize * granules + g, version) {
                    return Err(format!("version {version} of unit {lpn} was said to be gone, and is back"));
                }
            }
        }
        Ok(())
    }
}
