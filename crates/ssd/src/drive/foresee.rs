//! Telling a drive what its host is going to do, for a policy that looks ahead: what knowing is worth.
//!
//! ```
//! use ssd::config::Table;
//! use ssd::{Command, Drive, DriveConfig, Lba, OpCode, Status};
//! let mut config = DriveConfig::default();
//! config.stream.select("oracle").unwrap();
//! let mut drive = Drive::new(&config).unwrap();
//! assert!(drive.ahead().is_lacking());
//! let commands = [0, 8, 0].map(|lba| Command { op: OpCode::Write, lba: Lba(lba), sectors: 8, ..Command::default() });
//! let mut foreseeing = drive.ahead().begin();
//! commands.iter().try_for_each(|command| foreseeing.take(command)).unwrap();
//! drive.foresee(foreseeing.finish()).unwrap();
//! for command in commands {
//!     drive.submit(0, &command, drive.now()).unwrap();
//!     assert!(drive.advance_to_completion());
//!     assert_eq!(drive.pop_completion().unwrap().status, Status::Ok);
//! }
//! // What was not foreseen is refused.
//! drive.submit(0, &commands[0], drive.now()).unwrap();
//! assert!(drive.advance_to_completion());
//! assert_eq!(drive.pop_completion().unwrap().status, Status::NotForeseen);
//! ```

use crate::ftl::Ftl;
use crate::ftl::foresight::Takes;
pub use crate::ftl::foresight::{Foresight, ForesightError};
use crate::host::Space;
use crate::signals::{Command, OpCode};
use crate::units::Lpn;
use std::sync::Arc;

/// Takes down the commands that a host is going to send.
#[derive(Clone, Debug)]
pub struct Foreseeing {
    space: Space,
    takes: Takes,
}

impl Foreseeing {
    /// The next command, in the order in which they will be submitted. One that a drive refuses is taken for what it
    /// is.
    pub fn take(&mut self, command: &Command) -> Result<(), ForesightError> {
        let Some(mut units) = self.space.touched(command) else { return Ok(()) };
        match command.op {
            // What is read this once says nothing of how data is used.
            OpCode::Read if command.hints.one_time => Ok(()),
            OpCode::Read => units.try_for_each(|unit| self.takes.read(Lpn(unit))),
            op => units.try_for_each(|unit| self.takes.replace(Lpn(unit), op == OpCode::Trim)),
        }
    }

    /// Units whose data dies, so far.
    pub fn deaths(&self) -> u64 {
        self.takes.deaths()
    }

    /// All of it, to be shared by any number of drives.
    pub fn finish(self) -> Arc<Foresight> {
        Arc::new(self.takes.finish())
    }
}

/// What a drive's policies must know of what comes ([`Drive::ahead`](crate::Drive::ahead)).
#[derive(Clone, Copy, Debug)]
pub struct Ahead<'a> {
    pub(crate) ftl: &'a Ftl,
    pub(crate) space: Space,
}

impl<'a> Ahead<'a> {
    /// Whether any look ahead: then the drive must be told what comes before the first write.
    pub fn is_wanted(self) -> bool {
        self.key().is_some()
    }

    /// The configuration's key of a policy that looks ahead, if one does.
    pub fn key(self) -> Option<&'static str> {
        self.ftl.looks_ahead()
    }

    /// Whether the drive must be told what comes, and has not been: writes and trims end as [`NotForeseen`].
    /// [`Drive::restore`] gives such a drive, for snapshots do not hold it.
    ///
    /// [`NotForeseen`]: crate::Status::NotForeseen
    /// [`Drive::restore`]: crate::Drive::restore
    pub fn is_lacking(self) -> bool {
        self.is_wanted() && self.told().is_none()
    }

    /// What the drive was told.
    pub fn told(self) -> Option<&'a Arc<Foresight>> {
        self.ftl.moves.separation.policy.foresight().or_else(|| self.ftl.moves.page_classes.foresight())
    }

    /// Begins to take down what will be submitted to the drive, from its next command on.
    pub fn begin(self) -> Foreseeing {
        let reads = self.ftl.moves.separation.policy.needs().reads_to_come
            || self.ftl.moves.page_classes.looks_ahead();
        Foreseeing { space: self.space, takes: Takes::new(self.ftl.moves.media.tables.map.logical(), reads) }
    }

    /// Is it of commands to a drive of this size?
    pub(crate) fn check(self, foresight: &Foresight) -> Result<(), ForesightError> {
        let (found, expected) = (foresight.units(), self.ftl.moves.media.tables.map.logical());
        if found == expected { Ok(()) } else { Err(ForesightError::OtherDrive { found, expected }) }
    }
}
