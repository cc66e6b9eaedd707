//! What callgrind counts of a load: it runs this program again, and looks at one function of it.

use super::loads::Case;
use std::process::Command;

/// The cache that callgrind plays: 32 KiB for instructions and for data, as most cores have, whatever this machine has.
const CACHES: [&str; 3] = ["--I1=32768,8,64", "--D1=32768,8,64", "--LL=8388608,16,64"];
/// What a case prints of its flash operations, for the process that counts.
pub const OPERATIONS: &str = "flash operations: ";

/// What callgrind counts, per request, and the flash operations beside it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counts {
    pub instructions: f64,
    /// Reads and writes of data.
    pub accesses: f64,
    /// Conditional and indirect branches that its predictor gets wrong.
    pub mispredicted: f64,
    pub i1_misses: f64,
    pub d1_misses: f64,
    pub operations: f64,
}

impl Counts {
    pub const NAMES: [&str; 6] =
        ["instructions", "accesses", "mispredicted", "I1 misses", "D1 misses", "flash ops"];

    pub fn values(&self) -> [f64; 6] {
        let Counts { instructions, accesses, mispredicted, i1_misses, d1_misses, operations } = *self;
        [instructions, accesses, mispredicted, i1_misses, d1_misses, operations]
    }

    pub fn of([instructions, accesses, mispredicted, i1_misses, d1_misses, operations]: [f64; 6]) -> Counts {
        Counts { instructions, accesses, mispredicted, i1_misses, d1_misses, operations }
    }
}

/// What a load takes for a request: what a run takes whatever its length is counted alone, and left out.
pub fn count(case: &Case) -> Result<Counts, String> {
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    let folder = tempfile::tempdir().map_err(|error| format!("no folder for callgrind's files: {error}"))?;
    let file = folder.path().join("out");
    let output = Command::new("valgrind")
        // Large rooms come from the system, clear, in both runs: else the second clears what the first has given back.
        .env("MALLOC_MMAP_THRESHOLD_", "131072")
        .args(["--tool=callgrind", "--toggle-collect=drive::instructions::measured"])
        .args(["--cache-sim=yes", "--branch-sim=yes"])
        .args(CACHES)
        .arg("--dump-after=drive::instructions::measured")
        .arg(format!("--callgrind-out-file={}", file.display()))
        .arg(this)
        .args(["--case", case.name])
        .output()
        .map_err(|error| format!("valgrind: {error}"))?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let operations: Option<Vec<u64>> = printed
        .lines()
        .find_map(|line| line.strip_prefix(OPERATIONS))
        .and_then(|text| text.split(' ').map(|word| word.parse().ok()).collect());
    let counted = |number: u32| {
        let text = std::fs::read_to_string(file.with_extension(number.to_string())).ok()?;
        totals(&text)
    };
    match (counted(1), counted(2), operations.as_deref()) {
        (Some(alone), Some(all), Some(&[few, most])) if output.status.success() => {
            let [a, b, c, d, e] = std::array::from_fn(|at| all[at] as f64 - alone[at] as f64);
            let sums = [a, b, c, d, e, most as f64 - few as f64];
            Ok(Counts::of(sums.map(|sum| sum / case.requests as f64)))
        }
        _ => Err(format!("{}: {}\n{}", case.name, output.status, String::from_utf8_lossy(&output.stderr))),
    }
}

/// The sums of one of callgrind's files: instructions, accesses, mispredicted branches, misses of I1 and of D1.
fn totals(text: &str) -> Option<[u64; 5]> {
    let line = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
    let names: Vec<&str> = line("events: ")?.split_whitespace().collect();
    let values: Vec<u64> =
        line("totals: ")?.split_whitespace().map(|word| word.parse().ok()).collect::<Option<_>>()?;
    // Zeros at a line's end are not written.
    let of = |name: &str| {
        let at = names.iter().position(|it| *it == name)?;
        Some(values.get(at).copied().unwrap_or(0))
    };
    let sum = |names: [&str; 2]| Some(of(names[0])? + of(names[1])?);
    Some([of("Ir")?, sum(["Dr", "Dw"])?, sum(["Bcm", "Bim"])?, of("I1mr")?, sum(["D1mr", "D1mw"])?])
}
