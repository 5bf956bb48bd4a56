//! Secrets within a longer text: an argument, a command line, an address.

use std::ops::Range;

use super::names::NameClass;
use super::shapes::{
    is_path, is_plain_path, is_random, is_secret_parameter, is_switch, is_token, is_uuid,
};
use super::{REFERENCE, is_reference};

/// Where a secret is in a text, in bytes, and what it seems to be called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretSpan {
    pub range: Range<usize>,
    pub name: String,
}

/// Schemes before a credential, as in `Authorization: Bearer ...`, in lower case.
const SCHEMES: &[&str] = &["bearer ", "basic ", "token ", "apikey "];

/// The longest label in front of a reference, in bytes.
const LABEL_BYTES: usize = 12;

/// The longest text to search, in bytes. No server's arguments are longer.
const TEXT_BYTES: usize = 16 * 1024;

const PEM: &str = "-----BEGIN";

/// Where a word of a text ends.
fn is_end(c: char) -> bool {
    c.is_whitespace() || is_quote(c) || matches!(c, '<' | '>' | '(' | ')' | '{' | '}' | '|' | ',')
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\'' | '`')
}

/// Whether there is a secret in a text.
pub fn has_secret(text: &str) -> bool {
    !secrets_in(text).is_empty()
}

/// The secrets in a text, sorted and without overlaps. A text that is too long to search counts as
/// one secret.
pub fn secrets_in(text: &str) -> Vec<SecretSpan> {
    if text.len() > TEXT_BYTES {
        return vec![SecretSpan { range: 0..text.len(), name: "SECRET".to_owned() }];
    }
    secrets_in_any(text)
}

/// Like [`secrets_in`], but for texts of any length.
///
/// The time is linear in the length, whatever the text contains: a part that belongs to many
/// matches, like the end of `a:a:a:...`, is read only for the first of them.
pub(super) fn secrets_in_any(text: &str) -> Vec<SecretSpan> {
    let mut spans = Vec::new();
    let mut plain = Vec::new();
    blocks(text, &mut spans);
    addresses(text, &mut spans, &mut plain);
    credentials(text, &mut spans);
    named(text, &mut spans, &mut plain);
    flags(text, &mut spans);
    words(text, plain, &mut spans);
    merged(spans)
}

/// Spans that overlap become one, under the name of the first.
fn merged(mut spans: Vec<SecretSpan>) -> Vec<SecretSpan> {
    spans.retain(|span| !span.range.is_empty());
    spans.sort_by_key(|span| (span.range.start, usize::MAX - span.range.end));
    let mut merged: Vec<SecretSpan> = Vec::new();
    for span in spans {
        match merged.last_mut().filter(|last| span.range.start < last.range.end) {
            Some(last) => last.range.end = last.range.end.max(span.range.end),
            None => merged.push(span),
        }
    }
    merged
}

/// Finds the next end for places that are asked for from front to back. An end found for one place
/// is also the end for all places before it, so the text is read only once.
struct EndFinder<'t, F> {
    text: &'t str,
    is_end: F,
    last: Option<usize>,
}

impl<'t, F: Fn(char) -> bool> EndFinder<'t, F> {
    fn new(text: &'t str, is_end: F) -> Self {
        Self { text, is_end, last: None }
    }

    /// The first end at or after a place, otherwise the end of the text.
    fn after(&mut self, place: usize) -> usize {
        let last = self.last.filter(|last| place <= *last);
        let end = last.unwrap_or_else(|| {
            let length = self.text[place..].find(&self.is_end);
            length.map_or(self.text.len(), |length| place + length)
        });
        self.last = Some(end);
        end
    }
}

/// Keys in the form of RFC 7468, from `BEGIN` to the end of the `END` line or of the text.
fn blocks(text: &str, spans: &mut Vec<SecretSpan>) {
    let mut at = 0;
    while let Some(start) = text[at..].find(PEM).map(|found| at + found) {
        let rest = &text[start..];
        let end = rest.find("-----END").and_then(|end| {
            let label = end + "-----END".len();
            rest[label..].find("-----").map(|close| start + label + close + "-----".len())
        });
        let end = end.unwrap_or(text.len());
        spans.push(SecretSpan { range: start..end, name: "PRIVATE_KEY".to_owned() });
        at = end;
    }
}

/// Flags and their values in a command line: `--token VALUE`, `-u user:VALUE`.
fn flags(text: &str, spans: &mut Vec<SecretSpan>) {
    let mut before = "";
    for range in split(text, 0..text.len(), &[' ', '\t', '\n', '"', '\'']) {
        let word = &text[range.clone()];
        if word.is_empty() {
            continue;
        }
        let flag = std::mem::replace(&mut before, word);
        let is_plain = word.starts_with(['-', '$', '`']) || is_reference(word) || is_switch(word);
        if is_plain || !flag.starts_with('-') {
            continue;
        }
        if flag.starts_with("--")
            && !flag.contains(['=', ':'])
            && NameClass::of(flag) == NameClass::Secret
        {
            spans.push(SecretSpan { range, name: flag.to_owned() });
        } else if matches!(flag, "-u" | "--user")
            && let Some((user, password)) = word.split_once(':')
            && !is_reference(password)
            && !(user.to_owned() + password).bytes().all(|b| b.is_ascii_digit())
        {
            let range = range.end - password.len()..range.end;
            spans.push(SecretSpan { range, name: "PASSWORD".to_owned() });
        }
    }
}

/// What follows `Bearer` and the like. In prose these are ordinary words.
fn credentials(text: &str, spans: &mut Vec<SecretSpan>) {
    let lower = text.to_ascii_lowercase();
    for scheme in SCHEMES {
        for (found, _) in lower.match_indices(scheme) {
            let before = text[..found].trim_end();
            if text[..found].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '-') {
                continue;
            }
            let is_header = before.is_empty() || before.ends_with([':', '=', '"', '\'']);
            let start = found + scheme.len();
            let start = start + text[start..].len() - text[start..].trim_start().len();
            let length = text[start..].find(|c: char| c.is_whitespace() || is_quote(c));
            let end = length.map_or(text.len(), |length| start + length);
            let word = &text[start..end];
            let is_word =
                word.trim_end_matches(['.', ',']).chars().all(|c| c.is_lowercase() || c == '-');
            let is_said = *scheme == "token " || *scheme == "apikey ";
            if !is_reference(word)
                && !word.starts_with('$')
                && (!is_word || (is_header && !is_said))
            {
                spans.push(SecretSpan { range: start..end, name: "AUTHORIZATION".to_owned() });
            }
        }
    }
}

/// Values whose names make them secret, and ids that are not secret.
fn named(text: &str, spans: &mut Vec<SecretSpan>, plain: &mut Vec<Range<usize>>) {
    let mut covered = 0;
    for Pair { name, value } in pairs_in(text) {
        if value.end <= covered {
            // It is part of a secret value.
            continue;
        }
        let found = &text[value.clone()];
        match NameClass::of(name) {
            NameClass::Secret if !is_plain_value(found) => {
                covered = value.end;
                spans.push(SecretSpan { range: value, name: name.to_owned() });
            }
            NameClass::Id if is_uuid(found) => plain.push(value),
            _ => {}
        }
    }
}

fn is_plain_value(value: &str) -> bool {
    value.starts_with(['$', '`']) || is_switch(value) || is_reference(value)
}

/// A name and its value somewhere in a text.
#[derive(Debug, PartialEq, Eq)]
struct Pair<'t> {
    name: &'t str,
    value: Range<usize>,
}

/// Every `K=V` and `K: V` of a text, in any notation: a shell's, a connection string's, a header's,
/// JSON's.
fn pairs_in(text: &str) -> Vec<Pair<'_>> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let is_mark = |c: char| is_quote(c) || c == '\\';
    // Values in connection strings contain spaces.
    let is_connection_string = is_connection_string(text);
    let mut word_ends = EndFinder::new(text, |c| c.is_whitespace() || is_quote(c) || c == ';');
    let mut part_ends = EndFinder::new(text, |c| matches!(c, ';' | '"' | '\''));
    // Where the last value ended, with and without trailing spaces.
    let (mut last_end, mut last_trimmed) = (0, 0);
    let mut pairs = Vec::new();
    for (at, sign) in text.match_indices(['=', ':']) {
        let before = text[..at].trim_end_matches(is_mark).trim_end();
        let name = before.rsplit(|c: char| !is_name(c)).next().unwrap_or_default();
        let after = &text[at + 1..];
        let gap = after.len() - after.trim_start().len();
        if name.is_empty()
            || (sign == "=" && gap > 0 && !is_connection_string)
            || after.starts_with("//")
        {
            continue;
        }
        let opened = &after[gap..];
        let quotes = opened.len() - opened.trim_start_matches(is_mark).len();
        let start = at + 1 + gap + quotes;
        let end = match opened[..quotes].chars().next_back() {
            Some(quote) if is_quote(quote) => {
                let length = text[start..].find([quote, '\\']);
                length.map_or(text.len(), |length| start + length)
            }
            _ if is_connection_string => part_ends.after(start),
            _ => word_ends.after(start),
        };
        if end != last_end {
            (last_end, last_trimmed) = (end, start + text[start..end].trim_end().len());
        }
        let value = start..last_trimmed.max(start);
        // The credential after a scheme is found separately, and the scheme may stay.
        let has_scheme = SCHEMES.iter().any(|scheme| begins_with(&text[start..], scheme));
        if !value.is_empty() && !has_scheme {
            pairs.push(Pair { name, value });
        }
    }
    pairs
}

/// Whether a text is `K=V;K=V`, as database drivers write it.
pub fn is_connection_string(text: &str) -> bool {
    let mut parts = text.split(';').filter(|part| !part.trim().is_empty());
    text.contains(';') && parts.all(|part| part.contains('=')) && text.matches('=').count() > 1
}

fn begins_with(text: &str, scheme: &str) -> bool {
    text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
}

/// A value without the scheme it begins with, or the label in `value: ${NAME}`: `Bearer ${NAME}`
/// reads better than one long reference, and only the token is secret.
pub fn after_scheme(value: &str) -> &str {
    if let Some(scheme) = SCHEMES.iter().find(|scheme| begins_with(value, scheme)) {
        return value[scheme.len()..].trim_start();
    }
    let is_label =
        |text: &str| text.len() <= LABEL_BYTES && text.bytes().all(|b| b.is_ascii_lowercase());
    match value.split_once(": ") {
        Some((label, rest)) if is_label(label) => rest.trim_start(),
        _ => value,
    }
}

/// The parts of an address that grant access: user and password before the host, random parts of
/// the path, parameters.
fn addresses(text: &str, spans: &mut Vec<SecretSpan>, plain: &mut Vec<Range<usize>>) {
    let mut ends =
        EndFinder::new(text, |c| c.is_whitespace() || is_quote(c) || matches!(c, '<' | '>'));
    // How far earlier addresses were already searched, if this one is part of them: for a user, in
    // the path, in the parameters, and for a user without finding one.
    let (mut user_seen, mut path_seen, mut parameters_seen, mut no_user) = (0, 0, 0, 0);
    for (at, _) in text.match_indices("://") {
        let start = at + "://".len();
        let end = ends.after(start);
        if plain.last().is_none_or(|outer| outer.end < end) {
            plain.push(at..end);
        }
        if start < user_seen {
            continue;
        }
        let host = user(text, start..end, &mut no_user, spans);
        user_seen = host;
        if host < path_seen {
            continue;
        }
        let path_end = text[host..end].find(['?', '#']).map_or(end, |found| host + found);
        let path_start = text[host..path_end].find('/').map_or(path_end, |found| host + found);
        for part in split(text, path_start..path_end, &['/']) {
            // A version of a repository is named by a hash, which is not secret.
            let word = text[part.clone()].split('@').next().unwrap_or_default();
            if is_token(word) || is_random(word) || is_uuid(word) {
                spans.push(SecretSpan { range: part, name: "KEY".to_owned() });
            }
        }
        for part in split(text, path_end.max(parameters_seen)..end, &['?', '#', '&']) {
            let pair = &text[part.clone()];
            let (name, value) = pair.split_once('=').unwrap_or(("", pair));
            if is_secret_parameter(name, value) {
                let name = if name.is_empty() { "KEY" } else { name };
                let range = part.end - value.len()..part.end;
                spans.push(SecretSpan { range, name: name.to_owned() });
            }
        }
        (path_seen, parameters_seen) = (path_end, end);
    }
}

/// Notes what comes before an address's host, and returns the place where the host begins. No end
/// of a user was found in words up to `no_user`.
fn user(
    text: &str,
    address: Range<usize>,
    no_user: &mut usize,
    spans: &mut Vec<SecretSpan>,
) -> usize {
    let rest = &text[address.clone()];
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let is_port = |port: &str| port.chars().all(|c| c.is_ascii_digit() || c == REFERENCE);
    let is_odd = authority.rsplit_once(':').is_some_and(|(_, port)| !is_port(port))
        && !authority.starts_with('[');
    let mut at = authority.rfind('@');
    if at.is_none() && is_odd && address.start >= *no_user {
        // A password may contain what would end the host.
        at = rest.rfind('@');
        *no_user = if at.is_none() { address.end } else { *no_user };
    }
    let Some(at) = at else {
        return address.start;
    };
    let (user, end) = (&rest[..at], address.start + at);
    let (name, secret) = match user.split_once(':') {
        Some((_, password)) => ("PASSWORD", password),
        None => ("TOKEN", user),
    };
    if !secret.is_empty() && !is_reference(secret) && user != "git" {
        spans.push(SecretSpan { range: end - secret.len()..end, name: name.to_owned() });
    }
    end + 1
}

/// The parts of a range between these characters.
fn split(text: &str, range: Range<usize>, marks: &[char]) -> Vec<Range<usize>> {
    let mut start = range.start;
    let ends = text[range.clone()].match_indices(marks).map(|(at, _)| range.start + at);
    let mut parts = Vec::new();
    for end in ends.chain([range.end]) {
        parts.push(start..end);
        start = end + 1;
    }
    parts
}

/// Words that look like keys.
fn words(text: &str, mut plain: Vec<Range<usize>>, spans: &mut Vec<SecretSpan>) {
    plain.sort_by_key(|range| range.start);
    plain.dedup_by(|next, last| next.end <= last.end);
    let is_gap = |c: char| {
        is_end(c) || matches!(c, '=' | ':' | ';' | '&' | '?' | '[' | ']' | '\\' | REFERENCE)
    };
    let mut start = 0;
    let ends = text.char_indices().filter(|(_, c)| is_gap(*c)).map(|(at, c)| (at, c.len_utf8()));
    for (end, length) in ends.chain([(text.len(), 0)]) {
        let range = start..end;
        start = end + length;
        let word = &text[range.clone()];
        if word.is_empty() {
            continue;
        }
        let near = plain.partition_point(|plain| plain.end <= range.start);
        let is_known = plain.get(near).is_some_and(|plain| plain.start < range.end);
        let is_hash =
            ["sha256:", "sha512:", "sha1:"].iter().any(|kind| text[..range.start].ends_with(kind));
        if is_known || is_hash {
            continue;
        }
        // A base64 text keeps the marks at its end.
        let fill = text[end..].len() - text[end..].trim_start_matches('=').len();
        let filled = &text[range.start..end + fill];
        let is_key = if is_path(word) || text[..range.start].ends_with('\\') {
            !is_plain_path(word) && is_random(filled) || word.split('/').any(is_token)
        } else {
            is_token(word)
                || is_random(filled)
                || is_uuid(word)
                || word.split(['/', '@']).any(is_token)
        };
        if is_key {
            spans.push(SecretSpan { range: range.start..end + fill, name: "SECRET".to_owned() });
        }
    }
}
