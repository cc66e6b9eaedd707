//! Pinned numbers of calibration sections 1 to 5 and 12 that no laboratory can measure: they are of techniques, which
//! a drive under a trace must show. They stand in the table so that none is forgotten.

use super::{Finding, Fitted, Rule};

const DRIVE: Rule = Rule::None("wordline reproduce judges it");
const SANITISE: Rule = Rule::None("wordline reproduce evanesco, wordline lab locks");
const PREEMPT: Rule = Rule::None("wordline reproduce psr judges it");
const PLACEMENT: Rule = Rule::None("wordline reproduce rhs judges it");
const CHIPS: Rule = Rule::None("no part of ours is such a chip");

/// Quantity, source, claimed, why it is not measured.
const CLAIMS: [(&str, &str, f64, Rule); 57] = [
    ("errors corrected by 30 nm MLC (bits in 1 KB)", "redFTL section 1.1", 24.0, CHIPS),
    ("read reclaims at 40K over 200K reads endured", "redFTL Fig. 7", 8.0, DRIVE),
    ("read reclaim's share of overhead at 40K reads endured (%)", "redFTL Fig. 7", 88.0, DRIVE),
    ("longest read during a read reclaim (ms)", "redFTL Fig. 8", 332.0, DRIVE),
    ("pages moved by a read reclaim (%)", "redFTL Fig. 8", 99.0, DRIVE),
    ("redFTL: fewer read reclaims (%)", "redFTL section 3.1", 60.0, DRIVE),
    ("redFTL: read-reclaim time saved (%)", "redFTL Fig. 11", 50.0, DRIVE),
    ("redFTL: cleaning and read-reclaim time saved (%)", "redFTL Fig. 12", 34.0, DRIVE),
    ("read-resistant blocks alone: read-reclaim time saved (%)", "redFTL Fig. 21", 30.0, DRIVE),
    ("redFTL+: read-reclaim time saved (%)", "redFTL Fig. 21", 62.0, DRIVE),
    ("redFTL+: increase in the share of LSB reads (%)", "redFTL Fig. 22", 40.0, DRIVE),
    ("redFTL+: read response shorter (times)", "redFTL Fig. 23", 150.0, DRIVE),
    ("PDS: cleaning time saved over HASH (%)", "redFTL Fig. 30", 58.0, DRIVE),
    ("PDS: best threshold, gcc (updates)", "redFTL Fig. 31", 1.0, DRIVE),
    ("PDS: best threshold, tpc-h (updates)", "redFTL Fig. 31", 16.0, DRIVE),
    ("IDS: distance of two program contexts, example", "redFTL Fig. 33", 1.2, DRIVE),
    ("IDS: distance of two others, example", "redFTL Fig. 33", 1.8, DRIVE),
    ("IDS: cleaning time saved over PDS (%)", "redFTL Fig. 35", 18.0, DRIVE),
    ("IDS: cleaning time saved over HASH (%)", "redFTL Fig. 35", 42.0, DRIVE),
    ("IDS: copies per victim saved over PDS (%)", "redFTL Fig. 36", 15.0, DRIVE),
    ("IDS: copies per victim saved over HASH (%)", "redFTL Fig. 36", 44.0, DRIVE),
    ("IDS: hot archive blocks (%)", "redFTL Fig. 38", 28.0, DRIVE),
    ("HIRE: read time saved, mean of 17 traces (%)", "HIRE Fig. 3", 43.49, DRIVE),
    ("HIRE: read time saved, stg1 (%)", "HIRE Fig. 3", 58.59, DRIVE),
    ("HIRE: read time saved, fin1 (%)", "HIRE Fig. 3", 6.89, DRIVE),
    ("HIRE: wear saved, mean of 17 traces (%)", "HIRE Fig. 4", 16.87, DRIVE),
    ("HIRE: wear saved, stg1 (%)", "HIRE Fig. 4", 19.99, DRIVE),
    ("HIRE: wear saved, fin2 (%)", "HIRE Fig. 4", 1.66, DRIVE),
    ("Straw with 32 counters: read-reclaim copies saved, 2K (%)", "Straw Fig. 8", 83.8, DRIVE),
    ("limits by page type: read-reclaim copies saved (%)", "Straw Fig. 8", 29.4, DRIVE),
    ("Straw with 32 counters: slowest reads faster (%)", "Straw Fig. 9", 70.4, DRIVE),
    ("Straw with all counters: slowest reads faster (%)", "Straw Fig. 9", 81.3, DRIVE),
    ("FastCopy: throughput gained, most (%)", "RealWear Fig. 25", 21.0, DRIVE),
    ("longest wait of a read over a mean read", "RealWear Fig. 26", 23.0, PREEMPT),
    ("range of retries after 100 suspends", "RealWear Fig. 29", 12.0, PREEMPT),
    ("pSR: slowest 0.01 % of reads faster (%)", "RealWear Fig. 34", 50.0, PREEMPT),
    ("pSR: reads faster than always suspending (%)", "RealWear Fig. 34", 12.0, PREEMPT),
    ("locks of one page that hold at V1 and 100 us (%)", "RealWear Fig. 40", 47.3, SANITISE),
    ("page lock: settings too strong", "RealWear Fig. 40", 4.0, SANITISE),
    ("page lock: settings too weak", "RealWear Fig. 40", 5.0, SANITISE),
    ("page lock: settings left", "RealWear Fig. 40", 6.0, SANITISE),
    ("locks: throughput left (%)", "RealWear Fig. 45", 94.5, SANITISE),
    ("scrubbing: throughput left (%)", "RealWear Fig. 45", 34.0, SANITISE),
    ("erasing: throughput left, less than (%)", "RealWear Fig. 45", 4.0, SANITISE),
    ("scrubbing: write amplification (times)", "RealWear Fig. 46", 2.6, SANITISE),
    ("erasing: write amplification (times)", "RealWear Fig. 46", 251.0, SANITISE),
    ("block locks: page locks saved (%)", "RealWear section 5.4", 28.0, SANITISE),
    ("block locks: throughput gained (%)", "RealWear Fig. 45", 3.1, SANITISE),
    ("RHS: reads faster at 95/20 (times)", "RHS Fig. 4", 2.1, PLACEMENT),
    ("RHS: share of what can be gained, skewed writes, least (%)", "RHS Fig. 6", 80.0, PLACEMENT),
    ("RHS: gained after writing 20 % of the drive, 95/20 (%)", "RHS Fig. 7", 76.5, PLACEMENT),
    ("RHS: writes for the most gain, 80/20 (% of the drive)", "RHS Fig. 7", 30.0, PLACEMENT),
    ("RHS: writes for the most gain, 70/30 (% of the drive)", "RHS Fig. 7", 40.0, PLACEMENT),
    ("RHS: reads of the fastest page type before (%)", "RHS Fig. 8", 24.2, PLACEMENT),
    ("RHS: reads of the fastest page type after (%)", "RHS Fig. 8", 44.0, PLACEMENT),
    ("RHS: reads of the slowest page type after (%)", "RHS Fig. 8", 5.5, PLACEMENT),
    ("RHS: mean read faster on the drive (%)", "RHS Fig. 8", 17.1, PLACEMENT),
];

/// The claims, with nothing measured.
pub(super) fn findings() -> impl Iterator<Item = Finding> {
    CLAIMS.into_iter().map(|(quantity, source, claimed, rule)| Finding {
        part: "a drive",
        quantity: quantity.to_owned(),
        source,
        claimed,
        measured: None,
        rule,
        fitted: Fitted::No,
    })
}
