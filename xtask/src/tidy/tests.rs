//! Every rule with cases that break it and cases that do not. The texts are small; tidy reads them as files.

use super::source::Source;
use super::{RULES, Tree, check};

/// The rules that these files break.
fn broken(files: &[(&str, &str)]) -> Vec<&'static str> {
    let mut rules: Vec<&str> = check(&Tree::of(files)).iter().map(|violation| violation.rule).collect();
    rules.dedup();
    rules
}

/// One file that breaks each rule; the last word of a pair is put together so that tidy can read this file.
fn failing_examples() -> Vec<(&'static str, &'static str, String)> {
    let core = "crates/ssd/src/lib.rs";
    let ftl = "crates/ssd/src/ftl/mod.rs";
    let cli = "crates/cli/src/main.rs";
    vec![
        ("file", cli, "// line\n".repeat(601)),
        ("function", cli, format!("fn long() {{\n{}}}\n", "    step();\n".repeat(69))),
        ("line", cli, format!("// {}\n", "x".repeat(118))),
        ("unfinished", cli, format!("// {}: the rest\n", concat!("TO", "DO"))),
        ("unfinished", cli, format!("fn main() {{ {}() }}\n", concat!("unimplemented", "!"))),
        ("unfinished", "docs/guide.md", format!("{} later\n", concat!("FIX", "ME"))),
        ("machine", cli, format!("const DATA: &str = \"{}user/data\";\n", concat!("/ho", "me/"))),
        ("machine", "Makefile", format!("data:\n\tcp {}data .\n", concat!("/wo", "rk/"))),
        ("reference", cli, format!("// {} 003, table 2\n", concat!("se", "ed"))),
        ("reference", "presets/nand/x.toml", format!("a = 1 # [F] {} 08\n", concat!("scr", "ipt"))),
        ("reference", "docs/guide.md", format!("as {} 2.3 has it\n", concat!("Calibra", "tion"))),
        ("registry", "README.md", format!("See https://{}\n", concat!("crates", ".io"))),
        (
            "shared",
            "crates/lab/src/lib.rs",
            format!("const TRACES: &str = \"{}\";\n", concat!("../", "shared/traces")),
        ),
        (
            "shared",
            "crates/lab/tests/a.rs",
            format!("const TRACES: &str = \"{}\";\n", concat!("../", "shared/traces")),
        ),
        ("exemption", cli, "// tidy: allow(float)\nfn main() {}\n".into()),
        ("exemption", cli, "// tidy: allow(colour): it is nicer\nfn main() {}\n".into()),
        ("pure", core, "use std::{fmt, time::{Duration, Instant}};\n".into()),
        ("pure", core, "fn go() { std::thread::sleep(step) }\n".into()),
        ("pure", core, "use std::fs as files;\n".into()),
        ("pure", core, "use std::{env};\n".into()),
        ("pure", core, "use std::collections::HashMap;\n".into()),
        ("pure", core, "fn go() { let mut rng = rand::thread_rng(); }\n".into()),
        ("float", ftl, "fn share() -> f64 { a }\n".into()),
        ("float", ftl, "fn share(a: u32) -> u32 { scaled(a, 0.5) }\n".into()),
        ("float", "crates/ssd/src/drive/mod.rs", "fn share(a: u32) -> u32 { scaled(a, 1e6) }\n".into()),
        ("layer", "crates/ssd/src/nand/mod.rs", "use crate::{ftl::Mapping, units};\n".into()),
        ("layer", "crates/ssd/src/flash/mod.rs", "fn f() { super::host::wake() }\n".into()),
        ("layer", "crates/ssd/src/host/mod.rs", "fn f(page: Ppn) {}\n".into()),
        ("layer", "crates/ssd/src/ftl/tables/map.rs", "use crate::ftl::work::Work;\n".into()),
        ("layer", "crates/ssd/src/ftl/work/looks.rs", "fn f() { crate::ftl::moves::lanes::f() }\n".into()),
        ("layer", "crates/ssd/src/ftl/work/job.rs", "use crate::ftl::{Ftl, stream};\n".into()),
        ("layer", "crates/ssd/src/ftl/techniques/refresh/mod.rs", "use crate::ftl::write::open;\n".into()),
        ("layer", "crates/ssd/src/ftl/locks/lists.rs", "use crate::ftl::{Media, stream};\n".into()),
        ("layer", "crates/ssd/src/ftl/media/blocks.rs", "use crate::ftl::moves::Moves;\n".into()),
        ("layer", "crates/ssd/src/ftl/moves/place.rs", "use crate::ftl::Ftl;\n".into()),
        ("layer", "crates/ssd/src/host/mod.rs", "fn f(unit: Pun) {}\n".into()),
        ("print", core, "fn f() { println!(\"{}\", 1) }\n".into()),
        ("print", "crates/lab/src/lib.rs", "fn f() { std::io::stdout().lock(); }\n".into()),
        ("print", cli, "fn f() { dbg!(1); }\n".into()),
        ("unsafe", core, "fn f() { unsafe { g() } }\n".into()),
        ("lint", cli, "#[allow(dead_code)]\nfn f() {}\n".into()),
        ("lint", cli, "/// A function.\n#[allow(dead_code)]\nfn f() {}\n".into()),
        ("unwrap", cli, "fn f() { g().unwrap() }\n".into()),
        ("spawn", "crates/lab/src/lib.rs", "fn f() { std::thread::spawn(g); }\n".into()),
        ("spawn", cli, "fn f() { std::thread::scope(|scope| { scope.spawn(g); }) }\n".into()),
        ("orphan", "crates/ssd/src/ftl/lost.rs", "fn f() {}\n".into()),
        (
            "manifest",
            "crates/ssd/Cargo.toml",
            "[dependencies]\na = \"1\"\nb.workspace = true\n\"c\" = \"1\"\n\
            [dependencies.d]\nversion = \"1\"\n[target.'cfg(unix)'.dependencies]\ne = \"1\"\nf = \"1\"\n"
                .into(),
        ),
        ("manifest", "crates/workload/Cargo.toml", "[dependencies]\nlab.workspace = true\n".into()),
        ("table", "README.md", "# No table of speed\n".into()),
        ("family", ftl, "family! { path \"ftl/x\", default a; members { a: A } }\n".into()),
    ]
}

#[test]
fn each_failing_example_breaks_its_rule() {
    for (rule, path, text) in failing_examples() {
        assert!(broken(&[(path, &text)]).contains(&rule), "[{rule}] does not see:\n{text}");
    }
}

#[test]
fn each_rule_has_a_failing_example() {
    let examples = failing_examples();
    for rule in RULES {
        assert!(
            // These take several files, see below.
            ["circle", "files", "root"].contains(&rule.name)
                || examples.iter().any(|(name, ..)| *name == rule.name),
            "no failing example of [{}]",
            rule.name
        );
    }
}

/// The circles that tidy tells in a crate of these files.
fn circles(files: &[(&str, &str)]) -> Vec<String> {
    told("circle", "lab", files)
}

/// What a rule tells of a crate of these files.
fn told(rule: &str, krate: &str, files: &[(&str, &str)]) -> Vec<String> {
    let at = |(path, text): &(&str, &str)| (format!("crates/{krate}/src/{path}"), (*text).to_owned());
    let files: Vec<_> = files.iter().map(at).collect();
    let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let told = check(&Tree::of(&files)).into_iter().filter(|violation| violation.rule == rule);
    told.map(|violation| format!("{}: {}", violation.path, violation.found)).collect()
}

#[test]
fn a_circle_of_neighbours_is_told_once_and_where_it_begins() {
    let root = ("lib.rs", "mod a;\nmod b;\nmod c;\npub use a::A;\n");
    let ab = ["crates/lab/src/a.rs: a circle in lab: a, b"];
    assert_eq!(circles(&[root, ("a.rs", "use crate::b::B;\n"), ("b.rs", "fn f(a: crate::a::A) {}\n")]), ab);
    let through_root = [root, ("a.rs", "use crate::b::B;\n"), ("b.rs", "use super::A;\n")];
    assert_eq!(circles(&through_root), ab, "a name that the root passes on");
    let three = [root, ("a.rs", "use crate::b;\n"), ("b.rs", "use crate::c;\n"), ("c.rs", "use crate::a;\n")];
    assert_eq!(circles(&three), ["crates/lab/src/a.rs: a circle in lab: a, b, c"]);
    // A folder counts as one, with all that lies in it.
    let folder = [root, ("a/mod.rs", "mod x;\n"), ("a/x.rs", "use crate::b;\n"), ("b.rs", "use crate::a;\n")];
    assert_eq!(circles(&folder), ["crates/lab/src/a/x.rs: a circle in lab: a, b"]);
    let inside =
        [("a/mod.rs", ""), ("a/x.rs", "use super::y::Y;\n"), ("a/y.rs", "use super::x::{self, X};\n")];
    assert_eq!(circles(&inside), ["crates/lab/src/a/x.rs: a circle in lab::a: x, y"]);
}

#[test]
fn parents_children_and_tests_make_no_circle() {
    let root = ("lib.rs", "mod a;\nmod b;\n");
    for (a, b) in [
        ("use crate::b::B;\n", "use super::a_function;\n"),
        ("use crate::b::B;\n", "#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}\n"),
        ("use crate::b::B;\n", "// crate::a::A\nconst A: &str = \"crate::a::A\";\n"),
    ] {
        assert_eq!(circles(&[root, ("a.rs", a), ("b.rs", b)]), Vec::<String>::new(), "{b}");
    }
    let unit = [("a/mod.rs", "mod x;\npub use x::X;\nfn f(x: x::X) {}\n"), ("a/x.rs", "use super::f;\n")];
    assert_eq!(circles(&unit), Vec::<String>::new());
    // What is passed on from elsewhere is named by who passes it on.
    let up = [("a.rs", "pub use crate::b::B;\n"), ("b.rs", "use crate::a::A;\n")];
    assert_eq!(circles(&up), ["crates/lab/src/a.rs: a circle in lab: a, b"]);
}

#[test]
fn a_circle_of_files_is_told_where_parents_and_children_count() {
    let files = |files: &[(&str, &str)]| told("files", "workload", files);
    let root = ("lib.rs", "mod a;\nmod b;\npub use a::A;\n");
    let circle = ["crates/workload/src/a/mod.rs: a circle in the files of workload: a/mod.rs, a/x.rs"];
    for parent in ["mod x;\npub use x::X;\n", "mod x;\nfn f(x: x::X) {}\n", "formats! {\n    x: X,\n}\n"] {
        assert_eq!(files(&[root, ("a/mod.rs", parent), ("a/x.rs", "use super::f;\n")]), circle, "{parent}");
    }
    // Far apart, and by way of a folder that is in no circle itself.
    let far = [root, ("a/x.rs", "use crate::b::y::Y;\n"), ("b/y.rs", "fn f(x: crate::a::x::X) {}\n")];
    let found = "a circle in the files of workload: a/x.rs, b/y.rs";
    assert_eq!(files(&far), [format!("crates/workload/src/a/x.rs: {found}")]);
    // What a folder passes on is that of the file where it is from.
    let passed = [
        root,
        ("a/mod.rs", "mod x;\nmod y;\npub use x::X;\nuse y::Y;\n"),
        ("a/x.rs", "struct X;\n"),
        ("a/y.rs", "use super::X;\n#[cfg(test)]\nmod tests {\n    use crate::a::f;\n}\n"),
    ];
    assert_eq!(files(&passed), Vec::<String>::new());
}

/// Whatever a crate is for, its files form none: programs and what they record are no exception.
#[test]
fn a_circle_of_files_is_told_in_each_crate_that_has_none() {
    for krate in ["workload", "abi", "serve", "lab", "capture", "cli", "python"] {
        let root = if krate == "cli" { "main.rs" } else { "lib.rs" };
        let circle = [
            (root, "mod a;\n"),
            ("a/mod.rs", "mod x;\nuse x::X;\nstruct Args;\n"),
            ("a/x.rs", "use super::Args;\nstruct X;\n"),
        ];
        let found = format!("a circle in the files of {krate}: a/mod.rs, a/x.rs");
        assert_eq!(told("files", krate, &circle), [format!("crates/{krate}/src/a/mod.rs: {found}")]);
        // What both name lies below both.
        let below = [
            (root, "mod a;\n"),
            ("a/mod.rs", "mod args;\nmod x;\npub use args::Args;\nuse x::X;\n"),
            ("a/args.rs", "struct Args;\n"),
            ("a/x.rs", "use super::Args;\nstruct X;\n"),
        ];
        assert_eq!(told("files", krate, &below), Vec::<String>::new());
    }
}

#[test]
fn a_crate_of_rooms_has_few_entries_at_its_root() {
    let rooms = ["a/mod.rs", "a/x.rs", "b/mod.rs", "c.rs", "d.rs", "e.rs", "f.rs", "g.rs", "h.rs", "lib.rs"];
    let files: Vec<(&str, &str)> = rooms.iter().map(|path| (*path, "")).collect();
    assert_eq!(told("root", "workload", &files), Vec::<String>::new());
    let more = [files, vec![("i/mod.rs", "")]].concat();
    let found = "crates/workload/src/lib.rs: 9 files and folders beside it, allowed are 8";
    assert_eq!(told("root", "workload", &more), [found]);
    for (krate, allowed) in [("lab", 15), ("ssd", 14)] {
        let rooms: Vec<String> = (0..allowed).map(|room| format!("room{room}/mod.rs")).collect();
        let mut files: Vec<(&str, &str)> = rooms.iter().map(|path| (path.as_str(), "")).collect();
        files.push(("lib.rs", ""));
        assert_eq!(told("root", krate, &files), Vec::<String>::new());
        files.push(("table.rs", ""));
        let more = allowed + 1;
        let found =
            format!("crates/{krate}/src/lib.rs: {more} files and folders beside it, allowed are {allowed}");
        assert_eq!(told("root", krate, &files), [found]);
    }
}

#[test]
fn what_is_allowed_passes() {
    let core = "crates/ssd/src/lib.rs";
    let ftl = "crates/ssd/src/ftl.rs";
    let cli = "crates/cli/src/main.rs";
    let long_test = format!("fn table() {{\n{}}}\n", "    case();\n".repeat(98));
    let wide_sample = format!("const LINE: &str = \"{}\";\n", "1,".repeat(80));
    let cases: &[(&str, &str)] = &[
        (cli, "// why\n// more\n"),
        (cli, "// redFTL section 4.3, calibration section 2.3; with seed 0 to 9, and seed 17\n"),
        (cli, "fn main() { println!(\"{{\") }\n"),
        (cli, "#[allow(dead_code)] // the other half of the pair is used on Windows\nfn f() {}\n"),
        (cli, "#[allow(dead_code, reason = \"used on Windows\")]\nfn f() {}\n"),
        (cli, "#[cfg(test)]\nmod tests {\n    fn f() { g().unwrap() }\n}\n"),
        ("crates/lab/tests/a.rs", &long_test),
        ("crates/lab/tests/a.rs", &wide_sample),
        ("crates/lab/src/base/memory.rs", "fn f() { unsafe { g() } }\n"),
        (core, "// a HashMap would be iterated in hash order\nconst WHY: &str = \"no Instant\";\n"),
        (
            core,
            "use std::{fmt, io::Write};\nuse core::time::Duration;\nconst V: &str = env!(\"CARGO_PKG_VERSION\");\n",
        ),
        (core, "#[cfg(test)]\nmod tests {\n    use std::collections::HashMap;\n}\n"),
        (core, "fn physics(x: f64) -> f64 { x * 0.5 }\n"),
        (ftl, "section! { pub struct Params { share: f64 = 0.5; } }\n"),
        (ftl, "fn f() -> u64 { a.0.1 + 0x1e6 + 1_000 + (0..10).sum() + r#type + 'e' as u64 }\n"),
        (ftl, "// tidy: allow(float): built once, when the drive is made\nfn f() {\n    let x = 0.5;\n}\n"),
        (ftl, "fn f() {\n    let x = 0.5; // tidy: allow(float): built once\n}\n"),
        ("crates/ssd/src/host/mod.rs", "use crate::ftl::Lpn;\nuse super::units::Lba;\n"),
        ("docs/a.md", "mktemp out.XXXXXX, ./work/x, src/home/y\n"),
        ("crates/ssd/Cargo.toml", "[dependencies]\nserde = \"1\" # a = b\n[dev-dependencies]\nlab = \"1\"\n"),
    ];
    for (path, text) in cases {
        let rules: Vec<_> = broken(&[(path, text)]).into_iter().filter(|rule| *rule != "orphan").collect();
        assert!(rules.is_empty(), "{rules:?} in {path}:\n{text}");
    }
}

#[test]
fn an_exemption_covers_its_line_or_function_and_no_more() {
    let path = "crates/ssd/src/ftl/mod.rs";
    let lib = ("crates/ssd/src/lib.rs", "mod ftl;\n");
    let beside = "fn f() {\n    let x = 0.5; // tidy: allow(float): built once\n    let y = 0.5;\n}\n";
    let report = check(&Tree::of(&[(path, beside), lib]));
    assert_eq!(report.iter().map(|v| (v.rule, v.line)).collect::<Vec<_>>(), [("float", 3)]);
    let above =
        "// tidy: allow(float): built once\nfn f() {\n    let x = 0.5;\n}\nfn g() {\n    let x = 0.5;\n}\n";
    let report = check(&Tree::of(&[(path, above), lib]));
    assert_eq!(report.iter().map(|v| (v.rule, v.line)).collect::<Vec<_>>(), [("float", 6)]);
}

#[test]
fn a_function_is_measured_from_fn_to_its_brace() {
    let text = "/// Docs.\nfn a(x: [u8; 4]) -> u8\nwhere\n    u8: Copy,\n{\n    '{' as u8 // }\n}\ntype F = fn(u8);\n\
                trait T {\n    fn b();\n    fn c() {}\n}\n";
    let source = Source::new("crates/cli/src/main.rs", text.into());
    let seen: Vec<_> = source
        .functions()
        .iter()
        .map(|f| (f.name.as_str(), source.line_of(f.span.start), source.line_of(f.span.end - 1)))
        .collect();
    assert_eq!(seen, [("a", 2, 7), ("c", 11, 11)]);
}

#[test]
fn comments_and_literals_are_not_code() {
    let cases = [
        ("a(\"x // y\"); b // c", "a(\"      \"); b     "),
        ("a /* b /* c */ d */ e", "a                   e"),
        ("r#\"a\"b\"# + c", "         + c"),
        ("'x' '\\'' 'é' <'a, 'b>", "              <'a, 'b>"),
        ("\"\\\"\" + b\"y\" + c", "\"  \" + b\" \" + c"),
        ("error\" // \"; d", "error\"    \"; d"),
        ("a\n// b\nc", "a\n    \nc"),
    ];
    for (text, code) in cases {
        let source = Source::new("a.rs", text.into());
        assert_eq!(source.code.replace('\n', "|"), code.replace('\n', "|"), "of {text}");
        assert_eq!(source.code.len(), text.len());
        assert_eq!(source.comments.len(), text.len());
    }
}

const FAMILY: &str = r#"//! Which block?
family! {
    /// Which block is reclaimed?
    path "ftl/gc_victim", default greedy;
    members { greedy: Greedy, fifo: Fifo }
    methods { fn choose(&mut self, view: &View) -> u32; }
}
"#;

fn member(name: &str) -> String {
    format!(
        "//! The fullest block.\npub const NAME: &str = \"{name}\";\npub const SUMMARY: &str = \"s\";\n\
         pub const SOURCE: &str = \"s\";\npub const MEMORY: &str = \"s\";\n"
    )
}

/// What tidy finds in a family of two members, after a change.
fn family_findings(list: &str, greedy: &str, more: &[(&str, &str)]) -> Vec<String> {
    let fifo = member("fifo");
    let mut files = vec![
        ("crates/ssd/src/lib.rs", "mod ftl;\n"),
        ("crates/ssd/src/ftl/mod.rs", "mod gc_victim;\n"),
        ("crates/ssd/src/ftl/gc_victim/mod.rs", list),
        ("crates/ssd/src/ftl/gc_victim/greedy.rs", greedy),
        ("crates/ssd/src/ftl/gc_victim/fifo.rs", fifo.as_str()),
    ];
    files.extend(more);
    check(&Tree::of(&files)).iter().map(|v| format!("{}: {}", v.rule, v.found)).collect()
}

#[test]
fn a_family_that_agrees_passes() {
    assert_eq!(family_findings(FAMILY, &member("greedy"), &[]), [""; 0]);
    let helper = [("crates/ssd/src/ftl/gc_victim/index.rs", "pub struct Index;\n")];
    let list = format!("mod index;\n{FAMILY}");
    assert_eq!(family_findings(&list, &member("greedy"), &helper), [""; 0]);
}

#[test]
fn a_family_that_disagrees_is_told_where() {
    let greedy = member("greedy");
    let cases = [
        (FAMILY.to_owned(), member("gready"), "family: NAME is \"gready\" in greedy.rs"),
        (FAMILY.to_owned(), greedy.replace("NAME", "TITLE"), "family: a policy without NAME"),
        (FAMILY.to_owned(), greedy.replace("SOURCE", "ORIGIN"), "family: a policy without SOURCE"),
        (FAMILY.to_owned(), greedy.replace("//!", "//"), "family: a policy without a description"),
        (
            FAMILY.replace("fifo: Fifo", "random: Random"),
            greedy.clone(),
            "family: member `random` has no file",
        ),
        (FAMILY.replace(", fifo: Fifo", ""), greedy.clone(), "family: a policy that is in no family's list"),
        (
            FAMILY.replace("default greedy", "default best"),
            greedy.clone(),
            "family: the default `best` is no member",
        ),
        (
            FAMILY.replace("ftl/gc_victim", "ftl/victim"),
            greedy.clone(),
            "family: the family's path is \"ftl/victim\", its folder is \"ftl/gc_victim\"",
        ),
        (FAMILY.replace("members", "list"), greedy, "family: no members found"),
    ];
    for (list, greedy, expected) in cases {
        let found = family_findings(&list, &greedy, &[]);
        assert!(found.iter().any(|finding| finding == expected), "{expected}, not among {found:#?}");
    }
}

#[test]
fn a_module_may_be_declared_by_a_list() {
    let files = |list: &'static str| {
        [
            ("crates/workload/src/lib.rs", "mod reader;\n"),
            ("crates/workload/src/reader/mod.rs", list),
            ("crates/workload/src/reader/msr.rs", "struct Msr;\n"),
        ]
    };
    assert_eq!(broken(&files("formats! { msr: Msr }\n")), [""; 0]);
    assert_eq!(broken(&files("formats! { spc: msr::Spc }\n")), ["orphan"]);
    assert_eq!(broken(&files("lists! { msr: Msr }\n")), ["orphan"]);
}

#[test]
fn this_checkout_is_tidy() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let tree = Tree::read(&root).expect("the checkout is readable");
    assert!(tree.get("xtask/src/tidy.rs").is_some_and(|source| source.is_rust()));
    assert!(tree.get("Makefile").is_some());
    assert!(tree.sources.iter().all(|source| !source.path.starts_with("target/")));
    let report: Vec<String> = check(&tree).iter().map(ToString::to_string).collect();
    assert!(report.is_empty(), "{}", report.join("\n"));
}
