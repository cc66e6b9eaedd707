//! The result of a run: everything that `result.json` holds. `docs/results.md` explains each key, [`schema()`] states
//! them for programs.

pub(crate) mod block_age;
pub(crate) mod block_table;
pub(crate) mod caution;
pub(crate) mod cliff;
pub(crate) mod collect;
mod distribution;
pub(crate) mod facts;
pub(crate) mod judge;
mod keys;
pub(crate) mod lifetime;
pub(crate) mod metrics;
pub(crate) mod migration;
pub(crate) mod modes;
pub(crate) mod page_class;
pub(crate) mod problem;
pub mod problems;
pub mod regimes;
pub(crate) mod remarks;
pub(crate) mod retries;
pub(crate) mod sanitize;
mod schema;
pub mod separation;
mod shares;
pub(crate) mod slc;
pub(crate) mod suspends;
pub(crate) mod time_spent;
pub mod verdict;
mod whole;
mod work;

pub use distribution::{Distribution, Latencies, Rates};
pub use schema::schema;
pub use shares::{JobResult, MemberResult, Share, ShareLatencies};
pub(crate) use whole::FORMAT;
pub use whole::{FILE_NAME, RunResult, version};
pub use work::{
    BufferWork, Busy, DriveSize, EraseCount, FlashWork, FtlWork, ReadReclaimWork, Together, Utilisation,
    Victims,
};
