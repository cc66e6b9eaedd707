//! What happened in a window, as a trace of Perfetto: a track for each channel, below it its dies and below them their
//! planes, tracks for requests, and counters.

use super::wire::{Message, Packets};
use super::{Level, Served, Slices};
use ssd::flash::op::OpKind;
use ssd::sections::Geometry;
use ssd::{Holder, OpCode, Place, SimTime, Span};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet};
use std::io::{self, Write};

/// Fields of `TracePacket`.
const TIMESTAMP: u32 = 8;
const SEQUENCE: u32 = 10;
const TRACK_EVENT: u32 = 11;
/// `TracePacket.sequence_flags`: the state that deltas and interned names go by begins here, or is needed.
const FLAGS: (u32, u64, u64) = (13, 1, 2);
/// Clocks: nanoseconds since boot, and a clock of ours that counts from packet to packet.
const BOOT_TIME: u64 = 6;
const DELTAS: u64 = 64;
/// Fields of `TrackEvent`: categories, name, kind, track.
const EVENT: [u32; 4] = [3, 10, 9, 11];
const BEGIN: u64 = 1;
const END: u64 = 2;
const COUNTER: u64 = 4;
/// `TrackEvent.flow_ids` and `terminating_flow_ids`.
const FLOW: [u32; 2] = [47, 48];

/// Tracks, which are numbered from 1 on.
const ROOT: u64 = 1;
const REQUESTS: u64 = 2;
const COUNTERS: [(u64, &str, &str); 4] = [
    (3, "free blocks", "blocks"),
    (4, "units in the buffer, not yet in flash", "units"),
    (5, "requests in the drive", "requests"),
    (6, "write amplification", "1"),
];
const PLACES: u64 = 16;
/// Tracks of requests come behind all others.
const LANES: u64 = 1 << 32;

/// All that is interned, each told once: categories, names of events, names and texts of their arguments.
#[derive(Default)]
struct Interned {
    names: [BTreeMap<String, u64>; 4],
    /// Entries of `InternedData` that the packet under way tells.
    news: Option<Message>,
}

/// Fields of `InternedData`.
const CATEGORY: (usize, u32) = (0, 1);
const NAME: (usize, u32) = (1, 2);
const ARGUMENT: (usize, u32) = (2, 3);
const TEXT: (usize, u32) = (3, 29);

impl Interned {
    fn of(&mut self, (kind, field): (usize, u32), name: &str) -> u64 {
        let numbers = &mut self.names[kind];
        if let Some(number) = numbers.get(name) {
            return *number;
        }
        let number = numbers.len() as u64 + 1;
        numbers.insert(name.to_owned(), number);
        let entry = Message::default().number(1, number).text(2, name);
        self.news = Some(self.news.take().unwrap_or_default().message(field, &entry));
        number
    }

    fn number(&mut self, name: &str, value: u64) -> Message {
        Message::default().number(1, self.of(ARGUMENT, name)).number(3, value)
    }

    fn text(&mut self, name: &str, text: &str) -> Message {
        Message::default().number(1, self.of(ARGUMENT, name)).number(17, self.of(TEXT, text))
    }

    fn begin(&mut self, track: u64, category: &str, name: &str, arguments: &[Message]) -> Message {
        let [categories, names, kind, of] = EVENT;
        let event = Message::default().number(categories, self.of(CATEGORY, category));
        let mut event = event.number(names, self.of(NAME, name)).number(kind, BEGIN).number(of, track);
        for argument in arguments {
            event = event.message(4, argument);
        }
        event
    }
}

/// An event of something, by its index; of those of one time ends come first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Mark {
    SpanEnds(u32),
    RequestEnds(u32),
    SpanBegins(u32),
    RequestBegins(u32),
    Level(u32),
}

/// A window under way.
struct Trace<'a> {
    interned: Interned,
    geometry: &'a Geometry,
    /// Operations that an arrow leads to, and has not reached.
    arrows: HashSet<u64>,
}

/// Verbs of operations, as slices are called.
fn name_of(kind: OpKind) -> &'static str {
    match kind {
        OpKind::Read => "read",
        OpKind::Program => "program",
        OpKind::Erase => "erase",
        OpKind::Copyback => "copyback",
        OpKind::PageLock => "lock page",
        OpKind::BlockLock => "lock block",
        OpKind::Scrub => "scrub",
        OpKind::Reprogram => "reprogram",
    }
}

impl Trace<'_> {
    fn end(track: u64) -> Message {
        Message::default().number(EVENT[2], END).number(EVENT[3], track)
    }

    /// A track of a channel, a die or a plane.
    fn track(&self, place: Place) -> u64 {
        let (channels, dies) = (u64::from(self.geometry.channels), u64::from(self.geometry.dies()));
        PLACES
            + match place {
                Place::Channel(channel) => u64::from(channel),
                Place::Die(die) => channels + u64::from(die),
                Place::Plane(die, plane) => {
                    let planes = u64::from(self.geometry.planes_per_die);
                    channels + dies + u64::from(die) * planes + u64::from(plane)
                }
            }
    }

    /// What a place was held with; the first slice of an operation at its plane is where a request's arrow ends.
    fn span(&mut self, span: &Span) -> Message {
        let op = &span.operation;
        let works = span.holder.is_array();
        let name = match span.place {
            Place::Channel(_) => "transfer",
            Place::Die(_) if works => "busy",
            Place::Die(_) if span.holder == Holder::SWITCHING => "busy: stopping or resuming",
            Place::Die(_) => "busy: command or data",
            Place::Plane(..) => name_of(op.kind),
        };
        let mut arguments = Vec::new();
        if !matches!(span.place, Place::Die(_)) {
            arguments.push(self.interned.number("operation", op.number));
        }
        if let Place::Plane(..) = span.place {
            arguments.push(self.interned.number("block", op.block.into()));
            let page = op.page.map(|page| self.interned.number("page", page.into()));
            arguments.extend(page);
            if op.kind == OpKind::Read {
                arguments.push(self.interned.number("attempts before", op.attempts.into()));
            }
        } else {
            arguments.push(self.interned.text("for", name_of(op.kind)));
        }
        let track = self.track(span.place);
        let begin = self.interned.begin(track, op.cause.name(), name, &arguments);
        let is_first = matches!(span.place, Place::Plane(..)) && self.arrows.remove(&op.number);
        if is_first { begin.fixed(FLOW[1], op.number) } else { begin }
    }

    /// A request, in a lane of its own while it is in the drive, with arrows to its operations.
    fn request(&mut self, served: &Served, lane: u64, operations: &[u64]) -> Message {
        let mut arguments = vec![
            self.interned.number("LBA", served.lba),
            self.interned.number("sectors", served.sectors.into()),
        ];
        if let Some((holder, ns)) = served.held {
            arguments.push(self.interned.text("held longest by", &holder.name()));
            arguments.push(self.interned.number("held by it, ns", ns));
        }
        let begin = self.interned.begin(LANES + lane, "request", served.op.name(), &arguments);
        operations.iter().fold(begin, |begin, operation| begin.fixed(FLOW[0], *operation))
    }

    /// How full the drive was: a message for each counter.
    fn level(&self, level: &Level, before: Option<&Level>) -> Vec<Message> {
        let whole = [level.free_blocks, level.dirty_units, level.commands];
        let mut all: Vec<Message> = whole.map(|value| Message::default().number(30, value)).into();
        let written = before.map_or(0, |before| level.written_bytes - before.written_bytes);
        if let Some(before) = before.filter(|_| written > 0) {
            let pages = level.programmed_pages - before.programmed_pages;
            let bytes = pages as f64 * f64::from(self.geometry.page_bytes);
            all.push(Message::default().fixed(44, (bytes / written as f64).to_bits()));
        }
        let [_, _, kind, of] = EVENT;
        let counted = all.into_iter().zip(COUNTERS);
        counted.map(|(event, counter)| event.number(kind, COUNTER).number(of, counter.0)).collect()
    }

    /// A packet that names a track.
    fn descriptor(uuid: u64, parent: Option<u64>, name: &str, rank: u64) -> Message {
        let track = Message::default().number(1, uuid).text(2, name);
        // Tracks below it stand in the order of their ranks.
        let track = track.number(11, 3).number(12, rank);
        if let Some(parent) = parent { track.number(5, parent) } else { track }
    }

    fn tracks(&self, lanes: u64) -> Vec<Message> {
        let g = self.geometry;
        let mut all = vec![
            Self::descriptor(ROOT, None, "flash: channels, dies, planes", 2),
            Self::descriptor(REQUESTS, None, "requests", 1),
        ];
        for (rank, (uuid, name, unit)) in (3..).zip(COUNTERS) {
            let counter = Message::default().text(6, unit);
            all.push(Self::descriptor(uuid, None, name, rank).message(8, &counter));
        }
        let dies_per_channel = g.dies() / g.channels;
        for channel in 0..g.channels {
            let of = self.track(Place::Channel(channel));
            all.push(Self::descriptor(of, Some(ROOT), &format!("channel {channel}"), channel.into()));
            for die in channel * dies_per_channel..(channel + 1) * dies_per_channel {
                let at = self.track(Place::Die(die));
                all.push(Self::descriptor(at, Some(of), &format!("die {die}"), die.into()));
                for plane in 0..g.planes_per_die {
                    let place = self.track(Place::Plane(die, plane));
                    let name = format!("die {die}, plane {plane}");
                    all.push(Self::descriptor(place, Some(at), &name, plane.into()));
                }
            }
        }
        let lane = |lane| Self::descriptor(LANES + lane, Some(REQUESTS), &format!("request {lane}"), lane);
        all.extend((0..lanes).map(lane));
        all
    }
}

/// Requests in lanes: none begins in a lane before the one before it there is over. The lane of each, and how many.
fn lanes(served: &[Served]) -> (Vec<u64>, u64) {
    let mut free: BinaryHeap<Reverse<u64>> = BinaryHeap::new();
    let mut taken: BinaryHeap<Reverse<(SimTime, u64)>> = BinaryHeap::new();
    let (mut of, mut count) = (Vec::with_capacity(served.len()), 0);
    for one in served {
        while let Some(&Reverse((end, lane))) = taken.peek()
            && end <= one.arrival
        {
            taken.pop();
            free.push(Reverse(lane));
        }
        let lane = free.pop().map_or(count, |Reverse(lane)| lane);
        count = count.max(lane + 1);
        taken.push(Reverse((one.completed, lane)));
        of.push(lane);
    }
    (of, count)
}

/// Numbers of the operations of each request that have slices: pages that it read, and what it waited for last. In one
/// row, with where each request's begin.
fn operations_of(served: &[Served], spans: &[Span]) -> (Vec<u64>, Vec<usize>) {
    let (mut by_command, mut known) = (HashMap::<u32, Vec<(SimTime, u64)>>::new(), HashSet::new());
    for span in spans.iter().filter(|span| matches!(span.place, Place::Plane(..))) {
        known.insert(span.operation.number);
        if let Some(command) = span.operation.command {
            by_command.entry(command).or_default().push((span.from, span.operation.number));
        }
    }
    by_command.values_mut().for_each(|spans| spans.sort_unstable());
    let (mut all, mut starts, mut own) = (Vec::new(), vec![0], Vec::new());
    for one in served {
        own.clear();
        own.extend(one.last.filter(|last| known.contains(last)));
        if let Some(spans) = by_command.get(&one.command).filter(|_| one.op == OpCode::Read) {
            let [first, end] =
                [one.arrival, one.completed].map(|at| spans.partition_point(|span| span.0 < at));
            own.extend(spans[first..end].iter().map(|span| span.1));
        }
        own.sort_unstable();
        own.dedup();
        all.extend(&own);
        starts.push(all.len());
    }
    (all, starts)
}

/// Writes what happened in a window of a measurement that began at `since`, from where times count.
pub(super) fn write(
    out: impl Write,
    slices: &Slices,
    (since, window): (SimTime, (SimTime, SimTime)),
    geometry: &Geometry,
) -> io::Result<()> {
    let Slices { spans, served, levels } = slices;
    let (operations, starts) = operations_of(served, spans);
    let (of, count) = lanes(served);
    let arrows = operations.iter().copied().collect();
    let mut trace = Trace { interned: Interned::default(), geometry, arrows };
    // As much of each as lies in the window.
    let mut marks: Vec<(SimTime, Mark)> = Vec::with_capacity(2 * (spans.len() + served.len()) + levels.len());
    let cut = |from: SimTime, to: SimTime| (from.max(window.0), to.min(window.1));
    for (at, span) in (0..).zip(spans) {
        let (from, to) = cut(span.from, span.to);
        marks.extend([(from, Mark::SpanBegins(at)), (to, Mark::SpanEnds(at))]);
    }
    for (at, one) in (0..).zip(served) {
        let (from, to) = cut(one.arrival, one.completed);
        marks.extend([(from, Mark::RequestBegins(at)), (to, Mark::RequestEnds(at))]);
    }
    marks.extend((0..).zip(levels).map(|(at, level)| (level.at, Mark::Level(at))));
    marks.sort_unstable();
    let start = since.max(window.0);
    let mut packets = Packets::new(out);
    packets.add(&first(start.since(since)))?;
    for track in trace.tracks(count) {
        packets.add(&Message::default().number(SEQUENCE, 1).message(60, &track))?;
    }
    let mut last = start;
    for (time, mark) in marks {
        let events = match mark {
            Mark::SpanBegins(at) => vec![trace.span(&spans[at as usize])],
            Mark::SpanEnds(at) => vec![Trace::end(trace.track(spans[at as usize].place))],
            Mark::RequestBegins(at) => {
                let at = at as usize;
                vec![trace.request(&served[at], of[at], &operations[starts[at]..starts[at + 1]])]
            }
            Mark::RequestEnds(at) => vec![Trace::end(LANES + of[at as usize])],
            Mark::Level(at) => {
                let at = at as usize;
                trace.level(&levels[at], at.checked_sub(1).map(|before| &levels[before]))
            }
        };
        for event in events {
            let packet = Message::default().number(TIMESTAMP, time.since(last)).number(SEQUENCE, 1);
            let mut packet = packet.number(FLAGS.0, FLAGS.2).message(TRACK_EVENT, &event);
            if let Some(news) = trace.interned.news.take() {
                packet = packet.message(12, &news);
            }
            packets.add(&packet)?;
            last = time;
        }
    }
    packets.finish()?.flush()
}

/// The first packet: what times mean.
fn first(start_ns: u64) -> Message {
    let clock = |id: u64| Message::default().number(1, id).number(2, start_ns);
    let clocks = Message::default()
        .message(1, &clock(BOOT_TIME))
        .message(1, &clock(DELTAS).number(3, 1))
        .number(2, BOOT_TIME);
    Message::default()
        .number(SEQUENCE, 1)
        .number(FLAGS.0, FLAGS.1)
        .number(87, 1)
        .message(6, &clocks)
        .message(59, &Message::default().number(58, DELTAS))
}
