//! What a run cost, processor time and memory of the calling process, and as whom it acts.

use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

/// Processor time used so far by all threads of this process, user and system.
///
/// The honest clock for "how fast is the simulator" on a machine that others use too. Zero if the system cannot say.
pub fn cpu_time() -> Duration {
    clock(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// Processor time used so far by the calling thread alone: the cost of one run among several on other threads.
/// Zero if the system cannot say.
pub fn thread_cpu_time() -> Duration {
    clock(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// The number of the user as whom the process acts.
pub fn effective_user() -> u32 {
    // SAFETY: it takes nothing and always succeeds (POSIX geteuid).
    unsafe { libc::geteuid() }
}

/// Reads one of the system's clocks.
fn clock(id: libc::clockid_t) -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid place for the result (POSIX clock_gettime).
    let failed = unsafe { libc::clock_gettime(id, &raw mut time) } != 0;
    if failed {
        return Duration::ZERO;
    }
    let nanoseconds = u32::try_from(time.tv_nsec).unwrap_or(0);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), nanoseconds)
}

/// Waits until something takes what is written to it, or would fail at once; false when that has not come by then.
pub fn is_writable(file: BorrowedFd<'_>, wait: Duration) -> bool {
    let mut one = libc::pollfd { fd: file.as_raw_fd(), events: libc::POLLOUT, revents: 0 };
    let milliseconds = libc::c_int::try_from(wait.as_millis()).unwrap_or(libc::c_int::MAX);
    // SAFETY: `one` is a valid list of one file, which stays open meanwhile (POSIX poll).
    let ready = unsafe { libc::poll(&raw mut one, 1, milliseconds) };
    // A signal may come in between.
    ready > 0 || ready < 0 && std::io::Error::last_os_error().kind() != std::io::ErrorKind::Interrupted
}

/// Sends a signal to a process that the caller has started and not waited for; whether it could be.
pub fn send(process: u32, signal: u8) -> bool {
    let Ok(process) = libc::pid_t::try_from(process) else { return false };
    // SAFETY: it takes numbers only (POSIX kill); that of a child that nobody has waited for is no other process's.
    process > 0 && unsafe { libc::kill(process, libc::c_int::from(signal)) } == 0
}

/// The largest resident set so far, in bytes (Linux `VmHWM`); `None` where the system does not report it.
pub fn peak_rss_bytes() -> Option<u64> {
    status_bytes("VmHWM:")
}

/// The resident set now, in bytes (Linux `VmRSS`); `None` where the system does not report it.
pub fn rss_bytes() -> Option<u64> {
    status_bytes("VmRSS:")
}

/// Reads one size from `/proc/self/status` (Linux, `man 5 proc_pid_status`).
fn status_bytes(key: &str) -> Option<u64> {
    parse_status(&std::fs::read_to_string("/proc/self/status").ok()?, key)
}

/// The bytes of a line such as `VmHWM:     2092 kB`.
fn parse_status(status: &str, key: &str) -> Option<u64> {
    let value = status.lines().find_map(|line| line.strip_prefix(key))?;
    let kibibytes: u64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_grows_with_work() {
        let start = cpu_time();
        let mut state = 1u64;
        while cpu_time() - start < Duration::from_millis(20) {
            (0..10_000).for_each(|i| state = std::hint::black_box(state.wrapping_mul(31).wrapping_add(i)));
        }
        assert!(cpu_time() > start);
    }

    #[test]
    fn a_thread_is_not_charged_for_others() {
        let mine = thread_cpu_time();
        let theirs = std::thread::spawn(|| {
            let mut state = 1u64;
            while thread_cpu_time() < Duration::from_millis(20) {
                (0..10_000)
                    .for_each(|i| state = std::hint::black_box(state.wrapping_mul(31).wrapping_add(i)));
            }
            thread_cpu_time()
        });
        let theirs = theirs.join().expect("the thread only counts");
        assert!(theirs >= Duration::from_millis(20));
        assert!(thread_cpu_time() - mine < Duration::from_millis(20));
    }

    #[test]
    fn status_lines_are_read_in_kibibytes() {
        let status = "Name:\twordline\nVmHWM:\t    2092 kB\nVmRSS:\t    1024 kB\n";
        assert_eq!(parse_status(status, "VmHWM:"), Some(2092 * 1024));
        assert_eq!(parse_status(status, "VmRSS:"), Some(1024 * 1024));
        assert_eq!(parse_status(status, "VmSwap:"), None);
        assert_eq!(parse_status("VmHWM: much kB", "VmHWM:"), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_peak_is_at_least_what_was_touched() {
        let block = std::hint::black_box(vec![1u8; 32 << 20]);
        let peak = peak_rss_bytes().expect("Linux reports the peak");
        assert!(peak >= block.len() as u64, "peak {peak}");
    }
}
