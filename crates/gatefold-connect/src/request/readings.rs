//! What servers may read a path as. Many decode it before they look for segments, and so does a proxy before them.

use percent_encoding::percent_decode_str;

/// How often a path is decoded, at most, to see what it turns into.
const DECODINGS: usize = 4;

/// The text decoded once, twice and so on, until nothing more changes.
pub(super) fn readings(encoded: &str) -> Vec<String> {
    let mut readings = Vec::new();
    let mut text = encoded.to_owned();
    for _ in 0..DECODINGS {
        let decoded = decoded(&text);
        let is_new = decoded != text;
        if is_new || readings.is_empty() {
            readings.push(decoded.clone());
        }
        if !is_new {
            break;
        }
        text = decoded;
    }
    readings
}

/// The text decoded once. The overlong forms of a dot and of slashes count as what old decoders make of them.
pub(super) fn decoded(text: &str) -> String {
    let mut bytes: Vec<u8> = percent_decode_str(text).collect();
    for (overlong, plain) in [([0xC0, 0xAE], b'.'), ([0xC0, 0xAF], b'/'), ([0xC1, 0x9C], b'\\')] {
        while let Some(at) = bytes.windows(2).position(|pair| pair == overlong) {
            bytes.splice(at..at + 2, [plain]);
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The segments of a path that is decoded already. Some systems take a backslash for a slash.
pub(super) fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.split(['/', '\\'])
}

/// A segment without what some servers cut off: `;` begins a parameter (RFC 3986, section 3.3), the others what
/// is behind the path.
pub(super) fn bare(segment: &str) -> &str {
    segment.split([';', '?', '#']).next().unwrap_or_default()
}

/// Whether some server would go up, or stay, at a segment within this text.
pub(super) fn has_dots(encoded: &str) -> bool {
    let is_dots = |segment: &str| {
        // URLs lose control characters, and file systems spaces at the end.
        let text: String = bare(segment).chars().filter(|c| !c.is_control()).collect();
        matches!(text.trim(), "." | "..")
    };
    readings(encoded).iter().any(|reading| segments(reading).any(is_dots))
}
