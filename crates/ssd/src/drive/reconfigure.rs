//! A drive that goes on under another configuration, as far as that leaves what lies on its flash as it is: so one
//! aged drive serves for what is compared on it.

use core::fmt;

use crate::config::ConfigErrors;
use crate::drive::engine::State;
use crate::drive::external::{External, ExternalPolicies};
use crate::drive_config::DriveConfig;
use crate::ftl::techniques;

/// Sections whose keys a drive may change at any time: what its maker promises, how long things take, what goes first,
/// with which voltages is read, when and where cleaning begins. They leave no marks on flash and say nothing of its
/// shape.
const CHANGEABLE: [&str; 10] = [
    "drive.rating",
    "nand.timing",
    "flash.channel",
    "flash.scheduling",
    "flash.preemption",
    "flash.read_voltage",
    "ftl.gc_victim",
    "ftl.gc_trigger",
    "host.link",
    "host.firmware",
];

/// These sections, and those of techniques of which that is true.
fn changeable() -> impl Iterator<Item = &'static str> {
    CHANGEABLE.into_iter().chain(techniques::CHANGEABLE.iter().copied())
}

/// Whether a drive may change a key when it is aged, by its path or its section's.
pub fn is_changeable(key: &str) -> bool {
    let is_of = |section: &&str| {
        key.strip_prefix(*section).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    changeable().any(|section| is_of(&section))
}

/// Keys that two configurations have other values for, with that of the first.
pub fn differing(a: &DriveConfig, b: &DriveConfig) -> Vec<(String, String)> {
    let mut keys = Vec::new();
    for ((path, a), (_, b)) in a.sections().zip(b.sections()) {
        if a.policy() != b.policy() {
            keys.push((format!("{path}.policy"), a.policy().unwrap_or_default().to_owned()));
            continue;
        }
        for field in a.fields() {
            let (value, other) = (a.show(field.key), b.show(field.key));
            if value != other {
                keys.push((format!("{path}.{}", field.key), value.unwrap_or_default()));
            }
        }
    }
    keys
}

/// Why a drive does not go on under another configuration.
#[derive(Clone, Debug, PartialEq)]
pub enum ReconfigureError {
    /// It is not of the configuration that it is said to have.
    Other,
    /// Commands or flash operations are under way.
    Busy,
    /// Keys that are other and have left marks on its flash, or are its shape.
    Fixed(Vec<String>),
    /// The configuration makes no drive.
    Config(ConfigErrors),
    /// What it has of the old configuration does not fit the new one.
    Unfit(String),
}

impl fmt::Display for ReconfigureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Other => write!(f, "the drive has another configuration"),
            Self::Busy => {
                write!(f, "the drive is busy, and can change its configuration only when idle")
            }
            Self::Fixed(keys) => write!(
                f,
                "{} cannot change on an aged drive\n    allowed: keys of {}",
                keys.join(", "),
                changeable().collect::<Vec<_>>().join(", ")
            ),
            Self::Config(errors) => write!(f, "{errors}"),
            Self::Unfit(what) => write!(f, "the aged drive does not fit the other configuration: {what}"),
        }
    }
}

impl std::error::Error for ReconfigureError {}

/// A drive that goes on under another configuration, with policies from outside for the families that are `external`
/// from then on. None may be before: nobody could say what it has learnt.
pub(crate) fn reconfigured(
    state: &State,
    from: &DriveConfig,
    cfg: &DriveConfig,
    policies: ExternalPolicies,
) -> Result<State, ReconfigureError> {
    let keys = differing(from, cfg).into_iter().map(|(key, _)| key);
    let fixed: Vec<String> = keys.filter(|key| !is_changeable(key)).collect();
    if !fixed.is_empty() {
        return Err(ReconfigureError::Fixed(fixed));
    }
    if state.host.outstanding() > 0 || state.flash.pool.iter().next().is_some() {
        return Err(ReconfigureError::Busy);
    }
    if let Some(family) = (External { ftl: &state.ftl }).family() {
        let why = format!("{family} is a policy from the program, which cannot be kept");
        return Err(ReconfigureError::Unfit(why));
    }
    let fresh = State::new(cfg, policies).map_err(ReconfigureError::Config)?;
    let unfit = |error: postcard::Error| ReconfigureError::Unfit(error.to_string());
    let saved = postcard::to_allocvec(state).map_err(unfit)?;
    let mut state: State = postcard::from_bytes(&saved).map_err(unfit)?;
    let changed = (from.gc_victim != cfg.gc_victim, from.gc_trigger != cfg.gc_trigger);
    state.ftl.moves.media.cleaning.changed(&fresh.ftl.moves.media.cleaning, changed);
    state.ftl.moves.media.techniques.changed(
        &from.techniques(),
        &cfg.techniques(),
        &fresh.ftl.moves.media.techniques,
    );
    let reads_otherwise = (&from.preemption, &from.read_voltage) != (&cfg.preemption, &cfg.read_voltage);
    if reads_otherwise {
        state.flash.keep_as(&fresh.flash);
    }
    state.restored(fresh).map_err(ReconfigureError::Unfit)?;
    if reads_otherwise {
        let State { ftl, flash, .. } = &mut state;
        ftl.tell_wear(flash);
    }
    Ok(state)
}
