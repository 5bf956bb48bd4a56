//! Statements that do harm: each is shown to do it with every wall down, then tried with each wall
//! alone, and with all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::panic::resume_unwind;
use std::time::Duration;

use futures::StreamExt as _;
use futures::stream::{BoxStream, FuturesUnordered};
use gatefold_sql::{ColumnPattern, TablePattern, TableRules};
use sqlx::Row;

use crate::statements::statements;

/// The timeout of statements, where a wall sets one.
pub(crate) const TIMEOUT: Duration = Duration::from_millis(300);

/// A statement that runs longer than this hangs, where nothing has stopped it: at its timeout each
/// driver lets the server end a statement within two seconds.
pub(crate) const BOUND: Duration = Duration::from_millis(3_000);

/// How long a statement must run with the walls down to count as one that hangs. Waiting longer would
/// only make the test slower.
pub(crate) const HANGING: Duration = Duration::from_millis(700);

/// By how much memory must grow to count as eaten.
pub(crate) const EATEN_BYTES: u64 = 64 << 20;

/// How many statements that hang run at once, in all parts together.
const HANGING_AT_ONCE: usize = 4;

/// A corpus, or every second statement of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part {
    first: usize,
    of: usize,
}

impl Part {
    #[allow(dead_code, reason = "only SQLite is quick enough")]
    pub(crate) const WHOLE: Self = Self { first: 0, of: 1 };
}

/// What a statement does that it must not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Harm {
    Writes,
    WritesFile,
    ReadsFile,
    /// Tells what may not be seen.
    Reveals,
    /// Leaves something behind for the next statement of its session.
    ChangesSession,
    /// Holds a lock that others may wait for.
    Locks,
    EndsOthers,
    Hangs,
    EatsMemory,
}

impl Harm {
    const ALL: [(&str, Self); 9] = [
        ("writes", Self::Writes),
        ("writes_file", Self::WritesFile),
        ("reads_file", Self::ReadsFile),
        ("reveals", Self::Reveals),
        ("changes_session", Self::ChangesSession),
        ("locks", Self::Locks),
        ("ends_others", Self::EndsOthers),
        ("hangs", Self::Hangs),
        ("eats_memory", Self::EatsMemory),
    ];

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, harm)| *harm == self).expect("all are there").0
    }
}

/// Which walls stand.
#[allow(dead_code, reason = "not every kind of database has all of them")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Walls {
    None,
    /// A statement is judged before it is sent, to a session that may do everything.
    Guard,
    /// Everything may be done, in a transaction that only reads.
    Transaction,
    /// Everything may be done, with the session's settings, by one prepared statement.
    Session,
    /// Anything that the role may do that passes the check and has the most rights beside.
    Check,
    /// Anything that a role may do that was made for reading what may be seen.
    Role,
    All,
}

impl Walls {
    fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Guard => "guard",
            Self::Transaction => "transaction",
            Self::Session => "session",
            Self::Check => "role check",
            Self::Role => "reading role",
            Self::All => "all",
        }
    }
}

/// Two databases that differ in what may not be seen, and in nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Twin {
    First,
    Second,
}

/// What was seen of a statement.
#[expect(clippy::struct_excessive_bools, reason = "each is one look at what it did")]
#[derive(Debug, Default)]
pub(crate) struct Observed {
    /// Its rows as texts, or that it failed.
    pub answer: String,
    pub changed_tables: bool,
    pub wrote_file: bool,
    pub changed_session: bool,
    pub held_lock: bool,
    pub ended_other: bool,
    pub outlived: bool,
    pub eaten_bytes: u64,
}

pub(crate) struct HarmfulStatement {
    pub technique: String,
    pub harm: Harm,
    pub sql: String,
}

/// A kind of database.
pub(crate) trait HarmedDatabase {
    /// Which walls it can have, beside none and all.
    fn walls(&self) -> Vec<Walls>;

    /// Texts that only show where something was told that must not be.
    fn marks(&self) -> &[&str];

    /// Runs a statement and looks at what it did. Everything is as it was before when this returns.
    async fn observe(&self, walls: Walls, twin: Twin, harm: Harm, sql: &str) -> Observed;
}

/// What a statement did, given what it answered on the other twin if it was asked there.
fn harms(seen: &Observed, other: Option<&Observed>, marks: &[&str]) -> BTreeSet<Harm> {
    let mark = |prefix: &str| {
        marks.iter().filter(|mark| mark.starts_with(prefix)).any(|mark| seen.answer.contains(mark))
    };
    // Which bound a statement reaches first, that of time or that of size, is a matter of chance.
    let is_bound =
        |answer: &str| answer.contains("took longer than") || answer.contains("row is larger than");
    let differs = other.is_some_and(|other| {
        let both_are_bounds = is_bound(&seen.answer) && is_bound(&other.answer);
        other.answer != seen.answer && !both_are_bounds
    });
    let found = [
        (Harm::Writes, seen.changed_tables),
        (Harm::WritesFile, seen.wrote_file),
        (Harm::ReadsFile, mark("planted")),
        (Harm::Reveals, differs || (mark("") && !mark("planted"))),
        (Harm::ChangesSession, seen.changed_session),
        (Harm::Locks, seen.held_lock),
        (Harm::EndsOthers, seen.ended_other),
        (Harm::Hangs, seen.outlived),
        (Harm::EatsMemory, seen.eaten_bytes > EATEN_BYTES),
    ];
    found.into_iter().filter(|(_, is_done)| *is_done).map(|(harm, _)| harm).collect()
}

/// The statements of a corpus, each with the harm that its heading names.
pub(crate) fn harmful(file: &str) -> Vec<HarmfulStatement> {
    let parsed = statements(file).into_iter().map(|(heading, sql)| {
        let (technique, harm) = heading.rsplit_once(": ").expect("a heading names the harm");
        let harm = Harm::ALL.iter().find(|(name, _)| *name == harm);
        let (_, harm) = harm.unwrap_or_else(|| panic!("`{heading}` names no harm"));
        HarmfulStatement { technique: technique.to_owned(), harm: *harm, sql }
    });
    parsed.collect()
}

/// What became of a corpus.
#[derive(Debug, Default)]
pub(crate) struct HarmReport {
    /// The names of those that were tried alone.
    walls: Vec<&'static str>,
    /// For each kind of harm: how many statements, and how many each wall stopped.
    stopped: BTreeMap<Harm, (usize, BTreeMap<&'static str, usize>)>,
    /// How many statements were stopped by how many walls alone.
    by_walls: BTreeMap<usize, usize>,
    once: Vec<String>,
    faults: Vec<String>,
    /// Statements that end before they count as hanging, on a machine that is quick enough.
    quick: Vec<String>,
    techniques: BTreeSet<String>,
}

/// Tries a corpus in two halves side by side, each on databases of its own, and makes one report of both.
#[allow(dead_code, reason = "SQLite is quick enough without it")]
pub(crate) fn try_halves(try_part: impl Fn(Part) -> HarmReport + Sync) -> HarmReport {
    let try_part = &try_part;
    std::thread::scope(|scope| {
        let halves = [0, 1].map(|first| scope.spawn(move || try_part(Part { first, of: 2 })));
        let reports = halves.map(|half| half.join().unwrap_or_else(|panic| resume_unwind(panic)));
        reports.into_iter().reduce(HarmReport::with).expect("there are two")
    })
}

/// Tries every statement of a part with every wall.
pub(crate) async fn try_harms(
    database: &impl HarmedDatabase,
    file: &str,
    part: Part,
) -> HarmReport {
    let all = harmful(file);
    let (slow, quick): (Vec<_>, Vec<_>) =
        all.iter().partition(|statement| statement.harm == Harm::Hangs);
    let [slow, quick] = [slow, quick].map(|all| all.into_iter().skip(part.first).step_by(part.of));
    let walls = database.walls().iter().map(|walls| walls.name()).collect();
    let mut report = HarmReport { walls, ..HarmReport::default() };
    for statement in quick {
        let outcome = outcome(database, statement).await;
        report.add(statement, &outcome);
    }
    let mut running = FuturesUnordered::new();
    for statement in slow {
        if running.len() >= HANGING_AT_ONCE / part.of {
            finish(&mut report, running.next().await);
        }
        running.push(async move { (statement, outcome(database, statement).await) });
    }
    while !running.is_empty() {
        finish(&mut report, running.next().await);
    }
    report
}

fn finish(report: &mut HarmReport, ended: Option<(&HarmfulStatement, Outcome)>) {
    let (statement, outcome) = ended.expect("one runs");
    report.add(statement, &outcome);
}

/// What one statement did.
struct Outcome {
    stopped: Vec<Walls>,
    /// What is wrong with it, or with the walls.
    fault: Option<String>,
    /// It should have hung and ended in time.
    quick: Option<String>,
}

async fn outcome(database: &impl HarmedDatabase, statement: &HarmfulStatement) -> Outcome {
    let HarmfulStatement { harm, sql, .. } = statement;
    let done = async |walls: Walls| {
        let seen = database.observe(walls, Twin::First, *harm, sql).await;
        let other = match (*harm, walls) {
            (Harm::Reveals, _) | (_, Walls::All) => {
                Some(database.observe(walls, Twin::Second, *harm, sql).await)
            }
            _ => None,
        };
        let harms = harms(&seen, other.as_ref(), database.marks());
        (seen, harms)
    };
    let (seen, free) = done(Walls::None).await;
    if !free.contains(harm) {
        let fault =
            format!("does not do its harm ({harm:?}) with the walls down: {sql}\n    {seen:?}");
        let (fault, quick) =
            if *harm == Harm::Hangs { (None, Some(fault)) } else { (Some(fault), None) };
        return Outcome { stopped: Vec::new(), fault, quick };
    }
    let mut stopped = Vec::new();
    for walls in database.walls() {
        if !done(walls).await.1.contains(harm) {
            stopped.push(walls);
        }
    }
    let (seen, left) = done(Walls::All).await;
    let fault =
        (!left.is_empty()).then(|| format!("does {left:?} past all walls: {sql}\n    {seen:?}"));
    Outcome { stopped, fault, quick: None }
}

impl HarmReport {
    /// Prints the table. Fails where a statement did no harm with the walls down, or any with all of them up.
    pub(crate) fn check(&self, name: &str) {
        println!("{}", self.table(name));
        assert!(self.faults.is_empty(), "{}", self.faults.join("\n"));
        let shown: usize = self.stopped.values().map(|(count, _)| count).sum();
        let quick = self.quick.join("\n");
        assert!(self.quick.len() * 20 <= shown, "more than one in twenty do no harm:\n{quick}");
        let count = self.techniques.len();
        assert!(count >= 60, "{count} techniques");
    }

    fn add(&mut self, statement: &HarmfulStatement, outcome: &Outcome) {
        self.faults.extend(outcome.fault.clone());
        self.quick.extend(outcome.quick.clone());
        if outcome.fault.is_some() || outcome.quick.is_some() {
            return;
        }
        self.techniques.insert(statement.technique.clone());
        let (count, by_wall) = self.stopped.entry(statement.harm).or_default();
        *count += 1;
        for walls in &outcome.stopped {
            *by_wall.entry(walls.name()).or_default() += 1;
        }
        *self.by_walls.entry(walls_that_count(&outcome.stopped)).or_default() += 1;
        if walls_that_count(&outcome.stopped) < 2 {
            let walls: Vec<_> = outcome.stopped.iter().map(|walls| walls.name()).collect();
            let technique = &statement.technique;
            self.once.push(format!("{technique} ({}): {}", walls.join(", "), statement.sql));
        }
    }

    /// What became of both.
    fn with(mut self, other: Self) -> Self {
        for (harm, (count, by_wall)) in other.stopped {
            let (sum, sums_by_wall) = self.stopped.entry(harm).or_default();
            *sum += count;
            for (wall, count) in by_wall {
                *sums_by_wall.entry(wall).or_default() += count;
            }
        }
        for (walls, count) in other.by_walls {
            *self.by_walls.entry(walls).or_default() += count;
        }
        self.once.extend(other.once);
        self.faults.extend(other.faults);
        self.quick.extend(other.quick);
        self.techniques.extend(other.techniques);
        self
    }

    /// The table as the documentation has it.
    fn table(&self, name: &str) -> String {
        let walls = &self.walls;
        let mut text = String::new();
        let _ = writeln!(text, "| {name} | statements | {} | all |", walls.join(" | "));
        let _ = writeln!(text, "|---|{}", "---|".repeat(walls.len() + 2));
        let mut sums = vec![0; walls.len() + 1];
        for (harm, (count, by_wall)) in &self.stopped {
            let row: Vec<_> =
                walls.iter().map(|wall| by_wall.get(wall).copied().unwrap_or(0)).collect();
            sums[0] += count;
            sums.iter_mut().skip(1).zip(&row).for_each(|(sum, count)| *sum += count);
            let row: Vec<_> = row.iter().map(ToString::to_string).collect();
            let _ = writeln!(
                text,
                "| {} | {count} | {} | {count} |",
                harm.name().replace('_', " "),
                row.join(" | ")
            );
        }
        let row: Vec<_> = sums.iter().map(ToString::to_string).collect();
        let _ = writeln!(text, "| together | {} | {} |", row.join(" | "), sums[0]);
        let _ = writeln!(text, "techniques: {}", self.techniques.len());
        for (walls, count) in &self.by_walls {
            let _ = writeln!(text, "stopped by {walls} walls: {count}");
        }
        for once in &self.once {
            let _ = writeln!(text, "one wall only: {once}");
        }
        text
    }
}

/// The check of the role and a role made for reading are one wall, higher and lower.
fn walls_that_count(stopped: &[Walls]) -> usize {
    let is_role = |walls: &&Walls| matches!(walls, Walls::Check | Walls::Role);
    stopped.len() - stopped.iter().filter(is_role).count().saturating_sub(1)
}

/// The rules under which the corpus is judged: some tables denied, salaries hidden, addresses masked.
pub(crate) fn closed_rules(denied: &[&str]) -> TableRules {
    let column = |text: &str| ColumnPattern::new(text).expect("it is a column");
    TableRules {
        deny: denied.iter().map(|name| TablePattern::new(name).expect("it is a table")).collect(),
        hide: vec![column("*.salary")],
        mask: vec![column("*.email")],
        ..TableRules::default()
    }
}

/// How much of an answer is looked at, in bytes.
const ANSWER_BYTES: usize = 1 << 20;

/// The first rows of a statement, as texts without what is masked.
pub(crate) async fn answer_text<R: Row>(
    mut rows: BoxStream<'_, sqlx::Result<R>>,
    masked: &[usize],
    cell: fn(&R, usize) -> String,
) -> String {
    let mut text = String::new();
    while let Some(row) = rows.next().await {
        let row = match row {
            Ok(row) => row,
            Err(error) => return failure(&error),
        };
        let shown = (0..row.len()).filter(|at| !masked.contains(at));
        let cells: Vec<_> = shown.map(|at| cell(&row, at)).collect();
        text.push_str(&cells.join("|"));
        text.push('\n');
        if text.len() > ANSWER_BYTES {
            break;
        }
    }
    text
}

/// What an error tells counts only if it tells a value: any tells whether a table exists.
pub(crate) fn failure(error: &sqlx::Error) -> String {
    let text = error.to_string();
    if text.contains("planted-5f1c") || text.contains("tok-") { text } else { "failed".to_owned() }
}
