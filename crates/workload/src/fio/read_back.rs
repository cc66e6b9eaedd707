//! What a pass wrote, read again behind it (`verify`): nothing of it is checked, but the drive gets the reads.
//!
//! After fio's own code (`log_io_piece` and `get_next_verify` of fio 3.33): where a map keeps places from being written
//! twice, in the order in which they were written; elsewhere by file and place, and of two writes that overlap only
//! the later one.

use super::settings::Job;
use crate::record::Request;
use ssd::signals::{Hints, OpCode};
use std::collections::{BTreeMap, VecDeque};

/// A write of the pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    lba: u64,
    sectors: u32,
    file: u32,
    drive: u16,
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
}

impl ReadBack {
    /// That of a job, if it reads back.
    pub fn of(job: &Job) -> Option<Self> {
        let keeps_order = job.is_random && job.has_map && !job.is_lfsr;
        let pieces =
            if keeps_order { Order::Written(VecDeque::new()) } else { Order::Placed(BTreeMap::new()) };
        job.reads_back.then_some(ReadBack { pieces, is_on: false })
    }

    /// Bytes of memory that so many writes of a pass take at most.
    pub const fn memory_bytes(writes: u64) -> u64 {
        // A tree's nodes are half full at worst.
        2 * size_of::<((usize, u64), Piece)>() as u64 * writes
    }

    /// A file on a drive is written to.
    pub fn note(&mut self, file: usize, drive: u16, request: &Request) {
        let Request { lba, sectors, hints, .. } = *request;
        let piece = Piece { lba, sectors, file: hints.file, drive };
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

    /// Whether it reads; until all that is done.
    pub fn is_on(&self) -> bool {
        self.is_on
    }

    /// Whether nothing is left to be read.
    pub fn is_empty(&self) -> bool {
        match &self.pieces {
            Order::Written(pieces) => pieces.is_empty(),
            Order::Placed(pieces) => pieces.is_empty(),
        }
    }

    /// The next read of a lane with those hints, and its drive.
    pub fn next(&mut self, hints: Hints) -> Option<(u16, Request)> {
        let piece = match &mut self.pieces {
            Order::Written(pieces) => pieces.pop_front(),
            Order::Placed(pieces) => pieces.pop_first().map(|(_, piece)| piece),
        };
        let Piece { lba, sectors, file, drive } = piece?;
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
