//! Gray codes as data: which thresholds a read of each page type senses.
//!
//! A cell of `m` bits has `2^m` states and `2^m - 1` thresholds between them; threshold `k` separates state `k-1`
//! from state `k`. A page type reads 1 in the erased state and flips at each of its thresholds, so the table of
//! thresholds per page type is the whole code (calibration section 11.1).

use crate::config::{Field, Kind, Parameter, Problem, Value};
use crate::sections::{ErrorModel, Sections};

/// A Gray code with a name, which may stand in a configuration in place of its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named {
    /// Name in files.
    pub name: &'static str,
    /// Thresholds sensed by each page type, lowest page type first.
    pub rows: &'static [&'static [u32]],
}

impl Named {
    /// Bits of a cell.
    pub const fn bits(&self) -> u32 {
        self.rows.len() as u32
    }

    /// The table.
    pub fn code(&self) -> Vec<Vec<u32>> {
        self.rows.iter().map(|row| row.to_vec()).collect()
    }
}

/// One bit, one threshold.
pub const SLC: Named = Named { name: "slc", rows: &[&[1]] };
/// LSB and MSB of MLC: 1 and 2 thresholds (redFTL section 4.2).
pub const MLC_1_2: Named = Named { name: "mlc_1_2", rows: &[&[2], &[1, 3]] };
/// TLCbase: 1, 2 and 4 thresholds (RHS figure 2).
pub const TLC_1_2_4: Named = Named { name: "tlc_1_2_4", rows: &[&[4], &[2, 6], &[1, 3, 5, 7]] };
/// TLCopt: 2, 3 and 2 thresholds (the numbers redFTL section 4.2, which thresholds assumed).
pub const TLC_2_3_2: Named = Named { name: "tlc_2_3_2", rows: &[&[1, 5], &[2, 4, 6], &[3, 7]] };
/// ORBC of RHS: 1, 2, 4 and 8 thresholds (calibration section 11.1).
pub const QLC_ORBC: Named =
    Named { name: "qlc_orbc", rows: &[&[8], &[4, 12], &[2, 6, 10, 14], &[1, 3, 5, 7, 9, 11, 13, 15]] };
/// PBBC of RHS: 1, 4, 5 and 5 thresholds (RHS, a damaged row rebuilt in calibration section 11.1).
pub const QLC_PBBC: Named =
    Named { name: "qlc_pbbc", rows: &[&[8], &[3, 7, 9, 13], &[2, 4, 6, 11, 15], &[1, 5, 10, 12, 14]] };
/// MBBC of RHS: 3, 4, 4 and 4 thresholds (RHS, damaged rows rebuilt in calibration section 11.1).
pub const QLC_MBBC: Named =
    Named { name: "qlc_mbbc", rows: &[&[2, 5, 11], &[1, 7, 10, 12], &[3, 9, 13, 15], &[4, 6, 8, 14]] };

/// All codes with a name.
pub const NAMED: &[Named] = &[SLC, MLC_1_2, TLC_1_2_4, TLC_2_3_2, QLC_ORBC, QLC_PBBC, QLC_MBBC];

const NAMES: [&str; NAMED.len()] = {
    let mut names = [""; NAMED.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = NAMED[at].name;
        at += 1;
    }
    names
};

/// The code of that name.
pub fn named(name: &str) -> Option<&'static Named> {
    NAMED.iter().find(|code| code.name == name)
}

/// The default code for cells of `bits` bits: SLC, MLC 1-2, TLC 2-3-2, QLC 1-2-4-8 (ORBC of RHS).
pub fn default_code(bits: u32) -> Vec<Vec<u32>> {
    let code = match bits {
        1 => SLC,
        2 => MLC_1_2,
        3 => TLC_2_3_2,
        _ => QLC_ORBC,
    };
    code.code()
}

/// Checks that `code` is a Gray code for cells of `bits` bits: one row per page type, every threshold exactly once.
/// Neighbouring states then differ in one bit; the error says what is wrong, for instance two states that read alike.
pub fn check(code: &[Vec<u32>], bits: u32) -> Result<(), String> {
    if code.len() != bits as usize {
        return Err(format!("has {} page types, a cell of {bits} bits has {bits}", code.len()));
    }
    let thresholds = (1u32 << bits) - 1;
    let mut seen = vec![false; thresholds as usize + 1];
    for &threshold in code.iter().flatten() {
        if threshold == 0 || threshold > thresholds {
            return Err(format!("names threshold {threshold}, allowed are 1 to {thresholds}"));
        }
        if std::mem::replace(&mut seen[threshold as usize], true) {
            return Err(format!("names threshold {threshold} twice"));
        }
    }
    if let Some(missing) = (1..seen.len()).find(|&t| !seen[t]) {
        return Err(format!("leaves out threshold {missing}"));
    }
    let words = codewords(code, bits);
    for (state, word) in words.iter().enumerate() {
        if let Some(twin) = words[..state].iter().position(|other| other == word) {
            return Err(format!("gives states {twin} and {state} the same bits"));
        }
    }
    Ok(())
}

/// The bits stored by each state, bit `j` for page type `j`; the erased state reads all ones.
pub fn codewords(code: &[Vec<u32>], bits: u32) -> Vec<u32> {
    let mut word = (1 << bits) - 1;
    let mut words = vec![word];
    for threshold in 1..1u32 << bits {
        if let Some(page) = code.iter().position(|row| row.contains(&threshold)) {
            word ^= 1 << page;
        }
        words.push(word);
    }
    words
}

impl Parameter for Vec<Vec<u32>> {
    const KIND: Kind = Kind::GrayCode(&NAMES);
    fn read(value: &Value, field: &Field) -> Result<Self, Problem> {
        if let Value::Text(name) = value {
            let code = named(name).ok_or_else(|| Problem::no_such_name("Gray code", name, NAMES))?;
            return Ok(code.code());
        }
        let Value::List(rows) = value else { return Err(field.wrong_type(value)) };
        let mut table = Self::new();
        for row in rows {
            let Value::List(cells) = row else { return Err(field.wrong_type(value)) };
            table.push(cells.iter().map(|cell| u32::read(cell, field)).collect::<Result<_, _>>()?);
        }
        Ok(table)
    }
    fn check(&self, field: &Field) -> Result<(), Problem> {
        self.iter().flatten().try_for_each(|n| n.check(field))
    }
    fn show(&self) -> String {
        let row =
            |row: &Vec<u32>| format!("[{}]", row.iter().map(u32::to_string).collect::<Vec<_>>().join(", "));
        format!("[{}]", self.iter().map(row).collect::<Vec<_>>().join(", "))
    }
}

impl Sections {
    /// The Gray code in force: for each page type, lowest first, the thresholds its read senses.
    pub fn gray_code(&self) -> Vec<Vec<u32>> {
        let (bits, states) = (self.geometry.bits_per_cell, &self.cells.states);
        if !self.cell.gray_code.is_empty() {
            return self.cell.gray_code.clone();
        }
        let aging = self.errors.model == ErrorModel::Cells && states.bits_per_cell == bits;
        if aging && !states.gray_code.is_empty() {
            return states.gray_code.clone();
        }
        default_code(bits)
    }

    /// tR of each page type in microseconds, lowest page type first.
    pub fn t_read_us(&self) -> Vec<f64> {
        let timing = &self.timing;
        if timing.t_read_us.is_empty() {
            let sensed = |row: &Vec<u32>| timing.t_read_base_us + timing.t_sense_us * row.len() as f64;
            return self.gray_code().iter().map(sensed).collect();
        }
        self.for_each_page_type(&timing.t_read_us)
    }

    /// tPROG of each page type in microseconds, lowest page type first.
    pub fn t_program_us(&self) -> Vec<f64> {
        self.for_each_page_type(&self.timing.t_program_us)
    }

    fn for_each_page_type(&self, list: &[f64]) -> Vec<f64> {
        let types = self.geometry.bits_per_cell as usize;
        match list {
            [one] => vec![*one; types],
            _ => list.to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_gray_codes() {
        for bits in 1..=4 {
            let code = default_code(bits);
            assert_eq!(check(&code, bits), Ok(()), "{bits} bits");
            for pair in codewords(&code, bits).windows(2) {
                assert_eq!((pair[0] ^ pair[1]).count_ones(), 1);
            }
        }
    }

    #[test]
    fn codes_with_a_name_are_gray_codes() {
        let thresholds: [(&str, &[usize]); 7] = [
            ("slc", &[1]),
            ("mlc_1_2", &[1, 2]),
            ("tlc_1_2_4", &[1, 2, 4]),
            ("tlc_2_3_2", &[2, 3, 2]),
            ("qlc_orbc", &[1, 2, 4, 8]),
            ("qlc_pbbc", &[1, 4, 5, 5]),
            ("qlc_mbbc", &[3, 4, 4, 4]),
        ];
        assert_eq!(thresholds.map(|(name, _)| name), *NAMED.iter().map(|code| code.name).collect::<Vec<_>>());
        for (name, counts) in thresholds {
            let code = named(name).unwrap().code();
            let bits = counts.len() as u32;
            assert_eq!(code.iter().map(Vec::len).collect::<Vec<_>>(), counts, "{name}");
            assert_eq!(check(&code, bits), Ok(()), "{name}");
            let mut words = codewords(&code, bits);
            assert_eq!(words[0], (1 << bits) - 1, "{name}: the erased state is all ones");
            for (state, pair) in words.windows(2).enumerate() {
                let changed = pair[0] ^ pair[1];
                assert_eq!(changed.count_ones(), 1, "{name}: states {state} and {}", state + 1);
                assert!(code[changed.trailing_zeros() as usize].contains(&(state as u32 + 1)), "{name}");
            }
            words.sort_unstable();
            words.dedup();
            assert_eq!(words.len(), 1 << bits, "{name}: all states differ");
        }
        assert_eq!(named("qlc_bbc"), None);
    }

    /// The rows that the paper prints, as repaired in calibration section 11.1: the bit of each state, the erased one
    /// first.
    #[test]
    fn rows_of_rhs_are_as_printed() {
        for (code, page, bits) in [
            (QLC_ORBC, 2, "1100001111000011"),
            (QLC_PBBC, 3, "1000011111001100"),
            (QLC_MBBC, 0, "1100011111100000"),
            (QLC_MBBC, 3, "1111001100000011"),
        ] {
            let words = codewords(&code.code(), 4);
            let row: String =
                words.iter().map(|word| if word >> page & 1 == 1 { '1' } else { '0' }).collect();
            assert_eq!(row, bits, "{} page {page}", code.name);
        }
    }

    #[test]
    fn every_damaged_threshold_of_a_named_code_is_found() {
        for named in NAMED {
            let (code, bits) = (named.code(), named.bits());
            for (page, row) in code.iter().enumerate() {
                for at in 0..row.len() {
                    // Another threshold in its place is a threshold too many or too few.
                    for other in (0..=1 << bits).filter(|&t| t != row[at]) {
                        let mut damaged = code.clone();
                        damaged[page][at] = other;
                        assert!(check(&damaged, bits).is_err(), "{}: {damaged:?}", named.name);
                    }
                    let mut damaged = code.clone();
                    damaged[page].remove(at);
                    assert!(check(&damaged, bits).is_err(), "{}: {damaged:?}", named.name);
                }
            }
        }
    }

    #[test]
    fn the_tlc_default_senses_two_three_two() {
        assert_eq!(default_code(3).iter().map(Vec::len).collect::<Vec<_>>(), [2, 3, 2]);
    }

    #[test]
    fn what_is_not_a_code_is_told_why() {
        let bad = |code: &[Vec<u32>], bits, words: &str| {
            let error = check(code, bits).unwrap_err();
            assert!(error.contains(words), "{error}");
        };
        bad(&[vec![1]], 2, "1 page types");
        bad(&[vec![2], vec![1, 4]], 2, "threshold 4");
        bad(&[vec![2], vec![1, 2]], 2, "twice");
        bad(&[vec![2], vec![1]], 2, "leaves out threshold 3");
        // Every threshold once, yet page types of 1, 1 and 5 thresholds cannot tell eight states apart.
        bad(&[vec![1], vec![2], vec![3, 4, 5, 6, 7]], 3, "same bits");
    }
}
