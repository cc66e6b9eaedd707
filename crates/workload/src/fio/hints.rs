//! What the requests of a lane say beside place and size: priorities by shares, placement ids of writes.

use super::lane::{READ, WRITE};
use super::settings::Job;
use crate::synthetic::TWO_TO_64;
use crate::synthetic::zipf::below;
use ssd::rng::{Rng, mix};
use ssd::signals::Hints;

/// What is said, and the sequences that it is drawn from.
#[derive(Clone, Debug)]
pub(crate) struct Says {
    /// Shares of all 64-bit numbers, by direction, and the priority of so many requests.
    urgent: [u64; 3],
    class: u8,
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
        let is_silent = job.urgent_percent == [0; 3] && placements.is_empty();
        (!is_silent).then(|| Says {
            urgent: job.urgent_percent.map(|percent| (percent as f64 / 100.0 * TWO_TO_64) as u64),
            class: job.urgent_class,
            priorities: draw("priority"),
            placements,
            in_turn: job.places_in_turn,
            next: 0,
            places: draw("placement"),
        })
    }

    /// Adds what a request of a direction says.
    pub fn say(&mut self, direction: usize, hints: &mut Hints) {
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
