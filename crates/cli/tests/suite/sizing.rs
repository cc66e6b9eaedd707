//! Drives that are sized to the workload: what is filled, and what stays when a setting changes.

use crate::program::wordline;
use serde_json::Value;

fn result(args: &[&str]) -> Value {
    let run = ["run", "--json", "--synthetic"];
    wordline(&[&run[..], args].concat()).ok().json()
}

#[test]
fn a_generated_run_fills_all_that_it_addresses() {
    const ONCE: [&str; 6] =
        ["--set", "run.overwrite=none", "--requests", "20000", "--set", "run.executor=functional"];
    for pattern in [&["uniform"][..], &["zipf", "--zipf", "80/20"], &["uniform", "--footprint", "50%"]] {
        let found = result(&[pattern, &ONCE, &["--read-percent", "100"]].concat());
        assert_eq!(found["buffer"]["unmapped_reads"], 0, "{pattern:?}");
        assert_eq!(found["buffer"]["unmapped_read_share"], 0.0, "{pattern:?}");
    }
    // An odd footprint is filled to its last sector.
    let odd = ["uniform", "--footprint", "300000256", "--size", "512", "--set", "run.overwrite=none"];
    let found = result(&[&odd[..], &["--read-percent", "100", "--requests", "20000"]].concat());
    assert_eq!(found["buffer"]["unmapped_reads"], 0);
    // What the user leaves empty is remarked on.
    let empty =
        result(&["uniform", "--read-percent", "100", "--requests", "2000", "--precondition", "fill=50"]);
    let share = empty["buffer"]["unmapped_read_share"].as_f64().unwrap();
    assert!((share - 0.5).abs() < 0.05, "{share}");
    assert!(empty["remarks"].to_string().contains("units read"), "{}", empty["remarks"]);
}

#[test]
fn what_is_called_steady_stays_as_it_is() {
    let run = ["uniform", "--read-percent", "0", "--requests", "250000", "--set", "run.executor=functional"];
    let result = result(&run);
    assert_eq!(result["preconditioning"]["steady"], true);
    let before = result["preconditioning"]["write_amplification"].as_f64().unwrap();
    let measured = result["write_amplification"].as_f64().unwrap();
    assert!((measured / before - 1.0).abs() < 0.02, "{before} before, {measured} measured");
}

#[test]
fn a_sweep_of_over_provisioning_keeps_the_geometry() {
    let sizes: Vec<Value> = ["4", "7", "20"]
        .iter()
        .map(|percent| {
            let set = format!("drive.over_provisioning_percent={percent}");
            let args = ["uniform", "--requests", "100", "--precondition", "none", "--set", &set];
            result(&args)["drive"].clone()
        })
        .collect();
    for size in &sizes {
        for key in ["physical_bytes", "dies", "channels"] {
            assert_eq!(size[key], sizes[0][key], "{key}");
        }
    }
    let logical: Vec<u64> = sizes.iter().map(|size| size["logical_bytes"].as_u64().unwrap()).collect();
    assert!(logical[0] > logical[1] && logical[1] > logical[2], "{logical:?}");
}
