//! The drives and NAND parts that ship with Wordline: data under `presets/`, compiled in.

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

impl Preset {
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
            text: include_str!(concat!("../../../../presets/", $folder, "/", $name, ".toml")),
        }),+]
    };
}

const DRIVES: &[Preset] = shipped!("drive":
    "tlc", "qlc", "m64",
    "redftl", "redftl_mds", "redftlplus", "pds", "ids",
    "hire_base", "hire_boost", "hire_reduced",
    "straw", "rftl", "evanesco", "psr", "scan_3d", "rhs",
);

const NANDS: &[Preset] = shipped!("nand":
    "tlc", "qlc", "m64",
    "redftl", "redftlplus", "pds", "ids",
    "hire_base", "hire_boost", "hire_reduced",
    "straw", "rftl", "psr", "scan_3d", "rhs",
);

/// The drives, each a whole configuration.
pub fn drives() -> &'static [Preset] {
    DRIVES
}

/// The NAND parts: geometry of a chip, cell, timing and reliability.
pub fn nands() -> &'static [Preset] {
    NANDS
}

/// The drive of that name.
pub fn drive(name: &str) -> Option<&'static Preset> {
    DRIVES.iter().find(|preset| preset.name == name)
}

/// The NAND part of that name.
pub fn nand(name: &str) -> Option<&'static Preset> {
    NANDS.iter().find(|preset| preset.name == name)
}
