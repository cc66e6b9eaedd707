//! How long a drive lasts: what is told.

use serde::Serialize;

use super::budget::Budget;
use super::reads::Reads;

/// Days of a year.
pub const DAYS: f64 = 365.0;
/// The usual warranty of drives in years; assumed.
pub const YEARS: f64 = 5.0;

/// Another way to use the drive, or another drive, and how long it would last.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WhatIf {
    /// What would be otherwise.
    pub name: String,
    /// Bytes programmed for each byte of the host.
    pub write_amplification: f64,
    /// Years until the budget is used up.
    pub years: f64,
}

/// How long a drive lasts under a load.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Answer {
    /// What the drive is called.
    pub drive: String,
    /// Bytes that the host sees.
    pub capacity_bytes: f64,
    /// Spare room as a share of that.
    pub spare: f64,
    /// Bytes of a mapping unit.
    pub unit_bytes: u32,
    /// How many times smaller the drive is on which write amplification was measured.
    pub scale: f64,
    /// What the load is.
    pub workload: String,
    /// Whether nobody said how places are written, so that there is only a range.
    pub is_range: bool,
    /// Bytes that the host writes a day.
    pub host_bytes_a_day: f64,
    /// The same in capacities.
    pub drive_writes_a_day: f64,
    /// Bytes programmed for each byte of the host, once that is steady: of the load, or the least and most there can
    /// be.
    pub write_amplification: [f64; 2],
    /// How far single windows were from that, as a share.
    pub write_amplification_spread: f64,
    /// What the rating is for, and its write amplification on this drive; null where there is no rating.
    pub rated_workload: Option<String>,
    /// Bytes programmed for each byte of the host under the rating's workload.
    pub rated_write_amplification: Option<f64>,
    /// Bytes that the host may write by the rating.
    pub tbw_bytes: Option<f64>,
    /// Bytes that may be programmed, and why so many: the smallest of these counts.
    pub budgets: Vec<Budget>,
    /// The one that counts.
    pub budget_bytes: f64,
    /// Why so many.
    pub budget_basis: String,
    /// Days until it is used up, at worst where there is a range; null: for ever.
    pub days: Option<f64>,
    /// The same in years.
    pub years: Option<f64>,
    /// Within which bounds, by how far write amplification scattered, or by what is not known of the load.
    pub years_range: Option<[f64; 2]>,
    /// Years until the host has written the rating, whatever it does.
    pub years_by_host_bytes: Option<f64>,
    /// Years if the rating is for sequential writes, where nobody says what it is for.
    pub years_if_rated_sequential: Option<f64>,
    /// Drive writes a day by the rating over 3 and 5 years.
    pub dwpd: Option<[f64; 2]>,
    /// Years that it is to last.
    pub wanted_years: f64,
    /// Part of the budget that is used up by then.
    pub share_used: Option<f64>,
    /// By how much more could be written.
    pub headroom: Option<f64>,
    /// Reads, and what they make the drive write.
    pub reads: Option<Reads>,
    /// What else could be.
    pub what_if: Vec<WhatIf>,
    /// How FLUSH and FUA were answered.
    pub flush: String,
    /// What is taken for granted of data at the end of life.
    pub retention: String,
    /// What must be known to read the numbers.
    pub remarks: Vec<String>,
}

impl Answer {
    /// The text of a file of its own.
    pub fn to_json(&self) -> String {
        let text = serde_json::to_string_pretty(self);
        text.unwrap_or_else(|error| unreachable!("plain data with text keys becomes JSON: {error}")) + "\n"
    }
}
