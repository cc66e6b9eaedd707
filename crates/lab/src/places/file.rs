//! Files are claimed before the work, as folders are ([`crate::plan::claim`]): one run writes each, and what is there
//! is replaced only if another command of the same kind has written it, and the user says so.

use std::fmt::Display;
use std::path::Path;

use super::kind::Kind;
use crate::base::files::{FileLock, Replacement};
use crate::plan::claim::Force;
use crate::plan::job::JobError;

/// Can a file of that kind be written there when the work is done, and is nothing lost by it? It is this command's as
/// long as what is returned lives; nothing is returned for devices and pipes, which can be shared. `action` is what a
/// message says is done, such as `write the request log`; an empty file may be replaced.
pub fn claim_file(path: &Path, kind: Kind, action: &str, force: Force) -> Result<Option<FileLock>, JobError> {
    let refused = |error: &dyn Display| JobError::file(path, action, error);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if folder.is_some_and(|folder| !folder.is_dir()) {
        return Err(refused(&"its folder does not exist"));
    }
    if path.is_dir() {
        return Err(refused(&"it is a folder"));
    }
    // Pipes and devices are opened when there is something to write.
    if path.exists() && !path.is_file() {
        return Ok(None);
    }
    // First, for what it says is the system's own reason.
    Replacement::create(path).map_err(|error| refused(&error))?;
    let lock = FileLock::take(path)?;
    if path.metadata().is_ok_and(|found| found.len() > 0) {
        let (what, name) = (kind.what(), force.name);
        let wrong = match (kind.is(path), force.is_given) {
            (true, true) => None,
            (true, false) => Some((what, format!("another file, or {name} to replace it"))),
            (false, _) => Some((
                format!("a file that is not {what}"),
                format!("another file; {name} replaces only {}", kind.what()),
            )),
        };
        if let Some((found, allowed)) = wrong {
            return Err(refused(&format!("it exists\n    found:   {found}\n    allowed: {allowed}")));
        }
    }
    Ok(Some(lock))
}
