//! How long a file, a function and a line may be, and how much may lie side by side.

use super::lists::{
    CODE_ENDINGS, FILE_LINES, FUNCTION_LINES, LINE_COLUMNS, ROOT_ENTRIES, TEST_FUNCTION_LINES,
};
use super::{Report, Tree};
use std::collections::BTreeSet;

pub fn file(tree: &Tree, report: &mut Report) {
    for source in tree.rust().filter(|source| source.lines() > FILE_LINES) {
        let found = format!("{} lines, allowed are {FILE_LINES}", source.lines());
        report.whole(&source.path, 1, found, "split it by idea: one file, one thing to understand");
    }
}

pub fn function(tree: &Tree, report: &mut Report) {
    for source in tree.rust() {
        for function in source.functions() {
            let span = &function.span;
            let lines = source.line_of(span.end - 1) - source.line_of(span.start) + 1;
            let allowed = if source.is_test(span.start) { TEST_FUNCTION_LINES } else { FUNCTION_LINES };
            if lines > allowed {
                let found = format!("`{}` has {lines} lines, allowed are {allowed}", function.name);
                report.at(source, span.start, found, "name its steps, and make each a function");
            }
        }
    }
}

pub fn line(tree: &Tree, report: &mut Report) {
    let is_code = |path: &str| CODE_ENDINGS.iter().any(|ending| path.ends_with(ending));
    for source in tree.sources.iter().filter(|source| is_code(&source.path)) {
        let mut offset = 0;
        for line in source.text.split_inclusive('\n') {
            let columns = line.trim_end().chars().count();
            // A line of a trace or of a table reads better whole.
            let is_sample = source.is_test(offset) && line.contains('"');
            if columns > LINE_COLUMNS && !is_sample {
                let found = format!("{columns} columns, allowed are {LINE_COLUMNS}");
                report.at(source, offset, found, "break the line");
            }
            offset += line.len();
        }
    }
}

pub fn root(tree: &Tree, report: &mut Report) {
    for (krate, allowed) in ROOT_ENTRIES {
        let root = format!("crates/{krate}/src/");
        let below = tree.sources.iter().filter_map(|source| source.path.strip_prefix(&root));
        let entries: BTreeSet<&str> = below.filter_map(|path| path.split('/').next()).collect();
        let beside = entries.len() - usize::from(entries.contains("lib.rs"));
        if beside > *allowed {
            let found = format!("{beside} files and folders beside it, allowed are {allowed}");
            report.whole(&format!("{root}lib.rs"), 1, found, "put it into the room that it belongs to");
        }
    }
}
