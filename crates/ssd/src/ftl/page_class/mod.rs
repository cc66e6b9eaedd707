//! Which page type holds which data?
//!
//! Page types are read in different times: by as many thresholds as their Gray code has for them. Types with equally
//! many are one *class*; class 0 has the fewest thresholds and is read fastest. A policy that sorts names the class
//! that each unit deserves when it enters the queue of its stream, as host data or moved data; when a page is about to
//! be programmed, its class is known, and units of that class go first (RHS section III-A).
//!
//! Host data waits in the drive's one queue of each stream (`write/gather.rs`), moved data in those of its lane
//! (`work/sorted.rs`). While a queue holds what `queue_blocks` says, its next page is programmed. What drains a queue:
//! FLUSH, FUA and writes that find no slot, as ever; and the end of a lane's moves, because the blocks that the data
//! came from can only be erased then. What is written below the buffer (`write/direct.rs`), dealt, or copied to
//! replicas goes in page order.

use crate::config::member::Misfit;
use crate::ftl::foresight::Foresight;
use crate::ftl::tables::Tables;
use crate::ftl::tables::map::Map;
use crate::rng::Rng;
use crate::sections::{Placement, Sections};
use crate::units::{Lpn, Ppn};
use core::ops::Range;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

family! {
    /// Which page type holds which data?
    path "ftl/page_class", default sequential;
    members {
        sequential: Sequential,
        read_heat: ReadHeat,
        oracle: Oracle,
    }
    methods {
        /// Whether data is sorted by class. If not, nothing below is asked.
        fn sorts(&self) -> bool {
            true
        }
        /// Units that the queue of a stream holds, for blocks of so many.
        fn queue_units(&self, units_per_block: u64) -> u64 {
            0
        }
        /// Whether it is told what the host reads ([`Member::on_read`]).
        fn counts_reads(&self) -> bool {
            false
        }
        /// Told of the drive once, when it is built: it makes its tables.
        fn learn(&mut self, size: &Size) {}
        /// Bytes of the tables that it makes for so many logical units.
        fn table_bytes(&self, logical_units: u64) -> u64 {
            0
        }
        /// Why it does not fit its own parameters, if it does not.
        fn misfit(&self) -> Option<Misfit> {
            None
        }
        /// The class that a unit deserves; it is 0 for what is to be read fastest.
        fn class(&self, lpn: Lpn) -> u8 {
            0
        }
        /// The class that a unit deserves which the host has written.
        fn class_of_write(&mut self, lpn: Lpn) -> u8 {
            self.class(lpn)
        }
        /// The class that a unit deserves which moves.
        fn class_of_move(&mut self, lpn: Lpn) -> u8 {
            self.class(lpn)
        }
        /// Whether it must know the future: what the host is going to write, trim and read.
        fn looks_ahead(&self) -> bool {
            false
        }
        /// What the host is going to do, from now on, in place of what it was told before.
        fn foresee(&mut self, foresight: &Arc<Foresight>) {}
        /// What it was told so.
        fn foresight(&self) -> Option<&Arc<Foresight>> {
            None
        }
        /// The host has handed over a command that overwrites units, or trims them. False if it is not the one that was
        /// foreseen. Told to a policy that looks ahead.
        fn on_accept(&mut self, units: Range<u32>, is_trim: bool) -> bool {
            true
        }
        /// The host reads a unit: asked once for each unit of a command, wherever its data is.
        fn on_read(&mut self, lpn: Lpn, map: &Map, rng: &mut Rng) -> Change {
            Change::default()
        }
        /// A unit that the host has written was asked about and enters a queue. Whether that lowers its heat.
        fn on_write(&mut self, lpn: Lpn) -> bool {
            false
        }
        /// A unit that moves was asked about and enters a queue. Whether that lowers its heat.
        fn on_move(&mut self, lpn: Lpn) -> bool {
            false
        }
        /// The data of a unit is forgotten.
        fn on_trim(&mut self, lpn: Lpn) {}
        /// Units by their heat, from 0 on; nothing if it keeps none.
        fn levels(&self) -> Vec<u64> {
            Vec::new()
        }
    }
}

/// Classes at most: page types of cells of four bits.
pub const CLASSES_AT_MOST: usize = 4;

/// What a read has changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// The unit's heat was raised.
    pub raised: bool,
    /// That of another was lowered.
    pub lowered: bool,
}

/// What a policy is told of a drive.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Logical units.
    pub logical_units: u64,
    /// Units of flash that data can fill.
    pub data_units: u64,
    /// The classes of its pages.
    pub classes: Classes,
    /// Types of pages.
    pub types: usize,
}

/// The classes of a drive's pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Classes {
    /// How many there are.
    pub count: u8,
    /// By page type.
    pub of_type: [u8; CLASSES_AT_MOST],
}

impl Classes {
    /// All pages are alike.
    const ONE: Classes = Classes { count: 1, of_type: [0; CLASSES_AT_MOST] };

    /// The classes of a Gray code: the distinct numbers of thresholds, the least first.
    pub fn of(code: &[Vec<u32>]) -> Classes {
        let mut distinct: Vec<usize> = code.iter().map(Vec::len).collect();
        distinct.sort_unstable();
        distinct.dedup();
        let mut classes = Classes { count: distinct.len() as u8, ..Classes::ONE };
        for (class, row) in classes.of_type.iter_mut().zip(code) {
            *class = distinct.iter().position(|&count| count == row.len()).unwrap_or(0) as u8;
        }
        classes
    }
}

/// The class to take from for a page of a class: its own if `has` some, else the nearest that has; of two equally near
/// the faster (assumed: RHS section III-A says "a neighboring queue").
#[inline]
pub(in crate::ftl) fn nearest(class: u8, count: u8, has: impl Fn(u8) -> bool) -> Option<u8> {
    (0..count).find_map(|far| {
        let faster = class.checked_sub(far).filter(|&at| has(at));
        faster.or_else(|| Some(class + far).filter(|&at| at < count && has(at)))
    })
}

/// The policy, and what the drive's pages are.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PageClasses {
    policy: Policy,
    rng: Rng,
    classes: Classes,
    /// Units that the queue of a stream holds; 0 if nothing is sorted.
    queue_units: u32,
    sorts: bool,
    counts_reads: bool,
    looks_ahead: bool,
}

impl PageClasses {
    /// The policy of a checked configuration, for blocks of so many units, and so many of flash in all.
    pub(in crate::ftl) fn new(
        cfg: &Sections,
        config: &Config,
        units_per_block: u32,
        data_units: u64,
    ) -> Self {
        let mut policy = Policy::build(config);
        let (sorts, counts_reads) = (policy.sorts(), policy.counts_reads());
        let looks_ahead = policy.looks_ahead();
        let code = cfg.gray_code();
        let classes = if sorts { Classes::of(&code) } else { Classes::ONE };
        policy.learn(&Size {
            logical_units: cfg.logical_units(),
            data_units,
            classes,
            types: code.len().min(CLASSES_AT_MOST),
        });
        let queue_units = policy.queue_units(u64::from(units_per_block)) as u32;
        let rng = Rng::named(cfg.drive.seed, "ftl/page_class");
        PageClasses { policy, rng, classes, queue_units, sorts, counts_reads, looks_ahead }
    }

    /// Takes what follows from the configuration from a fresh one.
    pub(in crate::ftl) fn restored(&mut self, fresh: PageClasses) -> Result<(), String> {
        self.policy.restored(fresh.policy)?;
        (self.classes, self.queue_units) = (fresh.classes, fresh.queue_units);
        (self.sorts, self.counts_reads) = (fresh.sorts, fresh.counts_reads);
        self.looks_ahead = fresh.looks_ahead;
        Ok(())
    }

    /// Whether data is sorted by class.
    #[inline]
    pub(in crate::ftl) fn sorts(&self) -> bool {
        self.sorts
    }

    /// Whether it is to be told what the host reads.
    #[inline]
    pub(in crate::ftl) fn counts_reads(&self) -> bool {
        self.counts_reads
    }

    /// Classes of pages; 1 if nothing is sorted.
    #[inline]
    pub(in crate::ftl) fn count(&self) -> u8 {
        self.classes.count
    }

    /// Units that the queue of a stream holds; 0 if nothing is sorted.
    pub(in crate::ftl) fn queue_units(&self) -> u32 {
        self.queue_units
    }

    /// The class of a page of a type.
    #[inline]
    pub(in crate::ftl) fn of_type(&self, page_type: u8) -> u8 {
        self.classes.of_type[usize::from(page_type)]
    }

    /// The class of a unit, of which nothing is noted.
    #[inline]
    pub(in crate::ftl) fn peek(&self, lpn: Lpn) -> u8 {
        self.policy.class(lpn)
    }

    /// The class of a unit that the host has written, and whether its heat was lowered then.
    #[inline]
    pub(in crate::ftl) fn of_write(&mut self, lpn: Lpn) -> (u8, bool) {
        (self.policy.class_of_write(lpn), self.policy.on_write(lpn))
    }

    /// The same of a unit that moves.
    #[inline]
    pub(in crate::ftl) fn of_move(&mut self, lpn: Lpn) -> (u8, bool) {
        (self.policy.class_of_move(lpn), self.policy.on_move(lpn))
    }

    /// The host reads a unit.
    #[inline]
    pub(in crate::ftl) fn on_read(&mut self, lpn: Lpn, map: &Map) -> Change {
        self.policy.on_read(lpn, map, &mut self.rng)
    }

    /// Whether the policy must know the future.
    #[inline]
    pub(crate) fn looks_ahead(&self) -> bool {
        self.looks_ahead
    }

    /// What the host is going to do.
    pub(crate) fn foresee(&mut self, foresight: &Arc<Foresight>) {
        self.policy.foresee(foresight);
    }

    /// What it was told so.
    pub(crate) fn foresight(&self) -> Option<&Arc<Foresight>> {
        self.policy.foresight()
    }

    /// The host overwrites or trims units; false if that was not foreseen.
    pub(in crate::ftl) fn on_accept(&mut self, units: Range<u32>, is_trim: bool) -> bool {
        self.policy.on_accept(units, is_trim)
    }

    /// The data of a unit is forgotten.
    #[inline]
    pub(in crate::ftl) fn on_trim(&mut self, lpn: Lpn) {
        if self.sorts {
            self.policy.on_trim(lpn);
        }
    }

    /// Bytes of its tables.
    pub(crate) fn bytes(&self, logical_units: u64) -> usize {
        self.policy.table_bytes(logical_units) as usize
    }

    /// What it knows of data now.
    pub(crate) fn report(&self, logical_units: u64) -> Report {
        Report { levels: self.policy.levels(), table_bytes: self.policy.table_bytes(logical_units) }
    }

    /// The class of a page; 0 if data is not sorted by it.
    #[inline]
    pub(in crate::ftl) fn class_of_page(&self, tables: &Tables, page: Ppn) -> u8 {
        if !self.sorts() {
            return 0;
        }
        let at = tables.layout.locate(page);
        self.of_type(tables.order.page_type(at.page))
    }
}

/// What a policy knows of data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Logical units by their heat, from 0 on; nothing if it keeps none.
    pub levels: Vec<u64>,
    /// Bytes of its tables.
    pub table_bytes: u64,
}

/// Why a policy cannot work on a drive with blocks of so many units.
pub(crate) fn misfit(config: &Config, cfg: &Sections, units_per_block: u64) -> Option<Misfit> {
    let policy = Policy::build(config);
    if !policy.sorts() {
        return None;
    }
    let name = config.name();
    let classes = Classes::of(&cfg.gray_code());
    let least = u64::from(classes.count) * u64::from(cfg.units_per_page());
    let queue = policy.queue_units(units_per_block);
    const OR: &str = "or ftl.page_class.policy = \"sequential\"";
    if queue < least || queue > u64::from(u32::MAX / 4) {
        return Some(Misfit {
            keys: &["ftl.page_class.queue_blocks", "nand.geometry.wordlines_per_block"],
            found: format!("a queue of {queue} mapping units, for {} classes of pages", classes.count),
            allowed: format!("at least {least}: a page of each class; and at most {}", u32::MAX / 4),
        });
    }
    if cfg.allocation.placement == Placement::Static {
        return Some(Misfit {
            keys: &["ftl.page_class.policy", "ftl.allocation.placement"],
            found: format!(
                "pages chosen by \"{name}\" for what they hold, where each logical page has a plane"
            ),
            allowed: format!("ftl.allocation.placement = \"dynamic\", {OR}"),
        });
    }
    policy.misfit()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nand::gray;

    #[test]
    fn classes_are_the_distinct_counts_of_thresholds() {
        let of = |name: &str| {
            let classes = Classes::of(&gray::named(name).unwrap().code());
            (classes.count, classes.of_type)
        };
        assert_eq!(of("qlc_orbc"), (4, [0, 1, 2, 3]));
        assert_eq!(of("qlc_pbbc"), (3, [0, 1, 2, 2]));
        assert_eq!(of("qlc_mbbc"), (2, [0, 1, 1, 1]));
        // Of the middle type, and the two others.
        assert_eq!(of("tlc_2_3_2"), (2, [0, 1, 0, 0]));
        assert_eq!(of("slc").0, 1);
    }

    /// By hand: own, else the nearest, of two the faster.
    #[test]
    fn the_nearest_class_is_taken_and_of_two_the_faster() {
        let from = |class, there: &[u8]| nearest(class, 4, |at| there.contains(&at));
        assert_eq!(from(1, &[0, 1, 2, 3]), Some(1));
        assert_eq!(from(1, &[0, 2]), Some(0));
        assert_eq!(from(1, &[2, 3]), Some(2));
        assert_eq!(from(2, &[0, 3]), Some(3));
        assert_eq!(from(0, &[3]), Some(3));
        assert_eq!(from(3, &[0]), Some(0));
        assert_eq!(from(2, &[]), None);
    }
}
