use super::*;

fn row(varied: &[(&str, &str)], values: &[f64]) -> Row {
    let varied = varied.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    Row { varied, values: [("write_amplification".to_owned(), values.to_vec())].into(), ..Row::default() }
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

fn pivot(rows: &[&str], columns: &[&str]) -> Pivot {
    Pivot::new(&self::rows(), &keys(rows), &keys(columns), "write_amplification")
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
    let columns = |rows: &[Row]| Pivot::new(rows, &[], &[], "write_amplification").columns;
    let (mut holed, mut full) = (rows(), rows());
    full.truncate(4);
    assert_eq!(columns(&full), ["drive.spare"]);
    assert!(columns(&holed).is_empty());
    // Zipped keys: a diagonal is no table.
    holed = [("1", "x"), ("2", "y")].map(|(a, b)| row(&[("a", a), ("b", b)], &[1.0])).to_vec();
    assert!(columns(&holed).is_empty());
    let text = Pivot::new(&holed, &[], &[], "write_amplification").text();
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
    let latex = table.latex();
    let expected = "\
\\begin{tabular}{lrrrr}
\\toprule
& \\multicolumn{4}{c}{ftl.gc\\_victim.policy, drive.spare} \\\\
\\cmidrule(lr){2-5}
path & greedy, 7 & greedy, 28 & fifo, 7 & fifo, 28 \\\\
\\midrule
a\\_1.csv & 11.00 $\\pm$ 0.13 & 1.00 $\\pm$ 0.13 & 11.50 $\\pm$ 0.13 & 1.50 $\\pm$ 0.13 \\\\
";
    assert!(latex.contains(expected), "{latex}");
    assert!(latex.ends_with(" & - \\\\\n\\bottomrule\n\\end{tabular}\n"), "{latex}");
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
    let text = Pivot::new(&rows, &keys(&["a.b"]), &keys(&["drive.seed"]), "write_amplification").text();
    assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
    // 3 blocks: 19 columns of 4 + 2 beside a head of 1.
    assert_eq!(text.lines().filter(|line| line.starts_with("b ")).count(), 3, "{text}");
    assert!((1000..1040).all(|n| text.contains(&n.to_string())));
}

#[test]
fn repeats_alone_are_one_cell() {
    let table = Pivot::new(&[row(&[], &[1.0, 1.0])], &[], &[], "write_amplification");
    assert!(table.text().ends_with("\n\nwrite_amplification\n              1 ± 0\n"), "{}", table.text());
}

/// Cells whose runs have problems are marked in every format, and a footnote says what the marks mean.
#[test]
fn cells_of_runs_with_problems_are_marked() {
    let mut rows = [row(&[("k", "1")], &[2.0]), row(&[("k", "2")], &[3.0])];
    let clean = Pivot::new(&rows, &[], &[], "write_amplification");
    rows[1].problems = ["not_steady", "overloaded"].map(str::to_owned).into();
    let pivot = Pivot::new(&rows, &[], &[], "write_amplification");
    for text in [pivot.text(), pivot.markdown(), pivot.latex()] {
        assert!(text.contains("3 (os)") && !text.contains("2 ("), "{text}");
        assert!(text.contains("(o) overloaded, (s) not steady"), "{text}");
    }
    for text in [clean.text(), clean.markdown(), clean.latex()] {
        assert!(!text.contains('(') || text.contains("tabular") && !text.contains("(o"), "{text}");
    }
}
