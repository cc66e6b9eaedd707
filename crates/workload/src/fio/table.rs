//! The table of options, in the order of fio's manual.

use super::engine::{engine, sg_write};
use super::meaning::*;
use super::options::{JobOption, exact, nothing, refused, statistical};
use super::settings::RateProcess;

const SECOND: u64 = 1_000_000_000;
const MICROSECOND: u64 = 1_000;

pub(super) static OPTIONS: &[JobOption] = &[
    // Units and names.
    exact(&["kb_base"], "1024: k is 1024 and ki is 1000; 1000: the reverse", |_, value| {
        value.choice(&[("1024", ()), ("1000", ())])
    }),
    nothing(&["unit_base"], "units of fio's own output"),
    nothing(&["description"], "a text"),
    exact(&["name"], "name of the job", |job, value| put(&mut job.name, value.word().map(str::to_owned))),
    exact(&["loops"], "passes over the job", |job, value| put(&mut job.loops, value.number(1))),
    exact(&["numjobs"], "clones of the job, each separate", |job, value| {
        put(&mut job.numjobs, value.number(1))
    }),
    // Time.
    exact(
        &["runtime", "timeout"],
        "no more requests after this simulated time, from the end of ramp_time",
        |job, value| put(&mut job.runtime_ns, value.time(SECOND)),
    ),
    exact(&["time_based"], "continue until runtime, with a new order in each pass", |job, value| {
        put(&mut job.time_based, value.switch())
    }),
    exact(
        &["startdelay"],
        "start this much later; with a range, each clone draws its own \
                            delay",
        |job, value| put(&mut job.startdelay_ns, value.times(SECOND)),
    ),
    exact(&["ramp_time"], "warm-up: requests that complete in it are not measured", |job, value| {
        put(&mut job.ramp_ns, value.time(SECOND))
    }),
    nothing(&["clocksource", "gtod_reduce", "gtod_cpu", "clock_cpus"], "the clock is simulated"),
    // Files.
    exact(&["directory"], "a prefix of the files' names", |job, value| {
        put(&mut job.directory, value.word().map(|text| Some(text.to_owned())))
    }),
    exact(
        &["filename"],
        "files, separated by colons, shared by all jobs that name them; /dev/... is the whole drive",
        |job, value| put(&mut job.filename, value.word().map(|text| Some(text.to_owned()))),
    ),
    exact(&["filename_format"], "names of files: $jobname, $jobnum, $filenum, $clientuid", |job, value| {
        put(&mut job.filename_format, value.word().map(|text| Some(text.to_owned())))
    }),
    nothing(&["unique_filename", "lockfile"], "files are shared by name"),
    refused(&["opendir"], "no directory is looked into: files are those that jobs name", never),
    exact(
        &["file_service_type"],
        "which file is next: roundrobin, random, sequential, with :N requests each",
        file_order,
    ),
    JobOption {
        take: |_, value| value.number(1).map(drop),
        ..nothing(
            &["openfiles"],
            "a file is opened again where it was closed, and the drive hears nothing of that",
        )
    },
    exact(&["nrfiles", "nr_files"], "files of each clone", |job, value| {
        put(&mut job.nrfiles, value.number(1))
    }),
    exact(&["filesize"], "size of each file, if not size / nrfiles", file_size),
    refused(&["file_append"], "files are as large as jobs say, and nothing lies behind them", off),
    exact(&["fill_device", "fill_fs"], "1: a file without a size is as large as the drive", |job, value| {
        put(&mut job.fills, value.switch())
    }),
    nothing(
        &["fallocate", "fadvise_hint", "overwrite", "create_serialize", "create_fsync", "create_on_open"],
        "files exist already, one after the other on the drive",
    ),
    nothing(&["pre_read", "invalidate", "unlink", "allow_file_create", "allow_mounted_write"], {
        "files exist before and after, and nothing is cached"
    }),
    refused(
        &["unlink_each_loop"],
        "a file system may or may not trim what it deletes; trims of a job of its own (rw=trim) say when",
        off,
    ),
    refused(&["create_only"], "no request is left", off),
    // Zones.
    exact(
        &["zonemode"],
        "none, or strided: zonesize bytes in a zone, then the next one; zbd, for drives of zones, is refused",
        zone_mode,
    ),
    exact(&["zonerange"], "bytes of a zone, if not zonesize", |job, value| {
        put(&mut job.zones.range, value.number(0).and_then(sectors))
    }),
    exact(
        &["zonesize"],
        "bytes that are transferred in a zone; above zonerange, in several rounds",
        |job, value| put(&mut job.zones.size, value.number(0).and_then(sectors)),
    ),
    exact(&["zoneskip"], "bytes between zones", |job, value| {
        put(&mut job.zones.skip, value.number(0).and_then(sectors))
    }),
    nothing(
        &["zonecapacity", "read_beyond_wp", "max_open_zones", "job_max_open_zones", "ignore_zone_limits"],
        "of zonemode=zbd alone",
    ),
    nothing(&["zone_reset_threshold", "zone_reset_frequency"], "of zonemode=zbd alone"),
    // Type of I/O.
    statistical(
        &["direct"],
        "0 (fio's default): through the page cache of `page_cache_mib`, if there is one; 1: straight to \
         the drive",
        |job, value| put(&mut job.direct, value.switch()),
    ),
    statistical(&["buffered"], "see direct", |job, value| {
        put(&mut job.direct, value.switch().map(|is_on| !is_on))
    }),
    refused(&["atomic"], "no such writes", off),
    exact(
        &["rw", "readwrite"],
        "the pattern, all eleven words; :N (random: requests per run; sequential: bytes skipped, backwards if \
         negative)",
        pattern,
    ),
    exact(&["rw_sequencer"], "what :N does to random requests: sequential or identical", |job, value| {
        put(&mut job.identical, value.choice(&[("sequential", false), ("identical", true)]))
    }),
    nothing(&["unified_rw_reporting"], "reads and writes are always distinguished"),
    exact(&["randrepeat"], "0: each pass has its own order", |job, value| {
        put(&mut job.randrepeat, value.switch())
    }),
    nothing(&["allrandrepeat"], "every run repeats"),
    exact(&["randseed"], "added to the seeds of the job's random numbers", |job, value| {
        put(&mut job.randseed, value.number(0))
    }),
    exact(&["fsync"], "a flush after this many writes", |job, value| put(&mut job.fsync, value.number(0))),
    exact(&["fdatasync"], "the same", |job, value| put(&mut job.fdatasync, value.number(0))),
    refused(&["write_barrier"], "no barriers", off),
    refused(&["sync_file_range"], "drives have no such command", never),
    exact(&["end_fsync"], "a flush at the end of each pass", |job, value| {
        put(&mut job.end_fsync, value.switch())
    }),
    exact(&["fsync_on_close"], "the same", |job, value| put(&mut job.fsync_on_close, value.switch())),
    statistical(&["random_distribution"], "random, zipf, pareto, normal, zoned, zoned_abs", distribution),
    statistical(
        &["percentage_random"],
        "share of a random pattern that is random; the rest is sequential",
        |job, value| value.by_direction(&mut job.percentage_random, |share| share.percent()),
    ),
    statistical(&["rwmixread"], "share of reads, by requests", |job, value| {
        put(&mut job.read_percent, value.percent())
    }),
    statistical(&["rwmixwrite"], "share of writes; the later of the two counts", |job, value| {
        put(&mut job.read_percent, value.percent().map(|share| 100 - share))
    }),
    exact(&["norandommap"], "random places without a map: some come twice, some never", |job, value| {
        put(&mut job.has_map, value.switch().map(|is_on| !is_on))
    }),
    nothing(&["softrandommap"], "there is always memory for the map"),
    exact(
        &["random_generator"],
        "lfsr visits each block once per pass, with or without a map",
        |job, value| {
            put(
                &mut job.is_lfsr,
                value.choice(&[("tausworthe", false), ("tausworthe64", false), ("lfsr", true)]),
            )
        },
    ),
    // Sizes of requests.
    statistical(
        &["bs", "blocksize"],
        "sizes for reads, writes, trims; one number for all is \
                                       exact",
        block_size,
    ),
    statistical(
        &["bsrange", "blocksize_range"],
        "from the first number to the second, in multiples of the first",
        size_range,
    ),
    statistical(&["bssplit"], "sizes with their shares of the requests", size_split),
    refused(&["bs_unaligned", "blocksize_unaligned"], "sizes are multiples of the smallest", off),
    refused(&["bs_is_seq_rand"], "sizes depend on the direction only", off),
    statistical(&["blockalign", "ba"], "random places are multiples of this; without a map", |job, value| {
        value.by_direction(&mut job.align, |align| sectors(align.number(1)?))
    }),
    // Contents and memory.
    nothing(
        &["zero_buffers", "refill_buffers", "scramble_buffers", "buffer_compress_percentage"],
        "no contents",
    ),
    nothing(&["buffer_compress_chunk", "buffer_pattern", "dedupe_percentage", "dedupe_mode"], "no contents"),
    nothing(&["dedupe_working_set_percentage", "dedupe_global"], "no contents"),
    exact(&["sync"], "sync, dsync, 1: writes with FUA", |job, value| {
        let words = [("none", false), ("0", false), ("sync", true), ("dsync", true), ("1", true)];
        put(&mut job.sync, value.choice(&words))
    }),
    nothing(&["mem", "iomem", "mem_align", "iomem_align", "hugepage-size", "lockmem"], "memory of the host"),
    // Amounts.
    exact(&["size"], "space of the job, and bytes per pass", |job, value| {
        put(&mut job.size, value.amount_or_all())
    }),
    exact(&["io_size", "io_limit"], "bytes to transfer, if not size", |job, value| {
        put(&mut job.io_size, value.amount_or_all())
    }),
    exact(&["offset", "fileoffset"], "where the job's space begins in each file", |job, value| {
        put(&mut job.offset, value.amount())
    }),
    exact(&["offset_increment"], "added for each further clone", |job, value| {
        put(&mut job.offset_increment, value.amount())
    }),
    exact(&["offset_align"], "offsets in % are rounded up to this", |job, value| {
        put(&mut job.offset_align, value.number(0).and_then(sectors))
    }),
    exact(&["number_ios"], "maximum number of requests, not counting flushes", |job, value| {
        put(&mut job.number_ios, value.number(0))
    }),
    // The engine.
    JobOption {
        take: engine,
        ..nothing(&["ioengine"], "requests go to the simulated drive, iodepth at a time")
    },
    exact(&["iodepth"], "requests in flight", |job, value| put(&mut job.iodepth, value.number(1))),
    refused(&["iodepth_batch", "iodepth_batch_submit"], "requests are sent one at a time", one),
    refused(
        &["iodepth_batch_complete_min", "iodepth_batch_complete"],
        "completions are taken one at a time",
        one,
    ),
    refused(&["iodepth_batch_complete_max"], "completions are taken one at a time", one),
    refused(&["iodepth_low"], "the queue is kept full", off),
    refused(&["serialize_overlap"], "requests are not held back", off),
    JobOption {
        take: |_, value| value.choice(&[("inline", ()), ("offload", ())]),
        ..nothing(&["io_submit_mode"], "submitting takes no processor time here")
    },
    exact(
        &["sg_write_mode"],
        "write; write_same: a write, whose data the link carries whole; verify_bytchk_...: a read of the medium, of \
         which the link carries the data",
        sg_write,
    ),
    exact(&["writefua"], "1: writes with FUA", |job, value| {
        job.sync |= value.switch()?;
        Ok(())
    }),
    refused(&["readfua"], "reads are answered by the drive's buffer where it holds what they ask for", off),
    nothing(
        &["stream_id", "skip_bad", "libblkio_driver", "libblkio_path", "libblkio_pre_connect_props"],
        "how an engine finds its device",
    ),
    nothing(
        &["libblkio_num_entries", "libblkio_queue_size", "libblkio_pre_start_props"],
        "how an engine finds its device",
    ),
    nothing(
        &["xnvme_be", "xnvme_async", "xnvme_sync", "xnvme_admin", "xnvme_dev_nsid", "xnvme_iovec"],
        "how an engine finds its device",
    ),
    nothing(&["cuda_io", "gpu_dev_id", "gpu_dev_ids", "rocm_io"], "where the host keeps data"),
    nothing(
        &["volume", "brick", "single-instance", "pool", "cont", "chunk_size", "object_class", "svcl", "conf"],
        "how an engine finds its server",
    ),
    nothing(
        &["clustername", "clientname", "rbdname", "busy_poll", "touch_objects", "nfs_url", "namenode"],
        "how an engine finds its server",
    ),
    nothing(
        &["hostname", "bindname", "port", "protocol", "interface", "listen", "pingpong", "nodelay", "ttl"],
        "how an engine finds its server",
    ),
    nothing(
        &["mss", "window_size", "verb", "https", "http_host", "http_user", "http_pass", "http_s3_key"],
        "how an engine finds its server",
    ),
    nothing(
        &["http_s3_keyid", "http_swift_auth_token", "http_s3_region", "http_mode", "http_verbose"],
        "how an engine finds its server",
    ),
    nothing(
        &["http_s3_sse_customer_key", "http_s3_sse_customer_algorithm", "http_s3_storage_class"],
        "how an engine finds its server",
    ),
    nothing(
        &["cpuload", "cpumode", "exit_on_io_done", "program", "arguments", "grace_time", "std_redirect"],
        "of engines that are refused",
    ),
    nothing(&["donorname", "inplace", "stat_type", "thp"], "of engines that are refused"),
    nothing(
        &["userspace_reap", "hipri", "hipri_percentage", "fixedbufs", "registerfiles", "nonvectored"],
        "no host",
    ),
    nothing(
        &["sqthread_poll", "sqthread_poll_cpu", "uncached", "nowait", "force_async", "cmd_type", "uri"],
        "no host",
    ),
    statistical(
        &["cmdprio_percentage"],
        "share of the requests with a priority (`flash.scheduling.priorities`), for reads, writes",
        |job, value| value.by_direction(&mut job.urgent_percent, |share| share.percent()),
    ),
    exact(
        &["cmdprio_class"],
        "their priority: 1 (real time) high, 2 medium, 3 (idle) low; 0 none",
        priority_class,
    ),
    nothing(&["cmdprio"], "the drive tells classes apart, not levels within one"),
    refused(&["cmdprio_bssplit"], "priorities do not depend on sizes", off),
    // Pace.
    exact(&["thinktime"], "a pause after thinktime_blocks requests", |job, value| {
        put(&mut job.thinktime_ns, value.time(MICROSECOND))
    }),
    nothing(&["thinktime_spin"], "a pause takes no processor time here"),
    exact(&["thinktime_blocks"], "requests between pauses", |job, value| {
        put(&mut job.thinktime_blocks, value.number(1))
    }),
    exact(&["thinktime_blocks_type"], "counted when they complete or when they are issued", |job, value| {
        put(&mut job.thinktime_at_issue, value.choice(&[("complete", false), ("issue", true)]))
    }),
    refused(&["thinktime_iotime"], "pauses are counted in requests", off),
    statistical(&["rate"], "bytes per second, for reads, writes, trims", |job, value| {
        rates(&mut job.rate, value)
    }),
    refused(&["rate_min", "ratemin", "rate_iops_min"], "no job is ended because of its rate", off),
    statistical(&["rate_iops"], "requests per second, for reads, writes, trims", |job, value| {
        rates(&mut job.rate_iops, value)
    }),
    statistical(&["rate_process"], "linear or poisson", |job, value| {
        let words = [("linear", RateProcess::Linear), ("poisson", RateProcess::Poisson)];
        put(&mut job.rate_process, value.choice(&words))
    }),
    nothing(&["rate_cycle", "ratecycle"], "see rate_min"),
    refused(&["rate_ignore_thinktime"], "missed requests are caught up on", off),
    refused(
        &["latency_target", "latency_window", "latency_percentile", "latency_run"],
        "the depth is fixed",
        off,
    ),
    refused(&["max_latency"], "no job is ended because of its latency", off),
    nothing(&["write_iolog"], "run.request_log, --request-log"),
    refused(&["read_iolog"], "give that log to `wordline run` itself", log),
    nothing(
        &["read_iolog_chunked", "replay_no_stall", "replay_redirect", "replay_scale", "replay_align"],
        "see read_iolog",
    ),
    nothing(
        &["replay_time_scale", "replay_skip", "merge_blktrace_file", "merge_blktrace_scalars"],
        "see read_iolog",
    ),
    nothing(&["merge_blktrace_iters"], "see read_iolog"),
    // Threads and jobs.
    exact(&["stonewall", "wait_for_previous"], "start when all jobs above have ended", |job, value| {
        put(&mut job.stonewall, value.switch())
    }),
    exact(&["wait_for"], "start when all clones of that job have ended", |job, value| {
        put(&mut job.others.wait_for, value.word().map(|text| Some(text.to_owned())))
    }),
    nothing(
        &["thread", "threads", "new_group", "group_reporting", "stats"],
        "each clone is reported separately",
    ),
    exact(
        &["exitall"],
        "when the job ends, so do the others of its group (between stonewalls)",
        |job, value| put(&mut job.others.exits, value.switch()),
    ),
    exact(&["exit_what"], "all: with it the whole run; group, stonewall: its group", exit_what),
    nothing(&["exitall_on_error"], "requests that fail are counted"),
    nothing(&["exec_prerun", "exec_postrun"], "commands are not run"),
    nothing(&["uid", "gid", "nice", "prio", "prioclass", "cpumask", "cpus_allowed"], "no host"),
    nothing(&["cpus_allowed_policy", "numa_cpu_nodes", "numa_mem_policy", "ioscheduler"], "no host"),
    nothing(&["cgroup", "cgroup_nodelete", "cgroup_weight"], "no host"),
    exact(&["flow"], "the job's share of the requests of all jobs of its flow", |job, value| {
        put(&mut job.others.flow, value.number(0))
    }),
    exact(&["flow_id"], "which flow", |job, value| put(&mut job.others.flow_id, value.number(0))),
    exact(&["flow_sleep"], "a job ahead of its share waits so long", |job, value| {
        put(&mut job.others.flow_sleep_ns, value.time(MICROSECOND))
    }),
    exact(&["write_hint"], "stream hint of writes: short 2, medium 3, long 4, extreme 5", |job, value| {
        let words = [("none", 0), ("short", 2), ("medium", 3), ("long", 4), ("extreme", 5)];
        put(&mut job.stream, value.choice(&words))
    }),
    exact(&["fdp"], "1: writes say a placement id (`ftl.stream.policy=placement_id`)", |job, value| {
        put(&mut job.places_data, value.switch())
    }),
    exact(&["dataplacement"], "the same: none, fdp or streams", |job, value| {
        put(&mut job.places_data, value.choice(&[("none", false), ("fdp", true), ("streams", true)]))
    }),
    exact(&["plids", "fdp_pli"], "the placement ids of the job's writes; 0 to 7 without it", placements),
    exact(&["plid_select", "fdp_pli_select"], "which of them: random or roundrobin", |job, value| {
        put(&mut job.places_in_turn, value.choice(&[("random", false), ("roundrobin", true)]))
    }),
    refused(&["dp_scheme"], "placement ids do not follow from places", never),
    // Verification.
    exact(
        &["verify"],
        "what a pass wrote is read back after it, and after a flush of each file: with a random map in the \
         order written, else by place; contents are not checked. Not with io_size, trims, or loops with \
         number_ios",
        |_, value| value.word().map(drop),
    ),
    exact(&["do_verify"], "0: nothing is read back after a pass", |_, value| value.switch().map(drop)),
    refused(&["verify_only"], "there are no contents", off),
    nothing(&["verify_interval", "verify_offset", "verify_pattern", "verify_fatal"], "see verify"),
    nothing(&["verify_dump", "verify_async", "verify_async_cpus", "verify_backlog_batch"], "see verify"),
    exact(
        &["verify_backlog", "experimental_verify"],
        "refused with verify; without it they do nothing",
        |_, _| Ok(()),
    ),
    nothing(&["verify_state_load", "verify_state_save"], "see verify"),
    refused(&["trim_percentage", "trim_backlog"], "see verify", off),
    nothing(&["trim_verify_zero", "trim_backlog_batch"], "see verify"),
    // Steady state.
    refused(
        &["steadystate", "ss", "steadystate_duration", "ss_dur", "steadystate_ramp_time", "ss_ramp"],
        "run.overwrite = \"steady_state\" brings the drive there before",
        steady,
    ),
    refused(&["profile"], "no built-in profiles", never),
    // What fio writes.
    nothing(
        &["per_job_logs", "write_bw_log", "write_lat_log", "write_iops_log", "write_hist_log"],
        "the result file has it",
    ),
    nothing(
        &["log_avg_msec", "log_hist_msec", "log_hist_coarseness", "log_max_value", "log_offset"],
        "no such logs",
    ),
    nothing(&["log_prio", "log_compression", "log_compression_cpus", "log_store_compressed"], "no such logs"),
    nothing(
        &["log_unix_epoch", "log_alternate_epoch", "log_alternate_epoch_clock_id", "log_entries"],
        "no such logs",
    ),
    nothing(
        &["block_error_percentiles", "bwavgtime", "iopsavgtime", "disk_util", "disable_lat"],
        "the result file has it",
    ),
    nothing(
        &["disable_clat", "disable_slat", "disable_bw_measurement", "disable_bw"],
        "the result file has it",
    ),
    nothing(
        &["slat_percentiles", "clat_percentiles", "lat_percentiles", "percentile_list"],
        "the result file has it",
    ),
    nothing(&["significant_figures", "error_dump"], "the result file has it"),
    nothing(&["continue_on_error", "ignore_error"], "requests that fail are counted"),
];
