//! What must be so of results, as flags say it.

use clap::Args;
use lab::RunResult;
use lab::result::problems::Requirements;

use crate::failure::Failure;

/// What is required.
#[derive(Args, Debug)]
pub struct RequireArgs {
    /// Exit with code 3 unless this holds: steady, not-overloaded, one-regime, complete, no-failures, or a metric of
    /// `wordline compare` and its limit, such as read_latency_p99<300us (comma-separated)
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    require: Vec<String>,
}

impl RequireArgs {
    /// All of them; asked before the work, so that a slip costs none.
    pub fn requirements(&self) -> Result<Requirements, Failure> {
        let wrong = |wrong| Failure::usage(format!("--require: {wrong}"));
        Requirements::parse(self.require.iter().map(String::as_str)).map_err(wrong)
    }
}

/// A failure that names what results do not meet, each with its name if there are several.
pub fn met<'a>(
    required: &Requirements,
    results: impl IntoIterator<Item = &'a RunResult>,
) -> Result<(), Failure> {
    let of = |result: &RunResult| {
        let name = result.name.clone();
        required
            .unmet(result)
            .into_iter()
            .map(move |line| format!("\n    {name}: {line}"))
            .collect::<String>()
    };
    let lines: String = results.into_iter().map(of).collect();
    if lines.is_empty() { Ok(()) } else { Err(Failure::Unmet(format!("--require is not met{lines}"))) }
}
