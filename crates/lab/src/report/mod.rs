//! Results for people: tables, plots, pages, folders.

pub(crate) mod cells;
pub(crate) mod compare;
pub(crate) mod counted;
pub(crate) mod fio_json;
mod folder;
mod forms;
pub mod page;
pub(crate) mod plot;
pub(crate) mod share_rows;
pub(crate) mod short;
pub(crate) mod slowest;
pub(crate) mod table;
pub(crate) mod time_of_kinds;

pub use crate::result::metrics::metric_keys;
pub use compare::{Comparison, NotCompared};
pub use folder::{
    CONFIG_NAME, WORKLOAD_PLOTS, claim_comparison, claim_run, comparison_files, holds_a_run, run_files,
    workload_plots, write, write_comparison, write_drives,
};
pub use forms::{brief, compare, counters, drives_brief, drives_table, fio_json, page, schema, table};
pub use page::PAGE_NAME;
