//! `wordline formats`: the trace formats that can be read.

use std::io::Write;

use clap::Args;
use workload::{FormatInfo, formats};

use crate::failure::Failure;
use crate::text::{Columns, wrapped};

/// Examples for the help text.
pub const EXAMPLES: &str = "\
Examples:
  wordline formats          every format with its columns
  wordline formats msr      one of them";

/// Flags of `formats`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Formats {
    /// Show only this format
    name: Option<String>,
}

/// Lists the formats.
pub fn run(args: &Formats, out: &mut dyn Write) -> Result<(), Failure> {
    if let Some(name) = &args.name {
        let found = formats().find(|format| format.name == name.as_str());
        let names: Vec<&str> = formats().map(|format| format.name).collect();
        return show(out, found.ok_or_else(|| Failure::no_such("format", name, &names))?);
    }
    for format in formats() {
        show(out, format)?;
        writeln!(out)?;
    }
    let text = "A format is recognised by what the file contains, never by its name; --format NAME overrides. Files \
                may be plain, or compressed with gzip, zstd, xz, bzip2 or lz4.";
    Ok(wrapped(out, 0, text)?)
}

fn show(out: &mut dyn Write, format: &FormatInfo) -> Result<(), Failure> {
    writeln!(out, "{}", format.name)?;
    wrapped(out, 2, format.summary)?;
    let mut columns = Columns::default();
    for column in format.columns {
        let used = if column.used_for.is_empty() { "not used" } else { column.used_for };
        columns.row([column.name, column.unit, used]);
    }
    columns.write(out, 4)?;
    writeln!(out, "  such as:")?;
    if format.is_binary {
        for bytes in format.sample.chunks(16) {
            let hex: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            writeln!(out, "    {}", hex.join(" "))?;
        }
    } else {
        for line in String::from_utf8_lossy(format.sample).lines() {
            writeln!(out, "    {line}")?;
        }
    }
    writeln!(out, "  source: {}", format.source)?;
    writeln!(out, "  reader: {}", format.file)?;
    Ok(())
}
