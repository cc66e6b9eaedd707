//! What makes the book's check red, each on the smallest page that shows it.

use super::blocks::{self, Place, Tally};
use super::page::{Page, slug};
use super::{Choice, expect, links, values};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// A checkout of a few files, with a program that knows one key and prints what it was given.
fn place(name: &str, files: &[(&str, &str)]) -> Place {
    let root = std::env::temp_dir().join(format!("wordline-book-{}-{name}", std::process::id()));
    _ = fs::remove_dir_all(&root);
    let write = |path: &str, text: &str| {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("it lies in the root")).expect("a folder");
        fs::write(path, text).expect("a file");
    };
    files.iter().for_each(|(path, text)| write(path, text));
    let program = "#!/bin/sh\nif [ \"$1\" = explain ] && ! grep -q '^good_key' \"$2\"; then\n  \
                   echo \"unknown key\"; exit 2\nfi\necho \"$*\"\n";
    write("target/debug/wordline", program);
    let program = root.join("target/debug/wordline");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("its own file");
    Place { libraries: PathBuf::new(), scratch: root.join("target/book"), soak: false, program, root }
}

/// What comes of a page in such a checkout.
fn run(name: &str, text: &str) -> Result<Tally, String> {
    let place = place(name, &[("data/t.csv", "1\n")]);
    let page = Page::parse("docs/a.md", text)?;
    let done = blocks::run(&place, &page);
    fs::remove_dir_all(&place.root).expect("its own folder");
    done
}

/// What is wrong with links of a page, beside a summary and another page.
fn dead(name: &str, text: &str) -> String {
    let files = [
        ("docs/a.md", text),
        ("docs/SUMMARY.md", "[a](a.md) [b](b.md)\n"),
        ("docs/b.md", "# B, and more\n"),
        ("crates/x.rs", ""),
    ];
    let place = place(name, &files);
    let pages = links::pages(&place.root).expect("they are there");
    let wrong = links::check(&place.root, &pages, &["ftl.gc_victim.policy".to_owned()]);
    fs::remove_dir_all(&place.root).expect("its own folder");
    wrong.join("\n")
}

#[test]
fn blocks_are_run_in_a_folder_with_the_files_of_the_checkout() {
    let page = "```sh\ncat data/t.csv\nwordline run x\n```\n\nprints\n\n```text\n1\nrun ...\n```\n";
    let tally = run("runs", page).expect("it is true");
    assert_eq!(tally, Tally { run: 1, compared: 1, skipped: 0, soak: 0 });
}

#[test]
fn a_changed_output_is_red() {
    let error = run("output", "```sh\nwordline run x\n```\n```text\nrun y\n```\n").expect_err("it prints x");
    assert!(error.contains("docs/a.md:4") && error.contains("run y") && error.contains("run x"), "{error}");
}

#[test]
fn a_command_that_fails_is_red_unless_the_page_says_so() {
    let error = run("fails", "```sh\nfalse\ntrue\n```\n").expect_err("its first command fails");
    assert!(error.contains("docs/a.md:1") && error.contains("exit status: 1, not 0"), "{error}");
    assert!(run("fails-rightly", "```sh exit=3\nexit 3\n```\n").is_ok());
    assert!(run("fails-not", "```sh exit=3\ntrue\n```\n").is_err());
}

#[test]
fn a_key_that_is_gone_is_red() {
    assert!(run("key", "```toml\ngood_key = 1\n```\n").is_ok());
    let error = run("no-key", "```toml\nbad_key = 1\n```\n").expect_err("explain refuses it");
    assert!(error.contains("docs/a.md:1") && error.contains("unknown key"), "{error}");
    let error = dead("inline-key", "`ftl.gc_victim.policy = \"fifo\"`, `--set ftl.gc_victm.policy=fifo`\n");
    assert_eq!(error, "docs/a.md:1: there is no key `ftl.gc_victm.policy`");
}

#[test]
fn a_dead_link_is_red() {
    assert_eq!(dead("alive", "# A\n[b](b.md#b-and-more), [a](#a), [c](../crates/x.rs), `crates/x.rs`\n"), "");
    for (number, (text, says)) in [
        ("[c](c.md)", "the link to c.md is dead: there is no docs/c.md"),
        ("\n[b](b.md#b)", "docs/a.md:2: the link to b.md#b is dead: docs/b.md has #b-and-more"),
        ("[a](#b)", "the link to #b is dead"),
        ("![a](a.svg)", "there is no docs/a.svg"),
        ("`crates/y.rs`", "`crates/y.rs` is not there"),
        ("```\nx\n```", "a block says what it is"),
    ]
    .into_iter()
    .enumerate()
    {
        let found = dead(&format!("dead{number}"), text);
        assert!(found.contains(says), "{text}: {found}");
    }
}

#[test]
fn a_page_that_no_summary_lists_is_red() {
    let place = place("unlisted", &[("docs/SUMMARY.md", ""), ("docs/a.md", "")]);
    let pages = links::pages(&place.root).expect("they are there");
    assert_eq!(links::check(&place.root, &pages, &[]), ["docs/SUMMARY.md: docs/a.md is not listed"]);
    fs::remove_dir_all(&place.root).expect("its own folder");
}

#[test]
fn a_skip_needs_a_reason_and_an_option_must_be_known() {
    let skipped = run("skip", "```sh skip=\"needs root\"\nfalse\n```\n```sh soak\nfalse\n```\n");
    assert_eq!(skipped, Ok(Tally { run: 0, compared: 0, skipped: 1, soak: 1 }));
    for text in ["```sh skip\nfalse\n```\n", "```sh skip=\" \"\nfalse\n```\n", "```sh slow\ntrue\n```\n"] {
        assert!(run("bad-option", text).is_err(), "{text}");
    }
    assert!(Page::parse("a.md", "```sh\ntrue\n").is_err_and(|error| error.contains("never closed")));
}

#[test]
fn a_block_can_be_a_file_for_those_behind_it() {
    let page = "```csv file=my.csv\n7\n```\n```sh\ncat my.csv\n```\n```text\n7\n```\n";
    assert_eq!(run("file", page).map(|tally| tally.compared), Ok(1));
}

#[test]
fn c_is_compiled() {
    assert!(run("c", "```c\nint twice(int x) { return 2 * x; }\n```\n").is_ok());
    assert!(run("bad-c", "```c\nint twice(int x) { return 2 * y; }\n```\n").is_err());
}

#[test]
fn outputs_are_compared_but_for_what_is_left_out() {
    let printed = "a 1\nb 2.5 ms\n\nc\nd\n";
    for shown in
        ["a 1\nb 2.5 ms\n\nc\nd", "a 1\n...\nd", "...\nd", "a 1\n...", "a ...\nb ... ms\n\n...\nc\nd"]
    {
        assert_eq!(expect::compare(shown, printed), Ok(()), "{shown}");
    }
    for shown in ["a 1", "a 1\n...\nc", "a 2\n...", "...\nd\nd", "a 1\nb ... us\n...", "", "..."] {
        assert!(expect::compare(shown, printed).is_err(), "{shown}");
    }
    // It tries again when what follows the first likely place does not fit.
    assert_eq!(expect::compare("...\nx\ny", "x\nz\nx\ny"), Ok(()));
}

#[test]
fn anchors_are_those_of_code_hosts() {
    assert_eq!(slug("Threshold voltages (`state.rs`)"), "threshold-voltages-staters");
    let page = Page::parse("a.md", "# A b\n## A b\n").expect("it is one");
    assert_eq!(page.anchors, ["a-b", "a-b-1"]);
}

#[test]
fn tests_are_chosen_as_libtest_chooses_them() {
    let choice =
        |words: &[&str]| Choice::of(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
    let one = choice(&["--exact", "--nocapture", "docs/a.md"]).expect("as make test asks");
    assert!(one.holds("docs/a.md") && !one.holds("docs/a.md2"));
    assert!(choice(&["--list", "--format", "terse"]).expect("as make test asks").list);
    assert!(choice(&["--lits"]).is_err());
    let keys: Vec<_> = values("{\n  \"family\": \"ftl/x\",\n    \"key\": \"d\",\n").collect();
    assert_eq!(keys, [("family", "ftl/x".to_owned()), ("key", "d".to_owned())]);
}
