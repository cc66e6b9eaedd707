//! What is measured while a run goes on: of each request, of the drive in intervals and in a window, of what lies in
//! flash.

pub mod fio_tally;
pub mod forensics;
pub mod latency_counts;
pub mod meter;
pub mod progress;
pub mod request_log;
pub mod series;
pub mod stalls;
pub mod steps;
pub mod tail;
pub mod timeline;
pub mod versions;
pub mod watch;
pub mod windows;
