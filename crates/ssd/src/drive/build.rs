//! A fresh drive of a configuration: its layers, built from the chips up, each with the policies that it asks.

use crate::config::{ConfigError, ConfigErrors, KeyAt, Problem};
use crate::drive::engine::State;
use crate::drive::external::ExternalPolicies;
use crate::drive::silence::Silence;
use crate::drive_config::DriveConfig;
use crate::events::EventQueue;
use crate::executor::Executor;
use crate::flash::{Flash, Room, preemption};
use crate::ftl::stream::{self, Streams};
use crate::ftl::tables::layout::Layout;
use crate::ftl::techniques::COLD_CAUSES;
use crate::ftl::{Ftl, Policies, sanitize};
use crate::host::Host;
use crate::nand::Chip;
use crate::nand::order::PageOrder;
use crate::timers::Timer;
use crate::units::SimTime;

/// The factory may have marked more blocks bad than its rate lets expect: do those left hold the data?
fn check_good_blocks(cfg: &DriveConfig, streams: Streams, good: u32) -> Result<(), ConfigErrors> {
    let more = streams.count.saturating_sub(cfg.streams().count);
    let spare = cfg.spare_blocks_to_work_per_lane(good) + u64::from(more);
    let needed = cfg.data_blocks_per_lane() + spare;
    if u64::from(good) >= needed {
        return Ok(());
    }
    let keys = ["nand.reliability.factory_bad_ppm", "drive.over_provisioning_percent", "drive.seed"];
    let keys = keys.map(|key| KeyAt { key: key.to_owned(), origin: None }).to_vec();
    let found = format!("the lane with the most factory bad blocks has {good} good blocks");
    let mut allowed = format!("at least {needed} to hold the data and for garbage collection");
    let fit = (u64::from(streams.count) + u64::from(good)).saturating_sub(needed);
    if streams.count > 2 && fit > 0 {
        allowed.push_str(&format!(", or ftl.stream with at most {fit} streams, not {}", streams.count));
    }
    let problem = Problem::Conflict { found, allowed };
    Err(ConfigErrors(vec![ConfigError { keys, origin: None, problem }]))
}

/// Is there memory for that many bytes of tables? Asked for at once and given back, before anything is built: a table
/// that finds no room ends the program.
fn check_memory(bytes: u64) -> Result<(), ConfigErrors> {
    let asked = usize::try_from(bytes).ok();
    if asked.is_some_and(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_ok()) {
        return Ok(());
    }
    let keys = ["nand.geometry.blocks_per_plane", "nand.geometry.channels"];
    let keys = keys.map(|key| KeyAt { key: key.to_owned(), origin: None }).to_vec();
    let (whole, tenths) = (bytes >> 30, ((bytes & ((1 << 30) - 1)) * 10) >> 30);
    let found = format!(
        "the tables of this drive need {whole}.{tenths} GiB of memory, which this machine does not have"
    );
    let allowed = "a smaller drive, or larger mapping units (ftl.mapping.unit)".to_owned();
    let problem = Problem::Conflict { found, allowed };
    Err(ConfigErrors(vec![ConfigError { keys, origin: None, problem }]))
}

impl State {
    /// A fresh one, with the policies from outside that the configuration asks for, or that stand in for its own.
    pub(crate) fn new(cfg: &DriveConfig, policies: ExternalPolicies) -> Result<State, ConfigErrors> {
        cfg.missing_policies(&policies)?;
        let mut given = policies.checked(cfg);
        let own = || stream::Policy::build(&cfg.stream);
        let mut stream = given.stream.take().map_or_else(own, stream::Policy::External);
        cfg.validate()?;
        let by_hotness = cfg.asks_for_hotness() && !stream.tells_hotness();
        let streams = stream.checked_streams(cfg.allocation.moves, COLD_CAUSES, by_hotness);
        check_memory(cfg.memory_bytes())?;
        let g = &cfg.geometry;
        let sanitize = sanitize::Policy::build(&cfg.sanitize);
        let uses = cfg.uses_of_cells();
        let mut chip =
            Chip::new(g.planes(), g.blocks_per_plane, g.pages_per_block(), &cfg.reliability, cfg.drive.seed)
                .with_cells_for(cfg, uses)?
                .with_one_bit(uses.one_bit.then_some(cfg.slc.wear))
                .with_locks(cfg, sanitize.means())
                .with_renewals(sanitize.rules().relock_ns > 0);
        let layout = Layout::new(cfg, &chip).keeping(cfg.replica_pages_per_block());
        check_good_blocks(cfg, streams, layout.blocks_per_lane)?;
        let order = PageOrder::of(cfg);
        stream.learn(&cfg.stream_size());
        let queued = cfg.host_queue_units();
        let mut needs = stream.needs();
        // Of what class data is, is said with it.
        needs.hints |= sanitize.acts();
        let host = Host::new(cfg, (&cfg.buffer, &cfg.hotness), needs, (streams, queued));
        let configs = Policies {
            gc_victim: &cfg.gc_victim,
            gc_trigger: &cfg.gc_trigger,
            read_reclaim: &cfg.read_reclaim,
            program_mode: &cfg.program_mode,
            page_class: &cfg.page_class,
            slc_cache: &cfg.slc_cache,
            sanitize: &cfg.sanitize,
            suspends: preemption::Policy::build(&cfg.preemption).acts(),
            techniques: cfg.techniques(),
        };
        let beside = by_hotness.then(|| stream::hotness::Policy::beside(&cfg.stream_size()));
        let kept_apart = (stream, beside, streams);
        let ftl = Ftl::new(cfg, &configs, layout.clone(), order, kept_apart, host.slots(), |block| {
            chip.erase_count(block)
        });
        let mut ftl = ftl.above(&mut chip);
        let read_voltage = cfg.voltages(&chip, ftl.moves.media.techniques.off_bits(&chip))?;
        let host = host.above(&ftl);
        // Room for hosts' reads and programs, whatever is being moved.
        let commands = (cfg.queues.count * cfg.queues.depth) as usize;
        let operations =
            (4 * commands).clamp(64, 16_384) + (4 * g.planes() * cfg.pages_of_program()) as usize;
        let room = Room { host: operations, moves: ftl.operations_of_moves(operations) };
        let mut flash = Flash::new(cfg, (read_voltage, &cfg.preemption), ftl.with_copies(chip), room);
        ftl.tell_wear(&mut flash);
        given.take_over(&mut ftl);
        let pending = (2 * g.dies() + g.channels) as usize + 2 * commands + 5 + Timer::ALL.len();
        let pending = pending + flash.more_events_at_most();
        Ok(State {
            host,
            ftl,
            flash,
            events: EventQueue::with_capacity(pending),
            now: SimTime::ZERO,
            executor: Executor::Timed,
            silence: Silence::default(),
            counted_since: SimTime::ZERO,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drive_without_memory_for_it_says_how_much_it_needs() {
        assert!(check_memory(1 << 20).is_ok());
        let error = check_memory((1 << 60) + (1 << 29)).unwrap_err().to_string();
        assert!(error.contains("1073741824.5 GiB") && error.contains("blocks_per_plane"), "{error}");
    }
}
