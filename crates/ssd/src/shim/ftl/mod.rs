//! shim
pub mod gc_victim;
pub mod gc_trigger;
pub mod wear_leveling;
