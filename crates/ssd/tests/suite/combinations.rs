//! Which policies do not go with which: every policy of every family beside every policy of every other, and what the
//! configuration's check says. `docs/combinations.md` lists what is refused.

use super::support::every::{choose, chosen, fitted, has, is_idle, policies};
use ssd::DriveConfig;
use ssd::sections::ErrorModel;
use std::collections::BTreeMap;
use std::path::Path;

const FILE: &str = "../../docs/combinations.md";

const HEAD: &str = "\
# What does not combine

A drive is refused if it has a policy of the first column with one of the second. Any other two policies of two families
make a drive. What a policy needs besides, such as cells that age or pages as mapping units, is on
[its own page](policies.md).

<!-- Written by a test: WORDLINE_DOCS=write cargo test -p wordline-ssd --test suite combinations -->

| policy | not with | found |
|---|---|---|
";

/// Section of a family, and a policy of it.
type Name = (String, &'static str);

/// A drive with room for any policy; some need cells that make errors.
fn base(cells: ErrorModel) -> DriveConfig {
    let mut cfg = DriveConfig::default();
    let g = &mut cfg.geometry;
    (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (1, 1, 1, 2);
    (g.blocks_per_plane, g.wordlines_per_block, g.bits_per_cell) = (200, 64, 3);
    (cfg.drive.over_provisioning_percent, cfg.errors.model) = (60.0, cells);
    cfg
}

/// What is wrong with two policies on one drive; nothing if there is a drive that has both.
fn refusal(pair: [&Name; 2]) -> Option<String> {
    let mut why = None;
    for cells in [ErrorModel::None, ErrorModel::Cells] {
        // One after the other: the second may take the first away, and asks for less the other way round.
        for [first, second] in [pair, [pair[1], pair[0]]] {
            let mut cfg = base(cells);
            choose(&mut cfg, &first.0, first.1);
            choose(&mut cfg, &second.0, second.1);
            if pair.iter().any(|(section, policy)| chosen(&cfg, section) != *policy) {
                continue;
            }
            match fitted(cfg) {
                Ok(_) => return None,
                Err(text) => why = why.or(Some(text)),
            }
        }
    }
    Some(why.unwrap_or_else(|| "one needs another policy in the place of the other".to_owned()))
}

/// The reason of a refusal: what was found.
fn reason(text: &str) -> String {
    let found = text.lines().find_map(|line| line.trim_start().strip_prefix("found:"));
    found.unwrap_or(text).trim().to_owned()
}

fn page() -> String {
    let all: Vec<Name> = policies()
        .filter(|(_, policy)| !is_idle(policy.name) && policy.name != "external")
        .map(|(family, policy)| (family.section(), policy.name))
        .collect();
    let mut refused: BTreeMap<[String; 3], Vec<String>> = BTreeMap::new();
    for (at, first) in all.iter().enumerate() {
        for second in all[at + 1..].iter().filter(|second| second.0 != first.0) {
            if let Some(text) = refusal([first, second]) {
                // Policies that are refused for one reason share a row.
                let why = reason(&text).replace(&format!("\"{}\"", second.1), "it");
                let of = [format!("`{}`: `{}`", first.0, first.1), format!("`{}`: ", second.0), why];
                refused.entry(of).or_default().push(format!("`{}`", second.1));
            }
        }
    }
    let mut page = HEAD.to_owned();
    for ([first, family, why], others) in refused {
        page.push_str(&format!("| {first} | {family}{} | {} |\n", others.join(", "), why.replace('|', "/")));
    }
    page
}

/// Whether the page names a family or policy that drives are without.
fn is_gone(page: &str) -> bool {
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    let cells = rows.flat_map(|row| row.split('|').skip(1).take(2));
    let is_there = |cell: &str| {
        let mut names = cell.split('`').skip(1).step_by(2);
        let family = names.next().unwrap_or_default();
        names.all(|policy| has(&format!("{family}.{policy}")))
    };
    !cells.map(str::trim).all(is_there)
}

#[test]
fn the_list_of_what_does_not_combine_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE);
    let page = page();
    if std::env::var_os("WORDLINE_DOCS").is_some_and(|value| value == "write") {
        std::fs::write(&path, &page).unwrap();
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    if is_gone(&there) {
        println!("a technique was taken out: the page is that of all");
        return;
    }
    assert!(
        there == page,
        "docs/combinations.md is stale: WORDLINE_DOCS=write writes it anew; it would be\n{page}"
    );
}
