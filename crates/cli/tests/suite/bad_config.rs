//! Wrong configurations and command lines: exit code 2, and a message that names place, finding and alternatives.

use crate::program::{SMALL, file, folder, trace, wordline, wordline_in};

/// Text of a configuration, and what the message must say.
const CASES: &[(&str, &str, &[&str])] = &[
    (
        "unknown key",
        "[nand.timing]\nt_raed_us = 50\n",
        &["c.toml:2", "nand.timing.t_raed_us", "did you mean t_read_us?"],
    ),
    ("unknown table", "[nand.timign]\nt_read_us = 50\n", &["c.toml:1", "nand.timign", "nand.timing"]),
    (
        "wrong unit",
        "[nand.timing]\n\nt_erase_ms = 3\n",
        &["c.toml:3", "t_erase_ms", "t_erase_us", "unit is us"],
    ),
    (
        "wrong type",
        "[nand.geometry]\nchannels = \"eight\"\n",
        &["c.toml:2", "channels", "\"eight\"", "a whole number"],
    ),
    (
        "out of range",
        "[nand.geometry]\nbits_per_cell = 5\n",
        &["c.toml:2", "bits_per_cell", "found:   5", "1 to 4"],
    ),
    (
        "impossible geometry",
        "[nand.geometry]\nblocks_per_plane = 3\n",
        &["c.toml:2", "nand.geometry.blocks_per_plane", "allowed", "blocks_per_plane at least"],
    ),
    (
        "logical above physical",
        "[drive]\nlogical_gib = 100_000\n",
        &["c.toml:2", "drive.logical_gib", "100000 GiB logical", "physical"],
    ),
    (
        "zero queue depth",
        "[host.queues]\ndepth = 0\n",
        &["c.toml:2", "host.queues.depth", "found:   0", "1 to 65536"],
    ),
    (
        "unknown policy",
        "[ftl.gc_victim]\npolicy = \"gredy\"\n",
        &["c.toml:2", "\"gredy\"", "did you mean \"greedy\"?"],
    ),
    (
        "parameter of another policy",
        "[ftl.gc_victim]\npolicy = \"greedy\"\nd = 3\n",
        &["c.toml:3", "ftl.gc_victim.d", "d_choices"],
    ),
    ("unknown preset", "preset = \"tcl\"\n", &["c.toml:1", "\"tcl\"", "did you mean \"tlc\"?"]),
    ("not TOML", "[drive\nseed = 1\n", &["c.toml:1", "[drive"]),
    (
        "unknown key of the run",
        "[run]\nwarm_up_request = 5\n",
        &["c.toml:2", "run.warm_up_request", "warm_up_requests"],
    ),
    (
        "value of the run",
        "[run]\nloop_mode = \"opne\"\n",
        &["c.toml:2", "run.loop_mode", "did you mean \"open\"?"],
    ),
    (
        "unknown key of the workload",
        "[workload]\npattern = \"uniform\"\n\nread_percnt = 5\n",
        &["c.toml:4", "workload.read_percnt", "read_percent"],
    ),
    (
        "value of the workload",
        "[workload]\npattern = \"zipfian\"\n",
        &["c.toml:2", "workload.pattern", "zipfian", "uniform, sequential, zipf"],
    ),
];

#[test]
fn wrong_configurations_say_what_and_where() {
    let folder = folder("bad_config");
    for (what, text, says) in CASES {
        let config = file(&folder, "c.toml", text);
        let done = wordline(&["run", "--config", &config, "--synthetic", "uniform", "--requests", "10"]);
        println!("{what}: {}", done.err);
        done.fails(2, says);
        let done = wordline(&["explain", &config]);
        println!("{what}: {}", done.err);
        done.fails(2, says);
    }
    // All errors at once.
    let config = file(&folder, "c.toml", "[drive]\nsead = 1\n[host.queues]\ndepth = 0\n");
    wordline(&["explain", &config]).fails(2, &["c.toml:2", "seed", "c.toml:4", "host.queues.depth"]);
}

#[test]
fn wrong_arguments_say_what_and_where() {
    let run =
        |args: &[&str]| wordline(&[&["run", "--synthetic", "uniform", "--requests", "10"], args].concat());
    run(&["--set", "nand.timing.t_raed_us=5"]).fails(2, &["--set nand.timing.t_raed_us=5", "t_read_us"]);
    run(&["--set", "seed"]).fails(2, &["--set seed", "section.key=value"]);
    run(&["--set", "workload.cuont=5"]).fails(2, &["--set workload.cuont=5", "count"]);
    run(&["--drive", "m46"]).fails(2, &["--drive m46", "did you mean \"m64\"?"]);
    run(&["--depth", "0"]).fails(2, &["--closed 0", "run.depth", "1 to 65536"]);
    run(&["--queue-depth", "x"]).fails(2, &["--closed x", "run.depth", "\"x\"", "whole number"]);
    let set = "--set host.queues.depth=256";
    run(&["--closed", "1000", "--set", "host.queues.depth=256"])
        .fails(2, &["--closed 1000: run.depth", "found:   1000", "1 to 256", "host.queues.depth=1000", set]);
    run(&["--closed", "1000", "--set", "host.queues.count=100"])
        .fails(2, &["--closed 1000: run.depth", "found:   1000", "1 to 655", "host.queues.count=100"]);
    run(&["--closed", "4", "--open"]).fails(2, &["--closed", "--open"]);
    run(&["--precondition", "full"]).fails(2, &["--precondition", "\"full\"", "fill=PERCENT"]);
    run(&["--precondition", "fill=101"]).fails(2, &["--precondition fill=101", "0 to 100"]);
    run(&["--read-percent", "170"]).fails(2, &["--read-percent", "170", "0 to 100"]);
    run(&["--size", "4KB"]).fails(2, &["--size", "\"4KB\"", "4KiB"]);
    run(&["--size", "1000"]).fails(2, &["--size", "1000", "multiple of 512"]);
    run(&["--zipf", "80/20"]).fails(2, &["--zipf", "--synthetic uniform"]);
    wordline(&["run", "--zipf", "20/80"]).fails(2, &["zipf_access_percent", "20", "80"]);
    wordline(&["run", "--zipf", "80"]).fails(2, &["--zipf", "80/20"]);
    run(&["--seed", "-1"]).fails(2, &["--seed"]);
    run(&["--warm-up", "10", "--drive", "tlc", "--precondition", "none"]).fails(2, &["warm-up", "10"]);
    run(&["--first", "10"]).fails(2, &["--first", "traces"]);
    run(&[&trace()]).fails(2, &["both a trace", "generated"]);
    wordline(&["run", "--synthetic", "unifrom"]).fails(2, &["--synthetic", "uniform"]);
    wordline(&["run", "--requests", "0"]).fails(2, &["--requests", "from 1"]);
    wordline(&["run"]).fails(2, &["nothing to run", "--synthetic"]);
    wordline(&["run", &trace(), "--format", "msc"]).fails(2, &["--format", "msr"]);
    wordline(&["run", &trace(), "--address", "warp"]).fails(2, &["--address", "wrap"]);
    wordline(&["run", &trace(), "--speed-up", "0"]).fails(2, &["--speed-up", "above 0"]);
    let as_is = ["run", &trace(), "--address", "as_is", "--drive", "m64", "--precondition", "none"];
    wordline(&as_is).fails(2, &["174.66 GiB", "the drive has", "as_is", "wrap"]);
}

#[test]
fn files_that_cannot_be_used_are_named() {
    let folder = folder("bad_files");
    let place = folder.display().to_string();
    wordline(&["run", "no-such.toml"]).fails(2, &["no-such.toml", "No such file"]);
    wordline(&["run", "no-such.csv"]).fails(2, &["no-such.csv", "No such file"]);
    wordline(&["trace", "no-such.csv"]).fails(2, &["no-such.csv", "No such file"]);
    wordline(&["run", &place]).fails(2, &[&place, "a directory"]);
    wordline(&["run", "--config", &place, &trace()]).fails(2, &[&place]);
    wordline(&["compare", &place]).fails(2, &["result.json", "No such file"]);
    let config = file(&folder, "noise.toml", [0x80u8, 0xff, 0x00]);
    wordline(&["explain", &config]).fails(2, &["noise.toml", "UTF-8"]);
    let broken = file(&folder, "result.json", "{\"format\": 1");
    wordline(&["compare", &broken]).fails(2, &["result.json", "cannot understand"]);
    let small = file(&folder, "small.toml", SMALL);
    let run =
        ["run", "--config", &small, "--synthetic", "uniform", "--requests", "10", "--precondition", "none"];
    let log = folder.join("no-such/log.csv").display().to_string();
    wordline(&[&run[..], &["--request-log", &log]].concat()).fails(2, &["no-such/log.csv"]);
    let fio = folder.join("no-such/fio.json").display().to_string();
    wordline(&[&run[..], &["--fio-json", &fio]].concat())
        .fails(2, &["no-such/fio.json: cannot write the result in fio's layout: its folder does not exist"]);
    wordline(&[&run[..], &["--fio-json", &place]].concat()).fails(2, &[&place, "it is a folder"]);
    let below_a_file = format!("{small}/out");
    wordline(&[&run[..], &["--out", &below_a_file]].concat()).fails(2, &["small.toml/out"]);
}

#[test]
fn a_config_names_its_trace_from_its_own_folder() {
    let folder = folder("config_relative");
    file(&folder, "t.csv", "0,0,0,8,0\n1000,0,8,8,1\n");
    let config =
        file(&folder, "c.toml", format!("{SMALL}[workload]\npath = \"t.csv\"\nformat = \"mqsim\"\n"));
    let elsewhere = folder.join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    wordline_in(&elsewhere, &["run", &config, "--precondition", "none", "--json"]).fails(1, &["t.csv:1"]);
    file(&folder, "t.csv", "0 0 0 8 0\n1000 0 8 8 1\n");
    let result = wordline_in(&elsewhere, &["run", &config, "--precondition", "none", "--json"]).ok().json();
    assert_eq!(result["requests_served"], serde_json::json!(2));
}
