//! What one clone of a job asks for: its directions, places and sizes in order, without time.
//!
//! The rules were found in logs of fio 3.33 (`write_iolog`), for each pattern and limit; docs/fio.md tells them.

use super::dist::Chooser;
use super::hints::Says;
use super::layout::{Span, Worker};
use super::map::Map;
use super::read_back::ReadBack;
use super::settings::{FileOrder, Job, Step, Work, Zones};
use super::sizes::Sizes;
use super::value::{READ, TRIM, WRITE};
use crate::base::draw::{TWO_TO_64, below};
use crate::base::request::{Request, SECTOR_BYTES};
use ssd::rng::{Rng, mix};
use ssd::signals::{Hints, OpCode};

const OPS: [OpCode; 3] = [OpCode::Read, OpCode::Write, OpCode::Trim];

/// What a lane asks for next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Want {
    /// A flush, when all before it has completed.
    Flush,
    /// A request of that direction.
    Request(usize),
    /// A read of what the pass wrote.
    ReadBack,
    /// That all such reads complete.
    Rest,
    /// Nothing any more.
    Over,
}

/// A file of the lane, and how far it is in it.
#[derive(Clone, Debug)]
pub(super) struct File {
    pub(super) span: Span,
    pub(super) map: Option<Map>,
    pub(super) choosers: [Option<Chooser>; 3],
    /// Where the request after the last one begins, by direction; sectors from the start of the span, or of its zone.
    pub(super) next: [u64; 3],
    /// Where the last one began.
    pub(super) last: [u64; 3],
    /// Where its zone begins; sectors from the span's start.
    pub(super) zone: u64,
    /// No more requests in this pass.
    is_done: bool,
}

/// Zones, and how far the lane is in the one that it works in; sectors.
#[derive(Clone, Copy, Debug)]
pub(super) struct InZones {
    pub(super) range: u64,
    pub(super) size: u64,
    pub(super) skip: u64,
    /// Transferred.
    pub(super) done: u64,
}

impl InZones {
    fn new(Zones { range, size, skip, .. }: Zones) -> Self {
        let [range, size, skip] = [range, size, skip].map(|bytes| bytes / SECTOR_BYTES);
        InZones { range, size, skip, done: 0 }
    }
}

impl File {
    pub(super) fn reset(&mut self) {
        if let Some(map) = &mut self.map {
            map.clear();
        }
        (self.next, self.last, self.is_done) = ([0; 3], [0; 3], false);
    }
}

/// The random sequences of a lane: one for each question.
#[derive(Clone, Debug)]
pub(super) struct Draws {
    ops: Rng,
    pub(super) sizes: Rng,
    pub(super) places: Rng,
    pub(super) follows: Rng,
    files: Rng,
}

impl Draws {
    fn new(seed: u64, lane: u64) -> Self {
        let draw = |what: &str| Rng::named(seed, &format!("workload/fio/{lane}/{what}"));
        let (ops, sizes, places) = (draw("operation"), draw("size"), draw("place"));
        Draws { ops, sizes, places, follows: draw("follow"), files: draw("file") }
    }
}

/// How far a lane is.
#[derive(Clone, Copy, Debug, Default)]
struct Done {
    /// Bytes of all requests.
    bytes: u64,
    /// Bytes that count against `size`: of a trim with its write, only the trim.
    counted: u64,
    /// Requests that count against `number_ios`.
    requests: u64,
    writes: u64,
    passes: u64,
    in_pass: u64,
    /// Reads of what was written, which are no requests of the job's own.
    read_back: u64,
}

/// One clone of a job.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    work: Work,
    pub(super) is_random: bool,
    pub(super) step: Step,
    pub(super) sizes: [Sizes; 3],
    /// Sectors that random places are multiples of.
    pub(super) align: [u64; 3],
    reads: u64,
    pub(super) percentage_random: [u64; 3],
    /// What a request of each direction has the drive do.
    ops: [OpCode; 3],
    pub(super) zones: Option<InZones>,
    /// The first of the sizes is for requests that follow on, the second for those at random places.
    pub(super) sizes_by_order: bool,
    file_order: FileOrder,
    fsync: [u64; 2],
    has_end_fsync: bool,
    fua: bool,
    hints: Hints,
    /// What requests say beside that, if anything.
    says: Option<Says>,
    repeats: bool,
    pub(super) is_time_based: bool,
    loops: u64,
    limit_bytes: u64,
    io_size: Option<u64>,
    limit_requests: u64,

    pub(super) files: Vec<File>,
    first_draws: Draws,
    pub(super) draws: Draws,
    done: Done,
    /// The direction drawn for the next request.
    direction: Option<usize>,
    /// The write that follows the trim before it.
    write: Option<Request>,
    /// Requests until the next random place.
    pub(super) step_left: u64,
    /// The file in turn, requests left in it, and the file after it.
    file: usize,
    file_left: u64,
    file_next: usize,
    was_flush: bool,
    end_flushes: u64,
    is_over: bool,
    /// What is read again behind each pass, if anything is.
    read_back: Option<ReadBack>,
    /// The drive that the last request goes to.
    drive: u16,
}

/// A share of all 64-bit numbers; of 100 %, the largest of them.
fn fraction(percent: u64) -> u64 {
    (percent as f64 / 100.0 * TWO_TO_64) as u64
}

impl Lane {
    /// The lane of that number, from 0. `Err` says what of its distribution does not fit its space.
    pub fn new(job: &Job, worker: &Worker, number: u64, seed: u64) -> Result<Self, String> {
        let sizes = [0, 1, 2].map(|direction| Sizes::new(&job.sizes[direction], job.size_rules.is_any));
        let align = [0, 1, 2].map(|direction| match job.align[direction] {
            0 => sizes[direction].min,
            bytes => bytes / SECTOR_BYTES,
        });
        let mut draws = Draws::new(mix(seed ^ job.randseed), number);
        let least = job.least_size() / SECTOR_BYTES;
        let zones = job.strided().map(InZones::new);
        let mut files = Vec::new();
        for span in &worker.spans {
            let random = draws.places.next_u64();
            let sectors = zones.map_or(span.sectors, |zones| zones.range.min(span.sectors));
            let map = job.uses_map().then(|| Map::new(sectors / least));
            let mut choosers = [const { None }; 3];
            for direction in directions(job.work) {
                // Where sizes go by the order of requests, that of trims is not used and may be larger than the file.
                let blocks = sectors.saturating_sub(sizes[*direction].min) / align[*direction] + 1;
                let chooser = Chooser::new(&job.distribution, blocks, align[*direction], random)?;
                choosers[*direction] = Some(chooser);
            }
            let (next, last) = ([0; 3], [0; 3]);
            files.push(File { span: *span, map, choosers, next, last, zone: 0, is_done: false });
        }
        let hints = Hints { stream: job.stream, process: 1 + number as u32, ..Hints::default() };
        Ok(Lane {
            work: job.work,
            is_random: job.is_random,
            step: job.step,
            sizes,
            align,
            reads: fraction(job.read_percent),
            percentage_random: job.percentage_random.map(fraction),
            ops: if job.writes_verify { [OPS[READ], OPS[READ], OPS[TRIM]] } else { OPS },
            zones,
            sizes_by_order: job.size_rules.by_order,
            file_order: job.file_order,
            fsync: [job.fsync, job.fdatasync],
            has_end_fsync: job.end_fsync || job.fsync_on_close,
            fua: job.sync,
            hints,
            says: Says::of(job, number, seed),
            repeats: job.randrepeat,
            is_time_based: job.time_based && job.runtime_ns > 0,
            loops: job.loops,
            limit_bytes: worker.io_size.unwrap_or(worker.size).saturating_mul(job.loops),
            io_size: worker.io_size,
            limit_requests: job.number_ios.saturating_mul(job.loops),
            files,
            first_draws: draws.clone(),
            draws,
            done: Done::default(),
            direction: None,
            write: None,
            step_left: 1,
            file: 0,
            file_left: 0,
            file_next: 0,
            was_flush: false,
            end_flushes: 0,
            is_over: false,
            read_back: ReadBack::of(job),
            drive: worker.spans.first().map_or(0, |span| span.drive),
        })
    }

    /// What comes next. Asking twice gives the same answer.
    #[inline]
    pub fn want(&mut self) -> Want {
        if self.end_flushes > 0 {
            return Want::Flush;
        }
        if let Some(pieces) = self.read_back.as_ref().filter(|pieces| pieces.is_on()) {
            return if pieces.is_empty() { Want::Rest } else { Want::ReadBack };
        }
        if self.is_over {
            return Want::Over;
        }
        if self.write.is_some() {
            return Want::Request(WRITE);
        }
        if !self.is_time_based && self.is_at_limit() {
            self.end();
            return self.want();
        }
        if self.read_back.as_mut().is_some_and(ReadBack::is_check_due) {
            return Want::ReadBack;
        }
        if self.is_flush_due() {
            return Want::Flush;
        }
        Want::Request(*self.direction.get_or_insert_with(|| match self.work {
            Work::Read => READ,
            Work::Write => WRITE,
            Work::Trim | Work::TrimWrite => TRIM,
            Work::Mixed if self.draws.ops.next_u64() < self.reads => READ,
            Work::Mixed => WRITE,
        }))
    }

    /// Whether it reads and writes, so that another direction may be taken than the one wanted.
    pub fn is_mixed(&self) -> bool {
        self.work == Work::Mixed
    }

    /// How many requests and flushes its own limits allow; `None` if only time ends it, or if nothing bounds its passes
    /// and each ends with flushes.
    pub fn requests_at_most(&self) -> Option<u64> {
        if self.is_time_based {
            return None;
        }
        let least =
            directions(self.work).iter().map(|direction| self.sizes[*direction].min).min().unwrap_or(1);
        let requests = self.limit_bytes.div_ceil(least * SECTOR_BYTES);
        let limit = if self.limit_requests > 0 { requests.min(self.limit_requests) } else { requests };
        let beside = match self.work {
            Work::Read | Work::Trim => 0,
            Work::TrimWrite => limit,
            Work::Write => {
                let flushes = self.fsync.iter().map(|every| limit.checked_div(*every).unwrap_or(0));
                flushes.fold(0, u64::saturating_add)
            }
            // One may follow each request.
            Work::Mixed if self.fsync != [0, 0] => limit,
            Work::Mixed => 0,
        };
        let (read_back, syncs) =
            if self.read_back.is_some() { (limit, self.files.len() as u64) } else { (0, 0) };
        let beside = beside.saturating_add(read_back);
        let at_ends = match (self.flushes_at_end() + syncs, self.io_size) {
            (0, _) => 0,
            (each, None) => each.saturating_mul(self.loops),
            (_, Some(_)) => return None,
        };
        Some(limit.saturating_add(beside).saturating_add(at_ends))
    }

    /// Takes the flush that was wanted.
    pub fn take_flush(&mut self) -> Request {
        let file = if self.end_flushes > 0 {
            self.end_flushes -= 1;
            Some(self.end_flushes as usize % self.files.len())
        } else {
            self.was_flush = true;
            // It takes the turn of a file, as a request would.
            self.choose_file()
        };
        self.drive = file.map_or(self.drive, |file| self.files[file].span.drive);
        Request { op: OpCode::Flush, hints: self.hints, ..Request::default() }
    }

    /// Whether it reads what the pass wrote, or waits for such reads.
    pub fn reads_back(&self) -> bool {
        self.read_back.as_ref().is_some_and(ReadBack::is_on)
    }

    /// Takes the read of what the pass wrote that was wanted.
    pub fn take_read_back(&mut self) -> Option<Request> {
        let (drive, request) = self.read_back.as_mut()?.next(self.hints)?;
        self.drive = drive;
        Some(request)
    }

    /// The drive that the last request goes to.
    pub fn drive(&self) -> u16 {
        self.drive
    }

    /// The file that it lies in.
    pub fn file(&self) -> usize {
        self.file
    }

    /// A request completed that lies in a file.
    pub fn landed(&mut self, file: usize, request: &Request) {
        if let Some(pieces) = &mut self.read_back {
            pieces.landed(file, request);
        }
    }

    /// Whether it has a file on a drive.
    pub fn is_on(&self, drive: u16) -> bool {
        self.files.iter().any(|file| file.span.drive == drive)
    }

    /// All of them have completed.
    pub fn has_rested(&mut self) {
        if let Some(pieces) = &mut self.read_back {
            pieces.end();
        }
    }

    /// Takes a request of that direction, which is the one wanted or, in a mix, the other; `None` if that ends the
    /// pass: ask again what is wanted.
    #[inline]
    pub fn take(&mut self, direction: usize) -> Option<Request> {
        self.direction = None;
        if let Some(write) = self.write.take() {
            self.done.bytes += write.bytes();
            self.done.writes += 1;
            return Some(write);
        }
        let (file, offset, sectors) = loop {
            let Some(file) = self.choose_file() else {
                self.end_pass();
                return None;
            };
            self.file = file;
            match self.place(file, direction) {
                Some((offset, sectors)) => break (file, offset, sectors),
                None => {
                    self.files[file].is_done = true;
                    self.file_left = 0;
                }
            }
        };
        let span = self.files[file].span;
        let mut request = Request {
            arrival_ns: 0,
            op: self.ops[direction],
            fua: self.fua && direction == WRITE,
            lba: span.lba + offset,
            // No request is larger than a gibibyte.
            sectors: sectors as u32,
            hints: Hints { file: span.file, ..self.hints },
        };
        if direction != WRITE {
            request.hints.stream = 0;
        }
        if let Some(says) = &mut self.says {
            says.say(direction, request.sectors, &mut request.hints);
        }
        if self.work == Work::TrimWrite {
            let mut hints = Hints { stream: self.hints.stream, ..request.hints };
            if let Some(says) = &mut self.says {
                says.say(WRITE, request.sectors, &mut hints);
            }
            self.write = Some(Request { op: OpCode::Write, fua: self.fua, hints, ..request });
        }
        if direction == WRITE
            && let Some(pieces) = &mut self.read_back
        {
            pieces.note(file, span.drive, &request);
        }
        if let Some(zones) = &mut self.zones {
            zones.done += sectors;
        }
        (self.was_flush, self.drive) = (false, span.drive);
        self.done.bytes += request.bytes();
        self.done.counted += request.bytes();
        self.done.requests += 1;
        self.done.in_pass += 1;
        self.done.writes += u64::from(direction == WRITE);
        Some(request)
    }

    /// Ends it before its time; the flushes at its end still come, and nothing is read again.
    pub fn stop(&mut self) {
        self.write = None;
        self.has_rested();
        if !self.is_over {
            self.end();
        }
    }

    fn is_at_limit(&self) -> bool {
        let Done { counted, requests, .. } = self.done;
        counted >= self.limit_bytes || (self.limit_requests > 0 && requests >= self.limit_requests)
    }

    /// After each so many writes; reads that come in between are each followed by one more, as in fio.
    #[inline]
    fn is_flush_due(&self) -> bool {
        let writes = self.done.writes;
        let is_due = |every: u64| every > 0 && writes > 0 && writes.is_multiple_of(every);
        (self.fsync != [0, 0])
            && !self.was_flush
            && matches!(self.work, Work::Write | Work::Mixed)
            && self.fsync.iter().any(|every| is_due(*every))
    }

    /// Flushes at the end of a pass.
    fn flushes_at_end(&self) -> u64 {
        let writes = matches!(self.work, Work::Write | Work::Mixed | Work::TrimWrite);
        if self.has_end_fsync && writes { self.files.len() as u64 } else { 0 }
    }

    #[cold]
    fn end(&mut self) {
        self.is_over = true;
        self.close_pass();
    }

    /// What comes behind a pass. Before anything is read again each file is flushed, also where that was done.
    fn close_pass(&mut self) {
        self.end_flushes = self.flushes_at_end();
        if self.read_back.as_mut().is_some_and(ReadBack::begin) {
            self.end_flushes += self.files.len() as u64;
        }
    }

    /// All files are at their ends.
    #[cold]
    fn end_pass(&mut self) {
        self.done.passes += 1;
        let is_empty = std::mem::take(&mut self.done.in_pass) == 0;
        let largest = self.sizes.iter().map(|sizes| sizes.max).max().unwrap_or(0) * SECTOR_BYTES;
        // What will be read again counts as well, as in fio.
        if let Some(pieces) = &self.read_back {
            self.done.bytes += pieces.bytes_left();
            self.done.read_back += pieces.left();
        }
        let has_requests = self.limit_requests > 0
            && self.done.read_back > 0
            && self.done.requests + self.done.read_back >= self.limit_requests;
        let has_bytes = self.io_size.is_none_or(|bytes| self.done.bytes + largest > bytes);
        let is_last = has_requests || (self.done.passes >= self.loops && has_bytes);
        if is_empty || (!self.is_time_based && is_last) {
            self.end();
            return;
        }
        self.close_pass();
        for file in &mut self.files {
            file.reset();
            file.zone = 0;
        }
        if let Some(zones) = &mut self.zones {
            zones.done = 0;
        }
        (self.file_left, self.file_next) = (0, 0);
        self.step_left = 1;
        if self.repeats && !self.is_time_based {
            self.draws = self.first_draws.clone();
        }
    }

    /// The file whose turn it is; `None` if all are done.
    #[inline]
    fn choose_file(&mut self) -> Option<usize> {
        if let [file] = &self.files[..] {
            return (!file.is_done).then_some(0);
        }
        self.choose_of_files()
    }

    fn choose_of_files(&mut self) -> Option<usize> {
        if self.file_left > 0 && !self.files[self.file].is_done {
            self.file_left -= 1;
            return Some(self.file);
        }
        let count = self.files.len();
        let (first, each) = match self.file_order {
            FileOrder::Sequential => (0, 1),
            FileOrder::RoundRobin(each) => (self.file_next, each),
            FileOrder::Random(each) => (below(&mut self.draws.files, count as u64) as usize, each),
        };
        let next = (first..first + count).map(|file| file % count).find(|file| !self.files[*file].is_done)?;
        (self.file, self.file_left, self.file_next) = (next, each - 1, next + 1);
        Some(next)
    }
}

/// Directions of a kind of work.
fn directions(work: Work) -> &'static [usize] {
    match work {
        Work::Read => &[READ],
        Work::Write => &[WRITE],
        Work::Trim | Work::TrimWrite => &[TRIM],
        Work::Mixed => &[READ, WRITE],
    }
}
