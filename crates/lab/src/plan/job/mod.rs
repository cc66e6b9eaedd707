//! What describes a run: a file, a preset, settings; and how they become one configuration and a [`Plan`].

mod answers;
mod asked;
mod config_file;
mod depth;
mod error;
pub mod files;
mod memo;
mod pace;
mod paths;
mod plan;
mod size;
mod sized;
mod workload_origins;

pub(crate) use asked::SIZED;
pub use asked::{DEFAULT_DRIVE, Job};
pub use config_file::FOREIGN;
pub use error::JobError;
pub use memo::Chosen;
pub(crate) use memo::{Remembered, taking};
pub(crate) use pace::can_saturate;
pub use paths::{is_config, with_path};
pub use plan::Plan;
pub use size::GENERATOR_SPACE_BYTES;
pub(crate) use sized::Levels;
pub use workload_origins::Given;
