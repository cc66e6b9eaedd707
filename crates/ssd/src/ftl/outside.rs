//! Policies from outside: what a program that uses the crate, a library or a script must answer, and what holds them.
//!
//! Such a policy is asked, and its answer checked, by a guard that stands where a member of the family would. After the
//! first wrong answer it is not asked again: the guard decides by the plainest rule of the family until whoever runs
//! the drive looks at [`crate::drive::Drive::external`] and ends the run.

use crate::ftl::tables::blocks::{BlockState, LaneView};
use core::fmt;

/// What a policy from outside does, for tables of policies.
pub(crate) const SUMMARY: &str = "your own policy, from a library or a program (docs/own-policy.md)";
/// What it costs.
pub(crate) const MEMORY: &str = "whatever it allocates itself";

/// Who a policy from outside is, for results and errors.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Identity {
    /// Its name.
    pub name: String,
    /// What it came as: `library`, `address`, `python`...
    pub kind: &'static str,
    /// A hash of the library or the source, in hexadecimal digits; empty where nobody can tell.
    pub hash: String,
}

/// A call of a policy that chooses among the blocks of a lane.
#[derive(Clone, Copy)]
pub struct LaneCall<'a> {
    /// The blocks. Its columns ([`LaneView::columns`]) are the drive's own arrays, and are lent for the call alone.
    pub lane: &'a LaneView<'a>,
    /// Erases of the lane so far; 0 where a victim is asked for.
    pub erases: u64,
    /// Random bits, fresh with each call, of a sequence that only this family draws from.
    pub random: u32,
    /// Number of the call, from 1.
    pub call: u64,
}

/// A policy from outside that chooses a block: `ftl.gc_victim`, `ftl.wear_leveling`.
pub trait LanePolicy: fmt::Debug + Send + Sync {
    /// Who it is.
    fn identity(&self) -> Identity;
    /// The block it chooses, counted from the lane's first; `None` for none.
    ///
    /// # Errors
    /// What went wrong. It is not asked again.
    fn choose(&mut self, call: &LaneCall<'_>) -> Result<Option<u32>, String>;
    /// A copy of it as it is now, for a copy of its drive.
    fn copied(&self) -> Box<dyn LanePolicy>;
}

impl Clone for Box<dyn LanePolicy> {
    fn clone(&self) -> Self {
        (**self).copied()
    }
}

/// What a policy from outside did wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyFault {
    /// The family, such as `ftl.gc_victim`.
    pub family: &'static str,
    /// The policy's name.
    pub policy: String,
    /// Which call it was, from 1.
    pub call: u64,
    /// What it answered, or why it did not.
    pub found: String,
    /// What it might have answered.
    pub allowed: String,
}

impl fmt::Display for PolicyFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PolicyFault { family, policy, call, found, allowed } = self;
        write!(f, "{family}: policy {policy}, call {call}\n    found:   {found}\n    allowed: {allowed}")
    }
}

impl std::error::Error for PolicyFault {}

/// What is kept of a policy from outside, whatever it decides.
#[derive(Clone, Debug)]
pub struct Record {
    family: &'static str,
    /// Who it is.
    pub identity: Identity,
    /// How often it was asked.
    pub calls: u64,
    /// What it did wrong: then it is not asked any more.
    // Told at most once, and looked at after each completion: a pointer is enough.
    pub fault: Option<Box<PolicyFault>>,
}

impl Record {
    pub(crate) const fn new(family: &'static str, identity: Identity) -> Self {
        Record { family, identity, calls: 0, fault: None }
    }

    #[cold]
    pub(crate) fn fail(&mut self, found: String, allowed: String) {
        let (family, policy, call) = (self.family, self.identity.name.clone(), self.calls);
        self.fault = Some(Box::new(PolicyFault { family, policy, call, found, allowed }));
    }
}

/// Holds a policy that chooses among the blocks of a lane.
#[derive(Clone, Debug)]
pub(crate) struct LaneGuard {
    policy: Box<dyn LanePolicy>,
    pub record: Record,
}

impl LaneGuard {
    pub fn new(family: &'static str, policy: Box<dyn LanePolicy>) -> Self {
        let record = Record::new(family, policy.identity());
        LaneGuard { policy, record }
    }

    /// What the policy chooses, if it may; else what `plain` does.
    #[inline]
    pub fn choose(
        &mut self,
        (lane, erases, random): (&LaneView<'_>, u64, u32),
        may: impl Fn(&LaneView<'_>, u32) -> bool,
        plain: impl Fn(&LaneView<'_>) -> Option<u32>,
    ) -> Option<u32> {
        if self.record.fault.is_some() {
            return plain(lane);
        }
        self.record.calls += 1;
        let call = LaneCall { lane, erases, random, call: self.record.calls };
        let wrong = match self.policy.choose(&call) {
            Ok(Some(block)) if block < lane.len() && may(lane, block) => return Some(block),
            Ok(None) => match plain(lane) {
                None => return None,
                Some(_) => "no block, although one may be chosen".to_owned(),
            },
            Ok(Some(block)) if block >= lane.len() => format!("block {block} of {}", lane.len()),
            Ok(Some(block)) => format!("block {block}, which is {}", told(lane, block)),
            Err(why) => why,
        };
        self.fail(lane, wrong, &may);
        plain(lane)
    }

    #[cold]
    fn fail(&mut self, lane: &LaneView<'_>, found: String, may: &dyn Fn(&LaneView<'_>, u32) -> bool) {
        let allowed = allowed(lane, may);
        self.record.fail(found, allowed);
    }
}

/// A block in words.
fn told(lane: &LaneView<'_>, block: u32) -> String {
    let state = lane.state(block);
    match (state, lane.eligible(block)) {
        (BlockState::Closed, None) => {
            let (live, units) = (lane.live(block), lane.units_per_block);
            format!("closed, with {live} of {units} units valid, and cannot be collected now")
        }
        _ => state.name().to_owned(),
    }
}

/// Blocks that an error names, at most.
const BLOCKS_TOLD: usize = 8;

/// Which blocks a policy may choose, in words.
fn allowed(lane: &LaneView<'_>, may: &dyn Fn(&LaneView<'_>, u32) -> bool) -> String {
    let blocks: Vec<String> =
        (0..lane.len()).filter(|&block| may(lane, block)).map(|block| block.to_string()).collect();
    let number = lane.lane;
    match blocks.len() {
        0 => format!("no block: none of lane {number} may be chosen now"),
        1..=BLOCKS_TOLD => format!("a block of lane {number}: {}", blocks.join(", ")),
        count => {
            format!("one of {count} blocks of lane {number}: {}, ...", blocks[..BLOCKS_TOLD].join(", "))
        }
    }
}
