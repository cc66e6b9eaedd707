//! How long an operation takes: the only place that turns one into a duration.
//!
//! Sources: the part's tables (`nand.timing`), the channel's interface (`flash.channel`). All arithmetic on floats
//! happens here when a drive is built; the event loop reads integers.

use crate::config::DriveConfig;
use crate::flash::op::{Op, OpKind};
use crate::units::SimDuration;
use serde::{Deserialize, Serialize};

/// Equal steps that an array operation is made of: ISPP loops of a program, pulses of an erase. A suspend can take
/// effect at the end of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Steps {
    /// Number of steps.
    pub count: u32,
    /// Nanoseconds of the whole operation.
    pub total_ns: u64,
}

impl Steps {
    /// Nanoseconds after the start at which the step in progress at `elapsed_ns` ends.
    pub fn boundary_after(&self, elapsed_ns: u64) -> u64 {
        let count = u128::from(self.count.max(1));
        let total = u128::from(self.total_ns);
        if elapsed_ns >= self.total_ns {
            return self.total_ns;
        }
        // Step k ends at floor(total * k / count); find the first end past `elapsed_ns`.
        let k = (u128::from(elapsed_ns) * count / total.max(1)) + 1;
        let end = |k: u128| (total * k / count) as u64;
        if end(k) > elapsed_ns { end(k) } else { end(k + 1) }
    }
}

/// Durations of a drive's flash operations, in nanoseconds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Timing {
    read_ns: Vec<u64>,
    program_ns: Vec<u64>,
    erase_ns: u64,
    program_steps: u32,
    erase_steps: u32,
    read_command_ns: u64,
    data_out_command_ns: u64,
    program_command_ns: u64,
    erase_command_ns: u64,
    femtoseconds_per_byte: u64,
    cache_operations: bool,
}

fn nanoseconds(us: &[f64]) -> Vec<u64> {
    us.iter().map(|&us| SimDuration::from_us(us).0).collect()
}

impl Timing {
    /// The durations of a checked configuration.
    pub fn new(cfg: &DriveConfig) -> Self {
        let (timing, channel) = (&cfg.timing, &cfg.channel);
        Timing {
            read_ns: nanoseconds(&cfg.t_read_us()),
            program_ns: nanoseconds(&cfg.t_program_us()),
            erase_ns: SimDuration::from_us(timing.t_erase_us).0,
            program_steps: timing.program_steps,
            erase_steps: timing.erase_steps,
            read_command_ns: u64::from(channel.t_read_command_ns),
            data_out_command_ns: u64::from(channel.t_data_out_command_ns),
            program_command_ns: u64::from(channel.t_program_command_ns),
            erase_command_ns: u64::from(channel.t_erase_command_ns),
            femtoseconds_per_byte: libm::round(1e9 / channel.bandwidth_mb_s) as u64,
            cache_operations: timing.cache_operations,
        }
    }

    /// Whether the next operation may be sent to a die whose array is busy.
    pub fn cache_operations(&self) -> bool {
        self.cache_operations
    }

    /// Data on the channel.
    #[inline]
    pub fn data_ns(&self, bytes: u32) -> u64 {
        (u64::from(bytes) * self.femtoseconds_per_byte + 500_000) / 1_000_000
    }

    /// Command, address and data towards the die.
    #[inline]
    pub fn in_ns(&self, op: &Op) -> u64 {
        match op.kind {
            OpKind::Read => self.read_command_ns,
            OpKind::Program => self.program_command_ns + self.data_ns(op.bytes),
            OpKind::Erase => self.erase_command_ns,
            OpKind::Copyback => self.read_command_ns + self.program_command_ns,
        }
    }

    /// The array at work. A copyback reads its source page and programs its destination (of one type, as chips ask).
    #[inline]
    pub fn array_ns(&self, op: &Op) -> u64 {
        let page_type = op.page_type as usize;
        match op.kind {
            OpKind::Read => self.read_ns[page_type],
            OpKind::Program => self.program_ns[page_type],
            OpKind::Erase => self.erase_ns,
            OpKind::Copyback => self.read_ns[page_type] + self.program_ns[page_type],
        }
    }

    /// Data from the die; only reads have it.
    #[inline]
    pub fn out_ns(&self, op: &Op) -> u64 {
        self.data_out_command_ns + self.data_ns(op.bytes)
    }

    /// The steps of a program or erase; a read is one step.
    pub fn steps(&self, op: &Op) -> Steps {
        let count = match op.kind {
            OpKind::Read => 1,
            OpKind::Program | OpKind::Copyback => self.program_steps,
            OpKind::Erase => self.erase_steps,
        };
        Steps { count, total_ns: self.array_ns(op) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_end_where_the_operation_is_divided() {
        let steps = Steps { count: 5, total_ns: 3_500_000 };
        assert_eq!(steps.boundary_after(0), 700_000);
        assert_eq!(steps.boundary_after(699_999), 700_000);
        assert_eq!(steps.boundary_after(700_000), 1_400_000);
        assert_eq!(steps.boundary_after(3_499_999), 3_500_000);
        assert_eq!(steps.boundary_after(9_999_999), 3_500_000);
        // 100 ns in 3 steps ends at 33, 66 and 100.
        let odd = Steps { count: 3, total_ns: 100 };
        assert_eq!([odd.boundary_after(0), odd.boundary_after(33), odd.boundary_after(66)], [33, 66, 100]);
    }

    #[test]
    fn read_time_follows_from_the_gray_code_or_is_given() {
        let mut cfg = DriveConfig::default();
        cfg.timing.t_read_us = vec![];
        (cfg.timing.t_read_base_us, cfg.timing.t_sense_us) = (0.0, 39.0);
        assert_eq!(Timing::new(&cfg).read_ns, [78_000, 117_000, 78_000]);
        cfg.timing.t_read_us = vec![40.0];
        assert_eq!(Timing::new(&cfg).read_ns, [40_000; 3]);
        cfg.timing.t_read_us = vec![50.0, 60.0, 70.0];
        assert_eq!(Timing::new(&cfg).read_ns, [50_000, 60_000, 70_000]);
    }
}
