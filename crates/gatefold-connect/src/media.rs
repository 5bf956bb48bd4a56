//! What kinds of media types there are, for bodies in both directions.

/// The media type of HTML forms.
pub(crate) const FORM: &str = "application/x-www-form-urlencoded";

/// How a body of some media type is written and read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MediaClass {
    Json,
    /// JSON values on lines of their own.
    JsonLines,
    Form,
    Multipart,
    /// Anything that people can read.
    Text,
    Image,
    Audio,
    /// A range of types, like `*/*`.
    Any,
    Bytes,
}

impl MediaClass {
    pub(crate) fn of(media_type: &str) -> Self {
        let essence = essence(media_type);
        let (kind, subtype) = essence.split_once('/').unwrap_or((&essence, ""));
        let suffix = subtype.rsplit_once('+').map_or("", |(_, suffix)| suffix);
        match (kind, subtype) {
            (_, "json" | "vnd.api+json") => Self::Json,
            (_, "x-ndjson" | "ndjson" | "jsonl" | "x-jsonlines" | "json-lines" | "jsonlines") => {
                Self::JsonLines
            }
            (_, "x-www-form-urlencoded") => Self::Form,
            ("multipart", _) => Self::Multipart,
            (
                "application",
                "xml" | "yaml" | "x-yaml" | "javascript" | "graphql" | "sql" | "toml" | "json-seq"
                | "xml-dtd" | "x-sh" | "jwt" | "x-pem-file",
            )
            | ("text", _) => Self::Text,
            ("*", _) | (_, "*") => Self::Any,
            _ if suffix == "json" => Self::Json,
            _ if matches!(suffix, "xml" | "yaml") => Self::Text,
            ("image", _) => Self::Image,
            ("audio", _) => Self::Audio,
            _ => Self::Bytes,
        }
    }
}

/// Whether a body of this type is a sequence of records that may have no end.
pub(crate) fn is_stream(media_type: &str) -> bool {
    MediaClass::of(media_type) == MediaClass::JsonLines
        || matches!(
            &*essence(media_type),
            "text/event-stream" | "application/json-seq" | "application/stream+json"
        )
}

/// The media type without its parameters, in small letters.
pub(crate) fn essence(media_type: &str) -> String {
    media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// A parameter of a media type or of another header of that form, without its quotes.
pub(crate) fn parameter(header: &str, name: &str) -> Option<String> {
    header.split(';').skip(1).find_map(|pair| {
        let (own, value) = pair.split_once('=')?;
        let value = value.trim();
        let bare = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
        own.trim().eq_ignore_ascii_case(name).then(|| bare.unwrap_or(value).replace("\\\"", "\""))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_media_type_belongs_to_one_class() {
        for (media_type, expected) in [
            ("application/json; charset=utf-8", MediaClass::Json),
            ("application/problem+json", MediaClass::Json),
            ("text/json", MediaClass::Json),
            ("application/x-ndjson", MediaClass::JsonLines),
            (FORM, MediaClass::Form),
            ("Multipart/Form-Data", MediaClass::Multipart),
            ("text/csv", MediaClass::Text),
            ("application/atom+xml", MediaClass::Text),
            ("image/svg+xml", MediaClass::Text),
            ("image/png", MediaClass::Image),
            ("audio/*", MediaClass::Any),
            ("*/*", MediaClass::Any),
            ("application/pdf", MediaClass::Bytes),
            ("", MediaClass::Bytes),
        ] {
            assert_eq!(MediaClass::of(media_type), expected, "{media_type}");
        }
    }
}
