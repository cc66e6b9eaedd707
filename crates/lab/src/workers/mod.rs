//! Processes that carry out runs of sweeps and papers' studies: one that dies takes only its run with it.
//!
//! Whoever has runs to do starts processes and gives each an [`Order`] a line; a process answers when the order's file
//! is written ([`serve`]).

pub mod death;

use crate::base::stop::Stop;
use crate::base::threads::no_thread;
use crate::reproduce::{Paper, PaperError, PieceOrder, Studies};
use crate::sweep::{self, Done, Worker};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, VecDeque};
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// How often a run is tried whose process dies.
const TRIES: u32 = 2;
/// Between two looks at whether somebody has asked to end.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What a run may take to end whose orders are gone.
const ORPHANED: Duration = Duration::from_secs(5);

/// What a process is asked for: a line of JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Order {
    /// A run of a sweep.
    Run(sweep::Order),
    /// A piece of a paper's studies.
    Piece(PieceOrder),
}

impl Order {
    /// Why it is not done, if its process died each time; how, the last time.
    fn died(&self, last: Option<ExitStatus>) -> String {
        let blame = match self {
            Order::Run(order) => death::blame(&death::suspects(&order.config)),
            Order::Piece(_) => String::new(),
        };
        let how = last.map_or_else(|| "without an answer".to_owned(), death::told);
        format!("its process died {TRIES} times{blame}: {how}")
    }
}

/// What is to be done. Orders are made when they are given: together they may take far more memory than what they are
/// made of.
pub struct Tasks<'a> {
    /// The drive of each: those of one number begin with the same aged drive, which the first of them ages.
    pub drives: Vec<u64>,
    /// What the worker of each is told, or why it cannot be told that.
    pub order: &'a (dyn Fn(usize) -> Result<Order, String> + Sync),
}

/// How a task ended: a line of JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    /// Its file is written; the text is why the run failed, empty if it did not.
    Done(String),
    /// It is not done, for a reason outside it: its process died each time, or a file is gone. Nothing is written.
    Undone(String),
    /// The file cannot be written, or there are no processes: the others would fare no better.
    Stuck(String),
    /// What was asked for is wrong, which shows only now: nor would they.
    Refused(String),
}

/// What a process answers: a line of JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Answer {
    end: End,
    /// What went wrong beside it, a line each.
    remarks: Vec<String>,
}

impl Answer {
    /// Without a word more.
    fn plain(end: End) -> Self {
        Answer { end, remarks: Vec::new() }
    }
}

/// Tasks that are open, and drives that nobody has aged before.
struct Queue {
    open: VecDeque<usize>,
    /// Drives that a worker has at present, for the first time.
    ageing: BTreeSet<u64>,
    aged: BTreeSet<u64>,
}

impl Queue {
    /// The next task: rather one whose drive nobody is ageing, for that would have to wait.
    fn next(&mut self, drives: &[u64]) -> Option<usize> {
        let free = |at: &usize| !self.ageing.contains(&drives[*at]);
        let place = self.open.iter().position(free).unwrap_or(0);
        let at = self.open.remove(place)?;
        if !self.aged.contains(&drives[at]) {
            self.ageing.insert(drives[at]);
        }
        Some(at)
    }

    fn end(&mut self, drive: u64) {
        self.ageing.remove(&drive);
        self.aged.insert(drive);
    }
}

/// Where a worker's process is, for whoever has to stop it.
type Place = Mutex<Option<Child>>;

/// Both ends of its pipes.
struct Pipes {
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Carries out all tasks in so many processes, which `new` describes; `told` hears of each that ends, and what went
/// wrong beside it. Ends early if somebody asks to, or where there is no sense in going on: that is told, too.
pub fn carry_out(
    tasks: &Tasks<'_>,
    (jobs, new): (usize, &(dyn Fn() -> io::Result<Command> + Sync)),
    stop: &Stop,
    mut told: impl FnMut(usize, &End, &[String]),
) {
    let open = (0..tasks.drives.len()).collect();
    let queue = Mutex::new(Queue { open, ageing: BTreeSet::new(), aged: BTreeSet::new() });
    let places: Vec<Place> = (0..jobs.min(tasks.drives.len())).map(|_| Mutex::default()).collect();
    let (ends, hears) = channel();
    std::thread::scope(|scope| {
        for place in &places {
            let (ends, queue, untold) = (ends.clone(), &queue, ends.clone());
            let work = move || work((tasks, queue), (place, new), stop, &ends);
            if let Err(error) = std::thread::Builder::new().spawn_scoped(scope, work) {
                // Whoever listens still does.
                let _ = untold.send((0, Answer::plain(End::Stuck(no_thread(error).to_string()))));
            }
        }
        drop(ends);
        loop {
            match hears.recv_timeout(LOOK_EVERY) {
                Ok((at, Answer { end, remarks })) => {
                    if matches!(end, End::Stuck(_) | End::Refused(_)) {
                        locked(&queue).open.clear();
                    }
                    told(at, &end, &remarks);
                }
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if stop.is_asked() {
                locked(&queue).open.clear();
                for place in &places {
                    // One that has just ended need not be stopped.
                    locked(place).as_mut().into_iter().for_each(|child| _ = child.kill());
                }
            }
        }
    });
}

/// Where a process is, and how a new one is started.
type Hand<'a> = (&'a Place, &'a (dyn Fn() -> io::Result<Command> + Sync));

/// Gives one process after the other what is to be done.
fn work(
    (tasks, queue): (&Tasks<'_>, &Mutex<Queue>),
    hand: Hand<'_>,
    stop: &Stop,
    ends: &Sender<(usize, Answer)>,
) {
    let mut pipes = None;
    // In a function, so that the queue is locked no longer than that.
    let next = || locked(queue).next(&tasks.drives);
    while let Some(at) = next() {
        let order = match (tasks.order)(at) {
            Ok(order) => order,
            Err(why) => {
                let _ = ends.send((at, Answer::plain(End::Refused(why))));
                break;
            }
        };
        let mut last = None;
        let end = (0..TRIES).find_map(|_| carry_out_one(&order, (&mut pipes, &mut last), hand, stop));
        let died = || Answer::plain(End::Undone(order.died(last)));
        locked(queue).end(tasks.drives[at]);
        if stop.is_asked() && end.is_none() {
            break;
        }
        // Nobody listens any more when the sweep is over.
        let _ = ends.send((at, end.unwrap_or_else(died)));
    }
    // The end of its orders is the end of the process.
    drop(pipes);
    bury(hand.0);
}

/// Waits for a process that is about to end, and how it does.
fn bury(place: &Place) -> Option<ExitStatus> {
    let child = locked(place).take();
    child.and_then(|mut child| child.wait().ok())
}

/// Has one task done, by a new process if there is none; nothing if that dies.
fn carry_out_one(
    order: &Order,
    (pipes, death): (&mut Option<Pipes>, &mut Option<ExitStatus>),
    hand: Hand<'_>,
    stop: &Stop,
) -> Option<Answer> {
    if stop.is_asked() {
        return None;
    }
    if pipes.is_none() {
        match start(hand) {
            Ok(new) => *pipes = Some(new),
            Err(error) => {
                return Some(Answer::plain(End::Stuck(format!("no process can be started: {error}"))));
            }
        }
    }
    let answer = pipes.as_mut().and_then(|pipes| ask(order, pipes));
    if answer.is_none() {
        *pipes = None;
        *death = bury(hand.0);
    }
    answer
}

fn ask(order: &Order, pipes: &mut Pipes) -> Option<Answer> {
    let mut line = serde_json::to_string(order).ok()?;
    line.push('\n');
    pipes.orders.write_all(line.as_bytes()).ok()?;
    pipes.orders.flush().ok()?;
    line.clear();
    pipes.answers.read_line(&mut line).ok()?;
    serde_json::from_str(&line).ok()
}

fn start((place, new): Hand<'_>) -> io::Result<Pipes> {
    let mut child = new()?.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let piped = || io::Error::other("it has no pipes");
    let orders = child.stdin.take().ok_or_else(piped)?;
    let answers = BufReader::new(child.stdout.take().ok_or_else(piped)?);
    *locked(place) = Some(child);
    Ok(Pipes { orders, answers })
}

/// Why a worker ends before its orders do.
#[derive(Debug)]
pub enum ServeError {
    /// A line that is no order.
    NoOrder(String),
    /// Nobody can listen while work is done.
    NoThread(io::Error),
    /// Standard input or output is gone.
    Io(io::Error),
}

/// Carries out the orders that come, until there are no more or somebody asks to stop; answers each by a line. When the
/// orders end while one is carried out, whoever gave it is gone: that is the end, too.
pub fn serve(
    orders: impl BufRead + Send + 'static,
    answers: &mut dyn Write,
    stop: &Stop,
) -> Result<(), ServeError> {
    let mut hand = Server { runs: Worker::default(), studies: None };
    let serving = Arc::new(());
    let heard = heard(orders, stop.clone(), Arc::downgrade(&serving)).map_err(ServeError::NoThread)?;
    for line in heard {
        let line = line.map_err(ServeError::Io)?;
        let order: Order = serde_json::from_str(&line)
            .map_err(|error| ServeError::NoOrder(format!("{error}\n    found:   {line:?}")))?;
        let end = match &order {
            Order::Run(order) => hand.run(order, stop),
            Order::Piece(order) => hand.piece(order, stop),
        };
        // What was stopped is not done, and has no answer.
        let Some(end) = end else { return Ok(()) };
        let answer = Answer { end, remarks: hand.runs.take_remarks() };
        let answer =
            serde_json::to_string(&answer).unwrap_or_else(|error| unreachable!("plain text: {error}"));
        writeln!(answers, "{answer}").and_then(|()| answers.flush()).map_err(ServeError::Io)?;
    }
    Ok(())
}

/// The lines of orders, read ahead so that their end is noticed at once. It asks to stop; a run that does not look (a
/// policy of somebody else's that never answers, say) ends with the process.
fn heard(
    orders: impl BufRead + Send + 'static,
    stop: Stop,
    serving: Weak<()>,
) -> io::Result<Receiver<io::Result<String>>> {
    let (lines, heard) = channel();
    let listen = move || {
        for line in orders.lines() {
            if lines.send(line).is_err() {
                return;
            }
        }
        stop.ask();
        drop(lines);
        std::thread::sleep(ORPHANED);
        if serving.upgrade().is_some() {
            std::process::exit(1);
        }
    };
    std::thread::Builder::new().spawn(listen).map_err(no_thread)?;
    Ok(heard)
}

/// What a worker keeps between orders.
struct Server {
    runs: Worker,
    studies: Option<Studies>,
}

impl Server {
    fn run(&mut self, order: &sweep::Order, stop: &Stop) -> Option<End> {
        match self.runs.run(order, stop) {
            Done::Stopped => None,
            Done::Undone(why) => Some(End::Undone(why)),
            Done::Kept(outcome) => Some(match outcome.write(&order.file) {
                Ok(()) => End::Done(outcome.failure),
                Err(error) => End::Stuck(error.to_string()),
            }),
        }
    }

    fn piece(&mut self, order: &PieceOrder, stop: &Stop) -> Option<End> {
        let ended = self.studies(order, stop).and_then(|studies| studies.carry_out(order.piece));
        match ended {
            _ if stop.is_asked() => None,
            Ok(()) => Some(End::Done(String::new())),
            Err(error) if error.is_work() => Some(End::Done(error.to_string())),
            Err(error) => Some(End::Refused(error.to_string())),
        }
    }

    /// The studies of an order's paper, planned once for all its orders.
    fn studies(&mut self, order: &PieceOrder, stop: &Stop) -> Result<&Studies, PaperError> {
        let studies = match self.studies.take().filter(|studies| studies.are_of(order)) {
            Some(studies) => studies,
            None => Studies::plan(&Paper::load(&order.paper)?, &order.options, stop)?,
        };
        Ok(self.studies.insert(studies))
    }
}
