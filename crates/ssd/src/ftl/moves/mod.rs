//! Data on the move: what each lane does next, and where what it reads goes.
//!
//! Jobs empty blocks for garbage collection, for wear levelling, because of reads, for techniques, or because a block
//! fails (`lanes.rs`); what they read is programmed elsewhere (`place.rs`); what cannot wait for a job of routine goes
//! before it (`urgent.rs`).

mod lanes;
mod place;
mod urgent;

use crate::ftl::media::Media;
use crate::ftl::page_class::PageClasses;
use crate::ftl::separation::Separation;
use serde::{Deserialize, Serialize};

/// Data on the move: what a lane does next, and where what it reads goes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Moves {
    /// What it moves, and all that must know.
    pub media: Media,
    pub(crate) page_classes: PageClasses,
    /// Which stream data goes to.
    pub(crate) separation: Separation,
}
