//! What a touch of a large table costs: the floor under every random request, and what huge pages save.

use crate::report::{Goal, Row, best_seconds};
use std::hint::black_box;

/// 512 MiB: the map of a 512-GiB drive in 4-KiB units.
const ENTRIES: usize = 128 << 20;
/// 2 MiB: small enough that [`lab::memory::HugePages`] leaves it on ordinary pages.
const CHUNK: usize = 512 << 10;
const TOUCHES: u32 = 4_000_000;

/// Dependent random reads, one after the other, of a table on huge pages and of one on 4-KiB pages.
pub fn table_access() -> Vec<Row> {
    let huge = best_seconds(3, || vec![1u32; ENTRIES], |table| walk(|index| table[index]));
    let chunks = || (0..ENTRIES / CHUNK).map(|_| vec![1u32; CHUNK]).collect::<Vec<_>>();
    let small = best_seconds(3, chunks, |table| walk(|index| table[index / CHUNK][index % CHUNK]));
    let each = |seconds: f64| seconds * 1e9 / f64::from(TOUCHES);
    vec![
        Row::new("table_access_huge_pages", each(huge), "ns", Goal::None),
        Row::new("table_access_small_pages", each(small), "ns", Goal::None),
    ]
}

/// Each index depends on what the last one held.
fn walk(read: impl Fn(usize) -> u32) {
    let mut state = 1u64;
    for _ in 0..TOUCHES {
        // A step of Knuth's 64-bit linear congruential generator (MMIX).
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(u64::from(read(index_of(state))) | 1);
    }
    black_box(state);
}

fn index_of(state: u64) -> usize {
    ((state >> 32) as usize) % ENTRIES
}
