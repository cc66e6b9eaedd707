//! A fleet: how much drives can be written until the first write that one refuses, by what ends the life of a block and
//! by what is levelled (LongLive: RealWear section 3.4).
//!
//! Blocks go through whole cycles in steps, by the chips' own wear and telemetry; what a drive does between erases
//! takes no part. Where cycles are levelled, all blocks that live have seen as many; where ages are, all grow old
//! together. A drive refuses writes when more blocks are retired than it has to spare.

use super::population::quantile;
use super::sheet::{Cell, Sheet};
use crate::base::threads::on_all_cores;
use crate::report::table::grid;
use ssd::DriveConfig;
use ssd::bare_blocks::BareBlocks;
use ssd::config::ConfigErrors;
use ssd::ftl::techniques::age_marker;
use ssd::nand::cell::{CellModel, CellPart};
use ssd::rng::{Rng, mix};
use ssd::sections::{ErrorModel, Errors};

/// Name of the table of a fleet.
pub const TABLE: &str = "fleet";

/// Cycles between two looks at a block.
const STEP: u32 = 50;
/// Drives, one die each, that share the tables of their cells.
const TOGETHER: u32 = 8;

/// What is measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Cell part, by its preset.
    pub part: &'static str,
    /// What tells a block's age (`ftl.age_marker`).
    pub marker: String,
    /// Drives.
    pub drives: u32,
    /// Blocks of each.
    pub blocks: u32,
    /// Minutes from erase to erase, at the reference temperature.
    pub dwell_minutes: f64,
    /// Cycles that end a block's life where they are what is told.
    pub limits: Vec<u32>,
    /// Blocks that a drive has to spare, in percent of the others.
    pub spare_percent: f64,
    /// Seed of the blocks.
    pub seed: u64,
}

/// Cycles of a block until its marker says that its life is over, and until that is so; at most those that the cells'
/// tables hold, where both are taken for over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Life {
    told: u32,
    real: u32,
}

/// What a way to end lives comes to, over all drives.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// What ends a block's life.
    pub ends: String,
    /// What is levelled.
    pub levels: &'static str,
    /// Cycles of the mean block when the first write is refused: mean over drives, and least and most of a drive.
    pub cycles: [f64; 3],
    /// Blocks that were dead before they were retired, in percent of all.
    pub dead_percent: f64,
    /// Cycles that the mean block could still have had, in percent of its life.
    pub unused_percent: f64,
}

/// A fleet at its end.
pub struct Fleet {
    plan: Plan,
    /// Ways to end lives, the first limit first.
    pub outcomes: Vec<Outcome>,
}

/// What one drive comes to: cycles of its mean block, blocks that died before, and cycles left of all that there were.
struct Written {
    cycles: f64,
    dead: f64,
    left: f64,
}

/// The drive whose blocks live as long as `told`, `levelled` by cycles with so many blocks to spare, or by age.
fn written(lives: &[Life], told: impl Fn(&Life) -> u32, spare: Option<usize>) -> Written {
    let last = spare.map_or(u32::MAX, |spare| {
        let mut ends: Vec<u32> = lives.iter().map(&told).collect();
        ends.sort_unstable();
        ends[spare.min(ends.len() - 1)]
    });
    let count = lives.len() as f64;
    let until = |life: &Life| told(life).min(last);
    let sum = |of: &dyn Fn(&Life) -> f64| lives.iter().map(of).sum::<f64>();
    let cycles = sum(&|life| f64::from(until(life)));
    let real = sum(&|life| f64::from(life.real));
    let dead = sum(&|life| f64::from(u8::from(life.real < until(life))));
    Written { cycles: cycles / count, dead: 100.0 * dead / count, left: 100.0 * (1.0 - cycles / real) }
}

impl Plan {
    fn drive(&self, cells: &CellPart, group: u32, count: u32) -> DriveConfig {
        let mut cfg = DriveConfig::default();
        let g = &mut cfg.geometry;
        (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (count, 1, 1, 1);
        (g.blocks_per_plane, g.wordlines_per_block) = (self.blocks, 4);
        cfg.cells = cells.clone();
        cfg.errors = Errors { model: ErrorModel::Cells, variation: true, ..Errors::default() };
        cfg.age_marker = age_marker::Config::named(&self.marker).expect("a marker of the family");
        cfg.drive.seed = mix(Rng::named(self.seed, &format!("lab/fleet/{group}")).next_u64()) >> 1;
        cfg
    }

    /// The blocks of a drive, one after the other, from their first cycle to their last.
    fn lives(&self, cells: &CellModel, bare: &mut BareBlocks, drive: u32) -> Vec<Life> {
        // Errors in the worst sector that are just corrected end a life (RealWear section 3.1.2).
        let most = 1e3 * cells.wear_of_n12(f64::from(cells.hard_limit_bits()));
        let life = |block: u32| {
            let (mut told, mut real) = (None, None);
            while told.is_none() || real.is_none() {
                let goes_on = bare.cycle(block, STEP);
                let cycles = bare.cycles(block);
                let is_old = !goes_on || bare.age_q12(block) >= age_marker::LIFE;
                let is_dead = !goes_on || f64::from(bare.worn(block)) > most;
                told = told.or(is_old.then_some(cycles));
                real = real.or(is_dead.then_some(cycles));
            }
            Life { told: told.unwrap_or_default(), real: real.unwrap_or_default() }
        };
        (drive * self.blocks..(drive + 1) * self.blocks).map(life).collect()
    }

    fn group(&self, cells: &CellModel, group: u32) -> Vec<Vec<Life>> {
        let count = TOGETHER.min(self.drives - group * TOGETHER);
        let cfg = self.drive(cells.part(), group, count);
        let mut bare = BareBlocks::new(&cfg, self.dwell_minutes).expect("a shipped part, of any wordlines");
        (0..count).map(|drive| self.lives(cells, &mut bare, drive)).collect()
    }
}

/// The markers that tell a block's age.
pub fn markers() -> Vec<&'static str> {
    let names = age_marker::FAMILY.members.iter().map(|member| member.name);
    names.filter(|name| *name != age_marker::none::NAME).collect()
}

/// Lets a fleet live to its end.
///
/// # Errors
/// The part is none that is shipped. `plan.marker` must be of `ftl.age_marker`.
pub fn live(plan: &Plan) -> Result<Fleet, ConfigErrors> {
    let cells = CellModel::preset(plan.part)?;
    let groups = plan.drives.div_ceil(TOGETHER) as usize;
    let groups = on_all_cores(groups, |group| plan.group(&cells, group as u32));
    let drives: Vec<Vec<Life>> = groups.into_iter().flatten().collect();
    let spare = (plan.spare_percent / (100.0 + plan.spare_percent) * f64::from(plan.blocks)) as usize;
    let of = |ends: String, levels, told: &dyn Fn(&Life) -> u32, spare: Option<usize>| {
        let each: Vec<Written> = drives.iter().map(|lives| written(lives, told, spare)).collect();
        let mean = |of: &dyn Fn(&Written) -> f64| each.iter().map(of).sum::<f64>() / each.len() as f64;
        let mut cycles: Vec<f64> = each.iter().map(|drive| drive.cycles).collect();
        cycles.sort_by(f64::total_cmp);
        Outcome {
            ends,
            levels,
            cycles: [mean(&|drive| drive.cycles), quantile(&cycles, 0.0), quantile(&cycles, 1.0)],
            dead_percent: mean(&|drive| drive.dead),
            unused_percent: mean(&|drive| drive.left),
        }
    };
    let limits = plan
        .limits
        .iter()
        .map(|&limit| of(format!("{limit} cycles"), "cycles", &move |_: &Life| limit, Some(spare)));
    let (told, real) = (|life: &Life| life.told, |life: &Life| life.real);
    let others = [
        of(plan.marker.clone(), "cycles", &told, Some(spare)),
        of(plan.marker.clone(), "age", &told, None),
        of("its last cycle".to_owned(), "age", &real, None),
    ];
    Ok(Fleet { outcomes: limits.chain(others).collect(), plan: plan.clone() })
}

impl Fleet {
    /// A row for each way to end lives, and what it is over the last limit.
    pub fn table(&self) -> String {
        let Plan { part, drives, blocks, dwell_minutes, spare_percent, .. } = &self.plan;
        let mut rows = vec![
            [
                "block ends by",
                "levelled",
                "cycles",
                "least",
                "most",
                "over the limit",
                "dead before",
                "unused",
            ]
            .map(str::to_owned)
            .to_vec(),
        ];
        let base = self.outcomes[self.plan.limits.len() - 1].cycles[0];
        rows.extend(self.outcomes.iter().map(|it| {
            let [mean, least, most] = it.cycles;
            vec![
                it.ends.clone(),
                it.levels.to_owned(),
                format!("{mean:.0}"),
                format!("{least:.0}"),
                format!("{most:.0}"),
                format!("{:.3} x", mean / base),
                format!("{:.2} %", it.dead_percent),
                format!("{:.1} %", it.unused_percent),
            ]
        }));
        format!(
            "{}\n{drives} drives of {blocks} blocks of {part}, {spare_percent} % of them to spare, {dwell_minutes} \
             minutes from erase to erase.\nCycles are those of the mean block when a drive first refuses a write.\n",
            grid(&rows)
        )
    }

    /// What each way to end lives comes to, by its name: cycles of the mean block, what they are over each limit,
    /// blocks dead before, life unused.
    pub fn lines(&self) -> Vec<(String, f64)> {
        let limits = &self.outcomes[..self.plan.limits.len()];
        let of = |it: &Outcome| {
            let name = format!("{}, {} levelled", it.ends, it.levels);
            let over = limits
                .iter()
                .map(|limit| (format!("{name}: over {} (x)", limit.ends), it.cycles[0] / limit.cycles[0]));
            let own = [
                (format!("{name}: cycles"), it.cycles[0]),
                (format!("{name}: dead before (%)"), it.dead_percent),
                (format!("{name}: unused (%)"), it.unused_percent),
            ];
            over.chain(own).collect::<Vec<_>>()
        };
        self.outcomes.iter().flat_map(of).collect()
    }

    /// The same as a table of numbers, [`TABLE`].
    pub fn sheet(&self) -> Sheet {
        let rows = self.outcomes.iter().map(|it| {
            let [mean, least, most] = it.cycles;
            let cells: [Cell; 7] = [
                it.ends.clone().into(),
                it.levels.into(),
                mean.into(),
                least.into(),
                most.into(),
                it.dead_percent.into(),
                it.unused_percent.into(),
            ];
            cells
        });
        let names = [
            "ends_by",
            "levelled",
            "cycles",
            "cycles_least",
            "cycles_most",
            "dead_percent",
            "unused_percent",
        ];
        Sheet::new(TABLE, names, rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIVES: [Life; 4] = [
        Life { told: 10, real: 15 },
        Life { told: 20, real: 30 },
        Life { told: 30, real: 25 },
        Life { told: 40, real: 50 },
    ];

    /// By hand: with one block to spare the second that is told ends the drive, at 20 cycles of all that live.
    #[test]
    fn levelled_cycles_end_with_the_spare_blocks() {
        let found = written(&LIVES, |life| life.told, Some(1));
        assert_eq!((found.cycles, found.dead), ((10.0 + 3.0 * 20.0) / 4.0, 0.0));
        assert!((found.left - 100.0 * (1.0 - 70.0 / 120.0)).abs() < 1e-9, "{}", found.left);
    }

    /// By hand: all are used up to what is told of each, and the third had died at 25.
    #[test]
    fn levelled_ages_use_every_block_up() {
        let found = written(&LIVES, |life| life.told, None);
        assert_eq!((found.cycles, found.dead), (25.0, 25.0));
    }

    /// RealWear section 3.4.4, figure 23: 63 % more than with a limit of 8,000 cycles, 13 times what 1,000 leave.
    #[test]
    fn ages_let_drives_be_written_as_long_as_the_paper_has_it() {
        let plan = Plan {
            part: "tlc_48l",
            marker: "real_wear".to_owned(),
            drives: 400,
            blocks: 12,
            dwell_minutes: 5.0,
            limits: vec![1_000, 8_000],
            spare_percent: 7.0,
            seed: 1,
        };
        let fleet = live(&plan).expect("a shipped part");
        let cycles: Vec<f64> = fleet.outcomes.iter().map(|it| it.cycles[0]).collect();
        assert_eq!(cycles[..2], [1_000.0, 8_000.0]);
        let [by_cycles, by_age, real] = cycles[2..] else { panic!("{cycles:?}") };
        assert!((by_age / 13_040.0 - 1.0).abs() < 0.03, "{by_age}");
        assert!(by_cycles < 0.9 * by_age && by_age < real, "{cycles:?}");
        assert!(fleet.outcomes[3].dead_percent < 0.5, "{:?}", fleet.outcomes[3]);
        assert_eq!(live(&plan).expect("a shipped part").outcomes, fleet.outcomes);
    }
}
