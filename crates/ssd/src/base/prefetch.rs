//! Asks the processor to load a table line that will be needed soon.
#![allow(unsafe_code, reason = "a prefetch has no safe form; it reads nothing and cannot fault")]

/// Starts loading the cache line of `table[index]`; does nothing if `index` is out of range.
#[inline(always)]
pub fn prefetch<T>(table: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(entry) = table.get(index) {
        // SAFETY: the pointer comes from a live reference, and prefetching has no effect but on caches.
        unsafe {
            core::arch::x86_64::_mm_prefetch(
                core::ptr::from_ref(entry).cast::<i8>(),
                core::arch::x86_64::_MM_HINT_T0,
            )
        };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (table, index);
}
