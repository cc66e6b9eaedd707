//! Policy families: a question the firmware asks, and the policies that answer it.
//!
//! A family is a folder, a member is one file in it, and the file's stem is the policy's name everywhere. The
//! `family!` macro in the folder's `mod.rs` turns the list of members into the configuration enum, the trait that
//! members answer, the enum that holds the running policy, and the table below that `wordline policies` prints.

pub use crate::config::member::{Misfit, Stateless};
pub use crate::config::{FamilyInfo, PolicyInfo};

macro_rules! families {
    (
        { $($before:path),+ $(,)? } { $($after:path),+ $(,)? }
        @techniques { $(
            $(#[$doc:meta])* $folder:ident : $name:ident = $section:literal is [$($facet:ident)*]
            $(, cause $cause:ident($number:literal) $called:literal)? $(, external $outside:ident)?;
        )* }
        @members { $($members:tt)* }
    ) => {
        /// Every family of the drive, in the order of their folders.
        pub const FAMILIES: &[&FamilyInfo] = &[
            $(&$before,)+
            $(&crate::ftl::techniques::$folder::FAMILY,)*
            $(&$after,)+
        ];
    };
}

techniques! { families! {
    {
        crate::flash::preemption::FAMILY,
        crate::flash::read_voltage::FAMILY,
        crate::ftl::gc_trigger::FAMILY,
        crate::ftl::gc_victim::FAMILY,
        crate::ftl::page_class::FAMILY,
        crate::ftl::program_mode::FAMILY,
        crate::ftl::read_reclaim::FAMILY,
        crate::ftl::sanitize::FAMILY,
        crate::ftl::slc_cache::FAMILY,
        crate::ftl::stream::FAMILY,
    } {
        crate::host::buffer::FAMILY,
        crate::host::hotness::FAMILY,
    }
} }

/// The family of that folder (`ftl/gc_victim`) or section (`ftl.gc_victim`).
pub fn family(path: &str) -> Option<&'static FamilyInfo> {
    FAMILIES.iter().copied().find(|family| family.path == path || family.section() == path)
}
