//! The system calls that change files, and what their arguments mean (Linux manual, section 2).

use super::sys::Registers;
use libc::c_long;

/// Two that libc does not name for every architecture (Linux, `asm-generic/unistd.h`).
#[cfg(target_arch = "x86_64")]
const RENAMEAT: c_long = libc::SYS_renameat;
#[cfg(target_arch = "aarch64")]
const RENAMEAT: c_long = 38;
#[cfg(target_arch = "x86_64")]
const SYNC_FILE_RANGE: c_long = libc::SYS_sync_file_range;
#[cfg(target_arch = "aarch64")]
const SYNC_FILE_RANGE: c_long = 84;

/// Calls that always stop.
pub const PLAIN: &[c_long] = &[
    libc::SYS_write,
    libc::SYS_pwrite64,
    libc::SYS_writev,
    libc::SYS_pwritev,
    libc::SYS_pwritev2,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    SYNC_FILE_RANGE,
    libc::SYS_sync,
    libc::SYS_syncfs,
    libc::SYS_truncate,
    libc::SYS_ftruncate,
    libc::SYS_fallocate,
    libc::SYS_unlinkat,
    RENAMEAT,
    libc::SYS_renameat2,
    libc::SYS_copy_file_range,
    libc::SYS_sendfile,
    libc::SYS_splice,
    libc::SYS_openat2,
    libc::SYS_io_uring_setup,
    libc::SYS_io_submit,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_unlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rename,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_creat,
];

/// A call that stops if an argument has some bit of a mask.
pub struct When {
    pub call: c_long,
    pub argument: u32,
    pub any: u32,
}

/// Calls that stop for some arguments: files that lose what they held, code that is loaded, memory shared with files.
pub const ADDRESSED: &[When] = &[
    When { call: libc::SYS_openat, argument: 2, any: libc::O_TRUNC as u32 },
    #[cfg(target_arch = "x86_64")]
    When { call: libc::SYS_open, argument: 1, any: libc::O_TRUNC as u32 },
    When { call: libc::SYS_mmap, argument: 2, any: libc::PROT_EXEC as u32 },
    When { call: libc::SYS_mmap, argument: 3, any: libc::MAP_SHARED as u32 },
];

/// From which byte on a call writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// Where the file stands.
    Position,
    Byte(u64),
    /// What stands in memory at this address.
    Pointer(u64),
}

/// How much a call writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    Bytes(u64),
    /// So many pieces, told in memory at this address.
    Pieces(u64, u64),
    /// As much as it returns: it is asked for more than there may be.
    Returned,
}

/// A file by its name: the folder's descriptor, and where in memory the path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named {
    pub folder: i32,
    pub path: u64,
}

/// What a call is about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    Write {
        fd: i32,
        at: At,
        size: Size,
        is_durable: bool,
        appends: bool,
    },
    Sync {
        fd: i32,
        is_data_alone: bool,
    },
    SyncAll,
    WriteBack {
        fd: i32,
        offset: u64,
        size: u64,
    },
    Truncate {
        fd: i32,
        size: u64,
    },
    TruncateNamed {
        file: Named,
        size: u64,
    },
    /// Opens a file and leaves nothing of what it held.
    OpenEmpty {
        file: Named,
    },
    Allocate {
        fd: i32,
        mode: i32,
        offset: u64,
        size: u64,
    },
    Unlink {
        file: Named,
    },
    Rename {
        from: Named,
        to: Named,
        is_exchange: bool,
    },
    /// Code is loaded.
    Load,
    /// A file is mapped so that stores reach it.
    ShareFile,
    Ring,
    SubmitAio,
    /// Nothing of interest.
    Other,
}

/// `RWF_DSYNC` or `RWF_SYNC`, and `RWF_APPEND`.
const RWF_DURABLE: u64 = 2 | 4;
const RWF_APPEND: u64 = 0x10;

/// A path that counts from the working directory.
fn here(path: u64) -> Named {
    Named { folder: libc::AT_FDCWD, path }
}

/// What a thread that stopped at a call is about to do.
pub fn call(tid: super::sys::Tid, registers: &Registers) -> Call {
    let a = registers.arguments;
    let fd = a[0] as i32;
    let named = |folder: u64, path| Named { folder: folder as i32, path };
    let write = |fd, at, size| Call::Write { fd, at, size, is_durable: false, appends: false };
    let (bytes, pieces) = (Size::Bytes(a[2]), Size::Pieces(a[1], a[2]));
    let pointer = |address: u64| if address == 0 { At::Position } else { At::Pointer(address) };
    match registers.call {
        libc::SYS_write => write(fd, At::Position, bytes),
        libc::SYS_writev => write(fd, At::Position, pieces),
        libc::SYS_pwrite64 => write(fd, At::Byte(a[3]), bytes),
        libc::SYS_pwritev => write(fd, At::Byte(a[3]), pieces),
        libc::SYS_pwritev2 => Call::Write {
            fd,
            at: if a[3] == u64::MAX { At::Position } else { At::Byte(a[3]) },
            size: pieces,
            is_durable: a[5] & RWF_DURABLE != 0,
            appends: a[5] & RWF_APPEND != 0,
        },
        libc::SYS_copy_file_range | libc::SYS_splice => write(a[2] as i32, pointer(a[3]), Size::Returned),
        libc::SYS_sendfile => write(fd, At::Position, Size::Returned),
        libc::SYS_fsync => Call::Sync { fd, is_data_alone: false },
        libc::SYS_fdatasync => Call::Sync { fd, is_data_alone: true },
        libc::SYS_sync | libc::SYS_syncfs => Call::SyncAll,
        SYNC_FILE_RANGE => Call::WriteBack { fd, offset: a[1], size: a[2] },
        libc::SYS_ftruncate => Call::Truncate { fd, size: a[1] },
        libc::SYS_truncate => Call::TruncateNamed { file: here(a[0]), size: a[1] },
        libc::SYS_fallocate => Call::Allocate { fd, mode: a[1] as i32, offset: a[2], size: a[3] },
        libc::SYS_unlinkat => Call::Unlink { file: named(a[0], a[1]) },
        RENAMEAT => Call::Rename { from: named(a[0], a[1]), to: named(a[2], a[3]), is_exchange: false },
        libc::SYS_renameat2 => Call::Rename {
            from: named(a[0], a[1]),
            to: named(a[2], a[3]),
            is_exchange: a[4] & u64::from(libc::RENAME_EXCHANGE) != 0,
        },
        libc::SYS_openat => Call::OpenEmpty { file: named(a[0], a[1]) },
        libc::SYS_openat2 => open_how(tid, a[2], named(a[0], a[1])),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_open | libc::SYS_creat => Call::OpenEmpty { file: here(a[0]) },
        #[cfg(target_arch = "x86_64")]
        libc::SYS_unlink => Call::Unlink { file: here(a[0]) },
        #[cfg(target_arch = "x86_64")]
        libc::SYS_rename => Call::Rename { from: here(a[0]), to: here(a[1]), is_exchange: false },
        libc::SYS_mmap => map(a[2] as i32, a[3] as i32),
        libc::SYS_io_uring_setup => Call::Ring,
        libc::SYS_io_submit => Call::SubmitAio,
        _ => Call::Other,
    }
}

/// `openat2` has its flags in memory, first in a struct.
fn open_how(tid: super::sys::Tid, how: u64, file: Named) -> Call {
    let mut flags = [0; 8];
    let read = super::sys::read_memory(tid, how, &mut flags);
    match read == flags.len() && u64::from_ne_bytes(flags) & libc::O_TRUNC as u64 != 0 {
        true => Call::OpenEmpty { file },
        false => Call::Other,
    }
}

fn map(protection: i32, flags: i32) -> Call {
    let is_file = flags & libc::MAP_ANONYMOUS == 0;
    if is_file && protection & libc::PROT_EXEC != 0 {
        Call::Load
    } else if is_file && flags & libc::MAP_SHARED != 0 && protection & libc::PROT_WRITE != 0 {
        Call::ShareFile
    } else {
        Call::Other
    }
}
