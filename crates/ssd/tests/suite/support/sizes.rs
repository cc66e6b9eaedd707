//! How much is run: quick sizes in `make test`, long ones in `make soak`.

/// A variable of the environment that is a whole number.
pub fn variable(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text}: not a whole number")))
}

/// Whether this is a long run (`WORDLINE_SOAK=1`).
pub fn is_soak() -> bool {
    variable("WORDLINE_SOAK").is_some_and(|n| n > 0)
}

/// So much in `make test`, and twenty times as much in `make soak`.
pub fn soaked(quick: u64) -> u64 {
    if is_soak() { 20 * quick } else { quick }
}
