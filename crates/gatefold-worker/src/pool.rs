//! The workers of a program, and who may have one.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::WorkerError;
use crate::message::{Message, MessageKind};
use crate::process::{WorkerProcess, WorkerProgram};

/// The longest answer, in bytes.
pub(crate) const MAX_ANSWER: u64 = 64 << 20;

/// What a pool's workers are.
#[derive(Debug, Clone)]
pub struct WorkerSettings {
    /// Without one there are no workers, and every job is refused.
    pub program: Option<WorkerProgram>,
    /// What each worker may take, in bytes.
    pub memory: u64,
    /// How many there are at most.
    pub workers: usize,
}

impl WorkerSettings {
    /// What one worker may take unless somebody says otherwise, in bytes.
    pub const MEMORY: u64 = 256 << 20;

    /// What a worker needs for itself and its stack, in bytes.
    pub const LEAST_MEMORY: u64 = 64 << 20;

    /// As many workers as cores.
    pub fn new(program: Option<WorkerProgram>) -> Self {
        let workers = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self { program, memory: Self::MEMORY, workers }
    }
}

/// Starts workers, and lends them. Clones share them.
#[derive(Debug, Clone)]
pub struct WorkerPool(Arc<PoolState>);

#[derive(Debug)]
struct PoolState {
    settings: WorkerSettings,
    slots: Arc<Semaphore>,
    /// The slots of each owner that has one or waits for one: at most [`WorkerSettings::workers`], and as many as
    /// there are callers who wait.
    shares: Mutex<HashMap<Vec<u8>, Arc<Semaphore>>>,
    /// At most [`WorkerSettings::workers`].
    idle: Mutex<Vec<WorkerProcess>>,
    /// Busy and idle ones.
    live: Arc<AtomicUsize>,
}

/// Something to do.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// Whose job it is. One owner has at most half of the workers.
    pub owner: &'a [u8],
    /// The name of a [`crate::Task`].
    pub task: &'a str,
    pub head: &'a str,
    pub body: &'a [u8],
    /// How long it may wait for a worker, and then how long it may run.
    pub time: Duration,
}

/// A worker that is in the midst of a job. Dropping it kills the worker.
#[derive(Debug)]
pub struct WorkerLease {
    worker: WorkerProcess,
    pool: WorkerPool,
    slot: Slot,
}

/// A place among the busy workers.
#[derive(Debug)]
struct Slot {
    pool: WorkerPool,
    owner: Vec<u8>,
    permits: Option<[OwnedSemaphorePermit; 2]>,
}

impl WorkerPool {
    pub fn new(settings: WorkerSettings) -> Self {
        let slots = Arc::new(Semaphore::new(settings.workers.max(1)));
        Self(Arc::new(PoolState {
            settings,
            slots,
            shares: Mutex::default(),
            idle: Mutex::default(),
            live: Arc::default(),
        }))
    }

    /// A pool without workers.
    pub fn absent() -> Self {
        Self::new(WorkerSettings::new(None))
    }

    /// Whether it has a program to run.
    pub fn is_available(&self) -> bool {
        self.0.settings.program.is_some()
    }

    /// Does a job of one answer. Dropping the future kills the worker.
    pub async fn run(&self, job: &Job<'_>) -> Result<Message, WorkerError> {
        let (answer, lease) = self.begin(job).await?;
        match lease {
            None => Ok(answer),
            Some(_) => Err(WorkerError::Broken("the task has more to say".to_owned())),
        }
    }

    /// Begins a job that may have several answers. There is a lease as long as more follow.
    pub async fn begin(
        &self,
        job: &Job<'_>,
    ) -> Result<(Message, Option<WorkerLease>), WorkerError> {
        let program = self.0.settings.program.as_ref().ok_or(WorkerError::Absent)?;
        let slot = timeout(job.time, self.slot(job.owner)).await.map_err(|_| WorkerError::Busy)?;
        let worker = self.idle_worker().map_or_else(|| self.start(program), Ok)?;
        self.keep_one_ready(program);
        let lease = WorkerLease { worker, pool: self.clone(), slot };
        let head = format!("{} {}\n{}", job.task, job.time.as_millis(), job.head);
        lease.exchange(&head, job.body, job.time).await
    }

    /// One of an owner's slots, then one of all.
    async fn slot(&self, owner: &[u8]) -> Slot {
        let share = self.0.settings.workers.div_ceil(2);
        let own = {
            let mut shares = locked(&self.0.shares);
            let own =
                shares.entry(owner.to_vec()).or_insert_with(|| Arc::new(Semaphore::new(share)));
            own.clone()
        };
        let mut slot = Slot { pool: self.clone(), owner: owner.to_vec(), permits: None };
        let own = own.acquire_owned().await;
        let any = self.0.slots.clone().acquire_owned().await;
        slot.permits = own.ok().zip(any.ok()).map(Into::into);
        slot
    }

    fn idle_worker(&self) -> Option<WorkerProcess> {
        let mut idle = self.idle();
        std::iter::from_fn(|| idle.pop()).find_map(|mut worker| worker.is_alive().then_some(worker))
    }

    fn start(&self, program: &WorkerProgram) -> Result<WorkerProcess, WorkerError> {
        WorkerProcess::start(program, self.0.settings.memory, &self.0.live)
    }

    /// Starts one more than are busy, so that the next job finds it waiting.
    fn keep_one_ready(&self, program: &WorkerProgram) {
        if !self.idle().is_empty() || self.0.live.load(Ordering::Acquire) >= self.0.settings.workers
        {
            return;
        }
        match self.start(program) {
            Ok(worker) => self.keep(worker),
            Err(error) => tracing::debug!(%error, "no further worker could be started"),
        }
    }

    /// Keeps a worker for the next job, unless enough wait: those that waited for somebody else came on top.
    fn keep(&self, worker: WorkerProcess) {
        let mut idle = self.idle();
        if idle.len() < self.0.settings.workers {
            idle.push(worker);
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<WorkerProcess>> {
        locked(&self.0.idle)
    }
}

impl WorkerLease {
    /// Lets another job run, while this one waits for somebody else.
    pub fn release_slot(&mut self) {
        self.slot.permits = None;
    }

    /// Says something to the task, and waits for what it answers.
    pub async fn ask(
        self,
        message: &Message,
        time: Duration,
    ) -> Result<(Message, Option<Self>), WorkerError> {
        self.exchange(&message.head, &message.body, time).await
    }

    async fn exchange(
        mut self,
        head: &str,
        body: &[u8],
        time: Duration,
    ) -> Result<(Message, Option<Self>), WorkerError> {
        let exchange = self.worker.exchange(head, body, MAX_ANSWER);
        let (kind, answer) =
            timeout(time, exchange).await.map_err(|_| WorkerError::Time(time))??;
        match kind {
            MessageKind::Part => return Ok((answer, Some(self))),
            MessageKind::Done => self.pool.keep(self.worker),
            MessageKind::Last => drop(self.worker),
        }
        Ok((answer, None))
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.permits = None;
        let mut shares = locked(&self.pool.0.shares);
        // Nobody else holds or waits for one of this owner's.
        if shares.get(&self.owner).is_some_and(|share| Arc::strong_count(share) == 1) {
            shares.remove(&self.owner);
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
