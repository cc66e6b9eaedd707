//! Counts reads of every unit with few bits: what is read most goes to the pages that are read fastest, what is never
//! read to the slowest.
//!
//! A read raises a heat `i` to `i + 1` with probability `p[i]`, so that few bits tell many reads apart. What lowers
//! it again is a scheme of its own (RHS table II). A unit is placed by the heat that is read when it enters its queue;
//! only then it is lowered.

use super::{Change, Member, Size};
use crate::config::member::Misfit;
use crate::ftl::tables::map::Map;
use crate::restore::{Verdict, alike};
use crate::rng::{Rng, chance};
use crate::snapshot;
use crate::units::Lpn;
use serde::{Deserialize, Serialize};

/// Name in configurations.
pub const NAME: &str = "read_heat";
/// What it does.
pub const SUMMARY: &str = "by a counter of a few bits per mapping unit, which reads increase with some \
                           probability";
/// Where it comes from.
pub const SOURCE: &str = "RHS section III";
/// What it costs.
pub const MEMORY: &str = "2 bits per logical unit (ftl.page_class.bits, rounded up to 1, 2, 4 or 8)";

choice! {
    /// What lowers heats (RHS section III-B, table II).
    pub enum Decrease {
        /// Each raise lowers the heat of a random other unit that is mapped (random read heat decrease).
        Rrhd = "rrhd",
        /// A unit that the host writes, or that moves, has heat 0 from then on (reset on host and cleaning writes).
        Rhgw = "rhgw",
        /// A unit that the host writes has heat 0 from then on (reset on host writes only).
        Rhwo = "rhwo",
        /// A unit that moves loses one (decrement on cleaning writes only).
        Dgwo = "dgwo",
    }
}

section! {
    /// Parameters of `read_heat`.
    pub struct Params {
        /// Bits of a unit's heat, which ranges from 0 to 2^bits - 1.
        bits: u32 = 2, unit "bits", range 1..=8;
        /// Probability that a read raises heat 0, heat 1 and so on: 2^bits - 1 numbers.
        p: Vec<f64> = vec![1.0, 0.1, 0.01], range 0.0..=1.0;
        /// When the heat of a unit is lowered.
        decrease: Decrease = Decrease::Dgwo;
        /// Combined capacity of a stream's queues, in blocks: up to that much data waits to be programmed.
        queue_blocks: f64 = 2.0, unit "blocks", range 0.0..=64.0;
    }
}

/// Random units that are looked at for one that is mapped (assumed).
const TRIES: u32 = 8;

/// The policy.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policy {
    #[serde(skip, default = "Params::default")]
    params: Params,
    /// Heats, packed.
    #[serde(with = "snapshot::raw")]
    heats: Vec<u8>,
    /// A unit's heat takes two to the power of so many bits.
    shift: u32,
    logical: u32,
    /// By heat: the chance that a read raises it; 0 for the highest.
    #[serde(skip)]
    chances: Vec<u64>,
    /// By heat: the class that it deserves.
    #[serde(skip)]
    classes: Vec<u8>,
}

/// Bits that a heat takes in the table, as a power of two.
fn width_shift(bits: u32) -> u32 {
    bits.next_power_of_two().trailing_zeros()
}

/// Units in blocks, of a number of blocks.
// tidy: allow(float): called when a policy is built
pub(super) fn units_of_blocks(blocks: f64, units_per_block: u64) -> u64 {
    libm::round(blocks * units_per_block as f64) as u64
}

impl Policy {
    /// A policy that has seen no reads.
    // tidy: allow(float): called when a policy is built
    pub fn new(params: &Params) -> Self {
        let mut chances: Vec<u64> = params.p.iter().map(|p| chance(p * 1e6)).collect();
        chances.push(0);
        Policy {
            shift: width_shift(params.bits),
            heats: Vec::new(),
            logical: 0,
            chances,
            classes: Vec::new(),
            params: params.clone(),
        }
    }

    /// Where a unit's heat is: byte, and bits before it.
    #[inline]
    fn place(&self, lpn: Lpn) -> (usize, u32) {
        let per_byte = 3 - self.shift;
        (lpn.index() >> per_byte, (lpn.0 & ((1 << per_byte) - 1)) << self.shift)
    }

    /// Ones where a heat is, at the lowest bits.
    #[inline]
    fn mask(&self) -> u8 {
        u8::MAX >> (8 - (1 << self.shift))
    }

    /// The heat of a unit.
    #[inline]
    fn heat(&self, lpn: Lpn) -> u8 {
        let (at, bits) = self.place(lpn);
        self.heats[at] >> bits & self.mask()
    }

    #[inline]
    fn set(&mut self, lpn: Lpn, heat: u8) {
        let (at, bits) = self.place(lpn);
        self.heats[at] = self.heats[at] & !(self.mask() << bits) | heat << bits;
    }

    /// Sets a unit's heat to 0; whether it was higher.
    #[inline]
    fn reset(&mut self, lpn: Lpn) -> bool {
        let lowers = self.heat(lpn) > 0;
        if lowers {
            self.set(lpn, 0);
        }
        lowers
    }

    /// Takes one off a unit's heat, if it has any; whether it had.
    #[inline]
    fn lower(&mut self, lpn: Lpn) -> bool {
        let heat = self.heat(lpn);
        if heat > 0 {
            self.set(lpn, heat - 1);
        }
        heat > 0
    }

    /// Takes one off the heat of a random unit that is mapped and not this one; whether it had any.
    fn lower_another(&mut self, lpn: Lpn, map: &Map, rng: &mut Rng) -> bool {
        for _ in 0..TRIES {
            let other = Lpn(rng.below(self.logical));
            if other != lpn && map.lookup(other).is_some() {
                return self.lower(other);
            }
        }
        false
    }
}

impl Member for Policy {
    // tidy: allow(float): called when a drive is built
    fn queue_units(&self, units_per_block: u64) -> u64 {
        units_of_blocks(self.params.queue_blocks, units_per_block)
    }

    fn counts_reads(&self) -> bool {
        true
    }

    fn learn(&mut self, size: &Size) {
        self.heats = vec![0; self.table_bytes(size.logical_units) as usize];
        self.logical = size.logical_units as u32;
        // The highest heat goes to the fastest class, 0 to the slowest, what is between in proportion: to the nearest
        // class. There are no ties: twice a heat times classes, less one, is even, an odd multiple of the highest not.
        let (highest, last) = ((1u32 << self.params.bits) - 1, u32::from(size.classes.count) - 1);
        let class = |heat: u32| ((2 * (highest - heat) * last + highest) / (2 * highest)) as u8;
        self.classes = (0..=highest).map(class).collect();
    }

    fn table_bytes(&self, logical_units: u64) -> u64 {
        logical_units.div_ceil(8 >> self.shift)
    }

    fn misfit(&self) -> Option<Misfit> {
        let (levels, found) = ((1usize << self.params.bits) - 1, self.params.p.len());
        (levels != found).then(|| Misfit {
            keys: &["ftl.page_class.p", "ftl.page_class.bits"],
            found: format!("{found} probabilities for heats of {} bits", self.params.bits),
            allowed: format!("{levels}, one for each heat but the highest"),
        })
    }

    #[inline]
    fn class(&self, lpn: Lpn) -> u8 {
        self.classes[usize::from(self.heat(lpn))]
    }

    #[inline]
    fn on_read(&mut self, lpn: Lpn, map: &Map, rng: &mut Rng) -> Change {
        let heat = self.heat(lpn);
        // What is certain, or impossible as for the highest heat, needs no chance.
        let raised = match self.chances[usize::from(heat)] {
            0 => false,
            u64::MAX => true,
            chance => rng.hits(chance),
        };
        if !raised {
            return Change::default();
        }
        self.set(lpn, heat + 1);
        let lowered = self.params.decrease == Decrease::Rrhd && self.lower_another(lpn, map, rng);
        Change { raised, lowered }
    }

    #[inline]
    fn on_write(&mut self, lpn: Lpn) -> bool {
        matches!(self.params.decrease, Decrease::Rhgw | Decrease::Rhwo) && self.reset(lpn)
    }

    #[inline]
    fn on_move(&mut self, lpn: Lpn) -> bool {
        match self.params.decrease {
            Decrease::Rhgw => self.reset(lpn),
            Decrease::Dgwo => self.lower(lpn),
            Decrease::Rrhd | Decrease::Rhwo => false,
        }
    }

    /// What was read is gone: whatever is written there is other data (assumed; RHS does not say).
    fn on_trim(&mut self, lpn: Lpn) {
        self.reset(lpn);
    }

    fn levels(&self) -> Vec<u64> {
        let mut levels = vec![0; 1 << self.params.bits];
        (0..self.logical).map(Lpn).for_each(|lpn| levels[usize::from(self.heat(lpn))] += 1);
        levels
    }

    fn restored(&mut self, fresh: Policy) -> Verdict {
        alike("heats", &self.heats, &fresh.heats)?;
        (self.params, self.shift, self.logical) = (fresh.params, fresh.shift, fresh.logical);
        (self.chances, self.classes) = (fresh.chances, fresh.classes);
        let highest = self.classes.len() - 1;
        let is_one = |lpn| usize::from(self.heat(Lpn(lpn))) <= highest;
        crate::restore::ensure((0..self.logical).all(is_one), "a heat above the highest")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ftl::page_class::Classes;
    use crate::nand::gray;
    use crate::units::Pun;

    /// Eight units, all mapped but the last, on pages of this code.
    fn policy(code: &str, params: &Params) -> (Policy, Map, Rng) {
        let classes = Classes::of(&gray::named(code).unwrap().code());
        let mut policy = Policy::new(params);
        policy.learn(&Size { logical_units: 8, data_units: 12, classes, types: 4 });
        let mut map = Map::new(8, 12, false);
        for unit in 0..7 {
            map.assign(Lpn(unit), Pun(unit));
        }
        (policy, map, Rng::named(1, "heat"))
    }

    fn params(decrease: Decrease) -> Params {
        Params { p: vec![1.0; 3], decrease, ..Params::default() }
    }

    /// By hand, event by event: unit 0 is read twice, written, read, moved twice. Its heat after each.
    #[test]
    fn each_scheme_lowers_what_the_paper_says() {
        for (decrease, heats, lowered) in [
            (Decrease::Rhgw, [1, 2, 0, 1, 0, 0], [true, true, false]),
            (Decrease::Rhwo, [1, 2, 0, 1, 1, 1], [true, false, false]),
            (Decrease::Dgwo, [1, 2, 2, 3, 2, 1], [false, true, true]),
        ] {
            let (mut policy, map, mut rng) = policy("qlc_orbc", &params(decrease));
            let (mut found, mut lowers) = (Vec::new(), Vec::new());
            for event in ["read", "read", "write", "read", "move", "move"] {
                match event {
                    "read" => {
                        let change = policy.on_read(Lpn(0), &map, &mut rng);
                        assert_eq!(change, Change { raised: true, lowered: false });
                    }
                    "write" => lowers.push(policy.on_write(Lpn(0))),
                    _ => lowers.push(policy.on_move(Lpn(0))),
                }
                found.push(policy.heat(Lpn(0)));
            }
            assert_eq!((found, lowers), (heats.to_vec(), lowered.to_vec()), "{decrease:?}");
        }
    }

    /// Each raise takes one from another unit that is mapped, if that has any.
    #[test]
    fn rrhd_lowers_random_others_that_are_mapped() {
        let (mut policy, map, mut rng) = policy("qlc_orbc", &params(Decrease::Rrhd));
        (0..8).for_each(|unit| policy.set(Lpn(unit), 3));
        policy.set(Lpn(2), 0);
        let mut hit = [0; 8];
        for _ in 0..700 {
            let before = policy.heats.clone();
            assert_eq!(policy.on_read(Lpn(2), &map, &mut rng), Change { raised: true, lowered: true });
            for unit in (0..8).filter(|&unit| unit != 2) {
                let now = policy.heat(Lpn(unit));
                hit[unit as usize] += 3 - u32::from(now);
                policy.set(Lpn(unit), 3);
            }
            assert_eq!(policy.heat(Lpn(2)), 1);
            policy.set(Lpn(2), 0);
            assert_eq!(policy.heats, before);
        }
        // 117 each of the six others; five standard deviations are 49.
        assert_eq!((hit[2], hit[7], hit.iter().sum::<u32>()), (0, 0, 700));
        assert!(
            hit.iter().enumerate().all(|(at, &n)| [2, 7].contains(&at) || n.abs_diff(117) < 49),
            "{hit:?}"
        );
        assert!(!policy.on_write(Lpn(0)) && !policy.on_move(Lpn(0)) && policy.heat(Lpn(0)) == 3);
        // Nothing is left to be lowered.
        (0..8).for_each(|unit| policy.set(Lpn(unit), 0));
        assert_eq!(policy.on_read(Lpn(2), &map, &mut rng), Change { raised: true, lowered: false });
    }

    /// The highest heat stays, and a raise happens as often as it should: the reads to heat 2 are one and a tenth's.
    #[test]
    fn reads_raise_by_chance() {
        let (mut policy, map, mut rng) = policy("qlc_orbc", &Params::default());
        let mut reads = [0u32; 3];
        for _ in 0..1_000 {
            policy.set(Lpn(1), 0);
            while policy.heat(Lpn(1)) < 2 {
                reads[usize::from(policy.heat(Lpn(1)))] += 1;
                policy.on_read(Lpn(1), &map, &mut rng);
            }
        }
        // Ten reads in the mean, geometric: five standard deviations of the sum are 1,500.
        assert_eq!(reads[0], 1_000);
        assert!(reads[1].abs_diff(10_000) < 1_500, "{reads:?}");
        policy.set(Lpn(1), 3);
        assert!((0..1_000).all(|_| policy.on_read(Lpn(1), &map, &mut rng) == Change::default()));
        assert_eq!(policy.levels(), [7, 0, 0, 1]);
        policy.on_trim(Lpn(1));
        assert_eq!(policy.levels(), [8, 0, 0, 0]);
    }

    /// By hand: the highest heat to the fastest class, 0 to the slowest, the others in proportion.
    #[test]
    fn heats_become_classes_in_proportion() {
        let of = |code, bits: u32| {
            let p = vec![0.5; (1usize << bits) - 1];
            policy(code, &Params { bits, p, ..Params::default() }).0.classes
        };
        assert_eq!(of("qlc_orbc", 2), [3, 2, 1, 0]);
        assert_eq!(of("qlc_pbbc", 2), [2, 1, 1, 0]);
        assert_eq!(of("qlc_mbbc", 2), [1, 1, 0, 0]);
        assert_eq!(of("qlc_orbc", 1), [3, 0]);
        assert_eq!(of("qlc_orbc", 3), [3, 3, 2, 2, 1, 1, 0, 0]);
        assert_eq!(of("slc", 2), [0, 0, 0, 0]);
        assert_eq!(of("qlc_orbc", 8).len(), 256);
    }

    /// Heats of any width stand beside each other.
    #[test]
    fn heats_are_packed() {
        for (bits, bytes) in [(1u32, 1), (2, 2), (3, 4), (4, 4), (5, 8), (8, 8)] {
            let p = vec![1.0; (1usize << bits) - 1];
            let (mut policy, ..) = policy("qlc_orbc", &Params { bits, p, ..Params::default() });
            assert_eq!((policy.heats.len(), policy.table_bytes(8)), (bytes, bytes as u64));
            let heat = |unit: u32| (unit * 37 % (1 << bits)) as u8;
            (0..8).for_each(|unit| policy.set(Lpn(unit), heat(unit)));
            assert!((0..8).all(|unit| policy.heat(Lpn(unit)) == heat(unit)), "{bits} bits");
        }
        // RHS: 1 TB in pages of 16 KiB.
        let units = 1_000_000_000_000 / 16_384;
        assert_eq!(Policy::new(&Params::default()).table_bytes(units), 15_258_789);
    }
}
