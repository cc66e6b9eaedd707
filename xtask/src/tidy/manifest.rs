//! Few dependencies, and in the right direction.

use super::lists::{CORE_DEPENDENCIES, CRATE_LAYERS};
use super::source::Source;
use super::{Report, Tree};

/// A direct dependency: its key and the line it stands in, from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependency {
    pub name: String,
    pub line: usize,
}

pub fn manifest(tree: &Tree, report: &mut Report) {
    if let Some(core) = tree.get("crates/ssd/Cargo.toml") {
        let dependencies = dependencies(core);
        if dependencies.len() > CORE_DEPENDENCIES {
            let found =
                format!("{} direct dependencies, allowed are {CORE_DEPENDENCIES}", dependencies.len());
            let line = dependencies[CORE_DEPENDENCIES].line;
            report.whole(
                &core.path,
                line,
                found,
                "the core stays small: write it, or do it in another crate",
            );
        }
    }
    let crates = CRATE_LAYERS.iter().map(|(name, _)| *name).chain(["cli"]);
    let crates: Vec<&str> = crates.collect();
    for (name, below) in CRATE_LAYERS {
        let Some(source) = tree.get(&format!("crates/{name}/Cargo.toml")) else { continue };
        for dependency in dependencies(source) {
            let key = dependency.name.strip_prefix("wordline-").unwrap_or(&dependency.name);
            if crates.contains(&key) && !below.contains(&key) {
                let found = format!("`{name}` depends on `{key}`");
                let advice = "dependencies run ssd <- workload <- lab <- cli; tests may use dev-dependencies";
                report.whole(&source.path, dependency.line, found, advice);
            }
        }
    }
}

/// The direct dependencies of a manifest, those of build scripts and tests left out.
fn dependencies(source: &Source) -> Vec<Dependency> {
    let mut found = Vec::new();
    let mut is_list = false;
    for (index, line) in source.text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or("").trim();
        if let Some(header) = line.strip_prefix('[') {
            let header = header.trim_end_matches(']');
            is_list = header == "dependencies" || header.ends_with(".dependencies");
            let own = header.strip_prefix("dependencies.");
            found.extend(own.map(|name| Dependency { name: name.to_owned(), line: index + 1 }));
        } else if let Some((key, _)) = line.split_once('=').filter(|_| is_list) {
            let name = key.trim().split('.').next().unwrap_or("").trim_matches('"').to_owned();
            found.push(Dependency { name, line: index + 1 });
        }
    }
    found
}
