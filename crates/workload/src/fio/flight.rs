//! Requests of a lane that are in flight, each told apart from the others.

use crate::base::request::Request;
use std::collections::BTreeMap;

/// A request in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub request: Request,
    pub drive: u16,
    /// The lane's file that it lies in.
    pub file: usize,
    /// Its direction; none for a flush, or a read of what was written.
    pub direction: Option<usize>,
    pub at_ns: u64,
}

/// Those of a lane.
pub(super) struct Flight {
    slots: Vec<Sent>,
    free: Vec<u32>,
    /// Where they end, by drive and first sector, if none may overlap another.
    places: Option<BTreeMap<(u16, u64), u64>>,
}

impl Flight {
    /// None yet; `is_serial` keeps those that overlap from being in flight together.
    pub fn new(is_serial: bool) -> Self {
        Flight { slots: Vec::new(), free: Vec::new(), places: is_serial.then(BTreeMap::new) }
    }

    /// Whether a request has to wait for another one, with which it overlaps.
    pub fn holds_back(&self, drive: u16, request: &Request) -> bool {
        let Some(places) = &self.places else { return false };
        // They do not overlap each other, so the last one that begins before its end is the only one to ask.
        let before = places.range(..(drive, request.end())).next_back();
        before.is_some_and(|((of, _), end)| *of == drive && *end > request.lba)
    }

    /// It is sent; the slot that it has until it completes.
    pub fn send(&mut self, sent: Sent) -> u32 {
        if let Some(places) = self.places.as_mut().filter(|_| sent.request.sectors > 0) {
            places.insert((sent.drive, sent.request.lba), sent.request.end());
        }
        match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = sent;
                slot
            }
            None => {
                self.slots.push(sent);
                self.slots.len() as u32 - 1
            }
        }
    }

    /// It completed.
    pub fn land(&mut self, slot: u32) -> Sent {
        let sent = self.slots[slot as usize];
        self.free.push(slot);
        if let Some(places) = self.places.as_mut().filter(|_| sent.request.sectors > 0) {
            places.remove(&(sent.drive, sent.request.lba));
        }
        sent
    }
}
