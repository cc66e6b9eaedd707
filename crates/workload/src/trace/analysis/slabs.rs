//! Many items of one kind, in pieces.

/// Items that never move: no room is needed for a copy while they grow. Places given up are used again.
pub(super) struct Slabs<T> {
    slabs: Vec<Vec<T>>,
    free: Vec<u32>,
}

/// Bytes of a slab: whole huge pages of memory (2 MiB), which an allocator may give it. A slab of a little more than
/// some of them would take one more, which nobody counts.
const SLAB_BYTES: usize = 8 << 20;

impl<T> Slabs<T> {
    /// Items of a slab.
    const ITEMS: usize = SLAB_BYTES / size_of::<T>();

    pub(super) fn new() -> Self {
        Slabs { slabs: Vec::new(), free: Vec::new() }
    }

    /// Keeps an item and says where.
    pub(super) fn put(&mut self, item: T) -> u32 {
        if let Some(at) = self.free.pop() {
            *self.get(at) = item;
            return at;
        }
        if self.slabs.last().is_none_or(|last| last.len() == Self::ITEMS) {
            self.slabs.push(Vec::with_capacity(Self::ITEMS));
        }
        let before = (self.slabs.len() - 1) * Self::ITEMS;
        let last = self.slabs.last_mut().expect("there is one");
        last.push(item);
        (before + last.len() - 1) as u32
    }

    /// The place of an item may be used again.
    pub(super) fn give_up(&mut self, at: u32) {
        self.free.push(at);
    }

    #[inline]
    pub(super) fn get(&mut self, at: u32) -> &mut T {
        &mut self.slabs[at as usize / Self::ITEMS][at as usize % Self::ITEMS]
    }

    #[inline]
    pub(super) fn see(&self, at: u32) -> &T {
        &self.slabs[at as usize / Self::ITEMS][at as usize % Self::ITEMS]
    }

    /// Places of items, those given up as well.
    pub(super) fn len(&self) -> usize {
        self.slabs.last().map_or(0, |last| (self.slabs.len() - 1) * Self::ITEMS + last.len())
    }

    /// All items, those given up as well.
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.slabs.iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_stay_where_they_are_and_slabs_waste_nothing() {
        let mut slabs = Slabs::<[u64; 34]>::new();
        assert!((SLAB_BYTES - 272..=SLAB_BYTES).contains(&(Slabs::<[u64; 34]>::ITEMS * 272)));
        let count = 70_000u32;
        let places: Vec<u32> = (0..count).map(|n| slabs.put([u64::from(n); 34])).collect();
        assert!(places.iter().copied().eq(0..count) && slabs.len() == count as usize);
        assert!((0..count).all(|n| slabs.see(n)[33] == u64::from(n)));
        slabs.give_up(12_345);
        assert_eq!((slabs.put([7; 34]), slabs.get(12_345)[0], slabs.len()), (12_345, 7, count as usize));
    }
}
