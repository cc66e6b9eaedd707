//! A page around its parts: of runs and papers, or of a sweep.

use super::claims::ClaimsOf;
use super::run::{BEGINS, Run};
use super::sections::{self, Section};
use super::sweep::Swept;
use super::{data, sweep};
use crate::report::compare::Comparison;
use crate::result::RunResult;
use maud::{Markup, PreEscaped, html};
use sha2::{Digest, Sha256};
use std::path::Path;

/// Charts for the page: uPlot by Leon Sorokin (MIT), as its authors have published it.
const UPLOT_JS: &str = include_str!("../../../vendor/uplot-1.6.32/uPlot.iife.min.js");
const UPLOT_CSS: &str = include_str!("../../../vendor/uplot-1.6.32/uPlot.min.css");
const UPLOT_LICENSE: &str = include_str!("../../../vendor/uplot-1.6.32/LICENSE");
const PAGE_JS: &str = include_str!("page.js");
const SWEEP_JS: &str = include_str!("sweep.js");
const PAGE_CSS: &str = include_str!("page.css");

/// What is said where nothing can be drawn.
const WITHOUT_SCRIPTS: &str = "The charts are drawn by scripts, which this browser does not run. Their numbers are in \
                               the tables (series.csv, blocks.csv and others) in the folder of the run, beside \
                               result.json; everything else is on this page.";

/// What is said where tables cannot be sorted.
const WITHOUT_SORTING: &str = "Tables are sorted and filtered by a script, which this browser does not run: they stand \
                               in the order of the sweep. The same rows are in runs.csv, in its folder.";

/// A page of one result.
pub(crate) fn of_result(result: &RunResult) -> String {
    page(vec![Run::of(result)], &[])
}

/// The page of these runs and claims.
pub(crate) fn page(runs: Vec<Run>, claims: &[ClaimsOf]) -> String {
    let given = runs.iter().map(|run| (run.from.clone(), run.result.clone()));
    let comparison = Comparison::new(given.collect());
    let runs = in_order(runs, &comparison);
    let data = data::text(&runs);
    let title = match (comparison.results(), claims) {
        ([only], _) => only.name.clone(),
        ([], [only]) => only.paper.clone(),
        ([], _) => "claims of papers".to_owned(),
        (many, _) => format!("{} runs", many.len()),
    };
    let parts = sections::parts(&runs, &comparison, claims);
    shell(&title, &parts, WITHOUT_SCRIPTS, &footer(&comparison), Some(data))
}

/// The page of a sweep, which will be in a folder.
pub(crate) fn page_of_sweep(swept: &Swept, beside: Option<&Path>) -> String {
    let footer = html! {
        h2 { "About this page" }
        p.soft {
            "Written by wordline " (crate::result::version()) ". It is one file, and needs no network. The exact "
            "numbers are in " (Swept::ROWS_NAME) ", in the folder of the sweep, and each run in the folder runs."
        }
    };
    let title = format!("Sweep {}", swept.name);
    shell(&title, &sweep::parts(swept, beside), WITHOUT_SORTING, &footer, None)
}

/// A page around its parts: with charts of some data, or with tables that are sorted.
pub(super) fn shell(
    title: &str,
    parts: &[Section],
    unscripted: &str,
    footer: &Markup,
    data: Option<String>,
) -> String {
    let scripts: &[&str] = if data.is_some() { &[UPLOT_JS, PAGE_JS] } else { &[SWEEP_JS] };
    let style = format!("{UPLOT_CSS}\n{PAGE_CSS}");
    let policy = format!(
        "default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
        scripts.iter().map(|script| source(script)).collect::<Vec<_>>().join(" "),
        source(&style)
    );
    let page = html! {
        meta http-equiv="Content-Security-Policy" content=(policy);
        meta name="viewport" content="width=device-width, initial-scale=1";
        title { "Wordline: " (title) }
        style { (PreEscaped(&style)) }
        body {
            header {
                h1 { (title) }
                nav aria-label="Sections" { @for part in parts { a href={"#" (part.anchor)} { (part.title) } " " } }
                noscript { p.light.look { (unscripted) } }
            }
            main { @for part in parts { (section(part)) } }
            footer { (footer) }
            @if let Some(data) = data { script id="data" type="application/json" { (PreEscaped(data)) } }
            @for script in scripts { script { (PreEscaped(script)) } }
        }
    };
    format!("{BEGINS}{}</html>\n", page.into_string().replacen("<body>", "</head><body>", 1))
}

/// The runs in the order in which a comparison tells them, with the names that it gives them.
fn in_order(runs: Vec<Run>, comparison: &Comparison) -> Vec<Run> {
    let mut places: Vec<(usize, Run)> =
        runs.into_iter().enumerate().map(|(given, run)| (comparison.place_of(given), run)).collect();
    places.sort_by_key(|(place, _)| *place);
    let named = |(place, run): (usize, Run)| {
        let name = comparison.results()[place].name.clone();
        Run { result: RunResult { name, ..run.result }, ..run }
    };
    places.into_iter().map(named).collect()
}

pub(super) fn section(part: &Section) -> Markup {
    html! {
        section id=(part.anchor) class=(if part.is_printed { "printed" } else { "screen" }) {
            h2 { (part.title) }
            (part.body)
        }
    }
}

fn footer(comparison: &Comparison) -> Markup {
    html! {
        h2 { "About this page" }
        p.soft {
            "Written by wordline " (crate::result::version()) ". It is one file, and needs no network. "
            "Large data sets are thinned for drawing; minima and maxima are kept. "
            "The exact numbers are in result.json and the tables beside it."
        }
        @for result in comparison.results() {
            p.soft { (result.name) ": version " (result.version) ", seed " (result.seed) ", events "
                span.mono { (result.event_hash) } ", configuration " span.mono { (result.config_hash) }
                ", workload " span.mono { (result.workload_hash) } }
        }
        details.screen {
            summary { "Licence of uPlot, which draws the charts" }
            p.soft { (UPLOT_LICENSE) }
        }
    }
}

/// A text as a page's policy names it (CSP level 3, section 2.3.1).
pub(super) fn source(text: &str) -> String {
    use base64::Engine;
    let hash = Sha256::digest(text.as_bytes());
    format!("'sha256-{}'", base64::engine::general_purpose::STANDARD.encode(hash))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::page::bars;

    /// What others have written is here as they have published it, or as our script has made it of that.
    #[test]
    fn vendored_files_are_what_they_were() {
        let of_uplot = include_str!("../../../vendor/uplot-1.6.32/SHA256SUMS");
        let of_font = include_str!("../../../vendor/plot-font/SHA256SUMS");
        let files: [(&str, &[u8], &str); 5] = [
            ("uPlot.iife.min.js", UPLOT_JS.as_bytes(), of_uplot),
            ("uPlot.min.css", UPLOT_CSS.as_bytes(), of_uplot),
            ("LICENSE", UPLOT_LICENSE.as_bytes(), of_uplot),
            ("WordlinePlot.ttf", include_bytes!("../../../vendor/plot-font/WordlinePlot.ttf"), of_font),
            ("LICENSE", include_bytes!("../../../vendor/plot-font/LICENSE"), of_font),
        ];
        for (name, bytes, sums) in files {
            let hash: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
            assert!(sums.contains(&format!("{hash}  {name}\n")), "{name} is {hash}");
        }
    }

    /// A colour's relative luminance (WCAG 2.2).
    fn luminance(colour: &str) -> f64 {
        let part = |at: usize| {
            let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).expect("a colour")) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
    }

    /// The contrast of two colours (WCAG 2.2).
    fn contrast(one: &str, other: &str) -> f64 {
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    /// The colours that a rule names.
    fn named(rule: &str) -> Vec<(&str, &str)> {
        let pairs = rule.split(['{', ';']).filter_map(|pair| pair.trim().split_once(": "));
        pairs.filter(|(name, colour)| name.starts_with("--") && colour.starts_with('#')).collect()
    }

    /// On light paper and on dark, whatever is drawn differs from the paper by 3:1, and text by 4.5:1 (WCAG 2.2, 1.4.3
    /// and 1.4.11).
    #[test]
    fn colours_differ_from_their_paper() {
        let rules = PAGE_CSS.split('}').filter(|rule| rule.contains("--paper:"));
        let rules: Vec<_> = rules.map(named).collect();
        assert_eq!(rules.len(), 2, "by day and by night");
        for rule in rules {
            let of = |name: &str| rule.iter().find(|(other, _)| *other == name).expect(name).1;
            for (paper, least) in [("--paper", 3.0), ("--pale", 3.0)] {
                for number in 0..bars::COLOURS {
                    let colour = of(&format!("--c{number}"));
                    let found = contrast(colour, of(paper));
                    assert!(found >= least, "{colour} on {}: {found:.2}", of(paper));
                }
                for text in ["--ink", "--soft", "--good", "--look", "--wrong"] {
                    let found = contrast(of(text), of(paper));
                    assert!(found >= 4.5, "{text}, {} on {}: {found:.2}", of(text), of(paper));
                }
            }
        }
        assert!(PAGE_JS.contains(&format!("const colours = {};", bars::COLOURS)));
    }
}
