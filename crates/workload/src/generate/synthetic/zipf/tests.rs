use super::*;

#[test]
fn harmonic_numbers_agree_with_plain_sums() {
    for theta in [0.0, 0.3, 0.99, 1.0, 1.000001, 1.5, 4.0] {
        for n in [1u64, 2, 63, 64, 65, 66, 1000, 1_000_000] {
            let plain: f64 = (1..=n).rev().map(|k| libm::pow(k as f64, -theta)).sum();
            let ratio = harmonic(n, theta) / plain;
            assert!((ratio - 1.0).abs() < 1e-12, "H({n}, {theta}): {ratio}");
        }
    }
}

/// Exponents for 1 TB (10^12 bytes) in pages of 16 KiB, as computed for the QLC read-latency model (calibration
/// 11.2), and how they depend on n.
#[test]
fn exponents_of_known_skews() {
    let n = 1_000_000_000_000 / 16_384;
    for (access, space, theta) in [
        (0.60, 0.40, 0.4425),
        (0.70, 0.30, 0.7053),
        (0.80, 0.20, 0.8771),
        (0.90, 0.20, 0.9830),
        (0.95, 0.20, 1.0597),
    ] {
        let solved = solve(n, access, space);
        assert!((solved - theta).abs() < 1e-4, "{access}/{space}: {solved}");
    }
    assert!((solve(10_000, 0.8, 0.2) - 0.9496).abs() < 1e-4);
    assert!((solve(270_000_000, 0.8, 0.2) - 0.8736).abs() < 1e-4);
    assert!(solve(1000, 0.2, 0.2) < 1e-9);
    assert_eq!(solve(1, 0.8, 0.2), 0.0);
}

#[test]
fn samples_have_the_skew_that_was_solved_for() {
    let mut rng = Rng::named(1, "test");
    for (n, access, space) in
        [(1000u64, 0.8, 0.2), (1 << 20, 0.7, 0.3), (1 << 26, 0.95, 0.2), (1 << 26, 0.95, 0.05)]
    {
        let zipf = Zipf::new(n, solve(n, access, space));
        let hot = (n as f64 * space).round() as u64;
        let draws = 2_000_000;
        let hits = (0..draws).filter(|_| zipf.sample(&mut rng) < hot).count();
        let found = hits as f64 / f64::from(draws);
        // Five standard deviations of the share.
        assert!(
            (found - access).abs() < 5.0 * (access * (1.0 - access) / f64::from(draws)).sqrt(),
            "{n}: {found}"
        );
    }
}

#[test]
fn every_rank_has_its_density() {
    let (n, theta) = (3000u64, 0.9);
    let zipf = Zipf::new(n, theta);
    let mut rng = Rng::named(2, "test");
    let draws = 20_000_000;
    let mut counts = vec![0u32; n as usize];
    for _ in 0..draws {
        counts[zipf.sample(&mut rng) as usize] += 1;
    }
    let total = harmonic(n, theta);
    let chi_squared: f64 = counts
        .iter()
        .zip(1..)
        .map(|(&count, k)| {
            let expected = f64::from(draws) * libm::pow(f64::from(k), -theta) / total;
            (f64::from(count) - expected).powi(2) / expected
        })
        .sum();
    // 2999 degrees of freedom: standard deviation 77.
    assert!((chi_squared - 2999.0).abs() < 5.0 * 77.5, "{chi_squared}");
}

#[test]
fn extreme_distributions_stay_in_range() {
    let mut rng = Rng::named(3, "test");
    for n in [1, 2, 513, 1_000_000_000_000] {
        for theta in [0.0, 1.0, 16.0] {
            let zipf = Zipf::new(n, theta);
            assert!((0..10_000).all(|_| zipf.sample(&mut rng) < n));
        }
    }
    let steep = Zipf::new(1 << 40, 16.0);
    assert!((0..10_000).filter(|_| steep.sample(&mut rng) == 0).count() > 9_990);
}

#[test]
fn alias_draws_by_weight() {
    let alias = Alias::new(&[1.0, 0.0, 3.0, 6.0]);
    let mut rng = Rng::named(4, "test");
    let mut counts = [0u32; 4];
    for _ in 0..1_000_000 {
        counts[alias.sample(&mut rng)] += 1;
    }
    assert_eq!(counts[1], 0);
    for (index, expected) in [(0, 100_000), (2, 300_000), (3, 600_000)] {
        assert!(counts[index].abs_diff(expected) < 2500, "{counts:?}");
    }
}

/// A short pass after the other asks for the same distribution, and has it built once. What other tests ask for
/// meanwhile may drive it out.
#[test]
fn the_last_distributions_are_kept() {
    let is_kept = |_| Arc::ptr_eq(&Zipf::shared(1_000, 0.9), &Zipf::shared(1_000, 0.9));
    assert!((0..100).any(is_kept));
    for (n, theta) in [(1_000, 0.9), (1_000, 0.8), (999, 0.8)] {
        let draw = |zipf: &Zipf| {
            let mut rng = Rng::named(1, "kept");
            (0..100).map(|_| zipf.sample(&mut rng)).collect::<Vec<_>>()
        };
        assert_eq!(draw(&Zipf::shared(n, theta)), draw(&Zipf::new(n, theta)), "{n} ranks, {theta}");
    }
}
