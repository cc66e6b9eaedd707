//! Which blocks of the file system are free: a bit for each unit, in groups, searched from where the last search
//! ended (next fit).

/// A run of units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Extent {
    pub start: u32,
    pub len: u32,
}

impl Extent {
    pub(super) fn end(self) -> u32 {
        self.start + self.len
    }
}

/// The space of a file system.
#[derive(Clone)]
pub(super) struct Space {
    /// A set bit is a used unit.
    used: Vec<u64>,
    units: u32,
    /// Units of a group.
    group: u32,
    /// Free units of each group.
    free_in: Vec<u32>,
    /// No hole of a group is longer than this.
    hole_max: Vec<u32>,
    free: u32,
    cursor: u32,
}

impl Space {
    /// All free.
    pub(super) fn new(units: u32, group: u32) -> Self {
        let groups = units.div_ceil(group);
        let size = |g: u32| group.min(units - g * group);
        Space {
            used: vec![0; units.div_ceil(64) as usize],
            units,
            group,
            free_in: (0..groups).map(size).collect(),
            hole_max: (0..groups).map(size).collect(),
            free: units,
            cursor: 0,
        }
    }

    /// Free units.
    pub(super) fn free(&self) -> u32 {
        self.free
    }

    /// The search begins at the start again.
    pub(super) fn rewind(&mut self) {
        self.cursor = 0;
    }

    /// Groups there are.
    pub(super) fn groups(&self) -> u32 {
        self.free_in.len() as u32
    }

    /// The holes of a group.
    pub(super) fn holes(&self, group: u32) -> impl Iterator<Item = Extent> {
        let end = ((group + 1) * self.group).min(self.units);
        let mut at = group * self.group;
        std::iter::from_fn(move || {
            let start = self.next(at, end, false);
            at = self.next(start, end, true);
            (start < end).then(|| Extent { start, len: at - start })
        })
    }

    /// The group of a unit.
    pub(super) fn group_of(&self, unit: u32) -> u32 {
        unit / self.group
    }

    #[inline]
    fn is_used(&self, unit: u32) -> bool {
        self.used[(unit / 64) as usize] >> (unit % 64) & 1 == 1
    }

    /// The first unit from `from` on, below `to`, that is used (or free).
    #[inline]
    fn next(&self, from: u32, to: u32, is_used: bool) -> u32 {
        let mut at = from;
        while at < to {
            let word = self.used[(at / 64) as usize];
            let rest = if is_used { word } else { !word } >> (at % 64);
            if rest != 0 {
                return (at + rest.trailing_zeros()).min(to);
            }
            at = (at / 64 + 1) * 64;
        }
        to
    }

    /// Marks a free run as used.
    pub(super) fn take(&mut self, extent: Extent) {
        self.mark(extent, true);
        self.free -= extent.len;
    }

    /// Marks a used run as free.
    pub(super) fn give_back(&mut self, extent: Extent) {
        self.mark(extent, false);
        self.free += extent.len;
    }

    fn mark(&mut self, extent: Extent, is_used: bool) {
        let mut at = extent.start;
        while at < extent.end() {
            let bits = (64 - at % 64).min(extent.end() - at);
            let mask = (u64::MAX >> (64 - bits)) << (at % 64);
            let word = &mut self.used[(at / 64) as usize];
            assert_eq!(*word & mask, if is_used { 0 } else { mask }, "a block was given twice, or never");
            *word ^= mask;
            let group = (at / self.group) as usize;
            // Words do not cross groups: a group is a multiple of 64 units.
            if is_used {
                self.free_in[group] -= bits;
                self.hole_max[group] = self.hole_max[group].min(self.free_in[group]);
            } else {
                self.free_in[group] += bits;
                // It may have joined a hole on either side.
                self.hole_max[group] = (2 * self.hole_max[group] + bits).min(self.free_in[group]);
            }
            at += bits;
        }
    }

    /// Takes up to `wanted` units: those behind `goal` if they are free; else the first hole that holds them all, from
    /// the end of the last search on; else the first hole there is. `None` if nothing is free.
    pub(super) fn allocate(&mut self, wanted: u32, goal: Option<u32>) -> Option<Extent> {
        if let Some(goal) = goal.filter(|&goal| goal < self.units && !self.is_used(goal)) {
            let end = self.next(goal, (goal.saturating_add(wanted)).min(self.units), true);
            let extent = Extent { start: goal, len: end - goal };
            self.take(extent);
            return Some(extent);
        }
        if self.free == 0 {
            return None;
        }
        let found = self.find(wanted.min(self.group)).or_else(|| self.find(1))?;
        let extent = Extent { start: found.start, len: found.len.min(wanted) };
        self.take(extent);
        self.cursor = if extent.end() >= self.units { 0 } else { extent.end() };
        Some(extent)
    }

    /// The first hole of at least so many units, from the cursor on and round; holes end with their group.
    fn find(&mut self, wanted: u32) -> Option<Extent> {
        let groups = self.free_in.len() as u32;
        let first = self.group_of(self.cursor);
        for step in 0..=groups {
            let group = (first + step) % groups;
            if self.hole_max[group as usize] < wanted {
                continue;
            }
            let (start, end) = (group * self.group, ((group + 1) * self.group).min(self.units));
            // The first group twice: its end, and at last its beginning.
            let from = if step == 0 { self.cursor } else { start };
            let to = if step == groups { self.cursor.max(start) } else { end };
            let mut longest = 0;
            let mut at = self.next(from, to, false);
            while at < to {
                let hole = Extent { start: at, len: self.next(at, end, true) - at };
                if hole.len >= wanted {
                    return Some(hole);
                }
                longest = longest.max(hole.len);
                at = self.next(hole.end(), to, false);
            }
            if from == start && to == end {
                self.hole_max[group as usize] = longest;
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssd::rng::Rng;

    #[test]
    fn next_fit_by_hand() {
        let mut space = Space::new(256, 128);
        let take = |space: &mut Space, n, goal| space.allocate(n, goal).map(|e| (e.start, e.len));
        assert_eq!(take(&mut space, 10, None), Some((0, 10)));
        assert_eq!(take(&mut space, 20, None), Some((10, 20)));
        space.give_back(Extent { start: 0, len: 10 });
        // On from the cursor, though there is a hole before it.
        assert_eq!(take(&mut space, 5, None), Some((30, 5)));
        // Behind its own end.
        assert_eq!(take(&mut space, 4, Some(35)), Some((35, 4)));
        // The rest of the first group is 89 long.
        assert_eq!(take(&mut space, 100, None), Some((128, 100)));
        assert_eq!(take(&mut space, 89, None), Some((39, 89)));
        assert_eq!(take(&mut space, 28, None), Some((228, 28)));
        assert_eq!(take(&mut space, 11, None), Some((0, 10)));
        assert_eq!((take(&mut space, 1, None), space.free()), (None, 0));
    }

    #[test]
    fn never_gives_a_unit_twice_and_finds_all() {
        let mut rng = Rng::named(1, "space");
        let mut space = Space::new(3000, 512);
        let mut owned: Vec<Extent> = Vec::new();
        for _ in 0..20_000 {
            if rng.below(2) == 0 && !owned.is_empty() {
                let at = rng.below(owned.len() as u32) as usize;
                space.give_back(owned.swap_remove(at));
            } else {
                let goal = (rng.below(3) == 0).then(|| rng.below(3000));
                match space.allocate(1 + rng.below(60), goal) {
                    Some(extent) => owned.push(extent),
                    None => assert_eq!(owned.iter().map(|e| e.len).sum::<u32>(), 3000),
                }
            }
            assert_eq!(space.free() + owned.iter().map(|e| e.len).sum::<u32>(), 3000);
        }
        owned.sort_unstable();
        assert!(owned.windows(2).all(|pair| pair[0].end() <= pair[1].start));
    }
}
