//! The bound against cases solved by hand and by trying everything.

use super::prices::EXEMPT_PER_COPY;
use super::*;
use ssd::OpCode;
use workload::Request;

/// One page a unit, one unit a wordline, one group.
fn ground(blocks: f64, wordlines: f64, endured: f64) -> Ground {
    let groups = vec![(wordlines, endured)];
    Ground { blocks, page_units: 1.0, wordline_units: 1.0, groups, buffered: 0.0 }
}

fn request(op: OpCode, unit: u64) -> Request {
    Request { op, lba: unit, sectors: 1, ..Request::default() }
}

fn future(units: u32, requests: &[Request]) -> Future {
    let shape = Shape { units, unit_sectors: 1 };
    Future::record(shape, |each| {
        requests.iter().for_each(each);
        Ok::<(), ()>(())
    })
    .expect("it cannot fail")
}

fn reads(of: impl Iterator<Item = u64>) -> Vec<Request> {
    of.map(|unit| request(OpCode::Read, unit)).collect()
}

/// Units read evenly that share a block: a share of them is exempt in each period, which costs copies, and each read of
/// the others harms all others but one, which costs lives. The least is where both come to the same.
fn by_hand(units: f64, periods: f64, reads: f64, endured: f64, given: f64) -> f64 {
    let exempt = |share: f64| share * units * periods / EXEMPT_PER_COPY;
    let lives = |left: f64| reads * left * (units * left - 1.0) / endured - given;
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if exempt(middle) < lives(1.0 - middle) { low = middle } else { high = middle }
    }
    exempt(low)
}

/// One block, and all of it is full: there is nothing to choose but exemptions.
#[test]
fn a_full_block_by_hand() {
    let future = future(16, &reads((0..64_000).map(|at| at % 16)));
    let spread = future.spreads().find(|spread| spread.periods == 64).expect("it is a power of two");
    assert_eq!((spread.units, spread.writes), (16, 0));
    let found = prices::best(&ground(1.0, 16.0, 500.0), &spread);
    let expected = by_hand(16.0, 64.0, 64_000.0, 500.0, 16.0);
    assert!((found - expected).abs() < 0.01 * expected, "{found} {expected}");
    // Nobody needs more: each wordline is copied when it has endured what it can.
    let best = bound(&ground(1.0, 16.0, 500.0), &future).pages;
    assert!(best >= found && best < 64_000.0 * 15.0 / 500.0 - 16.0, "{best}");
}

/// With a block for each unit no read harms anything.
#[test]
fn a_block_for_each_unit_needs_no_copy() {
    let future = future(16, &reads((0..64_000).map(|at| at % 16)));
    assert_eq!(bound(&ground(16.0, 16.0, 10.0), &future).pages, 0.0);
    assert!(bound(&ground(8.0, 16.0, 10.0), &future).pages > 0.0);
}

/// The units read most lie where few others do: of 18 units in two blocks, two are read. A layout that puts both into
/// a block of their own, which the others just leave, harms one unit a read; the bound knows that, and that nothing is
/// better. (The first lives of the others are given for nothing, as if these two could have them.)
#[test]
fn what_is_read_lies_apart() {
    let ground = ground(2.0, 16.0, 4_000.0);
    let future = future(18, &reads((0..256_000).map(|at| at % 2)));
    let expected = by_hand(2.0, 256.0, 256_000.0, 4_000.0, 18.0);
    let pages = bound(&ground, &future).pages;
    assert!((pages - expected).abs() < 0.02 * expected, "{pages} {expected}");
}

/// What is written is alive again for nothing, and what is written often is left out.
#[test]
fn writes_renew() {
    let mixed = |every: u64| -> Vec<Request> {
        let op = |at: u64| if at.is_multiple_of(every) { OpCode::Write } else { OpCode::Read };
        (0..64_000).map(|at| request(op(at), at * 7 % 16)).collect()
    };
    let ground = ground(1.0, 16.0, 1_000.0);
    let seldom = bound(&ground, &future(16, &mixed(1_001))).pages;
    let often = bound(&ground, &future(16, &mixed(3))).pages;
    assert!(seldom > 400.0, "{seldom}");
    assert_eq!(often, 0.0);
    // Half of the units are never written: they are bounded alone.
    let half: Vec<Request> = (0..64_000)
        .map(
            |at| {
                if at & 1 == 0 { request(OpCode::Write, at % 8) } else { request(OpCode::Read, 8 + at % 8) }
            },
        )
        .collect();
    let found = bound(&ground, &future(16, &half));
    assert!(found.units < 16 && found.pages > 100.0, "{found:?}");
    let trimmed: Vec<Request> = (0..16).map(|unit| request(OpCode::Trim, unit)).collect();
    assert_eq!(bound(&ground, &future(16, &trimmed)).units, 0);
}

/// Better wordlines are taken first, and no block has more of them than it has.
#[test]
fn the_best_wordlines_first() {
    let future = future(16, &reads((0..640_000).map(|at| at * 5 % 16)));
    let with = |groups: Vec<(f64, f64)>| {
        let pages = bound(&Ground { groups, ..ground(1.0, 16.0, 1.0) }, &future).pages;
        assert!(pages > 0.0);
        pages
    };
    let (best, worst) = (with(vec![(16.0, 2_000.0)]), with(vec![(16.0, 1_000.0)]));
    let mixed = with(vec![(8.0, 2_000.0), (8.0, 1_000.0)]);
    assert!(best < mixed && mixed < worst, "{best} {mixed} {worst}");
}

/// The same program, all layouts of a grid of sizes at once, solved as it stands.
#[test]
fn prices_find_what_the_whole_program_does() {
    use microlp::{ComparisonOp, OptimizationDirection, Problem};
    let ground = Ground { groups: vec![(10.0, 900.0), (6.0, 600.0)], ..ground(3.0, 16.0, 1.0) };
    let pieces = ground.pieces();
    // Some units are read much, some little.
    let of = |at: u64| if at.is_multiple_of(3) { at * 7 % 5 } else { at * 11 % 32 };
    let future = future(32, &reads((0..200_000).map(of)));
    let spread = future.spreads().find(|spread| spread.periods == 16).expect("it is a power of two");
    let mut problem = Problem::new(OptimizationDirection::Minimize);
    let any = (0.0, f64::INFINITY);
    let copies = problem.add_var(1.0, any);
    let (mut lives, mut blocks, mut exempt) =
        (vec![(copies, -1.0)], Vec::new(), vec![(copies, -EXEMPT_PER_COPY)]);
    for &(reads, count) in &spread.classes {
        let mut all = Vec::new();
        for step in 4..=64 {
            let size = f64::from(step) / 4.0;
            let piece = pieces.iter().rfind(|piece| piece.from <= size).expect("the first begins at 0");
            let unit = problem.add_var(0.0, any);
            lives.push((unit, reads * (piece.lives + piece.slope * (size - piece.from))));
            blocks.push((unit, 1.0 / size));
            all.push((unit, 1.0));
        }
        let moved = problem.add_var(0.0, any);
        exempt.push((moved, 1.0));
        all.push((moved, 1.0));
        problem.add_constraint(all, ComparisonOp::Eq, count);
    }
    problem.add_constraint(lives, ComparisonOp::Le, 32.0);
    problem.add_constraint(blocks, ComparisonOp::Le, 3.0 * 16.0);
    problem.add_constraint(exempt, ComparisonOp::Le, 0.0);
    let solution = problem.solve().expect("it can be solved").into_solution().expect("to the end");
    let (whole, found) = (solution.objective(), prices::best(&ground, &spread));
    assert!(whole > 100.0 && found <= whole * (1.0 + 1e-6) && found > 0.99 * whole, "{found} {whole}");
}

/// A tiny drive: on each wordline (two blocks of two) nothing, or a unit and the reads it has endured.
type Tiny = [Option<(u8, u8)>; 4];

/// The fewest copies by which any policy that sees the future keeps all data, by trying everything: it may copy any
/// unit to any place before each read, over whatever is there, keep as many replicas as it likes and read any of them.
fn fewest(start: Tiny, endured: u8, units: u8, reads: &[u8]) -> u32 {
    let holds_all = |tiny: &Tiny| (0..units).all(|unit| tiny.iter().flatten().any(|(u, _)| *u == unit));
    // The number of a state: four bits a wordline.
    let number = |tiny: &Tiny| {
        tiny.iter()
            .fold(0, |all, unit| 16 * all + unit.map_or(0, |(unit, reads)| 1 + usize::from(unit + 4 * reads)))
    };
    let mut states = vec![(start, 0)];
    for &read in reads {
        // All that copies can make of it, cheapest first.
        let mut open: Vec<Vec<Tiny>> = Vec::new();
        let push = |open: &mut Vec<Vec<Tiny>>, cost: u32, tiny| {
            open.resize(open.len().max(cost as usize + 1), Vec::new());
            open[cost as usize].push(tiny);
        };
        states.drain(..).for_each(|(tiny, cost)| push(&mut open, cost, tiny));
        let mut reached = Vec::new();
        let mut is_reached = vec![false; 1 << 16];
        let mut cost = 0;
        while (cost as usize) < open.len() {
            while let Some(tiny) = open[cost as usize].pop() {
                if std::mem::replace(&mut is_reached[number(&tiny)], true) {
                    continue;
                }
                reached.push((tiny, cost));
                for (from, to) in (0..4).flat_map(|from| (0..4).map(move |to| (from, to))) {
                    let Some((unit, _)) = tiny[from] else { continue };
                    let mut next = tiny;
                    next[to] = Some((unit, 0));
                    if holds_all(&next) {
                        push(&mut open, cost + 1, next);
                    }
                }
            }
            cost += 1;
        }
        // The cheapest first.
        let mut is_known = vec![false; 1 << 16];
        for (tiny, cost) in reached {
            for at in (0..4).filter(|&at| tiny[at].is_some_and(|(unit, _)| unit == read)) {
                let mut next = tiny;
                // The other wordline of the block.
                let beside = &mut next[at ^ 1];
                *beside =
                    beside.map(|(unit, reads)| (unit, reads + 1)).filter(|(_, reads)| *reads <= endured);
                if holds_all(&next) && !std::mem::replace(&mut is_known[number(&next)], true) {
                    states.push((next, cost));
                }
            }
        }
    }
    states.iter().map(|(_, cost)| *cost).min().expect("copying everything before each read keeps it")
}

#[test]
fn nobody_who_tries_everything_copies_less() {
    let mut high = 0;
    // Three units and four, each with all three skews.
    for seed in 1..=6_u64 {
        let mut state = seed;
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 33
        };
        // Three units on four wordlines, or four, which leaves no room.
        let units = 3 + (seed % 2) as u8;
        let skew = seed % 3;
        let of = |draw: u64| {
            if skew > 0 && draw.is_multiple_of(3) { 0 } else { (draw / 3 % u64::from(units)) as u8 }
        };
        let asked: Vec<u8> = (0..96).map(|_| of(draw())).collect();
        let start = [0, 1, 2, 3].map(|unit| (unit < units).then_some((unit, 0)));
        let fewest = fewest(start, 2, units, &asked);
        let future = future(u32::from(units), &reads(asked.iter().map(|&unit| u64::from(unit))));
        let found = bound(&ground(2.0, 2.0, 2.0), &future).pages;
        println!("{units} units, skew {skew}: {found:.2} of {fewest}");
        assert!(found <= f64::from(fewest) + 1e-6, "{found} of {fewest}");
        high += u32::from(found > 0.2 * f64::from(fewest));
    }
    // It is a bound that says something.
    assert!(high >= 4, "{high}");
}
