//! Markers of a block's age: are they whole, and which cells were they fitted on?

use super::check::Rules;
use crate::sections::CellPart;

/// Coefficients of RealWear: the constant, and one for each thing that is seen.
pub const REAL_WEAR: usize = 5;
/// Coefficients of PeWear+ (`pe_tprog`).
pub const PE_TPROG: usize = 3;
/// Coefficients of PeWear++ (`pe_tprog_ber`).
pub const PE_TPROG_BER: usize = 4;
/// Shares of blocks for which it is told what an estimate is off.
const OFF: usize = 7;

/// Constants of a section that markers do not depend on, or of one of which they depend on few: those few.
const SEEN: &[(&str, &[&str])] = &[
    ("cell.effects", &["rtn_bits"]),
    ("cell.ecc", &["sector_bytes", "code", "limit_bits", "max_rber"]),
    ("cell.population", &[]),
    ("cell.observables", &[]),
];

impl CellPart {
    /// A number of the constants that a fit of markers depends on: how blocks differ and wear, what is seen of it, and
    /// what is corrected; 31 bits of the FNV-1a of keys and values. What long rests do is not among them.
    pub fn fingerprint(&self) -> u32 {
        let mut number = 0x811c_9dc5_u32;
        for &(path, keys) in SEEN {
            let Some(section) = self.section(path) else { continue };
            for field in section.fields() {
                let counts =
                    if keys.is_empty() { field.key != "rest_recovery" } else { keys.contains(&field.key) };
                if counts {
                    let text =
                        format!("{path}.{} = {}\n", field.key, section.show(field.key).unwrap_or_default());
                    number = text
                        .bytes()
                        .fold(number, |number, byte| (number ^ u32::from(byte)).wrapping_mul(0x0100_0193));
                }
            }
        }
        number & 0x7fff_ffff
    }

    /// Lists that are there are whole.
    pub(super) fn check_markers(&self, rules: &mut Rules) {
        let m = &self.markers;
        let lists = [
            ("cell.markers.real_wear", &m.real_wear, REAL_WEAR),
            ("cell.markers.real_wear_off", &m.real_wear_off, OFF),
            ("cell.markers.uncalibrated", &m.uncalibrated, REAL_WEAR),
            ("cell.markers.uncalibrated_off", &m.uncalibrated_off, OFF),
            ("cell.markers.pe_tprog", &m.pe_tprog, PE_TPROG),
            ("cell.markers.pe_tprog_off", &m.pe_tprog_off, OFF),
            ("cell.markers.pe_tprog_ber", &m.pe_tprog_ber, PE_TPROG_BER),
            ("cell.markers.pe_tprog_ber_off", &m.pe_tprog_ber_off, OFF),
        ];
        for (key, list, wanted) in lists {
            if !list.is_empty() && list.len() != wanted {
                let allowed = format!("{wanted} numbers, or [] for none");
                rules.broken(&[key], format!("a list of {}", list.len()), &allowed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fingerprint_is_of_what_a_fit_depends_on() {
        let plain = CellPart::default().fingerprint();
        let changed = |change: fn(&mut CellPart)| {
            let mut part = CellPart::default();
            change(&mut part);
            part.fingerprint() != plain
        };
        assert!(changed(|part| part.population.n12_worst += 0.1));
        assert!(changed(|part| part.observables.erase_sigma *= 2.0));
        assert!(changed(|part| part.effects.rtn_bits = 1.0));
        assert!(changed(|part| part.ecc.limit_bits = 72));
        assert!(!changed(|part| part.population.rest_recovery = 1.0));
        assert!(!changed(|part| part.ecc.sense_us = 1.0));
        assert!(!changed(|part| part.retry.entries = 3));
        assert!(!changed(|part| part.markers.seed = 7));
    }

    #[test]
    fn lists_are_whole_or_empty() {
        let mut part = CellPart::default();
        part.markers.pe_tprog = vec![1.0, 2.0, 3.0];
        part.validate().expect("whole");
        part.markers.pe_tprog.push(4.0);
        let refused = part.validate().expect_err("one too many").to_string();
        for word in ["cell.markers.pe_tprog", "a list of 4", "3 numbers, or []"] {
            assert!(refused.contains(word), "{refused}");
        }
    }
}
