//! Cells in the configuration: parts, what they must agree with, and Gray codes by name.

use super::{accepted, assert_has, refused};
use crate::support::every::is_gone;
use ssd::config::{Kind, Layer, Value, presets};
use ssd::drive_config::{Resolved, resolve};
use ssd::nand::cell::{CellModel, CellPart, CellState};
use ssd::nand::gray;

/// A drive with cells that age.
const ON: &str = "[nand.errors]\nmodel = \"cells\"\n";

/// A wrong text, and what its message must hold: place and key, what was found, what is allowed, the near match.
const WRONG: &[(&str, &[&str])] = &[
    (
        "[cell]\npart = \"mlc_hir\"",
        &[
            "my.toml:2: cell.part: no such cell part",
            "\"mlc_hir\"",
            "tlc_48l, slc, mlc, ",
            "mean \"mlc_hire\"?",
        ],
    ),
    ("[cell]\npart = \"tlc\"", &["my.toml:2: cell.part: no such cell part", "mean \"tlc_48l\"?"]),
    ("[cell]\npart = 3", &["my.toml:2: cell.part: wrong type", "found:   3", "name of a preset"]),
    ("[cell]\npart = [\"slc\"]", &["my.toml:2: cell.part: wrong type", "[\"slc\"]", "name of a preset"]),
    ("[cell]\nprt = \"slc\"", &["my.toml:2: cell.prt: no such key", "mean cell.part?"]),
    ("cell = \"slc\"", &["my.toml:1: cell: wrong type", "a section: [cell]"]),
    (
        "[cell.stats]\nsigma_v = 0.1",
        &["my.toml:1: cell.stats: no such section", "cell.states, cell.cycling", "mean [cell.states]?"],
    ),
    (
        "[cell.states]\nsigma_mv = 0.1",
        &["my.toml:2: cell.states.sigma_mv: no such key", "sigma_erased_v, sigma_v", "mean sigma_v?"],
    ),
    // Out of range: refused whether cells age or not.
    (
        "[cell.states]\nsigma_v = -0.1",
        &["my.toml:2: cell.states.sigma_v: out of range", "found:   -0.1", "0.001 to 2 V"],
    ),
    (
        "[nand.errors]\ntemperature_c = -300",
        &["my.toml:2: nand.errors.temperature_c: out of range", "-300", "-273 to 300 degrees C"],
    ),
    (
        "[cell.retention]\nreference_c = -273.2",
        &["my.toml:2: cell.retention.reference_c: out of range", "-273.2", "-273 to 300 degrees C"],
    ),
    (
        "[nand.errors]\nmodel = \"cell\"",
        &["my.toml:2: nand.errors.model: no such value", "none, cells", "mean \"cells\"?"],
    ),
    (
        "[nand.cell]\ngray_code = \"qlc_pbcc\"",
        &["my.toml:2: nand.cell.gray_code: no such Gray code", "tlc_1_2_4, ", "mean \"qlc_pbbc\"?"],
    ),
    (
        "[nand.cell]\ngray_code = \"qlc_pbbc\"",
        &["my.toml:2: nand.cell.gray_code: impossible", "4 page types", "3 rows"],
    ),
    (
        "[cell.states]\ngray_code = 3",
        &["my.toml:2: cell.states.gray_code: wrong type", "one of slc, mlc_1_2, ", "list of lists"],
    ),
];

/// The same for cells that age: each text comes after `ON`, so its first line is line 3.
const WRONG_WHEN_ON: &[(&str, &[&str])] = &[
    (
        "[cell.states]\nmean_v = [-2, 0.3, 1.7, 1.2, 3, 3.6, 4.3, 5.2]",
        &[
            "my.toml:4: cell.states.mean_v: impossible",
            "out of order",
            "1.7 V, state 3 at 1.2 V",
            "means that rise",
        ],
    ),
    (
        "[cell.states]\nmean_v = [-2, 0.3]",
        &[
            "my.toml:4: cell.states.mean_v: impossible",
            "2 means",
            "8 means",
            "states.bits_per_cell (preset cell/tlc_48l:",
        ],
    ),
    (
        "[cell.ecc]\nlimit_bits = 100",
        &[
            "my.toml:4: cell.ecc.limit_bits: impossible",
            "100 bits corrected by 128 bytes of parity",
            "at most 73 bits",
            "cell.ecc.parity_bytes (preset cell/tlc_48l:",
        ],
    ),
    (
        "[cell.ecc]\ncode = \"ldpc\"\nmax_rber = [0.02, 0.025, 0.03]\nlevel_steps = [1, 2, 3]",
        &[
            "my.toml:5: cell.ecc.max_rber: impossible",
            "0.02 at 1 levels",
            "the capacity at a code rate of 0.889",
        ],
    ),
    (
        "[cell.states]\ngray_code = [[1, 5], [2, 4, 6], [3, 6]]",
        &["my.toml:4: cell.states.gray_code: impossible", "not a Gray code", "threshold 6 twice", "3 rows"],
    ),
    (
        "[cell.wordlines]\ngroup_shares = [0.4, 0.3, 0.2, 0.2]",
        &["my.toml:4: cell.wordlines.group_shares: impossible", "sum to 1.1", "a sum of 1"],
    ),
    (
        "[cell]\npart = \"qlc\"",
        &[
            "nand.geometry.bits_per_cell",
            "cells of 4 bits in a geometry of 3 bits",
            "the same number; [cell] part = \"tlc_48l\" has 3",
            "preset cell/qlc:",
        ],
    ),
    (
        "[nand.cell]\ngray_code = \"tlc_1_2_4\"",
        &[
            "my.toml:4: nand.cell.gray_code: impossible",
            "[[4], [2, 6], [1, 3, 5, 7]] for the drive, [[1, 5], [2, 4, 6], [3, 7]] for its cells",
            "nand.cell.gray_code = []",
            "cell.states.gray_code (preset cell/tlc_48l:",
        ],
    ),
    (
        "[cell.modes]\nnames = [\"usual\", \"b\", \"c\"]",
        &["my.toml:4: cell.modes.names: impossible", "\"nominal\" first, then other names"],
    ),
    (
        "[cell.modes]\nnames = [\"nominal\", \"b\"]",
        &["my.toml:4: cell.modes.names: impossible", "lists of 2 and 3", "one name for each mode"],
    ),
    (
        "[nand.timing]\nt_read_us = 70\n[cell.ecc]\nsensing = \"page\"",
        &[
            "my.toml:6: cell.ecc.sensing: impossible",
            "does not give the time per threshold",
            "t_read_us = []",
        ],
    ),
    (
        "[cell.population]\nretention_span = 0.5",
        &[
            "my.toml:4: cell.population.retention_span: impossible",
            "retention differs by 0.5",
            "0 in a drive",
            "nand.errors.variation (its default)",
        ],
    ),
    (
        "[cell.ecc]\nsector_bytes = 12288",
        &[
            "my.toml:4: cell.ecc.sector_bytes: impossible",
            "pages of 16384 bytes",
            "sectors of 12288",
            "whole sectors",
        ],
    ),
    (
        "[nand.reliability]\nendurance_cycles = 40_000\n[ftl.read_reclaim]\npolicy = \"straw\"",
        &[
            "my.toml:4: nand.reliability.endurance_cycles: impossible",
            "40000 cycles, with a table of block endurance up to 32768",
            "at most 32768 cycles, or policy \"never\"",
        ],
    ),
    (
        "[nand.geometry]\nspare_bytes = 1000",
        &[
            "my.toml:4: nand.geometry.spare_bytes: impossible",
            "16 sectors with 128 bytes of parity each, in 1000 spare bytes",
            "spare_bytes at least 2048, or parity_bytes at most 62",
        ],
    ),
];

#[test]
fn what_is_wrong_with_cells_is_told_with_place_finding_and_remedy() {
    for (text, parts) in WRONG {
        assert_has(&refused(text), parts);
        assert_has(&refused(&format!("{text}\n[drive]\nseed = 3")), parts);
    }
    for (text, parts) in WRONG_WHEN_ON {
        assert_has(&refused(&format!("{ON}{text}")), parts);
        // While cells make no errors, nothing asks what their constants mean together.
        accepted(&format!("[nand.errors]\n{text}"));
    }
    let preemption = "[flash.preemption]\npolicy = \"immediate\"\n[flash.scheduling]\norder = \"fifo\"";
    let two = refused(&format!("{ON}[cell.ecc]\nlimit_bits = 100\n{preemption}"));
    assert_has(&two, &["my.toml:4: cell.ecc.limit_bits", "my.toml:6: flash.preemption.policy"]);
}

/// Modes are chosen by name, of those that the cells have; without errors there are none.
#[test]
fn program_modes_are_those_of_the_cells() {
    const FIVE: &str = "[cell.modes]\nnames = [\"nominal\", \"a\", \"b\", \"c\", \"high\"]\n\
        voltage_scale = [1, 1, 1, 1, 1.2]\nwear = [1, 1, 1, 1, 1]\nprogram_time = [1, 1, 1, 1, 1]\n\
        pass_ratio = [1, 1, 1, 1, 1]\nread_endurance = [1, 1, 1, 1, 1]\nlevels = [3, 3, 3, 3, 1]\n";
    const HIGH: &str = "[ftl.program_mode]\npolicy = \"high\"\n";
    let wrong = [
        (
            format!("{ON}program_mode = 1"),
            ["my.toml:3: nand.errors.program_mode: no such key", "did you mean ftl.program_mode.policy?"],
        ),
        (
            format!("{ON}{HIGH}"),
            [
                "\"high\", which programs in high, on cells with nominal, resistant, very_resistant",
                "[cell] part = \"mlc_hire\"",
            ],
        ),
        (
            HIGH.to_owned(),
            ["my.toml:2: ftl.program_mode.policy: impossible", "nand.errors.model = \"cells\""],
        ),
        (
            format!("{ON}[cell.modes]\nnames = 3"),
            ["my.toml:4: cell.modes.names: wrong type", "a name or a list of names, in quotes"],
        ),
        (
            "preset = \"hire\"\n[ftl.read_reclaim]\npolicy = \"redftl_plus\"".to_owned(),
            [
                "deals data to read-resistant modes, with modes nominal, high, low",
                "cells with modes called resistant",
            ],
        ),
        (
            format!("preset = \"hire\"\n{FIVE}"),
            ["cell.modes.names", "at most 4, or results could not distinguish them"],
        ),
    ];
    for (text, parts) in wrong.into_iter().filter(|(text, _)| !is_gone(text)) {
        assert_has(&refused(&text), &parts);
    }
    accepted(&format!("preset = \"hire\"\n{HIGH}"));
}

fn source(resolved: &Resolved, key: &str) -> String {
    resolved.origin(key).map_or("default".to_owned(), ToString::to_string)
}

/// The line of a key in a shipped cell part.
fn line(part: &str, key: &str) -> String {
    let text = presets::cell(part).expect("a part").text;
    let at = text.lines().position(|line| line.starts_with(&format!("{key} = "))).expect("the key");
    format!("preset cell/{part}:{}", at + 1)
}

#[test]
fn a_named_part_comes_before_its_layer() {
    for part in presets::cells() {
        // The layer's own keys win, wherever they stand in it.
        let text = format!("[cell.retry]\nentries = 3\n[cell]\npart = \"{}\"\n", part.name);
        let resolved = accepted(&text);
        let mut expected = CellPart::preset(part.name).expect("a part");
        expected.retry.entries = 3;
        assert_eq!(resolved.config.cells, expected, "{}", part.file);
        let shipped = ["cell", "marker"].map(|folder| format!("preset {folder}/{}", part.name));
        assert_eq!(resolved.sources, [&shipped[..], &["my.toml".to_owned()]].concat());
        assert_eq!(source(&resolved, "cell.retry.entries"), "my.toml:2");
        assert_eq!(source(&resolved, "cell.states.sigma_v"), line(part.name, "sigma_v"));
        assert_eq!(accepted(&resolved.to_toml()).config, resolved.config, "{}", part.file);
    }
    let layers = [
        Layer::file("a.toml", "[cell]\npart = \"qlc\"\n[cell.retry]\nentries = 3"),
        Layer::set("cell.part=mlc_hire").expect("a setting"),
    ];
    let resolved = resolve(&layers, &[]).expect("resolves");
    assert_eq!(resolved.config.cells, CellPart::preset("mlc_hire").expect("a part"));
    let wrong = resolve(&[Layer::set("cell.part=mlc_hirre").expect("a setting")], &[]).expect_err("wrong");
    assert_has(&wrong.to_string(), &["--set cell.part=mlc_hirre: cell.part: no such cell part", "mlc_hire"]);
}

#[test]
fn cells_that_age_are_chosen_by_their_bits() {
    let chosen = [(1, "slc"), (2, "mlc"), (3, "tlc_48l"), (4, "qlc")];
    for (bits, part) in chosen {
        let text = format!("{ON}[nand.geometry]\nbits_per_cell = {bits}\n");
        let resolved = accepted(&text);
        assert_eq!(resolved.config.cells, CellPart::preset(part).expect("a part"), "{part}");
        assert_eq!(source(&resolved, "cell.states.mean_v"), line(part, "mean_v"));
        let shipped = ["cell", "marker"].map(|folder| format!("preset {folder}/{part}"));
        assert_eq!(resolved.sources, [&shipped[..], &["my.toml".to_owned()]].concat());
        // What the user sets himself stays.
        let mine = accepted(&format!("{text}[cell.retry]\nentries = 3"));
        assert_eq!(
            (mine.config.cells.retry.entries, source(&mine, "cell.retry.entries")),
            (3, "my.toml:6".into())
        );
        assert_eq!(source(&mine, "cell.states.mean_v"), line(part, "mean_v"));
        // A configuration with every key written out needs no part.
        let whole = accepted(&resolved.to_toml());
        assert_eq!((whole.config, whole.sources), (resolved.config, vec!["my.toml".to_owned()]));
        // Without errors nothing is chosen.
        let off = accepted(&format!("[nand.geometry]\nbits_per_cell = {bits}"));
        assert_eq!(
            (off.config.cells.clone(), off.sources),
            (CellPart::default(), vec!["my.toml".to_owned()])
        );
    }
    // A part that was named is not overruled: it is refused when it does not fit.
    let message = refused(&format!("{ON}[nand.geometry]\nbits_per_cell = 4\n[cell]\npart = \"mlc\""));
    assert_has(&message, &["cells of 2 bits in a geometry of 4 bits", "part = \"qlc\" has 4"]);
}

#[test]
fn a_chip_brings_its_cells() {
    let text = "preset = \"straw\"\n[nand]\npart = \"hire_reduced\"\n";
    let resolved = accepted(text);
    let mut cells = CellPart::preset("mlc_hire").expect("a part");
    cells.modes = resolved.config.cells.modes.clone();
    assert_eq!((&resolved.config.cells, &cells.modes.voltage_scale[..]), (&cells, &[0.8][..]));
    let named = accepted(&format!("{text}[cell]\npart = \"mlc\""));
    assert_eq!(named.config.cells, CellPart::preset("mlc").expect("a part"));
    // All drives can be told to age.
    for drive in presets::drives() {
        let text = format!("preset = \"{}\"\n{ON}", drive.name);
        let resolved = accepted(&text);
        assert!(CellModel::new(resolved.config.cells.clone()).is_ok(), "{}", drive.file);
        assert_eq!(accepted(&resolved.to_toml()).config, resolved.config, "{}", drive.file);
    }
}

#[test]
fn codes_by_name_give_read_times_by_thresholds() {
    for code in gray::NAMED {
        let text = format!(
            "[nand.geometry]\nbits_per_cell = {}\n[nand.cell]\ngray_code = \"{}\"\n[nand.timing]\nt_read_us = []\n\
             t_read_base_us = 20\nt_sense_us = 15\n",
            code.bits(),
            code.name
        );
        let times: Vec<f64> = code.rows.iter().map(|row| 20.0 + 15.0 * row.len() as f64).collect();
        let plain = accepted(&text);
        assert_eq!((plain.config.gray_code(), plain.config.t_read_us()), (code.code(), times.clone()));
        // Cells that age have the same code, which is enough.
        let cells = format!("[cell.states]\ngray_code = \"{}\"\n", code.name);
        let aging = accepted(&format!("{text}{ON}{cells}"));
        assert_eq!((aging.config.gray_code(), aging.config.t_read_us()), (code.code(), times.clone()));
        let without = text.replace(&format!("gray_code = \"{}\"\n", code.name), "");
        let from_cells = accepted(&format!("{without}{ON}{cells}"));
        assert_eq!((from_cells.config.gray_code(), from_cells.config.t_read_us()), (code.code(), times));
        assert_eq!(accepted(&aging.to_toml()).config, aging.config);
    }
    // The order within a row makes no other code.
    accepted(&format!("{ON}[nand.cell]\ngray_code = [[5, 1], [6, 2, 4], [7, 3]]"));
}

#[test]
fn the_note_beside_a_shipped_number_is_told() {
    let rows = accepted(&format!("preset = \"straw\"\n{ON}[cell.retry]\nentries = 3 # mine")).explain();
    let note = |key: &str| {
        let row = rows.iter().find(|row| row.key == key).unwrap_or_else(|| panic!("{key}"));
        (row.source.clone(), row.note.clone())
    };
    let (source, tag) = note("cell.states.sigma_v");
    assert_eq!((source, tag.as_str()), (line("tlc_48l", "sigma_v"), "[F] calibration section 1.1"));
    assert!(note("cell.disturb.page_weights").1.starts_with("[D] Straw"));
    assert_eq!(note("nand.timing.t_program_us").1, "[P] Straw table I");
    assert_eq!(note("nand.geometry.blocks_per_plane").1, "[P] Straw table I");
    // Only what ships has notes: neither a user's comment nor a default.
    assert_eq!(note("cell.retry.entries"), ("my.toml:5".to_owned(), String::new()));
    assert_eq!(note("host.queues.depth"), ("default".to_owned(), String::new()));
    // No number of a cell part is without its tag.
    for row in rows.iter().filter(|row| row.source.starts_with("preset cell/")) {
        assert!(["[P]", "[D]", "[F]", "[A]"].iter().any(|tag| row.note.contains(tag)), "{row:?}");
    }
}

/// Every constant of every part at the ends of its range: refused with a reason, or a model whose errors are numbers.
#[test]
fn what_is_accepted_can_be_computed() {
    let ages = [(0.0, 0.0), (3.0, 8_760.0)];
    let (mut accepted, mut refused) = (0, 0);
    for part in presets::cells() {
        let whole = CellPart::preset(part.name).expect("a part");
        for (path, section) in whole.sections() {
            for field in section.fields() {
                let Some(limits) = field.limits else { continue };
                for end in [limits.min, limits.max] {
                    let mut changed = whole.clone();
                    let value = match field.kind {
                        Kind::Integer => Value::Integer(end as i128),
                        Kind::Numbers => {
                            let text = section.show(field.key).expect("a list");
                            Value::List(vec![Value::Float(end); text.split(',').count()])
                        }
                        _ => Value::Float(end),
                    };
                    let section = changed.section_mut(path).expect("a section");
                    section.set(field.key, &value).expect("in range");
                    let Ok(model) = CellModel::new(changed) else {
                        refused += 1;
                        continue;
                    };
                    accepted += 1;
                    for (wear_kcycles, retention_hours) in ages {
                        let state = CellState { wear_kcycles, retention_hours, ..CellState::default() };
                        let cells = model.distribution(&state);
                        let references = model.optimal_references(&cells);
                        for page in 0..model.page_types() {
                            let rber = model.page_rber(&cells, page, &references);
                            let what = format!("{}: {path}.{} = {value}", part.name, field.key);
                            assert!((0.0..=1.0).contains(&rber), "{what}: RBER {rber} at {wear_kcycles}");
                        }
                    }
                }
            }
        }
    }
    assert!(accepted > 500 && refused > 50, "{accepted} accepted, {refused} refused");
}
