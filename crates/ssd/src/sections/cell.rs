//! The constants of a NAND part: what its cells are and how they age, each with unit and range.
//!
//! The defaults are the 48-layer TLC of RealWear. Tags and sources of the numbers stand in `presets/cell/`, the
//! equations in `docs/nand-model.md`.

use crate::config::Table;

section! {
    /// Threshold-voltage states of a fresh cell at the moment it was programmed (calibration section 1.1).
    pub struct States {
        /// Bits of one cell.
        bits_per_cell: u32 = 3, unit "bits", range 1..=4;
        /// Mean of each state, the erased one first.
        mean_v: Vec<f64> = vec![-2.039, 0.3, 1.7, 2.323, 2.995, 3.607, 4.28, 5.2], unit "V", range -6.0..=10.0;
        /// Standard deviation of the erased state.
        sigma_erased_v: f64 = 0.347_269, unit "V", range 0.001..=2.0;
        /// Standard deviation of a programmed state, apart from the program step.
        sigma_v: f64 = 0.106_428, unit "V", range 0.001..=2.0;
        /// Program step (dVp), whose uniform spread adds its square / 12 to the variance; 0: included in `sigma_v`.
        program_step_v: f64 = 0.0, unit "V", range 0.0..=2.0;
        /// Position of the erased state on the retention scale, where the top state is 1: it gains charge.
        erased_place: f64 = -0.1, range -1.0..=0.0;
        /// Thresholds sensed by each page type; empty: the usual code of that many bits.
        gray_code: Vec<Vec<u32>> = Vec::new();
        /// Pass voltage on the wordlines that are not read.
        pass_v: f64 = 6.5, unit "V", range 0.1..=20.0;
    }
}

section! {
    /// What programming and erasing does to the states; program disturb and interference are within (calibration
    /// section 1.1).
    pub struct Cycling {
        /// Rise of the erased state after 1000 cycles.
        erased_v: f64 = 0.688_222, unit "V", range 0.0..=5.0;
        /// Power of wear by which the erased state rises.
        erased_power: f64 = 0.235_096, range 0.01..=4.0;
        /// Rise of the first programmed state after 1000 cycles.
        first_v: f64 = 0.200_031, unit "V", range 0.0..=5.0;
        /// Power of wear by which the first programmed state rises.
        first_power: f64 = 0.15, range 0.01..=4.0;
        /// Variance added to every state after 1000 cycles.
        variance_v2: f64 = 0.000_745, unit "V^2", range 0.0..=1.0;
        /// Power of wear by which variances grow, also those of retention.
        variance_power: f64 = 0.779_245, range 0.01..=4.0;
    }
}

section! {
    /// Loss of charge over time, and how temperature speeds it up (calibration sections 1.1 and 1.3).
    pub struct Retention {
        /// Loss of the top state over `horizon_hours`, unworn.
        shift_v: f64 = 0.16, unit "V", range 0.0..=5.0;
        /// Increase of that loss at 1000 cycles of wear.
        shift_wear_v: f64 = 0.07, unit "V", range 0.0..=5.0;
        /// Power of wear in that gain.
        shift_wear_power: f64 = 0.5, range 0.01..=4.0;
        /// Variance added over `horizon_hours`, unworn.
        variance_v2: f64 = 0.002_917, unit "V^2", range 0.0..=1.0;
        /// Increase of that variance at 1000 cycles of wear.
        variance_wear_v2: f64 = 0.000_264, unit "V^2", range 0.0..=1.0;
        /// Time from which loss grows with the logarithm of time.
        onset_hours: f64 = 1.0, unit "hours", range 0.0001..=1000.0;
        /// Time over which the losses above are given.
        horizon_hours: f64 = 8_760.0, unit "hours", range 1.0..=1000000.0;
        /// Temperature at which time is counted.
        reference_c: f64 = 30.0, unit "degrees C", range -273.0..=300.0;
        /// Activation energy of the Arrhenius law.
        activation_ev: f64 = 1.1, unit "eV", range 0.0..=5.0;
        /// Boltzmann's constant.
        boltzmann_ev_per_k: f64 = 8.62e-5, unit "eV/K", range 8.6e-5..=8.7e-5;
    }
}

section! {
    /// Effects that add to a threshold or multiply errors (calibration section 1.2).
    pub struct Effects {
        /// Fall of the top state for each degree that the read is warmer than the program.
        cross_temperature_v_per_c: f64 = 0.000_6, unit "V/degree C", range 0.0..=0.1;
        /// Share of errors added when a block is first programmed `open_full_minutes` after its erase or later.
        open_share: f64 = 0.30, range 0.0..=10.0;
        /// Time from which the open interval counts.
        open_onset_minutes: f64 = 1.0, unit "minutes", range 0.001..=100000.0;
        /// Time after which it has no further effect.
        open_full_minutes: f64 = 1_440.0, unit "minutes", range 0.01..=10000000.0;
        /// Share of errors added by `suspends_full` suspends of an erase.
        suspend_share: f64 = 0.48, range 0.0..=10.0;
        /// Harmless suspends of one erase.
        suspends_free: u32 = 30, unit "suspends", range 0..=100000;
        /// Suspends at which `suspend_share` is reached; more do harm in proportion.
        suspends_full: u32 = 100, unit "suspends", range 1..=100000;
        /// Extra wear of an erase, in cycles per unit of that share: with 1, an erase with 100 suspends wears like
        /// 1.48. The papers only report errors.
        suspend_wear: f64 = 0.0, unit "cycles", range 0.0..=1_000.0;
        /// Random telegraph noise: each read of a page has up to this many more or fewer errors.
        rtn_bits: f64 = 2.0, unit "bits", range 0.0..=1000.0;
        /// Median errors, relative to the limit, of a page with one lower page sanitized by over-programming.
        osr_one_median: f64 = 1.0, range 0.0..=1000.0;
        /// The same if both lower pages were.
        osr_both_median: f64 = 2.12, range 0.0..=1000.0;
        /// Spread of the logarithm of that ratio.
        osr_sigma: f64 = 0.25, range 0.001..=10.0;
        /// Factor on it after a year.
        osr_year_factor: f64 = 1.8, range 1.0..=1000.0;
    }
}

section! {
    /// How wordlines of a block differ (calibration section 1.1). A wordline's height is 0 at the centre and 1 at the
    /// edge.
    pub struct Wordlines {
        /// Errors at the centre divided by errors at the edge; in between they follow the square of the height.
        error_centre: f64 = 0.6, range 0.01..=1.0;
        /// Increase of retention loss from centre to edge, relative to the centre.
        retention_edge: f64 = 0.3, range 0.0..=10.0;
        /// Shares of the groups Best, Good, Bad and Worst.
        group_shares: Vec<f64> = vec![0.4, 0.3, 0.2, 0.1], range 0.0..=1.0;
        /// Errors of each group over those of the worst.
        group_errors: Vec<f64> = vec![0.60, 0.75, 0.88, 1.00], range 0.01..=1.0;
    }
}

section! {
    /// What reads do to cells that are not read (calibration section 2).
    pub struct Disturb {
        /// Fowler-Nordheim slope: exponent constant over the pass voltage.
        slope: f64 = 34.3, range 0.0..=1000.0;
        /// Pass voltage of the neighbours above that of other wordlines.
        adjacent_v: f64 = 0.4, unit "V", range 0.0..=5.0;
        /// ln alpha(r) = this (1-r) + `ratio_square` (1-r)^2, r the pass voltage over the normal one.
        ratio_linear: f64 = 29.09, range 0.0..=10000.0;
        /// See `ratio_linear`.
        ratio_square: f64 = 278.9, range 0.0..=100000.0;
        /// Lowest pass voltage, relative to the normal one, at which cells still conduct.
        lowest_ratio: f64 = 0.96, range 0.5..=1.0;
        /// Harm of a read of each page type, relative to the worst.
        page_weights: Vec<f64> = vec![0.78, 1.0, 0.79], range 0.0..=1.0;
        /// Reads of a block that its data endures, in reads of the worst page type (MRC).
        max_reads: u32 = 40_000, unit "reads", range 1..=2000000000;
        /// Wear at which the next two are given.
        reference_kcycles: f64 = 2.0, unit "1000 cycles", range 0.0..=1000.0;
        /// Harm of a read of a neighbour, relative to that of another wordline, by group.
        adjacent: Vec<f64> = vec![8.7, 9.0, 9.3, 9.56], range 1.0..=1000.0;
        /// Effective reads (ERC) that a wordline endures, by group.
        erc_max: Vec<f64> = vec![870e3, 767e3, 632.5693e3, 521.7e3], unit "reads", range 1.0..=1e12;
        /// Increase of `adjacent` per 1000 cycles.
        adjacent_per_kcycle: f64 = 1.48, range 0.0..=1000.0;
        /// Factor on `erc_max` per 1000 cycles, by group.
        erc_decay: Vec<f64> = vec![0.95, 0.92, 0.846_189, 0.7783], range 0.0001..=1.0;
        /// Effective reads that the best wordline endures at `top_kcycles`.
        top_erc: f64 = 962e3, unit "reads", range 1.0..=1e12;
        /// See `top_erc`.
        top_kcycles: f64 = 3.0, unit "1000 cycles", range 0.0..=1000.0;
        /// Share of `top_erc` lost per 1000 cycles.
        top_decay: f64 = 0.05, range 0.0..=1.0;
        /// Rise of the erased state at `erc_max`, unworn.
        erased_shift_v: f64 = 1.461, unit "V", range 0.0..=10.0;
        /// Decrease of that rise over the first 1000 cycles.
        erased_shift_loss_v: f64 = 0.4955, unit "V", range 0.0..=10.0;
        /// Power of wear in that decrease.
        erased_shift_power: f64 = 0.25, range 0.01..=4.0;
        /// Additional decrease per 1000 cycles.
        erased_shift_per_kcycle_v: f64 = 0.0235, unit "V", range 0.0..=10.0;
    }
}

choice! {
    /// How recovery goes with the dwell, the time between a block's erases.
    pub enum DwellLaw {
        /// With its logarithm.
        Log = "log",
        /// By a logistic curve of its logarithm.
        Logistic = "logistic",
    }
}

section! {
    /// How chips and blocks differ, and what the firmware can see of it (calibration section 4.2). N12 is the number
    /// of errors of the worst wordline's sector after 12 months; quality is 0 for the worst block and 1 for the best.
    pub struct Population {
        /// N12 of the worst block, unworn.
        n12_worst: f64 = 20.8, unit "bits", range 0.0..=100000.0;
        /// How much lower it is for the best block.
        n12_span: f64 = 11.0, unit "bits", range 0.0..=100000.0;
        /// Increase of the worst block's N12 per 1000 cycles.
        growth_worst: f64 = 5.4, unit "bits", range 0.0001..=100000.0;
        /// How much smaller the increase is for the best block.
        growth_span: f64 = 2.0, unit "bits", range 0.0..=100000.0;
        /// Second parameter of the Beta(2, b) distribution of quality.
        quality_b: f64 = 1.2, range 0.1..=100.0;
        /// Quality is this times the Beta variable, plus `quality_offset`, clipped to the two limits below.
        quality_factor: f64 = 1.06, range 0.0..=10.0;
        /// See `quality_factor`.
        quality_offset: f64 = -0.02, range -1.0..=1.0;
        /// Lowest quality.
        quality_low: f64 = -0.02, range -1.0..=1.0;
        /// Highest quality.
        quality_high: f64 = 1.04, range 0.0..=2.0;
        /// Share of the variance between chips; the rest is between blocks.
        chip_share: f64 = 0.3, range 0.0..=1.0;
        /// N12 of the average block, unworn: wear of the voltage model is (N12 - this) / `mean_growth`.
        mean_n12: f64 = 13.9, unit "bits", range 0.0..=100000.0;
        /// Its increase per 1000 cycles.
        mean_growth: f64 = 4.14, unit "bits", range 0.0001..=100000.0;
        /// How much more retention loss a block of quality 0 has than one of quality 1; 0: the same for all.
        retention_span: f64 = 0.0, range 0.0..=1.0;
        /// Law of recovery between a block's erases.
        dwell: DwellLaw = DwellLaw::Log;
        /// Share of the wear recovered per factor e of dwell time (`log`).
        dwell_log: f64 = 0.0715, range 0.0..=0.15;
        /// Dwell beyond which nothing more is recovered (`log`); recovery starts at 1 minute.
        dwell_full_minutes: f64 = 180.0, unit "minutes", range 1.0..=1000000.0;
        /// Maximum share of the wear recovered (`logistic`).
        dwell_logistic: f64 = 0.392, range 0.0..=0.95;
        /// Logarithm of the minutes at half of it (`logistic`).
        dwell_middle: f64 = 2.07, range -10.0..=20.0;
        /// Width of the curve, in the logarithm (`logistic`).
        dwell_width: f64 = 0.64, range 0.01..=10.0;
        /// Share of old wear beyond full recovery that a dwell of 497,000 minutes (3 months at 40 degrees C) removes
        /// at the next erase; shorter dwells remove less, by their logarithm, down to none at `dwell_full_minutes`.
        rest_recovery: f64 = 0.0, range 0.0..=1.0;
        /// Share of the damage visible in erase time and fresh errors that does not recover.
        unrecovered: f64 = 0.3, range 0.0..=1.0;
    }
}

section! {
    /// What erasing, programming and reading back tell about a block's wear, with their noise (calibration section
    /// 4.2).
    pub struct Observables {
        /// Erase pulses needed without visible damage; the total is this plus `erase_per_bit` times the visible N12.
        erase_base: f64 = -0.65, unit "pulses", range -100.0..=100.0;
        /// See `erase_base`.
        erase_per_bit: f64 = 0.065, unit "pulses/bit", range 0.0..=100.0;
        /// Standard deviation of a block's erase pulses.
        erase_sigma: f64 = 0.0934, unit "pulses", range 0.0..=100.0;
        /// Length of an erase pulse, as the marker counts.
        erase_pulse_ms: f64 = 5.0, unit "ms", range 0.001..=1000.0;
        /// Steps of a pulse at the fine resolution.
        erase_fine: u32 = 10, unit "steps/pulse", range 1..=1000;
        /// Errors right after programming of the average block, unworn.
        fresh_base: f64 = 4.0, unit "bits", range 0.0..=10000.0;
        /// Their increase per bit of visible N12.
        fresh_per_bit: f64 = 0.32, unit "bits/bit", range 0.0..=100.0;
        /// Standard deviation of a block's fresh errors.
        fresh_sigma: f64 = 0.643, unit "bits", range 0.0..=1000.0;
        /// Program time of an unworn block.
        program_us: f64 = 720.0, unit "us", range 1.0..=100000.0;
        /// Its early decrease.
        program_early_us: f64 = 60.0, unit "us", range 0.0..=100000.0;
        /// Wear, in bits of N12, over which that happens.
        program_early_bits: f64 = 14.0, unit "bits", range 0.001..=100000.0;
        /// Its steady decrease.
        program_late_us: f64 = 55.7, unit "us", range 0.0..=100000.0;
        /// Wear, in bits of N12, over which that happens.
        program_late_bits: f64 = 50.0, unit "bits", range 0.001..=100000.0;
        /// How much of a block's unworn N12, from that of `program_quality`, counts as wear here.
        program_share: f64 = 0.6, range 0.0..=10.0;
        /// See `program_share`.
        program_quality: f64 = 0.62, range -1.0..=2.0;
        /// Standard deviation of a block's program time.
        program_sigma_us: f64 = 16.5, unit "us", range 0.0..=100000.0;
    }
}

/// Name of the normal mode, in which data is programmed if nobody says otherwise.
pub const NOMINAL: &str = "nominal";

/// The modes of redFTL+, which stand more reads.
fn default_mode_names() -> Vec<String> {
    [NOMINAL, "resistant", "very_resistant"].map(str::to_owned).to_vec()
}

section! {
    /// Program modes: lists of one length, the normal mode first (calibration sections 2.1, 3, 4.1).
    pub struct Modes {
        /// Names of the modes; the first is "nominal". `ftl.program_mode` chooses by name, and results count blocks
        /// and reads by name.
        names: Vec<String> = default_mode_names();
        /// Factor on all state means and on the program step.
        voltage_scale: Vec<f64> = vec![1.0, 1.0, 1.0], range 0.1..=3.0;
        /// Wear of a cycle, relative to the normal mode.
        wear: Vec<f64> = vec![1.0, 1.0, 1.0], range 0.0..=100.0;
        /// Program time, relative to the normal mode.
        program_time: Vec<f64> = vec![1.0, 1.08, 1.19], range 0.01..=100.0;
        /// Pass voltage of reads, relative to the normal one.
        pass_ratio: Vec<f64> = vec![1.0, 0.98, 0.96], range 0.5..=1.0;
        /// Reads endured, relative to the normal mode (alpha of redFTL+).
        read_endurance: Vec<f64> = vec![1.0, 2.0, 5.0], range 1.0..=1000.0;
        /// Sensing levels at each threshold.
        levels: Vec<f64> = vec![1.0, 1.0, 1.0], range 1.0..=15.0;
    }
}

choice! {
    /// How the correcting code is known.
    pub enum CodeKind {
        /// By a number of bits in a sector.
        Bch = "bch",
        /// By the highest error rate at each number of sensing levels.
        Ldpc = "ldpc",
    }
}

choice! {
    /// What more or fewer sensing levels than those of the normal mode cost a read.
    pub enum Sensing {
        /// `sense_us` for each level of all thresholds of the cell, whatever the page type (HIRE).
        Cell = "cell",
        /// `nand.timing.t_sense_us` for each threshold of the page type and for each level over those of the normal
        /// mode: tR = t_read_base_us + t_sense_us x thresholds x levels / levels of the normal mode.
        Page = "page",
    }
}

section! {
    /// Correction of errors, and how long reading takes for it (calibration section 3).
    pub struct Ecc {
        /// Data of one code word.
        sector_bytes: u32 = 1_024, unit "bytes", range 512..=16384;
        /// Parity of one code word.
        parity_bytes: u32 = 128, unit "bytes", range 1..=16384;
        /// How the code is described.
        code: CodeKind = CodeKind::Bch;
        /// Errors it corrects in a sector (`bch`).
        limit_bits: u32 = 64, unit "bits", range 1..=8192;
        /// Highest error rate at 1, 2, 3... sensing levels for each threshold (`ldpc`).
        max_rber: Vec<f64> = vec![0.004, 0.0058, 0.007, 0.0082, 0.0092, 0.0102, 0.011], range 1e-9..=0.5;
        /// Numbers of levels that the controller uses, in rising order.
        level_steps: Vec<f64> = vec![1.0, 3.0, 7.0], unit "levels", range 1.0..=15.0;
        /// What sensing levels cost a read; `page` needs `nand.timing.t_read_us = []`.
        sensing: Sensing = Sensing::Cell;
        /// Sensing time per level (`cell`).
        sense_us: f64 = 10.0, unit "us/level", range 0.0..=1000.0;
        /// Transfer time per bit of soft information.
        transfer_us: f64 = 20.0, unit "us/bit", range 0.0..=1000.0;
        /// Decoding time at each of `level_steps`.
        decode_us: Vec<f64> = vec![5.0, 10.0, 20.0], unit "us", range 0.0..=10000.0;
        /// Transfer of a page to the controller (tDMA of RealWear Eq. 2.2).
        page_transfer_us: f64 = 16.0, unit "us", range 0.0..=10000.0;
        /// Decoding of a page (tECC of RealWear Eq. 2.2).
        page_decode_us: f64 = 20.0, unit "us", range 0.0..=10000.0;
    }
}

section! {
    /// Read retry: lists of reference voltages to try when a page has too many errors (calibration section 5).
    pub struct Retry {
        /// How much lower each table entry reads the top state; other states in proportion.
        step_v: f64 = 0.05, unit "V", range 0.0001..=1.0;
        /// Entries after the first.
        entries: u32 = 15, unit "entries", range 0..=63;
        /// Number of lowest references that the table already shifts for wear.
        wear_shifted: u32 = 2, unit "references", range 0..=15;
        /// Errors beyond those of the table's index that cost one retry, at system level.
        bits_per_step: f64 = 5.0, unit "bits", range 0.01..=1000.0;
    }
}

section! {
    /// Markers of a block's age: estimates of its N12 from what the firmware sees, by least squares on virtual blocks
    /// of the part (`wordline lab fit-markers`; RealWear section 3.2.2). A list is the constant, in bits, and the
    /// factors of what is seen, in the order that is told. What an estimate is off is told for shares of .0005, .005,
    /// .05, .5, .95, .995 and .9995 of the blocks.
    pub struct Markers {
        /// Checksum of the cell constants that the markers were fitted to; markers for other cells are refused.
        fitted_on: u32 = 0, range 0..=2147483647;
        /// Seed of the blocks.
        seed: u32 = 1, range 0..=2147483647;
        /// RealWear: factors of 1000 cycles, ms of the last erase in fine steps, errors right after programming, and
        /// the logarithm of the minutes of dwell.
        real_wear: Vec<f64> = vec![], range -1000000.0..=1000000.0;
        /// Residuals: N12 minus that estimate.
        real_wear_off: Vec<f64> = vec![], unit "bits", range -1000000.0..=1000000.0;
        /// Errors added to those measured right after programming, for telegraph noise.
        guard_bits: f64 = 4.0, unit "bits", range 0.0..=1000.0;
        /// RealWear before calibration: the same factors, for whole erase pulses and errors with noise.
        uncalibrated: Vec<f64> = vec![], range -1000000.0..=1000000.0;
        /// Residuals: N12 minus that estimate.
        uncalibrated_off: Vec<f64> = vec![], unit "bits", range -1000000.0..=1000000.0;
        /// PeWear+: factors of 1000 cycles and us of program time.
        pe_tprog: Vec<f64> = vec![], range -1000000.0..=1000000.0;
        /// Residuals: N12 minus that estimate.
        pe_tprog_off: Vec<f64> = vec![], unit "bits", range -1000000.0..=1000000.0;
        /// Margin added to that estimate, so that .05 % of blocks die before it says so.
        pe_tprog_margin: f64 = 0.0, unit "bits", range -1000000.0..=1000000.0;
        /// PeWear++: factors of 1000 cycles, us of program time and errors right after programming.
        pe_tprog_ber: Vec<f64> = vec![], range -1000000.0..=1000000.0;
        /// Residuals: N12 minus that estimate.
        pe_tprog_ber_off: Vec<f64> = vec![], unit "bits", range -1000000.0..=1000000.0;
        /// Margin added to that estimate, so that .05 % of blocks die before it says so.
        pe_tprog_ber_margin: f64 = 0.0, unit "bits", range -1000000.0..=1000000.0;
    }
}

macro_rules! cell_part {
    ($($(#[doc = $doc:literal])+ $field:ident : $ty:ty = $path:literal;)+) => {
        /// All constants of a NAND part.
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        pub struct CellPart {
            $($(#[doc = $doc])+ pub $field: $ty,)+
        }

        impl CellPart {
            /// Paths of the sections in the order of declaration.
            pub const SECTIONS: &'static [&'static str] = &[$($path),+];

            /// The sections with their paths.
            pub fn sections(&self) -> impl Iterator<Item = (&'static str, &dyn Table)> {
                [$(($path, &self.$field as &dyn Table)),+].into_iter()
            }

            /// The section of that path.
            pub fn section(&self, path: &str) -> Option<&dyn Table> {
                match path { $($path => Some(&self.$field),)+ _ => None }
            }

            /// The section of that path, to change it.
            pub fn section_mut(&mut self, path: &str) -> Option<&mut dyn Table> {
                match path { $($path => Some(&mut self.$field),)+ _ => None }
            }

            /// The same, to change them.
            pub(crate) fn sections_mut(&mut self) -> impl Iterator<Item = (&'static str, &mut dyn Table)> {
                [$(($path, &mut self.$field as &mut dyn Table)),+].into_iter()
            }
        }
    };
}

cell_part! {
    /// Fresh cells.
    states: States = "cell.states";
    /// Wear.
    cycling: Cycling = "cell.cycling";
    /// Time and temperature.
    retention: Retention = "cell.retention";
    /// Other effects.
    effects: Effects = "cell.effects";
    /// Differences in a block.
    wordlines: Wordlines = "cell.wordlines";
    /// Reads.
    disturb: Disturb = "cell.disturb";
    /// Differences between blocks.
    population: Population = "cell.population";
    /// What is visible of wear.
    observables: Observables = "cell.observables";
    /// Program modes.
    modes: Modes = "cell.modes";
    /// Correction.
    ecc: Ecc = "cell.ecc";
    /// Retry table.
    retry: Retry = "cell.retry";
    /// Markers of age.
    markers: Markers = "cell.markers";
}
