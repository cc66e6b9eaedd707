//! Random drives whose mapping units, or what they program at once, are more than usual.

use super::parity::without_parity_if_it_must;
use super::setup::{
    UNITS_AT_MOST, make_room, pick, random_aging, random_caching, random_config, random_locks,
    random_sorting, random_stream,
};
use crate::support::every::select;
use ssd::DriveConfig;
use ssd::rng::Rng;
use ssd::sections::{Issue, MappingUnit, ProgramOrder, Superblock};

/// A drive mapped in units of 4 to 64 KiB, on pages of every size, larger or smaller, in every way that they are
/// issued; some age, cache, sort or lock what dies.
pub fn random_units(rng: &mut Rng) -> DriveConfig {
    use MappingUnit::{FourKib, SixteenKib, SixtyFourKib, ThirtyTwoKib};
    loop {
        let mut cfg = match rng.below(8) {
            0 => random_locks(rng),
            1 => random_caching(rng),
            2 => random_sorting(rng),
            _ => random_config(rng),
        };
        cfg.mapping.unit = pick(rng, &[FourKib, SixteenKib, SixteenKib, ThirtyTwoKib, SixtyFourKib]);
        cfg.geometry.page_bytes = pick(rng, &[2_048, 4_096, 8_192, 8_192, 16_384, 16_384, 32_768]);
        cfg.geometry.planes_per_die = pick(rng, &[1, 2, 4, 4, 6, 8]);
        if cfg.pages_per_unit() > 1 {
            (cfg.scheduling.multi_plane, cfg.allocation.issue) = (true, Issue::Row);
            cfg.allocation.superblock = pick(rng, &[Superblock::Planes, Superblock::All]);
            select(&mut cfg, "ftl.read_reclaim", "never");
        }
        if rng.below(8) == 0 {
            random_aging(&mut cfg, rng);
        }
        without_parity_if_it_must(&mut cfg);
        if cfg.validate().is_err() {
            select(&mut cfg, "ftl.migration", "off_chip");
        }
        if cfg.physical_units() <= UNITS_AT_MOST && make_room(&mut cfg) {
            return cfg;
        }
    }
}

/// A drive whose chips program wordlines at once, of cells of every number of bits, mapped in units that fill pages or
/// parts of them; some age, some separate data.
pub fn random_one_shot(rng: &mut Rng) -> DriveConfig {
    use MappingUnit::{FourKib, Page, SixteenKib};
    loop {
        let mut cfg = random_config(rng);
        cfg.geometry.bits_per_cell = pick(rng, &[2, 3, 3, 4]);
        cfg.geometry.page_bytes = pick(rng, &[4_096, 8_192, 16_384]);
        cfg.mapping.unit = pick(rng, &[FourKib, FourKib, SixteenKib, Page]);
        (cfg.cell.program_order, cfg.cell.one_shot) = (ProgramOrder::WordlineMajor, true);
        if rng.below(6) == 0 {
            random_aging(&mut cfg, rng);
        }
        select(&mut cfg, "ftl.read_reclaim", "never");
        select(&mut cfg, "ftl.migration", "off_chip");
        cfg.redundancy.parity_percent = 0.0;
        if cfg.physical_units() > UNITS_AT_MOST {
            continue;
        }
        let separates = rng.below(4) == 0;
        if if separates { random_stream(&mut cfg, rng) } else { make_room(&mut cfg) } {
            return cfg;
        }
    }
}
