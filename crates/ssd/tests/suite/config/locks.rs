//! What drives that lock what dies cannot be, and how it is told.

use super::{accepted, assert_has, refused};
use crate::support::every::is_gone;

/// What is set beside the preset `evanesco`, and what the message must hold: keys, what was found, what is allowed.
const WRONG: &[(&str, &[&str])] = &[
    ("[nand.lock]\ncells = 8", &["nand.lock.cells: impossible", "8 flag cells", "an odd number, such as 9"]),
    ("[nand.lock]\ncells = 65", &["nand.lock.cells", "65", "1", "63"]),
    (
        "[nand.lock]\ncells = 63\n[nand.geometry]\nspare_bytes = 16",
        &["nand.lock.cells", "nand.geometry.spare_bytes", "189 flag cells", "has 128", "a larger spare area"],
    ),
    ("[nand.lock]\npage_voltage = 6", &["nand.lock.page_voltage", "6", "1", "5"]),
    ("[nand.lock]\nblock_voltage = 7", &["nand.lock.block_voltage", "7", "1", "6"]),
    ("[nand.lock]\ncopyback_hole = 1", &["nand.lock.copyback_hole", "1", "true"]),
    (
        "[nand.timing]\nt_page_lock_us = 0",
        &["nand.timing.t_page_lock_us", "locks of pages that take 0 us", "more than 0 us"],
    ),
    (
        "[nand.timing]\nt_block_lock_us = 250",
        &["nand.timing.t_block_lock_us", "locks of blocks that take 250 us", "200, 300 or 400 us"],
    ),
    (
        "[ftl.sanitize]\npolicy = \"page_locks\"",
        &["ftl.sanitize.policy", "page_and_block_lock", "mean \"page_lock\"?"],
    ),
    (
        "[ftl.sanitize]\npolicy = \"page_lock\"\ndefault_class = \"secret\"",
        &["ftl.sanitize.default_class", "insecure, secure"],
    ),
    (
        "[ftl.sanitize]\npolicy = \"scrub\"\n[nand.timing]\nt_scrub_us = 0",
        &["nand.timing.t_scrub_us", "scrubs that take 0 us", "more than 0 us"],
    ),
    (
        "[ftl.sanitize]\npolicy = \"scrub\"\n[nand.cell]\nprogram_order = \"shadow\"",
        &["nand.cell.program_order", "finished after others have begun", "wordline_major"],
    ),
    (
        "[ftl.sanitize]\npolicy = \"scrub\"\n[ftl.read_reclaim]\npolicy = \"redftl\"\nreplica_limit = 2",
        &["ftl.read_reclaim.replica_limit", "replicas of frequently read data", "replica_limit = 0"],
    ),
    (
        "[ftl.sanitize]\npolicy = \"scrub\"\n[ftl.read_reclaim]\npolicy = \"redftl_plus\"",
        &["ftl.read_reclaim.policy", "\"redftl_plus\" deals to", "another ftl.read_reclaim.policy"],
    ),
    (
        "[ftl.sanitize]\npolicy = \"reprogram\"\n[nand.geometry]\nbits_per_cell = 1",
        &["ftl.sanitize.policy", "nand.geometry.bits_per_cell", "one bit per cell", "2 to 4"],
    ),
    (
        "[ftl.sanitize]\npolicy = \"reprogram\"\n[cell]\npart = \"mlc\"",
        &["cell.states.bits_per_cell", "cells of 2 bits in a geometry of 3 bits", "part = \"tlc_48l\" has 3"],
    ),
    (
        "[ftl.sanitize]\npolicy = \"reprogram\"\n[nand.timing]\nt_reprogram_us = 0",
        &["nand.timing.t_reprogram_us", "reprograms that take 0 us", "more than 0 us"],
    ),
    (
        "[ftl.sanitize]\npolicy = \"reprogram\"\n[nand.cell]\nprogram_order = \"shadow\"",
        &["nand.cell.program_order", "\"reprogram\"", "wordline_major"],
    ),
    ("[ftl.sanitize]\nrelock_months = -1", &["ftl.sanitize.relock_months", "-1", "0 to 1200 months"]),
    ("[ftl.sanitize]\nrelock_months = nan", &["ftl.sanitize.relock_months", "nan", "0 to 1200 months"]),
    ("[ftl.sanitize]\nrelock_months = inf", &["ftl.sanitize.relock_months", "inf", "0 to 1200 months"]),
    ("[ftl.sanitize]\nrelock_months = 1201", &["ftl.sanitize.relock_months", "1201", "0 to 1200 months"]),
    (
        "[ftl.sanitize]\nrelock_months = 1e-9",
        &[
            "ftl.sanitize.relock_months",
            "refreshed after 2.6 ms, although locking all pages of a die takes 24652.8 ms",
            "at least twice as long",
        ],
    ),
    (
        "[ftl.sanitize]\npolicy = \"scrub\"\nrelock_months = 12",
        &["ftl.sanitize.relock_months", "default_class, acknowledge, batch_ms"],
    ),
    (
        "[ftl.sanitize]\npolicy = \"erase\"\nrelock_months = 12",
        &["ftl.sanitize.relock_months", "default_class, acknowledge, batch_ms"],
    ),
    ("[ftl.sanitize]\npolicy = \"none\"\nrelock_months = 12", &["ftl.sanitize.relock_months"]),
    ("[ftl.sanitize]\nmax_exposed_ms = -1", &["ftl.sanitize.max_exposed_ms", "-1", "0 to 1000000 ms"]),
    (
        "[ftl.sanitize]\nmax_exposed_ms = 5",
        &["ftl.sanitize.max_exposed_ms", "nand.timing.t_erase_us", "5 ms", "or at least"],
    ),
    (
        "[ftl.sanitize]\nmax_exposed_ms = 100\n[ftl.cleaning]\nlazy_erase = true",
        &["ftl.sanitize.max_exposed_ms", "ftl.cleaning.lazy_erase = false"],
    ),
    (
        "[ftl.sanitize]\nmax_exposed_ms = 100\n[flash.preemption]\npolicy = \"priority_aware\"",
        &["ftl.sanitize.max_exposed_ms", "flash.preemption.policy = \"safe_point\""],
    ),
    (
        "[ftl.sanitize]\npolicy = \"erase\"\nmax_exposed_ms = 100",
        &["ftl.sanitize.max_exposed_ms", "default_class, acknowledge, batch_ms"],
    ),
    ("[nand.lock]\ncells = 0", &["nand.lock.cells", "0", "1", "63"]),
    ("[nand.lock]\npage_voltage = 0", &["nand.lock.page_voltage", "0", "1 to 5"]),
    ("[nand.lock]\nblock_voltage = 0", &["nand.lock.block_voltage", "0", "1 to 6"]),
    (
        "[nand.timing]\nt_block_lock_us = 0",
        &["nand.timing.t_block_lock_us", "locks of blocks that take 0 us", "200, 300 or 400 us"],
    ),
    (
        "[ftl.cleaning]\nlazy_erase = true\n[drive]\nlogical_gib = 30.09",
        &[
            "ftl.cleaning.lazy_erase",
            "drive.over_provisioning_percent",
            "true, with 0 blocks beyond the data in 8 lanes",
            "at least 8 blocks beyond the data, one waiting in each lane; or ftl.cleaning.lazy_erase = false",
        ],
    ),
    (
        "[nand.errors]\nopen_interval = true",
        &["nand.errors.open_interval", "nand.errors.model", "cells that do not age", "\"cells\""],
    ),
];

fn beside_evanesco(text: &str) -> String {
    format!("preset = \"evanesco\"\n{text}")
}

#[test]
fn what_locks_cannot_be_is_told_with_key_finding_and_remedy() {
    for (text, parts) in WRONG.iter().filter(|(text, _)| !is_gone(text)) {
        assert_has(&refused(&beside_evanesco(text)), parts);
    }
}

/// Where nothing is scrubbed there may be replicas, and where no block is locked that may take any time.
#[test]
fn what_locks_can_be_is_accepted() {
    for policy in ["page_lock", "page_and_block_lock", "erase"] {
        let replicas =
            "[ftl.read_reclaim]\npolicy = \"redftl\"\nreplica_limit = 2\n[nand.errors]\nmodel = \"cells\"";
        let replicas = if is_gone(replicas) { "" } else { replicas };
        let text = format!("[ftl.sanitize]\npolicy = \"{policy}\"\n{replicas}");
        accepted(&beside_evanesco(&text));
    }
    // Cells of two bits are those of the part with two, where nobody says otherwise.
    accepted(&beside_evanesco("[ftl.sanitize]\npolicy = \"reprogram\""));
    accepted("[ftl.sanitize]\npolicy = \"reprogram\"\n[nand.geometry]\nbits_per_cell = 2");
    // A page of one bit a cell is its wordline.
    for policy in ["scrub", "reprogram"] {
        accepted(&format!("[ftl.sanitize]\npolicy = \"{policy}\"\n[ftl.slc_cache]\npolicy = \"fixed\""));
    }
    accepted(&beside_evanesco(
        "[ftl.sanitize]\npolicy = \"page_lock\"\n[nand.timing]\nt_block_lock_us = 250",
    ));
}
