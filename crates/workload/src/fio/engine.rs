//! Engines: how requests reach the drive, and which of them bring it none.

use super::meaning::put;
use super::parse::Wrong;
use super::settings::{Job, Way};
use super::value::Value;

/// Engines without requests for a drive, with the reason.
const REFUSED: &[(&[&str], &str)] = &[
    (&["cpuio", "exec"], "it keeps processors busy and sends no request"),
    (&["net", "netsplice", "rdma"], "it sends over a network, and no drive has a part in it"),
    (
        &["filecreate", "filestat", "filedelete", "dircreate", "dirstat", "dirdelete"],
        "what the drive gets is the file system's own reads and writes, which no option tells",
    ),
    (
        &["ftruncate", "falloc", "e4defrag"],
        "it changes where a file system keeps a file, and what the drive gets is the file system's own",
    ),
    (&["page_fault"], "it touches memory without a file"),
    (&["mtd"], "it reaches bare flash, past any firmware"),
];

/// Engines with a call for each request, which return when it is done.
const SYNCHRONOUS: &[&str] =
    &["psync", "sync", "vsync", "pvsync", "pvsync2", "splice", "null", "cpp_null", "libcufile", "libhipfile"];
/// Engines that keep `iodepth` requests in flight.
const QUEUED: &[&str] = &[
    "libaio",
    "io_uring",
    "io_uring_cmd",
    "posixaio",
    "solarisaio",
    "windowsaio",
    "sg",
    "libblkio",
    "libzbc",
    "xnvme",
    "spdk",
    "spdk_bdev",
];
/// The same to storage of another machine.
const SERVER_SYNCHRONOUS: &[&str] = &["gfapi", "ime_psync", "ime_psyncv", "libhdfs", "http"];
const SERVER_QUEUED: &[&str] = &["gfapi_async", "ime_aio", "nbd", "nfs", "dfs", "rbd", "rados", "libiscsi"];
/// Engines that copy from and to memory that is mapped to a file, or to persistent memory.
const MAPPED: &[&str] = &["mmap", "libpmem", "pmemblk", "dev-dax"];

/// All that reach a drive: whether they have one request in flight, whatever `iodepth` says, and how they send it.
const KINDS: [(&[&str], bool, Way); 5] = [
    (SYNCHRONOUS, true, Way::Calls),
    (QUEUED, false, Way::Calls),
    (SERVER_SYNCHRONOUS, true, Way::Server),
    (SERVER_QUEUED, false, Way::Server),
    (MAPPED, true, Way::Mapping),
];

/// Whether an engine has one request in flight, whatever `iodepth` says.
pub fn is_synchronous(engine: &str) -> bool {
    KINDS.iter().any(|(names, is_sync, _)| *is_sync && names.contains(&engine))
}

pub(super) fn engine(job: &mut Job, value: Value<'_>) -> Result<(), Wrong> {
    let text = value.word()?;
    // One from elsewhere, by its path.
    if text.starts_with("external:") {
        job.has_sync_engine = false;
        return Ok(());
    }
    if let Some((_, reason)) = REFUSED.iter().find(|(names, _)| names.contains(&text)) {
        let allowed = "an engine that reads and writes a drive, such as libaio or io_uring";
        return Err(Wrong::new(format!("found {text:?}: {reason}"), allowed));
    }
    let words: Vec<(&'static str, (bool, Way))> = KINDS
        .iter()
        .flat_map(|(names, is_sync, way)| names.iter().map(|name| (*name, (*is_sync, *way))))
        .collect();
    (job.has_sync_engine, job.way) = value.choice(&words)?;
    Ok(())
}

/// Commands that the SCSI engine sends for writes.
pub(super) fn sg_write(job: &mut Job, value: Value<'_>) -> Result<(), Wrong> {
    let verifies = [
        ("write", false),
        ("write_same", false),
        ("same", false),
        ("write_same_ndob", false),
        ("verify_bytchk_00", true),
        ("verify_bytchk_01", true),
        ("verify_bytchk_11", true),
    ];
    if let Some(mode @ ("write_and_verify" | "verify" | "write_stream")) = value.text {
        let found = format!("found {mode:?}: a command that writes and reads again, or names a stream");
        return Err(Wrong::new(found, "write, write_same, write_same_ndob or verify_bytchk_00, _01, _11"));
    }
    put(&mut job.writes_verify, value.choice(&verifies))
}
