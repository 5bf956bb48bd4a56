//! Argument types that carry their bounds, so that schema and check cannot disagree.

use std::{borrow::Cow, ops::Deref};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de::Error};

/// How many entries a listing gives when the call does not say.
const PAGE_DEFAULT: usize = 20;

/// How many entries one page of a listing may have.
pub(crate) type Limit = Integer<1, 100>;
/// How many entries of a listing to pass over.
pub(crate) type Offset = Integer<0, 1_000_000>;
/// A row's number in one of the databases.
pub(crate) type Id = Integer<1, 1_000_000_000>;

/// Text of `MIN` to `MAX` characters without control characters other than tab and line ends.
#[derive(Debug, Clone)]
pub(crate) struct Text<const MIN: usize, const MAX: usize>(String);

/// An integer from `MIN` to `MAX`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Integer<const MIN: i64, const MAX: i64>(i64);

/// A list of one to `MAX` items.
#[derive(Debug, Clone)]
pub(crate) struct List<T, const MAX: usize>(Vec<T>);

/// Which part of a listing a call wants.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Page {
    pub(crate) limit: usize,
    pub(crate) offset: usize,
}

impl Page {
    pub(crate) fn new(limit: Option<Limit>, offset: Option<Offset>) -> Self {
        Self {
            limit: limit.map_or(PAGE_DEFAULT, Limit::size),
            offset: offset.map_or(0, Offset::size),
        }
    }

    /// One more than the page holds: the extra row tells whether there is a next page.
    pub(crate) fn fetch(self) -> i64 {
        i64::try_from(self.limit + 1).unwrap_or(i64::MAX)
    }

    pub(crate) fn skip(self) -> i64 {
        i64::try_from(self.offset).unwrap_or(i64::MAX)
    }

    /// Cuts the extra row off and gives the offset of the next page, when there is one.
    pub(crate) fn cut<T>(self, rows: &mut Vec<T>) -> Option<usize> {
        let more = rows.len() > self.limit;
        rows.truncate(self.limit);
        more.then(|| self.offset + self.limit)
    }
}

impl<const MIN: i64, const MAX: i64> Integer<MIN, MAX> {
    pub(crate) fn get(self) -> i64 {
        self.0
    }

    /// The value as a size; negative values count as zero.
    pub(crate) fn size(self) -> usize {
        usize::try_from(self.0).unwrap_or(0)
    }
}

impl<const MIN: usize, const MAX: usize> Deref for Text<MIN, MAX> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<T, const MAX: usize> Deref for List<T, MAX> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<'de, const MIN: usize, const MAX: usize> Deserialize<'de> for Text<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let length = text.chars().count();
        if !(MIN..=MAX).contains(&length) {
            return Err(D::Error::custom(format!(
                "must have {MIN} to {MAX} characters, has {length}"
            )));
        }
        if let Some(odd) = text.chars().find(|c| c.is_control() && !"\t\r\n".contains(*c)) {
            return Err(D::Error::custom(format!(
                "holds the control character {odd:?}, which is not allowed"
            )));
        }
        Ok(Self(text))
    }
}

impl<'de, const MIN: i64, const MAX: i64> Deserialize<'de> for Integer<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = i64::deserialize(deserializer)?;
        if (MIN..=MAX).contains(&value) {
            Ok(Self(value))
        } else {
            Err(D::Error::custom(format!("must be from {MIN} to {MAX}, is {value}")))
        }
    }
}

impl<'de, T: Deserialize<'de>, const MAX: usize> Deserialize<'de> for List<T, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let items = Vec::deserialize(deserializer)?;
        if (1..=MAX).contains(&items.len()) {
            Ok(Self(items))
        } else {
            Err(D::Error::custom(format!("must have 1 to {MAX} items, has {}", items.len())))
        }
    }
}

impl<const MIN: usize, const MAX: usize> JsonSchema for Text<MIN, MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Text{MIN}To{MAX}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        if MIN == 0 {
            json_schema!({ "type": "string", "maxLength": MAX })
        } else {
            json_schema!({ "type": "string", "minLength": MIN, "maxLength": MAX })
        }
    }
}

impl<const MIN: i64, const MAX: i64> JsonSchema for Integer<MIN, MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Integer{MIN}To{MAX}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": MIN, "maximum": MAX })
    }
}

impl<T: JsonSchema, const MAX: usize> JsonSchema for List<T, MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("ListOf{}To{MAX}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let items = generator.subschema_for::<T>();
        json_schema!({ "type": "array", "items": items, "minItems": 1, "maxItems": MAX })
    }
}
