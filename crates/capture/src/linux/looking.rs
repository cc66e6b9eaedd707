//! What a call is about to change, looked up while its thread waits, and what has become of it.

use std::ffi::CString;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;

use workload::capture::{Manner, Op};

use super::calls::{At, Call, Named, Size};
use super::sys::{self, FileFacts, Tid};

/// A regular file that a call is about to change.
#[derive(Clone, Debug)]
pub struct Target {
    pub facts: FileFacts,
    /// Its path, where names are kept.
    pub name: String,
}

/// What a call does, if it does it.
#[derive(Clone, Debug)]
pub struct Pending {
    pub target: Option<Target>,
    pub op: Op,
    pub manner: Manner,
    pub offset: u64,
    /// Bytes; `None` for what the call returns.
    pub size: Option<u64>,
    /// Whether it must return first, to be known to have succeeded. Writes to open files, fsync and the like next to
    /// never fail, and stopping a thread once more makes a call dearer by a third.
    pub waits: bool,
    /// A file that loses its last name by it.
    pub replaced: Option<Target>,
}

/// Most pieces of a write (`IOV_MAX`).
const PIECES_MAX: u64 = 1024;
/// Longest path (`PATH_MAX`).
const PATH_BYTES: usize = 4096;

/// Looks at files of a stopped thread.
pub struct Look<'a> {
    pub tid: Tid,
    pub process: &'a OwnedFd,
    pub keeps_names: bool,
}

impl Look<'_> {
    /// What a call is about to change; `None` if that is nothing, or no regular file.
    pub fn at(&self, call: Call) -> Option<Pending> {
        match call {
            Call::Write { fd, at, size, is_durable, appends } => {
                let size = self.size(size);
                let pending = self.write(fd, at, is_durable, appends)?;
                Some(Pending { size, waits: size.is_none(), ..pending })
                    .filter(|pending| pending.size != Some(0))
            }
            Call::Sync { fd, is_data_alone } => {
                let op = if is_data_alone { Op::Fdatasync } else { Op::Fsync };
                Some(Pending { waits: false, ..self.open(fd, op, 0, 0)?.1 })
            }
            Call::SyncAll => Some(pending(None, Op::Sync, 0, 0)),
            Call::WriteBack { fd, offset, size } => {
                Some(Pending { waits: false, ..self.open(fd, Op::WriteBack, offset, size)?.1 })
            }
            Call::Truncate { fd, size } => Some(self.open(fd, Op::Truncate, 0, size)?.1),
            Call::Allocate { fd, mode, offset, size } => self.allocate(fd, mode, offset, size),
            Call::TruncateNamed { file, size } => {
                Some(pending(Some(self.named(file, true)?), Op::Truncate, 0, size))
            }
            Call::OpenEmpty { file } => {
                let target = self.named(file, true).filter(|target| target.facts.bytes > 0)?;
                Some(pending(Some(target), Op::Truncate, 0, 0))
            }
            Call::Unlink { file } => {
                let target = self.named(file, false).filter(|target| target.facts.links == 1)?;
                Some(pending(Some(target), Op::Unlink, 0, 0))
            }
            Call::Rename { from, to, is_exchange } => {
                let target = self.named(from, false)?;
                let replaced = self.named(to, false);
                let loses = |other: &Target| other.facts.links == 1 && other.facts.id != target.facts.id;
                let replaced = replaced.filter(|other| !is_exchange && loses(other));
                Some(Pending { replaced, ..pending(Some(target), Op::Rename, 0, 0) })
            }
            Call::Load | Call::ShareFile | Call::Ring | Call::SubmitAio | Call::Other => None,
        }
    }

    /// An open regular file.
    fn open(&self, fd: i32, op: Op, offset: u64, size: u64) -> Option<(OwnedFd, Pending)> {
        let file = sys::duplicate(self.process, fd).ok()?;
        let facts = sys::facts(&file).filter(FileFacts::is_regular)?;
        let link = || std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok();
        let name = if self.keeps_names { link() } else { None };
        let name = name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Some((file, pending(Some(Target { facts, name }), op, offset, size)))
    }

    fn write(&self, fd: i32, at: At, is_durable: bool, appends: bool) -> Option<Pending> {
        let (file, pending) = self.open(fd, Op::Write, 0, 0)?;
        let flags = sys::open_flags(&file);
        let end = pending.target.as_ref().map_or(0, |target| target.facts.bytes);
        let offset = match at {
            _ if appends || flags & libc::O_APPEND != 0 => end,
            At::Byte(byte) => byte,
            At::Position => sys::position(&file)?,
            At::Pointer(address) => {
                let mut bytes = [0; 8];
                let read = sys::read_memory(self.tid, address, &mut bytes);
                (read == bytes.len()).then(|| u64::from_ne_bytes(bytes))?
            }
        };
        let manner = if flags & libc::O_DIRECT != 0 {
            Manner::Direct
        } else if is_durable || flags & (libc::O_SYNC | libc::O_DSYNC) != 0 {
            Manner::Durable
        } else {
            Manner::Cached
        };
        let is_writable = matches!(flags & libc::O_ACCMODE, libc::O_WRONLY | libc::O_RDWR);
        is_writable.then_some(Pending { manner, offset, ..pending })
    }

    /// How much is written; `None` for as much as the call returns.
    fn size(&self, size: Size) -> Option<u64> {
        let (address, count) = match size {
            Size::Bytes(bytes) => return Some(bytes),
            Size::Returned => return None,
            Size::Pieces(address, count) => (address, count.min(PIECES_MAX)),
        };
        // Each is an address and a length.
        let mut pieces = vec![0; count as usize * 16];
        let read = sys::read_memory(self.tid, address, &mut pieces);
        let (words, _) = pieces[..read].as_chunks::<8>();
        Some(words.iter().skip(1).step_by(2).map(|&length| u64::from_ne_bytes(length)).sum())
    }

    fn allocate(&self, fd: i32, mode: i32, offset: u64, size: u64) -> Option<Pending> {
        let has = |flag| mode & flag != 0;
        let op = if has(libc::FALLOC_FL_PUNCH_HOLE) || has(libc::FALLOC_FL_ZERO_RANGE) {
            Op::Punch
        } else {
            Op::Allocate
        };
        // Ranges that are taken out or pushed in move what is behind them; room behind the end changes no length.
        if has(libc::FALLOC_FL_COLLAPSE_RANGE)
            || has(libc::FALLOC_FL_INSERT_RANGE)
            || (op == Op::Allocate && has(libc::FALLOC_FL_KEEP_SIZE))
        {
            return None;
        }
        Some(self.open(fd, op, offset, size)?.1)
    }

    /// A regular file by its name.
    fn named(&self, named: Named, follows: bool) -> Option<Target> {
        let path = self.path(named.path)?;
        let from = match (path.first()?, named.folder) {
            (b'/', _) => "root".to_owned(),
            (_, libc::AT_FDCWD) => "cwd".to_owned(),
            (_, fd) => format!("fd/{fd}"),
        };
        let mut whole = format!("/proc/{}/{from}/", self.tid).into_bytes();
        whole.extend_from_slice(&path);
        let facts = sys::facts_of(&CString::new(whole).ok()?, follows).filter(FileFacts::is_regular)?;
        let name = if self.keeps_names { std::ffi::OsString::from_vec(path) } else { Default::default() };
        Some(Target { facts, name: name.to_string_lossy().into_owned() })
    }

    /// A path in the thread's memory.
    fn path(&self, address: u64) -> Option<Vec<u8>> {
        let mut path = vec![0; PATH_BYTES];
        let read = sys::read_memory(self.tid, address, &mut path);
        let end = path[..read].iter().position(|&byte| byte == 0)?;
        path.truncate(end);
        Some(path)
    }
}

fn pending(target: Option<Target>, op: Op, offset: u64, size: u64) -> Pending {
    Pending { target, op, manner: Manner::Cached, offset, size: Some(size), waits: true, replaced: None }
}
