//! Allocators for programs that run drives: one that puts large tables on 2-MiB pages, one that counts.
//!
//! A drive's tables (the map, its inverse) are larger than any cache, and requests touch them at random. With
//! 4-KiB memory pages such a touch misses the TLB as well as the cache. [`HugePages`] asks the kernel for 2-MiB
//! pages (`madvise(MADV_HUGEPAGE)`, Linux `Documentation/admin-guide/mm/transhuge.rst`), which works wherever
//! `/sys/kernel/mm/transparent_hugepage/enabled` says `madvise` or `always`, and costs nothing where it does not.
//! Fresh mappings are zero, so a `vec![0; n]` of a terabyte drive touches no memory until it is used.
//!
//! A first touch makes a whole page zero. Of tables far larger than what a run will touch, that is nearly all of the
//! time: 675 us for a random write to a fresh drive of 17.6 TiB, 17 us with ordinary ones. Those stay on these.
//!
//! Both are used as `#[global_allocator]` of a binary or a test, never inside the simulator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Size of a huge page on x86-64 and on AArch64 with 4-KiB granules; bytes.
pub const HUGE_PAGE_BYTES: usize = 2 << 20;

/// Allocations of at least this many bytes get a mapping of their own.
pub const HUGE_ALLOCATION_BYTES: usize = 2 * HUGE_PAGE_BYTES;

/// Larger ones stay on ordinary pages: the map of a drive of more than 1 TiB.
pub const HUGE_ALLOCATION_BYTES_MAX: usize = 1 << 30;

/// The system allocator, with every allocation of [`HUGE_ALLOCATION_BYTES`] to [`HUGE_ALLOCATION_BYTES_MAX`] on huge
/// pages.
///
/// On other systems than Linux it is [`System`] and nothing else.
#[derive(Clone, Copy, Debug, Default)]
pub struct HugePages;

/// Does an allocation of this layout get its own mapping?
///
/// Derived from the layout alone, so that `dealloc` and `realloc` come to the answer that `alloc` came to.
const fn is_mapped(size: usize, align: usize) -> bool {
    cfg!(target_os = "linux") && size >= HUGE_ALLOCATION_BYTES && align <= HUGE_PAGE_BYTES
}

// SAFETY: a layout for which `is_mapped` holds is served by `mapping` from its allocation to its release, any other
// by `System`; both return blocks that are aligned, disjoint and live until released. `realloc` moves a block from
// one to the other by copying the smaller of the two sizes.
unsafe impl GlobalAlloc for HugePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_mapped(layout.size(), layout.align()) {
            return mapping::map(layout.size());
        }
        // SAFETY: the caller's promises about `layout` are those that `System` asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if is_mapped(layout.size(), layout.align()) {
            return mapping::map(layout.size()); // zero by nature, and not touched
        }
        // SAFETY: as in `alloc`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if is_mapped(layout.size(), layout.align()) {
            // SAFETY: `block` came from `map` or `remap` with this size, for the layout is the same.
            return unsafe { mapping::unmap(block, layout.size()) };
        }
        // SAFETY: `block` came from `System` with this layout.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        let was_mapped = is_mapped(layout.size(), layout.align());
        let will_be_mapped = is_mapped(new_size, layout.align());
        match (was_mapped, will_be_mapped) {
            // SAFETY: `block` came from `System` with this layout, and stays there.
            (false, false) => unsafe { System.realloc(block, layout, new_size) },
            // SAFETY: `block` came from `mapping` with this size, and stays there.
            (true, true) => unsafe { mapping::remap(block, layout.size(), new_size) },
            _ => {
                // SAFETY: the caller promises that `new_size`, rounded up to the alignment, does not overflow
                // `isize`. The two blocks are disjoint and both hold at least the bytes copied.
                unsafe {
                    let new_block = self.alloc(Layout::from_size_align_unchecked(new_size, layout.align()));
                    if !new_block.is_null() {
                        block.copy_to_nonoverlapping(new_block, layout.size().min(new_size));
                        self.dealloc(block, layout);
                    }
                    new_block
                }
            }
        }
    }
}

/// Anonymous mappings in whole huge pages, aligned to them.
#[cfg(target_os = "linux")]
mod mapping {
    use crate::base::memory::{HUGE_ALLOCATION_BYTES_MAX, HUGE_PAGE_BYTES};
    use std::ptr::null_mut;

    /// The mapped length behind a block of `size` bytes.
    ///
    /// Cannot overflow: a `Layout` is at most `isize::MAX` bytes.
    const fn mapped_length(size: usize) -> usize {
        size.next_multiple_of(HUGE_PAGE_BYTES)
    }

    /// Reserves `length` bytes of address space, aligned to a huge page, with the given protection.
    fn reserve_aligned(length: usize, protection: libc::c_int) -> *mut u8 {
        let Some(padded) = length.checked_add(HUGE_PAGE_BYTES) else { return null_mut() };
        // SAFETY: a new private anonymous mapping, placed by the kernel, touches no existing memory.
        let raw = unsafe {
            libc::mmap(null_mut(), padded, protection, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0)
        };
        if raw == libc::MAP_FAILED {
            return null_mut();
        }
        let raw = raw.cast::<u8>();
        let head = raw.addr().next_multiple_of(HUGE_PAGE_BYTES) - raw.addr();
        let block = raw.wrapping_add(head);
        // SAFETY: head and tail lie inside the mapping just made and outside `block..block + length`; all bounds are
        // multiples of the memory page, since mmap's result and HUGE_PAGE_BYTES are.
        unsafe {
            release(raw, head);
            release(block.wrapping_add(length), HUGE_PAGE_BYTES - head);
        }
        block
    }

    /// Gives `length` mapped bytes at `start` back to the kernel; nothing if `length` is 0.
    ///
    /// # Safety
    /// The range is page-aligned, mapped by this module and not used any more.
    unsafe fn release(start: *mut u8, length: usize) {
        if length > 0 {
            // SAFETY: promised by the caller. A failure (out of mapping descriptors) leaks the range, no more.
            unsafe { libc::munmap(start.cast(), length) };
        }
    }

    /// A zeroed, untouched block of `size` bytes, or null.
    pub(super) fn map(size: usize) -> *mut u8 {
        let length = mapped_length(size);
        let block = reserve_aligned(length, libc::PROT_READ | libc::PROT_WRITE);
        if !block.is_null() {
            // The second is for systems where huge pages are `always` taken.
            let is_huge = length <= HUGE_ALLOCATION_BYTES_MAX;
            let advice = if is_huge { libc::MADV_HUGEPAGE } else { libc::MADV_NOHUGEPAGE };
            // SAFETY: the range was mapped just now. Advice may fail; the block is good without it.
            unsafe { libc::madvise(block.cast(), length, advice) };
        }
        block
    }

    /// Releases a block.
    ///
    /// # Safety
    /// `block` came from `map` or `remap` with this `size`.
    pub(super) unsafe fn unmap(block: *mut u8, size: usize) {
        // SAFETY: promised by the caller.
        unsafe { release(block, mapped_length(size)) }
    }

    /// Resizes a block, by moving page tables rather than bytes where it has to move.
    ///
    /// # Safety
    /// As for `unmap`, with `size`; the block is the returned one afterwards, unless null is returned.
    pub(super) unsafe fn remap(block: *mut u8, size: usize, new_size: usize) -> *mut u8 {
        let (length, new_length) = (mapped_length(size), mapped_length(new_size));
        if new_length <= length {
            // SAFETY: the tail is part of the block and beyond its new size.
            unsafe { release(block.wrapping_add(new_length), length - new_length) };
            return block;
        }
        // SAFETY: promised by the caller; without MREMAP_MAYMOVE the block stays where it is or the call fails.
        let grown = unsafe { libc::mremap(block.cast(), length, new_length, 0) };
        if grown != libc::MAP_FAILED {
            return block;
        }
        let target = reserve_aligned(new_length, libc::PROT_NONE);
        if target.is_null() {
            return null_mut();
        }
        // SAFETY: `target` is ours, unused and `new_length` long; the move replaces it as a whole. Protection and
        // advice travel with the block.
        let moved = unsafe {
            let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
            libc::mremap(block.cast(), length, new_length, flags, target.cast::<libc::c_void>())
        };
        if moved == libc::MAP_FAILED {
            // SAFETY: the move failed, so `target` is still the unused reservation.
            unsafe { release(target, new_length) };
            return null_mut();
        }
        moved.cast()
    }
}

/// There are no mappings on other systems: `is_mapped` is false for all layouts.
#[cfg(not(target_os = "linux"))]
mod mapping {
    pub(super) fn map(_size: usize) -> *mut u8 {
        std::ptr::null_mut()
    }

    pub(super) unsafe fn unmap(_block: *mut u8, _size: usize) {}

    pub(super) unsafe fn remap(_block: *mut u8, _size: usize, _new_size: usize) -> *mut u8 {
        std::ptr::null_mut()
    }
}

/// Any allocator, with a count of the allocations made through it by each thread.
///
/// Made for the test that nothing allocates inside the event loop: make it the `#[global_allocator]` of a test,
/// read [`thread_allocations`] before and after.
#[derive(Clone, Copy, Debug, Default)]
pub struct CountingAlloc<A>(pub A);

thread_local! {
    // A constant initial value and no destructor: reading it can neither allocate nor fail.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// Allocations and reallocations made by the calling thread through a [`CountingAlloc`] since the thread began.
pub fn thread_allocations() -> u64 {
    ALLOCATIONS.get()
}

fn count_one() {
    ALLOCATIONS.set(ALLOCATIONS.get() + 1);
}

// SAFETY: every call is handed on unchanged to an allocator that keeps the contract.
unsafe impl<A: GlobalAlloc> GlobalAlloc for CountingAlloc<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count_one();
        // SAFETY: handed on unchanged.
        unsafe { self.0.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count_one();
        // SAFETY: handed on unchanged.
        unsafe { self.0.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: handed on unchanged.
        unsafe { self.0.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count_one();
        // SAFETY: handed on unchanged.
        unsafe { self.0.realloc(block, layout, new_size) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[global_allocator]
    static GLOBAL: CountingAlloc<HugePages> = CountingAlloc(HugePages);

    /// Sizes on both sides of every border: small ones, the threshold, whole and broken huge pages.
    const SIZES: [usize; 14] = [
        1,
        64,
        4096,
        HUGE_PAGE_BYTES,
        HUGE_ALLOCATION_BYTES - 1,
        HUGE_ALLOCATION_BYTES,
        HUGE_ALLOCATION_BYTES + 1,
        3 * HUGE_PAGE_BYTES - 1,
        3 * HUGE_PAGE_BYTES,
        3 * HUGE_PAGE_BYTES + 4097,
        8 * HUGE_PAGE_BYTES,
        8 * HUGE_PAGE_BYTES + 1,
        9 * HUGE_PAGE_BYTES - 4096,
        33 * HUGE_PAGE_BYTES + 7,
    ];

    fn layout(size: usize, align: usize) -> Layout {
        Layout::from_size_align(size, align).expect("the tests' layouts are valid")
    }

    /// Writes a pattern into the bytes of a block that a test then looks for: both ends and one byte per page.
    fn probes(size: usize) -> impl Iterator<Item = usize> {
        (0..size).step_by(4093).chain([size - 1])
    }

    fn pattern(index: usize) -> u8 {
        (index.wrapping_mul(0x9e37_79b9) >> 13) as u8 | 1
    }

    #[test]
    fn blocks_are_aligned_and_writable() {
        for size in SIZES {
            for align in [1, 8, 64, 4096, HUGE_PAGE_BYTES, 2 * HUGE_PAGE_BYTES] {
                let layout = layout(size, align);
                // SAFETY: the size is not 0; the block is used inside its bounds and released with its layout.
                unsafe {
                    let block = HugePages.alloc(layout);
                    assert!(!block.is_null());
                    assert_eq!(block.addr() % align, 0, "size {size}, align {align}");
                    if is_mapped(size, align) {
                        assert_eq!(block.addr() % HUGE_PAGE_BYTES, 0, "size {size}, align {align}");
                    }
                    probes(size).for_each(|i| block.add(i).write(pattern(i)));
                    probes(size).for_each(|i| assert_eq!(block.add(i).read(), pattern(i)));
                    HugePages.dealloc(block, layout);
                }
            }
        }
    }

    #[test]
    fn zeroed_blocks_are_zero_also_where_memory_was_used_before() {
        for _ in 0..3 {
            for size in SIZES {
                let layout = layout(size, 16);
                // SAFETY: as above.
                unsafe {
                    let block = HugePages.alloc_zeroed(layout);
                    assert!(!block.is_null());
                    assert!(probes(size).all(|i| block.add(i).read() == 0), "size {size}");
                    probes(size).for_each(|i| block.add(i).write(0xff));
                    HugePages.dealloc(block, layout);
                }
            }
        }
    }

    #[test]
    fn realloc_keeps_contents_between_any_two_sizes() {
        for from in SIZES {
            for to in SIZES {
                // SAFETY: as above; after `realloc` the block has the new size.
                unsafe {
                    let mut block = HugePages.alloc(layout(from, 8));
                    probes(from).for_each(|i| block.add(i).write(pattern(i)));
                    block = HugePages.realloc(block, layout(from, 8), to);
                    assert!(!block.is_null());
                    if is_mapped(to, 8) {
                        assert_eq!(block.addr() % HUGE_PAGE_BYTES, 0, "{from} to {to}");
                    }
                    for i in probes(from).filter(|&i| i < to) {
                        assert_eq!(block.add(i).read(), pattern(i), "{from} to {to}, byte {i}");
                    }
                    probes(to).for_each(|i| block.add(i).write(1));
                    HugePages.dealloc(block, layout(to, 8));
                }
            }
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_block_with_a_neighbour_moves_and_keeps_its_contents() {
        let size = HUGE_ALLOCATION_BYTES;
        // SAFETY: as above. The neighbour sits at the end of the first block if the kernel allows it, so that
        // growing has to move; whether it does or not, the contents must survive.
        unsafe {
            let first = HugePages.alloc(layout(size, 8));
            let blocks: Vec<*mut u8> = (0..64).map(|_| HugePages.alloc(layout(size, 8))).collect();
            let has_neighbour = blocks.iter().any(|b| b.addr() == first.addr() + size);
            probes(size).for_each(|i| first.add(i).write(pattern(i)));
            let grown = HugePages.realloc(first, layout(size, 8), 5 * size);
            assert!(!has_neighbour || grown != first);
            assert!(probes(size).all(|i| grown.add(i).read() == pattern(i)));
            assert_eq!(grown.add(5 * size - 1).read(), 0, "the new part of a mapping is fresh");
            blocks.iter().for_each(|&b| HugePages.dealloc(b, layout(size, 8)));
            HugePages.dealloc(grown, layout(5 * size, 8));
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn an_untouched_table_costs_no_memory() {
        let before = crate::base::process::rss_bytes().expect("Linux reports the resident size");
        let table = vec![0u64; 128 << 20]; // 1 GiB
        let after = crate::base::process::rss_bytes().expect("Linux reports the resident size");
        assert_eq!(table[table.len() / 2], 0);
        assert!(after < before + (256 << 20), "resident size rose from {before} to {after}");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_touch_of_a_very_large_table_costs_little() {
        const BYTES: usize = 2 * HUGE_ALLOCATION_BYTES_MAX;
        let mut table = vec![0u8; BYTES];
        let before = crate::base::process::rss_bytes().expect("Linux reports the resident size");
        table.iter_mut().step_by(BYTES / 64).for_each(|byte| *byte = 1);
        let after = crate::base::process::rss_bytes().expect("Linux reports the resident size");
        // 64 huge pages would be 128 MiB; other tests go on meanwhile.
        assert!(after < before + (32 << 20), "resident size rose from {before} to {after}");
    }

    #[test]
    fn impossible_sizes_return_null() {
        let huge = layout(isize::MAX as usize - HUGE_PAGE_BYTES, 8);
        // SAFETY: a valid layout; the block is null and not used.
        assert!(unsafe { HugePages.alloc(huge) }.is_null());
    }

    #[test]
    fn vectors_grow_through_all_sizes() {
        let mut values = Vec::new();
        for i in 0..3_000_000u64 {
            values.push(i);
        }
        values.truncate(100_000);
        values.shrink_to_fit();
        assert!(values.iter().copied().eq(0..100_000));
    }

    #[test]
    fn allocations_are_counted_per_thread() {
        use std::hint::black_box;
        let before = thread_allocations();
        let mut values = black_box(Vec::<u32>::with_capacity(4));
        values.extend([1, 2, 3, 4]);
        assert_eq!(thread_allocations() - before, 1);
        values.reserve_exact(100);
        assert_eq!(thread_allocations() - before, 2, "a reallocation counts");
        let zeroed = black_box(vec![0u32; 1000]);
        assert_eq!(thread_allocations() - before, 3);
        let sum: u32 = values.iter().chain(&zeroed).sum();
        assert_eq!((sum, thread_allocations() - before), (10, 3), "using memory does not count");
        let elsewhere = std::thread::spawn(|| {
            let own_before = thread_allocations();
            (0..1000).for_each(|i| drop(black_box(Box::new(i))));
            thread_allocations() - own_before
        });
        assert_eq!(elsewhere.join().ok(), Some(1000));
        assert!(thread_allocations() - before < 100, "another thread's allocations do not count here");
    }
}
