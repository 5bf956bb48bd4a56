//! What people and models say.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use url::Url;

use crate::{Api, CallArguments, Fields, RawJson};

/// The kinds of images that both wires take.
const IMAGE_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// The largest image, in bytes: five megabytes, Anthropic's limit, of which base64 makes a third
/// more.
const IMAGE_BYTES: usize = 3_750_000;

/// Something that no provider takes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ContentError {
    #[error("a message needs a text that is not blank, or an image")]
    Empty,
    #[error("`{0}` is not a kind of image that models take; use PNG, JPEG, GIF or WebP")]
    ImageType(String),
    #[error("an image of {0} bytes is larger than the limit: {IMAGE_BYTES}")]
    ImageSize(usize),
}

/// A part of what a model is told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UserPart {
    Text(String),
    Image(Image),
}

/// An image of a kind and size that models take.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "StoredImage", into = "StoredImage")]
pub struct Image {
    media_type: String,
    bytes: Bytes,
}

/// What a person, or a program in their place, says to a model. It is never blank.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<UserPart>", into = "Vec<UserPart>")]
pub struct UserMessage {
    parts: Vec<UserPart>,
}

/// Which model of which endpoint wrote a message: what only its writer understands goes back there
/// alone.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Origin(Arc<str>);

/// What a model said, in the order in which it said it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AssistantMessage {
    pub origin: Origin,
    pub parts: Vec<AssistantPart>,
    /// Members of the message that nobody here knows.
    pub extra: Fields,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AssistantPart {
    Text {
        text: String,
        /// The whole block, if its wire has blocks.
        raw: Option<RawJson>,
    },
    Thinking {
        /// Empty if the provider keeps it to itself.
        text: String,
        /// The whole block with its signature, if its wire has blocks.
        raw: Option<RawJson>,
    },
    Call(ToolCall),
    /// A block of a kind that nobody here knows.
    Other(RawJson),
}

/// A model's wish to have a tool called.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// As the model's endpoint gave it: perhaps empty, and not always its own. Results are told by
    /// their place, so nothing depends on it.
    pub id: String,
    /// As the model wrote it, so perhaps of no tool.
    pub name: String,
    pub arguments: CallArguments,
    /// Members of the call that nobody here knows, such as signatures.
    pub extra: Fields,
}

#[derive(Serialize, Deserialize)]
struct StoredImage {
    media_type: String,
    #[serde(with = "base64_text")]
    bytes: Bytes,
}

impl Image {
    pub fn new(media_type: &str, bytes: Bytes) -> Result<Self, ContentError> {
        let known = IMAGE_TYPES.into_iter().find(|known| known.eq_ignore_ascii_case(media_type));
        let media_type = known.ok_or_else(|| ContentError::ImageType(media_type.to_owned()))?;
        if bytes.len() > IMAGE_BYTES {
            return Err(ContentError::ImageSize(bytes.len()));
        }
        Ok(Self { media_type: media_type.to_owned(), bytes })
    }

    pub fn media_type(&self) -> &str {
        &self.media_type
    }

    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    pub(crate) fn base64(&self) -> String {
        STANDARD.encode(&self.bytes)
    }
}

impl UserMessage {
    /// Blank texts among the parts are left out, because providers refuse them.
    pub fn new(parts: impl IntoIterator<Item = UserPart>) -> Result<Self, ContentError> {
        let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_blank()).collect();
        if parts.is_empty() { Err(ContentError::Empty) } else { Ok(Self { parts }) }
    }

    pub fn text(text: impl Into<String>) -> Result<Self, ContentError> {
        Self::new([UserPart::Text(text.into())])
    }

    pub fn parts(&self) -> &[UserPart] {
        &self.parts
    }
}

impl UserPart {
    pub(crate) fn is_blank(&self) -> bool {
        matches!(self, Self::Text(text) if text.trim().is_empty())
    }
}

impl Origin {
    pub fn new(api: Api, url: &Url, model: &str) -> Self {
        Self(format!("{api} {} {model}", gatefold_egress::redacted(url)).into())
    }
}

impl AssistantMessage {
    /// What a model said elsewhere, so nothing in it goes back to its writer alone.
    pub fn of_text(text: &str) -> Result<Self, ContentError> {
        if text.trim().is_empty() {
            return Err(ContentError::Empty);
        }
        let (origin, parts) = (Origin("".into()), vec![AssistantPart::text(text.to_owned())]);
        Ok(Self { origin, parts, extra: Fields::default() })
    }

    /// The text for people, in one piece.
    pub fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            AssistantPart::Text { text, .. } => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(|part| match part {
            AssistantPart::Call(call) => Some(call),
            _ => None,
        })
    }
}

impl AssistantPart {
    /// A text without anything that belongs to one provider.
    pub(crate) fn text(text: String) -> Self {
        Self::Text { text, raw: None }
    }
}

impl TryFrom<StoredImage> for Image {
    type Error = ContentError;

    fn try_from(stored: StoredImage) -> Result<Self, ContentError> {
        Self::new(&stored.media_type, stored.bytes)
    }
}

impl From<Image> for StoredImage {
    fn from(image: Image) -> Self {
        Self { media_type: image.media_type, bytes: image.bytes }
    }
}

impl TryFrom<Vec<UserPart>> for UserMessage {
    type Error = ContentError;

    fn try_from(parts: Vec<UserPart>) -> Result<Self, ContentError> {
        Self::new(parts)
    }
}

impl From<UserMessage> for Vec<UserPart> {
    fn from(message: UserMessage) -> Self {
        message.parts
    }
}

mod base64_text {
    use base64::Engine as _;

    use super::{Bytes, Deserialize, Deserializer, STANDARD, Serializer};

    pub(super) fn serialize<S: Serializer>(
        bytes: &Bytes,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Bytes, D::Error> {
        let text = String::deserialize(deserializer)?;
        STANDARD.decode(text).map(Bytes::from).map_err(serde::de::Error::custom)
    }
}
