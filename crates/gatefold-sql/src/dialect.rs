use std::fmt;

use serde::{Deserialize, Serialize};

/// A kind of database server, and with it a dialect of SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    Sqlite,
    Postgres,
    MySql,
    MariaDb,
}

impl Dialect {
    /// Whether two names of tables or columns mean the same one when they are written without quotes.
    ///
    /// PostgreSQL folds such names to lower case; the others compare columns without regard to case.
    /// Tables of MySQL may differ in case alone on some file systems, which [`VisibleSchema`] treats
    /// as one name, so that the rules of each hold for both.
    ///
    /// [`VisibleSchema`]: crate::VisibleSchema
    pub fn folds_names(self) -> bool {
        !matches!(self, Self::Postgres)
    }

    /// A name as this dialect quotes it.
    pub fn quoted(self, name: &str) -> String {
        match self {
            Self::Sqlite | Self::Postgres => format!("\"{}\"", name.replace('"', "\"\"")),
            Self::MySql | Self::MariaDb => format!("`{}`", name.replace('`', "``")),
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
            Self::MySql => "MySQL",
            Self::MariaDb => "MariaDB",
        })
    }
}
