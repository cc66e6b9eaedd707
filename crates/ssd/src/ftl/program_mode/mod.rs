//! In which program mode is a block programmed?
//!
//! A mode is a block's, from its first program to its erase: voltages, and with them wear, errors, how finely its
//! pages are sensed, program time (`cell.modes`). The question is asked when a block is opened for a stream. Blocks
//! that deals open (`ftl.read_reclaim`) have modes of their own.

use crate::config::member::Misfit;
use crate::sections::cell::NOMINAL;
use crate::sections::{ErrorModel, Sections};
use crate::units::StreamId;
use serde::{Deserialize, Serialize};

family! {
    /// In which program mode is a block programmed?
    path "ftl/program_mode", default nominal;
    members {
        nominal: Nominal,
        high: High,
        low: Low,
        hire: Hire,
    }
    methods {
        /// The modes that it chooses from, as `cell.modes.names` calls them.
        fn names(&self) -> &'static [&'static str];
        /// Whether it goes by the hotness of data: where `ftl.stream` does not tell it, data is told apart by that
        /// beside what `ftl.stream` says.
        fn needs_hotness(&self) -> bool {
            false
        }
        /// The mode of a block that is opened: an index into [`Member::names`].
        fn choose(&mut self, opening: &Opening) -> usize {
            0
        }
    }
}

/// A block that is opened for a stream.
#[derive(Clone, Copy, Debug)]
pub struct Opening {
    /// The stream that will fill it.
    pub stream: StreamId,
    /// Class of that stream, as `ftl.stream` says.
    pub class: u8,
    /// Erases that the block has seen.
    pub cycles: u32,
}

/// Modes that a policy chooses from at most.
const NAMES_AT_MOST: usize = 4;

/// The policy with the part's numbers of its modes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::ftl) struct ProgramModes {
    policy: Policy,
    modes: [u8; NAMES_AT_MOST],
}

impl ProgramModes {
    /// The policy of a checked configuration.
    pub fn new(cfg: &Sections, config: &Config) -> Self {
        let policy = Policy::build(config);
        let number = |name: &&str| cfg.cells.modes.names.iter().position(|own| own == name).unwrap_or(0);
        let mut modes = [0; NAMES_AT_MOST];
        for (mode, name) in modes.iter_mut().zip(policy.names()) {
            *mode = number(name) as u8;
        }
        ProgramModes { policy, modes }
    }

    /// Takes what follows from the configuration from a fresh one.
    pub fn restored(&mut self, fresh: ProgramModes) -> Result<(), String> {
        self.modes = fresh.modes;
        self.policy.restored(fresh.policy)
    }

    /// The mode of a block that is opened, as the part numbers it.
    #[inline]
    pub fn choose(&mut self, opening: &Opening) -> u8 {
        self.modes[self.policy.choose(opening)]
    }
}

/// Whether the cells of a drive have the modes that a policy chooses from.
pub(crate) fn misfit(config: &Config, cfg: &Sections) -> Option<Misfit> {
    let wanted = Policy::build(config).names();
    if wanted == [NOMINAL] {
        return None;
    }
    let policy = config.name();
    if cfg.errors.model == ErrorModel::None {
        return Some(Misfit {
            keys: &["ftl.program_mode.policy", "nand.errors.model"],
            found: format!(
                "program modes by \"{policy}\" for cells that make no errors and know of no modes"
            ),
            allowed: "nand.errors.model = \"cells\", or ftl.program_mode.policy = \"nominal\"".to_owned(),
        });
    }
    let own = &cfg.cells.modes.names;
    let missing: Vec<&str> =
        wanted.iter().copied().filter(|name| !own.iter().any(|own| own == name)).collect();
    (!missing.is_empty()).then(|| Misfit {
        keys: &["ftl.program_mode.policy", "cell.modes.names"],
        found: format!(
            "\"{policy}\", which programs in {}, on cells with {}",
            missing.join(" and "),
            own.join(", ")
        ),
        allowed:
            "cells that have these modes, such as [cell] part = \"mlc_hire\", or ftl.program_mode.policy = \
                  \"nominal\""
                .to_owned(),
    })
}
