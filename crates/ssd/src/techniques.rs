//! The list of techniques: a line each. Nothing else names one, but its own folder.
//!
//! A policy answers a question; a technique also remembers, looks ahead or moves data of its own accord. It is a folder
//! below `ftl/techniques` and a line here, from which follow its module, its place in the translation layer
//! ([`crate::ftl::techniques`]), its section in configurations, its family in [`crate::policy::FAMILIES`], its counters
//! ([`crate::Stats`]) and the [`Cause`](crate::flash::op::Cause) of what it moves. One that carries out what a single
//! policy of another family wants is a member of that family: its folder holds the policy, and its line names it.

/// Hands the list to a macro, behind what that takes of its own. A line is a folder, its type and its section in
/// configurations; what it is for others, facets of [`crate::ftl::techniques`]; then, if operations of its own happen
/// for it, their cause: its number, which stays its own, and its name in results; and if its policy may come from
/// outside, what that must answer. A member of a family says instead which, its policy's name and variant, and where
/// the file is as that family sees it.
macro_rules! techniques {
    ($callback:ident! { $($own:tt)* }) => {
        $callback! {
            $($own)*
            @techniques {
                /// How old a block is.
                age_marker: Ages = "ftl.age_marker" is [TellsAges], cause AgeCheck(9) "age_check";
                /// Which blocks swap data.
                wear_leveling: WearLeveling = "ftl.wear_leveling" is [Offers GoesByAges],
                    cause WearLeveling(3) "wear_leveling", external LanePolicy;
                /// Whether moved data passes through the controller.
                migration: Copies = "ftl.migration" is [CopiesInside GoesByAges];
                /// Old data is rewritten.
                refresh: Refresh = "ftl.refresh" is [Offers], cause Refresh(11) "refresh";
            }
            @members {
                /// Pages that are read often get second copies in blocks that are read seldom.
                replication: Replication = "ftl.read_reclaim" is [Replicates],
                    member of read_reclaim redftl: Redftl in "../techniques/replication/redftl.rs",
                    cause Replication(6) "replication";
                /// Data that reads disturb is dealt over fresh blocks, the hottest on pages that reads harm least.
                deals: Deals = "ftl.read_reclaim" is [Works],
                    member of read_reclaim redftl_plus: RedftlPlus in "../techniques/deals/redftl_plus.rs";
            }
        }
    };
}
