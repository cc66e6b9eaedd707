//! Facets of techniques: what each may be for others, beside what all are ([`super::Technique`]). A technique's line
//! names its own, and none else is asked.

mod ages;
mod copies;
mod goes_by_ages;
mod offers;
mod replicates;
mod works;

use super::{Ended, Hop, Measured, Needs, Offer, OwnStep, Reach, Seen, TakenUp, Technique, Tells, Wish};
pub(in crate::ftl) use ages::TellsAges;
pub(in crate::ftl) use copies::CopiesInside;
pub(in crate::ftl) use goes_by_ages::GoesByAges;
pub(in crate::ftl) use offers::Offers;
pub(in crate::ftl) use replicates::Replicates;
pub(in crate::ftl) use works::Works;

/// One of two things: the first for a technique that has a facet, the second for others.
macro_rules! if_is {
    (Offers [Offers $($facet:ident)*] { $($then:tt)* } { $($else:tt)* }) => { $($then)* };
    (TellsAges [TellsAges $($facet:ident)*] { $($then:tt)* } { $($else:tt)* }) => { $($then)* };
    (GoesByAges [GoesByAges $($facet:ident)*] { $($then:tt)* } { $($else:tt)* }) => { $($then)* };
    (CopiesInside [CopiesInside $($facet:ident)*] { $($then:tt)* } { $($else:tt)* }) => { $($then)* };
    (Works [Works $($facet:ident)*] { $($then:tt)* } { $($else:tt)* }) => { $($then)* };
    (Replicates [Replicates $($facet:ident)*] { $($then:tt)* } { $($else:tt)* }) => { $($then)* };
    ($wanted:ident [$other:ident $($facet:ident)*] $then:tt $else:tt) => {
        if_is! { $wanted [$($facet)*] $then $else }
    };
    ($wanted:ident [] { $($then:tt)* } { $($else:tt)* }) => { $($else)* };
}
