//! The fit itself: one number after the other, each from the figure that fixes it.

use super::check::binary;
use super::fitter::{Because, CONTRADICTS, Fitter, Found, NEAR, TRIES};
use super::model::{GIB, Model, Suspension, program_told};
use super::predictions::Row;
use super::quantity::Dimension;
use super::sheet::{Beside, Measure, Sheet};
use super::trial::{Load, iops, mb_s, mean_us, percentile, run};
use crate::base::number::digits;
use crate::base::stop::Stop;
use crate::base::threads::on_all_cores;
use crate::plan::job::JobError;

/// Percentiles from here on are a tail.
const TAIL: f64 = 99.0;
/// What a drive may be slower in reads than its link before the link is not what limits it.
const LINK_SLACK: f64 = 0.97;
/// Policies that are tried where a skewed load was measured.
const VICTIMS: [&str; 5] = ["greedy", "cost_benefit", "d_choices", "cost_age_time", "fifo"];

/// A drive that was fitted.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// Its sheet.
    pub sheet: Sheet,
    /// Its numbers.
    pub model: Model,
    /// Why they are what they are.
    pub found: Vec<Found>,
    /// What it does, beside what was given.
    pub rows: Vec<Row>,
}

/// Fits a drive to a sheet. `told` hears what is being done, and how many of so many runs are; deterministic. Ends
/// early, as a failure, if `stop` is asked for.
pub fn fit(sheet: &Sheet, stop: &Stop, told: &mut dyn FnMut(&str)) -> Result<Fit, JobError> {
    let raw = sheet.raw.unwrap_or_else(|| binary(sheet.capacity));
    let model = Model::new(sheet.bits, raw, sheet.capacity);
    let mut fitter = Fitter { sheet, model, found: Vec::new(), fitted: Vec::new(), stop, told };
    fitter.given();
    fitter.parity();
    fitter.first_program();
    fitter.raw()?;
    fitter.program()?;
    fitter.link()?;
    fitter.firmware()?;
    fitter.reads()?;
    fitter.victim()?;
    fitter.suspension()?;
    fitter.cycles();
    fitter.open();
    let rows = fitter.rows()?;
    let (model, found) = (fitter.model, fitter.found);
    Ok(Fit { sheet: sheet.clone(), model, found, rows })
}

impl Fitter<'_> {
    /// What the sheet says outright.
    fn given(&mut self) {
        let sheet = self.sheet;
        let capacity = format!("{} GiB", digits(sheet.capacity / GIB));
        self.note("drive.logical_gib", capacity, Because::Fixed("the capacity".to_owned()));
        if let Some(dies) = sheet.dies {
            self.model = self.model.clone().with_dies(dies);
            self.note("dies", dies.to_string(), Because::Fixed("the sheet".to_owned()));
        } else {
            let dies = self.model.dies;
            let range = "of the usual size; another number goes with tPROG";
            self.note("dies", dies.to_string(), Because::Assumed(range.to_owned()));
        }
        self.model.planes = sheet.planes.unwrap_or(self.model.planes);
        let planes = self.model.planes.to_string();
        let because = match sheet.planes {
            Some(_) => Because::Fixed("the sheet".to_owned()),
            None => Because::Assumed("2 to 6; tPROG goes with it".to_owned()),
        };
        self.note("nand.geometry.planes_per_die", planes, because);
        (self.model.unit_kib, self.model.capacitors) = (sheet.unit_kib, sheet.capacitors.unwrap_or_default());
        let rated = [(Measure::RandomEndurance, "random"), (Measure::SequentialEndurance, "sequential")];
        self.model.rating = rated.into_iter().find_map(|(of, workload)| Some((sheet.get(of)?, workload)));
        let flush = if self.model.capacitors { "capacitors" } else { "program" };
        let because = match sheet.capacitors {
            Some(_) => Because::Fixed("the sheet".to_owned()),
            None => {
                Because::Assumed("or capacitors, as drives for data centres have: flush says it".to_owned())
            }
        };
        self.note("host.buffer.flush", flush, because);
    }

    fn parity(&mut self) {
        let Some(amplification) = self.sheet.get(Measure::SequentialAmplification) else {
            let range = "0 to 10 %: it takes its share of what is programmed, and of the over-provisioning";
            self.note("ftl.parity_percent", "0 %", Because::Assumed(range.to_owned()));
            return;
        };
        self.model.parity_percent = (1e4 * (amplification - 1.0)).round() / 100.0;
        let value = format!("{} %", digits(self.model.parity_percent));
        self.fixed("ftl.parity_percent", value, Measure::SequentialAmplification);
    }

    /// tPROG as it follows from the flash alone.
    fn first_program(&mut self) {
        if let Some(rate) = self.sheet.get(Measure::SequentialWrite) {
            let all = rate * (1.0 + self.model.parity_percent / 100.0);
            self.model.program_us = self.model.stripe_bytes() / all;
        }
        if let Some(rate) = self.sheet.get(Measure::SequentialRead) {
            self.model.link_mb_s = rate;
            self.channels_for(rate);
        }
    }

    /// Channels that carry so much.
    fn channels_for(&mut self, rate: f64) {
        let model = &mut self.model;
        for channel in [1_600.0, 2_400.0, 3_600.0] {
            model.channel_mb_s = channel;
            if channel * f64::from(model.channels) >= 1.3 * rate {
                break;
            }
        }
    }

    /// Flash, from what is programmed for each byte of random writes.
    fn raw(&mut self) -> Result<(), JobError> {
        let sheet = self.sheet;
        let Some(target) = self.random_amplification() else {
            let value = format!("{} GiB", digits(self.model.raw / GIB));
            let because = match sheet.raw {
                Some(_) => Because::Fixed("the sheet".to_owned()),
                None => Because::Assumed(format!(
                    "the next power of two; {} to {} GiB: a measured write amplification of random writes would fix it",
                    digits(sheet.capacity / GIB),
                    digits(1.3 * self.model.raw / GIB),
                )),
            };
            self.note("drive.raw_gib", value, because);
            return Ok(());
        };
        let raw = self.raw_for(target)?;
        let counted = sheet.get(Measure::RandomAmplification);
        let value = format!("{} GiB", digits(raw / GIB));
        if counted.is_some() {
            self.fixed("drive.raw_gib", value, Measure::RandomAmplification);
        } else {
            self.fixed("drive.raw_gib", value, Measure::SequentialEndurance);
            self.fitted.push(Measure::RandomEndurance);
        }
        if let Some(given) = sheet.raw.filter(|given| (raw / given - 1.0).abs() > 0.1) {
            let told = format!(
                "the sheet has {} GiB, and a write amplification of {} takes {} GiB; the latter is used",
                digits(given / GIB),
                digits(target),
                digits(raw / GIB)
            );
            self.note("drive.raw_gib", "the sheet's", Because::Contradicted(told));
        }
        Ok(())
    }

    /// tPROG, from sequential writes, or from random ones.
    fn program(&mut self) -> Result<(), JobError> {
        let sequential =
            self.sheet.get(Measure::SequentialWrite).map(|rate| (Measure::SequentialWrite, rate));
        let random = || self.sheet.get(Measure::RandomWrite).map(|rate| (Measure::RandomWrite, rate));
        let Some((measure, given)) = sequential.or_else(random) else {
            let value = format!("{} us", digits(self.model.program_us));
            let because = Because::Assumed("100 us to 3 ms: sequential_write would fix it".to_owned());
            self.note("nand.timing.t_program_us", value, because);
            return Ok(());
        };
        let is_sequential = measure == Measure::SequentialWrite;
        let load = if is_sequential { Load::Sequential { reads: false } } else { Load::Random { reads: 0 } };
        let mut best = (f64::INFINITY, self.model.program_us);
        for _ in 0..TRIES {
            self.say("tPROG, from writes")?;
            let result = run(&self.model, self.stop, load)?;
            let found = if is_sequential { mb_s(&result) } else { iops(&result) };
            let off = (found / given - 1.0).abs();
            if off < best.0 {
                best = (off, self.model.program_us);
            }
            if off < NEAR || found == 0.0 {
                break;
            }
            self.model.program_us *= found / given;
        }
        self.model.program_us = best.1;
        let told = program_told(&self.model);
        self.fixed("nand.timing.t_program_us", told, measure);
        if best.0 > 0.05 {
            let found = format!("no tPROG gives {}", measure.dimension().told(given));
            self.note(
                measure.key(),
                found,
                Because::Contradicted("the link or the channels carry less".to_owned()),
            );
        }
        Ok(())
    }

    /// The link's rate, from sequential reads.
    fn link(&mut self) -> Result<(), JobError> {
        let Some(given) = self.sheet.get(Measure::SequentialRead) else {
            let value = format!("{} MB/s", digits(self.model.link_mb_s));
            let because = Because::Assumed("PCIe 4.0 x4; sequential_read would fix it".to_owned());
            self.note("host.link.bandwidth_mb_s", value, because);
            return Ok(());
        };
        self.say("the link, from sequential reads")?;
        let found = mb_s(&run(&self.model, self.stop, Load::Sequential { reads: true })?);
        if found >= LINK_SLACK * given {
            self.model.link_mb_s = given * (given / found).clamp(1.0, 1.03);
            let value = format!("{} MB/s", digits(self.model.link_mb_s));
            self.fixed("host.link.bandwidth_mb_s", value, Measure::SequentialRead);
            return Ok(());
        }
        let value = format!("{} MB/s", digits(given));
        self.fixed("host.link.bandwidth_mb_s", &*value, Measure::SequentialRead);
        let told = format!(
            "{} dies read {} MB/s at {} us; more dies, a shorter tR or planes that read on their own would do",
            self.model.dies,
            digits(found),
            digits(self.model.read_us)
        );
        self.note("sequential_read", value, Because::Contradicted(told));
        Ok(())
    }

    /// Processor time of a command, from reads many at once, and the link's delay, from writes one at a time.
    fn firmware(&mut self) -> Result<(), JobError> {
        if let Some(rate) = self.sheet.get(Measure::RandomRead) {
            self.model.command_us = 1e6 / rate;
        }
        let Some(given) = self.sheet.get(Measure::WriteLatency) else {
            let because = Because::Assumed("0 to 5 us; write_latency would fix it".to_owned());
            self.note("host.link.latency_us", format!("{} us", digits(self.model.link_us)), because);
            return Ok(());
        };
        self.say("the link's delay, from writes one at a time")?;
        let found = mean_us(&run(&self.model, self.stop, Load::Single { reads: false })?);
        let delay = self.model.link_us + (given - found) / 2.0;
        self.model.link_us = delay.max(0.0);
        let value = format!("{} us each way", digits(self.model.link_us));
        self.fixed("host.link.latency_us", value, Measure::WriteLatency);
        if delay < 0.0 {
            let told = format!("a command alone takes {} us", digits(found - 2.0 * self.model.link_us));
            self.note("write_latency", Dimension::Time.told(given), Because::Contradicted(told));
        }
        Ok(())
    }

    /// tR, from reads one at a time; whether planes read on their own, from many.
    fn reads(&mut self) -> Result<(), JobError> {
        if let Some(given) = self.sheet.get(Measure::ReadLatency) {
            for _ in 0..2 {
                self.say("tR, from reads one at a time")?;
                let found = mean_us(&run(&self.model, self.stop, Load::Single { reads: true })?);
                self.model.read_us = (self.model.read_us + given - found).max(1.0);
            }
            let value = format!("{} us", digits(self.model.read_us));
            self.fixed("nand.timing.t_read_us", value, Measure::ReadLatency);
        } else {
            let value = format!("{} us", digits(self.model.read_us));
            let because = Because::Assumed("25 to 100 us; read_latency would fix it".to_owned());
            self.note("nand.timing.t_read_us", value, because);
        }
        let Some(given) = self.sheet.get(Measure::RandomRead) else {
            let because = Because::Assumed("0 to 2 us; random_read would fix it".to_owned());
            self.note("host.firmware.t_command_us", format!("{} us", digits(self.model.command_us)), because);
            return Ok(());
        };
        self.say("the time of a command, from reads many at once")?;
        let mut found = iops(&run(&self.model, self.stop, Load::Random { reads: 100 })?);
        if found < LINK_SLACK * given {
            self.model.independent = true;
            self.say("planes that read on their own, from reads many at once")?;
            let better = iops(&run(&self.model, self.stop, Load::Random { reads: 100 })?);
            let told = format!(
                "random_read {}: {} dies that read one page at a time reach {}",
                Dimension::Rate.told(given),
                self.model.dies,
                Dimension::Rate.told(found)
            );
            self.note("nand.timing.independent_reads", "true", Because::Fixed(told));
            found = better;
        }
        let value = format!("{} us", digits(self.model.command_us));
        self.fixed("host.firmware.t_command_us", value, Measure::RandomRead);
        if found < LINK_SLACK * given / CONTRADICTS {
            let told = format!("{} at most from {} dies", Dimension::Rate.told(found), self.model.dies);
            self.note("random_read", Dimension::Rate.told(given), Because::Contradicted(told));
        }
        Ok(())
    }

    /// Which block is cleaned, from skewed writes.
    fn victim(&mut self) -> Result<(), JobError> {
        let Some(given) = self.sheet.get(Measure::SkewedAmplification) else {
            let because = Because::Assumed(format!(
                "or {}; skewed_write_amplification would fix it",
                VICTIMS[1..].join(", ")
            ));
            self.note("ftl.gc_victim.policy", self.model.victim, because);
            return Ok(());
        };
        self.say("the victim policy, from skewed writes")?;
        let (model, stop) = (&self.model, self.stop);
        let tried = on_all_cores(VICTIMS.len(), |at| {
            run(&Model { victim: VICTIMS[at], ..model.clone() }, stop, Load::Skewed)
        });
        let mut best = (f64::INFINITY, VICTIMS[0]);
        for (victim, result) in VICTIMS.into_iter().zip(tried) {
            let off = (result?.write_amplification.unwrap_or(f64::INFINITY) / given).ln().abs();
            if off < best.0 {
                best = (off, victim);
            }
        }
        self.model.victim = best.1;
        self.fixed("ftl.gc_victim.policy", best.1, Measure::SkewedAmplification);
        Ok(())
    }

    /// How programs and erases give way, from the tails of reads beside writes.
    fn suspension(&mut self) -> Result<(), JobError> {
        let all = self.sheet.beside.iter().enumerate();
        let has_tails = |row: &Beside| row.reads.iter().any(|(percent, _)| *percent >= TAIL);
        let rows: Vec<&Beside> =
            all.filter(|(at, row)| self.fits_suspension(*at) && has_tails(row)).map(|(_, row)| row).collect();
        if rows.is_empty() {
            let value = self.model.suspension.told();
            let because =
                Because::Assumed("that of the default drive; reads_beside_writes would fix it".to_owned());
            self.note("flash.preemption.policy", value, because);
            return Ok(());
        }
        self.say("suspension, from reads beside writes")?;
        let (model, stop) = (&self.model, self.stop);
        let tried = on_all_cores(Suspension::ALL.len() * rows.len(), |at| {
            let model = Model { suspension: Suspension::ALL[at / rows.len()], ..model.clone() };
            run(&model, stop, Load::Beside { writes: rows[at % rows.len()].writes })
        });
        let mut off = [0.0; Suspension::ALL.len()];
        for (at, result) in tried.into_iter().enumerate() {
            let result = result?;
            let tails = rows[at % rows.len()].reads.iter().filter(|(percent, _)| *percent >= TAIL);
            off[at / rows.len()] +=
                tails.map(|(percent, us)| (percentile(&result, *percent) / us).ln().powi(2)).sum::<f64>();
        }
        let best = (0..off.len()).min_by(|a, b| off[*a].total_cmp(&off[*b])).unwrap_or(0);
        self.model.suspension = Suspension::ALL[best];
        let at: Vec<String> = rows.iter().map(|row| Dimension::Rate.told(row.writes)).collect();
        let by = format!("tails of reads beside {} of writes", at.join(" and "));
        self.note("flash.preemption.policy", self.model.suspension.told(), Because::Fixed(by));
        Ok(())
    }

    /// Erases that a block takes, by the drive's own counters.
    fn cycles(&mut self) {
        let smart = &self.sheet.smart;
        if let (Some(written), Some(used)) = (smart.nand_written, smart.wear_used) {
            self.model.cycles = (written / self.model.raw / (used / 100.0)).round().clamp(1.0, 1e8) as u32;
            let by = format!(
                "its counters: {} programmed, {} of its life",
                Dimension::Bytes.told(written),
                Dimension::Percent.told(used)
            );
            self.note("nand.reliability.endurance_cycles", self.model.cycles.to_string(), Because::Fixed(by));
        }
    }

    /// What nothing fixes at all.
    fn open(&mut self) {
        let erase = format!("{} us for a block", digits(self.model.erase_us));
        let range = "1 to 10 ms: garbage collection is rare enough that it hardly matters".to_owned();
        self.note("nand.timing.t_erase_us", erase, Because::Assumed(range));
        let channels = format!("{} of {} MB/s", self.model.channels, digits(self.model.channel_mb_s));
        let range = "any that carry sequential reads".to_owned();
        self.note("channels", channels, Because::Assumed(range));
        self.note(
            "host.buffer.size_mib",
            "16 MiB",
            Because::Assumed("4 to 64 MiB, with capacitors".to_owned()),
        );
    }
}
