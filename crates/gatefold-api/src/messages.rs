//! What people say, as both faces take it: a text, or parts in the form of OpenAI's messages.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use gatefold_catalog::media_type;
use gatefold_model::{ContentError, Image, UserPart};
use serde::de::value::SeqAccessDeserializer;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// The most images of one request.
pub(crate) const IMAGES: usize = 20;

/// What a message says.
#[derive(Debug)]
pub(crate) enum Content {
    Text(String),
    Parts(Vec<ContentPart>),
}

/// A part of a message, of whatever kind.
#[derive(Debug, Deserialize)]
pub(crate) struct ContentPart {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    refusal: Option<String>,
    image_url: Option<ImageUrl>,
}

#[derive(Debug, Deserialize)]
struct ImageUrl {
    url: String,
}

/// Why a message is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ContentFault {
    #[error("a part of the type `{0}` is not taken here; send text")]
    NotText(String),
    #[error("a part of the type `{0}` is not taken; send `text` or `image_url`")]
    UnknownPart(String),
    #[error("a part of the type `{kind}` needs the member `{member}`")]
    EmptyPart { kind: String, member: &'static str },
    #[error("an image is taken as a data URL, `data:image/png;base64,...`; nothing is fetched")]
    RemoteImage,
    #[error("an image's data URL needs `;base64,` and its bytes in base64 after it")]
    UnreadableImage,
    #[error("a request has at most {IMAGES} images")]
    TooManyImages,
    #[error("{0}")]
    Image(#[from] ContentError),
}

impl Content {
    /// The text alone, for those whose images no model is shown.
    pub(crate) fn into_text(self) -> Result<String, ContentFault> {
        let parts = match self {
            Self::Text(text) => return Ok(text),
            Self::Parts(parts) => parts,
        };
        let texts = parts.into_iter().map(|part| match part.kind.as_str() {
            "text" => part.into_text(),
            "refusal" => required(part.refusal, part.kind, "refusal"),
            _ => Err(ContentFault::NotText(part.kind)),
        });
        Ok(texts.collect::<Result<Vec<_>, _>>()?.join("\n"))
    }

    /// What a person says. `images` counts those of the whole request.
    pub(crate) fn into_parts(self, images: &mut usize) -> Result<Vec<UserPart>, ContentFault> {
        let parts = match self {
            Self::Text(text) => return Ok(vec![UserPart::Text(text)]),
            Self::Parts(parts) => parts,
        };
        let read = parts.into_iter().map(|part| match part.kind.as_str() {
            "text" => part.into_text().map(UserPart::Text),
            "image_url" => {
                *images += 1;
                if *images > IMAGES {
                    return Err(ContentFault::TooManyImages);
                }
                let image = required(part.image_url, part.kind, "image_url")?;
                read_image(&image.url).map(UserPart::Image)
            }
            _ => Err(ContentFault::UnknownPart(part.kind)),
        });
        read.collect()
    }
}

impl ContentPart {
    fn into_text(self) -> Result<String, ContentFault> {
        required(self.text, self.kind, "text")
    }
}

fn required<T>(member: Option<T>, kind: String, name: &'static str) -> Result<T, ContentFault> {
    member.ok_or(ContentFault::EmptyPart { kind, member: name })
}

/// Reads a data URL (RFC 2397). Addresses are not fetched: whoever may speak to an agent must not choose
/// what the gateway asks in its own network.
fn read_image(url: &str) -> Result<Image, ContentFault> {
    let scheme = url.get(..5).filter(|scheme| scheme.eq_ignore_ascii_case("data:"));
    let data = &url[scheme.ok_or(ContentFault::RemoteImage)?.len()..];
    let (head, base64) = data.split_once(',').ok_or(ContentFault::UnreadableImage)?;
    let (stated, mark) = head.rsplit_once(';').ok_or(ContentFault::UnreadableImage)?;
    if !mark.trim().eq_ignore_ascii_case("base64") {
        return Err(ContentFault::UnreadableImage);
    }
    let bytes = STANDARD.decode(base64.trim()).map_err(|_| ContentFault::UnreadableImage)?;
    // Providers look at the bytes too, and refuse an image that is called what it is not.
    let kind = media_type(&bytes).unwrap_or_else(|| stated.split(';').next().unwrap_or_default());
    Ok(Image::new(kind, Bytes::from(bytes))?)
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ContentVisitor;

        impl<'de> Visitor<'de> for ContentVisitor {
            type Value = Content;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a list of parts")
            }

            fn visit_str<E>(self, text: &str) -> Result<Content, E> {
                Ok(Content::Text(text.to_owned()))
            }

            fn visit_string<E>(self, text: String) -> Result<Content, E> {
                Ok(Content::Text(text))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, parts: A) -> Result<Content, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(parts)).map(Content::Parts)
            }
        }

        deserializer.deserialize_any(ContentVisitor)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

    fn parts(content: &Value) -> Result<Vec<UserPart>, ContentFault> {
        let content = Content::deserialize(content).unwrap();
        content.into_parts(&mut 0)
    }

    fn image(url: &str) -> Value {
        json!({ "type": "image_url", "image_url": { "url": url, "detail": "low" } })
    }

    #[track_caller]
    fn check_fault(part: &Value, fault: &str) {
        assert_eq!(parts(&json!([part])).unwrap_err().to_string(), fault);
    }

    #[test]
    fn a_person_says_texts_and_images() {
        let url = format!("data:image/jpeg;base64,{PNG}");
        let said = parts(&json!([{ "type": "text", "text": "Look" }, image(&url)])).unwrap();
        let [UserPart::Text(text), UserPart::Image(image)] = said.as_slice() else {
            panic!("{said:?}")
        };
        assert_eq!((text.as_str(), image.media_type()), ("Look", "image/png"));
        assert_eq!(parts(&json!("Hi")).unwrap(), [UserPart::Text("Hi".to_owned())]);
    }

    #[test]
    fn what_is_not_taken_is_refused_in_words() {
        let remote =
            "an image is taken as a data URL, `data:image/png;base64,...`; nothing is fetched";
        let unreadable = "an image's data URL needs `;base64,` and its bytes in base64 after it";
        for url in
            ["https://example.com/a.png", "http://169.254.169.254/", "file:///etc/passwd", "é"]
        {
            check_fault(&image(url), remote);
        }
        for url in
            ["data:", "data:image/png,abc", "data:image/png;base64", "data:image/png;base64,*"]
        {
            check_fault(&image(url), unreadable);
        }
        check_fault(
            &image("data:image/tiff;base64,SUkqAA=="),
            "`image/tiff` is not a kind of image that models take; use PNG, JPEG, GIF or WebP",
        );
        check_fault(
            &json!({ "type": "input_audio", "input_audio": {} }),
            "a part of the type `input_audio` is not taken; send `text` or `image_url`",
        );
        check_fault(
            &json!({ "type": "text" }),
            "a part of the type `text` needs the member `text`",
        );
        let many = vec![image(&format!("data:image/png;base64,{PNG}")); IMAGES + 1];
        assert_eq!(parts(&json!(many)), Err(ContentFault::TooManyImages));
    }
}
