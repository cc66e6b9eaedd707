//! How anything is configured: fields with unit and range, tables of them, choices, policies by name, layers of files
//! and arguments, and errors that name the place, what was found, what is allowed, and a near match.
//!
//! It names no section of any layer: sections are in `sections`, policies in their files, and all of it comes together
//! in `drive_config`.

mod error;
pub(crate) mod family;
mod field;
pub(crate) mod layer;
pub(crate) mod near;
pub mod presets;
pub(crate) mod shown;
mod table;
mod units;
pub(crate) mod value;
#[macro_use]
mod section;
#[macro_use]
pub mod member;

pub use error::{ConfigError, ConfigErrors, KeyAt, Origin, Problem};
pub use family::{FamilyInfo, PolicyInfo};
#[doc(hidden)]
pub use field::read_name;
pub use field::{Field, Kind, Limits, Parameter};
pub use layer::Layer;
pub use shown::{SHOWN_MAX, control_escape, escaped, is_control, shown, shown_up_to};
pub use table::Table;
pub use units::{in_unit, whole_with_exponent};
pub use value::{Value, quote};
