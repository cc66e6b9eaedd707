//! Drives in a stripe as one volume: when all pieces of a request have completed, and what the volume measured.

use crate::measure::meter::Meter;
use crate::measure::steps::step_of;
use ssd::{Completion, SimTime, Status};
use workload::{Request, Stripe};

/// A request whose pieces are under way.
#[derive(Clone, Copy)]
struct Whole {
    /// What the workload knows it by.
    mark: u32,
    /// Pieces that have not completed.
    left: u16,
    request: Request,
    /// When the first piece entered a queue.
    submitted: SimTime,
    /// How the first piece ended that did not end well.
    status: Status,
}

/// The volume. Its requests have numbers, from 0, which are free again when they have completed.
pub(crate) struct Volume {
    stripe: Stripe,
    wholes: Vec<Whole>,
    free: Vec<u32>,
    /// Numbers that there are at most.
    numbers: usize,
    /// What was measured of its requests.
    pub meter: Meter,
    /// Requests that have completed.
    pub completed: u64,
}

impl Volume {
    /// Without requests; so many may be under way at a time.
    pub fn new(stripe: Stripe, numbers: usize, meter: Meter) -> Self {
        Volume { stripe, wholes: Vec::new(), free: Vec::new(), numbers, meter, completed: 0 }
    }

    /// Whether another request has a number.
    pub fn has_room(&self) -> bool {
        !self.free.is_empty() || self.wholes.len() < self.numbers
    }

    /// A request begins: each of its pieces is sent to its drive, with the request's number.
    pub fn begin(&mut self, mark: u32, request: &Request, mut send: impl FnMut(u16, u32, Request)) {
        let submitted = SimTime(u64::MAX);
        let whole = Whole { mark, left: 0, request: *request, submitted, status: Status::Ok };
        let number = self.free.pop().unwrap_or(self.wholes.len() as u32);
        match self.wholes.get_mut(number as usize) {
            Some(place) => *place = whole,
            None => self.wholes.push(whole),
        }
        for (drive, piece) in self.stripe.pieces(request) {
            self.wholes[number as usize].left += 1;
            send(drive, number, piece);
        }
    }

    /// A piece of a request completed. If it was the last, the workload's mark and the completion of the whole, which
    /// has waited for what that piece waited for.
    pub fn completed(&mut self, number: u32, piece: &Completion) -> Option<(u32, Completion)> {
        let whole = &mut self.wholes[number as usize];
        whole.left -= 1;
        whole.submitted = whole.submitted.min(piece.submitted);
        if whole.status == Status::Ok {
            whole.status = piece.status;
        }
        if whole.left > 0 {
            return None;
        }
        self.free.push(number);
        self.completed += 1;
        let Whole { mark, request, submitted, status, .. } = *whole;
        let lba = ssd::Lba(request.lba);
        Some((mark, Completion { lba, sectors: request.sectors, submitted, status, ..*piece }))
    }

    /// Measures a request of the volume.
    pub fn record(&mut self, completion: &Completion) {
        let latency = completion.completed.since(completion.arrival);
        self.meter.record(completion, latency, step_of(latency));
    }
}
