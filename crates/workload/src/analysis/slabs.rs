//! Many items of one kind, in pieces.

/// Items that never move: no room is needed for a copy while they grow. Places given up are used again.
pub(super) struct Slabs<T> {
    slabs: Vec<Vec<T>>,
    free: Vec<u32>,
}

/// Items of a slab.
const SLAB: usize = 1 << 14;

impl<T> Slabs<T> {
    pub(super) fn new() -> Self {
        Slabs { slabs: Vec::new(), free: Vec::new() }
    }

    /// Keeps an item and says where.
    pub(super) fn put(&mut self, item: T) -> u32 {
        if let Some(at) = self.free.pop() {
            *self.get(at) = item;
            return at;
        }
        if self.slabs.last().is_none_or(|last| last.len() == SLAB) {
            self.slabs.push(Vec::with_capacity(SLAB));
        }
        let before = (self.slabs.len() - 1) * SLAB;
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
        &mut self.slabs[at as usize / SLAB][at as usize % SLAB]
    }

    #[inline]
    pub(super) fn see(&self, at: u32) -> &T {
        &self.slabs[at as usize / SLAB][at as usize % SLAB]
    }

    /// Places of items, those given up as well.
    pub(super) fn len(&self) -> usize {
        self.slabs.last().map_or(0, |last| (self.slabs.len() - 1) * SLAB + last.len())
    }

    /// All items, those given up as well.
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.slabs.iter().flatten()
    }
}
