//! Small writes are hot: programs write metadata and indices in small pieces, and write them again; whole files come in
//! large ones.

use super::{COLD, HOT, Member, Moved, Needs, StreamId, Streams, Written, hot_or_cold};

/// Name in configurations.
pub const NAME: &str = "request_size";
/// What it does.
pub const SUMMARY: &str = "data from small requests is hot until it survives garbage collection";
/// Where it comes from.
pub const SOURCE: &str = "Chang (2008)";
/// What it costs.
pub const MEMORY: &str = "none";

section! {
    /// Parameters of `request_size`.
    pub struct Params {
        /// Requests up to this size are hot (assumed).
        hot_kib: u32 = 16, unit "KiB", range 1..=1_048_576;
    }
}

/// The policy keeps nothing.
pub type Policy = Params;

impl Member for Policy {
    fn streams(&self) -> Streams {
        Streams::shared(2)
    }

    fn learns(&self) -> bool {
        false
    }

    fn needs(&self) -> Needs {
        Needs { hints: true, ..Needs::default() }
    }

    fn of_write(&mut self, write: Written) -> StreamId {
        let sectors = write.said.sectors;
        // What is written below the buffer has no size.
        hot_or_cold(sectors > 0 && sectors <= 2 * self.hot_kib)
    }

    fn of_move(&mut self, _: Moved) -> StreamId {
        COLD
    }

    fn class(&self, stream: StreamId) -> u8 {
        u8::from(stream == HOT)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Said;
    use super::super::tests::{moved, written};
    use super::*;

    #[test]
    fn up_to_16_kib_is_hot() {
        let mut policy = Params::default();
        let of_size = |sectors| Written { said: Said { sectors, ..Said::default() }, ..written(1) };
        assert_eq!([1, 8, 32, 33, 256].map(|sectors| policy.of_write(of_size(sectors)).0), [1, 1, 1, 0, 0]);
        assert_eq!((policy.of_write(of_size(0)), policy.of_move(moved(1, 1))), (COLD, COLD));
    }
}
