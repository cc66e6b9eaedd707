//! Saved drives, brought back.

use std::path::Path;

use lab::job::files;
use ssd::snapshot::SnapshotError;
use ssd::{Drive, DriveConfig};

use crate::failure::Failure;

/// The bytes of a snapshot.
pub fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let allowed = "    allowed: a file that `wordline run --save-snapshot` has written";
    files::read_snapshot(path).map_err(|error| Failure::from(error).and(allowed))
}

/// The drive that was saved to a file, of that configuration.
pub fn restore(path: &Path, config: &DriveConfig) -> Result<Drive, Failure> {
    let bytes = read(path)?;
    Drive::restore(config, &bytes).map_err(|error| {
        let hint = match error {
            SnapshotError::OtherConfig { .. } => {
                format!("\n    the drive it was saved with: --config {}", files::beside(path).display())
            }
            _ => String::new(),
        };
        Failure::usage(format!("{}: {error}{hint}", path.display()))
    })
}
