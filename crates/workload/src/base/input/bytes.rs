//! Bytes of a trace file: plain or packed by one of several programs, told apart by their first bytes and never by the
//! name.
//!
//! Compressed files are unpacked on a second thread, a few buffers ahead of the parser: unpacking is the slower
//! half for gzip, and about as slow as parsing for zstd. The bytes that arrive are the same either way.

use crate::base::error::{Problem, WorkloadError};
use crate::base::input::spool::{self, STANDARD_INPUT, spool};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

/// Bytes handed over at once by the unpacking thread.
const CHUNK_BYTES: usize = 256 << 10;
/// Chunks in flight between the threads.
const CHUNKS: usize = 4;
/// Bytes needed to tell compressions apart.
const MAGIC_BYTES: usize = 6;
/// Most memory that unpacking XZ may take: its largest preset has 64 MiB and 1 GiB is the largest in use.
const XZ_MEMORY_KIB: u32 = 1 << 20;
/// What can be unpacked.
const PACKED_BY: &str = "gzip, zstd, xz, bzip2, lz4";
/// Bytes of the header of a tar archive.
const TAR_HEADER_BYTES: usize = 512;

/// How far a file has been read, in bytes as it is stored (compressed or not).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes read.
    pub done: u64,
    /// Bytes of the file.
    pub total: u64,
}

/// A trace file, opened for reading its text.
pub(crate) struct Input {
    bytes: Box<dyn Read + Send>,
    file: String,
    compressed: bool,
    done: Arc<AtomicU64>,
    total: u64,
}

/// A reader that counts what went through it.
struct Counted<R> {
    inner: R,
    done: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(into)?;
        self.done.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

impl Input {
    /// Opens a file, or standard input for `-`. It must be a regular file, because most workloads read it twice.
    pub(crate) fn open(path: &Path) -> Result<Self, WorkloadError> {
        if path == Path::new(STANDARD_INPUT) {
            let spool = spool()?;
            return Self::of(spool.reader(), spool::NAME.to_owned(), spool.bytes);
        }
        let file = path.display().to_string();
        let fail = |message: String| Problem::File { file: file.clone(), action: "open", message };
        // Looked at before it is opened: a pipe that nobody writes to could not even be opened.
        let metadata = std::fs::metadata(path).map_err(|e| fail(e.to_string()))?;
        if !metadata.is_file() {
            let kind = if metadata.is_dir() { "a directory" } else { "not a regular file" };
            let message =
                format!("it is {kind}; a trace must be a file that can be read twice, or - (standard input)");
            return Err(fail(message).into());
        }
        let opened = File::open(path).map_err(|e| fail(e.to_string()))?;
        Self::of(opened, file, metadata.len())
    }

    /// What unpacks those bytes, if they are packed.
    pub(crate) fn of(
        bytes: impl Read + Send + 'static,
        file: String,
        total: u64,
    ) -> Result<Self, WorkloadError> {
        let fail =
            |e: io::Error| Problem::File { file: file.clone(), action: "read", message: e.to_string() };
        let done = Arc::new(AtomicU64::new(0));
        let (magic, again) =
            peek(Counted { inner: bytes, done: Arc::clone(&done) }, MAGIC_BYTES).map_err(fail)?;
        let (bytes, compressed) = unpack(&magic, again).map_err(fail)?;
        let (start, bytes) = peek(bytes, TAR_HEADER_BYTES).map_err(fail)?;
        if is_tar(&start) {
            let message = "it is a tar archive; unpack it (tar -xf) and give one trace in it".to_owned();
            return Err(Problem::File { file, action: "open", message }.into());
        }
        let bytes = Box::new(bytes);
        Ok(Input { bytes, file, compressed, done, total })
    }

    /// Text that is already in memory (tests and benches).
    pub(crate) fn from_reader(bytes: impl Read + Send + 'static, name: &str) -> Self {
        let done = Arc::new(AtomicU64::new(0));
        Input { bytes: Box::new(bytes), file: name.to_string(), compressed: false, done, total: 0 }
    }

    /// The file's name for messages.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// How far the file is read.
    pub(crate) fn progress(&self) -> Progress {
        Progress { done: self.done.load(Ordering::Relaxed), total: self.total }
    }

    /// Reads some bytes; 0 at the end.
    pub(crate) fn read(&mut self, into: &mut [u8]) -> Result<usize, WorkloadError> {
        loop {
            match self.bytes.read(into) {
                Ok(n) => return Ok(n),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => {
                    let file = self.file.clone();
                    let (action, message) = match self.compressed {
                        true => {
                            ("decompress", format!("{e}; the file was cut off or damaged: copy it again"))
                        }
                        false => ("read", e.to_string()),
                    };
                    return Err(Problem::File { file, action, message }.into());
                }
            }
        }
    }
}

/// The first bytes of a file, so many if there are, and a reader that still begins with them.
fn peek<R: Read + Send + 'static>(
    mut file: R,
    count: usize,
) -> io::Result<(Vec<u8>, impl Read + Send + 'static)> {
    let mut magic = Vec::with_capacity(count);
    file.by_ref().take(count as u64).read_to_end(&mut magic)?;
    Ok((magic.clone(), io::Cursor::new(magic).chain(file)))
}

/// Whether it is the header of a tar archive: the sum of its bytes, those of the sum itself taken for blanks, stands in
/// it as an octal number (POSIX.1-2017, pax: ustar header).
fn is_tar(header: &[u8]) -> bool {
    const SUM: std::ops::Range<usize> = 148..156;
    let Some(sum) = header.get(SUM).filter(|_| header.len() == TAR_HEADER_BYTES && header[0] != 0) else {
        return false;
    };
    let digits: Vec<u8> = sum.iter().copied().filter(|&b| b != 0 && b != b' ').collect();
    let written = std::str::from_utf8(&digits).ok().and_then(|text| u64::from_str_radix(text, 8).ok());
    let others = header.iter().zip(0..).filter(|(_, at)| !SUM.contains(at)).map(|(&b, _)| u64::from(b));
    written == Some(others.sum::<u64>() + 8 * u64::from(b' '))
}

/// Puts the decompressor in front that the first bytes ask for; true if there is one.
fn unpack(magic: &[u8], bytes: impl Read + Send + 'static) -> io::Result<(Box<dyn Read + Send>, bool)> {
    // First bytes: RFC 8878 3.1.1 (zstd) and 3.1.2 (skippable frame), RFC 1952 2.3.1 (gzip).
    let skippable = magic.len() >= 4 && magic[0] & 0xf0 == 0x50 && magic[1..4] == [0x2a, 0x4d, 0x18];
    if magic.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) || skippable {
        let decoder = zstd::stream::read::Decoder::with_buffer(buffered(bytes))?;
        return Ok((Background::start(decoder)?, true));
    }
    if magic.starts_with(&[0x1f, 0x8b]) {
        let decoder = flate2::bufread::MultiGzDecoder::new(buffered(bytes));
        return Ok((Background::start(decoder)?, true));
    }
    // The .xz file format 1.2.1, section 2.1.1.1; LZ4 frame format 1.6.4; bzip2's signature, version and block size.
    if magic.starts_with(b"\xfd7zXZ\0") {
        let decoder = lzma_rust2::XzReader::new_mem_limit(buffered(bytes), true, XZ_MEMORY_KIB);
        return Ok((Background::start(decoder)?, true));
    }
    if magic.starts_with(b"\x04\x22\x4d\x18") {
        let frames = Frames(lz4_flex::frame::FrameDecoder::new(buffered(bytes)));
        return Ok((Background::start(frames)?, true));
    }
    if magic.starts_with(b"BZh") {
        return Ok((Background::start(bzip2::bufread::MultiBzDecoder::new(buffered(bytes)))?, true));
    }
    let others: [(&[u8], &str); 4] = [
        (b"PK\x03\x04", "zip archive"),
        (b"7z\xbc\xaf\x27\x1c", "7-zip archive"),
        (b"Rar!\x1a\x07", "rar archive"),
        (b"PAR1", "parquet file"),
    ];
    match others.iter().find(|(first, _)| magic.starts_with(first)) {
        Some((_, name)) => Err(io::Error::new(
            io::ErrorKind::Unsupported,
            format!("it is a {name}; unpack it, and give one trace in it; allowed: text, {PACKED_BY}"),
        )),
        None => Ok((Box::new(bytes), false)),
    }
}

fn buffered<R: Read>(bytes: R) -> BufReader<R> {
    BufReader::with_capacity(CHUNK_BYTES, bytes)
}

/// LZ4 frames one after the other: their decoder stops at the end of each.
struct Frames<R: Read>(lz4_flex::frame::FrameDecoder<R>);

impl<R: Read> Read for Frames<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self.0.read(into)? {
            0 => self.0.read(into),
            n => Ok(n),
        }
    }
}

type Chunk = io::Result<Vec<u8>>;

/// A reader that runs another one on a thread of its own.
struct Background {
    full: Option<Receiver<Chunk>>,
    empty: SyncSender<Vec<u8>>,
    current: Vec<u8>,
    at: usize,
    worker: Option<JoinHandle<()>>,
}

impl Background {
    fn start(inner: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
        let (full_tx, full) = sync_channel::<Chunk>(CHUNKS);
        let (empty, empty_rx) = sync_channel::<Vec<u8>>(CHUNKS + 1);
        let worker =
            Builder::new().name("unpack".to_string()).spawn(move || produce(inner, &full_tx, &empty_rx))?;
        Ok(Box::new(Background { full: Some(full), empty, current: Vec::new(), at: 0, worker: Some(worker) }))
    }
}

/// The worker: fills chunks until the end, an error, or until nobody listens.
fn produce(mut inner: impl Read, full: &SyncSender<Chunk>, empty: &Receiver<Vec<u8>>) {
    loop {
        let mut chunk = empty.try_recv().unwrap_or_default();
        chunk.clear();
        let result = inner.by_ref().take(CHUNK_BYTES as u64).read_to_end(&mut chunk);
        // What was unpacked before an error is delivered first.
        let end = chunk.is_empty();
        if !end && full.send(Ok(chunk)).is_err() {
            return;
        }
        match result {
            Err(e) => {
                // Nobody listening is no error: the trace was dropped.
                let _ = full.send(Err(e));
                return;
            }
            Ok(_) if end => return,
            Ok(_) => {}
        }
    }
}

impl Read for Background {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.at == self.current.len() {
            let Some(full) = &self.full else { return Ok(0) };
            match full.recv() {
                Ok(Ok(next)) => {
                    let used = std::mem::replace(&mut self.current, next);
                    self.at = 0;
                    // A full return channel only means that the chunk is not needed again.
                    let _ = self.empty.try_send(used);
                }
                Ok(Err(e)) => {
                    self.full = None;
                    return Err(e);
                }
                Err(_) => {
                    // The worker is done; if it panicked, the text is not complete.
                    self.full = None;
                    if self.worker.take().is_some_and(|w| w.join().is_err()) {
                        return Err(io::Error::other("the decompressor failed"));
                    }
                }
            }
        }
        let n = into.len().min(self.current.len() - self.at);
        into[..n].copy_from_slice(&self.current[self.at..self.at + n]);
        self.at += n;
        Ok(n)
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        // Without a listener the worker's next send fails and it ends.
        self.full = None;
        if let Some(worker) = self.worker.take() {
            let _ = worker.join();
        }
    }
}
