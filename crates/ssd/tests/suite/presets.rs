//! The shipped presets, and what follows from a configuration: counts, capacities, lanes.

use crate::support::every::{has, is_possible};
use ssd::config::{ConfigErrors, Layer, presets};
use ssd::drive_config::{Resolved, resolve};
use ssd::nand::cell::{CellModel, CellState};
use ssd::policy::{FAMILIES, family};
use ssd::sections::{ErrorModel, Superblock};
use ssd::{Drive, DriveConfig};

fn user(text: &str) -> Result<Resolved, ConfigErrors> {
    resolve(&[Layer::file("my.toml", text)], &[])
}

fn accepted(text: &str) -> Resolved {
    user(text).unwrap_or_else(|errors| panic!("refused:\n{text}\n{errors}"))
}

fn preset(name: &str) -> Resolved {
    accepted(&format!("preset = \"{name}\""))
}

#[test]
fn every_file_is_shipped() {
    for (folder, shipped) in [
        ("drive", presets::drives()),
        ("nand", presets::nands()),
        ("cell", presets::cells()),
        ("marker", presets::markers()),
    ] {
        let path = format!("{}/../../presets/{folder}", env!("CARGO_MANIFEST_DIR"));
        let mut files: Vec<String> = std::fs::read_dir(&path)
            .expect("the folder of presets")
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        files.sort();
        let mut listed: Vec<String> = shipped.iter().map(|preset| format!("{}.toml", preset.name)).collect();
        listed.sort();
        assert_eq!(files, listed, "presets/{folder} and the list in config/presets.rs");
    }
}

#[test]
fn every_preset_resolves_and_survives_a_round_trip() {
    for preset in presets::drives() {
        let resolved = user(&format!("preset = \"{}\"", preset.name));
        let resolved = resolved.unwrap_or_else(|errors| panic!("{}:\n{errors}", preset.file));
        let text = resolved.to_toml();
        let again = accepted(&text);
        assert_eq!(again.config, resolved.config, "{}", preset.file);
        assert_eq!((again.to_toml(), again.hash()), (text, resolved.hash()), "{}", preset.file);
        assert!(preset.summary().len() > 20, "{}", preset.file);
    }
    for nand in presets::nands() {
        user(&format!("[nand]\npart = \"{}\"", nand.name))
            .unwrap_or_else(|errors| panic!("{}:\n{errors}", nand.file));
        for line in nand.text.lines().filter(|line| line.starts_with('[')) {
            let own = line.starts_with("[nand.") || line.starts_with("[cell");
            assert!(own, "{}: a part has only sections of nand and its cells: {line}", nand.file);
        }
    }
    for cell in presets::cells() {
        let resolved = accepted(&format!("[cell]\npart = \"{}\"", cell.name));
        for (path, section) in resolved.config.cells.sections() {
            for field in section.fields() {
                let origin = resolved.origin(&format!("{path}.{}", field.key)).map(ToString::to_string);
                let place = origin.unwrap_or_default();
                let folder = if path == "cell.markers" { "marker" } else { "cell" };
                let file = format!("preset {folder}/{}:", cell.name);
                assert!(place.starts_with(&file), "{path}.{}", field.key);
            }
        }
        assert!(cell.text.lines().all(|line| !line.starts_with('[') || line.starts_with("[cell.")));
        assert!(cell.summary().len() > 20, "{}", cell.file);
    }
    let mut hashes: Vec<u64> = presets::drives().iter().map(|drive| preset(drive.name).hash()).collect();
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), presets::drives().len());
}

#[test]
fn every_number_of_a_preset_has_a_source() {
    let parts = presets::nands().iter().chain(presets::cells()).chain(presets::markers());
    for preset in presets::drives().iter().chain(parts) {
        for line in preset.text.lines().filter(|line| line.contains('=') && !line.starts_with('#')) {
            let comment = line.split_once('#').map(|(_, comment)| comment);
            let policy = line.starts_with("policy") || line.starts_with("part");
            let above = preset.text.lines().take_while(|other| *other != line).last().unwrap_or_default();
            let sourced =
                ["[P]", "[D]", "[F]", "[A]"].iter().any(|tag| comment.unwrap_or(above).contains(tag));
            let follows = comment.is_some_and(|comment| comment.contains("from the two numbers below"));
            let cell = line.starts_with("bits_per_cell");
            assert!(sourced || policy || follows || cell, "{}: {line}", preset.file);
        }
    }
}

/// Whether there is a drive: those of a technique go with it.
fn is_shipped(name: &str) -> bool {
    has("ftl.age_marker") || !["boundedread", "longlive"].contains(&name)
}

/// Calibration section 6, row by row: tR, tPROG (us), tBERS (ms), pages of a block, page bytes, blocks.
#[test]
fn presets_hold_the_calibrated_numbers() {
    type Row = (&'static str, f64, f64, f64, u32, u32, u64);
    const ROWS: &[Row] = &[
        ("redftl", 100.0, 1_600.0, 5.0, 192, 8_192, 65_536),
        ("redftl_mds", 100.0, 1_600.0, 5.0, 192, 8_192, 288_000),
        ("redftlplus", 100.0, 1_600.0, 5.0, 192, 8_192, 65_536),
        ("pds", 25.0, 200.0, 1.2, 128, 4_096, 1_500),
        ("ids", 100.0, 1_600.0, 5.0, 128, 4_096, 1_024),
        ("hire", 90.0, 600.0, 3.5, 256, 8_192, 65_536),
        ("hire_base", 90.0, 600.0, 3.5, 256, 8_192, 65_536),
        ("hire_boost", 30.0, 600.0, 3.5, 256, 8_192, 65_536),
        ("hire_reduced", 210.0, 600.0, 3.5, 256, 8_192, 65_536),
        ("straw", 40.0, 380.0, 3.5, 7_704, 16_384, 18_048),
        ("rftl", 80.0, 700.0, 3.5, 576, 16_384, 3_424),
        ("boundedread", 80.0, 700.0, 3.5, 576, 16_384, 3_424),
        ("longlive", 80.0, 700.0, 3.5, 576, 16_384, 3_424),
        ("evanesco", 80.0, 700.0, 3.5, 576, 16_384, 3_424),
        ("psr", 98.296, 656.0, 3.5, 576, 16_384, 3_424),
        ("scan_3d", 50.0, 700.0, 3.5, 576, 4_096, 116_480),
        ("m64", 75.0, 750.0, 3.8, 256, 16_384, 16_384),
        ("mqsim", 75.0, 750.0, 3.8, 256, 16_384, 16_384),
    ];
    for (name, t_read, t_program, t_erase_ms, pages, page_bytes, blocks) in
        ROWS.iter().filter(|row| is_shipped(row.0))
    {
        let config = preset(name).config;
        let times = (&config.t_read_us()[0], &config.t_program_us()[0], &(config.timing.t_erase_us / 1e3));
        assert_eq!(times, (t_read, t_program, t_erase_ms), "{name}");
        let geometry = &config.geometry;
        assert_eq!(
            (geometry.pages_per_block(), geometry.page_bytes, geometry.blocks()),
            (*pages, *page_bytes, *blocks)
        );
    }
    // HIRE: sensing + data + soft bits; pSR: array + commands + data.
    let read_us = |config: &DriveConfig| {
        let channel = &config.channel;
        let commands = f64::from(channel.t_read_command_ns + channel.t_data_out_command_ns) / 1e3;
        let bits = f64::from(channel.read_bits);
        config.t_read_us()[0]
            + commands
            + bits * f64::from(config.geometry.page_bytes) / channel.bandwidth_mb_s
    };
    for (name, us) in
        [("hire", 170.0), ("hire_base", 170.0), ("hire_boost", 70.0), ("hire_reduced", 310.0), ("psr", 115.0)]
    {
        assert!((read_us(&preset(name).config) - us).abs() < 1e-9, "{name}");
    }
    assert!((read_us(&preset("m64").config) - 124.472).abs() < 1e-9);
    let rhs = preset("rhs").config;
    assert_eq!(rhs.gray_code().iter().map(Vec::len).collect::<Vec<_>>(), [1, 2, 4, 8]);
    assert!(rhs.logical_bytes() > 1_000_000_000_000 && rhs.geometry.blocks() > 10_000);
    assert_eq!(preset("straw").config.geometry.wordlines_per_block, 2_568);
}

/// Which drives have errors on, and whose cells each has: by bits, by modes, by what a paper counts.
#[test]
fn drives_have_the_cells_of_their_paper() {
    for drive in presets::drives() {
        let config = preset(drive.name).config;
        let is_on = drive.name.starts_with("aged_")
            || ["client_full", "hire", "boundedread", "longlive"].contains(&drive.name);
        let model = if is_on { ErrorModel::Cells } else { ErrorModel::None };
        assert_eq!(config.errors.model, model, "{}", drive.file);
        assert_eq!(config.cells.states.bits_per_cell, config.geometry.bits_per_cell, "{}", drive.file);
        assert!(config.cells.validate().is_ok(), "{}", drive.file);
    }
    // HIRE's modes: base, boosted, reduced; sensed at 3, 1 and 7 levels of each of three thresholds, 10 us each.
    let base = preset("hire_base").config.cells.modes.clone();
    for (name, mode, t_read_us) in
        [("hire_base", 0, 90.0), ("hire_boost", 1, 30.0), ("hire_reduced", 2, 210.0)]
    {
        let config = preset(name).config;
        let own = &config.cells.modes;
        let [normal, there] = [(own, 0), (&base, mode)]
            .map(|(modes, at)| (modes.voltage_scale[at], modes.wear[at], modes.levels[at]));
        assert_eq!(normal, there, "{name}");
        let levels = own.levels[0] * 3.0;
        assert_eq!(levels * config.cells.ecc.sense_us, t_read_us, "{name}");
        assert_eq!(config.t_read_us(), [t_read_us; 2]);
    }
    assert_eq!(preset("straw").config.cells.disturb.page_weights, [1.0; 3]);
    assert_eq!(preset("rftl").config.cells.disturb.page_weights, [0.78, 1.0, 0.79]);
    let redftlplus = preset("redftlplus").config;
    assert_eq!(redftlplus.gray_code(), [vec![4], vec![2, 6], vec![1, 3, 5, 7]]);
    assert_eq!(redftlplus.cells.disturb.page_weights, [0.25, 0.5, 1.0]);
    assert_eq!(redftlplus.cells.modes.read_endurance, [1.0, 2.0, 5.0]);
}

/// Every drive reads its fresh pages, the worst wordline's too, with the levels of its normal mode and all the noise.
#[test]
fn fresh_drives_are_readable() {
    for drive in presets::drives() {
        let config = preset(drive.name).config;
        let model = CellModel::new(config.cells.clone()).expect("a part");
        let cells = model.distribution(&CellState::default());
        let references = model.default_references(0);
        let limit = model.sector_bits(model.max_rber(config.cells.modes.levels[0] as u32));
        for page in 0..model.page_types() {
            let bits = model.sector_bits(model.page_rber(&cells, page, references));
            let most = bits + config.cells.effects.rtn_bits;
            assert!(
                most <= limit,
                "{}: page type {page} has {most} errors, corrected are {limit}",
                drive.file
            );
        }
    }
}

/// The aged drives are the plain ones in everything but errors.
#[test]
fn aged_drives_differ_in_errors_only() {
    for plain in ["tlc", "qlc"] {
        let aged = preset(&format!("aged_{plain}")).config;
        let mut config = preset(plain).config;
        assert_eq!(aged.cells, config.cells);
        config.errors.model = ErrorModel::Cells;
        assert_eq!(aged, config, "{plain}");
    }
}

#[test]
fn counts_and_lanes_follow_from_the_geometry() {
    let mut config = preset("straw").config;
    assert_eq!(
        (config.geometry.dies(), config.geometry.planes(), config.geometry.blocks()),
        (32, 128, 18_048)
    );
    assert_eq!(config.geometry.physical_pages(), 139_041_792);
    assert_eq!((config.units_per_page(), config.unit_bytes()), (1, 16_384));
    let mut lanes = |superblock| {
        config.allocation.superblock = superblock;
        (config.lanes(), config.lane_span())
    };
    assert_eq!(lanes(Superblock::None), (128, 1));
    assert_eq!(lanes(Superblock::Planes), (32, 4));
    assert_eq!(lanes(Superblock::All), (1, 128));
    let mut config = DriveConfig::default();
    assert_eq!((config.units_per_page(), config.unit_bytes()), (4, 4_096));
    assert_eq!(config.logical_units(), (25_165_824.0 / 1.07) as u64);
    config.drive.logical_gib = 1.5;
    assert_eq!(config.logical_units(), 393_216);
    assert_eq!(config.t_read_us(), [75.0; 3]);
    config.timing.t_read_us.clear();
    assert_eq!(config.t_read_us(), [78.0, 117.0, 78.0]);
}

#[test]
fn families_and_their_sections_agree() {
    for info in FAMILIES {
        let mut config = DriveConfig::default();
        let section =
            config.section_mut(&info.section()).unwrap_or_else(|| panic!("no section for {}", info.path));
        assert_eq!(section.family().map(|family| family.path), Some(info.path));
        assert_eq!(section.policy(), Some(info.default));
        assert_eq!(
            family(&info.section()).map(|family| family.path),
            family(info.path).map(|family| family.path)
        );
        for member in info.members.iter().filter(|member| is_possible(&info.section(), member.name)) {
            section.select(member.name).expect("a member");
            assert_eq!(section.policy(), Some(member.name));
            for field in member.fields {
                assert_eq!(section.show(field.key), Some(field.default_text()), "{}", member.file);
                assert!(!field.doc.is_empty() && !field.range_text().is_empty());
            }
            // Program modes are those of cells that age.
            let hot = "[ftl.stream]\npolicy = \"hotness\"\n";
            let counts = "[host.hotness]\npolicy = \"hit_counts\"\n";
            let pages = "[ftl.mapping]\nunit = \"page\"\n";
            let drive = match (info.path, member.name) {
                ("ftl/program_mode", "hire") => format!("preset = \"hire\"\n{hot}{counts}"),
                ("ftl/program_mode", _) => "preset = \"hire\"\n".to_owned(),
                ("ftl/stream", "hotness") => counts.to_owned(),
                ("ftl/techniques/age_marker", "pe_tprog" | "pe_tprog_ber" | "real_wear") => {
                    "preset = \"aged_tlc\"\n".to_owned()
                }
                ("ftl/techniques/wear_leveling", "age_aware") | ("flash/read_voltage", "table_by_age") => {
                    "preset = \"aged_tlc\"\n[ftl.age_marker]\npolicy = \"real_wear\"\n".to_owned()
                }
                ("ftl/techniques/migration", "copyback_by_age") => {
                    format!("preset = \"aged_tlc\"\n[ftl.age_marker]\npolicy = \"real_wear\"\n{pages}")
                }
                ("ftl/techniques/migration", _) => pages.to_owned(),
                // What grows old are cells.
                ("ftl/techniques/refresh", "by_age") => "preset = \"aged_tlc\"\n".to_owned(),
                _ => String::new(),
            };
            let chosen = accepted(&format!("{drive}[{}]\npolicy = \"{}\"", info.section(), member.name));
            assert_eq!(accepted(&chosen.to_toml()).config, chosen.config);
        }
    }
    for (path, section) in DriveConfig::default().sections() {
        for field in section.fields() {
            assert_eq!(section.show(field.key), Some(field.default_text()), "{path}.{}", field.key);
        }
    }
}

/// What a drive says beforehand that it takes of memory is what its tables take then, or half more.
#[test]
fn the_memory_a_drive_needs_is_known_before() {
    let mut cfg = DriveConfig::default();
    cfg.geometry.blocks_per_plane = 200;
    let check = |what: &str, cfg: &DriveConfig| {
        let (said, taken) = (cfg.memory_bytes(), Drive::new(cfg).unwrap().reports().table_bytes().all as u64);
        assert!(taken <= said && said <= taken * 3 / 2, "{what}: {said} bytes said, {taken} taken");
    };
    check("no errors", &cfg);
    cfg.errors.model = ssd::sections::ErrorModel::Cells;
    check("cells", &cfg);
    for policy in ["straw", "lazy_exact", "redftl_plus"] {
        let Some(reclaims) = ssd::ftl::read_reclaim::Config::named(policy) else { continue };
        cfg.read_reclaim = reclaims;
        check(policy, &cfg);
    }
    cfg.read_reclaim = ssd::ftl::read_reclaim::Config::default();
    cfg.page_class = ssd::ftl::page_class::Config::named("read_heat").unwrap();
    check("read_heat", &cfg);
}
