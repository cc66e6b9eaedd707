//! Cells that say whether a page or a block may be read (Evanesco; RealWear chapter 5).
//!
//! A *page lock* programs some spare cells of a page in one shot: the majority of them counts, and a locked page
//! answers zeros. A *block lock* programs the cells of a block's select line, until no page of it conducts. Nothing but
//! an erase takes either back; what weakens them is time. The forms are fitted to the points that the paper tells
//! (`docs/calibration.md`, section 10.3), or assumed where it says so.

use super::normal::tail;

/// Hours of five years, at which the drift of flag cells is fitted.
pub const FIVE_YEARS_HOURS: f64 = 43_800.0;
/// Voltages of page locks: 1 to 5, .5 V apart (RealWear section 5.2.3).
pub const PAGE_LOCK_VOLTAGES: [u32; 5] = [1, 2, 3, 4, 5];
/// Times of page locks in the paper's design space; us (section 5.2.3).
pub const PAGE_LOCK_US: [f64; 3] = [100.0, 150.0, 200.0];
/// Voltages of block locks: 1 to 6 (section 5.3).
pub const BLOCK_LOCK_VOLTAGES: [u32; 6] = [1, 2, 3, 4, 5, 6];
/// Times of block locks in the paper's design space; us (section 5.3).
pub const BLOCK_LOCK_US: [f64; 3] = [200.0, 300.0, 400.0];
/// A block whose select line stands above this cannot be read; V (section 5.3).
pub const BLOCK_LOCKED_V: f64 = 3.0;

/// A dose above this harms the data of the wordline (fitted to region I of figure 40).
const HARMLESS_DOSE: f64 = 2.2;
/// Share of a page's flag cells that must be programmed at once for a lock to be relied on (section 5.2.3).
const RELIABLE: f64 = 0.999;

/// How a page is locked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PageLock {
    /// Which of [`PAGE_LOCK_VOLTAGES`].
    pub voltage: u32,
    /// How long; us.
    pub us: f64,
}

impl PageLock {
    /// What the paper chooses.
    pub const CHOSEN: PageLock = PageLock { voltage: 4, us: 100.0 };

    /// How far the middle of the flag cells is above what counts as programmed, in their standard deviations: less if
    /// the pulse is `cut` short after so many us.
    fn margin(&self, cut: f64) -> f64 {
        -0.068 + 2.0 * (f64::from(self.voltage) - 1.0) + 4.0 * libm::log10(cut / 100.0)
    }

    /// Share of cells that are programmed when the pulse is over.
    pub fn programmed(&self) -> f64 {
        tail(-self.margin(self.us))
    }

    /// The dose that the data of the wordline gets.
    pub fn dose(&self) -> f64 {
        0.5 * f64::from(self.voltage) + libm::log10(self.us / 100.0)
    }

    /// By what the errors of the wordline's data are multiplied (the slope is assumed).
    pub fn harm(&self) -> f64 {
        1.0 + 0.1 * (self.dose() - HARMLESS_DOSE).max(0.0)
    }

    /// Share of cells that do not count as programmed after so many hours, power having been lost after `cut` us of the
    /// pulse (none: after all of it). The drift is fitted at five years, its course over time assumed; time programs no
    /// cell that the pulse has not (assumed: the fit's spread alone would say so of pulses cut very short).
    pub fn flipped(&self, hours: f64, cut: Option<f64>) -> f64 {
        let drift = libm::log1p(hours) / libm::log1p(FIVE_YEARS_HOURS);
        let margin = self.margin(cut.unwrap_or(self.us));
        tail((margin - 0.74 * drift) / (1.0 + 1.53 * drift)).max(tail(margin))
    }

    /// Where in the design space it lies.
    pub fn region(&self) -> Region {
        match () {
            () if self.dose() > HARMLESS_DOSE => Region::Harms,
            () if self.programmed() < RELIABLE => Region::Fails,
            () => Region::Candidate,
        }
    }
}

/// Regions of the design space of page locks (figure 40).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region {
    /// Region I: the pulse harms the data of the wordline.
    Harms,
    /// Region II: too many flag cells are not programmed.
    Fails,
    /// Neither.
    Candidate,
}

/// The chance that so many cells of `cells` or more are flipped, each with a chance of its own.
pub fn at_least(flips: u32, cells: u32, chance: f64) -> f64 {
    let mut ways = 1.0;
    let mut sum = 0.0;
    for count in 0..=cells {
        if count >= flips {
            let rest = cells - count;
            sum += ways * libm::pow(chance, f64::from(count)) * libm::pow(1.0 - chance, f64::from(rest));
        }
        ways *= f64::from(cells - count) / f64::from(count + 1);
    }
    sum
}

/// The chance that the majority of an odd number of cells is flipped: a lock is lost.
pub fn majority_lost(cells: u32, chance: f64) -> f64 {
    at_least(cells / 2 + 1, cells, chance)
}

/// How a block is locked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockLock {
    /// Which of [`BLOCK_LOCK_VOLTAGES`].
    pub voltage: u32,
    /// Which of [`BLOCK_LOCK_US`]: 0, 1 or 2.
    pub time: usize,
}

impl BlockLock {
    /// What the paper chooses: voltage 6 for 300 us.
    pub const CHOSEN: BlockLock = BlockLock { voltage: 6, time: 1 };

    /// Where the middle of the select line stands when the pulse is over; V. Three of the values are the paper's
    /// (5.3, 5.0 and 3.6), the others assumed.
    pub fn volts_at_once(&self) -> f64 {
        const SIX: [f64; 3] = [4.7, 5.0, 5.3];
        const FIVE: [f64; 3] = [3.6, 3.75, 3.85];
        const FOUR: [f64; 3] = [2.6, 2.8, 2.95];
        match self.voltage {
            6 => SIX[self.time],
            5 => FIVE[self.time],
            lower => FOUR[self.time] - f64::from(4_u32.saturating_sub(lower)),
        }
    }

    /// Where it stands if power was lost after so many us of the pulse; V: on straight lines between the times that are
    /// known, from 0 V at 0 us on (assumed: charge comes fastest at first, so that it stands no lower).
    pub fn volts_cut(&self, us: f64) -> f64 {
        let mut before = (0.0, 0.0);
        for (time, &us_of_time) in BLOCK_LOCK_US.iter().enumerate().take(self.time + 1) {
            let here = (us_of_time, BlockLock { time, ..*self }.volts_at_once());
            if us < here.0 {
                return before.1 + (here.1 - before.1) * (us - before.0) / (here.0 - before.0);
            }
            before = here;
        }
        before.1
    }

    /// The same after so many hours.
    pub fn volts(&self, hours: f64) -> f64 {
        self.volts_at_once() * remaining(hours)
    }

    /// Whether the block cannot be read after so many hours.
    pub fn is_locked(&self, hours: f64) -> bool {
        self.volts(hours) > BLOCK_LOCKED_V
    }

    /// The same if power was lost after so many us of the pulse.
    pub fn is_locked_cut(&self, us: f64, hours: f64) -> bool {
        self.volts_cut(us) * remaining(hours) > BLOCK_LOCKED_V
    }

    /// How long it stays locked; hours. Zero if it never was, `None` if it stays for more than a century.
    pub fn locked_hours(&self) -> Option<f64> {
        if !self.is_locked(0.0) {
            return Some(0.0);
        }
        let spare = 1.0 - BLOCK_LOCKED_V / self.volts_at_once();
        let hours = libm::pow(10.0, spare / 0.05) - 1.0;
        (hours < 100.0 * 8_760.0).then_some(hours)
    }

    /// The time of the pulse; us.
    pub fn us(&self) -> f64 {
        BLOCK_LOCK_US[self.time]
    }
}

/// Share of a select line's voltage that is left after so many hours.
fn remaining(hours: f64) -> f64 {
    1.0 - 0.05 * libm::log10(1.0 + hours)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages() -> impl Iterator<Item = PageLock> {
        let times = |voltage| PAGE_LOCK_US.into_iter().map(move |us| PageLock { voltage, us });
        PAGE_LOCK_VOLTAGES.into_iter().flat_map(times)
    }

    fn near(found: f64, expected: f64, percent: f64) {
        assert!((found / expected - 1.0).abs() < percent / 100.0, "{found} for {expected}");
    }

    /// RealWear section 5.2.3: 47.3 % of cells at (1, 100); 4 in region I, 5 in region II, six candidates.
    #[test]
    fn the_design_space_of_page_locks_is_the_papers() {
        near(PageLock { voltage: 1, us: 100.0 }.programmed(), 0.473, 0.1);
        let count = |region| pages().filter(|lock| lock.region() == region).count();
        assert_eq!([Region::Harms, Region::Fails, Region::Candidate].map(count), [4, 5, 6]);
        let candidates: Vec<_> = pages().filter(|lock| lock.region() == Region::Candidate).collect();
        let expected = [(2, 200.0), (3, 100.0), (3, 150.0), (3, 200.0), (4, 100.0), (4, 150.0)];
        assert_eq!(candidates, expected.map(|(voltage, us)| PageLock { voltage, us }));
        // The fastest that loses less than one lock in a million in five years.
        let keeps = |lock: &&PageLock| majority_lost(9, lock.flipped(FIVE_YEARS_HOURS, None)) < 1e-6;
        let fastest = candidates.iter().filter(keeps).min_by(|a, b| a.us.total_cmp(&b.us));
        assert_eq!(fastest, Some(&PageLock::CHOSEN));
    }

    /// Sums over all outcomes: five years flip 2.01 % of cells, and lose 3.8e-7 of majorities of 9, 2.8e-8 of 11.
    #[test]
    fn majorities_are_lost_as_sums_say() {
        let five_years = PageLock::CHOSEN.flipped(FIVE_YEARS_HOURS, None);
        near(five_years, 0.0201, 1.0);
        near(majority_lost(9, five_years), 3.8e-7, 3.0);
        near(majority_lost(11, five_years), 2.8e-8, 3.0);
        near(majority_lost(9, PageLock::CHOSEN.flipped(8_760.0, None)), 1.6e-8, 10.0);
        // Every outcome of 5 cells, one by one.
        let by_hand: f64 = (0..32_u32)
            .filter(|bits| bits.count_ones() >= 3)
            .map(|bits| {
                libm::pow(0.2, bits.count_ones().into()) * libm::pow(0.8, (5 - bits.count_ones()).into())
            })
            .sum();
        near(majority_lost(5, 0.2), by_hand, 1e-9);
        near(at_least(0, 9, 0.3), 1.0, 1e-9);
    }

    /// A lock that power cuts short: after 3 us 65 % of pages still answer; after 10 us none, but 8 % again in a year.
    #[test]
    fn a_lock_cut_short_holds_less_and_for_less_long() {
        let answers = |cut, hours| majority_lost(9, PageLock::CHOSEN.flipped(hours, Some(cut)));
        assert!((0.60..0.70).contains(&answers(3.0, 0.0)), "{}", answers(3.0, 0.0));
        assert!(answers(10.0, 0.0) < 1e-3 && (0.06..0.10).contains(&answers(10.0, 8_760.0)));
        assert!(PageLock::CHOSEN.harm() == 1.0 && PageLock { voltage: 5, us: 200.0 }.harm() > 1.05);
    }

    /// Every outcome of nine and of eleven cells, one by one, at the chance of five years and at five times that: what
    /// 10^8 locks drawn cell by cell tell to 65 % (38 of them are lost) is told to a billionth.
    #[test]
    fn majorities_are_lost_as_every_outcome_one_by_one_says() {
        let five_years = PageLock::CHOSEN.flipped(FIVE_YEARS_HOURS, None);
        for (cells, chance) in
            [9_u32, 11].into_iter().flat_map(|cells| [1.0, 5.0].map(|n| (cells, n * five_years)))
        {
            let of_one = |flips: bool| if flips { chance } else { 1.0 - chance };
            let lost: f64 = (0..1_u32 << cells)
                .filter(|outcome| outcome.count_ones() > cells / 2)
                .map(|outcome| (0..cells).map(|cell| of_one(outcome >> cell & 1 == 1)).product::<f64>())
                .sum();
            near(majority_lost(cells, chance), lost, 1e-7);
        }
    }

    /// What a pulse has not programmed time does not: however short it was, no lock comes to hold again.
    #[test]
    fn time_only_weakens_locks() {
        for cut in [0.0, 0.3, 1.0, 3.0, 5.0, 8.0, 10.0, 30.0, 100.0] {
            let lost = [0.0, 1.0, 730.0, 8_760.0, FIVE_YEARS_HOURS]
                .map(|hours| majority_lost(9, PageLock::CHOSEN.flipped(hours, Some(cut))));
            assert!(lost.is_sorted(), "after {cut} us: {lost:?}");
        }
        assert_eq!(majority_lost(9, PageLock::CHOSEN.flipped(0.0, Some(0.0))), 1.0);
    }

    /// A block lock that power cuts short: by the lines from 0 V over 4.7 V at 200 us to 5.0 V at 300.
    #[test]
    fn a_block_lock_cut_short_stands_lower() {
        let volts = |us| BlockLock::CHOSEN.volts_cut(us);
        for (us, expected) in [(0.0, 0.0), (100.0, 2.35), (200.0, 4.7), (250.0, 4.85), (300.0, 5.0)] {
            assert!((volts(us) - expected).abs() < 1e-9, "{us} us: {}", volts(us));
        }
        let holds = |us, hours| BlockLock::CHOSEN.is_locked_cut(us, hours);
        // 3 V are reached after 3 / 4.7 of 200 us. Half of the pulse gives 3.525 V, and 3 V again after
        // 10^((1 - 3 / 3.525) / .05) - 1 = 953 hours.
        assert!(!holds(127.6, 0.0) && holds(127.7, 0.0));
        assert!(holds(150.0, 950.0) && !holds(150.0, 956.0));
        assert!(holds(300.0, FIVE_YEARS_HOURS) == BlockLock::CHOSEN.is_locked(FIVE_YEARS_HOURS));
    }

    /// Section 5.3: 12 of 18 never lock; (5, 200) loses it after 90 days, (6, 400) stays above 4 V for five years;
    /// (6, 300) is the fastest with .75 V to spare then (that margin is assumed).
    #[test]
    fn the_design_space_of_block_locks_is_the_papers() {
        let all = || {
            BLOCK_LOCK_VOLTAGES
                .into_iter()
                .flat_map(|voltage| [0, 1, 2].map(|time| BlockLock { voltage, time }))
        };
        assert_eq!(all().filter(|lock| !lock.is_locked(0.0)).count(), 12);
        assert!(all().all(|lock| (lock.locked_hours() == Some(0.0)) == (lock.voltage < 5)));
        let weak = BlockLock { voltage: 5, time: 0 };
        near(weak.locked_hours().unwrap(), 90.0 * 24.0, 2.0);
        assert!(weak.is_locked(80.0 * 24.0) && !weak.is_locked(8_760.0));
        assert!(BlockLock { voltage: 6, time: 2 }.volts(FIVE_YEARS_HOURS) > 4.0);
        let spares = |lock: &BlockLock| lock.volts(FIVE_YEARS_HOURS) >= BLOCK_LOCKED_V + 0.75;
        let fastest = all().filter(spares).min_by(|a, b| a.us().total_cmp(&b.us()));
        assert_eq!(fastest, Some(BlockLock::CHOSEN));
        near(BlockLock::CHOSEN.volts(8_760.0), 4.01, 0.2);
        near(BlockLock::CHOSEN.volts(FIVE_YEARS_HOURS), 3.84, 0.2);
    }
}
