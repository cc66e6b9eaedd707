//! Reading a page: how far it is disturbed, how many errors that makes, and which attempt corrects them.

use super::sequence::{PARTS_SHIFT, Sequence};
use super::tables::{Errors, LINE_MASK, LOWEST_SHIFT, Limit, Mode, Place, Tables};
use super::{Aging, Attempt, Margin, Sensed, UNHARMED};
use crate::nand::cell::still::{StillRow, StillTable};
use crate::nand::cell::table::{CellTable, TablePoint};
use crate::nand::cell::voltages::Voltages;

/// Effective reads beyond this are all alike: more than four times the highest ERC_MAX.
const MOST_ERC: u64 = 1 << 42;

/// How a page is disturbed, in units of the read counters.
#[derive(Clone, Copy, Debug)]
struct Disturbed {
    /// Effective reads.
    erc: u64,
    /// Those that the wordline endures.
    most: u64,
}

impl Disturbed {
    /// The ones over the others, in 1/4096.
    #[inline]
    fn share_q12(self) -> u32 {
        ((self.erc << 12) / self.most).min(u64::from(u32::MAX)) as u32
    }
}

/// Errors of one page in its state.
#[derive(Clone, Copy, Debug)]
enum Page<'a> {
    /// Of still cells: what reads add, and what the page carries, is the same for all voltages.
    Still {
        table: &'a StillTable,
        row: StillRow,
        added_q8: u32,
        /// What suspends of the erase make of its errors.
        harm_q12: u32,
    },
    Moved {
        table: &'a CellTable,
        place: Place,
        at: TablePoint,
        harm_q12: u32,
        /// Errors that its data came with.
        carried_q8: u32,
    },
}

/// One reading operation: its page, and what is drawn for it.
#[derive(Clone, Copy, Debug)]
struct Reading<'a> {
    tables: &'a Tables,
    mode: &'a Mode,
    page: Page<'a>,
    /// More effective reads than the wordline endures, and the law says that this is the end.
    lost: bool,
    draw: u64,
}

/// Errors of a block whose erase was suspended at once.
#[inline]
fn harmed(bits_q8: u32, harm_q12: u32) -> u32 {
    if harm_q12 == UNHARMED {
        return bits_q8;
    }
    ((u64::from(bits_q8) * u64::from(harm_q12)) >> 12).min(u64::from(u32::MAX / 2)) as u32
}

/// Errors with telegraph noise: at most as much as there are errors.
#[inline]
fn noisy(bits_q8: u32, most_q8: i32, draw: u64) -> u32 {
    let even_q16 = (draw >> 47) as i64 - 65_536;
    let swing = i64::from(most_q8).min(i64::from(bits_q8));
    (i64::from(bits_q8) + ((even_q16 * swing) >> 16)) as u32
}

/// What reads add to errors, so that best voltages reach the limit at ERC_MAX (calibration section 2.5, linear).
#[inline]
fn added_q8(best_q8: u32, limit_q8: u32, disturbed: Disturbed) -> u32 {
    let room = u64::from(limit_q8.saturating_sub(best_q8));
    if disturbed.erc == 0 || room == 0 {
        return 0;
    }
    (room * disturbed.erc / disturbed.most).min(u64::from(u32::MAX / 2)) as u32
}

impl Reading<'_> {
    /// Mean errors of a sector in 1/256 bit; the set after the last entry is that of the best voltages.
    #[inline]
    fn mean_q8(&self, set: usize) -> u32 {
        match &self.page {
            Page::Still { table, row, added_q8, harm_q12 } => {
                harmed(table.sector_bits_q8(row, set), *harm_q12).saturating_add(*added_q8)
            }
            Page::Moved { table, place, at, harm_q12, carried_q8 } => {
                let bits_q8 = match set >> LOWEST_SHIFT {
                    0 => table.sector_bits_q8(place.group(), set, place.page_type(), at),
                    lowest => table.apart_bits_q8(place.group(), set & LINE_MASK, lowest as u8, at),
                };
                let own = harmed(bits_q8, *harm_q12);
                own.saturating_add(*carried_q8)
            }
        }
    }

    /// Whether an attempt corrects the page. Finding the best voltages takes several readings: noise averages out.
    #[inline]
    fn succeeds(&self, set: usize, limit: &Limit) -> bool {
        if self.tables.drawn {
            return ((self.draw >> 32) as u32) < limit.odds.read(self.mean_q8(set));
        }
        let best = set == usize::from(self.tables.entries);
        let bits_q8 = if best { self.mean_q8(set) } else { self.once_q8(set) };
        bits_q8 <= limit.bits_q8
    }

    /// Errors of a single reading, with the noise that was drawn for it. What the page carries has no more noise.
    #[inline]
    fn once_q8(&self, set: usize) -> u32 {
        match &self.page {
            Page::Still { table, row, added_q8, harm_q12 } => {
                let still = harmed(table.sector_bits_q8(row, set), *harm_q12);
                noisy(still, self.mode.noise_q8, self.draw).saturating_add(*added_q8)
            }
            Page::Moved { carried_q8, .. } => {
                let own = self.mean_q8(set) - carried_q8;
                noisy(own, self.mode.noise_q8, self.draw).saturating_add(*carried_q8)
            }
        }
    }

    /// The first attempt, which nearly always succeeds, and all if it does not.
    #[inline(always)]
    fn attempts(&self, sequence: &Sequence) -> Sensed {
        if !self.lost && self.succeeds(self.tables.set_at(sequence.first()), &self.mode.own) {
            return Sensed { failed: 0, readable: true };
        }
        self.all_attempts(sequence)
    }

    /// All attempts in their order: the sequence; the other entries from the first set's up, then down; then tracking,
    /// then soft sensing. Each set of the sequence stands for the nearest entry that no set before it stands for.
    #[inline(never)]
    fn all_attempts(&self, sequence: &Sequence) -> Sensed {
        let entries = self.tables.entries;
        let near = |place: u8| ((u32::from(place) + (1 << PARTS_SHIFT >> 1)) >> PARTS_SHIFT) as u8;
        let order = |first: u8| (first..entries).chain((0..first).rev());
        let (mut failed, mut tried) = (0, 0_u64);
        for &set in sequence.sets() {
            if !self.lost && self.succeeds(self.tables.set_at(set), &self.mode.own) {
                return Sensed { failed, readable: true };
            }
            let stands_for = order(near(set.place())).find(|entry| tried >> entry & 1 == 0);
            tried |= stands_for.map_or(0, |entry| 1 << entry);
            failed += 1;
        }
        for entry in order(near(sequence.first().place())).filter(|entry| tried >> entry & 1 == 0) {
            if !self.lost && self.succeeds(usize::from(entry), &self.mode.own) {
                return Sensed { failed, readable: true };
            }
            failed += 1;
        }
        if self.tables.tracking > 0 {
            let best = usize::from(entries);
            if !self.lost && self.succeeds(best, &self.mode.own) {
                return Sensed { failed, readable: true };
            }
            failed += 1;
            for soft in &self.mode.soft {
                if self.succeeds(best, &soft.limit) {
                    return Sensed { failed, readable: true };
                }
                failed += 1;
            }
        }
        Sensed { failed, readable: false }
    }
}

impl Aging {
    /// Effective reads of a wordline (calibration section 2.3): ERC = block - adjacent - own + alpha x adjacent; where
    /// only blocks are counted, those of reads that go round the wordlines evenly: R (1 + (2 alpha - 3) / wordlines).
    #[inline]
    fn effective(&self, block: u32, place: Place, mode: &Mode, cycles: u32) -> u64 {
        let tables = self.tables();
        let all = self.reads[block as usize];
        if all == 0 {
            return 0;
        }
        let alpha_q16 = mode.endurance.adjacent_q16(place.group(), cycles);
        let (at, wordlines) = (place.wordline(), tables.wordlines as usize);
        if !tables.by_wordline {
            let more_q24 = ((2 * alpha_q16 as i64 - 3 * 65_536) << 8) / wordlines as i64;
            let more = (i128::from(all) * i128::from(more_q24)) >> 24;
            return (i128::from(all) + more).clamp(0, i128::from(MOST_ERC)) as u64;
        }
        let counts = &self.wordline_reads[block as usize * wordlines..][..wordlines];
        let below = if at > 0 { counts[at - 1] } else { 0 };
        let above = if at + 1 < wordlines { counts[at + 1] } else { 0 };
        let adjacent = u64::from(below) + u64::from(above);
        let others = all.saturating_sub(adjacent + u64::from(counts[at]));
        (others + ((adjacent * alpha_q16) >> 16)).min(MOST_ERC)
    }

    /// Effective reads of a page over what it endures, in 1/4096, where the law of voltage moves its cells.
    #[inline]
    pub(super) fn moved_q12(&self, block: u32, place: Place, mode: &Mode, cycles: u32) -> u32 {
        match *self.tables().errors[mode.errors] {
            Errors::Still(_) => 0,
            Errors::Moved(_) => self.disturbed(block, place, mode, cycles).share_q12(),
        }
    }

    #[inline]
    fn disturbed(&self, block: u32, place: Place, mode: &Mode, cycles: u32) -> Disturbed {
        let erc = self.effective(block, place, mode, cycles);
        let most = mode.endurance.most(place.group(), cycles);
        Disturbed { erc, most }
    }

    #[inline]
    fn page(&self, block: u32, (page, place): (u32, Place), mode: &Mode, disturbed: Disturbed) -> Page<'_> {
        let tables = self.tables();
        let carried_q8 = self.carried_q8(block, page);
        let (worn, minutes) = (self.worn[block as usize], self.page_minutes(block, page));
        let harm_q12 = self.harm_q12(block);
        match &*tables.errors[mode.errors] {
            Errors::Still(table) => {
                let row = table.row(place.group(), place.page_type(), table.locate(worn, minutes));
                let best_q8 = harmed(table.sector_bits_q8(&row, usize::from(tables.entries)), harm_q12);
                let added_q8 = added_q8(best_q8, mode.own.bits_q8, disturbed).saturating_add(carried_q8);
                Page::Still { table, row, added_q8, harm_q12 }
            }
            Errors::Moved(table) => {
                let at = table.locate(worn, minutes, disturbed.share_q12());
                Page::Moved { table, place, at, harm_q12, carried_q8 }
            }
        }
    }

    /// Whether the first attempt surely succeeds, told without the best voltages: they make no more errors than the
    /// entry, so that what reads add is at most their share of the whole limit.
    #[inline]
    fn plainly(
        &self,
        block: u32,
        place: Place,
        mode: &Mode,
        first: usize,
        disturbed: Disturbed,
        draw: u64,
    ) -> bool {
        let tables = self.tables();
        let Errors::Still(table) = &*tables.errors[mode.errors] else { return false };
        let point = table.locate(self.worn[block as usize], self.data_minutes(block));
        let row = table.row(place.group(), place.page_type(), point);
        let limit_q8 = u64::from(mode.own.bits_q8);
        let still_q8 = harmed(table.sector_bits_q8(&row, first), self.harm_q12(block));
        let bits_q8 = u64::from(noisy(still_q8, mode.noise_q8, draw));
        bits_q8 <= limit_q8 && limit_q8 * disturbed.erc <= (limit_q8 - bits_q8) * disturbed.most
    }

    /// Effective reads up to which an attempt with such voltages surely reads a page, whatever the noise;
    /// none where that cannot be told.
    pub(crate) fn plain_until(&self, block: u32, page: u32, first: Voltages, cycles: u32) -> u64 {
        let tables = self.tables();
        let (mode, place) = self.at(block, page);
        let Errors::Still(table) = &*tables.errors[mode.errors] else { return 0 };
        let point = table.locate(self.worn[block as usize], self.page_minutes(block, page));
        let row = table.row(place.group(), place.page_type(), point);
        let harm_q12 = self.harm_q12(block);
        let still_q8 = harmed(table.sector_bits_q8(&row, tables.set_at(first)), harm_q12);
        let noise_q8 = u32::try_from(mode.noise_q8).unwrap_or(0).min(still_q8);
        let (carried_q8, limit_q8) = (self.carried_q8(block, page), mode.own.bits_q8);
        if tables.drawn || still_q8 + noise_q8 + carried_q8 > limit_q8 {
            return 0;
        }
        let best_q8 = harmed(table.sector_bits_q8(&row, usize::from(tables.entries)), harm_q12);
        let left = limit_q8 - still_q8 - noise_q8 - carried_q8;
        let room = limit_q8.saturating_sub(best_q8).max(1);
        let most = mode.endurance.most(place.group(), cycles);
        most.min(u64::from(left) * most / u64::from(room))
    }

    /// Reads a page: see [`super::super::Chip::sense`].
    #[inline]
    pub(crate) fn sense(&mut self, block: u32, page: u32, sequence: &Sequence, cycles: u32) -> Sensed {
        let draw = self.read_rng.next_u64();
        let tables = self.tables();
        // Still cells are read on the line of the retry table, whatever the sequence.
        let first = tables.place_at(sequence.first().place());
        let (mode, place) = self.at(block, page);
        let disturbed = self.disturbed(block, place, mode, cycles);
        let plain = self.plain && self.plainly(block, place, mode, first, disturbed, draw);
        let sensed = match plain {
            true => Sensed { failed: 0, readable: true },
            false => self.sense_in_full((block, page), place, sequence, disturbed, draw),
        };
        let attempts = usize::from(sensed.failed) + usize::from(sensed.readable);
        let harm = mode.weights[place.page_type()] * mode.readings[attempts];
        self.count(block, place, harm);
        sensed
    }

    #[inline(never)]
    fn sense_in_full(
        &self,
        (block, page): (u32, u32),
        place: Place,
        sequence: &Sequence,
        disturbed: Disturbed,
        draw: u64,
    ) -> Sensed {
        let tables = self.tables();
        let mode = &tables.modes[usize::from(self.modes[block as usize])];
        let page = self.page(block, (page, place), mode, disturbed);
        let linear = matches!(page, Page::Still { .. });
        let lost = linear && !tables.drawn && disturbed.erc > disturbed.most;
        Reading { tables, mode, page, lost, draw }.attempts(sequence)
    }

    /// Errors of a page with the first set of a sequence: of one reading with its noise, or where sectors are drawn the
    /// mean.
    pub(super) fn errors_once_q8(&mut self, block: u32, page: u32, sequence: &Sequence, cycles: u32) -> u32 {
        let draw = self.read_rng.next_u64();
        let tables = self.tables();
        let (mode, place) = self.at(block, page);
        let disturbed = self.disturbed(block, place, mode, cycles);
        let page = self.page(block, (page, place), mode, disturbed);
        let (set, reading) =
            (tables.set_at(sequence.first()), Reading { tables, mode, page, lost: false, draw });
        if tables.drawn { reading.mean_q8(set) } else { reading.once_q8(set) }
    }

    /// A reading of a page that was broken off: it disturbs as one that was not.
    pub(crate) fn break_off(&mut self, block: u32, page: u32) {
        let (mode, place) = self.at(block, page);
        let harm = mode.weights[place.page_type()] * mode.readings[1];
        self.count(block, place, harm);
    }

    /// All attempts at a page that none corrects: how many there are. They disturb the block as any others.
    pub(crate) fn sense_lost(&mut self, block: u32, page: u32) -> u8 {
        let (mode, place) = self.at(block, page);
        let failed = mode.readings.len() - 1;
        let harm = mode.weights[place.page_type()] * mode.readings[failed];
        self.count(block, place, harm);
        failed as u8
    }

    /// Counts what a read does to the other wordlines.
    #[inline]
    fn count(&mut self, block: u32, place: Place, harm: u32) {
        let wordlines = self.tables().wordlines as usize;
        let block = block as usize;
        self.reads[block] += u64::from(harm);
        if let Some(count) = self.wordline_reads.get_mut(block * wordlines + place.wordline()) {
            *count = count.saturating_add(harm);
        }
    }

    /// Starts loading what the next read of a page will need.
    #[inline]
    pub(crate) fn prefetch(&self, block: u32, page: u32) {
        let tables = self.tables();
        let at = tables.places[page as usize].wordline();
        let first = block as usize * tables.wordlines as usize;
        crate::prefetch::prefetch(&self.wordline_reads, first + at);
        crate::prefetch::prefetch(&self.reads, block as usize);
    }

    /// The attempt that comes after so many failed ones.
    #[inline]
    pub(crate) fn attempt(&self, mode: u8, failed: u8) -> Attempt {
        let tables = self.tables();
        let beyond = match failed.checked_sub(tables.entries) {
            None => return Attempt::Entry,
            Some(0) => return Attempt::Tracking,
            Some(beyond) => usize::from(beyond) - 1,
        };
        match tables.modes[usize::from(mode)].soft.get(beyond) {
            Some(soft) => Attempt::Soft(soft.step),
            None => unreachable!("no attempt comes after {failed} failed ones"),
        }
    }

    /// Effective reads of a wordline, in reads of the worst page type in the normal mode.
    pub(crate) fn effective_reads(&self, block: u32, wordline: u32, cycles: u32) -> u64 {
        let tables = self.tables();
        let mode = self.at(block, 0).0;
        let place = tables.places.iter().copied().find(|place| place.wordline() == wordline as usize);
        let Some(place) = place else { unreachable!("wordline {wordline} of {}", tables.wordlines) };
        (self.effective(block, place, mode, cycles) + u64::from(tables.unit / 2)) / u64::from(tables.unit)
    }

    /// How often so many attempts sense a page.
    #[inline]
    pub(crate) fn readings(&self, block: u32, attempts: u8) -> u32 {
        self.tables().modes[usize::from(self.modes[block as usize])].readings[usize::from(attempts)]
    }

    /// Effective reads over what the wordline endures, in 1/4096; rounded up, so that 4096 means "not more".
    #[inline]
    pub(crate) fn disturb_q12(&self, block: u32, page: u32, cycles: u32) -> u32 {
        let (mode, place) = self.at(block, page);
        let disturbed = self.disturbed(block, place, mode, cycles);
        (disturbed.erc << 12).div_ceil(disturbed.most).min(u64::from(u32::MAX)) as u32
    }

    /// The truth about a page.
    pub(crate) fn margin(&self, block: u32, page: u32, cycles: u32) -> Margin {
        let tables = self.tables();
        let (mode, place) = self.at(block, page);
        let disturbed = self.disturbed(block, place, mode, cycles);
        let page = self.page(block, (page, place), mode, disturbed);
        let reading = Reading { tables, mode, page, lost: false, draw: 0 };
        // Rounded up, so that 4096 means "not more than ERC_MAX".
        let erc_q12 = (disturbed.erc << 12).div_ceil(disturbed.most);
        Margin {
            erc_q12: erc_q12.min(u64::from(u32::MAX)) as u32,
            bits_q8: reading.mean_q8(usize::from(tables.entries)),
            limit_q8: mode.own.bits_q8,
        }
    }
}
