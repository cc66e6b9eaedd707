//! What hosts say of their commands.

use ssd::Hints;
use ssd::rng::Rng;

/// How urgent a host says that a command is, or nothing.
pub fn random_priority(rng: &mut Rng) -> u8 {
    rng.below(4) as u8
}

/// What a host says of a command: one of a dozen programs, each with a few paths to it, which a command in four does
/// not tell.
pub fn random_hints(rng: &mut Rng) -> Hints {
    let process = rng.below(16).saturating_sub(3);
    if process == 0 {
        return Hints::default();
    }
    let (stream, context) = (process as u16 % 11, 4 * process + rng.below(4));
    Hints { process, context, stream, file: rng.below(50), ..Hints::default() }
}

/// What a host says of its commands, one after the other.
pub struct Sayings {
    hints: Rng,
    priorities: Rng,
}

impl Sayings {
    pub fn new(seed: u64) -> Self {
        Sayings { hints: Rng::named(seed, "hints"), priorities: Rng::named(seed, "priorities") }
    }

    /// Now and then a priority that there is not, unless all is to be valid.
    pub fn next(&mut self, is_valid: bool) -> Hints {
        let priority = random_priority(&mut self.priorities);
        let is_wrong = self.priorities.below(64) == 0 && !is_valid;
        Hints { priority: if is_wrong { 9 } else { priority }, ..random_hints(&mut self.hints) }
    }
}
