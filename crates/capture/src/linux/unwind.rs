//! From a stopped thread to its call stack. All processes share one unwinder: it knows each module once, at an address
//! of its own, and addresses of processes are translated to those.

use std::rc::Rc;

use framehop::{FrameAddress, Unwinder as _};
use workload::capture::{Module, Stack};

use super::maps::{Mapping, mappings};
use super::modules::{Bytes, Known, Modules};
use super::sys::{self, Registers, Tid};

#[cfg(target_arch = "aarch64")]
use framehop::aarch64::{CacheAarch64 as Cache, PtrAuthMask, UnwindRegsAarch64, UnwinderAarch64 as Unwinder};
#[cfg(target_arch = "x86_64")]
use framehop::x86_64::{CacheX86_64 as Cache, UnwindRegsX86_64, UnwinderX86_64 as Unwinder};

/// Bytes of stack that are copied, where the first end too early the second: most stacks are short, and copying costs.
const COPIED: [usize; 2] = [16 << 10, 256 << 10];
/// What the last stack has needed is copied first, in pieces of this size.
const PIECE: usize = 4 << 10;
/// A stack of more frames is cut: it is deeper than any that was met without recursion gone wild.
const FRAMES_MAX: usize = 4096;

/// Executable memory of a process.
struct Range {
    start: u64,
    end: u64,
    /// The module, and what to add to an address to get that of the module.
    of: Option<(Known, u64)>,
}

/// Where a process has its code.
#[derive(Default)]
pub struct Space {
    ranges: Vec<Range>,
}

impl Space {
    fn find(&self, address: u64) -> Option<&Range> {
        let at = self.ranges.partition_point(|range| range.end <= address);
        self.ranges.get(at).filter(|range| range.start <= address)
    }
}

/// Walks stacks.
pub struct Walker {
    unwinder: Unwinder<Bytes>,
    cache: Cache,
    modules: Modules,
    copy: Vec<u8>,
    frames: Vec<(u32, u64)>,
    /// Bytes of stack that the last one has needed.
    needed: usize,
}

impl Walker {
    pub fn new() -> Self {
        Walker {
            unwinder: Unwinder::new(),
            cache: Cache::new(),
            modules: Modules::default(),
            copy: vec![0; COPIED[1]],
            frames: Vec::new(),
            needed: COPIED[0],
        }
    }

    /// Where a process has its code now. Modules that are new are told.
    pub fn space(&mut self, pid: Tid, tell: &mut impl FnMut(Module)) -> Rc<Space> {
        let range = |mapping: Mapping| {
            let mut add = |module: Module, unwindable| {
                self.unwinder.add_module(unwindable);
                tell(module);
            };
            let found = self.modules.find(pid, &mapping, &mut add);
            let of = found.map(|(known, address)| (known, address.wrapping_sub(mapping.start)));
            Range { start: mapping.start, end: mapping.end, of }
        };
        Rc::new(Space { ranges: mappings(pid).into_iter().map(range).collect() })
    }

    /// The stack of a stopped thread.
    pub fn stack(&mut self, tid: Tid, registers: &Registers, space: &Space) -> Stack {
        let first = self.needed.next_multiple_of(PIECE);
        let mut is_whole = false;
        for bytes in [first, COPIED[0].max(first), COPIED[1]] {
            let copied = sys::read_memory(tid, registers.sp, &mut self.copy[..bytes]);
            is_whole = self.walk(registers, space, copied);
            // Less than asked for: there the stack ends.
            if is_whole || copied < bytes {
                break;
            }
        }
        Stack { frames: self.frames.clone(), is_whole }
    }

    /// Walks up the copy as far as it goes; whether that was to the beginning of the thread.
    fn walk(&mut self, registers: &Registers, space: &Space, copied: usize) -> bool {
        self.frames.clear();
        let copy = &self.copy[..copied];
        let mut needed = 0;
        let sp = registers.sp;
        let mut read = |address: u64| {
            let at = usize::try_from(address.wrapping_sub(sp)).map_err(|_| ())?;
            let end = at.checked_add(8).ok_or(())?;
            let bytes = copy.get(at..end).ok_or(())?;
            needed = needed.max(end);
            Ok(u64::from_le_bytes(bytes.try_into().map_err(|_| ())?))
        };
        let mut unwound = unwind_registers(registers);
        let mut address = registers.pc;
        while self.frames.len() < FRAMES_MAX {
            // A call may be the last instruction of its function: the return address is behind it.
            let is_first = self.frames.is_empty();
            let found = space.find(if is_first { address } else { address - 1 });
            let Some((known, add)) = found.and_then(|range| range.of) else { return false };
            let in_module = address.wrapping_add(add);
            self.frames.push((known.place, in_module));
            let at = known.base + in_module;
            let frame = match is_first {
                true => Some(FrameAddress::from_instruction_pointer(at)),
                false => FrameAddress::from_return_address(at),
            };
            let Some(frame) = frame else { return false };
            match self.unwinder.unwind_frame(frame, &mut unwound, &mut self.cache, &mut read) {
                Ok(None | Some(0)) => {
                    self.needed = needed;
                    return true;
                }
                Ok(Some(next)) => address = next,
                Err(_) => return false,
            }
        }
        false
    }
}

#[cfg(target_arch = "x86_64")]
fn unwind_registers(registers: &Registers) -> UnwindRegsX86_64 {
    UnwindRegsX86_64::new(registers.pc, registers.sp, registers.fp)
}

#[cfg(target_arch = "aarch64")]
fn unwind_registers(registers: &Registers) -> UnwindRegsAarch64 {
    // Addresses of programs have 48 bits; pointer authentication uses the bits above them.
    let mask = PtrAuthMask(u64::MAX >> 16);
    UnwindRegsAarch64::new_with_ptr_auth_mask(mask, registers.lr, registers.sp, registers.fp)
}
