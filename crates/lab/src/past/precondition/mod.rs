//! Ageing a drive before a measurement: filled in order, overwritten at random, blocks given erase counts.
//!
//! All of it goes below the DRAM buffer and takes no simulated time. Random sequences have names of their own, so that
//! the workload and the drive's policies draw the same numbers whatever was done before.

mod around;
mod claims;
mod done;
mod drive;
mod laid;
mod one_die;
mod overwriting;
mod own;
mod turnover;
mod uniform;
mod wanted;
mod work;

pub use crate::base::error::PreconditionError;

pub(crate) use claims::Recipe;
pub use done::{Preconditioned, Spare};
pub use drive::precondition;
pub(crate) use drive::precondition_until;
pub(crate) use overwriting::Windows;
pub(crate) use own::Own;
pub use own::PIECES;
pub(crate) use turnover::Turnover;
pub use wanted::{EraseCounts, Overwrite, Past, Preconditioning, SteadyWay};
pub(crate) use work::{fill, no_room};
