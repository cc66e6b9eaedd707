//! What was promised must be found in flash, whenever the power is cut.

use super::{Oracle, Verdict, bits};

impl Oracle {
    /// These granules must be in flash from now on, in this version or a later one.
    pub(super) fn promise(&mut self, parts: &[(u32, u64, u64)]) -> Verdict {
        for &(lpn, mask, clock) in parts {
            for g in bits(mask) {
                let durable = &mut self.durable[lpn as usize * self.shape.granules + g];
                *durable = (*durable).max(clock);
            }
            self.survives(lpn)?;
        }
        Ok(())
    }

    /// If the power is cut now, is everything of a unit that was promised in flash?
    pub(super) fn survives(&self, lpn: u32) -> Verdict {
        let stored = self.copies[lpn as usize].iter().filter_map(|&copy| self.flash[copy as usize].as_ref());
        let newest = stored.max_by_key(|stored| stored.sequence);
        self.is_kept(lpn, newest.map(|stored| &stored.data[..]))
    }

    /// Whether data of a unit is as new as was promised.
    fn is_kept(&self, lpn: u32, data: Option<&[u64]>) -> Verdict {
        for g in 0..self.shape.granules {
            let durable = self.durable[lpn as usize * self.shape.granules + g];
            let found = data.map_or(0, |data| data[g]);
            ensure!(
                durable <= self.trimmed[lpn as usize].max(self.lost[lpn as usize].0) || found >= durable,
                "unit {lpn} granule {g}: version {durable} was promised, flash holds {found}"
            );
        }
        Ok(())
    }

    /// Whether everything that was promised is in what somebody else finds.
    pub fn finds<'a>(&self, data: impl Fn(u32) -> Option<&'a [u64]>) -> Verdict {
        (0..self.units() as u32).try_for_each(|lpn| self.is_kept(lpn, data(lpn)))
    }

    /// Logical units.
    pub fn units(&self) -> usize {
        self.copies.len()
    }

    /// Whether there is such a logical unit, and such a unit of flash.
    pub fn has(&self, lpn: u32, unit: u32) -> bool {
        (lpn as usize) < self.copies.len() && (unit as usize) < self.flash.len()
    }

    /// What a slot holds, if it is of that unit.
    pub fn slot_data(&self, slot: u32, lpn: u32) -> Option<Vec<u64>> {
        self.slots.get(&slot).filter(|slot| slot.lpn == lpn).map(|slot| slot.data.clone())
    }

    /// What was put in a unit of flash.
    pub fn stored(&self, unit: u32) -> Option<Vec<u64>> {
        self.flash[unit as usize].as_ref().map(|stored| stored.data.clone())
    }

    /// The power is cut: everything that was promised is in flash.
    pub fn power_cut(&self) -> Verdict {
        (0..self.units() as u32).try_for_each(|lpn| self.survives(lpn))
    }
}
