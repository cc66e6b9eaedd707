//! Plots: their size, that nothing on them touches, how axes are called, and that all formats tell the same.

mod kinds;

use crate::common::{closed, fresh_path, generator, run, small_drive};
use crate::reproduce::{CLAIMS, EXPERIMENT, paper};
use lab::report::{self, Comparison};
use lab::reproduce::{Options, Paper};
use lab::{Plot, RunResult, RunSpec, characterize::curves};
use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;
use ttf_parser::Face;
use workload::analysis::{Analyzer, Options as Analysis};

type Point = (f64, f64);

/// The font that texts are measured by, and how far its letters reach above and below their line.
static FONT: &[u8] = include_bytes!("../../vendor/plot-font/WordlinePlot.ttf");
const ABOVE: f64 = 0.73;
const BELOW: f64 = 0.21;
/// Where texts stand beside what they belong to: the middle of their height over their line.
const MIDDLE: f64 = 0.36;
/// A paper's column, and what its smallest text may be.
const COLUMN_POINTS: f64 = 3.3 * 72.0;
const LEAST_POINTS: f64 = 7.0;

/// A text: the corners of the box around it, and the middle of its line.
struct Label {
    said: String,
    corners: [Point; 4],
    middle: Point,
    is_turned: bool,
    size: f64,
}

/// What is drawn, read back.
struct Svg {
    size: Point,
    labels: Vec<Label>,
    axes: Vec<[Point; 2]>,
    grid: Vec<[Point; 2]>,
    curves: Vec<Vec<Point>>,
    /// Left, top, width and height; without the paper.
    boxes: Vec<[f64; 4]>,
}

fn attribute<'a>(tag: &'a str, name: &str) -> &'a str {
    let from = tag.split_once(&format!(" {name}=\"")).unwrap_or_else(|| panic!("{name} in {tag}")).1;
    from.split_once('"').unwrap().0
}

fn number(tag: &str, name: &str) -> f64 {
    attribute(tag, name).parse().unwrap_or_else(|_| panic!("{name} of {tag}"))
}

fn label(tag: &str) -> Label {
    let unescaped = [("&quot;", "\""), ("&gt;", ">"), ("&lt;", "<"), ("&amp;", "&")];
    let said = unescaped
        .iter()
        .fold(attribute(tag, "aria-label").to_owned(), |text, (from, to)| text.replace(from, to));
    let transform = attribute(tag, "transform");
    let numbers = transform.split(|c: char| !matches!(c, '0'..='9' | '.' | '-'));
    let numbers: Vec<f64> = numbers.filter_map(|number| number.parse().ok()).collect();
    let is_turned = transform.contains("rotate");
    let turn = if is_turned { numbers[2] } else { 0.0 };
    let [before, scale] = [numbers.len() - 3, numbers.len() - 2].map(|at| numbers[at]);
    let face = Face::parse(FONT, 0).unwrap();
    let glyph = |c: char| face.glyph_index(c).or(face.glyph_index('?')).unwrap();
    let units: f64 = said.chars().map(|c| f64::from(face.glyph_hor_advance(glyph(c)).unwrap())).sum();
    let (width, size) = (units * scale, scale * f64::from(face.units_per_em()));
    let (sin, cos) = turn.to_radians().sin_cos();
    let at = |x: f64, y: f64| (numbers[0] + x * cos - y * sin, numbers[1] + x * sin + y * cos);
    let (end, above, below) = (before + width, -ABOVE * size, BELOW * size);
    let corners = [at(before, above), at(end, above), at(end, below), at(before, below)];
    Label { said, corners, middle: at(before + width / 2.0, 0.0), is_turned, size }
}

impl Svg {
    fn read(text: &str) -> Svg {
        let tags = |name: &'static str| text.lines().filter(move |line| line.starts_with(name));
        let lines = |colour: &str| {
            let own = tags("<line").filter(|tag| attribute(tag, "stroke") == colour);
            let ends = |tag| [["x1", "y1"], ["x2", "y2"]].map(|[x, y]| (number(tag, x), number(tag, y)));
            own.map(ends).collect()
        };
        let points = |tag: &str| -> Vec<Point> {
            let pairs = attribute(tag, "points").split(' ').map(|pair| pair.split_once(',').unwrap());
            pairs.map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap())).collect()
        };
        let svg = text.lines().next().unwrap();
        Svg {
            size: (number(svg, "width"), number(svg, "height")),
            labels: tags("<g").map(label).collect(),
            axes: lines("#555555"),
            grid: lines("#dddddd"),
            curves: tags("<polyline").map(points).collect(),
            boxes: tags("<rect x")
                .map(|tag| ["x", "y", "width", "height"].map(|name| number(tag, name)))
                .collect(),
        }
    }

    fn has(&self, said: &str) -> bool {
        self.labels.iter().any(|label| label.said == said)
    }

    /// The height of the horizontal axis: legends are below.
    fn bottom(&self) -> f64 {
        self.axes.iter().map(|[from, _]| from.1).fold(0.0, f64::max)
    }

    /// The curves of the frame.
    fn drawn(&self) -> impl Iterator<Item = &Vec<Point>> {
        self.curves.iter().filter(|points| points[0].1 <= self.bottom())
    }

    /// The bars of the frame.
    fn bars(&self) -> impl Iterator<Item = &[f64; 4]> {
        self.boxes.iter().filter(|[_, y, ..]| *y <= self.bottom())
    }

    /// Places of marks with what they say: of the horizontal axis, or of the vertical one.
    fn marks(&self, is_upward: bool) -> Vec<(f64, f64)> {
        let grid = self.grid.iter().filter(|[from, to]| (from.1 == to.1) == is_upward);
        let mark = |[from, _]: &[Point; 2]| {
            let is_its = |label: &&Label| {
                let (x, y) = label.middle;
                if is_upward {
                    x < from.0 && (y - MIDDLE * label.size - from.1).abs() < 1.0
                } else {
                    y > from.1 && y < from.1 + 30.0 && (x - from.0).abs() < 1.0
                }
            };
            let label = self.labels.iter().find(is_its)?;
            Some((if is_upward { from.1 } else { from.0 }, label.said.parse().unwrap()))
        };
        grid.filter_map(mark).collect()
    }

    /// The value at a place of an axis whose marks are even after `even`, before `back`.
    fn value(&self, is_upward: bool, even: fn(f64) -> f64, back: fn(f64) -> f64) -> impl Fn(f64) -> f64 {
        let mut marks = self.marks(is_upward);
        marks.sort_by(|a, b| a.1.total_cmp(&b.1));
        let ((from, low), (to, high)) = (marks[0], marks[marks.len() - 1]);
        let (low, high) = (even(low), even(high));
        move |place| back(low + (place - from) / (to - from) * (high - low))
    }
}

/// Whether two boxes have more than their edges in common (the separating axis theorem).
fn overlap(one: &[Point], two: &[Point]) -> bool {
    const NEAR: f64 = 0.2;
    let sides = |of: &[Point]| -> Vec<Point> {
        (0..of.len())
            .map(|at| (of[at], of[(at + 1) % of.len()]))
            .map(|(a, b)| (a.1 - b.1, b.0 - a.0))
            .collect()
    };
    let is_between = |(x, y): Point| {
        let length = x.hypot(y);
        let shadow = |of: &[Point]| {
            let along = of.iter().map(|point| (point.0 * x + point.1 * y) / length);
            along.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), at| (low.min(at), high.max(at)))
        };
        let (one, two) = (shadow(one), shadow(two));
        length > 0.0 && (one.1 <= two.0 + NEAR || two.1 <= one.0 + NEAR)
    };
    !sides(one).into_iter().chain(sides(two)).any(is_between)
}

/// All texts lie within the picture, apart from each other and from the axes.
fn assert_apart(name: &str, svg: &Svg) {
    let (width, height) = svg.size;
    for (number, label) in svg.labels.iter().enumerate() {
        let said = &label.said;
        let is_within = |(x, y): &Point| (0.0..=width).contains(x) && (0.0..=height).contains(y);
        assert!(label.corners.iter().all(is_within), "{name}: {said} is cut: {:?}", label.corners);
        for other in &svg.labels[..number] {
            assert!(!overlap(&label.corners, &other.corners), "{name}: {said} lies on {}", other.said);
        }
        for axis in &svg.axes {
            assert!(!overlap(&label.corners, axis), "{name}: {said} lies on an axis");
        }
    }
}

fn base() -> RunResult {
    let load = generator(10_000, "read_percent = 60\nsize_bytes = [[4096, 3], [16384, 1]]");
    run(&small_drive(), &load, &RunSpec { samples: 100, ..closed(16) })
}

fn named(base: &RunResult, names: &[String]) -> Vec<RunResult> {
    names.iter().map(|name| RunResult { name: name.clone(), ..base.clone() }).collect()
}

/// What `report::write_comparison` writes, by name.
fn written(folder: &str, results: &[RunResult]) -> BTreeMap<String, Vec<u8>> {
    let files = report::write_comparison(&fresh_path(folder), &Comparison::of(results)).unwrap();
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    files.iter().map(|path| (name(path), std::fs::read(path).unwrap())).collect()
}

fn text(files: &BTreeMap<String, Vec<u8>>, name: &str) -> String {
    String::from_utf8(files[name].clone()).unwrap()
}

/// The plots of the laboratory and of a workload.
fn others() -> Vec<(String, Plot)> {
    let plan = curves::Plan { part: "tlc_48l", seed: 3, chips: 2, blocks: 4, cells: 1_000 };
    let sheets = curves::measure(&plan).unwrap();
    let own = |(stem, plot): (&str, Plot)| (stem.to_owned(), plot);
    let mut plots: Vec<(String, Plot)> = sheets.iter().flat_map(|sheet| sheet.plots().map(own)).collect();
    let mut analyzer = Analyzer::new(Analysis::default());
    for number in 0..1_000u64 {
        let request = workload::Request {
            arrival_ns: number * number * 1_000,
            op: if number % 2 == 0 { ssd::OpCode::Read } else { ssd::OpCode::Write },
            lba: number * 7 % 90 * 8,
            sectors: 8,
            hints: ssd::signals::Hints { context: 1 + (number % 30) as u32, ..Default::default() },
            ..workload::Request::default()
        };
        analyzer.add(&workload::Record { request, device: 0 });
    }
    plots.extend(report::workload_plots(&analyzer.finish()).into_iter().map(own));
    plots
}

/// Plots of a paper whose workloads and techniques have these names.
fn of_paper(folder: &str, workloads: &[String], technique: &str) -> Vec<(String, Plot)> {
    let (before, after) = EXPERIMENT.split_once("[[workload]]").unwrap();
    let after = after.split_once("[[study]]").unwrap().1;
    let mut experiment =
        before.replace("name = \"late\"", &format!("name = \"late\"\nlabel = \"{technique}\""));
    for (number, name) in workloads.iter().enumerate() {
        experiment += &format!(
            "[[workload]]\nname = \"w{number}\"\nlabel = \"{name}\"\nacross = {number}\n[workload.spec]\n\
             pattern = \"uniform\"\nread_percent = 100.0\nsize_bytes = 16384\ncount = 1000\n"
        );
    }
    experiment += &format!("[[study]]{after}");
    experiment = experiment.replace("against = \"early\"\n", "");
    for (name, more) in [
        ("over", "kind = \"bars\"\nmetrics = [\"pages_copied\"]\nagainst = \"early\""),
        ("shares", "kind = \"shares\"\nmetrics = [\"lsb_reads\", \"csb_reads\", \"msb_reads\"]"),
        ("lines", "kind = \"lines\"\nmetrics = [\"pages_copied\"]\nacross = \"Load (reads/s)\""),
        ("nothing", "kind = \"bars\"\nmetrics = [\"lost_units\"]"),
    ] {
        experiment += &format!("[[figure]]\nname = \"{name}\"\ntitle = \"t\"\nstudy = \"copies\"\n{more}\n");
    }
    let paper = Paper::load(&paper(folder, &experiment, CLAIMS)).unwrap_or_else(|error| panic!("{error}"));
    let out = paper.folder.parent().unwrap().join("out");
    let options = Options { quick: false, seed: 1, jobs: 2, resume: false, out, traces: Vec::new() };
    paper.run(&options, &|_| {}).unwrap().plots(&paper.experiment)
}

/// 560 pixels, which are 420 points; texts of 7 points in a column of 3.3 inches.
#[test]
fn pictures_and_texts_have_the_size_that_papers_need() {
    let files = written("size", &named(&base(), &["one".into(), "two".into()]));
    let svg = Svg::read(&text(&files, "latency.svg"));
    assert_eq!(svg.size.0, 560.0);
    let points = svg.size.0 * 0.75;
    assert_eq!(points, 420.0);
    let least =
        svg.labels.iter().map(|label| label.size * 0.75 * COLUMN_POINTS / points).fold(99.0, f64::min);
    assert!((LEAST_POINTS..LEAST_POINTS + 0.5).contains(&least), "{least}");
    if let Some(pdf) = files.get("latency.pdf") {
        assert!(String::from_utf8_lossy(pdf).contains("/MediaBox [0 0 420 "));
        assert!(content(pdf).contains("/WordlinePlot 16.5 Tf"));
    }
}

#[test]
fn nothing_touches_whatever_the_names() {
    let base = base();
    let long = |number: usize| {
        format!("a technique of many words, number {number}, {}on mail", "and more ".repeat(9))
    };
    for (count, name) in [
        (1, (|_| "one".to_owned()) as fn(usize) -> String),
        (4, |number| format!("WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW{number}")),
        (11, |number| "name ".repeat(number)),
        (30, |number| format!("run {number}")),
    ] {
        let names: Vec<String> = (0..count).map(name).collect();
        for names in [&names, &(0..count).map(long).collect::<Vec<_>>()] {
            let files = written("touch", &named(&base, names));
            for (name, bytes) in files.iter().filter(|(name, _)| name.ends_with(".svg")) {
                let svg = Svg::read(std::str::from_utf8(bytes).unwrap());
                assert_apart(&format!("{name} of {count}"), &svg);
                // A name that is cut has both its ends.
                let cut: Vec<&String> =
                    svg.labels.iter().map(|l| &l.said).filter(|l| l.contains("...")).collect();
                let is_long = |label: &&&String| label.starts_with("a tech") && !label.ends_with("...");
                if count > 1 && names[0].starts_with("a technique") {
                    assert!(!cut.is_empty() && cut.iter().filter(is_long).count() == cut.len(), "{cut:?}");
                }
            }
        }
    }
    for (name, plot) in others() {
        assert_apart(&name, &Svg::read(&plot.svg()));
    }
}

#[test]
fn nothing_touches_in_papers_either() {
    for (count, word) in
        [(2, "mail"), (7, "mail server"), (7, "a mail server with a rather long name"), (30, "mail")]
    {
        let names: Vec<String> = (0..count).map(|number| format!("{word} {number}")).collect();
        let plots = of_paper("touch_paper", &names, &"late and lazy ".repeat(9));
        assert_eq!(plots.len(), 2 * 5);
        for (name, plot) in plots {
            assert_eq!(plot.files(&name).is_empty(), name.starts_with("nothing"), "{name}: {}", plot.csv());
            let svg = Svg::read(&plot.svg());
            assert_apart(&format!("{name} of {count}"), &svg);
            let shows_workloads = ["copies", "over", "shares"].iter().any(|stem| name.starts_with(stem));
            let is_one = |label: &&Label| label.said.starts_with("mail") || label.said.starts_with("a mail");
            let shown = svg.labels.iter().filter(is_one).count();
            assert!(!shows_workloads || shown == count || count == 30, "{name}: {shown} of {count}");
        }
    }
}

/// Titles are a quantity with its unit, from a capital on; these have none.
#[test]
fn axes_tell_quantities_with_units() {
    let without =
        ["Write amplification", "Page rewrites", "Wordline", "Page type", "Read retries", "Workload"];
    let files = written("titles", &named(&base(), &["one".into(), "two".into()]));
    let svgs = files.iter().filter(|(name, _)| name.ends_with(".svg"));
    let mut plots: Vec<(String, String)> = svgs.map(|(name, _)| (name.clone(), text(&files, name))).collect();
    let of_paper = of_paper("titles", &["mail".into(), "web".into()], "late").into_iter();
    let made = others().into_iter().chain(of_paper.filter(|(name, _)| !name.starts_with("shares")));
    plots.extend(made.map(|(name, plot)| (name, plot.svg())));
    for (name, text) in &plots {
        let svg = Svg::read(text);
        // What is upright, and the first text below the marks.
        let bottom = svg.bottom();
        let below =
            svg.labels.iter().filter(|label| label.middle.1 > bottom + 25.0).map(|label| label.middle.1);
        let title = below.fold(f64::INFINITY, f64::min);
        let is_title = |label: &&Label| !label.is_turned && (label.middle.1 - title).abs() < 1.0;
        let titles = |of: &dyn Fn(&&Label) -> bool| -> String {
            // A title in two lines is one.
            let own: Vec<&str> = svg.labels.iter().filter(of).map(|label| label.said.as_str()).collect();
            own.join(" ")
        };
        let upright = titles(&|label| label.is_turned);
        for title in [titles(&is_title), upright].iter().filter(|title| !title.is_empty()) {
            let has_unit = title.contains('(') && title.ends_with(')');
            assert!(has_unit || without.contains(&title.as_str()), "{name}: {title}");
            assert!(title.starts_with(|c: char| c.is_uppercase() || c == 'p'), "{name}: {title}");
        }
    }
    assert!(Svg::read(&text(&files, "latency.svg")).has("Latency (us)"));
    let reads = run(
        &small_drive(),
        &generator(1_000, "read_percent = 100"),
        &RunSpec { name: "r".into(), ..closed(4) },
    );
    let svg = Svg::read(&text(&written("of_reads", &[reads]), "latency.svg"));
    assert!(svg.has("Read latency (us)") && svg.has("Percentile of requests (%)"));
}

/// Results whose latencies are so many times as long.
fn slower(base: &RunResult, times: f64) -> RunResult {
    let mut slow = RunResult { name: format!("x{times}"), ..base.clone() };
    for spread in [&mut slow.latency_ns.read, &mut slow.latency_ns.write] {
        spread.p99 = spread.p99.map(|ns| (ns as f64 * times) as u64);
    }
    for spent in [&mut slow.breakdown_ns.read, &mut slow.breakdown_ns.write] {
        for part in ssd::Part::ALL {
            let spent = &mut spent[part];
            for mean in [&mut spent.mean, &mut spent.mean_to_p50, &mut spent.mean_from_p99] {
                *mean = mean.map(|ns| ns * times);
            }
        }
    }
    slow
}

#[test]
fn bars_decades_apart_are_all_seen() {
    let base = base();
    let results: Vec<RunResult> =
        (0..12).map(|number| slower(&base, 10f64.powf(f64::from(number) / 4.0))).collect();
    let files = written("decades", &results);
    let svg = Svg::read(&text(&files, "latency.svg"));
    let marks = svg.marks(false);
    assert!(svg.has("p99 latency (ms)"));
    assert!(marks.len() > 3 && marks.windows(2).all(|pair| pair[1].1 / pair[0].1 > 9.9), "{marks:?}");
    let decade = marks[1].0 - marks[0].0;
    let shortest = svg.bars().map(|[.., width, _]| *width).fold(f64::INFINITY, f64::min);
    assert!((shortest / decade - 1.0).abs() < 0.01, "{shortest}, a decade is {decade}");
    // Each bar ends at what its numbers say.
    let (at, csv) = (svg.value(false, f64::log10, |power| 10f64.powf(power)), text(&files, "latency.csv"));
    let rows: Vec<f64> =
        csv.lines().skip(1).map(|row| row.rsplit(',').next().unwrap().parse().unwrap()).collect();
    assert_eq!((rows.len(), csv.lines().filter(|row| row.contains(",99,")).count()), (24, 24), "{csv}");
    for ([x, _, width, _], ns) in svg.bars().zip(&rows) {
        let ms = ns / 1e6;
        assert!((at(x + width) / ms - 1.0).abs() < 0.01, "{} is no {ms}", at(x + width));
    }
    // Near each other, they begin at 0.
    let near: Vec<RunResult> = (0..12)
        .map(|_| slower(&base, 1.0))
        .map(|mut result| {
            result.latency_ns.write = result.latency_ns.read.clone();
            result
        })
        .collect();
    assert_eq!(Svg::read(&text(&written("near", &near), "latency.svg")).marks(false)[0].1, 0.0);
}

/// Three decades apart, each bar is as long as the others, and says how long that is.
#[test]
fn the_breakdown_is_readable_over_decades() {
    let base = base();
    let files = written("breakdown", &[base.clone(), slower(&base, 1000.0)]);
    let (svg, csv) = (Svg::read(&text(&files, "breakdown.svg")), text(&files, "breakdown.csv"));
    let mut lengths: BTreeMap<String, f64> = BTreeMap::new();
    for [_, y, width, _] in svg.bars() {
        *lengths.entry(y.to_string()).or_default() += width;
    }
    let longest = lengths.values().copied().fold(0.0, f64::max);
    // Four sides of reads and writes of each.
    assert_eq!(lengths.len(), 16, "{lengths:?}");
    assert!(lengths.values().all(|length| (length / longest - 1.0).abs() < 0.01), "{lengths:?}");
    let is_time =
        |label: &&Label| ["us", "ms", "s"].iter().any(|unit| label.said.ends_with(&format!(" {unit}")));
    assert_eq!(svg.labels.iter().filter(is_time).count(), 16);
    assert!(csv.starts_with("run,requests,of,part,mean_ns,share_percent\n"), "{csv}");
    // The parts are the shares in the numbers.
    let shares = csv.lines().skip(1).map(|row| row.rsplit(',').next().unwrap().parse::<f64>().unwrap());
    let shares: Vec<f64> = shares.filter(|share| *share > 0.0).collect();
    assert_eq!(shares.len(), svg.bars().count());
    for ([.., width, _], share) in svg.bars().zip(shares) {
        assert!((100.0 * width / longest - share).abs() < 0.1, "{width} of {longest} is no {share} %");
    }
}

/// The page of a PDF, as it is drawn.
fn content(pdf: &[u8]) -> String {
    let is_start = |at: &usize| pdf[*at..].starts_with(b"stream\n") && !pdf[..*at].ends_with(b"end");
    let from = (0..pdf.len()).rev().find(is_start).expect("a page") + 7;
    let mut text = String::new();
    flate2::read::ZlibDecoder::new(&pdf[from..]).read_to_string(&mut text).unwrap();
    text
}

/// Whatever a picture says or draws, all of its files do.
fn assert_alike(name: &str, svg: &Svg, txt: &str, pdf: Option<&Vec<u8>>) {
    let lines: Vec<Vec<char>> = txt.lines().map(|line| line.chars().collect()).collect();
    let columns = lines.iter().map(Vec::len).max().unwrap();
    assert!(columns <= 120, "{name}: {columns}");
    let column = |at: usize| String::from_iter(lines.iter().map(|line| line.get(at).copied().unwrap_or(' ')));
    let hung = (0..columns).map(column).collect::<Vec<_>>().join("\n");
    for label in &svg.labels {
        let is_there = txt.contains(&label.said) || label.is_turned && hung.contains(&label.said);
        assert!(is_there, "{name}: {} in\n{txt}", label.said);
    }
    let Some(pdf) = pdf else { return };
    let page = content(pdf);
    let mut ways: Vec<Vec<Point>> = Vec::new();
    for line in page.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let place = |at: usize| words[at].parse::<f64>().unwrap();
        match words.last() {
            Some(&"m") => ways.push(vec![(place(0), svg.size.1 - place(1))]),
            Some(&"l") => ways.last_mut().unwrap().push((place(0), svg.size.1 - place(1))),
            _ => {}
        }
    }
    let is_near = |a: &Point, b: &Point| (a.0 - b.0).abs() < 0.2 && (a.1 - b.1).abs() < 0.6;
    for curve in &svg.curves {
        let is_it =
            |way: &&Vec<Point>| way.len() == curve.len() && way.iter().zip(curve).all(|(a, b)| is_near(a, b));
        assert!(ways.iter().any(|way| is_it(&way)), "{name}: {curve:?} in {ways:?}");
    }
    assert_eq!(page.matches(" re\n").count(), svg.boxes.len(), "{name}");
    for label in svg.labels.iter().filter(|label| label.said.is_ascii()) {
        let said = label.said.replace('\\', "\\\\");
        assert!(page.contains(&format!("({said}) Tj")), "{name}: {said} in {page}");
    }
}

#[test]
fn all_files_of_a_plot_tell_the_same() {
    let base = base();
    let files = written("alike", &named(&base, &["first of them".into(), "second".into(), "third".into()]));
    for name in files.keys().filter_map(|name| name.strip_suffix(".svg")) {
        let svg = Svg::read(&text(&files, &format!("{name}.svg")));
        assert_alike(name, &svg, &text(&files, &format!("{name}.txt")), files.get(&format!("{name}.pdf")));
    }
    let names: Vec<String> = (0..9).map(|number| format!("mail server {number}")).collect();
    for (name, plot) in others().into_iter().chain(of_paper("alike", &names, "late")) {
        assert_alike(&name, &Svg::read(&plot.svg()), &plot.text(), plot.pdf().as_ref());
    }
    // Curves run through the numbers: percentiles, on their own axis ...
    let svg = Svg::read(&text(&files, "latency.svg"));
    let us = svg.value(false, f64::log10, |power| 10f64.powf(power));
    let nines = |percent: f64| -(1.0 - percent / 100.0).log10();
    let up = svg.value(true, nines, |nines| nines);
    let csv = text(&files, "latency.csv");
    let mut rows = csv.lines().skip(1).map(|row| row.split(',').collect::<Vec<_>>());
    assert_eq!(svg.drawn().count(), 6);
    for curve in svg.drawn() {
        for (x, y) in curve {
            let row = rows.next().unwrap();
            let [share, ns] = [2, 3].map(|at| row[at].parse::<f64>().unwrap());
            assert!((us(*x) * 1e3 / ns - 1.0).abs() < 0.01, "{} is no {ns}", us(*x));
            // 100 % has no place there.
            assert!(share == 100.0 || (up(*y) - nines(share)).abs() < 0.01, "{} is no {share} %", up(*y));
        }
    }
    assert!(rows.next().is_none());
    // ... and others.
    let plots = others();
    let (_, plot) = plots.iter().find(|(name, _)| name == "miss_ratio").unwrap();
    let svg = Svg::read(&plot.svg());
    let percent = svg.value(true, |y| y, |y| y);
    let mut rows =
        plot.csv().lines().skip(1).map(|row| row.rsplit(',').next().unwrap().parse::<f64>().unwrap());
    for (_, y) in svg.drawn().flatten() {
        assert!((percent(*y) - rows.next().unwrap()).abs() < 0.1);
    }
    assert!(rows.next().is_none() && plot.csv().contains("\nall accesses,4096,"), "{}", plot.csv());
}

/// Names come from users' files: whatever a terminal or a viewer would obey is written out, in every kind of file, and
/// has its room.
#[test]
fn no_plot_holds_control_characters_whatever_the_names() {
    let obeyed: Vec<char> =
        (0..0xffff).filter_map(char::from_u32).filter(|c| ssd::config::is_control(*c)).collect();
    let names: Vec<String> = obeyed.chunks(9).map(|some| format!("a{}z", String::from_iter(some))).collect();
    let assert_harmless = |name: &str, plot: &str| {
        let found = plot.chars().find(|c| *c != '\n' && ssd::config::is_control(*c));
        assert_eq!(found, None, "{name}: {plot:?}");
    };
    for (number, names) in names.chunks(3).enumerate() {
        let files = written("harmless", &named(&base(), names));
        for (name, bytes) in &files {
            match name.rsplit('.').next() {
                Some("svg") => {
                    let svg = String::from_utf8(bytes.clone()).unwrap();
                    assert_harmless(name, &svg);
                    assert_apart(&format!("{name} of {number}"), &Svg::read(&svg));
                }
                Some("pdf") => assert_harmless(name, &content(bytes)),
                Some("txt") => assert_harmless(name, std::str::from_utf8(bytes).unwrap()),
                _ => {}
            }
        }
        let stem = "write_amplification";
        let svg = Svg::read(&text(&files, &format!("{stem}.svg")));
        let pdf = files.get(&format!("{stem}.pdf"));
        assert_alike(stem, &svg, &text(&files, &format!("{stem}.txt")), pdf);
    }
    let evil = "\\u001b[31mred\\u0007\\u009b2J\\u202e";
    for (name, plot) in of_paper("harmless", &[evil.to_owned(), "b".to_owned()], evil) {
        assert_harmless(&name, &plot.svg());
        assert_harmless(&name, &plot.text());
        plot.pdf().into_iter().for_each(|pdf| assert_harmless(&name, &content(&pdf)));
    }
}

/// Zeros, a single point or no series at all are no plot.
#[test]
fn plots_of_nothing_have_no_files() {
    let mut result = base();
    // One request: one point.
    result.latency_ns.read = lab::Distribution::default();
    result.latency_ns.write = lab::Distribution {
        count: 1,
        min: Some(5),
        max: Some(5),
        percentiles: vec![(100.0, 5)],
        ..Default::default()
    };
    result.error_model = "cells".to_owned();
    result.flash.retries.histogram = vec![600];
    let files = written("nothing_shown", std::slice::from_ref(&result));
    assert!(!files.contains_key("latency.svg") && !files.contains_key("retries.svg"), "{:?}", files.keys());
    result.latency_ns.write.percentiles = vec![(50.0, 5), (100.0, 9)];
    (result.latency_ns.write.count, result.latency_ns.write.max) = (2, Some(9));
    result.flash.retries.histogram = vec![600, 1];
    let files = written("something_shown", &[result]);
    assert!(files.contains_key("latency.svg") && files.contains_key("retries.svg"), "{:?}", files.keys());
    // A retry in 600 is seen beside the rest.
    let svg = Svg::read(&text(&files, "retries.svg"));
    let heights: Vec<f64> = svg.bars().map(|[.., height]| *height).collect();
    assert!(heights.len() == 2 && heights[1] > 30.0, "{heights:?}");
}
