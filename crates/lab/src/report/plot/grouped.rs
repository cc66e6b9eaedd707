//! Standing bars in groups.

use super::axis::Numbers;
use super::frame::{Frame, Key, KeyKind, Mark, Scale};
use super::picture::Picture;
use super::{FILLED, HEIGHT, colour};
use crate::base::number::digits;

/// Seen on bars of all colours, and beside them.
const INTERVAL: &str = "#1a1a1a";

/// A group of bars: its name, and the height of each; `None` where nothing was measured.
pub(crate) struct Group {
    pub name: String,
    pub bars: Vec<Option<f64>>,
    /// Half the width of each one's confidence interval, where it has one; empty if none has.
    pub half_widths: Vec<Option<f64>>,
}

impl Group {
    /// Both ends of the interval of that bar.
    fn interval(&self, bar: usize) -> Option<[f64; 2]> {
        let (value, half) = (self.bars[bar]?, self.half_widths.get(bar).copied().flatten()?);
        (half > 0.0).then_some([value - half, value + half])
    }
}

/// Standing bars in groups, with a legend below.
pub(crate) fn grouped(across: &str, up: String, names: &[&str], groups: &[Group]) -> Picture {
    let marks = groups.iter().enumerate();
    let marks = marks.map(|(at, group)| Mark::of_step(at, groups.len(), group.name.clone())).collect();
    let across = Scale { title: across.to_owned(), marks };
    let highest = |group: &Group| -> Vec<f64> {
        let of = |bar: usize| {
            group.interval(bar).map(|[low, high]| if high > 0.0 { high } else { low }).or(group.bars[bar])
        };
        (0..group.bars.len()).filter_map(of).collect()
    };
    let ends: Vec<f64> = groups.iter().flat_map(highest).collect();
    let bars = groups.iter().flat_map(|group| &group.bars).flatten().copied();
    let heights = Numbers::of_bars(bars.chain(ends.iter().copied()));
    let up = heights.scale(up);
    // A name without a bar would make readers look for it.
    let drawn = (0..names.len()).filter(|&number| groups.iter().any(|group| group.bars[number].is_some()));
    let key =
        |number: usize| Key { label: names[number].to_owned(), colour: colour(number), kind: KeyKind::Box };
    let keys: Vec<Key> = drawn.map(key).collect();
    if keys.is_empty() {
        return Frame::empty(&across, &up, "nothing to show");
    }
    let mut frame = Frame::new(&across, &up, &keys, HEIGHT, 0.0);
    let bar = FILLED / names.len() as f64;
    for (at, group) in groups.iter().enumerate() {
        for (number, value) in group.bars.iter().enumerate() {
            let Some(value) = value else { continue };
            let left = at as f64 + (1.0 - FILLED) / 2.0 + bar * number as f64;
            let [from, to] = [left, left + bar * 0.95].map(|x| x / groups.len() as f64);
            let hint = format!("{}, {}: {}", group.name, names[number], digits(*value));
            frame.rect((from, heights.share(0.0)), (to, heights.share(*value)), colour(number), &hint);
            if let Some(ends) = group.interval(number) {
                let ends = ends.map(|end| frame.place(f64::midpoint(from, to), heights.share(end).max(0.0)));
                frame.picture.interval(ends, INTERVAL);
            }
        }
    }
    frame.picture
}
