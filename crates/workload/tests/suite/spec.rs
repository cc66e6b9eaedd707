//! The `[workload]` table: what it makes of requests, and what it says about mistakes.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use workload::{Key, Problem, Request, Source, Spec, WorkloadError};

/// A directory of its own that goes when the test ends.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("wordline-workload-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }

    fn file(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.0.join(name);
        fs::write(&path, bytes).unwrap();
        path.display().to_string()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn all(source: &mut dyn Source) -> Vec<Request> {
    let mut out = Vec::new();
    while let Some(request) = source.next().unwrap() {
        out.push(request);
    }
    out
}

fn message<T>(result: Result<T, WorkloadError>) -> String {
    result.err().map(|e| e.to_string()).unwrap_or_default()
}

/// Three requests at 0, 10 and 30 us.
const TRACE: &str = "100000 0 800 8 1\n110000 0 8000 8 0\n130000 0 0 16 0\n";

#[test]
fn repeat_first_and_speed_up() {
    let scratch = Scratch::new("repeat");
    let path = scratch.file("t", TRACE.as_bytes());
    let run = |settings: &[(&str, &str)]| {
        let mut spec = Spec::trace(&path);
        spec.set("address", "as_is").unwrap();
        for (key, value) in settings {
            spec.set(key, value).unwrap();
        }
        let mut source = spec.open(1 << 20).unwrap();
        let expected = source.len_hint();
        let requests = all(&mut *source);
        assert_eq!(expected, Some(requests.len() as u64));
        assert_eq!(source.len_hint(), Some(0));
        (requests.iter().map(|r| r.arrival_ns).collect::<Vec<_>>(), source.report())
    };
    assert_eq!(run(&[]).0, [0, 10_000, 30_000]);
    // The period is the duration and one mean gap: 30 us + 15 us.
    let (times, report) = run(&[("repeat", "3")]);
    assert_eq!(times, [0, 10_000, 30_000, 45_000, 55_000, 75_000, 90_000, 100_000, 120_000]);
    assert_eq!((report.lines, report.requests), (3, 3));
    assert_eq!(run(&[("repeat", "2"), ("first", "2")]).0, [0, 10_000, 20_000, 30_000]);
    assert_eq!(run(&[("speed_up", "3")]).0, [0, 3333, 10_000]);
    assert_eq!(run(&[("speed_up", "0.5")]).0, [0, 20_000, 60_000]);
    assert_eq!(run(&[("speed_up", "3/2"), ("repeat", "2")]).0, [0, 6666, 20_000, 30_000, 36_666, 50_000]);
    assert_eq!(run(&[("first", "1"), ("repeat", "2")]).0, [0, 0]);
}

#[test]
fn compression_is_seen_in_the_bytes_and_changes_nothing() {
    let scratch = Scratch::new("compression");
    let text: String =
        (0..50_000).map(|i| format!("{} 1 {} 8 {}\n", i * 20_000, i % 997 * 8, i % 2)).collect();
    let mut gzip = Vec::new();
    for half in [&text.as_bytes()[..text.len() / 2], &text.as_bytes()[text.len() / 2..]] {
        // Two members one after the other, as parallel compressors write them.
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(half).unwrap();
        gzip.extend(encoder.finish().unwrap());
    }
    let zst = zstd::encode_all(text.as_bytes(), 1).unwrap();
    let plain = Spec::trace(scratch.file("plain.zst", text.as_bytes())).prepare().unwrap();
    assert_eq!(plain.footprint(0).unwrap().requests, 50_000);
    for (name, bytes) in [("gzip.csv", &gzip), ("zstd", &zst)] {
        let packed = Spec::trace(scratch.file(name, bytes)).prepare().unwrap();
        assert_eq!(packed.workload_hash(), plain.workload_hash(), "{name}");
    }
    for (name, bytes) in [("cut.gz", &gzip[..gzip.len() - 20]), ("cut.zst", &zst[..zst.len() - 20])] {
        let text = message(Spec::trace(scratch.file(name, bytes)).prepare());
        assert!(text.contains(name) && text.contains("cannot decompress"), "{text}");
    }
    let mut flipped = zst.clone();
    flipped[zst.len() / 2] ^= 0x55;
    // Damage inside may decompress to other text, but it ends in an error or in requests, never in a panic.
    let _ = Spec::trace(scratch.file("flipped.zst", &flipped)).prepare();
    let text = message(Spec::trace(scratch.file("t.zip", b"PK\x03\x04....")).prepare());
    assert!(
        text.contains("zip archive") && text.contains("allowed: text, gzip, zstd, xz, bzip2, lz4"),
        "{text}"
    );
}

/// The sample of MSR's format as the programs xz 5.4, bzip2 1.0.8 and lz4 1.9 pack it, in hex.
const PACKED: [(&str, &str); 3] = [
    (
        "xz",
        "fd377a585a000004e6d6b4460200210116000000742fe5a3e0006000505d00188c836d29330c6408066eef14\
     7c55d44ae32e1a8bb724e297eada45c561e19346177034b958324ee5c4b6313fdc65294b61b3aabaf1090fda\
     3db8917e88f49be061bd976d2a5be970508758ee5a0a600059712c2d534c262b00016c614ec07bd31fb6f37d\
     010000000004595a",
    ),
    (
        "bzip2",
        "425a6839314159265359817c7ad100000cdb80001000047fe01080266214002000486a9e26a3c937a9188c35\
     3d26a7a4f2990d1b467d4a62312522e5ac8602d9a80857079a859b87a09ec57a58675a2391c37491c94b0348\
     610a4212559dc63339513a1a9d8bb9229c284840be3d6880",
    ),
    (
        "lz4",
        "04224d186440a75c000000f6223132383136363337323030333036313632392c686d2c302c526561642c3338\
     333439363139322c33323736382c3431330a31008031363338323135353100f00b312c57726974652c323832\
     323134343030302c343039362c310a0000000025587821",
    ),
];

fn bytes_of(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> =
        hex.bytes().filter_map(|b| char::from(b).to_digit(16)).map(|digit| digit as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

#[test]
fn what_other_programs_pack_is_unpacked() {
    let scratch = Scratch::new("packed");
    for (name, hex) in PACKED {
        let once = bytes_of(hex);
        let found = Spec::trace(scratch.file(name, &once)).prepare().unwrap().footprint(0).unwrap();
        assert_eq!(
            (found.reads, found.writes, found.bytes_read, found.duration_ns),
            (1, 1, 32_768, 1_332_052_600),
            "{name}"
        );
        // One stream after the other, as parallel packers and `cat` leave them.
        let found = Spec::trace(scratch.file(name, &once.repeat(3))).prepare().unwrap().footprint(0).unwrap();
        assert_eq!(found.requests, 6, "{name}");
        let text = message(Spec::trace(scratch.file(name, &once[..once.len() - 9])).prepare());
        assert!(text.contains(&format!("{name}: cannot ")), "{text}");
        for at in 0..once.len() {
            let mut flipped = once.clone();
            flipped[at] ^= 0x55;
            // An error, or what is left of the text; never a panic.
            if let Ok(prepared) = Spec::trace(scratch.file("flipped", &flipped)).prepare() {
                assert!(prepared.footprint(0).unwrap().requests <= 2, "{name}, byte {at}");
            }
        }
    }
}

#[test]
fn archives_are_refused_with_advice() {
    let scratch = Scratch::new("archives");
    let mut header = vec![0u8; 1024];
    header[..9].copy_from_slice(b"trace.csv");
    header[148..156].fill(b' ');
    let sum: u64 = header.iter().map(|&b| u64::from(b)).sum();
    header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    for bytes in [header.clone(), zstd::encode_all(&header[..], 1).unwrap()] {
        let text = message(Spec::trace(scratch.file("t.octf.tar", &bytes)).prepare());
        assert!(text.contains("tar archive; unpack it (tar -xf) and give one trace in it"), "{text}");
    }
}

#[test]
fn files_that_cannot_be_read() {
    let scratch = Scratch::new("files");
    let text = message(Spec::trace("no/such/trace.csv").prepare());
    assert!(text.starts_with("no/such/trace.csv: cannot open: "), "{text}");
    let text = message(Spec::trace(scratch.0.display().to_string()).prepare());
    assert!(text.contains("a directory"), "{text}");
    let text = message(Spec::trace(scratch.file("empty", b"")).prepare());
    assert!(text.contains("no request in this trace"), "{text}");
    let noise: Vec<u8> = (0..100_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let text = message(Spec::trace(scratch.file("noise", &noise)).prepare());
    assert!(text.contains("not a trace of a known format") && text.contains("rocksdb"), "{text}");
}

#[test]
fn a_trace_that_changes_is_noticed() {
    let scratch = Scratch::new("changes");
    let path = scratch.file("t", TRACE.as_bytes());
    let prepared = Spec::trace(&path).prepare().unwrap();
    for changed in ["100000 0 800 8 1\n", &TRACE.replace("8000", "9000"), &format!("{TRACE}{TRACE}")] {
        fs::write(&path, changed).unwrap();
        let mut source = prepared.open(1 << 20).unwrap();
        let error = loop {
            match source.next() {
                Ok(Some(_)) => {}
                Ok(None) => break None,
                Err(error) => break Some(error.to_string()),
            }
        };
        assert!(error.is_some_and(|text| text.contains("changed while")), "{changed}");
    }
}

#[test]
fn skipped_lines_are_reported_before_and_after() {
    let scratch = Scratch::new("skipped");
    let path = scratch.file("t", format!("{TRACE}1 0 x 8 1\n5 0 3\n140000 0 8 8 1").as_bytes());
    let text = message(Spec::trace(&path).prepare());
    assert!(text.contains("t:4: column Address: not a number: found 'x', allowed: a whole number"), "{text}");
    let mut spec = Spec::trace(&path);
    spec.set("on_bad_line", "skip").unwrap();
    let prepared = spec.prepare().unwrap();
    let mut source = prepared.open(1 << 20).unwrap();
    assert_eq!(all(&mut *source).len(), 4);
    assert_eq!(source.report(), prepared.report());
    let remarks = source.report().remarks();
    assert!(remarks.iter().any(|r| r == "1 damaged lines skipped: not a number (line 4)"), "{remarks:?}");
    assert!(remarks.iter().any(|r| r.contains("missing (line 5)")), "{remarks:?}");
}

#[test]
fn hash_tells_workloads_apart_and_nothing_else() {
    let scratch = Scratch::new("hash");
    let path = scratch.file("t", TRACE.as_bytes());
    let same =
        scratch.file("other_name", TRACE.replace('\n', "\r\n").replace("100000", "100000 ").as_bytes());
    let hash = |path: &str, settings: &[(&str, &str)]| {
        let mut spec = Spec::trace(path);
        for (key, value) in settings {
            spec.set(key, value).unwrap();
        }
        spec.prepare().unwrap().workload_hash()
    };
    let base = hash(&path, &[]);
    assert_eq!(base, hash(&path, &[]));
    assert_eq!(base, hash(&same, &[("format", "mqsim")]));
    assert_eq!(hash(&path, &[("first", "3")]), base);
    let different = [
        hash(&path, &[("first", "2")]),
        hash(&path, &[("repeat", "2")]),
        hash(&path, &[("speed_up", "2")]),
        hash(&path, &[("address", "wrap")]),
        hash(&path, &[("granularity_kib", "64")]),
        hash(&scratch.file("u", TRACE.replace("800 8", "800 16").as_bytes()), &[]),
        Spec::parse("pattern = 'uniform'").unwrap().prepare().unwrap().workload_hash(),
        Spec::parse("pattern = 'uniform'\nseed = 2").unwrap().prepare().unwrap().workload_hash(),
    ];
    let mut distinct = different.to_vec();
    distinct.push(base);
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), different.len() + 1);
}

#[test]
fn coarse_compaction_keeps_whole_granules() {
    let scratch = Scratch::new("coarse");
    let path = scratch.file("t", b"0 0 40 8 0\n1 0 100000 8 0\n2 0 100120 16 0\n");
    let mut spec = Spec::trace(path);
    spec.set("granularity_kib", "64").unwrap();
    let prepared = spec.prepare().unwrap();
    // Granules of 128 sectors: 0, 781 (99968 to 100095) and 782 (100096 to 100223).
    assert_eq!(prepared.space_sectors(), Some(384));
    let lbas: Vec<u64> = all(&mut *prepared.open(384).unwrap()).iter().map(|r| r.lba).collect();
    assert_eq!(lbas, [40, 128 + 32, 256 + 24]);
}

#[test]
fn mistakes_in_the_table_name_key_range_and_neighbour() {
    let cases = [
        (
            "path = 't'\nadress = 'wrap'",
            "workload.adress: unknown key (did you mean `address`?), allowed: path, format",
        ),
        (
            "path = 't'\naddress = 'warp'",
            "workload.address: found \"warp\" (did you mean `wrap`?), allowed: compact, wrap",
        ),
        ("path = 't'\nformat = 'rockdb'", "unknown trace format `rockdb` (did you mean `rocksdb`?)"),
        ("path = 't'\nrepeat = 0", "workload.repeat: found 0, allowed: a whole number from 1"),
        ("path = 't'\nrepeat = -1", "workload.repeat: found -1"),
        ("path = 't'\nspeed_up = 0.0", "workload.speed_up: found 0.0, allowed: a number above 0"),
        ("path = 't'\ngranularity_kib = 5", "a power of two from 4 to 1024"),
        ("path = 't'\ndevices = 'merged'", "(did you mean `merge`?)"),
        (
            "path = 't'\nzipf_theta = 1.0",
            "workload.zipf_theta: belongs to generators (`pattern`); this is a trace",
        ),
        ("path = ''", "workload.path: found \"\", allowed: a path"),
        ("pattern = 'zipff'", "(did you mean `zipf`?)"),
        ("pattern = 'zipf'\nfirst = 2", "belongs to traces (`path`); this is a generator (`pattern`)"),
        ("preset = 'ads'\nfirst = 2", "belongs to traces (`path`); this is a mix"),
        (
            "preset = 'wensearch'",
            "workload.preset: found \"wensearch\" (did you mean `websearch`?), allowed: ads, mds",
        ),
        ("preset = 7", "workload.preset: found 7, allowed: ads"),
        ("preset = 'varmail'\nparts = []", "found both a mix (`preset` or `parts`) and files (`steps`)"),
        ("preset = 'varmail'\nzipf_theta = 1", "belongs to generators (`pattern`); this is files (`steps`)"),
        ("preset = 'ads'\npath = 't'", "found both a trace (`path`) and a mix"),
        ("preset = 'ads'\ncopies = 0", "workload.copies: found 0, allowed: 1 to 1000"),
        ("preset = 'ads'\nfootprint_percent = 101", "found 101, allowed: 0 to 100"),
        ("preset = 'ads'\nchunk_kib = 3", "a multiple of 4"),
        ("preset = 'ads'\nchunk_kb = 4", "unknown key (did you mean `chunk_kib`?)"),
        ("preset = 'ads'\ncount = 999999999999\nrate_iops = 1", "146 years"),
        ("parts = []", "workload.parts: found none"),
        ("parts = 3", "workload.parts: found 3, allowed: a list of tables"),
        ("parts = [3]", "workload.parts[0]: found 3, allowed: a list of tables"),
        (
            "[[parts]]\nname = 'x'",
            "workload.parts[0].space_mib: found 0.0 MiB, less than its longest request",
        ),
        ("[[parts]]\nspace_mib = 1\nshare_percent = 90", "adds up to 90.0, allowed: 100"),
        (
            "[[parts]]\nspace_mib = 1\nplace = 'zipf'",
            "workload.parts[0].place: unknown key (did you mean `places`?)",
        ),
        (
            "[[parts]]\nspace_mib = 1\nplaces = 'zip'",
            "workload.parts[0].places: found \"zip\" (did you mean `zipf`?)",
        ),
        (
            "[[parts]]\nspace_mib = 1\nrun_bytes = 2097152",
            "less than its longest request or run, allowed: 2.0 MiB",
        ),
        ("pattern = 'uniform'\nread_percent = 101", "workload.read_percent: found 101, allowed: 0 to 100"),
        ("pattern = 'uniform'\nread_percent = nan", "found nan"),
        ("pattern = 'uniform'\nsize_bytes = 100", "a multiple of 512"),
        ("pattern = 'uniform'\nsize_bytes = [[4096, 0]]", "weights from 1"),
        ("pattern = 'uniform'\nsize_bytes = []", "a multiple of 512"),
        ("pattern = 'uniform'\ncount = 0", "a whole number from 1"),
        ("pattern = 'uniform'\nscatter = 1", "true or false"),
        ("pattern = { a = 1 }", "found a table"),
        ("pattern = 'zipf'\nzipf_access_percent = 10", "not a skew"),
        ("pattern = 'uniform'\narrival = 'fixed'\nrate_iops = 0.01\ncount = 999999999999", "146 years"),
        (
            "pathh = 't'",
            "none of a trace (`path`), a generator (`pattern`), a mix (`preset` or `parts`), a fio job file (`jobs`), \
             a capture (`capture`), phases (`phases`), \
             workloads together (`together`), a histogram (`histogram`), files (`steps`) (did you \
             mean `path`?)",
        ),
        ("path = 't'\npattern = 'zipf'", "found both"),
        ("path = ", "workload: "),
    ];
    for (table, says) in cases {
        let text = message(Spec::parse(table));
        assert!(text.contains(says), "{table}\n  says: {text}\n  not:  {says}");
    }
    let error = Spec::parse("path = 't'\nadress = 'wrap'").unwrap_err();
    assert!(
        matches!(error.problem(), Problem::Setting { span: Some(span), .. } if *span == (11..17)),
        "{error:?}"
    );
    let error = Spec::parse("path = 't'\naddress = 'warp'").unwrap_err();
    assert!(
        matches!(error.problem(), Problem::Setting { span: Some(span), .. } if *span == (21..27)),
        "{error:?}"
    );
}

/// Kinds of workloads, by what begins their tables.
const KINDS: [&str; 8] = [
    "path = 't'",
    "pattern = 'zipf'",
    "preset = 'ads'",
    "preset = 'varmail'",
    "jobs = 'a.fio'",
    "capture = 'c'",
    "histogram = 'h'",
    "[[phases]]\npattern = 'zipf'",
];

#[test]
fn no_key_takes_what_is_no_number_or_endless() {
    for table in KINDS {
        let Ok(spec) = Spec::parse(table) else { continue };
        let takes_numbers = |key: &&Key| key.default.parse::<f64>().is_ok() || key.key == "size_bytes";
        for key in spec.own_keys().iter().filter(takes_numbers) {
            for value in ["nan", "-nan", "inf", "-inf", "[nan]", "[[4096, nan]]", "1e999"] {
                let said = spec.clone().set(key.key, value).expect_err(key.key).to_string();
                let parts = [format!("workload.{}: found ", key.key), ", allowed: ".to_owned()];
                assert!(parts.iter().all(|part| said.contains(part)), "{table}: {value}\n{said}");
            }
        }
    }
}

#[test]
fn a_zero_below_zero_is_zero() {
    let text =
        |zero: &str| Spec::parse(&format!("pattern = 'zipf'\nread_percent = {zero}")).unwrap().entries();
    assert_eq!(text("-0.0"), text("0.0"));
}

#[test]
fn settings_survive_a_round_trip() {
    let tables = [
        "path = 'a \"b\"\\c'\ndevices = 3\nspeed_up = 2.5\nrepeat = 7\naddress = 'as_is'\non_bad_line = 'skip'",
        "pattern = 'zipf'\nsize_bytes = [[4096, 70], [8192, 30]]\nread_percent = 33.3\narrival = 'poisson'",
        "preset = 'tpc-h'\ncopies = 200\nfootprint_gib = 0.5\nseed = 3",
        "steps = ['pick read append * 3', 'log']\ncache_mib = 5\ndiscard = 'none'\nsizes = 'uniform'",
        "preset = 'varmail'\nseed = 3\nsecure_percent = 50",
        "pattern = 'zipf'\npage_cache_mib = 12.5\nplain_lru = true",
        "count = 5\n[[parts]]\nname = 'a \"b\"'\nspace_mib = 0.5\nsize_bytes = [[4096, 2], [8192, 1]]",
    ];
    for table in tables {
        let spec = Spec::parse(table).unwrap();
        let text: String = spec.entries().iter().map(|(key, value)| format!("{key} = {value}\n")).collect();
        assert_eq!(Spec::parse(&text).unwrap(), spec, "{text}");
    }
    let kinds = Spec::keys();
    for key in kinds.iter().flat_map(|(_, keys)| keys).chain(&workload::Part::keys()) {
        assert!(!key.text.is_empty() && !key.allowed.is_empty() && !key.default.is_empty(), "{key:?}");
    }
}

#[test]
fn set_takes_bare_words_and_changes_kind() {
    let mut spec = Spec::trace("t");
    spec.set("address", "wrap").unwrap();
    spec.set("pattern", "zipf").unwrap();
    spec.set("zipf_theta", "0.99").unwrap();
    assert!(matches!(&spec, Spec::Synthetic(s) if s.zipf_theta == 0.99));
    assert!(message(spec.set("first", "2")).contains("belongs to traces"));
    spec.set("preset", "Ali121").unwrap();
    assert_eq!((spec.title().as_str(), spec.has_times()), ("ali121", true));
    assert!(message(spec.set("read_percent", "2")).contains("belongs to generators"));
    spec.set("copies", "2").unwrap();
    assert_eq!(spec.entries().len(), spec.own_keys().len());
    spec.set("path", "./dir/trace.csv").unwrap();
    spec.resolve_path(std::path::Path::new("base"));
    assert_eq!(spec.entries()[0], ("path", "\"base/dir/trace.csv\"".to_string()));
    spec.set("path", "").unwrap_err();
    spec.set("path", "2007").unwrap();
    assert_eq!(spec.entries()[0], ("path", "\"2007\"".to_string()));
}
