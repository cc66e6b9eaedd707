//! A run: what brings requests to drives and keeps books of them, alone, several at once, or piece by piece.

pub mod books;
pub mod desk;
pub mod driven;
pub mod drives;
pub mod experiment;
pub mod foresee;
pub mod jobs;
pub mod lookahead;
pub mod loops;
pub mod many;
pub mod members;
pub mod session;
pub mod tally;
pub mod volume;
