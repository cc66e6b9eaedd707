//! Jobs of techniques' own, handed on: a lane has one at a time, and `work` knows in which there is one. And replicas.

#[allow(unused_imports)] // no technique of the list may be so
use super::facets::{Replicates, Works};
use super::{Ended, OwnStep, Reach, TakenUp, Techniques, Which, Wish};
use crate::flash::op::{Cause, UnitRef};
use crate::ftl::tables::Tables;
use crate::ftl::work::walk::PageUnits;
use crate::units::{BlockId, LaneId, Ppn, Pun};

/// Whether an operation of that cause makes a replica.
#[inline]
pub(in crate::ftl) const fn is_replica(cause: Cause) -> bool {
    REPLICA_CAUSES >> cause as u32 & 1 == 1
}

macro_rules! jobs {
    (
        @techniques { $(
            $(#[$doc:meta])* $folder:ident : $name:ident = $section:literal is [$($facet:ident)*]
            $(, cause $cause:ident($number:literal) $called:literal)? $(, external $outside:ident)?;
        )* }
        @members { $(
            $(#[$told:meta])* $technique:ident : $type:ident = $key:literal is [$($part:ident)*],
                member of $family:ident $member:ident : $variant:ident in $file:literal
                $(, cause $its:ident($at:literal) $says:literal)?;
        )* }
    ) => {
        jobs! { @all
            $($folder is [$($facet)*] $(, cause $cause)?;)*
            $($technique is [$($part)*] $(, cause $its)?;)*
        }
    };
    (@all $($folder:ident is [$($facet:ident)*] $(, cause $cause:ident)?;)*) => {
        #[allow(unused_variables, unused_mut)] // the list may be empty
        impl Techniques {
            /// See [`Works::take_up`]: of the first in the list that does not refuse.
            pub(in crate::ftl) fn take_up(
                &mut self,
                lane: LaneId,
                wish: &Wish,
                to_spare: u32,
                reach: Reach<'_>,
            ) -> TakenUp {
                let Reach { tables, work, policy } = reach;
                $(if_is! { Works [$($facet)*] {
                    if self.has(Which::$folder) {
                        let reach = Reach { tables, work: &mut *work, policy: &mut *policy };
                        let found = self.$folder.take_up(lane, wish, to_spare, reach);
                        if !matches!(found, TakenUp::NoBlocks) {
                            return found;
                        }
                    }
                } {} })*
                TakenUp::NoBlocks
            }

            /// See [`Works::works_in`].
            pub(in crate::ftl) fn works_in(&self, lane: LaneId) -> bool {
                let mut does = false;
                $(if_is! { Works [$($facet)*] {
                    does |= self.has(Which::$folder) && self.$folder.works_in(lane);
                } {} })*
                does
            }

            /// See [`Works::opened`].
            pub(in crate::ftl) fn opened(&mut self, lane: LaneId, block: BlockId, reach: Reach<'_>) {
                $(if_is! { Works [$($facet)*] {
                    if self.has(Which::$folder) && self.$folder.works_in(lane) {
                        return self.$folder.opened(lane, block, reach);
                    }
                } {} })*
            }

            /// See [`Works::step`].
            #[inline]
            pub(in crate::ftl) fn step(
                &mut self,
                lane: LaneId,
                tables: &Tables,
                may: (bool, u32),
                units: &mut PageUnits,
            ) -> OwnStep {
                $(if_is! { Works [$($facet)*] {
                    if self.has(Which::$folder) && self.$folder.works_in(lane) {
                        return self.$folder.step(lane, tables, may, units);
                    }
                } {} })*
                OwnStep::Done
            }

            /// See [`Works::reads`].
            #[inline]
            pub(in crate::ftl) fn reads(&self, lane: LaneId, block: BlockId) -> bool {
                let mut does = false;
                $(if_is! { Works [$($facet)*] {
                    does |= self.has(Which::$folder) && self.$folder.reads(lane, block);
                } {} })*
                does
            }

            /// See [`Works::arrived`].
            #[inline]
            pub(in crate::ftl) fn arrived(&mut self, lane: LaneId, unit: &UnitRef, lives: bool) {
                $(if_is! { Works [$($facet)*] {
                    if self.has(Which::$folder) {
                        self.$folder.arrived(lane, unit, lives);
                    }
                } {} })*
            }

            /// See [`Works::gives_up`].
            pub(in crate::ftl) fn gives_up(&mut self, lane: LaneId, block: BlockId) -> bool {
                let mut is_given_up = false;
                $(if_is! { Works [$($facet)*] {
                    if self.has(Which::$folder) {
                        is_given_up |= self.$folder.gives_up(lane, block);
                    }
                } {} })*
                is_given_up
            }

            /// See [`Works::end`].
            pub(in crate::ftl) fn end(&mut self, lane: LaneId, reach: Reach<'_>) -> Option<Ended> {
                $(if_is! { Works [$($facet)*] {
                    if self.has(Which::$folder) && self.$folder.works_in(lane) {
                        return Some(self.$folder.end(lane, reach));
                    }
                } {} })*
                None
            }

            /// See [`Works::filled`].
            pub(in crate::ftl) fn filled(&self, lane: LaneId, block: BlockId) -> Option<u32> {
                $(if_is! { Works [$($facet)*] {
                    if self.has(Which::$folder)
                        && let Some(pages) = self.$folder.filled(lane, block)
                    {
                        return Some(pages);
                    }
                } {} })*
                None
            }

            /// See [`Works::in_controller`].
            pub(in crate::ftl) fn in_controller(&self) -> Vec<Pun> {
                let mut all = Vec::new();
                $(if_is! { Works [$($facet)*] { all.extend(self.$folder.in_controller()); } {} })*
                all
            }
        }

        /// Causes of what makes replicas, a bit for each.
        const REPLICA_CAUSES: u32 =
            0 $(| if_is! { Replicates [$($facet)*] { 0 $(| 1 << Cause::$cause as u32)? } { 0 } })*;

        /// Replicas, which they make as `ftl.read_reclaim` wants them.
        #[allow(unused_variables, unused_mut)] // the list may be empty
        impl Techniques {
            /// Why replicas are made, if they are: for the first in the list that makes some.
            pub(in crate::ftl) fn replicate(&self) -> Option<Cause> {
                $(if_is! { Replicates [$($facet)*] {
                    $(if self.has(Which::$folder) {
                        return Some(Cause::$cause);
                    })?
                } {} })*
                None
            }

            /// See [`Replicates::replicated`].
            pub(in crate::ftl) fn replicated(&self, page: Ppn, tables: &Tables, units: &mut [UnitRef]) -> usize {
                $(if_is! { Replicates [$($facet)*] {
                    if self.has(Which::$folder) {
                        return self.$folder.replicated(page, tables, units);
                    }
                } {} })*
                0
            }

            /// See [`Replicates::takes_replica`].
            pub(in crate::ftl) fn takes_replica(&self, physical: u32, tables: &Tables) -> bool {
                let mut does = false;
                $(if_is! { Replicates [$($facet)*] {
                    does |= self.has(Which::$folder) && self.$folder.takes_replica(physical, tables);
                } {} })*
                does
            }
        }
    };
}

techniques! { jobs! {} }
