//! Folders are claimed before the work: one run writes to each, and what is there is replaced only if another command
//! of the same kind has written it, and the user says so.

use std::path::Path;

use crate::base::files::{FolderLock, note, owned, replaceable};
use crate::plan::job::JobError;

/// How the user says that earlier results may be replaced, as a message names it.
#[derive(Clone, Copy, Debug)]
pub struct Force {
    /// Whether it was said.
    pub is_given: bool,
    /// What to say.
    pub name: &'static str,
}

impl Force {
    /// By the flag `--force`.
    pub fn flag(is_given: bool) -> Self {
        Force { is_given, name: "--force" }
    }

    /// By Python's keyword `force`.
    pub fn keyword(is_given: bool) -> Self {
        Force { is_given, name: "force=True" }
    }
}

/// Files that a kind of command writes to a folder.
pub struct Set<'a> {
    /// The kind's name in the folder's list.
    pub kind: &'static str,
    /// What they are together, as messages say it: `the result of a run`.
    pub what: String,
    /// Names of all that it may write.
    pub names: &'a [String],
    /// Whether all files of these names are of this kind even where no list says so: they came with one that is.
    pub is_known: bool,
}

/// Can these files be written to the folder when the work is done, and is nothing lost by it? The folder is this
/// command's as long as what is returned lives. `place` is what messages call it: `--out DIR`.
pub fn claim_folder(folder: &Path, place: &str, set: &Set<'_>, force: Force) -> Result<FolderLock, JobError> {
    let mut lock = FolderLock::take(folder)?;
    check_folder(folder, place, set, force)?;
    lock.claim(folder, set.names);
    Ok(lock)
}

/// The same of a folder that is locked already.
pub fn check_folder(folder: &Path, place: &str, set: &Set<'_>, force: Force) -> Result<(), JobError> {
    // Whether there can be a list.
    note(folder, set.kind, [])?;
    // A link that leads nowhere is there, too.
    let is_there = |name: &&String| folder.join(name).symlink_metadata().is_ok();
    let there: Vec<&String> = set.names.iter().filter(is_there).collect();
    // Behind that: commands of this kind that share the folder write the list before their files.
    let owned = owned(folder, set.kind);
    // What is no file or folder of its own, such as a link or a pipe, has been put there by somebody else.
    let is_plain = |name: &String| {
        folder.join(name).symlink_metadata().is_ok_and(|found| found.is_file() || found.is_dir())
    };
    let is_known = |name: &String| owned.as_ref().map_or(set.is_known, |owned| owned.contains(name));
    let is_ours = |name: &String| is_known(name) && is_plain(name);
    let refused = |found: &str, allowed: &str| {
        JobError::new(format!("{place}\n    found:   {found}\n    allowed: {allowed}"))
    };
    if let Some(name) = there.iter().find(|name| !is_ours(name)) {
        let (what, name_of_force) = (&set.what, force.name);
        let found = format!("{name}, which would be replaced and is no part of {what}");
        return Err(refused(&found, &format!("another folder ({name_of_force} does not replace it)")));
    }
    if let Some((name, error)) =
        there.iter().find_map(|name| Some((name, replaceable(&folder.join(name)).err()?)))
    {
        return Err(refused(&format!("{name}, which cannot be replaced: {error}"), "another folder"));
    }
    if !there.is_empty() && !force.is_given {
        return Err(refused(&set.what, &format!("another folder, or {} to replace that", force.name)));
    }
    Ok(())
}
