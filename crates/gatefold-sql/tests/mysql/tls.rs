use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_sql::{DatabaseError, MySqlServer, TlsMode};

use crate::server::{Claim, TestDatabase, query, values};

/// The variable with the file of certificates to trust.
pub(crate) const CA: &str = "GATEFOLD_MARIADB_CA";

pub(crate) const ALL: &[(&str, Claim)] =
    &[("a_certificate_is_looked_at_as_the_settings_say", a_certificate_is_looked_at)];

fn a_certificate_is_looked_at(database: &TestDatabase) -> BoxFuture<'_, ()> {
    async {
        let (address, settings) = database.settings(&database.reader());
        let open = |mode: TlsMode, with_ca: bool| {
            let mut settings = settings.clone();
            settings.tls.mode = Some(mode);
            settings.tls.ca = crate::variable(CA).filter(|_| with_ca).map(Into::into);
            MySqlServer::new(&address, &settings)
        };
        let cipher = "SELECT VARIABLE_VALUE FROM information_schema.SESSION_STATUS \
                      WHERE VARIABLE_NAME = 'Ssl_cipher'";
        let plain = values(&open(TlsMode::Disable, false), cipher).await;
        assert_eq!(plain[0][0], "");
        let trusted = [
            (TlsMode::Prefer, false),
            (TlsMode::Require, false),
            (TlsMode::VerifyCa, true),
            (TlsMode::VerifyFull, true),
        ];
        for (mode, with_ca) in trusted {
            let encrypted = values(&open(mode, with_ca), cipher).await;
            assert_ne!(encrypted[0][0], "", "{mode:?}");
        }
        for mode in [TlsMode::VerifyCa, TlsMode::VerifyFull] {
            let result = query(&open(mode, false), "SELECT 1").await;
            let Err(DatabaseError::Unreachable { reason, .. }) = &result else {
                panic!("{mode:?}: {result:?}");
            };
            assert!(reason.contains("certificate is not trusted"), "{reason}");
        }
    }
    .boxed()
}
