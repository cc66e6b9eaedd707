//! A picture in letters, for a terminal or a mail: at most a hundred and twenty to a line.

use super::frame::DROP;
use super::look::COLOURS;
use super::picture::{Anchor, Picture, Point, Shape, Stroke};

/// Letters to the width of a picture, and beside it for names that are wider in letters than in its own font.
const COLUMNS: usize = 104;
const BESIDE: usize = 15;
/// How much higher than wide a letter is.
const TALL: f64 = 2.1;
/// What curves and bars are drawn with, by their colours.
const MARKS: [char; COLOURS.len()] =
    ['*', 'o', '+', 'x', '#', '@', '%', '&', '=', '~', '$', '?', '^', ':', 'w'];

/// Letters in lines.
struct Sheet {
    cells: Vec<Vec<char>>,
    /// Letters to the left of the picture.
    beside: usize,
    /// Pixels to a letter, across and down.
    cell: (f64, f64),
    /// Turned labels hang from a height, letter below letter, and what is below them is so many lines further down.
    hanging: (f64, usize),
}

/// The turned texts of a picture that end at their point, or those that do not: labels, or titles of vertical axes.
fn turned(picture: &Picture, ends: bool) -> impl Iterator<Item = (f64, &str)> {
    picture.shapes.iter().filter_map(move |shape| match shape {
        Shape::Text { at, anchor, turned, text } if *turned != 0.0 && (*anchor == Anchor::End) == ends => {
            Some((at.1, text.as_str()))
        }
        _ => None,
    })
}

impl Sheet {
    fn of(picture: &Picture) -> Self {
        let wide = picture.width / COLUMNS as f64;
        let cell = (wide, wide * TALL);
        let from = turned(picture, true).map(|(y, _)| y).fold(picture.height, f64::min);
        let letters = turned(picture, true).map(|(_, text)| text.chars().count()).max().unwrap_or(0);
        let rows = (picture.height / cell.1).ceil() as usize + letters;
        let missing = |shape: &Shape| match shape {
            Shape::Text { at, anchor: Anchor::End, turned: 0.0, text } => {
                text.chars().count().saturating_sub((at.0 / wide) as usize)
            }
            _ => 0,
        };
        let beside = picture.shapes.iter().map(missing).max().unwrap_or(0).min(BESIDE);
        let cells = vec![vec![' '; COLUMNS + 1 + beside]; rows.max(1)];
        Sheet { cells, beside, cell, hanging: (from, letters) }
    }

    /// The place of a letter at a point; what lies outside is at the edge.
    fn place(&self, (x, y): Point) -> (usize, usize) {
        let within = |at: f64, most: usize| (at.max(0.0) as usize).min(most);
        let column = within(x / self.cell.0, COLUMNS);
        let lower = if y > self.hanging.0 { self.hanging.1 } else { 0 };
        let row = (y.max(0.0) / self.cell.1) as usize + lower;
        (column + self.beside, row.min(self.cells.len() - 1))
    }

    fn put(&mut self, (column, row): (usize, usize), mark: char) {
        self.cells[row][column] = mark;
    }

    /// Marks along a way, none left out.
    fn way(&mut self, points: &[Point], mark: char) {
        for pair in points.windows(2) {
            let [(x1, y1), (x2, y2)] = [pair[0], pair[1]];
            let steps = ((x2 - x1).abs() / self.cell.0).max((y2 - y1).abs() / self.cell.1).ceil().max(1.0);
            for step in 0..=steps as usize {
                let share = step as f64 / steps;
                self.put(self.place((x1 + (x2 - x1) * share, y1 + (y2 - y1) * share)), mark);
            }
        }
    }

    /// A straight line of the grid or an axis, below all else.
    fn line(&mut self, from: Point, to: Point, is_axis: bool) {
        let mark = match (from.0 == to.0, is_axis) {
            (true, true) => '|',
            (false, true) => '-',
            (_, false) => '.',
        };
        let (from, to) = (self.place(from), self.place(to));
        let [columns, rows] = [[from.0, to.0], [from.1, to.1]].map(|[a, b]| a.min(b)..=a.max(b));
        for row in rows {
            for column in columns.clone() {
                // The lines of a grid would hide the rest.
                if is_axis || ((row + column) % 4 == 0 && self.cells[row][column] == ' ') {
                    self.put((column, row), mark);
                }
            }
        }
    }

    fn rect(&mut self, (x, y): Point, (width, height): (f64, f64), mark: char) {
        let (left, right) = (x / self.cell.0, (x + width) / self.cell.0);
        let (top, bottom) = (y / self.cell.1, (y + height) / self.cell.1);
        // A letter belongs to the box that its middle lies in; a thin box still has one.
        let span = |from: f64, to: f64| {
            let (first, last) = ((from - 0.5).ceil(), (to - 0.5).ceil() - 1.0);
            if first <= last && to - from >= 1.0 {
                (first, last)
            } else {
                (((from + to) / 2.0).floor(), ((from + to) / 2.0).floor())
            }
        };
        let ((left, right), (top, bottom)) = (span(left, right), span(top, bottom));
        for row in top as i64..=bottom as i64 {
            for column in left as i64..=right as i64 {
                let place = self.place((column as f64 * self.cell.0 + 0.1, row as f64 * self.cell.1 + 0.1));
                self.put(place, mark);
            }
        }
    }

    /// A text from a place on; a turned one hangs there.
    fn text(&mut self, at: Point, anchor: Anchor, turned: f64, text: &str) {
        if turned != 0.0 {
            let (column, row) = self.place(at);
            let rows = row..self.cells.len();
            text.chars().zip(rows).for_each(|(letter, row)| self.put((column, row), letter));
            return;
        }
        // The point lies on the line that letters stand on.
        let (column, row) = self.place((at.0, at.1 - DROP));
        // Not into what it stands behind.
        let touches = anchor == Anchor::Start && column > 0 && self.cells[row][column - 1] != ' ';
        let column = column + usize::from(touches);
        let length = text.chars().count();
        let before = match anchor {
            Anchor::Start => 0,
            Anchor::Middle => length / 2,
            Anchor::End => length,
        };
        let room = self.cells[0].len();
        let from = column.saturating_sub(before).min(room.saturating_sub(length));
        for (number, letter) in text.chars().enumerate().take(room.saturating_sub(from)) {
            self.put((from + number, row), letter);
        }
    }
}

fn number(colour: &str) -> usize {
    COLOURS.iter().position(|known| *known == colour).unwrap_or(0)
}

fn mark(colour: &str) -> char {
    MARKS[number(colour)]
}

/// That of a curve: where it is not drawn in full a letter or a digit.
fn curve_mark(colour: &str, stroke: Stroke) -> char {
    let first = match stroke {
        Stroke::Full => return mark(colour),
        Stroke::Dashed => b'a',
        Stroke::Dotted => b'A',
        Stroke::DashDotted => b'0',
    };
    char::from(first + number(colour) as u8)
}

pub(super) fn write(picture: &Picture) -> String {
    let mut sheet = Sheet::of(picture);
    for shape in &picture.shapes {
        match shape {
            Shape::Line { from, to, colour } => sheet.line(*from, *to, *colour != super::frame::GRID),
            Shape::Curve { points, colour, stroke } => sheet.way(points, curve_mark(colour, *stroke)),
            Shape::Dot { at, colour } => sheet.put(sheet.place(*at), mark(colour)),
            Shape::Rect { corner, size, colour, .. } => sheet.rect(*corner, *size, mark(colour)),
            Shape::Text { .. } => {}
        }
    }
    // What is to be read lies above what is drawn.
    for shape in &picture.shapes {
        if let Shape::Text { at, anchor, turned, text } = shape
            && (*turned == 0.0 || *anchor == Anchor::End)
        {
            sheet.text(*at, *anchor, *turned, text);
        }
    }
    // Upright titles are easier to read above; empty lines are room between others, or blanks in what hangs.
    let titles = turned(picture, false).map(|(_, text)| text.to_owned());
    let hung = sheet.place((0.0, sheet.hanging.0)).1;
    let hung = hung..hung + sheet.hanging.1;
    let lines = sheet.cells.iter().map(|line| line.iter().collect::<String>().trim_end().to_owned());
    let lines = lines.enumerate().filter(|(row, line)| !line.is_empty() || hung.contains(row));
    titles.chain(lines.map(|(_, line)| line)).map(|line| line + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_boxes_and_texts_lie_where_they_are_drawn() {
        let mut picture = Picture::new(1040.0, 210.0);
        picture.curve(vec![(0.0, 10.0), (1039.0, 200.0)], COLOURS[1], Stroke::Full);
        picture.rect((100.0, 42.0), (50.0, 42.0), COLOURS[0], "");
        picture.text((300.0, 30.0), Anchor::Start, "here");
        picture.text((1040.0, 60.0), Anchor::End, "there");
        picture.text((40.0, 80.0), Anchor::End, "by the side");
        picture.turned_text((500.0, 105.0), Anchor::Middle, -90.0, "an upright title");
        picture.turned_text((600.0, 190.0), Anchor::End, -40.0, "hung");
        picture.text((500.0, 209.0), Anchor::Start, "below");
        let text = write(&picture);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.len() == 15 && lines.iter().all(|line| line.chars().count() <= 120), "{text}");
        // Above all else, where it can be read.
        assert_eq!(lines[0], "an upright title");
        assert!(lines[1].trim_start().starts_with('o') && lines[10].trim_end().ends_with('o'), "{text}");
        // Seven letters of the longest name have no room within the picture.
        assert!(lines[4].starts_with("by the side"), "{text}");
        assert_eq!(&lines[3][17..22], "*****", "{text}");
        assert_eq!(&lines[4][17..22], "*****", "{text}");
        assert_eq!(&lines[2][37..41], "here", "{text}");
        assert!(lines[3].ends_with("there"), "{text}");
        let hung: Vec<char> = lines[10..14].iter().filter_map(|line| line.chars().nth(67)).collect();
        assert_eq!(String::from_iter(hung), "hung", "{text}");
        assert!(lines[14].trim_start().starts_with("below"), "{text}");
    }
}
