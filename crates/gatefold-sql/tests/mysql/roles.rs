use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_sql::{Database as _, DatabaseError, MySqlServer};

use crate::server::{Claim, TestDatabase, query};

pub(crate) const ALL: &[(&str, Claim)] = &[
    ("a_privileged_user_is_refused_unless_allowed", a_privileged_user_is_refused_unless_allowed),
    ("what_a_user_could_do_is_listed", what_a_user_could_do_is_listed),
];

fn a_privileged_user_is_refused_unless_allowed(database: &TestDatabase) -> BoxFuture<'_, ()> {
    async {
        for privilege in ["FILE", "SUPER", "ALL"] {
            let reader = database.reader();
            database.change(&format!("GRANT {privilege} ON *.* TO '{reader}'@'%'")).await;
            let (address, mut settings) = database.settings(&reader);
            let refused = MySqlServer::new(&address, &settings);
            let results = [
                query(&refused, "SELECT 1").await.err(),
                refused.role().await.err(),
                refused.read_schema().await.err(),
            ];
            for result in results {
                let Some(DatabaseError::Privileged { role, could }) = &result else {
                    panic!("{privilege}: {result:?}");
                };
                assert!(role.starts_with(&reader), "{role}");
                assert!(could.contains(privilege) || privilege == "ALL", "{could}");
            }
            settings.privileged_role = true;
            let allowed = MySqlServer::new(&address, &settings);
            assert!(query(&allowed, "SELECT 1").await.is_ok());
            let role = allowed.role().await.unwrap();
            assert!(role.privileges[0].is_refused, "{role:?}");
            database.change(&format!("REVOKE ALL, GRANT OPTION FROM '{reader}'@'%'")).await;
            let name = &database.name;
            database.change(&format!("GRANT SELECT ON `{name}`.* TO '{reader}'@'%'")).await;
        }
    }
    .boxed()
}

fn what_a_user_could_do_is_listed(database: &TestDatabase) -> BoxFuture<'_, ()> {
    async {
        let reader = database.open().role().await.unwrap();
        assert_eq!(reader.name, format!("{}@%", database.reader()));
        assert_eq!(reader.privileges, []);
        let (address, settings) = database.settings(&database.writer());
        let writer = MySqlServer::new(&address, &settings).role().await.unwrap();
        assert!(!writer.privileges.is_empty());
        assert!(writer.privileges.iter().all(|privilege| !privilege.is_refused), "{writer:?}");
        assert!(writer.better[1].contains(&format!("ON `{}`.* TO", database.name)), "{writer:?}");
    }
    .boxed()
}
