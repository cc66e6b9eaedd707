//! x
use super::*;
#[test]
fn probe() {
    for preset in PRESETS {
        if let Err(e) = CellModel::preset(preset.name) {
            println!("{}: {e}", preset.name);
        }
    }
    let m = CellModel::preset("tlc_48l").unwrap();
    println!("{:?}", m.default_references(0));
    for w in [0.0, 1.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0] {
        let a = m.distribution(&CellState { wear_kcycles: w, ..Default::default() });
        let b = m.distribution(&CellState { wear_kcycles: w, retention_hours: 8760.0, ..Default::default() });
        let bits = |c: &Distribution, p| m.sector_bits(m.page_rber(c, p, &m.optimal_references(c)));
        println!(
            "{w} N0 {:.2} N12 {:.2} csb {:.2} msb {:.2} retries64 {:?} 66 {:?}",
            bits(&a, 0),
            bits(&b, 0),
            bits(&b, 1),
            bits(&b, 2),
            [0.0, 730.0, 2190.0, 8760.0].map(|t| m.retries_needed(
                &CellState { wear_kcycles: w, retention_hours: t, ..Default::default() },
                64.0
            )),
            [0.0, 730.0, 2190.0, 8760.0].map(|t| m.retries_needed(
                &CellState { wear_kcycles: w, retention_hours: t, ..Default::default() },
                66.0
            ))
        );
    }
    for preset in PRESETS {
        let Ok(m) = CellModel::preset(preset.name) else { continue };
        let lp = m.code().iter().position(|r| r.contains(&1)).unwrap();
        for w in [0.0, 0.1, 0.3, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0, 12.0, 16.0, 50.0, 100.0] {
            let mut c =
                m.distribution(&CellState { wear_kcycles: w, retention_hours: 730.0, ..Default::default() });
            let base = c.mean[0];
            let (mut lo, mut hi) = (0.0, 4.0);
            for _ in 0..40 {
                let mid = 0.5 * (lo + hi);
                c.mean[0] = base + mid;
                let b = m.sector_bits(m.page_rber(&c, lp, &m.optimal_references(&c)));
                if b < m.hard_limit_bits() as f64 { lo = mid } else { hi = mid }
            }
            c.mean[0] = base;
            let b0 = m.sector_bits(m.page_rber(&c, lp, &m.optimal_references(&c)));
            println!("{} w {w} shift {lo:.3} base bits {b0:.2} limit {}", preset.name, m.hard_limit_bits());
        }
    }
}
fn lim(m: &CellModel) -> f64 {
    if m.page_types() == 4 { m.sector_bits(m.max_rber(7)) } else { m.hard_limit_bits() as f64 }
}
#[test]
fn timing() {
    use std::time::Instant;
    let m = CellModel::preset("tlc_48l").unwrap();
    let t = Instant::now();
    let plan = table::TablePlan {
        heights: Group::ALL.iter().map(|g| m.height_of(*g)).collect(),
        sets: (0..8).map(table::ReferenceSet::Entry).collect(),
        most_cycles: 16_000,
        most_minutes: 5_260_000,
        mode: 0,
        warmer_c: 0.0,
    };
    let tab = table::CellTable::new(&m, &plan);
    println!("build {:?} bytes {}", t.elapsed(), tab.bytes());
    let mut rng = crate::rng::Rng::stream(1, "x");
    let pts: Vec<_> = (0..4096)
        .map(|_| {
            (
                rng.below(16000),
                rng.below(500_000),
                rng.below(4096),
                rng.below(4) as usize,
                rng.below(3) as usize,
            )
        })
        .collect();
    let t = Instant::now();
    let mut sum = 0u64;
    for _ in 0..1000 {
        for p in &pts {
            let at = tab.locate(p.0, p.1, p.2);
            sum += tab.sector_bits_q8(p.3, 0, p.4, &at) as u64;
        }
    }
    println!("lookup {:?} each {}", t.elapsed() / 4_096_000, sum);
    let t = Instant::now();
    let mut sum = 0u64;
    for _ in 0..1000 {
        for p in &pts {
            let at = tab.locate(3000 + p.0 / 64, 40_000 + p.1 / 64, p.2 / 4);
            sum += tab.sector_bits_q8(p.3, 0, p.4, &at) as u64;
        }
    }
    println!("lookup local {:?} each {}", t.elapsed() / 4_096_000, sum);
    let odds = table::ReadOdds::new(64, 8192, 16);
    let t = Instant::now();
    let mut sum = 0u64;
    for _ in 0..1000 {
        for p in &pts {
            let at = tab.locate(p.0, p.1, p.2);
            let r = table::PageRead { height: p.3, page: p.4, at, factor: table::FACTOR_ONE };
            sum += tab.retries(&odds, &r, (p.1 * 8191) as u32).unwrap_or(9) as u64;
        }
    }
    println!("retries {:?} each, mean {}", t.elapsed() / 4_096_000, sum as f64 / 4_096_000.0);
}
#[test]
fn accuracy() {
    for (name, cyc) in
        [("tlc_48l", 16_000), ("slc", 100_000), ("mlc", 12_000), ("mlc_hire", 1000), ("qlc", 2000)]
    {
        let m = CellModel::preset(name).unwrap();
        let heights: Vec<f64> = Group::ALL.iter().map(|g| m.height_of(*g)).collect();
        let sets = [
            table::ReferenceSet::Entry(0),
            table::ReferenceSet::Entry(3),
            table::ReferenceSet::Entry(7),
            table::ReferenceSet::Optimal,
        ];
        let plan = table::TablePlan {
            heights: heights.clone(),
            sets: sets.to_vec(),
            most_cycles: cyc,
            most_minutes: 5_260_000,
            mode: 0,
            warmer_c: 0.0,
        };
        let tab = table::CellTable::new(&m, &plan);
        let mut rng = crate::rng::Rng::stream(1, "x");
        let mut worst = (0.0, String::new());
        let mut bad = 0;
        for _ in 0..4000 {
            let c = if rng.below(2) == 0 {
                rng.below(cyc + 1)
            } else {
                (1u32 << rng.below(18)).wrapping_add(rng.below(100)).min(cyc)
            };
            let t = if rng.below(2) == 0 {
                rng.below(5_260_001)
            } else {
                ((1u32 << rng.below(23)) as f64 * (1.0 + rng.below(1000) as f64 / 1000.0)) as u32
            }
            .min(5_260_000);
            let e = rng.below(8193);
            let (h, s, p) =
                (rng.below(4) as usize, rng.below(4) as usize, rng.below(m.page_types() as u32) as usize);
            let st = CellState {
                wear_kcycles: c as f64 / 1000.0,
                retention_hours: t as f64 / 60.0,
                erc_fraction: e as f64 / 4096.0,
                height: heights[h],
                ..Default::default()
            };
            let d = m.distribution(&st);
            let refs = match sets[s] {
                table::ReferenceSet::Entry(k) => m.retry_references(st.wear_kcycles, 0, k),
                _ => m.optimal_references(&d),
            };
            let exact = m.sector_bits(m.page_rber(&d, p, &refs));
            let got = tab.sector_bits_q8(h, s, p, &tab.locate(c, t, e)) as f64 / 256.0;
            let q = (got - exact).abs() / (0.01 * exact).max(0.2);
            if q > 1.0 {
                bad += 1;
                if bad < 14 || q > 3.0 {
                    println!(
                        "{name} q {q:.2} w {} t {:.1} e {:.3} h {h} set {s} page {p} exact {exact:.2} got {got:.2}",
                        st.wear_kcycles, st.retention_hours, st.erc_fraction
                    );
                }
            }
            if q > worst.0 {
                worst = (q, format!("{st:?} set {s} page {p} exact {exact} got {got}"));
            }
        }
        println!("{name} bad {bad} worst {worst:?}");
    }
}
