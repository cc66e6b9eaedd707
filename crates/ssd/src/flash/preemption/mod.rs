//! What happens to a die's work when a read arrives that could go first?
//!
//! The mechanism (`flash/suspend.rs`) asks when the read that would go next finds its die at work, and carries out the
//! answer: it stops the work at once, or where its step ends, lets reads pass, and resumes it. What a chip cannot stop
//! it is not asked about.

use crate::signals::{PRIORITIES, Priority};

family! {
    /// What happens to a die's work when a read arrives that could go first?
    path "flash/preemption", default none;
    members {
        none: None,
        immediate: Immediate,
        safe_point: SafePoint,
        priority_aware: PriorityAware,
    }
    methods {
        /// Whether it ever stops anything.
        fn acts(&self) -> bool {
            true
        }
        /// What becomes of the work.
        fn answer(&self, view: &View) -> Answer {
            Answer::Wait
        }
        /// What work that is stopped at once loses.
        fn loses(&self) -> Loses {
            Loses::Nothing
        }
        /// How long work runs, once resumed, before it is stopped again.
        fn min_run_ns(&self) -> u64 {
            0
        }
        /// Whether it tells priorities apart: what moves is read as the host's low reads are, if it is not urgent; a
        /// high read goes before what reads have made due; and how long one waits alone is bounded.
        fn is_priority_aware(&self) -> bool {
            false
        }
    }
}

choice! {
    /// What an operation that is stopped at once loses of its array time.
    pub enum Loses {
        /// Nothing: it goes on where it was stopped.
        Nothing = "nothing",
        /// The step in progress, a loop of a program or a step of an erase: that is done again.
        Step = "step",
        /// All of it: it begins anew.
        Operation = "operation",
    }
}

/// What a die's array does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Running {
    /// Senses a page for a read of a priority.
    Read(Priority),
    /// Programs a page, or copies one.
    Program,
    /// Erases a block.
    Erase,
}

/// What is known when a read finds its die at work.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// The work.
    pub running: Running,
    /// How urgent the read is.
    pub by: Priority,
    /// Of a move that cannot wait: reads have made it due, or its lane has no free block beside the reserve.
    pub is_critical: bool,
    /// How often an erase was stopped at once so far, by the priority of the reads.
    pub at_once: [u32; PRIORITIES],
    /// Host reads at the die between the beginnings of the erase before and of this one, by priority.
    pub reads: [u64; PRIORITIES],
}

/// What becomes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It goes on to its end.
    Wait,
    /// It is stopped where it is.
    AtOnce,
    /// It is stopped where its step ends: at a safe point of an erase, after the loop of a program.
    Boundary,
}
