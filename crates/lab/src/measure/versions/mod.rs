//! Versions of files in flash (VerTrace; RealWear section 5.1.1): which of a file's units are valid, and which dead
//! ones a chip still gives away to who asks it past the firmware.
//!
//! An observer of effects: the drive knows nothing of it, and is the same with and without. Time is counted in what
//! the host writes. A unit is invalid as long as a copy of it has died and is neither locked nor scrubbed nor erased;
//! copies that moves leave behind count like those that the host has replaced.

mod book;
mod kept;
mod ledger;

use crate::base::error::Failure;
use crate::base::rows::{Cell, Column, Rows};
use book::{Book, File, Invalid};
use ledger::{Content, Ledger};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssd::units::Pun;
use ssd::{Command, Drive, DriveConfig, OpCode, SimTime};
use std::path::PathBuf;
use workload::{FilesAtStart, PAGE_BYTES, SECTOR_BYTES};

pub(crate) use kept::{KEPT, KEPT_NAME};
pub use kept::{Kept, read_kept};

/// Sectors of a write that time is counted in.
const WRITE_SECTORS: u64 = PAGE_BYTES / SECTOR_BYTES;
/// Name of the table of versions, and its columns.
pub(crate) const TABLE_NAME: &str = "versions";
pub(crate) const TABLE: [&str; 5] = ["writes", "file", "valid", "invalid", "moved"];

/// What is to be told of versions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VersionsSpec {
    /// The result tells of them.
    pub watch: bool,
    /// File for a row each time that a file's units have changed; the result tells of them as well.
    pub table: Option<PathBuf>,
    /// File for what each unit of flash holds at the end.
    pub keep: Option<PathBuf>,
}

impl VersionsSpec {
    fn is_watched(&self) -> bool {
        self.watch || self.table.is_some()
    }
}

/// Versions of files in flash.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Versions {
    /// Uni-version files: only written once or appended to.
    pub uv: VersionsOf,
    /// Multi-version files: ever overwritten or trimmed.
    pub mv: VersionsOf,
}

/// Versions of files of one kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VersionsOf {
    /// Files of that kind that had a valid unit in flash.
    pub files: u64,
    /// Version amplification of a file: the most invalid units at any time divided by the most valid ones; null
    /// without files.
    pub vaf: MeanMax,
    /// Insecure time of a file: what the host wrote while it had invalid units, divided by what fills the drive's
    /// logical space.
    pub t_insecure: MeanMax,
    /// The same, counting only invalid units that moves left behind or made in vain, over all files of the kind;
    /// `files` counts those that had some.
    pub by_moves: Share,
    /// The same, counting only files created in the run.
    pub of_run: Share,
    /// The file of the kind with the most invalid units at any time, over time; null if none had any.
    pub shown: Option<FileLine>,
}

/// A part of what is known of files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Share {
    /// Number of files.
    pub files: u64,
    /// Version amplification.
    pub vaf: MeanMax,
    /// Insecure time.
    pub t_insecure: MeanMax,
}

/// Over files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MeanMax {
    /// Mean; null without files.
    pub mean: Option<f64>,
    /// Maximum.
    pub max: Option<f64>,
}

/// Units of one file over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FileLine {
    /// The file.
    pub file: u32,
    /// Host writes of 4 KiB since the run began, in steps of 1/128 of the drive.
    pub writes: Vec<u64>,
    /// Valid units at the end of each step.
    pub valid: Vec<u32>,
    /// Invalid units at the end of each step.
    pub invalid: Vec<u32>,
}

impl MeanMax {
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let (mut count, mut sum, mut max) = (0.0, 0.0, 0.0f64);
        for value in values {
            (count, sum, max) = (count + 1.0, sum + value, max.max(value));
        }
        match count {
            0.0 => MeanMax::default(),
            count => MeanMax { mean: Some(sum / count), max: Some(max) },
        }
    }
}

impl Versions {
    /// Files of both kinds.
    pub fn files(&self) -> u64 {
        self.uv.files + self.mv.files
    }

    fn of(book: &Book, fill_sectors: u64) -> Self {
        Versions {
            uv: VersionsOf::of(book, fill_sectors, false),
            mv: VersionsOf::of(book, fill_sectors, true),
        }
    }
}

impl VersionsOf {
    fn of(book: &Book, fill_sectors: u64, is_multi: bool) -> Self {
        let files = || book.files().filter(|(_, file)| file.is_multi == is_multi);
        let share = |is_in: fn(&File) -> bool, invalid: fn(&File) -> &Invalid| {
            let files = || files().map(|(_, file)| file).filter(|file| is_in(file));
            let amplification = |file: &File| f64::from(invalid(file).max) / f64::from(file.valid_max);
            let insecure = |file: &File| invalid(file).insecure(book.sectors) as f64 / fill_sectors as f64;
            Share {
                files: files().count() as u64,
                vaf: MeanMax::of(files().map(amplification)),
                t_insecure: MeanMax::of(files().map(insecure)),
            }
        };
        let all = share(|_| true, |file| &file.invalid);
        // Means are over all files of the kind, moved or not.
        let moved = files().filter(|(_, file)| file.moved.max > 0).count() as u64;
        let by_moves = Share { files: moved, ..share(|_| true, |file| &file.moved) };
        let most = files().filter(|(_, file)| file.invalid.max > 0);
        // Of several the first.
        let most = most.max_by_key(|(place, file)| (file.invalid.max, std::cmp::Reverse(*place)));
        VersionsOf {
            files: all.files,
            vaf: all.vaf,
            t_insecure: all.t_insecure,
            by_moves,
            of_run: share(|file| !file.is_of_start, |file| &file.invalid),
            shown: most.map(|(place, file)| FileLine::of(book, place, file)),
        }
    }
}

impl FileLine {
    fn of(book: &Book, place: u32, file: &File) -> Self {
        let mut line = FileLine { file: file.id, ..FileLine::default() };
        for (sectors, valid, invalid) in book.line(place) {
            line.writes.push(sectors / WRITE_SECTORS);
            line.valid.push(valid);
            line.invalid.push(invalid);
        }
        line
    }
}

/// Who watches a drive during a run.
pub(crate) struct Observer {
    book: Book,
    ledger: Ledger,
    table: Option<Rows>,
    keep: Option<PathBuf>,
    is_watched: bool,
    fill_sectors: u64,
}

impl Observer {
    /// Begins to listen, if anything is to be told; the files are those that lie on the drive.
    pub fn listen(
        drive: &mut Drive,
        config: &DriveConfig,
        spec: &VersionsSpec,
        files: &FilesAtStart,
    ) -> Result<Option<Box<Self>>, Failure> {
        if !spec.is_watched() && spec.keep.is_none() {
            return Ok(None);
        }
        let unit_sectors = u64::from(drive.unit_bytes()) / SECTOR_BYTES;
        let units = drive.logical_units();
        let mut book = Book::new(files.first, units, drive.logical_sectors());
        for held in &files.held {
            let place = book.place(held.hints.file);
            let (first, end) = (held.lba / unit_sectors, (held.lba + held.sectors).div_ceil(unit_sectors));
            (first..end.min(u64::from(units))).for_each(|lpn| book.hold(lpn as u32, place));
        }
        let ledger = Ledger::new(drive, config.units_per_page(), config.geometry.bits_per_cell, &mut book);
        let table = spec.table.as_ref().map(|path| Rows::create(path, TABLE_NAME, Column::numbers(&TABLE)));
        drive.record_chip_effects(true);
        Ok(Some(Box::new(Observer {
            book,
            ledger,
            table: table.transpose()?,
            keep: spec.keep.clone(),
            is_watched: spec.is_watched(),
            fill_sectors: drive.logical_sectors(),
        })))
    }

    /// A command was handed to the drive: what has happened until then comes before what it writes.
    pub fn after(&mut self, drive: &mut Drive, command: &Command, now: SimTime) -> Result<(), Failure> {
        let is_write = command.op == OpCode::Write;
        if is_write {
            let file = self.book.place(command.hints.file);
            let content =
                Content { file, version: 0, class: command.hints.class, written_ns: now.0, was_dead: false };
            self.ledger.note_command(command.tag, content);
        }
        self.hear(drive)?;
        self.book.sectors += if is_write { u64::from(command.sectors) } else { 0 };
        Ok(())
    }

    /// Takes in what has happened.
    fn hear(&mut self, drive: &mut Drive) -> Result<(), Failure> {
        while let Some(effect) = drive.pop_effect() {
            self.ledger.apply(effect, &mut self.book);
        }
        let writes = self.book.sectors / WRITE_SECTORS;
        while let Some(file) = self.book.take_changed() {
            if let Some(table) = &mut self.table {
                let units = [file.valid, file.invalid.now, file.moved.now].map(u64::from);
                let cells = [writes, file.id.into(), units[0], units[1], units[2]];
                table.add(&cells.map(Cell::Number))?;
            }
        }
        Ok(())
    }

    /// The run is over: writes what is to be written, and says what is to be told.
    pub fn finish(mut self, drive: &mut Drive) -> Result<Option<Versions>, Failure> {
        self.hear(drive)?;
        drive.record_effects(false);
        if let Some(table) = self.table {
            table.finish()?;
        }
        if let Some(path) = &self.keep {
            let mut rows = Rows::create(path, KEPT_NAME, Column::numbers(&KEPT))?;
            let is_there = |place: u32| {
                let (block, page) = drive.contents().place_of(Pun(place));
                page < drive.chips().programmed_pages(block)
            };
            for (place, unit, content) in self.ledger.held().filter(|(place, ..)| is_there(*place)) {
                let file = self.book.id(content.file);
                let cells = [place, unit, content.version, file, content.class.into()].map(u64::from);
                let [place, unit, version, file, class] = cells.map(Cell::Number);
                let rest = [content.written_ns, u64::from(content.was_dead)].map(Cell::Number);
                let [written_ns, was_dead] = rest;
                rows.add(&[place, unit, version, file, class, written_ns, was_dead])?;
            }
            rows.finish()?;
        }
        Ok(self.is_watched.then(|| Versions::of(&self.book, self.fill_sectors)))
    }
}
