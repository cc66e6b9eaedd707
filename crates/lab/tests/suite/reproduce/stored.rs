//! What is stored of papers: verdicts and counts follow from claims and numbers, tags from what was chosen by them.

use crate::reproduce::{all, top};
use lab::reproduce::{Basis, METRICS};
use ssd::config::presets::{self, Group};

/// `wordline reproduce --judge` writes them.
#[test]
fn stored_verdicts_and_counts_follow_from_claims_and_numbers() {
    for paper in all() {
        for name in ["results.toml", "expected_quick.toml"] {
            let found = paper.judged_anew(name).unwrap_or_else(|error| panic!("{}: {error}", paper.name));
            let found = found.unwrap();
            let differs = found.stored.lines().zip(found.anew.lines()).find(|(stored, anew)| stored != anew);
            assert!(found.stored == found.anew, "papers/{}/{name} is stale: {differs:?}", paper.name);
        }
    }
}

/// Whether a line of TOML sets a key.
fn sets(line: &str, key: &str) -> bool {
    line.split_once(" = ").is_some_and(|(name, _)| name.trim() == key)
}

/// From what was chosen to the claims that hang on it: it is set where it is said to be, a preset does not call it
/// measured or assumed, and no claim by which it was chosen is evidence.
#[test]
fn a_tag_follows_from_what_was_chosen_by_a_claim() {
    let mut links = 0;
    for paper in all() {
        for constant in &paper.constants {
            let what = format!("papers/{}: {} of {}", paper.name, constant.key, constant.file);
            let is_preset = constant.file.starts_with("presets/");
            let folder = if is_preset { top() } else { paper.folder.clone() };
            let text = std::fs::read_to_string(folder.join(&constant.file));
            let text = text.unwrap_or_else(|error| panic!("{what}: {error}"));
            let is_fit = |line: &str| line.contains("[F]") || line.contains("[D]");
            let set = text.lines().filter(|line| sets(line, &constant.key)).collect::<Vec<_>>();
            assert!(!set.is_empty(), "{what}: it is not set there");
            assert!(!is_preset || set.iter().any(|line| is_fit(line)), "{what}: {set:?}");
            for id in &constant.claims {
                let claim = paper.claims.iter().find(|claim| claim.id == *id).unwrap();
                assert_ne!(claim.basis, Basis::Evidence, "{what}: {id}");
                links += 1;
            }
        }
    }
    assert!(links > 50, "{links} claims hang on what was chosen by them");
}

/// What is tagged as fitted in a paper's own files, or in the chips and drives that are there for papers, is among the
/// constants of a paper.
#[test]
fn what_is_tagged_as_fitted_is_a_constant_of_a_paper() {
    let papers = all();
    let has = |file: &str, key: &str| {
        papers.iter().flat_map(|paper| &paper.constants).any(|it| it.file == file && it.key == key)
    };
    let folders = ["presets/nand", "presets/drive"].map(|name| (top().join(name), format!("{name}/")));
    let own = papers.iter().map(|paper| (paper.folder.clone(), String::new()));
    for (folder, prefix) in folders.into_iter().chain(own) {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            // The default drive is fitted to drives that one can buy (`benches/real`), these to themselves.
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            let is_bought = presets::drive(&name).is_some_and(|drive| drive.group() == Group::Bought);
            if name == "client_tlc" || is_bought || path.extension().is_none_or(|end| end != "toml") {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let file = format!("{prefix}{}", path.file_name().unwrap().to_string_lossy());
            for line in text.lines() {
                let Some((key, said)) = line.split_once(" = ") else { continue };
                let tag = said.split('#').nth(1).and_then(|said| said.split_once('['));
                if tag.is_some_and(|(_, tag)| tag.starts_with("F]")) {
                    assert!(has(&file, key.trim()), "{file}: {line}");
                }
            }
        }
    }
}

#[test]
fn no_metric_is_the_sum_of_a_histogram() {
    let names = ["flash.retries", "flash.suspends_per_erase", "ftl.victims_by_live"];
    assert!(!METRICS.iter().any(|metric| names.contains(&metric.name)));
    assert!(METRICS.iter().any(|metric| metric.name == "flash.suspends"));
}
