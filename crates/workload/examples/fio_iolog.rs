//! Prints what the jobs of a fio job file ask for, as a log like fio's own (`write_iolog`), one request a line: file,
//! action, offset in the drive, length; bytes. Each request takes the time given (microseconds, 0 by default).
//!
//! `cargo run -p wordline-workload --example fio_iolog -- job.fio [service_us] [drive_mib]`

use std::io::{BufWriter, Write};
use workload::fio::JobFile;
use workload::{Played, SECTOR_BYTES};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("the path of a job file is missing")?;
    let mut number = |default: u64| arguments.next().map_or(Ok(default), |text| text.parse());
    let (service_us, drive_mib) = (number(0)?, number(1 << 20)?);
    let jobs = JobFile::load(&path)?;
    if service_us == 0
        && let Some(job) = jobs.timed_job()
    {
        return Err(format!("{path}: job {job} ends by time, and requests take none").into());
    }
    let driven = jobs.open(drive_mib << 11, 1)?;
    let names = driven.lanes();
    let mut played = Played::new(driven, service_us * 1000);
    let mut out = BufWriter::new(std::io::stdout().lock());
    while let Some((lane, request)) = played.next_of_lane()? {
        let (at, length) = (request.lba * SECTOR_BYTES, request.bytes());
        writeln!(
            out,
            "{} {} {} {at} {length}",
            played.now_ns() / 1000,
            names[lane as usize],
            request.op.name()
        )?;
    }
    out.flush()?;
    for remark in jobs.remarks() {
        eprintln!("{remark}");
    }
    Ok(())
}
