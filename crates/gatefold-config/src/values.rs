//! The values that configurations consist of: each type says what it accepts, and how to write it.
//!
//! They deserialise from any format. The text after `help:` in their errors becomes the hint of a
//! fault. The [JSON Schema](mod@crate::schemas) of each says the same to editors and to the reference.

use std::ffi::OsString;
use std::fmt;
use std::marker::PhantomData;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::de::{
    Deserialize, Deserializer, Error, Expected, IgnoredAny, MapAccess, SeqAccess, Unexpected,
    Visitor,
};
use serde::{Serialize, Serializer};

use crate::faults::HELP;
use crate::schemas::{loose_text, or_reference, share};
use crate::{names, units};

/// An error in the form of a fault: what is wrong, and how to fix it.
pub fn fault<E: Error>(message: impl fmt::Display, hint: impl fmt::Display) -> E {
    E::custom(format_args!("{message}{HELP}{hint}"))
}

/// Reads a string with `parse`; if that fails, the error says that it is not `what`, and `hint`.
pub fn parsed<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    what: &str,
    hint: &str,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Result<T, D::Error> {
    let text = String::deserialize(deserializer)?;
    let wrong = || D::Error::invalid_value(Unexpected::Str(&text), &ExpectedValue { what, hint });
    parse(&text).ok_or_else(wrong)
}

/// What a value may be, and how to write it, for the errors of a visitor. The hint may not be
/// empty.
#[derive(Debug, Clone, Copy)]
pub struct ExpectedValue<'t> {
    pub what: &'t str,
    pub hint: &'t str,
}

impl Expected for ExpectedValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{HELP}{}", self.what, self.hint)
    }
}

/// A string that is not empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(with = "String", extend("pattern" = r"\S"))]
pub struct Text(pub String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.trim().is_empty() {
            return Err(fault("is empty", "give it a value, or remove the key"));
        }
        Ok(Self(text))
    }
}

/// A string, or a number or boolean taken as its text.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[schemars(schema_with = "loose_text")]
pub struct LooseText(pub String);

impl<'de> Deserialize<'de> for LooseText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(names::LOOSE_TEXT, LooseTextVisitor).map(Self)
    }
}

struct LooseTextVisitor;

impl<'de> Visitor<'de> for LooseTextVisitor {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, value: D) -> Result<String, D::Error> {
        value.deserialize_any(self)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<String, E> {
        Ok(flag.to_string())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<String, E> {
        Ok(number.to_string())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<String, E> {
        Ok(number.to_string())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<String, E> {
        Ok(number.to_string())
    }
}

/// A path. In a document it is relative to the document's directory; `~/` is the home directory.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[schemars(with = "String", extend("pattern" = r"\S", "x-type" = "path",
    "x-constraint" = "relative to the file that names it; `~/` is the home directory"))]
pub struct FilePath(pub PathBuf);

impl Serialize for FilePath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0.display())
    }
}

impl<'de> Deserialize<'de> for FilePath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(names::FILE_PATH, FilePathVisitor).map(Self)
    }
}

struct FilePathVisitor;

impl<'de> Visitor<'de> for FilePathVisitor {
    type Value = PathBuf;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, value: D) -> Result<PathBuf, D::Error> {
        Text::deserialize(value).map(|text| text.0.into())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<PathBuf, E> {
        Ok(text.into())
    }

    fn visit_byte_buf<E: Error>(self, path: Vec<u8>) -> Result<PathBuf, E> {
        Ok(OsString::from_vec(path).into())
    }
}

/// A duration above zero, as people write it: `90s`, `1.5h` or `250ms`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema)]
#[schemars(with = "String", extend(
    "pattern" = or_reference(r"^\s*[0-9.]*[1-9][0-9.]*\s*(ms|s|m|min|h|d)\s*$"), "x-type" = "duration",
    "x-constraint" = "a number and `ms`, `s`, `m`, `h` or `d`, above zero"))]
pub struct Time(pub Duration);

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&units::duration_text(self.0))
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = ExpectedValue { what: "a duration", hint: units::DURATION_HINT };
        deserializer.deserialize_any(UnitVisitor { expected, parse: units::duration }).map(Self)
    }
}

impl From<Time> for Duration {
    fn from(time: Time) -> Self {
        time.0
    }
}

/// A number of bytes above zero, as people write it: `4MiB`, `1.5 GB` or `512B`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema)]
#[schemars(with = "String", extend(
    "pattern" = or_reference(r"^\s*[0-9.]*[1-9][0-9.]*\s*(B|KiB|K|MiB|M|GiB|G|kB|KB|MB|GB)\s*$"),
    "x-type" = "size", "x-constraint" = "a number and `B`, `KiB`, `MiB`, `GiB`, `kB`, `MB` or `GB`, above zero"))]
pub struct Size(pub u64);

impl Serialize for Size {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&units::size_text(self.0))
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = ExpectedValue { what: "a size", hint: units::SIZE_HINT };
        deserializer.deserialize_any(UnitVisitor { expected, parse: units::size }).map(Self)
    }
}

struct UnitVisitor<T> {
    expected: ExpectedValue<'static>,
    parse: fn(&str) -> Option<T>,
}

impl<T> Visitor<'_> for UnitVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Expected::fmt(&self.expected, f)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        let wrong = || E::invalid_value(Unexpected::Str(text), &self.expected);
        (self.parse)(text).ok_or_else(wrong)
    }
}

/// A whole number above zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Count<T>(pub T);

impl<'de, T: TryFrom<u64>> Deserialize<'de> for Count<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_u64(CountVisitor(PhantomData)).map(Self)
    }
}

struct CountVisitor<T>(PhantomData<T>);

const ABOVE_ZERO: ExpectedValue<'_> =
    ExpectedValue { what: "a whole number above zero", hint: "write digits, such as 8" };

impl<T: TryFrom<u64>> Visitor<'_> for CountVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a whole number{HELP}write digits, without quotes")
    }

    fn visit_u64<E: Error>(self, count: u64) -> Result<T, E> {
        if count == 0 {
            return Err(E::invalid_value(Unexpected::Unsigned(count), &ABOVE_ZERO));
        }
        let too_large = |_| fault(format_args!("is too large: {count}"), "write a smaller number");
        T::try_from(count).map_err(too_large)
    }

    fn visit_i64<E: Error>(self, count: i64) -> Result<T, E> {
        Err(E::invalid_value(Unexpected::Signed(count), &ABOVE_ZERO))
    }

    fn visit_f64<E: Error>(self, count: f64) -> Result<T, E> {
        Err(E::invalid_value(Unexpected::Float(count), &ABOVE_ZERO))
    }
}

/// A part of a whole: more than 0, at most 1. Kept in millionths, so that two can be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema)]
#[schemars(schema_with = "share")]
pub struct Share {
    millionths: u32,
}

impl Serialize for Share {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.as_f64())
    }
}

impl Share {
    /// `None` unless it is more than 0 and at most 1.
    pub fn new(share: f64) -> Option<Self> {
        const WHOLE: f64 = 1_000_000.0;
        let is_share = share > 0.0 && share <= 1.0;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is between one and a million"
        )]
        let millionths = (share * WHOLE).round().max(1.0) as u32;
        is_share.then_some(Self { millionths })
    }

    pub fn as_f64(self) -> f64 {
        f64::from(self.millionths) / 1_000_000.0
    }

    /// This part of a number, rounded down.
    pub fn of(self, whole: usize) -> usize {
        let part = whole as u128 * u128::from(self.millionths) / 1_000_000;
        usize::try_from(part).unwrap_or(usize::MAX)
    }
}

impl<'de> Deserialize<'de> for Share {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_f64(ShareVisitor)
    }
}

struct ShareVisitor;

const A_SHARE: ExpectedValue<'_> =
    ExpectedValue { what: "a number above 0, up to 1", hint: "write a share, such as 0.1" };

impl Visitor<'_> for ShareVisitor {
    type Value = Share;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a number{HELP}write digits, without quotes")
    }

    fn visit_u64<E: Error>(self, share: u64) -> Result<Share, E> {
        let wrong = || E::invalid_value(Unexpected::Unsigned(share), &A_SHARE);
        if share == 1 { Share::new(1.0).ok_or_else(wrong) } else { Err(wrong()) }
    }

    fn visit_i64<E: Error>(self, share: i64) -> Result<Share, E> {
        Err(E::invalid_value(Unexpected::Signed(share), &A_SHARE))
    }

    fn visit_f64<E: Error>(self, share: f64) -> Result<Share, E> {
        Share::new(share).ok_or_else(|| E::invalid_value(Unexpected::Float(share), &A_SHARE))
    }
}

/// A table with keys of the user's choice, in the order of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pairs<K, V>(pub Vec<(K, V)>);

impl<K, V> Default for Pairs<K, V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, K: Deserialize<'de>, V: Deserialize<'de>> Deserialize<'de> for Pairs<K, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PairsVisitor(PhantomData)).map(Self)
    }
}

struct PairsVisitor<K, V>(PhantomData<(K, V)>);

impl<'de, K: Deserialize<'de>, V: Deserialize<'de>> Visitor<'de> for PairsVisitor<K, V> {
    type Value = Vec<(K, V)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(pairs)
    }
}

/// A list or table of at most [`ITEM_LIMIT`](crate::ITEM_LIMIT) entries.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct LimitedItems<T>(pub T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for LimitedItems<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let visitor = LimitedItemsVisitor(PhantomData);
        deserializer.deserialize_newtype_struct(names::LIMITED, visitor).map(Self)
    }
}

struct LimitedItemsVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for LimitedItemsVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list or a table")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, value: D) -> Result<T, D::Error> {
        T::deserialize(value)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<T, A::Error> {
        T::deserialize(serde::de::value::SeqAccessDeserializer::new(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<T, A::Error> {
        T::deserialize(serde::de::value::MapAccessDeserializer::new(entries))
    }
}

/// A key that is read by hand, with [`Table::field`](crate::Table::field): the struct that has it makes it known
/// and describes it as a `T`.
pub struct HandRead<T> {
    /// What is shown for it, where there is anything to show.
    shown: Option<serde_json::Value>,
    of: PhantomData<fn() -> T>,
}

impl<T> HandRead<T> {
    /// A value as a person would write it, without what may be secret.
    pub fn shown(value: Option<serde_json::Value>) -> Self {
        Self { shown: value, of: PhantomData }
    }
}

impl<T> Default for HandRead<T> {
    fn default() -> Self {
        Self::shown(None)
    }
}

impl<'de, T> Deserialize<'de> for HandRead<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Self::default())
    }
}

impl<T> Serialize for HandRead<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.shown.serialize(serializer)
    }
}
