//! Ctrl-C, the system's request to end, and a terminal that is gone: the first ends a run with what it has measured,
//! the second ends the program.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use lab::Stop;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;

/// Signals that were listened to.
pub struct Interrupt {
    /// What a run looks at.
    pub stop: Stop,
    signal: Arc<AtomicUsize>,
}

impl Interrupt {
    /// Listens from now on. Where the system refuses, signals end the program as they always do.
    pub fn listen() -> Self {
        let interrupt = Interrupt { stop: Stop::default(), signal: Arc::default() };
        interrupt.stop.stands_for_process();
        let hang_up = (!is_ignored(SIGHUP)).then_some(SIGHUP);
        for signal in [SIGINT, SIGTERM].into_iter().chain(hang_up) {
            // In this order: the flag that the first signal sets is what the second one finds.
            let _ = flag::register_conditional_shutdown(signal, 128 + signal, interrupt.stop.flag());
            let _ = flag::register(signal, interrupt.stop.flag());
            let _ = flag::register_usize(signal, Arc::clone(&interrupt.signal), signal as usize);
        }
        // A file that grows beyond the user's limit is an error of writing, which is told, and not the end.
        let _ = flag::register(SIGXFSZ, Arc::default());
        interrupt
    }

    /// The signal that came last.
    pub fn signal(&self) -> u8 {
        self.signal.load(Ordering::Relaxed) as u8
    }
}

/// Whether whoever started the program has it ignore a signal, as `nohup` does; unknown is no (Linux, `man 5
/// proc_pid_status`).
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}
