//! The requests that file operations lead to, in the order in which the drive gets them.

use super::space::Extent;
use crate::base::request::{PAGE_SECTORS, Request};
use ssd::signals::{Hints, OpCode};
use std::collections::VecDeque;

/// Numbers in the hints of requests. Files of applications, their processes and operations come after.
pub(super) const JOURNAL: u32 = 1;
/// The same for metadata that goes home.
pub(super) const METADATA: u32 = 2;
/// The same for a database's doublewrite area.
pub(super) const DOUBLEWRITE: u32 = 3;
/// The first file, process and operation of applications.
pub(super) const FIRST: u32 = 16;

/// Requests on their way out.
#[derive(Clone)]
pub(super) struct Out {
    pub queue: VecDeque<Request>,
    pub now_ns: u64,
    /// Most blocks of one request.
    run_blocks: u32,
}

impl Out {
    pub(super) fn new(run_blocks: u32) -> Self {
        Out { queue: VecDeque::new(), now_ns: 0, run_blocks }
    }

    /// Reads, writes or trims blocks, in requests of the largest size allowed.
    pub(super) fn blocks(&mut self, op: OpCode, extent: Extent, fua: bool, hints: Hints) {
        let most = if op == OpCode::Trim { u32::MAX / PAGE_SECTORS as u32 } else { self.run_blocks };
        let Extent { mut start, mut len } = extent;
        while len > 0 {
            let count = len.min(most);
            let lba = u64::from(start) * PAGE_SECTORS;
            let sectors = count * PAGE_SECTORS as u32;
            self.queue.push_back(Request { arrival_ns: self.now_ns, op, fua, lba, sectors, hints });
            (start, len) = (start + count, len - count);
        }
    }

    /// All that was written before is to be durable.
    pub(super) fn flush(&mut self) {
        let (arrival_ns, op) = (self.now_ns, OpCode::Flush);
        self.queue.push_back(Request { arrival_ns, op, ..Request::default() });
    }

    /// Blocks of the journal.
    pub(super) fn journal(&mut self, start: u32, len: u32, fua: bool) {
        self.blocks(OpCode::Write, Extent { start, len }, fua, own(JOURNAL));
    }

    /// Metadata at home.
    pub(super) fn metadata(&mut self, start: u32, len: u32) {
        self.blocks(OpCode::Write, Extent { start, len }, false, own(METADATA));
    }
}

/// Hints of what belongs to the file system itself.
pub(super) fn own(id: u32) -> Hints {
    Hints { file: id, process: id, context: id, class: 1, ..Hints::default() }
}
