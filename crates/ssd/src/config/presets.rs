//! The drives, NAND parts, cell parts and markers of age that ship with Wordline: data under `presets/`, compiled in.

use super::error::Origin;

/// How the first line of a drive's configuration ends that was fitted to its figures.
pub const FITTED: &str = "fitted to its public figures (wordline fit).";

/// A shipped configuration file.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Name in files and on the command line; also the stem of the file.
    pub name: &'static str,
    /// The file, from the root of the repository.
    pub file: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// What kind of drive a preset is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// One that can be bought, fitted to its public figures.
    Bought,
    /// One as they are made today, of no maker.
    Plain,
    /// That of a paper, or of another simulator.
    Papers,
}

impl Preset {
    /// What kind of drive it is: what was fitted says so, and papers say what was before.
    pub fn group(&self) -> Group {
        let is_fitted = self.summary().ends_with(FITTED);
        match (is_fitted, self.text.contains("past = \"uniform\"")) {
            (true, _) => Group::Bought,
            (_, true) => Group::Papers,
            _ => Group::Plain,
        }
    }

    /// What it is, in a line: the first comment of the file.
    pub fn summary(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches('#').trim()
    }
}

macro_rules! shipped {
    ($folder:literal: $($name:literal),+ $(,)?) => {
        &[$(Preset {
            name: $name,
            file: concat!("presets/", $folder, "/", $name, ".toml"),
            text: include_str!(concat!("../../presets/", $folder, "/", $name, ".toml")),
        }),+]
    };
}

const DRIVES: &[Preset] = shipped!("drive":
    "client_tlc", "tlc", "qlc", "m64", "mqsim", "aged_tlc", "aged_qlc", "client_full",
    "redftl", "redftl_mds", "redftlplus", "pds", "ids",
    "hire", "hire_base", "hire_boost", "hire_reduced",
    "straw", "rftl", "boundedread", "longlive", "evanesco",
    "psr", "paftl", "irftl", "paftl_baseline", "scan_3d", "rhs",
    "micron_7450_pro", "micron_7450_max", "micron_9550_max", "solidigm_p5520", "samsung_pm9a3",
    "intel_p5510", "intel_p5500", "intel_p4320", "intel_p3700",
);

const NANDS: &[Preset] = shipped!("nand":
    "client_tlc", "tlc", "qlc", "m64",
    "redftl", "redftlplus", "pds", "ids",
    "hire_base", "hire_boost", "hire_reduced",
    "straw", "rftl", "psr", "scan_3d", "rhs",
);

const CELLS: &[Preset] = shipped!("cell": "tlc_48l", "slc", "mlc", "mlc_hire", "qlc", "qlc_modes");

const MARKERS: &[Preset] = shipped!("marker": "tlc_48l", "slc", "mlc", "mlc_hire", "qlc", "qlc_modes");

/// The drives, each a whole configuration.
pub fn drives() -> &'static [Preset] {
    DRIVES
}

/// The NAND parts: geometry of a chip, cell, timing and reliability.
pub fn nands() -> &'static [Preset] {
    NANDS
}

/// The cell parts: what cells are and how they age.
pub const fn cells() -> &'static [Preset] {
    CELLS
}

/// The markers of age, fitted on the cell part of the same name.
pub const fn markers() -> &'static [Preset] {
    MARKERS
}

/// The drive of that name.
pub fn drive(name: &str) -> Option<&'static Preset> {
    DRIVES.iter().find(|preset| preset.name == name)
}

/// The NAND part of that name.
pub fn nand(name: &str) -> Option<&'static Preset> {
    NANDS.iter().find(|preset| preset.name == name)
}

/// The cell part of that name.
pub fn cell(name: &str) -> Option<&'static Preset> {
    CELLS.iter().find(|preset| preset.name == name)
}

/// The markers fitted on the cell part of that name.
pub fn marker(name: &str) -> Option<&'static Preset> {
    MARKERS.iter().find(|preset| preset.name == name)
}

/// The cell part of a drive that names none, by the bits of its cells.
pub fn default_cell(bits_per_cell: u32) -> &'static Preset {
    let name = match bits_per_cell {
        1 => "slc",
        2 => "mlc",
        3 => "tlc_48l",
        _ => "qlc",
    };
    cell(name).unwrap_or(&CELLS[0])
}

/// The comment that stands beside a value of a shipped preset: its tag ([P], [D], [F] or [A]) and its source.
pub(crate) fn comment(origin: &Origin) -> Option<&'static str> {
    let (folder, name) = origin.source.strip_prefix("preset ")?.split_once('/')?;
    let preset = match folder {
        "drive" => drive(name),
        "nand" => nand(name),
        "marker" => marker(name),
        _ => cell(name),
    }?;
    let line = preset.text.lines().nth(origin.line?.checked_sub(1)? as usize)?;
    line.split_once('#').map(|(_, comment)| comment.trim())
}
