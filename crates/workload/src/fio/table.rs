//! The table of options, in the order of fio's manual.

use super::engine::{engine, sg_write};
use super::meaning::*;
use super::option::{JobOption, exact, nothing, refused, statistical};
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
    exact(&["atomic"], "1: direct=1, and the drive gets each write as one command", |job, value| {
        job.direct |= value.switch()?;
        Ok(())
    }),
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
    JobOption {
        take: |_, value| value.number(0).map(drop),
        ..nothing(&["write_barrier"], "no engine of fio passes it on, and Linux has none since 2.6.37")
    },
    JobOption {
        take: sync_range,
        ..nothing(
            &["sync_file_range"],
            "it writes pages back from a page cache and flushes nothing; page_cache_mib writes them when they are due",
        )
    },
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
    statistical(
        &["bs_unaligned", "blocksize_unaligned"],
        "1: sizes of a range are multiples of 512 bytes instead of the smallest",
        |job, value| put(&mut job.size_rules.is_any, value.switch()),
    ),
    statistical(
        &["bs_is_seq_rand"],
        "1: sizes for reads are those of sequential requests, sizes for writes those of random ones",
        |job, value| put(&mut job.size_rules.by_order, value.switch()),
    ),
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
    JobOption {
        take: |_, value| value.number(1).map(drop),
        ..nothing(
            &["iodepth_batch", "iodepth_batch_submit"],
            "submitting takes no time here, and fio sends what it has gathered before it waits for anything",
        )
    },
    exact(
        &["iodepth_batch_complete_min", "iodepth_batch_complete"],
        "when the queue is full, it is filled again after so many completions",
        |job, value| put(&mut job.queue.least, value.number(0)),
    ),
    JobOption {
        take: |_, value| value.number(0).map(drop),
        ..nothing(&["iodepth_batch_complete_max"], "completions are taken when they come")
    },
    exact(
        &["iodepth_low"],
        "when the queue is full, it is filled again with so many requests in flight; iodepth by default",
        |job, value| put(&mut job.queue.low, value.number(0)),
    ),
    exact(
        &["serialize_overlap"],
        "1: a request that overlaps with one of the job in flight waits for it, and others behind it",
        |job, value| put(&mut job.queue.is_serial, value.switch()),
    ),
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
    nothing(
        &[
            "spdk_conf",
            "spdk_json_conf",
            "spdk_mem",
            "spdk_single_seg",
            "spdk_rpc_listen_addr",
            "env_context",
        ],
        "how an engine finds its device",
    ),
    nothing(
        &["mem_size_mb", "shm_id", "enable_sgl", "sge_size", "disable_pcie_sgl_merge", "bit_bucket_data_len"],
        "memory of the host",
    ),
    nothing(
        &["enable_vmd", "hostnqn", "digest_enable", "print_qid_mappings"],
        "how an engine finds its device",
    ),
    nothing(
        &["pi_act", "pi_chk", "apptag", "apptag_mask", "md_per_io_size"],
        "protection of contents, of which there are none",
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
        |job, value| value.by_direction(&mut job.priorities.percent, |share| share.percent()),
    ),
    exact(
        &["cmdprio_class"],
        "their priority: 1 (real time) high, 2 medium, 3 (idle) low; 0 none",
        priority_class,
    ),
    nothing(&["cmdprio"], "the drive tells classes apart, not levels within one"),
    statistical(
        &["cmdprio_bssplit"],
        "shares by size, for reads, writes: size/share, or size/share/class/level",
        size_priorities,
    ),
    // Pace.
    exact(&["thinktime"], "a pause after thinktime_blocks requests", |job, value| {
        put(&mut job.thinktime_ns, value.time(MICROSECOND))
    }),
    nothing(&["thinktime_spin"], "a pause takes no processor time here"),
    exact(&["thinktime_blocks"], "requests between pauses", |job, value| {
        job.pauses.has_blocks = true;
        put(&mut job.thinktime_blocks, value.number(1))
    }),
    exact(&["thinktime_blocks_type"], "counted when they complete or when they are issued", |job, value| {
        put(&mut job.thinktime_at_issue, value.choice(&[("complete", false), ("issue", true)]))
    }),
    exact(
        &["thinktime_iotime"],
        "a pause after so long a time of requests (as in fio 3.33, the first one a pause later)",
        |job, value| put(&mut job.pauses.iotime_ns, value.time(SECOND)),
    ),
    statistical(&["rate"], "bytes per second, for reads, writes, trims", |job, value| {
        rates(&mut job.rate, value)
    }),
    exact(
        &["rate_min", "ratemin"],
        "the job ends where its bytes per second are below this",
        |job, value| rates(&mut job.limits.bytes_per_s, value),
    ),
    exact(&["rate_iops_min"], "the same with requests per second", |job, value| {
        rates(&mut job.limits.requests_per_s, value)
    }),
    statistical(&["rate_iops"], "requests per second, for reads, writes, trims", |job, value| {
        rates(&mut job.rate_iops, value)
    }),
    statistical(&["rate_process"], "linear or poisson", |job, value| {
        let words = [("linear", RateProcess::Linear), ("poisson", RateProcess::Poisson)];
        put(&mut job.rate_process, value.choice(&words))
    }),
    exact(
        &["rate_cycle", "ratecycle"],
        "rate_min looks at so many milliseconds; 1000 by default",
        |job, value| put(&mut job.limits.cycle_ms, value.number(0)),
    ),
    exact(
        &["rate_ignore_thinktime"],
        "1: what a pause kept from being sent is not caught up on",
        |job, value| put(&mut job.pauses.is_forgiven, value.switch()),
    ),
    exact(
        &["latency_target"],
        "the depth is searched that keeps this latency, by doubling and halving; a remark tells it",
        |job, value| put(&mut job.limits.target.latency_ns, value.time(MICROSECOND)),
    ),
    exact(&["latency_window"], "each depth is looked at for so long", |job, value| {
        put(&mut job.limits.target.window_ns, value.time(MICROSECOND))
    }),
    exact(
        &["latency_percentile"],
        "share of the requests that has to keep latency_target; 100",
        |job, value| put(&mut job.limits.target.percent, percentile(value)),
    ),
    exact(&["latency_run"], "1: the job goes on when the depth is found", |job, value| {
        put(&mut job.limits.target.goes_on, value.switch())
    }),
    exact(
        &["max_latency"],
        "the job ends where a request takes longer, for reads, writes, trims",
        |job, value| value.by_direction(&mut job.limits.latency_ns, |most| most.time(MICROSECOND)),
    ),
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
    nothing(&["thread", "threads", "stats"], "each clone is reported separately"),
    JobOption {
        take: |job, value| put(&mut job.others.new_group, value.switch()),
        ..nothing(&["new_group"], "each clone is reported separately; steadystate goes by groups")
    },
    JobOption {
        take: |job, value| put(&mut job.others.reports_group, value.switch()),
        ..nothing(&["group_reporting"], "each clone is reported separately; steadystate goes by groups")
    },
    exact(
        &["exitall"],
        "when the job ends, so do the others of its group (between stonewalls)",
        |job, value| put(&mut job.others.exits, value.switch()),
    ),
    exact(&["exit_what"], "all: with it the whole run; group, stonewall: its group", exit_what),
    exact(
        &["exitall_on_error"],
        "a job that a limit ends (rate_min, max_latency) ends the others too",
        |job, value| put(&mut job.others.exits_on_error, value.switch()),
    ),
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
         order written, else by place; contents are not checked. Not with trims",
        check_method,
    ),
    exact(&["do_verify"], "0: nothing is read back after a pass", |_, value| value.switch().map(drop)),
    refused(&["verify_only"], "there are no contents", off),
    nothing(&["verify_interval", "verify_offset", "verify_pattern", "verify_fatal"], "see verify"),
    nothing(&["verify_dump", "verify_async", "verify_async_cpus"], "see verify"),
    exact(&["verify_backlog"], "what was written is read back after so many writes already", |job, value| {
        put(&mut job.checks.every, value.number(0))
    }),
    exact(&["verify_backlog_batch"], "so much of it at a time; all by default", |job, value| {
        put(&mut job.checks.batch, value.number(0))
    }),
    exact(&["experimental_verify"], "refused with verify; without it it does nothing", |_, value| {
        value.switch().map(drop)
    }),
    exact(
        &["trim_percentage", "trim_backlog"],
        "refused with verify; without it they do nothing",
        |_, value| value.number(0).map(drop),
    ),
    nothing(&["verify_state_load", "verify_state_save"], "see verify"),
    nothing(&["trim_verify_zero", "trim_backlog_batch"], "see verify"),
    // Steady state.
    exact(
        &["steadystate", "ss"],
        "iops, iops_slope, bw or bw_slope with a limit: the job ends when its rate is steady by it; a remark says so. \
         What brings the drive there before is --precondition steady",
        steady_state,
    ),
    exact(
        &["steadystate_duration", "ss_dur"],
        "seconds of the window; without it nothing is looked for",
        |job, value| put(&mut job.steady.seconds, value.time(SECOND).map(|ns| ns / SECOND)),
    ),
    exact(&["steadystate_ramp_time", "ss_ramp"], "what is looked at begins so much later", |job, value| {
        put(&mut job.steady.ramp_ns, value.time(SECOND))
    }),
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
