//! What random runs came to, together.

/// What a run came to.
#[derive(Debug, Default)]
pub struct Tally {
    pub runs: u64,
    /// Steps of ageing.
    pub aged: u64,
    pub commands: u64,
    pub refused: u64,
    pub worn_out: u64,
    pub erases: u64,
    pub retired: u64,
    pub uncorrectable: u64,
    pub units_lost: u64,
    pub reclaimed: u64,
    pub replica_reads: u64,
    pub replicas: u64,
    pub adopted: u64,
    pub cuts: u64,
    pub cuts_in_programs: u64,
    pub failed_replicas: u64,
    pub mixed: u64,
    pub matched: u64,
    pub neighbour: u64,
    /// Blocks of one bit a cell destaged.
    pub destaged: u64,
    /// Locks of pages and blocks, those that failed, and units moved for them.
    pub page_locks: u64,
    pub block_locks: u64,
    pub failed_locks: u64,
    /// Locks that were set again because they were old.
    pub relocks: u64,
    pub lock_copies: u64,
    /// Times that a die stopped its work for a read.
    pub stops: u64,
    /// Wordlines scrubbed.
    pub scrubs: u64,
    /// Pages of one bit a cell scrubbed or reprogrammed, and pages copied inside chips, where a thief watches.
    pub one_bit_hidden: u64,
    pub copies: u64,
    /// Pages not copied because others of their wordline were reprogrammed.
    pub copies_refused: u64,
    /// Pages reprogrammed, and units lost on drives whose cells make no errors of their own.
    pub reprograms: u64,
    pub spoiled: u64,
    /// The longest that a page was exposed, in percent of the bound.
    pub exposed_percent: u64,
    /// Versions that a thief has looked for in vain.
    pub looked: u64,
    /// Pages read with voltages by age, none of them against what those promise ([`ssd::Stats::check`]).
    pub read_by_age: u64,
}

impl Tally {
    /// Adds what another run came to.
    pub fn add(&mut self, other: &Tally) {
        self.runs += other.runs;
        self.aged += other.aged;
        self.commands += other.commands;
        self.refused += other.refused;
        self.worn_out += other.worn_out;
        self.erases += other.erases;
        self.retired += other.retired;
        self.uncorrectable += other.uncorrectable;
        self.units_lost += other.units_lost;
        self.reclaimed += other.reclaimed;
        self.replica_reads += other.replica_reads;
        self.replicas += other.replicas;
        self.adopted += other.adopted;
        self.cuts += other.cuts;
        self.cuts_in_programs += other.cuts_in_programs;
        self.failed_replicas += other.failed_replicas;
        self.mixed += other.mixed;
        self.matched += other.matched;
        self.neighbour += other.neighbour;
        self.destaged += other.destaged;
        self.page_locks += other.page_locks;
        self.block_locks += other.block_locks;
        self.failed_locks += other.failed_locks;
        self.relocks += other.relocks;
        self.lock_copies += other.lock_copies;
        self.stops += other.stops;
        self.scrubs += other.scrubs;
        self.one_bit_hidden += other.one_bit_hidden;
        self.copies += other.copies;
        self.copies_refused += other.copies_refused;
        self.reprograms += other.reprograms;
        self.spoiled += other.spoiled;
        self.exposed_percent = self.exposed_percent.max(other.exposed_percent);
        self.looked += other.looked;
        self.read_by_age += other.read_by_age;
    }
}
