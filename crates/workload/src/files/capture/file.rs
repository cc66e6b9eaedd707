//! Captures as files: `wlcaptur`, a version, then blocks packed by Zstandard, each a length and a [`Block`] in
//! postcard's encoding. A block has what is new in the tables since the one before, and events by column; the last one
//! has the totals, so that a file that was cut is known as such wherever it was cut.

use super::calls::{Capture, CapturedFile, Event, Manner, Module, Op, Process, Stack, Totals};
use crate::base::error::{Problem, WorkloadError};
use crate::base::input::whole;
use serde::{Deserialize, Serialize};
use ssd::rng::mix;
use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read, Write};
use std::path::Path;

/// The first bytes of a capture.
pub const MAGIC: [u8; 8] = *b"wlcaptur";
/// What this program writes, and reads.
const VERSION: u16 = 1;
/// Events of a block.
const BLOCK_EVENTS: usize = 1 << 16;
/// No block is longer: what it unpacks to takes some twenty times that at most, all of it empty names.
const BLOCK_BYTES_MAX: u32 = 1 << 26;
/// A block with so much in its tables is written before it is full of events; bytes in memory.
const TABLES_BYTES: usize = 1 << 24;
/// What a capture takes in memory at most, 44 million calls (assumed: an hour of 10,000 a second): 30 kB of a file
/// can unpack to it.
const MEMORY_BYTES_MAX: u64 = 2 << 30;
/// Of Zstandard: 50 MB/s, and within a tenth of its best on captures (measured).
const LEVEL: i32 = 9;

/// A part of a capture.
#[derive(Default, Serialize, Deserialize)]
struct Block {
    processes: Vec<Process>,
    files: Vec<CapturedFile>,
    modules: Vec<Module>,
    stacks: Vec<Stack>,
    /// Since the event before.
    times: Vec<u64>,
    /// The operation, and from bit 4 on the manner.
    ops: Vec<u8>,
    by: Vec<u32>,
    to: Vec<u32>,
    /// From the end of the last write to the file.
    offsets: Vec<i64>,
    sizes: Vec<u64>,
    from: Vec<u32>,
    totals: Option<Totals>,
}

/// What a table takes in memory, with what its rows point to.
fn table_bytes<T>(rows: &[T], more: impl Fn(&T) -> usize) -> usize {
    size_of_val(rows) + rows.iter().map(more).sum::<usize>()
}

impl Block {
    /// What its tables take in memory.
    fn tables(&self) -> usize {
        table_bytes(&self.processes, |process| process.name.len())
            + table_bytes(&self.files, |file| file.name.len())
            + table_bytes(&self.modules, |module| module.name.len())
            + table_bytes(&self.stacks, stack_bytes)
    }

    /// What it takes in a capture.
    fn memory(&self) -> u64 {
        (self.tables() + self.ops.len() * size_of::<Event>()) as u64
    }
}

/// What the frames of a stack take.
fn stack_bytes(stack: &Stack) -> usize {
    size_of_val(stack.frames.as_slice())
}

/// What writer and reader both know at a place of the file.
#[derive(Default)]
struct Place {
    time_ns: u64,
    /// Where the last write to each file ended.
    ends: Vec<u64>,
}

impl Place {
    fn end_of(&mut self, file: u32) -> &mut u64 {
        let file = file as usize;
        if file >= self.ends.len() {
            self.ends.resize(file + 1, 0);
        }
        &mut self.ends[file]
    }
}

/// Writes a capture as it comes into being.
pub struct Writer<W: Write> {
    out: zstd::Encoder<'static, W>,
    block: Block,
    /// What the frames of its stacks take, the one thing of a table that may be long.
    frames: usize,
    place: Place,
}

impl<W: Write> Writer<W> {
    /// Begins a capture.
    pub fn new(mut out: W) -> io::Result<Self> {
        out.write_all(&MAGIC)?;
        out.write_all(&VERSION.to_le_bytes())?;
        let mut out = zstd::Encoder::new(out, LEVEL)?;
        out.include_checksum(true)?;
        Ok(Writer { out, block: Block::default(), frames: 0, place: Place::default() })
    }

    /// The next process.
    pub fn process(&mut self, process: Process) {
        self.block.processes.push(process);
    }

    /// The next file.
    pub fn file(&mut self, file: CapturedFile) {
        self.block.files.push(file);
    }

    /// The next module.
    pub fn module(&mut self, module: Module) {
        self.block.modules.push(module);
    }

    /// The next stack, of modules that are known.
    pub fn stack(&mut self, stack: Stack) {
        self.frames += stack_bytes(&stack);
        self.block.stacks.push(stack);
    }

    /// The next event, of a process, a file and a stack that are known.
    pub fn event(&mut self, event: &Event) -> io::Result<()> {
        let block = &mut self.block;
        block.times.push(event.time_ns.wrapping_sub(self.place.time_ns));
        self.place.time_ns = event.time_ns;
        block.ops.push(event.op as u8 | (event.manner as u8) << 4);
        block.by.push(event.process);
        block.to.push(event.file);
        let end = self.place.end_of(event.file);
        block.offsets.push(event.offset.wrapping_sub(*end) as i64);
        *end = event.offset.wrapping_add(event.size);
        block.sizes.push(event.size);
        block.from.push(event.stack);
        let is_full = block.ops.len() >= BLOCK_EVENTS || self.frames >= TABLES_BYTES;
        if is_full { self.write_block() } else { Ok(()) }
    }

    fn write_block(&mut self) -> io::Result<()> {
        let block = std::mem::take(&mut self.block);
        self.frames = 0;
        let bytes = postcard::to_stdvec(&block).map_err(io::Error::other)?;
        let length = u32::try_from(bytes.len()).ok().filter(|&length| length <= BLOCK_BYTES_MAX);
        let length = length.ok_or_else(|| io::Error::other("a block has no room for its tables"))?;
        self.out.write_all(&length.to_le_bytes())?;
        self.out.write_all(&bytes)
    }

    /// Ends the capture.
    pub fn finish(mut self, totals: Totals) -> io::Result<W> {
        self.block.totals = Some(totals);
        self.write_block()?;
        self.out.finish()
    }
}

/// Whether a file begins as a capture does.
pub fn is_capture(path: &Path) -> bool {
    let mut start = [0; MAGIC.len()];
    // Of a pipe nothing may be taken, and one that nobody writes to could not even be opened.
    let is_file = path.metadata().is_ok_and(|found| found.is_file());
    is_file && File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == MAGIC
}

impl Capture {
    /// Reads a capture from a file.
    pub fn open(path: &Path) -> Result<Self, WorkloadError> {
        let file = whole::open(path).map_err(|error| fault(path, "open", error.to_string()))?;
        Capture::read(BufReader::new(file))
            .map_err(|error| fault(path, "read as a capture", error.to_string()))
    }

    /// Reads a capture; what is wrong with it is told by the error's text.
    pub fn read(input: impl Read) -> io::Result<Self> {
        Capture::read_within(input, MEMORY_BYTES_MAX)
    }

    /// Reads a capture that takes so many bytes of memory at most.
    pub(super) fn read_within(mut input: impl Read, most: u64) -> io::Result<Self> {
        check_head(&mut input)?;
        let mut input = zstd::Decoder::new(input)?;
        let mut capture = Capture::default();
        let mut place = Place::default();
        let mut memory = 0;
        loop {
            let mut length = [0; 4];
            input.read_exact(&mut length).map_err(is_cut)?;
            let length = u32::from_le_bytes(length);
            if length > BLOCK_BYTES_MAX {
                return Err(damaged());
            }
            let mut bytes = Vec::new();
            let read = (&mut input).take(u64::from(length)).read_to_end(&mut bytes).map_err(is_cut)?;
            if read < length as usize {
                return Err(is_cut(ErrorKind::UnexpectedEof.into()));
            }
            let block: Block = postcard::from_bytes(&bytes).map_err(|_| damaged())?;
            capture.hash = bytes.iter().fold(capture.hash, |hash, &byte| mix(hash ^ u64::from(byte)));
            let totals = block.totals;
            memory += block.memory();
            if memory > most {
                return Err(too_large(most));
            }
            capture.add(block, &mut place)?;
            if let Some(totals) = totals {
                capture.totals = totals;
                // The checksum comes after the last byte.
                return match input.read(&mut [0]).map_err(is_cut)? {
                    0 => Ok(capture),
                    _ => Err(damaged()),
                };
            }
        }
    }

    /// Adds a block, if all that it names is there.
    fn add(&mut self, block: Block, place: &mut Place) -> io::Result<()> {
        self.processes.extend(block.processes);
        self.files.extend(block.files);
        self.modules.extend(block.modules);
        let is_known =
            |stack: &Stack| stack.frames.iter().all(|frame| (frame.0 as usize) < self.modules.len());
        if !block.stacks.iter().all(is_known) {
            return Err(damaged());
        }
        self.stacks.extend(block.stacks);
        let count = block.ops.len();
        let lengths = [
            block.times.len(),
            block.by.len(),
            block.to.len(),
            block.offsets.len(),
            block.sizes.len(),
            block.from.len(),
        ];
        let is_in = |places: &[u32], len: usize| places.iter().all(|&place| (place as usize) < len);
        if lengths.iter().any(|&length| length != count)
            || !is_in(&block.by, self.processes.len())
            || !is_in(&block.to, self.files.len())
            || !is_in(&block.from, self.stacks.len())
        {
            return Err(damaged());
        }
        for i in 0..count {
            let op = Op::ALL.get(usize::from(block.ops[i] & 15)).copied().ok_or_else(damaged)?;
            let manner = Manner::ALL.get(usize::from(block.ops[i] >> 4)).copied().ok_or_else(damaged)?;
            let (file, size) = (block.to[i], block.sizes[i]);
            place.time_ns = place.time_ns.wrapping_add(block.times[i]);
            let end = place.end_of(file);
            let offset = end.wrapping_add(block.offsets[i] as u64);
            *end = offset.wrapping_add(size);
            let (process, stack) = (block.by[i], block.from[i]);
            self.events.push(Event {
                time_ns: place.time_ns,
                op,
                manner,
                process,
                file,
                offset,
                size,
                stack,
            });
        }
        Ok(())
    }
}

/// An end too early is told as such.
fn is_cut(error: io::Error) -> io::Error {
    match error.kind() {
        ErrorKind::UnexpectedEof => wrong("it is truncated; record it again"),
        _ => error,
    }
}

/// Reads how a capture begins.
fn check_head(input: &mut impl Read) -> io::Result<()> {
    let mut head = [0; MAGIC.len() + 2];
    let begun = read_up_to(input, &mut head)?;
    let (magic, version) = head.split_at(MAGIC.len());
    let magic = &magic[..begun.min(MAGIC.len())];
    if magic.is_empty() || !MAGIC.starts_with(magic) {
        let (found, allowed) = (magic.escape_ascii(), MAGIC.escape_ascii());
        let text = "as `wordline capture` writes";
        return Err(wrong(&format!(
            "it is not a capture: it begins with \"{found}\"; allowed: \"{allowed}\", {text}"
        )));
    }
    if begun < head.len() {
        return Err(is_cut(ErrorKind::UnexpectedEof.into()));
    }
    let version = u16::from_le_bytes([version[0], version[1]]);
    if version != VERSION {
        let message = format!("found version {version}; allowed: {VERSION}; record it again");
        return Err(wrong(&message));
    }
    Ok(())
}

/// Reads as much as there is, at most all; how much.
fn read_up_to(input: &mut impl Read, to: &mut [u8]) -> io::Result<usize> {
    let mut done = 0;
    while done < to.len() {
        match input.read(&mut to[done..]) {
            Ok(0) => break,
            Ok(more) => done += more,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

fn wrong(message: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, message)
}

fn too_large(most: u64) -> io::Error {
    let calls = most / size_of::<Event>() as u64;
    let message = format!(
        "its calls and tables take too much memory\n    found:   more than {most} bytes\n    allowed: up to {most} \
         bytes, some {calls} calls; record a part of the program's work"
    );
    wrong(&message)
}

fn damaged() -> io::Error {
    wrong("it is damaged: its contents are inconsistent; record it again")
}

fn fault(path: &Path, action: &'static str, message: String) -> WorkloadError {
    Problem::File { file: path.display().to_string(), action, message }.into()
}
