use std::sync::Arc;

use crate::{
    Database, DatabaseAddress, DatabaseError, DatabaseSettings, Dialect, MySqlServer, Postgres,
    SqliteFile,
};

/// The database at an address. Connects to nothing: the first statement does.
pub fn open(settings: &DatabaseSettings) -> Result<Arc<dyn Database>, DatabaseError> {
    let server = match &settings.address {
        DatabaseAddress::Sqlite(path) => {
            return Ok(Arc::new(SqliteFile::new(path.clone(), settings)));
        }
        DatabaseAddress::Server(server) => server,
    };
    Ok(match server.dialect {
        Dialect::Sqlite | Dialect::Postgres => Arc::new(Postgres::new(server, settings)?),
        Dialect::MySql | Dialect::MariaDb => Arc::new(MySqlServer::new(server, settings)),
    })
}
