//! Drives that go by how data is used: what the buffer counts, and in which program modes blocks are.

use super::setup::{make_room, pick, random_policy};
use ssd::DriveConfig;
use ssd::config::{Table, Value};
use ssd::ftl::stream;
use ssd::rng::Rng;

/// The buffer says how data is used, and may let it leave in one order.
pub fn tell_hotness(cfg: &mut DriveConfig) {
    let rng = &mut Rng::named(cfg.drive.seed, "model/hotness");
    cfg.hotness.select("hit_counts").unwrap();
    if cfg.buffer.name() == "none" || rng.below(2) == 0 {
        let size = pick(rng, &[0.25, 0.5, 1.5]);
        random_policy(cfg, "host.buffer", "lru_read_write", |key| {
            (key == "size_mib").then_some(Value::Float(size))
        });
    }
    if stream::Policy::build(&cfg.stream).needs().promotes {
        if cfg.buffer.name() != "lru_read_write" {
            cfg.buffer.select("lru_read_write").unwrap();
            cfg.buffer.set("size_mib", &Value::Float(0.5)).unwrap();
        }
        cfg.buffer.set("evict", &Value::Text("lru".to_owned())).unwrap();
        cfg.stream.set("promote_percent", &Value::Integer(pick(rng, &[1, 20, 100]))).unwrap();
        // Few accesses make data read-hot.
        cfg.hotness.set("watermark_percent", &Value::Integer(51)).unwrap();
    }
}

/// Blocks of each class of data in a program mode of their own: if data is placed by class, and on half of the other
/// drives beside what separates it. None where a policy that deals data because of reads needs modes of its own.
pub fn choose_modes(cfg: &mut DriveConfig) {
    if cfg.cells.modes.names.len() != 3 {
        return;
    }
    let before = cfg.clone();
    if cfg.stream.name() != stream::hotness::NAME {
        if Rng::named(cfg.drive.seed, "model/modes").below(2) == 0 {
            return;
        }
        tell_hotness(cfg);
        // Few accesses tell.
        cfg.hotness.set("watermark_percent", &Value::Integer(51)).unwrap();
    }
    cfg.cells.modes.names = ["nominal", "high", "low"].map(str::to_owned).to_vec();
    cfg.program_mode.select("hire").unwrap();
    if cfg.validate().is_err() && !make_room(cfg) {
        *cfg = before;
    }
}
