//! Experiments from outside, in one binary, which is linked once after an edit. What counts allocations has an
//! allocator and so a binary of its own, `no_alloc`.

mod aging;
mod cache;
mod characterize;
mod common;
mod curves;
mod determinism;
mod drives;
mod endurance;
mod fio_json;
mod jobs;
mod loops;
mod matrix;
mod members;
mod oracle;
mod parquet;
mod plots;
mod policies;
mod precondition;
mod regimes;
mod remarks;
mod reports;
mod reproduce;
mod results;
mod results_page;
mod run_config;
mod schema;
mod series;
mod session;
mod shared_cache;
mod stalls;
mod stripes;
mod tail;
mod timeline;
mod versions;
