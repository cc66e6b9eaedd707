//! Sentences of papers: each claim has one, and it is in the document.

use crate::reproduce::{CLAIMS, EXPERIMENT, all, paper, top};
use lab::reproduce::Paper;
use std::path::PathBuf;

#[test]
fn every_claim_of_a_paper_has_its_sentence() {
    let mut sentences = 0;
    for paper in all() {
        paper.check_sentences().unwrap_or_else(|error| panic!("{error}"));
        sentences += paper.sentences.map_or(0, |sentences| sentences.all.len());
    }
    assert!(sentences > 100, "{sentences}");
}

/// Letters, digits, `.` and `%` alone: case, marks, hyphens, line breaks and LaTeX are the extraction's.
fn levelled(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['\\', '<']) {
        plain.push_str(&rest[..at]);
        let from = &rest[at + 1..];
        rest = match rest.as_bytes()[at] {
            b'\\' => from.trim_start_matches(|c: char| c.is_ascii_alphabetic()),
            _ => {
                let tag = ["sub>", "/sub>", "sup>", "/sup>"].into_iter().find(|tag| from.starts_with(tag));
                tag.map_or(from, |tag| &from[tag.len()..])
            }
        };
    }
    plain.push_str(rest);
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, '.' | '%');
    plain.to_lowercase().chars().filter(kept).collect()
}

/// The documents are not the project's to publish: where they are not beside it, nothing is compared.
#[test]
fn sentences_are_in_the_documents() {
    let folder = top().join("../shared/papers");
    let Ok(list) = std::fs::read_dir(&folder) else {
        println!("skipped: {} is not there", folder.display());
        return;
    };
    let files: Vec<PathBuf> = list.map(|entry| entry.unwrap().path()).collect();
    for paper in all() {
        let Some(sentences) = paper.sentences else { continue };
        let is_it = |path: &&PathBuf| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&sentences.document))
        };
        let file = files.iter().find(is_it).unwrap_or_else(|| panic!("{}: its document", paper.name));
        let document = levelled(&std::fs::read_to_string(file).unwrap());
        for sentence in &sentences.all {
            let mut rest = document.as_str();
            for part in sentence.text.split("...") {
                let part = levelled(part);
                let part = part.trim_matches('.');
                let at = rest.find(part);
                let at =
                    at.unwrap_or_else(|| panic!("papers/{}: not in {}: {part}", paper.name, file.display()));
                rest = &rest[at + part.len()..];
            }
        }
    }
}

#[test]
fn a_claim_without_its_sentence_is_refused() {
    let load = |name: &str, sentences: Option<&str>| {
        let folder = paper(name, EXPERIMENT, CLAIMS);
        if let Some(text) = sentences {
            std::fs::write(folder.join("sentences.toml"), text).unwrap();
        }
        Paper::load(&folder).and_then(|paper| paper.check_sentences())
    };
    let with = |claims: &str, from: &str| {
        let text = "late copies 75% less than early";
        format!(
            "document = \"000\"\n[[sentence]]\nwhere = \"1\"\ntext = {text:?}\nclaims = {claims}\n{from}\n"
        )
    };
    let cases = [
        (None, "no sentence makes claim \"fewer\""),
        (Some(with("[\"fewer\"]", "")), "no sentence makes claim \"order\""),
        (Some(with("[\"fwer\"]", "")), "did you mean \"fewer\""),
        (Some(with("[\"fewer\", \"order\", \"elsewhere\"]", "")), "claim \"elsewhere\" claims 1"),
        (Some(with("[\"fewer\"]", "from = \"eyes\"")), "text, figure, computed, table"),
        (Some(with("[]", "")), "studies that it fixes"),
        (Some(with("[\"*\"]", "studies = [\"copis\"]")), "did you mean \"copies\""),
    ];
    for (sentences, says) in cases {
        let error = load("sentences", sentences.as_deref()).expect_err(says).to_string();
        assert!(error.contains(says), "{says} in:\n{error}");
    }
    load("sentences", Some(&with("[\"*\"]", "from = \"figure\""))).unwrap_or_else(|error| panic!("{error}"));
}
