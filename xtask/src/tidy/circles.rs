//! No module depends on itself by way of its neighbours.
//!
//! What is counted: at each level of the tree of modules, the neighbours there (each with all that lies below it) form
//! a graph, with an edge where code of one names something of another, in `use` or in passing, tests left out. That
//! graph must have no circle. A parent and its own children are one unit: a child may use what its parent declares,
//! and a parent is made of its children. A name that a module passes on (`pub use`) counts as that of the module where
//! where it is from; passing on what is not its own child's counts as naming it.
//!
//! In some crates the files themselves form no circle either: there a parent names its children where it uses them or
//! passes them on, and a child that names what its parent declares closes a circle.

use super::lists::{CIRCLE_FREE, FILE_CIRCLE_FREE, MODULE_LISTS};
use super::paths::{module_of, named_paths, passed_on};
use super::rust::is_listed;
use super::source::Source;
use super::{Report, Tree};
use std::collections::{BTreeMap, BTreeSet};

/// A module as the names on the way to it, from the crate's root.
type Module = Vec<String>;

/// Where one neighbour names another first.
type Edges<'a> = BTreeMap<(String, String), (&'a Source, usize)>;

pub fn circle(tree: &Tree, report: &mut Report) {
    for krate in CIRCLE_FREE {
        let root = format!("crates/{krate}/src/");
        let sources: Vec<_> =
            tree.rust().filter(|s| s.path.starts_with(&root) && !s.is_test_file()).collect();
        for (level, edges) in levels(&sources) {
            for circle in circles(&edges) {
                let place = [vec![(*krate).to_owned()], level.clone()].concat().join("::");
                tell(&place, &circle, &edges, report);
            }
        }
    }
}

pub fn files(tree: &Tree, report: &mut Report) {
    for krate in FILE_CIRCLE_FREE {
        let root = format!("crates/{krate}/src/");
        let sources: Vec<_> =
            tree.rust().filter(|s| s.path.starts_with(&root) && !s.is_test_file()).collect();
        let edges = file_edges(&sources, &root);
        for circle in circles(&edges) {
            tell(&format!("the files of {krate}"), &circle, &edges, report);
        }
    }
}

/// The modules of a crate, and what stands for a name that one of them passes on.
struct Names {
    modules: BTreeSet<Module>,
    passed: BTreeMap<Module, Module>,
}

impl Names {
    fn of(sources: &[&Source]) -> Self {
        let passed = sources
            .iter()
            .flat_map(|source| passed_on(source))
            .filter_map(|(name, path)| Some((parts(&name)?, parts(&path)?)))
            .collect();
        Names { modules: sources.iter().map(|source| place(source)).collect(), passed }
    }
}

/// The graph of files, called by their paths from the crate's root.
fn file_edges<'a>(sources: &[&'a Source], root: &str) -> Edges<'a> {
    let names = Names::of(sources);
    let called: BTreeMap<Module, String> =
        sources.iter().map(|source| (place(source), source.path[root.len()..].to_owned())).collect();
    let mut edges = Edges::new();
    for source in sources {
        let from = place(source);
        let child = |name: &str| [from.clone(), vec![name.to_owned()]].concat();
        let named = named_paths(source).into_iter().filter_map(|named| {
            let first = named.path.split("::").next().unwrap_or_default();
            let path = match parts(&named.path) {
                Some(path) => path,
                // A path that begins with a child of the module.
                None if names.modules.contains(&child(first)) => {
                    [from.clone(), named.path.split("::").map(str::to_owned).collect()].concat()
                }
                None => return None,
            };
            Some((home(path, &names), named.offset))
        });
        let listed = names.modules.iter().filter_map(|module| {
            let name = module.last().filter(|name| **module == child(name))?;
            MODULE_LISTS.iter().any(|list| is_listed(&source.code, list, name)).then(|| (module.clone(), 0))
        });
        for (to, offset) in named.chain(listed).filter(|(to, _)| *to != from) {
            if let (Some(one), Some(other)) = (called.get(&from), called.get(&to)) {
                edges.entry((one.clone(), other.clone())).or_insert((*source, offset));
            }
        }
    }
    edges
}

/// The graphs of neighbours, by the module that they are children of.
fn levels<'a>(sources: &[&'a Source]) -> BTreeMap<Module, Edges<'a>> {
    let names = Names::of(sources);
    let mut levels: BTreeMap<Module, Edges<'a>> = BTreeMap::new();
    for source in sources {
        let from = place(source);
        for named in named_paths(source) {
            let Some(path) = parts(&named.path) else { continue };
            let to = home(path, &names);
            let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
            if let (Some(one), Some(other)) = (from.get(shared), to.get(shared)) {
                let edges = levels.entry(from[..shared].to_vec()).or_default();
                edges.entry((one.clone(), other.clone())).or_insert((source, named.offset));
            }
        }
    }
    levels
}

fn place(source: &Source) -> Module {
    module_of(&source.path).split_off(1)
}

/// The names behind `crate` of a path in the crate.
fn parts(path: &str) -> Option<Module> {
    let inside = path.strip_prefix("crate::")?;
    Some(inside.split("::").map(str::to_owned).collect())
}

/// The module in which what a path names is declared.
fn home(mut path: Module, Names { modules, passed }: &Names) -> Module {
    // A chain of modules that pass a name on is short; one that ends nowhere is the compiler's business.
    for _ in 0..8 {
        let known = (0..=path.len()).rev().find(|&length| modules.contains(&path[..length])).unwrap_or(0);
        let Some(target) = path.get(..=known).and_then(|name| passed.get(name)) else {
            return path[..known].to_vec();
        };
        path = [target.clone(), path[known + 1..].to_vec()].concat();
    }
    Vec::new()
}

/// The neighbours that reach each other, where there are several.
fn circles(edges: &Edges<'_>) -> Vec<Vec<String>> {
    let names: BTreeSet<&String> = edges.keys().flat_map(|(from, to)| [from, to]).collect();
    let reached: BTreeMap<&String, BTreeSet<&String>> =
        names.iter().map(|&name| (name, all_behind(name, edges))).collect();
    let mut told: BTreeSet<&String> = BTreeSet::new();
    let mut circles = Vec::new();
    for &name in &names {
        let is_in = |other: &&String| reached[name].contains(other) && reached[other].contains(name);
        let circle: Vec<&String> = names.iter().copied().filter(is_in).collect();
        if circle.len() > 1 && !told.contains(name) {
            told.extend(&circle);
            circles.push(circle.into_iter().cloned().collect());
        }
    }
    circles
}

/// All that a neighbour names, and what those name, and so on.
fn all_behind<'e>(name: &String, edges: &'e Edges<'_>) -> BTreeSet<&'e String> {
    let mut behind = BTreeSet::new();
    let mut open = vec![name];
    while let Some(at) = open.pop() {
        for (_, to) in edges.keys().filter(|(from, _)| from == at) {
            if behind.insert(to) {
                open.push(to);
            }
        }
    }
    behind
}

/// Reports a circle once, with each step's place.
fn tell(place: &str, circle: &[String], edges: &Edges<'_>, report: &mut Report) {
    let within = |name: &String| circle.contains(name);
    let mut steps = edges.iter().filter(|((from, to), _)| within(from) && within(to)).peekable();
    let Some((_, &(source, offset))) = steps.peek().copied() else { return };
    let step = |((from, to), (source, offset)): (&(String, String), &(&Source, usize))| {
        format!("{from} names {to} ({}:{})", source.path, source.line_of(*offset))
    };
    let advice = format!(
        "move what is shared below both, or pass it as an argument: {}",
        steps.map(step).collect::<Vec<_>>().join("; ")
    );
    report.at(source, offset, format!("a circle in {place}: {}", circle.join(", ")), advice);
}
