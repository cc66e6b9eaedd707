//! `wordline cache`: the aged drives that are kept between runs.

use std::io::Write;
use std::time::{Duration, SystemTime};

use clap::{Args, Subcommand};
use lab::DriveCache;

use crate::caching::CacheArgs;
use crate::failure::Failure;
use crate::text::{Columns, bytes};

/// Examples for the help text.
pub const EXAMPLES: &str = "\
Examples:
  wordline cache list                  what is cached, how long it took to make, when it was last used
  wordline cache clear                 remove all of it
  wordline run --drive tlc --synthetic uniform --no-cache
      neither read nor write the cache

A drive that took over two seconds to age is cached, keyed by everything that made it: its configuration, how it was
aged, the workload that overwrote it, if any, and the program's sources. The cache takes at most 4 GiB; the least
recently used drives are removed first. It is yours alone: a folder that belongs to another user, or that others may
write to, is not used.";

/// Flags of `cache`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Cache {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    /// List the cached drives
    List(CacheArgs),
    /// Remove them
    Clear(CacheArgs),
}

/// Lists or clears the cache.
pub fn run(args: &Cache, out: &mut dyn Write) -> Result<(), Failure> {
    let (What::List(place) | What::Clear(place)) = &args.what;
    let Some(cache) = place.open() else {
        return Ok(writeln!(out, "the cache is off: $WORDLINE_CACHE is empty, or there is no home folder")?);
    };
    let failed =
        |error| Failure::work(format!("{}: cannot read or clear it: {error}", cache.folder().display()));
    match args.what {
        What::List(_) => list(&cache, out).map_err(failed)?,
        What::Clear(_) => {
            let (drives, freed) = cache.clear().map_err(failed)?;
            writeln!(out, "{}: {drives} drives removed, {}", cache.folder().display(), bytes(freed))?;
        }
    }
    for strange in cache.strange().map_err(failed)? {
        writeln!(out, "{strange}")?;
    }
    Ok(())
}

fn list(cache: &DriveCache, out: &mut dyn Write) -> std::io::Result<()> {
    let all = cache.entries()?;
    let sum = bytes(all.iter().fold(0, |sum, entry| sum.saturating_add(entry.bytes)));
    writeln!(out, "{}: {} aged drives, {sum}", cache.folder().display(), all.len())?;
    let mut columns = Columns::default();
    for entry in &all {
        let used = SystemTime::now().duration_since(entry.used).unwrap_or(Duration::ZERO);
        columns.row([
            bytes(entry.bytes),
            format!("made in {:.1} s", entry.cpu_seconds),
            format!("used {} ago", ago(used)),
            entry.what.clone(),
        ]);
    }
    columns.write(out, 2)
}

/// A time in the largest unit of which it has one.
fn ago(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}
