//! Requests that begin where the one before them on the same device ended.

use crate::base::request::Record;
use ssd::signals::OpCode;

/// Reads and writes that go on where another ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sequence {
    /// Sequential reads.
    pub reads: u64,
    /// Sequential writes.
    pub writes: u64,
    /// End of the last read or write of each device.
    ends: Vec<u64>,
}

impl Sequence {
    /// Looks at a read or write.
    #[inline]
    pub(crate) fn add(&mut self, record: &Record) {
        let device = usize::from(record.device);
        if self.ends.len() <= device {
            self.ends.resize(device + 1, u64::MAX);
        }
        let request = &record.request;
        if self.ends[device] == request.lba {
            match request.op {
                OpCode::Read => self.reads += 1,
                _ => self.writes += 1,
            }
        }
        self.ends[device] = request.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::request::Request;

    #[test]
    fn each_device_goes_on_by_itself() {
        let mut sequence = Sequence::default();
        for (device, op, lba) in [
            (0, OpCode::Read, 0), // the first is no sequence, though it begins at 0
            (1, OpCode::Read, 8),
            (0, OpCode::Write, 8),
            (1, OpCode::Read, 16),
            (1, OpCode::Read, 16),
            (0, OpCode::Write, 17),
        ] {
            let request = Request { op, lba, sectors: 8, ..Request::default() };
            sequence.add(&Record { request, device });
        }
        assert_eq!((sequence.reads, sequence.writes), (1, 1));
    }
}
