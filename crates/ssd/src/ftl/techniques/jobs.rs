//! Jobs of techniques' own, handed on: a lane has one at a time, and `work` knows in which there is one. And replicas.

use super::{Ended, OwnStep, Reach, TakenUp, Technique, Techniques, Which, Wish};
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
            $(#[$doc:meta])* $folder:ident : $name:ident = $section:literal
            $(, cause $cause:ident($number:literal) $called:literal)? $(, external $outside:ident)?;
        )* }
        @members { $(
            $(#[$told:meta])* $technique:ident : $type:ident = $key:literal,
                member of $family:ident $member:ident : $variant:ident in $file:literal
                $(, cause $its:ident($at:literal) $says:literal)?;
        )* }
    ) => {
        jobs! { @all
            $($folder: $name $(, cause $cause)?;)*
            $($technique: $type $(, cause $its)?;)*
        }
    };
    (@all $($folder:ident : $name:ident $(, cause $cause:ident)?;)*) => {
        #[allow(unused_variables, unused_mut)] // the list may be empty
        impl Techniques {
            /// Whether a technique that has jobs of its own is on.
            #[inline]
            fn works<T: Technique>(&self, which: Which) -> bool {
                T::HAS_JOBS && self.has(which)
            }

            /// See [`Technique::take_up`]: of the first in the list that does not refuse.
            pub(in crate::ftl) fn take_up(
                &mut self,
                lane: LaneId,
                wish: &Wish,
                to_spare: u32,
                reach: Reach<'_>,
            ) -> TakenUp {
                let Reach { tables, work, policy } = reach;
                $(if self.works::<super::$folder::$name>(Which::$folder) {
                    let reach = Reach { tables, work: &mut *work, policy: &mut *policy };
                    let found = self.$folder.take_up(lane, wish, to_spare, reach);
                    if !matches!(found, TakenUp::NoBlocks) {
                        return found;
                    }
                })*
                TakenUp::NoBlocks
            }

            /// See [`Technique::works_in`].
            pub(in crate::ftl) fn work_in(&self, lane: LaneId) -> bool {
                false $(|| self.works::<super::$folder::$name>(Which::$folder) && self.$folder.works_in(lane))*
            }

            /// See [`Technique::opened`].
            pub(in crate::ftl) fn opened(&mut self, lane: LaneId, block: BlockId, reach: Reach<'_>) {
                $(if self.works::<super::$folder::$name>(Which::$folder) && self.$folder.works_in(lane) {
                    return self.$folder.opened(lane, block, reach);
                })*
            }

            /// See [`Technique::step`].
            #[inline]
            pub(in crate::ftl) fn step(
                &mut self,
                lane: LaneId,
                tables: &Tables,
                may: (bool, u32),
                units: &mut PageUnits,
            ) -> OwnStep {
                $(if self.works::<super::$folder::$name>(Which::$folder) && self.$folder.works_in(lane) {
                    return self.$folder.step(lane, tables, may, units);
                })*
                OwnStep::Done
            }

            /// See [`Technique::reads`].
            #[inline]
            pub(in crate::ftl) fn read(&self, lane: LaneId, block: BlockId) -> bool {
                false $(|| self.works::<super::$folder::$name>(Which::$folder) && self.$folder.reads(lane, block))*
            }

            /// See [`Technique::arrived`].
            #[inline]
            pub(in crate::ftl) fn arrived(&mut self, lane: LaneId, unit: &UnitRef, lives: bool) {
                $(if self.works::<super::$folder::$name>(Which::$folder) { self.$folder.arrived(lane, unit, lives); })*
            }

            /// See [`Technique::gives_up`].
            pub(in crate::ftl) fn give_up(&mut self, lane: LaneId, block: BlockId) -> bool {
                let mut is_given_up = false;
                $(if self.works::<super::$folder::$name>(Which::$folder) {
                    is_given_up |= self.$folder.gives_up(lane, block);
                })*
                is_given_up
            }

            /// See [`Technique::end`].
            pub(in crate::ftl) fn end(&mut self, lane: LaneId, reach: Reach<'_>) -> Option<Ended> {
                $(if self.works::<super::$folder::$name>(Which::$folder) && self.$folder.works_in(lane) {
                    return self.$folder.end(lane, reach);
                })*
                None
            }

            /// See [`Technique::filled`].
            pub(in crate::ftl) fn filled(&self, lane: LaneId, block: BlockId) -> Option<u32> {
                $(if self.works::<super::$folder::$name>(Which::$folder)
                    && let Some(pages) = self.$folder.filled(lane, block)
                {
                    return Some(pages);
                })*
                None
            }

            /// See [`Technique::in_controller`].
            pub(in crate::ftl) fn in_controller(&self) -> Vec<Pun> {
                let mut all = Vec::new();
                $(all.extend(self.$folder.in_controller());)*
                all
            }
        }

        /// Causes of what makes replicas, a bit for each.
        const REPLICA_CAUSES: u32 =
            0 $($(| (super::$folder::$name::REPLICATES as u32) << Cause::$cause as u32)?)*;

        /// Replicas, which they make as `ftl.read_reclaim` wants them.
        #[allow(unused_variables, unused_mut)] // the list may be empty
        impl Techniques {
            /// Why replicas are made, if they are: for the first in the list that makes some.
            pub(in crate::ftl) fn replicate(&self) -> Option<Cause> {
                $($(if super::$folder::$name::REPLICATES && self.has(Which::$folder) {
                    return Some(Cause::$cause);
                })?)*
                None
            }

            /// See [`Technique::replicated`].
            pub(in crate::ftl) fn replicated(&self, page: Ppn, tables: &Tables, units: &mut [UnitRef]) -> usize {
                $(if super::$folder::$name::REPLICATES && self.has(Which::$folder) {
                    return self.$folder.replicated(page, tables, units);
                })*
                0
            }

            /// See [`Technique::takes_replica`].
            pub(in crate::ftl) fn take_replica(&self, physical: u32, tables: &Tables) -> bool {
                false $(|| self.has(Which::$folder) && self.$folder.takes_replica(physical, tables))*
            }
        }
    };
}

techniques! { jobs! {} }
