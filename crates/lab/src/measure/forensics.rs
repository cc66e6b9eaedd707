//! What a thief finds on the chips of a drive, who sends them every command that there is (RealWear section 5.2.1).
//!
//! Data is found by [`Chip::raw_read`](ssd::nand::Chip::raw_read) alone: pages answer data, zeros or noise, or are
//! erased. What the firmware knows, and what a run has written down, only says what that data was.

use crate::base::error::ReportError;
use crate::base::rows::{Cell, Column, Rows};
use crate::base::stop::Stop;
use crate::measure::versions::Kept;
use serde::Serialize;
use ssd::ftl::sanitize;
use ssd::nand::Raw;
use ssd::units::Pun;
use ssd::{Drive, DriveConfig, Hints};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Name of a table of finds, and its columns.
pub(crate) const NAME: &str = "finds";
pub(crate) const FINDS: [&str; 10] =
    ["block", "page", "place", "unit", "version", "file", "class", "written_ns", "is_old", "was_dead"];

/// What became of units of flash of one kind: how many a thief reads, and what he finds in place of the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Found {
    /// Read as they were written.
    pub data: u64,
    /// Zeros: locked.
    pub zeros: u64,
    /// Noise: scrubbed or reprogrammed.
    pub noise: u64,
}

impl Found {
    /// All of them.
    pub fn all(&self) -> u64 {
        self.data + self.zeros + self.noise
    }

    /// What is left without those of another.
    pub fn without(&self, other: &Found) -> Found {
        Found {
            data: self.data - other.data,
            zeros: self.zeros - other.zeros,
            noise: self.noise - other.noise,
        }
    }

    fn add(&mut self, raw: Raw) {
        match raw {
            Raw::Data => self.data += 1,
            Raw::Zeros => self.zeros += 1,
            Raw::Noise => self.noise += 1,
            Raw::Erased => {}
        }
    }
}

/// Dead data that a thief reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Find {
    /// Physical block, counted over the drive.
    pub block: u32,
    /// Page in it.
    pub page: u32,
    /// Unit of flash.
    pub place: u32,
    /// Logical unit.
    pub unit: u32,
    /// Its version: as the run counted them, or else the sequence number in the spare area; null if nobody knows.
    pub version: Option<u64>,
    /// Its file, if the run knew one.
    pub file: Option<u32>,
    /// Whether it is secured.
    pub is_secured: bool,
    /// When it was written, if the run knew; ns.
    pub written_ns: Option<u64>,
    /// Whether the drive holds a newer version, or none any more; null if nobody knows.
    pub is_old: Option<bool>,
    /// Whether it had died before the run began; null if nobody knows.
    pub was_dead: Option<bool>,
}

/// All that a thief finds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Forensics {
    /// What the drive does about dead copies (`ftl.sanitize.policy`).
    pub policy: String,
    /// The thief comes so many minutes after the drive was saved.
    pub after_minutes: u64,
    /// Units of flash in all.
    pub units: u64,
    /// Of them, on pages that are erased.
    pub erased: u64,
    /// On programmed pages, and never filled.
    pub empty: u64,
    /// Units that live.
    pub live: Found,
    /// Dead copies of secured data.
    pub dead_secured: Found,
    /// Dead copies of other data.
    pub dead_insecure: Found,
    /// Those of the dead copies of secured data that had died before the run began: debris of preconditioning. Null if
    /// the run has not written it down.
    pub before_secured: Option<Found>,
    /// The same of other data.
    pub before_insecure: Option<Found>,
    /// The file that this is all about; null if it is about the whole drive.
    pub file: Option<u32>,
    /// On pages that were locked when the drive was saved and answer again.
    pub unlocked: u64,
    /// How many of all dead units that are locked can be expected to answer by then: the sum of their chances, of which
    /// `unlocked` is one draw.
    pub unlocked_expected: f64,
    /// Logical units of which a dead copy of secured data is read, but for those that had died before the run began.
    pub units_secured: u64,
    /// Files of such copies, if the run knew them.
    pub files_secured: Option<u64>,
    /// Such copies that are not what lives: null if the run has not written them down.
    pub old_secured: Option<u64>,
    /// Whether anything says of which class data is; else all of it counts as secured.
    pub knows_classes: bool,
}

/// Who looks at a drive.
struct Thief<'a> {
    drive: &'a Drive,
    minutes: u64,
    secure_by_default: bool,
    knows_classes: bool,
    /// The file that he is after.
    file: Option<u32>,
    /// What is known of each unit of flash.
    kept: BTreeMap<u32, &'a Kept>,
}

impl Thief<'_> {
    fn raw(&self, block: u32, page: u32, minutes: u64) -> Raw {
        self.drive.chips().raw_read(block, page, self.drive.now(), minutes)
    }

    fn is_secured(&self, place: u32, class: u64, is_locked: bool) -> bool {
        let class = match self.kept.get(&place) {
            Some(kept) => kept.class,
            // What is locked is, or was, secured.
            None if is_locked => Hints::SECURE,
            None => class as u8,
        };
        class == Hints::SECURE || (class == 0 && self.secure_by_default)
    }

    /// The version that lives of a logical unit, if that is known.
    fn live_version(&self, lpn: ssd::units::Lpn) -> Option<u32> {
        Some(self.kept.get(&self.drive.contents().mapped_to(lpn)?.0)?.version)
    }
}

/// Looks at every page of a drive's chips so many minutes after now. With what a run has kept of its versions, finds
/// are told as such; then `file` leaves that file's alone. Whoever asks to stop gets what was found until then.
pub fn look(
    drive: &Drive,
    config: &DriveConfig,
    minutes: u64,
    (kept, file): (Option<&[Kept]>, Option<u32>),
    stop: &Stop,
) -> (Forensics, Vec<Find>) {
    let policy = sanitize::Policy::build(&config.sanitize);
    let thief = Thief {
        drive,
        minutes,
        // Without a policy nothing says so; all that have a default have this one.
        secure_by_default: !policy.acts() || policy.rules().is_secure_by_default,
        knows_classes: policy.acts() || kept.is_some(),
        file,
        kept: kept.unwrap_or_default().iter().map(|kept| (kept.place, kept)).collect(),
    };
    let mut told = Forensics {
        policy: config.sanitize.name().to_owned(),
        after_minutes: minutes,
        units: u64::from(drive.contents().units()),
        knows_classes: thief.knows_classes,
        before_secured: kept.map(|_| Found::default()),
        before_insecure: kept.map(|_| Found::default()),
        file,
        ..Forensics::default()
    };
    let places = (0..drive.contents().units()).take_while(|_| !stop.is_asked());
    let finds: Vec<Find> = places.filter_map(|place| look_at(&thief, place, &mut told)).collect();
    let secured = || finds.iter().filter(|find| find.is_secured && find.was_dead != Some(true));
    told.units_secured = secured().map(|find| find.unit).collect::<BTreeSet<_>>().len() as u64;
    if kept.is_some() {
        told.files_secured =
            Some(secured().filter_map(|find| find.file).collect::<BTreeSet<_>>().len() as u64);
        told.old_secured = Some(secured().filter(|find| find.is_old == Some(true)).count() as u64);
    }
    (told, finds)
}

/// Looks at a unit of flash; what is found if it is dead and reads.
fn look_at(thief: &Thief<'_>, place: u32, told: &mut Forensics) -> Option<Find> {
    let (block, page) = thief.drive.contents().place_of(Pun(place));
    let raw = thief.raw(block, page, thief.minutes);
    if page >= thief.drive.chips().programmed_pages(block) {
        told.erased += 1;
        return None;
    }
    let Some(spare) = thief.drive.contents().spare_of(Pun(place)) else {
        told.empty += 1;
        return None;
    };
    let kept = thief.kept.get(&place);
    if thief.file.is_some_and(|file| kept.is_none_or(|kept| kept.file != file)) {
        return None;
    }
    if thief.drive.contents().lives_at(spare.lpn, Pun(place)) {
        told.live.add(raw);
        return None;
    }
    let was_locked = thief.raw(block, page, 0) != Raw::Data;
    let is_secured = thief.is_secured(place, spare.facts.class(), was_locked);
    let was_dead = kept.map(|kept| kept.was_dead);
    let (all, before) = match is_secured {
        true => (&mut told.dead_secured, &mut told.before_secured),
        false => (&mut told.dead_insecure, &mut told.before_insecure),
    };
    all.add(raw);
    if let Some(before) = before.as_mut().filter(|_| was_dead == Some(true)) {
        before.add(raw);
    }
    let chips = thief.drive.chips();
    let chance = chips.chance_of_answer(block, page, thief.drive.now(), thief.minutes);
    told.unlocked_expected += chance.unwrap_or_default();
    if raw != Raw::Data {
        return None;
    }
    told.unlocked += u64::from(was_locked);
    let sequence = Some(spare.facts.sequence()).filter(|sequence| *sequence > 0);
    Some(Find {
        block,
        page,
        place,
        unit: spare.lpn.0,
        version: kept.map(|kept| u64::from(kept.version)).or(sequence),
        file: kept.map(|kept| kept.file).filter(|file| *file > 0),
        is_secured,
        written_ns: kept.map(|kept| kept.written_ns),
        is_old: kept.map(|kept| thief.live_version(spare.lpn) != Some(kept.version)),
        was_dead,
    })
}

impl Forensics {
    /// What it comes to, in a sentence.
    pub fn statement(&self) -> String {
        let (run, before) = (self.secured_of_run(), self.before_secured.unwrap_or_default());
        let (data, all) = (run.data, run.all());
        let secured = if self.knows_classes { "of secured data" } else { "of data" };
        let secured = match (self.file, self.before_secured) {
            (Some(file), _) => format!("{secured} of file {file}"),
            (None, Some(_)) => format!("{secured} that the run invalidated"),
            (None, None) => secured.to_owned(),
        };
        let of = match (self.files_secured, self.old_secured) {
            (Some(files), Some(old)) => {
                format!(
                    ", of {} units and {files} files; {old} of them differ from the valid data",
                    self.units_secured
                )
            }
            _ => format!(", of {} units", self.units_secured),
        };
        let statement = match (data, all) {
            (0, 0) => format!("There is no invalid copy {secured}."),
            (0, _) => format!("A thief can read none of {all} invalid copies {secured}."),
            _ => format!("A thief can read {data} of {all} invalid copies {secured}{of}."),
        };
        match before.all() {
            0 => statement,
            all => format!(
                "{statement} Of {all} invalidated before it, in preconditioning, {} can be read.",
                before.data
            ),
        }
    }

    /// Dead copies of secured data that were not dead before the run began; all of them if nobody knows.
    pub fn secured_of_run(&self) -> Found {
        self.dead_secured.without(&self.before_secured.unwrap_or_default())
    }

    /// The same of other data.
    pub fn insecure_of_run(&self) -> Found {
        self.dead_insecure.without(&self.before_insecure.unwrap_or_default())
    }
}

/// Writes finds as a table of rows (.csv, .csv.zst, .parquet), unless somebody asks to stop: then nothing is left of
/// it. What is not known is 0.
pub fn write_finds(path: &Path, finds: &[Find], stop: &Stop) -> Result<(), ReportError> {
    let mut rows = Rows::create(path, NAME, Column::numbers(&FINDS))?;
    for find in finds {
        if stop.is_asked() {
            return Ok(());
        }
        let class = if find.is_secured { Hints::SECURE } else { Hints::INSECURE };
        let cells = [
            u64::from(find.block),
            u64::from(find.page),
            u64::from(find.place),
            u64::from(find.unit),
            find.version.unwrap_or(0),
            u64::from(find.file.unwrap_or(0)),
            u64::from(class),
            find.written_ns.unwrap_or(0),
            u64::from(find.is_old.unwrap_or(false)),
            u64::from(find.was_dead.unwrap_or(false)),
        ];
        rows.add(&cells.map(Cell::Number))?;
    }
    rows.finish()
}
