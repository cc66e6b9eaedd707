//! How long a drive lasts under a load: what its maker rates it for, in flash, over what the load programs.
//!
//! A rating counts bytes of the host under one workload. What wears a drive is what it programs: so the budget is the
//! rating times the write amplification of the rating's workload on this drive (`budget`), and what the load takes of
//! it is its bytes times its own (`steady`). Both are measured on one drive like it, made small (`scale`). Nothing
//! here looks at a clock, and the same question has the same answer everywhere.

pub(crate) mod amounts;
mod answer;
mod budget;
pub(crate) mod expected;
mod load;
mod question;
mod reads;
mod recorded;
mod scale;
mod steady;
mod table;
mod wanted;
mod what_if;

pub use amounts::{bytes, bytes_a_day};
pub use answer::{Answer, WhatIf};
pub(crate) use answer::{DAYS, YEARS};
pub use budget::{Budget, Rated};
pub(crate) use expected::expected;
pub use load::Pattern;
pub use question::{EnduranceError, Question};
pub use reads::Reads;
pub use table::table;
pub use wanted::Wanted;
