//! Units that moves have read and that wait for a page, first come first served.

use crate::flash::op::UnitRef;
use crate::restore::keep_room;
use serde::{Deserialize, Serialize};

/// Units that wait, in the order in which they came: a list whose head is given up page by page. It allocates only
/// where more wait than it was made for.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(into = "Vec<UnitRef>", from = "Vec<UnitRef>")]
pub(in crate::ftl) struct Gathered {
    units: Vec<UnitRef>,
    /// Of them so many are gone already.
    gone: usize,
}

impl From<Gathered> for Vec<UnitRef> {
    fn from(gathered: Gathered) -> Self {
        gathered.all().to_vec()
    }
}

impl From<Vec<UnitRef>> for Gathered {
    fn from(units: Vec<UnitRef>) -> Self {
        Gathered { units, gone: 0 }
    }
}

impl Gathered {
    /// Nothing, and room for so many.
    pub fn with_capacity(units: usize) -> Self {
        Vec::with_capacity(units).into()
    }

    /// Takes the room of a fresh one.
    pub fn keep_room(&mut self, fresh: &Gathered) {
        keep_room(&mut self.units, &fresh.units);
    }

    /// All that wait.
    #[inline]
    pub fn all(&self) -> &[UnitRef] {
        &self.units[self.gone..]
    }

    /// How many wait.
    #[inline]
    pub fn len(&self) -> usize {
        self.units.len() - self.gone
    }

    /// Whether none waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One more waits.
    #[inline]
    pub fn push(&mut self, unit: UnitRef) {
        if self.units.len() == self.units.capacity() {
            self.close_up();
        }
        self.units.push(unit);
    }

    /// Uses the room of those that are gone.
    #[cold]
    #[inline(never)]
    fn close_up(&mut self) {
        self.units.drain(..self.gone);
        self.gone = 0;
    }

    /// Takes the first so many.
    #[inline]
    pub fn take(&mut self, count: usize, room: &mut [UnitRef]) {
        room[..count].copy_from_slice(&self.all()[..count]);
        self.gone += count;
        if self.gone == self.units.len() {
            self.units.clear();
            self.gone = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flash::op::UNITS_AT_MOST;

    /// First in, first out, beside a queue of the library, without growing beyond the room that it was made with.
    #[test]
    fn units_leave_in_the_order_in_which_they_came() {
        let mut gathered = Gathered::with_capacity(9);
        let room_for = gathered.units.capacity();
        let mut expected = std::collections::VecDeque::new();
        let mut rng = crate::rng::Rng::named(1, "gathered");
        let mut room = [UnitRef::PADDING; UNITS_AT_MOST];
        for at in 0..2_000 {
            if expected.len() < room_for {
                gathered.push(UnitRef::new(at, at));
                expected.push_back(UnitRef::new(at, at));
            }
            let count = rng.below(4).min(expected.len() as u32) as usize;
            gathered.take(count, &mut room);
            assert!(room[..count].iter().copied().eq(expected.drain(..count)));
            assert_eq!((gathered.len(), gathered.is_empty()), (expected.len(), expected.is_empty()));
            assert!(gathered.all().iter().eq(&expected));
        }
        assert_eq!(gathered.units.capacity(), room_for);
        let saved = postcard::to_allocvec(&gathered).unwrap();
        assert_eq!(saved, postcard::to_allocvec(&expected).unwrap());
        let read: Gathered = postcard::from_bytes(&saved).unwrap();
        assert_eq!(read.all(), gathered.all());
    }
}
