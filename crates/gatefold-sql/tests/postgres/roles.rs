use futures::FutureExt as _;
use gatefold_sql::{Database as _, DatabaseError, Postgres};

use crate::server::{Claim, TestDatabase, open, query, run};

pub(crate) const ALL: &[(&str, Claim)] = &[
    ("a_role_with_power_is_refused", |it| a_role_with_power_is_refused(it).boxed()),
    ("a_role_tells_what_it_could_do", |it| a_role_tells_what_it_could_do(it).boxed()),
    ("the_better_role_can_only_read", |it| the_better_role_can_only_read(it).boxed()),
];

async fn refusal(database: &Postgres) -> String {
    match query(database, "SELECT 1").await {
        Err(DatabaseError::Privileged { could, .. }) => could,
        other => format!("{other:?}"),
    }
}

async fn a_role_with_power_is_refused(it: &TestDatabase) {
    let reader = &it.reader;
    assert!(query(&it.open(), "SELECT 1").await.is_ok());
    for (power, could) in [
        ("pg_read_server_files", "read files of the server (`pg_read_server_files`)"),
        ("pg_write_server_files", "write files of the server (`pg_write_server_files`)"),
        ("pg_execute_server_program", "run programs on the server (`pg_execute_server_program`)"),
    ] {
        run(&it.admin, format!("GRANT {power} TO {reader}")).await;
        assert_eq!(refusal(&it.open()).await, could);
        // A role that does not inherit could still become it, and so it is through another role.
        run(&it.admin, format!("ALTER ROLE {reader} NOINHERIT")).await;
        assert_eq!(refusal(&it.open()).await, could);
        run(&it.admin, format!("REVOKE {power} FROM {reader}; CREATE ROLE {reader}_m")).await;
        run(&it.admin, format!("GRANT {power} TO {reader}_m; GRANT {reader}_m TO {reader}")).await;
        assert_eq!(refusal(&it.open()).await, could);
        run(&it.admin, format!("DROP ROLE {reader}_m; ALTER ROLE {reader} INHERIT")).await;
    }
    let mut settings = it.superuser_settings();
    settings.privileged_role = false;
    let database = open(&settings);
    assert!(refusal(&database).await.contains("superuser"), "{}", refusal(&database).await);
    for error in [
        database.role().await.err(),
        database.read_schema().await.err(),
        database.explain("SELECT 1".to_owned(), settings.statement_timeout).await.err(),
    ] {
        assert!(matches!(error, Some(DatabaseError::Privileged { .. })), "{error:?}");
    }
    let role = open(&it.superuser_settings()).role().await.expect("it is allowed to");
    assert!(role.privileges.iter().any(|privilege| privilege.is_refused), "{role:?}");
}

async fn a_role_tells_what_it_could_do(it: &TestDatabase) {
    it.set_up("CREATE TABLE a (x int); CREATE TABLE b (x int); REVOKE CREATE ON SCHEMA public FROM public")
        .await;
    let reader = &it.reader;
    let powers = async || {
        let role = it.open().role().await.expect("it reads");
        assert_eq!(role.name, *reader);
        assert!(role.server.starts_with("PostgreSQL "), "{}", role.server);
        assert!(!role.privileges.iter().any(|privilege| privilege.is_refused));
        role.privileges.into_iter().map(|privilege| privilege.text).collect::<Vec<_>>()
    };
    assert_eq!(powers().await, [""; 0]);
    run(
        &it.admin,
        format!("GRANT UPDATE (x) ON a TO {reader}; ALTER ROLE {reader} CREATEROLE CREATEDB"),
    )
    .await;
    run(&it.admin, format!("GRANT CREATE ON SCHEMA public TO {reader}")).await;
    assert_eq!(
        powers().await,
        [
            "make and change roles (`CREATEROLE`)",
            "make databases (`CREATEDB`)",
            "write 1 table",
            "make tables in 1 schema",
        ]
    );
    run(&it.admin, format!("GRANT DELETE ON b TO {reader}; GRANT pg_signal_backend TO {reader}"))
        .await;
    let powers = powers().await;
    assert_eq!(powers[0], "end the statements of other roles (`pg_signal_backend`)");
    assert!(powers.contains(&"write 2 tables".to_owned()), "{powers:?}");
}

async fn the_better_role_can_only_read(it: &TestDatabase) {
    it.set_up(
        "CREATE SCHEMA \"odd name\"; CREATE TABLE \"odd name\".t AS SELECT 1 AS x; \
               CREATE TABLE u AS SELECT 2 AS y; REVOKE CREATE ON SCHEMA public FROM public",
    )
    .await;
    let better = it.open().role().await.expect("it reads").better;
    let name = format!("{}_better", it.reader);
    let better = better.join("\n").replace("gatefold_reader", &name);
    run(&it.admin, better.replace("'...'", "'correct horse'")).await;
    let database = open(&it.settings_as(&name));
    let read = query(&database, "SELECT * FROM \"odd name\".t, public.u").await.expect("it reads");
    assert_eq!(read.rows, [[1, 2]]);
    assert_eq!(database.role().await.expect("it reads").privileges, []);
}
