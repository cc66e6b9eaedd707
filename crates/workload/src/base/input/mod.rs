//! Files as bytes and lines: read as a stream, packed or not, or whole.

pub mod bytes;
pub mod lines;
pub mod spool;
pub mod text;
pub mod whole;
