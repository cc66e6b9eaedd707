//! Which lanes the host need not ask for a page: nothing has changed of them since they refused it one.

use crate::ftl::stream::{STREAMS_AT_MOST, StreamId};
use crate::ftl::tables::layout::Layout;
use crate::units::LaneId;

const _: () = assert!(STREAMS_AT_MOST <= u32::BITS as usize);

/// A bit for each lane and stream of the host. Lanes stand in the order in which the host takes pages, so that the next
/// that has not refused is found without a look at those that have.
#[derive(Clone, Debug, Default)]
pub(super) struct Refusals {
    /// Place of each lane in that order.
    places: Box<[u32]>,
    /// Streams that each lane has refused, a bit for each: mostly none, and that is what each step of its moves asks.
    streams: Box<[u32]>,
    /// The same by stream, words of bits by place.
    words: Box<[u64]>,
    words_per_stream: usize,
}

impl Refusals {
    /// None yet.
    pub fn new(layout: &Layout, streams: usize) -> Self {
        let mut places = vec![0; layout.lane_order.len()];
        (0..).zip(&layout.lane_order).for_each(|(place, &lane)| places[lane as usize] = place);
        let words_per_stream = places.len().div_ceil(64);
        let mut words = vec![0; words_per_stream * streams];
        if !places.len().is_multiple_of(64) {
            // What is left of the last word of each is of no lane, and never free.
            let last = words.iter_mut().skip(words_per_stream - 1).step_by(words_per_stream);
            last.for_each(|word| *word = u64::MAX << (places.len() % 64));
        }
        Refusals {
            streams: vec![0; places.len()].into(),
            places: places.into(),
            words: words.into(),
            words_per_stream,
        }
    }

    /// Whether a lane has refused.
    #[inline]
    pub fn has(&self, lane: LaneId, stream: StreamId) -> bool {
        self.streams[lane.index()] >> stream.0 & 1 == 1
    }

    /// A lane refuses.
    #[inline]
    pub fn note(&mut self, lane: LaneId, stream: StreamId) {
        self.streams[lane.index()] |= 1 << stream.0;
        let place = self.places[lane.index()] as usize;
        self.words[stream.index() * self.words_per_stream + place / 64] |= 1 << (place % 64);
    }

    /// Something has changed of a lane.
    #[inline]
    pub fn forget(&mut self, lane: LaneId) {
        let mut left = std::mem::take(&mut self.streams[lane.index()]);
        while left != 0 {
            let stream = left.trailing_zeros() as usize;
            left &= left - 1;
            let place = self.places[lane.index()] as usize;
            self.words[stream * self.words_per_stream + place / 64] &= !(1 << (place % 64));
        }
    }

    /// The first place from one on, round to that before it, whose lane has not refused.
    #[inline]
    pub fn next_from(&self, place: u32, stream: StreamId) -> Option<u32> {
        let first = stream.index() * self.words_per_stream;
        let words = &self.words[first..first + self.words_per_stream];
        let (here, bit) = (place as usize / 64, place % 64);
        let ahead = !words[here] >> bit << bit;
        if ahead != 0 {
            return Some(here as u32 * 64 + ahead.trailing_zeros());
        }
        // Those behind it, and in its own word those before it.
        let mut others = (here + 1..words.len()).chain(0..=here);
        let word = others.find(|&word| words[word] != u64::MAX)?;
        Some(word as u32 * 64 + words[word].trailing_ones())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive_config::DriveConfig;
    use crate::nand::Chip;
    use crate::rng::Rng;
    use crate::sections::Superblock;

    /// Beside a list of flags that is searched place by place, of lanes that do and do not fill their words.
    #[test]
    fn the_next_lane_is_that_of_a_search() {
        for channels in [1, 3, 16, 17] {
            let mut cfg = DriveConfig::default();
            let g = &mut cfg.geometry;
            (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (channels, 1, 2, 2);
            g.blocks_per_plane = 8;
            let pages = g.pages_per_block();
            cfg.allocation.superblock = Superblock::None;
            let layout = Layout::new(&cfg, &Chip::new(channels * 4, 8, pages, &cfg.reliability, 1));
            let lanes = layout.lanes;
            assert_eq!(lanes, channels * 4);
            let mut refusals = Refusals::new(&layout, 2);
            let mut expected = vec![[false; 2]; lanes as usize];
            let mut rng = Rng::named(u64::from(channels), "refusals");
            for _ in 0..20_000 {
                let (lane, stream) = (rng.below(lanes), rng.below(2) as u8);
                if rng.below(lanes) > 1 {
                    refusals.note(LaneId(lane), StreamId(stream));
                    expected[lane as usize][usize::from(stream)] = true;
                } else {
                    refusals.forget(LaneId(lane));
                    expected[lane as usize] = [false; 2];
                }
                let has = |lane: u32| expected[lane as usize][usize::from(stream)];
                assert_eq!(refusals.has(LaneId(lane), StreamId(stream)), has(lane));
                let from = rng.below(lanes);
                let mut round = (from..lanes).chain(0..from);
                let next = round.find(|&place| !has(layout.lane_order[place as usize]));
                assert_eq!(refusals.next_from(from, StreamId(stream)), next, "of {lanes} lanes");
            }
        }
    }
}
