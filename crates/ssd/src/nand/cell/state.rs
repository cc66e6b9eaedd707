//! From the history of a wordline to the distributions of its cells' threshold voltages (calibration section 1).

use super::{ABSOLUTE_ZERO_C, CellModel, Group, MAX_STATES, reprogram};

/// What has happened to the cells of a wordline. The default is fresh: the worst wordline, just programmed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellState {
    /// Wear, in 1000 cycles of the reference dwell (1 minute at 30 degrees C).
    pub wear_kcycles: f64,
    /// Time since programming, in hours at the reference temperature (see [`CellModel::arrhenius`]).
    pub retention_hours: f64,
    /// Effective reads since programming over what the wordline endures (ERC / ERC_MAX).
    pub erc_fraction: f64,
    /// Temperature at programming, in degrees C.
    pub program_c: f64,
    /// Temperature at reading, in degrees C.
    pub read_c: f64,
    /// Time until the next wordline was programmed, in minutes.
    pub open_minutes: f64,
    /// Suspends of the erase before.
    pub suspends: u32,
    /// Distance from the centre of the block, 0 to 1.
    pub height: f64,
    /// The block's own factor on retention.
    pub retention_factor: f64,
    /// Program mode.
    pub mode: usize,
}

impl Default for CellState {
    fn default() -> Self {
        CellState {
            wear_kcycles: 0.0,
            retention_hours: 0.0,
            erc_fraction: 0.0,
            program_c: 30.0,
            read_c: 30.0,
            open_minutes: 0.0,
            suspends: 0,
            height: 1.0,
            retention_factor: 1.0,
            mode: 0,
        }
    }
}

/// Threshold voltages of the cells of a wordline: a normal distribution for each state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distribution {
    /// States in use.
    pub states: usize,
    /// Mean of each state, in V.
    pub mean: [f64; MAX_STATES],
    /// Standard deviation of each state, in V.
    pub sigma: [f64; MAX_STATES],
    /// Factor on all error rates, from effects known only as such: wordline, open interval, suspends.
    pub factor: f64,
}

/// What the wear of cells alone decides of their distributions: all the powers, which take longest. Tables go through
/// hundreds of states of the same wear.
#[derive(Clone, Copy)]
pub(super) struct Worn {
    /// The wear, in 1000 cycles of the reference dwell.
    pub(super) kcycles: f64,
    /// Charge lost at the horizon of retention, in V.
    loss_v: f64,
    /// Rise of the erased state, in V.
    erased_v: f64,
    /// Rise of the erased state at the end of a wordline's effective reads, in V.
    pub(super) erased_shift_v: f64,
    /// Rise of the first programmed state, in V.
    first_v: f64,
    /// Wear on the scale by which variances grow.
    variance: f64,
}

/// `x` to the power `y`, and 0 at 0.
pub(super) fn power(x: f64, y: f64) -> f64 {
    if x > 0.0 { libm::pow(x, y) } else { 0.0 }
}

impl CellModel {
    /// How much faster charge is lost at `to_c` than at `from_c`, both in degrees C (calibration section 1.3).
    ///
    /// Both must be above absolute zero.
    pub fn arrhenius(&self, from_c: f64, to_c: f64) -> f64 {
        assert!(from_c > ABSOLUTE_ZERO_C && to_c > ABSOLUTE_ZERO_C, "temperature below absolute zero");
        let r = &self.part.retention;
        let inverse = |celsius: f64| 1.0 / (celsius - ABSOLUTE_ZERO_C);
        libm::exp(r.activation_ev / r.boltzmann_ev_per_k * (inverse(from_c) - inverse(to_c)))
    }

    /// Hours at the reference temperature that do what `hours` at `celsius` do.
    pub fn hours_at_reference(&self, hours: f64, celsius: f64) -> f64 {
        hours * self.arrhenius(self.part.retention.reference_c, celsius)
    }

    /// Time on the scale of retention: 0 at once, 1 at the horizon (L of calibration section 1.1).
    pub fn retention_scale(&self, hours: f64) -> f64 {
        let r = &self.part.retention;
        libm::log1p(hours / r.onset_hours) / libm::log1p(r.horizon_hours / r.onset_hours)
    }

    /// Errors of a wordline at that height over those of the worst (h of calibration section 1.1).
    pub fn error_factor(&self, height: f64) -> f64 {
        let centre = self.part.wordlines.error_centre;
        centre + (1.0 - centre) * height * height
    }

    /// Retention of a wordline at that height over that of the worst: k of calibration section 1.1 over its value at 1,
    /// because the constants were fitted to the worst wordline.
    pub fn retention_factor(&self, height: f64) -> f64 {
        let edge = self.part.wordlines.retention_edge;
        (1.0 + edge * height * height) / (1.0 + edge)
    }

    /// The height at which a wordline has the errors of a group.
    pub fn height_of(&self, group: Group) -> f64 {
        let centre = self.part.wordlines.error_centre;
        let errors = self.part.wordlines.group_errors[group.index()];
        if centre >= 1.0 { 1.0 } else { ((errors - centre) / (1.0 - centre)).clamp(0.0, 1.0).sqrt() }
    }

    /// Factor on errors where a block had waited so many minutes for its first program since its erase (calibration
    /// section 1.2).
    pub fn open_interval_factor(&self, minutes: f64) -> f64 {
        let e = &self.part.effects;
        let scale = libm::log1p(minutes / e.open_onset_minutes)
            / libm::log1p(e.open_full_minutes / e.open_onset_minutes);
        1.0 + e.open_share * scale.clamp(0.0, 1.0)
    }

    /// Factor on errors after so many suspends of the erase (calibration section 1.2).
    pub fn suspend_factor(&self, suspends: u32) -> f64 {
        let e = &self.part.effects;
        let harmful = suspends.saturating_sub(e.suspends_free);
        1.0 + e.suspend_share * f64::from(harmful) / f64::from(e.suspends_full - e.suspends_free)
    }

    /// Share of pages that are over the limit after one-shot over-programming: of one lower page or of both, and
    /// right after it or a year later (calibration section 1.2).
    pub fn sanitised_over_limit(&self, both: bool, year: bool) -> f64 {
        let hours = if year { reprogram::YEAR_HOURS } else { 0.0 };
        reprogram::over_limit(&self.part.effects, both, hours)
    }

    /// The distributions of the cells' threshold voltages (calibration section 1.1).
    pub fn distribution(&self, state: &CellState) -> Distribution {
        self.distribution_of(&self.worn(state.wear_kcycles), state)
    }

    /// What wear alone decides of the distributions.
    pub(super) fn worn(&self, kcycles: f64) -> Worn {
        let (c, r) = (&self.part.cycling, &self.part.retention);
        Worn {
            kcycles,
            loss_v: r.shift_v + r.shift_wear_v * power(kcycles, r.shift_wear_power),
            erased_v: c.erased_v * power(kcycles, c.erased_power),
            erased_shift_v: self.erased_shift_v(kcycles),
            first_v: c.first_v * power(kcycles, c.first_power),
            variance: power(kcycles, c.variance_power),
        }
    }

    /// The distributions of cells of which `worn` is what their wear has done.
    pub(super) fn distribution_of(&self, worn: &Worn, state: &CellState) -> Distribution {
        let (s, c, r) = (&self.part.states, &self.part.cycling, &self.part.retention);
        let time = self.retention_scale(state.retention_hours);
        let factor = self.retention_factor(state.height) * state.retention_factor;
        let loss = factor * time * worn.loss_v;
        let warmth = self.part.effects.cross_temperature_v_per_c * (state.read_c - state.program_c);
        let scale = self.part.modes.voltage_scale[state.mode];
        let states = self.states();
        let (mut mean, mut sigma) = ([0.0; MAX_STATES], [0.0; MAX_STATES]);
        for (i, (mean, fresh)) in mean.iter_mut().zip(&s.mean_v).enumerate() {
            let warm = if i == 0 { 0.0 } else { warmth };
            *mean = fresh * scale - self.places[i] * (loss + warm);
        }
        mean[0] += worn.erased_v;
        mean[0] += worn.erased_shift_v * state.erc_fraction;
        mean[1] += worn.first_v;
        let aged = c.variance_v2 * worn.variance
            + time * time * (r.variance_v2 + r.variance_wear_v2 * worn.variance) * factor;
        let step = s.program_step_v * scale;
        let programmed = s.sigma_v * s.sigma_v + step * step / 12.0 + aged;
        sigma[..states].fill(programmed.sqrt());
        sigma[0] = (s.sigma_erased_v * s.sigma_erased_v + aged).sqrt();
        let factor = self.error_factor(state.height)
            * self.open_interval_factor(state.open_minutes)
            * self.suspend_factor(state.suspends);
        Distribution { states, mean, sigma, factor }
    }
}
