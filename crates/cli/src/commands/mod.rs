//! The subcommands, one file each, or a folder.

pub mod cache;
pub mod capture;
pub mod compare;
pub mod completion;
pub mod endurance;
pub mod explain;
pub mod fit;
pub mod forensics;
pub mod formats;
pub mod lab;
pub mod new;
pub mod papers;
pub mod policies;
pub mod presets;
pub mod report;
pub mod reproduce;
pub mod run;
pub mod sensitivity;
pub mod sweep;
pub mod trace;
pub mod worker;
