//! The command line from end to end: the real program, its exit codes, its output and its files.

mod aging;
mod bad_config;
mod bad_trace;
mod browser;
mod capture;
mod docs;
mod explain;
mod files;
mod fio;
mod forensics;
mod interrupts;
mod laboratory;
mod lists;
mod papers;
mod program;
mod report;
mod reproduce;
mod results;
mod sizing;
mod slow;
mod snapshots;
mod spellings;
mod standins;
mod time_units;
mod traces;
mod verdicts;
