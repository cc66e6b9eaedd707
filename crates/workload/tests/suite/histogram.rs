//! Requests from a histogram of addresses, beside the counts they come from.

use std::fs;
use std::path::{Path, PathBuf};
use workload::{Request, Spec, WorkloadError};

fn file(name: &str, text: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("wordline-histogram-{name}-{}", std::process::id()));
    fs::write(&path, text).unwrap();
    path
}

fn all(path: &Path, keys: &str, drive_sectors: u64) -> Result<Vec<Request>, WorkloadError> {
    let mut source =
        Spec::parse(&format!("histogram = '{}'\n{keys}", path.display()))?.open(drive_sectors)?;
    let mut out = Vec::new();
    while let Some(request) = source.next()? {
        out.push(request);
    }
    Ok(out)
}

#[test]
fn addresses_come_as_often_as_counted() {
    let counts = [5000u64, 3000, 1000, 700, 250, 50];
    let lbas = [1 << 40, 4096, 0, 1 << 30, 512, 8192u64];
    let rows: String = lbas.iter().zip(counts).map(|(lba, count)| format!("{lba},{count}\n")).collect();
    let path = file("counts", &format!("LBA,Frequency\n{rows}"));
    let requests = all(&path, "", 1 << 20).unwrap();
    assert_eq!(requests.len(), 10_000);
    // Pages 0 (two addresses in it), 1, 2, 2^18 and 2^28, packed.
    let places = [4 * 8, 8, 0, 3 * 8, 1, 2 * 8u64];
    // Chi-square with 5 degrees of freedom: 20.5 is passed by one in a thousand.
    let chi: f64 = places
        .iter()
        .zip(counts)
        .map(|(&place, count)| {
            let found = requests.iter().filter(|r| r.lba == place).count() as f64;
            (found - count as f64).powi(2) / count as f64
        })
        .sum();
    assert!(chi < 20.5, "{chi}");
    assert!(requests.iter().all(|r| places.contains(&r.lba) && r.sectors == 8));
    assert_eq!(all(&path, "count = 30\nread_percent = 100", 1 << 20).unwrap().len(), 30);
    let says = |keys: &str| all(&path, keys, 1 << 20).unwrap_err().to_string();
    assert!(says("address = 'as_is'").contains("the histogram needs"), "{}", says("address = 'as_is'"));
    let as_is = all(&path, "address = 'as_is'\naddress_unit = 'sectors'", 1 << 42).unwrap();
    assert!(as_is.iter().any(|r| r.lba == 1 << 40));
    fs::remove_file(path).unwrap();
}

#[test]
fn bad_lines_are_told_with_their_place() {
    let cases = [
        ("LBA,Frequency\n4096,7\n8192\n", ":3: column Frequency: missing"),
        ("LBA,Frequency\n4096,x\n", ":2: column Frequency: not a number: found 'x'"),
        ("LBA,Frequency\n-5,1\n", ":2: column LBA: negative"),
        ("LBA,Frequency\n99999999999999999999,1\n", ":2: column LBA: too large"),
        ("LBA,Frequency\n", "no request in this trace"),
        ("", "no request in this trace"),
    ];
    for (i, (text, says)) in cases.into_iter().enumerate() {
        let path = file(&format!("bad{i}"), text);
        let found = all(&path, "", 1 << 20).unwrap_err().to_string();
        assert!(found.contains(says), "{text:?}\n  says: {found}\n  not:  {says}");
        fs::remove_file(path).unwrap();
    }
    assert!(all(Path::new("no/such"), "", 1).unwrap_err().to_string().contains("cannot open"));
}

/// The collection's counts of writes to the volumes of MSR Cambridge, if they are there: offsets, writes, and the share
/// of writes that go to the fifth of the offsets written most (its README).
#[test]
fn counts_of_real_volumes_are_those_of_their_readme() {
    let volumes = [
        ("hm_0", 167_301, 1_999_999u64, 86.0),
        ("prxy_0", 47_694, 1_999_999, 96.0),
        ("usr_0", 91_906, 1_333_405, 87.0),
        ("web_0", 53_521, 1_423_457, 88.0),
    ];
    for (volume, offsets, writes, top) in volumes {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/traces");
        let path = Path::new(folder).join(format!("msr-writepop-{volume}.csv.zst"));
        if !path.is_file() {
            eprintln!("skipped: {} is not there", path.display());
            continue;
        }
        let requests = all(&path, "", 1 << 30).unwrap();
        assert_eq!(requests.len() as u64, writes);
        let mut lbas: Vec<u64> = requests.iter().map(|r| r.lba).collect();
        lbas.sort_unstable();
        let mut counts: Vec<usize> = lbas.chunk_by(|a, b| a == b).map(<[u64]>::len).collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        // Some of the offsets counted once are not drawn; none that is not in the file.
        assert!(counts.len() <= offsets && counts.len() > offsets / 2, "{volume}: {}", counts.len());
        let share = 100.0 * counts.iter().take(offsets / 5).sum::<usize>() as f64 / writes as f64;
        assert!((share - top).abs() < 2.0, "{volume}: {share} %");
    }
}
