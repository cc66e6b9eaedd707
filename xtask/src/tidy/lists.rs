//! The data behind the rules: which files, which names, how much. To adjust a rule, change this file.
//!
//! A path prefix ends in `/` for a folder; without it, it covers `name.rs` and everything in `name/`.
//! Words that tidy looks for everywhere are written in two parts here, or this file would break its own rules.

/// Folders that are never read: build output, results, other people's files.
pub const SKIPPED_FOLDERS: &[&str] = &[".git", "target", "out", "node_modules", ".venv", "__pycache__"];

/// Endings (or whole names) of the files that are read as text; all others are data, licences or lock files.
pub const TEXT_ENDINGS: &[&str] =
    &[".rs", ".toml", ".md", ".sh", ".py", ".pyi", ".yml", ".yaml", ".json", ".txt", "Makefile", ".ci/run"];

/// Lines of a Rust file, tests included.
pub const FILE_LINES: usize = 600;
/// Lines of a function from `fn` to its closing brace: a screen.
pub const FUNCTION_LINES: usize = 70;
/// Lines of a function in tests and benches, where tables of cases are long.
pub const TEST_FUNCTION_LINES: usize = 100;
/// Columns of a line of code. rustfmt breaks code at 110; strings, comments and scripts are up to us.
pub const LINE_COLUMNS: usize = 120;
/// Endings of the files held to `LINE_COLUMNS`.
pub const CODE_ENDINGS: &[&str] = &[".rs", ".sh", ".py", "Makefile", ".ci/run"];

/// Words that mark work left undone.
pub const UNFINISHED: &[&str] = &[
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("X", "XX"),
    concat!("todo", "!"),
    concat!("unimplemented", "!"),
];

/// Starts of absolute paths that exist on one machine only.
pub const MACHINE_PATHS: &[&str] =
    &[concat!("/wo", "rk/"), concat!("/ho", "me/"), concat!("/ro", "ot/"), concat!("/Use", "rs/")];

/// What sources were once called by number; the first, which also starts a random run, with a nought before it.
pub const NUMBERED_SOURCES: &[&str] =
    &[concat!("se", "ed"), concat!("calibra", "tion"), concat!("scr", "ipt")];

/// Hosts of package registries: the package tools know them, our files need not.
pub const REGISTRY_HOSTS: &[&str] = &[
    concat!("crates", ".io"),
    concat!("pypi", ".org"),
    concat!("pythonhosted", ".org"),
    concat!("npmjs", ".org"),
    concat!("npmjs", ".com"),
    concat!("proxy.golang", ".org"),
    concat!("anaconda", ".org"),
];

/// The folder beside the checkout that holds what the project was built from; a user does not have it.
pub const SHARED_FOLDER: &str = concat!("../", "shared");
/// Where it may be named: in tests that are skipped without it, so the file must also say "skip".
pub const SHARED_ALLOWED_IN: &str = "/tests/";

/// The drive, pure and deterministic (ARCHITECTURE.md, invariant 1).
pub const CORE: &str = "crates/ssd/src/";
/// Modules that the core must not name.
pub const CORE_FORBIDDEN_PATHS: &[&str] = &[
    "std::thread",
    "std::fs",
    "std::net",
    "std::env",
    "std::process",
    "std::os",
    "std::io::stdin",
    "std::time::Instant",
    "std::time::SystemTime",
];
/// Names that the core must not use, from wherever they come.
pub const CORE_FORBIDDEN_NAMES: &[&str] = &[
    "Instant",
    "SystemTime",
    "UNIX_EPOCH",
    "thread_rng",
    "OsRng",
    "getrandom",
    "from_entropy",
    "from_os_rng",
    "HashMap",
    "HashSet",
    "RandomState",
];

/// The event loop: integers only (ARCHITECTURE.md, invariant 5). `section!` and `choice!` blocks (the config's
/// fields) and tests are free.
pub const FLOAT_FREE: &[&str] = &[
    "crates/ssd/src/drive/engine",
    "crates/ssd/src/drive/mod",
    "crates/ssd/src/drive/stats",
    "crates/ssd/src/flash/",
    "crates/ssd/src/ftl/",
    "crates/ssd/src/host/",
    "crates/ssd/src/nand/aging/",
    "crates/ssd/src/nand/chip",
    "crates/ssd/src/nand/order",
    "crates/ssd/src/observe",
    "crates/ssd/src/signals",
];
/// Modules among those that build tables from physics when a drive is made.
pub const FLOAT_ALLOWED: &[&str] = &["crates/ssd/src/flash/timing", "crates/ssd/src/nand/aging/build"];

/// Which modules of the core a layer must not name: dependencies run downward only.
pub const LAYERS: &[(&str, &[&str])] = &[
    ("crates/ssd/src/nand/", &["flash", "ftl", "host", "engine", "drive"]),
    ("crates/ssd/src/flash/", &["ftl", "host", "drive"]),
    ("crates/ssd/src/ftl/", &["host", "drive"]),
    ("crates/ssd/src/host/", &["drive"]),
];

/// Modules of the translation layer from the lowest up, with the names of each (ARCHITECTURE.md, map of the code): one
/// knows nothing of those above it.
pub const FTL_MODULES: &[(&str, &[&str])] = &[
    ("crates/ssd/src/ftl/tables/", &["ftl::tables"]),
    ("crates/ssd/src/ftl/work/", &["ftl::work"]),
    ("crates/ssd/src/ftl/techniques/", &["ftl::techniques"]),
    ("crates/ssd/src/ftl/write/", &["ftl::write"]),
    ("crates/ssd/src/ftl/locks/", &["ftl::locks"]),
    ("crates/ssd/src/ftl/reclaim/", &["ftl::reclaim"]),
    ("crates/ssd/src/ftl/cleaning", &["ftl::cleaning"]),
    ("crates/ssd/src/ftl/media/", &["ftl::media", "ftl::Media"]),
    ("crates/ssd/src/ftl/moves/", &["ftl::moves", "ftl::Moves"]),
    ("crates/ssd/src/ftl/", &["ftl::reads", "ftl::writes", "ftl::Ftl"]),
];
/// Which address types a layer must not know (ARCHITECTURE.md, invariant 4).
pub const LAYER_NAMES: &[(&str, &[&str])] = &[
    ("crates/ssd/src/nand/", &["Lpn", "Lba", "Pun", "Ppn", "BlockId", "LaneId"]),
    ("crates/ssd/src/flash/", &["Lpn", "Lba"]),
    ("crates/ssd/src/ftl/", &["Lba"]),
    ("crates/ssd/src/host/", &["Ppn", "Pun", "OpPool", "pool"]),
];

/// Crates whose modules form no circle.
pub const CIRCLE_FREE: &[&str] = &["ssd", "lab", "cli", "workload", "abi", "serve", "capture", "python"];
/// Crates whose files form none: a parent and its children count as well.
pub const FILE_CIRCLE_FREE: &[&str] = &["workload", "abi", "serve", "lab", "capture", "cli", "python"];
/// Crates with so many files and folders beside `lib.rs` at most: each is a room whose name says what lives there.
pub const ROOT_ENTRIES: &[(&str, usize)] = &[("workload", 8), ("lab", 15), ("ssd", 14)];

/// Where printing is the job.
pub const PRINTING_ALLOWED: &[&str] =
    &["crates/cli/", "xtask/", "build.rs", "/benches/", "/tests/", "/examples/"];
/// Macros and functions that print. A library returns text or takes a writer.
pub const PRINTERS: &[&str] = &["println!", "eprintln!", "print!", "eprint!", "io::stdout", "io::stderr"];

/// Calls that panic where the system has no more threads.
pub const PANICKING_SPAWNS: &[&str] = &["scope.spawn(", "thread::spawn("];

/// The only files with `unsafe` code.
pub const UNSAFE_FILES: &[&str] = &[
    "crates/abi/benches/calls.rs",
    "crates/abi/src/call.rs",
    "crates/abi/src/layout.rs",
    "crates/abi/src/library.rs",
    "crates/abi/tests/suite/main.rs",
    "crates/capture/src/linux/sys.rs",
    "crates/ssd/src/base/prefetch.rs",
    "crates/ssd/tests/no_alloc.rs",
    "crates/lab/src/base/memory.rs",
    "crates/lab/src/base/process.rs",
    "crates/python/src/arrow.rs",
    "crates/python/src/column.rs",
    "crates/python/src/policies.rs",
];

/// Macros that declare a module for each entry `name: Type` of their list.
pub const MODULE_LISTS: &[&str] = &["family!", "formats!", "targets!"];

/// The folder whose modules a list in another file declares, that file, and the macro there that holds them.
pub const LISTED_ELSEWHERE: (&str, &str, &str) =
    ("crates/ssd/src/ftl/techniques/", "crates/ssd/src/techniques.rs", "techniques");

/// What each member of a policy family declares beside its `NAME`.
pub const MEMBER_CONSTANTS: &[&str] = &["SUMMARY", "SOURCE", "MEMORY"];

/// Direct dependencies of the core, at most.
pub const CORE_DEPENDENCIES: usize = 5;
/// Which crates of the workspace a crate may depend on; a crate not listed may use all.
pub const CRATE_LAYERS: &[(&str, &[&str])] = &[
    ("ssd", &[]),
    ("workload", &["ssd"]),
    ("capture", &["workload"]),
    ("abi", &["ssd"]),
    ("lab", &["ssd", "workload", "abi"]),
    ("serve", &["ssd"]),
];
