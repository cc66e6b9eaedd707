//! What happened in a window, as a trace of Perfetto: a track for each channel, below it its dies and below them their
//! planes, tracks for requests, and counters.

use super::slices::{Level, Served, Slices, Window};
use super::wire::{Message, Packets};
use ssd::flash::op::OpKind;
use ssd::sections::Geometry;
use ssd::{Holder, OpCode, Place, SimTime, Span};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::io::{self, Write};

/// Fields of `TracePacket`.
const TIMESTAMP: u32 = 8;
const SEQUENCE: u32 = 10;
const TRACK_EVENT: u32 = 11;
const INTERNED: u32 = 12;
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
/// A name that no other program gives to a track.
pub(super) const TRACK_OF_OURS: &str = "units in the buffer, not yet in flash";
const COUNTERS: [(u64, &str, &str); 4] = [
    (3, "free blocks", "blocks"),
    (4, TRACK_OF_OURS, "units"),
    (5, "requests in the drive", "requests"),
    (6, "write amplification", "1"),
];
const PLACES: u64 = 16;
/// Tracks of requests come behind all others.
const LANES: u64 = 1 << 32;

/// All that is interned, each told once: categories, names of events, names and texts of their arguments.
#[derive(Default)]
struct Interned {
    /// Some tens at most: a list is looked through faster than a map.
    names: [Vec<String>; 4],
    /// Entries of `InternedData` that the packet under way tells.
    news: Message,
}

/// Fields of `InternedData`.
const CATEGORY: (usize, u32) = (0, 1);
const NAME: (usize, u32) = (1, 2);
const ARGUMENT: (usize, u32) = (2, 3);
const TEXT: (usize, u32) = (3, 29);
/// `TrackEvent.debug_annotations`.
const ANNOTATION: u32 = 4;

impl Interned {
    fn of(&mut self, (kind, field): (usize, u32), name: &str) -> u64 {
        let names = &mut self.names[kind];
        if let Some(at) = names.iter().position(|known| known == name) {
            return at as u64 + 1;
        }
        names.push(name.to_owned());
        let number = names.len() as u64;
        self.news.message(field, |entry| _ = entry.number(1, number).text(2, name));
        number
    }

    fn number(&mut self, event: &mut Message, name: &str, value: u64) {
        let name = self.of(ARGUMENT, name);
        event.message(ANNOTATION, |argument| _ = argument.number(1, name).number(3, value));
    }

    fn text(&mut self, event: &mut Message, name: &str, text: &str) {
        let (name, text) = (self.of(ARGUMENT, name), self.of(TEXT, text));
        event.message(ANNOTATION, |argument| _ = argument.number(1, name).number(17, text));
    }

    fn begin(&mut self, event: &mut Message, track: u64, category: &str, name: &str) {
        let [categories, names, kind, of] = EVENT;
        event.number(categories, self.of(CATEGORY, category));
        event.number(names, self.of(NAME, name)).number(kind, BEGIN).number(of, track);
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
    /// Names of holders, by their index.
    holders: Vec<String>,
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
    fn end(event: &mut Message, track: u64) {
        event.number(EVENT[2], END).number(EVENT[3], track);
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
    fn span(&mut self, event: &mut Message, span: &Span) {
        let op = &span.operation;
        let works = span.holder.is_array();
        let name = match span.place {
            Place::Channel(_) => "transfer",
            Place::Die(_) if works => "busy",
            Place::Die(_) if span.holder == Holder::SWITCHING => "busy: suspending or resuming",
            Place::Die(_) => "occupied: command or data",
            Place::Plane(..) => name_of(op.kind),
        };
        let track = self.track(span.place);
        self.interned.begin(event, track, op.cause.name(), name);
        if !matches!(span.place, Place::Die(_)) {
            self.interned.number(event, "operation", op.number);
        }
        let Place::Plane(..) = span.place else {
            return self.interned.text(event, "for", name_of(op.kind));
        };
        self.interned.number(event, "block", op.block.into());
        if let Some(page) = op.page {
            self.interned.number(event, "page", page.into());
        }
        if op.kind == OpKind::Read {
            self.interned.number(event, "attempts before", op.attempts.into());
        }
        if self.arrows.remove(&op.number) {
            event.fixed(FLOW[1], op.number);
        }
    }

    /// A request, in a lane of its own while it is in the drive, with arrows to its operations.
    fn request(&mut self, event: &mut Message, served: &Served, lane: u64, operations: &[u64]) {
        self.interned.begin(event, LANES + lane, "request", served.op.name());
        self.interned.number(event, "LBA", served.lba);
        self.interned.number(event, "sectors", served.sectors.into());
        if let Some((holder, ns)) = served.held {
            self.interned.text(event, "held longest by", &self.holders[holder.index()]);
            self.interned.number(event, "held by it, ns", ns);
        }
        operations.iter().for_each(|&operation| _ = event.fixed(FLOW[0], operation));
    }

    /// How full the drive was: one counter, by its place in [`COUNTERS`]; false if it has nothing to tell.
    fn level(&self, event: &mut Message, counter: usize, level: &Level, before: Option<&Level>) -> bool {
        let [_, _, kind, of] = EVENT;
        match [level.free_blocks, level.dirty_units, level.commands].get(counter) {
            Some(&value) => event.number(30, value),
            None => {
                let Some(before) = before.filter(|before| level.written_bytes > before.written_bytes) else {
                    return false;
                };
                let (pages, written) = (
                    level.programmed_pages - before.programmed_pages,
                    level.written_bytes - before.written_bytes,
                );
                let bytes = pages as f64 * f64::from(self.geometry.page_bytes);
                event.fixed(44, (bytes / written as f64).to_bits())
            }
        };
        event.number(kind, COUNTER).number(of, COUNTERS[counter].0);
        true
    }

    /// A packet that names a track; a counter has a unit.
    fn descriptor(
        packets: &mut Packets<impl Write>,
        (uuid, parent): (u64, Option<u64>),
        (name, unit): (&str, Option<&str>),
        rank: u64,
    ) -> io::Result<()> {
        packets.add(|packet| {
            packet.number(SEQUENCE, 1).message(60, |track| {
                // Tracks below it stand in the order of their ranks.
                track.number(1, uuid).text(2, name).number(11, 3).number(12, rank);
                if let Some(parent) = parent {
                    track.number(5, parent);
                }
                if let Some(unit) = unit {
                    track.message(8, |counter| _ = counter.text(6, unit));
                }
            });
        })
    }

    fn tracks(&self, packets: &mut Packets<impl Write>, lanes: u64) -> io::Result<()> {
        let g = self.geometry;
        Self::descriptor(packets, (ROOT, None), ("flash: channels, dies, planes", None), 2)?;
        Self::descriptor(packets, (REQUESTS, None), ("requests", None), 1)?;
        for (rank, (uuid, name, unit)) in (3..).zip(COUNTERS) {
            Self::descriptor(packets, (uuid, None), (name, Some(unit)), rank)?;
        }
        let dies_per_channel = g.dies() / g.channels;
        for channel in 0..g.channels {
            let of = self.track(Place::Channel(channel));
            let name = format!("channel {channel}");
            Self::descriptor(packets, (of, Some(ROOT)), (&name, None), channel.into())?;
            for die in channel * dies_per_channel..(channel + 1) * dies_per_channel {
                let at = self.track(Place::Die(die));
                Self::descriptor(packets, (at, Some(of)), (&format!("die {die}"), None), die.into())?;
                for plane in 0..g.planes_per_die {
                    let place = self.track(Place::Plane(die, plane));
                    let name = format!("die {die}, plane {plane}");
                    Self::descriptor(packets, (place, Some(at)), (&name, None), plane.into())?;
                }
            }
        }
        for lane in 0..lanes {
            let name = format!("request {lane}");
            Self::descriptor(packets, (LANES + lane, Some(REQUESTS)), (&name, None), lane)?;
        }
        Ok(())
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

/// What there is to tell, in order: as much of each as lies in the window.
fn marks(slices: &Slices, window: Window) -> Vec<(SimTime, Mark)> {
    let Slices { spans, served, levels } = slices;
    let mut marks = Vec::with_capacity(2 * (spans.len() + served.len()) + levels.len());
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
    marks
}

/// Writes what happened in a window of a measurement that began at `since`, from where times count.
pub(super) fn write(
    out: impl Write,
    slices: &Slices,
    (since, window): (SimTime, Window),
    geometry: &Geometry,
) -> io::Result<()> {
    let Slices { spans, served, levels } = slices;
    let (operations, starts) = operations_of(served, spans);
    let (of, count) = lanes(served);
    let mut trace = Trace {
        interned: Interned::default(),
        geometry,
        arrows: operations.iter().copied().collect(),
        holders: Holder::all().map(Holder::name).collect(),
    };
    let start = since.max(window.0);
    let mut packets = Packets::new(out);
    packets.add(|packet| first(packet, start.since(since)))?;
    trace.tracks(&mut packets, count)?;
    let (mut last, mut event) = (start, Message::default());
    for (time, mark) in marks(slices, window) {
        let counters = if matches!(mark, Mark::Level(_)) { COUNTERS.len() } else { 1 };
        for counter in 0..counters {
            event.clear();
            match mark {
                Mark::SpanBegins(at) => trace.span(&mut event, &spans[at as usize]),
                Mark::SpanEnds(at) => Trace::end(&mut event, trace.track(spans[at as usize].place)),
                Mark::RequestBegins(at) => {
                    let at = at as usize;
                    let operations = &operations[starts[at]..starts[at + 1]];
                    trace.request(&mut event, &served[at], of[at], operations);
                }
                Mark::RequestEnds(at) => Trace::end(&mut event, LANES + of[at as usize]),
                Mark::Level(at) => {
                    let at = at as usize;
                    let before = at.checked_sub(1).map(|before| &levels[before]);
                    if !trace.level(&mut event, counter, &levels[at], before) {
                        continue;
                    }
                }
            }
            packets.add(|packet| {
                packet.number(TIMESTAMP, time.since(last)).number(SEQUENCE, 1);
                packet.number(FLAGS.0, FLAGS.2).copy(TRACK_EVENT, &event);
                if !trace.interned.news.is_empty() {
                    packet.copy(INTERNED, &trace.interned.news);
                    trace.interned.news.clear();
                }
            })?;
            last = time;
        }
    }
    packets.finish()?.flush()
}

/// The first packet: what times mean.
fn first(packet: &mut Message, start_ns: u64) {
    packet.number(SEQUENCE, 1).number(FLAGS.0, FLAGS.1).number(87, 1);
    packet.message(6, |clocks| {
        clocks.message(1, |clock| _ = clock.number(1, BOOT_TIME).number(2, start_ns));
        clocks.message(1, |clock| _ = clock.number(1, DELTAS).number(2, start_ns).number(3, 1));
        clocks.number(2, BOOT_TIME);
    });
    packet.message(59, |defaults| _ = defaults.number(58, DELTAS));
}
