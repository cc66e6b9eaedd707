//! shim
use serde::{Deserialize, Serialize};
/// Name
pub const NAME: &str = "d_choices";
/// Sum
pub const SUMMARY: &str = "s";
/// Src
pub const SOURCE: &str = "s";
/// Mem
pub const MEMORY: &str = "m";
section! {
    /// Params
    pub struct Params { 
        /// Blocks sampled
        /// for each.
        d: u32 = 10, unit "blocks", range 1..=4096; }
}
/// P
#[derive(Serialize, Deserialize)]
pub struct Policy;
impl Policy {
    /// n
    pub fn new(_: &Params) -> Self { Policy }
    /// c
    pub fn choose(&mut self, a: u32, b: &u32) -> Option<u32> { Some(a + *b) }
    /// d
    pub fn look(&self) -> u32 { 1 }
    /// e
    pub fn on_thing(&mut self) {}
}
