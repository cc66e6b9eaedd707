//! Whether a result's numbers can be taken as they stand, as a light that is seen first, and what to do next.

use crate::result::RunResult;
use crate::result::problem::Problem;
use crate::result::problems::problems;
use maud::{Markup, html};
use std::borrow::Cow;

/// What to think of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Light {
    /// Nothing speaks against its numbers.
    Good,
    /// Something must be known to read them.
    Look,
    /// They are not those of the drive under this workload.
    Wrong,
}

/// Problems that make numbers worthless, not only hard to read.
const WRONG: [&str; 3] = ["incomplete", "failed_requests", "overloaded"];

/// What a result's problems are: also of one from before they were told.
pub(super) fn problems_of(result: &RunResult) -> Cow<'_, [Problem]> {
    if result.problems.is_empty() { Cow::Owned(problems(result)) } else { Cow::Borrowed(&result.problems) }
}

impl Light {
    pub fn of(result: &RunResult) -> Self {
        let problems = problems_of(result);
        let is_wrong = |problem: &Problem| WRONG.contains(&problem.name.as_str());
        match problems.iter().any(is_wrong) {
            true => Light::Wrong,
            false if !problems.is_empty() || !result.cautions().is_empty() => Light::Look,
            false => Light::Good,
        }
    }

    /// Of the names of problems alone, as tables tell them.
    pub fn of_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let of = |name: &str| if WRONG.contains(&name) { Light::Wrong } else { Light::Look };
        names.into_iter().map(of).max().unwrap_or(Light::Good)
    }

    pub fn name(self) -> &'static str {
        match self {
            Light::Good => "good",
            Light::Look => "look",
            Light::Wrong => "wrong",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Light::Good => "Good: these numbers can be used as they stand.",
            Light::Look => "Look: read this before you use the numbers.",
            Light::Wrong => "Wrong: do not use these numbers as they stand.",
        }
    }

    /// A lamp, whose shape tells as much as its colour.
    pub fn lamp(self) -> Markup {
        let shape = match self {
            Light::Good => html! { circle cx="10" cy="10" r="8" {} },
            Light::Look => html! { path d="M10 1.5 19 18H1Z" {} },
            Light::Wrong => html! { path d="M6.5 1.5h7l5 5v7l-5 5h-7l-5-5v-7Z" {} },
        };
        html! { svg.lamp.(self.name()) viewBox="0 0 20 20" role="img" aria-label=(self.name()) { (shape) } }
    }

    /// The lamp and its name.
    pub fn named(self) -> Markup {
        html! { span.light-name { (self.lamp()) " " (self.name()) } }
    }

    /// A box with the lamp, a title and more.
    fn boxed(self, title: &str, more: &Markup) -> Markup {
        html! {
            div.light.(self.name()) role="note" {
                (self.lamp())
                div { p.verdict { (title) } (more) }
            }
        }
    }
}

/// What to do about a problem, as far as it can be known.
pub(super) fn advice(name: &str, result: Option<&RunResult>) -> &'static str {
    let is_out_of_range = result.is_some_and(|of| of.failed_by_status.contains_key("lba_out_of_range"));
    let is_interrupted = result.is_some_and(|of| of.ended.starts_with("interrupted"));
    match name {
        "incomplete" if is_interrupted => "Run it again to the end; the numbers cover only what was served.",
        "incomplete" => {
            "Remove the cause and run it again; the numbers cover only what was served until then."
        }
        "failed_requests" if is_out_of_range => {
            "Use a drive that is large enough, or map the addresses onto this one (--address compact or wrap)."
        }
        "failed_requests" => "The workload card says how they failed. Remove the cause and run it again.",
        "overloaded" => {
            "Lower the request rate (generator: --rate; trace: --speed-up 1/2; job file: rate_iops), or keep a fixed \
             number in flight (--closed 32) to measure what the drive can do. Until then, only the throughput means \
             anything."
        }
        "several_regimes" => {
            "Read the charts over time instead of the means. To measure the last regime alone, leave out what comes \
             before it (--warm-up N)."
        }
        "not_steady" => {
            "Precondition the drive for longer (run.overwrite_times) before you judge write amplification or \
             the latency of writes."
        }
        _ => "",
    }
}

/// Why runs need a look that have problems, and those that only have remarks.
pub(super) const WITH_PROBLEMS: &str = "with problems";
pub(super) const WITH_REMARKS: &str = "with remarks only";

/// The light of several results together, with more; `why` tells how many need a look for each reason.
pub(super) fn of_lights(lights: &[Light], why: &[(usize, &str)], more: &Markup) -> Markup {
    let light = lights.iter().copied().max().unwrap_or(Light::Good);
    let (all, as_bad) = (lights.len(), lights.iter().filter(|other| **other == light).count());
    let title = match light {
        Light::Good => "Good: the numbers of all runs can be used as they stand.".to_owned(),
        Light::Look => {
            let why = why.iter().filter(|(number, _)| *number > 0);
            let why: Vec<String> = why.map(|(number, what)| format!("{number} {what}")).collect();
            let why = why.join(", ");
            format!("Look: {as_bad} of {all} runs need a closer look before you use their numbers: {why}.")
        }
        Light::Wrong => format!("Wrong: do not use the numbers of {as_bad} of {all} runs as they stand."),
    };
    light.boxed(&title, more)
}

/// The light of a result with its reasons, those that matter most first, and what to do next: that is said once of
/// several.
pub(super) fn of_result(result: &RunResult, is_alone: bool) -> Markup {
    let light = Light::of(result);
    let problems = problems_of(result);
    light.boxed(light.title(), &html! {
        @if light == Light::Good {
            @if is_alone { p {
                "Next: compare it with another run (" code { "wordline report A B" } "), or see below where the "
                "time went."
            } }
        } @else {
            ul {
                @for problem in problems.iter() {
                    li {
                        (prose(&sentence(&problem.text)))
                        @if is_alone { (to_do(advice(&problem.name, Some(result)))) }
                    }
                }
                @for caution in result.cautions().iter() {
                    li { (prose(&sentence(&caution.text)))
                        (to_do(&caution.to_do.as_deref().map(sentence).unwrap_or_default())) }
                }
            }
        }
    })
}

/// What to do, below what is wrong.
pub(super) fn to_do(advice: &str) -> Markup {
    html! { @if !advice.is_empty() { span.to-do { strong { "What to do: " } (prose(advice)) } } }
}

/// Text in which flags and numbers with their units stay in one piece.
pub(super) fn prose(text: &str) -> Markup {
    let mut pieces: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let is_number =
            |word: &String| word.trim_start_matches('(').starts_with(|c: char| c.is_ascii_digit());
        let is_unit = UNITS.contains(&word.trim_end_matches([',', '.', ';', ':', ')']));
        match pieces.last_mut() {
            Some(last) if is_unit && is_number(last) => last.push_str(&format!("\u{a0}{word}")),
            _ => pieces.push(word.to_owned()),
        }
    }
    html! {
        @for (at, piece) in pieces.iter().enumerate() {
            @if at > 0 { " " }
            @if piece.contains("--") { span.flag { (piece) } } @else { (piece) }
        }
    }
}

/// Units that stand behind a number.
const UNITS: [&str; 22] = [
    "%", "B", "KiB", "MiB", "GiB", "TiB", "kB", "MB", "GB", "TB", "B/s", "kB/s", "MB/s", "GB/s", "TB/s",
    "ns", "us", "ms", "s", "k", "M", "G",
];

/// A text as a sentence: with a capital, and a full stop.
pub(super) fn sentence(text: &str) -> String {
    let text = text.trim();
    let word = text.split_whitespace().next().unwrap_or_default();
    let end = if text.ends_with(['.', '!', '?']) || text.is_empty() { "" } else { "." };
    let mut letters = text.chars();
    match letters.next() {
        // A key or a flag is written in one way.
        Some(first) if !word.trim_end_matches([':', ',']).contains(['.', '_', '=']) => {
            format!("{}{}{end}", first.to_uppercase(), letters.as_str())
        }
        _ => format!("{text}{end}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lights_are_as_bad_as_the_worst_problem() {
        assert_eq!(Light::of_names([]), Light::Good);
        assert_eq!(Light::of_names(["not_steady"]), Light::Look);
        assert_eq!(Light::of_names(["not_steady", "overloaded"]), Light::Wrong);
        for (name, ..) in crate::result::problem::MARKS {
            assert!(!advice(name, None).is_empty(), "{name} without advice");
        }
    }

    #[test]
    fn sentences_begin_with_a_capital_and_end() {
        assert_eq!(sentence("the drive keeps up"), "The drive keeps up.");
        assert_eq!(sentence("Why?"), "Why?");
        assert_eq!(sentence("ftl.stream was trained"), "ftl.stream was trained.");
        assert_eq!(sentence(""), "");
    }
}
