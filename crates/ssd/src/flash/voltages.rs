//! The voltages that reads begin with, as a policy chooses them, and what it has promised of them.

use super::counts::FlashCounts;
use super::read_voltage;
use crate::nand::aging::{Margin, PageAge, Sequence};
use crate::nand::{Chip, Outcome, PageAddress};
use crate::restore::{Verdict, alike};
use crate::snapshot::raw;
use serde::{Deserialize, Serialize};

/// A page that none of the voltages read which a policy had promised to read it (`flash.read_voltage`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrokenBound {
    /// Physical block.
    pub block: u32,
    /// Page of the block.
    pub page: u32,
    /// What wore the block, in cycles of the average block at the reference dwell.
    pub cycles: u32,
    /// Minutes since it was programmed.
    pub minutes: u32,
    /// Effective reads over what the wordline endures, in 1/4096.
    pub erc_q12: u32,
    /// Mean errors of a sector with the best voltages, in 1/256 bit.
    pub bits_q8: u32,
    /// Errors that are corrected, in 1/256 bit.
    pub limit_q8: u32,
}

impl core::fmt::Display for BrokenBound {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { block, page, cycles, minutes, .. } = self;
        write!(
            f,
            "page {page} of block {block} was not read with the voltages by age that were promised to read it: worn \
             like {cycles} cycles, {minutes} minutes old, {} % of the reads it endures; {} bits of a sector are wrong \
             with the best voltages, {} are corrected",
            u64::from(self.erc_q12) * 100 / 4096,
            self.bits_q8.div_ceil(256),
            self.limit_q8 / 256
        )
    }
}

/// The policy of voltages, and what it goes by.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Voltages {
    policy: read_voltage::Policy,
    /// Range of each physical block's age, as the policy tells them apart; empty where it does not go by ages.
    #[serde(with = "raw")]
    age_ranges: Vec<u8>,
    /// The first read that was not as promised since counters were set to zero.
    #[serde(skip)]
    pub broken: Option<BrokenBound>,
}

impl Voltages {
    /// A policy that has been told of the cells of so many blocks.
    pub fn new(policy: read_voltage::Policy, blocks: u32) -> Self {
        let aged = if policy.goes_by_age() { blocks as usize } else { 0 };
        Voltages { policy, age_ranges: vec![0; aged], broken: None }
    }

    /// The voltages to begin with. Policies know the drive's own cells; those of one bit a cell are read by the table.
    #[inline]
    pub fn sequence(&self, chip: &Chip, block: u32, page: u32) -> Sequence {
        if !self.policy.looks() || chip.is_one_bit(block) {
            return Sequence::entry(0);
        }
        let age_range = self.age_ranges.get(block as usize).copied().unwrap_or(0);
        self.policy.sequence(&PageAge { age_range, ..chip.page_age(block, page) })
    }

    /// What reading a page comes to: attempts it takes, and whether the last succeeds. Counted is whether none of the
    /// sets of voltages did that the policy chose for the block's age.
    #[inline]
    pub fn sense(&mut self, chip: &mut Chip, counts: &mut FlashCounts, at: PageAddress) -> (u8, Outcome) {
        let sequence = self.sequence(chip, at.block, at.page);
        let sensed = chip.sense_with(at.block, at.page, &sequence);
        let attempts = sensed.failed + u8::from(sensed.readable);
        if !self.age_ranges.is_empty() && usize::from(sensed.failed) >= sequence.sets().len() {
            self.count_beyond(chip, counts, at);
        }
        (attempts, if sensed.readable { Outcome::Pass } else { Outcome::Fail })
    }

    /// None of the sets has read a page that were chosen for its age: that breaks a promise, if it was given for
    /// what the page truly is.
    #[cold]
    fn count_beyond(
        &mut self,
        chip: &Chip,
        counts: &mut FlashCounts,
        PageAddress { block, page, .. }: PageAddress,
    ) {
        counts.beyond_bound += 1;
        let Some((margin, wear)) = chip.plain_margin(block, page) else { return };
        let age = PageAge { age_range: self.age_ranges[block as usize], ..chip.page_age(block, page) };
        if self.policy.promises(&age, &margin, wear) {
            counts.bound_broken += 1;
            let Margin { erc_q12, bits_q8, limit_q8 } = margin;
            let (minutes, cycles) = (age.minutes, wear);
            self.broken.get_or_insert(BrokenBound {
                block,
                page,
                cycles,
                minutes,
                erc_q12,
                bits_q8,
                limit_q8,
            });
        }
    }

    /// The firmware has told the age of a physical block, in 1/4096 of its life.
    #[inline]
    pub fn note_age(&mut self, block: u32, age_q12: u32) {
        if let Some(range) = self.age_ranges.get_mut(block as usize) {
            *range = self.policy.age_range(age_q12);
        }
    }

    /// Keeps what another policy asks for. Ages of blocks are to be told anew.
    pub fn keep_as(&mut self, other: &Voltages) {
        self.age_ranges = other.age_ranges.clone();
    }

    /// Takes the policy of a fresh drive, and checks the rest.
    pub fn restored(&mut self, fresh: Voltages) -> Verdict {
        self.policy = fresh.policy;
        alike("ranges of blocks' ages", &self.age_ranges, &fresh.age_ranges)
    }
}
