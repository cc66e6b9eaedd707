//! `wordline sweep`: many runs from one file, which survive what happens to them.

use crate::program::{
    Done, SMALL, children_of, file, finish, folder, kill, root, shell, start, wordline, wordline_in,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, SystemTime};

/// A sweep of runs that take some milliseconds each.
fn tiny(runs: usize) -> String {
    let seeds: Vec<String> = (0..runs / 4).map(|seed| seed.to_string()).collect();
    format!(
        "{SMALL}[run]\nfill_percent = 50\noverwrite = \"none\"\n[workload]\npattern = \"uniform\"\ncount = 300\n\
         [grid]\nworkload.seed = [{}]\nworkload.read_percent = [0, 50]\nftl.gc_victim.policy = [\"greedy\", \"fifo\"]\n",
        seeds.join(", ")
    )
}

fn sweep(file: &str, out: &str, more: &[&str]) -> Done {
    wordline(&[&["sweep", file, "-o", out], more].concat())
}

/// The cells of a line of CSV, of which some are in quotes.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut is_quoted) = (vec![String::new()], false);
    for letter in line.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => cells.push(String::new()),
            letter => cells.last_mut().unwrap().push(letter),
        }
    }
    cells
}

/// `runs.csv` without what it cost.
fn rows(out: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(Path::new(out).join("runs.csv")).unwrap();
    let mut lines = text.lines().map(cells);
    let head = lines.next().unwrap();
    let cost = head.iter().position(|name| name == "processor_time_s").unwrap();
    let without = |mut row: Vec<String>| {
        row.remove(cost);
        row
    };
    std::iter::once(head.clone()).chain(lines).map(without).collect()
}

/// When each run's file was written.
fn written(out: &str) -> BTreeMap<PathBuf, SystemTime> {
    let Ok(list) = std::fs::read_dir(Path::new(out).join("runs")) else { return BTreeMap::new() };
    let paths = list.map(|entry| entry.unwrap().path());
    let finished = paths.filter(|path| path.extension().is_some_and(|ending| ending == "json"));
    finished.map(|path| (path.clone(), path.metadata().unwrap().modified().unwrap())).collect()
}

#[test]
fn a_students_grid_is_one_file_one_command_and_a_table() {
    let place = folder("sweep-student");
    let data = root().join("data").canonicalize().unwrap();
    let traces = ["rocksdb-ycsb-a-run1", "contexts-cscope", "contexts-gcc", "contexts-tpc-h"];
    let traces = traces.map(|name| format!("\"{}/{name}.csv.zst\"", data.display())).join(", ");
    let text = format!(
        "[run]\nfill_percent = 10\noverwrite = \"none\"\nrequests = 300\n[sweep]\nmetrics = [\"write_amplification\", \
         \"write_latency_p99\"]\n[grid]\nworkload = [{traces}]\ndrive.over_provisioning_percent = [7, 15, 28]\n\
         ftl.gc_victim.policy = [\"greedy\", \"fifo\", \"cost_benefit\"]\n"
    );
    let sweep_file = file(&place, "grid.toml", &text);
    let out = place.join("out").display().to_string();
    let plan = sweep(&sweep_file, &out, &["--dry-run"]).ok().out;
    assert!(plan.contains("36 runs, 36 to do") && !Path::new(&out).exists(), "{plan}");
    let done = sweep(&sweep_file, &out, &[]).ok();
    assert!(done.out.contains("write_latency_p99 (us)") && done.out.contains("contexts-gcc"), "{}", done.out);
    let rows = rows(&out);
    assert_eq!(rows.len(), 37);
    assert!(rows[1..].iter().all(|row| row[1] == "ok"), "{rows:?}");
    let latex = std::fs::read_to_string(Path::new(&out).join("tables.tex")).unwrap();
    assert!(latex.contains("\\toprule") && latex.contains("cost\\_benefit"), "{latex}");
    for figure in ["write_amplification.svg", "write_amplification.pdf", "write_latency_p99.csv"] {
        assert!(Path::new(&out).join(figure).is_file(), "{figure}");
    }
    assert_eq!(&std::fs::read(Path::new(&out).join("runs.parquet")).unwrap()[..4], b"PAR1");
    // A row is what `wordline run` gives for the same settings.
    let at = |name: &str| rows[0].iter().position(|head| head == name).unwrap();
    let row = rows.iter().find(|row| row[2].contains("gcc") && row[3] == "15" && row[4] == "fifo").unwrap();
    let trace = data.join("contexts-gcc.csv.zst").display().to_string();
    let alone = [
        &["run", &trace, "--json", "--precondition", "fill=10", "--set", "run.requests=300"][..],
        &["--set", "drive.over_provisioning_percent=15", "--set", "ftl.gc_victim.policy=fifo"],
    ];
    let alone = wordline(&alone.concat()).ok().json();
    let told = |name: &str| row[at(name)].parse::<f64>().unwrap();
    assert_eq!(told("write_amplification"), alone["write_amplification"].as_f64().unwrap());
    assert_eq!(told("simulated_time"), alone["simulated_ns"].as_f64().unwrap());
}

#[test]
fn a_plan_of_many_runs_says_that_it_is_made_and_is_told_run_by_run() {
    let place = folder("sweep-many");
    let seeds: Vec<String> = (0..100).map(|seed| seed.to_string()).collect();
    let depths: Vec<String> = (1..=100).map(|depth| depth.to_string()).collect();
    let text = format!(
        "[workload]\npattern = \"uniform\"\n[grid]\ndrive.seed = [{}]\nrun.depth = [{}]\n",
        seeds.join(", "),
        depths.join(", ")
    );
    let sweep_file = file(&place, "many.toml", &text);
    let out = place.join("out").display().to_string();
    let done = sweep(&sweep_file, &out, &["--dry-run", "--shard", "2/4"]).ok();
    assert!(done.err.contains("planning 10,000 runs"), "{}", done.err);
    assert_eq!(done.out.lines().count(), 10_001);
    assert_eq!(done.out.lines().filter(|line| line.contains("  to do     seed=")).count(), 2_500);
    assert!(done.out.ends_with("10,000 runs, 2,500 to do, on 100 aged drives\n"));
    let quiet = sweep(&sweep_file, &out, &["--dry-run", "--quiet"]).ok();
    assert!(quiet.err.is_empty() && quiet.out.lines().count() == 10_001, "{}", quiet.err);
}

#[test]
fn what_is_killed_is_taken_up_and_nothing_is_run_twice() {
    let place = folder("sweep-killed");
    // `make soak` does more: runs, and moments.
    let many = std::env::var("WORDLINE_SOAK").is_ok();
    let (runs, moments) = if many { (1_000, 20) } else { (80, 6) };
    let sweep_file = file(&place, "grid.toml", tiny(runs));
    let out = |name: &str| place.join(name).display().to_string();
    sweep(&sweep_file, &out("whole"), &[]).ok();
    let killed = out("killed");
    let args = ["sweep", &sweep_file, "-o", &killed];
    // The sweep at one moment, a worker at the next.
    for moment in 0..moments {
        let before = written(&killed);
        let child = start(&root(), &args);
        sleep(Duration::from_millis(90 + 37 * moment % 500));
        let workers = children_of(child.id());
        if moment % 2 == 0 {
            kill("-9", child.id());
            let _ = finish(child, &args);
            workers.into_iter().for_each(|worker| kill("-9", worker));
        } else {
            // Its run is done by another, and then the sweep itself goes.
            workers.into_iter().take(1).for_each(|worker| kill("-9", worker));
            sleep(Duration::from_millis(60));
            kill("-9", child.id());
            let _ = finish(child, &args);
        }
        let after = written(&killed);
        assert!(before.iter().all(|(path, time)| after.get(path) == Some(time)), "run twice");
    }
    let left = written(&killed);
    sweep(&sweep_file, &killed, &[]).ok();
    let before = written(&killed);
    assert!(left.iter().all(|(path, time)| before[path] == *time), "run twice");
    assert_eq!(before.len(), runs);
    // Cut files are as good as none.
    let cut = before.keys().next().unwrap();
    let whole = std::fs::read(cut).unwrap();
    std::fs::write(cut, &whole[..whole.len() / 2]).unwrap();
    sweep(&sweep_file, &killed, &[]).ok();
    println!("{runs} runs, {moments} kills: none run twice, one table");
    assert_eq!(rows(&killed), rows(&out("whole")));
    let changed = written(&killed).iter().filter(|(path, time)| before[*path] != **time).count();
    assert_eq!(changed, 1);
}

/// A run whose process dies is done by another, and the sweep goes on.
#[test]
fn a_worker_that_dies_costs_nothing() {
    let place = folder("sweep-worker");
    let sweep_file = file(&place, "grid.toml", tiny(200));
    let out = place.join("out").display().to_string();
    let args = ["sweep", &sweep_file, "-o", &out];
    let child = start(&root(), &args);
    while written(&out).len() < 10 {
        sleep(Duration::from_millis(2));
    }
    let worker = children_of(child.id())[0];
    kill("-9", worker);
    finish(child, &args).ok();
    assert!(rows(&out)[1..].iter().all(|row| row[1] == "ok"));
}

/// What changes under a sweep's hands is not taken for what was planned, and is done when it is back.
#[test]
fn a_trace_that_changes_meanwhile_leaves_its_run_to_be_done() {
    let place = folder("sweep-changed");
    let lines = |count: u64| (0..count).map(|at| format!("{at},W,{},8\n", at % 90 * 8)).collect::<String>();
    let head = "time,op,lba,sectors\n";
    let trace = |name: &str, count| file(&place, name, format!("{head}{}", lines(count)));
    trace("first.csv", 500);
    trace("second.csv", 400);
    let columns = "columns = \"time=time:us,op=op,offset=lba:sectors,size=sectors:sectors\"";
    let seeds: Vec<String> = (0..70).map(|seed| seed.to_string()).collect();
    let text = format!(
        "{SMALL}[run]\nfill_percent = 50\noverwrite = \"none\"\n[workload]\npath = \"first.csv\"\n{columns}\n[grid]\n\
         workload = [\"first.csv\", \"second.csv\"]\ndrive.seed = [{}]\n",
        seeds.join(", ")
    );
    let sweep_file = file(&place, "grid.toml", text);
    let out = place.join("out").display().to_string();
    let args = ["sweep", &sweep_file, "-o", &out, "--jobs", "1"];
    let child = start(&root(), &args);
    while written(&out).len() < 3 {
        sleep(Duration::from_millis(2));
    }
    trace("second.csv", 100);
    finish(child, &args).fails(1, &["70 runs failed; 70 of 140 runs are there", "a file has changed"]);
    trace("second.csv", 400);
    sweep(&sweep_file, &out, &[]).ok();
    let rows = rows(&out);
    let served = rows[0].iter().position(|name| name == "requests_served").unwrap();
    assert!(rows[1..].iter().all(|row| row[1] == "ok"));
    let served: Vec<&str> = rows[1..].iter().map(|row| row[served].as_str()).collect();
    assert_eq!((served.len(), served[0], served[139]), (140, "500", "400"));
}

/// Drive and workload are the same: how they are run tells runs apart.
#[test]
fn runs_that_differ_in_the_run_alone_are_two() {
    let place = folder("sweep-run-alone");
    let text = tiny(4).replace("workload.seed = [0]", "run.requests = [100, 200]");
    let sweep_file = file(&place, "grid.toml", text);
    let out = place.join("out").display().to_string();
    sweep(&sweep_file, &out, &[]).ok();
    let rows = rows(&out);
    let served = rows[0].iter().position(|name| name == "requests_served").unwrap();
    let served: Vec<&str> = rows[1..].iter().map(|row| row[served].as_str()).collect();
    assert_eq!(served, ["100", "100", "100", "100", "200", "200", "200", "200"]);
}

#[test]
fn shards_make_one_table() {
    let place = folder("sweep-shards");
    let sweep_file = file(&place, "grid.toml", tiny(24));
    let out = |name: &str| place.join(name).display().to_string();
    sweep(&sweep_file, &out("whole"), &["--jobs", "1"]).ok();
    let shards = out("shards");
    let first = sweep(&sweep_file, &shards, &["--shard", "1/3"]).ok();
    assert!(first.out.contains("16 runs of other parts"), "{}", first.out);
    assert!(!Path::new(&shards).join("runs.csv").exists());
    // Two of them at once.
    let args = |shard| ["sweep", &sweep_file, "-o", &shards, "--shard", shard];
    let both = ["2/3", "3/3"].map(|shard| start(&root(), &args(shard)));
    both.into_iter().for_each(|child| _ = finish(child, &args("some")).ok());
    assert_eq!(written(&shards).len(), 24);
    sweep(&sweep_file, &shards, &[]).ok();
    assert_eq!(rows(&shards), rows(&out("whole")));
}

#[test]
fn a_sweep_that_is_asked_to_end_says_how_it_goes_on() {
    let place = folder("sweep-interrupted");
    let sweep_file = file(&place, "grid.toml", tiny(400));
    let out = place.join("out").display().to_string();
    let args = ["sweep", &sweep_file, "-o", &out];
    let child = start(&root(), &args);
    while written(&out).len() < 3 {
        sleep(Duration::from_millis(5));
    }
    kill("-INT", child.id());
    let done = finish(child, &args).fails(
        130,
        &[
            "interrupted",
            "of 400 runs are there; run the same command \
                                                          again to continue",
        ],
    );
    assert!(written(&out).len() < 400, "{}", done.out);
}

#[test]
fn repeats_have_seeds_and_intervals() {
    let place = folder("sweep-repeats");
    let text = format!("{}[sweep]\nrepeats = 3\nseed = 5\nmetrics = [\"IOPS\"]\n", tiny(4));
    let sweep_file = file(&place, "grid.toml", text.replace("workload.seed = [0]\n", ""));
    let out = place.join("out").display().to_string();
    let done = sweep(&sweep_file, &out, &[]).ok();
    assert!(done.out.contains("confidence interval of 3 runs") && done.out.contains(" ± "), "{}", done.out);
    let rows = rows(&out);
    let at = |name: &str| rows[0].iter().position(|head| head == name).unwrap();
    let seeds: Vec<&str> = rows[1..].iter().map(|row| row[at("seed")].as_str()).collect();
    assert_eq!(seeds[..4], ["5", "6", "7", "5"]);
    let iops: Vec<&String> = rows[7..10].iter().map(|row| &row[at("IOPS")]).collect();
    assert!(iops[0] != iops[1] && iops[1] != iops[2]);
    // Asked for another metric, the sweep runs nothing, and the figure of the first goes.
    let figure = |name: &str| Path::new(&out).join(name).is_file();
    assert!(figure("IOPS.svg") && figure("IOPS.csv"));
    let other = std::fs::read_to_string(&sweep_file).unwrap().replace("\"IOPS\"", "\"write_bandwidth\"");
    std::fs::write(&sweep_file, other).unwrap();
    let done = sweep(&sweep_file, &out, &[]).ok();
    assert!(done.err.contains("12 runs, 12 done before"), "{}", done.err);
    assert!(figure("write_bandwidth.svg") && !figure("IOPS.svg") && !figure("IOPS.csv"));
}

#[test]
fn what_cannot_be_is_told_with_its_line() {
    let place = folder("sweep-wrong");
    let out = place.join("out").display().to_string();
    let fails = |text: &str, says: &[&str]| {
        let sweep_file = file(&place, "grid.toml", text);
        sweep(&sweep_file, &out, &[]).fails(2, says);
        assert!(!Path::new(&out).exists(), "{text}");
    };
    let base = tiny(4);
    let at = |key: &str| {
        let line = base.lines().position(|line| line.starts_with(key)).unwrap();
        format!("grid.toml:{}", line + 1)
    };
    let (policy, reads) = (at("ftl.gc_victim"), at("workload.read_percent"));
    fails(&base.replace("gc_victim.policy", "gc_victim.polcy"), &[&policy, "polcy", "did you mean policy?"]);
    fails(&base.replace("\"fifo\"", "\"fifi\""), &[&policy, "fifi", "did you mean \"fifo\"?"]);
    fails(&base.replace("[0, 50]", "[0, 500]"), &[&reads, "500"]);
    fails(&base.replace("[0, 50]", "[]"), &[&reads, "a list of at least one value"]);
    fails(
        &format!("{base}[sweep]\nmetrics = [\"IOPs\"]\n"),
        &["toml:", ": sweep.metrics", "did you mean \"IOPS\"?"],
    );
    fails("[grid]\ndrive.seed = [1, 2]\n", &["nothing to run", "[workload]"]);
    fails("[grid]\nworkload = [\"no-such.csv\"]\n", &["grid.toml:2", "no-such.csv"]);
    fails("[workload]\npath = \"-\"\n[grid]\ndrive.seed = [1, 2]\n", &["grid.toml", "standard input"]);
    fails("[grid]\nworkload = [{ patern = \"zipf\" }]\n", &["grid.toml:2", "patern"]);
    fails("[workload]\npattern = \"uniform\"\n", &["a sweep that varies nothing"]);
    fails(
        "[workload]\npattern = \"uniform\"\n[gird]\n",
        &["toml:3: sweep", "[gird]", "did you mean \"grid\"?"],
    );
    let sweep_file = file(&place, "grid.toml", &base);
    sweep(&sweep_file, &out, &["--shard", "3/2"]).fails(2, &["--shard", "2/8"]);
    sweep("no-such.toml", &out, &[]).fails(2, &["no-such.toml"]);
    sweep(&sweep_file, &place.display().to_string(), &[]).fails(2, &["something that is not a sweep"]);
    wordline(&["run", &sweep_file]).fails(2, &["grid"]);
}

#[test]
fn runs_on_one_aged_drive_begin_alike() {
    let place = folder("sweep-base");
    let text = tiny(4).replace(
        "fill_percent = 50\noverwrite = \"none\"",
        "overwrite = \"times\"\noverwrite_times = 2\npast = \"uniform\"",
    );
    let text =
        text.replace("workload.seed = [0]", "workload.seed = [0]\nnand.timing.t_erase_us = [3500, 2000]");
    let aged = |how: &str| {
        let sweep_file =
            file(&place, &format!("{how}.toml"), format!("{text}[sweep]\nage_with = \"{how}\"\n"));
        let out = place.join(how).display().to_string();
        let plan = sweep(&sweep_file, &out, &["--dry-run"]).ok().out;
        sweep(&sweep_file, &out, &[]).ok();
        let results = written(&out).into_keys().map(|path| {
            let text = std::fs::read_to_string(path).unwrap();
            serde_json::from_str::<serde_json::Value>(&text).unwrap()["result"]["preconditioning"].take()
        });
        let results: Vec<_> =
            results.map(|it| (it["bytes_programmed"].as_u64(), it["aged_as"].clone())).collect();
        assert_eq!(results.len(), 8);
        (plan, results)
    };
    // A drive that was aged by fifo has copied otherwise than one by greedy; what is read later made neither.
    let (plan, each) = aged("each");
    assert!(plan.contains("on 4 aged drives"), "{plan}");
    assert!(each.iter().any(|it| it.0 != each[0].0) && each.iter().all(|it| it.1 == serde_json::json!([])));
    let (plan, base) = aged("base");
    assert!(plan.contains("on 1 aged drives"), "{plan}");
    assert!(base.iter().all(|it| it.0 == base[0].0), "{base:?}");
    let told = |what: &str| base.iter().filter(|it| it.1.to_string().contains(what)).count();
    assert_eq!((told("ftl.gc_victim.policy = greedy"), told("nand.timing.t_erase_us = 3500")), (4, 4));
    let wrong = file(&place, "wrong.toml", format!("{text}[sweep]\nage_with = \"bass\"\n"));
    sweep(&wrong, "nowhere", &[]).fails(2, &["sweep.age_with", "bass", "each, base"]);
}

/// A run that fails has a row; those of a disk that is full are to be done.
#[test]
fn runs_that_fail_are_told_and_cost_no_other() {
    let place = folder("sweep-fails");
    // Without spare blocks to write to, the first drive wears out.
    let text = tiny(4).replace("workload.seed = [0]", "workload.count = [300, 301]");
    let sweep_file = file(&place, "grid.toml", &text);
    let out = place.join("out").display().to_string();
    let line = format!("ulimit -f 8; exec \"$WORDLINE\" sweep {sweep_file} -o {out}");
    let done = shell(&root(), &line);
    assert_eq!(done.code, Some(1), "{}", done.err);
    assert!(done.err.contains("0 of 8 runs are there") && done.err.contains("cannot write"), "{}", done.err);
    sweep(&sweep_file, &out, &[]).ok();
    assert_eq!(written(&out).len(), 8);
}

#[test]
fn a_task_of_slurm_does_its_part() {
    let place = folder("sweep-slurm");
    let out = |name: &str| place.join(name).display().to_string();
    let task = |number: u32| {
        let script = format!("examples/sweep/slurm.sh examples/sweep/grid.toml {}", out("array"));
        let line = format!("SLURM_ARRAY_TASK_ID={number} SLURM_ARRAY_TASK_COUNT=2 exec bash {script}");
        shell(&root(), &line).ok()
    };
    assert!(task(1).out.contains("9 runs of other parts"));
    assert!(task(2).out.contains("write_amplification"));
    sweep("examples/sweep/grid.toml", &out("alone"), &[]).ok();
    assert_eq!(rows(&out("array")), rows(&out("alone")));
    let table = std::fs::read_to_string(place.join("array/tables.txt")).unwrap();
    // More spare room, and less is copied; and a policy that looks at blocks copies less than one that does not.
    let numbers = |line: &str| line.split_whitespace().filter_map(|x| x.parse().ok()).collect::<Vec<f64>>();
    let rows: Vec<Vec<f64>> = table.lines().map(numbers).filter(|row| row.len() == 6).take(6).collect();
    assert!(rows[0][3] > rows[2][3] && rows[2][3] > rows[4][3], "{table}");
    assert!(rows.iter().all(|row| row[4] > row[3]), "fifo copies more than greedy: {table}");
}

/// No number without its verdict: a sweep whose runs are overloaded says so wherever it is told, and to a script.
#[test]
fn problems_of_runs_are_told_and_can_be_required_not_to_be() {
    let folder = folder("sweep-problems");
    let generator =
        "[workload]\npattern = \"uniform\"\ncount = 4000\nread_percent = 0\narrival = \"fixed\"\n";
    let text = format!(
        "{SMALL}\n[run]\noverwrite = \"none\"\n{generator}[grid]\nworkload.rate_iops = [100, 900000]\n"
    );
    file(&folder, "sw.toml", text);
    let args =
        ["sweep", "sw.toml", "-o", "out", "--no-cache", "--require", "not-overloaded,write_latency_p99<1s"];
    let done =
        wordline_in(&folder, &args).fails(3, &["--require is not met", "rate_iops=900000: not-overloaded"]);
    assert!(!done.err.contains("rate_iops=100:"), "{}", done.err);
    assert!(done.out.contains("problems: 1 of 2 overloaded"), "{}", done.out);
    assert!(done.out.contains(" (o"), "{}", done.out);
    let read = |name: &str| std::fs::read_to_string(folder.join("out").join(name)).unwrap();
    let csv = read("runs.csv");
    assert!(csv.lines().next().unwrap().contains(",problems,verdict.state,verdict.bound_by,"), "{csv}");
    assert_eq!(csv.lines().filter(|line| line.contains(",overloaded")).count(), 1, "{csv}");
    let problems: serde_json::Value = serde_json::from_str(&read("problems.json")).unwrap();
    assert_eq!(
        (problems.as_array().unwrap().len(), &problems[0]["problems"][0]["name"]),
        (1, &"overloaded".into())
    );
    assert!(
        ["tables.txt", "tables.md", "tables.tex"].iter().all(|name| read(name).contains("(o) overloaded"))
    );
    // A slip costs no run.
    let args = ["sweep", "sw.toml", "-o", "never", "--require", "stedy"];
    wordline_in(&folder, &args).fails(2, &["--require", "stedy", "steady"]);
    assert!(!folder.join("never").exists());
}
