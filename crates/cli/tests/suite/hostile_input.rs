//! Input as a hostile or an unlucky user gives it: told as what it is, in bounded memory, and never taken for something
//! else.

use crate::program::{Done, SMALL, file, folder, shell, wordline};
use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

#[test]
fn a_mistake_in_toml_is_told_with_its_line_wherever_a_configuration_stands() {
    let folder = folder("toml_syntax");
    for (name, text, line) in [
        ("table.toml", "preset = \"tlc\"\n[workload\npattern = \"uniform\"\n", 2),
        ("quote.toml", "[workload]\npattern = \"uniform\ncount = 10\n", 2),
        ("twice.toml", "[workload]\npattern = \"uniform\"\npattern = \"zipf\"\n", 3),
        ("value.toml", "[workload]\npattern = \"uniform\"\n[drive]\nseed = \n", 4),
    ] {
        let config = file(&folder, name, text);
        let place = format!("{name}:{line}: not valid TOML");
        wordline(&["run", &config]).fails(2, &[&place]);
        wordline(&["run", "-c", &config]).fails(2, &[&place]);
        wordline(&["run", "-c", &config, "--synthetic", "uniform"]).fails(2, &[&place]);
        wordline(&["explain", &config]).fails(2, &[&place]);
        wordline(&["trace", "info", &config]).fails(2, &[name]);
        let out = folder.join("out").display().to_string();
        let of_sweep = format!("{name}:{line}");
        wordline(&["sweep", &config, "-o", &out]).fails(2, &[&of_sweep, "TOML"]);
    }
}

/// A trace of Alibaba's with so many writes, or reads.
fn trace(op: char, count: u64) -> String {
    (0..count).map(|i| format!("3,{op},{},4096,{}\n", i * 4096, 1_577_808_144_360_767 + i * 1000)).collect()
}

/// Puts a file of this name, which may be no text, into a folder.
fn raw(folder: &Path, name: &[u8], content: &str) {
    std::fs::write(folder.join(OsStr::from_bytes(name)), content).unwrap();
}

#[test]
fn a_path_that_is_no_text_opens_its_own_file_or_none() {
    let folder = folder("no_text");
    // Beside each lies the file that its name becomes as text.
    for (ending, own, other) in [
        ("csv", trace('W', 20), trace('R', 5)),
        ("fio", "[a]\nrw=write\nsize=80k\nbs=4k\n".to_owned(), "[b]\nrw=read\nsize=20k\n".to_owned()),
        ("toml", "[drive]\nseed = 5\n".to_owned(), "[drive]\nseed = 6\n".to_owned()),
    ] {
        raw(&folder, &[b"f\xff.", ending.as_bytes()].concat(), &own);
        raw(&folder, format!("f\u{fffd}.{ending}").as_bytes(), &other);
    }
    let run = |line: &str| shell(&folder, &line.replace("F.", "\"$(printf 'f\\377').\""));
    for ending in ["csv", "fio"] {
        let told = run(&format!("\"$WORDLINE\" trace info F.{ending}")).ok().out;
        assert!(told.contains("writes        20, 80 KiB") && !told.contains("reads     "), "{told}");
        let line = format!("\"$WORDLINE\" trace convert --to mqsim F.{ending} | wc -l");
        assert_eq!(run(&line).ok().out.trim(), "20");
        // A result names its workload as text.
        let refused = ["f\\xff.", "configurations and results name files in UTF-8", "symbolic link"];
        run(&format!("\"$WORDLINE\" run F.{ending} --drive m64")).fails(2, &refused);
    }
    run("\"$WORDLINE\" trace info --json F.csv").fails(2, &["f\\xff.csv", "UTF-8"]);
    // By a name that is text, or without one, it can be run.
    let link = folder.join("link.csv");
    std::os::unix::fs::symlink(folder.join(OsStr::from_bytes(b"f\xff.csv")), &link).unwrap();
    let small = file(&folder, "small.toml", SMALL);
    for trace in ["link.csv", "- < F.csv"] {
        let line = format!("\"$WORDLINE\" run {trace} -c {small} --precondition none --json");
        assert_eq!(run(&line).ok().json()["requests_served"], 20);
    }
    let told = run("\"$WORDLINE\" explain --only drive.seed -c F.toml").ok().out;
    assert!(told.contains("seed  5"), "{told}");
    // A configuration beside which its trace lies, in a folder of such a name.
    let inner = folder.join(OsStr::from_bytes(b"d\xff"));
    std::fs::create_dir(&inner).unwrap();
    std::fs::create_dir(folder.join("d\u{fffd}")).unwrap();
    let with_trace = format!("{SMALL}[workload]\npath = \"t.csv\"\n");
    for (place, op, count) in [(inner.as_path(), 'W', 20), (&folder.join("d\u{fffd}"), 'R', 5)] {
        file(place, "c.toml", &with_trace);
        file(place, "t.csv", trace(op, count));
    }
    shell(&folder, "\"$WORDLINE\" run \"$(printf 'd\\377')/c.toml\"").fails(2, &["d\\xff/t.csv", "UTF-8"]);
    // Workers are told in text where a run's file goes.
    file(
        &folder,
        "s.toml",
        format!("{SMALL}[workload]\npattern = \"uniform\"\n[grid]\nworkload.seed = [1, 2]\n"),
    );
    for line in ["s.toml -o \"$(printf 'd\\377')/out\"", "s.toml -o out --snapshots \"$(printf 'd\\377')\""] {
        shell(&folder, &format!("\"$WORDLINE\" sweep {line}")).fails(2, &["d\\xff", "UTF-8"]);
    }
    shell(&folder, "cd \"$(printf 'd\\377')\"; \"$WORDLINE\" sweep ../s.toml -o out")
        .fails(2, &["d\\xff/out"]);
}

#[test]
fn what_has_no_end_is_refused_wherever_a_file_is_read_whole() {
    let folder = folder("no_end");
    let jobs = file(&folder, "z.fio", "[global]\ninclude /dev/zero\n[a]\nrw=read\nsize=1m\n");
    let capture = file(&folder, "capture.toml", "[workload]\ncapture = \"/dev/zero\"\n");
    let fio = file(&folder, "fio.toml", "[workload]\njobs = \"/dev/zero\"\n");
    let out = folder.join("out").display().to_string();
    let run = ["run", "--synthetic", "uniform", "--requests", "10"];
    for args in [
        &["explain", "-c", "/dev/zero"][..],
        &[&run[..], &["-c", "/dev/urandom"]].concat(),
        &[&run[..], &["--drive", "m64", "--snapshot", "/dev/zero"]].concat(),
        &[&run[..], &["--drive", "m64", "--policy", "gc_victim=/dev/zero"]].concat(),
        &["trace", "info", &jobs],
        &["run", &capture],
        &["run", &fio],
        &["sweep", "/dev/zero", "-o", &out],
        &["compare", "/dev/zero"],
    ] {
        wordline(args).fails(2, &["it is a device, allowed: a file"]);
    }
    let pipe = folder.join("pipe").display().to_string();
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let capture = file(&folder, "pipe.toml", "[workload]\ncapture = \"pipe\"\n");
    wordline(&["run", &capture]).fails(2, &["it is a named pipe, allowed: a file"]);
    wordline(&["explain", "-c", &pipe]).fails(2, &["it is a named pipe, allowed: a file"]);
    // Those of a shell have an end.
    let through = "printf '[drive]\\nseed = 5\\n' | \"$WORDLINE\" explain --only drive.seed -c /dev/stdin";
    assert!(shell(&folder, through).ok().out.contains('5'));
}

#[test]
fn long_texts_are_refused_and_messages_quote_little_of_them() {
    let folder = folder("long");
    let long = |count: usize| "k".repeat(count);
    let check = |done: Done, says: &[&str]| {
        assert!(done.err.len() < 3000, "{} bytes: {:.300}", done.err.len(), done.err);
        done.fails(2, says);
    };
    for (name, text, says) in [
        ("key.toml", format!("{} = 1\n", long(3_000_000)), "line 1 is longer than 65536 bytes"),
        ("word.fio", format!("[a]\n{}=1\n", long(3_000_000)), "line 2 is longer than 65536 bytes"),
        ("large.toml", "# remark\n".repeat(600_000), "it has 5400000 bytes, allowed: up to 4194304 bytes"),
        ("key2.toml", format!("{} = 1\n", long(60_000)), "kkk... and 59800 more bytes"),
        ("value.toml", format!("[ftl.gc_victim]\npolicy = \"{}\"\n", long(60_000)), "kkk... and 59802 more"),
        ("name.toml", format!("preset = \"{}\"\n", long(60_000)), "more bytes"),
        ("workload.toml", format!("[workload]\npattern = \"{}\"\n", long(60_000)), "more bytes"),
        ("of_workload.toml", format!("[workload]\npattern = \"zipf\"\n{} = 1\n", long(60_000)), "more bytes"),
        ("word2.fio", format!("[a]\n{}=1\n", long(60_000)), "kkk... and 59800 more bytes: unknown option"),
        ("value.fio", format!("[a]\nrw={}\n", long(60_000)), "kkk... and 59"),
        ("deep.toml", format!("x = {}\n", "[".repeat(60_000)), "not valid TOML"),
        ("deeper.toml", format!("x = {}\n", "[\n".repeat(500_000)), "not valid TOML"),
        ("tables.toml", format!("[{}]\n", "a.".repeat(30_000)), "not valid TOML"),
    ] {
        let path = file(&folder, name, text);
        if name.ends_with(".fio") {
            check(wordline(&["run", &path]), &[name, says]);
        } else {
            let run = ["run", "-c", &path, "--synthetic", "uniform", "--requests", "10"];
            check(wordline(&run), &[name, says]);
            check(wordline(&["explain", "-c", &path]), &[name]);
            check(wordline(&["sweep", &path, "-o", "none"]), &[name]);
        }
    }
    // Many mistakes: told are some of them, in the time that reading takes.
    for text in ["[\n".repeat(60_000), (0..20_000).map(|i| format!("k{i} = 1\n")).collect()] {
        for head in ["", "[drive]\n"] {
            let path = file(&folder, "many.toml", head.to_owned() + &text);
            let begun = Instant::now();
            let done = wordline(&["run", "-c", &path, "--synthetic", "uniform", "--requests", "10"]);
            assert!(
                done.err.len() < 20_000 && begun.elapsed() < Duration::from_secs(4),
                "{:?}",
                begun.elapsed()
            );
            done.fails(2, &["many.toml:"]);
        }
    }
}

#[test]
fn versions_that_unpack_to_gigabytes_are_refused_in_little_memory() {
    let folder = folder("bomb");
    let small = file(&folder, "small.toml", SMALL);
    let snapshot = folder.join("d.snap").display().to_string();
    let run = ["run", "-c", &small, "--synthetic", "uniform", "--requests", "10", "--precondition", "none"];
    wordline(&[&run[..], &["--save-snapshot", &snapshot, "--quiet"]].concat()).ok();
    let head = "place,unit,version,file,class,written_ns,was_dead\n";
    let pack = |name: &str, piece: &[u8], times: usize| {
        let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
        encoder.write_all(head.as_bytes()).unwrap();
        (0..times).for_each(|_| encoder.write_all(piece).unwrap());
        file(&folder, name, encoder.finish().unwrap())
    };
    let line = pack("line.csv.zst", &[b'1'; 1 << 20], 300);
    let rows = pack("rows.csv.zst", "0,0,1,1,0,0,0\n".repeat(1 << 16).as_bytes(), 300);
    for (path, says) in [(line, "line 2"), (rows, "it is from another snapshot")] {
        // In a process that may not have more than 500 MB.
        let limited = format!("ulimit -v 500000; \"$WORDLINE\" forensics {snapshot} --versions {path}");
        let done = shell(&folder, &limited);
        assert!(done.err.len() < 1000, "{} bytes", done.err.len());
        done.fails(2, &[says]);
    }
}

#[test]
fn nothing_of_what_came_in_is_a_command_to_a_terminal() {
    let folder = folder("escapes");
    let is_quiet = |done: &Done| {
        let is_obeyed =
            |c: char| c.is_control() && c != '\n' && c != '\t' || ('\u{202a}'..='\u{202e}').contains(&c);
        assert!(!(done.out.clone() + &done.err).contains(is_obeyed), "{done:?}");
    };
    let red = "\u{1b}[31mred\u{9b}0m\u{7}\u{202e}";
    let jobs = format!("[{red}]\nrw=read\nsize=64k\nbs=4k\ntime_based=1\nruntime=1\nioengine={red}\n");
    let jobs = file(&folder, &format!("{red}.fio"), jobs);
    let small = file(&folder, "small.toml", SMALL);
    let out = folder.join("out").display().to_string();
    is_quiet(&wordline(&["trace", "info", &jobs]));
    let done = wordline(&["run", &jobs, "-c", &small, "--precondition", "none", "--out", &out]);
    is_quiet(&done);
    for told in
        [&["compare", &out, &out][..], &["compare", &out, "--json"], &["run", &jobs, "--nonsense", red]]
    {
        is_quiet(&wordline(told));
    }
    let processes: String = (0..9).map(|i| format!("{i},{red},R,{},8\n", i * 8)).collect();
    let trace = file(&folder, "p.csv", processes);
    let columns = "time=1:ms,process=2,op=3,offset=4:sectors,size=5";
    for more in [&[][..], &["--json"], &["--process", "x"]] {
        is_quiet(&wordline(&[&["trace", "info", &trace, "--columns", columns], more].concat()));
    }
    let damaged = file(&folder, "d.csv", format!("0,{red},R,0,8\n{red},1,R,8,8\n"));
    is_quiet(&wordline(&["trace", "info", &damaged, "--columns", columns]));
    let config = file(&folder, "c.toml", format!("[\"\\u001b[31m\"]\nx = 1\n[drive]\n\"{red}\" = 2\n"));
    is_quiet(&wordline(&["explain", &config]));
    is_quiet(&wordline(&["run", red]));
    is_quiet(&wordline(&[red]));
}

#[test]
fn names_of_a_sweep_are_text_in_its_tables() {
    let folder = folder("injection");
    let names = ["=1+1.csv", "<script>alert(1)</script>.csv", "@SUM(A1)|x.csv", "a[b](c)`*d*`.csv"];
    let names = names.map(|name| name.replace("</", "<"));
    names.iter().for_each(|name| _ = file(&folder, name, trace('W', 20)));
    let list = names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
    let run = "[run]\nfill_percent = 0.0\noverwrite = \"none\"\n";
    let sweep = file(&folder, "s.toml", format!("{SMALL}{run}[grid]\nworkload = [{list}]\n"));
    let out = folder.join("out");
    wordline(&["sweep", &sweep, "-o", &out.display().to_string(), "-j", "1", "--no-cache"]).ok();
    let read = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
    let page = read("tables.md");
    assert!(page.contains("&lt;script&gt;alert(1)&lt;script&gt;.csv") && !page.contains("<script"), "{page}");
    assert!(page.contains("@SUM(A1)\\|x.csv") && page.contains("a\\[b\\](c)\\`\\*d\\*\\`.csv"), "{page}");
    let rows = read("runs.csv");
    assert!(rows.contains(",'=1+1.csv") && rows.contains(",'@SUM(A1)|x.csv"), "{rows}");
    assert!(!rows.contains(",=") && !rows.contains("\n="), "{rows}");
}
