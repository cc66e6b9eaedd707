//! The calls of a program, who made them, on which files and from where in its code.

use serde::{Deserialize, Serialize};

/// What a call did to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Op {
    /// Stored bytes.
    Write = 0,
    /// Waited until the file's data and metadata are durable.
    Fsync = 1,
    /// Waited until the file's data is.
    Fdatasync = 2,
    /// Asked for dirty bytes to be written soon (`sync_file_range`); 0 bytes: up to the end.
    WriteBack = 3,
    /// Gave the file another length: `size` bytes.
    Truncate = 4,
    /// Reserved room, so that the file is at least so long.
    Allocate = 5,
    /// Gave the room of some bytes back, or made them zero; the file's length stays.
    Punch = 6,
    /// Took away the file's last name.
    Unlink = 7,
    /// Gave the file another name.
    Rename = 8,
    /// Waited until all of a file system is durable (`sync`, `syncfs`).
    Sync = 9,
}

impl Op {
    /// All of them, by number.
    pub const ALL: [Op; 10] = [
        Op::Write,
        Op::Fsync,
        Op::Fdatasync,
        Op::WriteBack,
        Op::Truncate,
        Op::Allocate,
        Op::Punch,
        Op::Unlink,
        Op::Rename,
        Op::Sync,
    ];

    /// As in tables.
    pub fn name(self) -> &'static str {
        match self {
            Op::Write => "write",
            Op::Fsync => "fsync",
            Op::Fdatasync => "fdatasync",
            Op::WriteBack => "write back",
            Op::Truncate => "truncate",
            Op::Allocate => "allocate",
            Op::Punch => "punch",
            Op::Unlink => "unlink",
            Op::Rename => "rename",
            Op::Sync => "sync",
        }
    }
}

/// How a write is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Manner {
    /// Into the page cache.
    #[default]
    Cached = 0,
    /// Durable when it returns (`O_SYNC`, `O_DSYNC`, `RWF_SYNC`, `RWF_DSYNC`).
    Durable = 1,
    /// Past the page cache (`O_DIRECT`).
    Direct = 2,
}

impl Manner {
    /// All of them, by number.
    pub const ALL: [Manner; 3] = [Manner::Cached, Manner::Durable, Manner::Direct];
}

/// A call that succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When it returned, in nanoseconds from the start of the command.
    pub time_ns: u64,
    /// What it did.
    pub op: Op,
    /// Of a write: how.
    pub manner: Manner,
    /// Who: a place in [`Capture::processes`].
    pub process: u32,
    /// To what: a place in [`Capture::files`]; of no meaning for [`Op::Sync`].
    pub file: u32,
    /// From which byte of the file on.
    pub offset: u64,
    /// How many bytes.
    pub size: u64,
    /// From where in the program: a place in [`Capture::stacks`].
    pub stack: u32,
}

/// A process, or what it was until it ran another program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// The program's name, without its folder.
    pub name: String,
}

/// A file that was changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapturedFile {
    /// Its bytes before the first change that was seen.
    pub size: u64,
    /// Its path; empty where names were not to be kept.
    pub name: String,
}

/// A program or library that call stacks run through.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Module {
    /// Of its build id; of its path and size where it has none.
    pub hash: u64,
    /// Its file's name, without the folder.
    pub name: String,
}

/// A call stack.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stack {
    /// From the innermost frame: a place in [`Capture::modules`], and the address less where that was loaded.
    pub frames: Vec<(u32, u64)>,
    /// Whether it goes down to where the program, or the thread, began.
    pub is_whole: bool,
}

impl Stack {
    /// The program context: the wrapping sum of the hash of its module and the address in it over all frames. It is
    /// the same in every run of the same programs, wherever they are loaded.
    pub fn sum(&self, modules: &[Module]) -> u64 {
        let frame = |&(module, address): &(u32, u64)| modules[module as usize].hash.wrapping_add(address);
        self.frames.iter().map(frame).fold(0, u64::wrapping_add)
    }
}

/// A context's sum as the number that hints have room for; never 0, which says nothing.
pub fn fold(sum: u64) -> u32 {
    (((sum >> 32) ^ sum) as u32).max(1)
}

/// What is known of a capture as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// How long the command ran, in nanoseconds.
    pub duration_ns: u64,
    /// Calls looked at: those recorded, and those on what is no regular file or that failed.
    pub stops: u64,
    /// Calls on regular files that failed, or changed nothing.
    pub failed: u64,
    /// Calls whose stack is not whole.
    pub cut: u64,
    /// Regular files mapped shared and writable: what is stored through them is not seen.
    pub shared_maps: u64,
    /// Rings of io_uring made: what is written by them is not seen.
    pub io_urings: u64,
    /// Calls of `io_submit`: what they write is not seen.
    pub aio_calls: u64,
    /// Programs started with another user's rights, which tracing takes from them.
    pub setuid_programs: u64,
    /// Programs of another architecture (32 bits), of which nothing is seen.
    pub foreign_programs: u64,
}

impl Totals {
    /// The share of so many calls whose stack is whole.
    pub fn whole_percent(&self, calls: u64) -> f64 {
        if calls == 0 { 100.0 } else { (1.0 - self.cut as f64 / calls as f64) * 100.0 }
    }
}

/// A capture in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capture {
    /// Who wrote.
    pub processes: Vec<Process>,
    /// What was written.
    pub files: Vec<CapturedFile>,
    /// What ran.
    pub modules: Vec<Module>,
    /// From where.
    pub stacks: Vec<Stack>,
    /// The calls, in the order in which they returned.
    pub events: Vec<Event>,
    /// All about it.
    pub totals: Totals,
    /// Stands for all of it: equal captures have equal numbers.
    pub hash: u64,
}

impl Capture {
    /// The context of each stack, by its place.
    pub fn contexts(&self) -> Vec<u32> {
        self.stacks.iter().map(|stack| fold(stack.sum(&self.modules))).collect()
    }

    /// Stacks that have the context of another, different stack.
    pub fn ambiguous(&self) -> usize {
        let mut all: Vec<(u32, &Stack)> = self.contexts().into_iter().zip(&self.stacks).collect();
        all.sort_unstable_by(|a, b| (a.0, &a.1.frames).cmp(&(b.0, &b.1.frames)));
        all.windows(2).filter(|two| two[0].0 == two[1].0 && two[0].1.frames != two[1].1.frames).count()
    }
}
