//! What a drive tells that dies and channels do, held against what it has counted.

use super::Verdict;
use ssd::{Drive, Holder, Place, SimTime};
use std::collections::BTreeMap;

/// Spans so far, and what was counted before them.
#[derive(Default)]
pub(super) struct Spans {
    /// By die: with something to do, and the array at work; by channel; ns.
    before: [Vec<u64>; 3],
    told: [Vec<u64>; 3],
    /// When the last span of each place ended.
    ends: BTreeMap<Place, SimTime>,
}

fn counted(drive: &Drive) -> [Vec<u64>; 3] {
    let counts = drive.stats().flash;
    [counts.die_busy_ns, counts.die_array_ns, counts.channel_busy_ns]
}

impl Spans {
    /// The drive tells whom commands wait for, too.
    pub fn begin(drive: &mut Drive) -> Self {
        drive.tracing().tell_holders(true);
        drive.tracing().tell_spans(true);
        let before = counted(drive);
        let told = before.each_ref().map(|of| vec![0; of.len()]);
        Spans { before, told, ends: BTreeMap::new() }
    }

    /// Spans of a place do not overlap, and a plane works only while its die does.
    pub fn take(&mut self, drive: &mut Drive) -> Verdict {
        while let Some(span) = drive.tracing().take_span() {
            let end = self.ends.entry(span.place).or_default();
            if span.from >= span.to || span.from < *end {
                return Err(format!("{span:?} begins before {} ns", end.0));
            }
            *end = span.to;
            let ns = span.to.since(span.from);
            let [busy, array, channels] = &mut self.told;
            match span.place {
                Place::Channel(channel) => channels[channel as usize] += ns,
                Place::Die(die) => {
                    busy[die as usize] += ns;
                    let works = span.holder.is_array() || span.holder == Holder::SWITCHING;
                    array[die as usize] += if works { ns } else { 0 };
                }
                Place::Plane(..) if span.holder.is_array() => {}
                Place::Plane(..) => return Err(format!("{span:?} is no work of an array")),
            }
        }
        Ok(())
    }

    /// Together they are what was counted.
    pub fn check(&mut self, drive: &mut Drive) -> Verdict {
        drive.tracing().close_spans();
        self.take(drive)?;
        let now = counted(drive);
        for (at, what) in ["dies busy", "arrays at work", "channels busy"].into_iter().enumerate() {
            let grown = now[at].iter().zip(&self.before[at]).map(|(now, before)| now - before);
            let grown: Vec<u64> = grown.collect();
            if grown != self.told[at] {
                return Err(format!("{what} for {grown:?} ns, and told were {:?}", self.told[at]));
            }
        }
        Ok(())
    }
}
