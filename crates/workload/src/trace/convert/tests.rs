use super::csv::SUMMARY;
use super::*;
use crate::base::request::Request;
use crate::reader::Columns;
use crate::reader::{ReadOptions, open_records};
use ssd::rng::Rng;
use ssd::signals::Hints;

/// Requests of all kinds with all hints, small and extreme; times in order.
fn random_records(rng: &mut Rng, count: u32) -> Vec<Record> {
    let number = |rng: &mut Rng, bits: u32| match rng.below(4) {
        0 => 0,
        1 => u64::MAX >> (64 - bits),
        2 => (rng.next_u64() % 100) & (u64::MAX >> (64 - bits)),
        _ => rng.next_u64() >> (64 - bits),
    };
    let mut arrival_ns = u64::from(rng.below(1_000));
    let one = |_| {
        arrival_ns += u64::from(rng.below(3)) * number(rng, 40);
        let op = [OpCode::Read, OpCode::Write, OpCode::Trim, OpCode::Flush][rng.below(4) as usize];
        let is_flush = op == OpCode::Flush;
        let sectors = if is_flush { 0 } else { number(rng, 32).max(1) as u32 };
        let lba = if is_flush { 0 } else { number(rng, 50).min((1 << 50) - u64::from(sectors)) };
        let hints = Hints {
            stream: number(rng, 16) as u16,
            file: number(rng, 32) as u32,
            process: number(rng, 32) as u32,
            context: number(rng, 32) as u32,
            priority: rng.below(4) as u8,
            class: number(rng, 8) as u8,
            one_time: rng.below(2) == 1,
        };
        let fua = !is_flush && rng.below(2) == 1;
        let request = Request { arrival_ns, op, fua, lba, sectors, hints };
        Record { request, device: number(rng, 16) as u16 }
    };
    (0..count).map(one).collect()
}

fn target(name: &str) -> &'static TargetInfo {
    targets().iter().find(|info| info.name == name).expect("a target")
}

fn write(name: &str, packing: Packing, records: &[Record]) -> (Vec<u8>, Written) {
    let mut writer = TraceWriter::new(target(name), packing, Vec::new()).unwrap();
    for record in records {
        writer.add(record).unwrap();
    }
    writer.finish().unwrap()
}

fn text(name: &str, records: &[Record]) -> (String, Written) {
    let (bytes, written) = write(name, Packing::None, records);
    (String::from_utf8(bytes).unwrap(), written)
}

fn read(bytes: Vec<u8>, format: &str) -> Vec<Record> {
    let mut records =
        open_records(std::io::Cursor::new(bytes), "test", format, &ReadOptions::default()).unwrap();
    std::iter::from_fn(|| records.next().unwrap()).collect()
}

#[test]
fn wordline_there_and_back_loses_nothing() {
    let mut rng = Rng::named(1, "convert");
    for case in 0..300 {
        let records = random_records(&mut rng, 1 + case);
        let (bytes, written) = write("wordline", Packing::None, &records);
        assert_eq!(written, Written { requests: u64::from(1 + case), lost: Lost::default() });
        for format in ["auto", "wordline"] {
            assert_eq!(format!("{:?}", read(bytes.clone(), format)), format!("{records:?}"));
        }
    }
}

/// A handful of requests, one of each kind.
fn story() -> [Record; 5] {
    let hints = Hints { stream: 3, file: 76, process: 5, context: 6, priority: 1, class: 2, one_time: true };
    let request =
        |arrival_ns, op, lba, sectors| Request { arrival_ns, op, lba, sectors, ..Request::default() };
    let record = |request, device| Record { request, device };
    [
        record(Request { hints, ..request(1_500, OpCode::Read, 8, 16) }, 3),
        record(Request { fua: true, ..request(2_000, OpCode::Write, 1 << 40, 1) }, 0),
        record(Request { hints, ..request(2_001, OpCode::Trim, 0, 2048) }, 1),
        record(request(2_500, OpCode::Flush, 0, 0), 3),
        record(request(3_000, OpCode::Write, 24, 8), 0),
    ]
}

#[test]
fn lines_are_as_their_formats_have_them() {
    for (name, expected) in [
        (
            "wordline",
            "#wordline 1 time_ns,op,lba,sectors,device,stream,file,process,context,priority,class,one_time\n\
             1500,R,8,16,3,3,76,5,6,1,2,1\n2000,WF,1099511627776,1\n2001,T,0,2048,1,3,76,5,6,1,2,1\n2500,F,0,0,3\n\
             3000,W,24,8\n",
        ),
        ("mqsim", "1500 3 8 16 1\n2000 0 1099511627776 1 0\n3000 0 24 8 0\n"),
        (
            "fio_iolog",
            "fio version 3 iolog\n1 device3 add\n1 device3 open\n1 device3 read 4096 8192\n2 device0 add\n\
             2 device0 open\n2 device0 write 562949953421312 512\n2 device1 add\n2 device1 open\n\
             2 device1 trim 0 1048576\n2 device3 sync 0 0\n3 device0 write 12288 4096\n3 device0 close\n\
             3 device1 close\n3 device3 close\n",
        ),
        (
            "csv",
            "time_ns,op,offset_bytes,size_bytes,fua,device,stream,file,process,context,priority,class,one_time\n\
             1500,read,4096,8192,0,3,3,76,5,6,1,2,1\n2000,write,562949953421312,512,1,0,0,0,0,0,0,0,0\n\
             2001,trim,0,1048576,0,1,3,76,5,6,1,2,1\n2500,flush,0,0,0,3,0,0,0,0,0,0,0\n\
             3000,write,12288,4096,0,0,0,0,0,0,0,0,0\n",
        ),
    ] {
        assert_eq!(text(name, &story()).0, expected, "{name}");
    }
}

#[test]
fn what_a_format_cannot_hold_is_counted() {
    let lost = |name| text(name, &story()).1;
    let hints =
        Lost { file: 2, process: 2, context: 2, priority: 2, class: 2, one_time: 2, ..Lost::default() };
    // The trim's hints go with the trim; the first stream is the device's own number.
    let mqsim = Lost {
        trims: 1,
        flushes: 1,
        fua: 1,
        file: 1,
        process: 1,
        context: 1,
        priority: 1,
        class: 1,
        one_time: 1,
        ..hints
    };
    assert_eq!(lost("mqsim"), Written { requests: 3, lost: mqsim });
    let iolog = Lost { fua: 1, times: 3, stream: 1, ..hints };
    assert_eq!(lost("fio_iolog"), Written { requests: 5, lost: iolog });
    for name in ["wordline", "csv"] {
        assert_eq!(lost(name), Written { requests: 5, lost: Lost::default() });
    }
    let words: Vec<_> = iolog.entries().map(|(name, count, text)| format!("{name} {count} {text}")).collect();
    assert_eq!(
        words[..2],
        ["fua 1 requests lose their forced unit access", "times 3 times truncated to the format's unit"]
    );
}

#[test]
fn mqsim_is_read_back_as_it_was_written() {
    let mut rng = Rng::named(2, "convert");
    let records: Vec<Record> = random_records(&mut rng, 3_000)
        .into_iter()
        .filter(|r| matches!(r.request.op, OpCode::Read | OpCode::Write))
        .collect();
    let first_ns = records[0].request.arrival_ns;
    let kept = |r: &Record| {
        let hints = Hints { stream: r.device, ..Hints::default() };
        let arrival_ns = r.request.arrival_ns - first_ns;
        Record { request: Request { arrival_ns, fua: false, hints, ..r.request }, device: r.device }
    };
    let options = ReadOptions {
        time_unit: crate::TimeUnit::Nanoseconds,
        address_unit: crate::AddressUnit::Sectors,
        ..ReadOptions::default()
    };
    let (bytes, _) = write("mqsim", Packing::None, &records);
    let mut found = open_records(std::io::Cursor::new(bytes), "test", "mqsim", &options).unwrap();
    for record in &records {
        assert_eq!(found.next().unwrap(), Some(kept(record)));
    }
}

/// By the columns that `SUMMARY` names: everything but the time zero, which is that of the first request.
#[test]
fn csv_is_read_back_as_it_was_written() {
    let mut rng = Rng::named(4, "convert");
    let records = random_records(&mut rng, 5_000);
    let columns = SUMMARY.split_once("--columns ").unwrap().1;
    let options = ReadOptions { columns: Columns::from_text(columns).unwrap(), ..ReadOptions::default() };
    let (bytes, _) = write("csv", Packing::None, &records);
    let mut found = open_records(std::io::Cursor::new(bytes), "test", "csv", &options).unwrap();
    let first_ns = records[0].request.arrival_ns;
    for record in &records {
        let request = Request { arrival_ns: record.request.arrival_ns - first_ns, ..record.request };
        assert_eq!(found.next().unwrap(), Some(Record { request, ..*record }));
    }
    assert_eq!(found.next().unwrap(), None);
}

#[test]
fn files_are_packed_by_their_names() {
    let mut rng = Rng::named(3, "convert");
    let records = random_records(&mut rng, 20_000);
    let (plain, _) = write("wordline", Packing::None, &records);
    for (name, packing) in [
        ("a.wl", Packing::None),
        ("a.csv.zst", Packing::Zstd),
        ("a.ZST", Packing::Zstd),
        ("a.gz", Packing::Gzip),
    ] {
        assert_eq!(Packing::of(Path::new(name)), packing, "{name}");
        let (bytes, _) = write("wordline", packing, &records);
        let unpacked = match packing {
            Packing::None => bytes,
            Packing::Zstd => zstd::decode_all(&bytes[..]).unwrap(),
            Packing::Gzip => {
                let mut text = Vec::new();
                std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(&bytes[..]), &mut text).unwrap();
                text
            }
        };
        assert!(unpacked == plain, "{name}");
    }
}
