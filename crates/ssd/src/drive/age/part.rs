//! The part of a drive's logical space whose data a step ages: old data beside new.

use super::{AgeError, AgeStep};
use crate::flash::Flash;
use crate::ftl::Ftl;
use crate::units::Lpn;
use core::fmt;
use core::ops::Range;
use core::str::FromStr;
use serde::{Deserialize, Serialize};

/// Units of a size, with their bytes.
const SIZES: [(&str, u64); 4] = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40)];

/// What a part looks like, for messages.
const ALLOWED: &str =
    "a part of the logical space from its beginning up to its end, such as 0%-50% or 4GiB-8GiB";

/// Where a part begins or ends, from the beginning of the logical space.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Edge {
    /// A share of the logical space; %.
    Percent(f64),
    /// Bytes: a number and the place of its unit in KiB, MiB, GiB, TiB.
    Size(f64, u8),
}

/// A part of the logical space: mapping units that begin at or above its beginning, and below its end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// Its beginning.
    pub from: Edge,
    /// Its end.
    pub to: Edge,
}

impl Edge {
    /// The first mapping unit at or above it.
    fn unit(self, logical_units: u32, unit_bytes: u32) -> f64 {
        match self {
            Edge::Percent(percent) => libm::round(f64::from(logical_units) * (percent / 100.0)),
            Edge::Size(..) => libm::ceil(self.amount() / f64::from(unit_bytes)),
        }
    }

    /// What edges of one kind are compared by.
    fn amount(self) -> f64 {
        match self {
            Edge::Percent(percent) => percent,
            Edge::Size(number, unit) => number * SIZES[usize::from(unit)].1 as f64,
        }
    }
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Edge::Percent(percent) => write!(f, "{percent}%"),
            Edge::Size(number, unit) => write!(f, "{number}{}", SIZES[usize::from(*unit)].0),
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.from {
            Edge::Size(0.0, _) => write!(f, "0-{}", self.to),
            from => write!(f, "{from}-{}", self.to),
        }
    }
}

/// A number that is finite and not negative, in plain digits.
fn number(text: &str) -> Option<f64> {
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    text.parse().ok().filter(|number: &f64| is_plain && number.is_finite())
}

impl FromStr for Edge {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(percent) = text.strip_suffix('%') {
            return match number(percent.trim_end()) {
                Some(percent) if percent <= 100.0 => Ok(Edge::Percent(percent)),
                Some(_) => Err(format!("{text:?}, beyond the drive's end at 100%")),
                None => Err(format!("{text:?}")),
            };
        }
        let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').len();
        let (amount, unit) = text.split_at(digits);
        let place = SIZES.iter().position(|(name, _)| name.eq_ignore_ascii_case(unit.trim_start()));
        match (number(amount), place) {
            (Some(number), Some(place)) => Ok(Edge::Size(number, place as u8)),
            (Some(_), None) if unit.is_empty() => Err(format!("{text:?}, without % or a unit of size")),
            _ => Err(format!("{text:?}")),
        }
    }
}

impl FromStr for Part {
    type Err = AgeError;

    fn from_str(text: &str) -> Result<Self, AgeError> {
        let wrong = |found: String| AgeError::OutOfRange { found, allowed: ALLOWED.to_owned() };
        let edge = |edge: &str| edge.trim().parse::<Edge>();
        let (from, to) = text.split_once('-').ok_or_else(|| wrong(format!("of {text:?}")))?;
        let to = edge(to).map_err(|found| wrong(format!("of {found}")))?;
        // 0 is 0, whatever its unit.
        let from = match (number(from.trim()), to) {
            (Some(0.0), Edge::Percent(_)) => Edge::Percent(0.0),
            (Some(0.0), Edge::Size(_, unit)) => Edge::Size(0.0, unit),
            _ => edge(from).map_err(|found| wrong(format!("of {found}")))?,
        };
        let part = Part { from, to };
        if core::mem::discriminant(&from) != core::mem::discriminant(&to) {
            return Err(wrong(format!("of {part}: a share and a size")));
        }
        match from.amount().total_cmp(&to.amount()) {
            core::cmp::Ordering::Less => Ok(part),
            core::cmp::Ordering::Equal => Err(wrong(format!("of {part}: nothing"))),
            core::cmp::Ordering::Greater => Err(wrong(format!("of {part}: it ends before it begins"))),
        }
    }
}

impl Part {
    /// Its mapping units on a drive; an error if there are none, or it goes beyond the drive.
    pub(super) fn units(&self, ftl: &Ftl) -> Result<Range<u32>, AgeError> {
        let tables = &ftl.moves.media.tables;
        let (units, bytes) = (tables.map.logical(), tables.layout.unit_bytes);
        let [from, to] = [self.from, self.to].map(|edge| edge.unit(units, bytes));
        let wrong = |what: &str| {
            let all = f64::from(units) * f64::from(bytes) / f64::from(1 << 20);
            let allowed = format!("a part of the drive's {all} MiB, in whole mapping units of {bytes} bytes");
            Err(AgeError::OutOfRange { found: format!("of {self}: {what}"), allowed })
        };
        if to > f64::from(units) {
            return wrong("it goes beyond the drive");
        }
        if from >= to {
            return wrong("no unit of the drive begins there");
        }
        Ok(from as u32..to as u32)
    }

    /// Of the minutes that have just passed for all data, gives those back to what has no unit of this part: pages that
    /// hold none.
    pub(super) fn keep_others(&self, ftl: &Ftl, flash: &mut Flash, minutes: u32) -> Result<(), AgeError> {
        let tables = &ftl.moves.media.tables;
        let pages = flash.chip.pages_per_block() as usize;
        let mut of_part = vec![false; flash.chip.blocks() as usize * pages];
        for lpn in self.units(ftl)?.map(Lpn) {
            let places = [tables.map.lookup(lpn), tables.replicas.get(lpn)];
            for unit in places.into_iter().filter(|unit| unit.is_some()) {
                for at in tables.layout.parts(tables.layout.page_of_unit(unit).0) {
                    of_part[at.block as usize * pages + at.page as usize] = true;
                }
            }
        }
        for (block, of_part) in (0..).zip(of_part.chunks(pages)) {
            let programmed = flash.chip.programmed_pages(block);
            if let Some(aging) = flash.chip.aging_mut() {
                aging.make_younger(block, programmed, minutes, |page| !of_part[page as usize]);
            }
        }
        Ok(())
    }
}

impl AgeStep {
    /// The part that a step is limited to.
    pub fn part(&self) -> Option<Part> {
        match self {
            AgeStep::Retain { of, .. } => *of,
            _ => None,
        }
    }

    /// The same step of a part of the logical space alone; an error if it ages what belongs to no address.
    pub fn limited_to(self, part: Part) -> Result<Self, AgeError> {
        let refused = |what: &str| {
            let allowed = "a step that ages data, such as \"retain 12 months\"".to_owned();
            Err(AgeError::OutOfRange { found: format!("\"{self}\" of {part}: {what}"), allowed })
        };
        match self {
            AgeStep::Retain { of: Some(of), .. } => refused(&format!("it is of {of} already")),
            AgeStep::Retain { time, celsius, of: None } => {
                Ok(AgeStep::Retain { time, celsius, of: Some(part) })
            }
            AgeStep::Cycle { .. } => refused("cycles wear blocks, which hold any address in turn"),
            AgeStep::Disturb { .. } => refused("reads disturb whole blocks, whatever lies in them"),
        }
    }
}
