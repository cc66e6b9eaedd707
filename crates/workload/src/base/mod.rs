//! What every other room uses: a request and a stream of them, settings, errors, remarks, and the bytes of files.

pub mod draw;
pub mod driven;
pub mod error;
pub mod findings;
pub mod footprint;
pub mod input;
pub mod near;
pub mod pages;
pub mod remark;
pub mod report;
pub mod request;
pub mod settings;
pub mod shape;
pub mod units;
