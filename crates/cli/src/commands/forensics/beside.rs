//! Several drives side by side: a column for each, so that what policies leave a thief can be seen at a glance.

use std::io::Write;
use std::path::Path;

use lab::forensics::{Forensics, Found};

use super::look::Look;
use crate::failure::Failure;
use crate::text::{Columns, thousands};

/// What a row tells of a drive.
type Cell = fn(&Forensics) -> u64;

/// Rows of numbers, with what they are of; those of zeros alone are left out.
const ROWS: [(&str, Cell); 12] = [
    ("valid data", |told| told.live.all()),
    ("secured data invalidated in the run", |told| told.secured_of_run().all()),
    ("  a thief reads", |told| told.secured_of_run().data),
    ("  reads as zeros (locked)", |told| told.secured_of_run().zeros),
    ("  reads as noise (scrubbed, reprogrammed)", |told| told.secured_of_run().noise),
    ("other data invalidated in the run", |told| told.insecure_of_run().all()),
    ("  a thief reads", |told| told.insecure_of_run().data),
    ("invalid before the run", |told| before(told).all()),
    ("  a thief reads", |told| before(told).data),
    ("units with readable old data", |told| told.units_secured),
    ("files with readable old data", |told| told.files_secured.unwrap_or_default()),
    ("erased", |told| told.erased),
];

/// What had died before the run, of all classes.
fn before(told: &Forensics) -> Found {
    let [a, b] = [told.before_secured, told.before_insecure].map(Option::unwrap_or_default);
    Found { data: a.data + b.data, zeros: a.zeros + b.zeros, noise: a.noise + b.noise }
}

/// What a drive is called: its file without the ending.
fn name(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Prints a table with a column for each drive, and what it comes to.
pub(super) fn print(after: Option<&str>, looks: &[Look], out: &mut dyn Write) -> Result<(), Failure> {
    let mut table = Columns::default();
    let row = |first: &str, cell: &dyn Fn(&Look) -> String| {
        let cells = looks.iter().map(cell);
        // The last column is of any width: it stays empty.
        std::iter::once(first.to_owned()).chain(cells).chain([String::new()]).collect::<Vec<_>>()
    };
    let when = after.map_or("units of flash".to_owned(), |after| format!("units of flash, {after} later"));
    table.row(row(&when, &|look| name(&look.snapshot)));
    table.row(row("ftl.sanitize.policy", &|look| look.told.policy.clone()));
    let knows_the_run = looks.iter().any(|look| look.told.before_secured.is_some());
    for (what, cell) in ROWS {
        if looks.iter().any(|look| cell(&look.told) > 0) {
            // Without what the run has written down nobody knows when data became invalid.
            let what = if knows_the_run {
                what.to_owned()
            } else {
                what.replace(" invalidated in the run", ", invalid")
            };
            table.row(row(&what, &|look| thousands(cell(&look.told))));
        }
    }
    table.write(out, 0)?;
    writeln!(out)?;
    for look in looks {
        writeln!(out, "{}: {}", name(&look.snapshot), look.told.statement())?;
    }
    Ok(())
}
