//! Sizes of requests: one for all, a range, or several with their shares.

use super::settings::Size;
use crate::base::draw::below;
use crate::base::request::SECTOR_BYTES;
use crate::generate::synthetic::zipf::Alias;
use ssd::rng::Rng;

/// Sizes are drawn again so often until one fits into what is left of a file; then the smallest is taken.
const DRAWS_MAX: usize = 1 << 12;

/// Sizes of one direction, in sectors.
#[derive(Clone, Debug)]
pub(crate) struct Sizes {
    pub min: u64,
    pub max: u64,
    draw: Draw,
}

#[derive(Clone, Debug)]
enum Draw {
    Fixed,
    /// Uniform in bytes up to the largest, rounded up to multiples of the smallest.
    Range,
    /// A uniform number of sectors, added to the smallest, up to the largest.
    AnyRange,
    Split(Vec<u64>, Alias),
}

impl Sizes {
    pub fn new(size: &Size, is_any: bool) -> Self {
        let draw = match size {
            Size::Fixed(_) => Draw::Fixed,
            Size::Range(..) if is_any => Draw::AnyRange,
            Size::Range(..) => Draw::Range,
            Size::Split(items) => {
                let shares: Vec<f64> = items.iter().map(|(_, share)| *share).collect();
                Draw::Split(
                    items.iter().map(|(bytes, _)| bytes / SECTOR_BYTES).collect(),
                    Alias::new(&shares),
                )
            }
        };
        Sizes { min: size.min() / SECTOR_BYTES, max: size.max() / SECTOR_BYTES, draw }
    }

    /// A size up to `room`, which is at least the smallest.
    #[inline]
    pub fn draw(&self, rng: &mut Rng, room: u64) -> u64 {
        match &self.draw {
            Draw::Fixed => self.min,
            _ if room < self.max => self.draw_again(rng, room),
            _ => self.draw_once(rng),
        }
    }

    fn draw_once(&self, rng: &mut Rng) -> u64 {
        match &self.draw {
            Draw::Fixed => self.min,
            Draw::Range => {
                let bytes = 1 + below(rng, self.max * SECTOR_BYTES);
                bytes.div_ceil(SECTOR_BYTES).next_multiple_of(self.min).min(self.max)
            }
            // As in fio, the largest comes as often as all that would be larger.
            Draw::AnyRange => (self.min + below(rng, self.max)).min(self.max),
            Draw::Split(sizes, shares) => sizes[shares.sample(rng)],
        }
    }

    #[cold]
    fn draw_again(&self, rng: &mut Rng, room: u64) -> u64 {
        let fits = (0..DRAWS_MAX).map(|_| self.draw_once(rng)).find(|size| *size <= room);
        fits.unwrap_or(self.min)
    }
}
