//! The module paths that a file names, groups taken apart: `use std::{fs, time::Instant}` names two.

use super::source::{Source, is_name, words};

/// A path and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedPath {
    pub path: String,
    pub offset: usize,
}

/// All paths of two or more parts that a file names outside tests, in `use` or in passing; those that begin with
/// `super` are resolved against the file's place in the crate.
pub fn named_paths(source: &Source) -> Vec<NamedPath> {
    let mut found = Vec::new();
    let code = source.code.as_str();
    for at in path_starts(code).filter(|&at| !source.is_test(at)) {
        expand(code, at, "", &mut found);
    }
    for named in &mut found {
        named.path = resolve(&module_of(&source.path), &named.path);
    }
    found.retain(|named| named.path.contains("::"));
    found
}

/// The names that a module passes on (`pub use`), as paths of its own, with the paths that they stand for.
pub fn passed_on(source: &Source) -> Vec<(String, String)> {
    let code = source.code.as_str();
    let module = module_of(&source.path);
    let mut passed = Vec::new();
    for at in words(code, "use").filter(|&at| !source.is_test(at)) {
        let line = code[..at].rfind([';', '{', '}']).map_or(0, |end| end + 1);
        if !code[line..at].contains("pub") {
            continue;
        }
        let mut found = Vec::new();
        expand(code, at + "use".len(), "", &mut found);
        for named in found {
            let first = named.path.split("::").next().unwrap_or_default();
            // A path that begins with a child of the module, as `pub use op::Cause` does.
            let path = match first {
                "crate" | "self" | "super" => resolve(&module, &named.path),
                _ => format!("{}::{}", module.join("::"), named.path),
            };
            if let Some((_, name)) = named.path.rsplit_once("::") {
                passed.push((format!("{}::{name}", module.join("::")), path));
            }
        }
    }
    passed
}

/// Does `path` name `module` or something in it?
pub fn is_in(path: &str, module: &str) -> bool {
    path.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// Where a name begins that is followed by `::` and does not follow one.
fn path_starts(code: &str) -> impl Iterator<Item = usize> + '_ {
    code.match_indices("::").filter_map(|(at, _)| {
        let head = code[..at].trim_end_matches(is_name);
        let start = head.len();
        (start < at && !head.ends_with("::")).then_some(start)
    })
}

/// Adds the path at `from`, or each of the group's paths, behind `prefix`; returns where it ended.
fn expand(code: &str, from: usize, prefix: &str, found: &mut Vec<NamedPath>) -> usize {
    let mut at = from;
    let mut path = prefix.to_owned();
    loop {
        at += code[at..].len() - code[at..].trim_start().len();
        let rest = &code[at..];
        if rest.starts_with('{') {
            return expand_group(code, at, &path, found);
        }
        let length = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        if length > 0 {
            path = if path.is_empty() {
                rest[..length].to_owned()
            } else {
                format!("{path}::{}", &rest[..length])
            };
            at += length;
        }
        if code[at..].starts_with("::") {
            at += 2;
            continue;
        }
        found.push(NamedPath { path, offset: from });
        return at;
    }
}

/// Takes the group that opens at `from` apart.
fn expand_group(code: &str, from: usize, prefix: &str, found: &mut Vec<NamedPath>) -> usize {
    let mut at = from + 1;
    while let Some(next) = code[at..].find(|c: char| is_name(c) || c == '}').map(|next| at + next) {
        if code[next..].starts_with('}') {
            return next + 1;
        }
        at = expand(code, next, prefix, found);
        // `as name` is no path of its own
        if let Some(alias) =
            words(&code[at..], "as").next().filter(|&alias| code[at..at + alias].trim().is_empty())
        {
            let name = code[at + alias + 2..].trim_start();
            at = code.len() - name.trim_start_matches(is_name).len();
        }
    }
    code.len()
}

/// The module that a file of a crate is: `crates/ssd/src/ftl/mapping.rs` is `crate::ftl::mapping`.
pub fn module_of(path: &str) -> Vec<String> {
    let inside = path.split_once("/src/").map_or("", |(_, inside)| inside);
    let inside = inside.strip_suffix(".rs").unwrap_or(inside);
    let parts = inside.split('/').filter(|part| !matches!(*part, "mod" | "lib" | "main" | ""));
    std::iter::once("crate").chain(parts).map(str::to_owned).collect()
}

/// A path with `self` and `super` at its start replaced by the module they stand for.
fn resolve(module: &[String], path: &str) -> String {
    let mut parts = path.split("::").peekable();
    let mut base = module.to_vec();
    match parts.peek() {
        Some(&"self") => {
            parts.next();
        }
        Some(&"super") => {
            while parts.next_if_eq(&"super").is_some() {
                base.pop();
            }
        }
        _ => return path.to_owned(),
    }
    base.extend(parts.map(str::to_owned));
    base.join("::")
}
