//! How much is asked for over time, in bins of one width that grow with the duration.

use crate::base::request::Request;
use ssd::signals::OpCode;

/// Most bins; when they are full, each two become one.
const BINS_MAX: usize = 512;
/// Width of the first bins, in nanoseconds.
const WIDTH_NS_MIN: u64 = 1 << 10;
/// Width of the windows that the peak is found in.
const WINDOW_NS: u64 = 1_000_000_000;

/// What arrives in a bin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bin {
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
}

impl Bin {
    #[inline]
    pub(crate) fn add(&mut self, request: &Request) {
        match request.op {
            OpCode::Read => {
                self.reads += 1;
                self.bytes_read = self.bytes_read.saturating_add(request.bytes());
            }
            OpCode::Write => {
                self.writes += 1;
                self.bytes_written = self.bytes_written.saturating_add(request.bytes());
            }
            OpCode::Trim | OpCode::Flush => {}
        }
    }

    fn merge(self, other: Bin) -> Bin {
        Bin {
            reads: self.reads + other.reads,
            writes: self.writes + other.writes,
            bytes_read: self.bytes_read.saturating_add(other.bytes_read),
            bytes_written: self.bytes_written.saturating_add(other.bytes_written),
        }
    }

    /// Reads and writes.
    pub fn requests(&self) -> u64 {
        self.reads + self.writes
    }

    /// Bytes of both.
    pub fn bytes(&self) -> u64 {
        self.bytes_read.saturating_add(self.bytes_written)
    }
}

/// The rate over time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rates {
    /// Width of a bin, in nanoseconds.
    pub bin_ns: u64,
    /// The bins from time 0 on, without those after the last request; at most 512.
    pub bins: Vec<Bin>,
    /// Most requests in one of the seconds from time 0 on.
    pub requests_per_s_max: u64,
    /// Most bytes in one of them.
    pub bytes_per_s_max: u64,
    /// What arrived in the current second, and when that began.
    window: Bin,
    window_at: u64,
}

impl Default for Rates {
    fn default() -> Self {
        Rates {
            bin_ns: WIDTH_NS_MIN,
            bins: Vec::new(),
            requests_per_s_max: 0,
            bytes_per_s_max: 0,
            window: Bin::default(),
            window_at: 0,
        }
    }
}

impl Rates {
    /// Counts a read or write.
    #[inline]
    pub(crate) fn add(&mut self, request: &Request) {
        let second = request.arrival_ns / WINDOW_NS;
        if second != self.window_at {
            self.window_at = second;
            self.window = Bin::default();
        }
        self.window.add(request);
        self.requests_per_s_max = self.requests_per_s_max.max(self.window.requests());
        self.bytes_per_s_max = self.bytes_per_s_max.max(self.window.bytes());
        let mut at = request.arrival_ns / self.bin_ns;
        while at >= BINS_MAX as u64 {
            self.widen();
            at = request.arrival_ns / self.bin_ns;
        }
        let at = at as usize;
        if at >= self.bins.len() {
            self.bins.resize(at + 1, Bin::default());
        }
        self.bins[at].add(request);
    }

    #[cold]
    fn widen(&mut self) {
        self.bin_ns *= 2;
        let merged = |pair: &[Bin]| pair.iter().fold(Bin::default(), |sum, bin| sum.merge(*bin));
        self.bins = self.bins.chunks(2).map(merged).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_widen_and_lose_nothing() {
        let mut rates = Rates::default();
        let request = |arrival_ns, op, sectors| Request { arrival_ns, op, sectors, ..Request::default() };
        // Ten reads a second for two minutes; in second 60 a hundred writes at once.
        for tenth in 0..1_200u64 {
            rates.add(&request(tenth * 100_000_000, OpCode::Read, 8));
            if tenth == 605 {
                (0..100).for_each(|_| rates.add(&request(tenth * 100_000_000, OpCode::Write, 16)));
            }
        }
        assert_eq!((rates.requests_per_s_max, rates.bytes_per_s_max), (110, 10 * 4096 + 100 * 8192));
        // 2^28 ns x 512 is 137 s, half of that too little.
        assert_eq!((rates.bin_ns, rates.bins.len()), (1 << 28, (119_900_000_000u64 >> 28) as usize + 1));
        let sum = rates.bins.iter().fold(Bin::default(), |sum, bin| sum.merge(*bin));
        let expected = Bin { reads: 1_200, writes: 100, bytes_read: 1_200 * 4096, bytes_written: 100 * 8192 };
        assert_eq!(sum, expected);
        assert_eq!(rates.bins[(60_500_000_000u64 >> 28) as usize].writes, 100);
        assert!(rates.bins.iter().all(|bin| (2..=3).contains(&bin.reads)));
        rates.add(&request(u64::MAX, OpCode::Trim, 8));
        assert!(rates.bins.len() <= BINS_MAX);
    }
}
