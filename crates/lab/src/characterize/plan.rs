//! How large a population is measured, and what tells of it.

use crate::base::sources::commit;
use ssd::config::ConfigErrors;
use ssd::nand::cell::CellPart;

/// Keys of the provenance that are numbers.
const NUMBERS: [&str; 4] = ["seed", "chips", "blocks", "cells"];

/// What is measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Name of the part.
    pub part: &'static str,
    /// Seed of all random sequences.
    pub seed: u64,
    /// Chips of the population.
    pub chips: u32,
    /// Blocks of each chip.
    pub blocks: u32,
    /// Single cells drawn at each age.
    pub cells: u64,
}

impl Plan {
    /// The papers' population, and a million cells at each age.
    pub const FULL: Plan = Plan { part: "tlc_48l", seed: 1, chips: 160, blocks: 120, cells: 1_000_000 };
    /// A sixth of the blocks and a tenth of the cells.
    pub const QUICK: Plan = Plan { part: "tlc_48l", seed: 1, chips: 80, blocks: 40, cells: 100_000 };

    /// What the tables are made from, in the order in which it is written: the same plan of the same program gives
    /// the same tables. No clock is read: the date is there if it is given.
    pub fn provenance(&self, date: Option<&str>) -> Result<Vec<(&'static str, String)>, ConfigErrors> {
        let mut told = vec![
            ("part", self.part.to_owned()),
            ("part_hash", format!("{:016x}", part_hash(&CellPart::preset(self.part)?))),
            ("seed", self.seed.to_string()),
            ("chips", self.chips.to_string()),
            ("blocks", self.blocks.to_string()),
            ("cells", self.cells.to_string()),
            ("version", env!("CARGO_PKG_VERSION").to_owned()),
            ("commit", commit().to_owned()),
        ];
        told.extend(date.map(|date| ("date", date.to_owned())));
        Ok(told)
    }

    /// The same as JSON.
    pub fn json(&self, date: Option<&str>) -> Result<String, ConfigErrors> {
        let told = self.provenance(date)?;
        let map: serde_json::Map<String, serde_json::Value> = told
            .into_iter()
            .map(|(key, value)| {
                let number = value.parse::<u64>().ok().filter(|_| NUMBERS.contains(&key));
                (key.to_owned(), number.map_or_else(|| value.into(), Into::into))
            })
            .collect();
        Ok(format!("{:#}\n", serde_json::Value::Object(map)))
    }
}

/// A number that is the same for equal constants on every machine: 64-bit FNV-1a of all keys and values.
fn part_hash(part: &CellPart) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    part.sections()
        .flat_map(|(path, section)| {
            let fields = section.fields().iter();
            let show = move |key: &'static str| section.show(key).unwrap_or_default();
            fields.map(move |field| format!("{path}.{} = {}\n", field.key, show(field.key)))
        })
        .flat_map(String::into_bytes)
        .fold(0xcbf2_9ce4_8422_2325, step)
}
