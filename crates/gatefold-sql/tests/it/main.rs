//! Databases that need no server.
#![expect(clippy::unwrap_used, reason = "a panic fails the test")]

#[path = "../corpus/claims.rs"]
mod claims;
mod corpus;
mod generated;
mod sqlite;
#[path = "../corpus/statements.rs"]
mod statements;

use gatefold_sql::{DatabaseAddress, DatabaseSettings, Dialect};
use gatefold_worker::WorkerPool;

#[test]
fn an_address_opens_a_database_of_its_kind() {
    let check = |address: &str, dialect: Dialect| {
        let address = DatabaseAddress::parse(address).unwrap();
        let database = gatefold_sql::open(&DatabaseSettings::new(address), &WorkerPool::absent());
        let database = database.unwrap();
        assert_eq!(database.dialect(), dialect);
    };
    check("sqlite:nowhere.db", Dialect::Sqlite);
    check("postgres://reader@nowhere.example/hr", Dialect::Postgres);
    check("mysql://reader@nowhere.example/hr", Dialect::MySql);
    check("mariadb://reader@nowhere.example/hr", Dialect::MariaDb);
}
