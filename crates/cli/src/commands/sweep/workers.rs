//! Processes that carry out the runs of a sweep: one that dies takes only its run with it.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lab::Stop;
use lab::sweep::Order;
use serde_json::Value;

use crate::failure::Failure;

/// How often a run is tried whose process dies.
const TRIES: u32 = 2;
/// Between two looks at whether somebody has asked to end.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A run to be done.
pub struct Task {
    /// What its worker is told.
    pub order: Order,
    /// Tasks of one number begin with the same aged drive.
    pub drive: u64,
}

/// How a task ended.
pub enum End {
    /// Its file is written; the text is why the run failed, empty if it did not.
    Done(String),
    /// It is not done, for a reason outside it: its process died each time, or a file is gone. Nothing is written.
    Undone(String),
    /// The file cannot be written, or there are no processes: the others would fare no better.
    Stuck(String),
}

/// Tasks that are open, and drives that nobody has aged before.
struct Queue {
    open: Vec<usize>,
    /// Drives that a worker has at present, for the first time.
    ageing: BTreeSet<u64>,
    aged: BTreeSet<u64>,
}

impl Queue {
    /// The next task: rather one whose drive nobody is ageing, for that would have to wait.
    fn next(&mut self, tasks: &[Task]) -> Option<usize> {
        let free = |at: &usize| !self.ageing.contains(&tasks[*at].drive);
        let place = self.open.iter().position(free).or((!self.open.is_empty()).then_some(0))?;
        let at = self.open.remove(place);
        if !self.aged.contains(&tasks[at].drive) {
            self.ageing.insert(tasks[at].drive);
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

/// Carries out all tasks in so many processes; `told` hears of each that ends. Ends early if somebody asks to, or where
/// there is no sense in going on.
pub fn carry_out(
    tasks: &[Task],
    jobs: usize,
    stop: &Stop,
    mut told: impl FnMut(usize, &End),
) -> Result<(), Failure> {
    let open = (0..tasks.len()).collect();
    let queue = Mutex::new(Queue { open, ageing: BTreeSet::new(), aged: BTreeSet::new() });
    let places: Vec<Place> = (0..jobs.min(tasks.len())).map(|_| Mutex::default()).collect();
    let (ends, hears) = channel();
    let mut failure = None;
    std::thread::scope(|scope| {
        for place in &places {
            let (ends, queue) = (ends.clone(), &queue);
            scope.spawn(move || work((tasks, queue), place, stop, &ends));
        }
        drop(ends);
        loop {
            match hears.recv_timeout(LOOK_EVERY) {
                Ok((at, end)) => {
                    if let End::Stuck(why) = &end {
                        failure.get_or_insert_with(|| why.clone());
                        locked(&queue).open.clear();
                    }
                    told(at, &end);
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
    failure.map_or(Ok(()), |why| Err(Failure::work(why)))
}

/// Gives one process after the other what is to be done.
fn work((tasks, queue): (&[Task], &Mutex<Queue>), place: &Place, stop: &Stop, ends: &Sender<(usize, End)>) {
    let mut pipes = None;
    // In a function, so that the queue is locked no longer than that.
    let next = || locked(queue).next(tasks);
    while let Some(at) = next() {
        let end = (0..TRIES).find_map(|_| carry_out_one(&tasks[at].order, &mut pipes, place, stop));
        let died = || End::Undone(format!("its process ended {TRIES} times without an answer"));
        locked(queue).end(tasks[at].drive);
        if stop.is_asked() && end.is_none() {
            break;
        }
        // Nobody listens any more when the sweep is over.
        let _ = ends.send((at, end.unwrap_or_else(died)));
    }
    // The end of its orders is the end of the process.
    drop(pipes);
    bury(place);
}

/// Waits for a process that is about to end.
fn bury(place: &Place) {
    let child = locked(place).take();
    child.into_iter().for_each(|mut child| _ = child.wait());
}

/// Has one task done, by a new process if there is none; nothing if that dies.
fn carry_out_one(order: &Order, pipes: &mut Option<Pipes>, place: &Place, stop: &Stop) -> Option<End> {
    if stop.is_asked() {
        return None;
    }
    if pipes.is_none() {
        match start(place) {
            Ok(new) => *pipes = Some(new),
            Err(error) => return Some(End::Stuck(format!("no process can be started: {error}"))),
        }
    }
    let answer = pipes.as_mut().and_then(|pipes| ask(order, pipes));
    let Some(answer) = answer else {
        *pipes = None;
        bury(place);
        return None;
    };
    let text = |key: &str| answer[key].as_str().map(str::to_owned);
    Some(match (text("trouble"), text("undone")) {
        (Some(trouble), _) => End::Stuck(trouble),
        (None, Some(why)) => End::Undone(why),
        (None, None) => End::Done(text("failure").unwrap_or_default()),
    })
}

fn ask(order: &Order, pipes: &mut Pipes) -> Option<Value> {
    let mut line = serde_json::to_string(order).ok()?;
    line.push('\n');
    pipes.orders.write_all(line.as_bytes()).ok()?;
    pipes.orders.flush().ok()?;
    line.clear();
    pipes.answers.read_line(&mut line).ok()?;
    serde_json::from_str(&line).ok()
}

fn start(place: &Place) -> std::io::Result<Pipes> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("worker").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn()?;
    let piped = || std::io::Error::other("it has no pipes");
    let orders = child.stdin.take().ok_or_else(piped)?;
    let answers = BufReader::new(child.stdout.take().ok_or_else(piped)?);
    *locked(place) = Some(child);
    Ok(Pipes { orders, answers })
}
