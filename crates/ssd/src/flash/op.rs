//! Flash operations: what the firmware asks of the chips, kept in a pool of fixed size.

use crate::nand::{Outcome, PageAddress};
use crate::signals::{Facts, PRIORITIES, Priority};
use crate::units::{NONE, OpId, Ppn, SimTime};
use serde::{Deserialize, Serialize};

/// Declares an enumeration whose values have names in results.
macro_rules! named {
    ($(#[$doc:meta])* $name:ident, $count:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[repr(u8)]
        pub enum $name { $($(#[$vdoc])* $variant,)* }
        #[doc = concat!("Number of [`", stringify!($name), "`]s.")]
        pub const $count: usize = [$($name::$variant),*].len();
        impl $name {
            /// All of them, in order.
            pub const ALL: [$name; $count] = [$($name::$variant),*];
            /// Name in results.
            pub fn name(self) -> &'static str { match self { $($name::$variant => $text),* } }
        }
    };
}

named! {
    /// What a flash operation does.
    OpKind, KINDS {
        /// Array to channel.
        Read = "reads",
        /// Channel to array.
        Program = "programs",
        /// A whole block.
        Erase = "erases",
        /// Array to array in one plane, without the channel carrying data.
        Copyback = "copybacks",
        /// The flags of a page: it answers zeros from now on.
        PageLock = "page_locks",
        /// The select line of a block: all of its pages answer zeros from now on.
        BlockLock = "block_locks",
        /// All cells of a wordline, until nothing can be told from them.
        Scrub = "scrubs",
        /// The cells of a wordline, until one of its pages cannot be told.
        Reprogram = "reprograms",
    }
}

/// Declares the causes of operations: those of the drive itself, and one for each technique. Each has a number, which
/// stays its own: it enters event hashes, and results list causes by it.
macro_rules! causes {
    (
        { $($(#[$doc:meta])* $variant:ident($number:literal) $text:literal,)* }
        @techniques { $(
            $(#[$told:meta])* $folder:ident : $name:ident = $section:literal is [$($facet:ident)*]
            $(, cause $cause:ident($own:literal) $called:literal)? $(, external $outside:ident)?;
        )* }
        @members { $(
            $(#[$also:meta])* $technique:ident : $type:ident = $key:literal is [$($part:ident)*],
                member of $family:ident $member:ident : $as:ident in $file:literal
                $(, cause $its:ident($at:literal) $says:literal)?;
        )* }
    ) => {
        /// Why a flash operation happens.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[repr(u8)]
        pub enum Cause {
            $($(#[$doc])* $variant = $number,)*
            $($(#[doc = concat!("A technique (`", $section, "`).")] $cause = $own,)?)*
            $($(#[doc = concat!("A technique (`", $key, "`).")] $its = $at,)?)*
        }

        /// Those declared, in no order.
        const DECLARED: &[Cause] = &[$(Cause::$variant,)* $($(Cause::$cause,)?)* $($(Cause::$its,)?)*];

        impl Cause {
            /// Name in results.
            pub fn name(self) -> &'static str {
                match self {
                    $(Cause::$variant => $text,)*
                    $($(Cause::$cause => $called,)?)*
                    $($(Cause::$its => $says,)?)*
                }
            }
        }
    };
}

techniques! { causes! {
    {
        /// A host command.
        Host(0) "host",
        /// A host write of part of a mapping unit: the rest is read first.
        Merge(1) "merge",
        /// Cleaning (garbage collection).
        Cleaning(2) "cleaning",
        /// A block is being retired.
        BadBlock(4) "bad_block",
        /// Data is moved before reads disturb it too much (read reclaim).
        ReadReclaim(5) "read_reclaim",
        /// Read-hot data is written once more, to a block that is read faster.
        Promote(7) "promote",
        /// Data leaves the cache of blocks of one bit a cell (`ftl.slc_cache`).
        Destage(8) "destage",
        /// Data that nobody must read any more is kept from being read.
        Sanitize(10) "sanitize",
        /// Parity across dies is written beside data (`ftl.parity_percent`).
        Parity(12) "parity",
        /// What a sequential stream will ask for next is read before (`host.read_ahead`).
        ReadAhead(13) "read_ahead",
    }
} }

/// Places in a table with one for each cause, at its number.
pub const CAUSES: usize = {
    let (mut most, mut at) = (0, 0);
    while at < DECLARED.len() {
        if DECLARED[at] as usize > most {
            most = DECLARED[at] as usize;
        }
        at += 1;
    }
    most + 1
};

impl Cause {
    /// All of them, by their numbers.
    pub const ALL: [Cause; DECLARED.len()] = {
        let mut all = [Cause::Host; DECLARED.len()];
        let (mut number, mut found) = (0, 0);
        while number < CAUSES {
            if let Some(cause) = Cause::numbered(number) {
                all[found] = cause;
                found += 1;
            }
            number += 1;
        }
        all
    };

    /// The cause of that number, if there is one.
    pub const fn numbered(number: usize) -> Option<Cause> {
        let mut at = 0;
        while at < DECLARED.len() {
            if DECLARED[at] as usize == number {
                return Some(DECLARED[at]);
            }
            at += 1;
        }
        None
    }

    /// Whether an operation of this cause serves the host or its DRAM, and is no move: programs take data from slots.
    #[inline]
    pub const fn is_for_host(self) -> bool {
        const ALL: u32 = Cause::AWAITED | 1 << Cause::ReadAhead as u32;
        ALL >> self as u32 & 1 == 1
    }

    /// Causes of what the host or its DRAM waits for.
    const AWAITED: u32 = 1 << Cause::Host as u32 | 1 << Cause::Merge as u32 | 1 << Cause::Promote as u32;

    /// Whether the host or its DRAM waits for an operation of this cause.
    #[inline]
    pub const fn is_awaited(self) -> bool {
        Self::AWAITED >> self as u32 & 1 == 1
    }
}

/// Mapping units a page can carry at most: pages of 64 KiB in units of 4 KiB.
pub const UNITS_AT_MOST: usize = 16;

/// Beside the facts of a unit that is programmed for the host: it was given up.
const GIVEN_UP: u64 = 1 << 63;

/// A mapping unit that takes part in an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitRef {
    /// Logical unit; [`NONE`] if there is none (padding).
    pub lpn: u32,
    /// Program: the DRAM slot or (for moves) the physical unit the data comes from. Read: the physical unit.
    pub source: u32,
    /// Host reads: the granules wanted. Moves and programs: the facts. Nobody needs both.
    more: u64,
}

impl UnitRef {
    /// No unit.
    pub const PADDING: UnitRef = UnitRef::new(NONE, NONE);

    /// A unit, of which nothing else is said.
    #[inline]
    pub const fn new(lpn: u32, source: u32) -> Self {
        UnitRef { lpn, source, more: 0 }
    }

    /// The same unit, of which a read wants these granules.
    #[inline]
    #[must_use]
    pub const fn with_mask(self, mask: u64) -> Self {
        UnitRef { more: mask, ..self }
    }

    /// The granules that a read for the host wants.
    #[inline]
    pub const fn mask(&self) -> u64 {
        self.more
    }

    /// The same unit with what goes to the spare area with it.
    #[inline]
    #[must_use]
    pub const fn with_facts(self, facts: Facts) -> Self {
        UnitRef { more: facts.bits(), ..self }
    }

    /// The same unit, which goes to a stream.
    #[inline]
    #[must_use]
    pub const fn in_stream(self, stream: u8) -> Self {
        self.with_facts(self.facts().with_stream(stream as u64))
    }

    /// What goes to the spare area with a unit that moves or is programmed.
    #[inline]
    pub const fn facts(&self) -> Facts {
        Facts::of_bits(self.more & !GIVEN_UP)
    }

    /// The same unit of a program, which is in vain for it: its data was trimmed in the meantime.
    #[inline]
    #[must_use]
    pub const fn given_up(self) -> Self {
        UnitRef { more: self.more | GIVEN_UP, ..self }
    }

    /// Whether the program is in vain for it.
    #[inline]
    pub const fn is_given_up(&self) -> bool {
        self.more & GIVEN_UP != 0
    }
}

/// How long an operation spent where, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpTimes {
    /// Queue of its die, including time in the array that other work of the die took.
    pub die_wait: u64,
    /// Waiting for the channel.
    pub channel_wait: u64,
    /// Its own array time.
    pub array: u64,
    /// Its own time on the channel.
    pub transfer: u64,
    /// Being decoded by the controller.
    pub decode: u64,
    /// Stopped, being stopped or being resumed.
    pub suspended: u64,
}

/// The time of one operation under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// When it entered its die's queue.
    pub queued: SimTime,
    /// Where its time went.
    pub times: OpTimes,
    /// Its time is booked up to here.
    pub(crate) mark: SimTime,
}

/// How an attempt to read comes by its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Turn {
    /// In its line, as it came.
    First,
    /// In its line, after a more urgent read had stopped it.
    Again,
    /// So many more urgent ones went before it that it is its turn: nothing stops it.
    Due,
}

/// Lines of a die: one for each priority of reads, one for all else.
pub(super) const LINES: usize = PRIORITIES + 1;
/// The line of what is no read of the host's.
pub(super) const OTHERS: usize = PRIORITIES;

/// One operation on one page or block. Its time stands apart ([`OpPool::spent`]): most who look at an operation do not
/// ask for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Op {
    /// What it does.
    pub kind: OpKind,
    /// Why.
    pub cause: Cause,
    /// Mapping units it carries.
    pub units: u8,
    /// Page type (index into the part's Gray code; the one after its last where the block has one bit a cell).
    pub page_type: u8,
    /// How urgent it is: of a read for the host what that said, medium if nothing.
    pub priority: Priority,
    /// Program and erase status.
    pub outcome: Outcome,
    /// Of a move that reads have made due: host reads do not pass it as they pass others.
    pub due: bool,
    /// Of a move that cannot wait: it is due, or its lane has no free block beside the reserve.
    pub critical: bool,
    /// Program mode of its block (index into `cell.modes`).
    pub mode: u8,
    /// Reads: attempts made, and attempts that it takes in all; 0 as long as that is open.
    pub attempts: u8,
    pub(crate) attempts_due: u8,
    /// Kind of the attempt being made, as [`super::timing::Timing::kind_of`] numbers them.
    pub(crate) attempt_kind: u8,
    /// Its line at the die ([`super::die::Precedence::line_of`]).
    pub(crate) line: u8,
    /// Reads: how the attempt to be made came by its turn.
    pub(crate) turn: Turn,
    /// No other read of its priority or a higher one waited at its die when it came.
    pub(crate) alone: bool,
    /// Array time over the nominal, in 1/4096.
    pub(crate) slower_q12: u16,
    /// Where on the chips (for a copyback: the destination).
    pub at: PageAddress,
    /// The firmware's page number (for an erase: the block's first page).
    pub ppn: Ppn,
    /// Bytes on the channel.
    pub bytes: u32,
    /// The issuer's number: command for host reads, slot for merges, lane for moves, block for erases.
    pub tag: u32,
    /// Order of issue.
    pub(crate) sequence: u64,
    /// Next in its queue.
    pub(crate) next: OpId,
    /// Next in its multi-plane group.
    pub(crate) follower: OpId,
}

/// No slower than nominal.
pub(crate) const NOMINAL: u16 = 4_096;

impl Op {
    /// Whether it is a read of the drive's own that carries no unit: all that it is for is what the cells show.
    #[inline]
    pub(crate) const fn is_look(&self) -> bool {
        matches!(self.kind, OpKind::Read) && self.units == 0 && !self.cause.is_for_host()
    }

    /// Its line at the die.
    #[inline(always)]
    pub(super) fn line(&self) -> usize {
        usize::from(self.line) % LINES
    }

    /// An operation, not yet queued.
    pub fn new(kind: OpKind, cause: Cause, ppn: Ppn, at: PageAddress, page_type: u8) -> Self {
        Op {
            kind,
            cause,
            outcome: Outcome::Pass,
            units: 0,
            page_type,
            priority: Priority::Medium,
            due: false,
            critical: false,
            mode: 0,
            attempts: 0,
            attempts_due: 0,
            attempt_kind: 0,
            line: 0,
            turn: Turn::First,
            alone: false,
            slower_q12: NOMINAL,
            at,
            ppn,
            bytes: 0,
            tag: NONE,
            sequence: 0,
            next: OpId::NONE,
            follower: OpId::NONE,
        }
    }
}

/// The pool of operations and the units they carry.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OpPool {
    pub(super) ops: Vec<Op>,
    pub(super) spent: Vec<Spent>,
    pub(super) units: Vec<UnitRef>,
    pub(super) stride: usize,
    pub(super) free: Vec<u32>,
    /// Operations that may still be issued for the host; the rest is kept for moves and erases.
    pub(super) host_room: usize,
}

impl OpPool {
    /// A pool of `host` operations for the host and `moves` others, of at most `units_per_page` units.
    pub fn new(host: usize, moves: usize, units_per_page: u32) -> Self {
        let capacity = host + moves;
        let idle = Op::new(
            OpKind::Read,
            Cause::Host,
            Ppn::NONE,
            PageAddress { die: 0, plane: 0, block: 0, page: 0 },
            0,
        );
        OpPool {
            ops: vec![idle; capacity],
            spent: vec![Spent::default(); capacity],
            units: vec![UnitRef::PADDING; capacity * units_per_page as usize],
            stride: units_per_page as usize,
            free: (0..capacity as u32).rev().collect(),
            host_room: host,
        }
    }

    /// Operations that can still be issued for the host.
    #[inline]
    pub fn host_room(&self) -> usize {
        self.host_room
    }

    /// Operations in flight.
    pub fn in_flight(&self) -> usize {
        self.ops.len() - self.free.len()
    }

    /// Operations there is room for.
    pub(crate) fn capacity(&self) -> usize {
        self.ops.len()
    }

    /// Whether each of them is in flight (slow).
    pub(crate) fn used(&self) -> Vec<bool> {
        let mut used = vec![true; self.ops.len()];
        self.free.iter().for_each(|&id| used[id as usize] = false);
        used
    }

    /// The operations in flight with their numbers (slow).
    pub fn iter(&self) -> impl Iterator<Item = (OpId, &Op)> {
        let all = (0..).map(OpId).zip(&self.ops).zip(self.used());
        all.filter(|(_, used)| *used).map(|(op, _)| op)
    }

    /// Issues an operation. The caller has made sure that there is room.
    #[inline(always)]
    pub fn add(&mut self, op: Op, units: &[UnitRef]) -> OpId {
        let Some(id) = self.free.pop() else {
            panic!("pool of {} flash operations is exhausted", self.ops.len())
        };
        self.host_room -= usize::from(op.cause.is_for_host());
        debug_assert!(self.free.len() >= self.host_room, "moves take operations that are kept for the host");
        let place = &mut self.ops[id as usize];
        (*place, place.units) = (op, units.len() as u8);
        let from = id as usize * self.stride;
        let places = &mut self.units[from..from + units.len()];
        places.iter_mut().zip(units).for_each(|(place, unit)| *place = *unit);
        OpId(id)
    }

    /// Adds one more unit to an operation that is not full.
    #[inline]
    pub fn extend(&mut self, id: OpId, unit: UnitRef) {
        let op = &mut self.ops[id.index()];
        self.units[id.index() * self.stride + op.units as usize] = unit;
        op.units += 1;
    }

    /// Gives an operation back.
    #[inline]
    pub fn remove(&mut self, id: OpId) {
        self.host_room += usize::from(self.ops[id.index()].cause.is_for_host());
        self.free.push(id.0);
    }

    /// An operation.
    #[inline]
    pub fn get(&self, id: OpId) -> &Op {
        &self.ops[id.index()]
    }

    /// An operation, to change.
    #[inline]
    pub fn get_mut(&mut self, id: OpId) -> &mut Op {
        &mut self.ops[id.index()]
    }

    /// Where an operation's time went; it may be looked at until the next is issued after its end.
    #[inline]
    pub fn spent(&self, id: OpId) -> &Spent {
        &self.spent[id.index()]
    }

    #[inline]
    pub(super) fn spent_mut(&mut self, id: OpId) -> &mut Spent {
        &mut self.spent[id.index()]
    }

    /// The units of an operation.
    #[inline]
    pub fn units(&self, id: OpId) -> &[UnitRef] {
        let from = id.index() * self.stride;
        &self.units[from..from + self.ops[id.index()].units as usize]
    }

    /// Gives an operation back; its units, and how many they are.
    #[inline(always)]
    pub fn take(&mut self, id: OpId) -> ([UnitRef; UNITS_AT_MOST], usize) {
        let mut units = [UnitRef::PADDING; UNITS_AT_MOST];
        let carried = self.units(id);
        units[..carried.len()].copy_from_slice(carried);
        let count = carried.len();
        self.remove(id);
        (units, count)
    }

    /// The units of an operation, to change.
    #[inline]
    pub fn units_mut(&mut self, id: OpId) -> &mut [UnitRef] {
        let from = id.index() * self.stride;
        &mut self.units[from..from + self.ops[id.index()].units as usize]
    }
}
