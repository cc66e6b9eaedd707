//! Whatever a file holds, reading it ends: in requests or in an error, never in a panic, and always the same way.
//!
//! The cases are drawn from fixed seeds; a failure prints the seed and the text. `WORDLINE_READER_CASES=n` makes them
//! more, from the seed `WORDLINE_READER_FROM=n` on.

use ssd::rng::Rng;
use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};
use workload::reader::read_from;
use workload::{
    AddressUnit, BadReason, Columns, Event, Header, OnBadLine, OnTimeStepBack, ReadOptions, Request, Skipped,
    SourceReport, TimeUnit, formats,
};

const CASES: u64 = 20_000;

/// A number from the environment.
fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Texts beside the formats' own samples.
const SEEDS: &[&str] = &[
    "0,20941264,8192,W,0.551706\n1,20939840,8192,R,0.554041\n2,1,512,r,0.6\n",
    "11413000 0 657728 16 1\n11565000 1 31244784 64 0\n15849.28847 0 6198696 8 0\n",
    "timestamp_ns,sid,cpu,operation,lba,len,ioClass,flush,fua,writeHint,fileId,completion_ns\n\
     14196894550578,73,15,Write,1652296,256,19,0,1,3,76,14196894634375\n14196961284784,2,4,Discard,384,8,0,0,0,0,,5\n\
     14196961284785,2,4,Read,0,0,0,1,0,0,,5\n",
    "  8,16 5 7 2.0 77 Q FWFSM 1024 + 16 [x]\n  8,16 5 8 2.5 77 Q FWS [x]\n8,0 5 3 2.6 1 P N [x]\nCPU5 (sdb):\n",
    "259,2,0,5,0.000005462,4020,D,RS,282624,8,[java]\n259,2,0,11,0.013363110,4020,D,WFS,286720,128,[b]\n",
    "#wordline 1 time_ns,op,lba,sectors,device,stream,file,process,context,priority,class,one_time\n\
     0,R,749016,64,,,,,,,,1\n13,WF,5512000,8,1,1,76,,4294967295,2\n14,F,0,0\n",
    "fio version 2 iolog\nf1 add\nf1 read 28672 4096\nf1 wait 100 0\nf2 write 385024 4096\nf2 datasync 0 0\n",
];

/// Bytes that matter to a parser of numbers in columns.
const TELLING: &[u8] = b"0123456789,, \t\n\r.-+\"eExRWrwDF\0\xff\xef";

/// A mutation of a valid text, or noise.
fn text(rng: &mut Rng) -> Vec<u8> {
    let below = |rng: &mut Rng, n: usize| rng.below(n.max(1) as u32) as usize;
    if below(rng, 8) == 0 {
        let length = below(rng, 600);
        return (0..length).map(|_| rng.next_u64() as u8).collect();
    }
    let texts = SEEDS.iter().map(|text| text.as_bytes());
    let seeds: Vec<&[u8]> = formats().map(|format| format.sample).chain(texts).collect();
    let mut text = seeds[below(rng, seeds.len())].repeat(1 + below(rng, 3));
    for _ in 0..below(rng, 9) {
        let at = below(rng, text.len());
        match below(rng, 6) {
            0 => text.truncate(at),
            1 => text.insert(at.min(text.len()), TELLING[below(rng, TELLING.len())]),
            2 if !text.is_empty() => text[at] = TELLING[below(rng, TELLING.len())],
            3 if !text.is_empty() => {
                text.remove(at);
            }
            4 => {
                // A number of many digits, or a column of many letters.
                let run = vec![TELLING[below(rng, TELLING.len())]; below(rng, 40)];
                text.splice(at..at, run);
            }
            _ => {
                let to = at + below(rng, text.len() - at.min(text.len()));
                let piece = text.get(at..to).unwrap_or_default().to_vec();
                let into = below(rng, text.len());
                text.splice(into..into, piece);
            }
        }
    }
    text
}

fn options(rng: &mut Rng) -> ReadOptions {
    const UNITS: [TimeUnit; 6] = [
        TimeUnit::Auto,
        TimeUnit::Seconds,
        TimeUnit::Milliseconds,
        TimeUnit::Microseconds,
        TimeUnit::Nanoseconds,
        TimeUnit::Filetime,
    ];
    ReadOptions {
        time_unit: UNITS[rng.below(6) as usize],
        address_unit: [AddressUnit::Auto, AddressUnit::Bytes, AddressUnit::Pages][rng.below(3) as usize],
        event: [Event::Auto, Event::Queued, Event::Completed][rng.below(3) as usize],
        on_bad_line: if rng.below(2) == 0 { OnBadLine::Error } else { OnBadLine::Skip },
        on_time_step_back: if rng.below(4) == 0 { OnTimeStepBack::Error } else { OnTimeStepBack::Clamp },
        ..ReadOptions::default()
    }
}

/// Reads to the end; checks what holds for every request.
fn read(text: &[u8], format: &str, options: &ReadOptions) -> (Vec<Request>, SourceReport, String) {
    let mut source = match read_from(Cursor::new(text.to_vec()), "case", format, options) {
        Ok(source) => source,
        Err(error) => return (Vec::new(), SourceReport::default(), error.to_string()),
    };
    let mut requests: Vec<Request> = Vec::new();
    loop {
        match source.next() {
            Ok(Some(request)) => {
                let before = requests.last().map_or(0, |r| r.arrival_ns);
                assert!(request.arrival_ns >= before && request.end() <= 1 << 50, "{request:?}");
                requests.push(request);
            }
            Ok(None) => {
                let report = source.report();
                assert_eq!(report.requests, requests.len() as u64);
                // Zeros at the end are passed over in any case.
                let is_zeros = |skipped: &Skipped| skipped.reason == BadReason::ZeroBytes;
                assert!(options.on_bad_line == OnBadLine::Skip || report.skipped.iter().all(is_zeros));
                assert!(!requests.is_empty());
                return (requests, report, String::new());
            }
            Err(error) => return (requests, source.report(), error.to_string()),
        }
    }
}

#[test]
fn nothing_panics_and_everything_repeats() {
    let names: Vec<&str> = formats().map(|f| f.name).chain(["auto"]).collect();
    let (mut read_through, mut refused) = (0, 0);
    let (from, cases) = (number("WORDLINE_READER_FROM", 0), number("WORDLINE_READER_CASES", CASES));
    for case in from..from + cases {
        let mut rng = Rng::named(case, "tests/random");
        let text = text(&mut rng);
        let any = names[rng.below(names.len() as u32) as usize];
        let format = if rng.below(2) == 0 { "auto" } else { any };
        let mut options = options(&mut rng);
        if format == "csv" {
            let columns = [
                "time=1:us,op=2,offset=3:bytes,size=4",
                "op=kind,offset=at,size=bytes,file=1",
                "op=1,size=2,offset=3",
            ];
            options.columns = Columns::from_text(columns[rng.below(3) as usize]).unwrap();
            options.header = [Header::Auto, Header::Yes, Header::No][rng.below(3) as usize];
        }
        let run = || catch_unwind(AssertUnwindSafe(|| read(&text, format, &options)));
        let first = run();
        let shown = String::from_utf8_lossy(&text);
        let Ok((requests, report, error)) = first else { panic!("case {case}, {format}: {shown:?}") };
        let again = run().unwrap_or_default();
        assert_eq!(again, (requests, report, error.clone()), "case {case}");
        if error.is_empty() {
            read_through += 1;
        } else {
            refused += 1;
            assert!(error.contains("case"), "{error}");
        }
    }
    // Both ends are reached often, or the cases test nothing.
    assert!(
        read_through > cases / 20 && refused > cases / 4,
        "{read_through} read through, {refused} refused"
    );
}
