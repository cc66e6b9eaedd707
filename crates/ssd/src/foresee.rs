//! Telling a drive what its host is going to do, for a policy that looks ahead: what knowing is worth.
//!
//! ```
//! use ssd::config::Table;
//! use ssd::{Command, Drive, DriveConfig, Lba, OpCode, Status};
//! let mut config = DriveConfig::default();
//! config.stream.select("oracle").unwrap();
//! let mut drive = Drive::new(&config).unwrap();
//! assert!(drive.needs_foresight());
//! let commands = [0, 8, 0].map(|lba| Command { op: OpCode::Write, lba: Lba(lba), sectors: 8, ..Command::default() });
//! let mut foreseeing = drive.foreseeing();
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

use crate::drive::Drive;
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

impl Drive {
    /// Whether its policies look ahead: then it must be told what comes before the first write.
    pub fn wants_foresight(&self) -> bool {
        self.looks_ahead().is_some()
    }

    /// The configuration's key of a policy that looks ahead, if one does.
    pub fn looks_ahead(&self) -> Option<&'static str> {
        self.state.ftl.looks_ahead()
    }

    /// Whether it must be told what comes, and has not been: writes and trims end as [`NotForeseen`].
    /// [`Drive::restore`] gives such a drive, for snapshots do not hold it.
    ///
    /// [`NotForeseen`]: crate::Status::NotForeseen
    pub fn needs_foresight(&self) -> bool {
        self.wants_foresight() && self.foresight().is_none()
    }

    /// What it was told.
    pub fn foresight(&self) -> Option<&Arc<Foresight>> {
        let ftl = &self.state.ftl;
        ftl.stream.foresight().or_else(|| ftl.page_classes.foresight())
    }

    /// Begins to take down what will be submitted to this drive, from its next command on.
    pub fn foreseeing(&self) -> Foreseeing {
        let ftl = &self.state.ftl;
        let reads = ftl.stream.needs().reads_to_come || ftl.page_classes.looks_ahead();
        Foreseeing { space: self.state.host.space(), takes: Takes::new(self.logical_units(), reads) }
    }

    /// Tells the drive what will be submitted from now on, in place of what it was told before. What it holds then, and
    /// what is written below the buffer ([`Drive::fill`], [`Drive::overwrite`]), dies at the first command that
    /// overwrites or trims it; what is written so before it is told of anything counts as never to die, until it moves.
    /// Nothing happens on a drive that does not look ahead.
    pub fn foresee(&mut self, foresight: Arc<Foresight>) -> Result<(), ForesightError> {
        let (found, expected) = (foresight.units(), self.logical_units());
        if found != expected {
            return Err(ForesightError::OtherDrive { found, expected });
        }
        self.state.ftl.stream.foresee(&foresight);
        self.state.ftl.page_classes.foresee(&foresight);
        Ok(())
    }
}
