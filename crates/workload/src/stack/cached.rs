//! Any workload below a page cache: what an operating system's would leave of it for the drive.
//!
//! Reads of cached pages vanish, others bring whole pages, with those behind them where one reads on in order. Writes
//! make pages dirty; a part of a page that is not there is read first. Dirty pages go to the drive by the rules of
//! [`crate::stack::page_cache`], all of them before a flush, and at the end of the workload when their time comes. A
//! write with force unit access goes through. Trims go through and take whole pages out of the cache, unwritten.

use crate::base::error::WorkloadError;
use crate::base::report::SourceReport;
use crate::base::request::{FilesAtStart, PAGE_BYTES, PAGE_SECTORS, Request, Source};
use crate::stack::page_cache::{PageCache, Rules};
use ssd::signals::{Hints, OpCode};
use std::collections::VecDeque;

/// A page cache, and what it lets through.
pub(crate) struct Filter {
    cache: PageCache,
    drive_sectors: u64,
    /// Requests for the drive, and whether the one who asked waits for each.
    pub queue: VecDeque<(Request, bool)>,
    now_ns: u64,
    flusher_at: u64,
    /// The page behind those read last, and the last read-ahead.
    ahead: (u64, u64),
}

impl Filter {
    /// A cache of so many MiB, plain or with an operating system's rules, on a drive of so many sectors.
    pub(crate) fn new(mib: f64, is_plain: bool, drive_sectors: u64) -> Self {
        let pages = ((mib * (1u64 << 20) as f64) as u64 / PAGE_BYTES).max(1) as usize;
        let rules = if is_plain { Rules::plain(pages) } else { Rules::usual(pages) };
        Filter {
            cache: PageCache::new(rules),
            drive_sectors,
            queue: VecDeque::new(),
            now_ns: 0,
            flusher_at: rules.flusher_ns,
            ahead: (0, 0),
        }
    }

    /// A request of whole pages.
    fn push(&mut self, op: OpCode, page: u64, pages: u64, hints: Hints, is_waited_for: bool) {
        let lba = page * PAGE_SECTORS;
        let sectors = (pages * PAGE_SECTORS).min(self.drive_sectors.saturating_sub(lba)) as u32;
        let request = Request { arrival_ns: self.now_ns, op, fua: false, lba, sectors, hints };
        self.queue.push_back((request, is_waited_for));
    }

    fn write_back(&mut self, page: u64, is_waited_for: bool) {
        if let Some((first, count, hints)) = self.cache.take_run(page) {
            self.push(OpCode::Write, first, count, hints, is_waited_for);
        }
    }

    /// Writes the pages that have been dirty longest, down to so many dirty pages.
    fn write_down_to(&mut self, most: usize, is_waited_for: bool) {
        while self.cache.dirty_pages() > most
            && let Some((page, _)) = self.cache.oldest_dirty()
        {
            self.write_back(page, is_waited_for);
        }
    }

    /// Makes room for a page and puts it there; its slot.
    fn bring(&mut self, page: u64) -> u32 {
        while self.cache.is_full()
            && let Some((oldest, is_dirty)) = self.cache.oldest()
        {
            if is_dirty {
                self.write_back(oldest, false);
            }
            self.cache.remove(oldest);
        }
        self.cache.add(page)
    }

    /// The flusher's rounds until a time.
    pub(crate) fn catch_up(&mut self, now_ns: u64) {
        while self.flusher_at <= now_ns && self.cache.dirty_pages() > 0 {
            self.now_ns = self.flusher_at;
            self.flusher_at = self.flusher_at.saturating_add(self.cache.rules.flusher_ns);
            while let Some((page, since)) = self.cache.oldest_dirty()
                && since.saturating_add(self.cache.rules.expire_ns) <= self.now_ns
            {
                self.write_back(page, false);
            }
        }
        // Rounds in which nothing was dirty.
        let rounds = now_ns.saturating_sub(self.flusher_at) / self.cache.rules.flusher_ns;
        if self.flusher_at <= now_ns {
            self.flusher_at = self.flusher_at.saturating_add((rounds + 1) * self.cache.rules.flusher_ns);
        }
        self.now_ns = now_ns;
    }

    /// When something is written next, unless it is asked for: all that is dirty will be.
    pub(crate) fn due_at(&self) -> Option<u64> {
        let (_, since) = self.cache.oldest_dirty()?;
        let due = since.saturating_add(self.cache.rules.expire_ns);
        Some(if due == u64::MAX { due } else { due.max(self.flusher_at) })
    }

    /// Writes all that is dirty.
    pub(crate) fn write_all(&mut self) {
        self.write_down_to(0, false);
    }

    /// A request from above.
    pub(crate) fn serve(&mut self, request: Request) {
        self.catch_up(request.arrival_ns.max(self.now_ns));
        match request.op {
            OpCode::Flush => {
                self.write_down_to(0, true);
                self.queue.push_back((request, true));
            }
            _ if request.sectors == 0 => self.queue.push_back((request, true)),
            OpCode::Read => self.read(&request),
            OpCode::Write if !request.fua => self.write(&request),
            _ => {
                let whole = request.lba.div_ceil(PAGE_SECTORS)..request.end() / PAGE_SECTORS;
                for page in whole {
                    if request.op == OpCode::Trim {
                        self.cache.remove(page);
                    } else if self.cache.touch(page).is_some() {
                        self.cache.clean(page);
                    } else {
                        self.bring(page);
                    }
                }
                self.queue.push_back((request, true));
            }
        }
        self.write_down_to(self.cache.rules.background, false);
    }

    fn read(&mut self, request: &Request) {
        let mut page = request.lba / PAGE_SECTORS;
        let end = request.end().div_ceil(PAGE_SECTORS);
        let is_sequential = page == self.ahead.0;
        while page < end {
            if self.cache.touch(page).is_some() {
                page += 1;
                continue;
            }
            let (least, most) = self.cache.rules.ahead;
            let asked = (end - page).min(self.cache.rules.run_pages);
            let ahead = if is_sequential { (2 * self.ahead.1).clamp(least, most) } else { 0 };
            let on_drive = self.drive_sectors.div_ceil(PAGE_SECTORS).saturating_sub(page).max(1);
            let window = asked.max(ahead).min(on_drive).min(self.cache.rules.pages as u64);
            let missing = (1..window).take_while(|i| !self.cache.holds(page + i)).count() as u64 + 1;
            (page..page + missing).for_each(|page| {
                self.bring(page);
            });
            self.push(OpCode::Read, page, missing, request.hints, true);
            self.ahead.1 = ahead;
            page += missing;
        }
        self.ahead = (end, if is_sequential { self.ahead.1 } else { 0 });
    }

    fn write(&mut self, request: &Request) {
        for page in request.lba / PAGE_SECTORS..request.end().div_ceil(PAGE_SECTORS) {
            let (start, end) = (page * PAGE_SECTORS, (page + 1) * PAGE_SECTORS);
            let slot = self.cache.touch(page).unwrap_or_else(|| {
                if request.lba > start || request.end() < end.min(self.drive_sectors) {
                    self.push(OpCode::Read, page, 1, request.hints, true);
                }
                self.bring(page)
            });
            self.cache.soil(slot, self.now_ns, request.hints);
            self.write_down_to(self.cache.rules.limit, true);
        }
    }
}

/// A workload below a page cache.
pub(crate) struct Cached {
    source: Box<dyn Source>,
    filter: Filter,
}

impl Cached {
    /// Below a cache.
    pub(crate) fn new(source: Box<dyn Source>, filter: Filter) -> Self {
        Cached { source, filter }
    }
}

impl Source for Cached {
    fn next(&mut self) -> Result<Option<Request>, WorkloadError> {
        loop {
            if let Some((request, _)) = self.filter.queue.pop_front() {
                return Ok(Some(request));
            }
            match (self.source.next()?, self.filter.due_at()) {
                (Some(request), _) => self.filter.serve(request),
                (None, None) => return Ok(None),
                (None, Some(u64::MAX)) => self.filter.write_all(),
                (None, Some(due)) => self.filter.catch_up(due),
            }
        }
    }

    fn len_hint(&self) -> Option<u64> {
        None
    }

    fn report(&self) -> SourceReport {
        self.source.report()
    }

    fn files_at_start(&self) -> FilesAtStart {
        self.source.files_at_start()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssd::rng::Rng;

    /// Requests from a list.
    struct List(VecDeque<Request>);

    impl Source for List {
        fn next(&mut self) -> Result<Option<Request>, WorkloadError> {
            Ok(self.0.pop_front())
        }
        fn len_hint(&self) -> Option<u64> {
            None
        }
        fn report(&self) -> SourceReport {
            SourceReport::default()
        }
    }

    const DRIVE_SECTORS: u64 = 8 * 300;
    /// Operation, first page, pages, time.
    type Out = Vec<(OpCode, u64, u64, u64)>;

    /// The same cache in the plainest way: a list of pages, the newest last, and one of dirty ones, the oldest first.
    #[derive(Default)]
    struct Oracle {
        pages: Vec<u64>,
        dirty: Vec<(u64, u64)>,
        round: u64,
        next: u64,
        ahead: u64,
        out: Out,
    }

    impl Oracle {
        fn write(&mut self, page: u64, now: u64) {
            let is_dirty = |this: &Oracle, page| this.dirty.iter().any(|(p, _)| *p == page);
            let (mut low, mut high) = (page, page + 1);
            while high - low < 128 && is_dirty(self, high) {
                high += 1;
            }
            while high - low < 128 && low > 0 && is_dirty(self, low - 1) {
                low -= 1;
            }
            self.dirty.retain(|(p, _)| !(low..high).contains(p));
            self.out.push((OpCode::Write, low, high - low, now));
        }

        fn enter(&mut self, page: u64, most: usize, now: u64) {
            self.pages.retain(|p| *p != page);
            while self.pages.len() >= most {
                if self.dirty.iter().any(|(p, _)| *p == self.pages[0]) {
                    self.write(self.pages[0], now);
                }
                self.pages.remove(0);
            }
            self.pages.push(page);
        }

        fn serve(&mut self, r: &Request, most: usize, is_plain: bool) {
            let now = r.arrival_ns;
            while !is_plain && self.round + 5_000_000_000 <= now {
                self.round += 5_000_000_000;
                while self.dirty.first().is_some_and(|(_, since)| since + 30_000_000_000 <= self.round) {
                    self.write(self.dirty[0].0, self.round);
                }
            }
            let (from, to) = (r.lba / 8, r.end().div_ceil(8));
            let (background, limit) = if is_plain { (most, most) } else { (most / 10, most / 5) };
            match r.op {
                OpCode::Write => (from..to).for_each(|page| {
                    if !self.pages.contains(&page) && (r.lba > page * 8 || r.end() < page * 8 + 8) {
                        self.out.push((OpCode::Read, page, 1, now));
                    }
                    self.enter(page, most, now);
                    if !self.dirty.iter().any(|(p, _)| *p == page) {
                        self.dirty.push((page, now));
                    }
                    while self.dirty.len() > limit {
                        self.write(self.dirty[0].0, now);
                    }
                }),
                OpCode::Read => {
                    let (mut page, is_on) = (from, from == self.next && !is_plain);
                    while page < to {
                        let has = self.pages.contains(&page);
                        let ahead = if is_on && !has { (2 * self.ahead).clamp(4, 32) } else { 0 };
                        let window = (to - page).max(ahead).min(300 - page).min(most as u64);
                        let end = (page + 1..page + window).find(|p| self.pages.contains(p));
                        let end = if has { page + 1 } else { end.unwrap_or(page + window) };
                        (page..end).for_each(|page| self.enter(page, most, now));
                        if !has {
                            self.out.push((OpCode::Read, page, end - page, now));
                            self.ahead = ahead;
                        }
                        page = end;
                    }
                    (self.next, self.ahead) = (to, if is_on { self.ahead } else { 0 });
                }
                OpCode::Trim => {
                    let whole = |page: &u64| (r.lba.div_ceil(8)..r.end() / 8).contains(page);
                    self.pages.retain(|page| !whole(page));
                    self.dirty.retain(|(page, _)| !whole(page));
                    self.out.push((OpCode::Trim, from, to - from, now));
                }
                OpCode::Flush => {
                    while let Some(&(page, _)) = self.dirty.first() {
                        self.write(page, now);
                    }
                    self.out.push((OpCode::Flush, 0, 0, now));
                }
            }
            while self.dirty.len() > background {
                self.write(self.dirty[0].0, now);
            }
        }
    }

    #[test]
    fn agrees_with_lists_that_are_searched() {
        for (seed, (most, is_plain)) in
            [(50usize, false), (50, true), (256, false), (2, true), (10, false), (1, true)].iter().enumerate()
        {
            let mut rng = Rng::named(seed as u64, "page cache");
            let (mut now, mut next) = (0, 0);
            let requests: Vec<Request> = (0..20_000)
                .map(|_| {
                    now += u64::from(rng.below(1_000_000_000));
                    let op = match rng.below(100) {
                        0 => OpCode::Flush,
                        1..4 => OpCode::Trim,
                        4..60 => OpCode::Read,
                        _ => OpCode::Write,
                    };
                    let sectors =
                        if op == OpCode::Flush { 0 } else { (1 + rng.below(4)) * 8 - rng.below(2) * 5 };
                    let lba = match (op, rng.below(3)) {
                        (OpCode::Flush, _) => 0,
                        // On from where the last one ended.
                        (_, 0) if next + u64::from(sectors) <= DRIVE_SECTORS => next,
                        _ => u64::from(rng.below(290)) * 8,
                    };
                    next = (lba + u64::from(sectors)).next_multiple_of(8);
                    Request { arrival_ns: now, op, lba, sectors, ..Request::default() }
                })
                .collect();
            let mut oracle = Oracle::default();
            requests.iter().for_each(|request| oracle.serve(request, *most, *is_plain));
            let list = Box::new(List(requests.into()));
            let filter = Filter::new(*most as f64 / 256.0, *is_plain, DRIVE_SECTORS);
            let mut cached = Cached::new(list, filter);
            let mut found: Out = Vec::new();
            while let Some(r) = cached.next().unwrap() {
                found.push((r.op, r.lba / 8, r.end().div_ceil(8) - r.lba / 8, r.arrival_ns));
            }
            assert!(oracle.out.len() > 5_000);
            let differs = oracle.out.iter().zip(&found).position(|(a, b)| a != b);
            assert_eq!(differs, None, "{most} pages: {:?}", differs.map(|i| (oracle.out[i], found[i])));
            // At the end, what is still dirty is written, and nothing else.
            let rest: u64 = found[oracle.out.len()..]
                .iter()
                .map(|(op, _, pages, _)| {
                    assert_eq!(*op, OpCode::Write);
                    *pages
                })
                .sum();
            assert_eq!(rest, oracle.dirty.len() as u64);
        }
    }
}
