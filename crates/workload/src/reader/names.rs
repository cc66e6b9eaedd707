//! Names in a trace (processes, files, volumes) as numbers, in order of their first appearance.

use crate::base::pages::ChunkHasher;
use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::Arc;

/// Most names that are kept, and most bytes of all of them: memory must not grow with the length of a trace.
const NAMES_MAX: usize = 1 << 20;
const BYTES_MAX: usize = 64 << 20;
/// Names beyond that are told apart by a hash with this bit set.
const HASHED: u32 = 1 << 31;

/// Names and their numbers, from 1; 0 is no name.
#[derive(Default)]
pub(crate) struct Names {
    /// Only looked up, never walked.
    ids: HashMap<Arc<[u8]>, u32, BuildHasherDefault<ChunkHasher>>,
    names: Vec<Arc<[u8]>>,
    bytes: usize,
    /// The name of the line before.
    last: u32,
}

impl Names {
    /// The number of a name, a new one if it has none yet; 0 for no name.
    #[inline]
    pub(crate) fn id(&mut self, name: &[u8]) -> u32 {
        if self.name(self.last).is_some_and(|last| last == name) {
            return self.last;
        }
        self.find(name)
    }

    fn find(&mut self, name: &[u8]) -> u32 {
        if name.is_empty() {
            return 0;
        }
        if let Some(&id) = self.ids.get(name) {
            self.last = id;
            return id;
        }
        if self.names.len() >= NAMES_MAX || self.bytes + name.len() > BYTES_MAX {
            // FNV-1a (Fowler, Noll, Vo), 32 bits.
            let hash =
                name.iter().fold(0x811c_9dc5_u32, |hash, &b| (hash ^ u32::from(b)).wrapping_mul(0x0100_0193));
            return hash | HASHED;
        }
        let name: Arc<[u8]> = name.into();
        self.bytes += name.len();
        self.names.push(Arc::clone(&name));
        let id = self.names.len() as u32;
        self.ids.insert(name, id);
        self.last = id;
        id
    }

    /// The name of a number, if it is kept.
    #[inline]
    pub(crate) fn name(&self, id: u32) -> Option<&[u8]> {
        self.names.get((id as usize).wrapping_sub(1)).map(|name| &**name)
    }

    /// The first so many names, in order of their numbers.
    pub(crate) fn first(&self, count: usize) -> Vec<String> {
        self.names.iter().take(count).map(|name| String::from_utf8_lossy(name).into_owned()).collect()
    }
}

/// Most things that are told apart by searching: hosts, or devices of one block trace.
const FEW_MAX: usize = 256;

/// A few things and their numbers from 0, in order of appearance.
pub(crate) struct Few<T> {
    known: Vec<T>,
    /// That of the line before.
    last: usize,
}

/// Devices that are told by two numbers, major and minor.
pub(crate) type DeviceNumbers = Few<(u64, u64)>;

impl<T> Default for Few<T> {
    fn default() -> Self {
        Few { known: Vec::new(), last: 0 }
    }
}

impl<T> Few<T> {
    /// The number of a thing, a new one if it has none yet; `None` if there are too many.
    #[inline]
    pub(crate) fn id<Q>(&mut self, thing: &Q) -> Option<u16>
    where
        T: Borrow<Q>,
        Q: ToOwned<Owned = T> + PartialEq + ?Sized,
    {
        if self.known.get(self.last).is_none_or(|last| last.borrow() != thing) {
            self.last = self.find(thing)?;
        }
        Some(self.last as u16)
    }

    #[cold]
    fn find<Q>(&mut self, thing: &Q) -> Option<usize>
    where
        T: Borrow<Q>,
        Q: ToOwned<Owned = T> + PartialEq + ?Sized,
    {
        let known = self.known.iter().position(|known| known.borrow() == thing);
        if known.is_none() && self.known.len() < FEW_MAX {
            self.known.push(thing.to_owned());
            return Some(self.known.len() - 1);
        }
        known
    }
}

impl DeviceNumbers {
    /// `major,minor` of all, in order of their numbers.
    pub(crate) fn names(&self) -> Vec<String> {
        self.known.iter().map(|(major, minor)| format!("{major},{minor}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_numbered_as_they_appear() {
        let mut names = Names::default();
        let ids: Vec<u32> =
            ["java", "", "java", "kworker", "java", "kworker"].map(|n| names.id(n.as_bytes())).into();
        assert_eq!(ids, [1, 0, 1, 2, 1, 2]);
        assert_eq!((names.name(2), names.name(0), names.name(3)), (Some(&b"kworker"[..]), None, None));
        assert_eq!(names.first(1), ["java"]);
        let mut devices = DeviceNumbers::default();
        assert_eq!(
            [(8, 16), (259, 2), (8, 16)].map(|device| devices.id(&device)),
            [Some(0), Some(1), Some(0)]
        );
        assert_eq!(devices.names(), ["8,16", "259,2"]);
    }

    #[test]
    fn names_beyond_the_most_are_hashed_and_take_no_memory() {
        let mut names = Names { bytes: BYTES_MAX - 4, ..Names::default() };
        assert_eq!(names.id(b"four"), 1);
        let five = names.id(b"fives");
        assert!(five & HASHED != 0 && names.id(b"fives") == five && names.id(b"sixes") != five);
        assert_eq!((names.id(b"four"), names.names.len()), (1, 1));
    }
}
