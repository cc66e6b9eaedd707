//! What happened in a window, as a trace of Perfetto: a track for each channel, below it its dies and below them their
//! planes, tracks for requests, and counters.

use super::wire::{Message, Packets};
use super::{Events, Level, Served};
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

/// Names, each told once.
#[derive(Default)]
struct Names {
    numbers: BTreeMap<String, u64>,
}

impl Names {
    fn of(&mut self, name: &str) -> u64 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.numbers.len() as u64 + 1;
        self.numbers.insert(name.to_owned(), number);
        number
    }

    /// As entries of a field of `InternedData`.
    fn tell(&self, mut data: Message, field: u32) -> Message {
        for (name, number) in &self.numbers {
            data = data.message(field, &Message::default().number(1, *number).text(2, name));
        }
        data
    }
}

/// All that is interned: categories, names of events, names and texts of their arguments.
#[derive(Default)]
struct Interned {
    categories: Names,
    events: Names,
    arguments: Names,
    texts: Names,
}

impl Interned {
    fn number(&mut self, name: &str, value: u64) -> Message {
        Message::default().number(1, self.arguments.of(name)).number(3, value)
    }

    fn text(&mut self, name: &str, text: &str) -> Message {
        Message::default().number(1, self.arguments.of(name)).number(17, self.texts.of(text))
    }

    fn begin(&mut self, track: u64, category: &str, name: &str, arguments: &[Message]) -> Message {
        let [categories, names, kind, of] = EVENT;
        let event = Message::default().number(categories, self.categories.of(category));
        let mut event = event.number(names, self.events.of(name)).number(kind, BEGIN).number(of, track);
        for argument in arguments {
            event = event.message(4, argument);
        }
        event
    }
}

/// An event at its time; of those of one time ends come first.
struct At {
    time: SimTime,
    kind: u64,
    event: Message,
}

/// A window under way.
struct Trace<'a> {
    interned: Interned,
    all: Vec<At>,
    since: SimTime,
    window: (SimTime, SimTime),
    geometry: &'a Geometry,
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
    /// A slice, as much of it as lies in the window.
    fn slice(&mut self, track: u64, (from, to): (SimTime, SimTime), begin: Message) {
        let (from, to) = (from.max(self.window.0), to.min(self.window.1));
        if from < to {
            let end = Message::default().number(EVENT[2], END).number(EVENT[3], track);
            self.all.push(At { time: from, kind: BEGIN, event: begin });
            self.all.push(At { time: to, kind: END, event: end });
        }
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
    fn span(&mut self, span: &Span, ends: &mut HashSet<u64>) {
        let op = &span.operation;
        let works = span.holder.is_array();
        let name = match span.place {
            Place::Channel(_) => "transfer",
            Place::Die(_) if works => "busy",
            Place::Die(_) if span.holder == Holder::SWITCHING => "busy: stopping or resuming",
            Place::Die(_) => "busy: command or data",
            Place::Plane(..) => name_of(op.kind),
        };
        let mut arguments = vec![self.interned.number("operation", op.number)];
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
        let mut begin = self.interned.begin(track, op.cause.name(), name, &arguments);
        if matches!(span.place, Place::Plane(..)) && ends.remove(&op.number) {
            begin = begin.fixed(FLOW[1], op.number);
        }
        self.slice(track, (span.from, span.to), begin);
    }

    /// A request, in a lane of its own while it is in the drive, with arrows to its operations.
    fn request(&mut self, served: &Served, lane: u64, operations: &[u64]) {
        let done = &served.completion;
        let held = Holder::all().map(|holder| (served.told.held.ns[holder.index()], holder));
        let mut arguments = vec![
            self.interned.number("LBA", done.lba.0),
            self.interned.number("sectors", done.sectors.into()),
        ];
        // Of equals the first.
        if let Some((ns, Reverse(holder))) =
            held.filter(|(ns, _)| *ns > 0).map(|(ns, holder)| (ns, Reverse(holder))).max()
        {
            arguments.push(self.interned.text("held longest by", &holder.name()));
            arguments.push(self.interned.number("held by it, ns", ns));
        }
        let mut begin = self.interned.begin(LANES + lane, "request", done.op.name(), &arguments);
        for operation in operations {
            begin = begin.fixed(FLOW[0], *operation);
        }
        self.slice(LANES + lane, (done.arrival, done.completed), begin);
    }

    fn level(&mut self, level: &Level, before: Option<&Level>) {
        let whole = [level.free_blocks, level.dirty_units, level.commands];
        let [_, _, kind, of] = EVENT;
        let mut add = |at: usize, event: Message| {
            let event = event.number(kind, COUNTER).number(of, COUNTERS[at].0);
            self.all.push(At { time: level.at, kind: COUNTER, event });
        };
        for (at, value) in whole.into_iter().enumerate() {
            add(at, Message::default().number(30, value));
        }
        let grown = |at: usize| before.map_or(0, |before| level.programmed[at] - before.programmed[at]);
        if grown(1) > 0 {
            add(3, Message::default().fixed(44, (grown(0) as f64 / grown(1) as f64).to_bits()));
        }
    }

    /// A packet that names a track.
    fn descriptor(uuid: u64, parent: Option<u64>, name: &str, rank: u64) -> Message {
        let track = Message::default().number(1, uuid).text(2, name);
        // Tracks below it stand in the order of their ranks.
        let track = parent.map_or(track.clone(), |parent| track.number(5, parent));
        track.number(11, 3).number(12, rank)
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
            && end <= one.completion.arrival
        {
            taken.pop();
            free.push(Reverse(lane));
        }
        let lane = free.pop().map_or(count, |Reverse(lane)| lane);
        count = count.max(lane + 1);
        taken.push(Reverse((one.completion.completed, lane)));
        of.push(lane);
    }
    (of, count)
}

/// The operations of each request: pages that it read, and what it waited for last.
fn operations_of(served: &[Served], spans: &[Span]) -> Vec<Vec<u64>> {
    let mut by_command: HashMap<u32, Vec<&Span>> = HashMap::new();
    for span in spans.iter().filter(|span| matches!(span.place, Place::Plane(..))) {
        if let Some(command) = span.operation.command {
            by_command.entry(command).or_default().push(span);
        }
    }
    let of = |one: &Served| {
        let done = &one.completion;
        let mut numbers: Vec<u64> = one.told.last.iter().map(|last| last.number).collect();
        if done.op == OpCode::Read {
            let all = by_command.get(&one.told.command).into_iter().flatten();
            let own = all.filter(|span| span.from >= done.arrival && span.to <= done.completed);
            numbers.extend(own.map(|span| span.operation.number));
        }
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    };
    served.iter().map(of).collect()
}

/// Writes what happened in a window of a measurement that began at `since`, from where times count.
pub(super) fn write(
    out: impl Write,
    events: &Events,
    (since, window): (SimTime, (SimTime, SimTime)),
    geometry: &Geometry,
) -> io::Result<()> {
    let mut trace = Trace { interned: Interned::default(), all: Vec::new(), since, window, geometry };
    let mut served: Vec<Served> = events.served.iter().copied().collect();
    served.sort_by_key(|one| (one.completion.arrival, one.completion.completed));
    let spans: Vec<Span> = events.spans.iter().copied().collect();
    let operations = operations_of(&served, &spans);
    let (of, count) = lanes(&served);
    let mut ends: HashSet<u64> = operations.iter().flatten().copied().collect();
    spans.iter().for_each(|span| trace.span(span, &mut ends));
    // An arrow that ends nowhere is not drawn.
    for ((one, lane), operations) in served.iter().zip(of).zip(&operations) {
        let shown: Vec<u64> = operations.iter().copied().filter(|number| !ends.contains(number)).collect();
        trace.request(one, lane, &shown);
    }
    let levels: Vec<&Level> = events.levels.iter().collect();
    for (at, level) in levels.iter().enumerate() {
        trace.level(level, at.checked_sub(1).map(|before| levels[before]));
    }
    let mut all = std::mem::take(&mut trace.all);
    // Ends first: of two slices that touch one is over before the other begins.
    all.sort_by_key(|at| (at.time, Reverse(at.kind == END)));
    let mut packets = Packets::new(out);
    packets.add(&trace.first())?;
    for track in trace.tracks(count) {
        packets.add(&Message::default().number(SEQUENCE, 1).message(60, &track))?;
    }
    let mut last = trace.since.max(window.0);
    for At { time, event, .. } in &all {
        let packet = Message::default().number(TIMESTAMP, time.since(last)).number(SEQUENCE, 1);
        packets.add(&packet.number(FLAGS.0, FLAGS.2).message(TRACK_EVENT, event))?;
        last = *time;
    }
    packets.finish()?.flush()
}

impl Trace<'_> {
    /// The first packet: what times and names mean.
    fn first(&self) -> Message {
        let start = self.since.max(self.window.0).since(self.since);
        let clock = |id: u64| Message::default().number(1, id).number(2, start);
        let clocks = Message::default()
            .message(1, &clock(BOOT_TIME))
            .message(1, &clock(DELTAS).number(3, 1))
            .number(2, BOOT_TIME);
        let data = self.interned.categories.tell(Message::default(), 1);
        let data = self.interned.events.tell(data, 2);
        let data = self.interned.arguments.tell(data, 3);
        let data = self.interned.texts.tell(data, 29);
        Message::default()
            .number(SEQUENCE, 1)
            .number(FLAGS.0, FLAGS.1)
            .number(87, 1)
            .message(6, &clocks)
            .message(59, &Message::default().number(58, DELTAS))
            .message(12, &data)
    }
}
