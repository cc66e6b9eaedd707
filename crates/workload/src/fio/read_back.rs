//! What a pass wrote, read again behind it (`verify`), or among its writes (`verify_backlog`): nothing of it is
//! checked, but the drive gets the reads.
//!
//! After fio's own code (`log_io_piece` and `get_next_verify` of fio 3.33): where a map keeps places from being written
//! twice, in the order in which they were written; elsewhere by file and place, and of two writes that overlap only
//! the later one.

use super::settings::{Checks, Job};
use crate::base::request::{Request, SECTOR_BYTES};
use ssd::signals::{Hints, OpCode};
use std::collections::{BTreeMap, VecDeque};

/// A write of the pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    lba: u64,
    sectors: u32,
    file: u32,
    drive: u16,
    /// Its write has not completed.
    in_flight: bool,
}

#[derive(Clone, Debug)]
enum Order {
    Written(VecDeque<Piece>),
    /// By index of the file and first sector.
    Placed(BTreeMap<(usize, u64), Piece>),
}

/// What a lane has written in this pass, and whether it reads that now.
#[derive(Clone, Debug)]
pub(crate) struct ReadBack {
    pieces: Order,
    is_on: bool,
    /// Reads that come among the writes.
    checks: Checks,
    /// Left of those that are due.
    batch: u64,
    /// What completed last was a read.
    was_read: bool,
}

impl ReadBack {
    /// That of a job, if it reads back.
    pub fn of(job: &Job) -> Option<Self> {
        let keeps_order = job.is_random && job.has_map && !job.is_lfsr;
        let pieces =
            if keeps_order { Order::Written(VecDeque::new()) } else { Order::Placed(BTreeMap::new()) };
        let checks = job.checks;
        job.reads_back.then_some(ReadBack { pieces, is_on: false, checks, batch: 0, was_read: false })
    }

    /// Bytes of memory that so many writes of a pass take at most.
    pub const fn memory_bytes(writes: u64) -> u64 {
        // A tree's nodes are half full at worst.
        2 * size_of::<((usize, u64), Piece)>() as u64 * writes
    }

    /// A file on a drive is written to.
    pub fn note(&mut self, file: usize, drive: u16, request: &Request) {
        let Request { lba, sectors, hints, .. } = *request;
        let piece = Piece { lba, sectors, file: hints.file, drive, in_flight: self.checks.every > 0 };
        match &mut self.pieces {
            Order::Written(pieces) => pieces.push_back(piece),
            Order::Placed(pieces) => {
                let end = request.end();
                while let Some((&key, last)) = pieces.range(..(file, end)).next_back()
                    && key.0 == file
                    && last.lba + u64::from(last.sectors) > request.lba
                {
                    pieces.remove(&key);
                }
                pieces.insert((file, request.lba), piece);
            }
        }
    }

    /// The pass is over: reading begins, if anything was written. Says whether.
    pub fn begin(&mut self) -> bool {
        self.is_on = !self.is_empty();
        self.is_on
    }

    /// A request completed that lies in a file.
    pub fn landed(&mut self, file: usize, request: &Request) {
        match request.op {
            OpCode::Read => self.was_read = true,
            OpCode::Write => {
                self.was_read = false;
                let piece = match &mut self.pieces {
                    // Those in flight are among the last.
                    Order::Written(pieces) => {
                        pieces.iter_mut().rev().find(|piece| piece.lba == request.lba && piece.in_flight)
                    }
                    Order::Placed(pieces) => pieces.get_mut(&(file, request.lba)),
                };
                if let Some(piece) = piece {
                    piece.in_flight = false;
                }
            }
            _ => {}
        }
    }

    /// Whether the first of what was written is read now, among the writes (`check_get_verify` of fio 3.33).
    pub fn is_check_due(&mut self) -> bool {
        let Checks { every, batch } = self.checks;
        let written = self.left();
        if every == 0 || written == 0 {
            return false;
        }
        if self.batch == 0 {
            if !written.is_multiple_of(every) || self.was_read {
                return false;
            }
            self.batch = if batch > 0 { batch } else { every };
        }
        let first = match &self.pieces {
            Order::Written(pieces) => pieces.front(),
            Order::Placed(pieces) => pieces.first_key_value().map(|(_, piece)| piece),
        };
        first.is_some_and(|piece| !piece.in_flight)
    }

    /// Writes that are not read yet.
    pub fn left(&self) -> u64 {
        match &self.pieces {
            Order::Written(pieces) => pieces.len() as u64,
            Order::Placed(pieces) => pieces.len() as u64,
        }
    }

    /// Bytes of these.
    pub fn bytes_left(&self) -> u64 {
        let sectors: u64 = match &self.pieces {
            Order::Written(pieces) => pieces.iter().map(|piece| u64::from(piece.sectors)).sum(),
            Order::Placed(pieces) => pieces.values().map(|piece| u64::from(piece.sectors)).sum(),
        };
        sectors * SECTOR_BYTES
    }

    /// Whether it reads; until all that is done.
    pub fn is_on(&self) -> bool {
        self.is_on
    }

    /// Whether nothing is left to be read.
    pub fn is_empty(&self) -> bool {
        self.left() == 0
    }

    /// The next read of a lane with those hints, and its drive.
    pub fn next(&mut self, hints: Hints) -> Option<(u16, Request)> {
        let piece = match &mut self.pieces {
            Order::Written(pieces) => pieces.pop_front(),
            Order::Placed(pieces) => pieces.pop_first().map(|(_, piece)| piece),
        };
        let Piece { lba, sectors, file, drive, .. } = piece?;
        if !self.is_on {
            self.batch = self.batch.saturating_sub(1);
        }
        let hints = Hints { file, stream: 0, ..hints };
        Some((drive, Request { op: OpCode::Read, lba, sectors, hints, ..Request::default() }))
    }

    /// All reads have completed, or nobody waits for them: the next pass begins.
    pub fn end(&mut self) {
        self.is_on = false;
        match &mut self.pieces {
            Order::Written(pieces) => pieces.clear(),
            Order::Placed(pieces) => pieces.clear(),
        }
    }
}
