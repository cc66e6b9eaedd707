//! What is counted of each file: valid and invalid units now and at most, and how long it was insecure; of invalid ones
//! all, and those alone that moves have left behind.

use ssd::units::NONE;
use std::collections::BTreeMap;

/// Points of a drive's writes at which what a file has is kept for its plot.
const POINTS_OF_A_FILL: u64 = 128;

/// Invalid units of a file.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Invalid {
    /// Units now, and at most.
    pub now: u32,
    pub max: u32,
    /// Sectors written while there were some, and what had been written when there came to be some.
    insecure: u64,
    since: Option<u64>,
}

impl Invalid {
    /// An effect is over.
    fn settle(&mut self, sectors: u64) {
        self.max = self.max.max(self.now);
        match (self.now > 0, self.since) {
            (true, None) => self.since = Some(sectors),
            (false, Some(since)) => {
                self.insecure += sectors - since;
                self.since = None;
            }
            _ => {}
        }
    }

    /// Sectors written while there were some, when so many have been written in all.
    pub fn insecure(&self, sectors: u64) -> u64 {
        self.insecure + self.since.map_or(0, |since| sectors - since)
    }
}

/// A file, and what it has in flash.
#[derive(Clone, Debug)]
pub(super) struct File {
    /// Its number in hints.
    pub id: u32,
    pub valid: u32,
    pub valid_max: u32,
    pub invalid: Invalid,
    /// Those of them that moves have left behind.
    pub moved: Invalid,
    /// It lay on the drive before the first request.
    pub is_of_start: bool,
    /// A version of it died because the host overwrote or trimmed it.
    pub is_multi: bool,
    /// The logical unit that it got last: a write that begins there is taken for an append.
    tail: u32,
    /// Its last point, by number.
    point: u32,
    is_touched: bool,
    is_changed: bool,
}

/// What a file had, at a time counted in [`POINTS_OF_A_FILL`].
#[derive(Clone, Copy, Debug)]
struct Point {
    file: u32,
    at: u32,
    valid: u32,
    invalid: u32,
}

/// All files.
#[derive(Debug)]
pub(super) struct Book {
    /// Numbers below this are of no file.
    first: u32,
    files: Vec<File>,
    numbers: BTreeMap<u32, u32>,
    /// The file of each logical unit's data, in flash or on its way there.
    owners: Vec<u32>,
    /// Files that an effect has changed, and those that did since rows were written.
    touched: Vec<u32>,
    changed: Vec<u32>,
    points: Vec<Point>,
    /// Sectors between two points.
    step: u64,
    /// Sectors that the host has written.
    pub sectors: u64,
}

impl Book {
    /// No files; a drive of so many logical units and sectors, of which numbers from `first` on mean files.
    pub fn new(first: u32, units: u32, sectors: u64) -> Self {
        Book {
            first,
            files: Vec::new(),
            numbers: BTreeMap::new(),
            owners: vec![NONE; units as usize],
            touched: Vec::new(),
            changed: Vec::new(),
            points: Vec::new(),
            step: (sectors / POINTS_OF_A_FILL).max(1),
            sectors: 0,
        }
    }

    /// The place of a file; none for what belongs to no file.
    pub fn place(&mut self, id: u32) -> u32 {
        if id < self.first {
            return NONE;
        }
        let files = &mut self.files;
        *self.numbers.entry(id).or_insert_with(|| {
            files.push(File {
                id,
                valid: 0,
                valid_max: 0,
                invalid: Invalid::default(),
                moved: Invalid::default(),
                is_of_start: false,
                is_multi: false,
                tail: NONE,
                point: NONE,
                is_touched: false,
                is_changed: false,
            });
            files.len() as u32 - 1
        })
    }

    /// The number of a file; 0 for none.
    pub fn id(&self, place: u32) -> u32 {
        self.files.get(place as usize).map_or(0, |file| file.id)
    }

    /// The place of the file whose data a logical unit holds.
    pub fn owner(&self, lpn: u32) -> u32 {
        self.owners[lpn as usize]
    }

    /// A logical unit holds data of a file before the first request.
    pub fn hold(&mut self, lpn: u32, place: u32) {
        self.owners[lpn as usize] = place;
        if let Some(file) = self.files.get_mut(place as usize) {
            file.is_of_start = true;
            file.tail = lpn;
        }
    }

    /// The host has written a logical unit for a file. Whoever owned it has had its data overwritten; but for the file
    /// itself where it goes on from its end: what it was is a part of what it is (RealWear section 5.1.1).
    pub fn write(&mut self, lpn: u32, place: u32) {
        let owner = std::mem::replace(&mut self.owners[lpn as usize], place);
        let is_append = owner == place && self.files.get(place as usize).is_some_and(|file| file.tail == lpn);
        if let Some(file) = self.files.get_mut(owner as usize)
            && !is_append
        {
            file.is_multi = true;
        }
        if let Some(file) = self.files.get_mut(place as usize)
            && owner != place
        {
            file.tail = lpn;
        }
    }

    /// The host has trimmed a logical unit.
    pub fn trim(&mut self, lpn: u32) {
        let owner = std::mem::replace(&mut self.owners[lpn as usize], NONE);
        if let Some(file) = self.files.get_mut(owner as usize) {
            file.is_multi = true;
        }
    }

    /// A file has so many units more or less: valid, invalid, of these left by moves.
    pub fn change(&mut self, place: u32, valid: i32, invalid: i32, moved: i32) {
        let Some(file) = self.files.get_mut(place as usize) else { return };
        file.valid = file.valid.wrapping_add_signed(valid);
        file.invalid.now = file.invalid.now.wrapping_add_signed(invalid);
        file.moved.now = file.moved.now.wrapping_add_signed(moved);
        if !file.is_touched {
            file.is_touched = true;
            self.touched.push(place);
        }
    }

    /// An effect is over: what it has changed counts.
    pub fn settle(&mut self) {
        let at = (self.sectors / self.step) as u32;
        while let Some(place) = self.touched.pop() {
            let file = &mut self.files[place as usize];
            file.is_touched = false;
            file.valid_max = file.valid_max.max(file.valid);
            file.invalid.settle(self.sectors);
            file.moved.settle(self.sectors);
            let point = Point { file: place, at, valid: file.valid, invalid: file.invalid.now };
            match self.points.get_mut(file.point as usize) {
                Some(last) if last.at == at => *last = point,
                _ => {
                    file.point = self.points.len() as u32;
                    self.points.push(point);
                }
            }
            if !file.is_changed {
                file.is_changed = true;
                self.changed.push(place);
            }
        }
    }

    /// Takes a file that has changed since it was last taken.
    pub fn take_changed(&mut self) -> Option<&File> {
        let file = &mut self.files[self.changed.pop()? as usize];
        file.is_changed = false;
        Some(file)
    }

    /// All files that have had data in flash.
    pub fn files(&self) -> impl Iterator<Item = (u32, &File)> {
        (0..).zip(&self.files).filter(|(_, file)| file.valid_max > 0)
    }

    /// What a file had, over the sectors written: each point is the last of its step.
    pub fn line(&self, place: u32) -> impl Iterator<Item = (u64, u32, u32)> {
        let own = self.points.iter().filter(move |point| point.file == place);
        own.map(|point| (u64::from(point.at) * self.step, point.valid, point.invalid))
    }
}
