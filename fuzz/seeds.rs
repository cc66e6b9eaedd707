//! Writes what fuzzing begins with: `corpus/<format>/sample` for each format, and job files.

use std::fs::{create_dir_all, write};
use std::io;
use workload::formats;

const JOBS: [&str; 2] = [
    "[global]\nioengine=libaio\nbssplit=4k/60:64k/40,8k\nrandom_distribution=zoned:50/10:50/90\n[a]\nsize=1m\n\
     rw=randrw:8\nrate=1m,,2m\nstartdelay=1-2\nfilename=x:y\n",
    "[a]\nsize=1m\nrw=randwrite\niodepth=4\nfsync=8\nloops=2\n[b]\nstonewall\nrw=read\nsize=50%\nruntime=10ms\n\
     time_based\nthinktime=1ms\nrandom_distribution=zipf:1.1\nnumjobs=2\nnumber_ios=9\n",
];

fn main() -> io::Result<()> {
    for format in formats() {
        let folder = format!("corpus/{}", format.name);
        create_dir_all(&folder)?;
        write(format!("{folder}/sample"), [&b"\x01"[..], format.sample].concat())?;
    }
    create_dir_all("corpus/jobs")?;
    JOBS.iter().enumerate().try_for_each(|(number, text)| write(format!("corpus/jobs/{number}"), text))
}
