//! Tables and plots: what people read.

use crate::common;

use common::{PARTS, closed, fresh_path, generator, run, small_drive};
use lab::report::Comparison;
use lab::{RunResult, RunSpec, report};

const MIX: &str = "read_percent = 60\nsize_bytes = [[4096, 3], [16384, 1]]";

fn result(name: &str, policy: &str, settings: &str) -> RunResult {
    let mut config = small_drive();
    config.gc_victim = ssd::ftl::gc_victim::Config::named(policy).unwrap();
    run(&config, &generator(10_000, settings), &RunSpec { name: name.to_owned(), ..closed(16) })
}

fn results() -> Vec<RunResult> {
    vec![
        result("greedy", "greedy", MIX),
        result("first in, first out", "fifo", MIX),
        result("<&\">", "random", MIX),
    ]
}

fn names(files: &[std::path::PathBuf]) -> Vec<&str> {
    files.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect()
}

/// The line that begins so, split at runs of two or more spaces.
fn row<'a>(table: &'a str, start: &str) -> Vec<&'a str> {
    let line = table.lines().find(|line| line.trim_start().starts_with(start));
    let line = line.unwrap_or_else(|| panic!("no line begins with {start}:\n{table}"));
    line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect()
}

#[test]
fn the_table_shows_what_was_asked_for() {
    let result = &results()[0];
    let table = report::table(result);
    let (short, rest) = table.split_once('\n').unwrap();
    assert!(short.starts_with("in short: ") && short.contains("bounded by its dies"), "{short}");
    assert!(rest.starts_with("greedy: complete\n") && table.ends_with('\n'), "{table}");
    assert!(table.is_ascii() && !table.contains('\x1b'), "plain text: {table}");
    let head = row(&table, "latency");
    assert_eq!(head[1..], ["IOPS", "bandwidth", "mean", "min", "p50", "p99", "p99.9", "p99.99", "max"]);
    for kind in ["all", "read", "write"] {
        assert_eq!(row(&table, kind).len(), head.len(), "{table}");
    }
    assert!(row(&table, "write amplification")[1].contains("GC"), "{table}");
    // Only who moved anything has a column.
    assert_eq!(row(&table, "flash operations"), ["flash operations", "total", "host", "GC"]);
    assert_eq!(
        row(&table, "page programs")[2],
        lab_count(result.flash.programs[ssd::flash::op::Cause::Host])
    );
    let (_, times) = table.split_once("where the time went").unwrap();
    let spent = &result.breakdown_ns;
    for (part, label) in ssd::Part::ALL.into_iter().zip(PARTS) {
        if spent.read[part].sum + spent.write[part].sum == 0 {
            assert!(!times.contains(label), "{label}: {times}");
        } else {
            assert!(row(times, label)[1].ends_with('s'), "{table}");
        }
    }
    for word in ["erase counts", "dies busy", "channels busy", &result.event_hash, &result.config_hash] {
        assert!(table.contains(word), "{word}: {table}");
    }
    let width = rest.lines().map(str::len).max().unwrap();
    assert!(width <= 125, "{width} columns");
}

/// Thousands apart.
fn lab_count(number: u64) -> String {
    if number < 1000 { number.to_string() } else { format!("{},{:03}", number / 1000, number % 1000) }
}

#[test]
fn a_table_without_writes_or_time_has_no_numbers_there() {
    let reads = result("reads", "greedy", "read_percent = 100");
    let table = report::table(&reads);
    assert_eq!(row(&table, "write amplification"), ["write amplification", "-"]);
    assert!(!table.contains("NaN") && !table.contains("inf"), "{table}");
    let spec = RunSpec { executor: ssd::Executor::Functional, ..closed(16) };
    let timeless = run(&small_drive(), &generator(1_000, MIX), &spec);
    let table = report::table(&timeless);
    assert!(!table.contains("NaN") && !table.contains("inf"), "{table}");
    // Where no time passes there is no latency, and no time in which a die could be busy.
    for word in ["0 ns", "latency", "where the time went", "dies busy", "in flight on average"] {
        assert!(!table.contains(word), "{word}: {table}");
    }
    assert!(table.contains("this run only counts") && table.contains("write amplification"), "{table}");
}

#[test]
fn a_comparison_of_runs_without_time_has_no_latencies() {
    let spec = RunSpec { executor: ssd::Executor::Functional, name: "counted".to_owned(), ..closed(16) };
    let timeless = run(&small_drive(), &generator(10_000, MIX), &spec);
    let timed = result("timed", "greedy", MIX);
    let table = report::compare(&[timeless.clone(), timeless.clone()]);
    for word in ["0 ns", "latency", "Latencies", "simulated time"] {
        assert!(!table.contains(word), "{word}: {table}");
    }
    let table = report::compare(&[timed.clone(), timeless.clone()]);
    assert!(!table.contains("0 ns"), "{table}");
    assert_eq!(row(&table, "read latency mean")[2..], ["-"]);
    // No plots of time, or none of what took none.
    let folder = fresh_path("timeless");
    let files = report::write(&folder, &timeless, "").unwrap();
    let victims = ["victims.svg", "victims.pdf", "victims.txt", "victims.csv", "report.html"];
    assert_eq!(names(&files), [&["result.json", "config.toml"][..], &victims].concat());
    report::write_comparison(&folder, &Comparison::of(&[timed, timeless])).unwrap();
    for name in ["latency", "breakdown"] {
        for ending in ["svg", "csv"] {
            let text = std::fs::read_to_string(folder.join(format!("{name}.{ending}"))).unwrap();
            assert!(text.contains("timed") && !text.contains("counted"), "{text}");
        }
    }
}

#[test]
fn a_comparison_has_ratios_to_the_first() {
    let results = results();
    let table = report::compare(&results);
    assert_eq!(row(&table, "greedy"), ["greedy", "first in, first out", "<&\">"]);
    let amplification = row(&table, "write amplification");
    let [first, second] = [0, 1].map(|at| results[at].write_amplification.unwrap());
    let ratio: f64 = amplification[3].strip_prefix('x').unwrap().parse().unwrap();
    assert!((ratio / (second / first) - 1.0).abs() < 1e-3, "{amplification:?}");
    let remark = format!("greedy: {}.\n", results[0].remarks[0]);
    assert!(remark.contains("too little to judge write amplification") && table.contains(&remark), "{table}");
    assert_eq!(report::compare(&[]), "");
    // With some thousand writes one lies beyond the 99.9th percentile, but none beyond the 99.99th.
    let alone = report::compare(&results[..1]);
    assert!(alone.contains("write latency p99.9 ") && !alone.contains("write latency p99.99"), "{alone}");
    assert!(alone.contains("omitted"), "{alone}");
    let other = result("other", "greedy", "read_percent = 10");
    assert!(report::compare(&[results[0].clone(), other]).contains("The workloads are not the same."));
}

/// A number is one run's: of few runs each says its own, of many it is said whose it is.
#[test]
fn remarks_on_several_runs_are_not_told_with_the_numbers_of_one() {
    let saying = |name: String, mib: u32| {
        let mut result = results().swap_remove(0);
        result.name = name;
        result.remarks =
            vec![format!("this run writes {mib} MiB, less than its spare"), "it is small".into()];
        result
    };
    let all: Vec<RunResult> = (1..=6).map(|mib| saying(format!("r{mib}"), mib)).collect();
    let few = report::compare(&all[..3]);
    for mib in 1..=3 {
        assert!(few.contains(&format!("\nr{mib}: this run writes {mib} MiB, less than its spare.")), "{few}");
    }
    assert!(few.contains("\nall, such as r1: it is small."), "{few}");
    let many = report::compare(&all);
    assert_eq!(many.matches("this run writes").count(), 1, "{many}");
    assert!(many.contains("\nall, with the numbers of r1: this run writes 1 MiB"), "{many}");
}

/// A result with errors in it.
fn with_errors(name: &str, histogram: &[u64]) -> RunResult {
    let mut aged = result(name, "greedy", MIX);
    aged.error_model = "cells".to_owned();
    let reads: u64 = histogram.iter().sum();
    let failed: u64 = (0..).zip(histogram).map(|(attempts, count)| attempts * count).sum();
    aged.flash.retries = lab::Retries {
        histogram: histogram.to_vec(),
        mean: Some(failed as f64 / reads as f64),
        share: Some((reads - histogram[0]) as f64 / reads as f64),
        max: Some(histogram.len() as u32 - 1),
        beyond_bound: 0,
        bound_broken: 0,
    };
    aged.flash.uncorrectable[ssd::flash::op::Cause::Cleaning] = 3;
    (aged.ftl.lost_units, aged.requests_uncorrectable) = (12, 5);
    aged.breakdown_ns.read[ssd::Part::Decode] =
        lab::Spent { sum: 2_000_000, mean: Some(20_000.0), ..lab::Spent::default() };
    aged
}

#[test]
fn errors_are_told_where_there_are_any_and_only_there() {
    let plain = report::table(&results()[0]);
    for word in ["retries", "uncorrectable", "data loss", "ECC decoding", "lost"] {
        assert!(!plain.contains(word), "{word}: {plain}");
    }
    let aged = with_errors("aged", &[600, 0, 300, 100]);
    let table = report::table(&aged);
    let line = row(&table, "retries").join(" ");
    assert_eq!(
        line,
        "retries 0.9 per page read on average, 3 at most; 40.0 % of page reads took at least one"
    );
    assert_eq!(row(&table, "uncorrectable"), ["uncorrectable", "3", "0", "3"]);
    let line = row(&table, "data loss").join(" ");
    assert_eq!(line, "data loss 5 requests ended uncorrectable, 12 units lost");
    assert_eq!(row(&table, "ECC decoding")[1], "20 us");
    // A drive without aging cells can still have lost something before.
    let mut lost = results()[0].clone();
    lost.requests_uncorrectable = 1;
    assert!(report::table(&lost).contains("1 request ended uncorrectable"));
}

#[test]
fn retries_are_compared_and_drawn() {
    let (fresh, aged) = (with_errors("fresh", &[900, 100]), with_errors("<old>", &[0, 500, 500]));
    let text = report::compare(&[fresh.clone(), aged.clone()]);
    assert_eq!(row(&text, "retries a page read"), ["retries a page read", "0.1", "1.5", "x15"]);
    assert_eq!(row(&text, "page reads retried"), ["page reads retried", "10.0 %", "100.0 %", "x10"]);
    assert_eq!(row(&text, "units lost"), ["units lost", "12", "12", "x1"]);
    assert!(!report::compare(&results()).contains("retr"));
    let folder = fresh_path("retries");
    let files =
        report::write_comparison(&folder, &Comparison::of(&[results().remove(0), fresh.clone(), aged]))
            .unwrap();
    assert_eq!(files.len(), 1 + 5 * 4);
    let csv = std::fs::read_to_string(folder.join("retries.csv")).unwrap();
    let rows = ["run,failed_attempts,page_reads,share", "fresh,0,900,0.9", "fresh,1,100,0.1", "<old>,0,0,0"];
    assert!(csv.starts_with(&rows.join("\n")) && csv.lines().count() == 1 + 2 + 3, "{csv}");
    let svg = std::fs::read_to_string(folder.join("retries.svg")).unwrap();
    // Paper, two bars for each result that has retries, and its mark in the legend.
    assert_eq!(count_tags(&svg, "rect"), 1 + 2 * 2 + 2);
    assert!(svg.contains("&lt;old&gt;, 2 failed: 50.0 %") && svg.contains("fresh: mean 0.1"), "{svg}");
    let files = report::write(&fresh_path("retries-of-one"), &fresh, "").unwrap();
    assert!(files.iter().any(|path| path.ends_with("retries.svg")));
}

/// Checks that tags are closed in the order they were opened; returns how many there are of a kind.
fn count_tags(svg: &str, wanted: &str) -> usize {
    let mut open = Vec::new();
    let mut count = 0;
    for tag in svg.split('<').skip(1) {
        let (tag, text) = tag.split_once('>').expect("every tag ends");
        assert!(!text.contains('>') && !text.contains("NaN") && !tag.contains("NaN"), "{tag} {text}");
        let name = tag.split([' ', '/']).find(|word| !word.is_empty()).unwrap();
        count += usize::from(name == wanted && !tag.starts_with('/'));
        match (tag.starts_with('/'), tag.ends_with('/')) {
            (true, _) => assert_eq!(open.pop(), Some(name), "{tag}"),
            (false, false) => open.push(name),
            (false, true) => {}
        }
    }
    assert!(open.is_empty(), "{open:?}");
    count
}

#[test]
fn plots_are_whole_and_need_nothing_else() {
    let results = results();
    let folder = fresh_path("comparison");
    let files = report::write_comparison(&folder, &Comparison::of(&results)).unwrap();
    let plots = ["latency", "breakdown", "victims", "write_amplification"];
    let of_plot = |name: &str| ["svg", "pdf", "txt", "csv"].map(|ending| format!("{name}.{ending}"));
    let all: Vec<String> =
        ["comparison.txt".to_owned()].into_iter().chain(plots.into_iter().flat_map(of_plot)).collect();
    assert_eq!(names(&files), all);
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    // Three results with a curve of reads and one of writes, each with its line in the legend.
    assert_eq!(count_tags(&read("latency.svg"), "polyline"), 12);
    assert!(count_tags(&read("breakdown.svg"), "rect") > 12);
    assert!(count_tags(&read("write_amplification.svg"), "rect") >= 6);
    for (name, [across, up]) in plots.into_iter().zip([
        ["Latency (us)", "Percentile of requests (%)"],
        ["Fraction of mean latency (%)", "read, all"],
        ["Valid data in a victim (fraction)", "CDF of GC victims (fraction)"],
        ["Write amplification", "GC"],
    ]) {
        let svg = read(&format!("{name}.svg"));
        assert!(svg.contains("&lt;&amp;&quot;&gt;"), "names are escaped");
        assert_eq!(svg.matches("http").count(), 1, "only the name of the format");
        // What a headline would say is on the axes.
        assert!(!svg.contains("bold"), "{svg}");
        for title in [across, up] {
            assert!(svg.contains(&format!("{title}\"")), "{title} in {svg}");
            let text = read(&format!("{name}.txt"));
            assert!(text.contains(title), "{title} in {text}");
            assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
        }
        let csv = read(&format!("{name}.csv"));
        assert!(csv.contains("\n\"first in, first out\",") && csv.contains("\n\"<&\"\">\","), "{csv}");
        let pdf = std::fs::read(folder.join(format!("{name}.pdf"))).unwrap();
        assert!(pdf.starts_with(b"%PDF-1.") && pdf.trim_ascii_end().ends_with(b"%%EOF"), "{name}");
        assert_prints(&folder.join(format!("{name}.pdf")));
        // Texts are outlines: no font is asked for.
        assert!(
            svg.contains("<use href=\"#g") && !svg.contains("<text") && !svg.contains("font-family"),
            "{name}"
        );
    }
    // The numbers are those of the results.
    let csv = read("write_amplification.csv");
    let host = results[0].write_amplification_by_cause[ssd::flash::op::Cause::Host].unwrap();
    assert!(csv.contains(&format!("\ngreedy,host,{host}\n")), "{csv}");
    let csv = read("latency.csv");
    let (percent, ns) = results[0].latency_ns.read.percentiles[0];
    assert!(csv.contains(&format!("\ngreedy,read,{percent},{ns}\n")), "{csv}");
}

/// What publishers' checks ask of a PDF, by poppler's and qpdf's own programs; where they are missing it is skipped.
fn assert_prints(pdf: &std::path::Path) {
    let output = |program: &str, arguments: &[&str]| {
        let output = std::process::Command::new(program).args(arguments).arg(pdf).output();
        let Ok(output) = output else {
            eprintln!("skipped: no {program} to look at PDFs with (Debian: poppler-utils, qpdf)");
            return None;
        };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && output.stderr.is_empty(), "{program}: {text} {output:?}");
        Some(text)
    };
    if let Some(fonts) = output("pdffonts", &[]) {
        let line = fonts.lines().nth(2).unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().collect();
        // Its name, kind, encoding, and that it is embedded.
        assert_eq!(
            (fonts.lines().count(), words[..4].join(" ")),
            (3, "WordlinePlot TrueType WinAnsi yes".into()),
            "{fonts}"
        );
    }
    if let Some(report) = output("qpdf", &["--check"]) {
        assert!(report.contains("No syntax or stream encoding errors"), "{report}");
    }
}

/// A plot with nothing on it is not written, and one of an earlier run goes away.
#[test]
fn there_are_no_plots_of_nothing() {
    let folder = fresh_path("nothing");
    std::fs::create_dir_all(&folder).unwrap();
    let something = result("something", "greedy", "read_percent = 50");
    report::write_comparison(&folder, &Comparison::of(&[something])).unwrap();
    let stems = ["latency", "breakdown", "write_amplification"];
    assert!(stems.iter().all(|stem| folder.join(format!("{stem}.svg")).is_file()));
    let mut nothing = result("nothing", "greedy", "read_percent = 100");
    nothing.latency_ns.read = lab::Distribution::default();
    let files = report::write_comparison(&folder, &Comparison::of(&[nothing])).unwrap();
    assert_eq!(names(&files), ["comparison.txt"]);
    let left = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut left: Vec<_> = left.collect();
    left.sort();
    assert_eq!(left, [".wordline.files", "comparison.txt"]);
}

/// Blocks of the firmware and of the chips have two names where the former are made of several of the latter.
#[test]
fn superblocks_are_called_so() {
    let mut config = small_drive();
    config.geometry.planes_per_die = 2;
    for (superblock, word) in [("none", " blocks; 0 retired"), ("planes", " superblocks; 0 retired")] {
        config.allocation.superblock = ssd::sections::Superblock::from_name(superblock).unwrap();
        let result = run(&config, &generator(20_000, "read_percent = 0"), &closed(16));
        let table = report::table(&result);
        let counts = table.lines().find(|line| line.starts_with("erase counts")).unwrap_or_default();
        assert!(counts.ends_with(word), "{table}");
        let victims = table.lines().find(|line| line.starts_with("GC victims")).unwrap_or_default();
        assert_eq!(victims.contains("superblocks collected"), superblock == "planes", "{table}");
    }
}

/// What has not been is not told, neither of one run nor of several.
#[test]
fn rows_of_zeros_are_left_out() {
    let mut result = results()[0].clone();
    result.write_amplification = Some(0.0);
    (result.erase_count.max, result.erase_count.retired) = (0, 0);
    let buffer = &mut result.buffer;
    (buffer.hits, buffer.misses, buffer.unmapped_reads, buffer.overwrites, buffer.stalls) = (0, 0, 0, 0, 0);
    let table = report::table(&result);
    for word in ["erase counts", "\nbuffer ", "write amplification 0", "host 0"] {
        assert!(!table.contains(word), "{word}: {table}");
    }
    assert!(table.contains("nothing was programmed"), "{table}");
}
