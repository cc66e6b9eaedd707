//! Saved drives, brought back.

use std::path::{Path, PathBuf};

use lab::job::files;
use ssd::snapshot::SnapshotError;
use ssd::{Drive, DriveConfig};

use crate::failure::Failure;

/// Where a snapshot's configuration lies.
pub fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".toml");
    PathBuf::from(name)
}

/// The drive that was saved to a file, of that configuration.
pub fn restore(path: &Path, config: &DriveConfig) -> Result<Drive, Failure> {
    let bytes = files::read(path, "read the snapshot")?;
    Drive::restore(config, &bytes).map_err(|error| {
        let hint = match error {
            SnapshotError::OtherConfig { .. } => {
                format!("\n    the drive it was saved with: --config {}", beside(path).display())
            }
            _ => String::new(),
        };
        Failure::usage(format!("{}: {error}{hint}", path.display()))
    })
}
