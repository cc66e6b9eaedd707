//! `[drive]`: what concerns the drive as a whole, and `[drive.rating]`: what its maker promises of it.

choice! {
    /// What is written until a rating is used up.
    pub enum RatedWorkload {
        /// 4 KiB at random over the whole drive: what makers of enterprise drives say beside the number.
        Random = "random",
        /// In order, over and over: no copy is made by the drive itself.
        Sequential = "sequential",
        /// JESD219's mix of sizes and places for enterprise drives, which raters of drives are to use.
        Jesd219 = "jesd219",
    }
}

section! {
    /// `[drive]`: what the host sees of the whole.
    pub struct DriveSection {
        /// Seed of the drive's random numbers.
        seed: u64 = 1;
        /// Flash that the firmware uses, equally much of each plane, in whole blocks; 0 for all there is. Blocks beyond
        /// it are never opened; they stand in for those that the factory marked bad.
        raw_gib: f64 = 0.0, unit "GiB", range 0..=1_000_000;
        /// Capacity that the host sees; 0 derives it from raw_gib and over_provisioning_percent.
        logical_gib: f64 = 0.0, unit "GiB", range 0..=1_000_000;
        /// Flash beyond the logical capacity, as a share of it: (raw - logical) / logical. Of no effect where
        /// logical_gib is set; with raw_gib and logical_gib it follows from both, and one that is set must agree.
        over_provisioning_percent: f64 = 7.0, unit "%", range 0..=10_000;
    }
}

section! {
    /// `[drive.rating]`: what the maker promises of the drive; it changes nothing that the drive does.
    pub struct Rating {
        /// Bytes that the host may write over the drive's life (TBW; 1 TB = 10^12 bytes); 0 where nobody says.
        tbw: f64 = 0.0, unit "TB", range 0..=10_000_000;
        /// The workload that this number is for: another one, by which the drive writes less or more to its flash for
        /// each byte of the host, uses the same flash up later or sooner.
        workload: RatedWorkload = RatedWorkload::Random;
    }
}
