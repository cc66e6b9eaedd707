//! What all layers use: units and addresses, the wheel of events, named random sequences, tables of fixed size,
//! snapshots.

pub mod events;
pub mod executor;
pub mod index;
pub mod list;
pub mod memo;
pub mod prefetch;
pub mod restore;
pub mod rng;
pub mod snapshot;
pub mod timers;
pub mod units;
