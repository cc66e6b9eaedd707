//! Each process has blocks of its own: what one program writes, it often writes anew or deletes together. With more
//! processes than streams, a newcomer goes on in the stream of the process that has not written for longest.

use super::{Member, Moved, Needs, Report, Size, StreamId, Streams, Written};
use crate::list::{Links, List, Node};
use crate::restore::{Verdict, alike, ensure};
use serde::{Deserialize, Serialize};

/// Name in configurations.
pub const NAME: &str = "process";
/// What it does.
pub const SUMMARY: &str =
    "each process has its own blocks; with too many processes, the least recently used stream is reassigned";
/// Where it comes from.
pub const SOURCE: &str =
    "one stream per program, as in Kang et al. (2014); that the drive can distinguish programs is assumed";
/// What it costs.
pub const MEMORY: &str = "16 bytes per stream; 8 bytes per unit of flash (its hints)";

section! {
    /// Parameters of `process`.
    pub struct Params {
        /// Processes with their own stream at any one time.
        streams: u32 = 8, range 1..=30;
    }
}

/// A stream's process; 0 for none yet.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Row {
    process: u32,
    links: Links,
}

impl Node for Row {
    fn links(&self) -> Links {
        self.links
    }

    fn links_mut(&mut self) -> &mut Links {
        &mut self.links
    }
}

/// The policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    params: Params,
    /// By stream, from the second on.
    rows: Vec<Row>,
    /// Streams that have a process, the last used first.
    used: List,
    /// The stream of the last writer: most writes are of the same.
    last: u32,
}

impl Policy {
    /// Builds it.
    pub fn new(params: &Params) -> Self {
        Policy { params: params.clone(), rows: Vec::new(), used: List::EMPTY, last: 0 }
    }

    /// The row of a process, which has written last from now on.
    fn find(&mut self, process: u32) -> u32 {
        let known = self.rows.iter().position(|row| row.process == process).map(|at| at as u32);
        let at = known.unwrap_or_else(|| match self.used.len() {
            used if used < self.params.streams => used,
            _ => self.used.oldest(),
        });
        let row = &mut self.rows[at as usize];
        if row.process != 0 {
            self.used.remove(&mut self.rows, at);
        }
        self.rows[at as usize].process = process;
        self.used.put(&mut self.rows, at, false);
        at
    }
}

impl Member for Policy {
    fn streams(&self) -> Streams {
        Streams::shared(self.params.streams as u8 + 1)
    }

    fn learns(&self) -> bool {
        false
    }

    fn needs(&self) -> Needs {
        Needs { hints: true, facts: true, ..Needs::default() }
    }

    fn learn(&mut self, _: &Size) {
        self.rows = vec![Row { process: 0, links: Links::NONE }; self.params.streams as usize];
    }

    fn memory_bytes(&self, size: &Size) -> u64 {
        8 * size.physical_units + u64::from(self.params.streams) * size_of::<Row>() as u64
    }

    #[inline]
    fn of_write(&mut self, write: Written) -> StreamId {
        let process = write.said.hints.process;
        if process == 0 {
            return StreamId(0);
        }
        if self.rows[self.last as usize].process != process {
            self.last = self.find(process);
        }
        StreamId(self.last as u8 + 1)
    }

    fn of_move(&mut self, moved: Moved) -> StreamId {
        moved.stream(self.streams())
    }

    fn class(&self, stream: StreamId) -> u8 {
        u8::from(stream.0 > 0)
    }

    fn report(&self) -> Report {
        Report { groups: self.used.len(), contexts: self.used.len(), ..Report::default() }
    }

    fn restored(&mut self, fresh: Policy) -> Verdict {
        alike("processes", &self.rows, &fresh.rows)?;
        self.params = fresh.params;
        self.used.check("streams of processes", &self.rows, |row| row.process != 0)?;
        let used = self.used.len() as usize;
        ensure(self.rows[..used].iter().all(|row| row.process != 0), "streams of processes")?;
        ensure((self.last as usize) < self.rows.len(), "the stream of the last writer")?;
        let twice =
            |(at, row): (usize, &Row)| self.rows[..at].iter().any(|other| other.process == row.process);
        ensure(!self.rows[..used].iter().enumerate().any(twice), "a process with two streams")
    }
}

#[cfg(test)]
mod tests {
    use super::super::Said;
    use super::super::tests::{SIZE, moved, written};
    use super::*;
    use crate::signals::Hints;

    fn by(process: u32) -> Written {
        Written { said: Said { hints: Hints { process, ..Hints::default() }, sectors: 8 }, ..written(1) }
    }

    #[test]
    fn a_newcomer_goes_on_in_the_stream_used_longest_ago() {
        let mut policy = Policy::new(&Params { streams: 3 });
        policy.learn(&SIZE);
        // Process, stream.
        let steps = [
            (70, 1),
            (70, 1),
            (80, 2),
            (0, 0),
            (70, 1),
            (90, 3),
            (80, 2),
            (60, 1),
            (70, 3),
            (90, 2),
            (60, 1),
        ];
        for (at, (process, stream)) in steps.into_iter().enumerate() {
            assert_eq!(policy.of_write(by(process)), StreamId(stream), "step {at}, process {process}");
        }
        assert_eq!(policy.report(), Report { groups: 3, contexts: 3, turned_away: 0, ..Report::default() });
        // Moves stay where they are; stream 4 is of what nothing is known of and was moved before.
        assert_eq!([0, 1, 3, 4].map(|stream| policy.of_move(moved(1, stream)).0), [0, 1, 3, 0]);
    }

    #[test]
    fn what_no_process_has_written_touches_no_table() {
        let mut policy = Policy::new(&Params::default());
        policy.learn(&SIZE);
        assert_eq!((policy.of_write(by(0)), policy.report()), (StreamId(0), Report::default()));
    }
}
