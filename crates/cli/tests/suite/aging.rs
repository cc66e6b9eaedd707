//! Drives whose cells age: steps before a run, what the result says of retries and losses, and wrong steps.

use crate::program::{SMALL, file, folder, wordline};
use serde_json::{Value, json};
use std::path::Path;

/// [`SMALL`] with cells that age.
fn aging(folder: &Path) -> String {
    file(folder, "aging.toml", format!("{SMALL}[nand.errors]\nmodel = \"cells\"\n"))
}

/// Reads of a full drive.
const READS: &[&str] =
    &["--synthetic", "uniform", "--read-percent", "100", "--requests", "5000", "--precondition", "fill=100"];

fn run(config: &str, extra: &[&str]) -> Value {
    wordline(&[&["run", "--config", config, "--json"], READS, extra].concat()).ok().json()
}

fn number(result: &Value, key: &str) -> f64 {
    result.pointer(key).and_then(Value::as_f64).unwrap_or_else(|| panic!("{key} in {result:#}"))
}

/// The result without what depends on the machine.
fn without_costs(mut result: Value) -> Value {
    for key in ["cpu_seconds", "wall_seconds", "requests_per_cpu_second", "peak_rss_bytes"] {
        result[key] = Value::Null;
    }
    result["preconditioning"]["cpu_seconds"] = Value::Null;
    result
}

/// Each `--of` belongs to the step before it, and is the same as in the step.
#[test]
fn steps_are_limited_to_parts_in_the_order_of_the_flags() {
    let folder = folder("aged_part");
    let config = aging(&folder);
    let hash = |steps: &[&str]| {
        let result = run(&config, steps);
        (result["event_hash"].clone(), result["preconditioning"]["age_steps"].clone())
    };
    let worn = ["--age", "cycle to 3000", "--age", "retain 12 months"];
    let with = |more: &[&'static str]| [&worn[..], more].concat();
    let (whole, half) = (hash(&worn), hash(&with(&["--of", "0-50%"])));
    assert_ne!(whole.0, half.0);
    assert_eq!(half.1, json!(["cycle to 3000", "retain 12 months of 0%-50%"]));
    assert_eq!(hash(&["--age", "cycle to 3000", "--age", "retain 12 months of 0%-50%"]), half);
    assert_eq!(hash(&with(&["--of=0%-100%"])).0, whole.0);
    let two = hash(&with(&["--of", "0%-50%", "--age", "retain 12 months", "--of", "50%-100%"]));
    assert_eq!(two.1[2], json!("retain 12 months of 50%-100%"));
    for (steps, parts) in [
        (&["--of", "0%-50%", "--age", "retain 1 day"][..], &["--of 0%-50%", "no --age before it"][..]),
        (&["--of", "0%-50%"], &["no --age before it", "--age STEP --of PART"]),
        (&["--age", "cycle to 3000", "--of", "0%-50%"], &["cycles wear blocks", "retain 12 months"]),
        (&["--age", "disturb 10 reads", "--of", "0%-50%"], &["reads disturb whole blocks"]),
        (&["--age", "retain 1 day", "--of", "50%-0%"], &["--of \"50%-0%\"", "it ends before it begins"]),
        (&["--age", "retain 1 day", "--of", "-50%"], &["--of \"-50%\"", "0%-50% or 4GiB-8GiB"]),
        (&["--age", "retain 1 day", "--of", "half"], &["\"half\"", "0%-50% or 4GiB-8GiB"]),
        (&["--age", "retain 1 day", "--of", "0-9TiB"], &["run.age", "of 0-9TiB: it goes beyond the drive"]),
        (&["--age", "retain 1 day", "--of", "0-1%", "--of", "2%-3%"], &["it is of 0%-1% already"]),
    ] {
        wordline(&[&["run", "--config", &config], READS, steps].concat()).fails(2, parts);
    }
}

#[test]
fn an_aged_drive_tells_the_same_retries_in_table_and_json() {
    let folder = folder("aged");
    let config = aging(&folder);
    let out = folder.join("old").display().to_string();
    let steps = ["--age", "cycle to 3000", "--age", "retain 12 months at 40 C"];
    let done = wordline(&[&["run", "--config", &config, "--out", &out][..], READS, &steps].concat()).ok();
    let text = std::fs::read_to_string(folder.join("old/result.json")).unwrap();
    let old: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(old["error_model"], json!("cells"));
    assert_eq!(old["preconditioning"]["age_steps"], json!(["cycle to 3000", "retain 12 months at 40 C"]));
    assert!(done.out.contains("aged       cycle to 3000, retain 12 months at 40 C"), "{}", done.out);
    // The histogram holds every page read once, and the other numbers are made of it.
    let histogram: Vec<u64> = serde_json::from_value(old["flash"]["retries"]["histogram"].clone()).unwrap();
    let reads: u64 = histogram.iter().sum();
    let failed: u64 = (0..).zip(&histogram).map(|(attempts, count)| attempts * count).sum();
    assert_eq!(json!(reads), old["flash"]["reads"]["host"]);
    let (mean, share) = (number(&old, "/flash/retries/mean"), number(&old, "/flash/retries/share"));
    assert!((mean - failed as f64 / reads as f64).abs() < 1e-9 && mean >= 1.0, "{mean}");
    assert!((share - 1.0 + histogram[0] as f64 / reads as f64).abs() < 1e-9, "{share}");
    assert_eq!(number(&old, "/flash/retries/max") as usize, histogram.len() - 1);
    let line = done.out.lines().find(|line| line.starts_with("retries")).unwrap();
    let words: Vec<&str> = line.split_whitespace().collect();
    assert!((words[1].parse::<f64>().unwrap() - mean).abs() < 0.01, "{line}, {mean}");
    assert!(line.contains(&format!("{:.1} % of page reads", share * 100.0)), "{line}, {share}");
    assert!(line.contains(&format!(" {} at most;", histogram.len() - 1)), "{line}");
    let decode = done.out.lines().find(|line| line.trim_start().starts_with("ECC decoding")).unwrap();
    assert!(decode.contains(" us") && number(&old, "/breakdown_ns/read/decode/mean") > 0.0, "{decode}");
    assert!(
        std::fs::read_to_string(folder.join("old/retries.svg"))
            .unwrap()
            .contains("Read retries (per page read)")
    );
    // A young drive reads in fewer attempts, and so in less time.
    let young = run(&config, &[]);
    assert!(number(&young, "/flash/retries/mean") < mean / 2.0, "{young:#}");
    assert!(number(&young, "/latency_ns/read/mean") < number(&old, "/latency_ns/read/mean"));
    assert_eq!(young["preconditioning"]["age_steps"], json!([]));
    // The configuration beside the result repeats the run, steps included.
    let again =
        wordline(&["run", &folder.join("old/config.toml").display().to_string(), "--json"]).ok().json();
    assert_eq!(again["event_hash"], old["event_hash"]);
    assert_eq!(again["preconditioning"]["age_steps"], old["preconditioning"]["age_steps"]);
    // Side by side.
    let new = folder.join("new").display().to_string();
    wordline(&[&["run", "--config", &config, "--out", &new, "--quiet"], READS].concat()).ok();
    let compared = wordline(&["compare", &new, &out]).ok().out;
    for part in ["retries a page read", "page reads retried", "old was aged: cycle to 3000, retain 12"] {
        assert!(compared.contains(part), "{part} in:\n{compared}");
    }
}

#[test]
fn the_same_aged_run_twice_is_the_same() {
    let folder = folder("aged_twice");
    let config = aging(&folder);
    let steps = ["--age", "cycle to 2000", "--age", "disturb 20000 reads", "--age", "retain 3 months"];
    let mixed = [&steps[..], &["--read-percent", "70"]].concat();
    let once = || {
        let args = ["run", "--config", &config, "--json", "--synthetic", "uniform", "--requests", "20000"];
        without_costs(wordline(&[&args[..], &mixed].concat()).ok().json())
    };
    let first = once();
    assert_eq!(first, once());
    assert!(number(&first, "/flash/retries/mean") > 0.0);
    // The file says the same as the flags.
    let text = std::fs::read_to_string(&config).unwrap();
    let list = "[run]\nage = [\"cycle to 2000\", \"disturb 20000 reads\", \"retain 3 months\"]\n";
    let told = file(&folder, "told.toml", format!("{text}{list}"));
    let args =
        ["run", &told, "--json", "--synthetic", "uniform", "--requests", "20000", "--read-percent", "70"];
    let told = without_costs(wordline(&args).ok().json());
    let without_origins = |mut result: Value| {
        let origins = result.as_object_mut().unwrap().remove("config_origins").unwrap();
        (origins["run.age"].as_str().unwrap().to_owned(), result)
    };
    let ((by_flags, first), (by_file, told)) = (without_origins(first), without_origins(told));
    assert_eq!(told, first);
    assert!(by_flags.starts_with("--age") && by_file.contains("told.toml:"), "{by_flags}, {by_file}");
    // Flags take the file's place.
    let other = wordline(&[&args[..], &["--age", "retain 1 hour"]].concat()).ok().json();
    assert_eq!(other["preconditioning"]["age_steps"], json!(["retain 1 hour"]));
}

#[test]
fn a_worn_out_drive_loses_data_and_says_so() {
    let folder = folder("aged_too_far");
    let config = aging(&folder);
    let steps = ["--age", "cycle to 30000", "--age", "retain 9 years at 55 C"];
    let done = wordline(&[&["run", "--config", &config, "--json"][..], READS, &steps].concat()).ok();
    let result = done.json();
    let lost = number(&result, "/requests_uncorrectable");
    assert!(lost > 0.0, "{result:#}");
    assert_eq!(result["failed_by_status"]["uncorrectable"], result["requests_uncorrectable"]);
    assert!(number(&result, "/flash/uncorrectable/host") > 0.0);
    assert_eq!(result["ended"], json!("complete"));
    assert!(done.err.contains(&format!("data loss: {lost} requests ended uncorrectable")), "{}", done.err);
    let table = wordline(&[&["run", "--config", &config][..], READS, &steps].concat()).ok().out;
    assert!(table.contains("requests ended uncorrectable"), "{table}");
}

#[test]
fn a_saved_drive_keeps_its_age_and_can_be_made_older() {
    let folder = folder("aged_saved");
    let text = std::fs::read_to_string(aging(&folder)).unwrap();
    let config = file(&folder, "told.toml", format!("{text}[run]\nage = [\"cycle to 2000\"]\n"));
    let snapshot = folder.join("aged.snap").display().to_string();
    let fill = ["--precondition", "fill=100", "--precondition-only", "--save-snapshot", &snapshot];
    let saved = wordline(&[&["run", "--config", &config][..], &fill].concat()).ok();
    assert!(saved.err.contains("cycle to 2000"), "{}", saved.err);
    let whole = run(&config, &[]);
    let reads = &READS[..READS.len() - 2];
    let from = |extra: &[&str]| {
        let args = ["run", "--config", &config, "--json", "--snapshot", &snapshot];
        wordline(&[&args[..], reads, extra].concat()).ok().json()
    };
    let restored = from(&[]);
    for key in ["event_hash", "flash", "latency_ns"] {
        assert_eq!(restored[key], whole[key], "{key}");
    }
    assert_eq!(restored["preconditioning"]["age_steps"], json!([]), "it was aged by another run");
    let older = from(&["--age", "retain 12 months"]);
    assert_eq!(older["preconditioning"]["age_steps"], json!(["retain 12 months"]));
    assert!(number(&older, "/flash/retries/mean") > number(&restored, "/flash/retries/mean"));
}

#[test]
fn wrong_steps_say_what_and_where() {
    let folder = folder("bad_steps");
    let config = aging(&folder);
    let flag = |step: &str| wordline(&["run", "--config", &config, "--requests", "10", "--age", step]);
    for (step, says) in [
        ("cycel to 3000", &["cycle"][..]),
        ("retain 12 moons", &["months"]),
        ("retain -1 months", &["retain"]),
        ("cycle to many", &["cycle to"]),
        ("", &["cycle to"]),
        ("disturb 500 reads of wordline", &["wordline"]),
    ] {
        let done = flag(step).fails(2, says);
        for part in
            [format!("--age {step:?}"), "run.age".to_owned(), "found:".to_owned(), format!("{step:?}")]
        {
            assert!(done.err.contains(&part), "{part} in:\n{}", done.err);
        }
        assert!(done.err.contains("allowed:"), "{}", done.err);
        let text = std::fs::read_to_string(&config).unwrap();
        let told = file(&folder, "told.toml", format!("{text}[run]\nage = [\"retain 1 hours\", {step:?}]\n"));
        let line = text.lines().count() + 2;
        let done = wordline(&["run", &told, "--requests", "10"]).fails(2, says);
        assert!(done.err.contains(&format!("told.toml:{line}: run.age")), "{}", done.err);
        wordline(&["explain", &told]).fails(2, says);
    }
    // A step that can be read, but not taken on this drive: it has 16 wordlines in a block.
    flag("disturb 500 reads of wordline 99").fails(2, &["run.age", "wordline 99", "allowed"]);
    let done = wordline(&["run", "--config", &config, "--requests", "10", "--set", "run.age=7"]);
    done.fails(2, &["--set run.age=7", "found:   7", "a list of steps"]);
}

#[test]
fn cells_that_do_not_age_cannot_be_made_older() {
    let folder = folder("ageless");
    let small = file(&folder, "small.toml", SMALL);
    let says = ["run.age", "\"cycle to 3000\"", "nand.errors.model = \"cells\"", "its default"];
    let run = ["run", "--config", &small, "--synthetic", "uniform", "--requests", "10"];
    wordline(&[&run[..], &["--age", "cycle to 3000"]].concat()).fails(2, &says);
    wordline(&["run", "--requests", "10", "--age", "cycle to 3000"]).fails(2, &says);
    let told = file(&folder, "told.toml", format!("{SMALL}[run]\nage = [\"cycle to 3000\"]\n"));
    let save = ["--precondition-only", "--save-snapshot", &folder.join("x.snap").display().to_string()];
    wordline(&[&["run", "--config", &told][..], &save].concat()).fails(2, &["told.toml:", "run.age"]);
    // Without steps nothing is said of errors.
    let out = folder.join("out").display().to_string();
    let done = wordline(&[&run[..], &["--precondition", "none", "--out", &out]].concat()).ok();
    for word in ["retries", "uncorrectable", "ECC decoding", "aged"] {
        assert!(!done.out.contains(word), "{word} in:\n{}", done.out);
    }
    assert!(!folder.join("out/retries.svg").exists());
}
