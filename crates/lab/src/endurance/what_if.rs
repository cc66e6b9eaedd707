//! What else could be: more spare room, placement ids, larger units, capacitors.

use ssd::DriveConfig;
use ssd::config::Value;
use ssd::sections::MappingUnit;
use workload::SECTOR_BYTES;

use super::answer::WhatIf;
use super::load::Load;
use super::scale::with_spare;

/// More over-provisioning, as a share of the data.
const SPARE: [f64; 2] = [0.10, 0.28];

/// A drive like the one asked about, and what is other.
pub struct Other {
    name: String,
    /// Its configuration.
    pub config: DriveConfig,
}

impl Other {
    /// With what was found.
    pub fn told(&self, write_amplification: f64, years: f64) -> WhatIf {
        WhatIf { name: self.name.clone(), write_amplification, years }
    }
}

/// Those that can be, and on which the load fits.
pub fn others(config: &DriveConfig, load: &Load) -> Vec<Other> {
    let mut others: Vec<Other> = SPARE
        .into_iter()
        .map(|more| Other { name: format!("OP +{:.0} %", 100.0 * more), config: with_spare(config, more) })
        .collect();
    others.extend(with_ids(config, load));
    others.extend(with_capacitors(config, load));
    if config.unit_bytes() < 16_384 {
        let mut other = config.clone();
        other.mapping.unit = MappingUnit::SixteenKib;
        others.push(Other { name: "16-KiB unit".to_owned(), config: other });
    }
    others.retain(|other| {
        load.sectors() * SECTOR_BYTES <= other.config.logical_bytes() && other.config.validate().is_ok()
    });
    others
}

/// With blocks for each placement id, where the load names any.
fn with_ids(config: &DriveConfig, load: &Load) -> Option<Other> {
    let mut other = config.clone();
    let stream = other.section_mut("ftl.stream").filter(|_| load.has_ids())?;
    if stream.policy() == Some(ssd::ftl::stream::placement_id::NAME) {
        return None;
    }
    stream.select(ssd::ftl::stream::placement_id::NAME).ok()?;
    Some(Other { name: "placement ids".to_owned(), config: other })
}

/// With capacitors, where flushes wait for flash.
fn with_capacitors(config: &DriveConfig, load: &Load) -> Option<Other> {
    let mut other = config.clone();
    let buffer = other.section_mut("host.buffer").filter(|_| load.has_flushes())?;
    if buffer.show("flush").as_deref() != Some("\"program\"") {
        return None;
    }
    buffer.set("flush", &Value::Text("capacitors".to_owned())).ok()?;
    Some(Other { name: "capacitors".to_owned(), config: other })
}
