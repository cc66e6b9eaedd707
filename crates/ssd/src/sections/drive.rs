//! `[drive]`: what concerns the drive as a whole.

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
        /// Spare capacity as a share of the logical capacity: (raw - logical) / logical. Of no effect where logical_gib
        /// is set; with raw_gib and logical_gib it follows from both, and one that is set must agree.
        over_provisioning_percent: f64 = 7.0, unit "%", range 0..=10_000;
    }
}
