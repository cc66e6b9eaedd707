//! Plots of what a workload is like: its miss-ratio curve, its pace, its skew, its rewrites.

use super::Plot;
use super::axis::Times;
use super::lines::{Across, Line, Lines};
use crate::base::number::bytes;
use workload::PAGE_BYTES;
use workload::analysis::{Analysis, Bin, MissRatio, Popularity};

/// Points of the miss-ratio curve for each power of two of the cache's size.
const STEPS: u32 = 4;
/// Marks of an axis of sizes stand so many powers of two apart.
const SIZE_MARKS: u32 = 4;

/// All plots of a workload, with the stems of their files' names.
pub fn workload(analysis: &Analysis) -> Vec<(&'static str, Plot)> {
    vec![
        ("miss_ratio", miss_ratio(analysis)),
        ("requests_per_s", rate(analysis, "Request rate (1/s)", [|bin| bin.reads, |bin| bin.writes], 1.0)),
        (
            "mb_per_s",
            rate(analysis, "Throughput (MB/s)", [|bin| bin.bytes_read, |bin| bin.bytes_written], 1e6),
        ),
        ("popularity", popularity(analysis)),
        ("rewrites", rewrites(analysis)),
        ("updates", updates(analysis)),
    ]
}

/// Contexts that have a line of their own.
const CONTEXTS: usize = 8;

/// Which program contexts update, over time in updates: who does most, and who comes together (redFTL figure 27).
fn updates(analysis: &Analysis) -> Plot {
    let updates = &analysis.updates;
    let line = |(context, pages): &(u32, f64)| {
        let (_, bins) = updates.contexts.iter().find(|(number, _)| number == context)?;
        let (mut sum, mut points) = (0.0, vec![(0.0, 0.0)]);
        for (number, bin) in bins.iter().enumerate() {
            sum += bin;
            let now = ((number + 1) as f64 * updates.bin_pages).min(updates.pages);
            points.push((now, 100.0 * sum / updates.pages));
        }
        points.push((updates.pages, 100.0 * sum / updates.pages));
        let name = if *context == 0 { "others".to_owned() } else { format!("context {context:08x}") };
        Some(Line::new(format!("{name}: {:.1} %", 100.0 * pages / updates.pages), points))
    };
    let lines: Vec<Line> = updates.by_pages().iter().take(CONTEXTS).filter_map(line).collect();
    Lines { up: "Share of all page rewrites (%)", across: "Page rewrites", lines: &lines }.plot()
}

fn miss_ratio(analysis: &Analysis) -> Plot {
    let [all, ..] = &analysis.miss_ratio;
    // One more, that misses no less: where the curve ends is seen.
    let last = all.largest().max(2).next_power_of_two().ilog2() + 1;
    let line = |(name, curve): (&str, &MissRatio)| {
        let points = all
            .cache_pages(STEPS)
            .chain([1 << last])
            .filter_map(|pages| Some(((pages * PAGE_BYTES) as f64, 100.0 * curve.at(pages)?)));
        Line::new(name, points.collect())
    };
    let lines: Vec<Line> =
        ["all accesses", "reads", "writes"].into_iter().zip(&analysis.miss_ratio).map(line).collect();
    let (low, high) = (PAGE_BYTES.ilog2(), PAGE_BYTES.ilog2() + last);
    let marks = (low..=high.next_multiple_of(SIZE_MARKS)).step_by(SIZE_MARKS as usize);
    let marks = marks.map(|power| {
        let size = f64::from(power).exp2();
        (size, bytes(size).trim_end_matches('B').to_owned())
    });
    let marks = Across::Log(marks.collect());
    Lines { up: "Miss ratio (%)", across: "LRU cache size (bytes)", lines: &lines }.plot_over(&marks)
}

fn rate(analysis: &Analysis, up: &'static str, of: [fn(&Bin) -> u64; 2], unit: f64) -> Plot {
    let rates = &analysis.rates;
    let width_s = rates.bin_ns as f64 / 1e9;
    // Each bin is a step, from its begin to its end.
    let steps = |of: fn(&Bin) -> u64| {
        let each = rates.bins.iter().enumerate().flat_map(|(number, bin)| {
            let height = of(bin) as f64 / width_s / unit;
            [number, number + 1].map(|at| (at as f64 * width_s, height))
        });
        each.collect::<Vec<_>>()
    };
    let lines: Vec<Line> = ["reads", "writes"]
        .into_iter()
        .zip(of)
        .map(|(name, of)| Line::new(name, steps(of)))
        .filter(|line| line.points.iter().any(|(_, height)| *height > 0.0))
        .collect();
    Lines { up, across: "Time (s)", lines: &lines }.plot()
}

fn popularity(analysis: &Analysis) -> Plot {
    let line = |(name, popularity): (&str, &Popularity)| Line::new(name, popularity.curve());
    let found = &analysis.popularity;
    let lines: Vec<Line> =
        [("reads", &found.reads), ("writes", &found.writes)].into_iter().map(line).collect();
    let lines = Lines { up: "Accesses (%)", across: "Most accessed pages (%)", lines: &lines };
    lines.plot()
}

fn rewrites(analysis: &Analysis) -> Plot {
    let rewrites = &analysis.rewrites;
    let found: Vec<(f64, f64)> =
        rewrites.intervals_ns().map(|(ns, count)| (ns.max(1) as f64, count)).collect();
    let end = |at: Option<&(f64, f64)>| at.map_or(1.0, |(ns, _)| *ns);
    let times = Times::new(end(found.first()), end(found.last()));
    let all: f64 = found.iter().map(|(_, count)| count).sum();
    let mut sum = 0.0;
    let points = found.iter().map(|(ns, count)| {
        sum += count;
        (times.in_unit(*ns), 100.0 * sum / all)
    });
    let lines = [Line::new("page writes to a page written before", points.collect())];
    let (marks, unit) = times.marks();
    let across = format!("Time since the write before ({unit})");
    let lines = Lines { up: "CDF of page rewrites (%)", across: &across, lines: &lines };
    lines.plot_over(&Across::Log(marks))
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::analysis::{Analyzer, Options};
    use workload::{Record, Request};

    #[test]
    fn plots_show_what_was_found() {
        let mut analyzer = Analyzer::new(Options::default());
        for number in 0..1_000u64 {
            let op = if number % 2 == 0 { ssd::OpCode::Read } else { ssd::OpCode::Write };
            let request = Request {
                arrival_ns: number * 1_000_000,
                op,
                lba: number % 10 * 8,
                sectors: 8,
                hints: ssd::signals::Hints { context: 1 + (number % 3) as u32, ..Default::default() },
                ..Request::default()
            };
            analyzer.add(&Record { request, device: 0 });
        }
        let plots = workload(&analyzer.finish());
        let csv = |stem: &str| plots.iter().find(|(name, _)| *name == stem).unwrap().1.csv().to_owned();
        // Ten pages in turn: a cache of eight hits nothing, one of sixteen (2^16 bytes) all but the first accesses.
        assert!(csv("miss_ratio").contains("all accesses,32768,100\n"), "{}", csv("miss_ratio"));
        let of_sixteen =
            csv("miss_ratio").lines().find_map(|line| line.strip_prefix("all accesses,65536,")?.parse().ok());
        assert!(of_sixteen.is_some_and(|misses: f64| (misses - 1.0).abs() < 1e-9), "{of_sixteen:?}");
        assert!(
            csv("popularity").starts_with("curve,x,y\nreads,0,0\nreads,100,100\n"),
            "{}",
            csv("popularity")
        );
        // Each page written is written again after 10 ms: a number, which needs no plot.
        let rewrites = csv("rewrites");
        assert!(rewrites.starts_with("curve,x,y\n") && rewrites.lines().count() == 2, "{rewrites}");
        let x = rewrites.trim_end().strip_suffix(",100").and_then(|row| row.rsplit(',').next()?.parse().ok());
        assert!(x.is_some_and(|ms: f64| (ms / 10.0 - 1.0).abs() < 0.05), "{rewrites}");
        // The last of 495 pages written again, five written before: a third of them by each of three contexts.
        let of = |context: u32| format!("context {context:08x}: 33.3 %,495,");
        assert!((1..=3).all(|context| csv("updates").contains(&of(context))), "{}", csv("updates"));
        assert!(csv("requests_per_s").lines().count() > 500);
        for (name, plot) in &plots {
            assert!(plot.svg().starts_with("<svg") && plot.is_empty() == (*name == "rewrites"), "{name}");
        }
        let empty = workload(&Analyzer::new(Options::default()).finish());
        for (name, plot) in &empty {
            assert!(plot.is_empty() && plot.files(name).is_empty(), "{name}: {}", plot.csv());
        }
    }
}
