//! Which data that moved went past the controller (`ftl.migration`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssd::flash::op::{Cause, OpKind};
use ssd::{DriveConfig, Stats};

/// Moves inside the chips and through the controller.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MigrationWork {
    /// The policy that decides whether moved data bypasses the controller (`ftl.migration`).
    pub policy: String,
    /// Pages copied inside the chips, bypassing the controller; by cause in `flash.copybacks`.
    pub copybacks: u64,
    /// Pages read into the controller to be moved.
    pub off_chip: u64,
    /// Of these, pages whose destination was in another plane, of another class (`ftl.page_class`), or the first page
    /// of a block where that tells its age. Counted, like the next five, only where copies are made.
    pub refused_by_place: u64,
    /// Pages of which not all mapping units were valid: a copy takes whole pages.
    #[serde(default)]
    pub refused_by_valid: u64,
    /// Pages that left the SLC cache, whose data a copy inside the chip could not pack.
    #[serde(default)]
    pub refused_by_slc: u64,
    /// Pages of whose wordline another was reprogrammed (`ftl.sanitize`): the controller must see if they are lost.
    #[serde(default)]
    pub refused_by_reprogram: u64,
    /// Pages whose data was too old to be copied without correction.
    pub refused_by_age_of_data: u64,
    /// Pages whose data had already been copied as many times in a row as it may.
    pub refused_by_limit: u64,
    /// The most copies in a row that any data had, where they are limited.
    pub in_a_row_max: u32,
}

/// Causes of moves from block to block.
const MOVES: [Cause; 5] =
    [Cause::Cleaning, Cause::WearLeveling, Cause::BadBlock, Cause::ReadReclaim, Cause::Destage];

impl MigrationWork {
    pub(crate) fn of(stats: &Stats, config: &DriveConfig) -> Self {
        let (counts, of_copies) = (&stats.ftl, &stats.techniques.migration);
        let reads = &stats.flash.ops[OpKind::Read as usize];
        MigrationWork {
            policy: config.migration.name().to_owned(),
            copybacks: counts.copies,
            off_chip: MOVES.iter().map(|cause| reads[*cause as usize]).sum(),
            refused_by_place: counts.copies_refused_by_place,
            refused_by_valid: counts.copies_refused_by_valid,
            refused_by_slc: counts.copies_refused_by_slc,
            refused_by_reprogram: counts.copies_refused_by_reprogram,
            refused_by_age_of_data: of_copies.copies_refused_by_age_of_data,
            refused_by_limit: of_copies.copies_refused_by_limit,
            in_a_row_max: of_copies.copies_in_a_row_max,
        }
    }
}
