//! The drive from outside, in one binary, which is linked once after an edit: by hand on paper (`timelines`), by
//! closed formulas, beside a plain model, by known hashes, by every policy's contract. What counts allocations has an
//! allocator and so a binary of its own, `no_alloc`.

mod aging;
mod block_table;
mod busy;
mod combinations;
mod config;
mod contexts;
mod deals;
mod determinism;
mod exposure;
mod external;
mod extremes;
mod formulas;
mod goldens;
mod midas;
mod migration;
mod model;
mod oracle;
mod pace;
mod page_class;
mod policy_contract;
mod presets;
mod program_modes;
mod reclaim;
mod reconfigure;
mod regressions;
mod replication;
mod slc;
mod snapshot;
mod static_placement;
mod streams;
mod support;
mod tampered;
mod timelines;
mod used_flash;
