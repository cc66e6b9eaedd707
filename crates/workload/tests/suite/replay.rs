//! The same requests again: `repeat` and `copies`, of traces, generators and mixes.

use workload::{Request, Spec};

fn all(table: &str) -> Vec<Request> {
    let mut source = Spec::parse(table).unwrap().open(1 << 31).unwrap();
    let expected = source.len_hint();
    let mut out = Vec::new();
    while let Some(request) = source.next().unwrap() {
        out.push(request);
    }
    assert_eq!(expected, Some(out.len() as u64), "{table}");
    assert_eq!(source.len_hint(), Some(0));
    out
}

/// What is asked for, without when.
fn what(request: &Request) -> (u8, u64, u32) {
    (request.op as u8, request.lba, request.sectors)
}

const SOURCES: [&str; 3] = [
    "pattern = 'zipf'\ncount = 500\narrival = 'poisson'\nsize_bytes = [4096, 8192]\n",
    "preset = 'tpc-h'\ncount = 500\n",
    "preset = 'mds'\ncount = 500\nfootprint_gib = 1\n",
];

#[test]
fn a_repeat_is_the_same_requests_after_one_mean_gap() {
    for table in SOURCES {
        let once = all(table);
        let thrice = all(&format!("{table}repeat = 3\n"));
        assert_eq!(thrice.len(), 1500);
        let period = once[499].arrival_ns + once[499].arrival_ns / 499;
        for (i, request) in thrice.iter().enumerate() {
            let expected =
                Request { arrival_ns: once[i % 500].arrival_ns + i as u64 / 500 * period, ..once[i % 500] };
            assert_eq!(*request, expected, "{table}: {i}");
        }
    }
}

#[test]
fn each_copy_is_the_whole_workload() {
    for table in SOURCES {
        let once = all(table);
        let merged = all(&format!("{table}copies = 7\n"));
        assert!(merged.windows(2).all(|w| w[0].arrival_ns <= w[1].arrival_ns), "{table}: out of order");
        let mut expected: Vec<_> = once.iter().flat_map(|r| [what(r); 7]).collect();
        let mut found: Vec<_> = merged.iter().map(what).collect();
        expected.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, expected, "{table}");
        assert_eq!(all(&format!("{table}copies = 1\n")), once);
        let other = all(&format!("{table}copies = 7\nseed = 2\n"));
        assert_ne!(other, merged, "{table}");
        assert_eq!(all(&format!("{table}copies = 7\n")), merged, "{table}");
    }
}

/// A trace in which each request is told from all others by its address.
struct Numbered(std::path::PathBuf);

impl Numbered {
    fn new(name: &str, requests: u64) -> Self {
        let path = std::env::temp_dir().join(format!("wordline-replay-{name}-{}", std::process::id()));
        // Gaps of 1, 2, 3 and 0 ms, in turn.
        let time = |i: u64| i / 4 * 6 + [0, 1, 3, 6][(i % 4) as usize];
        let lines: String =
            (0..requests).map(|i| format!("{} 0 {} 8 1\n", time(i) * 1_000_000, i * 8)).collect();
        std::fs::write(&path, lines).unwrap();
        Numbered(path)
    }
}

impl Drop for Numbered {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn gaps_of_copies_are_the_traces_times_zero_to_two() {
    let trace = Numbered::new("gaps", 4000);
    let table = format!("path = '{}'\n", trace.0.display());
    let once = all(&table);
    let merged = all(&format!("{table}copies = 20\n"));
    assert_eq!(merged.len(), 80_000);
    let mut times = vec![Vec::new(); 4000];
    merged.iter().for_each(|r| times[(r.lba / 8) as usize].push(r.arrival_ns));
    assert!(times.iter().all(|t| t.len() == 20) && times[0].iter().all(|&t| t == 0));
    // The first gap is the trace's first, 1 ms, times U(0,2) for each copy; later ones add up, with mean 1.
    assert!(times[1].iter().all(|&t| t <= 2 * once[1].arrival_ns));
    assert!(times[1].windows(2).all(|w| w[0] != w[1]), "each copy draws for itself");
    let mean = |list: &[u64]| list.iter().sum::<u64>() as f64 / list.len() as f64;
    let last = mean(&times[3999]) / once[3999].arrival_ns as f64;
    // Deviation of U(0,2) is 0.577; of the mean of 20 sums of 4000 gaps of 1 to 3 ms, 0.25 %.
    assert!((last - 1.0).abs() < 0.0125, "{last}");
    // Requests at the same time stay so: their gap is 0 in every copy.
    let fourth: Vec<u64> = times[3].clone();
    assert_eq!(fourth, times[4]);
}

#[test]
fn one_gap_is_uniform_from_zero_to_two() {
    let trace = Numbered::new("uniform", 2);
    let merged = all(&format!("path = '{}'\ncopies = 1000\n", trace.0.display()));
    let mut gaps: Vec<f64> =
        merged.iter().filter(|r| r.lba == 8).map(|r| r.arrival_ns as f64 / 1e6).collect();
    gaps.sort_unstable_by(f64::total_cmp);
    assert_eq!(gaps.len(), 1000);
    // Kolmogorov-Smirnov against U(0,2): 1.63 / sqrt(1000) at 1 %; the seed is fixed.
    let distance = gaps.iter().enumerate().map(|(i, gap)| (gap / 2.0 - (i as f64 + 0.5) / 1000.0).abs());
    assert!(distance.fold(0.0, f64::max) < 0.0515);
}

#[test]
fn copies_of_a_repeated_closed_loop_take_turns() {
    let table = "preset = 'ads'\narrival = 'closed'\ncount = 100\n";
    let once = all(table);
    let merged = all(&format!("{table}repeat = 2\ncopies = 3\n"));
    for (i, request) in merged.iter().enumerate() {
        assert_eq!(*request, once[i / 3 % 100], "{i}");
    }
}
