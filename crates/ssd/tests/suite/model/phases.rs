//! A whole life of a drive: preconditioned, and then in phases, before each of which it grows older and is restored.

use super::super::ends::random_ends;
use super::super::setup::pick;
use super::{Run, Spans, Verdict, record, tell};
use ssd::ftl::sanitize;
use ssd::policy::FAMILIES;
use ssd::reconfigure::{ReconfigureError, is_changeable};
use ssd::rng::Rng;
use ssd::{AgeStep, Drive, DriveConfig, ExternalPolicies};

/// So many, and commands of one.
const PHASES: u64 = 3;
const COMMANDS: u64 = 400;

impl Run {
    /// The run of a seed whose drive is at an end of what can be; a thief watches where something is to be gone.
    pub fn at_ends(seed: u64) -> Run {
        let run = Run::drawn(seed, "model/ends", random_ends);
        if run.cfg.sanitize.name() == sanitize::FAMILY.default { run } else { run.watch(seed) }
    }

    /// Lives through all of it.
    pub fn run_phases(&mut self) -> Verdict {
        let rng = &mut Rng::named(self.cfg.drive.seed, "model/phases");
        let units = self.style.footprint * pick(rng, &[0, 50, 100]) / 100;
        if units > 0 {
            self.write_below(Some(0), units)?;
            let again = units / pick(rng, &[1, 2, 10]);
            self.write_below(None, again.max(1))?;
        }
        let changes = &mut Rng::named(self.cfg.drive.seed, "model/reconfigure");
        for phase in 1..=PHASES {
            if phase > 1 {
                self.reconfigure(changes)?;
            }
            self.grow_older(rng)?;
            self.snapshot()?;
            self.serve(phase * COMMANDS)?;
            self.rest()?;
            self.collect()?;
        }
        self.finish()
    }

    /// Goes on with other policies, as far as an aged drive may have others.
    fn reconfigure(&mut self, rng: &mut Rng) -> Verdict {
        let mut cfg = self.cfg.clone();
        for family in FAMILIES.iter().filter(|family| is_changeable(&family.section())) {
            let member = family.members[rng.below(family.members.len() as u32) as usize].name;
            let (mut other, kept) = (cfg.clone(), rng.below(2) == 0);
            let table = other.section_mut(&family.section()).ok_or("a family without a section")?;
            if !kept && table.select(member).is_ok() && other.validate().is_ok() {
                cfg = other;
            }
        }
        self.go_on_as(cfg)
    }

    /// The drive goes on under another configuration, with nothing under way.
    fn go_on_as(&mut self, cfg: DriveConfig) -> Verdict {
        self.collect()?;
        if let Some(spans) = &mut self.spans {
            spans.check(&mut self.drive)?;
        }
        let hash = self.drive.event_hash();
        match self.drive.reconfigure(&self.cfg, &cfg, ExternalPolicies::default()) {
            Ok(()) => {
                self.cfg = cfg;
                tell(&mut self.drive, &self.ahead);
                record(&mut self.drive, self.chips.is_some());
            }
            // No such drive can be built, new or old, and it stays what it is.
            Err(ReconfigureError::Config(errors))
                if Drive::new(&cfg).err().as_ref() == Some(&errors) && self.drive.event_hash() == hash => {}
            Err(error) => return Err(error.to_string()),
        }
        self.spans = self.spans.is_some().then(|| Spans::begin(&mut self.drive));
        self.check()
    }

    /// Steps of ageing that the drive can take; others leave it as it is.
    fn grow_older(&mut self, rng: &mut Rng) -> Verdict {
        let most = self.drive.blocks().erase_counts().iter().copied().max().unwrap_or(0);
        let steps = [
            format!("cycle to {}", most + pick(rng, &[1, 300, 5_000])),
            format!("retain {}", pick(rng, &["1 minute", "1 month", "5 years"])),
            format!("disturb {} reads", pick(rng, &[1, 1_000, 50_000])),
            format!("disturb {} reads of wordline 0", pick(rng, &[1, 50_000])),
        ];
        for step in steps {
            if rng.below(3) == 0 {
                let step: AgeStep = step.parse().map_err(|error| format!("{step}: {error}"))?;
                let hash = self.drive.event_hash();
                match self.drive.age(&step) {
                    Ok(()) => self.aged += 1,
                    Err(_) if self.drive.event_hash() == hash => {}
                    Err(error) => return Err(format!("{error}, and something has happened")),
                }
                self.check()?;
                self.snapshot()?;
            }
        }
        Ok(())
    }
}
