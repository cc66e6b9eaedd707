//! How files come and go in a capture: what must be known before the first call.

use crate::base::request::PAGE_BYTES;
use crate::files::capture::{Capture, Event, Op};

/// How files come and go in a capture.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Course {
    /// Most pages of all files at a time.
    pub(super) pages: u64,
    /// Most files at a time.
    pub(super) files: u32,
    /// The last event of each file: one that has lost its name and is still written to stays until then.
    pub(super) last: Vec<usize>,
    /// The context of each stack.
    pub(super) contexts: Vec<u32>,
}

impl Course {
    pub(super) fn of(capture: &Capture) -> Self {
        let mut sizes: Vec<Option<u64>> =
            capture.files.iter().map(|file| (file.size > 0).then_some(file.size)).collect();
        let mut last = vec![0; capture.files.len()];
        let owns = |event: &&Event| event.op != Op::Sync;
        for (at, event) in capture.events.iter().enumerate().filter(|(_, event)| owns(event)) {
            last[event.file as usize] = at;
        }
        // Bytes far behind the end that no drive has are an error later; the sum of several has room.
        let pages = |size: u64| u128::from(size.div_ceil(PAGE_BYTES));
        let mut now = sizes.iter().flatten().copied().map(pages).sum::<u128>();
        let mut files = sizes.iter().flatten().count() as u32;
        let (mut pages_max, mut files_max) = (now, files);
        let mut doomed = vec![false; sizes.len()];
        for (at, event) in capture.events.iter().enumerate().filter(|(_, event)| owns(event)) {
            let file = event.file as usize;
            let size = sizes[file].get_or_insert_with(|| {
                files += 1;
                0
            });
            let old = pages(*size);
            *size = length_after(event, *size);
            now = now - old + pages(*size);
            (pages_max, files_max) = (pages_max.max(now), files_max.max(files));
            doomed[file] |= event.op == Op::Unlink;
            if doomed[file] && last[file] == at {
                now -= pages(size.to_owned());
                sizes[file] = None;
                files -= 1;
            }
        }
        let pages = u64::try_from(pages_max).unwrap_or(u64::MAX);
        Course { pages, files: files_max, last, contexts: capture.contexts() }
    }
}

/// How long a file is after a call.
fn length_after(event: &Event, length: u64) -> u64 {
    match event.op {
        Op::Write | Op::Allocate => length.max(event.offset.saturating_add(event.size)),
        Op::Truncate => event.size,
        _ => length,
    }
}
