//! What bounds a run is told right: overload, idleness, bursts.

use crate::program::{trace, wordline};
use serde_json::Value;

fn verdict(args: &[&str]) -> Value {
    let found = wordline(&[&["run", "--json"], args].concat()).ok().json();
    found["verdict"].clone()
}

fn of_generator(args: &str) -> Value {
    let requests = if args.contains("--requests") { "" } else { "--requests 20000 " };
    let all = format!("--synthetic uniform --set run.overwrite=none {requests}{args}");
    verdict(&all.split_whitespace().collect::<Vec<_>>())
}

/// More comes than the drive can serve, for as long as it comes.
const OVERLOADED: [&str; 12] = [
    "--read-percent 0 --rate 200000 --set run.overwrite=steady_state --requests 40000",
    "--read-percent 0 --rate 3000000",
    "--read-percent 30 --rate 3000000",
    "--read-percent 70 --rate 3000000",
    "--read-percent 100 --rate 3000000",
    "--read-percent 100 --rate 200000 --size 64KiB",
    "--read-percent 0 --rate 20000 --size 256KiB --requests 4000",
    "--read-percent 50 --rate 500000 --size 16KiB",
    "--read-percent 0 --rate 400000 --set run.overwrite=steady_state --requests 40000",
    "--drive m64 --precondition none --read-percent 0 --rate 600000 --set host.buffer.policy=none",
    "--drive tlc --precondition none --read-percent 0 --rate 100000 --size 128KiB",
    "--drive mqsim --precondition none --read-percent 0 --rate 500000 --size 16KiB",
];

/// Less comes than the drive can serve.
const IDLE: [&str; 12] = [
    "--read-percent 0 --rate 500",
    "--read-percent 0 --rate 2000",
    "--read-percent 30 --rate 500",
    "--read-percent 30 --rate 2000",
    "--read-percent 70 --rate 2000",
    "--read-percent 70 --rate 8000",
    "--read-percent 100 --rate 2000",
    "--read-percent 100 --rate 20000",
    "--read-percent 100 --rate 1000 --size 64KiB",
    "--read-percent 50 --rate 500 --size 128KiB --requests 4000",
    "--drive m64 --precondition none --read-percent 0 --rate 2000",
    "--drive tlc --precondition none --read-percent 0 --rate 1000 --size 16KiB",
];

fn each_is(wanted: &str, loads: [&str; 12]) {
    for load in loads {
        let found = of_generator(load);
        assert_eq!(found["state"], wanted, "{load}: {}", found["text"]);
        assert!(wanted == "overloaded" || found["bound_by"].is_null(), "{load}: {found}");
        let text = found["text"].as_str().unwrap();
        let is_doubted = text.contains("they do not show how fast the drive is");
        assert_eq!(is_doubted, wanted == "overloaded", "{text}");
    }
}

#[test]
fn overload_is_told() {
    each_is("overloaded", OVERLOADED);
}

#[test]
fn idleness_is_told_from_it() {
    each_is("idle", IDLE);
    assert_eq!(of_generator("--depth 32")["state"], "closed");
}

/// What bounds an overloaded drive is named.
#[test]
fn what_bounds_a_drive_is_named() {
    let link = "--read-percent 100 --rate 200000 --size 64KiB --set host.link.bandwidth_mb_s=500";
    assert_eq!(of_generator(link)["bound_by"], "link");
    let firmware = "--read-percent 100 --rate 200000 --set host.firmware.t_command_us=50";
    assert_eq!(of_generator(firmware)["bound_by"], "firmware");
    let dies = "--read-percent 100 --rate 3000000 --footprint 1GiB";
    assert_eq!(of_generator(dies)["bound_by"], "dies");
    for chips in [8, 16] {
        let channels = format!(
            "--drive tlc --read-percent 100 --size 16KiB --depth 256 --set nand.geometry.channels=2 --set \
             nand.geometry.chips_per_channel={chips} --set nand.geometry.blocks_per_plane=64"
        );
        let found = of_generator(&channels);
        assert_eq!(found["bound_by"], "channels", "{chips} chips: {}", found["text"]);
    }
}

/// A trace that is played so fast that it is one long queue.
#[test]
fn a_trace_that_comes_too_fast_is_told() {
    let fast = verdict(&[&trace(), "--speed-up", "5000", "--first", "20000"]);
    assert_eq!(fast["state"], "overloaded", "{fast}");
    let slow = verdict(&[&trace(), "--first", "20000"]);
    assert_ne!(slow["state"], "overloaded", "{slow}");
}
