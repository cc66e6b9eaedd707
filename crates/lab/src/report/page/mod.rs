//! Results as a page: one file that opens in any browser, without a network, and can be printed.
//!
//! Whatever is text stands in the page itself; charts are drawn by a script in it from data in it. The page's own
//! policy (Content-Security-Policy) lets nothing else be run, styled or fetched: a name in a result cannot do anything.

mod bars;
mod cards;
mod charts;
mod claims;
mod data;
mod folder;
mod light;
mod maps;
mod room;
mod run;
mod sections;
mod shell;
mod summary;
mod sweep;
mod tables;

pub use folder::{NoFolder, Reported};
pub use run::{BEGINS, PAGE_NAME};
pub(crate) use shell::of_result;
