//! Numbers of binary records.

/// Which byte of a number comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Endian {
    Little,
    Big,
}

/// Declares how numbers of each size are read; a number that is cut off is 0.
macro_rules! numbers {
    ($($number:ident),*) => {
        impl Endian {
            $(
                #[inline]
                pub(crate) fn $number(self, record: &[u8], at: usize) -> $number {
                    let bytes = record.get(at..).and_then(|rest| rest.first_chunk()).copied().unwrap_or_default();
                    match self {
                        Endian::Little => $number::from_le_bytes(bytes),
                        Endian::Big => $number::from_be_bytes(bytes),
                    }
                }
            )*
        }
    };
}

numbers!(u16, u32, u64);
