//! Each option of the table beside fio itself: a value that is legal and one that is not. Starts fio some four hundred
//! times: `cargo test -p wordline-workload --test suite -- --ignored fio_options`.

use std::path::PathBuf;
use std::process::Command;
use workload::fio::{Class, JobFile, options};

/// Names of options, a legal value, and one that is not; empty where fio takes any text.
type Row = (&'static [&'static str], &'static str, &'static str);

const SWITCH: (&str, &str) = ("1", "x");

const SWITCHES: &[&str] = &[
    "time_based",
    "gtod_reduce",
    "unique_filename",
    "file_append",
    "fill_device",
    "fill_fs",
    "overwrite",
    "create_serialize",
    "create_fsync",
    "create_on_open",
    "pre_read",
    "invalidate",
    "unlink",
    "allow_file_create",
    "allow_mounted_write",
    "unlink_each_loop",
    "create_only",
    "direct",
    "buffered",
    "atomic",
    "randrepeat",
    "allrandrepeat",
    "end_fsync",
    "fsync_on_close",
    "norandommap",
    "softrandommap",
    "bs_unaligned",
    "blocksize_unaligned",
    "bs_is_seq_rand",
    "zero_buffers",
    "refill_buffers",
    "scramble_buffers",
    "serialize_overlap",
    "rate_ignore_thinktime",
    "latency_run",
    "replay_no_stall",
    "stonewall",
    "wait_for_previous",
    "thread",
    "threads",
    "new_group",
    "group_reporting",
    "stats",
    "exitall",
    "exitall_on_error",
    "do_verify",
    "verify_only",
    "verify_fatal",
    "verify_dump",
    "verify_state_load",
    "verify_state_save",
    "trim_verify_zero",
    "per_job_logs",
    "log_offset",
    "log_prio",
    "log_store_compressed",
    "log_unix_epoch",
    "log_alternate_epoch",
    "block_error_percentiles",
    "disk_util",
    "disable_lat",
    "disable_clat",
    "disable_slat",
    "disable_bw_measurement",
    "disable_bw",
    "slat_percentiles",
    "clat_percentiles",
    "lat_percentiles",
    "error_dump",
    "cgroup_nodelete",
    "experimental_verify",
    "dedupe_global",
    "read_beyond_wp",
    "ignore_zone_limits",
    "read_iolog_chunked",
];

const OTHERS: &[Row] = &[
    (&["kb_base"], "1000", "1001"),
    (&["unit_base"], "8", "7"),
    (&["description"], "text", ""),
    (&["name"], "text", ""),
    (&["loops"], "2", "x"),
    (&["numjobs"], "2", "x"),
    (&["runtime", "timeout"], "10s", "x"),
    (&["startdelay"], "1-2", "x"),
    (&["ramp_time"], "5ms", "x"),
    (&["clocksource"], "cpu", "sun"),
    (&["gtod_cpu"], "0", "x"),
    (&["directory"], "/tmp", ""),
    (&["filename"], "g", ""),
    (&["filename_format"], "$jobname.$filenum", ""),
    (&["lockfile"], "none", "maybe"),
    (&["opendir"], "/tmp", ""),
    (&["file_service_type"], "random:4", "rondom"),
    (&["openfiles"], "1", "x"),
    (&["nrfiles", "nr_files"], "2", "x"),
    (&["filesize"], "64k", "x"),
    (&["fallocate"], "none", "some"),
    (&["fadvise_hint"], "random", "guess"),
    (&["zonemode"], "none", "nine"),
    (&["zonerange", "zoneskip", "zonecapacity"], "64k", "x"),
    (&["max_open_zones", "job_max_open_zones"], "4", "x"),
    (&["zone_reset_threshold", "zone_reset_frequency"], "0.5", "x"),
    (&["rw", "readwrite"], "randrw:4", "randrwx"),
    (&["rw_sequencer"], "identical", "same"),
    (&["unified_rw_reporting"], "mixed", "x"),
    (&["randseed"], "7", "x"),
    (&["fsync", "fdatasync"], "8", "x"),
    (&["write_barrier"], "8", "x"),
    (&["sync_file_range"], "write:8", "wirte:8"),
    (&["random_distribution"], "zipf:1.2", "zopf:1.2"),
    (&["percentage_random"], "50", "x"),
    (&["rwmixread", "rwmixwrite"], "30", "x"),
    (&["random_generator"], "lfsr", "lsfr"),
    (&["bs", "blocksize"], "8k,16k", "x"),
    (&["bsrange", "blocksize_range"], "4k-16k", "x"),
    (&["bssplit"], "4k/60:64k/40", "x"),
    (&["blockalign", "ba"], "8k", "x"),
    (&["buffer_compress_percentage", "dedupe_percentage", "dedupe_working_set_percentage"], "50", "x"),
    (&["buffer_compress_chunk"], "4k", "x"),
    (&["buffer_pattern"], "0x12", ""),
    (&["dedupe_mode"], "repeat", "repaet"),
    (&["sync"], "dsync", "dsink"),
    (&["mem", "iomem"], "malloc", "malluc"),
    (&["mem_align", "iomem_align", "hugepage-size", "lockmem"], "4k", "x"),
    (&["size"], "512k", "x"),
    (&["io_size", "io_limit"], "256k", "x"),
    (&["offset", "fileoffset", "offset_increment"], "64k", "x"),
    (&["offset_align"], "4k", "x"),
    (&["number_ios"], "10", "x"),
    (&["ioengine"], "psync", ""),
    (&["iodepth"], "16", "x"),
    (&["iodepth_batch", "iodepth_batch_submit"], "4", "x"),
    (&["iodepth_batch_complete_min", "iodepth_batch_complete", "iodepth_batch_complete_max"], "1", "x"),
    (&["iodepth_low"], "1", "x"),
    (&["io_submit_mode"], "offload", "onload"),
    (&["cmdprio_percentage"], "50", "x"),
    (&["cmdprio_class"], "2", "9"),
    (&["cmdprio"], "3", "9"),
    (&["cmdprio_bssplit"], "4k/50", ""),
    (&["thinktime"], "100us", "x"),
    (&["thinktime_spin"], "100us", ""),
    (&["thinktime_blocks"], "4", "x"),
    (&["thinktime_blocks_type"], "issue", "isue"),
    (&["thinktime_iotime"], "1s", "x"),
    (&["rate", "rate_min", "ratemin"], "1m,2m", "x"),
    (&["rate_iops", "rate_iops_min"], "100", "x"),
    (&["rate_process"], "poisson", "fish"),
    (&["rate_cycle", "ratecycle"], "500", "x"),
    (&["latency_target", "latency_window", "max_latency"], "10ms", "x"),
    (&["latency_percentile"], "99.9", "x"),
    (&["write_iolog"], "log", ""),
    (&["read_iolog"], "log", ""),
    (&["replay_redirect"], "/dev/sdb", ""),
    (&["replay_scale", "replay_align", "replay_time_scale"], "1", "x"),
    (&["replay_skip"], "read", ""),
    (&["merge_blktrace_file"], "f", ""),
    (&["merge_blktrace_scalars", "merge_blktrace_iters"], "100", "x"),
    (&["exit_what"], "all", "al"),
    (&["exec_prerun", "exec_postrun"], "true", ""),
    (&["uid", "gid"], "0", "x"),
    (&["nice"], "3", "x"),
    (&["prio"], "3", "9"),
    (&["prioclass"], "2", "9"),
    (&["cpumask"], "1", "x"),
    (&["cpus_allowed"], "0", ""),
    (&["cpus_allowed_policy"], "split", "splat"),
    (&["ioscheduler"], "none", ""),
    (&["cgroup"], "g", ""),
    (&["cgroup_weight"], "500", "x"),
    (&["flow", "flow_id", "flow_sleep"], "2", "x"),
    (&["write_hint"], "short", "shrot"),
    (&["verify"], "md5", "md55"),
    (&["verify_interval", "verify_offset"], "512", "x"),
    (&["verify_pattern"], "0x12", ""),
    (&["verify_async"], "1", "x"),
    (&["verify_async_cpus"], "0", ""),
    (&["verify_backlog", "verify_backlog_batch"], "4", "x"),
    (&["trim_percentage", "trim_backlog", "trim_backlog_batch"], "4", "x"),
    (&["steadystate", "ss"], "iops_slope:0.3%", "ipso:3%"),
    (&["steadystate_duration", "ss_dur"], "5s", "x"),
    (&["steadystate_ramp_time", "ss_ramp"], "5s", "x"),
    (&["profile"], "tiobench", ""),
    (&["write_bw_log", "write_lat_log", "write_iops_log", "write_hist_log"], "log", ""),
    (&["log_avg_msec", "log_hist_msec", "log_hist_coarseness"], "2", "x"),
    (&["log_entries"], "2048", "x"),
    (&["log_max_value"], "1", "x"),
    (&["log_compression"], "8k", "x"),
    (&["log_compression_cpus"], "0", ""),
    (&["log_alternate_epoch_clock_id"], "0", "x"),
    (&["bwavgtime", "iopsavgtime"], "500", "x"),
    (&["percentile_list"], "50:99", ""),
    (&["significant_figures"], "4", "x"),
    (&["continue_on_error"], "read", "raed"),
    (&["ignore_error"], "ENOSPC", ""),
];

/// What fio 3.33 takes and is refused here: units that it does not know, which it passes over, shares that do not add
/// up, engines that there are not.
const STRICTER: &[&str] = &[
    "runtime=10x",
    "startdelay=1x",
    "bs=8q",
    "bsrange=4q-16k",
    "bssplit=4k/60:64k/50",
    "ioengine=psink",
    "cmdprio_bssplit=4k/x",
    "max_latency=10x",
    "ss_dur=5x",
];

/// Options of which fio 3.33 knows nothing, or only beside an engine that it is not built with.
const NOT_ASKED: &[&str] = &[
    "sg_write_mode",
    "writefua",
    "readfua",
    "fdp",
    "dataplacement",
    "plids",
    "fdp_pli",
    "plid_select",
    "fdp_pli_select",
    "dp_scheme",
    "wait_for",
    "zonesize",
];

fn rows() -> Vec<Row> {
    let switches = SWITCHES.chunks(1).map(|name| (name, SWITCH.0, SWITCH.1));
    switches.chain(OTHERS.iter().copied()).collect()
}

/// Whether fio takes a job with a line, and whether we do.
fn both(folder: &std::path::Path, line: &str) -> (bool, bool) {
    let path: PathBuf = folder.join("job.fio");
    // A zone, and a second job's group, have what they need beside them.
    let text = format!("[a]\nsize=1m\nfilename=f\nrw=randrw\nioengine=libaio\niodepth=4\n{line}\n");
    std::fs::write(&path, text).unwrap();
    let fio = Command::new("fio").current_dir(folder).args(["--parse-only", "job.fio"]).output().unwrap();
    let ours = JobFile::load(&path).and_then(|file| file.space_sectors().map(drop));
    (fio.status.success(), ours.is_ok())
}

#[test]
#[ignore = "starts fio some four hundred times: make soak ONLY=options"]
fn what_fio_takes_is_taken_and_what_it_refuses_is_refused() {
    let version = Command::new("fio").arg("--version").output();
    if !version.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).trim() == "fio-3.33") {
        eprintln!("skipped: no fio 3.33 here");
        return;
    }
    let folder = std::env::temp_dir().join(format!("wordline-fio-options-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let rows = rows();
    let (mut apart, mut asked) = (Vec::new(), 0);
    for option in options() {
        for name in option.names {
            let Some((_, legal, illegal)) = rows.iter().find(|(names, ..)| names.contains(name)) else {
                continue;
            };
            asked += 1;
            let is_refused = option.class == Class::Refused;
            let (fio, ours) = both(&folder, &format!("{name}={legal}"));
            if !fio || ours == is_refused {
                apart.push(format!("{name}={legal}: fio {fio}, here {ours}"));
            }
            if illegal.is_empty() {
                continue;
            }
            let (fio, ours) = both(&folder, &format!("{name}={illegal}"));
            // What has no effect is taken whatever it says.
            if fio || (ours && option.class != Class::Warning) {
                apart.push(format!("{name}={illegal}: fio {fio}, here {ours}"));
            }
        }
    }
    for line in STRICTER {
        let answers = both(&folder, line);
        if answers != (true, false) {
            apart.push(format!("{line}: fio {}, here {}", answers.0, answers.1));
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(apart.is_empty(), "{} of {asked} options:\n{}", apart.len(), apart.join("\n"));
    assert!(asked > 200, "{asked} options");
}

/// Each option that means something here has values above.
#[test]
fn every_option_has_values() {
    let rows = rows();
    let is_known =
        |name: &str| NOT_ASKED.contains(&name) || rows.iter().any(|(names, ..)| names.contains(&name));
    let with_meaning = options().iter().filter(|option| option.class != Class::Warning);
    let missing: Vec<&str> =
        with_meaning.flat_map(|option| option.names).copied().filter(|name| !is_known(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
