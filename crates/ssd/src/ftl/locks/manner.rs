//! How a drive locks, as its policy (`ftl/sanitize`) and its chips have it. All of it follows from the configuration.

use crate::flash::Flash;
use crate::flash::op::{Op, OpKind};
use crate::ftl::sanitize::{self, Rules};
use crate::ftl::tables::Tables;
use crate::ftl::tables::layout::Layout;
use crate::nand::Sanitizing;
use crate::restore::Verdict;
use crate::sections::Sections;
use crate::signals::Hints;
use crate::units::{BlockId, Lpn, Ppn, SimDuration};
use serde::{Deserialize, Serialize};

/// What is done to pages and blocks, in what time, and who waits for it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Manner {
    pub(super) policy: sanitize::Policy,
    /// What is done to a page.
    pub(super) page_op: OpKind,
    /// A block goes as a whole.
    pub(super) erases: bool,
    pub(super) pages_per_wordline: u32,
    /// Planes of a block.
    pub(super) span: u32,
    /// Pages are reprogrammed, and some that move are copied inside the chips: those of a wordline go first.
    pub(super) waits_for_copies: bool,
    pub(super) rules: Rules,
    pub(super) page_ns: u64,
    pub(super) block_ns: u64,
}

impl Manner {
    /// That of a checked configuration, and whether anything is ever locked.
    pub(super) fn new(cfg: &Sections, policy: &sanitize::Config, layout: &Layout) -> (Self, bool) {
        let policy = sanitize::Policy::build(policy);
        let on = policy.acts();
        let page_op = match policy.means() {
            Some(Sanitizing::Scrubs) => OpKind::Scrub,
            Some(Sanitizing::Reprograms) => OpKind::Reprogram,
            Some(Sanitizing::Locks) | None => OpKind::PageLock,
        };
        let manner = Manner {
            page_op,
            erases: on && policy.means().is_none(),
            pages_per_wordline: cfg.geometry.bits_per_cell,
            span: layout.span,
            waits_for_copies: false,
            rules: policy.rules(),
            page_ns: SimDuration::from_us(cfg.timing.t_page_lock_us).0,
            block_ns: SimDuration::from_us(cfg.timing.t_block_lock_us).0,
            policy,
        };
        (manner, on)
    }

    /// Takes what follows from the configuration from a fresh one: all but what its policy may have learned.
    pub(super) fn restored(&mut self, fresh: Manner) -> Verdict {
        self.policy.restored(fresh.policy)?;
        (self.page_op, self.erases) = (fresh.page_op, fresh.erases);
        (self.rules, self.pages_per_wordline, self.span) =
            (fresh.rules, fresh.pages_per_wordline, fresh.span);
        (self.page_ns, self.block_ns) = (fresh.page_ns, fresh.block_ns);
        self.waits_for_copies = fresh.waits_for_copies;
        Ok(())
    }

    /// Whether a wordline goes as a whole.
    pub(super) fn scrubs(&self) -> bool {
        self.page_op == OpKind::Scrub
    }

    /// Whether nothing is done to a page before its wordline is full.
    pub(super) fn finishes(&self) -> bool {
        self.page_op != OpKind::PageLock
    }

    /// Whether locks go without moves: nothing fills wordlines up or empties blocks for them.
    pub(super) fn is_alone(&self) -> bool {
        !self.finishes() && !self.erases
    }

    /// Pages that fill a wordline in all planes of a block.
    pub(in crate::ftl) fn pages_filled_up(&self) -> u32 {
        self.pages_per_wordline * self.span
    }

    /// Whether pages are reprogrammed, so that others of their wordline may be lost.
    pub fn reprograms(&self) -> bool {
        self.page_op == OpKind::Reprogram
    }

    /// Whether a block that is retired is erased once more, because of what it holds.
    #[inline]
    pub fn erases_bad(&self) -> bool {
        self.erases
    }

    /// Whether no write is complete while what it has killed can be read.
    pub fn holds_writes(&self) -> bool {
        self.rules.every_write
    }

    /// The class of data of which the host says this.
    #[inline]
    pub fn class_of(&self, said: u8) -> u8 {
        match said {
            0 if self.rules.is_secure_by_default => Hints::SECURE,
            0 => Hints::INSECURE,
            said => said.min(Hints::SECURE),
        }
    }

    /// The class of a unit where copies are locked, of which the host says this; of one that is promoted it says
    /// nothing, and it is as secret as where it lies.
    #[cold]
    pub(in crate::ftl) fn class_to_lock(&self, tables: &Tables, lpn: Lpn, said: Option<u8>) -> u8 {
        let at = tables.map.lookup(lpn);
        let lies = || if at.is_some() { tables.facts.get(at).class() as u8 } else { 0 };
        self.class_of(said.unwrap_or_else(lies))
    }

    /// The pages of a page's wordline, in its physical block: of one bit a cell, itself.
    pub(in crate::ftl) fn pages_of_wordline(
        &self,
        tables: &Tables,
        page: Ppn,
    ) -> impl Iterator<Item = Ppn> + Clone + use<> {
        let one_bit = tables.blocks.holds_one_bit(tables.layout.block_of_page(page).0);
        self.wordline_of(&tables.layout, page, one_bit)
    }

    /// The same of a page that an operation is on, whatever has become of its block since.
    pub(super) fn pages_of_op(&self, layout: &Layout, op: &Op) -> impl Iterator<Item = Ppn> + Clone + use<> {
        self.wordline_of(layout, op.ppn, layout.is_one_bit(op))
    }

    fn wordline_of(
        &self,
        layout: &Layout,
        page: Ppn,
        one_bit: bool,
    ) -> impl Iterator<Item = Ppn> + Clone + use<> {
        let (block, at) = layout.block_of_page(page);
        let (span, bits) = (layout.span, if one_bit { 1 } else { self.pages_per_wordline });
        let (place, member) = (at / span, at % span);
        let first = place / bits * bits;
        let base = block.0 * layout.pages_per_block + member;
        (first..first + bits).map(move |place| Ppn(base + place * span))
    }

    /// The pages that a lock was for: the first, and how many of its physical block from there on.
    pub(super) fn pages_of_lock(&self, layout: &Layout, block: BlockId, op: &Op) -> (Ppn, u32) {
        match op.kind {
            OpKind::Scrub => {
                let mut pages = self.pages_of_op(layout, op);
                let count = pages.clone().count() as u32;
                (pages.next().unwrap_or(op.ppn), count)
            }
            OpKind::BlockLock => {
                let member = (0..layout.span).find(|&member| layout.member(block, member) == op.at);
                let first = layout.pages_of_member(block, member.unwrap_or_default()).next();
                (first.unwrap_or(op.ppn), layout.pages_per_block / layout.span)
            }
            _ => (op.ppn, 1),
        }
    }

    /// See [`crate::SanitizeReport::lost_pages`].
    pub fn lost_pages(&self, tables: &Tables, flash: &Flash) -> u64 {
        if !self.reprograms() {
            return 0;
        }
        let units = tables.layout.units_per_page;
        let pages = 0..tables.layout.blocks() * tables.layout.pages_per_block;
        let is_lost = |page: &Ppn| {
            let at = tables.layout.locate(*page);
            tables.map.live_of(page.0 * units, units) != 0
                && at.page < flash.chip.programmed_pages(at.block)
                && flash.chip.is_lost(at.block, at.page, flash.now)
        };
        pages.map(Ppn).filter(is_lost).count() as u64
    }
}
