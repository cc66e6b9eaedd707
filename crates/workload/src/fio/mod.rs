//! fio's job files, run on a simulated drive. See docs/fio.md.

mod meaning;
mod option;
mod options;
mod parse;
mod run;
mod settings;
mod spec;
mod table;
#[cfg(test)]
mod tests;
mod value;

mod client;
mod demand;
mod dist;
mod engine;
mod flight;
mod hints;
mod jobs;
mod lane;
mod layout;
mod map;
mod memory;
mod names;
mod places;
mod rate;
mod read_back;
mod sizes;
mod steady;
mod watch;
pub use engine::is_synchronous;
pub use jobs::{JobFile, is_job_file};
pub use option::{Class, JobOption};
pub use options::options;
pub use spec::FioSpec;
