//! Whether a drive was as steady as was asked for.

use crate::result::RunResult;

/// Why a drive that was to be steady before the run was not.
pub(super) fn unsteady(result: &RunResult) -> Option<String> {
    let before = &result.preconditioning;
    (before.steady == Some(false))
        .then(|| format!("the drive was not steady before the run: {}", before.state))
}

/// Why a result is not that of a steady drive; what writes nothing changes nothing.
pub(super) fn not_steady(result: &RunResult) -> Option<String> {
    let before = &result.preconditioning;
    match before.steady {
        Some(true) => None,
        Some(false) => unsteady(result),
        None if result.bytes_written == 0 => None,
        None if before.state.is_empty() => Some("the drive was not preconditioned".to_owned()),
        None => Some(format!("the drive was {}, which nobody judged", before.state)),
    }
}
