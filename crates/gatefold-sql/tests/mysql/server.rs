//! A database of a test's own, with a user who reads and one who writes.

use std::panic::{AssertUnwindSafe, resume_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_core::Secret;
use gatefold_sql::{
    Database, DatabaseAddress, DatabaseError, DatabaseSettings, MySqlServer, QueryRows, ReadQuery,
    ServerAddress, Writes,
};
use serde_json::Value;
use sqlx::mysql::{MySqlConnectOptions, MySqlRow};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Executor as _, MySqlConnection, Row as _};

pub(crate) const TIMEOUT: Duration = Duration::from_secs(20);

pub(crate) const PASSWORD: &str = "a pass'word of tests";

/// What a test claims, on a database of its own.
pub(crate) type Claim = fn(&TestDatabase) -> BoxFuture<'_, ()>;

pub(crate) struct TestDatabase {
    pub(crate) address: ServerAddress,
    pub(crate) name: String,
}

impl TestDatabase {
    pub(crate) fn with<T>(
        address: &str,
        claim: impl FnOnce(&TestDatabase) -> BoxFuture<'_, T>,
    ) -> T {
        static COUNT: AtomicU32 = AtomicU32::new(0);

        let DatabaseAddress::Server(address) = DatabaseAddress::parse(address).unwrap() else {
            panic!("not a server");
        };
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        // Of one width, so that none is the beginning of another.
        let name = format!("gatefold_{}_{count:03}", std::process::id());
        let database = Self { address, name };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let result = runtime.block_on(async {
            database.make().await;
            let result = AssertUnwindSafe(claim(&database)).catch_unwind().await;
            database.remove().await;
            result
        });
        result.unwrap_or_else(|panic| resume_unwind(panic))
    }

    pub(crate) fn reader(&self) -> String {
        format!("{}_r", self.name)
    }

    pub(crate) fn writer(&self) -> String {
        format!("{}_w", self.name)
    }

    /// Settings of a user of this database.
    pub(crate) fn settings(&self, user: &str) -> (ServerAddress, DatabaseSettings) {
        let mut address = self.address.clone();
        address.user = Some(user.to_owned());
        address.password = None;
        address.database = Some(self.name.clone());
        let mut settings = DatabaseSettings::new(DatabaseAddress::Server(address.clone()));
        settings.password = Some(Secret::new(PASSWORD));
        settings.connections = 2;
        (address, settings)
    }

    /// The database as its reader sees it.
    pub(crate) fn open(&self) -> MySqlServer {
        let (address, settings) = self.settings(&self.reader());
        MySqlServer::new(&address, &settings)
    }

    /// The database as its writer sees it.
    pub(crate) fn open_for_writing(&self) -> MySqlServer {
        let (address, mut settings) = self.settings(&self.writer());
        settings.writes = Writes::Ask;
        MySqlServer::new(&address, &settings)
    }

    /// The administrator's own connection, with a driver's settings.
    pub(crate) async fn admin(&self) -> MySqlConnection {
        let mut options = MySqlConnectOptions::new()
            .port(self.address.port)
            .username(self.address.user.as_deref().unwrap_or("root"));
        if let gatefold_sql::ServerPlace::Host(host) = &self.address.place {
            options = options.host(host);
        }
        if let Some(password) = &self.address.password {
            options = options.password(password.expose());
        }
        let mut connection = options.connect().await.unwrap();
        let sql =
            format!("CREATE DATABASE IF NOT EXISTS {0} CHARACTER SET utf8mb4; USE {0}", self.name);
        connection.execute(sqlx::raw_sql(AssertSqlSafe(sql))).await.unwrap();
        connection
    }

    /// Runs statements as the administrator.
    pub(crate) async fn change(&self, sql: &str) {
        self.admin().await.execute(sqlx::raw_sql(AssertSqlSafe(sql))).await.unwrap();
    }

    /// The first column of the rows that the administrator gets.
    pub(crate) async fn ask(&self, sql: &str) -> Vec<String> {
        let query = sqlx::raw_sql(AssertSqlSafe(sql));
        let rows = self.admin().await.fetch_all(query).await.unwrap();
        let first = |row: &MySqlRow| row.try_get_unchecked::<String, _>(0).unwrap();
        rows.iter().map(first).collect()
    }

    async fn make(&self) {
        let password = PASSWORD.replace('\'', "''");
        let (name, reader, writer) = (&self.name, self.reader(), self.writer());
        self.change(&format!(
            "CREATE USER '{reader}'@'%' IDENTIFIED BY '{password}';
             CREATE USER '{writer}'@'%' IDENTIFIED BY '{password}';
             GRANT SELECT, SHOW VIEW ON `{name}`.* TO '{reader}'@'%';
             GRANT ALL ON `{name}`.* TO '{writer}'@'%';"
        ))
        .await;
    }

    async fn remove(&self) {
        let (name, reader, writer) = (&self.name, self.reader(), self.writer());
        self.change(&format!(
            "DROP DATABASE IF EXISTS `{name}`; DROP USER IF EXISTS '{reader}'@'%', '{writer}'@'%';"
        ))
        .await;
    }
}

pub(crate) const HR: &str = "
    CREATE TABLE departments (id INT PRIMARY KEY, name VARCHAR(50) NOT NULL UNIQUE) ENGINE=InnoDB;
    CREATE TABLE employees (
        id INT UNSIGNED PRIMARY KEY AUTO_INCREMENT COMMENT 'who',
        name VARCHAR(20) NOT NULL DEFAULT 'no''body',
        salary DECIMAL(10,2) DEFAULT NULL,
        department_id INT,
        initial CHAR(1) GENERATED ALWAYS AS (left(name, 1)) VIRTUAL,
        KEY by_name (name, salary),
        CONSTRAINT works_in FOREIGN KEY (department_id) REFERENCES departments (id)
    ) ENGINE=InnoDB COMMENT='who works here';
    CREATE VIEW names AS SELECT name FROM employees;
    INSERT INTO departments VALUES (1, 'Research'), (2, 'Sales');
    INSERT INTO employees (name, salary, department_id) VALUES ('Ada', 20.50, 1), ('Bob', NULL, 2);
";

pub(crate) fn reading(sql: &str) -> ReadQuery {
    ReadQuery {
        sql: sql.to_owned(),
        masked: Vec::new(),
        max_rows: 1_000,
        max_bytes: 1 << 20,
        timeout: TIMEOUT,
    }
}

pub(crate) async fn query(database: &MySqlServer, sql: &str) -> Result<QueryRows, DatabaseError> {
    database.query(reading(sql)).await
}

pub(crate) async fn values(database: &MySqlServer, sql: &str) -> Vec<Vec<Value>> {
    match query(database, sql).await {
        Ok(rows) => rows.rows,
        Err(error) => panic!("{sql}: {error:?}"),
    }
}
