//! Calls of C functions, as the core makes them: records are filled, the answer is preset, and what comes back is read.

use crate::family::Family;
use crate::layout::{
    ABI, ChooseBlock, ChooseStream, INVALID, Lane, MOVED, NONE, PEEKED, Unit as Record, WRITTEN,
};
use ssd::external::{Identity, LaneCall, LanePolicy, StreamPolicy, Unit, UnitCall};
use std::ffi::c_void;
use std::fmt;
use std::sync::Arc;

/// What a policy in C keeps: made at its first call, copied if its library can do that, and given back to it.
pub(crate) struct State {
    maker: Maker,
    at: *mut c_void,
    is_made: bool,
    /// It is a copy of one that cannot be copied.
    is_lost: bool,
}

/// Functions of a library for a policy's state.
#[derive(Clone, Copy, Default)]
pub(crate) struct Maker {
    pub create: Option<unsafe extern "C" fn() -> *mut c_void>,
    pub copy: Option<unsafe extern "C" fn(*const c_void) -> *mut c_void>,
    pub destroy: Option<unsafe extern "C" fn(*mut c_void)>,
}

// The header says so: a policy is called by one thread at a time, which need not be the same, and a copy is made by
// whoever holds the drive.
unsafe impl Send for State {}
unsafe impl Sync for State {}

impl State {
    pub fn new(maker: Maker) -> Self {
        State { maker, at: std::ptr::null_mut(), is_made: false, is_lost: false }
    }

    /// What the next call is given.
    #[inline]
    fn get(&mut self) -> Result<*mut c_void, String> {
        if !self.is_made {
            self.make()?;
        }
        Ok(self.at)
    }

    #[cold]
    fn make(&mut self) -> Result<(), String> {
        if self.is_lost {
            return Err("it is a copy of a drive in use, and its library has no `copy`".to_owned());
        }
        if let Some(create) = self.maker.create {
            // Safety: a function of the library's policy, which stays loaded.
            self.at = unsafe { create() };
            if self.at.is_null() {
                return Err("`create` returned NULL".to_owned());
            }
        }
        self.is_made = true;
        Ok(())
    }

    fn copied(&self) -> Self {
        let mut copy = State::new(self.maker);
        if self.is_made && self.maker.create.is_some() {
            match self.maker.copy {
                // Safety: as above; the state is one that `create` or `copy` made.
                Some(function) => copy.at = unsafe { function(self.at) },
                None => copy.is_lost = true,
            }
            copy.is_made = !copy.at.is_null();
            copy.is_lost = !copy.is_made;
        } else {
            copy.is_lost = self.is_lost;
        }
        copy
    }
}

impl Drop for State {
    fn drop(&mut self) {
        if let Some(destroy) = self.maker.destroy.filter(|_| self.is_made && !self.at.is_null()) {
            // Safety: as above, and nobody else has it.
            unsafe { destroy(self.at) };
        }
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "State(made: {})", self.is_made)
    }
}

/// What an answer and a status mean: the answer, if there is one.
#[inline]
fn read(status: i32, answer: u32) -> Result<u32, String> {
    match (status, answer) {
        (0, INVALID) => Err("status 0, and no answer was written".to_owned()),
        (0, answer) => Ok(answer),
        (status, _) => Err(format!("status {status}")),
    }
}

/// A policy of blocks in C.
#[derive(Debug)]
pub(crate) struct BlockPolicy {
    pub identity: Arc<Identity>,
    pub choose: ChooseBlock,
    pub state: State,
}

impl LanePolicy for BlockPolicy {
    fn identity(&self) -> Identity {
        (*self.identity).clone()
    }

    #[inline]
    fn choose(&mut self, call: &LaneCall<'_>) -> Result<Option<u32>, String> {
        let state = self.state.get()?;
        let columns = call.lane.columns();
        let lane = Lane {
            abi: ABI,
            size: size_of::<Lane>() as u32,
            lane: call.lane.lane,
            blocks: call.lane.len(),
            units_per_block: call.lane.units_per_block,
            random: call.random,
            now: call.lane.now,
            erases: call.erases,
            call: call.call,
            live: columns.live.as_ptr(),
            // A state is a byte (`repr(u8)`), with the numbers of the header: a test compares them.
            state: columns.state.as_ptr().cast(),
            erase_count: columns.erase_count.as_ptr(),
            closed_at: columns.closed_at.as_ptr(),
            wear_q12: columns.wear_q12.as_ptr(),
        };
        let mut answer = INVALID;
        // Safety: whoever gave the function says that it is one of this type; the columns have `blocks` entries each
        // and live for longer than the call.
        let status = unsafe { (self.choose)(state, &raw const lane, &raw mut answer) };
        read(status, answer).map(|block| (block != NONE).then_some(block))
    }

    fn copied(&self) -> Box<dyn LanePolicy> {
        Box::new(BlockPolicy {
            identity: self.identity.clone(),
            choose: self.choose,
            state: self.state.copied(),
        })
    }
}

/// A policy of streams in C.
#[derive(Debug)]
pub(crate) struct Separator {
    pub identity: Arc<Identity>,
    pub choose: ChooseStream,
    pub state: State,
}

impl StreamPolicy for Separator {
    fn identity(&self) -> Identity {
        (*self.identity).clone()
    }

    #[inline]
    fn choose(&mut self, call: &UnitCall) -> Result<u32, String> {
        let state = self.state.get()?;
        let record = record(call);
        let mut answer = INVALID;
        // Safety: as for blocks.
        let status = unsafe { (self.choose)(state, &raw const record, &raw mut answer) };
        read(status, answer)
    }

    fn copied(&self) -> Box<dyn StreamPolicy> {
        Box::new(Separator {
            identity: self.identity.clone(),
            choose: self.choose,
            state: self.state.copied(),
        })
    }
}

/// A unit as C sees it.
#[inline]
pub fn record(call: &UnitCall) -> Record {
    let head = Record {
        abi: ABI,
        size: size_of::<Record>() as u32,
        streams: u32::from(call.streams),
        call: call.call,
        ..Record::default()
    };
    match call.unit {
        Unit::Written(write) => {
            let hints = write.said.hints;
            Record {
                kind: WRITTEN,
                clock: write.clock,
                lpn: write.lpn.0,
                sectors: write.said.sectors,
                again: u32::from(write.again),
                placement: u32::from(hints.stream),
                file: hints.file,
                process: hints.process,
                context: hints.context,
                priority: u32::from(hints.priority),
                ..head
            }
        }
        Unit::Moved(moved) | Unit::Peeked(moved) => Record {
            kind: if matches!(call.unit, Unit::Moved(_)) { MOVED } else { PEEKED },
            clock: moved.clock,
            lpn: moved.lpn.0,
            lies_in: u32::from(call.lies_in.0),
            cause: moved.cause as u32,
            ..head
        },
    }
}

/// An address that is no function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressError {
    family: Family,
    allowed: &'static str,
}

impl AddressError {
    /// The type of the function that must be there.
    pub fn allowed(&self) -> &'static str {
        self.allowed
    }
}

impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (family, allowed) = (self.family.name(), self.allowed);
        write!(f, "the C address of a policy for {family}\n    found:   0\n    allowed: {allowed}")
    }
}

impl std::error::Error for AddressError {}

fn named(name: &str) -> Arc<Identity> {
    Arc::new(Identity { name: name.to_owned(), kind: "address", hash: String::new() })
}

/// A policy that chooses blocks, for `ftl.gc_victim` or `ftl.wear_leveling`, at a C address.
///
/// # Errors
/// If the address is 0.
///
/// # Safety
/// The address must be that of a function of the type [`ChooseBlock`], which stays where it is for as long as the
/// policy or a copy of it lives, and keeps the rules of the header.
pub unsafe fn lane_from_address(
    family: Family,
    name: &str,
    address: usize,
) -> Result<Box<dyn LanePolicy>, AddressError> {
    let choose = address as *const c_void;
    if choose.is_null() {
        let allowed = "int32_t (*)(void *state, const wordline_lane *lane, uint32_t *answer)";
        return Err(AddressError { family, allowed });
    }
    // Safety: the caller says so.
    let choose = unsafe { std::mem::transmute::<*const c_void, ChooseBlock>(choose) };
    Ok(Box::new(BlockPolicy { identity: named(name), choose, state: State::new(Maker::default()) }))
}

/// The same of a policy for `ftl.stream`.
///
/// # Errors
/// If the address is 0.
///
/// # Safety
/// As for [`lane_from_address`], of the type [`ChooseStream`].
pub unsafe fn stream_from_address(name: &str, address: usize) -> Result<Box<dyn StreamPolicy>, AddressError> {
    let choose = address as *const c_void;
    if choose.is_null() {
        let allowed = "int32_t (*)(void *state, const wordline_unit *unit, uint32_t *answer)";
        return Err(AddressError { family: Family::Stream, allowed });
    }
    // Safety: the caller says so.
    let choose = unsafe { std::mem::transmute::<*const c_void, ChooseStream>(choose) };
    Ok(Box::new(Separator { identity: named(name), choose, state: State::new(Maker::default()) }))
}
