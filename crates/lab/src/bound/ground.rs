//! Where data can lie, and what it endures there.

use ssd::DriveConfig;
use ssd::ftl::{program_mode, read_reclaim};
use ssd::host::buffer;
use ssd::nand::cell::{CellModel, Group};
use ssd::sections::ErrorModel;

/// Where data can lie on a drive, and what it endures there.
#[derive(Clone, Debug, PartialEq)]
pub struct Ground {
    /// Physical blocks.
    pub blocks: f64,
    /// Units in a page.
    pub page_units: f64,
    /// Units in a wordline: those that a read of one of them does not disturb.
    pub wordline_units: f64,
    /// Groups of wordlines of a block: units that they hold, and least harmful reads that each endures.
    pub groups: Vec<(f64, f64)>,
    /// Units that DRAM may hold.
    pub buffered: f64,
}

impl Ground {
    /// That of a drive whose blocks have at least so many cycles. `None` where nothing can be said: cells that reads do
    /// not harm, and buffers that keep what is read.
    pub fn of(config: &DriveConfig, cycles: u32) -> Option<Ground> {
        if config.errors.model == ErrorModel::None {
            return None;
        }
        let unit_bytes = config.unit_bytes();
        let policy = buffer::Policy::build(&config.buffer);
        let rules = policy.rules(unit_bytes);
        if rules.keep_reads {
            return None;
        }
        let model = CellModel::new(config.cells.clone()).ok()?;
        // A policy that deals programs blocks in modes of its own, and so may the drive's; otherwise all are normal.
        let all = 0..model.part().modes.read_endurance.len();
        let deals = read_reclaim::Policy::build(&config.read_reclaim).spreads();
        let is_normal = !deals && config.program_mode == program_mode::Config::default();
        let modes = if is_normal { 0..1 } else { all };
        let weights = modes.flat_map(|mode| (0..model.page_types()).map(move |page| (page, mode)));
        let least = weights.map(|(page, mode)| model.read_weight(page, mode)).fold(f64::INFINITY, f64::min);
        let wordlines = f64::from(config.geometry.wordlines_per_block);
        let units_per_page = f64::from(config.units_per_page());
        let wordline_units = units_per_page * f64::from(config.geometry.pages_per_block())
            / f64::from(config.geometry.wordlines_per_block);
        let kcycles = f64::from(cycles) / 1000.0;
        let mut left = wordlines;
        let mut groups = Vec::new();
        let mut best_first = Group::ALL;
        let endures = |group: Group| model.erc_max(group, kcycles);
        best_first.sort_by(|&a, &b| endures(b).total_cmp(&endures(a)));
        for group in best_first {
            // One wordline more than the share, for rounding: the best may only be too many.
            let held = (model.group_share(group) * wordlines + 1.0).min(left);
            left -= held;
            // Counters are integers that round harm down.
            let reads = (endures(group) + 1.0) / least * (1.0 + 1e-3);
            groups.push((held * wordline_units, reads));
        }
        Some(Ground {
            blocks: config.used_blocks() as f64,
            page_units: units_per_page,
            wordline_units,
            groups,
            // Parts of pages that wait for more are on their way even where nothing is kept: a page for each open
            // block.
            buffered: f64::from(config.staging_slots())
                + f64::from(config.units_per_program())
                    * f64::from(config.lanes() * config.lane_span() * config.open_blocks_per_lane()),
        })
    }

    /// Units that a block holds.
    pub(super) fn block_units(&self) -> f64 {
        self.groups.iter().map(|(held, _)| held).sum()
    }

    /// The curve of lives that a read of a block takes, over the units that lie in it: pieces that rise ever steeper.
    pub(super) fn pieces(&self) -> Vec<Piece> {
        let mut pieces = vec![Piece { from: 0.0, to: self.wordline_units, lives: 0.0, slope: 0.0 }];
        let (mut from, mut lives) = (self.wordline_units, 0.0);
        let most = self.block_units();
        for &(held, reads) in &self.groups {
            let to = (from + held).min(most);
            if to > from {
                pieces.push(Piece { from, to, lives, slope: 1.0 / reads });
                lives += (to - from) / reads;
                from = to;
            }
        }
        pieces
    }
}

/// A straight piece of the curve.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub from: f64,
    pub to: f64,
    /// Lives that a read takes at its beginning.
    pub lives: f64,
    /// And for each unit more.
    pub slope: f64,
}
