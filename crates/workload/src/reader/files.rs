//! The files of one trace: one, or several binary ones that a recorder wrote side by side, merged by time in constant
//! memory.

use crate::base::error::{Problem, WorkloadError};
use crate::base::input::bytes::{Input, Progress};
use crate::base::input::lines::{Cut, Line, Lines, Records};
use crate::base::remark::Remark;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs;
use std::path::{Path, PathBuf};

/// The files of a trace, each with a buffer of its own.
pub(crate) struct Files {
    all: Vec<Lines>,
    /// The one that was read last.
    now: usize,
    /// Times of the next records, with their files; those of files in `unseen` are not among them.
    waiting: BinaryHeap<Reverse<(u64, usize)>>,
    /// Files whose next record has not been looked at.
    unseen: Vec<usize>,
    /// Time of the latest record.
    latest: u64,
    notes: Vec<Remark>,
}

impl Files {
    /// One file, or text from anywhere.
    pub(crate) fn one(input: Input) -> Result<Self, WorkloadError> {
        Self::of(vec![Lines::new(input)?])
    }

    /// What lies at a path: a file, or a folder of blktrace's files, one for each processor.
    pub(crate) fn open(path: &Path) -> Result<Self, WorkloadError> {
        if !path.is_dir() {
            let mut files = Self::one(Input::open(path)?)?;
            files.notes.extend(others_beside(path));
            return Ok(files);
        }
        let fail =
            |message: String| Problem::File { file: path.display().to_string(), action: "open", message };
        let found = recordings(path).map_err(|error| fail(error.to_string()))?;
        if found.is_empty() {
            let message = "it is a directory without files of blktrace (DEVICE.blktrace.CPU); a trace must be \
                           a file that can be read twice, such a directory, or - (standard input)";
            return Err(fail(message.to_owned()).into());
        }
        let open = |path: &PathBuf| Lines::new(Input::open(path)?);
        Self::of(found.iter().map(open).collect::<Result<_, _>>()?)
    }

    fn of(all: Vec<Lines>) -> Result<Self, WorkloadError> {
        let unseen = (0..all.len()).collect();
        Ok(Files { all, now: 0, waiting: BinaryHeap::new(), unseen, latest: 0, notes: Vec::new() })
    }

    /// Refuses several files of anything but binary records, whose times tell how they follow each other.
    pub(crate) fn check_one_unless(&self, cut: Cut) -> Result<(), WorkloadError> {
        if self.all.len() == 1 || cut.is_binary() {
            return Ok(());
        }
        let message = "one of several files that are text; give one of them (only binary ones are merged)";
        let file = self.all[0].file().to_owned();
        Err(Problem::File { file, action: "merge", message: message.to_owned() }.into())
    }

    /// The name for messages of the file that was read last.
    pub(crate) fn file(&self) -> &str {
        self.all[self.now].file()
    }

    /// The place in that file of what is read next.
    pub(crate) fn place(&self) -> u64 {
        self.all[self.now].place()
    }

    /// How far all are read.
    pub(crate) fn progress(&self) -> Progress {
        let each = self.all.iter().map(Lines::progress);
        each.fold(Progress::default(), |sum, one| Progress {
            done: sum.done + one.done,
            total: sum.total + one.total,
        })
    }

    /// What is to be remarked of them.
    pub(crate) fn notes(&self) -> Vec<Remark> {
        self.notes.clone()
    }

    /// The first pieces of each, without taking them.
    pub(crate) fn head(&self, cut: Cut) -> Vec<&[u8]> {
        self.all.iter().flat_map(|lines| lines.head(cut)).collect()
    }

    /// The next piece: a line, with those behind it while it `goes_on`, or the earliest record.
    #[inline]
    pub(crate) fn next(
        &mut self,
        cut: Cut,
        goes_on: impl Fn(&[u8]) -> bool,
    ) -> Result<Option<Line<'_>>, WorkloadError> {
        match cut {
            Cut::Lines => self.all[0].next_while(goes_on),
            Cut::Records(records) if self.all.len() == 1 => self.all[0].next_record(&records),
            Cut::Records(records) => self.next_merged(&records),
        }
    }

    /// The earliest record. A damaged one has the time of that before it; of one time, that of the first file.
    fn next_merged(&mut self, records: &Records) -> Result<Option<Line<'_>>, WorkloadError> {
        while let Some(file) = self.unseen.pop() {
            self.now = file;
            if let Some(time) = self.all[file].next_time(records)? {
                self.waiting.push(Reverse((time.unwrap_or(self.latest), file)));
            }
        }
        let Some(Reverse((time, file))) = self.waiting.pop() else { return Ok(None) };
        (self.now, self.latest) = (file, time);
        self.unseen.push(file);
        self.all[file].next_record(records)
    }
}

/// The device and the processor that the name of a file of blktrace says, such as `sda.blktrace.3`, or
/// `sda.blktrace.3.gz`.
fn recording(path: &Path) -> Option<(String, u32)> {
    let (device, rest) = path.file_name()?.to_str()?.rsplit_once(".blktrace.")?;
    let (processor, packed) = rest.split_once('.').unwrap_or((rest, ""));
    let is_packed = packed.is_empty() || ["gz", "zst", "xz", "bz2", "lz4"].contains(&packed);
    Some((device.to_owned(), processor.parse().ok().filter(|_| is_packed)?))
}

/// blktrace's files in a folder, in order of device and processor.
fn recordings(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        found.extend(recording(&path).map(|name| (name, path)));
    }
    found.sort();
    Ok(found.into_iter().map(|(_, path)| path).collect())
}

/// What to say of a file beside which lie those of other processors.
fn others_beside(path: &Path) -> Option<Remark> {
    let (device, _) = recording(path)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let all = recordings(folder).ok()?;
    let of_device = all.iter().filter(|path| recording(path).is_some_and(|(other, _)| other == device));
    let others = of_device.count().saturating_sub(1);
    let text = format!("it has the events of one processor only; beside it lie those of {others} more");
    (others > 0).then(|| Remark::caution(text).advising("give the folder, and all are read"))
}
