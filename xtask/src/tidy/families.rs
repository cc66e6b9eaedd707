//! Policy families: the name in the config, the file's stem, `NAME` and the line in the list are one name.

use super::lists::{CORE, MEMBER_CONSTANTS};
use super::rust::is_listed_elsewhere;
use super::source::{Source, group_end, is_name, name_at, words};
use super::{Report, Tree};
use std::ops::Range;

/// What a `family!` call in a `mod.rs` says.
pub struct Family {
    at: usize,
    path: Option<String>,
    default: Option<String>,
    members: Vec<(String, usize)>,
}

impl Family {
    /// Reads the family that a file declares, if any.
    pub fn read(source: &Source) -> Option<Family> {
        if source.stem() != "mod" {
            return None;
        }
        let at = source.code_words("family!").find(|&at| !source.is_test(at))?;
        let end = group_end(&source.code, at, b'{', b'}')?;
        let body = &source.code[at..end];
        let after = |word: &str| words(body, word).next().map(|found| at + found + word.len());
        // What stands for a policy that is given is a member like the others, but for the list.
        let named = after("named").map(|from| (name_at(&source.code, from).to_owned(), from));
        Some(Family {
            at,
            path: after("path").and_then(|from| string_at(source, from)),
            default: after("default").map(|from| name_at(&source.code, from).to_owned()),
            members: after("members")
                .and_then(|from| Some(from..group_end(&source.code, from, b'{', b'}')?))
                .map_or(Vec::new(), |span| members(&source.code, span))
                .into_iter()
                .chain(named)
                .collect(),
        })
    }

    /// Is `name` a member?
    pub fn has(&self, name: &str) -> bool {
        self.members.iter().any(|(member, _)| member == name)
    }
}

/// The string literal that starts behind `from`.
fn string_at(source: &Source, from: usize) -> Option<String> {
    let open = from + source.code[from..].find('"')? + 1;
    let close = open + source.code[open..].find('"')?;
    Some(source.text[open..close].to_owned())
}

/// The names before the colons of a list such as `{ greedy: Greedy, fifo: Fifo }`.
fn members(code: &str, span: Range<usize>) -> Vec<(String, usize)> {
    let list = &code[span.clone()];
    let colons = list.match_indices(':').map(|(at, _)| list[..at].trim_end());
    colons
        .map(|head| {
            let start = head.trim_end_matches(is_name).len();
            (head[start..].to_owned(), span.start + start)
        })
        .collect()
}

pub fn family(tree: &Tree, report: &mut Report) {
    for source in tree.core() {
        if let Some(family) = Family::read(source) {
            check_head(source, &family, report);
            for (name, at) in &family.members {
                let path = format!("{}/{name}.rs", source.folder());
                match tree.get(&path) {
                    Some(member) => check_member(member, name, report),
                    None => {
                        let advice = format!("a member is a file of its own: {path}");
                        report.at(source, *at, format!("member `{name}` has no file"), advice);
                    }
                }
            }
        } else if let Some(at) = source.code_words("pub const NAME: &str").find(|&at| !source.is_test(at)) {
            // What a technique carries out is a member of a family elsewhere.
            if is_listed_elsewhere(tree, source.folder(), source.stem()) {
                check_member(source, source.stem(), report);
            } else {
                check_listed(tree, source, at, report);
            }
        }
    }
}

fn check_head(source: &Source, family: &Family, report: &mut Report) {
    let place = source.folder().strip_prefix(CORE).unwrap_or(source.folder());
    if family.path.as_deref() != Some(place) {
        let found = format!(
            "the family's path is {:?}, its folder is {place:?}",
            family.path.as_deref().unwrap_or("")
        );
        report.at(source, family.at, found, format!("write `path \"{place}\"`"));
    }
    if family.members.is_empty() {
        report.at(source, family.at, "no members found", "write `members { name: Variant, ... }`");
    }
    let default = family.default.as_deref().unwrap_or("");
    if !family.has(default) {
        report.at(
            source,
            family.at,
            format!("the default `{default}` is no member"),
            "name a member as default",
        );
    }
}

fn check_member(member: &Source, name: &str, report: &mut Report) {
    let declared = member.code_words("pub const NAME: &str").next();
    match declared.and_then(|at| string_at(member, at)) {
        Some(found) if found == name => {}
        Some(found) => {
            let at = declared.unwrap_or(0);
            report.at(member, at, format!("NAME is {found:?} in {name}.rs"), format!("write {name:?}"));
        }
        None => {
            report.at(
                member,
                0,
                "a policy without NAME",
                format!("write `pub const NAME: &str = {name:?};`"),
            );
        }
    }
    for constant in MEMBER_CONSTANTS {
        let declaration = format!("pub const {constant}: &str");
        if member.code_words(&declaration).next().is_none() {
            let advice = format!("write `{declaration} = \"...\";`: `wordline policies` shows it");
            report.at(member, 0, format!("a policy without {constant}"), advice);
        }
    }
    if !member.text.starts_with("//!") {
        let advice = "open with what it is in two sentences, its source, parameters and memory cost";
        report.at(member, 0, "a policy without a description", advice);
    }
}

/// A file with a policy's NAME that is in no family's list.
fn check_listed(tree: &Tree, source: &Source, at: usize, report: &mut Report) {
    let list = format!("{}/mod.rs", source.folder());
    let family = tree.get(&list).and_then(Family::read);
    if !family.is_some_and(|family| family.has(source.stem())) {
        let advice = format!("add `{}: Variant` to `members` in {list}", source.stem());
        report.at(source, at, "a policy that is in no family's list", advice);
    }
}
