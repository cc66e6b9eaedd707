//! Traces, generators and jobs from outside, in one binary, which is linked once after an edit.

mod captures;
mod compose;
mod fio;
mod fio_options;
mod generators;
mod histogram;
mod miss_ratio;
mod profiles;
mod random;
mod replay;
mod spec;
mod standins;
mod traces;
