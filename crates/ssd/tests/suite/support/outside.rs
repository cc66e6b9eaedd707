//! Policies that are given to a drive.

use ssd::external::{ExternalPolicies, Identity, LaneCall, LanePolicy, StreamPolicy, Unit, UnitCall};
use ssd::{Drive, DriveConfig};

/// Chooses blocks by a function.
#[derive(Clone, Copy, Debug)]
pub struct ByFunction(pub fn(&LaneCall<'_>) -> Result<Option<u32>, String>);

impl LanePolicy for ByFunction {
    fn identity(&self) -> Identity {
        Identity { name: "by_function".to_owned(), kind: "test", hash: "feed".to_owned() }
    }

    fn choose(&mut self, call: &LaneCall<'_>) -> Result<Option<u32>, String> {
        (self.0)(call)
    }

    fn copied(&self) -> Box<dyn LanePolicy> {
        Box::new(*self)
    }
}

/// Chooses streams by a function.
#[derive(Clone, Copy, Debug)]
pub struct Separates(pub fn(&UnitCall) -> Result<u32, String>);

impl StreamPolicy for Separates {
    fn identity(&self) -> Identity {
        Identity { name: "separates".to_owned(), kind: "test", hash: "beef".to_owned() }
    }

    fn choose(&mut self, call: &UnitCall) -> Result<u32, String> {
        (self.0)(call)
    }

    fn copied(&self) -> Box<dyn StreamPolicy> {
        Box::new(*self)
    }
}

/// As `greedy`, from the columns.
pub fn greedy(call: &LaneCall<'_>) -> Result<Option<u32>, String> {
    let live = call.lane.columns().live;
    let least = (0..live.len()).min_by_key(|&block| live[block]).filter(|&block| live[block] >> 31 == 0);
    Ok(least.map(|block| block as u32))
}

/// Odd units in stream 1, and nothing changes its stream.
pub fn by_parity(call: &UnitCall) -> Result<u32, String> {
    match call.unit {
        Unit::Written(write) => Ok(write.lpn.0 % 2),
        // Data that finds no room in its stream may lie in the other.
        Unit::Moved(_) | Unit::Peeked(_) => Ok(call.lies_in.0.into()),
    }
}

/// A configuration with policies from outside for those families for which there is one.
pub fn asking(cfg: &DriveConfig, policies: &ExternalPolicies) -> DriveConfig {
    let mut cfg = cfg.clone();
    for (section, _) in policies.identities() {
        cfg.section_mut(&section).unwrap().select("external").unwrap();
    }
    cfg
}

/// A drive with policies from outside.
pub fn with(cfg: &DriveConfig, policies: ExternalPolicies) -> Drive {
    Drive::with_policies(&asking(cfg, &policies), policies).unwrap()
}

/// One of `ftl.gc_victim`.
pub fn victim(function: fn(&LaneCall<'_>) -> Result<Option<u32>, String>) -> ExternalPolicies {
    ExternalPolicies { gc_victim: Some(Box::new(ByFunction(function))), ..Default::default() }
}

/// One of `ftl.stream`.
pub fn stream(function: fn(&UnitCall) -> Result<u32, String>) -> ExternalPolicies {
    ExternalPolicies { stream: Some(Box::new(Separates(function))), ..Default::default() }
}
