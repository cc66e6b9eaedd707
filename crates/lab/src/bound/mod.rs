//! What every policy must copy because of reads: a lower bound by the recorded future.
//!
//! A read of a block disturbs all its wordlines but one, and what lives on a wordline endures so many effective reads.
//! Each host write and each copy gives one unit of data one life. So the lives that reads take, less those that are
//! given for nothing, must be copies, wherever a policy puts the data: a linear program over layouts says how few lives
//! the reads can take. `docs/models/read_reclaim_bound.md` derives it, with every assumption.
//!
//! The solver only proposes prices. The bound is recomputed from them, and by weak duality any prices give a valid one:
//! a solver that is wrong or stops early makes it lower, never false.

mod bounds;
mod future;
mod ground;
mod prices;

pub use bounds::{Bound, bound};
pub use future::{Each, Future, Shape, Spread};
pub use ground::Ground;

#[cfg(test)]
mod tests;
