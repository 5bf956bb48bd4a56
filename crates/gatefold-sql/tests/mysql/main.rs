//! MariaDB and MySQL as sources, against real servers: those at the addresses that `GATEFOLD_MARIADB`
//! and `GATEFOLD_MYSQL` hold, as an administrator of them. Without the first its tests are listed as
//! ignored; those of MySQL are only there with the second, since no registry that we reach has its
//! server. `GATEFOLD_MARIADB_CA` may name a file with the certificate behind the server's own.
//!
//! Each test makes a database and users of its own, and removes them.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "these are tests without the standard harness"
)]

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

mod bounds;
#[path = "../corpus/claims.rs"]
mod claims;
#[path = "../corpus/client.rs"]
mod client;
mod corpus;
mod generated;
mod harmed;
#[path = "../corpus/harms.rs"]
mod harms;
mod roles;
mod schema;
mod server;
#[path = "../corpus/statements.rs"]
mod statements;
mod tls;
mod values;
mod walls;
mod writes;

use server::{Claim, TestDatabase};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let claims = [
        bounds::ALL,
        corpus::ALL,
        generated::ALL,
        roles::ALL,
        schema::ALL,
        values::ALL,
        walls::ALL,
        writes::ALL,
    ];
    let mariadb = variable("GATEFOLD_MARIADB");
    let harms_address = mariadb.clone().unwrap_or_default();
    // What MariaDB refuses and MySQL does not, and the other way round, is another corpus.
    let harms = Trial::test("mariadb::every_harm_is_stopped", move || {
        harmed::every_harm_is_stopped(&harms_address);
        Ok(())
    });
    // It takes longest, so it begins first.
    let mut trials = vec![harms.with_ignored_flag(mariadb.is_none())];
    let mut add = |server: &str, address: Option<String>, claims: &[(&str, Claim)]| {
        for (name, claim) in claims {
            let (claim, ignored) = (*claim, address.is_none());
            let address = address.clone().unwrap_or_default();
            let run = move || {
                TestDatabase::with(&address, claim);
                Ok(())
            };
            trials.push(Trial::test(format!("{server}::{name}"), run).with_ignored_flag(ignored));
        }
    };
    let mysql = variable("GATEFOLD_MYSQL");
    for claims in claims {
        add("mariadb", mariadb.clone(), claims);
        if mysql.is_some() {
            add("mysql", mysql.clone(), claims);
        }
    }
    if variable(tls::CA).is_some() {
        add("mariadb", mariadb.clone(), tls::ALL);
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn variable(name: &str) -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "the address of an external server")]
    std::env::var(name).ok()
}
