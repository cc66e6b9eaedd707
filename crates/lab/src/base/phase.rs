//! What an experiment is doing.

/// What a long experiment is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Another run is ageing the same drive, which will be kept.
    Waiting,
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
            Phase::Waiting => "waiting for another run to age this drive",
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
            Phase::Waiting => "seconds",
            Phase::LookingAhead | Phase::Running => "requests",
        }
    }
}
