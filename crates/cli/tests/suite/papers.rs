//! The papers at quick scale, against what they are expected to give: a drift must be explained where it is accepted.

use std::path::Path;
use std::process::Command;

#[test]
fn quick_runs_give_what_is_expected() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("papers");
    let done = Command::new(env!("CARGO_BIN_EXE_wordline"))
        .current_dir(root)
        .args(["reproduce", "--quick", "--check", "--out"])
        .arg(out)
        .output()
        .expect("the program runs");
    let (text, errors) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{text}\n{errors}");
    assert!(text.contains("as expected"), "{text}");
}
