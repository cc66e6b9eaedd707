//! Applications that use files: what reaches a drive through a file system and a page cache.
//!
//! Processes go through a loop of steps (`steps`: create, append, fsync, …) at so many operations per second. Below
//! them are a page cache (`stack/page_cache.rs`) and a file system like ext4 (`system.rs`: space, journal, delayed
//! allocation, discard). Requests carry the file, its security class, the process and the step as hints; journal and
//! metadata have their own. Every number is a setting; what has no source is assumed.
//!
//! **Time** is that of the operations, not of the drive: all requests that an operation leads to arrive at its time, in
//! their order, and an operation does not wait for the drive.

pub mod capture;
mod captured;
mod database;
mod journal;
mod layout;
mod load;
mod out;
mod sizes;
mod space;
mod spec;
mod steps;
mod system;
mod trim;

#[cfg(test)]
mod tests;

use crate::base::error::WorkloadError;
use crate::base::input::bytes::Progress;
use crate::base::request::Source;
use crate::stack::kind::{Kind, Ready};
use crate::stack::map_hints::MapHints;
use load::Load;

pub use captured::CaptureSpec;
pub use spec::{FilesSpec, SizeLaw};
pub use steps::{Step, Steps};
pub use trim::Discard;

impl Kind for FilesSpec {
    fn check(&self) -> Result<(), WorkloadError> {
        self.check()
    }

    fn has_times(&self) -> bool {
        true
    }

    fn map_hints(&self) -> MapHints {
        self.map_hints.clone()
    }

    fn title(&self) -> String {
        if self.preset.is_empty() { "files".to_string() } else { self.preset.clone() }
    }

    fn prepare(&self, _: &mut dyn FnMut(Progress)) -> Result<Box<dyn Ready>, WorkloadError> {
        Ok(Box::new(self.clone()))
    }
}

impl Ready for FilesSpec {
    fn space_sectors(&self) -> Option<u64> {
        self.space_sectors()
    }

    fn once(&self, drive_sectors: u64) -> Result<Box<dyn Source>, WorkloadError> {
        Ok(Box::new(Load::new(self, drive_sectors)?))
    }

    fn open(&self, drive_sectors: u64) -> Result<Box<dyn Source>, WorkloadError> {
        self.once(drive_sectors)
    }
}
