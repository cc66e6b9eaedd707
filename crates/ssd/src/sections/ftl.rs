//! `[ftl.*]`: the map, where writes go, and how cleaning moves data.

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
    /// Where data goes that moves to the first stream.
    pub enum MovesOfFirst {
        /// To blocks of its own.
        Apart = "apart",
        /// To the blocks that the host fills with data of that stream.
        Joined = "joined",
    }
}

choice! {
    /// The unit of the logical-to-physical map.
    pub enum MappingUnit {
        /// One entry a flash page; smaller writes are read-modify-writes.
        Page = "page",
        /// One entry for 4 KiB; several are gathered into one page before it is programmed.
        FourKib = "4kib",
        /// One entry for 16 KiB; smaller writes are read-modify-writes.
        SixteenKib = "16kib",
        /// One entry for 32 KiB, as for 16.
        ThirtyTwoKib = "32kib",
        /// One entry for 64 KiB, as for 16.
        SixtyFourKib = "64kib",
    }
}

impl MappingUnit {
    /// Bytes of a unit; none where it is a page, whatever that holds.
    pub const fn bytes(self) -> Option<u32> {
        match self {
            MappingUnit::Page => None,
            MappingUnit::FourKib => Some(4_096),
            MappingUnit::SixteenKib => Some(16_384),
            MappingUnit::ThirtyTwoKib => Some(32_768),
            MappingUnit::SixtyFourKib => Some(65_536),
        }
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
    /// How much is read and programmed together.
    pub enum Issue {
        /// The pages of one number in all planes of a die, of blocks that are filled together (`superblock`).
        Row = "row",
        /// One page; that others join it in the die's line is chance.
        Page = "page",
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
    /// `[ftl]`: what the translation layer writes beside data.
    pub struct Redundancy {
        /// Bytes of parity across dies (RAID within the drive) for 100 bytes of anything else that is programmed, by
        /// the host or by moves. Parity takes pages of the blocks that it protects until they are erased, and so die
        /// time and over-provisioning. It is never read: a page that cannot be corrected is lost all the same. What
        /// lies in a page's spare area is `cell.ecc.parity_bytes`.
        parity_percent: f64 = 0.0, unit "%", range 0..=100;
    }
}

section! {
    /// `[ftl.mapping]`: the logical-to-physical map.
    pub struct Mapping {
        /// What one entry of the map covers. Of a unit that is written in part the rest is read first, unless it is in
        /// DRAM, and the whole is programmed. One larger than a page lies in one row (`ftl.allocation.issue`): it is
        /// programmed at once, and reads take only the pages that hold what is wanted.
        unit: MappingUnit = MappingUnit::FourKib;
    }
}

section! {
    /// `[ftl.allocation]`: where the next write goes.
    pub struct Allocation {
        /// The order in which consecutive writes are spread over the drive; the first letter varies fastest (c
        /// channel, w chip, d die, p plane).
        order: AllocationOrder = AllocationOrder::Cwdp;
        /// Which blocks are opened, filled and erased together.
        superblock: Superblock = Superblock::Planes;
        /// How much is read and programmed together: `row` waits for a page in each plane of a die, so that planes work
        /// at the same time. A flush, or a lane where nothing more is coming, does not wait. Where each block is
        /// alone (`superblock = "none"`), a row is a page.
        issue: Issue = Issue::Row;
        /// How the plane of a host write is chosen; `static` needs `superblock = "none"` and one mapping unit per
        /// page.
        placement: Placement = Placement::Dynamic;
        /// Where moved data of the first stream goes, about which nothing is known: `apart`, to blocks of its own,
        /// or `joined`, to those that the host fills. Moves of other streams share their stream's blocks.
        moves: MovesOfFirst = MovesOfFirst::Apart;
    }
}

section! {
    /// `[ftl.cleaning]`: how garbage collection moves data.
    pub struct Cleaning {
        /// Page copies in flight at once in an allocation lane; at least two rows for each of its dies
        /// (`ftl.allocation.issue`).
        copies_in_flight: u32 = 4, unit "pages", range 1..=4_096;
        /// Free blocks (or superblocks) of each lane that only garbage collection may open.
        reserve_blocks: u32 = 1, unit "blocks", range 1..=65_536;
        /// Emptied blocks are erased only when they are opened for writing: data is more reliable the sooner it is
        /// written after the erase (RealWear section 5.2.4). Blocks that `ftl.sanitize` erases do not wait.
        lazy_erase: bool = false;
        /// When the host outruns garbage collection, its writes get a victim's space page by page, while it is being
        /// emptied. Otherwise they get all of it when the block is erased, and then stop until the next one is.
        paces_host: bool = false;
    }
}
