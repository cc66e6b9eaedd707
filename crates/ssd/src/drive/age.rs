//! Time travel: steps that age a drive at once, with one grammar for configurations and commands.
//!
//! ```
//! use ssd::AgeStep;
//! let step: AgeStep = "retain 12 months at 55 C".parse().unwrap();
//! assert_eq!(step.to_string(), "retain 12 months at 55 C");
//! assert!("retain 12 monhts".parse::<AgeStep>().unwrap_err().to_string().contains("did you mean \"months\"?"));
//! ```
//!
//! - `cycle to N`: every block has seen N erases; what it has not yet seen wears it with the reference dwell (1 minute
//!   at 30 degrees C), or with the one that is said. Data in it counts as programmed again after the last of them.
//!   Time does not pass.
//! - `retain T`: the data of all blocks ages by T, at the temperature of the drive or at the one that is said; erased
//!   blocks recover as long. With `of A-B` only data of that part of the logical space does: pages that hold nothing of
//!   it are as old as before.
//! - `disturb R reads`: every block that holds data is read R times, evenly over its wordlines or all of one of them.
//!   Page types take turns.

mod part;

use crate::config::Problem;
use crate::flash::Flash;
use crate::ftl::Ftl;
use crate::ftl::techniques::Shown;
use crate::nand::Chip;
use crate::nand::aging::build::dwell_of;
use crate::nand::aging::tables::{Dwell, MOST_CYCLES, TICKS_PER_MINUTE};
use crate::nand::cell::ABSOLUTE_ZERO_C;
use crate::units::BlockId;
use core::fmt;
use core::str::FromStr;
pub use part::{Edge, Part};
use serde::{Deserialize, Serialize};

/// Forms of a step, as error messages show them.
pub const GRAMMAR: &[&str] = &[
    "cycle to 3000",
    "cycle to 3000 with 5 minutes dwell",
    "cycle to 3000 with 5 minutes dwell at 40 C",
    "retain 12 months",
    "retain 12 months at 55 C",
    "retain 12 months of 0%-50%",
    "retain 12 months at 55 C of 0-4GiB",
    "disturb 50000 reads",
    "disturb 50000 reads of wordline 7",
];

/// Highest temperature of a step, in degrees C.
const HOTTEST_C: f64 = 300.0;

/// Units of time with their minutes: a month is 730 hours, a year 12 months.
const UNITS: [(&str, &str, f64); 6] = [
    ("minute", "minutes", 1.0),
    ("hour", "hours", 60.0),
    ("day", "days", 1_440.0),
    ("week", "weeks", 10_080.0),
    ("month", "months", 43_800.0),
    ("year", "years", 525_600.0),
];

/// A length of time in the unit it was given in.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// How many.
    pub amount: f64,
    /// Of which unit.
    pub unit: TimeUnit,
}

/// Units of [`Span`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TimeUnit {
    /// 60 seconds.
    Minutes,
    /// 60 minutes.
    Hours,
    /// 24 hours.
    Days,
    /// 7 days.
    Weeks,
    /// 730 hours.
    Months,
    /// 12 months: 8,760 hours.
    Years,
}

impl TimeUnit {
    const ALL: [TimeUnit; 6] =
        [Self::Minutes, Self::Hours, Self::Days, Self::Weeks, Self::Months, Self::Years];

    /// Minutes of one.
    pub fn minutes(self) -> f64 {
        UNITS[self as usize].2
    }
}

impl Span {
    /// Its minutes.
    pub fn minutes(&self) -> f64 {
        self.amount * self.unit.minutes()
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (one, many, _) = UNITS[self.unit as usize];
        write!(f, "{} {}", self.amount, if self.amount == 1.0 { one } else { many })
    }
}

/// A step of ageing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum AgeStep {
    /// Program/erase cycles.
    Cycle {
        /// Erases that every block has seen afterwards.
        to: u32,
        /// Time between the erases; `None` is the reference: 1 minute at 30 degrees C.
        dwell: Option<Span>,
        /// Its temperature in degrees C; `None` is that of the drive.
        celsius: Option<f64>,
    },
    /// Time without power.
    Retain {
        /// How long.
        time: Span,
        /// Its temperature in degrees C; `None` is that of the drive.
        celsius: Option<f64>,
        /// The part of the logical space whose data ages; `None` is all.
        of: Option<Part>,
    },
    /// Reads.
    Disturb {
        /// Reads of every block.
        reads: u64,
        /// The wordline that takes them all; `None` spreads them evenly.
        wordline: Option<u32>,
    },
}

impl fmt::Display for AgeStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = |f: &mut fmt::Formatter<'_>, celsius: &Option<f64>| match celsius {
            Some(celsius) => write!(f, " at {celsius} C"),
            None => Ok(()),
        };
        match self {
            AgeStep::Cycle { to, dwell: None, .. } => write!(f, "cycle to {to}"),
            AgeStep::Cycle { to, dwell: Some(dwell), celsius } => {
                write!(f, "cycle to {to} with {dwell} dwell")?;
                at(f, celsius)
            }
            AgeStep::Retain { time, celsius, of } => {
                write!(f, "retain {time}")?;
                at(f, celsius)?;
                of.iter().try_for_each(|part| write!(f, " of {part}"))
            }
            AgeStep::Disturb { reads, wordline: None } => write!(f, "disturb {reads} reads"),
            AgeStep::Disturb { reads, wordline: Some(at) } => {
                write!(f, "disturb {reads} reads of wordline {at}")
            }
        }
    }
}

/// Why a step cannot be read or taken.
#[derive(Clone, Debug, PartialEq)]
pub enum AgeError {
    /// Not a step of the grammar.
    Grammar {
        /// The whole text.
        text: String,
        /// The word that does not fit, or `the end`.
        found: String,
        /// What may stand there.
        allowed: String,
        /// What was probably meant.
        near: Option<String>,
    },
    /// A value that cannot be.
    OutOfRange {
        /// The value, with what it is.
        found: String,
        /// The range.
        allowed: String,
    },
    /// The drive's cells do not age.
    NeedsCells {
        /// What does.
        step: AgeStep,
    },
    /// Blocks do not grow younger.
    CyclesGoDown {
        /// A block, as the firmware counts them.
        block: u32,
        /// Erases it has seen.
        seen: u32,
        /// Erases asked for.
        to: u32,
    },
    /// The tables of the cells end before.
    BeyondTables {
        /// What was asked for.
        found: String,
        /// How far they go.
        allowed: String,
    },
    /// The block does not have that wordline.
    NoSuchWordline {
        /// The one asked for.
        found: u32,
        /// How many there are.
        wordlines: u32,
    },
    /// The drive counts reads by block.
    OnlyByBlock {
        /// The wordline asked for.
        wordline: u32,
    },
}

impl fmt::Display for AgeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Grammar { text, found, allowed, near } => {
                write!(f, "age step {text:?}: found {found}, allowed: {allowed}")?;
                match near {
                    Some(near) => write!(f, "; did you mean {near:?}?"),
                    None => Ok(()),
                }
            }
            Self::OutOfRange { found, allowed } | Self::BeyondTables { found, allowed } => {
                write!(f, "age step: found {found}, allowed: {allowed}")
            }
            Self::NeedsCells { step } => write!(
                f,
                "age step \"{step}\": the drive's cells do not age; it needs nand.errors.model = \"cells\" \
                 (without it only \"cycle to N\" works)"
            ),
            Self::CyclesGoDown { block, seen, to } => write!(
                f,
                "age step: found cycle to {to}, but block {block} has seen {seen} erases; allowed: at least as many \
                 as every block has seen"
            ),
            Self::NoSuchWordline { found, wordlines } => {
                write!(f, "age step: found wordline {found}, allowed: 0 to {}", wordlines - 1)
            }
            Self::OnlyByBlock { wordline } => write!(
                f,
                "age step: found reads of wordline {wordline}, but nand.errors.disturb_counters = \"block\" takes \
                 reads as spread evenly; allowed: \"disturb N reads\", or disturb_counters = \"wordline\""
            ),
        }
    }
}

impl std::error::Error for AgeError {}

/// The words of a step, one after another.
struct Words<'a> {
    text: &'a str,
    left: core::str::SplitWhitespace<'a>,
}

impl<'a> Words<'a> {
    fn wrong(&self, found: Option<&str>, allowed: &str, names: &[&str]) -> AgeError {
        let near =
            found.and_then(|found| match Problem::no_such_name("word", found, names.iter().copied()) {
                Problem::NoSuchName { near, .. } => near,
                _ => None,
            });
        let found = found.map_or("the end".to_owned(), |found| format!("{found:?}"));
        AgeError::Grammar { text: self.text.to_owned(), found, allowed: allowed.to_owned(), near }
    }

    /// One of these words; its place among them.
    fn one_of(&mut self, names: &[&str]) -> Result<usize, AgeError> {
        let found = self.left.next();
        let place = found.and_then(|word| names.iter().position(|name| name.eq_ignore_ascii_case(word)));
        let allowed = || names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(" or ");
        place.ok_or_else(|| self.wrong(found, &allowed(), names))
    }

    /// The same, if there is another word at all.
    fn maybe(&mut self, name: &str) -> Result<bool, AgeError> {
        if self.left.clone().next().is_none() {
            return Ok(false);
        }
        let found = self.left.next();
        match found.is_some_and(|word| word.eq_ignore_ascii_case(name)) {
            true => Ok(true),
            false => Err(self.wrong(found, &format!("{name:?} or the end"), &[name])),
        }
    }

    /// Whether that is the next word.
    fn is_next(&self, name: &str) -> bool {
        self.left.clone().next().is_some_and(|word| word.eq_ignore_ascii_case(name))
    }

    /// All words that are left, together.
    fn rest(&mut self) -> String {
        self.left.by_ref().collect()
    }

    fn number<T: FromStr>(&mut self, what: &str) -> Result<T, AgeError> {
        let found = self.left.next();
        let plain = found.map(|word| word.replace('_', ""));
        let digits =
            plain.filter(|plain| plain.bytes().all(|b| b.is_ascii_digit() || b == b'.' || b == b'-'));
        digits.and_then(|digits| digits.parse().ok()).ok_or_else(|| self.wrong(found, what, &[]))
    }

    fn span(&mut self) -> Result<Span, AgeError> {
        let amount = self.number("a number such as 12 or 0.5")?;
        let found = self.left.next();
        let is = |word: &str, (one, many, _): &(&str, &str, f64)| {
            word.eq_ignore_ascii_case(one) || word.eq_ignore_ascii_case(many)
        };
        let place = found.and_then(|word| UNITS.iter().position(|unit| is(word, unit)));
        let names = UNITS.map(|(_, many, _)| many);
        let allowed = || names.join(", ");
        let place = place.ok_or_else(|| self.wrong(found, &allowed(), &names))?;
        Ok(Span { amount, unit: TimeUnit::ALL[place] })
    }

    /// `at 55 C`, or nothing.
    fn celsius(&mut self) -> Result<Option<f64>, AgeError> {
        if !self.maybe("at")? {
            return Ok(None);
        }
        let celsius = self.number("a temperature such as 55")?;
        self.one_of(&["C"])?;
        Ok(Some(celsius))
    }

    fn end(&mut self) -> Result<(), AgeError> {
        match self.left.next() {
            None => Ok(()),
            found => Err(self.wrong(found, "the end", &[])),
        }
    }
}

impl FromStr for AgeStep {
    type Err = AgeError;

    fn from_str(text: &str) -> Result<Self, AgeError> {
        let mut words = Words { text, left: text.split_whitespace() };
        let first = words.left.next();
        let names = ["cycle", "retain", "disturb"];
        let step = match first.map(str::to_ascii_lowercase).as_deref() {
            Some("cycle") => {
                words.one_of(&["to"])?;
                let to = words.number("a number of cycles such as 3000")?;
                let dwell = if words.maybe("with")? { Some(words.span()?) } else { None };
                let celsius = match dwell {
                    Some(_) => {
                        words.one_of(&["dwell"])?;
                        words.celsius()?
                    }
                    None => None,
                };
                AgeStep::Cycle { to, dwell, celsius }
            }
            Some("retain") => {
                let time = words.span()?;
                let celsius = if words.is_next("of") { None } else { words.celsius()? };
                let of = if words.maybe("of")? { Some(words.rest().parse()?) } else { None };
                AgeStep::Retain { time, celsius, of }
            }
            Some("disturb") => {
                let reads = words.number("a number of reads such as 50000")?;
                words.one_of(&["reads", "read"])?;
                let wordline = match words.maybe("of")? {
                    true => {
                        words.one_of(&["wordline"])?;
                        Some(words.number("the number of a wordline, from 0")?)
                    }
                    false => None,
                };
                AgeStep::Disturb { reads, wordline }
            }
            _ => {
                let forms = GRAMMAR.iter().map(|form| format!("{form:?}")).collect::<Vec<_>>().join(", ");
                return Err(words.wrong(first, &forms, &names));
            }
        };
        words.end()?;
        step.check()?;
        Ok(step)
    }
}

impl AgeStep {
    /// Are its values possible on any drive?
    pub fn check(&self) -> Result<(), AgeError> {
        let (span, celsius) = match self {
            AgeStep::Cycle { dwell, celsius, .. } => (*dwell, *celsius),
            AgeStep::Retain { time, celsius, .. } => (Some(*time), *celsius),
            AgeStep::Disturb { .. } => (None, None),
        };
        let wrong = |found: String, allowed: String| Err(AgeError::OutOfRange { found, allowed });
        if let Some(span) = span
            && !(span.amount.is_finite() && span.amount >= 0.0)
        {
            return wrong(format!("a time of {span}"), "0 or more".to_owned());
        }
        if let Some(celsius) = celsius
            && !(celsius > ABSOLUTE_ZERO_C && celsius <= HOTTEST_C)
        {
            let allowed = format!("above absolute zero ({ABSOLUTE_ZERO_C} C), at most {HOTTEST_C} C");
            return wrong(format!("a temperature of {celsius} C"), allowed);
        }
        Ok(())
    }
}

/// Ticks of the cells' clock in so many minutes, at a temperature or at that of the drive.
fn ticks(chip: &Chip, step: &AgeStep, time: &Span, celsius: Option<f64>) -> Result<f64, AgeError> {
    let Some(aging) = chip.aging() else { return Err(AgeError::NeedsCells { step: *step }) };
    let model = aging.cells();
    let rate = match celsius {
        Some(celsius) => {
            model.arrhenius(model.part().retention.reference_c, celsius) * f64::from(TICKS_PER_MINUTE)
        }
        None => libm::scalbn(aging.ticks_q64() as f64, -64) * 60e9,
    };
    Ok(time.minutes() * rate)
}

impl AgeStep {
    /// Whether a step is possible on a drive built as this one is, whatever its age: what can be refused before a drive
    /// is filled.
    pub(crate) fn check_on(&self, ftl: &Ftl, chip: &Chip) -> Result<(), AgeError> {
        self.check()?;
        self.check_table(ftl, chip)?;
        if matches!(self, AgeStep::Cycle { dwell: None, .. }) {
            return Ok(());
        }
        let Some(aging) = chip.aging() else {
            return Err(AgeError::NeedsCells { step: *self });
        };
        if let Some(part) = self.part() {
            part.units(ftl)?;
        }
        if let AgeStep::Disturb { wordline: Some(found), .. } = *self {
            let wordlines = aging.wordlines();
            if found >= wordlines {
                return Err(AgeError::NoSuchWordline { found, wordlines });
            }
            if !aging.counts_wordlines() {
                return Err(AgeError::OnlyByBlock { wordline: found });
            }
        }
        Ok(())
    }

    /// Policies against read disturb know what blocks stand up to some age.
    fn check_table(&self, ftl: &Ftl, chip: &Chip) -> Result<(), AgeError> {
        let most = ftl.moves.media.reclaim.most_cycles_told_apart();
        match *self {
            AgeStep::Cycle { to, .. } if chip.ages() && to > most => {
                let allowed = format!(
                    "at most {most} cycles, where the table of ftl.read_reclaim ends \
                     (ftl.read_reclaim.policy = \"never\" has no table)"
                );
                Err(AgeError::BeyondTables { found: format!("cycle to {to}"), allowed })
            }
            _ => Ok(()),
        }
    }

    /// Takes the step, at once and for all blocks. Nothing changes if it fails.
    pub(crate) fn take(&self, ftl: &mut Ftl, flash: &mut Flash) -> Result<(), AgeError> {
        self.check_on(ftl, &flash.chip)?;
        match *self {
            AgeStep::Cycle { to, dwell, celsius } => self.cycle((to, dwell, celsius), ftl, flash),
            AgeStep::Retain { time, celsius, of } => {
                let minutes = |flash: &Flash| flash.chip.aging().map_or(0, |aging| aging.minutes());
                let before = minutes(flash);
                self.retain(&time, celsius, &mut flash.chip)?;
                if let Some(part) = of {
                    let passed = minutes(flash) - before;
                    part.keep_others(ftl, flash, passed)?;
                }
                ftl.on_tick(&flash.chip);
                Ok(())
            }
            AgeStep::Disturb { reads, wordline } => self.disturb(reads, wordline, ftl, flash),
        }
    }

    fn cycle(
        &self,
        (to, dwell, celsius): (u32, Option<Span>, Option<f64>),
        ftl: &mut Ftl,
        flash: &mut Flash,
    ) -> Result<(), AgeError> {
        let media = &mut ftl.moves.media;
        let seen = (0..).zip(media.tables.blocks.erase_counts()).find(|(_, seen)| *seen > to);
        if let Some((block, seen)) = seen {
            return Err(AgeError::CyclesGoDown { block, seen, to });
        }
        let chip = &mut flash.chip;
        let (dwell, rest) = match dwell {
            None => (Dwell::REFERENCE, None),
            Some(dwell) => {
                let ticks = ticks(chip, self, &dwell, celsius)?;
                let Some(aging) = chip.aging() else { return Err(AgeError::NeedsCells { step: *self }) };
                let left = dwell_of(aging.cells(), ticks / f64::from(TICKS_PER_MINUTE));
                (left, Some(libm::round(ticks) as u32))
            }
        };
        if let Some(worn) = chip.most_worn_at(to, dwell)
            && to.max(worn) > MOST_CYCLES
        {
            return Err(AgeError::BeyondTables {
                found: format!(
                    "cycle to {to}, which wears the worst block as much as {worn} cycles wear the average one"
                ),
                allowed: format!("wear of {MOST_CYCLES} cycles: the tables of the cells end there"),
            });
        }
        let before: Vec<u32> = (0..chip.blocks()).map(|block| chip.erase_count(block)).collect();
        chip.cycle_to(to, dwell);
        for counted in (0..).zip(before).filter(|(_, before)| *before < to) {
            let (physical, before) = counted;
            media.techniques.shown(physical, Shown::Cycled { before, ticks: rest }, chip);
        }
        media.reclaim.forget_reads_of_younger(&media.tables, to);
        for block in (0..media.tables.layout.blocks()).map(BlockId) {
            ftl.set_erase_count(flash, block, to);
        }
        Ok(())
    }

    fn retain(&self, time: &Span, celsius: Option<f64>, chip: &mut Chip) -> Result<(), AgeError> {
        let ticks = libm::round(ticks(chip, self, time, celsius)?);
        let Some(aging) = chip.aging_mut() else { return Err(AgeError::NeedsCells { step: *self }) };
        let years = |ticks: f64| ticks / f64::from(TICKS_PER_MINUTE) / TimeUnit::Years.minutes();
        let left = aging.ticks_left();
        if ticks > left as f64 {
            let reference = aging.cells().part().retention.reference_c;
            return Err(AgeError::BeyondTables {
                found: format!("{:.1} years at {reference} C", years(ticks)),
                allowed: format!(
                    "{:.1} years at {reference} C from now on: the cells' tables end there",
                    years(left as f64)
                ),
            });
        }
        aging.retain(ticks as u64);
        Ok(())
    }

    fn disturb(
        &self,
        reads: u64,
        wordline: Option<u32>,
        ftl: &mut Ftl,
        flash: &mut Flash,
    ) -> Result<(), AgeError> {
        let media = &mut ftl.moves.media;
        let chip = &mut flash.chip;
        if !chip.can_disturb(reads, wordline) {
            return Err(AgeError::BeyondTables {
                found: self.to_string(),
                allowed: "fewer reads: the counters of wordlines end at 2^32 parts of a read".to_owned(),
            });
        }
        chip.disturb(reads, wordline);
        media.reclaim.note_disturb(&media.tables, &mut media.work, flash, reads, wordline);
        Ok(())
    }
}
