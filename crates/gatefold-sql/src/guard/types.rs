//! Which types a value may be cast to.

use sqlparser::ast::{ArrayElemTypeDef, DataType, ObjectName};

use super::error::{GuardError, refused};
use super::inspector::{Inspector, name_parts};
use crate::Dialect;

/// Built-in types that the parser has no name for, and those of extensions for texts, keys and
/// places. The `reg…` types are not among them: they tell whether a table exists.
const NAMED_TYPES: [&str; 69] = [
    "bit",
    "bool",
    "box",
    "box2d",
    "box3d",
    "bpchar",
    "bytea",
    "char",
    "cidr",
    "circle",
    "citext",
    "date",
    "datemultirange",
    "daterange",
    "decimal",
    "double",
    "float4",
    "float8",
    "geography",
    "geometry",
    "halfvec",
    "hstore",
    "inet",
    "int",
    "int2",
    "int4",
    "int4multirange",
    "int4range",
    "int8",
    "int8multirange",
    "int8range",
    "integer",
    "interval",
    "json",
    "jsonb",
    "jsonpath",
    "line",
    "lquery",
    "lseg",
    "ltree",
    "ltxtquery",
    "macaddr",
    "macaddr8",
    "money",
    "name",
    "nummultirange",
    "numeric",
    "numrange",
    "oid",
    "path",
    "point",
    "polygon",
    "real",
    "serial",
    "sparsevec",
    "text",
    "time",
    "timestamp",
    "timestamptz",
    "timetz",
    "tsmultirange",
    "tsquery",
    "tsrange",
    "tstzmultirange",
    "tstzrange",
    "tsvector",
    "uuid",
    "varchar",
    "vector",
];

/// Type names of MySQL that the parser has none for.
const MYSQL_TYPES: [&str; 5] = ["signed", "unsigned", "blob", "nchar", "year"];

/// Whether this is a type that PostgreSQL finds by its name.
pub(super) fn is_named_type(name: &str) -> bool {
    NAMED_TYPES.contains(&name)
}

impl Inspector<'_> {
    pub(super) fn data_type(&mut self, data_type: &DataType) -> Result<(), GuardError> {
        match data_type {
            DataType::Array(element) => match element {
                ArrayElemTypeDef::SquareBracket(element, _)
                | ArrayElemTypeDef::Qualified(element, _)
                    if self.is_postgres() =>
                {
                    self.deeper(|inspector| inspector.data_type(element))
                }
                _ => Err(refused_type(data_type)),
            },
            DataType::Collate(element, _) => self.deeper(|inspector| inspector.data_type(element)),
            DataType::Custom(name, _) => self.named_type(name),
            other if is_built_in(other) => Ok(()),
            DataType::String(_) if self.dialect() == Dialect::Sqlite => Ok(()),
            other => Err(refused_type(other)),
        }
    }

    fn named_type(&mut self, name: &ObjectName) -> Result<(), GuardError> {
        let idents = name_parts(name)?;
        let (schema, first, last) = match &*idents {
            [last] => (None, *last, *last),
            [schema, last] if self.is_postgres() => (Some(self.name(schema)), *schema, *last),
            _ => return Err(refused_type(name)),
        };
        let lower = last.value.to_ascii_lowercase();
        let is_known = match self.dialect() {
            // It takes any word for one.
            Dialect::Sqlite => true,
            Dialect::Postgres => NAMED_TYPES.contains(&&*lower),
            Dialect::MySql | Dialect::MariaDb => {
                NAMED_TYPES.contains(&&*lower) || MYSQL_TYPES.contains(&&*lower)
            }
        };
        if is_known && schema.as_deref().is_none_or(|schema| schema == "pg_catalog") {
            return Ok(());
        }
        // An enumeration of a column that may be seen: to read one of its labels runs nothing else.
        let visible = self.schema;
        match visible.labels_type(schema.as_deref(), &self.name(last)) {
            Some(own) if self.is_postgres() => {
                let text = self.full_name(own);
                self.edits.replace(first.span, last.span, text)
            }
            _ => Err(refused_type(name)),
        }
    }
}

fn is_built_in(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Character(_)
            | DataType::Char(_)
            | DataType::CharacterVarying(_)
            | DataType::CharVarying(_)
            | DataType::Varchar(_)
            | DataType::Nvarchar(_)
            | DataType::Uuid
            | DataType::Clob(_)
            | DataType::Binary(_)
            | DataType::Varbinary(_)
            | DataType::Blob(_)
            | DataType::Numeric(_)
            | DataType::Decimal(_)
            | DataType::DecimalUnsigned(_)
            | DataType::Dec(_)
            | DataType::DecUnsigned(_)
            | DataType::Float(_)
            | DataType::FloatUnsigned(_)
            | DataType::TinyInt(_)
            | DataType::TinyIntUnsigned(_)
            | DataType::Int2(_)
            | DataType::SmallInt(_)
            | DataType::SmallIntUnsigned(_)
            | DataType::MediumInt(_)
            | DataType::Int(_)
            | DataType::Int4(_)
            | DataType::Int8(_)
            | DataType::Integer(_)
            | DataType::IntUnsigned(_)
            | DataType::IntegerUnsigned(_)
            | DataType::BigInt(_)
            | DataType::BigIntUnsigned(_)
            | DataType::Signed
            | DataType::SignedInteger
            | DataType::Unsigned
            | DataType::UnsignedInteger
            | DataType::Float4
            | DataType::Float8
            | DataType::Real
            | DataType::Double(_)
            | DataType::DoubleUnsigned(_)
            | DataType::DoublePrecision
            | DataType::Bool
            | DataType::Boolean
            | DataType::Date
            | DataType::Time(_, _)
            | DataType::Datetime(_)
            | DataType::Timestamp(_, _)
            | DataType::Interval { .. }
            | DataType::JSON
            | DataType::JSONB
            | DataType::Text
            | DataType::Bytea
            | DataType::Bit(_)
            | DataType::BitVarying(_)
            | DataType::VarBit(_)
            | DataType::GeometricType(_)
            | DataType::TsVector
            | DataType::TsQuery
    )
}

fn refused_type(name: &impl std::fmt::Display) -> GuardError {
    refused(
        format!("the type `{name}`"),
        "values may be cast to built-in types such as `text`, `integer`, `numeric`, `date` or \
         `jsonb`, and to an enumeration of a column",
    )
}
