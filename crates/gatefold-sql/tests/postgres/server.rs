//! A database and roles for one test.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::str::FromStr as _;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_core::Secret;
use gatefold_sql::{
    Database as _, DatabaseAddress, DatabaseError, DatabaseSettings, Postgres, QueryRows,
    ReadQuery, ServerAddress,
};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{AssertSqlSafe, PgPool};

pub(crate) type Claim = fn(&TestDatabase) -> BoxFuture<'_, ()>;

/// The second is the address of a pooler before the same server.
pub(crate) type PooledClaim = fn(&TestDatabase, String) -> BoxFuture<'_, ()>;

pub(crate) const PASSWORD: &str = "correct horse";

/// How often something is looked at until it is as it should be, a twentieth of a second apart.
const MAX_LOOKS: usize = 200;

pub(crate) struct TestDatabase {
    pub(crate) address: ServerAddress,
    /// Connected to the database as a superuser.
    pub(crate) admin: PgPool,
    /// May read all tables of `public`.
    pub(crate) reader: String,
}

impl TestDatabase {
    pub(crate) fn with<T>(
        address: &str,
        claim: impl FnOnce(&TestDatabase) -> BoxFuture<'_, T>,
    ) -> T {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(2).enable_all().build().expect("a runtime starts");
        runtime.block_on(async {
            let base = PgConnectOptions::from_str(address).expect("the address can be read");
            let base_pool = PgPoolOptions::new().max_connections(1);
            let server = base_pool.connect_with(base.clone()).await.expect("the server answers");
            let name = format!("gatefold_test_{:x}", RandomState::new().hash_one(0_u8));
            run(&server, format!("CREATE DATABASE {name} TEMPLATE template0")).await;
            let admin = PgPoolOptions::new().max_connections(2);
            let admin = admin.connect_with(base.database(&name)).await.expect("it answers");
            let reader = format!("{name}_reader");
            run(&admin, format!("CREATE ROLE {reader} LOGIN PASSWORD '{PASSWORD}'")).await;
            let Ok(DatabaseAddress::Server(mut address)) = DatabaseAddress::parse(address) else {
                panic!("it is the address of a server");
            };
            address.database = Some(name.clone());
            let database = Self { address, admin, reader };
            let outcome = AssertUnwindSafe(claim(&database)).catch_unwind().await;
            database.admin.close().await;
            drop_database(&server, &name).await;
            run(
                &server,
                format!(
                    "DO $$ DECLARE r text; BEGIN FOR r IN SELECT rolname FROM pg_roles \
                 WHERE starts_with(rolname, '{name}') LOOP EXECUTE format('DROP ROLE %I', r); \
                 END LOOP; END $$"
                ),
            )
            .await;
            outcome.unwrap_or_else(|panic| resume_unwind(panic))
        })
    }

    /// Runs statements as the superuser, and lets the reader read what there is then.
    pub(crate) async fn set_up(&self, sql: &str) {
        run(&self.admin, sql).await;
        let reader = &self.reader;
        run(&self.admin, format!("GRANT SELECT ON ALL TABLES IN SCHEMA public TO {reader}")).await;
    }

    /// What its database is called, and what the names of all that it makes begin with.
    pub(crate) fn name(&self) -> &str {
        self.address.database.as_deref().expect("it has one")
    }

    /// As the reader.
    pub(crate) fn settings(&self) -> DatabaseSettings {
        self.settings_as(&self.reader)
    }

    pub(crate) fn settings_as(&self, role: &str) -> DatabaseSettings {
        let address = ServerAddress {
            user: Some(role.to_owned()),
            password: Some(Secret::new(PASSWORD)),
            ..self.address.clone()
        };
        DatabaseSettings::new(DatabaseAddress::Server(address))
    }

    pub(crate) fn superuser_settings(&self) -> DatabaseSettings {
        DatabaseSettings {
            privileged_role: true,
            ..DatabaseSettings::new(DatabaseAddress::Server(self.address.clone()))
        }
    }

    pub(crate) fn open(&self) -> Postgres {
        open(&self.settings())
    }

    /// What the superuser reads, as text.
    pub(crate) async fn read(&self, sql: &str) -> String {
        let read = sqlx::query_scalar::<_, Option<String>>(AssertSqlSafe(sql.to_owned()));
        read.fetch_one(&self.admin).await.expect(sql).unwrap_or_default()
    }

    /// Waits until a statement of the superuser answers `expected`.
    pub(crate) async fn wait_for(&self, sql: &str, expected: &str) {
        for _ in 0..MAX_LOOKS {
            if self.read(sql).await == expected {
                return;
            }
            run(&self.admin, "SELECT pg_sleep(0.05)").await;
        }
        panic!("{sql} did not become {expected}");
    }

    /// How many statements of the reader run.
    pub(crate) fn running(&self) -> String {
        format!(
            "SELECT count(*)::text FROM pg_stat_activity \
             WHERE usename = '{}' AND state = 'active'",
            self.reader
        )
    }
}

/// The server waits 5 s for the sessions that it ends, and on a busy machine some take longer.
async fn drop_database(server: &PgPool, name: &str) {
    let sql = format!("DROP DATABASE {name} WITH (FORCE)");
    for _ in 0..10 {
        if sqlx::raw_sql(AssertSqlSafe(sql.clone())).execute(server).await.is_ok() {
            return;
        }
    }
    run(server, sql).await;
}

pub(crate) fn open(settings: &DatabaseSettings) -> Postgres {
    let DatabaseAddress::Server(address) = &settings.address else {
        panic!("it is the address of a server");
    };
    Postgres::new(address, settings).expect("the settings are fine")
}

pub(crate) fn read_query(sql: &str) -> ReadQuery {
    ReadQuery {
        sql: sql.to_owned(),
        masked: Vec::new(),
        max_rows: 1_000,
        max_bytes: 1_000_000,
        timeout: Duration::from_secs(20),
    }
}

pub(crate) async fn query(database: &Postgres, sql: &str) -> Result<QueryRows, DatabaseError> {
    database.query(read_query(sql)).await
}

pub(crate) async fn run(pool: &PgPool, sql: impl Into<String>) {
    let sql = sql.into();
    let run = sqlx::raw_sql(AssertSqlSafe(sql.clone())).execute(pool).await;
    run.unwrap_or_else(|error| panic!("{sql}: {error}"));
}
