//! A shared library with policies: opened, and asked what it was compiled for before anything of it is called.

use crate::call::{BlockPolicy, Maker, Separator, State};
use crate::family::Family;
use crate::layout::{ABI, Lane, Policy, Unit};
use sha2::{Digest, Sha256};
use ssd::external::{Identity, LanePolicy, StreamPolicy};
use std::ffi::{CStr, CString};
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Hexadecimal digits of the hash by which a library is known.
const HASH_BYTES: usize = 16;

/// A policy of a library that is loaded, for a family. Libraries stay loaded to the end of the process.
#[derive(Clone, Debug)]
pub struct Library {
    family: Family,
    policy: Policy,
    identity: Arc<Identity>,
}

// What the policy points to is constant, and stays loaded.
unsafe impl Send for Library {}

/// Why a library's policy cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LibraryError {
    /// The library.
    pub path: PathBuf,
    /// What was found.
    pub found: String,
    /// What is allowed.
    pub allowed: String,
}

impl fmt::Display for LibraryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n    found:   {}\n    allowed: {}", self.path.display(), self.found, self.allowed)
    }
}

impl std::error::Error for LibraryError {}

/// The hash by which a library is known.
pub fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes)[..HASH_BYTES].iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Library {
    /// Opens a library and finds its policy for a family. What it does when it is loaded, it does now: it is a program.
    ///
    /// # Errors
    /// If it cannot be loaded, has no such policy, or was compiled for another version of the interface.
    pub fn open(family: Family, path: &Path) -> Result<Library, LibraryError> {
        let wrong = |found: String, allowed: String| LibraryError { path: path.to_owned(), found, allowed };
        let shared = || "a shared library, such as `wordline new policy` shows how to make".to_owned();
        let bytes = std::fs::read(path).map_err(|error| wrong(error.to_string(), shared()))?;
        let symbol = family.symbol();
        let policy = find(path, &symbol).map_err(|found| wrong(found, shared()))?;
        let Some(policy) = policy else {
            let others = Family::ALL.into_iter().filter(|other| *other != family);
            let has = |other: &Family| matches!(find(path, &other.symbol()), Ok(Some(_)));
            let has: Vec<String> = others.filter(has).map(|other| format!("`{}`", other.symbol())).collect();
            let beside = if has.is_empty() { String::new() } else { format!(", but {}", has.join(" and ")) };
            let found = format!("no symbol `{symbol}`{beside}");
            return Err(wrong(found, format!("a library that exports a `wordline_policy {symbol}`")));
        };
        // Safety: a symbol of that name is a policy, whose first four numbers say how large the rest is.
        let policy = unsafe { read(policy) }.map_err(|found| wrong(found, built_for()))?;
        check(family, &policy).map_err(|(found, allowed)| wrong(found, allowed))?;
        // Safety: a policy has a name, or none.
        let name = (!policy.name.is_null())
            .then(|| unsafe { CStr::from_ptr(policy.name) }.to_string_lossy().into_owned());
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let name = name.filter(|name| !name.is_empty()).unwrap_or_else(|| stem.into_owned());
        let identity = Arc::new(Identity { name, kind: "library", hash: hash(&bytes) });
        Ok(Library { family, policy, identity })
    }

    /// Its family.
    pub fn family(&self) -> Family {
        self.family
    }

    /// Who its policy is.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Streams that it uses, if it says so.
    pub fn streams(&self) -> Option<u32> {
        (self.policy.streams > 0).then_some(self.policy.streams)
    }

    fn state(&self) -> State {
        let Policy { create, copy, destroy, .. } = self.policy;
        State::new(Maker { create, copy, destroy })
    }

    /// A policy that chooses blocks, new; `None` if this is one of streams.
    pub fn lane_policy(&self) -> Option<Box<dyn LanePolicy>> {
        let choose = self.policy.choose_block.filter(|_| self.family != Family::Stream)?;
        Some(Box::new(BlockPolicy { identity: self.identity.clone(), choose, state: self.state() }))
    }

    /// A policy that separates data, new; `None` if this is one of blocks.
    pub fn stream_policy(&self) -> Option<Box<dyn StreamPolicy>> {
        let choose = self.policy.choose_stream.filter(|_| self.family == Family::Stream)?;
        Some(Box::new(Separator { identity: self.identity.clone(), choose, state: self.state() }))
    }
}

/// What this program was built for, in words.
fn built_for() -> String {
    let (policy, lane, unit) = (size_of::<Policy>(), size_of::<Lane>(), size_of::<Unit>());
    format!(
        "version {ABI} of the interface, with records of {policy}, {lane} and {unit} bytes: compile it with this \
         program's wordline_policy.h"
    )
}

/// The policy at a symbol, if it is of this version of the interface.
///
/// # Safety
/// There must be four numbers of 32 bits there, and a [`Policy`] if they are those of one.
unsafe fn read(at: *const Policy) -> Result<Policy, String> {
    // Safety: the caller says so.
    let [abi, size, lane, unit] = unsafe { at.cast::<[u32; 4]>().read_unaligned() };
    let sizes = [size_of::<Policy>(), size_of::<Lane>(), size_of::<Unit>()].map(|size| size as u32);
    if abi != ABI || [size, lane, unit] != sizes {
        return Err(format!(
            "version {abi} of the interface, with records of {size}, {lane} and {unit} bytes"
        ));
    }
    // Safety: as above.
    Ok(unsafe { at.read_unaligned() })
}

/// Can it be a policy of that family? What was found, and what is allowed.
fn check(family: Family, policy: &Policy) -> Result<(), (String, String)> {
    let (function, is_there) = match family {
        Family::Stream => ("choose_stream", policy.choose_stream.is_some()),
        _ => ("choose_block", policy.choose_block.is_some()),
    };
    if !is_there {
        let found = format!("`{}` without `{function}`", family.symbol());
        return Err((found, format!("a policy with `{function}`")));
    }
    if policy.streams > 30 {
        return Err((
            format!("{} streams", policy.streams),
            "1 to 30; 0: ftl.stream.streams decides".to_owned(),
        ));
    }
    Ok(())
}

/// The address of a symbol of a library, which is loaded; none if it has no such symbol.
fn find(path: &Path, symbol: &str) -> Result<Option<*const Policy>, String> {
    let bytes = std::path::absolute(path).map_err(|error| error.to_string())?;
    let file = CString::new(bytes.as_os_str().as_bytes()).map_err(|error| error.to_string())?;
    let symbol = CString::new(symbol).map_err(|error| error.to_string())?;
    // Safety: both are texts of C. What a library does when it is loaded is the user's matter, who named it.
    let handle = unsafe { libc::dlopen(file.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if handle.is_null() {
        // Safety: after a failure there is a text, which is copied before the next call.
        let why = unsafe { libc::dlerror() };
        let why = if why.is_null() {
            "it cannot be loaded".to_owned()
        } else {
            unsafe { CStr::from_ptr(why) }.to_string_lossy().into_owned()
        };
        return Err(why);
    }
    // Safety: the handle is one that was opened, and is never closed.
    let at = unsafe { libc::dlsym(handle, symbol.as_ptr()) };
    Ok((!at.is_null()).then_some(at.cast_const().cast()))
}
