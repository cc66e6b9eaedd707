//! Cells that age, as the chips keep them: the integers of the event loop against the exact model and against numbers
//! worked out by hand.

mod bound;
mod copies;
mod drive;
mod end_to_end;
mod errors;
mod fresh;
mod lives;
mod one_bit;
mod part;
mod reads;
mod seen;
mod sets;
mod steps;
mod support;
mod wear;
