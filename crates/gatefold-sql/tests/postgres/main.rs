//! PostgreSQL as a source, against a real server: the one at the address that `GATEFOLD_POSTGRES`
//! holds, as a superuser of it. Without the variable these tests are listed as ignored.
//!
//! One test looks at TLS, with the certificate in the file that `GATEFOLD_POSTGRES_CA` names: the one that
//! the server's own is signed by.
//!
//! Some go through PgBouncer, at the address that `GATEFOLD_PGBOUNCER` holds, before the same server.
//!
//! Each test makes a database and roles of its own, and removes them.

#![expect(clippy::print_stdout, reason = "these are tests without the standard harness")]

use std::path::PathBuf;
use std::process::ExitCode;

use futures::FutureExt as _;
use libtest_mimic::{Arguments, Trial};

mod bounds;
#[path = "../corpus/claims.rs"]
mod claims;
#[path = "../corpus/client.rs"]
mod client;
mod connecting;
mod corpus;
mod errors;
mod functions;
mod generated;
mod harmed;
#[path = "../corpus/harms.rs"]
mod harms;
mod names;
mod pooled;
mod roles;
mod schema;
mod server;
#[path = "../corpus/statements.rs"]
mod statements;
mod values;
mod walls;
mod writes;

use server::{Claim, PooledClaim, TestDatabase};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    #[expect(clippy::disallowed_methods, reason = "the address of an external server")]
    let address = std::env::var("GATEFOLD_POSTGRES").ok();
    let claims = [
        bounds::ALL,
        connecting::ALL,
        corpus::ALL,
        errors::ALL,
        functions::ALL,
        generated::ALL,
        names::ALL,
        roles::ALL,
        schema::ALL,
        values::ALL,
        walls::ALL,
        writes::ALL,
    ];
    let trial = |(name, claim): &(&str, Claim)| {
        let (claim, address) = (*claim, address.clone());
        let ignored = address.is_none();
        let run = move || {
            TestDatabase::with(&address.unwrap_or_default(), claim);
            Ok(())
        };
        Trial::test(*name, run).with_ignored_flag(ignored)
    };
    #[expect(clippy::disallowed_methods, reason = "a file of an external server")]
    let ca =
        std::env::var_os("GATEFOLD_POSTGRES_CA").map(PathBuf::from).filter(|_| address.is_some());
    let ignored = ca.is_none();
    let tls_address = address.clone().unwrap_or_default();
    let tls = Trial::test("a_certificate_is_verified", move || {
        TestDatabase::with(&tls_address, |it| {
            connecting::a_certificate_is_verified(it, ca).boxed()
        });
        Ok(())
    });
    #[expect(clippy::disallowed_methods, reason = "the address of an external pooler")]
    let pooler = std::env::var("GATEFOLD_PGBOUNCER").ok().filter(|_| address.is_some());
    let through_pooler = |(name, claim): &(&str, PooledClaim)| {
        let (claim, address, pooler) = (*claim, address.clone(), pooler.clone());
        let ignored = pooler.is_none();
        let run = move || {
            let pooler = pooler.unwrap_or_default();
            TestDatabase::with(&address.unwrap_or_default(), |it| claim(it, pooler));
            Ok(())
        };
        Trial::test(*name, run).with_ignored_flag(ignored)
    };
    let harms_address = address.clone().unwrap_or_default();
    let harms = Trial::test("every_harm_is_stopped", move || {
        harmed::every_harm_is_stopped(&harms_address);
        Ok(())
    });
    // It takes longest, so it begins first.
    let mut trials = vec![harms.with_ignored_flag(address.is_none())];
    trials.extend(claims.iter().flat_map(|claims| claims.iter()).map(trial));
    trials.extend(pooled::ALL.iter().map(through_pooler));
    trials.push(tls.with_ignored_flag(ignored));
    libtest_mimic::run(&arguments, trials).exit_code()
}
