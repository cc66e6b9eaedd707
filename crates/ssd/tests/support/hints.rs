//! What hosts say of their commands.

use ssd::Hints;
use ssd::rng::Rng;

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
