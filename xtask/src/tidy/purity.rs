//! What keeps the drive pure, integer and layered.

use super::lists::{
    CORE_FORBIDDEN_NAMES, CORE_FORBIDDEN_PATHS, FLOAT_ALLOWED, FLOAT_FREE, FTL_MODULES, LAYER_NAMES, LAYERS,
};
use super::paths::{is_in, named_paths};
use super::source::{Source, group_end};
use super::{Report, Tree, is_under};
use std::ops::Range;

pub fn pure(tree: &Tree, report: &mut Report) {
    const ADVICE: &str = "the core takes time and randomness as arguments and keeps no hash tables; use SimTime, \
                          Rng, Vec or BTreeMap, or do it outside crates/ssd";
    for source in tree.core() {
        for named in named_paths(source) {
            if CORE_FORBIDDEN_PATHS.iter().any(|module| is_in(&named.path, module)) {
                report.at(source, named.offset, format!("`{}` in the core", named.path), ADVICE);
            }
        }
        for name in CORE_FORBIDDEN_NAMES {
            for at in source.code_words(name).filter(|&at| !source.is_test(at)) {
                report.at(source, at, format!("`{name}` in the core"), ADVICE);
            }
        }
    }
}

pub fn layer(tree: &Tree, report: &mut Report) {
    for source in tree.core() {
        let layers = LAYERS.iter().filter(|(layer, _)| is_under(&source.path, layer));
        let above = layers.flat_map(|(_, modules)| *modules);
        let own = FTL_MODULES.iter().position(|(module, _)| is_under(&source.path, module));
        let in_ftl =
            own.into_iter().flat_map(|own| FTL_MODULES[own + 1..].iter().flat_map(|(_, names)| *names));
        let above: Vec<_> = above.chain(in_ftl).map(|module| format!("crate::{module}")).collect();
        for named in named_paths(source) {
            if above.iter().any(|module| is_in(&named.path, module)) {
                let advice = "dependencies run nand <- flash <- ftl <- host <- drive, and inside ftl tables <- \
                              work <- techniques <- write <- locks, reclaim <- media <- moves <- Ftl; what a layer \
                              needs from above is an argument or a field in signals.rs";
                report.at(source, named.offset, format!("`{}` from a layer below it", named.path), advice);
            }
        }
        for (_, names) in LAYER_NAMES.iter().filter(|(layer, _)| is_under(&source.path, layer)) {
            for name in *names {
                for at in source.code_words(name).filter(|&at| !source.is_test(at)) {
                    let advice = "translate the address in the layer that owns the translation";
                    report.at(source, at, format!("this layer does not know `{name}`"), advice);
                }
            }
        }
    }
}

pub fn float(tree: &Tree, report: &mut Report) {
    let is_held = |path: &str| {
        FLOAT_FREE.iter().any(|prefix| is_under(path, prefix))
            && !FLOAT_ALLOWED.iter().any(|prefix| is_under(path, prefix))
    };
    for source in tree.core().filter(|source| is_held(&source.path)) {
        let declared = declarations(source);
        let is_free = |at: usize| source.is_test(at) || declared.iter().any(|span| span.contains(&at));
        let types = ["f32", "f64"].into_iter().flat_map(|name| source.code_words(name));
        for at in types.chain(float_literals(&source.code)).filter(|&at| !is_free(at)) {
            let advice = "floats stop where tables are built: flash/timing.rs, nand, or a constructor marked \
                          `// tidy: allow(float): <reason>`";
            report.at(source, at, "a float in the event loop", advice);
        }
    }
}

/// The spans of macro calls that declare configuration.
fn declarations(source: &Source) -> Vec<Range<usize>> {
    let calls = ["section!", "choice!"].into_iter().flat_map(|name| source.code_words(name));
    calls.map(|at| at..group_end(&source.code, at, b'{', b'}').unwrap_or(source.code.len())).collect()
}

/// Where literals such as `0.5`, `1e6` or `2.0_f64` begin.
fn float_literals(code: &str) -> impl Iterator<Item = usize> + '_ {
    let bytes = code.as_bytes();
    let is_part = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
    let starts = move |at: usize| {
        bytes[at].is_ascii_digit() && (at == 0 || !(is_part(&bytes[at - 1]) || bytes[at - 1] == b'.'))
    };
    (0..bytes.len()).filter(move |&at| starts(at)).filter(|&at| is_float(&bytes[at..]))
}

/// Is the number at the start of `rest` a float?
fn is_float(rest: &[u8]) -> bool {
    if rest.starts_with(b"0x") || rest.starts_with(b"0b") || rest.starts_with(b"0o") {
        return false;
    }
    let digits = rest.iter().take_while(|b| b.is_ascii_digit() || **b == b'_').count();
    let next = |at: usize| rest.get(digits + at).copied().unwrap_or(b' ');
    match next(0) {
        b'.' => next(1).is_ascii_digit(),
        b'e' | b'E' => {
            next(1).is_ascii_digit() || (matches!(next(1), b'-' | b'+') && next(2).is_ascii_digit())
        }
        b'f' => matches!((next(1), next(2)), (b'3', b'2') | (b'6', b'4')),
        _ => false,
    }
}
