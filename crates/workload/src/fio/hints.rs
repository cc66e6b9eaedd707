//! What the requests of a lane say beside place and size: priorities by shares, placement ids of writes.

use super::settings::{Job, SizePriorities};
use super::value::{READ, WRITE};
use crate::base::draw::{TWO_TO_64, below};
use crate::base::request::SECTOR_BYTES;
use ssd::rng::{Rng, mix};
use ssd::signals::Hints;

/// A size in sectors, and shares of its requests in percent, each with a priority.
type OfSize = (u32, Vec<(u64, u8)>);

/// What is said, and the sequences that it is drawn from.
#[derive(Clone, Debug)]
pub(crate) struct Says {
    /// Shares of all 64-bit numbers, by direction, and the priority of so many requests.
    urgent: [u64; 3],
    class: u8,
    /// Sizes in sectors with their shares in percent, each with its priority.
    by_size: [Vec<OfSize>; 3],
    priorities: Rng,
    /// Placement ids; none if nothing is said.
    placements: Vec<u16>,
    in_turn: bool,
    next: usize,
    places: Rng,
}

impl Says {
    /// Of the lane of that number; nothing if the job has its requests say nothing.
    pub fn of(job: &Job, number: u64, seed: u64) -> Option<Self> {
        let draw =
            |what: &str| Rng::named(mix(seed ^ job.randseed), &format!("workload/fio/{number}/{what}"));
        let placements = if job.places_data { job.placements.clone() } else { Vec::new() };
        let has_sizes = job.priorities.by_size.iter().any(|sizes| !sizes.is_empty());
        let is_silent = job.priorities.percent == [0; 3] && placements.is_empty() && !has_sizes;
        let of_sizes = |(bytes, shares): &SizePriorities| {
            let shares = shares.iter().map(|(share, class)| (*share, class.unwrap_or(job.priorities.class)));
            ((bytes / SECTOR_BYTES) as u32, shares.collect())
        };
        (!is_silent).then(|| Says {
            urgent: job.priorities.percent.map(|percent| (percent as f64 / 100.0 * TWO_TO_64) as u64),
            class: job.priorities.class,
            by_size: [0, 1, 2]
                .map(|direction| job.priorities.by_size[direction].iter().map(of_sizes).collect()),
            priorities: draw("priority"),
            placements,
            in_turn: job.places_in_turn,
            next: 0,
            places: draw("placement"),
        })
    }

    /// Adds what a request of a direction and so many sectors says.
    pub fn say(&mut self, direction: usize, sectors: u32, hints: &mut Hints) {
        if let Some((_, shares)) = self.by_size[direction].iter().find(|(size, _)| *size == sectors) {
            let drawn = below(&mut self.priorities, 100);
            let mut upto = 0;
            let class = shares.iter().find(|(share, _)| {
                upto += share;
                drawn < upto
            });
            if let Some((_, class)) = class {
                hints.priority = *class;
            }
        }
        let share = self.urgent[direction];
        if matches!(direction, READ | WRITE) && share > 0 && self.priorities.next_u64() <= share {
            hints.priority = self.class;
        }
        if direction == WRITE && !self.placements.is_empty() {
            let count = self.placements.len();
            let at = if self.in_turn { self.next } else { below(&mut self.places, count as u64) as usize };
            self.next = (at + 1) % count;
            hints.stream = self.placements[at];
        }
    }
}
