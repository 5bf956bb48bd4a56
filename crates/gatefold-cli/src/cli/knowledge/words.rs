//! What is said of bases and documents in several commands.

use gatefold_knowledge::{DocumentSummary, READY};

/// "12.5 MiB"
pub(super) fn size_words(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match UNITS.into_iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => {
            let tenths = bytes / (unit / 10);
            format!("{}.{} {name}", tenths / 10, tenths % 10)
        }
        None => format!("{bytes} B"),
    }
}

/// A state as people say it: "too large".
pub(super) fn state_words(document: &DocumentSummary) -> String {
    match document.state.as_str() {
        READY => "ready".to_owned(),
        state => state.replace('_', " "),
    }
}

/// "travel.pdf: encrypted: it needs a password"
pub(super) fn fault_words(document: &DocumentSummary) -> String {
    let mut words = format!("{}: {}", document.name, state_words(document));
    if !document.reason.is_empty() {
        words.push_str(": ");
        words.push_str(&document.reason);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_said_in_the_largest_unit_that_fits() {
        for (bytes, expected) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (1536, "1.5 KiB"),
            (5 << 20, "5.0 MiB"),
            (3 << 30, "3.0 GiB"),
        ] {
            assert_eq!(size_words(bytes), expected);
        }
    }
}
