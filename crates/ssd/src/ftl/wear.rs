//! What blocks show of their wear is measured where a technique tells how worn they are; what it says of them is
//! entered in the table of blocks, and the flash is told.

use crate::flash::Flash;
use crate::ftl::tables::layout::Layout;
use crate::ftl::techniques::{Configs, Shown, Techniques};
use crate::ftl::{Ftl, FtlCounts};
use crate::nand::Chip;
use crate::sections::Sections;
use crate::units::BlockId;

impl Ftl {
    /// Above those chips, which are fresh.
    pub(crate) fn above(mut self, chip: &mut Chip) -> Self {
        self.techniques.learn(chip);
        self.outbox.reserve(self.techniques.operations_at_most());
        self
    }

    /// The least and the most that what is told of wear is off, in bits, where that is known.
    // tidy: allow(float): called when a drive is built
    pub(crate) fn wear_off_bits(&self, chip: &Chip) -> Option<[f64; 2]> {
        self.techniques.off_bits(chip)
    }

    /// Age of a physical block, in 1/4096 of its life; 0 where nothing tells it.
    pub(crate) fn age_q12(&self, chip: &Chip, physical: u32) -> u32 {
        self.techniques.worn(physical, chip.erase_count(physical)).age_q12
    }

    /// The flash is told how old all blocks are.
    pub(crate) fn tell_wear(&self, flash: &mut Flash) {
        for physical in 0..flash.chip.blocks() {
            flash.note_age(physical, self.age_q12(&flash.chip, physical));
        }
    }

    /// A member of a block was erased.
    #[inline]
    pub(in crate::ftl) fn member_erased(&mut self, flash: &mut Flash, block: BlockId, physical: u32) {
        if self.techniques.tell_wear() {
            let at_once = flash.is_instant();
            self.shown(flash, block, physical, Shown::Erased { at_once });
        }
    }

    /// A block was erased: whether it is used no more, though nothing has failed.
    #[inline]
    pub(in crate::ftl) fn is_spent(&mut self, block: BlockId) -> bool {
        self.techniques.is_spent(block, &self.tables, &mut self.work.counts)
    }

    /// A physical block went through cycles in bulk, each with a dwell of so many ticks; before them it had seen so
    /// many.
    pub(crate) fn note_cycles(&mut self, chip: &mut Chip, (block, before): (u32, u32), ticks: Option<u32>) {
        if self.techniques.tell_wear() {
            self.techniques.shown(block, Shown::Cycled { before, ticks }, chip, &mut self.work.counts);
        }
    }

    /// A physical block is measured, and so is the age of the block that it is a member of.
    pub(in crate::ftl) fn shown(&mut self, flash: &mut Flash, block: BlockId, physical: u32, what: Shown) {
        self.techniques.shown(physical, what, &mut flash.chip, &mut self.work.counts);
        self.update_wear(flash, block);
    }

    /// A block is as worn as its most worn member.
    pub(in crate::ftl) fn update_wear(&mut self, flash: &mut Flash, block: BlockId) {
        if !self.techniques.tell_wear() {
            return;
        }
        let mut age = 0;
        for k in 0..self.tables.layout.span {
            let physical = self.tables.layout.member(block, k).block;
            let own = self.age_q12(&flash.chip, physical);
            flash.note_age(physical, own);
            age = age.max(own);
        }
        self.tables.blocks.set_wear_q12(block, age as u16);
        self.work.counts.age_q12_max = self.work.counts.age_q12_max.max(age);
    }
}

/// What techniques tell of the wear of blocks alone, without a translation layer.
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
        if self.0.tell_wear() {
            let ticks = Some(ticks);
            self.0.shown(block, Shown::Cycled { before, ticks }, chip, &mut FtlCounts::default());
        }
    }
}
