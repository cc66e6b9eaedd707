//! The same requests again: one pass after the other (`repeat`), and many users at a time (`copies`).
//!
//! `copies` is the read amplification factor of redFTL+ (redFTL section 4.5: "we allocated the same trace to N
//! different I/O generation threads … each I/O thread varied randomly idle intervals between successive I/O
//! requests"). Each of N copies is the whole workload, in its own order; all begin at 0, and each gap between two of a
//! copy's requests is the original gap times a factor of its own, uniform from 0 to 2 (calibration, section 13; mean
//! 1, so all copies last about as long as the original). One copy is the original, gaps and all.

use crate::base::error::WorkloadError;
use crate::base::report::SourceReport;
use crate::base::request::{Request, Source};
use ssd::rng::Rng;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// A generator that starts again, as a trace is read again: time goes on by a pass's duration and one mean gap.
pub(crate) struct Repeat<G> {
    first: G,
    current: G,
    passes_left: u64,
    offset_ns: u64,
    last_ns: u64,
    taken: u64,
}

impl<G: Source + Clone> Repeat<G> {
    /// So many passes (at least one) over what `first` generates.
    pub(crate) fn new(first: G, passes: u64) -> Self {
        let passes_left = passes.saturating_sub(1);
        Repeat { current: first.clone(), first, passes_left, offset_ns: 0, last_ns: 0, taken: 0 }
    }

    #[cold]
    fn rewind(&mut self) {
        let duration = self.last_ns - self.offset_ns;
        let gap = duration.checked_div(self.taken.saturating_sub(1)).unwrap_or(0);
        self.offset_ns = self.last_ns.saturating_add(gap);
        self.last_ns = self.offset_ns;
        self.passes_left -= 1;
        self.taken = 0;
        self.current = self.first.clone();
    }
}

impl<G: Source + Clone> Source for Repeat<G> {
    fn next(&mut self) -> Result<Option<Request>, WorkloadError> {
        loop {
            if let Some(mut request) = self.current.next()? {
                request.arrival_ns = request.arrival_ns.saturating_add(self.offset_ns);
                self.last_ns = request.arrival_ns;
                self.taken += 1;
                return Ok(Some(request));
            }
            if self.passes_left == 0 {
                return Ok(None);
            }
            self.rewind();
        }
    }

    fn len_hint(&self) -> Option<u64> {
        let later = self.passes_left.checked_mul(self.first.len_hint()?)?;
        later.checked_add(self.current.len_hint()?)
    }

    fn report(&self) -> SourceReport {
        self.first.report()
    }
}

/// One of the users: its requests, and the one it sends next.
struct User {
    source: Box<dyn Source>,
    gaps: Rng,
    pending: Request,
    /// When that arrives in the original.
    original_ns: u64,
}

/// Several users of the same requests, merged by time. At equal times, the one that has sent fewer comes first, then
/// the one with the lower number.
pub(crate) struct Copies {
    users: Vec<User>,
    /// (time, requests sent before, user) of each user's pending request.
    queue: BinaryHeap<Reverse<(u64, u64, u32)>>,
}

/// A gap times a factor from 0 to 2, which is a random number over 2^63.
#[inline]
fn stretched(gap_ns: u64, random: u64) -> u64 {
    ((u128::from(gap_ns) * u128::from(random)) >> 63) as u64
}

impl Copies {
    /// So many users of what `open` opens.
    pub(crate) fn new(
        copies: u64,
        seed: u64,
        mut open: impl FnMut() -> Result<Box<dyn Source>, WorkloadError>,
    ) -> Result<Self, WorkloadError> {
        let mut users = Vec::new();
        let mut queue = BinaryHeap::new();
        for number in 0..copies as u32 {
            let mut source = open()?;
            let Some(pending) = source.next()? else { break };
            let gaps = Rng::named(seed, &format!("workload/copy/{number}"));
            queue.push(Reverse((pending.arrival_ns, 0, number)));
            users.push(User { source, gaps, pending, original_ns: pending.arrival_ns });
        }
        Ok(Copies { users, queue })
    }
}

impl Source for Copies {
    fn next(&mut self) -> Result<Option<Request>, WorkloadError> {
        let Some(mut top) = self.queue.peek_mut() else { return Ok(None) };
        let Reverse((time, sent, number)) = *top;
        let user = &mut self.users[number as usize];
        let request = user.pending;
        match user.source.next()? {
            Some(mut next) => {
                let gap = next.arrival_ns.saturating_sub(user.original_ns);
                user.original_ns = next.arrival_ns;
                next.arrival_ns = time.saturating_add(stretched(gap, user.gaps.next_u64()));
                user.pending = next;
                *top = Reverse((next.arrival_ns, sent + 1, number));
            }
            None => {
                PeekMut::pop(top);
            }
        }
        Ok(Some(request))
    }

    fn len_hint(&self) -> Option<u64> {
        let later = self.users.iter().map(|user| user.source.len_hint()).sum::<Option<u64>>()?;
        later.checked_add(self.queue.len() as u64)
    }

    fn report(&self) -> SourceReport {
        self.users.first().map(|user| user.source.report()).unwrap_or_default()
    }
}

/// So many passes over what a generator gives.
pub(crate) fn passes<G: Source + Clone + 'static>(one: G, repeat: u64) -> Box<dyn Source> {
    if repeat == 1 { Box::new(one) } else { Box::new(Repeat::new(one, repeat)) }
}

/// So many users of what `open` opens.
pub(crate) fn copies(
    copies: u64,
    seed: u64,
    mut open: impl FnMut() -> Result<Box<dyn Source>, WorkloadError>,
) -> Result<Box<dyn Source>, WorkloadError> {
    if copies == 1 { open() } else { Ok(Box::new(Copies::new(copies, seed, open)?)) }
}
