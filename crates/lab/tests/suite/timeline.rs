//! Timelines, read by a reader of their own: they are well formed, and add up to the result.

use crate::common;

use common::{closed, fresh_path, generator, open, run, small_drive, tiny_drive, try_run, with_every_policy};
use lab::{RunResult, RunSpec, TimelineSpec};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use workload::Prepared;

/// A field of a message, as protobuf has them on the wire.
enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

impl<'a> Field<'a> {
    fn number(&self) -> u64 {
        let Field::Number(number) = self else { panic!("bytes") };
        *number
    }

    fn bytes(&self) -> &'a [u8] {
        let Field::Bytes(bytes) = self else { panic!("a number") };
        bytes
    }

    fn text(&self) -> String {
        String::from_utf8(self.bytes().to_vec()).unwrap()
    }
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first().expect("a whole number");
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return value;
        }
    }
    panic!("a number of more than 64 bits");
}

fn fields(mut bytes: &[u8]) -> Vec<(u64, Field<'_>)> {
    let mut all = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        let field = match tag & 7 {
            0 => Field::Number(varint(&mut bytes)),
            1 => {
                let (number, rest) = bytes.split_at(8);
                bytes = rest;
                Field::Number(u64::from_le_bytes(number.try_into().unwrap()))
            }
            2 => {
                let length = varint(&mut bytes) as usize;
                let (inner, rest) = bytes.split_at(length);
                bytes = rest;
                Field::Bytes(inner)
            }
            other => panic!("wire type {other}"),
        };
        all.push((tag >> 3, field));
    }
    all
}

fn find<'f, 'a>(fields: &'f [(u64, Field<'a>)], number: u64) -> impl Iterator<Item = &'f Field<'a>> {
    fields.iter().filter(move |field| field.0 == number).map(|field| &field.1)
}

fn one<'f, 'a>(fields: &'f [(u64, Field<'a>)], number: u64) -> &'f Field<'a> {
    find(fields, number).next().unwrap_or_else(|| panic!("no field {number}"))
}

/// What a strict reader finds in a trace.
#[derive(Default)]
struct Trace {
    /// Slices: track, name, begin and end.
    slices: Vec<(String, String, u64, u64)>,
    counters: BTreeMap<String, u64>,
    start: u64,
    end: u64,
    arrows: usize,
}

/// Names of a field of interned data.
fn interned(data: &[(u64, Field<'_>)], field: u64) -> BTreeMap<u64, String> {
    let entry = |entry: &Field<'_>| {
        let entry = fields(entry.bytes());
        (one(&entry, 1).number(), one(&entry, 2).text())
    };
    find(data, field).map(entry).collect()
}

fn read(file: &[u8]) -> Trace {
    let mut packets = Vec::new();
    for (number, packet) in fields(file) {
        assert_eq!(number, 1, "all of a trace are packets");
        let outer = fields(packet.bytes());
        let mut inflated = Vec::new();
        flate2::read::ZlibDecoder::new(one(&outer, 50).bytes()).read_to_end(&mut inflated).unwrap();
        packets.extend(fields(&inflated).iter().map(|(_, packet)| packet.bytes().to_vec()));
    }
    let first = fields(&packets[0]);
    assert_eq!(one(&first, 13).number(), 1, "the state begins");
    let [mut categories, mut names, mut arguments, mut texts] = [(); 4].map(|()| BTreeMap::new());
    let clocks = fields(one(&first, 6).bytes());
    let clock = fields(find(&clocks, 1).nth(1).unwrap().bytes());
    let defaults = fields(one(&first, 59).bytes());
    assert_eq!((one(&clock, 1).number(), one(&clock, 3).number()), (one(&defaults, 58).number(), 1));
    let mut now = one(&clock, 2).number();
    let mut found = Trace { start: now, ..Trace::default() };
    let (mut tracks, mut open) = (BTreeMap::new(), BTreeMap::new());
    let (mut begun, mut ended) = (BTreeSet::new(), BTreeSet::new());
    for packet in &packets[1..] {
        let packet = fields(packet);
        assert_eq!(one(&packet, 10).number(), 1);
        if let Some(track) = find(&packet, 60).next() {
            let track = fields(track.bytes());
            let parent = find(&track, 5).next().map(Field::number);
            assert!(parent.is_none_or(|parent| tracks.contains_key(&parent)), "parents come first");
            let is_new = tracks.insert(one(&track, 1).number(), one(&track, 2).text()).is_none();
            assert!(is_new, "two tracks of one number");
            continue;
        }
        assert_eq!(one(&packet, 13).number(), 2, "the state is needed");
        now += one(&packet, 8).number();
        // Names are told in the packet that needs them first.
        for data in find(&packet, 12).map(|data| fields(data.bytes())) {
            let all = [&mut categories, &mut names, &mut arguments, &mut texts];
            all.into_iter()
                .zip([1, 2, 3, 29])
                .for_each(|(names, field)| names.extend(interned(&data, field)));
        }
        let event = fields(one(&packet, 11).bytes());
        let id = one(&event, 11).number();
        let track = tracks[&id].clone();
        match one(&event, 9).number() {
            1 => {
                assert!(categories.contains_key(&one(&event, 3).number()));
                for argument in find(&event, 4).map(|argument| fields(argument.bytes())) {
                    assert!(arguments.contains_key(&one(&argument, 1).number()));
                    assert!(find(&argument, 17).all(|text| texts.contains_key(&text.number())));
                }
                begun.extend(find(&event, 47).map(Field::number));
                for flow in find(&event, 48).map(Field::number) {
                    assert!(ended.insert(flow), "an arrow ends twice");
                }
                let name = names[&one(&event, 10).number()].clone();
                assert!(open.insert(id, (name, now)).is_none(), "{track}: two slices at a time");
            }
            2 => {
                let (name, from) = open.remove(&id).unwrap_or_else(|| panic!("{track}: nothing to end"));
                found.slices.push((track, name, from, now));
            }
            _ => *found.counters.entry(track).or_default() += 1,
        }
    }
    assert!(open.is_empty(), "{open:?} never end");
    assert_eq!(begun, ended, "arrows end where something is");
    (found.end, found.arrows) = (now, ended.len());
    found
}

impl Trace {
    /// Time of slices whose tracks and names are so; ns.
    fn sum(&self, is_so: impl Fn(&str, &str) -> bool) -> u64 {
        let all = self.slices.iter().filter(|slice| is_so(&slice.0, &slice.1));
        all.map(|slice| slice.3 - slice.2).sum()
    }
}

fn traced(
    name: &str,
    config: &ssd::DriveConfig,
    load: &Prepared,
    spec: &RunSpec,
    window: (Option<u64>, Option<u64>),
) -> (RunResult, Trace) {
    let path = fresh_path(name);
    let timeline = Some(TimelineSpec { path: path.clone(), from_ns: window.0, to_ns: window.1 });
    let result = run(config, load, &RunSpec { timeline, ..spec.clone() });
    (result, read(&std::fs::read(&path).unwrap()))
}

const MIX: &str = "read_percent = 50\nsize_bytes = [[4096, 3], [16384, 1]]";

/// Of a whole measurement under every policy, behind a warm-up: times of dies and channels are those of the result to
/// the nanosecond, and nothing else becomes of the run.
#[test]
fn a_timeline_adds_up_to_the_result() {
    let small = [0, 1].map(|_| (String::new(), small_drive()));
    let all = with_every_policy(&tiny_drive()).into_iter().chain(small);
    // The loops take turns.
    for ((what, config), spec) in all.zip([closed(16), open()].into_iter().cycle()) {
        let spec = RunSpec { warm_up: 50, ..spec };
        let load = generator(400, &format!("{MIX}\narrival = \"poisson\"\nrate_iops = 4000"));
        let (result, trace) = traced("timeline-sums", &config, &load, &spec, (Some(0), None));
        assert_eq!(result.event_hash, run(&config, &load, &spec).event_hash, "{what}");
        let (of, ns) = (&result.utilisation, result.simulated_ns);
        let (dies, channels) = (config.geometry.dies(), config.geometry.channels);
        let total =
            |mean: Option<f64>, parts: u32| (mean.unwrap() * ns as f64 * f64::from(parts)).round() as u64;
        let is_die = |track: &str| track.starts_with("die ") && !track.contains("plane");
        assert_eq!(trace.sum(|track, _| is_die(track)), total(of.die.mean, dies), "{what}: dies");
        let works = |name: &str| name == "busy" || name == "busy: suspending or resuming";
        let array = trace.sum(|track, name| is_die(track) && works(name));
        assert_eq!(array, total(of.array.mean, dies), "{what}: arrays");
        let carried = trace.sum(|_, name| name == "transfer");
        assert_eq!(carried, total(of.channel.mean, channels), "{what}: channels");
        let requests = trace.slices.iter().filter(|slice| slice.0.starts_with("request "));
        // Some may have ended in the nanosecond in which the measurement began.
        assert!((340..=350).contains(&requests.count()), "{what}");
        assert!(trace.counters.len() == 4 && trace.arrows > 50, "{what}: {:?}", trace.counters);
    }
}

/// A window that is given is all there is of the run; one that is not lies around the longest time without completions.
#[test]
fn a_window_is_what_was_asked_for_or_where_the_run_stood() {
    let config = small_drive();
    let load = generator(3_000, MIX);
    let (from, to) = (20_000_000, 30_000_000);
    let (_, trace) = traced("timeline-given", &config, &load, &closed(16), (Some(from), Some(to)));
    assert!(trace.start == from && trace.end <= to, "{} to {}", trace.start, trace.end);
    assert!(trace.slices.iter().all(|slice| from <= slice.2 && slice.3 <= to));
    assert!(trace.slices.len() > 100, "{}", trace.slices.len());
    // Sixteen requests are in the drive at any time, at the end as well.
    let requests = trace.slices.iter().filter(|slice| slice.0.starts_with("request "));
    assert_eq!(requests.filter(|slice| slice.3 == to).count(), 16);
    let (result, trace) = traced("timeline-worst", &config, &load, &closed(16), (None, None));
    let (_, log) = common::Log::of_run("timeline.csv", &config, &load, &closed(16));
    let mut done = log.numbers("completion_ns");
    done.insert(0, 0);
    let longest = done.windows(2).max_by_key(|pair| pair[1] - pair[0]).unwrap();
    assert!(longest[1] - longest[0] > 500_000, "{longest:?}");
    let around = 10_000_000;
    assert_eq!(trace.start, longest[0].saturating_sub(around), "{longest:?} of {}", result.simulated_ns);
    assert!(trace.end >= longest[1] && trace.end <= longest[1] + around, "{longest:?}, {}", trace.end);
    let stood = |slice: &&(String, String, u64, u64)| {
        slice.0.starts_with("request ") && slice.2 <= longest[0] && slice.3 >= longest[1]
    };
    assert!(trace.slices.iter().filter(stood).count() > 8);
}

/// Where no time passes there is none to show.
#[test]
fn a_run_without_time_has_no_timeline() {
    let timeline = TimelineSpec { path: fresh_path("timeline-none"), from_ns: None, to_ns: None };
    let spec = RunSpec { timeline: Some(timeline), executor: ssd::Executor::Functional, ..closed(1) };
    let failed = try_run(&small_drive(), &generator(10, MIX), &spec).unwrap_err();
    assert!(failed.to_string().contains("which simulates no time, and the timeline"), "{failed}");
}
