//! Where in its files the requests of a lane lie, and how long they are.

use super::lane::{File, Lane};
use super::layout::Span;
use super::settings::Step;
use crate::base::request::SECTOR_BYTES;

impl Lane {
    /// Where in the file the next request of a direction lies, and how long it is; sectors. `None` at its end.
    #[inline]
    pub(super) fn place(&mut self, file: usize, direction: usize) -> Option<(u64, u64)> {
        let placed = self.place_once(file, direction);
        if placed.is_some() || !self.is_time_based {
            return placed;
        }
        // The pass of this file is over: the next one begins.
        if self.is_random {
            self.files[file].reset();
        } else {
            self.files[file].next[direction] = 0;
        }
        self.place_once(file, direction)
    }

    #[inline]
    fn place_once(&mut self, file: usize, direction: usize) -> Option<(u64, u64)> {
        if self.zones.is_some() {
            self.enter_zone(file, direction);
        }
        if !self.is_random {
            return self.follow(file, direction);
        }
        if self.step != Step::None {
            return self.place_by_step(file, direction);
        }
        let share = self.percentage_random[direction];
        if share == u64::MAX || self.draws.follows.next_u64() < share {
            return self.scattered(file, direction, true);
        }
        self.follow(file, direction).or_else(|| self.scattered(file, direction, false))
    }

    fn place_by_step(&mut self, file: usize, direction: usize) -> Option<(u64, u64)> {
        self.step_left -= 1;
        if self.step_left > 0 {
            return match self.step {
                Step::Repeat(_) => {
                    let place = self.zone_start(file) + self.files[file].last[direction];
                    let from = self.drawn(direction, true);
                    let room = self.room(file, from).saturating_sub(place);
                    let size = self.sizes[from].draw(&mut self.draws.sizes, room);
                    Some((place, size))
                }
                // At the end of the file a random place is taken, and not entered in the map.
                _ => self.follow(file, direction).or_else(|| self.scattered(file, direction, false)),
            };
        }
        if let Step::Follow(number) | Step::Repeat(number) = self.step {
            self.step_left = number;
        }
        self.scattered(file, direction, true)
    }

    /// Behind the last request.
    #[inline]
    fn follow(&mut self, file: usize, direction: usize) -> Option<(u64, u64)> {
        let from = self.drawn(direction, false);
        let (room, start) = (self.room(file, from), self.zone_start(file));
        let File { span, next, last, .. } = &mut self.files[file];
        let mut offset = next[direction];
        if let Step::Back(bytes) = self.step {
            offset = backwards(offset, bytes / SECTOR_BYTES, span.sectors, span.before)?;
        }
        if let Step::Skip(bytes) = self.step {
            // Only a request that ends with the file ends the pass. Where the bytes left out reach beyond the file,
            // fio goes on at its beginning: at a distance from it that the job's own offset has.
            if offset >= span.sectors {
                return None;
            }
            if offset > 0 {
                offset += bytes / SECTOR_BYTES;
            }
            if offset >= span.sectors + span.before {
                offset = span.before;
            }
        }
        let sizes = &self.sizes[from];
        let place = start + offset;
        if place + sizes.min > room {
            return None;
        }
        let size = sizes.draw(&mut self.draws.sizes, room - place);
        (last[direction], next[direction]) = (offset, offset + size);
        Some((place, size))
    }

    /// At a random place; with a map, one that was not visited in this pass.
    #[inline]
    fn scattered(&mut self, file: usize, direction: usize, enters: bool) -> Option<(u64, u64)> {
        let from = self.drawn(direction, true);
        let (room, start) = (self.room(file, from), self.zone_start(file));
        let File { map, choosers, next, last, .. } = &mut self.files[file];
        let sizes = &self.sizes[direction];
        let mut block = choosers[direction].as_ref()?.choose(&mut self.draws.places);
        if let Some(map) = map {
            // Blocks are numbered by the smallest request of this direction: where that of the other differs, both
            // count in one map, and the number found may lie behind the end, which ends the pass.
            block = map.next_free(block)?;
        }
        let offset = block * self.align[direction];
        let place = start + offset;
        if place + self.sizes[from].min > room {
            return None;
        }
        let mut size = self.sizes[from].draw(&mut self.draws.sizes, room - place);
        if let Some(map) = map.as_mut().filter(|_| enters) {
            // A request that meets a visited block ends before it.
            let blocks = map.visit(block, size.div_ceil(sizes.min));
            size = size.min(blocks * sizes.min);
        }
        (last[direction], next[direction]) = (offset, offset + size);
        Some((place, size))
    }

    /// The direction whose sizes a request has.
    #[inline]
    fn drawn(&self, direction: usize, is_random: bool) -> usize {
        match self.sizes_by_order {
            false => direction,
            true => usize::from(is_random),
        }
    }

    /// First sector of the file's zone, from the file's.
    #[inline]
    fn zone_start(&self, file: usize) -> u64 {
        if self.zones.is_some() { self.files[file].zone } else { 0 }
    }

    /// Where requests end at the latest. Zones reach to the file's end, beyond the job's size, for requests that are
    /// all of one size, as in fio (`io_u_fits` is asked of the others only).
    #[inline]
    fn room(&self, file: usize, direction: usize) -> u64 {
        let Span { sectors, behind, .. } = self.files[file].span;
        let sizes = &self.sizes[direction];
        if self.zones.is_some() && sizes.min == sizes.max { sectors + behind } else { sectors }
    }

    /// The zone that the next request lies in (`setup_strided_zone_mode` of fio 3.33).
    fn enter_zone(&mut self, file: usize, direction: usize) {
        let Some(zones) = &mut self.zones else { return };
        let file = &mut self.files[file];
        if zones.done >= zones.size {
            zones.done = 0;
            file.zone += zones.range + zones.skip;
            if file.zone >= file.span.sectors + file.span.behind {
                file.zone = 0;
            }
            file.next[direction] = 0;
        }
        if file.next[direction] >= zones.range {
            file.next[direction] = 0;
        }
        // A map is of one zone.
        if zones.done.is_multiple_of(zones.range) {
            file.reset();
        }
    }
}

/// Where a request begins that lies so far before the end of the last one, which is `end`; sectors. From the file's
/// beginning it goes on at the end. `None` if there is no room. As in fio 3.33 (`get_next_seq_offset`), the very first
/// request lies at the beginning or, where the job has an offset, as far from the end as that is long.
fn backwards(end: u64, step: u64, sectors: u64, before: u64) -> Option<u64> {
    let end = match (end, before) {
        (0, 0) => return Some(0),
        (0, before) if before == sectors => return Some(0),
        (0, before) => sectors.checked_sub(before),
        (end, _) => Some(end),
    };
    end.and_then(|end| end.checked_sub(step)).or_else(|| sectors.checked_sub(step))
}
