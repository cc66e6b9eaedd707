//! Generators: requests drawn from patterns, from mixes of several kinds, or from counts in a file.

pub mod histogram;
pub mod mix;
pub mod synthetic;
