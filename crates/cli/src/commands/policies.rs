//! `wordline policies`: the questions the firmware asks, and the policies that answer them.

use std::io::Write;

use clap::Args;
use serde_json::{Value, json};
use ssd::config::Field;
use ssd::policy::{FAMILIES, FamilyInfo, PolicyInfo};

use crate::failure::Failure;
use crate::text::{Columns, wrapped};

/// Examples for the help text.
pub const EXAMPLES: &str = "\
Examples:
  wordline policies                            every family and policy
  wordline policies ftl/gc_victim              one family, with parameters and sources
  wordline policies ftl/gc_victim/d_choices    one policy
  wordline policies --json                     the same for programs
  wordline policies --markdown                 the same as docs/policies.md";

/// Flags of `policies`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Policies {
    /// Show only this family or policy, in full
    #[arg(value_name = "FAMILY[/NAME]")]
    name: Option<String>,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Print the reference as Markdown
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
}

/// A family and those of its policies that are asked for.
type Selection = (&'static FamilyInfo, Vec<&'static PolicyInfo>);

/// Lists the policies.
pub fn run(args: &Policies, out: &mut dyn Write) -> Result<(), Failure> {
    let selections = match &args.name {
        Some(name) => vec![find(name)?],
        None => FAMILIES.iter().map(|family| (*family, family.nameable().collect())).collect(),
    };
    if args.json {
        let list: Vec<Value> = selections.iter().map(family_json).collect();
        writeln!(out, "{:#}", Value::Array(list))?;
        return Ok(());
    }
    if args.markdown {
        return markdown(out, &selections);
    }
    for (i, selection) in selections.iter().enumerate() {
        if i > 0 {
            writeln!(out)?;
        }
        family(out, selection, args.name.is_some())?;
    }
    if args.name.is_none() {
        writeln!(out, "\nChoose with --set <family>.policy=<name>; parameters: wordline policies <family>")?;
    }
    Ok(())
}

fn family(out: &mut dyn Write, (family, members): &Selection, in_full: bool) -> Result<(), Failure> {
    writeln!(out, "{}: {}", family.path, family.question)?;
    if !in_full {
        let mut columns = Columns::default();
        for member in members {
            let default = if member.name == family.default { " (default)" } else { "" };
            columns.row([format!("{}{default}", member.name), member.summary.to_owned()]);
        }
        return Ok(columns.write(out, 2)?);
    }
    for member in members {
        let default = if member.name == family.default { " (default)" } else { "" };
        writeln!(out, "\n{}{default}", member.name)?;
        wrapped(out, 2, member.summary)?;
        let mut facts = Columns::default();
        facts.row(["choose", &format!("--set {}.policy={}", family.section(), member.name)]);
        facts.row(["source", member.source]);
        facts.row(["memory", member.memory]);
        facts.row(["file", member.file]);
        facts.write(out, 2)?;
        for field in member.fields {
            parameter(out, field)?;
        }
    }
    Ok(())
}

fn parameter(out: &mut dyn Write, field: &Field) -> Result<(), Failure> {
    let unit = if field.unit.is_empty() { String::new() } else { format!(" {}", field.unit) };
    let range = field.range_text();
    writeln!(out, "  {} = {}{unit}  ({range})", field.key, field.default_text())?;
    Ok(wrapped(out, 6, field.doc)?)
}

/// The reference in `docs/policies.md`.
fn markdown(out: &mut dyn Write, selections: &[Selection]) -> Result<(), Failure> {
    writeln!(out, "# Policies\n")?;
    writeln!(
        out,
        "Written by `wordline policies --markdown > docs/policies.md`; a test fails when it is stale."
    )?;
    for (family, members) in selections {
        writeln!(out, "\n## {}\n\n{} Default: `{}`.", family.path, family.question, family.default)?;
        for member in members {
            writeln!(out, "\n### {}\n\n{}.\n", member.name, member.summary)?;
            writeln!(out, "- choose: `--set {}.policy={}`", family.section(), member.name)?;
            writeln!(out, "- source: {}\n- memory: {}", member.source, member.memory)?;
            writeln!(out, "- file: [`{0}`](../{0})", member.file)?;
            if !member.fields.is_empty() {
                writeln!(out, "\n| parameter | unit | default | allowed | meaning |\n|---|---|---|---|---|")?;
            }
            for field in member.fields {
                let (default, range) = (field.default_text(), field.range_text());
                writeln!(out, "| `{}` | {} | {default} | {range} | {} |", field.key, field.unit, field.doc)?;
            }
        }
    }
    Ok(())
}

fn family_json((family, members): &Selection) -> Value {
    let members: Vec<Value> = members.iter().map(|member| policy_json(member)).collect();
    json!({
        "family": family.path,
        "section": family.section(),
        "question": family.question,
        "default": family.default,
        "policies": members,
    })
}

fn policy_json(policy: &PolicyInfo) -> Value {
    let parameters: Vec<Value> = policy
        .fields
        .iter()
        .map(|field| {
            json!({
                "key": field.key,
                "unit": field.unit,
                "default": field.default_text(),
                "allowed": field.range_text(),
                "doc": field.doc,
            })
        })
        .collect();
    json!({
        "name": policy.name,
        "summary": policy.summary,
        "source": policy.source,
        "memory": policy.memory,
        "file": policy.file,
        "parameters": parameters,
    })
}

/// `ftl/gc_victim`, `ftl.gc_victim`, `gc_victim`, or one of them with `/NAME` behind it.
fn find(text: &str) -> Result<Selection, Failure> {
    let is_named = |family: &FamilyInfo, name: &str| {
        let path = name.replace('.', "/");
        family.path == path || family.path.rsplit('/').next() == Some(&path)
    };
    let family_of = |name: &str| FAMILIES.iter().copied().find(|family| is_named(family, name));
    if let Some(family) = family_of(text) {
        return Ok((family, family.nameable().collect()));
    }
    let (family, name) = text.rsplit_once(['/', '.']).unwrap_or((text, ""));
    if let Some(family) = family_of(family) {
        let names: Vec<&str> = family.nameable().map(|member| member.name).collect();
        let member = family.member(name).ok_or_else(|| Failure::no_such("policy", name, &names))?;
        return Ok((family, vec![member]));
    }
    // A policy's name alone, if only one family has it.
    let having: Vec<Selection> =
        FAMILIES.iter().filter_map(|family| Some((*family, vec![family.member(text)?]))).collect();
    if let [only] = having.as_slice() {
        return Ok(only.clone());
    }
    let mut paths: Vec<String> = FAMILIES.iter().map(|family| family.path.to_owned()).collect();
    for family in FAMILIES {
        paths.extend(family.nameable().map(|member| format!("{}/{}", family.path, member.name)));
    }
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    Err(Failure::no_such("policy family", text, &paths))
}
