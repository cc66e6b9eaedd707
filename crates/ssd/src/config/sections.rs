//! The fixed sections of a drive's configuration. The policy families bring their own.
//!
//! Defaults are a plain TLC drive; `presets/drive/tlc.toml` says where such numbers come from. Channel commands are
//! the cycles of MQSim's interface formula, the only ones published with measured latencies beside them.

choice! {
    /// In which order the pages of a block are programmed.
    pub enum ProgramOrder {
        /// All page types of a wordline, then the next wordline (one-shot or fast-fine programming of 3D NAND).
        WordlineMajor = "wordline_major",
        /// Shadow sequence of 2D NAND: an upper page only after the lower pages of the neighbouring wordlines.
        Shadow = "shadow",
    }
}

choice! {
    /// Which operation a free die takes next.
    pub enum SchedulingOrder {
        /// Reads before programs and erases, but only `read_bypass_limit` times in a row.
        ReadFirst = "read_first",
        /// In the order of arrival.
        Fifo = "fifo",
    }
}

choice! {
    /// How moves that reads have made due (read reclaim) stand beside host reads, where reads go first.
    pub enum ReclaimOrder {
        /// Their operations go in the order of arrival, and before older reads, too, after `due_bypass_limit` reads:
        /// until data has moved it is disturbed further, and by a known number of reads.
        Urgent = "urgent",
        /// As everything else that is not a host read.
        Background = "background",
    }
}

choice! {
    /// What a channel carries first, of what its dies wait to send and receive.
    pub enum ChannelOrder {
        /// Commands without data, so that arrays work while data of other dies leaves.
        CommandsFirst = "commands_first",
        /// Data that was read, before any command; which command a die sends is decided when it gets the channel.
        /// MQSim's habit.
        DataFirst = "data_first",
    }
}

choice! {
    /// How the plane of a host write is found.
    pub enum Placement {
        /// Writes are dealt out in turn, in the order of `order`; a plane without room is passed over.
        Dynamic = "dynamic",
        /// Each logical page has its plane, counted off in the order of `order`, and is moved inside it: MQSim's habit.
        Static = "static",
    }
}

choice! {
    /// The unit of the logical-to-physical map.
    pub enum MappingUnit {
        /// One entry a flash page; smaller writes are read-modify-writes.
        Page = "page",
        /// One entry for 4 KiB; several are gathered into one page before it is programmed.
        FourKib = "4kib",
    }
}

choice! {
    /// Which blocks are opened, filled and erased together.
    pub enum Superblock {
        /// Every block alone: a lane is a plane.
        None = "none",
        /// The blocks with the same index in all planes of a die: a lane is a die.
        Planes = "planes",
        /// The blocks with the same index in all planes of the drive: one lane.
        All = "all",
    }
}

choice! {
    /// The order in which consecutive writes go round the drive: the first letter varies fastest
    /// (c channel, w way = chip on the channel, d die, p plane).
    pub enum AllocationOrder {
        Cwdp = "cwdp", Cwpd = "cwpd", Cdwp = "cdwp", Cdpw = "cdpw", Cpwd = "cpwd", Cpdw = "cpdw",
        Wcdp = "wcdp", Wcpd = "wcpd", Wdcp = "wdcp", Wdpc = "wdpc", Wpcd = "wpcd", Wpdc = "wpdc",
        Dcwp = "dcwp", Dcpw = "dcpw", Dwcp = "dwcp", Dwpc = "dwpc", Dpcw = "dpcw", Dpwc = "dpwc",
        Pcwd = "pcwd", Pcdw = "pcdw", Pwcd = "pwcd", Pwdc = "pwdc", Pdcw = "pdcw", Pdwc = "pdwc",
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
    /// What the model's number of errors of a page says about its sectors.
    pub enum SectorErrors {
        /// It is that of the worst sector, as the papers measure it; reads differ by telegraph noise alone.
        Worst = "worst",
        /// It is the mean of all sectors; each sector's errors are drawn around it.
        Drawn = "drawn",
    }
}

choice! {
    /// How exactly the chips count the reads that disturb a wordline.
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

/// One level of the hierarchy of parallel units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// Channel.
    Channel,
    /// Chip on its channel (way).
    Chip,
    /// Die in its chip.
    Die,
    /// Plane in its die.
    Plane,
}

impl AllocationOrder {
    /// The four levels, the one that varies fastest first.
    pub fn axes(self) -> [Axis; 4] {
        let letters = self.name().as_bytes();
        std::array::from_fn(|i| match letters[i] {
            b'c' => Axis::Channel,
            b'w' => Axis::Chip,
            b'd' => Axis::Die,
            _ => Axis::Plane,
        })
    }
}

section! {
    /// `[drive]`: what the host sees of the whole.
    pub struct DriveSection {
        /// Seed of every random stream of the drive.
        seed: u64 = 1;
        /// Capacity the host sees; 0 takes it from over_provisioning_percent.
        logical_gib: f64 = 0.0, unit "GiB", range 0..=1_000_000;
        /// Spare capacity as a share of the logical capacity: (physical - logical) / logical.
        over_provisioning_percent: f64 = 7.0, unit "%", range 0..=10_000;
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
        /// Wordlines in each block; each holds one page of every page type.
        wordlines_per_block: u32 = 128, range 1..=65_536;
        /// Bits per cell: 1 SLC, 2 MLC, 3 TLC, 4 QLC.
        bits_per_cell: u32 = 3, unit "bits", range 1..=4;
        /// Data bytes of a page.
        page_bytes: u32 = 16_384, unit "bytes", range 512..=262_144;
        /// Spare (out-of-band) bytes of a page: they hold the parity of its sectors.
        spare_bytes: u32 = 2_048, unit "bytes", range 0..=65_536;
    }
}

section! {
    /// `[nand.cell]`: how bits lie in the cell.
    pub struct Cell {
        /// For each page type, lowest first, the thresholds sensed to read it (threshold k separates state k-1 from
        /// state k); or the code's name. Empty: that of the cells if they age, else the usual one (TLC 2-3-2, QLC
        /// 1-2-4-8).
        gray_code: Vec<Vec<u32>> = Vec::new(), range 1..=15;
        /// In which order the pages of a block are programmed.
        program_order: ProgramOrder = ProgramOrder::WordlineMajor;
    }
}

section! {
    /// `[nand.timing]`: how long the array is busy.
    pub struct Timing {
        /// tR: one number for all page types, or one each, lowest first. Empty: t_read_base_us + t_sense_us for each
        /// threshold of the page type.
        t_read_us: Vec<f64> = vec![75.0], unit "us", range 0..=1_000_000;
        /// The part of tR that does not depend on the page type; used when t_read_us is empty.
        t_read_base_us: f64 = 0.0, unit "us", range 0..=1_000_000;
        /// Time to sense one threshold; used when t_read_us is empty.
        t_sense_us: f64 = 39.0, unit "us", range 0..=1_000_000;
        /// tPROG of a page: one number for all page types, or one each, lowest first.
        t_program_us: Vec<f64> = vec![700.0], unit "us", range 0..=1_000_000;
        /// tBERS: erase of a block.
        t_erase_us: f64 = 3_500.0, unit "us", range 0..=10_000_000;
        /// Steps of a program (ISPP loops), between which it can be suspended.
        program_steps: u32 = 16, unit "steps", range 1..=1_000;
        /// Steps of an erase (pulses with their verifies), between which it can be suspended.
        erase_steps: u32 = 5, unit "steps", range 1..=1_000;
        /// Cache read and cache program: the array works while the page register is transferred.
        cache_operations: bool = false;
    }
}

section! {
    /// `[nand.reliability]`: bad blocks and wear-out.
    pub struct Reliability {
        /// Blocks that are bad from the factory, per million.
        factory_bad_ppm: f64 = 0.0, unit "ppm", range 0..=500_000;
        /// Programs that fail, per million; the block is retired.
        program_fail_ppm: f64 = 0.0, unit "ppm", range 0..=1_000_000;
        /// Erases that fail, per million; the block is retired.
        erase_fail_ppm: f64 = 0.0, unit "ppm", range 0..=1_000_000;
        /// Erases a block lives through; the next one fails. 0: no limit.
        endurance_cycles: u32 = 0, unit "cycles", range 0..=100_000_000;
    }
}

section! {
    /// `[nand.errors]`: whether cells age and make errors. Their constants are in the sections `cell.*`.
    pub struct Errors {
        /// Where bit errors come from.
        model: ErrorModel = ErrorModel::None;
        /// What the model's number of errors of a page says about its sectors.
        sectors: SectorErrors = SectorErrors::Worst;
        /// Whether chips and blocks differ; otherwise all are as the average one.
        variation: bool = true;
        /// How exactly the chips count the reads that disturb a wordline.
        disturb_counters: DisturbCounters = DisturbCounters::Wordline;
        /// How reads become errors.
        disturb_law: DisturbLaw = DisturbLaw::Linear;
        /// Temperature at which the drive works, and at which time passes for its data.
        temperature_c: f64 = 30.0, unit "degrees C", range -273.0..=300.0;
        /// Program mode of all data (an index into `cell.modes`), until a policy chooses.
        program_mode: u32 = 0, range 0..=15;
        /// Reads that finding the best voltages of a page takes when the retry table has failed; 0 gives up.
        tracking_reads: u32 = 8, unit "reads", range 0..=64;
        /// How long the array programs and erases.
        array_times: ArrayTimes = ArrayTimes::Fixed;
    }
}

section! {
    /// `[flash.channel]`: the bus between controller and dies.
    pub struct Channel {
        /// Data rate of the channel (1 MB = 1,000,000 bytes).
        bandwidth_mb_s: f64 = 1_200.0, unit "MB/s", range 0.001..=1_000_000;
        /// Channel time of a read command with its address.
        t_read_command_ns: u32 = 290, unit "ns", range 0..=1_000_000_000;
        /// Channel time to start a data output, before its bytes.
        t_data_out_command_ns: u32 = 30, unit "ns", range 0..=1_000_000_000;
        /// Channel time of a program command with its address, before or after its bytes.
        t_program_command_ns: u32 = 361, unit "ns", range 0..=1_000_000_000;
        /// Channel time of an erase command with its address.
        t_erase_command_ns: u32 = 290, unit "ns", range 0..=1_000_000_000;
    }
}

section! {
    /// `[flash.scheduling]`: which operation goes next.
    pub struct Scheduling {
        /// Which operation a free die takes next.
        order: SchedulingOrder = SchedulingOrder::ReadFirst;
        /// How many reads may pass a waiting program or erase before it goes first.
        read_bypass_limit: u32 = 16, unit "reads", range 0..=1_000_000;
        /// How moves that reads have made due (read reclaim) stand beside host reads, where reads go first.
        reclaim: ReclaimOrder = ReclaimOrder::Urgent;
        /// How many reads, older ones too, may go between two operations of moves that are due (`urgent`). With 2 a
        /// host keeps about a third of what a die can read, while data moves from it.
        due_bypass_limit: u32 = 2, unit "reads", range 1..=1_000_000;
        /// Join operations of different planes of a die into one multi-plane operation.
        multi_plane: bool = true;
        /// What a channel carries first, of what its dies wait to send and receive.
        channel: ChannelOrder = ChannelOrder::CommandsFirst;
    }
}

section! {
    /// `[ftl.mapping]`: the logical-to-physical map.
    pub struct Mapping {
        /// What one entry of the map stands for.
        unit: MappingUnit = MappingUnit::FourKib;
    }
}

section! {
    /// `[ftl.allocation]`: where the next write goes.
    pub struct Allocation {
        /// The order in which consecutive writes go round the drive, the letter that varies fastest first
        /// (c channel, w chip, d die, p plane).
        order: AllocationOrder = AllocationOrder::Cwdp;
        /// Which blocks are opened, filled and erased together.
        superblock: Superblock = Superblock::Planes;
        /// How the plane of a host write is found; `static` needs `superblock = "none"` and one mapping unit a page.
        placement: Placement = Placement::Dynamic;
    }
}

section! {
    /// `[ftl.cleaning]`: how garbage collection moves data.
    pub struct Cleaning {
        /// Page copies under way at once in an allocation lane.
        copies_in_flight: u32 = 4, unit "pages", range 1..=4_096;
        /// Copy inside the plane, without the channel, where source and destination allow it.
        copyback: bool = false;
        /// Free blocks of each lane that only cleaning may open.
        reserve_blocks: u32 = 1, unit "blocks", range 1..=65_536;
    }
}

section! {
    /// `[host.queues]`: submission queues.
    pub struct Queues {
        /// Submission queues, served round robin.
        count: u32 = 1, unit "queues", range 1..=65_536;
        /// Commands each queue holds.
        depth: u32 = 256, unit "commands", range 1..=65_536;
    }
}

section! {
    /// `[host.link]`: between host and drive, the same in each direction.
    pub struct Link {
        /// Data rate in each direction (1 MB = 1,000,000 bytes).
        bandwidth_mb_s: f64 = 7_000.0, unit "MB/s", range 0.001..=1_000_000;
        /// Delay of a command or completion each way.
        latency_us: f64 = 1.0, unit "us", range 0..=1_000_000;
    }
}

section! {
    /// `[host.firmware]`: the controller's processors.
    pub struct Firmware {
        /// Processor time for each command.
        t_command_us: f64 = 0.5, unit "us", range 0..=1_000_000;
    }
}
