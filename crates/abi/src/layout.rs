//! Wordline's C interface for policies, version 1, as Rust types: the same as `wordline_policy.h`, which explains each
//! field. Part of Wordline, and of each crate that `wordline new policy` writes.

use std::ffi::{c_char, c_void};

/// Version of the interface.
pub const ABI: u32 = 1;
/// What an answer is preset to: no answer.
pub const INVALID: u32 = u32::MAX;
/// Answer: no block.
pub const NONE: u32 = u32::MAX - 1;
/// Set in `Lane::live` where garbage collection may not choose the block.
pub const NOT_ELIGIBLE: u32 = 1 << 31;

/// The blocks of a lane, when one of them is to be chosen.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)] // in the header
pub struct Lane {
    pub abi: u32,
    pub size: u32,
    pub lane: u32,
    pub blocks: u32,
    pub units_per_block: u32,
    pub random: u32,
    pub now: u64,
    pub erases: u64,
    pub call: u64,
    pub live: *const u32,
    pub state: *const u8,
    pub erase_count: *const u32,
    pub closed_at: *const u64,
    pub wear_q12: *const u16,
}

/// A unit of data, when its stream is to be chosen.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)] // in the header
pub struct Unit {
    pub abi: u32,
    pub size: u32,
    pub kind: u32,
    pub streams: u32,
    pub clock: u64,
    pub call: u64,
    pub lpn: u32,
    pub sectors: u32,
    pub lies_in: u32,
    pub cause: u32,
    pub again: u32,
    pub placement: u32,
    pub file: u32,
    pub process: u32,
    pub context: u32,
    pub priority: u32,
}

/// `Unit::kind`: the host has written it.
pub const WRITTEN: u32 = 1;
/// It is moved.
pub const MOVED: u32 = 2;
/// It may be moved, or stay for now: do not record it.
pub const PEEKED: u32 = 3;

/// Chooses a block of a lane: writes it to `answer`, and returns 0.
pub type ChooseBlock = unsafe extern "C" fn(state: *mut c_void, lane: *const Lane, answer: *mut u32) -> i32;
/// Chooses the stream of a unit: writes it to `answer`, and returns 0.
pub type ChooseStream = unsafe extern "C" fn(state: *mut c_void, unit: *const Unit, answer: *mut u32) -> i32;

/// A policy of a library: the symbol `wordline_gc_victim`, `wordline_wear_leveling` or `wordline_stream`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)] // in the header
pub struct Policy {
    pub abi: u32,
    pub size: u32,
    pub lane_size: u32,
    pub unit_size: u32,
    pub name: *const c_char,
    pub create: Option<unsafe extern "C" fn() -> *mut c_void>,
    pub copy: Option<unsafe extern "C" fn(*const c_void) -> *mut c_void>,
    pub destroy: Option<unsafe extern "C" fn(*mut c_void)>,
    pub choose_block: Option<ChooseBlock>,
    pub choose_stream: Option<ChooseStream>,
    pub streams: u32,
    pub reserved: u32,
}

// It is read only, and what it points to as well.
unsafe impl Sync for Policy {}

impl Policy {
    /// A policy that keeps nothing and decides nothing yet: fill in `choose_block` or `choose_stream`.
    pub const fn named(name: &'static std::ffi::CStr) -> Policy {
        Policy {
            abi: ABI,
            size: size_of::<Policy>() as u32,
            lane_size: size_of::<Lane>() as u32,
            unit_size: size_of::<Unit>() as u32,
            name: name.as_ptr(),
            create: None,
            copy: None,
            destroy: None,
            choose_block: None,
            choose_stream: None,
            streams: 0,
            reserved: 0,
        }
    }
}
