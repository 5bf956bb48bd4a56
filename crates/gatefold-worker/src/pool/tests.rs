use std::time::Instant;

use super::*;
use crate::{Conversation, Task};

const TASKS: &[Task] = &[
    Task { name: "shout", run: |job, _| Message::new(job.head.to_uppercase(), job.body.clone()) },
    Task { name: "pid", run: |_, _| Message::new(std::process::id().to_string(), []) },
    Task { name: "fill", run: |_, _| Message::new("", vec![1; 100 << 20]) },
    Task { name: "hold", run: |_, _| Message::new("", vec![1; 20 << 20]) },
    Task { name: "spin", run: |_, _| spin() },
    Task { name: "sink", run: |_, _| Message::new(sink(1).to_string(), []) },
    Task { name: "panic", run: |_, _| panic!("on purpose") },
    Task { name: "count", run: count },
    Task { name: "variables", run: variables },
];

/// How long anything may take here that is not meant to be stopped.
const LONG: Duration = Duration::from_secs(60);

/// Not a test: what the pools of these tests start.
#[test]
fn serves() {
    crate::run_if_asked(TASKS);
}

fn spin() -> Message {
    loop {
        std::hint::spin_loop();
    }
}

fn sink(depth: u64) -> u64 {
    let page = std::hint::black_box([depth; 512]);
    if depth == 0 { 0 } else { sink(depth + 1) + page[(depth % 512) as usize] }
}

fn count(_: &Message, conversation: &mut Conversation<'_>) -> Message {
    let mut heard = 0;
    while let Some(next) = conversation.ask(&Message::new(heard.to_string(), [])) {
        heard += 1;
        if next.head == "enough" {
            break;
        }
    }
    Message::new(format!("{heard} in all"), [])
}

fn variables(_: &Message, _: &mut Conversation<'_>) -> Message {
    let names = std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned());
    Message::new(names.collect::<Vec<_>>().join(" "), [])
}

fn pool(workers: usize) -> WorkerPool {
    let program = WorkerProgram::this().unwrap();
    let program = program.argument("pool::tests::serves").argument("--exact");
    WorkerPool::new(WorkerSettings { program: Some(program), memory: 64 << 20, workers })
}

fn job<'a>(task: &'a str, owner: &'a str, time: Duration) -> Job<'a> {
    Job { owner: owner.as_bytes(), task, head: "hello", body: b"there", time }
}

async fn run(pool: &WorkerPool, task: &str) -> Result<String, String> {
    let time = if task == "spin" { Duration::from_millis(300) } else { LONG };
    let answer = pool.run(&job(task, "alice", time)).await;
    answer.map(|answer| answer.head).map_err(|error| error.to_string())
}

#[tokio::test]
async fn a_job_is_answered_and_its_worker_takes_the_next() {
    let pool = pool(1);
    let answer = pool.run(&job("shout", "alice", LONG)).await.unwrap();
    assert_eq!(answer, Message::new("HELLO", *b"there"));
    let first = run(&pool, "pid").await.unwrap();
    assert_eq!(run(&pool, "pid").await.unwrap(), first);
    assert_ne!(first, std::process::id().to_string());
}

#[tokio::test]
async fn what_goes_wrong_in_a_worker_is_the_failure_of_one_job() {
    let pool = pool(2);
    for (task, fault) in [
        ("fill", "needed more than 64 MiB of memory and was stopped"),
        ("spin", "took longer than 0.3 s and was stopped"),
        ("sink", "went too deep and was stopped"),
        ("panic", "broke off"),
    ] {
        assert_eq!(run(&pool, task).await, Err(fault.to_owned()), "{task}");
        assert_eq!(run(&pool, "shout").await.as_deref(), Ok("HELLO"), "after {task}");
    }
}

#[tokio::test]
async fn a_worker_that_has_grown_gives_its_place_to_a_new_one() {
    let pool = pool(1);
    let first = run(&pool, "pid").await.unwrap();
    run(&pool, "hold").await.unwrap();
    assert_ne!(run(&pool, "pid").await.unwrap(), first);
}

#[tokio::test]
async fn an_idle_worker_that_died_is_not_lent() {
    let pool = pool(1);
    let first = run(&pool, "pid").await.unwrap();
    let id = rustix::process::Pid::from_raw(first.parse().unwrap()).unwrap();
    rustix::process::kill_process(id, rustix::process::Signal::KILL).unwrap();
    while pool.idle().first_mut().is_some_and(WorkerProcess::is_alive) {
        tokio::task::yield_now().await;
    }
    assert_ne!(run(&pool, "pid").await.unwrap(), first);
}

#[tokio::test]
async fn one_owner_never_has_all_workers() {
    let pool = pool(2);
    let slow: Vec<_> = (0..5)
        .map(|_| {
            let pool = pool.clone();
            let job = job("spin", "mallory", Duration::from_secs(3));
            tokio::spawn(async move { pool.run(&job).await })
        })
        .collect();
    while pool.0.slots.available_permits() == 2 {
        tokio::task::yield_now().await;
    }
    let begun = Instant::now();
    assert_eq!(run(&pool, "shout").await.as_deref(), Ok("HELLO"));
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    slow.iter().for_each(tokio::task::JoinHandle::abort);
}

#[tokio::test]
async fn a_task_may_talk_before_it_answers() {
    let pool = pool(1);
    let (first, lease) = pool.begin(&job("count", "alice", LONG)).await.unwrap();
    assert_eq!(first.head, "0");
    let (second, lease) = lease.unwrap().ask(&Message::new("go on", []), LONG).await.unwrap();
    assert_eq!(second.head, "1");
    let (last, lease) = lease.unwrap().ask(&Message::new("enough", []), LONG).await.unwrap();
    assert_eq!(last.head, "2 in all");
    assert!(lease.is_none());
}

#[tokio::test]
async fn a_job_that_nobody_waits_for_is_killed() {
    let pool = pool(1);
    let (_, lease) = pool.begin(&job("count", "alice", LONG)).await.unwrap();
    assert_eq!(pool.0.live.load(Ordering::Acquire), 1);
    drop(lease);
    assert_eq!(pool.0.live.load(Ordering::Acquire), 0);
    assert_eq!(run(&pool, "shout").await.as_deref(), Ok("HELLO"));
}

#[tokio::test]
async fn a_worker_gets_nothing_of_our_environment() {
    let names = run(&pool(1), "variables").await.unwrap();
    assert_eq!(names, crate::serving::VARIABLE);
}

#[tokio::test]
async fn workers_start_at_the_first_use_and_one_more_than_is_busy() {
    let pool = pool(4);
    assert_eq!(pool.0.live.load(Ordering::Acquire), 0);
    let (_, lease) = pool.begin(&job("count", "alice", LONG)).await.unwrap();
    assert_eq!(pool.0.live.load(Ordering::Acquire), 2);
    drop(lease);
}

#[tokio::test]
async fn without_a_program_every_job_is_refused() {
    let pool = WorkerPool::absent();
    assert!(!pool.is_available());
    assert_eq!(run(&pool, "shout").await, Err("cannot be run here".to_owned()));
}
