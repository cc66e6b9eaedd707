//! How pages look: on a desk, on a telephone, on paper, by day and by night. Screenshots of all go to
//! `target/screenshots`.

use crate::browser::{Browser, LOOKS, Look, pages_of};
use crate::program::{SMALL, file, folder, wordline};
use crate::report::{between, elements, read, run};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Runs that look different: with names of whom the slowest waited for, reads alone, jobs, more than the drive can do,
/// no time, and nearly nothing.
fn runs(folder: &Path) -> Vec<(&'static str, String)> {
    let one = |name: &'static str, more: &[&str]| (name, run(folder, name, more));
    vec![
        one("steady", &["--explain-tail", "99"]),
        one("reads", &["--set", "workload.read_percent=100.0"]),
        one("overloaded", &["--rate", "2000000"]),
        one("untimed", &["--set", "run.executor=functional"]),
        one("nothing", &["--set", "workload.read_percent=100.0", "--set", "run.requests=1"]),
        ("jobs", jobs(folder)),
    ]
}

/// A run of two jobs, one of which sends flushes.
fn jobs(folder: &Path) -> String {
    let job = folder.join("two.fio");
    let text = "[global]\nsize=8m\nbs=4k\nioengine=libaio\ndirect=1\n[log]\nrw=write\nfdatasync=1\n\
                [database]\nrw=randrw\niodepth=8\n";
    std::fs::write(&job, text).unwrap();
    let drive = file(folder, "small.toml", SMALL);
    let (job, out) = (job.display().to_string(), folder.join("jobs").display().to_string());
    wordline(&["run", &job, "--config", &drive, "--out", &out, "--quiet"]).ok();
    out
}

/// The page of a folder.
fn page_of(out: &str) -> PathBuf {
    Path::new(out).join("report.html")
}

/// A page of several of them.
fn together(folder: &Path, runs: &[(&'static str, String)]) -> PathBuf {
    let page = folder.join("together.html");
    let outs: Vec<&str> = runs.iter().map(|(_, out)| out.as_str()).collect();
    wordline(&[&["report", "--force", "-o", &page.display().to_string()], &outs[..]].concat()).ok();
    page
}

/// Whatever lies beyond the right or left border of what is seen, of what must be seen; one line each.
const BEYOND: &str = "
    const seen = document.documentElement.clientWidth;
    const all = [...document.querySelectorAll('#summary *, .bars *, h1, h2, h3, nav a, .legend, .scale, footer p')];
    const beyond = all.filter(of => {
        const box = of.getBoundingClientRect(), style = getComputedStyle(of);
        const isHidden = of.closest('thead') && innerWidth < 640;
        // Many runs stand in columns that scroll, beside each other.
        const scrolls = of.closest('.columns:not(.one)') && innerWidth > 640;
        return box.width > 0 && !isHidden && !scrolls && (box.right > seen + 1 || box.left < -1);
    }).map(of => `${of.tagName} ${of.textContent.slice(0, 40)}`);
    const cut = [...document.querySelectorAll('#summary .scroll')].filter(of => of.scrollWidth > of.clientWidth + 1);
    const page = document.documentElement.scrollWidth > seen ? ['the page'] : [];
    // In a list, what a cell says fits beside its name.
    const cells = innerWidth > 640 ? [] : [...document.querySelectorAll('.stack td, .stack tbody th')];
    const narrow = cells.filter(of => of.scrollWidth > of.clientWidth + 1).map(of => `too long: ${of.textContent}`);
    return [...page, ...narrow, ...beyond, ...cut.map(of => `cut off: ${of.textContent.slice(0, 40)}`)];";

/// What is wrong with the order of headings, with landmarks, and with heads of tables; one line each.
const STRUCTURE: &str = "
    const levels = [...document.querySelectorAll('h1, h2, h3, h4, h5, h6')].map(of => Number(of.tagName[1]));
    const jumps = levels.filter((level, at) => level > (at ? levels[at - 1] : 0) + 1)
        .map(level => `h${level} out of order`);
    const count = what => document.querySelectorAll(what).length;
    const once = ['main', 'h1', 'header', 'footer'].filter(what => count(what) !== 1)
        .map(what => `${count(what)} of ${what}`);
    const heads = [...document.querySelectorAll('th:not([scope])')].map(of => `no scope: ${of.textContent}`);
    const empty = [...document.querySelectorAll('th')].filter(of => !of.textContent.trim()).map(() => 'an empty head');
    const tables = [...document.querySelectorAll('table')].filter(of => !of.querySelector('thead th'))
        .map(() => 'no heads');
    const nameless = [...document.querySelectorAll('[role=img], select, input, nav')].filter(of =>
        !of.getAttribute('aria-label') && !of.labels?.length).map(of => `no name: ${of.outerHTML.slice(0, 60)}`);
    return [...jumps, ...once, ...heads, ...empty, ...tables, ...nameless];";

/// Charts and pictures without a legend or a scale that is seen without a mouse; one line each.
const UNEXPLAINED: &str = "
    const isSeen = of => of.getBoundingClientRect().height > 0;
    return [...document.querySelectorAll('.uplot, canvas.map')].filter(isSeen).filter(of => {
        const keys = [...of.parentElement.querySelectorAll('.legend, .scale')].filter(isSeen);
        return !keys.some(key => key.textContent.trim());
    }).map(of => of.dataset.chart || of.className);";

/// Charts that are not as wide as their place, and so run into their neighbours or leave it empty; one line each.
const WIDTHS: &str = "
    return [...document.querySelectorAll('.uplot')].filter(of => of.parentElement.clientWidth > 260).filter(of =>
        Math.abs(of.getBoundingClientRect().width - of.parentElement.clientWidth) > 2)
        .map(of => `${of.dataset.chart}: ${of.getBoundingClientRect().width} in ${of.parentElement.clientWidth}`);";

#[test]
fn pages_are_read_on_a_desk_and_on_a_telephone_by_day_and_by_night_and_on_paper() {
    let Some(browser) = Browser::start() else { return };
    let folder = folder("pages-looks");
    let runs = runs(&folder);
    let several = together(&folder, &runs);
    let pages = runs.iter().map(|(name, out)| (*name, page_of(out))).chain([("together", several)]);
    for (name, page) in pages {
        for look in LOOKS {
            browser.look(look);
            browser.open(&page);
            let Look { name: way, .. } = look;
            browser.keep_screenshot(&format!("{name}-{way}"));
            assert_eq!(browser.console(), Vec::<String>::new(), "{name}, {way}");
            let looks = [
                ("beyond", BEYOND),
                ("structure", STRUCTURE),
                ("unexplained", UNEXPLAINED),
                ("widths", WIDTHS),
            ];
            for (what, script) in looks {
                assert_eq!(browser.run(script), json!([]), "{name}, {way}: {what}");
            }
            let paper = browser.run("return getComputedStyle(document.body).backgroundColor");
            let expected = if look.is_dark { "rgb(22, 22, 22)" } else { "rgb(255, 255, 255)" };
            assert_eq!(paper, json!(expected), "{name}, {way}");
            // From the dark desk, and from a telephone.
            if name != "together" && [LOOKS[1].name, LOOKS[2].name].contains(&way) {
                is_printed_on_two_pages(&browser, name, look);
            }
        }
    }
}

/// The light, the answer, both cards and the table are there before anybody scrolls.
#[test]
fn the_first_screen_says_what_was_measured_and_whether_to_believe_it() {
    let folder = folder("pages-first");
    let (good, wrong) = (run(&folder, "good", &[]), run(&folder, "wrong", &["--rate", "2000000"]));
    let page = read(page_of(&good));
    let first = between(&page, "<main>", "id=\"why\"");
    for said in [
        "<h3>Drive</h3>",
        "<h3>Workload</h3>",
        "<dt>Capacity</dt>",
        "<dt>OP</dt>",
        "<dt>Before</dt>",
        "4 dies",
        "TLC",
        "20,000 of 20,000 served",
        "The drive served ",
        "data-head=\"p99.9\"",
        "write amplification",
    ] {
        assert!(first.contains(said), "{said}: {first}");
    }
    let wrong = read(page_of(&wrong));
    assert!(wrong.contains("<div class=\"light wrong\""), "an overloaded run");
    let light = between(&wrong, "<div class=\"light wrong\"", "</div></div>");
    for said in ["Wrong: do not use", "Overloaded: ", "What to do: ", "--closed"] {
        assert!(light.contains(said), "{said}: {light}");
    }
    assert!(wrong.contains("The drive could not keep up: of "), "no latency in the answer");
    let Some(browser) = Browser::start() else { return };
    browser.look(LOOKS[0]);
    browser.open(&page_of(&good));
    let bottom = "return document.querySelector('#summary table').getBoundingClientRect().bottom";
    let bottom = browser.run(bottom).as_f64().unwrap();
    assert!(bottom < 1_000.0, "the table ends at {bottom}");
}

/// Numbers are written in one way, and every ratio says what it is.
#[test]
fn numbers_are_written_in_one_way() {
    let folder = folder("pages-numbers");
    let runs = [
        ("one", run(&folder, "one", &["--explain-tail", "99"])),
        ("two", run(&folder, "two", &["--seed", "7"])),
    ];
    let page = read(together(&folder, &runs));
    assert!(page.contains("20,000 of 20,000 served"));
    let compared = between(&page, "id=\"compared\"", "</section>");
    let heads: Vec<&str> = elements(compared, "<th scope=\"col\"", "</th>")
        .iter()
        .map(|head| head.split('>').nth(1).unwrap())
        .collect();
    assert_eq!(heads, ["metric", "one", "two", "ratio"]);
    // What is a part stands to the right of its whole.
    assert!(compared.contains("class=\"text part\" scope=\"row\">host</th>"), "{compared}");
    let cells = elements(&page, "<td", "</td>").into_iter().chain(elements(&page, "<dd", "</dd>"));
    for cell in cells.map(|cell| cell.split_once('>').unwrap().1) {
        let words: Vec<&str> = cell.split(' ').collect();
        let is_number = |word: &str| word.len() == 3 && word.bytes().all(|byte| byte.is_ascii_digit());
        let begins = |word: &str| word.ends_with(|c: char| c.is_ascii_digit());
        assert!(!words.windows(2).any(|pair| begins(pair[0]) && is_number(pair[1])), "thousands in {cell:?}");
        assert!(!cell.contains("µs") && !cell.starts_with("0.1 %") && !cell.contains(" 0.1 %"), "{cell:?}");
    }
}

/// Each group of settings says what they are, letters are explained where they stand, and what was worked out has no
/// line in a file.
#[test]
fn what_a_page_names_it_explains() {
    let folder = folder("pages-names");
    let runs = [("one", run(&folder, "one", &[])), ("two", run(&folder, "two", &["--rate", "2000000"]))];
    let page = read(together(&folder, &runs));
    let compared = between(&page, "id=\"compared\"", "</section>");
    assert!(
        compared.contains("two (o)") && compared.contains("Marked runs are (o) overloaded"),
        "{compared}"
    );
    let settings = between(&page, "id=\"configuration\"", "</section>");
    let workload = between(settings, "<summary>Workload (", "</details>");
    assert!(workload.contains("workload.read_percent") && !workload.contains("run."), "{workload}");
    let defaults = between(settings, "<summary>Defaults (", "</details>");
    assert!(!defaults.contains("workload."), "{defaults}");
    let generated = folder.join("generated").display().to_string();
    let count = "workload.count=500";
    wordline(&["run", "--synthetic", "uniform", "--set", count, "--out", &generated, "--quiet"]).ok();
    let settings = read(page_of(&generated));
    let settings = between(&settings, "id=\"configuration\"", "</section>");
    assert!(settings.contains("sized to the workload<") && !settings.contains("sized to the workload:"));
    let workload = between(settings, "<summary>Workload (", "</details>");
    for origin in ["--set workload.count=500<", "--synthetic<", "default<"] {
        assert!(workload.contains(origin), "{origin} in {workload}");
    }
}

#[test]
fn without_scripts_a_page_says_where_its_numbers_are() {
    let folder = folder("pages-noscript");
    let out = run(&folder, "one", &[]);
    let page = read(page_of(&out));
    let said = between(&page, "<noscript>", "</noscript>");
    assert!(said.contains("series.csv") && said.contains("result.json"), "{said}");
    let Some(browser) = Browser::start() else { return };
    browser.allow_scripts(false);
    browser.open(&page_of(&out));
    browser.keep_screenshot("without-scripts");
    let seen = browser.run("return document.querySelector('noscript').textContent");
    assert!(seen.as_str().unwrap().contains("series.csv"), "{seen}");
    assert_eq!(browser.run("return document.querySelectorAll('canvas').length"), json!(0));
    let tools = browser.run("return document.querySelector('.tools').getBoundingClientRect().height");
    assert_eq!(tools, json!(0), "buttons that do nothing");
}

/// What may be torn apart by the end of a page, or left behind by what it belongs to; one line each.
const TORN: &str = "
    const wrong = (what, property) => [...document.querySelectorAll(what)].filter(of =>
        getComputedStyle(of)[property] !== 'avoid').map(of => `${of.tagName} ${of.className}: ${property}`);
    return [...wrong('main h2, main h3, main h4, caption, h2 + p, .legend', 'breakAfter'),
        ...wrong('tr, .light, .card, .bars, .uplot, #shares, #time > div', 'breakInside')];";

/// One run takes two pages of A4, and all that is on them is whole. Afterwards the page is as it was.
fn is_printed_on_two_pages(browser: &Browser, name: &str, look: Look) {
    let printed = browser.print(&format!("{name}-{}", look.name));
    let pages = pages_of(&printed);
    let is_small = ["untimed", "nothing"].contains(&name);
    assert!(pages == 2 || is_small && pages == 1, "{name}: {pages} pages");
    assert_eq!(browser.console(), Vec::<String>::new(), "{name}");
    browser.show_print(true);
    assert_eq!(browser.run(TORN), json!([]), "{name}");
    browser.show_print(false);
    let width = "return [document.documentElement.dataset.print ?? null,
        document.documentElement.scrollWidth <= document.documentElement.clientWidth]";
    assert_eq!(browser.run(width), json!([null, true]), "{name}");
    let charts: Value = browser.run("return wordline.charts().map(chart => chart.width > 300)");
    assert!(charts.as_array().unwrap().iter().all(|wide| *wide == json!(true)), "{name}: {charts}");
}

/// A sweep of three points with two repeats, some of which cannot keep up; its folder.
fn swept(folder: &Path) -> String {
    let text = format!(
        "{SMALL}[run]\nsamples = 0\n[workload]\npattern = \"uniform\"\ncount = 4000\nread_percent = 50.0\n\
         arrival = \"poisson\"\n[grid]\nworkload.rate_iops = [500.0, 4000.0, 900000.0]\n\
         ftl.gc_victim.policy = [\"greedy\"]\n[sweep]\nrepeats = 2\nmetrics = [\"IOPS\", \"flash_erases\"]\n"
    );
    let out = folder.join("swept").display().to_string();
    wordline(&["sweep", &file(folder, "grid.toml", text), "-o", &out]).ok();
    out
}

/// What stands in a column of the rows that are shown of a table.
fn column(browser: &Browser, what: &str, name: &str) -> Vec<String> {
    let script = format!(
        "const table = document.querySelector('table[data-what={what}]');
         const at = [...table.tHead.rows[0].cells].findIndex(head => head.textContent === '{name}');
         return [...table.tBodies[0].rows].filter(row => !row.hidden).map(row => row.cells[at].dataset.by)"
    );
    serde_json::from_value(browser.run(&script)).unwrap()
}

/// A sweep has a page of its own, whose tables are sorted by a click and filtered by what they hold.
#[test]
fn a_sweep_has_a_page_that_sorts_and_filters() {
    let folder = folder("pages-sweep");
    let out = swept(&folder);
    // A page of a run's own is linked from where it lies.
    let id =
        read(Path::new(&out).join("runs.csv")).lines().nth(1).unwrap().split(',').next().unwrap().to_owned();
    let of_run = Path::new(&out).join("runs").join(&id);
    std::fs::create_dir_all(&of_run).unwrap();
    file(&of_run, "report.html", "a page");
    let page = folder.join("sweep.html");
    wordline(&["report", &out, "-o", &page.display().to_string()]).ok();
    let text = read(&page);
    for said in [
        "<h1>Sweep swept</h1>",
        "Overloaded: 2 of 6 runs.",
        "6 runs: 3 points × 2 repeats; rate iops varies.",
        "500, 4000, 900000",
        "<h3>Extremes of each metric</h3>",
        " ± ",
        "alt=\"Figure: IOPS\"",
        "alt=\"Figure: flash erases\"",
        "Overloaded: ",
        "generator, uniform",
        &format!("href=\"swept/runs/{id}/report.html\""),
    ] {
        assert!(text.contains(said), "{said}");
    }
    // What varies is not fixed, and neither is what follows from it.
    let fixed = between(&text, "id=\"same\"", "<details>");
    assert!(fixed.contains("<dt>OP</dt>") && fixed.contains("<dt>Source</dt>"), "{fixed}");
    assert!(!fixed.contains("<dt>Arrival</dt>") && !fixed.contains("<dt>Time</dt>"), "{fixed}");
    // One value in a list varies nothing.
    assert!(!between(&text, "id=\"summary\"", "</section>").contains("greedy"));
    let Some(browser) = Browser::start() else { return };
    for look in LOOKS {
        browser.look(look);
        browser.open(&page);
        browser.keep_screenshot(&format!("sweep-{}", look.name));
        for (what, script) in [("beyond", BEYOND), ("structure", STRUCTURE)] {
            assert_eq!(browser.run(script), json!([]), "{}: {what}", look.name);
        }
        assert_eq!(browser.console(), Vec::<String>::new(), "{}", look.name);
    }
    browser.look(LOOKS[0]);
    browser.open(&page);
    let asked = browser.requests();
    assert!(asked.iter().all(|asked| asked.starts_with("file:") || asked.starts_with("data:")), "{asked:?}");
    let click = |head: &str| {
        let script = format!(
            "const heads = [...document.querySelectorAll('table[data-what=runs] thead button')];
             heads.find(head => head.textContent === '{head}').click()"
        );
        browser.run(&script);
    };
    let numbers = |name: &str| {
        column(&browser, "runs", name).iter().map(|text| text.parse::<f64>().unwrap()).collect::<Vec<_>>()
    };
    click("IOPS");
    assert!(numbers("IOPS").is_sorted(), "{:?}", numbers("IOPS"));
    click("IOPS");
    assert!(numbers("IOPS").is_sorted_by(|a, b| a >= b), "{:?}", numbers("IOPS"));
    click("rate iops");
    assert_eq!(numbers("rate iops"), [500.0, 500.0, 4e3, 4e3, 9e5, 9e5], "by size, not by letters");
    let choose = "const label = [...document.querySelectorAll('#runs .filters label')]
            .find(label => label.textContent.startsWith('rate iops'));
         const choice = label.querySelector('select');
         choice.value = [...choice.options].find(option => option.text === '4000').value;
         choice.dispatchEvent(new Event('change'));
         return document.querySelector('#runs .filters output').textContent";
    assert_eq!(browser.run(choose), json!("2 of 6 runs shown"));
    assert_eq!(numbers("rate iops"), [4e3, 4e3]);
    browser.print("sweep");
}

#[test]
fn the_page_of_a_sweep_calls_things_as_its_file_does() {
    let folder = folder("pages-labels");
    let text = format!(
        "{SMALL}[run]\nsamples = 0\nfill_percent = 50\n[workload]\npattern = \"uniform\"\ncount = 500\n\
         read_percent = 50.0\n[grid]\nworkload.size_bytes = [4096, 8192]\n\
         ftl.gc_victim.policy = [\"greedy\", \"fifo\"]\n[sweep]\nmetrics = [\"IOPS\"]\n\
         baseline = {{ ftl.gc_victim.policy = \"greedy\" }}\n[labels]\nIOPS = \"Rate <IO>\"\n\
         ftl.gc_victim.policy = \"Victim selection\"\ngreedy = \"Greedy [7]\"\n\
         \"workload.size_bytes\" = \"Request size\"\n4096 = \"small\"\n"
    );
    let out = folder.join("swept").display().to_string();
    wordline(&["sweep", &file(&folder, "grid.toml", text), "-o", &out]).ok();
    let page = folder.join("sweep.html");
    wordline(&["report", &out, "-o", &page.display().to_string()]).ok();
    let page = read(&page);
    for said in [
        "Request size and Victim selection vary",
        "Greedy [7], fifo",
        "small, 8192",
        "<figcaption>Rate &lt;IO&gt;</figcaption>",
        "<figcaption>Rate &lt;IO&gt;: difference to the baseline</figcaption>",
        ">Victim selection</th>",
        ">Rate &lt;IO&gt;</th>",
        "data-by=\"Greedy [7]\"",
        // Numbers are sorted by their size, whatever they are called.
        "data-by=\"4096\"><span>small</span>",
    ] {
        assert!(page.contains(said), "{said}: {page}");
    }
    let tables = between(&page, "id=\"summary\"", "id=\"same\"");
    assert!(
        !tables.contains("greedy") && !tables.contains(">IOPS<") && !tables.contains(">4096<"),
        "{tables}"
    );
    // Names that would make two values one name neither.
    let same =
        read(Path::new(&out).join("sweep.toml")).replace("greedy = \"Greedy [7]\"", "greedy = \"fifo\"");
    file(Path::new(&out), "sweep.toml", same);
    let again = folder.join("again.html");
    wordline(&["report", &out, "-o", &again.display().to_string()]).ok();
    assert!(read(&again).contains("data-by=\"greedy\""));
}

#[test]
fn what_is_no_sweep_is_told_and_an_older_one_is_shown() {
    let folder = folder("pages-no-sweep");
    let page = folder.join("page.html").display().to_string();
    let report = |from: &[&str]| wordline(&[&["report", "--force", "-o", &page], from].concat());
    let sweep = |name: &str, csv: Option<&str>| {
        let at = folder.join(name);
        std::fs::create_dir_all(&at).unwrap();
        file(&at, "sweep.toml", "[grid]\nworkload.seed = [1, 2]\n");
        csv.map(|csv| file(&at, "runs.csv", csv));
        at.display().to_string()
    };
    let empty = folder.join("empty");
    std::fs::create_dir_all(&empty).unwrap();
    report(&[&empty.display().to_string()])
        .fails(2, &["found:   neither result.json", "sweep.toml", "wordline sweep -o"]);
    let none = sweep("none", None);
    report(&[&none]).fails(2, &["a sweep without results", "runs.csv", "wordline sweep FILE"]);
    let missing = sweep("missing", Some("run,status,workload.seed,repeat,seed\na,missing,1,0,0\n"));
    report(&[&missing]).fails(2, &["a sweep without results"]);
    for (csv, said) in [
        ("", "it is empty"),
        ("a,b\n1,2\n", "it is not the table of a sweep"),
        ("run,status,repeat,seed\na,ok,0\n", "row 1: 3 values, and 4 columns"),
        ("run,status,repeat,seed\na,\"ok,0,0\n", "line 2: a quote that is not closed"),
    ] {
        report(&[&sweep("damaged", Some(csv))]).fails(2, &["damaged/runs.csv", said]);
    }
    let rows = "run,status,workload.seed,repeat,seed,IOPS\na,ok,1,0,0,1000\nb,failed,2,0,0,\n";
    let older = sweep("older", Some(rows));
    report(&[&older, &older]).fails(2, &["a sweep beside something else"]);
    report(&[&older]).ok();
    let text = read(&page);
    assert!(text.contains("from an earlier version") && text.contains("Failed: 1 of 2 runs"), "{text}");
    // Its file names the folder, too.
    report(&[&folder.join("older/runs.csv").display().to_string()]).ok();
    assert!(read(&page) == text);
    file(&folder.join("older"), "problems.json", "[{\"run\": 5}]");
    report(&[&older]).fails(2, &["problems.json"]);
}
