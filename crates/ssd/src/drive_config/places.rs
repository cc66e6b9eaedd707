//! Where each key was set last. What many configurations begin with, they share.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::config::Origin;

/// The place of each key that has not its default.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    /// Those that others begin with as well.
    shared: Arc<BTreeMap<String, Origin>>,
    /// Sections of which nothing shared holds: their policy is another.
    gone: Vec<String>,
    own: BTreeMap<String, Origin>,
}

impl PartialEq for Places {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Places {
    /// The same, whose copies share all of them.
    pub(super) fn shared(self) -> Self {
        let all = self.iter().map(|(key, origin)| (key.clone(), origin.clone())).collect();
        Places { shared: Arc::new(all), ..Places::default() }
    }

    pub(super) fn get(&self, key: &str) -> Option<&Origin> {
        let shared = || self.shared.get(key).filter(|_| !self.is_gone(key));
        self.own.get(key).or_else(shared)
    }

    pub(super) fn insert(&mut self, key: String, origin: Origin) {
        self.own.insert(key, origin);
    }

    /// No key of a section is set any more.
    pub(super) fn forget(&mut self, section: &str) {
        let prefix = format!("{section}.");
        self.own.retain(|key, _| !key.starts_with(&prefix));
        self.gone.push(prefix);
    }

    fn is_gone(&self, key: &str) -> bool {
        self.gone.iter().any(|prefix| key.starts_with(prefix.as_str()))
    }

    /// All of them, in the order of their keys.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&String, &Origin)> {
        let holds = |(key, _): &(&String, &Origin)| !self.is_gone(key) && !self.own.contains_key(*key);
        let mut all: Vec<_> = self.shared.iter().filter(holds).chain(&self.own).collect();
        all.sort_unstable_by_key(|(key, _)| *key);
        all.into_iter()
    }
}
