//! Is a part possible? Every rule that two or more constants must keep, told with the key that breaks it.

use super::ecc::capacity_limit;
use crate::config::{ConfigError, ConfigErrors, KeyAt, Problem};
use crate::nand::gray;
use crate::sections::CellPart;
use crate::sections::cell::NOMINAL;

impl CellPart {
    /// Is every constant in range, and do they fit together? All errors are reported, not just the first.
    pub fn validate(&self) -> Result<(), ConfigErrors> {
        let mut rules = Rules(Vec::new());
        for (path, section) in self.sections() {
            for (key, problem) in section.check() {
                let keys = vec![KeyAt { key: format!("{path}.{key}"), origin: None }];
                rules.0.push(ConfigError { keys, origin: None, problem });
            }
        }
        if rules.0.is_empty() {
            self.check_states(&mut rules);
            self.check_wordlines(&mut rules);
            self.check_disturb(&mut rules);
            self.check_population(&mut rules);
            self.check_modes(&mut rules);
            self.check_code(&mut rules);
            self.check_markers(&mut rules);
        }
        if rules.0.is_empty() { Ok(()) } else { Err(ConfigErrors(rules.0)) }
    }

    fn check_states(&self, rules: &mut Rules) {
        let bits = self.states.bits_per_cell;
        let means = &self.states.mean_v;
        let keys = ["cell.states.mean_v", "cell.states.bits_per_cell"];
        if means.len() != 1 << bits {
            let allowed = format!("{} means, one for each state of {bits} bits per cell", 1 << bits);
            rules.broken(&keys, format!("{} means", means.len()), &allowed);
            return;
        }
        if let Some(at) = means.windows(2).position(|pair| pair[0] >= pair[1]) {
            let found = format!(
                "states out of order: state {} at {} V, state {} at {} V",
                at,
                means[at],
                at + 1,
                means[at + 1]
            );
            rules.broken(&keys[..1], found, "means that rise from the erased state on");
        }
        if means.last().is_some_and(|top| *top <= 0.0) {
            rules.broken(
                &keys[..1],
                format!("top state at {} V", means[means.len() - 1]),
                "a top state above 0 V",
            );
        }
        let code = &self.states.gray_code;
        if !code.is_empty()
            && let Err(what) = gray::check(code, bits)
        {
            let allowed = format!(
                "{bits} rows, one for each page type, with each threshold of 1 to {} exactly once, so that all states \
                 hold different bits; or [] for the usual code",
                (1u32 << bits) - 1
            );
            let keys = ["cell.states.gray_code", "cell.states.bits_per_cell"];
            rules.broken(&keys, format!("a table that is not a Gray code: it {what}"), &allowed);
        }
    }

    fn check_wordlines(&self, rules: &mut Rules) {
        let shares = &self.wordlines.group_shares;
        if by_group(rules, "cell.wordlines.group_shares", shares) {
            let sum: f64 = shares.iter().sum();
            if (sum - 1.0).abs() > 1e-9 {
                rules.broken(
                    &["cell.wordlines.group_shares"],
                    format!("shares that sum to {}", libm::round(sum * 1e6) / 1e6),
                    "a sum of 1",
                );
            }
        }
        let errors = &self.wordlines.group_errors;
        let centre = self.wordlines.error_centre;
        if by_group(rules, "cell.wordlines.group_errors", errors) {
            if !errors.is_sorted() {
                rules.broken(
                    &["cell.wordlines.group_errors"],
                    format!("{errors:?}"),
                    "factors that rise from Best to Worst",
                );
            } else if errors[0] < centre {
                let keys = ["cell.wordlines.group_errors", "cell.wordlines.error_centre"];
                let found = format!("{} below the centre's {centre}", errors[0]);
                rules.broken(&keys, found, "no group with fewer errors than the centre of the block");
            }
        }
    }

    fn check_disturb(&self, rules: &mut Rules) {
        let d = &self.disturb;
        let weights = d.page_weights.len();
        if weights != self.states.bits_per_cell as usize {
            let keys = ["cell.disturb.page_weights", "cell.states.bits_per_cell"];
            rules.broken(&keys, format!("{weights} weights"), "one for each page type");
        }
        by_group(rules, "cell.disturb.adjacent", &d.adjacent);
        by_group(rules, "cell.disturb.erc_decay", &d.erc_decay);
        if by_group(rules, "cell.disturb.erc_max", &d.erc_max) && !d.erc_max.iter().rev().is_sorted() {
            rules.broken(
                &["cell.disturb.erc_max"],
                format!("{:?}", d.erc_max),
                "numbers that fall from Best to Worst",
            );
        }
    }

    fn check_population(&self, rules: &mut Rules) {
        let p = &self.population;
        if p.quality_low > p.quality_high {
            let keys = ["cell.population.quality_low", "cell.population.quality_high"];
            rules.broken(
                &keys,
                format!("{} above {}", p.quality_low, p.quality_high),
                "quality_low at most quality_high",
            );
            return;
        }
        for (base, span) in [("n12_worst", "n12_span"), ("growth_worst", "growth_span")] {
            let (worst, less) = match base {
                "n12_worst" => (p.n12_worst, p.n12_span),
                _ => (p.growth_worst, p.growth_span),
            };
            if worst - less * p.quality_high <= 0.0 {
                let keys = [format!("cell.population.{span}"), format!("cell.population.{base}")];
                let found = format!("{} for the best block", worst - less * p.quality_high);
                rules.broken(&[&keys[0], &keys[1]], found, "errors of the best block above 0");
            }
        }
        let least = 1.0 - p.dwell_log * libm::log(p.dwell_full_minutes);
        if least <= 0.0 {
            let keys = ["cell.population.dwell_log", "cell.population.dwell_full_minutes"];
            rules.broken(&keys, format!("{least} of the wear left"), "recovery of less than all wear");
        }
        let effects = &self.effects;
        if effects.suspends_full <= effects.suspends_free {
            let keys = ["cell.effects.suspends_full", "cell.effects.suspends_free"];
            let found = format!("{} with {} free", effects.suspends_full, effects.suspends_free);
            rules.broken(&keys, found, "suspends_full above suspends_free");
        }
    }

    fn check_modes(&self, rules: &mut Rules) {
        let m = &self.modes;
        let lists = [
            ("wear", &m.wear),
            ("program_time", &m.program_time),
            ("pass_ratio", &m.pass_ratio),
            ("read_endurance", &m.read_endurance),
            ("levels", &m.levels),
        ];
        let modes = m.voltage_scale.len();
        check_mode_names(&m.names, modes, rules);
        if modes == 0 {
            rules.broken(
                &["cell.modes.voltage_scale"],
                "an empty list".to_owned(),
                "at least the normal mode",
            );
        }
        for (name, list) in lists {
            if list.len() != modes {
                let keys = [format!("cell.modes.{name}"), "cell.modes.voltage_scale".to_owned()];
                rules.broken(
                    &[&keys[0], &keys[1]],
                    format!("lists of {} and {modes}", list.len()),
                    "one number for each mode",
                );
            }
        }
        let lowest = self.disturb.lowest_ratio;
        if let Some(low) = m.pass_ratio.iter().find(|ratio| **ratio < lowest) {
            let keys = ["cell.modes.pass_ratio", "cell.disturb.lowest_ratio"];
            rules.broken(
                &keys,
                format!("{low}"),
                &format!("at least {lowest}: below it cells no longer conduct"),
            );
        }
    }

    /// A limit that no code of that parity reaches is a slip: for BCH the algebra's bound, for LDPC the capacity.
    fn check_code(&self, rules: &mut Rules) {
        let ecc = &self.ecc;
        let (data, parity) = (u64::from(ecc.sector_bytes) * 8, u64::from(ecc.parity_bytes) * 8);
        let order = u64::BITS - (data + parity).leading_zeros();
        let most = parity / u64::from(order);
        if ecc.code == crate::sections::cell::CodeKind::Bch && u64::from(ecc.limit_bits) > most {
            let keys = ["cell.ecc.limit_bits", "cell.ecc.parity_bytes", "cell.ecc.sector_bytes"];
            let found = format!("{} bits corrected by {} bytes of parity", ecc.limit_bits, ecc.parity_bytes);
            rules.broken(
                &keys,
                found,
                &format!("at most {most} bits: a BCH code needs {order} bits of parity for each"),
            );
        }
        let rates = &ecc.max_rber;
        if rates.is_empty() || !rates.is_sorted() {
            rules.broken(
                &["cell.ecc.max_rber"],
                format!("{rates:?}"),
                "error rates that do not fall with more levels",
            );
        } else if ecc.code == crate::sections::cell::CodeKind::Ldpc {
            let rate = data as f64 / (data + parity) as f64;
            let (hard, soft) = capacity_limit(rate);
            let keys = ["cell.ecc.max_rber", "cell.ecc.parity_bytes", "cell.ecc.sector_bytes"];
            for (levels, limit) in rates.iter().enumerate() {
                let most = if levels == 0 { hard } else { soft };
                if *limit > most {
                    let found = format!("{limit} at {} levels", levels + 1);
                    rules.broken(
                        &keys,
                        found,
                        &format!("at most {most:.2e}: the capacity at a code rate of {rate:.3}"),
                    );
                }
            }
        }
        self.check_levels(rules);
    }

    fn check_levels(&self, rules: &mut Rules) {
        let ecc = &self.ecc;
        let whole = |x: &f64| *x == libm::floor(*x);
        let known = |x: &f64| *x <= ecc.max_rber.len() as f64;
        let steps = &ecc.level_steps;
        if steps.is_empty()
            || steps.windows(2).any(|pair| pair[0] >= pair[1])
            || !steps.iter().all(|x| whole(x) && known(x))
        {
            let keys = ["cell.ecc.level_steps", "cell.ecc.max_rber"];
            let allowed = "whole numbers that rise, each with an entry in max_rber";
            rules.broken(&keys, format!("{steps:?}"), allowed);
        } else if ecc.decode_us.len() != steps.len() {
            let keys = ["cell.ecc.decode_us", "cell.ecc.level_steps"];
            rules.broken(&keys, format!("{} times", ecc.decode_us.len()), "one for each of level_steps");
        }
        if !self.modes.levels.iter().all(whole) {
            rules.broken(&["cell.modes.levels"], format!("{:?}", self.modes.levels), "whole numbers");
        }
    }
}

/// One name for each mode, the normal one first, and each of small letters, digits and `_`: they are keys of results.
fn check_mode_names(names: &[String], modes: usize, rules: &mut Rules) {
    let is_key = |name: &String| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    };
    if names.len() != modes {
        let keys = ["cell.modes.names", "cell.modes.voltage_scale"];
        rules.broken(&keys, format!("lists of {} and {modes}", names.len()), "one name for each mode");
    } else if names.first().is_some_and(|first| first != NOMINAL)
        || !names.iter().all(is_key)
        || (1..names.len()).any(|at| names[..at].contains(&names[at]))
    {
        let allowed = format!("\"{NOMINAL}\" first, then other names of small letters, digits and _");
        rules.broken(&["cell.modes.names"], format!("{names:?}"), &allowed);
    }
}

fn by_group(rules: &mut Rules, key: &str, list: &[f64]) -> bool {
    if list.len() != 4 {
        rules.broken(&[key], format!("a list of {}", list.len()), "four numbers: Best, Good, Bad, Worst");
    }
    list.len() == 4
}

pub(super) struct Rules(Vec<ConfigError>);

impl Rules {
    pub(super) fn broken(&mut self, keys: &[&str], found: String, allowed: &str) {
        let keys = keys.iter().map(|key| KeyAt { key: (*key).to_owned(), origin: None }).collect();
        let problem = Problem::Conflict { found, allowed: allowed.to_owned() };
        self.0.push(ConfigError { keys, origin: None, problem });
    }
}
