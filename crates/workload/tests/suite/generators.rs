//! Generated requests: shape, limits, and the same ones on every machine.

use ssd::signals::OpCode;
use workload::{Request, Spec, footprint};

fn generate(table: &str, drive_sectors: u64) -> Vec<Request> {
    let mut source = Spec::parse(table).unwrap().open(drive_sectors).unwrap();
    let mut out = Vec::new();
    while let Some(request) = source.next().unwrap() {
        out.push(request);
    }
    out
}

/// A hash of everything a drive sees (FNV-1a by words).
fn hash(requests: &[Request]) -> u64 {
    let words = requests.iter().flat_map(|r| [r.arrival_ns, r.op as u64, r.lba, u64::from(r.sectors)]);
    words
        .fold(0xcbf2_9ce4_8422_2325, |h, word| (h ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23))
}

/// Numbers that must never change without a note under "Results change": they prove that the generators give the same
/// requests on every machine and in every build.
#[test]
fn golden_requests() {
    let cases = [
        ("pattern = 'uniform'", 0xe1cd_c53e_40fa_91e0),
        (
            "pattern = 'uniform'\nsize_bytes = [[4096, 70], [16384, 20], [65536, 10]]\nseed = 7\nalignment_bytes = 0",
            0xb610_249e_94f3_5e59,
        ),
        (
            "pattern = 'uniform'\nsize_bytes = [[4096, 70], [16384, 20], [65536, 10]]\nseed = 7",
            0xe766_9854_3a97_418e,
        ),
        (
            "pattern = 'sequential'\nsize_bytes = 131072\nread_percent = 0\narrival = 'fixed'\nrate_iops = 3000",
            0xaa9f_47e6_2b00_8c0b,
        ),
        ("pattern = 'zipf'\nfootprint_percent = 50\narrival = 'poisson'", 0x0681_2993_70fc_8bd3),
        (
            "pattern = 'zipf'\nzipf_theta = 0.99\nscatter = false\nhot_shift_requests = 1000\nwrite_shift_percent = 25",
            0xaf99_7567_7e34_8180,
        ),
    ];
    for (table, expected) in cases {
        let requests = generate(&format!("count = 100000\n{table}"), 1 << 31);
        assert_eq!(requests.len(), 100_000);
        assert_eq!(hash(&requests), expected, "{table}: found {:#018x}", hash(&requests));
    }
}

#[test]
fn read_share_leaves_addresses_alone() {
    let addresses = |percent: u32| -> Vec<u64> {
        let table = format!("pattern = 'uniform'\ncount = 10000\nread_percent = {percent}");
        let requests = generate(&table, 1 << 21);
        let reads = requests.iter().filter(|r| r.op == OpCode::Read).count();
        // Five standard deviations of a binomial at most.
        assert!((reads as f64 - f64::from(percent) * 100.0).abs() < 250.0, "{percent} %: {reads}");
        requests.iter().map(|r| r.lba).collect()
    };
    assert_eq!(addresses(0), addresses(100));
    assert_eq!(addresses(30), addresses(100));
}

#[test]
fn trims_take_the_place_of_writes_and_leave_all_else_alone() {
    for pattern in ["uniform", "zipf", "sequential"] {
        let requests = |reads: u32, trims: u32| {
            let shares = format!("read_percent = {reads}\ntrim_percent = {trims}");
            let moved =
                if pattern == "zipf" { "write_zipf_theta = 1.2\nwrite_shift_percent = 10\n" } else { "" };
            generate(&format!("pattern = '{pattern}'\n{moved}count = 10000\n{shares}"), 1 << 21)
        };
        let without = requests(40, 0);
        for trims in [0, 1, 30, 60] {
            let with = requests(40, trims);
            let found = with.iter().filter(|r| r.op == OpCode::Trim).count();
            assert!((found as f64 - f64::from(trims) * 100.0).abs() < 250.0, "{pattern}, {trims} %: {found}");
            for (with, without) in with.iter().zip(&without) {
                assert_eq!((with.lba, with.sectors), (without.lba, without.sectors));
                assert_eq!(with.op == OpCode::Read, without.op == OpCode::Read, "no read becomes a trim");
            }
            assert_eq!(with.iter().any(|r| r.op == OpCode::Write), trims < 60, "{trims} % of 60 % are all");
        }
    }
    let wrong = Spec::parse("pattern = 'uniform'\ntrim_percent = 31").and_then(|spec| spec.prepare());
    let text = wrong.map(drop).unwrap_err().to_string();
    assert!(text.contains("trim_percent") && text.contains("31 % trims beside 70 % reads"), "{text}");
    // What came to be a key later leaves the numbers of workloads without it.
    let hash = |text: &str| Spec::parse(text).unwrap().prepare().unwrap().workload_hash();
    assert_eq!(hash("pattern = 'uniform'"), hash("pattern = 'uniform'\ntrim_percent = 0"));
    assert_ne!(hash("pattern = 'uniform'"), hash("pattern = 'uniform'\ntrim_percent = 1"));
}

#[test]
fn sizes_come_by_weight_and_aligned() {
    let table =
        "pattern = 'uniform'\ncount = 100000\nsize_bytes = [[4096, 3], [65536, 1]]\nalignment_bytes = 16384";
    let requests = generate(table, 1 << 16);
    let small = requests.iter().filter(|r| r.sectors == 8).count();
    assert!(small.abs_diff(75_000) < 700, "{small}");
    assert!(requests.iter().all(|r| r.lba % 32 == 0 && r.end() <= 1 << 16 && [8, 128].contains(&r.sectors)));
    let smallest = generate(
        "pattern = 'uniform'\ncount = 1000\nsize_bytes = [8192, 1536]\nalignment_bytes = 0",
        1 << 12,
    );
    assert!(smallest.iter().all(|r| r.lba % 3 == 0) && smallest.iter().any(|r| r.lba % 2 == 1));
}

#[test]
fn requests_of_several_sizes_start_at_multiples_of_their_own() {
    // Also of sizes that are no multiples of each other, and on a space that no size divides.
    for sizes in ["[[16384, 9], [4096, 1]]", "[8192, 1536]", "[[512, 1], [3584, 2], [131072, 1]]"] {
        for pattern in ["uniform", "sequential", "zipf", "zipf'\nscatter = false\nwrite_shift_percent = 30 #"]
        {
            let table = format!("pattern = '{pattern}'\ncount = 20000\nsize_bytes = {sizes}");
            let table = table.replace(" #'", "");
            for space in [256, 1021, 4_103] {
                let requests = generate(&table, space);
                let wrong = requests.iter().find(|r| r.lba % u64::from(r.sectors) != 0 || r.end() > space);
                assert_eq!(wrong, None, "{table} on {space} sectors");
                assert_eq!(requests, generate(&format!("{table}\nalignment_bytes = 'size'"), space));
            }
        }
    }
}

#[test]
fn requests_of_each_size_reach_all_places_of_their_own() {
    let table = "pattern = 'uniform'\ncount = 200000\nsize_bytes = [16384, 4096]";
    // Eight places of 16 KiB, and 35 of 4 KiB: the last three lie where no larger request does.
    let mut counts = [[0u32; 35]; 2];
    for request in generate(table, 35 * 8 + 3) {
        let of_size = usize::from(request.sectors == 8);
        counts[of_size][(request.lba / u64::from(request.sectors)) as usize] += 1;
    }
    assert!(counts[0][..8].iter().all(|c| c.abs_diff(12_500) < 600), "{counts:?}");
    assert!(counts[1].iter().all(|c| c.abs_diff(2_857) < 270), "{counts:?}");
}

#[test]
fn requests_of_one_size_are_the_same_however_their_alignment_is_said() {
    let both = |table: &str| {
        let hash = |table: &str| Spec::parse(table).unwrap().prepare().unwrap().workload_hash();
        let [own, smallest] = ["'size'", "0"].map(|how| format!("{table}\nalignment_bytes = {how}"));
        let are_equal = generate(&own, 9_001) == generate(&smallest, 9_001);
        (are_equal, hash(&own) == hash(&smallest), hash(&own) == hash(table))
    };
    for pattern in ["uniform", "sequential", "zipf"] {
        let table = format!("pattern = '{pattern}'\ncount = 1000\nsize_bytes");
        assert_eq!(both(&format!("{table} = 12288")), (true, true, true), "{pattern}");
        assert_eq!(both(&format!("{table} = [12288]")), (true, true, true), "{pattern}");
        assert_eq!(both(&format!("{table} = [12288, 4096]")), (false, false, true), "{pattern}");
    }
}

#[test]
fn an_alignment_that_is_none_is_told_with_what_is_allowed() {
    for (value, found) in [("'sice'", "did you mean `size`?"), ("4095", "found 4095"), ("-512", "found -512")]
    {
        let error = Spec::parse(&format!("pattern = 'uniform'\nalignment_bytes = {value}")).unwrap_err();
        let text = error.to_string();
        for part in ["alignment_bytes", found, "allowed: \"size\", or a multiple of 512 up to 1 GiB"] {
            assert!(text.contains(part), "{text}");
        }
    }
    let unit = Spec::parse("pattern = 'uniform'\nalignment_bytes = '16KiB'").unwrap();
    assert!(unit.entries().contains(&("alignment_bytes", "16384".to_owned())));
}

#[test]
fn uniform_reaches_every_place_equally() {
    let mut counts = [0u32; 64];
    for request in generate("pattern = 'uniform'\ncount = 640000", 64 * 8) {
        counts[(request.lba / 8) as usize] += 1;
    }
    // Standard deviation 99.
    assert!(counts.iter().all(|c| c.abs_diff(10_000) < 500), "{counts:?}");
}

#[test]
fn sequential_goes_round() {
    let requests = generate("pattern = 'sequential'\ncount = 7\nsize_bytes = 4096", 3 * 8 + 5);
    assert_eq!(requests.iter().map(|r| r.lba).collect::<Vec<_>>(), [0, 8, 16, 0, 8, 16, 0]);
    let aligned =
        generate("pattern = 'sequential'\ncount = 4\nsize_bytes = 4096\nalignment_bytes = 8192", 48);
    assert_eq!(aligned.iter().map(|r| r.lba).collect::<Vec<_>>(), [0, 16, 32, 0]);
}

/// Share of requests that go to the busiest part of the places.
fn share(requests: &[Request], places: usize, part: f64) -> f64 {
    let mut counts = vec![0u64; places];
    for request in requests {
        counts[(request.lba / 8) as usize] += 1;
    }
    counts.sort_unstable_by_key(|&c| std::cmp::Reverse(c));
    let hot: u64 = counts.iter().take((places as f64 * part) as usize).sum();
    hot as f64 / requests.len() as f64
}

#[test]
fn zipf_is_as_skewed_as_asked_wherever_its_ranks_lie() {
    let places = 10_000;
    for (scatter, access, space) in [(true, 80.0, 20.0), (false, 95.0, 5.0), (true, 70.0, 30.0)] {
        let table = format!(
            "pattern = 'zipf'\ncount = 2000000\nscatter = {scatter}\nzipf_access_percent = {access}\n\
             zipf_space_percent = {space}"
        );
        let found = share(&generate(&table, places as u64 * 8), places, space / 100.0);
        // The busiest places are picked after the fact, which adds a little.
        assert!((found - access / 100.0).abs() < 0.004, "{access}/{space}: {found}");
    }
}

/// Reads have one exponent and writes another: each place is read and written as often as its rank says.
#[test]
fn reads_and_writes_have_skews_of_their_own() {
    let places = 50;
    let table = "pattern = 'zipf'\ncount = 400000\nscatter = false\nread_percent = 50\nzipf_theta = 0.7\n\
                 write_zipf_theta = 1.3";
    let requests = generate(table, places * 8);
    for (op, theta) in [(OpCode::Read, 0.7), (OpCode::Write, 1.3)] {
        let lbas: Vec<u64> = requests.iter().filter(|r| r.op == op).map(|r| r.lba / 8).collect();
        let weight = |place: u64| ((place + 1) as f64).powf(-theta);
        let all: f64 = (0..places).map(weight).sum();
        let chi: f64 = (0..places)
            .map(|place| {
                let wanted = lbas.len() as f64 * weight(place) / all;
                let found = lbas.iter().filter(|&&lba| lba == place).count() as f64;
                (found - wanted).powi(2) / wanted
            })
            .sum();
        // 49 degrees of freedom: 85.4 is passed by one in a thousand.
        assert!(chi < 85.4, "{op:?}: {chi}");
    }
    // Where writes have none of their own, they have that of reads.
    let same = table.replace("write_zipf_theta = 1.3", "");
    assert!(generate(&same, places * 8) == generate(&table.replace("1.3", "0.7"), places * 8));
}

#[test]
fn hot_places_move() {
    let table = "pattern = 'zipf'\ncount = 20000\nscatter = false\nzipf_theta = 1.2\nread_percent = 50\n\
                 write_shift_percent = 50\nhot_shift_requests = 10000\nhot_shift_percent = 10";
    let requests = generate(table, 1000 * 8);
    let hottest = |half: &[Request], op: OpCode| {
        let mut counts = vec![0; 1000];
        for request in half.iter().filter(|r| r.op == op) {
            counts[(request.lba / 8) as usize] += 1;
        }
        (0..1000).max_by_key(|&place| counts[place])
    };
    let (early, late) = requests.split_at(10_000);
    assert_eq!((hottest(early, OpCode::Read), hottest(early, OpCode::Write)), (Some(0), Some(500)));
    assert_eq!((hottest(late, OpCode::Read), hottest(late, OpCode::Write)), (Some(100), Some(600)));
}

#[test]
fn space_is_kept_and_checked() {
    let spec = Spec::parse("pattern = 'uniform'\nfootprint_gib = 0.5\ncount = 1000000").unwrap();
    let prepared = spec.prepare().unwrap();
    assert_eq!(prepared.space_sectors(), Some(1 << 20));
    let totals = footprint(&mut *prepared.open(1 << 21).unwrap()).unwrap();
    assert!(totals.end_lba <= 1 << 20 && totals.end_lba > (1 << 20) - 100);
    let error = prepared.open(1000).err().map(|e| e.to_string()).unwrap_or_default();
    assert!(error.contains("footprint_gib") && error.contains("1000 sectors"), "{error}");
    let share = generate("pattern = 'zipf'\nfootprint_percent = 25\ncount = 100000", 1 << 20);
    assert!(share.iter().all(|r| r.end() <= 1 << 18));
    assert_eq!(Spec::parse("pattern = 'zipf'").unwrap().prepare().unwrap().space_sectors(), None);
    let too_large = Spec::parse("pattern = 'uniform'\nsize_bytes = 1048576").unwrap().open(2047);
    assert!(too_large.err().is_some_and(|e| e.to_string().contains("size_bytes")));
    assert!(Spec::parse("pattern = 'uniform'").unwrap().open(0).is_err());
    assert_eq!(generate("pattern = 'zipf'\ncount = 3\nsize_bytes = 1048576", 2048).len(), 3);
}
