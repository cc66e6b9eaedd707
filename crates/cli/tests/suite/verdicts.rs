//! What bounds a run is told right: overload, idleness, bursts.

use crate::program::{folder, trace, wordline};
use serde_json::Value;

fn verdict(args: &[&str]) -> Value {
    let found = wordline(&[&["run", "--json"], args].concat()).ok().json();
    found["verdict"].clone()
}

fn of_generator(args: &str) -> Value {
    let requests = if args.contains("--requests") { "" } else { "--requests 20000 " };
    let all = format!("--synthetic uniform --set run.overwrite=none {requests}{args}");
    verdict(&all.split_whitespace().collect::<Vec<_>>())
}

/// More comes than the drive can serve, for as long as it comes.
const OVERLOADED: [&str; 12] = [
    "--read-percent 0 --rate 200000 --requests 100000 --footprint 1GiB --size footprint --set run.overwrite=steady_state --set drive.over_provisioning_percent=28",
    "--read-percent 0 --rate 3000000",
    "--read-percent 30 --rate 3000000",
    "--read-percent 70 --rate 3000000",
    "--read-percent 100 --rate 3000000",
    "--read-percent 100 --rate 200000 --size 64KiB",
    "--read-percent 0 --rate 20000 --size 256KiB --requests 4000",
    "--read-percent 50 --rate 500000 --size 16KiB",
    "--read-percent 0 --rate 400000 --requests 40000 --footprint 1GiB --size footprint --set run.overwrite=steady_state --set drive.over_provisioning_percent=28",
    "--drive m64 --precondition none --read-percent 0 --rate 600000 --set host.buffer.policy=none",
    "--drive tlc --precondition none --read-percent 0 --rate 100000 --size 128KiB",
    "--drive mqsim --precondition none --read-percent 0 --rate 500000 --size 16KiB",
];

/// Less comes than the drive can serve.
const IDLE: [&str; 12] = [
    "--read-percent 0 --rate 500",
    "--read-percent 0 --rate 2000",
    "--read-percent 30 --rate 500",
    "--read-percent 30 --rate 2000",
    "--read-percent 70 --rate 2000",
    "--read-percent 70 --rate 8000",
    "--read-percent 100 --rate 2000",
    "--read-percent 100 --rate 20000",
    "--read-percent 100 --rate 1000 --size 64KiB",
    "--read-percent 50 --rate 500 --size 128KiB --requests 4000",
    "--drive m64 --precondition none --read-percent 0 --rate 2000",
    "--drive tlc --precondition none --read-percent 0 --rate 1000 --size 16KiB",
];

fn each_is(wanted: &str, loads: [&str; 12]) {
    for load in loads {
        let found = of_generator(load);
        assert_eq!(found["state"], wanted, "{load}: {}", found["text"]);
        assert!(wanted == "overloaded" || found["bound_by"].is_null(), "{load}: {found}");
        let text = found["text"].as_str().unwrap();
        let is_doubted = text.contains("they do not show how fast the drive is");
        assert_eq!(is_doubted, wanted == "overloaded", "{text}");
    }
}

#[test]
fn overload_is_told() {
    each_is("overloaded", OVERLOADED);
}

#[test]
fn idleness_is_told_from_it() {
    each_is("idle", IDLE);
    assert_eq!(of_generator("--depth 32")["state"], "closed");
}

/// What bounds an overloaded drive is named.
#[test]
fn what_bounds_a_drive_is_named() {
    let link = "--read-percent 100 --rate 200000 --size 64KiB --set host.link.bandwidth_mb_s=500";
    assert_eq!(of_generator(link)["bound_by"], "link");
    let firmware = "--read-percent 100 --rate 200000 --set host.firmware.t_command_us=50";
    assert_eq!(of_generator(firmware)["bound_by"], "firmware");
    let dies = "--read-percent 100 --rate 3000000 --footprint 1GiB";
    assert_eq!(of_generator(dies)["bound_by"], "dies");
    for chips in [8, 16] {
        let channels = format!(
            "--drive tlc --read-percent 100 --size 16KiB --depth 256 --set nand.geometry.channels=2 --set \
             nand.geometry.chips_per_channel={chips} --set nand.geometry.blocks_per_plane=64"
        );
        let found = of_generator(&channels);
        assert_eq!(found["bound_by"], "channels", "{chips} chips: {}", found["text"]);
    }
}

/// A trace that is played so fast that it is one long queue.
#[test]
fn a_trace_that_comes_too_fast_is_told() {
    let fast = verdict(&[&trace(), "--speed-up", "5000", "--first", "20000"]);
    assert_eq!(fast["state"], "overloaded", "{fast}");
    let slow = verdict(&[&trace(), "--first", "20000"]);
    assert_ne!(slow["state"], "overloaded", "{slow}");
}

/// For scripts: what is required of results is an exit code of its own, with what was found.
#[test]
fn what_is_required_and_not_so_is_exit_code_3() {
    let place = folder("required");
    let out = place.join("fast").display().to_string();
    let fast =
        ["run", &trace(), "--speed-up", "5000", "--first", "20000", "--precondition", "none", "--json"];
    let required =
        ["--require", "not-overloaded,complete, steady,read_latency_p99 < 1us,write_amplification<100"];
    let done = wordline(&[&fast[..], &required, &["--out", &out]].concat()).fails(
        3,
        &[
            "--require is not met",
            "fast: not-overloaded: overloaded: ",
            "fast: steady: the drive was not preconditioned",
            "fast: read_latency_p99 < 1us: found ",
        ],
    );
    assert!(!done.err.contains("complete:") && !done.err.contains("write_amplification"), "{}", done.err);
    // It is printed and written all the same.
    assert_eq!(done.json()["verdict"]["state"], "overloaded");
    assert!(std::path::Path::new(&out).join("result.json").is_file());
    wordline(&["compare", &out, "--require", "IOPS>1,simulated_time<=1000s"]).ok();
    wordline(&["compare", &out, "--require", "IOPS>1e12"]).fails(3, &["fast: IOPS>1e12: found "]);
    for (wrong, says) in [
        ("stedy", "did you mean \"steady\""),
        ("read_latency_p9<3us", "did you mean \"read_latency_p99\""),
        ("read_latency_p99<3", "a time such as 300us"),
        ("IOPS>many", "a number such as 1.5"),
        ("IOPS>nan", "a number such as 1.5"),
        ("", "allowed: steady, not-overloaded"),
    ] {
        wordline(&["compare", &out, "--require", wrong]).fails(2, &["--require: found", says]);
    }
}

/// Results side by side are marked as a sweep's cells are, in text, Markdown and CSV.
#[test]
fn compared_results_are_marked_and_their_problems_told() {
    let place = folder("verdicts-compared");
    let of = |name: &str, rate: &str| {
        let out = place.join(name).display().to_string();
        let load = ["run", "--drive", "m64", "--synthetic", "uniform", "--requests", "20000", "--rate", rate];
        let past = ["--precondition", "fill=100", "--read-percent", "100", "--name", name, "--out", &out];
        wordline(&[&load[..], &past, &["--set", "nand.geometry.blocks_per_plane=64"]].concat()).ok();
        out
    };
    let (calm, fast) = (of("calm", "1000"), of("fast", "3000000"));
    let pair = wordline(&["compare", &calm, &fast]).ok().out;
    let head = pair.lines().next().unwrap();
    assert!(head.contains("calm") && !head.contains("calm (") && head.contains("fast (o)"), "{pair}");
    assert!(pair.contains("\nMarked runs are (o) overloaded.\n"), "{pair}");
    assert!(pair.contains("\nfast: overloaded: "), "{pair}");
    let alone = wordline(&["compare", &calm]).ok().out;
    assert!(!alone.contains("Marked runs"), "{alone}");
    let markdown = wordline(&["compare", &calm, &fast, "--markdown"]).ok().out;
    assert!(markdown.contains("| fast (o) |") && markdown.contains("\nMarked runs are (o)"), "{markdown}");
    let csv = wordline(&["compare", &calm, &fast, "--csv", "-"]).ok().out;
    let lines: Vec<&str> = csv.lines().collect();
    assert!(
        lines[0].ends_with(",problems") && lines[1].ends_with(',') && lines[2].ends_with(",overloaded"),
        "{csv}"
    );
    let many = wordline(&["compare", &calm, &fast, &fast, &fast, &fast]).ok().out;
    assert_eq!(many.lines().filter(|line| line.contains("(o)")).count(), 5, "{many}");
    let chosen = wordline(&["compare", &calm, &fast, "--keys", "read_latency_p99"]).ok().out;
    assert!(chosen.contains("Marked runs are (o)"), "{chosen}");
}
