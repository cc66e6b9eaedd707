//! Units that moves have read, where data is sorted by the class of pages (`ftl/page_class`): a queue for each stream
//! and class. They wait until the queues of their stream hold what they can, or nothing more will join them.

use crate::flash::op::UnitRef;
use crate::ftl::page_class::nearest;
use crate::ftl::stream::StreamId;
use crate::list::{Links, List, Node};
use crate::restore::{Verdict, alike};
use serde::{Deserialize, Serialize};

/// A unit that waits, or a place where one can.
#[derive(Clone, Copy, Debug)]
struct Place {
    unit: UnitRef,
    links: Links,
}

impl Node for Place {
    #[inline]
    fn links(&self) -> Links {
        self.links
    }

    #[inline]
    fn links_mut(&mut self) -> &mut Links {
        &mut self.links
    }
}

/// The queues of a lane; nothing where data is not sorted.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(into = "Vec<Vec<UnitRef>>", from = "Vec<Vec<UnitRef>>")]
pub(in crate::ftl) struct Sorted {
    places: Vec<Place>,
    /// Places that are free.
    free: List,
    /// By stream, and within each by class.
    queues: Box<[List]>,
    classes: u8,
    /// From so many units on a stream's next page is programmed.
    enough: u32,
    waiting: u32,
}

impl From<Sorted> for Vec<Vec<UnitRef>> {
    fn from(sorted: Sorted) -> Self {
        sorted.queues.iter().map(|queue| sorted.all_of(queue).copied().collect()).collect()
    }
}

impl From<Vec<Vec<UnitRef>>> for Sorted {
    fn from(units: Vec<Vec<UnitRef>>) -> Self {
        let queues = vec![List::EMPTY; units.len()].into_boxed_slice();
        let mut sorted = Sorted { queues, ..Sorted::default() };
        let all =
            units.iter().enumerate().flat_map(|(queue, units)| units.iter().map(move |unit| (queue, unit)));
        all.for_each(|(queue, &unit)| sorted.put(queue, unit));
        sorted
    }
}

impl Sorted {
    /// Queues of so many streams and classes, which hold so many units of a stream together; there is room for some
    /// more.
    pub fn new(streams: usize, classes: u8, (enough, more): (u32, usize)) -> Self {
        Sorted {
            places: Vec::with_capacity(streams * (enough as usize + more)),
            queues: vec![List::EMPTY; streams * usize::from(classes)].into_boxed_slice(),
            classes,
            enough,
            ..Sorted::default()
        }
    }

    /// Whether data is sorted.
    #[inline]
    pub fn is_used(&self) -> bool {
        !self.queues.is_empty()
    }

    /// From so many units on a stream's next page is programmed.
    #[inline]
    pub fn enough(&self) -> u32 {
        self.enough
    }

    /// Whether no unit waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    #[inline]
    fn of(&self, stream: StreamId) -> &[List] {
        let classes = usize::from(self.classes);
        &self.queues[stream.index() * classes..][..classes]
    }

    /// Units of a stream that wait.
    #[inline]
    pub fn held(&self, stream: StreamId) -> u32 {
        self.of(stream).iter().map(|queue| queue.len()).sum()
    }

    /// Units that wait, by stream; nothing where data is not sorted.
    pub fn each_held(&self) -> impl Iterator<Item = u32> + '_ {
        self.queues
            .chunks(usize::from(self.classes.max(1)))
            .map(|of| of.iter().map(|queue| queue.len()).sum())
    }

    fn all_of(&self, queue: &List) -> impl Iterator<Item = &UnitRef> {
        let places = &self.places;
        let unit = |at: u32| places.get(at as usize);
        core::iter::successors(unit(queue.oldest()), move |place| unit(place.links.toward_newest()))
            .map(|place| &place.unit)
    }

    /// All that wait, with their queues, stream by stream.
    pub fn all(&self) -> impl Iterator<Item = (usize, &UnitRef)> {
        let classes = usize::from(self.classes.max(1));
        let queues = self.queues.iter().enumerate();
        queues.flat_map(move |(at, queue)| self.all_of(queue).map(move |unit| (at / classes, unit)))
    }

    #[inline]
    fn put(&mut self, queue: usize, unit: UnitRef) {
        let at = match self.free.oldest() {
            crate::units::NONE => {
                self.places.push(Place { unit, links: Links::NONE });
                self.places.len() as u32 - 1
            }
            at => {
                self.free.remove(&mut self.places, at);
                self.places[at as usize].unit = unit;
                at
            }
        };
        self.queues[queue].put(&mut self.places, at, false);
        self.waiting += 1;
    }

    /// One more waits, for a page of a class.
    #[inline]
    pub fn push(&mut self, stream: StreamId, class: u8, unit: UnitRef) {
        self.put(stream.index() * usize::from(self.classes) + usize::from(class), unit);
    }

    /// The unit of a stream that goes next to a page of a class; taken off, with whether that is its own.
    #[inline]
    pub fn take(&mut self, stream: StreamId, class: u8) -> Option<(UnitRef, bool)> {
        let queues = self.of(stream);
        let from = nearest(class, self.classes, |at| queues[usize::from(at)].len() > 0)?;
        Some((self.take_first(stream, from)?, from == class))
    }

    fn take_first(&mut self, stream: StreamId, class: u8) -> Option<UnitRef> {
        let queue = stream.index() * usize::from(self.classes) + usize::from(class);
        let at = self.queues[queue].oldest();
        let unit = self.places.get(at as usize)?.unit;
        self.queues[queue].remove(&mut self.places, at);
        self.free.put(&mut self.places, at, true);
        self.waiting -= 1;
        Some(unit)
    }

    /// The first unit of a stream's queues that is next in its own and dead; taken off.
    #[inline]
    pub fn take_dead(&mut self, stream: StreamId, is_dead: impl Fn(&UnitRef) -> bool) -> Option<UnitRef> {
        let next = |queue: &List| self.places.get(queue.oldest() as usize);
        let class =
            self.of(stream).iter().position(|queue| next(queue).is_some_and(|place| is_dead(&place.unit)))?;
        self.take_first(stream, class as u8)
    }

    /// Takes room and what follows from the configuration from a fresh one.
    pub fn restored(&mut self, fresh: &Sorted) -> Verdict {
        alike("queues of units that move", &self.queues, &fresh.queues)?;
        (self.classes, self.enough) = (fresh.classes, fresh.enough);
        crate::restore::keep_room(&mut self.places, &fresh.places);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use std::collections::VecDeque;

    /// Beside queues of the library, without growing beyond the room that it was made with.
    #[test]
    fn units_leave_by_class_in_the_order_in_which_they_came() {
        let mut sorted = Sorted::new(2, 3, (20, 5));
        let room_for = sorted.places.capacity();
        let mut expected: Vec<VecDeque<UnitRef>> = vec![VecDeque::new(); 6];
        let mut rng = Rng::named(1, "sorted");
        for at in 0..4_000 {
            let (stream, class) = (rng.below(2) as usize, rng.below(3));
            if rng.below(2) == 0 && sorted.held(StreamId(stream as u8)) < 25 {
                let unit = UnitRef::new(at, at).in_stream(stream as u8);
                sorted.push(StreamId(stream as u8), class as u8, unit);
                expected[3 * stream + class as usize].push_back(unit);
            } else {
                // By hand: which of three is nearest, of two the faster.
                let order = [[0, 1, 2], [1, 0, 2], [2, 1, 0]][class as usize];
                let from = order.into_iter().find(|&from| !expected[3 * stream + from].is_empty());
                let wanted = from
                    .map(|from| (expected[3 * stream + from].pop_front().unwrap(), from == class as usize));
                assert_eq!(sorted.take(StreamId(stream as u8), class as u8), wanted);
            }
            let held: Vec<u32> =
                expected.chunks(3).map(|of| of.iter().map(|q| q.len() as u32).sum()).collect();
            assert!(sorted.each_held().eq(held.iter().copied()));
            assert_eq!(sorted.is_empty(), held == [0, 0]);
        }
        assert_eq!(sorted.places.capacity(), room_for);
        let saved = postcard::to_allocvec(&sorted).unwrap();
        let mut read: Sorted = postcard::from_bytes(&saved).unwrap();
        read.restored(&Sorted::new(2, 3, (20, 5))).unwrap();
        assert!(sorted.all().eq(read.all()) && read.places.capacity() >= room_for);
        assert!(read.restored(&Sorted::new(2, 4, (20, 5))).is_err());
    }

    #[test]
    fn what_is_dead_is_found_where_it_is_next() {
        let mut sorted = Sorted::new(1, 2, (8, 0));
        for (lpn, class) in [(0, 0), (1, 0), (2, 1)] {
            sorted.push(StreamId(0), class, UnitRef::new(lpn, lpn));
        }
        let dead = |lpn: u32| move |unit: &UnitRef| unit.lpn == lpn;
        assert_eq!(sorted.take_dead(StreamId(0), dead(1)), None);
        assert_eq!(sorted.take_dead(StreamId(0), dead(2)).map(|unit| unit.lpn), Some(2));
        assert_eq!(sorted.take(StreamId(0), 1).map(|(unit, own)| (unit.lpn, own)), Some((0, false)));
        assert_eq!(sorted.take_dead(StreamId(0), dead(1)).map(|unit| unit.lpn), Some(1));
        assert!(sorted.is_empty());
    }
}
