use std::sync::Arc;

use gatefold_worker::WorkerPool;

use crate::{
    Database, DatabaseAddress, DatabaseError, DatabaseSettings, Dialect, MySqlServer, Postgres,
    SqliteWorker,
};

/// The database at an address. Connects to nothing: the first statement does.
pub fn open(
    settings: &DatabaseSettings,
    workers: &WorkerPool,
) -> Result<Arc<dyn Database>, DatabaseError> {
    let server = match &settings.address {
        DatabaseAddress::Sqlite(path) => {
            return Ok(Arc::new(SqliteWorker::new(path.clone(), settings, workers.clone())));
        }
        DatabaseAddress::Server(server) => server,
    };
    Ok(match server.dialect {
        Dialect::Sqlite | Dialect::Postgres => Arc::new(Postgres::new(server, settings)?),
        Dialect::MySql | Dialect::MariaDb => Arc::new(MySqlServer::new(server, settings)),
    })
}
