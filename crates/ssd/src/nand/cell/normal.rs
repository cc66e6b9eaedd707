//! The normal distribution.

/// Share of a standard normal variable above `z`.
pub(super) fn tail(z: f64) -> f64 {
    0.5 * libm::erfc(z * core::f64::consts::FRAC_1_SQRT_2)
}
