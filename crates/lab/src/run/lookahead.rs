//! The next requests of a workload, read a little ahead so that the drive can load their table lines in time.

use ssd::{Drive, Lba, OpCode};
use workload::{MemberNames, Request, Source, WorkloadError};

/// Requests read ahead. At 300 ns each that is 19 us: many times the latency of memory, and their table lines
/// (4 KiB) are still in the nearest cache when they are needed.
const AHEAD: usize = 64;
/// Requests ahead at which the counters of what will be read are loaded.
const SOON: usize = 16;

/// A source with the next requests taken out of it. The place of the one taken last is free.
pub(crate) struct Lookahead<'a, S: ?Sized> {
    source: &'a mut S,
    ring: [Request; AHEAD],
    /// The workloads that the source is made of, and which of them each request is from.
    names: MemberNames,
    members: [u16; AHEAD],
    /// Where the next request is.
    next: usize,
    /// Requests in the ring.
    held: usize,
    /// Requests that may still be taken from the source; 0 after its end.
    left: u64,
    error: Option<WorkloadError>,
}

impl<'a, S: Source + ?Sized> Lookahead<'a, S> {
    /// Takes at most `limit` requests from `source`.
    pub fn new(source: &'a mut S, limit: u64, drive: &Drive) -> Self {
        let ring = [Request::default(); AHEAD];
        let (names, members) = (source.members(), [0; AHEAD]);
        let mut requests =
            Lookahead { source, ring, names, members, next: 0, held: 0, left: limit, error: None };
        while requests.held < AHEAD - 1 && requests.read(requests.held, drive) {
            requests.held += 1;
        }
        requests
    }

    /// Reads one request into a place of the ring; false at the end.
    #[inline]
    fn read(&mut self, place: usize, drive: &Drive) -> bool {
        if self.left == 0 {
            return false;
        }
        match self.source.next() {
            Ok(Some(request)) => {
                drive.prefetch(Lba(request.lba));
                self.ring[place] = request;
                if !self.names.names.is_empty() {
                    self.members[place] = self.source.member();
                }
                self.left -= 1;
                true
            }
            Ok(None) => {
                self.left = 0;
                false
            }
            Err(error) => {
                self.left = 0;
                self.error = Some(error);
                false
            }
        }
    }

    /// Starts loading what a request halfway up the ring will read: by then its mapping has come.
    #[inline]
    fn look_at_page(&self, drive: &Drive) {
        if self.held > SOON {
            let soon = &self.ring[(self.next + SOON) % AHEAD];
            if soon.op == OpCode::Read {
                drive.prefetch_read(Lba(soon.lba));
            }
        }
    }

    /// The workloads that the source is made of.
    pub fn names(&self) -> &MemberNames {
        &self.names
    }

    /// The next request, and which of the workloads it is from. An error of the source comes when all requests before
    /// it were taken.
    #[inline(always)]
    pub fn take(&mut self, drive: &Drive) -> Result<Option<(&Request, u16)>, WorkloadError> {
        if self.held == 0 {
            return self.error.take().map_or(Ok(None), Err);
        }
        self.look_at_page(drive);
        let place = self.next;
        self.next = (place + 1) % AHEAD;
        if !self.read((place + AHEAD - 1) % AHEAD, drive) {
            self.held -= 1;
        }
        Ok(Some((&self.ring[place], self.members[place])))
    }
}
