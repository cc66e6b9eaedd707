//! What is asked for, before anything runs: a configuration, how a workload is run, what is read and written.

pub mod claim;
pub mod job;
pub mod outputs;
pub mod own;
pub mod policies;
pub mod run_config;
pub mod settings;
pub mod sizing;
pub mod spec;
