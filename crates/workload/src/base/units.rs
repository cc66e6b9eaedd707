//! Units of what stands in a trace.

ssd::choice! {
    /// Unit of a trace's time column.
    pub enum TimeUnit {
        /// What the format defines. Where it leaves that open (`mqsim`, and `csv` if the column names none): what the
        /// beginning of the trace shows, see `wordline formats mqsim`.
        Auto = "auto",
        /// Seconds.
        Seconds = "s",
        /// Milliseconds.
        Milliseconds = "ms",
        /// Microseconds.
        Microseconds = "us",
        /// Nanoseconds.
        Nanoseconds = "ns",
        /// Steps of 100 ns (Windows file time).
        Filetime = "100ns",
    }
}

ssd::choice! {
    /// Unit of a trace's addresses and sizes.
    pub enum AddressUnit {
        /// What the format defines. Where it leaves that open: bytes if all addresses and sizes of the first lines are
        /// multiples of 512 and the sizes differ, else sectors.
        Auto = "auto",
        /// Bytes.
        Bytes = "bytes",
        /// Sectors of 512 bytes.
        Sectors = "sectors",
        /// KiB.
        Kib = "kib",
        /// Pages of 4 KiB.
        Pages = "4kib",
    }
}

impl TimeUnit {
    /// Nanoseconds of one unit, or `auto` for the format's own.
    pub(crate) fn ns_or(self, auto: u64) -> u64 {
        match self {
            TimeUnit::Auto => auto,
            TimeUnit::Seconds => 1_000_000_000,
            TimeUnit::Milliseconds => 1_000_000,
            TimeUnit::Microseconds => 1_000,
            TimeUnit::Nanoseconds => 1,
            TimeUnit::Filetime => 100,
        }
    }
}

impl AddressUnit {
    /// Bytes of one unit, or `auto` for the format's own.
    pub(crate) fn bytes_or(self, auto: u64) -> u64 {
        match self {
            AddressUnit::Auto => auto,
            AddressUnit::Bytes => 1,
            AddressUnit::Sectors => 512,
            AddressUnit::Kib => 1 << 10,
            AddressUnit::Pages => 4 << 10,
        }
    }
}
