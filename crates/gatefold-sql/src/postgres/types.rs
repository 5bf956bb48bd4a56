//! The types of values, by the numbers that the server gives them.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use super::connections::Lease;
use super::texts::text;

/// The most types that are remembered of one database.
const MAX_KNOWN: usize = 10_000;

/// How deep types may lie in types: an array of a domain over an array, and so on.
const MAX_DEPTH: usize = 8;

/// How a value is written as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Form {
    Boolean,
    /// A whole number of any size.
    Integer,
    Numeric,
    Float,
    Text,
    Bytes,
    Date,
    /// A time of day, with or without a zone.
    Time,
    /// A date and a time of day, with or without a zone.
    Timestamp,
    Json,
    Array {
        element: Box<Form>,
        delimiter: char,
    },
}

/// A type's name, and how to read its values.
#[derive(Debug)]
pub(super) struct TypeReading {
    pub(super) name: String,
    pub(super) form: Form,
}

/// The types of a database that were looked up before, at most [`MAX_KNOWN`].
#[derive(Debug, Default)]
pub(super) struct KnownTypes(Mutex<HashMap<u32, Arc<TypeReading>>>);

impl KnownTypes {
    /// How to read each of some types, in their order, if all were looked up before.
    pub(super) fn known(&self, oids: &[u32]) -> Option<Vec<Arc<TypeReading>>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        oids.iter().map(|oid| known.get(oid).cloned()).collect()
    }

    /// How to read each of some types, in their order. Those that are unknown are looked up.
    pub(super) async fn readings(
        &self,
        lease: &mut Lease,
        oids: &[u32],
    ) -> Result<Vec<Arc<TypeReading>>, sqlx::Error> {
        let mut found = self.known_among(oids);
        let mut unknown: Vec<u32> =
            oids.iter().copied().filter(|oid| !found.contains_key(oid)).collect();
        unknown.sort_unstable();
        unknown.dedup();
        if !unknown.is_empty() {
            let fresh = look_up(lease, unknown).await?;
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if known.len() + fresh.len() > MAX_KNOWN {
                known.clear();
            }
            known.extend(fresh.iter().map(|(oid, reading)| (*oid, Arc::clone(reading))));
            found.extend(fresh);
        }
        let nameless = || Arc::new(TypeReading { name: "unknown".to_owned(), form: Form::Text });
        Ok(oids.iter().map(|oid| found.get(oid).cloned().unwrap_or_else(nameless)).collect())
    }

    fn known_among(&self, oids: &[u32]) -> HashMap<u32, Arc<TypeReading>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        oids.iter().filter_map(|oid| Some((*oid, Arc::clone(known.get(oid)?)))).collect()
    }
}

/// A row of `pg_type`.
struct TypeRow {
    name: String,
    delimiter: char,
    /// What an array is of.
    element: Option<u32>,
    /// What a domain is over.
    base: Option<u32>,
}

async fn look_up(
    lease: &mut Lease,
    oids: Vec<u32>,
) -> Result<HashMap<u32, Arc<TypeReading>>, sqlx::Error> {
    let mut rows = HashMap::new();
    let mut wanted = oids.clone();
    for _ in 0..MAX_DEPTH {
        let mut list = String::new();
        for oid in &wanted {
            let _ = write!(list, "{}{oid}", if list.is_empty() { "" } else { "," });
        }
        for (oid, row) in read_types(lease, &list).await? {
            rows.insert(oid, row);
        }
        let deeper = wanted.iter().filter_map(|oid| rows.get(oid)).filter_map(TypeRow::inner);
        wanted =
            deeper.filter(|oid| !rows.contains_key(oid) && base_form(*oid).is_none()).collect();
        if wanted.is_empty() {
            break;
        }
    }
    let reading = |oid| {
        let name = rows.get(&oid)?.name.clone();
        Some((oid, Arc::new(TypeReading { name, form: form(oid, &rows, 0) })))
    };
    Ok(oids.into_iter().filter_map(reading).collect())
}

async fn read_types(lease: &mut Lease, oids: &str) -> Result<Vec<(u32, TypeRow)>, sqlx::Error> {
    // `int2vector` and `oidvector` are arrays that are written otherwise.
    let sql = format!(
        "SELECT t.oid, pg_catalog.lower(pg_catalog.format_type(t.oid, NULL)), t.typdelim, \
         CASE WHEN t.typcategory = 'A' AND t.typlen = -1 AND t.oid NOT IN (22, 30) \
         THEN t.typelem ELSE 0 END, t.typbasetype \
         FROM pg_catalog.pg_type AS t WHERE t.oid IN ({oids})"
    );
    let rows = lease.run(sql).await?;
    let number = |text: Option<&str>| text.and_then(|text| text.parse::<u32>().ok());
    let inner = |text| number(text).filter(|oid| *oid != 0);
    let read = rows.iter().filter_map(|row| {
        let found = TypeRow {
            name: text(row, 1)?.to_owned(),
            delimiter: text(row, 2)?.chars().next()?,
            element: inner(text(row, 3)),
            base: inner(text(row, 4)),
        };
        Some((number(text(row, 0))?, found))
    });
    Ok(read.collect())
}

impl TypeRow {
    fn inner(&self) -> Option<u32> {
        self.base.or(self.element)
    }
}

fn form(oid: u32, rows: &HashMap<u32, TypeRow>, depth: usize) -> Form {
    if let Some(form) = base_form(oid) {
        return form;
    }
    let Some(row) = rows.get(&oid).filter(|_| depth < MAX_DEPTH) else { return Form::Text };
    match (row.base, row.element) {
        (Some(base), _) => form(base, rows, depth + 1),
        (None, Some(element)) => Form::Array {
            element: Box::new(form(element, rows, depth + 1)),
            delimiter: row.delimiter,
        },
        (None, None) => Form::Text,
    }
}

/// The types that are not written as plain text. Their numbers are part of the protocol
/// (`pg_type.dat` of PostgreSQL's sources).
fn base_form(oid: u32) -> Option<Form> {
    Some(match oid {
        16 => Form::Boolean,
        // `int8`, `int2`, `int4`, `oid`
        20 | 21 | 23 | 26 => Form::Integer,
        700 | 701 => Form::Float,
        1700 => Form::Numeric,
        17 => Form::Bytes,
        1082 => Form::Date,
        // `time`, `timetz`
        1083 | 1266 => Form::Time,
        // `timestamp`, `timestamptz`
        1114 | 1184 => Form::Timestamp,
        114 | 3802 => Form::Json,
        _ => return None,
    })
}
