//! Gray codes as data: which thresholds a read of each page type senses.
//!
//! A cell of `m` bits has `2^m` states and `2^m - 1` thresholds between them; threshold `k` separates state `k-1`
//! from state `k`. A page type reads 1 in the erased state and flips at each of its thresholds, so the table of
//! thresholds per page type is the whole code (calibration section 11.1).

/// The default code for cells of `bits` bits: SLC, MLC 1-2, TLC 2-3-2, QLC 1-2-4-8 (ORBC of RHS).
pub fn default_code(bits: u32) -> Vec<Vec<u32>> {
    match bits {
        1 => vec![vec![1]],
        2 => vec![vec![2], vec![1, 3]],
        3 => vec![vec![1, 5], vec![2, 4, 6], vec![3, 7]],
        _ => vec![vec![8], vec![4, 12], vec![2, 6, 10, 14], (1..16).step_by(2).collect()],
    }
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
