//! shim
use serde::{Deserialize, Serialize};
/// Name
pub const NAME: &str = "lru_write";
/// Sum
pub const SUMMARY: &str = "s";
/// Src
pub const SOURCE: &str = "s";
/// Mem
pub const MEMORY: &str = "m";
section! {
    /// Params
    pub struct Params { 
        /// Size
        size_mib: f64 = 16.0, unit "MiB", range 0..=1000000; }
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
