//! The one door between layers: what a command may tell the drive, and what the drive answers.
//!
//! A technique that needs to know more widens this file, visibly.

use crate::units::{Lba, Lpn, SimTime};
use serde::{Deserialize, Serialize};

/// What a command asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum OpCode {
    /// Return the last written data of the addressed sectors.
    #[default]
    Read,
    /// Store data for the addressed sectors.
    Write,
    /// Forget the data of the addressed sectors (TRIM, NVMe Deallocate); only whole mapping units are forgotten.
    Trim,
    /// Make all completed writes durable.
    Flush,
}

impl OpCode {
    /// Lower-case name, as in logs.
    pub fn name(self) -> &'static str {
        match self {
            OpCode::Read => "read",
            OpCode::Write => "write",
            OpCode::Trim => "trim",
            OpCode::Flush => "flush",
        }
    }
}

/// What applications and kernels know about a command. Zero means "not said" everywhere. They are carried with each
/// command; a slot of DRAM keeps those of its last writer if a policy asks for them ([`crate::ftl::stream`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Hints {
    /// Placement id or device of the workload (NVMe DSPEC, SPC application storage unit).
    pub stream: u16,
    /// File the data belongs to (an inode number or a hash of a name).
    pub file: u32,
    /// Process that issued the command.
    pub process: u32,
    /// Program context: a number for the path through the program that led to the command (its call stack).
    pub context: u32,
    /// Priority: 1 low, 2 medium, 3 high; not said is medium. Another number is refused ([`Status::InvalidField`]).
    pub priority: u8,
    /// Security class: 1 insecure, 2 secure; not said is as `ftl.sanitize` has it. Another number is refused.
    pub class: u8,
    /// What is read is read this once and says nothing of how the data is used: a scrub, a backup (NVMe dataset
    /// management, access frequency "one time read").
    pub one_time: bool,
}

/// How urgent something is to the host (RealWear section 4.2), in ascending order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[repr(u8)]
pub enum Priority {
    /// Can wait.
    Low,
    /// What nothing is said of.
    #[default]
    Medium,
    /// Goes first.
    High,
}

/// Number of [`Priority`] classes.
pub const PRIORITIES: usize = Priority::ALL.len();

impl Priority {
    /// All of them, the lowest first.
    pub const ALL: [Priority; 3] = [Priority::Low, Priority::Medium, Priority::High];

    /// Name in results.
    pub fn name(self) -> &'static str {
        match self {
            Priority::Low => "low",
            Priority::Medium => "medium",
            Priority::High => "high",
        }
    }
}

impl Hints {
    /// [`Hints::class`] of data whose old versions may stay in flash (`O_INSEC`; RealWear section 5.3).
    pub const INSECURE: u8 = 1;
    /// Of data whose old versions must not be read any more.
    pub const SECURE: u8 = 2;

    /// Whether the drive takes them.
    #[inline]
    pub const fn are_valid(&self) -> bool {
        self.priority <= 3 && self.class <= Hints::SECURE
    }

    /// The priority that they say: medium if none.
    #[inline]
    pub const fn class(&self) -> Priority {
        const SAID: [Priority; 4] = [Priority::Medium, Priority::Low, Priority::Medium, Priority::High];
        SAID[(self.priority % 4) as usize]
    }
}

macro_rules! facts {
    ($($(#[$doc:meta])* $name:ident, $with:ident: $from:literal, $bits:literal;)*) => {
        impl Facts {
            $(
                $(#[$doc])*
                #[inline]
                pub const fn $name(self) -> u64 {
                    (self.0 >> $from) & ((1 << $bits) - 1)
                }

                #[doc = concat!("The same with another `", stringify!($name), "`: its lowest ", $bits, " bits.")]
                #[inline]
                #[must_use]
                pub const fn $with(self, value: u64) -> Self {
                    let mask = (1 << $bits) - 1;
                    Facts(self.0 & !(mask << $from) | (value & mask) << $from)
                }
            )*
        }

        impl core::fmt::Debug for Facts {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_struct("Facts")$(.field(stringify!($name), &self.$name()))*.finish()
            }
        }
    };
}

/// What is known of one mapping unit of data and is told with its program, for the page's spare area: eight bytes.
/// Beside it stands there which logical unit it is. What nobody asked for is zero; see [`crate::ftl::stream::Needs`].
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Facts(u64);

impl Facts {
    /// Nothing is known.
    pub const NONE: Facts = Facts(0);

    /// All of it as a number.
    #[inline]
    pub(crate) const fn bits(self) -> u64 {
        self.0
    }

    /// What [`Facts::bits`] said.
    #[inline]
    pub(crate) const fn of_bits(bits: u64) -> Facts {
        Facts(bits)
    }
}

/// What the spare area of a page says of one mapping unit on it. Everything that a drive can know of its data without
/// its tables is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Spare {
    /// The logical unit.
    pub lpn: Lpn,
    /// The rest; with the sequence of the write that it comes from, copies too.
    pub facts: Facts,
}

facts! {
    /// Place of the write among all: counted when a program of host data is issued, and kept by copies. Of two copies
    /// of a logical unit the one with the higher number is the newer. 0: that of the unit it was copied from.
    sequence, with_sequence: 0, 40;
    /// The stream that it shares blocks with.
    stream, with_stream: 40, 5;
    /// Security class, as in [`Hints::class`].
    class, with_class: 45, 2;
    /// Priority, as in [`Hints::priority`].
    priority, with_priority: 47, 2;
    /// How hot it is, as the policy that asks for it counts.
    heat, with_heat: 49, 8;
    /// 1: the drive has written it once more, to where it is read faster; no host has asked for that.
    promoted, with_promoted: 57, 1;
}

/// How data is used, by what DRAM saw of it: two bits a mapping unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum Hotness {
    /// Nothing is known.
    #[default]
    Unknown,
    /// Nearly all accesses are reads.
    ReadHot,
    /// Nearly all accesses are writes.
    WriteHot,
    /// Both are frequent.
    Mixed,
}

impl Hotness {
    /// What so many reads and writes say of data: it is read-hot (write-hot) if more than so many percent of them are
    /// reads (writes) (HIRE section 3.1).
    pub(crate) fn of_hits(reads: u64, writes: u64, above_percent: u64) -> Hotness {
        let above = |hits: u64| 100 * hits > above_percent * (reads + writes);
        match () {
            () if above(reads) => Hotness::ReadHot,
            () if above(writes) => Hotness::WriteHot,
            () => Hotness::Mixed,
        }
    }

    /// The lowest two bits as what they stand for.
    #[inline]
    pub(crate) const fn of_bits(bits: u64) -> Hotness {
        match bits & 3 {
            1 => Hotness::ReadHot,
            2 => Hotness::WriteHot,
            3 => Hotness::Mixed,
            _ => Hotness::Unknown,
        }
    }
}

/// One command as a host submits it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// What is asked for.
    pub op: OpCode,
    /// Force unit access: a write completes only when its data is in flash.
    pub fua: bool,
    /// First sector.
    pub lba: Lba,
    /// Sectors of 512 bytes (ignored for FLUSH).
    pub sectors: u32,
    /// What the host knows about it.
    pub hints: Hints,
    /// The caller's own number, returned with the completion.
    pub tag: u64,
    /// When the request came into being; waiting before submission counts from here.
    pub arrival: SimTime,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Status {
    /// Done.
    #[default]
    Ok,
    /// Zero sectors were asked for, or hints say what cannot be.
    InvalidField,
    /// The command reaches beyond the logical space.
    LbaOutOfRange,
    /// The drive takes no more writes: see [`Reason`].
    ReadOnly,
    /// Data that the command needs had more errors than can be corrected, now or when the drive last moved it.
    Uncorrectable,
    /// A write or trim on a drive that looks ahead, and was not told of it: see [`crate::Drive::foresee`].
    NotForeseen,
}

impl Status {
    /// Lower-case name, as in logs.
    pub fn name(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::InvalidField => "invalid_field",
            Status::LbaOutOfRange => "lba_out_of_range",
            Status::ReadOnly => "read_only",
            Status::Uncorrectable => "uncorrectable",
            Status::NotForeseen => "not_foreseen",
        }
    }
}

/// Why a drive became read-only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Reason {
    /// No free page is left and cleaning can reclaim nothing.
    Full,
    /// So many blocks were retired that the remaining ones cannot hold the data.
    WornOut,
    /// Somebody waits until what died in a block out of use cannot be read, and locks fail there.
    NotSanitized,
}

impl Reason {
    /// What to tell a person.
    pub fn text(self) -> &'static str {
        match self {
            Reason::Full => "full: no free page is left and garbage collection can reclaim nothing",
            Reason::WornOut => "worn out: too many blocks were retired to take more writes",
            Reason::NotSanitized => {
                "not sanitized: locks fail in a retired block, whose invalid data can be read"
            }
        }
    }
}

macro_rules! parts {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// The places a request spends time in. Their times add up to the latency, to the nanosecond.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[repr(u8)]
        pub enum Part { $($(#[$doc])* $variant,)* }
        /// Number of [`Part`]s.
        pub const PARTS: usize = [$(Part::$variant),*].len();
        impl Part {
            /// All parts, in the order a request passes them.
            pub const ALL: [Part; PARTS] = [$(Part::$variant),*];
            /// Name in logs and result files.
            pub fn name(self) -> &'static str { match self { $(Part::$variant => $name),* } }
        }
    };
}

parts! {
    /// Waiting in the host because the submission queue was full (arrival to submission).
    HostQueue = "host_queue",
    /// Waiting in the submission queue for the firmware to fetch it.
    Submission = "submission",
    /// Firmware time of the command itself.
    Firmware = "firmware",
    /// Waiting for the host link, which carries the data of others, slowly where `host.write_cap_mb_s` holds it back.
    LinkWait = "link_wait",
    /// Host link: latency both ways, data transfer.
    Link = "link",
    /// Waiting for room in the DRAM buffer; of a flush: for what it holds to be in flash.
    BufferWait = "buffer_wait",
    /// Access to the DRAM buffer.
    Buffer = "buffer",
    /// From the command (or its data) being there to the last flash operation being queued.
    Dispatch = "dispatch",
    /// That operation waiting for its die.
    DieWait = "die_wait",
    /// That operation waiting for the channel.
    ChannelWait = "channel_wait",
    /// The array at work: tR, tPROG.
    Array = "array",
    /// Command and data on the channel.
    Transfer = "transfer",
    /// Its data being decoded: the correction of errors.
    Decode = "decode",
    /// That operation stopped for a read: until the array stood still, all of the time since, and until it went on.
    Suspended = "suspended",
    /// Waiting until what died is locked (`ftl.sanitize.acknowledge`).
    LockWait = "lock_wait",
}

/// Where the time of one request went, by [`Part`], in nanoseconds. For a request of several flash operations the
/// one that finished last is followed (the critical path).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Breakdown {
    /// Nanoseconds by part.
    pub ns: [u64; PARTS],
}

impl Breakdown {
    /// Adds time to a part.
    #[inline]
    pub fn add(&mut self, part: Part, ns: u64) {
        self.ns[part as usize] += ns;
    }

    /// All of it.
    pub fn total(&self) -> u64 {
        self.ns.iter().sum()
    }
}

/// The drive's answer to one command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completion {
    /// The caller's number.
    pub tag: u64,
    /// What was asked for.
    pub op: OpCode,
    /// How it ended.
    pub status: Status,
    /// How urgent it was.
    pub priority: Priority,
    /// First sector.
    pub lba: Lba,
    /// Sectors.
    pub sectors: u32,
    /// When the request came into being.
    pub arrival: SimTime,
    /// When it entered the submission queue.
    pub submitted: SimTime,
    /// When the host saw it complete.
    pub completed: SimTime,
    /// Where the time between arrival and completion went.
    pub breakdown: Breakdown,
}
