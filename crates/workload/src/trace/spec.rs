//! What a workload of a trace can be told.

use crate::base::settings::settings;
use crate::base::shape::{Devices, SpeedUp};
use crate::base::units::{AddressUnit, TimeUnit};
use crate::reader::{Columns, Event, Header, OnBadLine, OnTimeStepBack, ReadOptions, Separator};
use crate::stack::drives::{DRIVES_MAX, Drives};
use crate::stack::map_hints::MapHints;
use crate::stack::priorities::PriorityShares;
use crate::trace::address::AddressPolicy;
use crate::trace::operations::Operations;
use std::path::PathBuf;

settings! {
    /// A recorded trace and what is to be done with it. Order: choose devices, processes, operations, addresses and
    /// times, skip, take the first requests, repeat, speed up, place addresses, copy.
    pub struct TraceSpec {
        /// The trace file, plain or compressed (`wordline formats`), or a folder of blktrace's; `-`: standard input.
        path: PathBuf = PathBuf::new(), unit "", allowed "a path",
            if |path| !path.as_os_str().is_empty();
        /// Name of the trace's format, or `auto` to recognise it by content.
        format: String = "auto".to_string(), unit "", allowed "", if |_| true;
        /// Unit of the time column, to override the format's.
        time_unit: TimeUnit = TimeUnit::Auto, unit "", allowed "", if |_| true;
        /// Unit of addresses and sizes, to override the format's.
        address_unit: AddressUnit = AddressUnit::Auto, unit "", allowed "", if |_| true;
        /// Which events of a block trace are requests: Q (or queue), D (or issue: what the drive got) or C (complete).
        event: Event = Event::Auto, unit "", allowed "", if |_| true;
        /// What the columns of a `csv` are, by number from 1 or by name in its header; empty for all other formats.
        columns: Columns = Columns::default(), unit "", allowed "", if |_| true;
        /// What separates the columns of a `csv`.
        separator: Separator = Separator::default(), unit "", allowed "", if |_| true;
        /// Whether a `csv` begins with a line that names its columns.
        header: Header = Header::Auto, unit "", allowed "", if |_| true;
        /// What to do with a line that cannot be parsed.
        on_bad_line: OnBadLine = OnBadLine::Error, unit "", allowed "", if |_| true;
        /// What to do with a request that arrives before the one above it.
        on_time_step_back: OnTimeStepBack = OnTimeStepBack::Clamp, unit "", allowed "", if |_| true;
        /// How several devices are laid out: one after the other, on top of each other, or only one or some of them.
        devices: Devices = Devices::Concatenate, unit "", allowed "", if |_| true;
        /// Whether several devices are one drive, laid out as `devices` says, or each is a drive of its own; or all is
        /// for a volume of drives in a stripe (RAID 0).
        drives: Drives = Drives::Together, unit "", allowed "", if |_| true;
        /// With drives = "striped": how many make the volume.
        stripe_drives: u64 = 2, unit "", allowed "2 to 64", if |n| (2..=DRIVES_MAX as u64).contains(n);
        /// With drives = "striped": what lies on a drive before the next one comes; 512 is the default of Linux's
        /// mdadm.
        stripe_kib: u64 = 512, unit "KiB", allowed "a power of two from 4 to 65536",
            if |kib| kib.is_power_of_two() && (4..=65_536).contains(kib);
        /// How addresses are placed on the drive: densely packed, modulo its size, or unchanged.
        address: AddressPolicy = AddressPolicy::Compact, unit "", allowed "", if |_| true;
        /// Granularity at which `compact` and `wrap` move addresses.
        granularity_kib: u64 = 4, unit "KiB", allowed "a power of two from 4 to 1024",
            if |kib| kib.is_power_of_two() && (4..=1024).contains(kib);
        /// Use only requests of this process (its name, or its number if the trace has no names); empty for all.
        process: String = String::new(), unit "", allowed "", if |_| true;
        /// Use only these operations.
        operations: Operations = Operations::default(), unit "", allowed "", if |_| true;
        /// Use only requests that begin at or after this sector of their device.
        from_sector: u64 = 0, unit "sectors", allowed "", if |_| true;
        /// Use only requests that begin before this sector of their device; 0 for all.
        end_sector: u64 = 0, unit "sectors", allowed "", if |_| true;
        /// Use only requests from this time of the trace on; the first of them then arrives at 0.
        from_s: f64 = 0.0, unit "s", allowed "from 0 to 4e9", if |s| (0.0..=4e9).contains(s);
        /// Use only requests before this time of the trace; 0 for all.
        to_s: f64 = 0.0, unit "s", allowed "from 0 to 4e9", if |s| (0.0..=4e9).contains(s);
        /// Skip this many of the remaining requests from the start; the next one arrives at 0.
        skip: u64 = 0, unit "requests", allowed "", if |_| true;
        /// Use only this many of the remaining requests from the start; 0 for all.
        first: u64 = 0, unit "requests", allowed "", if |_| true;
        /// Number of passes over the trace; each starts one mean gap after the previous one.
        repeat: u64 = 1, unit "", allowed "a whole number from 1", if |n| *n >= 1;
        /// Divide arrival times by this.
        speed_up: SpeedUp = SpeedUp::default(), unit "", allowed "", if |_| true;
        /// Users who all send these requests, each with its own gaps: the trace's times U(0,2); 1 for the trace's
        /// own gaps. Each reads the trace separately.
        copies: u64 = 1, unit "", allowed "1 to 1000", if |n| (1..=1000).contains(n);
        /// Page cache above the drive, like an operating system's; 0 for none.
        page_cache_mib: f64 = 0.0, unit "MiB", allowed "0 to 1e6", if |x| (0.0..=1e6).contains(x);
        /// A plain LRU page cache: no read-ahead, no flusher, dirty pages are written when they are evicted.
        plain_lru: bool = false, unit "", allowed "", if |_| true;
        /// Hints derived from others, which tell the drive which files, processes or program contexts belong
        /// together: `process 3 -> stream 2; context -> stream % 8`.
        map_hints: MapHints = MapHints::default(), unit "", allowed "", if |_| true;
        /// Shares of low, medium and high priority, drawn for requests that have none (after `map_hints`).
        priority_shares: PriorityShares = PriorityShares::default(), unit "", allowed "", if |_| true;
        /// Seed of the copies' gaps and of drawn priorities.
        seed: u64 = 1, unit "", allowed "", if |_| true;
    }
}

impl TraceSpec {
    pub(crate) fn read_options(&self) -> ReadOptions {
        ReadOptions {
            time_unit: self.time_unit,
            address_unit: self.address_unit,
            event: self.event,
            columns: self.columns.clone(),
            separator: self.separator,
            header: self.header,
            on_bad_line: self.on_bad_line,
            on_time_step_back: self.on_time_step_back,
            devices: self.devices.only().to_vec(),
        }
    }
}
