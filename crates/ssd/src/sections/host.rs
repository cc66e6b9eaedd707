//! `[host.*]`: queues, the link and the controller's processors.

choice! {
    /// Which command is fetched next.
    pub enum Arbitration {
        /// That of the queue whose turn it is.
        RoundRobin = "round_robin",
        /// The read of the highest priority that waits in any queue, of equal ones round robin; after 16 that went
        /// before one of a lower priority it is that one's turn (assumed). Writes, trims and flushes count as medium
        /// and keep their order.
        Priority = "priority",
    }
}

section! {
    /// `[host]`: what the drive lets through.
    pub struct HostSection {
        /// Data of writes that is taken at most while garbage collection has to move data (1 MB = 1,000,000 bytes); 0
        /// for no limit. It stands for a limit that the flash does not explain, and leaves alone what is written in
        /// sequence, of which nothing is moved.
        write_cap_mb_s: f64 = 0.0, unit "MB/s", range 0..=1_000_000;
    }
}

section! {
    /// `[host.queues]`: submission queues.
    pub struct Queues {
        /// Submission queues, served round robin.
        count: u32 = 1, unit "queues", range 1..=65_536;
        /// Commands that each queue holds; more if a run keeps more in flight and this was not set.
        depth: u32 = 256, unit "commands", range 1..=65_536;
        /// Which command is fetched next.
        arbitration: Arbitration = Arbitration::RoundRobin;
    }
}

section! {
    /// `[host.link]`: between host and drive, the same in each direction.
    pub struct Link {
        /// Data rate in each direction (1 MB = 1,000,000 bytes).
        bandwidth_mb_s: f64 = 7_000.0, unit "MB/s", range 0.001..=1_000_000;
        /// Delay of a command or completion, each way.
        latency_us: f64 = 1.0, unit "us", range 0..=1_000_000;
    }
}

section! {
    /// `[host.read_ahead]`: what a sequential stream of reads will ask for next is brought to the buffer before.
    pub struct ReadAhead {
        /// How far ahead of the last data asked for; 0 reads nothing ahead.
        size_kib: u32 = 0, unit "KiB", range 0..=4_096;
        /// Reads that adjoin before it begins.
        after: u32 = 2, unit "reads", range 1..=1_000;
    }
}

section! {
    /// `[host.firmware]`: the controller's processors.
    pub struct Firmware {
        /// Processor time for each command.
        t_command_us: f64 = 0.5, unit "us", range 0..=1_000_000;
        /// What a trim takes beside it, however short it is.
        t_trim_us: f64 = 0.0, unit "us", range 0..=1_000_000;
        /// And for each mapping unit that it covers.
        t_trim_unit_ns: u32 = 0, unit "ns", range 0..=1_000_000;
    }
}
