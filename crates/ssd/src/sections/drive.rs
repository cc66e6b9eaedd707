//! `[drive]`: what concerns the drive as a whole.

section! {
    /// `[drive]`: what the host sees of the whole.
    pub struct DriveSection {
        /// Seed of the drive's random numbers.
        seed: u64 = 1;
        /// Capacity that the host sees; 0 derives it from over_provisioning_percent.
        logical_gib: f64 = 0.0, unit "GiB", range 0..=1_000_000;
        /// Spare capacity as a share of the logical capacity: (physical - logical) / logical.
        over_provisioning_percent: f64 = 7.0, unit "%", range 0..=10_000;
    }
}
