//! A drive that is left alone comes to rest, and one that somebody waits for answers: neither goes on without end.

use super::spans::Spans;
use super::{Run, Verdict, record, tell};
use ssd::flash::op::{Cause, OpKind};
use ssd::{Completion, Drive};

/// After so many events what has happened is taken; and so often until a drive should have come to rest. Drives whose
/// blocks differ in age take half of that to make them equal, with nothing else to do; others a hundredth.
const AT_ONCE: u32 = 10_000;
const OFTEN: u32 = 1_000;

/// Lets everything happen that is under way; what has completed meanwhile.
fn ended(drive: &mut Drive) -> Result<Vec<Completion>, String> {
    let mut completed = Vec::new();
    for _ in 0..OFTEN {
        let mut left = AT_ONCE;
        while drive.advance_to_completion_within(&mut left) {
            completed.extend(std::iter::from_fn(|| drive.pop_completion()));
        }
        if left > 0 {
            return Ok(completed);
        }
    }
    Err(format!("the drive does not come to rest in {} events: {}", AT_ONCE * OFTEN, busy_with(drive)))
}

/// Operations that a drive goes on with, by what they do and why.
fn busy_with(drive: &mut Drive) -> String {
    let before = drive.stats().flash.ops;
    let mut left = AT_ONCE;
    while drive.advance_to_completion_within(&mut left) {
        drive.pop_completion();
    }
    let ops = drive.stats().flash.ops;
    let kinds = OpKind::ALL.into_iter().flat_map(|kind| Cause::ALL.map(|cause| (kind, cause)));
    let grown = kinds.map(|(kind, cause)| {
        (kind, cause, ops[kind as usize][cause as usize] - before[kind as usize][cause as usize])
    });
    let named = grown.filter(|(.., count)| *count > 0);
    named
        .map(|(kind, cause, count)| format!("{count} {kind:?} {}", cause.name()))
        .collect::<Vec<_>>()
        .join(", ")
}

impl Run {
    /// Lets everything happen that is under way.
    pub(super) fn rest(&mut self) -> Verdict {
        for _ in 0..OFTEN {
            let mut left = AT_ONCE;
            while self.drive.advance_to_completion_within(&mut left) {
                self.collect()?;
            }
            if left > 0 {
                return Ok(());
            }
            self.effects()?;
        }
        Err(format!("the drive does not come to rest in {} events: {}", AT_ONCE * OFTEN, self.busy_with()))
    }

    /// Operations that it goes on with, by what they do and why.
    fn busy_with(&self) -> String {
        busy_with(&mut self.drive.clone())
    }

    /// Lets things happen until a completion waits (true) or nothing is left to happen (false).
    pub(super) fn wait(&mut self) -> Result<bool, String> {
        for _ in 0..OFTEN {
            let mut left = AT_ONCE;
            let waits = self.drive.advance_to_completion_within(&mut left);
            if waits || left > 0 {
                return Ok(waits);
            }
            self.effects()?;
        }
        Err(format!(
            "nothing completes in {} events: {}; {}",
            AT_ONCE * OFTEN,
            self.busy_with(),
            self.oracle.under_way()
        ))
    }

    /// What is written below the buffer lets the drive come to rest first, as it is and with an empty buffer.
    pub(super) fn would_rest(&self) -> Verdict {
        let mut twin = self.drive.clone();
        twin.record_effects(false);
        ended(&mut twin)?;
        twin.flush_buffer();
        ended(&mut twin).map(|_| ())
    }

    /// Saves the drive and goes on with the restored one; both must go the same way.
    pub(super) fn snapshot(&mut self) -> Verdict {
        self.collect()?;
        let mut bytes = Vec::new();
        self.drive.save(&mut bytes).map_err(|error| error.to_string())?;
        let mut restored = Drive::restore(&self.cfg, &bytes).map_err(|error| error.to_string())?;
        let mut again = Vec::new();
        restored.save(&mut again).map_err(|error| error.to_string())?;
        if bytes != again {
            return Err("a restored drive is saved differently".to_owned());
        }
        for drive in [&mut self.drive, &mut restored] {
            tell(drive, &self.ahead);
        }
        let mut twin = restored.clone();
        record(&mut restored, self.chips.is_some());
        let mut old = std::mem::replace(&mut self.drive, restored);
        // It is asked for only before anything is under way.
        let tells = self.spans.is_some() && self.drive.next_event_at().is_none();
        if let Some(spans) = &mut self.spans {
            spans.check(&mut old)?;
        }
        self.spans = tells.then(|| Spans::begin(&mut self.drive));
        let completed = (ended(&mut old)?, ended(&mut twin)?);
        let same =
            (old.event_hash(), old.stats(), old.now()) == (twin.event_hash(), twin.stats(), twin.now());
        if !same || completed.0 != completed.1 {
            return Err("a restored drive goes another way".to_owned());
        }
        Ok(())
    }
}
