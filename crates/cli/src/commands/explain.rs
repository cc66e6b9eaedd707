//! `wordline explain`: the drive as configured, value by value, and where each came from.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use lab::Job;
use lab::report;
use serde_json::json;
use ssd::config::Table;
use ssd::drive_config::{Explained, Resolved};
use ssd::sections::ErrorModel;

use crate::drive_args::DriveArgs;
use crate::failure::Failure;
use crate::text::{Columns, wrapped};

/// Examples for the help text.
pub const EXAMPLES: &str = "\
Examples:
  wordline explain                                      the default drive
  wordline explain my.toml --set nand.timing.t_erase_us=5000
  wordline explain --drive m64 --docs                   what each key means, and what is allowed
  wordline explain --only cell.retention                one section, or one key
  wordline explain --drive straw --all                  the constants of the cells too, although they are not in use
  wordline explain --drive aged_tlc --json              the same for programs
  wordline explain --drive qlc --toml > my.toml         a configuration with every key written out
  wordline explain --schema                             what result.json holds, for programs";

/// Flags of `explain`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Explain {
    /// Configuration file (TOML), the same as --config
    #[arg(value_name = "CONFIG")]
    file: Option<PathBuf>,

    #[command(flatten)]
    drive: DriveArgs,

    /// Say what each key means and what is allowed
    #[arg(long)]
    docs: bool,

    /// Show the sections cell.* even if cells do not age (if they do, these are always shown)
    #[arg(long)]
    all: bool,

    /// Show only this section, such as nand.timing, or this key
    #[arg(long, value_name = "SECTION_OR_KEY")]
    only: Option<String>,

    /// Print JSON
    #[arg(long, conflicts_with = "docs")]
    json: bool,

    /// Print the configuration as TOML that reads back to the same drive
    #[arg(long, conflicts_with_all = ["docs", "json", "only"])]
    toml: bool,

    /// Print the JSON Schema of result.json instead: every key, its type, its meaning
    #[arg(long, exclusive = true)]
    schema: bool,
}

/// Explains a configuration.
pub fn run(args: &Explain, out: &mut dyn Write) -> Result<(), Failure> {
    if args.schema {
        write!(out, "{}", report::schema())?;
        return Ok(());
    }
    let job = args.drive.job(args.file.as_deref(), Vec::new())?;
    let resolved = job.resolve(None)?;
    if args.toml {
        write!(out, "{}", resolved.to_toml())?;
        return Ok(());
    }
    let mut rows = resolved.explain();
    rows.extend(run_rows(&job)?);
    rows.extend(workload_rows(&job)?);
    let everything = args.all || resolved.config.errors.model != ErrorModel::None;
    let hidden = match &args.only {
        Some(name) => {
            only(&mut rows, name)?;
            0
        }
        None if everything => 0,
        None => hide_cells(&mut rows),
    };
    if args.json {
        return json(out, &resolved, &rows, hidden);
    }
    writeln!(out, "configuration {:016x}, from: {}", resolved.hash(), resolved.sources.join(", "))?;
    for section in sections(&rows) {
        if let Some((path, _)) = section[0].key.rsplit_once('.') {
            writeln!(out, "\n[{path}]")?;
        }
        if args.docs { documented(out, section)? } else { table(&rows, out, section)? }
    }
    if hidden > 0 {
        let text = "constants of the cells are not in use (nand.errors.model is none); --all shows them";
        writeln!(out, "\n[cell.*]\n  {hidden} {text}")?;
        let drives = lab::aging_drives().join(", ");
        writeln!(out, "  drives whose cells age (wordline run --age): {drives}; or nand.errors.model=cells")?;
    }
    Ok(())
}

/// Keeps the rows of a section, of the sections below that name, or of one key.
fn only(rows: &mut Vec<Explained>, name: &str) -> Result<(), Failure> {
    let name = name.trim_matches(['[', ']']);
    let is_below = |key: &str, name: &str| {
        key.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    // `gc_trigger` is enough for `ftl.gc_trigger`, where it stands for nothing else.
    let mut meant: Vec<String> =
        rows.iter().filter_map(|row| Some(row.key.rsplit_once('.')?.0.to_owned())).collect();
    meant.dedup();
    meant.retain(|section| section.rsplit_once('.').is_some_and(|(_, last)| last == name));
    let is_whole = rows.iter().any(|row| is_below(&row.key, name));
    let name = if let ([section], false) = (&meant[..], is_whole) { section.as_str() } else { name };
    let below = |key: &str| is_below(key, name);
    if !rows.iter().any(|row| below(&row.key)) {
        let mut names: Vec<&str> = rows.iter().filter_map(|row| Some(row.key.rsplit_once('.')?.0)).collect();
        names.dedup();
        if name.split('.').count() > 2 {
            names.extend(rows.iter().map(|row| row.key.as_str()));
        }
        return Err(Failure::no_such("section or key", name, &names).about(&format!("--only {name}")));
    }
    rows.retain(|row| below(&row.key));
    Ok(())
}

/// Takes out the constants of the cells that nobody set, and counts them.
fn hide_cells(rows: &mut Vec<Explained>) -> usize {
    let before = rows.len();
    let set = |row: &Explained| row.source != "default" && !row.source.starts_with("preset ");
    rows.retain(|row| !row.key.starts_with("cell.") || set(row));
    before - rows.len()
}

/// The rows as JSON.
fn json(out: &mut dyn Write, resolved: &Resolved, rows: &[Explained], hidden: usize) -> Result<(), Failure> {
    let row = |row: &Explained| {
        json!({
            "key": row.key,
            "value": row.value,
            "unit": row.unit,
            "source": row.source,
            "note": row.note,
            "doc": row.doc,
            "allowed": row.range,
            "derived": row.derived,
        })
    };
    let all = json!({
        "configuration": format!("{:016x}", resolved.hash()),
        "sources": resolved.sources,
        "values": rows.iter().map(row).collect::<Vec<_>>(),
        "hidden_values": hidden,
    });
    Ok(writeln!(out, "{all:#}")?)
}

/// The `[run]` table, with defaults.
fn run_rows(job: &Job) -> Result<Vec<Explained>, Failure> {
    let (run, origins) = job.run()?;
    let row = |field: &ssd::config::Field| {
        let key = format!("run.{}", field.key);
        Explained {
            value: run.show(field.key).unwrap_or_default(),
            unit: field.unit.to_owned(),
            source: origins.get(&key).map_or("default".to_owned(), ToString::to_string),
            note: String::new(),
            doc: field.doc.to_owned(),
            range: field.range_text(),
            derived: false,
            key,
        }
    };
    Ok(run.fields().iter().map(row).collect())
}

/// The `[workload]` table, if there is one.
fn workload_rows(job: &Job) -> Result<Vec<Explained>, Failure> {
    let Some(mut spec) = job.workload()? else { return Ok(Vec::new()) };
    job.set_workload(&mut spec)?;
    spec.check()?;
    let row = |((name, value), key): ((&str, String), workload::Key)| Explained {
        key: format!("workload.{name}"),
        value,
        unit: key.unit.to_owned(),
        source: job.workload_origin(name).unwrap_or_else(|| "default".to_owned()),
        note: String::new(),
        doc: key.text,
        range: key.allowed,
        derived: false,
    };
    Ok(spec.entries().into_iter().zip(spec.own_keys()).map(row).collect())
}

/// Runs of rows that belong to the same section.
fn sections(rows: &[Explained]) -> impl Iterator<Item = &[Explained]> {
    let section = |row: &Explained| row.key.rsplit_once('.').map(|(path, _)| path.to_owned());
    rows.chunk_by(move |a, b| section(a) == section(b))
}

/// One line a key; the columns of all sections are aligned with each other.
fn table(all: &[Explained], out: &mut dyn Write, section: &[Explained]) -> Result<(), Failure> {
    let width =
        |cell: fn(&Explained) -> &str| all.iter().map(|row| cell(row).chars().count()).max().unwrap_or(0);
    let key = width(|row| name(row));
    let value = width(|row| &row.value).min(28);
    let unit = width(|row| &row.unit);
    let source = width(|row| &row.source).min(30);
    for row in section {
        let line = format!(
            "  {:<key$}  {:<value$}  {:<unit$}  {:<source$}  {}",
            name(row),
            row.value,
            row.unit,
            row.source,
            row.note
        );
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

fn documented(out: &mut dyn Write, section: &[Explained]) -> Result<(), Failure> {
    for row in section {
        let mut columns = Columns::default();
        let unit = if row.unit.is_empty() { String::new() } else { format!(" {}", row.unit) };
        columns.row([
            format!("{} = {}{unit}", name(row), row.value),
            format!("({}){}{}", row.source, if row.note.is_empty() { "" } else { " " }, row.note),
        ]);
        columns.write(out, 2)?;
        let allowed = if row.range.is_empty() { String::new() } else { format!(" Allowed: {}.", row.range) };
        wrapped(out, 6, &format!("{}{allowed}", row.doc))?;
    }
    Ok(())
}

/// The last part of the key.
fn name(row: &Explained) -> &str {
    row.key.rsplit_once('.').map_or(row.key.as_str(), |(_, name)| name)
}
