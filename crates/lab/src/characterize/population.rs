//! Many blocks of many chips, cycled and measured.

use crate::base::threads::on_all_cores;
use ssd::nand::cell::{Block, CellModel, Damage, VirtualChips};

/// Cycles between two measurements of a block's life, in 1000.
const LIFE_STEP_KCYCLES: f64 = 0.1;
/// Cycles after which a block that still lives is given up on, in 1000.
const LIFE_LONGEST_KCYCLES: f64 = 200.0;

/// The blocks of a population of virtual chips.
#[derive(Clone, Debug)]
pub struct Population<'a> {
    model: &'a CellModel,
    blocks: Vec<Block>,
}

impl<'a> Population<'a> {
    /// So many blocks of so many chips of a part, the same for the same seed.
    pub fn new(model: &'a CellModel, seed: u64, chips: u32, blocks: u32) -> Self {
        let makers = VirtualChips::new(model, seed);
        let by_chip = on_all_cores(chips as usize, |chip| {
            (0..blocks).map(|block| makers.block(chip as u32, block)).collect::<Vec<Block>>()
        });
        Population { model, blocks: by_chip.concat() }
    }

    /// The blocks, chip by chip.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// 1000 cycles that each block lives when so much time lies between its erases: cycled 100 at a time, until
    /// it no longer keeps data for 12 months.
    /// The model may be another than the blocks were made by.
    pub fn lives(&self, model: &CellModel, dwell_minutes: f64, celsius: f64) -> Vec<f64> {
        self.by_block(|block| {
            let (mut damage, mut lived) = (Damage::default(), 0.0);
            while lived < LIFE_LONGEST_KCYCLES {
                damage.cycle(model, LIFE_STEP_KCYCLES, dwell_minutes, celsius, 0);
                if !model.is_alive(block.quality, damage.lasting) {
                    break;
                }
                lived += LIFE_STEP_KCYCLES;
            }
            lived + 0.5 * LIFE_STEP_KCYCLES
        })
    }

    /// What is measured of each block, on all cores.
    fn by_block<T: Send>(&self, measure: impl Fn(&Block) -> T + Sync) -> Vec<T> {
        self.by_place(|_, block| measure(block))
    }

    /// What is measured of each block, which is told its place, on all cores.
    pub fn by_place<T: Send>(&self, measure: impl Fn(usize, &Block) -> T + Sync) -> Vec<T> {
        const CHUNK: usize = 256;
        let chunks: Vec<&[Block]> = self.blocks.chunks(CHUNK).collect();
        let measured = on_all_cores(chunks.len(), |number| {
            let blocks = chunks[number].iter().enumerate();
            blocks.map(|(place, block)| measure(number * CHUNK + place, block)).collect::<Vec<T>>()
        });
        measured.into_iter().flatten().collect()
    }

    /// What is measured of each block after so many 1000 cycles with a dwell of 1 minute at 30 degrees C.
    pub fn after<T: Send>(
        &self,
        kcycles: f64,
        measure: impl Fn(&CellModel, &Block, &Damage) -> T + Sync,
    ) -> Vec<T> {
        self.after_resting(kcycles, 1.0, measure)
    }

    /// The same with another dwell.
    pub fn after_resting<T: Send>(
        &self,
        kcycles: f64,
        dwell_minutes: f64,
        measure: impl Fn(&CellModel, &Block, &Damage) -> T + Sync,
    ) -> Vec<T> {
        let mut damage = Damage::default();
        damage.cycle(self.model, kcycles, dwell_minutes, 30.0, 0);
        self.by_block(|block| measure(self.model, block, &damage))
    }

    /// The same with a dwell of 1 minute; what measures is told the block's place.
    pub fn after_by_place<T: Send>(
        &self,
        kcycles: f64,
        measure: impl Fn(&CellModel, usize, &Block, &Damage) -> T + Sync,
    ) -> Vec<T> {
        let mut damage = Damage::default();
        damage.cycle(self.model, kcycles, 1.0, 30.0, 0);
        self.by_place(|place, block| measure(self.model, place, block, &damage))
    }

    /// What the blocks are made of.
    pub fn model(&self) -> &CellModel {
        self.model
    }

    /// N12 of each block after so many 1000 cycles, in bits.
    pub fn n12(&self, kcycles: f64) -> Vec<f64> {
        self.after(kcycles, |model, block, damage| model.n12(block.quality, damage.lasting))
    }
}

/// Mean of the values; 0 if there are none.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Smallest and largest of the values.
pub fn extremes(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &x| (low.min(x), high.max(x)))
}

/// The value that a share of the values does not exceed; 0 if there are none.
pub fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = (sorted.len().saturating_sub(1) as f64 * share.clamp(0.0, 1.0)) as usize;
    sorted.get(place).copied().unwrap_or(0.0)
}
