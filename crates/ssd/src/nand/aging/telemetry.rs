//! What a block shows of its wear (calibration section 4.2): the same laws as in `nand::cell::wear`, in fixed point.

use super::tables::{CYCLE, Traits};
use super::{Aging, Telemetry};

/// Errors gained by so much damage, in 1/65536 bit.
fn gained_q16(traits: &Traits, damage: u64) -> i64 {
    ((u128::from(damage) * u128::from(traits.n12_growth_q32) / u128::from(CYCLE)) >> 16) as i64
}

impl Aging {
    /// The N12 that erase time and fresh errors show, in 1/65536 bit.
    fn visible_q16(&self, block: u32) -> i64 {
        let (traits, seen) = (self.tables().traits(block), &self.tables().seen);
        let lasting = self.lasting[block as usize];
        let recovered = u128::from(self.done[block as usize].saturating_sub(lasting));
        let shown = (recovered * u128::from(seen.done_share_q16)) >> 16;
        i64::from(traits.n12_q16) + gained_q16(traits, lasting + shown as u64)
    }

    /// Erase pulses the block needs, in 1/65536.
    fn erase_need_q16(&self, block: u32) -> i64 {
        let (traits, seen) = (self.tables().traits(block), &self.tables().seen);
        let shown = (i128::from(self.visible_q16(block)) * i128::from(seen.erase_per_bit_q24)) >> 24;
        seen.erase_base_q16 + shown as i64 + i64::from(traits.erase_q16)
    }

    fn erase_pulses(&self, block: u32) -> u32 {
        let need = (self.erase_need_q16(block) + 65_535) >> 16;
        need.clamp(1, i64::from(u32::MAX)) as u32
    }

    /// Errors right after programming, in whole bits.
    fn fresh_bits(&self, block: u32) -> i64 {
        let (traits, seen) = (self.tables().traits(block), &self.tables().seen);
        let shown = (i128::from(self.visible_q16(block)) * i128::from(seen.fresh_per_bit_q24)) >> 24;
        ((seen.fresh_base_q16 + shown as i64 + i64::from(traits.fresh_q16) + 32_768) >> 16).max(0)
    }

    /// Program time of a page in the normal mode, in ns.
    fn program_ns(&self, block: u32) -> i64 {
        let (traits, seen) = (self.tables().traits(block), &self.tables().seen);
        let gained = gained_q16(traits, self.lasting[block as usize]);
        let born = ((i64::from(traits.n12_q16) - seen.program_n12_q16) * seen.program_share_q16) >> 16;
        // exp of what was gained from the table, of what it was born with by block.
        let at_q16 = (gained as u128 * u128::from(seen.early_per_bit_q32)) >> 32;
        let at = ((at_q16 >> 8) as usize).min(seen.falling_exp.len() - 2);
        let part = if at_q16 >> 8 == at as u128 { (at_q16 & 255) as i64 } else { 255 };
        let (high, low) = (i64::from(seen.falling_exp[at]), i64::from(seen.falling_exp[at + 1]));
        let gained_exp_q24 = high - (((high - low) * part) >> 8);
        let left_q24 = (gained_exp_q24 * i64::from(traits.early_q24)) >> 24;
        let early = (seen.early_ns * ((1 << 24) - left_q24)) >> 24;
        let late = (i128::from(seen.late_ns_per_bit_q16) * i128::from(gained + born)) >> 32;
        seen.program_ns - early - late as i64 + i64::from(traits.program_ns)
    }

    /// See [`super::super::Chip::telemetry`].
    pub(crate) fn telemetry(&mut self, block: u32, cycles: u32) -> Telemetry {
        let draw = self.telemetry_rng.next_u64();
        let even_q16 = (draw >> 47) as i64 - 65_536;
        let tables = self.tables();
        let noise = (even_q16 * i64::from(tables.modes[0].noise_q8)) >> 16;
        let fine = (self.erase_need_q16(block) * tables.seen.erase_fine + 65_535) >> 16;
        // Suspends of its erase add errors at once.
        let fresh_q8 = ((self.fresh_bits(block) << 8) * i64::from(self.harm_q12(block))) >> 12;
        let slower = i128::from(tables.modes[usize::from(self.mode(block))].program_q16);
        Telemetry {
            cycles,
            erase_pulses: self.erase_pulses(block),
            erase_steps: fine.clamp(1, i64::from(u32::MAX)) as u32,
            fresh_bits_q8: (fresh_q8 + noise + i64::from(self.carried_q8(block, 0)))
                .clamp(0, i64::from(u32::MAX)) as u32,
            program_ns: ((i128::from(self.program_ns(block)) * slower) >> 16).clamp(0, i128::from(u32::MAX))
                as u32,
        }
    }

    /// Array time of programs or erases over that of an unworn average block, in 1/4096.
    #[inline]
    pub(crate) fn time_scale_q12(&self, block: u32, erase: bool) -> u32 {
        let tables = self.tables();
        if !tables.worn_times {
            return 4_096;
        }
        let (now, nominal) = match erase {
            true => (i64::from(self.erase_pulses(block)), tables.seen.nominal_pulses),
            false => (self.program_ns(block).max(0), tables.seen.nominal_program_ns),
        };
        ((now << 12) / i64::from(nominal.max(1))).clamp(1, i64::from(u32::MAX)) as u32
    }
}
