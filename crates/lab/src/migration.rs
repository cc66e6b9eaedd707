//! Which data that moved went past the controller (`ftl.migration`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssd::flash::op::{Cause, OpKind};
use ssd::{DriveConfig, Stats};

/// Moves past the controller, and through it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MigrationWork {
    /// The policy.
    pub policy: String,
    /// Pages copied inside the chips.
    pub copybacks: u64,
    /// Pages read into the controller to be moved.
    pub off_chip: u64,
    /// Of these, pages that would have gone to another plane or to the first page of a block, which tells its age.
    pub refused_by_place: u64,
    /// Pages whose data was too old.
    pub refused_by_age_of_data: u64,
    /// Pages whose data had as many copies in a row behind it as it may.
    pub refused_by_limit: u64,
    /// Most copies in a row that any data had, where they are limited.
    pub in_a_row_max: u32,
}

/// Causes of moves from block to block.
const MOVES: [Cause; 5] =
    [Cause::Cleaning, Cause::WearLeveling, Cause::BadBlock, Cause::ReadReclaim, Cause::Destage];

impl MigrationWork {
    pub(crate) fn of(stats: &Stats, config: &DriveConfig) -> Self {
        let (counts, reads) = (&stats.ftl, &stats.flash.ops[OpKind::Read as usize]);
        MigrationWork {
            policy: config.migration.name().to_owned(),
            copybacks: counts.copies,
            off_chip: MOVES.iter().map(|cause| reads[*cause as usize]).sum(),
            refused_by_place: counts.copies_refused_by_place,
            refused_by_age_of_data: counts.copies_refused_by_age_of_data,
            refused_by_limit: counts.copies_refused_by_limit,
            in_a_row_max: counts.copies_in_a_row_max,
        }
    }
}
