//! What takes long to make of constants alone, made once for all drives of a process: tables of cells that age take up
//! to seconds, and experiments build and restore thousands of drives of the same part.
//!
//! What is kept depends on its key and on nothing else, so that no result can tell whether it was made or found.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Keeps what was used last.
pub struct Memo<K, V> {
    /// What all that is kept may weigh together.
    most: usize,
    weight: fn(&V) -> usize,
    /// The last used at the end.
    kept: Mutex<Vec<(K, Arc<OnceLock<V>>)>>,
}

impl<K: PartialEq + Clone, V: Clone> Memo<K, V> {
    /// Keeps nothing yet, and not more later than weighs `most`, or one thing that weighs more alone.
    pub const fn new(most: usize, weight: fn(&V) -> usize) -> Self {
        Memo { most, weight, kept: Mutex::new(Vec::new()) }
    }

    /// What was made of that key, or what is made of it now. Others who ask for the same meanwhile wait for it, those
    /// who ask for something else do not.
    pub fn get(&self, key: K, make: impl FnOnce(&K) -> V) -> V {
        let place = {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            let found = kept.iter().position(|(other, _)| *other == key).map(|at| kept.remove(at));
            let entry = found.unwrap_or_else(|| (key.clone(), Arc::default()));
            let place = Arc::clone(&entry.1);
            kept.push(entry);
            place
        };
        let value = place.get_or_init(|| make(&key)).clone();
        self.forget_oldest();
        value
    }

    fn forget_oldest(&self) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut weight, mut staying) = (0, 0);
        for (_, place) in kept.iter().rev() {
            weight += place.get().map_or(0, self.weight);
            if weight > self.most && staying > 0 {
                break;
            }
            staying += 1;
        }
        let over = kept.len() - staying;
        kept.drain(..over);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_last_is_kept() {
        let memo = Memo::new(40, |value| *value);
        let mut made = Vec::new();
        for key in [1, 2, 1, 3, 1, 2, 2, 5, 5, 1] {
            let value = memo.get(key, |key| {
                made.push(*key);
                10 * key
            });
            assert_eq!(value, 10 * key);
        }
        // 2 was forgotten for 3, and all for 5, which is more than fits.
        assert_eq!(made, [1, 2, 3, 2, 5, 1]);
    }

    #[test]
    fn who_asks_for_the_same_waits() {
        let (memo, made) = (Memo::new(1, |()| 1), Mutex::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| memo.get((), |()| *made.lock().unwrap() += 1));
            }
        });
        assert_eq!(*made.lock().unwrap(), 1);
    }
}
