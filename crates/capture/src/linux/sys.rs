//! The system calls that std has not: processes under ptrace, their registers, memory and files. All `unsafe` code of
//! the crate is here.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io;
use std::mem;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};

/// A process or thread.
pub type Tid = libc::pid_t;

/// Bytes of a page, as far as reading memory piece by piece goes: no system has smaller ones.
const PAGE: u64 = 4096;
/// Pieces read at once.
const PIECES: usize = 65;

/// What is told of a traced process: all that it starts is traced, too, and nothing of it outlives us, since its calls
/// would fail.
const OPTIONS: libc::c_int = libc::PTRACE_O_TRACESYSGOOD
    | libc::PTRACE_O_TRACESECCOMP
    | libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEEXEC
    | libc::PTRACE_O_EXITKILL;

fn check(result: libc::c_long) -> io::Result<libc::c_long> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// A command that was started.
pub struct Started {
    pub pid: Tid,
    /// Says which step failed before the program ran, and how: nothing if none did.
    pub failure: File,
}

/// The step of starting that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Trace,
    Filter,
    Run,
}

/// Starts a program that is traced and whose calls go through a filter.
pub fn start(
    program: &CStr,
    arguments: &[CString],
    filter: &[libc::sock_filter],
) -> Result<Started, (Step, io::Error)> {
    let mut pointers: Vec<*const libc::c_char> = arguments.iter().map(|argument| argument.as_ptr()).collect();
    pointers.push(ptr::null());
    let length = u16::try_from(filter.len()).expect("the filter is short");
    let filter = libc::sock_fprog { len: length, filter: filter.as_ptr().cast_mut() };
    let fail = |error| (Step::Run, error);
    let (go_out, go_in) = pipe().map_err(fail)?;
    let (failure_out, failure_in) = pipe().map_err(fail)?;
    // SAFETY: the child only calls what may be called after a fork, and ends in `execv` or `_exit`.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        // SAFETY: all pointers are to memory made before the fork; the list of arguments ends with null.
        unsafe { child(program, &pointers, &filter, [&go_out, &go_in, &failure_in].map(AsRawFd::as_raw_fd)) }
    }
    check(pid.into()).map_err(fail)?;
    drop(go_out);
    drop(failure_in);
    // SAFETY: seizing takes no address, and options as data.
    let seized = unsafe { libc::ptrace(libc::PTRACE_SEIZE, pid, 0usize, OPTIONS as usize) };
    if let Err(error) = check(seized) {
        // The child ends when there is nobody to tell it to go on.
        drop(go_in);
        // SAFETY: a null status is allowed.
        unsafe { libc::waitpid(pid, ptr::null_mut(), 0) };
        return Err((Step::Trace, error));
    }
    // SAFETY: one byte is read from a byte.
    let written = unsafe { libc::write(go_in.as_raw_fd(), [1u8].as_ptr().cast(), 1) };
    check(written as libc::c_long).map_err(fail)?;
    Ok(Started { pid, failure: File::from(failure_out) })
}

/// A pipe that no program inherits.
fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: there is room for two numbers.
    check(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) }.into())?;
    // SAFETY: both were just opened and belong to nobody else.
    Ok(unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) })
}

/// Becomes the program once it is traced.
///
/// # Safety
/// After a fork; `arguments` ends with null.
unsafe fn child(
    program: &CStr,
    arguments: &[*const libc::c_char],
    filter: &libc::sock_fprog,
    [go, go_in, failure]: [RawFd; 3],
) -> ! {
    // SAFETY: only calls that are allowed after a fork, on memory that outlives them.
    unsafe {
        // Or else it would wait for itself.
        libc::close(go_in);
        let mut byte = 0u8;
        if libc::read(go, (&raw mut byte).cast(), 1) != 1 {
            libc::_exit(127);
        }
        // Rust's programs ignore it, and what they start would, too.
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        let step = if libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
            || libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER as libc::c_ulong, filter, 0, 0)
                != 0
        {
            Step::Filter
        } else {
            libc::execv(program.as_ptr(), arguments.as_ptr());
            Step::Run
        };
        let mut told = [step as u8, 0, 0, 0, 0];
        told[1..].copy_from_slice(&(*libc::__errno_location()).to_ne_bytes());
        libc::write(failure, told.as_ptr().cast(), told.len());
        libc::_exit(127)
    }
}

/// What the child has told before it ended.
pub fn failed_step(told: &[u8]) -> Option<(Step, io::Error)> {
    let (&step, errno) = told.split_first()?;
    let errno = i32::from_ne_bytes(errno.try_into().ok()?);
    let step = if step == Step::Filter as u8 { Step::Filter } else { Step::Run };
    Some((step, io::Error::from_raw_os_error(errno)))
}

/// What became of a process or thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Exited(i32),
    /// Ended by this signal.
    Killed(i32),
    /// Begins, or begins again, after it was attached or stopped.
    Begun,
    /// All threads of the process were stopped by a signal.
    Halted,
    /// Made a call that the filter stops.
    Call,
    /// Came back from that call.
    Return,
    /// Has started another process or thread.
    Forked,
    /// Is another program now.
    Executed,
    /// Is to get this signal.
    Signal(i32),
}

/// Waits until something becomes of a traced process or thread; `None` if there is none left.
pub fn wait() -> io::Result<Option<(Tid, Change)>> {
    let mut status = 0;
    let tid = loop {
        // Only of what this thread has started: it alone may trace that.
        let of_mine = libc::__WALL | libc::__WNOTHREAD;
        // SAFETY: there is room for a status.
        match check(unsafe { libc::waitpid(-1, &raw mut status, of_mine) }.into()) {
            Ok(tid) => break tid as Tid,
            Err(error) if error.raw_os_error() == Some(libc::ECHILD) => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    };
    if libc::WIFEXITED(status) {
        return Ok(Some((tid, Change::Exited(libc::WEXITSTATUS(status)))));
    }
    if libc::WIFSIGNALED(status) {
        return Ok(Some((tid, Change::Killed(libc::WTERMSIG(status)))));
    }
    let signal = libc::WSTOPSIG(status);
    let change = match status >> 16 {
        libc::PTRACE_EVENT_SECCOMP => Change::Call,
        libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK | libc::PTRACE_EVENT_CLONE => Change::Forked,
        libc::PTRACE_EVENT_EXEC => Change::Executed,
        libc::PTRACE_EVENT_STOP if is_halt(signal) => Change::Halted,
        libc::PTRACE_EVENT_STOP => Change::Begun,
        _ if signal == libc::SIGTRAP | 0x80 => Change::Return,
        _ => Change::Signal(signal),
    };
    Ok(Some((tid, change)))
}

fn is_halt(signal: i32) -> bool {
    matches!(signal, libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU)
}

/// How a stopped thread goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Go {
    On,
    /// Until its call returns.
    ToReturn,
    /// It stays stopped, as its process is, until that goes on.
    Stay,
}

/// Lets a stopped thread go on, with a signal if that is not 0. A thread that was killed needs no more.
pub fn resume(tid: Tid, how: Go, signal: i32) {
    let request = match how {
        Go::On => libc::PTRACE_CONT,
        Go::ToReturn => libc::PTRACE_SYSCALL,
        Go::Stay => libc::PTRACE_LISTEN,
    };
    // SAFETY: these take no address, and a signal as data.
    unsafe { libc::ptrace(request, tid, 0usize, signal as usize) };
}

/// What a fork or a change of program has to tell: the new process, or the thread that did it.
pub fn message(tid: Tid) -> Option<Tid> {
    let mut message: libc::c_ulong = 0;
    // SAFETY: there is room for the message.
    let result = unsafe { libc::ptrace(libc::PTRACE_GETEVENTMSG, tid, 0usize, &raw mut message) };
    check(result).ok().map(|_| message as Tid)
}

/// Registers of a thread that is in a system call.
#[derive(Clone, Copy, Debug)]
pub struct Registers {
    /// Number of the call.
    pub call: libc::c_long,
    pub arguments: [u64; 6],
    /// What it returned, once it has.
    pub result: i64,
    pub pc: u64,
    pub sp: u64,
    pub fp: u64,
    /// Return address, where the architecture has it in a register.
    #[cfg(target_arch = "aarch64")]
    pub lr: u64,
}

/// The registers of a stopped thread; `None` if it was killed.
pub fn registers(tid: Tid) -> Option<Registers> {
    // SAFETY: plain numbers, for which zeros are values.
    let mut found: libc::user_regs_struct = unsafe { mem::zeroed() };
    let mut part = libc::iovec { iov_base: (&raw mut found).cast(), iov_len: size_of_val(&found) };
    // SAFETY: `part` says where the registers go and how much room there is.
    let result =
        unsafe { libc::ptrace(libc::PTRACE_GETREGSET, tid, libc::NT_PRSTATUS as usize, &raw mut part) };
    // A thread of another architecture has fewer.
    (check(result).is_ok() && part.iov_len == size_of_val(&found)).then(|| told(&found))
}

#[cfg(target_arch = "x86_64")]
fn told(r: &libc::user_regs_struct) -> Registers {
    Registers {
        call: r.orig_rax as libc::c_long,
        arguments: [r.rdi, r.rsi, r.rdx, r.r10, r.r8, r.r9],
        result: r.rax as i64,
        pc: r.rip,
        sp: r.rsp,
        fp: r.rbp,
    }
}

#[cfg(target_arch = "aarch64")]
fn told(r: &libc::user_regs_struct) -> Registers {
    let [a, b, c, d, e, f, ..] = r.regs;
    Registers {
        call: r.regs[8] as libc::c_long,
        arguments: [a, b, c, d, e, f],
        result: r.regs[0] as i64,
        pc: r.pc,
        sp: r.sp,
        fp: r.regs[29],
        lr: r.regs[30],
    }
}

/// Copies memory of a process from `address` on, as much as there is of `to`; how many bytes.
pub fn read_memory(tid: Tid, address: u64, to: &mut [u8]) -> usize {
    let mut pieces = [libc::iovec { iov_base: ptr::null_mut(), iov_len: 0 }; PIECES];
    let (mut at, end) = (address, address.saturating_add(to.len() as u64));
    let mut count = 0;
    // Page by page: of a piece that is not there as a whole, nothing need be copied.
    while at < end && count < PIECES {
        let next = (at / PAGE + 1).saturating_mul(PAGE).min(end);
        pieces[count] = libc::iovec { iov_base: at as *mut libc::c_void, iov_len: (next - at) as usize };
        (at, count) = (next, count + 1);
    }
    let local = libc::iovec { iov_base: to.as_mut_ptr().cast(), iov_len: (at - address) as usize };
    // SAFETY: `local` is `to` or its beginning; addresses of the other process are checked by the system.
    let read = unsafe { libc::process_vm_readv(tid, &raw const local, 1, pieces.as_ptr(), count as u64, 0) };
    usize::try_from(read).unwrap_or(0)
}

/// A handle of a process.
pub fn open_process(pid: Tid) -> io::Result<OwnedFd> {
    // SAFETY: numbers only.
    let fd = check(unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) })?;
    // SAFETY: it was just opened and belongs to nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as RawFd) })
}

/// An open file of a process, as one of ours.
pub fn duplicate(process: &OwnedFd, fd: i32) -> io::Result<OwnedFd> {
    // SAFETY: numbers only.
    let fd = check(unsafe { libc::syscall(libc::SYS_pidfd_getfd, process.as_raw_fd(), fd, 0) })?;
    // SAFETY: it was just opened and belongs to nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as RawFd) })
}

/// Device, inode, and when that was made (seconds, nanoseconds): inodes are used again.
pub type FileId = (u64, u64, i64, u32);

/// What the file system says of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileFacts {
    pub id: FileId,
    pub mode: u32,
    pub links: u32,
    pub bytes: u64,
}

impl FileFacts {
    pub fn is_regular(&self) -> bool {
        self.mode & libc::S_IFMT == libc::S_IFREG
    }
}

/// The facts of an open file.
pub fn facts(file: &OwnedFd) -> Option<FileFacts> {
    stat(file.as_raw_fd(), c"", libc::AT_EMPTY_PATH)
}

/// The facts of a file by its path; of a link, or of what it leads to.
pub fn facts_of(path: &CStr, follows: bool) -> Option<FileFacts> {
    stat(libc::AT_FDCWD, path, if follows { 0 } else { libc::AT_SYMLINK_NOFOLLOW })
}

fn stat(folder: RawFd, path: &CStr, flags: i32) -> Option<FileFacts> {
    // SAFETY: plain numbers, for which zeros are values.
    let mut found: libc::statx = unsafe { mem::zeroed() };
    let wanted = libc::STATX_BASIC_STATS | libc::STATX_BTIME;
    // SAFETY: the path ends with a zero, and there is room for the answer.
    let result = unsafe { libc::statx(folder, path.as_ptr(), flags, wanted, &raw mut found) };
    check(result.into()).ok()?;
    let device = u64::from(found.stx_dev_major) << 32 | u64::from(found.stx_dev_minor);
    Some(FileFacts {
        id: (device, found.stx_ino, found.stx_btime.tv_sec, found.stx_btime.tv_nsec),
        mode: found.stx_mode.into(),
        links: found.stx_nlink,
        bytes: found.stx_size,
    })
}

/// Where the next byte of an open file is read or written.
pub fn position(file: &OwnedFd) -> Option<u64> {
    // SAFETY: numbers only.
    u64::try_from(unsafe { libc::lseek(file.as_raw_fd(), 0, libc::SEEK_CUR) }).ok()
}

/// The flags that a file was opened with.
pub fn open_flags(file: &OwnedFd) -> i32 {
    // SAFETY: numbers only.
    unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETFL) }
}

/// Whom signals are passed on to; 0 for nobody.
static COMMAND: AtomicI32 = AtomicI32::new(0);

/// Signals that end or instruct a program.
const PASSED: [i32; 6] =
    [libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGHUP, libc::SIGUSR1, libc::SIGUSR2];

extern "C" fn pass_on(signal: i32, info: *const libc::siginfo_t, _: *const libc::c_void) {
    let pid = COMMAND.load(Ordering::Relaxed);
    // SAFETY: the system hands over a valid description.
    let is_from_a_program = unsafe { (*info).si_code } <= 0;
    // What a terminal sends, the command gets from it, too.
    if pid > 0 && is_from_a_program {
        // SAFETY: numbers only, and allowed in a handler.
        unsafe { libc::kill(pid, signal) };
    }
}

/// Passes signals on to a process from now on, instead of ending by them.
pub fn pass_signals_to(pid: Tid) {
    COMMAND.store(pid, Ordering::Relaxed);
    for signal in PASSED {
        // SAFETY: zeros are an action with no flags and an empty mask; the handler has the form that SA_SIGINFO asks
        // for.
        unsafe {
            let mut action: libc::sigaction = mem::zeroed();
            action.sa_sigaction = pass_on as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
            libc::sigaction(signal, &raw const action, ptr::null_mut());
        }
    }
}

/// The command has ended: signals that come now are taken and go to nobody.
pub fn pass_signals_no_more() {
    COMMAND.store(0, Ordering::Relaxed);
}

/// Signals do again what they do by default.
pub fn reset_signals() {
    for signal in PASSED {
        // SAFETY: the default needs no handler.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}
