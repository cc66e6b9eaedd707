//! What people write at first: understood, or answered with the spelling that is; and what means nothing: refused.

use crate::program::{SMALL, file, folder, trace, wordline, wordline_reading};
use serde_json::json;

/// A quick run on a small drive, as JSON.
fn quick(config: &str, extra: &[&str]) -> serde_json::Value {
    let args = ["run", "--config", config, "--precondition", "none", "--json"];
    wordline(&[&args[..], extra].concat()).ok().json()
}

#[test]
fn one_flag_of_a_generator_is_enough_to_generate() {
    let folder = folder("implied");
    let small = file(&folder, "small.toml", SMALL);
    for flags in [
        &["--read-percent", "100"][..],
        &["--size", "16KiB"],
        &["--rate", "50000"],
        &["--depth", "4"],
        &["--footprint", "16MiB"],
    ] {
        let result = quick(&small, &[flags, &["--set", "workload.count=500"]].concat());
        assert_eq!(result["requests_served"], json!(500), "{flags:?}");
    }
    // A depth is no workload where there is another, or where nothing is to run.
    let result = quick(&small, &[&trace(), "--first", "300", "--depth", "4"]);
    assert_eq!((&result["depth"], &result["name"]), (&json!(4), &json!("rocksdb-ycsb-a-run1.csv.zst")));
    wordline(&["run", "--drive", "m64"]).fails(2, &["nothing to run", "--read-percent"]);
}

#[test]
fn numbers_may_have_exponents_and_units() {
    let folder = folder("numbers");
    let small = file(&folder, "small.toml", SMALL);
    let result = quick(&small, &["--requests", "1e3", "--zipf", "1.2", "--warm-up", "1e2", "--depth", "1e1"]);
    assert_eq!((&result["requests_served"], &result["requests_measured"]), (&json!(1000), &json!(900)));
    assert_eq!(result["depth"], json!(10));
    let theta =
        quick(&small, &["--requests", "1000", "--zipf-theta", "1.2", "--warm-up", "100", "--depth", "10"]);
    assert_eq!(result["event_hash"], theta["event_hash"]);
    let text =
        "[nand.timing]\nt_read_us = \"60us\"\nt_erase_us = \"3 ms\"\n[host.buffer]\nsize_mib = \"0.5GiB\"\n";
    let config = file(&folder, "units.toml", text);
    let show = |args: &[&str], key: &str| {
        let text = wordline(&[&["explain", "--only", key], args].concat()).ok().out;
        let line = text.lines().find(|line| line.starts_with("  ")).expect("a key").to_owned();
        line.split_whitespace().nth(1).expect("a value").to_owned()
    };
    assert_eq!(show(&[&config], "nand.timing.t_read_us"), "[60]");
    assert_eq!(show(&[&config], "nand.timing.t_erase_us"), "3000");
    assert_eq!(show(&[&config], "host.buffer.size_mib"), "512");
    let list = "nand.timing.t_read_us=[\"50us\", \"0.06ms\", 70]";
    let listed = wordline(&["explain", "--only", "nand.timing", "--set", list]).ok().out;
    assert!(listed.contains("[50, 60, 70]"), "{listed}");
    assert_eq!(show(&["--set", "nand.timing.t_erase_us=500ns"], "nand.timing.t_erase_us"), "0.5");
    let refused = |set: &str, says: &[&str]| {
        wordline(&["explain", "--set", set]).fails(2, says);
    };
    refused("nand.timing.t_erase_us=3MiB", &["\"3MiB\"", "0 to 10000000 us"]);
    refused("drive.seed=1.0", &["1.0", "a whole number"]);
    refused("nand.geometry.channels=0.5e1", &["5.0", "a whole number"]);
}

#[test]
fn half_a_key_is_answered_with_the_whole_one() {
    for (set, near) in [
        ("over_provisioning=7", "drive.over_provisioning_percent"),
        ("t_read_us=60", "nand.timing.t_read_us"),
        ("t_read=60", "nand.timing.t_read_us"),
        ("nand.t_erase_ms=3", "nand.timing.t_erase_us"),
        ("drive.over_provisioning=7", "over_provisioning_percent? Its unit is %"),
    ] {
        wordline(&["explain", "--set", set]).fails(2, &["no such key", &format!("did you mean {near}")]);
    }
}

#[test]
fn what_means_nothing_is_refused() {
    let run =
        |args: &[&str]| wordline(&[&["run", "--synthetic", "uniform", "--requests", "10"], args].concat());
    run(&["--name", ""]).fails(2, &["--name"]);
    run(&["--name", " "]).fails(2, &["--name"]);
    for log in ["x.xlsx", "x.csv.gz", "x.txt"] {
        for flag in ["--request-log", "--versions"] {
            run(&[flag, log]).fails(2, &[flag, log, ".csv", ".parquet"]);
        }
    }
    wordline(&["run", &trace(), "--first", "0"]).fails(2, &["--first", "found 0", "from 1"]);
    wordline(&["trace", &trace(), "--first", "0"]).fails(2, &["--first", "found 0", "from 1"]);
    for depth in ["0", "-0", "00", "0.0", "0e1"] {
        run(&["--closed", depth]).fails(2, &["--closed", "run.depth", "1 to 65536"]);
    }
    for space in ["0", "0KiB", "0%"] {
        run(&["--footprint", space]).fails(2, &["--footprint", "allowed"]);
    }
    run(&["--precondition", "none,steady"])
        .fails(2, &["--precondition", "\"none\"", "\"steady\"", "none alone"]);
    run(&["--precondition", "fill=50%,fill=60"]).fails(2, &["\"fill=50%\"", "\"fill=60\"", "once"]);
    run(&["--precondition", "steady,times=2"]).fails(2, &["\"steady\"", "\"times=2\""]);
    run(&["--zipf", "80"]).fails(2, &["--zipf"]);
    wordline(&["run", "--zipf", "80"]).fails(2, &["80/20", "such as 1.2", "--zipf-theta"]);
}

#[test]
fn a_pipe_without_a_writer_is_refused_and_not_waited_for() {
    let folder = folder("pipes");
    let pipe = folder.join("pipe.toml").display().to_string();
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo is there");
    assert!(made.success());
    let says = ["pipe.toml", "named pipe"];
    wordline(&["explain", &pipe]).fails(2, &says);
    wordline(&["run", &pipe]).fails(2, &says);
    wordline(&["compare", &pipe]).fails(2, &says);
    wordline(&["run", "--requests", "10", "--snapshot", &pipe]).fails(2, &says);
    let pipe = folder.join("pipe.csv").display().to_string();
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    wordline(&["run", &pipe]).fails(2, &["pipe.csv", "not a regular file", "standard input"]);
    wordline(&["trace", &pipe]).fails(2, &["pipe.csv", "not a regular file"]);
}

#[test]
fn sizes_in_errors_have_units_that_say_something() {
    let folder = folder("small_units");
    let small = file(&folder, "small.toml", SMALL);
    let args =
        ["run", "--config", &small, "--precondition", "none", "--footprint", "4KiB", "--size", "64KiB"];
    let done = wordline(&args).fails(2, &["KiB"]);
    assert!(!done.err.contains("0.000"), "{}", done.err);
    let far = file(&folder, "far.csv", "0 0 99999999 8 0\n1000 0 8 8 1\n");
    let args = ["run", "--config", &small, "--precondition", "none", "--format", "mqsim", "--address"];
    let done = wordline(&[&args[..], &["as_is", &far]].concat());
    assert!(!done.err.contains("0.000"), "{}", done.err);
}

#[test]
fn the_version_tells_the_commit() {
    let text = wordline(&["--version"]).ok().out;
    let result = wordline(&["run", "--requests", "10", "--precondition", "none", "--json"]).ok().json();
    assert_eq!(text.trim(), format!("wordline {}", result["version"].as_str().unwrap()));
    let help = wordline(&["run", "--help"]).ok().out;
    assert!(help.contains(".parquet"), "{help}");
}

#[test]
fn refused_ageing_names_drives_that_age() {
    let says = ["run.age", "nand.errors.model", "aged_tlc", "aged_qlc"];
    wordline(&["run", "--requests", "10", "--age", "cycle to 3000"]).fails(2, &says);
    let plain = wordline(&["explain"]).ok().out;
    assert!(plain.contains("--age") && plain.contains("aged_tlc, aged_qlc"), "{plain}");
    let aged = wordline(&["explain", "--drive", "aged_tlc"]).ok().out;
    assert!(!aged.contains("drives whose cells age"), "{aged}");
}

#[test]
fn an_unknown_trace_is_told_the_formats_and_the_next_step() {
    let folder = folder("unknown_trace");
    let odd = file(&folder, "odd.csv", "when;what;where\n1;W;7\n2;R;9\n");
    let names = workload::formats().map(|format| format.name).collect::<Vec<_>>().join(", ");
    let says = ["odd.csv", "begins with 'when;what;where'", &names, "wordline formats", "--format"];
    wordline(&["run", &odd]).fails(2, &says);
    wordline(&["trace", &odd]).fails(2, &says);
}

#[test]
fn a_trace_comes_from_standard_input() {
    let folder = folder("stdin");
    let small = file(&folder, "small.toml", SMALL);
    let text = "0 0 0 8 0\n1000 0 8 8 1\n2000 0 16 8 1\n".repeat(20);
    let path = file(&folder, "t.trace", &text);
    let options = ["--config", &small, "--precondition", "none", "--set", "workload.format=mqsim"];
    let options = [&options[..], &["--time-unit", "ns", "--copies", "3", "--json"]].concat();
    let named = wordline(&[&["run", &path], &options[..]].concat()).ok().json();
    let packed = zstd::encode_all(text.as_bytes(), 3).unwrap();
    for bytes in [text.as_bytes(), &packed] {
        let out = folder.join(format!("out-{}", bytes.len()));
        let place = out.display().to_string();
        let args = [&["run", "-", "--out", &place], &options[..]].concat();
        let done = wordline_reading(&args, bytes).ok();
        let piped = done.json();
        for key in ["event_hash", "workload_hash", "requests_served"] {
            assert_eq!(piped[key], named[key], "{key}");
        }
        assert!(done.err.contains("standard input:") && done.err.contains("temporary file"), "{}", done.err);
        // What repeats the run reads standard input again.
        let config = std::fs::read_to_string(out.join("config.toml")).unwrap();
        assert!(config.contains("path = \"-\""), "{config}");
    }
    let looked = wordline_reading(&["trace", "-", "--format", "mqsim", "--time-unit", "ns"], &packed).ok();
    assert!(looked.out.contains("60"), "{}", looked.out);
    wordline_reading(&["run", "-", "--format", "mqsim"], b"").fails(1, &["standard input", "no request"]);
    wordline_reading(&["run", "-", "--format", "mqsim"], b"x y\n").fails(1, &["standard input:1"]);
}

/// What is told of a wrong value is what was written, and the whole of what may stand there.
#[test]
fn errors_show_what_was_written_and_the_whole_form() {
    let folder = folder("forms");
    let small = file(&folder, "small.toml", SMALL);
    let run = |flags: &[&str]| wordline(&[&["run", "--config", &small], flags].concat());
    let done = run(&["--size", "0"]).fails(2, &["found 0,", "a multiple of 512"]);
    assert!(!done.err.contains("array"), "{}", done.err);
    run(&["--size", "4KiB:9,100"]).fails(2, &["[[4096, 9], [100, 1]]"]);
    let form = "\"cycle to 3000\", \"cycle to 3000 with 5 minutes dwell\"";
    let aged = ["--requests", "10", "--set", "nand.errors.model=cells", "--age"];
    run(&[&aged[..], &["cycle 3000"]].concat()).fails(2, &["cycle 3000", form, "found \"3000\""]);
    run(&[&aged[..], &["retain 12 fortnights"]].concat())
        .fails(2, &["\"retain 12 months at 55 C\"", "weeks"]);
    run(&[&aged[..], &["bake 3"]].concat()).fails(2, &["\"disturb 50000 reads\""]);
}

#[test]
fn a_job_file_is_no_configuration() {
    let folder = folder("jobs-as-config");
    let jobs = file(&folder, "job.fio", "[a]\nrw=randwrite\nsize=1m\nbs=4k\n");
    let unnamed = file(&folder, "job", "[global]\nioengine=libaio\n[a]\nrw=randwrite\nsize=1m\n");
    for path in [&jobs, &unnamed] {
        let how = format!("wordline run {path}");
        for command in ["run", "explain"] {
            wordline(&[command, "--config", path]).fails(2, &["a fio job file", &how]);
        }
    }
}

/// Nothing is printed, and everything that was asked for is there.
#[test]
fn a_quiet_run_saves_its_drive() {
    let folder = folder("quiet");
    let small = file(&folder, "small.toml", SMALL);
    let snapshot = folder.join("drive.snap");
    let saved = ["run", "-q", "--config", &small, "--requests", "100", "--save-snapshot"];
    let done = wordline(&[&saved[..], &[&snapshot.display().to_string()]].concat()).ok();
    assert_eq!((done.out.as_str(), done.err.as_str()), ("", ""));
    assert!(snapshot.is_file() && folder.join("drive.snap.toml").is_file());
}

#[test]
fn a_format_that_the_trace_is_not_of_is_a_wrong_flag() {
    let folder = folder("formats");
    let spc = file(&folder, "t.spc", "0,303567,3584,w,0.000000\n1,55590,3072,w,0.000000\n");
    for command in [&["run"][..], &["trace", "info"]] {
        let named = |format| wordline(&[command, &["--format", format, &spc]].concat());
        named("msr").fails(2, &["t.spc:1: column", "in the format msr", "looks like spc"]);
        named("blkparse").fails(2, &["t.spc:1:", "in the format blkparse"]);
    }
    // A line that is damaged in a trace of that format is damage.
    let damaged = file(&folder, "d.spc", "0,303567,3584,w,0.000000\n1,55590,x,w,0.000000\n");
    wordline(&["trace", "info", "--format", "spc", &damaged]).fails(1, &["d.spc:2: column"]);
}
