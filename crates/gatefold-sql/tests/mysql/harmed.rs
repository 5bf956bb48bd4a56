//! What each wall stops by itself, of statements that do harm where none stands.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures::FutureExt as _;
use gatefold_sql::{
    Database as _, DatabaseAddress, DatabaseError, DatabaseSettings, Dialect, Guard, MySqlServer,
    QueryRows, ReadQuery, ServerAddress, VisibleSchema,
};
use sqlx::mysql::{MySqlConnectOptions, MySqlRow, MySqlSslMode};
use sqlx::{
    AssertSqlSafe, ConnectOptions as _, Connection as _, Executor as _, MySqlConnection, Row as _,
};
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::harms::{
    BOUND, HANGING, Harm, HarmReport, HarmedDatabase, Observed, Part, TIMEOUT, Twin, Walls,
    answer_text, closed_rules, try_halves, try_harms,
};
use crate::server::{PASSWORD, TestDatabase};
use crate::statements::text;

/// How long a statement may take that is none of those that hang.
const QUICK: Duration = Duration::from_secs(20);

/// How long the server may take to answer somebody else.
const ANSWER_TIME: Duration = Duration::from_secs(2);

/// How the server keeps the password of this test's users.
const PASSWORD_HASH: &str = "*3FDA7BB0B2A02F99234DE50848474652BA6D77FC";

/// What the second twin has instead of the first one's secrets.
const OTHER_SECRETS: &str = "
    RENAME TABLE secrets TO vault;
    CREATE OR REPLACE VIEW peek AS SELECT id, token FROM vault;
    UPDATE vault SET token = CONCAT('other', id);
    UPDATE employees SET salary = CASE id WHEN 1 THEN 1000 WHEN 2 THEN 2000 WHEN 3 THEN 3000
      ELSE 12000 END, email = CASE id WHEN 1 THEN 'zoe@corp.example' WHEN 3 THEN 'cy@corp.example'
      WHEN 2 THEN NULL ELSE 'ann@corp.example' END;
";

/// What is in the tables.
const SUMS: &str =
    "CHECKSUM TABLE employees, orders, departments, peek, secrets, vault, plain, words, s";

/// Which tables, views, functions, users and rights there are.
const NAMES: &str = "
    SELECT MD5(CONCAT_WS(' ',
    (SELECT GROUP_CONCAT(table_name, table_type ORDER BY table_name)
      FROM information_schema.tables WHERE table_schema = DATABASE()),
    (SELECT GROUP_CONCAT(table_name, column_name, column_key, column_type
      ORDER BY table_name, ordinal_position)
      FROM information_schema.columns WHERE table_schema = DATABASE()),
    (SELECT GROUP_CONCAT(view_definition ORDER BY table_name) FROM information_schema.views
      WHERE table_schema = DATABASE()),
    (SELECT GROUP_CONCAT(name ORDER BY name) FROM mysql.proc WHERE db = DATABASE()),
    (SELECT GROUP_CONCAT(name) FROM mysql.event WHERE db = DATABASE()),
    (SELECT COUNT(*) FROM information_schema.triggers WHERE trigger_schema = DATABASE()),
    (SELECT GROUP_CONCAT(user ORDER BY user) FROM mysql.user WHERE user LIKE '{base}%'),
    (SELECT GROUP_CONCAT(table_name, table_priv ORDER BY table_name, user)
      FROM mysql.tables_priv WHERE db = DATABASE()),
    (SELECT next_not_cached_value FROM s)))
";

/// What one session has that another one has not. Each is asked by itself, for it may fail.
const SESSION: [&str; 4] = [
    "SELECT MD5(GROUP_CONCAT(variable_name, '=', session_value ORDER BY variable_name)) \
     FROM information_schema.system_variables WHERE session_value IS NOT NULL \
     AND variable_name NOT IN ('TIMESTAMP', 'RAND_SEED1', 'RAND_SEED2', 'IN_TRANSACTION', \
     'PSEUDO_THREAD_ID', 'ERROR_COUNT', 'WARNING_COUNT', 'LAST_GTID', 'INSERT_ID', \
     'TX_READ_ONLY', 'TRANSACTION_READ_ONLY', 'MAX_STATEMENT_TIME_ONCE')",
    "SELECT CONCAT_WS('|', COALESCE(DATABASE(), 'none'), @x)",
    "EXECUTE st",
    "SELECT a FROM temporary_one",
];

/// A server with both twins.
struct HarmedServer<'a> {
    it: &'a TestDatabase,
    folder: String,
    twins: [HarmedTwin; 2],
    /// What a session of Gatefold is set to.
    settings: Vec<String>,
    /// Nobody is there, but it refuses a statement by its first word before it looks.
    nowhere: MySqlServer,
    files: AtomicU32,
}

struct HarmedTwin {
    name: String,
    digest: Vec<String>,
    visible: VisibleSchema,
    source: MySqlServer,
    admin: Mutex<Option<MySqlConnection>>,
}

/// With a database for each half at the server of this address.
pub(crate) fn every_harm_is_stopped(address: &str) {
    let try_part = |part| TestDatabase::with(address, |it| try_part(it, part).boxed());
    try_halves(try_part).check("MariaDB");
}

async fn try_part(it: &TestDatabase, part: Part) -> HarmReport {
    let server = HarmedServer::new(it).await;
    let ping = async {
        let mut admin = it.admin().await;
        loop {
            let answer = timeout(ANSWER_TIME, scalar(&mut admin, "SELECT 'here'")).await;
            assert_eq!(answer.expect("the server answers others").as_deref(), Some("here"));
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let report = tokio::select! {
        report = try_harms(&server, "harms.mysql.sql", part) => report,
        () = ping => unreachable!("it has no end"),
    };
    server.remove().await;
    report
}

impl<'a> HarmedServer<'a> {
    async fn new(it: &'a TestDatabase) -> Self {
        let folder = it.ask("SELECT @@tmpdir").await.remove(0);
        let planted = format!("{folder}/{}_planted-5f1c", it.name);
        it.change(&format!("SELECT 'planted-5f1c' INTO OUTFILE '{planted}'")).await;
        let twins = [twin(it, "a", "").await, twin(it, "b", OTHER_SECRETS).await];
        let set = "SELECT variable_name, session_value FROM information_schema.system_variables \
             WHERE session_value <> global_value AND variable_name NOT LIKE '%READ_ONLY'";
        let set = twins[0].source.query(reading(set)).await.expect("it can be asked");
        let settings = set.rows.iter().map(|row| {
            let [name, value] = [0, 1].map(|at| row[at].as_str().unwrap_or_default());
            match value.parse::<f64>() {
                Ok(_) => format!("SET SESSION {name} = {value}"),
                Err(_) => format!("SET SESSION {name} = '{value}'"),
            }
        });
        let settings: Vec<_> = settings.collect();
        assert!(settings.iter().any(|set| set.contains("MAX_STATEMENT_TIME")), "{settings:?}");
        let nowhere = DatabaseAddress::parse("mysql://nobody@127.0.0.1:1/x").expect("it is one");
        let DatabaseAddress::Server(nowhere) = nowhere else { panic!("it is a server's") };
        let of_nowhere = DatabaseSettings::new(DatabaseAddress::Server(nowhere.clone()));
        let nowhere = MySqlServer::new(&nowhere, &of_nowhere);
        Self { it, folder, twins, settings, nowhere, files: AtomicU32::new(0) }
    }

    fn twin(&self, twin: Twin) -> &HarmedTwin {
        &self.twins[usize::from(twin == Twin::Second)]
    }

    async fn connect(&self, walls: Walls, twin: Twin) -> MySqlConnection {
        let user = match walls {
            Walls::Check => Some(self.it.writer()),
            Walls::Role => Some(self.it.reader()),
            _ => None,
        };
        connect(&self.it.address, user, &self.twin(twin).name).await
    }

    /// What the administrator of a twin reads.
    async fn look(&self, twin: Twin, sql: &str) -> Option<String> {
        let mut admin = self.twin(twin).admin.lock().await;
        if admin.is_none() {
            *admin = Some(self.connect(Walls::None, twin).await);
        }
        scalar(admin.as_mut().expect("it is connected"), sql).await
    }

    async fn peak_bytes(&self, twin: Twin, id: &str) -> u64 {
        let sql =
            format!("SELECT max_memory_used FROM information_schema.processlist WHERE id = '{id}'");
        self.look(twin, &sql).await.and_then(|bytes| bytes.parse().ok()).unwrap_or_default()
    }

    /// Whether another session waits for rows or tables, or a name is locked.
    async fn is_locked(&self, twin: Twin) -> bool {
        let named = format!("SELECT IS_USED_LOCK('{}')", self.twin(twin).name);
        let mut admin = self.connect(Walls::None, twin).await;
        let rows = admin.fetch_all("SELECT id FROM orders FOR UPDATE NOWAIT").await;
        let named = scalar(&mut admin, &named).await.is_some_and(|id| !id.is_empty());
        let _ = admin.close().await;
        rows.is_err() || named
    }

    async fn restore(&self, twin: Twin) {
        let HarmedTwin { name, admin, .. } = self.twin(twin);
        *admin.lock().await = None;
        let base = &self.it.name;
        fill(self.it, name, if twin == Twin::First { "" } else { OTHER_SECRETS }).await;
        let mut admin = self.it.admin().await;
        let _ = admin.execute(sqlx::raw_sql(AssertSqlSafe(format!("DROP USER {base}_evil")))).await;
        let revoke = format!("REVOKE DELETE ON {name}.orders FROM '{base}_r'@'%'");
        let _ = admin.execute(sqlx::raw_sql(AssertSqlSafe(revoke))).await;
    }

    async fn remove(self) {
        for HarmedTwin { name, source, .. } in &self.twins {
            source.close().await;
            self.it.change(&format!("DROP DATABASE IF EXISTS {name}")).await;
        }
        // The files are the server's, which may be another user's.
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        for entry in entries.filter(|entry| {
            entry.file_name().to_string_lossy().starts_with(&format!("{}_", self.it.name))
        }) {
            let _ = std::fs::remove_file(entry.path());
        }
    }

    fn filled(&self, sql: &str, twin: Twin, file: &str, victim: &str) -> String {
        let planted = format!("{}/{}_planted-5f1c", self.folder, self.it.name);
        let hex = planted.bytes().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
        sql.replace("{planted}", &planted)
            .replace("{planted_hex}", &hex)
            .replace("{file}", file)
            .replace("{victim}", victim)
            .replace("{name}", &self.twin(twin).name)
            .replace("{base}", &self.it.name)
    }

    /// Sends a statement in a session of our own with one wall at most.
    async fn run_alone(&self, walls: Walls, twin: Twin, harm: Harm, sql: &str) -> Observed {
        let mut seen = Observed::default();
        let refused = |seen| Observed { answer: "refused".to_owned(), ..seen };
        let (sql, masked) = match walls {
            Walls::Guard => match Guard::new(&self.twin(twin).visible).check(sql) {
                Ok(checked) => (checked.sql, checked.masked),
                Err(_) => return refused(seen),
            },
            _ => (sql.to_owned(), Vec::new()),
        };
        let mut session = self.connect(walls, twin).await;
        let id = scalar(&mut session, "SELECT CONNECTION_ID()").await.unwrap_or_default();
        match walls {
            Walls::Session => {
                if matches!(
                    self.nowhere.query(reading(&sql)).await,
                    Err(DatabaseError::Statement { .. })
                ) {
                    return refused(seen);
                }
                let settings = self.settings.join("; ") + "; START TRANSACTION READ WRITE";
                session.execute(sqlx::raw_sql(AssertSqlSafe(settings))).await.expect("it is set");
            }
            Walls::Transaction => {
                let begin = "SET SESSION TRANSACTION READ ONLY; START TRANSACTION READ ONLY";
                session.execute(sqlx::raw_sql(begin)).await.expect("it begins");
            }
            // A transaction of XA cannot begin within one.
            _ if harm == Harm::Locks || harm == Harm::Writes && !sql.starts_with("XA") => {
                session.execute(sqlx::raw_sql("START TRANSACTION")).await.expect("it begins");
            }
            _ => {}
        }
        let before = match harm {
            Harm::ChangesSession => state(&mut session).await,
            _ => Vec::new(),
        };
        let peak = if harm == Harm::EatsMemory { self.peak_bytes(twin, &id).await } else { 0 };
        let bound = match (harm, walls) {
            (Harm::Hangs, Walls::Session) => BOUND,
            (Harm::Hangs, _) => HANGING,
            _ => QUICK,
        };
        let answered = timeout(bound, answer(&mut session, walls, &sql, &masked));
        let Ok(answer) = answered.await else {
            seen.outlived = true;
            let mut killer = self.connect(Walls::None, twin).await;
            let _ = killer.execute(sqlx::raw_sql(AssertSqlSafe(format!("KILL {id}")))).await;
            return seen;
        };
        seen.answer = answer;
        if harm == Harm::Writes && walls != Walls::Transaction {
            // Undone after it was seen, since tables that are made anew take a quarter of a second.
            seen.changed_tables = self.digest(twin).await != self.twin(twin).digest;
            let _ = session.execute("ROLLBACK").await;
        }
        if walls == Walls::Transaction {
            let _ = session.execute("ROLLBACK").await;
        }
        match harm {
            Harm::Locks => seen.held_lock = self.is_locked(twin).await,
            Harm::ChangesSession => seen.changed_session = state(&mut session).await != before,
            Harm::EatsMemory => {
                seen.eaten_bytes = self.peak_bytes(twin, &id).await.saturating_sub(peak);
            }
            _ => {}
        }
        let _ = timeout(QUICK, session.close()).await;
        seen
    }

    /// Sends a statement as a model does.
    async fn run_behind_all(&self, twin: Twin, sql: &str) -> Observed {
        let HarmedTwin { visible, source, .. } = self.twin(twin);
        let mut seen = Observed::default();
        let checked = match Guard::new(visible).check(sql) {
            Ok(checked) => checked,
            Err(error) => return Observed { answer: error.to_string(), ..seen },
        };
        let mine = async |sql| {
            let query = ReadQuery { timeout: QUICK, ..reading(sql) };
            source.query(query).await.map(|rows| first(&rows)).ok()
        };
        let before = mine(SESSION[0]).await;
        let id = mine("SELECT CONNECTION_ID()").await.unwrap_or_default();
        let peak = self.peak_bytes(twin, &id).await;
        let query = ReadQuery { masked: checked.masked, ..reading(&checked.sql) };
        match timeout(BOUND, source.query(query)).await {
            Ok(Ok(rows)) => seen.answer = format!("{:?}", rows.rows),
            Ok(Err(DatabaseError::Statement { message, .. })) => seen.answer = message,
            Ok(Err(error)) => seen.answer = error.to_string(),
            Err(_) => seen.outlived = true,
        }
        seen.eaten_bytes = self.peak_bytes(twin, &id).await.saturating_sub(peak);
        seen.held_lock = self.is_locked(twin).await;
        seen.changed_session = mine(SESSION[0]).await != before;
        seen
    }

    async fn digest(&self, twin: Twin) -> Vec<String> {
        let mut look = self.connect(Walls::None, twin).await;
        let digest = digest(&mut look, &self.it.name).await;
        let _ = look.close().await;
        digest
    }
}

impl HarmedDatabase for HarmedServer<'_> {
    fn walls(&self) -> Vec<Walls> {
        vec![Walls::Guard, Walls::Transaction, Walls::Session, Walls::Check, Walls::Role]
    }

    fn marks(&self) -> &[&str] {
        &["planted-5f1c", "tok-7f3a", "tok-99b2", PASSWORD_HASH]
    }

    async fn observe(&self, walls: Walls, twin: Twin, harm: Harm, sql: &str) -> Observed {
        let mut victim = match harm {
            Harm::EndsOthers => Some(self.connect(Walls::None, twin).await),
            _ => None,
        };
        let id = match &mut victim {
            Some(victim) => scalar(victim, "SELECT CONNECTION_ID()").await,
            None => None,
        };
        // The server does not write to a file that is there, and cannot remove one.
        let file = self.files.fetch_add(1, Ordering::Relaxed);
        let file = format!("{}/{}_harm{file}", self.folder, self.it.name);
        let sql = self.filled(sql, twin, &file, id.as_deref().unwrap_or_default());
        let mut seen = match walls {
            Walls::All => self.run_behind_all(twin, &sql).await,
            _ => self.run_alone(walls, twin, harm, &sql).await,
        };
        if let Some(victim) = &mut victim {
            tokio::time::sleep(Duration::from_millis(100)).await;
            seen.ended_other = scalar(victim, "SELECT 'alive'").await.is_none();
        }
        // What a statement names itself is no news.
        seen.answer = seen.answer.replace(&file, "FILE").replace(&self.twin(twin).name, "NAME");
        if harm == Harm::WritesFile || walls == Walls::All {
            let written = format!("SELECT LOAD_FILE('{file}') IS NOT NULL");
            seen.wrote_file = self.look(twin, &written).await.as_deref() == Some("1");
        }
        let is_looked_at = harm != Harm::Hangs || walls == Walls::All;
        if is_looked_at && self.digest(twin).await != self.twin(twin).digest {
            seen.changed_tables = true;
            self.restore(twin).await;
        }
        seen
    }
}

async fn connect(address: &ServerAddress, user: Option<String>, database: &str) -> MySqlConnection {
    // The driver leaves Nagle's algorithm on, and with TLS each of thousands of connections waits 40 ms for it.
    let mut options = MySqlConnectOptions::new()
        .port(address.port)
        .statement_cache_capacity(1)
        .ssl_mode(MySqlSslMode::Disabled);
    if let gatefold_sql::ServerPlace::Host(host) = &address.place {
        options = options.host(host);
    }
    options = match (user, &address.password) {
        (Some(user), _) => options.username(&user).password(PASSWORD),
        (None, password) => {
            let options = options.username(address.user.as_deref().unwrap_or("root"));
            match password {
                Some(password) => options.password(password.expose()),
                None => options,
            }
        }
    };
    // A database that a statement dropped is no reason to fail here.
    let mut connection = options.connect().await.expect("it connects");
    let _ = connection.execute(sqlx::raw_sql(AssertSqlSafe(format!("USE {database}")))).await;
    connection
}

/// Makes a twin's tables anew.
async fn fill(it: &TestDatabase, name: &str, other: &str) {
    let mut admin = it.admin().await;
    let setup = text("harms.mysql.setup.sql");
    let anew = format!(
        "DROP DATABASE IF EXISTS {name}; CREATE DATABASE {name} CHARACTER SET utf8mb4; USE {name}"
    );
    for sql in [&anew, &text("schema.mysql.sql")] {
        admin.execute(sqlx::raw_sql(AssertSqlSafe(sql.as_str()))).await.expect(sql);
    }
    // Statements within a routine end with semicolons too, but not their lines.
    for sql in setup.split(";\n") {
        admin.execute(sqlx::raw_sql(AssertSqlSafe(sql))).await.expect(sql);
    }
    if !other.is_empty() {
        admin.execute(sqlx::raw_sql(AssertSqlSafe(other))).await.expect(other);
    }
}

async fn twin(it: &TestDatabase, suffix: &str, other: &str) -> HarmedTwin {
    let name = format!("{}_{suffix}", it.name);
    fill(it, &name, other).await;
    let (reader, writer) = (it.reader(), it.writer());
    it.change(&format!(
        "GRANT SELECT ON {name}.departments TO '{reader}'@'%';
         GRANT SELECT ON {name}.orders TO '{reader}'@'%';
         GRANT SELECT ON {name}.big TO '{reader}'@'%';
         GRANT SELECT ON {name}.words TO '{reader}'@'%';
         GRANT SELECT (id, name, email, manager_id, department_id, hired_at, data)
           ON {name}.employees TO '{reader}'@'%';
         GRANT ALL ON {name}.* TO '{writer}'@'%';"
    ))
    .await;
    let mut admin = connect(&it.address, None, &name).await;
    let digest = digest(&mut admin, &it.name).await;
    let (mut address, mut settings) = it.settings(&reader);
    address.database = Some(name.clone());
    settings.address = DatabaseAddress::Server(address.clone());
    settings.statement_timeout = TIMEOUT;
    let source = MySqlServer::new(&address, &settings);
    let schema = source.read_schema().await.expect("the schema can be read");
    let rules = closed_rules(&["secrets", "vault"]);
    let visible = VisibleSchema::new(Dialect::MariaDb, &schema, &rules);
    HarmedTwin { name, digest, visible, source, admin: Mutex::new(Some(admin)) }
}

async fn digest(admin: &mut MySqlConnection, base: &str) -> Vec<String> {
    // What a statement did shows before its transaction ends.
    let uncommitted = "SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED";
    let _ = admin.execute(sqlx::raw_sql(uncommitted)).await;
    let sums = admin.fetch_all(sqlx::raw_sql(SUMS)).await.unwrap_or_default();
    let mut digest: Vec<_> = sums.iter().map(|row| cell(row, 1)).collect();
    digest.push(scalar(admin, &NAMES.replace("{base}", base)).await.unwrap_or_default());
    digest
}

async fn state(session: &mut MySqlConnection) -> Vec<Option<String>> {
    let mut state = Vec::new();
    for sql in SESSION {
        state.push(scalar(session, sql).await);
    }
    state
}

fn reading(sql: &str) -> ReadQuery {
    ReadQuery {
        sql: sql.to_owned(),
        masked: Vec::new(),
        max_rows: 1_000,
        max_bytes: 1 << 20,
        timeout: TIMEOUT,
    }
}

fn first(rows: &QueryRows) -> String {
    match &rows.rows[0][0] {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The first cell, where there is a row.
async fn scalar(session: &mut MySqlConnection, sql: &str) -> Option<String> {
    let rows = session.fetch_all(sqlx::raw_sql(AssertSqlSafe(sql))).await.ok()?;
    Some(rows.first().map(|row| cell(row, 0)).unwrap_or_default())
}

/// The first rows of a statement, as texts.
async fn answer(
    session: &mut MySqlConnection,
    walls: Walls,
    sql: &str,
    masked: &[usize],
) -> String {
    let rows = match walls {
        Walls::Session => session.fetch(sqlx::query(AssertSqlSafe(sql))),
        _ => session.fetch(sqlx::raw_sql(AssertSqlSafe(sql))),
    };
    answer_text(rows, masked, cell).await
}

fn cell(row: &MySqlRow, at: usize) -> String {
    let value = row.try_get_unchecked::<Option<Vec<u8>>, _>(at).ok().flatten();
    String::from_utf8_lossy(&value.unwrap_or_default()).into_owned()
}
