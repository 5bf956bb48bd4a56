//! What each wall stops by itself, of statements that do harm where none stands.

use std::time::Duration;

use futures::FutureExt as _;
use gatefold_sql::{
    Database as _, DatabaseError, Guard, Postgres, ReadQuery, TableRules, VisibleSchema,
};
use sqlx::postgres::{PgConnectOptions, PgRow, PgSslMode};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection, Row as _};
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::harms::{
    BOUND, HANGING, Harm, HarmReport, HarmedDatabase, Observed, Part, TIMEOUT, Twin, Walls,
    answer_text, closed_rules, failure, try_halves, try_harms,
};
use crate::server::{PASSWORD, TestDatabase, open, run};
use crate::statements::text;

/// How long a statement may take that is none of those that hang.
const QUICK: Duration = Duration::from_secs(20);

/// How long the server may take to answer somebody else.
const ANSWER_TIME: Duration = Duration::from_secs(2);

/// What the second twin has instead of the first one's secrets.
const OTHER_SECRETS: &str = "
    ALTER TABLE secrets RENAME TO vault;
    UPDATE vault SET token = 'other' || id;
    INSERT INTO vault SELECT g, 'more' FROM generate_series(3, 900) AS g;
    UPDATE employees SET salary = CASE id WHEN 1 THEN 1000 WHEN 2 THEN 2000 WHEN 3 THEN 3000
      ELSE 12000 END, email = CASE id WHEN 1 THEN 'zoe@corp.example' WHEN 3 THEN 'cy@corp.example'
      WHEN 2 THEN NULL ELSE 'ann@corp.example' END;
    ANALYZE;
";

/// All that is in the tables, and all there is beside them.
const DIGEST: &str = "
    SELECT md5(concat_ws(' ', (SELECT string_agg(t::text, ',' ORDER BY id) FROM employees t),
    (SELECT string_agg(t::text, ',' ORDER BY id) FROM orders t),
    (SELECT string_agg(t::text, ',' ORDER BY id) FROM departments t),
    (SELECT string_agg(t::text, ',' ORDER BY id) FROM peek t),
    (SELECT string_agg(concat(c.oid, relname, relkind, relacl, relnatts), ',' ORDER BY c.oid)
      FROM pg_class c WHERE relpersistence <> 't'
      AND relnamespace NOT IN (SELECT oid FROM pg_namespace WHERE nspname ~ '^pg_toast')),
    (SELECT string_agg(concat(last_value, is_called), ',') FROM s),
    (SELECT string_agg(concat(oid, proname), ',' ORDER BY oid) FROM pg_proc),
    (SELECT string_agg(concat(oid, typname), ',' ORDER BY oid) FROM pg_type t
      WHERE NOT EXISTS (SELECT FROM pg_namespace n WHERE n.oid = typnamespace AND nspname ~ '^pg_')),
    (SELECT string_agg(concat(nspname, nspacl), ',' ORDER BY oid) FROM pg_namespace
      WHERE nspname !~ '^pg_'),
    (SELECT string_agg(concat(loid, data), ',' ORDER BY loid) FROM pg_largeobject),
    (SELECT string_agg(oid::text, ',' ORDER BY oid) FROM pg_largeobject_metadata),
    (SELECT string_agg(description, ',' ORDER BY objoid) FROM pg_description WHERE objoid > 16384),
    (SELECT count(*) FROM pg_trigger), (SELECT count(*) FROM pg_rewrite),
    (SELECT count(*) FROM pg_default_acl), (SELECT count(*) FROM pg_extension),
    (SELECT string_agg(concat(rolname, rolsuper, rolcreatedb, rolcreaterole), ',' ORDER BY oid)
      FROM pg_roles WHERE starts_with(rolname, '{base}')),
    (SELECT count(*) FROM pg_auth_members m JOIN pg_roles r ON r.oid = m.member
      WHERE starts_with(r.rolname, '{base}')),
    (SELECT count(*) FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase
      WHERE d.datname = current_database()),
    (SELECT count(*) FROM pg_replication_slots WHERE starts_with(slot_name, '{base}'))))
";

/// What one session has that another one has not.
const SESSION: &str = "
    SELECT md5(concat_ws(' ', current_user, session_user,
    (SELECT string_agg(concat(name, setting), ',' ORDER BY name) FROM pg_settings
      WHERE NOT starts_with(name, 'transaction_') AND strpos(name, '.') = 0),
    (SELECT string_agg(name, ',') FROM pg_prepared_statements WHERE statement ~ 'orders'),
    (SELECT string_agg(name, ',') FROM pg_cursors WHERE is_holdable),
    (SELECT string_agg(c, ',') FROM pg_listening_channels() AS c),
    (SELECT string_agg(relname, ',') FROM pg_class WHERE relpersistence = 't'
      AND relnamespace = pg_my_temp_schema())))
";

const LOCKS: &str = "
    SELECT count(*)::text FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
    WHERE (l.locktype = 'advisory' OR l.locktype = 'relation' AND l.mode <> 'AccessShareLock')
    AND a.datname = current_database() AND a.backend_type = 'client backend' AND a.pid <> pg_backend_pid()
";

/// A server with both twins.
struct HarmedServer<'a> {
    it: &'a TestDatabase,
    data: String,
    twins: [HarmedTwin; 2],
    /// What a transaction of Gatefold is set to, and the cursor that it declares for `SELECT 0`.
    settings: String,
    cursor: String,
}

struct HarmedTwin {
    name: String,
    digest: String,
    visible: VisibleSchema,
    source: Postgres,
    admin: Mutex<Option<PgConnection>>,
}

/// With a database for each half at the server of this address.
pub(crate) fn every_harm_is_stopped(address: &str) {
    let try_part = |part| TestDatabase::with(address, |it| try_part(it, part).boxed());
    try_halves(try_part).check("PostgreSQL");
}

async fn try_part(it: &TestDatabase, part: Part) -> HarmReport {
    let server = HarmedServer::new(it).await;
    let ping = async {
        loop {
            let answer = timeout(ANSWER_TIME, it.read("SELECT '1'")).await;
            assert_eq!(answer.expect("the server answers others"), "1");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let report = tokio::select! {
        report = try_harms(&server, "harms.postgres.sql", part) => report,
        () = ping => unreachable!("it has no end"),
    };
    server.remove().await;
    report
}

impl<'a> HarmedServer<'a> {
    async fn new(it: &'a TestDatabase) -> Self {
        let base = it.name();
        run(&it.admin, format!("CREATE ROLE {base}_writer LOGIN PASSWORD '{PASSWORD}'")).await;
        run(&it.admin, format!("GRANT pg_write_all_data, pg_signal_backend TO {base}_writer"))
            .await;
        let data = it.read("SHOW data_directory").await;
        let planted = format!("COPY (SELECT 'planted-5f1c') TO '{data}/{base}_planted-5f1c'");
        run(&it.admin, planted).await;
        let twins = [twin(it, "a", "").await, twin(it, "b", OTHER_SECRETS).await];
        let asked = twins[0].source.query(reading(
            "SELECT string_agg(format('set_config(%L, %L, true)', name, setting), ', ') \
             FROM pg_settings WHERE source = 'session'",
        ));
        let settings = text_of(&asked.await.expect("it can be asked"));
        let asked = twins[0].source.query(reading("SELECT statement FROM pg_cursors"));
        let cursor = text_of(&asked.await.expect("it can be asked"));
        assert!(cursor.contains("SELECT statement FROM pg_cursors"), "{cursor}");
        Self { it, data, twins, settings, cursor }
    }

    fn twin(&self, twin: Twin) -> &HarmedTwin {
        &self.twins[usize::from(twin == Twin::Second)]
    }

    async fn connect(&self, walls: Walls, twin: Twin) -> PgConnection {
        let base = self.it.name();
        let options = (*self.it.admin.connect_options()).clone();
        let options = options.database(&self.twin(twin).name).ssl_mode(PgSslMode::Disable);
        let options = match walls {
            Walls::Check => options.username(&format!("{base}_writer")).password(PASSWORD),
            Walls::Role => options.username(&self.it.reader).password(PASSWORD),
            _ => options,
        };
        PgConnection::connect_with(&options).await.expect("it connects")
    }

    /// What the administrator of a twin reads.
    async fn look(&self, twin: Twin, sql: &str) -> Option<String> {
        let mut admin = self.twin(twin).admin.lock().await;
        if admin.is_none() {
            *admin = Some(self.connect(Walls::None, twin).await);
        }
        let admin = admin.as_mut().expect("it is connected");
        let sql = sql.replace("{base}", self.it.name());
        scalar(admin, &sql).await
    }

    async fn files(&self) -> String {
        let base = self.it.name();
        let files = format!(
            "SELECT string_agg(f, ',') FROM pg_ls_dir('.') AS f \
             WHERE starts_with(f, '{base}_harm')"
        );
        self.it.read(&files).await
    }

    async fn peak_bytes(&self, pid: &str) -> u64 {
        let sql =
            format!("SELECT substring(pg_read_file('/proc/{pid}/status') FROM 'VmHWM:\\s+(\\d+)')");
        self.it.read(&sql).await.parse::<u64>().unwrap_or_default() << 10
    }

    async fn restore(&self, twin: Twin) {
        let base = self.it.name();
        let HarmedTwin { name, admin, source, .. } = self.twin(twin);
        // Connections of the source die with the database.
        let _ = source.query(reading("SELECT 1")).await;
        *admin.lock().await = None;
        for sql in [
            format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"),
            format!("CREATE DATABASE {name} TEMPLATE {name}_t"),
            format!("DROP ROLE IF EXISTS {base}_a_evil, {base}_b_evil"),
            format!("ALTER ROLE {} NOCREATEDB", self.it.reader),
            format!("REVOKE pg_read_server_files FROM {}", self.it.reader),
            format!(
                "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots \
                 WHERE starts_with(slot_name, '{base}')"
            ),
        ] {
            run(&self.it.admin, sql).await;
        }
    }

    async fn remove(self) {
        let base = self.it.name();
        run(
            &self.it.admin,
            format!("COPY (SELECT 1) TO PROGRAM 'cat >/dev/null; rm -f {}/{base}_*'", self.data),
        )
        .await;
        for HarmedTwin { name, source, .. } in &self.twins {
            source.close().await;
            run(&self.it.admin, format!("DROP DATABASE {name} WITH (FORCE)")).await;
            run(&self.it.admin, format!("DROP DATABASE {name}_t WITH (FORCE)")).await;
        }
    }

    fn filled(&self, sql: &str, twin: Twin, victim: &str) -> String {
        let options: PgConnectOptions = (*self.it.admin.connect_options()).clone();
        let name = &self.twin(twin).name;
        let password = self.it.address.password.as_ref().map_or("", |password| password.expose());
        let dblink = format!(
            "host=127.0.0.1 port={} dbname={name} user={} password={}",
            options.get_port(),
            options.get_username(),
            if password.is_empty() { "none" } else { password }
        );
        let (data, base) = (&self.data, self.it.name());
        sql.replace("{dblink}", &dblink)
            .replace("{planted}", &format!("{data}/{base}_planted-5f1c"))
            .replace("{file}", &format!("{data}/{base}_harm"))
            .replace("{victim}", victim)
            .replace("{name}", name)
            .replace("{reader}", &self.it.reader)
    }

    /// What is sent before a statement.
    fn beginning(&self, walls: Walls, harm: Harm, is_undone: bool) -> String {
        // Logging in with a password takes longer than the statement.
        let role = match walls {
            Walls::Check => format!("{}_writer", self.it.name()),
            Walls::Role => self.it.reader.clone(),
            _ => "DEFAULT".to_owned(),
        };
        let authorization = match harm {
            Harm::ChangesSession => "SELECT 1".to_owned(),
            _ => format!("SET SESSION AUTHORIZATION {role}"),
        };
        let begin = match walls {
            Walls::Transaction => "; BEGIN TRANSACTION READ ONLY",
            Walls::Session => {
                let settings = &self.settings;
                return format!("{authorization}; BEGIN TRANSACTION READ WRITE; SELECT {settings}");
            }
            _ if is_undone || harm == Harm::Locks => "; BEGIN",
            _ => "",
        };
        authorization + begin
    }

    /// Sends a statement in a session of our own with one wall at most.
    async fn run_alone(&self, walls: Walls, twin: Twin, harm: Harm, sql: &str) -> Observed {
        let mut seen = Observed::default();
        let (sql, masked) = match walls {
            Walls::Guard => match Guard::new(&self.twin(twin).visible).check(sql) {
                Ok(checked) => (checked.sql, checked.masked),
                Err(_) => return Observed { answer: "refused".to_owned(), ..seen },
            },
            _ => (sql.to_owned(), Vec::new()),
        };
        // A write is undone after it was seen, since a database that is made anew takes half a
        // second. A procedure may end transactions only where none was begun.
        let is_undone = harm == Harm::Writes && !sql.starts_with("CALL");
        let mut session = match harm {
            Harm::ChangesSession => self.connect(walls, twin).await,
            _ => self.connect(Walls::None, twin).await,
        };
        let pid = scalar(&mut session, "SELECT pg_backend_pid()::text").await.unwrap_or_default();
        let before = match harm {
            Harm::ChangesSession => scalar(&mut session, SESSION).await,
            Harm::EatsMemory => Some(self.peak_bytes(&pid).await.to_string()),
            _ => None,
        };
        let begin = self.beginning(walls, harm, is_undone);
        session.execute(sqlx::raw_sql(AssertSqlSafe(begin))).await.expect("it begins");
        let bound = match (harm, walls) {
            (Harm::Hangs, Walls::Session) => BOUND,
            (Harm::Hangs, _) => HANGING,
            _ => QUICK,
        };
        let answered = timeout(bound, self.answered(&mut session, walls, &sql, &masked));
        let Ok(answer) = answered.await else {
            seen.outlived = true;
            self.it.read(&format!("SELECT pg_terminate_backend({pid})::text")).await;
            return seen;
        };
        seen.answer = answer;
        if is_undone && walls != Walls::Transaction && seen.answer != "failed" {
            let _ = session.execute("RESET SESSION AUTHORIZATION").await;
            let digest = scalar(&mut session, &DIGEST.replace("{base}", self.it.name())).await;
            // A table that is gone is a change as well.
            seen.changed_tables = digest.as_ref() != Some(&self.twin(twin).digest);
        }
        if is_undone || walls == Walls::Transaction {
            let _ = session.execute("ROLLBACK").await;
        } else if walls == Walls::Session {
            let _ = session.execute("COMMIT").await;
        }
        match harm {
            Harm::Locks => seen.held_lock = self.look(twin, LOCKS).await.as_deref() != Some("0"),
            Harm::ChangesSession => {
                seen.changed_session = scalar(&mut session, SESSION).await != before;
            }
            Harm::EatsMemory => {
                let before = before.and_then(|before| before.parse().ok()).unwrap_or(0);
                seen.eaten_bytes = self.peak_bytes(&pid).await.saturating_sub(before);
            }
            _ => {}
        }
        let _ = session.close().await;
        seen
    }

    async fn answered(
        &self,
        session: &mut PgConnection,
        walls: Walls,
        sql: &str,
        masked: &[usize],
    ) -> String {
        if walls != Walls::Session {
            return answer(session, sql, masked).await;
        }
        let declare = self.cursor.replace("SELECT statement FROM pg_cursors", sql);
        let declared = sqlx::query(AssertSqlSafe(declare)).persistent(false);
        match declared.execute(&mut *session).await {
            Ok(_) => answer(session, "FETCH FORWARD 1001 FROM gatefold", masked).await,
            Err(error) => failure(&error),
        }
    }

    /// Sends a statement as a model does.
    async fn run_behind_all(&self, twin: Twin, sql: &str) -> Observed {
        let HarmedTwin { visible, source, .. } = self.twin(twin);
        let mut seen = Observed::default();
        let checked = match Guard::new(visible).check(sql) {
            Ok(checked) => checked,
            Err(error) => return Observed { answer: error.to_string(), ..seen },
        };
        let mine = async |sql: &str| {
            let query = ReadQuery { timeout: QUICK, ..reading(sql) };
            source.query(query).await.map(|rows| text_of(&rows)).ok()
        };
        // What is left of a statement's own time differs from one to the next.
        let session = SESSION.replace("strpos", "name <> 'statement_timeout' AND strpos");
        let before = mine(&session).await;
        let pid = mine("SELECT pg_backend_pid()::text").await.unwrap_or_default();
        let peak = self.peak_bytes(&pid).await;
        let query = ReadQuery { masked: checked.masked, ..reading(&checked.sql) };
        match timeout(BOUND, source.query(query)).await {
            Ok(Ok(rows)) => seen.answer = format!("{:?}", rows.rows),
            Ok(Err(DatabaseError::Statement { message, .. })) => seen.answer = message,
            Ok(Err(error)) => seen.answer = error.to_string(),
            Err(_) => seen.outlived = true,
        }
        seen.eaten_bytes = self.peak_bytes(&pid).await.saturating_sub(peak);
        seen.held_lock = self.look(twin, LOCKS).await.as_deref() != Some("0");
        seen.changed_session = mine(&session).await != before;
        seen
    }
}

impl HarmedDatabase for HarmedServer<'_> {
    fn walls(&self) -> Vec<Walls> {
        vec![Walls::Guard, Walls::Transaction, Walls::Session, Walls::Check, Walls::Role]
    }

    fn marks(&self) -> &[&str] {
        &["planted-5f1c", "tok-7f3a", "tok-99b2", "SCRAM-SHA-256"]
    }

    async fn observe(&self, walls: Walls, twin: Twin, harm: Harm, sql: &str) -> Observed {
        let mut victim = match harm {
            Harm::EndsOthers => Some(self.connect(Walls::Check, twin).await),
            _ => None,
        };
        let pid = match &mut victim {
            Some(victim) => scalar(victim, "SELECT pg_backend_pid()::text").await,
            None => None,
        };
        let sql = self.filled(sql, twin, pid.as_deref().unwrap_or_default());
        let mut seen = match walls {
            Walls::All => self.run_behind_all(twin, &sql).await,
            _ => self.run_alone(walls, twin, harm, &sql).await,
        };
        if let Some(victim) = &mut victim {
            tokio::time::sleep(Duration::from_millis(100)).await;
            seen.ended_other = scalar(victim, "SELECT 'alive'").await.is_none();
        }
        // What a statement names itself is no news.
        seen.answer = seen.answer.replace(&self.twin(twin).name, "NAME");
        if harm != Harm::Hangs || walls == Walls::All {
            // A table that is gone is a change as well.
            let digest = self.look(twin, DIGEST).await.unwrap_or_default();
            if digest != self.twin(twin).digest {
                seen.changed_tables = true;
                self.restore(twin).await;
            }
            if matches!(harm, Harm::WritesFile) || walls == Walls::All {
                seen.wrote_file = !self.files().await.is_empty();
            }
            if seen.wrote_file {
                let remove = format!(
                    "COPY (SELECT 1) TO PROGRAM 'cat >/dev/null; rm -f {}/{}_harm'",
                    self.data,
                    self.it.name()
                );
                run(&self.it.admin, remove).await;
            }
        }
        seen
    }
}

/// Makes one twin, and the template that it is restored from.
async fn twin(it: &TestDatabase, suffix: &str, other: &str) -> HarmedTwin {
    let (base, reader) = (it.name(), &it.reader);
    let name = format!("{base}_{suffix}");
    let template = format!("{name}_t");
    run(&it.admin, format!("CREATE DATABASE {template} TEMPLATE template0")).await;
    let options = (*it.admin.connect_options()).clone().database(&template);
    let mut admin = PgConnection::connect_with(&options).await.expect("it connects");
    let grants = format!(
        "ANALYZE; GRANT SELECT ON departments, orders, big, keyed, m TO {reader};
         GRANT SELECT (id, name, email, manager_id, department_id, hired_at, data)
           ON employees TO {reader};
         GRANT ALL ON ALL TABLES IN SCHEMA public TO {base}_writer;
         GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO {base}_writer;
         GRANT ALL ON SCHEMA public TO {base}_writer;
         GRANT ALL ON DATABASE {template} TO {base}_writer;"
    );
    for sql in [&text("schema.postgres.sql"), &text("harms.postgres.setup.sql"), &grants, other] {
        admin.execute(sqlx::raw_sql(AssertSqlSafe(sql))).await.expect(sql);
    }
    admin.close().await.expect("it closes");
    run(&it.admin, format!("CREATE DATABASE {name} TEMPLATE {template}")).await;
    let options = options.database(&name);
    let mut admin = PgConnection::connect_with(&options).await.expect("it connects");
    let digest = sqlx::query_scalar(AssertSqlSafe(DIGEST.replace("{base}", base)));
    let digest = digest.fetch_one(&mut admin).await.expect("it has a digest");
    let mut settings = it.settings();
    if let gatefold_sql::DatabaseAddress::Server(address) = &mut settings.address {
        address.database = Some(name.clone());
    }
    settings.statement_timeout = TIMEOUT;
    let source = open(&settings);
    let schema = source.read_schema().await.expect("the schema can be read");
    let rules: TableRules = closed_rules(&["secrets", "vault"]);
    let visible = VisibleSchema::new(gatefold_sql::Dialect::Postgres, &schema, &rules);
    HarmedTwin { name, digest, visible, source, admin: Mutex::new(Some(admin)) }
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

fn text_of(rows: &gatefold_sql::QueryRows) -> String {
    rows.rows[0][0].as_str().unwrap_or_default().to_owned()
}

async fn scalar(session: &mut PgConnection, sql: &str) -> Option<String> {
    let rows = session.fetch_all(sqlx::raw_sql(AssertSqlSafe(sql))).await.ok()?;
    Some(cell(rows.first()?, 0))
}

/// The first rows of a statement, as texts.
async fn answer(session: &mut PgConnection, sql: &str, masked: &[usize]) -> String {
    let rows = session.fetch(sqlx::raw_sql(AssertSqlSafe(sql)));
    answer_text(rows, masked, cell).await
}

fn cell(row: &PgRow, at: usize) -> String {
    let value = row.try_get_raw(at).expect("it is there");
    value.as_str().unwrap_or_default().to_owned()
}
