//! What must not stand in any text of ours, code or not.

use super::lists::{
    MACHINE_PATHS, NUMBERED_SOURCES, REGISTRY_HOSTS, SHARED_ALLOWED_IN, SHARED_FOLDER, UNFINISHED,
};
use super::source::{Source, words};
use super::{RULES, Report, Tree};

pub fn unfinished(tree: &Tree, report: &mut Report) {
    for source in &tree.sources {
        for word in UNFINISHED {
            for at in words(&source.text, word) {
                report.at(source, at, format!("`{word}`"), "do it now, or open an issue and delete the mark");
            }
        }
    }
}

pub fn machine(tree: &Tree, report: &mut Report) {
    for source in &tree.sources {
        for path in MACHINE_PATHS {
            for at in starts_of(source, path) {
                let advice = "name it from the root of the checkout, or take it as an argument";
                report.at(source, at, format!("`{path}...` exists on one machine only"), advice);
            }
        }
    }
}

/// Where an absolute path starts: not in the middle of a longer path.
fn starts_of<'a>(source: &'a Source, path: &'a str) -> impl Iterator<Item = usize> + 'a {
    let goes_on = |c: char| c.is_alphanumeric() || "._-~/})*".contains(c);
    source.text.match_indices(path).map(|(at, _)| at).filter(move |&at| !source.text[..at].ends_with(goes_on))
}

/// Sources are cited by their keys, not by numbers that only their readers have.
pub fn reference(tree: &Tree, report: &mut Report) {
    for source in &tree.sources {
        for word in NUMBERED_SOURCES {
            let text = source.text.to_ascii_lowercase();
            let numbered = words(&text, word).filter(|&at| {
                let rest = text[at + word.len()..].strip_prefix(' ').unwrap_or_default();
                let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
                // A single random seed is a number too; a document's has three digits, the first of them nought.
                digits > 0 && (*word != NUMBERED_SOURCES[0] || digits > 1 && rest.starts_with('0'))
            });
            for at in numbered.collect::<Vec<_>>() {
                let advice = "cite a key of docs/references.md (\"redFTL section 4.3\") or a section of \
                              docs/calibration.md (\"calibration section 2.3\")";
                report.at(source, at, format!("`{word}` with a number of its own"), advice);
            }
        }
    }
}

pub fn registry(tree: &Tree, report: &mut Report) {
    for source in &tree.sources {
        for host in REGISTRY_HOSTS {
            for (at, _) in source.text.match_indices(host) {
                let advice = "say \"the package registry\"; the tools know where it is";
                report.at(source, at, format!("`{host}`"), advice);
            }
        }
    }
}

pub fn shared(tree: &Tree, report: &mut Report) {
    for source in &tree.sources {
        let is_test = source.path.contains(SHARED_ALLOWED_IN);
        if is_test && source.text.contains("skip") {
            continue;
        }
        for (at, _) in source.text.match_indices(SHARED_FOLDER) {
            let advice = if is_test {
                "a test must skip, and say so, where the folder is missing"
            } else {
                "copy what a user needs into the checkout, with its notice"
            };
            report.at(source, at, format!("`{SHARED_FOLDER}` is not part of the checkout"), advice);
        }
    }
}

pub fn exemption(tree: &Tree, report: &mut Report) {
    for source in tree.rust() {
        for exemption in source.exemptions() {
            let rule = &exemption.rule;
            if !RULES.iter().any(|known| known.name == rule) {
                let names: Vec<&str> = RULES.iter().map(|known| known.name).collect();
                let advice = format!("the rules are: {}", names.join(", "));
                report.whole(&source.path, exemption.line, format!("there is no rule `{rule}`"), advice);
            } else if !exemption.has_reason {
                let advice = format!("write why: `// tidy: allow({rule}): <reason>`");
                report.whole(&source.path, exemption.line, "an exemption without a reason", advice);
            }
        }
    }
}
