//! Pages of one bit a cell.

use super::super::*;

/// Of one bit a cell a page is its wordline: no other is noise with it, and none is ever lost beside it.
#[test]
fn a_page_of_one_bit_a_cell_goes_alone() {
    let mut cfg = crate::drive_config::DriveConfig::default();
    (cfg.geometry.wordlines_per_block, cfg.geometry.bits_per_cell) = (64, 2);
    cfg.cells = crate::nand::cell::CellPart::preset("mlc").unwrap();
    let later = SimTime(525_600 * MINUTE_NS);
    for what in [Sanitizing::Scrubs, Sanitizing::Reprograms] {
        for one_bit in [true, false] {
            let fresh = || Locks::new(&cfg, what, 1);
            let mut locks = fresh();
            (0..64).step_by(2).for_each(|page| _ = locks.take_page(0, page, (64, one_bit), SimTime::ZERO));
            let beside = (1..64).step_by(2);
            let noise =
                beside.clone().filter(|&page| locks.answer((0, page), (64, 3), (later, 0)) == Raw::Noise);
            assert_eq!(noise.count(), if what == Sanitizing::Scrubs && !one_bit { 32 } else { 0 });
            if what == Sanitizing::Reprograms {
                let lost = beside.filter(|&page| locks.is_lost(0, page, 3, later)).count();
                assert_eq!(lost > 0, !one_bit, "{lost} of 32");
            }
            assert_eq!(locks.restored(fresh(), &[64]), Ok(()));
        }
    }
}
