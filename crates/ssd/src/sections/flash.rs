//! `[flash.*]`: channels, and the order of operations.
//!
//! Channel commands are the cycles of MQSim's interface formula, the only ones published with measured latencies beside
//! them.

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
    /// How due read-reclaim moves compete with host reads, where reads go first.
    pub enum ReclaimOrder {
        /// Their operations go in the order of arrival, and before older reads, too, after `due_bypass_limit` reads:
        /// until data has moved it is disturbed further, and by a known number of reads.
        Urgent = "urgent",
        /// As everything else that is not a host read.
        Background = "background",
    }
}

choice! {
    /// What a channel carries first when its dies wait to send and receive.
    pub enum ChannelOrder {
        /// Commands without data, so that arrays work while data of other dies leaves.
        CommandsFirst = "commands_first",
        /// Data that was read, before any command; which command a die sends is decided when it gets the channel.
        /// MQSim's habit.
        DataFirst = "data_first",
    }
}

choice! {
    /// What becomes of the priority of host reads at dies and channels.
    pub enum PriorityOrder {
        /// Of reads that wait at a die, and of data that waits for a channel, that of the highest priority goes first;
        /// after 16 in a row that went before one of a lower priority it is that one's turn (assumed).
        ByClass = "by_class",
        /// Nothing: first come first served, and a read that comes back for another attempt before all others.
        Ignored = "ignored",
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
        /// Bits that a read transfers for each bit of data: more than one if the part always uses soft sensing. In
        /// other program modes it scales with the bits needed to distinguish their levels. Programs transfer one.
        read_bits: u32 = 1, unit "bits", range 1..=16;
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
        /// How many reads may overtake a waiting program or erase before it goes first.
        read_bypass_limit: u32 = 16, unit "reads", range 0..=1_000_000;
        /// How the host's read priority is used (`order = "read_first"`).
        priorities: PriorityOrder = PriorityOrder::ByClass;
        /// How due read-reclaim moves compete with host reads, where reads go first.
        reclaim: ReclaimOrder = ReclaimOrder::Urgent;
        /// How many reads, older ones too, may go between two operations of due moves (`urgent`). With 2 the host
        /// keeps about a third of a die's read throughput while data moves from it.
        due_bypass_limit: u32 = 2, unit "reads", range 1..=1_000_000;
        /// Combine operations on different planes of a die into one multi-plane operation.
        multi_plane: bool = true;
        /// What a channel carries first when its dies wait to send and receive.
        channel: ChannelOrder = ChannelOrder::CommandsFirst;
    }
}
