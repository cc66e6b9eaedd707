//! The families whose policies may come from outside.

/// A family whose policies may come from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// `ftl.gc_victim`.
    GcVictim,
    /// `ftl.wear_leveling`.
    WearLeveling,
    /// `ftl.stream`.
    Stream,
}

impl Family {
    /// All of them.
    pub const ALL: [Family; 3] = [Family::GcVictim, Family::WearLeveling, Family::Stream];

    /// Name on the command line and in `[policy]`.
    pub const fn name(self) -> &'static str {
        match self {
            Family::GcVictim => "gc_victim",
            Family::WearLeveling => "wear_leveling",
            Family::Stream => "stream",
        }
    }

    /// The family of that name.
    pub fn named(name: &str) -> Option<Family> {
        Family::ALL.into_iter().find(|family| family.name() == name)
    }

    /// The symbol of a library's policy.
    pub fn symbol(self) -> String {
        format!("wordline_{}", self.name())
    }
}
