//! Workloads for several drives.

use crate::spec::kinds::Spec;
use crate::stack::stripe::Stripe;

/// Whether a workload is for one drive or for several.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Split {
    /// One.
    #[default]
    Whole,
    /// Jobs that work on several drives at the same time, of these names ([`Driven::drive`](crate::Driven::drive)).
    Jobs(Vec<String>),
    /// Drives that know nothing of each other: the name of each and its workload.
    Parts(Vec<(String, Spec)>),
    /// Drives that make one volume.
    Striped(Stripe),
}

impl Split {
    /// Names of the drives; none if there is one.
    pub fn names(&self) -> Vec<String> {
        match self {
            Split::Whole => Vec::new(),
            Split::Jobs(names) => names.clone(),
            Split::Parts(parts) => parts.iter().map(|(name, _)| name.clone()).collect(),
            Split::Striped(stripe) => stripe.names(),
        }
    }
}
