//! A drive for a workload, by the rule of [`crate::plan::sizing`]: what was found, in a line for people.

use super::answers::question;
use super::asked::Job;
use super::error::JobError;
use super::sized::{Apart, Sized};
use crate::base::number::{duration, of_things, percent};
use crate::past::precondition::Spare;
use crate::plan::sizing::{
    FOOTPRINT_BYTES_MIN, Fixed, Need, SizeChoice, bytes, fit, like, raw_bytes, with_spare,
};
use ssd::DriveConfig;
use workload::{Prepared, SECTOR_BYTES};

/// Space that is taken for a generator where it addresses a share of whatever drive there is.
pub const GENERATOR_SPACE_BYTES: u64 = 8 << 30;

const CHIPS: &str = "nand.geometry.chips_per_channel";
const WORDLINES: &str = "nand.geometry.wordlines_per_block";
const ERASE: &str = "nand.timing.t_erase_us";

/// The need of a workload that runs unchanged on so many sectors, or on a share of any drive.
pub fn need(space_sectors: Option<u64>) -> Need {
    match space_sectors {
        Some(sectors) => Need::Footprint(sectors.saturating_mul(SECTOR_BYTES)),
        None => Need::Share,
    }
}

/// Finds the smallest drive of the default's kind; with the user's settings it keeps that one's geometry, if it is a
/// drive with them and the workload fits on it.
pub fn size(job: &Job, need: Need, choice: SizeChoice) -> Result<Sized, JobError> {
    match &job.memo {
        Some(memo) => {
            let asked = format!("{need:?} {choice:?} {}", job.levels.are_any());
            memo.sizes.get(&(question(job, None) + "\n" + &asked), || size_anew(job, need, choice))
        }
        None => size_anew(job, need, choice),
    }
}

impl Job {
    /// The drive that it is sized to for a workload; none if its size is not open.
    pub(crate) fn sized(&self, workload: &Prepared) -> Result<Option<Sized>, JobError> {
        if !self.leave_the_size_open() {
            return Ok(None);
        }
        let (job, ..) = self.with_libraries()?;
        let choice = job.run()?.0.size;
        size(&job, need(workload.space_sectors()), choice).map(Some)
    }
}

fn size_anew(job: &Job, need: Need, choice: SizeChoice) -> Result<Sized, JobError> {
    check(need, choice)?;
    let drive = job.resolve(None)?;
    let wanted = &drive.config;
    let fixed = Fixed { chips: job.sets(CHIPS), wordlines: job.sets(WORDLINES) };
    if let Need::Footprint(footprint) = need
        && job.names_a_drive()
    {
        return named(job, wanted, footprint, fixed);
    }
    // Chips that are no drive without the other settings are sized with them.
    let chips = job.chips().ok();
    let kind = chips.as_ref().map(|chips| format!("{need:?} {choice:?}\n{}", chips.text()));
    let level = kind.as_ref().and_then(|kind| job.levels.0.get(kind));
    let found = chips.and_then(|chips| fit(&chips.config, need, choice, fixed));
    let is_like = |like: &DriveConfig| Some(with_geometry(wanted, like)).filter(|config| holds(config, need));
    let (leveled, kept) = (level.and_then(is_like), found.as_ref().and_then(is_like));
    let (is_leveled, is_other) = (leveled.is_some(), kept.is_none() && found.is_some());
    let config = leveled.or(kept).or_else(|| fit(wanted, need, choice, fixed));
    let Some(config) = config else {
        let message = match need {
            Need::Footprint(footprint) => format!(
                "no drive of this kind can hold the workload's footprint of {}: name a drive with --drive \
                 or --config",
                bytes(footprint)
            ),
            Need::Share => {
                "no small drive of this kind can be built: name one with --drive or --config".to_owned()
            }
        };
        return Err(JobError::new(message));
    };
    let mut sized = described(job, wanted, &config, (need, choice));
    if is_leveled {
        sized.note.push_str("; as large as a run of the sweep needs");
    } else if is_other {
        sized.note.push_str(
            "; the geometry differs from the default because the settings need more room or more blocks \
             beyond the data",
        );
        if let Some(net) = Spare::when_full(&config).net {
            sized.note.push_str(&format!(", and leave {} of effective over-provisioning", percent(net)));
        }
        sized.apart = kind.map(|kind| Apart { kind, config });
    }
    Ok(sized)
}

/// The drive that was named, with the capacity that the workload needs.
fn named(job: &Job, wanted: &DriveConfig, footprint: u64, fixed: Fixed) -> Result<Sized, JobError> {
    let Some(config) = like(wanted, footprint, fixed) else {
        return Err(JobError::new(format!(
            "--size footprint\n    found:   a drive that cannot be made as small as {}\n    allowed: another drive, or \
             this one as it is (--size auto)",
            bytes(footprint)
        )));
    };
    let mut sized = described(job, wanted, &config, (Need::Footprint(footprint), SizeChoice::Footprint));
    sized.toml.push_str(&format!("[drive]\nlogical_gib = {:?}\n", config.drive.logical_gib));
    if wanted.drive.raw_gib > 0.0 {
        sized.toml.push_str("raw_gib = 0.0\n");
    }
    let percent = |of: &DriveConfig| 100.0 * (with_spare(of) - 1.0);
    let (has, had) = (percent(&config), percent(wanted));
    sized.note.push_str(&format!(
        "; over-provisioning {has:.1} % of the capacity, as the whole drive has {had:.1} %"
    ));
    Ok(sized)
}

/// Refuses a drive as small as a footprint that is too small, or that nobody knows.
fn check(need: Need, choice: SizeChoice) -> Result<(), JobError> {
    let found = match (choice, need) {
        (SizeChoice::Auto, _) => return Ok(()),
        (SizeChoice::Footprint, Need::Footprint(footprint)) if footprint >= FOOTPRINT_BYTES_MIN => {
            return Ok(());
        }
        (SizeChoice::Footprint, Need::Footprint(footprint)) => {
            format!("a workload that touches {}", bytes(footprint))
        }
        (SizeChoice::Footprint, Need::Share) => {
            "a generator that uses a share of whatever drive there is".to_owned()
        }
    };
    let least = bytes(FOOTPRINT_BYTES_MIN);
    Err(JobError::new(format!(
        "--size footprint\n    found:   {found}\n    allowed: a footprint of at least {least} (for a \
         generator: --footprint 1GiB)"
    )))
}

/// Whether a configuration makes a drive, and one that the workload fits on.
fn holds(config: &DriveConfig, need: Need) -> bool {
    let is_large_enough = match need {
        Need::Footprint(bytes) => config.logical_bytes() >= bytes,
        // It takes its share of whatever there is.
        Need::Share => true,
    };
    is_large_enough && config.validate().is_ok()
}

/// A drive with the geometry of another.
fn with_geometry(config: &DriveConfig, of: &DriveConfig) -> DriveConfig {
    let mut config = config.clone();
    config.geometry = of.geometry.clone();
    config
}

fn described(
    job: &Job,
    preset: &DriveConfig,
    config: &DriveConfig,
    (need, choice): (Need, SizeChoice),
) -> Sized {
    let mut toml = String::from("[nand.geometry]\n");
    let (old, new) = (&preset.geometry, &config.geometry);
    for (key, old, new) in [
        ("channels", old.channels, new.channels),
        ("chips_per_channel", old.chips_per_channel, new.chips_per_channel),
        ("dies_per_chip", old.dies_per_chip, new.dies_per_chip),
        ("wordlines_per_block", old.wordlines_per_block, new.wordlines_per_block),
        ("blocks_per_plane", old.blocks_per_plane, new.blocks_per_plane),
    ] {
        if old != new {
            toml.push_str(&format!("{key} = {new}\n"));
        }
    }
    let erased = if job.sets(ERASE) { String::new() } else { erased(preset, config, &mut toml) };
    let logical = config.logical_bytes();
    let for_what = match need {
        Need::Footprint(footprint) => {
            let percent = 100.0 * footprint as f64 / logical as f64;
            format!("the workload touches {} ({percent:.0} %)", bytes(footprint))
        }
        Need::Share => "of the size for generated workloads".to_owned(),
    };
    let shape = format!(
        "{} x {} x {} x {} of {}{erased}",
        of_things(new.channels.into(), "channel"),
        of_things((new.chips_per_channel * new.dies_per_chip).into(), "die"),
        of_things(new.planes_per_die.into(), "plane"),
        of_things(new.blocks_per_plane.into(), "block"),
        bytes(u64::from(new.pages_per_block()) * u64::from(new.page_bytes)),
    );
    let (logical, raw) = (bytes(logical), bytes(raw_bytes(config)));
    let mut note = format!("drive: {logical} for the host of {raw} of flash, {for_what}; {shape}");
    if choice == SizeChoice::Footprint {
        note.push_str(&given_up(preset, config));
    }
    Sized { toml, note, apart: None }
}

/// Shorter blocks keep their erase time per byte, and the length of its steps; what is said of it.
fn erased(preset: &DriveConfig, config: &DriveConfig, toml: &mut String) -> String {
    let [old, new] = [preset, config].map(|of| of.geometry.wordlines_per_block);
    if old == new {
        return String::new();
    }
    let share = f64::from(new) / f64::from(old);
    let whole_us = preset.timing.t_erase_us;
    let steps = (f64::from(preset.timing.erase_steps) * share).round().max(1.0);
    toml.push_str(&format!("[nand.timing]\nt_erase_us = {:?}\nerase_steps = {steps}\n", whole_us * share));
    toml.push_str(&format!("[nand.slc]\nt_erase_us = {:?}\n", preset.slc.t_erase_us * share));
    let [part, whole] = [whole_us * share, whole_us].map(|us| duration(us * 1e3));
    format!(", erased in {part} ({whole} for a whole block)")
}

/// What a drive as small as a footprint has no more.
fn given_up(preset: &DriveConfig, config: &DriveConfig) -> String {
    let (old, new) = (&preset.geometry, &config.geometry);
    let parts = [
        ("wordlines a block", old.wordlines_per_block, new.wordlines_per_block),
        ("dies", old.dies(), new.dies()),
    ];
    let gone = parts.into_iter().filter(|(_, old, new)| old != new);
    let gone: Vec<String> = gone.map(|(what, old, new)| format!("{new} {what} instead of {old}")).collect();
    if gone.is_empty() { String::new() } else { format!("; given up for that: {}", gone.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::job::Levels;

    fn sized(need: Need, set: &[&str]) -> (Sized, DriveConfig) {
        let set: Vec<String> = set.iter().map(ToString::to_string).collect();
        let job = Job::read(None, None, &set).unwrap();
        assert!(job.leave_the_size_open());
        let sized = size(&job, need, SizeChoice::Auto).unwrap();
        let config = job.resolve(Some(&sized.toml)).unwrap().config.clone();
        (sized, config)
    }

    #[test]
    fn what_was_set_stays() {
        let set = ["nand.geometry.chips_per_channel=2", "drive.over_provisioning_percent=28"];
        let (_, config) = sized(Need::Footprint(1 << 30), &set);
        assert_eq!(config.geometry.chips_per_channel, 2);
        assert!((config.physical_units() as f64 / config.logical_units() as f64 - 1.28).abs() < 1e-3);
        let set = ["drive.logical_gib=10".to_owned()];
        assert!(!Job::read(None, None, &set).unwrap().leave_the_size_open());
    }

    #[test]
    fn shorter_blocks_keep_their_erase_time_per_byte() {
        let whole = Job::read(None, Some("client_tlc"), &[]).unwrap().resolve(None).unwrap().config.clone();
        let per_wordline = |config: &DriveConfig| {
            let wordlines = f64::from(config.geometry.wordlines_per_block);
            [config.timing.t_erase_us, config.slc.t_erase_us].map(|us| us / wordlines)
        };
        for need in [Need::Share, Need::Footprint(1 << 20), Need::Footprint(300 << 30)] {
            let (told, config) = sized(need, &[]);
            let pairs = per_wordline(&config).into_iter().zip(per_wordline(&whole));
            assert!(pairs.clone().all(|(own, of_whole)| (own / of_whole - 1.0).abs() < 1e-9), "{pairs:?}");
            let is_shorter = config.geometry.wordlines_per_block < whole.geometry.wordlines_per_block;
            assert_eq!(told.note.contains(", erased in "), is_shorter, "{}", told.note);
            // Steps keep their length, or there is one that is shorter.
            let step = |config: &DriveConfig| config.timing.t_erase_us / f64::from(config.timing.erase_steps);
            assert!(config.timing.erase_steps == 1 || (step(&config) / step(&whole) - 1.0).abs() < 0.5);
        }
        let (told, config) = sized(Need::Share, &["nand.timing.t_erase_us=1000"]);
        assert_eq!((config.timing.t_erase_us, told.note.contains("erased in")), (1_000.0, false));
    }

    #[test]
    fn a_setting_does_not_change_the_geometry() {
        for need in [Need::Share, Need::Footprint(4 << 30), Need::Footprint(40 << 30)] {
            let (_, plain) = sized(need, &[]);
            for percent in [7, 15, 20, 28] {
                let set = format!("drive.over_provisioning_percent={percent}");
                let (told, swept) = sized(need, &[&set]);
                assert_eq!(swept.geometry, plain.geometry, "{set}");
                let spare = swept.physical_units() as f64 / swept.logical_units() as f64;
                assert!((spare - 1.0 - f64::from(percent) / 100.0).abs() < 1e-3, "{set}: {spare}");
                assert!(!told.note.contains("the geometry differs"), "{}", told.note);
            }
        }
        // A setting that leaves too little room for the footprint makes the drive larger.
        let (told, roomy) = sized(Need::Footprint(40 << 30), &["drive.over_provisioning_percent=60"]);
        assert!(roomy.logical_bytes() >= 40 << 30 && told.note.contains("the geometry differs"));
    }

    /// Policies are compared on one drive: the largest that one of them needs.
    #[test]
    fn drives_to_be_compared_have_one_geometry() {
        let [few, many] = ["none", "placement_id"]
            .map(|policy| Job::read(None, None, &[format!("ftl.stream.policy={policy}")]).unwrap());
        let size_of = |job: &Job| size(job, Need::Share, SizeChoice::Auto).unwrap();
        let apart = size_of(&many);
        let net = apart.note.split("and leave ").nth(1).unwrap();
        assert!(
            apart.note.contains("the geometry differs") && net.contains("% of effective over-provisioning"),
            "{}",
            apart.note
        );
        let mut levels = Levels::default();
        [size_of(&few), apart.clone()].into_iter().for_each(|sized| levels.take(sized));
        assert!(levels.are_any());
        let [few, many] = [few, many].map(|job| {
            let job = job.sized_like(levels.clone());
            let sized = size_of(&job);
            assert!(sized.note.contains("as large as a run of the sweep needs"), "{}", sized.note);
            job.resolve(Some(&sized.toml)).unwrap().config.clone()
        });
        assert_eq!(few.geometry, many.geometry);
        assert_eq!(few.logical_units(), many.logical_units());
    }

    #[test]
    fn a_named_drive_is_made_as_small_as_a_footprint_if_it_is_asked_for() {
        let job = |drive: &str, more: &[&str]| {
            let sets: Vec<String> =
                ["run.size=footprint"].iter().chain(more).map(ToString::to_string).collect();
            Job::read(None, Some(drive), &sets).unwrap()
        };
        for drive in ["client_tlc", "qlc", "m64"] {
            let job = job(drive, &[]);
            assert!(job.leave_the_size_open() && job.address_policy() == workload::AddressPolicy::Compact);
            let sized = size(&job, Need::Footprint(700 << 20), SizeChoice::Footprint).unwrap();
            let config = job.resolve(Some(&sized.toml)).unwrap();
            assert_eq!(config.config.logical_bytes(), 700 << 20, "{drive}");
            assert!(
                sized.note.contains("over-provisioning 7.") && sized.note.contains("has 7.0 %"),
                "{}",
                sized.note
            );
        }
        assert!(!job("qlc", &["drive.logical_gib=1"]).leave_the_size_open());
        let text = "preset = \"qlc\"\n[run]\nsize = \"footprint\"\n[drive]\nlogical_gib = 1.0\n";
        assert!(!Job::of_text(std::path::Path::new("a.toml"), text.to_owned()).leave_the_size_open());
        let text = text.replace("[drive]\nlogical_gib = 1.0\n", "");
        assert!(Job::of_text(std::path::Path::new("a.toml"), text).leave_the_size_open());
    }

    #[test]
    fn the_impossible_is_an_error() {
        let job = Job::read(None, None, &[]).unwrap();
        let error = size(&job, Need::Footprint(1 << 50), SizeChoice::Auto).unwrap_err();
        assert!(error.message.contains("1 PiB") || error.message.contains("1024 TiB"));
        for need in [Need::Footprint(1 << 20), Need::Share] {
            let error = size(&job, need, SizeChoice::Footprint).unwrap_err();
            assert!(error.message.contains("at least 128 MiB"), "{need:?}");
        }
    }
}
