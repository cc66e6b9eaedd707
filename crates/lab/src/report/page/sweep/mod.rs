//! The page of a sweep: what varied, what was measured of each point and each run, and which numbers not to believe.

mod labels;
mod read;
mod rows;

pub(crate) use read::{NoSweep, Swept};

use super::cards;
use super::light::{Light, WITH_PROBLEMS, WITH_REMARKS, advice, of_lights, prose, sentence, to_do};
use super::sections::Section;
use super::tables::{Head, Line, Set, table};
use crate::result::problem::MARKS;
use base64::Engine;
use maud::{Markup, html};
use rows::{Metric, Point};
use std::path::Path;

/// All parts of the page; pages of runs are linked from `beside`, the folder that the page will be in.
pub(super) fn parts(swept: &Swept, beside: Option<&Path>) -> Vec<Section> {
    let metrics = rows::metrics(swept);
    let points = rows::points(swept);
    let mut all = vec![Section::new("summary", "Summary", summary(swept, &metrics, &points))];
    if points.len() < swept.table.rows() {
        all.push(Section::new("points", "Points", rows::of_points(swept, &metrics, &points)));
    }
    all.push(Section::new("runs", "Runs", rows::of_runs(swept, &metrics, beside)));
    if !swept.figures.is_empty() {
        all.push(Section::new("figures", "Figures", figures(swept)));
    }
    if !swept.told.is_empty() {
        all.push(Section::new("problems", "Problems, run by run", told(swept)));
    }
    if !swept.examples.is_empty() || !swept.file.is_empty() {
        all.push(Section::on_screen("same", "Fixed parameters", same(swept)));
    }
    all
}

fn summary(swept: &Swept, metrics: &[Metric], points: &[Point]) -> Markup {
    let runs = swept.table.rows();
    let lights: Vec<Light> = (0..runs).map(|row| rows::wrongs(swept, row).0).collect();
    let remarked: Vec<String> =
        (0..runs).map(|row| swept.cautions(row)).filter(|cautions| !cautions.is_empty()).collect();
    let with = |status: &str| (0..runs).filter(|row| swept.word("status", *row) == status).count();
    let (failed, missing) = (with("failed"), with("missing"));
    let problems = (0..runs).filter(|row| !swept.problems(*row).is_empty()).count();
    let not_good = lights.iter().filter(|light| **light != Light::Good).count();
    let remarks = not_good.saturating_sub(problems + failed + missing);
    let why = [(problems, WITH_PROBLEMS), (remarks, WITH_REMARKS), (missing, "not run yet")];
    let has = |name: &str| (0..runs).filter(|row| swept.problems(*row).iter().any(|it| it == name)).count();
    let found: Vec<_> =
        MARKS.iter().map(|(name, _, what)| (*name, *what, has(name))).filter(|(.., n)| *n > 0).collect();
    html! {
        (of_lights(&lights, &why, &html! {
            ul {
                @if failed > 0 {
                    li { "Failed: " (failed) " of " (runs) " runs, whose numbers end early if there are any." }
                }
                @if missing > 0 {
                    li { "Not run yet: " (missing) " of " (runs) " runs. The same command, "
                        code { "wordline sweep" } ", goes on where it stopped." }
                }
                @for (name, what, number) in &found {
                    li { (sentence(&format!("{what}: {number} of {runs} runs"))) (to_do(advice(name, None))) }
                }
                @if let Some(remark) = remarked.first() {
                    li { "With remarks that change how to read their numbers: " (remarked.len()) " of " (runs)
                        " runs. The first of them: " (prose(&sentence(remark))) }
                }
                @if !swept.knows_problems {
                    li { "The sweep is from an earlier version, which did not tell which runs were overloaded or not \
                          steady." (to_do("Run the sweep again with this version before you use its numbers.")) }
                }
            }
        }))
        p.answer { (prose(&answer(swept, points))) }
        (varied(swept))
        (extremes(swept, metrics, points))
    }
}

/// What was run, in a sentence.
fn answer(swept: &Swept, points: &[Point]) -> String {
    let names: Vec<String> = swept.varied.iter().map(|key| rows::called(swept, key)).collect();
    let what = match names.as_slice() {
        [] => "nothing varies but the seed".to_owned(),
        [only] => format!("{only} varies"),
        [rest @ .., last] => format!("{} and {last} vary", rest.join(", ")),
    };
    let (runs, all) = (swept.table.rows(), points.len());
    let points = counted(all, "point");
    let how = if all > 0 && runs > all && runs.is_multiple_of(all) {
        format!("{points} \u{d7} {} repeats", runs / all)
    } else {
        points
    };
    format!("{}: {how}; {what}.", counted(runs, "run"))
}

/// So many of something.
fn counted(number: usize, what: &str) -> String {
    crate::base::number::of_things(number as u64, what)
}

/// Every key that varies, with its values.
fn varied(swept: &Swept) -> Markup {
    let line = |key: &String| {
        let mut values: Vec<String> = Vec::new();
        for row in 0..swept.table.rows() {
            let value = swept.shown(key, row);
            if !values.contains(&value) {
                values.push(value);
            }
        }
        let more = values.len().saturating_sub(VALUES);
        let mut text = values[..values.len().min(VALUES)].join(", ");
        if more > 0 {
            text.push_str(&format!(" and {more} more"));
        }
        let name = swept.labels.get(key).unwrap_or(key);
        Line::new(html! { (name) }, vec![html! { (values.len()) }, html! { (text) }])
    };
    let heads = [("parameter", Set::Key), ("number of values", Set::Number), ("values", Set::Text)]
        .map(|(name, set)| Head(name.into(), set));
    html! { @if !swept.varied.is_empty() {
        (table("", &heads, &swept.varied.iter().map(line).collect::<Vec<_>>()))
    } }
}

/// Values of a key that are listed.
const VALUES: usize = 12;

/// Where each metric is lowest and highest.
fn extremes(swept: &Swept, metrics: &[Metric], points: &[Point]) -> Markup {
    let line = |metric: &Metric| {
        let means = points.iter().filter_map(|point| Some((point, point.interval(metric)?.mean)));
        let least = means.clone().min_by(|a, b| a.1.total_cmp(&b.1))?;
        let most = means.max_by(|a, b| a.1.total_cmp(&b.1))?;
        let cells = [least, most].into_iter().flat_map(|(point, mean)| {
            [html! { (metric.shown(mean)) }, html! { (point.lamp()) " " (point.label(swept)) }]
        });
        Some(Line::new(html! { (metric.name) }, cells.collect()))
    };
    let lines: Vec<Line> = metrics.iter().filter_map(line).collect();
    let heads = ["metric", "min", "at", "max", "at"];
    let heads: Vec<Head> = heads
        .iter()
        .enumerate()
        .map(|(at, name)| Head((*name).to_owned(), if at % 2 == 1 { Set::Number } else { Set::Text }))
        .collect();
    html! { @if points.len() > 1 && !lines.is_empty() {
        h3 { "Extremes of each metric" }
        (table("", &heads, &lines))
    } }
}

/// The figures that the sweep has made, as pictures within the page.
fn figures(swept: &Swept) -> Markup {
    let encoded = |svg: &[u8]| base64::engine::general_purpose::STANDARD.encode(svg);
    html! {
        div.figures {
            @for figure in &swept.figures {
                @let name = rows::figure_name(swept, &figure.stem);
                figure {
                    img src={ "data:image/svg+xml;base64," (encoded(&figure.svg)) } alt={ "Figure: " (name) };
                    figcaption { (name) }
                }
            }
        }
        @if swept.figures_left > 0 {
            p.soft { (counted(swept.figures_left, "figure")) " more in the folder of the sweep." }
        }
    }
}

/// What is wrong with each run, in words.
fn told(swept: &Swept) -> Markup {
    let line = |told: &read::Told| {
        let text: Vec<String> = told.problems.iter().map(|problem| sentence(&problem.text)).collect();
        let names = told.problems.iter().map(|problem| problem.name.as_str());
        Line::new(
            html! { (told.name) },
            vec![html! { (told.run) }, Light::of_names(names).named(), html! { (prose(&text.join(" "))) }],
        )
    };
    let heads = [("point", Set::Text), ("run", Set::Key), ("light", Set::Text), ("why", Set::Text)];
    let heads = heads.map(|(name, set)| Head(name.to_owned(), set));
    html! { details {
        summary { (counted(swept.told.len(), "run")) " with problems; remarks stand in the table of runs" }
        (table("", &heads, &swept.told.iter().map(line).collect::<Vec<_>>()))
    } }
}

/// What all runs have in common.
fn same(swept: &Swept) -> Markup {
    html! {
        @if let Some(cards) = cards::in_common(&swept.examples) {
            p.soft { "What is the same in all runs; what varies, and what follows from it, is left out." }
            (cards)
        }
        @if !swept.file.is_empty() {
            details {
                summary { "The sweep's own file, " code { (Swept::FILE_NAME) } }
                pre { (swept.file) }
            }
        }
    }
}
