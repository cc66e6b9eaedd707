//! Ctrl-C and the system's request to end: the first ends a run with what it has measured, the second ends the program.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use lab::Stop;
use signal_hook::consts::{SIGINT, SIGTERM, SIGXFSZ};
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
        for signal in [SIGINT, SIGTERM] {
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
