//! Versions of files in flash over time, as RealWear figure 35 shows them.

use super::{Line, Lines, Plot};
use crate::measure::versions::Versions;

/// Valid and invalid units of the file of each kind that had the most invalid ones.
pub(crate) fn versions(versions: &Versions) -> Plot {
    let mut lines = Vec::new();
    for (kind, of) in [("uni-version", &versions.uv), ("multi-version", &versions.mv)] {
        let Some(line) = &of.shown else { continue };
        for (what, units) in [("valid", &line.valid), ("invalid", &line.invalid)] {
            let points = line.writes.iter().zip(units).map(|(x, y)| (*x as f64, f64::from(*y)));
            lines.push(Line::new(format!("{kind} file {}: {what}", line.file), points.collect()));
        }
    }
    Lines { up: "Data in flash (mapping units)", across: "Host writes (4-KiB units)", lines: &lines }.plot()
}
