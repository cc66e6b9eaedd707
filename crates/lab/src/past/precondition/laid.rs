//! A drive laid out like a die that was overwritten until it was steady.

use super::work::Work;
use crate::base::error::Failure;
use crate::base::phase::Phase;
use ssd::rng::Rng;
use ssd::{Lanes, Pace};
use workload::Scatter;

/// Units written at once.
pub(super) const BATCH: usize = 1024;

/// What is taken from a die.
pub(super) struct OneDie {
    /// At several moments, the live units of its full blocks in the order in which they were filled.
    pub moments: Vec<Vec<u32>>,
    /// Lanes of the die.
    pub lanes: u32,
    pub pace: Pace,
    /// Units programmed for each unit written, over a pass in steady state.
    pub write_amplification: f64,
}

impl OneDie {
    /// Writes a fresh drive so that its first `filled` units lie in blocks as full as the die's. Row by row, a block
    /// in each lane: the rows in the order in which the die's blocks were filled.
    pub fn lay_out(&self, work: &mut Work<'_>, seed: u64, filled: u32) -> Result<(), Failure> {
        let Lanes { units, erases, .. } = work.drive.blocks().lanes();
        let lanes = erases.len() as u32;
        let rows = self.moments.iter().map(Vec::len).min().unwrap_or(0) as u32 / self.lanes;
        let mut laying = Laying {
            die: self,
            stripe: work.drive.blocks().stripe_units(),
            rng: Rng::named(seed, "lab/precondition/one_die"),
            places: Scatter::new(u64::from(filled), seed),
            next: 0,
            filled,
            batch: Vec::with_capacity(BATCH),
            written: 0,
            total: u64::from(rows) * u64::from(lanes) * u64::from(units),
            by_host: 0.0,
        };
        for row in 0..rows {
            laying.row(work, (row, rows), lanes, units)?;
            work.tell(Phase::Filling, laying.written, laying.total)?;
        }
        // What has found no place yet: in the die it was in blocks that were being filled or emptied.
        while laying.next < filled {
            laying.push_live();
            if laying.batch.len() == BATCH || laying.next == filled {
                laying.write(work)?;
            }
        }
        Ok(())
    }
}

/// A drive that is being written like a die.
struct Laying<'a> {
    die: &'a OneDie,
    /// Units that go to one lane before the next has its turn.
    stripe: u32,
    rng: Rng,
    /// Which unit is the n-th of those that stay.
    places: Scatter,
    /// Units that have been written to stay; all others will be.
    next: u32,
    filled: u32,
    batch: Vec<u32>,
    written: u64,
    total: u64,
    /// Batches that are due to count as the host's.
    by_host: f64,
}

impl Laying<'_> {
    /// A block in each lane, as full as the die's block of that place in the order was at the lane's moment.
    fn row(
        &mut self,
        work: &mut Work<'_>,
        (row, rows): (u32, u32),
        lanes: u32,
        units: u32,
    ) -> Result<(), Failure> {
        let like = |lane: u32| {
            let moment = &self.die.moments[lane as usize % self.die.moments.len()];
            moment[row as usize * moment.len() / rows as usize]
        };
        // Live units that each lane's block has still to get.
        let mut live: Vec<u32> = (0..lanes).map(like).collect();
        let mut from = 0;
        while from < units {
            let count = self.stripe.min(units - from);
            for live in &mut live {
                for left in (units - from - count + 1..=units - from).rev() {
                    if self.next == self.filled {
                        return self.write(work);
                    }
                    // Which of them are live is as likely for all.
                    if self.rng.below(left) < *live {
                        *live -= 1;
                        self.push_live();
                    } else {
                        // A copy of a unit that is written again later.
                        let rank = self.next + self.rng.below(self.filled - self.next);
                        self.batch.push(self.places.place(u64::from(rank)) as u32);
                    }
                }
                if self.batch.len() + self.stripe as usize > BATCH {
                    self.write(work)?;
                }
            }
            from += count;
        }
        self.write(work)
    }

    fn push_live(&mut self) {
        self.batch.push(self.places.place(u64::from(self.next)) as u32);
        self.next += 1;
    }

    /// Writes what has gathered. As many batches count as the host's as make blocks as old as in the die.
    fn write(&mut self, work: &mut Work<'_>) -> Result<(), Failure> {
        self.by_host += 1.0 / self.die.write_amplification;
        let result = if self.by_host >= 1.0 {
            self.by_host -= 1.0;
            work.drive.past().overwrite(self.die.pace, &self.batch)
        } else {
            work.drive.past().place(self.die.pace, &self.batch)
        };
        let before = self.written;
        self.written += self.batch.len() as u64;
        self.batch.clear();
        result.map_err(|short| work.no_room(Phase::Filling, before + short.written, self.total))?;
        work.look(Phase::Filling)
    }
}
