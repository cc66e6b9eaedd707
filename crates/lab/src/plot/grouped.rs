//! Standing bars in groups.

use super::axis::Numbers;
use super::frame::{Frame, Key, KeyKind, Mark, Scale};
use super::picture::Picture;
use super::{FILLED, HEIGHT, colour};
use crate::number::digits;

/// A group of bars: its name, and the height of each; `None` where nothing was measured.
pub(crate) struct Group {
    pub name: String,
    pub bars: Vec<Option<f64>>,
}

/// Standing bars in groups, with a legend below.
pub(crate) fn grouped(across: &str, up: String, names: &[&str], groups: &[Group]) -> Picture {
    let marks = groups.iter().enumerate();
    let marks = marks.map(|(at, group)| Mark::of_step(at, groups.len(), group.name.clone())).collect();
    let across = Scale { title: across.to_owned(), marks };
    let heights = Numbers::of_bars(groups.iter().flat_map(|group| &group.bars).flatten().copied());
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
        }
    }
    frame.picture
}
