//! What techniques tell of the wear of blocks alone, without a translation layer.

use crate::ftl::tables::layout::Layout;
use crate::ftl::techniques::{Configs, Shown, Techniques};
use crate::nand::Chip;
use crate::sections::Sections;

/// Techniques that tell wear, and nothing else of a drive.
#[derive(Clone, Debug)]
pub(crate) struct BareWear(Techniques);

impl BareWear {
    /// Of fresh blocks.
    pub fn new(configs: &Configs<'_>, cfg: &Sections, chip: &mut Chip) -> Self {
        let mut techniques = Techniques::new(configs, cfg, &Layout::new(cfg, chip));
        techniques.learn(chip);
        BareWear(techniques)
    }

    /// Age of a block, in 1/4096 of its life; 0 where nothing tells it.
    pub fn age_q12(&self, block: u32, cycles: u32) -> u32 {
        self.0.worn(block, cycles).age_q12
    }

    /// A block went through cycles in bulk, each with a dwell of so many ticks; before them it had seen so many.
    pub fn note_cycles(&mut self, chip: &mut Chip, (block, before): (u32, u32), ticks: u32) {
        let ticks = Some(ticks);
        self.0.shown(block, Shown::Cycled { before, ticks }, chip);
    }
}
