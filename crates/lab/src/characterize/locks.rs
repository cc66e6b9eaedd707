//! The design spaces of locks: which voltage for how long, and what holds for how many years (RealWear chapter 5).

use super::sheet::{Sheet, line};
use crate::base::threads::on_all_cores;
use crate::report::table::grid;
use ssd::nand::cell::lock::{
    BLOCK_LOCK_US, BLOCK_LOCK_VOLTAGES, BLOCK_LOCKED_V, BlockLock, FIVE_YEARS_HOURS, PAGE_LOCK_US,
    PAGE_LOCK_VOLTAGES, PageLock, Region, at_least, majority_lost,
};
use ssd::rng::Rng;

/// Names of the tables and their plots.
pub const PLOTS: [&str; 2] = ["page_locks", "block_locks"];
/// Hours of a year.
const YEAR_HOURS: f64 = 8_760.0;
/// Flags that the paper looked at, of which none was lost (section 5.2.4).
const FLAGS_OF_PAPER: f64 = 11_059_200.0;
/// Flags of which the worst is told, as in the paper's figure 40.
const FLAGS_TOGETHER: i32 = 100;
/// Pieces that flags are drawn in; each has a random sequence of its own.
const PIECES: u64 = 64;

/// What is measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Cells of a page's flag: odd.
    pub cells: u32,
    /// Flags to draw cell by cell, beside the sums.
    pub flags: u64,
    /// Pages of a drive that is locked from end to end.
    pub pages: u64,
    /// Seed of the flags.
    pub seed: u64,
}

/// Flags of five years that were drawn cell by cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drawn {
    /// How many.
    pub flags: u64,
    /// Of which the majority was flipped.
    pub lost: u64,
    /// How many would have been on average, by the sum over all outcomes.
    pub expected: f64,
}

/// Both design spaces.
pub struct Locks {
    plan: Plan,
    /// Flags of the chosen lock.
    pub drawn: Drawn,
}

fn page_locks() -> impl Iterator<Item = PageLock> {
    let times = |voltage| PAGE_LOCK_US.into_iter().map(move |us| PageLock { voltage, us });
    PAGE_LOCK_VOLTAGES.into_iter().flat_map(times)
}

fn block_locks() -> impl Iterator<Item = BlockLock> {
    let times = |voltage| (0..BLOCK_LOCK_US.len()).map(move |time| BlockLock { voltage, time });
    BLOCK_LOCK_VOLTAGES.into_iter().flat_map(times)
}

fn after_five_years(lock: &PageLock) -> f64 {
    lock.flipped(FIVE_YEARS_HOURS, None)
}

/// Most flipped cells among many flags: half of all such sets of flags have at most so many, or the share asked for.
fn worst(cells: u32, chance: f64, share: f64) -> u32 {
    let all_below = |flips| libm::pow(1.0 - at_least(flips + 1, cells, chance), f64::from(FLAGS_TOGETHER));
    (0..=cells).find(|&flips| all_below(flips) >= share).unwrap_or(cells)
}

/// Draws flags of the chosen lock after five years.
fn draw(plan: &Plan) -> Drawn {
    let flipped = after_five_years(&PageLock::CHOSEN);
    let chance = ssd::rng::chance(1e6 * flipped);
    let lost = on_all_cores(PIECES as usize, |piece| {
        let mut rng = Rng::named(plan.seed, &format!("lab/locks/{piece}"));
        let flags = plan.flags / PIECES + u64::from((piece as u64) < plan.flags % PIECES);
        let is_lost =
            |rng: &mut Rng| (0..plan.cells).filter(|_| rng.hits(chance)).count() as u32 > plan.cells / 2;
        (0..flags).filter(|_| is_lost(&mut rng)).count() as u64
    });
    let expected = plan.flags as f64 * majority_lost(plan.cells, flipped);
    Drawn { flags: plan.flags, lost: lost.into_iter().sum(), expected }
}

/// Measures what the plan says.
pub fn measure(plan: &Plan) -> Locks {
    Locks { plan: plan.clone(), drawn: draw(plan) }
}

fn region(lock: &PageLock) -> &'static str {
    match lock.region() {
        Region::Harms => "I: harms data",
        Region::Fails => "II: not programmed",
        Region::Candidate if *lock == PageLock::CHOSEN => "candidate, chosen",
        Region::Candidate => "candidate",
    }
}

impl Locks {
    fn page_rows(&self) -> Vec<Vec<String>> {
        let head =
            ["page lock", "us", "programmed", "dose", "region", "flipped in 5 years", "worst of 100", "lost"];
        let rows = page_locks().map(|lock| {
            let chance = after_five_years(&lock);
            let [half, most] = [0.5, 0.95].map(|share| worst(self.plan.cells, chance, share));
            vec![
                format!("V{}", lock.voltage),
                format!("{:.0}", lock.us),
                format!("{:.2} %", 100.0 * lock.programmed()),
                format!("{:.2}", lock.dose()),
                region(&lock).to_owned(),
                format!("{:.2} %", 100.0 * chance),
                if half == most { half.to_string() } else { format!("{half} to {most}") },
                format!("{:.1e}", majority_lost(self.plan.cells, chance)),
            ]
        });
        std::iter::once(head.map(str::to_owned).to_vec()).chain(rows).collect()
    }

    fn block_rows(&self) -> Vec<Vec<String>> {
        let head = ["block lock", "us", "at once", "1 year", "5 years", "locked for"];
        let rows = block_locks().map(|lock| {
            let volts = |hours| format!("{:.2} V", lock.volts(hours));
            let held = match lock.locked_hours() {
                Some(hours) if hours <= 0.0 => "never".to_owned(),
                Some(hours) if hours < YEAR_HOURS => format!("{:.0} days", hours / 24.0),
                Some(hours) => format!("{:.1} years", hours / YEAR_HOURS),
                None => "a century".to_owned(),
            };
            let chosen = if lock == BlockLock::CHOSEN { ", chosen" } else { "" };
            vec![
                format!("V{}", lock.voltage),
                format!("{:.0}", lock.us()),
                volts(0.0),
                volts(YEAR_HOURS),
                volts(FIVE_YEARS_HOURS),
                held + chosen,
            ]
        });
        std::iter::once(head.map(str::to_owned).to_vec()).chain(rows).collect()
    }

    /// Both design spaces, and what is lost, as text.
    pub fn table(&self) -> String {
        let Plan { cells, pages, .. } = self.plan;
        let lost = majority_lost(cells, after_five_years(&PageLock::CHOSEN));
        let Drawn { flags, lost: drawn, expected } = self.drawn;
        format!(
            "{}\n{}\nA block is locked while its select line stands above {BLOCK_LOCKED_V} V.\n\
             A flag of {cells} cells with the chosen lock is lost with {lost:.2e} in 5 years, {:.2e} in 1 year.\n\
             Of the {FLAGS_OF_PAPER:.0} flags that the paper looked at {:.1} would answer again after 5 years,\n\
             where it saw none; of {pages} pages of a locked drive {:.2}.\n\
             Drawn cell by cell: {drawn} of {flags} flags lost, expected {expected:.1}.\n",
            grid(&self.page_rows()),
            grid(&self.block_rows()),
            majority_lost(cells, PageLock::CHOSEN.flipped(YEAR_HOURS, None)),
            FLAGS_OF_PAPER * lost,
            pages as f64 * lost,
        )
    }

    /// The same as tables, with plots.
    pub fn sheets(&self) -> Vec<Sheet> {
        let years = || (0..=60).map(|step| f64::from(step) / 12.0);
        let of_page = |lock: PageLock| {
            let points = years().map(move |year| (year, 100.0 * lock.flipped(year * YEAR_HOURS, None)));
            line(format!("V{}, {:.0} us", lock.voltage, lock.us), points)
        };
        let of_block = |lock: BlockLock| {
            let points = years().map(move |year| (year, lock.volts(year * YEAR_HOURS)));
            line(format!("V{}, {:.0} us", lock.voltage, lock.us()), points)
        };
        let candidates = page_locks().filter(|lock| lock.region() == Region::Candidate);
        let cells = self.plan.cells;
        let pages = page_locks().map(|lock| {
            let chance = after_five_years(&lock);
            [
                u64::from(lock.voltage).into(),
                lock.us.into(),
                lock.programmed().into(),
                lock.dose().into(),
                lock.harm().into(),
                region(&lock).into(),
                chance.into(),
                u64::from(worst(cells, chance, 0.5)).into(),
                u64::from(worst(cells, chance, 0.95)).into(),
                majority_lost(cells, chance).into(),
            ]
        });
        let page_names = [
            "voltage",
            "us",
            "programmed",
            "dose",
            "harm",
            "region",
            "flipped_5_years",
            "worst_of_100_half",
            "worst_of_100_95_percent",
            "lost_5_years",
        ];
        let blocks = block_locks().map(|lock| {
            let [now, year, five] = [0.0, YEAR_HOURS, FIVE_YEARS_HOURS].map(|hours| lock.volts(hours));
            let voltage = u64::from(lock.voltage);
            [voltage.into(), lock.us().into(), now.into(), year.into(), five.into()]
        });
        let block_names = ["voltage", "us", "volts", "volts_1_year", "volts_5_years"];
        vec![
            Sheet::new(PLOTS[0], page_names, pages).plot(
                PLOTS[0],
                "Flag cells flipped (%)",
                "Retention (years)",
                candidates.map(of_page).collect(),
            ),
            Sheet::new(PLOTS[1], block_names, blocks).plot(
                PLOTS[1],
                "Threshold of the select line (V)",
                "Retention (years)",
                block_locks().filter(|lock| lock.is_locked(0.0)).map(of_block).collect(),
            ),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's worst of 100 flags of 9 cells: 5 for (2, 200), at most 2 for (4, 150); ours lie around them.
    #[test]
    fn the_worst_of_many_flags_is_about_what_the_paper_saw() {
        let of = |voltage, us, share| worst(9, after_five_years(&PageLock { voltage, us }), share);
        assert_eq!([0.5, 0.95].map(|share| of(2, 200.0, share)), [5, 6]);
        assert_eq!([0.5, 0.95].map(|share| of(4, 150.0, share)), [1, 2]);
    }

    /// Cell by cell, with fewer cells so that losses are many: within four standard deviations of the sum.
    #[test]
    fn drawn_flags_are_lost_as_the_sum_says() {
        let plan = Plan { cells: 3, flags: 2_000_001, pages: 1, seed: 7 };
        let Drawn { flags, lost, expected } = draw(&plan);
        assert_eq!(flags, plan.flags);
        assert!(
            expected > 2_000.0 && (lost as f64 - expected).abs() < 4.0 * expected.sqrt(),
            "{lost} {expected}"
        );
        assert_eq!(draw(&plan), draw(&plan));
        assert_ne!(draw(&plan).lost, draw(&Plan { seed: 8, ..plan }).lost);
    }
}
