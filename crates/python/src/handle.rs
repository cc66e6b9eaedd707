//! A drive that one at a time may have: a run, or a session until it is finished.

use crate::errors;
use pyo3::PyResult;
use ssd::DriveConfig;
use ssd::config::ConfigErrors;
use ssd::external::ExternalPolicies;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// A drive, with what is known of its past.
pub struct Handle {
    pub drive: Box<ssd::Drive>,
    /// Whether it has one: then none is made for it before a run.
    pub is_used: bool,
}

impl Handle {
    /// A new drive.
    pub fn new(config: &DriveConfig, policies: &ExternalPolicies) -> Result<Self, ConfigErrors> {
        let drive = ssd::Drive::with_policies(config, policies.clone())?;
        Ok(Handle { drive: Box::new(drive), is_used: false })
    }

    /// A drive with a past.
    pub fn used(drive: Box<ssd::Drive>) -> Self {
        Handle { drive, is_used: true }
    }

    /// The drive after something was tried on it that came to nothing: one that was new is new again, for half a past
    /// is none.
    pub fn undone(self, config: &DriveConfig, policies: &ExternalPolicies) -> Self {
        if self.is_used {
            return self;
        }
        // It could be built before.
        Handle::new(config, policies).unwrap_or(self)
    }
}

/// Where a drive is while nobody has it.
pub struct Slot(Mutex<Option<Handle>>);

impl Slot {
    /// With a drive in it.
    pub fn of(handle: Handle) -> Self {
        Slot(Mutex::new(Some(handle)))
    }

    /// Looks at the drive, or takes it; an error if somebody else has it.
    pub fn lock(&self) -> PyResult<MutexGuard<'_, Option<Handle>>> {
        let handle = match self.0.try_lock() {
            Ok(handle) => handle,
            Err(TryLockError::WouldBlock) => return Err(errors::busy()),
            Err(TryLockError::Poisoned(handle)) => {
                let handle = handle.into_inner();
                if handle.is_none() {
                    return Err(errors::lost());
                }
                handle
            }
        };
        if handle.is_some() { Ok(handle) } else { Err(errors::busy()) }
    }

    /// Whoever had it does not need it any more.
    pub fn give_back(&self, handle: Handle) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(handle);
    }
}
