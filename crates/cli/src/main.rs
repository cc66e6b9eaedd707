//! The `wordline` program.

use std::process::ExitCode;

/// Big tables lie on huge pages: the map of a large drive is read at random.
#[global_allocator]
static ALLOCATOR: lab::memory::HugePages = lab::memory::HugePages;

fn main() -> ExitCode {
    lab::sources::built_from(env!("WORDLINE_COMMIT"));
    let worker = std::env::current_exe().map(|program| vec![program.into(), "worker".into()]);
    ExitCode::from(wordline_cli::run(std::env::args_os(), &worker.unwrap_or_default()))
}
