//! `[nand.*]`: chips, cells and the time their arrays take. The cells' own constants are in `cell`.

choice! {
    /// Order in which the pages of a block are programmed.
    pub enum ProgramOrder {
        /// All page types of a wordline, then the next wordline (one-shot or fast-fine programming of 3D NAND).
        WordlineMajor = "wordline_major",
        /// Shadow sequence of 2D NAND: an upper page only after the lower pages of the neighbouring wordlines.
        Shadow = "shadow",
    }
}

choice! {
    /// Where bit errors come from.
    pub enum ErrorModel {
        /// Nowhere: every read succeeds at once.
        None = "none",
        /// From the cells: they wear, lose charge and are disturbed by reads (sections `cell.*`).
        Cells = "cells",
    }
}

choice! {
    /// How the model's number of errors of a page applies to its sectors.
    pub enum SectorErrors {
        /// It is that of the worst sector, as the papers measure it; reads differ by telegraph noise alone.
        Worst = "worst",
        /// It is the mean of all sectors; each sector's errors are drawn around it.
        Drawn = "drawn",
    }
}

choice! {
    /// How exactly the chips count reads that disturb a wordline.
    pub enum DisturbCounters {
        /// A counter for each wordline (4 bytes): neighbours count more, own reads not.
        Wordline = "wordline",
        /// One for each block: its reads are taken as spread evenly over its wordlines.
        Block = "block",
    }
}

choice! {
    /// How reads become errors.
    pub enum DisturbLaw {
        /// Errors grow with effective reads in proportion, and reach the limit at ERC_MAX, whatever voltages are used.
        Linear = "linear",
        /// Reads raise the erased state; errors follow from the voltages read with.
        Voltage = "voltage",
    }
}

choice! {
    /// How long the array programs and erases.
    pub enum ArrayTimes {
        /// As `nand.timing` says.
        Fixed = "fixed",
        /// In proportion to the worn block's program time and erase pulses over those of an unworn average block.
        Worn = "worn",
    }
}

section! {
    /// `[nand.geometry]`: how many of everything.
    pub struct Geometry {
        /// Channels (buses) of the drive.
        channels: u32 = 8, range 1..=256;
        /// Chips (packages, ways) on each channel.
        chips_per_channel: u32 = 4, range 1..=256;
        /// Dies (LUNs) in each chip.
        dies_per_chip: u32 = 1, range 1..=64;
        /// Planes in each die.
        planes_per_die: u32 = 2, range 1..=64;
        /// Blocks in each plane.
        blocks_per_plane: u32 = 256, range 1..=4_194_304;
        /// Wordlines in each block; each holds one page of each page type.
        wordlines_per_block: u32 = 128, range 1..=65_536;
        /// Bits per cell: 1 SLC, 2 MLC, 3 TLC, 4 QLC.
        bits_per_cell: u32 = 3, unit "bits", range 1..=4;
        /// Data bytes of a page.
        page_bytes: u32 = 16_384, unit "bytes", range 512..=262_144;
        /// Spare (out-of-band) bytes of a page, which hold the parity of its sectors.
        spare_bytes: u32 = 2_048, unit "bytes", range 0..=65_536;
    }
}

section! {
    /// `[nand.cell]`: how bits lie in the cell.
    pub struct Cell {
        /// For each page type, lowest first, the thresholds sensed to read it (threshold k separates state k-1 from
        /// state k); or the name of a code. Empty: that of the cells if they age, else the usual one (TLC 2-3-2, QLC
        /// 1-2-4-8).
        gray_code: Vec<Vec<u32>> = Vec::new(), range 1..=15;
        /// Order in which the pages of a block are programmed.
        program_order: ProgramOrder = ProgramOrder::WordlineMajor;
        /// One program writes all pages of a wordline in its plane (one-shot programming): their data is sent page by
        /// page, then the array takes one tPROG, the longest of those in nand.timing.t_program_us (assumed). Data is
        /// padded to wordlines, and read by pages.
        one_shot: bool = false;
    }
}

section! {
    /// `[nand.timing]`: how long the array is busy.
    pub struct Timing {
        /// tR: one number for all page types, or one for each, lowest first. Empty: t_read_base_us, plus t_sense_us
        /// for each threshold of the page type.
        t_read_us: Vec<f64> = vec![75.0], unit "us", range 0..=1_000_000;
        /// The part of tR that does not depend on the page type; used when t_read_us is empty.
        t_read_base_us: f64 = 0.0, unit "us", range 0..=1_000_000;
        /// Time to sense one threshold; used when t_read_us is empty.
        t_sense_us: f64 = 39.0, unit "us", range 0..=1_000_000;
        /// tPROG of a page, or of a wordline (`nand.cell.one_shot`): one number for all page types, or one for each,
        /// lowest first.
        t_program_us: Vec<f64> = vec![700.0], unit "us", range 0..=1_000_000;
        /// tBERS: erase of a block.
        t_erase_us: f64 = 3_500.0, unit "us", range 0..=10_000_000;
        /// Steps of a program (ISPP loops), between which it can be suspended (`flash.preemption`).
        program_steps: u32 = 16, unit "steps", range 1..=1_000;
        /// Steps of an erase (pulses with their verifies), between which it can be suspended (`flash.preemption`).
        erase_steps: u32 = 5, unit "steps", range 1..=1_000;
        /// Time from stopping the array until another operation may begin (assumed).
        t_suspend_us: f64 = 20.0, unit "us", range 0..=1_000_000;
        /// Time from the resume command until the array works again (assumed).
        t_resume_us: f64 = 20.0, unit "us", range 0..=1_000_000;
        /// Time to lock a page: the pulse on its flag cells (`ftl.sanitize`).
        t_page_lock_us: f64 = 100.0, unit "us", range 0..=1_000_000;
        /// Time to lock a block: the pulse on the cells of its select line.
        t_block_lock_us: f64 = 300.0, unit "us", range 0..=1_000_000;
        /// Time to scrub a wordline.
        t_scrub_us: f64 = 100.0, unit "us", range 0..=1_000_000;
        /// Time to reprogram a page (assumed: as long as a lock).
        t_reprogram_us: f64 = 100.0, unit "us", range 0..=1_000_000;
        /// Cache read and cache program: the array works while the page register is being transferred.
        cache_operations: bool = false;
        /// Planes of a die read on their own and share its interface, as in Pekny et al., "A 1-Tb Density 4b/Cell
        /// 3D-NAND Flash on 176-Tier Technology with 4-Independent Planes for Read", ISSCC 2022. Programs and erases
        /// take the whole die.
        independent_reads: bool = false;
    }
}

choice! {
    /// Cell parts of one bit that ship with Wordline.
    pub enum OneBitPart {
        /// Cells of one bit: assumed, in the usual range.
        Slc = "slc",
    }
}

section! {
    /// `[nand.slc]`: blocks that are used with one bit a cell (`ftl.slc_cache`), each of its wordlines a page.
    pub struct Slc {
        /// SLC cell part that the cells of an SLC-cache block behave like, error correction included, if cells age
        /// (assumed).
        part: OneBitPart = OneBitPart::Slc;
        /// Wear of an SLC cycle relative to one in the normal mode (assumed): 1/wear cycles of the SLC part wear as
        /// much as one of the drive's own.
        wear: f64 = 0.1, range 0.001..=1;
        /// Reads that an SLC-cache block endures, over those of the part (assumed).
        read_endurance: f64 = 1.0, range 0.0001..=1000.0;
        /// tR of SLC-cache pages.
        t_read_us: f64 = 25.0, unit "us", range 0..=1_000_000;
        /// tPROG of SLC-cache pages.
        t_program_us: f64 = 200.0, unit "us", range 0..=1_000_000;
        /// tBERS of an SLC-cache block.
        t_erase_us: f64 = 3_000.0, unit "us", range 0..=10_000_000;
    }
}

section! {
    /// `[nand.lock]`: the flags that say which pages and blocks may be read (`ftl.sanitize`; RealWear section 5.2).
    pub struct Lock {
        /// Flag cells of a page, whose majority counts: an odd number (RealWear section 5.2.3).
        cells: u32 = 9, unit "cells", range 1..=63;
        /// Which voltage locks a page, in steps of half a volt (RealWear section 5.2.3).
        page_voltage: u32 = 4, range 1..=5;
        /// Which voltage locks a block, in steps of a volt (RealWear section 5.2.4).
        block_voltage: u32 = 6, range 1..=6;
        /// Copies inside a chip carry a locked page's data. A lock that blocks only what leaves the chip, and does
        /// not clear the page buffer, has this hole.
        copyback_hole: bool = false;
    }
}

section! {
    /// `[nand.reliability]`: bad blocks and wear-out.
    pub struct Reliability {
        /// Factory bad blocks, per million.
        factory_bad_ppm: f64 = 0.0, unit "ppm", range 0..=500_000;
        /// Programs that fail, per million; the block is retired.
        program_fail_ppm: f64 = 0.0, unit "ppm", range 0..=1_000_000;
        /// Erases that fail, per million; the block is retired.
        erase_fail_ppm: f64 = 0.0, unit "ppm", range 0..=1_000_000;
        /// Locks and scrubs that fail, per million; each is retried once, then its block is emptied and erased
        /// (`ftl.sanitize`).
        lock_fail_ppm: f64 = 0.0, unit "ppm", range 0..=1_000_000;
        /// Erases that a block survives; the next one fails. 0: no limit.
        endurance_cycles: u32 = 0, unit "cycles", range 0..=100_000_000;
    }
}

section! {
    /// `[nand.errors]`: whether cells age and make errors. Their constants are in the sections `cell.*`.
    pub struct Errors {
        /// Where bit errors come from.
        model: ErrorModel = ErrorModel::None;
        /// How the model's number of errors of a page applies to its sectors.
        sectors: SectorErrors = SectorErrors::Worst;
        /// Whether chips and blocks differ; otherwise all are average.
        variation: bool = true;
        /// How exactly the chips count reads that disturb a wordline.
        disturb_counters: DisturbCounters = DisturbCounters::Wordline;
        /// How reads become errors.
        disturb_law: DisturbLaw = DisturbLaw::Linear;
        /// Temperature of the drive, for its data too.
        temperature_c: f64 = 30.0, unit "degrees C", range -273.0..=300.0;
        /// Reads needed to find the best voltages of a page when the retry table has failed; 0 gives up.
        tracking_reads: u32 = 8, unit "reads", range 0..=64;
        /// How long the array programs and erases.
        array_times: ArrayTimes = ArrayTimes::Fixed;
        /// Data has more errors the longer its block waited between erase and first program (`cell.effects.open_*`;
        /// RealWear section 5.2.4).
        open_interval: bool = false;
    }
}

impl Geometry {
    /// Pages of a block: one of each page type on every wordline.
    pub fn pages_per_block(&self) -> u32 {
        self.wordlines_per_block * self.bits_per_cell
    }

    /// Chips of the drive.
    pub fn chips(&self) -> u32 {
        self.channels * self.chips_per_channel
    }

    /// Dies of the drive.
    pub fn dies(&self) -> u32 {
        self.chips() * self.dies_per_chip
    }

    /// Planes of the drive.
    pub fn planes(&self) -> u32 {
        self.dies() * self.planes_per_die
    }

    /// Blocks of the drive, bad ones included.
    pub fn blocks(&self) -> u64 {
        u64::from(self.planes()) * u64::from(self.blocks_per_plane)
    }

    /// Pages of the drive.
    pub fn physical_pages(&self) -> u64 {
        self.blocks().saturating_mul(u64::from(self.pages_per_block()))
    }

    /// Data bytes of a block.
    pub fn block_bytes(&self) -> u64 {
        u64::from(self.pages_per_block()) * u64::from(self.page_bytes)
    }

    /// Data bytes of the drive.
    pub fn physical_bytes(&self) -> u64 {
        self.physical_pages().saturating_mul(u64::from(self.page_bytes))
    }
}
