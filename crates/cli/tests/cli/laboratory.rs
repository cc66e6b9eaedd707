//! `wordline lab`.

use crate::program::{folder, wordline};

#[test]
fn the_check_prints_and_keeps_its_table() {
    let folder = folder("lab_check");
    let out = folder.join("kept").display().to_string();
    let check = ["lab", "check", "--quick", "--part", "mlc", "--cells", "1000", "--date", "1 May"];
    let kept = wordline(&[&check[..], &["--out", &out]].concat()).ok();
    for text in ["claimed", "measured", "pages lost when the LSB page", "7.4", " met", "not judged"] {
        assert!(kept.out.contains(text), "{text} in:\n{}", kept.out);
    }
    assert_eq!(wordline(&check).ok().out, kept.out);
    let toml = std::fs::read_to_string(folder.join("kept/results.toml")).unwrap();
    assert!(toml.contains("date = \"1 May\"") && toml.contains("verdict = \"met\""), "{toml}");
    assert!(folder.join("kept/results.md").exists());
}

#[test]
fn wrong_arguments_of_the_laboratory_are_told() {
    wordline(&["lab", "check", "--part", "tlc_48"]).fails(2, &["tlc_48", "did you mean \"tlc_48l\"?", "qlc"]);
    wordline(&["lab", "chek"]).fails(2, &["chek", "check"]);
    wordline(&["lab", "check", "--cells", "0"]).fails(2, &["--cells"]);
    wordline(&["lab", "check", "--qick"]).fails(2, &["--quick"]);
}
