//! Submission queues: commands wait there until the firmware fetches them, one at a time.

use super::command::{CommandList, CommandTable};
use crate::restore::{Verdict, alike, ensure};
use crate::sections::{Arbitration, Sections};
use crate::signals::{Command, OpCode, PRIORITIES, Priority};
use crate::units::CommandId;
use serde::{Deserialize, Serialize};

/// A submission queue. Of so many bytes that its place among others is a shift.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(align(32))]
struct Queue {
    /// By priority, if commands are fetched by it; else all are in the line of medium.
    waiting: [CommandList; PRIORITIES],
    used: u32,
}

/// Commands fetched in a row of a higher priority than one that waits, at most (assumed).
const IN_A_ROW: u32 = 16;

/// All submission queues.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Queues {
    all: Vec<Queue>,
    depth: u32,
    turn: usize,
    /// Commands are fetched by priority; so many in a row went before one of a lower.
    by_priority: bool,
    in_a_row: u32,
    /// A command is being fetched.
    pub fetching: bool,
    /// Commands between arrival in the queues and fetch.
    unfetched: u32,
}

impl Queues {
    /// Empty ones.
    pub fn new(cfg: &Sections) -> Self {
        Queues {
            all: vec![
                Queue { waiting: [CommandList::EMPTY; PRIORITIES], used: 0 };
                cfg.queues.count as usize
            ],
            depth: cfg.queues.depth,
            turn: 0,
            by_priority: cfg.queues.arbitration == Arbitration::Priority,
            in_a_row: 0,
            fetching: false,
            unfetched: 0,
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether another command may be put in a queue.
    #[inline]
    pub fn has_room(&self, queue: usize) -> bool {
        self.all[queue].used < self.depth
    }

    /// A command takes a place in a queue that has room.
    #[inline]
    pub fn enter(&mut self, queue: usize) {
        self.all[queue].used += 1;
    }

    /// The place of a command in its queue is free again.
    #[inline]
    pub fn leave(&mut self, queue: usize) {
        self.all[queue].used -= 1;
    }

    /// A command waits to be fetched.
    #[inline(always)]
    pub fn wait(&mut self, id: CommandId, queue: usize, table: &mut CommandTable) {
        if self.by_priority {
            self.wait_in_class(id, queue, table);
        } else {
            self.all[queue].waiting[Priority::Medium as usize].push(table, id);
        }
        self.unfetched += 1;
    }

    /// Whether a command waits to be fetched, and none is on its way.
    #[inline(always)]
    pub fn may_fetch(&self) -> bool {
        !self.fetching && self.unfetched > 0
    }

    /// The next command to be fetched; none if none waits in the queue whose turn it is.
    #[inline(always)]
    pub fn next(&mut self, table: &CommandTable) -> Option<CommandId> {
        let next = if self.by_priority { self.next_by_priority(table) } else { self.next_in_turn(table) }?;
        self.unfetched -= 1;
        Some(next)
    }

    /// A command waits in the line of its class: what is written keeps its order.
    #[cold]
    fn wait_in_class(&mut self, id: CommandId, queue: usize, table: &mut CommandTable) {
        let Command { op, hints, .. } = table.get(id).command;
        let class = if op == OpCode::Read { hints.class() } else { Priority::Medium };
        self.all[queue].waiting[class as usize].push(table, id);
    }

    /// The next command by priority, queue by queue in turn.
    #[cold]
    fn next_by_priority(&mut self, table: &CommandTable) -> Option<CommandId> {
        let class = self.class_to_fetch() as usize;
        let mut queues = (self.turn..self.all.len()).chain(0..self.turn);
        let queue = queues.find(|&queue| self.all[queue].waiting[class].front().is_some())?;
        self.turn = if queue + 1 == self.all.len() { 0 } else { queue + 1 };
        self.all[queue].waiting[class].pop(table)
    }

    /// The next command as it came, queue by queue in turn; none if none waits in the queue whose turn it is.
    #[inline(always)]
    fn next_in_turn(&mut self, table: &CommandTable) -> Option<CommandId> {
        let queue = self.turn;
        self.turn = if queue + 1 == self.all.len() { 0 } else { queue + 1 };
        self.all[queue].waiting[Priority::Medium as usize].pop(table)
    }

    /// The highest class that waits, but now and then the lowest. One waits.
    fn class_to_fetch(&mut self) -> Priority {
        let waits =
            |class: &Priority| self.all.iter().any(|queue| queue.waiting[*class as usize].front().is_some());
        let mut classes = Priority::ALL.into_iter().filter(waits);
        let lowest = classes.next().unwrap_or_default();
        let highest = classes.next_back().unwrap_or(lowest);
        if highest == lowest || self.in_a_row >= IN_A_ROW {
            self.in_a_row = 0;
            return lowest;
        }
        self.in_a_row += 1;
        highest
    }

    /// Takes what follows from the configuration from fresh ones, and checks the rest.
    pub fn restored(&mut self, fresh: &Queues) -> Verdict {
        alike("queues", &self.all, &fresh.all)?;
        (self.depth, self.by_priority) = (fresh.depth, fresh.by_priority);
        ensure(self.in_a_row <= IN_A_ROW, "commands fetched in a row")?;
        ensure(self.turn < self.all.len(), "the queue whose turn it is")
    }

    /// The numbers of the commands that wait in them, each list of which ends; as many are under way as are counted.
    pub fn check(&self, table: &CommandTable) -> Result<Vec<u32>, String> {
        let medium = Priority::Medium as usize;
        let mut apart = self.all.iter().flat_map(|queue| (0..PRIORITIES).zip(&queue.waiting));
        let fits = apart.all(|(class, list)| self.by_priority || class == medium || list.is_empty());
        ensure(fits, "a command that is to be fetched by its priority")?;
        let mut waiting = Vec::new();
        for list in self.all.iter().flat_map(|queue| &queue.waiting) {
            waiting.extend(table.walk(list)?);
        }
        ensure(waiting.len() == self.unfetched as usize, "commands to be fetched")?;
        for (number, queue) in self.all.iter().enumerate() {
            ensure(queue.used <= self.depth, "commands of a queue")?;
            ensure(table.of_queue(number) == queue.used as usize, "commands of a queue")?;
        }
        Ok(waiting)
    }
}
