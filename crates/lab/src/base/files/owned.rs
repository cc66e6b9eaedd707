//! Which files of a folder commands of ours have written, by a list that lies there.
//!
//! What a command may replace there is what one of its own kind has written; everything else is the user's.

use super::lock::Turn;
use super::set::{keep_all_beside, replace_all};
use super::{claimed, replace_plain};
use crate::base::error::ReportError;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Name of the list: a line for each file, the kind of the command first.
pub const LIST: &str = ".wordline.files";
/// A longer list is none of ours.
const LIST_AT_MOST: u64 = 1 << 20;

/// Names of the files of a folder that commands of that kind have written; `None` where no list says so.
pub fn owned(folder: &Path, kind: &str) -> Option<BTreeSet<String>> {
    let list = read(folder)?;
    let names: BTreeSet<String> =
        list.into_iter().filter(|(of, _)| of == kind).map(|(_, name)| name).collect();
    (!names.is_empty()).then_some(names)
}

/// All entries of a folder's list: kinds, and names of files; `None` where there is none, or something else.
fn read(folder: &Path) -> Option<BTreeSet<(String, String)>> {
    let path = folder.join(LIST);
    std::fs::symlink_metadata(&path).ok().filter(|found| found.is_file() && found.len() <= LIST_AT_MOST)?;
    let text = std::fs::read_to_string(path).ok()?;
    let entry = |line: &str| line.split_once('\t').map(|(kind, name)| (kind.to_owned(), name.to_owned()));
    text.lines().map(entry).collect()
}

/// Writes the files of a folder as [`replace_all`] does, and notes that a command of that kind has. The list comes
/// first: what is written is known for ours whatever happens then. Of the `stale` files only those go that are ours, as
/// far as a list says so. Those who share the folder do it one after another.
pub fn write_set(
    folder: &Path,
    kind: &str,
    files: &[(String, Vec<u8>)],
    stale: &[String],
) -> Result<Vec<PathBuf>, ReportError> {
    create(folder)?;
    let turn = Turn::at(folder, LIST)?;
    let ours = owned(folder, kind);
    let is_ours = |name: &&String| ours.as_ref().is_none_or(|ours| ours.contains(*name));
    let stale: Vec<String> = stale.iter().filter(is_ours).cloned().collect();
    // What was claimed before the work is ours: this has come since.
    let is_there = |name: &String| folder.join(name).symlink_metadata().is_ok();
    let why = |name: &String| {
        if !is_ours(&name) && is_there(name) {
            return Some("it was put there meanwhile by somebody else".to_owned());
        }
        claimed::check(&folder.join(name)).err().map(|error| error.to_string())
    };
    let refused = files.iter().find_map(|(name, _)| Some((name, why(name)?)));
    if let Some((name, why)) = refused {
        return Err(keep_all_beside(folder, files, &format!("{name}: {why}")));
    }
    note_in(&turn, folder, kind, files.iter().map(|(name, _)| name.as_str()))?;
    replace_all(folder, files, &stale)
}

/// Notes that files of these names, which are there or will be, are written by commands of that kind.
pub fn note<'a>(
    folder: &Path,
    kind: &str,
    names: impl IntoIterator<Item = &'a str>,
) -> Result<(), ReportError> {
    create(folder)?;
    note_in(&Turn::at(folder, LIST)?, folder, kind, names)
}

/// Makes the folder where there is none.
fn create(folder: &Path) -> Result<(), ReportError> {
    std::fs::create_dir_all(folder).map_err(|error| ReportError::new(folder, "create", error))
}

/// What [`note`] does, in a turn of those who write to the folder.
fn note_in<'a>(
    _: &Turn,
    folder: &Path,
    kind: &str,
    names: impl IntoIterator<Item = &'a str>,
) -> Result<(), ReportError> {
    let path = folder.join(LIST);
    let before = read(folder);
    // What is no list of ours is somebody's.
    if before.is_none() && path.symlink_metadata().is_ok_and(|found| !found.is_file() || found.len() > 0) {
        return Err(ReportError::new(&path, "write", "it is not a list of this program's"));
    }
    let before = before.unwrap_or_default();
    let new = names.into_iter().map(|name| (kind.to_owned(), name.to_owned()));
    let list: BTreeSet<(String, String)> = before.iter().cloned().chain(new).collect();
    if list == before {
        return Ok(());
    }
    let text: String = list.iter().map(|(kind, name)| format!("{kind}\t{name}\n")).collect();
    replace_plain(&path, text.as_bytes())
}
