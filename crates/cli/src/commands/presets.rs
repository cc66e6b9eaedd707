//! `wordline presets`: the drives, NAND parts, cell parts, markers of age and workloads that ship with the program.

use std::io::Write;

use clap::Args;
use ssd::config::presets::{self, Group, Preset};

use crate::failure::Failure;
use crate::text::Columns;

/// Examples for the help text.
pub const EXAMPLES: &str = "\
Examples:
  wordline presets                     the list
  wordline presets micron_7450_pro     a drive one can buy: what its figures fix, what is assumed
  wordline presets m64                 the text of a drive, with the source of each number
  wordline presets nand/straw          the text of a NAND part
  wordline presets cell/tlc_48l        the constants of a cell part: voltages, wear, retention, correction
  wordline presets marker/tlc_48l      age markers of a part's blocks: coefficients, residuals
  wordline presets workload/ads        a stand-in for a paper's trace: what is known about it, what is assumed
  wordline presets varmail             a mail server on files: its loop, what is fitted
  wordline presets tlc > my-drive.toml a drive of your own to start from";

/// The kinds of drives, as they are listed.
const GROUPS: [(Group, &str); 3] = [
    (
        Group::Bought,
        "Drives one can buy (--drive NAME, or `preset = \"NAME\"` in a configuration; docs/real-drives.md)",
    ),
    (Group::Plain, "Plain drives"),
    (Group::Papers, "Drives of papers and of other simulators"),
];

/// Flags of `presets`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Presets {
    /// Show the text of this one: NAME of a drive, or drive/NAME, nand/NAME, cell/NAME, marker/NAME, workload/NAME
    name: Option<String>,
}

/// Lists the presets, or prints one.
pub fn run(args: &Presets, out: &mut dyn Write) -> Result<(), Failure> {
    if let Some(name) = &args.name {
        out.write_all(find(name)?.text.as_bytes())?;
        return Ok(());
    }
    for (group, title) in GROUPS {
        let drives: Vec<Preset> =
            presets::drives().iter().filter(|drive| drive.group() == group).copied().collect();
        list(out, title, &drives)?;
        writeln!(out)?;
    }
    list(out, "NAND parts (`part = \"NAME\"` in the table [nand])", presets::nands())?;
    writeln!(out)?;
    list(out, "Cell parts, how cells age (`part = \"NAME\"` in the table [cell])", presets::cells())?;
    writeln!(out)?;
    list(out, "Age markers (each comes with the cell part of the same name)", presets::markers())?;
    writeln!(out)?;
    let title = "Workloads, stand-ins for papers' traces and profiles of applications (--workload NAME, or `preset = \
         \"NAME\"` in [workload])";
    list(out, title, workload::standins())
}

fn list(out: &mut dyn Write, title: &str, presets: &[Preset]) -> Result<(), Failure> {
    writeln!(out, "{title}")?;
    let mut columns = Columns::default();
    for preset in presets {
        columns.row([preset.name, preset.summary()]);
    }
    Ok(columns.write(out, 2)?)
}

/// The preset of that name; a drive comes before a part of the same name.
fn find(name: &str) -> Result<&'static Preset, Failure> {
    let found = match name.split_once('/') {
        Some(("nand", part)) => presets::nand(part),
        Some(("cell", part)) => presets::cell(part),
        Some(("marker", part)) => presets::marker(part),
        Some(("drive", drive)) => presets::drive(drive),
        Some(("workload", standin)) => workload::standin(standin),
        Some(_) => None,
        None => {
            let part = || presets::nand(name).or_else(|| presets::cell(name));
            presets::drive(name).or_else(part).or_else(|| workload::standin(name))
        }
    };
    found.ok_or_else(|| {
        let drives = presets::drives().iter().map(|preset| preset.name.to_owned());
        let parts = presets::nands().iter().map(|preset| format!("nand/{}", preset.name));
        let cells = presets::cells().iter().map(|preset| format!("cell/{}", preset.name));
        let markers = presets::markers().iter().map(|preset| format!("marker/{}", preset.name));
        let standins = workload::standins().iter().map(|preset| format!("workload/{}", preset.name));
        let names: Vec<String> = drives.chain(parts).chain(cells).chain(markers).chain(standins).collect();
        Failure::no_such("preset", name, &names.iter().map(String::as_str).collect::<Vec<_>>())
    })
}
