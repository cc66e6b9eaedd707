//! `wordline trace convert` and `cut`: what is written is what was read.

use crate::program::{file, folder, trace, wordline};
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
    let note = "note: read as rocksdb: 999 of its first 999 lines fit (--format)";
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
    for part in ["64,189 requests in the format mqsim", "note: 231 trims left out", "without their file hint"]
    {
        assert!(said.contains(part), "{part} in {said}");
    }
    let said = wordline(&["trace", "convert", "--workload", "ads", "--requests", "7"]).ok();
    assert_eq!(said.out.lines().count(), 8, "{}", said.out);
    let closed = ["trace", "convert", "--synthetic", "uniform", "--requests", "7", "--footprint", "1MiB"];
    assert!(wordline(&closed).ok().err.contains("no times of their own"));
}

#[test]
fn a_cut_keeps_hints_and_says_when_it_cuts_nothing() {
    let head = wordline(&["trace", "cut", &trace(), "--first", "2"]).ok().out;
    let columns = "time_ns,op,lba,sectors,device,stream,file,process,context,priority,class";
    assert_eq!(head, format!("#wordline 1 {columns}\n0,W,1652296,256,,,76\n35081,W,1652552,256,,,76\n"));
    wordline(&["trace", "cut", &trace()]).fails(2, &["nothing is cut", "--first"]);
}

#[test]
fn nothing_is_overwritten_unasked() {
    let folder = folder("overwrite");
    let taken = file(&folder, "t.wl", "mine");
    let args = ["trace", "cut", &trace(), "--first", "2", "--out", &taken];
    wordline(&args).fails(2, &["it exists", "--force"]);
    assert_eq!(std::fs::read_to_string(&taken).unwrap(), "mine");
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
