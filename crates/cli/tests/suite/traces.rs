//! `wordline trace convert` and `cut`: what is written is what was read.

use crate::program::{file, folder, trace, wordline};
use serde_json::json;
use std::process::Command;

#[test]
fn a_trace_converted_is_the_same_trace() {
    let folder = folder("convert");
    let info = |path: &str| {
        let mut json = wordline(&["trace", "info", path, "--json"]).ok().json();
        for key in ["file", "title", "lines"] {
            json.as_object_mut().unwrap().remove(key);
        }
        json
    };
    let packed = folder.join("t.wl.zst").display().to_string();
    let said = wordline(&["trace", "convert", &trace(), "--out", &packed]).ok();
    let note = "note: format: rocksdb (all of the first 999 lines match)";
    assert_eq!(said.out, format!("{packed}: 64,420 requests in the format wordline\n  {note}\n"));
    assert_eq!(info(&packed), info(&trace()));
    // From that format to itself nothing changes, packed or not, in a file or not.
    let again = wordline(&["trace", "convert", &packed]).ok();
    let unpacked = zstd::decode_all(&std::fs::read(&packed).unwrap()[..]).unwrap();
    assert!(again.out.as_bytes() == unpacked);
    assert!(again.err.contains("64,420 requests"), "{}", again.err);
}

#[test]
fn what_a_format_cannot_hold_is_said() {
    let folder = folder("lost");
    let path = folder.join("t.trace").display().to_string();
    let said = wordline(&["trace", "convert", &trace(), "--to", "mqsim", "--out", &path]).ok().out;
    for part in ["64,189 requests in the format mqsim", "note: 231 trims left out", "lose their file hint"] {
        assert!(said.contains(part), "{part} in {said}");
    }
    let said = wordline(&["trace", "convert", "--workload", "ads", "--requests", "7"]).ok();
    assert_eq!(said.out.lines().count(), 8, "{}", said.out);
    let closed = ["trace", "convert", "--synthetic", "uniform", "--requests", "7", "--footprint", "1MiB"];
    assert!(wordline(&closed).ok().err.contains("requests have no times"));
}

#[test]
fn a_cut_keeps_hints_and_says_when_it_cuts_nothing() {
    let head = wordline(&["trace", "cut", &trace(), "--first", "2"]).ok().out;
    let columns = "time_ns,op,lba,sectors,device,stream,file,process,context,priority,class,one_time";
    assert_eq!(head, format!("#wordline 1 {columns}\n0,W,1652296,256,,,76\n35081,W,1652552,256,,,76\n"));
    wordline(&["trace", "cut", &trace()]).fails(2, &["nothing is cut", "--first"]);
}

#[test]
fn nothing_is_overwritten_unasked() {
    let folder = folder("overwrite");
    let taken = file(&folder, "t.wl", "mine");
    let args = ["trace", "cut", &trace(), "--first", "2", "--out", &taken];
    wordline(&args).fails(2, &["it exists", "not a trace"]);
    assert_eq!(std::fs::read_to_string(&taken).unwrap(), "mine");
    // Nor are files that are no traces, whatever is asked.
    wordline(&[&args[..], &["--force"]].concat()).fails(2, &["not a trace in the format wordline"]);
    file(&folder, "t.wl", "");
    wordline(&args).ok();
    wordline(&args).fails(2, &["found:   a trace in the format wordline", "--force"]);
    wordline(&[&args[..], &["--force"]].concat()).ok();
    wordline(&["trace", "cut", &taken, "--first", "1", "--out", &taken, "--force"])
        .fails(2, &["overwrite", "the trace"]);
    wordline(&["trace", "convert", &trace(), "--to", "mqsin"]).fails(2, &["--to", "did you mean \"mqsim\""]);
    // A trace that cannot be read to its end leaves no half of itself.
    let damaged = file(&folder, "d.wl", "#wordline 1 time_ns,op,lba,sectors\n1,R,0,8\n2,R,x,8\n");
    let half = folder.join("half.wl").display().to_string();
    wordline(&["trace", "convert", &damaged, "--out", &half]).fails(1, &["d.wl:3: column lba"]);
    assert!(!std::path::Path::new(&half).exists());
}

#[test]
fn fio_reads_the_iolog() {
    if !Command::new("fio").arg("--version").output().is_ok_and(|done| done.status.success()) {
        eprintln!("passed over: there is no fio");
        return;
    }
    let folder = folder("fio");
    let text = "#wordline 1 time_ns,op,lba,sectors,device\n\
                0,R,0,8\n1500,W,2048,256,1\n2000,F,0,0,1\n2500,R,100000,1\n300000000,W,8,8,1\n";
    let (source, log) = (file(&folder, "t.wl", text), folder.join("t.iolog").display().to_string());
    wordline(&["trace", "convert", &source, "--to", "fio_iolog", "--out", &log]).ok();
    let job = ["--name=x", "--ioengine=null", "--size=1G", "--output-format=json"];
    let done = Command::new("fio")
        .args(job)
        .arg(format!("--read_iolog={log}"))
        .current_dir(&folder)
        .output()
        .expect("fio runs");
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success(), "{said}\n{}", String::from_utf8_lossy(&done.stderr));
    let json: serde_json::Value = serde_json::from_str(&said[said.find('{').expect("JSON")..]).unwrap();
    let job = &json["jobs"][0];
    let count = |kind: &str| (job[kind]["total_ios"].as_u64(), job[kind]["io_bytes"].as_u64());
    assert_eq!(count("read"), (Some(2), Some(8 * 512 + 512)));
    assert_eq!(count("write"), (Some(2), Some(256 * 512 + 4096)));
    // The unit of its times: 0.3 s between the first request and the last.
    let ms = job["job_runtime"].as_u64().unwrap();
    assert!((299..10_000).contains(&ms), "{ms} ms");
}

/// Two devices: on the first a write, the same again, a read that goes on where it ended; on the second one read.
const STORY: &str = "#wordline 1 time_ns,op,lba,sectors,device,stream,file,process\n\
    0,W,0,16,,,7,3\n1000000000,W,0,16,,,7,4\n1500000000,RF,16,8\n2000000000,R,0,8,5\n2500000000,T,0,8\n";

#[test]
fn info_tells_what_can_be_counted_by_hand() {
    let folder = folder("info");
    let path = file(&folder, "t.wl", STORY);
    let json = wordline(&["trace", "info", &path, "--json"]).ok().json();
    assert_eq!((&json["requests"], &json["trims"], &json["fua"]), (&json!(4), &json!(1), &json!(1)));
    // 8 of 24 KiB; four pages.
    assert!((json["read_bytes_percent"].as_f64().unwrap() - 100.0 / 3.0).abs() < 1e-9);
    assert_eq!((&json["footprint_bytes"], &json["end_lba"]), (&json!(4 * 4096), &json!(2048 + 8)));
    assert_eq!(json["sequential"], json!({ "reads": 1, "writes": 0 }));
    // Two of four page writes; a second later, and two pages.
    let rewrites = &json["rewrites"];
    assert_eq!((&rewrites["page_writes"], &rewrites["percent"]), (&json!(4), &json!(50.0)));
    assert_eq!(rewrites["interval_bytes"]["p50"], json!(2 * 4096));
    let interval = rewrites["interval_ns"]["p90"].as_f64().unwrap();
    assert!((interval / 1e9 - 1.0).abs() < 1.0 / 64.0, "{interval}");
    // Accesses 2, 2, 1, 1 of four pages: (-3 - 1 + 2 + 6) / (4 x 6).
    let all = &json["popularity"]["all"];
    assert_eq!((&all["pages"], &all["accesses"]), (&json!(4), &json!(6)));
    assert!((all["gini"].as_f64().unwrap() - 4.0 / 24.0).abs() < 1e-12, "{all}");
    // A cache of one page hits nothing, one of two both writes again.
    let curve = json["reuse"]["miss_ratio"].as_array().unwrap();
    let at = |bytes: u64| curve.iter().find(|p| p["cache_bytes"] == json!(bytes)).unwrap()["all"].as_f64();
    assert_eq!(at(4096), Some(1.0));
    assert!((at(8192).unwrap() - 4.0 / 6.0).abs() < 1e-12, "{curve:?}");
    assert_eq!((&json["devices"][0]["number"], &json["devices"][1]["reads"]), (&json!(0), &json!(1)));
    assert_eq!(json["processes"].as_array().map(Vec::len), Some(2));
    assert_eq!(json["files"][0]["bytes_written"], json!(16384));
    assert_eq!(json["rate"]["requests_per_s_max"], json!(2));
    let text = wordline(&["trace", "info", &path]).ok().out;
    for part in [
        "4 (50.0 % reads, 33.3 % of bytes)",
        "25.0 % of requests (50.0 % of reads, 0.0 % of writes)",
        "50.0 % of page writes",
        "devices       2; by bytes 0 (83.3 %), 5 (16.7 %)",
        "processes     2;",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn info_calls_processes_and_devices_by_their_names() {
    let event = |time: &str, device: &str, op: &str, lba: u32, name: &str| {
        format!("{device} 1 1 {time} 100 Q {op} {lba} + 8 [{name}]\n")
    };
    let text = event("0.0", "8,16", "W", 0, "java")
        + &event("0.1", "259,2", "R", 8, "kjournald")
        + &event("0.2", "8,16", "W", 16, "java");
    let path = file(&folder("names"), "t.blkparse", &text);
    let json = wordline(&["trace", "info", &path, "--json"]).ok().json();
    let names = |what: &str| [&json[what][0]["name"], &json[what][1]["name"]];
    assert_eq!(names("processes"), [&json!("java"), &json!("kjournald")]);
    assert_eq!(names("devices"), [&json!("8,16"), &json!("259,2")]);
    let text = wordline(&["trace", "info", &path]).ok().out;
    assert!(text.contains("processes     2; by bytes java (66.7 %), kjournald (33.3 %)"), "{text}");
}

#[test]
fn what_does_not_fit_is_sampled_and_said() {
    let args = ["--synthetic", "uniform", "--footprint", "32GiB", "--requests", "300000"];
    let info = |more: &[&str]| wordline(&[&["trace", "info"], &args[..], more].concat()).ok();
    let (whole, part) = (info(&["--json"]).json(), info(&["--json", "--memory-mib", "64"]).json());
    assert_eq!((&whole["sampled"]["pages"], &part["sampled"]["pages"]), (&json!(1.0), &json!(0.25)));
    let pages = |json: &serde_json::Value| json["footprint_bytes"].as_f64().unwrap();
    assert!((pages(&part) / pages(&whole) - 1.0).abs() < 0.02, "{} {}", pages(&part), pages(&whole));
    assert_eq!(part["bytes_written"], whole["bytes_written"]);
    let text = info(&["--memory-mib", "64"]).out;
    assert!(text.contains("estimated from 1 in 4 64-KiB extents"), "{text}");
    assert!(text.contains("--exact follows all") && !info(&["--exact"]).out.contains("estimates"), "{text}");
    wordline(&["trace", "info", &trace(), "--memory-mib", "63"]).fails(2, &["--memory-mib", "from 64"]);
}

#[test]
fn info_draws_plots() {
    let folder = folder("info_plots");
    let out = folder.join("plots");
    // Plots of an earlier run, and what is none of ours.
    std::fs::create_dir(&out).unwrap();
    for name in ["updates.svg", "updates.csv", "own.svg", "updates.md"] {
        std::fs::write(out.join(name), "old").unwrap();
    }
    let trace = file(&folder, "t.wl", STORY);
    let info = ["trace", "info", &trace, "--plots", &out.display().to_string(), "--force"];
    wordline(&info).fails(2, &["updates.svg, which would be replaced"]);
    let list = "trace info\tupdates.svg\ntrace info\tupdates.csv\n";
    std::fs::write(out.join(".wordline.files"), list).unwrap();
    wordline(&info[..5]).fails(2, &["plots of a workload", "--force"]);
    wordline(&info).ok();
    for stem in ["miss_ratio", "requests_per_s", "mb_per_s", "popularity"] {
        let svg = std::fs::read_to_string(out.join(format!("{stem}.svg"))).unwrap();
        assert!(svg.starts_with("<svg") && out.join(format!("{stem}.csv")).is_file(), "{stem}");
    }
    // No writer is known, so that there is nothing to show of who updates; and one rewrite is no distribution.
    assert!(!out.join("rewrites.svg").exists());
    assert!(!out.join("updates.svg").exists() && !out.join("updates.csv").exists());
    assert!(out.join("own.svg").exists() && out.join("updates.md").exists());
}
