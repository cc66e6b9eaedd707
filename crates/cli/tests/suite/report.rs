//! `wordline report`: pages that say what they should, fetch nothing, and work in a browser.

use crate::browser::Browser;
use crate::program::{SMALL, file, folder, root, wordline, wordline_in};
use base64::Engine;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::path::Path;
use std::time::{Duration, Instant};

/// A name that would end the script with the page's data, and begin another, if it were put in as it is.
const SPITEFUL: &str = "</script><script>alert(1)</script><img src=x onerror=alert(2)>";

/// A run whose results lie in a folder of that name: reads and writes, on a small drive.
pub fn run(folder: &Path, name: &str, more: &[&str]) -> String {
    let config = file(folder, &format!("{name}.toml"), format!("{SMALL}\n{WORKLOAD}"));
    let out = folder.join(name).display().to_string();
    let args = ["run", &config, "--out", &out, "--quiet"];
    wordline(&[&args[..], more].concat()).ok();
    out
}

const WORKLOAD: &str = "\
[run]
requests = 20_000
[workload]
pattern = \"uniform\"
read_percent = 60.0
";

pub fn read(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(path.as_ref()).unwrap_or_else(|e| panic!("{}: {e}", path.as_ref().display()))
}

/// What stands between two texts, the first time.
pub fn between<'a>(text: &'a str, begin: &str, end: &str) -> &'a str {
    let rest = text.split_once(begin).unwrap_or_else(|| panic!("no {begin:?}")).1;
    rest.split_once(end).unwrap_or_else(|| panic!("no {end:?}")).0
}

/// All texts of elements that begin so.
pub fn elements<'a>(page: &'a str, begin: &str, end: &str) -> Vec<&'a str> {
    page.split(begin).skip(1).map(|rest| rest.split_once(end).expect("an end").0).collect()
}

fn data(page: &str) -> Value {
    serde_json::from_str(between(page, "<script id=\"data\" type=\"application/json\">", "</script>"))
        .unwrap()
}

/// The page's policy names its scripts and its style by their hashes and allows nothing else.
fn assert_closed(page: &str) {
    let policy =
        between(page, "http-equiv=\"Content-Security-Policy\" content=\"", "\"").replace("&#39;", "'");
    assert!(policy.starts_with("default-src 'none';"), "{policy}");
    let hash = |text: &str| {
        format!(
            "'sha256-{}'",
            base64::engine::general_purpose::STANDARD.encode(Sha256::digest(text.as_bytes()))
        )
    };
    let scripts = elements(page, "<script>", "</script>");
    assert_eq!(scripts.len(), 2, "uPlot and our own");
    let allowed = between(&policy, "script-src ", ";");
    assert_eq!(allowed, scripts.iter().map(|script| hash(script)).collect::<Vec<_>>().join(" "));
    let [style] = elements(page, "<style>", "</style>")[..] else { panic!("one style") };
    assert_eq!(between(&policy, "style-src ", ";"), hash(style));
    // What a browser would fetch or run by itself. uPlot's and our own script and the data are not markup.
    let markup = [page.split("<script").next().unwrap(), page.rsplit("</script>").next().unwrap()].concat();
    let markup: String = elements(&markup.replace(style, ""), "<", ">").join("\n");
    for bad in
        ["src=", "<link", "<iframe", "<object", "@import", "url(", " style=", " onload", " onerror=", "<img"]
    {
        assert!(!markup.contains(bad), "{bad} in the page");
    }
}

#[test]
fn a_run_writes_its_page_and_report_writes_the_same() {
    let folder = folder("report-one");
    let out = run(&folder, "one", &["--explain-tail", "99"]);
    let page = read(Path::new(&out).join("report.html"));
    assert_closed(&page);
    let text = page.replace('\u{a0}', " ");
    let result: Value = serde_json::from_str(&read(Path::new(&out).join("result.json"))).unwrap();
    for said in [
        // It begins with a capital.
        &result["verdict"]["text"].as_str().unwrap()[1..],
        result["event_hash"].as_str().unwrap(),
        "What delayed the slowest reads",
        "Permission is hereby granted",
        "one.toml:",
        "Defaults (",
    ] {
        assert!(text.contains(said), "{said}");
    }
    let again = folder.join("again.html").display().to_string();
    let done = wordline(&["report", &out, "-o", &again]).ok();
    assert_eq!(done.out.trim(), again);
    assert!(read(&again) == page, "the page of the files is that of the run");
    // An earlier report is replaced where it is said.
    wordline(&["report", &out, "-o", &again]).fails(2, &["found:   a report", "--force"]);
    wordline(&["report", &out, "-o", &again, "--force"]).ok();
    // What is drawn adds up to what was counted.
    let data = data(&page);
    let time = &data["runs"][0]["time"];
    let chart =
        |key: &str| time["charts"].as_array().unwrap().iter().find(|chart| chart["key"] == key).unwrap();
    let (interval, end) = (time["interval"].as_f64().unwrap(), time["end"].as_f64().unwrap());
    assert_eq!((end * 1e9).round() as u64, result["simulated_ns"].as_u64().unwrap());
    let read_rate = &chart("throughput")["columns"][0];
    let at = chart("throughput")["at"].as_array().unwrap();
    let bytes: f64 = at
        .iter()
        .zip(read_rate.as_array().unwrap())
        .map(|(row, rate)| {
            let begin = row.as_f64().unwrap() * interval;
            rate.as_f64().unwrap() * ((begin + interval).min(end) - begin)
        })
        .sum();
    let expected = result["bytes_read"].as_f64().unwrap();
    assert!((bytes / expected - 1.0).abs() < 2e-3, "{bytes} of {expected}");
    // The curve passes one in a hundred where the 99th percentile is, to a step.
    let [ns, share] = [0, 1].map(|at| -> Vec<f64> {
        serde_json::from_value(data["runs"][0]["share"]["read"][at].clone()).unwrap()
    });
    let p99 = result["latency_ns"]["read"]["p99"].as_f64().unwrap();
    let after = ns.iter().rposition(|ns| *ns <= p99 * 1.001).unwrap();
    assert!(share[after] >= 0.0099 && share[after + 1] <= 0.0101, "{:?} at {p99}", &share[after..after + 2]);
    assert!(ns.is_sorted() && share.is_sorted_by(|a, b| a >= b) && share[0] == 1.0);
    let longest = result["latency_ns"]["read"]["max"].as_f64().unwrap();
    assert!((ns[ns.len() - 1] / longest - 1.0).abs() < 1e-3, "the curve ends with the longest, {longest}");
}

#[test]
fn names_cannot_do_anything() {
    let folder = folder("report-names");
    let out = run(&folder, "one", &["--name", SPITEFUL]);
    let page = read(Path::new(&out).join("report.html"));
    assert_closed(&page);
    assert!(!page.contains("<script>alert") && !page.contains("<img"), "escaped");
    assert_eq!(data(&page)["runs"][0]["name"], json!(SPITEFUL));
}

/// The head of a table of blocks.
const BLOCKS: &str = "block,lane,state,live_units,programmed_units,erases,age_units,stream,mode,one_bit,wear_q12,disturbed_q12";

/// However much there is, the data stay below two megabytes and a browser's patience.
#[test]
fn data_stay_small() {
    let folder = folder("report-large");
    let first = run(&folder, "r0", &["--set", "run.samples=20000"]);
    let blocks = |rows: usize| {
        let row = |row: usize| {
            let (lane, live, state) = (row / (rows / 64), row % 700, ["free", "closed"][row % 2]);
            format!(
                "{row},{lane},{state},{live},700,{},{},0,0,0,{},{}\n",
                row % 91,
                row * 7,
                row % 4000,
                row % 5000
            )
        };
        format!("{BLOCKS}\n") + &(0..rows).map(row).collect::<String>()
    };
    file(Path::new(&first), "blocks.csv", blocks(1 << 16));
    // The others are copies of it, with names of their own.
    let copy = |number: usize| {
        let to = folder.join(format!("r{number}"));
        std::fs::create_dir(&to).unwrap();
        for name in ["result.json", "series.csv", "series_dies.csv", "series_channels.csv", "blocks.csv"] {
            std::fs::copy(Path::new(&first).join(name), to.join(name)).unwrap();
        }
        to.display().to_string()
    };
    let others: Vec<String> = (1..14).map(copy).collect();
    let outs = [std::slice::from_ref(&first), &others[..]].concat();
    file(Path::new(&first), "blocks.csv", blocks(1 << 18));
    for count in [1, 2, 5, 14] {
        let page = folder.join("page.html").display().to_string();
        let outs: Vec<&str> = outs[..count].iter().map(String::as_str).collect();
        wordline(&[&["report", "--force", "-o", &page], &outs[..]].concat()).ok();
        let page = read(&page);
        assert_closed(&page);
        let size = between(&page, "type=\"application/json\">", "</script>").len();
        assert!((200_000..2_000_000).contains(&size), "{count} runs: {size} bytes");
        let drawn = data(&page)["runs"].as_array().unwrap().len();
        assert_eq!(drawn, count.min(12));
        assert_eq!(page.contains("the first 12 are drawn"), count > 12);
        let map = &data(&page)["runs"][0]["blocks"];
        let [lanes, per_lane, per] = ["lanes", "per_lane", "per"].map(|key| map[key].as_u64().unwrap());
        assert!(
            lanes == 64 && lanes * per_lane * per >= 1 << 18 && lanes * per_lane <= 100_000,
            "{lanes} {per_lane}"
        );
        // The most that a block was erased is still there, however many share a cell.
        let erases = map["maps"].as_array().unwrap().iter().find(|map| map["title"] == "Erases").unwrap();
        assert_eq!(erases["most"], json!(90.0));
    }
}

#[test]
fn what_is_wrong_is_said_and_nothing_is_lost() {
    let folder = folder("report-wrong");
    let out = run(&folder, "one", &[]);
    let page = folder.join("page.html").display().to_string();
    let report = |args: &[&str]| wordline_in(&folder, &[&["report"], args].concat());
    report(&[]).fails(2, &["DIR", "Usage"]);
    report(&["nowhere"]).fails(2, &["nowhere", "found:", "result.json", "wordline run --out"]);
    report(&[&out, "-o", "no/such/page.html"]).fails(2, &["no/such/page.html", "folder does not exist"]);
    report(&[&out, "-o", &out]).fails(2, &[&out]);
    let mine = file(&folder, "mine.html", "<!DOCTYPE html><html>my thesis</html>");
    report(&[&out, "-o", &mine]).fails(2, &["mine.html", "a file that is not a report"]);
    assert!(read(&mine).contains("my thesis"));
    let result = Path::new(&out).join("result.json").display().to_string();
    report(&[&out, "-o", &result]).fails(2, &["result.json"]);
    assert!(read(&result).starts_with('{'));
    // Tables that are not what a run writes.
    let series = file(Path::new(&out), "series.csv", "start_ns,end_ns,reads\n0,1,2\n1,2\n");
    report(&[&out, "-o", &page, "--force"]).fails(2, &[&series, "line 3: 2 values, and 3 columns"]);
    file(Path::new(&out), "series.csv", "");
    report(&[&out, "-o", &page, "--force"]).fails(2, &[&series, "it is empty"]);
    // Words where numbers should be, or other columns, are nothing to draw; without the table there is less to see.
    for text in ["start_ns,end_ns,reads\nx,y,z\n", "a,b\n1,2\n", "start_ns\n"] {
        file(Path::new(&out), "series.csv", text);
        file(Path::new(&out), "blocks.csv", text);
        file(Path::new(&out), "series_dies.csv", text);
        report(&[&out, "-o", &page, "--force"]).ok();
    }
    std::fs::remove_file(&series).unwrap();
    report(&[&out, "-o", &page, "--force"]).ok();
    let damaged = file(&folder, "results.toml", "paper = \"p\"\n[[claim]]\ntext = 5\n");
    report(&[&damaged, "-o", &page, "--force"])
        .fails(2, &["results.toml:3", "claim[1].text", "text in quotes"]);
}

/// Pages in a browser: nothing is refused or fetched, what is drawn has the axes it should, and the zoom is everywhere.
#[test]
fn pages_work_in_a_browser() {
    let Some(browser) = Browser::start() else { return };
    let folder = folder("report-browser");
    let page = |name: &str, from: &[&str]| {
        let page = folder.join(format!("{name}.html"));
        wordline(&[&["report", "-o", &page.display().to_string()], from].concat()).ok();
        page
    };
    let (one, two) =
        (run(&folder, "one", &["--explain-tail", "99"]), run(&folder, "two", &["--name", SPITEFUL]));
    let untimed = run(&folder, "untimed", &["--set", "run.executor=functional"]);
    let nothing =
        run(&folder, "nothing", &["--set", "workload.read_percent=100.0", "--set", "run.requests=1"]);
    let paper = root().join("papers/pds").display().to_string();
    let pages = [
        ("one", vec![&one], true),
        ("two", vec![&one, &two], true),
        ("untimed", vec![&untimed], false),
        ("nothing", vec![&nothing], false),
        ("claims", vec![&paper], false),
        ("all", vec![&untimed, &one, &nothing, &two, &paper], true),
    ];
    for (name, from, has_charts) in pages {
        let from: Vec<&str> = from.into_iter().map(String::as_str).collect();
        let page = page(name, &from);
        browser.open(&page);
        assert_eq!(browser.console(), Vec::<String>::new(), "{name}");
        let asked = browser.requests();
        assert!(asked.len() == 1 && asked[0].ends_with(&format!("{name}.html")), "{name}: {asked:?}");
        let drawn = browser.run("return wordline.charts().length").as_u64().unwrap();
        assert!(!has_charts || drawn > 8, "{name}: {drawn} charts");
        let blank = browser.run(
            "return [...document.querySelectorAll('canvas')].filter(canvas => {
               const {width, height} = canvas;
               const {data} = canvas.getContext('2d').getImageData(0, 0, width, height);
               return !data.some(byte => byte > 0);
             }).length",
        );
        assert_eq!(blank, json!(0), "{name}: blank canvases");
    }
    browser.open(&folder.join("two.html"));
    assert_eq!(browser.run("return document.title"), json!("Wordline: 2 runs"));
    let alike = "return wordline.charts().filter(chart => chart.axes.some(({_values: marks}) =>
                   new Set(marks).size < marks.length || marks.length === 0)).length";
    for range in ["0, 1", "0, 0.028", "0.1, 0.1000001", "0.003, 0.0123"] {
        browser.run(&format!("wordline.zoom({range})"));
        assert_eq!(browser.run(alike), json!(0), "charts with marks that cannot be told apart, of {range} s");
    }
    browser.run("wordline.zoom(0, 1e9)");
    let names = "const row = document.querySelector('#time .columns');
                 return [...row.querySelectorAll('h4')].map(of => of.textContent)";
    assert_eq!(browser.run(names), json!([SPITEFUL, "one"]), "a name is text");
    assert_zooms(&browser, &one);
}

/// The axes of the page that is open are those of the run's series, and zooming changes all of them.
fn assert_zooms(browser: &Browser, run: &str) {
    let table = read(Path::new(run).join("series.csv"));
    let mut rows = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = rows.next().unwrap();
    let place = |name: &str| head.iter().position(|column| *column == name).unwrap();
    let number = |row: &[&str], name: &str| row[place(name)].parse::<f64>().unwrap_or(0.0);
    let rows: Vec<Vec<&str>> = rows.collect();
    let end = rows.iter().map(|row| number(row, "end_ns")).fold(0.0, f64::max) / 1e9;
    let axes = |axis: &str| {
        let script = format!(
            "return wordline.charts().filter(chart => chart.root.dataset.chart !== 'share')
               .map(chart => [chart.scales.{axis}.min, chart.scales.{axis}.max])"
        );
        let found: Vec<[f64; 2]> = serde_json::from_value(browser.run(&script)).unwrap();
        found
    };
    let close = |a: f64, b: f64| (a - b).abs() <= b.abs() * 2e-3 + 1e-12;
    let whole = axes("x");
    assert!(whole.len() > 16 && whole.iter().all(|x| *x == whole[0]), "{whole:?}");
    assert!(whole[0][0] == 0.0 && whole[0][1] >= end * 0.999, "{whole:?} of {end} s");
    // Both runs' throughput on one axis, which reaches from 0 to 5 % above the greatest.
    let rates = ["host.read_bytes", "host.written_bytes"];
    let seconds = |row: &[&str]| (number(row, "end_ns") - number(row, "start_ns")) / 1e9;
    let most =
        rows.iter().flat_map(|row| rates.map(|name| number(row, name) / seconds(row))).fold(0.0, f64::max);
    let throughput = axes("y")[0];
    assert!(throughput[0] == 0.0 && close(throughput[1], most * 1.05), "{throughput:?} for {most}");
    // Drawing the mouse over a quarter of one chart shows that quarter in all of them.
    let place = browser.run(
        "const over = document.querySelector('#time .u-over');
         over.scrollIntoView({block: 'center'});
         const box = over.getBoundingClientRect();
         return [box.left, box.top, box.width, box.height].map(Math.round)",
    );
    let [left, top, width, height]: [i64; 4] = serde_json::from_value(place).unwrap();
    browser.drag([left + width / 4, top + height / 2], [left + width / 2, top + height / 2]);
    let zoomed = axes("x");
    assert!(zoomed.iter().all(|x| *x == zoomed[0]), "{zoomed:?}");
    let [from, to] = zoomed[0];
    let length = whole[0][1];
    assert!(
        (from / length - 0.25).abs() < 0.02 && (to / length - 0.5).abs() < 0.02,
        "{from} to {to} of {length}"
    );
    let told = browser.run("return document.getElementById('shown-time').textContent");
    assert!(told.as_str().unwrap().contains(" to "), "{told}");
    // What the cursor says of the chart is what is in the table.
    let free = axes("y").len();
    assert_eq!(free, zoomed.len());
    // The keyboard does the same.
    browser.run("document.getElementById('time').focus()");
    browser.press("+");
    let [closer, _] = axes("x")[0];
    assert!(closer > from && axes("x").iter().all(|x| *x == axes("x")[0]), "{closer} from {from}");
    browser.press("0");
    assert_eq!(axes("x"), whole, "all of it again");
    assert_eq!(browser.console(), Vec::<String>::new());
}

/// The largest shipped drive, two tebibytes, opens in two seconds.
#[test]
fn a_large_drive_opens_quickly() {
    let Some(browser) = Browser::start() else { return };
    let folder = folder("report-2tib");
    let out = run(&folder, "one", &[]);
    // Its planes have 141 blocks each; one with more of them has more blocks than are drawn singly.
    let rows = 256 * 470;
    let lines: Vec<String> = (0..rows)
        .map(|row| {
            format!("{row},{},closed,{},768,{},{},0,0,0,0,", row / (rows / 256), row % 769, row % 33, row)
        })
        .collect();
    file(Path::new(&out), "blocks.csv", format!("{BLOCKS}\n{}\n", lines.join("\n")));
    let page = folder.join("page.html");
    wordline(&["report", &out, "-o", &page.display().to_string()]).ok();
    let start = Instant::now();
    browser.open(&page);
    let took = start.elapsed();
    assert!(browser.run("return document.querySelectorAll('canvas.map').length") == json!(1));
    // Twice what it may take, for a machine that does other things, too.
    assert!(took < Duration::from_secs(4), "{took:?}");
    assert_eq!(browser.console(), Vec::<String>::new());
}
