use super::*;

fn read(text: &str) -> Sweep {
    Sweep::parse(text, Path::new("s.toml")).unwrap_or_else(|error| panic!("{error}"))
}

fn settings(point: &Point) -> String {
    let each = point.settings.iter().map(|(key, value)| format!("{key}={value}"));
    each.collect::<Vec<_>>().join(" ")
}

fn points(sweep: &Sweep) -> Vec<Point> {
    sweep.points().collect()
}

#[test]
fn ten_lines_are_thirty_six_runs_in_order() {
    let sweep = read(
        r#"preset = "drive/tlc"
[run]
depth = 32
[sweep]
rows = ["workload.path", "ftl.gc_victim.policy"]
columns = ["drive.over_provisioning_percent"]
[grid]
"workload.path" = ["a.csv", "b.csv", "c.csv", "d.csv"]
drive.over_provisioning_percent = [7, 15, 28]
ftl.gc_victim.policy = ["greedy", "cost_benefit", "fifo"]
"#,
    );
    assert_eq!(sweep.runs(), 36);
    let expected = [
        (0, r#"workload.path="a.csv" drive.over_provisioning_percent=7 ftl.gc_victim.policy="greedy""#),
        (1, r#"workload.path="a.csv" drive.over_provisioning_percent=7 ftl.gc_victim.policy="cost_benefit""#),
        (3, r#"workload.path="a.csv" drive.over_provisioning_percent=15 ftl.gc_victim.policy="greedy""#),
        (9, r#"workload.path="b.csv" drive.over_provisioning_percent=7 ftl.gc_victim.policy="greedy""#),
        (35, r#"workload.path="d.csv" drive.over_provisioning_percent=28 ftl.gc_victim.policy="fifo""#),
    ];
    for (at, text) in expected {
        assert_eq!(settings(&sweep.point(at)), text);
    }
    assert_eq!(sweep.line_of("drive.over_provisioning_percent"), Some(9));
    assert_eq!(sweep.line_of("drive.seed"), None);
}

#[test]
fn nested_and_quoted_keys_are_one() {
    let nested = "[grid.ftl.gc_victim]\npolicy = ['fifo', 'greedy']\n[grid.drive]\nseed = [1_0, 2]";
    let quoted = "[grid]\n\"ftl.gc_victim.policy\" = ['fifo', 'greedy']\ndrive.seed = [1_0, 2]";
    assert_eq!(points(&read(nested)), points(&read(quoted)));
    assert_eq!(settings(&read(nested).point(0)), "ftl.gc_victim.policy='fifo' drive.seed=1_0");
}

#[test]
fn values_are_written_in_one_line_that_set_takes() {
    let text = "[grid]\nworkload.size_bytes = [[\n  [4096, 3], # most\n  [16384, 1],\n], 4096]\n\
                workload.path = [\"\"\"a\nb\"\"\", '''c''']";
    let sweep = read(text);
    let value = |point: usize, at: usize| sweep.point(point).settings[at].1.clone();
    assert_eq!([value(0, 0), value(2, 0)], ["[[4096, 3], [16384, 1]]", "4096"]);
    assert_eq!([value(0, 1), value(1, 1)], [r#""a\u000Ab""#, "'''c'''"]);
    for (key, value) in sweep.points().flat_map(|point| point.settings) {
        let layer = ssd::config::Layer::set(&format!("{key}={value}")).expect("a setting");
        assert_eq!(layer.text, format!("{key} = {value}"), "stays TOML");
    }
}

#[test]
fn zipped_keys_change_together_beside_a_grid_and_repeats() {
    let sweep = read(
        "[sweep]\nrepeats = 2\nseed = 7\n[grid]\na.x = [1, 2]\n[zip]\nb.y = [3, 3, 4]\nb.z = [5, 6, 5]\n",
    );
    assert_eq!(sweep.varied, ["a.x", "b.y", "b.z"]);
    let all: Vec<String> = sweep.points().step_by(2).map(|point| settings(&point)).collect();
    assert_eq!(
        all[..4],
        ["a.x=1 b.y=3 b.z=5", "a.x=1 b.y=3 b.z=6", "a.x=1 b.y=4 b.z=5", "a.x=2 b.y=3 b.z=5"]
    );
    let seeds: Vec<(u32, u64)> = sweep.points().take(4).map(|point| (point.repeat, point.seed)).collect();
    assert_eq!(seeds, [(0, 7), (1, 8), (0, 7), (1, 8)]);
    assert_eq!(sweep.runs(), 12);
}

#[test]
fn samples_come_from_the_seed() {
    let text = |seed: u64, method: &str| {
        format!(
            "[sweep]\nseed = {seed}\n[sample]\ncount = 100\nmethod = \"{method}\"\n\
             a.x = {{ from = 0.0, to = 100.0 }}\n[sample.b]\ny = {{ from = 1, to = 1000, scale = \"log\" }}\n"
        )
    };
    let one = read(&text(1, "latin_hypercube"));
    assert_eq!((one.varied.join(" "), one.runs()), ("a.x b.y".to_owned(), 100));
    let whole = |sweep: &Sweep| {
        let value = |point: Point| point.settings[0].1.parse::<f64>().expect("a number") as u32;
        sweep.points().map(value).collect::<BTreeSet<u32>>().len()
    };
    assert_eq!(whole(&one), 100, "each stratum once");
    assert!(whole(&read(&text(1, "random"))) < 80);
    assert_eq!(one, read(&text(1, "latin_hypercube")));
    assert_ne!(points(&one), points(&read(&text(2, "latin_hypercube"))));
    let small = one.points().filter(|point| point.settings[1].1.len() == 1).count();
    // ln 10 / ln 1001 of 100 strata.
    assert!((32..=34).contains(&small), "{small} below 10");
}

#[test]
fn a_point_that_is_drawn_again_is_run_once() {
    let sweep = read("[sample]\ncount = 50\na.x = { values = [1, 2] }\na.y = { from = 0, to = 1 }\n");
    assert_eq!((sweep.runs(), sweep.duplicates), (4, 46));
}

#[test]
fn errors_name_place_key_found_and_allowed() {
    let cases = [
        ("[grid]\na = [", "s.toml:2: not valid TOML", ""),
        ("", "s.toml:1: sweep", "found:   a sweep that varies nothing"),
        ("grid = 3", "s.toml:1: grid", "allowed: a table, [grid]"),
        ("[sweep]\nrepaets = 2", "s.toml:2: sweep.repaets", "did you mean \"repeats\"?"),
        ("[sweep]\nrepeats = 0", "s.toml:2: sweep.repeats", "allowed: a whole number from 1"),
        ("[sweep]\nrows = 3", "s.toml:2: sweep.rows", "allowed: a list of texts in quotes"),
        ("[sweep]\nrows = ['a.z']\n[grid]\na.x = [1]", "s.toml:2: sweep.rows", "did you mean \"a.x\"?"),
        ("[sweep]\nrows = ['a']\ncolumns = ['a']\n[grid]\na = [1]", "s.toml:3: sweep.columns", "\"a\" twice"),
        ("[grid.drive]\nseed = 7", "s.toml:2: grid.drive.seed", "found:   7\n    allowed: a list: [...]"),
        ("[grid]\na.x = []", "s.toml:2: grid.a.x", "allowed: a list of at least one value"),
        ("[grid]\na.x = [1000,\n 1_000]", "s.toml:2: grid.a.x", "found:   1_000 twice"),
        ("[grid]\na.x = [{ b = 1 }]", "s.toml:2: grid.a.x", "found:   { b = 1 }"),
        ("[grid]\n\"a b.x\" = [1]", "s.toml:2: grid.a b.x", "such as drive.seed"),
        ("[grid]\na.x = [1]\n[zip]\n'a.x' = [2]", "s.toml:4: zip.a.x", "also in [grid], line 2"),
        ("[grid]\na.x = [1]\n'a.x' = [2]", "s.toml:3: grid.a.x", "also in [grid], line 2"),
        ("[zip]\na = [1, 2]\nb = [3]", "s.toml:3: zip.b", "found:   a list of 1; a (line 2) has 2"),
        ("[zip]\na = [1, 1]\nb = [3, 3]", "s.toml:2: zip.a", "1 with 3 twice"),
        ("[sample]\na.x = { from = 1, to = 2 }", "s.toml:1: sample.count", "found nothing"),
        ("[sample]\ncount = 0\na.x = { from = 1, to = 2 }", "s.toml:2: sample.count", "from 1 to 1000000"),
        ("[sample]\ncount = 3", "s.toml:2: sample.count", "no key to draw"),
        ("[sample]\ncuont = 3", "s.toml:2: sample.cuont", "did you mean \"count\"?"),
        (
            "[sample]\nmethod = 'latin_hypercub'\na.x = { from = 1, to = 2 }",
            "s.toml:2: sample.method",
            "did you",
        ),
        ("[sample]\na.x = { form = 1, to = 2 }", "s.toml:2: sample.a.x.form", "did you mean \"from\"?"),
        ("[sample]\na.x = { from = 2, to = 2 }", "s.toml:2: sample.a.x.from", "found:   2, with to = 2"),
        ("[sample]\na.x = { from = 0, to = 2, scale = 'log' }", "s.toml:2: sample.a.x.from", "more than 0"),
        (
            "[sample]\na.x = { from = 0.5, to = 2, integer = true }",
            "s.toml:2: sample.a.x.from",
            "found:   0.5",
        ),
        (
            "[sample]\na.x = { from = 1, values = [1] }",
            "s.toml:2: sample.a.x.from",
            "allowed: a range, or values",
        ),
        ("[sample]\na.x = { values = [1, 1] }", "s.toml:2: sample.a.x.values", "1 twice"),
    ];
    for (text, start, part) in cases {
        let error = Sweep::parse(text, Path::new("s.toml")).expect_err(text).to_string();
        assert!(error.starts_with(&format!("{start}\n")) && error.contains(part), "{text}\n{error}");
    }
}

#[test]
fn too_many_runs_are_counted() {
    let list = (0..1001).map(|n| n.to_string()).collect::<Vec<_>>().join(", ");
    let text = format!("[grid]\na.x = [{list}]\na.y = [{list}]\n");
    let error = Sweep::parse(&text, Path::new("s.toml")).expect_err("too many").to_string();
    assert!(error.contains("1,002,001 runs\n    allowed: up to 1,000,000 runs"), "{error}");
}
