//! Rules for all Rust files.

use super::lists::{
    LISTED_ELSEWHERE, MODULE_LISTS, PANICKING_SPAWNS, PRINTERS, PRINTING_ALLOWED, UNSAFE_FILES,
};
use super::source::{Source, group_end, words};
use super::{Report, Tree};

pub fn print(tree: &Tree, report: &mut Report) {
    let may_print =
        |path: &str| PRINTING_ALLOWED.iter().any(|part| path.starts_with(part) || path.contains(part));
    for source in tree.rust() {
        for at in source.code_words("dbg!") {
            report.at(source, at, "`dbg!`", "delete it");
        }
        if may_print(&source.path) {
            continue;
        }
        for printer in PRINTERS {
            for at in source.code_words(printer).filter(|&at| !source.is_test(at)) {
                let advice = "return text or take a writer; only crates/cli prints";
                report.at(source, at, format!("`{printer}` in a library"), advice);
            }
        }
    }
}

pub fn unsafe_code(tree: &Tree, report: &mut Report) {
    for source in tree.rust().filter(|source| !UNSAFE_FILES.contains(&source.path.as_str())) {
        for at in source.code_words("unsafe") {
            let advice = format!("find the safe way; unsafe code lives in {}", UNSAFE_FILES.join(", "));
            report.at(source, at, "`unsafe`", advice);
        }
    }
}

pub fn lint(tree: &Tree, report: &mut Report) {
    for source in tree.rust() {
        for at in ["#[allow(", "#![allow(", "#[expect(", "#![expect("]
            .iter()
            .flat_map(|mark| source.code.match_indices(mark).map(|(at, _)| at))
        {
            let end = group_end(&source.code, at, b'[', b']').unwrap_or(source.code.len());
            let has_reason = words(&source.code[at..end], "reason").next().is_some();
            if !has_reason && !has_comment(source, at) {
                let advice =
                    "say why beside it: `reason = \"...\"`, or a comment on this line or the one above";
                report.at(source, at, "a lint is switched off without a reason", advice);
            }
        }
    }
}

/// Is there a comment, not of documentation, on the line of `offset` or the line above?
fn has_comment(source: &Source, offset: usize) -> bool {
    let line = source.line_of(offset);
    let lines = source.comments.lines().skip(line.saturating_sub(2)).take(if line > 1 { 2 } else { 1 });
    lines.map(str::trim).any(|comment| {
        comment.starts_with("//")
            && !comment.starts_with("///")
            && !comment.starts_with("//!")
            && comment.len() > 5
    })
}

pub fn unwrap(tree: &Tree, report: &mut Report) {
    for source in tree.rust() {
        for (at, _) in source.code.match_indices(".unwrap()").filter(|(at, _)| !source.is_test(*at)) {
            let advice = "bad input is an error with `?`; what cannot happen is `expect(\"why it cannot\")`";
            report.at(source, at, "`unwrap` outside tests", advice);
        }
    }
}

pub fn spawn(tree: &Tree, report: &mut Report) {
    for source in
        tree.rust().filter(|source| source.path.starts_with("crates/") && source.path.contains("/src/"))
    {
        for call in PANICKING_SPAWNS {
            for (at, _) in source.code.match_indices(call).filter(|(at, _)| !source.is_test(*at)) {
                let advice =
                    "it panics where the system has no more threads; `thread::Builder` returns an error";
                report.at(source, at, format!("`{call})` outside tests"), advice);
            }
        }
    }
}

/// A file in `src` that no module declares is not compiled, and nobody notices.
pub fn orphan(tree: &Tree, report: &mut Report) {
    for source in
        tree.rust().filter(|source| source.path.contains("/src/") && !source.path.contains("/src/bin/"))
    {
        let is_root = ["/src/lib.rs", "/src/main.rs"].iter().any(|root| source.path.ends_with(root));
        if !is_root && !is_declared(tree, source) {
            let advice =
                format!("declare `mod {};` in the module above it, or delete it", module_name(source));
            report.whole(&source.path, 1, "no module declares this file", advice);
        }
    }
}

fn module_name(source: &Source) -> &str {
    match source.stem() {
        "mod" => source.folder().rsplit('/').next().unwrap_or(""),
        stem => stem,
    }
}

fn is_declared(tree: &Tree, source: &Source) -> bool {
    let name = module_name(source);
    let folder = source.folder();
    let above =
        if source.stem() == "mod" { folder.rsplit_once('/').map_or("", |(above, _)| above) } else { folder };
    let parents = [
        format!("{above}/mod.rs"),
        format!("{above}.rs"),
        format!("{above}/lib.rs"),
        format!("{above}/main.rs"),
    ];
    if is_listed_elsewhere(tree, above, name) {
        return true;
    }
    parents.iter().filter_map(|path| tree.get(path)).any(|parent| {
        let declaration = format!("mod {name}");
        let by_mod =
            parent.code_words(&declaration).any(|at| parent.code[at + declaration.len()..].starts_with(';'));
        by_mod || MODULE_LISTS.iter().any(|list| is_listed(&parent.code, list, name))
    })
}

/// Does the list of techniques declare the module, or the policy, of that name in a folder?
pub fn is_listed_elsewhere(tree: &Tree, folder: &str, name: &str) -> bool {
    let (listed, list, called) = LISTED_ELSEWHERE;
    format!("{folder}/").starts_with(listed)
        && tree.get(list).is_some_and(|list| is_listed(&list.code, called, name))
}

/// Does a call of the macro `list` have an entry `name: Type`?
pub fn is_listed(code: &str, list: &str, name: &str) -> bool {
    words(code, list).any(|at| {
        let body = &code[at..group_end(code, at, b'{', b'}').unwrap_or(code.len())];
        words(body, name).any(|entry| {
            let after = body[entry + name.len()..].trim_start();
            after.starts_with(':') && !after.starts_with("::")
        })
    })
}
