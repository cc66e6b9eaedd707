//! Pinned numbers of calibration sections 1 to 5 and 12 that no laboratory can measure: they are of techniques, which
//! a drive under a trace must show. They stand in the table so that none is forgotten.

use super::{Finding, Fitted, Rule};

const CHIPS: Rule = Rule::None("no part of ours is such a chip");
const LOCKS: Rule = Rule::None("no claim judges it: wordline lab locks shows it");
const RANGE: Rule = Rule::None("no claim judges it: the blocks' age is not told");

/// The claim that judges a number: the folder of its paper, and its name.
macro_rules! judged_by {
    ($paper:literal, $claim:literal) => {
        Rule::None(concat!("wordline reproduce ", $paper, ": ", $claim))
    };
}

/// Quantity, source, claimed, why it is not measured.
const CLAIMS: [(&str, &str, f64, Rule); 57] = [
    ("errors corrected by 30 nm MLC (bits in 1 KB)", "redFTL section 1.1", 24.0, CHIPS),
    (
        "read reclaims at 40K over 200K reads endured",
        "redFTL Fig. 7",
        8.0,
        judged_by!("redftl", "fig7-40k-200k"),
    ),
    (
        "read reclaim's share of overhead at 40K reads endured (%)",
        "redFTL Fig. 7",
        88.0,
        judged_by!("redftl", "fig7-share"),
    ),
    ("longest read during a read reclaim (ms)", "redFTL Fig. 8", 332.0, judged_by!("redftl", "fig8-peak")),
    ("pages moved by a read reclaim (%)", "redFTL Fig. 8", 99.0, judged_by!("redftl", "fig8-pages")),
    ("redFTL: fewer read reclaims (%)", "redFTL section 3.1", 60.0, judged_by!("redftl", "rr-count")),
    ("redFTL: read-reclaim time saved (%)", "redFTL Fig. 11", 50.0, judged_by!("redftl", "fig11-time")),
    (
        "redFTL: cleaning and read-reclaim time saved (%)",
        "redFTL Fig. 12",
        34.0,
        judged_by!("redftl", "fig12-overhead"),
    ),
    (
        "read-resistant blocks alone: read-reclaim time saved (%)",
        "redFTL Fig. 21",
        30.0,
        judged_by!("redftl_plus", "fig21-rrb"),
    ),
    (
        "redFTL+: read-reclaim time saved (%)",
        "redFTL Fig. 21",
        62.0,
        judged_by!("redftl_plus", "fig21-redftl-plus"),
    ),
    (
        "redFTL+: increase in the share of LSB reads (%)",
        "redFTL Fig. 22",
        40.0,
        judged_by!("redftl_plus", "fig22-lsb"),
    ),
    (
        "redFTL+: read response shorter (times)",
        "redFTL Fig. 23",
        150.0,
        judged_by!("redftl_plus", "fig23-150x"),
    ),
    ("PDS: cleaning time saved over HASH (%)", "redFTL Fig. 30", 58.0, judged_by!("pds", "fig30-time")),
    ("PDS: best threshold, gcc (updates)", "redFTL Fig. 31", 1.0, judged_by!("pds", "fig31-gcc-1-4")),
    ("PDS: best threshold, tpc-h (updates)", "redFTL Fig. 31", 16.0, judged_by!("pds", "fig31-tpc-h-16-1")),
    ("IDS: distance of two program contexts, example", "redFTL Fig. 33", 1.2, judged_by!("ids", "fig33-12")),
    ("IDS: distance of two others, example", "redFTL Fig. 33", 1.8, judged_by!("ids", "fig33-13")),
    ("IDS: cleaning time saved over PDS (%)", "redFTL Fig. 35", 18.0, judged_by!("ids", "fig35-time-pds")),
    ("IDS: cleaning time saved over HASH (%)", "redFTL Fig. 35", 42.0, judged_by!("ids", "fig35-time-hash")),
    (
        "IDS: copies per victim saved over PDS (%)",
        "redFTL Fig. 36",
        15.0,
        judged_by!("ids", "fig36-copies-pds"),
    ),
    (
        "IDS: copies per victim saved over HASH (%)",
        "redFTL Fig. 36",
        44.0,
        judged_by!("ids", "fig36-copies-hash"),
    ),
    ("IDS: hot archive blocks (%)", "redFTL Fig. 38", 28.0, judged_by!("ids", "fig38-archive")),
    ("HIRE: read time saved, mean of 17 traces (%)", "HIRE Fig. 3", 43.49, judged_by!("hire", "fig3-mean")),
    ("HIRE: read time saved, stg1 (%)", "HIRE Fig. 3", 58.59, judged_by!("hire", "fig3-stg1")),
    ("HIRE: read time saved, fin1 (%)", "HIRE Fig. 3", 6.89, judged_by!("hire", "fig3-fin1")),
    ("HIRE: wear saved, mean of 17 traces (%)", "HIRE Fig. 4", 16.87, judged_by!("hire", "fig4-mean")),
    ("HIRE: wear saved, stg1 (%)", "HIRE Fig. 4", 19.99, judged_by!("hire", "fig4-stg1")),
    ("HIRE: wear saved, fin2 (%)", "HIRE Fig. 4", 1.66, judged_by!("hire", "fig4-fin2")),
    (
        "Straw with 32 counters: read-reclaim copies saved, 2K (%)",
        "Straw Fig. 8",
        83.8,
        judged_by!("straw", "fig8-straw-ss-2k"),
    ),
    (
        "limits by page type: read-reclaim copies saved (%)",
        "Straw Fig. 8",
        29.4,
        judged_by!("straw", "fig8-page-type"),
    ),
    (
        "Straw with 32 counters: slowest reads faster (%)",
        "Straw Fig. 9",
        70.4,
        judged_by!("straw", "fig9-straw-ss-300"),
    ),
    (
        "Straw with all counters: slowest reads faster (%)",
        "Straw Fig. 9",
        81.3,
        judged_by!("straw", "fig9-straw-wl-300"),
    ),
    ("FastCopy: throughput gained, most (%)", "RealWear Fig. 25", 21.0, judged_by!("fastcopy", "fig25")),
    ("longest wait of a read over a mean read", "RealWear Fig. 26", 23.0, judged_by!("psr", "fig26")),
    ("range of retries after 100 suspends", "RealWear Fig. 29", 12.0, RANGE),
    ("pSR: slowest 0.01 % of reads faster (%)", "RealWear Fig. 34", 50.0, judged_by!("psr", "fig34-tail")),
    (
        "pSR: reads faster than always suspending (%)",
        "RealWear Fig. 34",
        12.0,
        judged_by!("psr", "fig34-irftl"),
    ),
    ("locks of one page that hold at V1 and 100 us (%)", "RealWear Fig. 40", 47.3, LOCKS),
    ("page lock: settings too strong", "RealWear Fig. 40", 4.0, LOCKS),
    ("page lock: settings too weak", "RealWear Fig. 40", 5.0, LOCKS),
    ("page lock: settings left", "RealWear Fig. 40", 6.0, LOCKS),
    ("locks: throughput left (%)", "RealWear Fig. 45", 94.5, judged_by!("evanesco", "fig45-sec")),
    ("scrubbing: throughput left (%)", "RealWear Fig. 45", 34.0, judged_by!("evanesco", "fig45-scr")),
    ("erasing: throughput left, less than (%)", "RealWear Fig. 45", 4.0, judged_by!("evanesco", "fig45-er")),
    ("scrubbing: write amplification (times)", "RealWear Fig. 46", 2.6, judged_by!("evanesco", "fig46-scr")),
    ("erasing: write amplification (times)", "RealWear Fig. 46", 251.0, judged_by!("evanesco", "fig46-er")),
    (
        "block locks: page locks saved (%)",
        "RealWear section 5.4",
        28.0,
        judged_by!("evanesco", "blocks-for-pages"),
    ),
    ("block locks: throughput gained (%)", "RealWear Fig. 45", 3.1, judged_by!("evanesco", "fig45-block")),
    ("RHS: reads faster at 95/20 (times)", "RHS Fig. 4", 2.1, judged_by!("rhs", "fig4-orbc")),
    (
        "RHS: share of what can be gained, skewed writes, least (%)",
        "RHS Fig. 6",
        80.0,
        judged_by!("rhs", "fig6-offsets"),
    ),
    (
        "RHS: gained after writing 20 % of the drive, 95/20 (%)",
        "RHS Fig. 7",
        76.5,
        judged_by!("rhs", "fig7-95"),
    ),
    (
        "RHS: writes for the most gain, 80/20 (% of the drive)",
        "RHS Fig. 7",
        30.0,
        judged_by!("rhs", "fig7-maximum-80"),
    ),
    (
        "RHS: writes for the most gain, 70/30 (% of the drive)",
        "RHS Fig. 7",
        40.0,
        judged_by!("rhs", "fig7-maximum-70"),
    ),
    ("RHS: reads of the fastest page type before (%)", "RHS Fig. 8", 24.2, judged_by!("rhs", "fig8-pa")),
    ("RHS: reads of the fastest page type after (%)", "RHS Fig. 8", 44.0, judged_by!("rhs", "fig8-pa")),
    ("RHS: reads of the slowest page type after (%)", "RHS Fig. 8", 5.5, judged_by!("rhs", "fig8-pd")),
    ("RHS: mean read faster on the drive (%)", "RHS Fig. 8", 17.1, judged_by!("rhs", "fig8-latency")),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_judged_elsewhere_is_a_claim_there() {
        let papers = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../papers");
        let mut sent = 0;
        for finding in findings() {
            let Rule::None(why) = finding.rule else { panic!("{}: it is not judged here", finding.quantity) };
            let Some(place) = why.strip_prefix("wordline reproduce ") else { continue };
            let (paper, claim) = place.split_once(": ").unwrap();
            let claims = std::fs::read_to_string(papers.join(paper).join("claims.toml")).unwrap();
            assert!(claims.contains(&format!("id = {claim:?}\n")), "{}: {place}", finding.quantity);
            sent += 1;
        }
        assert_eq!(sent, 51);
    }
}
