//! A result in a line.

use crate::base::number::{digits, duration, si};
use crate::result::{RunResult, regimes};

/// Throughput, the 99th percentile of reads and of flushes, write amplification, and what bounds the run.
pub(crate) fn line(result: &RunResult) -> String {
    let mut parts = Vec::new();
    if let Some(iops) = result.iops.all {
        parts.push(format!("{} IOPS{}", si(iops, ""), counted(result)));
    }
    let (read, write) = (&result.latency_ns.read, &result.latency_ns.write);
    match (read.telling_p99(), write.telling_p99()) {
        _ if !result.takes_time() => parts.push(format!("{} requests, no time", result.requests_served)),
        (Some(p99), _) => parts.push(format!("99 % of reads within {}", duration(p99 as f64))),
        (None, Some(p99)) => parts.push(format!("99 % of writes within {}", duration(p99 as f64))),
        (None, None) => {}
    }
    if let Some(p99) = result.latency_ns.flush.telling_p99().filter(|_| result.takes_time()) {
        parts.push(format!("of flushes within {}", duration(p99 as f64)));
    }
    if let Some(amplification) = result.write_amplification.filter(|amplification| *amplification > 0.0) {
        parts.push(format!("write amplification {}", digits(amplification)));
    }
    let verdict = match result.verdict.text.as_str() {
        "" => String::new(),
        text => format!("; {text}"),
    };
    let regimes = match &regimes::news(&result.changes, &result.verdict)[..] {
        [] => String::new(),
        changes => format!("; not stationary: {}", regimes::text(changes)),
    };
    format!("in short: {}{verdict}{regimes}\n", parts.join(", "))
}

/// What IOPS count, where that is more than reads and writes.
fn counted(result: &RunResult) -> String {
    let kinds = [
        ("reads", result.reads),
        ("writes", result.writes),
        ("trims", result.trims),
        ("flushes", result.flushes),
    ];
    let names: Vec<&str> =
        kinds.iter().filter(|(_, requests)| *requests > 0).map(|(name, _)| *name).collect();
    if result.trims + result.flushes == 0 { String::new() } else { format!(" ({})", names.join(", ")) }
}

/// The line and what must be known to read it.
pub(crate) fn brief(result: &RunResult) -> String {
    let mut text = line(result);
    for remark in &result.remarks {
        text.push_str(&format!("  remark     {remark}\n"));
    }
    text
}
