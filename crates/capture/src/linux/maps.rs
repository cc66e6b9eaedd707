//! Where a process has which code: the executable lines of `/proc/PID/maps`.

use super::sys::Tid;

/// Executable memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    pub start: u64,
    pub end: u64,
    /// From which byte of the file on.
    pub offset: u64,
    /// Of the file; 0 where there is none.
    pub inode: u64,
    pub path: String,
}

/// The executable memory of a process, in ascending order; empty if it is no more.
pub fn mappings(pid: Tid) -> Vec<Mapping> {
    let text = std::fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
    String::from_utf8_lossy(&text).lines().filter_map(mapping).collect()
}

/// A line such as `7f1c8e5f5000-7f1c8e74b000 r-xp 00026000 fe:00 1234   /usr/lib/libc.so.6` (proc(5)).
fn mapping(line: &str) -> Option<Mapping> {
    let mut words = line.splitn(6, ' ');
    let (start, end) = words.next()?.split_once('-')?;
    if words.next()?.as_bytes().get(2) != Some(&b'x') {
        return None;
    }
    let hex = |text| u64::from_str_radix(text, 16).ok();
    let offset = hex(words.next()?)?;
    let inode = words.nth(1)?.parse().ok()?;
    let path = words.next().unwrap_or_default().trim_start().to_owned();
    Some(Mapping { start: hex(start)?, end: hex(end)?, offset, inode, path })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_as_the_kernel_writes_them() {
        let line =
            "7f1c8e5f5000-7f1c8e74b000 r-xp 00026000 fe:01 1234                       /usr/lib/lib c.so.6";
        let expected = Mapping {
            start: 0x7f1c_8e5f_5000,
            end: 0x7f1c_8e74_b000,
            offset: 0x26000,
            inode: 1234,
            path: "/usr/lib/lib c.so.6".into(),
        };
        assert_eq!(mapping(line), Some(expected));
        let heap = "55a0e5c00000-55a0e5c21000 rw-p 00000000 00:00 0                          [heap]";
        assert_eq!(mapping(heap), None);
        let jit = mapping("7f1c90000000-7f1c90021000 rwxp 00000000 00:00 0 ").unwrap();
        assert_eq!((jit.inode, jit.path.as_str()), (0, ""));
        assert_eq!(mapping("garbage"), None);
    }

    #[test]
    fn this_program_is_mapped() {
        let all = mappings(std::process::id() as Tid);
        let here = this_program_is_mapped as *const () as u64;
        assert!(all.iter().any(|m| (m.start..m.end).contains(&here) && m.inode != 0), "{all:?}");
        assert!(all.windows(2).all(|two| two[0].end <= two[1].start));
    }
}
