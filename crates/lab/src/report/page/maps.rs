//! What is drawn as colours: dies and channels over time, and the blocks of the drive. A cell is one letter of 64.

use super::room::Room;
use super::run::Run;
use crate::base::columns::{Table, Values};
use serde_json::{Value, json};
use std::ops::Range;

/// Rows that such a picture has at most: dies beyond that share rows.
const ROWS_MOST: usize = 128; // [A]
/// Blocks that are drawn one by one.
const BLOCKS_MOST: usize = 100_000;
const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// Where there is no value.
const NOTHING: char = '.';

/// The letter of a share, from 0 to 1.
fn letter(share: f64) -> char {
    let most = (LETTERS.len() - 1) as f64;
    LETTERS[(share.clamp(0.0, 1.0) * most).round() as usize].into()
}

/// How busy dies and channels were; nothing of what never was.
pub(super) fn used(run: &Run, room: Room) -> Vec<Value> {
    let pictures = [
        (
            "array",
            "Dies: busy",
            "die",
            "series_dies",
            "array_ns",
            "that the array senses, programs or erases",
        ),
        (
            "die",
            "Dies: occupied",
            "die",
            "series_dies",
            "busy_ns",
            "that an operation holds the die: busy, or its data crosses or waits for the channel",
        ),
        (
            "channel",
            "Channels: busy",
            "channel",
            "series_channels",
            "busy_ns",
            "that commands or data are transferred",
        ),
    ];
    let of = |(key, title, name, table, column, what)| {
        let table = run.table(table)?;
        let picture = Picture::of(table, name, column, room.use_cells)?;
        let Picture { rows, columns, per, step, cells } = picture;
        let of = if per > 1 { format!("; a row is the busiest of {per} {name}s") } else { String::new() };
        let doc = format!("Share of the time {what}{of}");
        Some(json!({
            "key": format!("use_{key}"), "title": title, "name": name, "doc": doc,
            "rows": rows, "columns": columns, "per": per, "step": step, "cells": cells,
        }))
    };
    pictures.into_iter().filter_map(of).collect()
}

/// Shares of time by part of the drive, from above, and by time.
struct Picture {
    rows: usize,
    columns: usize,
    /// Parts that share a row.
    per: usize,
    /// Time of a column; s.
    step: f64,
    cells: String,
}

impl Picture {
    /// At most so many cells. Where parts or intervals share a cell, it shows the greatest share.
    fn of(table: &Table, part: &str, column: &str, most: usize) -> Option<Self> {
        let values = |name: &str| table.values(name);
        let (starts, ends, parts, busy) =
            (values("start_ns")?, values("end_ns")?, values(part)?, values(column)?);
        let at = |values: &Values, row: usize| values.number(row).unwrap_or(0.0);
        let count = 1 + (0..table.rows()).map(|row| at(parts, row) as usize).max()?;
        let intervals = table.rows() / count;
        if intervals == 0 || (0..table.rows()).all(|row| at(busy, row) == 0.0) {
            return None;
        }
        let per = count.div_ceil(ROWS_MOST.min(most));
        let rows = count.div_ceil(per);
        let together = intervals.div_ceil((most / rows).max(1));
        let columns = intervals.div_ceil(together);
        let share = |row: usize| {
            let ns = at(ends, row) - at(starts, row);
            if ns > 0.0 { at(busy, row) / ns } else { 0.0 }
        };
        let cell = |row: usize, column: usize| {
            let of_time = column * together..intervals.min((column + 1) * together);
            let of_parts = row * per..count.min((row + 1) * per);
            let all = of_time.flat_map(|interval| of_parts.clone().map(move |part| interval * count + part));
            letter(all.map(share).fold(0.0, f64::max))
        };
        let cells = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        let step = (at(ends, 0) - at(starts, 0)) / 1e9 * together as f64;
        Some(Picture {
            rows,
            columns,
            per,
            step,
            cells: cells.map(|(row, column)| cell(row, column)).collect(),
        })
    }
}

/// How the values of blocks that share a cell become one.
#[derive(Clone, Copy)]
enum Together {
    Mean,
    Most,
}

/// A map: a value for each block.
struct Map {
    title: &'static str,
    doc: &'static str,
    unit: &'static str,
    together: Together,
    values: Vec<Option<f64>>,
}

/// The blocks of the drive; nothing if there is no table of them.
pub(super) fn blocks(run: &Run, room: Room) -> Value {
    let told = run.table("blocks").filter(|table| table.rows() > 0).and_then(|table| of_table(table, room));
    told.unwrap_or(Value::Null)
}

/// A column of the table; none if there is no such.
fn column(table: &Table, name: &str) -> Option<Vec<Option<f64>>> {
    let values = table.values(name)?;
    Some((0..table.rows()).map(|row| values.number(row)).collect())
}

/// Values as shares of a whole.
fn shares(values: Vec<Option<f64>>, whole: f64) -> Vec<Option<f64>> {
    values.into_iter().map(|value| value.map(|value| value / whole)).collect()
}

/// The maps of what blocks hold and have been through.
fn numbers(table: &Table) -> Option<Vec<Map>> {
    let (live, programmed) = (column(table, "live_units")?, column(table, "programmed_units")?);
    let whole = programmed.iter().flatten().fold(1.0, |a: f64, b| a.max(*b));
    let dead =
        live.iter().zip(&programmed).map(|(live, all)| Some((all.as_ref()? - live.as_ref()?).max(0.0)));
    let dead = shares(dead.collect(), whole);
    let map = |title, doc, unit, together, values| Map { title, doc, unit, together, values };
    let maps = vec![
        map("Valid data", "of what a block holds", "share", Together::Mean, shares(live, whole)),
        map("Invalid data", "of what a block holds; an erase frees it", "share", Together::Mean, dead),
        map("Erases", "since the drive was built", "", Together::Most, column(table, "erases")?),
        map(
            "Age of data",
            "host writes, in units, since the block was filled",
            "",
            Together::Most,
            column(table, "age_units")?,
        ),
        map(
            "Reads",
            "reads seen by its most disturbed page since the erase, relative to what it endures",
            "share",
            Together::Most,
            shares(column(table, "disturbed_q12")?, 4096.0),
        ),
        map(
            "Wear",
            "share of its life used up, by the firmware's marker",
            "share",
            Together::Most,
            shares(column(table, "wear_q12")?, 4096.0),
        ),
    ];
    Some(maps.into_iter().filter(Map::tells).collect())
}

fn of_table(table: &Table, room: Room) -> Option<Value> {
    let lanes = 1 + column(table, "lane")?.into_iter().flatten().fold(0.0, f64::max) as usize;
    if !table.rows().is_multiple_of(lanes) {
        return None;
    }
    let in_lane = table.rows() / lanes;
    let maps = numbers(table)?;
    // One more: the states.
    let most = BLOCKS_MOST.min(room.blocks / (maps.len() + 1)).max(lanes);
    let per = table.rows().div_ceil(most);
    let per_lane = in_lane.div_ceil(per);
    let in_cell = |lane: usize, cell: usize| {
        lane * in_lane + cell * per..lane * in_lane + in_lane.min((cell + 1) * per)
    };
    let cells: Vec<Range<usize>> =
        (0..lanes).flat_map(|lane| (0..per_lane).map(move |cell| in_cell(lane, cell))).collect();
    let states = (per == 1).then(|| states(table)).flatten();
    let maps: Vec<Value> = maps.iter().map(|map| map.told(&cells)).chain(states).collect();
    Some(json!({
        "lanes": lanes,
        "blocks_per_lane": in_lane,
        "per_lane": per_lane,
        "per": per,
        "maps": maps,
    }))
}

impl Map {
    /// Whether it shows anything.
    fn tells(&self) -> bool {
        self.values.iter().flatten().any(|value| *value != 0.0)
    }

    fn told(&self, cells: &[Range<usize>]) -> Value {
        let of_cell = |blocks: &Range<usize>| {
            let known = || self.values[blocks.clone()].iter().flatten().copied();
            match self.together {
                _ if known().next().is_none() => None,
                Together::Mean => Some(known().sum::<f64>() / known().count() as f64),
                Together::Most => known().reduce(f64::max),
            }
        };
        let values: Vec<Option<f64>> = cells.iter().map(of_cell).collect();
        let known = || values.iter().flatten().copied();
        let (least, most) =
            (known().fold(f64::INFINITY, f64::min), known().fold(f64::NEG_INFINITY, f64::max));
        let (least, most) = if self.unit == "share" { (0.0, most.max(1.0)) } else { (least, most) };
        let share = |value: f64| if most > least { (value - least) / (most - least) } else { 0.0 };
        let cells: String =
            values.iter().map(|value| value.map_or(NOTHING, |value| letter(share(value)))).collect();
        json!({
            "title": self.title, "doc": self.doc, "unit": self.unit,
            "least": least, "most": most, "cells": cells,
        })
    }
}

/// What blocks are used for.
fn states(table: &Table) -> Option<Value> {
    let states = table.values("state")?.names()?;
    let mut words = states.clone();
    words.sort();
    words.dedup();
    let place = |state: &str| words.iter().position(|word| *word == state).unwrap_or(0);
    let cells: String = states.iter().map(|state| char::from(LETTERS[place(state).min(63)])).collect();
    Some(
        json!({ "title": "State", "doc": "what a block is used for", "unit": "", "words": words, "cells": cells }),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::columns::Column;

    fn dies(intervals: u64, dies: u64, busy: impl Fn(u64, u64) -> u64) -> Table {
        let rows = || (0..intervals).flat_map(|interval| (0..dies).map(move |die| (interval, die)));
        let counts = |of: &dyn Fn((u64, u64)) -> u64| Values::Counts(rows().map(of).collect());
        let columns = vec![
            Column::new("start_ns", counts(&|(interval, _)| interval * 100)),
            Column::new("end_ns", counts(&|(interval, _)| interval * 100 + 100)),
            Column::new("die", counts(&|(_, die)| die)),
            Column::new("busy_ns", counts(&|(interval, die)| busy(interval, die))),
        ];
        Table::new("series_dies", columns)
    }

    #[test]
    fn a_picture_has_a_row_for_each_die_and_a_column_for_each_interval() {
        let table = dies(3, 2, |interval, die| if die == 1 { interval * 50 } else { 100 });
        let picture = Picture::of(&table, "die", "busy_ns", 1_000).unwrap();
        assert_eq!((picture.rows, picture.columns, picture.per), (2, 3, 1));
        assert_eq!(picture.cells, "///Ag/");
        assert_eq!(picture.step, 1e-7);
    }

    /// One busy interval of one die among many is seen, however few cells there are.
    #[test]
    fn what_is_put_together_keeps_the_busiest() {
        let table = dies(1_000, 300, |interval, die| if (interval, die) == (777, 222) { 100 } else { 1 });
        for most in [4, 100, 10_000, 1_000_000] {
            let picture = Picture::of(&table, "die", "busy_ns", most).unwrap();
            let (rows, columns) = (picture.rows, picture.columns);
            assert_eq!(picture.cells.len(), rows * columns);
            assert!(rows * columns <= most.max(rows) && rows <= ROWS_MOST, "{most}: {rows} x {columns}");
            assert_eq!(picture.cells.matches('/').count(), 1, "{most}");
            let at = picture.cells.find('/').unwrap();
            assert_eq!(at / columns, 222 / picture.per);
            assert_eq!(at % columns, 777 / 1_000_usize.div_ceil(columns));
        }
        assert!(Picture::of(&dies(3, 2, |_, _| 0), "die", "busy_ns", 100).is_none(), "nothing to see");
    }
}
