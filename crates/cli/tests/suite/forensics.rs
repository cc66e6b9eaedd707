//! What a thief reads on the chips of saved drives.

use crate::program::{Done, file, folder, wordline};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A small drive of pages of one unit; nothing takes time, so that locks are done with what they follow.
const DRIVE: &str = "\
preset = \"evanesco\"
[nand.geometry]
channels = 1
chips_per_channel = 2
blocks_per_plane = 40
wordlines_per_block = 64
[drive]
logical_gib = 0.17
[run]
fill_percent = 100.0
overwrite = \"none\"
executor = \"functional\"
loop_mode = \"closed\"
";

/// Units of flash on it.
const UNITS: u64 = 2 * 40 * 64 * 3;

/// Saves a drive that was overwritten at random.
fn save(folder: &Path, name: &str, sets: &[&str]) -> (String, String) {
    let config = file(folder, &format!("{name}.toml"), DRIVE);
    let at = |ending: &str| folder.join(format!("{name}.{ending}")).display().to_string();
    let (snapshot, kept) = (at("snap"), at("csv.zst"));
    let mut args = vec!["run", "--config", &config, "--synthetic", "uniform", "--read-percent", "0"];
    args.extend(["--size", "16384", "--requests", "30000", "--quiet"]);
    args.extend(["--save-snapshot", &snapshot, "--keep-versions", &kept]);
    args.extend(sets.iter().flat_map(|set| ["--set", set]));
    wordline(&args).ok();
    (snapshot, kept)
}

fn look(snapshot: &str, more: &[&str]) -> Done {
    wordline(&[&["forensics", snapshot], more].concat())
}

fn summary(done: &Done) -> Value {
    done.json()["summary"].clone()
}

fn number(told: &Value, key: &str) -> u64 {
    told.pointer(key).and_then(Value::as_u64).unwrap_or_else(|| panic!("{key} in {told}"))
}

#[test]
fn each_policy_leaves_a_thief_what_it_promises() {
    let folder = folder("forensics");
    for (policy, hidden) in [
        ("none", None),
        ("page_lock", Some("zeros")),
        ("page_and_block_lock", Some("zeros")),
        ("scrub", Some("noise")),
        ("erase", Some("erased")),
    ] {
        let (snapshot, kept) = save(&folder, policy, &[&format!("ftl.sanitize.policy={policy}")]);
        let told = summary(&look(&snapshot, &["--json"]).ok());
        let dead = |what: &str| number(&told, &format!("/dead_secured/{what}"));
        let all = number(&told, "/live/data") + number(&told, "/erased") + number(&told, "/empty");
        assert_eq!(all + dead("data") + dead("zeros") + dead("noise"), UNITS, "{told}");
        match hidden {
            None => assert!(dead("data") > 1_000 && dead("zeros") + dead("noise") == 0, "{told}"),
            Some("erased") => assert_eq!(dead("data") + dead("zeros") + dead("noise"), 0, "{told}"),
            Some(how) => assert!(dead("data") == 0 && dead(how) > 1_000, "{told}"),
        }
        let done = look(&snapshot, &["--versions", &kept]).ok();
        let says = if hidden.is_none() { "A thief can read" } else { "There is no invalid|can read none of" };
        assert!(says.split('|').any(|text| done.out.contains(text)), "{}", done.out);
        assert_eq!(done.out.contains("finds, 10 of"), hidden.is_none(), "{}", done.out);
    }
}

/// With what the run has written each find is a version; the newest of a unit is the one that lives, and is no find.
#[test]
fn finds_are_told_as_data() {
    let folder = folder("forensics-finds");
    let (snapshot, kept) = save(&folder, "none", &["ftl.sanitize.policy=none"]);
    let found = folder.join("finds.csv");
    let out = found.display().to_string();
    let told = look(&snapshot, &["--versions", &kept, "--json", "--out", &out, "--show", "100000"]).ok();
    let finds = told.json()["finds"].as_array().unwrap().clone();
    let data = number(&summary(&told), "/dead_secured/data");
    assert_eq!(finds.len() as u64, data);
    let rows = std::fs::read_to_string(&found).unwrap();
    assert_eq!(rows.lines().count() as u64, data + 1);
    assert!(
        rows.starts_with("block,page,place,unit,version,file,class,written_ns,is_old,was_dead\n"),
        "{rows}"
    );
    let versions: Vec<u64> = finds.iter().map(|find| number(find, "/version")).collect();
    // What filled the drive, and what was written over once or more; no file, as uniform writes know none.
    assert!(versions.contains(&0) && versions.contains(&1) && versions.iter().any(|version| *version > 2));
    assert!(finds.iter().all(|find| find["file"].is_null() && find["is_secured"] == true));
    assert!(finds.iter().filter(|find| find["is_old"] == true).count() > 1_000);
    // Without it, the unit alone.
    let blind = look(&snapshot, &["--json"]).ok().json();
    assert!(blind["finds"][0]["version"].is_null() && blind["finds"][0]["is_old"].is_null(), "{blind}");
    assert_eq!(blind["finds"][0]["unit"], finds[0]["unit"]);
    assert_eq!(blind["summary"]["knows_classes"], false);
}

/// Files and classes of a workload of files reach the finds.
#[test]
fn files_are_told_by_name_and_class() {
    let folder = folder("forensics-files");
    let config = file(&folder, "drive.toml", DRIVE);
    let at = |name: &str| folder.join(name).display().to_string();
    let (snapshot, kept) = (at("files.snap"), at("files.parquet"));
    let mut args = vec!["run", "--config", &config, "--workload", "mobile", "--requests", "1500", "--quiet"];
    args.extend(["--set", "workload.secure_percent=50", "--set", "workload.journal_mib=4"]);
    args.extend([
        "--set",
        "workload.bytes_per_inode=131072",
        "--set",
        "ftl.sanitize.policy=page_and_block_lock",
    ]);
    args.extend(["--save-snapshot", &snapshot, "--keep-versions", &kept]);
    wordline(&args).ok();
    let told = look(&snapshot, &["--versions", &kept, "--json", "--show", "100000"]).ok();
    let finds = told.json()["finds"].as_array().unwrap().clone();
    assert_eq!(number(&summary(&told), "/dead_secured/data"), 0);
    assert!(number(&summary(&told), "/dead_secured/zeros") > 100);
    let of_files = finds.iter().filter(|find| find["file"].as_u64().is_some_and(|file| file >= 16)).count();
    assert!(of_files > 100 && finds.iter().all(|find| find["is_secured"] == false), "{of_files}");
    let text = look(&snapshot, &["--versions", &kept]).ok().out;
    assert!(text.contains("Files found (units)") && text.contains("insecure"), "{text}");
}

/// Flags that hold badly: a cell programs with z = -.068 + 2 + 4 log10(2) = 3.136, and has flipped after five years
/// with Q((3.136 - .74) / 2.53) = .172; of nine cells five or more with .0103. The expected few answer.
#[test]
fn after_five_years_the_expected_few_pages_answer_again() {
    let folder = folder("forensics-years");
    let weak =
        ["ftl.sanitize.policy=page_lock", "nand.lock.page_voltage=2", "nand.timing.t_page_lock_us=200"];
    let (snapshot, kept) = save(&folder, "weak", &weak);
    let now = summary(&look(&snapshot, &["--json"]).ok());
    let locked = number(&now, "/dead_secured/zeros");
    assert_eq!(number(&now, "/dead_secured/data"), 0);
    let mut before = 0;
    for (after, least, most) in [("1 day", 0.0, 0.002), ("5 years", 0.0103, 0.0103)] {
        let told = summary(&look(&snapshot, &["--after", after, "--json"]).ok());
        let answer = number(&told, "/dead_secured/data");
        let sigmas = |share: f64| 4.5 * (locked as f64 * share * (1.0 - share)).sqrt();
        let [least, most] = [locked as f64 * least - sigmas(least), locked as f64 * most + sigmas(most)];
        assert!((least..=most).contains(&(answer as f64)), "{after}: {answer} of {locked}");
        assert_eq!(answer, number(&told, "/unlocked"));
        let expected = told["unlocked_expected"].as_f64().unwrap();
        assert!((expected - answer as f64).abs() <= 4.5 * expected.sqrt() + 1.0, "{answer} for {expected}");
        if after == "5 years" {
            // Locks were set up to some seconds before the run ended.
            assert!((expected / (locked as f64 * 0.0103) - 1.0).abs() < 0.02, "{expected} of {locked}");
        }
        assert!(answer >= before);
        before = answer;
    }
    assert!(before > 0 && locked > 1_500, "{before} of {locked}");
    let told = look(&snapshot, &["--after", "5 years", "--versions", &kept]).ok();
    assert!(told.out.contains("5 years later") && told.out.contains("were locked when the drive was saved"));
    assert!(told.out.contains("units are expected to be readable then"), "{}", told.out);
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let folder = folder("forensics-wrong");
    let at = |name: &str| folder.join(name).display().to_string();
    let (snapshot, kept) = save(&folder, "one", &["ftl.sanitize.policy=none"]);
    let (other, _) = save(&folder, "other", &["ftl.sanitize.policy=none", "workload.seed=7"]);
    look(&other, &["--versions", &kept]).fails(2, &["one.csv.zst", "another snapshot", "row", "allowed"]);
    // A drive of another seed has other faults, and so another configuration.
    let (seeded, _) = save(&folder, "seeded", &["ftl.sanitize.policy=none", "drive.seed=7"]);
    let config = format!("{seeded}.toml");
    look(&snapshot, &["--config", &config]).fails(2, &["another configuration", "one.snap.toml"]);
    let bytes = std::fs::read(&snapshot).unwrap();
    let cut = file(&folder, "cut.snap", &bytes[..bytes.len() - 9]);
    look(&cut, &[]).fails(2, &["cut.snap.toml", "--config"]);
    look(&cut, &["--config", &format!("{snapshot}.toml")]).fails(2, &["cut.snap", "incomplete"]);
    look(&at("none.snap"), &[]).fails(2, &["none.snap", "No such file"]);
    // What the run has written, damaged.
    let packed = std::fs::read(&kept).unwrap();
    let rows = String::from_utf8(zstd::decode_all(&packed[..]).unwrap()).unwrap();
    let without_last = &rows[..rows.trim_end().rfind('\n').unwrap() + 1];
    // The first row with another word in a column.
    let with_first = |column: usize, word: &str| {
        let mut lines: Vec<String> = rows.lines().map(|line| format!("{line}\n")).collect();
        let mut cells: Vec<&str> = lines[1].trim_end().split(',').collect();
        cells[column] = word;
        lines[1] = cells.join(",") + "\n";
        lines.concat()
    };
    let cases: [(&str, String, &[&str]); 5] = [
        ("short.csv", without_last.to_owned(), &["incomplete", "one more for unit"]),
        ("empty.csv", String::new(), &["line 1", "place,unit,version"]),
        ("other.csv", "a,b\n1,2\n".to_owned(), &["line 1", "\"a,b\"", "place,unit,version"]),
        ("word.csv", with_first(0, "zero"), &["line 2", "zero", "whole numbers"]),
        ("class.csv", with_first(4, "3"), &["line 2", "whole numbers"]),
    ];
    for (name, text, says) in cases {
        let path = file(&folder, name, text);
        look(&snapshot, &["--versions", &path]).fails(2, &[&[name], says].concat());
    }
    for after in ["5", "soon", "5 years at 55 C", "-1 days", "2000 years"] {
        look(&snapshot, &[&format!("--after={after}")]).fails(2, &["--after", after, "5 years"]);
    }
    look(&snapshot, &["--out", "x.xlsx"]).fails(2, &["--out", ".parquet"]);
    look(&snapshot, &["--out", &snapshot]).fails(2, &["it would overwrite the snapshot"]);
    look(&snapshot, &["--out", &at("no/such.csv")]).fails(2, &["no/such.csv", "folder"]);
    let lone: PathBuf = folder.join("lone.csv");
    let run =
        ["run", "--synthetic", "uniform", "--requests", "10", "--keep-versions", &lone.display().to_string()]
            .map(str::to_owned);
    let run: Vec<&str> = run.iter().map(String::as_str).collect();
    wordline(&run).fails(2, &["--save-snapshot"]);
}

/// What preconditioning has left dead is told apart from what the run has deleted, and one file's from all.
#[test]
fn debris_is_told_apart_and_a_file_looked_for_alone() {
    let folder = folder("forensics-debris");
    let overwritten =
        ["run.overwrite=times", "run.overwrite_times=1", "ftl.sanitize.policy=none", "workload.count=2500"];
    let (snapshot, kept) = save(&folder, "none", &overwritten);
    let told = summary(&look(&snapshot, &["--versions", &kept, "--json"]).ok());
    let (all, before) = (number(&told, "/dead_secured/data"), number(&told, "/before_secured/data"));
    assert!(before > 100 && all > before + 100, "{told}");
    let text = look(&snapshot, &["--versions", &kept]).ok().out;
    for part in ["invalidated in the run", "invalid before the run", "invalidated before it"] {
        assert!(text.contains(part), "{part} in:\n{text}");
    }
    let blind = look(&snapshot, &[]).ok().out.replace('\n', " ");
    assert!(blind.contains("cannot be distinguished from data that the run deleted"), "{blind}");
    look(&snapshot, &["--file", "17"]).fails(2, &["--versions"]);
    look(&snapshot, &["--versions", &kept, "--file", "17"]).fails(2, &["no such file", "no file"]);
    // Files of a workload of files.
    let config = file(&folder, "drive.toml", DRIVE);
    let at = |name: &str| folder.join(name).display().to_string();
    let (snapshot, kept) = (at("files.snap"), at("files.csv"));
    let mut args = vec!["run", "--config", &config, "--workload", "mobile", "--requests", "1500", "--quiet"];
    args.extend(["--set", "workload.journal_mib=4", "--set", "workload.bytes_per_inode=131072"]);
    args.extend([
        "--set",
        "ftl.sanitize.policy=none",
        "--save-snapshot",
        &snapshot,
        "--keep-versions",
        &kept,
    ]);
    wordline(&args).ok();
    let finds = look(&snapshot, &["--versions", &kept, "--json", "--show", "100000"]).ok().json();
    let finds = finds["finds"].as_array().unwrap().clone();
    let number = finds.iter().find_map(|find| find["file"].as_u64()).unwrap();
    let of_file = finds.iter().filter(|find| find["file"] == number).count();
    let name = number.to_string();
    let alone =
        look(&snapshot, &["--versions", &kept, "--file", &name, "--json", "--show", "100000"]).ok().json();
    let alone = alone["finds"].as_array().unwrap().clone();
    assert!(alone.len() == of_file && alone.iter().all(|find| find["file"] == number), "{of_file}");
    let near = format!("{name}0");
    look(&snapshot, &["--versions", &kept, "--file", &near])
        .fails(2, &["no such file", "from ", "did you mean"]);
}

/// Several drives are told side by side, a column each.
#[test]
fn policies_stand_side_by_side() {
    let folder = folder("forensics-beside");
    let saved = ["none", "page_lock", "scrub"]
        .map(|policy| save(&folder, policy, &[&format!("ftl.sanitize.policy={policy}")]));
    let mut args = vec!["forensics"];
    args.extend(saved.iter().map(|(snapshot, _)| snapshot.as_str()));
    args.extend(saved.iter().flat_map(|(_, kept)| ["--versions", kept.as_str()]));
    let text = wordline(&args).ok().out;
    let row = |start: &str| {
        let line =
            text.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{start}: {text}"));
        line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).skip(1).collect::<Vec<&str>>()
    };
    assert_eq!(row("ftl.sanitize.policy"), ["none", "page_lock", "scrub"]);
    assert!(row("secured data invalidated in the run").len() == 3);
    let read = row("  a thief reads");
    assert!(read[0] != "0" && read[1..] == ["0", "0"], "{text}");
    assert_eq!(wordline(&[&args[..], &["--json"]].concat()).ok().json().as_array().unwrap().len(), 3);
    wordline(&args[..args.len() - 2]).fails(2, &["--versions: found 2 of them for 3 drives"]);
    let out = folder.join("finds.csv").display().to_string();
    wordline(&[&args[..], &["--out", &out]].concat()).fails(2, &["--out: found 3 drives"]);
}
