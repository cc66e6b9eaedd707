use super::*;

fn row(varied: &[(&str, &str)], values: &[f64]) -> Row {
    let varied = varied.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    Row {
        varied,
        values: [("write_amplification".to_owned(), (0..).zip(values.iter().copied()).collect())].into(),
        ..Row::default()
    }
}

/// Two traces, two policies, two spares, two runs each; the last was not run.
fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for (trace, at) in [("\"t/a_1.csv\"", 1.0), ("\"t/b|2.csv\"", 2.0)] {
        for (policy, more) in [("\"greedy\"", 0.0), ("\"fifo\"", 0.5)] {
            for spare in ["7", "28"] {
                let varied =
                    [("workload.path", trace), ("ftl.gc_victim.policy", policy), ("drive.spare", spare)];
                let mean = at + more + if spare == "7" { 10.0 } else { 0.0 };
                rows.push(row(&varied, &[mean - 0.01, mean + 0.01]));
            }
        }
    }
    rows.pop();
    rows
}

fn keys(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn called(from: &[Row], (rows, columns): (&[&str], &[&str]), labels: &Labels) -> Pivot {
    let title = labels.of("write_amplification").to_owned();
    let measure = Measure { key: "write_amplification".to_owned(), title, unit: 1.0 };
    Pivot::new(from, Layout { rows: &keys(rows), columns: &keys(columns), labels }, &measure)
}

fn of(from: &[Row], rows: &[&str], columns: &[&str]) -> Pivot {
    called(from, (rows, columns), &Labels::default())
}

fn pivot(rows: &[&str], columns: &[&str]) -> Pivot {
    of(&self::rows(), rows, columns)
}

#[test]
fn text_is_aligned_and_has_all_keys() {
    let expected = "\
write_amplification, mean ± 95 % confidence interval of 2 runs; columns: drive.spare

path     gc_victim             7           28
a_1.csv  greedy     11.00 ± 0.13  1.00 ± 0.13
a_1.csv  fifo       11.50 ± 0.13  1.50 ± 0.13
b|2.csv  greedy     12.00 ± 0.13  2.00 ± 0.13
b|2.csv  fifo       12.50 ± 0.13            -
";
    let columns = ["drive.spare"];
    assert_eq!(pivot(&[], &columns).text(), expected);
    assert_eq!(pivot(&["workload.path"], &columns).text(), expected, "keys that nobody named are rows");
}

#[test]
fn the_last_key_that_leaves_no_holes_makes_columns() {
    let columns = |rows: &[Row]| of(rows, &[], &[]).columns;
    let (mut holed, mut full) = (rows(), rows());
    full.truncate(4);
    assert_eq!(columns(&full), ["drive.spare"]);
    assert!(columns(&holed).is_empty());
    // Zipped keys: a diagonal is no table.
    holed = [("1", "x"), ("2", "y")].map(|(a, b)| row(&[("a", a), ("b", b)], &[1.0])).to_vec();
    assert!(columns(&holed).is_empty());
    let text = of(&holed, &[], &[]).text();
    assert_eq!(
        text,
        "write_amplification\n\na  b  write_amplification\n1  x                    1\n2  y                    1\n"
    );
}

#[test]
fn markdown_and_latex_escape_what_they_must() {
    let table = pivot(&["workload.path"], &["ftl.gc_victim.policy", "drive.spare"]);
    let markdown = table.markdown();
    assert!(
        markdown.contains("\n| path | greedy, 7 | greedy, 28 | fifo, 7 | fifo, 28 |\n| --- | ---: |"),
        "{markdown}"
    );
    assert!(markdown.contains("\n| b\\|2.csv | 12.00 ± 0.13 |"), "{markdown}");
    let latex = table.latex("wa");
    let expected = "\
\\begin{table}
\\centering
\\caption{write\\_amplification, mean $\\pm$ 95 \\% confidence interval of 2 runs; columns: ftl.gc\\_victim.policy, \
drive.spare.}
\\label{tab:wa}
\\begin{tabular}{lrrrr}
\\toprule
& \\multicolumn{4}{c}{ftl.gc\\_victim.policy, drive.spare} \\\\
\\cmidrule(lr){2-5}
path & greedy, 7 & greedy, 28 & fifo, 7 & fifo, 28 \\\\
\\midrule
a\\_1.csv & 11.00 $\\pm$ 0.13 & 1.00 $\\pm$ 0.13 & 11.50 $\\pm$ 0.13 & 1.50 $\\pm$ 0.13 \\\\
";
    assert!(latex.contains(expected), "{latex}");
    assert!(latex.ends_with(" & - \\\\\n\\bottomrule\n\\end{tabular}\n\\end{table}\n"), "{latex}");
    assert_eq!(escaped(r"&%_#${}~^\"), r"\&\%\_\#\$\{\}\textasciitilde{}\textasciicircum{}\textbackslash{}");
}

#[test]
fn digits_fit_the_interval() {
    let shown = |mean, half| cell(&Some(Interval { n: 2, mean, half_width: Some(half) }));
    assert_eq!(shown(3.21456, 0.0123), "3.215 ± 0.012");
    assert_eq!(shown(3.21456, 0.0996), "3.21 ± 0.10");
    assert_eq!(shown(3.21456, 12.3), "3 ± 12");
    assert_eq!(shown(1_234_567.0, 1234.0), "1234600 ± 1200");
    assert_eq!(shown(5.25, 0.0), "5.25 ± 0");
    assert_eq!(shown(0.0, 0.0), "0 ± 0");
    let alone = |mean| cell(&Some(Interval { n: 1, mean, half_width: None }));
    assert_eq!(
        [1.0, 1_234_567.0, -0.012345, 0.5, 1.5e-9].map(alone),
        ["1", "1234567", "-0.01235", "0.5", "1.500e-9"]
    );
    assert_eq!(cell(&None), "-");
}

#[test]
fn a_wide_table_continues_below() {
    let rows: Vec<Row> = (0..40)
        .map(|n| row(&[("drive.seed", &format!("{}", 1000 + n)), ("a.b", "1")], &[f64::from(n)]))
        .collect();
    let text = of(&rows, &["a.b"], &["drive.seed"]).text();
    assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
    // 3 blocks: 19 columns of 4 + 2 beside a head of 1.
    assert_eq!(text.lines().filter(|line| line.starts_with("b ")).count(), 3, "{text}");
    assert!((1000..1040).all(|n| text.contains(&n.to_string())));
}

#[test]
fn repeats_alone_are_one_cell() {
    let table = of(&[row(&[], &[1.0, 1.0])], &[], &[]);
    assert!(table.text().ends_with("\n\nwrite_amplification\n              1 ± 0\n"), "{}", table.text());
}

/// Cells whose runs have problems are marked in every format, and a footnote says what the marks mean.
#[test]
fn cells_of_runs_with_problems_are_marked() {
    let mut rows = [row(&[("k", "1")], &[2.0]), row(&[("k", "2")], &[3.0])];
    let clean = of(&rows, &[], &[]);
    rows[1].problems = ["not_steady", "overloaded"].map(str::to_owned).into();
    let pivot = of(&rows, &[], &[]);
    for text in [pivot.text(), pivot.markdown(), pivot.latex("wa")] {
        assert!(text.contains("3 (os)") && !text.contains("2 ("), "{text}");
        assert!(text.contains("(o) overloaded, (s) not steady"), "{text}");
    }
    for text in [clean.text(), clean.markdown(), clean.latex("wa")] {
        assert!(!text.contains('(') || text.contains("tabular") && !text.contains("(o"), "{text}");
    }
}

/// What tells long names apart is not what a figure cuts; short ones stay.
#[test]
fn long_names_are_cut_where_they_are_alike() {
    let of = |names: &[&str]| apart(names.iter().map(|name| (*name).to_owned()).collect());
    let long = ["fiu-home1-sample.blkparse.zst", "fiu-home2-sample.blkparse.zst"];
    assert_eq!(of(&long), ["...home1...", "...home2..."]);
    assert_eq!(of(&["greedy", "fifo"]), ["greedy", "fifo"]);
    assert_eq!(of(&long[..1]), &long[..1]);
    assert_eq!(of(&["a name of a policy, longer", "a name of a policy"]), ["...policy, longer", "...policy"]);
    assert!(of(&[]).is_empty());
}

/// A label stands for a metric, a key or a value, wherever it is told.
#[test]
fn labels_stand_in_for_names() {
    let text = "[grid]\nftl.gc_victim.policy = [\"greedy\", \"fifo\"]\n[labels]\nwrite_amplification = \"WA\"\n\
                \"ftl.gc_victim.policy\" = \"Victims\"\ngreedy = \"Greedy\"\n";
    let sweep = super::super::grid::Sweep::parse(text, std::path::Path::new("s.toml")).unwrap();
    let rows = [("\"greedy\"", 2.0), ("\"fifo\"", 3.0)]
        .map(|(policy, at)| row(&[("ftl.gc_victim.policy", policy)], &[at]));
    let pivot = called(&rows, (&[], &[]), &sweep.labels);
    assert_eq!(pivot.text(), "WA\n\nVictims  WA\nGreedy    2\nfifo      3\n");
    let wrong = text.replace("greedy = \"Greedy\"", "gredy = \"Greedy\"");
    let error =
        super::super::grid::Sweep::parse(&wrong, std::path::Path::new("s.toml")).unwrap_err().to_string();
    assert!(error.contains("s.toml:6: labels.gredy") && error.contains("did you mean \"greedy\""), "{error}");
}

/// Seeds are paired, and a file that asks for what does not vary is told so.
#[test]
fn a_baseline_is_a_value_that_varies() {
    let parse = |baseline: &str| {
        let text = format!(
            "[sweep]\nbaseline = {{ {baseline} }}\n[grid]\nftl.gc_victim.policy = [\"greedy\", \"fifo\"]\n"
        );
        super::super::grid::Sweep::parse(&text, std::path::Path::new("s.toml"))
            .map_err(|error| error.to_string())
    };
    let sweep = parse("ftl.gc_victim.policy = 'greedy'").unwrap();
    assert_eq!(sweep.baseline.text(&sweep.labels), "ftl.gc_victim.policy = greedy");
    let wrong = [
        ("ftl.gc_victim.policy = \"gredy\"", "did you mean \"greedy\""),
        ("drive.seed = 3", "does not vary"),
    ];
    for (baseline, says) in wrong {
        let error = parse(baseline).unwrap_err();
        assert!(error.contains("s.toml:2: sweep.baseline.") && error.contains(says), "{error}");
    }
}
