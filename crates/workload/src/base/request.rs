//! One request, and what a stream of requests can do.

use crate::base::error::WorkloadError;
use crate::base::report::SourceReport;
use ssd::signals::{Hints, OpCode};

/// Bytes of a sector, the unit of all addresses and lengths here.
pub const SECTOR_BYTES: u64 = 512;
/// Bytes of the page that footprints are counted in.
pub const PAGE_BYTES: u64 = 4096;
/// Sectors of such a page.
pub const PAGE_SECTORS: u64 = PAGE_BYTES / SECTOR_BYTES;
/// One past the last sector a request may touch: byte addresses stay below 2^59 (512 PiB).
pub const SECTORS_MAX: u64 = 1 << 50;

/// One request of a workload, before it is given to a drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// When it arrives, in nanoseconds from the first request of the workload (0 for all in a closed-loop generator).
    pub arrival_ns: u64,
    /// What it asks for.
    pub op: OpCode,
    /// Force unit access: complete a write only when it is durable.
    pub fua: bool,
    /// First sector (512 bytes).
    pub lba: u64,
    /// Sectors (512 bytes); 0 only for a flush.
    pub sectors: u32,
    /// What the trace knows beyond that: device or write hint (`stream`), file, I/O class.
    pub hints: Hints,
}

impl Request {
    /// One past the last sector.
    #[inline]
    pub fn end(&self) -> u64 {
        self.lba + u64::from(self.sectors)
    }

    /// Length in bytes.
    #[inline]
    pub fn bytes(&self) -> u64 {
        u64::from(self.sectors) * SECTOR_BYTES
    }
}

/// A request as recorded, with the device it was for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// The request; its addresses count from the device's first sector.
    pub request: Request,
    /// Number of the device.
    pub device: u16,
}

/// All operations.
pub(crate) const OPERATIONS: [OpCode; 4] = [OpCode::Read, OpCode::Write, OpCode::Trim, OpCode::Flush];

/// The operation of a name such as `trim`.
pub(crate) fn operation_named(name: &str) -> Option<OpCode> {
    OPERATIONS.into_iter().find(|op| op.name() == name)
}

/// The workloads that another is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemberNames {
    /// What each is called.
    pub names: Vec<String>,
    /// One after the other; otherwise at the same time.
    pub in_turn: bool,
}

/// Files that lie on a drive before the first request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilesAtStart {
    /// Files have numbers (`Hints::file`) from this on; those below it belong to nobody, or to the file system itself.
    pub first: u32,
    /// What they hold, file by file, each in its own order.
    pub held: Vec<Held>,
}

/// A run of sectors that belongs to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// As a write of it would say.
    pub hints: Hints,
    /// First sector.
    pub lba: u64,
    /// Sectors.
    pub sectors: u64,
}

impl Default for FilesAtStart {
    fn default() -> Self {
        FilesAtStart { first: 1, held: Vec::new() }
    }
}

/// A stream of requests in order of arrival. Memory does not grow with its length.
pub trait Source: Send {
    /// The next request; `None` after the last one. After an error the stream has ended.
    fn next(&mut self) -> Result<Option<Request>, WorkloadError>;

    /// How many requests are still to come, where that is known (exact unless a trace is damaged or changes).
    fn len_hint(&self) -> Option<u64>;

    /// What was read so far, and what had to be skipped, rounded, clamped or moved.
    fn report(&self) -> SourceReport;

    /// The workloads that it is made of; none for one of a piece.
    fn members(&self) -> MemberNames {
        MemberNames::default()
    }

    /// Which of them the last request came from.
    fn member(&self) -> u16 {
        0
    }

    /// The files that lie on the drive before the first request, where the workload knows.
    fn files_at_start(&self) -> FilesAtStart {
        FilesAtStart::default()
    }
}
