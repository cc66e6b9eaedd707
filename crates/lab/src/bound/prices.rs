//! The linear program behind the bound, by its prices.
//!
//! Layouts are generated one by one: for the prices at hand the cheapest layout is written down in closed form, and a
//! small program over all layouts so far gives new prices.

use super::future::Spread;
use super::ground::{Ground, Piece};
use microlp::{ComparisonOp, OptimizationDirection, Problem};

/// Exemptions that a copy gives: one in the period in which it begins to be needed, one in that in which it ends.
pub(super) const EXEMPT_PER_COPY: f64 = 2.0;

/// Layouts at most; the bound has mostly stopped moving after thirty.
const LAYOUTS: usize = 120;
/// It has stopped if the program promises not more than this share above what is proven.
const CLOSE: f64 = 1e-4;

/// Prices: of a life, of a block's share in a period, and of an exemption from lying still, in copies.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Prices {
    pub life: f64,
    pub block: f64,
    pub exempt: f64,
}

/// What the cheapest layout takes of each.
#[derive(Clone, Copy, Debug, Default)]
struct Taken {
    lives: f64,
    blocks: f64,
    exempt: f64,
}

/// What there is of each without a copy.
struct Given {
    lives: f64,
    blocks: f64,
    exempt: f64,
}

fn given(ground: &Ground, spread: &Spread) -> Given {
    let periods = spread.periods as f64;
    Given {
        lives: (spread.units + spread.writes) as f64,
        blocks: ground.blocks * periods,
        exempt: ground.buffered * periods,
    }
}

/// The cheapest place for a unit that is read so often in a period.
fn place(pieces: &[Piece], prices: Prices, reads: f64) -> (f64, Taken) {
    let mut best = (prices.exempt, Taken { exempt: 1.0, ..Taken::default() });
    let worth = prices.life * reads;
    for piece in pieces {
        // Between its ends the cost is convex: lives rise in proportion, the share of the block falls.
        let slope = worth * piece.slope;
        let least = if slope > 0.0 { (prices.block / slope).sqrt() } else { f64::INFINITY };
        let size = least.clamp(piece.from, piece.to);
        if size <= 0.0 {
            continue;
        }
        let lives = reads * (piece.lives + piece.slope * (size - piece.from));
        let cost = prices.life * lives + prices.block / size;
        if cost < best.0 {
            best = (cost, Taken { lives, blocks: 1.0 / size, exempt: 0.0 });
        }
    }
    best
}

/// The bound that prices prove, in copies of units, and the layout that is cheapest by them.
fn proven(ground: &Ground, spread: &Spread, pieces: &[Piece], prices: Prices) -> (f64, Taken) {
    let mut all = Taken::default();
    let mut cost = 0.0;
    for &(reads, count) in &spread.classes {
        // A page is read for all its units at once, so that one unit stands for a part of a read only.
        let (each, taken) = place(pieces, prices, reads / ground.page_units);
        cost += count * each;
        all.lives += count * taken.lives;
        all.blocks += count * taken.blocks;
        all.exempt += count * taken.exempt;
    }
    let given = given(ground, spread);
    let free = prices.life * given.lives + prices.block * given.blocks + prices.exempt * given.exempt;
    (cost - free, all)
}

/// The best bound, in copies of units.
pub(super) fn best(ground: &Ground, spread: &Spread) -> f64 {
    let pieces = ground.pieces();
    let scale = spread.classes.iter().map(|(_, count)| count).sum::<f64>();
    if scale <= 0.0 {
        return 0.0;
    }
    // A life costs a copy at most, and what is exempt twice as much less as a copy exempts.
    let first = Prices { life: 0.8, block: 0.0, exempt: 0.2 / EXEMPT_PER_COPY };
    let mut layouts = Vec::new();
    let (mut best, mut prices) = (0.0_f64, first);
    for _ in 0..LAYOUTS {
        let (proof, layout) = proven(ground, spread, &pieces, prices);
        best = best.max(proof);
        layouts.push(layout);
        let Some((promise, next)) = master(ground, spread, &layouts, scale) else { break };
        if promise <= best + CLOSE * scale.min(best.abs().max(1.0)) {
            break;
        }
        prices = next;
    }
    best
}

/// The best prices against the layouts so far, and the bound they promise if there were no others.
fn master(ground: &Ground, spread: &Spread, layouts: &[Taken], scale: f64) -> Option<(f64, Prices)> {
    let size = ground.block_units();
    let given = given(ground, spread);
    let mut problem = Problem::new(OptimizationDirection::Maximize);
    let cost = problem.add_var(1.0, (f64::NEG_INFINITY, f64::INFINITY));
    let life = problem.add_var(-given.lives / scale, (0.0, 1.0));
    // In copies for a unit of a full block: more than a copy is never worth it.
    let block = problem.add_var(-given.blocks * size / scale, (0.0, 1.0));
    let exempt = problem.add_var(-given.exempt / scale, (0.0, 1.0));
    problem.add_constraint([(life, 1.0), (exempt, EXEMPT_PER_COPY)], ComparisonOp::Le, 1.0);
    for layout in layouts {
        let terms = [
            (cost, 1.0),
            (life, -layout.lives / scale),
            (block, -layout.blocks * size / scale),
            (exempt, -layout.exempt / scale),
        ];
        problem.add_constraint(terms, ComparisonOp::Le, 0.0);
    }
    let solution = problem.solve().ok()?.into_solution().ok()?;
    // Any prices that keep the first rule prove something: rounding of the solver must not break it.
    let value = |variable| solution.var_value(variable).clamp(0.0, 1.0);
    let life = value(life);
    let exempt = value(exempt).min((1.0 - life) / EXEMPT_PER_COPY);
    Some((solution.objective() * scale, Prices { life, block: value(block) * size, exempt }))
}
