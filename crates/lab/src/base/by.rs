//! Values by cause, by part of a request's life...: arrays in the program, objects with named members in JSON.

use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, SerializeMap, Serializer};
use ssd::Part;
use ssd::flash::op::Cause;
use ssd::signals::Priority;
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A closed set of things with names that values can be told apart by.
pub trait Axis: Copy + 'static {
    /// All of them, in order.
    const ALL: &'static [Self];
    /// Name in result files.
    fn name(self) -> &'static str;
    /// Place in [`Axis::ALL`].
    fn index(self) -> usize;
    /// Whether results of the same format may lack it, because it came later.
    fn came_later(self) -> bool {
        false
    }
}

impl Axis for Cause {
    const ALL: &'static [Self] = &Cause::ALL;
    fn name(self) -> &'static str {
        Cause::name(self)
    }
    fn index(self) -> usize {
        self as usize
    }
    fn came_later(self) -> bool {
        is_rare(self)
    }
}

/// Whether few drives do anything for a cause: tables show it only where it is there.
pub fn is_rare(cause: Cause) -> bool {
    cause as usize >= Cause::ReadReclaim as usize
}

impl Axis for Priority {
    const ALL: &'static [Self] = &Priority::ALL;
    fn name(self) -> &'static str {
        Priority::name(self)
    }
    fn index(self) -> usize {
        self as usize
    }
}

impl Axis for Part {
    const ALL: &'static [Self] = &Part::ALL;
    fn name(self) -> &'static str {
        Part::name(self)
    }
    fn index(self) -> usize {
        self as usize
    }
    fn came_later(self) -> bool {
        matches!(self, Part::Decode | Part::Suspended | Part::LinkWait | Part::BufferWait | Part::LockWait)
    }
}

/// One value for each of an axis: `By<Cause, u64>` is `{"host": 1, "merge": 0, ...}` in JSON.
#[derive(Clone, Debug, PartialEq)]
pub struct By<A, T> {
    values: Vec<T>,
    axis: PhantomData<A>,
}

impl<A: Axis, T> By<A, T> {
    /// The value that `value` gives for each.
    pub fn new(value: impl FnMut(A) -> T) -> Self {
        By { values: A::ALL.iter().copied().map(value).collect(), axis: PhantomData }
    }

    /// All values with what they belong to, in order.
    pub fn iter(&self) -> impl Iterator<Item = (A, &T)> {
        A::ALL.iter().copied().zip(&self.values)
    }
}

impl<A: Axis, T: Default> Default for By<A, T> {
    fn default() -> Self {
        By::new(|_| T::default())
    }
}

impl<A: Axis, T: Copy + std::iter::Sum<T>> By<A, T> {
    /// All of them together.
    pub fn sum(&self) -> T {
        self.values.iter().copied().sum()
    }
}

impl<A: Axis, T> Index<A> for By<A, T> {
    type Output = T;
    fn index(&self, of: A) -> &T {
        &self.values[of.index()]
    }
}

impl<A: Axis, T> IndexMut<A> for By<A, T> {
    fn index_mut(&mut self, of: A) -> &mut T {
        &mut self.values[of.index()]
    }
}

impl<A: Axis, T: Serialize> Serialize for By<A, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.values.len()))?;
        for (of, value) in self.iter() {
            map.serialize_entry(of.name(), value)?;
        }
        map.end()
    }
}

impl<'de, A: Axis, T: Deserialize<'de> + Default> Deserialize<'de> for By<A, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut found = BTreeMap::<String, T>::deserialize(deserializer)?;
        let take = |of: &A| match found.remove(of.name()) {
            Some(value) => Ok(value),
            None if of.came_later() => Ok(T::default()),
            None => Err(D::Error::missing_field(of.name())),
        };
        Ok(By { values: A::ALL.iter().map(take).collect::<Result<_, _>>()?, axis: PhantomData })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_named_in_json_and_none_may_be_missing() {
        let by = By::<Cause, u64>::new(|cause| cause as u64);
        let text = serde_json::to_string(&by).unwrap();
        assert_eq!(
            text,
            r#"{"host":0,"merge":1,"cleaning":2,"wear_leveling":3,"bad_block":4,"read_reclaim":5,"replication":6,"promote":7,"destage":8,"age_check":9,"sanitize":10,"refresh":11,"parity":12,"read_ahead":13}"#
        );
        assert_eq!(serde_json::from_str::<By<Cause, u64>>(&text).unwrap(), by);
        let error = serde_json::from_str::<By<Cause, u64>>(r#"{"host":0}"#).unwrap_err();
        assert!(error.to_string().contains("missing field `merge`"), "{error}");
        assert_eq!(by[Cause::Cleaning], 2);
        assert_eq!(by.sum(), 91);
    }

    #[test]
    fn parts_that_came_later_may_be_missing() {
        let by = By::<Part, u64>::new(|part| 1 + part as u64);
        let text = serde_json::to_string(&by).unwrap();
        let older = text.replace(r#","decode":13,"suspended":14,"lock_wait":15"#, "");
        let older = older.replace(r#""link_wait":4,"#, "").replace(r#""buffer_wait":6,"#, "");
        assert_eq!(older.matches(':').count(), 10, "{older}");
        let read = serde_json::from_str::<By<Part, u64>>(&older).unwrap();
        assert_eq!((read[Part::Decode], read[Part::Transfer], read[Part::LinkWait]), (0, 12, 0));
        assert!(serde_json::from_str::<By<Part, u64>>(&text.replace(r#""link":5,"#, "")).is_err());
    }
}
