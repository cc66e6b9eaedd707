//! What stays in DRAM?

use crate::ftl::stream::Streams;
use crate::sections::Sections;

family! {
    /// What stays in DRAM?
    path "host/buffer", default lru_write;
    members {
        none: None,
        lru_read: LruRead,
        lru_write: LruWrite,
        lru_read_write: LruReadWrite,
    }
    methods {
        /// How the buffer behaves for mapping units of that many bytes.
        fn rules(&self, unit_bytes: u32) -> Rules;
    }
}

choice! {
    /// What FLUSH and FUA wait for.
    pub enum Flush {
        /// Data is in flash.
        Program = "program",
        /// Data is in DRAM: when power fails, capacitors last until it is in flash, as in drives for data centres.
        Capacitors = "capacitors",
    }
}

/// How a buffer behaves. DRAM is divided in slots of one mapping unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Rules {
    /// Slots of the buffer; without one, only what is on its way to flash is held.
    pub slots: u32,
    /// Whether a write completes when its data is in DRAM, and whether data stays there after it is in flash.
    pub write_back: bool,
    /// What FLUSH and FUA wait for.
    pub flush: Flush,
    /// Whether data read from flash is kept.
    pub keep_reads: bool,
    /// Whether clean and dirty data leave in one order, that of their last use, and dirty data is flushed only to
    /// leave.
    pub one_list: bool,
    /// Flushing begins above this many dirty slots.
    pub flush_start: u32,
    /// And ends at this many.
    pub flush_stop: u32,
    /// Nanoseconds of one access.
    pub access_ns: u64,
    /// Nanoseconds that data of a page not yet full may wait for more.
    pub gather_ns: u64,
}

impl Rules {
    /// Whether a write completes only when its data is in flash.
    #[inline]
    pub fn is_durable(&self, fua: bool) -> bool {
        !self.write_back || fua && self.flush == Flush::Program
    }

    /// Slots of host data in DRAM: the buffer's, and enough to keep every plane programming, with as much again
    /// gathering behind it in as many streams. While all data is in the first stream, what is for the others is not
    /// used: a policy that separates nothing behaves like none. Where data is sorted by the class of pages, the queue
    /// of each stream holds so many `queued` units more. A buffer larger than the logical space has no slots that
    /// nothing can be in.
    pub fn staging_slots(&self, cfg: &Sections, streams: Streams, queued: u32) -> u32 {
        let streams = streams.of_host.count_ones();
        let programs = 2 * cfg.host_programs_at_most() + streams * cfg.pages_per_row() - 1;
        let on_their_way = programs * cfg.units_per_program();
        let logical = u32::try_from(cfg.logical_units()).unwrap_or(u32::MAX);
        let of_buffer = self.slots.min(logical.saturating_add(on_their_way));
        of_buffer.max(on_their_way).saturating_add(streams.saturating_mul(queued))
    }
}

/// The rules of a least-recently-used buffer of a size in MiB with the marks in percent of its slots where
/// flushing begins and ends.
// tidy: allow(float): called when a drive is built
fn lru_rules(size_mib: f64, marks_percent: (f64, f64), access_ns: u32, unit_bytes: u32) -> Rules {
    let slots = (size_mib * 1_048_576.0 / f64::from(unit_bytes)) as u32;
    let share = |percent: f64| (f64::from(slots) * percent / 100.0) as u32;
    Rules {
        slots,
        write_back: true,
        flush: Flush::Program,
        keep_reads: false,
        one_list: false,
        flush_start: share(marks_percent.0),
        flush_stop: share(marks_percent.1),
        access_ns: u64::from(access_ns),
        gather_ns: 0,
    }
}
