//! What an experiment is doing, and how far it is.

/// What a long experiment is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Overwriting a single die, to see how full the blocks of the drive become.
    OneDie,
    /// Reading the workload beforehand, for a policy that looks ahead.
    LookingAhead,
    /// Writing the drive full, in order.
    Filling,
    /// Overwriting it at random.
    Overwriting,
    /// Making its cells older.
    Ageing,
    /// Serving the workload.
    Running,
}

impl Phase {
    /// What to tell a person.
    pub fn name(self) -> &'static str {
        match self {
            Phase::OneDie => "ageing a die",
            Phase::LookingAhead => "looking ahead",
            Phase::Filling => "filling",
            Phase::Overwriting => "overwriting",
            Phase::Ageing => "ageing",
            Phase::Running => "running",
        }
    }

    /// What is counted.
    pub fn unit(self) -> &'static str {
        match self {
            Phase::OneDie | Phase::Filling | Phase::Overwriting => "units",
            Phase::Ageing => "steps",
            Phase::LookingAhead | Phase::Running => "requests",
        }
    }
}

/// How far an experiment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What it is doing.
    pub phase: Phase,
    /// How much of it is done, in [`Phase::unit`]s.
    pub done: u64,
    /// How much there is, or at most is, where that is known.
    pub total: Option<u64>,
    /// Simulated time since the workload began; ns.
    pub simulated_ns: u64,
}
