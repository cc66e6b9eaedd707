//! What was found, as JSON.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use workload::analysis::{Analysis, Popularity, Tallied};
use workload::{PAGE_BYTES, SECTOR_BYTES, Spec};

use super::found::{Found, HOTTEST_PERCENT, PERCENTILES, TOP_PERCENT, name_of};

/// Caches told for each power of two of their size.
const CACHE_STEPS: u32 = 4;

/// All of it.
pub fn of(found: &Found) -> Value {
    let Found { spec, analysis, report, buffers, .. } = found;
    let file = if let Spec::Trace(trace) = spec { trace.path.to_str() } else { Some("") };
    let footprint = &analysis.footprint;
    let skipped: Map<String, Value> =
        report.skipped.iter().map(|s| (s.reason.name().to_owned(), json!(s.count))).collect();
    let hits: Map<String, Value> =
        buffers.iter().map(|(size, buffer)| (size.clone(), json!(buffer.hit_percent()))).collect();
    let mut json = json!({
        "file": file,
        "title": spec.title(),
        "requests": footprint.requests,
        "reads": footprint.reads,
        "writes": footprint.writes,
        "trims": footprint.trims,
        "flushes": footprint.flushes,
        "fua": analysis.fua,
        "read_percent": footprint.read_percent(),
        "read_bytes_percent": footprint.read_bytes_percent(),
        "bytes_read": footprint.bytes_read,
        "bytes_written": footprint.bytes_written,
        "duration_ns": footprint.duration_ns,
        "footprint_bytes": footprint.bytes(),
        "end_lba": footprint.end_lba,
        "lines": report.lines,
        "lines_skipped": skipped,
        "time_steps_back": report.time_steps_back,
        "read_sizes_bytes": by_bytes(&analysis.read_sizes),
        "write_sizes_bytes": by_bytes(&analysis.write_sizes),
        "sequential": { "reads": analysis.sequence.reads, "writes": analysis.sequence.writes },
        "access_percent_by_hottest_percent": tops(&analysis.popularity.extents, &HOTTEST_PERCENT),
        "buffer_hit_percent": hits,
    });
    let updates = json!({
        "pages": analysis.updates.pages,
        "contexts": analysis.updates.contexts.len(),
        "top_5_percent": analysis.updates.top_percent(5),
    });
    let more =
        [("popularity", popularities(analysis)), ("rewrites", rewrites(analysis)), ("updates", updates)];
    let more = more.into_iter().chain([("reuse", reuse(analysis)), ("rate", rate(analysis))]);
    let tallies = analysis
        .by
        .named()
        .map(|(name, tallied)| (name, tally(tallied, |number| name_of(report, name, number))));
    let sampled = json!({ "pages": analysis.pages_rate, "reuse": analysis.reuse_rate });
    for (name, value) in more.chain(tallies).chain([("sampled", sampled)]) {
        json[name] = value;
    }
    json
}

fn by_bytes(sizes: &BTreeMap<u32, u64>) -> Map<String, Value> {
    let in_bytes = |sectors: u32| (u64::from(sectors) * SECTOR_BYTES).to_string();
    sizes.iter().map(|(sectors, count)| (in_bytes(*sectors), json!(count))).collect()
}

/// Shares of the accesses by the percent of places that get them.
fn tops(popularity: &Popularity, percents: &[f64]) -> Map<String, Value> {
    let share = |percent: &f64| json!(popularity.top_percent(*percent).unwrap_or(0.0));
    percents.iter().map(|percent| (percent.to_string(), share(percent))).collect()
}

fn popularities(analysis: &Analysis) -> Value {
    let one = |popularity: &Popularity| {
        json!({
            "pages": popularity.pages(),
            "accesses": popularity.accesses(),
            "gini": popularity.gini(),
            "access_percent_by_top_percent": tops(popularity, &TOP_PERCENT),
        })
    };
    let found = &analysis.popularity;
    json!({ "all": one(&found.all), "reads": one(&found.reads), "writes": one(&found.writes) })
}

/// Values at the percentiles that are told.
fn percentiles(value: impl Fn(f64) -> Option<u64>) -> Map<String, Value> {
    PERCENTILES.iter().map(|percent| (format!("p{percent}"), json!(value(*percent)))).collect()
}

fn rewrites(analysis: &Analysis) -> Value {
    let rewrites = &analysis.rewrites;
    json!({
        "page_writes": rewrites.page_writes,
        "rewrites": rewrites.rewrites,
        "percent": rewrites.percent(),
        "interval_ns": percentiles(|p| rewrites.interval_ns(p)),
        "interval_bytes": percentiles(|p| rewrites.interval_bytes(p)),
    })
}

fn reuse(analysis: &Analysis) -> Value {
    let [all, reads, writes] = &analysis.miss_ratio;
    let point = |pages: u64| {
        let size = pages * PAGE_BYTES;
        json!({ "cache_bytes": size, "all": all.at(pages), "reads": reads.at(pages), "writes": writes.at(pages) })
    };
    json!({
        "distance_pages": percentiles(|p| all.percentile(p)),
        "miss_ratio": all.cache_pages(CACHE_STEPS).map(point).collect::<Vec<_>>(),
    })
}

fn rate(analysis: &Analysis) -> Value {
    let rates = &analysis.rates;
    let bins: Vec<Value> = rates
        .bins
        .iter()
        .map(|bin| json!([bin.reads, bin.writes, bin.bytes_read, bin.bytes_written]))
        .collect();
    json!({
        "requests_per_s_max": rates.requests_per_s_max,
        "bytes_per_s_max": rates.bytes_per_s_max,
        "bin_ns": rates.bin_ns,
        "bin_columns": ["reads", "writes", "bytes_read", "bytes_written"],
        "bins": bins,
    })
}

fn tally<'a>(tallied: &Tallied, name: impl Fn(u32) -> Option<&'a str>) -> Value {
    let counts = tallied.counts.iter().map(|(number, bin)| (Some(*number), bin));
    let others = (tallied.others.requests() > 0).then_some((None, &tallied.others));
    let rows = counts.chain(others).map(|(number, bin)| {
        json!({
            "number": number,
            "name": number.and_then(&name),
            "reads": bin.reads,
            "writes": bin.writes,
            "bytes_read": bin.bytes_read,
            "bytes_written": bin.bytes_written,
        })
    });
    json!(rows.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::analysis::Bin;

    #[test]
    fn numbers_beyond_those_counted_are_told_together() {
        let bin = |reads| Bin { reads, ..Bin::default() };
        let told = |others| {
            tally(&Tallied { counts: vec![(7, bin(2))], others }, |number| (number == 7).then_some("java"))
        };
        let rows = told(bin(3));
        assert_eq!((&rows[0]["number"], &rows[0]["reads"]), (&json!(7), &json!(2)));
        assert_eq!((&rows[1]["number"], &rows[1]["reads"]), (&Value::Null, &json!(3)));
        assert_eq!((&rows[0]["name"], &rows[1]["name"]), (&json!("java"), &Value::Null));
        assert_eq!(told(bin(0)).as_array().map(Vec::len), Some(1));
    }
}
