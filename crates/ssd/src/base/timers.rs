//! Timers: what is looked at again when some time has passed, each declared here once. A timer is set at most once at a
//! time; the queue of events knows which are ([`EventQueue::set`](crate::events::EventQueue::set)), and of a restored
//! drive that is what its events say.

/// Who looks again, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Timer {
    /// The host's buffer: data has waited for more of its page for long enough (`host.buffer.gather_timeout_us`).
    Gather,
    /// Garbage collection: the host may have been silent for long enough for it to begin ahead (`ftl.gc_trigger`).
    Cleaning,
    /// Read reclaim: the same, for blocks that are to be looked at and can wait (`ftl.read_reclaim`).
    Reclaim,
    /// Locks: copies that moves have killed may have waited long enough for the end of their job
    /// (`ftl.sanitize.batch_ms`).
    Locks,
    /// The SLC cache: the host may have been silent for long enough for it to be emptied (`ftl.slc_cache`).
    Destage,
    /// Locks: whether they are done in time is looked at again (`ftl.sanitize.max_exposed_ms`).
    Exposure,
}

impl Timer {
    /// All of them, in order.
    pub const ALL: [Timer; 6] =
        [Timer::Gather, Timer::Cleaning, Timer::Reclaim, Timer::Locks, Timer::Destage, Timer::Exposure];
}
