//! How long the controller's processor works on each command before it fetches the next.

use super::space::Space;
use crate::sections;
use crate::signals::Command;
use crate::units::SimDuration;

/// Its times, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Firmware {
    /// For each command but a trim.
    pub command: u64,
    trim: u64,
    trimmed_unit: u64,
}

impl Firmware {
    pub fn new(cfg: &sections::Firmware) -> Self {
        let [command, trim] = [cfg.t_command_us, cfg.t_trim_us].map(|us| SimDuration::from_us(us).0);
        Firmware { command, trim, trimmed_unit: u64::from(cfg.t_trim_unit_ns) }
    }

    /// The time for a trim. One that is refused takes no longer than any other command.
    #[cold]
    #[inline(never)]
    pub fn time_for_trim(&self, command: &Command, space: Space) -> u64 {
        let units = space.touched(command);
        units.map_or(self.command, |units| self.command + self.trim + units.len() as u64 * self.trimmed_unit)
    }
}
