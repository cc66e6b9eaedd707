//! Giving a drive a past in no time: writes below the buffer, erases that nobody has seen, and what is left to do after
//! them.

use crate::drive::engine::State;
use crate::executor::{Executor, Pace};
use crate::ftl::write::waits::Lack;
use crate::units::BlockId;

/// A write below the buffer that could not be finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRoom {
    /// Units written before room ran out.
    pub written: u64,
}

/// What can be done to a drive in no time ([`Drive::past`](crate::Drive::past)).
pub struct Past<'a> {
    pub(crate) state: &'a mut State,
}

impl Past<'_> {
    /// Writes whole mapping units below the buffer, in no time: the quick way to a used drive. Units are packed in
    /// pages in the order given, by a host of this pace; cleaning runs as it must. What is under way is finished first.
    pub fn overwrite(&mut self, pace: Pace, units: &[u32]) -> Result<(), NoRoom> {
        self.write_below(pace, false, units)
    }

    /// Overwrites units that count as moved by cleaning, not as written by the host: blocks grow no older by them.
    pub fn place(&mut self, pace: Pace, units: &[u32]) -> Result<(), NoRoom> {
        self.write_below(pace, true, units)
    }

    fn write_below(&mut self, pace: Pace, moved: bool, units: &[u32]) -> Result<(), NoRoom> {
        let state = &mut *self.state;
        if state.host.outstanding() > 0 || state.host.unclean() > 0 || state.flash.pool.in_flight() > 0 {
            state.drain();
            state.flush_buffer();
            state.drain();
        }
        if state.host.read_only().is_some() {
            return Err(NoRoom { written: 0 });
        }
        // What the buffer still holds would hide what is written below it.
        let (host, mut below) = state.split();
        host.drop_clean(&mut below);
        let executor = state.executor;
        state.apply_executor(Executor::Functional);
        state.ftl.set_pace(pace);
        let mut written = 0;
        let mut stuck = false;
        while (written < units.len() || !state.ftl.direct.is_idle()) && !stuck {
            let result = state.ftl.write_directly(&mut state.flash, &units[written..], moved);
            written += result.unwrap_or_else(|count| count);
            if pace == Pace::Saturated && result.is_err() {
                state.ftl.check_lanes(&mut state.flash);
            }
            if state.ftl.moves.media.locks.bound.is_on() {
                state.ftl.look_at_candidates(&mut state.flash);
            }
            let cleaning = state.ftl.moves.media.is_carrying(&state.flash);
            state.carry_all();
            if result == Err(0) && !cleaning {
                // A block that was kept for what must leave pages may be the host's now.
                state.ftl.moves.media.waits.take_come(Lack::Page);
                state.ftl.retry(&mut state.flash);
                stuck = !state.ftl.moves.media.is_carrying(&state.flash)
                    && !state.ftl.moves.media.waits.take_come(Lack::Page);
                state.carry_all();
            }
        }
        if stuck {
            written -= state.ftl.direct.drop_rest();
        }
        state.apply_executor(executor);
        state.ftl.set_pace(Pace::Relaxed);
        state.ftl.moves.media.waits.take_come(Lack::Page);
        if stuck { Err(NoRoom { written: written as u64 }) } else { Ok(()) }
    }

    /// Does, in no time, what a drive that was written in no time at a pace has still to do before time passes, so that
    /// what is measured does not begin with it. Does a part of that, and says whether there is more; then ask again.
    ///
    /// What is exposed is locked, as in a long silence: what was written left no room for that. Where cleaning paces
    /// the host (`ftl.cleaning.paces_host`) and the host was faster than cleaning, what such a host would have waited
    /// for is cleaned.
    pub fn catch_up(&mut self, pace: Pace) -> bool {
        let state = &mut *self.state;
        let exposed = state.ftl.moves.media.locks.generations.exposed();
        let is_behind = pace == Pace::Saturated && state.ftl.moves.media.work.paces_host();
        if exposed == 0 && !is_behind || state.host.read_only().is_some() {
            return false;
        }
        state.drain();
        let executor = state.executor;
        state.apply_executor(Executor::Functional);
        if exposed > 0 {
            state.ftl.retry_locks(&mut state.flash);
            state.carry_all();
        }
        let goes_on = (1..exposed).contains(&state.ftl.moves.media.locks.generations.exposed());
        if is_behind && !goes_on {
            state.ftl.catch_up(&mut state.flash);
            state.carry_all();
            state.ftl.set_pace(Pace::Relaxed);
        }
        state.apply_executor(executor);
        state.ftl.moves.media.waits.take_come(Lack::Page);
        goes_on
    }

    /// Writes `units` consecutive mapping units from unit `from` below the buffer, in no time.
    pub fn fill(&mut self, from: u32, units: u32) -> Result<(), NoRoom> {
        const AT_ONCE: u32 = 4096;
        let mut lpns = [0; AT_ONCE as usize];
        let mut done = 0;
        while done < units {
            let count = (units - done).min(AT_ONCE);
            for (i, lpn) in (0..count).zip(&mut lpns) {
                *lpn = from + done + i;
            }
            self.overwrite(Pace::Relaxed, &lpns[..count as usize])
                .map_err(|short| NoRoom { written: u64::from(done) + short.written })?;
            done += count;
        }
        Ok(())
    }

    /// Ages blocks: the erase count of each block (superblocks count as one) becomes `count(block)`.
    pub fn set_erase_counts(&mut self, mut count: impl FnMut(u32) -> u32) {
        let State { ftl, flash, .. } = &mut *self.state;
        for block in 0..ftl.moves.media.tables.layout.blocks() {
            ftl.set_erase_count(flash, BlockId(block), count(block));
        }
    }
}
