//! The files of a folder that belong together: all of them are the old ones, or all are the new.

use super::claimed;
use super::replacement::{Replacement, names_beside, plain, staged};
use crate::base::error::ReportError;
use std::io;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Files that are written, with their names, the most important first; and why others could not be.
type Staged<'a> = (Vec<(&'a str, Replacement)>, Vec<(&'a str, io::Error)>);

/// Writes the files of a folder, the most important first, and removes those in `stale` that are not among them. All of
/// them are written beside their places before the first takes its own. If one cannot be written, files that are there
/// stay as they are, all of them; so they do if one cannot take its place, and the new ones are kept beside them as
/// `NAME.1`. Where there were none, those that could be written are kept.
pub fn replace_all(
    folder: &Path,
    files: &[(String, Vec<u8>)],
    stale: &[String],
) -> Result<Vec<PathBuf>, ReportError> {
    std::fs::create_dir_all(folder).map_err(|error| ReportError::new(folder, "create", error))?;
    let was_there = files.iter().any(|(name, _)| folder.join(name).exists());
    let staged = stage(folder, files);
    let written = if was_there { put_whole(folder, staged) } else { put_each(folder, staged) }?;
    for name in stale.iter().filter(|name| files.iter().all(|(file, _)| file != *name)) {
        // What is not there need not go; what cannot go is of another run, as its date shows.
        let _ = std::fs::remove_file(folder.join(name));
    }
    Ok(written)
}

/// Replaces nothing, for that reason: keeps the files beside their places.
pub(super) fn keep_all_beside(folder: &Path, files: &[(String, Vec<u8>)], why: &str) -> ReportError {
    let (ready, _) = stage(folder, files);
    refused(folder, why, ready, Vec::new())
}

/// Writes all of them beside their places.
fn stage<'a>(folder: &Path, files: &'a [(String, Vec<u8>)]) -> Staged<'a> {
    let (mut ready, mut missing) = (Vec::new(), Vec::new());
    for (name, content) in files {
        let path = folder.join(name);
        match plain(&path).and_then(|()| staged(&path, content)) {
            Ok(file) => ready.push((name.as_str(), file)),
            Err(error) => missing.push((name.as_str(), error)),
        }
    }
    (ready, missing)
}

/// Puts those in their places that can be.
fn put_each(folder: &Path, (ready, mut missing): Staged<'_>) -> Result<Vec<PathBuf>, ReportError> {
    let mut written = Vec::new();
    // The most important comes last: when it is there, all are.
    for (name, file) in ready.into_iter().rev() {
        match file.commit() {
            Ok(()) => written.push(folder.join(name)),
            Err(error) => missing.push((name, error)),
        }
    }
    written.reverse();
    let Some((_, error)) = missing.first() else { return Ok(written) };
    let names: Vec<&str> = missing.iter().map(|(name, _)| *name).collect();
    let message = format!("{error}; missing there: {}", names.join(", "));
    Err(ReportError::new(folder, "write", message))
}

/// Puts all of them in their places, or none.
fn put_whole(folder: &Path, (mut ready, missing): Staged<'_>) -> Result<Vec<PathBuf>, ReportError> {
    if let Some((name, error)) = missing.first() {
        // On a full disk parts of a set would be in the way.
        return Err(refused(folder, &format!("{name}: {error}"), Vec::new(), Vec::new()));
    }
    let mut placed = Vec::new();
    // The most important comes last: when it is there, all are.
    while let Some((name, file)) = ready.pop() {
        let place = file.place().to_owned();
        let earlier = if place.exists() { file.keep_earlier().map(Some).ok_or(()) } else { Ok(None) };
        match file.put() {
            Ok(()) => placed.push(Placed { name, path: folder.join(name), place, earlier }),
            Err(failed) => {
                ready.extend(failed.file.map(|file| (name, file)));
                return Err(refused(folder, &format!("{name}: {}", failed.error), ready, placed));
            }
        }
    }
    Ok(placed.into_iter().rev().map(|file| file.path).collect())
}

/// A file that has come to its place, and what it has replaced.
struct Placed<'a> {
    name: &'a str,
    /// The file as it was named.
    path: PathBuf,
    place: PathBuf,
    /// What was there before, if anything was; `Err` where it could not be kept.
    earlier: Result<Option<NamedTempFile>, ()>,
}

impl Placed<'_> {
    /// Puts back what was there, and keeps beside it what had come to its place: under that name. `None` if it stays
    /// where it is, as it does if it would be lost.
    fn undo(self) -> Option<PathBuf> {
        let earlier = self.earlier.ok()?;
        let beside = names_beside(&self.place).find(|name| std::fs::hard_link(&self.place, name).is_ok())?;
        let is_undone = match earlier {
            Some(file) => file.persist(&self.place).is_ok(),
            None => std::fs::remove_file(&self.place).is_ok(),
        };
        if is_undone {
            claimed::renew(&self.path);
            return Some(beside);
        }
        // One name for it is enough.
        let _ = std::fs::remove_file(beside);
        None
    }
}

/// The error of a set that is not replaced for some reason: what has come to its place goes back, and all are kept
/// beside their places.
fn refused(
    folder: &Path,
    why: &str,
    ready: Vec<(&str, Replacement)>,
    placed: Vec<Placed<'_>>,
) -> ReportError {
    let mut beside: Vec<PathBuf> = ready.into_iter().filter_map(|(_, file)| file.keep_beside()).collect();
    let mut stay = Vec::new();
    for file in placed.into_iter().rev() {
        let name = file.name;
        match file.undo() {
            Some(kept) => beside.push(kept),
            None => stay.push(name),
        }
    }
    let mut message = match &stay[..] {
        [] => format!("{why}; nothing was replaced there"),
        stay => format!("{why}; replaced all the same: {}", stay.join(", ")),
    };
    if !beside.is_empty() {
        let name = |path: &PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned());
        let names: Vec<String> = beside.iter().filter_map(name).collect();
        message += &format!("; what could be written is in {}", names.join(", "));
    }
    ReportError::new(folder, "write", message)
}
