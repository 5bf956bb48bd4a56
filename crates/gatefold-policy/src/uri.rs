//! Resources as rules judge them: by what a server may read, however the caller wrote it.

use gatefold_core::Target;
use url::{ParseError, Url};

use crate::Glob;

/// The prefix of an address behind the gateway; the source's domain and its own URI follow.
pub(crate) const ADDRESS: &str = "gatefold://";

/// The same for pages of apps, and what it replaces of their own URIs.
pub(crate) const UI_ADDRESS: &str = "ui://gatefold/";
pub(crate) const UI_SCHEME: &str = "ui://";

/// How often a listed URI is decoded, at most, to see what it turns into.
const DECODINGS: usize = 3;

/// A URI in the form of the URL standard (WHATWG, URL, section 4), with nothing percent-encoded
/// that need not be (RFC 3986, section 6.2.2).
///
/// `None` for anything that is not a URL, and for anything that some servers read as a different
/// one: URIs that change when normalised again, encoded separators and percent signs, backslashes,
/// empty and dotted segments, and file URIs with a host, which most servers ignore.
pub fn normal_uri(uri: &str) -> Option<String> {
    if uri.chars().any(char::is_control) {
        return None;
    }
    let normal = normalized(uri)?;
    let is_stable = normalized(&normal).is_some_and(|again| again == normal);
    (is_stable && is_unambiguous(&normal)).then_some(normal)
}

fn normalized(uri: &str) -> Option<String> {
    let is_needless = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    match Url::parse(uri) {
        Ok(url) => text(decoded(url.as_str(), is_needless)),
        Err(ParseError::RelativeUrlWithoutBase) if is_plain_path(uri) => {
            text(decoded(uri, is_needless))
        }
        Err(_) => None,
    }
}

/// Whether a URI without a scheme is a path in whose characters there is nothing to read in two ways.
/// Sources of our own have such URIs, which the gateway's address makes whole.
fn is_plain_path(uri: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/@#%".contains(&byte);
    uri.starts_with(|first: char| first.is_ascii_alphanumeric())
        && uri.contains('/')
        && uri.bytes().all(is_plain)
        && uri.bytes().filter(|byte| *byte == b'#').count() <= 1
}

/// Decodes these bytes if they are percent-encoded, and writes all other escapes in upper case.
fn decoded(text: &str, is_decoded: impl Fn(u8) -> bool) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('%') {
        bytes.extend(before.bytes());
        match escape(behind) {
            Some(byte) if is_decoded(byte) => bytes.push(byte),
            Some(byte) => bytes.extend(format!("%{byte:02X}").bytes()),
            None => {
                bytes.push(b'%');
                rest = behind;
                continue;
            }
        }
        rest = &behind[2..];
    }
    bytes.extend(rest.bytes());
    bytes
}

/// The byte that the first two digits of a text stand for.
fn escape(text: &str) -> Option<u8> {
    let digits = text.get(..2).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
    u8::from_str_radix(digits, 16).ok()
}

fn text(bytes: Vec<u8>) -> Option<String> {
    String::from_utf8(bytes).ok()
}

/// The text as read by a server that decodes everything. None if the result is not text, such as
/// the overlong forms that were once used to hide a slash.
fn fully_decoded(uri: &str) -> Option<String> {
    text(decoded(uri, |_| true))
}

/// Whether servers agree on what a normal URI names.
fn is_unambiguous(uri: &str) -> bool {
    let mut escapes = uri.match_indices('%').map(|(at, _)| (escape(&uri[at + 1..]), at));
    let is_plain = |(byte, at): (Option<u8>, usize)| match byte {
        // Decoded twice, it would be another byte.
        Some(b'%') => uri.get(at + 3..).is_none_or(|behind| escape(behind).is_none()),
        Some(byte) => !byte.is_ascii_control() && !b"/\\".contains(&byte),
        None => false,
    };
    let parts = Parts::of(uri);
    escapes.all(is_plain)
        && fully_decoded(uri).is_some()
        && !uri.contains('\\')
        && !parts.path.contains("//")
        && !parts.path.split('/').any(|segment| matches!(segment, "." | ".."))
        && !(parts.is_file() && (parts.authority != Some("") || has_barred_drive(parts.path)))
}

/// Whether a file's path begins with a drive letter and a bar, which the standard reads as a colon.
fn has_barred_drive(path: &str) -> bool {
    let path = fully_decoded(path).unwrap_or_default();
    let first = path.trim_start_matches('/').split('/').next().unwrap_or_default();
    matches!(first.as_bytes(), [letter, b'|'] if letter.is_ascii_alphabetic())
}

/// The parts of a URI, by its punctuation alone.
#[derive(Clone, Copy)]
struct Parts<'a> {
    /// With its colon; empty where there is none.
    scheme: &'a str,
    authority: Option<&'a str>,
    path: &'a str,
    /// From the `?` or the `#` on.
    tail: &'a str,
}

impl<'a> Parts<'a> {
    fn of(uri: &'a str) -> Self {
        let (scheme, rest) = uri.split_at(uri.find(':').map_or(0, |colon| colon + 1));
        let (rest, tail) = rest.split_at(rest.find(['?', '#']).unwrap_or(rest.len()));
        let Some(behind) = rest.strip_prefix("//") else {
            return Self { scheme, authority: None, path: rest, tail };
        };
        let (authority, path) = behind.split_at(behind.find('/').unwrap_or(behind.len()));
        Self { scheme, authority: Some(authority), path, tail }
    }

    fn is_file(&self) -> bool {
        self.scheme.eq_ignore_ascii_case("file:")
    }

    /// Whether the URL standard defines how such URIs are written, so that there is only one way.
    fn is_special(&self) -> bool {
        ["file:", "http:", "https:", "ws:", "wss:", "ftp:"].contains(&self.scheme)
    }

    fn written(&self) -> String {
        let Self { scheme, authority, path, tail } = self;
        match authority {
            Some(authority) => format!("{scheme}//{authority}{path}{tail}"),
            None => format!("{scheme}{path}{tail}"),
        }
    }
}

/// What servers may read one URI as.
#[derive(Debug, Clone)]
pub(crate) struct Readings {
    /// As it is sent, and decoded.
    whole: Vec<String>,
    /// Both without what follows `?` and `#`.
    bare: Vec<String>,
    /// Everything that lenient servers may read it as.
    lenient: Vec<String>,
    is_file: bool,
}

impl Readings {
    /// The readings of a resource's own URI. One without a normal form is taken as its source lists
    /// it.
    pub(crate) fn of(uri: &str) -> Self {
        let normal = normal_uri(uri);
        let flattened = if normal.is_none() { flattened(uri) } else { Vec::new() };
        let judged = normal.as_deref().unwrap_or(uri);
        let parts = Parts::of(judged);
        let bare = Parts { tail: "", ..parts }.written();
        let with_decoded = |uri: &str| {
            let mut both = vec![uri.to_owned()];
            both.extend(fully_decoded(uri).filter(|decoded| decoded != uri));
            both
        };
        let mut whole = with_decoded(judged);
        whole.extend(flattened.first().cloned());
        let bare = if parts.tail.is_empty() { whole.clone() } else { with_decoded(&bare) };
        let mut lenient = vec![uri.to_owned()];
        for reading in whole.iter().chain(&bare).chain(&flattened) {
            lenient.extend(leniently(Parts::of(reading)));
        }
        lenient.sort_unstable();
        lenient.dedup();
        Self { whole, bare, lenient, is_file: parts.is_file() }
    }

    /// The same readings, with the prefix that the resource's id puts before its own URI.
    pub(crate) fn behind_id_of(self, target: &Target) -> Self {
        let (id, own) = (target.id.as_str(), &*target.name);
        let scheme = own.find("://").map_or(0, |at| at + 3);
        let (before, cut) = match (id.strip_suffix(own), id.strip_suffix(&own[scheme..])) {
            (Some(before), _) => (before, ""),
            (None, Some(before)) => (before, &own[..scheme]),
            (None, None) => return self,
        };
        let moved = |readings: Vec<String>| -> Vec<String> {
            let behind = |reading: String| {
                format!("{before}{}", reading.strip_prefix(cut).unwrap_or(&reading))
            };
            readings.into_iter().map(behind).collect()
        };
        let Self { whole, bare, lenient, is_file } = self;
        Self { whole: moved(whole), bare: moved(bare), lenient: moved(lenient), is_file }
    }
}

/// What servers may read a URI as that has no normal form but is listed by its source anyway.
fn flattened(uri: &str) -> Vec<String> {
    let text = normalized(uri).unwrap_or_else(|| uri.trim().to_owned()).replace('\\', "/");
    let parts = Parts { tail: "", ..Parts::of(&text) };
    let mut path = parts.path.to_owned();
    for _ in 0..DECODINGS {
        path = String::from_utf8_lossy(&decoded(&path, |_| true)).into_owned();
    }
    let path = path.split(['\0', '?', '#']).next().unwrap_or_default().replace('\\', "/");
    let path: String = path.chars().filter(|c| !c.is_control()).collect();
    let start = if path.starts_with('/') { "/" } else { "" };
    let resolved = |path: &str| format!("{start}{}", resolved(path).join("/"));
    if !parts.is_file() {
        return vec![Parts { path: &resolved(&path), ..parts }.written()];
    }
    // Some servers ignore the host, and some take it for the first folder.
    let host = parts.authority.unwrap_or_default();
    let both = [path.clone(), format!("{host}/{path}")];
    let of_file = |path: &String| {
        let path = format!("/{}", resolved(path).trim_start_matches('/'));
        Parts { path: &path, authority: Some(""), ..parts }.written()
    };
    both.iter().map(of_file).collect()
}

fn resolved(path: &str) -> Vec<&str> {
    let mut segments = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => drop(segments.pop()),
            segment => segments.push(segment),
        }
    }
    segments
}

/// A URI with and without the parts that a server may ignore: the user, the port, the case of the
/// host and a dot at its end, the slashes after a scheme that the standard does not know, a slash
/// at the end.
fn leniently(parts: Parts<'_>) -> Vec<String> {
    let mut authorities = vec![parts.authority.map(str::to_owned)];
    if let Some(authority) = parts.authority {
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let without_port = |host: &str| {
            // The standard already leaves out the default ports of the schemes that it knows.
            let port = host.rsplit_once(':').filter(|(_, port)| !port.contains(']'));
            let port = port.filter(|_| !parts.is_special());
            port.map_or(host, |(host, _)| host).to_owned()
        };
        let named =
            [authority.to_owned(), host.to_owned(), without_port(authority), without_port(host)];
        for name in named {
            let lower = name.to_ascii_lowercase();
            let bare = lower.trim_end_matches('.').to_owned();
            authorities.extend([name, lower, bare].map(Some));
        }
        authorities.sort_unstable();
        authorities.dedup();
    }
    let mut paths = vec![parts.path];
    let without_slash = parts.path.strip_suffix('/');
    paths.extend(without_slash);
    let with_slash = format!("{}/", parts.path);
    if parts.is_file() && without_slash.is_none() {
        paths.push(&with_slash);
    }
    let mut readings = Vec::new();
    for authority in &authorities {
        for path in &paths {
            let reading = Parts { authority: authority.as_deref(), path, ..parts };
            readings.push(reading.written());
            if !parts.is_special() {
                readings.push(collapsed(reading));
            }
        }
    }
    readings
}

/// Without the slashes after the scheme.
fn collapsed(parts: Parts<'_>) -> String {
    let Parts { scheme, authority, path, tail } = parts;
    let rest = format!("{}{path}", authority.unwrap_or_default());
    format!("{scheme}{}{tail}", rest.trim_start_matches('/'))
}

/// A rule's pattern in the forms that are compared with resources. Resources are compared in their
/// normal form, whether or not the pattern is in it.
#[derive(Debug, Clone)]
pub(crate) struct UriPattern {
    /// As it was written, in the normal form, and decoded.
    exact: Vec<Glob>,
    /// Those, and what lenient servers may read them as.
    lenient: Vec<Glob>,
    /// The same in lower case, for files: many file systems ignore case.
    lower: Vec<Glob>,
    /// Whether it says anything about what follows `?` or `#`.
    has_tail: bool,
}

impl UriPattern {
    pub(crate) fn new(pattern: &Glob) -> Self {
        let written = pattern.as_str();
        let inner = written.strip_prefix(ADDRESS).and_then(|rest| rest.split_once('/'));
        let (before, own) = match inner {
            Some((domain, own)) => (format!("{ADDRESS}{domain}/"), own),
            None => (String::new(), written),
        };
        let normal = normalized(own);
        // Decoding must not create a star.
        let stars = |text: &str| text.matches(['*', '?']).count();
        let decoded = fully_decoded(normal.as_deref().unwrap_or(own));
        let decoded = decoded.filter(|decoded| stars(decoded) == stars(own));
        let exact: Vec<_> = [Some(own.to_owned()), normal, decoded].into_iter().flatten().collect();
        let mut lenient = exact.clone();
        for form in &exact {
            let parts = Parts::of(form);
            let lower = parts.authority.map(str::to_ascii_lowercase);
            let lower = Parts { authority: lower.as_deref(), ..parts };
            lenient.push(lower.written());
            if !parts.is_special() && !parts.scheme.is_empty() {
                lenient.extend([collapsed(parts), collapsed(lower)]);
            }
        }
        let globs = |mut forms: Vec<String>| -> Vec<Glob> {
            forms.sort_unstable();
            forms.dedup();
            forms.into_iter().map(|form| Glob::new(format!("{before}{form}"))).collect()
        };
        let lower = lenient.iter().map(|form| form.to_ascii_lowercase()).collect();
        Self {
            has_tail: own.contains(['?', '#']),
            exact: globs(exact),
            lower: globs(lower),
            lenient: globs(lenient),
        }
    }

    /// Whether an allowed resource matches, in every way in which a server may read it.
    pub(crate) fn means(&self, readings: &Readings) -> bool {
        let all = |readings: &[String]| {
            readings.iter().all(|one| self.exact.iter().any(|form| form.matches(one)))
        };
        let is_about_tail = self.has_tail && !readings.is_file;
        all(&readings.whole) && (is_about_tail || all(&readings.bare))
    }

    /// Whether any server may read the resource as one that matches.
    pub(crate) fn may_mean(&self, readings: &Readings) -> bool {
        let is_any = |forms: &[Glob], one: &str| forms.iter().any(|form| form.matches(one));
        readings.lenient.iter().any(|one| {
            is_any(&self.lenient, one)
                || readings.is_file && is_any(&self.lower, &one.to_ascii_lowercase())
        })
    }
}
