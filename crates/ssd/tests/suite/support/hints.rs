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
    classes: Option<Rng>,
}

impl Sayings {
    pub fn new(seed: u64) -> Self {
        Sayings {
            hints: Rng::named(seed, "hints"),
            priorities: Rng::named(seed, "priorities"),
            classes: None,
        }
    }

    /// The same, which says of what class data is, too.
    pub fn with_classes(self, seed: u64) -> Self {
        Sayings { classes: Some(Rng::named(seed, "classes")), ..self }
    }

    /// Now and then a priority or class that there is not, unless all is to be valid.
    pub fn next(&mut self, is_valid: bool) -> Hints {
        let priority = random_priority(&mut self.priorities);
        let is_wrong = self.priorities.below(64) == 0 && !is_valid;
        let class = self.classes.as_mut().map_or(0, |rng| match rng.below(32) {
            0 if !is_valid => 3,
            at => (at % 3) as u8,
        });
        Hints { priority: if is_wrong { 9 } else { priority }, class, ..random_hints(&mut self.hints) }
    }
}
