//! Data moved because of reads: what moves, when, what it costs, and whether data survives.

mod at_once;
mod counters;
mod executors;
mod mechanism;
mod safety;
mod service;
mod speed;
mod straw;
mod support;
mod timed;
