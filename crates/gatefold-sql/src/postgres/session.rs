//! The transactions that statements run in, and what is set inside each.
//!
//! Nothing is set for longer than a transaction: a pooler between us and the server may give the session
//! to somebody else afterwards.

use std::time::Duration;

/// Settings of every transaction, each where the server has it and the role may change it.
const SETTINGS: &[(&str, &str)] = &[
    ("lock_timeout", "5s"),
    // Frees the server of a client that went away without a word.
    ("client_connection_check_interval", "1s"),
    ("work_mem", "32MB"),
    ("hash_mem_multiplier", "1"),
    // Only a superuser may set it; for others the server's own limit holds.
    ("temp_file_limit", "1GB"),
    ("max_parallel_workers_per_gather", "0"),
    // Compiling a plan takes longer than most of what a model asks for, our own queries included.
    ("jit", "off"),
    // The guard reads texts as the standard has them.
    ("standard_conforming_strings", "on"),
    // What `postgres::values` reads.
    ("bytea_output", "hex"),
    ("intervalstyle", "iso_8601"),
    ("extra_float_digits", "1"),
    // Notices would be logged, and a function may put anything in one.
    ("client_min_messages", "error"),
];

/// How long a transaction that reads may wait for us between two statements.
const READING_IDLE: Duration = Duration::from_secs(60);

/// How long a transaction that has written may wait for somebody's decision.
const DECISION_TIMEOUT: Duration = Duration::from_secs(15 * 60);

/// The name of the cursor that runs a model's query.
const CURSOR: &str = "gatefold";

/// The largest row that is read, as the server holds it. Written as text it may be a few times longer.
pub(super) const MAX_ROW_BYTES: usize = 16 * 1024 * 1024;

/// How the server's error about a row above [`MAX_ROW_BYTES`] is told from others.
pub(super) const ROW_TOO_LARGE: &str = "gatefold: a row of ";

/// Answers the names and values of what can be set: [`SETTINGS`], and the search path that the role has
/// here, which is pinned with temporary tables at its end, where they hide nothing, and with what is built in
/// at its beginning.
pub(super) fn applicable() -> String {
    let values = SETTINGS.iter().map(|(name, value)| format!("('{name}','{value}')"));
    let values = values.collect::<Vec<_>>().join(",");
    format!(
        "SELECT 'search_path', CASE WHEN path IN ('', '\"\"') THEN 'pg_temp' \
         WHEN pg_catalog.strpos(path, 'pg_catalog') > 0 THEN 'pg_catalog, ' || path || ', pg_temp' \
         ELSE path || ', pg_temp' END \
         FROM (SELECT pg_catalog.current_setting('search_path') AS path) AS now \
         UNION ALL SELECT s.name, v.value FROM (VALUES {values}) AS v(name, value) \
         JOIN pg_catalog.pg_settings AS s ON pg_catalog.lower(s.name) = v.name \
         WHERE s.context = 'user' OR s.context = 'superuser' \
         AND pg_catalog.current_setting('is_superuser') = 'on'"
    )
}

/// The advisory locks that the server's session holds. A pooler may have given it to others before, whose
/// locks those are.
const HELD_LOCKS: &str = "SELECT pg_catalog.count(*) AS held FROM pg_catalog.pg_locks \
     WHERE locktype = 'advisory' AND pid = pg_catalog.pg_backend_pid()";

/// A statement that sets all of some settings until the transaction ends, and answers the number of the
/// server's process and how many advisory locks its session holds.
pub(super) fn settings<'a>(applicable: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let set = |(name, value)| {
        format!(", pg_catalog.set_config({}, {}, true)", literal(name), literal(value))
    };
    let sets: Vec<_> = applicable.map(set).collect();
    format!("SELECT pg_catalog.pg_backend_pid()::text, ({HELD_LOCKS})::text{}", sets.concat())
}

/// A text that reads the same whatever `standard_conforming_strings` is.
pub(super) fn literal(text: &str) -> String {
    format!("E'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

/// What a transaction may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TransactionMode {
    Read,
    /// Reads all of it as of one moment.
    Snapshot,
    Write,
}

/// Begins a transaction whose statements take no longer than `timeout`, with its settings.
pub(super) fn begin(mode: TransactionMode, timeout: Duration, settings: &str) -> String {
    let (mode, idle) = match mode {
        TransactionMode::Read => ("READ ONLY", READING_IDLE),
        TransactionMode::Snapshot => ("ISOLATION LEVEL REPEATABLE READ READ ONLY", READING_IDLE),
        TransactionMode::Write => ("READ WRITE", DECISION_TIMEOUT),
    };
    format!(
        "BEGIN TRANSACTION {mode}; {}; SET LOCAL idle_in_transaction_session_timeout = {}; {settings}",
        set_timeout(timeout),
        milliseconds(idle)
    )
}

/// Begins what is asked before [`settings`] are known. A pooler's session may have a timeout of another
/// client's.
pub(super) fn begin_asking(timeout: Duration) -> String {
    format!("BEGIN TRANSACTION READ ONLY; {}", set_timeout(timeout))
}

/// How a transaction ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TransactionEnd {
    RollBack,
    Commit,
}

/// Ends a transaction without a trace. Advisory locks of a session outlive its transactions, so they are
/// let go of if there are more than the `held_before` ones of others. Both statements are one message,
/// which a pooler sends to one session.
pub(super) fn end(end: TransactionEnd, held_before: u64) -> String {
    let word = match end {
        TransactionEnd::RollBack => "ROLLBACK",
        TransactionEnd::Commit => "COMMIT",
    };
    format!(
        "{word}; SELECT pg_catalog.pg_advisory_unlock_all() FROM ({HELD_LOCKS}) AS now \
         WHERE held > {held_before}"
    )
}

/// Limits what follows in the transaction, each statement by itself.
pub(super) fn set_timeout(timeout: Duration) -> String {
    format!("SET LOCAL statement_timeout = {}", milliseconds(timeout))
}

/// A statement of ours around one of a model's.
pub(super) struct Wrapping {
    front: String,
    back: String,
}

impl Wrapping {
    /// Declares a cursor.
    ///
    /// A row above [`MAX_ROW_BYTES`] is an error, so that no value can fill the memory here. The check
    /// stands behind an `OFFSET 0` that keeps the planner from asking it of rows that the query leaves
    /// out, and `concat` keeps it from working the error out beforehand.
    pub(super) fn cursor() -> Self {
        let size = "pg_catalog.pg_column_size(gatefold.*)";
        Self {
            front: format!(
                "DECLARE {CURSOR} NO SCROLL CURSOR WITHOUT HOLD FOR \
                 SELECT * FROM (SELECT * FROM (\n"
            ),
            back: format!(
                "\n) AS statement OFFSET 0) AS gatefold WHERE CASE WHEN {size} <= {MAX_ROW_BYTES} \
                 THEN true ELSE pg_catalog.concat('{ROW_TOO_LARGE}', {size}, ' bytes')::boolean END"
            ),
        }
    }

    pub(super) fn explain() -> Self {
        // After options in parentheses the word `ANALYZE` is a syntax error.
        Self { front: "EXPLAIN (FORMAT TEXT)\n".to_owned(), back: String::new() }
    }

    pub(super) fn nothing() -> Self {
        Self { front: String::new(), back: String::new() }
    }

    pub(super) fn around(&self, sql: &str) -> String {
        format!("{}{sql}{}", self.front, self.back)
    }

    /// Where something is in `sql`, from its place in the whole statement counted from one.
    pub(super) fn position_within(&self, sql: &str, position: usize) -> Option<usize> {
        let position = position.checked_sub(1 + self.front.chars().count())?;
        (position <= sql.chars().count()).then_some(position)
    }
}

/// Fetches rows, which takes no longer than `timeout`.
pub(super) fn fetch(rows: usize, timeout: Duration) -> String {
    format!("{}; FETCH FORWARD {rows} FROM {CURSOR}", set_timeout(timeout))
}

pub(super) const CLOSE: &str = "CLOSE gatefold";

/// What tells the columns of the cursor, once it is prepared.
pub(super) const DESCRIBED: &str = "FETCH FORWARD 0 FROM gatefold";

/// At least one, since zero would mean no limit, and no more than the server takes.
fn milliseconds(time: Duration) -> i32 {
    i32::try_from(time.as_millis()).unwrap_or(i32::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_the_whole_is_a_place_in_the_statement() {
        let wrapping = Wrapping::explain();
        let sql = "SELECT é FROM t";
        let at = wrapping.around(sql).chars().position(|c| c == 'é').expect("it is there");
        assert_eq!(wrapping.position_within(sql, at + 1), Some(7));
        assert_eq!(wrapping.position_within(sql, 3), None);
        assert_eq!(wrapping.position_within(sql, 900), None);
    }

    #[test]
    fn everything_is_set_for_one_transaction() {
        let settings = settings([("search_path", r#""it's", "b\c""#), ("jit", "off")].into_iter());
        assert_eq!(
            begin(TransactionMode::Read, Duration::from_secs(2), &settings),
            format!(
                "BEGIN TRANSACTION READ ONLY; SET LOCAL statement_timeout = 2000; \
                 SET LOCAL idle_in_transaction_session_timeout = 60000; \
                 SELECT pg_catalog.pg_backend_pid()::text, ({HELD_LOCKS})::text, "
            ) + r#"pg_catalog.set_config(E'search_path', E'"it''s", "b\\c"', true), "#
                + "pg_catalog.set_config(E'jit', E'off', true)"
        );
    }

    #[test]
    fn the_locks_of_others_are_left_alone() {
        let end = end(TransactionEnd::RollBack, 2);
        assert!(end.starts_with("ROLLBACK; SELECT pg_catalog.pg_advisory_unlock_all() FROM ("));
        assert!(end.ends_with(" WHERE held > 2"), "{end}");
    }

    #[test]
    fn no_time_at_all_is_not_endless() {
        assert_eq!(set_timeout(Duration::ZERO), "SET LOCAL statement_timeout = 1");
        assert_eq!(milliseconds(Duration::MAX), i32::MAX);
    }
}
