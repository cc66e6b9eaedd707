//! The shipped profiles of applications on files, beside what the papers say of them.

use ssd::signals::OpCode;
use workload::standin::{pinned, workload};
use workload::{Spec, standins};

/// Share of reads by bytes in the second half of so many requests on so many GiB.
fn read_bytes_percent(spec: &Spec, requests: u64, gib: u64) -> f64 {
    let mut spec = spec.clone();
    spec.set("count", &requests.to_string()).unwrap();
    let mut source = spec.open(gib << 21).unwrap();
    let (mut reads, mut writes, mut seen) = (0, 0, 0);
    while let Some(request) = source.next().unwrap() {
        seen += 1;
        match request.op {
            OpCode::Read if seen > requests / 2 => reads += request.bytes(),
            OpCode::Write if seen > requests / 2 => writes += request.bytes(),
            _ => {}
        }
    }
    assert_eq!(seen, requests);
    assert_eq!(source.report().refused_operations, 0);
    100.0 * reads as f64 / (reads + writes) as f64
}

/// RealWear, table 2; Evanesco, table 4: within 3 points on the drive they were fitted to.
#[test]
fn profiles_read_and_write_as_their_papers_say() {
    let mut names = Vec::new();
    for preset in standins() {
        let spec = workload(preset).unwrap();
        let Spec::Files(_) = &spec else { continue };
        let wanted = pinned(preset).unwrap().read_bytes_percent;
        let found = read_bytes_percent(&spec, 100_000, 8);
        println!("{}: {found:.1} % of {wanted} %", preset.name);
        assert!((found - wanted).abs() < 3.0, "{}: {found} % reads, not {wanted} %", preset.name);
        assert!(preset.text.starts_with("# Profile "), "{}", preset.name);
        names.push(preset.name);
    }
    let all =
        ["varmail", "fileserver", "webserver", "proxyserver", "oltp", "ntrx", "mailserver", "fileserver_e"];
    assert_eq!(names, [all.as_slice(), &["dbserver", "mobile"]].concat());
}
