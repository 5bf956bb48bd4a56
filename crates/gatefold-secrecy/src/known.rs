//! The secrets that a source was given, masked in what it says.

use std::borrow::Cow;
use std::collections::BTreeSet;

use aho_corasick::{AhoCorasick, MatchKind};
use base64::Engine as _;
use base64::engine::general_purpose::{GeneralPurpose, STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use super::{MASK, after_scheme, is_secret, is_switch, secrets_in};

/// The shortest value to search for, in bytes: shorter ones occur within words.
const SHORTEST: usize = 6;
/// The shortest encoded form to search for, in bytes.
const SHORTEST_ENCODED: usize = 8;
/// The longest value whose encoded forms are searched for, in bytes. A longer one is only searched
/// for as it is.
const LONGEST_ENCODED: usize = 256;
/// The longest value that is searched for in one piece, in bytes.
const PIECE: usize = 4096;
/// The most values of one source. No configuration has as many, and any beyond that are not
/// searched for.
const VALUES: usize = 256;
/// The shortest part of a value whose absence shows that a text does not contain the value.
const SHORTEST_ANCHOR: usize = 4;

/// Values that must not be shown, collected from a configuration.
#[derive(Default)]
pub struct SecretValues(BTreeSet<String>);

impl SecretValues {
    /// Takes the value of a variable or a header, if it is secret.
    pub fn add_named(&mut self, name: &str, value: &str) {
        if !is_secret(name, value) {
            return;
        }
        self.add(value);
        let bare = after_scheme(value.trim());
        self.add(bare);
        // The user and the password of `Authorization: Basic`.
        if let Some(pair) = STANDARD.decode(bare).ok().and_then(|pair| String::from_utf8(pair).ok())
            && let Some((_, password)) = pair.split_once(':')
        {
            self.add(&pair);
            self.add(password);
        }
        self.add_text(value);
    }

    /// Takes the secrets within a text: an address, a command line.
    pub fn add_text(&mut self, text: &str) {
        for span in secrets_in(text) {
            self.add(&text[span.range]);
        }
    }

    /// Takes a value that is known to be secret.
    pub fn add(&mut self, value: &str) {
        let value = value.trim();
        // Servers print their lines one by one, so each line is a value.
        for line in value.lines().filter(|line| !line.starts_with("-----")) {
            let mut rest = line.trim();
            while !rest.is_empty() && self.0.len() < VALUES {
                let (piece, behind) = rest.split_at(rest.floor_char_boundary(PIECE));
                if is_telling(piece) {
                    self.0.insert(piece.to_owned());
                }
                rest = behind;
            }
        }
    }
}

/// Whether a value is distinctive: a switch, or one character repeated, occurs in any text.
fn is_telling(value: &str) -> bool {
    let first = value.chars().next();
    let is_one = value.chars().all(|letter| Some(letter) == first);
    value.len() >= SHORTEST && !is_one && !is_switch(value)
}

/// Masks the secrets of one source in its texts.
///
/// A text without any of them is searched once and not copied.
#[derive(Debug, Default)]
pub struct KnownSecrets(Option<SecretSearch>);

#[derive(Debug)]
struct SecretSearch {
    /// All forms of all values.
    forms: AhoCorasick,
    /// A part of each form that JSON can write in only one way. A text without any of them contains
    /// no secret.
    anchors: AhoCorasick,
}

impl KnownSecrets {
    pub fn new(values: &SecretValues) -> Self {
        let forms: BTreeSet<String> = values.0.iter().flat_map(|value| forms(value)).collect();
        if forms.is_empty() {
            return Self(None);
        }
        let anchors: BTreeSet<String> = forms.iter().flat_map(|form| anchors(form)).collect();
        let search = |texts: &BTreeSet<String>| {
            let mut builder = AhoCorasick::builder();
            builder.match_kind(MatchKind::LeftmostLongest).build(texts).ok()
        };
        // This fails only for more text than a configuration may contain.
        let search = search(&forms).zip(search(&anchors));
        Self(search.map(|(forms, anchors)| SecretSearch { forms, anchors }))
    }

    /// Whether a text may contain one of the secrets. If this is false it does not, however JSON in
    /// it is written.
    pub fn may_be_in(&self, text: &[u8]) -> bool {
        self.0.as_ref().is_some_and(|search| search.anchors.is_match(text))
    }

    /// A plain text with its secrets masked.
    pub fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let Some(search) = self.0.as_ref().filter(|search| search.forms.is_match(text)) else {
            return Cow::Borrowed(text);
        };
        let mut masked = String::with_capacity(text.len());
        search.forms.replace_all_with(text, &mut masked, |_, _, out| {
            out.push_str(MASK);
            true
        });
        Cow::Owned(masked)
    }

    /// The text of a JSON value with the secrets in its strings masked. A number that contains one
    /// becomes `null`, so that the result is still JSON.
    pub fn mask_json<'t>(&self, json: &'t str) -> Cow<'t, str> {
        if !self.may_be_in(json.as_bytes()) {
            return Cow::Borrowed(json);
        }
        let mut masked = String::with_capacity(json.len());
        let mut rest = json;
        while let Some(quote) = rest.find('"') {
            self.mask_numbers(&rest[..quote], &mut masked);
            let end = quote + string_bytes(&rest[quote..]);
            self.mask_string(&rest[quote..end], &mut masked);
            rest = &rest[end..];
        }
        self.mask_numbers(rest, &mut masked);
        Cow::Owned(masked)
    }

    fn mask_string(&self, string: &str, out: &mut String) {
        let Ok(text) = serde_json::from_str::<String>(string) else {
            // Half of a surrogate pair is not text, but it is legal JSON.
            let is_safe = matches!(self.mask(string), Cow::Borrowed(_));
            out.push_str(if is_safe { string } else { "\"[redacted]\"" });
            return;
        };
        match self.mask(&text) {
            Cow::Borrowed(_) => out.push_str(string),
            Cow::Owned(masked) => out.push_str(&serde_json::Value::String(masked).to_string()),
        }
    }

    fn mask_numbers(&self, between: &str, out: &mut String) {
        if matches!(self.mask(between), Cow::Borrowed(_)) {
            out.push_str(between);
            return;
        }
        let is_part = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E');
        let mut rest = between;
        while let Some(start) = rest.find(|c: char| c.is_ascii_digit() || c == '-') {
            let length = rest[start..].find(|c| !is_part(c)).unwrap_or(rest.len() - start);
            let number = &rest[start..start + length];
            out.push_str(&rest[..start]);
            let is_safe = matches!(self.mask(number), Cow::Borrowed(_));
            out.push_str(if is_safe { number } else { "null" });
            rest = &rest[start + length..];
        }
        out.push_str(rest);
    }
}

/// The length of the JSON string at the start of a text, including its quotes.
fn string_bytes(text: &str) -> usize {
    let mut bytes = text.bytes().enumerate().skip(1);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The value as it is, percent-encoded, escaped as in JSON, and inside a base64 text at each of the three
/// offsets.
fn forms(value: &str) -> Vec<String> {
    let mut forms = vec![value.to_owned()];
    if value.len() > LONGEST_ENCODED {
        return forms;
    }
    let percent = percent_encoded(value, is_unreserved);
    if percent[0] != value {
        forms.extend(percent);
    }
    // Some encode every byte.
    forms.extend(percent_encoded(value, |_| false));
    // In a log or in lines of JSON, which are not read as JSON. PHP escapes slashes.
    for form in json_escaped(value) {
        forms.push(form.replace('/', "\\/"));
        forms.push(form);
    }
    for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
        forms.extend((0..3).map(|offset| base64_at(value, offset, engine)));
    }
    let value = forms.swap_remove(0);
    forms.retain(|form| form.len() >= SHORTEST_ENCODED);
    forms.push(value);
    forms
}

/// The base64 characters that depend only on the value, if this many bytes come before it.
fn base64_at(value: &str, offset: usize, engine: &GeneralPurpose) -> String {
    let mut bytes = vec![0; offset];
    bytes.extend_from_slice(value.as_bytes());
    let encoded = engine.encode(&bytes);
    let end = encoded.len() - usize::from(!bytes.len().is_multiple_of(3));
    encoded[(offset * 8).div_ceil(6)..end].to_owned()
}

/// Encodes the bytes that are not kept, in capitals and in small letters.
fn percent_encoded(value: &str, is_kept: fn(u8) -> bool) -> [String; 2] {
    let encoded = |digits: fn(u8) -> String| {
        let one = |byte| if is_kept(byte) { char::from(byte).to_string() } else { digits(byte) };
        value.bytes().map(one).collect()
    };
    [encoded(|byte| format!("%{byte:02X}")), encoded(|byte| format!("%{byte:02x}"))]
}

/// What RFC 3986 allows unencoded everywhere (section 2.3).
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// What every JSON text with this value contains: letters and digits, which nobody escapes. A value
/// with too few of them is searched for in the forms in which it is usually written.
fn anchors(value: &str) -> Vec<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let longest = value.split(|c| !is_plain(c)).max_by_key(|run| run.len()).unwrap_or_default();
    if longest.len() >= SHORTEST_ANCHOR {
        return vec![longest.to_owned()];
    }
    let [quoted, ascii] = json_escaped(value);
    vec![value.to_owned(), quoted, ascii]
}

/// The value within a JSON string, with other characters as they are and as ASCII.
fn json_escaped(value: &str) -> [String; 2] {
    let quoted = serde_json::Value::String(value.to_owned()).to_string();
    let quoted = quoted[1..quoted.len() - 1].to_owned();
    let escaped = |unit: u16| match u8::try_from(unit) {
        Ok(byte) if byte.is_ascii() => char::from(byte).to_string(),
        _ => format!("\\u{unit:04x}"),
    };
    let ascii = quoted.encode_utf16().map(escaped).collect();
    [quoted, ascii]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(values: &[(&str, &str)]) -> KnownSecrets {
        let mut secrets = SecretValues::default();
        for (name, value) in values {
            secrets.add_named(name, value);
        }
        KnownSecrets::new(&secrets)
    }

    #[test]
    fn a_value_is_masked_in_every_usual_form() {
        let secrets = known(&[("API_KEY", "hunter/Two+three")]);
        let encoded = |before: &str| STANDARD.encode(format!("{before}hunter/Two+three!"));
        let whole = percent_encoded("hunter/Two+three", |_| false);
        for text in [
            "key hunter/Two+three was refused".to_owned(),
            "GET /?key=hunter%2FTwo%2Bthree".to_owned(),
            "GET /?key=hunter%2fTwo%2bthree".to_owned(),
            whole[0].clone(),
            whole[1].clone(),
            format!("basic {}", encoded("")),
            format!("basic {}", encoded("a")),
            format!("basic {}", encoded("a:")),
            format!("basic {}", encoded("ab:")),
        ] {
            let masked = secrets.mask(&text);
            assert!(masked.contains(MASK), "{text}: {masked}");
            assert!(!masked.contains("hunter"), "{text}: {masked}");
        }
        assert!(matches!(secrets.mask("nothing"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_value_is_masked_in_lines_of_json() {
        let secrets = known(&[("API_KEY", "ab\"cd/ef+gé")]);
        for text in [
            r#"{"a":1} {"key":"ab\"cd/ef+gé"}"#,
            r#"{"a":1} {"key":"ab\"cd\/ef+gé"}"#,
            r#"data: {"key":"ab\"cd/ef+g\u00e9"}"#,
            r#"data: {"key":"ab\"cd\/ef+g\u00e9"}"#,
        ] {
            let masked = secrets.mask(text);
            assert!(masked.contains(MASK) && !masked.contains("cd"), "{text}: {masked}");
        }
    }

    #[test]
    fn only_secrets_are_masked() {
        let plain = [("MODE", "production"), ("REGION", "eu-west-1"), ("TOKEN", "true")];
        let text = "production eu-west-1 true aaaaaaaa abc";
        assert_eq!(known(&plain).mask(text), text);
        assert_eq!(known(&[("TOKEN", "aaaaaaaa"), ("PASSWORD", "abc")]).mask(text), text);
    }

    #[test]
    fn parts_of_a_secret_are_masked_as_well() {
        let secrets = known(&[
            ("Authorization", "Bearer abcdef-123"),
            ("Proxy-Authorization", "Basic YW5uOmh1bnRlcjI="),
            ("DATABASE_URL", "postgres://ann:correcthorse@db/app"),
            ("PEM", "-----BEGIN KEY-----\nMIIBabc/123\n-----END KEY-----"),
        ]);
        for (text, expected) in [
            ("token abcdef-123", "token [redacted]"),
            ("password hunter2", "password [redacted]"),
            ("user ann, correcthorse", "user ann, [redacted]"),
            ("MIIBabc/123", "[redacted]"),
            ("-----BEGIN KEY-----", "-----BEGIN KEY-----"),
        ] {
            assert_eq!(secrets.mask(text), expected);
        }
    }

    #[test]
    fn masked_json_is_json() {
        let secrets = known(&[
            ("PASSWORD", "12345678"),
            ("API_KEY", "ab\"cd\\ef+gh"),
            ("TOKEN", "pässwörter"),
            ("SECRET", "hunter/two+three"),
        ]);
        for (json, expected) in [
            (r#"{"n": 12345678.50, "m":[9,12345678]}"#, r#"{"n": null, "m":[9,null]}"#),
            (r#"{"a\n":"x12345678","big":1.10}"#, r#"{"a\n":"x[redacted]","big":1.10}"#),
            (r#"["\nab\"cd\\ef+gh"]"#, r#"["\n[redacted]"]"#),
            (r#"["hunter\/two\u002bthree"]"#, r#"["[redacted]"]"#),
            (r#"["p\u00e4ssw\u00f6rter"]"#, r#"["[redacted]"]"#),
            (r#"["\ud800 12345678"]"#, r#"["[redacted]"]"#),
        ] {
            let masked = secrets.mask_json(json);
            assert_eq!(masked, expected);
            serde_json::from_str::<Box<serde_json::value::RawValue>>(&masked).unwrap();
        }
        let untouched = r#"{"n": 1234567.80}"#;
        assert!(matches!(secrets.mask_json(untouched), Cow::Borrowed(_)));
    }
}
